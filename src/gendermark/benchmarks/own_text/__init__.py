"""The options of texts of the user's own."""

from __future__ import annotations

from dataclasses import dataclass

from gendermark.selection import Selection, option


@dataclass(frozen=True)
class Settings(Selection):
    data: str = option("file:FILE", default="official")
    cluster: str = option("text")


SETTINGS = {"own-text": Settings}
