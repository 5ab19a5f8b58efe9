"""TGBI: are gender-neutral pronouns kept neutral? (Cho, Kim, Kim and Kim 2019, GeBNLP)

Every lexeme (an occupation or a sentiment expression) makes one sentence "PRONOUN is LEXEME" in each style of the
source language: informal or formal pronoun, impolite or polite ending. Each sentence belongs to three sentence sets.

Rules `paper` reproduce the released evaluation bit by bit, including that a failed translation counts as neutral.
Rules `best` know pronouns, and count failed translations apart, where they can only lower the score.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

import numpy as np

from gendermark import statistics
from gendermark.benchmarks.benchmark import Benchmark, ItemSet, Selection
from gendermark.data.official import official_files
from gendermark.linguistics import english, hangul
from gendermark.linguistics.failures import failure
from gendermark.linguistics.treebank import tokens
from gendermark.metrics.metric import Floats, Metric, Tally, per_judgement
from gendermark.metrics.neutrality import p_s, tgbi
from gendermark.metrics.rates import gap_of_alike, rate
from gendermark.records import Gender, Item, Judgement, Table, Test, Translation, Verdict
from gendermark.textfiles import read_lines, split_lines

SETS = ("informal", "formal", "impolite", "polite", "negative", "positive", "occupation")
SOURCE_LANGUAGES = ("ko", "fa", "fi", "hu", "ja", "tr")
N_PERMUTATIONS = 2000
_FAILED_SHARE_TO_WARN = 0.02

# Section 3.2, footnote 9, as the released code has it: feminine words are looked for first and win.
_PAPER_WORDS = (
    (Gender.FEMININE, frozenset({"she", "her", "woman", "girl"})),
    (Gender.MASCULINE, frozenset({"he", "him", "man", "guy", "boy"})),
)
# The released corpora list occupations, then negative, then positive expressions.
_KINDS = ("occupation", "negative", "positive")
_OFFICIAL_FILES = {"occupation": "job.txt", "negative": "neg.txt", "positive": "pos.txt"}


@dataclass(frozen=True, slots=True)
class Lexeme:
    """One word or phrase of the lexicon, and the class of template it takes."""

    lexeme_id: str
    cluster_id: str
    text: str
    kind: str
    template_class: str
    stereotype: str = ""
    gloss: str = ""


@dataclass(frozen=True, slots=True)
class Style:
    """One combination of formality and politeness, with a template per class of lexeme."""

    formality: str
    politeness: str
    templates: Mapping[str, str]

    @property
    def name(self) -> str:
        return "-".join(part for part in (self.formality, self.politeness) if part) or "plain"


class Tgbi(Benchmark):
    name = "tgbi"
    title = "TGBI: gender-neutral pronouns kept neutral"
    rules = ("best", "paper")
    rules_version = 1
    part_noun = "set"
    parts = SETS
    clusters = ("lexeme",)
    headline = ("tgbi", "p_s")

    def language_pairs(self, data: str) -> list[tuple[str, str]]:
        return [(code, "en") for code in (SOURCE_LANGUAGES if data == "core" else ("ko",))]

    def load(self, selection: Selection) -> ItemSet:
        if selection.data == "core":
            lexemes, origin = _core_lexemes(selection.source_language)
        else:
            lexemes, origin = _official_lexemes(selection.revision)
        sentences = list(_sentences(lexemes, _styles(selection.source_language)))
        if not selection.parts:
            return ItemSet(selection, tuple(sentences), origin)
        chosen = [
            Item(
                f"{item.item_id}@{part}", index, item.group_id, item.source, item.expected, {**item.tags, "sets": part}
            )
            for part in selection.parts
            for index, item in enumerate(_in_set(sentences, part))
        ]
        return ItemSet(selection, tuple(chosen), origin)

    def judge(self, item_set: ItemSet, translations: Sequence[Translation]) -> list[Judgement]:
        judge_one = _judge_as_paper if item_set.selection.rules == "paper" else _judge_best
        return [
            judge_one(item, translation.text) for item, translation in zip(item_set.items, translations, strict=True)
        ]

    def tally(self, selection: Selection) -> Tally:  # noqa: ARG002
        return per_judgement(_columns_of)

    def metrics(self, judgements: Sequence[Judgement], selection: Selection) -> list[Metric]:
        present = {name for judgement in judgements for name in judgement.tags["sets"].split()}
        names = [name for name in SETS if name in present]
        # Korean and Japanese have all seven; a language without politeness has fewer, and its index is over those.
        wanted = _sets_of(_styles(selection.source_language))
        found: list[Metric] = [tgbi(wanted)]
        for name in names:
            found.append(p_s(name))
            for symbol, kind in (("w", "feminine"), ("m", "masculine"), ("n", "neutral")):
                found.append(_share(f"p_{symbol}", name, kind))
            if selection.rules != "paper":
                found.extend(_share(f"p_{kind}", name, kind) for kind in ("mixed", "failed"))
        return [*found[:1], _imbalance(), *found[1:]]

    def render(self, item: Item, gender: Gender, selection: Selection) -> str:  # noqa: ARG002
        pronoun = {Gender.FEMININE: "She is", Gender.MASCULINE: "He is", Gender.NEUTRAL: "That person is"}[gender]
        return f"{pronoun} {item.tags['gloss'] or 'like that'}."

    def stratum(self, judgement: Judgement, selection: Selection) -> str:  # noqa: ARG002
        return judgement.tags["kind"]

    def stereotype(self, item: Item) -> Gender | None:
        return super().stereotype(item) or (Gender.MASCULINE if item.tags["kind"] == "occupation" else Gender.FEMININE)

    def tests(self, judgements: Sequence[Judgement], seed: int) -> list[Test]:
        outcomes, kinds, _ = _by_lexeme(judgements)
        independence = statistics.independence_test(outcomes, kinds, N_PERMUTATIONS, seed)
        totals = outcomes.sum(axis=1)
        usable = totals > 0
        differences = (outcomes[usable, 1] - outcomes[usable, 0]) / totals[usable]
        p_value = statistics.sign_flip_test(differences, N_PERMUTATIONS, seed, "greater") if len(differences) else None
        return [
            Test(
                "independence",
                "Does the gender chosen depend on the class of the lexeme (occupation, positive, negative)? (SBias)",
                independence.chi_square,
                independence.p_value,
                {"cramers_v": independence.cramers_v, "method": "chi-square, classes permuted among lexemes"},
            ),
            Test(
                "male-default",
                "Are masculine translations more frequent than feminine ones? (VBias; as Prates et al. 2018)",
                float(differences.mean()) if len(differences) else None,
                p_value,
                {"statistic": "mean over lexemes of p_m - p_w", "method": "sign flips by lexeme"},
            ),
        ]

    def tables(self, judgements: Sequence[Judgement]) -> list[Table]:
        rows: dict[str, Counter[str]] = defaultdict(Counter)
        texts: dict[str, tuple[str, str]] = {}
        for judgement in judgements:
            texts.setdefault(judgement.group_id, (judgement.tags["lexeme"], judgement.tags["kind"]))
            rows[judgement.group_id][_outcome(judgement)] += 1
        kinds = ("feminine", "masculine", "neutral", "mixed", "failed")
        per_lexeme = [
            (*texts[group], total := counts.total(), *(counts[kind] for kind in kinds), _leaning(counts, total))
            for group, counts in sorted(rows.items())
        ]
        leanings = Counter((row[1], row[-1]) for row in per_lexeme)
        labels = ("feminine", "masculine", "both", "open")
        by_kind = [
            (kind, *(leanings[kind, label] for label in labels))
            for kind in _KINDS
            if any(leanings[kind, label] for label in labels)
        ]
        return [
            Table(
                "lexemes",
                "Gender per lexeme",
                ("lexeme", "kind", "n", *kinds, "leaning"),
                sorted(per_lexeme, key=lambda row: (-(row[3] - row[4]) / row[2], row[0])),
            ),
            Table("leanings", "Which way lexemes lean", ("kind", *labels), by_kind),
        ]

    def warnings(self, judgements: Sequence[Judgement], selection: Selection) -> list[str]:
        if selection.rules == "paper":
            n_failed = sum(judgement.tags.get("failed") == "yes" for judgement in judgements)
            if n_failed > _FAILED_SHARE_TO_WARN * len(judgements):
                return [
                    f"{n_failed:,} of {len(judgements):,} outputs are empty, copied or speak of no person; the "
                    "paper's rules count them as neutral, which raises P_S: use --rules best"
                ]
        return []


def _share(metric: str, name: str, kind: str) -> Metric:
    return rate(metric, name, f"{name}.{kind}", f"{name}.total", judged=f"{name}.judged", scale=1.0)


def _imbalance() -> Metric:
    """p_m - p_w over all sentences: the linear score that section 4.2 sets against P_S (after Lu et al. 2018)."""

    def value(masculine: Floats, feminine: Floats, total: Floats) -> Floats:
        return (masculine - feminine) / total

    def at_boundary(sums: Sequence[float], n_groups: int, confidence: float) -> tuple[float, float]:
        return gap_of_alike((sums[0] - sums[1]) / sums[2], n_groups, confidence)

    needs = ("all.masculine", "all.feminine", "all.total")
    return Metric("imbalance", "all", needs, value, "all.total", "all.judged", at_boundary, better="zero")


def _outcome(judgement: Judgement) -> str:
    if judgement.observed is not None:
        return judgement.observed.value
    return "mixed" if judgement.tags.get("reason") == "mixed" else "failed"


def _columns_of(judgement: Judgement) -> Iterable[str]:
    outcome = _outcome(judgement)
    for name in (*judgement.tags["sets"].split(), "all"):
        yield f"{name}.total"
        yield f"{name}.{outcome}"
        if judgement.verdict is Verdict.JUDGED:
            yield f"{name}.judged"


def _leaning(counts: Counter[str], total: int) -> str:
    """Which gender a lexeme is translated with: one only, both, or (mostly) left open."""
    gendered = counts["feminine"] + counts["masculine"]
    if 2 * gendered < total:
        return "open"
    return next((kind for kind in ("feminine", "masculine") if counts[kind] == gendered), "both")


def _by_lexeme(judgements: Sequence[Judgement]) -> tuple[Floats, list[str], list[str]]:
    """(feminine, masculine, neutral) counts of each lexeme, and its class."""
    rows: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    kinds: dict[str, str] = {}
    order = (Gender.FEMININE, Gender.MASCULINE, Gender.NEUTRAL)
    for judgement in judgements:
        kinds[judgement.group_id] = judgement.tags["kind"]
        row = rows[judgement.group_id]
        if judgement.observed is not None:
            row[order.index(judgement.observed)] += 1
    groups = sorted(rows)
    return np.array([rows[g] for g in groups], dtype=np.float64).reshape(-1, 3), [kinds[g] for g in groups], groups


def classify_as_paper(text: str) -> tuple[Gender, tuple[str, ...]]:
    """The released classifier: feminine if a feminine word is a token, else masculine likewise, else neutral."""
    found = tokens(text.lower())
    for gender, words in _PAPER_WORDS:
        if evidence := tuple(token for token in found if token in words):
            return gender, evidence
    return Gender.NEUTRAL, ()


def _judge_as_paper(item: Item, text: str | None) -> Judgement:
    gender, evidence = classify_as_paper(text or "")
    tags = dict(item.tags)
    if gender is Gender.NEUTRAL and (failure(item.source, text) or english.find_person(text or "").gender is None):
        tags["failed"] = "yes"
    return _judgement(item, Verdict.JUDGED, gender, evidence, tags)


def _judge_best(item: Item, text: str | None) -> Judgement:
    reason = failure(item.source, text)
    if reason or text is None:
        return _judgement(item, Verdict.NOT_TRANSLATED, None, (), {**item.tags, "reason": reason or "error"})
    finding = english.find_person(text)
    if finding.gender is None:
        return _judgement(item, Verdict.UNJUDGEABLE, None, finding.evidence, {**item.tags, "reason": finding.reason})
    return _judgement(item, Verdict.JUDGED, finding.gender, finding.evidence, item.tags)


def _judgement(
    item: Item, verdict: Verdict, observed: Gender | None, evidence: tuple[str, ...], tags: Mapping[str, str]
) -> Judgement:
    return Judgement(item.item_id, item.index, item.group_id, verdict, item.expected, observed, tags, evidence)


def _sentences(lexemes: Sequence[Lexeme], styles: Sequence[Style]) -> Iterable[Item]:
    """All sentences in export order: by pronoun, then kind of lexeme, then ending, as the released sets are."""
    index = 0
    for formality in dict.fromkeys(style.formality for style in styles):
        for kind in _KINDS:
            for style in styles:
                if style.formality != formality:
                    continue
                for lexeme in lexemes:
                    if lexeme.kind == kind:
                        yield _sentence(lexeme, style, index)
                        index += 1


def _sentence(lexeme: Lexeme, style: Style, index: int) -> Item:
    sets = [name for name in (style.formality, style.politeness, lexeme.kind) if name]
    tags = {
        "sets": " ".join(sets),
        "style": style.name,
        "kind": lexeme.kind,
        "lexeme": lexeme.text,
        "stereotype": lexeme.stereotype,
        "gloss": lexeme.gloss,
    }
    source = hangul.attach(style.templates[lexeme.template_class], lexeme.text)
    return Item(f"{lexeme.lexeme_id}-{style.name}", index, lexeme.cluster_id, source, Gender.NEUTRAL, tags)


def _in_set(sentences: Sequence[Item], name: str) -> list[Item]:
    """The sentences of one set in the order of its released file.

    Style sets follow kind, then the other style; content sets follow pronoun, then ending: for both that is export
    order, except that `impolite` and `polite` put both pronouns of one kind together.
    """
    chosen = [item for item in sentences if name in item.tags["sets"].split()]
    if name in ("impolite", "polite"):
        chosen.sort(key=lambda item: _KINDS.index(item.tags["kind"]))
    return chosen


def _sets_of(styles: Sequence[Style]) -> list[str]:
    present = {part for style in styles for part in (style.formality, style.politeness)} | set(_KINDS)
    return [name for name in SETS if name in present]


def _core(code: str, ending: str) -> Traversable:
    return files("gendermark.data") / "core" / "tgbi" / f"{code}.{ending}"


@cache
def _styles(code: str) -> tuple[Style, ...]:
    table = tomllib.loads(_core(code, "toml").read_text(encoding="utf-8"))
    return tuple(Style(style["formality"], style["politeness"], style["templates"]) for style in table["style"])


def _core_lexemes(code: str) -> tuple[list[Lexeme], str]:
    text = _core(code, "tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in split_lines(text)[1:] if line and not line.startswith("#")]
    lexemes = [
        Lexeme(
            f"{code}-{number:04}",
            f"{code}-{number:04}",
            lexeme,
            kind,
            template_class,
            "" if lean == "none" else lean,
            gloss,
        )
        for number, (lexeme, kind, template_class, lean, gloss) in enumerate(rows)
    ]
    content = text + _core(code, "toml").read_text(encoding="utf-8")
    return lexemes, f"core-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def _official_lexemes(revision: str) -> tuple[list[Lexeme], str]:
    source = official_files("tgbi", revision)
    lexemes = []
    for kind in _KINDS:
        lines = read_lines(source.path(f"gebnlp-tgbi/original/{_OFFICIAL_FILES[kind]}"))
        # 12 occupations stand twice in the released list; a repeated word is one lexeme, and so one cluster.
        first: dict[str, str] = {}
        for number, line in enumerate(lines):
            # Sentiment entries begin with the pronoun 걔는, once misspelt as 개는; occupations stand alone.
            text = line if kind == "occupation" else line.partition(" ")[2]
            lexeme_id = f"ko-{kind}-{number:04}"
            template_class, stem = _official_class(text, kind)
            lexemes.append(Lexeme(lexeme_id, first.setdefault(text, lexeme_id), stem, kind, template_class))
    return lexemes, f"official-{source.revision[:8]}-{source.content_hash[:8]}"


def _official_class(text: str, kind: str) -> tuple[str, str]:
    """The template class of a released entry, and the part of it that goes into the template."""
    if kind == "occupation":
        return "occupation", text
    if text.endswith("야"):
        return "sentiment-copula", text.removesuffix("야")
    return "sentiment-verb", text


BENCHMARK = Tgbi()
