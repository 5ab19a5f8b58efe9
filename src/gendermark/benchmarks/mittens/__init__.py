"""The options of MiTTenS."""

from __future__ import annotations

from dataclasses import dataclass

from gendermark.selection import EVERYWHERE, JUDGING, Selection, option

ALL_LANGUAGES = "mul"
"""All languages into English at once, as the paper reports them; each passage is asked in its own language."""
SETS = (
    "coref-coreference",
    "coref-synthetic",
    "gender-agreement-contextual-synthetic",
    "gender-agreement-news",
    "gender-agreement-wiki",
    "gender-specific-words-synthetic",
    "late-binding",
    "nouns-then-pronouns",
    "synthbio",
)
"""As the released file calls them, with hyphens."""


@dataclass(frozen=True)
class Settings(Selection):
    data: str = option("official", "core", "file:FILE", default="official")
    rules: str = option("best", "paper", default="best")
    cluster: str = option("passage")
    parts: tuple[str, ...] = option(*SETS, default=(), noun="set")
    split: str = option("all", "test", "validation", help="Split: all, test or validation", verbs=EVERYWHERE)
    mixed: str = option(
        "",
        "wrong",
        "majority",
        help="With --rules paper, pronouns of both genders count as: wrong, or majority",
        verbs=JUDGING,
    )
    none: str = option(
        "",
        "right",
        "wrong",
        "skip",
        help="With --rules paper, no gendered pronoun counts as: right, wrong, or skip",
        verbs=JUDGING,
    )

    @property
    def is_into_english(self) -> bool:
        return self.target_language == "en"


SETTINGS = {"mittens": Settings}
