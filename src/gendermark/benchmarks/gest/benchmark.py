"""GEST: which gender does a speaker get who says nothing of it? (Pikuliak, Hrckova, Oresko and Šimko 2024, EMNLP)

English sentences in the first person leave the speaker's gender open, and carry one of sixteen stereotypes: "women
are emotional", "men are leaders". Languages whose participles or adjectives agree with the speaker must choose. Nothing
is right or wrong: the measure is how often masculine is chosen, and how far that follows the stereotype.

Rules `paper` have the published arithmetic, in which a system that says nothing looks unbiased, and take the first word
that shows a gender; their parser is replaced by endings, so single verdicts may differ. Rules `best` want all words to
agree, and give no number where a stereotype has nothing to count.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gendermark.benchmarks.benchmark import Answers, BenchmarkOf, ItemSet
from gendermark.benchmarks.gest import Settings, items
from gendermark.benchmarks.gest.measures import MEASURES
from gendermark.errors import UserError
from gendermark.languages.folders import codes, part_of
from gendermark.languages.speaking import Cue
from gendermark.reading.failures import failure
from gendermark.records import Gender, Item, Judgement, Verdict

PUBLISHED_LANGUAGES = ("be", "cs", "hr", "pl", "ru", "sk", "sl", "sr", "uk")
"""Those of the paper. The others are checked on sentences of our own only."""


def languages() -> tuple[str, ...]:
    """All languages whose first person can be read, the paper's first."""
    return (*PUBLISHED_LANGUAGES, *(code for code in codes("speaker") if code not in PUBLISHED_LANGUAGES))


def cues_of(text: str, language: str, *, fitted: bool = False) -> list[Cue]:
    """Find the words that show the speaker's gender; `fitted`: by the rules fitted on the released translations."""
    found: list[Cue] = part_of(language, "speaker", "FITTED" if fitted else "SPEAKER").cues(text)
    return found


def default(settings: Settings) -> Settings:
    return replace(settings, detector="suffix") if settings.rules == "paper" and not settings.detector else settings


def complete(settings: Settings) -> Settings:
    if settings.rules == "paper" and settings.detector != "suffix":
        raise UserError(f"rules paper of gest read with detector suffix, not {settings.detector}; leave out --detector")
    if settings.detector == "suffix" and settings.target_language not in PUBLISHED_LANGUAGES:
        what = "rules paper" if settings.rules == "paper" else "detector suffix"
        instead = "use --rules best" if settings.rules == "paper" else "leave out --detector"
        raise UserError(
            f"{what} of gest covers the paper's languages ({' '.join(PUBLISHED_LANGUAGES)}), not "
            f"{settings.target_language}; {instead}"
        )
    return settings


_ORDER = (Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL)


def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    settings: Settings = item_set.selection
    return [_judge_one(item, samples[0].text, settings) for item, samples in zip(item_set.items, answers, strict=True)]


def _judge_one(item: Item, text: str | None, settings: Settings) -> Judgement:
    is_paper = settings.rules == "paper"
    reason = failure(item.source, text)
    if text is None or (reason and not is_paper):
        return Judgement.of(item, Verdict.NOT_TRANSLATED, reason=reason or "error")
    cues = cues_of(text, settings.target_language, fitted=settings.detector == "suffix")
    if is_paper:
        cues = cues[:1]
    if not cues:
        # The paper's rules do not ask whether anything was translated; the reader may want to know.
        verdict = Verdict.NOT_TRANSLATED if reason else Verdict.UNJUDGEABLE
        return Judgement.of(item, verdict, reason=reason or "unmarked")
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


BENCHMARK = BenchmarkOf(
    name="gest",
    title="GEST",
    question="Which gender does a speaker get who says nothing of it, and does that follow a stereotype?",
    settings=Settings,
    rules_version=2,
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
