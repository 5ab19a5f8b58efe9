"""Findings in words: right for systems whose behaviour is known, and no surer than the intervals."""

from __future__ import annotations

from functools import cache

import pytest

import gendermark
from gendermark.benchmarks.benchmark import Selection
from gendermark.records import Estimate
from gendermark.report.findings import findings
from gendermark.result import Result

BENCHMARKS = ("simplegen", "winomt", "mt-geneval-counterfactual", "mt-geneval-contextual")


@cache
def told(system: str, benchmark: str) -> str:
    to, source = ("en", "ko") if benchmark == "tgbi" else ("es", "en")
    (result,) = gendermark.run(system, [benchmark], to, data="core", source_language=source)
    return " ".join(findings(result))


@pytest.mark.parametrize(
    ("system", "benchmark", "words"),
    [
        ("fake:right", "simplegen", "Of 100 women 100 (91 to 100) are translated as women"),
        ("fake:right", "simplegen", "cannot be told from chance"),
        ("fake:masculine", "simplegen", "Of 100 women 0 (0 to 9) are translated as women, of 100 men 100"),
        ("fake:stereotyped?s=0.6", "simplegen", "Whoever fits the stereotype of the occupation gets the right gender"),
        ("fake:right", "winomt", "100 (91 to 100) of 100 translations keep it"),
        ("fake:masculine", "winomt", "50 ("),
        ("fake:masculine", "winomt", "Men are given the right gender more reliably than women"),
        ("fake:masculine", "winomt", "choose the masculine, more than half"),
        ("fake:feminine", "winomt", "Women are given the right gender more reliably than men"),
        ("fake:feminine", "winomt", "choose the masculine, fewer than half"),
        ("fake:stereotyped?s=0.6", "winomt", "It is kept more often where it fits the stereotype"),
        ("fake:right", "mt-geneval-counterfactual", "100 (93 to 100) are right in both"),
        ("fake:masculine", "mt-geneval-counterfactual", "0 (0 to 7) are right in both"),
        ("fake:masculine", "mt-geneval-counterfactual", "The masculine sentences are translated better"),
        ("fake:right", "mt-geneval-counterfactual", "Masculine and feminine sentences are translated equally well"),
        ("fake:right", "mt-geneval-contextual", "show the right one, more than guessing would give"),
        ("fake:masculine", "mt-geneval-contextual", "which cannot be told from guessing"),
        ("fake:right", "tgbi", "score 1.00"),
        ("fake:masculine", "tgbi", "They become men more often than women"),
    ],
)
def test_known_systems(system: str, benchmark: str, words: str) -> None:
    assert words in told(system, benchmark)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_silence_is_never_a_finding_about_gender(benchmark: str) -> None:
    said = told("fake:silent", benchmark)
    assert "better" not in said
    assert "more often, by" not in said
    assert "Too little was translated" in said or "Only 0 of 100 translations could be judged" in said


def result_of(benchmark: str, *estimates: Estimate) -> Result:
    return Result(Selection(benchmark, "en", "es"), "", "test", estimates, ())


def estimate(metric: str, part: str, value: float, low: float, high: float, judged: int = 100) -> Estimate:
    return Estimate(metric, part, value, low, high, 20, judged, 100)


def test_little_data_is_said_to_be_little() -> None:
    result = result_of(
        "simplegen",
        estimate("correct", "fc", 50, 20, 80),
        estimate("correct", "mc", 60, 30, 85),
        estimate("delta", "all", 20, -5, 45),
    )
    said = " ".join(findings(result))
    assert "too little data to be sure of much" in said
    assert "cannot be told from chance (-5.0 to 45.0 points)" in said


def test_a_gap_against_the_stereotype_has_its_own_words() -> None:
    result = result_of(
        "simplegen",
        estimate("correct", "fc", 50, 45, 55),
        estimate("correct", "mc", 60, 55, 65),
        estimate("delta", "all", -8, -12, -4),
    )
    assert "less often, by 8.0 points (4.0 to 12.0)" in " ".join(findings(result))


def test_few_judged_is_said_and_almost_all_is_not_all() -> None:
    result = result_of(
        "simplegen", estimate("correct", "fc", 99.8, 99, 99.9, 60), estimate("correct", "mc", 60, 55, 65, 60)
    )
    said = " ".join(findings(result))
    assert "Only 60 of 100 translations could be judged" in said
    assert "Of 100 women 99.8 (99 to 99.9)" in said


def test_a_benchmark_without_words_and_no_estimates() -> None:
    assert findings(result_of("another")) == ["Too little was translated to say anything."]
