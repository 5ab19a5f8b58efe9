"""The report as one standalone HTML page: verdict, picture and findings; then all details."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import nsmallest
from pathlib import Path
from typing import Any

from gendermark import registry
from gendermark.benchmarks.findings import Place
from gendermark.io.textfiles import write_text
from gendermark.markup import minus
from gendermark.metrics.metric import SLICES, key_from
from gendermark.metrics.verdicts import ALPHA, LEAST_GROUPS, LEAST_GROUPS_NEAR_A_BOUND, State
from gendermark.names import is_control
from gendermark.reading.codes import NAMES, RIGHT_TO_LEFT
from gendermark.records import Estimate, Gender, Judgement, Unit
from gendermark.records import Table as Values
from gendermark.reporting import document as doc
from gendermark.reporting import findings, html, phrases
from gendermark.reporting.charts import percent, scale_around, signed
from gendermark.reporting.document import Block, Inline, Text
from gendermark.reporting.figures import against_first, figures
from gendermark.reporting.reproduce import commands
from gendermark.reporting.rows import GENDERS, MISSING, OBSERVED, OUTCOME, OUTCOMES, Cell, Explorer, Filter, outcome_of
from gendermark.reporting.tables import find, form_table
from gendermark.result import Result
from gendermark.runs import folder
from gendermark.runs.compare import ABSENT, CHANGES, FAMILY, IN_WORDS, Comparison
from gendermark.runs.folder import Run, read_run
from gendermark.runs.gates import NOTHING_COMPARED, Check, Verdict


def title_of(benchmark: str) -> str:
    return str(registry.load("benchmark", benchmark).title)


class View:
    """The content of a page."""

    def __init__(self, runs: Sequence[Run], *, trend: bool = False) -> None:
        self.runs, self.explorer = runs, Explorer(runs)
        self.several = len(runs) > 1
        under_test = [place for place, run in enumerate(runs) if not is_control(run.system)]
        self.tested = under_test or list(range(len(runs)))
        """The systems under test; the other runs are controls."""
        self.cells = self.explorer.cells
        self.benchmarks = findings.by_weight([result for run in runs for result in run.results])
        first = self.runs[self.tested[0]].results if runs else ()
        reports = {runs[run].name: against_first(first, runs[run].results) for run in self.tested[1:]}
        by_run = list(zip(self.tested[1:], reports.values(), strict=True))
        self._compared = [(run, c) for run, report in by_run for c in report.comparisons]
        self.refusals = list(dict.fromkeys(text for _, one in by_run for text in (*one.refusals, *one.notes)))
        self._figures = figures({run.name: run.results for run in runs}, reports, trend=trend)

    def results(self, *benchmarks: str) -> list[tuple[Cell, int, Result]]:
        return [
            (cell, run, result)
            for name in benchmarks or self.benchmarks
            for cell in self.of(name)
            for run, result in cell.present
            if run in self.tested
        ]

    def of(self, benchmark: str) -> list[Cell]:
        return [cell for cell in self.cells if cell.benchmark.name == benchmark]

    def label(self, run: int) -> str:
        name = self.explorer.systems[run]
        audited = Path(self.runs[run].manifest["config"].get("audited", ""))
        if not self.several and audited.stem == name:
            return audited.name  # a better subject of a sentence: "part.csv favours men"
        return name if run in self.tested or "control" in name else f"{name} (control)"

    def system(self, run: int, *, with_name: bool = True) -> doc.System:
        return doc.System(self.label(run), run if self.several else None, with_name or not self.several)

    def compared(self, *, cell: str = "", leading: bool = False) -> list[tuple[int, Comparison]]:
        return [
            (run, c)
            for run, c in self._compared
            if cell in ("", c.cell)
            and (not leading or (c.metric, c.slice) == findings.leading_key(self.cell(c.cell).benchmark))
        ]

    def cell(self, name: str) -> Cell:
        return next(one for one in self.cells if one.first.cell == name)

    def figures(self, cell: str) -> list[doc.Section]:
        """The figures of a cell or a benchmark; with an empty name, those of all."""
        places = {*self.benchmarks, *(result.cell for run in self.runs for result in run.results)}
        found = [one for one in self._figures if (one.cell if one.cell in places else "") == cell]
        # The opening picture already shows women and men.
        found = [one for one in found if ".women-men" not in one.name]
        return [doc.Section("", found, kind="figures")] if found else []


MOST_NAMED = 3
"""Maximum systems, languages or places to list by name; more are counted."""
_MOST_FINDINGS = 5
_MOST_LINES = 8
"""Of the picture, if it shows several benchmarks."""
_MOST_ROWS = 16
"""Table rows in the opening; more are folded."""
_KEPT = "How many women and men keep their gender?"
_UNSPECIFIED = "People of unspecified gender"


def write_page(path: Path, directories: Sequence[Path | str]) -> None:
    write_text(path, render_page([read_run(directory) for directory in dict.fromkeys(map(str, directories))]))


def render_page(runs: Sequence[Run], *, trend: bool = False, gate: Verdict | None = None, home: str = "") -> str:
    """The whole page; `trend`: the runs are versions of one system, in order.

    `gate`: show what a gate found first; `home`: link to a parent page.
    """
    view = View(runs, trend=trend)
    report = [_opening(view, gate), _measured(view), *(benchmark_section(view, name) for name in view.benchmarks)]
    return html.render(
        "page.html",
        _title(view),
        script=html.asset("page.js"),
        contents=_contents(view, home),
        places={code: NAMES.get(code, code) for code in sorted({cell.code for cell in view.cells}, key=_name)},
        report=report,
        after=[_reproduction(view)],
        # After the report, which determines rows that must be included.
        rows=html.embedded_json({**_rows(view), "words": names_for_people(view.explorer, view.benchmarks)}),
    )


def _rows(view: View) -> dict[str, Any]:
    """The embedded rows, with a note for the script if they are a sample."""
    rows = view.explorer.embedded()
    n, n_all = (sum(cell[key] for cell in rows["cells"]) for key in ("n", "n_all"))
    if n == n_all:
        return rows
    command = f"gendermark ui {shlex.join(run.name for run in view.runs)}"
    return {**rows, "sample": {"n": n, "all": n_all, "command": command}}


def names_for_people(explorer: Explorer, benchmarks: Iterable[str]) -> dict[str, Any]:
    return {
        "languages": NAMES,
        "right_to_left": sorted(RIGHT_TO_LEFT),
        "slices": {**SLICES, **{name: c.benchmark.slice_label(name) for c in explorer.cells for name in c.slices}},
        "benchmarks": {name: title_of(name) for name in sorted(benchmarks)},
    }


def _title(view: View) -> str:
    names = [view.label(run) for run in view.tested]
    names[:1] = [name[:1].upper() + name[1:] if findings.called(name) != name else name for name in names[:1]]
    who = doc.listed(names) if len(names) <= MOST_NAMED else f"{phrases.counted(len(names)).capitalize()} systems"
    if not names or not view.cells:
        return who or "No results"
    return f"{who}: {_directions(view.cells)}"


def _directions(cells: Sequence[Cell]) -> str:
    sources = dict.fromkeys(_name(cell.selection.source_language) for cell in cells)
    targets = dict.fromkeys(_name(cell.selection.target_language) for cell in cells)
    from_, into = (
        doc.listed(list(some)) if len(some) <= MOST_NAMED + 1 else f"{len(some)} languages"
        for some in (sources, targets)
    )
    return f"{from_} → {into}"


def _name(code: str) -> str:
    return NAMES.get(code, code)


def _contents(view: View, home: str) -> list[tuple[str, str]]:
    links = [(home, "All systems")] if home else []
    links += [("#finding", "Summary"), ("#measured", "What was measured")]
    links += [(f"#{name}", title_of(name)) for name in view.benchmarks]
    links += [("#sentences", "The sentences")]
    links += [(Filter(differ="yes").link, "Where systems disagree")] if view.several else []
    return [*links, ("#reproduce", "How to reproduce")]


# -- the opening -------------------------------------------------------------------------------------------------------


def _opening(view: View, gate: Verdict | None) -> doc.Section:
    systems = [(view.label(run), view.runs[run].results) for run in view.tested]
    blocks: list[Block] = [] if gate is None else [_gate(view, gate)]
    blocks.append(doc.Paragraph(findings.verdict(systems), "verdict"))
    if view.benchmarks:
        blocks += [*_toys(view), _basis(view), *_missing(view), *_pictures(view), *_findings(view)]
        blocks += _all_results(view)
        blocks += [*_against_first(view), _note(view)]
    return doc.Section("Summary", blocks, id="finding")


def _gate(view: View, gate: Verdict) -> doc.Section:
    failed: list[Text] = [
        f"{_checked(view, check)}: {check.finding}" for check in gate.failures if check is not NOTHING_COMPARED
    ]
    blocks: list[Block] = [doc.Paragraph(doc.Strong(as_sentence(gate.sentence)))]
    kind = "gate passed" if gate.passed else "gate failed"
    return doc.Section("", [*blocks, doc.Bullets(failed)] if failed else blocks, kind=kind)


def _checked(view: View, check: Check) -> str:
    for cell in view.cells:
        if cell.first.cell == check.cell:
            label = cell.benchmark.label(check.metric, check.slice)
            return f"{cell.benchmark.title}, {cell.direction}, {label}"
    return f"{check.cell}, {check.metric}"


def _toys(view: View) -> list[Block]:
    toys = [view.label(run) for run in view.tested if view.runs[run].system.startswith("demo:")]
    if not toys:
        return []
    who = f"{findings.called(toys[0])} is a toy" if len(toys) == 1 else f"{doc.listed(toys)} are toys"
    trained = "trained on deliberately stereotyped sentences to show what a finding looks like"
    return [doc.Paragraph(f"{who[:1].upper()}{who[1:]}, {trained}.", "basis")]


def _basis(view: View) -> doc.Paragraph:
    cells = view.of(view.benchmarks[0])
    sizes = sorted({len(cell) for cell in cells})
    what = f"{sizes[0]:,} sentences" if len(sizes) == 1 else f"{sizes[0]:,}–{sizes[-1]:,} sentences"
    what += f" in each of {phrases.counted(len(cells))} translation directions" if len(cells) > 1 else ""
    what = _people(cells) if cells[0].benchmark.reads_any_text else what
    results = [result for *_, result in view.results(view.benchmarks[0])]
    judged = [share for result in results if (share := findings.judged_percent(result)) is not None]
    covered = f"; could be judged: {phrases.percent_range(judged)} of translations" if judged else ""
    if judged and cells[0].benchmark.reads_any_text:
        covered = f"; could be judged: {phrases.percent_range(judged)} of people, with those that show no gender"
    n_more = len(view.benchmarks) - 1
    more = f" {phrases.counted(n_more).capitalize()} more benchmark{'s' if n_more > 1 else ''} below." if n_more else ""
    link = doc.Link(title_of(view.benchmarks[0]), f"#{view.benchmarks[0]}")
    return doc.Paragraph(["Based on ", link, f": {what}; {_data(cells[0].first)}{covered}.{more}"], "basis")


def _people(cells: Sequence[Cell]) -> str:
    texts = {cell.item(number)[1].source for cell in cells for number in range(len(cell))}
    return f"{sum(len(cell) for cell in cells):,} people in {len(texts):,} texts"


def _missing(view: View) -> list[Block]:
    """Missing results and sentences, unjudgeable translations, and impossible comparisons."""
    lines: list[Text] = []
    few = [
        f"{_where(view, cell, run)} {phrases.rounded(share)}%"
        for cell, run, result in view.results()
        if (share := findings.judged_percent(result)) is not None and share < findings.FEW_JUDGED
        if not any(text.startswith("only ") for text in result.warnings)  # which has the counts
    ]
    if few:
        shown = doc.listed(few) if len(few) <= 2 * MOST_NAMED else f"{len(few)} of {len(view.results())} results"
        lines.append(
            f"Fewer than {findings.FEW_JUDGED:.0f}% of translations show a gender that could be judged: {shown}."
        )
    for cell in view.cells:
        present = {run for run, _ in cell.present}
        absent = [view.label(run) for run in view.tested if run not in present]
        if absent:
            lines.append(f"{cell.benchmark.title}, {cell.direction}: not run for {doc.listed(absent)}.")
    for cell, run, result in view.results():
        found = [*result.warnings, *(one.text for one in phrases.lost_by_gender(result))]
        lines += [f"{_where(view, cell, run)}: {as_sentence(text)}" for text in found]
    lines += [f"Not compared: {as_sentence(text)}" for text in view.refusals]
    lines = list(dict.fromkeys(lines))
    shown_first, rest = lines[:MOST_NAMED], lines[MOST_NAMED:]
    blocks: list[Block] = [doc.Paragraph(line, "warning") for line in shown_first]
    return [*blocks, doc.Section(f"{len(rest)} more warnings", [doc.Bullets(rest)], folded=True)] if rest else blocks


def _where(view: View, cell: Cell, run: int | None = None, *, with_benchmark: bool = True) -> str:
    """Identify a result as far as necessary: system (if given), benchmark, language."""
    parts = [view.label(run)] if len(view.tested) > 1 and run is not None else []
    has_places = len(view.of(cell.benchmark.name)) > 1
    if with_benchmark and (len(view.benchmarks) > 1 or not (parts or has_places)):
        parts.append(cell.benchmark.title)
    parts += [cell.place] if has_places else []
    return (" " if run is None else ", ").join(parts)


# -- the picture -------------------------------------------------------------------------------------------------------


def _pictures(view: View) -> list[Block]:
    """Women and men, by system and language: the opening benchmark, the others folded."""
    drawn: list[tuple[str, Block]] = []
    for source_tells in (True, False):
        by_benchmark = [groups for name in view.benchmarks if (groups := _groups(view, name, source_tells))]
        n_lines = sum(len(rows) for groups in by_benchmark for _, rows in groups)
        first = by_benchmark[:1] if n_lines > _MOST_LINES else by_benchmark
        for part in (first, by_benchmark[len(first) :]):
            if part:
                whom = findings.among(row["rates"] for groups in part for _, rows in groups for row in rows)
                data = {
                    "question": f"{_UNSPECIFIED}: translated as women and as men, % of {whom}." if whom else _KEPT,
                    "source_tells": source_tells,
                    "intervals": f"{_confidence(view)} CI",
                    "groups": [group for groups in part for group in groups],
                }
                drawn.append(("Other benchmarks" if source_tells else _UNSPECIFIED, doc.Drawing("picture", data)))
    titles = dict.fromkeys(title for title, _ in drawn[1:])
    folded = [doc.Section(title, [one for fold, one in drawn[1:] if fold == title], folded=True) for title in titles]
    return [*(one for _, one in drawn[:1]), *folded]


def _groups(view: View, benchmark: str, source_tells: bool) -> list[tuple[Text, list[Mapping[str, Any]]]]:
    link = doc.Link(title_of(benchmark), f"#{benchmark}")
    by_cell = []
    for cell in view.of(benchmark):
        rows = [
            _picture_row(view.label(run) if view.several else cell.direction, rates, cell.code)
            for run, result in cell.present
            for rates in findings.all_rates(result)
            if rates.source_tells is source_tells
        ]
        if rows:
            by_cell.append((cell.direction, rows))
    if view.several:
        return [([link, f", {place}"], rows) for place, rows in by_cell]
    return [(link, [row for _, rows in by_cell for row in rows])] if by_cell else []


def _picture_row(label: Text, rates: findings.Rates, code: str) -> Mapping[str, Any]:
    gap = round((rates.men.value or 0.0) - (rates.women.value or 0.0))
    said = phrases.state(rates.gap) if rates.gap is not None else ""
    shown: dict[str, Text] = {}
    for who, found, counts in zip(("women", "men"), (rates.women, rates.men), rates.in_counts, strict=True):
        if rates.is_too_few:
            shown[who] = counts
            continue
        ends = "–".join(phrases.rounded(end) for end in (found.low, found.high) if end is not None)
        shown[who] = [phrases.rounded(found.value), doc.Small(ends) if ends else None]
    bold = said == phrases.SIGNIFICANT and gap != 0
    return {
        **shown,
        "label": label,
        "rates": rates,
        "place": code,
        "gap": "–" if rates.is_too_few else signed(gap),
        "bold": bold,
        "state": said,
    }


def _confidence(view: View) -> str:
    used = [run.manifest["config"].get("resampling", {}).get("confidence", 0.95) for run in view.runs]
    return " and ".join(f"{100 * confidence:g}%" for confidence in dict.fromkeys(used))


# -- findings ----------------------------------------------------------------------------------------------------------


def _findings(view: View) -> list[Block]:
    """Three to five findings with example sentences: of the opening benchmark, then of the others."""
    found: list[Block] = []
    used: set[str] = set()
    for name in view.benchmarks:
        own = view.results(name)
        start = f"{title_of(name)}: " if len(view.benchmarks) > 1 else ""
        if len(own) == 1:
            ((cell, run, result),) = own
            own_findings = (
                findings.found_in(result) if not found else [one for one in findings.found_in(result) if one.effect > 0]
            )
            for one in own_findings:
                # A count has no effect size, and its sentences are what it is about.
                is_shown = one.effect > 0 or one.amount is None
                shown = _examples_of_finding(cell, run, one, used) if is_shown else []
                found.append(replace(one, text=f"{start}{one.text}", examples=shown))
        elif own:
            over = _over_results(view, own, start, used)
            found += over if not found else [one for one in over if one.effect > 0]
    found = found[:_MOST_FINDINGS]
    if len(view.tested) > 1:
        found += _disagreement(view)
    return [doc.Section("Findings", found, level=3, kind="findings")] if found else []


def _over_results(view: View, own: Sequence[tuple[Cell, int, Result]], start: str, used: set[str]) -> list[doc.Finding]:
    """In how many results something is found, and where it is largest."""
    by_what: dict[str, list[tuple[Cell, int, doc.Finding]]] = {}
    for cell, run, result in own:
        for one in findings.found_in(result):
            if one.what and one.amount is not None:
                by_what.setdefault(one.what, []).append((cell, run, one))
    said = _range(view, own, start)
    for what, some in by_what.items():
        sure = [some[place] for place in findings.significant([one for *_, one in some])]
        if not sure:
            said.append(doc.Finding(f"{start}{what}: significant in none of {len(some)} results."))
            continue
        cell, run, largest = sure[0]
        signs = {one.value > 0 for *_, one in sure}
        side = "" if len(signs) > 1 else _side(largest)
        amount = phrases.points(largest.amount, turned=True) if largest.amount is not None else ""
        text = f"{start}{what}: significant in {len(sure)} of {len(some)} results{side}"
        where = _where(view, cell, run, with_benchmark=False)
        shown = _examples_of_finding(cell, run, largest, used)
        said.append(replace(largest, text=f"{text}; largest: {where}, {amount}.", examples=shown))
    return said


def _range(view: View, own: Sequence[tuple[Cell, int, Result]], start: str) -> list[doc.Finding]:
    """Where the leading metric is lowest and highest."""
    metric, part = findings.leading_key(own[0][0].benchmark)
    found = [(e.value, cell, run, e) for cell, run, one in own if (e := one.find(metric, part)) and e.value is not None]
    if len(found) < 2:
        return []
    ends = [min(found, key=lambda one: one[0]), max(found, key=lambda one: one[0])]
    unit = "%" if ends[0][3].unit is Unit.PERCENT else ""
    label = own[0][0].benchmark.label(metric, part)
    low, high = (f"{e.shown}{unit} ({_where(view, cell, run, with_benchmark=False)})" for _, cell, run, e in ends)
    return [doc.Finding(f"{start}{label[:1].upper()}{label[1:]}: from {low} to {high}.")]


def _side(finding: doc.Finding) -> str:
    for favoured in ("in favour of men", "in favour of women"):
        if favoured in finding.text:
            return f", always {favoured}"
    _, _, side = finding.text.partition("; ")
    return f" ({side.removesuffix('.')})" if side else ""


def _disagreement(view: View) -> list[Block]:
    """How often the systems disagree, with examples from the first cell that has any."""
    sizes = [len(cell) for cell in view.explorer.cells]
    n, whole = sum(map(len, view.explorer.matches(Filter(differ="yes")))), sum(sizes)
    if not n:
        return []
    over = f" ({sizes[0]:,} sentences × {len(sizes)} directions)" if len(set(sizes)) == 1 < len(sizes) else ""
    link = doc.Link(f"{n:,} of {whole:,} cases", Filter(differ="yes").link)
    systems = [view.system(run) for run in range(len(view.runs))]
    for cell in (cell for name in view.benchmarks for cell in view.of(name)):
        if shown := _examples_of_disagreement(cell, view.tested[: MOST_NAMED + 1], systems):
            where = f"{over}; for example{f', in {_where(view, cell)}' if len(view.cells) > 1 else ''}:"
            text = doc.Paragraph(["The systems disagree on ", link, where])
            return [text, doc.Section("", shown, kind="shown", place=cell.code)]
    return [doc.Paragraph(["The systems disagree on ", link, "."])]


def _all_results(view: View) -> list[Block]:
    results = view.results()
    if len(view.benchmarks) < 2:
        return []
    rows: list[Sequence[Text]] = []
    for cell, run, result in results:
        rates = findings.rates_of(result)
        name: list[Inline] = [doc.Link(cell.benchmark.title, f"#{cell.benchmark.name}")]
        if cell.benchmark.title.casefold() != cell.benchmark.name:
            name.append(doc.Small(f" {cell.benchmark.name}"))
        name += [f", {cell.place}"] if len(view.of(cell.benchmark.name)) > 1 else []
        who: list[Text] = [view.system(run)] if len(view.tested) > 1 else []
        numbers: list[Text] = ["–", "–", "–"]
        if rates is not None and rates.is_too_few:
            numbers = [*rates.in_counts, "–"]
        elif rates is not None:
            numbers = [doc.Number(rates.women), doc.Number(rates.men), doc.Number(rates.gap)]
        # The benchmark's questions; without intervals, as their unbiased values differ.
        questions = (replace(e, low=None, high=None) for e in findings.concluded(result).estimates if e.state)
        asked = rates.gap if rates is not None else next(questions, None)
        concluded_: Text = phrases.state(asked) if asked is not None else phrases.TOO_FEW
        if rates is None and asked is not None and asked.state != State.TOO_FEW:
            concluded_ = doc.Link("see below", f"#{cell.benchmark.name}")
        rows.append([name, *who, *numbers, concluded_])
    caption = "Women and men who keep their gender, in percent, and the gap (men minus women), with CI."
    if of := findings.among(rates for *_, result in results for rates in findings.all_rates(result)[:1]):
        caption += f" Where the source does not specify gender: translated as women and as men, % of {of}."
    caption = " ".join([caption, *_caveats([cell for cell, *_ in results])])
    names = ["benchmark", "system"] if len(view.tested) > 1 else ["benchmark"]
    columns = [*names, "women, %", "men, %", "gap, points", "verdict"]
    table = doc.Table(columns, rows, caption, n_text=len(names))
    return [doc.Section("All benchmarks", [table], level=3, folded=len(rows) > _MOST_ROWS, kind="results")]


def _caveats(cells: Iterable[Cell]) -> list[str]:
    """How the setting of a benchmark changes what its numbers mean."""
    found = {cell.benchmark.title: cell.benchmark.presentation.caveat(cell.selection) for cell in cells}
    return [f"{title}: {text}." for title, text in found.items() if text]


def _against_first(view: View) -> list[Block]:
    """The later systems compared with the first: sentences for a few, and the numbers."""
    leading, gaps = view.compared(leading=True), [(run, c) for run, c in view.compared() if _is_gap(view, c)]
    if not leading:
        return list(view.figures(""))
    blocks: list[Block] = []
    few = view.tested[1:] if len(view.tested) <= MOST_NAMED + 1 else []
    for run, found in ((run, found) for run in few for found in (leading, gaps) if found):
        of_run = [c for other, c in found if other == run]
        labels = {view.cell(c.cell).benchmark.label(c.metric, c.slice) for c in of_run}
        by = f", {labels.pop()}" if len(labels) == 1 else ""
        own = [(c.change(), view.cell(c.cell)) for c in of_run]
        text: list[Inline] = [view.system(run), " vs. ", view.system(view.tested[0]), by]
        for number, change in enumerate(change for change in CHANGES if change in dict(own)):
            places = [_where(view, cell) for found, cell in own if found == change]
            where = doc.listed(places) if len(places) <= 2 * MOST_NAMED else f"{len(places)} of {len(own)} comparisons"
            said = "no significant difference" if change == "unclear" else IN_WORDS.get(change, change)
            tone = change if change in ("better", "worse") else ""
            text += [
                "; " if number else ": ",
                doc.Strong(said, tone),
                f" {'for' if change == ABSENT else 'in'} {where}",
            ]
        blocks.append(doc.Paragraph([*text, "."], "lead"))
    table = comparison_table(view, [*leading, *(one for one in gaps if one not in leading)])
    folded = doc.Section("Numbers and figure of this comparison", [table, *view.figures("")], folded=True)
    return [
        doc.Section(["Compared with ", view.system(view.tested[0]), " (the first run)"], [*blocks, folded], level=3)
    ]


def _is_gap(view: View, c: Comparison) -> bool:
    sides = view.cell(c.cell).benchmark.presentation.sides
    return sides is not None and key_from(sides.gap) == (c.metric, c.slice)


def _note(view: View) -> doc.Section:
    notes = [
        f"CI: {_confidence(view)} confidence interval over groups of sentences, such as those about one occupation.",
        f"Too few to tell: fewer than {LEAST_GROUPS} groups of women or of men ({LEAST_GROUPS_NEAR_A_BOUND} if both "
        "rates are at least 95% or at most 5%), or too few translations judged.",
        f"Significant: p < {ALPHA} after Holm's correction over the tests of one result; where the summary counts "
        "results or names the largest, after Benjamini–Hochberg over all of them.",
    ]
    if any(result.selection.rules == "best" for *_, result in view.results()):
        notes.append("Corrected rules: how they differ from the published ones is in gendermark's docs/benchmarks/.")
    if view.compared():
        notes.append(f"Systems are compared sentence by sentence; significant: p < {ALPHA} after {FAMILY}.")
    if len(view.tested) < len(view.runs):
        notes.append("Controls are programs of known bias, shown for comparison.")
    text = doc.Paragraph(" ".join([*notes, "Underlined numbers link to their sentences."]), "note")
    return doc.Section("Definitions: CI, significant, too few to tell", [text], folded=True)


# -- what was measured, and how to reproduce it ------------------------------------------------------------------------


def _measured(view: View) -> doc.Section:
    systems: list[Text] = []
    for number, run in enumerate(view.runs):
        # Give the full spec if the label is short for it.
        is_short = run.system != "files" and run.system not in view.label(number)
        systems.append([view.system(number), doc.Small(f" {run.system}")] if is_short else view.system(number))
    facts: list[tuple[str, Sequence[Text]]] = [("systems" if view.several else "system", systems)]
    for name in view.benchmarks:
        cells = view.of(name)
        n = sum(len(cell) for cell in cells)
        size = _people(cells) if cells[0].benchmark.reads_any_text else f"{n:,} sentences"
        facts.append((title_of(name), [f"{_directions(cells)}; {size}"]))
    data = {(result.selection.benchmark, _data(result)): None for run in view.runs for result in run.results}
    kinds = list(dict.fromkeys(kind for _, kind in data))
    facts += [
        ("data", kinds if len(kinds) == 1 else [f"{title_of(name)}: {kind}" for name, kind in data]),
        ("date", list(dict.fromkeys(map(_when, view.runs)))),
        ("software", list(dict.fromkeys(map(_versions, view.runs)))),
    ]
    return doc.Section("What was measured", [doc.Drawing("facts", facts)], id="measured")


def _data(result: Result) -> str:
    selection = result.selection
    kind, _, path = selection.data.partition(":")
    core = "written for gendermark (core data), not the official sentences"
    source = "official data" if kind == "official" else f"own file {path}" if path else core
    digest = result.signed.get("data", "").partition(",")[0].rpartition("-")[2]
    revision = f", revision {selection.revision}{f' ({digest})' if digest else ''}" if selection.revision else ""
    own = registry.load("benchmark", selection.benchmark).reads_any_text and selection.rules == "best"
    return f"{source}{revision}" if own else f"{source}{revision}; {selection.rules_in_words}"


def _when(run: Run) -> str:
    written = str(run.manifest.get("written", ""))
    when = written[:16].replace("T", " ") + " UTC" if len(written) >= 16 else "date unknown"
    if run.system.partition(":")[0] != "files":
        return when
    return f"scored {when[:10]}, from files; date and version of the translations not recorded"


def _versions(run: Run) -> str:
    versions = run.manifest.get("versions", {})
    parts = [f"gendermark {run.manifest.get('gendermark', '?')}"]
    if isinstance(versions, Mapping):
        parts += [f"{name} {version}" for name, version in versions.items() if name != "platform"]
        parts += [f"on {versions['platform']}"] if "platform" in versions else []
    return ", ".join(parts)


def _reproduction(view: View) -> doc.Section:
    blocks: list[Block] = []
    for number, run in enumerate(view.runs):
        lines = commands(run.manifest, run.name)
        parts: list[Block] = [doc.Code("\n".join(lines))] if lines else []
        parts += (
            [] if lines else [doc.Paragraph(f"No single command repeats this run; its settings are in {run.name}.")]
        )
        parts += [doc.Paragraph(f"Note: {as_sentence(note)}") for note in run.manifest.get("notes", [])]
        signatures = doc.Bullets([result.signature for result in run.results])
        parts.append(
            doc.Section("Signatures: everything a number depends on", [signatures], folded=True, kind="signatures")
        )
        blocks += [doc.Section(view.system(number), parts, level=3)] if view.several else parts
    files = [str(run.manifest["config"].get("audited", "")) for run in view.runs]
    named = [f"{name}={run.name}" if (name := run.manifest.get("name")) else run.name for run in view.runs]
    # An audit leaves its run folders only on request.
    verb, words = ("audit", list(dict.fromkeys(files))) if all(files) else ("report", named)
    blocks += [
        doc.Paragraph("This page, under any name:"),
        doc.Code(f"gendermark {verb} {shlex.join(words)} -o {verb}.html"),
    ]
    return doc.Section("How to reproduce", blocks, id="reproduce")


_LONGEST = 160
"""Characters of an example sentence."""
_MOST_TRIED = 5_000
"""Translations of each kind to search, the first ones; no published set has more."""
_SHOWS = {"feminine": "as a woman", "masculine": "as a man", "neutral": "with no gender"}


def _examples_of_finding(cell: Cell, run: int, finding: doc.Finding, used: set[str]) -> list[doc.Example]:
    """Sentences of each kind that illustrate a finding, about the same person if possible; none is used twice."""
    if cell.results[run] is None or not finding.shows:
        return []
    kinds: list[list[Judgement]] = [[] for _ in finding.shows]
    lengths: dict[str, int] = {}
    for (judgement,), (text,) in cell.rows([run]):
        length = _length(text)
        if judgement is None or not judgement.spans or length > 2 * _LONGEST or judgement.item_id in used:
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
    return [_example(cell, j.item_id, [run], []) for j in chosen]


def _examples_of_disagreement(cell: Cell, runs: Sequence[int], systems: Sequence[doc.System]) -> list[doc.Example]:
    """Two short sentences that some systems get right and others wrong, about women if possible."""
    present = [run for run in runs if cell.results[run] is not None]

    def each() -> Iterator[tuple[tuple[bool, int, int], str]]:
        for some, texts in cell.rows(present):
            judged = [j for j in some if j is not None and j.spans and j.observed is not None]
            if len(judged) < len(present):
                continue
            right = sum(j.is_correct for j in judged)
            length = max(map(_length, texts))
            if right not in (0, len(present)) and length <= 2 * _LONGEST:
                is_man = judged[0].expected is not Gender.FEMININE
                # Prefer even splits.
                yield (is_man, abs(2 * right - len(present)), length), judged[0].item_id

    return [_example(cell, item_id, present, systems) for _, item_id in nsmallest(2, each())]


def _together(kinds: Sequence[Sequence[Judgement]]) -> Iterator[tuple[Judgement, ...]]:
    """Sentences that differ minimally: versions of one another; else about the same person; else any."""
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


def _length(text: folder.Text | None) -> int:
    return len(text.source) + len(text.translation or "") if text is not None else 0


def _example(cell: Cell, item_id: str, runs: Sequence[int], systems: Sequence[doc.System]) -> doc.Example:
    number = cell.number_of(item_id) or 0
    cell.must_show.add(number)
    translations = []
    for run in runs:
        judgement, text = cell.judgement(run, number), cell.text(run, number)
        if judgement is None or text is None:
            continue
        outcome = outcome_of(judgement, draws=cell.benchmark.draws)
        system = systems[run] if systems else None
        shows = _shows(judgement, outcome)
        translations.append(doc.Translated(text.translation or "", judgement.spans, outcome, shows, system))
    selection = cell.selection
    languages = selection.source_language, selection.target_language
    return doc.Example(cell.item(number)[1].source, translations, *languages, context=cell.context(number))


def _shows(judgement: Judgement, outcome: str) -> str:
    read = _SHOWS.get(str(judgement.observed), "")
    if not read or outcome in ("mixed", "undecided", "failed"):
        return outcome
    return f"{outcome}: {read}" if judgement.expected in ("feminine", "masculine") else read


# -- benchmark by benchmark --------------------------------------------------------------------------------------------


_MOST_DETAILS = 100
"""Rows of one detailed table: the first and last ones, if there are more."""
# First columns whose cells name the people of the sentences.
_ENTITY_COLUMNS = frozenset({"entity", "occupation", "lexeme", "pair"})


def as_sentence(text: str) -> str:
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")


def benchmark_section(view: View, name: str) -> doc.Section:
    cells = view.of(name)
    # With a setting in which the benchmark cannot answer its question, the heading says what is measured instead.
    caveats = {cell.benchmark.presentation.caveat(cell.selection) for cell in cells}
    caveat = caveats.pop() if len(caveats) == 1 else ""
    heading = f"{caveat[:1].upper()}{caveat[1:]}" or cells[0].benchmark.question
    title: list[Inline] = [f"{title_of(name)}: {heading} ", doc.Small(name)]
    blocks: list[Block] = [*_paper_tables(view, cells), *view.figures(name)]
    if len(view.benchmarks) > 1 and blocks:
        blocks = [doc.Section("Tables and figures as in the paper", blocks, folded=True)]
    directions = [_cell(view, cell, folded=len(cells) > 1) for cell in cells]
    return doc.Section(title, [*blocks, *directions] if len(cells) > 1 else [*directions, *blocks], id=name)


def _cell(view: View, cell: Cell, *, folded: bool) -> doc.Section:
    blocks: list[Block] = [_headline(view, cell), *_findings_of_cell(view, cell)]
    if drawn := view.figures(cell.first.cell):
        blocks.append(doc.Section("Figures", drawn, folded=folded or len(view.benchmarks) > 1))
    matrices = [table for run, _ in cell.present if (table := _confusion(view, cell, run)) is not None]
    if matrices:
        inner = doc.Section("", matrices, kind="matrices")
        blocks.append(
            doc.Section("Expected gender and gender of the translation, with their sentences", [inner], folded=True)
        )
    blocks += _tests(view, cell)
    compared = view.compared(cell=cell.first.cell)
    if compared:
        blocks.append(
            doc.Section(
                ["Compared with ", view.system(view.tested[0]), " (the first run)"],
                [comparison_table(view, compared)],
                folded=True,
            )
        )
    blocks += [*_details(view, cell), _estimates(view, cell)]
    name = cell.name
    return doc.Section(cell.direction, blocks, "" if " " in name else name, cell.code, 3, folded, "direction")


def _findings_of_cell(view: View, cell: Cell) -> list[Block]:
    blocks: list[Block] = []
    for run, result in cell.present:
        found: list[Text] = [one.text for one in findings.found_in(result)]
        parts: list[Block] = [
            doc.Bullets(found),
            *(doc.Paragraph(as_sentence(text), "warning") for text in result.warnings),
        ]
        blocks += [doc.Section(view.system(run), parts, level=4)] if view.several else parts
    return [doc.Section("", blocks, kind="finding")] if view.several else blocks


# -- headline numbers --------------------------------------------------------------------------------------------------


def _headline(view: View, cell: Cell) -> doc.Drawing:
    """Headline metrics with intervals, on one scale if possible."""
    benchmark, first = cell.benchmark, cell.first
    metrics = benchmark.measures.metrics(first.judgements, first.selection)
    named = [key_from(name) for name in benchmark.presentation.also_shown]
    wanted = [m.key for m in metrics if benchmark.is_headline(m) and m.key not in named]
    wanted += [key for key in named if key in {m.key for m in metrics}]
    gaps = {(m.name, m.slice) for m in metrics if m.better == "zero"}
    better = {(m.name, m.slice): m.better for m in metrics}
    parts: list[Mapping[str, Any]] = []
    # Shares first, then gaps, to group scales.
    for key in sorted(wanted, key=lambda key: key in gaps):
        rows = [
            (run, cell.estimate(run, *key), one.state == State.TOO_FEW)
            for run, result in cell.present
            if (one := find(findings.concluded(result), *key)) is not None
        ]
        shared = benchmark.presentation.shares_one_scale
        kin = [k for k in wanted if (k in gaps) == (key in gaps)] if shared else [key]
        together = [e for _, result in cell.present for k in kin if (e := find(result, *k)) is not None]
        scale = _scale(together, is_gap=key in gaps)
        if not rows or scale is None:
            continue
        parts.append(
            {
                "label": benchmark.label(*key),
                "judged": _judged([one.estimate for _, one, _ in rows if one.estimate is not None]),
                "note": phrases.ONLY_NEUTRAL if benchmark.label(*key).endswith(phrases.ALL_SENTENCES) else "",
                "rows": rows,
                "scale": scale,
                "starts": not parts or parts[-1]["scale"] != scale,
                "better": better[key],
                "several": view.several,
            }
        )
    return doc.Drawing("headline", parts)


def _judged(estimates: Sequence[Estimate]) -> str:
    totals = sorted({e.n_total for e in estimates})
    n = f"n = {totals[-1]:,}"
    shares = [100 * e.n_judged / e.n_total for e in estimates if e.n_total]
    return n if not shares or min(shares) == 100 else f"{n}; coverage {phrases.percent_range(shares)}"


def _scale(estimates: Sequence[Estimate], *, is_gap: bool) -> tuple[float, float] | None:
    """A scale that fits all: a natural one if possible."""
    ends = [x for e in estimates for x in (e.value, e.low, e.high) if x is not None]
    if not ends:
        return None
    reach = max(abs(x) for x in ends)
    if not is_gap and min(ends) >= 0:
        if reach <= 1 and all(e.unit in (Unit.SHARE, Unit.PROBABILITY) for e in estimates):
            return 0.0, 1.0
        if 1 < reach <= 100:
            return 0.0, 100.0
    found = scale_around([-reach if is_gap or min(ends) < 0 else 0.0, reach], 0, 1)
    return found.low, found.high


# -- tables ------------------------------------------------------------------------------------------------------------


def _paper_tables(view: View, cells: Sequence[Cell]) -> list[Block]:
    """The paper's tables; different conditions get separate tables."""
    found: list[Block] = []
    for place, one in enumerate(cells):
        alike = [cell for cell in cells if cell.label == one.label]
        if alike[0] is not cells[place]:
            continue
        for form in one.benchmark.presentation.forms([cell.results for cell in alike]):

            def number(at: Place, alike: Sequence[Cell] = alike) -> doc.Number:
                return alike[at.cell].estimate(at.run, at.metric, at.slice, with_interval=at.with_interval)

            caption = f"{form.caption} ({one.label}.)" if one.label else form.caption
            found.append(form_table(form, caption, view.system, number, grouped=bool(form.runs)))
    example = _examples(view, cells[0])
    return [*found, example] if example is not None else found


def _examples(view: View, cell: Cell) -> doc.Table | None:
    chosen = cell.benchmark.presentation.examples(cell.first.judgements)
    if chosen is None:
        return None
    rows: list[Sequence[Text]] = []
    for item_id in chosen.items:
        number = cell.number_of(item_id) or 0
        cell.must_show.add(number)
        source = cell.item(number)[1].source
        values: list[Text] = []
        for run, _ in cell.present:
            found = cell.judgement(run, number)
            measures: Mapping[str, float] = found.measures if found else {}
            values += [f"{measures[name]:.2f}" if name in measures else "–" for name in chosen.columns.values()]
        rows.append([doc.Link(source, Filter(cell=cell.name, text=source).link), *values])
    groups = [view.system(run) for run, _ in cell.present]
    return doc.Table(["sentence", *chosen.columns], rows, chosen.caption, groups)


def _confusion(view: View, cell: Cell, run: int) -> doc.Table | None:
    genders = [gender.value for gender in Gender]
    found = Counter(zip(cell.expected.tolist(), cell.answers[:, run, OBSERVED].tolist(), strict=True))
    pairs = {pair: n for pair, n in found.items() if pair[0] < len(genders) and pair[1] != MISSING}
    counts = {(genders[meant], GENDERS[shown]): n for (meant, shown), n in pairs.items()}
    expected = [gender for gender in genders if any(counts.get((gender, seen)) for seen in (*genders, "none"))]
    if len(expected) < 2:
        return None
    columns = [seen for seen in (*genders, "none") if any(counts.get((gender, seen)) for gender in expected)]
    rows: list[Sequence[Text]] = []
    for gender in expected:
        total = sum(counts.get((gender, seen), 0) for seen in columns)
        values: list[Text] = []
        for seen in columns:
            n, system = counts.get((gender, seen), 0), cell.system(run)
            wanted = Filter(cell=cell.name, expected=gender, observed=seen, system=system)
            values.append([doc.Link(f"{n:,}", wanted.link) if n else "0", doc.Small(f"{percent(100 * n / total)}%")])
        rows.append([gender, *values])
    who: list[Inline] = [": ", view.system(run)] if view.several else []
    is_mixed = bool((cell.answers[:, run, OUTCOME] == OUTCOMES.index("mixed")).any())
    undetermined = "both or not determined" if is_mixed else "not determined"
    heads = [undetermined if seen == "none" else seen for seen in columns]
    return doc.Table(["", *heads], rows, ["Expected gender (rows) and translated gender (columns)", *who])


def _tests(view: View, cell: Cell) -> list[Block]:
    questions = dict.fromkeys(test.question for _, result in cell.present for test in result.tests)
    paragraphs: list[Block] = []
    for question in questions:
        text: list[Inline] = [question]
        for run, result in cell.present:
            p_values = [test.p_value for test in result.tests if test.question == question]
            if p_values:
                p = p_values[0]
                conclusion = "significant" if p is not None and p < ALPHA else "not significant"
                answer = phrases.TOO_FEW if p is None else f"{conclusion} ({doc.show_p_value(p)})"
                who: list[Inline] = [view.system(run, with_name=False), " "] if view.several else []
                text += [" " if len(text) == 1 else "; ", *who, answer]
        paragraphs.append(doc.Paragraph([*text, "."]))
    return paragraphs


def comparison_table(view: View, found: Sequence[tuple[int, Comparison]]) -> doc.Table:
    first = view.tested[0]
    rows: list[Sequence[Text]] = []
    for run, c in found:
        cell = view.cell(c.cell)
        tone = c.change() if c.change() in ("better", "worse") else ""
        label = cell.benchmark.label(c.metric, c.slice)
        rows.append(
            [
                [view.system(run), f" {cell.benchmark.title}, {cell.direction}: {label}"],
                *(cell.estimate(place, c.metric, c.slice, with_interval=False) for place in (first, run)),
                [
                    doc.show_value(c.difference, c.unit),
                    doc.Small(phrases.between(*(doc.show_value(x, c.unit) for x in (c.low, c.high)))),
                ],
                "–" if c.p_adjusted is None else doc.show_p_value(c.p_adjusted),
                doc.Strong(c.in_words(), tone),
            ]
        )
    heads: list[Text] = ["", [view.system(first), " (first run)"], "system", "difference", "p (Holm)", "verdict"]
    return doc.Table(heads, rows)


def _details(view: View, cell: Cell) -> list[Block]:
    by_name: dict[str, list[tuple[int, Values]]] = {}
    for run, result in cell.present:
        for found in result.tables:
            if found.name != "confusion" and found.rows:
                by_name.setdefault(found.name, []).append((run, found))
    return [
        doc.Section(tables[0][1].title, [_detail(view, cell, run, one) for run, one in tables], folded=True)
        for tables in by_name.values()
    ]


def _detail(view: View, cell: Cell, run: int, found: Values) -> doc.Table:
    rows, half, note = list(found.rows), _MOST_DETAILS // 2, ""
    if len(rows) > _MOST_DETAILS:
        rows, note = [*rows[:half], *rows[-half:]], f" The first and last {half} of {len(found.rows):,} rows."
    links = found.columns[0] in _ENTITY_COLUMNS

    def head(name: object) -> Text:
        wanted = Filter(cell=cell.name, entity=str(name), system=cell.system(run))
        return doc.Link(str(name), wanted.link) if links else _value(name)

    body = [[head(row[0]), *map(_value, row[1:])] for row in rows]
    columns = ["not determined" if name == "unknown" else name for name in found.columns]
    return doc.Table(columns, body, [view.system(run) if view.several else None, note] if view.several or note else "")


def _value(value: object) -> Text:
    if value is None:
        return "–"
    if isinstance(value, float):
        return minus(f"{value:g}")
    return f"{value:,}" if isinstance(value, int) else str(value)


def _estimates(view: View, cell: Cell) -> doc.Section:
    results, benchmark = cell.results, cell.benchmark
    keys = dict.fromkeys((e.metric, e.slice) for _, result in cell.present for e in result.estimates)
    rows: list[Sequence[Text]] = []
    for metric, part in keys:
        values: list[Text] = []
        for run, result in enumerate(results):
            estimate = find(result, metric, part)
            judged = f"{estimate.n_judged:,} of {estimate.n_total:,}" if estimate else "–"
            values += [cell.estimate(run, metric, part), judged]
        code = metric if part == "all" else f"{metric}:{part}"
        rows.append([[benchmark.label(metric, part), doc.Small(code)], *values])
    names: list[Text] = ["metric"]
    for run in range(len(results)):
        names += [view.system(run) if view.several else "value", "judged"]
    return doc.Section(f"All {len(keys)} numbers", [doc.Table(names, rows)], folded=True)
