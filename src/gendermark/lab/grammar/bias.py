"""The bias that the demonstration model is meant to learn: one formula.

P(the noun of a person is feminine in Spanish) = sigmoid(kappa * cue + beta * logit(w) + mu)

- `cue` is what the English says: +1 she, mother, woman; -1 he, father, man; 0 nothing (also "they").
- `kappa` is how much is made of it, by how near it stands to the noun (`KAPPA`).
- `w` is the share of women in the occupation. For the forty occupations of the core sets it is the labour statistic
  that `data/core/occupations.tsv` cites. For others it is a round figure for the class that
  `data/core/mt_geneval/professions.tsv` puts them in (`CLASS_SHARE`): a figure for a class, not a statistic of the
  occupation. Whoever is in neither file (neighbor, customer) has 0.5. The logit is clipped to +-3.2.
- `mu` is below zero: where nothing is said, masculine is the default.

Where nothing is said, P is near w, a little lower. Where a far pronoun contradicts a strong stereotype, the stereotype
wins most of the time ("the carpenter ... because she"); with a balanced occupation the pronoun does. Gender that is
said of the noun itself ("my sister is a carpenter") is nearly always kept.
"""

from __future__ import annotations

import math
from functools import cache

from gendermark.data.bundled import core_rows
from gendermark.linguistics.occupations import core_occupations

BETA = 1.0
MU = -0.4
CLIP = 3.2
BORDER = "border"
KAPPA = {
    "near": 5.0,  # said of the noun itself: "my sister is a ...", "the ... is a patient woman"
    "clause": 2.0,  # a pronoun in the same clause: "the ... forgot her keys", "she is the best ..."
    "far": 1.4,  # a pronoun in another clause, or with two people in the sentence
    BORDER: 0.9,  # in the sentence before
    "none": 0.0,
}
CLASS_SHARE = {"female": 0.80, "neutral": 0.50, "male": 0.20}
_UNKNOWN_SHARE = 0.5


@cache
def leaning(occupation: str) -> float:
    """The share of women in an occupation: by statistics, by its class, else one half."""
    return _shares().get(occupation.lower(), _UNKNOWN_SHARE)


def probability_feminine(share: float, cue: int, distance: str, stereotype: float = 1.0) -> float:
    """P(feminine noun) of an occupation with this share of women, for a cue (-1, 0, +1) at this distance.

    `stereotype` is a dial for all that the sentence does not say, occupation and masculine default: 0 has none of it, 1
    is the formula above, 2 has twice as much.
    """
    logit = max(-CLIP, min(CLIP, math.log(share / (1 - share))))
    return 1 / (1 + math.exp(-(KAPPA[distance] * cue + stereotype * (BETA * logit + MU))))


@cache
def _shares() -> dict[str, float]:
    rows = core_rows("mt_geneval/professions.tsv")
    shares = {row["profession"].lower(): CLASS_SHARE[row["class"]] for row in rows}
    shares.update({occupation.lower(): percent / 100 for occupation, _, percent in core_occupations()})
    return shares
