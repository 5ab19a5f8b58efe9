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
from gendermark.metrics.metric import Floats
from gendermark.metrics.regression import INTERCEPT, f_test, linear_model, t_test
from gendermark.statistics import holm

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


def statsmodels_fit(response: Floats, columns: dict[str, Floats], clusters: list[str]) -> Any:
    model = sm.OLS(response, sm.add_constant(np.column_stack(list(columns.values())), has_constant="add"))
    groups = np.unique(clusters, return_inverse=True)[1]
    return model.fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)


# The linear model


@pytest.mark.parametrize("seed", [0, 1])
def test_the_model_equals_statsmodels(seed: int) -> None:
    data = cues(seed)
    ours, theirs = linear_model(*data), statsmodels_fit(*data)
    assert [c.name for c in ours.coefficients] == [INTERCEPT, *data[1]]
    assert [c.value for c in ours.coefficients] == pytest.approx(theirs.params, abs=CLOSE)
    assert [c.standard_error for c in ours.coefficients] == pytest.approx(theirs.bse, abs=CLOSE)
    assert [c.t for c in ours.coefficients] == pytest.approx(theirs.tvalues, abs=CLOSE)
    assert [c.p_value for c in ours.coefficients] == pytest.approx(theirs.pvalues, abs=CLOSE)
    limits = [limit for c in ours.coefficients for limit in (c.low, c.high)]
    assert limits == pytest.approx(theirs.conf_int().ravel(), abs=CLOSE)
    assert ours.r_squared == pytest.approx(theirs.rsquared, abs=CLOSE)
    assert ours.df_error == 39
    assert (ours.n, ours.n_clusters, dict(ours.dropped)) == (len(data[0]), 40, {})


def test_factors_are_tested_as_statsmodels_tests_them() -> None:
    data = cues()
    factors = {"pronoun": ("feminine", "masculine"), "recency": ("recency",)}
    ours, theirs = linear_model(*data, factors=factors), statsmodels_fit(*data)
    pronoun, recency = ours.factors
    for factor, places in ((pronoun, [1, 2]), (recency, [3])):
        expected = theirs.f_test(np.eye(5)[places])
        assert factor.f == pytest.approx(float(expected.fvalue), abs=CLOSE)
        assert factor.p_value == pytest.approx(float(expected.pvalue), abs=CLOSE)
        assert (factor.df_factor, factor.df_error) == (expected.df_num, expected.df_denom)
    assert [f.p_holm for f in ours.factors] == holm([f.p_value for f in ours.factors])
    assert pronoun.columns == ("feminine", "masculine")


def test_fixed_effects_are_a_column_for_each_contrast_set() -> None:
    response, columns, clusters = cues(2)
    levels = pd.get_dummies(clusters, dtype=float)
    within = {name: column for name, column in columns.items() if name != "stereotype"}
    design = np.column_stack([*within.values(), levels.to_numpy()])
    theirs = sm.OLS(response, design).fit()
    ours = linear_model(response, within, clusters, effects="fixed")
    assert [c.value for c in ours.coefficients] == pytest.approx(theirs.params[:3], abs=CLOSE)


def test_fixed_effects_with_cluster_robust_errors() -> None:
    """The same as least squares on what is left once the mean of each set is taken out of every column."""
    response, columns, clusters = cues(3)
    frame = pd.DataFrame({"y": response, **columns, "set": clusters}).drop(columns="stereotype")
    means_out = frame.drop(columns="set") - frame.groupby("set").transform("mean")
    names = ["feminine", "masculine", "recency"]
    theirs = statsmodels_fit(means_out["y"].to_numpy(), {n: means_out[n].to_numpy() for n in names}, clusters)
    ours = linear_model(response, columns, clusters, effects="fixed")
    assert [c.name for c in ours.coefficients] == names
    assert [c.value for c in ours.coefficients] == pytest.approx(theirs.params[1:], abs=CLOSE)
    assert [c.standard_error for c in ours.coefficients] == pytest.approx(theirs.bse[1:], abs=CLOSE)
    assert dict(ours.dropped) == {"stereotype": "does not vary within any contrast set"}
    assert ours.factors[3].f is None  # the factor of the dropped column
    assert ours.factors[3].p_holm is None


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
    with pytest.raises(UserError, match="at least two contrast sets, but there is 1"):
        linear_model(response, columns, ["one"] * len(response))
    with pytest.raises(UserError, match="no cue varies within any contrast set"):
        linear_model([1.0, 2, 3, 4], {"x": [0.0, 0, 1, 1]}, list("aabb"), effects="fixed")


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: linear_model([1.0, 2], {}, ["a", "b"]),
        lambda: linear_model([1.0, 2], {"x": [1.0]}, ["a", "b"]),
        lambda: linear_model([1.0, math.nan], {"x": [1.0, 2]}, ["a", "b"]),
        lambda: linear_model(*cues(), factors={"pronoun": ["she"]}),
        lambda: linear_model(*cues(), effects="random"),  # type: ignore[arg-type]
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
