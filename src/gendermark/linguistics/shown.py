"""A piece of evidence: words of a translation that show a gender, and how surely it is the person's."""

from __future__ import annotations

from dataclasses import dataclass

from gendermark.linguistics.held import Sentence
from gendermark.linguistics.words import Place

SURE, LIKELY, FAINT = 2, 1, 0


@dataclass(frozen=True, slots=True)
class Shown:
    """One piece of evidence: words[start:end] show a gender."""

    place: Place
    is_right: bool
    weight: int


def shown_by(
    sentence: Sentence, start: int, end: int, gender: str, weights: tuple[int | None, int | None]
) -> list[Shown]:
    """Evidence with the weight for the right or for the wrong gender; none where that is None."""
    is_right = gender == sentence.expected
    weight = weights[0] if is_right else weights[1]
    return [] if weight is None else [Shown((start, end), is_right, weight)]
