"""GEST: which gender does a speaker get who says nothing of it? (Pikuliak, Hrckova, Oresko and Šimko 2024, EMNLP)

English sentences in the first person leave the speaker's gender open, and carry one of sixteen stereotypes: "women
are emotional", "men are leaders". Languages whose participles or adjectives agree with the speaker must choose. Nothing
is right or wrong: the measure is how often masculine is chosen, and how far that follows the stereotype.

Rules `paper` have the published arithmetic, in which a system that says nothing looks unbiased. Rules `best` want the
words of a translation to agree, and give no number where a stereotype has nothing to count.
"""

from __future__ import annotations

from dataclasses import replace

from gendermark.benchmarks.benchmark import BenchmarkOf
from gendermark.benchmarks.gest import Settings, items, judge
from gendermark.benchmarks.gest.measures import MEASURES
from gendermark.benchmarks.gest.speaker import PUBLISHED_LANGUAGES
from gendermark.errors import UserError


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
    language_pairs=items.language_pairs,
    default_own=default,
    complete_own=complete,
    load=items.load,
    judge=judge.judge,
    measures=MEASURES,
    render=judge.render,
    findings="gendermark.benchmarks.gest.findings:PRESENTATION",
    card="gest",
    signature=lambda settings: {"detector": settings.detector},
    files_have_more=True,
)
