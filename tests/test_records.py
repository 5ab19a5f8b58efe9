"""The records: frozen, equal by content, and the same after a trip through JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gendermark.records import Gender, Item, Judgement, Request, Task, Verdict

REQUEST = Request("The doctor slept.", "en", "es")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
JUDGEMENTS = st.builds(
    Judgement,
    item_id=TEXT,
    index=st.integers(0),
    group_id=TEXT,
    verdict=st.sampled_from(Verdict),
    expected=st.sampled_from([None, *Gender]),
    observed=st.sampled_from([None, *Gender]),
    tags=st.dictionaries(TEXT, TEXT, max_size=3),
    evidence=st.lists(TEXT, max_size=3).map(tuple),
    entity=TEXT,
    contrast=TEXT,
    reason=TEXT,
    outcome=TEXT,
    spans=st.lists(st.tuples(st.integers(0), st.integers(0)), max_size=3).map(tuple),
)


def test_request_id_depends_on_content_only() -> None:
    assert Request("The doctor slept.", "en", "es").request_id == REQUEST.request_id
    assert replace(REQUEST).request_id == REQUEST.request_id
    # Stored translations are found by this id, so another way of making it would orphan every store there is.
    assert REQUEST.request_id == "559211bc57e9f9c99f6be4820c2a6fd2"
    for samples in ({"first_sample": 5}, {"n_samples": 9}):
        assert replace(REQUEST, **samples).request_id == REQUEST.request_id, "more samples extend the same request"


@pytest.mark.parametrize(
    "change",
    [
        {"source": "The doctor slept"},
        {"source": "The doctor slept. "},
        {"source_language": "de"},
        {"target_language": "de"},
        {"task": Task.SAMPLE},
        {"task": Task.SCORE},
        {"target": ""},
        {"target": "El médico durmió."},
        {"options": (("seed", "1"),)},
    ],
)
def test_every_part_of_the_content_counts(change: dict[str, Any]) -> None:
    assert replace(REQUEST, **change).request_id != REQUEST.request_id


def test_parts_of_the_content_do_not_run_together() -> None:
    assert Request("a", "bc", "d").request_id != Request("ab", "c", "d").request_id
    assert Request("a", "en", "es", options=(("a", "b"), ("c", "d"))).request_id != (
        Request("a", "en", "es", options=(("a", "bc"), ("", "d"))).request_id
    )


def test_samples_of_a_request() -> None:
    assert list(replace(REQUEST, first_sample=3, n_samples=2).samples) == [3, 4]
    assert list(REQUEST.samples) == [0]


@given(JUDGEMENTS)
def test_judgement_survives_json(judgement: Judgement) -> None:
    row = json.loads(json.dumps(judgement.to_json(), ensure_ascii=False))
    back = Judgement.from_json(row)
    assert back == judgement
    assert type(back.verdict) is Verdict
    assert back.to_json() == judgement.to_json()


def test_a_judgement_copies_what_is_known_of_its_item() -> None:
    item = Item("a", 3, "g", "The nurse slept.", Gender.FEMININE, {"role": "subject"}, "nurse", "c")
    judgement = Judgement.of(item, Verdict.JUDGED, Gender.FEMININE, reason="form", spans=((0, 2),))
    assert (judgement.item_id, judgement.index, judgement.group_id) == ("a", 3, "g")
    assert (judgement.entity, judgement.contrast, judgement.tags) == ("nurse", "c", {"role": "subject"})
    assert judgement.is_correct
    row = judgement.to_json()
    assert row["tags"] == {"role": "subject", "entity": "nurse", "contrast": "c", "reason": "form"}
    assert "outcome" not in row["tags"]
    assert row["spans"] == [[0, 2]]


@pytest.mark.parametrize(
    ("verdict", "expected", "observed", "correct"),
    [
        (Verdict.JUDGED, Gender.FEMININE, Gender.FEMININE, True),
        (Verdict.JUDGED, Gender.FEMININE, Gender.MASCULINE, False),
        (Verdict.JUDGED, Gender.NEUTRAL, Gender.NEUTRAL, True),
        (Verdict.JUDGED, None, None, False),
        (Verdict.UNJUDGEABLE, Gender.FEMININE, Gender.FEMININE, False),
        (Verdict.NOT_TRANSLATED, Gender.NEUTRAL, None, False),
        (Verdict.NOT_TRANSLATED, None, None, False),
    ],
)
def test_correct(verdict: Verdict, expected: Gender | None, observed: Gender | None, correct: bool) -> None:
    assert Judgement("i", 0, "g", verdict, expected, observed).is_correct is correct
