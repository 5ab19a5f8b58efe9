"""GATE: what becomes of people whose gender is left open? (Rarrick, Naik, Mathur, Poudel and Chowdhary 2023, AIES)

English sentences with one to three people whose gender is open, and their translations into Spanish, French and
Italian, one for each way to close it. Three questions, three benchmarks:

`gate-variants`: which variant does a system choose that gives one translation?
`gate-alternatives`: does a system that gives several offer all of them?
`gate-rewriting`: does a rewriter make a masculine translation feminine, and the reverse, exactly? This is the paper's.

Rules `paper` compare with the references to the last sign, as the released script does. Rules `best` leave out what
cannot be rewritten, and read the gender of translations that are worded otherwise than the references.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gendermark.benchmarks.benchmark import BenchmarkOf
from gendermark.benchmarks.gate_variants import (
    ALTERNATIVES,
    N_SAMPLES,
    REWRITING,
    SAMPLING,
    VARIANTS,
    AlternativesSettings,
    RewritingSettings,
    Settings,
    items,
    judge,
    measures,
)
from gendermark.errors import UserError


def complete(settings: Settings) -> Settings:
    items.refuse_split(settings)
    return settings


def complete_alternatives(settings: AlternativesSettings) -> AlternativesSettings:
    items.refuse_split(settings)
    settings = replace(settings, n_samples=settings.n_samples or N_SAMPLES, sampling=settings.sampling or SAMPLING)
    if settings.n_samples < 1:
        raise UserError(f"--n-samples is at least 1, not {settings.n_samples}")
    _ = settings.sampling_options  # refuses what cannot be read
    return settings


def complete_rewriting(settings: RewritingSettings) -> RewritingSettings:
    items.refuse_split(settings)
    if settings.max_words and settings.min_words > settings.max_words:
        raise UserError(f"--min-words {settings.min_words} is more than --max-words {settings.max_words}")
    return settings


def _signature(settings: Settings) -> Mapping[str, str]:
    return {"split": settings.split, "reading": settings.reading}


def _alternatives_signature(settings: AlternativesSettings) -> Mapping[str, str]:
    return {**_signature(settings), "samples": f"{settings.n_samples},{settings.sampling}"}


def _rewriting_signature(settings: RewritingSettings) -> Mapping[str, str]:
    most = f"{settings.min_words or 1}-{settings.max_words or 'all'}"
    full = ",full-set-recall" if settings.full_set_recall == "yes" else ""
    has_limits = settings.min_words or settings.max_words
    return {"split": settings.split, **({"words": f"{most}{full}"} if has_limits else {})}


def drawn_elsewhere(settings: AlternativesSettings, n_samples: int) -> Mapping[str, Any]:
    return {"n_samples": n_samples, "sampling": settings.sampling or "unknown=elsewhere"}


_SHARED: dict[str, Any] = {
    "card": "gate-variants",
    "rules_version": 3,
    "language_pairs": lambda _: [("en", code) for code in items.LANGUAGES],
    "fit": judge.fit,
    "sources_depend_on_target": True,
}
BENCHMARK = BenchmarkOf(
    name=VARIANTS,
    title="GATE (one translation)",
    question="Which gender do people get whose gender is open?",
    settings=Settings,
    default_own=items.with_defaults,
    complete_own=complete,
    load=items.load,
    judge=judge.judge,
    measures=measures.VARIANTS,
    render=judge.render,
    findings="gendermark.benchmarks.gate_variants.findings:VARIANTS",
    signature=_signature,
    **_SHARED,
)
OFFERED = BenchmarkOf(
    name=ALTERNATIVES,
    title="GATE (alternatives)",
    question="Are both genders offered where the gender is open?",
    settings=AlternativesSettings,
    default_own=items.with_defaults,
    complete_own=complete_alternatives,
    load=items.load,
    requests=items.requests,
    judge=judge.judge_alternatives,
    measures=measures.ALTERNATIVES,
    render=judge.render,
    findings="gendermark.benchmarks.gate_variants.findings:ALTERNATIVES",
    signature=_alternatives_signature,
    drawn_elsewhere=drawn_elsewhere,
    draws=True,
    only_when_named=True,
    **_SHARED,
)
REWRITER = BenchmarkOf(
    name=REWRITING,
    title="GATE (rewriting)",
    question="Is a translation put into the other gender exactly?",
    settings=RewritingSettings,
    complete_own=complete_rewriting,
    load=items.load_rewriting,
    requests=items.rewriting_requests,
    judge=judge.judge_rewriting,
    measures=measures.REWRITING,
    render=judge.render_rewriting,
    findings="gendermark.benchmarks.gate_variants.findings:REWRITING",
    signature=_rewriting_signature,
    only_when_named=True,
    **_SHARED,
)
