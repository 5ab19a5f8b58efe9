"""SimpleGEN: is an occupation noun translated with the gender its sentence states? (Renduchintala et al. 2021, ACL)

Sentences come from templates: an occupation of stereotypically female or male holders (fo, mo) in a sentence that
says plainly that the person is a woman or a man (fc, mc). The translation is looked up in a dictionary of occupation
nouns: right gender, wrong gender, or inconclusive.

Rules `paper` are the released evaluation, errors of its dictionary included. Rules `best` use this project's lexicon
in thirteen languages, with case forms, articles and agreeing words.
"""

from __future__ import annotations

from gendermark import registry
from gendermark.benchmarks.benchmark import BenchmarkOf
from gendermark.benchmarks.simplegen import Settings, items
from gendermark.benchmarks.simplegen.judge import LANGUAGES, fit, judge, render
from gendermark.benchmarks.simplegen.measures import MEASURES
from gendermark.errors import UserError


def complete(settings: Settings) -> Settings:
    if settings.rules == "paper" and settings.data not in ("official", "core"):
        raise UserError("the published dictionary is for the published sentences; use --rules best for your own")
    if settings.rules == "paper" and settings.target_language not in LANGUAGES:
        raise UserError(
            f"the published dictionary of simplegen covers {' and '.join(LANGUAGES)}, not "
            f"{settings.target_language}; use --rules best"
        )
    return settings


BENCHMARK = BenchmarkOf(
    name="simplegen",
    title="SimpleGEN",
    question="Do occupation nouns take the gender that the sentence states?",
    settings=Settings,
    rules_version=3,
    language_pairs=lambda _: [("en", code) for code in registry.names("language")],
    complete_own=complete,
    load=items.load,
    judge=judge,
    measures=MEASURES,
    render=render,
    findings="gendermark.benchmarks.simplegen.findings:PRESENTATION",
    card="simplegen",
    fit=fit,
)
