"""The gender that a translation shows for each person of its source, through `gendermark.read_people`."""

from __future__ import annotations

import pytest

import gendermark
from cases import read_cases
from gendermark.errors import UserError


@pytest.mark.parametrize("example", read_cases("reading/target.tsv"))
def test_people_in_a_translation(example: list[str]) -> None:
    language, source, translation, *asked = example
    people = {person.text: person for person in gendermark.read_people(source, translation, to=language)}
    for one in asked:
        text, gender, *words = one.split()
        person = people[text]
        assert person.target_gender == {"m": "masculine", "f": "feminine", "-": None}[gender]
        assert person.target_state == ("not_shown" if gender == "-" else "shown")
        shown = [translation[start:end] for start, end in person.evidence]
        assert all(any(word in span for span in shown) for word in words)


def test_what_contradicts_is_mixed() -> None:
    (person,) = gendermark.read_people("She is a director.", "Ella es un director.", to="es")
    assert (person.source_gender, person.target_gender) == ("feminine", "mixed")


def test_other_languages_are_refused() -> None:
    with pytest.raises(UserError, match="'ja'"):
        gendermark.read_people("A doctor.", "医者です。", to="ja")
