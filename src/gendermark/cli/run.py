"""`gendermark run`: translate with a system, then score."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gendermark.cli.endings import after_run, say_findings, say_next
from gendermark.cli.options import (
    Executor,
    Name,
    Store,
    benchmark_options,
    language,
    option_group,
    resampling,
    selected,
    system_options,
)
from gendermark.cli.terminal import AsJson, open_workers, print_json, say, show_progress
from gendermark.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gendermark.metrics.metric import Resampling
    from gendermark.result import Result
    from gendermark.selection import Selection


def run(
    system: Annotated[str, typer.Option(help="The system as family:argument, for example command:./translate.sh")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Run folder; give the same one again to continue.")],
    to: Annotated[
        list[str] | None, typer.Option("--to", callback=language, help="Target language; repeatable.")
    ] = None,
    benchmark: Annotated[
        list[str] | None,
        typer.Option(
            help="Benchmark; repeatable. Default: all that apply, except those that draw many samples "
            "or ask for no translation, which run only when named."
        ),
    ] = None,
    options: dict[str, str] = option_group(system_options),
    common: dict[str, Any] = option_group(selected),
    group: Annotated[str, typer.Option(help="Only this group of a benchmark: pro, anti, fofc, referenced ...")] = "",
    how: Resampling = option_group(resampling),
    forced_choice: Annotated[
        bool,
        typer.Option(
            "--forced-choice",
            help="Where there are references: also score the right against the contrastive (wrong) one.",
        ),
    ] = False,
    name: Name = "",
    store: Store = None,
    executor: Executor = "",
    shard: Annotated[
        str,
        typer.Option(
            metavar="K/N", help="Translate the K-th of N parts only, for arrays of jobs; `gendermark merge` joins them."
        ),
    ] = "",
    settings: dict[str, Any] = benchmark_options("run"),
    as_json: AsJson = False,
) -> None:
    """Translate with a system and score; interrupted, the same command goes on where it stopped."""
    from gendermark import api
    from gendermark.runs import run as running
    from gendermark.runs.parts import Part, run_part
    from gendermark.runs.plan import RunConfig

    chosen = api.applicable(
        benchmark or [],
        to or [""],
        parts=(group,) if group else (),
        **common,
        **settings,
    )
    selections = chosen.selections
    if not selections:
        raise UserError(f"no benchmark has {common['data']} data for this direction; see `gendermark list benchmarks`")
    for left_out, reason in chosen.left_out.items():
        say(f"left out, {left_out}: {reason}")
    if not benchmark:
        selections = _that_have_files(system, selections)
    config = RunConfig(system, selections, options, how, forced_choice)
    n_to_score = len(selections) if system.startswith("files:") else 0
    part = Part.of(shard) if shard else None
    with open_workers(executor, n_to_score) as workers:
        around = running.Surroundings(store, show_progress, say, name, workers)
        if part is not None:
            dealt = run_part(config, part, output, around)
            if as_json:
                counts = {"n_sentences": dealt.n, "n_sentences_of_all_parts": dealt.n_all}
                print_json({"run": str(output), "part": str(part), **counts})
            say(f"part {part} is done, {dealt.sentence}: {output}")
            say("join all parts with `gendermark merge DIR... -o NEW_DIR`")
            return
        results = running.run(config, output, around)
    print_run(results, output, as_json=as_json)


def print_run(results: Sequence[Result], output: Path, *, as_json: bool) -> None:
    """What a run has found, and where it lies."""
    from gendermark.cli.results import print_results

    if as_json:
        print_json({"run": str(output), "results": [result.to_json() for result in results]})
    else:
        print_results(results)
        say_findings(results)
    say(f"run folder: {output}")
    if not as_json:
        say_next(after_run(output, [result.cell for result in results]))


def _that_have_files(system: str, selections: tuple[Selection, ...]) -> tuple[Selection, ...]:
    """Of a directory of translations, what is in it: nobody who names no benchmark has translated all of them."""
    family, _, argument = system.partition(":")
    if family != "files" or not argument:
        return selections
    from gendermark.systems.files import with_files

    there, missing = with_files(argument, selections)
    if missing:
        say(f"left out, as {argument} has no file for them: {', '.join(missing)}")
    return there
