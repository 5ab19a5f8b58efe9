"""Whatever is wrong with what a user gives: exit code 2 and one sentence that says what, where and what would work.

Documented decisions, proved in test_contract.py: a UTF-8 byte order mark and CRLF are accepted silently (files come
from Windows), and an empty line is an empty translation.
"""

# ruff: noqa: ARG005 (all makers of files take the same two arguments)

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gendermark
from gendermark.io import textfiles
from made_runs import signed_again

SIMPLEGEN = ("simplegen", "--data", "core", "--to", "es")
RUN = ("--benchmark", *SIMPLEGEN)
N = 2720
N_SMALL = 140  # of TGBI's Korean set in the small run folders


def _joined(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _with(lines: Sequence[str], number: int, replacement: str | bytes) -> bytes:
    """The file with another line `number` (from 1)."""
    new = replacement.encode() if isinstance(replacement, str) else replacement
    return b"".join(new + b"\n" if i == number else f"{line}\n".encode() for i, line in enumerate(lines, start=1))


def _pairs(sources: Sequence[str], lines: Sequence[str]) -> list[str]:
    return [f"{source} ||| {line}" for source, line in zip(sources, lines, strict=True)]


# -- files of translations -------------------------------------------------------------------------------------------

Make = Callable[[Sequence[str], Sequence[str]], bytes]
# name -> (content from the sources and good translations, words of the sentence)
FILES: dict[str, tuple[Make, tuple[str, ...]]] = {
    "one line too few": (lambda s, t: _joined(t[:-1]), ("2,719 lines", "2,720 sentences", "gendermark export")),
    "one line too many": (lambda s, t: _joined([*t, "más"]), ("2,721 lines", "2,720 sentences")),
    "empty file": (lambda s, t: b"", ("is empty",)),
    "one group of four": (lambda s, t: _joined(t[:680]), ("680 lines", "2,720 sentences")),
    "Latin-1": (lambda s, t: _joined(t).decode().encode("latin-1"), ("line 1:", "0xe9", "UTF-8")),
    "Windows-1252 quotes": (lambda s, t: _with(t, 4, b"\x93hola\x94"), ("line 4:", "0x93", "UTF-8")),
    "UTF-16, little-endian": (lambda s, t: b"\xff\xfe" + "\n".join(t).encode("utf-16-le"), ("UTF-16", "UTF-8")),
    "UTF-32, little-endian": (lambda s, t: b"\xff\xfe\0\0" + "\n".join(t).encode("utf-32-le"), ("UTF-32", "UTF-8")),
    "UTF-16 without its mark": (lambda s, t: "ab\ncd".encode("utf-16-le"), ("line 1:", "NUL")),
    "bad byte in the last line": (lambda s, t: _with(t, N, b"\xfe"), ("line 2720:", "0xfe")),
    "cut inside a letter": (lambda s, t: _joined(t)[:-1] + b"\xc3", ("line 2720:", "0xc3")),
    "encoded surrogate": (lambda s, t: _with(t, 8, b"\xed\xa0\x80"), ("line 8:", "0xed")),
    "NUL byte": (lambda s, t: _with(t, 9, b"a\0b"), ("line 9:", "NUL")),
    "a line of a megabyte": (lambda s, t: _with(t, 10, "x" * 1_000_000), ("line 10:", "1,000,000 characters")),
    "carriage return inside": (lambda s, t: _with(t, 12, "uno\rdos"), ("line 12:", "carriage return", "LF")),
    "doubled carriage returns": (lambda s, t: "\r\r\n".join(t).encode(), ("line 1:", "carriage return", "LF")),
    "compressed": (lambda s, t: gzip.compress(_joined(t), mtime=0), ("binary file",)),
    "pairs, separator missing": (
        lambda s, t: _with(_pairs(s, t), 13, f"{s[12]} {t[12]}"),
        ("line 13:", "no '|||'", "other lines do"),
    ),
    "pairs, two separators": (
        lambda s, t: _with(_pairs(s, t), 15, f"{s[14]} ||| a ||| b"),
        ("line 15:", "more than one"),
    ),
    "pairs, an empty line": (lambda s, t: _with(_pairs(s, t), 16, ""), ("line 16:", "no '|||'")),
    "pairs, unknown source": (
        lambda s, t: _with(_pairs(s, t), 17, "The dog barks. ||| El perro."),
        ("line 17:", "'The dog barks.'", "not a sentence"),
    ),
    "pairs, translation first": (
        lambda s, t: _joined(_pairs(t, s)),
        ("line 1:", "'Qué Editor número 0.'", "not a sentence"),
    ),
    "pairs, missing source": (lambda s, t: _joined(_pairs(s, t)[:-1]), ("no translation of sentence 2720",)),
    "pairs, source twice": (lambda s, t: _joined([*_pairs(s, t), f"{s[0]} ||| otra"]), ("has 2", "once")),
    "one stray separator": (lambda s, t: _with(t, 20, "uno ||| dos"), ("line 1:", "no '|||'", "other lines do")),
}


# Both verbs read with the same code: each has every other file.
@pytest.mark.parametrize(("verb", "case"), list(zip(cycle(["score", "run"]), FILES, strict=False)))
def test_file_of_translations(cli: Any, sources: list[str], spanish: list[str], tmp_path: Path, verb: str, case: str):
    make, words = FILES[case]
    path = tmp_path / "given.txt"
    path.write_bytes(make(sources, spanish))
    _give(cli, verb, path, tmp_path).is_refusal(str(path), *words)


def _give(cli: Any, verb: str, path: Path, tmp_path: Path) -> Any:
    if verb == "score":
        return cli("score", *SIMPLEGEN, "--translations", path)
    return cli("run", "--system", f"files:{path}", *RUN, "-o", tmp_path / "run")


def _missing(path: Path) -> Path:
    return path / "absent.txt"


def _below_a_file(path: Path) -> Path:
    (path / "file").touch()
    return path / "file" / "t.txt"


def _loop(path: Path) -> Path:
    (path / "loop").symlink_to(path / "loop")
    return path / "loop"


def _unreadable(path: Path) -> Path:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (path / "secret.txt").touch(mode=0o000)
    return path / "secret.txt"


def _pipe(path: Path) -> Path:
    os.mkfifo(path / "pipe")
    return path / "pipe"


def _endless(path: Path) -> Path:
    if not Path("/dev/zero").exists():
        pytest.skip("no /dev/zero here")
    return Path("/dev/zero")


PATHS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "missing": (_missing, "no such file"),
    "below a file": (_below_a_file, "Not a directory"),
    "too long a name": (lambda path: path / ("x" * 5000), "too long"),
    "line break in its name": (lambda path: path / "a\nb", "no such file"),
    "link to itself": (_loop, "symbolic link"),
    "unreadable": (_unreadable, "Permission denied"),
    "pipe that nobody writes to": (_pipe, "is a pipe"),
    "device without end": (_endless, "is a device"),
}


@pytest.mark.parametrize("case", PATHS)
@pytest.mark.parametrize("verb", ["score", "run"])
def test_path_of_translations(cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, case: str):
    monkeypatch.setattr(textfiles, "PIPE_SECONDS", 0.05)
    make, word = PATHS[case]
    _give(cli, verb, make(tmp_path), tmp_path).is_refusal(word)


def test_a_directory_for_a_file(cli: Any, tmp_path: Path) -> None:
    cli("score", *SIMPLEGEN, "--translations", tmp_path).is_refusal(str(tmp_path), "is a directory", "give the file")
    (tmp_path / "simplegen.en-de.txt").touch()
    run = cli("run", "--system", f"files:{tmp_path}", *RUN, "-o", tmp_path / "run")
    run.is_refusal(str(tmp_path), "simplegen.en-es.txt")


# -- official data that cannot be had --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mirror", "words"),
    [
        ("{tmp}", ("{tmp}", "No such file", "GENDERMARK_DATA_MIRROR")),
        ("{tmp}/absent", ("no directory", "GENDERMARK_DATA_MIRROR")),
        ("ftp://example.org/data", ("'ftp://example.org/data'", "https://", "directory")),
    ],
)
def test_official_data_out_of_reach(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mirror: str, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", mirror.format(tmp=tmp_path))
    translations = tmp_path / "es.txt"
    translations.write_text("Una frase.\n", encoding="utf-8")
    for arguments in (
        ("score", "simplegen", "--to", "es", "--translations", translations),
        ("run", "--system", "fake:right", "--benchmark", "tgbi", "--to", "en", "-o", tmp_path / "run"),
        ("export", "tgbi", "--to", "en"),
    ):
        cli(*arguments).is_refusal(*(word.format(tmp=tmp_path) for word in words))
    assert not (tmp_path / "run").exists()


# -- run folders -----------------------------------------------------------------------------------------------------

CELL = "tgbi.ko-en"
DEEP = "[" * 100_000 + "]" * 100_000


def _edit(change: Callable[[Any], Any]) -> Callable[[bytes], bytes]:
    """A change of the value in a JSON file; what it returns, if anything, takes the value's place."""

    def edited(content: bytes) -> bytes:
        value = json.loads(content)
        replaced = change(value)
        return json.dumps(value if replaced is None else replaced).encode()

    return edited


def _edit_row(number: int, change: Callable[[Any], Any]) -> Callable[[bytes], bytes]:
    def edited(content: bytes) -> bytes:
        lines = content.splitlines(keepends=True)
        return b"".join([*lines[: number - 1], _edit(change)(lines[number - 1]) + b"\n", *lines[number:]])

    return edited


def _put(*path: str | int, value: Any) -> Callable[[Any], None]:
    def put(found: Any) -> None:
        for key in path[:-1]:
            found = found[key]
        found[path[-1]] = value

    return put


def _drop(*path: str | int) -> Callable[[Any], None]:
    def drop(found: Any) -> None:
        for key in path[:-1]:
            found = found[key]
        del found[path[-1]]

    return drop


MANIFEST, RESULT, JUDGEMENTS = "manifest.json", f"{CELL}/result.json", f"{CELL}/judgements.jsonl"
# (name, file, change of its bytes or None to remove it, words of the sentence)
FOLDERS: list[tuple[str, str, Callable[[bytes], bytes] | None, tuple[str, ...]]] = [
    ("no manifest", MANIFEST, None, ("no manifest.json", "gendermark run -o")),
    ("manifest cut short", MANIFEST, lambda b: b[: len(b) // 2], (MANIFEST, "not JSON")),
    ("manifest is a list", MANIFEST, lambda b: b"[]", (MANIFEST, "not a manifest")),
    ("manifest in Latin-1", MANIFEST, lambda b: b'{\n"a": "\xe9"}', (MANIFEST, "line 2", "UTF-8")),
    ("manifest nested deeply", MANIFEST, lambda b: DEEP.encode(), (MANIFEST, "not JSON")),
    ("manifest with NaN", MANIFEST, lambda b: b'{"cells": NaN}', (MANIFEST, "NaN")),
    ("manifest without cells", MANIFEST, _edit(_drop("cells")), (MANIFEST, "not a manifest")),
    ("unfinished run", MANIFEST, _edit(_put("status", value="running")), ("not finished", "gendermark run")),
    ("cells are a list of numbers", MANIFEST, _edit(_put("cells", value=[1])), (MANIFEST,)),
    ("a cell that is not there", MANIFEST, _edit(_put("cells", "winomt.en-es", value={})), ("winomt.en-es", "no such")),
    ("no result", RESULT, None, (RESULT, "no such file")),
    ("result is null", RESULT, lambda b: b"null", (CELL, "run it again")),
    (
        "a number beyond all",
        RESULT,
        lambda b: b.replace(b'"n_judgements": ', b'"n_judgements": 1e999, "n": '),
        ("infinity",),
    ),
    ("result with infinity", RESULT, lambda b: b'{"a": -Infinity}', (RESULT, "-Infinity")),
    ("result with half a character", RESULT, _edit(_put("system", value="\ud800")), (RESULT, "not JSON")),
    *(
        (f"result without {key}", RESULT, _edit(_drop(key)), (CELL, key, "run it again"))
        for key in ("selection", "system", "estimates", "signature", "origin", "tests")
    ),
    ("an estimate of the future", RESULT, _edit(_put("estimates", 0, "colour", value=1)), (CELL, "colour")),
    ("an estimate without value", RESULT, _edit(_drop("estimates", 0, "value")), (CELL, "value")),
    ("selection of the future", RESULT, _edit(_put("selection", "colour", value=1)), (CELL, "colour")),
    ("no judgements", JUDGEMENTS, None, (JUDGEMENTS, "no such file")),
    ("judgements cut short", JUDGEMENTS, lambda b: b[:-9], (JUDGEMENTS, f"line {N_SMALL}", "not JSON")),
    ("a judgement lost", JUDGEMENTS, lambda b: b[b.index(b"\n") + 1 :], (CELL, "139 of 140 judgements")),
    ("a judgement is a list", JUDGEMENTS, _edit_row(3, lambda row: [1]), (JUDGEMENTS, "line 3", "not a JSON object")),
    ("unknown verdict", JUDGEMENTS, _edit_row(4, _put("verdict", value="guilty")), (CELL, "guilty")),
    ("unknown gender", JUDGEMENTS, _edit_row(4, _put("observed", value="purple")), (CELL, "purple")),
    *(
        (f"a judgement without {key}", JUDGEMENTS, _edit_row(8, _drop(key)), (CELL, key, "run it again"))
        for key in ("item_id", "group_id", "expected", "evidence")
    ),
]


@pytest.mark.parametrize("case", range(len(FOLDERS)), ids=[case[0] for case in FOLDERS])
def test_damaged_run_folder(cli: Any, folders: Path, case: int) -> None:
    _, file, change, words = FOLDERS[case]
    broken, good = folders / "one", folders / "two"
    if change is None:
        (broken / file).unlink()
    else:
        (broken / file).write_bytes(change((broken / file).read_bytes()))
    for arguments in _readers(broken, good, case):
        cli(*arguments).is_refusal(str(broken), *words)


def _readers(broken: Path, good: Path, case: int) -> list[tuple[str | Path, ...]]:
    """Two of the commands that read a run folder: they read with the same code, so each case has others in turn."""
    every = [
        ("report", broken),
        ("report", good, broken, "--format", "json"),
        ("report", broken, "-o", broken.with_name("page.html")),
        ("compare", good, broken),
        ("gate", broken, "--min", "p_s:negative=0"),
        ("gate", good, "--baseline", broken),
    ]
    return every[case % 3 :: 3]


# file -> path of a value -> values of another kind
KINDS: dict[str, dict[tuple[str | int, ...], list[Any]]] = {
    RESULT: {
        ("estimates", 0, "value"): ["high", 10**400],
        ("estimates", 0, "metric"): [1, []],
        ("estimates", 0, "n_judged"): [None],
        ("estimates", 0, "p_value"): ["x", -1],
        ("selection", "benchmark"): [[]],
        ("selection", "parts"): [1, [[]]],
        ("selection", "data"): [{}, None],
        ("system",): [1, []],
        ("warnings",): ["none"],
        ("signature",): [None],
        ("tests", 0, "question"): [[], 1.5],
        ("tests", 0, "details"): [None, "x"],
        ("tables", 0, "columns"): [[1], []],
        ("tables", 0, "rows"): [[[]]],
    },
    JUDGEMENTS: {
        ("evidence",): [[1], "word"],
        ("tags",): [{}],
        ("tags", "entity"): [1, [1]],
        ("tags", "sets"): [[], "loud"],
        ("item_id",): [[]],
        ("index",): ["first"],
        ("verdict",): [[]],
    },
}


@pytest.mark.parametrize(
    ("file", "path", "value"),
    [(file, path, value) for file, paths in KINDS.items() for path, values in paths.items() for value in values],
    ids=lambda value: f"{value!r:.30}",
)
def test_run_folder_with_a_value_of_another_kind(
    cli: Any, folders: Path, file: str, path: tuple[str | int, ...], value: Any
) -> None:
    """Read all the same or refused: there is no third way."""
    damaged = folders / "one" / file
    change = _edit(_put(*path, value=value)) if file == RESULT else _edit_row(1, _put(*path, value=value))
    damaged.write_bytes(change(damaged.read_bytes()))
    for arguments in _readers(folders / "one", folders / "two", len(f"{path}{value!r:.30}")):
        outcome = cli(*arguments)
        if outcome.exit_code == 2:
            outcome.is_refusal(CELL)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("system",), 1),
        (("system_options",), "x"),
        (("system_options",), {"a": 1}),
        (("selections",), {}),
        (("selections", 0, "data"), None),
        (("selections", 0, "revision"), {}),
        (("resampling",), None),
        (("resampling", "confidence"), None),
        (("resampling", "confidence"), "x"),
        (("resampling", "confidence"), 1.5),
        (("resampling", "confidence"), 10**400),
        (("resampling", "n_resamples"), -1),
        (("resampling", "seed"), 10**400),
    ],
    ids=lambda value: f"{value!r:.30}",
)
def test_manifest_with_a_value_of_another_kind(
    cli: Any, folders: Path, path: tuple[str | int, ...], value: Any
) -> None:
    manifest = folders / "one" / MANIFEST
    manifest.write_bytes(_edit(_put("config", *path, value=value))(manifest.read_bytes()))
    sentence = "has a value of the wrong type"
    for arguments in _readers(folders / "one", folders / "two", len(f"{path}{value!r:.30}")):
        cli(*arguments).is_refusal(str(folders / "one" / MANIFEST), sentence)
    seen = cli("ui", folders / "one", "--no-open")
    assert (seen.exit_code, seen.err.count(sentence)) == (2, 1)


def test_unknown_benchmark_in_a_run_folder(cli: Any, folders: Path) -> None:
    for name in ("one", "two"):
        result = folders / name / RESULT
        result.write_bytes(_edit(_put("selection", "benchmark", value="chess"))(result.read_bytes()))
        signed_again(folders / name)
    cli("compare", folders / "one", folders / "two").is_refusal(CELL, "another")


@pytest.mark.parametrize("content", [b"", b"[]", b'{"config": 1, "cells": {}, "status": ""}', b"\xff"])
def test_run_does_not_write_into_a_folder_it_cannot_read(cli: Any, tmp_path: Path, content: bytes) -> None:
    (tmp_path / MANIFEST).write_bytes(content)
    cli("run", "--system", "fake:right", *RUN, "-o", tmp_path).is_refusal(str(tmp_path))
    assert (tmp_path / MANIFEST).read_bytes() == content


# -- whatever else there may be --------------------------------------------------------------------------------------

SET = "negative"
_IN_SET = [item.source for item in gendermark.items("tgbi", data="core", source_language="fi", parts=(SET,)).items]
# A small set: the right number of lines must come up often. Rare characters are tried in few lines of a file.
_LINE = st.sampled_from(
    ["", "He is.", "She is.", "That person is.", "\u2028", "\x0c", "\ufeff", "그 사람은", " ", "a|||b"]
)
_ODD = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=8)
_LINES = st.builds(
    lambda lines, odd, place: [*lines[:place], *odd, *lines[place:]][: len(lines)],
    st.integers(-1, 1).flatmap(
        lambda more: st.lists(_LINE, min_size=len(_IN_SET) + more, max_size=len(_IN_SET) + more)
    ),
    st.lists(_ODD, max_size=2),
    st.integers(0, len(_IN_SET) - 1),
)
_FILES = st.one_of(
    st.binary(max_size=300),
    st.builds(
        lambda lines, end: end.join([*lines, ""]).encode(), _LINES, st.sampled_from(["\n", "\n", "\r\n", "\r\n", "\r"])
    ),
    st.builds(lambda lines: _joined([f"{s} ||| {t}" for s, t in zip(_IN_SET, lines, strict=False)]), _LINES),
    st.builds(
        lambda position, byte: _joined(_IN_SET)[:position] + byte + _joined(_IN_SET)[position + 1 :],
        st.integers(0, len(_joined(_IN_SET)) - 1),
        st.binary(max_size=3),
    ),
)


@settings(max_examples=60, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=_FILES)
def test_any_file_is_scored_or_refused_in_one_sentence(cli: Any, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "any.txt"
    path.write_bytes(content)
    outcome = cli("score", "tgbi", "--data", "core", "--from", "fi", "--set", f"{SET}={path}", "--resamples", "100")
    if outcome.exit_code:
        outcome.is_refusal(str(path))
    else:
        text = content.decode("utf-8-sig")
        assert text.count("\n") + (not text.endswith("\n") and text != "") == len(_IN_SET)
        assert len(outcome.rows) == 1
        assert "Traceback" not in outcome.err


@settings(max_examples=50, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    file=st.sampled_from([MANIFEST, RESULT, JUDGEMENTS]),
    place=st.floats(0, 1),
    n_removed=st.integers(0, 50),
    added=st.one_of(
        st.binary(max_size=5), st.sampled_from([b"null", b"[", b"}", b"1e999", b'"', b"-1", b"\xed\xa0\x80"])
    ),
)
def test_any_damage_to_a_run_folder_is_met(
    cli: Any, small: Path, folders: Path, file: str, place: float, n_removed: int, added: bytes
) -> None:
    good = (small / "one" / file).read_bytes()
    start = int(place * len(good))
    (folders / "one" / file).write_bytes(good[:start] + added + good[start + n_removed :])
    outcome = cli("report", folders / "one", "--json")
    if outcome.exit_code:
        outcome.is_refusal(str(folders / "one"))
    else:
        assert outcome.json["runs"]
    (folders / "one" / file).write_bytes(good)
