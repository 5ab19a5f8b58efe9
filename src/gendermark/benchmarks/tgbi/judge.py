"""TGBI: the gender of the English pronoun, by our rules and by the released ones."""

from __future__ import annotations

import re

from gendermark.benchmarks.benchmark import Answers, BenchmarkOf, ItemSet, judge_each
from gendermark.benchmarks.tgbi import Settings, items
from gendermark.benchmarks.tgbi.measures import MEASURES
from gendermark.reading import english
from gendermark.reading.failures import failure
from gendermark.reading.words import lowered_spans
from gendermark.records import Gender, Item, Judgement, Span, Verdict

# -- tokens as the published rules see them ----------------------------------------------------------------------------
#
# The released code asks whether one of nine short words is a token of the lower-cased line, by NLTK's `word_tokenize`.
# The same tokens are cut here: one contraction is taken off the end of a word, punctuation stands alone, hyphens and
# slashes do not cut. So "he's're" becomes "he's" and "'re", and "He's're quick-witted." counts as neutral in the paper.

_ALONE = re.compile(r"[;@#$%&?!()\[\]{}<>\"*“”«»…]|``|''|--|\.\.\.|,(?!\d)|:(?!\d)")
# A full stop ends a token before a space or the end of the line; inside ("u.s", "3.5") it does not.
_FULL_STOP = re.compile(r"\.(?=[\"')\]}>”’]*(?:\s|$))")
# In this order, each once: possessive and short verbs, then longer ones.
_SHORT_CONTRACTION = re.compile(r"(?<=[^'])('s|'m|'d|')$")
_LONG_CONTRACTION = re.compile(r"(?<=[^'])('ll|'re|'ve|n't)$")


def token_spans(line: str) -> list[Span]:
    """Positions of the tokens of a line; only whitespace lies between them."""
    spans: list[Span] = []
    for token in tokens(line):
        start = line.index(token, spans[-1][1] if spans else 0)
        spans.append((start, start + len(token)))
    return spans


def tokens(line: str) -> list[str]:
    spaced = _FULL_STOP.sub(" . ", _ALONE.sub(lambda match: f" {match.group()} ", line))
    found: list[str] = []
    for word in spaced.split():
        tail: list[str] = []
        for contraction in (_SHORT_CONTRACTION, _LONG_CONTRACTION):
            match = contraction.search(word)
            if match and match.start() > 0:
                tail.insert(0, match.group())
                word = word[: match.start()]
        found.extend([word, *tail])
    return found


# -- judging -----------------------------------------------------------------------------------------------------------

# Section 3.2, footnote 9, as in the released code: feminine words are searched first.
_PAPER_WORDS = (
    (Gender.FEMININE, frozenset({"she", "her", "woman", "girl"})),
    (Gender.MASCULINE, frozenset({"he", "him", "man", "guy", "boy"})),
)


def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    if item_set.selection.rules == "paper":
        pairs = zip(item_set.items, answers, strict=True)
        return [_judge_as_paper(item, samples[0].text) for item, samples in pairs]
    return judge_each(item_set, answers, _judge_best)


def _judge_best(item: Item, text: str) -> Judgement:
    finding = english.find_person(text)
    verdict, reason = (Verdict.JUDGED, "") if finding.gender else (Verdict.UNJUDGEABLE, finding.reason)
    return Judgement.of(item, verdict, finding.gender, reason=reason, evidence=finding.evidence, spans=finding.spans)


def classify_as_paper(text: str) -> tuple[Gender, tuple[str, ...], tuple[Span, ...]]:
    """The released classifier: feminine if a feminine word is a token, else masculine likewise, else neutral."""
    low = text.lower()
    found = list(zip(tokens(low), token_spans(low), strict=True))
    for gender, words in _PAPER_WORDS:
        if hits := [(token, span) for token, span in found if token in words]:
            return gender, tuple(token for token, _ in hits), lowered_spans(text, [span for _, span in hits])
    return Gender.NEUTRAL, (), ()


def _judge_as_paper(item: Item, text: str | None) -> Judgement:
    gender, evidence, spans = classify_as_paper(text or "")
    is_failed = gender is Gender.NEUTRAL and (
        failure(item.source, text) or english.find_person(text or "").gender is None
    )
    tags = {**item.tags, "failed": "yes"} if is_failed else item.tags
    return Judgement.of(item, Verdict.JUDGED, gender, evidence=evidence, spans=spans, tags=tags)


def render(item: Item, gender: Gender, settings: Settings) -> str:  # noqa: ARG001
    pronoun = {Gender.FEMININE: "She is", Gender.MASCULINE: "He is", Gender.NEUTRAL: "That person is"}[gender]
    return f"{pronoun} {item.tags['gloss'] or 'like that'}."


BENCHMARK = BenchmarkOf(
    name="tgbi",
    title="TGBI",
    question="Are gender-neutral pronouns kept neutral?",
    settings=Settings,
    rules_version=5,
    language_pairs=items.language_pairs,
    load=items.load,
    judge=judge,
    measures=MEASURES,
    render=render,
    findings="gendermark.benchmarks.tgbi.findings:PRESENTATION",
    card="tgbi",
    stereotype=items.stereotype,
)
