"""Semantic uncertainty: is a system unsure exactly when the source is ambiguous? (Staliūnaitė, Cheng and Vlachos 2026)

Many translations are drawn of each WinoMT sentence. Where a pronoun tells the gender of the person, they should agree
on it; where the pronoun is "they", they should not. How far they agree is measured by the entropy of the samples:
of their strings, of the gender of the noun, and of meanings by degrees (S3E). Equations and what is reconstructed in
them: `metrics/uncertainty.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gendermark.benchmarks.benchmark import BenchmarkOf
from gendermark.benchmarks.uncertainty import SAMPLING, Settings, items, judge
from gendermark.benchmarks.uncertainty.alphas import as_compared, completed_alpha, settled_alpha
from gendermark.benchmarks.uncertainty.items import as_winomt
from gendermark.benchmarks.uncertainty.measures import MEASURES
from gendermark.benchmarks.winomt.benchmark import BENCHMARK as WINOMT
from gendermark.errors import UserError
from gendermark.reading.detectors import detector_name
from gendermark.reading.entailment import DEFAULT_MODEL
from gendermark.reading.similarity import DEFAULT_E5
from gendermark.records import Judgement

SIMILARITY = "characters"


N_SAMPLES = 128
_FREE = frozenset({"epsilon", "seed", "top_k", "top_p"})
"""Of how samples are drawn: the paper also names a top-k or top-p, but its value is lost in the text we have."""
ELSEWHERE = "unknown=elsewhere"
"""How samples were drawn that somebody else has drawn."""


def by_the_paper(settings: Settings) -> Settings:
    """Fill in the settings of rules `paper`, as far as the paper's text says, and refuse what contradicts them.

    128 samples with epsilon 0.2, similarity by multilingual E5, meanings by an mDeBERTa that was trained for inference
    (section 3), alpha tuned (Appendix B). The text does not say which size of E5 it was, so the largest stands here,
    nor whether alpha was tuned once for all systems: tune it in one run and hand it on.
    """
    drawn = dict(settings.sampling_options) if settings.sampling not in ("", ELSEWHERE) else {"epsilon": "0.2"}
    is_epsilon = re.fullmatch(r"0?\.20*", drawn.get("epsilon", "")) is not None
    similarity, alpha = settings.similarity.partition(":")[0], settings.alpha
    for flag, theirs, given, agrees in (
        ("--n-samples", N_SAMPLES, settings.n_samples, settings.n_samples in (0, N_SAMPLES)),
        ("--sampling", f"{SAMPLING}, and a seed if you like", settings.sampling, drawn.keys() <= _FREE and is_epsilon),
        ("--similarity", "e5:MODEL", settings.similarity, similarity in ("", "e5")),
        ("--distance", "cosine", settings.distance, settings.distance in ("", "cosine")),
        ("--alpha", "tuned or tuned:RUN_FOLDER", alpha, alpha == "" or alpha.startswith("tuned")),
    ):
        if not agrees:
            raise UserError(f"rules paper take {flag} {theirs}, not {given}; give that, or take --rules best")
    return replace(
        settings,
        similarity=settings.similarity or f"e5:{DEFAULT_E5}",
        alpha=settings.alpha or "tuned",
        entailment=settings.entailment or DEFAULT_MODEL,
    )


def complete(settings: Settings) -> Settings:
    if settings.rules == "paper":
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
    if settings.rules == "paper":
        by_the_paper(replace(settings, n_samples=n_samples))
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
