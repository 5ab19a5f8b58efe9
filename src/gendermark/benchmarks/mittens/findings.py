"""Findings and figures of MiTTenS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gendermark.benchmarks.findings import (
    Presentation,
    TwoRates,
    dot_figure,
    marks,
    paper_tables,
    slice_tables,
    stacked_figure,
    stacked_row,
)
from gendermark.benchmarks.mittens import SETS
from gendermark.benchmarks.mittens.measures import SLICES
from gendermark.reporting import charts
from gendermark.reporting.document import Finding
from gendermark.reporting.phrases import difference, sentence, women_and_men
from gendermark.result import Result

_FEW_JUDGED = 5.0
"""Below this percentage of judged passages, results for women and men are not reported."""
_MANY_OPEN = 5.0
_CLEAR = 0.05


def findings(result: Result) -> list[Finding]:
    if result.selection.rules == "paper":
        more = "men keep their gender more often", "women keep their gender more often"
        return [
            *women_and_men(result, "accuracy:feminine", "accuracy:masculine", "", "are right"),
            *difference(result, "gap", "Gender gap", *more),
            *_counted_right(result),
            *_worst(result),
        ]
    coverage = result.find("coverage")
    if coverage is None or (coverage.value or 0.0) < _FEW_JUDGED:
        return []
    sides = ("strict_accuracy:feminine", "strict_accuracy:masculine", "recall_gap")
    contradicted, undecided = (result.find(name) for name in ("contradiction_rate", "undecided"))
    into_english = result.selection.target_language == "en"
    both = ", or both" if into_english else "[, and {mixed} with words of both genders]"
    open_ = "{undecided|of translations} show no gender[ ({neutral_rate} use singular they)]; these count as wrong."
    return [
        *women_and_men(result, *sides, "are translated as women", " are translated as men"),
        *(
            sentence(result, f"{{contradiction_rate|of people}} are translated with the wrong gender{both}.")
            if contradicted is not None and contradicted.value
            else []
        ),
        *(sentence(result, open_) if undecided is not None and (undecided.value or 0.0) >= _MANY_OPEN else []),
        *_worst(result),
    ]


def _counted_right(result: Result) -> list[Finding]:
    """A caveat of the paper's rules."""
    n = sum(judgement.reason == "no-pronoun" and judgement.outcome == "right" for judgement in result.judgements)
    if 100 * n < _MANY_OPEN * len(result.judgements):
        return []
    text = f"{n:,} of {len(result.judgements):,} translations have no gendered pronoun, and some may be empty"
    return [Finding(f"{text}; the paper's rules count them as correct.")]


def _worst(result: Result) -> list[Finding]:
    """The paper's worst case, beside the worst expected by chance among so many small groups."""
    test = next((test for test in result.tests if test.name == "worst-cell"), None)
    if test is None or test.statistic is None or test.p_value is None or test.statistic == 100:
        return []
    if test.statistic == 0 and test.p_value >= _CLEAR:
        return []  # too few passages: not even 0% would be significant
    n, expected = test.details["n_cells"], test.details["expected"]
    start = f"Accuracy in the worst of {n} combinations of gender, language and set: {test.statistic:.1f}%"
    chance = f"{expected:.1f}% would be expected by chance if all were equally hard"
    return [Finding(f"{start}; {chance}{'' if test.p_value < _CLEAR else ' (difference not significant)'}.")]


_FILLS = {
    "right gender": charts.BLUE,
    "other gender, or both": charts.HATCHED_ORANGE,
    "no gender shown": charts.PALE,
    "not translated": charts.GREY,
}


def genders(sheet: charts.Sheet) -> Iterator[charts.Figure]:
    for cell, label, result in sheet.results:
        slices = list(dict.fromkeys(e.slice for e in result.estimates))
        languages = [name for name in slices if f"{name}-feminine" in slices and name not in SETS]
        rows = _gender_rows(result, [name for name in SETS if name in slices])
        if len(languages) > 1:
            rows += [
                charts.DotRow("by language"),
                *_gender_rows(result, sorted(languages, key=lambda one: SLICES[one])),
            ]
        if rows:
            yield dot_figure(
                sheet,
                "genders",
                "Men and women who keep their gender, by kind of passage",
                f"Share of passages with the correct gender ({sheet.about(cell, label)}); lines: {sheet.intervals}.",
                [charts.DotPanel("accuracy, %", (0, 100), better="higher")],
                rows,
                [("men", charts.MALE), ("women", charts.FEMALE)],
                cell=cell,
                label=label,
            )


def _gender_rows(result: Result, slices: Sequence[str]) -> list[charts.DotRow]:
    metric, looks = "strict_accuracy", (("masculine", charts.MALE), ("feminine", charts.FEMALE))
    found = [(name, marks(result, {(metric, f"{name}-{part}"): look for part, look in looks})) for name in slices]
    return [charts.DotRow(SLICES[name], [dots]) for name, dots in found if dots]


def outcomes(sheet: charts.Sheet) -> Iterator[charts.Figure]:
    def with_rest(shares: list[float]) -> list[float]:
        # Out of English, words of both genders decide nothing and count as undecided.
        right, wrong, _, failed = shares
        return [right, wrong, max(100.0 - right - wrong - failed, 0.0), failed]

    names = ("strict_accuracy", "contradiction_rate", "undecided", "failed")
    for cell, results in sheet.cells.items():
        bars = [stacked_row(label, [one.find(name) for name in names], with_rest) for label, one in results.items()]
        if any(bars):
            yield stacked_figure(
                sheet,
                cell,
                "outcomes",
                "Translations of people whose gender the source specifies",
                f"Percent of judged passages ({sheet.about(cell)}). Line below a bar: "
                f"{sheet.intervals} of the correct ones.",
                [("", [bar for bar in bars if bar])],
                _FILLS,
            )


PRESENTATION = Presentation(
    findings=findings,
    forms=lambda cells: [
        *paper_tables(__package__, cells),
        *slice_tables(__package__, "mittens-sets", {name: SLICES[name] for name in SETS}, cells),
    ],
    figures=(outcomes, genders),
    two_rates=TwoRates("strict_accuracy:masculine", "strict_accuracy:feminine", gap="recall_gap:all"),
    leading="strict_accuracy:all",
    also_shown=(
        "strict_accuracy:masculine",
        "strict_accuracy:feminine",
        "recall_gap:all",
        "coverage:all",
        "contradiction_rate:all",
        "worst_cell:all",
    ),
    beside_published=("accuracy:all", "worst_cell:all"),
    published="gendermark.benchmarks.mittens",
    hidden_tags=frozenset({"decidable", "stereotype", "family"}),
)
