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

from gendermark.benchmarks.benchmark import BenchmarkOf
from gendermark.benchmarks.gest import Settings, items
from gendermark.benchmarks.gest.judge import judge, render
from gendermark.benchmarks.gest.measures import MEASURES
from gendermark.errors import UserError
from gendermark.languages.folders import codes

PUBLISHED_LANGUAGES = ("be", "cs", "hr", "pl", "ru", "sk", "sl", "sr", "uk")
"""Those of the paper. The others are checked on sentences of our own only."""


def languages() -> tuple[str, ...]:
    """All languages whose first person can be read, the paper's first."""
    return (*PUBLISHED_LANGUAGES, *(code for code in codes("speaker") if code not in PUBLISHED_LANGUAGES))


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
