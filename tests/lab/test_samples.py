"""One sentence with he, she and they."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from gendermark.lab.cells import Cell, drawn_sentences, read_cell
from gendermark.lab.samples import look_at
from gendermark.records import Gender
from lab.toys import N
from outcomes import Outcome


def test_one_sentence_in_all_its_versions(coin: Cell) -> None:
    sentence = drawn_sentences(coin)[0].item
    found = look_at(coin, contrast=sentence.contrast)
    he, she, they = found.versions
    assert [version.gender for version in found.versions] == [Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL]
    assert [(said.count, said.gender) for said in he.translations] == [(N, Gender.MASCULINE)]
    assert [(said.count, said.gender) for said in she.translations] == [(N, Gender.FEMININE)]
    assert {said.gender for said in they.translations} == {Gender.MASCULINE, Gender.FEMININE}
    assert sum(said.share for said in they.translations) == pytest.approx(1)
    assert they.translations[0].count >= they.translations[1].count
    women = next(said.share for said in they.translations if said.gender is Gender.FEMININE)
    assert they.p_feminine == women
    entropy = -women * math.log(women) - (1 - women) * math.log(1 - women)
    assert they.entropies["gender"] == they.entropies["string"] == pytest.approx(entropy)
    assert he.entropies["s3e"] == 0
    assert found == look_at(coin, source=they.source.upper()) == look_at(coin, source=they.source[:-2])


def test_genders_are_read_as_the_run_read_them(runs: Path) -> None:
    cell = read_cell(runs / "random")
    for contrast in list(dict.fromkeys(j.contrast for j in cell.result.judgements))[:3]:
        found = look_at(cell, contrast=contrast)
        members = {j.expected: j for j in cell.result.judgements if j.contrast == contrast}
        for version in found.versions:
            shown = tuple(f"{s.count} x {s.text} ({s.gender or 'undecided'})" for s in version.translations)
            assert shown[:5] == members[version.gender].evidence


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "either --contrast ID or --source TEXT"),
        (("--contrast", "a", "--source", "b"), "either --contrast ID or --source TEXT"),
        (("--contrast", "nowhere"), "has no contrast set 'nowhere'"),
        (("--source", "zebra"), "has 'zebra' in it; see its samples.jsonl"),
        (("--source", "because"), "give a whole sentence, or --contrast"),
    ],
)
def test_refusals_of_samples(study: Callable[..., Outcome], runs: Path, arguments: tuple[str, ...], words: str) -> None:
    outcome = study("samples", runs / "coin", *arguments)
    assert (outcome.exit_code, outcome.out) == (2, "")
    assert words in outcome.err
    assert len(outcome.err.splitlines()) == 1
