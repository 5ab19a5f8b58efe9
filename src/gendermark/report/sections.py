"""Benchmark by benchmark: headline numbers, the tables of the paper, figures, details, every number."""

from __future__ import annotations

from collections.abc import Sequence

from gendermark.drawing.charts import percent
from gendermark.markup import Content, Markup, minus, tag
from gendermark.records import Estimate, Table
from gendermark.report import words
from gendermark.report.cells import Filter
from gendermark.report.numbers import CellNumbers, axis, drawn, find, scale_of
from gendermark.report.opening import Opening
from gendermark.report.paper_tables import body_row, confusion, head_row, highlighted, table
from gendermark.report.view import change_class, code_of, direction_of, marker, question_of, sentence
from gendermark.result import Result
from gendermark.runs.compare import ALPHA

_MOST_ROWS = 100
"""Of one detailed table; its first and last ones, if there are more."""
# The word of a table's first column -> its cells name whom the sentences are about.
_ENTITY_COLUMNS = frozenset({"entity", "occupation", "lexeme", "pair"})


class Sections(Opening):
    def sections(self) -> list[Markup]:
        return [self._benchmark(name) for name in self.benchmarks]

    def _benchmark(self, name: str) -> Markup:
        cells = self.of_benchmark(name)
        parts: list[Content] = [tag("h2", question_of(name))]
        if len(cells) > 1:
            parts += [self.paper.tables(cells), self.figures_of(name)]
            parts += [self._cell(numbers) for numbers in cells]
        else:
            parts += [self._cell(cells[0], alone=True, before=self.paper.tables(cells))]
        return tag("section", parts, id=name)

    def _cell(self, numbers: CellNumbers, *, alone: bool = False, before: Content = None) -> Markup:
        cell = numbers.cell
        present = numbers.results()
        parts: list[Content] = [tag("h3", direction_of(numbers))]
        parts.append(self._told([numbers], briefly=False) if self.is_brief else None)
        for run, result in present:
            who: Content = [self.paper.system(run), ": "] if self.several else None
            parts += [tag("p", who, f"{sentence(text)}", class_="warning") for text in result.warnings]
        parts += [self._headline(numbers), before]
        if alone:
            parts.append(self.figures_of(numbers.benchmark))
        parts.append(self.figures_of(present[0][1].cell))
        matrices = [confusion(self.paper, numbers, run) for run, _ in present]
        if any(matrices):
            # The figure shows the same; here each count leads to its sentences.
            summary = tag("summary", "The gender expected and the gender read, with the sentences behind each count")
            parts.append(tag("details", summary, tag("div", [one for one in matrices if one], class_="matrices")))
        parts += [highlighted(self.paper, numbers, run) for run, _ in present]
        parts.append(self._tests(present))
        parts.append(self._comparison_table(numbers))
        parts += self._details(numbers, present)
        parts.append(self._estimates(numbers))
        return tag("section", parts, id=cell.name if " " not in cell.name else None, data_place=code_of(numbers))

    def _headline(self, numbers: CellNumbers) -> Markup:
        """Headline metrics, drawn with their intervals, all on one scale where they can share one."""
        benchmark = numbers.cell.benchmark
        present = numbers.results()
        first = present[0][1]
        metrics = benchmark.measures.metrics(first.judgements, first.selection)
        wanted = [m.key for m in metrics if benchmark.is_headline(m)]
        named = [tuple(name.split(":")) for name in benchmark.presentation.also_shown]
        wanted += [key for m in metrics if (key := (m.name, m.slice)) in named and key not in wanted]
        gaps = {(m.name, m.slice) for m in metrics if m.better == "zero"}
        bodies: list[Markup] = []
        last: tuple[float, float] | None = None
        # Shares first, then gaps: what is on one scale stands together.
        for key in sorted(wanted, key=lambda key: key in gaps):
            found = [(run, e) for run, result in present if (e := find(result, *key)) is not None]
            shared = benchmark.presentation.shares_one_scale
            kin = [k for k in wanted if (k in gaps) == (key in gaps)] if shared else [key]
            together = [e for _, result in present for k in kin if (e := find(result, *k)) is not None]
            scale = scale_of(together, is_gap=key in gaps)
            if not found or scale is None:
                continue
            if scale != last:
                bodies.append(
                    tag(
                        "tbody",
                        tag("tr", tag("th"), self._letter_cell(), tag("td", axis(scale), class_="drawn"), tag("td")),
                    )
                )
                last = scale
            bodies.append(tag("tbody", self._headline_rows(numbers, key, found, scale)))
        inner = tag("table", bodies, class_="headline")
        return tag("div", inner, class_="scroll", tabindex=0, role="group", aria_label="Headline numbers")

    def _letter_cell(self, run: int | None = None) -> Content:
        if not self.several:
            return None
        return tag("td", marker(run) if run is not None else None, class_="letter")

    def _headline_rows(
        self,
        numbers: CellNumbers,
        key: tuple[str, str],
        found: Sequence[tuple[int, Estimate]],
        scale: tuple[float, float],
    ) -> list[Markup]:
        rows = []
        for place, (run, estimate) in enumerate(found):
            head: Content = None
            if place == 0:
                n = estimate.n_total
                judged = f"{estimate.n_judged:,} of {n:,} judged" if not self.several else f"n = {n:,}"
                name = [numbers.cell.benchmark.label(*key), tag("span", judged, class_="interval")]
                head = tag("th", name, scope="row", rowspan=len(found) if len(found) > 1 else None, class_="text")
            drawing = tag("td", drawn(estimate, scale, run), class_="drawn")
            amount = tag("td", numbers.value(run, *key), self._coverage(estimate), class_="amount")
            rows.append(tag("tr", head, self._letter_cell(run), drawing, amount))
        return rows

    def _coverage(self, estimate: Estimate) -> Content:
        """How much could be judged, where that is not all and is not said beside it."""
        if not self.several or estimate.n_judged >= estimate.n_total:
            return None
        share = 100 * estimate.n_judged / estimate.n_total
        return tag("span", f"{percent(min(share, 99))} % judged", class_="interval judged")

    def _tests(self, present: Sequence[tuple[int, Result]]) -> list[Markup]:
        """Each question once, with the answer for every system."""
        questions = dict.fromkeys(test.question for _, result in present for test in result.tests)
        paragraphs = []
        for question in questions:
            answers: list[Content] = []
            for run, result in present:
                p_values = [test.p_value for test in result.tests if test.question == question]
                if p_values:
                    who: Content = [marker(run), " "] if self.several else None
                    answers.append([" " if not answers else "; ", who, _answer(p_values[0])])
            paragraphs.append(tag("p", question, answers, "."))
        return paragraphs

    def _comparison_table(self, numbers: CellNumbers) -> Content:
        first = numbers.cell.results[0]
        found = [d for run in self.paper.runs[1:] for d in self.differences.of(first.cell, run)] if first else []
        if not found:
            return None
        rows = []
        for difference in found:
            c = difference.comparison
            shown = words.value(c.difference, c.unit)
            linked = [
                numbers.linked(run, c.metric, c.slice, x) for run, x in ((0, c.first), (difference.run, c.second))
            ]
            ends = [words.value(x, c.unit) for x in (c.low, c.high)]
            p = "–" if c.p_adjusted is None else words.p_value(c.p_adjusted)
            rows.append(
                body_row(
                    [self.paper.system(difference.run), " ", difference.label],
                    *linked,
                    [shown, tag("span", " to ".join(ends), class_="interval")],
                    p,
                    tag("span", difference.change, class_=change_class(difference.change)),
                )
            )
        heads = head_row("", ["first, ", self.paper.system(0)], "this one", "difference", "p (Holm)", "this one is")
        return tag("details", tag("summary", "Compared with the first system"), table("", [heads], rows))

    def _details(self, numbers: CellNumbers, present: Sequence[tuple[int, Result]]) -> list[Markup]:
        """The detailed tables, those of all systems together."""
        by_name: dict[str, list[tuple[int, Table]]] = {}
        for run, result in present:
            for found in result.tables:
                if found.name != "confusion" and found.rows:
                    by_name.setdefault(found.name, []).append((run, found))
        return [
            tag("details", tag("summary", tables[0][1].title), [self._detail(numbers, run, one) for run, one in tables])
            for tables in by_name.values()
        ]

    def _detail(self, numbers: CellNumbers, run: int, found: Table) -> Markup:
        rows = list(found.rows)
        half = _MOST_ROWS // 2
        note = ""
        if len(rows) > _MOST_ROWS:
            rows, note = [*rows[:half], *rows[-half:]], f" The first and last {half} of {len(found.rows):,} rows."
        links = found.columns[0] in _ENTITY_COLUMNS
        body = [
            body_row(self._entity(numbers, run, row[0]) if links else _cell_text(row[0]), *map(_cell_text, row[1:]))
            for row in rows
        ]
        caption: Content = [self.paper.system(run) if self.several else None, note]
        return table(caption, [head_row(*found.columns)], body)

    def _entity(self, numbers: CellNumbers, run: int, name: object) -> Markup:
        system = str(run) if self.several else ""
        wanted = Filter(cell=numbers.cell.name, entity=str(name), system=system)
        return tag("a", tag("bdi", str(name)), href=wanted.link)

    def _estimates(self, numbers: CellNumbers) -> Markup:
        """Every number there is, side by side."""
        results, benchmark = numbers.cell.results, numbers.cell.benchmark
        keys = dict.fromkeys((e.metric, e.slice) for result in results if result is not None for e in result.estimates)
        rows = []
        for metric, part in keys:
            values = []
            for run, result in enumerate(results):
                estimate = find(result, metric, part) if result is not None else None
                judged = f"{estimate.n_judged:,} of {estimate.n_total:,}" if estimate else "–"
                values += [numbers.value(run, metric, part), judged]
            rows.append(
                tag(
                    "tr",
                    tag(
                        "th",
                        benchmark.label(metric),
                        tag("span", metric, class_="interval"),
                        scope="row",
                        class_="text",
                    ),
                    tag("td", benchmark.slice_label(part), class_="text"),
                    [tag("td", value) for value in values],
                )
            )
        names: list[Content] = ["metric", "slice"]
        for run in self.paper.runs:
            names += [self.paper.system(run) if self.several else "value", "judged"]
        summary = tag("summary", f"All {len(keys)} numbers")
        return tag("details", summary, table("", [head_row(*names)], rows))


def _answer(p: float | None) -> str:
    if p is None:
        return "too little data to say"
    return f"{'yes' if p < ALPHA else 'what is seen could be chance'} ({words.p_value(p)})"


def _cell_text(value: object) -> Content:
    if value is None:
        return "–"
    if isinstance(value, float):
        return minus(f"{value:g}")
    return f"{value:,}" if isinstance(value, int) else tag("bdi", str(value))
