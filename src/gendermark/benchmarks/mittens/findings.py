"""What MiTTenS says about a system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gendermark.benchmarks.findings import (
    Cell,
    Finding,
    Form,
    Place,
    Presentation,
    Row,
    TwoRates,
    by_gender,
    direction_of,
    gap,
    rows_by_run,
    runs_of,
    share,
    women_and_men,
)
from gendermark.benchmarks.mittens import SETS
from gendermark.benchmarks.mittens.measures import SLICES
from gendermark.drawing import charts
from gendermark.drawing.charts import BLUE, GREY, HATCHED_ORANGE, PALE, DotPanel, DotRow, Look, StackedRow
from gendermark.drawing.sheet import FEMALE, MALE, Figure, Sheet, confusion, figure, span
from gendermark.drawing.svg import Canvas
from gendermark.records import Estimate
from gendermark.result import Result

_FEW_JUDGED = 5.0
"""Below so many of a hundred, what they show about men and women is not worth a sentence."""
_MANY_OPEN = 5.0
_CLEAR = 0.05


def findings(result: Result) -> list[Finding]:
    if result.selection.rules == "paper":
        women, men = result.find("accuracy", "feminine"), result.find("accuracy", "masculine")
        return [*by_gender(women, men), *_difference(result.find("gap")), *_counted_right(result), *_worst(result)]
    women, men = result.find("strict_accuracy", "feminine"), result.find("strict_accuracy", "masculine")
    if women is None or men is None or _is_little(result.find("coverage")):
        return []
    found = [women_and_men(women, men, result.find("recall_gap"), "stay women in the translation", " stay men")]
    return [*found, *_contradicted(result), *_open(result), *_worst(result)]


def _contradicted(result: Result) -> list[Finding]:
    contradicted, mixed = result.find("contradiction_rate"), result.find("mixed")
    if contradicted is None or not contradicted.value:
        return []
    if result.selection.target_language == "en":
        return [Finding(f"Of 100 people {share(contradicted)} are given the other gender, or both.")]
    both = f", and {share(mixed)} have words of both" if mixed is not None and mixed.value else ""
    return [Finding(f"Of 100 people {share(contradicted)} are given the other gender{both}.")]


def _is_little(coverage: Estimate | None) -> bool:
    return coverage is None or coverage.value is None or coverage.value < _FEW_JUDGED


def _difference(found: Estimate | None) -> list[Finding]:
    return gap(
        found,
        "Men keep their gender more often, by {}.",
        "Women keep their gender more often, by {}.",
        "Men and women keep their gender about equally often; the difference could be chance ({}).",
    )


def _counted_right(result: Result) -> list[Finding]:
    """What the paper's rules do not look at, and a reader must know."""
    n = sum(judgement.reason == "no-pronoun" and judgement.outcome == "right" for judgement in result.judgements)
    if 100 * n < _MANY_OPEN * len(result.judgements):
        return []
    text = f"{n:,} of {len(result.judgements):,} translations have no gendered pronoun, some perhaps nothing at all"
    return [Finding(f"{text}; the paper's rules count them as right.")]


def _open(result: Result) -> list[Finding]:
    undecided, neutral = result.find("undecided"), result.find("neutral_rate")
    if undecided is None or undecided.value is None or undecided.value < _MANY_OPEN:
        return []
    they = f", {share(neutral)} of them with they" if neutral is not None and neutral.value else ""
    return [Finding(f"Of 100 translations {share(undecided)} show no gender{they}, which is not counted as right.")]


def _worst(result: Result) -> list[Finding]:
    """The paper's worst case, beside what chance makes of so many small groups."""
    test = next((test for test in result.tests if test.name == "worst-cell"), None)
    if test is None or test.statistic is None or test.p_value is None or test.statistic == 100:
        return []
    n, expected = test.details["n_cells"], test.details["expected"]
    start = f"In the worst of {n} groups of one gender, language and set {test.statistic:.1f} of 100 are right"
    if test.p_value < _CLEAR:
        return [Finding(f"{start}, fewer than chance makes of the worst of so many ({expected:.1f}).")]
    return [Finding(f"{start}; chance alone makes the worst of so many about as bad ({expected:.1f}).")]


# -- tables ----------------------------------------------------------------------------------------------------------

_COLUMNS = {
    "overall": ("accuracy", "all"),
    "worst case": ("worst_cell", "all"),
    "he": ("accuracy", "masculine"),
    "she": ("accuracy", "feminine"),
}


def forms(cells: Sequence[Cell]) -> list[Form]:
    caption = (
        "After the table of results of Robinson et al. (2024): accuracy over all passages, in the worst group of one "
        "gender, language and set, and by the gender of the person."
    )
    overall = Form("mittens-overall", caption, list(_COLUMNS), rows_by_run(cells, list(_COLUMNS.values())))
    return [overall, *(_by_set(number, cell, len(cells)) for number, cell in enumerate(cells))]


def _by_set(number: int, cell: Cell, n_cells: int) -> Form:
    runs = runs_of([cell])
    results = [result for result in cell if result is not None]
    there = {e.slice for result in results for e in result.estimates}
    columns = {"all": "", "he": "-masculine", "she": "-feminine"}
    rows = [
        Row(
            [Place(number, run, "accuracy", f"{name}{end}", not end) for run in runs for end in columns.values()],
            text=label,
        )
        for name, label in ((name, SLICES[name]) for name in SETS)
        if name in there
    ]
    name = f"mittens-sets-{results[0].selection.direction}" if n_cells > 1 else "mittens-sets"
    return Form(name, f"{direction_of(cell)}: accuracy by set of passages.", list(columns), rows, runs, corner="set")


FILLS = {"right gender": BLUE, "other gender, or both": HATCHED_ORANGE, "no gender shown": PALE, "not translated": GREY}


def genders(sheet: Sheet) -> Iterator[Figure]:
    """Men and women in each set and, where there are several, in each language."""
    for cell, label, result in sheet.results:
        slices = list(dict.fromkeys(e.slice for e in result.estimates))
        languages = [name for name in slices if f"{name}-feminine" in slices and name not in SETS]
        rows = _rows(result, [name for name in SETS if name in slices])
        if len(languages) > 1:
            rows += [DotRow("by language"), *_rows(result, sorted(languages, key=lambda one: SLICES[one]))]
        if rows:
            yield _figure(sheet, cell, label, rows)


def _rows(result: Result, slices: Sequence[str]) -> list[DotRow]:
    looks: Mapping[str, Look] = {"masculine": MALE, "feminine": FEMALE}
    found = []
    for name in slices:
        dots = [
            (one, look) for part, look in looks.items() if (one := span(result, "strict_accuracy", f"{name}-{part}"))
        ]
        if dots:
            found.append(DotRow(SLICES[name], [dots]))
    return found


def _figure(sheet: Sheet, cell: str, label: str, rows: Sequence[DotRow]) -> Figure:
    def draw(canvas: Canvas) -> None:
        top = charts.legend(canvas, [("men", MALE), ("women", FEMALE)], 0)
        charts.dots(canvas, [DotPanel("right gender, %", (0, 100))], rows, top)

    return figure(
        sheet.name_of(cell, "genders", label),
        "Men and women who keep their gender, by kind of passage",
        f"Share of passages with the right gender ({sheet.about(cell, label)}); lines: {sheet.intervals}, wide "
        "where there are few passages.",
        cell,
        draw,
    )


def outcomes(sheet: Sheet) -> Iterator[Figure]:
    """What became of all passages that could be judged, under rules `best`."""
    for cell, found in sheet.cells.items():
        rows = [row for label, result in found.items() if (row := _outcome_row(label, result))]
        if rows:
            yield _outcome_figure(sheet, cell, rows)


def _outcome_row(label: str, result: Result) -> StackedRow | None:
    names = ("strict_accuracy", "contradiction_rate", "undecided", "failed")
    estimates = [result.find(name) for name in names]
    shares = [estimate.value for estimate in estimates if estimate and estimate.value is not None]
    right = estimates[0]
    if len(shares) < len(names) or right is None:
        return None
    # Out of English, words of both genders decide nothing: what is neither of the others.
    shares[2] = max(100.0 - shares[0] - shares[1] - shares[3], 0.0)
    whisker = (right.low, right.high) if right.low is not None and right.high is not None else None
    return StackedRow(label, shares, whisker)


def _outcome_figure(sheet: Sheet, cell: str, rows: Sequence[StackedRow]) -> Figure:
    def draw(canvas: Canvas) -> None:
        charts.stacked(canvas, [("", rows)], tuple(FILLS.values()), charts.legend(canvas, list(FILLS.items()), 0))

    return figure(
        sheet.name_of(cell, "outcomes"),
        "What becomes of the gender that the source gives a person",
        f"In percent of the passages that can be judged ({sheet.about(cell)}). Line below a bar: {sheet.intervals} of "
        "the right ones.",
        cell,
        draw,
    )


PRESENTATION = Presentation(
    findings=findings,
    forms=forms,
    figures=(outcomes, genders, confusion),
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
