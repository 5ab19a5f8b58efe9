"""The sections of a page, one for each benchmark: its headline numbers, tables, figures and details."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from gendermark.benchmarks.findings import Place
from gendermark.markup import minus
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
    Table,
    Text,
    show_p_value,
    show_value,
)
from gendermark.reporting.findings import found_in
from gendermark.reporting.phrases import between, percent_range
from gendermark.reporting.rows import GENDERS, MISSING, OBSERVED, Filter
from gendermark.reporting.tables import find, form_table
from gendermark.reporting.view import CellView, View, title_of
from gendermark.runs.compare import ALPHA, Comparison

_MOST_ROWS = 100
"""Of one detailed table; its first and last ones, if there are more."""
# The name of a table's first column -> its cells name whom the sentences are about.
_ENTITY_COLUMNS = frozenset({"entity", "occupation", "lexeme", "pair"})


def as_sentence(text: str) -> str:
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")


def benchmark_section(view: View, name: str) -> Section:
    cells = view.of(name)
    title = f"{title_of(name)}: {cells[0].cell.benchmark.question}"
    blocks: list[Block] = [*_paper_tables(view, cells), *view.figures(name)]
    if len(view.benchmarks) > 1 and blocks:
        blocks = [Section("Tables and figures of the paper's kind", blocks, folded=True)]
    directions = [_cell(view, cell, folded=len(cells) > 1) for cell in cells]
    return Section(title, [*blocks, *directions] if len(cells) > 1 else [*directions, *blocks], id=name)


def _cell(view: View, cell: CellView, *, folded: bool) -> Section:
    """One direction: numbers first, then what they are made of."""
    blocks: list[Block] = [_headline(view, cell), *_told(view, cell)]
    if drawn := view.figures(cell.first.cell):
        blocks.append(Section("Figures", drawn, folded=folded or len(view.benchmarks) > 1))
    matrices = [table for run, _ in cell.results if (table := _confusion(view, cell, run)) is not None]
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
    name = cell.cell.name
    return Section(cell.direction, blocks, "" if " " in name else name, cell.code, 3, folded, "direction")


def _told(view: View, cell: CellView) -> list[Block]:
    """The findings and warnings of each system."""
    blocks: list[Block] = []
    for run, result in cell.results:
        found: list[Text] = [one.text for one in found_in(result)]
        parts: list[Block] = [Bullets(found), *(Paragraph(as_sentence(text), "warning") for text in result.warnings)]
        blocks += [Section(view.system(run), parts, level=4)] if view.several else parts
    return [Section("", blocks, kind="finding")] if view.several else blocks


# -- headline numbers --------------------------------------------------------------------------------------------------


def _headline(view: View, cell: CellView) -> Drawing:
    """Headline metrics, drawn with their intervals, all on one scale where they can share one."""
    benchmark, first = cell.cell.benchmark, cell.first
    metrics = benchmark.measures.metrics(first.judgements, first.selection)
    wanted = [m.key for m in metrics if benchmark.is_headline(m)]
    named = [tuple(name.split(":")) for name in benchmark.presentation.also_shown]
    wanted += [key for m in metrics if (key := (m.name, m.slice)) in named and key not in wanted]
    gaps = {(m.name, m.slice) for m in metrics if m.better == "zero"}
    better = {(m.name, m.slice): m.better for m in metrics}
    parts: list[Mapping[str, Any]] = []
    # Shares first, then gaps: what is on one scale stands together.
    for key in sorted(wanted, key=lambda key: key in gaps):
        rows = [(run, cell.number(run, *key)) for run, result in cell.results if find(result, *key) is not None]
        shared = benchmark.presentation.shares_one_scale
        kin = [k for k in wanted if (k in gaps) == (key in gaps)] if shared else [key]
        together = [e for _, result in cell.results for k in kin if (e := find(result, *k)) is not None]
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
    """`n = 1,584; coverage 97–99%`"""
    totals = sorted({e.n_total for e in estimates})
    n = f"n = {totals[-1]:,}"
    shares = [100 * e.n_judged / e.n_total for e in estimates if e.n_total]
    return n if not shares or min(shares) == 100 else f"{n}; coverage {percent_range(shares)}"


def _scale(estimates: Sequence[Estimate], *, is_gap: bool) -> tuple[float, float] | None:
    """The ends of a scale on which all of these can be drawn: a natural one if they fit."""
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


def _paper_tables(view: View, cells: Sequence[CellView]) -> list[Block]:
    """The tables of the paper; what was measured otherwise has numbers that do not stand in one column."""
    found: list[Block] = []
    for place, one in enumerate(cells):
        alike = [cell for cell in cells if cell.apart == one.apart]
        if alike[0] is not cells[place]:
            continue
        for form in one.cell.benchmark.presentation.forms([cell.cell.results for cell in alike]):

            def number(at: Place, alike: Sequence[CellView] = alike) -> Number:
                return alike[at.cell].number(at.run, at.metric, at.slice, with_interval=at.with_interval)

            caption = f"{form.caption} ({one.apart}.)" if one.apart else form.caption
            found.append(form_table(form, caption, view.system, number, grouped=bool(form.runs)))
    example = _examples(view, cells[0])
    return [*found, example] if example is not None else found


def _examples(view: View, cell: CellView) -> Table | None:
    """A few sentences with numbers of their own, if the benchmark has some to show."""
    chosen = cell.cell.benchmark.presentation.examples(cell.first.judgements)
    if chosen is None:
        return None
    rows: list[Sequence[Text]] = []
    for item_id in chosen.items:
        number = cell.cell.number_of(item_id) or 0
        cell.cell.must_show.add(number)
        source = cell.cell.item(number)[1].source
        values: list[Text] = []
        for run, _ in cell.results:
            found = cell.cell.judgement(run, number)
            measures: Mapping[str, float] = found.measures if found else {}
            values += [f"{measures[name]:.2f}" if name in measures else "–" for name in chosen.columns.values()]
        rows.append([Link(source, Filter(cell=cell.cell.name, text=source).link), *values])
    groups = [view.system(run) for run, _ in cell.results]
    return Table(["sentence", *chosen.columns], rows, chosen.caption, groups)


def _confusion(view: View, view_cell: CellView, run: int) -> Table | None:
    """Expected against observed gender; each count leads to its sentences."""
    cell = view_cell.cell
    genders = [gender.value for gender in Gender]
    found = Counter(zip(cell.expected.tolist(), cell.answers[run][:, OBSERVED].tolist(), strict=True))
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
            n, system = counts.get((gender, seen), 0), view_cell.system_field(run)
            wanted = Filter(cell=cell.name, expected=gender, observed=seen, system=system)
            values.append([Link(f"{n:,}", wanted.link) if n else "0", Small(f"{percent(100 * n / total)}%")])
        rows.append([gender, *values])
    who: list[Inline] = [": ", view.system(run)] if view.several else []
    heads = ["not determined" if seen == "none" else seen for seen in columns]
    return Table(["", *heads], rows, ["Expected gender (rows) and translated gender (columns)", *who])


def _tests(view: View, cell: CellView) -> list[Block]:
    """Each question once, with the answer for every system."""
    questions = dict.fromkeys(test.question for _, result in cell.results for test in result.tests)
    paragraphs: list[Block] = []
    for question in questions:
        text: list[Inline] = [question]
        for run, result in cell.results:
            p_values = [test.p_value for test in result.tests if test.question == question]
            if p_values:
                who: list[Inline] = [view.system(run, with_name=False), " "] if view.several else []
                text += [" " if len(text) == 1 else "; ", *who, _answer(p_values[0])]
        paragraphs.append(Paragraph([*text, "."]))
    return paragraphs


def _answer(p: float | None) -> str:
    if p is None:
        return "too few to tell"
    return f"{'significant' if p < ALPHA else 'not significant'} ({show_p_value(p)})"


def comparison_table(view: View, found: Sequence[tuple[int, Comparison]]) -> Table:
    """Differences between the first system under test and later ones."""
    first = view.tested[0]
    rows: list[Sequence[Text]] = []
    for run, c in found:
        cell = view.cell(c.cell)
        tone = c.change() if c.change() in ("better", "worse") else ""
        label = cell.cell.benchmark.label(c.metric, c.slice)
        rows.append(
            [
                [view.system(run), f" {title_of(cell.benchmark)}, {cell.direction}: {label}"],
                *(cell.number(place, c.metric, c.slice, with_interval=False) for place in (first, run)),
                [show_value(c.difference, c.unit), Small(between(*(show_value(x, c.unit) for x in (c.low, c.high))))],
                "–" if c.p_adjusted is None else show_p_value(c.p_adjusted),
                Strong(f"significantly {tone}" if tone else c.in_words(), tone),
            ]
        )
    heads: list[Text] = ["", ["baseline (", view.system(first), ")"], "system", "difference", "p (Holm)", "verdict"]
    return Table(heads, rows)


def _details(view: View, cell: CellView) -> list[Block]:
    """The detailed tables, those of all systems together."""
    by_name: dict[str, list[tuple[int, Values]]] = {}
    for run, result in cell.results:
        for found in result.tables:
            if found.name != "confusion" and found.rows:
                by_name.setdefault(found.name, []).append((run, found))
    return [
        Section(tables[0][1].title, [_detail(view, cell, run, one) for run, one in tables], folded=True)
        for tables in by_name.values()
    ]


def _detail(view: View, cell: CellView, run: int, found: Values) -> Table:
    rows, half, note = list(found.rows), _MOST_ROWS // 2, ""
    if len(rows) > _MOST_ROWS:
        rows, note = [*rows[:half], *rows[-half:]], f" The first and last {half} of {len(found.rows):,} rows."
    links = found.columns[0] in _ENTITY_COLUMNS

    def head(name: object) -> Text:
        wanted = Filter(cell=cell.cell.name, entity=str(name), system=cell.system_field(run))
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


def _estimates(view: View, cell: CellView) -> Section:
    """Every number there is, side by side."""
    results, benchmark = cell.cell.results, cell.cell.benchmark
    keys = dict.fromkeys((e.metric, e.slice) for _, result in cell.results for e in result.estimates)
    rows: list[Sequence[Text]] = []
    for metric, part in keys:
        values: list[Text] = []
        for run, result in enumerate(results):
            estimate = find(result, metric, part)
            judged = f"{estimate.n_judged:,} of {estimate.n_total:,}" if estimate else "–"
            values += [cell.number(run, metric, part), judged]
        rows.append([[benchmark.label(metric), Small(metric)], benchmark.slice_label(part), *values])
    names: list[Text] = ["metric", "slice"]
    for run in range(len(results)):
        names += [view.system(run) if view.several else "value", "judged"]
    return Section(f"All {len(keys)} numbers", [Table(names, rows, n_text=2)], folded=True)
