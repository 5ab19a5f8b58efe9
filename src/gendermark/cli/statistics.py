"""`gendermark data statistics`: the size of a data set in words, as its paper counts."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gendermark.cli.options import Data, Revision
from gendermark.cli.terminal import AsJson, print_json, print_table


def statistics(
    to: Annotated[list[str] | None, typer.Option("--to", help="Target language; several times for several.")] = None,
    split: Annotated[str, typer.Option("--split", help="test or dev.")] = "dev",
    data: Data = "official",
    revision: Revision = "",
    as_json: AsJson = False,
) -> None:
    """Distinct words and gendered phrases of the data sets whose papers count them."""
    from gendermark import api, registry

    rows: list[tuple[Any, ...]] = []
    for name, benchmark in registry.every("benchmark"):
        if benchmark.corpus_statistics is None:
            continue
        for code in to or [target for _, target in benchmark.language_pairs(data)]:
            _, selection = api.select(name, code, data=data, revision=revision, split=split)
            table = benchmark.corpus_statistics(selection)
            rows += table.rows
    if as_json:
        print_json({"statistics": [dict(zip(table.columns, row, strict=True)) for row in rows]})
    else:
        print_table(table.title, table.columns, rows)
