"""From translations to a result: judge, estimate, sign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gendermark import __version__
from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.metrics.metric import Resampling, count, estimate
from gendermark.records import Judgement, Translation, Verdict
from gendermark.result import Result

_LOST_SHARE_TO_WARN = 0.1


def score(
    benchmark: Benchmark,
    item_set: ItemSet,
    answers: Sequence[Sequence[Translation]],
    system: str,
    resampling: Resampling,
    decoding: str = "",
) -> Result:
    """Judge the translations of an item set, one or several of each item, and estimate every metric."""
    return summarise(benchmark, item_set, benchmark.judge_samples(item_set, answers), system, resampling, decoding)


def summarise(
    benchmark: Benchmark,
    item_set: ItemSet,
    judgements: Sequence[Judgement],
    system: str,
    resampling: Resampling,
    decoding: str = "",
) -> Result:
    """Estimate from judgements alone; metrics see nothing else."""
    selection = item_set.selection
    signed = replace(item_set, selection=benchmark.settled(judgements, selection))
    signature = sign(benchmark, signed, system, resampling, decoding)
    counts = count(judgements, benchmark.tally(selection), lambda judgement: benchmark.stratum(judgement, selection))
    return Result(
        selection=selection,
        origin=item_set.origin,
        system=system,
        estimates=tuple(estimate(counts, benchmark.metrics(judgements, selection), resampling, signature)),
        judgements=judgements,
        tests=tuple(benchmark.tests(judgements, resampling.seed)),
        tables=tuple(benchmark.tables(judgements)),
        warnings=tuple(benchmark.warnings(judgements, selection) or _untranslated(judgements)),
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


def sign(benchmark: Benchmark, item_set: ItemSet, system: str, resampling: Resampling, decoding: str = "") -> str:
    """Everything a number depends on, in one line, as sacreBLEU's signature is."""
    selection = item_set.selection
    rules = f"best-{benchmark.rules_version}" if selection.rules == "best" else selection.rules
    parts = {
        "gendermark": __version__,
        "benchmark": selection.benchmark,
        "data": item_set.origin,
        "direction": f"{selection.source_language}-{selection.target_language}",
        "parts": "+".join(selection.parts) or "all",
        "rules": rules,
        **({"variant": selection.variant} if selection.variant else {}),
        **benchmark.signature(selection),
        "cluster": selection.cluster,
        "system": system,
        **({"decoding": decoding} if decoding else {}),
        "intervals": resampling.signature,
    }
    return "|".join(f"{key}:{value}" for key, value in parts.items())
