"""`files:`: translations made elsewhere, as people really write them down."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from gendermark.benchmarks.benchmark import ItemSet
from gendermark.errors import BadFile, UserError
from gendermark.records import Item
from gendermark.systems.files import Files, read_translations
from runs.tiny import Tiny


def items_of(*sources: str) -> list[Item]:
    return [Item(f"item-{n}", n, "group", source) for n, source in enumerate(sources)]


ITEMS = items_of("The nurse slept.", "The doctor ran.", "The cook sang.")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out.txt"


def refused(path: Path, content: str, items: Sequence[Item] = ITEMS) -> str:
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadFile) as caught:
        read_translations(path, items)
    assert str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(str(path))


# -- one per line


@pytest.mark.parametrize(
    "content",
    [
        b"uno\ndos\ntres\n",
        b"uno\ndos\ntres",
        b"uno\r\ndos\r\ntres\r\n",
        b"\xef\xbb\xbfuno\ndos\ntres\n",
        b"\xef\xbb\xbfuno\r\ndos\r\ntres",
    ],
)
def test_one_per_line(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert read_translations(path, ITEMS) == ["uno", "dos", "tres"]


def test_empty_lines_are_empty_translations(path: Path) -> None:
    path.write_text("uno\n\n\n")
    assert read_translations(path, ITEMS) == ["uno", "", ""]
    path.write_text("\n\ntres")
    assert read_translations(path, ITEMS) == ["", "", "tres"]


def test_lines_are_left_as_they_are(path: Path) -> None:
    path.write_text(" uno\u2028|||\ndos||| \n|||\n", encoding="utf-8")
    assert read_translations(path, ITEMS) == [" uno\u2028|||", "dos||| ", "|||"]


@pytest.mark.parametrize(("content", "n"), [("uno\ndos\n", 2), ("uno\ndos\ntres\n\n", 4), ("", 0)])
def test_another_number_of_lines(path: Path, content: str, n: int) -> None:
    assert refused(path, content) == (
        f": has {n} lines, but there are 3 sentences; expected one translation per line "
        "in the order of `gendermark export`"
    )


# -- source ||| translation


def test_pairs_in_any_order(path: Path) -> None:
    lines = ["The cook sang. ||| tres", "The nurse slept. ||| uno", "The doctor ran. |||   dos  "]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    assert read_translations(path, ITEMS) == ["uno", "dos", "tres"]


def test_pairs_without_a_translation(path: Path) -> None:
    path.write_text("The cook sang. |||\nThe nurse slept. ||| \nThe doctor ran. ||| dos\n")
    assert read_translations(path, ITEMS) == ["", "dos", ""]


def test_a_repeated_source_has_one_translation_or_one_for_each_time(path: Path) -> None:
    items = items_of("A.", "B.", "A.", "A.")
    path.write_text("A. ||| uno\nB. ||| b\n")
    assert read_translations(path, items) == ["uno", "b", "uno", "uno"]
    path.write_text("A. ||| uno\nA. ||| dos\nB. ||| b\nA. ||| tres\n")
    assert read_translations(path, items) == ["uno", "b", "dos", "tres"]
    words = ": has 2 translations of 'A.', which occurs 3 times; give one, or one for each time"
    assert refused(path, "A. ||| uno\nA. ||| dos\nB. ||| b\n", items) == words
    words = ": has 2 translations of 'B.', which occurs once; give one, or one for each time"
    assert refused(path, "A. ||| uno\nB. ||| b\nB. ||| b\n", items) == words


def test_a_missing_source(path: Path) -> None:
    content = "The cook sang. ||| tres\nThe nurse slept. ||| uno\n"
    assert refused(path, content) == ": has no translation of sentence 2, 'The doctor ran.'"


def test_an_unknown_source(path: Path) -> None:
    content = "The cook sang. ||| tres\nThe nurse sleeps. ||| uno\nThe doctor ran. ||| dos\n"
    assert refused(path, content) == ", line 2: source 'The nurse sleeps.' is not a sentence of this benchmark"
    long = "x" * 100
    assert refused(path, f"{long} ||| uno\n") == (f", line 1: source '{'x' * 59}…' is not a sentence of this benchmark")


def test_mixed_lines(path: Path) -> None:
    content = "The cook sang. ||| tres\nuno\nThe doctor ran. ||| dos\n"
    assert refused(path, content) == ", line 2: has no '|||' between source and translation, but other lines do"
    assert refused(path, "The cook sang. ||| tres\n\n").startswith(", line 2: has no '|||'")
    assert refused(path, "The cook sang. ||| tres ||| three\n") == ", line 1: has more than one '|||'"


def test_what_cannot_be_read(path: Path, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"out\.txt: there is no such file$"):
        read_translations(path, ITEMS)
    path.write_bytes(b"uno\ndos\nm\xe9dica\n")
    with pytest.raises(BadFile, match=r"out\.txt, line 3: byte 0xe9 is not UTF-8; save the file as UTF-8$"):
        read_translations(path, ITEMS)
    with pytest.raises(BadFile, match=r"is a directory; give the file in it$"):
        read_translations(tmp_path, ITEMS)


# -- as a system


def answers(system: Files, benchmark: Tiny, item_set: ItemSet) -> list[str | None]:
    system.prepare(benchmark, item_set)
    requests = benchmark.requests(item_set)
    found = [answer for portion in system.answer(requests) for answer in portion]
    assert [answer.request_id for answer in found] == [request.request_id for request in requests]
    return [answer.text for answer in found]


def test_one_file(path: Path, benchmark: Tiny, item_set: ItemSet) -> None:
    lines = [f"línea {n}" for n in range(len(item_set.items))]
    path.write_text("\n".join(lines), encoding="utf-8")
    system = Files(str(path), {})
    assert answers(system, benchmark, item_set) == lines
    assert not system.is_stored
    assert system.spec == f"files:{path}"


def test_a_directory_has_a_file_for_each_direction(tmp_path: Path, benchmark: Tiny, item_set: ItemSet) -> None:
    system = Files(str(tmp_path), {})
    with pytest.raises(BadFile, match=r"tiny\.en-xx\.txt: there is no such file$"):
        system.prepare(benchmark, item_set)
    lines = [f"{item.source} ||| x {item.index}" for item in item_set.items]
    (tmp_path / "tiny.en-xx.txt").write_text("\n".join(reversed(lines)))
    assert answers(system, benchmark, item_set) == [f"x {n}" for n in range(len(item_set.items))]


def test_it_has_no_options(path: Path) -> None:
    with pytest.raises(UserError, match=r"^system family files has no option 'mode'; there is: none$"):
        Files(str(path), {"mode": "batch"})
