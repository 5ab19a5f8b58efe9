"""A document as Markdown. Text is escaped: a name makes neither a link nor an image that is fetched from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gendermark.io.textfiles import printable
from gendermark.reporting.document import Block, Bullets, Code, Finding, Paragraph, Section, Table, Text, plain

_ESCAPED = str.maketrans({character: f"\\{character}" for character in "\\|`*<!"})


def render(blocks: Sequence[Block]) -> str:
    """Blocks one after the other; pictures and example sentences are left out."""
    return "\n".join(line for block in blocks for line in _lines(block))


def _lines(block: Block) -> Iterator[str]:
    if isinstance(block, Section):
        yield from [f"{'#' * block.level} {text(block.title)}", ""]
        yield from (line for part in block.blocks for line in _lines(part))
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
        yield from (
            [*(f"- `{printable(note).replace('`', chr(39))}`" for note in block.notes), ""] if block.notes else []
        )


def line(cells: Sequence[Text]) -> str:
    """A row of a table."""
    return "| " + " | ".join(map(text, cells)) + " |"


def text(content: Text) -> str:
    """Text as it is, whatever it holds, on one line."""
    return printable(plain(content)).translate(_ESCAPED).replace("](", "]\\(").replace("][", "]\\[")
