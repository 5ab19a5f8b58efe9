"""From translations to a result: judge, estimate, sign."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from gendermark import __version__, registry
from gendermark.benchmarks.benchmark import Answers, Benchmark, ItemSet
from gendermark.io.disk_list import cached, stored
from gendermark.io.progress import told_in_lines
from gendermark.metrics.intervals import estimate
from gendermark.metrics.metric import Resampling
from gendermark.metrics.verdicts import State, untranslated_by_gender, verdicts
from gendermark.reading import profiles
from gendermark.reading.failures import MISSING, REPEATED, WRONG_LANGUAGE, failure, repeated
from gendermark.records import Item, Judgement, Translation, Verdict
from gendermark.result import ACCEPTED, Result, SourceAndTranslation, check_judgement, check_result
from gendermark.runs.executors import SERIAL, Executor

_LOST_SHARE_TO_WARN = 0.1
log = logging.getLogger(__name__)
_LEAST_SHARE = 0.2
"""Minimum share of a selection's sentences for a conclusion."""


@dataclass(frozen=True)
class Origin:
    """The system and the interval settings: the rest of the signature."""

    system: str
    decoding: str = ""
    resampling: Resampling = field(default_factory=Resampling)
    name: str = ""
    """Display name, not in the signature."""
    unsound: str = ""
    """Accepted problem of the translations."""


def sentence_of(item: Item, samples: Sequence[Translation]) -> SourceAndTranslation:
    return item.source, samples[0].text if samples else None


PORTION = 10_000
"""Maximum sentences judged together. Published sets have less than half; word alignment learns from one portion, and
its tables dominate memory."""


def score(
    benchmark: Benchmark, item_set: ItemSet, answers: Answers, origin: Origin, executor: Executor = SERIAL
) -> Result:
    result = summarise(benchmark, item_set, judge(benchmark, item_set, answers, executor), origin)
    return check_result(result) if _is_plug_in(benchmark) else result


def judge(
    benchmark: Benchmark, item_set: ItemSet, answers: Answers, executor: Executor = SERIAL
) -> Sequence[Judgement]:
    """The judgements of an item set, portion by portion, with one portion in memory."""
    n = len(item_set.items)
    if n <= PORTION or benchmark.judges_together:
        return stored(iter(judge_portion(benchmark, item_set, answers)))

    def judged() -> Iterator[Judgement]:
        tell, n_done = told_in_lines(f"{item_set.selection.cell}: sentences judged", log.info), 0
        tell(n_done, n)
        for found in executor.in_order(_judge_portion, portions(item_set, answers)):
            yield from found
            n_done += len(found)
            tell(n_done, n)

    return stored(judged())


def _judge_portion(portion: tuple[ItemSet, Answers]) -> list[Judgement]:
    item_set, answers = portion
    return judge_portion(registry.load("benchmark", item_set.selection.benchmark), item_set, answers)


def portions(item_set: ItemSet, answers: Answers) -> Iterator[tuple[ItemSet, Answers]]:
    """An item set and its answers in equal portions, cut at the same positions in every run."""
    n = len(item_set.items)
    n_portions = -(-n // PORTION)
    for number in range(n_portions):
        place = slice(n * number // n_portions, n * (number + 1) // n_portions)
        yield replace(item_set, items=tuple(item_set.items[place])), list(answers[place])


def judge_portion(benchmark: Benchmark, item_set: ItemSet, answers: Answers) -> list[Judgement]:
    judged = answers if item_set.selection.rules != "best" else _translated_only(item_set, answers)
    found = benchmark.judge(item_set, judged)
    if _is_plug_in(benchmark):
        found = list(map(check_judgement, found))

    def why(samples: Sequence[Translation]) -> str:
        """Why there is nothing to judge, if all samples share the reason."""
        errors = {answer.error for answer in samples}
        return next((why for why in (MISSING, WRONG_LANGUAGE, REPEATED) if errors == {why}), "error")

    return [
        replace(judgement, reason=why(samples)) if judgement.reason == "error" else judgement
        for judgement, samples in zip(found, judged, strict=True)
    ]


def _is_plug_in(benchmark: Benchmark) -> bool:
    return benchmark.name not in registry.BUILT_IN["benchmark"]


def _translated_only(item_set: ItemSet, answers: Answers) -> Answers:
    """Mark texts in another language, and one text for many sentences, as not translated.

    It is here to cover every benchmark. Published rules judge such texts.
    """
    target = item_set.selection.target_language
    same = repeated(item_set.items, (samples[0].text if len(samples) == 1 else None for samples in answers))

    def why(source: str, text: str | None) -> str:
        if not text:
            return ""
        if text in same:
            return REPEATED
        return WRONG_LANGUAGE if profiles.foreign(text, target) and not failure(source, text) else ""

    return [
        [replace(one, text=None, error=reason) if (reason := why(item.source, one.text)) else one for one in samples]
        for item, samples in zip(item_set.items, answers, strict=True)
    ]


def summarise(benchmark: Benchmark, item_set: ItemSet, judgements: Sequence[Judgement], origin: Origin) -> Result:
    selection, measures = item_set.selection, benchmark.measures
    signed = replace(item_set, selection=benchmark.settled(judgements, selection))
    signature = sign(benchmark, signed, origin)
    counts = measures.count(judgements, selection, within=True)
    metrics = measures.metrics(judgements, selection)
    untranslated = untranslated_by_gender(judgements)
    estimates = estimate(counts, metrics, origin.resampling, signature)
    tests = measures.tests(judgements, origin.resampling.seed)
    answered = verdicts(measures.questions, counts, metrics, estimates, tests)
    n, n_whole = len(judgements), item_set.n_whole
    partial = [f"{n:,} of {n_whole:,} sentences ({n / n_whole:.0%})"] if n_whole else []
    if n < _LEAST_SHARE * n_whole:
        partial = [f"{partial[0]}: too few to compare women and men"]
        answered = tuple(replace(one, state=State.TOO_FEW, p_adjusted=None) for one in answered)
    return Result(
        selection=selection,
        origin=item_set.origin,
        system=origin.system,
        estimates=tuple(estimates),
        judgements=judgements,
        tests=tuple(tests),
        verdicts=answered,
        tables=tuple(measures.tables(judgements)),
        warnings=(
            *([f"{ACCEPTED}{origin.unsound}"] if origin.unsound else []),
            *partial,
            *_broken(judgements),
            *(measures.warnings(judgements, selection) or _untranslated(judgements)),
        ),
        signature=signature,
        name=origin.name,
        lost_by_gender=untranslated.to_json() if untranslated else None,
    )


@cached
def _reasons(judgements: Sequence[Judgement]) -> Counter[str]:
    return Counter(judgement.reason for judgement in judgements if judgement.verdict is Verdict.NOT_TRANSLATED)


def _broken(judgements: Sequence[Judgement]) -> list[str]:
    """Warnings about missing, repeated and wrong-language sentences, however few."""
    reasons = _reasons(judgements)
    told = {
        MISSING: "have no translation in what was given",
        WRONG_LANGUAGE: "have a translation in another language",
        REPEATED: "have the same translation as more than ten others",
    }
    n_all = len(judgements)
    return [
        f"{reasons[why]:,} of {n_all:,} sentences {words}; they count as not translated"
        for why, words in told.items()
        if reasons[why]
    ]


def _untranslated(judgements: Sequence[Judgement]) -> list[str]:
    """For benchmarks without their own warning: numbers of untranslated sentences are meaningless."""
    n_lost = _reasons(judgements).total()
    if n_lost <= _LOST_SHARE_TO_WARN * len(judgements):
        return []
    return [
        f"{n_lost:,} of {len(judgements):,} sentences were not translated: the output is missing, empty, a copy of the "
        "source or in another language"
    ]


def sign(benchmark: Benchmark, item_set: ItemSet, origin: Origin) -> str:
    """Everything a number depends on, in one line, like sacreBLEU's signature."""
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
        **({"unsound": "accepted"} if origin.unsound else {}),
    }
    return "|".join(f"{key}:{value}" for key, value in parts.items())
