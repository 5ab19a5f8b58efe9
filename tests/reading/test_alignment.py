"""The aligner learns what goes with what, and keeps its shape on odd input. (Its links against the authors' log:
tests/benchmarks/test_winomt.py.)"""

from __future__ import annotations

import shutil
import sys
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendermark.errors import UserError
from gendermark.reading import alignment
from gendermark.reading.alignment import Links, Pair, align, align_one, check_available

# A toy language: every word translated, the first two exchanged.
_TOY = {"the": "la", "a": "una", "cook": "koko", "nurse": "nursa", "cat": "kato", "sleeps": "dorme", "eats": "mange"}
ENGLISH = [list(words) for words in product(("the", "a"), ("cook", "nurse", "cat"), ("sleeps", "eats"), ("x", "y"))]
PAIRS = [(words, [_TOY.get(words[i], words[i]) for i in (1, 0, 2, 3)]) for words in ENGLISH * 4]
EXPECTED = {(0, 1), (1, 0), (2, 2), (3, 3)}
PLACES = [1] * len(PAIRS)
"""Of the noun."""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment, "cache_root", lambda: tmp_path)


def align_backward(pairs: list[Pair]) -> list[Links]:
    swapped = align([(target, source) for source, target in pairs])
    return [[(source, target) for target, source in links] for links in swapped]


def test_learns_an_exchange_of_words() -> None:
    assert set(align(PAIRS)[0]) == EXPECTED
    assert set(align_backward(PAIRS)[0]) == EXPECTED


def test_is_deterministic() -> None:
    assert align(PAIRS) == align(PAIRS)


_words = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), max_size=6)


@settings(derandomize=True, max_examples=60)
@given(st.lists(st.tuples(_words, _words), max_size=8))
def test_links_are_inside_their_sentences(pairs: list[tuple[list[str], list[str]]]) -> None:
    forward, backward = align(pairs), align_backward(pairs)
    for (source, target), links, back in zip(pairs, forward, backward, strict=True):
        for s, t in [*links, *back]:
            assert 0 <= s < len(source)
            assert 0 <= t < len(target)
        # forward: a target word has at most one source word; backward: the other way round
        assert len({t for _, t in links}) == len(links)
        assert len({s for s, _ in back}) == len(back)
    # What is asked of one word is what all links have of it.
    places = [len(source) // 2 for source, _ in pairs]
    for found, links in zip(alignment.align_both_ways(pairs, places), (forward, backward), strict=True):
        assert found == [[t for s, t in own if s == place] for own, place in zip(links, places, strict=True)]


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is learnt is the same to the last digit, however many sentences are laid out at a time."""

    def learned() -> list[Any]:
        cells = alignment._Cells(*alignment._sides(PAIRS)[1:])
        models = [alignment._learned(one) for one in (cells, alignment._Cells(cells.target, cells.source, cells))]
        return [(model.table.tolist(), model.null_table.tolist(), model.tension) for model in models]

    whole = learned(), align(PAIRS), alignment.align_both_ways(PAIRS, PLACES)
    for in_block, in_table in ((1, 20_000_000), (100, 20_000_000), (100, 5)):
        monkeypatch.setattr(alignment, "_CELLS_AT_ONCE", in_block)
        monkeypatch.setattr(alignment, "_MOST_IN_TABLE", in_table)
        assert (learned(), align(PAIRS), alignment.align_both_ways(PAIRS, PLACES)) == whole


def test_unknown_aligner() -> None:
    with pytest.raises(UserError, match="unknown aligner 'giza'; available: eflomal, fast-align, simalign"):
        check_available("giza")


def test_missing_aligners_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setitem(sys.modules, "simalign", None)
    for name in ("eflomal", "simalign"):
        with pytest.raises(UserError, match=r"install it with: pip install 'gendermark\[align\]'"):
            align_one(PAIRS, PLACES, name)


@pytest.mark.skipif(shutil.which("eflomal-align") is None, reason="needs the extra align (eflomal)")
def test_eflomal_really_aligns() -> None:
    found = align_one([*PAIRS, ([], ["x"])], [*PLACES, 0], "eflomal")
    assert len(found) == len(PAIRS) + 1
    assert found[-1] == []
    assert found.count([0]) > len(PAIRS) / 2


def test_a_failing_program_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    program = tmp_path / "eflomal-align"
    program.write_text("#!/bin/sh\necho no space left >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(UserError, match="eflomal-align stopped with exit code 3; it said: no space left"):
        align_one(PAIRS, PLACES, "eflomal")


def test_simalign_is_asked_for_each_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    class Aligner:
        def __init__(self, **options: Any) -> None:
            assert options["matching_methods"] == "i"

        def get_word_aligns(self, source: list[str], target: list[str]) -> dict[str, list[tuple[int, int]]]:
            return {"itermax": [(i, i) for i in range(min(len(source), len(target)))]}

    monkeypatch.setitem(sys.modules, "simalign", SimpleNamespace(SentenceAligner=Aligner))
    assert align_one([(["a", "b"], ["c"]), ([], [])], [0, 0], "simalign") == [[0], []]


def test_of_two_directions_what_they_agree_on_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    forward = [[(0, 1), (0, 2)], [(0, 1)], []]
    backward = [[(0, 2), (1, 0)], [(0, 0)], [(0, 3)]]
    monkeypatch.setattr(alignment, "_eflomal", lambda _: [forward, backward])
    assert align_one([(["a", "b"], ["c", "d", "e", "f"])] * 3, [0, 0, 0], "eflomal") == [[2], [1], [3]]


# -- alignments are cached by content ---------------------------------------------------------------------------------

CACHED: list[Pair] = [
    (f"the cook met friend {n % 7}".split(), f"la cocinera vio a amiga {n % 7}".split()) for n in range(40)
]
CACHED += [([], ["nada"]), (["nothing"], [])]


def _aligned(pairs: list[Pair]) -> list[list[int]]:
    return align_one(pairs, [1] * len(pairs))


def _anew(pairs: list[Pair]) -> list[list[int]]:
    both = zip(alignment.align(pairs), align_backward(pairs), strict=True)
    sides = ([{target for source, target in links if source == 1} for links in two] for two in both)
    return [sorted(forward & backward or forward or backward) for forward, backward in sides]


def _files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "alignments").iterdir())


def test_the_second_time_nothing_is_aligned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = _aligned(CACHED)
    assert first == _anew(CACHED)
    monkeypatch.setattr(alignment, "align_both_ways", lambda *_: pytest.fail("it was kept"))
    assert _aligned(CACHED) == first
    assert len(_files(tmp_path)) == 1


@pytest.mark.parametrize("damage", [b"", b"no archive", b"\x93NUMPY\x01\x00cut"])
def test_a_damaged_file_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    first = _aligned(CACHED)
    (path,) = _files(tmp_path)
    path.write_bytes(damage)
    assert _aligned(CACHED) == first
    assert path.read_bytes() != damage


def test_a_cache_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "alignments").write_text("a file where the directory should be")
    assert _aligned(CACHED) == _anew(CACHED)
