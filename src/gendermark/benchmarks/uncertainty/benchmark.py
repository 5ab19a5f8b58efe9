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
from gendermark.benchmarks.uncertainty import SAMPLING, Settings, items, judge
from gendermark.benchmarks.uncertainty.alphas import as_compared, completed_alpha, settled_alpha
from gendermark.benchmarks.uncertainty.items import as_winomt
from gendermark.benchmarks.uncertainty.measures import MEASURES
from gendermark.benchmarks.uncertainty.published import ELSEWHERE, N_SAMPLES, PAPER, by_the_paper, check_number
from gendermark.benchmarks.winomt.benchmark import BENCHMARK as WINOMT
from gendermark.errors import UserError
from gendermark.linguistics.detectors import detector_name
from gendermark.records import Judgement

SIMILARITY = "characters"


def complete(settings: Settings) -> Settings:
    if settings.rules == PAPER:
        settings = by_the_paper(settings)
    settings = replace(
        settings,
        n_samples=settings.n_samples or N_SAMPLES,
        sampling=settings.sampling or SAMPLING,
        similarity=settings.similarity or SIMILARITY,
    )
    if settings.n_samples < 1:
        raise UserError(f"--n-samples is at least 1, not {settings.n_samples}")
    _ = settings.sampling_options  # refuses what cannot be read
    similarity = judge.similarity_of(settings.similarity, settings.distance)
    settings = replace(settings, alpha=completed_alpha(settings, similarity.name))
    if settings.entailment:
        judge.entailment_of(settings.entailment)
    return replace(settings, aligner=WINOMT.complete(as_winomt(settings)).aligner)


def signature(settings: Settings) -> Mapping[str, str]:
    similarity = judge.similarity_of(settings.similarity, settings.distance)
    return {
        **({"variant": settings.variant} if settings.variant else {}),
        "samples": f"{settings.n_samples},{settings.sampling}",
        "similarity": f"{similarity.name},alpha-{settings.alpha}",
        **({"entailment": judge.entailment_of(settings.entailment).name} if settings.entailment else {}),
        "aligner": f"lexicon+{settings.aligner}",
        "detector": detector_name(settings.target_language, settings.detector),
    }


def settled(judgements: Sequence[Judgement], settings: Settings) -> Settings:
    return replace(settings, alpha=settled_alpha(judgements, settings.alpha))


def drawn_elsewhere(settings: Settings, n_samples: int) -> Mapping[str, Any]:
    if settings.rules == PAPER:
        check_number(n_samples)
    return {"n_samples": n_samples, "sampling": settings.sampling or ELSEWHERE}


BENCHMARK = BenchmarkOf(
    name="uncertainty",
    title="Semantic uncertainty",
    question="Is the system unsure exactly when the source is ambiguous?",
    settings=Settings,
    rules_version=4,
    language_pairs=WINOMT.language_pairs,
    complete_own=complete,
    load=items.load,
    requests=items.requests,
    judge=judge.judge,
    measures=MEASURES,
    render=judge.render,
    findings="gendermark.benchmarks.uncertainty.findings:PRESENTATION",
    card="winomt",
    paper="Staliūnaitė, Cheng and Vlachos (2026). Uncertainty quantification for evaluating gender bias in machine "
    "translation.",
    signature=signature,
    settled=settled,
    as_compared=as_compared,
    stereotype=WINOMT.stereotype,
    fit=judge.fit,
    choices=items.choices,
    drawn_elsewhere=drawn_elsewhere,
    draws=True,
)
