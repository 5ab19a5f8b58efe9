"""Semantic uncertainty: is a system unsure exactly when the source is ambiguous? (Staliūnaitė, Cheng and Vlachos 2026)

Many translations are drawn of each WinoMT sentence. Where a pronoun tells the gender of the person, they should agree
on it; where the pronoun is "they", they should not. How far they agree is measured by the entropy of the samples:
of their strings, of the gender of the noun, and of meanings by degrees (S3E). Equations and what is reconstructed in
them: `metrics/uncertainty.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gendermark.benchmarks.benchmark import BenchmarkOf
from gendermark.benchmarks.uncertainty import items, judge
from gendermark.benchmarks.uncertainty.items import as_winomt
from gendermark.benchmarks.uncertainty.measures import ALPHA, MEASURES, MOST_ALPHA, parse_alpha, tuning_of
from gendermark.benchmarks.uncertainty.settings import SAMPLING, Settings
from gendermark.benchmarks.winomt.benchmark import BENCHMARK as WINOMT
from gendermark.errors import UserError
from gendermark.linguistics.detectors import detector_name
from gendermark.records import Judgement

N_SAMPLES = 128
SIMILARITY = "characters"


def complete(settings: Settings) -> Settings:
    settings = replace(
        settings,
        n_samples=settings.n_samples or N_SAMPLES,
        sampling=settings.sampling or SAMPLING,
        similarity=settings.similarity or SIMILARITY,
        alpha=settings.alpha or f"{ALPHA:g}",
    )
    if settings.n_samples < 1:
        raise UserError(f"--n-samples is at least 1, not {settings.n_samples}")
    if settings.alpha != "tuned" and parse_alpha(settings.alpha) is None:
        raise UserError(f"--alpha is a number above 0, at most {MOST_ALPHA:g}, or tuned, not {settings.alpha!r}")
    _ = settings.sampling_options  # refuses what cannot be read
    judge.similarity_of(settings.similarity)
    if settings.entailment:
        judge.entailment_of(settings.entailment)
    return replace(settings, aligner=WINOMT.complete(as_winomt(settings)).aligner)


def signature(settings: Settings) -> Mapping[str, str]:
    return {
        **({"variant": settings.variant} if settings.variant else {}),
        "samples": f"{settings.n_samples},{settings.sampling}",
        "similarity": f"{settings.similarity},alpha-{settings.alpha}",
        **({"entailment": settings.entailment} if settings.entailment else {}),
        "aligner": f"lexicon+{settings.aligner}",
        "detector": detector_name(settings.target_language, settings.detector),
    }


def settled(judgements: Sequence[Judgement], settings: Settings) -> Settings:
    if settings.alpha != "tuned":
        return settings
    best = tuning_of(judgements).alpha
    return replace(settings, alpha=f"{ALPHA:g}" if best is None else f"tuned={best:g}")


def drawn_elsewhere(settings: Settings, n_samples: int) -> Mapping[str, Any]:
    return {"n_samples": n_samples, "sampling": settings.sampling or "unknown=elsewhere"}


BENCHMARK = BenchmarkOf(
    name="uncertainty",
    title="Semantic uncertainty",
    question="Is the system unsure exactly when the source is ambiguous?",
    settings=Settings,
    rules_version=3,
    language_pairs=WINOMT.language_pairs,
    complete_own=complete,
    load=items.load,
    requests=items.requests,
    judge=judge.judge,
    measures=MEASURES,
    render=judge.render,
    telling="gendermark.benchmarks.uncertainty.telling:TELLING",
    signature=signature,
    settled=settled,
    stereotype=WINOMT.stereotype,
    fit=judge.fit,
    choices=items.choices,
    drawn_elsewhere=drawn_elsewhere,
    draws=True,
)
