"""Choosing alpha, the power of the similarity in S3E (Appendix B of the uncertainty paper)."""

from __future__ import annotations

import hashlib
import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gendermark.metrics.metric import Floats

_TIE = 1e-12
"""Correlations closer than this are equal."""


def correlation(first: Floats, second: Floats) -> float | None:
    """Pearson's; `None` with fewer than two pairs, or where one side is constant."""
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    x, y = first - first.mean(), second - second.mean()
    return min(1.0, max(-1.0, float(x @ y) / (float(np.linalg.norm(x)) * float(np.linalg.norm(y)))))


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


@dataclass(frozen=True)
class TuningColumns:
    """Many such sentences in little room: those that can be used, column by column."""

    development: NDArray[np.bool_]
    """Whether each is in the development half."""
    genders: NDArray[np.float64]
    entropies: Mapping[float, NDArray[np.float64]]
    """For each alpha that all of them have."""
    largest_seen: float
    """Of all alphas that any has."""

    @classmethod
    def of(cls, items: Iterable[TuningItem]) -> TuningColumns:
        """Items without samples or gender entropy are left out."""
        development, genders = array("b"), array("d")
        columns: dict[float, array[float]] = defaultdict(lambda: array("d"))
        largest = -math.inf
        for item in items:
            largest = max(largest, *item.entropies) if item.entropies else largest
            if item.gender_entropy is None or not item.entropies:
                continue
            development.append(in_development_half(item.contrast_set))
            genders.append(item.gender_entropy)
            for alpha, entropy in item.entropies.items():
                columns[alpha].append(entropy)
        return cls(
            np.array(development, dtype=bool),
            np.array(genders, dtype=np.float64),
            {a: np.array(own, dtype=np.float64) for a, own in sorted(columns.items()) if len(own) == len(genders)},
            largest,
        )

    def tuned(self, largest: float = math.inf) -> AlphaTuning:
        """By the alphas up to this one; see `tune_alpha`."""
        rows = [
            AlphaRow(
                alpha,
                correlation(entropies[self.development], self.genders[self.development]),
                correlation(entropies[~self.development], self.genders[~self.development]),
                float(entropies.mean()),
            )
            for alpha, entropies in self.entropies.items()
            if alpha <= largest
        ]
        best = _best(rows)
        return AlphaTuning(
            alpha=best.alpha if best else None,
            development=best.development if best else None,
            held_out=best.held_out if best else None,
            curve=tuple(rows),
            n_development=int(self.development.sum()),
            n_held_out=int((~self.development).sum()),
        )


def tune_alpha(items: Sequence[TuningItem]) -> AlphaTuning:
    """The alpha for which S3E goes most with the entropy of gender labels (Appendix B of the paper).

    It is chosen on one half of the contrast sets, since it is fitted to the very labels that it is later compared with;
    the correlation on the other half says how well it fits sentences that had no say. Of equally good ones, the
    smallest. Items without samples or gender entropy are left out.
    """
    return TuningColumns.of(items).tuned()


def _best(rows: Sequence[AlphaRow]) -> AlphaRow | None:
    best: AlphaRow | None = None
    for row in rows:
        if row.development is None:
            continue
        if best is None or best.development is None or row.development > best.development + _TIE:
            best = row
    return best
