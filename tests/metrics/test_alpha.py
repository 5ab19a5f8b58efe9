"""The choice of alpha: on one half of the contrast sets, judged on the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from gendermark.benchmarks.uncertainty.alphas import in_development_half, tuning_of
from gendermark.metrics.uncertainty import Samples, cluster_entropy, s3e_entropies
from gendermark.records import Judgement, Verdict

SIMILARITIES = np.array([[1, 0.9, 0.6, 0.5], [0.9, 1, 0.5, 0.6], [0.6, 0.5, 1, 0.9], [0.5, 0.6, 0.9, 1]])
"""Two wordings in two genders: a gender's forms differ more (0.6) than its wordings (0.9)."""


def sentence(contrast: str, entropies: Mapping[float, float], gender_entropy: float | None) -> Judgement:
    measures = {f"h_s3e@{alpha:g}": entropy for alpha, entropy in entropies.items()}
    measures |= {} if gender_entropy is None else {"h_gender": gender_entropy}
    return Judgement("x", 0, "x", Verdict.JUDGED, None, None, measures=measures, contrast=contrast)


def sentences(n: int, alphas: Sequence[float]) -> list[Judgement]:
    rng = np.random.default_rng(3)
    found = []
    for number in range(n):
        feminine, other_wording = rng.random(), rng.random()
        shares = np.outer([1 - feminine, feminine], [1 - other_wording, other_wording]).ravel()
        counts = rng.multinomial(128, shares)
        kept = counts > 0
        samples = Samples.of(
            [text for text, count in zip(("m1", "m2", "w1", "w2"), counts, strict=True) for _ in range(count)]
        )
        entropies = s3e_entropies(samples, SIMILARITIES[np.ix_(kept, kept)], alphas)
        entropy = cluster_entropy(samples, [text[0] for text in samples.texts])
        by_alpha = {alpha: h or 0.0 for alpha, h in zip(alphas, entropies, strict=True)}
        found.append(sentence(f"set-{number // 3}", by_alpha, entropy))
    return found


def test_tuning_takes_the_alpha_with_the_highest_correlation_on_the_development_half() -> None:
    grid = [0.25, 1, 4, 16, 64]
    found = sentences(120, grid)
    tuning = tuning_of(found)
    halves = [[one.measures for one in found if in_development_half(one.contrast) is half] for half in (True, False)]
    for row in tuning.curve:
        for half, fit in zip(halves, (row.development, row.held_out), strict=True):
            entropies = [measures[f"h_s3e@{row.alpha:g}"] for measures in half]
            assert fit == pytest.approx(np.corrcoef(entropies, [measures["h_gender"] for measures in half])[0, 1])
    assert tuning.best == max(tuning.curve, key=lambda row: row.development or -1)
    assert [row.alpha for row in tuning.curve] == grid
    # Raised to a high power the wording counts in full, and gender is a part of the variation only.
    assert tuning.alpha is not None
    assert tuning.alpha < 16
    mean_entropies = [row.mean_entropy for row in tuning.curve]
    assert mean_entropies == sorted(mean_entropies)


@pytest.mark.parametrize(
    ("noise", "edge"),
    [((0, 9, 9), "smallest"), ((9, 0, 9), ""), ((9, 9, 0), "largest"), ((0, 0, 0), ""), ((9, 0, 0), "")],
)
def test_the_best_of_the_grid_may_be_at_its_edge(noise: Sequence[float], edge: str) -> None:
    found = [
        sentence(str(n), {alpha: n + by * (n % 3) for alpha, by in zip((1, 2, 4), noise, strict=True)}, float(n))
        for n in range(40)
    ]
    assert tuning_of(found).edge == edge


def test_of_equally_good_alphas_the_smallest_is_taken() -> None:
    found = [sentence(f"set-{n}", {8: n / 40, 2: n / 40, 4: n / 40}, float(n)) for n in range(1, 40)]
    assert tuning_of(found).alpha == 2


def test_tuning_without_anything_to_go_by() -> None:
    for nothing in ([], [sentence("x", {1: 0.5}, None)], [sentence("x", {}, 0.5)]):
        assert (tuning_of(nothing).curve, tuning_of(nothing).alpha, tuning_of(nothing).edge) == ([], None, "")
    assert tuning_of([sentence(f"{n}", {1: float(n)}, 0.0) for n in range(1, 20)]).alpha is None


def test_the_halves_are_halves_and_never_change() -> None:
    names = [f"winogender-{number}" for number in range(1000)]
    assert 450 < sum(map(in_development_half, names)) < 550
    # The first byte of `printf winogender-0 | sha256sum` and so on.
    first_bytes = (0xCB, 0x5C, 0xD6, 0xBB, 0x5A, 0x6C, 0x03, 0xC5)
    assert [in_development_half(name) for name in names[:8]] == [byte % 2 == 0 for byte in first_bytes]
