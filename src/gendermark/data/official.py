"""The official files a loader reads: fetched if need be, verified, and named by revision and content."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gendermark.data import cache
from gendermark.data.card import load_card
from gendermark.data.download import Say, is_staying_here
from gendermark.errors import UserError


@dataclass(frozen=True, slots=True)
class OfficialFiles:
    """Verified local files: one group of one revision of an official data set."""

    name: str
    revision_id: str
    revision: str
    """The commit."""
    content_hash: str
    """For the signature: equal hashes saw equal data."""
    paths: Mapping[str, Path]

    @property
    def origin(self) -> str:
        """What names the data in a signature."""
        return f"official-{self.revision[:8]}-{self.content_hash[:8]}"

    def path(self, relative: str) -> Path:
        """Where a file of the authors' repository is on this machine."""
        if relative not in self.paths:
            raise UserError(f"{relative!r} is not among the files asked for of {self.name} {self.revision_id}")
        return self.paths[relative]


def official_files(name: str, revision_id: str, group: str = "data", *, say: Say | None = None) -> OfficialFiles:
    """The files of a group, fetched if they are not in the cache.

    `say` (if none: the log) hears licence and citation before and after a download, and of waiting and retrying.
    """
    card = load_card(name)
    revision = card.revision(revision_id)
    files = revision.select(group)
    speak: Say = say or logging.getLogger(__name__).info
    # Who only looks whether some data is at hand has not asked for it yet.
    must_fetch = bool(cache.not_good(card, revision, files)) and not is_staying_here()
    if must_fetch:
        speak(card.notice)
    paths = cache.fetch(card, revision, files, say=speak)
    if must_fetch:
        speak(card.notice)
    return OfficialFiles(name, revision_id, revision.commit, revision.content_hash(group), paths)
