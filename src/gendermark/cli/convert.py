"""`gendermark data convert`: WinoBias and Winogender files as WinoMT files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gendermark.cli.terminal import echo, say

KINDS = ("winobias", "winogender")


def convert(
    kind: Annotated[str, typer.Argument(metavar="winobias|winogender", help="What the file is.")],
    file: Annotated[Path, typer.Argument(help="The file as its authors publish it.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write; stdout if not given.")] = None,
) -> None:
    """Write a WinoBias or Winogender file as WinoMT rows: gender, index of the entity, sentence, entity."""
    from gendermark.data import winograd
    from gendermark.errors import BadFile, UnknownName
    from gendermark.io.textfiles import read_lines, write_lines

    if kind not in KINDS:
        raise UnknownName("kind of file", kind, KINDS)
    read = winograd.from_winobias if kind == "winobias" else winograd.from_winogender
    rows = read(read_lines(file), str(file))
    if not rows:
        raise BadFile(file, "has no sentences")
    lines = winograd.to_winomt_lines(rows)
    if output is None:
        echo("\n".join(lines))
    else:
        write_lines(output, lines)
        say(f"{len(lines):,} sentences written to {output}")
