"""The passages of MiTTenS, into and out of English: the released ones, or our own."""

from __future__ import annotations

import csv
import io
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import product

from gendermark import registry
from gendermark.benchmarks.benchmark import Direction, ItemSet
from gendermark.benchmarks.mittens import ALL_LANGUAGES, SETS, Settings
from gendermark.data.bundled import core_origin, core_rows, core_text
from gendermark.data.official import official_files
from gendermark.data.own import file_of, read_own
from gendermark.errors import UserError
from gendermark.io.textfiles import read_text
from gendermark.reading.codes import NAMES
from gendermark.reading.english import pronouns
from gendermark.reading.words import cut
from gendermark.records import Gender, Item, Request

FILE = "mittens_dataset_v5.csv"
INTO_ENGLISH = (
    "am ar as bho bn cs de es fa fi fr hi id it ja lg ln mai om pl pt ru te th tr zh".split()  # noqa: SIM905
)
OUT_OF_ENGLISH = "am ar bn cs de es fr hi it ja pl pt ru te th zh".split()  # noqa: SIM905
CORE_LANGUAGES = ("es", "de", "fr", "it", "pt")
CORE_GENDERLESS = ("fi", "id", "tr")

_LINE_BREAK = re.compile(r"\s*[\n\r\v\f\x85\u2028\u2029]\s*")
_ALTERNATIVES = re.compile(r"\{([^|}]*)\|([^}]*)\}")
_NOUN_AT_THE_END = re.compile(r"\bis (?:an?|my) (.*)")
_WORD = re.compile(r"\w+|[^\w\s]")
WORDS = tomllib.loads((files(__package__) / "words.toml").read_text(encoding="utf-8"))
_PAIRS = frozenset((masculine, feminine) for masculine, feminine in WORDS["pairs"])
_GENDERED = frozenset(word for pair in _PAIRS for word in pair)


@dataclass(frozen=True, slots=True)
class Passage:
    """One row: a source, its reference, and the gender of the one person in it."""

    passage_id: str
    is_into_english: bool
    language: str
    """The language other than English."""
    eval_set: str
    gender: Gender
    source: str
    reference: str
    split: str = "all"
    family: str = ""
    resource_level: str = ""
    stereotype: str = ""

    @property
    def english(self) -> str:
        return self.reference if self.is_into_english else self.source


# -- languages -------------------------------------------------------------------------------------------------------


def judged_languages(data: str) -> list[str]:
    """The languages out of English whose gender can be read."""
    there = CORE_LANGUAGES if data == "core" else OUT_OF_ENGLISH
    return [code for code in registry.names("language") if code in there]


def language_pairs(data: str) -> list[Direction]:
    into = [*CORE_LANGUAGES, *CORE_GENDERLESS] if data == "core" else INTO_ENGLISH
    return [
        (ALL_LANGUAGES, "en"),
        *((code, "en") for code in sorted(into)),
        *(("en", code) for code in judged_languages(data)),
    ]


def with_source(settings: Settings) -> Settings:
    """Translation into any other language is from English."""
    target, judged = settings.target_language, judged_languages(settings.data)
    if target in OUT_OF_ENGLISH and target not in judged and settings.source_language in ("", "en"):
        raise UserError(
            f"mittens ({settings.data} data) cannot judge translations into {NAMES[target]}; out of English, "
            f"available: {', '.join(judged)}"
        )
    if not settings.source_language and target and target != "en":
        return replace(settings, source_language="en")
    return settings


def complete(settings: Settings) -> Settings:
    if settings.rules != "paper":
        for name in ("mixed", "none"):
            if getattr(settings, name):
                raise UserError(f"--{name} of mittens belongs to the paper's rules; add --rules paper, or leave it out")
    elif not settings.is_into_english:
        raise UserError(
            "rules paper of mittens cover translations into English only (the authors judge the others by hand); use "
            "--rules best, or `gendermark annotate`"
        )
    else:
        settings = replace(settings, mixed=settings.mixed or "wrong", none=settings.none or "right")
    if settings.split != "all" and (settings.data != "official" or not settings.is_into_english):
        kind = settings.data.partition(":")[0]
        where = f"{kind} data has" if kind != "official" else "passages out of English have"
        raise UserError(f"mittens: {where} no --split {settings.split}; leave it out")
    return settings


# -- items -----------------------------------------------------------------------------------------------------------


def load(settings: Settings) -> ItemSet:
    if path := file_of(settings.data):
        passages, origin = _own(path, settings)
    else:
        passages, origin = _core() if settings.data == "core" else _official(settings.revision)
    this_way = [passage for passage in passages if passage.is_into_english == settings.is_into_english]
    there = [
        passage
        for passage in this_way
        if settings.split in ("all", passage.split) and settings.other in (ALL_LANGUAGES, passage.language)
    ]
    groups = group_ids(this_way)
    twins = {} if settings.is_into_english else twins_of(there)
    items: list[Item] = []
    for part in settings.parts or ("",):
        own = [passage for passage in there if part in ("", passage.eval_set)]
        if part and not own:
            sets = sorted({passage.eval_set for passage in there})
            raise UserError(
                f"mittens ({settings.data} data) has no set {part} from {settings.source_language} to "
                f"{settings.target_language}; available: {', '.join(sets)}"
            )
        items += (_item(n, one, groups, twins) for n, one in enumerate(own))
    return ItemSet(settings, tuple(items), origin)


def _own(path: str, settings: Settings) -> tuple[tuple[Passage, ...], str]:
    """A user's own passages: one person each, with a reference; out of English, pairs of twins are judged."""
    rows, origin = read_own(path, ("source", "gender", "reference"))
    passages = []
    for number, row in enumerate(rows):
        language = row["language"] or settings.other
        if language == ALL_LANGUAGES:
            raise row.problem("has no language; add a column `language`, or give --from")
        kind = row.one_of("set", SETS, "coref-coreference")
        gender = row.gender((Gender.MASCULINE, Gender.FEMININE))
        texts = row["source"], row["reference"]
        passages.append(Passage(f"own-{number:04}", settings.is_into_english, language, kind, gender, *texts))
    return tuple(passages), origin


def _item(index: int, one: Passage, groups: Mapping[str, str], twins: Mapping[str, Passage]) -> Item:
    twin = twins.get(one.passage_id)
    differing = _differing(one, twin) if twin else []
    names = sorted({word.lower() for pair in differing for word in pair} - _GENDERED)
    # A name shows no gender that a translation chose; one spelt differently cannot be excluded.
    if twin and not {*names} <= {*cut(one.reference), *cut(twin.reference)}:
        twin = None
    tags = {
        "eval_set": one.eval_set,
        "language": one.language,
        "family": one.family,
        "resource_level": one.resource_level,
        "split": one.split,
        "stereotype": one.stereotype,
        "reference": one.reference,
        "twin": twin.reference if twin else "",
        "names": " ".join(names),
    }
    return Item(one.passage_id, index, groups[one.passage_id], one.source, one.gender, tags)


def requests(item_set: ItemSet) -> list[Request]:
    """Each passage in its own language, also with several languages at once."""
    to = item_set.selection.target_language
    return [Request(item.source, item.tags["language"] if to == "en" else "en", to) for item in item_set.items]


def group_ids(passages: Sequence[Passage]) -> dict[str, str]:
    """One group for each English text across languages: the same passage in 16 languages is one draw.

    Sentences with late binding are two patterns over nouns, grouped by noun.
    """
    first: dict[str, str] = {}
    groups = {}
    for one in passages:
        key = one.english
        if one.eval_set == "late-binding" and (found := _NOUN_AT_THE_END.search(key.lower())):
            noun = found[1]
            for pronoun in reversed(pronouns(noun)):
                noun = f"{noun[: pronoun.span[0]]}_{noun[pronoun.span[1] :]}"
            key = f"late binding: {noun}"
        groups[one.passage_id] = first.setdefault(key, one.passage_id)
    return groups


def twins_of(passages: Sequence[Passage]) -> dict[str, Passage]:
    """Each passage with its twin: the same language, different only in gendered words and names."""
    by_length: dict[tuple[str, str, int], list[Passage]] = {}
    for one in passages:
        by_length.setdefault((one.language, one.eval_set, len(_WORD.findall(one.english))), []).append(one)
    found: dict[str, Passage] = {}
    for group in by_length.values():
        for one in group:
            for other in group:
                if one.gender is Gender.MASCULINE and _are_twins(one, other) and other.passage_id not in found:
                    found[one.passage_id], found[other.passage_id] = other, one
                    break
    return found


def _differing(one: Passage, other: Passage) -> list[tuple[str, str]]:
    words = zip(_WORD.findall(one.english), _WORD.findall(other.english), strict=True)
    return [pair for pair in words if pair[0] != pair[1]]


def _are_twins(masculine: Passage, feminine: Passage) -> bool:
    return feminine.gender is Gender.FEMININE and all(
        (one.lower(), other.lower()) in _PAIRS or (one.istitle() and other.istitle())
        for one, other in _differing(masculine, feminine)
    )


# -- the released file -----------------------------------------------------------------------------------------------


@cache
def _official(revision: str) -> tuple[tuple[Passage, ...], str]:
    source = official_files("mittens", revision)
    rows = csv.reader(io.StringIO(read_text(source.path(FILE)), newline=""))
    next(rows)  # The last heading is a notice.
    found = []
    for number, _, reference, language, level, gender, key, _, _, passage, _, split, kind, family, _ in rows:
        eval_set = key.replace(":", "-").replace("_", "-")
        passage, reference = (_LINE_BREAK.sub(" ", text.strip()) for text in (passage, reference))
        about = (f"row-{int(number):04}", kind == "2en", language, eval_set, Gender(gender))
        found.append(Passage(*about, passage, reference, split, family, level))
    return tuple(found), source.origin


# -- our own ---------------------------------------------------------------------------------------------------------


@cache
def _core() -> tuple[tuple[Passage, ...], str]:
    """Each row of `passages.tsv` is a passage in several languages, with `{masculine|feminine}` where these differ."""
    found = []
    for number, row in enumerate(core_rows("mittens/passages.tsv")):
        languages = [name for name in row if name in NAMES and name != "en" and row[name] != "-"]
        stereotype = row["stereotype"].strip("-")
        for way, language, gender in product(row["ways"].split(), languages, (Gender.MASCULINE, Gender.FEMININE)):
            source, target = (language, "en") if way == "into" else ("en", language)
            side = 1 if gender is Gender.MASCULINE else 2
            text, reference = (_ALTERNATIVES.sub(rf"\{side}", row[code]) for code in (source, target))
            name = f"{source}-{target}-{number:02}-{gender.value[0]}"
            about = (name, way == "into", language, row["set"], gender, text, reference)
            found.append(Passage(*about, stereotype=stereotype))
    return tuple(found), core_origin(core_text("mittens/passages.tsv"))
