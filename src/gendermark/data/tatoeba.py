"""Sentence pairs of Tatoeba, English and another language, out of the zip files that their cards name.

Nothing is unpacked to the disk: one member is read into memory, and no more of it than a limit.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path, PurePosixPath

from gendermark.data.card import card_names, load_card
from gendermark.data.download import Say
from gendermark.data.official import official_files
from gendermark.errors import BadFile

PREFIX = "tatoeba-"
MOST_BYTES = 256 * 2**20
"""Of the text in an archive; the largest of ours has 12 MB."""


def tatoeba_cards() -> dict[str, tuple[str, str]]:
    """The cards of sentence pairs, and the two languages of each."""
    names = [name for name in card_names() if name.startswith(PREFIX)]
    return {name: (name.split("-")[1], name.split("-")[2]) for name in names}


def tatoeba_lines(name: str, *, say: Say | None = None) -> list[str]:
    """The lines of a card: English, tab, the other language."""
    (revision,) = load_card(name).revisions
    files = official_files(name, revision.revision_id, say=say)
    (path,) = files.paths.values()
    return [line.removesuffix("\r") for line in read_zipped_text(path).split("\n") if line.strip()]


def read_zipped_text(path: Path, most_bytes: int = MOST_BYTES) -> str:
    """The one text of an archive, apart from what is said about it (`_about.txt`)."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            for member in members:
                place = PurePosixPath(member.filename.replace("\\", "/"))
                if place.is_absolute() or ".." in place.parts or ":" in place.parts[0]:
                    raise BadFile(path, f"has a member {member.filename!r} that leads out of it; do not use it")
            texts = [m for m in members if m.filename.endswith(".txt") and not Path(m.filename).name.startswith("_")]
            if len(texts) != 1:
                raise BadFile(path, f"has {len(texts)} texts where one is expected")
            with archive.open(texts[0]) as file:
                # What the archive says of a size may be a lie; what comes out of it is counted.
                content = file.read(most_bytes + 1)
            if len(content) > most_bytes:
                raise BadFile(path, f"has a text of more than {most_bytes:,} bytes; do not use it")
            return content.decode("utf-8-sig")
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as problem:
        raise BadFile(path, f"is not a readable zip file ({problem})") from None
    except UnicodeDecodeError:
        raise BadFile(path, "has a text that is not UTF-8") from None
