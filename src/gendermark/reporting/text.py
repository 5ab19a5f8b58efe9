"""A document as text: Markdown, and tables and wrapped lines for a terminal (tab-separated when piped)."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator, Sequence
from typing import Literal

from gendermark.io.textfiles import printable
from gendermark.reporting.document import Block, Bullets, Code, Finding, Paragraph, Section, Table, Text, plain

_ESCAPED = str.maketrans({character: f"\\{character}" for character in "\\|`*<!"})


def markdown(blocks: Sequence[Block]) -> str:
    return "\n".join(line for block in blocks for line in _markdown_lines(block))


def _markdown_lines(block: Block) -> Iterator[str]:
    if isinstance(block, Section):
        yield from [f"{'#' * block.level} {text(block.title)}", ""]
        yield from (line for part in block.blocks for line in _markdown_lines(part))
    elif isinstance(block, Paragraph):
        yield from [text(block.text), ""]
    elif isinstance(block, Finding):
        yield f"- {text(block.text)}"
    elif isinstance(block, Bullets):
        yield from [*(f"- {text(item)}" for item in block.items), ""]
    elif isinstance(block, Code):
        yield from [*(f"    {one}" for one in block.text.splitlines()), ""]
    elif isinstance(block, Table):
        yield from [text(block.caption), ""] if block.caption else []
        heads = list(block.heads)
        if block.groups:
            n = len(block.columns) - 1
            groups = [plain(group) for group in block.groups for _ in range(n)]
            heads[1:] = [f"{group}: {plain(head)}" for group, head in zip(groups, heads[1:], strict=True)]
        yield from [line(heads), line(["---"] * block.n_text + ["---:"] * (len(heads) - block.n_text))]
        yield from [*map(line, block.rows), ""]
        notes = [f"- `{printable(note).replace('`', chr(39))}`" for note in block.notes]
        yield from [*notes, ""] if notes else []


def line(cells: Sequence[Text]) -> str:
    return "| " + " | ".join(map(text, cells)) + " |"


def text(content: Text) -> str:
    return printable(plain(content)).translate(_ESCAPED).replace("](", "]\\(").replace("][", "]\\[")


_LEAST_TEXT = 16
"""Minimum width of a wrapped column."""


def for_terminal(blocks: Sequence[Block], width: int) -> str:
    return "\n".join(line for block in blocks for line in _terminal_lines(block, width))


def tabbed(table: Table) -> str:
    return "\n".join("\t".join(map(_cell, line)) for line in (table.heads, *table.rows))


def _terminal_lines(block: Block, width: int) -> Iterator[str]:
    if isinstance(block, Section):
        yield from ["", *wrapped(plain(block.title), width)]
        yield from (line for part in block.blocks for line in _terminal_lines(part, width))
    elif isinstance(block, Paragraph):
        yield from wrapped(plain(block.text), width)
    elif isinstance(block, Finding):
        yield from wrapped(f"- {plain(block.text)}", width)
    elif isinstance(block, Bullets):
        yield from (line for item in block.items for line in wrapped(f"- {plain(item)}", width))
    elif isinstance(block, Code):
        yield from block.text.splitlines()
    elif isinstance(block, Table):
        # One block per row if the table is too wide, so that no number is cut.
        heads, rows = [*map(_cell, block.heads)], [[*map(_cell, row)] for row in block.rows]
        yield from wrapped(plain(block.caption), width) if block.caption else []
        yield from [*(_drawn(heads, rows, width) or _listed(heads, rows, width)), ""]


def _cell(cell: object) -> str:
    """On one line: a tab or line break in a cell (such as a file name) would break the table."""
    return " ".join(plain(cell).split())  # type: ignore[arg-type]  # whatever a table holds


def wrapped(text: str, width: int, indent: int = 0) -> list[str]:
    """Wrap at this width without losing anything; long words are split."""
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
    """Columns side by side; empty if they do not fit. A row with only its first cell is a heading across all."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as Drawn
    from rich.text import Text

    is_number = [
        bool(texts) and all(text[0] in "0123456789-–−+[<" and "→" not in text for text in texts)
        for texts in _texts(cells, len(columns))
    ]
    widths = _fitted(columns, cells, is_number, width)
    if not widths:
        return []
    console = Console(width=width, file=io.StringIO(), color_system=None)

    def lines(row: Sequence[str] | None) -> list[str]:
        look, gap = (box.SIMPLE_HEAD, 1) if row is None else (None, 2)  # the box adds its own space
        table = Drawn(box=look, show_edge=False, pad_edge=False, padding=(0, gap, 0, 0), show_header=row is None)
        for column, size, numeric in zip(columns, widths, is_number, strict=True):
            justify: Literal["left", "right"] = "right" if numeric else "left"
            table.add_column(Text(column), justify=justify, vertical="bottom" if row is None else "top", width=size)
        if row is not None:
            table.add_row(Text(_hanging(row[0], widths[0])), *map(Text, row[1:]))
        with console.capture() as captured:
            console.print(table)
        return [line.rstrip() for line in captured.get().splitlines()]

    head = lines(None)
    return [*head, *(line for row in cells for line in (wrapped(row[0], width) if _is_heading(row) else lines(row)))]


def _hanging(cell: str, width: int) -> str:
    """Indent the lines after the first of a cell below a heading."""
    return textwrap.fill(cell, width, subsequent_indent="  ") if cell.startswith("· ") else cell


def _fitted(columns: Sequence[str], cells: Sequence[Sequence[str]], is_number: Sequence[bool], width: int) -> list[int]:
    """Column widths; text wraps between words, the widest column first, until all fit. Empty if they cannot."""
    from rich.cells import cell_len

    widths, least = [], []
    for column, texts, numeric in zip(columns, _texts(cells, len(columns)), is_number, strict=True):
        widths.append(max(map(cell_len, [column, *texts])))
        words = [*column.split(), *(texts if numeric else [word for text in texts for word in text.split()])]
        longest = max(map(cell_len, words or [""]))
        least.append(longest if numeric else min(widths[-1], max(longest, _LEAST_TEXT)))
    gaps = 2 * (len(columns) - 1)
    if sum(least) + gaps > width:
        return []
    while sum(widths) + gaps > width:
        widest = max((place for place, size in enumerate(widths) if size > least[place]), key=widths.__getitem__)
        widths[widest] -= 1
    return widths


def _texts(cells: Sequence[Sequence[str]], n_columns: int) -> list[list[str]]:
    """The non-empty cells of each column, without headings."""
    rows = [row for row in cells if not _is_heading(row)]
    return [[row[place] for row in rows if row[place]] for place in range(n_columns)]


def _is_heading(row: Sequence[str]) -> bool:
    return len(row) > 1 and bool(row[0]) and not any(row[1:])


def _listed(columns: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> list[str]:
    """A block for each row: the first cell, then a line for every other non-empty one."""
    lines = []
    for row in cells:
        indent = 0
        for column, cell in zip(columns, row, strict=True):
            if cell:
                lines += wrapped(f"{column}: {cell}" if column and not _is_heading(row) else cell, width, indent)
                indent = 2
    return lines
