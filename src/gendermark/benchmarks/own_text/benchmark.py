"""Texts of the user's own: what happens to the gender of the people they mention?"""

from __future__ import annotations

from gendermark import registry
from gendermark.benchmarks.benchmark import BenchmarkOf, Direction
from gendermark.benchmarks.own_text import Settings
from gendermark.benchmarks.own_text.items import load
from gendermark.benchmarks.own_text.judge import fit, judge
from gendermark.benchmarks.own_text.measures import MEASURES
from gendermark.records import Gender, Item


def language_pairs(data: str) -> list[Direction]:
    return [("en", code) for code in registry.names("language")] if data.startswith("file:") else []


def render(item: Item, gender: Gender, settings: Settings) -> str:  # noqa: ARG001
    return "…"


BENCHMARK = BenchmarkOf(
    name="own-text",
    title="Own texts",
    question="Do translations of your own texts keep the gender of the people they mention, and add none?",
    settings=Settings,
    rules_version=1,
    language_pairs=language_pairs,
    load=load,
    judge=judge,
    measures=MEASURES,
    render=render,
    findings="gendermark.benchmarks.own_text.findings:PRESENTATION",
    fit=fit,
    paper="The gendermark authors. gendermark: gender bias in machine translation, with honest error bars.",
    only_when_named=True,
    reads_any_text=True,
)
