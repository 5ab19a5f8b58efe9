"""Some runs side by side, as a page shows them: their cells, which of them are under test, and links to sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from gendermark import registry
from gendermark.names import is_control
from gendermark.records import Estimate
from gendermark.reporting import document
from gendermark.reporting.document import Number, Section, System
from gendermark.reporting.figures import against_first, figures
from gendermark.reporting.findings import by_weight, language_of, place_name
from gendermark.reporting.phrases import direction
from gendermark.reporting.rows import Cell, Explorer, Filter
from gendermark.reporting.tables import find
from gendermark.result import Result
from gendermark.runs.compare import Comparison
from gendermark.runs.folder import Run


def title_of(benchmark: str) -> str:
    return str(registry.load("benchmark", benchmark).title)


def leading_key(benchmark: str) -> tuple[str, str]:
    """The one metric by which systems are compared in a sentence."""
    about = registry.load("benchmark", benchmark)
    metric, _, part = (about.presentation.leading or about.measures.headline[0]).partition(":")
    return metric, part or "all"


class CellView:
    """One benchmark and direction, for every run that has it."""

    def __init__(self, cell: Cell, *, several: bool) -> None:
        self.cell, self._several = cell, several
        self.benchmark = cell.selection.benchmark
        self.results = [(run, result) for run, result in enumerate(cell.results) if result is not None]
        self.first = self.results[0][1]
        self.apart = cell.name.partition(" ")[2]
        """What sets this cell apart from others of its direction: "context joined"."""

    @property
    def direction(self) -> str:
        """ "English → Spanish", with what sets it apart where two cells share it."""
        return self._with(direction(self.cell.selection.source_language, self.cell.selection.target_language))

    @property
    def place(self) -> str:
        return self._with(place_name(self.first))

    @property
    def code(self) -> str:
        """The language by which a reader can choose it."""
        return language_of(self.first)

    def _with(self, name: str) -> str:
        return f"{name} ({self.apart})" if self.apart else name

    def number(self, run: int, metric: str, part: str = "all", *, with_interval: bool = True) -> Number:
        """An estimate that leads to its sentences."""
        estimate = find(self.cell.results[run], metric, part)
        return Number(estimate, with_interval, self.filter(run, metric, part, estimate).link)

    def filter(self, run: int, metric: str, part: str, estimate: Estimate | None) -> Filter:
        """Which sentences a number is made of."""
        name, judged_only = self.cell.slice_of(self._totals.get((metric, part), ""))
        verdict, system = "judged" if judged_only else "", self.system_field(run)
        found = Filter(cell=self.cell.name, slice=name, verdict=verdict, system=system)
        # Where none has the outcome there is nothing behind the number but what it is a share of.
        is_none = estimate is not None and estimate.value == 0
        return found if is_none else replace(found, **self.cell.benchmark.describe(metric).behind)

    def system_field(self, run: int) -> str:
        return str(run) if self._several else ""

    @cached_property
    def _totals(self) -> dict[tuple[str, str], str]:
        """The column that counts the sentences of each metric."""
        metrics = self.cell.benchmark.measures.metrics(self.first.judgements, self.first.selection)
        return {(metric.name, metric.slice): metric.total for metric in metrics}


class View:
    """Everything that a page shows, before it is put into words."""

    def __init__(self, runs: Sequence[Run], *, trend: bool = False) -> None:
        self.runs, self.explorer = runs, Explorer.of(runs)
        self.several = len(runs) > 1
        under_test = [place for place, run in enumerate(runs) if not is_control(run.system)]
        self.tested = under_test or list(range(len(runs)))
        """The runs that a page is about; the others are controls."""
        self.cells = [CellView(cell, several=self.several) for cell in self.explorer.cells]
        self.benchmarks = by_weight([result for run in runs for result in run.results])
        first = self.runs[self.tested[0]].results if runs else ()
        reports = {runs[run].name: against_first(first, runs[run].results) for run in self.tested[1:]}
        by_run = list(zip(self.tested[1:], reports.values(), strict=True))
        self._compared = [(run, c) for run, report in by_run for c in report.comparisons]
        self.refusals = list(dict.fromkeys(text for _, one in by_run for text in (*one.refusals, *one.notes)))
        self._figures = figures({run.name: run.results for run in runs}, reports, trend=trend)

    def results(self) -> list[tuple[CellView, int, Result]]:
        """Those of the systems under test, in the order of a page."""
        return [
            (cell, run, result)
            for name in self.benchmarks
            for cell in self.of(name)
            for run, result in cell.results
            if run in self.tested
        ]

    def of(self, benchmark: str) -> list[CellView]:
        return [cell for cell in self.cells if cell.benchmark == benchmark]

    def label(self, run: int) -> str:
        name = self.explorer.systems[run]
        return name if run in self.tested else f"{name.removesuffix(' (fake)')} (control)"

    def system(self, run: int, *, with_name: bool = True) -> System:
        """A run in a heading: with its letter, where there are several."""
        return System(self.label(run), run if self.several else None, with_name or not self.several)

    def compared(self, *, cell: str = "", leading: bool = False) -> list[tuple[int, Comparison]]:
        """Later systems under test against the first; `leading`: by one metric of each benchmark only."""
        return [
            (run, c)
            for run, c in self._compared
            if cell in ("", c.cell) and (not leading or (c.metric, c.slice) == leading_key(c.cell.partition(".")[0]))
        ]

    def cell(self, name: str) -> CellView:
        """The cell that has this result."""
        return next(one for one in self.cells if any(result.cell == name for _, result in one.results))

    def figures(self, cell: str) -> list[document.Section]:
        """The figures of a cell, of a benchmark or, for an empty name, of all."""
        places = {*self.benchmarks, *(result.cell for run in self.runs for result in run.results)}
        found = [one for one in self._figures if (one.cell if one.cell in places else "") == cell]
        # The picture that opens the page has women and men already.
        found = [one for one in found if ".women-men" not in one.name]
        drawn = [document.Figure(one.title, one.caption, one.svg) for one in found]
        return [Section("", drawn, kind="figures")] if drawn else []
