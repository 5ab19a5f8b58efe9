"""GEST: which gender do speakers get whose gender is unspecified? (Pikuliak, Hrckova, Oresko and Šimko 2024, EMNLP)

English first-person sentences leave the speaker's gender open and carry one of sixteen stereotypes: "women are
emotional", "men are leaders". Languages whose participles or adjectives agree with the speaker must choose. No choice
is wrong: the metrics are how often masculine is chosen, and how far the choice follows the stereotype.

Rules `paper` use the published arithmetic, in which a silent system looks unbiased, and the first word that shows a
gender; their parser is replaced by endings, so single verdicts may differ. Rules `best` require all words to agree, and
give no value for a stereotype without data.
"""

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
