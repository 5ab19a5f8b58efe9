"""Print results: one headline row each and the main findings; every estimate with `--all`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gendermark.cli import terminal
from gendermark.cli.terminal import grouped, print_table, print_text, say

if TYPE_CHECKING:  # keeps `--help` fast
    from gendermark.cli.options import Folder
    from gendermark.records import Estimate, Test
    from gendermark.reporting.findings import Rates
    from gendermark.result import Result
    from gendermark.runs.folder import Run

MOST_ROWS = 12
MOST_WARNINGS = 3
LONGEST_TABLE = 8
_ESTIMATE = ("metric", "value", "interval", "judged", "groups", "p")
_COLUMNS = ("benchmark", "direction", "system", "metric", "slice", "value", "low", "high", "n_judged", "n_total")
_OPEN = "* Gender unspecified in the source: how many people are translated as women and as men, of"
_GAP = "Gap: men minus women, in points; computed before rounding."
_CORE = "Core data: written for gendermark, not the official sentences."


def print_results(
    results: Sequence[Result],
    *,
    everything: bool = False,
    all_rows: str = "",
    folders: Sequence[str] = (),
    printed: str = "",
) -> None:
    """Print a headline row for each result, or every estimate; then warnings that are not in `printed`.

    `all_rows` says where the omitted rows of long tables are. `folders` name the runs, if there are several.
    """
    from gendermark.reporting.phrases import lost_by_gender

    named = list(zip(results, folders or [""] * len(results), strict=True))
    if not everything:
        print_headlines(results, folders=folders)
    elif terminal.is_terminal(sys.stdout):
        for result, folder in named:
            _draw(result, all_rows, folder)
        say("`gendermark list metrics` says what each metric counts.")
    else:
        rows = [
            (
                *((folder,) if folders else ()),
                *(result.selection.benchmark, result.selection.direction, result.called),
                *(e.metric, e.slice, e.value, e.low, e.high, e.n_judged, e.n_total),
            )
            for result, folder in named
            for e in result.estimates
        ]
        print_table("", ("run", *_COLUMNS) if folders else _COLUMNS, rows)
    said = [
        f"{mark}{f'{folder}, ' if folder else ''}{result.cell}: {text}"
        for result, folder in named
        for mark, texts in (("", [one.text for one in lost_by_gender(result)]), ("warning: ", result.warnings))
        for text in texts
        if text not in printed
    ]
    shown = said if everything else said[:MOST_WARNINGS]
    for line in shown:
        say(line)
    if len(said) > len(shown):
        say(f"{len(said) - len(shown)} more warnings; --all lists them")


def read_runs(given: Sequence[Folder]) -> list[Run]:
    from gendermark.runs.folder import read_run

    runs = [read_run(*one) for one in given]
    for run in runs:
        for result in run.results:
            for text in result.unsound:
                say(f"warning: {run.name}, {result.cell}: {text}")
    return runs


# -- headlines ---------------------------------------------------------------------------------------------------------


class Headline(NamedTuple):
    """One result: rates for women and men, and whether the gap is significant."""

    result: Result
    folder: str
    title: str
    """The benchmark, with a star if the source does not specify gender."""
    rates: Rates | None
    verdict: str
    note: str = ""
    """The finding of a benchmark that does not compare women and men."""

    @property
    def is_about_other_things(self) -> bool:
        from gendermark.reporting.phrases import TOO_FEW

        return self.rates is None and bool(self.note) and self.verdict not in ("no conclusion", TOO_FEW)

    @property
    def caveat(self) -> str:
        from gendermark.reporting.findings import benchmark_of

        return benchmark_of(self.result).presentation.caveat(self.result.selection)

    @property
    def size(self) -> float:
        return (1000 if self.verdict == "significant" else 0) + (self.rates.size if self.rates else 0)

    @property
    def where(self) -> tuple[str, str, str]:
        return self.result.selection.direction, self.result.called, Path(self.folder).name


def headlines(results: Sequence[Result], folders: Sequence[str] = ()) -> list[Headline]:
    """One row per result; two for a benchmark with people of specified and of unspecified gender."""
    from gendermark.metrics.verdicts import ALPHA, State
    from gendermark.reporting.findings import FEW_JUDGED, all_rates, benchmark_of, found_in, missing, too_few_judged
    from gendermark.reporting.phrases import AFTER_CORRECTION, TOO_FEW, ci, state

    rows = []
    for result, folder in zip(results, folders or [""] * len(results), strict=True):
        benchmark, verdict, note = benchmark_of(result), TOO_FEW, ""
        if found := all_rates(result):
            for rates in found:
                title = benchmark.name if rates.source_tells else f"{benchmark.name} *"
                rows.append(Headline(result, folder, title, rates, "" if rates.gap is None else state(rates.gap)))
            continue
        tested = [one for one in result.verdicts if one.state is not State.TOO_FEW]
        if lacking := missing(result):
            verdict, note = "no conclusion", f"{lacking}."
        elif tested and benchmark.presentation.two_rates is None:
            asked = tested[0]
            is_corrected = asked.state is State.NOT_SIGNIFICANT and asked.p is not None and asked.p < ALPHA
            verdict = AFTER_CORRECTION if is_corrected else asked.state.replace("_", " ")
            e = result.find(asked.metric, asked.slice)
            number = f": {e.shown}{'%' if e.unit.scale == '%' else ''}{ci(e)}" if e is not None else ""
            said = (one for one in found_in(result) if one.amount is not None and one.amount.metric == asked.metric)
            found_ = next(said, None)
            note = found_.text if found_ else f"{benchmark.label(asked.metric, asked.slice)}{number}."
        elif not tested:
            note = too_few_judged(result, FEW_JUDGED)
        rows.append(Headline(result, folder, benchmark.name, None, verdict, note))
    return rows


def print_headlines(results: Sequence[Result], folders: Sequence[str] = ()) -> None:
    """Print one row per result; on a terminal at most twelve, with the largest gaps."""
    from gendermark.reporting.findings import among
    from gendermark.reporting.phrases import TOO_FEW

    rows = headlines(results, folders)
    order = list(dict.fromkeys(row.result.selection.benchmark for row in rows))
    rows.sort(key=lambda row: order.index(row.result.selection.benchmark))
    if not terminal.is_terminal(sys.stdout):
        heads = ("benchmark", "direction", "system", "women", "men", "gap", "low", "high", "verdict", "source_gender")
        print_table("", ("run", *heads) if folders else heads, list(_piped(rows, with_folder=bool(folders))))
        return
    shown = rows
    if len(rows) > MOST_ROWS:
        largest = sorted(rows, key=lambda row: row.size, reverse=True)[:MOST_ROWS]
        shown = [row for row in rows if row in largest]
    varies = [len(set(facts)) > 1 for facts in zip(*(row.where for row in rows), strict=True)]
    caption = ""
    if rows:
        said = [fact for fact, differs in zip(rows[0].where, varies, strict=True) if fact and not differs]
        caption = ", ".join(reversed(said)) or f"{len(rows)} results"
        caption += ", core data" if all(row.result.selection.data == "core" for row in rows) else ""
    numbers: list[Sequence[Any]] = [
        (row.title, *_shares(row), "see below" if row.is_about_other_things else row.verdict) for row in shown
    ]
    if any(varies):
        names = [
            ", ".join(fact for fact, differs in zip(row.where, varies, strict=True) if differs and fact)
            for row in shown
        ]
        numbers = grouped((row[0], (name, *row[1:])) for name, row in zip(names, numbers, strict=True))
    print_table(caption, ("benchmark", "women", "men", "gap (95% CI)", "verdict"), numbers)
    has_gap = any(row.rates is not None and row.rates.gap is not None and row.verdict != TOO_FEW for row in shown)
    notes = [*([_GAP] if has_gap else []), *(f"{row.title}: {row.note}" for row in shown if row.note)]
    notes += dict.fromkeys(f"{row.title}: {row.caveat}." for row in shown if row.caveat)
    notes += [_CORE] if any(row.result.selection.data == "core" for row in shown) else []
    if len(shown) < len(rows):
        notes.append(f"{len(shown)} of {len(rows)} rows, those with the largest gaps; --all shows every number")
    if of := among([row.rates for row in shown if row.rates is not None]):
        notes.append(f"{_OPEN} {of}. Rows without *: how many keep their gender.")
    for note in notes:
        print_text(note)


def _piped(rows: Sequence[Headline], *, with_folder: bool) -> Iterator[tuple[Any, ...]]:
    for row in rows:
        selection, rates = row.result.selection, row.rates
        numbers: list[float | None] = [None] * 5
        if rates is not None:
            gap = rates.gap
            numbers = [rates.women.value, rates.men.value, *((gap.value, gap.low, gap.high) if gap else [None] * 3)]
        where = (*((row.folder,) if with_folder else ()), selection.benchmark, selection.direction, row.result.called)
        specified = rates and ("specified" if rates.source_tells else "unspecified")
        yield (*where, *(None if number is None else f"{number:.1f}" for number in numbers), row.verdict, specified)


def _shares(row: Headline) -> tuple[str, str, str]:
    from gendermark.markup import minus
    from gendermark.reporting.phrases import TOO_FEW, between, rounded

    if row.rates is None:
        return "–", "–", "–"
    women, men, gap = row.rates.women, row.rates.men, row.rates.gap
    if row.verdict == TOO_FEW:
        return *row.rates.in_counts, "–"
    shown = "–"
    if gap is not None and gap.value is not None:
        has_ends = gap.low is not None and gap.high is not None
        shown = f"{gap.value:.1f}" + (f" ({between(f'{gap.low:.1f}', f'{gap.high:.1f}')})" if has_ends else "")
    return f"{rounded(women.value)}%", f"{rounded(men.value)}%", minus(shown)


def say_findings(results: Sequence[Result], name: str = "") -> None:
    """Say how a system treats women and men, and its largest other effect, as the page does."""
    from gendermark.reporting.findings import benchmark_of, by_weight, found_in, place_name, significant, verdict
    from gendermark.reporting.phrases import GENDER_GAP, lost_by_gender, points

    if not results:
        return
    first = benchmark_of(next(one for one in results if one.selection.benchmark == by_weight(results)[0]))
    opening, several = first.name, len({one.selection.benchmark for one in results}) > 1
    based = f" Based on {first.title}." if several else ""
    say(f"- {verdict([(name or results[0].called, results)])}{based}")
    lost = {finding.text for result in results for finding in lost_by_gender(result)}  # printed beside the table
    others = [
        (benchmark_of(result).name == opening, finding.effect, result, finding)
        for result in results
        for finding in found_in(result)
        if finding.effect > 0 and finding.what != GENDER_GAP and finding.text not in lost
    ]
    if not others:
        return
    _, _, result, largest = max(others, key=lambda one: one[:2])
    kin = [
        (one, finding)
        for one in results
        if one.selection.benchmark == result.selection.benchmark
        for finding in found_in(one)
        if finding.what == largest.what and finding.amount is not None
    ]
    if len(kin) < 2 or not largest.what:
        say(f"- {benchmark_of(result).name}, {result.selection.direction}: {largest.text}")
        return
    sure, amount = significant([finding for _, finding in kin]), ""
    if sure:
        result, most = kin[sure[0]]
        amount = f"; largest: {place_name(result)}, {points(most.amount, turned=True)}" if most.amount else ""
    say(f"- {benchmark_of(result).name}: {largest.what}: significant in {len(sure)} of {len(kin)} languages{amount}.")


# -- every number ------------------------------------------------------------------------------------------------------


def _draw(result: Result, all_rows: str, folder: str) -> None:
    selection = result.selection
    where = f"{folder}, {selection.benchmark}" if folder else selection.benchmark
    title = f"{where} {selection.direction}, {result.called}: {selection.data} data, {selection.rules_in_words}"
    whole = [_line(e) for e in result.estimates if e.slice == "all"]
    slices = dict.fromkeys(e.slice for e in result.estimates if e.slice != "all")
    by_slice = [(name, *_line(e)) for name in slices for e in result.estimates if e.slice == name]
    if whole:
        print_table(title, _ESTIMATE, whole)
    if by_slice:
        print_table("" if whole else title, ("slice", *_ESTIMATE), by_slice)
    for table in result.tables:
        shown, rows = table.title, table.rows
        if len(rows) > LONGEST_TABLE:
            shown += f" (first and last {LONGEST_TABLE // 2} of {len(rows):,}{all_rows})"
            rows = [*rows[: LONGEST_TABLE // 2], *rows[-LONGEST_TABLE // 2 :]]
        print_table(shown, table.columns, rows)
    for test in result.tests:
        say(_sentence(test))
    say(f"signature: {result.signature}", is_wrapped=False)


def _line(e: Estimate) -> tuple[str, ...]:
    from gendermark.records import show_p

    p = "" if e.p_value is None else show_p(e.p_value)
    return e.metric, e.shown, e.interval, f"{e.n_judged:,} of {e.n_total:,}", f"{e.n_groups:,}", p


def _sentence(test: Test) -> str:
    from gendermark.metrics.verdicts import ALPHA
    from gendermark.records import show_p

    if test.p_value is None and test.statistic is not None and test.details.get("low") is not None:
        share = f"{test.statistic:.1f} [{test.details['low']:.1f}, {test.details['high']:.1f}]"
        return f"{test.question} {share} {test.details.get('statistic', '')}".strip()
    if test.p_value is None:
        return f"{test.question} Too few to tell."
    answer = "significant" if test.p_value < ALPHA else "not significant"
    return f"{test.question} {answer} (p {show_p(test.p_value)})"


# -- trackers ----------------------------------------------------------------------------------------------------------


def check_log(tracker: str) -> None:
    """Refuse an unknown tracker before any work."""
    if tracker:
        from gendermark.adapters.exports import check_tracker

        check_tracker(tracker)


def log_runs(tracker: str, *runs: Run) -> None:
    if tracker:
        from gendermark.adapters.exports import log

        for run in runs:
            say(log(run, tracker))
