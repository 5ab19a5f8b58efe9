"""The tables of the papers, in their form, on a page: each number leads to the sentences behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gendermark.markup import Content, Markup, tag
from gendermark.records import Gender, Judgement
from gendermark.report import words
from gendermark.report.explorer import Cell, Explorer, Filter
from gendermark.report.numbers import CellNumbers
from gendermark.report.paper_forms import Form, Place, forms

Cells = Sequence[CellNumbers]
_N_GAPS = 8


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

    def tables(self, benchmark: str, cells: Cells) -> list[Markup]:
        found = [self._table(form, cells) for form in forms(benchmark, [numbers.cell.results for numbers in cells])]
        example = _versions(self, cells) if benchmark == "uncertainty" else None
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
        return table(form.caption, heads, rows)


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


def largest_gaps(paper: Paper, numbers: CellNumbers, run: int) -> Markup | None:
    """MT-GenEval: the pairs whose masculine sentence is translated so much better than the feminine one."""
    result = numbers.cell.results[run]
    found = next((t for t in result.tables if t.name == "gaps"), None) if result is not None else None
    gaps = [row for row in found.rows if row[3] > 0][:_N_GAPS] if found else []
    if not gaps:
        return None
    sources = _sources_of(numbers.cell)
    rows = []
    for pair, masculine, feminine, gap, *outcomes in gaps:
        wanted = Filter(cell=numbers.cell.name, entity=str(pair))
        source = tag("bdi", sources.get(str(pair), str(pair)), lang=numbers.cell.selection.source_language)
        rows.append(
            tag(
                "tr",
                tag("th", tag("a", source, href=wanted.link), scope="row", class_="text"),
                [tag("td", f"{value:.1f}".replace("-", "−")) for value in (masculine, feminine, gap)],
                [tag("td", outcome) for outcome in outcomes],
            )
        )
    heads = head_row("sentence", "chrF masculine", "chrF feminine", "gap", "masculine is", "feminine is")
    who = [", ", paper.system(run)] if len(paper.runs) > 1 else None
    return table(["The largest gaps in quality between two versions of a sentence", who, "."], [heads], rows)


def _sources_of(cell: Cell) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, entity in enumerate(cell.entities):
        found.setdefault(entity, cell.item(number)[1].source)
    return found


def _versions(paper: Paper, cells: Cells) -> Markup | None:
    """The he, she and they versions of one sentence: the one where the genders of the samples differ most."""
    numbers = cells[0]
    result = next(result for result in numbers.cell.results if result is not None)
    by_contrast: dict[str, dict[str, Judgement]] = {}
    for judgement in result.judgements:
        by_contrast.setdefault(judgement.tags["contrast"], {})[judgement.expected or "none"] = judgement
    whole = [members for members in by_contrast.values() if {*Gender} <= set(members)]
    if not whole:
        return None
    chosen = max(whole, key=lambda members: sum(j.measures.get("h_gender", 0.0) for j in members.values()))
    present = [run for run in paper.runs if numbers.cell.results[run] is not None]
    rows = []
    for gender in Gender:
        item_id = chosen[gender].item_id
        place = numbers.cell.item_ids.index(item_id)
        source = numbers.cell.item(place)[1].source
        values: list[Content] = []
        for run in present:
            found = numbers.cell.judgement(run, item_id)
            measures: Mapping[str, float] = found.measures if found else {}
            values += [
                f"{measures[name]:.2f}" if name in measures else "–" for name in ("h_gender", "h_string", "p_feminine")
            ]
        wanted = Filter(cell=numbers.cell.name, text=source)
        rows.append(body_row(tag("a", tag("bdi", source, lang="en"), href=wanted.link), *values))
    heads = group_heads("", [paper.system(run) for run in present], ("H gender", "H string", "feminine"))
    return table("In the form of their Table 5: the versions of one sentence.", heads, rows)


def confusion(paper: Paper, numbers: CellNumbers, run: int) -> Markup | None:
    """Expected against observed gender; each count leads to its sentences."""
    cell = numbers.cell
    genders = [gender.value for gender in Gender]
    counts: dict[tuple[str, str], int] = {}
    for number, item_id in enumerate(cell.item_ids):
        judgement = cell.judgement(run, item_id)
        if judgement is not None and cell.expected[number] < len(genders):
            key = genders[cell.expected[number]], judgement.observed or "none"
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
            share = tag("span", f"{words.percent(100 * n / total)} %", class_="interval")
            values.append([tag("a", f"{n:,}", href=wanted.link) if n else "0", share])
        rows.append(body_row(gender, *values))
    caption: Content = [
        "Expected (rows) and read (columns)",
        [": ", paper.system(run)] if len(paper.runs) > 1 else None,
    ]
    return table(caption, [head_row("", *("not read" if seen == "none" else seen for seen in columns))], rows)
