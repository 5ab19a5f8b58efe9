"""The tables of a leaderboard: numbers with their intervals, in columns that can be sorted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gendermark.leaderboard.boards import Board, Standing
from gendermark.leaderboard.submission import Submission, key_from, shown_keys
from gendermark.leaderboard.words import direction_of, labels
from gendermark.markup import Content, Markup, minus, tag
from gendermark.records import Estimate

Key = tuple[str, str]


@dataclass(frozen=True)
class _Column:
    title: str
    is_text: bool = False
    falls: bool = False
    """Whether the largest comes first."""


def board_table(board: Board) -> Markup:
    """The systems of one board, the best first."""
    keys, is_ranked = _columns(board), _is_ranked(board)
    columns = [_Column("rank")] if is_ranked else []
    columns += [_Column("system", is_text=True), _Column("date", is_text=True), *_metric_columns(board, keys)]
    names = labels([standing.submission.system for standing in board.standings])
    rows = []
    for place, standing in enumerate(board.standings):
        cells = [_cell(standing.rank, str(place))] if is_ranked else []
        cells += [*_who(standing, names[standing.submission.system]), *_numbers(standing, keys)]
        rows.append(tag("tr", cells))
    about = board.about
    caption = f"Ordered by “{about.label}”: {about.meaning}"
    return _table(columns, rows, caption, f"{board.benchmark.title}, {direction_of(board)}", sorted_by=0)


def few_table(found: Sequence[Board]) -> Markup:
    """Boards of one system each, below each other."""
    keys = _columns(found[0])
    columns = [_Column("direction", is_text=True), _Column("system", is_text=True), _Column("date", is_text=True)]
    columns += _metric_columns(found[0], keys)
    rows = []
    for board in found:
        for standing in board.standings:
            shown = direction_of(board)
            who = _who(standing, standing.submission.system.label)
            rows.append(tag("tr", _cell(shown, shown, text=True), who, _numbers(standing, keys)))
    return _table(columns, rows, "", f"{found[0].benchmark.title}, directions with one system", sorted_by=None)


def systems_table(found: Sequence[Sequence[Submission]], pages: str) -> Markup:
    """Each system with what is known of it, and where its outputs came from."""
    titles = ("system", "version", "by", "kind", "date", "results", "outputs from", "licence")
    columns = [_Column(title, is_text=title != "results") for title in titles]
    rows = []
    for submissions in found:
        system = submissions[0].system
        sources = dict.fromkeys(one.outputs.source for one in submissions)
        licences = ", ".join(dict.fromkeys(one.outputs.licence for one in submissions))
        links: list[Content] = []
        for number, source in enumerate(sources):
            links += ["; " if number else None, _source(source)]
        notes = dict.fromkeys(one.outputs.note for one in submissions if one.outputs.note)
        links += [tag("small", " (", "; ".join(notes), ")")] if notes else []
        rows.append(
            tag(
                "tr",
                tag("th", tag("a", tag("bdi", system.name), href=f"{pages}/{system.slug}.html"), scope="row",
                    data_key=system.name.lower()),
                *(_cell(text, text, text=True, free=True) for text in (system.version, system.vendor, system.kind)),
                _cell(system.shown_date, system.date, text=True),
                _cell(str(len(submissions)), str(len(submissions))),
                tag("td", links, class_="text free", data_key=" ".join(sources)),
                _cell(licences, licences, text=True, free=True),
            )
        )  # fmt: skip
    return _table(columns, rows, "", "Systems", sorted_by=0)


def _source(source: str) -> Markup:
    if not source.startswith("https://"):
        return tag("bdi", source)
    shown = "/".join(source.removeprefix("https://").split("/")[1:3]) or source
    return tag("a", shown, href=source, rel="noreferrer")


def _columns(board: Board) -> list[Key]:
    """The number it is ordered by, women, men and their gap, and the other headline numbers."""
    headline = {key_from(name) for name in board.benchmark.measures.headline}
    sides = board.benchmark.presentation.sides
    wanted = headline | ({key_from(name) for name in (sides.women, sides.men, sides.gap)} if sides else set())
    keys = [key for key in shown_keys(board.any.result) if key in wanted]
    return [key for key in keys if any(standing.estimate(key) for standing in board.standings)]


def _metric_columns(board: Board, keys: Sequence[Key]) -> list[_Column]:
    benchmark = board.benchmark
    columns = [_Column(benchmark.label(*key), falls=benchmark.describe(key[0]).better == "higher") for key in keys]
    return [*columns, _Column("judged, %", falls=True)]


def _is_ranked(board: Board) -> bool:
    return bool(board.pairs) and board.about.better != "neither"


def _who(standing: Standing, name: str) -> list[Markup]:
    system = standing.submission.system
    link = tag("a", tag("bdi", name), href=f"systems/{system.slug}.html")
    return [
        tag("th", link, scope="row", data_key=name.lower()),
        _cell(system.shown_date, system.date, text=True),
    ]


def _numbers(standing: Standing, keys: Sequence[Key]) -> list[Markup]:
    cells = [_number(standing.estimate(key)) for key in keys]
    first = standing.estimate(keys[0]) if keys else None
    if first is None or not first.n_total:
        return [*cells, _cell("–", "")]
    share = 100 * first.n_judged / first.n_total
    return [*cells, _cell(f"{share:.1f}", f"{share:.6f}")]


def _number(estimate: Estimate | None) -> Markup:
    if estimate is None or estimate.value is None:
        return _cell("–", "")
    shown = [minus(estimate.shown), tag("span", minus(estimate.interval), class_="interval")]
    return tag("td", shown, data_key=f"{estimate.value:.9f}")


def _cell(shown: str, key: str, *, text: bool = False, free: bool = False) -> Markup:
    kinds = " ".join(name for name, holds in (("text", text), ("free", free)) if holds)
    return tag("td", shown, class_=kinds or None, data_key=key)


def _table(
    columns: Sequence[_Column], rows: Sequence[Markup], caption: str, name: str, sorted_by: int | None
) -> Markup:
    heads = [
        tag(
            "th",
            tag("button", column.title, type="button"),
            scope="col",
            class_="text" if column.is_text else None,
            aria_sort="ascending" if number == sorted_by else "none",
            data_kind="text" if column.is_text else "number",
            data_first="descending" if column.falls else None,
        )
        for number, column in enumerate(columns)
    ]
    told = tag("caption", caption) if caption else None
    table = tag("table", told, tag("thead", tag("tr", heads)), tag("tbody", rows), class_="board")
    return tag("div", table, class_="scroll", role="region", aria_label=name, tabindex=0)
