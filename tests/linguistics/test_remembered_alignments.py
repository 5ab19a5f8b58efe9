"""Alignments are kept by content: the second time they are read, and are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from gendermark.linguistics import aligners, alignment
from gendermark.linguistics.aligners import align_both_ways

PAIRS = [(f"the cook met friend {n % 7}".split(), f"la cocinera vio a amiga {n % 7}".split()) for n in range(40)]
PAIRS += [([], ["nada"]), (["nothing"], [])]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aligners, "cache_root", lambda: tmp_path)


def _files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "alignments").iterdir())


def test_the_second_time_nothing_is_aligned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = align_both_ways(PAIRS)
    assert first == (alignment.align(PAIRS), alignment.align_backward(PAIRS))
    monkeypatch.setattr(alignment, "align", lambda _: pytest.fail("it was kept"))
    assert align_both_ways(PAIRS) == first
    assert len(_files(tmp_path)) == 1


def test_other_sentences_are_aligned_by_themselves(tmp_path: Path) -> None:
    align_both_ways(PAIRS)
    assert align_both_ways(PAIRS[:20]) == (alignment.align(PAIRS[:20]), alignment.align_backward(PAIRS[:20]))
    assert len(_files(tmp_path)) == 2


@pytest.mark.parametrize("damage", [b"", b"no archive", b"PK\x03\x04cut"])
def test_a_damaged_file_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    first = align_both_ways(PAIRS)
    (path,) = _files(tmp_path)
    path.write_bytes(damage)
    assert align_both_ways(PAIRS) == first
    assert path.read_bytes() != damage


def test_a_cache_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "alignments").write_text("a file where the directory should be")
    assert align_both_ways(PAIRS)[0] == alignment.align(PAIRS)


def test_old_ones_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aligners, "_MOST_KEPT", 2)
    for n in range(3, 8):
        align_both_ways(PAIRS[:n])
    assert len(_files(tmp_path)) == 2
