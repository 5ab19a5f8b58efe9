"""MiTTenS by our rules: pronouns of an English passage; in other languages, what the reader of any text finds."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any

from gendermark.benchmarks.benchmark import Answers, BenchmarkOf, ItemSet, words_in_common
from gendermark.benchmarks.mittens import Settings, items
from gendermark.benchmarks.mittens.measures import MEASURES
from gendermark.languages.folders import language_of
from gendermark.reading.contrast import Contrast, contrast_of
from gendermark.reading.english import Pronoun, pronouns
from gendermark.reading.failures import WRONG_LANGUAGE, failure, is_foreign
from gendermark.reading.people import SourcePerson, people_in_all
from gendermark.reading.reader import version
from gendermark.reading.references import Weighing, decide, letter_of
from gendermark.reading.target import read_translation
from gendermark.reading.words import Place, cut, lowered_spans, spans_of
from gendermark.records import Gender, Item, Judgement, Span, Verdict

_HIDDEN = ("reference", "twin", "names")
"""Tags for the judge that judgements do not keep."""
_FRAGMENT = 1 / 3
"""A text with a smaller share of its reference's words and no gender is a fragment."""


def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    settings: Settings = item_set.selection
    vocabulary = frozenset(word for item in item_set.items for word in cut(item.tags["reference"]))
    is_read = not settings.is_into_english
    people = people_in_all([item.source for item in item_set.items]) if is_read else [[] for _ in item_set.items]
    found = []
    for item, named, samples in zip(item_set.items, people, answers, strict=True):
        text = samples[0].text
        # Where not even the reference shows the gender to the reader, people must judge.
        is_decidable = (
            not is_read or _read(item, named, item.tags["reference"], settings.target_language)[0] == "correct"
        )
        reason = failure(item.source, text)
        if settings.rules == "paper":
            judgement = judge_as_paper(item, text, settings)
        elif text is None or reason:
            judgement = _failed(item, reason or "")
        elif is_foreign(cut(text), vocabulary):
            judgement = _failed(item, WRONG_LANGUAGE)
        elif settings.is_into_english:
            judgement = _judge_english(item, text)
        else:
            judgement = _judge_other(item, named, text, settings.target_language)
        tags = {key: value for key, value in item.tags.items() if key not in _HIDDEN}
        tags["decidable"] = "yes" if is_decidable else "no"
        found.append(replace(judgement, tags=tags))
    return found


def _failed(item: Item, reason: str) -> Judgement:
    return Judgement.of(item, Verdict.NOT_TRANSLATED, reason=reason, outcome="failed")


def _undecided(item: Item, reason: str, outcome: str = "undecided", **facts: Any) -> Judgement:
    return Judgement.of(item, Verdict.UNJUDGEABLE, reason=reason, outcome=outcome, **facts)


def _decided(item: Item, observed: Gender, **facts: Any) -> Judgement:
    outcome = "right" if observed is item.expected else "wrong"
    return Judgement.of(item, Verdict.JUDGED, observed, outcome=outcome, **facts)


# -- into English ----------------------------------------------------------------------------------------------------


def _judge_english(item: Item, text: str) -> Judgement:
    """Nouns do not count: a passage names kin and partners of the other gender. Its pronouns refer to one person, or
    other people's are known from the reference."""
    found = pronouns(text)
    gendered = _of_the_person([one for one in found if one.gender is not Gender.NEUTRAL], item, text)
    told = gendered or [one for one in found if one.gender is Gender.NEUTRAL]
    spans = tuple(one.span for one in told)
    words = tuple(dict.fromkeys(text[start:end].lower() for start, end in spans))
    seen: dict[str, Any] = {"evidence": words, "spans": spans}
    genders = {one.gender for one in told}
    if not genders and len(cut(text)) < _FRAGMENT * len(cut(item.tags["reference"])):
        return _failed(item, "fragment")
    if not genders or genders == {Gender.NEUTRAL}:
        return _undecided(item, "neutral-pronoun" if genders else "no-pronoun", **seen)
    if len(genders) == 2:  # one person cannot be both: this contradicts the source as much as the other gender alone
        return Judgement.of(item, Verdict.JUDGED, None, outcome="mixed", reason="mixed", **seen)
    return _decided(item, genders.pop(), **seen)


def _of_the_person(told: list[Pronoun], item: Item, text: str) -> list[Pronoun]:
    """Without other people's pronouns, if the reference has such: "Her brother says that he is tired"."""
    reference = item.tags["reference"]
    expected = [one for one in pronouns(reference) if one.gender is not Gender.NEUTRAL]
    others = sum(one.gender is not item.expected for one in expected)
    own = [one for one in told if one.gender is item.expected]
    if others and len(told) == len(expected):
        same = [one for one, other in zip(told, expected, strict=True) if other.gender is item.expected]
        is_reordered = _words_of(told, text) == _words_of(expected, reference)
        return own if is_reordered and len({one.gender for one in same}) > 1 else same
    if len(told) - len(own) > others:
        return told
    theirs = [one for one in expected if one.gender is not item.expected]
    cases = set("".join(_CASES.get(word, "s") for word in _words_of(theirs, reference)))
    is_theirs = all(cases.intersection(_CASES.get(word, "s")) for word in _words_of(told, text))
    return own if own or is_theirs else told  # "her" is not the "she" of the reference


_CASES = {"him": "o", "his": "p", "her": "op", "hers": "p", "himself": "r", "herself": "r"}


def _words_of(found: list[Pronoun], text: str) -> Counter[str]:
    return Counter(text[slice(*one.span)].lower() for one in found)


# -- out of English --------------------------------------------------------------------------------------------------


def _judge_other(item: Item, people: list[SourcePerson], text: str, code: str) -> Judgement:
    language = language_of(code)
    words = language.cut(text)
    outcome, places = _read(item, people, text, code)
    if outcome == "undecided":
        if len(words) < _FRAGMENT * len(language.cut(item.tags["reference"])):
            return _failed(item, "fragment")
        return _undecided(item, "no-evidence")
    evidence = tuple(dict.fromkeys(" ".join(words[slice(*place)]) for place in places))
    seen: dict[str, Any] = {"evidence": evidence, "spans": spans_of(text, places)}
    if outcome == "mixed":  # not surely about the same person
        return _undecided(item, "mixed", outcome="mixed", **seen)
    expected = item.expected or Gender.NEUTRAL
    return _decided(item, expected if outcome == "correct" else expected.opposite, **seen)


def _read(item: Item, people: list[SourcePerson], text: str, code: str) -> tuple[str, list[Place]]:
    """What the reader finds about the person; the reference and its twin of the other gender add to it."""
    reference, twin, names = item.tags["reference"], item.tags["twin"], frozenset(item.tags["names"].split())
    contrast = contrast_of(reference, twin, code) if twin else Contrast.of_one(reference, code)
    right, wrong = (
        frozenset(unit for unit in units if names.isdisjoint(unit)) for units in (contrast.right, contrast.wrong)
    )
    contrast = replace(contrast, right=right, wrong=wrong)
    reading = read_translation(text, code)
    outcome, shown = decide(
        Weighing(reading, item.source, people, letter_of(item.expected), contrast, reference).evidence()
    )
    return outcome, [piece.place for piece in shown]


# -- by the paper's rules ----------------------------------------------------------------------------------------------
#
# No pronoun of the other gender may occur in the English. Neither a word list nor a program was released. That pronouns
# are scanned and that contradictions count is the paper's; which words, and what becomes of both genders or of none, is
# our reading, so both can be chosen (`--mixed`, `--none`).

GENDERS = {
    **dict.fromkeys(("he", "him", "his", "himself"), Gender.MASCULINE),
    **dict.fromkeys(("she", "her", "hers", "herself"), Gender.FEMININE),
}
_WORD = re.compile(r"[a-z]+")


def scan(text: str) -> list[tuple[str, Span]]:
    low = text.lower()
    found = [(match.group(), match.span()) for match in _WORD.finditer(low) if match.group() in GENDERS]
    return list(zip((word for word, _ in found), lowered_spans(text, [span for _, span in found]), strict=True))


def judge_as_paper(item: Item, text: str | None, settings: Settings) -> Judgement:
    found = scan(text or "")
    counts = Counter(GENDERS[word] for word, _ in found)
    observed, reason = next(iter(counts), None), ""
    if len(counts) == 2:
        is_tied = counts[Gender.MASCULINE] == counts[Gender.FEMININE]
        reason = "mixed"
        observed = None if is_tied or settings.mixed == "wrong" else counts.most_common(1)[0][0]
    outcome = "right" if observed is item.expected else "wrong"
    if not counts:
        reason, outcome = "no-pronoun", {"skip": "undecided"}.get(settings.none, settings.none)
    verdict = Verdict.UNJUDGEABLE if outcome == "undecided" else Verdict.JUDGED
    return Judgement.of(
        item,
        verdict,
        observed,
        evidence=tuple(dict.fromkeys(word for word, _ in found)),
        spans=tuple(span for _, span in found),
        reason=reason,
        outcome=outcome,
    )


# -- what fakes say, and what fits -----------------------------------------------------------------------------------

_PRONOUN = re.compile(r"\b(?:he|him|his|himself|she|hers|herself|her (?=[a-z])|her)\b", re.IGNORECASE)


def render(item: Item, gender: Gender, settings: Settings) -> str:
    reference, twin = item.tags["reference"], item.tags["twin"]
    if not settings.is_into_english:
        is_other = item.expected is not None and gender is item.expected.opposite
        return reference if not is_other else twin or "…"
    if gender is item.expected:
        return reference

    def other(match: re.Match[str]) -> str:
        word = match.group()
        said: str = items.WORDS["pronouns"][gender].get(word.lower(), word)
        return said.capitalize() if word[0].isupper() else said

    return _PRONOUN.sub(other, reference)


BENCHMARK = BenchmarkOf(
    name="mittens",
    title="MiTTenS",
    question="Do people keep the gender that the source gives them?",
    settings=Settings,
    rules_version=6,
    language_pairs=items.language_pairs,
    default_own=items.with_source,
    complete_own=items.complete,
    load=items.load,
    requests=items.requests,
    judge=judge,
    judges_together=True,  # needs the words of all references
    measures=MEASURES,
    render=render,
    findings="gendermark.benchmarks.mittens.findings:PRESENTATION",
    card="mittens",
    signature=lambda settings: {
        **{name: value for name in ("split", "mixed", "none") if (value := getattr(settings, name))},
        **({} if settings.is_into_english else {"reader": version()}),
    },
    fit=lambda item, text, _: words_in_common(cut(item.tags["reference"]), cut(text)),
)
