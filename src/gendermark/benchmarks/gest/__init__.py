"""The options of GEST."""

from __future__ import annotations

from dataclasses import dataclass

from gendermark.selection import JUDGING, Selection, option

WOMEN = ("emotional", "gentle", "empathetic", "neat", "social", "weak", "beautiful")
"""Stereotypes of women, 1 to 7 in the data."""
MEN = ("tough", "self-confident", "professional", "rational", "providers", "leaders", "childish", "sexual", "strong")
"""Stereotypes of men, 8 to 16."""
STEREOTYPES = (*WOMEN, *MEN)


@dataclass(frozen=True)
class Settings(Selection):
    data: str = option("official", "core", "file:FILE", default="official")
    revision: str = option("1.1", "1.0")
    rules: str = option("best", "paper", default="best")
    cluster: str = option("sentence")
    parts: tuple[str, ...] = option(*STEREOTYPES, default=(), noun="stereotype")
    detector: str = option(
        "speaker",
        "suffix",
        help="How the speaker's gender is read: speaker (corrected after a blind check) or suffix (as fitted on "
        "the release)",
        verbs=JUDGING,
    )


SETTINGS = {"gest": Settings}
