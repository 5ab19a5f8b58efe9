"""The formats in which people keep translations: what is read from each, and the sentence about each that is broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gendermark.errors import BadFile
from gendermark.io.tables import Choice, Row, Samples, read_contents, read_sample_rows

Pairs = list[tuple[str, str]]


def pairs(path: Path, **choice: str) -> Pairs:
    """What the one section of a file holds."""
    (section,) = read_contents(path, Choice(**choice)).sections
    return [(row.source, row.content) for row in section.rows]


def refused(path: Path, content: str | bytes, **choice: str) -> str:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadFile) as caught:
        read_contents(path, Choice(**choice))
    assert str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(str(path))


def written(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8", newline="")
    return path


# -- columns


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        *((name, "translation") for name in ("source", "src", "sentence", "Source", " SRC ")),
        *(("source", name) for name in ("hypothesis", "mt", "output", "target", "MT")),
        ("from", "to"),
    ],
)
def test_usual_names_of_columns(tmp_path: Path, source: str, translation: str) -> None:
    path = written(tmp_path / "out.tsv", f"n\t{translation}\t{source}\n1\tuno\tOne.\n\n2\t\tTwo.\n")
    assert pairs(path) == [("One.", "uno"), ("Two.", "")]


def test_a_target_beside_a_translation_is_a_reference(tmp_path: Path) -> None:
    path = written(tmp_path / "out.tsv", "source\ttarget\thypothesis\nOne.\tun\tuno\n")
    assert pairs(path) == [("One.", "uno")]
    path = written(tmp_path / "out.tsv", "from\tto\tsrc\tmt\nen\tes\tOne.\tuno\n")
    assert pairs(path) == [("One.", "uno")], "languages"


def test_columns_named_by_the_user(tmp_path: Path) -> None:
    path = written(tmp_path / "out.tsv", "source\tEnglish\tSpanish\tmt\nx\tOne.\tuno\ty\n")
    assert pairs(path, source_column="English", translation_column="Spanish") == [("One.", "uno")]
    assert pairs(path, system="Spanish") == [("x", "uno")]


def test_columns_that_are_not_there(tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"
    there = "available: source, Spanish"
    assert refused(path, "source\tSpanish\nOne.\tuno\n") == (
        f": has no column for the translation (translation, hypothesis, mt, output, target, to); {there}; "
        f"name it: {path}#NAME"
    )
    assert refused(path, "English\tmt\nOne.\tuno\n") == (
        ": has no column for the source (source, src, sentence, from); available: English, mt; "
        "rename it, or, with files:, say --system-option source_column=NAME"
    )
    assert refused(path, "source\tSpanish\nOne.\tuno\n", translation_column="spanish") == (
        f": has no column 'spanish', which translation_column asks for; {there}"
    )
    many = "\t".join(f"c{n}" for n in range(12))
    assert "available: c0, c1, c2, c3, c4, c5, c6, c7 and 4 more" in refused(path, f"{many}\n{many}\n")


def test_columns_that_may_both_be_meant(tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"
    assert refused(path, "source\tmt\toutput\nOne.\tuno\tuna\n") == (
        f": has 'mt' and 'output', each of which may be the translation; name it: {path}#NAME"
    )
    assert refused(path, "src\tsource\tmt\nOne.\ta\tuna\n") == (
        ": has 'src' and 'source', each of which may be the source; "
        "rename it, or, with files:, say --system-option source_column=NAME"
    )
    assert refused(path, "source\tmt\tmt\nOne.\ta\tb\n") == ", line 1: has two columns 'mt'; give each its own name"


# -- TSV and CSV


def test_tsv_knows_no_quotes(tmp_path: Path) -> None:
    path = written(tmp_path / "out.TSV", '\ufeffsource\tmt\r\n"One.\t"uno, dos"\r\n')
    assert pairs(path) == [('"One.', '"uno, dos"')]


def test_csv_is_quoted(tmp_path: Path) -> None:
    content = 'source,mt\r\n"One, ""two"".","uno\r\ny\n"\r\n\r\nThree.,\r\n'
    assert pairs(written(tmp_path / "out.csv", content)) == [('One, "two".', "uno\r\ny\n"), ("Three.", "")]


def test_csv_of_a_spreadsheet_that_separates_with_semicolons(tmp_path: Path) -> None:
    assert pairs(written(tmp_path / "out.csv", "source;mt\nOne, two.;uno, dos\n")) == [("One, two.", "uno, dos")]


@pytest.mark.parametrize("ending", ["tsv", "csv"])
def test_tables_without_rows(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"out.{ending}"
    empty = ": is empty; expected a header row (source, translation) and a row for each sentence"
    assert refused(path, "") == empty
    assert refused(path, "\n\n") == empty
    header = ",".join(["source", "mt"]) if ending == "csv" else "source\tmt"
    assert refused(path, f"{header}\n") == ": has a header row only; expected a row for each sentence"
    assert refused(path, f"{header}\nOne\n".encode("utf-16")) == ": is UTF-16; save it as UTF-8"
    assert refused(path, b"source\nm\xe9dica\n") == ", line 2: byte 0xe9 is not UTF-8; save the file as UTF-8"


def test_ragged_rows(tmp_path: Path) -> None:
    assert refused(tmp_path / "out.tsv", "source\tmt\nOne.\tuno\nTwo.\tdos\ttres\n") == (
        ", line 3: has 3 cells, but the header has 2; no cell may hold a tab"
    )
    assert refused(tmp_path / "out.tsv", "source\tmt\nOne.\n").startswith(", line 2: has 1 cells")
    assert refused(tmp_path / "out.csv", 'source,mt\n"One\n.",uno\nTwo, too.,dos\n') == (
        ", line 4: has 3 cells, but the header has 2; quote cells that hold commas"
    )


@pytest.mark.parametrize("row", ['"One.,uno\nTwo.,dos\n', '"One." x,uno\n'])
def test_broken_quotes(tmp_path: Path, row: str) -> None:
    words = refused(tmp_path / "out.csv", f"source,mt\nZero.,cero\n{row}")
    assert words.startswith(", line 3: is not CSV (")
    assert words.endswith("; close every quotation mark, and double those inside a cell")


# -- JSON lines


def test_json_lines(tmp_path: Path) -> None:
    rows = [{"source": "One.", "translation": "uno", "log_probability": -1.5}, {"translation": None, "source": "Two."}]
    path = written(tmp_path / "out.jsonl", "".join(f"{json.dumps(row)}\n\n" for row in rows))
    assert pairs(path) == [("One.", "uno"), ("Two.", "")]
    path = written(tmp_path / "out.jsonl", '{"en": "One.", "es": "uno"}')
    assert pairs(path, source_column="en", translation_column="es") == [("One.", "uno")]


GOOD = '{"source": "One.", "mt": "uno"}\n'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ": is empty; expected a JSON object with source and translation on each line"),
        ("\n \n", ": is empty; expected"),
        (GOOD + '{"source": "Two.", "mt"\n', ", line 2: is not JSON ("),
        (GOOD + "[1]\n", ", line 2: is not a JSON object"),
        (GOOD + '{"source": "Two."}\n', ", line 2: has no 'mt', which other lines have"),
        (GOOD + '{"mt": "dos"}\n', ", line 2: has no 'source', which other lines have"),
        (GOOD + '{"source": "Two.", "mt": ["dos"]}\n', ", line 2: has [\"dos\"] under 'mt', which must be text"),
        (GOOD + '{"source": null, "mt": "dos"}\n', ", line 2: has null under 'source', which must be text"),
        ('{"id": "1", "samples": ["uno"]}\n', ": has no column for the source"),
    ],
)
def test_broken_json_lines(tmp_path: Path, content: str, words: str) -> None:
    assert refused(tmp_path / "out.jsonl", content).startswith(words)


# -- several systems


LONG = "system\tsource\tmt\na\tOne.\tuno\nb\tOne.\tuna\n"


def test_one_of_several_systems(tmp_path: Path) -> None:
    path = written(tmp_path / "out.tsv", LONG)
    assert pairs(path, system="b") == [("One.", "una")]
    assert pairs(written(path, LONG.replace("\nb", "\na"))) == [("One.", "uno"), ("One.", "una")]
    path = written(tmp_path / "out.jsonl", '{"source": "One.", "google": "uno", "bing": "una"}')
    assert pairs(path, system="bing") == [("One.", "una")]


def test_systems_that_are_not_there(tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"
    assert refused(path, LONG) == f": has translations of 2 systems; name one: {path}#a | #b"
    assert refused(path, LONG, system="c") == ": has no system 'c'; available: a, b"
    words = ": has no column 'system' and none 'c'; available: source, google"
    assert refused(path, "source\tgoogle\nOne.\tuno\n", system="c") == words
    assert refused(tmp_path / "out.txt", "uno\n", system="c") == (
        ": is a text file, which holds one system; leave out #c, or give a .tsv with its column"
    )
    no_name = "system\tsource\tSpanish\na\tOne.\tuno\n"
    assert refused(path, no_name).endswith("rename it, or, with files:, say --system-option translation_column=NAME")


# -- MT-Lens


def task(*texts: tuple[Any, Any]) -> dict[str, Any]:
    sources, translations = [source for source, _ in texts], [text for _, text in texts]
    return {
        "alias": "x",
        "bleu,none": 31.2,
        "sources,none": sources,
        "targets,none": ["r"],
        "translations,none": translations,
    }


def sections(path: Path, value: Any, system: str = "") -> dict[str, Pairs]:
    path.write_text(json.dumps(value))
    found = read_contents(path, Choice(system)).sections
    return {section.name: [(row.source, row.content) for row in section.rows] for section in found}


def test_results_of_mt_lens(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    one, two = task(("One.", "uno")), task(("Two.", "dos"), ("Three.", ""))
    assert sections(path, one) == {"": [("One.", "uno")]}
    both = {"results": {"en_es_a": one, "en_es_b": two}, "config": {"model": "m", "list": [1, {"deep": [[]]}]}}
    assert sections(path, both) == {"en_es_a": [("One.", "uno")], "en_es_b": [("Two.", "dos"), ("Three.", "")]}
    assert list(sections(path, both, "en_es_b")) == ["en_es_b"]
    assert list(sections(path, [one, two])) == ["1", "2"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"results": {}}, ": has no lists 'sources,none' and 'translations,none', as results of MT-Lens have; give"),
        ([], ": has no lists"),
        ({"results": {"t": {"sources,none": ["One."]}}}, ": has no lists"),
        (
            {"t": {"sources,none": "One.", "translations,none": []}},
            ": task 't': 'sources,none' and 'translations,none'",
        ),
        ({"t": task()}, ": task 't': has no sources; translate again and keep them"),
        ({"t": {**task(("a", "b")), "translations,none": []}}, ": task 't': has 1 sources, but 0 translations"),
        (task(("a", "b"), ("c", None)), ": entry 2 of 'translations,none' is null, which is not text"),
        ({"t": task((7, "b"))}, ": task 't': entry 1 of 'sources,none' is 7, which is not text"),
    ],
)
def test_broken_results_of_mt_lens(tmp_path: Path, value: Any, words: str) -> None:
    assert refused(tmp_path / "results.json", json.dumps(value)).startswith(words)


def test_json_that_is_none(tmp_path: Path) -> None:
    assert refused(tmp_path / "results.json", '{"results": ').startswith(": is not JSON (")
    assert refused(tmp_path / "results.json", "").startswith(": is not JSON (")
    words = ": has no task 'b'; available: t"
    assert refused(tmp_path / "results.json", json.dumps({"t": task(("a", "b"))}), system="b") == words


# -- samples


def test_samples_by_source_or_id(tmp_path: Path) -> None:
    rows = (
        '{"id": "0", "source": "One.", "samples": ["uno", "una"], "logprobs": [-1, -2.5]}\n{"source": "Two.", "id": "1"'
    )
    path = written(tmp_path / "samples.jsonl", rows + ', "samples": ["dos"]}\n')
    first = Samples(("uno", "una"), (-1.0, -2.5))
    expected = [Row("One.", first, 1), Row("Two.", Samples(("dos",)), 2)]
    assert read_sample_rows(path, Choice()) == (expected, "source")
    written(path, '{"id": "item-7", "samples": ["uno"]}')
    assert read_sample_rows(path, Choice()) == ([Row("item-7", Samples(("uno",)), 1)], "id")
    written(path, '{"system": "a", "id": "7", "samples": ["uno"]}\n{"system": "b", "id": "7", "samples": ["dos"]}')
    assert read_sample_rows(path, Choice("b")) == ([Row("7", Samples(("dos",)), 2)], "id")
    with pytest.raises(BadFile, match=r"has translations of 2 systems; name one"):
        read_sample_rows(path, Choice())


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ('{"samples": ["uno"]}', "line 1: has neither 'source' nor 'id' to say whose samples these are"),
        ('{"source": "One."}', "line 1: has no list under 'samples'; expected a list of translations"),
        ('{"source": "One.", "samples": "uno"}', "line 1: has no list under 'samples'"),
        ('{"source": "One.", "samples": []}', "line 1: has an empty list of samples; give at least one"),
        ('{"source": "One.", "samples": []}', '; [""] says that the system had nothing to say'),
        ('{"source": "One.", "samples": ["uno", null]}', "line 1: sample 2 is null, which is not text"),
        ('{"source": "One.", "samples": ["uno", ["dos"]]}', 'line 1: sample 2 is ["dos"], which is not text'),
        ('{"source": "One.", "samples": ["uno"]', "line 1: is not JSON ("),
        ('{"source": "One.", "samples": ["a"], "logprobs": []}', "line 1: must have 1 numbers under 'logprobs', one"),
        ('{"source": "One.", "samples": ["a"], "logprobs": 1}', "line 1: must have 1 numbers under 'logprobs', one"),
        ('{"source": "One.", "samples": ["a"], "logprobs": ["1"]}', "line 1: log-probability 1 is '1', which is no"),
        ('{"source": "One.", "samples": ["a"], "logprobs": [true]}', "line 1: log-probability 1 is true, which is no"),
        ('{"source": "One.", "samples": ["a"], "logprobs": [1e999]}', "line 1: log-probability 1 is Infinity, which"),
        ('{"source": "One.", "samples": ["a"], "logprobs": [NaN]}', "line 1: is not JSON (NaN"),
        ('{"source": "One.", "samples": ["a"], "logprobs": [0.5]}', "line 1: log-probability 1 is 0.5; a log-probab"),
        ('{"id": 3, "samples": ["a"]}', "line 1: has 3 under 'id', which must be text"),
        ('{"id": "3", "samples": ["a"]}\n{"samples": ["a"]}', "line 2: has no 'id', which other lines have"),
        ("", ": is empty; expected a JSON object with source and samples on each line"),
    ],
)
def test_broken_samples(tmp_path: Path, row: str, words: str) -> None:
    path = written(tmp_path / "samples.jsonl", row)
    with pytest.raises(BadFile) as caught:
        read_sample_rows(path, Choice())
    assert words in str(caught.value).removeprefix(str(path))


def test_a_certain_sample_may_be_above_zero_by_rounding(tmp_path: Path) -> None:
    path = written(tmp_path / "samples.jsonl", '{"source": "One.", "samples": ["a"], "logprobs": [1e-7]}')
    assert read_sample_rows(path, Choice())[0][0].content == Samples(("a",), (0.0,))
