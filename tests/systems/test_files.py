"""`files:`: translations made elsewhere, as people really write them down."""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import BadFile, UnmatchedSources, UserError
from gendermark.io import textfiles
from gendermark.io.tables import NO_SAMPLE, Samples
from gendermark.io.translations import open_translations, read_samples
from gendermark.records import Item, Request, Task
from gendermark.runs.translate import check_tasks
from gendermark.selection import Selection, option
from gendermark.systems.files import Files
from runs.tiny import BENCHMARK, load, tiny


def items_of(*sources: str) -> list[Item]:
    return [Item(f"item-{n}", n, "group", source) for n, source in enumerate(sources)]


ITEMS = items_of("The nurse slept.", "The doctor ran.", "The cook sang.")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out.txt"


def texts_of(path: Path, items: Sequence[Item]) -> list[str]:
    item_set = ItemSet(Selection("tiny", "en", "xx", "core"), tuple(items), "here")
    return open_translations(path).texts(BENCHMARK, item_set)


def refused(path: Path, content: str, items: Sequence[Item] = ITEMS) -> str:
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadFile) as caught:
        texts_of(path, items)
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
    assert texts_of(path, ITEMS) == ["uno", "dos", "tres"]


def test_empty_lines_are_empty_translations(path: Path) -> None:
    path.write_text("uno\n\n\n")
    assert texts_of(path, ITEMS) == ["uno", "", ""]
    path.write_text("\n\ntres")
    assert texts_of(path, ITEMS) == ["", "", "tres"]


def test_lines_are_left_as_they_are(path: Path) -> None:
    path.write_text(" uno\u2028|||\ndos||| \n|||\n", encoding="utf-8")
    assert texts_of(path, ITEMS) == [" uno\u2028|||", "dos||| ", "|||"]


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
    assert texts_of(path, ITEMS) == ["uno", "dos", "tres"]


def test_pairs_without_a_translation(path: Path) -> None:
    path.write_text("The cook sang. |||\nThe nurse slept. ||| \nThe doctor ran. ||| dos\n")
    assert texts_of(path, ITEMS) == ["", "dos", ""]


def test_a_repeated_source_has_one_translation_or_one_for_each_time(path: Path) -> None:
    items = items_of("A.", "B.", "A.", "A.")
    path.write_text("A. ||| uno\nB. ||| b\n")
    assert texts_of(path, items) == ["uno", "b", "uno", "uno"]
    path.write_text("A. ||| uno\nA. ||| dos\nB. ||| b\nA. ||| tres\n")
    assert texts_of(path, items) == ["uno", "b", "dos", "tres"]
    words = ": has 2 translations of 'A.', which occurs 3 times; give one, or one for each time"
    assert refused(path, "A. ||| uno\nA. ||| dos\nB. ||| b\n", items) == words
    words = ": has 2 translations of 'B.', which occurs once; give one, or one for each time"
    assert refused(path, "A. ||| uno\nB. ||| b\nB. ||| b\n", items) == words


def test_a_missing_source(path: Path) -> None:
    content = "The cook sang. ||| tres\nThe nurse slept. ||| uno\n"
    assert refused(path, content) == (
        ": has no translation of sentence 2, 'The doctor ran.'; add it, or score the rest with --allow-missing (of a "
        "run: --system-option allow_missing=yes)"
    )


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
        texts_of(path, ITEMS)
    path.write_bytes(b"uno\ndos\nm\xe9dica\n")
    with pytest.raises(BadFile, match=r"out\.txt, line 3: byte 0xe9 is not UTF-8; save the file as UTF-8$"):
        texts_of(path, ITEMS)
    with pytest.raises(BadFile, match=r"is a directory; give the file in it$"):
        texts_of(tmp_path, ITEMS)


# -- as a system


def prepare(system: Files, benchmark: Benchmark, item_set: ItemSet) -> None:
    system.prepare(benchmark, item_set, benchmark.requests(item_set))


def answers(system: Files, benchmark: Benchmark, item_set: ItemSet) -> list[str | None]:
    requests = benchmark.requests(item_set)
    system.prepare(benchmark, item_set, requests)
    found = [answer for portion in system.answer(requests) for answer in portion]
    assert [answer.request_id for answer in found] == [request.request_id for request in requests]
    return [answer.text for answer in found]


def test_one_file(path: Path, benchmark: Benchmark, item_set: ItemSet) -> None:
    lines = [f"línea {n}" for n in range(len(item_set.items))]
    path.write_text("\n".join(lines), encoding="utf-8")
    system = Files(str(path), {})
    assert answers(system, benchmark, item_set) == lines
    assert not system.is_stored
    assert system.spec == f"files:{path}"


def test_it_has_options_for_columns_only(path: Path) -> None:
    options = "source_column, translation_column, fix_encoding, allow_missing"
    words = f"^system family files has no option 'mode'; available: {options}$"
    with pytest.raises(UserError, match=words):
        Files(str(path), {"mode": "batch"})


def test_options_name_columns(tmp_path: Path, benchmark: Benchmark, item_set: ItemSet) -> None:
    rows = [f"{item.source}\tx {item.index}" for item in reversed(item_set.items)]
    path = tmp_path / "out.tsv"
    path.write_text("\n".join(["English\tXish", *rows]))
    system = Files(str(path), {"source_column": "English", "translation_column": "Xish"})
    assert answers(system, benchmark, item_set) == [f"x {n}" for n in range(len(item_set.items))]


# -- directories


def numbered(items: Sequence[Item], word: str = "x") -> str:
    return "".join(f"{item.source} ||| {word} {item.index}\n" for item in reversed(items))


def expected(items: Sequence[Item], word: str = "x") -> list[str]:
    return [f"{word} {item.index}" for item in items]


def refused_directory(system: Files, benchmark: Benchmark, item_set: ItemSet) -> str:
    with pytest.raises(BadFile) as caught:
        system.prepare(benchmark, item_set, benchmark.requests(item_set))
    return str(caught.value)


def test_a_directory_has_a_file_for_each_direction(tmp_path: Path, benchmark: Benchmark, item_set: ItemSet) -> None:
    system = Files(str(tmp_path), {})
    words = (
        f"{tmp_path}: there is no such file as tiny.en-xx.txt (or .tsv, .csv, .jsonl, .json, .xlsx) in it; available: "
    )
    assert refused_directory(system, benchmark, item_set) == f"{words}nothing"
    (tmp_path / "tiny.en-yy.txt").touch()
    (tmp_path / "more").mkdir()
    assert refused_directory(system, benchmark, item_set) == f"{words}more/, tiny.en-yy.txt"
    (tmp_path / "tiny.en-xx.txt").write_text(numbered(item_set.items))
    assert answers(system, benchmark, item_set) == expected(item_set.items)
    (tmp_path / "tiny.en-xx.csv").touch()
    words = f"{tmp_path}: has tiny.en-xx.txt and tiny.en-xx.csv, which all fit; keep one"
    assert refused_directory(system, benchmark, item_set) == words


def test_a_directory_of_systems(tmp_path: Path, benchmark: Benchmark, item_set: ItemSet) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "a" / "tiny.en-xx.txt").write_text(numbered(item_set.items, "a"))
    # The only one that fits needs no name.
    assert answers(Files(str(tmp_path), {}), benchmark, item_set) == expected(item_set.items, "a")
    (tmp_path / "b" / "tiny.en-xx.txt").write_text(numbered(item_set.items, "b"))
    assert answers(Files(f"{tmp_path}#b", {}), benchmark, item_set) == expected(item_set.items, "b")
    assert answers(Files(f"{tmp_path}/a", {}), benchmark, item_set) == expected(item_set.items, "a")
    words = refused_directory(Files(str(tmp_path), {}), benchmark, item_set)
    assert words == f"{tmp_path}: has 2 systems; name one: {tmp_path}#a | #b"
    words = refused_directory(Files(f"{tmp_path}#c", {}), benchmark, item_set)
    assert words == f"{tmp_path}: has no system 'c'; available: a, b"
    (tmp_path / "c").mkdir()
    words = refused_directory(Files(f"{tmp_path}#c", {}), benchmark, item_set)
    assert words.startswith(f"{tmp_path / 'c'}: there is no such file as tiny.en-xx.txt")


def test_a_system_in_a_file_in_a_directory(tmp_path: Path, benchmark: Benchmark, item_set: ItemSet) -> None:
    rows = [f"{item.source}\ta {item.index}\tb {item.index}" for item in item_set.items]
    (tmp_path / "tiny.en-xx.tsv").write_text("\n".join(["source\ta\tb", *rows]))
    assert answers(Files(f"{tmp_path}#b", {}), benchmark, item_set) == expected(item_set.items, "b")


def test_the_folders_of_the_authors_of_winomt(tmp_path: Path, benchmark: Benchmark, item_set: ItemSet) -> None:
    """`SYSTEM/en-es.txt`, and `SYSTEM/adj.en-es.txt` with adjectives; for WinoMT only."""
    folder = tmp_path / "translations" / "google"
    folder.mkdir(parents=True)
    (folder / "en-xx.txt").write_text(numbered(item_set.items, "plain"))
    (folder / "adj.en-xx.txt").write_text(numbered(item_set.items, "adjective"))
    winomt = replace(item_set, selection=Selection("winomt", "en", "xx", "core"))
    for given in (folder, folder.parent, f"{folder.parent}#google"):
        assert answers(Files(str(given), {}), benchmark, winomt) == expected(item_set.items, "plain")
    adjectives = replace(winomt, selection=replace(winomt.selection, variant="adjectives"))
    assert answers(Files(str(folder), {}), benchmark, adjectives) == expected(item_set.items, "adjective")
    assert "no such file as tiny.en-xx.txt (" in refused_directory(Files(str(folder), {}), benchmark, item_set)
    (folder / "en-xx.txt").unlink()
    words = refused_directory(Files(str(folder), {}), benchmark, winomt)
    assert "no such file as winomt.en-xx.txt or en-xx.txt (or" in words
    assert words.endswith("available: adj.en-xx.txt")


def test_a_name_with_a_number_sign(tmp_path: Path, benchmark: Benchmark, item_set: ItemSet) -> None:
    path = tmp_path / "run#2.txt"
    path.write_text(numbered(item_set.items))
    (tmp_path / "run").touch()
    assert answers(Files(str(path), {}), benchmark, item_set) == expected(item_set.items)
    with pytest.raises(BadFile, match=r"absent#a: there is no such file$"):
        Files(f"{tmp_path}/absent#a", {}).prepare(benchmark, item_set, benchmark.requests(item_set))


# -- matched by source, in every format


def formatted(path: Path, rows: Sequence[tuple[str, str]]) -> Path:
    """The same rows in the format that the ending asks for."""
    quoted = [[json.dumps(cell, ensure_ascii=False) for cell in row] for row in rows]
    content = {
        ".txt": lambda: "".join(f"{source} ||| {text}\n" for source, text in rows),
        ".tsv": lambda: "source\tmt\n" + "".join(f"{source}\t{text}\n" for source, text in rows),
        ".csv": lambda: "source,mt\n" + "".join(f"{_quoted(source)},{_quoted(text)}\n" for source, text in rows),
        ".jsonl": lambda: "".join(f'{{"source": {source}, "mt": {text}}}\n' for source, text in quoted),
        ".json": lambda: json.dumps(
            {"results": {"t": {"sources,none": [s for s, _ in rows], "translations,none": [t for _, t in rows]}}}
        ),
    }[path.suffix]()
    path.write_text(content, encoding="utf-8")
    return path


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


every_format = pytest.mark.parametrize("ending", [".txt", ".tsv", ".csv", ".jsonl", ".json"])


@every_format
def test_rows_in_any_order(tmp_path: Path, ending: str, benchmark: Benchmark, item_set: ItemSet) -> None:
    rows = [(item.source, f"x {item.index}") for item in reversed(item_set.items)]
    path = formatted(tmp_path / f"out{ending}", rows)
    assert open_translations(path).texts(benchmark, item_set) == expected(item_set.items)
    assert answers(Files(str(path), {}), benchmark, item_set) == expected(item_set.items)


@every_format
def test_sources_that_do_not_match(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"out{ending}"
    rows = [("The nurse slept.", "uno"), ("The doctor ran.", "dos"), ("The cook sang.", "tres")]
    line = {".txt": ", line 2", ".tsv": ", line 3", ".csv": ", line 3", ".jsonl": ", line 2", ".json": ""}[ending]
    for given, words in (
        ([rows[0], ("The dog barked.", "x"), *rows[1:]], f"{line}: source 'The dog barked.' is not a sentence"),
        (rows[:2], ": has no translation of sentence 3, 'The cook sang.'"),
        ([*rows, ("The cook sang.", "cuatro")], ": has 2 translations of 'The cook sang.', which occurs once; give"),
    ):
        with pytest.raises(BadFile) as caught:
            texts_of(formatted(path, given), ITEMS)
        assert str(caught.value).startswith(f"{path}{words}")


@every_format
def test_sources_written_a_little_differently(
    tmp_path: Path, ending: str, benchmark: Benchmark, caplog: pytest.LogCaptureFixture
) -> None:
    sources = ["The café's “nurse” slept.", "It’s the doctor.", "The cook sang."]
    item_set = ItemSet(Selection("tiny", "en", "xx", "core"), tuple(items_of(*sources)), "here")
    given = [unicodedata.normalize("NFD", 'The café’s "nurse" slept.'), "It's the doctor.", "The cook sang."]
    path = formatted(tmp_path / f"out{ending}", list(zip(given, "abc", strict=True)))
    caplog.set_level("INFO")
    assert open_translations(path).texts(benchmark, item_set) == ["a", "b", "c"]
    words = "2 of 3 sources differ from this benchmark's in space, quotation marks or Unicode normal form only"
    assert [record.message for record in caplog.records] == [f"{path}: {words}, and were matched"]
    system = Files(str(path), {})
    assert answers(system, benchmark, item_set) == ["a", "b", "c"]
    assert system.notes() == [f"{path}: {words}, and were matched"]


def test_surrounding_space(tmp_path: Path, caplog: pytest.LogCaptureFixture, benchmark: Benchmark) -> None:
    item_set = ItemSet(Selection("tiny", "en", "xx", "core"), tuple(items_of("One. ", "Two.")), "here")
    caplog.set_level("INFO")
    for sources, n in ((("One.", "Two."), 0), (("One. ", " Two.\u00a0"), 1)):
        caplog.clear()
        path = formatted(tmp_path / "out.jsonl", list(zip(sources, "ab", strict=True)))
        assert open_translations(path).texts(benchmark, item_set) == ["a", "b"]
        assert [f"{n} of 2 sources" in record.message for record in caplog.records] == [True] * n


def test_sentences_that_differ_by_their_quotes_only_are_kept_apart(tmp_path: Path) -> None:
    items = items_of("It's on.", "It’s on.")
    path = formatted(tmp_path / "out.tsv", [("It’s on.", "b"), ("It's on.", "a")])
    assert texts_of(path, items) == ["a", "b"]
    path = formatted(tmp_path / "out.tsv", [("It`s on.", "b"), ("It's on.", "a")])
    with pytest.raises(UnmatchedSources, match=r"line 2: source 'It`s on.' is not a sentence"):
        texts_of(path, items)


def with_context(item_set: ItemSet) -> list[Request]:
    """Requests that show a system more than the sentence."""
    return [Request(f"Before {item.index}. {item.source}", "en", "xx") for item in item_set.items]


def test_sources_as_they_were_shown(tmp_path: Path, item_set: ItemSet) -> None:
    benchmark = tiny(2, requests=with_context)
    for shown in ("{1}", "Before {0}. {1}"):
        rows = [(shown.format(item.index, item.source), f"x {item.index}") for item in reversed(item_set.items)]
        path = formatted(tmp_path / "out.tsv", rows)
        assert open_translations(path).texts(benchmark, item_set) == expected(item_set.items)
    rows[3] = ("Before", "x")
    with pytest.raises(UnmatchedSources, match=r"line 5: source 'Before' is not a sentence"):
        open_translations(formatted(tmp_path / "out.tsv", rows)).texts(benchmark, item_set)


@dataclass(frozen=True)
class Revisions(BENCHMARK.settings):  # type: ignore[misc]
    revision: str = option("latest", "2019")


def load_revised(selection: Selection) -> ItemSet:
    item_set = load(selection, n_occupations=2)
    items = [replace(item, source=f"{selection.revision}: {item.source}") for item in item_set.items]
    return replace(item_set, items=tuple(items))


REVISED = tiny(load=load_revised, settings=Revisions)
"""Has other sentences in its earlier revision."""


def test_translations_of_another_revision(tmp_path: Path) -> None:
    benchmark, selection = REVISED, Revisions("tiny", "en", "xx", revision="2019", cluster="occupation")
    path = tmp_path / "out.txt"
    path.write_text(numbered(benchmark.load(selection).items))
    system = Files(str(path), {})
    with pytest.raises(BadFile, match=r"out\.txt: has translations of tiny revision 2019; add --revision 2019$"):
        prepare(system, benchmark, benchmark.load(replace(selection, revision="latest")))
    prepare(system, benchmark, benchmark.load(selection))
    path.write_text("a ||| b\n")
    with pytest.raises(UnmatchedSources, match=r"source 'a' is not a sentence"):
        prepare(Files(str(path), {}), benchmark, benchmark.load(selection))


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no pipes with names here")
def test_a_pipe_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textfiles, "PIPE_SECONDS", 0.05)
    benchmark, selection = REVISED, Revisions("tiny", "en", "xx", revision="2019", cluster="occupation")
    end, pipe = os.pipe()
    os.write(pipe, numbered(benchmark.load(selection).items).encode())
    os.close(pipe)
    system = Files(f"/dev/fd/{end}", {})
    with pytest.raises(BadFile, match=rf"^/dev/fd/{end}: has translations of tiny revision 2019; add --revision 2019$"):
        prepare(system, benchmark, benchmark.load(replace(selection, revision="latest")))
    for _ in range(2):
        assert answers(system, benchmark, benchmark.load(selection)) == expected(benchmark.load(selection).items)
    os.close(end)


# -- MT-Lens with several tasks


def mt_lens(path: Path, tasks: dict[str, Sequence[tuple[str, str]]]) -> Path:
    results = {
        name: {"sources,none": [s for s, _ in rows], "translations,none": [t for _, t in rows]}
        for name, rows in tasks.items()
    }
    path.write_text(json.dumps({"results": results}))
    return path


def test_the_task_that_has_the_sentences(
    tmp_path: Path, benchmark: Benchmark, item_set: ItemSet, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [(item.source, f"x {item.index}") for item in item_set.items]
    path = mt_lens(tmp_path / "results.json", {"flores": [("Hello.", "Hola.")], "ours": rows})
    caplog.set_level("INFO")
    assert open_translations(path).texts(benchmark, item_set) == expected(item_set.items)
    words = f"{path}: task 'ours' of flores, ours has these sentences and is used"
    assert [record.message for record in caplog.records] == [words]
    mt_lens(path, {"flores": [("Hello.", "Hola.")], "short": rows[1:]})
    with pytest.raises(
        UnmatchedSources, match=r"none of its tasks has just the sentences .* available: flores, short$"
    ):
        open_translations(path).texts(benchmark, item_set)


def test_tasks_of_several_languages(tmp_path: Path, benchmark: Benchmark, item_set: ItemSet) -> None:
    tasks = {
        f"en_{code}_tiny": [(item.source, f"{code} {item.index}") for item in item_set.items] for code in ("xx", "yy")
    }
    path = mt_lens(tmp_path / "results.json", tasks)
    assert open_translations(path).texts(benchmark, item_set) == expected(item_set.items, "xx")
    assert open_translations(f"{path}#en_yy_tiny").texts(benchmark, item_set) == expected(item_set.items, "yy")
    mt_lens(path, {"a": tasks["en_xx_tiny"], "b": tasks["en_yy_tiny"]})
    with pytest.raises(BadFile) as caught:
        open_translations(path).texts(benchmark, item_set)
    assert str(caught.value) == f"{path}: has 2 tasks with these sentences; name one: {path}#a | #b"
    assert answers(Files(f"{path}#b", {}), benchmark, item_set) == expected(item_set.items, "yy")


# -- samples


def three_samples(item_set: ItemSet) -> list[Request]:
    return [Request(item.source, "en", "xx", Task.SAMPLE, n_samples=3) for item in item_set.items]


def sample_file(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_samples_of_each_item(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "samples.jsonl"
    by_source = [{"source": item.source, "samples": [f"a{item.index}", "b"], "logprobs": [-1, -2]} for item in ITEMS]
    wanted = [Samples((f"a{n}", "b"), (-1.0, -2.0)) for n in range(3)]
    assert read_samples(sample_file(path, by_source[::-1]), ITEMS) == wanted
    # Ids that are mere line numbers, as `gendermark translate` writes them, do not matter beside sources.
    assert read_samples(sample_file(path, [{"id": "9", **row} for row in by_source]), ITEMS) == wanted
    by_id = [{"id": item.item_id, "samples": [f"a{item.index}", "b"], "logprobs": [-1, -2]} for item in ITEMS]
    assert read_samples(sample_file(path, by_id[::-1]), ITEMS) == wanted
    assert caplog.records == []


def test_unequal_numbers_of_samples(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = [{"id": item.item_id, "samples": ["a"] * (5 - item.index)} for item in ITEMS]
    path = sample_file(tmp_path / "samples.jsonl", rows)
    assert [len(samples.texts) for samples in read_samples(path, ITEMS)] == [5, 4, 3]
    words = "2 of 3 sentences have fewer samples (3 at least) than the others (5); less is known about them"
    assert [(record.levelname, record.message) for record in caplog.records] == [("WARNING", f"{path}: {words}")]


def test_samples_that_do_not_match(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    rows = [{"id": item.item_id, "samples": ["a"]} for item in ITEMS]
    sources = [{"source": item.source, "samples": ["a"]} for item in ITEMS]
    for given, words in (
        (rows[:2], ": has no samples of item 'item-2', 'The cook sang.'; " + NO_SAMPLE),
        ([*rows, {"id": "item-9", "samples": ["a"]}], ", line 4: id 'item-9' is not an item of this benchmark"),
        ([*rows, rows[0]], ", line 4: has id 'item-0' a second time; give all samples of an item on one line"),
        (sources[:2], ": has no samples of sentence 3, 'The cook sang.'; " + NO_SAMPLE),
        ([*sources, {"source": "x", "samples": ["a"]}], ", line 4: source 'x' is not a sentence of this benchmark"),
    ):
        with pytest.raises(BadFile) as caught:
            read_samples(sample_file(path, given), ITEMS)
        assert str(caught.value) == f"{path}{words}"


@pytest.mark.parametrize("key", ["source", "id"])
def test_samples_of_other_items_are_passed_over(tmp_path: Path, key: str) -> None:
    keys = [item.source if key == "source" else item.item_id for item in ITEMS]
    rows = [{key: one, "samples": [f"a{number}"]} for number, one in enumerate(keys)]
    path = sample_file(tmp_path / "samples.jsonl", rows)
    assert read_samples(path, ITEMS[1:2], ITEMS) == [Samples(("a1",))]
    with pytest.raises(BadFile, match=r"line 1: .* is not an? (sentence|item) of this benchmark"):
        read_samples(path, ITEMS[1:2], ITEMS[2:])


def test_samples_as_a_system(tmp_path: Path, item_set: ItemSet) -> None:
    benchmark = tiny(2, requests=three_samples)
    rows = [
        {"source": item.source, "samples": ["a", "b", "c", "d"], "logprobs": [-1, -2, -3, -4]}
        for item in item_set.items
    ]
    rows[0] = {"source": item_set.items[0].source, "samples": ["a", "b"]}
    for path in (tmp_path / "samples.jsonl", tmp_path / "tiny.en-xx.jsonl"):
        sample_file(path, rows)
    for given in (tmp_path / "samples.jsonl", tmp_path):
        system = Files(str(given), {})
        requests = benchmark.requests(item_set)
        check_tasks(system, requests)
        system.prepare(benchmark, item_set, requests)
        (found,) = system.answer(requests)
        assert [(answer.request_id, answer.sample) for answer in found] == [
            (request.request_id, sample) for request in requests for sample in range(3)
        ]
        assert [answer.text for answer in found[:6]] == ["a", "b", None, "a", "b", "c"]
        assert found[2].error == "the file has only 2 samples of this sentence"
        assert [answer.log_probability for answer in found[:6]] == [None, None, None, -1, -2, -3]
        assert any("fewer samples (2 at least) than the others (4)" in note for note in system.notes())


def test_what_a_file_can_do_depends_on_what_it_has(tmp_path: Path, path: Path) -> None:
    only = sample_file(tmp_path / "samples.jsonl", [{"source": "One.", "samples": ["a"]}])
    both = sample_file(tmp_path / "both.jsonl", [{"source": "One.", "samples": ["a"], "mt": "a"}])
    broken = tmp_path / "broken.jsonl"
    broken.write_text("{")
    assert Files(str(only), {}).tasks == {Task.SAMPLE}
    assert Files(str(both), {}).tasks == {Task.SAMPLE, Task.TRANSLATE}
    assert Files(str(tmp_path), {}).tasks == {Task.SAMPLE, Task.TRANSLATE}
    for given in (broken, path, tmp_path / "absent.jsonl"):
        assert Files(str(given), {}).tasks == {Task.TRANSLATE}
    with pytest.raises(UserError, match=r"cannot translate, which this needs; it can sample;"):
        check_tasks(Files(str(only), {}), [Request("One.", "en", "xx")])
