"""`gendermark score`: score translations made elsewhere."""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gendermark.cli.options import Executor, Name, To, benchmark_options, option_group, pairs, resampling, selected
from gendermark.cli.results import print_results, say_findings
from gendermark.cli.terminal import All, AsJson, print_json, say, say_next
from gendermark.errors import UserError
from gendermark.names import readable

if TYPE_CHECKING:
    from gendermark.benchmarks.benchmark import Benchmark
    from gendermark.io.translations import TranslationFile
    from gendermark.metrics.metric import Resampling


def score(
    benchmark: Annotated[str, typer.Argument(help="Benchmark; see `gendermark list benchmarks`.")],
    to: To = "",
    translations: Annotated[
        list[Path] | None,
        typer.Option(
            help="One translation per line in `export` order, `source ||| translation` lines, or .tsv, .csv, .xlsx, "
            ".jsonl or MT-Lens .json with sources; UTF-8. For benchmarks of pairs: two files, masculine then feminine."
        ),
    ] = None,
    samples: Annotated[
        Path | None,
        typer.Option(
            help='For sampling benchmarks: JSON lines {"id" or "source", "samples": [...], "logprobs": [...]}.'
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=FILE", help="Translations of one set of sentences; repeatable."),
    ] = None,
    fix_encoding: Annotated[bool, typer.Option("--fix-encoding", help="Repair mojibake, such as Ã© for é.")] = False,
    allow_missing: Annotated[
        bool,
        typer.Option("--allow-missing", help="Score incomplete files; missing sentences count as not translated."),
    ] = False,
    group: Annotated[str, typer.Option(help="The file has only this group of the benchmark: fofc, pro, anti ...")] = "",
    common: dict[str, Any] = option_group(selected),
    how: Resampling = option_group(resampling),
    name: Name = "",
    judgements: Annotated[
        Path | None,
        typer.Option(help="Also write every judgement to this file, as JSON lines or .parquet."),
    ] = None,
    tables: Annotated[
        Path | None, typer.Option(help="Also write the detailed tables to this directory, as CSV.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Also write a run folder; the system name defaults to the folder name.",
        ),
    ] = None,
    executor: Executor = "",
    settings: dict[str, Any] = benchmark_options("score"),
    everything: All = False,
    as_json: AsJson = False,
) -> None:
    """Score translations of a benchmark that were made elsewhere.

    `gendermark score BENCHMARK --help` also lists the options of that benchmark.
    """
    from gendermark import api, registry
    from gendermark.io.translations import open_translations

    if judgements is not None:
        from gendermark.runs.folder import check_format, write_judgements

        check_format(judgements)
    sets = pairs(set_ or [], "--set", "informal=informal.en.txt")
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
    read = partial(open_translations, fix_encoding=fix_encoding, allow_missing=allow_missing)
    given: Any = {name: read(file) for name, file in sets.items()}
    if samples:
        given, options["parts"] = samples, (group,) if group else ()
    elif translations:
        given = by_part(found, [read(file) for file in translations], group)
    result = api.score(benchmark, given, to, how, **options)
    if judgements is not None:
        write_judgements(judgements, result)
    if tables is not None:
        from gendermark.reporting.tables import write_tables

        write_tables(tables, result)
    if as_json:
        print_json(result.to_json())
        return
    files = [*(translations or []), *([samples] if samples else [])]
    # One that is named by its file; the name of a pipe tells nothing, and it cannot be read again.
    file = files[0] if len(files) == 1 and files[0].is_file() else None
    result = replace(result, name=result.name or (readable(f"files:{file}") if file else ""))
    print_results([result], everything=everything, all_rows="; all with --tables DIR")
    say_findings([result])
    if not everything:
        say(f"signature: {result.signature}")
    if output is not None:
        say(f"run folder: {output}")
        say_next({shlex.join(["gendermark", "report", str(output), "-o", "report.html"]): "a page to share"})
    else:
        say("Add -o DIR to keep a run folder for `report`, `ui` and `compare`.")


def by_part(benchmark: Benchmark, files: list[TranslationFile], group: str) -> Any:
    """One file for all, one for a group, or the two genders of a benchmark of pairs in two files."""
    genders = ("masculine", "feminine")
    if len(files) == 2 and benchmark.choices_of("parts") == genders and not group:
        return dict(zip(genders, files, strict=True))
    if len(files) > 1:
        raise UserError("give --translations once; only benchmarks of pairs take two files, masculine then feminine")
    return {group: files[0]} if group else files[0]
