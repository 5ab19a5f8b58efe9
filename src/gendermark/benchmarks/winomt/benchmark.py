"""WinoMT: does the translated noun keep the gender the sentence implies? (Stanovsky, Smith and Zettlemoyer 2019, ACL)

English sentences about two people; a pronoun tells the gender of one of them, the entity. The translation's noun for
the entity is found by lexicon and word alignment, and its grammatical gender is compared.

Rules `paper2019` and `repo2020` are the released code; rules `best` are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gendermark import registry
from gendermark.benchmarks.benchmark import BenchmarkOf
from gendermark.benchmarks.winomt import PUBLISHED, Settings, items, judge
from gendermark.benchmarks.winomt.measures import MEASURES
from gendermark.errors import UserError
from gendermark.reading import published
from gendermark.reading.alignment import check_available
from gendermark.reading.detectors import detector_name, open_detector


def complete(settings: Settings) -> Settings:
    if settings.rules in PUBLISHED:
        settings = _as_published(settings)
    settings = replace(settings, aligner=settings.aligner or "fast-align")
    check_available(settings.aligner)
    open_detector(settings.detector)
    return settings


def _as_published(settings: Settings) -> Settings:
    if settings.target_language not in published.LANGUAGES:
        raise UserError(
            f"the published rules of winomt cover {' '.join(published.LANGUAGES)}, "
            f"not {settings.target_language}; use --rules best"
        )
    if settings.aligner not in ("", "fast-align"):
        raise UserError("the published rules of winomt align with fast-align; leave out --aligner")
    if settings.detector:
        raise UserError("the published rules of winomt read gender in their own way; leave out --detector")
    return settings


def default_revision(settings: Settings) -> Settings:
    """Rules `paper2019` belong to the data of 2019."""
    if settings.rules != "paper2019" or settings.data != "official":
        return settings
    if settings.revision == "latest":
        raise UserError("rules paper2019 belong to the data of 2019; leave out --revision, or use --rules repo2020")
    return replace(settings, revision="2019")


def signature(settings: Settings) -> Mapping[str, str]:
    variant = {"variant": settings.variant} if settings.variant else {}
    if settings.rules in PUBLISHED:
        return {**variant, "aligner": "fast-align", "detector": published.detector_name(settings.target_language)}
    detector = detector_name(settings.target_language, settings.detector)
    return {**variant, "aligner": f"lexicon+{settings.aligner}", "detector": detector}


def file_names(settings: Settings) -> list[str]:
    """As in the folders of the authors; `adj.`: with adjectives."""
    return [f"adj.{settings.direction}" if settings.variant else settings.direction]


BENCHMARK = BenchmarkOf(
    name="winomt",
    title="WinoMT",
    question="Does the translated noun keep the gender that the sentence implies?",
    settings=Settings,
    rules_version=4,
    language_pairs=lambda _: [("en", code) for code in registry.names("language")],
    default_own=default_revision,
    complete_own=complete,
    load=items.load,
    sources=items.sources,
    judge=judge.judge,
    measures=MEASURES,
    render=judge.render,
    findings="gendermark.benchmarks.winomt.findings:PRESENTATION",
    card="winomt",
    signature=signature,
    stereotype=items.stereotype,
    fit=judge.fit,
    file_names=file_names,
)
