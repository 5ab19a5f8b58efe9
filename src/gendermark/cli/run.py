"""`gendermark run`, `merge`, `rejudge` and `translate`: translate with a system, and score."""

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
from gendermark.cli.results import print_results, say_findings
from gendermark.cli.terminal import (
    All,
    AsJson,
    echo,
    open_workers,
    print_json,
    run_context,
    say,
    say_next,
)
from gendermark.errors import BadFile, UserError

if TYPE_CHECKING:
    from gendermark.metrics.metric import Resampling
    from gendermark.records import Translation
    from gendermark.result import Result
    from gendermark.selection import Selection


def run(
    system: Annotated[str, typer.Option(help="System as family:argument, for example command:./translate.sh.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Run folder; reuse it to resume.")],
    to: Annotated[
        list[str] | None, typer.Option("--to", callback=language, help="Target language; repeatable.")
    ] = None,
    benchmark: Annotated[
        list[str] | None,
        typer.Option(
            help="Benchmark; repeatable. Default: all benchmarks for the target languages, except "
            "sampling and rewriting benchmarks."
        ),
    ] = None,
    options: dict[str, str] = option_group(system_options),
    common: dict[str, Any] = option_group(selected),
    group: Annotated[str, typer.Option(help="Only this group of the benchmark: pro, anti, fofc, referenced ...")] = "",
    how: Resampling = option_group(resampling),
    forced_choice: Annotated[
        bool,
        typer.Option(
            "--forced-choice",
            help="Also score the correct and the contrastive (wrong-gender) reference with the system, and "
            "compare them.",
        ),
    ] = False,
    name: Name = "",
    store: Store = None,
    executor: Executor = "",
    shard: Annotated[
        str,
        typer.Option(metavar="K/N", help="Translate only part K of N, for job arrays; join with `gendermark merge`."),
    ] = "",
    settings: dict[str, Any] = benchmark_options("run"),
    everything: All = False,
    as_json: AsJson = False,
) -> None:
    """Translate benchmarks with a system and score them; rerun the same command to resume.

    `gendermark run --benchmark NAME --help` also lists the options of that benchmark.
    """
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
        say(f"skipped {left_out}: {reason}")
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
        _print_run(results, output, everything=everything, as_json=as_json)
        return
    if as_json:
        counts = {"n_sentences": dealt.n, "n_sentences_of_all_parts": dealt.n_all}
        print_json({"run": str(output), "part": str(part), **counts})
    say(f"part {part} done, {dealt.sentence}: {output}")
    say("join all parts with `gendermark merge DIR... -o NEW_DIR`")


def _that_have_files(system: str, selections: tuple[Selection, ...]) -> tuple[Selection, ...]:
    """Keep the selections that a directory of translations has files for."""
    family, _, argument = system.partition(":")
    if family != "files" or not argument:
        return selections
    from gendermark.systems.files import with_files

    there, missing = with_files(argument, selections)
    if missing:
        say(f"skipped, no file in {argument}: {', '.join(missing)}")
    return there


def _print_run(results: Sequence[Result], output: Path, *, everything: bool, as_json: bool) -> None:
    if as_json:
        print_json({"run": str(output), "results": [result.to_json() for result in results]})
        say(f"run folder: {output}")
        return
    print_results(results, everything=everything)
    say_findings(results)
    say(f"run folder: {output}")
    commands = {
        shlex.join(["gendermark", "report", str(output), "-o", "report.html"]): "a page to share",
        shlex.join(["gendermark", "ui", str(output)]): "explore every sentence",
    }
    say_next(commands)


def merge(
    parts: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Run folders of all parts.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Run folder to write.")],
    name: Name = "",
    executor: Executor = "",
    everything: All = False,
    as_json: AsJson = False,
) -> None:
    """Join the parts that `run --shard` translated, and score the whole."""
    from gendermark.runs.parts import merge as join

    with run_context(executor, name=name) as context:
        results = join(parts, output, context)
    _print_run(results, output, everything=everything, as_json=as_json)


def rejudge(
    runs: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Run folders.")],
    rules: Annotated[
        str, typer.Option("--rules", help="Scoring rules: best, or the published ones; default: as before.")
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Run folder to write; with several runs, a directory for them. Default: none."
        ),
    ] = None,
    executor: Executor = "",
    settings: dict[str, Any] = benchmark_options("rejudge"),
    everything: All = False,
    as_json: AsJson = False,
) -> None:
    """Judge and score stored translations again, and count the judgements that changed.

    Also takes the judging options of a benchmark; see `gendermark score BENCHMARK --help`.
    """
    from gendermark.runs.rejudge import rejudge as judge_again

    names = [run.resolve().name for run in runs]
    if len(set(names)) < len(names) and output is not None:
        raise UserError("two run folders have the same name; rejudge them one at a time, each with its own -o")
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
        print_results(results, everything=everything, folders=folders if len(runs) > 1 else ())


def translate(
    file: Annotated[str, typer.Argument(help="File with one sentence per line; - reads standard input.")],
    system: Annotated[str, typer.Option(help="System as family:argument, for example demo:en-es.")],
    to: Annotated[str, typer.Option("--to", callback=language, help="Target language.")],
    from_: Annotated[str, typer.Option("--from", callback=language, help="Source language.")] = "en",
    samples: Annotated[int, typer.Option(min=0, help="Samples per sentence, instead of the best translation.")] = 0,
    sampling: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="How to sample: temperature, top_k, top_p, epsilon, seed; comma-separated or repeated.",
        ),
    ] = None,
    targets: Annotated[
        Path | None, typer.Option(help="Translations to score, one per line, instead of translating.")
    ] = None,
    options: dict[str, str] = option_group(system_options),
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Output file; default: stdout.")] = None,
    store: Store = None,
    executor: Executor = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line (always for samples and scores).")
    ] = False,
) -> None:
    """Translate or sample your own sentences, or score existing translations; rerun to resume."""
    from gendermark import api
    from gendermark.io.textfiles import write_text

    if samples and targets:
        raise UserError("--samples and --targets exclude each other; give one of them")
    if sampling and not samples:
        raise UserError("--sampling needs --samples N")
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
            raise UserError(f"none of {len(sources):,} sentences could be {done}; first error: {failed[0].error}")
        shown = "null" if targets or samples or as_json else "an empty line"
        say(f"{len(failed):,} could not be {done} ({shown}); first error: {failed[0].error}")


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
