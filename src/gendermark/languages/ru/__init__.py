"""Russian: its words and endings are in `grammar.toml`, the grammar in `slavic`."""

from __future__ import annotations

import re

from gendermark.languages.language import Agreement, RoleForms
from gendermark.languages.slavic import grammar_of
from gendermark.languages.tables import by_gender, pattern, toml_of

_GRAMMAR = grammar_of("ru")


def _normalise(word: str) -> str:
    """ё is optional in print; a stress mark is none of our business."""
    return word.replace("ё", "е").replace("\u0301", "")


_Cases = tuple[tuple[str, ...], tuple[str, ...]]
"""The case endings of the singular, and those of the plural."""
_CONSONANT_CASES: _Cases = (("", "а", "у", "ом", "е"), ("ы", "и", "ов", "ам", "ами", "ах"))
_SOFT_CASES: _Cases = (("ь", "я", "ю", "ем", "е"), ("и", "ей", "ям", "ями", "ях"))
_FEMININE_CASES: _Cases = (("а", "ы", "и", "е", "у", "ой", "ей"), ("", "ам", "ами", "ах"))
_CLIPPED_CASES: _Cases = (("а", "у", "ом", "ем", "е"), ("ы", "ов", "ев", "ам", "ами", "ах"))


def _role_forms(masculine: str, feminine: str) -> RoleForms:
    yield masculine, "m", False
    stem, cases = masculine, _CONSONANT_CASES
    if masculine.endswith("ец"):
        stem, cases = masculine[:-2] + "ц", _CLIPPED_CASES
    elif masculine.endswith("ь"):
        stem, cases = masculine[:-1], _SOFT_CASES
    for is_plural, endings in zip((False, True), cases, strict=True):
        yield from ((stem + ending, "m", is_plural) for ending in endings if stem + ending != feminine)
    stem = feminine[:-1]
    for is_plural, endings in zip((False, True), _FEMININE_CASES, strict=True):
        yield from ((stem + ending, "f", is_plural) for ending in endings if stem + ending != masculine)


_PEOPLE = {name: pattern(text) for name, text in toml_of("ru", "grammar.toml")["people"].items()}
_FEMININE_ENDINGS = ("ая", "ую", "ей", "ой", "аяся", "уюся", "ейся")
_PLURAL_ENDINGS = ("ие", "ые", "их", "ых", "ими", "ыми", "иеся", "ихся")


def _person_noun(word: str, number: str) -> Agreement | None:  # noqa: ARG001
    if _PEOPLE["no_sex"].fullmatch(word):
        return None
    if _PEOPLE["man"].fullmatch(word):
        return "m"
    if _PEOPLE["participle"].fullmatch(word):  # «верующая», «верующей», «верующего»
        return "f" if word.endswith(_FEMININE_ENDINGS) else None if word.endswith(_PLURAL_ENDINGS) else "m"
    if _PEOPLE["woman"].fullmatch(word):
        return "f"
    return None if word.endswith(("о", "ие", "ые", "их", "ых", "ими", "ыми")) else "m"


LANGUAGE = _GRAMMAR.language(
    "ru",
    "Russian",
    singular={**dict.fromkeys(_GRAMMAR.feminine, "f"), "оба": "m", "два": "m"},
    plural=by_gender("обоих обоим обоими", "обе обеих обеим обеими"),
    normalise=_normalise,
    role_forms=_role_forms,
    person_noun=_person_noun,
    has_animacy=True,
    case_ending=re.compile("[аяоеиыуюьйвмх]{1,3}$"),
    person_ending=_PEOPLE["ending"],
    is_nominal=lambda word: _PEOPLE["participle"].fullmatch(word) is not None,
    verb_ending=_PEOPLE["verb_ending"],
    agent_ending=_PEOPLE["agent_ending"],
    ambiguous_adjective=re.compile(r".*[ое]й"),
    standalone=by_gender(
        "оба обоих обоим обоими любой каждый каждого каждому любого любому тот тому другого другому",
        "обе обеих обеим обеими каждая каждую любая любую та другая другую",
    ),
)
