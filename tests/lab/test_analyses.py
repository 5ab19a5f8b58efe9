"""The smaller analyses of uncertainty runs: samples, determiners, sampling; and what all of them print."""

from __future__ import annotations

import math
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import gendermark
from gendermark.errors import BadFile, UserError
from gendermark.lab.samples import Settings, compare_targets, look_at, vary_sampling
from gendermark.lab.uncertainty_results import Cell, drawn_sentences, read_cell, read_cells
from gendermark.records import Gender
from gendermark.result import Result
from lab.conftest import Command
from lab.toys import SYSTEMS, N, contrasts, of_other_data, scored, selected
from made_runs import signed_again

# -- all of them -------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_toys")
def test_every_command_pipes_one_table_and_has_json(study: Command, runs: Path) -> None:
    sentence = drawn_sentences(read_cell(runs / "coin"))[0].item.source
    commands: dict[str, tuple[str | Path, ...]] = {
        "correlate": tuple(runs / name.partition("?")[0] for name in SYSTEMS),
        "cues": (runs / "right",),
        "quality": (runs / "right",),
        "samples": (runs / "coin", "--source", sentence),
        "determiners": ("she", "they", "--system", "toy:x", "--to", "es", "--targets", "El a", "La a"),
        "sampling": ("--system", "fake:coin", "--to", "es", "--epsilon", "0.1,0.2", "--alpha", "4", "--n-samples", "4"),
    }
    for name, arguments in commands.items():
        piped, as_json = (study("uncertainty", name, *arguments, *more) for more in ((), ("--json",)))
        assert (piped.exit_code, as_json.exit_code) == (0, 0), piped.err + as_json.err
        assert piped.rows, name
        assert isinstance(as_json.json, dict)


@pytest.mark.parametrize(
    ("command", "run", "missing"),
    [
        ("correlate", "coin random masculine right", "scipy.stats"),
        ("cues", "right", "statsmodels.regression.linear_model"),
    ],
)
def test_without_the_extra(
    study: Command, runs: Path, command: str, run: str, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    study("uncertainty", command, *(runs / name for name in run.split())).is_refusal("pip install 'gendermark[lab]'")


def test_several_languages_need_a_choice(coin: Cell, given: dict[str, list[Result]]) -> None:
    given["run"] = [coin.result, scored("x", "de", {})]
    with pytest.raises(UserError, match="en-es, en-de; choose a language with --to"):
        read_cell("run")
    assert read_cell("run", "de").direction == "en-de"
    assert len(read_cells("run")) == 2


def test_damaged_samples_are_named(runs: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(runs / "coin", tmp_path / "run"))
    path = run / "uncertainty.en-es" / "samples.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for content, words in (("".join(lines[1:]), "lacks 1 of 72"), ('{"id": "a", "samples": [1]}\n', "line 1")):
        path.write_text(content, encoding="utf-8")
        signed_again(run)
        with pytest.raises(BadFile, match=words):
            look_at(read_cell(run), contrast="x")
    path.unlink()
    with pytest.raises(BadFile, match="was deleted after the run"):
        look_at(read_cell(run), contrast="x")


# -- samples -----------------------------------------------------------------------------------------------------------


def test_one_sentence_in_all_its_versions(coin: Cell) -> None:
    found = look_at(coin, contrast=drawn_sentences(coin)[0].item.contrast)
    he, she, they = found["versions"]
    assert [version["gender"] for version in (he, she, they)] == [Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL]
    for version in (he, she):
        assert [(said["count"], said["gender"]) for said in version["translations"]] == [(N, version["gender"])]
    first, second = they["translations"]
    assert {first["gender"], second["gender"]} == {Gender.MASCULINE, Gender.FEMININE}
    assert first["share"] + second["share"] == pytest.approx(1)
    assert first["count"] >= second["count"]
    women = next(said["share"] for said in (first, second) if said["gender"] is Gender.FEMININE)
    assert they["p_feminine"] == women
    entropy = -women * math.log(women) - (1 - women) * math.log(1 - women)
    assert they["entropies"]["gender"] == they["entropies"]["string"] == pytest.approx(entropy)
    assert he["entropies"]["s3e"] == 0
    assert "ambiguity" in they["cues"]
    assert {cue[-1] for cue in she["cues"] if cue.startswith("pronoun")} == {"f"}
    assert found == look_at(coin, source=they["source"].upper()) == look_at(coin, source=they["source"][:-2])
    nobody = look_at(of_other_data(coin, "mgente:file.tsv", lambda _: {"entity": ""}), contrast=contrasts()[0])
    assert {said["gender"] for version in nobody["versions"] for said in version["translations"]} == {None}
    assert all(version["cues"] == [] for version in nobody["versions"])


def test_table_5_has_the_entropies_beside_the_samples(study: Command, runs: Path, coin: Cell) -> None:
    sentence = drawn_sentences(coin)[0].item
    rows = study("uncertainty", "samples", runs / "coin", "--contrast", sentence.contrast).rows
    entropies = ["h_s3e", "h_gender", "h_string", "p_feminine", "n_distinct"]
    assert list(rows[0]) == ["pronoun", "count", "share", "gender", "translation", *entropies]
    assert [row["pronoun"] for row in rows] == ["masculine", "feminine", "neutral", "neutral"]
    *told, first, second = ([float(row[name]) for name in entropies[:3]] for row in rows)
    assert told == [[0, 0, 0]] * 2
    assert first == second
    assert min(first) > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--contrast ID or --source TEXT"),
        (("--contrast", "a", "--source", "b"), "--contrast ID or --source TEXT"),
        (("--contrast", "nowhere"), "'nowhere'"),
        (("--source", "zebra"), "'zebra'"),
        (("--source", "because"), "give a whole sentence, or --contrast"),
    ],
)
def test_refusals_of_samples(study: Command, runs: Path, arguments: tuple[str, ...], words: str) -> None:
    study("uncertainty", "samples", runs / "coin", *arguments).is_refusal(words)


# -- determiners -------------------------------------------------------------------------------------------------------

SHE, THEY = "The guard said she slept", "The guard said they slept"
TARGETS = ("Hoy El guardia dijo que durmió", "Hoy La guardia dijo que durmió")


@pytest.mark.usefixtures("_toys")
def test_the_determiner_and_the_whole() -> None:
    found = compare_targets("toy:x", [SHE, THEY], TARGETS, ("en", "es"))
    told, left_open = found["sources"]
    assert (found["parting"], found["words"]) == (1, ["El", "La"])
    assert told["at_parting"] == [pytest.approx(0.3), pytest.approx(0.6)]
    assert told["feminine_share_at_parting"] == pytest.approx(2 / 3)
    assert left_open["feminine_share_at_parting"] == pytest.approx(0.2)
    # All other words are as probable in both.
    assert told["feminine_share"] == pytest.approx(2 / 3)
    assert told["log_probabilities"][0] - told["log_probabilities"][1] == pytest.approx(math.log(0.5))
    assert told["n_tokens"] == [7, 7]
    # Equally probable tokens after one source do not hide where the targets part.
    other = compare_targets("toy:x", ["it slept", THEY], TARGETS, ("en", "es"))
    assert (other["parting"], other["sources"][0]["feminine_share_at_parting"]) == (1, pytest.approx(0.5))


@pytest.mark.usefixtures("_toys")
def test_systems_without_tokens_or_scores(study: Command) -> None:
    def ask(system: str, *targets: str) -> object:
        return study(
            "uncertainty", "determiners", SHE, THEY, "--system", system, "--to", "es", "--targets", *targets, "--json"
        )

    outcome = ask("toy:wholes", *TARGETS)
    assert outcome.json["parting"] is None
    assert outcome.json["sources"][0]["feminine_share_at_parting"] is None
    assert outcome.json["sources"][0]["feminine_share"] == pytest.approx(2 / 3)
    assert "toy:wholes" in outcome.err
    ask("toy:x", "El guardia", "El guardia duerme").is_refusal("differ in a word")
    ask("toy:mute", *TARGETS).is_refusal("toy:mute", "too long")
    ask("fake:coin", *TARGETS).is_refusal("benchmark sentences only")
    ask("command:cat", *TARGETS).is_refusal("command:cat")


# -- sampling ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_toys")
def test_what_is_cut_off_looks_like_certainty() -> None:
    found = vary_sampling(Settings("cut:x", "es", ("0.05,0.2",), ("4", "64", "tuned"), n_samples=N))["settings"]
    values = {
        (one["epsilon"], one["alpha"], one["is_tuned"], e["metric"], e["slice"]): e["value"]
        for one in found
        for e in one["estimates"]
    }
    assert len(found) == 6

    def of(epsilon: float, alpha: float, metric: str, part: str = "all") -> float:
        return values[epsilon, alpha, False, metric, part]

    assert (of(0.05, 4, "awareness_gender"), of(0.2, 4, "awareness_gender")) == (100, 50)
    assert (of(0.05, 4, "n_distinct"), of(0.2, 4, "n_distinct")) == (pytest.approx(4 / 3), 1)
    assert of(0.2, 64, "h_s3e", "ambiguous") == 0
    # The larger alpha, the less alike two translations are.
    assert 0 < of(0.05, 4, "h_s3e", "ambiguous") < of(0.05, 64, "h_s3e", "ambiguous")
    assert of(0.05, 4, "h_gender", "ambiguous") == of(0.05, 64, "h_gender", "ambiguous")
    assert all(part in found[1]["signature"] for part in ("epsilon=0.05", ",alpha-64|", "parts:referenced"))
    assert f",alpha-tuned={found[2]['alpha']:g}|" in found[2]["signature"]
    assert any("24 of 24 ambiguous" in note for note in found[5]["warnings"])
    assert any("alpha could not be tuned" in note for note in found[5]["warnings"])


def test_a_setting_has_the_numbers_of_a_run_with_it() -> None:
    (found,) = vary_sampling(Settings("fake:random", "es", ("0.2",), ("4",), n_samples=N))["settings"]
    (result,) = gendermark.run("fake:random", [replace(selected(), alpha="4", sampling="epsilon=0.2")])
    for own in found["estimates"]:
        assert own == result.estimate(own["metric"], own["slice"]).to_json()
    assert found["signature"] == result.signature
    # All sentences where none has references.
    parts = [Settings("fake:random", to).selection(0.2).parts for to in ("es", "he")]
    assert parts == [("referenced",), ()]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--epsilon", "0.1,much"), "'much'"),
        (("--epsilon", "1.5"), "'1.5'"),
        (("--alpha", "3"), "'3'"),
        (("--group", "none"), "'none'"),
    ],
)
def test_refusals_of_sampling(study: Command, arguments: tuple[str, ...], words: str) -> None:
    study("uncertainty", "sampling", "--system", "fake:coin", "--to", "es", *arguments).is_refusal(words)
