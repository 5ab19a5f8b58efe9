"""Sets that do not fit in memory: judged in portions, kept on the disk, with the results of those that do."""

from __future__ import annotations

import base64
import gzip
import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark import registry
from gendermark.errors import UserError
from gendermark.io import disk_list
from gendermark.io.disk_list import DiskList
from gendermark.metrics import metric
from gendermark.reporting import rows as report_rows
from gendermark.reporting.page import render_page
from gendermark.reporting.rows import Explorer
from gendermark.result import Result
from gendermark.runs import score as scoring
from gendermark.runs.folder import read_run
from gendermark.runs.rejudge import rejudge
from made_runs import signed_again

PEOPLE = {"plumber": "plomero", "nurse": "enfermero", "baker": "panadero", "teacher": "maestro", "cook": "cocinero"}
FEMININE = {"plumber": "plomera", "nurse": "enfermera", "baker": "panadera", "teacher": "maestra", "cook": "cocinera"}
PRONOUNS = {"masculine": "he", "feminine": "she", "neutral": "they"}


@pytest.fixture
def own_set(tmp_path: Path) -> tuple[Path, list[str], list[str]]:
    """A file of sentences, the sentences, and translations of which some are wrong, empty or of nobody."""
    rows, sources, translations = ["source,gender,entity,stereotype"], [], []
    chance = random.Random(3)
    for day in range(4):
        for entity, masculine in PEOPLE.items():
            for gender, pronoun in PRONOUNS.items():
                sources.append(f"On day {day} the {entity} said that {pronoun} had lost the keys.")
                rows.append(f"{sources[-1]},{gender},{entity},{chance.choice(['pro', 'anti', 'none'])}")
                noun = chance.choice([f"el {masculine}", f"la {FEMININE[entity]}", f"el {masculine}", "la gente"])
                translations.append("" if chance.random() < 0.1 else f"El día {day} {noun} dijo que perdió las llaves.")
    path = tmp_path / "own.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path, sources, translations


def _long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_list, "LIMIT", 5)
    monkeypatch.setattr(disk_list, "_BLOCK", 3)


def _same(one: Result, other: Result) -> None:
    assert isinstance(other.judgements, DiskList)
    assert list(one.judgements) == list(other.judgements)
    assert one.to_json() == other.to_json()
    assert [table.to_json() for table in one.tables] == [table.to_json() for table in other.tables]


@pytest.mark.parametrize("cluster", ["entity", "contrast"])
def test_translations_on_the_disk(own_set: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: str) -> None:
    path, sources, translations = own_set
    lines = tmp_path / "lines.txt"
    lines.write_text("".join(f"{text}\n" for text in translations), encoding="utf-8")
    pairs = [f"{source} ||| {text}\n" for source, text in zip(sources, translations, strict=True)]
    in_order, shuffled = tmp_path / "pairs.txt", tmp_path / "shuffled.txt"
    in_order.write_text("".join(pairs), encoding="utf-8")
    shuffled.write_text("".join(random.Random(1).sample(pairs, len(pairs))), encoding="utf-8")
    options = {"data": f"file:{path}", "cluster": cluster}
    in_memory = gendermark.score("winomt", lines, "es", **options)
    _long(monkeypatch)
    for file in (lines, in_order, shuffled):
        _same(in_memory, gendermark.score("winomt", file, "es", **options))


@pytest.mark.parametrize(
    "options",
    [{}, *(pytest.param(one, marks=pytest.mark.slow) for one in ({"alpha": "tuned"}, {"cluster": "contrast"}))],
)
def test_samples_on_the_disk(
    own_set: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, str]
) -> None:
    path, sources, translations = own_set
    files = {}
    for key, keys in (("source", sources), ("id", [f"winomt-{number:04}" for number in range(len(sources))])):
        rows = []
        for number, (name, text) in enumerate(zip(keys, translations, strict=True)):
            other = translations[number - 1] if number % 3 else text
            rows.append(json.dumps({key: name, "samples": [text, other, text], "logprobs": [-1, -2.5, -1]}) + "\n")
        files[key] = rows
    file = tmp_path / "samples.jsonl"
    file.write_text("".join(files["source"]), encoding="utf-8")
    in_memory = gendermark.score("uncertainty", file, "es", data=f"file:{path}", **options)
    _long(monkeypatch)
    for rows in files.values():
        for written in (rows, random.Random(2).sample(rows, len(rows))):
            file.write_text("".join(written), encoding="utf-8")
            _same(in_memory, gendermark.score("uncertainty", file, "es", data=f"file:{path}", **options))


def test_broken_files_are_refused_on_the_disk_too(
    own_set: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, sources, translations = own_set
    file = tmp_path / "pairs.txt"
    pairs = [f"{source} ||| {text}\n" for source, text in zip(sources, translations, strict=True)]

    def refused(rows: list[str]) -> str:
        file.write_text("".join(rows), encoding="utf-8")
        with pytest.raises(UserError) as found:
            gendermark.score("winomt", file, "es", data=f"file:{path}")
        return str(found.value)

    def stranger(rows: list[str]) -> list[str]:
        return [*rows[:30], "Who is this? ||| ¿Quién es?\n", *rows[30:]]

    changes: list[Callable[[list[str]], list[str]]] = [
        lambda rows: rows[:-3],
        lambda rows: [*rows, rows[7]],
        stranger,
        lambda rows: [one.partition("|||")[0] + "|||" + rows[n - 3].partition("|||")[2] for n, one in enumerate(rows)],
    ]
    in_memory = [refused(change(pairs)) for change in changes]
    assert "has no translation of 3 of 60 sentences" in in_memory[0]
    assert "has 2 rows of 'On day 0 the baker said that she" in in_memory[1]
    assert ", line 31: source 'Who is this?' is not a sentence of this benchmark" in in_memory[2]
    assert "seem to belong to the sentence three" in in_memory[3]
    _long(monkeypatch)
    assert [refused(change(pairs)) for change in changes] == in_memory


def test_portions_give_what_the_whole_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is aligned: each sentence is judged by itself."""
    judged: list[int] = []
    judge_portion = scoring.judge_portion

    def counted(benchmark: Any, item_set: Any, answers: Any) -> Any:
        judged.append(len(item_set.items))
        return judge_portion(benchmark, item_set, answers)

    monkeypatch.setattr(scoring, "judge_portion", counted)
    (whole,) = gendermark.run("fake:stereotyped?s=0.5", ["gest"], "es", data="core")
    assert judged == [128]
    monkeypatch.setattr(scoring, "PORTION", 50)
    _long(monkeypatch)
    (cut,) = gendermark.run("fake:stereotyped?s=0.5", ["gest"], "es", data="core")
    assert judged == [128, 42, 43, 43]
    _same(whole, cut)


# -- run folders -------------------------------------------------------------------------------------------------------

CELL = "winomt.en-es"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("runs") / "run"
    names = ["winomt", "uncertainty"]
    gendermark.run("fake:random", names[:1], "es", directory=directory, data="core")
    gendermark.run("fake:random", names[1:], "es", directory=directory.with_name("samples"), data="core", n_samples=2)
    gendermark.run("fake:stereotyped", names[:1], "es", directory=directory.with_name("other"), data="core")
    return directory


def _without_order(base: Path, copy: Path, name: str) -> Path:
    """A run folder whose texts, or judgements, stand in another order."""
    shutil.copytree(base, copy)
    path = copy / CELL / name
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(random.Random(4).sample(lines, len(lines))), encoding="utf-8")
    return signed_again(copy)


@pytest.mark.slow
def test_a_run_folder_is_read_from_the_disk_as_from_memory(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = folder.with_name("other")
    folders = [
        [folder],
        [folder.with_name("samples")],
        [folder, other],
        [_without_order(folder, tmp_path / "texts", "translations.jsonl")],
        [folder, _without_order(other, tmp_path / "judgements", "judgements.jsonl")],
    ]
    in_memory = [render_page([read_run(one) for one in some]) for some in folders]
    compared = gendermark.compare(folder, other)
    judged_again = rejudge(tmp_path / "texts", {"cluster": "contrast"})
    _long(monkeypatch)
    assert isinstance(read_run(folder).results[0].judgements, DiskList)
    assert [render_page([read_run(one) for one in some]) for some in folders] == in_memory
    assert gendermark.compare(folder, other).comparisons == compared.comparisons
    (again,) = rejudge(tmp_path / "texts", {"cluster": "contrast"})
    _same(judged_again[0].result, again.result)
    assert again.changes == judged_again[0].changes
    written = tmp_path / "again"
    rejudge(folder, {}, written)
    for name in ("judgements.jsonl", "translations.jsonl"):
        assert (written / CELL / name).read_bytes() == (folder / CELL / name).read_bytes()


def _embedded(page: str) -> Any:
    data = json.loads(page.partition('type="application/json" id="rows">')[2].partition("</script>")[0])
    return {**data, "rows": json.loads(gzip.decompress(base64.b64decode(data["rows"])))}


def test_the_page_of_a_large_run_carries_a_sample(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = read_run(folder.with_name("other"))
    whole = _embedded(render_page([run]))
    assert "sample" not in whole
    monkeypatch.setattr(report_rows, "MOST_EMBEDDED", 100)
    page = render_page([run])
    assert page == render_page([run])
    found = _embedded(page)
    (cell,) = found["cells"]
    assert found["sample"] == {"n": cell["n"], "all": 1200, "command": f"gendermark ui {run.name}"}
    assert 95 <= cell["n"] == len(found["rows"]) <= 100
    assert cell["n_all"] == 1200
    assert "1,200 sentences" in page  # the numbers are of all

    def kinds(one: Any) -> set[tuple[str, ...]]:
        return {(row["expected"], *(row["answers"][0][key] for key in ("observed", "outcome"))) for row in one["rows"]}

    assert kinds(found) == kinds(whole)
    shown = set(re.findall(r'(?s)<blockquote class="example">.*?class="source"[^>]*>([^<]*)<', page))
    assert shown
    assert shown <= {row["source"] for row in found["rows"]}


def test_rows_of_one_kind_do_not_crowd_out_the_others(folder: Path) -> None:
    (cell,) = Explorer([read_run(folder)]).cells
    cell.must_show |= {5, 7, 11}
    rows = cell.sample(60)
    assert list(rows) == sorted(set(rows))
    assert 55 <= len(rows) <= 63
    assert {5, 7, 11} <= set(rows)
    counts = Counter((cell.expected[row], *cell.answers[row, 0]) for row in rows)
    every = Counter((meant, *answer) for meant, answer in zip(cell.expected, cell.answers[:, 0], strict=True))
    assert all(counts[kind] >= min(n, 3) for kind, n in every.items())


def test_thousands_of_templates_are_taken_as_they_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of each word in each template would grow with the sentences; so many templates hardly vary together."""
    (result,) = read_run(folder).results
    measures = registry.load("benchmark", "winomt").measures
    crossed = measures.count(result.judgements, result.selection)
    assert [len(layer.group_ids) for layer in crossed.crossed] == [10, 400]
    monkeypatch.setattr(metric, "MOST_CELLS", 399)
    plain = measures.count(result.judgements, result.selection)
    assert plain.crossed == ()
    assert (plain.group_ids, plain.strata, plain.columns) == (crossed.group_ids, crossed.strata, crossed.columns)
    # The pairs of a word are those within its sentences, in whatever template.
    assert (plain.matrix == crossed.matrix).all()
