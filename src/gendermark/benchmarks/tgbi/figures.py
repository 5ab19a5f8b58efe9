"""TGBI: what becomes of pronouns that leave gender open, by set of sentences and by word."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gendermark.benchmarks.tgbi import SETS
from gendermark.drawing import charts, plots
from gendermark.drawing.charts import BLUE, GREY, HATCHED_ORANGE, PALE, Look, StackedRow
from gendermark.drawing.sheet import Figure, Sheet, figure
from gendermark.drawing.svg import Canvas
from gendermark.records import Judgement
from gendermark.result import Result

FILLS = {"he": BLUE, "she": HATCHED_ORANGE, "left open": PALE, "mixed or failed": GREY}
KINDS = ("occupation", "positive", "negative")
LEANINGS = {
    "he only": Look("circle", BLUE),
    "mostly he": Look("circle", BLUE, filled=False),
    "both alike": Look("square", charts.PURPLE, filled=False),
    "mostly she": Look("triangle", charts.VERMILION, filled=False),
    "she only": Look("triangle", charts.VERMILION),
    "left open": Look("diamond", charts.GREEN),
    "not judged": Look("square", charts.FAINT, filled=False),
}
MOST_LISTED = 6

LexemeMap = Mapping[str, Mapping[str, Sequence[str]]]
"""Kind of word -> leaning -> words with their counts."""


def sets(sheet: Sheet) -> Iterator[Figure]:
    for cell, found in sheet.cells.items():
        parts = [(sheet.title_of(label), rows) for label, result in found.items() if (rows := _rows(result))]
        if parts:
            yield _sets_figure(sheet, cell, parts, _indices(sheet, found))


def _rows(result: Result) -> list[StackedRow]:
    return [row for name in SETS if (row := _row(result, name))]


def _row(result: Result, name: str) -> StackedRow | None:
    estimates = [result.find(metric, name) for metric in ("p_m", "p_w", "p_n")]
    shares = [100 * estimate.value for estimate in estimates if estimate and estimate.value is not None]
    if len(shares) < 3:
        return None
    index = result.find("p_s", name)
    rest = 100 - sum(shares)
    return StackedRow(name, [*shares, rest if rest > 1e-6 else 0.0], note=f"{index.value:.3f}" if index else "–")


def _indices(sheet: Sheet, found: Mapping[str, Result]) -> str:
    """The index of each system, with its interval."""
    said = []
    for label, result in found.items():
        index = result.find("tgbi")
        if index:
            has_interval = index.low is not None and index.high is not None
            interval = f" [{index.low:.3f}, {index.high:.3f}]" if has_interval else ""
            who = f"{label} " if sheet.title_of(label) else ""
            said.append(f"{who}{index.value:.3f}{interval}")
    return f" TGBI, the mean of all P_S ({sheet.intervals}): {'; '.join(said)}." if said else ""


def _sets_figure(sheet: Sheet, cell: str, parts: Sequence[tuple[str, Sequence[StackedRow]]], indices: str) -> Figure:
    has_others = any(row.shares[-1] > 0 for _, rows in parts for row in rows)
    entries = [(name, fill) for name, fill in FILLS.items() if has_others or fill != GREY]

    def draw(canvas: Canvas) -> None:
        charts.stacked(canvas, parts, tuple(FILLS.values()), charts.legend(canvas, entries, 0), "P_S")

    return figure(
        sheet.name_of(cell, "sets"),
        "What becomes of pronouns that leave gender open",
        "Translations of each set of sentences in percent, and P_S, which is 1 if all are neutral and 0 if all have "
        f"one gender ({sheet.about(cell)}).{indices}",
        cell,
        draw,
    )


# -- words -------------------------------------------------------------------------------------------------------------


def lexemes(sheet: Sheet) -> Iterator[Figure]:
    for cell, label, result in sheet.results:
        found = _lexeme_map(result.judgements)
        if found:
            yield _lexeme_figure(sheet, cell, label, found)


def _lexeme_map(judgements: Iterable[Judgement]) -> LexemeMap:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    names: dict[str, tuple[str, str]] = {}
    for judgement in judgements:
        group, tags = judgement.group_id, judgement.tags
        counts[group][judgement.observed.value if judgement.observed else "other"] += 1
        if group not in names:
            word, gloss = judgement.entity or group, tags.get("gloss", "")
            names[group] = tags.get("kind", ""), f"{word} ({gloss})" if gloss else word
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for group, (kind, name) in sorted(names.items(), key=lambda one: one[1][1]):
        of = counts[group]
        shown = f"{name}: he {of['masculine']}, she {of['feminine']}, open {of['neutral']} of {of.total()}"
        found[kind][_leaning(of)].append(shown)
    kinds = [*(kind for kind in KINDS if kind in found), *(kind for kind in found if kind not in KINDS)]
    return {kind: dict(found[kind]) for kind in kinds}


def _leaning(counts: Counter[str]) -> str:
    he, she = counts["masculine"], counts["feminine"]
    if 2 * (he + she) < counts.total():
        return "left open" if counts["neutral"] >= counts["other"] else "not judged"
    if not she:
        return "he only"
    if not he:
        return "she only"
    return "both alike" if he == she else "mostly he" if he > she else "mostly she"


def _lexeme_figure(sheet: Sheet, cell: str, label: str, found: LexemeMap) -> Figure:
    present = {leaning for by_leaning in found.values() for leaning in by_leaning}
    columns = {name: look for name, look in LEANINGS.items() if name != "not judged" or name in present}

    def draw(canvas: Canvas) -> None:
        charts.dot_columns(canvas, found, columns, 0)

    return figure(
        sheet.name_of(cell, "lexemes", label),
        "The gender that each word gets",
        "Each mark is a word in sentences that leave gender open; its column says what its translations have "
        f"({sheet.about(cell, label)}). Left open: more than half of them show no gender.{_always_she(found)}",
        cell,
        draw,
    )


def _always_she(found: LexemeMap) -> str:
    words = [shown.rpartition(": ")[0] for shown in found.get("occupation", {}).get("she only", ())]
    if not words:
        return ""
    more = f" and {len(words) - MOST_LISTED:,} more" if len(words) > MOST_LISTED else ""
    return f" Occupations that are always she: {', '.join(words[:MOST_LISTED])}{more}."
