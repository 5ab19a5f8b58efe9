"""The gender of a translation of an mGeNTE sentence, which names no noun: by the words that tell its references apart.

Where the gender is told (Set-G), a translation has it if it has words that only the gendered reference has, and none
that only a neutral one has; it is neutral the other way round; else nothing can be said. Words in angle brackets
are the annotated ones: where the gendered reference has any, no others tell. In Set-N no gender is annotated.
"""

from __future__ import annotations

from collections.abc import Sequence

from gendermark import registry
from gendermark.benchmarks.uncertainty.items import is_open, neutral_references
from gendermark.linguistics.contrast import Unit, contrast, units_of
from gendermark.linguistics.language import Language
from gendermark.records import Gender, Item


def genders(item: Item, texts: Sequence[str], target_language: str) -> list[Gender | None]:
    """Of each text."""
    if is_open(item.expected) or "reference_gendered" not in item.tags:
        return [None] * len(texts)
    language: Language = registry.load("language", target_language)
    gendered, neutral = _evidence(item, language)
    return [_gender(set(units_of(language.cut(text))), item.expected, gendered, neutral) for text in texts]


def _evidence(item: Item, language: Language) -> tuple[frozenset[Unit], frozenset[Unit]]:
    """What only the gendered reference has, and what only the neutral ones have."""
    found = [contrast(item.tags["reference_gendered"], text, language) for text in neutral_references(item)]
    gendered = frozenset.intersection(*(one.right for one in found))
    neutral = frozenset.union(*(one.wrong for one in found))
    if annotated := item.tags.get("gendered_terms"):
        terms = set(language.cut(annotated))
        gendered = frozenset(unit for unit in gendered if terms & set(unit))
    return gendered, neutral


def _gender(
    units: set[Unit], told: Gender | None, gendered: frozenset[Unit], neutral: frozenset[Unit]
) -> Gender | None:
    is_gendered, is_neutral = bool(units & gendered), bool(units & neutral)
    if is_gendered == is_neutral:
        return None
    return told if is_gendered else Gender.NEUTRAL
