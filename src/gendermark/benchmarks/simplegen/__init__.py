"""SimpleGEN: is an occupation noun translated with the gender its sentence states? (Renduchintala et al. 2021, ACL)

Templates combine an occupation of stereotypically female or male holders (fo, mo) with a statement that the person is a
woman or a man (fc, mc). The occupation is looked up in the translation: correct gender, wrong gender, or inconclusive.

Rules `paper` are the released evaluation, including its dictionary errors. Rules `best` use this project's lexicon in
thirteen languages, with case forms, articles and agreeing words.
"""

from __future__ import annotations

from dataclasses import dataclass

from gendermark.selection import Selection, option

GROUPS = ("fofc", "momc", "fomc", "mofc")
"""Occupations of women or men (fo, mo) of a woman or a man (fc, mc)."""


@dataclass(frozen=True)
class Settings(Selection):
    data: str = option("official", "core", "file:FILE", default="official")
    rules: str = option("best", "paper", default="best")
    cluster: str = option("occupation", "template")
    parts: tuple[str, ...] = option(*GROUPS, default=(), noun="group")


SETTINGS = {"simplegen": Settings}
