"""Annotated terms: which gendered words of a sentence are translated, and in the correct form?

The metric of MuST-SHE (Bentivogli et al. 2020, revised by Gaido et al. 2020) for the user's own sentences, with
gendered terms annotated in both forms.
"""

from __future__ import annotations

from dataclasses import dataclass

from gendermark.selection import Selection, option


@dataclass(frozen=True)
class Settings(Selection):
    data: str = option("core", "file:FILE", default="official")
    cluster: str = option("group")


SETTINGS = {"terms": Settings}
