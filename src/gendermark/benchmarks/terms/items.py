"""Sentences whose gendered terms are annotated: a user's own, or those of our MT-GenEval set."""

from __future__ import annotations

import hashlib
import re

from gendermark import registry
from gendermark.benchmarks.benchmark import Direction, ItemSet
from gendermark.benchmarks.mt_geneval.items import LANGUAGES, core_rows
from gendermark.benchmarks.terms import Settings
from gendermark.data.own import file_of, read_own
from gendermark.errors import UserError
from gendermark.linguistics.contrast import without_tags
from gendermark.metrics.terms import read_terms
from gendermark.records import Gender, Item

_BOTH = (Gender.MASCULINE, Gender.FEMININE)
_MARKED = re.compile(r"<([FM])>(.*?)</\1>")


def language_pairs(data: str) -> list[Direction]:
    if data == "official":
        return []
    return [("en", code) for code in (LANGUAGES if data == "core" else registry.names("language"))]


def load(settings: Settings) -> ItemSet:
    path = file_of(settings.data)
    items, origin = _own(path) if path else _core(settings.target_language)
    return ItemSet(settings, tuple(items), origin)


def _own(path: str) -> tuple[list[Item], str]:
    rows, origin = read_own(path, ("source", "terms"))
    items = []
    for index, row in enumerate(rows):
        try:
            read_terms(row["terms"])
        except UserError as problem:
            raise row.problem(f"is not annotated rightly: {problem}") from None
        gender = row.gender((Gender.MASCULINE, Gender.FEMININE)) if row["gender"] else None
        group = row["group"] or f"sentence-{index:04}"
        items.append(Item(f"terms-{index:04}", index, group, row["source"], gender, {"terms": row["terms"]}))
    return items, origin


def _core(language: str) -> tuple[list[Item], str]:
    """The marked words of the counterfactual set, in both genders."""
    english, text = core_rows("counterfactual.en.tsv")
    target, target_text = core_rows(f"counterfactual.{language}.tsv")
    by_id = {row["id"]: row for row in target}
    items: list[Item] = []
    for row in english:
        forms = {gender: _MARKED.findall(by_id[row["id"]][gender.value]) for gender in _BOTH}
        if len(forms[Gender.MASCULINE]) != len(forms[Gender.FEMININE]):
            continue  # marked otherwise in the two genders: nothing to set side by side
        for gender in _BOTH:
            pairs = zip(forms[gender], forms[gender.opposite], strict=True)
            terms = ";".join(f"{right}|{wrong}" for (_, right), (_, wrong) in pairs)
            source = without_tags(row[gender.value])
            item_id = f"{row['id']}-{gender}"
            items.append(Item(item_id, len(items), row["id"], source, gender, {"terms": terms}, contrast=row["id"]))
    return items, f"core-{hashlib.sha256((text + target_text).encode()).hexdigest()[:8]}"
