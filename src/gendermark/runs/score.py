"""From translations to a result: judge, estimate, sign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gendermark import __version__
from gendermark.benchmarks.benchmark import Answers, Benchmark, ItemSet
from gendermark.metrics.intervals import estimate
from gendermark.metrics.metric import Resampling
from gendermark.records import Judgement, Verdict
from gendermark.result import Result

_LOST_SHARE_TO_WARN = 0.1


@dataclass(frozen=True)
class Origin:
    """Whose translations they are, and how their intervals are made: the rest of the signature."""

    system: str
    decoding: str = ""
    resampling: Resampling = field(default_factory=Resampling)


def score(benchmark: Benchmark, item_set: ItemSet, answers: Answers, origin: Origin) -> Result:
    """Judge the translations of an item set, one or several of each item, and estimate every metric."""
    return summarise(benchmark, item_set, benchmark.judge(item_set, answers), origin)


def summarise(benchmark: Benchmark, item_set: ItemSet, judgements: Sequence[Judgement], origin: Origin) -> Result:
    """Estimate from judgements alone; metrics see nothing else."""
    selection, measures = item_set.selection, benchmark.measures
    signed = replace(item_set, selection=benchmark.settled(judgements, selection))
    signature = sign(benchmark, signed, origin)
    counts = measures.count(judgements, selection)
    metrics = measures.metrics(judgements, selection)
    return Result(
        selection=selection,
        origin=item_set.origin,
        system=origin.system,
        estimates=tuple(estimate(counts, metrics, origin.resampling, signature)),
        judgements=judgements,
        tests=tuple(measures.tests(judgements, origin.resampling.seed)),
        tables=tuple(measures.tables(judgements)),
        warnings=tuple(measures.warnings(judgements, selection) or _untranslated(judgements)),
        signature=signature,
    )


def _untranslated(judgements: Sequence[Judgement]) -> list[str]:
    """For benchmarks that have nothing of their own to say about it: numbers of what is not there are not numbers."""
    n_lost = sum(judgement.verdict is Verdict.NOT_TRANSLATED for judgement in judgements)
    if n_lost <= _LOST_SHARE_TO_WARN * len(judgements):
        return []
    return [
        f"{n_lost:,} of {len(judgements):,} sentences were not translated: the output is missing, empty, a copy of the "
        "source or in another language"
    ]


def sign(benchmark: Benchmark, item_set: ItemSet, origin: Origin) -> str:
    """Everything a number depends on, in one line, as sacreBLEU's signature is."""
    selection = item_set.selection
    rules = f"best-{benchmark.rules_version}" if selection.rules == "best" else selection.rules
    parts = {
        "gendermark": __version__,
        "benchmark": selection.benchmark,
        "data": item_set.origin,
        "direction": selection.direction,
        "parts": "+".join(selection.parts) or "all",
        "rules": rules,
        **benchmark.signature(selection),
        "cluster": selection.cluster,
        "system": origin.system,
        **({"decoding": origin.decoding} if origin.decoding else {}),
        "intervals": origin.resampling.signature,
    }
    return "|".join(f"{key}:{value}" for key, value in parts.items())
