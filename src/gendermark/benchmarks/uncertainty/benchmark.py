"""Semantic uncertainty: is a system unsure exactly when the source is ambiguous? (Staliūnaitė, Cheng and Vlachos 2026)

Many translations are drawn of each WinoMT sentence. Where a pronoun tells the gender of the person, they should agree
on it; where the pronoun is "they", they should not. How far they agree is measured by the entropy of the samples:
of their strings, of the gender of the noun, and of meanings by degrees (S3E). Equations and what is reconstructed in
them: `metrics/uncertainty.py`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from gendermark.benchmarks.benchmark import Benchmark, ItemSet, Selection
from gendermark.benchmarks.uncertainty.items import (
    Reference,
    as_winomt,
    has_references,
    is_open,
    load_items,
    references_of,
)
from gendermark.benchmarks.uncertainty.measures import (
    ALPHA,
    MOST_ALPHA,
    alpha_table,
    chosen_alpha,
    entity_table,
    metrics_of,
    parse_alpha,
    sure_ones,
    tally,
    tuning_of,
    tuning_remarks,
)
from gendermark.benchmarks.winomt.benchmark import BENCHMARK as WINOMT
from gendermark.errors import UserError
from gendermark.linguistics.detectors import detector_name
from gendermark.linguistics.entailment import Entailment, clusters_with, entailment_clusters
from gendermark.linguistics.failures import failure
from gendermark.linguistics.similarity import open_similarity
from gendermark.metrics import uncertainty as arithmetic
from gendermark.metrics.metric import Floats, Metric, Tally
from gendermark.metrics.uncertainty import ALPHAS, Samples
from gendermark.records import Gender, Item, Judgement, Request, Table, Task, Translation, Verdict

N_SAMPLES = 128
SAMPLING = "epsilon=0.2"
"""How the paper draws."""
SIMILARITY = "characters"
_N_RESAMPLES = 200
"""Of the samples of one sentence, for the standard error of its entropy."""
_N_SHOWN = 5
"""Distinct translations that stand in the evidence."""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What was drawn for one item: the texts that are translations, and how many were not."""

    item: Item
    samples: Samples
    n_asked: int
    log_probabilities: Sequence[float]
    """Of the samples whose system gave one."""
    per_token: arithmetic.LogProbability | None
    references: Sequence[Reference]


@dataclass(frozen=True, slots=True)
class _Alike:
    """In which ways the distinct texts of one item are alike, to each other and to its references."""

    genders: Sequence[Gender | None]
    similarities: Floats
    """Of the texts, then of the references."""
    meanings: Sequence[int] | None
    """The cluster of each text, if entailment was asked for."""
    reference_meanings: Sequence[frozenset[int]]
    """The clusters that each reference belongs to."""


class Uncertainty(Benchmark):
    name = "uncertainty"
    title = "Semantic uncertainty: unsure exactly when the source is ambiguous?"
    rules = ("best",)
    rules_version = 2
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
        if selection.n_samples < 1:
            raise UserError(f"--n-samples is at least 1, not {selection.n_samples}")
        if selection.alpha != "tuned" and parse_alpha(selection.alpha) is None:
            raise UserError(f"--alpha is a number above 0, at most {MOST_ALPHA:g}, or tuned, not {selection.alpha!r}")
        sampling_options(selection)
        _similarity(selection.similarity)
        if selection.entailment:
            _entailment(selection.entailment)
        aligner = WINOMT.complete(as_winomt(selection)).aligner
        return replace(selection, aligner=aligner)

    def load(self, selection: Selection) -> ItemSet:
        found = load_items(selection)
        if not selection.parts:
            return found
        items = tuple(item for item in found.items if has_references(item, selection))
        if not items:
            raise UserError(
                f"there are no reference translations into {selection.target_language} for {selection.data} data; "
                "leave out --group referenced"
            )
        return replace(found, items=items)

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

    def settled(self, judgements: Sequence[Judgement], selection: Selection) -> Selection:
        if selection.alpha != "tuned":
            return selection
        best = tuning_of(judgements).alpha
        return replace(selection, alpha=f"{ALPHA:g}" if best is None else f"tuned={best:g}")

    def judge(self, item_set: ItemSet, translations: Sequence[Translation]) -> list[Judgement]:
        return self.judge_samples(item_set, [[translation] for translation in translations])

    def judge_samples(self, item_set: ItemSet, answers: Sequence[Sequence[Translation]]) -> list[Judgement]:
        selection = item_set.selection
        drawn = [
            _drawn(item, samples, references_of(item, selection))
            for item, samples in zip(item_set.items, answers, strict=True)
        ]
        alphas = sorted({*ALPHAS, parse_alpha(selection.alpha) or ALPHA})
        alike = zip(
            _genders(item_set, drawn),
            _similarity(selection.similarity).matrices(
                [(*found.samples.texts, *(one.text for one in found.references)) for found in drawn]
            ),
            *_meanings(drawn, selection.entailment),
            strict=True,
        )
        return [_judgement(found, _Alike(*ways), alphas) for found, ways in zip(drawn, alike, strict=True)]

    def tally(self, selection: Selection) -> Tally:  # noqa: ARG002
        return tally

    def metrics(self, judgements: Sequence[Judgement], selection: Selection) -> list[Metric]:
        return metrics_of(judgements, chosen_alpha(judgements, selection.alpha))

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
        found = [references_of(item, item_set.selection) for item in item_set.items]
        if not any(found):
            return super().choices(item_set)
        texts = [{reference.side: reference.text for reference in references} for references in found]
        return [(sides["correct"], sides["incorrect"]) if sides else None for sides in texts]

    def tables(self, judgements: Sequence[Judgement]) -> list[Table]:
        return [alpha_table(judgements), entity_table(judgements)]

    def warnings(self, judgements: Sequence[Judgement], selection: Selection) -> list[str]:
        found = []
        if selection.n_samples == 1:
            found.append("there is one sample of each sentence, which shows no uncertainty; draw more")
        else:
            found += sure_ones(judgements, selection.sampling)
        # mGeNTE names nobody whose gender could be read.
        with_person = [judgement for judgement in judgements if judgement.tags["entity"]]
        n_lost = sum(judgement.verdict is not Verdict.JUDGED for judgement in with_person)
        if n_lost > 0.1 * len(with_person):
            found.append(f"in {n_lost:,} of {len(with_person):,} sentences no sample's gender could be read")
        return found + (tuning_remarks(judgements) if selection.alpha == "tuned" else [])


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


# -- judging ----------------------------------------------------------------------------------------------------------


def _drawn(item: Item, answers: Sequence[Translation], references: Sequence[Reference]) -> _Drawn:
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


def _meanings(
    drawn: Sequence[_Drawn], entailment: str
) -> tuple[Sequence[Sequence[int] | None], Sequence[Sequence[frozenset[int]]]]:
    """For each item the cluster of each distinct text, and the clusters of each reference; if these are asked for."""
    if not entailment:
        return [None] * len(drawn), [()] * len(drawn)
    entails = _entailment(entailment)
    texts = [found.samples.texts for found in drawn]
    clusters = entailment_clusters(texts, entails)
    wanted = [[reference.text for reference in found.references] for found in drawn]
    return clusters, clusters_with(wanted, texts, clusters, entails)


def _judgement(found: _Drawn, alike: _Alike, alphas: Sequence[float]) -> Judgement:
    item, samples, genders = found.item, found.samples, alike.genders
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
        if not is_open(item.expected):
            values["p_right"] = _n_of(item.expected, decided, labels) / decided.n
    own = alike.similarities[: samples.n_distinct, : samples.n_distinct]
    for alpha in alphas:
        values[f"h_s3e@{alpha:g}"] = arithmetic.s3e_entropy(samples, own, alpha)
    if alike.meanings is not None:
        values["h_semantic"] = arithmetic.cluster_entropy(samples, alike.meanings)
    if found.log_probabilities:
        # With its sign turned, like all surprisals here: what is summed up over groups is never below 0.
        values["nll"] = -math.fsum(found.log_probabilities) / len(found.log_probabilities)
        values["nll_per_token"] = -found.per_token.per_token if found.per_token else None
    if found.references and samples.n:
        values |= _surprisals(found, alike, alphas)
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


def _surprisals(found: _Drawn, alike: _Alike, alphas: Sequence[float]) -> dict[str, float | None]:
    """How surprising the right and the wrong reference are, given the samples (condition 1)."""
    samples, n = found.samples, found.samples.n_distinct
    decided, labels = arithmetic.decided(samples, alike.genders)
    values: dict[str, float | None] = {}
    for place, reference in enumerate(found.references):
        side = reference.side
        if reference.gender is not None:
            values[f"i_gender.{side}"] = arithmetic.cluster_surprisal_of(decided, labels, reference.gender)
        values[f"i_string.{side}"] = arithmetic.shannon_surprisal_of(samples, reference.text)
        if alike.meanings is not None:
            own = alike.reference_meanings[place]
            is_same = [meaning in own for meaning in alike.meanings]
            values[f"i_semantic.{side}"] = arithmetic.cluster_surprisal_of(samples, is_same, True)
        for alpha in alphas:
            to_samples = alike.similarities[n + place, :n]
            values[f"i_s3e@{alpha:g}.{side}"] = arithmetic.s3e_surprisal_of(samples, to_samples, alpha)
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


BENCHMARK = Uncertainty()
