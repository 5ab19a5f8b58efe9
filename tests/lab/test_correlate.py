"""Uncertainty against accuracy, on the paper's own numbers and on fakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gendermark import api
from gendermark.errors import UserError
from gendermark.lab.correlate import correlate
from gendermark.records import Gender, Judgement, Test, Verdict
from gendermark.result import Result
from lab.toys import SYSTEMS, scored
from outcomes import Outcome

# Table 14 (surprisal, S3E, of correct and incorrect) and Table 12 (accuracy "unamb"), Opus, deb, m2m, Tower.
PUBLISHED: Mapping[str, Sequence[tuple[float, float, float]]] = {
    "es": ((7.83, 8.88, 67.95), (8.08, 9.16, 68.13), (23.61, 26.03, 70.77), (15.25, 19.80, 86.91)),
    "fr": ((9.18, 9.89, 64.27), (9.18, 9.85, 64.79), (186.42, 194.52, 61.66), (15.62, 19.79, 75.77)),
    "uk": ((147.6, 152.15, 45.34), (150.52, 153.76, 46.12), (204.72, 211.9, 47.76), (16.84, 18.81, 57.58)),
    "ru": ((32.14, 33.15, 48.57), (32.31, 33.27, 48.42), (218.11, 219.06, 48.49), (27.34, 29.75, 51.44)),
}


def test_the_papers_own_numbers_give_the_correlation_that_they_allow(given: dict[str, list[Result]]) -> None:
    for number, system in enumerate(("opus", "deb", "m2m", "tower")):
        given[system] = []
        for to, rows in PUBLISHED.items():
            correct, incorrect, accuracy = rows[number]
            delta = (correct - incorrect) / correct
            given[system] += [
                scored(system, to, {"delta_i_s3e": delta}),
                scored(system, to, {"accuracy:mf": accuracy}, "winomt"),
            ]
    found = correlate(list(given))
    assert found.accuracy_is == "WinoMT accuracy on he and she"
    assert len(found.cells) == 16
    by_slice = {row.slice: row.tests for row in found.correlations}
    assert list(by_slice) == ["all", "es", "fr", "ru", "uk"]
    assert by_slice["all"]["spearman"].n == 16
    assert by_slice["all"]["spearman"].value == pytest.approx(-0.87, abs=0.005)
    assert by_slice["all"]["kendall"].value == pytest.approx(-0.68, abs=0.005)
    # Languages differ in both: chance within languages gives -.63 already. What is left is less sure, and less.
    assert found.permutation == "languages"
    assert any("systems change places within each language" in note for note in found.chance)
    assert by_slice["all"]["spearman"].by_chance == pytest.approx(-0.63, abs=0.005)
    assert by_slice["all"]["spearman"].p_value == pytest.approx(0.0023, abs=5e-5)
    assert by_slice["all"]["spearman"].is_exact
    within = found.correlations[0].within
    assert (within.value, within.p_value) == (pytest.approx(-0.65), pytest.approx(0.0261, abs=5e-5))
    assert found.correlations[1].within is None  # one language
    free = correlate(list(given), permutation="free")
    assert (free.correlations[0].tests["spearman"].p_value or 1) < 0.001
    assert any("all cells change places with all others" in note for note in free.chance)
    # Of four systems in one language, 4! = 24 orders: no ranking can be surer than 2 of them.
    assert by_slice["uk"]["spearman"].p_value >= 2 / 24


# Table 3's relative surprisal (its rows are not Table 14's); the first ten places of Table 18, by accuracy and by it.
# There, second and third by accuracy are m2m-es (70.77) and tower-fr (75.77), against Tables 3 and 12: here they are as
# they should be.
PRINTED = {
    "es": (-0.10, -0.13, -0.13, -0.30),
    "fr": (-0.04, -0.08, -0.07, -0.27),
    "uk": (-0.03, -0.03, -0.02, -0.12),
    "ru": (0.0, -0.03, -0.03, -0.09),
}
TABLE_18 = (
    "tower-es tower-es; tower-fr tower-fr; m2m-es deb-es; deb-es m2m-es; opus-es tower-uk; deb-fr opus-es; "
    "opus-fr tower-ru; m2m-fr deb-fr; tower-uk m2m-fr; tower-ru opus-fr"
)


def test_ranks_as_table_18_has_them(given: dict[str, list[Result]], study: Callable[..., Outcome]) -> None:
    """Below ten places it puts Ukrainian before Russian, again against the accuracies of Tables 3 and 12."""
    for number, system in enumerate(("opus", "deb", "m2m", "tower")):
        given[system] = []
        for to, deltas in PRINTED.items():
            given[system] += [
                scored(system, to, {"delta_i_s3e": deltas[number]}),
                scored(system, to, {"accuracy:mf": PUBLISHED[to][number][2]}, "winomt"),
            ]
    outcome = study("correlate", *given, "--table18")
    shown = [
        " ".join(row[name].partition(" ")[2].replace(" en", "") for name in ("accuracy", "delta_i_s3e"))
        for row in outcome.rows
    ]
    assert "; ".join(shown[:10]) == TABLE_18
    assert [row["accuracy"][:3] for row in outcome.rows[10:]] == ["#11", "#12", "#13", "#14", "#15", "#16"]
    assert all(row["accuracy"].endswith("en-uk") for row in outcome.rows[13:])
    assert [row["delta_i_s3e"].partition(" ")[0] for row in outcome.rows[2:4]] == ["#3", "#3"]  # equal
    assert "p-values" not in outcome.err
    assert "systems change places within each language" in study("correlate", *given).err
    ranks = study("correlate", *given, "--json").json["ranks"]
    assert ranks["accuracy"][0] == {"run": "tower", "system": "tower", "direction": "en-es", "rank": 1}
    assert set(ranks) == {"accuracy", "delta_i_s3e"}


def test_one_system_in_many_languages_can_only_be_permuted_freely(given: dict[str, list[Result]]) -> None:
    given["a"] = [
        scored("a", to, {"delta_i_s3e": number, "p_right:unambiguous": number / 9})
        for number, to in enumerate(("es", "fr", "ru", "uk", "de"))
    ]
    found = correlate(["a"])
    assert (found.permutation, found.correlations[0].within) == ("free", None)
    with pytest.raises(UserError, match="no language has two systems"):
        correlate(["a"], permutation="languages")
    with pytest.raises(UserError, match="unknown permutation 'rows'"):
        correlate(["a"], permutation="rows")


def test_fakes_rank_alike_by_uncertainty_and_by_accuracy(runs: Path) -> None:
    found = correlate([runs / name.partition("?")[0] for name in SYSTEMS])
    assert found.accuracy_is == "WinoMT accuracy on he and she"
    accuracy = {scored.cell.result.system: scored.accuracy for scored in found.cells}
    assert accuracy["fake:coin"] == 100
    assert accuracy["fake:masculine"] == 50
    best = {row.score: row for row in found.correlations}
    assert best["gap_i_gender"].tests["spearman"].value < -0.8
    assert best["awareness_gender"].tests["spearman"].value > 0.5
    # Always right or always masculine: no entropy to divide by.
    assert "delta_h_gender" not in best
    assert any("delta_h_gender" in note for note in found.notes)
    assert best["gap_i_gender"].p_holm >= best["gap_i_gender"].tests["spearman"].p_value


def test_constant_scores_have_no_correlation(given: dict[str, list[Result]]) -> None:
    for number in range(4):
        given[str(number)] = [scored(str(number), "es", {"awareness_gender": 50.0, "p_right:unambiguous": number / 4})]
    (found,) = correlate(list(given)).correlations
    assert found.tests["spearman"].value is None
    assert found.p_holm is None


@pytest.mark.parametrize("n", [1, 3])
def test_of_few_cells_nothing_can_be_said(given: dict[str, list[Result]], n: int) -> None:
    for number in range(n):
        given[str(number)] = [scored(str(number), "es", {"delta_i_s3e": number, "p_right:unambiguous": number / 4})]
    found = correlate(list(given))
    assert found.correlations == ()
    assert found.cells[-1].accuracy == 100 * (n - 1) / 4
    assert any("nothing can be said" in note and "at least 4 cells" in note for note in found.notes)


def test_two_kinds_of_accuracy_are_never_mixed(given: dict[str, list[Result]]) -> None:
    for number in range(4):
        given[str(number)] = [scored(str(number), "es", {"delta_i_s3e": number, "p_right:unambiguous": 0.5})]
    given["0"].append(scored("0", "es", {"accuracy:mf": 99.0}, "winomt"))
    found = correlate(list(given))
    assert {cell.accuracy for cell in found.cells} == {50.0}
    assert any("3 of 4 cells have no WinoMT results" in note for note in found.notes)
    assert found.accuracy_is == "the share of samples with the right gender"


def test_accuracy_of_other_runs_and_runs_that_were_not_measured_alike(given: dict[str, list[Result]]) -> None:
    for number in range(4):
        given[str(number)] = [scored(str(number), "es", {"delta_i_s3e": number}, alpha=str(number))]
        given[f"w{number}"] = [scored(str(number), "es", {"accuracy:mf": -number}, "winomt", data=f"d{number % 2}")]
    found = correlate(["0", "1", "2", "3"], ["w0", "w1", "w2", "w3"])
    assert found.correlations[0].tests["kendall"].value == -1
    assert "the runs were not measured alike: they differ in alpha" in found.notes
    assert "WinoMT was not measured alike: they differ in data" in found.notes


def test_meanings_and_the_systems_own_probabilities_are_scores_where_they_were_asked_for(
    given: dict[str, list[Result]],
) -> None:
    for number in range(4):
        result = scored(
            str(number),
            "es",
            {"delta_i_semantic": -number, "delta_i_gender": -number, "p_right:unambiguous": number / 4},
        )
        details = {
            "log_probability_right": -3.0,
            "log_probability_wrong": -3.0 - number,
            "log_probability_per_token_right": None,
            "log_probability_per_token_wrong": None,
        }
        given[str(number)] = [replace(result, tests=(Test("forced-choice", "?", 50.0 + number, None, details),))]
    found = correlate(list(given))
    assert found.cells[3].scores["forced_choice"] == 53
    assert found.cells[3].scores["gap_log_p"] == 3
    assert found.cells[3].scores["gap_log_p_per_token"] is None
    signs = {row.score: row.tests["kendall"].value for row in found.correlations}
    assert signs == {"delta_i_gender": -1, "delta_i_semantic": -1, "forced_choice": 1, "gap_log_p": 1}
    # What nobody asked for is not missing.
    (note,) = [note for note in found.notes if "fewer than 4 cells" in note]
    assert "delta_i_s3e" in note
    assert "semantic" not in note
    assert "per_token" not in note


def test_differently_tuned_alphas_are_not_on_one_scale(given: dict[str, list[Result]]) -> None:
    best = {"a": 2, "b": 8}
    for name, alpha in best.items():
        judgements = [
            Judgement(
                f"{number}",
                number,
                f"{number}",
                Verdict.JUDGED,
                Gender.NEUTRAL,
                None,
                contrast=f"{number}",
                measures={
                    "h_gender": number,
                    "h_s3e@2": number % 3,
                    "h_s3e@8": number % 3,
                    f"h_s3e@{alpha}": number,
                },
            )
            for number in range(20)
        ]
        given[name] = [replace(scored(name, "es", {}, alpha="tuned"), judgements=judgements)]
    assert "alpha was tuned to different values (2, 8), so S3E is not on one scale" in correlate(list(given)).notes
    assert not any("alpha" in note for note in correlate(["a"]).notes)


def test_runs_of_other_rules_are_named(given: dict[str, list[Result]]) -> None:
    for number in range(2):
        given[str(number)] = [replace(scored(str(number), "es", {}), signature=f"x|rules:best-{number}|y")]
    words = "the runs were judged by different rules (best-0, best-1); run them again"
    assert words in correlate(list(given)).notes


def test_refusals_of_correlate(study: Callable[..., Outcome], runs: Path, tmp_path: Path) -> None:
    api.run("fake:coin", ["simplegen"], "es", tmp_path / "other", data="core")
    for arguments, words in (
        ((runs / "coin", runs / "coin"), "give each system once"),
        ((tmp_path / "other",), "has no uncertainty results; make some with"),
        ((tmp_path / "nothing",), "there is no such directory"),
        ((runs / "coin", "--accuracy", tmp_path / "other"), "no run of --accuracy has WinoMT results of fake:coin"),
    ):
        outcome = study("correlate", *arguments)
        assert (outcome.exit_code, outcome.out) == (2, "")
        assert words in outcome.err
        assert len(outcome.err.splitlines()) == 1
