"""Cards of the official data sets: whose each one is, its licence and citation, and what its files hash to.

One TOML file per data set in `cards/`. A card is checked as it is made, so that no later code meets a path that
leaves the cache, or a file without a hash.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass, fields
from importlib.resources import files as package_files
from importlib.resources.abc import Traversable

from gendermark.errors import UnknownName, UserError

CARDS: Traversable = package_files("gendermark.data") / "cards"

# Narrower than any file system demands: no "..", drive, backslash, hidden file, or trailing dot (which Windows drops).
_NAME = re.compile(r"[\w-]([\w.-]*[\w-])?", re.ASCII)


def _require(is_met: bool, problem: str) -> None:
    if not is_met:
        raise UserError(problem)


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of an official data set, as its authors released it."""

    path: str
    size: int
    """Bytes."""
    sha256: str
    group: str = "data"
    """`data` is what a benchmark needs; `outputs` are released outputs of systems, which few people want."""

    def __post_init__(self) -> None:
        is_plain = all(_NAME.fullmatch(part) for part in self.path.split("/"))
        # `FILE.part` is where the download of `FILE` is kept until it is whole.
        _require(is_plain and not self.path.endswith(".part"), f"{self.path!r} is not a plain relative path")
        _require(type(self.size) is int and self.size > 0, f"{self.path} has {self.size!r} as its size in bytes")
        _require(bool(re.fullmatch(r"[0-9a-f]{64}", self.sha256)), f"{self.path} has {self.sha256!r} as its SHA-256")


@dataclass(frozen=True, slots=True)
class Revision:
    """One commit of the authors' repository, and the files we use of it."""

    revision_id: str
    commit: str
    files: tuple[DataFile, ...]

    def __post_init__(self) -> None:
        _require(bool(re.fullmatch(r"[0-9a-f]{40}", self.commit)), f"{self.commit!r} is not a whole commit hash")
        # Two names that differ in case alone are one file on macOS and Windows.
        paths = [file.path.casefold() for file in self.files]
        twice = sorted({path for path in paths if paths.count(path) > 1})
        _require(not twice, f"revision {self.revision_id} lists {', '.join(twice)} twice")
        _require(bool(paths), f"revision {self.revision_id} lists no files")

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(file.group for file in self.files))

    def select(self, group: str | None = None) -> tuple[DataFile, ...]:
        """The files of one group; all files if None."""
        if group is not None and group not in self.groups:
            raise UnknownName(f"group of files of revision {self.revision_id}", group, self.groups)
        return tuple(file for file in self.files if group in (None, file.group))

    def content_hash(self, group: str = "data") -> str:
        """Twelve digits that stand for the content of a group, whatever its files are called."""
        hashes = sorted(file.sha256 for file in self.select(group))
        return hashlib.sha256("\n".join(hashes).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Card:
    """One official data set: where it comes from and what its authors ask of those who use it."""

    name: str
    title: str
    repository: str
    """OWNER/REPO on GitHub."""
    licence: str
    """An SPDX identifier, or one formed like it, or `none given`."""
    licence_note: str
    citation: str
    bibtex: str
    revisions: tuple[Revision, ...]

    def __post_init__(self) -> None:
        for field in fields(self)[:-1]:
            value = getattr(self, field.name)
            _require(isinstance(value, str) and bool(value.strip()), f"{field.name} is empty")
        owner, _, repository = self.repository.partition("/")
        _require(bool(_NAME.fullmatch(owner) and _NAME.fullmatch(repository)), f"{self.repository!r} is not OWNER/REPO")
        ids = [revision.revision_id for revision in self.revisions]
        _require(bool(ids) and len(ids) == len(set(ids)), "there is no revision, or one of them twice")

    @property
    def homepage(self) -> str:
        return f"https://github.com/{self.repository}"

    @property
    def notice(self) -> str:
        """What a user is to know before and after the files are fetched."""
        licence = f"{self.title} ({self.homepage}), licence: {self.licence}. {self.licence_note}"
        return f"{licence}\nPlease cite: {self.citation}"

    def revision(self, revision_id: str) -> Revision:
        known = {revision.revision_id: revision for revision in self.revisions}
        if revision_id not in known:
            raise UnknownName(f"revision of {self.name}", revision_id, known)
        return known[revision_id]


def parse_card(text: str, name: str) -> Card:
    """A card from TOML; anything that is not right with it is said in one sentence."""
    try:
        content = tomllib.loads(text)
        revisions = tuple(
            Revision(
                revision["id"],
                revision["commit"],
                tuple(DataFile(**file, group=group) for group, rows in revision["files"].items() for file in rows),
            )
            for revision in content.pop("revisions")
        )
        card = Card(**content, revisions=revisions)
        _require(card.name == name, f"it is called {card.name!r} inside")
    except KeyError as problem:
        raise UserError(f"the card of {name!r} is not valid: {problem} is missing") from None
    except (UserError, TypeError, AttributeError, ValueError) as problem:  # a key too many, a value of the wrong type
        raise UserError(f"the card of {name!r} is not valid: {problem}") from None
    return card


def card_names() -> list[str]:
    """The official data sets there are cards for, sorted."""
    return sorted(entry.name.removesuffix(".toml") for entry in CARDS.iterdir() if entry.name.endswith(".toml"))


def load_card(name: str) -> Card:
    """The card of an official data set."""
    if name not in card_names():
        raise UnknownName("official data set", name, card_names())
    return parse_card((CARDS / f"{name}.toml").read_text(encoding="utf-8"), name)
