"""Word aligners by name: `fast-align` is bundled, the others are optional."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gendermark.data.cache import cache_root
from gendermark.errors import MissingExtra, SystemFailure, UnknownName
from gendermark.linguistics import alignment
from gendermark.linguistics.alignment import Links, Pair
from gendermark.textfiles import read_lines, write_lines

_MOST_KEPT = 100
"""Alignments, of about a megabyte each."""
NAMES = ("fast-align", "eflomal", "simalign")


def align_both_ways(pairs: Sequence[Pair], name: str = "fast-align") -> tuple[list[Links], list[Links]]:
    """Forward and backward links of sentence pairs, both as (source, target)."""
    if name == "fast-align":
        return _remembered(pairs)
    if name == "eflomal":
        return _eflomal(pairs)
    if name == "simalign":
        links = _simalign(pairs)
        return links, links
    raise UnknownName("aligner", name, NAMES)


# -- what was aligned before ------------------------------------------------------------------------------------------


def _remembered(pairs: Sequence[Pair]) -> tuple[list[Links], list[Links]]:
    """The same sentences are scored again and again, and to align them is half of the work of a file."""
    content = hashlib.sha256(
        repr([(list(source), list(target)) for source, target in pairs]).encode("utf-8", "replace")
    )
    path = cache_root() / "alignments" / f"{alignment.VERSION}-{content.hexdigest()}.npz"
    with contextlib.suppress(OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError, IndexError):
        with np.load(path, allow_pickle=False) as found:
            both = _unpacked(found["forward"], len(pairs)), _unpacked(found["backward"], len(pairs))
        path.touch()
        return both
    both = alignment.align(pairs), alignment.align_backward(pairs)
    with contextlib.suppress(OSError):  # a cache that cannot be written is no reason to fail
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        with temporary.open("wb") as file:
            np.savez(file, forward=_packed(both[0]), backward=_packed(both[1]))
        temporary.replace(path)
        for old in sorted(path.parent.iterdir(), key=lambda one: one.stat().st_mtime)[:-_MOST_KEPT]:
            old.unlink()
    return both


def _packed(links: Sequence[Links]) -> NDArray[np.int32]:
    flat = [(pair, *link) for pair, found in enumerate(links) for link in found]
    return np.array(flat, dtype=np.int32).reshape(-1, 3)


def _unpacked(flat: NDArray[np.int32], n_pairs: int) -> list[Links]:
    starts = np.searchsorted(flat[:, 0], np.arange(n_pairs + 1)).tolist()
    links: Links = list(map(tuple, flat[:, 1:].tolist()))
    return [links[start:stop] for start, stop in pairwise(starts)]


def check_available(name: str) -> None:
    """Say before any work what an aligner needs."""
    if name not in NAMES:
        raise UnknownName("aligner", name, NAMES)
    if name == "eflomal" and shutil.which("eflomal-align") is None:
        raise MissingExtra("the aligner eflomal (its program eflomal-align)", "align")
    if name == "simalign":
        _simalign_class()


def _eflomal(pairs: Sequence[Pair]) -> tuple[list[Links], list[Links]]:
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
    forward, backward = (_spread(links, pairs) for links in both)
    return forward, backward


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
