"""A benchmark small enough to know by heart: every occupation with every gender in two sentences, one group each.

Into any of its languages `el` is masculine, `ella` feminine and `nadie` neutral, and nothing else says anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.metrics.metric import Metric, Tally, per_judgement
from gendermark.metrics.rates import difference, rate
from gendermark.records import Gender, Item, Judgement, Test, Translation, Verdict
from gendermark.selection import Selection

WORDS = {Gender.MASCULINE: "el", Gender.FEMININE: "ella", Gender.NEUTRAL: "nadie"}
PRONOUNS = {Gender.MASCULINE: "his", Gender.FEMININE: "her"}
TEMPLATES = ("Worker {} finished {} work.", "Worker {} lost {} keys.")


class Tiny(Benchmark):
    title = "Tiny"
    rules = ("best", "other")
    rules_version = 1
    part_noun = "part"
    parts = ()
    clusters = ("occupation", "template")
    headline = ("accuracy", "gap")

    def __init__(self, n_occupations: int = 20) -> None:
        self.name = "tiny"
        self._n_occupations = n_occupations

    def language_pairs(self, data: str) -> list[tuple[str, str]]:
        return [("en", "xx"), ("en", "yy")]

    def load(self, selection: Selection) -> ItemSet:
        items = []
        for number in range(self._n_occupations):
            stereotype = (Gender.MASCULINE, Gender.FEMININE)[number % 2]
            for template in TEMPLATES:
                for gender, pronoun in PRONOUNS.items():
                    tags = {
                        "occupation": f"{number:03}",
                        "template": template,
                        "stereotype": stereotype.value,
                        "side": "pro" if gender is stereotype else "anti",
                    }
                    source = template.format(tags["occupation"], pronoun)
                    index = len(items)
                    items.append(Item(f"item-{index:04}", index, tags[selection.cluster], source, gender, tags))
        return ItemSet(selection, tuple(items), f"tiny-{self._n_occupations}")

    def judge(self, item_set: ItemSet, translations: Sequence[Translation]) -> list[Judgement]:
        return [_judge(item, answer.text) for item, answer in zip(item_set.items, translations, strict=True)]

    def tally(self, selection: Selection) -> Tally:
        return per_judgement(_columns)

    def metrics(self, judgements: Sequence[Judgement], selection: Selection) -> list[Metric]:
        by_part = {
            part: rate("accuracy", part, f"{part}.correct", f"{part}.total", judged=f"{part}.judged", better="higher")
            for part in ("all", "pro", "anti")
        }
        gap = difference("gap", "all", by_part["pro"], by_part["anti"], total="all.total", judged="all.judged")
        # Undefined as soon as nothing is judged, unlike accuracy.
        women = rate("women", "all", "all.feminine", "all.judged", judged="all.judged")
        return [*by_part.values(), gap, women]

    def render(self, item: Item, gender: Gender, selection: Selection) -> str:
        return f"{WORDS[gender]} trabaja"

    def tests(self, judgements: Sequence[Judgement], seed: int) -> list[Test]:
        return [Test("toy", "Is this a toy?", 1.0, 0.5, {"n": len(judgements)})]


def _judge(item: Item, text: str | None) -> Judgement:
    observed, verdict, evidence = None, Verdict.UNJUDGEABLE, ()
    if not text or text == item.source:
        verdict = Verdict.NOT_TRANSLATED
    else:
        for gender, word in WORDS.items():
            if word in text.split():
                observed, verdict, evidence = gender, Verdict.JUDGED, (word,)
    return Judgement(
        item.item_id, item.index, item.group_id, verdict, item.expected, observed, dict(item.tags), evidence
    )


def _columns(judgement: Judgement) -> Iterable[str]:
    for part in ("all", judgement.tags["side"]):
        yield f"{part}.total"
        if judgement.verdict is Verdict.JUDGED:
            yield f"{part}.judged"
            yield f"{part}.{judgement.observed}"
        if judgement.is_correct:
            yield f"{part}.correct"


BENCHMARK = Tiny()
