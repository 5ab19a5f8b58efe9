"""The official files a loader reads: fetched if need be, verified, and named by revision and content."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from gendermark.data import cache
from gendermark.data.card import load_card
from gendermark.data.download import Say, at_hand
from gendermark.errors import DataUnavailable, UserError


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
    looked_up = at_hand()
    if looked_up is None:
        return _official_files(name, revision_id, group, say)
    key = (name, revision_id, group)
    if key not in looked_up:
        try:
            looked_up[key] = _official_files(name, revision_id, group, say)
        except DataUnavailable as problem:
            looked_up[key] = problem
    found = looked_up[key]
    if isinstance(found, DataUnavailable):
        raise found
    return cast(OfficialFiles, found)


def _official_files(name: str, revision_id: str, group: str, say: Say | None) -> OfficialFiles:
    card = load_card(name)
    revision = card.revision(revision_id)
    files = revision.select(group)
    speak: Say = say or logging.getLogger(__name__).info
    # Who only looks whether some data is at hand has not asked for it yet.
    must_fetch = bool(cache.not_good(card, revision, files)) and at_hand() is None
    if must_fetch:
        speak(card.notice)
    paths = cache.fetch(card, revision, files, say=speak)
    if must_fetch:
        speak(card.notice)
    return OfficialFiles(name, revision_id, revision.commit, revision.content_hash(group), paths)
