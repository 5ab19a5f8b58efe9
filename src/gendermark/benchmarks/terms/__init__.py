"""The options of annotated terms."""

from __future__ import annotations

from dataclasses import dataclass

from gendermark.selection import Selection, option


@dataclass(frozen=True)
class Settings(Selection):
    data: str = option("core", "file:FILE", default="official")
    cluster: str = option("group")


SETTINGS = {"terms": Settings}
