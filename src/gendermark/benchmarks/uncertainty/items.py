"""The sentences of the uncertainty benchmark, their gender, and their reference translations."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from gendermark.benchmarks import winomt
from gendermark.benchmarks.benchmark import ItemSet
from gendermark.benchmarks.uncertainty import Settings
from gendermark.benchmarks.winomt.items import COLUMNS, items_of, own_rows
from gendermark.benchmarks.winomt.judge import BENCHMARK as WINOMT
from gendermark.data.bundled import core_rows
from gendermark.data.own import OwnRow, read_mgente, read_own
from gendermark.errors import UserError
from gendermark.io.disk_list import stored
from gendermark.io.textfiles import content_hash
from gendermark.reading.focus import EDGES, INDEFINITE, POSSESSIVE, places_of
from gendermark.records import Gender, Item

UNAMBIGUOUS, AMBIGUOUS = "unambiguous", "ambiguous"
_REFERENCES = ("reference_masculine", "reference_feminine")


@dataclass(frozen=True, slots=True)
class Reference:
    """A translation whose surprisal is measured."""

    text: str
    side: str
    """`correct` or `incorrect`."""
    gender: Gender | None


def is_open(gender: Gender | None) -> bool:
    return gender in (None, Gender.NEUTRAL)


def as_winomt(settings: Settings) -> winomt.Settings:
    """WinoMT's settings: its sentences, and its judge for the noun's gender."""
    return winomt.Settings(
        "winomt",
        settings.source_language,
        settings.target_language,
        settings.data if settings.data in ("official", "core") else "core",
        settings.revision,
        cluster=settings.cluster,
        aligner=settings.aligner,
        detector=settings.detector,
    )


def load(settings: Settings) -> ItemSet:
    found = _load(settings)
    every = (_marked(item, settings) for item in found.items)
    items = stored(item for item in every if not settings.parts or has_references(item, settings))
    if settings.parts and not items:
        raise UserError(
            f"there are no reference translations into {settings.target_language} for {settings.data} data; "
            "leave out --group referenced"
        )
    return replace(found, selection=settings, items=items)


def choices(item_set: ItemSet) -> list[tuple[str, str] | None]:
    """The references, for equation 4 by the system's own probabilities."""
    found = [references_of(item, item_set.selection) for item in item_set.items]
    if not any(found):
        raise UserError("these sentences have no pairs of translations to choose from; leave out --forced-choice")
    texts = [{reference.side: reference.text for reference in references} for references in found]
    return [(sides["correct"], sides["incorrect"]) if sides else None for sides in texts]


def _load(settings: Settings) -> ItemSet:
    kind, _, path = settings.data.partition(":")
    if kind == "mgente":
        items = tuple(replace(item, tags={**item.tags, "role": "", "stereotype": "none"}) for item in read_mgente(path))
        return ItemSet(settings, items, f"mgente-{content_hash(path)[:8]}")
    if kind == "file":
        # As for WinoMT, with the two reference translations in further columns.
        rows, origin = own_rows(path)
        further, _ = read_own(path, ("source",), COLUMNS)
        both = zip(items_of(rows, as_winomt(settings)), map(_own_references, further), strict=True)
        own_items = stored(replace(item, tags={**item.tags, "corpus": "own", **own}) for item, own in both)
        return ItemSet(settings, own_items, origin)
    return WINOMT.load(as_winomt(settings))


def _marked(item: Item, settings: Settings) -> Item:
    text = item.source
    if settings.variant == "names" and item.entity:
        place = int(item.tags["position"])
        text = with_name(text, place, item.expected, settings.target_language, item.entity)
    return replace(
        item, source=text, tags={**item.tags, "source": AMBIGUOUS if is_open(item.expected) else UNAMBIGUOUS}
    )


# -- first names: "The mechanic Anne called to inform someone that she had completed the repair" -----------------------


def with_name(text: str, position: int, gender: Gender | None, language: str, entity: str) -> str:
    """The sentence with a name after the person's noun, of the pronoun's gender.

    Sentences of unspecified gender get none, nor does "someone", which no name can follow. The name depends only on
    language and sentence; the noun's position is unchanged.
    """
    known = names()
    languages = sorted({code for code, _ in known})
    if language not in languages:
        raise UserError(f"there are no names for {language!r}; available: {', '.join(languages)}")
    if gender not in (Gender.MASCULINE, Gender.FEMININE) or entity.lower() in INDEFINITE:
        return text
    choices = known[language, gender]
    digest = hashlib.sha256(f"0/{language}/{text}".encode()).digest()
    name = choices[int.from_bytes(digest[:8], "big") % len(choices)]
    tokens = text.split(" ")
    start = min(places_of(text, entity), key=lambda place: abs(place - position))
    end = start + len(entity.split())
    last = tokens[end - 1]
    noun = last.strip(EDGES)
    possessive = POSSESSIVE.search(noun)
    cut = last.index(noun) + (possessive.start() if possessive else len(noun))
    return " ".join([*tokens[: end - 1], last[:cut], name + last[cut:], *tokens[end:]])


@cache
def names() -> Mapping[tuple[str, Gender], Sequence[str]]:
    found: dict[tuple[str, Gender], list[str]] = defaultdict(list)
    for row in core_rows("uncertainty/names.tsv"):
        found[row["language"], Gender(row["gender"])].append(row["name"])
    return dict(found)


def _own_references(row: OwnRow) -> dict[str, str]:
    """Both or none: surprisals are compared."""
    texts = {name: row[name] for name in _REFERENCES if row[name]}
    if len(texts) == 1:
        raise row.problem("has one reference of two; give both, or leave both cells empty")
    return texts


# -- references -------------------------------------------------------------------------------------------------------


def has_references(item: Item, settings: Settings) -> bool:
    tags = item.tags
    if settings.data == "core":
        return (item.contrast, str(item.expected)) in references(settings.target_language)
    return "reference_masculine" in tags or "reference_gendered" in tags


def references_of(item: Item, settings: Settings) -> list[Reference]:
    """The correct and the wrong translation of an item that specifies gender."""
    if is_open(item.expected) or not has_references(item, settings):
        return []
    tags = item.tags
    if "reference_gendered" in tags:  # mGeNTE: if the source specifies gender, the neutral translation is worse
        return [
            Reference(tags["reference_gendered"], "correct", item.expected),
            Reference(tags["reference_neutral"], "incorrect", Gender.NEUTRAL),
        ]
    return [
        Reference(text, "correct" if gender == item.expected else "incorrect", gender)
        for text, gender in zip(_of_both_genders(item, settings), (Gender.MASCULINE, Gender.FEMININE), strict=True)
    ]


def right_references(item: Item, settings: Settings) -> list[str]:
    """The references to compare with: one if the source specifies gender, else all."""
    told = [reference.text for reference in references_of(item, settings) if reference.side == "correct"]
    if told or not has_references(item, settings):
        return told
    if "reference_gendered" in item.tags:
        return [item.tags["reference_gendered"], *neutral_references(item)]
    return list(_of_both_genders(item, settings))


def neutral_references(item: Item) -> list[str]:
    return [text for name, text in item.tags.items() if name.startswith("reference_neutral")]


def _of_both_genders(item: Item, settings: Settings) -> tuple[str, str]:
    if settings.data == "core":
        return references(settings.target_language)[item.contrast, str(item.expected)]
    return item.tags["reference_masculine"], item.tags["reference_feminine"]


@cache
def references(language: str) -> Mapping[tuple[str, str], tuple[str, str]]:
    rows = core_rows(f"uncertainty/references.{language}.tsv")
    return {(row["contrast"], row["gender"]): (row["masculine"], row["feminine"]) for row in rows}
