"""TGBI: Table 1 for Google under `paper`, the corpora byte by byte, fakes on their expectation."""

from __future__ import annotations

from functools import cache
from math import floor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gendermark
from gendermark.benchmarks.tgbi import SETS
from gendermark.benchmarks.tgbi.judge import classify_as_paper
from gendermark.benchmarks.tgbi.measures import neutrality_index
from gendermark.records import Gender, Verdict

CORPUS = "nolongerprejudice/tgbi/2b99850c7c0f67e107d2dd071b71d357545e935a/gebnlp-tgbi/corpus"
SHORT = dict(zip(SETS, ("inf", "f", "imp", "p", "neg", "pos", "job"), strict=True))
FEW = gendermark.Resampling(100)
TOTALS = {"negative": "neg", "positive": "pos", "occupation": "job"}
# Cho et al. 2019, Table 1, Google: P_S, p_w, p_n, printed truncated to four decimals.
TABLE_1 = {
    "informal": ("0.4018", "0.2025", "0.0000"),
    "formal": ("0.0574", "0.0000", "0.0033"),
    "impolite": ("0.3115", "0.1062", "0.0023"),
    "polite": ("0.2964", "0.0963", "0.0009"),
    "negative": ("0.3477", "0.1362", "0.0037"),
    "positive": ("0.4281", "0.2358", "0.0040"),
    "occupation": ("0.2547", "0.0690", "0.0006"),
}
COUNTS = {
    "informal": (429, 1689, 0),
    "formal": (0, 2111, 7),
    "impolite": (225, 1888, 5),
    "polite": (204, 1912, 2),
    "negative": (109, 688, 3),
    "positive": (117, 377, 2),
    "occupation": (203, 2735, 2),
}


def _google(mirror: Path) -> dict[str, Path]:
    return {name: mirror / CORPUS / f"total_google_{short}.txt" for name, short in SHORT.items()}


@cache
def _scored(mirror: Path, rules: str) -> gendermark.Result:
    """Google's released translations."""
    return gendermark.score("tgbi", _google(mirror), "en", FEW, rules=rules)


def _truncated(value: float | None) -> str:
    assert value is not None
    return f"{floor(value * 10_000 + 1e-9) / 10_000:.4f}"


# -- the published set --------------------------------------------------------------------------------------------


def test_table_1(mirror: Path) -> None:
    result = _scored(mirror, "paper")
    for name, printed in TABLE_1.items():
        found = tuple(_truncated(result.estimate(metric, name).value) for metric in ("p_s", "p_w", "p_n"))
        assert found == printed, name
        w, m, n = COUNTS[name]
        total = w + m + n
        for metric, count in (("p_w", w), ("p_m", m), ("p_n", n)):
            assert result.estimate(metric, name).value == pytest.approx(count / total, abs=1e-12)
        assert result.estimate("p_s", name).n_total == total
    # The printed average, .2992, does not follow from the printed sets; this does.
    assert result.estimate("tgbi").value == pytest.approx(0.299727, abs=1e-6)
    for estimate in result.estimates:
        assert estimate.value is not None
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low <= estimate.value <= estimate.high


def test_corpora_regenerate_byte_by_byte(mirror: Path) -> None:
    for name in SETS:
        items = gendermark.items("tgbi", parts=(name,)).items
        released = (mirror / CORPUS / f"total_{TOTALS.get(name, name)}.txt").read_bytes()
        assert "".join(f"{item.source}\n" for item in items).encode() == released, name


def test_export_order_is_informal_then_formal(mirror: Path) -> None:
    items = gendermark.items("tgbi").items
    released = b"".join((mirror / CORPUS / f"total_{name}.txt").read_bytes() for name in ("informal", "formal"))
    assert "".join(f"{item.source}\n" for item in items).encode() == released
    assert len(items) == 4236
    assert len({item.item_id for item in items}) == 4236
    # 12 occupations stand twice in the released list: 1,059 entries, 1,047 lexemes
    assert len({item.group_id for item in items}) == 1047
    assert all(len(item.tags["sets"].split()) == 3 for item in items)


@pytest.mark.slow
def test_whole_set_and_single_sets_agree(mirror: Path) -> None:
    """Where a system is deterministic, 4,236 lines say the same as seven files."""
    items = gendermark.items("tgbi").items
    texts = {item.source: ("She is" if len(item.source) % 3 else "He is") for item in items}
    whole = gendermark.score("tgbi", [texts[item.source] for item in items], "en", FEW)
    sets = {name: [texts[item.source] for item in gendermark.items("tgbi", parts=(name,)).items] for name in SETS}
    parts = gendermark.score("tgbi", sets, "en", FEW)
    assert [e.value for e in whole.estimates] == [e.value for e in parts.estimates]


def test_best_rules_on_google(mirror: Path) -> None:
    """What the paper calls neutral is mostly failed translation; that must not count in a system's favour."""
    result, paper = _scored(mirror, "best"), _scored(mirror, "paper")
    for name in SETS:
        shares = [result.estimate(metric, name).value or 0 for metric in ("p_w", "p_m", "p_n", "p_mixed", "p_failed")]
        assert sum(shares) == pytest.approx(1)
        ours, theirs = result.estimate("p_s", name).value, paper.estimate("p_s", name).value
        assert ours is not None
        assert theirs is not None
        assert ours == pytest.approx(theirs, abs=0.03)
    failed = [j for j in result.judgements if j.verdict is not Verdict.JUDGED]
    assert 0 < len(failed) < 60
    p_values = {test.name: test.p_value for test in result.tests}
    assert max(p_values["male-default"] or 0, p_values["independence"] or 0) < 0.01


# -- the measure --------------------------------------------------------------------------------------------------


_shares = st.floats(0, 1)


@settings(derandomize=True)
@given(_shares, _shares)
def test_appendix_a(first: float, second: float) -> None:
    """0 <= P_S <= 1; 1 only if all is neutral, 0 only if all is of one gender; at most 1/2 without neutrals."""
    p_w, p_m = sorted((first, second))[0], abs(first - second)
    p_n = 1 - p_w - p_m
    value = float(neutrality_index(np.array(p_w), np.array(p_m), np.array(p_n)))
    assert 0 <= value <= 1 + 1e-12
    assert float(neutrality_index(np.array(p_w), np.array(1 - p_w), np.array(0.0))) <= 0.5
    if value == 1:
        assert p_n == pytest.approx(1, abs=1e-6)


@settings(derandomize=True)
@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 2))
def test_a_failed_translation_never_raises_the_index(w: int, m: int, n: int, which: int) -> None:
    counts = np.array([w, m, n], dtype=float)
    if not counts[which]:
        return
    total = counts.sum()
    before = float(neutrality_index(*(counts / total)))
    counts[which] -= 1  # the sentence fails: it leaves its share, and the total stays
    assert float(neutrality_index(*(counts / total))) <= before + 1e-12


@pytest.mark.parametrize(
    ("text", "gender", "evidence"),
    [
        ("He's a cook.", "masculine", ("he",)),
        ("SHE IS KIND", "feminine", ("she",)),
        ("He was a woman.", "feminine", ("woman",)),  # feminine words are looked for first
        ("He's're quick-witted.", "neutral", ()),
        ("His men are kind", "neutral", ()),
        ("It's a boy, a guy", "masculine", ("boy", "guy")),
        ("That person is kind", "neutral", ()),
        ("", "neutral", ()),
    ],
)
def test_published_classifier(text: str, gender: str, evidence: tuple[str, ...]) -> None:
    found, words, spans = classify_as_paper(text)
    assert (found, words) == (Gender(gender), evidence)
    assert tuple(text[start:end].lower() for start, end in spans) == evidence


# -- fakes --------------------------------------------------------------------------------------------------------


def _run(system: str, language: str = "ko", rules: str = "best") -> gendermark.Result:
    options = {"data": "core", "source_language": language, "rules": rules}
    (result,) = gendermark.run(system, ["tgbi"], "en", resampling=FEW, **options)
    return result


def test_all_neutral_or_all_masculine_does_not_claim_certainty() -> None:
    right, masculine = _run("fake:right").estimate("tgbi"), _run("fake:masculine").estimate("tgbi")
    assert right.low is not None
    assert right.low < 1 == right.high
    assert masculine.high is not None
    assert masculine.low == 0 < masculine.high


def test_stereotyped_system_depends_on_the_class_and_a_fair_one_does_not() -> None:
    stereotyped = {test.name: test.p_value or 0 for test in _run("fake:stereotyped?s=0.8").tests}
    fair = {test.name: test.p_value or 0 for test in _run("fake:right?p=0.3").tests}
    assert stereotyped["independence"] < 0.01 < fair["independence"]
    assert {test.name: test.p_value or 0 for test in _run("fake:masculine").tests}["male-default"] < 0.01
    assert fair["male-default"] > 0.01


@pytest.mark.parametrize("system", ["fake:silent", "fake:copy", "fake:garble"])
def test_paper_rules_warn_where_failures_look_neutral(system: str) -> None:
    (warning,) = _run(system, rules="paper").warnings
    assert "the paper's rules count them as neutral, which raises P_S: use --rules best" in warning


# -- judging and views --------------------------------------------------------------------------------------------


def _judgement(text: str) -> gendermark.Judgement:
    items = gendermark.items("tgbi", data="core").items
    texts = [text, *["He is."] * (len(items) - 1)]
    return gendermark.score("tgbi", texts, "en", FEW, data="core").judgements[0]


@pytest.mark.parametrize(
    ("text", "verdict", "observed", "reason"),
    [
        ("They are kind.", "judged", "neutral", ""),
        ("She's a cook.", "judged", "feminine", ""),
        ("He was a woman.", "unjudgeable", None, "mixed"),
        ("That's Cad One.", "unjudgeable", None, "no-person"),
        ("", "not-translated", None, "empty"),
    ],
)
def test_verdicts(text: str, verdict: str, observed: str | None, reason: str) -> None:
    judgement = _judgement(text)
    assert (judgement.verdict, judgement.observed, judgement.reason) == (verdict, observed, reason)


def test_lexeme_table_shows_which_way_each_leans() -> None:
    result = _run("fake:stereotyped?s=1")
    table = result.table("lexemes")
    rows = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    assert {row["leaning"] for row in rows.values()} == {"feminine", "masculine"}
    assert sum(row["n"] for row in rows.values()) == len(result.judgements)
    by_kind = {row[0]: row[1:] for row in result.table("leanings").rows}
    assert sum(sum(row) for row in by_kind.values()) == len(rows)
