"""Semantic uncertainty: is a system unsure exactly when the source is ambiguous? (Staliūnaitė, Cheng and Vlachos 2026)

Many translations are drawn of each WinoMT sentence. Where a pronoun tells the gender of the person, they should agree
on it; where the pronoun is "they", they should not. How far they agree is measured by the entropy of the samples:
of their strings, of the gender of the noun, and of meanings by degrees (S3E). Equations and what is reconstructed in
them: `metrics/uncertainty.py`.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import numpy as np

from gendermark.benchmarks.benchmark import Benchmark, ItemSet, Selection
from gendermark.benchmarks.winomt import BENCHMARK as WINOMT
from gendermark.benchmarks.winomt import items_of, parse_row
from gendermark.data.mgente import read_mgente
from gendermark.errors import BadFile, UserError
from gendermark.linguistics.cues import with_name
from gendermark.linguistics.detectors import detector_name
from gendermark.linguistics.entailment import Entailment, entailment_clusters
from gendermark.linguistics.failures import failure
from gendermark.linguistics.similarity import open_similarity
from gendermark.metrics import regression
from gendermark.metrics import uncertainty as arithmetic
from gendermark.metrics.metric import Boundary, Floats, Metric, Tally
from gendermark.metrics.rates import rate, unseen_share
from gendermark.metrics.uncertainty import Samples
from gendermark.records import Gender, Item, Judgement, Request, Table, Task, Translation, Verdict
from gendermark.textfiles import read_bytes, read_lines, split_lines

N_SAMPLES = 128
SAMPLING = "epsilon=0.2"
"""How the paper draws."""
SIMILARITY = "characters"
ALPHAS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
ALPHA = 16.0
ENTROPIES = ("string", "gender", "s3e", "semantic")
UNAMBIGUOUS, AMBIGUOUS = "unambiguous", "ambiguous"
_TIE = 1e-9
"""Entropies closer than this are equal."""
_N_RESAMPLES = 200
"""Of the samples of one sentence, for the standard error of its entropy."""
_N_SHOWN = 5
"""Distinct translations that stand in the evidence."""


@dataclass(frozen=True, slots=True)
class _Reference:
    """A translation whose surprisal is measured."""

    text: str
    side: str
    """`correct` or `incorrect`."""
    gender: Gender | None


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What was drawn for one item: the texts that are translations, and how many were not."""

    item: Item
    samples: Samples
    n_asked: int
    log_probabilities: Sequence[float]
    """Of the samples whose system gave one."""
    per_token: arithmetic.LogProbability | None
    references: Sequence[_Reference]


class Uncertainty(Benchmark):
    name = "uncertainty"
    title = "Semantic uncertainty: unsure exactly when the source is ambiguous?"
    rules = ("best",)
    rules_version = 1
    revisions = WINOMT.revisions
    part_noun = "group"
    parts = ("referenced",)
    clusters = WINOMT.clusters
    variants = ("", "names")
    own_data = ("file", "mgente")
    aligns = True
    draws = True
    headline = ("awareness_gender", "p_right:unambiguous", "distance_from_even:ambiguous", "delta_i_s3e")

    def language_pairs(self, data: str) -> list[tuple[str, str]]:
        return WINOMT.language_pairs(data)

    def complete(self, selection: Selection) -> Selection:
        selection = replace(
            super().complete(selection),
            n_samples=selection.n_samples or N_SAMPLES,
            sampling=selection.sampling or SAMPLING,
            similarity=selection.similarity or SIMILARITY,
            alpha=selection.alpha or f"{ALPHA:g}",
        )
        if selection.alpha != "tuned" and _alpha(selection.alpha) is None:
            raise UserError(f"--alpha is a number above 0, at most 1000, or tuned, not {selection.alpha!r}")
        sampling_options(selection)
        _similarity(selection.similarity)
        if selection.entailment:
            _entailment(selection.entailment)
        aligner = WINOMT.complete(as_winomt(selection)).aligner
        return replace(selection, aligner=aligner)

    def load(self, selection: Selection) -> ItemSet:
        found = _load(selection)
        items = tuple(_marked(item, selection) for item in found.items)
        if selection.parts:
            items = tuple(item for item in items if _has_references(item, selection))
            if not items:
                raise UserError(
                    f"there are no reference translations into {selection.target_language} for {selection.data} data; "
                    "leave out --group referenced"
                )
        return ItemSet(selection, items, found.origin)

    def requests(self, item_set: ItemSet) -> list[Request]:
        selection = item_set.selection
        direction = (selection.source_language, selection.target_language)
        options = sampling_options(selection)
        return [
            Request(item.source, *direction, Task.SAMPLE, options=options, n_samples=selection.n_samples)
            for item in item_set.items
        ]

    def signature(self, selection: Selection) -> Mapping[str, str]:
        return {
            "samples": f"{selection.n_samples},{selection.sampling}",
            "similarity": f"{selection.similarity},alpha-{selection.alpha}",
            **({"entailment": selection.entailment} if selection.entailment else {}),
            "aligner": f"lexicon+{selection.aligner}",
            "detector": detector_name(selection.target_language, selection.detector),
        }

    def judge(self, item_set: ItemSet, translations: Sequence[Translation]) -> list[Judgement]:
        return self.judge_samples(item_set, [[translation] for translation in translations])

    def judge_samples(self, item_set: ItemSet, answers: Sequence[Sequence[Translation]]) -> list[Judgement]:
        selection = item_set.selection
        drawn = [
            _drawn(item, samples, _references_of(item, selection))
            for item, samples in zip(item_set.items, answers, strict=True)
        ]
        genders = _genders(item_set, drawn)
        alphas = sorted({*ALPHAS, _alpha(selection.alpha) or ALPHA})
        similarities = _similarity(selection.similarity).matrices(
            [(*found.samples.texts, *(one.text for one in found.references)) for found in drawn]
        )
        clusters: Sequence[Sequence[int] | None] = [None] * len(drawn)
        if selection.entailment:
            texts = [found.samples.texts for found in drawn]
            clusters = entailment_clusters(texts, _entailment(selection.entailment))
        return [
            _judgement(found, labels, matrix, meanings, alphas)
            for found, labels, matrix, meanings in zip(drawn, genders, similarities, clusters, strict=True)
        ]

    def tally(self, selection: Selection) -> Tally:  # noqa: ARG002
        return _tally

    def metrics(self, judgements: Sequence[Judgement], selection: Selection) -> list[Metric]:
        alpha = chosen_alpha(judgements, selection.alpha)
        found = [_awareness("gender", "openness")]
        found += [_awareness(kind, key) for kind, key in _entropies(alpha, judgements) if kind != "gender"]
        for kind, key in _entropies(alpha, judgements):
            sides, counted = _sides(key), ("all.total", f"all.{key}.n")
            found += [_delta(f"delta_h_{kind}", *sides, counted), _gap(f"gap_h_{kind}", *sides, counted, kind)]
        found += [_mean("p_right", "p_right", UNAMBIGUOUS, "share", better="higher")]
        found += [_mean("p_feminine", "p_feminine", part, "share") for part in (AMBIGUOUS, "masculine", "feminine")]
        found += [_mean("distance_from_even", "distance_from_even", AMBIGUOUS, "share", better="lower")]
        found += [_mean("p_neutral", "p_neutral", AMBIGUOUS, "share")]
        for kind, name in (("s3e", f"s3e@{alpha:g}"), ("gender", "gender"), ("string", "string")):
            sides = (f"{UNAMBIGUOUS}.i_{name}.correct", f"{UNAMBIGUOUS}.i_{name}.incorrect")
            if any(f"i_{name}.correct" in judgement.measures for judgement in judgements):
                counted = (f"{sides[0]}.n", f"{sides[1]}.n")
                found += [_delta(f"delta_i_{kind}", *sides, counted), _gap(f"gap_i_{kind}", *sides, counted, kind)]
        for kind, key in _entropies(alpha, judgements):
            found += [_mean(f"h_{kind}", key, part, kind) for part in (UNAMBIGUOUS, AMBIGUOUS, "masculine", "feminine")]
        for name in ("string_corrected", "gender_corrected", "gender_se", "within"):
            found += [_mean(f"h_{name}", f"h_{name}", part) for part in (UNAMBIGUOUS, AMBIGUOUS)]
        found += [_mean(name, name, part) for name in ("n_distinct", "decided") for part in ("all",)]
        if any("nll" in judgement.measures for judgement in judgements):
            found += [_mean(name, name, part) for name in ("nll", "nll_per_token") for part in (UNAMBIGUOUS, AMBIGUOUS)]
        return found

    def render(self, item: Item, gender: Gender, selection: Selection) -> str:
        if not item.tags["entity"]:
            raise UserError("mgente data has no person to speak of, so a fake system has nothing to say about it")
        return WINOMT.render(item, gender, as_winomt(selection))

    def fit(self, item: Item, text: str, selection: Selection) -> float | None:
        return WINOMT.fit(item, text, as_winomt(selection)) if item.tags["entity"] else None

    def stereotype(self, item: Item) -> Gender | None:
        return WINOMT.stereotype(item)

    def stratum(self, judgement: Judgement, selection: Selection) -> str:
        return WINOMT.stratum(judgement, as_winomt(selection))

    def choices(self, item_set: ItemSet) -> Sequence[tuple[str, str] | None]:
        """The references, for equation 4 by the system's own probabilities."""
        found = [_references_of(item, item_set.selection) for item in item_set.items]
        if not any(found):
            return super().choices(item_set)
        texts = [{reference.side: reference.text for reference in references} for references in found]
        return [(sides["correct"], sides["incorrect"]) if sides else None for sides in texts]

    def tables(self, judgements: Sequence[Judgement]) -> list[Table]:
        return [_alpha_table(judgements), _entity_table(judgements)]

    def warnings(self, judgements: Sequence[Judgement], selection: Selection) -> list[str]:
        found = []
        open_ones = [judgement for judgement in judgements if judgement.tags["source"] == AMBIGUOUS]
        n_single = sum(judgement.measures.get("n_distinct") == 1 for judgement in open_ones)
        if n_single > 0.5 * len(open_ones):
            found.append(
                f"{n_single:,} of {len(open_ones):,} ambiguous sentences gave the same translation every time: "
                f"{selection.sampling} may cut too hard to show uncertainty"
            )
        n_lost = sum(judgement.verdict is not Verdict.JUDGED for judgement in judgements)
        if n_lost > 0.1 * len(judgements):
            found.append(f"in {n_lost:,} of {len(judgements):,} sentences no sample's gender could be read")
        return found


# Loaded before any work starts, so that what is missing is said then; and once.
_similarity = cache(open_similarity)
_entailment = cache(Entailment)


def sampling_options(selection: Selection) -> tuple[tuple[str, str], ...]:
    """`epsilon=0.2,seed=1` as the options of a request."""
    options = []
    for part in selection.sampling.split(","):
        key, equals, value = part.strip().partition("=")
        if not (key and equals and value):
            raise UserError(
                f"--sampling is written KEY=VALUE,KEY=VALUE, for example {SAMPLING}, not {selection.sampling!r}"
            )
        options.append((key, value))
    return tuple(sorted(options))


def chosen_alpha(judgements: Sequence[Judgement], wanted: str) -> float:
    """The power of S3E: as given, or the one whose entropy goes most with gender entropy on the development half."""
    given = _alpha(wanted)
    if given is not None:
        return given
    rows = [row for row in alpha_correlations(judgements) if row[1] is not None]
    return max(rows, key=lambda row: (round(row[1] or 0.0, 12), -row[0]))[0] if rows else ALPHA


def alpha_correlations(judgements: Sequence[Judgement]) -> list[tuple[float, float | None, float | None, float]]:
    """For each alpha: correlation of S3E with gender entropy on the development half and on the other; mean S3E."""
    usable = [j for j in judgements if "h_gender" in j.measures]
    is_development = np.array([arithmetic.in_development_half(j.tags["contrast"]) for j in usable], dtype=bool)
    genders = np.array([j.measures["h_gender"] for j in usable])
    rows = []
    names = {name for j in usable for name in j.measures if name.startswith("h_s3e@")}
    for alpha in sorted(float(name.partition("@")[2]) for name in names):
        entropies = np.array([j.measures[f"h_s3e@{alpha:g}"] for j in usable])
        rows.append(
            (
                alpha,
                regression.correlation(entropies[is_development], genders[is_development]),
                regression.correlation(entropies[~is_development], genders[~is_development]),
                float(entropies.mean()),
            )
        )
    return rows


def _alpha(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value <= 1000 else None


# -- items ------------------------------------------------------------------------------------------------------------


def as_winomt(selection: Selection) -> Selection:
    return replace(
        selection,
        benchmark="winomt",
        data=selection.data if selection.data in ("official", "core") else "core",
        variant="",
        parts=(),
        n_samples=0,
        sampling="",
        similarity="",
        alpha="",
        entailment="",
    )


def _load(selection: Selection) -> ItemSet:
    kind, _, path = selection.data.partition(":")
    if kind == "mgente":
        items = tuple(
            replace(item, tags={**item.tags, "contrast": item.item_id, "role": "", "entity": "", "stereotype": "none"})
            for item in read_mgente(path)
        )
        return ItemSet(selection, items, f"mgente-{_content_hash(path)}")
    if kind == "file":
        return ItemSet(selection, tuple(_own_items(path, selection)), f"file-{_content_hash(path)}")
    return WINOMT.load(as_winomt(selection))


def _content_hash(path: str) -> str:
    return hashlib.sha256(read_bytes(path)).hexdigest()[:8]


def _own_items(path: str, selection: Selection) -> Iterator[Item]:
    """Lines as in WinoMT's files (gender, index, sentence, entity), and after them, if there are any, the reference
    translations with a masculine and with a feminine noun."""
    lines = [(number, line.split("\t")) for number, line in enumerate(read_lines(path), start=1) if line.strip()]
    if not lines:
        raise BadFile(path, "is empty; give a line for each sentence: gender, index, sentence, entity; tab-separated")
    rows = []
    for number, cells in lines:
        if len(cells) not in (4, 6):
            raise BadFile(
                path,
                f"has {len(cells)} cells; expected gender, index, sentence and entity, and perhaps the masculine and "
                "the feminine reference; tab-separated",
                line=number,
            )
        rows.append(parse_row(path, number, cells[:4]))
    for item, (_, cells) in zip(items_of(rows, {}, as_winomt(selection)), lines, strict=True):
        references = dict(zip(("reference_masculine", "reference_feminine"), cells[4:], strict=False))
        yield replace(item, tags={**item.tags, "corpus": "own", **references})


def _marked(item: Item, selection: Selection) -> Item:
    """With what it tells about gender; and, if asked for, with a name behind the noun."""
    source = AMBIGUOUS if _is_open(item.expected) else UNAMBIGUOUS
    text = item.source
    if selection.variant == "names" and item.tags["entity"]:
        place = int(item.tags["position"])
        text = with_name(text, place, item.expected, selection.target_language, 0, item.tags["entity"])
    return replace(item, source=text, tags={**item.tags, "source": source})


def _is_open(gender: Gender | None) -> bool:
    return gender in (None, Gender.NEUTRAL)


def _has_references(item: Item, selection: Selection) -> bool:
    tags = item.tags
    if selection.data == "core":
        return (tags["contrast"], str(item.expected)) in references(selection.target_language)
    return "reference_masculine" in tags or "reference_gendered" in tags


def _references_of(item: Item, selection: Selection) -> list[_Reference]:
    """The right and the wrong translation of an item that tells its gender."""
    if _is_open(item.expected) or not _has_references(item, selection):
        return []
    tags = item.tags
    if "reference_gendered" in tags:  # mGeNTE: where the gender is told, the neutral translation is the worse one
        return [
            _Reference(tags["reference_gendered"], "correct", None),
            _Reference(tags["reference_neutral"], "incorrect", None),
        ]
    if selection.data == "core":
        texts = references(selection.target_language)[tags["contrast"], str(item.expected)]
    else:
        texts = (tags["reference_masculine"], tags["reference_feminine"])
    return [
        _Reference(text, "correct" if gender == item.expected else "incorrect", gender)
        for text, gender in zip(texts, (Gender.MASCULINE, Gender.FEMININE), strict=True)
    ]


@cache
def references(language: str) -> Mapping[tuple[str, str], tuple[str, str]]:
    """(contrast set, gender of the source) -> the translations with a masculine and with a feminine noun."""
    path = files("gendermark.data") / "core" / "uncertainty" / f"references.{language}.tsv"
    if not path.is_file():
        return {}
    lines = [line for line in split_lines(path.read_text(encoding="utf-8")) if line and not line.startswith("#")]
    names = lines[0].split("\t")
    rows = (dict(zip(names, line.split("\t"), strict=True)) for line in lines[1:])
    return {(row["contrast"], row["gender"]): (row["masculine"], row["feminine"]) for row in rows}


# -- judging ----------------------------------------------------------------------------------------------------------


def _drawn(item: Item, answers: Sequence[Translation], references: Sequence[_Reference]) -> _Drawn:
    kept = [answer for answer in answers if failure(item.source, answer.text) is None]
    return _Drawn(
        item,
        Samples.of(answer.text or "" for answer in kept),
        len(answers),
        [answer.log_probability for answer in kept if answer.log_probability is not None],
        arithmetic.mean_log_probability(
            [answer.log_probability for answer in kept], [answer.n_tokens for answer in kept]
        ),
        references,
    )


def _genders(item_set: ItemSet, drawn: Sequence[_Drawn]) -> Iterator[list[Gender | None]]:
    """For each item the gender of the noun in each of its distinct translations, read as WinoMT reads it."""
    with_person = [found for found in drawn if found.item.tags["entity"]]
    items = [found.item for found in with_person for _ in found.samples.texts]
    texts = [Translation("", text) for found in with_person for text in found.samples.texts]
    readings = iter(WINOMT.judge(ItemSet(as_winomt(item_set.selection), tuple(items), ""), texts))
    for found in drawn:
        has_person = bool(found.item.tags["entity"])
        yield [next(readings).observed if has_person else None for _ in found.samples.texts]


def _judgement(
    found: _Drawn,
    genders: Sequence[Gender | None],
    similarities: Floats,
    meanings: Sequence[int] | None,
    alphas: Sequence[float],
) -> Judgement:
    item, samples = found.item, found.samples
    decided, labels = arithmetic.decided(samples, genders)
    values: dict[str, float | None] = {
        "n_asked": found.n_asked,
        "n_translated": samples.n,
        "n_distinct": samples.n_distinct,
        "decided": 100 * decided.n / found.n_asked if found.n_asked else None,
        "h_string": arithmetic.shannon_entropy(samples),
        "h_string_corrected": arithmetic.shannon_entropy(samples, "miller-madow"),
        "h_gender": arithmetic.cluster_entropy(decided, labels),
        "h_gender_corrected": arithmetic.cluster_entropy(decided, labels, "miller-madow"),
    }
    drawn_anew = arithmetic.resampled_counts(decided, _N_RESAMPLES, item.index)
    error = arithmetic.spread(values["h_gender"], arithmetic.resampled_cluster(drawn_anew, decided, labels))
    values["h_gender_se"] = error.standard_error if error else None
    parts = arithmetic.decompose(decided, labels)
    values["h_within"] = parts.within if parts else None
    share = arithmetic.feminine_share(samples, genders)
    values["p_feminine"], values["distance_from_even"] = share, arithmetic.distance_from_even(share)
    values["openness"] = arithmetic.openness(samples, genders)
    if decided.n:
        values["p_neutral"] = _n_of(Gender.NEUTRAL, decided, labels) / decided.n
        if not _is_open(item.expected):
            values["p_right"] = _n_of(item.expected, decided, labels) / decided.n
    own = similarities[: samples.n_distinct, : samples.n_distinct]
    for alpha in alphas:
        values[f"h_s3e@{alpha:g}"] = arithmetic.s3e_entropy(samples, own, alpha)
    if meanings is not None:
        values["h_semantic"] = arithmetic.cluster_entropy(samples, meanings)
    if found.log_probabilities:
        # With its sign turned, like all surprisals here: what is summed up over groups is never below 0.
        values["nll"] = -math.fsum(found.log_probabilities) / len(found.log_probabilities)
        values["nll_per_token"] = -found.per_token.per_token if found.per_token else None
    if found.references and samples.n:
        values |= _surprisals(found, genders, similarities, alphas)
    observed = _majority(decided, labels)
    verdict = Verdict.JUDGED if decided.n else Verdict.UNJUDGEABLE if samples.n else Verdict.NOT_TRANSLATED
    return Judgement(
        item.item_id,
        item.index,
        item.group_id,
        verdict,
        item.expected,
        observed,
        item.tags,
        _most_frequent(samples, genders),
        {name: float(value) for name, value in values.items() if value is not None},
    )


def _surprisals(
    found: _Drawn, genders: Sequence[Gender | None], similarities: Floats, alphas: Sequence[float]
) -> dict[str, float | None]:
    """How surprising the right and the wrong reference are, given the samples (condition 1)."""
    samples, n = found.samples, found.samples.n_distinct
    values: dict[str, float | None] = {}
    for place, reference in enumerate(found.references):
        if reference.gender is not None:
            surprisal = arithmetic.cluster_surprisal_of(samples, genders, reference.gender)
            values[f"i_gender.{reference.side}"] = surprisal
        values[f"i_string.{reference.side}"] = arithmetic.shannon_surprisal_of(samples, reference.text)
        for alpha in alphas:
            to_samples = similarities[n + place, :n]
            values[f"i_s3e@{alpha:g}.{reference.side}"] = arithmetic.s3e_surprisal_of(samples, to_samples, alpha)
    return values


def _n_of(gender: Gender | None, samples: Samples, labels: Sequence[object]) -> float:
    return float(sum(n for n, label in zip(samples.counts.tolist(), labels, strict=True) if label == gender))


def _majority(samples: Samples, labels: Sequence[object]) -> Gender | None:
    """The gender that most samples have; none where two have as many."""
    counts: Counter[Gender] = Counter()
    for label, n in zip(labels, samples.counts.tolist(), strict=True):
        if isinstance(label, Gender):
            counts[label] += int(n)
    ranked = counts.most_common(2)
    is_tie = len(ranked) == 2 and ranked[0][1] == ranked[1][1]
    return ranked[0][0] if ranked and not is_tie else None


def _most_frequent(samples: Samples, genders: Sequence[Gender | None]) -> tuple[str, ...]:
    order = sorted(range(samples.n_distinct), key=lambda place: (-samples.counts[place], samples.texts[place]))
    return tuple(
        f"{int(samples.counts[place])} x {samples.texts[place]} ({genders[place] or 'undecided'})"
        for place in order[:_N_SHOWN]
    )


# -- metrics ----------------------------------------------------------------------------------------------------------


def _slices(judgement: Judgement) -> Iterator[str]:
    yield "all"
    yield judgement.tags["source"]
    if not _is_open(judgement.expected):
        yield str(judgement.expected)


def _tally(group: Sequence[Judgement]) -> Counter[str]:
    counts: Counter[str] = Counter()
    contrasts: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in group:
        contrasts[judgement.tags["contrast"]].append(judgement)
        for part in _slices(judgement):
            counts[f"{part}.total"] += 1
            for name, value in judgement.measures.items():
                counts[f"{part}.{name}.sum"] += value  # type: ignore[assignment]  # a Counter adds up floats as well
                counts[f"{part}.{name}.n"] += 1
    for members in contrasts.values():
        _compare_within(members, counts)
    return counts


def _compare_within(members: Sequence[Judgement], counts: Counter[str]) -> None:
    """Of the pairs of an ambiguous and an unambiguous version of one sentence: how often is the first less sure?"""
    names = {name for judgement in members for name in judgement.measures if name.startswith(("h_", "openness"))}
    for open_one in members:
        for told in members:
            if open_one.tags["source"] != AMBIGUOUS or told.tags["source"] != UNAMBIGUOUS:
                continue
            counts["pairs.total"] += 1
            for name in names:
                if name in open_one.measures and name in told.measures:
                    more = open_one.measures[name] - told.measures[name]
                    won = 0.5 if abs(more) <= _TIE else float(more > 0)
                    counts[f"pairs.{name}.won"] += won  # type: ignore[assignment]
                    counts[f"pairs.{name}.n"] += 1


def _entropies(alpha: float, judgements: Sequence[Judgement]) -> list[tuple[str, str]]:
    """(name, key of the measure) of the entropies; the semantic one if it was asked for."""
    known = [("gender", "h_gender"), ("s3e", f"h_s3e@{alpha:g}"), ("string", "h_string")]
    if any("h_semantic" in judgement.measures for judgement in judgements):
        known.append(("semantic", "h_semantic"))
    return known


def _sides(key: str) -> tuple[str, str]:
    return f"{UNAMBIGUOUS}.{key}", f"{AMBIGUOUS}.{key}"


def _awareness(kind: str, key: str) -> Metric:
    """Of 100 pairs of an ambiguous and an unambiguous version: in how many is the first less sure? Ties count half.

    Of the gender it is less sure if fewer of its samples agree on one: by differing, or by leaving it open.
    """
    return rate(
        f"awareness_{kind}", "all", f"pairs.{key}.won", f"pairs.{key}.n", judged=f"pairs.{key}.n", better="higher"
    )


def _mean(name: str, key: str, part: str, kind: str = "", better: str = "neither") -> Metric:
    def value(total: Floats, n: Floats) -> Floats:
        return total / n

    needs = (f"{part}.{key}.sum", f"{part}.{key}.n")
    most = {"gender": math.log(2), "share": 0.5 if name == "distance_from_even" else 1.0}.get(kind)
    boundary = _unseen(value, 0.0, most) if most else None
    return Metric(name, part, needs, value, f"{part}.total", f"{part}.{key}.n", boundary, better)


def _delta(name: str, first: str, second: str, counted: tuple[str, str]) -> Metric:
    """(first - second) / first, of means; undefined where the first is 0."""

    def value(*columns: Floats) -> Floats:
        one, other = columns[0] / columns[1], columns[2] / columns[3]
        return np.where(one > _TIE, (one - other) / one, np.nan)

    return Metric(name, "all", _needs(first, second), value, *counted, better="lower")


def _gap(name: str, first: str, second: str, counted: tuple[str, str], kind: str) -> Metric:
    """first - second, of means: also where there is nothing to divide by."""

    def value(*columns: Floats) -> Floats:
        return columns[0] / columns[1] - columns[2] / columns[3]

    boundary = _unseen(value, -math.log(2), math.log(2)) if kind == "gender" else None
    return Metric(name, "all", _needs(first, second), value, *counted, boundary, "lower")


def _needs(first: str, second: str) -> tuple[str, str, str, str]:
    return f"{first}.sum", f"{first}.n", f"{second}.sum", f"{second}.n"


def _unseen(value: Callable[..., Floats], lowest: float, highest: float) -> Boundary:
    """Where all groups agree: as far as the share of groups unlike them may reach."""

    def at_boundary(sums: Sequence[float], n_groups: int, confidence: float) -> tuple[float, float]:
        point = float(value(*(np.array([amount]) for amount in sums))[0])
        reach = highest * unseen_share(n_groups, confidence)
        return max(point - reach, lowest), min(point + reach, highest)

    return at_boundary


# -- views ------------------------------------------------------------------------------------------------------------


def _alpha_table(judgements: Sequence[Judgement]) -> Table:
    rows = [tuple(_shown(value) for value in row) for row in alpha_correlations(judgements)]
    columns = ("alpha", "correlation, development half", "correlation, other half", "mean S3E")
    return Table("alpha", "What alpha does to S3E: its correlation with gender entropy", columns, rows)


def _entity_table(judgements: Sequence[Judgement]) -> Table:
    by_entity: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in judgements:
        by_entity[judgement.tags["entity"]].append(judgement)
    rows = []
    for entity, members in sorted(by_entity.items()):
        open_ones = [j for j in members if j.tags["source"] == AMBIGUOUS]
        told = [j for j in members if j.tags["source"] == UNAMBIGUOUS]
        rows.append(
            (
                entity,
                len(members),
                _shown(_average(open_ones, "p_feminine")),
                _shown(_average(open_ones, "h_gender")),
                _shown(_average(told, "h_gender")),
                _shown(_average(told, "p_right")),
            )
        )
    columns = ("entity", "n", "P(feminine) if open", "gender entropy if open", "gender entropy if told", "P(right)")
    return Table("entities", "How sure of the gender of whom", columns, rows)


def _average(judgements: Iterable[Judgement], name: str) -> float | None:
    values = [judgement.measures[name] for judgement in judgements if name in judgement.measures]
    return math.fsum(values) / len(values) if values else None


def _shown(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


BENCHMARK = Uncertainty()
