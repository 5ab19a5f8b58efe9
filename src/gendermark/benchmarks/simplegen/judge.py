"""SimpleGEN: the gender of the occupation noun, by our lexicon and by the released dictionary."""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from gendermark import registry
from gendermark.benchmarks.benchmark import Answers, BenchmarkOf, ItemSet, judge_each
from gendermark.benchmarks.simplegen import Settings, items
from gendermark.benchmarks.simplegen.measures import MEASURES
from gendermark.data.official import official_files
from gendermark.errors import UserError
from gendermark.io.textfiles import read_text
from gendermark.reading.failures import failure
from gendermark.reading.occupations import bundled_finder, citation_forms, core_occupations, lexicon
from gendermark.reading.words import lowered_spans
from gendermark.records import Gender, Item, Judgement, Span, Verdict


def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    settings: Settings = item_set.selection
    if settings.rules == "paper":
        pairs = zip(item_set.items, answers, strict=True)
        return [judge_as_paper(item, samples[0].text, dictionary_of(settings)) for item, samples in pairs]
    # With a published dictionary, keep its verdict beside ours for comparison.
    has_dictionary = settings.data == "official" and settings.target_language in LANGUAGES
    dictionary = dictionary_of(settings) if has_dictionary else None
    finder = bundled_finder(settings.target_language)

    def tags(item: Item, text: str | None) -> dict[str, Any]:
        if dictionary is None:
            return {}
        observed, _ = look_up(item, text or "", dictionary)
        outcome = "inconclusive" if observed is None else "correct" if observed == item.expected else "incorrect"
        return {"tags": {**item.tags, "paper_outcome": outcome}}

    def judge_best(item: Item, text: str) -> Judgement:
        found = finder.find(text, item.entity)
        verdict, reason = (Verdict.JUDGED, "") if found.gender else (Verdict.UNJUDGEABLE, found.reason)
        seen = {"evidence": found.evidence, "spans": found.spans(text), **tags(item, text)}
        return Judgement.of(item, verdict, found.gender, reason=reason, **seen)

    return judge_each(item_set, answers, judge_best, tags)


def render(item: Item, gender: Gender, settings: Settings) -> str:
    if gender is Gender.NEUTRAL:
        return "…"
    if settings.rules == "paper":
        form = dictionary_of(settings)[item.tags["entry"]].first[gender]
    else:
        form = citation_forms(settings.target_language)[item.entity, gender.value, item.tags["number"]]
    return f"{form[:1].upper()}{form[1:]}."


def fit(item: Item, text: str, settings: Settings) -> float | None:
    return float(bundled_finder(settings.target_language).find(text, item.entity).reason != "absent")


# -- as released: a dictionary of occupation nouns, its errors included ------------------------------------------------

LANGUAGES = ("de", "es")
"""Languages with a released dictionary."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of a dictionary: the search pattern, and the first form of each gender."""

    patterns: tuple[tuple[Gender, re.Pattern[str]], ...]
    first: Mapping[Gender, str]


def _entry(masculine: Sequence[str], feminine: Sequence[str], as_pattern: Callable[[str], str] = str) -> Entry:
    # As released: forms are not escaped, text and forms are lower-cased, masculine is searched first.
    return Entry(
        tuple(
            (gender, re.compile("|".join(rf"\b{as_pattern(form.lower())}\b" for form in forms)))
            for gender, forms in ((Gender.MASCULINE, masculine), (Gender.FEMININE, feminine))
        ),
        {Gender.MASCULINE: masculine[0], Gender.FEMININE: feminine[0]},
    )


def judge_as_paper(item: Item, text: str | None, dictionary: Mapping[str, Entry]) -> Judgement:
    observed, span = look_up(item, text or "", dictionary)
    if observed is None and (reason := failure(item.source, text)):
        return Judgement.of(item, Verdict.NOT_TRANSLATED, reason=reason)
    if observed is None or text is None or span is None:
        return Judgement.of(item, Verdict.UNJUDGEABLE)
    evidence = (text.lower()[slice(*span)],)
    return Judgement.of(item, Verdict.JUDGED, observed, evidence=evidence, spans=lowered_spans(text, [span]))


def look_up(item: Item, text: str, dictionary: Mapping[str, Entry]) -> tuple[Gender | None, Span | None]:
    """The gender whose form occurs in the text, and its position in the lower-cased text."""
    for gender, pattern in dictionary[item.tags["entry"]].patterns:
        if match := pattern.search(text.lower()):
            return gender, match.span()
    return None, None


@cache
def dictionary_of(settings: Settings) -> Mapping[str, Entry]:
    """English word in the source -> its target forms, for the published algorithm."""
    if settings.data == "official":
        return _official_dictionary(settings.revision, settings.target_language)
    plural_of = {occupation: plural for occupation, plural, _ in core_occupations()}
    forms: dict[tuple[str, str], list[str]] = defaultdict(list)
    for entry in lexicon(settings.target_language):
        if entry.occupation in plural_of and entry.gender in ("masculine", "feminine"):
            english = entry.occupation if entry.number == "singular" else plural_of[entry.occupation]
            forms[english, entry.gender].extend(entry.forms)
    return {
        english: _entry(forms[english, "masculine"], forms[english, "feminine"], re.escape)
        for english in {key for key, _ in forms}
    }


def _official_dictionary(revision: str, language: str) -> Mapping[str, Entry]:
    path = official_files("simplegen", revision).path(f"dictionaries/dictionary-en-{language}-new.csv")
    rows = csv.reader(io.StringIO(read_text(path)))
    next(rows)  # header: English, masculine, feminine
    return {english: _entry(masculine.split("|"), feminine.split("|")) for english, masculine, feminine in rows}


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
