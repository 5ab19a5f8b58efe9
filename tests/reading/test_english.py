"""The person an English translation speaks of: hand-labelled sentences, and work that grows no faster than the text."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from cases import read_cases
from gendermark.io.textfiles import read_lines
from gendermark.reading.english import find_person, pronouns

HEADER, *ROWS = (line.split("\t") for line in read_lines(Path(__file__).parent / "examples" / "en-pronouns.tsv"))
ROOT = Path(__file__).parents[2]
UNDECIDED = {"mixed": "mixed", "no-person": "none"}


def label(sentence: str) -> str:
    finding = find_person(sentence)
    return UNDECIDED[finding.reason] if finding.gender is None else str(finding.gender)


def test_examples_are_many_and_legal() -> None:
    assert HEADER == ["sentence", "gender", "note"]
    assert len(ROWS) >= 120
    assert {gender for _, gender, _ in ROWS} == {"masculine", "feminine", "neutral", "mixed", "none"}
    assert len({sentence for sentence, _, _ in ROWS}) == len(ROWS)


def test_every_example_is_read_as_labelled() -> None:
    assert {sentence: label(sentence) for sentence, _, _ in ROWS} == {sentence: gender for sentence, gender, _ in ROWS}


def test_labelled_sentences_of_the_bench() -> None:
    """Agreement with `bench/labels/english-tgbi.tsv`, which docs/validity.md reports."""
    rows = [line.split("\t") for line in read_lines(ROOT / "bench" / "labels" / "english-tgbi.tsv")[1:]]
    missed = {sentence for _, sentence, gender, _ in rows if label(sentence) != gender}
    assert missed == {"As his sister, I am proud.", "One of the waiters is a student."}


def test_spans_hold_the_evidence() -> None:
    for sentence, _, _ in ROWS:
        for text in (sentence, sentence.upper(), f"İ {sentence}"):
            finding = find_person(text)
            assert tuple(text[start:end] for start, end in finding.spans) == finding.evidence
            assert list(finding.spans) == sorted(set(finding.spans))


@pytest.mark.parametrize(
    "written", [str.upper, lambda sentence: sentence.rstrip(".!?"), lambda sentence: f"  {sentence}\n"]
)
def test_case_and_closing_mark_do_not_matter(written: Callable[[str], str]) -> None:
    sentences = [sentence for sentence, gender, _ in ROWS if gender in ("masculine", "feminine")]
    assert {one: label(written(one)) for one in sentences} == {one: label(one) for one in sentences}


@pytest.mark.parametrize("text", ["", " ", "\n", "...", "\u200b", "🙂", "\ud800", "\0", "'", "’s", "()", "s", "(s)"])
def test_nothing_said_is_nobody_spoken_of(text: str) -> None:
    assert find_person(text).gender is None
    assert find_person(text).reason == "no-person"
    assert find_person(text).evidence == ()


@pytest.mark.parametrize(
    ("sentence", "gender", "reason", "evidence"),
    read_cases("reading/english_evidence.tsv"),
)
def test_reason_and_evidence(sentence: str, gender: str, reason: str, evidence: str) -> None:
    finding = find_person(sentence)
    assert (finding.gender or "-", finding.reason, "|".join(finding.evidence)) == (gender, reason, evidence)


HOSTILE = [
    *("he ", "she he ", "he or ", "he/", "(s)", "(s)he", "he (", "a", "a-", "'", "’", " ", ".", "'s ", "their "),
    *("man ", "the man ", "is a man ", "really ", "really man ", "son of a ", "that one "),
    *("her friend is ", "the person his job "),
]


def operations(text: str) -> int:
    """How many bytecode instructions the answer takes."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        find_person(text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("piece", HOSTILE)
def test_work_grows_with_the_length_only(piece: str) -> None:
    """Twice the text, at most about twice the instructions (four times, if anything were quadratic)."""
    short, long = piece * 100, piece * 200
    assert operations(long) <= 2.2 * operations(short) + 100


@pytest.mark.parametrize("piece", HOSTILE)
def test_pattern_has_nothing_to_backtrack_into(piece: str) -> None:
    """The regular expression's own work is out of sight of bytecode counts; a bomb would take hours, not seconds."""
    text = (piece * 100_000)[:100_000]
    start = time.process_time()
    find_person(text)
    assert time.process_time() - start < 5


def test_all_pronouns_of_a_passage_and_where_they_stand() -> None:
    text = "He’s late, “HER” friend said; they or he/she know it themselves. A she-wolf, the others."
    found = [(text[slice(*one.span)], one.gender.value) for one in pronouns(text)]
    assert found == [
        ("He", "masculine"),
        ("HER", "feminine"),
        ("they", "neutral"),
        ("he/she", "neutral"),
        ("themselves", "neutral"),
    ]
