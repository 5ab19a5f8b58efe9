"""How alike two vectors are by how far apart they lie: the alternatives to the cosine of Appendix B of the uncertainty
paper, which does not say how it made likeness of a distance d. Here it is 1 / (1 + d), of vectors of length 1.

No import of numpy: the names stand in the settings, which `--help` reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COSINE = "cosine"
_POWER = 3
"""Of Minkowski's distance, whose powers 1 and 2 are Manhattan's and Euclid's."""
_DISTANCES: dict[str, Callable[[Any], Any]] = {
    "euclidean": lambda apart: (apart**2).sum(axis=-1) ** 0.5,
    "manhattan": lambda apart: abs(apart).sum(axis=-1),
    "chebyshev": lambda apart: abs(apart).max(axis=-1),
    "minkowski": lambda apart: (abs(apart) ** _POWER).sum(axis=-1) ** (1 / _POWER),
}
DISTANCES = (COSINE, *_DISTANCES)


def likeness(vectors: NDArray[np.float64], distance: str) -> NDArray[np.float64]:
    """Each row compared with each; all have the length 1."""
    if distance == COSINE:
        return vectors @ vectors.T
    compared = vectors @ vectors.T
    for place, row in enumerate(vectors):  # all at once would need as many numbers as there are pairs and dimensions
        compared[place] = 1 / (1 + _DISTANCES[distance](vectors - row))
    return compared
