"""What the translation of each text shows about the people in it."""

from __future__ import annotations

from typing import Any

from gendermark.benchmarks.benchmark import Answers, ItemSet
from gendermark.benchmarks.own_text import Settings
from gendermark.reading.failures import failure
from gendermark.reading.reader import Person, read_all
from gendermark.records import Gender, Item, Judgement, Verdict


def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    """One judgement for each person; each text is read once."""
    pairs = [(item, samples[0].text or "") for item, samples in zip(item_set.items, answers, strict=True)]
    failures = [failure(item.source, text) for item, text in pairs]
    texts = list(
        dict.fromkeys((item.source, text) for (item, text), why in zip(pairs, failures, strict=True) if not why)
    )
    language = item_set.selection.target_language
    people = read_all([source for source, _ in texts], [text for _, text in texts], language)
    read = {
        (*pair, str(person.start), str(person.end)): person
        for pair, found in zip(texts, people, strict=True)
        for person in found
    }
    return [
        Judgement.of(item, Verdict.NOT_TRANSLATED, reason=why)
        if why
        else _judgement(item, text, read[item.source, text, item.tags["start"], item.tags["end"]])
        for (item, text), why in zip(pairs, failures, strict=True)
    ]


def _judgement(item: Item, text: str, person: Person) -> Judgement:
    words = tuple(text[start:end] for start, end in person.evidence)
    facts: dict[str, Any] = {"evidence": words, "spans": person.evidence}
    if person.target_state != "shown":
        reason = "not-shown" if person.target_state == "not_shown" else "unclear"
        return Judgement.of(item, Verdict.UNJUDGEABLE, reason=reason, outcome="undecided", **facts)
    if person.target_gender == "mixed":
        return Judgement.of(item, Verdict.UNJUDGEABLE, reason="mixed", outcome="mixed", **facts)
    outcome = "" if item.expected else "open"
    return Judgement.of(item, Verdict.JUDGED, Gender(str(person.target_gender)), outcome=outcome, **facts)


def fit(item: Item, text: str, settings: Settings) -> float | None:  # noqa: ARG001
    """The share of names, numbers and placeholders, which a translation leaves as they are, that a text has."""
    words = {word.strip(".,;:!?\"'()“”‘’") for word in item.source.split()[1:]}
    kept = {word for word in words if len(word) > 2 and (word[0].isupper() or word[0] in "%{$<" or word.isdigit())}
    return sum(word in text for word in kept) / len(kept) if kept else None
