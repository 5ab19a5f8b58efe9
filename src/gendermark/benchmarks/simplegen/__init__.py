"""SimpleGEN: is an occupation noun translated with the gender its sentence states? (Renduchintala et al. 2021, ACL)

Sentences come from templates: an occupation of stereotypically female or male holders (fo, mo) in a sentence that
says plainly that the person is a woman or a man (fc, mc). The translation is looked up in a dictionary of occupation
nouns: right gender, wrong gender, or inconclusive.

Rules `paper` are the released evaluation, errors of its dictionary included. Rules `best` use this project's lexicon
in thirteen languages, with case forms, articles and agreeing words.
"""

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
