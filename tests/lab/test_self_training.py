"""Gender-filtered self-training: what is kept is right, balanced, and nothing that is tested on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from gendermark.errors import UserError
from gendermark.lab.parallel import Line, key
from gendermark.lab.self_training import SelfTraining, read_monolingual
from gendermark.records import Translation
from gendermark.runs.run import NO_CONTEXT

DIRECTION = ("en", "es")
SAID = {
    "The nurse hurt herself.": "La enfermera se hizo daño.",
    "The nurse hurt himself.": "La enfermera se hizo daño.",  # the wrong gender
    "My uncle is a nurse.": "Mi tío es enfermero.",
    "My aunt is a mechanic.": "Mi tía es mecánica.",
    "My aunt is a lawyer.": "Mi tía es abogada.",
    "My aunt is a teacher.": "",  # nothing was said
    "The mechanic is tired.": "El mecánico está cansado.",  # tells no gender
    "My aunt is a writer.": "Mi tía es escritora.",  # held out
}


class Asked:
    def __init__(self) -> None:
        self.sources: list[str] = []

    def __call__(self, sources: Sequence[str]) -> list[list[Translation]]:
        self.sources += sources
        return [[Translation(str(n), SAID[source] or None)] for n, source in enumerate(sources)]


def test_what_is_kept_is_right_and_balanced(tmp_path: Path) -> None:
    path = tmp_path / "english.txt"
    path.write_text("\n".join([*SAID, "the nurse hurt herself", ""]) + "\n", encoding="utf-8")
    asked = Asked()
    training = SelfTraining("fake", asked, [str(path)])
    part, counts = training.part(DIRECTION, {key("My aunt is a writer.")}, NO_CONTEXT)
    assert sorted(asked.sources) == sorted(set(SAID) - {"The mechanic is tired.", "My aunt is a writer."})
    assert counts == {
        "system": "fake",
        "n_sentences": 8,
        "n_told_feminine": 4,
        "n_told_masculine": 2,
        "n_right_feminine": 3,
        "n_right_masculine": 1,
        "n_kept_of_each": 1,
    }
    assert len(part.train) == 2
    assert Line("My uncle is a nurse.", "Mi tío es enfermero.") in part.train
    again, _ = training.part(DIRECTION, {key("My aunt is a writer.")}, NO_CONTEXT)
    assert again.train == part.train


def test_nothing_left_says_why(tmp_path: Path) -> None:
    path = tmp_path / "english.txt"
    path.write_text("My aunt is a lawyer.\nThe mechanic is tired.\n", encoding="utf-8")
    with pytest.raises(UserError) as caught:
        SelfTraining("fake", Asked(), [str(path)]).part(DIRECTION, set(), NO_CONTEXT)
    assert str(caught.value) == (
        f"nothing is left of {path} to learn from: 1 of 2 sentences tell somebody's gender, and fake keeps it in 1 of "
        "women and 0 of men; give more text with --monolingual"
    )


def test_sentences_come_from_files_the_grammar_and_data_sets(tmp_path: Path) -> None:
    path = tmp_path / "english.txt"
    path.write_text("One  boat.\tUn barco.\none boat\nTwo.\n", encoding="utf-8")
    assert read_monolingual([str(path)], "en", NO_CONTEXT) == ["One boat.", "Two."]
    found = read_monolingual(["grammar=20", str(path)], "en", NO_CONTEXT)
    assert len(found) == 22


@pytest.mark.parametrize(
    ("text", "language", "said"),
    [
        ("grammar=5", "es", "the grammar writes en sentences, not 'es'; leave out grammar=5"),
        ("grammar=x", "en", "--monolingual takes a number behind grammar="),
        ("tatoeba-en-de", "fr", "tatoeba-en-de has en and de, not 'fr'; leave it out"),
        ("tatoeba", "en", "unknown data set or file of sentences 'tatoeba'"),
    ],
)
def test_texts_that_cannot_be_taken(text: str, language: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        read_monolingual([text], language, NO_CONTEXT)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("direction", [("de", "es"), ("en", "fi")])
def test_directions_that_cannot_be_read(direction: tuple[str, str]) -> None:
    with pytest.raises(UserError) as caught:
        SelfTraining("fake", Asked(), []).check(direction)
    assert str(caught.value).startswith("--self-train keeps translations by the gender of people, which can be read ")
    assert str(caught.value).endswith(f"not {'-'.join(direction)}")
