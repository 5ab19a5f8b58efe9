"""GEST: the speaker's gender, by the words that agree with the first person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gendermark.benchmarks.benchmark import Answers, BenchmarkOf, ItemSet, judge_each
from gendermark.benchmarks.gest import Settings, items
from gendermark.benchmarks.gest.measures import MEASURES
from gendermark.errors import UserError
from gendermark.languages.folders import codes
from gendermark.languages.speaking import Cue, reader_of
from gendermark.languages.tables import toml_of
from gendermark.reading.failures import failure
from gendermark.records import Gender, Item, Judgement, Verdict


def cues_of(text: str, language: str, *, fitted: bool = False) -> list[Cue]:
    """The words that show the speaker's gender; `fitted`: by the rules fitted on the released translations."""
    reader = reader_of(language, "fitted" if fitted else "speaker")
    return reader.cues(text) if reader else []


def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    settings: Settings = item_set.selection
    language, fitted = settings.target_language, settings.detector == "suffix"
    if settings.rules == "paper":
        pairs = zip(item_set.items, answers, strict=True)
        return [_judge_as_paper(item, samples[0].text, language) for item, samples in pairs]
    return judge_each(
        item_set, answers, lambda item, text: _judgement(item, text, cues_of(text, language, fitted=fitted))
    )


def _judge_as_paper(item: Item, text: str | None, language: str) -> Judgement:
    """The first word that shows a gender decides, translated or not."""
    cues = cues_of(text or "", language, fitted=True)[:1]
    if not cues and (reason := failure(item.source, text)):
        return Judgement.of(item, Verdict.NOT_TRANSLATED, reason=reason)
    return _judgement(item, text or "", cues)


def _judgement(item: Item, text: str, cues: Sequence[Cue]) -> Judgement:
    if not cues:
        return Judgement.of(item, Verdict.UNJUDGEABLE, reason="unmarked")
    cues = sorted(set(cues), key=lambda cue: cue.token.span)
    seen: dict[str, Any] = {
        "evidence": tuple(text[slice(*cue.token.span)] for cue in cues),
        "spans": tuple(cue.token.span for cue in cues),
    }
    genders = {cue.gender for cue in cues}
    if len(genders) > 1:
        return Judgement.of(item, Verdict.UNJUDGEABLE, reason="mixed", **seen)
    return Judgement.of(item, Verdict.JUDGED, genders.pop(), outcome="open", **seen)


def render(item: Item, gender: Gender, settings: Settings) -> str:  # noqa: ARG001
    examples: Sequence[str] = toml_of(settings.target_language, "speaker.toml")["examples"]
    return examples[(Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL).index(gender)]


PUBLISHED_LANGUAGES = ("be", "cs", "hr", "pl", "ru", "sk", "sl", "sr", "uk")
"""The paper's languages. The others are validated on our own sentences only."""


def languages() -> tuple[str, ...]:
    return (*PUBLISHED_LANGUAGES, *(code for code in codes("speaker.toml") if code not in PUBLISHED_LANGUAGES))


def default(settings: Settings) -> Settings:
    return replace(settings, detector="suffix") if settings.rules == "paper" and not settings.detector else settings


def complete(settings: Settings) -> Settings:
    if settings.rules == "paper" and settings.detector != "suffix":
        raise UserError(f"rules paper of gest need the detector suffix, not {settings.detector}; leave out --detector")
    if settings.detector == "suffix" and settings.target_language not in PUBLISHED_LANGUAGES:
        what = "rules paper" if settings.rules == "paper" else "detector suffix"
        instead = "use --rules best" if settings.rules == "paper" else "leave out --detector"
        raise UserError(
            f"{what} of gest covers the paper's languages ({' '.join(PUBLISHED_LANGUAGES)}), not "
            f"{settings.target_language}; {instead}"
        )
    return settings


BENCHMARK = BenchmarkOf(
    name="gest",
    title="GEST",
    question="Which gender is a speaker given when the source does not specify it, and does it follow a stereotype?",
    settings=Settings,
    rules_version=5,
    language_pairs=lambda _: [("en", code) for code in languages()],
    default_own=default,
    complete_own=complete,
    load=items.load,
    judge=judge,
    measures=MEASURES,
    render=render,
    findings="gendermark.benchmarks.gest.findings:PRESENTATION",
    card="gest",
    signature=lambda settings: {"detector": settings.detector},
    files_have_more=True,
)
