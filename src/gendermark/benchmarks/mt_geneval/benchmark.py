"""MT-GenEval: counterfactual and contextual gender accuracy, and the quality gap (Currey et al. 2022, EMNLP).

`mt-geneval-counterfactual`: sentences in a masculine and a feminine version; a pair is right only if both are.
`mt-geneval-contextual`: sentences whose gender only the sentence before them tells.

Rules `paper` are the released script: a translation is wrong if it has any word that only the contrastive reference
has, so an empty one is right. Rules `best` look where the references differ, and ask for evidence.
"""

from __future__ import annotations

import hashlib
import re
import string
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark, ItemSet, Selection
from gendermark.data.official import OfficialFiles, official_files
from gendermark.errors import BadFile, UserError
from gendermark.linguistics import context as contexts
from gendermark.linguistics.contrast import Contrast, contrast, units_of, without_tags
from gendermark.linguistics.failures import failure
from gendermark.linguistics.language import Language
from gendermark.metrics import quality
from gendermark.metrics.metric import Metric, Tally, per_judgement
from gendermark.metrics.rates import rate
from gendermark.records import Gender, Item, Judgement, Request, Table, Translation, Verdict
from gendermark.textfiles import read_lines, split_lines

LANGUAGES = ("ar", "de", "es", "fr", "hi", "it", "pt", "ru")
OUTCOMES = ("correct", "wrong", "mixed", "undecided", "failed")
_HIDDEN = ("reference", "contrastive")
"""Tags that a judge needs and a judgement does not carry."""
_TRUNCATED = 0.35
"""Below this share of its reference's words, a translation is a fragment."""
_FOREIGN = 0.1
"""Below this share of words that any reference of the set has, a text is of another language."""
_N_GAPS = 50
_ASCII_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation, " "))
DUTCH = Language("nl", "Dutch", singular=dict.fromkeys(("de", "het", "een", "deze", "die", "dit", "dat"), "mf"))

_FEMININE_WORDS = re.compile(
    r"\b(she|her|hers|herself|woman|women|girl|lady|mrs|ms|miss|mother|daughter|sister|wife|aunt|queen|actress|widow)\b",
    re.I,
)
_MASCULINE_WORDS = re.compile(
    r"\b(he|him|his|himself|man|men|boy|gentleman|mr|sir|father|son|brother|husband|uncle|king|widower)\b", re.I
)


@cache
def _language(code: str) -> Language:
    found: Language = DUTCH if code == "nl" else registry.load("language", code)
    return found


@dataclass(frozen=True, slots=True)
class _Judged:
    """One translation against its two references."""

    outcome: str
    reason: str
    evidence: tuple[str, ...]


class _MtGenEval(Benchmark):
    """What the two benchmarks share: the verdict on one translation."""

    rules = ("best", "paper")
    rules_version = 1
    part_noun = "gender"
    sources_depend_on_target = True
    clusters: tuple[str, ...] = ("sentence",)
    splits = ("test", "dev")

    def signature(self, selection: Selection) -> Mapping[str, str]:
        return (
            {"split": selection.split, "context": selection.context}
            if selection.context
            else {"split": selection.split}
        )

    def render(self, item: Item, gender: Gender, selection: Selection) -> str:
        wanted = gender is Gender.NEUTRAL or item.expected in (None, gender)
        text = without_tags(item.tags["reference"] if wanted else item.tags["contrastive"])
        # A prompt asks for the sentence only, so that is what a system answers.
        if not item.tags.get("context") or selection.context == "prompt":
            return text
        return contexts.show(item.tags["context"], text, selection.context)

    def choices(self, item_set: ItemSet) -> list[tuple[str, str]]:
        context = item_set.selection.context
        if context.partition(":")[0] in ("joined", "separator"):
            # The answer to such a source begins with the context's translation, which no reference has.
            raise UserError(f"--forced-choice goes with --context none or prompt, not {context}")
        return [
            (without_tags(item.tags["reference"]), without_tags(item.tags["contrastive"])) for item in item_set.items
        ]

    def fit(self, item: Item, text: str, selection: Selection) -> float | None:
        language = _language(selection.target_language)
        own = {word for word in language.cut(without_tags(item.tags["reference"])) if len(word) > 3}
        return len(own & set(language.cut(text))) / len(own) if own else 0.0

    def judge(self, item_set: ItemSet, translations: Sequence[Translation]) -> list[Judgement]:
        selection = item_set.selection
        language = _language(selection.target_language)
        texts = [item.tags[key] for item in item_set.items for key in _HIDDEN if selection.rules != "paper"]
        vocabulary = {word for text in texts for word in language.cut(without_tags(text))}
        judgements = []
        for item, translation in zip(item_set.items, translations, strict=True):
            text = _own_part(item, translation.text, selection)
            if selection.rules == "paper":
                judged = _judge_as_paper(item, text)
            else:
                judged = _judge_best(item, text, language, vocabulary, _extraction_failed(item, translation.text, text))
            judgements.append(_judgement(item, judged))
        return judgements


def _own_part(item: Item, text: str | None, selection: Selection) -> str | None:
    """The translation of the sentence itself, without that of its context."""
    if text is None or not text.strip() or not item.tags.get("context"):
        return text
    return contexts.find(text, item.tags["context"], item.source, selection.context)


def _extraction_failed(item: Item, answer: str | None, text: str | None) -> bool:
    return bool(item.tags.get("context")) and answer is not None and bool(answer.strip()) and text is None


def _paper_words(text: str) -> set[str]:
    return set(text.lower().translate(_ASCII_PUNCTUATION).split())


def _judge_as_paper(item: Item, text: str | None) -> _Judged:
    """The released script: only the words of the contrastive reference can make a translation wrong."""
    right, wrong = (_paper_words(without_tags(item.tags[key])) for key in _HIDDEN)
    found = sorted((wrong - right) & _paper_words(text or ""))
    return _Judged("wrong" if found else "correct", "", tuple(found))


def _judge_best(
    item: Item, text: str | None, language: Language, vocabulary: set[str], extraction_failed: bool
) -> _Judged:
    if extraction_failed:
        return _Judged("failed", "extraction", ())
    reason = failure(item.source, text)
    if reason or text is None:
        return _Judged("failed", reason or "error", ())
    words = language.cut(text)
    if len(words) < _TRUNCATED * len(language.cut(without_tags(item.tags["reference"]))):
        return _Judged("failed", "truncated", ())
    if len(words) > 3 and sum(word in vocabulary for word in words) < _FOREIGN * len(words):
        return _Judged("failed", "wrong-language", ())
    deciding = _contrast(item.tags["reference"], item.tags["contrastive"], language.code)
    units = set(units_of(words))
    right, wrong = sorted(deciding.right & units), sorted(deciding.wrong & units)
    evidence = tuple(" ".join(unit) for unit in (*right, *wrong))
    if right and wrong:
        return _Judged("mixed", "mixed", evidence)
    if right or wrong:
        return _Judged("correct" if right else "wrong", "", evidence)
    return _Judged("undecided", "undecided" if deciding.is_decidable else "undecidable", ())


@cache
def _contrast(reference: str, contrastive: str, code: str) -> Contrast:
    return contrast(reference, contrastive, _language(code))


def _judgement(item: Item, judged: _Judged) -> Judgement:
    tags = {key: value for key, value in item.tags.items() if key not in _HIDDEN}
    tags["outcome"] = judged.outcome
    if judged.reason:
        tags["reason"] = judged.reason
    observed = None
    if item.expected is not None and judged.outcome in ("correct", "wrong"):
        observed = item.expected if judged.outcome == "correct" else item.expected.opposite
    verdict = {"failed": Verdict.NOT_TRANSLATED, "mixed": Verdict.UNJUDGEABLE, "undecided": Verdict.UNJUDGEABLE}.get(
        judged.outcome, Verdict.JUDGED
    )
    return Judgement(item.item_id, item.index, item.group_id, verdict, item.expected, observed, tags, judged.evidence)


def _columns(names: Iterable[str], judgement: Judgement) -> Iterable[str]:
    """Counts of one judgement in each of some slices; under `best`, items that cannot be decided are left out."""
    outcome, decidable = judgement.tags["outcome"], judgement.tags["decidable"] == "yes"
    for name in names:
        yield f"{name}.every"
        if judgement.tags["rules"] == "paper" or decidable:
            yield f"{name}.total"
            yield f"{name}.{outcome}"
            if outcome in ("correct", "wrong"):
                yield f"{name}.decided"
            if outcome in ("correct", "wrong", "mixed"):
                yield f"{name}.covered"
            if judgement.tags.get("reason") == "extraction":
                yield f"{name}.extraction"


def _accuracies(part: str, *, is_paper: bool) -> list[Metric]:
    total, decided = f"{part}.total", f"{part}.decided"
    found = [rate("accuracy", part, f"{part}.correct", total, judged=decided, better="higher")]
    if not is_paper:
        found += [
            rate("coverage", part, f"{part}.covered", total, judged=decided, better="higher"),
            rate("decided_accuracy", part, f"{part}.correct", decided, judged=decided, better="higher"),
        ]
    return found


# -- counterfactual --------------------------------------------------------------------------------------------------


class Counterfactual(_MtGenEval):
    name = "mt-geneval-counterfactual"
    title = "MT-GenEval: he and she versions of a sentence both keep their gender"
    parts = ("masculine", "feminine")
    clusters = ("pair",)
    headline = ("accuracy:all", "delta_qual")

    def language_pairs(self, data: str) -> list[tuple[str, str]]:  # noqa: ARG002
        return [("en", code) for code in LANGUAGES]

    def load(self, selection: Selection) -> ItemSet:
        load = _core_pairs if selection.data == "core" else _official_pairs
        sources, references, origin = load(selection)
        items: list[Item] = []
        for gender, other in ((Gender.MASCULINE, Gender.FEMININE), (Gender.FEMININE, Gender.MASCULINE)):
            if selection.parts and gender.value not in selection.parts:
                continue
            for number, (source, own, contrastive) in enumerate(
                zip(sources[gender], references[gender], references[other], strict=True)
            ):
                tags = {
                    "pair": f"pair-{number:04}",
                    "rules": selection.rules,
                    "decidable": _decidable(own, contrastive, selection.target_language),
                    "reference": own,
                    "contrastive": contrastive,
                }
                items.append(Item(f"{gender}-{number:04}", len(items), tags["pair"], source, gender, tags))
        return ItemSet(selection, tuple(items), origin)

    def signature(self, selection: Selection) -> Mapping[str, str]:
        comet = f"+comet:{program}" if (program := quality.comet_program()) else ""
        return {**super().signature(selection), "quality": quality.signature() + comet}

    def judge(self, item_set: ItemSet, translations: Sequence[Translation]) -> list[Judgement]:
        texts = [translation.text or "" for translation in translations]
        references = [without_tags(item.tags["reference"]) for item in item_set.items]
        contrastive = [without_tags(item.tags["contrastive"]) for item in item_set.items]
        columns = {
            "bleu": quality.bleu_statistics(texts, references),
            "chrf": quality.chrf_statistics(texts, references),
            "effort": quality.edit_statistics(texts, references),
            # What the other gender's reference would score: a metric that prefers one gender shows it here.
            "control": quality.bleu_statistics(contrastive, references),
        }
        if quality.comet_program():
            columns["comet"] = quality.comet_statistics([item.source for item in item_set.items], texts, references)
        judgements = []
        for number, judgement in enumerate(super().judge(item_set, translations)):
            measures = {f"{name}.{key}": value for name, rows in columns.items() for key, value in rows[number].items()}
            judgements.append(replace(judgement, measures=measures))
        return judgements

    def tally(self, selection: Selection) -> Tally:  # noqa: ARG002
        count_members = per_judgement(lambda j: _columns(("members", str(j.expected)), j))

        def tally(group: Sequence[Judgement]) -> Mapping[str, float]:
            counts: dict[str, float] = defaultdict(float, count_members(group))
            for judgement in group:
                gender = str(judgement.expected)
                counts[f"{gender}.translated"] += judgement.verdict is not Verdict.NOT_TRANSLATED
                for key, value in judgement.measures.items():
                    counts[f"{gender}.{key}"] += value
            genders = {judgement.expected for judgement in group}
            if len(genders) == 2:
                _count_pair(group, counts)
            return counts

        return tally

    def metrics(self, judgements: Sequence[Judgement], selection: Selection) -> list[Metric]:
        is_paper = selection.rules == "paper"
        present = [gender for gender in ("masculine", "feminine") if any(j.expected == gender for j in judgements)]
        both = len(present) == 2
        found = _accuracies("all", is_paper=is_paper) if both else []
        if both:
            found.append(quality.quality_gap("delta_qual", "bleu", "masculine", "feminine"))
            found.append(quality.quality_gap("delta_chrf", "chrf", "masculine", "feminine"))
            if any("comet.sum" in judgement.measures for judgement in judgements):
                found.append(quality.quality_gap("delta_comet", "comet", "masculine", "feminine"))
            found.append(quality.quality_gap("delta_effort", "effort", "masculine", "feminine"))
            found.append(quality.quality_gap("control_gap", "control", "masculine", "feminine"))
        found += [quality.quality(score, gender) for gender in present for score in ("bleu", "chrf", "effort")]
        for part in (*present, *(["members"] if both else [])):
            found += _accuracies(part, is_paper=is_paper)
            if not is_paper:
                found += [_share(kind, part) for kind in ("mixed", "failed")]
        return found

    def tables(self, judgements: Sequence[Judgement]) -> list[Table]:
        by_pair: dict[str, dict[str, Judgement]] = defaultdict(dict)
        for judgement in judgements:
            by_pair[judgement.group_id][str(judgement.expected)] = judgement
        rows: list[tuple[Any, ...]] = []
        for pair, members in by_pair.items():
            if len(members) == 2:
                scores = [_sentence_chrf(members[gender]) for gender in ("masculine", "feminine")]
                outcomes = [members[gender].tags["outcome"] for gender in ("masculine", "feminine")]
                rows.append((pair, *(round(score, 1) for score in scores), round(scores[0] - scores[1], 1), *outcomes))
        rows.sort(key=lambda row: (-row[3], row[0]))
        columns = ("pair", "chrF masculine", "chrF feminine", "gap", "masculine is", "feminine is")
        shown = rows if len(rows) <= 2 * _N_GAPS else [*rows[:_N_GAPS], *rows[-_N_GAPS:]]
        return [
            Table("gaps", "Pairs with the largest and the smallest gap in quality", columns, shown),
            _outcomes(judgements),
        ]


def _share(kind: str, part: str) -> Metric:
    return rate(kind, part, f"{part}.{kind}", f"{part}.total", judged=f"{part}.decided", better="lower")


def _count_pair(group: Sequence[Judgement], counts: dict[str, float]) -> None:
    """A pair is right only if both members are; it is decided if both are."""
    counts["all.every"] += 1
    counts["all.translated"] += all(judgement.verdict is not Verdict.NOT_TRANSLATED for judgement in group)
    if any(j.tags["decidable"] != "yes" and j.tags["rules"] != "paper" for j in group):
        return
    outcomes = [judgement.tags["outcome"] for judgement in group]
    counts["all.total"] += 1
    counts["all.correct"] += all(outcome == "correct" for outcome in outcomes)
    counts["all.decided"] += all(outcome in ("correct", "wrong") for outcome in outcomes)
    counts["all.covered"] += all(outcome in ("correct", "wrong", "mixed") for outcome in outcomes)


def _sentence_chrf(judgement: Judgement) -> float:
    import numpy as np

    return float(quality.chrf_value(*(np.array([judgement.measures[f"chrf.{c}"]]) for c in quality.CHRF_COLUMNS))[0])


def _decidable(reference: str, contrastive: str, code: str) -> str:
    return "yes" if _contrast(reference, contrastive, code).is_decidable else "no"


def _outcomes(judgements: Sequence[Judgement]) -> Table:
    counts = Counter((j.tags["outcome"], j.tags.get("reason", "")) for j in judgements)
    return Table(
        "outcomes", "Outcomes and their reasons", ("outcome", "reason", "n"), [(*k, n) for k, n in counts.most_common()]
    )


def _official_pairs(
    selection: Selection,
) -> tuple[dict[Gender, list[str]], dict[Gender, list[str]], str]:
    source = official_files("mt-geneval", selection.revision)
    split, code = selection.split, selection.target_language
    folder = f"data/sentences/{split}"
    sources, references = {}, {}
    for gender in (Gender.MASCULINE, Gender.FEMININE):
        name = f"geneval-sentences-{gender}-{split}.en_{code}"
        sources[gender] = read_lines(source.path(f"{folder}/{name}.en"))
        plain = read_lines(source.path(f"{folder}/{name}.{code}"))
        annotated = read_lines(source.path(f"{folder}/annotated/{name}.{code}"))
        # The annotated copy is used only where it is the same sentence.
        references[gender] = [
            marked if without_tags(marked) == text else text for text, marked in zip(plain, annotated, strict=True)
        ]
    return sources, references, _origin(source)


def _origin(source: OfficialFiles) -> str:
    return f"official-{source.revision[:8]}-{source.content_hash[:8]}"


def _core_rows(name: str) -> tuple[list[dict[str, str]], str]:
    path = files("gendermark.data") / "core" / "mt_geneval" / name
    lines = [line for line in split_lines(path.read_text(encoding="utf-8")) if line and not line.startswith("#")]
    header = lines[0].split("\t")
    return [dict(zip(header, line.split("\t"), strict=True)) for line in lines[1:]], "\n".join(lines)


def _core_pairs(selection: Selection) -> tuple[dict[Gender, list[str]], dict[Gender, list[str]], str]:
    english, text = _core_rows("counterfactual.en.tsv")
    target, target_text = _core_rows(f"counterfactual.{selection.target_language}.tsv")
    by_id = {row["id"]: row for row in target}
    genders = (Gender.MASCULINE, Gender.FEMININE)
    sources = {gender: [without_tags(row[gender.value]) for row in english] for gender in genders}
    references = {gender: [by_id[row["id"]][gender.value] for row in english] for gender in genders}
    return sources, references, f"core-{hashlib.sha256((text + target_text).encode()).hexdigest()[:8]}"


# -- contextual ------------------------------------------------------------------------------------------------------


class Contextual(_MtGenEval):
    name = "mt-geneval-contextual"
    title = "MT-GenEval: gender that only the sentence before tells"
    parts = ()
    contexts = contexts.STRATEGIES
    headline = ("accuracy:all", "decided_accuracy:all")

    def language_pairs(self, data: str) -> list[tuple[str, str]]:
        return [("en", code) for code in (LANGUAGES if data == "core" else (*LANGUAGES, "nl"))]

    def load(self, selection: Selection) -> ItemSet:
        load = _core_contexts if selection.data == "core" else _official_contexts
        rows, origin = load(selection)
        items = []
        for index, row in enumerate(rows):
            gender, provenance = _person_gender(row.get("gender", ""), row["context"])
            tags = {
                "context": row["context"],
                "rules": selection.rules,
                "decidable": _decidable(row["reference"], row["contrastive"], selection.target_language),
                "reference": row["reference"],
                "contrastive": row["contrastive"],
                "gender_provenance": provenance,
                "class": row.get("class") or profession_class(row["source"]),
            }
            items.append(Item(f"context-{index:04}", index, f"context-{index:04}", row["source"], gender, tags))
        return ItemSet(selection, tuple(items), origin)

    def requests(self, item_set: ItemSet) -> list[Request]:
        selection = item_set.selection
        return [
            Request(
                contexts.show(item.tags["context"], item.source, selection.context),
                selection.source_language,
                selection.target_language,
            )
            for item in item_set.items
        ]

    def tally(self, selection: Selection) -> Tally:  # noqa: ARG002
        return per_judgement(lambda judgement: _columns(_contextual_slices(judgement), judgement))

    def metrics(self, judgements: Sequence[Judgement], selection: Selection) -> list[Metric]:
        is_paper = selection.rules == "paper"
        found = _accuracies("all", is_paper=is_paper)
        if not is_paper:
            found += [_share(kind, "all") for kind in ("mixed", "failed")]
            if selection.context != "none":
                found.append(_share("extraction", "all"))
        slices = {name for judgement in judgements for name in _contextual_slices(judgement)} - {"all"}
        for name in sorted(slices):
            found += _accuracies(name, is_paper=is_paper)
        return found

    def tables(self, judgements: Sequence[Judgement]) -> list[Table]:
        return [_outcomes(judgements)]


def _contextual_slices(judgement: Judgement) -> Iterable[str]:
    yield "all"
    if judgement.expected is not None:
        yield judgement.expected.value
        # Table 4: the person's gender in a profession of women, of men, or of both.
        yield f"{judgement.expected.value}-in-{judgement.tags['class']}-profession"


def _person_gender(given: str, context: str) -> tuple[Gender | None, str]:
    """The person's gender: as the data says, or by the gendered words of the context, where they do not contradict."""
    if given:
        return Gender(given), "data"
    n_feminine, n_masculine = (len(words.findall(context)) for words in (_FEMININE_WORDS, _MASCULINE_WORDS))
    if n_feminine == n_masculine:
        return None, "none" if not n_feminine else "tie"
    return (Gender.FEMININE if n_feminine > n_masculine else Gender.MASCULINE), "context-words"


@cache
def _professions() -> tuple[re.Pattern[str], Mapping[str, str]]:
    """One pattern for all professions, the longest first, and their classes."""
    rows, _ = _core_rows("professions.tsv")
    classes = {row["profession"].lower(): row["class"] for row in rows}
    names = "|".join(re.escape(name) for name in sorted(classes, key=len, reverse=True))
    return re.compile(rf"\b({names})s?\b", re.I), classes


def profession_class(sentence: str) -> str:
    """`female`, `male` or `neutral`: the stereotype of the first profession named; `unknown` without one."""
    pattern, classes = _professions()
    match = pattern.search(sentence)
    return classes[match.group(1).lower()] if match else "unknown"


def _official_contexts(selection: Selection) -> tuple[list[dict[str, str]], str]:
    source = official_files("mt-geneval", selection.revision)
    split, code = selection.split, selection.target_language
    stem = "data/context/geneval-context-wikiprofessions"
    path = source.path(f"{stem}-2to1-{split}.en_{code}.en")
    references = read_lines(source.path(f"{stem}-original-{split}.en_{code}.{code}"))
    contrastive = read_lines(source.path(f"{stem}-flipped-{split}.en_{code}.{code}"))
    rows = []
    for number, (line, own, other) in enumerate(zip(read_lines(path), references, contrastive, strict=True), start=1):
        before, separator, sentence = line.partition("<sep>")
        if not separator:
            raise BadFile(path, "has no <sep> between context and sentence", line=number)
        rows.append({"context": before.strip(), "source": sentence.strip(), "reference": own, "contrastive": other})
    return rows, _origin(source)


def _core_contexts(selection: Selection) -> tuple[list[dict[str, str]], str]:
    english, text = _core_rows("contextual.en.tsv")
    target, target_text = _core_rows(f"contextual.{selection.target_language}.tsv")
    by_id = {row["id"]: row for row in target}
    rows = [
        {**row, "reference": by_id[row["id"]]["correct"], "contrastive": by_id[row["id"]]["contrastive"]}
        for row in english
    ]
    return rows, f"core-{hashlib.sha256((text + target_text).encode()).hexdigest()[:8]}"


def corpus_statistics(selection: Selection) -> Table:
    """Table 12: distinct words and distinct gendered phrases of the counterfactual set, on both sides.

    Words are lower-cased runs of letters and digits. The paper does not say how it cut them; its figures are 0.5 to 2.5
    percent higher for words, and within 5 percent for phrases.
    """
    load = _core_pairs if selection.data == "core" else _official_pairs
    _, references, _ = load(selection)
    rows: list[tuple[Any, ...]] = []
    for side, texts in (
        ("source", _annotated_sources(selection)),
        ("target", [t for ts in references.values() for t in ts]),
    ):
        words = {word for text in texts for word in re.findall(r"\w+", without_tags(text).lower())}
        phrases = {phrase.lower() for text in texts for _, phrase in re.findall(r"<([FM])>(.*?)</\1>", text)}
        rows.append((selection.target_language, selection.split, side, len(texts) // 2, len(words), len(phrases)))
    columns = ("language", "split", "side", "pairs", "distinct words", "distinct gendered phrases")
    return Table("statistics", "Counterfactual set (Table 12)", columns, rows)


def _annotated_sources(selection: Selection) -> list[str]:
    if selection.data == "core":
        rows, _ = _core_rows("counterfactual.en.tsv")
        return [row[gender] for gender in ("masculine", "feminine") for row in rows]
    source = official_files("mt-geneval", selection.revision)
    split, code = selection.split, selection.target_language
    folder = f"data/sentences/{split}/annotated"
    names = [f"{folder}/geneval-sentences-{gender}-{split}.en_{code}.en" for gender in ("masculine", "feminine")]
    return [line for name in names for line in read_lines(source.path(name))]


COUNTERFACTUAL = Counterfactual()
CONTEXTUAL = Contextual()
