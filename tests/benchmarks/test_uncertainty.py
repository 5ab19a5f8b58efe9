"""Semantic uncertainty on systems whose behaviour is known, from samples to findings."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path

import pytest

import gendermark
from gendermark import api
from gendermark.benchmarks.uncertainty import BENCHMARK, references
from gendermark.cli.app import main
from gendermark.records import Gender, Verdict
from gendermark.report.findings import findings
from gendermark.runs.run import RunConfig, run

N = 32


@cache
def drawn(system: str, n_samples: int = N, to: str = "es") -> gendermark.Result:
    """The sentences with references alone: a run of all takes long, and shows nothing else."""
    (result,) = gendermark.run(system, ["uncertainty"], to, data="core", n_samples=n_samples, parts=("referenced",))
    return result


def value(result: gendermark.Result, metric: str, part: str = "all") -> float | None:
    return result.estimate(metric, part).value


def expected_coin_entropy(n: int) -> float:
    """The mean entropy of the genders of n fair coin flips."""
    total = 0.0
    for heads in range(n + 1):
        entropy = -sum(p * math.log(p) for p in (heads / n, 1 - heads / n) if p)
        total += math.comb(n, heads) / 2**n * entropy
    return total


def test_a_fair_coin_where_gender_is_open_and_the_right_gender_elsewhere_is_best_possible() -> None:
    result = drawn("fake:coin")
    assert value(result, "awareness_gender") == 100
    assert value(result, "p_right", "unambiguous") == 1
    assert value(result, "h_gender", "unambiguous") == 0
    # The ratio has nothing to divide by; the difference says it.
    assert value(result, "delta_h_gender") is None
    assert value(result, "gap_h_gender") == pytest.approx(-expected_coin_entropy(N), abs=0.02)
    assert value(result, "h_gender_corrected", "ambiguous") == pytest.approx(math.log(2), abs=0.02)
    assert value(result, "p_feminine", "ambiguous") == pytest.approx(0.5, abs=0.06)
    assert value(result, "h_gender_se", "unambiguous") == 0
    assert 0 < (value(result, "h_gender_se", "ambiguous") or 0) < 0.1
    assert value(result, "gap_i_gender") == pytest.approx(-math.log(N + 1))
    assert (value(result, "delta_i_s3e") or 0) < 0
    assert value(result, "n_distinct") == pytest.approx(4 / 3)


def test_always_masculine_is_sure_and_not_called_unbiased() -> None:
    result = drawn("fake:masculine")
    assert value(result, "h_gender", "unambiguous") == value(result, "h_gender", "ambiguous") == 0
    assert value(result, "awareness_gender") == 50
    assert value(result, "p_right", "unambiguous") == 0.5
    assert value(result, "distance_from_even", "ambiguous") == 0.5
    assert (result.estimate("h_gender", "ambiguous").high or 0) > 0  # occupations that agree prove nothing of others
    said = " ".join(findings(result))
    assert "that is certainty, not fairness" in said
    assert "as it should be" not in said


def test_random_everywhere_fails_the_second_condition() -> None:
    result = drawn("fake:random")
    aware = result.estimate("awareness_gender")
    assert (aware.low or 0) < 50 < (aware.high or 0)
    assert value(result, "gap_h_gender") == pytest.approx(0, abs=0.03)
    assert value(result, "p_right", "unambiguous") == pytest.approx(0.5, abs=0.05)
    assert "cannot be told from chance" in " ".join(findings(result))


def test_leaving_open_what_is_open_is_said() -> None:
    result = drawn("fake:right", 4)
    assert (value(result, "p_neutral", "ambiguous") or 0) > 0.95
    assert value(result, "p_feminine", "ambiguous") is None
    # Its entropy is nought wherever it is asked; that must not look like being always sure of the gender.
    assert value(result, "gap_h_gender") == pytest.approx(0, abs=0.02)
    assert (value(result, "awareness_gender") or 0) > 97
    assert "of 100 leave it open too" in " ".join(findings(result))


def test_findings_for_the_best() -> None:
    said = " ".join(findings(drawn("fake:coin")))
    assert "It is less sure of the gender where the sentence leaves it open" in said
    assert "as it should be" in said


@pytest.mark.parametrize("system", ["fake:silent", "fake:copy"])
def test_nothing_translated_says_nothing(system: str) -> None:
    result = drawn(system, 4)
    assert value(result, "awareness_gender") is None
    assert value(result, "h_gender", "ambiguous") is None
    assert all(judgement.verdict is Verdict.NOT_TRANSLATED for judgement in result.judgements)
    assert findings(result) == ["Too little was translated to say anything."]


def test_judgements_show_the_distinct_translations_with_their_counts() -> None:
    judgement = next(j for j in drawn("fake:coin").judgements if j.expected is Gender.NEUTRAL)
    assert len(judgement.evidence) == 2
    assert sum(int(line.split(" x ")[0]) for line in judgement.evidence) == N
    assert {line.rpartition("(")[2] for line in judgement.evidence} == {"masculine)", "feminine)"}


def test_between_and_within_add_up_to_the_whole() -> None:
    for judgement in drawn("fake:coin").judgements[:200]:
        numbers = judgement.measures
        assert numbers["h_gender"] + numbers["h_within"] == pytest.approx(numbers["h_string"])


def test_samples_of_a_run_score_the_same_without_the_system(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["--to", "es", "--data", "core", "--group", "referenced", "--json"]
    run = ["run", "--system", "fake:coin", "--benchmark", "uncertainty", "--n-samples", "8", *common]
    with pytest.raises(SystemExit) as end:
        main([*run, "-o", str(tmp_path / "run")])
    assert not end.value.code
    first = json.loads(capsys.readouterr().out)["results"][0]
    samples = tmp_path / "run" / "uncertainty.en-es" / "samples.jsonl"
    with pytest.raises(SystemExit) as end:
        main(["score", "uncertainty", "--samples", str(samples), *common])
    assert not end.value.code
    second = json.loads(capsys.readouterr().out)
    assert second["estimates"] == first["estimates"]
    assert "samples:8," in second["signature"]


def test_the_model_s_own_probabilities_are_averaged(tmp_path: Path) -> None:
    path, own = tmp_path / "samples.jsonl", tmp_path / "own.tsv"
    own.write_text(OWN, encoding="utf-8")
    rows = [{"id": f"winomt-000{n}", "samples": [MAN, WOMAN], "logprobs": [-1.0, -3.0]} for n in range(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    result = api.score_samples("uncertainty", path, "es", data=f"file:{own}")
    assert value(result, "nll", "ambiguous") == 2


def test_forced_choice_between_the_references(tmp_path: Path) -> None:
    """Equation 4 by the system's own probabilities; sentences that leave the gender open have no wrong reference."""
    selection = api.select("uncertainty", "es", data="core", parts=("referenced",), n_samples=4)[1]
    config = RunConfig("demo:en-es", (selection,), forced_choice=True)
    (result,) = run(config, None, tmp_path / "store.sqlite")
    (choice,) = [test for test in result.tests if test.name == "forced-choice"]
    assert choice.details["n_total"] == 48
    assert choice.details["log_probability_right"] > choice.details["log_probability_wrong"]
    assert choice.details["log_probability_per_token_right"] > choice.details["log_probability_right"]


def test_only_sentences_with_references() -> None:
    items = gendermark.items("uncertainty", "es", data="core", parts=("referenced",)).items
    assert len(items) == 72
    assert {item.tags["source"] for item in items} == {"ambiguous", "unambiguous"}


def test_references_are_read_with_their_own_gender() -> None:
    """A system that says the references is right, and surprised by the wrong ones."""
    selection = api.select("uncertainty", "es", data="core", parts=("referenced",))[1]
    item_set = BENCHMARK.load(selection)
    texts = references("es")
    samples = [
        [texts[item.tags["contrast"], str(item.expected)][item.expected is Gender.FEMININE]] * 4
        for item in item_set.items
    ]
    result = api.score_samples(selection, samples)
    assert (value(result, "p_right", "unambiguous") or 0) >= 0.95
    assert (value(result, "gap_i_string") or 0) < -1
    assert value(result, "delta_i_s3e") is None  # the right one is no surprise at all: nothing to divide by
    assert (value(result, "gap_i_s3e") or 0) < -0.3


def test_alpha_given_and_tuned() -> None:
    given = api.run("fake:coin", ["uncertainty"], "es", data="core", n_samples=4, alpha="3", parts=("referenced",))[0]
    assert "alpha-3" in given.signature
    assert 3.0 in [row[0] for row in given.table("alpha").rows]
    tuned = api.run("fake:coin", ["uncertainty"], "es", data="core", n_samples=4, alpha="tuned", parts=("referenced",))
    assert "alpha-tuned" in tuned[0].signature


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("score", "uncertainty", "--translations", "FILE"), "judges many samples of each sentence; give --samples"),
        (("score", "winomt", "--samples", "FILE"), "winomt judges one translation of each sentence"),
        (("score", "uncertainty"), "give either --translations FILE or --set"),
        (("score", "uncertainty", "--samples", "FILE", "--alpha", "x"), "--alpha is a number above 0, at most 1000"),
        (("score", "uncertainty", "--samples", "FILE", "--similarity", "x"), "unknown similarity 'x'"),
        (("score", "winomt", "--translations", "FILE", "--alpha", "2"), "leave out --alpha"),
        (("run", "--benchmark", "uncertainty", "--system", "command:cat", "-o", "OUT"), "cannot sample, which this"),
        (
            ("run", "--benchmark", "uncertainty", "--system", "fake:coin", "--sampling", "epsilon", "-o", "OUT"),
            "--sampling is written KEY=VALUE,KEY=VALUE",
        ),
        (
            ("run", "--benchmark", "uncertainty", "--system", "fake:coin", "--sampling", "heat=2", "-o", "OUT"),
            "there is no sampling option 'heat'",
        ),
    ],
)
def test_refusals(arguments: tuple[str, ...], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file.jsonl"
    file.write_text('{"id": "winomt-0000", "samples": ["La"]}\n', encoding="utf-8")
    names = {"FILE": str(file), "OUT": str(tmp_path / "out")}
    with pytest.raises(SystemExit) as end:
        main([*(names.get(word, word) for word in arguments), "--to", "es", "--data", "core"])
    assert end.value.code == 2
    assert words in capsys.readouterr().err


def test_beside_another_benchmark_the_options_of_drawing_are_its_own() -> None:
    first, second = api.applicable(["uncertainty", "winomt"], ["es"], data="core", n_samples=4, alpha="2")
    assert (first.n_samples, second.n_samples) == (4, 0)


def test_a_run_of_everything_leaves_it_out() -> None:
    assert "uncertainty" not in {selection.benchmark for selection in api.applicable([], ["es"], data="core")}


# -- data of the user's own --------------------------------------------------------------------------------------------

MAN, WOMAN = "El enfermero saludó porque llegaba tarde.", "La enfermera saludó porque llegaba tarde."
OWN = "".join(
    f"{gender}\t1\tThe nurse waved because {pronoun} late.\tnurse\t{MAN}\t{WOMAN}\n"
    for gender, pronoun in (("male", "he was"), ("female", "she was"), ("neutral", "they were"))
)


def test_a_file_of_one_s_own_with_references(tmp_path: Path) -> None:
    path = tmp_path / "own.tsv"
    path.write_text(OWN, encoding="utf-8")
    samples = [[MAN] * 3 + [WOMAN], [WOMAN] * 4, [MAN, MAN, WOMAN, WOMAN]]
    result = api.score_samples("uncertainty", samples, "es", data=f"file:{path}")
    assert value(result, "p_right", "unambiguous") == pytest.approx((3 / 4 + 1) / 2)
    assert value(result, "h_gender", "ambiguous") == pytest.approx(math.log(2))
    # One sentence in three versions: the open one is less sure than both others.
    assert value(result, "awareness_gender") == 100
    correct = (-math.log(3 / 4) - math.log(1)) / 2
    incorrect = (-math.log(1 / 4) + math.log(5)) / 2
    assert value(result, "gap_i_gender") == pytest.approx(correct - incorrect)
    assert "data:file-" in result.signature


def test_mgente_has_no_person_but_strings_and_meanings(tmp_path: Path) -> None:
    path = tmp_path / "mgente.tsv"
    path.write_text(
        "ID\tSET\tSRC\tREF-G\tREF-N\tGENDER\n"
        "1\tSet-G\tMrs Weber is our chair.\tDie Weber ist unsere Vorsitzende.\tDie Weber hat den Vorsitz.\tF\n"
        "2\tSet-N\tThe chairs met today.\tDie Vorsitzenden trafen sich.\tDer Vorsitz traf sich heute.\t\n",
        encoding="utf-8",
    )
    samples = [
        ["Die Weber ist unsere Vorsitzende."] * 4,
        ["Die Vorsitzenden trafen sich.", "Der Vorsitz traf sich."] * 2,
    ]
    result = api.score_samples("uncertainty", samples, "de", data=f"mgente:{path}")
    assert value(result, "gap_h_string") == pytest.approx(-math.log(2))
    assert value(result, "h_gender", "ambiguous") is None
    assert (value(result, "gap_i_string") or 0) < 0
    assert (value(result, "gap_i_s3e") or 0) < 0


def test_names_stand_behind_the_noun_and_agree() -> None:
    plain = gendermark.items("uncertainty", "fr", data="core").items
    named = gendermark.items("uncertainty", "fr", data="core", variant="names").items
    changed = [(a, b) for a, b in zip(plain, named, strict=True) if a.source != b.source]
    assert {a.expected for a, _ in changed} == {Gender.MASCULINE, Gender.FEMININE}
    first, second = changed[0]
    assert len(second.source.split()) == len(first.source.split()) + 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty; give a line for each sentence"),
        ("male\t1\tThe nurse slept.\n", "line 1: has 3 cells; expected gender, index, sentence and entity"),
        ("man\t1\tThe nurse slept.\tnurse\n", "line 1: is not a WinoMT line"),
    ],
)
def test_a_bad_file_of_one_s_own(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "own.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(gendermark.UserError, match=words):
        gendermark.items("uncertainty", "es", data=f"file:{path}")


def test_other_data_is_refused() -> None:
    with pytest.raises(gendermark.UserError, match="there is: core, file:FILE, mgente:FILE, official"):
        gendermark.items("uncertainty", "es", data="mine")
    with pytest.raises(gendermark.UserError, match=r"there is: core, official$"):
        gendermark.items("winomt", "es", data="file:x.tsv")
    with pytest.raises(gendermark.UserError, match="there is no such file"):
        gendermark.items("uncertainty", "es", data="file:none.tsv")
