"""Files of translations and samples as people really write them down: what is read, and what is refused."""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gendermark import registry
from gendermark.benchmarks.benchmark import ItemSet
from gendermark.errors import BadFile, UnmatchedSources, UserError
from gendermark.io import textfiles
from gendermark.io.tables import Samples
from gendermark.io.translations import TranslationFile, open_translations, read_samples
from gendermark.records import Item, Request, Task
from gendermark.runs.translate import check_tasks
from gendermark.selection import Selection, option
from gendermark.systems.files import Files
from runs.tiny import BENCHMARK, load, tiny


@pytest.fixture(autouse=True)
def _tiny_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.BUILT_IN["benchmark"], "tiny", "runs.tiny:BENCHMARK")


def items_of(sources: str) -> list[Item]:
    return [Item(f"item-{n}", n, "group", source) for n, source in enumerate(sources.split("/"))]


def set_of(sources: str) -> ItemSet:
    return ItemSet(Selection("tiny", "en", "xx", "core"), items_of(sources), "here")


def write(path: Path, content: str | bytes | object) -> Path:
    if not isinstance(content, str | bytes):
        content = json.dumps(content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(path: Path | str, sources: str) -> list[str | None]:
    texts, _ = open_translations(path).texts(BENCHMARK, set_of(sources))
    return list(texts)


def lines(*rows: object) -> str:
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)


def task(*pairs: tuple[Any, Any]) -> dict[str, Any]:
    """Results of MT-Lens."""
    texts = {"sources,none": [source for source, _ in pairs], "translations,none": [text for _, text in pairs]}
    return {"alias": "x", "bleu,none": 31.2, "targets,none": ["r"], **texts}


# -- what is read ------------------------------------------------------------------------------------------------------

ONE, TWO = {"source": "One.", "mt": "uno"}, {"source": "Two.", "mt": "dos"}
LONG = "system\tsource\tmt\na\tOne.\tuno\nb\tOne.\tuna\n"
LENS = {"results": {"flores": task(("Hello.", "Hola.")), "en_xx": task(("Two.", "dos"), ("One.", "uno"))}, "n": [[{}]]}
BOTH = {"en_xx_a": task(("One.", "uno")), "en_yy_a": task(("One.", "un"))}
READ: dict[str, tuple[str, Any, str, list[str]]] = {
    # one translation per line
    "lines": ("a.txt", "uno\ndos\n", "One./Two.", ["uno", "dos"]),
    "no last end of line": ("a.txt", "uno\ndos", "One./Two.", ["uno", "dos"]),
    "CRLF": ("a.txt", "uno\r\ndos\r\n", "One./Two.", ["uno", "dos"]),
    "byte order mark": ("a.txt", b"\xef\xbb\xbfuno\r\ndos", "One./Two.", ["uno", "dos"]),
    "empty lines": ("a.txt", "\n\ntres\n\n", "One./Two./Three./Four.", ["", "", "tres", ""]),
    "lines as they are": ("a.txt", " uno\u2028|||\ndos||| \n|||\n", "A./B./C.", [" uno\u2028|||", "dos||| ", "|||"]),
    # source ||| translation
    "pairs": ("a.txt", "\ufeffTwo. ||| dos\r\nOne. |||   uno  ", "One./Two.", ["uno", "dos"]),
    "pairs without translation": ("a.txt", "Two. |||\nOne. ||| \nThree. ||| x", "One./Two./Three.", ["", "", "x"]),
    "one for all times": ("a.txt", "A. ||| uno\nB. ||| b\n", "A./B./A./A.", ["uno", "b", "uno", "uno"]),
    "one for each time": ("a.txt", "A. ||| 1\nA. ||| 2\nB. ||| b\nA. ||| 3\n", "A./B./A./A.", ["1", "b", "2", "3"]),
    # names of columns
    **{
        f"column {source} and {text}": (
            "a.tsv", f"n\t{text}\t{source}\n1\tuno\tOne.\n\n2\t\tTwo.\n", "One./Two.", ["uno", ""]
        )
        for source, text in [
            *((name, "translation") for name in ("source", "src", "sentence", "Source", " SRC ")),
            *(("source", name) for name in ("hypothesis", "mt", "output", "target", "MT")),
            ("from", "to"),
        ]
    },
    "a target beside is a reference": ("a.tsv", "source\ttarget\thypothesis\nOne.\tun\tuno\n", "One.", ["uno"]),
    "from and to are languages": ("a.tsv", "from\tto\tsrc\tmt\nen\tes\tOne.\tuno\n", "One.", ["uno"]),
    # tables
    "TSV knows no quotes": ("a.TSV", '\ufeffsource\tmt\r\n"One.\t"uno, dos"\r\n', '"One.', ['"uno, dos"']),
    "CSV is quoted": (
        "a.csv",
        'source,mt\r\n"One, ""two"".","uno\r\ny\n"\r\n\r\nThree.,\r\n',
        'One, "two"./Three.',
        ["uno\r\ny\n", ""],
    ),
    "semicolons": ("a.csv", "source;mt\nOne, two.;uno, dos\n", "One, two.", ["uno, dos"]),
    "JSON lines": (
        "a.jsonl",
        '{"mt": "uno", "source": "One.", "p": -1.5}\n\n{"mt": null, "source": "Two."}',
        "One./Two.",
        ["uno", ""],
    ),
    # one system of several
    "rows of a system": ("a.tsv#b", LONG, "One.", ["una"]),
    "the only system": ("a.tsv", LONG.replace("\nb\tOne.", "\na\tTwo."), "One./Two.", ["uno", "una"]),
    "column of a system": ("a.jsonl#bing", '{"source": "One.", "google": "uno", "bing": "una"}', "One.", ["una"]),
    # MT-Lens
    "one task on top": ("a.json", task(("One.", "uno")), "One.", ["uno"]),
    "the task that has the sentences": ("a.json", LENS, "One./Two.", ["uno", "dos"]),
    "a named task": ("a.json#en_xx", LENS, "One./Two.", ["uno", "dos"]),
    "tasks without names": ("a.json#2", [task(("One.", "x")), task(("One.", "uno"))], "One.", ["uno"]),
    "the task of this language": ("a.json", BOTH, "One.", ["uno"]),
    "the task of another language": ("a.json#en_yy_a", BOTH, "One.", ["un"]),
    # sources written a little differently
    "quotes and normal form": (
        "a.tsv",
        f"source\tmt\n{unicodedata.normalize('NFD', 'The café’s')} \"nurse\".\ta\nIt's me.\tb\n",
        "The café's “nurse”./It’s me.",
        ["a", "b"],
    ),
    "space around": ("a.jsonl", lines({"source": " Two.\u00a0", "mt": "b"}, ONE), "One. /Two.", ["uno", "b"]),
    "sentences that differ by quotes only": ("a.tsv", "source\tmt\nIt’s.\tb\nIt's.\ta\n", "It's./It’s.", ["a", "b"]),
}  # fmt: skip


@pytest.mark.parametrize("case", READ)
def test_read(tmp_path: Path, case: str) -> None:
    name, content, sources, expected = READ[case]
    write(tmp_path / name.partition("#")[0], content)
    assert read(tmp_path / name, sources) == expected
    system_of_files = Files(str(tmp_path / name), {})
    assert answers(system_of_files, tiny(2), set_of(sources)) == expected


def test_notes_say_what_was_matched(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "It’s me. ||| a\nB. ||| b\n")
    _, notes = open_translations(path).texts(BENCHMARK, set_of("B./It's me."))
    assert [note.partition(" sources")[0] for note in notes] == ["1 of 2"]
    write(tmp_path / "a.json", LENS)
    _, notes = open_translations(tmp_path / "a.json").texts(BENCHMARK, set_of("Two./One."))
    assert ["'en_xx' of flores, en_xx" in note for note in notes] == [True]


def test_columns_named_by_the_user(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "source\tEnglish\tSpanish\tmt\nx\tOne.\tuno\ty\n")
    system = Files(str(path), {"source_column": "English", "translation_column": "Spanish"})
    assert answers(system, tiny(2), set_of("One.")) == ["uno"]
    assert read(f"{path}#Spanish", "x") == ["uno"]


def test_sources_as_they_were_shown(tmp_path: Path) -> None:
    """A file may have the sentence with its context, as `export` gives it, or alone."""

    def with_context(item_set: ItemSet) -> list[Request]:
        return [Request(f"Before {item.index}. {item.source}", "en", "xx") for item in item_set.items]

    benchmark, path = tiny(2, requests=with_context), tmp_path / "a.txt"
    for shown in ("A. ||| a\nB. ||| b\n", "Before 1. B. ||| b\nBefore 0. A. ||| a\n"):
        texts, _ = open_translations(write(path, shown)).texts(benchmark, set_of("A./B."))
        assert texts == ["a", "b"]
    with pytest.raises(UnmatchedSources, match=r"line 2: .*'Before'"):
        open_translations(write(path, "B. ||| b\nBefore ||| a\n")).texts(benchmark, set_of("A./B."))


# -- what is refused (text files: in tests/cli/test_malformed.py) ------------------------------------------------------

GOOD = json.dumps(ONE) + "\n"
REFUSED: dict[str, tuple[str, Any, Sequence[str]]] = {
    # columns
    "no translation": ("a.tsv", "source\tSpanish\nOne.\tuno\n", ["hypothesis", "source, Spanish", "a.tsv#NAME"]),
    "no source": ("a.tsv", "English\tmt\nOne.\tuno\n", ["sentence", "English, mt", "source_column=NAME"]),
    "no translation beside a system": (
        "a.tsv", "system\tsource\tSpanish\na\tOne.\tuno\n", ["translation_column=NAME"]
    ),
    "many columns": ("a.tsv", "\t".join(f"c{n}" for n in range(12)) + "\n" + "x\t" * 11 + "x", ["c7 and 4 more"]),
    "two translations": ("a.tsv", "source\tmt\toutput\nOne.\tuno\tuna\n", ["'mt' and 'output'", "a.tsv#NAME"]),
    "two sources": ("a.tsv", "src\tsource\tmt\nOne.\ta\tuna\n", ["'src' and 'source'", "source_column=NAME"]),
    "two columns of one name": ("a.tsv", "source\tmt\tmt\nOne.\ta\tb\n", ["line 1:", "two columns 'mt'"]),
    # tables
    **{
        f"{what} .{ending}": (f"a.{ending}", content, ["no sentences", "source"])
        for ending in ("tsv", "csv")
        for what, content in (("empty", ""), ("blank", "\n\n"), ("header only", "source\n"))
    },
    "UTF-16": ("a.csv", "source,mt\nOne\n".encode("utf-16"), ["UTF-16", "UTF-8"]),
    "a cell too many": ("a.tsv", "source\tmt\nOne.\tuno\nTwo.\tdos\ttres\n", ["line 3:", "3 cells", "2", "tab"]),
    "a cell too few": ("a.tsv", "source\tmt\nOne.\n", ["line 2:", "1 cells"]),
    "a comma without quotes": ("a.csv", 'source,mt\n"One\n.",uno\nTwo, too.,dos\n', ["line 4:", "3 cells", "quote"]),
    "an open quote": ("a.csv", 'source,mt\nZero.,cero\n"One.,uno\nTwo.,dos\n', ["line 3:", "not CSV", "close every"]),
    "text behind a quote": ("a.csv", 'source,mt\nZero.,cero\n"One." x,uno\n', ["line 3:", "not CSV"]),
    # JSON lines
    "empty JSON lines": ("a.jsonl", "\n \n", ["no sentences", "source"]),
    "half an object": ("a.jsonl", GOOD + '{"source": "Two.", "mt"\n', ["line 2:", "not JSON"]),
    "a list": ("a.jsonl", GOOD + "[1]\n", ["line 2:", "not a JSON object"]),
    "an object without translation": ("a.jsonl", GOOD + '{"source": "Two."}\n', ["line 2:", "'mt'"]),
    "an object without source": ("a.jsonl", GOOD + '{"mt": "dos"}\n', ["line 2:", "'source'"]),
    "a translation that is a list": ("a.jsonl", GOOD + '{"source": "Two.", "mt": ["dos"]}\n', ["line 2:", '["dos"]']),
    "a source that is null": ("a.jsonl", GOOD + '{"source": null, "mt": "dos"}\n', ["line 2:", "null"]),
    "samples for translations": ("a.jsonl", '{"id": "1", "samples": ["uno"]}\n', ["column for the source"]),
    # systems
    "several systems": ("a.tsv", LONG, ["2 systems", "a.tsv#a | #b"]),
    "an absent system": ("a.tsv#c", LONG, ["'c'", "a, b"]),
    "an absent column": ("a.tsv#c", "source\tgoogle\nOne.\tuno\n", ["'c'", "source, google"]),
    "a system of a text file": ("a.txt#c", "uno\n", ["#c", ".tsv"]),
    "a file that is not there": ("absent/a.txt#c", None, ["absent/a.txt#c: no such file"]),
    # MT-Lens
    "no JSON": ("a.json", '{"results": ', ["not JSON"]),
    "no results": ("a.json", {"results": {"t": {"sources,none": ["One."]}}}, ["'sources,none'", "MT-Lens", ".jsonl"]),
    "no lists": ("a.json", {"t": {"sources,none": "One.", "translations,none": []}}, ["task 't'", "lists"]),
    "empty lists": ("a.json", {"t": task()}, ["task 't'", "no sources"]),
    "lists of two lengths": ("a.json", {"t": {**task(("a", "b")), "translations,none": []}}, ["1 sources, but 0"]),
    "a null": ("a.json", task(("a", "b"), ("c", None)), ["entry 2 of 'translations,none' is null"]),
    "a number": ("a.json", {"t": task((7, "b"))}, ["task 't'", "entry 1 of 'sources,none' is 7"]),
    "an absent task": ("a.json#b", {"t": task(("a", "b"))}, ["'b'", "available: t"]),
    "no task with all sentences": ("a.json", {"t": task(("One.", "a")), "u": task(("x", "y"))}, ["available: t, u"]),
    "two tasks with them": (
        "a.json", dict.fromkeys("tu", task(("One.", "a"), ("Two.", "b"))), ["2 tasks", "a.json#t | #u"]
    ),
    "quotes that may be either's": ("quotes.tsv", "source\tmt\nIt`s.\tb\nIt's.\ta\n", ["line 2:", "'It`s.'"]),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(tmp_path: Path, case: str) -> None:
    name, content, words = REFUSED[case]
    if content is not None:
        write(tmp_path / name.partition("#")[0], content)
    with pytest.raises(BadFile) as caught:
        read(tmp_path / name, "It's./It’s." if name == "quotes.tsv" else "One./Two.")
    assert str(caught.value).startswith(str(tmp_path))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("options", [{"mode": "batch"}, {"translation_column": "spanish"}])
def test_options_that_cannot_be(tmp_path: Path, options: dict[str, str]) -> None:
    path = write(tmp_path / "a.tsv", "source\tSpanish\nOne.\tuno\n")
    with pytest.raises(UserError, match=next(iter(options)) if "mode" in options else "available: source, Spanish"):
        answers(Files(str(path), options), tiny(2), set_of("One."))


@dataclass(frozen=True)
class Revisions(BENCHMARK.settings):  # type: ignore[misc]
    revision: str = option("latest", "2019")


def load_revised(selection: Selection) -> ItemSet:
    item_set = load(selection, n_occupations=2)
    return replace(item_set, items=[replace(x, source=f"{selection.revision}: {x.source}") for x in item_set.items])


@pytest.mark.parametrize("is_pipe", [False, True])
def test_translations_of_another_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_pipe: bool) -> None:
    """Also from a pipe, which can be read only once."""
    monkeypatch.setattr(textfiles, "PIPE_SECONDS", 0.05)
    benchmark = tiny(load=load_revised, settings=Revisions)
    selection = Revisions("tiny", "en", "xx", revision="2019", cluster="occupation")
    old, new = benchmark.load(selection), benchmark.load(replace(selection, revision="latest"))
    content = numbered(old.items)
    if is_pipe:
        if not Path("/dev/fd").exists():
            pytest.skip("no pipes with names here")
        end, pipe = os.pipe()
        os.write(pipe, content.encode())
        os.close(pipe)
        system = Files(f"/dev/fd/{end}", {})
    else:
        system = Files(str(write(tmp_path / "a.txt", content)), {})
    with pytest.raises(BadFile, match=r"revision 2019; add --revision 2019$"):
        answers(system, benchmark, new)
    for _ in range(2):
        assert answers(system, benchmark, old) == expected(old.items)
    with pytest.raises(UnmatchedSources, match="source 'a'"):
        answers(Files(str(write(tmp_path / "b.txt", "a ||| b\n")), {}), benchmark, old)


# -- directories -------------------------------------------------------------------------------------------------------


def answers(system: Files, benchmark: Any, item_set: ItemSet) -> list[str | None]:
    requests = benchmark.requests(item_set)
    system.prepare(benchmark, item_set, requests)
    found = [answer for portion in system.answer(requests) for answer in portion]
    assert [answer.request_id for answer in found] == [request.request_id for request in requests]
    return [answer.text for answer in found]


def numbered(items: Sequence[Item], word: str = "x") -> str:
    return "".join(f"{item.source} ||| {word} {item.index}\n" for item in reversed(items))


def expected(items: Sequence[Item], word: str = "x") -> list[str | None]:
    return [f"{word} {item.index}" for item in items]


def test_a_directory_has_a_file_for_each_direction(tmp_path: Path) -> None:
    item_set, system = set_of("One./Two."), Files(str(tmp_path), {})

    def refused(*words: str) -> None:
        with pytest.raises(BadFile) as caught:
            answers(system, BENCHMARK, item_set)
        assert all(word in str(caught.value) for word in (str(tmp_path), *words))

    refused("tiny.en-xx.txt", ".xlsx", "available: nothing")
    (tmp_path / "tiny.en-yy.txt").touch()
    (tmp_path / "more").mkdir()
    refused("tiny.en-xx.txt", "available: more/, tiny.en-yy.txt")
    write(tmp_path / "tiny.en-xx.txt", numbered(item_set.items))
    assert answers(system, BENCHMARK, item_set) == expected(item_set.items)
    (tmp_path / "tiny.en-xx.csv").touch()
    refused("tiny.en-xx.txt and tiny.en-xx.csv", "keep one")


def test_a_directory_of_systems(tmp_path: Path) -> None:
    item_set = set_of("One./Two.")
    items = item_set.items

    def given(argument: Path | str) -> list[str | None]:
        return answers(Files(str(argument), {}), BENCHMARK, item_set)

    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    write(tmp_path / "a" / "tiny.en-xx.txt", numbered(items, "a"))
    assert given(tmp_path) == expected(items, "a"), "the only one that fits needs no name"
    write(tmp_path / "b" / "tiny.en-xx.txt", numbered(items, "b"))
    assert given(f"{tmp_path}#b") == expected(items, "b")
    assert given(tmp_path / "a") == expected(items, "a")
    (tmp_path / "c").mkdir()
    for argument, words in (("", "2 systems; .*#a | #b"), ("#d", "'d'; available: a, b"), ("#c", "c: .*tiny.en-xx")):
        with pytest.raises(BadFile, match=words):
            given(f"{tmp_path}{argument}")
    rows = [f"{item.source}\ta {item.index}\tz {item.index}" for item in items]
    write(tmp_path / "tiny.en-xx.tsv", "\n".join(["source\ta\tz", *rows]))
    assert given(f"{tmp_path}#z") == expected(items, "z"), "a system in a file in a directory"


def test_the_folders_of_the_authors_of_winomt(tmp_path: Path) -> None:
    """`SYSTEM/en-es.txt`, and `SYSTEM/adj.en-es.txt` with adjectives; for WinoMT only."""
    folder, item_set = tmp_path / "translations" / "google", set_of("One./Two.")
    folder.mkdir(parents=True)
    write(folder / "en-xx.txt", numbered(item_set.items, "plain"))
    write(folder / "adj.en-xx.txt", numbered(item_set.items, "adjective"))
    winomt = replace(item_set, selection=Selection("winomt", "en", "xx", "core"))
    for given in (folder, folder.parent, f"{folder.parent}#google"):
        assert answers(Files(str(given), {}), BENCHMARK, winomt) == expected(item_set.items, "plain")
    adjectives = replace(winomt, selection=replace(winomt.selection, variant="adjectives"))
    assert answers(Files(str(folder), {}), BENCHMARK, adjectives) == expected(item_set.items, "adjective")
    with pytest.raises(BadFile, match=r"tiny\.en-xx\.txt \("):
        answers(Files(str(folder), {}), BENCHMARK, item_set)


def test_a_name_with_a_number_sign(tmp_path: Path) -> None:
    item_set = set_of("One./Two.")
    path = write(tmp_path / "run#2.txt", numbered(item_set.items))
    (tmp_path / "run").touch()
    assert answers(Files(str(path), {}), BENCHMARK, item_set) == expected(item_set.items)


# -- samples -----------------------------------------------------------------------------------------------------------


def samples_in(path: Path, content: str, sources: str = "One./Two.") -> tuple[list[Samples], list[str]]:
    found, notes = read_samples(write(path, content), BENCHMARK, set_of(sources))
    return list(found), notes


def test_samples_of_each_item(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    first = {"source": "One.", "samples": ["uno", "una"], "logprobs": [-1, 1e-7]}
    second = {"source": "Two.", "samples": ["dos", "dos"]}
    wanted = [Samples(("uno", "una"), (-1.0, 0.0)), Samples(("dos", "dos"))]
    assert samples_in(path, lines(second, first)) == (wanted, [])
    # Ids that are mere line numbers, as `gendermark translate` writes them, do not matter beside sources.
    assert samples_in(path, lines({"id": "9", **first}, {"id": "8", **second})) == (wanted, [])
    by_id = lines(*({"id": f"item-{n}", **row, "source": None} for n, row in enumerate((first, second))))
    assert samples_in(path, by_id.replace('"source": null, ', "")) == (wanted, [])
    by_system = lines({"system": "a", **first}, {"system": "b", **first}, {"system": "b", **second})
    found, _ = read_samples(write(path, by_system), BENCHMARK, set_of("One./Two."), "b")
    assert found == wanted


def test_unequal_numbers_of_samples(tmp_path: Path) -> None:
    rows = [{"id": f"item-{n}", "samples": ["a"] * (5 - n)} for n in range(3)]
    found, (note,) = samples_in(tmp_path / "a.jsonl", lines(*rows), "A./B./C.")
    assert [len(samples.texts) for samples in found] == [5, 4, 3]
    assert "2 of 3" in note
    assert "(3 at least)" in note


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["no sentences", "samples"]),
        ('{"samples": ["uno"]}', ["line 1:", "'source' nor 'id'"]),
        ('{"source": "One."}', ["line 1:", "'samples'"]),
        ('{"source": "One.", "samples": "uno"}', ["line 1:", "'samples'"]),
        ('{"source": "One.", "samples": []}', ["line 1:", "empty", '[""]']),
        ('{"source": "One.", "samples": ["uno", null]}', ["line 1:", "sample 2 is null"]),
        ('{"source": "One.", "samples": ["uno", ["dos"]]}', ["line 1:", 'sample 2 is ["dos"]']),
        ('{"source": "One.", "samples": ["uno"]', ["line 1:", "not JSON"]),
        ('{"source": "One.", "samples": ["a"], "logprobs": []}', ["line 1:", "1 numbers under 'logprobs'"]),
        ('{"source": "One.", "samples": ["a"], "logprobs": 1}', ["line 1:", "1 numbers under 'logprobs'"]),
        ('{"source": "One.", "samples": ["a"], "logprobs": ["1"]}', ["line 1:", "log-probability 1 is '1'"]),
        ('{"source": "One.", "samples": ["a"], "logprobs": [true]}', ["line 1:", "log-probability 1 is true"]),
        ('{"source": "One.", "samples": ["a"], "logprobs": [1e999]}', ["line 1:", "log-probability 1 is Infinity"]),
        ('{"source": "One.", "samples": ["a"], "logprobs": [NaN]}', ["line 1:", "NaN"]),
        ('{"source": "One.", "samples": ["a"], "logprobs": [0.5]}', ["line 1:", "0.5", "at most 0"]),
        ('{"id": 3, "samples": ["a"]}', ["line 1:", "3 under 'id'"]),
        ('{"id": "item-0", "samples": ["a"]}\n{"samples": ["a"]}', ["line 2:", "'id'"]),
        ('{"id": "item-0", "samples": ["a"]}\n', ["no samples of sentence 2, 'item-1'", '[""]']),
        ('{"id": "item-9", "samples": ["a"]}\n', ["line 1:", "id 'item-9'"]),
        ('{"id": "item-0", "samples": ["a"]}\n' * 2 + '{"id": "item-1", "samples": ["a"]}', ["has 2", "'item-0'"]),
        ('{"source": "One.", "samples": ["a"]}\n', ["no samples of sentence 2, 'Two.'"]),
        ('{"source": "x", "samples": ["a"]}\n', ["line 1:", "source 'x'"]),
        (lines(*({"system": s, "source": "One.", "samples": ["a"]} for s in "ab")), ["2 systems"]),
    ],
)
def test_broken_samples(tmp_path: Path, content: str, words: Sequence[str]) -> None:
    with pytest.raises(BadFile) as caught:
        samples_in(tmp_path / "a.jsonl", content)
    for word in (str(tmp_path), *words):
        assert word in str(caught.value)


@pytest.mark.parametrize("key", ["source", "item_id"])
def test_samples_of_other_parts_are_passed_over(tmp_path: Path, key: str) -> None:
    def load_part(selection: Selection) -> ItemSet:
        items = items_of("One./Two./Three.")
        return ItemSet(selection, items[1:2] if selection.parts else items, "here")

    benchmark = tiny(load=load_part)
    part = benchmark.load(Selection("tiny", "en", "xx", "core", parts=("b",)))
    name = key.removeprefix("item_")
    rows = [{name: getattr(item, key), "samples": [f"a{item.index}"]} for item in items_of("One./Two./Three.")]
    found, _ = read_samples(write(tmp_path / "a.jsonl", lines(*rows)), benchmark, part)
    assert found == [Samples(("a1",))]
    write(tmp_path / "a.jsonl", lines(*rows, {name: "Four.", "samples": ["x"]}))
    with pytest.raises(BadFile, match="line 4:"):
        read_samples(tmp_path / "a.jsonl", benchmark, part)


def test_samples_as_a_system(tmp_path: Path) -> None:
    def three_samples(item_set: ItemSet) -> list[Request]:
        return [Request(item.source, "en", "xx", Task.SAMPLE, n_samples=3) for item in item_set.items]

    benchmark, item_set = tiny(2, requests=three_samples), set_of("One./Two.")
    requests = benchmark.requests(item_set)
    full = {"source": "Two.", "samples": ["a", "b", "c", "d"], "logprobs": [-1, -2, -3, -4]}
    content = lines({"source": "One.", "samples": ["a", "b"]}, full)
    for given in (write(tmp_path / "a.jsonl", content), write(tmp_path / "tiny.en-xx.jsonl", content).parent):
        system = Files(str(given), {})
        check_tasks(system, requests)
        system.prepare(benchmark, item_set, requests)
        (found,) = system.answer(requests)
        assert [(answer.request_id, answer.sample) for answer in found] == [
            (request.request_id, sample) for request in requests for sample in range(3)
        ]
        assert [answer.text for answer in found] == ["a", "b", None, "a", "b", "c"]
        assert "only 2 samples" in (found[2].error or "")
        assert [answer.log_probability for answer in found] == [None, None, None, -1, -2, -3]
        assert any("(2 at least)" in note for note in system.notes())


def test_missing_rows_may_be_allowed(tmp_path: Path) -> None:
    file = TranslationFile(write(tmp_path / "a.txt", "Two. ||| dos\n"), allow_missing=True)
    assert file.texts(BENCHMARK, set_of("One./Two."))[0] == [None, "dos"]
