"""Text in its order: two sentences at a time, nothing across documents, nothing that is held out."""

from __future__ import annotations

from pathlib import Path

import pytest

from gendermark.errors import UserError
from gendermark.lab.documents import CONTEXT, check_context, read_documents
from gendermark.lab.grammar.generator import core_sources, generate_documents, split_of
from gendermark.lab.parallel import Line
from gendermark.linguistics import context as contexts
from gendermark.linguistics.occupations import bundled_finder

DIRECTION = ("en", "es")
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


def test_two_files_are_the_same_as_one(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(TEXT, encoding="utf-8")
    for place, language in enumerate(DIRECTION):
        lines = [line.split("\t")[place] if line else "" for line in TEXT.splitlines()]
        (tmp_path / f"a.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    both = read_documents(f"{tmp_path / 'a.en'},{tmp_path / 'a.es'}", DIRECTION)
    assert both.documents == read_documents(str(tmp_path / "a.tsv"), DIRECTION).documents


def test_the_grammar_writes_texts_in_which_the_person_has_the_gender_that_is_told() -> None:
    documents = list(generate_documents(300, 900))
    assert documents == list(generate_documents(300, 900))
    assert len({first + second for (first, _), (second, _) in documents}) == 300
    finder = bundled_finder("es")
    n_wrong = n_read = 0
    for (before, antes), (sentence, frase) in documents:
        assert before.endswith(".")
        assert antes.endswith(".")
        assert split_of(f"{before} {sentence}") == "train"
        assert not core_sources() & {before, sentence, f"{before} {sentence}"}
        words = set(before.lower().replace(".", "").split())
        told = "feminine" if words & {"she", "her", "herself"} else "masculine" if words & {"he", "his"} else ""
        noun = next((name for name in ("nurse", "mechanic", "lawyer", "teacher", "writer") if name in sentence), "")
        if told and noun:
            gender = finder.find(frase, noun).gender
            n_read += gender is not None
            n_wrong += gender is not None and gender.value != told
    assert n_read >= 10
    assert n_wrong == 0  # where the bias decides, it would be a good part of them


def test_a_model_is_asked_as_it_was_taught() -> None:
    shown = contexts.show("She left.", "The nurse slept.", CONTEXT)
    assert shown == "She left. <sep> The nurse slept."
    assert contexts.find("Se fue. <sep> La enfermera dormía.", "She left.", "The nurse slept.", CONTEXT) == (
        "La enfermera dormía."
    )


def test_what_is_wrong_with_documents(tmp_path: Path) -> None:
    def refused(text: str, direction: tuple[str, str] = DIRECTION) -> str:
        with pytest.raises(UserError) as caught:
            read_documents(text, direction)
        return str(caught.value)

    (tmp_path / "a.tsv").write_text("One.\tUno.\n\nTwo.\tDos.\n", encoding="utf-8")
    assert refused(str(tmp_path / "a.tsv")).endswith("has no two sentences in a row; an empty line ends a document")
    (tmp_path / "b.tsv").write_text("One.\tUno.\nTwo.\n", encoding="utf-8")
    assert "b.tsv, line 2: has no tab" in refused(str(tmp_path / "b.tsv"))
    (tmp_path / "a.en").write_text("One.\n", encoding="utf-8")
    (tmp_path / "a.es").write_text("Uno.\nDos.\n", encoding="utf-8")
    assert "has 1 lines and" in refused(f"{tmp_path / 'a.en'},{tmp_path / 'a.es'}")
    assert refused("grammar=many") == (
        "--documents takes a number behind grammar=, grammar=20000 for example, not 'many'"
    )
    assert refused("grammar=5", ("en", "de")) == (
        "the grammar writes en-es only, not en-de; leave out --documents grammar=N"
    )
    assert refused("gramar").startswith("unknown text in its order 'gramar'")
    for strategy, said in (
        ("none", "--context 'none' joins no two sentences; write joined, or separator:TEXT"),
        ("separator:", "a separator is written separator:TEXT"),
    ):
        with pytest.raises(UserError, match=said):
            check_context(strategy)
