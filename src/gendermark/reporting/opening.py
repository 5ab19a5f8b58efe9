"""The opening of a page: what was found, in words, how the systems compare, and sentences that show it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from heapq import nsmallest
from urllib.parse import quote

from gendermark import registry
from gendermark.benchmarks.findings import Finding, direction, listed, lost_by_gender, rounded
from gendermark.markup import Content, Markup, minus, tag
from gendermark.reading.codes import RIGHT_TO_LEFT
from gendermark.records import Estimate, Gender, Judgement, Span, pieces
from gendermark.reporting.charts import Figure
from gendermark.reporting.differences import Difference, Differences, against_first, differences, phrases_of
from gendermark.reporting.figures import figures
from gendermark.reporting.findings import (
    ALIKE,
    Rates,
    Told,
    can_be_told,
    concluded,
    finding_about,
    found_in,
    in_brief,
    language_of,
    main_topic,
    place_name,
    rates_of,
)
from gendermark.reporting.numbers import CellNumbers, Paper, across, axis, letter_of
from gendermark.reporting.rows import Cell, Explorer, Filter, outcome_of
from gendermark.result import Result
from gendermark.runs.compare import ABSENT, ALPHA, CHANGES, FAMILY, Comparison, ComparisonReport
from gendermark.runs.folder import Run, Text
from gendermark.runs.gates import NOTHING_COMPARED, Check, Verdict

_MOST_NAMED = 3
"""Systems that are named in the title of a page."""
_MOST_FINDINGS = 12
"""With more directions of one system than this, the opening says the main things about each only."""


def title_of(benchmark: str) -> str:
    return str(registry.load("benchmark", benchmark).title)


def question_of(benchmark: str) -> str:
    return f"{title_of(benchmark)}: {registry.load('benchmark', benchmark).question}"


def marker(run: int) -> Markup:
    return tag("span", letter_of(run), class_=f"marker run-{run % 8}")


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
        drawn = figures({run.name: run.results for run in runs}, self._reports(), trend=trend)
        self.figures = [one for one in drawn if not one.name.endswith(".women-men")]  # the page has its own, in HTML

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
        return tag("div", [_embedded(figure) for figure in found], class_="figures") if found else None


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
    name = place_name(numbers.results()[0][1])
    return f"{name} ({numbers.told_apart})" if numbers.told_apart else name


def change_class(change: str) -> str:
    return f"change {change}" if change in ("better", "worse") else "change"


def sentence(text: str) -> str:
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")


def _embedded(figure: Figure) -> Markup:
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


_MOST_SIDE_BY_SIDE = 4
"""Systems in the opening; more stand in a list, with one sentence each."""
_MOST_LINES = 16
"""Of the picture, if it shows several benchmarks."""
_MOST_PLACES = 5
"""Benchmarks and directions that are named one by one in the lead; more are counted."""


class Opening(View):
    @cached_property
    def _by_identity(self) -> dict[int, Result]:
        return {id(result): concluded(result) for run in self.runs for result in run.results}

    def _corrected(self, result: Result) -> Result:
        """With its verdicts."""
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
            "Details below." if self.is_brief else "",
            f"CI: {self._confidence} confidence interval over groups of sentences, such as those about one occupation. "
            f"Significant: p < {ALPHA}, corrected for the questions of that result (Holm); counts and selections over "
            "several results use Benjamini-Hochberg.",
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
            parts.append(tag("p", "Based on ", self._titles(own), ".", class_="note"))
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
            n_lines = sum(len(lines) for groups in by_benchmark for _, lines in groups)
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
            lines: list[Line] = [
                (
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
            return [([link, f", {place}"], lines) for place, lines in by_place]
        return [(link, [line for _, lines in by_place for line in lines])] if by_place else []

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
        shown = "no significant difference" if change == "unclear" else change
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
        blocks = [shown_sentence(numbers.cell, item, self.paper.runs, names) for item in disagreements(numbers.cell)]
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
                    blocks = [shown_sentence(numbers.cell, item, [run], []) for item in beside]
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
                lines.append(tag("li", "No significant difference from ", marker(0), f": {phrases}."))
            elif change == ABSENT:
                lines.append(tag("li", "Could not be compared with ", marker(0), f": {phrases}."))
            else:
                word = tag("strong", change.capitalize(), class_=change_class(change))
                than = " against " if change == "changed" else " than "
                lines.append(tag("li", word, than, marker(0), f"; significant: {phrases}."))
        return tag("ul", lines, class_="changes") if lines else None

    def _how_compared(self) -> str:
        return (
            f"Better and worse than the first system, paired sentence by sentence: p < {ALPHA} after {FAMILY}, and an "
            "interval without 0. `gendermark compare` and `gendermark gate` say the same."
        )


_SCALE = (0.0, 100.0)
_HEIGHT = 24
_LANES = {"women": 7, "men": 17}
_SHAPES = {"women": "M0 -5.4L5.3 4.2H-5.3Z", "men": "M-4.8 0a4.8 4.8 0 1 0 9.6 0a4.8 4.8 0 1 0 -9.6 0Z"}
"""As in the figures."""
KEPT = "Of 100 sentences about women, and of 100 about men, how many keep the gender?"
BECOME = "Of 100 people whose gender is open, how many become women, how many men?"


Line = tuple[Content, Rates, str]
"""One row: what it is called, its rates, and the code of its language, by which a reader can choose."""
Group = tuple[Content, Sequence[Line]]
"""A heading, and the rows under it."""


def picture(groups: Sequence[Group], *, source_tells: bool, intervals: str) -> Markup:
    """All groups on one scale."""
    head = tag(
        "tr",
        tag("th"),
        tag("td", axis(_SCALE), class_="drawn"),
        tag("th", "women", scope="col"),
        tag("th", "men", scope="col"),
        tag("th", "gap", scope="col"),
        tag("td"),
    )
    bodies = [
        tag(
            "tbody",
            tag("tr", tag("th", heading, colspan=6, scope="rowgroup", class_="group")),
            [_row(*line) for line in lines],
            data_place=lines[0][2] if len({code for _, _, code in lines}) == 1 else None,
        )
        for heading, lines in groups
    ]
    legend = tag(
        "caption",
        tag("strong", KEPT if source_tells else BECOME),
        " ",
        _key("women"),
        " women, ",
        _key("men"),
        f" men. Lines: {intervals} intervals. The grey band is the gap, in points, rounded after subtracting: bold if "
        "it is significant.",
    )
    table = tag("table", legend, tag("thead", head), bodies, class_="dumbbells")
    return tag("div", table, class_="scroll", tabindex=0, role="group", aria_label="Women and men")


def _row(label: Content, rates: Rates, code: str) -> Markup:
    gap = (rates.men.value or 0.0) - (rates.women.value or 0.0)
    shown = minus(f"{gap:+.0f}") if round(gap) else "0"
    is_clear = rates.kind is not ALIKE
    return tag(
        "tr",
        tag("th", label, scope="row", class_="text"),
        tag("td", _dumbbell(rates), class_="drawn"),
        tag("td", _number(rates.women)),
        tag("td", _number(rates.men)),
        tag("td", tag("strong", shown) if is_clear else shown),
        tag("td", tag("span", "" if is_clear else "not significant", class_="interval"), class_="text"),
        data_place=code,
    )


def _number(estimate: Estimate) -> Content:
    ends: Content = None
    if estimate.low is not None and estimate.high is not None:
        ends = tag("span", f"{rounded(estimate.low)} to {rounded(estimate.high)}", class_="interval")
    return [rounded(estimate.value), ends]


def _dumbbell(rates: Rates) -> Markup:
    women, men = (across(estimate.value or 0.0, _SCALE) for estimate in (rates.women, rates.men))
    middle = _HEIGHT / 2
    parts = [
        tag("line", x1=across(0, _SCALE), x2=across(100, _SCALE), y1=middle, y2=middle, class_="track"),
        tag("line", x1=women, x2=men, y1=middle, y2=middle, class_="gap"),
        *_dot("women", rates.women),
        *_dot("men", rates.men),
    ]
    return tag("svg", parts, height=_HEIGHT, aria_hidden="true")


def _dot(who: str, estimate: Estimate) -> list[Markup]:
    y = _LANES[who]
    parts = []
    if estimate.low is not None and estimate.high is not None:
        start, end = across(estimate.low, _SCALE), across(estimate.high, _SCALE)
        parts.append(tag("line", x1=start, x2=end, y1=y, y2=y, class_=f"whisker {who}"))
    shape = tag("path", d=_SHAPES[who], class_=f"dot {who}")
    return [*parts, tag("svg", shape, x=across(estimate.value or 0.0, _SCALE), y=y)]


def _key(who: str) -> Markup:
    shape = tag("path", d=_SHAPES[who], class_=f"dot {who}", transform="translate(6 6)")
    return tag("svg", shape, width=12, height=12, class_="key", aria_hidden="true")


_LONGEST = 160
"""Characters of a sentence that is shown beside a finding."""
_MOST_TRIED = 5_000
"""Translations of each kind that are looked at, the first ones; no published set has more."""
_WORDS = {"feminine": "as a woman", "masculine": "as a man", "neutral": "with no gender"}


def sentences(cell: Cell, run: int, finding: Finding, used: set[str]) -> list[str]:
    """The items to show: of each kind one, about the same person where that can be, none that was shown before."""
    if cell.results[run] is None or not finding.shows:
        return []
    kinds: list[list[Judgement]] = [[] for _ in finding.shows]
    lengths: dict[str, int] = {}
    for _, judgement, text in cell.rows_of(run):
        length = _length(text)
        if not judgement.spans or length > 2 * _LONGEST or judgement.item_id in used:
            continue
        for kind, is_shown in zip(kinds, finding.shows, strict=True):
            if len(kind) < _MOST_TRIED and is_shown(judgement):
                kind.append(judgement)
                lengths[judgement.item_id] = length
        if all(len(kind) >= _MOST_TRIED for kind in kinds):
            break
    if not kinds[0]:
        return []
    chosen = min(_together(kinds), key=lambda found: sum(lengths[j.item_id] for j in found))
    used.update(j.item_id for j in chosen)
    return [j.item_id for j in chosen]


def disagreements(cell: Cell) -> list[str]:
    """Two short sentences that some systems have right and others wrong: about women, if there are such.

    The more even the division, the better it tells.
    """
    runs = [run for run, result in enumerate(cell.results) if result is not None]

    def each() -> Iterator[tuple[tuple[bool, int, int], str]]:
        for _, some, texts in cell.rows(runs):
            judged = [j for j in some if j is not None and j.spans and j.observed is not None]
            if len(judged) < len(runs):
                continue
            right = sum(j.is_correct for j in judged)
            length = max(map(_length, texts))
            if right not in (0, len(runs)) and length <= 2 * _LONGEST:
                is_man = judged[0].expected is not Gender.FEMININE
                yield (is_man, abs(2 * right - len(runs)), length), judged[0].item_id

    return [item_id for _, item_id in nsmallest(2, each())]


def _together(kinds: Sequence[Sequence[Judgement]]) -> Iterator[tuple[Judgement, ...]]:
    """Sentences that differ in little: versions of one another; else about the same person; else any."""
    first, *others = kinds
    if not others or not others[0]:
        yield from ((j,) for j in first)
        return
    for shared in ("contrast", "entity"):
        partners = defaultdict(list)
        for j in others[0]:
            if getattr(j, shared):
                partners[getattr(j, shared)].append(j)
        found = [(j, partner) for j in first for partner in partners[getattr(j, shared)]]
        if found:
            yield from found
            return
    yield first[0], others[0][0]


def _length(text: Text | None) -> int:
    return len(text.source) + len(text.translation or "") if text is not None else 0


def shown_sentence(cell: Cell, item_id: str, runs: Sequence[int], name_of: Sequence[Content]) -> Markup:
    """A sentence with what each of these systems made of it; `name_of` is empty where there is only one."""
    number = cell.number_of(item_id) or 0
    cell.must_show.add(number)
    _, source = cell.item(number)
    context = cell.context(number)
    selection = cell.selection
    parts: list[Content] = [tag("p", context, class_="context", **_language(selection.source_language))]
    parts = parts if context else []
    parts.append(tag("p", source.source, class_="source", **_language(selection.source_language)))
    for run in runs:
        judgement, text = cell.judgement(run, number), cell.text(run, number)
        if judgement is None or text is None:
            continue
        who: Content = [name_of[run], " "] if name_of else None
        marked = tag("span", _marked(text.translation or "", judgement.spans), **_language(selection.target_language))
        outcome = outcome_of(judgement, draws=cell.benchmark.draws)
        parts.append(tag("p", who, marked, " ", tag("span", _came_out(judgement, outcome), class_=f"result {outcome}")))
    return tag("blockquote", parts, class_="telling")


def _came_out(judgement: Judgement, outcome: str) -> str:
    read = _WORDS.get(str(judgement.observed), "")
    if not read or outcome in ("mixed", "undecided", "failed"):
        return f"({outcome})"
    return f"({outcome}: {read})" if judgement.expected in ("feminine", "masculine") else f"({read})"


def _language(code: str) -> dict[str, str | None]:
    return {"lang": code, "dir": "rtl" if code in RIGHT_TO_LEFT else "ltr"}


def _marked(text: str, spans: Sequence[Span]) -> list[Content]:
    return [tag("mark", piece) if is_marked else piece for piece, is_marked in pieces(text, spans)]
