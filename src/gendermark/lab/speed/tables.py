"""The tables of a study of speed: in the form of the paper's Table 4, and what changed against the baseline."""

from __future__ import annotations

from gendermark.lab.speed.drops import ARITHMETIC, GAPS, MAX_DROPS
from gendermark.lab.speed.measured import Study
from gendermark.lab.speed.words import UNCHANGED, findings, is_unchanged, of_price
from gendermark.markup import minus
from gendermark.records import Table, Unit, show_p
from gendermark.report.writing import latex_escaped, latex_line, latex_table, markdown_line

TIME = "s/1,000"
"""Head of the column of seconds for a thousand sentences."""
_DROP = "max rel. % drop, {}"


def table4(study: Study) -> Table:
    """Time, quality and every column of Table 4, a row per point; then the relative drops, by every definition."""
    columns = study.columns
    rows: list[tuple[str, ...]] = [
        (
            point.name,
            f"{point.seconds(study.confidence).value:.2f}",
            *(_one(point.value(column)) for column in columns),
        )
        for point in study.points
    ]
    for how in MAX_DROPS:
        found = study.max_drops(how)
        rows.append((_DROP.format(how), *("" if c in GAPS else _one(found[c]) for c in ("time", *columns))))
    return Table("speed", f"Speed and gender, {study.direction}", ("point", TIME, *columns), rows)


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
            UNCHANGED if is_unchanged(change) else change.change(),
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
        seconds = point.seconds(study.confidence)
        row = [point.name, f"{seconds.value:.2f}", _ends(seconds.low, seconds.high)]
        if point.is_baseline:
            rows.append((*row, "", "", ""))
            continue
        fast = point.times_as_fast(study.confidence)
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
    every = (table4(study), prices(study), others(study), changes(study), intervals(study), arithmetic(study))
    parts = [_markdown(one) for one in every if one.rows]
    said = "\n".join(f"- {sentence}" for sentence in (*findings(study), *study.notes))
    return f"# Speed and gender, {study.direction}\n\n{said}\n\n" + "\n".join([*parts, _legend(), ""])


def _markdown(table: Table) -> str:
    rule = markdown_line(["---", *["---:"] * (len(table.columns) - 1)])
    lines = [f"## {table.title}", "", markdown_line(table.columns), rule, *map(markdown_line, table.rows), ""]
    return "\n".join(lines)


def _legend() -> str:
    meant = [f"- max drop, {how}: {means}" for how, means in MAX_DROPS.items()]
    meant += [f"- arithmetic {how}: {means}" for how, means in ARITHMETIC.items()]
    return "\n".join(meant)


def latex(study: Study) -> str:
    """Table 4 as the paper has it."""
    table = table4(study)
    n = len(study.points)
    lines = [latex_line(row) for row in table.rows]
    lines.insert(n, r"\midrule")
    caption = (
        f"Speed and gender, {study.direction}: seconds for 1,000 sentences (median of {len(study.rounds.rounds)} "
        f"rounds, {study.rounds.clock} clock), quality, and percent of occupation nouns with the right gender. FO, MO: "
        "occupations of women, of men; FC, MC: the sentence says that the person is a woman, a man. Relative drops: "
        + "; ".join(f"{how}: {means}" for how, means in MAX_DROPS.items())
        + "."
    )
    head = [latex_line([study.direction, *table.columns[1:]])]
    written = latex_table("table*", "l" + "r" * (len(table.columns) - 1), head, lines, caption, "tab:speed")
    return "\n".join([r"% needs \usepackage{booktabs}", *(f"% {latex_escaped(s)}" for s in findings(study)), written])
