"""The first person in Slovak."""

from __future__ import annotations

from gendermark.languages.speaking import Endings, Grammar, around_auxiliary, pairs, words

FITTED = Grammar(
    around_auxiliary,
    Endings("..l", "..la"),
    Endings("...ý|ší|úci|iaci", "...á|šia|úca|iaca"),
    ("som", "byť", "budem"),
    pairs("rád/rada nerád/nerada sám/sama"),
    words("hotel gól email alkohol sila škola"),
)
SPEAKER = FITTED
EXAMPLES = ("Bol som tam.", "Bola som tam.", "Som tu.")
"""Masculine, feminine, and without gender."""
