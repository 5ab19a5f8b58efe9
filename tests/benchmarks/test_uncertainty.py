"""Semantic uncertainty on systems whose behaviour is known, from samples to findings."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gendermark
from gendermark import api
from gendermark.benchmarks.uncertainty.items import references
from gendermark.benchmarks.uncertainty.judge import BENCHMARK
from gendermark.cli.app import main
from gendermark.metrics.metric import Resampling
from gendermark.records import Gender, Verdict
from gendermark.reporting.findings import findings
from gendermark.runs.run import RunConfig, RunContext, run

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
    said = " ".join(findings(result))
    assert "less certain of the gender where the source leaves it open" in said
    assert "against 50% by chance: significant." in said
    assert len(result.judgements) == 72  # those with references
    for judgement in result.judgements:
        numbers = judgement.measures
        assert numbers["h_gender"] + numbers["h_within"] == pytest.approx(numbers["h_string"])
        # The distinct translations with their counts.
        assert sum(int(line.split(" x ")[0]) for line in judgement.evidence) == N
    open_ones = [judgement for judgement in result.judgements if judgement.expected is Gender.NEUTRAL]
    assert {line.rpartition("(")[2] for line in open_ones[0].evidence} == {"masculine)", "feminine)"}


def test_always_masculine_is_sure_and_not_called_unbiased() -> None:
    result = drawn("fake:masculine")
    assert value(result, "h_gender", "unambiguous") == value(result, "h_gender", "ambiguous") == 0
    assert value(result, "awareness_gender") == 50
    assert value(result, "p_right", "unambiguous") == 0.5
    assert value(result, "distance_from_even", "ambiguous") == 0.5
    assert (result.estimate("h_gender", "ambiguous").high or 0) > 0  # occupations that agree prove nothing of others
    said = " ".join(findings(result))
    assert "nearly all samples of a sentence agree" in said
    assert "against 50% by chance: not significant." in said


def test_random_everywhere_fails_the_second_condition() -> None:
    result = drawn("fake:random")
    aware = result.estimate("awareness_gender")
    assert (aware.low or 0) < 50 < (aware.high or 0)
    assert value(result, "gap_h_gender") == pytest.approx(0, abs=0.03)
    assert value(result, "p_right", "unambiguous") == pytest.approx(0.5, abs=0.05)
    assert "against 50% by chance: not significant." in " ".join(findings(result))


def test_leaving_open_what_is_open_is_said() -> None:
    result = drawn("fake:right", 4)
    assert (value(result, "p_neutral", "ambiguous") or 0) > 0.95
    assert value(result, "p_feminine", "ambiguous") is None
    # Its entropy is nought wherever it is asked; that must not look like being always sure of the gender.
    assert value(result, "gap_h_gender") == pytest.approx(0, abs=0.02)
    assert (value(result, "awareness_gender") or 0) > 97
    assert "of sampled translations (CI" in " ".join(findings(result))


@pytest.mark.parametrize("system", ["fake:silent", "fake:copy"])
def test_nothing_translated_says_nothing(system: str) -> None:
    result = drawn(system, 4)
    assert value(result, "awareness_gender") is None
    assert value(result, "h_gender", "ambiguous") is None
    assert all(judgement.verdict is Verdict.NOT_TRANSLATED for judgement in result.judgements)
    assert findings(result) == ["Nothing was translated, so there is no conclusion about gender."]


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
    result = api.score("uncertainty", path, "es", data=f"file:{own}")
    assert value(result, "nll", "ambiguous") == 2


def test_forced_choice_between_the_references(tmp_path: Path) -> None:
    """Equation 4 by the system's own probabilities; sentences that leave the gender open have no wrong reference."""
    selection = api.select("uncertainty", "es", data="core", parts=("referenced",), n_samples=4)[1]
    config = RunConfig("demo:en-es", (selection,), forced_choice=True)
    (result,) = run(config, None, RunContext(tmp_path / "store.sqlite"))
    (choice,) = [test for test in result.tests if test.name == "forced-choice"]
    assert choice.details["n_total"] == 48
    assert choice.details["log_probability_right"] > choice.details["log_probability_wrong"]
    assert choice.details["log_probability_per_token_right"] > choice.details["log_probability_right"]
    columns = {form.name.partition("-")[2]: list(form.columns) for form in BENCHMARK.presentation.forms([[result]])}
    assert columns == {
        "3": ["log p, right - wrong", "accuracy", "gap (S3E)", "ΔI (S3E)", "ΔI (gender)", "ΔI (string)"],
        "4-s3e": ["given", "open", "ΔH", "% of pairs"],
        "4-gender": ["given", "open", "ΔH", "% of pairs"],
        "12": ["all", "pro", "anti", "given", "open"],
        "13": ["all", "pro", "anti", "given", "open"],
        "14": ["log p, right", "log p, wrong"]
        + [f"{kind}, {side}" for kind in ("S3E", "gender", "semantic") for side in ("right", "wrong")],
        **{f"20-{kind}": ["given", "SE, given", "open", "SE, open", "ΔH, pooled"] for kind in ("s3e", "gender")},
    }
    table = result.to_latex()
    assert f"{choice.details['log_probability_right']:.2f}".strip("-") in table
    every = [judgement.measures.get("p_right", judgement.measures.get("p_neutral")) for judgement in result.judgements]
    known = [share for share in every if share is not None]
    assert f"{sum(known) / len(known):.3f}" in table


def test_references_are_read_with_their_own_gender() -> None:
    """A system that says the references is right, and surprised by the wrong ones."""
    selection = api.select("uncertainty", "es", data="core", parts=("referenced",))[1]
    item_set = BENCHMARK.load(selection)
    texts = references("es")
    samples = [
        [texts[item.contrast, str(item.expected)][item.expected is Gender.FEMININE]] * 4 for item in item_set.items
    ]
    result = api.score(selection, samples)
    assert (value(result, "p_right", "unambiguous") or 0) >= 0.95
    assert (value(result, "gap_i_string") or 0) < -1
    assert value(result, "delta_i_s3e") is None  # the right one is no surprise at all: nothing to divide by
    assert (value(result, "gap_i_s3e") or 0) < -0.3


def test_a_tuned_alpha_is_recorded() -> None:
    selection = api.select("uncertainty", "es", data="core", n_samples=8, alpha="tuned", parts=("referenced",))[1]
    (tuned,) = api.run("fake:random", [selection])
    (best,) = [row for row in tuned.table("alpha").rows if row[-1] == "best"]
    assert best[1] == max(row[1] for row in tuned.table("alpha").rows)
    assert f"alpha-tuned={best[0]:g}|" in tuned.signature
    assert {estimate.signature for estimate in tuned.estimates} == {tuned.signature}
    (given,) = api.run("fake:random", [replace(selection, alpha=f"{best[0]:g}")])
    assert f"alpha-{best[0]:g}|" in given.signature
    assert value(tuned, "h_s3e", "ambiguous") == value(given, "h_s3e", "ambiguous")
    # The selection stays what was asked for, so that runs can be compared and repeated.
    assert tuned.selection.alpha == "tuned"


def test_an_alpha_that_cannot_be_tuned_is_the_default_and_said() -> None:
    (result,) = api.run(
        "fake:masculine", ["uncertainty"], "es", data="core", n_samples=4, alpha="tuned", parts=("referenced",)
    )
    assert "alpha-16|" in result.signature
    assert any(one.startswith("alpha could not be tuned") and one.endswith("it is 16") for one in result.warnings)


def test_beside_another_benchmark_the_options_of_drawing_are_its_own() -> None:
    chosen = api.applicable(["uncertainty", "winomt"], ["es"], data="core", n_samples=4, alpha="2")
    first, second = chosen.selections
    assert (first.n_samples, first.alpha) == (4, "2")
    assert not hasattr(second, "n_samples")


# -- data of the user's own --------------------------------------------------------------------------------------------

MAN, WOMAN = "El enfermero saludó porque llegaba tarde.", "La enfermera saludó porque llegaba tarde."
OWN = "".join(
    f"{gender}\t1\tThe nurse waved because {pronoun} late.\tnurse\t{MAN}\t{WOMAN}\n"
    for gender, pronoun in (("male", "he was"), ("female", "she was"), ("neutral", "they were"))
)


def test_a_file_of_one_s_own_with_references(tmp_path: Path) -> None:
    result = own_result(tmp_path, [[MAN] * 3 + [WOMAN], [WOMAN] * 4, [MAN, MAN, WOMAN, WOMAN]])
    assert value(result, "p_right", "unambiguous") == pytest.approx((3 / 4 + 1) / 2)
    assert value(result, "h_gender", "ambiguous") == pytest.approx(math.log(2))
    # One sentence in three versions: the open one is less sure than both others.
    assert value(result, "awareness_gender") == 100
    correct = (-math.log(3 / 4) - math.log(1)) / 2
    incorrect = (-math.log(1 / 4) + math.log(5)) / 2
    assert value(result, "gap_i_gender") == pytest.approx(correct - incorrect)
    assert "data:file-" in result.signature


def own_result(tmp_path: Path, samples: Sequence[Sequence[str]], text: str = OWN, **options: Any) -> gendermark.Result:
    path = tmp_path / "own.tsv"
    path.write_text(text, encoding="utf-8")
    return api.score("uncertainty", samples, "es", Resampling(200), data=f"file:{path}", **options)


BOTH, NOBODY = "El enfermero / La enfermera.", "Saludó."


def test_samples_whose_gender_cannot_be_read_do_not_count_for_its_surprisal(tmp_path: Path) -> None:
    result = own_result(tmp_path, [[MAN] * 2 + [NOBODY] * 2, [WOMAN, MAN, NOBODY, NOBODY], [MAN] * 4])
    (he, she, _) = result.judgements
    assert he.measures["i_gender.correct"] == 0
    assert he.measures["i_gender.incorrect"] == pytest.approx(math.log(3))
    assert she.measures["i_gender.correct"] == pytest.approx(math.log(2))
    nothing = own_result(tmp_path, [[NOBODY] * 4] * 3)
    assert nothing.judgements[0].measures.get("i_gender.correct") is None
    assert not any(estimate.metric.endswith("i_gender") for estimate in nothing.estimates)


# What is said of a nurse and a baker, and what may be said of them.
MORE = OWN + OWN.replace("nurse", "baker").replace("enfermero", "panadero").replace("enfermera", "panadera")
said_of_one = st.lists(st.sampled_from([MAN, WOMAN, BOTH, NOBODY, "La persona saludó.", ""]), min_size=1, max_size=5)


@given(samples=st.lists(said_of_one, min_size=6, max_size=6), n_lines=st.sampled_from([1, 3, 6]))
@settings(derandomize=True, max_examples=15, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_value_lies_outside_its_interval(tmp_path: Path, samples: list[list[str]], n_lines: int) -> None:
    replaced = [
        [text.replace("enfermer", "panader") if number > 2 else text for text in texts]
        for number, texts in enumerate(samples)
    ]
    lines = "".join(MORE.splitlines(keepends=True)[:n_lines])
    check_intervals(own_result(tmp_path, replaced[:n_lines], lines))


def check_intervals(result: gendermark.Result) -> None:
    for found in result.estimates:
        if found.value is None:
            continue
        assert (found.low is None) == (found.high is None), found
        if found.low is None or found.high is None:  # too few resamples have a value
            continue
        assert found.low - 1e-12 <= found.value <= found.high + 1e-12, found


def test_one_occupation_proves_little(tmp_path: Path) -> None:
    """Where all occupations agree, intervals are as wide as others, unlike them, may make them."""
    result = own_result(tmp_path, [[MAN, WOMAN], [WOMAN, WOMAN], [MAN, WOMAN]])
    for metric, part, most in (
        ("h_string", "ambiguous", math.log(2)),
        ("h_s3e", "unambiguous", math.log(2)),
        ("h_gender", "unambiguous", math.log(2)),  # of two samples no more than two genders
        ("gap_i_gender", "all", math.log(3)),
        ("gap_i_s3e", "all", math.inf),
        ("delta_h_string", "all", math.inf),
        ("n_distinct", "all", 2),
    ):
        found = result.estimate(metric, part)
        assert found.high - found.low > 0.1, found
        assert -most <= found.low, found
        assert found.high <= most + 1e-9, found


def test_one_sample_shows_no_uncertainty(tmp_path: Path) -> None:
    result = own_result(tmp_path, [[MAN], [WOMAN], [MAN]])
    assert result.warnings == ("there is one sample of each sentence, which shows no uncertainty; draw more",)
    sure = own_result(tmp_path, [[MAN] * 2, [WOMAN] * 2, [MAN] * 2])
    assert sure.warnings == (
        "1 of 1 ambiguous sentences gave the same translation in every sample: the system is certain of them, or the "
        "sampling method (unknown=elsewhere) hides its uncertainty",
    )


def test_samples_of_all_sentences_serve_for_those_with_references(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    items = gendermark.items("uncertainty", "es", data="core").items
    rows = [{"source": item.source, "samples": [MAN, WOMAN]} for item in items]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    result = api.score("uncertainty", path, "es", data="core", parts=("referenced",))
    assert len(result.judgements) == 72
    options = {"data": "core", "parts": ("referenced",), "n_samples": 2}
    assert len(api.run(f"files:{path}", ["uncertainty"], "es", **options)[0].judgements) == 72
    path.write_text(path.read_text(encoding="utf-8") + '{"source": "No.", "samples": ["x"]}\n', encoding="utf-8")
    with pytest.raises(gendermark.UserError, match=r"line 1201: source 'No\.' is not a sentence of this benchmark"):
        api.score("uncertainty", path, "es", data="core", parts=("referenced",))


# Two wordings of one meaning for each gender.
MAN_2, WOMAN_2 = "El enfermero, que llegaba tarde, saludó.", "La enfermera, que llegaba tarde, saludó."
SAME = {frozenset((MAN, MAN_2)), frozenset((WOMAN, WOMAN_2))}


@pytest.fixture
def _entailment(monkeypatch: pytest.MonkeyPatch) -> None:
    class Entails:
        name = "nli:toy"

        def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
            return [frozenset(pair) in SAME for pair in pairs]

        def forecast(self, portions: object) -> None:
            pass

    monkeypatch.setattr("gendermark.benchmarks.uncertainty.judge.entailment_of", lambda _: Entails())


@pytest.mark.usefixtures("_entailment")
def test_the_surprisal_of_a_meaning(tmp_path: Path) -> None:
    """A reference that was said in other words is as expected as what was said."""
    samples = [[MAN_2] * 3 + [WOMAN_2], [WOMAN_2] * 2 + [WOMAN, BOTH], [MAN, MAN_2, WOMAN, WOMAN]]
    result = own_result(tmp_path, samples, entailment="model")
    he, she, they = (judgement.measures for judgement in result.judgements)
    assert he["i_semantic.correct"] == pytest.approx(-math.log(3 / 4))
    assert he["i_semantic.incorrect"] == pytest.approx(-math.log(1 / 4))
    assert she["i_semantic.correct"] == pytest.approx(-math.log(3 / 4))
    assert she["i_semantic.incorrect"] == pytest.approx(math.log(5))  # nobody said it, in any words
    assert they["h_semantic"] == pytest.approx(math.log(2))
    assert "i_semantic.correct" not in they
    correct = -math.log(3 / 4)
    incorrect = (-math.log(1 / 4) + math.log(5)) / 2
    assert value(result, "gap_i_semantic") == pytest.approx(correct - incorrect)
    assert value(result, "delta_i_semantic") == pytest.approx((correct - incorrect) / correct)
    assert value(result, "i_right_semantic") == pytest.approx(correct)
    assert "|entailment:nli:toy|" in result.signature
    check_intervals(result)


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
        ("", "has no sentence"),
        ("male\t1\tThe nurse slept.\n", "line 1: has no column entity"),
        ("man\t1\tThe nurse slept.\tnurse\n", "line 1: has the gender 'man'"),
        ("male\t²\tThe nurse slept.\tnurse\n", "line 1: has no 'nurse' at word ²"),
        ("male\t1\tThe nurse slept.\tthe\n", "line 1: has no 'the' in"),
        ("male\t7\tThe nurse slept.\tnurse\n", "line 1: has no 'nurse' at word 7"),
        ("male\t1\tThe nurse slept.\tbaker\n", "line 1: has no 'baker' in"),
        (f"{OWN}male\t1\tThe nurse slept.\tnurse\tEl enfermero durmió.\t \n", "line 4: has one reference of two"),
    ],
)
def test_a_bad_file_of_one_s_own(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "own.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(gendermark.UserError, match=words):
        gendermark.items("uncertainty", "es", data=f"file:{path}")


def test_the_entity_of_ones_own_line_may_be_written_in_many_ways(tmp_path: Path) -> None:
    path = tmp_path / "own.tsv"
    lines = ("male\t1\tThe Nurse's coat fell.\tthe nurse", "male\t0\tCab  drivers, he said, sleep.\tcab drivers")
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    for variant in ("", "names"):
        assert len(gendermark.items("uncertainty", "es", data=f"file:{path}", variant=variant).items) == 2
