"""What is counted of MiTTenS' judgements, and the metrics made of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gendermark.benchmarks.benchmark import Measures, outcome_table
from gendermark.benchmarks.mittens import ALL_LANGUAGES, SETS, Settings
from gendermark.metrics import statistics
from gendermark.metrics.describe import Description
from gendermark.metrics.genders import COVERAGE, RECALL_GAP
from gendermark.metrics.metric import PERCENT, Floats, Metric, Resampled, per_judgement
from gendermark.metrics.rates import difference, share
from gendermark.reading.codes import NAMES
from gendermark.records import Gender, Judgement, Table, Test, Verdict

WITHOUT_BIOGRAPHIES = "without-synthbio"
N_SIMULATED = 3000
_GENDERS = (Gender.MASCULINE.value, Gender.FEMININE.value)
_NO_PRONOUN_TO_WARN = 0.02
_N_WORST = 20

ACCURACY = Description(
    "accuracy",
    "accuracy, of those that show a gender",
    "Translations with the right gender, of those that were judged; by the paper's rules all are, and no gender at all "
    "counts as right.",
    better="higher",
    symbol="accuracy",
    labels={"feminine": "accuracy, women whose gender is shown", "masculine": "accuracy, men whose gender is shown"},
)
STRICT_ACCURACY = Description(
    "strict_accuracy",
    "accuracy",
    "Translations with the right gender, of all that could be judged; no gender at all is not right, except by the "
    "paper's rules.",
    better="higher",
    symbol="strict accuracy",
    labels={"feminine": "accuracy, women", "masculine": "accuracy, men"},
)
CONTRADICTION_RATE = Description(
    "contradiction_rate",
    "given the other gender",
    "Translations that give the person the other gender, alone or (into English) beside the right one, of all.",
    better="lower",
    symbol="contradicted",
    behind={"outcome": "wrong"},
)
GAP = Description(
    "gap",
    "gender gap, of those that show a gender",
    "Accuracy for men minus accuracy for women; 0 is unbiased.",
    better="zero",
    symbol="men − women",
)
MACRO_ACCURACY = Description(
    "macro_accuracy",
    "mean accuracy of sets and languages",
    "The mean of the accuracies of each set in each language, so that large sets count no more than small ones.",
    better="higher",
)
WORST_CELL = Description(
    "worst_cell",
    "lowest accuracy of any gender, language and set",
    "The lowest accuracy among all combinations of gender, language and set, most of which have a few passages only: "
    "the paper's worst case.",
    better="higher",
    symbol="worst case",
)
MIXED = Description(
    "mixed", "both genders at once", "Translations with both genders.", better="lower", behind={"outcome": "mixed"}
)
FAILED = Description(
    "failed",
    "not translated",
    "No translation: nothing, a copy of the source, another language, or a fragment that shows no gender.",
    better="lower",
    behind={"outcome": "failed"},
)
UNDECIDED = Description(
    "undecided", "no gender shown", "Translations that show no gender.", behind={"outcome": "undecided"}
)
NEUTRAL_RATE = Description(
    "neutral_rate",
    "with they instead",
    "Translations with they, them or their and no gendered pronoun; they are among those that show no gender.",
)
_SHARES = {"mixed": MIXED, "failed": FAILED, "undecided": UNDECIDED, "neutral": NEUTRAL_RATE}


# -- counting --------------------------------------------------------------------------------------------------------


def _slices(judgement: Judgement) -> Iterable[str]:
    gender, language, eval_set = str(judgement.expected), judgement.tags["language"], judgement.tags["eval_set"]
    yield from ("all", gender, language, eval_set, f"{language}-{gender}", f"{eval_set}-{gender}")
    if eval_set != "synthbio":
        yield WITHOUT_BIOGRAPHIES


def _cells(judgement: Judgement) -> tuple[str, str]:
    """A set in a language, and that for one gender: too small to be slices, and what mean and minimum are over."""
    cell = f"{judgement.tags['language']}/{judgement.tags['eval_set']}"
    return cell, f"{cell}/{judgement.expected}"


def _kinds(judgement: Judgement) -> Iterable[str]:
    """`every` passage; those that could be decided (`total`); and how they came out."""
    yield "every"
    if judgement.tags["decidable"] != "yes":
        return
    yield "total"
    outcome = judgement.outcome
    if outcome != "wrong":
        yield outcome
    if judgement.verdict is Verdict.JUDGED:
        yield "judged"
        if outcome in ("wrong", "mixed"):
            yield "wrong"
    if judgement.reason == "neutral-pronoun":
        yield "neutral"


def _columns(judgement: Judgement) -> list[str]:
    kinds = list(_kinds(judgement))
    of_cells = [kind for kind in kinds if kind in ("right", "judged")]
    return [
        *(f"{name}.{kind}" for name in _slices(judgement) for kind in kinds),
        *(f"{name}.{kind}" for name in _cells(judgement) for kind in of_cells),
    ]


# -- metrics ---------------------------------------------------------------------------------------------------------


def _accuracy(part: str) -> Metric:
    return replace(share(ACCURACY, part, "right", of="judged"), total=f"{part}.every")


def metrics(judgements: Sequence[Judgement], settings: Settings) -> list[Metric]:
    is_best = settings.rules != "paper"
    sets, languages = ({j.tags[key] for j in judgements} for key in ("eval_set", "language"))
    present = [gender for gender in _GENDERS if any(j.expected == gender for j in judgements)]
    has_both = len(present) == 2
    found = _of_slice("all", is_best)
    if is_best:
        found.append(share(CONTRADICTION_RATE, "all", "wrong"))
    if has_both:
        men, women = (_accuracy(gender) for gender in _GENDERS)
        found.append(replace(difference(GAP, men, women, "all"), total="all.every"))
        if is_best:
            men, women = (share(STRICT_ACCURACY, gender, "right") for gender in _GENDERS)
            found.append(difference(RECALL_GAP, men, women, "all", is_undefined_without_hits=True))
    if any(j.tags["decidable"] == "yes" for j in judgements):
        found += [_macro(judgements), _worst(judgements)]
    if is_best:
        found += [share(about, "all", kind) for kind, about in _SHARES.items()]
    parts = [*present, *(name for name in SETS if name in sets)]
    if "synthbio" in sets and len(sets) > 1:
        parts.append(WITHOUT_BIOGRAPHIES)
    parts += sorted(languages) if settings.source_language == ALL_LANGUAGES else []
    known = {name for j in judgements for name in _slices(j)}
    for part in parts:
        found += _of_slice(part, is_best)
        for gender in present if part not in _GENDERS else ():
            if f"{part}-{gender}" in known:
                found += _of_slice(f"{part}-{gender}", is_best, is_brief=True)
    return found


def _of_slice(part: str, is_best: bool, *, is_brief: bool = False) -> list[Metric]:
    found = [share(STRICT_ACCURACY, part, "right"), _accuracy(part)]
    return [*found, share(COVERAGE, part, "judged", of="every")] if is_best and not is_brief else found


def _names(judgements: Sequence[Judgement], which: int) -> list[str]:
    return sorted({_cells(j)[which] for j in judgements if j.tags["decidable"] == "yes"})


def _shares_of(columns: Sequence[Floats]) -> Floats:
    """A row for each combination, from its right and its judged ones by turns."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(100.0 * np.stack(columns[::2]) / np.stack(columns[1::2]), dtype=np.float64)


def _over_cells(about: Description, names: Sequence[str], value: Any) -> Metric:
    needs = tuple(f"{name}.{kind}" for name in names for kind in ("right", "judged"))

    def of_columns(*columns: Floats) -> Floats:
        return np.asarray(value(_shares_of(columns)), dtype=np.float64)

    def at_rest(sums: Sequence[float], unseen: float) -> tuple[float, float]:
        # A minimum is as uncertain as the smallest of what it is taken over.
        n = min(n for n in sums[1::2] if n)
        _, in_smallest = statistics.wilson(0, n) or (0.0, 1.0)
        point, reach = float(of_columns(*(np.array([x]) for x in sums))[0]), 100.0 * max(in_smallest, unseen)
        return max(point - reach, 0.0), min(point + reach, 100.0)

    rule = Resampled(at_rest) if about is WORST_CELL else PERCENT
    return Metric(about, "all", needs, of_columns, "all.every", "all.judged", rule)


def _without_empty(shares: Floats, fold: Any, empty: float) -> Floats:
    """Of those combinations that were judged at all; NaN where none was."""
    is_known = ~np.isnan(shares)
    folded = fold(np.where(is_known, shares, empty), axis=0)
    return np.where(is_known.any(axis=0), folded, np.nan)


def _macro(judgements: Sequence[Judgement]) -> Metric:
    def mean(shares: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            summed = _without_empty(shares, np.sum, 0.0)
            return np.asarray(summed / (~np.isnan(shares)).sum(axis=0), dtype=np.float64)

    return _over_cells(MACRO_ACCURACY, _names(judgements, 0), mean)


def _worst(judgements: Sequence[Judgement]) -> Metric:
    return _over_cells(WORST_CELL, _names(judgements, 1), lambda shares: _without_empty(shares, np.min, np.inf))


def stratum(judgement: Judgement, settings: Settings) -> str:  # noqa: ARG001
    """How many passages are about men and about women is fixed by design; nouns with late binding are of both."""
    return "both" if judgement.tags["eval_set"] == "late-binding" else str(judgement.expected)


# -- how bad the worst would be by chance ----------------------------------------------------------------------------


def simulated_minimum(sizes: Sequence[int], share: float, seed: int) -> Floats:
    """The lowest accuracy of cells of these sizes, if the same share is right everywhere; many times."""
    drawn = np.random.default_rng(seed).binomial(np.array(sizes), share, (N_SIMULATED, len(sizes)))
    return np.asarray((100.0 * drawn / np.array(sizes)).min(axis=1), dtype=np.float64)


def _by_cell(judgements: Sequence[Judgement]) -> dict[tuple[str, str, str], list[bool]]:
    found: dict[tuple[str, str, str], list[bool]] = defaultdict(list)
    for j in judgements:
        if j.verdict is Verdict.JUDGED:
            found[j.tags["language"], j.tags["eval_set"], str(j.expected)].append(j.outcome == "right")
    return found


def tests(judgements: Sequence[Judgement], seed: int) -> list[Test]:
    cells = list(_by_cell(judgements).values())
    question = "Is the worst combination of gender, language and set worse than chance makes the worst of so many?"
    n_judged = sum(map(len, cells))
    if not n_judged:
        return [Test("worst-cell", question, None, None, {"n_cells": 0})]
    worst = min(100.0 * sum(cell) / len(cell) for cell in cells)
    minima = simulated_minimum([len(cell) for cell in cells], sum(map(sum, cells)) / n_judged, seed)
    low, middle, high = (float(x) for x in np.percentile(minima, (5, 50, 95)))
    p_value = (1 + int((minima <= worst + 1e-9).sum())) / (1 + N_SIMULATED)
    details = {"n_cells": len(cells), "expected": middle, "expected_5": low, "expected_95": high}
    method = "all passages equally hard and independent, simulated"
    return [Test("worst-cell", question, worst, p_value, {**details, "method": method})]


def tables(judgements: Sequence[Judgement]) -> list[Table]:
    rows: list[tuple[Any, ...]] = []
    for (language, eval_set, gender), right in _by_cell(judgements).items():
        low, high = statistics.wilson(sum(right), len(right), 0.95) or (0.0, 1.0)
        percent = 100.0 * sum(right) / len(right)
        rows.append((language, eval_set, gender, len(right), *(round(x, 1) for x in (percent, 100 * low, 100 * high))))
    rows.sort(key=lambda row: (row[4], -row[3], row))
    columns = ("language", "set", "gender", "n", "accuracy", "low", "high")
    return [
        Table("worst", "The worst combinations (with Wilson's intervals)", columns, rows[:_N_WORST]),
        outcome_table(judgements),
    ]


def warnings(judgements: Sequence[Judgement], settings: Settings) -> list[str]:
    n, found = len(judgements), []
    if settings.rules == "paper" and settings.none == "right":
        n_open = sum(j.reason == "no-pronoun" for j in judgements)
        if n_open > _NO_PRONOUN_TO_WARN * n:
            found.append(
                f"{n_open:,} of {n:,} outputs have no gendered pronoun, some perhaps no translation; the paper's rules "
                "count them as right: use --rules best"
            )
    n_left = sum(j.tags["decidable"] != "yes" for j in judgements)
    if n_left:
        found.append(
            f"{n - n_left:,} of {n:,} passages have a twin of the other gender and can be judged; the other {n_left:,} "
            "are left to people (gendermark annotate), and this is no rule of the paper"
        )
    n_failed = sum(j.verdict is Verdict.NOT_TRANSLATED for j in judgements)
    if n_failed > 0.1 * n:
        found.append(
            f"{n_failed:,} of {n:,} passages were not translated: the output is empty, a copy, a fragment or foreign"
        )
    return found


_SET_LABELS: Mapping[str, str] = {
    "coref-coreference": "coreference",
    "coref-synthetic": "coreference, synthetic",
    "gender-agreement-contextual-synthetic": "agreement across sentences",
    "gender-agreement-news": "agreement, news",
    "gender-agreement-wiki": "agreement, Wikipedia",
    "gender-specific-words-synthetic": "gendered nouns",
    "late-binding": "gender told late",
    "nouns-then-pronouns": "gender in the noun only",
    "synthbio": "synthetic biographies",
    WITHOUT_BIOGRAPHIES: "without biographies",
}
SLICES = {**NAMES, **_SET_LABELS}
SLICES |= {f"{part}-{gender}": f"{label}, {gender}" for part, label in SLICES.items() for gender in _GENDERS}

MEASURES = Measures(
    described=(
        STRICT_ACCURACY,
        ACCURACY,
        COVERAGE,
        CONTRADICTION_RATE,
        GAP,
        RECALL_GAP,
        MACRO_ACCURACY,
        WORST_CELL,
        *_SHARES.values(),
    ),
    headline=("strict_accuracy:all", "accuracy:all", "recall_gap", "gap"),
    questions=("recall_gap",),
    tally=per_judgement(_columns),
    metrics=metrics,
    stratum=stratum,
    tests=tests,
    tables=tables,
    warnings=warnings,
    slices=SLICES,
)
