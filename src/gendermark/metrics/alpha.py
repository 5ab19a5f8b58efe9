"""Choosing alpha, the power of the similarity in S3E (Appendix B of the uncertainty paper)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gendermark.metrics.correlations import correlation

_TIE = 1e-12
"""Correlations closer than this are equal."""


@dataclass(frozen=True, slots=True)
class TuningItem:
    """One sentence for choosing alpha: its S3E for each alpha, and the entropy of its gender labels."""

    contrast_set: str
    entropies: Mapping[float, float]
    """Empty without samples."""
    gender_entropy: float | None


@dataclass(frozen=True, slots=True)
class AlphaRow:
    """What one alpha does: the correlation of S3E with gender entropy on each half, and the mean S3E of all items."""

    alpha: float
    development: float | None
    held_out: float | None
    mean_entropy: float


@dataclass(frozen=True, slots=True)
class AlphaTuning:
    """The alpha with the highest correlation on the development half, and the whole curve beside it."""

    alpha: float | None
    """`None` if no correlation is defined, as when gender entropy is the same for all items."""
    development: float | None
    held_out: float | None
    """The correlation on the half that had no say in the choice."""
    curve: tuple[AlphaRow, ...]
    n_development: int
    n_held_out: int

    @property
    def edge(self) -> str:
        """`smallest` or `largest` if the best alpha is that of all tried: a better one may lie beyond."""
        for name, rows in (("smallest", self.curve), ("largest", self.curve[::-1])):
            is_end = len(rows) > 1 and rows[0].alpha == self.alpha
            # Where the next one is as good, there is no slope that leads beyond.
            if is_end and self.development is not None and self.development > (rows[1].development or 0.0) + _TIE:
                return name
        return ""


def in_development_half(contrast_set: str) -> bool:
    """Half of the contrast sets, by a hash of their name: the same on every machine and for every system."""
    return hashlib.sha256(contrast_set.encode()).digest()[0] % 2 == 0


def tune_alpha(items: Sequence[TuningItem]) -> AlphaTuning:
    """The alpha for which S3E goes most with the entropy of gender labels (Appendix B of the paper).

    It is chosen on one half of the contrast sets, since it is fitted to the very labels that it is later compared with;
    the correlation on the other half says how well it fits sentences that had no say. Of equally good ones, the
    smallest. Items without samples or gender entropy are left out.
    """
    usable = [item for item in items if item.gender_entropy is not None and item.entropies]
    grid = sorted(set.intersection(*(set(item.entropies) for item in usable))) if usable else []
    genders = np.array([item.gender_entropy for item in usable], dtype=np.float64)
    development = np.array([in_development_half(item.contrast_set) for item in usable], dtype=bool)
    rows = []
    for alpha in grid:
        entropies = np.array([item.entropies[alpha] for item in usable])
        rows.append(
            AlphaRow(
                alpha,
                correlation(entropies[development], genders[development]),
                correlation(entropies[~development], genders[~development]),
                float(entropies.mean()),
            )
        )
    best = _best(rows)
    return AlphaTuning(
        alpha=best.alpha if best else None,
        development=best.development if best else None,
        held_out=best.held_out if best else None,
        curve=tuple(rows),
        n_development=int(development.sum()),
        n_held_out=int((~development).sum()),
    )


def _best(rows: Sequence[AlphaRow]) -> AlphaRow | None:
    best: AlphaRow | None = None
    for row in rows:
        if row.development is None:
            continue
        if best is None or best.development is None or row.development > best.development + _TIE:
            best = row
    return best
