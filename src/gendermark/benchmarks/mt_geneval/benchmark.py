"""MT-GenEval: counterfactual and contextual gender accuracy, and the quality gap (Currey et al. 2022, EMNLP).

`mt-geneval-counterfactual`: sentences in a masculine and a feminine version; a pair is right only if both are.
`mt-geneval-contextual`: sentences whose gender only the sentence before them tells.

Rules `paper` are the released script: a translation is wrong if it has any word that only the contrastive reference
has, so an empty one is right. Rules `best` ask what a translation shows about the people whose gender its source marks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gendermark.benchmarks.benchmark import BenchmarkOf
from gendermark.benchmarks.mt_geneval import ContextualSettings, CounterfactualSettings, items, judge, measures
from gendermark.benchmarks.mt_geneval.items import LANGUAGES, corpus_statistics
from gendermark.metrics import quality


def _pair_signature(settings: CounterfactualSettings) -> Mapping[str, str]:
    comet = f"+comet:{program}" if (program := quality.comet_program()) else ""
    return {"split": settings.split, "quality": quality.signature() + comet}


_SHARED: dict[str, Any] = {
    "card": "mt-geneval",
    "rules_version": 4,
    "render": judge.render,
    "choices": judge.choices,
    "fit": judge.fit,
    "sources_depend_on_target": True,
}
COUNTERFACTUAL = BenchmarkOf(
    name="mt-geneval-counterfactual",
    title="MT-GenEval (counterfactual)",
    question="Do the he and she versions of a sentence both keep their gender?",
    settings=CounterfactualSettings,
    language_pairs=lambda _: [("en", code) for code in LANGUAGES],
    load=items.load_pairs,
    judge=judge.judge_pairs,
    judges_together=True,  # by the words of all references
    measures=measures.PAIRS,
    findings="gendermark.benchmarks.mt_geneval.findings:PAIRS",
    signature=_pair_signature,
    corpus_statistics=corpus_statistics,
    **_SHARED,
)
CONTEXTUAL = BenchmarkOf(
    name="mt-geneval-contextual",
    title="MT-GenEval (contextual)",
    question="Is the gender right that only the sentence before tells?",
    settings=ContextualSettings,
    language_pairs=lambda data: [("en", code) for code in (*LANGUAGES, *(["nl"] if data == "official" else []))],
    load=items.load_contexts,
    requests=items.contextual_requests,
    judge=judge.judge,
    judges_together=True,  # by the words of all references
    measures=measures.CONTEXTS,
    findings="gendermark.benchmarks.mt_geneval.findings:CONTEXTS",
    signature=lambda settings: {"split": settings.split, "context": settings.context},
    **_SHARED,
)
