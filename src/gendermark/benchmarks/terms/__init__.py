"""Annotated terms: which of the gendered words of a sentence are there, and in the right form?

The measure of MuST-SHE (Bentivogli et al. 2020, as revised by Gaido et al. 2020) for sentences of the user's own, whose
gendered terms are annotated in both forms.
"""

from __future__ import annotations

from dataclasses import dataclass

from gendermark.selection import Selection, option


@dataclass(frozen=True)
class Settings(Selection):
    data: str = option("core", "file:FILE", default="official")
    cluster: str = option("group")


SETTINGS = {"terms": Settings}
