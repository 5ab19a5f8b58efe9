"""The options of SimpleGEN."""

from __future__ import annotations

from dataclasses import dataclass

from gendermark.selection import Selection, option

GROUPS = ("fofc", "momc", "fomc", "mofc")
"""Occupations of women or men (fo, mo); the sentence says that the person is a woman or a man (fc, mc)."""


@dataclass(frozen=True)
class Settings(Selection):
    data: str = option("official", "core", "file:FILE", default="official")
    rules: str = option("best", "paper", default="best")
    cluster: str = option("occupation", "template")
    parts: tuple[str, ...] = option(*GROUPS, default=(), noun="group")


SETTINGS = {"simplegen": Settings}
