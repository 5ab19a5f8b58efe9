"""Two given translations, asked of systems whose probabilities are known."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from gendermark.errors import SystemFailure, UserError
from gendermark.lab.determiners import compare_targets
from outcomes import Outcome

SHE, THEY = "The guard said she slept", "The guard said they slept"
TARGETS = ("Hoy El guardia dijo que durmió", "Hoy La guardia dijo que durmió")


@pytest.mark.usefixtures("_toys")
def test_the_determiner_and_the_whole() -> None:
    found = compare_targets("toy:x", [SHE, THEY], TARGETS, "es")
    told, left_open = found.preferences
    assert found.parting == 1
    assert found.words == ("El", "La")
    assert told.at_parting == (pytest.approx(0.3), pytest.approx(0.6))
    assert told.feminine_share_at_parting == pytest.approx(2 / 3)
    assert left_open.feminine_share_at_parting == pytest.approx(0.2)
    # All other words are as probable in both.
    assert told.feminine_share == pytest.approx(2 / 3)
    assert told.log_probabilities[0] - told.log_probabilities[1] == pytest.approx(math.log(0.5))
    assert told.n_tokens == (7, 7)


@pytest.mark.usefixtures("_toys")
def test_equally_probable_tokens_do_not_hide_where_the_targets_part() -> None:
    found = compare_targets("toy:x", ["it slept", THEY], TARGETS, "es")
    assert found.parting == 1
    assert found.preferences[0].feminine_share_at_parting == pytest.approx(0.5)


@pytest.mark.usefixtures("_toys")
def test_a_system_that_tells_nothing_of_tokens(study: Callable[..., Outcome]) -> None:
    outcome = study("determiners", SHE, THEY, "--system", "toy:wholes", "--to", "es", "--targets", *TARGETS, "--json")
    assert outcome.json["parting"] is None
    assert outcome.json["sources"][0]["feminine_share_at_parting"] is None
    assert outcome.json["sources"][0]["feminine_share"] == pytest.approx(2 / 3)
    assert "tells nothing of single tokens" in outcome.err


@pytest.mark.usefixtures("_toys")
def test_refusals_of_determiners() -> None:
    with pytest.raises(UserError, match="must differ in a word that both have"):
        compare_targets("toy:x", [SHE], ("El guardia", "El guardia duerme"), "es")
    with pytest.raises(SystemFailure, match=r"toy:mute gave no log-probability for 'Hoy El .*': too long"):
        compare_targets("toy:mute", [SHE], TARGETS, "es")
    with pytest.raises(UserError, match="answers the sentences of benchmarks only"):
        compare_targets("fake:coin", [SHE], TARGETS, "es")
    with pytest.raises(UserError, match="command:cat cannot score, which this needs"):
        compare_targets("command:cat", [SHE], TARGETS, "es")
