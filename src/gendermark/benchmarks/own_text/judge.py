"""What the translation of each text shows about the people in it."""

from __future__ import annotations

from typing import Any

from gendermark import registry
from gendermark.benchmarks.benchmark import Answers, BenchmarkOf, Direction, ItemSet
from gendermark.benchmarks.own_text import Settings
from gendermark.benchmarks.own_text.items import load
from gendermark.benchmarks.own_text.measures import MEASURES
from gendermark.reading.failures import failure
from gendermark.reading.reader import Person, read_all, version
from gendermark.records import Gender, Item, Judgement, Verdict


def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    """One judgement for each person; each text is read once."""
    pairs = [(item, samples[0].text or "") for item, samples in zip(item_set.items, answers, strict=True)]
    failures = [failure(item.source, text) for item, text in pairs]
    texts = list(
        dict.fromkeys((item.source, text) for (item, text), why in zip(pairs, failures, strict=True) if not why)
    )
    settings: Settings = item_set.selection
    sources, translations = [source for source, _ in texts], [text for _, text in texts]
    people = read_all(sources, translations, settings.target_language, settings.parser)
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


def language_pairs(data: str) -> list[Direction]:
    return [("en", code) for code in registry.names("language")] if data.startswith("file:") else []


def render(item: Item, gender: Gender, settings: Settings) -> str:  # noqa: ARG001
    return "…"


BENCHMARK = BenchmarkOf(
    name="own-text",
    title="Own texts",
    question="Do translations of your own texts keep the gender the source specifies, and add none?",
    settings=Settings,
    rules_version=2,
    language_pairs=language_pairs,
    load=load,
    judge=judge,
    measures=MEASURES,
    render=render,
    findings="gendermark.benchmarks.own_text.findings:PRESENTATION",
    fit=fit,
    signature=lambda settings: {"reader": version(settings.parser)},
    paper="The gendermark authors. gendermark: gender bias in machine translation, with honest error bars.",
    only_when_named=True,
    reads_any_text=True,
)
