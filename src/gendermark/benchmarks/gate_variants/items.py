"""GATE's sentences: people whose gender English leaves open, and one translation for each way to close it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import TypeVar

from gendermark.benchmarks.benchmark import ItemSet
from gendermark.benchmarks.gate_variants import (
    DIRECTIONS,
    GROUPS,
    AlternativesSettings,
    RewritingSettings,
    Settings,
    Shared,
)
from gendermark.data.bundled import core_lines, core_origin, core_rows
from gendermark.data.official import official_files
from gendermark.data.own import file_of, read_own
from gendermark.errors import UserError
from gendermark.io.textfiles import read_text, split_lines
from gendermark.reading.occupations import core_occupations
from gendermark.records import Gender, Item, Request, Task

S = TypeVar("S", bound=Settings)
LANGUAGES = ("es", "fr", "it")
HIDDEN = ("kw_s", "kw_f", "kw_m", "reference", "input", "paper_reference", "english")
"""Tags that a judge needs and a judgement does not carry; so are the variants, `f`, `mf` ..."""
_NUMBER = {"one": 2, "two": 4, "three": 8}
_HEAD = re.compile(r"\[(.*?)\]")
_MARKED = re.compile(r"\{(?:(\d):)?([^|{}]*)\|([^|{}]*)\}")
_MAJORITY = 50


def names_of(n_people: int) -> list[str]:
    """What the variants of so many people are called: letter n is the gender of the nth."""
    return ["".join(letters) for letters in product("fm", repeat=n_people)]


@dataclass(frozen=True)
class Row:
    """One sentence and its variants."""

    number: int
    """Its place in its file."""
    group: str
    cells: Mapping[str, str]
    paper: Mapping[str, str]
    """The cells as the released script reads them: it takes a leading quotation mark for the quoting of a CSV file."""

    @property
    def names(self) -> list[str]:
        return names_of(1 + GROUPS.index(self.group))

    @property
    def labels(self) -> list[str]:
        """Each once, in their order."""
        return list(dict.fromkeys(filter(None, self.cells["labels"].split(";"))))


def load(settings: Settings) -> ItemSet:
    """One item for each sentence."""
    rows, origin = _read(settings)
    chosen = [row for row in rows if not settings.parts or row.group in settings.parts]
    if not chosen:
        raise UserError(
            f"{settings.benchmark} has no sentences with {settings.parts[0]} people of open gender into "
            f"{settings.target_language} ({settings.data} data); leave out --group {settings.parts[0]}"
        )
    is_open = isinstance(settings, AlternativesSettings)
    items: list[Item] = []
    for row in chosen:
        stereotypes = [_stereotype(noun) for noun in nouns_of(row.cells["kw_s"], len(row.names[0]))]
        tags = {
            "labels": " ".join(row.labels),
            "people": row.group,
            "rules": settings.rules,
            "stereotypes": "".join(kind[:1] or "-" for kind in stereotypes),
            "stereotype": next((kind for kind in stereotypes if kind), ""),
            **{key: row.cells[key] for key in ("kw_s", "kw_f", "kw_m")},
            **{name: (row.paper if settings.rules == "paper" else row.cells)[name] for name in row.names},
        }
        identity = f"{len(row.names)}-{row.number:04}"
        source = row.cells["source"]
        entity = nouns_of(row.cells["kw_s"], len(row.names[0]))[0]
        group = source if settings.cluster == "sentence" else entity
        # Where both readings are wanted, the gender is to be left open; where one must be chosen, none is right.
        expected = Gender.NEUTRAL if is_open else None
        items.append(Item(identity, len(items), group, source, expected, tags, entity=entity))
    return ItemSet(settings, tuple(items), origin)


def requests(item_set: ItemSet) -> list[Request]:
    """Several translations of each sentence."""
    settings: AlternativesSettings = item_set.selection
    direction = (settings.source_language, settings.target_language)
    options, n = settings.sampling_options, settings.n_samples
    return [Request(item.source, *direction, Task.SAMPLE, options=options, n_samples=n) for item in item_set.items]


def load_rewriting(settings: RewritingSettings) -> ItemSet:
    """For each direction one item for each sentence about one person: what is rewritten is its source."""
    rows, origin = _read(settings)
    rows = [row for row in rows if row.group == "one"]
    items: list[Item] = []
    for direction in settings.parts or DIRECTIONS:
        given, wanted = direction[0], direction[2]
        for row in rows:
            english = row.cells["source"]
            tags = {
                "direction": direction,
                "labels": " ".join(row.labels),
                "rules": settings.rules,
                "english": english,
                "reference": row.cells[wanted],
                "paper_reference": row.paper[wanted],
                **{key: row.cells[key] for key in ("kw_s", "kw_f", "kw_m")},
                "changes": "no" if row.cells[given] == row.cells[wanted] else "yes",
                "words": str(len(row.paper["source"].split())),
            }
            noun = nouns_of(row.cells["kw_s"], 1)[0]
            group = english if settings.cluster == "sentence" else noun
            identity = f"{direction}-{row.number:04}"
            gender = Gender.FEMININE if wanted == "f" else Gender.MASCULINE
            items.append(
                Item(identity, len(items), group, row.cells[given], gender, tags, entity=noun, contrast=english)
            )
    return ItemSet(settings, tuple(items), origin)


def rewriting_requests(item_set: ItemSet) -> list[Request]:
    """Within one language: what is shown is a translation already."""
    to = item_set.selection.target_language
    return [Request(item.source, to, to) for item in item_set.items]


def nouns_of(kw_s: str, n_people: int) -> list[str]:
    """The English head noun of each person, in lower case; of entries that do not fit the people the first only."""
    heads = []
    for entry in kw_s.split(";"):
        first = entry.split("=")[0]
        head = _HEAD.search(first)
        heads.append((head[1] if head else first).strip("() ").lower())
    return heads if len(heads) == n_people else [heads[0], *[""] * (n_people - 1)]


@cache
def occupations() -> Mapping[str, tuple[str, str]]:
    """English noun, in both numbers -> the occupation of our lexicons, and the gender that most of its holders have."""
    found = {}
    for occupation, plural, percent_women in core_occupations():
        stereotype = "feminine" if percent_women > _MAJORITY else "masculine"
        found[occupation] = found[plural] = (occupation, stereotype)
    return found


def _stereotype(noun: str) -> str:
    return occupations().get(noun, ("", ""))[1]


# -- reading -----------------------------------------------------------------------------------------------------------


def _own_rows(path: str) -> tuple[list[Row], str]:
    """A user's own sentences, each about one person, with a translation of either gender."""
    found, origin = read_own(path, ("source", "entity", "reference_feminine", "reference_masculine"))
    rows = []
    for number, own in enumerate(found):
        variants = {"f": own["reference_feminine"], "m": own["reference_masculine"]}
        cells = {"source": own["source"], "labels": "", "kw_s": own["entity"], "kw_f": "", "kw_m": "", **variants}
        rows.append(Row(number, "one", cells, cells))
    return rows, origin


def _read(settings: Shared) -> tuple[list[Row], str]:
    if path := file_of(settings.data):
        rows, origin = _own_rows(path)
        return list(_split(rows, settings.split)), origin
    by_group, origin = _core_rows(settings) if settings.data == "core" else _official_rows(settings)
    return [row for group in by_group for row in _split(group, settings.split)], origin


def _split(rows: Sequence[Row], split: str) -> Sequence[Row]:
    if split == "half1":
        return rows[: len(rows) // 2]
    if split == "half2":
        return rows[len(rows) // 2 :]
    return [row for row in rows if split in ("all", row.cells.get("data_split"))]


def _official_rows(settings: Shared) -> tuple[list[list[Row]], str]:
    source = official_files("gate-variants", settings.revision)
    code = settings.target_language.upper()
    paths = [(group, f"data/{code}/{code}_{n}_variants.tsv") for group, n in _NUMBER.items()]
    found = [list(_rows_of(source.path(path), group)) for group, path in paths if path in source.paths]
    return found, source.origin


def _rows_of(path: Path, group: str) -> Iterator[Row]:
    text = read_text(path)
    lines = [line.rstrip("\r") for line in split_lines(text)]
    header = lines[0].split("\t")
    # The released script reads the same file as CSV.
    quoted = csv.DictReader(io.StringIO(text, newline=""), delimiter="\t")
    for number, (line, paper) in enumerate(zip(lines[1:], quoted, strict=True)):
        yield Row(number, group, dict(zip(header, line.split("\t"), strict=True)), paper)


def _core_rows(settings: Shared) -> tuple[list[list[Row]], str]:
    name = "gate_variants/sentences.tsv"
    found: dict[str, list[Row]] = {group: [] for group in GROUPS}
    for cells in core_rows(name):
        own = found[cells["people"]]
        own.append(_expanded(cells, cells[settings.target_language], len(own)))
    return list(found.values()), core_origin("\n".join(core_lines(name)))


def _expanded(cells: Mapping[str, str], marked: str, number: int) -> Row:
    """A sentence of our own, written once with `{feminine|masculine}`; of the second person, `{2:feminine|masculine}`.

    Its variants and key words are made of that; words in brackets are heads, as in GATE's key words.
    """
    group = cells["people"]
    mentions: dict[int, list[tuple[str, str]]] = {}
    for place, feminine, masculine in _MARKED.findall(marked):
        mentions.setdefault(int(place or 1), []).append((feminine, masculine))
    places = range(1, 2 + GROUPS.index(group))
    keywords = [";".join("=".join(pair[side] for pair in mentions.get(n, ())) for n in places) for side in (0, 1)]

    def variant(letters: str) -> str:
        def chosen(match: re.Match[str]) -> str:
            return match[2] if letters[int(match[1] or 1) - 1] == "f" else match[3]

        return _MARKED.sub(chosen, marked).translate({ord("["): None, ord("]"): None})

    names = names_of(1 + GROUPS.index(group))
    made = {
        "labels": cells["labels"],
        "source": cells["en"],
        "kw_s": cells["kw_s"],
        "kw_f": keywords[0],
        "kw_m": keywords[1],
        **{name: variant(name) for name in names},
    }
    return Row(number, group, made, made)


def with_defaults(settings: S) -> S:
    """By the paper's rules nothing but the very words of a variant tells its gender."""
    if settings.rules == "paper" and settings.reading not in ("", "exact"):
        raise UserError(f"rules paper read exact matches only; leave out --reading {settings.reading}")
    return replace(settings, reading="exact") if settings.rules == "paper" else settings


def refuse_split(settings: Shared) -> None:
    if settings.split in ("dev", "test") and (settings.data == "core" or settings.target_language == "fr"):
        where = "core data" if settings.data == "core" else "the French files"
        raise UserError(f"{where} of GATE are not divided into dev and test; use --split half1 or half2")
