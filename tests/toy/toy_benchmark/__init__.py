"""A benchmark as another package would bring it: nothing of gendermark is changed for it.

Greetings: "the pilot says hello" and whether the translation greets "sir" or "madam". Its language is made up: `mir` is
masculine, `fal` feminine, `pax` neutral.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gendermark.plugin import (
    EVERYWHERE,
    MALE,
    Answers,
    BenchmarkOf,
    Canvas,
    Cell,
    Description,
    DotPanel,
    DotRow,
    Figure,
    Finding,
    Form,
    Gender,
    Item,
    ItemSet,
    Judgement,
    Measures,
    Metric,
    Presentation,
    Result,
    Selection,
    Sheet,
    Unit,
    Verdict,
    dots,
    figure,
    language,
    option,
    per_judgement,
    rate,
    rows_by_direction,
    runs_of,
    share,
    span,
)

WORDS = {Gender.MASCULINE: "mir", Gender.FEMININE: "fal", Gender.NEUTRAL: "pax"}
PEOPLE = ("pilot", "nurse", "baker", "judge", "clerk", "miner", "guard", "coach", "tutor", "cook")


@dataclass(frozen=True)
class Settings(Selection):
    cluster: str = option("person")
    politeness: str = option("plain", "very", help="plain or very", verbs=EVERYWHERE)


def load(settings: Settings) -> ItemSet:
    please = "kindly " if settings.politeness == "very" else ""
    items = [
        Item(f"toy-{2 * n + k}", 2 * n + k, person, f"The {person} {please}greets {word}.", gender, {}, entity=person)
        for n, person in enumerate(PEOPLE)
        for k, (gender, word) in enumerate(((Gender.MASCULINE, "sir"), (Gender.FEMININE, "madam")))
    ]
    return ItemSet(settings, tuple(items), "toy-1")


def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    judgements = []
    for item, samples in zip(item_set.items, answers, strict=True):
        text = samples[0].text or ""
        seen = next((gender for gender, word in WORDS.items() if word in text.split()), None)
        at = text.find(WORDS[seen]) if seen else 0
        facts = {"evidence": (WORDS[seen],), "spans": ((at, at + 3),)} if seen else {"reason": "nobody is greeted"}
        judgements.append(Judgement.of(item, Verdict.JUDGED if seen else Verdict.UNJUDGEABLE, seen, **facts))
    return judgements


GREETED = Description("greeted", "greeted rightly", "Greetings with the right word.", Unit.PERCENT, "higher", "G")


def columns(judgement: Judgement) -> Iterable[str]:
    yield "all.total"
    if judgement.verdict is Verdict.JUDGED:
        yield "all.judged"
    if judgement.is_correct:
        yield "all.right"


def metrics(judgements: Sequence[Judgement], settings: Settings) -> list[Metric]:
    return [rate(GREETED, "all", "all.right", "all.total", judged="all.judged")]


def findings(result: Result) -> list[Finding]:
    greeted = result.find("greeted")
    return [Finding(f"{share(greeted, 'of people')} are greeted rightly.")] if greeted else []


def forms(cells: Sequence[Cell]) -> list[Form]:
    return [Form("toy-1", "Greetings.", ("G",), rows_by_direction(cells, ("greeted",)), runs_of(cells))]


def greetings(sheet: Sheet) -> Iterator[Figure]:
    rows = [
        DotRow(f"{language(cell)} {label}", [[(found, MALE)]])
        for cell, label, result in sheet.results
        if (found := span(result, "greeted"))
    ]

    def draw(canvas: Canvas) -> None:
        dots(canvas, [DotPanel("greeted rightly, %", (0, 100))], rows, 0)

    yield figure(f"{sheet.benchmark}{sheet.suffix}.greetings", "Who is greeted", "Greetings.", sheet.benchmark, draw)


BENCHMARK = BenchmarkOf(
    name="toy",
    title="Toy",
    question="Is everybody greeted rightly?",
    settings=Settings,
    rules_version=1,
    language_pairs=lambda _: [("en", "xx")],
    load=load,
    judge=judge,
    measures=Measures(described=(GREETED,), headline=("greeted",), tally=per_judgement(columns), metrics=metrics),
    render=lambda _, gender, __: WORDS[gender],
    findings=Presentation(findings=findings, forms=forms, figures=(greetings,)),
)
