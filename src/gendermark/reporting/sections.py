"""Runs side by side, as on a page, and its sections: one per benchmark."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from gendermark import registry
from gendermark.benchmarks.findings import Place
from gendermark.markup import minus
from gendermark.metrics.metric import key_from
from gendermark.metrics.verdicts import ALPHA
from gendermark.names import is_control
from gendermark.records import Estimate, Gender, Unit
from gendermark.records import Table as Values
from gendermark.reporting.charts import percent
from gendermark.reporting.document import (
    Block,
    Bullets,
    Drawing,
    Inline,
    Link,
    Number,
    Paragraph,
    Section,
    Small,
    Strong,
    System,
    Table,
    Text,
    show_p_value,
    show_value,
)
from gendermark.reporting.figures import against_first, figures
from gendermark.reporting.findings import by_weight, found_in, leading_key
from gendermark.reporting.phrases import TOO_FEW, between, percent_range
from gendermark.reporting.rows import GENDERS, MISSING, OBSERVED, Cell, Explorer, Filter
from gendermark.reporting.tables import find, form_table
from gendermark.result import Result
from gendermark.runs.compare import Comparison
from gendermark.runs.folder import Run


def title_of(benchmark: str) -> str:
    return str(registry.load("benchmark", benchmark).title)


class View:
    """The content of a page."""

    def __init__(self, runs: Sequence[Run], *, trend: bool = False) -> None:
        self.runs, self.explorer = runs, Explorer(runs)
        self.several = len(runs) > 1
        under_test = [place for place, run in enumerate(runs) if not is_control(run.system)]
        self.tested = under_test or list(range(len(runs)))
        """The systems under test; the other runs are controls."""
        self.cells = self.explorer.cells
        self.benchmarks = by_weight([result for run in runs for result in run.results])
        first = self.runs[self.tested[0]].results if runs else ()
        reports = {runs[run].name: against_first(first, runs[run].results) for run in self.tested[1:]}
        by_run = list(zip(self.tested[1:], reports.values(), strict=True))
        self._compared = [(run, c) for run, report in by_run for c in report.comparisons]
        self.refusals = list(dict.fromkeys(text for _, one in by_run for text in (*one.refusals, *one.notes)))
        self._figures = figures({run.name: run.results for run in runs}, reports, trend=trend)

    def results(self, *benchmarks: str) -> list[tuple[Cell, int, Result]]:
        return [
            (cell, run, result)
            for name in benchmarks or self.benchmarks
            for cell in self.of(name)
            for run, result in cell.present
            if run in self.tested
        ]

    def of(self, benchmark: str) -> list[Cell]:
        return [cell for cell in self.cells if cell.benchmark.name == benchmark]

    def label(self, run: int) -> str:
        name = self.explorer.systems[run]
        return name if run in self.tested or "control" in name else f"{name} (control)"

    def system(self, run: int, *, with_name: bool = True) -> System:
        return System(self.label(run), run if self.several else None, with_name or not self.several)

    def compared(self, *, cell: str = "", leading: bool = False) -> list[tuple[int, Comparison]]:
        return [
            (run, c)
            for run, c in self._compared
            if cell in ("", c.cell) and (not leading or (c.metric, c.slice) == leading_key(self.cell(c.cell).benchmark))
        ]

    def cell(self, name: str) -> Cell:
        return next(one for one in self.cells if one.first.cell == name)

    def figures(self, cell: str) -> list[Section]:
        """The figures of a cell or a benchmark; with an empty name, those of all."""
        places = {*self.benchmarks, *(result.cell for run in self.runs for result in run.results)}
        found = [one for one in self._figures if (one.cell if one.cell in places else "") == cell]
        # The opening picture already shows women and men.
        found = [one for one in found if ".women-men" not in one.name]
        return [Section("", found, kind="figures")] if found else []


_MOST_ROWS = 100
"""Rows of one detailed table: the first and last ones, if there are more."""
# First columns whose cells name the people of the sentences.
_ENTITY_COLUMNS = frozenset({"entity", "occupation", "lexeme", "pair"})


def as_sentence(text: str) -> str:
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")


def benchmark_section(view: View, name: str) -> Section:
    cells = view.of(name)
    title = f"{title_of(name)}: {cells[0].benchmark.question}"
    blocks: list[Block] = [*_paper_tables(view, cells), *view.figures(name)]
    if len(view.benchmarks) > 1 and blocks:
        blocks = [Section("Tables and figures as in the paper", blocks, folded=True)]
    directions = [_cell(view, cell, folded=len(cells) > 1) for cell in cells]
    return Section(title, [*blocks, *directions] if len(cells) > 1 else [*directions, *blocks], id=name)


def _cell(view: View, cell: Cell, *, folded: bool) -> Section:
    blocks: list[Block] = [_headline(view, cell), *_findings(view, cell)]
    if drawn := view.figures(cell.first.cell):
        blocks.append(Section("Figures", drawn, folded=folded or len(view.benchmarks) > 1))
    matrices = [table for run, _ in cell.present if (table := _confusion(view, cell, run)) is not None]
    if matrices:
        inner = Section("", matrices, kind="matrices")
        blocks.append(
            Section("Expected gender and gender of the translation, with their sentences", [inner], folded=True)
        )
    blocks += _tests(view, cell)
    compared = view.compared(cell=cell.first.cell)
    if compared:
        blocks.append(
            Section(
                ["Compared with the baseline (", view.system(view.tested[0]), ")"],
                [comparison_table(view, compared)],
                folded=True,
            )
        )
    blocks += [*_details(view, cell), _estimates(view, cell)]
    name = cell.name
    return Section(cell.direction, blocks, "" if " " in name else name, cell.code, 3, folded, "direction")


def _findings(view: View, cell: Cell) -> list[Block]:
    blocks: list[Block] = []
    for run, result in cell.present:
        found: list[Text] = [one.text for one in found_in(result)]
        parts: list[Block] = [Bullets(found), *(Paragraph(as_sentence(text), "warning") for text in result.warnings)]
        blocks += [Section(view.system(run), parts, level=4)] if view.several else parts
    return [Section("", blocks, kind="finding")] if view.several else blocks


# -- headline numbers --------------------------------------------------------------------------------------------------


def _headline(view: View, cell: Cell) -> Drawing:
    """Headline metrics with intervals, on one scale if possible."""
    benchmark, first = cell.benchmark, cell.first
    metrics = benchmark.measures.metrics(first.judgements, first.selection)
    wanted = [m.key for m in metrics if benchmark.is_headline(m)]
    named = [key_from(name) for name in benchmark.presentation.also_shown]
    wanted += [key for m in metrics if (key := (m.name, m.slice)) in named and key not in wanted]
    gaps = {(m.name, m.slice) for m in metrics if m.better == "zero"}
    better = {(m.name, m.slice): m.better for m in metrics}
    parts: list[Mapping[str, Any]] = []
    # Shares first, then gaps, to group scales.
    for key in sorted(wanted, key=lambda key: key in gaps):
        rows = [(run, cell.estimate(run, *key)) for run, result in cell.present if find(result, *key) is not None]
        shared = benchmark.presentation.shares_one_scale
        kin = [k for k in wanted if (k in gaps) == (key in gaps)] if shared else [key]
        together = [e for _, result in cell.present for k in kin if (e := find(result, *k)) is not None]
        scale = _scale(together, is_gap=key in gaps)
        if not rows or scale is None:
            continue
        parts.append(
            {
                "label": benchmark.label(*key),
                "judged": _judged([one.estimate for _, one in rows if one.estimate is not None]),
                "rows": rows,
                "scale": scale,
                "starts": not parts or parts[-1]["scale"] != scale,
                "better": better[key],
                "several": view.several,
            }
        )
    return Drawing("headline", parts)


def _judged(estimates: Sequence[Estimate]) -> str:
    totals = sorted({e.n_total for e in estimates})
    n = f"n = {totals[-1]:,}"
    shares = [100 * e.n_judged / e.n_total for e in estimates if e.n_total]
    return n if not shares or min(shares) == 100 else f"{n}; coverage {percent_range(shares)}"


def _scale(estimates: Sequence[Estimate], *, is_gap: bool) -> tuple[float, float] | None:
    """A scale that fits all: a natural one if possible."""
    ends = [x for e in estimates for x in (e.value, e.low, e.high) if x is not None]
    if not ends:
        return None
    reach = max(abs(x) for x in ends)
    if is_gap or min(ends) < 0:
        return -_rounded_up(reach), _rounded_up(reach)
    if reach <= 1 and all(e.unit in (Unit.SHARE, Unit.PROBABILITY) for e in estimates):
        return 0.0, 1.0
    return (0.0, 100.0) if 1 < reach <= 100 else (0.0, _rounded_up(reach))


def _rounded_up(reach: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    if reach <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(reach))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= reach - 1e-9)


# -- tables ------------------------------------------------------------------------------------------------------------


def _paper_tables(view: View, cells: Sequence[Cell]) -> list[Block]:
    """The paper's tables; different conditions get separate tables."""
    found: list[Block] = []
    for place, one in enumerate(cells):
        alike = [cell for cell in cells if cell.label == one.label]
        if alike[0] is not cells[place]:
            continue
        for form in one.benchmark.presentation.forms([cell.results for cell in alike]):

            def number(at: Place, alike: Sequence[Cell] = alike) -> Number:
                return alike[at.cell].estimate(at.run, at.metric, at.slice, with_interval=at.with_interval)

            caption = f"{form.caption} ({one.label}.)" if one.label else form.caption
            found.append(form_table(form, caption, view.system, number, grouped=bool(form.runs)))
    example = _examples(view, cells[0])
    return [*found, example] if example is not None else found


def _examples(view: View, cell: Cell) -> Table | None:
    chosen = cell.benchmark.presentation.examples(cell.first.judgements)
    if chosen is None:
        return None
    rows: list[Sequence[Text]] = []
    for item_id in chosen.items:
        number = cell.number_of(item_id) or 0
        cell.must_show.add(number)
        source = cell.item(number)[1].source
        values: list[Text] = []
        for run, _ in cell.present:
            found = cell.judgement(run, number)
            measures: Mapping[str, float] = found.measures if found else {}
            values += [f"{measures[name]:.2f}" if name in measures else "–" for name in chosen.columns.values()]
        rows.append([Link(source, Filter(cell=cell.name, text=source).link), *values])
    groups = [view.system(run) for run, _ in cell.present]
    return Table(["sentence", *chosen.columns], rows, chosen.caption, groups)


def _confusion(view: View, cell: Cell, run: int) -> Table | None:
    genders = [gender.value for gender in Gender]
    found = Counter(zip(cell.expected.tolist(), cell.answers[:, run, OBSERVED].tolist(), strict=True))
    pairs = {pair: n for pair, n in found.items() if pair[0] < len(genders) and pair[1] != MISSING}
    counts = {(genders[meant], GENDERS[shown]): n for (meant, shown), n in pairs.items()}
    expected = [gender for gender in genders if any(counts.get((gender, seen)) for seen in (*genders, "none"))]
    if len(expected) < 2:
        return None
    columns = [seen for seen in (*genders, "none") if any(counts.get((gender, seen)) for gender in expected)]
    rows: list[Sequence[Text]] = []
    for gender in expected:
        total = sum(counts.get((gender, seen), 0) for seen in columns)
        values: list[Text] = []
        for seen in columns:
            n, system = counts.get((gender, seen), 0), cell.system(run)
            wanted = Filter(cell=cell.name, expected=gender, observed=seen, system=system)
            values.append([Link(f"{n:,}", wanted.link) if n else "0", Small(f"{percent(100 * n / total)}%")])
        rows.append([gender, *values])
    who: list[Inline] = [": ", view.system(run)] if view.several else []
    heads = ["not determined" if seen == "none" else seen for seen in columns]
    return Table(["", *heads], rows, ["Expected gender (rows) and translated gender (columns)", *who])


def _tests(view: View, cell: Cell) -> list[Block]:
    questions = dict.fromkeys(test.question for _, result in cell.present for test in result.tests)
    paragraphs: list[Block] = []
    for question in questions:
        text: list[Inline] = [question]
        for run, result in cell.present:
            p_values = [test.p_value for test in result.tests if test.question == question]
            if p_values:
                p = p_values[0]
                conclusion = "significant" if p is not None and p < ALPHA else "not significant"
                answer = TOO_FEW if p is None else f"{conclusion} ({show_p_value(p)})"
                who: list[Inline] = [view.system(run, with_name=False), " "] if view.several else []
                text += [" " if len(text) == 1 else "; ", *who, answer]
        paragraphs.append(Paragraph([*text, "."]))
    return paragraphs


def comparison_table(view: View, found: Sequence[tuple[int, Comparison]]) -> Table:
    first = view.tested[0]
    rows: list[Sequence[Text]] = []
    for run, c in found:
        cell = view.cell(c.cell)
        tone = c.change() if c.change() in ("better", "worse") else ""
        label = cell.benchmark.label(c.metric, c.slice)
        rows.append(
            [
                [view.system(run), f" {cell.benchmark.title}, {cell.direction}: {label}"],
                *(cell.estimate(place, c.metric, c.slice, with_interval=False) for place in (first, run)),
                [show_value(c.difference, c.unit), Small(between(*(show_value(x, c.unit) for x in (c.low, c.high))))],
                "–" if c.p_adjusted is None else show_p_value(c.p_adjusted),
                Strong(c.in_words(), tone),
            ]
        )
    heads: list[Text] = ["", ["baseline (", view.system(first), ")"], "system", "difference", "p (Holm)", "verdict"]
    return Table(heads, rows)


def _details(view: View, cell: Cell) -> list[Block]:
    by_name: dict[str, list[tuple[int, Values]]] = {}
    for run, result in cell.present:
        for found in result.tables:
            if found.name != "confusion" and found.rows:
                by_name.setdefault(found.name, []).append((run, found))
    return [
        Section(tables[0][1].title, [_detail(view, cell, run, one) for run, one in tables], folded=True)
        for tables in by_name.values()
    ]


def _detail(view: View, cell: Cell, run: int, found: Values) -> Table:
    rows, half, note = list(found.rows), _MOST_ROWS // 2, ""
    if len(rows) > _MOST_ROWS:
        rows, note = [*rows[:half], *rows[-half:]], f" The first and last {half} of {len(found.rows):,} rows."
    links = found.columns[0] in _ENTITY_COLUMNS

    def head(name: object) -> Text:
        wanted = Filter(cell=cell.name, entity=str(name), system=cell.system(run))
        return Link(str(name), wanted.link) if links else _value(name)

    body = [[head(row[0]), *map(_value, row[1:])] for row in rows]
    columns = ["not determined" if name == "unknown" else name for name in found.columns]
    return Table(columns, body, [view.system(run) if view.several else None, note] if view.several or note else "")


def _value(value: object) -> Text:
    if value is None:
        return "–"
    if isinstance(value, float):
        return minus(f"{value:g}")
    return f"{value:,}" if isinstance(value, int) else str(value)


def _estimates(view: View, cell: Cell) -> Section:
    results, benchmark = cell.results, cell.benchmark
    keys = dict.fromkeys((e.metric, e.slice) for _, result in cell.present for e in result.estimates)
    rows: list[Sequence[Text]] = []
    for metric, part in keys:
        values: list[Text] = []
        for run, result in enumerate(results):
            estimate = find(result, metric, part)
            judged = f"{estimate.n_judged:,} of {estimate.n_total:,}" if estimate else "–"
            values += [cell.estimate(run, metric, part), judged]
        code = metric if part == "all" else f"{metric}:{part}"
        rows.append([[benchmark.label(metric, part), Small(code)], *values])
    names: list[Text] = ["metric"]
    for run in range(len(results)):
        names += [view.system(run) if view.several else "value", "judged"]
    return Section(f"All {len(keys)} numbers", [Table(names, rows)], folded=True)
