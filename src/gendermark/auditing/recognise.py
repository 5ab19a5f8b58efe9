"""What a table of a file holds: which benchmark's sentences, and which columns are translations into which language.

Columns are known by what is in them; their names only settle what that leaves open.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, takewhile
from pathlib import Path

from gendermark.auditing.cells import Cell, Place, counted, languages_in, system_in
from gendermark.auditing.known import Known, KnownSet, Languages, Match, targets_of
from gendermark.errors import BadFile
from gendermark.io.encodings import repaired
from gendermark.io.tables import SOURCE_COLUMNS, SYSTEM_COLUMN, Contents, Grid, Row, Section
from gendermark.io.translations import loose_key
from gendermark.linguistics import profiles
from gendermark.linguistics.codes import NAMES

_MOST_READ = 200
"""Cells of a column, evenly spread, whose language is looked at."""
_CHUNK = 10
"""Neighbouring cells that are taken to be in one language."""
_COPIED = 0.8
_FILLED = 0.2
"""A column with fewer translations than this is a column of remarks."""
_SHORTEST = 0.2
"""Of the length of the sources; what is shorter throughout are labels. (Chinese needs few characters.)"""
_MOST_GROUPS = 50
_LONGEST_LABEL = 40
_DOUBLED, _RESOLVED = 0.3, 0.05
"""Shares of sentences: so many have several rows if a column says whose they are; so few are left when it is found."""
_LEFT_SHARE, _FEWEST_LEFT = 0.05, 10
"""Rows of other sentences, before another benchmark is looked for among them."""
_OTHER_SOURCES = 0.8
"""The share of rows with another known sentence, beside the first, that makes a column one more of sources."""
_FITTING = 0.3
_SHORT_FITTING = 0.6
"""How well short texts must fit, or they are taken for labels."""


@dataclass(frozen=True)
class Found:
    """What a table gave."""

    cells: Sequence[Cell] = ()
    passed_over: Sequence[str] = ()
    """Columns and rows that are no translations, and why; one sentence each."""


@dataclass(frozen=True)
class Line:
    """A row of the table whose source is known."""

    number: int | None
    cells: Sequence[str]
    key: str
    source: str


def spread(texts: Sequence[str]) -> list[str]:
    """Some of the texts that are not empty, evenly spread."""
    filled = [text for text in texts if text.strip()]
    return filled[:: max(1, -(-len(filled) // _MOST_READ))]


def recognise(path: Path, grid: Grid, known: Known) -> Found | None:
    """The translations of a table; None if it has no column with sentences that are known."""
    table = Table(path, grid)
    if not table.texts:
        return None
    match = known.best(table.keys, table.languages)
    if match is None:  # sources beside something else than translations: it can still be said what they are
        match = known.best(table.keys, Languages(table.languages.sources), only_usual=True)
    if match is None:
        return None
    if (long := _unfolded(table, match)) is not None:
        return recognise(path, long, known)
    cells: list[Cell] = []
    passed_over: list[str] = []
    keys = {match.column: table.keys[match.column]}
    while match is not None:
        found = _Sources(table, match, known)
        cells += found.translations()
        passed_over += [text for text in found.passed_over if text not in passed_over]
        left = ["" if place in found.places or place < found.first else key for place, key in _numbered(keys)]
        keys = {match.column: left}
        n_left = sum(map(bool, left))
        is_worth_it = n_left >= _FEWEST_LEFT and n_left >= _LEFT_SHARE * len(left)
        match = known.best(keys, table.languages) if is_worth_it else None
    if n_left:
        lines = [grid.rows[place][0] or place + 1 for place, key in enumerate(left) if key]
        named = ", ".join(map(str, lines[:3])) + (" ..." if n_left > 3 else "")
        what = counted(n_left, "row is of a sentence", "rows are of sentences")
        passed_over.append(f"{what} that no benchmark here has: left out (line {named})")
    return Found(cells, passed_over)


def _unfolded(table: Table, match: Match) -> Grid | None:
    """A table with several columns of sources, each with its translations behind it, as one with a row for each source.

    So sentences about women and about men often stand beside each other.
    """
    first, times = table.keys[match.column], match.known.times
    n_known = sum(key in times for key in first)
    starts = [match.column]
    for column, keys in table.keys.items():
        others = sum(key in times and key != own for key, own in zip(keys, first, strict=True))
        if column != match.column and others >= _OTHER_SOURCES * n_known:
            starts.append(column)
    starts.sort()
    width = min(end - start for start, end in pairwise([*starts, table.width]))
    if len(starts) == 1 or width < 2:
        return None
    begin = next(place for place, key in enumerate(first) if key in times)
    header = table.grid.header or (table.grid.rows[begin - 1][1] if begin else [])
    blocks = [header[start : start + width] for start in starts]
    names = [_beginning(same) for same in zip(*blocks, strict=False)]
    rows = [(line, cells[start : start + width]) for start in starts for line, cells in table.grid.rows[begin:]]
    return Grid(table.grid.name, rows, names or None)


def _beginning(names: Sequence[str]) -> str:
    """What some names have in common: `mt` of `mt_feminine` and `mt_masculine`."""
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return "".join(letters[0] for letters in alike).strip(" _-")


def _numbered(keys: Mapping[int, Sequence[str]]) -> Iterator[tuple[int, str]]:
    (column,) = keys.values()
    return enumerate(column)


class Table:
    """A grid by its columns."""

    def __init__(self, path: Path, grid: Grid) -> None:
        self.path, self.grid = path, grid
        self.width = max((len(cells) for _, cells in grid.rows), default=0)

    def column(self, place: int) -> list[str]:
        return [cells[place] if place < len(cells) else "" for _, cells in self.grid.rows]

    @cached_property
    def texts(self) -> dict[int, list[str]]:
        """The columns that have words in them; those that are called sources first, then from left to right."""
        columns = {place: self.column(place) for place in range(self.width)}
        header = self.grid.header or (self.grid.rows[0][1] if self.grid.rows else ())
        named = [place for place, name in enumerate(header) if name.strip().casefold() in SOURCE_COLUMNS]
        order = [*named, *(place for place in columns if place not in named)]
        return {place: columns[place] for place in order if any(map(str.isalpha, "".join(spread(columns[place]))))}

    @cached_property
    def keys(self) -> dict[int, list[str]]:
        return {place: list(map(loose_key, texts)) for place, texts in self.texts.items()}

    @cached_property
    def languages(self) -> Languages:
        """All that some stretch of a column seems to be in, and all that names and labels speak of."""
        found: set[str] = set()
        labels: set[str] = set(self.grid.header or self.grid.rows[0][1])
        for texts in self.texts.values():
            some = spread(texts)
            found |= {profiles.likely(some[at : at + _CHUNK]) for at in range(0, len(some), _CHUNK)}
            found.add(profiles.likely(some))
            values = set(texts)
            if len(values) <= _MOST_GROUPS:
                labels |= {value for value in values if len(value) <= _LONGEST_LABEL}
        found |= {code for label in [*labels, self.grid.name, self.path.stem] for code in languages_in(label)}
        both = frozenset(found - {""})
        return Languages(both, both)


@dataclass
class _Group:
    """Rows that one system made, or that are in one language, as some columns say."""

    lines: list[Line]
    labels: list[str] = field(default_factory=list)
    system: str = ""


class _Sources:
    """One benchmark's sentences in a column of a table, and the translations beside them."""

    def __init__(self, table: Table, match: Match, known: Known) -> None:
        self._table, self._all, self._column = table, known, match.column
        keys = table.keys[match.column]
        language = match.known.selection.source_language
        times = match.known.times
        lines: dict[int, Line] = {}
        for place, ((number, cells), key) in enumerate(zip(table.grid.rows, keys, strict=True)):
            source = cells[match.column] if match.column < len(cells) else ""
            mended = key if key in times or source.isascii() else loose_key(repaired(source, language))
            if mended in times:
                lines[place] = Line(number, cells, mended, source)
        self.places = frozenset(lines)
        self.first = min(self.places)
        self._known = known.narrowed(match.known, frozenset(line.key for line in lines.values()))
        self._lines = [line for line in lines.values() if line.key in self._known.times]
        self.passed_over: list[str] = []
        self._looked_at: set[int] = set()
        self._used: set[int] = set()
        """Columns with translations, of which something else is said, or that say what others are."""
        self._check_widths()

    # -- names

    @cached_property
    def _header(self) -> Sequence[str] | None:
        """The names of columns stand in the row before the first sentence, or nowhere."""
        grid = self._table.grid
        return grid.header or (grid.rows[self.first - 1][1] if self.first else None)

    def _name(self, column: int) -> str:
        header = self._header or ()
        return header[column].strip() if column < len(header) else ""

    def _shown(self, column: int) -> str:
        name = self._name(column)
        return f'"{name}"' if name else str(column + 1)

    def _check_widths(self) -> None:
        if self._header is None or self._table.path.suffix.lower() not in (".csv", ".tsv"):
            return
        width = len(self._header)
        for line in self._lines:
            if len(line.cells) > width and any(cell.strip() for cell in line.cells[width:]):
                problem = (
                    f"has {len(line.cells)} cells, but the header has {width}; quote cells that hold the separator"
                )
                raise BadFile(self._table.path, problem, line=line.number)

    # -- rows that belong together

    def _groups(self) -> list[_Group]:
        """Rows split by a column of languages; and, where sentences still have several rows, by one of systems."""
        groups = [_Group(self._lines)]
        labels = [column for column in range(self._table.width) if self._is_label(column)]
        for column in labels:
            values = self._values(column)
            if all(map(languages_in, values)):
                self._used.add(column)
                groups = [
                    _Group(some, [*group.labels, value], group.system)
                    for group in groups
                    for value, some in _split(group.lines, column).items()
                ]
        found: list[_Group] = []
        for group in groups:
            systems = self._column_of_systems(group, labels)
            if systems is None:
                found.append(group)
            else:
                self._used.add(systems)
                found += [_Group(some, group.labels, value) for value, some in _split(group.lines, systems).items()]
        return found

    def _column_of_systems(self, group: _Group, labels: Sequence[int]) -> int | None:
        named = next((column for column in labels if self._name(column).casefold() == SYSTEM_COLUMN), None)
        if named is not None or self._doubling([group.lines]) < _DOUBLED:
            return named
        left = {column: self._doubling(_split(group.lines, column).values()) for column in labels}
        best = min(left, key=lambda column: left[column], default=None)
        return best if best is not None and left[best] <= _RESOLVED else None

    def _is_label(self, column: int) -> bool:
        values = self._values(column)
        is_short = all(len(value) <= _LONGEST_LABEL for value in values)
        return column != self._column and is_short and 0 < len(values) <= min(_MOST_GROUPS, 1 + len(self._lines) // 3)

    def _values(self, column: int) -> set[str]:
        return {_cell(line, column) for line in self._lines} - {""}

    def _doubling(self, groups: Iterable[Sequence[Line]]) -> float:
        """The share of sentences that have more rows than they should."""
        counts = [Counter(line.key for line in lines) for lines in groups]
        n_more = sum(n > self._known.times[key] for found in counts for key, n in found.items())
        return n_more / max(sum(map(len, counts)), 1)

    # -- translations

    def translations(self) -> list[Cell]:
        columns = [column for column in self._table.texts if column != self._column]
        found = [self._cell(group, column) for group in self._groups() for column in columns]
        cells = [cell for cell in found if cell is not None]
        if not cells and not self.passed_over:
            self.passed_over.append("there are sources, but no column with a translation")
        # Numbers, labels and remarks; a word of them, since one may have been meant.
        if cells and (others := sorted(self._looked_at - self._used)):
            self.passed_over.append(f"no translations are in column {', '.join(map(self._shown, others))}")
        return cells

    def _cell(self, group: _Group, column: int) -> Cell | None:
        """The translations of a group of rows in a column; None if these are none."""
        pairs = [(line, text) for line in group.lines if (text := _cell(line, column))]
        if any(letter.isalpha() for _, text in pairs for letter in text):
            self._looked_at.add(column)
        if len(pairs) < _FILLED * len(group.lines):
            return None
        if sum(loose_key(text) == line.key for line, text in pairs) >= _COPIED * len(pairs):
            self._pass_over(column, "repeats the sources, so nothing in it is translated")
            return None
        names = (*group.labels, self._name(column), self._table.grid.name)
        said = [code for name in names for code in languages_in(name)]
        are_sentences = _are_sentences(pairs)
        language = self._language(pairs, said, are_sentences)
        source = self._known.selection.source_language
        into = self._all.into(self._known, language) if language else None
        if language == source or not (are_sentences or (into and self._fit(into, pairs) >= _SHORT_FITTING)):
            return None
        if into is None:
            name = NAMES.get(language, "a language that is not known here")
            targets, title = ", ".join(targets_of(self._known)), self._known.benchmark.title
            self._pass_over(column, f"is in {name}; {title} can be translated into {targets} here")
            return None
        self._used.add(column)
        # "he" may be Hebrew or a word: who calls a column by languages alone means them.
        meant = [code for name in names for code in languages_in(name) if not system_in(name, said)]
        return self._beside(group, column, into, meant)

    def _fit(self, known: KnownSet, pairs: Sequence[tuple[Line, str]]) -> float:
        places = {key: place for place, key in enumerate(known.keys)}
        some = pairs[:: max(1, len(pairs) // _MOST_READ)]
        return fit_of(known, [(places[line.key], text) for line, text in some]) or 0.0

    def _pass_over(self, column: int, problem: str) -> None:
        self._used.add(column)
        sentence = f"column {self._shown(column)} {problem}"
        if sentence not in self.passed_over:
            self.passed_over.append(sentence)

    def _language(self, pairs: Sequence[tuple[Line, str]], said: Sequence[str], are_sentences: bool) -> str:
        """What the texts are in: what is said of them, if they may be in it; or else what they look like."""
        some, targets = spread([text for _, text in pairs]), targets_of(self._known)
        for code in said:
            if code in targets and not profiles.mainly(some, code):
                return code
        found = profiles.likely(some)
        if found or not are_sentences:
            return found
        return best_fit(self._all, self._known, [(line.key, text) for line, text in pairs])

    def _beside(self, group: _Group, column: int, known: KnownSet, meant: Sequence[str]) -> Cell:
        """Each sentence has one row, or one for each time it is asked; more are doubles."""
        by_key: dict[str, list[Line]] = defaultdict(list)
        for line in group.lines:
            by_key[line.key].append(line)
        kept: set[int] = set()
        exact = {request.source.strip() for request in known.benchmark.requests(known.item_set)}
        for key, lines in by_key.items():
            n = known.times[key] if len(lines) >= known.times[key] else 1
            # A row of exactly this sentence comes before one that is nearly it, as with `score`.
            kept |= {id(line) for line in sorted(lines, key=lambda line: line.source.strip() not in exact)[:n]}
        rows = [Row(line.source, _cell(line, column), line.number) for line in group.lines if id(line) in kept]
        target, name = known.selection.target_language, NAMES
        remarks = []
        if meant and target not in meant and meant[0] in targets_of(known):
            remarks.append(f"it is said to be {name[meant[0]]}, but is {name[target]}")
        place = Place(
            self._table.path, self._table.grid.name, self._shown(self._column), self._shown(column), group.system
        )
        return Cell(
            place,
            known,
            Contents([Section("", rows)]),
            sum(key in by_key for key in known.keys),
            [at for at, key in enumerate(known.keys) if key not in by_key],
            [line.number for line in group.lines if id(line) not in kept],
            remarks,
        )


def best_fit(everything: Known, known: KnownSet, pairs: Sequence[tuple[str, str]]) -> str:
    """The target language by what the benchmark knows of its words; empty if none fits, or it cannot tell."""
    places = {key: place for place, key in enumerate(known.keys)}
    some = pairs[:: max(1, len(pairs) // 60)]
    fits: dict[str, float] = {}
    for target in targets_of(known):
        into = everything.into(known, target)
        if into is not None:
            fits[target] = fit_of(into, [(places[key], text) for key, text in some if key in places]) or 0.0
    best = max(fits, key=lambda target: fits[target], default="")
    return best if best and fits[best] >= _FITTING else ""


def fit_of(known: KnownSet, pairs: Sequence[tuple[int, str]]) -> float | None:
    """How well texts fit the items in these places, on average; None if the benchmark cannot tell."""
    items = known.item_set.items
    found = [known.benchmark.fit(items[place], text, known.selection) for place, text in pairs if place < len(items)]
    told = [fit for fit in found if fit is not None]
    return sum(told) / len(told) if told else None


def _are_sentences(pairs: Sequence[tuple[Line, str]]) -> bool:
    has_words = sum(any(map(str.isalpha, text)) for _, text in pairs) > 0.5 * len(pairs)
    return has_words and sum(len(text) for _, text in pairs) >= _SHORTEST * sum(len(line.key) for line, _ in pairs)


def _cell(line: Line, column: int) -> str:
    return line.cells[column].strip() if column < len(line.cells) else ""


def _split(lines: Sequence[Line], column: int) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        found[_cell(line, column)].append(line)
    return found
