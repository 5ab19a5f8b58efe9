"""Word and ending tables of a language, read from TOML.

Word lists are strings split at white space; a pattern may continue on the next line. A record `like` another one lists
only differences: `more.FIELD` and `less.FIELD` add and remove words.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar, get_type_hints

from gendermark.languages.folders import text_of

T = TypeVar("T")


@cache
def toml_of(code: str, name: str) -> Mapping[str, Any]:
    return tomllib.loads(text_of(code, name))


def record(kind: type[T], given: Mapping[str, Any], like: T | None = None) -> T:
    """Build a record from a table; missing fields are as in `like`, or default."""
    hints = _hints(kind)
    values = {one.name: _read(hints[one.name], given[one.name]) for one in fields(kind) if one.name in given}  # type: ignore[arg-type]
    if like is None:
        return kind(**values)
    for name, text in given.get("more", {}).items():
        more = _read(hints[name], text)
        values[name] = getattr(like, name) | more if isinstance(more, frozenset) else getattr(like, name) + more
    for name, text in given.get("less", {}).items():
        values[name] = values.get(name, getattr(like, name)) - _read(hints[name], text)
    return replace(like, **values)  # type: ignore[type-var]


_hints: Callable[[Any], dict[str, Any]] = cache(get_type_hints)


def _read(hint: Any, value: Any) -> Any:
    if is_dataclass(hint) and isinstance(hint, type) and isinstance(value, dict):
        from_table: Callable[[dict[str, Any]], Any] | None = getattr(hint, "from_table", None)
        return from_table(value) if from_table else record(hint, value)
    return _READERS[hint](value) if hint in _READERS else value


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def word_tuple(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def by_agreement(table: Mapping[str, str]) -> dict[str, str]:
    """Words of several lists, each mapped to the name of its list: "m", "f" or "mf"."""
    return {word: agreement for agreement, text in table.items() for word in text.split()}


def by_gender(masculine: str, feminine: str, both: str = "") -> dict[str, str]:
    """Words of several lists, each mapped to its gender; "mf" for those of `both`."""
    return by_agreement({"m": masculine, "f": feminine, "mf": both})


def words_of(
    code: str, normalise: Callable[[str], str] = str
) -> tuple[Mapping[str, frozenset[str]], Mapping[str, Mapping[str, str]]]:
    """The lists in a language's `words.toml`, and its tables of words by agreement."""
    lists, tables = {}, {}
    for name, given in toml_of(code, "words.toml").items():
        if isinstance(given, str):
            lists[name] = frozenset(map(normalise, given.split()))
        elif isinstance(given, dict) and given.keys() <= {"m", "f", "mf"}:
            tables[name] = {normalise(word): agreement for word, agreement in by_agreement(given).items()}
    return lists, tables


def gender_by_ending(endings: Sequence[tuple[str, str]]) -> Callable[[str], str | None]:
    """The gender of the first pattern that a word fits, from pairs of gender and pattern."""
    compiled = [(gender or None, pattern(text)) for gender, text in endings]
    return lambda word: next((gender for gender, form in compiled if form.search(word)), None)


def joined(text: str) -> str:
    return re.sub(r"\s*\n\s*", "", text)


def pattern(text: str) -> re.Pattern[str]:
    return re.compile(joined(text))


_READERS: dict[Any, Callable[[Any], Any]] = {
    str: joined,
    frozenset[str]: word_set,
    tuple[str, ...]: word_tuple,
    Mapping[str, str]: by_agreement,
    re.Pattern[str]: pattern,
}
