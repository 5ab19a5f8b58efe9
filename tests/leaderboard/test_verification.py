"""What follows from its outputs is verified; whatever was changed, by hand or by mistake, is caught and named."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gendermark.io.textfiles import content_hash
from gendermark.reporting.submission import FILE, faults

CELL = Path("halfway-2019") / "simplegen.en-es"


def _edit(path: Path, change: Callable[[Any], Any]) -> None:
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value), encoding="utf-8")


def _edit_line(path: Path, number: int, change: Callable[[Any], Any]) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    value = json.loads(lines[number])
    change(value)
    path.write_text("\n".join([*lines[:number], json.dumps(value), *lines[number + 1 :]]) + "\n", encoding="utf-8")


def test_what_follows_is_verified(made: Path) -> None:
    assert faults(made / CELL) == []


def _change_number(cell: Path) -> None:
    _edit(cell / "result.json", lambda row: row["estimates"][0].update(value=99.0))


def _change_small_number(cell: Path) -> None:
    _edit(cell / FILE, lambda row: row["result"]["estimates"][0].update(value=99.0))


def _change_interval(cell: Path) -> None:
    _edit(cell / FILE, lambda row: row["result"]["estimates"][0].update(low=98.0))


def _leave_out_a_number(cell: Path) -> None:
    _edit(cell / FILE, lambda row: row["result"]["estimates"].pop())


def _change_outputs(cell: Path) -> None:
    _edit_line(cell / "translations.jsonl", 5, lambda row: row.update(translation="La médica está aquí."))


def _change_outputs_and_their_hash(cell: Path) -> None:
    _change_many_outputs(cell)
    _edit(cell / FILE, lambda row: row["outputs"].update(sha256=content_hash(cell / "translations.jsonl")))


def _change_many_outputs(cell: Path) -> None:
    path = cell / "translations.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    # Every one becomes the same, as if the system were right about all of this kind.
    rows = [{**row, "translation": rows[0]["translation"]} for row in rows]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def _change_signature(cell: Path) -> None:
    for name in (FILE, "result.json"):
        path = cell / name
        path.write_text(path.read_text(encoding="utf-8").replace("|cluster:", "|cluster:un"), encoding="utf-8")


def _change_one_signature(cell: Path) -> None:
    path = cell / FILE
    path.write_text(path.read_text(encoding="utf-8").replace("|parts:all", "|parts:some"), encoding="utf-8")


def _change_judgement(cell: Path) -> None:
    other = {"masculine": "feminine", "feminine": "masculine"}
    _edit_line(cell / "judgements.jsonl", 7, lambda row: row.update(observed=other[row["observed"]]))


def _change_version(cell: Path) -> None:
    _edit(cell / FILE, lambda row: row["system"].update(version="3.5"))


def _change_counts(cell: Path) -> None:
    _edit(cell / FILE, lambda row: row["result"]["counts"].update(judged=1))


def _change_table(cell: Path) -> None:
    _edit(cell / "result.json", lambda row: row["tables"][0]["rows"].pop())


def _leave_out_a_sentence(cell: Path) -> None:
    path = cell / "translations.jsonl"
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[1:]), encoding="utf-8")


def _older_rules(cell: Path) -> None:
    for name in (FILE, "result.json"):
        text = (cell / name).read_text(encoding="utf-8")
        (cell / name).write_text(re.sub(r"\|rules:best-\d+\|", "|rules:best-0|", text), encoding="utf-8")


def _wrong_kind(cell: Path) -> None:
    _edit(cell / FILE, lambda row: row["outputs"].update(sha256=7))


def _more_judgements(cell: Path) -> None:
    """Of a sentence that the data do not have."""
    for name in ("judgements.jsonl", "translations.jsonl"):
        lines = (cell / name).read_text(encoding="utf-8").splitlines()
        row = {**json.loads(lines[0]), "item_id": "more"}
        (cell / name).write_text("\n".join([*lines, json.dumps(row)]) + "\n", encoding="utf-8")
    _edit(cell / "result.json", lambda row: row.update(n_judgements=row["n_judgements"] + 1))


def _break(cell: Path) -> None:
    _edit(cell / FILE, lambda row: row.pop("system"))


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        (_change_number, "result.json: {metric} value is 99.0, and the outputs give "),
        (_change_small_number, "submission.json: correct:all value is 99.0, and result.json has "),
        (_change_interval, "submission.json: correct:all low is 98.0, and result.json has "),
        (_leave_out_a_number, "submission.json: estimates "),
        (_change_outputs, "translations.jsonl: these are not the outputs that were submitted (SHA-256 "),
        (_change_outputs_and_their_hash, "result.json: {metric} value is "),
        (_change_signature, "result.json: signature cluster is 'un"),
        (_change_one_signature, "submission.json: signature parts is 'some', and result.json has 'all'"),
        (_change_judgement, "judgements.jsonl: 1 of 2,720 judgements"),
        (_change_version, "submission.json: its system is Halfway 3.5 (2019), result.json has Halfway (2019)"),
        (_change_counts, "submission.json: counts judged is 1, "),
        (_change_table, "result.json: tables 1 rows"),
        (_leave_out_a_sentence, "translations.jsonl lacks 1 of 2,720 sentences"),
        (_older_rules, "rules best-0, and this version has best-"),
        (_wrong_kind, "submission.json is not a submission that this version can read (a value is of the wrong kind)"),
        (_more_judgements, "judgements.jsonl: 1 of 2,721 judgements"),
        (_break, "submission.json is not a submission that this version can read ('system')"),
    ],
)
def test_tampering_is_caught(results: Path, tamper: Callable[[Path], None], said: str) -> None:
    cell = results / CELL
    row = json.loads((cell / "result.json").read_text(encoding="utf-8"))["estimates"][0]
    tamper(cell)
    found = faults(cell)
    assert any(said.format(metric=f"{row['metric']}:{row['slice']}") in fault for fault in found), found
    assert all("\n" not in fault for fault in found)


def test_a_plain_run_folder_is_verified_too(made: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(made.parent / "runs" / "before", tmp_path / "run"))
    cell = run / "simplegen.en-es"
    assert faults(cell) == []
    _change_judgement(cell)
    assert "judgements.jsonl was changed after the run" in faults(cell)[0]
