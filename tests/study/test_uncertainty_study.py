"""The uncertainty paper's analyses on systems and results whose answer is known."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sacrebleu

import gendermark
from gendermark import api, registry
from gendermark.benchmarks.benchmark import Selection
from gendermark.benchmarks.uncertainty.benchmark import BENCHMARK
from gendermark.benchmarks.uncertainty.items import references
from gendermark.cli import app as command_line
from gendermark.errors import BadFile, SystemFailure, UnknownName, UserError
from gendermark.linguistics.cues import COLUMNS, annotate, design_columns
from gendermark.metrics.metric import Resampling
from gendermark.records import Estimate, Gender, Judgement, Request, Task, Test, Translation, Verdict
from gendermark.result import Result
from gendermark.runs import folder, score
from gendermark.study.dots import Dot, dot_plot
from gendermark.study.uncertainty import Cell, correlate, drawn_sentences, look_at, uncertainty_cell, uncertainty_cells
from gendermark.study.uncertainty_cues import cue_plot, cue_table_as_published, model_cues
from gendermark.study.uncertainty_quality import bin_by_quality
from gendermark.study.uncertainty_systems import compare_targets, vary_sampling
from gendermark.systems.fakes import Fake
from gendermark.systems.sampling import Decoding
from gendermark.systems.system import System

SYSTEMS = ("coin", "random", "masculine", "stereotyped?s=0.5", "right?p=0.7")
N = 16


def selected(to: str = "es") -> Selection:
    """The 24 sentences with references, with he, she and they."""
    return api.select("uncertainty", to, data="core", parts=("referenced",), n_samples=N)[1]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder for each fake, named after it, with WinoMT beside uncertainty. Not to be written to."""
    base = tmp_path_factory.mktemp("runs")
    winomt = api.select("winomt", "es", data="core", parts=("pro", "anti"))[1]
    for name in SYSTEMS:
        api.run(f"fake:{name}", [selected(), winomt], directory=base / name.partition("?")[0])
    return base


@pytest.fixture(scope="module")
def coin(runs: Path) -> Cell:
    return uncertainty_cell(runs / "coin")


def written(directory: Path, samples: Callable[[Any], Sequence[str]], to: str = "es") -> Cell:
    """A run folder with these samples of each item."""
    selection = selected(to)
    item_set = BENCHMARK.load(selection)
    answers = [
        [Translation(request.request_id, text, number) for number, text in enumerate(samples(item))]
        for item, request in zip(item_set.items, BENCHMARK.requests(item_set), strict=True)
    ]
    result = score.score(BENCHMARK, item_set, answers, "by hand", Resampling(100))
    folder.write_cell(directory, item_set, answers, result, draws=True)
    folder.write_manifest(directory, {}, "finished", {result.cell: {}})
    return uncertainty_cell(directory)


# -- the command line


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))

    @property
    def rows(self) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.out), delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture
def study(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    def call(*arguments: str | Path) -> Outcome:
        capsys.readouterr()
        code = command_line._exit_code(["study", *map(str, arguments)])
        return Outcome(code, *capsys.readouterr())

    return call


@pytest.mark.usefixtures("_toys")
def test_every_command_pipes_one_table_and_has_json(study: Callable[..., Outcome], runs: Path) -> None:
    sentence = drawn_sentences(uncertainty_cell(runs / "coin"))[0].item.source
    commands: dict[str, tuple[str | Path, ...]] = {
        "correlate": [runs / name.partition("?")[0] for name in SYSTEMS],
        "cues": (runs / "right",),
        "quality": (runs / "right",),
        "samples": (runs / "coin", "--source", sentence),
        "determiners": ("she", "they", "--system", "toy:x", "--to", "es", "--targets", "El a", "La a"),
        "sampling": ("--system", "fake:coin", "--to", "es", "--epsilon", "0.1,0.2", "--alpha", "4", "--n-samples", "4"),
    }
    for name, arguments in commands.items():
        piped, as_json = study(name, *arguments), study(name, *arguments, "--json")
        assert (piped.code, as_json.code) == (0, 0), piped.err + as_json.err
        rows = piped.rows
        assert rows, name
        assert all(None not in row and None not in row.values() for row in rows), name
        assert isinstance(as_json.json, dict)


def test_a_terminal_gets_all_tables(study: Callable[..., Outcome], runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gendermark.cli.terminal.is_terminal", lambda _: True)
    out = study("cues", runs / "right").out
    assert "Does the factor matter at all?" in out
    assert "Entropy (s3e, ratio) by cue" in out


# -- correlate

# Table 14 (surprisal, S3E, of correct and incorrect) and Table 12 (accuracy "unamb"), Opus, deb, m2m, Tower.
PUBLISHED: Mapping[str, Sequence[tuple[float, float, float]]] = {
    "es": ((7.83, 8.88, 67.95), (8.08, 9.16, 68.13), (23.61, 26.03, 70.77), (15.25, 19.80, 86.91)),
    "fr": ((9.18, 9.89, 64.27), (9.18, 9.85, 64.79), (186.42, 194.52, 61.66), (15.62, 19.79, 75.77)),
    "uk": ((147.6, 152.15, 45.34), (150.52, 153.76, 46.12), (204.72, 211.9, 47.76), (16.84, 18.81, 57.58)),
    "ru": ((32.14, 33.15, 48.57), (32.31, 33.27, 48.42), (218.11, 219.06, 48.49), (27.34, 29.75, 51.44)),
}


def scored(system: str, to: str, scores: Mapping[str, float], benchmark: str = "uncertainty", **fields: Any) -> Result:
    estimates = tuple(
        Estimate(*(name.split(":") if ":" in name else (name, "all")), value, None, None, 1, 1, 1)
        for name, value in scores.items()
    )
    return Result(Selection(benchmark, "en", to, **fields), "", system, estimates, [])


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Result]]:
    """Results by name of run folder, to be filled in."""
    results: dict[str, list[Result]] = {}
    monkeypatch.setattr(folder, "read_results", lambda directory: results[str(directory)])
    return results


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
    assert (by_slice["all"]["spearman"].p_value or 1) < 0.001
    # Of four systems in one language, 4! = 24 orders: no ranking can be surer than 2 of them.
    assert by_slice["uk"]["spearman"].p_value >= 2 / 24


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
                {"contrast": f"{number}"},
                (),
                {"h_gender": number, "h_s3e@2": number % 3, "h_s3e@8": number % 3, f"h_s3e@{alpha}": number},
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
        assert (outcome.code, outcome.out) == (2, "")
        assert words in outcome.err
        assert len(outcome.err.splitlines()) == 1


# -- cues


def with_entropies(cell: Cell, entropy: Callable[[Mapping[str, float], str], float | None]) -> Cell:
    """The same run, with a gender entropy that depends on the design columns and the contrast set."""
    sentences = drawn_sentences(cell)
    designs = [design_columns(cues) for cues in annotate([s.item for s in sentences], "es")]
    judgements = []
    for sentence, design in zip(sentences, designs, strict=True):
        value = entropy(design, sentence.item.tags["contrast"])
        judgements.append(replace(sentence.judgement, measures={} if value is None else {"h_gender": value}))
    return replace(cell, result=replace(cell.result, judgements=judgements))


def test_a_linear_entropy_is_recovered_exactly(coin: Cell) -> None:
    weights = {"ambiguity": 0.3, "pronoun_subject_f": -0.1, "stereotype_subject_f": 0.2, "subject_m": 0.05}
    cell = with_entropies(coin, lambda design, _: 1 + sum(w * design[name] for name, w in weights.items()))
    found = model_cues([cell], "gender", "plain")
    assert found.model.r_squared == pytest.approx(1)
    assert {c.name: pytest.approx(c.value, abs=1e-9) for c in found.model.coefficients} == {
        c.name: 1.0 if c.name == "intercept" else weights.get(c.name, 0.0) for c in found.model.coefficients
    }
    assert set(weights) <= {c.name for c in found.model.coefficients}


def test_a_ratio_of_three_where_only_the_open_version_is_unsure(coin: Cell) -> None:
    cell = with_entropies(coin, lambda design, contrast: design["ambiguity"] * (1 + int(contrast[:2], 16)))
    found = model_cues([cell], "gender")
    assert found.coefficient("ambiguity").value == pytest.approx(3)
    assert found.coefficient("pronoun_object_f").value == pytest.approx(0, abs=1e-9)
    assert found.coefficient("ambiguity").t is None  # a perfect fit has no error to divide by
    assert any("24 occupations are few" in note for note in found.notes)


def test_what_all_versions_share_cannot_move_a_normalised_entropy(coin: Cell) -> None:
    cell = with_entropies(coin, lambda design, _: 1 + design["stereotype_subject_f"] + design["stereotype_object_f"])
    for form in ("ratio", "difference"):
        found = model_cues([cell], "gender", form)
        assert "the same in all versions" in found.left_out["stereotype_subject_f"]
        assert all(abs(c.value) < 1e-9 for c in found.model.coefficients if c.name != "intercept")
    plain = model_cues([cell], "gender", "plain")
    assert plain.coefficient("stereotype_subject_f").value == pytest.approx(1)
    # One level for each set takes away whatever is the same in it.
    fixed = model_cues([cell], "gender", "plain", "fixed").model
    assert fixed.dropped["stereotype_subject_f"] == "does not vary within any contrast set"


def test_every_cue_has_its_place_or_a_reason(runs: Path) -> None:
    found = model_cues([uncertainty_cell(runs / "right")], "gender")
    rows = {row[3]: row for row in found.rows()}
    assert tuple(rows) == COLUMNS
    assert rows["names"][-1] == "in no sentence"
    assert rows["pronoun_subject_m"][-1].startswith("follows from intercept")
    for row in rows.values():
        assert (row[4] is None) == bool(row[-1])
    assert all(t.p_holm is None or t.p_holm >= t.p_value for t in found.model.factors)
    assert all(c.p_holm is None or c.p_holm >= c.p_value for c in found.model.coefficients)
    assert found.model.n_clusters == 24


def test_one_factor_alone_is_a_difference_of_means(runs: Path) -> None:
    result = uncertainty_cell(runs / "random").result
    alone = model_cues([uncertainty_cell(runs / "random")], "gender", "plain", factors=["ambiguity"])
    told, left_open = (result.estimate("h_gender", part).value for part in ("unambiguous", "ambiguous"))
    assert alone.coefficient("ambiguity").value == pytest.approx(left_open - told)
    assert alone.left_out["recency_f"] == "not asked for"
    assert [row[3] for row in alone.rows()] == ["ambiguity"]
    assert [factor.name for factor in alone.model.factors] == ["ambiguity"]


def test_sentences_about_one_occupation_may_go_together(coin: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sets of one occupation that are always alike are one piece of evidence, not two."""
    pair_of = {contrast: number // 2 for number, contrast in enumerate(contrasts())}
    cell = with_entropies(coin, lambda design, contrast: design["ambiguity"] * (1 + pair_of[contrast] % 5))
    cell = tagged(cell, "core", lambda j: {"noun": j.tags["entity"], "entity": str(pair_of[j.tags["contrast"]])})

    def annotated(items: Sequence[Any], language: str) -> Any:
        return annotate([replace(item, tags={**item.tags, "entity": item.tags["noun"]}) for item in items], language)

    monkeypatch.setattr("gendermark.study.uncertainty_cues.annotate", annotated)
    by_set, by_entity = (
        model_cues([cell], "gender", "plain", factors=["ambiguity"], cluster=cluster) for cluster in ("contrast", "")
    )
    assert (by_set.model.n_clusters, by_entity.model.n_clusters) == (24, 12)
    ratio = by_entity.coefficient("ambiguity").standard_error / by_set.coefficient("ambiguity").standard_error
    assert ratio == pytest.approx(math.sqrt(2), rel=0.05)
    assert "12 occupations are few" in by_entity.notes[-1]
    assert "24 contrast sets are few" in by_set.notes[-1]
    assert (by_entity.cluster, model_cues([cell], "gender", effects="fixed").cluster) == ("entity", "contrast")


def test_sets_with_nothing_to_compare_are_left_out_and_counted(coin: Cell) -> None:
    cell = with_entropies(coin, lambda design, contrast: 0.0 if contrast < "8" else 1 + design["ambiguity"])
    n_zero = sum(s.item.tags["contrast"] < "8" for s in drawn_sentences(coin))
    assert 0 < n_zero < 72
    found = model_cues([cell], "gender")
    assert found.model.n == 72 - n_zero
    assert any(f"{n_zero} of 72 sentences are left out" in note for note in found.notes)
    difference = model_cues([cell], "gender", "difference").model
    assert difference.n == 72
    # In no set do he and she differ: that is exact, and rounding must not make a test of it.
    assert (difference["pronoun_subject_f"].standard_error, difference["pronoun_subject_f"].p_value) == (0.0, None)
    assert (difference["ambiguity"].p_value or 1) < 0.001
    assert all(math.isfinite(c.low) and math.isfinite(c.high) for c in difference.coefficients)
    # Without the open versions: he and she are compared with each other.
    two = with_entropies(coin, lambda design, _: None if design["ambiguity"] else 1.0)
    with pytest.raises(UserError, match="other versions are missing"):
        model_cues([two], "gender")


def test_names_show_beside_the_same_sentences_without(
    study: Callable[..., Outcome], runs: Path, tmp_path: Path
) -> None:
    api.run("fake:right?p=0.7", [replace(selected(), variant="names")], directory=tmp_path / "names")
    alone = model_cues([uncertainty_cell(tmp_path / "names")], "gender")
    assert alone.model.dropped["names"] == "follows from intercept, ambiguity"  # who is told has a name
    (both,) = study("cues", runs / "right", tmp_path / "names", "--measure", "gender", "--json").json["models"]
    assert (both["n"], both["n_clusters"]) == (144, 24)
    assert "names" in {coefficient["name"] for coefficient in both["coefficients"]}
    assert not any("measured alike" in note for note in both["notes"])
    twice = study("cues", runs / "right", runs / "right")
    assert twice.code == 2
    assert "are both of fake:right?p=0.7 and the same sentences; give one" in twice.err


def test_runs_that_go_into_one_model_should_be_measured_alike(coin: Cell) -> None:
    result = coin.result
    other = replace(coin, result=replace(result, selection=replace(result.selection, variant="names", n_samples=99)))
    assert "the runs were not measured alike: they differ in n_samples" in model_cues([coin, other], "gender").notes


def tagged(cell: Cell, data: str, tags: Callable[[Any], Mapping[str, str]]) -> Cell:
    """The same run, as if of other data, with more tags on each sentence."""
    judgements = [replace(j, tags={**j.tags, **tags(j)}) for j in cell.result.judgements]
    selection = replace(cell.result.selection, data=data)
    return replace(cell, result=replace(cell.result, selection=selection, judgements=judgements))


def test_sentences_about_nobody(coin: Cell) -> None:
    """mGeNTE's: there is no noun whose gender could be read, and no cue."""
    nobody = tagged(coin, "mgente:file.tsv", lambda _: {"entity": ""})
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
    models = [model_cues([uncertainty_cell(run)], "gender") for run in both]
    assert float(outcome.rows[1]["ambiguity"]) == models[1].coefficient("ambiguity").value
    assert outcome.rows[0]["names"] == ""
    assert cue_table_as_published(models).rows[0][2] is None
    circles = ElementTree.fromstring(picture.read_text(encoding="utf-8")).findall("{http://www.w3.org/2000/svg}circle")
    n_coefficients = sum(c.name != "intercept" for model in models for c in model.model.coefficients)
    assert len(circles) == n_coefficients + 2  # and the legend
    assert cue_plot(models) == picture.read_text(encoding="utf-8")


def test_json_of_cues(study: Callable[..., Outcome], runs: Path) -> None:
    (model,) = study("cues", runs / "right", "--form", "difference", "--effects", "fixed", "--json").json["models"]
    assert (model["form"], model["effects"], model["errors"], model["n_clusters"]) == (
        "difference",
        "fixed",
        "cluster",
        24,
    )
    assert {"name", "value", "standard_error", "t", "p_value", "p_holm", "low", "high"} == set(model["coefficients"][0])
    assert model["left_out"]["names"] == "in no sentence"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("right", "--measure", "heat"), "unknown measure 'heat'"),
        (("right", "--form", "sum"), "unknown form 'sum'"),
        (("right", "--factor", "luck"), "unknown factor 'luck'"),
        (("right", "--cluster", "role"), "unknown cluster 'role'"),
        (("right", "--effects", "random"), "unknown kind of effects 'random'"),
        (("right", "--measure", "semantic"), "has no semantic entropy; run it with --entailment MODEL"),
        (("right", "--confidence", "2"), "--confidence is a share"),
        (("right", "--to", "de"), "has no uncertainty results into 'de'; there is: en-es"),
        (("masculine", "--measure", "gender"), "the system is sure of everything"),
    ],
)
def test_refusals_of_cues(study: Callable[..., Outcome], runs: Path, arguments: tuple[str, ...], words: str) -> None:
    outcome = study("cues", runs / arguments[0], *arguments[1:])
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_nothing_translated_has_no_entropy(tmp_path: Path) -> None:
    cell = written(tmp_path / "run", lambda _: [""] * 2)
    for measure in ("s3e", "semantic"):
        with pytest.raises(UserError, match=f"no {measure} entropy: nothing that could be read"):
            model_cues([cell], measure)


def test_several_languages_need_a_choice(coin: Cell, given: dict[str, list[Result]]) -> None:
    given["run"] = [coin.result, scored("x", "de", {})]
    with pytest.raises(UserError, match="results for en-es, en-de; choose a language with --to"):
        uncertainty_cell("run")
    assert uncertainty_cell("run", "de").direction == "en-de"
    assert len(uncertainty_cells("run")) == 2


# -- quality


def reference(item: Any, gender: Gender) -> str:
    pair = references("es")[item.tags["contrast"], str(item.expected)]
    return pair[gender is Gender.FEMININE]


def test_quality_is_the_expected_chrf_of_a_sample_against_the_right_reference(tmp_path: Path) -> None:
    def samples(item: Any) -> list[str]:
        return [reference(item, Gender.FEMININE)] * 3 + ["Una frase que no tiene nada que ver."]

    found = bin_by_quality(written(tmp_path / "run", samples), n_bins=1)
    items = BENCHMARK.load(selected()).items
    wanted = []
    for item in items:
        right = [reference(item, gender) for gender in Gender if gender is not Gender.NEUTRAL]
        if item.expected is not Gender.NEUTRAL:
            right = [reference(item, item.expected)]
        scores = [max(sacrebleu.sentence_chrf(text, [one]).score for one in right) for text in samples(item)]
        wanted.append(sum(scores) / 4)
    whole = found.bins[-1]
    assert (whole.name, whole.unambiguous.n, whole.ambiguous.n) == ("all", 48, 24)
    assert whole.lowest == pytest.approx(min(wanted))
    assert whole.highest == pytest.approx(max(wanted))
    assert found.bins[0].highest == whole.highest
    assert found.n_without == 0


def test_references_of_ones_own_count_as_the_bundled_ones(tmp_path: Path) -> None:
    cell = written(tmp_path / "run", lambda item: [reference(item, Gender.FEMININE), "Nada."])
    pairs = {(j.tags["contrast"], j.expected): reference(j, Gender.MASCULINE) for j in cell.result.judgements}
    own = tagged(
        cell,
        "file:own.tsv",
        lambda j: {
            "reference_masculine": pairs[j.tags["contrast"], j.expected],
            "reference_feminine": reference(j, Gender.FEMININE),
        },
    )
    assert bin_by_quality(own).bins == bin_by_quality(cell).bins


def test_a_neutral_translation_is_right_where_the_gender_is_open(tmp_path: Path) -> None:
    cell = written(tmp_path / "run", lambda _: ["La persona durmió."] * 2)
    tags = {"reference_gendered": "El guardia durmió.", "reference_neutral": "La persona durmió."}
    found = bin_by_quality(tagged(cell, "mgente:file.tsv", lambda _: tags), "string", n_bins=2)
    assert [(part.unambiguous.n, part.ambiguous.n) for part in found.bins] == [(48, 0), (0, 24), (48, 24)]
    assert found.bins[1].lowest == pytest.approx(100)
    assert found.bins[0].highest == pytest.approx(
        sacrebleu.sentence_chrf("La persona durmió.", ["El guardia durmió."]).score
    )


@cache
def contrasts() -> list[str]:
    return sorted({item.tags["contrast"] for item in BENCHMARK.load(selected()).items})


def by_quality(item: Any) -> list[str]:
    """A third of the sets: unsure where it is open, word by word; a third: sure; a third: unsure where it is told."""
    third = contrasts().index(item.tags["contrast"])
    both = [reference(item, Gender.MASCULINE), reference(item, Gender.FEMININE)]
    right = reference(item, item.expected if item.expected is not Gender.NEUTRAL else Gender.MASCULINE)
    if third < 8:
        return both * 2 if item.expected is Gender.NEUTRAL else [right] * 4
    if third < 16:
        return [" ".join(right.split()[:-3])] * 4
    return [right.split()[1]] * 4 if item.expected is Gender.NEUTRAL else [right.split()[0], right.split()[1]] * 2


def test_bins_of_quality(tmp_path: Path) -> None:
    found = bin_by_quality(written(tmp_path / "run", by_quality), "string", resampling=Resampling(200))
    worst, middle, best, whole = found.bins
    assert [part.name for part in found.bins] == ["B1", "B2", "B3", "all"]
    assert [part.unambiguous.n + part.ambiguous.n for part in found.bins] == [24, 24, 24, 72]
    assert worst.highest < middle.lowest <= middle.highest < best.lowest == best.highest == pytest.approx(100)
    half = math.log(2)
    assert worst.unambiguous.value == pytest.approx(half)
    assert (worst.ambiguous.value, middle.unambiguous.value, best.unambiguous.value) == (0, 0, 0)
    assert best.ambiguous.value == pytest.approx(half)
    assert (worst.gap.value, best.gap.value) == (pytest.approx(half), pytest.approx(-half))
    assert whole.gap.value == pytest.approx(0)
    assert whole.gap.low < 0 < whole.gap.high
    assert worst.delta == pytest.approx(1)
    assert best.delta is None  # nothing to divide by
    # All eight sets of a bin agree: resampling cannot tell how sure that is.
    assert best.gap.low is None
    assert "quantiles of all sentences together" in found.notes[0]


def test_bins_of_each_kind_by_itself(tmp_path: Path) -> None:
    """Where the open sentences are the better ones, common bins have few of them at the bottom."""

    def samples(item: Any) -> list[str]:
        return by_quality(item) if item.expected is Gender.NEUTRAL else ["No es verdad.", "Eso no es verdad."]

    cell = written(tmp_path / "run", samples)
    together, apart = bin_by_quality(cell, "string"), bin_by_quality(cell, "string", separately=True)
    assert together.bins[0].ambiguous.n < 8
    assert [(part.unambiguous.n, part.ambiguous.n) for part in apart.bins[:3]] == [(16, 8)] * 3
    assert "each by itself" in apart.notes[0]


def test_equal_qualities_are_never_parted(tmp_path: Path) -> None:
    cell = written(tmp_path / "run", lambda _: ["xx"] * 2)
    found = bin_by_quality(cell, "string")
    assert [part.unambiguous.n for part in found.bins] == [48, 0, 0, 48]
    empty = found.bins[1]
    assert (empty.lowest, empty.unambiguous.value, empty.gap.value, empty.delta) == (None, None, None, None)
    assert found.plot().count("<circle") == 2 * 2 + 2


def test_quality_by_comet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "comet.py"
    program.write_text(
        "import sys\n"
        "lines = open(sys.argv[sys.argv.index('-t') + 1], encoding='utf-8').read().splitlines()\n"
        "for number, line in enumerate(lines):\n"
        "    print(f'x\\tSegment {number}\\tscore: {0.9 if line == \"good\" else 0.5}')\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("GENDERMARK_COMET", f"{sys.executable} {program}")
    cell = written(tmp_path / "run", lambda _: ["good", "bad", "bad", "bad"])
    found = bin_by_quality(cell, "string", "comet", n_bins=1)
    assert found.bins[0].lowest == found.bins[0].highest == pytest.approx(60)


def test_refusals_of_quality(study: Callable[..., Outcome], runs: Path, coin: Cell) -> None:
    outcome = study("quality", runs / "coin", "--quality", "bleu")
    assert outcome.code == 2
    assert "unknown quality 'bleu'" in outcome.err
    official = replace(coin, result=replace(coin.result, selection=replace(coin.result.selection, data="official")))
    with pytest.raises(UserError, match=r"no sentence of .* has a reference and a translation"):
        bin_by_quality(official)
    with pytest.raises(UserError, match="at least one bin"):
        bin_by_quality(coin, n_bins=0)
    with pytest.raises(UnknownName, match="unknown measure"):
        bin_by_quality(coin, "heat")


def test_a_picture_of_quality(study: Callable[..., Outcome], runs: Path, tmp_path: Path) -> None:
    outcome = study("quality", runs / "right", "--plot", tmp_path / "q.svg", "--separately")
    assert "picture written to" in outcome.err
    assert ElementTree.parse(tmp_path / "q.svg").getroot().tag.endswith("svg")
    assert [row["bin"] for row in outcome.rows] == ["B1", "B2", "B3", "all"]


# -- samples


def test_one_sentence_in_all_its_versions(coin: Cell) -> None:
    sentence = drawn_sentences(coin)[0].item
    found = look_at(coin, contrast=sentence.tags["contrast"])
    he, she, they = found.versions
    assert [version.gender for version in found.versions] == [Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL]
    assert [(said.count, said.gender) for said in he.translations] == [(N, Gender.MASCULINE)]
    assert [(said.count, said.gender) for said in she.translations] == [(N, Gender.FEMININE)]
    assert {said.gender for said in they.translations} == {Gender.MASCULINE, Gender.FEMININE}
    assert sum(said.share for said in they.translations) == pytest.approx(1)
    assert they.translations[0].count >= they.translations[1].count
    women = next(said.share for said in they.translations if said.gender is Gender.FEMININE)
    assert they.p_feminine == women
    entropy = -women * math.log(women) - (1 - women) * math.log(1 - women)
    assert they.entropies["gender"] == they.entropies["string"] == pytest.approx(entropy)
    assert he.entropies["s3e"] == 0
    assert found == look_at(coin, source=they.source.upper()) == look_at(coin, source=they.source[:-2])


def test_genders_are_read_as_the_run_read_them(runs: Path) -> None:
    cell = uncertainty_cell(runs / "random")
    for contrast in list(dict.fromkeys(j.tags["contrast"] for j in cell.result.judgements))[:3]:
        found = look_at(cell, contrast=contrast)
        members = {j.expected: j for j in cell.result.judgements if j.tags["contrast"] == contrast}
        for version in found.versions:
            shown = tuple(f"{s.count} x {s.text} ({s.gender or 'undecided'})" for s in version.translations)
            assert shown[:5] == members[version.gender].evidence


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "either --contrast ID or --source TEXT"),
        (("--contrast", "a", "--source", "b"), "either --contrast ID or --source TEXT"),
        (("--contrast", "nowhere"), "has no contrast set 'nowhere'"),
        (("--source", "zebra"), "has 'zebra' in it; see its samples.jsonl"),
        (("--source", "because"), "give a whole sentence, or --contrast"),
    ],
)
def test_refusals_of_samples(study: Callable[..., Outcome], runs: Path, arguments: tuple[str, ...], words: str) -> None:
    outcome = study("samples", runs / "coin", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_damaged_samples_are_named(runs: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(runs / "coin", tmp_path / "run"))
    path = run / "uncertainty.en-es" / "samples.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[1:]), encoding="utf-8")
    with pytest.raises(BadFile, match="has no samples of winomt-"):
        look_at(uncertainty_cell(run), contrast="x")
    path.write_text('{"id": "a", "source": "b", "samples": [1]}\n', encoding="utf-8")
    with pytest.raises(BadFile, match=r"line 1: does not hold a sentence with its samples; run it again"):
        look_at(uncertainty_cell(run), contrast="x")
    path.unlink()
    with pytest.raises(BadFile, match="there is no such file"):
        look_at(uncertainty_cell(run), contrast="x")


# -- systems that are asked


class Toy(System):
    """Gives "El" and "La" known probabilities after a source with she or they, and one half to every other word.

    Where the source has "it", both are equally probable.
    """

    tasks = frozenset({Task.SCORE})
    determiners: Mapping[str, Mapping[str, float]] = {
        "she": {"El": 0.3, "La": 0.6},
        "they": {"El": 0.8, "La": 0.2},
        "it": {"El": 0.4, "La": 0.4},
    }

    def __init__(self, argument: str) -> None:
        self.spec = self.system_id = f"toy:{argument}"
        self._argument = argument

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        yield [self._scored(request) for request in requests]

    def _scored(self, request: Request) -> Translation:
        if self._argument == "mute":
            return Translation(request.request_id, request.target, error="too long")
        known = next(table for word, table in self.determiners.items() if word in request.source.split())
        by_token = tuple(math.log(known.get(word, 0.5)) for word in [*(request.target or "").split(), "</s>"])
        return Translation(
            request.request_id,
            request.target,
            log_probability=sum(by_token),
            n_tokens=len(by_token),
            token_log_probabilities=None if self._argument == "wholes" else by_token,
        )


class Cut(Fake):
    """A coin where little is cut off, else always masculine."""

    def __init__(self) -> None:
        super().__init__("coin", {})
        self.spec = self.system_id = "cut:x"
        self._sure = Fake("masculine", {})

    def prepare(self, benchmark: Any, item_set: Any) -> None:
        super().prepare(benchmark, item_set)
        self._sure.prepare(benchmark, item_set)

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        is_cut = Decoding.of(requests[0].options).epsilon > 0.1
        yield from self._sure.answer(requests) if is_cut else super().answer(requests)


def open_toy(argument: str, options: Mapping[str, str]) -> System:
    return Toy(argument)


def open_cut(argument: str, options: Mapping[str, str]) -> System:
    return Cut()


@pytest.fixture
def _toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.BUILT_IN["system"], "toy", f"{__name__}:open_toy")
    monkeypatch.setitem(registry.BUILT_IN["system"], "cut", f"{__name__}:open_cut")


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


@pytest.mark.usefixtures("_toys")
def test_what_is_cut_off_looks_like_certainty() -> None:
    found = vary_sampling("cut:x", "es", [0.05, 0.2], ["4", "64", "tuned"], n_samples=N)
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
    (found,) = vary_sampling("fake:random", "es", [0.2], ["4"], n_samples=N).settings
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
        vary_sampling("fake:masculine", to, [0.2], ["16"])
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
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_no_setting_at_all() -> None:
    with pytest.raises(UserError, match="give at least one --epsilon and one --alpha"):
        vary_sampling("fake:coin", "es", [], ["4"])


# -- the picture


def test_dots_stand_where_their_values_are() -> None:
    drawn = dot_plot(
        "A & B", [("one", [Dot(0.5, 0.25, 1.0), None]), ("two", [Dot(-1.0, -1.0, -1.0), None])], ["s", "t"]
    )
    root = ElementTree.fromstring(drawn)
    space = "{http://www.w3.org/2000/svg}"
    assert root.find(f"{space}title").text == "A & B"
    dots = [float(c.get("cx")) for c in root.findall(f"{space}circle")][:2]
    ticks = {t.text: float(t.get("x")) for t in root.findall(f"{space}text") if t.get("text-anchor") == "middle"}
    assert dots == [pytest.approx(ticks["0.5"], abs=0.1), pytest.approx(ticks["-1"], abs=0.1)]


def test_a_picture_of_nothing_but_zeros() -> None:
    root = ElementTree.fromstring(dot_plot("Zero", [("one", [Dot(0.0, 0.0, 0.0)])], ["s"]))
    assert len(root.findall("{http://www.w3.org/2000/svg}circle")) == 2
