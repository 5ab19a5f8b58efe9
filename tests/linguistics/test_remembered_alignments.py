"""Alignments are kept by content: the second time they are read, and are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from gendermark.linguistics import aligners, alignment
from gendermark.linguistics.aligners import align_one
from gendermark.linguistics.alignment import Pair

PAIRS: list[Pair] = [
    (f"the cook met friend {n % 7}".split(), f"la cocinera vio a amiga {n % 7}".split()) for n in range(40)
]
PAIRS += [([], ["nada"]), (["nothing"], [])]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aligners, "cache_root", lambda: tmp_path)


def _aligned(pairs: list[Pair]) -> list[list[int]]:
    return align_one(pairs, [1] * len(pairs))


def _anew(pairs: list[Pair]) -> list[list[int]]:
    both = zip(alignment.align(pairs), alignment.align_backward(pairs), strict=True)
    sides = ([{target for source, target in links if source == 1} for links in two] for two in both)
    return [sorted(forward & backward or forward or backward) for forward, backward in sides]


def _files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "alignments").iterdir())


def test_the_second_time_nothing_is_aligned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = _aligned(PAIRS)
    assert first == _anew(PAIRS)
    monkeypatch.setattr(alignment, "align_one", lambda *_: pytest.fail("it was kept"))
    assert _aligned(PAIRS) == first
    assert len(_files(tmp_path)) == 1


def test_another_word_of_the_same_sentences_is_asked_for_by_itself(tmp_path: Path) -> None:
    first = _aligned(PAIRS)
    assert align_one(PAIRS, [0] * len(PAIRS)) != first
    assert len(_files(tmp_path)) == 2


def test_other_sentences_are_aligned_by_themselves(tmp_path: Path) -> None:
    _aligned(PAIRS)
    assert _aligned(PAIRS[:20]) == _anew(PAIRS[:20])
    assert len(_files(tmp_path)) == 2


@pytest.mark.parametrize("damage", [b"", b"no archive", b"\x93NUMPY\x01\x00cut"])
def test_a_damaged_file_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    first = _aligned(PAIRS)
    (path,) = _files(tmp_path)
    path.write_bytes(damage)
    assert _aligned(PAIRS) == first
    assert path.read_bytes() != damage


def test_a_cache_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "alignments").write_text("a file where the directory should be")
    assert _aligned(PAIRS) == _anew(PAIRS)


def test_old_ones_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aligners, "_MOST_KEPT", 2)
    for n in range(3, 8):
        _aligned(PAIRS[:n])
    assert len(_files(tmp_path)) == 2
