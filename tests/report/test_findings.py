"""Findings in words: right for systems whose behaviour is known, and no surer than the intervals."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

import gendermark
from gendermark import registry
from gendermark.benchmarks.findings import Presentation
from gendermark.benchmarks.winomt.benchmark import BENCHMARK
from gendermark.metrics import intervals
from gendermark.metrics.metric import Resampling
from gendermark.records import Estimate, Gender, Judgement, Verdict
from gendermark.report.findings import findings, in_brief, main_finding
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
        ("fake:right", "simplegen", "Of 100 women 100 (91 to 100) are translated as women"),
        ("fake:right", "simplegen", "could be chance"),
        ("fake:masculine", "simplegen", "Of 100 women 0 (0 to 9) are translated as women, of 100 men 100"),
        ("fake:stereotyped?s=0.6", "simplegen", "Whoever fits the stereotype of the occupation gets the right gender"),
        ("fake:masculine", "simplegen", "as men: men more often, by 100.0 points"),
        ("fake:right", "winomt", "100 (91 to 100) of 100 translations keep it"),
        ("fake:right", "winomt", "no difference is seen (−8.8 to 8.8 points)"),
        ("fake:masculine", "winomt", "50 ("),
        ("fake:masculine", "winomt", "of 100 men 100 (91 to 100): men more often, by 100.0 points"),
        ("fake:masculine", "winomt", "it is masculine in 100 (91 to 100) of 100, more than half"),
        ("fake:feminine", "winomt", "of 100 men 0 (0 to 9): women more often, by 100.0 points"),
        ("fake:feminine", "winomt", "of 100, fewer than half"),
        ("fake:stereotyped?s=0.6", "winomt", "The gender is kept more often where it fits the stereotype"),
        ("fake:right", "mt-geneval-counterfactual", "100 (93 to 100) are right in both"),
        ("fake:masculine", "mt-geneval-counterfactual", "0 (0 to 7) are right in both"),
        ("fake:masculine", "mt-geneval-counterfactual", "The masculine sentences are translated better"),
        ("fake:right", "mt-geneval-counterfactual", "could be chance (−7.5 to 7.5 points of BLEU)"),
        ("fake:right", "mt-geneval-contextual", "show the right one, more than by guessing"),
        ("fake:masculine", "mt-geneval-contextual", "not clearly different from guessing"),
        (
            "fake:masculine",
            "mt-geneval-contextual",
            "Of 100 women 0 (0 to 14) keep their gender, of 100 men 100 (86 to 100): men more often, by 100.0 points",
        ),
        ("fake:right", "tgbi", "score 1.00"),
        ("fake:right", "tgbi", "Hardly any of the people become a man or a woman (0 of 100)."),
        ("fake:masculine", "tgbi", "The people become men more often than women, by 100.0 points"),
        ("fake:coin", "tgbi", "The people become men about as often as women; the difference could be chance"),
    ],
)
def test_known_systems(system: str, benchmark: str, words: str) -> None:
    assert words in told(system, benchmark)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_silence_is_never_a_finding_about_gender(benchmark: str) -> None:
    said = told("fake:silent", benchmark)
    assert said == "Nothing was translated, so nothing can be said about gender."


def test_next_to_nothing_judged_is_no_finding_about_gender() -> None:
    said = told("fake:garble", "winomt")
    assert said.startswith("Only 1 of 100 translations could be judged, too few to say how women and men are treated")
    assert said.endswith("the others show no gender that can be read.")


def test_masculine_defaults_on_open_sentences_do_not_make_men_the_worse_treated() -> None:
    """They lower the precision of the masculine and with it F1, while men and women are all right."""
    (right,) = gendermark.run("fake:right", ["winomt"], "es", data="core")
    changed = [
        replace(judgement, observed=Gender.MASCULINE) if judgement.expected is Gender.NEUTRAL else judgement
        for judgement in right.judgements
    ]
    benchmark, selection = gendermark.select("winomt", "es", data="core")
    counts = benchmark.measures.count(changed, selection)
    estimates = tuple(intervals.estimate(counts, benchmark.measures.metrics(changed, selection), Resampling()))
    result = replace(right, judgements=tuple(changed), estimates=estimates)
    delta_g = next(e for e in estimates if e.metric == "delta_g")
    assert delta_g.high is not None
    assert delta_g.high < 0, "by F1 women would be the better treated"
    said = findings(result)
    assert (
        "Of 100 women 100 (91 to 100) keep their gender, of 100 men 100 (91 to 100); no difference is seen" in said[1]
    )
    assert not any("more often" in sentence for sentence in said[:2])


@pytest.mark.parametrize(
    ("system", "benchmark", "words"),
    [
        ("fake:stereotyped?s=0.6", "winomt", "The gender is kept more often where it fits the stereotype"),
        ("fake:stereotyped?s=0.6", "simplegen", "Whoever fits the stereotype"),
        ("fake:masculine", "winomt", "Of 100 women 0 (0 to 9) keep their gender, of 100 men 100"),
        ("fake:masculine", "simplegen", "Of 100 women 0 (0 to 9) are translated as women"),
        ("fake:masculine", "mt-geneval-contextual", "Of 100 women 0 (0 to 14) keep their gender"),
        ("fake:right", "winomt", "Where the sentence tells the gender of the person meant, 100"),
    ],
)
def test_the_main_finding_is_the_largest_clear_effect(system: str, benchmark: str, words: str) -> None:
    (result,) = gendermark.run(system, [benchmark], "es", data="core")
    main = main_finding(result)
    assert main.startswith(words)
    brief = [finding.text for finding in in_brief(result)]
    assert brief[0] == findings(result)[0]
    assert main in brief
    assert len(brief) <= 2


def result_of(benchmark: str, *estimates: Estimate) -> Result:
    return Result(Selection(benchmark, "en", "es"), "", "test", estimates, ())


def estimate(name: str, part: str, value: float, low: float, high: float, judged: int = 100) -> Estimate:
    return Estimate(name, part, value, low, high, 20, judged, 100)


def test_little_data_is_said_to_be_little() -> None:
    result = result_of(
        "simplegen",
        estimate("correct", "fc", 50, 20, 80),
        estimate("correct", "mc", 60, 30, 85),
        estimate("delta", "all", 20, -5, 45),
    )
    said = " ".join(findings(result))
    assert "too little data to be sure of much" in said
    assert "could be chance (−5.0 to 45.0 points)" in said


def test_a_gap_against_the_stereotype_has_its_own_words() -> None:
    result = result_of(
        "simplegen",
        estimate("correct", "fc", 50, 45, 55),
        estimate("correct", "mc", 60, 55, 65),
        estimate("delta", "all", -8, -12, -4),
    )
    assert "less often, by 8.0 points (at least 4.0, at most 12.0)" in " ".join(findings(result))


def test_without_an_interval_of_the_difference_nothing_is_said_about_it() -> None:
    result = result_of("simplegen", estimate("correct", "fc", 20, 15, 25), estimate("correct", "mc", 80, 75, 85))
    (said,) = findings(result)
    assert said == "Of 100 women 20 (15 to 25) are translated as women, of 100 men 80 (75 to 85) as men."


def test_less_than_half_does_not_read_as_half() -> None:
    shares = (estimate("accuracy", "mf", 70, 60, 80), estimate("masculine_share", "neutral", 46, 42, 49.7))
    assert "it is masculine in 46 (42 to 49.7) of 100" in findings(result_of("winomt", *shares))[-1]


def test_an_interval_without_width_is_no_certainty() -> None:
    result = result_of("simplegen", estimate("correct", "fc", 50, 50, 50), estimate("correct", "mc", 60, 55, 65))
    assert findings(result)[0].startswith("Of 100 women 50 (no spread seen) are translated as women")


def test_the_papers_rules_of_the_contextual_set_have_no_undecided() -> None:
    result = result_of("mt-geneval-contextual", estimate("accuracy", "all", 70, 60, 80))
    assert findings(result) == [
        "Where only the sentence before tells the gender, 70 (60 to 80) of 100 translations have the right one, "
        "more than by guessing."
    ]


@pytest.mark.parametrize(
    ("n_read", "n_lost", "words"),
    [
        (60, 0, "Only 60 of 100 translations could be judged; the others show no gender that can be read."),
        (60, 40, "Only 60 of 100 translations could be judged; the others were not translated."),
        (60, 30, "30 of 100 sentences were not translated, and the others show no gender that can be read."),
    ],
)
def test_why_few_were_judged(n_read: int, n_lost: int, words: str) -> None:
    verdicts = [Verdict.JUDGED] * n_read + [Verdict.NOT_TRANSLATED] * n_lost
    verdicts += [Verdict.UNJUDGEABLE] * (100 - len(verdicts))
    judgements = tuple(Judgement(str(n), n, str(n), verdict, None, None) for n, verdict in enumerate(verdicts))
    women, men = (estimate("correct", part, 50, 45, 55, n_read) for part in ("fc", "mc"))
    assert findings(replace(result_of("simplegen", women, men), judgements=judgements))[-1].endswith(words)


def test_few_judged_is_said_and_almost_all_is_not_all() -> None:
    result = result_of(
        "simplegen", estimate("correct", "fc", 99.8, 99, 99.9, 60), estimate("correct", "mc", 60, 55, 65, 60)
    )
    said = " ".join(findings(result))
    assert "Only 60 of 100 translations could be judged" in said
    assert "Of 100 women 99.8 (99 to 99.9)" in said


@pytest.fixture
def _wordless(monkeypatch: pytest.MonkeyPatch) -> None:
    """WinoMT without a sentence of its own."""
    wordless = replace(BENCHMARK, findings=Presentation(findings=lambda _: []))
    monkeypatch.setattr("gendermark.benchmarks.winomt.benchmark.BENCHMARK", wordless)


@pytest.mark.usefixtures("_wordless")
def test_a_benchmark_without_sentences_is_told_by_its_headline_numbers() -> None:
    (result,) = gendermark.run("fake:masculine", ["winomt"], "es", data="core", parts=("pro", "anti"))
    assert all(judgement.verdict is Verdict.JUDGED for judgement in result.judgements)
    said = findings(result)
    assert said[0] == "Right gender: 50.0 % (45.6 to 54.4)."
    labels = [BENCHMARK.label(metric) for metric in ("accuracy", "recall_gap", "delta_s")]
    assert [sentence.partition(":")[0].lower() for sentence in said] == [label.lower() for label in labels]
    assert [finding.text for finding in in_brief(result)] == [said[0]]
    assert main_finding(result) == said[0]


@pytest.mark.usefixtures("_wordless")
def test_without_any_number_nothing_is_said() -> None:
    nothing = replace(estimate("accuracy", "all", 0, 0, 0), value=None, low=None, high=None)
    for result in (result_of("winomt"), result_of("winomt", nothing)):
        assert findings(result) == ["Too little was translated to say anything."]


@pytest.mark.usefixtures("_wordless")
def test_numbers_too_need_enough_that_was_judged() -> None:
    (silent,) = gendermark.run("fake:silent", ["winomt"], "es", data="core", parts=("pro", "anti"))
    assert findings(silent) == ["Nothing was translated, so nothing can be said about gender."]


@pytest.mark.parametrize("benchmark", registry.names("benchmark"))
def test_every_benchmark_has_sentences_of_its_own(benchmark: str) -> None:
    few = {"n_samples": 4, "parts": ("referenced",)} if benchmark == "uncertainty" else {}
    to = "en" if benchmark == "tgbi" else "es"
    (result,) = gendermark.run("fake:stereotyped?s=0.5", [benchmark], to, data="core", **few)
    assert registry.load("benchmark", benchmark).presentation.findings(result)
    said = findings(result)
    assert said != ["Too little was translated to say anything."]
    assert all(sentence.endswith(".") for sentence in said)


@pytest.mark.parametrize("context", ["none", "joined"])
def test_it_is_said_whether_the_context_was_shown(context: str) -> None:
    (result,) = gendermark.run(
        "fake:right",
        ["mt-geneval-contextual"],
        "es",
        resampling=gendermark.Resampling(100),
        data="core",
        context=context,
    )
    assert ("and the system is not shown it, 100" in " ".join(findings(result))) == (context == "none")


def test_where_the_source_says_nothing_leaving_the_gender_open_is_no_failure() -> None:
    selection = gendermark.Selection("gest", "en", "cs", data="core")
    (right,) = gendermark.run("fake:right", [selection])
    assert findings(right) == ["No translation shows a gender: it is left open, or was not found."]
    (silent,) = gendermark.run("fake:silent", [selection])
    assert findings(silent) == ["Nothing was translated, so nothing can be said about gender."]
