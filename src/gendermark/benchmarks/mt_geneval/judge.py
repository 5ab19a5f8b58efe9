"""MT-GenEval: a translation against its two references, by our rules and by the released script."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gendermark.benchmarks.benchmark import Answers, BenchmarkOf, ItemSet, words_in_common
from gendermark.benchmarks.mt_geneval import ContextualSettings, CounterfactualSettings, Settings, items, measures
from gendermark.benchmarks.mt_geneval.items import LANGUAGES, corpus_statistics
from gendermark.errors import UserError
from gendermark.languages.folders import language_of
from gendermark.languages.language import Language
from gendermark.metrics import quality
from gendermark.reading import context as contexts
from gendermark.reading.contrast import contrast_of, without_tags
from gendermark.reading.failures import WRONG_LANGUAGE, failure, is_foreign
from gendermark.reading.people import SourcePerson, people_in_all
from gendermark.reading.reader import version
from gendermark.reading.references import Weighing, decide, gender_of_references, letter_of
from gendermark.reading.target import read_translation
from gendermark.reading.words import lowered_spans, spans_of, split_spans
from gendermark.records import Gender, Item, Judgement, Span, Verdict

_HIDDEN = ("reference", "contrastive")
"""Tags for the judge that judgements do not keep."""
_TRUNCATED = 0.35
"""A translation with a smaller share of its reference's words is a fragment."""
_ASCII_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation, " "))
Seen = tuple[str, str, tuple[str, ...], tuple[Span, ...]]
"""Outcome and reason for one translation, the deciding words, and their positions."""


def _failed(reason: str) -> Seen:
    return "failed", reason, (), ()


def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    settings: Settings = item_set.selection
    language = language_of(settings.target_language)
    texts = [item.tags[key] for item in item_set.items for key in _HIDDEN if settings.rules != "paper"]
    vocabulary = {word for text in texts for word in language.cut(without_tags(text))}
    found = people_in_all([item.source for item in item_set.items]) if texts else [[] for _ in item_set.items]
    judgements = []
    for item, people, samples in zip(item_set.items, found, answers, strict=True):
        text = samples[0].text
        answer, context = text or "", item.tags.get("context")
        if context and answer.strip():
            text = contexts.find(answer, context, item.source, _context(settings))
        if settings.rules == "paper":
            seen = _judge_as_paper(item, text or "")
        elif text is None and answer.strip():
            seen = _failed("extraction")
            if _context(settings) == "joined" and not failure(f"{context} {item.source}", answer):
                # The answer merges both sentences. Pronouns may belong to the context; words specific to one reference
                # belong to the sentence.
                whole = _read(item, people, answer, language, only_references=True)
                seen = seen if whole[0] == "undecided" else whole
        else:
            seen = _judge_best(item, people, text, language, vocabulary)
        judgements.append(_judgement(item, seen, contexts.offset(text, answer) if text else 0))
    return judgements


def judge_pairs(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    texts = [samples[0].text or "" for samples in answers]
    references = [without_tags(item.tags["reference"]) for item in item_set.items]
    contrastive = [without_tags(item.tags["contrastive"]) for item in item_set.items]
    columns = {
        "bleu": quality.bleu_statistics(texts, references),
        "chrf": quality.chrf_statistics(texts, references),
        "effort": quality.edit_statistics(texts, references),
        # The score of the other gender's reference shows whether a metric prefers one gender.
        "control": quality.bleu_statistics(contrastive, references),
    }
    if quality.comet_program():
        columns["comet"] = quality.comet_statistics([item.source for item in item_set.items], texts, references)
    judgements = []
    for number, judgement in enumerate(judge(item_set, answers)):
        measures = {f"{name}.{key}": value for name, rows in columns.items() for key, value in rows[number].items()}
        judgements.append(replace(judgement, measures=measures))
    return judgements


def _paper_words(text: str) -> set[str]:
    return set(text.lower().translate(_ASCII_PUNCTUATION).split())


def _judge_as_paper(item: Item, text: str) -> Seen:
    """The released script: only words of the contrastive reference make a translation wrong."""
    right, wrong = (_paper_words(without_tags(item.tags[key])) for key in _HIDDEN)
    found = sorted((wrong - right) & _paper_words(text))
    low = text.lower().translate(_ASCII_PUNCTUATION)
    spans = [(start, end) for start, end in split_spans(low) if low[start:end] in found]
    return "wrong" if found else "correct", "", tuple(found), lowered_spans(text, spans)


def _judge_best(
    item: Item, people: list[SourcePerson], text: str | None, language: Language, vocabulary: set[str]
) -> Seen:
    reason = failure(item.source, text)
    if reason or text is None:
        return _failed(reason or "error")
    words = language.cut(text)
    if len(words) < _TRUNCATED * len(language.cut(without_tags(item.tags["reference"]))):
        return _failed("truncated")
    if is_foreign(words, vocabulary):
        return _failed(WRONG_LANGUAGE)
    return _read(item, people, text, language)


def _read(
    item: Item, people: list[SourcePerson], text: str, language: Language, *, only_references: bool = False
) -> Seen:
    contrast = contrast_of(item.tags["reference"], item.tags["contrastive"], language.code)
    reading = read_translation(text, language.code)
    gender = letter_of(item.expected)
    if item.tags.get("context"):
        # If the sentence leaves gender open, references are more reliable than words of the context.
        gender = gender_of_references(contrast, reading.lists) or gender
    weighing = Weighing(reading, item.source, people, gender, contrast, without_tags(item.tags["reference"]))
    outcome, shown = decide(weighing.evidence(only_references))
    if outcome == "undecided":
        return outcome, outcome if contrast.is_decidable else "undecidable", (), ()
    words, places = language.cut(text), [piece.place for piece in shown]
    evidence = tuple(dict.fromkeys(" ".join(words[slice(*place)]) for place in places))
    return outcome, "mixed" if outcome == "mixed" else "", evidence, spans_of(text, places)


def _judgement(item: Item, seen: Seen, start: int) -> Judgement:
    """`start`: where the translation of the sentence itself begins in the answer."""
    outcome, reason, evidence, places = seen
    tags = {key: value for key, value in item.tags.items() if key not in _HIDDEN}
    spans = tuple((first + start, last + start) for first, last in places)
    verdict, observed = Verdict.JUDGED, None
    if outcome in ("mixed", "undecided", "failed"):
        verdict = Verdict.NOT_TRANSLATED if outcome == "failed" else Verdict.UNJUDGEABLE
    elif item.expected is not None:
        observed = item.expected if outcome == "correct" else item.expected.opposite
    return Judgement.of(
        item, verdict, observed, tags=tags, reason=reason, outcome=outcome, evidence=evidence, spans=spans
    )


def _context(settings: Settings) -> str:
    return getattr(settings, "context", "")


def render(item: Item, gender: Gender, settings: Settings) -> str:
    wanted = gender is Gender.NEUTRAL or item.expected in (None, gender)
    text = without_tags(item.tags["reference"] if wanted else item.tags["contrastive"])
    # A prompt asks for the sentence only.
    if not item.tags.get("context") or _context(settings) == "prompt":
        return text
    return contexts.show(item.tags["context"], text, _context(settings))


def choices(item_set: ItemSet) -> Sequence[tuple[str, str]]:
    context = _context(item_set.selection)
    if context.partition(":")[0] in ("joined", "separator"):
        # Such an answer would begin with the translated context, which the references lack.
        raise UserError(f"--forced-choice goes with --context none or prompt, not {context}")
    return [(without_tags(item.tags["reference"]), without_tags(item.tags["contrastive"])) for item in item_set.items]


def fit(item: Item, text: str, settings: Settings) -> float | None:
    language = language_of(settings.target_language)
    return words_in_common(language.cut(without_tags(item.tags["reference"])), language.cut(text))


def _pair_signature(settings: CounterfactualSettings) -> Mapping[str, str]:
    comet = f"+comet:{program}" if (program := quality.comet_program()) else ""
    return {**_signature(settings), "quality": quality.signature() + comet}


def _signature(settings: Settings) -> dict[str, str]:
    return {"split": settings.split, **({} if settings.rules == "paper" else {"reader": version()})}


_SHARED: dict[str, Any] = {
    "card": "mt-geneval",
    "rules_version": 8,
    "render": render,
    "choices": choices,
    "fit": fit,
    "judges_together": True,  # needs the words of all references
    "sources_depend_on_target": True,
}
COUNTERFACTUAL = BenchmarkOf(
    name="mt-geneval-counterfactual",
    title="MT-GenEval (counterfactual)",
    question="Do the he and she versions of a sentence both keep their gender?",
    settings=CounterfactualSettings,
    language_pairs=lambda _: [("en", code) for code in LANGUAGES],
    load=items.load_pairs,
    judge=judge_pairs,
    measures=measures.PAIRS,
    findings="gendermark.benchmarks.mt_geneval.findings:PAIRS",
    signature=_pair_signature,
    corpus_statistics=corpus_statistics,
    **_SHARED,
)
CONTEXTUAL = BenchmarkOf(
    name="mt-geneval-contextual",
    title="MT-GenEval (contextual)",
    question="Is gender carried over from the previous sentence?",
    settings=ContextualSettings,
    language_pairs=lambda data: [("en", code) for code in (*LANGUAGES, *(["nl"] if data == "official" else []))],
    load=items.load_contexts,
    requests=items.contextual_requests,
    judge=judge,
    measures=measures.CONTEXTS,
    findings="gendermark.benchmarks.mt_geneval.findings:CONTEXTS",
    signature=lambda settings: {**_signature(settings), "context": settings.context},
    **_SHARED,
)
