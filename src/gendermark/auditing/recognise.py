"""Recognise a table: which benchmark's sentences it holds, and which columns are translations into which language.

Columns are recognised by content; their names only break ties. Translations without sources are recognised by number,
language and fit.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from os.path import commonprefix
from pathlib import Path
from typing import NamedTuple

from gendermark.auditing.index import Index, IndexedSet
from gendermark.errors import BadFile
from gendermark.io.encodings import repaired
from gendermark.io.tables import SOURCE_COLUMNS, SYSTEM_COLUMN, TRANSLATION_COLUMNS, Row, Table, shortened
from gendermark.io.translations import loose_key
from gendermark.reading import profiles
from gendermark.reading.codes import NAMES, languages_in, words_in
from gendermark.selection import Selection, options_of, own_options

MOST_NAMED = 10
"""Sentences or lines to list; all are counted."""
_MOST_READ = 200
"""Cells of a column to inspect for its language, evenly spaced."""
_CHUNK = 10
"""Neighbouring cells assumed to be in one language."""
_COPIED = 0.8
_FILLED = 0.2
"""A column with a smaller share of translations holds remarks."""
_SHORTEST = 0.2
"""Minimum length relative to the sources; shorter columns hold labels. (Chinese needs few characters.)"""
_MOST_GROUPS = 50
_LONGEST_LABEL = 40
_DOUBLED, _RESOLVED = 0.3, 0.05
"""Share of sentences with several rows that makes a column of systems or languages likely, and the share left when it
is found."""
_LEFT_SHARE, _FEWEST_LEFT = 0.05, 10
"""Unmatched rows that trigger a search for another benchmark."""
_OTHER_SOURCES = 0.8
"""Share of rows with another known sentence that makes a column a further source column."""
_LEAST_FIT, _SURE_FIT = 0.3, 0.6
"""Minimum fit of texts to a benchmark, and the fit that other sentences do not reach."""
_ALIKE = 0.02
_MOST_FITTED = 300


@dataclass(frozen=True)
class Recognised:
    """Translations of one benchmark in one direction by one system, not yet judged."""

    path: Path
    sheet: str
    known: IndexedSet
    rows: Sequence[Row[str]]
    source_column: str = ""
    """Name for messages; empty if translations are matched by order."""
    translation_column: str = ""
    system: str = ""
    """The system, if a column names it."""
    missing: Sequence[str] = ()
    """Sentences without a row."""
    doubled: Sequence[int | None] = ()
    """Lines of ignored rows that repeat a sentence."""
    remarks: Sequence[str] = ()

    @property
    def selection(self) -> Selection:
        return self.known.selection

    @property
    def n_present(self) -> int:
        return len(self.known.keys) - len(self.missing)

    @property
    def place(self) -> str:
        parts = [f'sheet "{self.sheet}"'] if self.sheet else []
        parts += [f'rows of "{self.system}"'] if self.system else []
        in_order = "translations in the order of the benchmark"
        return ", ".join([*parts, f"column {self.translation_column}" if self.source_column else in_order])

    @property
    def sentence(self) -> str:
        source, target = self.selection.source_language, self.selection.target_language
        direction = f"{NAMES.get(source)} to {NAMES.get(target)}"
        if self.known.benchmark.reads_any_text:
            return f"{self.known.benchmark.title}, {direction}; {self.place}"
        n, n_whole = self.n_present, len(self.known.keys)
        number = f"{n:,} of {n_whole:,} sentences{'' if n == n_whole else f' ({n / n_whole:.0%})'}"
        return f"{self.known.benchmark.title}, {_data_of(self.selection)}, {direction}, {number}; {self.place}"

    @property
    def oddities(self) -> list[str]:
        """List what an auditor should know about the rows, one sentence each, with the first ten sentences or lines."""
        found = list(self.remarks)
        if self.missing:
            named = _first([shortened(source) for source in self.missing], "; ")
            found.append(f"{len(self.missing):,} sentences missing, not scored: {named}")
        if self.doubled:
            found.append(f"repeated sentences left out: line {_first(self.doubled)}")
        return found


Found = tuple[list[Recognised], list[str]]
"""The recognised translations, and one sentence on each column or row without translations."""


def recognise(path: Path, table: Table, index: Index) -> Found | None:
    """The translations in a table; None if it has no benchmark sentences."""
    return _recognise_by_sources(path, table, index) or _recognise_by_order(path, table, index)


# -- by sources


def _recognise_by_sources(path: Path, table: Table, index: Index) -> Found | None:
    columns = _Columns(path, table)
    if not columns.texts:
        return None
    languages = columns.languages
    match = index.best(columns.keys, languages, languages)
    if match is None:  # there are no translations, but name the benchmark of the sources
        match = index.best(columns.keys, languages, (), only_usual=True)
    if match is None:
        return None
    if (unfolded := _unfolded(columns, *match)) is not None:
        return _recognise_by_sources(path, unfolded, index)
    found: list[Recognised] = []
    passed_over: list[str] = []
    left = columns.keys[match[0]]
    while match is not None:  # one benchmark after the other
        column, known = match
        sources = _Sources(columns, column, known, index)
        found += sources.translations()
        passed_over += [sentence for sentence in sources.passed_over if sentence not in passed_over]
        first = min(sources.places)
        left = ["" if place in sources.places or place < first else key for place, key in enumerate(left)]
        lines = [columns.rows[place][0] or place + 1 for place, key in enumerate(left) if key]
        is_worth_it = len(lines) >= max(_FEWEST_LEFT, _LEFT_SHARE * len(left))
        match = index.best({column: left}, languages, languages) if is_worth_it else None
    if lines:
        passed_over.append(f"sentences of no benchmark here left out: line {_first(lines)}")
    return found, passed_over


class _Columns:
    """A table by columns; rows have equal length, cells are stripped."""

    def __init__(self, path: Path, table: Table) -> None:
        self.path, self.name, self._table = path, table.name, table
        self.width = max((len(cells) for _, cells in table.rows), default=0)
        self.rows = [(line, [*map(str.strip, cells), *[""] * (self.width - len(cells))]) for line, cells in table.rows]
        self._names = table.header or (self.rows[0][1] if self.rows else ())

    @cached_property
    def texts(self) -> dict[int, list[str]]:
        """The columns with words: those named as sources first, then from left to right."""
        named = [place for place, name in enumerate(self._names) if name.strip().casefold() in SOURCE_COLUMNS]
        order = dict.fromkeys([*named, *range(self.width)])
        columns = {place: [cells[place] for _, cells in self.rows] for place in order}
        return {place: texts for place, texts in columns.items() if any(map(str.isalpha, "".join(_spread(texts))))}

    def names_before(self, row: int) -> Sequence[str]:
        """Column names are in the row before the first sentence, or absent."""
        return self._table.header or (self._table.rows[row - 1][1] if row else ())

    @cached_property
    def keys(self) -> dict[int, list[str]]:
        return {place: list(map(loose_key, texts)) for place, texts in self.texts.items()}

    @cached_property
    def languages(self) -> set[str]:
        """All languages that a stretch of a column seems to be in, or that names and labels mention."""
        found: set[str] = set()
        labels = set(self._names)
        for texts in self.texts.values():
            some = _spread(texts)
            found |= {profiles.likely(some[at : at + _CHUNK]) for at in range(0, len(some), _CHUNK)}
            found.add(profiles.likely(some))
            values = set(texts)
            if len(values) <= _MOST_GROUPS:
                labels |= {value for value in values if len(value) <= _LONGEST_LABEL}
        found |= {code for label in [*labels, self.name, self.path.stem] for code in languages_in(label)}
        return found - {""}


def _unfolded(columns: _Columns, column: int, known: IndexedSet) -> Table | None:
    """Unfold a table with several source columns, each followed by its translations, into one row per source.

    Sentences about women and men are often laid out side by side.
    """
    first, times = columns.keys[column], known.times
    n_known = sum(key in times for key in first)
    starts = [column]
    for other, keys in columns.keys.items():
        n_others = sum(key in times and key != own for key, own in zip(keys, first, strict=True))
        if other != column and n_others >= _OTHER_SOURCES * n_known:
            starts.append(other)
    starts.sort()
    width = min(end - start for start, end in pairwise([*starts, columns.width]))
    if len(starts) == 1 or width < 2:
        return None
    begin = next(place for place, key in enumerate(first) if key in times)
    header = columns.names_before(begin)
    blocks = [header[start : start + width] for start in starts]
    # `mt` of `mt_feminine` and `mt_masculine`
    names = [commonprefix(same).strip(" _-") for same in zip(*blocks, strict=False)]  # noqa: RUF071 (letters are meant)
    rows = [(line, cells[start : start + width]) for start in starts for line, cells in columns.rows[begin:]]
    return Table(columns.name, rows, names or None)


class _Line(NamedTuple):
    number: int | None
    cells: Sequence[str]
    key: str


class _Group(NamedTuple):
    """Rows of one system or language, according to some columns."""

    lines: Sequence[_Line]
    labels: Sequence[str] = ()
    system: str = ""


def _split(lines: Iterable[_Line], column: int) -> dict[str, list[_Line]]:
    found: dict[str, list[_Line]] = defaultdict(list)
    for line in lines:
        found[line.cells[column]].append(line)
    return found


class _Sources:
    """One benchmark's sentences in a column, and the translations beside them."""

    def __init__(self, columns: _Columns, column: int, known: IndexedSet, index: Index) -> None:
        self._columns, self._index, self._column = columns, index, column
        language, times = known.selection.source_language, known.times
        lines: dict[int, _Line] = {}
        for place, ((number, cells), key) in enumerate(zip(columns.rows, columns.keys[column], strict=True)):
            if key not in times and not cells[column].isascii():
                key = loose_key(repaired(cells[column], language))
            if key in times:
                lines[place] = _Line(number, cells, key)
        self.places = lines.keys()
        self._known = index.narrowed(known, [line.key for line in lines.values()])
        self._lines = [line for line in lines.values() if line.key in self._known.times]
        self._header = columns.names_before(min(lines))
        self.passed_over: list[str] = []
        self._looked_at: set[int] = set()
        self._used: set[int] = set()
        """Columns with translations, and columns that label others."""
        width = len(self._header)
        if width and columns.path.suffix.lower() in (".csv", ".tsv"):
            for line in self._lines:
                if any(line.cells[width:]):
                    problem = f"has more cells than the header, {width}; quote cells that hold the separator"
                    raise BadFile(columns.path, problem, line=line.number)

    def _name(self, column: int) -> str:
        return self._header[column].strip() if column < len(self._header) else ""

    def _shown(self, column: int) -> str:
        name = self._name(column)
        return f'"{name}"' if name else str(column + 1)

    # -- rows that belong together

    def _groups(self) -> list[_Group]:
        """Rows split by a language column and, if sentences still have several rows, by a system column."""
        values = {
            column: {line.cells[column] for line in self._lines} - {""}
            for column in range(self._columns.width)
            if column != self._column
        }
        most = min(_MOST_GROUPS, 1 + len(self._lines) // 3)
        labels = [
            column
            for column, own in values.items()
            if 0 < len(own) <= most and all(len(value) <= _LONGEST_LABEL for value in own)
        ]
        groups = [_Group(self._lines)]
        for column in labels:
            if all(map(languages_in, values[column])):
                self._used.add(column)
                groups = [
                    _Group(lines, [*group.labels, value])
                    for group in groups
                    for value, lines in _split(group.lines, column).items()
                ]
        found: list[_Group] = []
        for group in groups:
            systems = self._column_of_systems(group, labels)
            if systems is None:
                found.append(group)
            else:
                self._used.add(systems)
                found += [_Group(lines, group.labels, value) for value, lines in _split(group.lines, systems).items()]
        return found

    def _column_of_systems(self, group: _Group, labels: Sequence[int]) -> int | None:
        named = next((column for column in labels if self._name(column).casefold() == SYSTEM_COLUMN), None)
        if named is not None or self._doubling([group.lines]) < _DOUBLED:
            return named
        left = {column: self._doubling(_split(group.lines, column).values()) for column in labels}
        best = min(left, key=left.__getitem__, default=None)
        return best if best is not None and left[best] <= _RESOLVED else None

    def _doubling(self, groups: Iterable[Sequence[_Line]]) -> float:
        counts = [Counter(line.key for line in lines) for lines in groups]
        n_more = sum(n > self._known.times[key] for found in counts for key, n in found.items())
        return n_more / max(sum(map(len, counts)), 1)

    # -- translations

    def translations(self) -> list[Recognised]:
        columns = [column for column in self._columns.texts if column != self._column]
        each = [self._recognise(group, column) for group in self._groups() for column in columns]
        found = [one for one in each if one is not None]
        if not found and not self.passed_over:
            self.passed_over.append("has source sentences but no translations of them; add a column with translations")
        # Numbers, labels and remarks: mention them, since one may have been meant as a translation.
        if found and (others := sorted(self._looked_at - self._used)):
            self.passed_over.append(f"no translations are in column {', '.join(map(self._shown, others))}")
        return found

    def _recognise(self, group: _Group, column: int) -> Recognised | None:
        pairs = [(line.key, text) for line in group.lines if (text := line.cells[column])]
        if any(letter.isalpha() for _, text in pairs for letter in text):
            self._looked_at.add(column)
        if len(pairs) < _FILLED * len(group.lines):
            return None
        if sum(loose_key(text) == key for key, text in pairs) >= _COPIED * len(pairs):
            self._pass_over(column, "repeats the sources, so nothing in it is translated")
            return None
        names = (*group.labels, self._name(column), self._columns.name)
        said = [code for name in names for code in languages_in(name)]
        language = self._language(pairs, said)
        into = self._index.into(self._known, language) if language else None
        if language == self._known.selection.source_language:
            return None
        has_words = sum(any(map(str.isalpha, text)) for _, text in pairs) > 0.5 * len(pairs)
        is_long = sum(len(text) for _, text in pairs) >= _SHORTEST * sum(len(key) for key, _ in pairs)
        if not (has_words and is_long) and (into is None or _fit(into, pairs) < _SURE_FIT):
            return None
        if into is None:
            name = NAMES.get(language, "an unsupported language")
            targets, title = ", ".join(self._known.targets), self._known.benchmark.title
            self._pass_over(column, f"is in {name}; {title} can be translated into {targets} here")
            return None
        self._used.add(column)
        # "he" may be Hebrew or a word: a column named only by language codes means the language.
        meant = [code for name in names for code in languages_in(name) if not system_in(name, said)]
        return self._beside_sources(group, column, into, meant)

    def _pass_over(self, column: int, problem: str) -> None:
        self._used.add(column)
        sentence = f"column {self._shown(column)} {problem}"
        if sentence not in self.passed_over:
            self.passed_over.append(sentence)

    def _language(self, pairs: Sequence[tuple[str, str]], said: Sequence[str]) -> str:
        """The language of the texts: the stated one if plausible, else the detected one."""
        some = _spread([text for _, text in pairs])
        for code in said:
            if code in self._known.targets and not profiles.mainly(some, code):
                return code
        return profiles.likely(some)

    def _beside_sources(self, group: _Group, column: int, known: IndexedSet, meant: Sequence[str]) -> Recognised:
        """Each sentence has one row per request; further rows are duplicates."""
        by_key: dict[str, list[_Line]] = defaultdict(list)
        for line in group.lines:
            by_key[line.key].append(line)
        used: set[int] = set()
        exact = {request.source.strip() for request in known.benchmark.requests(known.item_set)}
        for key, lines in by_key.items():
            n = known.times[key] if len(lines) >= known.times[key] else 1
            # An exact match precedes a near match, as in `score`.
            used |= {id(line) for line in sorted(lines, key=lambda line: line.cells[self._column] not in exact)[:n]}
        target = known.selection.target_language
        remarks = []
        if meant and target not in meant and meant[0] in known.targets:
            remarks.append(f"it is labelled {NAMES[meant[0]]}, but is {NAMES[target]}")
        return Recognised(
            self._columns.path,
            self._columns.name,
            known,
            [
                Row(line.cells[self._column], line.cells[column], line.number)
                for line in group.lines
                if id(line) in used
            ],
            self._shown(self._column),
            self._shown(column),
            group.system,
            [item.source for item, key in zip(known.item_set.items, known.keys, strict=False) if key not in by_key],
            [line.number for line in group.lines if id(line) not in used],
            remarks,
        )


def _fit(known: IndexedSet, pairs: Sequence[tuple[str, str]]) -> float:
    place_of = {key: place for place, key in enumerate(known.keys)}
    return known.fit([(place_of[key], text) for key, text in pairs[:: max(1, len(pairs) // _MOST_READ)]]) or 0.0


def _spread(texts: Sequence[str]) -> list[str]:
    filled = [text for text in texts if text.strip()]
    return filled[:: max(1, -(-len(filled) // _MOST_READ))]


# -- by order


def _recognise_by_order(path: Path, table: Table, index: Index) -> Found | None:
    """One column with one translation per row, in benchmark order; None if nothing fits."""
    if any(len(cells) > 1 for _, cells in table.rows):
        return None
    lines = [cells[0] if cells else "" for _, cells in table.rows]
    language = profiles.likely(_spread(lines))
    if not language:
        return None
    # The first row may be a column name.
    for texts in (lines, lines[1:]) if path.suffix.lower() != ".txt" else (lines,):
        fitting = _fitting(index, texts, language)
        if not fitting:
            continue
        best, *others = fitting
        if any(one.selection.parts != best.selection.parts for one in others):
            title, named = best.benchmark.title, ", ".join(part for one in fitting for part in one.selection.parts)
            # Groups of a benchmark are different sentences: do not guess among them.
            raise BadFile(
                path,
                f"its {len(texts):,} lines fit several groups of {title} equally well ({named}); add a column with the "
                f"sources, or name the group: gendermark score {best.benchmark.name} --group NAME --translations FILE",
            )
        named = "; ".join(dict.fromkeys(f"{one.benchmark.title}, {_data_of(one.selection)}" for one in others))
        remarks = [f"it could also be {named}; add a column with the sources to tell"] if named else []
        rows = [Row(None, text, number) for number, text in enumerate(texts, start=1)]
        return [Recognised(path, table.name, best, rows, remarks=remarks)], []
    return None


def _fitting(index: Index, texts: Sequence[str], language: str) -> list[IndexedSet]:
    """The best-fitting sets of this length, all equally good; the default first."""
    candidates = _candidates(index, texts, language, usual=True)
    sure = [(fit, known) for fit, known in candidates if fit is not None and fit >= _SURE_FIT]
    # Another revision or variant of a good match may fit better; without a match, try all benchmarks.
    only = max(sure, key=itemgetter(0))[1].selection.benchmark if sure else ""
    candidates += _candidates(index, texts, language, usual=False, only=only)
    fitting = [(fit, known) for fit, known in candidates if fit is not None and fit >= _LEAST_FIT]
    if not fitting:
        # A benchmark that cannot measure fit is accepted only if no other has this length.
        unknown = [known for fit, known in candidates if fit is None]
        return unknown if len({known.selection.benchmark for known in unknown}) == 1 else []
    most = max(fit for fit, _ in fitting)
    return [known for fit, known in fitting if fit >= most - _ALIKE]


def _candidates(
    index: Index, texts: Sequence[str], language: str, *, usual: bool, only: str = ""
) -> list[tuple[float | None, IndexedSet]]:
    """Sets of this length, or groups of sets, with the fit of the texts to each."""
    sets = []
    for selection in index.selections((), {language}, usual=usual):
        known = index.get(selection) if only in ("", selection.benchmark) else None
        into = index.into(known, language) if known is not None else None
        if into is not None:
            sets.append(into)
    found = [one for one in sets if len(one.keys) == len(texts)]
    if not found and usual:
        found = [group for one in sets for group in index.groups(one) if len(group.keys) == len(texts)]
    step = max(1, -(-len(texts) // _MOST_FITTED))
    some = [(place, text) for place, text in enumerate(texts) if place % step == 0 and text.strip()]
    return [(one.fit(some), one) for one in found]


# -- names

_GENERIC = {
    *SOURCE_COLUMNS,
    *TRANSLATION_COLUMNS,
    SYSTEM_COLUMN,
    *("out", "translations", "translated", "text", "sheet", "column"),
}
"""Words that are not system names."""


def system_in(name: str, direction: Sequence[str]) -> str:
    """Return the words of a name except languages and words like `translation`; often none."""
    words = words_in(name)
    own = [
        word
        for word in words
        if not set(languages_in(word)) & set(direction) and word.casefold().rstrip("0123456789") not in _GENERIC
    ]
    if all(map(str.isdigit, own)):
        return ""
    return name.strip() if own == words else " ".join(own)


def _data_of(selection: Selection) -> str:
    """The data and all non-default options that select sentences."""
    revision = selection.revision if selection.revision != "released" else ""
    parts = [f"official data {revision}".strip() if selection.data == "official" else "core data (bundled)"]
    for name, option in own_options(type(selection)).items():
        value = getattr(selection, name)
        if "export" in option.verbs and option.choices and value not in ("", option.choices[0]):
            parts.append(f"{name} {value}")
    if selection.parts:
        parts.append(f"{options_of(type(selection))['parts'].noun} {' and '.join(selection.parts)} only")
    return ", ".join(parts)


def _first(names: Sequence[object], separator: str = ", ") -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return separator.join(map(str, names[:MOST_NAMED])) + more
