"""The user's own texts: which gender do the people in them get?"""

from __future__ import annotations

from dataclasses import dataclass

from gendermark.selection import EVERYWHERE, Selection, option


@dataclass(frozen=True)
class Settings(Selection):
    data: str = option("file:FILE", default="official")
    cluster: str = option("text")
    parser: str = option(
        help="Installed spaCy pipeline that parses the English texts, not the bundled one", verbs=EVERYWHERE
    )


SETTINGS = {"own-text": Settings}
