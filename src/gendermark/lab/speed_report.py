"""A study of speed in words, tables, figures and as one page.

The tables and figures have the form of SimpleGEN's paper (Table 4, Figures 1 and A2).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gendermark.io.textfiles import write_text
from gendermark.lab.paired import change_in_words, is_unchanged
from gendermark.lab.speed_numbers import (
    ARITHMETIC,
    CLOCKS,
    DROPPING,
    GAPS,
    GROUPS,
    HURT,
    MAX_DROPS,
    N_WARM_UP,
    QUALITY,
    Measured,
    Study,
    group_label,
    published_sections,
)
from gendermark.markup import minus
from gendermark.records import Table, Unit, show_p
from gendermark.reporting import charts, document, html
from gendermark.reporting import latex as latex_
from gendermark.reporting import text as markdown_
from gendermark.reporting.charts import Canvas, Figure, Line, Look, Point, figure
from gendermark.reporting.document import Block, Bullets, Code, Drawing, Paragraph, Section
from gendermark.reporting.phrases import direction

# -- words -------------------------------------------------------------------------------------------------------------


def findings(study: Study) -> list[str]:
    """What each point changes against the baseline; of trainings, what each model changes over all of them."""
    if study.trainings:
        return [_trained_finding(study, name) for name in list(study.trainings)[1:]]
    return [finding(study, point) for point in study.points if point is not study.baseline]


def _trained_finding(study: Study, name: str) -> str:
    n = len(study.trainings[name])
    parts = []
    for column, label in {
        "time": "time",
        "BLEU": "BLEU",
        "Δ": "stereotype effect (Δ)",
        HURT: group_label(HURT),
    }.items():
        if (found := study.trained(name, column)) is None:
            continue
        own, change = found
        between = "no interval"
        is_clear = False
        if change.low is not None and change.high is not None:
            is_clear = change.low > 0 or change.high < 0
            between = minus(f"CI {change.low:.1f} to {change.high:.1f}")
        parts.append(
            f"{label} {_one(own.value)} ({minus(f'{change.value:+.1f}')}, {between}; "
            f"{'significant' if is_clear else 'not significant'})"
        )
    base = next(iter(study.trainings))
    return f"{name}, mean of {n} trainings against {base}: {'; '.join(parts)}."


def finding(study: Study, point: Measured) -> str:
    """`int8 is 1.8 times as fast (CI 1.6–2.0); BLEU 31.2, unchanged; ...`"""
    changes = point.changes
    # Of the others only what is significant, and of other benchmarks their gaps: the rest would only make it long.
    named = {QUALITY[0]: QUALITY[0], HURT: group_label(HURT)}
    gaps = {column: column for column in point.others if column in changes and changes[column].better == "zero"}
    others = {group: group_label(group) for group in GROUPS if group != HURT}
    others |= {"Δ": "stereotype effect (Δ)", **gaps}
    named |= {column: label for column, label in others.items() if column in changes and changes[column].is_significant}
    parts = [change_in_words(label, changes[column]) for column, label in named.items() if column in changes]
    return f"{point.name} {'; '.join([_of_speed(point, study), *parts])}."


def of_price(study: Study, point: Measured) -> str:
    """The price of speed, or why there is none."""
    price = study.price(point)
    if price.value is None:
        return price.reason
    between = f" ({_two(price.low)} to {_two(price.high)})" if price.low is not None and price.high is not None else ""
    return f"{_two(price.value)}{between}"


def _two(value: float) -> str:
    """Two decimals, and no minus before nothing."""
    return minus(f"{round(value, 2) + 0.0:.2f}")


def _of_speed(point: Measured, study: Study) -> str:
    found = study.times_as_fast(point)
    if found.low is None or found.high is None:
        n = len(study.rounds.rounds)
        return f"was {found.value:.1f} times as fast in {n} round{'s' if n > 1 else ''}, too few for an interval"
    if found.low > 1:
        return f"is {_times(found.value)} times as fast (CI {_times(found.low)}–{_times(found.high)})"
    if found.high < 1:
        value, low, high = (_times(1 / one) for one in (found.value, found.high, found.low))
        return f"takes {value} times as long (CI {low}–{high})"
    return f"is not significantly faster or slower (CI {_times(found.low)}–{_times(found.high)} times as fast)"


def _times(value: float) -> str:
    return f"{value:.2f}" if value < 2 else f"{value:.1f}"


def study_json(study: Study) -> dict[str, Any]:
    return {
        **study.facts,
        "direction": study.direction,
        "n_rounds": len(study.rounds.rounds),
        "points": [_point_json(study, point) for point in study.points],
        "max_drops": {how: {"means": means, **study.max_drops(how)} for how, means in MAX_DROPS.items()},
        "trends": {column: found for column in DROPPING if (found := study.trend(column)) is not None},
        "trainings": {
            name: {
                column: {
                    "values": study.of_trainings(name, column),
                    "mean": spans[0]._asdict(),
                    "difference": spans[1]._asdict(),
                }
                for column in ("time", *study.columns)
                if (spans := study.trained(name, column)) is not None
            }
            for name in study.trainings
        },
        "findings": findings(study),
        "notes": list(study.notes),
    }


def _point_json(study: Study, point: Measured) -> dict[str, Any]:
    own = {
        "name": point.name,
        "system": point.spec,
        "run": f"runs/{point.slug}",
        "is_baseline": point is study.baseline,
        "seconds_per_1000": study.seconds(point)._asdict(),
        "rounds": {clock: study.rounds.seconds(point.name, clock) for clock in CLOCKS},
        "values": {column: span._asdict() for column, span in point.values.items()},
        "arithmetic": {how: point.arithmetic(how) for how in ARITHMETIC},
    }
    if point is study.baseline:
        return own
    return {
        **own,
        "times_as_fast": study.times_as_fast(point)._asdict(),
        "seconds_saved_per_1000": study.saved(point)._asdict(),
        "relative_drops": {column: study.drop(point, column) for column in ("time", *DROPPING, "chrF")},
        "points_lost_per_second_saved": {"group": HURT, **asdict(study.price(point))},
        "changes": {column: change.to_json() for column, change in point.changes.items()},
    }


# -- tables ------------------------------------------------------------------------------------------------------------

TIME = "s/1,000"
"""Head of the column of seconds for a thousand sentences."""
_DROP = "max rel. % drop, {}"


def table4(study: Study) -> Table:
    """Time, quality and every column of Table 4, a row per point; then the relative drops, by every definition."""
    columns = study.columns
    rows: list[tuple[str, ...]] = [
        (point.name, f"{study.seconds(point).value:.2f}", *(_one(point.value(column)) for column in columns))
        for point in study.points
    ]
    for how in MAX_DROPS:
        found = study.max_drops(how)
        rows.append((_DROP.format(how), *("" if c in GAPS else _one(found[c]) for c in ("time", *columns))))
    return Table("speed", f"Speed and gender, {study.direction}", ("point", TIME, *columns), rows)


def over_trainings(study: Study) -> Table:
    """Table 4 averaged over trainings, as the paper averages three; below each model the interval between them."""
    columns = ("time", *study.columns)
    rows: list[tuple[str, ...]] = []
    for name, points in study.trainings.items():
        found = [study.trained(name, column) for column in columns]
        rows.append((f"{name}, {len(points)} trainings", *(_one(one[0].value) if one else "–" for one in found)))
        rows.append(("interval", *(minus(_ends(one[0].low, one[0].high, 1)) if one else "–" for one in found)))
        if rows[2:]:
            change = [minus(_ends(one[1].low, one[1].high, 1)) if one else "–" for one in found]
            rows.append((f"minus {next(iter(study.trainings))}", *change))
    title = f"Mean over trainings, {study.direction}"
    return Table("trainings", title, ("model", TIME, *study.columns), rows)


def _one(value: float | None) -> str:
    return minus(Unit.PERCENT.show(value))


def changes(study: Study) -> Table:
    """Every point but the baseline: each number, its change with interval, and the corrected p-value."""
    rows = [
        (
            point.name,
            column,
            change.unit.show(change.first),
            change.unit.show(change.second),
            minus(change.unit.show_change(change.difference)),
            minus(change.interval),
            show_p(change.p_adjusted),
            minus(_percent(study.drop(point, column))) if column not in (*GAPS, *point.others) else "",
            "unchanged" if is_unchanged(change) else change.change(),
        )
        for point in study.points
        for column, change in point.changes.items()
    ]
    heads = ("point", "number", study.baseline.name, "then", "change", "interval", "p", "rel. drop", "is")
    return Table("changes", f"Against {study.baseline.name}", heads, rows)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} %"


def prices(study: Study) -> Table:
    """Time, speed and what speed cost women in men's occupations."""
    rows = []
    for point in study.points:
        seconds = study.seconds(point)
        row = [point.name, f"{seconds.value:.2f}", _ends(seconds.low, seconds.high)]
        if point is study.baseline:
            rows.append((*row, "", "", ""))
            continue
        fast = study.times_as_fast(point)
        rows.append((*row, f"{fast.value:.2f}", _ends(fast.low, fast.high), of_price(study, point)))
    heads = ("point", TIME, "interval", "times as fast", "interval", "points lost per second")
    return Table("prices", "Time, and what speed cost women in men's occupations", heads, rows)


def _ends(low: float | None, high: float | None, decimals: int = 2) -> str:
    return "–" if low is None or high is None else f"[{low:.{decimals}f}, {high:.{decimals}f}]"


def intervals(study: Study) -> Table:
    """Every number of every point with its interval, a row each."""
    rows = [
        (point.name, column, _one(span.value), minus(_ends(span.low, span.high, 1)))
        for point in study.points
        for column, span in point.values.items()
    ]
    return Table("intervals", "Every number with its interval", ("point", "number", "value", "interval"), rows)


def arithmetic(study: Study) -> Table:
    """pro, anti and Δ by both rules of arithmetic."""
    names = ("pro", "anti", "Δ")
    rows = [
        (point.name, how, *(Unit.PERCENT.show(found.get(name)) for name in names))
        for point in study.points
        for how in ARITHMETIC
        if (found := point.arithmetic(how))
    ]
    return Table("arithmetic", "pro and anti by both rules of arithmetic", ("point", "rule", *names), rows)


def others(study: Study) -> Table:
    """The headline numbers of other benchmarks, a row each; none where none was asked for."""
    rows = [(column, *(_one(point.value(column)) for point in study.points)) for column in study.baseline.others]
    return Table("others", "Other benchmarks", ("number", *(point.name for point in study.points)), rows)


def markdown(study: Study) -> str:
    """All tables, and what was found."""
    every = [over_trainings, table4, prices, others, changes, intervals, arithmetic]
    tables = [
        Section(one.title, [document.Table(one.columns, one.rows)])
        for one in (make(study) for make in every)
        if one.rows
    ]
    meant = [f"max drop, {how}: {means}" for how, means in MAX_DROPS.items()]
    meant += [f"arithmetic {how}: {means}" for how, means in ARITHMETIC.items()]
    title, said = f"Speed and gender, {study.direction}", [*findings(study), *study.notes]
    return markdown_.markdown([Section(title, [Bullets(said)], level=1), *tables, Bullets(meant)])


def latex(study: Study) -> str:
    """Table 4 as the paper has it."""
    table = table4(study)
    n = len(study.points)
    lines = [latex_.line(row) for row in table.rows]
    lines.insert(n, r"\midrule")
    caption = (
        f"Speed and gender, {study.direction}: seconds for 1,000 sentences (median of {len(study.rounds.rounds)} "
        f"rounds, {study.rounds.clock} clock), quality, and percent of occupation nouns with the right gender. FO, MO: "
        "occupations of women, of men; FC, MC: the sentence says that the person is a woman, a man. Relative drops: "
        + "; ".join(f"{how}: {means}" for how, means in MAX_DROPS.items())
        + "."
    )
    head = [latex_.line([study.direction, *table.columns[1:]])]
    written = latex_.tabular("table*", "l" + "r" * (len(table.columns) - 1), head, lines, caption, "tab:speed")
    return "\n".join([r"% needs \usepackage{booktabs}", *(f"% {latex_.text(s)}" for s in findings(study)), written])


# -- figures -----------------------------------------------------------------------------------------------------------

_LOOKS = {
    "BLEU": Look("circle", charts.COLOURS[0]),
    "pro": Look("square", charts.COLOURS[2]),
    "anti": Look("triangle", charts.COLOURS[1]),
    "FOFC": Look("square", charts.COLOURS[3]),
    "MOFC": Look("triangle", charts.COLOURS[1]),
    "MOMC": Look("diamond", charts.COLOURS[2]),
    "FOMC": Look("down", charts.COLOURS[6]),
}
_LABELS = {"pro": "pro: fits the stereotype", "anti": "anti: goes against it", **{g: group_label(g) for g in GROUPS}}


def figures(study: Study) -> list[Figure]:
    """Figure 1, and Figure A2 with the four groups."""
    found = [
        _figure(study, "figure-1", "What speed costs: quality, and the right gender", ("BLEU", "pro", "anti")),
        _figure(study, "figure-a2", "What speed costs, by who is meant and whose job it is", ("BLEU", *GROUPS)),
    ]
    return [one for one in found if one is not None]


def _figure(study: Study, name: str, title: str, columns: Sequence[str]) -> Figure | None:
    points: list[Point] = []
    drawn: list[Line] = []
    entries = []
    for column in columns:
        look = _LOOKS[column]
        found = study.scatter(column)
        for point, x, y in found:
            title = f"{point.name}: time {minus(f'{x:.1f}')}%, {column} {minus(f'{y:.1f}')}%"
            points.append(Point(x, y, look, title))
        if found:
            entries.append((_LABELS.get(column, column), look))
        if found and (trend := study.trend(column)):
            slope, height = trend
            ends = [(edge(x for _, x, _ in found)) for edge in (min, max)]
            first, last = ((x, height + slope * x) for x in ends)
            drawn.append(Line(first, last, colour=look.colour))
    if not points:
        return None

    def draw(canvas: Canvas) -> None:
        top = charts.legend(canvas, entries, 0)
        charts.scatter(
            canvas, points, drawn, ("drop in time, % of the baseline", "drop in percent of the baseline"), top
        )

    lines = "Lines: least squares. " if drawn else ""
    caption = (
        f"Each mark is one of {len(study.points)} points ({study.direction}); {study.baseline.name} is at 0. Right is "
        f"faster, up is worse. {lines}In the form of Figure {'1' if name == 'figure-1' else 'A2'} of Renduchintala et "
        "al. (2021)."
    )
    return figure(name, title, caption, "", draw)


# -- the page ----------------------------------------------------------------------------------------------------------

PAGE = "speed.html"


def write_files(study: Study, output: Path, command: str = "") -> None:
    """The page, the tables and the figures; `command` is what makes them again."""
    drawn = figures(study)
    write_text(output / PAGE, render(study, drawn, command))
    write_text(output / "table.md", markdown(study))
    write_text(output / "table.tex", latex(study))
    for one in drawn:
        write_text(output / f"{one.name}.svg", one.svg)


def render(study: Study, drawn: Sequence[Figure], command: str = "") -> str:
    sections: dict[str, Sequence[Block]] = {
        "The finding": _finding(study),
        "The numbers": _numbers(study),
        "The pictures": [Section("", drawn, kind="pictures")] if drawn else [],
        "What changed": [
            _note("p is corrected by Holm's method over the numbers of each pair of points, as in compare."),
            _table(changes(study)),
        ],
        "In the paper": _published(study),
        "How it was measured": _measured(study, command),
    }
    title = f"Speed and gender: {direction(*study.direction.split('-'))}"
    shown = [Section(name, parts, id=name.split()[-1]) for name, parts in sections.items() if parts]
    return html.render("plain.html", title, sections=shown)


def _note(text: str) -> Paragraph:
    return Paragraph(text, "note")


def _facts(facts: Mapping[str, str]) -> Drawing:
    return Drawing("facts", [(name, [text]) for name, text in facts.items()])


def _table(found: Table, caption: str = "") -> document.Table:
    return document.Table(found.columns, found.rows, caption or found.title)


def _finding(study: Study) -> list[Block]:
    about = (
        f"Each is compared with {study.baseline.name}. CI: {100 * study.confidence:g}% confidence interval. Tests are "
        "corrected for multiple tests (Holm)."
    )
    notes = [_note(f"{note[:1].upper()}{note[1:]}.") for note in study.notes]
    return [Bullets(findings(study)), _note(about), *notes]


def _numbers(study: Study) -> list[Block]:
    caption = (
        f"In the form of Table 4 of Renduchintala et al. (2021): seconds for 1,000 sentences (median of "
        f"{len(study.rounds.rounds)} rounds), quality, and percent right. FO, MO: occupations of women, of men; FC, "
        "MC: the sentence says that the person is a woman, a man."
    )
    lost = (
        "Points lost per second: by how many points women in men's occupations fared worse for each second saved on "
        "1,000 sentences; below 0, they fared better. There is no number where no time was clearly saved."
    )
    more = others(study)
    return [
        *([_table(over_trainings(study))] if study.trainings else []),
        _table(table4(study), caption),
        _facts({f"drop, {how}": means for how, means in MAX_DROPS.items()}),
        _table(prices(study)),
        *([_table(more)] if more.rows else []),
        _note(lost),
        Section("every number with its interval", [_table(intervals(study))], folded=True),
        Section(
            "pro and anti by both rules of arithmetic", [_table(arithmetic(study)), _facts(ARITHMETIC)], folded=True
        ),
    ]


def _published(study: Study) -> list[Block]:
    found: list[Block] = []
    for section in published_sections():
        if section.direction == study.direction:
            found.append(_table(section.drops()))
            found += [_note(section.misprinted())] if section.misprinted() else []
    about = (
        "What the authors found, to compare with the drops above: other models, other data, another machine. Time and "
        "BLEU were measured on the test sets of WMT."
    )
    return [_note(about), *found] if found else []


def _measured(study: Study, command: str) -> list[Block]:
    facts, rounds = study.facts, study.rounds
    rows = {
        "time": f"{CLOCKS[rounds.clock]}; {len(rounds.rounds)} rounds of all points in turn, each after {N_WARM_UP} "
        "sentences that do not count",
        "timed on": f"{facts['n_timed']:,} sentences of {facts['timed_on']}",
        "test set": str(facts["test_set"] or "none"),
        "data": f"{facts['data']}; rules {facts['rules']}",
        "machine": ", ".join(f"{key} {value}" for key, value in facts["machine"].items()),
    }
    for name, one in facts["systems"].items():
        spec = " ".join([one["spec"], *(f"{key}={value}" for key, value in one["options"].items())])
        rows[name] = "; ".join(filter(None, (spec, one["decoding"], one["computing"], one["system_id"])))
    runs = shlex.join(f"{point.name}=runs/{point.slug}" for point in study.points)
    lines = {"This page:": command, "All sentences, side by side:": f"gendermark report {runs} -o report.html"}
    again = [block for what, line in lines.items() if line for block in (Paragraph(what), Code(line))]
    return [_facts(rows), *again]
