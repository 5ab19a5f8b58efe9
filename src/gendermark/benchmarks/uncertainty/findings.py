"""Findings and figures of semantic uncertainty."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gendermark.benchmarks.findings import Cell, Examples, Form, Place, Presentation, dot_figure, marks, paper_tables
from gendermark.benchmarks.uncertainty.items import AMBIGUOUS, UNAMBIGUOUS
from gendermark.reading.occupations import core_occupations
from gendermark.records import Estimate, Gender, Judgement, Unit
from gendermark.reporting import charts
from gendermark.reporting.document import Finding
from gendermark.reporting.phrases import against_half, leaning, sentence, state
from gendermark.result import Result

_HARDLY_ANY = 0.1
"""Nats of gender entropy; an even choice between two has 0.69."""


def findings(result: Result) -> list[Finding]:
    neutral, hesitation = result.find("p_neutral", AMBIGUOUS), result.find("h_gender", AMBIGUOUS)
    aware = result.find("awareness_gender")
    found = sentence(
        result, f"Where the source specifies the gender, {{p_right:{UNAMBIGUOUS}|of sampled translations}} are correct."
    )
    if not found or aware is None or aware.low is None:
        return []
    if neutral is not None and neutral.low is not None and neutral.low > 0.5:
        leave = (
            f"Where the source does not specify gender, {{p_neutral:{AMBIGUOUS}|of sampled translations}} are neutral."
        )
        return [*found, *sentence(result, leave)]
    good = (
        "A good system is less certain of the gender where the source leaves it open. This one is less certain there in"
    )
    concluded = f": {state(aware, 50.0)}" if aware.state else ""
    effect = max(-leaning(aware, 50.0), 0.0)
    less = sentence(result, f"{good} {{awareness_gender|of sentence pairs}}, against 50% by chance{concluded}.")
    found += [replace(one, effect=effect, amount=aware) for one in less]
    if hesitation is not None and hesitation.value is not None:
        certain = "; nearly all samples of a sentence agree" if hesitation.value < _HARDLY_ANY else ""
        chosen = (
            f"Where the source does not specify gender, {{p_feminine:{AMBIGUOUS}|of sampled translations}} are feminine"
        )
        found += against_half(result, f"{chosen}{{state}}{certain}.", f"p_feminine:{AMBIGUOUS}")
    return found


def forms(cells: Sequence[Cell]) -> list[Form]:
    made = {
        "log p, right - wrong": lambda result: _log_probability(result, "right", "wrong"),
        "log p, right": lambda result: _log_probability(result, "right"),
        "log p, wrong": lambda result: _log_probability(result, "wrong"),
        "all": _accuracy,
    }
    with_numbers = []
    for form in paper_tables(__package__, cells, made=made):
        places = [value for row in form.rows for value in row.values if isinstance(value, Place)]
        results = [(cells[place.cell][place.run], place) for place in places]
        if any(result and result.find(place.metric, place.slice) for result, place in results):
            with_numbers.append(form)
    return with_numbers


def _log_probability(result: Result, *sides: str) -> Estimate | None:
    """Forced choice: mean log-probability of a side, or of the first minus the second."""
    for test in result.tests:
        found = [test.details.get(f"log_probability_{side}") for side in sides]
        means = [mean for mean in found if mean is not None]
        if test.name == "forced-choice" and len(means) == len(sides):
            n = test.details["n_total"]
            return Estimate(test.name, "all", means[0] - sum(means[1:]), None, None, 0, n, n, Unit.NATS)
    return None


def _accuracy(result: Result) -> Estimate | None:
    told, left_open = result.find("p_right", UNAMBIGUOUS), result.find("p_neutral", AMBIGUOUS)
    if told is None or told.value is None or left_open is None or left_open.value is None:
        return None
    n = told.n_judged + left_open.n_judged
    value = (told.value * told.n_judged + left_open.value * left_open.n_judged) / n
    return replace(told, slice="all", value=value, low=None, high=None, n_judged=n, fixed_low=None, fixed_high=None)


def examples(judgements: Sequence[Judgement]) -> Examples | None:
    """The he, she and they versions of the sentence with the largest gender differences between samples."""
    by_contrast: dict[str, dict[str, tuple[int, float]]] = {}
    for place, judgement in enumerate(judgements):
        entropy = judgement.measures.get("h_gender", 0.0)
        by_contrast.setdefault(judgement.contrast, {})[judgement.expected or "none"] = place, entropy
    versions = [members for members in by_contrast.values() if {*Gender} <= set(members)]
    if not versions:
        return None
    chosen = max(versions, key=lambda members: sum(entropy for _, entropy in members.values()))
    return Examples(
        "Layout of Table 5 of Staliūnaitė et al. (2026): versions of one sentence.",
        [judgements[chosen[gender][0]].item_id for gender in Gender],
        {"H gender": "h_gender", "H string": "h_string", "feminine": "p_feminine"},
    )


_SIDES = {"unambiguous": charts.Look("circle", charts.BLUE, filled=False), "ambiguous": charts.FEMALE}
_ENTROPIES = {"h_gender": "gender", "h_s3e": "meaning (S3E)", "h_string": "words"}
_MOST_OCCUPATIONS = 40


def entropies(sheet: charts.Sheet) -> Iterator[charts.Figure]:
    rows: list[charts.DotRow] = []
    for cell, results in sheet.cells.items():
        dots = {
            label: [marks(result, {(kind, part): look for part, look in _SIDES.items()}) for kind in _ENTROPIES]
            for label, result in results.items()
        }
        own = [charts.DotRow(label, found) for label, found in dots.items() if any(found)]
        rows += [*([charts.DotRow(charts.language(cell))] if own and len(sheet.cells) > 1 else []), *own]
    if rows:
        yield dot_figure(
            sheet,
            "entropy",
            "Uncertainty where the source specifies gender, and where it does not",
            "Mean entropy of sampled translations in nats: of the gender of the noun, of meaning (similarity-based), "
            f"and of whole texts ({sheet.about()}). A system that recognises ambiguity is less certain there: the "
            f"triangle lies to the right. Lines: {sheet.intervals}.",
            [charts.DotPanel(title, zero=0.0, at_least=(0.0, 0.1)) for title in _ENTROPIES.values()],
            rows,
            [("gender given", _SIDES["unambiguous"]), ("gender open", _SIDES["ambiguous"])],
        )


def feminine_by_occupation(sheet: charts.Sheet) -> Iterator[charts.Figure]:
    """P(feminine) of the occupations with the most sentences of unspecified gender."""
    share_of_women = {name: percent / 100 for name, _, percent in core_occupations()}
    for cell, label, result in sheet.results:
        shares: dict[str, list[float]] = defaultdict(list)
        for judgement in result.judgements:
            if charts.is_open(judgement) and "p_feminine" in judgement.measures and judgement.entity in share_of_women:
                shares[judgement.entity].append(judgement.measures["p_feminine"])
        kept = sorted(shares, key=lambda name: (-len(shares[name]), name))[:_MOST_OCCUPATIONS]
        if kept:
            means = {name: sum(shares[name]) / len(shares[name]) for name in kept}
            yield _occupation_figure(sheet, cell, label, means, share_of_women)


def _occupation_figure(
    sheet: charts.Sheet, cell: str, label: str, means: Mapping[str, float], share_of_women: Mapping[str, float]
) -> charts.Figure:
    rows = [
        charts.DotRow(
            name,
            [[(charts.Span(share_of_women[name]), charts.PUBLISHED), (charts.Span(means[name]), charts.FEMALE)]],
            joined=True,
        )
        for name in sorted(means, key=lambda name: (-means[name], -share_of_women[name], name))
    ]

    def draw(canvas: charts.Canvas) -> None:
        top = charts.legend(
            canvas, [("sampled translations", charts.FEMALE), ("women in the occupation", charts.PUBLISHED)], 0
        )
        charts.dots(canvas, [charts.DotPanel("", (0, 1), zero=0.5)], rows, top, size=charts.SMALL, tight=8.4)

    n_fewer = sum(means[name] < share_of_women[name] for name in means)
    return charts.figure(
        sheet.name_of(cell, "occupations", label),
        "P(feminine) by occupation, where the source does not specify gender",
        f"Feminine share of sampled translations, below the share of women in {n_fewer} of {len(means)} occupations "
        f"({sheet.about(cell, label)}; {charts.LABOUR_STATISTICS}).",
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
