"""Findings in words: right for systems whose behaviour is known, and no surer than the intervals."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

import gendermark
from gendermark import registry
from gendermark.benchmarks.findings import Presentation
from gendermark.benchmarks.winomt.judge import BENCHMARK
from gendermark.metrics.verdicts import BiasVerdict, State
from gendermark.records import Estimate, Judgement, Verdict
from gendermark.reporting.findings import findings
from gendermark.result import Result
from gendermark.selection import Selection

BENCHMARKS = ("simplegen", "winomt", "mt-geneval-counterfactual", "mt-geneval-contextual")


@cache
def told(system: str, benchmark: str) -> str:
    to, source = ("en", "ko") if benchmark == "tgbi" else ("es", "en")
    (result,) = gendermark.run(system, [benchmark], to, data="core", source_language=source)
    return " ".join(findings(result))


@pytest.mark.parametrize(
    ("system", "benchmark", "words"),
    [
        ("fake:right", "simplegen", "100% of women (CI 91–100) are translated as women"),
        ("fake:masculine", "simplegen", "0% of women (CI 0–9) are translated as women and 100% of men (CI 91–100)"),
        ("fake:right", "winomt", "100% of translations (CI 91–100) keep it"),
        ("fake:masculine", "winomt", "100% of translations (CI 91–100) are masculine."),
        ("fake:feminine", "winomt", "0% of men (CI 0–9) keep their gender: gender gap 100.0 points (CI 87.6–100.0)"),
        ("fake:feminine", "winomt", "in favour of women, significant."),
        ("fake:stereotyped?s=0.6", "winomt", "significant; accuracy is higher where the gender fits the stereotype"),
        ("fake:masculine", "mt-geneval-counterfactual", "0% of pairs (CI 0–7)"),
        ("fake:masculine", "mt-geneval-counterfactual", "significant; the masculine versions are translated better."),
        ("fake:right", "mt-geneval-counterfactual", "Quality gap: 0.0 BLEU points (CI −7.5 to 7.5), not significant."),
        ("fake:masculine", "mt-geneval-contextual", "0% of women (CI 0–14) and 100% of men (CI 86–100)"),
        ("fake:right", "tgbi", "Only 0% of translations show a gender."),
        ("fake:masculine", "tgbi", "significant; people are translated as men more often."),
        ("fake:coin", "tgbi", "not significant."),
    ],
)
def test_known_systems(system: str, benchmark: str, words: str) -> None:
    assert words in told(system, benchmark)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_silence_is_never_a_finding_about_gender(benchmark: str) -> None:
    said = told("fake:silent", benchmark)
    assert said == "Nothing was translated, so there is no conclusion about gender."


def test_next_to_nothing_judged_is_no_finding_about_gender() -> None:
    said = told("fake:garble", "winomt")
    assert said.startswith("Only 1% of translations could be judged, too few to compare women and men")
    assert said.endswith("the others show no gender that can be read.")


def result_of(benchmark: str, *estimates: Estimate) -> Result:
    return Result(Selection(benchmark, "en", "es"), "", "test", estimates, ())


def estimate(name: str, part: str, value: float, low: float, high: float, judged: int = 100) -> Estimate:
    return Estimate(name, part, value, low, high, 20, judged, 100)


def verdict(metric: str, state: State) -> BiasVerdict:
    return BiasVerdict(metric, "all", state, 0.04, 0.08)


@pytest.mark.parametrize(
    ("state", "ends", "words"),
    [
        (State.SIGNIFICANT, (1.0, 15.0), "8.0 points (CI 1.0–15.0) in favour of men, significant."),
        (State.NOT_SIGNIFICANT, (-1.0, 17.0), "8.0 points (CI −1.0 to 17.0), not significant."),
        # Never "not significant" alone beside an interval that excludes zero.
        (State.NOT_SIGNIFICANT, (1.1, 15.6), "8.0 points (CI 1.1–15.6), not significant after correction."),
    ],
)
def test_the_wording_follows_the_interval_and_the_verdict(state: State, ends: tuple[float, float], words: str) -> None:
    found = [estimate("correct", "fc", 81, 72, 88), estimate("correct", "mc", 89, 82, 94)]
    result = result_of("simplegen", *found, estimate("recall_gap", "all", 8, *ends))
    assert words in findings(replace(result, verdicts=(verdict("recall_gap", state),)))[0]


def test_few_people_are_counted_and_not_compared() -> None:
    women = replace(estimate("correct", "fc", 0, 0, 24, 12), n_total=12)
    men = replace(estimate("correct", "mc", 100 * 2 / 3, 20, 94, 3), n_total=3)
    result = result_of("simplegen", women, men, estimate("recall_gap", "all", 66.7, 10, 95))
    said = findings(replace(result, verdicts=(verdict("recall_gap", State.TOO_FEW),)))[0]
    few = "0 of 12 women are translated as women and 2 of 3 men are translated as men: too few to tell"
    assert said == f"{few}."


@pytest.mark.parametrize(
    ("n_read", "n_lost", "words"),
    [
        (60, 0, "Only 60% of translations could be judged; the others show no gender that can be read."),
        (60, 40, "Only 60% of translations could be judged; the others were not translated."),
        (60, 30, "30% of sentences were not translated, and the others show no gender that can be read."),
    ],
)
def test_why_few_were_judged(n_read: int, n_lost: int, words: str) -> None:
    verdicts = [Verdict.JUDGED] * n_read + [Verdict.NOT_TRANSLATED] * n_lost
    verdicts += [Verdict.UNJUDGEABLE] * (100 - len(verdicts))
    judgements = tuple(Judgement(str(n), n, str(n), verdict, None, None) for n, verdict in enumerate(verdicts))
    women, men = (estimate("correct", part, 50, 45, 55, n_read) for part in ("fc", "mc"))
    assert findings(replace(result_of("simplegen", women, men), judgements=judgements))[-1].endswith(words)


@pytest.fixture
def _wordless(monkeypatch: pytest.MonkeyPatch) -> None:
    """WinoMT without a sentence of its own."""
    wordless = replace(BENCHMARK, findings=Presentation(findings=lambda _: []))
    monkeypatch.setattr("gendermark.benchmarks.winomt.judge.BENCHMARK", wordless)


@pytest.mark.usefixtures("_wordless")
def test_a_benchmark_without_sentences_is_told_by_its_headline_numbers() -> None:
    (result,) = gendermark.run("fake:masculine", ["winomt"], "es", data="core", parts=("pro", "anti"))
    assert all(judgement.verdict is Verdict.JUDGED for judgement in result.judgements)
    said = findings(result)
    assert said[0].endswith(": 50.0% (CI 45.6–54.4).")
    labels = [BENCHMARK.label(metric) for metric in ("accuracy", "recall_gap", "delta_s")]
    assert [sentence.partition(":")[0].lower() for sentence in said] == [label.lower() for label in labels]


@pytest.mark.usefixtures("_wordless")
def test_without_any_number_nothing_is_said() -> None:
    nothing = replace(estimate("accuracy", "all", 0, 0, 0), value=None, low=None, high=None)
    for result in (result_of("winomt"), result_of("winomt", nothing)):
        assert findings(result) == ["Too few translations for a conclusion."]


@pytest.mark.parametrize("benchmark", [name for name, one in registry.every("benchmark") if one.language_pairs("core")])
def test_every_benchmark_has_sentences_of_its_own(benchmark: str) -> None:
    few = {"n_samples": 4, "parts": ("referenced",)} if benchmark == "uncertainty" else {}
    to = "en" if benchmark == "tgbi" else "es"
    (result,) = gendermark.run("fake:stereotyped?s=0.5", [benchmark], to, data="core", **few)
    assert registry.load("benchmark", benchmark).presentation.findings(result)
    said = findings(result)
    assert said != ["Too few translations for a conclusion."]
    assert all(sentence.endswith(".") for sentence in said)


def test_where_the_source_says_nothing_leaving_the_gender_open_is_no_failure() -> None:
    selection = gendermark.Selection("gest", "en", "cs", data="core")
    open_ = gendermark.score(
        selection, [f"Bydlím tady v domě {n}." for n, _ in enumerate(gendermark.items(selection).items)]
    )
    assert findings(open_) == ["No translation shows a gender: it is left open, or was not found."]
    (silent,) = gendermark.run("fake:silent", [selection])
    assert findings(silent) == ["Nothing was translated, so there is no conclusion about gender."]
