"""The paper's tables on toys whose numbers are computed by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import sacrebleu

import gendermark
from gendermark import api
from gendermark.metrics.metric import Resampling

MAN, WOMAN = "El enfermero saludó porque llegaba tarde.", "La enfermera saludó porque llegaba tarde."
_PRONOUNS = {"male": "he was", "female": "she was", "neutral": "they were"}


def line(gender: str, verb: str = "waved", *cells: str) -> str:
    return "\t".join((gender, "1", f"The nurse {verb} because {_PRONOUNS[gender]} late.", "nurse", *cells)) + "\n"


def scored(tmp_path: Path, text: str, samples: Sequence[Sequence[str]], to: str = "es", **options: Any) -> Any:
    path = tmp_path / "own.tsv"
    path.write_text(text, encoding="utf-8")
    data = options.pop("data", "file")
    return api.score("uncertainty", samples, to, Resampling(200), data=f"{data}:{path}", **options)


def value(result: gendermark.Result, metric: str, part: str = "all") -> float | None:
    return result.estimate(metric, part).value


def entropy(share: float) -> float:
    return -sum(p * math.log(p) for p in (share, 1 - share) if p)


SURE, EVEN, THREE = [MAN] * 4, [MAN, MAN, WOMAN, WOMAN], [MAN, MAN, MAN, WOMAN]


# -- Tables 4 and 20: entropies where the gender is told and where it is open ------------------------------------------


def test_a_difference_of_entropies_is_within_contrast_sets(tmp_path: Path) -> None:
    text = (
        line("male") + line("female") + line("neutral")  # a whole set
        + line("male", "slept") + line("neutral", "slept")  # another, of two versions
        + line("male", "sang") + line("female", "sang")  # nothing to compare with
    )  # fmt: skip
    result = scored(tmp_path, text, [SURE, EVEN, THREE, THREE, EVEN, EVEN, EVEN])
    even, three = entropy(1 / 2), entropy(1 / 4)
    # Each set weighs the same, whatever its size.
    told, open_ = (even / 2 + three) / 2, (three + even) / 2
    assert value(result, "h_gender", "paired-unambiguous") == pytest.approx(told)
    assert value(result, "h_gender", "paired-ambiguous") == pytest.approx(open_)
    assert [result.estimate("h_gender", f"paired-{kind}").n_total for kind in ("unambiguous", "ambiguous")] == [3, 2]
    assert value(result, "gap_h_gender") == pytest.approx(told - open_)
    assert value(result, "delta_h_gender") == pytest.approx((told - open_) / told)
    assert (result.estimate("delta_h_gender").n_judged, result.estimate("delta_h_gender").n_total) == (5, 5)
    pooled = (even + three + even + even) / 5
    assert value(result, "h_gender", "unambiguous") == pytest.approx(pooled)
    assert value(result, "gap_h_pooled_gender") == pytest.approx(pooled - open_)
    assert value(result, "delta_h_pooled_gender") == pytest.approx((pooled - open_) / pooled)
    assert result.estimate("delta_h_pooled_gender").n_total == 7
    assert result.warnings == (
        "2 of 7 sentences have no counterpart (gender stated or open): `delta_h` and `gap_h` are of the 2 "
        "contrast sets that have both kinds; the pooled ones are of all sentences, and compare different ones",
    )


def test_where_all_sentences_have_their_versions_both_ways_agree(tmp_path: Path) -> None:
    result = scored(tmp_path, line("male") + line("female") + line("neutral"), [SURE, EVEN, THREE])
    for name in ("gap_h", "delta_h"):
        for kind in ("gender", "string", "s3e"):
            assert value(result, f"{name}_{kind}") == pytest.approx(value(result, f"{name}_pooled_{kind}"))
    assert result.warnings == ()


def test_a_standard_error_is_that_of_new_samples(tmp_path: Path) -> None:
    """Of two samples that differ, two new ones differ half of the time: the entropy is all or nothing."""
    result = scored(tmp_path, line("male") + line("neutral"), [[MAN, MAN], [MAN, WOMAN]], alpha="2")
    for kind in ("gender", "string", "s3e"):
        whole = value(result, f"h_{kind}", "ambiguous")
        assert whole is not None
        assert value(result, f"h_{kind}_se", "ambiguous") == pytest.approx(whole / 2, rel=0.05), kind
        assert value(result, f"h_{kind}_se", "unambiguous") == 0
    assert value(result, "h_s3e", "ambiguous") != pytest.approx(math.log(2), abs=0.05)


# -- Tables 12 to 14: with and against the stereotype; the references --------------------------------------------------

OWN = (
    "source\tgender\tentity\tstereotype\treference_masculine\treference_feminine\n"
    f"The nurse waved because she was late.\tfeminine\tnurse\tpro\t{MAN}\t{WOMAN}\n"
    f"The nurse waved because he was late.\tmasculine\tnurse\tanti\t{MAN}\t{WOMAN}\n"
    f"The nurse waved because they were late.\tneutral\tnurse\tnone\t{MAN}\t{WOMAN}\n"
)


def test_with_and_against_the_stereotype(tmp_path: Path) -> None:
    result = scored(tmp_path, OWN, [[WOMAN] * 4, [WOMAN, WOMAN, WOMAN, MAN], EVEN])
    assert value(result, "p_right", "pro") == 1
    assert value(result, "p_right", "anti") == 1 / 4
    assert value(result, "h_gender", "pro") == 0
    assert value(result, "h_gender", "anti") == pytest.approx(entropy(1 / 4))
    # Quality: of samples against the right reference, of those that leave it open against the better of both.
    wrong = sacrebleu.sentence_chrf(WOMAN, [MAN]).score
    assert value(result, "chrf", "pro") == pytest.approx(100)
    assert value(result, "chrf", "anti") == pytest.approx((100 + 3 * wrong) / 4)
    assert value(result, "chrf", "ambiguous") == pytest.approx(100)
    assert value(result, "chrf", "unambiguous") == pytest.approx((100 + (100 + 3 * wrong) / 4) / 2)
    assert value(result, "chrf") == pytest.approx((100 + (100 + 3 * wrong) / 4 + 100) / 3)


def test_surprisals_of_the_right_and_the_wrong_reference(tmp_path: Path) -> None:
    result = scored(tmp_path, OWN, [[WOMAN] * 4, [WOMAN, WOMAN, WOMAN, MAN], EVEN])
    right = (-math.log(1) - math.log(1 / 4)) / 2
    wrong = (math.log(5) - math.log(3 / 4)) / 2  # what nobody said counts as if it came next
    for kind in ("gender", "string"):
        assert value(result, f"i_right_{kind}") == pytest.approx(right)
        assert value(result, f"i_wrong_{kind}") == pytest.approx(wrong)
        assert value(result, f"gap_i_{kind}") == pytest.approx(right - wrong)
    assert result.estimate("i_right_s3e").n_total == 2


# -- Tables 15 to 17: mGeNTE -------------------------------------------------------------------------------------------

GENDERED, NEUTRAL = "Frau Weber ist unsere neue Vorsitzende.", "Weber hat jetzt bei uns den Vorsitz."
MGENTE = (
    "ID\tSET\tSRC\tREF-G\tREF-N1\tREF-N2\tGENDER\n"
    f"1\tSet-G\tMs Weber is our new chair.\t{GENDERED}\t{NEUTRAL}\tWeber leitet uns.\tF\n"
    "2\tSet-N\tThe chairs met today.\tDie Vorsitzenden trafen sich.\tDer Vorsitz traf sich heute.\t\t\n"
)
OPEN = ["Die Vorsitzenden trafen sich.", "Der Vorsitz traf sich."] * 2


def test_mgente_compares_all_sentences_for_it_has_no_versions(tmp_path: Path) -> None:
    result = scored(tmp_path, MGENTE, [[GENDERED] * 4, OPEN], "de", data="mgente")
    assert value(result, "gap_h_string") is None
    assert value(result, "gap_h_pooled_string") == pytest.approx(-math.log(2))
    assert (value(result, "gap_i_string") or 0) < 0
    assert (value(result, "gap_i_s3e") or 0) < 0
    assert result.warnings == (
        "2 of 2 sentences have no counterpart (gender stated or open): `delta_h` and `gap_h` are empty, "
        "and the pooled ones compare different sentences",
    )


def test_gender_accuracy_on_mgente(tmp_path: Path) -> None:
    """By the words that only one of the references has; a sample with words of both, or of none, tells nothing."""
    samples = [GENDERED, "Weber wurde unsere Vorsitzende.", "Weber hat den Vorsitz.", "Weber kam."]
    result = scored(tmp_path, MGENTE, [samples, OPEN], "de", data="mgente")
    assert value(result, "p_right", "unambiguous") == pytest.approx(2 / 3)
    assert value(result, "h_gender", "unambiguous") == pytest.approx(entropy(1 / 3))
    assert value(result, "i_right_gender") == pytest.approx(-math.log(2 / 3))
    assert value(result, "i_wrong_gender") == pytest.approx(-math.log(1 / 3))
    assert not any("could be read" in one for one in result.warnings)
    lost = scored(tmp_path, MGENTE, [[""], [""]], "de", data="mgente")
    assert "in 1 of 1 sentences no sample's gender could be read" in lost.warnings
    assert value(result, "h_gender", "ambiguous") is None  # whose gender it would be is not annotated


def test_annotated_words_of_mgente_decide_alone(tmp_path: Path) -> None:
    """Without the annotation, "unsere" would tell as well, for the neutral references do without it."""
    samples = [["Weber wurde unsere Vorsitzende.", "Das ist unsere Sache."], OPEN]
    plain = scored(tmp_path, MGENTE, samples, "de", data="mgente")
    marked = MGENTE.replace("neue Vorsitzende", "neue <Vorsitzende>")
    annotated = scored(tmp_path, marked, samples, "de", data="mgente")
    assert plain.estimate("decided").value == 50
    assert annotated.estimate("decided").value == 25
    assert value(annotated, "p_right", "unambiguous") == 1
    # The brackets are no part of the reference.
    assert value(annotated, "i_right_string") == value(plain, "i_right_string")
    assert value(annotated, "gap_i_s3e") == pytest.approx(value(plain, "gap_i_s3e"))


def test_how_much_is_read_at_a_time_changes_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that no lexicon has are found by alignment, which learns from all samples whatever fits in memory."""
    text = "".join(line(gender, verb) for verb in ("waved", "slept", "sang") for gender in _PRONOUNS)
    said = [[f"{text} {n % 3}" for n, text in enumerate([MAN, "La sanadora saludó.", "El sanador saludó."])]] * 9
    monkeypatch.setenv("GENDERMARK_CACHE", str(tmp_path / "first"))
    whole = scored(tmp_path, text, said)
    monkeypatch.setenv("GENDERMARK_CACHE", str(tmp_path / "second"))
    monkeypatch.setattr("gendermark.reading.alignment._CELLS_AT_ONCE", 40)
    assert scored(tmp_path, text, said).to_json() == whole.to_json()
