"""Files and modules in the folder of a language, found by its code: of this package or of another one.

A folder `languages/CODE/` holds what is known about one language; all but the first are optional:

- `__init__.py`: `LANGUAGE`, the grammar; `grammar.toml`: its words, where others have the same grammar;
- `lexicon.tsv`: occupations with all their forms (`reading/occupations.py`);
- `gendered.tsv`: words that show the gender of a person, and words that only seem to (`reading/gendered.py`);
- `function_words.txt`: by which texts in this language are recognised (`reading/profiles.py`);
- `people.tsv`: what frequent English nouns for people are in this language (`reading/target.py`);
- `reliability.tsv`: how well the reader reads translations into it (`benchmarks/own_text/findings.py`);
- `tagger.json.gz`: word classes and genders (`reading/tagger.py`); `TAGGERS.md` has licences and figures;
- `speaker.toml`: the first and the second person (`languages/speaking.py`).

Another package registers its `LANGUAGE` by an entry point and names the package of its folder in `Language.package`.
Some languages have a folder and no grammar: their texts are recognised, or their first person is read.
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
    """The package that is the folder of a language."""
    is_outside = code not in registry.BUILT_IN["language"] and code in registry.names("language")
    return str(registry.load("language", code).package) if is_outside else f"{_OURS}.{code}"


def _path(code: str, name: str) -> Traversable:
    # The folder of a language without grammar is no package, so it is found from the one above.
    above, _, last = package_of(code).rpartition(".")
    return (files(above) / last if above else files(last)) / name


def text_of(code: str, name: str) -> str:
    """Read a file of a language; empty if it has none of that name."""
    path = _path(code, name)
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def bytes_of(code: str, name: str) -> bytes:
    """Read a file of a language that is no text; empty if it has none of that name."""
    path = _path(code, name)
    return path.read_bytes() if path.is_file() else b""


def lines_of(code: str, name: str) -> list[str]:
    """Read a file of a language without empty lines and comments."""
    return [line for line in split_lines(text_of(code, name)) if line and not line.startswith("#")]


def rows_of(code: str, name: str) -> list[dict[str, str]]:
    """Read a table of a language by the names in its first line; empty if there is none."""
    cells = [line.split("\t") for line in lines_of(code, name)]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]


def language_of(code: str) -> Language:
    """The grammar of a language, registered or not."""
    is_registered = code in registry.names("language")
    found: Language = registry.load("language", code) if is_registered else import_module(package_of(code)).LANGUAGE
    return found


@cache
def codes(name: str = "") -> tuple[str, ...]:
    """The languages that have a folder, here or in another package, or a file of that name in it."""
    ours = (folder.name for folder in files(_OURS).iterdir() if folder.is_dir() and not folder.name.startswith("_"))
    every = sorted({*ours, *registry.names("language")})
    return tuple(code for code in every if not name or _path(code, name).is_file())
