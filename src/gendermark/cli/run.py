"""`gendermark run`, `merge`, `rejudge` and `translate`: ask a system, or take what it has answered."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gendermark.cli.options import (
    Executor,
    Name,
    Store,
    benchmark_options,
    language,
    option_group,
    resampling,
    sampling_pairs,
    selected,
    system_options,
)
from gendermark.cli.terminal import (
    AsJson,
    echo,
    open_workers,
    print_json,
    print_results,
    run_context,
    say,
    say_findings,
    say_next,
)
from gendermark.errors import BadFile, UserError

if TYPE_CHECKING:
    from gendermark.metrics.metric import Resampling
    from gendermark.records import Translation
    from gendermark.result import Result
    from gendermark.selection import Selection

_MOST_FOLDERS = 50
"""In which a run to compare with is looked for."""


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
    from gendermark.runs.run import RunConfig

    parts = (group,) if group else ()
    chosen = api.applicable(benchmark or [], to or [""], parts=parts, **common, **settings)
    selections = chosen.selections
    if not selections:
        raise UserError(f"no benchmark has {common['data']} data for this direction; see `gendermark list benchmarks`")
    for left_out, reason in chosen.left_out.items():
        say(f"left out, {left_out}: {reason}")
    if not benchmark:
        selections = _that_have_files(system, selections)
    config = RunConfig(system, selections, options, how, forced_choice)
    part = Part.of(shard) if shard else None
    n_to_score = len(selections) if system.startswith("files:") else 0
    with run_context(executor, store, name, n_to_score) as context:
        if part is None:
            results = running.run(config, output, context)
        else:
            dealt = run_part(config, part, output, context)
    if part is None:
        _print_run(results, output, as_json=as_json)
        return
    if as_json:
        counts = {"n_sentences": dealt.n, "n_sentences_of_all_parts": dealt.n_all}
        print_json({"run": str(output), "part": str(part), **counts})
    say(f"part {part} is done, {dealt.sentence}: {output}")
    say("join all parts with `gendermark merge DIR... -o NEW_DIR`")


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


def _print_run(results: Sequence[Result], output: Path, *, as_json: bool) -> None:
    if as_json:
        print_json({"run": str(output), "results": [result.to_json() for result in results]})
        say(f"run folder: {output}")
        return
    print_results(results)
    say_findings(results)
    say(f"run folder: {output}")
    commands = {
        shlex.join(["gendermark", "report", str(output), "-o", "report.html"]): "a page to read and to send",
        shlex.join(["gendermark", "ui", str(output)]): "every sentence, in the browser",
    }
    if (earlier := _earlier_run(output, {result.cell for result in results})) is not None:
        command = shlex.join(["gendermark", "compare", str(earlier), str(output)])
        commands[command] = "better or worse than that run?"
    say_next(commands)


def _earlier_run(directory: Path, cells: set[str]) -> Path | None:
    """The latest finished run beside this one that has a benchmark and direction in common with it."""
    from gendermark.runs.folder import MANIFEST, read_manifest

    found: list[tuple[str, Path]] = []
    for manifest in sorted(directory.parent.glob(f"*/{MANIFEST}"))[:_MOST_FOLDERS]:
        if manifest.parent.resolve() == directory.resolve():
            continue
        try:
            facts = read_manifest(manifest.parent)
        except UserError:
            continue
        if facts["status"] == "finished" and not cells.isdisjoint(facts["cells"]):
            found.append((str(facts.get("written", "")), manifest.parent))
    return max(found)[1] if found else None


def merge(
    parts: Annotated[list[Path], typer.Argument(metavar="DIR...", help="What `run --shard` wrote, all parts.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Run folder for the whole.")],
    name: Name = "",
    executor: Executor = "",
    as_json: AsJson = False,
) -> None:
    """Join the parts of a run that were translated with `run --shard`, and score it."""
    from gendermark.runs.parts import merge as join

    with run_context(executor, name=name) as context:
        results = join(parts, output, context)
    _print_run(results, output, as_json=as_json)


def rejudge(
    runs: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Run folders.")],
    rules: Annotated[str, typer.Option("--rules", help="best, or the published rules; as before if not given.")] = "",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Run folder for the new result; of several runs, a directory for them."),
    ] = None,
    executor: Executor = "",
    settings: dict[str, Any] = benchmark_options("rejudge"),
    as_json: AsJson = False,
) -> None:
    """Judge and score again what runs have stored; says which verdicts changed.

    Without -o nothing is written. `gendermark report` shows the old and the new folder side by side.
    """
    from gendermark.runs.rejudge import rejudge as judge_again

    names = [run.resolve().name for run in runs]
    if len(set(names)) < len(names) and output is not None:
        raise UserError("two run folders have the same name; judge them one at a time, each with its own -o")
    found: list[dict[str, Any]] = []
    results: list[Result] = []
    folders: list[str] = []
    with open_workers(executor) as workers:
        for run, name in zip(runs, names, strict=True):
            written = output / name if output is not None and len(runs) > 1 else output
            cells = judge_again(run, {"rules": rules, **settings}, written, workers)
            found.append({"run": str(run), "written": str(written or ""), "cells": [cell.to_json() for cell in cells]})
            results += [cell.result for cell in cells]
            folders += [str(run)] * len(cells)
            for cell in cells:
                say(f"{run}, {cell.sentence}" if len(runs) > 1 else cell.sentence)
            if written is not None:
                say(f"run folder: {written}")
    if as_json:
        print_json({"rejudged": found})
    else:
        print_results(results, folders=folders if len(runs) > 1 else ())


def translate(
    file: Annotated[str, typer.Argument(help="File with one sentence per line; - reads standard input.")],
    system: Annotated[str, typer.Option(help="The system as family:argument, for example demo:en-es")],
    to: Annotated[str, typer.Option("--to", callback=language, help="Target language.")],
    from_: Annotated[str, typer.Option("--from", callback=language, help="Source language.")] = "en",
    samples: Annotated[int, typer.Option(min=0, help="Draw so many samples of each instead of the best one.")] = 0,
    sampling: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="How to draw: temperature, top_k, top_p, epsilon, seed; several with commas, or given several times.",
        ),
    ] = None,
    targets: Annotated[
        Path | None, typer.Option(help="Translations, line by line; the system says how probable it finds each.")
    ] = None,
    options: dict[str, str] = option_group(system_options),
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write; stdout if not given.")] = None,
    store: Store = None,
    executor: Executor = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object per line; samples and scores always are.")
    ] = False,
) -> None:
    """Translate any sentences, draw samples of them, or score given translations; what is finished is kept."""
    from gendermark import api
    from gendermark.io.textfiles import write_text

    if samples and targets:
        raise UserError("--samples draws translations and --targets scores given ones; choose one of them")
    if sampling and not samples:
        raise UserError("--sampling says how to draw samples; say how many with --samples")
    for what, path in (("the sentences", Path(file)), ("--targets", targets)):
        if output is not None and path is not None and output.resolve() == path.resolve():
            raise UserError(f"-o {output} would overwrite {what}; choose another file")
    sources = _lines(file)
    asking = api.Asking(to, from_, samples, sampling_pairs(sampling), _lines(str(targets)) if targets else None)
    with run_context(executor, store) as context:
        answers = api.translate(system, sources, asking, options, context)
    answered = list(zip(sources, answers, strict=True))
    if samples:
        text = _json_lines(_sampled(number, *one) for number, one in enumerate(answered))
    elif targets:
        text = _json_lines(_scored(source, found[0]) for source, found in answered)
    elif as_json:
        text = _json_lines(_translated(source, found[0]) for source, found in answered)
    else:
        # One line each: a break inside a translation would shift all lines behind it.
        text = "".join(f"{' '.join((found[0].text or '').split())}\n" for found in answers)
    if output is None:
        echo(text, nl=False)
    else:
        write_text(output, text)
        say(f"{len(answers):,} lines written to {output}")
    asked = [answer for found in answers for answer in found]
    if failed := [answer for answer in asked if answer.text is None]:
        done = "scored" if targets else "translated"
        if len(failed) == len(asked):
            raise UserError(f"none of {len(sources):,} sentences could be {done}; the first because: {failed[0].error}")
        shown = "null" if targets or samples or as_json else "an empty line"
        say(f"{len(failed):,} could not be {done} ({shown}); the first because: {failed[0].error}")


def _lines(file: str) -> list[str]:
    from gendermark.io.textfiles import read_lines, split_lines

    if file != "-":
        lines = read_lines(file)
    else:
        try:
            lines = split_lines(sys.stdin.buffer.read().decode("utf-8-sig"))
        except UnicodeDecodeError as problem:
            raise BadFile("standard input", f"{problem.object[problem.start]:#04x} is not UTF-8") from None
    if not lines:
        raise BadFile("standard input" if file == "-" else file, "is empty; give one sentence per line")
    return lines


def _json_lines(rows: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _translated(source: str, answer: Translation) -> dict[str, Any]:
    return {
        "source": source,
        "translation": answer.text,
        **({"error": answer.error} if answer.error else {}),
        **({"log_probability": answer.log_probability} if answer.log_probability is not None else {}),
    }


def _sampled(number: int, source: str, answers: Sequence[Translation]) -> dict[str, Any]:
    row: dict[str, Any] = {"id": str(number), "source": source, "samples": [answer.text for answer in answers]}
    if all(answer.log_probability is not None for answer in answers):
        row["logprobs"] = [answer.log_probability for answer in answers]
    return row


def _scored(source: str, answer: Translation) -> dict[str, Any]:
    return {
        "source": source,
        "target": answer.text,
        "log_probability": answer.log_probability,
        "n_tokens": answer.n_tokens,
        "token_log_probabilities": answer.token_log_probabilities,
        **({"error": answer.error} if answer.error else {}),
    }
