"""`study mitigate`: the numbers are those of the runs, every mitigation is compared, and what cannot be is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gendermark import api
from gendermark.lab import mitigate
from gendermark.lab.mitigate import findings
from gendermark.lab.studies import Made, compared, unsound_notes
from gendermark.metrics.metric import Resampling
from gendermark.result import ACCEPTED
from gendermark.runs import folder
from lab.conftest import Command

ROWS = [
    (sentence, gender, noun)
    for noun in ("mechanic", "lawyer", "nurse", "teacher")
    for sentence, gender in ((f"The {noun} hurt herself.", "feminine"), (f"My uncle is a {noun}.", "masculine"))
]
OPTIONS = ("--to", "es", "--resamples", "100")


@pytest.fixture
def own(tmp_path: Path) -> str:
    return written(tmp_path / "own.tsv", ROWS)


def written(path: Path, rows: Sequence[Sequence[str]]) -> str:
    lines = [("source", "gender", "entity"), *rows]
    path.write_text("".join("\t".join(row) + "\n" for row in lines), encoding="utf-8")
    return f"file:{path}"


def test_a_system_that_draws_both_genders_is_mended_for_women(study: Command, own: str, tmp_path: Path) -> None:
    directory = tmp_path / "out"
    arguments = ("mitigate", "--system", "fake:random", *OPTIONS, "-o", directory, "--data", own, "--with", "rerank:16")
    outcome = study(*arguments)
    assert outcome.exit_code == 0, outcome.err
    rows = {(row["mitigation"], row["cell"], row["metric"], row["slice"]): row for row in outcome.rows}
    women = rows["rerank:16", "simplegen.en-es", "correct", "fc"]
    (plain,) = api.load(directory / "plain")[:1]
    (mended,) = api.load(directory / "rerank-16")[:1]
    assert float(women["first"]) == plain.estimate("correct", "fc").value
    assert float(women["second"]) == mended.estimate("correct", "fc").value == 100
    assert rows["oracle", "winomt.en-es", "accuracy", "masculine"]["second"] == "100.0"
    assert float(rows["rerank:16", "time", "milliseconds", "simplegen"]["second"]) > 0
    assert "the oracle (an upper bound" in outcome.err
    assert "BLEU is left out" in outcome.err
    assert "decides 8 of 8 sentences of SimpleGEN that tell the person's gender, 8 of them rightly" in outcome.err
    report = json.loads((directory / "mitigate.json").read_text(encoding="utf-8"))
    table = (directory / "table.md").read_text(encoding="utf-8")
    assert "| oracle (upper bound) |" in table
    assert all(sentence in table for sentence in report["findings"])
    assert [one["name"] for one in report["mitigations"]] == ["rerank:16", "oracle"]
    again = study(*arguments, "--repeats", "0", "--json").json
    assert again["mitigations"][0]["comparisons"] == report["mitigations"][0]["comparisons"]
    assert again["milliseconds"] is None


def test_the_bundled_model_is_mended_and_rated(study: Command, own: str, tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2", reason="the demonstration model is run by CTranslate2")
    plain = tmp_path / "s.en", tmp_path / "s.es"
    for path, text in zip(plain, ("The sky is blue.\n", "El cielo es azul.\n"), strict=True):
        path.write_text(text, encoding="utf-8")
    outcome = study(
        *("mitigate", "--system", "demo:en-es?beam_size=2", *OPTIONS, "-o", tmp_path / "out", "--data", own),
        *("--with", "rerank", "--with", "hinted:context", "--plain", *plain, "--repeats", "1", "--json"),
    )
    assert outcome.exit_code == 0, outcome.err
    report = outcome.json
    assert [one["system"] for one in report["mitigations"]] == [
        "rerank:demo:en-es?beam_size=2",
        "hinted:demo:en-es?beam_size=2&style=context",
        "rerank:demo:en-es?beam_size=2&reader=gold",
    ]
    for mitigation in report["mitigations"][:2]:
        scores = {row["metric"]: row for row in mitigation["comparisons"] if row["cell"] in ("bleu", "chrf")}
        assert scores.keys() == {"bleu", "chrf"}
        assert scores["bleu"]["difference"] == 0
        assert mitigation["plain_set_changed"] == 0
    assert folder.read_manifest(tmp_path / "out" / "rerank")["notes"][0].startswith(
        "rerank:demo:en-es?beam_size=2 read"
    )


def test_a_mitigation_that_breaks_translations_is_compared_and_named() -> None:
    result = api.run("fake:right", "simplegen", to="es", data="core", resamples=100)
    signature, warning = f"{result.signature}|unsound:accepted", f"{ACCEPTED}other sentences"
    broken = Made([replace(result, signature=signature, warnings=(warning,))])
    rows = compared(Made([result]), broken, [("simplegen", "correct", "fc")], [], Resampling(100))
    assert [row["difference"] for row in rows] == [0]
    assert unsound_notes({"hinted": broken}) == [f"hinted: simplegen.en-es: {warning}"]


def test_sentences_that_leave_the_gender_open_are_counted(
    study: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mitigate, "BENCHMARKS", ("winomt",))  # SimpleGEN has none
    opened = [("The nurse waved.", "neutral", "nurse"), ("The lawyer met the cook.", "neutral", "lawyer")]
    own = written(tmp_path / "own.tsv", [*ROWS, *opened])
    arguments = ("mitigate", "--system", "fake:random", *OPTIONS, "-o", tmp_path / "out", "--data", own)
    outcome = study(*arguments, "--with", "rerank", "--with", "hinted:context", "--repeats", "0", "--json")
    report = outcome.json
    assert [one["open"] for one in report["mitigations"]] == [{"n": 2, "n_changed": 0}] * 3
    assert "where the gender is open, 0 of 2 translations changed." in outcome.err
    broken = {**report["mitigations"][0], "open": {"n": 2, "n_changed": 1}}
    (said, *_) = findings({**report, "mitigations": [broken]})
    assert said.endswith("1 of 2 translations changed, which should not be.")


def test_rows_that_are_zero_by_construction_are_left_out(study: Command, tmp_path: Path) -> None:
    women = ("The mechanic called the nurse because she was late.", "feminine", "mechanic")
    men = ("The nurse called the mechanic because he was late.", "masculine", "nurse")
    own = written(tmp_path / "own.tsv", [women, men])
    arguments = ("mitigate", "--system", "fake:random", *OPTIONS, "-o", tmp_path / "out", "--data", own)
    report = study(*arguments, "--with", "rerank", "--repeats", "0", "--json").json
    assert [one["n_decided"] for one in report["reader"]] == [0, 0]
    assert [len(one["comparisons"]) > 0 for one in report["mitigations"]] == [False, True]


@pytest.mark.slow
def test_the_reader_has_numbers_of_its_own(study: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mitigate, "READ", ("winomt", "mt-geneval-counterfactual"))
    two, pairs = study("reader").rows
    assert (two["told"], two["decided"], two["right_percent"], two["open_decided"]) == ("800", "0", "", "0")
    assert (pairs["told"], pairs["right_percent"]) == ("96", "100.0")
    assert int(pairs["decided"]) >= 41
    monkeypatch.setattr(mitigate, "READ", ("mt-geneval-counterfactual",))
    assert [one["n_decided"] for one in study("reader", "--json").json["sets"]] == [int(pairs["decided"])]
