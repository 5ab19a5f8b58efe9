"""`gendermark export`: source sentences to translate elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from gendermark.cli.options import Data, From, Revision, To, benchmark_options
from gendermark.cli.terminal import AsJson, echo, say


def export(
    benchmark: Annotated[str, typer.Argument(help="Benchmark; see `gendermark list benchmarks`.")],
    to: To = "",
    from_: From = "",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Output file; default: stdout.")] = None,
    data: Data = "official",
    revision: Revision = "",
    group: Annotated[
        list[str] | None, typer.Option("--group", "--set", help="Only this group or set of the benchmark; repeatable.")
    ] = None,
    settings: dict[str, Any] = benchmark_options("export"),
    as_json: AsJson = False,
) -> None:
    """Write the source sentences of a benchmark, one per line in a fixed order.

    `gendermark export BENCHMARK --help` also lists the options of that benchmark.
    """
    from gendermark.api import export_items, shown_sources
    from gendermark.io.textfiles import write_text

    options = {"source_language": from_, "data": data, "revision": revision, **settings}
    found = export_items(benchmark, to, **options, parts=tuple(group or ()))
    if as_json:
        rows = [
            {"item_id": item.item_id, "index": item.index, "source": source, "tags": item.all_tags}
            for item, source in zip(found.items, shown_sources(found), strict=True)
        ]
        text = json.dumps({"benchmark": benchmark, "data": found.origin, "items": rows}, ensure_ascii=False, indent=2)
    else:
        text = "\n".join(shown_sources(found))
    if output is None:
        echo(text)
    else:
        write_text(output, f"{text}\n")
        say(f"{len(found.items):,} sentences written to {output}; score their translations with `gendermark score`")
