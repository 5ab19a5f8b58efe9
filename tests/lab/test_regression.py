"""The linear model against statsmodels, and its tails against scipy."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import statsmodels.api as sm

from gendermark.errors import UserError
from gendermark.lab.regression import INTERCEPT, f_test, linear_model, t_test
from gendermark.metrics.metric import Floats
from gendermark.metrics.statistics import holm

CLOSE = 1e-8


def cues(seed: int = 0, n_sets: int = 40) -> tuple[Floats, dict[str, Floats], list[str]]:
    """Contrast sets of 2 to 4 sentences that share a disturbance, with cues within sets and one between them."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, size=n_sets)
    clusters = np.repeat(np.arange(n_sets), sizes)
    n = len(clusters)
    columns = {
        "feminine": (rng.random(n) < 0.4).astype(float),
        "masculine": (rng.random(n) < 0.3).astype(float),
        "recency": rng.normal(size=n),
        "stereotype": (rng.random(n_sets) < 0.5).astype(float)[clusters],
    }
    response = (
        1.0
        + 0.5 * columns["feminine"]
        - 0.3 * columns["recency"]
        + 0.4 * rng.normal(size=n_sets)[clusters]
        + rng.normal(scale=0.5 + columns["feminine"], size=n)
    )
    return response, columns, [f"set-{number}" for number in clusters]


def least_squares(response: Floats, columns: dict[str, Floats]) -> Any:
    return sm.OLS(response, np.column_stack(list(columns.values()))).fit()


def jackknife(response: Floats, columns: dict[str, Floats], clusters: list[str]) -> tuple[Floats, Floats]:
    """Coefficients and their covariance: statsmodels, again and again without one of the clusters."""
    groups = np.array(clusters)
    names = list(dict.fromkeys(clusters))
    whole = least_squares(response, columns).params
    moves = []
    for name in names:
        kept = groups != name
        part = least_squares(response[kept], {key: column[kept] for key, column in columns.items()})
        moves.append(part.params - whole)
    return whole, (len(names) - 1) / len(names) * (np.array(moves).T @ np.array(moves))


def with_constant(columns: dict[str, Floats]) -> dict[str, Floats]:
    return {INTERCEPT: np.ones(len(next(iter(columns.values())))), **columns}


# The linear model


@pytest.mark.parametrize("seed", [0, 1])
def test_the_model_equals_statsmodels_and_its_errors_a_jackknife(seed: int) -> None:
    response, columns, clusters = cues(seed)
    ours = linear_model(response, columns, clusters)
    values, covariance = jackknife(response, with_constant(columns), clusters)
    errors = np.sqrt(np.diag(covariance))
    assert [c.name for c in ours.coefficients] == [INTERCEPT, *columns]
    assert [c.value for c in ours.coefficients] == pytest.approx(values, abs=CLOSE)
    assert [c.standard_error for c in ours.coefficients] == pytest.approx(errors, abs=CLOSE)
    assert [c.t for c in ours.coefficients] == pytest.approx(values / errors, abs=CLOSE)
    p_values = 2 * scipy.stats.t.sf(np.abs(values / errors), 39)
    assert [c.p_value for c in ours.coefficients] == pytest.approx(p_values, abs=CLOSE)
    reach = scipy.stats.t.ppf(0.975, 39)
    assert [c.low for c in ours.coefficients] == pytest.approx(values - reach * errors, abs=CLOSE)
    assert [c.high for c in ours.coefficients] == pytest.approx(values + reach * errors, abs=CLOSE)
    assert ours.r_squared == pytest.approx(least_squares(response, with_constant(columns)).rsquared, abs=CLOSE)
    assert ours.df_error == 39
    assert (ours.n, ours.n_clusters, dict(ours.dropped)) == (len(response), 40, {})


def test_factors_are_tested_by_walds_test() -> None:
    response, columns, clusters = cues()
    factors = {"pronoun": ("feminine", "masculine"), "recency": ("recency",)}
    ours = linear_model(response, columns, clusters, factors=factors)
    values, covariance = jackknife(response, with_constant(columns), clusters)
    pronoun, recency = ours.factors
    for factor, places in ((pronoun, [1, 2]), (recency, [3])):
        own = values[places]
        expected = own @ np.linalg.inv(covariance[np.ix_(places, places)]) @ own / len(places)
        assert factor.f == pytest.approx(expected, rel=CLOSE)
        assert factor.p_value == pytest.approx(scipy.stats.f.sf(expected, len(places), 39), abs=CLOSE)
        assert (factor.df_factor, factor.df_error) == (len(places), 39)
    assert [f.p_holm for f in ours.factors] == holm([f.p_value for f in ours.factors])
    assert pronoun.columns == ("feminine", "masculine")


def test_a_cue_in_one_cluster_alone_spoils_no_other() -> None:
    """Without that cluster the model is singular."""
    response, columns, clusters = cues()
    before = linear_model(response, columns, clusters)["recency"]
    columns["rare"] = np.array([float(number == 1) for number in range(len(response))])
    found = linear_model(response, columns, clusters)
    assert math.isfinite(found["rare"].low)
    assert found["recency"].standard_error == pytest.approx(before.standard_error, rel=0.1)


def test_fixed_effects_are_a_column_for_each_contrast_set() -> None:
    response, columns, clusters = cues(2)
    levels = pd.get_dummies(clusters, dtype=float)
    within = {name: column for name, column in columns.items() if name != "stereotype"}
    design = np.column_stack([*within.values(), levels.to_numpy()])
    theirs = sm.OLS(response, design).fit()
    ours = linear_model(response, within, clusters, levels=clusters)
    assert [c.value for c in ours.coefficients] == pytest.approx(theirs.params[:3], abs=CLOSE)


def test_fixed_effects_with_cluster_robust_errors() -> None:
    """The same as least squares on what is left once the mean of each set is taken out of every column."""
    response, columns, clusters = cues(3)
    frame = pd.DataFrame({"y": response, **columns, "set": clusters}).drop(columns="stereotype")
    means_out = frame.drop(columns="set") - frame.groupby("set").transform("mean")
    names = ["feminine", "masculine", "recency"]
    values, covariance = jackknife(means_out["y"].to_numpy(), {n: means_out[n].to_numpy() for n in names}, clusters)
    ours = linear_model(response, columns, clusters, levels=clusters)
    assert (ours.n_levels, linear_model(response, columns, clusters).n_levels) == (40, 0)
    assert [c.name for c in ours.coefficients] == names
    assert [c.value for c in ours.coefficients] == pytest.approx(values, abs=CLOSE)
    assert [c.standard_error for c in ours.coefficients] == pytest.approx(np.sqrt(np.diag(covariance)), abs=CLOSE)
    assert dict(ours.dropped) == {"stereotype": "does not vary within any contrast set"}
    assert ours.factors[3].f is None  # the factor of the dropped column
    assert ours.factors[3].p_holm is None


def test_levels_within_larger_clusters() -> None:
    """A level for each set, and errors robust within pairs of sets."""
    response, columns, sets = cues(4)
    pairs = [f"pair-{int(name.partition('-')[2]) // 2}" for name in sets]
    frame = pd.DataFrame({"y": response, **columns, "set": sets}).drop(columns="stereotype")
    means_out = frame.drop(columns="set") - frame.groupby("set").transform("mean")
    names = ["feminine", "masculine", "recency"]
    values, covariance = jackknife(means_out["y"].to_numpy(), {n: means_out[n].to_numpy() for n in names}, pairs)
    ours = linear_model(response, {name: columns[name] for name in names}, pairs, levels=sets)
    assert (ours.n_clusters, ours.n_levels, ours.df_error) == (20, 40, 19)
    assert [c.value for c in ours.coefficients] == pytest.approx(values, abs=CLOSE)
    assert [c.standard_error for c in ours.coefficients] == pytest.approx(np.sqrt(np.diag(covariance)), abs=CLOSE)


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
        found = linear_model(response, columns, occupations, levels=sets)
        within.append([found[name].value for name in planted])
        covered.append([found[name].low <= value <= found[name].high for name, value in planted.items()])
        less_mean = response - (np.bincount(sets, response) / 3)[sets]
        form = linear_model(less_mean, columns, occupations)
        shrunk.append([form[name].value for name in planted])
    truth = np.array(list(planted.values()))
    error_of_mean = np.std(within, axis=0, ddof=1) / math.sqrt(len(within))
    assert np.all(np.abs(np.mean(within, axis=0) - truth) < 3 * error_of_mean)
    assert np.all((np.mean(covered, axis=0) > 0.92) & (np.mean(covered, axis=0) < 0.98))
    ratios = np.mean(shrunk, axis=0) / truth
    assert ratios[1] < 0.9  # ambiguity, which only some sets have
    assert ratios[2] < 0.8  # recency, which only some sets have
    assert ratios[0] == pytest.approx(1, abs=0.1)  # what every set has alike is not shrunk


def test_columns_that_follow_from_others_are_dropped_by_name() -> None:
    response, columns, clusters = cues()
    columns["neutral"] = 1 - columns["feminine"] - columns["masculine"]
    columns["twice"] = 2 * columns["recency"]
    model = linear_model(response, columns, clusters)
    assert dict(model.dropped) == {
        "neutral": "follows from intercept, feminine, masculine",
        "twice": "follows from recency",
    }
    assert [c.name for c in model.coefficients] == [INTERCEPT, "feminine", "masculine", "recency", "stereotype"]
    assert model["recency"].value == pytest.approx(linear_model(*cues())["recency"].value, abs=CLOSE)


def test_all_cues_are_corrected_together_and_the_intercept_is_none_of_them() -> None:
    model = linear_model(*cues())
    intercept, *rest = model.coefficients
    assert intercept.p_holm is None
    assert [c.p_holm for c in rest] == holm([c.p_value for c in rest])


def test_the_scale_of_a_column_changes_nothing_but_its_unit() -> None:
    response, columns, clusters = cues()
    scaled = {**columns, "recency": columns["recency"] * 1e6}
    one, other = (
        linear_model(response, columns, clusters)["recency"],
        linear_model(response, scaled, clusters)["recency"],
    )
    assert other.value * 1e6 == pytest.approx(one.value)
    assert other.p_value == pytest.approx(one.p_value)


def test_a_perfect_fit_has_no_t_value() -> None:
    column = [0.0, 1, 0, 1, 2, 3]
    model = linear_model([1 + 2 * x for x in column], {"x": column}, list("aabbcc"))
    assert model["x"].value == pytest.approx(2)
    assert (model["x"].t, model["x"].p_value, model["x"].standard_error) == (None, None, 0)
    assert model.factors[0].f is None
    assert model.r_squared == 1
    assert linear_model([3.0] * 6, {"x": column}, list("aabbcc")).r_squared is None


def test_what_cannot_be_fitted_is_refused_in_one_sentence() -> None:
    response, columns, clusters = cues()
    constant = {**columns, "default-masculine": np.zeros(len(response))}
    with pytest.raises(
        UserError, match=r"^cue 'default-masculine' has the same value, 0, in all \d+ rows, .*leave it out"
    ):
        linear_model(response, constant, clusters)
    few = {name: column[:5] for name, column in columns.items()}
    few["stereotype"] = np.array([0.0, 0, 1, 1, 0])
    few["feminine"] = np.array([0.0, 1, 0, 1, 0])
    few["masculine"] = np.array([1.0, 0, 0, 1, 1])
    with pytest.raises(UserError, match=r"^5 rows are too few for a model of 5 coefficients; give more sentences"):
        linear_model(response[:5], few, list("aabbc"))
    with pytest.raises(UserError, match="at least two groups of sentences, but there is 1"):
        linear_model(response, columns, ["one"] * len(response))
    with pytest.raises(UserError, match="no cue varies within any contrast set"):
        linear_model([1.0, 2, 3, 4], {"x": [0.0, 0, 1, 1]}, list("aabb"), levels=list("aabb"))


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: linear_model([1.0, 2], {}, ["a", "b"]),
        lambda: linear_model([1.0, 2], {"x": [1.0]}, ["a", "b"]),
        lambda: linear_model([1.0, math.nan], {"x": [1.0, 2]}, ["a", "b"]),
        lambda: linear_model(*cues(), factors={"pronoun": ["she"]}),
        lambda: linear_model([1.0, 2, 4], {"x": [1.0, 2, 2]}, list("abb"), levels=list("aab")),
        lambda: linear_model([1.0, 2, 4], {"x": [1.0, 2, 2]}, list("abb"), levels=list("ab")),
        lambda: linear_model(*cues(), confidence=1.0),
    ],
)
def test_mistakes_are_value_errors(mistake: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        mistake()


# Tails


def test_tails_of_t_equal_scipy() -> None:
    for t, df in product([0.0, 1e-3, 0.3, 1.0, 2.0, 5.0, 12.0, -3.0], [1, 2, 5, 39, 238, 4000]):
        assert t_test(t, df) == pytest.approx(2 * scipy.stats.t.sf(abs(t), df), rel=1e-10), (t, df)


def test_tails_of_t_next_to_zero() -> None:
    assert 1 - t_test(1e-9, 1) == pytest.approx(2 * math.atan(1e-9) / math.pi, rel=1e-6)


def test_tails_of_f_equal_scipy() -> None:
    degrees = [(1, 1), (1, 39), (4, 39), (20, 1295), (3, 4000)]
    for f, (df_factor, df_error) in product([0.0, 0.01, 0.9, 1.0, 2.5, 10.0, 60.0], degrees):
        expected = scipy.stats.f.sf(f, df_factor, df_error)
        assert f_test(f, df_factor, df_error) == pytest.approx(expected, rel=1e-10), (f, df_factor, df_error)
