"""What WinoMT says about a system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gendermark.benchmarks.findings import (
    Cell,
    Finding,
    Form,
    Presentation,
    Shown,
    TwoRates,
    against_half,
    became,
    dot_figure,
    gap,
    marks,
    rows_by_direction,
    rows_by_system,
    runs_of,
    share,
    women_and_men,
)
from gendermark.records import Estimate, Gender
from gendermark.reporting.charts import BLUE, DotPanel, DotRow, Figure, Look, Sheet, confusion, language, professions
from gendermark.result import Result


def findings(result: Result) -> list[Finding]:
    told = result.find("accuracy", "mf") or result.find("accuracy")
    if told is None:
        return []
    found = [Finding(f"Where the source gives the gender, {share(told, 'of translations')} keep it.")]
    women, men = result.find("accuracy", "feminine"), result.find("accuracy", "masculine")
    if women is not None and men is not None:
        found.append(women_and_men(women, men, result.find("recall_gap"), "keep their gender"))
    found += gap(
        result.find("delta_s"),
        "Stereotype effect",
        "accuracy is higher where the gender fits the stereotype of the occupation",
        "accuracy is lower where the gender fits the stereotype of the occupation",
        shows=(_with_stereotype("pro", right=True), _with_stereotype("anti", right=False)),
    )
    return found + _open_gender(result.find("masculine_share", "neutral"))


def _with_stereotype(kind: str, *, right: bool) -> Shown:
    return lambda j: j.tags.get("stereotype") == kind and j.observed is not None and j.is_correct is right


def _open_gender(masculine: Estimate | None) -> list[Finding]:
    if masculine is None or masculine.low is None or masculine.high is None:
        return []
    where = "Where the source leaves the gender open and the translation shows one"
    found = against_half(f"{where}, it is masculine in {share(masculine)}", masculine)
    return [replace(found, shows=(became(Gender.NEUTRAL, Gender.MASCULINE),))]


def forms(cells: Sequence[Cell]) -> list[Form]:
    caption = (
        "In the form of Table 2 of Stanovsky et al. (2019): accuracy over all sentences, F1 of men minus F1 of women, "
        "accuracy with minus against the stereotype."
    )
    rows = rows_by_direction(cells, ("accuracy", "delta_g", "delta_s"))
    return [Form("winomt-2", caption, ("Acc", "ΔG", "ΔS"), rows, runs_of(cells))]


_FITS, _AGAINST = Look("square", BLUE), Look("diamond", "#C04E00")


def stereotypes(sheet: Sheet) -> Iterator[Figure]:
    """Accuracy where the gender fits the stereotype of the occupation, and where it does not: Figure 2 of the paper."""
    looks = {("accuracy", "pro"): _FITS, ("accuracy", "anti"): _AGAINST}

    def rows_of(cell: str, result: Result) -> list[DotRow]:
        dots = marks(result, looks)
        return [DotRow(language(cell), [dots], joined=True)] if dots else []

    if rows := rows_by_system(sheet, rows_of):
        yield dot_figure(
            sheet,
            "stereotypes",
            "Gender kept where it fits the stereotype of the occupation, and where it does not",
            f"Share of translations that keep the gender of the person ({sheet.about()}); lines: {sheet.intervals}.",
            [DotPanel("right gender, %", (0, 100), better="higher")],
            rows,
            [("fits the stereotype", _FITS), ("goes against it", _AGAINST)],
        )


PRESENTATION = Presentation(
    findings=findings,
    forms=forms,
    figures=(stereotypes, professions, confusion),
    two_rates=TwoRates("accuracy:masculine", "accuracy:feminine", gap="recall_gap:all"),
    also_shown=("accuracy:feminine", "accuracy:masculine", "masculine_share:neutral", "recall_gap:all"),
    beside_published=("accuracy:all", "delta_g:all", "delta_s:all"),
    published="gendermark.benchmarks.winomt",
    hidden_tags=frozenset({"position"}),
)
