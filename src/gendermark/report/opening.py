"""The opening of a page: what was found, in words, and how the systems compare."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from gendermark.benchmarks.findings import lost_by_gender
from gendermark.markup import Content, Markup, tag
from gendermark.report.cells import Filter
from gendermark.report.differences import Difference, against_first, phrases_of
from gendermark.report.findings import can_be_told, corrected, finding_about, found_in, in_brief, main_topic
from gendermark.report.numbers import CellNumbers
from gendermark.report.picture import Group, Line, picture
from gendermark.report.shown import disagreements, sentences, shown
from gendermark.report.verdict import ALIKE, Rates, Told, rates_of
from gendermark.report.view import View, change_class, code_of, direction_of, marker, place_of, question_of, title_of
from gendermark.result import Result
from gendermark.runs.compare import ABSENT, ALPHA, CHANGES, FAMILY, Comparison, ComparisonReport
from gendermark.runs.gates import NOTHING_COMPARED, Check

_MOST_SIDE_BY_SIDE = 4
"""Systems in the opening; more stand in a list, with one sentence each."""
_MOST_LINES = 16
"""Of the picture, if it shows several benchmarks."""
_MOST_PLACES = 5
"""Benchmarks and directions that are named one by one in the lead; more are counted."""


class Opening(View):
    @cached_property
    def _by_identity(self) -> dict[int, Result]:
        every = [result for run in self.runs for result in run.results]
        return {id(result): other for result, other in zip(every, corrected(every), strict=True)}

    def _corrected(self, result: Result) -> Result:
        """With p-values corrected over everything on the page."""
        return self._by_identity[id(result)]

    @property
    def _confidence(self) -> str:
        """Of the intervals of all runs: "95 %"."""
        used = [run.manifest["config"].get("resampling", {}).get("confidence", 0.95) for run in self.runs]
        return " and ".join(f"{100 * confidence:g} %" for confidence in dict.fromkeys(used))

    def finding(self) -> Markup:
        parts: list[Content] = [tag("h2", "The finding"), self._gate()]
        parts += [self._lost(), self._verdicts(), self._pictures()]
        if self.several:
            parts += [self._for_example(), self._where_they_disagree(), self._lead(), self._side_by_side()]
        else:
            for benchmark in self.benchmarks:
                parts.append(tag("h3", tag("a", question_of(benchmark), href=f"#{benchmark}")))
                parts.append(self._told(self.of_benchmark(benchmark), briefly=self.is_brief))
        if not self.benchmarks:
            parts.append(tag("p", "These runs hold no result."))
        parts += [tag("p", f"Not compared: {refusal}.", class_="warning") for refusal in self.differences.refusals]
        notes = [
            "More is said about each further down." if self.is_brief else "",
            f"Numbers in brackets are the ends of {self._confidence} intervals, by groups of sentences that stand or "
            f"fall together. What is said to be more than chance has p < {ALPHA} after Holm's correction over "
            "everything that is told here.",
            self._how_compared() if self.differences.found else "",
            "Numbers below that are underlined lead to the sentences behind them.",
        ]
        parts.append(tag("p", " ".join(note for note in notes if note), class_="note"))
        parts.append(self.figures_of(""))
        return tag("section", parts, id="finding")

    def _gate(self) -> Content:
        """What a gate failed on, before everything else."""
        if self.gate is None:
            return None
        sentence = tag("p", tag("strong", f"{self.gate.sentence[:1].upper()}{self.gate.sentence[1:]}."))
        failed = [
            tag("li", f"{self._checked(check)}: {check.finding}")
            for check in self.gate.failures
            if check is not NOTHING_COMPARED
        ]
        class_ = "gate passed" if self.gate.passed else "gate failed"
        return tag("div", sentence, tag("ul", failed) if failed else None, class_=class_)

    def _checked(self, check: Check) -> str:
        """Benchmark, direction and metric of a check, in words."""
        for numbers in self.numbers:
            if any(result.cell == check.cell for _, result in numbers.results()):
                place = f"{title_of(numbers.benchmark)}, {direction_of(numbers)}"
                return f"{place}, {numbers.cell.benchmark.label(check.metric, check.slice)}"
        return f"{check.cell}, {check.metric}"

    # -- the verdict, and its picture ----------------------------------------------------------------------------------

    def _verdicts(self) -> Content:
        """What the largest benchmark says stands out, first of those whose source tells the gender; then the others."""
        told: dict[tuple[str, str], list[str]] = {}
        for benchmark in self._by_weight:
            verdict, though = self._verdict(benchmark)
            if verdict:
                told.setdefault((verdict, though), []).append(benchmark)
        if not told:
            return None
        ((verdict, though), own), *others = told.items()
        parts: list[Content] = [tag("p", verdict, class_="verdict")]
        if others or len(own) > 1:
            parts.append(tag("p", "So says ", self._titles(own), ".", class_="note"))
        parts.append(tag("p", though, class_="lead") if though else None)
        lines = [tag("li", self._titles(names), f": {' '.join(filter(None, text))}") for text, names in others]
        return [*parts, tag("ul", lines, class_="verdicts") if lines else None]

    def _titles(self, benchmarks: Sequence[str]) -> list[Content]:
        links = [tag("a", title_of(name), href=f"#{name}") for name in benchmarks]
        return [[", " if place else "", link] for place, link in enumerate(links)]

    @cached_property
    def _by_weight(self) -> list[str]:
        """Benchmarks whose source tells the gender first, and the larger before the smaller."""

        def weight(benchmark: str) -> tuple[bool, int]:
            cells = self.of_benchmark(benchmark)
            return cells[0].cell.benchmark.presentation.sides is not None, sum(len(numbers.cell) for numbers in cells)

        return sorted(self.benchmarks, key=weight, reverse=True)

    def _verdict(self, benchmark: str) -> tuple[str, str]:
        """One sentence, and what else is clear."""
        cells = self.of_benchmark(benchmark)
        asked = cells[0].cell.benchmark.presentation.two_rates
        if asked is None:
            return "", ""
        metric, _, part = asked.gap.partition(":")

        def compared(place: int, first: int, second: int) -> Comparison | None:
            found = self._pair(first, second).comparisons
            results = cells[place].cell.results[first]
            key = (results.cell if results is not None else "", metric, part)
            return next((c for c in found if c.key == key), None)

        rates = [[self._rates(numbers, run) for run in self.paper.runs] for numbers in cells]
        told = Told([place_of(numbers) for numbers in cells], self.explorer.systems, rates, compared)
        return told.sentence(), " ".join(filter(None, [told.largest(), *self._though(cells, rates)]))

    def _though(self, cells: Sequence[CellNumbers], rates: Sequence[Sequence[Rates | None]]) -> list[str]:
        """What else is clear about systems that show no difference between women and men: stereotypes, mostly."""
        told = []
        for run in self.paper.runs:
            own = [(numbers, found[run]) for numbers, found in zip(cells, rates, strict=True) if found[run]]
            if not own or any(found is not None and found.kind is not ALIKE for _, found in own):
                continue
            others = [
                (finding, place_of(numbers))
                for numbers, _ in own
                if (result := numbers.cell.results[run]) is not None
                for finding in found_in(self._corrected(result))
            ]
            finding, place = max(others, key=lambda one: one[0].effect)
            if finding.effect > 0:
                about = [f"with {self.explorer.systems[run]}"] if self.several else []
                about += [f"in {place}"] if len(cells) > 1 else []
                start = f"But {' '.join(about)}, " if about else "But "
                told.append(f"{start}{finding.text[:1].lower()}{finding.text[1:]}")
        return told

    def _rates(self, numbers: CellNumbers, run: int) -> Rates | None:
        result = numbers.cell.results[run]
        return rates_of(self._corrected(result)) if result is not None and can_be_told(result) else None

    def _pair(self, first: int, second: int) -> ComparisonReport:
        """Any two systems, as `compare` has them; those with the first are known."""
        if (first, second) not in self._pairs:
            known = first == 0
            results = [self.runs[run].results for run in (first, second)]
            self._pairs[first, second] = self.differences.reports[second - 1] if known else against_first(*results)
        return self._pairs[first, second]

    @cached_property
    def _pairs(self) -> dict[tuple[int, int], ComparisonReport]:
        return {}

    def _lost(self) -> list[Markup]:
        """Where one gender is left untranslated more often than the other."""
        warnings = []
        for numbers in self.numbers:
            for run, result in numbers.results():
                for lost in lost_by_gender(result):
                    who: Content = [self.paper.system(run), ", "] if self.several else None
                    where = f"{title_of(numbers.benchmark)}, {direction_of(numbers)}: "
                    warnings.append(tag("p", who, where, lost.text, class_="warning"))
        return warnings

    def _pictures(self) -> list[Markup]:
        """Women and men, system by system and language by language: those whose gender is told, then the others."""
        drawn = []
        for source_tells in (True, False):
            by_benchmark = [groups for name in self._by_weight if (groups := self._groups(name, source_tells))]
            n_lines = sum(len(group.lines) for groups in by_benchmark for group in groups)
            first = by_benchmark[:1] if n_lines > _MOST_LINES else by_benchmark
            for part in (first, by_benchmark[len(first) :]):
                if part:
                    together = [group for groups in part for group in groups]
                    drawn.append(picture(together, source_tells=source_tells, intervals=self._confidence))
        # One picture opens the page; what does not fit beside it can be opened.
        rest = tag("details", tag("summary", "The same picture of the other benchmarks"), drawn[1:])
        return [*drawn[:1], rest] if len(drawn) > 1 else drawn

    def _groups(self, benchmark: str, source_tells: bool) -> list[Group]:
        by_place: list[tuple[str, list[Line]]] = []
        for numbers in self.of_benchmark(benchmark):
            rates = {run: found for run, _ in numbers.results() if (found := self._rates(numbers, run)) is not None}
            lines = [
                Line(
                    tag("bdi", self.explorer.systems[run]) if self.several else direction_of(numbers),
                    found,
                    code_of(numbers),
                )
                for run, found in rates.items()
                if found.source_tells is source_tells
            ]
            if lines:
                by_place.append((direction_of(numbers), lines))
        link = tag("a", title_of(benchmark), href=f"#{benchmark}")
        if self.several:
            return [Group([link, f", {place}"], lines) for place, lines in by_place]
        return [Group(link, [line for _, lines in by_place for line in lines])] if by_place else []

    def _where_they_disagree(self) -> Content:
        n = sum(map(len, self.explorer.matches(Filter(differ="yes"))))
        if not n:
            return None
        whole = sum(map(len, self.explorer.cells))
        link = tag("a", f"{n:,} sentences on which the systems disagree", href=Filter(differ="yes").link)
        return tag("p", "Read the ", link, f", of {whole:,}.", class_="lead")

    def _for_example(self) -> Content:
        """Sentences that show the finding, of the first place that has any."""
        for numbers in self.numbers:
            if disagreements(numbers.cell):
                where = f"For example, {title_of(numbers.benchmark)}, {direction_of(numbers)}:"
                return [tag("p", where, class_="note"), self._on_which_they_differ(numbers)]
        return None

    def _lead(self) -> Content:
        """How the later systems fare against the first, in one sentence each: by the leading metric of each place."""
        lines = []
        for run in self.paper.runs[1:]:
            compared = [difference for difference in self.differences.of_run(run) if difference.is_leading]
            labels = {difference.label for difference in compared}
            start = f", by {labels.pop()}: " if len(labels) == 1 else ": "
            told: list[Content] = []
            for change in CHANGES:
                places = [self._place(difference) for difference in compared if difference.change == change]
                if places:
                    many = len(places) > _MOST_PLACES
                    where = f"{len(places)} of {len(compared)} comparisons" if many else ", ".join(places)
                    told += ["; " if told else start, self._change(change), f" in {where}"]
            if told:
                system, first = self.paper.system(run), self.paper.system(0)
                lines.append(tag("p", system, " against ", first, told, ".", class_="lead"))
        return [tag("h3", "Against the first system, over all sentences"), lines] if lines else None

    def _place(self, difference: Difference) -> str:
        """A benchmark, with its direction where there are several."""
        cells = self.of_benchmark(difference.benchmark)
        here = next((n for n in cells if any(r.cell == difference.comparison.cell for _, r in n.results())), None)
        name = title_of(difference.benchmark)
        if here is None or len(cells) == 1:
            return name
        return place_of(here) if len(self.benchmarks) == 1 else f"{name} {place_of(here)}"

    def _change(self, change: str) -> Markup:
        shown = "no clear difference" if change == "unclear" else change
        return tag("strong", shown, class_=change_class(change))

    def _side_by_side(self) -> list[Markup]:
        """The main finding about every system, and how it compares: a row for each benchmark and direction."""
        many = len(self.runs) > _MOST_SIDE_BY_SIDE
        class_ = "overview" if many else f"overview of-{len(self.runs)}"
        names = [tag("div", self.paper.system(run)) for run in self.paper.runs]
        rows = [] if many else [tag("div", tag("div"), names, class_=f"{class_} names")]
        for benchmark in self.benchmarks:
            cells = self.of_benchmark(benchmark)
            for place, numbers in enumerate(cells):
                link = tag("a", title_of(benchmark), href=f"#{benchmark}")
                head: list[Content] = [tag("h3", link) if place == 0 else None]
                head.append(tag("p", direction_of(numbers)) if len(cells) > 1 else None)
                about = main_topic([self._corrected(result) for _, result in numbers.results()])
                told = [self._main(numbers, run, about, named=many) for run in self.paper.runs]
                rows.append(tag("div", tag("div", head), told, class_=class_, data_place=code_of(numbers)))
        return rows

    def _on_which_they_differ(self, numbers: CellNumbers) -> Markup:
        """Two sentences on which the systems disagree, with what each made of them."""
        names = [tag("strong", tag("bdi", name), ":") for name in self.explorer.systems]
        blocks = [shown(numbers.cell, item, self.paper.runs, names) for item in disagreements(numbers.cell)]
        return tag("div", blocks, class_="shown", data_place=code_of(numbers))

    def _main(self, numbers: CellNumbers, run: int, about: str, *, named: bool) -> Markup:
        result = numbers.cell.results[run]
        who: Content = [self.paper.system(run), ":"] if named else marker(run)
        if result is None:
            return tag("div", tag("p", who, " not run."))
        comparison = self._comparison(numbers, run)
        sentence: Content = [who, f" {finding_about(self._corrected(result), about)}"]
        if named:
            return tag("div", tag("p", sentence, " ", comparison))
        return tag("div", tag("p", sentence), tag("p", comparison, class_="compared") if comparison else None)

    def _told(self, cells: Sequence[CellNumbers], *, briefly: bool) -> Markup:
        """What was found, side by side."""
        told = []
        for numbers in cells:
            for run, result in numbers.results():
                where = direction_of(numbers) if len(cells) > 1 else None
                label = self.paper.system(run) if self.several else where
                told_of = self._corrected(result)
                used: set[str] = set()
                paragraphs: list[Content] = []
                for finding in in_brief(told_of) if briefly else found_in(told_of):
                    is_shown = finding.effect > 0 and not self.several
                    beside = sentences(numbers.cell, run, finding, used) if is_shown else []
                    blocks = [shown(numbers.cell, item, [run], []) for item in beside]
                    paragraphs.append(tag("div", tag("p", finding.text), blocks, class_="told"))
                paragraphs.append(self._changes(numbers, run) if not briefly else None)
                told.append(tag("div", tag("h4", label) if label else None, paragraphs, data_place=code_of(numbers)))
        return tag("div", told, class_="finding" if self.several else "finding alone")

    def _comparison(self, numbers: CellNumbers, run: int) -> Content:
        """A later system against the first, in one sentence by one metric."""
        leading = self.leading(numbers, run)
        if leading is None:
            return None
        what, against, by = leading.sentence
        start = f"{leading.label[:1].upper()}{leading.label[1:]}: "
        changed = tag("strong", f"{what[:1].lower()}{what[1:]}", class_=change_class(leading.change))
        return [start, changed, against, marker(0), by]

    def _changes(self, numbers: CellNumbers, run: int) -> Content:
        """What a later system does worse or better than the first; what cannot be told comes last."""
        first = numbers.cell.results[0]
        changes = self.differences.of(first.cell, run) if first is not None else []
        lines = []
        for change in CHANGES:
            phrases = "; ".join(phrases_of([d for d in changes if d.change == change]))
            if not phrases:
                continue
            if change == "unclear":
                lines.append(tag("li", "No clear difference from ", marker(0), f": {phrases}."))
            elif change == ABSENT:
                lines.append(tag("li", "Could not be compared with ", marker(0), f": {phrases}."))
            else:
                word = tag("strong", change.capitalize(), class_=change_class(change))
                than = " against " if change == "changed" else " than "
                lines.append(tag("li", word, than, marker(0), f", by more than chance explains: {phrases}."))
        return tag("ul", lines, class_="changes") if lines else None

    def _how_compared(self) -> str:
        return (
            f"Better and worse than the first system, paired sentence by sentence: p < {ALPHA} after {FAMILY}, and an "
            "interval without 0. `gendermark compare` and `gendermark gate` say the same."
        )
