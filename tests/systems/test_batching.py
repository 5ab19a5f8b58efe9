"""Batches of like length; halved when memory does not suffice, without losing or doubling anything."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gendermark.systems.batching import Batches, by_length, is_out_of_memory


class Engine:
    """Has room for so much at once, and remembers what it was given."""

    def __init__(self, room: int, words: str = "CUDA failed with error out of memory") -> None:
        self.room, self.words = room, words
        self.asked: list[list[int]] = []

    def __call__(self, part: Sequence[int]) -> list[str]:
        self.asked.append(list(part))
        if sum(part) > self.room:
            raise RuntimeError(self.words)
        return [str(item) for item in part]


def given_up(item: int, reason: str) -> str:
    return f"{item}: {reason}"


@given(st.lists(st.integers(0, 9)), st.integers(1, 5))
def test_every_place_is_in_one_batch_beside_others_of_like_length(lengths: list[int], batch_size: int) -> None:
    batches = by_length(lengths, batch_size)
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    assert [lengths[place] for batch in batches for place in batch] == sorted(lengths, reverse=True)
    assert all(len(batch) == batch_size for batch in batches[:-1])
    assert all(0 < len(batch) <= batch_size for batch in batches)


def test_what_fits_is_done_at_once() -> None:
    batches, engine = Batches(), Engine(100)
    assert batches.run([1, 2, 3], engine, given_up) == ["1", "2", "3"]
    assert batches.run([], engine, given_up) == []
    assert engine.asked == [[1, 2, 3]]
    assert batches.notes() == []


def test_a_batch_that_does_not_fit_is_halved_and_later_ones_stay_as_small() -> None:
    batches, engine = Batches(), Engine(3)
    assert batches.run([1] * 8, engine, given_up) == ["1"] * 8
    assert [len(part) for part in engine.asked] == [8, 4, 2, 2, 2, 2]
    engine.asked.clear()
    assert batches.run([1, 1, 1, 0, 2], engine, given_up) == ["1", "1", "1", "0", "2"]
    assert [len(part) for part in engine.asked] == [2, 2, 1]
    assert batches.notes() == ["memory did not suffice for the batches asked for; they were cut to 2 sentences"]


def test_what_does_not_fit_even_alone_is_given_up_and_the_rest_is_done() -> None:
    batches, engine = Batches(), Engine(3)
    reason = "not enough memory for this sentence, even alone"
    assert batches.run([1, 9, 2], engine, given_up) == ["1", f"9: {reason}", "2"]
    assert batches.notes() == [
        "memory did not suffice for the batches asked for; they were cut to 1 sentence",
        "1 sentence did not fit into memory even alone and has no answer; the same command asks again",
    ]
    batches.run([8], engine, given_up)
    assert batches.notes()[1].startswith("2 sentences did not fit into memory even alone and have no answers")


def test_the_fault_of_one_is_found_and_makes_nothing_smaller() -> None:
    batches, engine = Batches(), Engine(50, "position 512 is not defined")

    def too_long(problem: Exception) -> str | None:
        return "it is too long" if "position" in str(problem) else None

    assert batches.run([1, 2, 99, 3], engine, given_up, too_long) == ["1", "2", "99: it is too long", "3"]
    engine.asked.clear()
    batches.run([1, 2, 3, 4], engine, given_up, too_long)
    assert engine.asked == [[1, 2, 3, 4]]
    assert batches.notes() == []


def test_other_problems_are_not_hidden() -> None:
    engine = Engine(3, "something else")
    with pytest.raises(RuntimeError, match="something else"):
        Batches().run([5, 5], engine, given_up)
    assert engine.asked == [[5, 5]]


@given(st.lists(st.integers(0, 6)), st.integers(0, 10))
def test_whatever_the_room_every_item_has_its_answer_in_its_place(items: list[int], room: int) -> None:
    batches = Batches()
    for _ in range(2):
        answers = batches.run(items, Engine(room), given_up)
        assert [answer.partition(":")[0] for answer in answers] == [str(item) for item in items]
        assert all((":" in answer) == (item > room) for item, answer in zip(items, answers, strict=True))


@pytest.mark.parametrize(
    ("problem", "is_memory"),
    [
        (MemoryError(), True),
        (RuntimeError("CUDA failed with error out of memory"), True),
        (RuntimeError("std::bad_alloc"), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"), True),
        (RuntimeError("MPS backend out of memory"), True),
        (RuntimeError("No position encodings are defined for positions >= 64"), False),
    ],
)
def test_out_of_memory_is_known_by_what_engines_say(problem: Exception, is_memory: bool) -> None:
    assert is_out_of_memory(problem) is is_memory
