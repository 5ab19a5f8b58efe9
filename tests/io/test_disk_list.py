"""Long sequences on the disk behave as those in memory do, and say plainly when the disk is full."""

from __future__ import annotations

import errno
import gc
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gendermark.errors import UserError
from gendermark.io import disk_list
from gendermark.io.disk_list import DiskList, cached, grouped, mapped, reordered, stored
from gendermark.records import Gender, Item, Judgement, Translation, Verdict


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_list, "LIMIT", 5)
    monkeypatch.setattr(disk_list, "_BLOCK", 3)
    monkeypatch.setattr(disk_list, "_WAITING", 4)


@pytest.mark.parametrize("n", [0, 4, 5, 6, 23])
def test_reads_as_a_list(n: int) -> None:
    values = [f"value {number}" for number in range(n)]
    found = stored(iter(values))
    assert isinstance(found, DiskList) == (n >= 5)
    assert (list(found), len(found), [*reversed(found)]) == (values, n, values[::-1])
    for place in range(-n, n):
        assert found[place] == values[place]
    for some in (slice(None), slice(2, 19), slice(1, None, 4), slice(None, None, -1), slice(-3, None), slice(7, 3)):
        assert list(found[some]) == values[some]
        assert len(found[some]) == len(values[some])
    with pytest.raises(IndexError):
        found[n]


def test_a_part_of_a_part_is_read_from_the_disk_too() -> None:
    part = stored(range(40))[3:37][2:20]
    assert not isinstance(part, list)
    assert (list(part), part[-1], list(part[1:3])) == (list(range(5, 23)), 22, [6, 7])


@given(st.lists(st.integers(0, 6), max_size=40))
def test_groups_are_those_of_a_dictionary(numbers: list[int]) -> None:
    expected: dict[int, list[tuple[int, int]]] = {}
    for place, number in enumerate(numbers):
        expected.setdefault(number, []).append((place, number))
    found = [(key, list(group)) for key, group in grouped(stored(enumerate(numbers)), lambda pair: pair[1])]
    assert found == list(expected.items())


@given(st.permutations(range(17)))
def test_values_come_in_the_order_of_their_places(places: list[int]) -> None:
    assert list(reordered(stored("abcdefghijklmnopq"), places)) == ["abcdefghijklmnopq"[place] for place in places]


def test_places_may_be_repeated_or_below_zero() -> None:
    assert list(reordered(stored("abcdefg"), [6, -1, 0, 0, 6, -1, 3])) == ["g", None, "a", "a", "g", None, "d"]
    assert list(reordered(list("abc"), [2, -1])) == ["c", None]


def test_mapped_values_are_made_when_they_are_read() -> None:
    asked: list[int] = []

    def double(number: int, word: str) -> str:
        asked.append(number)
        return word * number

    found = mapped(double, stored(range(9)), "abcdefghi")
    assert asked == []
    assert (list(found[3:5]), len(found)) == (["ddd", "eeee"], 9)
    assert asked == [3, 4]
    assert found[2] == "cc"
    assert mapped(double, [1, 2], "ab") == ["a", "bb"]
    with pytest.raises(ValueError, match="of one length"):
        mapped(double, stored(range(9)), "abc")


def test_a_cached_function_reads_a_disk_list_once() -> None:
    asked: list[Any] = []

    @cached
    def total(values: Any) -> int:
        asked.append(values)
        return sum(values)

    long = stored(range(9))
    assert [total(long), total(long), total([1]), total([1])] == [36, 36, 1, 1]
    assert len(asked) == 3  # in memory it may have been changed in between
    del long, asked[:]
    gc.collect()


def test_records_come_back_as_they_were() -> None:
    item = Item("a-1", 1, "nurse", "The nurse slept.", Gender.FEMININE, {"role": "subject"}, "nurse", "x")
    facts: dict[str, Any] = {"evidence": ("la",), "spans": ((0, 2),), "reason": "form"}
    measured = Judgement.of(item, Verdict.JUDGED, Gender.FEMININE, measures={"a": 0.1, "b": -0.0}, **facts)
    whole = Judgement.of(item, Verdict.JUDGED, measures={"n": 3})  # a run folder may have whole numbers
    for record in (item, measured, whole, Translation("id", "La.", 2, None, -0.5, 3)):
        back = pickle.loads(pickle.dumps(record))
        assert (back, repr(back)) == (record, repr(record))


def test_a_full_disk_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def seek(self, place: int) -> int:
            return place

        def write(self, data: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(disk_list.tempfile, "TemporaryFile", lambda **_: Full())
    with pytest.raises(UserError) as found:
        stored(range(100))
    assert "No space left on device" in str(found.value)
    assert "TMPDIR" in str(found.value)
