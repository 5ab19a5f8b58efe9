"""Semantic uncertainty on systems whose behaviour is known, from samples to findings."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path

import pytest

import gendermark
from gendermark import api
from gendermark.benchmarks.uncertainty import BENCHMARK, _references
from gendermark.cli.app import main
from gendermark.records import Gender, Verdict
from gendermark.report.findings import findings

N = 32


@cache
def drawn(system: str, n_samples: int = N, to: str = "es") -> gendermark.Result:
    (result,) = gendermark.run(system, ["uncertainty"], to, data="core", n_samples=n_samples)
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
    assert value(result, "gap_h_gender") == pytest.approx(-expected_coin_entropy(N), abs=0.005)
    assert value(result, "h_gender_corrected", "ambiguous") == pytest.approx(math.log(2), abs=0.005)
    assert value(result, "p_feminine", "ambiguous") == pytest.approx(0.5, abs=0.02)
    assert value(result, "gap_i_gender") == pytest.approx(-math.log(N + 1))
    assert (value(result, "delta_i_s3e") or 0) < 0
    assert value(result, "n_distinct") == pytest.approx(4 / 3)


def test_always_masculine_is_sure_and_not_called_unbiased() -> None:
    result = drawn("fake:masculine")
    assert value(result, "h_gender", "unambiguous") == value(result, "h_gender", "ambiguous") == 0
    assert value(result, "awareness_gender") == 50
    assert value(result, "p_right", "unambiguous") == 0.5
    assert value(result, "distance_from_even", "ambiguous") == 0.5
    assert result.estimate("h_gender", "ambiguous").high or 0 > 0  # forty occupations that agree prove nothing
    said = " ".join(findings(result))
    assert "that is certainty, not fairness" in said
    assert "as it should be" not in said


def test_random_everywhere_fails_the_second_condition() -> None:
    result = drawn("fake:random")
    aware = result.estimate("awareness_gender")
    assert (aware.low or 0) < 50 < (aware.high or 0)
    assert value(result, "gap_h_gender") == pytest.approx(0, abs=0.01)
    assert value(result, "p_right", "unambiguous") == pytest.approx(0.5, abs=0.02)
    assert "cannot be told from chance" in " ".join(findings(result))


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


def test_only_sentences_with_references() -> None:
    items = gendermark.items("uncertainty", "es", data="core", parts=("referenced",)).items
    assert len(items) == 72
    assert {item.tags["source"] for item in items} == {"ambiguous", "unambiguous"}


def test_references_are_read_with_their_own_gender() -> None:
    """A system that says the references is right, and surprised by the wrong ones."""
    selection = api.select("uncertainty", "es", data="core", parts=("referenced",))[1]
    item_set = BENCHMARK.load(selection)
    texts = _references("es")
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


def test_a_run_of_everything_leaves_it_out() -> None:
    assert "uncertainty" not in {selection.benchmark for selection in api.applicable([], ["es"], data="core")}
