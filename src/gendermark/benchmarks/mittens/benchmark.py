"""MiTTenS: do people keep the gender that the source gives them? (Robinson et al. 2024, EMNLP)

Passages about one person whose gender the source tells: from 26 languages into English, which the pronouns of the
translation show; and from English, which the authors leave to people. `--from mul` asks all languages at once.

Rules `paper` (into English): a translation is right unless it has a pronoun of the other gender, so an empty one is
right. Rules `best` ask for a pronoun; out of English they judge the passages that have a twin of the other gender.
"""

from __future__ import annotations

from gendermark.benchmarks.benchmark import BenchmarkOf
from gendermark.benchmarks.mittens import Settings, items, judge
from gendermark.benchmarks.mittens.measures import MEASURES

_SIGNED = ("split", "mixed", "none")

BENCHMARK = BenchmarkOf(
    name="mittens",
    title="MiTTenS",
    question="Do people keep the gender that the source gives them?",
    settings=Settings,
    rules_version=2,
    language_pairs=items.language_pairs,
    default_own=items.with_source,
    complete_own=items.complete,
    load=items.load,
    requests=items.requests,
    judge=judge.judge,
    judges_together=True,  # by the words of all references
    measures=MEASURES,
    render=judge.render,
    findings="gendermark.benchmarks.mittens.findings:PRESENTATION",
    card="mittens",
    signature=lambda settings: {name: value for name in _SIGNED if (value := getattr(settings, name))},
    fit=judge.fit,
)
