"""Annotated terms: which of them a translation has, and in which form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gendermark import registry
from gendermark.benchmarks.benchmark import Answers, BenchmarkOf, Direction, ItemSet, Measures, judge_each
from gendermark.benchmarks.mt_geneval.items import LANGUAGES, core_sides
from gendermark.benchmarks.terms import Settings
from gendermark.data.own import file_of, read_own
from gendermark.errors import UserError
from gendermark.metrics import terms as annotated
from gendermark.metrics.metric import Metric, described, difference
from gendermark.reading.contrast import without_tags
from gendermark.reading.words import cut, spans_of
from gendermark.records import Gender, Item, Judgement, Verdict


def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    def nothing_found(item: Item, _: str | None) -> dict[str, Any]:
        return {"measures": annotated.count_terms([], annotated.read_terms(item.tags["terms"]))}

    return judge_each(item_set, answers, _judge_one, nothing_found)


def _judge_one(item: Item, text: str) -> Judgement:
    found = annotated.find_terms(cut(text), annotated.read_terms(item.tags["terms"]))
    seen = [one for one in found if one.place is not None]
    facts: dict[str, Any] = {
        "evidence": tuple(" ".join(one.term.right if one.is_right else one.term.wrong) for one in seen),
        "spans": spans_of(text, [one.place for one in seen if one.place is not None]),
        "measures": annotated.counts_of(found),
    }
    if not seen:
        return Judgement.of(item, Verdict.UNJUDGEABLE, reason="absent", outcome="undecided", **facts)
    kinds = {one.is_right for one in seen}
    if len(kinds) == 2:
        return Judgement.of(item, Verdict.UNJUDGEABLE, reason="mixed", outcome="mixed", **facts)
    outcome = "correct" if kinds == {True} else "wrong"
    observed = None
    if item.expected is not None:
        observed = item.expected if outcome == "correct" else item.expected.opposite
    return Judgement.of(item, Verdict.JUDGED, observed, outcome=outcome, **facts)


def render(item: Item, gender: Gender, settings: Settings) -> str:  # noqa: ARG001
    if gender is Gender.NEUTRAL:
        return "…"
    is_right = item.expected in (None, gender)
    forms = [term.right if is_right else term.wrong for term in annotated.read_terms(item.tags["terms"])]
    return ", ".join(" ".join(form) for form in forms) + "."


_BOTH = (Gender.MASCULINE, Gender.FEMININE)
_MARKED = re.compile(r"<([FM])>(.*?)</\1>")


def language_pairs(data: str) -> list[Direction]:
    if data == "official":
        return []
    return [("en", code) for code in (LANGUAGES if data == "core" else registry.names("language"))]


def load(settings: Settings) -> ItemSet:
    path = file_of(settings.data)
    items, origin = _own(path) if path else _core(settings.target_language)
    return ItemSet(settings, tuple(items), origin)


def _own(path: str) -> tuple[list[Item], str]:
    rows, origin = read_own(path, ("source", "terms"))
    items = []
    for index, row in enumerate(rows):
        try:
            annotated.read_terms(row["terms"])
        except UserError as problem:
            raise row.problem(f"is annotated incorrectly: {problem}") from None
        gender = row.gender((Gender.MASCULINE, Gender.FEMININE)) if row["gender"] else None
        group = row["group"] or f"sentence-{index:04}"
        items.append(Item(f"terms-{index:04}", index, group, row["source"], gender, {"terms": row["terms"]}))
    return items, origin


def _core(language: str) -> tuple[list[Item], str]:
    """The marked words of the counterfactual set, in both genders."""
    english, by_id, origin = core_sides("counterfactual", language)
    items: list[Item] = []
    for row in english:
        forms = {gender: _MARKED.findall(by_id[row["id"]][gender.value]) for gender in _BOTH}
        if len(forms[Gender.MASCULINE]) != len(forms[Gender.FEMININE]):
            continue  # different annotation in the two genders: no counterpart
        for gender in _BOTH:
            pairs = zip(forms[gender], forms[gender.opposite], strict=True)
            terms = ";".join(f"{right}|{wrong}" for (_, right), (_, wrong) in pairs)
            source = without_tags(row[gender.value])
            item_id = f"{row['id']}-{gender}"
            items.append(Item(item_id, len(items), row["id"], source, gender, {"terms": terms}, contrast=row["id"]))
    return items, origin


DESCRIBED = described(__package__)


def tally(group: Sequence[Judgement]) -> Mapping[str, float]:
    columns: dict[str, float] = {}
    for judgement in group:
        for part in ("all", *([judgement.expected.value] if judgement.expected else ())):
            columns[f"{part}.total"] = columns.get(f"{part}.total", 0.0) + 1
            is_judged = judgement.verdict is Verdict.JUDGED
            columns[f"{part}.judged"] = columns.get(f"{part}.judged", 0.0) + is_judged
            annotated.add_terms(columns, part, judgement.measures)
    return columns


def metrics(judgements: Sequence[Judgement], settings: Settings) -> list[Metric]:  # noqa: ARG001
    present = [part for part in ("masculine", "feminine") if any(j.expected == part for j in judgements)]
    found = [annotated.term_accuracy(), annotated.term_coverage()]
    if len(present) == 2:
        men, women = (annotated.term_accuracy(part) for part in present)
        found.append(difference(DESCRIBED["term_gap"], men, women, "all"))
    return found + [metric(part) for part in present for metric in (annotated.term_accuracy, annotated.term_coverage)]


MEASURES = Measures(
    described=tuple(DESCRIBED.values()),
    headline=("term_accuracy:all", "term_coverage:all", "term_gap"),
    questions=("term_gap",),
    tally=tally,
    metrics=metrics,
)


BENCHMARK = BenchmarkOf(
    name="terms",
    title="Annotated terms",
    question="Are the gendered words of a sentence translated in the right form?",
    settings=Settings,
    rules_version=2,
    language_pairs=language_pairs,
    load=load,
    judge=judge,
    measures=MEASURES,
    render=render,
    findings="gendermark.benchmarks.terms.findings:PRESENTATION",
    paper="Gaido, Savoldi, Bentivogli, Negri and Turchi (2020). Breeding gender-aware direct speech translation "
    "systems. COLING.",
    sources_depend_on_target=True,
    only_when_named=True,
)
