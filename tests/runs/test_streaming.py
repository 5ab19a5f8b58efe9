"""Sets that do not fit in memory: judged in portions, kept on the disk, with the results of those that do."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark import registry, spill
from gendermark.errors import UserError
from gendermark.result import Result
from gendermark.runs import score as scoring
from gendermark.spill import Long

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
    monkeypatch.setattr(spill, "LIMIT", 5)
    monkeypatch.setattr(spill, "_BLOCK", 3)


def _same(one: Result, other: Result) -> None:
    assert isinstance(other.judgements, Long)
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


def test_one_group_may_be_all_there_is(own_set: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _, translations = own_set
    path.write_text(path.read_text(encoding="utf-8").replace(",nurse,", ",said,"), encoding="utf-8")
    for entity in PEOPLE:
        path.write_text(path.read_text(encoding="utf-8").replace(f",{entity},", ",day,"), encoding="utf-8")
    in_memory = gendermark.score("winomt", translations, "es", data=f"file:{path}")
    assert {judgement.group_id for judgement in in_memory.judgements} <= {"day", "said"}
    _long(monkeypatch)
    _same(in_memory, gendermark.score("winomt", translations, "es", data=f"file:{path}"))


@pytest.mark.parametrize("options", [{}, {"alpha": "tuned"}, {"cluster": "contrast"}])
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
    assert "has 2 translations of 'On day 0 the baker said that she" in in_memory[1]
    assert ", line 31: source 'Who is this?' is not a sentence of this benchmark" in in_memory[2]
    assert "rows seem to belong to the sentence three" in in_memory[3]
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
    assert judged == [128, 50, 50, 28]
    _same(whole, cut)


def test_a_judge_that_looks_at_all_sentences_gets_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """MT-GenEval and MiTTenS know the words of all references."""
    names = [name for name, benchmark in registry.every("benchmark") if benchmark.judges_together]
    assert names == ["mittens", "mt-geneval-contextual", "mt-geneval-counterfactual"]
    (whole,) = gendermark.run("fake:right", ["mt-geneval-counterfactual"], "es", data="core")
    monkeypatch.setattr(scoring, "PORTION", 7)
    (again,) = gendermark.run("fake:right", ["mt-geneval-counterfactual"], "es", data="core")
    assert list(whole.judgements) == list(again.judgements)
