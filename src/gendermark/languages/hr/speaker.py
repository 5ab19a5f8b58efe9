"""The first person in Croatian."""

from __future__ import annotations

from gendermark.languages.speaking import Endings, Grammar, around_auxiliary, pairs, words

FITTED = Grammar(
    around_auxiliary,
    Endings(".(?:ao|io|eo|uo)", "..la"),
    Endings("...(?:en|an|iv)", "..(?:[^aeiou]na|ena|ana|iva)"),
    ("sam", "nisam", "bih"),
    pairs("/sama"),
    words(
        "posao smisao kao žao misao dio deo video studio jedan nijedan dan stan plan ekran restoran roman žena cijena "
        "cena strana hrana ramena scena promjena promena imena vremena dana škola sila hvala pola cijela cela tijela "
        "tela jedna godina nijedna"
    ),
    to_latin=True,
)
SPEAKER = FITTED
EXAMPLES = ("Bio sam tamo.", "Bila sam tamo.", "Ovdje sam.")
"""Masculine, feminine, and without gender."""
