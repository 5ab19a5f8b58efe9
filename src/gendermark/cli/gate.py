"""`gendermark gate`: fail a build if a system is significantly worse than its baseline, or violates a threshold."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gendermark.cli import terminal
from gendermark.cli.options import Names, Resamples, Seed, folders, pairs, resampling
from gendermark.cli.terminal import All, AsJson, grouped, print_json, print_table, say
from gendermark.errors import UserError

if TYPE_CHECKING:
    from gendermark.runs.gates import ChangedSentence, Verdict

MOST_ROWS = 12
MOST_SENTENCES = 3
"""Newly wrong sentences that are listed without `--all`."""


def gate(
    run: Annotated[str, typer.Argument(metavar="[NAME=]DIR", help="Run folder of the system under test.")],
    baseline: Annotated[str, typer.Option(metavar="[NAME=]DIR", help="Baseline run.")] = "",
    minimum: Annotated[
        list[str] | None,
        typer.Option(
            "--min", metavar="METRIC=VALUE", help="Minimum value, for example anti=60 or p_s:formal=0.2; repeatable."
        ),
    ] = None,
    maximum: Annotated[
        list[str] | None,
        typer.Option("--max", metavar="METRIC=VALUE", help="Maximum value, for example delta=15; repeatable."),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Significance level of the comparison with the baseline.")] = 0.05,
    fixed_tolerance: Annotated[
        float,
        typer.Option(
            "--fixed-tolerance",
            metavar="POINTS",
            min=0,
            help="Loss allowed for women or for men on the benchmark's own sentences, in points; fail if the loss is "
            "significantly larger.",
        ),
    ] = 2.0,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[METRIC=]POINTS",
            help="Allowed loss against the baseline, in points; fail only if the loss is significantly larger. "
            "Repeatable, for example 1 or recall_gap=2.",
        ),
    ] = None,
    fail_on_gap: Annotated[
        bool, typer.Option("--fail-on-gap", help="Fail if a gap grew, even if neither women nor men lost accuracy.")
    ] = False,
    resamples: Resamples = 10_000,
    seed: Seed = 12345,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the checks as JUnit XML.")] = None,
    github: Annotated[
        bool | None,
        typer.Option(
            "--github/--no-github",
            show_default=False,
            help="Print GitHub Actions annotations (default: on when running in GitHub Actions).",
        ),
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the checks as Markdown; default on GitHub: the step summary."),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the report of both runs, with the checks on top."),
    ] = None,
    name: Names = None,
    everything: All = False,
    as_json: AsJson = False,
) -> None:
    """Fail (exit code 1) if a run is significantly worse than its baseline or violates a threshold; for continuous
    integration."""
    from gendermark.io.textfiles import write_text
    from gendermark.reporting import ci
    from gendermark.runs import gates
    from gendermark.runs.folder import read_run

    if not baseline and (tolerance or fail_on_gap):
        raise UserError("--tolerance and --fail-on-gap need --baseline DIR")
    if not baseline and not minimum and not maximum:
        raise UserError("nothing to check; give --baseline DIR, --min METRIC=VALUE or --max METRIC=VALUE")
    if not 0 <= alpha <= 1:
        raise UserError(f"--alpha must lie between 0 and 1 (usually 0.05), not {alpha:g}")
    strict = gates.Strictness(*_tolerances(tolerance or []), fail_on_gap, fixed_tolerance)
    read = [read_run(*one) for one in folders([run, *([baseline] if baseline else [])], name)]
    for one in read:
        gates.verified(one.results)
    now = read[0]
    limits = pairs(minimum or [], "--min", "anti=60"), pairs(maximum or [], "--max", "delta=15")
    checks = gates.bounds(now.results, *limits)
    changed: tuple[tuple[ChangedSentence, ...], ...] = ()
    title = f"Gate: {now.called}"
    if baseline:
        before, how = read[1], resampling(resamples, seed)
        checks += gates.against_baseline(now.results, before.results, how, alpha, strict)
        changed = gates.changed_sentences(before, now)
        title += f" against {before.called}"
    if not checks:
        raise UserError("the two runs share no headline metric; use --min or --max")
    verdict = gates.Verdict.of(checks, *changed)
    on_github = github if github is not None else os.environ.get("GITHUB_ACTIONS") == "true"
    # From here on the exit code is the verdict, whatever becomes of its other forms: a gate that failed has failed.
    with _say_what_fails():
        if as_json:
            print_json(verdict.to_json())
        else:
            _print_checks(title, verdict, everything=everything)
    called = str(now.manifest.get("name", "")) or now.path.resolve().name
    if junit is not None:
        with _say_what_fails():
            write_text(junit, ci.junit(verdict, called))
    step = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if summary is not None and str(summary) != step:
        with _say_what_fails():
            write_text(summary, ci.summary(verdict, called))
    elif step and (summary is not None or on_github):
        # Other commands of the step write there too.
        with _say_what_fails(), Path(step).open("a", encoding="utf-8", newline="\n") as file:
            file.write(ci.summary(verdict, called))
    if page is not None:
        from gendermark.reporting.page import render_page

        with _say_what_fails():
            write_text(page, render_page(read[::-1], gate=verdict))
            say(f"report written to {page}")
    with suppress(OSError):  # nowhere left to say it
        for line in [] if as_json else _sentences(verdict, len(verdict.newly_wrong) if everything else MOST_SENTENCES):
            say(line)
        for line in ci.workflow_commands(verdict) if on_github else []:
            say(line)
        say(verdict.sentence)
    if not verdict.passed:
        raise typer.Exit(1)


def _print_checks(title: str, verdict: Verdict, *, everything: bool) -> None:
    """Print all checks when piped or asked for; else those that failed, at most twelve."""
    if not terminal.is_terminal(sys.stdout):
        rows = [(c.outcome, c.cell, c.metric, c.slice, c.finding) for c in verdict.checks]
        print_table(title, ("outcome", "cell", "metric", "slice", "finding"), rows)
        return
    shown = verdict.checks if everything else (verdict.failures or verdict.checks)[:MOST_ROWS]
    checks = [(c.cell, (f"{c.metric}{'' if c.slice == 'all' else f':{c.slice}'}", c.outcome, c.finding)) for c in shown]
    print_table(title, ("check", "outcome", "finding"), grouped(checks))
    if len(shown) < len(verdict.checks):
        say(f"{len(shown)} of {len(verdict.checks)} checks; --all shows all")


def _tolerances(texts: Sequence[str]) -> tuple[float, dict[str, float]]:
    """Read the tolerance of all metrics, and those of single ones."""
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
    more = f"; the first {most} (--json has all):" if len(wrong) > most else ":" if wrong else ""
    yield f"{len(right):,} sentences newly right, {len(wrong):,} newly wrong{more}"
    # Of different people where possible: the sentences about one are often much alike.
    first = {one.now.judgement.entity or one.source: one for one in reversed(wrong)}
    shown = [*(one for one in wrong if first.get(one.now.judgement.entity or one.source) is one), *wrong]
    for one in list(dict.fromkeys(shown))[:most]:
        source, before, now = one.lines
        yield f"  {source}\n    {before}\n    {now}"


@contextmanager
def _say_what_fails() -> Iterator[None]:
    """Say in one sentence what could not be written, and go on."""
    try:
        yield
    except BrokenPipeError:  # nobody reads to the end; nothing to complain about
        _discard_output()
    except UserError as problem:
        with suppress(OSError):
            say(f"error: {' '.join(str(problem).split())}")
    except OSError as problem:
        _discard_output()
        with suppress(OSError):
            say(f"error: cannot write {problem.filename or 'the output'}: {problem.strerror or problem}")


def _discard_output() -> None:
    """What could not be written still waits in a buffer, and would fail again at exit, with another exit code."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
