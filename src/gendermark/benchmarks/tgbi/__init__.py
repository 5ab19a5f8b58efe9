"""TGBI: are gender-neutral pronouns kept neutral? (Cho, Kim, Kim and Kim 2019, GeBNLP)

Every lexeme (an occupation or a sentiment expression) forms one sentence "PRONOUN is LEXEME" in each style of the
source language: informal or formal pronoun, impolite or polite ending. Each sentence belongs to three sentence sets.

Rules `paper` reproduce the released evaluation exactly, including that failed translations count as neutral. Rules
`best` read pronouns, and count failed translations separately, so that they can only lower the score.
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
