"""Numbers and tables of a page: each number with its interval, a link to the sentences behind it, and a drawing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from gendermark.benchmarks.findings import NO_SPREAD, Form, Place
from gendermark.markup import Content, Markup, minus, tag
from gendermark.records import Estimate, Gender, Unit, show_p
from gendermark.reporting.charts import percent
from gendermark.reporting.rows import GENDERS, Cell, Explorer, Filter
from gendermark.result import Result


def format_value(amount: float | None, unit: Unit) -> str:
    """A number with a true minus sign."""
    return minus(unit.show(amount))


def format_interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "no interval"
    if estimate.low == estimate.high:
        return NO_SPREAD
    return " to ".join(format_value(end, estimate.unit) for end in (estimate.low, estimate.high))


def letter_of(run: int) -> str:
    """How the run at this place is called, on a page and in its figures."""
    return chr(ord("A") + run) if run < 26 else f"S{run + 1}"


def format_p(p: float) -> str:
    return f"p {show_p(p)}".replace("<", "< ")


_HEIGHT, _MIDDLE, _MARGIN = 18, 9, 3
_SHAPES = (
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z",  # circle
    "M-4 -4H4V4H-4Z",  # square
    "M0 -5.2L5 4H-5Z",  # triangle
    "M0 -5.6L5.2 0L0 5.6L-5.2 0Z",  # diamond
    "M0 5.2L-5 -4H5Z",  # down
    "M-4.2 -4.6H4.2L-4.2 4.6H4.2Z",  # hourglass
)
"""In the order of the figures, `charts.SHAPES`."""


def find(result: Result, metric: str, part: str = "all") -> Estimate | None:
    """An estimate, with or without a value."""
    return next((e for e in result.estimates if (e.metric, e.slice) == (metric, part)), None)


class CellNumbers:
    """The numbers of one cell, for every run that has it."""

    def __init__(self, explorer: Explorer, cell: Cell) -> None:
        self.cell = cell
        self.benchmark = cell.selection.benchmark
        self._several = len(explorer.systems) > 1

    @property
    def told_apart(self) -> str:
        """What sets this cell apart from others of its direction: "context joined"."""
        return self.cell.name.partition(" ")[2]

    def results(self) -> list[tuple[int, Result]]:
        """(run, result) for the runs that have this cell."""
        return [(run, result) for run, result in enumerate(self.cell.results) if result is not None]

    @cached_property
    def _totals(self) -> dict[tuple[str, str], str]:
        """The column that counts the sentences of each metric."""
        result = next(result for result in self.cell.results if result is not None)
        metrics = self.cell.benchmark.measures.metrics(result.judgements, result.selection)
        return {(metric.name, metric.slice): metric.total for metric in metrics}

    def filter(self, run: int, metric: str = "", part: str = "all") -> Filter:
        """Which sentences a number is made of."""
        name, judged_only = self.cell.slice_of(self._totals.get((metric, part), ""))
        found = Filter(
            cell=self.cell.name,
            slice=name,
            verdict="judged" if judged_only else "",
            system=str(run) if self._several else "",
        )
        result = self.cell.results[run]
        estimate = find(result, metric, part) if result is not None else None
        # Where none has the outcome there is nothing behind the number but what it is a share of.
        is_none = estimate is not None and estimate.value == 0
        return found if is_none else replace(found, **self.cell.benchmark.describe(metric).behind)

    def link(self, content: str | Markup, wanted: Filter, label: str = "") -> Markup:
        return tag("a", content, href=wanted.link, aria_label=label or None)

    def linked(self, run: int, metric: str, part: str, amount: float | None) -> Markup:
        """An amount that leads to its sentences; a dash where there is none."""
        if amount is None:
            return Markup("–")
        unit = self.cell.benchmark.describe(metric).unit
        return self.link(format_value(amount, unit), self.filter(run, metric, part))

    def value(self, run: int, metric: str, part: str = "all", *, with_interval: bool = True) -> Markup:
        """A number as a link, its interval beneath; a dash where there is none."""
        result = self.cell.results[run]
        estimate = find(result, metric, part) if result is not None else None
        shown = self.linked(run, metric, part, estimate.value if estimate else None)
        if estimate is None or estimate.value is None or estimate.low is None or not with_interval:
            return shown
        return Markup(shown + tag("span", format_interval(estimate), class_="interval"))


def scale_of(estimates: Sequence[Estimate], *, is_gap: bool) -> tuple[float, float] | None:
    """The ends of a scale on which all of these can be drawn: a natural one if they fit."""
    ends = [x for e in estimates for x in (e.value, e.low, e.high) if x is not None]
    if not ends:
        return None
    reach = max(abs(x) for x in ends)
    if is_gap or min(ends) < 0:
        top = _rounded_up(reach)
        return -top, top
    if reach <= 1 and all(e.unit in (Unit.SHARE, Unit.PROBABILITY) for e in estimates):
        return 0.0, 1.0
    return (0.0, 100.0) if 1 < reach <= 100 else (0.0, _rounded_up(reach))


def _rounded_up(reach: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    if reach <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(reach))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= reach - 1e-9)


def drawn(estimate: Estimate, scale: tuple[float, float], run: int) -> Markup:
    """A dot with a whisker from end to end of the interval; the shape tells the run where colour does not.

    Places are in percent, so that the drawing can be of any width and its dots stay as large as they are.
    """
    low, high = scale
    parts = [_line(across(low, scale), across(high, scale), "track")]
    if low < 0 < high:
        zero = across(0, scale)
        parts.append(tag("line", x1=zero, x2=zero, y1=1, y2=_HEIGHT - 1, class_="zero"))
    if estimate.value is not None:
        if estimate.low is not None and estimate.high is not None:
            start, end = across(estimate.low, scale), across(estimate.high, scale)
            parts.append(_line(start, end, "whisker"))
            parts += [tag("line", x1=x, x2=x, y1=_MIDDLE - 3, y2=_MIDDLE + 3, class_="whisker") for x in (start, end)]
        shape = tag("path", d=_SHAPES[run % len(_SHAPES)], class_="dot")
        parts.append(tag("svg", shape, x=across(estimate.value, scale), y=_MIDDLE))
    return tag("svg", parts, height=_HEIGHT, class_=f"run-{run % 8}", aria_hidden="true")


def axis(scale: tuple[float, float]) -> Markup:
    """The ends of a scale, and its middle."""
    low, high = scale
    marks = [(low, "start"), ((low + high) / 2, "middle"), (high, "end")]
    texts = [
        tag("text", f"{value:g}".replace("-", "−"), x=across(value, scale), y=10, text_anchor=anchor, class_="scale")
        for value, anchor in marks
    ]
    return tag("svg", texts, height=13, aria_hidden="true")


def across(value: float, scale: tuple[float, float]) -> str:
    low, high = scale
    share = (min(max(value, low), high) - low) / (high - low)
    return f"{_MARGIN + share * (100 - 2 * _MARGIN):.2f}%"


def _line(start: str, end: str, class_: str) -> Markup:
    return tag("line", x1=start, x2=end, y1=_MIDDLE, y2=_MIDDLE, class_=class_)


Cells = Sequence[CellNumbers]
_N_HIGHLIGHTED = 8


class Paper:
    """What the tables need to know about the page: its runs, and how a run is marked."""

    def __init__(self, explorer: Explorer, marker: Callable[[int], Markup]) -> None:
        self.explorer = explorer
        self.runs = range(len(explorer.systems))
        self._marker = marker

    def system(self, run: int) -> Content:
        """A run in a head of rows or columns."""
        name = tag("bdi", self.explorer.systems[run])
        return [self._marker(run), " ", name] if len(self.runs) > 1 else name

    def tables(self, cells: Cells) -> list[Markup]:
        """The tables of the paper; what was measured otherwise has numbers that do not stand in one column."""
        presentation = cells[0].cell.benchmark.presentation
        found = []
        for place, _ in enumerate(cells):
            alike = [n for n in cells if n.told_apart == cells[place].told_apart]
            if alike[0] is cells[place]:
                found += [self._table(form, alike) for form in presentation.forms([n.cell.results for n in alike])]
        example = _examples(self, cells[0])
        return [*found, example] if example else found

    def _table(self, form: Form, cells: Cells) -> Markup:
        def shown(place: Place | None) -> Content:
            if place is None:
                return ""
            numbers = cells[place.cell]
            return numbers.value(place.run, place.metric, place.slice, with_interval=place.with_interval)

        rows = []
        for row in form.rows:
            head: Content = row.text
            if row.run is not None:
                beneath = tag("span", row.text, class_="interval") if row.text else None
                head = [self.system(row.run), beneath]
            rows.append(body_row(head, *map(shown, row.values)))
        if form.runs:
            heads = group_heads(form.corner, [self.system(run) for run in form.runs], form.columns)
        else:
            heads = [head_row(form.corner, *form.columns)]
        apart = f" ({cells[0].told_apart}.)" if cells[0].told_apart else ""
        return table(f"{form.caption}{apart}", heads, rows)


def table(caption: Content, head: Sequence[Markup], rows: Sequence[Markup], *, class_: str = "") -> Markup:
    """A table that scrolls by itself where it is wider than the page."""
    inner = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", rows), class_=class_ or None)
    return tag("div", inner, class_="scroll", tabindex=0, role="group", aria_label="Table")


def head_row(*names: Content, first_is_text: bool = True) -> Markup:
    cells = [
        tag("th", name, scope="col", class_="text" if first_is_text and place == 0 else None)
        for place, name in enumerate(names)
    ]
    return tag("tr", cells)


def body_row(name: Content, *values: Content) -> Markup:
    return tag("tr", tag("th", name, scope="row"), [tag("td", value) for value in values])


def group_heads(first: str, groups: Sequence[Content], names: Sequence[str]) -> list[Markup]:
    """Two lines of heads: groups, and under each of them the same names."""
    upper = [tag("th", group, colspan=len(names), scope="colgroup", class_="group") for group in groups]
    lower = [tag("th", name, scope="col") for _ in groups for name in names]
    return [tag("tr", tag("th", first, rowspan=2, scope="col", class_="text"), upper), tag("tr", lower)]


def highlighted(paper: Paper, numbers: CellNumbers, run: int) -> Markup | None:
    """The first rows of the table that the benchmark finds most telling, each with its sentence."""
    result, highlight = numbers.cell.results[run], numbers.cell.benchmark.presentation.highlight
    if result is None or highlight is None:
        return None
    found = next((t for t in result.tables if t.name == highlight.table), None)
    chosen = [row for row in found.rows if highlight.is_shown(row)][:_N_HIGHLIGHTED] if found else []
    if not found or not chosen:
        return None
    sources = _sources_of(numbers.cell)
    rows = []
    for entity, *cells in chosen:
        wanted = Filter(cell=numbers.cell.name, entity=str(entity))
        source = tag("bdi", sources.get(str(entity), str(entity)), lang=numbers.cell.selection.source_language)
        head = tag("th", tag("a", source, href=wanted.link), scope="row", class_="text")
        shown = [minus(f"{cell:.1f}") if isinstance(cell, float) else str(cell) for cell in cells]
        rows.append(tag("tr", head, [tag("td", text) for text in shown]))
    who = [", ", paper.system(run)] if len(paper.runs) > 1 else None
    return table([highlight.caption, who, "."], [head_row("sentence", *found.columns[1:])], rows)


def _sources_of(cell: Cell) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, entity in enumerate(cell.entities):
        if entity not in found:
            found[entity] = cell.item(number)[1].source
    return found


def _examples(paper: Paper, numbers: CellNumbers) -> Markup | None:
    """A few sentences with numbers of their own, if the benchmark has some to show."""
    first = next(result for result in numbers.cell.results if result is not None)
    chosen = numbers.cell.benchmark.presentation.examples(first.judgements)
    if chosen is None:
        return None
    present = [run for run in paper.runs if numbers.cell.results[run] is not None]
    rows = []
    for item_id in chosen.items:
        number = numbers.cell.number_of(item_id) or 0
        numbers.cell.must_show.add(number)
        source = numbers.cell.item(number)[1].source
        values: list[Content] = []
        for run in present:
            found = numbers.cell.judgement(run, number)
            measures: Mapping[str, float] = found.measures if found else {}
            values += [f"{measures[name]:.2f}" if name in measures else "–" for name in chosen.columns.values()]
        wanted = Filter(cell=numbers.cell.name, text=source)
        language = numbers.cell.selection.source_language
        rows.append(body_row(tag("a", tag("bdi", source, lang=language), href=wanted.link), *values))
    heads = group_heads("", [paper.system(run) for run in present], list(chosen.columns))
    return table(chosen.caption, heads, rows)


def confusion(paper: Paper, numbers: CellNumbers, run: int) -> Markup | None:
    """Expected against observed gender; each count leads to its sentences."""
    cell = numbers.cell
    genders = [gender.value for gender in Gender]
    counts: dict[tuple[str, str], int] = {}
    for number, answer in enumerate(cell.answers[run]):
        if answer is not None and cell.expected[number] < len(genders):
            key = genders[cell.expected[number]], GENDERS[answer.observed]
            counts[key] = counts.get(key, 0) + 1
    expected = [gender for gender in genders if any(counts.get((gender, seen)) for seen in (*genders, "none"))]
    if len(expected) < 2:
        return None
    columns = [seen for seen in (*genders, "none") if any(counts.get((gender, seen)) for gender in expected)]
    rows = []
    for gender in expected:
        total = sum(counts.get((gender, seen), 0) for seen in columns)
        values: list[Content] = []
        for seen in columns:
            n = counts.get((gender, seen), 0)
            wanted = Filter(
                cell=cell.name, expected=gender, observed=seen, system=str(run) if len(paper.runs) > 1 else ""
            )
            share = tag("span", f"{percent(100 * n / total)} %", class_="interval")
            values.append([tag("a", f"{n:,}", href=wanted.link) if n else "0", share])
        rows.append(body_row(gender, *values))
    caption: Content = [
        "Expected (rows) and read (columns)",
        [": ", paper.system(run)] if len(paper.runs) > 1 else None,
    ]
    return table(caption, [head_row("", *("not read" if seen == "none" else seen for seen in columns))], rows)
