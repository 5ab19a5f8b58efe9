"""What all parts of a page share: its runs, their rows, numbers, differences and figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from gendermark import registry
from gendermark.benchmarks.findings import direction, listed
from gendermark.drawing.sheet import Figure
from gendermark.markup import Content, Markup, tag
from gendermark.report import verdict, words
from gendermark.report.differences import Difference, Differences, differences
from gendermark.report.explorer import Explorer
from gendermark.report.figures import figures
from gendermark.report.numbers import CellNumbers
from gendermark.report.paper_tables import Paper
from gendermark.report.verdict import language_of
from gendermark.runs.compare import ComparisonReport
from gendermark.runs.folder import Run
from gendermark.runs.gates import Verdict

_MOST_NAMED = 3
"""Systems that are named in the title of a page."""
_MOST_FINDINGS = 12
"""With more directions of one system than this, the opening says the main things about each only."""


def title_of(benchmark: str) -> str:
    return str(registry.load("benchmark", benchmark).title)


def question_of(benchmark: str) -> str:
    return f"{title_of(benchmark)}: {registry.load('benchmark', benchmark).question}"


def marker(run: int) -> Markup:
    return tag("span", words.letter(run), class_=f"marker run-{run % 8}")


class View:
    """Everything that is shown, before it is put into words."""

    def __init__(
        self, runs: Sequence[Run], explorer: Explorer, *, trend: bool = False, gate: Verdict | None = None
    ) -> None:
        self.runs, self.explorer, self.gate = runs, explorer, gate
        self.several = len(runs) > 1
        self.paper = Paper(explorer, marker)
        self.numbers = [CellNumbers(explorer, cell) for cell in explorer.cells]
        self.differences = differences([run.results for run in runs]) if self.several else Differences()
        self.figures = figures({run.name: run.results for run in runs}, self._reports(), trend=trend)

    def _reports(self) -> dict[str, ComparisonReport]:
        """The comparisons once more, run by run, for the figures."""
        return {
            run.name: report for run, report in zip(self.runs[1:], self.differences.reports, strict=bool(self.several))
        }

    @property
    def title(self) -> str:
        if len(self.runs) > _MOST_NAMED:
            return f"Gender in translation: {len(self.runs)} systems side by side"
        if self.several:
            return f"Gender in translation: {listed(self.explorer.systems)}"
        return f"Gender in translation: {self.explorer.systems[0]}" if self.runs else "Gender in translation"

    def of_benchmark(self, benchmark: str) -> list[CellNumbers]:
        return [numbers for numbers in self.numbers if numbers.benchmark == benchmark]

    @property
    def benchmarks(self) -> list[str]:
        return list(dict.fromkeys(numbers.benchmark for numbers in self.numbers))

    @property
    def is_brief(self) -> bool:
        """Whether the opening says the main things about each only, and the rest stands further down."""
        return self.several or len(self.numbers) > _MOST_FINDINGS

    def leading(self, numbers: CellNumbers, run: int) -> Difference | None:
        first = numbers.cell.results[0]
        return self.differences.leading(first.cell, run) if first is not None else None

    def figures_of(self, cell: str) -> Content:
        """The figures of a cell, of a benchmark or, for an empty name, of all."""
        places = {*self.benchmarks, *(result.cell for run in self.runs for result in run.results)}
        found = [f for f in self.figures if (f.cell if f.cell in places else "") == cell]
        return tag("div", [_drawn(figure) for figure in found], class_="figures") if found else None


def direction_of(numbers: CellNumbers) -> str:
    """A direction in words; with what sets it apart where two cells share it."""
    selection = numbers.cell.selection
    shown = direction(selection.source_language, selection.target_language)
    return f"{shown} ({numbers.told_apart})" if numbers.told_apart else shown


def code_of(numbers: CellNumbers) -> str:
    """The language by which a reader can choose a cell."""
    return language_of(numbers.results()[0][1])


def place_of(numbers: CellNumbers) -> str:
    """What a verdict calls a cell."""
    name = verdict.place_of(numbers.results()[0][1])
    return f"{name} ({numbers.told_apart})" if numbers.told_apart else name


def change_class(change: str) -> str:
    return f"change {change}" if change in ("better", "worse") else "change"


def sentence(text: str) -> str:
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")


def _drawn(figure: Figure) -> Markup:
    # An image cannot run a script, whatever is in it.
    head, end, body = figure.svg.partition(">")
    svg = f"{head}{end}{_ON_DARK_PAGES}{body}"
    address = f"data:image/svg+xml,{quote(svg, safe=_SAFE_IN_ADDRESS, errors='replace')}"
    # Its size is said beforehand, so that nothing moves when it is drawn.
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', figure.svg)
    width, height = (round(float(length)) for length in size.groups()) if size else (None, None)
    image = tag("img", src=address, alt=f"{figure.title}. {figure.caption}", width=width, height=height)
    return tag("figure", image, tag("figcaption", tag("strong", f"{figure.title}. "), figure.caption))


_ON_DARK_PAGES = "<style>@media screen and (prefers-color-scheme:dark){svg{color:#e7e5e0}}</style>"
"""Lines and letters have the colour of the text around them, which an image does not know."""
_SAFE_IN_ADDRESS = " !$'()*+,-./:;=?@[]^_`{|}~"
