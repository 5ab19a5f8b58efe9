"""What is counted of GATE's judgements, and the metrics made of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gendermark.benchmarks.benchmark import Measures, outcome_table
from gendermark.benchmarks.gate_variants import (
    DIRECTIONS,
    GROUPS,
    LABELS,
    SLICES,
    AlternativesSettings,
    RewritingSettings,
    Settings,
)
from gendermark.benchmarks.gate_variants.judge import CLOSED, EMPTY, FEMININE, MASCULINE, MATCH, MISMATCH, MIXED
from gendermark.metrics.describe import Description
from gendermark.metrics.metric import PERCENT, Bounded, Floats, Metric
from gendermark.metrics.rates import difference, rate, share
from gendermark.metrics.terms import TERM_ACCURACY, TERM_COVERAGE, add_terms, term_accuracy, term_coverage
from gendermark.records import Judgement, Table, Verdict

MASCULINE_RATE = Description(
    "masculine_rate",
    "as a man",
    "People translated as men, of those translated as a man or a woman; nothing is right or wrong here, but half of "
    "each would favour nobody.",
    even=50.0,
    behind={"observed": "masculine"},
)
FEMININE_RATE = Description(
    "feminine_rate",
    "as a woman",
    "People translated as women, of those translated as a man or a woman.",
    behind={"observed": "feminine"},
)
IMBALANCE = Description(
    "imbalance",
    "men minus women",
    "masculine_rate minus feminine_rate: 100 if all become men, -100 if all become women; 0 favours nobody.",
    better="zero",
)
COVERAGE = Description(
    "coverage",
    "gender could be read",
    "People translated as a man or a woman, of all whose gender the translation has to show.",
    better="higher",
)
MIXED_RATE = Description(
    "mixed", "both genders at once", "People with words of both genders.", better="lower", behind={"outcome": "mixed"}
)
UNDECIDED = Description(
    "undecided",
    "no gender to be read",
    "People whose gender does not show, or shows in words that are not known here.",
    behind={"outcome": "undecided"},
)
FAILED = Description(
    "failed",
    "not translated",
    "People in sentences with no translation: empty, or a copy.",
    better="lower",
    behind={"outcome": "failed"},
)
WORK_FAMILY_GAP = Description(
    "work_family_gap",
    "men at work minus men in the family",
    "masculine_rate of occupations (PROF) minus that of family (FAM), in sentences about one person.",
    better="zero",
)
STEREOTYPE_GAP = Description(
    "stereotype_gap",
    "men in men's occupations minus in women's",
    "masculine_rate of occupations that mostly men have minus that of occupations that mostly women have.",
    better="zero",
)
CONSISTENCY = Description(
    "consistency",
    "all people of a sentence alike",
    "Sentences whose people all get the same gender, of those with several people whose genders could all be read.",
)
ALL_MEN = CONSISTENCY.called("all_men", "all people men", "Of the same sentences, those in which all become men.")
ALL_WOMEN = CONSISTENCY.called(
    "all_women", "all people women", "Of the same sentences, those in which all become women."
)

EXACT_RATE = Description(
    "exact_rate",
    "all references reproduced",
    "Sentences of which all references are among the outputs.",
    better="higher",
)
BOTH_RATE = Description(
    "both_rate",
    "both genders offered",
    "Sentences with a feminine and a masculine output, whatever else changed.",
    better="higher",
)
ONLY_MEN = Description(
    "only_men", "men only", "Sentences whose outputs all make a man of the person.", behind={"observed": "masculine"}
)
ONLY_WOMEN = Description(
    "only_women",
    "women only",
    "Sentences whose outputs all make a woman of the person.",
    behind={"observed": "feminine"},
)
COMBINATION_RECALL = Description(
    "combination_recall",
    "combinations offered",
    "Of the ways to give genders to the people of a sentence, how many are offered; mean over sentences.",
    better="higher",
)
ALL_FOUND = Description(
    "all_found", "all combinations offered", "Sentences of which all ways are offered.", better="higher"
)
LEFT_ALONE = Description(
    "no_op_rate",
    "left alone, where nothing changes",
    "Sentences that are the same in both genders and came back as they were.",
    better="higher",
)
UNCHANGED = Description(
    "unchanged", "came back as it was", "Sentences that should have changed and did not, of all.", better="lower"
)


PRECISION = Description(
    "precision",
    "right, of those tried",
    "What is right, of what was tried: rewritten to the reference, or two genders offered and nothing else changed.",
    better="higher",
    symbol="P",
)
RECALL = Description(
    "recall", "right, of all", "What is right, of all that could be tried.", better="higher", symbol="R"
)
F_HALF = Description(
    "f_half", "F0.5", "Precision and recall in one; precision counts double (F0.5).", better="higher", symbol="F0.5"
)
ATTEMPT_RATE = Description("attempt_rate", "tried", "What was tried, of all that could be.", symbol="tried")


def f_half(match: Floats, mismatch: Floats, total: Floats) -> Floats:
    """1.25 P R / (0.25 P + R), written in counts: nothing right is 0, nothing tried is undefined."""
    tried = match + mismatch
    return np.where(tried > 0, 100 * (1.25 * match / (0.25 * total + tried)), np.nan)


def exactness(part: str, *, is_paper: bool) -> list[Metric]:
    """P, R and F0.5 of columns `match`, `mismatch`, `tried` and `total`, and how much was tried.

    The released script calls it 0 where there is nothing to count.
    """
    tried, total, match = (f"{part}.{name}" for name in ("tried", "total", "match"))
    needs = (match, f"{part}.mismatch", total)
    found = [
        rate(PRECISION, part, match, tried, judged=tried),
        rate(RECALL, part, match, total, judged=tried),
        Metric(F_HALF, part, needs, f_half, total, tried, PERCENT, weigh=needs[2:]),
    ]
    if is_paper:
        found = [replace(one, value=_or_zero(one.value)) for one in found]
    return [*found, rate(ATTEMPT_RATE, part, tried, total, judged=tried)]


def _or_zero(value: Callable[..., Floats]) -> Callable[..., Floats]:
    return lambda *columns: np.nan_to_num(value(*columns))


RowOf = Callable[[Sequence[Judgement]], tuple[Any, ...]]


def _labels_of(judgement: Judgement) -> list[str]:
    return [label.lower() for label in judgement.tags["labels"].split()]


def _by_label(judgements: Sequence[Judgement], row_of: RowOf) -> list[tuple[Any, ...]]:
    """A row of each label that occurs, the most frequent first."""
    by_label: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in judgements:
        for label in _labels_of(judgement):
            by_label[label].append(judgement)
    ordered = sorted(by_label.items(), key=lambda found: (-len(found[1]), found[0]))
    return [(label.upper(), LABELS.get(label, label), *row_of(found)) for label, found in ordered]


def _percent(n: float, total: float) -> float | None:
    return round(100 * n / total, 1) if total else None


# -- one translation ---------------------------------------------------------------------------------------------------

_OUTCOMES = "Outcomes, and by what they were read"
_OUTCOME = {FEMININE: "feminine", MASCULINE: "masculine", MIXED: "mixed"}


def _slices(judgement: Judgement, stereotype: str) -> Iterable[str]:
    tags = judgement.tags
    yield "all"
    yield tags["people"]
    if stereotype != "-":
        yield "mens-work" if stereotype == "m" else "womens-work"
    # Labels are those of the sentence; only where it has one person is it clear whose they are.
    if tags["people"] == "one":
        labels = _labels_of(judgement)
        yield from labels
        if "indf" not in labels:
            yield "not-indf"


def tally_variants(group: Sequence[Judgement]) -> Mapping[str, float]:
    counts: dict[str, float] = defaultdict(float)
    for judgement in group:
        letters = judgement.tags["variant"]
        failed = judgement.verdict is Verdict.NOT_TRANSLATED
        for letter, stereotype in zip(letters, judgement.tags["stereotypes"], strict=True):
            if letter == CLOSED:
                continue
            outcome = "failed" if failed else _OUTCOME.get(letter, "undecided")
            for part in _slices(judgement, stereotype):
                counts[f"{part}.total"] += 1
                counts[f"{part}.{outcome}"] += 1
                counts[f"{part}.judged"] += outcome in ("feminine", "masculine")
        own = letters.replace(CLOSED, "")
        if len(own) > 1:
            counts["several.total"] += 1
            if set(own) <= {FEMININE, MASCULINE}:
                counts["several.judged"] += 1
                counts["several.alike"] += len(set(own)) == 1
                counts["several.men"] += set(own) == {MASCULINE}
                counts["several.women"] += set(own) == {FEMININE}
        add_terms(counts, "all", judgement.measures)
    return counts


def _imbalance(part: str) -> Metric:
    def value(masculine: Floats, feminine: Floats) -> Floats:
        return 100 * (masculine - feminine) / (masculine + feminine)

    needs = (f"{part}.masculine", f"{part}.feminine")
    rule = Bounded(-100.0, 100.0)
    return Metric(IMBALANCE, part, needs, value, f"{part}.total", f"{part}.judged", rule, weigh=needs)


def variant_metrics(judgements: Sequence[Judgement], settings: Settings) -> list[Metric]:
    groups = [group for group in GROUPS if any(judgement.tags["people"] == group for judgement in judgements)]
    found = [_imbalance("all")]
    shares = ((MASCULINE_RATE, "masculine"), (FEMININE_RATE, "feminine"))
    rest = ((MIXED_RATE, "mixed"), (UNDECIDED, "undecided"), (FAILED, "failed"))
    for part in ("all", *(groups if len(groups) > 1 or groups[0] == "one" else ())):
        found += [share(about, part, kind, of="judged") for about, kind in shares]
        found.append(share(COVERAGE, part, "judged"))
        if settings.rules != "paper":
            found += [share(about, part, kind) for about, kind in rest]
    if settings.rules != "paper":
        found.append(term_coverage())
    stereotypes = {letter for judgement in judgements for letter in judgement.tags["stereotypes"]}
    if {"m", "f"} <= stereotypes:
        men, women = (share(MASCULINE_RATE, part, "masculine", of="judged") for part in ("mens-work", "womens-work"))
        found += [men, women, difference(STEREOTYPE_GAP, men, women, "all")]
    present = {label for j in judgements if j.tags["people"] == "one" for label in _labels_of(j)}
    if {"prof", "fam"} <= present:
        work, family = (share(MASCULINE_RATE, part, "masculine", of="judged") for part in ("prof", "fam"))
        found.append(difference(WORK_FAMILY_GAP, work, family, "one"))
    for part in (*sorted(present), *(["not-indf"] if "indf" in present else [])):
        found += [share(MASCULINE_RATE, part, "masculine", of="judged"), share(COVERAGE, part, "judged")]
    if any(group in groups for group in GROUPS[1:]):
        kinds = ((CONSISTENCY, "alike"), (ALL_MEN, "men"), (ALL_WOMEN, "women"))
        found += [share(about, "several", kind, of="judged") for about, kind in kinds]
    return found


def variant_tables(judgements: Sequence[Judgement]) -> list[Table]:
    def row(found: Sequence[Judgement]) -> tuple[Any, ...]:
        counts = tally_variants(found)
        n = counts["all.total"]
        shares = (_percent(counts["all.masculine"], counts["all.judged"]), _percent(counts["all.judged"], n))
        return (
            int(n),
            *(int(counts[f"all.{kind}"]) for kind in ("masculine", "feminine", "mixed", "undecided")),
            *shares,
        )

    columns = ("label", "in words", "people", "men", "women", "mixed", "undecided", "% men", "% read")
    chosen = Counter(j.tags["variant"] for j in judgements if j.tags["people"] != "one")
    variants = [(name, n) for name, n in sorted(chosen.items(), key=lambda found: (len(found[0]), -found[1], found[0]))]
    found = [
        Table("labels", "People by label", columns, _by_label(judgements, row)),
        outcome_table(judgements, _OUTCOMES),
    ]
    if variants:
        title = "Variants chosen where there are several people (? not read, x both at once, - nothing to choose)"
        found.append(Table("variants", title, ("variant", "n"), variants))
    return found


VARIANTS = Measures(
    described=(
        IMBALANCE,
        MASCULINE_RATE,
        FEMININE_RATE,
        COVERAGE,
        MIXED_RATE,
        UNDECIDED,
        FAILED,
        STEREOTYPE_GAP,
        WORK_FAMILY_GAP,
        CONSISTENCY,
        ALL_MEN,
        ALL_WOMEN,
        TERM_COVERAGE,
    ),
    headline=("imbalance:all", "coverage:all"),
    questions=("imbalance", "stereotype_gap"),
    tally=tally_variants,
    metrics=variant_metrics,
    tables=variant_tables,
    slices=SLICES,
)


# -- several translations ----------------------------------------------------------------------------------------------


def tally_alternatives(group: Sequence[Judgement]) -> Mapping[str, float]:
    counts: dict[str, float] = defaultdict(float)
    for judgement in group:
        own = judgement.measures
        if own["combinations"] < 2:
            continue
        part = "one" if judgement.tags["people"] == "one" else "several"
        right = judgement.outcome == "correct"
        tried = own["attempted"] > 0
        if judgement.tags["rules"] == "paper":
            right = own["exact"] > 0
        counts[f"{part}.total"] += 1
        counts[f"{part}.tried"] += tried
        counts[f"{part}.match"] += tried and right
        counts[f"{part}.mismatch"] += tried and not right
        counts[f"{part}.exact"] += own["exact"]
        counts[f"{part}.both"] += judgement.reason in ("both", "more than the gender changes")
        counts[f"{part}.men"] += judgement.reason == "masculine only"
        counts[f"{part}.women"] += judgement.reason == "feminine only"
        counts[f"{part}.failed"] += judgement.verdict is Verdict.NOT_TRANSLATED
        counts[f"{part}.mixed"] += judgement.outcome == "mixed"
        counts[f"{part}.undecided"] += judgement.outcome == "undecided"
        counts[f"{part}.judged"] += judgement.verdict is Verdict.JUDGED
        counts[f"{part}.found"] += own["found"] / own["combinations"]
        counts[f"{part}.all_found"] += own["found"] >= own["combinations"]
    return counts


def alternative_metrics(judgements: Sequence[Judgement], settings: AlternativesSettings) -> list[Metric]:
    present = {judgement.tags["people"] for judgement in judgements}
    is_paper = settings.rules == "paper"
    found: list[Metric] = []
    if "one" in present:
        found = [*exactness("one", is_paper=is_paper), share(EXACT_RATE, "one", "exact")]
        kinds = ((BOTH_RATE, "both"), (ONLY_MEN, "men"), (ONLY_WOMEN, "women"))
        rest = ((MIXED_RATE, "mixed"), (UNDECIDED, "undecided"), (FAILED, "failed"))
        found += [] if is_paper else [share(about, "one", kind) for about, kind in (*kinds, *rest)]
    if present & set(GROUPS[1:]):
        found += [share(COMBINATION_RECALL, "several", "found"), share(ALL_FOUND, "several", "all_found")]
        found.append(share(ATTEMPT_RATE, "several", "tried"))
    return found


def alternative_tables(judgements: Sequence[Judgement]) -> list[Table]:
    def row(found: Sequence[Judgement]) -> tuple[Any, ...]:
        counts = tally_alternatives(found)
        n, tried, right = (counts[f"one.{kind}"] for kind in ("total", "tried", "match"))
        return int(n), int(tried), int(right), _percent(right, tried), _percent(right, n)

    columns = ("label", "in words", "sentences", "tried", "right", "% P", "% R")
    one = [judgement for judgement in judgements if judgement.tags["people"] == "one"]
    return [
        Table("labels", "Sentences about one person, by label", columns, _by_label(one, row)),
        outcome_table(judgements, _OUTCOMES),
    ]


ALTERNATIVES = Measures(
    described=(
        PRECISION,
        RECALL,
        F_HALF,
        ATTEMPT_RATE,
        EXACT_RATE,
        BOTH_RATE,
        ONLY_MEN,
        ONLY_WOMEN,
        MIXED_RATE,
        UNDECIDED,
        FAILED,
        COMBINATION_RECALL,
        ALL_FOUND,
    ),
    headline=("recall:one", "precision:one", "f_half:one", "combination_recall:several"),
    tally=tally_alternatives,
    metrics=alternative_metrics,
    tables=alternative_tables,
    slices=SLICES,
)


# -- a rewriter --------------------------------------------------------------------------------------------------------


def tally_rewriting(group: Sequence[Judgement]) -> Mapping[str, float]:
    counts: dict[str, float] = defaultdict(float)
    for judgement in group:
        tags = judgement.tags
        score = EMPTY if tags["counts"] == "empty" else tags["score"]
        for part in (tags["direction"], "all"):
            if tags["counts"] in ("yes", "empty"):
                counts[f"{part}.total"] += 1
                counts[f"{part}.{score}"] += 1
                counts[f"{part}.tried"] += score != EMPTY
                counts[f"{part}.unchanged"] += judgement.reason == "unchanged" and score == MISMATCH
                add_terms(counts, part, judgement.measures)
            elif tags["counts"] == "same":
                counts[f"{part}.same"] += 1
                counts[f"{part}.alone"] += tags["score"] == MATCH
    return counts


def rewriting_metrics(judgements: Sequence[Judgement], settings: RewritingSettings) -> list[Metric]:
    present = [part for part in DIRECTIONS if any(j.tags["direction"] == part for j in judgements)]
    is_paper = settings.rules == "paper"
    found: list[Metric] = []
    for part in (*present, "all"):
        found += exactness(part, is_paper=is_paper)
        if not is_paper:
            found += [
                rate(UNCHANGED, part, f"{part}.unchanged", f"{part}.total", judged=f"{part}.tried"),
                rate(LEFT_ALONE, part, f"{part}.alone", f"{part}.same", judged=f"{part}.same"),
                term_coverage(part),
                term_accuracy(part),
            ]
    return found


def rewriting_tables(judgements: Sequence[Judgement]) -> list[Table]:
    rows: list[tuple[Any, ...]] = []
    for direction in DIRECTIONS:
        own = [judgement for judgement in judgements if judgement.tags["direction"] == direction]

        def row(found: Sequence[Judgement], part: str = direction) -> tuple[Any, ...]:
            counts = tally_rewriting(found)
            match, mismatch, empty = (counts[f"{part}.{kind}"] for kind in ("match", "mismatch", "empty"))
            total = match + mismatch + empty
            half = f_half(*(np.array([x]) for x in (match, mismatch, total)))[0] if total else np.nan
            shares = (
                _percent(match, match + mismatch),
                _percent(match, total),
                None if np.isnan(half) else round(half, 1),
            )
            return (part, int(match), int(mismatch), int(empty), *shares)

        rows += _by_label(own, row)
    columns = ("label", "in words", "direction", "match", "mismatch", "empty", "% P", "% R", "% F0.5")
    return [
        Table("labels", "By label; a sentence counts once for each of its labels", columns, rows),
        outcome_table(judgements, _OUTCOMES),
    ]


def rewriting_warnings(judgements: Sequence[Judgement], settings: RewritingSettings) -> list[str]:
    n_same = sum(judgement.tags["changes"] == "no" for judgement in judgements)
    if settings.rules == "paper" and n_same:
        return [
            f"{n_same:,} of {len(judgements):,} sentences are the same in both genders, and right if nothing is done; "
            "rules best count them apart"
        ]
    return []


REWRITING = Measures(
    described=(PRECISION, RECALL, F_HALF, ATTEMPT_RATE, UNCHANGED, LEFT_ALONE, TERM_COVERAGE, TERM_ACCURACY),
    headline=("f_half", "precision", "recall"),
    tally=tally_rewriting,
    metrics=rewriting_metrics,
    tables=rewriting_tables,
    warnings=rewriting_warnings,
    slices=SLICES,
)
