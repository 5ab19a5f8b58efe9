"""Cells of a run and sheets, made up for a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gendermark.annotation import COLUMNS, Sheet, SheetRow, TranslatedText
from gendermark.metrics.metric import Resampling
from gendermark.records import Gender, Judgement, Verdict
from gendermark.result import Result
from gendermark.selection import Selection

M, F, N = Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL
FEW = Resampling(200)
HEADER = ",".join(COLUMNS)


def make(
    observed: Sequence[Gender | None],
    *,
    expected: Sequence[Gender | None] = (),
    texts: Sequence[str] = (),
    indices: Sequence[int] = (),
    entities: Sequence[str] = (),
) -> tuple[Result, dict[str, TranslatedText]]:
    """A result with these answers of the judge, and its translations: `Texto 0.`, `Texto 1.` ..."""
    judgements, translations = [], {}
    for number, gender in enumerate(observed):
        verdict = Verdict.JUDGED if gender else Verdict.UNJUDGEABLE
        wanted = expected[number] if expected else M
        entity = entities[number] if entities else f"worker{number}"
        index = indices[number] if indices else number
        item_id = f"item-{number:04}"
        evidence = (f"palabra{number}",) if gender else ()
        judgements.append(
            Judgement(item_id, index, f"g{number}", verdict, wanted, gender, evidence=evidence, entity=entity)
        )
        translations[item_id] = TranslatedText(f"Text {number}.", texts[number] if texts else f"Texto {number}.")
    result = Result(Selection("winomt", "en", "es", "core"), "core", "fake", (), judgements, signature="sig")
    return result, translations


def sheet(name: str, answers: Mapping[int, Gender | None]) -> Sheet:
    """A sheet with these answers by index; `None` is "entity not found"."""
    rows = [
        SheetRow(line, index, "", "", gender is not None, gender)
        for line, (index, gender) in enumerate(answers.items(), start=2)
    ]
    return Sheet(f"{name}.csv", tuple(rows))


def written(path: Path, *lines: str, header: str = HEADER, end: str = "\n", start: str = "") -> Path:
    path.write_bytes((start + end.join([header, *lines]) + end).encode())
    return path
