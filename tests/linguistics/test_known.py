"""What is remembered of a word is what was found out, and does not grow for ever."""

from __future__ import annotations

import numpy as np
import pytest

from gendermark import registry
from gendermark.linguistics import alignment, known
from gendermark.linguistics.known import Known
from gendermark.linguistics.words import cut


def test_a_word_is_looked_into_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    lengths = Known(lambda word: asked.append(word) or len(word))
    assert [lengths[word] for word in ("a", "bb", "a")] == [1, 2, 1]
    assert asked == ["a", "bb"]
    monkeypatch.setattr(known, "_MOST", 2)
    assert lengths["ccc"] == 3
    assert len(lengths) == 1


@pytest.mark.parametrize("code", ["he", "ar", "ru", "es"])
def test_a_text_is_cut_as_if_nothing_were_remembered(code: str) -> None:
    language = registry.load("language", code)
    for text in ("הָרוֹפֵא אמר", "أَحمد والطبيبة", "Ёлка врача", "L'artista, él/ella"):
        assert language.cut(text) == [language.normalise(word) for word in cut(text)]
        assert language.cut(text) == language.cut(text)


def test_types_are_the_same_ticked_or_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = np.array([7, 3, 3, 9, 0, 7], dtype=np.int64)
    ticked = alignment._types(cells, 10)
    monkeypatch.setattr(alignment, "_MOST_TO_TICK", 5)
    for one, other in zip(ticked, alignment._types(cells, 10), strict=True):
        assert one.tolist() == other.tolist()
        assert one.dtype == other.dtype
