"""Results for the person at the terminal; a plain table of estimates for whatever they pipe it into."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from gendermark.benchmarks.findings import lost_by_gender
from gendermark.cli import terminal
from gendermark.cli.terminal import print_table, print_text, say
from gendermark.records import Estimate, Table, Test, show_p
from gendermark.result import Result
from gendermark.runs.compare import ABSENT, CHANGES, FAMILY, Comparison, ComparisonReport

LONGEST_TABLE = 8
ESTIMATE = ("metric", "value", "interval", "judged", "groups", "p")
_SAID = {"unclear": "no clear difference"}
COLUMNS = ("benchmark", "direction", "system", "metric", "slice", "value", "low", "high", "n_judged", "n_total")


def print_results(results: Sequence[Result], all_rows: str = "", folders: Sequence[str] = ()) -> None:
    """All estimates: drawn tables on a terminal; one tab-separated table when piped.

    `all_rows` says where the rows of long tables are that are not drawn. `folders` are named where results of several
    runs are printed: they may be of one system.
    """
    named = list(zip(results, folders or [""] * len(results), strict=True))
    for result, folder in named:
        for finding in lost_by_gender(result):
            say(f"{_cell(result, folder)}: {finding.text}")
    if terminal.is_terminal(sys.stdout):
        for result, folder in named:
            _draw(result, all_rows, folder)
    else:
        rows = [
            (*((folder,) if folders else ()), *_where(result), *_row(estimate))
            for result, folder in named
            for estimate in result.estimates
        ]
        print_table("", ("run", *COLUMNS) if folders else COLUMNS, rows)
    for result, folder in named:
        for warning in result.warnings:
            say(f"warning: {_cell(result, folder)}: {warning}")


def _cell(result: Result, folder: str) -> str:
    return f"{folder}, {result.cell}" if folder else result.cell


def _where(result: Result) -> tuple[str, str, str]:
    selection = result.selection
    return selection.benchmark, f"{selection.source_language}-{selection.target_language}", result.system


def _row(e: Estimate) -> tuple[str | int, ...]:
    return e.metric, e.slice, _plain(e.value), _plain(e.low), _plain(e.high), e.n_judged, e.n_total


def _plain(value: object) -> str:
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _draw(result: Result, all_rows: str, folder: str) -> None:
    benchmark, direction, _ = _where(result)
    own = f"{folder}, " if folder else ""
    title = (
        f"{own}{benchmark} {direction}, {result.called}: {result.selection.data} data, rules {result.selection.rules}"
    )
    for rows, columns in (
        ([_line(e) for e in result.estimates if e.slice == "all"], ESTIMATE),
        ([(e.slice, *_line(e)) for e in _by_slice(result.estimates)], ("slice", *ESTIMATE)),
    ):
        if rows:
            print_table(title, columns, rows)
            title = ""
    for table in result.tables:
        _draw_table(table, all_rows)
    for test in result.tests:
        say(_sentence(test))
    say(f"signature: {result.signature}")


def _by_slice(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Those of parts of the sentences, part after part."""
    parts = [e for e in estimates if e.slice != "all"]
    order = {name: place for place, name in enumerate(dict.fromkeys(e.slice for e in parts))}
    return sorted(parts, key=lambda e: order[e.slice])


def _draw_table(table: Table, all_rows: str) -> None:
    rows = table.rows
    title = table.title
    if len(rows) > LONGEST_TABLE:
        title += f" (first and last {LONGEST_TABLE // 2} of {len(rows):,}{all_rows})"
        rows = [*rows[: LONGEST_TABLE // 2], *rows[-LONGEST_TABLE // 2 :]]
    print_table(title, table.columns, rows)


def _line(e: Estimate) -> tuple[str, ...]:
    p = "" if e.p_value is None else show_p(e.p_value)
    return e.metric, e.shown, e.interval, f"{e.n_judged:,} of {e.n_total:,}", f"{e.n_groups:,}", p


def _sentence(test: Test) -> str:
    if test.p_value is None and test.statistic is not None and test.details.get("low") is not None:
        share = f"{test.statistic:.1f} [{test.details['low']:.1f}, {test.details['high']:.1f}]"
        return f"{test.question} {share} {test.details.get('statistic', '')}".strip()
    if test.p_value is None:
        return f"{test.question} Too little data to say."
    answer = "yes" if test.p_value < 0.05 else "could be chance"
    return f"{test.question} {answer} (p {show_p(test.p_value)})"


def print_summary(comparisons: Sequence[Comparison], names: tuple[str, str]) -> None:
    """One screen, in words: what the second system is, cell by cell, and by which headline metrics."""
    from gendermark import registry
    from gendermark.benchmarks.findings import direction
    from gendermark.report.differences import Difference, phrases_of

    print_text(f"{names[1]} against {names[0]}{'' if comparisons else ': no headline metric to compare'}")
    for cell in dict.fromkeys(c.cell for c in comparisons):
        benchmark, _, languages = cell.partition(".")
        found = [Difference(1, benchmark, c) for c in comparisons if c.cell == cell]
        compared = [d for d in found if d.change != ABSENT] or found
        leading = next((d for d in compared if d.is_leading), compared[0])
        place = f"{registry.load('benchmark', benchmark).title}, {direction(*languages.split('-', 1))}"
        print_text(f"\n{place}: {_SAID.get(leading.change, leading.change)}")
        for change in CHANGES:
            if phrases := phrases_of([d for d in found if d.change == change]):
                print_text(f"{_SAID.get(change, change)}: {'; '.join(phrases)}", indent=2)


def print_comparison(report: ComparisonReport, *, in_full: bool = True) -> None:
    """Drawn: in words, or a table per cell. Piped: one table of everything."""
    if not terminal.is_terminal(sys.stdout):
        print_table("", Comparison.told(), [tuple(_plain(v) for v in c.to_json().values()) for c in report.comparisons])
    elif not in_full:
        print_summary(report.comparisons, report.names)
        return
    else:
        say(f"{report.names[1]} (second) against {report.names[0]} (first); p-values after {FAMILY}")
        for cell in dict.fromkeys(c.cell for c in report.comparisons):
            rows = [
                (
                    c.metric if c.slice == "all" else f"{c.metric} {c.slice}",
                    c.unit.show(c.first),
                    c.unit.show(c.second),
                    c.unit.show_change(c.difference),
                    c.interval,
                    show_p(c.p_adjusted),
                    c.change(),
                    _finds(c),
                )
                for c in report.comparisons
                if c.cell == cell
            ]
            print_table(cell, ("metric", "first", "second", "change", "interval", "p", "second is", "finds"), rows)
        if any(map(_finds, report.comparisons)):
            say("finds: the smallest difference that these sentences would show in four of five cases")
    for test in report.tests:
        facts = test.details
        say(
            f"{test.name}: {facts['only_first_right']:,} items right only in the first, {facts['only_second_right']:,} "
            f"only in the second, of {facts['n']:,}; p {show_p(test.p_value)}, groups of items exchanged"
        )


def _finds(c: Comparison) -> str:
    """Where it is unclear whether there is a difference: what these sentences could have shown."""
    return c.unit.show(c.detectable) if c.change() == "unclear" and c.detectable else ""
