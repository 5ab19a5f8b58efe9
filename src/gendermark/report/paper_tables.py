"""The tables of the papers, in their form, on a page: each number leads to the sentences behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gendermark.benchmarks.findings import Form, Place
from gendermark.drawing.charts import percent
from gendermark.markup import Content, Markup, minus, tag
from gendermark.records import Gender
from gendermark.report.cells import GENDERS, Cell, Filter
from gendermark.report.explorer import Explorer
from gendermark.report.numbers import CellNumbers

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
