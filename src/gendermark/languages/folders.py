"""Find the files and modules of a language by its code, in this package or another.

A folder `languages/CODE/` holds everything about one language; all but the first are optional:

- `__init__.py`: `LANGUAGE`, the grammar; `words.toml` or, if the grammar is shared, `grammar.toml`: its words;
- `lexicon.tsv`: occupations with all their forms (`reading/occupations.py`);
- `gendered.tsv`: words that show a person's gender, and words that only seem to (`reading/gendered.py`);
- `function_words.txt`: to recognise texts in this language (`reading/profiles.py`);
- `people.tsv`: translations of frequent English nouns for people (`reading/target.py`);
- `reliability.tsv`: accuracy of the reader for this language (`benchmarks/own_text/findings.py`);
- `tagger.json.gz`: word classes and genders (`reading/tagger.py`); `TAGGERS.md` has licences and figures;
- `speaker.toml`: first and second person (`languages/speaking.py`).

Another package registers its `LANGUAGE` by an entry point and names the package of its folder in `Language.package`.
Some languages have a folder but no grammar: their texts are recognised, or their first person is read.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable

from gendermark import registry
from gendermark.io.textfiles import split_lines
from gendermark.languages.language import Language

_OURS = "gendermark.languages"


@cache
def package_of(code: str) -> str:
    is_outside = code not in registry.BUILT_IN["language"] and code in registry.names("language")
    return str(registry.load("language", code).package) if is_outside else f"{_OURS}.{code}"


def _path(code: str, name: str) -> Traversable:
    # The folder of a language without grammar is not a package: find it from its parent.
    above, _, last = package_of(code).rpartition(".")
    return (files(above) / last if above else files(last)) / name


def text_of(code: str, name: str) -> str:
    path = _path(code, name)
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def bytes_of(code: str, name: str) -> bytes:
    path = _path(code, name)
    return path.read_bytes() if path.is_file() else b""


def lines_of(code: str, name: str) -> list[str]:
    return [line for line in split_lines(text_of(code, name)) if line and not line.startswith("#")]


def rows_of(code: str, name: str) -> list[dict[str, str]]:
    cells = [line.split("\t") for line in lines_of(code, name)]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]


def language_of(code: str) -> Language:
    is_registered = code in registry.names("language")
    found: Language = registry.load("language", code) if is_registered else import_module(package_of(code)).LANGUAGE
    return found


@cache
def codes(name: str = "") -> tuple[str, ...]:
    """Languages with a folder, here or in another package, or with this file in it."""
    ours = (folder.name for folder in files(_OURS).iterdir() if folder.is_dir() and not folder.name.startswith("_"))
    every = sorted({*ours, *registry.names("language")})
    return tuple(code for code in every if not name or _path(code, name).is_file())
