"""MT-GenEval: one translation against its two references, by our rules and by the released script."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gendermark.benchmarks.benchmark import Answers, ItemSet, words_in_common
from gendermark.benchmarks.mt_geneval import Settings
from gendermark.benchmarks.mt_geneval.items import contrast_of, lists_of
from gendermark.errors import UserError
from gendermark.languages.folders import language_of
from gendermark.languages.language import Language
from gendermark.metrics import quality
from gendermark.reading import context as contexts
from gendermark.reading.contrast import without_tags
from gendermark.reading.evidence import decide, gather, is_a_name_of_the_person
from gendermark.reading.failures import WRONG_LANGUAGE, failure, is_foreign
from gendermark.reading.sentence import Sentence, Shown, gender_of_references, letter_of, marks
from gendermark.reading.words import lowered_spans, spans_of, split_spans
from gendermark.records import Gender, Item, Judgement, Span, Verdict

_HIDDEN = ("reference", "contrastive")
"""Tags that a judge needs and a judgement does not carry."""
_TRUNCATED = 0.35
"""Below this share of its reference's words, a translation is a fragment."""
_ASCII_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation, " "))


@dataclass(frozen=True, slots=True)
class _Judged:
    """One translation against its two references."""

    outcome: str
    reason: str = ""
    evidence: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()


def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    settings: Settings = item_set.selection
    language = language_of(settings.target_language)
    texts = [item.tags[key] for item in item_set.items for key in _HIDDEN if settings.rules != "paper"]
    vocabulary = {word for text in texts for word in language.cut(without_tags(text))}
    judgements = []
    for item, samples in zip(item_set.items, answers, strict=True):
        text = _own_part(item, samples[0].text, settings)
        if settings.rules == "paper":
            judged = _judge_as_paper(item, text)
        else:
            judged = _judge_best(item, text, language, vocabulary, _extraction_failed(item, samples[0].text, text))
            if judged.reason == "extraction" and _context(settings) == "joined":
                judged = _judge_whole(item, samples[0].text or "", language)
        start = contexts.offset(text, samples[0].text or "") if text else 0
        spans = tuple((first + start, last + start) for first, last in judged.spans)
        judgements.append(_judgement(item, replace(judged, spans=spans)))
    return judgements


def judge_pairs(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    texts = [samples[0].text or "" for samples in answers]
    references = [without_tags(item.tags["reference"]) for item in item_set.items]
    contrastive = [without_tags(item.tags["contrastive"]) for item in item_set.items]
    columns = {
        "bleu": quality.bleu_statistics(texts, references),
        "chrf": quality.chrf_statistics(texts, references),
        "effort": quality.edit_statistics(texts, references),
        # What the other gender's reference would score: a metric that prefers one gender shows it here.
        "control": quality.bleu_statistics(contrastive, references),
    }
    if quality.comet_program():
        columns["comet"] = quality.comet_statistics([item.source for item in item_set.items], texts, references)
    judgements = []
    for number, judgement in enumerate(judge(item_set, answers)):
        measures = {f"{name}.{key}": value for name, rows in columns.items() for key, value in rows[number].items()}
        judgements.append(replace(judgement, measures=measures))
    return judgements


def _own_part(item: Item, text: str | None, settings: Settings) -> str | None:
    """The translation of the sentence itself, without that of its context."""
    if text is None or not text.strip() or not item.tags.get("context"):
        return text
    return contexts.find(text, item.tags["context"], item.source, _context(settings))


def _extraction_failed(item: Item, answer: str | None, text: str | None) -> bool:
    return bool(item.tags.get("context")) and answer is not None and bool(answer.strip()) and text is None


def _paper_words(text: str) -> set[str]:
    return set(text.lower().translate(_ASCII_PUNCTUATION).split())


def _judge_as_paper(item: Item, text: str | None) -> _Judged:
    """The released script: only the words of the contrastive reference can make a translation wrong."""
    right, wrong = (_paper_words(without_tags(item.tags[key])) for key in _HIDDEN)
    found = sorted((wrong - right) & _paper_words(text or ""))
    return _Judged("wrong" if found else "correct", "", tuple(found), _paper_spans(text or "", set(found)))


def _paper_spans(text: str, found: set[str]) -> tuple[Span, ...]:
    low = text.lower().translate(_ASCII_PUNCTUATION)
    return lowered_spans(text, [(start, end) for start, end in split_spans(low) if low[start:end] in found])


def _judge_best(
    item: Item, text: str | None, language: Language, vocabulary: set[str], extraction_failed: bool
) -> _Judged:
    if extraction_failed:
        return _Judged("failed", "extraction")
    reason = failure(item.source, text)
    if reason or text is None:
        return _Judged("failed", reason or "error")
    words = language.cut(text)
    if len(words) < _TRUNCATED * len(language.cut(without_tags(item.tags["reference"]))):
        return _Judged("failed", "truncated")
    if is_foreign(words, vocabulary):
        return _Judged("failed", WRONG_LANGUAGE)
    return _weigh(item, text, language)


def _judge_whole(item: Item, answer: str, language: Language) -> _Judged:
    """An answer in which context and sentence were run into one.

    Its pronouns may be the context's. The words that only one of the sentence's references has are the sentence's.
    """
    if failure(f"{item.tags['context']} {item.source}", answer):
        return _Judged("failed", "extraction")
    contrast = contrast_of(item.tags["reference"], item.tags["contrastive"], language.code)
    lists = lists_of(language.code)
    sentence = Sentence(answer, item.source, marks(item.source), "", contrast, language, lists)
    found = [shown for shown in gather(sentence) if is_a_name_of_the_person(sentence, shown)]
    outcome, shown = decide(found)
    if outcome == "undecided":
        return _Judged("failed", "extraction")
    return _judged(answer, outcome, shown, language)


def _weigh(item: Item, text: str, language: Language) -> _Judged:
    """What the words of a translation show about the people whose gender its source marks."""
    contrast = contrast_of(item.tags["reference"], item.tags["contrastive"], language.code)
    lists = lists_of(language.code)
    gender = letter_of(item.expected)
    if item.tags.get("context"):
        # Of a sentence that leaves gender open, the references know more than the words of the context.
        gender = gender_of_references(contrast, lists) or gender
    outcome, shown = decide(gather(Sentence(text, item.source, marks(item.source), gender, contrast, language, lists)))
    if outcome == "undecided":
        return _Judged(outcome, outcome if contrast.is_decidable else "undecidable")
    return _judged(text, outcome, shown, language)


def _judged(text: str, outcome: str, shown: Sequence[Shown], language: Language) -> _Judged:
    words = language.cut(text)
    evidence = tuple(dict.fromkeys(" ".join(words[slice(*piece.place)]) for piece in shown))
    spans = spans_of(text, [piece.place for piece in shown])
    return _Judged(outcome, "mixed" if outcome == "mixed" else "", evidence, spans)


def _judgement(item: Item, judged: _Judged) -> Judgement:
    tags = {key: value for key, value in item.tags.items() if key not in _HIDDEN}
    observed = None
    if item.expected is not None and judged.outcome in ("correct", "wrong"):
        observed = item.expected if judged.outcome == "correct" else item.expected.opposite
    verdict = {"failed": Verdict.NOT_TRANSLATED, "mixed": Verdict.UNJUDGEABLE, "undecided": Verdict.UNJUDGEABLE}.get(
        judged.outcome, Verdict.JUDGED
    )
    facts = {key: getattr(judged, key) for key in ("evidence", "reason", "outcome", "spans")}
    return Judgement.of(item, verdict, observed, tags=tags, **facts)


def _context(settings: Settings) -> str:
    return getattr(settings, "context", "")


def render(item: Item, gender: Gender, settings: Settings) -> str:
    wanted = gender is Gender.NEUTRAL or item.expected in (None, gender)
    text = without_tags(item.tags["reference"] if wanted else item.tags["contrastive"])
    # A prompt asks for the sentence only, so that is what a system answers.
    if not item.tags.get("context") or _context(settings) == "prompt":
        return text
    return contexts.show(item.tags["context"], text, _context(settings))


def choices(item_set: ItemSet) -> Sequence[tuple[str, str]]:
    context = _context(item_set.selection)
    if context.partition(":")[0] in ("joined", "separator"):
        # The answer to such a source begins with the context's translation, which no reference has.
        raise UserError(f"--forced-choice goes with --context none or prompt, not {context}")
    return [(without_tags(item.tags["reference"]), without_tags(item.tags["contrastive"])) for item in item_set.items]


def fit(item: Item, text: str, settings: Settings) -> float | None:
    language = language_of(settings.target_language)
    return words_in_common(language.cut(without_tags(item.tags["reference"])), language.cut(text))
