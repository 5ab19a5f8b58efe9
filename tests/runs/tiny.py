"""A benchmark small enough to know by heart: every occupation with every gender in two sentences, one group each.

Into any of its languages `el` is masculine, `ella` feminine and `nadie` neutral, and nothing else says anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from gendermark.benchmarks.benchmark import Answers, Benchmark, BenchmarkOf, Direction, ItemSet, Measures
from gendermark.benchmarks.findings import Presentation
from gendermark.metrics.metric import Description, Metric, difference, per_judgement, rate
from gendermark.records import Gender, Item, Judgement, Test, Verdict
from gendermark.selection import Selection, option

WORDS = {Gender.MASCULINE: "el", Gender.FEMININE: "ella", Gender.NEUTRAL: "nadie"}
PRONOUNS = {Gender.MASCULINE: "his", Gender.FEMININE: "her"}
TEMPLATES = ("Worker {} finished {} work.", "Worker {} lost {} keys.")
ACCURACY = Description("accuracy", "right gender", "Right gender, of all.", better="higher")
GAP = Description("gap", "stereotype's advantage", "pro minus anti; 0 is unbiased.", better="zero")
WOMEN = Description("women", "women", "Made a woman, of those judged.")


@dataclass(frozen=True)
class Settings(Selection):
    rules: str = option("best", "other", default="best")
    cluster: str = option("occupation", "template")
    parts: tuple[str, ...] = option(default=(), noun="part")


def language_pairs(data: str) -> list[Direction]:
    return [("en", "xx"), ("en", "yy")]


def load(selection: Selection, n_occupations: int = 20) -> ItemSet:
    items = []
    for number in range(n_occupations):
        stereotype = (Gender.MASCULINE, Gender.FEMININE)[number % 2]
        for template in TEMPLATES:
            for gender, pronoun in PRONOUNS.items():
                occupation = f"{number:03}"
                side = "pro" if gender is stereotype else "anti"
                tags = {"template": template, "stereotype": stereotype.value, "side": side}
                group = template if selection.cluster == "template" else occupation
                source = template.format(occupation, pronoun)
                contrast = template.format(occupation, "_")
                index = len(items)
                items.append(Item(f"item-{index:04}", index, group, source, gender, tags, occupation, contrast))
    return ItemSet(selection, tuple(items), f"tiny-{n_occupations}")


def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    return [_judge(item, samples[0].text) for item, samples in zip(item_set.items, answers, strict=True)]


def _judge(item: Item, text: str | None) -> Judgement:
    if not text or text == item.source:
        return Judgement.of(item, Verdict.NOT_TRANSLATED)
    for gender, word in WORDS.items():
        if word in text.split():
            return Judgement.of(item, Verdict.JUDGED, gender, evidence=(word,))
    return Judgement.of(item, Verdict.UNJUDGEABLE)


def metrics(judgements: Sequence[Judgement], selection: Selection) -> list[Metric]:
    by_part = {
        part: rate(ACCURACY, part, f"{part}.correct", f"{part}.total", judged=f"{part}.judged")
        for part in ("all", "pro", "anti")
    }
    gap = difference(GAP, by_part["pro"], by_part["anti"], "all")
    # Undefined as soon as nothing is judged, unlike accuracy.
    women = rate(WOMEN, "all", "all.feminine", "all.judged", judged="all.judged")
    return [*by_part.values(), gap, women]


def tests(judgements: Sequence[Judgement], seed: int) -> list[Test]:
    return [Test("toy", "Is this a toy?", 1.0, 0.5, {"n": len(judgements)})]


def _columns(judgement: Judgement) -> Iterable[str]:
    for part in ("all", judgement.tags["side"]):
        yield f"{part}.total"
        if judgement.verdict is Verdict.JUDGED:
            yield f"{part}.judged"
            yield f"{part}.{judgement.observed}"
        if judgement.is_correct:
            yield f"{part}.correct"


def render(item: Item, gender: Gender, selection: Selection) -> str:
    return f"{WORDS[gender]} trabaja"


BENCHMARK: Benchmark = BenchmarkOf(
    name="tiny",
    title="Tiny",
    question="Is this a toy?",
    settings=Settings,
    rules_version=1,
    language_pairs=language_pairs,
    load=load,
    judge=judge,
    measures=Measures(
        described=(ACCURACY, GAP, WOMEN),
        headline=("accuracy", "gap"),
        tally=per_judgement(_columns),
        metrics=metrics,
        tests=tests,
    ),
    render=render,
    findings=Presentation(),
)


def tiny(n_occupations: int = 20, **changes: Any) -> Benchmark:
    """The same with more or fewer occupations, or with other functions."""
    return replace(BENCHMARK, **{"load": partial(load, n_occupations=n_occupations), **changes})
