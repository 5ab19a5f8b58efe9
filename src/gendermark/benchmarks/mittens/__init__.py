"""MiTTenS: do people keep the gender that the source specifies? (Robinson et al. 2024, EMNLP)

Passages about one person whose gender the source specifies: from 26 languages into English, judged by the pronouns of
the translation; and from English, which the authors leave to human evaluation. `--from mul` asks all languages at once.

Rules `paper` (into English): a translation is correct unless it has a pronoun of the other gender, so an empty one is
correct. Rules `best` require a pronoun; out of English they ask the reader of any text.
"""

from __future__ import annotations

from dataclasses import dataclass

from gendermark.selection import EVERYWHERE, JUDGING, Selection, option

ALL_LANGUAGES = "mul"
"""All languages into English at once, as the paper reports them; each passage is sent in its own language."""
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
"""Names as in the released file, with hyphens."""


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

    @property
    def other(self) -> str:
        """The language other than English."""
        return self.source_language if self.is_into_english else self.target_language


SETTINGS = {"mittens": Settings}
