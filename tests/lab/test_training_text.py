"""Training text: read strictly, split by source, nothing held out is learnt; documents and self-training."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from gendermark.errors import UserError
from gendermark.lab import training_text as text
from gendermark.lab.training_text import CONTEXT, Line, Part, key, read_documents, read_part, split
from gendermark.records import Translation

DIRECTION = ("en", "es")


def _ignore(*_: object) -> None:
    pass


# -- pairs -------------------------------------------------------------------------------------------------------------


def test_files_in_both_forms(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("Go.\tVe.\tx\nGo.\tVete.\n\nGo.\tVe.\ty\n ! \tnada\n", encoding="utf-8")
    assert read_part(str(tmp_path / "a.tsv"), DIRECTION, _ignore).train == [Line("Go.", "Ve."), Line("Go.", "Vete.")]
    (tmp_path / "b.en").write_text("One\u00a0 boat.\nTwo.\n", encoding="utf-8")
    (tmp_path / "b.es").write_text("Un barco.\nDos.\n", encoding="utf-8")
    part = read_part(f"{tmp_path / 'b.en'},{tmp_path / 'b.es'}", DIRECTION, _ignore)
    assert (part.name, part.train) == ("b", [Line("One boat.", "Un barco."), Line("Two.", "Dos.")])
    (tmp_path / "a.txt").write_text("Go on.\tSigue.\n", encoding="utf-8")
    several = text.read_parts([str(tmp_path / name) for name in ("a.tsv", "a.txt", "a.txt")], DIRECTION, _ignore)
    assert [part.name for part in several] == ["a", "a~2", "a~3"]


@pytest.mark.parametrize(
    ("given", "direction", "words"),
    [
        ("two.en,one.es", DIRECTION, "two.en has 2 lines and one.es 1"),
        ("two.en", DIRECTION, "two.en, line 1: has no tab"),
        ("empty.tsv", DIRECTION, "empty.tsv has no sentence with a translation"),
        ("none.tsv", DIRECTION, "no such file"),
        ("tatoeba-en-ez", DIRECTION, "'tatoeba-en-ez' (did you mean "),
        ("tatoeba-en-es", ("en", "de"), "but en-de is to be trained"),
    ],
)
def test_what_is_wrong_with_a_text(
    given: str, direction: tuple[str, str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in (("two.en", "One.\nTwo.\n"), ("one.es", "Uno.\n"), ("empty.tsv", " \t \n")):
        Path(name).write_text(content, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        read_part(given, direction, _ignore)
    assert words in str(caught.value)


def test_all_translations_of_a_source_are_on_one_side() -> None:
    lines = [Line(f"Sentence {n}{end}", f"Frase {n} {m}") for n in range(200) for m, end in enumerate((".", "!", ""))]
    part = split(Part("x", lines), n_test=8)
    assert (len(part.test), len(part.valid), len(part.train)) == (8, 4, 3 * (200 - 12))
    assert part.held_out.isdisjoint({key(line.source) for line in part.train})
    random.Random(1).shuffle(lines)
    again = split(Part("x", lines), n_test=8)
    assert {key(line.source) for line in again.test} == {key(line.source) for line in part.test}
    small = split(Part("x", lines), n_test=2_000)
    assert (len(small.test), len(small.valid)) == (10, 5)


def test_what_one_part_holds_out_no_other_teaches() -> None:
    first = Part("a", [Line("One.", "Uno.")], test=[Line("Two.", "Dos.")])
    second = Part("b", [Line("two", "dos"), Line("Three.", "Tres.")], valid=[Line("ONE!", "¡Uno!")])
    found = text.without([first, second], first.held_out | second.held_out)
    assert [part.train for part in found] == [[], [Line("Three.", "Tres.")]]


def test_a_test_set_inside_the_training_set(tmp_path: Path) -> None:
    path = tmp_path / "test.en"
    path.write_text("Two.\tDos.\nFour.\n\n", encoding="utf-8")
    parts = [Part("a", [Line("Two!", "Dos."), Line("two", "dos"), Line("Three.", "Tres.")])]
    with pytest.raises(UserError, match="2 training pairs"):
        text.read_test_keys(str(path), parts, drop=False)
    keys = text.read_test_keys(str(path), parts, drop=True)
    assert text.without(parts, keys)[0].train == [Line("Three.", "Tres.")]


def test_the_grammar_makes_up_its_share() -> None:
    part = text.grammar_part(0.2, 1.0, n_others=400, n_test=10, direction=DIRECTION, progress=_ignore)
    assert (len(part.train), len(part.test), len(part.valid)) == (100, 10, 5)
    assert part.held_out.isdisjoint({key(line.source) for line in part.train})
    with pytest.raises(UserError, match="en-es only, not en-de"):
        text.grammar_part(0.2, 1.0, 400, 10, ("en", "de"), _ignore)


# -- documents ---------------------------------------------------------------------------------------------------------

TEXT = "One.\tUno.\nTwo.\tDos.\nThree.\tTres.\n\nFour.\tCuatro.\n\nFive.\tCinco.\nSix.\tSeis.\n"


def test_each_sentence_has_the_one_before_it_within_its_document(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(TEXT, encoding="utf-8")
    found = read_documents(str(tmp_path / "a.tsv"), DIRECTION)
    assert [len(document) for document in found.documents] == [3, 2]  # one sentence alone has nothing before it
    everything = set(found.sentences.train)
    part = found.joined(everything, CONTEXT)
    assert part.name == "a+context"
    assert part.train == [
        Line("One. <sep> Two.", "Uno. <sep> Dos."),
        Line("Two. <sep> Three.", "Dos. <sep> Tres."),
        Line("Five. <sep> Six.", "Cinco. <sep> Seis."),
    ]
    without = found.joined(everything - {Line("Two.", "Dos.")}, "joined")
    assert without.train == [Line("Five. Six.", "Cinco. Seis.")]


@pytest.mark.parametrize(
    ("given", "direction", "words"),
    [
        ("alone.tsv", DIRECTION, "no two sentences in a row"),
        ("torn.tsv", DIRECTION, "torn.tsv, line 2: has no tab"),
        ("alone.tsv,torn.tsv", DIRECTION, "has 3 lines and"),
        ("grammar=many", DIRECTION, "'many'"),
        ("grammar=5", ("en", "de"), "en-es only, not en-de"),
        ("gramar", DIRECTION, "'gramar'"),
    ],
)
def test_what_is_wrong_with_documents(
    given: str, direction: tuple[str, str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("alone.tsv").write_text("One.\tUno.\n\nTwo.\tDos.\n", encoding="utf-8")
    Path("torn.tsv").write_text("One.\tUno.\nTwo.\n", encoding="utf-8")
    with pytest.raises(UserError) as caught:
        read_documents(given, direction)
    assert words in str(caught.value)


# -- self-training -----------------------------------------------------------------------------------------------------

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


def test_what_is_kept_is_right_and_balanced(tmp_path: Path) -> None:
    path = tmp_path / "english.txt"
    path.write_text("\n".join([*SAID, "the nurse hurt herself", ""]) + "\n", encoding="utf-8")
    asked: list[str] = []

    def ask(sources: Sequence[str]) -> list[list[Translation]]:
        asked.extend(sources)
        return [[Translation(str(n), SAID[source] or None)] for n, source in enumerate(sources)]

    away = {key("My aunt is a writer.")}
    part, counts = text.self_training_part("fake", ask, [str(path)], DIRECTION, away, _ignore)
    assert sorted(asked) == sorted(set(SAID) - {"The mechanic is tired.", "My aunt is a writer."})
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
    assert text.self_training_part("fake", ask, [str(path)], DIRECTION, away, _ignore)[0].train == part.train
    path.write_text("My aunt is a lawyer.\nThe mechanic is tired.\n", encoding="utf-8")
    with pytest.raises(UserError, match="1 of 2 sentences state a person's gender, and fake keeps it in 1 of women"):
        text.self_training_part("fake", ask, [str(path)], DIRECTION, set(), _ignore)


def test_sentences_come_from_files_and_the_grammar(tmp_path: Path) -> None:
    path = tmp_path / "english.txt"
    path.write_text("One  boat.\tUn barco.\none boat\nTwo.\n", encoding="utf-8")
    assert text.read_monolingual([str(path)], "en", _ignore) == ["One boat.", "Two."]
    assert len(text.read_monolingual(["grammar=20", str(path)], "en", _ignore)) == 22


@pytest.mark.parametrize(
    ("given", "language", "words"),
    [
        ("grammar=5", "es", "not 'es'"),
        ("grammar=x", "en", "'x'"),
        ("tatoeba-en-de", "fr", "has en and de, not 'fr'"),
        ("tatoeba", "en", "'tatoeba'"),
    ],
)
def test_texts_that_cannot_be_taken(given: str, language: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        text.read_monolingual([given], language, _ignore)
    assert words in str(caught.value)
