"""Findings and figures of the three GATE benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gendermark.benchmarks import gate_variants as gate
from gendermark.benchmarks.findings import (
    Presentation,
    TwoRates,
    dot_figure,
    marks,
    paper_tables,
    rows_by_system,
    stacked_figure,
    stacked_row,
)
from gendermark.benchmarks.gate_variants.measures import SLICES
from gendermark.reporting import charts
from gendermark.reporting.document import Finding
from gendermark.reporting.phrases import TOO_FEW, against_half, difference, sentence
from gendermark.result import Result

_PUBLISHED = "gendermark.benchmarks.gate_variants"
_HIDDEN = frozenset({"rules", "stereotypes", "stereotype", "changes", "counts"})
_presentation = partial(Presentation, published=_PUBLISHED, hidden_tags=_HIDDEN)
_FEW_READ = 10.0
"""Below this percentage of readable people, their gender is not reported."""


# -- one translation ---------------------------------------------------------------------------------------------------


def variant_findings(result: Result) -> list[Finding]:
    known = "The translation shows a gender for {coverage|of people} whose gender the source does not specify"
    read = result.find("coverage")
    if result.find("masculine_rate") is None or (read is not None and (read.value or 0.0) < _FEW_READ):
        return sentence(result, f"{known}: {TOO_FEW}.")
    become = "{masculine_rate|of people} of unspecified gender are translated as men{state}."
    alike = "In sentences with several such people, all get the same gender in {consistency:several} of cases."
    return [
        *against_half(result, become, "masculine_rate", asked="imbalance"),
        *sentence(result, f"{known}."),
        *difference(
            result,
            "stereotype_gap",
            "Stereotype effect",
            "people are rendered as men more often in male-dominated occupations",
            "people are rendered as men less often in male-dominated occupations",
        ),
        *difference(result, "work_family_gap", "Share of men, occupations minus family members"),
        *sentence(result, alike),
    ]


_SHOWN = "all prof mens-work womens-work fam nat oth subj scmp dobj oprp plur two three".split()  # noqa: SIM905
"""Slices in the order of the figure: all, kinds of nouns, roles, number."""


def people(sheet: charts.Sheet) -> Iterator[charts.Figure]:
    for cell, results in sheet.cells.items():
        rows: list[charts.DotRow] = []
        for label, result in results.items():
            own = [
                charts.DotRow("all people" if part == "all" else SLICES[part], [dots])
                for part in _SHOWN
                if (dots := marks(result, {("masculine_rate", part): charts.MALE}))
            ]
            rows += [*([charts.DotRow(label)] if own and sheet.title_of(label) else []), *own]
        if rows:
            yield dot_figure(
                sheet,
                "people",
                "People of unspecified gender translated as men",
                f"Of people whose gender could be read ({sheet.about(cell)}); dashed line: half. Lines: "
                f"{sheet.intervals}. Men's and women's occupations: held mostly by men, by women, according to "
                f"{charts.LABOUR_STATISTICS}.",
                [charts.DotPanel("translated as men, %", (0, 100), zero=50.0)],
                rows,
                cell=cell,
            )


VARIANTS = _presentation(
    findings=variant_findings,
    may_leave_open=True,
    forms=lambda cells: paper_tables(_PUBLISHED, cells, gate.VARIANTS),
    figures=(people,),
    two_rates=TwoRates("masculine_rate:all", "feminine_rate:all", gap="imbalance:all", source_tells=False),
    also_shown=("masculine_rate:all", "stereotype_gap:all", "work_family_gap:all", "consistency:several"),
    shares_one_scale=False,
)


# -- several translations ----------------------------------------------------------------------------------------------


def alternative_findings(result: Result) -> list[Finding]:
    offered = (
        "{attempt_rate:one|of sentences} about one person of unspecified gender get more than one translation"
        "[, {both_rate:one} a feminine and a masculine one]; for {recall:one} both are offered correctly."
    )
    men, women = (result.find(name, "one") for name in ("only_men", "only_women"))
    only = "{only_men:one|of these sentences} show the person as a man only, {only_women:one} as a woman only."
    several = "In sentences with several such people, {combination_recall:several} of their combinations are offered."
    return [
        *sentence(result, offered),
        *(sentence(result, only) if men is not None and women is not None and (men.value or women.value) else []),
        *sentence(result, several),
    ]


_FILLS = {
    "both genders": charts.BLUE,
    "both, and more changed": charts.GREEN,
    "women only": charts.VERMILION,
    "men only": charts.HATCHED_ORANGE,
    "not read, or nothing": charts.GREY,
}


def offers(sheet: charts.Sheet) -> Iterator[charts.Figure]:
    def with_rest(shares: list[float]) -> list[float]:
        right, both, men, women, _ = shares
        flawed = max(both - right, 0.0)
        return [right, flawed, women, men, max(100 - right - flawed - men - women, 0.0)]

    names = ("recall", "both_rate", "only_men", "only_women", "failed")
    for cell, results in sheet.cells.items():
        bars = [
            stacked_row(
                sheet.title_of(label) or charts.language(cell), [one.find(name, "one") for name in names], with_rest
            )
            for label, one in results.items()
        ]
        if any(bars):
            yield stacked_figure(
                sheet,
                cell,
                "offers",
                "Alternatives offered where the gender of one person is unspecified",
                f"Percent of sentences ({sheet.about(cell)}). Line below a bar: {sheet.intervals} of the first share.",
                [("", [bar for bar in bars if bar])],
                _FILLS,
            )


ALTERNATIVES = _presentation(
    findings=alternative_findings,
    forms=lambda cells: paper_tables(_PUBLISHED, cells, gate.ALTERNATIVES),
    figures=(offers,),
    beside_published=("precision:one", "recall:one", "f_half:one"),
)


# -- a rewriter --------------------------------------------------------------------------------------------------------

_INTO = {"f2m": "feminine translations made masculine", "m2f": "masculine translations made feminine"}


def rewriting_findings(result: Result) -> list[Finding]:
    found = []
    for way in gate.DIRECTIONS:
        tried = result.find("attempt_rate", way)
        rest = f"[; of those rewritten at all ({{attempt_rate:{way}}}), {{precision:{way}}}]"
        exact = f"{{recall:{way}|of {_INTO[way]}}} match the reference exactly"
        found += sentence(result, f"{exact}{rest if tried is not None and tried.value != 100 else ''}.")
    return found


_LOOKS = {
    "recall": charts.Look("circle", charts.BLUE),
    "precision": charts.Look("triangle", charts.VERMILION),
    "f_half": charts.Look("diamond", charts.PURPLE),
}


def directions(sheet: charts.Sheet) -> Iterator[charts.Figure]:
    def rows_of(cell: str, result: Result) -> Iterator[charts.DotRow]:
        for direction in gate.DIRECTIONS:
            if dots := marks(result, {(metric, direction): look for metric, look in _LOOKS.items()}):
                yield charts.DotRow(f"{charts.language(cell)} {direction}", [dots])

    if rows := rows_by_system(sheet, rows_of):
        yield dot_figure(
            sheet,
            "directions",
            "Exactness of gender rewriting",
            f"From feminine to masculine (f2m) and from masculine to feminine (m2f) ({sheet.about()}); lines: "
            f"{sheet.intervals}.",
            [charts.DotPanel("%", (0, 100), better="higher")],
            rows,
            [("F0.5" if metric == "f_half" else metric, look) for metric, look in _LOOKS.items()],
        )


REWRITING = _presentation(
    findings=rewriting_findings,
    forms=lambda cells: paper_tables(_PUBLISHED, cells, gate.REWRITING),
    figures=(directions,),
    leading="f_half",
    beside_published=tuple(f"f_half:{direction}" for direction in gate.DIRECTIONS),
)
