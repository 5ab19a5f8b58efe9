"""What translations show about the people whose gender their sources mark: our own examples, a file for each language.

In `references`, braces hold what the masculine and the feminine reference have in that place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gendermark.benchmarks.mt_geneval.items import contrast_of, lists_of
from gendermark.languages.folders import language_of
from gendermark.reading.evidence import decide, gather
from gendermark.reading.sentence import Sentence, marks

EXAMPLES = Path(__file__).parent / "people"
_PLACE = re.compile(r"\{(.*?)\|(.*?)\}")


def _examples() -> Iterator[tuple[str, dict[str, str]]]:
    for path in sorted(EXAMPLES.glob("*.tsv")):
        header, *lines = path.read_text(encoding="utf-8").splitlines()
        for line in lines:
            yield path.stem, dict(zip(header.split("\t"), line.split("\t"), strict=False))


def _read(code: str, row: dict[str, str]) -> tuple[str, list[str]]:
    masculine, feminine = (_PLACE.sub(rf"\{n}", row["references"]) for n in (1, 2))
    right, wrong = (masculine, feminine) if row["gender"] == "m" else (feminine, masculine)
    contrast = contrast_of(right, wrong, code)
    source, text = row["source"], row["translation"]
    sentence = Sentence(text, source, marks(source), row["gender"], contrast, language_of(code), lists_of(code))
    outcome, shown = decide(gather(sentence))
    return outcome, [" ".join(sentence.words[slice(*piece.place)]) for piece in shown]


@pytest.mark.parametrize(("code", "row"), list(_examples()))
def test_example(code: str, row: dict[str, str]) -> None:
    outcome, evidence = _read(code, row)
    assert outcome == row["outcome"], evidence
    assert bool(evidence) == (outcome != "undecided")
