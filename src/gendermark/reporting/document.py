"""A report as data: paragraphs, findings, tables, figures and marked sentences, in sections.

Rendered as HTML (`html.py`), LaTeX (`latex.py`), Markdown and terminal text (`text.py`). Nothing here is escaped, and
no text is markup.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gendermark.errors import UserError
from gendermark.io.textfiles import write_text
from gendermark.markup import minus
from gendermark.records import Estimate, Judgement, Span, Unit, show_p

NO_SPREAD = "no spread seen"
"""For an interval without width: all groups agreed, which does not make the number certain."""


# -- within a line -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Link:
    text: str
    href: str


@dataclass(frozen=True)
class Strong:
    text: str
    tone: str = ""
    """`better`, `worse` or neither: a colour, if there are colours."""


@dataclass(frozen=True)
class Small:
    """Text in a smaller size, or on its own line."""

    text: str


@dataclass(frozen=True)
class System:
    """The name of a system, with its letter if a document compares several."""

    name: str
    run: int | None = None
    with_name: bool = True


@dataclass(frozen=True)
class Number:
    """An estimate in a table; a dash if it has no value."""

    estimate: Estimate | None
    with_interval: bool = True
    href: str = ""
    """Link to its sentences."""
    is_best: bool = False
    marks: str = ""
    """Significance marks, if a table has a legend for them."""

    @property
    def value(self) -> str:
        return show_value(self.estimate.value, self.estimate.unit) if self.estimate is not None else "–"

    @property
    def interval(self) -> str:
        """`[7.0, 22.0]`; empty if there is none, or none is wanted."""
        return self._interval(self.estimate.low, self.estimate.high) if self.estimate is not None else ""

    @property
    def fixed_interval(self) -> str:
        """The interval on the same groups; empty if it does not visibly differ from the other."""
        found = self._interval(self.estimate.fixed_low, self.estimate.fixed_high) if self.estimate is not None else ""
        return found if found != self.interval else ""

    def _interval(self, low: float | None, high: float | None) -> str:
        if self.estimate is None or None in (self.estimate.value, low, high) or not self.with_interval:
            return ""
        if low == high:
            return f"[{NO_SPREAD}]"
        return f"[{', '.join(show_value(end, self.estimate.unit) for end in (low, high))}]"


Inline = str | int | float | Link | Strong | Small | System | Number | None
Text = Inline | Sequence[Inline]
"""A line of text, or its parts; None is empty."""


def plain(text: Text) -> str:
    """A text without links and marks."""
    if text is None:
        return ""
    if isinstance(text, Link | Strong | Small):
        return text.text
    if isinstance(text, System):
        return text.name
    if isinstance(text, Number):
        return " ".join(part for part in (text.value, text.interval, text.fixed_interval) if part)
    if isinstance(text, str | int | float):
        return str(text)
    return "".join(map(plain, text))


# -- blocks ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Paragraph:
    text: Text
    kind: str = ""
    """`verdict`, `lead`, `note` or `warning`."""


@dataclass(frozen=True)
class Bullets:
    items: Sequence[Text]


@dataclass(frozen=True)
class Code:
    text: str


@dataclass(frozen=True)
class Translated:
    """A translation by one system, with the deciding words marked."""

    text: str
    spans: Sequence[Span]
    outcome: str
    """`right`, `wrong` ..."""
    shows: str
    """The outcome with the observed gender: "wrong: as a man"."""
    system: System | None = None


@dataclass(frozen=True)
class Example:
    """A sentence with its translations."""

    source: str
    translations: Sequence[Translated]
    source_language: str
    target_language: str
    context: str = ""


Shown = Callable[[Judgement], bool]
"""Whether a finding refers to translations of this kind."""


@dataclass(frozen=True)
class Finding:
    """A finding, with example sentences."""

    text: str
    effect: float = 0.0
    """Size of a significant effect, in points, at the end of its interval nearest to zero; else 0."""
    what: str = ""
    """The kind of effect, in the same words for every system: "Stereotype effect"."""
    amount: Estimate | None = None
    """The size of that effect."""
    shows: Sequence[Shown] = ()
    """Kinds of example sentences, one of each."""
    is_by_gender: bool = False
    """Whether it compares women and men, some of whom may be untranslated."""
    examples: Sequence[Example] = ()

    @property
    def value(self) -> float:
        return (self.amount.value or 0.0) if self.amount is not None else 0.0


@dataclass(frozen=True)
class Table:
    columns: Sequence[Text]
    rows: Sequence[Sequence[Text]]
    caption: Text = ""
    groups: Sequence[Text] = ()
    """Column group headings, each over its own repetition of `columns[1:]`."""
    n_text: int = 1
    """Leading text columns; the others hold numbers."""
    name: str = ""
    """For references in LaTeX."""
    notes: Sequence[str] = ()
    """Notes that belong to the numbers, such as signatures."""

    @property
    def heads(self) -> list[Text]:
        first, *others = self.columns
        return [first, *(others * max(len(self.groups), 1))]


@dataclass(frozen=True)
class Figure:
    """A picture without its title, with title and caption separate."""

    title: str
    caption: str
    svg: str = field(repr=False)
    name: str = ""
    """File name, unique among figures made together."""
    cell: str = ""
    """The benchmark and direction shown; only the benchmark if several; empty for all."""

    def _repr_svg_(self) -> str:
        """SVG for notebooks."""
        return self.svg

    def save(self, path: Path | str) -> None:
        if Path(path).suffix != ".svg":
            raise UserError(f"{path}: figures are saved as .svg; `gendermark report --figures` has other formats")
        write_text(path, self.svg)


@dataclass(frozen=True)
class Drawing:
    """A page-only block: a template macro and its data."""

    macro: str
    data: Any


@dataclass(frozen=True)
class Section:
    title: Text
    blocks: Sequence[Block]
    id: str = ""
    place: str = ""
    """Language code, for filtering."""
    level: int = 2
    folded: bool = False
    """Whether only its title is shown at first."""
    kind: str = ""
    """Layout of its blocks on a page."""


Block = Paragraph | Bullets | Code | Example | Finding | Table | Figure | Drawing | Section


# -- numbers -----------------------------------------------------------------------------------------------------------


def show_value(value: float | None, unit: Unit) -> str:
    return minus(unit.show(value))


def show_p_value(p: float) -> str:
    return f"p {show_p(p)}".replace("<", "< ")


def listed(names: Sequence[str], word: str = "and") -> str:
    return f"{', '.join(names[:-1])} {word} {names[-1]}" if len(names) > 1 else "".join(names)


def letter_of(run: int) -> str:
    return chr(ord("A") + run) if run < 26 else f"S{run + 1}"
