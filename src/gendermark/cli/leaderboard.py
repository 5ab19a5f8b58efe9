"""`gendermark leaderboard`: results of many systems as static pages, made from submissions that anybody can check."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from gendermark.cli.options import Data, Executor, From, Revision, Rules, To, pairs
from gendermark.cli.terminal import AsJson, open_workers, print_json, print_table, say, show_progress
from gendermark.errors import UserError

if TYPE_CHECKING:
    from gendermark.api import Scored


class _BuildUnlessSaid(TyperGroup):
    """`leaderboard DIR...` is `leaderboard build DIR...`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        is_said = not args or args[0] in self.commands or args[0] == "--help"
        return super().parse_args(ctx, args if is_said else ["build", *args])


app = typer.Typer(
    cls=_BuildUnlessSaid,
    help="A leaderboard as static pages: `leaderboard DIR... -o site/`; add submissions, and verify them.",
)
Directories = Annotated[
    list[Path], typer.Argument(metavar="DIR...", help="Directories with submissions, at any depth.")
]


@app.command()
def build(
    directories: Directories,
    output: Annotated[Path, typer.Option("-o", "--output", help="Directory for the pages.")],
    executor: Executor = "",
) -> None:
    """Write the pages: an index with pictures, ranks and tables, and the report of each system."""
    from gendermark.leaderboard import site

    with open_workers(executor or "processes") as workers:
        site.build(directories, output, workers, say)
    say(f"leaderboard written to {output / site.INDEX}")


@app.command()
def verify(directories: Directories, executor: Executor = "", as_json: AsJson = False) -> None:
    """Score the outputs of submissions again; exit 1, with a sentence for each fault, if a result does not follow."""
    from gendermark.leaderboard.submission import find
    from gendermark.leaderboard.verification import faults

    cells = find(directories)
    rows = []
    with open_workers(executor, len(cells)) as workers, show_progress("verifying") as progress:
        for number, (cell, found) in enumerate(zip(cells, workers.in_order(faults, cells), strict=True), start=1):
            rows.append({"submission": str(cell), "outcome": "refused" if found else "verified", "faults": found})
            progress(number, len(cells))
    refused = [row for row in rows if row["faults"]]
    if as_json:
        print_json({"submissions": rows, "n_refused": len(refused)})
    else:
        print_table("Submissions", ("outcome", "submission"), [(row["outcome"], row["submission"]) for row in rows])
    for row in refused:
        for fault in row["faults"]:
            say(fault)
    say(f"{len(rows) - len(refused):,} of {len(rows):,} submissions follow from their outputs")
    if refused:
        raise typer.Exit(1)


@app.command()
def add(
    name: Annotated[str, typer.Option(help="The system's name, for example DeepL.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Directory of all submissions.")],
    version: Annotated[str, typer.Option(help="Its version, as exactly as it is known.")] = "unrecorded",
    vendor: Annotated[str, typer.Option(help="Who makes it.")] = "unrecorded",
    kind: Annotated[str, typer.Option(help="What it is: service, open model, language model ...")] = "unrecorded",
    date: Annotated[str, typer.Option(help="When it translated: 2024, 2024-11, or 2024/2025.")] = "unrecorded",
    licence: Annotated[str, typer.Option(help="Licence of the outputs.")] = "unrecorded",
    source: Annotated[str, typer.Option(help="Where the outputs come from: an address, or words.")] = "unrecorded",
    note: Annotated[
        str, typer.Option(help="Anything a reader must know, the prompt of a language model above all.")
    ] = "",
    run: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A run folder: all it holds is submitted. Or give files:")
    ] = None,
    benchmark: Annotated[str, typer.Option(help="Benchmark that was translated.")] = "",
    to: To = "",
    from_: From = "",
    translations: Annotated[
        list[Path] | None, typer.Option(help="A file of translations, as `gendermark score` takes it.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=FILE", help="Translations of one set of sentences; give several."),
    ] = None,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Sentences without a row count as not translated.")
    ] = False,
    data: Data = "official",
    revision: Revision = "",
    rules: Rules = "best",
) -> None:
    """Score outputs, and write them as a submission into a directory of submissions."""
    from gendermark.leaderboard.submission import OutputFacts, SystemFacts, hash_of, of_run, write

    system = SystemFacts(name, version, vendor, kind, date)
    sets = pairs(set_ or [], "--set", "formal=formal.txt", "NAME=FILE")
    files = [*(translations or []), *map(Path, sets.values())]
    if bool(run) == bool(files) or (translations and sets) or bool(files) != bool(benchmark):
        raise UserError(
            "say what is submitted: --run DIR, or --benchmark NAME with --translations FILE or --set NAME=FILE"
        )
    scored: list[Scored]
    if run is not None:
        scored = of_run(run, system)
    else:
        options = {"source_language": from_, "data": data, "revision": revision, "rules": rules}
        scored = [_scored(benchmark, to, system.full_label, (translations or [], sets, allow_missing), options)]
    outputs = OutputFacts(source, licence, note, tuple((file.name, hash_of(file)) for file in files))
    for one in scored:
        say(f"submission written to {write(output, system, outputs, one)}")


def _scored(
    benchmark: str,
    to: str,
    system: str,
    given: tuple[list[Path], dict[str, str], bool],
    options: dict[str, Any],
) -> Scored:
    from gendermark import registry
    from gendermark.api import score_texts
    from gendermark.cli.score import by_part
    from gendermark.io.translations import open_translations
    from gendermark.leaderboard.submission import RESAMPLING
    from gendermark.runs.score import Origin

    translations, sets, allow_missing = given
    found = registry.load("benchmark", benchmark)
    if found.draws:
        raise UserError(f"{benchmark} judges many samples of each sentence; give a run of it with --run")
    read = partial(open_translations, allow_missing=allow_missing)
    texts: Any = {name: read(file) for name, file in sets.items()}
    if not sets:
        texts = by_part(found, [read(file) for file in translations], "")
    return score_texts(benchmark, texts, to, Origin(system, resampling=RESAMPLING), **options)
