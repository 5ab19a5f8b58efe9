"""Tables of a document as LaTeX, for `booktabs`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gendermark.io.textfiles import printable
from gendermark.reporting.document import NO_SPREAD, Block, Number, Section, Table, Text, plain

_ESCAPED = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "−": "$-$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",  # `\textquotedbl` is not in every font encoding
    "…": r"\ldots{}",
    "→": r"$\rightarrow$",
    "Δ": r"$\Delta$",
    "†": r"$^{\dagger}$",
}
_ONE_COLUMN = 4
"""Maximum columns of a table in one column of a paper."""
_MOST_COLUMNS = 9
"""Number columns of a table across both columns."""


def render(blocks: Sequence[Block]) -> str:
    given: set[str] = set()
    tables = [_table(part, _label(part.name, given)) for table in _tables(blocks) for part in _parts(table)]
    return "\n".join([r"% needs \usepackage{booktabs}", *tables])


def _tables(blocks: Sequence[Block], title: Text = "") -> Iterator[Table]:
    """All tables; one without a caption gets the title of its section."""
    for block in blocks:
        if isinstance(block, Table):
            yield block if block.caption else replace(block, caption=title)
        elif isinstance(block, Section):
            yield from _tables(block.blocks, block.title)


def _parts(table: Table) -> Iterator[Table]:
    """Split a table by groups if it is wider than a page."""
    n = len(table.columns) - 1
    n_groups = max(_MOST_COLUMNS // n, 1)
    if len(table.groups) <= n_groups:
        yield table
        return
    for part, first in enumerate(range(0, len(table.groups), n_groups), start=1):
        own = slice(1 + first * n, 1 + (first + n_groups) * n)
        yield replace(
            table,
            name=f"{table.name}-{part}",
            groups=table.groups[first : first + n_groups],
            rows=[[row[0], *row[own]] for row in table.rows],
        )


def _label(name: str, given: set[str]) -> str:
    label, number = f"tab:{name}", 1
    while label in given:
        number += 1
        label = f"tab:{name}-{number}"
    given.add(label)
    return label


def _table(table: Table, label: str) -> str:
    """Numbers on one line, their intervals in small print on the next."""
    heads, n = [line(table.heads)], len(table.columns) - 1
    if table.groups:
        groups = [rf"\multicolumn{{{n}}}{{c}}{{{text(group)}}}" for group in table.groups]
        rules = [rf"\cmidrule(lr){{{2 + n * at}-{1 + n * (at + 1)}}}" for at in range(len(groups))]
        heads = [" & ".join(["", *groups]) + r" \\", "".join(rules), *heads]
    lines = []
    for row in table.rows:
        lines.append(_joined([_number(cell) if isinstance(cell, Number) else text(cell) for cell in row]))
        numbers = [cell if isinstance(cell, Number) else Number(None) for cell in row]
        for intervals in ([one.interval for one in numbers], [one.fixed_interval for one in numbers]):
            if any(intervals):
                small = [rf"{{\tiny {text(one)}}}" if one and NO_SPREAD not in one else "" for one in intervals]
                lines.append(" & ".join(small) + r" \\")
    kind = "table" if len(table.heads) <= _ONE_COLUMN and table.n_text == 1 else "table*"
    columns = "l" * table.n_text + "r" * (len(table.heads) - table.n_text)
    notes = [f"% {printable(note)}" for note in table.notes]
    return "\n".join([*notes, tabular(kind, columns, heads, lines, table.caption, label)])


def tabular(kind: str, columns: str, heads: Sequence[str], lines: Sequence[str], caption: Text, label: str) -> str:
    return "\n".join(
        [
            rf"\begin{{{kind}}}",
            r"\centering",
            r"\footnotesize",
            r"\setlength{\tabcolsep}{3pt}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            *heads,
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{text(caption)}}}",
            rf"\label{{{label}}}",
            rf"\end{{{kind}}}",
            "",
        ]
    )


def _number(number: Number) -> str:
    value = rf"\textbf{{{text(number.value)}}}" if number.is_best else text(number.value)
    return value + (rf"$^{{{number.marks.replace('†', chr(92) + 'dagger')}}}$" if number.marks else "")


def line(cells: Sequence[Text]) -> str:
    return _joined([text(cell) for cell in cells])


def _joined(cells: Sequence[str]) -> str:
    content = " & ".join(cells)
    # The end of the previous line would take these for its option.
    return ("{}" if content.startswith(("[", "*")) else "") + content + r" \\"


def text(content: Text) -> str:
    """Escaped text on one line: a line break would end a table's row."""
    return "".join(_ESCAPED.get(character, character) for character in printable(plain(content)))
