"""Where the words stand that the published rules of WinoMT looked at."""

from __future__ import annotations

import pytest

from gendermark.reading.published import spans_of


@pytest.mark.parametrize(
    ("text", "positions", "expected"),
    [
        ('Der Koch,  "die Ärztin"; er.', [3, 2, 3], ["die", "Ärztin"]),
        ("la grúa , la contable.", [3, 4], ["la", "contable"]),
        ("la grúa , la contable.", [2], []),
        ("", [], []),
    ],
)
def test_spans_of_aligned_words(text: str, positions: list[int], expected: list[str]) -> None:
    assert [text[start:end] for start, end in spans_of(text, positions)] == expected
