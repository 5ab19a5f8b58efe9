"""`gendermark list`: what can be measured, with what, in which languages."""

from __future__ import annotations

from typing import Annotated

import typer

from gendermark.cli.terminal import AsJson, print_json, print_table
from gendermark.errors import UnknownName

KINDS = ("benchmarks", "systems", "languages", "metrics")


def list_names(
    kind: Annotated[str, typer.Argument(metavar="|".join(KINDS), help="What to list.")],
    as_json: AsJson = False,
) -> None:
    """What there is: benchmarks, systems, languages, metrics."""
    from gendermark.report import catalogue

    if kind not in KINDS:
        raise UnknownName("kind", kind, KINDS)
    table = catalogue.listing(kind)
    if as_json:
        print_json({kind: [dict(zip(table.columns, row, strict=True)) for row in table.rows]})
    else:
        print_table(table.title, table.columns, table.rows)
