"""Other epsilons and alphas on the same sentences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark.errors import UserError
from gendermark.lab.cells import Cell
from gendermark.lab.sampling import Settings, vary_sampling
from gendermark.result import Result
from gendermark.selection import Selection
from lab.toys import N, selected
from outcomes import Outcome


@pytest.mark.usefixtures("_toys")
def test_what_is_cut_off_looks_like_certainty() -> None:
    found = vary_sampling(Settings("cut:x", "es", [0.05, 0.2], ["4", "64", "tuned"], n_samples=N))
    values = {(s.epsilon, s.alpha, s.is_tuned): s.result for s in found.settings}
    assert len(values) == 6

    def of(epsilon: float, alpha: float, metric: str, part: str = "all") -> float | None:
        return values[epsilon, alpha, False].estimate(metric, part).value

    assert of(0.05, 4, "awareness_gender") == 100
    assert of(0.2, 4, "awareness_gender") == 50
    assert of(0.05, 4, "n_distinct") == pytest.approx(4 / 3)
    assert of(0.2, 4, "n_distinct") == 1
    assert of(0.2, 64, "h_s3e", "ambiguous") == 0
    # The larger alpha, the less alike two translations are.
    assert 0 < of(0.05, 4, "h_s3e", "ambiguous") < of(0.05, 64, "h_s3e", "ambiguous")
    assert of(0.05, 4, "h_gender", "ambiguous") == of(0.05, 64, "h_gender", "ambiguous")
    signature = values[0.05, 64, False].signature
    assert "epsilon=0.05" in signature
    assert ",alpha-64|" in signature
    assert "parts:referenced" in signature
    assert any("epsilon 0.2: 24 of 24 ambiguous sentences gave the same translation" in note for note in found.notes)
    assert any("epsilon 0.2: alpha could not be tuned" in note for note in found.notes)
    assert len(set(found.notes)) == len(found.notes)
    (tuned,) = [s.alpha for s in found.settings if s.is_tuned and s.epsilon == 0.05]
    assert f",alpha-tuned={tuned:g}|" in values[0.05, tuned, True].signature


def test_a_setting_has_the_numbers_of_a_run_with_it(runs: Path) -> None:
    (found,) = vary_sampling(Settings("fake:random", "es", [0.2], ["4"], n_samples=N)).settings
    (result,) = gendermark.run("fake:random", [replace(selected(), alpha="4", sampling="epsilon=0.2")])
    assert found.result.estimates == result.estimates
    assert found.result.signature == result.signature


def test_all_sentences_where_none_has_references(coin: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Selection] = []

    def run(config: Any, *_: Any) -> list[Result]:
        asked.extend(config.selections)
        return [coin.result]

    monkeypatch.setattr("gendermark.runs.run.run", run)
    for to in ("es", "he"):
        vary_sampling(Settings("fake:masculine", to, [0.2], ["16"]))
    assert [selection.parts for selection in asked] == [("referenced",), ()]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--epsilon", "0.1,much"), "--epsilon is a probability below 1, or several with commas, not 'much'"),
        (("--epsilon", "1.5"), "--epsilon is a probability below 1, not 1.5"),
        (("--alpha", "3"), "--alpha is 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024 or tuned here, not '3'"),
        (("--group", "none"), "unknown group of uncertainty 'none'"),
    ],
)
def test_refusals_of_sampling(study: Callable[..., Outcome], arguments: tuple[str, ...], words: str) -> None:
    outcome = study("sampling", "--system", "fake:coin", "--to", "es", *arguments)
    assert (outcome.exit_code, outcome.out) == (2, "")
    assert words in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_no_setting_at_all() -> None:
    with pytest.raises(UserError, match="give at least one --epsilon and one --alpha"):
        vary_sampling(Settings("fake:coin", "es", [], ["4"]))
