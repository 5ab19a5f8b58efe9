"""Files and modules in the folder of a language, found by its code: of this package or of another one.

A folder `languages/CODE/` holds what is known about one language; all but the first are optional:

- `__init__.py`: `LANGUAGE`, the grammar;
- `lexicon.tsv`: occupations with all their forms (`reading/occupations.py`);
- `gendered.tsv`: words that show the gender of a person, and words that only seem to (`reading/gendered.py`);
- `function_words.txt`: by which texts in this language are recognised (`reading/profiles.py`);
- `attachment.py`: `ATTACHMENT`, which words belong to a person (`reading/attachment.py`);
- `speaker.py`: `SPEAKER`, the first person (`reading/speaker.py`).

Another package registers its `LANGUAGE` by an entry point and names the package of its folder in `Language.package`.
Some languages have a folder and no grammar: their texts are recognised, or their first person is read.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from gendermark import registry
from gendermark.io.textfiles import split_lines

_OURS = "gendermark.languages"


@cache
def package_of(code: str) -> str:
    """The package that is the folder of a language."""
    is_outside = code not in registry.BUILT_IN["language"] and code in registry.names("language")
    return str(registry.load("language", code).package) if is_outside else f"{_OURS}.{code}"


def text_of(code: str, name: str) -> str:
    """Read a file of a language; empty if it has none of that name."""
    package, _, last = package_of(code).rpartition(".")
    folder = files(package) / last if package else files(last)
    path = folder / name
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def lines_of(code: str, name: str) -> list[str]:
    """Read a file of a language without empty lines and comments."""
    return [line for line in split_lines(text_of(code, name)) if line and not line.startswith("#")]


def rows_of(code: str, name: str) -> list[dict[str, str]]:
    """Read a table of a language by the names in its first line; empty if there is none."""
    cells = [line.split("\t") for line in lines_of(code, name)]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]


def part_of(code: str, module: str, name: str) -> Any:
    """An object in a module of a language, or in the folder itself; None if there is no such module."""
    package = f"{package_of(code)}.{module}".rstrip(".")
    return getattr(import_module(package), name) if find_spec(package) else None


@cache
def codes() -> tuple[str, ...]:
    """All languages that have a folder, here or in another package, by their codes."""
    ours = (folder.name for folder in files(_OURS).iterdir() if folder.is_dir() and not folder.name.startswith("_"))
    return tuple(sorted({*ours, *registry.names("language")}))
