"""MT-GenEval: counterfactual and contextual gender accuracy, and the quality gap (Currey et al. 2022, EMNLP).

`mt-geneval-counterfactual`: sentences in a masculine and a feminine version; a pair is right only if both are.
`mt-geneval-contextual`: sentences whose gender only the sentence before them tells.

Rules `paper` are the released script: a translation is wrong if it has any word that only the contrastive reference
has, so an empty one is right. Rules `best` ask what a translation shows about the people whose gender its source marks.
"""

from __future__ import annotations

from dataclasses import dataclass

from gendermark.reading.context import STRATEGIES
from gendermark.selection import EVERYWHERE, Selection, option

COUNTERFACTUAL, CONTEXTUAL = "mt-geneval-counterfactual", "mt-geneval-contextual"


@dataclass(frozen=True)
class Settings(Selection):
    """What the two share."""

    data: str = option("official", "core", "file:FILE", default="official")
    rules: str = option("best", "paper", default="best")
    cluster: str = option("sentence")
    split: str = option("test", "dev", help="Split: test or dev", verbs=EVERYWHERE)


@dataclass(frozen=True)
class CounterfactualSettings(Settings):
    cluster: str = option("pair")
    parts: tuple[str, ...] = option("masculine", "feminine", default=(), noun="gender")


@dataclass(frozen=True)
class ContextualSettings(Settings):
    context: str = option(
        *STRATEGIES,
        "separator:TEXT",
        help="Context: none, joined, separator:TEXT or prompt",
        verbs=EVERYWHERE,
        may_differ=True,
        noun="context strategy",
    )
    """What of the context a system is shown."""


SETTINGS = {COUNTERFACTUAL: CounterfactualSettings, CONTEXTUAL: ContextualSettings}
