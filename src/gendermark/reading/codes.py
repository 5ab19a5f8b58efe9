"""Language names and codes used by people and programs.

A language may be listed here without having a grammar (`languages/`), and vice versa if another package provides it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files

from gendermark.io.textfiles import split_lines


@dataclass(frozen=True, slots=True)
class Facts:
    """One language; elsewhere identified by its `code`."""

    code: str
    """ISO 639-1; ISO 639-3 if it has none."""
    name: str
    """In English."""
    nllb: str
    """Language and script as in NLLB and FLORES; for languages with varieties, the one that `code` denotes."""
    three_letters: str
    """ISO 639-3: the whole language, if NLLB names a variety."""
    older_code: str = ""
    """The ISO 639-1 code before 1989, which some programs still use."""

    @property
    def script(self) -> str:
        return self.nllb.partition("_")[2]


_ROWS = split_lines((files("gendermark.languages") / "codes.tsv").read_text(encoding="utf-8"))[1:]
LANGUAGES = {facts.code: facts for facts in (Facts(*row.split("\t")) for row in _ROWS)}
# ISO 639-2 uses `mul` for multilingual texts: each sentence has its own language.
NAMES = {**{code: facts.name for code, facts in LANGUAGES.items()}, "mul": "several languages"}
RIGHT_TO_LEFT = frozenset(code for code, facts in LANGUAGES.items() if facts.script in ("Arab", "Hebr"))


def nllb(code: str) -> str:
    return LANGUAGES[code].nllb if code in LANGUAGES else code


def three_letters(code: str) -> str:
    return LANGUAGES[code].three_letters if code in LANGUAGES else code


_SPELLED = {
    spelled.casefold(): code
    for code, facts in LANGUAGES.items()
    for spelled in (code, facts.name, facts.three_letters, facts.older_code)
    if spelled
}
_REGION = re.compile(r"\b([a-z]{2,3})[-_](?:[A-Z]{2}|[A-Z][a-z]{3})\b")
"""`pt-BR`, `zh-Hans`."""


def words_in(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", _REGION.sub(r"\1", name))


def languages_in(name: str) -> list[str]:
    """The languages that a name may refer to, the last first: `en-es` is a translation into Spanish."""
    return [_SPELLED[word.casefold()] for word in reversed(words_in(name)) if word.casefold() in _SPELLED]
