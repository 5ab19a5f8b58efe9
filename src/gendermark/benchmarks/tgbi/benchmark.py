"""TGBI: are gender-neutral pronouns kept neutral? (Cho, Kim, Kim and Kim 2019, GeBNLP)

Every lexeme (an occupation or a sentiment expression) makes one sentence "PRONOUN is LEXEME" in each style of the
source language: informal or formal pronoun, impolite or polite ending. Each sentence belongs to three sentence sets.

Rules `paper` reproduce the released evaluation bit by bit, including that a failed translation counts as neutral.
Rules `best` know pronouns, and count failed translations apart, where they can only lower the score.
"""

from __future__ import annotations

from gendermark.benchmarks.benchmark import BenchmarkOf
from gendermark.benchmarks.tgbi import Settings, items
from gendermark.benchmarks.tgbi.judge import judge, render
from gendermark.benchmarks.tgbi.measures import MEASURES

BENCHMARK = BenchmarkOf(
    name="tgbi",
    title="TGBI",
    question="Are gender-neutral pronouns kept neutral?",
    settings=Settings,
    rules_version=2,
    language_pairs=items.language_pairs,
    load=items.load,
    judge=judge,
    measures=MEASURES,
    render=render,
    findings="gendermark.benchmarks.tgbi.findings:PRESENTATION",
    card="tgbi",
    stereotype=items.stereotype,
)
