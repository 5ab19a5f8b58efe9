"""Findings and figures of TGBI."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gendermark.benchmarks.findings import Cell, Form, Place, Presentation, Row, TwoRates, slice_tables, stacked_figure
from gendermark.benchmarks.tgbi import SETS
from gendermark.benchmarks.tgbi.measures import by_lexeme
from gendermark.records import Gender, Judgement
from gendermark.reporting import charts
from gendermark.reporting.document import Finding
from gendermark.reporting.phrases import ci, difference, rounded
from gendermark.result import Result

_FEW_GENDERED = 10.0
"""Below this percentage of gendered translations, which gender prevails is not reported."""
_KINDS = ("occupation", "positive", "negative")


def findings(result: Result) -> list[Finding]:
    index = result.find("tgbi")
    if index is None:
        return []
    scale = "0 means one gender only, 0.5 an even split of men and women, 1 always neutral"
    found = [Finding(f"TGBI {index.value:.2f}{ci(index, '.2f')}: {scale}.")]
    if result.judgements:
        shown = sum(judgement.observed in (Gender.MASCULINE, Gender.FEMININE) for judgement in result.judgements)
        percent = 100 * shown / len(result.judgements)
        if percent < _FEW_GENDERED:
            return [*found, Finding(f"Only {rounded(percent)}% of translations show a gender.")]
    more = "people are translated as men more often", "people are translated as women more often"
    return [*found, *difference(result, "imbalance", "Masculine minus feminine translations", *more)]


def forms(cells: Sequence[Cell]) -> list[Form]:
    found = []
    for number, form in enumerate(slice_tables(__package__, "tgbi-1", {name: name for name in SETS}, cells)):
        means = [place for run in form.runs for place in (Place(number, run, "tgbi"), None, None, None)]
        found.append(replace(form, rows=[*form.rows, Row(means, text="mean (TGBI)")]))
    return found


_FILLS = {"he": charts.BLUE, "she": charts.HATCHED_ORANGE, "left open": charts.PALE, "mixed or failed": charts.GREY}
_LEANINGS = {
    "he only": charts.BLUE,
    "mostly he": charts.HATCHED_BLUE,
    "both alike": charts.PURPLE,
    "mostly she": charts.HATCHED_ORANGE,
    "she only": charts.ORANGE,
    "left open": charts.PALE,
    "not judged": charts.GREY,
}
_MOST_LISTED = 6


def sets(sheet: charts.Sheet) -> Iterator[charts.Figure]:
    for cell, results in sheet.cells.items():
        parts = [(sheet.title_of(label), rows) for label, result in results.items() if (rows := _set_rows(result))]
        if parts:
            n = 4 if any(row.shares[-1] > 0 for _, rows in parts for row in rows) else 3
            yield stacked_figure(
                sheet,
                cell,
                "sets",
                "Translations of pronouns of unspecified gender",
                "Translations of each set of sentences in percent, and P_S, which is 1 if all are neutral and 0 if all "
                f"have one gender ({sheet.about(cell)}).{_indices(sheet, results)}",
                [(title, [replace(row, shares=row.shares[:n]) for row in rows]) for title, rows in parts],
                dict(list(_FILLS.items())[:n]),
                "P_S",
            )


def _set_rows(result: Result) -> list[charts.StackedRow]:
    rows = []
    for name in SETS:
        estimates = [result.find(metric, name) for metric in ("p_m", "p_w", "p_n")]
        shares = [100 * estimate.value for estimate in estimates if estimate and estimate.value is not None]
        if len(shares) == 3:
            index, rest = result.find("p_s", name), 100 - sum(shares)
            note = f"{index.value:.3f}" if index else "–"
            rows.append(charts.StackedRow(name, [*shares, rest if rest > 1e-6 else 0.0], note=note))
    return rows


def _indices(sheet: charts.Sheet, results: Mapping[str, Result]) -> str:
    said = []
    for label, result in results.items():
        if index := result.find("tgbi"):
            has_interval = index.low is not None and index.high is not None
            interval = f" [{index.low:.3f}, {index.high:.3f}]" if has_interval else ""
            who = f"{label} " if sheet.title_of(label) else ""
            said.append(f"{who}{index.value:.3f}{interval}")
    return f" TGBI, the mean of all P_S ({sheet.intervals}): {'; '.join(said)}." if said else ""


def lexemes(sheet: charts.Sheet) -> Iterator[charts.Figure]:
    """Translations by word: kind of word -> leaning -> words with counts."""
    for cell, label, result in sheet.results:
        if found := _lexeme_map(result.judgements):
            yield _lexeme_figure(sheet, cell, label, found)


def _lexeme_map(judgements: Sequence[Judgement]) -> Mapping[str, Mapping[str, Sequence[str]]]:
    found: dict[str, dict[str, list[str]]] = {kind: defaultdict(list) for kind in _KINDS}
    for text, kind, gloss, counts in by_lexeme(judgements):
        name = f"{text} ({gloss})" if gloss else text
        found.setdefault(kind, defaultdict(list))[_leaning(counts)].append(name)
    return {kind: {leaning: sorted(names) for leaning, names in own.items()} for kind, own in found.items() if own}


def _leaning(counts: Counter[str]) -> str:
    he, she = counts["masculine"], counts["feminine"]
    if 2 * (he + she) < counts.total():
        return "left open" if counts["neutral"] >= counts["mixed"] + counts["failed"] else "not judged"
    if not she:
        return "he only"
    if not he:
        return "she only"
    return "both alike" if he == she else "mostly he" if he > she else "mostly she"


def _lexeme_figure(
    sheet: charts.Sheet, cell: str, label: str, found: Mapping[str, Mapping[str, Sequence[str]]]
) -> charts.Figure:
    fills = {name: fill for name, fill in _LEANINGS.items() if any(name in leanings for leanings in found.values())}
    rows = []
    for kind, leanings in found.items():
        counts = [len(leanings.get(name, ())) for name in fills]
        rows.append(charts.StackedRow(kind, [100 * n / sum(counts) for n in counts], note=f"{sum(counts):,}"))
    words = found.get("occupation", {}).get("she only", ())
    more = f" and {len(words) - _MOST_LISTED:,} more" if len(words) > _MOST_LISTED else ""
    always_she = f" Occupations always translated as she: {', '.join(words[:_MOST_LISTED])}{more}." if words else ""
    return stacked_figure(
        sheet,
        cell,
        "lexemes",
        "Gender of each word's translations",
        f"Words by their translations in sentences of unspecified gender, in percent ({sheet.about(cell, label)}). "
        f"Left open: more than half of the translations show no gender.{always_she}",
        [("", rows)],
        fills,
        "words",
        label,
    )


PRESENTATION = Presentation(
    findings=findings,
    forms=forms,
    figures=(sets, lexemes),
    two_rates=TwoRates("p_m:all", "p_w:all", gap="imbalance:all", source_tells=False, among="all translations"),
    also_shown=("imbalance:all",),
    beside_published=("tgbi:all",),
    published="gendermark.benchmarks.tgbi",
    hidden_tags=frozenset({"lexeme", "failed"}),
)
