"""The report as one standalone HTML page: verdict, picture and findings; then all details."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import nsmallest
from pathlib import Path
from typing import Any

from gendermark.io.textfiles import write_text
from gendermark.markup import minus
from gendermark.metrics.statistics import benjamini_hochberg
from gendermark.metrics.verdicts import ALPHA
from gendermark.reading.codes import NAMES, RIGHT_TO_LEFT
from gendermark.records import Estimate, Gender, Judgement, Unit
from gendermark.reporting import html
from gendermark.reporting.document import (
    Block,
    Bullets,
    Code,
    Drawing,
    Example,
    Finding,
    Inline,
    Link,
    Number,
    Paragraph,
    Section,
    Small,
    Strong,
    System,
    Table,
    Text,
    Translated,
    listed,
)
from gendermark.reporting.findings import (
    FEW_JUDGED,
    Rates,
    all_rates,
    called,
    concluded,
    found_in,
    judged_percent,
    leading_key,
    rates_of,
    verdict,
)
from gendermark.reporting.phrases import (
    SIGNIFICANT,
    TOO_FEW,
    counted,
    lost_by_gender,
    percent_range,
    points,
    rounded,
    state,
)
from gendermark.reporting.reproduce import commands
from gendermark.reporting.rows import Cell, Explorer, Filter, outcome_of
from gendermark.reporting.sections import (
    View,
    as_sentence,
    benchmark_section,
    comparison_table,
    title_of,
)
from gendermark.result import Result
from gendermark.runs import folder
from gendermark.runs.compare import ABSENT, CHANGES, FAMILY, IN_WORDS
from gendermark.runs.folder import Run, read_run
from gendermark.runs.gates import NOTHING_COMPARED, Check, Verdict

_MOST_NAMED = 3
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
        "slices": explorer.slice_labels(),
        "benchmarks": {name: title_of(name) for name in sorted(benchmarks)},
    }


def _title(view: View) -> str:
    names = [view.label(run) for run in view.tested]
    names[:1] = [name[:1].upper() + name[1:] if called(name) != name else name for name in names[:1]]
    who = listed(names) if len(names) <= _MOST_NAMED else f"{counted(len(names)).capitalize()} systems"
    directions = list(dict.fromkeys(cell.selection.direction for cell in view.cells))
    sources = list(dict.fromkeys(_name(one.partition("-")[0]) for one in directions))
    targets = list(dict.fromkeys(_name(one.partition("-")[2]) for one in directions))
    if not names or not directions:
        return who or "No results"
    from_, into = (
        listed(some) if len(some) <= _MOST_NAMED + 1 else f"{len(some)} languages" for some in (sources, targets)
    )
    return f"{who}: {from_} → {into}"


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


def _opening(view: View, gate: Verdict | None) -> Section:
    systems = [(view.label(run), view.runs[run].results) for run in view.tested]
    blocks: list[Block] = [] if gate is None else [_gate(view, gate)]
    blocks.append(Paragraph(verdict(systems), "verdict"))
    if view.benchmarks:
        blocks += [_basis(view), *_missing(view), *_pictures(view), *_findings(view), *_all_results(view)]
        blocks += [*_against_first(view), _note(view)]
    return Section("Summary", blocks, id="finding")


def _gate(view: View, gate: Verdict) -> Section:
    failed: list[Text] = [
        f"{_checked(view, check)}: {check.finding}" for check in gate.failures if check is not NOTHING_COMPARED
    ]
    blocks: list[Block] = [Paragraph(Strong(as_sentence(gate.sentence)))]
    kind = "gate passed" if gate.passed else "gate failed"
    return Section("", [*blocks, Bullets(failed)] if failed else blocks, kind=kind)


def _checked(view: View, check: Check) -> str:
    for cell in view.cells:
        if cell.first.cell == check.cell:
            label = cell.benchmark.label(check.metric, check.slice)
            return f"{cell.benchmark.title}, {cell.direction}, {label}"
    return f"{check.cell}, {check.metric}"


def _basis(view: View) -> Paragraph:
    cells = view.of(view.benchmarks[0])
    sizes = sorted({len(cell) for cell in cells})
    n = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,}–{sizes[-1]:,}"
    directions = {(cell.selection.source_language, cell.selection.target_language) for cell in cells}
    sources = {source for source, _ in directions}
    what = f"{n} sentences"
    if cells[0].benchmark.reads_any_text:
        what = _people(cells)
    elif len(directions) > 1 and len(sources) == 1:
        into = "into" if len(sizes) == 1 else "into each of"
        what = f"{n} {_name(*sources)} sentences translated {into} {counted(len(directions))} languages"
    elif len(directions) > 1:
        what = f"{n} sentences in each of {counted(len(directions))} translation directions"
    judged = [
        share for _, _, result in view.results(view.benchmarks[0]) if (share := judged_percent(result)) is not None
    ]
    covered = f"; coverage {percent_range(judged)}" if judged else ""
    text: list[Inline] = ["Based on ", Link(title_of(view.benchmarks[0]), f"#{view.benchmarks[0]}")]
    text.append(f" ({_data(cells[0].first)}): {what}{covered}.")
    if len(view.benchmarks) > 1:
        text.append(f" {counted(len(view.benchmarks) - 1).capitalize()} more benchmarks below.")
    return Paragraph(text, "basis")


def _people(cells: Sequence[Cell]) -> str:
    texts = {cell.item(number)[1].source for cell in cells for number in range(len(cell))}
    return f"{sum(len(cell) for cell in cells):,} people in {len(texts):,} texts"


def _missing(view: View) -> list[Block]:
    """Missing results and sentences, unjudgeable translations, and impossible comparisons."""
    lines: list[Text] = []
    few = [
        f"{_where(view, cell, run)} ({rounded(share)}%)"
        for cell, run, result in view.results()
        if (share := judged_percent(result)) is not None and share < FEW_JUDGED
    ]
    if few:
        shown = listed(few) if len(few) <= 2 * _MOST_NAMED else f"{len(few)} of {len(view.results())} results"
        lines.append(f"Less than {FEW_JUDGED:.0f}% of translations could be judged in {shown}.")
    for cell in view.cells:
        present = {run for run, _ in cell.present}
        absent = [view.label(run) for run in view.tested if run not in present]
        if absent:
            lines.append(f"{cell.benchmark.title}, {cell.direction}: not run for {listed(absent)}.")
    for cell, run, result in view.results():
        found = [*result.warnings, *(one.text for one in lost_by_gender(result))]
        lines += [f"{_where(view, cell, run)}: {as_sentence(text)}" for text in found]
    lines += [f"Not compared: {as_sentence(text)}" for text in view.refusals]
    lines = list(dict.fromkeys(lines))
    shown_first, rest = lines[:_MOST_NAMED], lines[_MOST_NAMED:]
    blocks: list[Block] = [Paragraph(line, "warning") for line in shown_first]
    return [*blocks, Section(f"{len(rest)} more warnings", [Bullets(rest)], folded=True)] if rest else blocks


def _where(view: View, cell: Cell, run: int) -> str:
    """Identify a result as far as necessary: system (unless `run` is negative), benchmark, language."""
    parts = [view.label(run)] if len(view.tested) > 1 and run >= 0 else []
    has_places = len(view.of(cell.benchmark.name)) > 1
    parts += [cell.benchmark.title] if len(view.benchmarks) > 1 or not (parts or has_places) else []
    parts += [cell.place] if has_places else []
    return (", " if run >= 0 else " ").join(parts)


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
                data = {
                    "question": _KEPT if source_tells else f"{_UNSPECIFIED}: translated as women and as men.",
                    "source_tells": source_tells,
                    "intervals": f"{_confidence(view)} CI",
                    "groups": [group for groups in part for group in groups],
                }
                drawn.append(("Other benchmarks" if source_tells else _UNSPECIFIED, Drawing("picture", data)))
    titles = dict.fromkeys(title for title, _ in drawn[1:])
    folded = [Section(title, [one for fold, one in drawn[1:] if fold == title], folded=True) for title in titles]
    return [*(one for _, one in drawn[:1]), *folded]


def _groups(view: View, benchmark: str, source_tells: bool) -> list[tuple[Text, list[Mapping[str, Any]]]]:
    link = Link(title_of(benchmark), f"#{benchmark}")
    by_cell = []
    for cell in view.of(benchmark):
        rows = [
            _picture_row(view.label(run) if view.several else cell.direction, rates, cell.code)
            for run, result in cell.present
            for rates in all_rates(result)
            if rates.source_tells is source_tells
        ]
        if rows:
            by_cell.append((cell.direction, rows))
    if view.several:
        return [([link, f", {place}"], rows) for place, rows in by_cell]
    return [(link, [row for _, rows in by_cell for row in rows])] if by_cell else []


def _picture_row(label: Text, rates: Rates, code: str) -> Mapping[str, Any]:
    gap = (rates.men.value or 0.0) - (rates.women.value or 0.0)
    said = state(rates.gap) if rates.gap is not None else ""
    return {
        "label": label,
        "rates": rates,
        "place": code,
        "women": _whole(rates.women),
        "men": _whole(rates.men),
        "gap": minus(f"{gap:+.0f}") if round(gap) else "0",
        "is_significant": said == SIGNIFICANT and bool(round(gap)),
        "state": said,
    }


def _whole(estimate: Estimate) -> Text:
    ends = [rounded(end) for end in (estimate.low, estimate.high) if end is not None]
    return [rounded(estimate.value), Small("–".join(ends))] if ends else rounded(estimate.value)


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
            own_findings = found_in(result) if not found else [one for one in found_in(result) if one.effect > 0]
            for one in own_findings:
                shown = _examples_of_finding(cell, run, one, used) if one.effect > 0 else []
                found.append(replace(one, text=f"{start}{one.text}", examples=shown))
        elif own:
            over = _over_results(view, own, start, used)
            found += over if not found else [one for one in over if one.effect > 0]
    found = found[:_MOST_FINDINGS]
    if len(view.tested) > 1:
        found += _disagreement(view)
    return [Section("Findings", found, level=3, kind="findings")] if found else []


def _over_results(view: View, own: Sequence[tuple[Cell, int, Result]], start: str, used: set[str]) -> list[Finding]:
    """In how many results something is found, and where it is largest."""
    by_what: dict[str, list[tuple[Cell, int, Finding]]] = {}
    for cell, run, result in own:
        for one in found_in(result):
            if one.what and one.amount is not None:
                by_what.setdefault(one.what, []).append((cell, run, one))
    findings = _range(view, own, start)
    for what, some in by_what.items():
        adjusted = benjamini_hochberg([one.amount.p_value if one.amount is not None else None for *_, one in some])
        sure = [one for one, p in zip(some, adjusted, strict=True) if one[2].effect > 0 and p is not None and p < ALPHA]
        if not sure:
            findings.append(Finding(f"{start}{what}: significant in none of {len(some)} results."))
            continue
        cell, run, largest = max(sure, key=lambda one: abs(one[2].value))
        signs = {one.value > 0 for *_, one in sure}
        side = "" if len(signs) > 1 else _side(largest)
        amount = points(largest.amount, turned=True) if largest.amount is not None else ""
        text = f"{start}{what}: significant in {len(sure)} of {len(some)} results{side}"
        where = _named(view, cell, run)
        shown = _examples_of_finding(cell, run, largest, used)
        findings.append(replace(largest, text=f"{text}; largest: {where}, {amount}.", examples=shown))
    return findings


def _range(view: View, own: Sequence[tuple[Cell, int, Result]], start: str) -> list[Finding]:
    """Where the leading metric is lowest and highest."""
    metric, part = leading_key(own[0][0].benchmark)
    found = [(e.value, cell, run, e) for cell, run, one in own if (e := one.find(metric, part)) and e.value is not None]
    if len(found) < 2:
        return []
    ends = [min(found, key=lambda one: one[0]), max(found, key=lambda one: one[0])]
    unit = "%" if ends[0][3].unit is Unit.PERCENT else ""
    label = own[0][0].benchmark.label(metric, part)
    low, high = (f"{e.shown}{unit} ({_named(view, cell, run)})" for _, cell, run, e in ends)
    return [Finding(f"{start}{label[:1].upper()}{label[1:]}: from {low} to {high}.")]


def _named(view: View, cell: Cell, run: int) -> str:
    parts = [view.label(run)] if len(view.tested) > 1 else []
    return ", ".join([*parts, cell.place] if len(view.of(cell.benchmark.name)) > 1 else parts)


def _side(finding: Finding) -> str:
    for favoured in ("in favour of men", "in favour of women"):
        if favoured in finding.text:
            return f", always {favoured}"
    _, _, side = finding.text.partition("; ")
    return f" ({side.removesuffix('.')})" if side else ""


def _disagreement(view: View) -> list[Block]:
    """How often the systems disagree, with examples from the first cell that has any."""
    n, whole = sum(map(len, view.explorer.matches(Filter(differ="yes")))), sum(map(len, view.explorer.cells))
    if not n:
        return []
    link = Link(f"{n:,} of {whole:,} translated sentences", Filter(differ="yes").link)
    systems = [view.system(run) for run in range(len(view.runs))]
    for cell in (cell for name in view.benchmarks for cell in view.of(name)):
        if shown := _examples_of_disagreement(cell, view.tested[: _MOST_NAMED + 1], systems):
            where = f" For example, {cell.benchmark.title}, {cell.direction}:"
            text = Paragraph(["The systems disagree on ", link, ".", where])
            return [text, Section("", shown, kind="shown", place=cell.code)]
    return [Paragraph(["The systems disagree on ", link, "."])]


def _all_results(view: View) -> list[Block]:
    results = view.results()
    if len(view.benchmarks) < 2:
        return []
    rows: list[Sequence[Text]] = []
    for cell, run, result in results:
        rates = rates_of(result)
        name: list[Inline] = [Link(cell.benchmark.title, f"#{cell.benchmark.name}")]
        name += [f", {cell.place}"] if len(view.of(cell.benchmark.name)) > 1 else []
        who: list[Text] = [view.system(run)] if len(view.tested) > 1 else []
        numbers: list[Text] = ["–", "–", "–"]
        if rates is not None:
            numbers = [Number(rates.women), Number(rates.men), Number(rates.gap)]
        # The benchmark's questions; without intervals, as their unbiased values differ.
        questions = (replace(e, low=None, high=None) for e in concluded(result).estimates if e.state)
        asked = rates.gap if rates is not None else next(questions, None)
        rows.append([name, *who, *numbers, state(asked) if asked is not None else TOO_FEW])
    caption = (
        "Percent of women and of men who keep their gender (where the source does not specify it: who are "
        "translated as women, as men) and men minus women, with CI."
    )
    names = ["benchmark", "system"] if len(view.tested) > 1 else ["benchmark"]
    columns = [*names, "women, %", "men, %", "gap, points", "verdict"]
    table = Table(columns, rows, caption, n_text=len(names))
    return [Section("All benchmarks", [table], level=3, folded=len(rows) > _MOST_ROWS, kind="results")]


def _against_first(view: View) -> list[Block]:
    """The later systems compared with the first: sentences for a few, and the numbers."""
    leading = view.compared(leading=True)
    if not leading:
        return list(view.figures(""))
    labels = {view.cell(c.cell).benchmark.label(c.metric, c.slice) for _, c in leading}
    by = f", by {labels.pop()}" if len(labels) == 1 else ""
    blocks: list[Block] = []
    for run in view.tested[1:] if len(view.tested) <= _MOST_NAMED + 1 else []:
        own = [(c.change(), view.cell(c.cell)) for other, c in leading if other == run]
        text: list[Inline] = [view.system(run), " against ", view.system(view.tested[0]), by]
        for number, change in enumerate(change for change in CHANGES if change in dict(own)):
            places = [_where(view, cell, -1) for found, cell in own if found == change]
            where = ", ".join(places) if len(places) <= 2 * _MOST_NAMED else f"{len(places)} of {len(own)} comparisons"
            said = IN_WORDS.get(change, change)
            tone = change if change in ("better", "worse") else ""
            text += ["; " if number else ": ", Strong(said, tone), f" {'for' if change == ABSENT else 'in'} {where}"]
        blocks.append(Paragraph([*text, "."], "lead"))
    table = comparison_table(view, leading)
    folded = Section("Numbers and figure of this comparison", [table, *view.figures("")], folded=True)
    return [Section(["Compared with the baseline (", view.system(view.tested[0]), ")"], [*blocks, folded], level=3)]


def _note(view: View) -> Paragraph:
    notes = [
        f"CI: {_confidence(view)} confidence interval over groups of sentences, such as those about one occupation.",
        f"Significant: unlikely to arise by chance if there were no gap (p < {ALPHA} after Holm correction over the "
        "tests within one result). Where the summary counts significant results or names the largest, p-values are "
        "corrected across all results (Benjamini–Hochberg).",
    ]
    if view.compared():
        notes.append(f"Systems are compared sentence by sentence; significant means p < {ALPHA} after {FAMILY}.")
    if len(view.tested) < len(view.runs):
        notes.append("Controls are programs of known bias that show what the numbers mean; they are not under test.")
    return Paragraph(" ".join([*notes, "Underlined numbers link to the underlying sentences."]), "note")


# -- what was measured, and how to reproduce it ------------------------------------------------------------------------


def _measured(view: View) -> Section:
    systems: list[Text] = []
    for number, run in enumerate(view.runs):
        # Give the full spec if the label is short for it.
        is_short = run.system not in view.label(number)
        systems.append([view.system(number), Small(f" {run.system}")] if is_short else view.system(number))
    facts: list[tuple[str, Sequence[Text]]] = [("systems" if view.several else "system", systems)]
    for name in view.benchmarks:
        cells = view.of(name)
        n = sum(len(cell) for cell in cells)
        directions = ", ".join(dict.fromkeys(cell.direction for cell in cells))
        size = _people(cells) if cells[0].benchmark.reads_any_text else f"{n:,} sentences"
        facts.append((title_of(name), [f"{directions}; {size}"]))
    data = {(result.selection.benchmark, _data(result)): None for run in view.runs for result in run.results}
    kinds = list(dict.fromkeys(kind for _, kind in data))
    facts += [
        ("data", kinds if len(kinds) == 1 else [f"{title_of(name)}: {kind}" for name, kind in data]),
        ("run", list(dict.fromkeys(map(_when, view.runs)))),
        ("software", list(dict.fromkeys(map(_versions, view.runs)))),
    ]
    return Section("What was measured", [Drawing("facts", facts)], id="measured")


def _data(result: Result) -> str:
    selection = result.selection
    kind, _, path = selection.data.partition(":")
    source = "official data" if kind == "official" else f"own file {path}" if path else f"{kind} data"
    revision = f", revision {selection.revision}" if selection.revision else ""
    return f"{source}{revision}, {selection.rules_in_words}"


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


def _reproduction(view: View) -> Section:
    blocks: list[Block] = []
    for number, run in enumerate(view.runs):
        lines = commands(run.manifest, run.name)
        parts: list[Block] = [Code("\n".join(lines))] if lines else []
        parts += [] if lines else [Paragraph(f"No single command repeats this run; its settings are in {run.name}.")]
        parts += [Paragraph(f"Note: {as_sentence(note)}") for note in run.manifest.get("notes", [])]
        signatures = Bullets([result.signature for result in run.results])
        parts.append(
            Section("Signatures: everything a number depends on", [signatures], folded=True, kind="signatures")
        )
        blocks += [Section(view.system(number), parts, level=3)] if view.several else parts
    files = [str(run.manifest["config"].get("audited", "")) for run in view.runs]
    named = [f"{name}={run.name}" if (name := run.manifest.get("name")) else run.name for run in view.runs]
    # An audit leaves its run folders only on request.
    verb, words = ("audit", list(dict.fromkeys(files))) if all(files) else ("report", named)
    blocks += [Paragraph("This page:"), Code(f"gendermark {verb} {shlex.join(words)} -o {verb}.html")]
    return Section("How to reproduce", blocks, id="reproduce")


_LONGEST = 160
"""Characters of an example sentence."""
_MOST_TRIED = 5_000
"""Translations of each kind to search, the first ones; no published set has more."""
_SHOWS = {"feminine": "as a woman", "masculine": "as a man", "neutral": "with no gender"}


def _examples_of_finding(cell: Cell, run: int, finding: Finding, used: set[str]) -> list[Example]:
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


def _examples_of_disagreement(cell: Cell, runs: Sequence[int], systems: Sequence[System]) -> list[Example]:
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


def _example(cell: Cell, item_id: str, runs: Sequence[int], systems: Sequence[System]) -> Example:
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
        translations.append(Translated(text.translation or "", judgement.spans, outcome, shows, system))
    selection = cell.selection
    languages = selection.source_language, selection.target_language
    return Example(cell.item(number)[1].source, translations, *languages, context=cell.context(number))


def _shows(judgement: Judgement, outcome: str) -> str:
    read = _SHOWS.get(str(judgement.observed), "")
    if not read or outcome in ("mixed", "undecided", "failed"):
        return outcome
    return f"{outcome}: {read}" if judgement.expected in ("feminine", "masculine") else read
