"""What WinoMT says about a system."""

from __future__ import annotations

from collections.abc import Sequence

from gendermark.benchmarks.winomt.figures import stereotypes
from gendermark.drawing.confusion import confusion
from gendermark.drawing.professions import professions
from gendermark.records import Estimate
from gendermark.result import Result
from gendermark.telling import (
    Cell,
    Finding,
    Form,
    Sides,
    Telling,
    against_half,
    doubt,
    gap,
    rows_by_direction,
    runs_of,
    share,
    women_and_men,
)


def findings(result: Result) -> list[Finding]:
    told = result.find("accuracy", "mf") or result.find("accuracy")
    if told is None:
        return []
    found = [
        Finding(
            f"Where the sentence tells the gender of the person meant, {share(told)} of 100 translations keep "
            f"it.{doubt(told)}"
        )
    ]
    women, men = result.find("accuracy", "feminine"), result.find("accuracy", "masculine")
    if women is not None and men is not None:
        found.append(women_and_men(women, men, result.find("recall_gap"), "keep their gender"))
    found += gap(
        result.find("delta_s"),
        "The gender is kept more often where it fits the stereotype of the occupation, by {}.",
        "The gender is kept less often where it fits the stereotype of the occupation, by {}.",
        "Whether a gender that fits the stereotype is kept more often cannot be told from chance ({}).",
    )
    return found + _open_gender(result.find("masculine_share", "neutral"))


def _open_gender(masculine: Estimate | None) -> list[Finding]:
    if masculine is None or masculine.low is None or masculine.high is None:
        return []
    start = (
        f"Where the sentence leaves the gender open, {share(masculine)} of 100 translations that choose one choose "
        "the masculine"
    )
    return [against_half(start, masculine, "more than half", "fewer than half", "which cannot be told from half")]


def forms(cells: Sequence[Cell]) -> list[Form]:
    caption = (
        "In the form of Table 2 of Stanovsky et al. (2019): accuracy over all sentences, F1 of men minus F1 of women, "
        "accuracy with minus against the stereotype."
    )
    rows = rows_by_direction(cells, ("accuracy", "delta_g", "delta_s"))
    return [Form("winomt-2", caption, ("Acc", "ΔG", "ΔS"), rows, runs_of(cells))]


TELLING = Telling(
    findings=findings,
    forms=forms,
    figures=(stereotypes, professions, confusion),
    sides=Sides("accuracy:feminine", "accuracy:masculine", "recall_gap:all"),
    also_shown=("accuracy:feminine", "accuracy:masculine", "masculine_share:neutral", "recall_gap:all"),
    beside_published=("accuracy:all", "delta_g:all", "delta_s:all"),
    published="gendermark.benchmarks.winomt",
    hidden_tags=frozenset({"position"}),
)
