"""Cards of the official data sets: licence, citation, revisions, and the size and SHA-256 of every file.

One TOML file per data set in `cards/`.
"""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from importlib.resources import files as package_files
from importlib.resources.abc import Traversable

from gendermark.errors import UnknownName

CARDS: Traversable = package_files("gendermark.data") / "cards"


@dataclass(frozen=True, slots=True)
class DataFile:
    path: str
    size: int
    """Bytes."""
    sha256: str
    group: str = "data"
    """`data` is what a benchmark needs; `outputs` are released system outputs, downloaded on request only."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit of the authors' repository, and the files used."""

    revision_id: str
    commit: str
    files: tuple[DataFile, ...]

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(file.group for file in self.files))

    def select(self, group: str | None = None) -> tuple[DataFile, ...]:
        if group is not None and group not in self.groups:
            raise UnknownName(f"group of files of revision {self.revision_id}", group, self.groups)
        return tuple(file for file in self.files if group in (None, file.group))

    def content_hash(self, group: str = "data") -> str:
        """Twelve hex digits that identify the content of a group, whatever its file names."""
        hashes = sorted(file.sha256 for file in self.select(group))
        return hashlib.sha256("\n".join(hashes).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Card:
    """An official data set: origin, licence and citation."""

    name: str
    title: str
    repository: str
    """OWNER/REPO on GitHub."""
    licence: str
    """An SPDX identifier, a name in that style, or `none given`."""
    licence_note: str
    citation: str
    bibtex: str
    revisions: tuple[Revision, ...]

    @property
    def homepage(self) -> str:
        return f"https://github.com/{self.repository}"

    @property
    def notice(self) -> str:
        """Licence and citation, shown before and after a download."""
        licence = f"{self.title} ({self.homepage}), licence: {self.licence}. {self.licence_note}"
        return f"{licence}\nPlease cite: {self.citation}"

    def revision(self, revision_id: str) -> Revision:
        known = {revision.revision_id: revision for revision in self.revisions}
        if revision_id not in known:
            raise UnknownName(f"revision of {self.name}", revision_id, known)
        return known[revision_id]


def card_names() -> list[str]:
    return sorted(entry.name.removesuffix(".toml") for entry in CARDS.iterdir() if entry.name.endswith(".toml"))


def load_card(name: str) -> Card:
    if name not in card_names():
        raise UnknownName("official data set", name, card_names())
    return parse_card((CARDS / f"{name}.toml").read_text(encoding="utf-8"))


def parse_card(text: str) -> Card:
    content = tomllib.loads(text)
    revisions = tuple(
        Revision(
            revision["id"],
            revision["commit"],
            tuple(DataFile(**file, group=group) for group, rows in revision["files"].items() for file in rows),
        )
        for revision in content.pop("revisions")
    )
    return Card(**content, revisions=revisions)
