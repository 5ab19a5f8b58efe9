"""The report as one HTML page that stands alone: findings in words, numbers, tables, figures, and every sentence.

Nothing is fetched, and nothing but the page's own script can run: its policy names that script by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gendermark import __version__, registry
from gendermark.records import Estimate, Table
from gendermark.report import words
from gendermark.report.differences import ABSENT, CHANGES, LEVEL, Difference, Differences, differences, phrases_of
from gendermark.report.explorer import Explorer, Filter, Run, read_run
from gendermark.report.figures import Figure, figures
from gendermark.report.findings import findings, findings_in_brief, main_finding
from gendermark.report.markup import Content, Markup, joined, tag
from gendermark.report.numbers import CellNumbers, axis, drawn, find, scale_of
from gendermark.report.paper_tables import Paper, body_row, confusion, head_row, largest_gaps, table
from gendermark.report.reproduce import commands
from gendermark.result import Result
from gendermark.runs.compare import ComparisonReport
from gendermark.textfiles import write_text

_MOST_FINDINGS = 12
"""With more directions of one system than this, the opening says the main things about each only."""
_MOST_SIDE_BY_SIDE = 4
"""Systems in the opening; more stand in a list, with one sentence each."""
_MOST_PLACES = 5
"""Benchmarks and directions that are named one by one in the lead; more are counted."""
_MOST_ROWS = 100
"""Of one detailed table; its first and last ones, if there are more."""
# Beside a benchmark's own headline metrics: the numbers that its finding speaks of.
_ALSO_SHOWN: Mapping[str, tuple[str, ...]] = {
    "mt-geneval-counterfactual": ("accuracy:masculine", "accuracy:feminine"),
    "simplegen": ("correct:fc", "correct:mc", "recall_gap:all"),
    "tgbi": ("imbalance:all",),
    "winomt": ("accuracy:feminine", "accuracy:masculine", "masculine_share:neutral", "recall_gap:all"),
}
# The word of a table's first column -> its cells name whom the sentences are about.
_ENTITY_COLUMNS = frozenset({"entity", "occupation", "lexeme", "pair"})


def write_page(path: Path, directories: Sequence[Path | str]) -> None:
    """The report of some run folders, the first of which the others are compared with."""
    write_text(path, render_page([read_run(directory) for directory in dict.fromkeys(map(str, directories))]))


def render_page(runs: Sequence[Run]) -> str:
    """The whole page."""
    explorer = Explorer(runs)
    page = _Page(runs, explorer)
    script, style = _asset("page.js"), _asset("page.css")
    parts = {
        "policy": policy(script, style),
        "version": joined(__version__),
        "title": joined(page.title),
        "style": style,
        "header": page.header(),
        "report": joined([page.finding(), page.measured(), page.benchmarks()]),
        "reproduce": page.reproduction(),
        "footer": tag("p", f"Written by gendermark {__version__}. The page asks nothing of any other computer."),
        "rows": embedded_json({**explorer.embedded(), "words": _words(explorer)}),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: str(parts[found[1]]), _asset("page.html"))


def policy(script: str, style: str, *, connect: bool = False) -> str:
    """The Content-Security-Policy of a page with this script and this style sheet in it."""
    rules = [
        "default-src 'none'",
        f"script-src {_hash(script)}",
        f"style-src {_hash(style)}",
        "img-src data:",
        *(["connect-src 'self'"] if connect else []),
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join(rules)


def embedded_json(value: Any) -> str:
    """JSON that can stand in a script element: no text in it can end the element or begin a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    # Half a surrogate pair is no text and could not be written; its escape can.
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _asset(name: str) -> str:
    return (files("gendermark.report") / "assets" / name).read_text(encoding="utf-8")


def _words(explorer: Explorer) -> dict[str, Any]:
    """Names for people, for the script."""
    benchmarks = {cell.selection.benchmark for cell in explorer.cells}
    return {
        "languages": words.LANGUAGES,
        "right_to_left": sorted(words.RIGHT_TO_LEFT),
        "slices": words.SLICES,
        "benchmarks": {name: _short_title(name) for name in benchmarks},
    }


def _title(benchmark: str) -> str:
    return str(registry.load("benchmark", benchmark).title)


def _short_title(benchmark: str) -> str:
    short = _title(benchmark).partition(":")[0]
    kind = benchmark.rpartition("-")[2] if benchmark.startswith("mt-geneval-") else ""
    return f"{short} ({kind})" if kind else short


def _marker(run: int) -> Markup:
    return tag("span", words.letter(run), class_=f"marker run-{run % 8}")


class _Page:
    """The parts of a page, from top to bottom."""

    def __init__(self, runs: Sequence[Run], explorer: Explorer) -> None:
        self.runs, self.explorer = runs, explorer
        self.several = len(runs) > 1
        self.paper = Paper(explorer, _marker)
        self.numbers = [CellNumbers(explorer, cell) for cell in explorer.cells]
        self.differences = differences([run.results for run in runs]) if self.several else Differences()
        self.figures = figures({run.name: run.results for run in runs}, self._reports())

    def _reports(self) -> dict[str, ComparisonReport]:
        """The comparisons once more, run by run, for the figures."""
        return {
            self.runs[run].name: ComparisonReport(
                self.runs[0].system,
                self.runs[run].system,
                tuple(difference.comparison for difference in self.differences.of_run(run)),
                (),
            )
            for run in self.paper.runs[1:]
        }

    @property
    def title(self) -> str:
        if self.several:
            return f"Gender in translation: {len(self.runs)} systems side by side"
        return f"Gender in translation: {self.explorer.systems[0]}" if self.runs else "Gender in translation"

    def _of_benchmark(self, benchmark: str) -> list[CellNumbers]:
        return [numbers for numbers in self.numbers if numbers.benchmark == benchmark]

    @property
    def _benchmarks(self) -> list[str]:
        return list(dict.fromkeys(numbers.benchmark for numbers in self.numbers))

    # -- what was run --------------------------------------------------------------------------------------------------

    def header(self) -> Markup:
        links = [("#finding", "The finding"), ("#measured", "What was measured")]
        links += [(f"#{name}", _short_title(name)) for name in self._benchmarks]
        links += [("#sentences", "The sentences"), ("#reproduce", "How to reproduce")]
        contents = tag("ul", [tag("li", tag("a", text, href=href)) for href, text in links])
        return joined([tag("h1", tag("bdi", self.title)), tag("nav", contents, aria_label="Contents")])

    def measured(self) -> Markup:
        """Behind the finding, which is what a page is opened for."""
        facts: list[Markup] = []

        def fact(name: str, *lines: Content) -> None:
            facts.append(tag("dt", name))
            facts.append(tag("dd", [tag("span", line) for line in lines]))

        fact("systems" if self.several else "system", *map(self._whole_system, self.paper.runs))
        for benchmark in self._benchmarks:
            cells = self._of_benchmark(benchmark)
            places = [_direction(numbers) for numbers in cells]
            n = sum(len(numbers.cell) for numbers in cells)
            fact(_short_title(benchmark), f"{', '.join(dict.fromkeys(places))}; {n:,} sentences")
        fact("data", *self._data())
        fact("run", *dict.fromkeys(_when(run) for run in self.runs))
        fact("with", *dict.fromkeys(_versions(run) for run in self.runs))
        return tag("section", tag("h2", "What was measured"), tag("dl", facts, class_="facts"), id="measured")

    def _data(self) -> list[str]:
        """Which data by which rules; said once where all benchmarks have the same."""
        found = {(r.selection.benchmark, _data(r)): None for run in self.runs for r in run.results}
        kinds = dict.fromkeys(kind for _, kind in found)
        return list(kinds) if len(kinds) == 1 else [f"{_short_title(name)}: {kind}" for name, kind in found]

    def _whole_system(self, run: int) -> Content:
        """A run's label and, where that is short for it, its system as it was given."""
        whole, label = self.runs[run].system, self.explorer.systems[run]
        return [self.paper.system(run), [" ", tag("small", tag("bdi", whole))] if whole not in label else None]

    @property
    def _confidence(self) -> str:
        """Of the intervals of all runs: "95 %"."""
        used = [run.manifest["config"].get("resampling", {}).get("confidence", 0.95) for run in self.runs]
        return " and ".join(f"{100 * confidence:g} %" for confidence in dict.fromkeys(used))

    # -- the finding ---------------------------------------------------------------------------------------------------

    @property
    def _is_brief(self) -> bool:
        """Whether the opening says the main things about each only, and the rest stands further down."""
        return self.several or len(self.numbers) > _MOST_FINDINGS

    def finding(self) -> Markup:
        parts: list[Content] = [tag("h2", "The finding"), self._lead()]
        if self.several:
            parts.append(self._side_by_side())
        else:
            for benchmark in self._benchmarks:
                parts.append(tag("h3", tag("a", _title(benchmark), href=f"#{benchmark}")))
                parts.append(self._told(self._of_benchmark(benchmark), briefly=self._is_brief))
        if not self._benchmarks:
            parts.append(tag("p", "These runs hold no result."))
        parts += [tag("p", f"Not compared: {refusal}.", class_="warning") for refusal in self.differences.refusals]
        notes = [
            "More is said about each further down." if self._is_brief else "",
            f"Numbers in brackets are the ends of {self._confidence} intervals, resampled by groups of sentences "
            "that stand or fall together.",
            self._how_compared() if self.differences.found else "",
            "Numbers below that are underlined lead to the sentences behind them.",
        ]
        parts.append(tag("p", " ".join(note for note in notes if note), class_="note"))
        parts.append(self._figures(""))
        return tag("section", parts, id="finding")

    def _lead(self) -> Content:
        """How the later systems fare against the first, in one sentence each: by the leading metric of each place."""
        lines = []
        for run in self.paper.runs[1:]:
            found = [difference for difference in self.differences.of_run(run) if difference.is_leading]
            told: list[Content] = []
            for change in CHANGES:
                places = [self._place(difference) for difference in found if difference.change == change]
                if places:
                    many = len(places) > _MOST_PLACES
                    where = f"{len(places)} of {len(found)} comparisons" if many else ", ".join(places)
                    told += ["; " if told else ": ", self._change(change), f" in {where}"]
            if told:
                system, first = self.paper.system(run), self.paper.system(0)
                lines.append(tag("p", system, " against ", first, told, ".", class_="lead"))
        return lines

    def _place(self, difference: Difference) -> str:
        """A benchmark, with its direction where there are several."""
        cells = self._of_benchmark(difference.benchmark)
        here = next((n for n in cells if any(r.cell == difference.comparison.cell for _, r in n.results())), None)
        name = _short_title(difference.benchmark)
        return f"{name} {_direction(here)}" if here is not None and len(cells) > 1 else name

    def _change(self, change: str) -> Markup:
        shown = "no clear difference" if change == "unclear" else change
        return tag("strong", shown, class_=_change_class(change))

    def _side_by_side(self) -> list[Markup]:
        """The main finding about every system, and how it compares: a row for each benchmark and direction."""
        many = len(self.runs) > _MOST_SIDE_BY_SIDE
        class_ = "overview" if many else f"overview of-{len(self.runs)}"
        names = [tag("div", self.paper.system(run)) for run in self.paper.runs]
        rows = [] if many else [tag("div", tag("div"), names, class_=f"{class_} names")]
        for benchmark in self._benchmarks:
            cells = self._of_benchmark(benchmark)
            for place, numbers in enumerate(cells):
                link = tag("a", _short_title(benchmark), href=f"#{benchmark}")
                head: list[Content] = [tag("h3", link) if place == 0 else None]
                head.append(tag("p", _direction(numbers)) if len(cells) > 1 else None)
                leading = [d for run in self.paper.runs[1:] if (d := self._leading(numbers, run)) is not None]
                compared = f"compared by: {words.metric(*leading[0].key)}" if leading else ""
                head.append(tag("p", compared, class_="compared") if compared else None)
                told = [self._main(numbers, run, named=many) for run in self.paper.runs]
                rows.append(tag("div", tag("div", head), told, class_=class_))
        return rows

    def _main(self, numbers: CellNumbers, run: int, *, named: bool) -> Markup:
        result = numbers.cell.results[run]
        who: Content = [self.paper.system(run), ":"] if named else _marker(run)
        if result is None:
            return tag("div", tag("p", who, " not run."))
        comparison = self._comparison(numbers, run)
        sentence: Content = [who, f" {main_finding(result)}"]
        if named:
            return tag("div", tag("p", sentence, " ", comparison))
        return tag("div", tag("p", sentence), tag("p", comparison, class_="compared") if comparison else None)

    def _told(self, cells: Sequence[CellNumbers], *, briefly: bool) -> Markup:
        """What was found, side by side."""
        told = []
        for numbers in cells:
            for run, result in numbers.results():
                where = _direction(numbers) if len(cells) > 1 else None
                label = self.paper.system(run) if self.several else where
                sentences = findings_in_brief(result) if briefly else findings(result)
                paragraphs: list[Content] = [tag("p", sentence) for sentence in sentences]
                paragraphs.append(self._changes(numbers, run) if not briefly else None)
                told.append(tag("div", tag("h4", label) if label else None, paragraphs))
        return tag("div", told, class_="finding")

    def _leading(self, numbers: CellNumbers, run: int) -> Difference | None:
        first = numbers.cell.results[0]
        return self.differences.leading(first.cell, run) if first is not None else None

    def _comparison(self, numbers: CellNumbers, run: int) -> Content:
        """A later system against the first, in one sentence by one metric."""
        leading = self._leading(numbers, run)
        if leading is None:
            return None
        what, against, by = leading.sentence
        return [tag("strong", what, class_=_change_class(leading.change)), against, _marker(0), by]

    def _changes(self, numbers: CellNumbers, run: int) -> Content:
        """What a later system does worse or better than the first; what cannot be told comes last."""
        first = numbers.cell.results[0]
        found = self.differences.of(first.cell, run) if first is not None else []
        lines = []
        for change in CHANGES:
            phrases = "; ".join(phrases_of([d for d in found if d.change == change]))
            if not phrases:
                continue
            if change == "unclear":
                lines.append(tag("li", "No clear difference from ", _marker(0), f": {phrases}."))
            elif change == ABSENT:
                lines.append(tag("li", "Could not be compared with ", _marker(0), f": {phrases}."))
            else:
                word = tag("strong", change.capitalize(), class_=_change_class(change))
                lines.append(tag("li", word, " than ", _marker(0), f", by more than chance explains: {phrases}."))
        return tag("ul", lines, class_="changes") if lines else None

    def _how_compared(self) -> str:
        n = len(self.differences.found)
        return (
            f"Better and worse than the first system, sentence by sentence: p < {LEVEL} in a paired permutation test, "
            f"after Holm's correction for all {n} comparisons on this page; and an interval without 0."
        )

    # -- benchmark by benchmark ----------------------------------------------------------------------------------------

    def benchmarks(self) -> list[Markup]:
        return [self._benchmark(name) for name in self._benchmarks]

    def _benchmark(self, name: str) -> Markup:
        cells = self._of_benchmark(name)
        parts: list[Content] = [tag("h2", _title(name))]
        if len(cells) > 1:
            parts += [self.paper.tables(name, cells), self._figures(name)]
            parts += [self._cell(numbers) for numbers in cells]
        else:
            parts += [self._cell(cells[0], alone=True, before=self.paper.tables(name, cells))]
        return tag("section", parts, id=name)

    def _cell(self, numbers: CellNumbers, *, alone: bool = False, before: Content = None) -> Markup:
        cell = numbers.cell
        present = numbers.results()
        parts: list[Content] = [tag("h3", _direction(numbers))]
        parts.append(self._told([numbers], briefly=False) if self._is_brief else None)
        for run, result in present:
            who: Content = [self.paper.system(run), ": "] if self.several else None
            parts += [tag("p", who, f"{_sentence(text)}", class_="warning") for text in result.warnings]
        parts += [self._headline(numbers), before]
        if alone:
            parts.append(self._figures(numbers.benchmark))
        parts.append(self._figures(present[0][1].cell))
        matrices = [confusion(self.paper, numbers, run) for run, _ in present]
        if any(matrices):
            # The figure shows the same; here each count leads to its sentences.
            summary = tag("summary", "The gender expected and the gender read, with the sentences behind each count")
            parts.append(tag("details", summary, tag("div", [one for one in matrices if one], class_="matrices")))
        parts += [largest_gaps(self.paper, numbers, run) for run, _ in present]
        parts.append(self._tests(present))
        parts.append(self._comparison_table(numbers))
        parts += self._details(numbers, present)
        parts.append(self._estimates(numbers))
        return tag("section", parts, id=cell.name if " " not in cell.name else None)

    def _headline(self, numbers: CellNumbers) -> Markup:
        """Headline metrics, drawn with their intervals, all on one scale where they can share one."""
        benchmark = numbers.cell.benchmark
        present = numbers.results()
        first = present[0][1]
        metrics = benchmark.metrics(first.judgements, first.selection)
        wanted = [(m.name, m.slice) for m in metrics if benchmark.is_headline(m)]
        named = [tuple(name.split(":")) for name in _ALSO_SHOWN.get(numbers.benchmark, ())]
        wanted += [key for m in metrics if (key := (m.name, m.slice)) in named and key not in wanted]
        gaps = {(m.name, m.slice) for m in metrics if m.better == "zero"}
        bodies: list[Markup] = []
        last: tuple[float, float] | None = None
        # Shares first, then gaps: what is on one scale stands together.
        for key in sorted(wanted, key=lambda key: key in gaps):
            found = [(run, e) for run, result in present if (e := find(result, *key)) is not None]
            kin = [k for k in wanted if (k in gaps) == (key in gaps)] if numbers.benchmark != "uncertainty" else [key]
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
        return tag("td", _marker(run) if run is not None else None, class_="letter")

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
                name = [words.metric(*key), tag("span", judged, class_="interval")]
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
        return tag("span", f"{words.percent(min(share, 99))} % judged", class_="interval judged")

    def _tests(self, present: Sequence[tuple[int, Result]]) -> list[Markup]:
        """Each question once, with the answer for every system."""
        questions = dict.fromkeys(test.question for _, result in present for test in result.tests)
        paragraphs = []
        for question in questions:
            answers: list[Content] = []
            for run, result in present:
                p_values = [test.p_value for test in result.tests if test.question == question]
                if p_values:
                    who: Content = [_marker(run), " "] if self.several else None
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
            shown = words.value(c.difference, c.metric, numbers.benchmark)
            linked = [
                numbers.linked(run, c.metric, c.slice, x) for run, x in ((0, c.first), (difference.run, c.second))
            ]
            ends = [words.value(x, c.metric, numbers.benchmark) for x in (c.low, c.high)]
            p = "–" if c.p_adjusted is None else words.p_value(c.p_adjusted)
            rows.append(
                body_row(
                    [self.paper.system(difference.run), " ", words.metric(c.metric, c.slice)],
                    *linked,
                    [shown, tag("span", " to ".join(ends), class_="interval")],
                    p,
                    tag("span", difference.change, class_=_change_class(difference.change)),
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
        results = numbers.cell.results
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
                    tag("th", words.metric(metric), tag("span", metric, class_="interval"), scope="row", class_="text"),
                    tag("td", words.slice_name(part), class_="text"),
                    [tag("td", value) for value in values],
                )
            )
        names: list[Content] = ["metric", "slice"]
        for run in self.paper.runs:
            names += [self.paper.system(run) if self.several else "value", "judged"]
        summary = tag("summary", f"All {len(keys)} numbers")
        return tag("details", summary, table("", [head_row(*names)], rows))

    def _figures(self, cell: str) -> Content:
        """The figures of a cell, of a benchmark or, for an empty name, of all."""
        places = {*self._benchmarks, *(result.cell for run in self.runs for result in run.results)}
        found = [f for f in self.figures if (f.cell if f.cell in places else "") == cell]
        return tag("div", [_figure(figure) for figure in found], class_="figures") if found else None

    # -- how to get the same again -------------------------------------------------------------------------------------

    def reproduction(self) -> Markup:
        parts: list[Content] = [tag("h2", "How to reproduce")]
        for number, run in enumerate(self.runs):
            if self.several:
                parts.append(tag("h3", self.paper.system(number)))
            lines = commands(run.manifest, run.name)
            if lines:
                parts.append(tag("pre", tag("code", "\n".join(lines))))
            else:
                parts.append(tag("p", f"No command makes this run again; what it did stands in {run.name}."))
            parts += [tag("p", f"The system says: {_sentence(note)}") for note in run.manifest.get("notes", [])]
            signed = [tag("p", tag("code", result.signature), class_="signature") for result in run.results]
            summary = tag("summary", "Signatures: everything a number depends on")
            parts.append(tag("details", summary, signed, class_="signatures"))
        names = [run.name for run in self.runs]
        parts.append(tag("p", "This page:"))
        parts.append(tag("pre", tag("code", f"gendermark report {' '.join(_quoted(names))} -o report.html")))
        return tag("section", parts, id="reproduce")


def _quoted(names: Iterable[str]) -> list[str]:
    import shlex

    return [shlex.quote(name) for name in names]


def _change_class(change: str) -> str:
    return f"change {change}" if change in ("better", "worse") else "change"


def _answer(p: float | None) -> str:
    if p is None:
        return "too little data to say"
    return f"{'yes' if p < LEVEL else 'that cannot be told from chance'} ({words.p_value(p)})"


def _figure(figure: Figure) -> Markup:
    # An image cannot run a script, whatever is in it.
    address = f"data:image/svg+xml,{quote(figure.svg, safe=_SAFE_IN_ADDRESS, errors='replace')}"
    # Its size is said beforehand, so that nothing moves when it is drawn.
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', figure.svg)
    width, height = (round(float(length)) for length in size.groups()) if size else (None, None)
    image = tag("img", src=address, alt=f"{figure.title}. {figure.caption}", width=width, height=height)
    return tag("figure", image, tag("figcaption", tag("strong", f"{figure.title}. "), figure.caption))


_SAFE_IN_ADDRESS = " !$'()*+,-./:;=?@[]^_`{|}~"


def _cell_text(value: object) -> Content:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:g}".replace("-", "−")
    return f"{value:,}" if isinstance(value, int) else tag("bdi", str(value))


def _sentence(text: str) -> str:
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")


def _direction(numbers: CellNumbers) -> str:
    """A direction in words; with what sets it apart where two cells share it."""
    selection = numbers.cell.selection
    shown = words.direction(selection.source_language, selection.target_language)
    return shown if " " not in numbers.cell.name else f"{shown} ({numbers.cell.name.partition(' ')[2]})"


def _data(result: Result) -> str:
    selection = result.selection
    source = "the authors' own" if selection.data == "official" else f"{selection.data} (bundled with gendermark)"
    revision = f", revision {selection.revision}" if selection.revision else ""
    return f"{source}{revision}; rules {selection.rules}"


def _when(run: Run) -> str:
    written = str(run.manifest.get("written", ""))
    return written[:16].replace("T", " ") + " UTC" if len(written) >= 16 else "date unknown"


def _versions(run: Run) -> str:
    versions = run.manifest.get("versions", {})
    parts = [f"gendermark {run.manifest.get('gendermark', '?')}"]
    if isinstance(versions, Mapping):
        parts += [f"{name} {version}" for name, version in versions.items() if name != "platform"]
        parts += [f"on {versions['platform']}"] if "platform" in versions else []
    return ", ".join(parts)
