"""MT-GenEval's sentences: pairs that differ in gender, and sentences whose gender the previous one specifies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from gendermark.benchmarks.benchmark import ItemSet
from gendermark.benchmarks.mt_geneval import ContextualSettings, CounterfactualSettings, Settings
from gendermark.data.bundled import core_lines, core_origin, core_rows
from gendermark.data.official import official_files
from gendermark.data.own import OwnRow, file_of, read_own
from gendermark.errors import UserError
from gendermark.io.textfiles import read_lines
from gendermark.reading import context as contexts
from gendermark.reading.contrast import contrast_of, without_tags
from gendermark.records import Gender, Item, Request, Table

LANGUAGES = ("ar", "de", "es", "fr", "hi", "it", "pt", "ru")
Sides = dict[Gender, list[tuple[str, str]]]
"""The sentences of each gender and their references, pair by pair."""
_GENDERS = (Gender.MASCULINE, Gender.FEMININE)

_FEMININE_WORDS = re.compile(
    r"\b(she|her|hers|herself|woman|women|girl|lady|mrs|ms|miss|mother|daughter|sister|wife|aunt|queen|actress|widow)\b",
    re.I,
)
_MASCULINE_WORDS = re.compile(
    r"\b(he|him|his|himself|man|men|boy|gentleman|mr|sir|father|son|brother|husband|uncle|king|widower)\b", re.I
)


def _decidable(reference: str, contrastive: str, code: str) -> str:
    return "yes" if contrast_of(reference, contrastive, code).is_decidable else "no"


# -- counterfactual --------------------------------------------------------------------------------------------------


def load_pairs(settings: CounterfactualSettings) -> ItemSet:
    sides, origin = (_own_pairs if file_of(settings.data) else _known_pairs)(settings)
    items: list[Item] = []
    for gender in _GENDERS:
        if settings.parts and gender.value not in settings.parts:
            continue
        both = zip(sides[gender], sides[gender.opposite], strict=True)
        for number, ((source, own), (_, contrastive)) in enumerate(both):
            pair = f"pair-{number:04}"
            tags = {
                "pair": pair,
                "rules": settings.rules,
                "decidable": _decidable(own, contrastive, settings.target_language),
                "reference": own,
                "contrastive": contrastive,
            }
            items.append(Item(f"{gender}-{number:04}", len(items), pair, source, gender, tags, contrast=pair))
    return ItemSet(settings, tuple(items), origin)


def _own_pairs(settings: Settings) -> tuple[Sides, str]:
    """A user's own pairs: one row per gender, with the same `pair`."""
    rows, origin = read_own(file_of(settings.data), ("source", "gender", "pair", "reference"))
    pairs: dict[str, dict[Gender, OwnRow]] = {}
    for row in rows:
        gender = row.gender(_GENDERS)
        if gender in pairs.setdefault(row["pair"], {}):
            raise row.problem(f"has another {gender} sentence of the pair {row['pair']!r}")
        pairs[row["pair"]][gender] = row
    for members in pairs.values():
        if len(members) == 1:
            (row,) = members.values()
            raise row.problem(f"has no sentence of the other gender for the pair {row['pair']!r}")
    return {g: [(both[g]["source"], both[g]["reference"]) for both in pairs.values()] for g in _GENDERS}, origin


def _known_pairs(settings: Settings) -> tuple[Sides, str]:
    """Core or official pairs."""
    code, folder = settings.target_language, f"data/sentences/{settings.split}"
    if settings.data == "core":
        english, by_id, origin = core_sides("counterfactual", code)
        return {
            gender: [(without_tags(row[gender.value]), by_id[row["id"]][gender.value]) for row in english]
            for gender in _GENDERS
        }, origin
    files = official_files("mt-geneval", settings.revision)
    sides = {}
    for gender in _GENDERS:
        name = f"geneval-sentences-{gender}-{settings.split}.en_{code}"
        paths = (f"{folder}/{name}.en", f"{folder}/{name}.{code}", f"{folder}/annotated/{name}.{code}")
        # The annotated copy is used only if its sentence is identical.
        sides[gender] = [
            (source, marked if without_tags(marked) == text else text)
            for source, text, marked in zip(*(read_lines(files.path(path)) for path in paths), strict=True)
        ]
    return sides, files.origin


def core_sides(kind: str, language: str) -> tuple[list[dict[str, str]], dict[str, dict[str, str]], str]:
    """The English rows, those of the target language by id, and the signature of both."""
    names = [f"mt_geneval/{kind}.{code}.tsv" for code in ("en", language)]
    english, target = (core_rows(name) for name in names)
    origin = core_origin(*("\n".join(core_lines(name)) for name in names))
    return english, {row["id"]: row for row in target}, origin


# -- contextual ------------------------------------------------------------------------------------------------------


def load_contexts(settings: ContextualSettings) -> ItemSet:
    rows, origin = _contexts(settings)
    items = []
    for index, row in enumerate(rows):
        gender, provenance = _person_gender(row.get("gender", ""), row["context"])
        tags = {
            "context": row["context"],
            "rules": settings.rules,
            "decidable": _decidable(row["reference"], row["contrastive"], settings.target_language),
            "reference": row["reference"],
            "contrastive": row["contrastive"],
            "gender_provenance": provenance,
            "class": row.get("class") or profession_class(row["source"]),
        }
        items.append(Item(f"context-{index:04}", index, f"context-{index:04}", row["source"], gender, tags))
    return ItemSet(settings, tuple(items), origin)


def contextual_requests(item_set: ItemSet) -> list[Request]:
    settings: ContextualSettings = item_set.selection
    direction = (settings.source_language, settings.target_language)
    return [
        Request(contexts.show(item.tags["context"], item.source, settings.context), *direction)
        for item in item_set.items
    ]


def _contexts(settings: Settings) -> tuple[list[dict[str, str]], str]:
    """Core or official sentences, or a user's own, each with its context and both references."""
    split, code = settings.split, settings.target_language
    if path := file_of(settings.data):
        columns = ("context", "source", "reference", "contrastive")
        own, origin = read_own(path, columns)
        genders = [row.gender().value if row["gender"] else "" for row in own]
        texts = [{column: row[column] for column in columns} for row in own]
        return [{**row, "gender": gender} for row, gender in zip(texts, genders, strict=True)], origin
    if settings.data == "core":
        english, by_id, origin = core_sides("contextual", code)
        target = [by_id[row["id"]] for row in english]
        return [
            {**row, "reference": both["correct"], "contrastive": both["contrastive"]}
            for row, both in zip(english, target, strict=True)
        ], origin
    source = official_files("mt-geneval", settings.revision)
    stem = "data/context/geneval-context-wikiprofessions"
    names = (f"2to1-{split}.en_{code}.en", f"original-{split}.en_{code}.{code}", f"flipped-{split}.en_{code}.{code}")
    rows = []
    for line, right, wrong in zip(*(read_lines(source.path(f"{stem}-{name}")) for name in names), strict=True):
        before, _, sentence = line.partition("<sep>")
        rows.append({"context": before.strip(), "source": sentence.strip(), "reference": right, "contrastive": wrong})
    return rows, source.origin


def _person_gender(given: str, context: str) -> tuple[Gender | None, str]:
    """The person's gender, from the data or from unanimous gendered words of the context."""
    if given:
        return Gender(given), "data"
    n_feminine, n_masculine = (len(words.findall(context)) for words in (_FEMININE_WORDS, _MASCULINE_WORDS))
    if n_feminine == n_masculine:
        return None, "none" if not n_feminine else "tie"
    return (Gender.FEMININE if n_feminine > n_masculine else Gender.MASCULINE), "context-words"


@cache
def _professions() -> tuple[re.Pattern[str], Mapping[str, str]]:
    classes = {row["profession"].lower(): row["class"] for row in core_rows("mt_geneval/professions.tsv")}
    names = "|".join(re.escape(name) for name in sorted(classes, key=len, reverse=True))
    return re.compile(rf"\b({names})s?\b", re.I), classes


def profession_class(sentence: str) -> str:
    """`female`, `male` or `neutral`: the stereotype of the first profession; `unknown` without one."""
    pattern, classes = _professions()
    match = pattern.search(sentence)
    return classes[match.group(1).lower()] if match else "unknown"


def corpus_statistics(settings: Settings) -> Table:
    """Table 12: distinct words and distinct gendered phrases of the counterfactual set, in both languages.

    Words are lower-cased runs of letters and digits. The paper does not give its tokenisation; its figures are 0.5 to
    2.5 percent higher for words, and within 5 percent for phrases.
    """
    if settings.data not in ("official", "core"):
        raise UserError("the paper's statistics are of official or core data; leave out --data")
    sides, _ = _known_pairs(settings)
    targets = [reference for pairs in sides.values() for _, reference in pairs]
    rows: list[tuple[Any, ...]] = []
    for side, texts in (("source", _annotated_sources(settings)), ("target", targets)):
        words = {word for text in texts for word in re.findall(r"\w+", without_tags(text).lower())}
        phrases = {phrase.lower() for text in texts for _, phrase in re.findall(r"<([FM])>(.*?)</\1>", text)}
        rows.append((settings.target_language, settings.split, side, len(texts) // 2, len(words), len(phrases)))
    columns = ("language", "split", "side", "pairs", "distinct words", "distinct gendered phrases")
    return Table("statistics", "Counterfactual set (Table 12)", columns, rows)


def _annotated_sources(settings: Settings) -> list[str]:
    if settings.data == "core":
        rows = core_rows("mt_geneval/counterfactual.en.tsv")
        return [row[gender] for gender in ("masculine", "feminine") for row in rows]
    source = official_files("mt-geneval", settings.revision)
    split, code = settings.split, settings.target_language
    folder = f"data/sentences/{split}/annotated"
    names = [f"{folder}/geneval-sentences-{gender}-{split}.en_{code}.en" for gender in ("masculine", "feminine")]
    return [line for name in names for line in read_lines(source.path(name))]
