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
    gap,
    rows_by_direction,
    runs_of,
    share,
    women_and_men,
)
from gendermark.records import Estimate, Gender
from gendermark.reporting import charts
from gendermark.reporting.charts import (
    BLUE,
    HATCHED_ORANGE,
    BarPanel,
    Canvas,
    Figure,
    Sheet,
    confusion,
    figure,
    language,
    professions,
    span,
)
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


def stereotypes(sheet: Sheet) -> Iterator[Figure]:
    """Figure 2 of the paper: accuracy where the gender fits the stereotype of the occupation, and where it does not.

    The heights of the paper's own bars are not printed, and its accuracies are of all sentences.
    """
    panels = []
    for label in sheet.labels:
        found = {language(cell): results[label] for cell, results in sheet.cells.items() if label in results}
        spans = {name: [span(result, "accuracy", part) for part in ("pro", "anti")] for name, result in found.items()}
        if groups := {name: two for name, two in spans.items() if any(two)}:
            panels.append(BarPanel(sheet.title_of(label), groups))
    if not panels:
        return

    def draw(canvas: Canvas) -> None:
        top = charts.legend(canvas, [("fits the stereotype", BLUE), ("goes against it", HATCHED_ORANGE)], 0)
        charts.bars(canvas, panels, (BLUE, HATCHED_ORANGE), "right gender, %", top)

    yield figure(
        sheet.name_of("winomt", "stereotypes"),
        "Gender kept where it fits the stereotype of the occupation, and where it does not",
        f"Share of translations that keep the gender of the person meant ({sheet.about()}); whiskers: "
        f"{sheet.intervals}.",
        "winomt",
        draw,
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
