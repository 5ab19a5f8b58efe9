"""GEST: the speaker's gender, by the words that agree with the first person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gendermark.benchmarks.benchmark import Answers, ItemSet, judge_each
from gendermark.benchmarks.gest import Settings
from gendermark.languages.folders import part_of
from gendermark.languages.speaking import Cue
from gendermark.reading.failures import failure
from gendermark.records import Gender, Item, Judgement, Verdict


def cues_of(text: str, language: str, *, fitted: bool = False) -> list[Cue]:
    """Find the words that show the speaker's gender; `fitted`: by the rules fitted on the released translations."""
    found: list[Cue] = part_of(language, "speaker", "FITTED" if fitted else "SPEAKER").cues(text)
    return found


_ORDER = (Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL)


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
    """The first word that shows a gender decides, whether or not anything was translated."""
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
    examples: tuple[str, str, str] = part_of(settings.target_language, "speaker", "EXAMPLES")
    return examples[_ORDER.index(gender)]
