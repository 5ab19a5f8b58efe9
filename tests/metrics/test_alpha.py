"""The choice of alpha: on one half of the contrast sets, judged on the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from gendermark.metrics.alpha import TuningItem, in_development_half, tune_alpha
from gendermark.metrics.uncertainty import (
    Samples,
    cluster_entropy,
    s3e_entropy,
)

SIMILARITIES = np.array([[1, 0.9, 0.6, 0.5], [0.9, 1, 0.5, 0.6], [0.6, 0.5, 1, 0.9], [0.5, 0.6, 0.9, 1]])
"""Two wordings in two genders: a gender's forms differ more (0.6) than its wordings (0.9)."""


def tuning_items(n: int, alphas: Sequence[float]) -> list[TuningItem]:
    rng = np.random.default_rng(3)
    items = []
    for number in range(n):
        feminine, other_wording = rng.random(), rng.random()
        shares = np.outer([1 - feminine, feminine], [1 - other_wording, other_wording]).ravel()
        counts = rng.multinomial(128, shares)
        kept = counts > 0
        samples = Samples.of(
            [text for text, count in zip(("m1", "m2", "w1", "w2"), counts, strict=True) for _ in range(count)]
        )
        entropies = {alpha: s3e_entropy(samples, SIMILARITIES[np.ix_(kept, kept)], alpha) or 0.0 for alpha in alphas}
        entropy = cluster_entropy(samples, [text[0] for text in samples.texts])
        items.append(TuningItem(f"set-{number // 3}", entropies, entropy))
    return items


def test_tuning_takes_the_alpha_with_the_highest_correlation_on_the_development_half() -> None:
    grid = [0.25, 1, 4, 16, 64]
    items = tuning_items(120, grid)
    tuning = tune_alpha(items)
    halves = [[item for item in items if in_development_half(item.contrast_set) is half] for half in (True, False)]
    for row in tuning.curve:
        for half, found in zip(halves, (row.development, row.held_out), strict=True):
            entropies = [item.entropies[row.alpha] for item in half]
            assert found == pytest.approx(np.corrcoef(entropies, [item.gender_entropy for item in half])[0, 1])
    best = max(tuning.curve, key=lambda row: row.development or -1)
    assert (tuning.alpha, tuning.development, tuning.held_out) == (best.alpha, best.development, best.held_out)
    assert [row.alpha for row in tuning.curve] == grid
    assert (tuning.n_development, tuning.n_held_out) == (len(halves[0]), len(halves[1]))
    # Raised to a high power the wording counts in full, and gender is a part of the variation only.
    assert tuning.alpha < 16
    mean_entropies = [row.mean_entropy for row in tuning.curve]
    assert mean_entropies == sorted(mean_entropies)


@pytest.mark.parametrize(
    ("noise", "edge"),
    [((0, 9, 9), "smallest"), ((9, 0, 9), ""), ((9, 9, 0), "largest"), ((0, 0, 0), ""), ((9, 0, 0), "")],
)
def test_the_best_of_the_grid_may_be_at_its_edge(noise: Sequence[float], edge: str) -> None:
    items = [
        TuningItem(str(n), {alpha: n + by * (n % 3) for alpha, by in zip((1, 2, 4), noise, strict=True)}, float(n))
        for n in range(40)
    ]
    assert tune_alpha(items).edge == edge


def test_of_equally_good_alphas_the_smallest_is_taken() -> None:
    items = [TuningItem(f"set-{n}", {8: n / 40, 2: n / 40, 4: n / 40}, float(n)) for n in range(1, 40)]
    assert tune_alpha(items).alpha == 2


def test_tuning_without_anything_to_go_by() -> None:
    nothing = tune_alpha([])
    assert (nothing.alpha, nothing.held_out, nothing.n_development, nothing.edge) == (None, None, 0, "")
    assert nothing.curve == ()
    flat = [TuningItem(f"{n}", {1: float(n)}, 0.0) for n in range(1, 20)]
    assert tune_alpha(flat).alpha is None
    for unusable in (TuningItem("x", {1: 0.5}, None), TuningItem("x", {}, 0.5)):
        assert tune_alpha([unusable]).n_development + tune_alpha([unusable]).n_held_out == 0


def test_the_halves_are_halves_and_never_change() -> None:
    names = [f"winogender-{number}" for number in range(1000)]
    assert 450 < sum(map(in_development_half, names)) < 550
    # The first byte of `printf winogender-0 | sha256sum` and so on.
    first_bytes = (0xCB, 0x5C, 0xD6, 0xBB, 0x5A, 0x6C, 0x03, 0xC5)
    assert [in_development_half(name) for name in names[:8]] == [byte % 2 == 0 for byte in first_bytes]
