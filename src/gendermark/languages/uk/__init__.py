"""Ukrainian: its words and endings are in `grammar.toml`, the grammar in `slavic`.

Feminine nouns of occupation are productive («лікарка», «директорка»), so for most occupations the noun itself tells.
«та» is "that" (feminine) and far more often "and": it counts only as the first word.
"""

from __future__ import annotations

from gendermark.languages.language import Language
from gendermark.languages.slavic import grammar_of
from gendermark.languages.tables import by_gender

_GRAMMAR = grammar_of("uk")


def _normalise(word: str) -> str:
    """A stress mark is none of our business."""
    return word.replace("\u0301", "")


LANGUAGE = Language(
    code="uk",
    name="Ukrainian",
    singular=dict.fromkeys(_GRAMMAR.feminine, "f"),
    plural=by_gender("два обидва", "дві обидві"),
    transparent=_GRAMMAR.transparent,
    adjective=_GRAMMAR.adjective,
    normalise=_normalise,
    clues=_GRAMMAR.clues,
    noun=_GRAMMAR.noun,
    bare_epicene=_GRAMMAR.bare_epicene,
    sexes=_GRAMMAR.sexes,
    by_sense=_GRAMMAR.by_sense,
    has_articles=False,
)
