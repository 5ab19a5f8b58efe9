"""What semantic uncertainty says about a system."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gendermark.benchmarks.findings import Cell, Examples, Form, Presentation, dot_figure, marks, rows_by_run
from gendermark.benchmarks.uncertainty.items import AMBIGUOUS, UNAMBIGUOUS
from gendermark.benchmarks.uncertainty.measures import PAIRED
from gendermark.reading.occupations import core_occupations
from gendermark.records import Gender, Judgement
from gendermark.reporting import charts
from gendermark.reporting.charts import (
    BLUE,
    FEMALE,
    LABOUR_STATISTICS,
    PUBLISHED,
    SMALL,
    Canvas,
    DotPanel,
    DotRow,
    Figure,
    Look,
    Sheet,
    Span,
    figure,
    is_open,
    language,
)
from gendermark.reporting.document import Finding
from gendermark.reporting.phrases import against_half, leaning, sentence, state
from gendermark.result import Result

_HARDLY_ANY = 0.1
"""Nats of gender entropy; an even choice between two has 0.69."""


def findings(result: Result) -> list[Finding]:
    neutral, hesitation = result.find("p_neutral", AMBIGUOUS), result.find("h_gender", AMBIGUOUS)
    aware = result.find("awareness_gender")
    found = sentence(
        result, f"Where the source gives the gender, {{p_right:{UNAMBIGUOUS}|of sampled translations}} have it."
    )
    if not found or aware is None or aware.low is None:
        return []
    if neutral is not None and neutral.low is not None and neutral.low > 0.5:
        leave = f"Where the source leaves the gender open, {{p_neutral:{AMBIGUOUS}|of translations}} do too."
        return [*found, *sentence(result, leave)]
    less = "The system is less certain of the gender where the source leaves it open in {awareness_gender} of pairs"
    concluded = f"; {state(aware, 50.0)}" if aware.state else ""
    effect = max(-leaning(aware, 50.0), 0.0)
    found += [replace(one, effect=effect) for one in sentence(result, f"{less} (50% by chance{concluded}).")]
    if hesitation is not None and hesitation.value is not None:
        certain = "; nearly all samples of a sentence agree" if hesitation.value < _HARDLY_ANY else ""
        chosen = f"Where the gender is open, {{p_feminine:{AMBIGUOUS}|of sampled translations}} are feminine"
        found += against_half(result, f"{chosen}{{state}}{certain}.", f"p_feminine:{AMBIGUOUS}")
    return found


_SURPRISE = {
    "accuracy": ("p_right", UNAMBIGUOUS),
    "ΔI (S3E)": ("delta_i_s3e", "all"),
    "ΔI (gender)": ("delta_i_gender", "all"),
    "ΔI (string)": ("delta_i_string", "all"),
}


_PAPER = "of Staliūnaitė et al. (2026)"
_SHOWN = {"s3e": "S3E", "gender": "gender", "semantic": "semantic"}


def forms(cells: Sequence[Cell]) -> list[Form]:
    """Those of the paper's tables that have a number."""

    def form(number: str, caption: str, columns: Mapping[str, tuple[str, str]]) -> None:
        metrics = list(columns.values())
        if any(result.find(*metric) for cell in cells for result in cell if result for metric in metrics):
            found.append(Form(f"uncertainty-{number}", caption, list(columns), rows_by_run(cells, metrics)))

    found: list[Form] = []
    form(
        "3",
        f"In the form of Table 3 {_PAPER}: accuracy of samples where the source gives the gender, and how much less "
        "surprising the right than the wrong translation is (below 0 is good).",
        _SURPRISE,
    )
    for kind in ("s3e", "gender"):
        form(
            f"4-{kind}",
            f"In the form of Table 4 {_PAPER}: entropy ({_SHOWN[kind]}) of the samples where the source gives the "
            "gender and where it leaves it open, in versions of the same sentences; the relative difference (below 0: "
            "less sure where it is open, as it should be); and the percentage of pairs where it is so.",
            {
                "given": (f"h_{kind}", PAIRED[UNAMBIGUOUS]),
                "open": (f"h_{kind}", PAIRED[AMBIGUOUS]),
                "ΔH": (f"delta_h_{kind}", "all"),
                "% of pairs": (f"awareness_{kind}", "all"),
            },
        )
    form(
        "12",
        f"In the form of Table 12 {_PAPER}: accuracy of samples, with and against the stereotype of the occupation.",
        {"given": ("p_right", UNAMBIGUOUS), "pro": ("p_right", "pro"), "anti": ("p_right", "anti")},
    )
    parts = {"all": "all", "pro": "pro", "anti": "anti", "given": UNAMBIGUOUS, "open": AMBIGUOUS}
    form(
        "13",
        f"In the form of Table 13 {_PAPER}, with chrF for COMET: quality of the samples against the right reference; "
        "where the gender is open, the better of both.",
        {shown: ("chrf", part) for shown, part in parts.items()},
    )
    form(
        "14",
        f"In the form of Table 14 {_PAPER}: mean surprisal of the right and of the wrong reference, in nats.",
        {
            f"{shown}, {side}": (f"i_{side}_{kind}", "all")
            for kind, shown in _SHOWN.items()
            for side in ("right", "wrong")
        },
    )
    for kind, shown in _SHOWN.items():
        form(
            f"20-{kind}",
            f"In the form of Tables 17 and 20 {_PAPER}: entropy ({shown}) of all sentences, with the mean standard "
            "error of one (SE). Where the two kinds are not versions of the same sentences, ΔH also shows how these "
            "differ.",
            {
                "given": (f"h_{kind}", UNAMBIGUOUS),
                "SE, given": (f"h_{kind}_se", UNAMBIGUOUS),
                "open": (f"h_{kind}", AMBIGUOUS),
                "SE, open": (f"h_{kind}_se", AMBIGUOUS),
                "ΔH, pooled": (f"delta_h_pooled_{kind}", "all"),
            },
        )
    return found


def examples(judgements: Sequence[Judgement]) -> Examples | None:
    """The he, she and they versions of one sentence: the one where the genders of the samples differ most."""
    by_contrast: dict[str, dict[str, tuple[int, float]]] = {}
    for place, judgement in enumerate(judgements):
        entropy = judgement.measures.get("h_gender", 0.0)
        by_contrast.setdefault(judgement.contrast, {})[judgement.expected or "none"] = place, entropy
    versions = [members for members in by_contrast.values() if {*Gender} <= set(members)]
    if not versions:
        return None
    chosen = max(versions, key=lambda members: sum(entropy for _, entropy in members.values()))
    return Examples(
        "In the form of their Table 5: the versions of one sentence.",
        [judgements[chosen[gender][0]].item_id for gender in Gender],
        {"H gender": "h_gender", "H string": "h_string", "feminine": "p_feminine"},
    )


_SIDES = {"unambiguous": Look("circle", BLUE, filled=False), "ambiguous": FEMALE}
_ENTROPIES = {"h_gender": "gender", "h_s3e": "meaning (S3E)", "h_string": "words"}
_MOST_OCCUPATIONS = 40


def entropies(sheet: Sheet) -> Iterator[Figure]:
    """Figure 2 of the paper, without its bins of quality."""
    rows: list[DotRow] = []
    for cell, results in sheet.cells.items():
        dots = {
            label: [marks(result, {(kind, part): look for part, look in _SIDES.items()}) for kind in _ENTROPIES]
            for label, result in results.items()
        }
        own = [DotRow(label, found) for label, found in dots.items() if any(found)]
        rows += [*([DotRow(language(cell))] if own and len(sheet.cells) > 1 else []), *own]
    if rows:
        yield dot_figure(
            sheet,
            "entropy",
            "Uncertainty where the source gives the gender, and where it leaves it open",
            "Mean entropy of sampled translations in nats: of the gender of the noun, of meanings by degrees, and of "
            f"whole texts ({sheet.about()}). Who notices what is left open is less sure there: the triangle lies to "
            f"the right. Lines: {sheet.intervals}.",
            [DotPanel(title, zero=0.0, at_least=(0.0, 0.1)) for title in _ENTROPIES.values()],
            rows,
            [("gender given", _SIDES["unambiguous"]), ("gender open", _SIDES["ambiguous"])],
        )


def feminine_by_occupation(sheet: Sheet) -> Iterator[Figure]:
    """P(feminine) of the occupations with the most sentences, where the gender is open."""
    share_of_women = {name: percent / 100 for name, _, percent in core_occupations()}
    for cell, label, result in sheet.results:
        shares: dict[str, list[float]] = defaultdict(list)
        for judgement in result.judgements:
            if is_open(judgement) and "p_feminine" in judgement.measures and judgement.entity in share_of_women:
                shares[judgement.entity].append(judgement.measures["p_feminine"])
        kept = sorted(shares, key=lambda name: (-len(shares[name]), name))[:_MOST_OCCUPATIONS]
        if kept:
            means = {name: sum(shares[name]) / len(shares[name]) for name in kept}
            yield _occupation_figure(sheet, cell, label, means, share_of_women)


def _occupation_figure(
    sheet: Sheet, cell: str, label: str, means: Mapping[str, float], share_of_women: Mapping[str, float]
) -> Figure:
    rows = [
        DotRow(name, [[(Span(share_of_women[name]), PUBLISHED), (Span(means[name]), FEMALE)]], joined=True)
        for name in sorted(means, key=lambda name: (-means[name], -share_of_women[name], name))
    ]

    def draw(canvas: Canvas) -> None:
        top = charts.legend(canvas, [("sampled translations", FEMALE), ("women in the occupation", PUBLISHED)], 0)
        charts.dots(canvas, [DotPanel("", (0, 1), zero=0.5)], rows, top, size=SMALL, tight=8.4)

    n_fewer = sum(means[name] < share_of_women[name] for name in means)
    return figure(
        sheet.name_of(cell, "occupations", label),
        "P(feminine) of each occupation where the gender is left open",
        f"Feminine share of sampled translations, below the share of women in {n_fewer} of {len(means)} occupations "
        f"({sheet.about(cell, label)}; {LABOUR_STATISTICS}).",
        cell,
        draw,
    )


PRESENTATION = Presentation(
    findings=findings,
    forms=forms,
    figures=(entropies, feminine_by_occupation),
    beside_published=("h_gender:unambiguous", "h_gender:ambiguous"),
    published="gendermark.benchmarks.uncertainty",
    examples=examples,
    hidden_tags=frozenset({"position"}),
    shares_one_scale=False,
)
