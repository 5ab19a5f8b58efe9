"""Parallel text: read strictly, split by source, and nothing that is held out is learnt."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gendermark.errors import UserError
from gendermark.lab import parallel
from gendermark.lab.grammar import generate
from gendermark.lab.grammar.bias import KAPPA, probability_feminine
from gendermark.lab.parallel import GrammarMix, Line, Part, key, read_part, split

DIRECTION = ("en", "es")


def _ignore(*_: object) -> None:
    pass


def test_the_pairs_of_tatoeba(mirror: Path) -> None:
    assert mirror
    assert parallel.tatoeba_cards() == {f"tatoeba-en-{to}": ("en", to) for to in ("de", "es", "fr")}
    lines = parallel.tatoeba_lines("tatoeba-en-es", _ignore)
    assert len(lines) == 118_964
    assert {line.count("\t") for line in lines} == {1}


def test_files_in_both_forms(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("Go.\tVe.\tx\nGo.\tVete.\n\nGo.\tVe.\ty\n ! \tnada\n", encoding="utf-8")
    assert read_part(str(tmp_path / "a.tsv"), DIRECTION, _ignore).train == [Line("Go.", "Ve."), Line("Go.", "Vete.")]
    (tmp_path / "b.en").write_text("One\u00a0 boat.\nTwo.\n", encoding="utf-8")
    (tmp_path / "b.es").write_text("Un barco.\nDos.\n", encoding="utf-8")
    part = read_part(f"{tmp_path / 'b.en'},{tmp_path / 'b.es'}", DIRECTION, _ignore)
    assert (part.name, part.train) == ("b", [Line("One boat.", "Un barco."), Line("Two.", "Dos.")])
    (tmp_path / "a.txt").write_text("Go on.\tSigue.\n", encoding="utf-8")
    several = parallel.read_parts([str(tmp_path / name) for name in ("a.tsv", "a.txt", "a.txt")], DIRECTION, _ignore)
    assert [part.name for part in several] == ["a", "a~2", "a~3"]


def test_what_is_wrong_with_a_text(tmp_path: Path) -> None:
    def refused(text: str, direction: tuple[str, str] = DIRECTION) -> str:
        with pytest.raises(UserError) as caught:
            read_part(text, direction, _ignore)
        return str(caught.value)

    a, b = tmp_path / "a.en", tmp_path / "a.es"
    a.write_text("One.\nTwo.\n", encoding="utf-8")
    b.write_text("Uno.\n", encoding="utf-8")
    assert refused(f"{a},{b}") == f"{a} has 2 lines and {b} 1; each line needs its translation in the same place"
    assert refused(str(a)).startswith(f"{a}, line 1: has no tab; a line is source, tab, translation")
    a.write_text(" \t \n", encoding="utf-8")
    assert refused(str(a)) == f"{a}: has no sentence with a translation"
    assert refused(str(tmp_path / "none.tsv")).endswith("there is no such file")
    assert refused("tatoeba-en-ez").startswith("unknown data set or file of pairs 'tatoeba-en-ez' (did you mean ")
    assert refused("tatoeba-en-es", ("en", "de")).startswith("tatoeba-en-es has en and es, but en-de is to be trained;")


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
    assert [part.train for part in parallel.without_leaks([first, second])] == [[], [Line("Three.", "Tres.")]]


def test_a_test_set_inside_the_training_set(tmp_path: Path) -> None:
    path = tmp_path / "test.en"
    path.write_text("Two.\tDos.\nFour.\n\n", encoding="utf-8")
    parts = [Part("a", [Line("Two!", "Dos."), Line("two", "dos"), Line("Three.", "Tres.")])]
    with pytest.raises(UserError) as caught:
        parallel.without_test_set(parts, str(path), drop=False)
    assert str(caught.value) == (
        f"2 training pairs have a source of the test set {path}, so that it would measure what was learnt by heart; "
        "--drop-test-pairs trains without them"
    )
    assert parallel.without_test_set(parts, str(path), drop=True)[0].train == [Line("Three.", "Tres.")]


def test_the_grammar_makes_up_its_share() -> None:
    part = parallel.grammar_part(GrammarMix(0.2), n_others=400, n_test=10, direction=DIRECTION, progress=_ignore)
    assert (len(part.train), len(part.test), len(part.valid)) == (100, 10, 5)
    assert part.held_out.isdisjoint({key(line.source) for line in part.train})
    with pytest.raises(UserError, match=r"^the grammar writes en-es only, not en-de; leave out --mix$"):
        parallel.grammar_part(GrammarMix(0.2), 400, 10, ("en", "de"), _ignore)


def test_stereotypes_are_a_dial() -> None:
    for cue, distance in ((0, "none"), (1, "far")):
        none, one, two = (probability_feminine(0.95, cue, distance, dial) for dial in (0, 1, 2))
        assert none < one < two
        none, one, two = (probability_feminine(0.05, cue, distance, dial) for dial in (0, 1, 2))
        assert none > one > two
    assert probability_feminine(0.05, 0, "none", 0) == probability_feminine(0.95, 0, "none", 0) == 0.5
    flat, steep = (list(generate(300, 2, stereotype=dial, wide=True)) for dial in (0.0, 3.0))
    assert [pair.source for pair in flat] == [pair.source for pair in steep]
    assert [pair.target for pair in flat] != [pair.target for pair in steep]
    assert set(KAPPA) >= {"far", "none"}


def test_the_wider_grammar_says_more() -> None:
    plain, wide = (
        {word for pair in generate(3000, 6, wide=one) for word in pair.source.split()} for one in (False, True)
    )
    assert {"nanny", "groundskeeper", "gals", "female"} <= wide
    assert not {"nanny", "groundskeeper", "gals", "female"} & plain
