"""Annotated terms: which of the gendered words of a sentence are there, and in the right form?

The measure of MuST-SHE (Bentivogli et al. 2020, as revised by Gaido et al. 2020) for sentences of the user's own, whose
gendered terms are annotated in both forms.
"""

from __future__ import annotations

from gendermark.benchmarks.benchmark import BenchmarkOf
from gendermark.benchmarks.terms import Settings, items, judge
from gendermark.benchmarks.terms.measures import MEASURES

BENCHMARK = BenchmarkOf(
    name="terms",
    title="Annotated terms",
    question="Are the gendered words of a sentence translated in the right form?",
    settings=Settings,
    rules_version=2,
    language_pairs=items.language_pairs,
    load=items.load,
    judge=judge.judge,
    measures=MEASURES,
    render=judge.render,
    findings="gendermark.benchmarks.terms.findings:PRESENTATION",
    paper="Gaido, Savoldi, Bentivogli, Negri and Turchi (2020). Breeding gender-aware direct speech translation "
    "systems. COLING.",
    sources_depend_on_target=True,
    only_when_named=True,
)
