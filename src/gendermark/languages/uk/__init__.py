"""Ukrainian: its words and endings are in `grammar.toml`, the grammar in `slavic`.

Feminine nouns of occupation are productive («лікарка», «директорка»), so for most occupations the noun itself tells.
«та» is "that" (feminine) and far more often "and": it counts only as the first word.
"""

from __future__ import annotations

from gendermark.languages.slavic import grammar_of
from gendermark.languages.tables import by_gender

_GRAMMAR = grammar_of("uk")

LANGUAGE = _GRAMMAR.language(
    "uk",
    "Ukrainian",
    singular=dict.fromkeys(_GRAMMAR.feminine, "f"),
    plural=by_gender("два обидва", "дві обидві"),
    normalise=lambda word: word.replace("\u0301", ""),  # stress marks
)
