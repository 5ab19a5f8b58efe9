"""The order of systems and how sure it is: fakes of known bias must stand where their bias puts them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import gendermark
from gendermark.errors import UserError
from gendermark.reporting.leaderboard import Board, boards, headline, leaders, standings_figure, trends
from gendermark.reporting.submission import (
    OutputFacts,
    SystemFacts,
    check_distinct,
    find,
    of_run,
    read,
    write,
)


@pytest.fixture(scope="module")
def found(made: Path) -> list[Board]:
    return boards([read(cell) for cell in find([made])])


def test_the_order_follows_the_bias(found: list[Board]) -> None:
    first = found[0]
    assert first.any.result.cell == "simplegen.en-es"
    names = [standing.system.full_label for standing in first.standings]
    assert names == ["Right 1.0 (2025)", "Halfway (2024–25)", "Halfway (2019)", "Only Men"]
    assert [standing.rank for standing in first.standings] == ["1", "2", "3", "4"]


def test_systems_that_cannot_be_told_apart_share_their_ranks(tmp_path: Path) -> None:
    """Two equally good ones and a bad one."""
    selection = gendermark.Selection("terms", "en", "es", data="core")
    for name, spec in {"A": "fake:right?p=0.9", "B": "fake:right?p=0.9&seed=1", "C": "fake:masculine"}.items():
        gendermark.run(spec, [selection], directory=tmp_path / name)
        for scored in of_run(tmp_path / name, SystemFacts(name)):
            write(tmp_path / "results", SystemFacts(name), OutputFacts(), scored)
    (board,) = boards([read(cell) for cell in find([tmp_path / "results"])])
    assert {s.system.name: s.rank for s in board.standings} == {"A": "1–2", "B": "1–2", "C": "3"}
    assert leaders(board).startswith("No system is significantly better than ")


def test_without_a_number_there_is_no_rank(found: list[Board]) -> None:
    """TGBI is a mean over all sets, of which these have one."""
    last = next(board for board in found if board.benchmark.name == "tgbi")
    assert [standing.rank for standing in last.standings] == ["–", "–"]


def test_p_values_are_corrected_over_all_pairs_of_a_board(found: list[Board]) -> None:
    pairs = list(found[0].pairs.values())
    assert len(pairs) == 6
    raw = sorted(pair.p_value for pair in pairs if pair.p_value is not None)
    smallest = min(pair.p_adjusted for pair in pairs if pair.p_adjusted is not None)
    assert smallest == pytest.approx(min(1.0, 6 * raw[0]))


def test_the_headline_counts_what_is_clear(found: list[Board]) -> None:
    """Of six results two are all men; the others favour nobody, or not clearly."""
    title, sentences = headline(found)
    assert title == "Women and men in translation: significant differences in 2 of 6 results"
    assert "4 systems, 2 languages, 6 results. Men keep their gender significantly more often" in sentences[0]
    assert "than women in 2 of them" in sentences[0]
    assert "Between 0% (Only Men, Spanish) and 100% (" in sentences[1]


def test_a_system_of_two_dates_has_a_trend(found: list[Board]) -> None:
    (told,) = trends(found[0])
    assert told.startswith("Halfway, Spanish, ")
    assert told.endswith(" in 2024–25: significantly better.")
    assert trends(found[1]) == []


def test_a_system_stands_once_on_a_board(made: Path) -> None:
    one = read(next(iter(find([made]))))
    with pytest.raises(UserError, match=r"are both .* NAME=DIR"):
        check_distinct([one, replace(one, cell=Path("elsewhere"))])


def test_gaps_that_could_be_chance_stand_in_brackets(found: list[Board]) -> None:
    spanish = [board for board in found if board.any.result.cell.startswith("simplegen")]
    sides = spanish[0].benchmark.presentation.sides
    assert sides is not None
    verdicts = [(f"{v.metric}:{v.slice}", v.state) for one in spanish[0].standings for v in one.result.verdicts]
    n_unclear = sum(name in (sides.gap, f"{sides.gap}:all") and state != "significant" for name, state in verdicts)
    drawn = standings_figure(spanish[0]).svg
    assert 0 < n_unclear < len(spanish[0].standings)
    assert drawn.count(">(") == n_unclear
    assert ">+100<" in drawn, "who makes everybody a man does so clearly"
