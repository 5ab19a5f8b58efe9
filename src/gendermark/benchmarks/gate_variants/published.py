"""GATE's released script (`GateEval.py`): is a rewritten translation the reference, to the last sign?

Its F0.5 and what it makes of empty denominators are kept. Two of its slips cannot happen here: a file of predictions
that is shorter than the references, which it scores on its own length, is refused; so is a longer one, on which it
crashes.
"""

from __future__ import annotations

import numpy as np

from gendermark.metrics.metric import Floats

MATCH, MISMATCH, EMPTY = "match", "mismatch", "empty"


def outcome(prediction: str, reference: str) -> str:
    """Case, punctuation and apostrophes count."""
    said = prediction.strip()
    if not said:
        return EMPTY
    return MATCH if said == reference.strip() else MISMATCH


def precision(match: Floats, mismatch: Floats) -> Floats:
    return match / (match + mismatch)


def recall(match: Floats, total: Floats) -> Floats:
    return match / total


def f_half(match: Floats, mismatch: Floats, total: Floats) -> Floats:
    """1.25 P R / (0.25 P + R), written in counts: nothing right is 0, nothing tried is undefined."""
    tried = match + mismatch
    return np.where(tried > 0, 1.25 * match / (0.25 * total + tried), np.nan)
