"""The linear model of entropy on cues, where its coefficients are known."""

from __future__ import annotations

import math
import random
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from gendermark import api
from gendermark.benchmarks.winomt.benchmark import BENCHMARK as WINOMT
from gendermark.errors import UserError
from gendermark.lab.cells import Cell, drawn_sentences, read_cell
from gendermark.lab.cues import _FITTED, Question, cue_plot, cue_table_as_published, model_cues, normalised_entropy
from gendermark.lab.regression import linear_model
from gendermark.lab.samples import look_at
from gendermark.linguistics.cues import COLUMNS, FACTORS, annotate, design_columns
from lab.toys import contrasts, of_other_data, selected
from outcomes import Outcome


def with_entropies(cell: Cell, entropy: Callable[[Mapping[str, float], str], float | None]) -> Cell:
    """The same run, with a gender entropy that depends on the design columns and the contrast set."""
    sentences = drawn_sentences(cell)
    designs = [design_columns(cues) for cues in annotate([s.item for s in sentences], "es")]
    judgements = []
    for sentence, design in zip(sentences, designs, strict=True):
        value = entropy(design, sentence.item.contrast)
        judgements.append(replace(sentence.judgement, measures={} if value is None else {"h_gender": value}))
    return replace(cell, result=replace(cell.result, judgements=judgements))


def test_a_linear_entropy_is_recovered_exactly(coin: Cell) -> None:
    weights = {"ambiguity": 0.3, "pronoun_subject_f": -0.1, "stereotype_subject_f": 0.2, "subject_m": 0.05}
    cell = with_entropies(coin, lambda design, _: 1 + sum(w * design[name] for name, w in weights.items()))
    found = model_cues([cell], Question("gender", "plain"))
    assert found.model.r_squared == pytest.approx(1)
    assert {c.name: pytest.approx(c.value, abs=1e-9) for c in found.model.coefficients} == {
        c.name: 1.0 if c.name == "intercept" else weights.get(c.name, 0.0) for c in found.model.coefficients
    }
    assert set(weights) <= {c.name for c in found.model.coefficients}


def test_a_ratio_of_three_where_only_the_open_version_is_unsure(coin: Cell) -> None:
    cell = with_entropies(coin, lambda design, contrast: design["ambiguity"] * (1 + int(contrast[:2], 16)))
    found = model_cues([cell], Question("gender", "ratio"))
    assert found.coefficient("ambiguity").value == pytest.approx(3)
    assert found.coefficient("pronoun_object_f").value == pytest.approx(0, abs=1e-9)
    assert found.coefficient("ambiguity").t is None  # a perfect fit has no error to divide by
    assert any("24 occupations are few" in note for note in found.notes)
    assert any("few occupations have causality_subject_f (5)" in note for note in found.notes)


def test_planted_effects_are_found_whole_within_sets_and_shrunk_in_the_papers_form(coin: Cell) -> None:
    """As in WinoMT, half of the sets have no "they", and a cue is in some sets and not in others."""
    planted = {"ambiguity": 0.3, "pronoun_object_m": 0.2, "subject_f": 0.2}
    names = ["ambiguity", "pronoun", "subject"]
    found: dict[str, list[list[float]]] = {"within": [], "difference": []}
    for seed in range(40):
        chance = random.Random(seed)
        level = {contrast: chance.uniform(0, 2) for contrast in contrasts()}
        without = set(contrasts()[::2])

        def entropy(design: Mapping[str, float], contrast: str) -> float | None:
            if design["ambiguity"] and contrast in without:  # noqa: B023 (called in this turn of the loop only)
                return None
            effects = sum(weight * design[name] for name, weight in planted.items())
            return 1 + level[contrast] + effects + chance.gauss(0, 0.02)  # noqa: B023

        cell = with_entropies(coin, entropy)
        pairs = [j for j in cell.result.judgements if j.measures]
        cell = replace(cell, result=replace(cell.result, judgements=pairs))
        for form, values in found.items():
            model = model_cues([cell], Question("gender", form, factors=names))
            values.append([model.coefficient(name).value for name in planted])
    within, shrunk = (
        [fmean(column) / truth for column, truth in zip(zip(*found[form], strict=True), planted.values(), strict=True)]
        for form in ("within", "difference")
    )
    assert within == pytest.approx([1, 1, 1], abs=0.05)
    assert max(shrunk) < 0.8


def test_what_is_left_of_an_effect_in_official_sentences(mirror: Path) -> None:
    """One cue at a time moves entropy by 1, and nothing else does: whatever a form makes of that is its own doing."""
    items = WINOMT.load(api.select("winomt", "es", data="official")[1]).items
    sets: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        sets.setdefault(item.contrast, []).append(place)
    kept = [place for members in sets.values() if len(members) > 1 for place in members]
    of_set, entities = ([getattr(items[place], name) for place in kept] for name in ("contrast", "entity"))
    designs = [design_columns(cues) for cues in annotate([items[place] for place in kept], "es")]
    factors = ("recency", "causality", "subject", "pronoun", "ambiguity")
    fitted = [name for name in _FITTED if any(name in FACTORS[factor] for factor in factors)]
    columns = {name: np.array([design[name] for design in designs]) for name in fitted}
    number = {name: n for n, name in enumerate(dict.fromkeys(of_set))}
    set_of = np.array([number[name] for name in of_set])
    found: dict[str, float] = {}
    for name, response in columns.items():
        within = linear_model(response, columns, entities, levels=of_set)
        if name in within.dropped:
            continue
        assert within[name].value == pytest.approx(1)
        mean = np.bincount(set_of, response) / np.bincount(set_of)
        found[name] = linear_model(response - mean[set_of], columns, entities)[name].value
    assert found.pop("pronoun_subject_f") == pytest.approx(1)
    assert len(found) == 10
    assert 0.5 < min(found.values()) < 0.51
    assert max(found.values()) == found["ambiguity"] == pytest.approx(0.785, abs=0.005)


def test_what_all_versions_share_cannot_move_a_normalised_entropy(coin: Cell) -> None:
    weights = {"stereotype_subject_f": 1.0, "stereotype_object_f": 1.0, "ambiguity": 0.5}
    cell = with_entropies(coin, lambda design, _: 1 + sum(w * design[name] for name, w in weights.items()))
    for form in ("within", "ratio", "difference"):
        found = model_cues([cell], Question("gender", form))
        assert found.left_out["stereotype_subject_f"] == "the same in all versions"
        assert any("--form plain shows it" in note for note in found.notes)
        if form == "ratio":  # 0.5 of a larger mean is less
            continue
        effects = {c.name: c.value for c in found.model.coefficients if c.name != "intercept"}
        assert effects == pytest.approx(dict.fromkeys(effects, 0.0) | {"ambiguity": 0.5}, abs=1e-9)
    plain = model_cues([cell], Question("gender", "plain"))
    assert plain.coefficient("stereotype_subject_f").value == pytest.approx(1)


def test_every_cue_has_its_place_or_a_reason(runs: Path) -> None:
    found = model_cues([read_cell(runs / "right")], Question("gender"))
    rows = {row[3]: row for row in found.rows()}
    assert tuple(rows) == COLUMNS
    assert rows["names"][-1] == "in no sentence"
    assert rows["pronoun_subject_m"][-1].startswith("follows from ambiguity, pronoun_subject_f")
    for row in rows.values():
        assert (row[4] is None) == bool(row[-1])
    assert all(t.p_holm is None or t.p_holm >= t.p_value for t in found.model.factors)
    assert all(c.p_holm is None or c.p_holm >= c.p_value for c in found.model.coefficients)
    assert found.model.n_clusters == 24


def test_one_factor_alone_is_a_difference_of_means(runs: Path) -> None:
    result = read_cell(runs / "random").result
    alone = model_cues([read_cell(runs / "random")], Question("gender", "plain", factors=["ambiguity"]))
    told, left_open = (result.estimate("h_gender", part).value for part in ("unambiguous", "ambiguous"))
    assert alone.coefficient("ambiguity").value == pytest.approx(left_open - told)
    assert alone.left_out["recency_f"] == "not asked for"
    assert [row[3] for row in alone.rows()] == ["ambiguity"]
    assert [factor.name for factor in alone.model.factors] == ["ambiguity"]


def test_sentences_about_one_occupation_may_go_together(coin: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sets of one occupation that are always alike are one piece of evidence, not two."""
    pair_of = {contrast: number // 2 for number, contrast in enumerate(contrasts())}
    cell = with_entropies(coin, lambda design, contrast: design["ambiguity"] * (1 + pair_of[contrast] % 5))
    nouns = {j.item_id: j.entity for j in cell.result.judgements}
    cell = of_other_data(cell, "core", lambda j: {"entity": str(pair_of[j.contrast])})

    def annotated(items: Sequence[Any], language: str) -> Any:
        return annotate([replace(item, entity=nouns[item.item_id]) for item in items], language)

    monkeypatch.setattr("gendermark.lab.cues.annotate", annotated)
    by_set, by_entity = (
        model_cues([cell], Question("gender", "plain", factors=["ambiguity"], cluster=cluster))
        for cluster in ("contrast", "entity")
    )
    assert (by_set.model.n_clusters, by_entity.model.n_clusters) == (24, 12)
    ratio = by_entity.coefficient("ambiguity").standard_error / by_set.coefficient("ambiguity").standard_error
    assert ratio == pytest.approx(math.sqrt(2), rel=0.05)
    assert "12 occupations are few" in by_entity.notes[-1]
    assert "24 contrast sets are few" in by_set.notes[-1]
    assert Question().cluster == "entity"


def test_sets_with_nothing_to_compare_are_left_out_and_counted(coin: Cell) -> None:
    cell = with_entropies(coin, lambda design, contrast: 0.0 if contrast < "8" else 1 + design["ambiguity"])
    n_zero = sum(s.item.contrast < "8" for s in drawn_sentences(coin))
    assert 0 < n_zero < 72
    found = model_cues([cell], Question("gender", "ratio"))
    assert found.model.n == 72 - n_zero
    assert any(f"{n_zero} of 72 sentences are left out" in note for note in found.notes)
    assert any("--form ratio is the paper's and shrinks effects" in note for note in found.notes)
    difference = model_cues([cell], Question("gender", factors=["ambiguity", "pronoun"])).model
    assert (difference.n, difference.n_levels) == (72, 24)
    # In no set do he and she differ: that is exact, and rounding must not make a test of it.
    assert (difference["pronoun_subject_f"].standard_error, difference["pronoun_subject_f"].p_value) == (0.0, None)
    assert (difference["ambiguity"].p_value or 1) < 0.05
    assert all(math.isfinite(c.low) and math.isfinite(c.high) for c in difference.coefficients)
    # With the open versions alone there is nothing to compare them with.
    two = with_entropies(coin, lambda design, _: None if not design["ambiguity"] else 1.0)
    with pytest.raises(UserError, match="there is one version of each sentence"):
        model_cues([two], Question("gender"))


def test_names_show_beside_the_same_sentences_without(
    study: Callable[..., Outcome], runs: Path, tmp_path: Path
) -> None:
    api.run("fake:right?p=0.7", [replace(selected(), variant="names")], directory=tmp_path / "names")
    alone = model_cues([read_cell(tmp_path / "names")], Question("gender"))
    assert alone.model.dropped["names"] == "follows from ambiguity"  # who is told has a name
    (both,) = study("cues", runs / "right", tmp_path / "names", "--measure", "gender", "--json").json["models"]
    assert (both["n"], both["n_clusters"]) == (144, 24)
    assert "names" in {coefficient["name"] for coefficient in both["coefficients"]}
    assert not any("measured alike" in note for note in both["notes"])
    weights = {"names": 0.3, "ambiguity": 0.2}
    planted = [
        with_entropies(read_cell(run), lambda design, _: 1 + sum(w * design[name] for name, w in weights.items()))
        for run in (runs / "right", tmp_path / "names")
    ]
    effects = {c.name: c.value for c in model_cues(planted, Question("gender")).model.coefficients}
    assert effects == pytest.approx(dict.fromkeys(effects, 0.0) | weights, abs=1e-9)
    twice = study("cues", runs / "right", runs / "right")
    assert twice.exit_code == 2
    assert "are both of fake:right?p=0.7 and the same sentences; give one" in twice.err


def test_runs_that_go_into_one_model_should_be_measured_alike(coin: Cell) -> None:
    result = coin.result
    other = replace(coin, result=replace(result, selection=replace(result.selection, variant="names", n_samples=99)))
    assert (
        "the runs were not measured alike: they differ in n_samples"
        in model_cues([coin, other], Question("gender")).notes
    )


def test_sentences_about_nobody(coin: Cell) -> None:
    """mGeNTE's: there is no noun whose gender could be read, and no cue."""
    nobody = of_other_data(coin, "mgente:file.tsv", lambda _: {"entity": ""})
    with pytest.raises(UserError, match="sentences without a person to speak of"):
        model_cues([nobody])
    found = look_at(nobody, contrast=contrasts()[0])
    assert {said.gender for version in found.versions for said in version.translations} == {None}


def test_the_table_of_the_paper_and_the_picture(study: Callable[..., Outcome], runs: Path, tmp_path: Path) -> None:
    picture = tmp_path / "cues.svg"
    both = (runs / "right", runs / "random")
    outcome = study("cues", *both, "--measure", "gender", "--table7", "--plot", picture)
    assert list(outcome.rows[0]) == ["language", "system", *COLUMNS]
    assert [row["system"] for row in outcome.rows] == ["fake:right?p=0.7", "fake:random"]
    models = [model_cues([read_cell(run)], Question("gender")) for run in both]
    assert float(outcome.rows[1]["ambiguity"]) == models[1].coefficient("ambiguity").value
    assert outcome.rows[0]["names"] == ""
    assert cue_table_as_published(models).rows[0][2] is None
    circles = ElementTree.fromstring(picture.read_text(encoding="utf-8")).findall("{http://www.w3.org/2000/svg}circle")
    n_coefficients = sum(c.name != "intercept" for model in models for c in model.model.coefficients)
    assert len(circles) == n_coefficients + 2  # and the legend
    assert cue_plot(models) == picture.read_text(encoding="utf-8")


def test_json_of_cues(study: Callable[..., Outcome], runs: Path) -> None:
    (model,) = study("cues", runs / "right", "--json").json["models"]
    assert (model["form"], model["cluster"], model["errors"]) == ("within", "entity", "cluster")
    assert (model["n_levels"], model["n_clusters"]) == (24, 24)
    assert {"name", "value", "standard_error", "t", "p_value", "p_holm", "low", "high"} == set(model["coefficients"][0])
    assert model["left_out"]["names"] == "in no sentence"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("right", "--measure", "heat"), "unknown measure 'heat'"),
        (("right", "--form", "sum"), "unknown form 'sum'"),
        (("right", "--factor", "luck"), "unknown factor 'luck'"),
        (("right", "--cluster", "role"), "unknown cluster 'role'"),
        (("right", "--measure", "semantic"), "has no semantic entropy; run it with --entailment MODEL"),
        (("right", "--confidence", "2"), "--confidence is a share"),
        (("right", "--to", "de"), "has no uncertainty results into 'de'; available: en-es"),
        (("masculine", "--measure", "gender"), "the system is sure of everything"),
    ],
)
def test_refusals_of_cues(study: Callable[..., Outcome], runs: Path, arguments: tuple[str, ...], words: str) -> None:
    outcome = study("cues", runs / arguments[0], *arguments[1:])
    assert (outcome.exit_code, outcome.out) == (2, "")
    assert words in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_normalised_entropy_is_against_the_contrast_set() -> None:
    he_she_they = [0.75, 1.64, 0.74]
    mean = sum(he_she_they) / 3
    assert normalised_entropy(1.64, he_she_they, "ratio") == pytest.approx(1.64 / mean)
    assert normalised_entropy(1.64, he_she_they, "difference") == pytest.approx(1.64 - mean)
    assert normalised_entropy(0.0, [0.0, 0.0], "ratio") is None
    assert normalised_entropy(0.0, [0.0, 0.0], "difference") == 0
    assert normalised_entropy(1.0, [1.0, None], "ratio") is None
    assert normalised_entropy(None, [1.0], "ratio") is None
    assert normalised_entropy(1.0, [], "ratio") is None


@drawn(st.lists(st.floats(0, 10), min_size=1, max_size=6))
@settings(derandomize=True, max_examples=60, database=None)
def test_normalised_entropies_of_a_set_average_to_one_or_zero(entropies: list[float]) -> None:
    differences = [normalised_entropy(entropy, entropies, "difference") for entropy in entropies]
    assert sum(value for value in differences if value is not None) == pytest.approx(0, abs=1e-9)
    ratios = [normalised_entropy(entropy, entropies, "ratio") for entropy in entropies]
    if max(entropies) > 1e-6:
        assert sum(value for value in ratios if value is not None) / len(ratios) == pytest.approx(1)
