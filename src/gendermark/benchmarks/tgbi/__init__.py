"""The options of TGBI."""

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
