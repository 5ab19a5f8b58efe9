"""GATE's sentences: people of unspecified gender, and one translation for each combination of genders."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import TypeVar

from gendermark.benchmarks import gate_variants as gate
from gendermark.benchmarks.benchmark import ItemSet
from gendermark.data.bundled import core_lines, core_origin, core_rows
from gendermark.data.official import official_files
from gendermark.data.own import file_of, read_own
from gendermark.errors import UserError
from gendermark.io.textfiles import read_text, split_lines
from gendermark.reading.codes import NAMES
from gendermark.reading.occupations import core_occupations
from gendermark.records import Gender, Item, Request

S = TypeVar("S", bound=gate.Settings)
T = TypeVar("T", bound=gate.Shared)
LANGUAGES = ("es", "fr", "it")
ANNOTATED = ("de", "pt", "ru")
"""Languages that only Garg et al. (2024) annotated."""
_KEYWORDS = ("kw_s", "kw_f", "kw_m")
HIDDEN = (*_KEYWORDS, "reference", "paper_reference", "english", "annotated")
"""Tags for the judge that judgements do not keep; the variants, `f`, `mf` ..., are further ones."""
HEAD = re.compile(r"\[(.*?)\]")
_MARKED = re.compile(r"\{(?:(\d):)?([^|{}]*)\|([^|{}]*)\}")
_STRUCTURE = re.compile(r"\[\[([^]]*?)/([^]]*?)\]\]")
"""Garg et al.: `[[masculine/feminine]]`."""
_HEADWORD = re.compile(r"\[\[(.*?)\]\]")
_ALIGNED = re.compile(r"(\d+)-(\d+)")
"""Garg et al.: numbers of a head word and of a structure that refers to it."""


def names_of(n_people: int) -> list[str]:
    return ["".join(letters) for letters in product("fm", repeat=n_people)]


@dataclass(frozen=True)
class Row:
    number: int
    """Row number in its file."""
    group: str
    cells: Mapping[str, str]
    paper: Mapping[str, str]
    """The cells as the released script reads them: it treats a leading quotation mark as CSV quoting."""

    @property
    def names(self) -> list[str]:
        return names_of(_n_people(self.group))

    @property
    def tags(self) -> dict[str, str]:
        labels = dict.fromkeys(filter(None, self.cells["labels"].split(";")))
        return {"labels": " ".join(labels), **{key: self.cells[key] for key in _KEYWORDS}}


def _n_people(group: str) -> int:
    """Sentences without unspecified gender have one person and two identical variants."""
    return 1 if group == gate.NOBODY else 1 + gate.GROUPS.index(group)


def load(settings: gate.Settings) -> ItemSet:
    rows, origin = _read(settings)
    is_open = isinstance(settings, gate.AlternativesSettings)
    groups = settings.parts or ((*gate.GROUPS, gate.NOBODY) if is_open else gate.GROUPS)
    chosen = [row for row in rows if row.group in groups]
    if not chosen:
        raise UserError(
            f"{settings.benchmark} has no sentences with {settings.parts[0]} people of unspecified gender into "
            f"{settings.target_language} ({settings.data} data); leave out --group {settings.parts[0]}"
        )
    items: list[Item] = []
    for row in chosen:
        nouns = nouns_of(row.cells["kw_s"], len(row.names[0]))
        stereotypes = [_stereotypes().get(noun, "") for noun in nouns]
        tags = {
            **row.tags,
            "people": row.group,
            "rules": settings.rules,
            "annotated": "yes" if settings.target_language in ANNOTATED and settings.data == "official" else "",
            "stereotypes": "".join(kind[:1] or "-" for kind in stereotypes),
            "stereotype": next(filter(None, stereotypes), ""),
            **{name: (row.paper if settings.rules == "paper" else row.cells)[name] for name in row.names},
        }
        source = row.cells["source"]
        group = source if settings.cluster == "sentence" else nouns[0]
        # If both variants are wanted, gender should stay open; if one must be chosen, none is correct.
        expected = Gender.NEUTRAL if is_open else None
        identity = f"{len(row.names)}-{row.number:04}"
        items.append(Item(identity, len(items), group, source, expected, tags, entity=nouns[0]))
    return ItemSet(settings, tuple(items), origin)


def load_rewriting(settings: gate.RewritingSettings) -> ItemSet:
    """For each direction, one item per sentence about one person; its source is the translation to rewrite."""
    rows, origin = _read(settings)
    rows = [row for row in rows if row.group == "one"]
    items: list[Item] = []
    for direction in settings.parts or gate.DIRECTIONS:
        given, wanted = direction[0], direction[2]
        for row in rows:
            english = row.cells["source"]
            tags = {
                "direction": direction,
                **row.tags,
                "rules": settings.rules,
                "english": english,
                "reference": row.cells[wanted],
                "paper_reference": row.paper[wanted],
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
    """Requests within one language: the source is already a translation."""
    to = item_set.selection.target_language
    return [Request(item.source, to, to) for item in item_set.items]


def nouns_of(kw_s: str, n_people: int) -> list[str]:
    heads = []
    for entry in kw_s.split(";"):
        first = entry.split("=")[0]
        head = HEAD.search(first)
        heads.append((head[1] if head else first).strip("() ").lower())
    return heads if len(heads) == n_people else [heads[0], *[""] * (n_people - 1)]


@cache
def _stereotypes() -> Mapping[str, str]:
    """English occupation, singular and plural -> the gender of most of its holders."""
    return {
        name: "feminine" if percent_women > 50 else "masculine"
        for occupation, plural, percent_women in core_occupations()
        for name in (occupation, plural)
    }


# -- reading -----------------------------------------------------------------------------------------------------------


def _read(settings: gate.Shared) -> tuple[list[Row], str]:
    if path := file_of(settings.data):
        # A user's own sentences: one person each, and a translation for either gender.
        found, origin = read_own(path, ("source", "entity", "reference_feminine", "reference_masculine"))
        rows = []
        for number, own in enumerate(found):
            variants = {"f": own["reference_feminine"], "m": own["reference_masculine"]}
            cells = {"source": own["source"], "labels": "", "kw_s": own["entity"], "kw_f": "", "kw_m": "", **variants}
            rows.append(Row(number, "one", cells, cells))
        by_group = [rows]
    elif settings.data == "core":
        name = "gate_variants/sentences.tsv"
        core: dict[str, list[Row]] = {group: [] for group in gate.GROUPS}
        for cells in core_rows(name):
            rows = core[cells["people"]]
            rows.append(_expanded(cells, cells[settings.target_language], len(rows)))
        by_group, origin = list(core.values()), core_origin("\n".join(core_lines(name)))
    else:
        by_group, origin = _official_rows(settings)
    wanted = settings.split
    if wanted.startswith("half"):
        halves = [(rows, len(rows) // 2) for rows in by_group]
        return [row for rows, n in halves for row in (rows[:n] if wanted == "half1" else rows[n:])], origin
    return [row for rows in by_group for row in rows if wanted in ("all", row.cells.get("data_split"))], origin


def _official_rows(settings: gate.Shared) -> tuple[list[list[Row]], str]:
    if settings.target_language in ANNOTATED:
        source = official_files("gate-annotated", settings.revision)
        path = source.path(f"data/test/raw/gate.en-{settings.target_language}.tsv")
        return [list(_annotated_rows(path))], source.origin
    source = official_files("gate-variants", settings.revision)
    code = settings.target_language.upper()
    paths = {group: f"data/{code}/{code}_{2**n}_variants.tsv" for n, group in enumerate(gate.GROUPS, 1)}
    found = [list(_rows_of(source.path(path), group)) for group, path in paths.items() if path in source.paths]
    return found, source.origin


def _rows_of(path: Path, group: str) -> Iterator[Row]:
    text = read_text(path)
    lines = [line.rstrip("\r") for line in split_lines(text)]
    header = lines[0].split("\t")
    # The released script reads the same file as CSV.
    quoted = csv.DictReader(io.StringIO(text, newline=""), delimiter="\t")
    for number, (line, paper) in enumerate(zip(lines[1:], quoted, strict=True)):
        yield Row(number, group, dict(zip(header, line.split("\t"), strict=True)), paper)


def _annotated_rows(path: Path) -> Iterator[Row]:
    """Sentences of Garg et al., except a few whose structures are not all aligned to a person."""
    header, *lines = (line.split("\t") for line in split_lines(read_text(path)))
    for number, line in enumerate(lines):
        cells = dict(zip(header, line, strict=True))
        text = cells["translation with gender structures"] or cells["vanilla translation"]
        owners = {int(place): int(head) for head, place in _ALIGNED.findall(cells["gender alignments"])}
        people = sorted(set(owners.values()))
        heads = _HEADWORD.findall(cells["source with headwords"])
        is_aligned = len(owners) == len(_STRUCTURE.findall(text)) and people[-1:] < [len(heads)]
        if not is_aligned or len(people) > len(gate.GROUPS):
            continue
        marked = text
        for place in range(len(owners)):
            marked = _STRUCTURE.sub(rf"{{{1 + people.index(owners[place])}:\2|\1}}", marked, count=1)
        group = gate.GROUPS[len(people) - 1] if people else gate.NOBODY
        nouns = ";".join(heads[head] for head in people)
        made = {"people": group, "labels": "", "en": cells["source"], "kw_s": nouns}
        yield _expanded(made, marked, number)


def _expanded(cells: Mapping[str, str], marked: str, number: int) -> Row:
    """Our sentences mark variants as `{feminine|masculine}`, for the second person `{2:feminine|masculine}`.

    Variants and key words are derived from that; bracketed words are heads, as in GATE's key words.
    """
    group = cells["people"]
    mentions: dict[int, list[tuple[str, str]]] = {}
    for place, feminine, masculine in _MARKED.findall(marked):
        mentions.setdefault(int(place or 1), []).append((feminine, masculine))
    places = range(1, 1 + _n_people(group))
    keywords = [";".join("=".join(pair[side] for pair in mentions.get(n, ())) for n in places) for side in (0, 1)]

    def variant(letters: str) -> str:
        plain = _MARKED.sub(lambda match: match[2 if letters[int(match[1] or 1) - 1] == "f" else 3], marked)
        return plain.translate({ord("["): None, ord("]"): None})

    about = {"labels": cells["labels"], "source": cells["en"], "kw_s": cells["kw_s"]}
    variants = {name: variant(name) for name in names_of(_n_people(group))}
    made = {**about, "kw_f": keywords[0], "kw_m": keywords[1], **variants}
    return Row(number, group, made, made)


def with_defaults(settings: S) -> S:
    """By the paper's rules, only an exact variant shows its gender."""
    if settings.rules == "paper" and settings.reading not in ("", "exact"):
        raise UserError(f"rules paper count exact matches only; leave out --reading {settings.reading}")
    return replace(settings, reading="exact") if settings.rules == "paper" else settings


def with_split(settings: T) -> T:
    """Refuse a split that the data does not have."""
    if settings.split in ("dev", "test") and (settings.data == "core" or settings.target_language not in ("es", "it")):
        where = "core data" if settings.data == "core" else f"the {NAMES[settings.target_language]} files"
        raise UserError(f"{where} of GATE are not divided into dev and test; use --split half1 or half2")
    return settings
