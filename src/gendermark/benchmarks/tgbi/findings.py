"""What TGBI says about a system."""

from __future__ import annotations

from collections.abc import Sequence

from gendermark.benchmarks.findings import (
    Cell,
    Finding,
    Form,
    Place,
    Presentation,
    Row,
    TwoRates,
    as_percent,
    between,
    direction_of,
    gap,
    rounded,
    runs_of,
)
from gendermark.benchmarks.tgbi.figures import lexemes, sets
from gendermark.records import Gender
from gendermark.result import Result

_FEW_GENDERED = 10.0
"""Below so many women and men of a hundred, which of them are more is of no interest."""
_COLUMNS = {"P_S": "p_s", "woman": "p_w", "man": "p_m", "open": "p_n"}


def findings(result: Result) -> list[Finding]:
    index, imbalance = result.find("tgbi"), result.find("imbalance")
    if index is None:
        return []
    found = [
        Finding(
            "Pronouns that leave the gender open score "
            f"{index.value:.2f}{between(index, '.2f')}, where 0 is one gender only, 0.5 an even share of both, and "
            "1 always neutral."
        )
    ]
    gendered = _gendered(result)
    if gendered is not None and gendered < _FEW_GENDERED:
        return [*found, Finding(f"Hardly any of the people become a man or a woman ({rounded(gendered)} of 100).")]
    return found + gap(
        as_percent(imbalance) if imbalance is not None else None,
        "The people become men more often than women, by {}.",
        "The people become women more often than men, by {}.",
        "The people become men about as often as women; the difference could be chance ({}).",
    )


def _gendered(result: Result) -> float | None:
    """How many of a hundred translations make a man or a woman of the person."""
    if not result.judgements:
        return None
    n = sum(judgement.observed in (Gender.MASCULINE, Gender.FEMININE) for judgement in result.judgements)
    return 100 * n / len(result.judgements)


def forms(cells: Sequence[Cell]) -> list[Form]:
    return [_form(number, cell, len(cells)) for number, cell in enumerate(cells)]


def _form(number: int, cell: Cell, n_cells: int) -> Form:
    runs = runs_of([cell])
    results = [result for result in cell if result is not None]
    names = dict.fromkeys(e.slice for result in results for e in result.estimates if e.metric == "p_s")
    rows = [
        Row(
            [Place(number, run, metric, name, metric == "p_s") for run in runs for metric in _COLUMNS.values()],
            text=name,
        )
        for name in names
    ]
    means = [place for run in runs for place in (Place(number, run, "tgbi"), None, None, None)]
    rows.append(Row(means, text="mean (TGBI)"))
    caption = (
        f"{direction_of(cell)}, in the form of Table 1 of Cho et al. (2019): P_S is 1 where the translations are "
        "neutral and 0 where all have one gender; beside it the shares."
    )
    name = f"tgbi-1-{results[0].selection.direction}" if n_cells > 1 else "tgbi-1"
    return Form(name, caption, list(_COLUMNS), rows, runs, corner="set")


PRESENTATION = Presentation(
    findings=findings,
    forms=forms,
    figures=(sets, lexemes),
    two_rates=TwoRates("p_m:all", "p_w:all", gap="imbalance:all", source_tells=False),
    also_shown=("imbalance:all",),
    beside_published=("tgbi:all",),
    published="gendermark.benchmarks.tgbi",
    hidden_tags=frozenset({"lexeme", "failed"}),
)
