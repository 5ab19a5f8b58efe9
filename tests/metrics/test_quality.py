"""BLEU and chrF of summed statistics are sacreBLEU's; gaps of equal parts are zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import sacrebleu
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import gendermark
from gendermark.metrics import quality
from gendermark.metrics.metric import Floats
from gendermark.reading.contrast import without_tags

# Few words, so that n-grams match by chance; some of other scripts, some with punctuation that 13a cuts off.
WORDS = ("la", "doctora", "doctor", "a", "fue.", "3.5", "l'été", "é", "врач", "डॉक्टर", "،", "—", "x-y", "(b)")
SEGMENTS = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
CORPORA = st.lists(st.tuples(SEGMENTS, SEGMENTS), min_size=1, max_size=6)

Rows = list[dict[str, float]]
Statistics = Callable[[Sequence[str], Sequence[str]], Rows]


def _sums(rows: Rows, columns: Sequence[str]) -> list[Floats]:
    return [np.array([sum(row[column] for row in rows)]) for column in columns]


def _bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    rows = quality.bleu_statistics(hypotheses, references)
    return float(quality.bleu_value(*_sums(rows, quality.BLEU_COLUMNS))[0])


def _chrf(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    rows = quality.chrf_statistics(hypotheses, references)
    return float(quality.chrf_value(*_sums(rows, quality.CHRF_COLUMNS))[0])


@settings(max_examples=250)
@given(CORPORA)
@example([("", "la doctora")])
@example([("la", "la")])
@example([("la", "la"), ("", "doctor"), ("a", "é")])
@example([("la doctora fue. 3.5", "la doctora fue. 3.5")])
@example([("la doctora fue.", "la doctora fue.")])
@example([("la doctora", "la doctora fue. la doctora fue.")])
@example([("la x-y la x-y la", "la é é é é")])
@example([("la doctora", ""), ("doctor", "doctor")])
def test_values_are_those_of_sacrebleu(corpus: list[tuple[str, str]]) -> None:
    hypotheses, references = (list(side) for side in zip(*corpus, strict=True))
    assume(any(references))
    assert _bleu(hypotheses, references) == pytest.approx(
        sacrebleu.corpus_bleu(hypotheses, [references]).score, abs=1e-9
    )
    assert _chrf(hypotheses, references) == pytest.approx(
        sacrebleu.corpus_chrf(hypotheses, [references]).score, abs=1e-9
    )


@settings(max_examples=60)
@given(st.lists(CORPORA, min_size=2, max_size=4))
def test_many_resamples_at_once_are_each_by_itself(corpora: list[list[tuple[str, str]]]) -> None:
    """No row of the arrays disturbs another: smoothing, empty rows and brevity are each row's own."""
    sides = [[list(side) for side in zip(*corpus, strict=True)] for corpus in corpora]
    for statistics, columns, value, alone in (
        (quality.bleu_statistics, quality.BLEU_COLUMNS, quality.bleu_value, _bleu),
        (quality.chrf_statistics, quality.CHRF_COLUMNS, quality.chrf_value, _chrf),
    ):
        sums = [_sums(statistics(*side), columns) for side in sides]
        together = value(*(np.concatenate(column) for column in zip(*sums, strict=True)))
        np.testing.assert_allclose(together, [alone(*side) for side in sides], atol=1e-9, equal_nan=True)


def test_without_references_there_is_no_value() -> None:
    assert np.isnan(_bleu(["la doctora"], [""]))
    assert np.isnan(_chrf(["la doctora"], [""]))


@settings(max_examples=60)
@given(CORPORA)
def test_gap_of_equal_genders_is_zero(corpus: list[tuple[str, str]]) -> None:
    hypotheses, references = (list(side) for side in zip(*corpus, strict=True))
    assume(any(references))
    assume(any(hypotheses))
    found: dict[str, tuple[Statistics, Sequence[str]]] = {
        "bleu": (quality.bleu_statistics, quality.BLEU_COLUMNS),
        "chrf": (quality.chrf_statistics, quality.CHRF_COLUMNS),
    }
    for score, (statistics, columns) in found.items():
        sums = _sums(statistics(hypotheses, references), columns)
        gap = quality.quality_gap("gap", score, "masculine", "feminine").value(*sums, *sums)
        # Words of marks alone have no n-grams: where nothing counts as written, there is no gap.
        assert gap[0] == 0 or (np.isnan(gap[0]) and sums[0][0] == 0)


def test_gap_is_the_first_minus_the_second() -> None:
    """By hand through the benchmark: sacreBLEU on each gender's translations, subtracted."""
    item_set = gendermark.items("mt-geneval-counterfactual", "fr", data="core")
    references = [without_tags(item.tags["reference"]) for item in item_set.items]
    texts = [
        without_tags(item.tags["reference" if item.expected == "masculine" else "contrastive"])
        for item in item_set.items
    ]
    result = gendermark.score("mt-geneval-counterfactual", texts, "fr", data="core")
    n = len(texts) // 2
    masculine, feminine = (
        sacrebleu.corpus_bleu(texts[half], [references[half]]).score for half in (slice(n), slice(n, None))
    )
    assert masculine == pytest.approx(100)
    assert result.estimate("bleu_masculine").value == pytest.approx(masculine)
    assert result.estimate("bleu_feminine").value == pytest.approx(feminine)
    gap = result.estimate("delta_qual")
    assert gap.value == pytest.approx(masculine - feminine)
    assert gap.low is not None
    assert gap.high is not None
    assert 0 < gap.low < masculine - feminine < gap.high
    chrf = sacrebleu.corpus_chrf(texts[n:], [references[n:]]).score
    assert result.estimate("chrf_feminine").value == pytest.approx(chrf)


def test_signature_names_sacrebleu() -> None:
    result = gendermark.score(
        "mt-geneval-counterfactual",
        [
            without_tags(item.tags["reference"])
            for item in gendermark.items("mt-geneval-counterfactual", "de", data="core").items
        ],
        "de",
        data="core",
    )
    assert f"sacrebleu-{sacrebleu.__version__},bleu-13a-exp,chrf-6-2" in result.signature
    # What the signature says of sacreBLEU's settings is what it says itself.
    bleu, chrf = sacrebleu.metrics.BLEU(), sacrebleu.metrics.CHRF()
    bleu.corpus_score(["a"], [["a"]])
    chrf.corpus_score(["a"], [["a"]])
    assert "tok:13a|smooth:exp" in str(bleu.get_signature())
    assert "nc:6|nw:0" in str(chrf.get_signature())
    assert chrf.beta == 2
