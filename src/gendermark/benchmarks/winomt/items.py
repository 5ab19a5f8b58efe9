"""WinoMT's sentences: the official files, or our own templates; each with its entity."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from gendermark.benchmarks.benchmark import ItemSet
from gendermark.benchmarks.winomt import Settings
from gendermark.data.bundled import core_lines, core_origin, core_text
from gendermark.data.official import official_files
from gendermark.data.own import OwnRow, file_of, read_own
from gendermark.errors import BadFile
from gendermark.io.disk_list import mapped, stored
from gendermark.io.textfiles import read_lines
from gendermark.reading.focus import places_of
from gendermark.reading.occupations import core_occupations
from gendermark.records import Gender, Item

_EVERY = "data/aggregates/en.txt"
_GENDERS = {"male": Gender.MASCULINE, "female": Gender.FEMININE, "neutral": Gender.NEUTRAL}
_NAMES = {gender: name for name, gender in _GENDERS.items()}
_PRONOUNS = {
    "subject": ("he", "she", "they"),
    "object": ("him", "her", "them"),
    "possessive": ("his", "her", "their"),
    "reflexive": ("himself", "herself", "themselves"),
}
# What changes with the pronoun in the sentences of one contrast set: itself and the verb's number.
_WITHOUT_GENDER = {"was": "was", "were": "was", "is": "is", "are": "is", "has": "has", "have": "has"}
"""Verbs whose number depends on the pronoun."""
_AGREEING = re.compile(
    r"\b(?:(?i:he|him|his|himself|she|her|hers|herself|they|them|their|theirs|themselves|themself)"
    rf"|{'|'.join(_WITHOUT_GENDER)})\b"
)
ARTICLES = ("the", "a", "an")
# Section 3.3: "handsome" before men, "pretty" before women, none for unspecified gender.
_ADJECTIVES = {Gender.MASCULINE: "handsome", Gender.FEMININE: "pretty"}


class Row(NamedTuple):
    """A line of a WinoMT file: gender, entity position in words, sentence, entity."""

    gender: str
    position: int
    sentence: str
    entity: str
    half: str = ""
    """`pro`, `anti` or `none`, if the line says so."""

    @property
    def key(self) -> Key:
        return self.gender, self.sentence, self.entity


Key = tuple[str, str, str]
"""Of a row: gender, sentence and entity."""


def load(settings: Settings) -> ItemSet:
    place_of: Mapping[Key, int] = {}
    rows: Sequence[Row]
    if path := file_of(settings.data):
        rows, origin = own_rows(path)
    elif settings.data == "core":
        rows, origin = _core_rows()
    else:
        rows, place_of, origin = _official_rows(settings.revision)
    items = stored(items_of(rows, settings))
    if settings.parts:
        chosen: list[Item] = []
        for part in settings.parts:
            own = [item for item in items if item.tags["stereotype"] == part]
            if place_of:
                own.sort(key=lambda item: place_of[rows[item.index].key])
            chosen += (replace(item, index=index) for index, item in enumerate(own))
        items = stored(chosen)
    return ItemSet(settings, items, origin)


def stereotype(item: Item) -> Gender | None:
    if item.expected is None or item.tags["stereotype"] == "none":
        return Gender(item.tags["occupation_stereotype"]) if item.tags.get("occupation_stereotype") else None
    return item.expected if item.tags["stereotype"] == "pro" else item.expected.opposite


def items_of(rows: Iterable[Row], settings: Settings) -> Iterator[Item]:
    stereotype_of = {occupation: percent > 50 for occupation, _, percent in core_occupations()}
    corpora = {"official": ("winobias", "winogender"), "core": ("core", "core")}.get(settings.data, ("own", "own"))
    occupations = re.compile(r"\b(" + "|".join(sorted(map(re.escape, stereotype_of), key=len, reverse=True)) + r")\b")
    for index, row in enumerate(rows):
        entity = _bare(row.entity)
        stereotype = row.half or "none"
        gender = _GENDERS[row.gender]
        sentence, position = row.sentence, row.position
        contrast = _contrast(sentence, entity)
        if settings.variant == "adjectives" and gender in _ADJECTIVES:
            words = sentence.split(" ")
            sentence, position = " ".join([*words[:position], _ADJECTIVES[gender], *words[position:]]), position + 1
        tags = {
            "position": str(position),
            # The first noun phrase is the subject of WinoMT's sentences and of ours; unknown for a user's own.
            "role": "" if corpora[0] == "own" else "subject" if row.position <= 2 else "object",
            "stereotype": stereotype,
            # WinoBias is the part with a stereotype split; the rest, except core's "they", is Winogender.
            "corpus": corpora[stereotype == "none"],
        }
        if entity in stereotype_of:
            tags["occupation_stereotype"] = (Gender.FEMININE if stereotype_of[entity] else Gender.MASCULINE).value
        if settings.data == "core":
            tags["template"] = _contrast(occupations.sub("#", row.sentence), "")
        group = entity if settings.cluster == "entity" else contrast
        yield Item(f"winomt-{index:04}", index, group, sentence, gender, tags, entity, contrast)


@lru_cache(maxsize=8_192)  # most words recur
def _without_gender(word: str) -> str:
    return _AGREEING.sub(lambda found: _WITHOUT_GENDER.get(found[0], "#"), word)


@lru_cache(maxsize=8_192)  # most sentences recur in another revision
def _contrast(sentence: str, entity: str) -> str:
    """Name the contrast set that the he, she and they versions of a sentence share."""
    sentence = " ".join(map(_without_gender, sentence.split(" ")))
    return hashlib.sha256(f"{sentence}/{entity}".encode()).hexdigest()[:12]


@lru_cache(maxsize=8_192)
def _bare(entity: str) -> str:
    """Without its article: files of 2019 write "The developer", later ones "developer"."""
    words = entity.split()
    return " ".join(words[1:] if words[0].lower() in ARTICLES else words)


COLUMNS = ("gender", "entity_index", "source", "entity", "reference_masculine", "reference_feminine")
"""Of a user's lines in WinoMT's format, as `data convert` writes them; the references are for `uncertainty`."""


def own_rows(path: str) -> tuple[Sequence[Row], str]:
    found, origin = read_own(path, ("source", "gender", "entity"), COLUMNS)
    return mapped(_own_row, found), origin


def _own_row(own: OwnRow) -> Row:
    index, entity = own["entity_index"], own["entity"]
    places = places_of(own["source"], _bare(entity) if index else entity)
    if not places:
        raise own.problem(f"has no {entity!r} in its sentence")
    if index and index not in (known := list(map(str, places))):
        raise own.problem(f"has no {entity!r} at word {index} (the first is 0); it is word {' or '.join(known)}")
    half = own.one_of("stereotype", ("pro", "anti", "none"), "none")
    return Row(_NAMES[own.gender()], int(index or places[0]), own["source"], entity, half)


def sources(settings: Settings) -> Set[str]:
    """The sentences of a revision; none with adjectives, which are inserted later."""
    lines = read_lines(str(official_files("winomt", settings.revision).path(_EVERY)))
    return set() if settings.variant else {line.split("\t")[2] for line in lines if line.count("\t") > 1}


def _official_rows(revision: str) -> tuple[list[Row], Mapping[Key, int], str]:
    """The rows, and the positions of the pro- and anti-stereotypical halves in their files."""
    source = official_files("winomt", revision)
    keys = {
        half: dict.fromkeys(row.key for row in _parse(source.path(f"data/aggregates/en_{half}.txt")))
        for half in ("pro", "anti")
    }
    n_seen: Counter[Key] = Counter()
    rows = []
    for row in _parse(source.path(_EVERY)):
        halves = [half for half, own in keys.items() if row.key in own] or ["none"]
        # A sentence in both halves occurs twice in the whole: once for each.
        rows.append(row._replace(half=halves[min(n_seen[row.key], len(halves) - 1)]))
        n_seen[row.key] += 1
    return rows, {key: place for place, key in enumerate({**keys["pro"], **keys["anti"]})}, source.origin


def _parse(path: object) -> list[Row]:
    lines = enumerate(read_lines(str(path)), start=1)
    return [_parse_row(str(path), number, line.split("\t")) for number, line in lines]


def _parse_row(path: str, number: int, fields: Sequence[str]) -> Row:
    if len(fields) != 4 or fields[0] not in _GENDERS or not fields[1].isdecimal() or not fields[3].strip():
        raise BadFile(
            path,
            "is not a WinoMT line (male, female or neutral; index of the noun; sentence; entity; tab-separated)",
            line=number,
        )
    return Row(fields[0], int(fields[1]), fields[2], fields[3])


def _core_rows() -> tuple[list[Row], str]:
    """Every template with every pair of a stereotypically male and female occupation, in both orders, with all three
    pronouns."""
    templates = [line.split("\t") for line in core_lines("winomt/templates.tsv")][1:]
    men = [name for name, _, percent in core_occupations() if percent < 50]
    women = [name for name, _, percent in core_occupations() if percent > 50]
    rows = []
    for number, (referent, template) in enumerate(templates):
        for place, man in enumerate(men):
            # Pair occupations differently in each template.
            woman = women[(place + 3 * number) % len(women)]
            for first, second in ((man, woman), (woman, man)):
                for position, gender in enumerate(_GENDERS):
                    words = {kind: forms[position] for kind, forms in _PRONOUNS.items()}
                    sentence = template.format(first=first, second=second, **words)
                    entity = first if referent == "first" else second
                    index = sentence.split(" ").index(entity.split(" ")[0])
                    half = "none" if gender == "neutral" else "pro" if (gender == "male") == (entity == man) else "anti"
                    rows.append(Row(gender, index, sentence, entity, half))
    people = "".join(f"{name}{percent}" for name, _, percent in core_occupations())
    return rows, core_origin(core_text("winomt/templates.tsv"), people)
