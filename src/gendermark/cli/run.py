"""`gendermark run`, `merge`, `rejudge`, `translate` and `score`: translate with a system, and score."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gendermark.cli import options as opt
from gendermark.cli.results import check_log, log_runs, print_results, say_findings
from gendermark.cli.terminal import All, AsJson, echo, open_workers, print_json, run_context, say, say_next
from gendermark.errors import BadFile, UserError
from gendermark.io.textfiles import read_lines, split_lines, write_text
from gendermark.names import readable

if TYPE_CHECKING:
    from gendermark.benchmarks.benchmark import Benchmark
    from gendermark.metrics.metric import Resampling
    from gendermark.result import Result


def run(
    *,
    system: str,
    output: Path,
    to: opt.Targets = (),
    benchmark: tuple[str, ...] = (),
    options: dict[str, str] = opt.option_group(opt.system_options),
    common: dict[str, Any] = opt.option_group(opt.selected),
    group: str = "",
    how: Resampling = opt.option_group(opt.resampling),
    accept_unsound: opt.AcceptUnsound = False,
    forced_choice: bool = False,
    name: opt.Name = "",
    store: opt.Store = None,
    executor: opt.Executor = "",
    shard: str = "",
    log: opt.Log = "",
    settings: dict[str, Any] = opt.benchmark_options("run"),
    everything: All = False,
    as_json: AsJson = False,
) -> None:
    """Translate benchmarks with a system and score them; rerun the same command to resume.

    `gendermark run --benchmark NAME --help` also lists the options of that benchmark.

    Args:
        system (SPEC): System as family:argument, for example command:./translate.sh; see `gendermark list systems`.
        output (DIR): Run folder; reuse it to resume.
        benchmark (BENCHMARK): Benchmark; repeatable. Default: all benchmarks for the target languages, except those
            that draw samples, rewrite translations, or need your own data.
        group (NAME): Only this group of the benchmark: pro, anti, fofc (female occupation, female context) ...
        forced_choice: Also score the correct and the contrastive (wrong-gender) reference with the system, and compare
            them.
        shard (K/N): Translate only part K of N, for job arrays; join with `gendermark merge`.
    """
    from gendermark import api
    from gendermark.runs import run as running
    from gendermark.runs.folder import read_run
    from gendermark.runs.parts import Part, run_part
    from gendermark.runs.run import RunConfig

    check_log(log)
    parts = (group,) if group else ()
    chosen = api.applicable(benchmark, to or [""], parts=parts, **common, **settings)
    selections = chosen.selections
    if not selections:
        raise UserError(f"no benchmark has {common['data']} data for this direction; see `gendermark list benchmarks`")
    for left_out, reason in chosen.left_out.items():
        say(f"skipped {left_out}: {reason}")
    family, _, argument = system.partition(":")
    if not benchmark and family == "files" and argument:
        from gendermark.systems.files import with_files

        selections, missing = with_files(argument, selections)
        if missing:
            say(f"skipped, no file in {argument}: {', '.join(missing)}")
    if accept_unsound and family == "files":
        options = {**options, "accept_unsound": "yes"}
    config = RunConfig(system, selections, options, how, forced_choice, accept_unsound)
    part = Part.of(shard) if shard else None
    n_to_score = len(selections) if family == "files" else 0
    with run_context(executor, store, name, n_to_score) as context:
        if part is None:
            results = running.run(config, output, context)
        else:
            n, n_all = run_part(config, part, output, context)
    if part is None:
        _print_run(results, output, everything=everything, as_json=as_json)
        if log:
            log_runs(log, read_run(output))
        return
    if as_json:
        counts = {"n_sentences": n, "n_sentences_of_all_parts": n_all}
        print_json({"run": str(output), "part": str(part), **counts})
    nothing = f"none of the {n_all:,} sentences is in this part (they are dealt out in whole batches)"
    say(f"part {part} done, {f'{n:,} of {n_all:,} sentences' if n else nothing}: {output}")
    say("join all parts with `gendermark merge DIR... -o NEW_DIR`")


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
    parts: tuple[Path, ...],
    *,
    output: Path,
    name: opt.Name = "",
    executor: opt.Executor = "",
    everything: All = False,
    as_json: AsJson = False,
) -> None:
    """Join the parts that `run --shard` translated, and score the whole.

    Args:
        parts (DIR...): Run folders of all parts.
        output (DIR): Run folder to write.
    """
    from gendermark.runs.parts import merge as join

    with run_context(executor, name=name) as context:
        results = join(parts, output, context)
    _print_run(results, output, everything=everything, as_json=as_json)


def rejudge(
    runs: tuple[Path, ...],
    rules: str = "",
    output: Path | None = None,
    executor: opt.Executor = "",
    settings: dict[str, Any] = opt.benchmark_options("rejudge"),
    everything: All = False,
    as_json: AsJson = False,
) -> None:
    """Judge and score stored translations again, and count the judgements that changed.

    Also takes the judging options of a benchmark; see `gendermark score BENCHMARK --help`.

    Args:
        runs (DIR...): Run folders.
        rules (NAME): Scoring rules: best, or the published ones; default: as before.
        output (DIR): Run folder to write; with several runs, a directory for them. Default: none.
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
    file: str,
    *,
    system: str,
    to: opt.To,
    from_: opt.From = "en",
    samples: opt.AtLeastNone = 0,
    sampling: tuple[str, ...] = (),
    targets: Path | None = None,
    options: dict[str, str] = opt.option_group(opt.system_options),
    output: Path | None = None,
    store: opt.Store = None,
    executor: opt.Executor = "",
    as_json: AsJson = False,
) -> None:
    """Translate or sample your own sentences, or score existing translations; rerun to resume.

    Args:
        file: File with one sentence per line; - reads standard input.
        system (SPEC): System as family:argument, for example demo:en-es; see `gendermark list systems`.
        to (LANG): Target language.
        from_ (LANG): Source language.
        samples: Samples per sentence, instead of the best translation.
        sampling (KEY=VALUE): How to sample: temperature, top_k, top_p, epsilon, seed; comma-separated or repeated.
        targets (FILE): Translations to score, one per line, instead of translating.
        output (FILE): Output file; default: stdout.
        as_json: Print one JSON object per line (always for samples and scores).
    """
    from gendermark import api

    if samples and targets:
        raise UserError("give --samples or --targets, not both")
    if sampling and not samples:
        raise UserError("--sampling needs --samples N")
    for what, path in (("the sentences", Path(file)), ("--targets", targets)):
        if output is not None and path is not None and output.resolve() == path.resolve():
            raise UserError(f"-o {output} would overwrite {what}; choose another file")
    sources = _lines(file)
    asking = api.Asking(to, from_, samples, opt.sampling_pairs(sampling), _lines(str(targets)) if targets else None)
    with run_context(executor, store) as context:
        answers = api.translate(system, sources, asking, options, context)
    if samples or targets or as_json:
        rows: list[dict[str, Any]] = []
        for number, (source, found) in enumerate(zip(sources, answers, strict=True)):
            answer = found[0]
            row: dict[str, Any] = {"source": source}
            if samples:
                row = {"id": str(number), **row, "samples": [one.text for one in found]}
                if all(one.log_probability is not None for one in found):
                    row["logprobs"] = [one.log_probability for one in found]
            elif targets:
                numbers = ("log_probability", "n_tokens", "token_log_probabilities")
                row |= {"target": answer.text, **{name: getattr(answer, name) for name in numbers}}
                row |= {"error": answer.error} if answer.error else {}
            else:
                row["translation"] = answer.text
                row |= {"error": answer.error} if answer.error else {}
                row |= {"log_probability": answer.log_probability} if answer.log_probability is not None else {}
            rows.append(row)
        text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows)
    else:
        # One line each: a line break inside a translation would shift all following lines.
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


def score(
    benchmark: str,
    to: opt.To = "",
    translations: tuple[Path, ...] = (),
    samples: Path | None = None,
    set_: opt.Sets = (),
    fix_encoding: bool = False,
    accept_unsound: opt.AcceptUnsound = False,
    allow_missing: bool = False,
    group: str = "",
    common: dict[str, Any] = opt.option_group(opt.selected),
    how: Resampling = opt.option_group(opt.resampling),
    name: opt.Name = "",
    judgements: Path | None = None,
    tables: Path | None = None,
    output: Path | None = None,
    log: opt.Log = "",
    executor: opt.Executor = "",
    settings: dict[str, Any] = opt.benchmark_options("score"),
    everything: All = False,
    as_json: AsJson = False,
) -> None:
    """Score translations of a benchmark that were made elsewhere.

    `gendermark score BENCHMARK --help` also lists the options of that benchmark.

    Args:
        benchmark: Benchmark; see `gendermark list benchmarks`.
        translations (FILE): One translation per line in `export` order, `source ||| translation` lines, or .tsv, .csv,
            .xlsx, .jsonl or MT-Lens .json with sources; UTF-8. For benchmarks of pairs: two files, masculine then
            feminine.
        samples (FILE): For sampling benchmarks: JSON lines {"id" or "source", "samples": [...], "logprobs": [...]}.
        fix_encoding: Repair mojibake, such as Ã© for é.
        allow_missing: Score incomplete files; missing sentences count as not translated.
        group (NAME): The file has only this group of the benchmark: fofc, pro, anti ...
        judgements (FILE): Also write every judgement to this file, as JSON lines or .parquet.
        tables (DIR): Also write the detailed tables to this directory, as CSV.
        output (DIR): Also write a run folder; the system name defaults to the folder name.
    """
    from gendermark import api, registry

    check_log(log)
    if judgements is not None:
        from gendermark.runs.folder import check_format, write_judgements

        check_format(judgements)
    sets = opt.pairs(set_, "--set", "informal=informal.en.txt")
    if bool(translations) + bool(sets) + bool(samples) != 1:
        raise UserError(
            "give one of --translations FILE, --set NAME=FILE ..., or (for a sampling benchmark) --samples FILE.jsonl"
        )
    if group and sets:
        raise UserError("--group goes with --translations, not with --set")
    options: dict[str, Any] = {**common, **settings, "name": name, "executor": executor, "directory": output}
    found = registry.load("benchmark", benchmark)
    if found.draws and not samples:
        raise UserError(f"{benchmark} scores many samples per sentence; give --samples FILE.jsonl")
    if samples and not found.draws:
        raise UserError(f"{benchmark} scores one translation per sentence; give --translations, not --samples")
    if samples and (fix_encoding or allow_missing):
        raise UserError("--fix-encoding and --allow-missing go with --translations and --set, not with --samples")
    if samples:
        given, options["parts"] = samples, (group,) if group else ()
    else:
        how_to_read = {"fix_encoding": fix_encoding, "allow_missing": allow_missing, "accept_unsound": accept_unsound}
        given = opened(found, translations, sets, group, **how_to_read)
    result = api.score(benchmark, given, to, how, **options)
    if judgements is not None:
        write_judgements(judgements, result)
    if tables is not None:
        from gendermark.reporting.tables import write_tables

        write_tables(tables, result)
    if log:
        from gendermark.runs.folder import run_of

        log_runs(log, run_of([result]))
    if as_json:
        print_json(result.to_json())
        return
    files = [*translations, *([samples] if samples else [])]
    # A file names the system; a pipe does not, and cannot be read again.
    file = files[0] if len(files) == 1 and files[0].is_file() else None
    named = replace(result, name=result.name or (readable(f"files:{file}") if file else ""))
    print_results([named], everything=everything, all_rows="; all with --tables DIR")
    # In a sentence, a file must look like one.
    say_findings([result if result.name or file is None else replace(result, name=file.name)])
    if not everything:
        say(f"signature: {result.signature}", is_wrapped=False)
    if output is not None:
        say(f"run folder: {output}")
        say_next({shlex.join(["gendermark", "report", str(output), "-o", "report.html"]): "a page to share"})
    else:
        say("Add -o DIR to keep a run folder for `report`, `ui` and `compare`.")


def opened(benchmark: Benchmark, paths: Sequence[Path], sets: Mapping[str, str], group: str = "", **how: bool) -> Any:
    """One file for all sets, for a group, or for each set; or two files for the genders of a benchmark of pairs."""
    from gendermark.io.translations import open_translations

    if sets:
        return {name: open_translations(file, **how) for name, file in sets.items()}
    files = [open_translations(path, **how) for path in paths]
    genders = ("masculine", "feminine")
    if len(files) == 2 and benchmark.choices_of("parts") == genders and not group:
        return dict(zip(genders, files, strict=True))
    if len(files) > 1:
        raise UserError("give --translations once; only benchmarks of pairs take two files, masculine then feminine")
    return {group: files[0]} if group else files[0]
