"""TGBI: are gender-neutral pronouns kept neutral? (Cho, Kim, Kim and Kim 2019, GeBNLP)

Every lexeme (an occupation or a sentiment expression) makes one sentence "PRONOUN is LEXEME" in each style of the
source language: informal or formal pronoun, impolite or polite ending. Each sentence belongs to three sentence sets.

Rules `paper` reproduce the released evaluation bit by bit, including that a failed translation counts as neutral.
Rules `best` know pronouns, and count failed translations apart, where they can only lower the score.
"""

from __future__ import annotations

from dataclasses import dataclass

from gendermark.selection import Selection, option

SETS = ("informal", "formal", "impolite", "polite", "negative", "positive", "occupation")


@dataclass(frozen=True)
class Settings(Selection):
    data: str = option("official", "core", "file:FILE", default="official")
    rules: str = option("best", "paper", default="best")
    cluster: str = option("lexeme")
    parts: tuple[str, ...] = option(*SETS, default=(), noun="set")


SETTINGS = {"tgbi": Settings}
