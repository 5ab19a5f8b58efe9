"""The tables of the papers, in their form, for the runs at hand: one for all directions of a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gendermark.records import Gender, Judgement
from gendermark.report import words
from gendermark.report.explorer import Cell, Explorer, Filter
from gendermark.report.markup import Content, Markup, tag
from gendermark.report.numbers import CellNumbers

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
        make = _TABLES.get(benchmark)
        return make(self, cells) if make else []


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


def _direction(numbers: CellNumbers) -> str:
    selection = numbers.cell.selection
    return words.direction(selection.source_language, selection.target_language)


def _winomt(paper: Paper, cells: Cells) -> list[Markup]:
    rows = [
        body_row(
            _direction(numbers),
            *(numbers.value(run, metric) for run in paper.runs for metric in ("accuracy", "delta_g", "delta_s")),
        )
        for numbers in cells
    ]
    heads = group_heads("", [paper.system(run) for run in paper.runs], ("Acc", "ΔG", "ΔS"))
    caption = (
        "In the form of Table 2 of Stanovsky et al. (2019): accuracy over all sentences, F1 of men minus F1 of women, "
        "accuracy with minus against the stereotype."
    )
    return [table(caption, heads, rows)]


def _simplegen(paper: Paper, cells: Cells) -> list[Markup]:
    columns = (
        ("pro", "pro", "all"),
        ("anti", "anti", "all"),
        ("Δ", "delta", "all"),
        ("FOFC", "correct", "fofc"),
        ("MOFC", "correct", "mofc"),
        ("ΔFC", "delta_fc", "all"),
        ("MOMC", "correct", "momc"),
        ("FOMC", "correct", "fomc"),
        ("ΔMC", "delta_mc", "all"),
    )
    rows = [
        body_row(
            _with_direction(paper, numbers, run, len(cells)),
            *(numbers.value(run, metric, part) for _, metric, part in columns),
        )
        for numbers in cells
        for run in paper.runs
        if numbers.cell.results[run] is not None
    ]
    caption = (
        "In the form of Table 4 of Renduchintala et al. (2021): percent right. FO, MO: occupations of women, of men; "
        "FC, MC: the sentence says that the person is a woman, a man."
    )
    return [table(caption, [head_row("", *(name for name, _, _ in columns))], rows)]


def _with_direction(paper: Paper, numbers: CellNumbers, run: int, n_cells: int) -> Content:
    direction = _direction(numbers)
    if len(paper.runs) == 1:
        return direction if n_cells > 1 else paper.system(run)
    return [paper.system(run), tag("span", direction, class_="interval")] if n_cells > 1 else paper.system(run)


def _tgbi(paper: Paper, cells: Cells) -> list[Markup]:
    tables = []
    for numbers in cells:
        present = [run for run in paper.runs if numbers.cell.results[run] is not None]
        found = [result for result in numbers.cell.results if result is not None]
        sets = dict.fromkeys(e.slice for result in found for e in result.estimates if e.metric == "p_s")
        rows = [
            body_row(
                name,
                *(
                    numbers.value(run, metric, name, with_interval=metric == "p_s")
                    for run in present
                    for metric in ("p_s", "p_w", "p_m", "p_n")
                ),
            )
            for name in sets
        ]
        means = [x for run in present for x in (numbers.value(run, "tgbi"), "", "", "")]
        rows.append(body_row("mean (TGBI)", *means))
        heads = group_heads("set", [paper.system(run) for run in present], ("P_S", "woman", "man", "open"))
        caption = (
            f"{_direction(numbers)}, in the form of Table 1 of Cho et al. (2019): P_S is 1 where the translations are "
            "neutral and 0 where all have one gender; beside it the shares."
        )
        tables.append(table(caption, heads, rows))
    return tables


def _counterfactual(paper: Paper, cells: Cells) -> list[Markup]:
    names = ("BLEU masculine", "BLEU feminine", "Δqual")
    rows = [
        body_row(
            _direction(numbers),
            *(
                numbers.value(run, metric)
                for run in paper.runs
                for metric in ("bleu_masculine", "bleu_feminine", "delta_qual")
            ),
        )
        for numbers in cells
    ]
    quality = table(
        "Quality, in the form of Table 8 of Currey et al. (2022): BLEU of the masculine minus BLEU of the feminine "
        "sentences.",
        group_heads("", [paper.system(run) for run in paper.runs], names),
        rows,
    )
    return [_accuracies(paper, cells), quality]


def _accuracies(paper: Paper, cells: Cells) -> Markup:
    rows = [body_row(paper.system(run), *(numbers.value(run, "accuracy") for numbers in cells)) for run in paper.runs]
    caption = "Accuracy, in the form of Table 10 of Currey et al. (2022); of pairs where the sentences come in pairs."
    return table(caption, [head_row("", *(_direction(numbers) for numbers in cells))], rows)


def _contextual(paper: Paper, cells: Cells) -> list[Markup]:
    return [_accuracies(paper, cells)]


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


def _uncertainty(paper: Paper, cells: Cells) -> list[Markup]:
    def rows_of(columns: Sequence[tuple[str, str]]) -> list[Markup]:
        return [
            body_row(
                _with_direction(paper, numbers, run, len(cells)),
                *(numbers.value(run, metric, part) for metric, part in columns),
            )
            for numbers in cells
            for run in paper.runs
            if numbers.cell.results[run] is not None
        ]

    right = (
        ("p_right", "unambiguous"),
        ("delta_i_s3e", "all"),
        ("delta_i_gender", "all"),
        ("delta_i_string", "all"),
    )
    entropies = (("h_s3e", "unambiguous"), ("h_s3e", "ambiguous"), ("delta_h_s3e", "all"), ("awareness_s3e", "all"))
    genders = (
        ("h_gender", "unambiguous"),
        ("h_gender", "ambiguous"),
        ("delta_h_gender", "all"),
        ("awareness_gender", "all"),
    )
    tables = [
        table(
            "In the form of Table 3 of Staliūnaitė et al. (2026): the right gender where it is told, and how much less "
            "surprising the right than the wrong translation is (below 0 is good).",
            [head_row("", "right gender", "ΔI (S3E)", "ΔI (gender)", "ΔI (string)")],
            rows_of(right),
        )
    ]
    for name, columns in (("S3E", entropies), ("gender", genders)):
        tables.append(
            table(
                f"In the form of their Table 4: entropy ({name}) of the samples where the gender is told and where it "
                "is open, the difference (below 0: less sure where it is open, as it should be), and in how many of "
                "100 pairs it is so.",
                [head_row("", "told", "open", "ΔH", "of 100 pairs")],
                rows_of(columns),
            )
        )
    example = _versions(paper, cells)
    return [*tables, example] if example else tables


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
        rows.append(body_row(tag("bdi", source, lang="en"), *values))
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
            share = tag("span", f"{100 * n / total:.0f} %", class_="interval")
            values.append([tag("a", f"{n:,}", href=wanted.link) if n else "0", share])
        rows.append(body_row(gender, *values))
    caption: Content = [
        "Expected (rows) and read (columns)",
        [": ", paper.system(run)] if len(paper.runs) > 1 else None,
    ]
    return table(caption, [head_row("", *("not read" if seen == "none" else seen for seen in columns))], rows)


_TABLES: Mapping[str, Callable[[Paper, Cells], list[Markup]]] = {
    "mt-geneval-contextual": _contextual,
    "mt-geneval-counterfactual": _counterfactual,
    "simplegen": _simplegen,
    "tgbi": _tgbi,
    "uncertainty": _uncertainty,
    "winomt": _winomt,
}
