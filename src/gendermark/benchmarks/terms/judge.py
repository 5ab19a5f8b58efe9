"""Annotated terms: which of them a translation has, and in which form."""

from __future__ import annotations

from typing import Any

from gendermark.benchmarks.benchmark import Answers, ItemSet, judge_each
from gendermark.benchmarks.terms import Settings
from gendermark.metrics.terms import Found, as_measures, counts_of, find_terms, read_terms
from gendermark.reading.words import cut, spans_of
from gendermark.records import Gender, Item, Judgement, Verdict


def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    def nothing_found(item: Item, _: str | None) -> dict[str, Any]:
        return {"measures": as_measures(counts_of([Found(term) for term in read_terms(item.tags["terms"])]))}

    return judge_each(item_set, answers, _judge_one, nothing_found)


def _judge_one(item: Item, text: str) -> Judgement:
    found = find_terms(cut(text), read_terms(item.tags["terms"]))
    seen = [one for one in found if one.place is not None]
    facts: dict[str, Any] = {
        "evidence": tuple(" ".join(one.term.right if one.is_right else one.term.wrong) for one in seen),
        "spans": spans_of(text, [one.place for one in seen if one.place is not None]),
        "measures": as_measures(counts_of(found)),
    }
    if not seen:
        return Judgement.of(item, Verdict.UNJUDGEABLE, reason="absent", outcome="undecided", **facts)
    kinds = {one.is_right for one in seen}
    if len(kinds) == 2:
        return Judgement.of(item, Verdict.UNJUDGEABLE, reason="mixed", outcome="mixed", **facts)
    outcome = "correct" if kinds == {True} else "wrong"
    observed = None
    if item.expected is not None:
        observed = item.expected if outcome == "correct" else item.expected.opposite
    return Judgement.of(item, Verdict.JUDGED, observed, outcome=outcome, **facts)


def render(item: Item, gender: Gender, settings: Settings) -> str:  # noqa: ARG001
    if gender is Gender.NEUTRAL:
        return "…"
    is_right = item.expected in (None, gender)
    forms = [term.right if is_right else term.wrong for term in read_terms(item.tags["terms"])]
    return ", ".join(" ".join(form) for form in forms) + "."
