"""The linear model against statsmodels, and that of entropy on cues where its coefficients are known."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from statsmodels.regression.linear_model import OLS

from gendermark import api
from gendermark.errors import UserError
from gendermark.lab.cues import INTERCEPT, Question, coefficients, linear_model, model_cues
from gendermark.lab.sentence_cues import COLUMNS, annotate, design_columns
from gendermark.lab.uncertainty_results import Cell, drawn_sentences, read_cell
from gendermark.metrics.metric import Floats
from gendermark.metrics.statistics import holm
from lab.conftest import Command
from lab.toys import selected

CLOSE = 1e-8
Columns = dict[str, Floats]


# -- the linear model --------------------------------------------------------------------------------------------------


def sentences(seed: int = 0, n_sets: int = 40) -> tuple[Floats, Columns, list[str]]:
    """Contrast sets of 2 to 4 sentences that share a disturbance, with cues within sets and one between them."""
    rng = np.random.default_rng(seed)
    sets = np.repeat(np.arange(n_sets), rng.integers(2, 5, size=n_sets))
    n = len(sets)
    columns = {
        "feminine": (rng.random(n) < 0.4).astype(float),
        "masculine": (rng.random(n) < 0.3).astype(float),
        "recency": rng.normal(size=n),
        "stereotype": (rng.random(n_sets) < 0.5).astype(float)[sets],
    }
    effects = 1.0 + 0.5 * columns["feminine"] - 0.3 * columns["recency"]
    noise = 0.4 * rng.normal(size=n_sets)[sets] + rng.normal(scale=0.5 + columns["feminine"], size=n)
    return effects + noise, columns, [f"set-{number}" for number in sets]


def jackknife(response: Floats, columns: Columns, clusters: Sequence[str]) -> tuple[Floats, Floats]:
    """Coefficients and their covariance: statsmodels, again and again without one of the clusters."""
    groups, names = np.array(clusters), list(dict.fromkeys(clusters))
    design = np.column_stack(list(columns.values()))
    whole = OLS(response, design).fit().params
    moves = [OLS(response[groups != name], design[groups != name]).fit().params - whole for name in names]
    return whole, (len(names) - 1) / len(names) * (np.array(moves).T @ np.array(moves))


def test_the_model_equals_statsmodels_and_its_errors_a_jackknife() -> None:
    response, columns, clusters = sentences()
    whole = {INTERCEPT: np.ones(len(response)), **columns}
    factors = {"pronoun": ("feminine", "masculine"), "recency": ("recency",)}
    ours = linear_model(response, columns, clusters, factors=factors)
    values, covariance = jackknife(response, whole, clusters)
    errors = np.sqrt(np.diag(covariance))
    reach = scipy.stats.t.ppf(0.975, 39)
    expected = {
        "value": values,
        "standard_error": errors,
        "t": values / errors,
        "p_value": 2 * scipy.stats.t.sf(np.abs(values / errors), 39),
        "low": values - reach * errors,
        "high": values + reach * errors,
    }
    for name, numbers in expected.items():
        assert [c[name] for c in ours["coefficients"]] == pytest.approx(numbers, abs=CLOSE), name
    fitted = OLS(response, np.column_stack(list(whole.values()))).fit()
    assert ours["r_squared"] == pytest.approx(fitted.rsquared, abs=CLOSE)
    assert (ours["n"], ours["n_clusters"], ours["df_error"], ours["left_out"]) == (len(response), 40, 39, {})
    intercept, *rest = ours["coefficients"]
    assert intercept["p_holm"] is None  # it is no question
    assert [c["p_holm"] for c in rest] == holm([c["p_value"] for c in rest])
    for factor, places in zip(ours["factors"], ([1, 2], [3]), strict=True):
        own = values[places]
        f = own @ np.linalg.inv(covariance[np.ix_(places, places)]) @ own / len(places)
        assert factor["f"] == pytest.approx(f, rel=CLOSE)
        assert factor["p_value"] == pytest.approx(scipy.stats.f.sf(f, len(places), 39), abs=CLOSE)
        assert (factor["df_factor"], factor["df_error"]) == (len(places), 39)
    assert [factor["p_holm"] for factor in ours["factors"]] == holm([factor["p_value"] for factor in ours["factors"]])


@pytest.mark.parametrize("n_per_cluster", [1, 2])
def test_levels_are_a_column_for_each_set_with_errors_robust_within_clusters(n_per_cluster: int) -> None:
    response, columns, sets = sentences(3)
    clusters = [f"{int(name.partition('-')[2]) // n_per_cluster}" for name in sets]
    names = ["feminine", "masculine", "recency"]
    ours = linear_model(response, columns, clusters, levels=sets)
    dummies = pd.get_dummies(sets, dtype=float).to_numpy()
    theirs = OLS(response, np.column_stack([*(columns[name] for name in names), dummies])).fit()
    assert [c["name"] for c in ours["coefficients"]] == names
    assert [c["value"] for c in ours["coefficients"]] == pytest.approx(theirs.params[:3], abs=CLOSE)
    frame = pd.DataFrame({"y": response, **columns, "set": sets})
    means_out = frame.drop(columns="set") - frame.groupby("set").transform("mean")
    _, covariance = jackknife(means_out["y"].to_numpy(), {n: means_out[n].to_numpy() for n in names}, clusters)
    assert [c["standard_error"] for c in ours["coefficients"]] == pytest.approx(np.sqrt(np.diag(covariance)), abs=CLOSE)
    assert (ours["n_levels"], ours["n_clusters"]) == (40, 40 // n_per_cluster)
    assert ours["left_out"] == {"stereotype": "does not vary within any contrast set"}
    assert (ours["factors"][3]["f"], ours["factors"][3]["p_holm"]) == (None, None)  # the factor of the dropped column


def test_levels_recover_planted_effects_and_their_intervals_cover_them() -> None:
    """A response less its set's mean, on columns as they are, shrinks every effect; levels of the sets do not."""
    rng = np.random.default_rng(5)
    n_occupations, n_sets = 60, 180
    planted = {"feminine": 0.4, "ambiguity": -0.25, "recent": 0.15}
    sets = np.repeat(np.arange(n_sets), 3)
    occupations = sets % n_occupations
    within, shrunk, covered = [], [], []
    for _ in range(120):
        recent = rng.random(n_sets) < 0.5  # a set in which "she" is also the last person named, or not
        columns = {
            "feminine": np.tile([0.0, 1, 0], n_sets),
            "ambiguity": np.tile([0.0, 0, 1], n_sets) * (sets % 3 > 0),  # as in WinoMT, not every set has a "they"
            "recent": np.tile([0.0, 1, 0], n_sets) * recent[sets],
        }
        effects = sum(weight * columns[name] for name, weight in planted.items())
        # What an occupation does to "she", and to the level of its sets, differs from one to the next.
        own = rng.normal(scale=0.3, size=n_occupations)[occupations] * columns["feminine"]
        level = rng.normal(size=n_sets)[sets] + rng.normal(size=n_occupations)[occupations]
        response = 2 + effects + own + level + rng.normal(scale=0.4, size=len(sets))
        found = coefficients(linear_model(response, columns, list(occupations), levels=list(sets)))
        within.append([found[name]["value"] for name in planted])
        covered.append([found[name]["low"] <= value <= found[name]["high"] for name, value in planted.items()])
        less_mean = response - (np.bincount(sets, response) / 3)[sets]
        form = coefficients(linear_model(less_mean, columns, list(occupations)))
        shrunk.append([form[name]["value"] for name in planted])
    truth = np.array(list(planted.values()))
    error_of_mean = np.std(within, axis=0, ddof=1) / math.sqrt(len(within))
    assert np.all(np.abs(np.mean(within, axis=0) - truth) < 3 * error_of_mean)
    assert np.all((np.mean(covered, axis=0) > 0.92) & (np.mean(covered, axis=0) < 0.98))
    ratios = np.mean(shrunk, axis=0) / truth
    assert ratios[1] < 0.9  # ambiguity, which only some sets have
    assert ratios[2] < 0.8  # recency, which only some sets have
    assert ratios[0] == pytest.approx(1, abs=0.1)  # what every set has alike is not shrunk


def test_columns_that_say_nothing_of_their_own_spoil_no_other() -> None:
    response, columns, clusters = sentences()
    before = coefficients(linear_model(response, columns, clusters))["recency"]
    more = {
        **columns,
        "neutral": 1 - columns["feminine"] - columns["masculine"],
        "twice": 2 * columns["recency"],
        "rare": np.array([float(number == 1) for number in range(len(response))]),  # in one cluster alone
    }
    found = linear_model(response, more, clusters)
    wanted = {"neutral": "follows from intercept, feminine, masculine", "twice": "follows from recency"}
    assert found["left_out"] == wanted
    known = coefficients(found)
    assert math.isfinite(known["rare"]["low"])
    assert known["recency"]["standard_error"] == pytest.approx(before["standard_error"], rel=0.1)
    larger = linear_model(response, {**columns, "recency": columns["recency"] * 1e6}, clusters)
    scaled = coefficients(larger)["recency"]
    assert scaled["value"] * 1e6 == pytest.approx(before["value"])
    assert scaled["p_value"] == pytest.approx(before["p_value"])


@pytest.mark.parametrize(
    ("clusters", "levels", "words"),
    [("aaaa", None, "two groups"), ("aabb", "aabb", "within any contrast set"), ("abcd", None, "4 rows are too few")],
)
def test_what_cannot_be_fitted_is_refused(clusters: str, levels: str | None, words: str) -> None:
    rows = np.arange(4.0)
    columns: Columns = {"x": np.array([0.0, 0, 1, 1])}
    if levels is None:
        columns |= {"y": np.array([0.0, 1, 0, 1]), "z": np.array([0.0, 1, 1, 1])}
    with pytest.raises(UserError, match=words):
        linear_model(rows, columns, list(clusters), levels=levels and list(levels))


# -- entropy on cues ---------------------------------------------------------------------------------------------------


def with_entropies(cell: Cell, entropy: Callable[[Mapping[str, float], str], float | None]) -> Cell:
    """The same run, with a gender entropy that depends on the design columns and the contrast set."""
    drawn = drawn_sentences(cell)
    judgements = []
    for sentence, found in zip(drawn, annotate([s.item for s in drawn], "es"), strict=True):
        value = entropy(design_columns(found), sentence.item.contrast)
        judgements.append(replace(sentence.judgement, measures={} if value is None else {"h_gender": value}))
    return cell._replace(result=replace(cell.result, judgements=judgements))


def effects(model: Mapping[str, Any]) -> dict[str, float]:
    return {name: found["value"] for name, found in coefficients(model).items()}


def weighted(weights: Mapping[str, float]) -> Callable[[Mapping[str, float], str], float]:
    return lambda design, _: 1 + sum(weight * design[name] for name, weight in weights.items())


def test_a_linear_entropy_is_recovered_exactly(coin: Cell) -> None:
    weights = {"ambiguity": 0.3, "pronoun_subject_f": -0.1, "stereotype_subject_f": 0.2, "subject_m": 0.05}
    found = model_cues([with_entropies(coin, weighted(weights))], Question("gender", "plain"))
    values = effects(found)
    assert values == pytest.approx({name: weights.get(name, float(name == INTERCEPT)) for name in values}, abs=1e-9)
    assert set(weights) <= set(values)
    assert found["r_squared"] == pytest.approx(1)


def test_a_ratio_of_three_where_only_the_open_version_is_unsure(coin: Cell) -> None:
    cell = with_entropies(coin, lambda design, contrast: design["ambiguity"] * (1 + int(contrast[:2], 16)))
    found = model_cues([cell], Question("gender", "ratio"))
    ambiguity = coefficients(found)["ambiguity"]
    assert (ambiguity["value"], ambiguity["t"]) == (pytest.approx(3), None)  # a perfect fit has no error to divide by
    assert effects(found)["pronoun_object_f"] == pytest.approx(0, abs=1e-9)
    assert any("24 occupations are few" in note for note in found["notes"])
    assert any("causality_subject_f (5)" in note for note in found["notes"])


def test_what_all_versions_share_cannot_move_a_normalised_entropy(coin: Cell) -> None:
    weights = {"stereotype_subject_f": 1.0, "stereotype_object_f": 1.0, "ambiguity": 0.5}
    cell = with_entropies(coin, weighted(weights))
    for form in ("within", "ratio", "difference"):
        found = model_cues([cell], Question("gender", form))
        assert found["left_out"]["stereotype_subject_f"] == "the same in all versions"
        assert any("--form plain shows it" in note for note in found["notes"])
        if form != "ratio":  # 0.5 of a larger mean is less
            values = {name: value for name, value in effects(found).items() if name != INTERCEPT}
            assert values == pytest.approx(dict.fromkeys(values, 0.0) | {"ambiguity": 0.5}, abs=1e-9)
    plain = model_cues([cell], Question("gender", "plain"))
    assert effects(plain)["stereotype_subject_f"] == pytest.approx(1)


def test_sets_with_nothing_to_compare_are_left_out_and_counted(coin: Cell) -> None:
    cell = with_entropies(coin, lambda design, contrast: 0.0 if contrast < "8" else 1 + design["ambiguity"])
    n_zero = sum(s.item.contrast < "8" for s in drawn_sentences(coin))
    assert 0 < n_zero < 72
    found = model_cues([cell], Question("gender", "ratio"))
    assert found["n"] == 72 - n_zero
    assert any(f"{n_zero} of 72 sentences are left out" in note for note in found["notes"])
    assert any("--form ratio is the paper's and shrinks effects" in note for note in found["notes"])
    difference = model_cues([cell], Question("gender", factors=("ambiguity", "pronoun")))
    assert (difference["n"], difference["n_levels"]) == (72, 24)
    # In no set do he and she differ: that is exact, and rounding must not make a test of it.
    known = coefficients(difference)
    assert (known["pronoun_subject_f"]["standard_error"], known["pronoun_subject_f"]["p_value"]) == (0.0, None)
    assert known["ambiguity"]["p_value"] < 0.05
    assert all(math.isfinite(c["low"]) and math.isfinite(c["high"]) for c in known.values())
    # With the open versions alone there is nothing to compare them with.
    alone = with_entropies(coin, lambda design, _: None if not design["ambiguity"] else 1.0)
    with pytest.raises(UserError, match="one version of each sentence"):
        model_cues([alone], Question("gender"))


def test_names_show_beside_the_same_sentences_without(study: Command, runs: Path, tmp_path: Path) -> None:
    api.run("fake:right?p=0.7", [replace(selected(), variant="names")], directory=tmp_path / "names")
    alone = model_cues([read_cell(tmp_path / "names")], Question("gender"))
    assert alone["left_out"]["names"] == "follows from ambiguity"  # who is told has a name
    (both,) = study("uncertainty", "cues", runs / "right", tmp_path / "names", "--measure", "gender", "--json").json[
        "models"
    ]
    assert (both["n"], both["n_clusters"]) == (144, 24)
    assert "names" in {coefficient["name"] for coefficient in both["coefficients"]}
    assert not any("measured alike" in note for note in both["notes"])
    weights = {"names": 0.3, "ambiguity": 0.2}
    cells = [with_entropies(read_cell(run), weighted(weights)) for run in (runs / "right", tmp_path / "names")]
    values = effects(model_cues(cells, Question("gender")))
    assert values == pytest.approx(dict.fromkeys(values, 0.0) | weights, abs=1e-9)
    study("uncertainty", "cues", runs / "right", runs / "right").is_refusal("fake:right?p=0.7", "the same sentences")
    other = replace(cells[1].result.selection, n_samples=99)
    unlike = [cells[0], cells[1]._replace(result=replace(cells[1].result, selection=other))]
    assert any("they differ in n_samples" in note for note in model_cues(unlike, Question("gender"))["notes"])


def test_every_cue_has_its_place_or_a_reason(study: Command, runs: Path, tmp_path: Path) -> None:
    both = (runs / "right", runs / "random")
    models = study("uncertainty", "cues", *both, "--measure", "gender", "--json").json["models"]
    assert [(m["form"], m["cluster"], m["n_levels"], m["n_clusters"]) for m in models] == [
        ("within", "entity", 24, 24)
    ] * 2
    for one in (*models[0]["coefficients"], *models[0]["factors"]):
        assert one["p_holm"] is None or one["p_holm"] >= one["p_value"]
    rows = {row["cue"]: row for row in study("uncertainty", "cues", runs / "right", "--measure", "gender").rows}
    assert tuple(rows) == COLUMNS
    assert rows["names"]["left_out_because"] == "in no sentence"
    assert rows["pronoun_subject_m"]["left_out_because"].startswith("follows from ambiguity, pronoun_subject_f")
    assert all((row["coefficient"] == "") == bool(row["left_out_because"]) for row in rows.values())
    picture = tmp_path / "cues.svg"
    table7 = study("uncertainty", "cues", *both, "--measure", "gender", "--table7", "--plot", picture).rows
    assert list(table7[0]) == ["measure", "language", "system", *COLUMNS]
    systems = ["fake:right?p=0.7", "fake:random"]
    assert [(row["measure"], row["system"]) for row in table7] == [(m, s) for m in ("s3e", "ge") for s in systems]
    # Cues that all versions of a sentence share have coefficients here, as in the paper; one of four is the level.
    shared = [table7[0][column] for column in COLUMNS if column.startswith("stereotype")]
    assert sum(bool(re.fullmatch(r"-?\d+\.\d\d\*{0,3}", cell)) for cell in shared) == 3
    assert any(row["ambiguity"].endswith("*") for row in table7)
    assert table7[0]["names"] == ""
    drawn = picture.read_text(encoding="utf-8")
    assert "pronoun subject f" in drawn
    assert "fake:random en-es" in drawn


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("right", "--measure", "heat"), "'heat'"),
        (("right", "--form", "sum"), "'sum'"),
        (("right", "--factor", "luck"), "'luck'"),
        (("right", "--cluster", "role"), "'role'"),
        (("right", "--measure", "semantic"), "--entailment MODEL"),
        (("right", "--confidence", "2"), "--confidence"),
        (("right", "--to", "de"), "available: en-es"),
        (("masculine", "--measure", "gender"), "the system is sure of everything"),
    ],
)
def test_refusals_of_cues(study: Command, runs: Path, arguments: tuple[str, ...], words: str) -> None:
    study("uncertainty", "cues", runs / arguments[0], *arguments[1:]).is_refusal(words)
