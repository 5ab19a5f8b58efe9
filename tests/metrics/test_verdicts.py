"""A verdict is a property of one result."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gendermark
from gendermark import Selection, registry
from gendermark.cli.app import _exit_code
from gendermark.errors import UserError
from gendermark.metrics.intervals import estimate
from gendermark.metrics.metric import Resampling
from gendermark.metrics.statistics import benjamini_hochberg, holm
from gendermark.metrics.verdicts import verdicts
from gendermark.records import Estimate
from gendermark.reporting.phrases import difference, women_and_men
from gendermark.result import Result
from gendermark.runs.compare import Comparison

SPECS = {"biased": "fake:stereotyped?s=0.6", "men": "fake:masculine", "fair": "fake:right?p=0.9"}
QUESTIONS = {
    "winomt": {"recall_gap", "delta_s"},
    "simplegen": {"recall_gap", "delta"},
    "mt-geneval-counterfactual": {"recall_gap", "delta_qual"},
    "mt-geneval-contextual": {"recall_gap"},
    "mittens": {"recall_gap"},
    "tgbi": {"imbalance", "independence"},
    "gest": {"f_m", "f_s"},
    "gate-variants": {"imbalance", "stereotype_gap"},
    "gate-alternatives": set(),
    "gate-rewriting": set(),
    "uncertainty": {"awareness_gender", "p_feminine"},
    "terms": {"term_gap"},
}


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_the_questions_of_each_benchmark(name: str) -> None:
    benchmark = registry.load("benchmark", name)
    assert {question.partition(":")[0] for question in benchmark.measures.questions} == QUESTIONS[name]


def _json(spec: str, benchmark: str = "winomt") -> Any:
    (result,) = gendermark.run(spec, [benchmark], "es", data="core")
    return result.to_json()


def test_states_of_known_systems() -> None:
    states = {name: {v["metric"]: v["state"] for v in _json(spec)["verdicts"]} for name, spec in SPECS.items()}
    assert states["biased"]["delta_s"] == "significant"
    assert states["men"]["recall_gap"] == "significant"
    assert set(states["fair"].values()) == {"not_significant"}


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_no_selection_is_without_groups(name: str) -> None:
    made: Selection = Selection(name)
    first = registry.load("benchmark", name).choices_of("cluster")[0]
    stored = Selection.from_json({**made.to_json(), "cluster": ""})
    assert {one.cluster for one in (made, replace(made, cluster=""), stored)} == {first} != {""}
    with pytest.raises(UserError, match="nothing"):
        replace(made, cluster="nothing")


def test_strata_are_there_without_completion() -> None:
    asked = Selection("winomt", "en", "es", data="core")
    (result,) = gendermark.run(SPECS["biased"], [asked])
    count = registry.load("benchmark", "winomt").measures.count
    strata = count(result.judgements, asked).strata
    assert len(set(strata)) > 1
    assert list(strata) == list(count(result.judgements, result.selection).strata)


def test_few_groups_have_no_verdict() -> None:
    """Five occupations are too few to conclude anything."""
    selection = gendermark.Selection("winomt", "en", "es", data="core", parts=())
    (result,) = gendermark.run("fake:masculine", [selection])
    few = [j for j in result.judgements if j.group_id in sorted({x.group_id for x in result.judgements})[:5]]
    measures = registry.load("benchmark", "winomt").measures
    counts = measures.count(few, result.selection)
    metrics = measures.metrics(few, result.selection)
    states = {
        v.state for v in verdicts(measures.questions, counts, metrics, estimate(counts, metrics, Resampling()), [])
    }
    assert states == {"too_few"}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_benjamini_hochberg_never_exceeds_holm(p_values: list[float]) -> None:
    found, strict = benjamini_hochberg(p_values), holm(p_values)
    for p, adjusted, held in zip(p_values, found, strict, strict=True):
        assert adjusted is not None
        assert held is not None
        assert p - 1e-12 <= adjusted <= held + 1e-12


def test_benjamini_hochberg_on_its_paper() -> None:
    """The fifteen p-values of Benjamini and Hochberg (1995), section 3.2: four are rejected at 5%."""
    small = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459]
    p_values = [*small, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    assert sum(p is not None and p <= 0.05 for p in benjamini_hochberg(p_values)) == 4


# -- whatever else is shown --------------------------------------------------------------------------------------------

_RETIRED = re.compile(r"could be chance|no clear|unclear|\bclearly\b|would show", re.IGNORECASE)
_PLAIN = re.compile(r"\(CI ([−-]?[\d.]+)(?:–| to )([−-]?[\d.]+)\), not significant(?! after correction)")


def _said(page: Path) -> str:
    """The words of a page."""
    text = re.sub(r"<(script|style).*?</\1>", " ", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())


def _check_words(text: str) -> None:
    assert not _RETIRED.search(text), _RETIRED.findall(text)
    for low, high in _PLAIN.findall(text):
        assert float(low.replace("−", "-")) <= 0 <= float(high.replace("−", "-")), f"({low}, {high}) excludes 0"


def _outputs(names: Sequence[str], place: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """What every output says about these runs."""
    runs, files = [str(place / name) for name in names], [str(place / f"{name}.txt") for name in names]
    site = place / "sites" / "-".join(names)
    found = {}
    for output, arguments in {
        "json": ["report", *runs, "-o", str(place / "report.json")],
        "page": ["report", *runs, "-o", str(place / "page.html")],
        "board": ["leaderboard", *runs, "-o", str(site), "--executor", "serial"],
        "audit": ["audit", *files, "-o", str(place / "audit.html")],
    }.items():
        assert _exit_code(arguments) == 0
        found[output] = "\n".join(capsys.readouterr())
    found["json"] = (place / "report.json").read_text(encoding="utf-8")
    found["page"], found["audit page"] = _said(place / "page.html"), _said(place / "audit.html")
    found["board"] = " ".join(map(_said, sorted(site.rglob("*.html"))))
    for text in found.values():
        _check_words(text)
    return found


@pytest.mark.slow
def test_other_runs_change_nothing_about_a_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Verdict, numbers and findings of each, over subsets of runs in any order, in every output."""
    subset = Random(1).sample(list(SPECS), 3)
    for name in subset:
        results = gendermark.run(SPECS[name], ["winomt", "simplegen"], "es", tmp_path / name, data="core")
        texts = [f"{source} ||| {text}\n" for source, text in results[0].texts]
        (tmp_path / f"{name}.txt").write_text("".join(texts), encoding="utf-8")
    alone = {name: gendermark.load(tmp_path / name) for name in subset}
    single = {name: _outputs([name], tmp_path, capsys) for name in subset}
    for chosen in (subset[::-1], subset[1:]):
        together = _outputs(chosen, tmp_path, capsys)
        shown = json.loads(together["json"])["runs"].values()
        for name, found in zip(chosen, shown, strict=True):
            for own, result in zip(found, alone[name], strict=True):
                expected = result.to_json()
                assert all(own[key] == expected[key] for key in ("verdicts", "estimates"))
                for sentence in result.findings:
                    assert sentence in together["page"]
            lines = single[name]["audit"].splitlines()
            own_lines = [
                line for line in lines if f"\t{name}\t" in line or line.startswith((f"{name}.txt", f"- {name}"))
            ]
            assert len(own_lines) > 2
            assert set(own_lines) <= set(together["audit"].splitlines())
            for sentence in alone[name][0].findings:
                assert (sentence in single[name]["audit page"]) == (sentence in together["audit page"])
            values = re.findall(rf"{re.escape(alone[name][0].called)} ([^a-z]*\d[^a-z]*)", single[name]["board"])
            assert values
            assert all(value.strip() in together["board"] for value in values)


@given(
    st.floats(-60, 60),
    st.floats(0, 40),
    st.floats(0, 1),
    st.sampled_from(["significant", "not_significant", "too_few"]),
)
def test_words_follow_the_interval(value: float, reach: float, p: float, state: str) -> None:
    low, high = value - reach, value + reach
    estimate = Estimate("delta_s", "all", value, low, high, 20, 99, 99, fixed_low=low / 2, fixed_high=high / 2)
    made = Result(Selection("winomt", "en", "es"), "", "x", (replace(estimate, state=state),), [])
    (finding,) = difference(made, "delta_s", "Difference")
    _check_words(finding.text)
    assert ("too few" in finding.text) == (state == "too_few")
    if state == "not_significant":
        assert ("after correction" in finding.text) == (not low <= 0 <= high)
    compared = Comparison("c", "m", "all", 0.0, value, "zero", 9, value, low, high, p, p, p).in_words()
    if compared.startswith("not significant"):
        assert ("after correction" in compared) == (not low <= 0 <= high)


def test_too_few_people_are_counted() -> None:
    """15 sentences: 0 of 12 women and 2 of 3 men are right."""
    given = {"feminine": (0.0, 12), "masculine": (200 / 3, 3)}
    rates = [Estimate("recall", part, value, 0.0, 100.0, n, n, n) for part, (value, n) in given.items()]
    gap = Estimate(
        "recall_gap", "all", 200 / 3, -20.0, 99.0, 3, 15, 15, fixed_low=20.0, fixed_high=90.0, state="too_few"
    )
    made = Result(Selection("winomt", "en", "es"), "", "x", (*rates, gap), [])
    (finding,) = women_and_men(made, "recall:feminine", "recall:masculine", "recall_gap", "are right")
    assert finding.text == ("0 of 12 women and 2 of 3 men are right: too few to tell.")
