"""`gendermark compare` and `gendermark gate`: paired differences between runs, and a verdict for CI."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from gendermark.cli import terminal
from gendermark.cli.options import Folder, Names, Resamples, Seed, folders, option_group, pairs, resampling
from gendermark.cli.results import read_runs
from gendermark.cli.terminal import All, AsJson, grouped, print_json, print_table, say, say_next, show_progress
from gendermark.errors import UserError
from gendermark.io.textfiles import write_text

if TYPE_CHECKING:
    from gendermark.benchmarks.benchmark import Benchmark
    from gendermark.metrics.metric import Resampling
    from gendermark.records import Test
    from gendermark.runs.compare import Comparison, ComparisonReport, ManyCompared
    from gendermark.runs.folder import Run
    from gendermark.runs.gates import Check, Verdict

    Compared = tuple[tuple[str, str], Comparison]
    """Two systems and their difference."""


MOST_ROWS, MOST_LONG_ROWS = 10, 8
"""Rows without `--all`; long ones take two lines, or a heading each."""
_PIPED = ("difference", "low", "high", "p_value", "p_adjusted", "change")
_BRACKETS = re.compile(r" \([^()]*\)")
_HELP = "(see `gendermark compare --help`)"


def compare(
    runs: Annotated[tuple[str, ...], Argument(show_default=False)] = (),
    trend: bool = False,
    metric: tuple[str, ...] = (),
    everything: All = False,
    how: Resampling = option_group(resampling, resamples=10_000),
    name: Names = (),
    as_json: AsJson = False,
) -> None:
    """Compare runs: paired differences with confidence intervals and corrected p-values.

    Compare every run with the first; with --all or --json, every pair. For each pair, Holm correction is applied
    separately to the headline metrics and to all other metrics.

    Args:
        runs ([NAME=]FIRST [NAME=]SECOND ...): Run folders; the first is the baseline.
        trend: Treat the runs as versions of one system, oldest first.
        metric (METRIC): Only this metric, for example recall_gap or accuracy:feminine; repeatable.
        everything: Print every metric of every pair of runs.
    """
    from gendermark.records import show_p
    from gendermark.runs import compare as comparing

    given = folders(runs, name)
    if len(given) < 2:
        raise UserError(f"give at least two run folders, the baseline first {_HELP}")
    asked = comparing.Asked(metric, everything)
    in_full = everything or bool(metric)
    found: ComparisonReport | ManyCompared
    tests: Sequence[Test] = ()
    read = read_runs(given)
    if len(given) == 2 and not trend:
        first, second = (run.results for run in read)
        with show_progress("comparing") as progress:
            found = report = comparing.compare(first, second, how, asked, progress=progress)
        notes = [*report.notes, *comparing.too_coarse(report.n_questions, how)]
        every = from_first = [(report.names, c) for c in report.comparisons]
        title, tests = f"{report.names[1]} (B) compared with {report.names[0]} (A)", report.tests
    else:
        by_key = _by_key(given)
        loaded = {key: run.results for key, run in zip(by_key, read, strict=True)}
        with show_progress("comparing") as progress:
            found = many = comparing.compare_many(loaded, how, asked, trend=trend, progress=progress)
        notes = list(many.notes)
        every = [((many.called[i], many.called[j]), c) for m in many.metrics for (i, j), c in m.differences.items()]
        from_first = [one for one in every if one[0][0] == many.called[0]]
        title = f"{len(given) - 1} runs (B) compared with {many.called[0]} (A)"
    if as_json:
        print_json(found.to_json())
    elif not terminal.is_terminal(sys.stdout):
        _print_rows(every if in_full else from_first, in_full=in_full)
    elif in_full:
        # A table for each benchmark: one long name would make a list of them all.
        for cell, own in groupby(every, key=lambda one: one[1].cell):
            _print_differences(cell, list(own), in_full=True)
        for test in tests:
            facts = test.details
            say(
                f"{test.name}: of {facts['n']:,} items {facts['only_first_right']:,} are correct only in A, "
                f"{facts['only_second_right']:,} only in B; p {show_p(test.p_value)} (permutation of groups)"
            )
    else:
        shown = _most_important(from_first, MOST_ROWS if len(given) == 2 else MOST_LONG_ROWS)
        _print_differences(title, shown, in_full=False)
        _explain_accuracy([c for _, c in shown], read)
        for name_ in dict.fromkeys(names[1] for names, _ in from_first):
            _say_counts(name_, [c for names, c in from_first if names[1] == name_])
        if len(shown) < len(from_first):
            say(f"The table leaves out {len(from_first) - len(shown)} of these comparisons; --all shows every one.")
    if trend and not as_json:
        for m in many.metrics:
            say(m.trend(many.called))
    if not as_json and not in_full and terminal.is_terminal(sys.stdout):
        named = [word for one in name for word in ("--name", one)]
        words = [*runs, *(["--trend"] if trend else []), *named]
        say_next({shlex.join(["gendermark", "compare", *words, "--all"]): "every number"})
    for note in notes:
        say(f"note: {note}")


def _by_key(given: list[Folder]) -> dict[str, Folder]:
    """Key runs by the last part of their paths, or by the whole path if that is not unique."""
    places = [one.path.resolve() for one in given]
    for place, one in zip(places, given, strict=True):
        if places.count(place) > 1:
            raise UserError(f"{one.path} is given twice; give each run once {_HELP}")
    keys = [place.name for place in places]
    return {key if keys.count(key) == 1 else str(one.path): one for key, one in zip(keys, given, strict=True)}


def _say_counts(name: str, comparisons: Sequence[Comparison]) -> None:
    """Summarise the verdicts of a system; the counts add up to all headline metrics."""
    from gendermark.runs.compare import CHANGES, SMALLER

    ordered = sorted(comparisons, key=lambda c: CHANGES.index(c.change()))
    counts = Counter(c.in_words() for c in ordered if c.change() != SMALLER)
    said = [", ".join(f"{n} {one}" for one, n in counts.items())] if counts else []
    smaller = dict.fromkeys(_short_label(c) for c in ordered if c.change() == SMALLER)
    said += [f"the {one} is smaller, but accuracy is lower" for one in smaller]
    say(f"- {name}, {len(ordered)} headline metrics: {'; '.join(said)}.")


def _most_important(comparisons: Sequence[Compared], most: int) -> list[Compared]:
    """Choose the rows that fit on a screen: significant differences, gender gaps first, then the others."""

    def rank(place: int) -> tuple[bool, bool, bool]:
        _, c = comparisons[place]
        return c.difference is None, not c.is_significant, not _is_gap(c)

    return [comparisons[place] for place in sorted(sorted(range(len(comparisons)), key=rank)[:most])]


def _benchmark(c: Comparison | Check) -> Benchmark:
    from gendermark import registry

    found: Benchmark = registry.load("benchmark", c.cell.partition(".")[0])
    return found


def _is_gap(c: Comparison) -> bool:
    from gendermark.metrics.metric import key_from

    rates = _benchmark(c).presentation.two_rates
    return rates is not None and key_from(rates.gap) == (c.metric, c.slice) and c.difference is not None


def _title(c: Comparison | Check) -> str:
    return f"{_benchmark(c).title}, {c.cell.partition('.')[2]}"


def _label(c: Comparison | Check) -> str:
    """A metric's label with its code for `--metric`, `--min` and the like."""
    label = _benchmark(c).label(c.metric, c.slice)
    code = c.metric if c.slice == "all" else f"{c.metric}:{c.slice}"
    if getattr(c, "kind", "") == "fixed":
        label = {"feminine": "women", "masculine": "men"}.get(c.slice, label)
    return label if f"({code})" in f"({label})" else f"{label} ({code})"


def _short_label(c: Comparison | Check) -> str:
    """A metric's label without code, symbol or remarks in brackets."""
    return _BRACKETS.sub("", _label(c))


def _print_differences(title: str, comparisons: Sequence[Compared], *, in_full: bool) -> None:
    """Print metrics below their benchmark, or, of several pairs of runs, the pairs below each metric."""
    from gendermark.markup import minus
    from gendermark.records import show_p
    from gendermark.reporting.phrases import between

    label = _label if in_full else _short_label
    n_pairs = len({names for names, _ in comparisons})
    rows = []
    for (first, second), c in comparisons:
        change = c.unit.show_change(c.difference)
        if c.difference is not None and c.low is not None and c.high is not None:
            change += f" ({between(c.unit.show(c.low), c.unit.show(c.high))})"
        p = [show_p(c.p_adjusted)] if in_full else []
        facts = (*map(minus, (c.unit.show(c.first), c.unit.show(c.second), change)), *p, c.in_words())
        if in_full and c.change() == "unclear" and c.detectable:
            facts = (*facts[:-1], f"{facts[-1]}; smallest detectable difference: {c.unit.show(c.detectable)}")
        pair = f"{second} against {first}" if in_full else second
        rows.append((_title(c), (label(c), *facts)) if n_pairs == 1 else (f"{_title(c)}, {label(c)}", (pair, *facts)))
    columns = ("A", "B", "change (95% CI)", *(["p"] if in_full else []), "verdict")
    print_table(title, ("metric" if n_pairs == 1 else "run", *columns), grouped(rows))


def _explain_accuracy(shown: Sequence[Comparison | Check], runs: Sequence[Run]) -> None:
    """Explain an accuracy over all sentences, which can be below that of women and of men."""
    from gendermark.reporting.phrases import ALL_SENTENCES, ONLY_NEUTRAL

    cells = list(dict.fromkeys(c.cell for c in shown if "." in c.cell and _short_label(c).endswith(ALL_SENTENCES)))
    if cells:
        named = [
            (run.called, result.find("accuracy", "mf"))
            for run in runs
            for result in run.results
            if result.cell == cells[0]
        ]
        values = ", ".join(f"{called} {one.shown}" for called, one in named if one is not None)
        of = f", {cells[0].partition('.')[2]}" if len(cells) > 1 else ""
        say(f"Accuracy{ALL_SENTENCES}: {ONLY_NEUTRAL}; women and men only (accuracy:mf){of}: {values}.")


def _print_rows(comparisons: Sequence[Compared], *, in_full: bool) -> None:
    """Print one row per difference, for programs: two systems, their values, and the difference."""
    columns = ("cell", "metric", "slice", "first", "second", "first_value", "second_value", *_PIPED)
    more = [key for _, c in comparisons[:1] for key in c.to_json() if key not in columns] if in_full else []
    rows = []
    for names, c in comparisons:
        facts = {**c.to_json(), "change": c.in_words()}
        rows.append((c.cell, c.metric, c.slice, *names, c.first, c.second, *(facts[key] for key in (*_PIPED, *more))))
    print_table("", (*columns, *more), rows)


_KINDS = {
    "bound": "Required values",
    "general": "Headline metrics: would the loss hold for other occupations too? (p-values after Holm)",
    "fixed": "Accuracy: is there a loss on exactly these sentences? (p-values after Holm)",
}
"""Headings of the kinds of checks, in output order."""
MOST_SENTENCES = 1
"""Newly wrong sentences shown without `--all`."""


def gate(
    run: str,
    baseline: str = "",
    min_: tuple[str, ...] = (),
    max_: tuple[str, ...] = (),
    alpha: float = 0.05,
    fixed_tolerance: Annotated[float, Option(min=0)] = 2.0,
    tolerance: tuple[str, ...] = (),
    fail_on_gap: bool = False,
    resamples: Resamples = 10_000,
    seed: Seed = 12345,
    junit: Path | None = None,
    github: Annotated[bool | None, Option("--github/--no-github", show_default=False)] = None,
    summary: Path | None = None,
    page: Path | None = None,
    name: Names = (),
    everything: All = False,
    as_json: AsJson = False,
) -> None:
    """CI gate: fail (exit code 1) if a run is significantly worse than its baseline or violates a threshold.

    Args:
        run ([NAME=]DIR): Run folder of the system under test.
        baseline ([NAME=]DIR): Baseline run.
        min_ (METRIC=VALUE): Minimum value, for example anti=60 (SimpleGEN) or accuracy:anti=60 (WinoMT); repeatable.
        max_ (METRIC=VALUE): Maximum value, for example delta=15 (SimpleGEN) or delta_s=15 (WinoMT); repeatable.
        alpha: Significance level of the comparison with the baseline.
        fixed_tolerance (POINTS): Loss of accuracy allowed for women, and for men, on exactly these sentences, in
            points; rarely changed.
        tolerance ([METRIC=]POINTS): Loss allowed in a headline metric, in points (default 0); usually the one to set.
            Repeatable, for example 1 or recall_gap=2.
        fail_on_gap: Fail if a gap grew significantly. By default it passes, with a note, if neither women nor men lost
            more than --fixed-tolerance (for example, men gained and women stayed the same).
        junit (FILE): Write the checks as JUnit XML.
        github: Print GitHub Actions annotations (default: on when running in GitHub Actions).
        summary (FILE): Write the checks as Markdown; default on GitHub: the step summary.
        page (FILE): Write the report of both runs, with the checks on top.
    """
    from gendermark.reporting import ci
    from gendermark.runs import gates

    if not baseline and (tolerance or fail_on_gap):
        raise UserError("--tolerance and --fail-on-gap need --baseline DIR")
    if not (baseline or min_ or max_):
        raise UserError("nothing to check; give --baseline DIR, --min METRIC=VALUE or --max METRIC=VALUE")
    if not 0 <= alpha <= 1:
        raise UserError(f"--alpha must lie between 0 and 1 (usually 0.05), not {alpha:g}")
    strict = gates.Strictness(*_tolerances(tolerance), fail_on_gap, fixed_tolerance)
    now, *others = read = read_runs(folders([run, *([baseline] if baseline else [])], name))
    limits = pairs(min_, "--min", "anti=60"), pairs(max_, "--max", "delta=15")
    before = others[0] if others else None
    how = resampling(resamples, seed)
    checks = gates.checks_of(now.results, before.results if before else None, limits, how, alpha, strict)
    if not checks:
        raise UserError("the two runs share no headline metric; use --min or --max")
    verdict = gates.Verdict.of(checks, *(gates.changed_sentences(before, now) if before else ()))
    title = f"Gate: {now.called}{f' against {before.called}' if before else ''}"
    on_github = github if github is not None else os.environ.get("GITHUB_ACTIONS") == "true"
    # From here on the exit code is the verdict: failing to write another output must not change it.
    with _say_what_fails():
        if as_json:
            print_json(verdict.to_json())
        else:
            if terminal.is_terminal(sys.stdout):
                say(f"{title}\n{verdict.sentence}\n")
            _print_checks(title, verdict, read[::-1], everything=everything)
    called = str(now.manifest.get("name", "")) or now.path.resolve().name
    if junit is not None:
        with _say_what_fails():
            write_text(junit, ci.junit(verdict, called))
    step = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if summary is not None and str(summary) != step:
        with _say_what_fails():
            write_text(summary, ci.summary(verdict, called))
    elif step and (summary is not None or on_github):
        # Other commands of the step append to this file too.
        with _say_what_fails(), Path(step).open("a", encoding="utf-8", newline="\n") as file:
            file.write(ci.summary(verdict, called))
    if page is not None:
        from gendermark.reporting.page import render_page

        with _say_what_fails():
            write_text(page, render_page(read[::-1], gate=verdict))
            say(f"report written to {page}")
    with suppress(OSError):  # stderr is closed too
        for line in [] if as_json else _sentences(verdict, len(verdict.newly_wrong) if everything else MOST_SENTENCES):
            say(line)
        for line in ci.workflow_commands(verdict) if on_github else []:
            say(line)
        if as_json or not terminal.is_terminal(sys.stdout):
            say(verdict.sentence)
    if not verdict.passed:
        raise typer.Exit(1)


def _print_checks(title: str, verdict: Verdict, runs: Sequence[Run], *, everything: bool) -> None:
    """Print all checks when piped or requested; else the first that failed, or of those that passed."""
    if not terminal.is_terminal(sys.stdout):
        rows = [(c.outcome, c.cell, c.metric, c.slice, c.finding) for c in verdict.checks]
        print_table(title, ("outcome", "cell", "metric", "slice", "finding"), rows)
        return
    shown = verdict.checks if everything else verdict.failures[:MOST_LONG_ROWS] or verdict.checks[:MOST_ROWS]
    for kind, heading in _KINDS.items():
        checks = [(_title(c), _check_row(c, everything=everything)) for c in shown if c.kind == kind and "." in c.cell]
        if checks:
            print_table(heading, ("check", "outcome", "values", "finding"), grouped(checks))
    _explain_accuracy(shown, runs)
    if len(shown) < len(verdict.checks):
        n = len(shown)
        which = f"the {'only' if n == 1 else n} failed check{'s' * (n > 1)}" if verdict.failures else f"{n} checks"
        if n < len(verdict.failures):
            which = f"the first {n} of {len(verdict.failures)} failed checks"
        say(f"These are {which}; --all lists all {len(verdict.checks)}.")


def _check_row(c: Check, *, everything: bool) -> tuple[str, ...]:
    values, _, finding = c.finding.partition(", ")
    if everything:
        return _label(c), c.outcome, values, finding
    # The heading of the table, and the label, have the rest.
    finding = finding.replace(" after Holm", "").replace(" on these sentences", "")
    values = values.removeprefix(f"{_label(c).partition(' (')[0]} ")
    return _short_label(c), c.outcome, values, finding


def _tolerances(texts: Sequence[str]) -> tuple[float, dict[str, float]]:
    from gendermark.runs.gates import number_of

    for_all = [text for text in texts if "=" not in text]
    if len(for_all) > 1:
        raise UserError("--tolerance for all metrics is given twice; give it once, or per metric: recall_gap=2")
    named = pairs([text for text in texts if "=" in text], "--tolerance", "recall_gap=2", "POINTS or METRIC=POINTS")
    of_one = {key: number_of(f"the tolerance of {key}", text, least=0) for key, text in named.items()}
    return sum(number_of("--tolerance", text, least=0) for text in for_all), of_one


def _sentences(verdict: Verdict, most: int) -> Iterator[str]:
    """List the first newly wrong sentences, with the deciding words in brackets."""
    wrong, right = verdict.newly_wrong, verdict.newly_right
    if not wrong and not right:
        return
    more = ", for example (--json has all):" if len(wrong) > most else ":" if wrong else ""
    yield f"{len(right):,} sentences newly right, {len(wrong):,} newly wrong{more}"
    # Prefer different people: the sentences about one are often similar.
    first = {one.entity or one.source: one for one in reversed(wrong)}
    shown = [*(one for one in wrong if first.get(one.entity or one.source) is one), *wrong]
    for one in list(dict.fromkeys(shown))[:most]:
        source, before, now = one.lines
        yield f"  {source}\n    {before}\n    {now}"


@contextmanager
def _say_what_fails() -> Iterator[None]:
    """Report what could not be written, and continue."""
    try:
        yield
    except BrokenPipeError:  # the reader has quit
        _discard_output()
    except UserError as problem:
        with suppress(OSError):
            say(f"error: {' '.join(str(problem).split())}")
    except OSError as problem:
        _discard_output()
        with suppress(OSError):
            say(f"error: cannot write {problem.filename or 'the output'}: {problem.strerror or problem}")


def _discard_output() -> None:
    """Discard buffered output, which would fail again at exit with another exit code."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
