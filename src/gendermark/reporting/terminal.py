"""A document on a terminal: tables and wrapped text; tab-separated tables when piped."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

from gendermark.reporting.document import Block, Bullets, Code, Finding, Paragraph, Section, Table, plain

_LEAST_PROSE = 30
"""The narrowest last column whose text is broken into lines."""


def render(blocks: Sequence[Block], width: int) -> str:
    """Blocks as lines of at most this width. Pictures and example sentences are left out."""
    return "\n".join(line for block in blocks for line in _lines(block, width))


def tabbed(table: Table) -> str:
    """A table for programs: a header line, and cells between tabs."""
    return "\n".join("\t".join(map(_cell, line)) for line in (table.heads, *table.rows))


def _lines(block: Block, width: int) -> Iterator[str]:
    if isinstance(block, Section):
        yield from ["", *wrapped(plain(block.title), width)]
        yield from (line for part in block.blocks for line in _lines(part, width))
    elif isinstance(block, Paragraph):
        yield from wrapped(plain(block.text), width)
    elif isinstance(block, Finding):
        yield from wrapped(f"- {plain(block.text)}", width)
    elif isinstance(block, Bullets):
        yield from (line for item in block.items for line in wrapped(f"- {plain(item)}", width))
    elif isinstance(block, Code):
        yield from block.text.splitlines()
    elif isinstance(block, Table):
        yield from _table(block, width)


def _table(table: Table, width: int) -> list[str]:
    """Drawn; a block for each row where it is too wide, so that no number is ever cut."""
    heads, rows = [*map(_cell, table.heads)], [[*map(_cell, row)] for row in table.rows]
    title = wrapped(plain(table.caption), width) if table.caption else []
    return [*title, *(_drawn(heads, rows, width) or _listed(heads, rows, width)), ""]


def _cell(cell: object) -> str:
    """On one line: a tab or line break inside a cell (a file name may have one) would tear the table apart."""
    return " ".join(plain(cell).split())  # type: ignore[arg-type]  # whatever a table holds


def wrapped(text: str, width: int, indent: int = 0) -> list[str]:
    """Lines of at most this width; nothing is left out, and what is longer than a line goes on in the next."""
    from rich.console import Console
    from rich.text import Text

    console = Console(width=width)
    lines: list[str] = []
    for paragraph in text.split("\n"):
        start = " " * indent
        for line in Text(paragraph).wrap(console, max(width - indent - 2, 8)) or [Text("")]:
            lines.append(f"{start}{line.plain.rstrip()}".rstrip())
            start = " " * (indent + 2)
    return lines


def _drawn(columns: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> list[str]:
    """Columns beside each other, the last in several lines if it is prose; nothing if they do not fit."""
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table as Drawn
    from rich.text import Text

    table = Drawn(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    n_needed = 2 * (len(columns) - 1)
    for place, column in enumerate(columns):
        is_number = bool(cells) and all(row[place][:1] in "0123456789-–−+[<" for row in cells if row[place])
        widest = max(cell_len(row[place]) for row in (columns, *cells))
        is_prose = place == len(columns) - 1 and not is_number
        least = min(widest, _LEAST_PROSE) if is_prose else widest
        table.add_column(Text(column), justify="right" if is_number else "left", min_width=least)
        n_needed += least
    if n_needed > width:
        return []
    for row in cells:
        table.add_row(*map(Text, row))
    console = Console(width=width, file=io.StringIO(), color_system=None)
    with console.capture() as captured:
        console.print(table)
    return [line.rstrip() for line in captured.get().splitlines()]


def _listed(columns: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> list[str]:
    """A block for each row: the first cell, then a line for every other that has something in it."""
    lines = []
    for row in cells:
        indent = 0
        for column, cell in zip(columns, row, strict=True):
            if cell:
                lines += wrapped(f"{column}: {cell}" if column else cell, width, indent)
                indent = 2
    return lines
