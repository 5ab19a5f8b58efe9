"""Word aligners by name: `fast-align` is bundled, the others are optional."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gendermark.data.cache import cache_root
from gendermark.errors import MissingExtra, SystemFailure, UnknownName
from gendermark.io.textfiles import read_lines, write_lines
from gendermark.linguistics import alignment
from gendermark.linguistics.alignment import Links, Pair

_MOST_KEPT = 100
"""Alignments, of some thirty kilobytes each."""
_UNIT, _RECORD, _GROUP = "\x1f", "\x1e", "\x1d"
"""What separates words, sides and pairs; no word has them."""
NAMES = ("fast-align", "eflomal", "simalign")


def align_one(pairs: Sequence[Pair], places: Sequence[int], name: str = "fast-align") -> list[list[int]]:
    """Of each sentence pair the target positions linked to one source position.

    Those on which the model of either direction agrees; else those that the forward model gives; else the others.
    """
    if name == "fast-align":
        return _remembered(pairs, places)
    if name not in NAMES:
        raise UnknownName("aligner", name, NAMES)
    both = _eflomal(pairs) if name == "eflomal" else [_simalign(pairs)] * 2
    forward, backward = (
        [[target for source, target in found if source == place] for found, place in zip(links, places, strict=True)]
        for links in both
    )
    return _agreed(forward, backward)


def _agreed(forward: Sequence[Sequence[int]], backward: Sequence[Sequence[int]]) -> list[list[int]]:
    return [
        sorted([place for place in one if place in other] or one or other)
        for one, other in zip(forward, backward, strict=True)
    ]


# -- what was aligned before ------------------------------------------------------------------------------------------


def _remembered(pairs: Sequence[Pair], places: Sequence[int]) -> list[list[int]]:
    """The same sentences are scored again and again, and to align them is a good part of the work of a file."""
    asked = (
        f"{_UNIT.join(source)}{_RECORD}{_UNIT.join(target)}{_RECORD}{place}"
        for (source, target), place in zip(pairs, places, strict=True)
    )
    content = hashlib.sha256(_GROUP.join(asked).encode("utf-8", "replace"))
    path = cache_root() / "alignments" / f"{alignment.VERSION}-{content.hexdigest()}.npy"
    with contextlib.suppress(OSError, ValueError, EOFError, IndexError):
        found = _unpacked(np.load(path, allow_pickle=False), len(pairs))
        path.touch()
        return found
    found = _agreed(*alignment.align_one(pairs, places))
    with contextlib.suppress(OSError):  # a cache that cannot be written is no reason to fail
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        with temporary.open("wb") as file:
            np.save(file, _packed(found))
        temporary.replace(path)
        for old in sorted(path.parent.iterdir(), key=lambda one: one.stat().st_mtime)[:-_MOST_KEPT]:
            old.unlink()
    return found


def _packed(found: Sequence[Sequence[int]]) -> NDArray[np.int32]:
    return np.array([(pair, place) for pair, own in enumerate(found) for place in own], np.int32).reshape(-1, 2)


def _unpacked(flat: NDArray[np.int32], n_pairs: int) -> list[list[int]]:
    starts = np.searchsorted(flat[:, 0], np.arange(n_pairs + 1)).tolist()
    places = flat[:, 1].tolist()
    return [places[start:stop] for start, stop in pairwise(starts)]


def check_available(name: str) -> None:
    """Say before any work what an aligner needs."""
    if name not in NAMES:
        raise UnknownName("aligner", name, NAMES)
    if name == "eflomal" and shutil.which("eflomal-align") is None:
        raise MissingExtra("the aligner eflomal (its program eflomal-align)", "align")
    if name == "simalign":
        _simalign_class()


def _eflomal(pairs: Sequence[Pair]) -> list[list[Links]]:
    """eflomal is GPL-3, so it is only ever run as a program of its own."""
    check_available("eflomal")
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        usable = [(source, target) for source, target in pairs if source and target]
        write_lines(directory / "source", (" ".join(source) for source, _ in usable))
        write_lines(directory / "target", (" ".join(target) for _, target in usable))
        arguments = ["-s", "source", "-t", "target", "-f", "forward", "-r", "backward", "--overwrite"]
        done = subprocess.run(["eflomal-align", *arguments], cwd=directory, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            said = done.stderr.strip().splitlines()[-1:] or ["nothing"]
            raise SystemFailure(f"eflomal-align stopped with exit code {done.returncode}; it said: {said[0]}")
        both = [_parsed(read_lines(directory / side)) for side in ("forward", "backward")]
    return [_spread(links, pairs) for links in both]


def _parsed(lines: Sequence[str]) -> list[Links]:
    """Links in the usual notation: `0-0 1-2`."""
    found = []
    for line in lines:
        pairs = (link.split("-") for link in line.split())
        found.append([(int(source), int(target)) for source, target in pairs])
    return found


def _spread(links: Sequence[Links], pairs: Sequence[Pair]) -> list[Links]:
    """Put the empty pairs, which were not given to the program, back in their places."""
    given = iter(links)
    return [next(given) if source and target else [] for source, target in pairs]


def _simalign(pairs: Sequence[Pair]) -> list[Links]:
    aligner = _simalign_class()(model="bert", token_type="bpe", matching_methods="i")
    return [
        sorted(aligner.get_word_aligns(list(source), list(target))["itermax"]) if source and target else []
        for source, target in pairs
    ]


def _simalign_class() -> type:
    try:
        return import_module("simalign").SentenceAligner  # type: ignore[no-any-return]
    except ImportError:
        raise MissingExtra("the aligner simalign", "align") from None
