"""The first person in Slovenian."""

from __future__ import annotations

from gendermark.languages.speaking import Endings, Grammar, around_auxiliary, pairs, words

FITTED = Grammar(
    around_auxiliary,
    Endings("..l", "..la"),
    Endings("...(?:en|an|at|iv)", "..(?:[^aeiou]na|ena|ana|eta|iva|ava|ša)"),
    ("sem", "nisem", "bi", "biti"),
    pairs("rad/rada sam/sama"),
    words(
        "teden noben namen dan stran cel bazen svet promet internet kamen zaman šola sila hvala žena cena "
        "ena vrata "
        "glava hrana naša vaša pravila oblačila dela"
    ),
)
SPEAKER = FITTED
EXAMPLES = ("Bil sem tam.", "Bila sem tam.", "Tukaj sem.")
"""Masculine, feminine, and without gender."""
