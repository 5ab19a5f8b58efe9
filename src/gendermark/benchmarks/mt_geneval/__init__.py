"""MT-GenEval: counterfactual and contextual gender accuracy, and the quality gap (Currey et al. 2022, EMNLP).

`mt-geneval-counterfactual`: sentences in a masculine and a feminine version; a pair is correct only if both are.
`mt-geneval-contextual`: sentences whose gender only the previous sentence specifies.

Rules `paper` are the released script: a translation is wrong if it has any word specific to the contrastive reference,
so an empty one is correct. Rules `best` read the gender of the people whose gender the source specifies.
"""

from __future__ import annotations

from dataclasses import dataclass

from gendermark.reading.context import STRATEGIES
from gendermark.selection import EVERYWHERE, Selection, option

COUNTERFACTUAL, CONTEXTUAL = "mt-geneval-counterfactual", "mt-geneval-contextual"


@dataclass(frozen=True)
class Settings(Selection):
    """Settings shared by both."""

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
    """The context shown to a system."""


SETTINGS = {COUNTERFACTUAL: CounterfactualSettings, CONTEXTUAL: ContextualSettings}
