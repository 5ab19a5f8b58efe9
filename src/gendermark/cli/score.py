"""`gendermark score`: score translations made elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gendermark.cli.options import Executor, Name, To, benchmark_options, option_group, pairs, resampling, selected
from gendermark.cli.terminal import AsJson, print_json, print_results, say, say_findings, say_next
from gendermark.errors import UserError
from gendermark.names import readable

if TYPE_CHECKING:
    from gendermark.benchmarks.benchmark import Benchmark
    from gendermark.io.translations import TranslationFile
    from gendermark.metrics.metric import Resampling
    from gendermark.result import Result


def score(
    benchmark: Annotated[str, typer.Argument(help="Benchmark, see `gendermark list benchmarks`.")],
    to: To = "",
    translations: Annotated[
        list[Path] | None,
        typer.Option(
            help="One translation per line in `export` order, `source ||| translation` lines, or a .tsv, .csv, .xlsx, "
            ".jsonl or MT-Lens .json with sources; UTF-8. A benchmark of pairs takes two, masculine then feminine."
        ),
    ] = None,
    samples: Annotated[
        Path | None,
        typer.Option(
            help='For benchmarks that draw samples: JSON lines {"id" or "source", "samples": [...], "logprobs": [...]}.'
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=FILE", help="Translations of one set of sentences; give several."),
    ] = None,
    fix_encoding: Annotated[
        bool, typer.Option("--fix-encoding", help="Repair letters that were misread and saved again: Ã© for é.")
    ] = False,
    allow_missing: Annotated[
        bool,
        typer.Option("--allow-missing", help="Sentences without a row count as not translated; the rest is scored."),
    ] = False,
    group: Annotated[str, typer.Option(help="The file holds this group of a benchmark only: fofc, pro, anti ...")] = "",
    common: dict[str, Any] = option_group(selected),
    how: Resampling = option_group(resampling),
    name: Name = "",
    judgements: Annotated[
        Path | None,
        typer.Option(
            help="Also write every judgement, one JSON object per line; as a table if the file ends in .parquet."
        ),
    ] = None,
    tables: Annotated[
        Path | None, typer.Option(help="Also write the detailed tables as CSV files into this directory.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="DIR", help="Also write a run folder; its name names the system without --name."
        ),
    ] = None,
    executor: Executor = "",
    settings: dict[str, Any] = benchmark_options("score"),
    as_json: AsJson = False,
) -> None:
    """Score a file of translations made elsewhere."""
    from gendermark import api, registry
    from gendermark.io.translations import open_translations

    if judgements is not None:
        from gendermark.runs.folder import check_format, write_judgements

        check_format(judgements)
    sets = pairs(set_ or [], "--set", "informal=informal.en.txt")
    if bool(translations) + bool(sets) + bool(samples) != 1:
        raise UserError(
            "give either --translations FILE or --set NAME=FILE ... (for a benchmark that judges samples: "
            "--samples FILE.jsonl)"
        )
    if group and sets:
        raise UserError("--group goes with --translations, not with --set")
    options: dict[str, Any] = {**common, **settings, "name": name, "executor": executor, "directory": output}
    found = registry.load("benchmark", benchmark)
    if found.draws and not samples:
        raise UserError(f"{benchmark} judges many samples of each sentence; give --samples FILE.jsonl")
    if samples and not found.draws:
        raise UserError(f"{benchmark} judges one translation of each sentence; give --translations, not --samples")
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
    print_results([result], "; all with --tables DIR")
    say_findings([result])
    if output is not None:
        say(f"run folder written to {output}")
    elif file and not samples:
        repairs = {"fix_encoding": fix_encoding, "allow_missing": allow_missing}
        say_next(_as_a_run(result, file, how, {key: "yes" for key, given in repairs.items() if given}))


def by_part(benchmark: Benchmark, files: list[TranslationFile], group: str) -> Any:
    """One file for all, one for a group, or the two genders of a benchmark of pairs in two files."""
    genders = ("masculine", "feminine")
    if len(files) == 2 and benchmark.choices_of("parts") == genders and not group:
        return dict(zip(genders, files, strict=True))
    if len(files) > 1:
        raise UserError("give --translations once; only a benchmark of pairs takes two, masculine then feminine")
    return {group: files[0]} if group else files[0]


def _as_a_run(result: Result, file: Path, how: Resampling, options: dict[str, str]) -> dict[str, str]:
    """The command that scores the same file and keeps every sentence; none where no single command can say it."""
    from gendermark.reporting.reproduce import commands

    config: dict[str, Any] = {
        "system": f"files:{file}",
        "system_options": options,
        "selections": [result.selection.to_json()],
        "resampling": asdict(how),
    }
    manifest: dict[str, Any] = {"config": config}
    if result.name != readable(config["system"]):
        manifest["name"] = result.name
    slug = re.sub(r"[^\w.]+", "-", result.called).strip("-.") or "mine"
    directory = next(one for one in _numbered(f"runs/{slug}") if not Path(one).exists())
    lines = commands(manifest, directory, name_benchmarks=True)
    return {lines[0]: "keeps every sentence, for `report`, `ui` and `compare`"} if len(lines) == 1 else {}


def _numbered(directory: str) -> Iterator[str]:
    yield directory
    for number in count(2):
        yield f"{directory}-{number}"
