"""The leaderboard as static pages: an index with findings, pictures and sortable tables, and the report of each system.

The pages stand alone, as the report does: nothing is fetched, and nothing but their own script can run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path

from gendermark.benchmarks.findings import TwoRates
from gendermark.errors import UserError
from gendermark.io.textfiles import write_text
from gendermark.markup import Content, Markup, joined, minus, tag
from gendermark.records import Estimate
from gendermark.reporting.boards import (
    Board,
    Standing,
    boards,
    dated,
    direction_of,
    headline,
    labels,
    language_of,
    leaders,
    trends,
    unclear_gaps,
)
from gendermark.reporting.charts import (
    BLUE,
    FEMALE,
    MALE,
    Canvas,
    DotPanel,
    DotRow,
    Figure,
    LinePanel,
    Look,
    Span,
    dots,
    figure,
    legend,
    lines,
    span_of,
)
from gendermark.reporting.html import plain_page
from gendermark.reporting.page import render_page
from gendermark.reporting.submission import Submission, check_distinct, find, key_from, on_paper, read, shown_keys
from gendermark.runs.executors import SERIAL, Executor
from gendermark.runs.folder import read_run

INDEX = "index.html"
PAGES = "systems"
Tell = Callable[[str], None]


def build(
    directories: Sequence[Path],
    output: Path,
    executor: Executor = SERIAL,
    tell: Tell = lambda _: None,
    names: Sequence[str] = (),
) -> list[Board]:
    """Write the pages of all run folders and submissions in some directories; give the boards that they show.

    `names` are of the systems of plain run folders, in the order of the directories.
    """
    submissions = [read(cell, name) for cell, name in find(directories, names).items()]
    check_distinct(submissions)
    for one in submissions:
        for fault in on_paper(one):
            raise UserError(f"{fault}; `gendermark leaderboard verify` says more")
    tell(f"{len(submissions):,} submissions; comparing systems")
    made = boards(submissions, executor)
    write_text(output / INDEX, render_index(made))
    pages = {one.directory: one.system.slug for one in submissions}
    called = {one.directory: one.system.name if one.row is None else "" for one in submissions}
    slugs = list(pages.values())
    for slug in slugs:
        if slugs.count(slug) > 1:
            raise UserError(f"two directories hold the system {slug}; give them other names, as NAME=DIR")
    tell(f"writing the pages of {len(pages):,} systems")
    work = [(directory, called[directory], output / PAGES / f"{slug}.html") for directory, slug in pages.items()]
    for _ in executor.each(_write_system, work):
        pass
    return made


def _write_system(where: tuple[Path, str, Path]) -> None:
    """The report of one system, all its benchmarks and languages."""
    directory, name, path = where
    write_text(path, render_page([read_run(directory, name)], home=f"../{INDEX}"))


def render_index(found: Sequence[Board]) -> str:
    title, sentences = headline(found)
    main = joined([_picture(found), *_benchmarks(found), _years(found), _systems(found), _reading(found)])
    header = _header(title, sentences, found)
    return plain_page(title, header, main, script=_own("board.js"), style=_own("board.css"))


@cache
def _own(name: str) -> str:
    return (files("gendermark.reporting") / "assets" / name).read_text(encoding="utf-8")


def _header(title: str, sentences: Sequence[str], found: Sequence[Board]) -> Markup:
    links = [("#picture", "The picture")]
    links += [(f"#{name}", title) for name, title in {b.benchmark.name: b.benchmark.title for b in found}.items()]
    links += [("#years", "Over the years")] if any(map(trends, found)) else []
    links += [("#systems", "Systems"), ("#reading", "How to read it")]
    contents = tag("ul", [tag("li", tag("a", text, href=href)) for href, text in links])
    lead = [tag("p", sentence, class_="lead") for sentence in sentences]
    return joined([tag("h1", title), *lead, tag("nav", contents, aria_label="Contents")])


def _picture(found: Sequence[Board]) -> Content:
    """Of the benchmark with most submissions: each language in which systems can be compared."""
    shown = [b for b in found if b.benchmark.name == found[0].benchmark.name]
    several = [b for b in shown if len(b.standings) > 1] or shown
    unclear = unclear_gaps(shown)
    drawn = [_drawn(standings_figure(board, unclear), direction_of(board)) for board in several]
    caption = tag("p", standings_figure(several[0]).caption, class_="note")
    sides = found[0].benchmark.presentation.sides
    asked = f": of 100 women and of 100 men, how many {sides.what}?" if sides else ""
    heads = [tag("h2", f"{found[0].benchmark.title}{asked}"), tag("p", found[0].benchmark.question), caption]
    return tag("section", heads, tag("div", drawn, class_="pictures"), id="picture")


def _drawn(figure: Figure, title: str) -> Markup:
    # The drawing escapes every text itself; in the page it takes the page's colours, dark ones too.
    drawing = tag("div", Markup(figure.svg), class_="scroll", role="region", aria_label=figure.title, tabindex=0)
    return tag("figure", tag("h3", title), drawing)


def _benchmarks(found: Sequence[Board]) -> list[Markup]:
    sections = []
    for number, name in enumerate(dict.fromkeys(board.benchmark.name for board in found)):
        own = [board for board in found if board.benchmark.name == name]
        several, single = ([b for b in own if (len(b.standings) > 1) is many] for many in (True, False))
        parts: list[Content] = [tag("h2", own[0].benchmark.title), tag("p", own[0].benchmark.question)]
        for board in several:
            parts += [tag("h3", direction_of(board)), tag("p", leaders(board) or None), board_table(board)]
        if number > 0 and several:
            unclear = unclear_gaps(own)
            drawn = [_drawn(standings_figure(board, unclear), direction_of(board)) for board in several]
            parts.append(tag("div", drawn, class_="pictures"))
        if single:
            parts += [tag("h3", "Directions with one system"), few_table(single)]
        sections.append(tag("section", parts, id=name))
    return sections


def _years(found: Sequence[Board]) -> Content:
    told = [sentence for board in found for sentence in trends(board)]
    if not told:
        return None
    drawn = [_drawn(figure, figure.title) for figure in years_figures(found)]
    about = "Significant: p < 0.05 after Holm's correction over all pairs of the board."
    listed = tag("ul", [tag("li", sentence) for sentence in told])
    parts = [tag("h2", "Over the years"), tag("p", about, class_="note"), listed]
    return tag("section", *parts, tag("div", drawn, class_="pictures"), id="years")


def _systems(found: Sequence[Board]) -> Markup:
    by_system: dict[str, list[Submission]] = {}
    for board in found:
        for standing in board.standings:
            by_system.setdefault(standing.submission.system.full_label, []).append(standing.submission)
    table = systems_table([by_system[name] for name in sorted(by_system, key=str.lower)], PAGES)
    return tag("section", tag("h2", "Systems"), table, id="systems")


def _reading(found: Sequence[Board]) -> Markup:
    data = dict.fromkeys(
        f"{b.benchmark.title}: data {b.any.result.origin}, rules "
        f"{b.any.result.signed.get('rules', b.any.result.selection.rules)}"
        for b in found
    )
    lines = [
        "A number stands above its 95 % interval. Intervals go by groups of sentences that belong together (those "
        "about one occupation, for example), not by single sentences.",
        "A rank is a range: “2–5” of 14 means that one system is clearly better and nine are clearly worse. Systems "
        "are compared pair by pair on the same sentences; clear means p below 0.05 after Holm's correction over all "
        "pairs of the board.",
        "Men minus women: how many more men than women of 100 get the right gender. 0 is even; a small gap is worth "
        "little where few are right.",
        "What nobody wrote down is called unrecorded. Without a version (and, of a language model, the prompt) a "
        "result holds for these outputs, and not for what the system says today.",
        "`gendermark leaderboard verify` scores the outputs again and refuses results that do not follow from them.",
    ]
    parts = [tag("h2", "How to read it"), tag("ul", [tag("li", line) for line in lines])]
    signed = tag("ul", [tag("li", tag("code", line)) for line in data])
    return tag("section", *parts, tag("h3", "What was measured"), signed, id="reading")


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


_LEAST = 20.0
"""Points between the ends of a scale of years, so that next to nothing does not look like much."""


def standings_figure(board: Board, unclear: Collection[Path] = ()) -> Figure:
    """One row per system, the best first; gaps of those that are `unclear` stand in brackets."""
    names = labels([standing.submission.system for standing in board.standings])
    sides, about = board.benchmark.presentation.sides, board.about
    is_ranked = _is_ranked(board)
    rows = []
    for standing in board.standings:
        found = _dots(standing, sides) if sides else _one_dot(standing, board)
        gap = standing.estimate(key_from(sides.gap)) if sides else None
        after = minus(f"{gap.value:+.0f}") if gap is not None and gap.value is not None else ""
        after = f"({after})" if after and standing.submission.cell in unclear else after
        name, rank = names[standing.submission.system], standing.rank if is_ranked else ""
        rows.append(DotRow(name, [found], joined=True, before=rank, after=after))
    panel = DotPanel("%" if sides else about.label, (0.0, 100.0) if sides else None, better=about.better)
    heads = ("rank" if is_ranked else "", "gap" if sides else "")

    def draw(canvas: Canvas) -> None:
        top = legend(canvas, [("women", FEMALE), ("men", MALE)], 0.0) + 2 if sides else 0.0
        dots(canvas, [panel], rows, top, heads=heads)

    title = f"{board.benchmark.title}, {direction_of(board)}"
    marks = "Thin lines: 95 % intervals" + (
        "; grey bars: the gap, men minus women, in brackets where it is not significant." if sides else "."
    )
    caption = (
        f"Ordered by “{about.label}” over all sentences, which the tables have. {marks} Rank: the places a system may "
        "hold; where two ranges overlap, it may not be clear which is better."
    )
    return figure(f"board.{board.any.result.cell}.{board.label}", title, caption, board.any.result.cell, draw)


def _dots(standing: Standing, sides: TwoRates) -> list[tuple[Span, Look]]:
    found = []
    for name, look in ((sides.women, FEMALE), (sides.men, MALE)):
        estimate = standing.estimate(key_from(name))
        if estimate is not None and estimate.value is not None:
            found.append((span_of(estimate) or Span(estimate.value), look))
    return found


def _one_dot(standing: Standing, board: Board) -> list[tuple[Span, Look]]:
    estimate = standing.estimate(board.metric)
    if estimate is None or estimate.value is None:
        return []
    return [(span_of(estimate) or Span(estimate.value), Look(colour=BLUE))]


def years_figures(found: Sequence[Board]) -> list[Figure]:
    """Systems that were measured with several dates: a figure for each, a panel for each language."""
    panels: dict[tuple[str, str, tuple[str, ...], str], list[LinePanel]] = {}
    for board in found:
        sides = board.benchmark.presentation.sides
        for places in dated(board):
            own = [board.standings[place] for place in places]
            dates = tuple(standing.submission.system.shown_date for standing in own)
            keys = [(FEMALE, key_from(sides.women)), (MALE, key_from(sides.men))] if sides else []
            keys = keys or [(replace(MALE, colour=BLUE), board.metric)]
            series = [(look, [_span(standing, key) for standing in own]) for look, key in keys]
            if any(span for _, spans in series for span in spans):
                told = f"How many women and men of 100 {sides.what}" if sides else board.about.label
                key = (own[0].submission.system.name, board.benchmark.title, dates, told)
                panels.setdefault(key, []).append(LinePanel(f"into {language_of(board)}", series, _LEAST))
    drawn = []
    for (name, benchmark, dates, told), own_panels in panels.items():

        def draw(canvas: Canvas, panels: Sequence[LinePanel] = own_panels, names: Sequence[str] = dates) -> None:
            has_both = len(panels[0].series) > 1
            lines(canvas, panels, names, legend(canvas, [("women", FEMALE), ("men", MALE)], 0.0) if has_both else 0.0)

        title = f"{name} over the years, {benchmark}"
        drawn.append(figure(f"years.{name}.{benchmark}", title, f"{told}; 95 % intervals.", "", draw))
    return drawn


def _span(standing: Standing, key: tuple[str, str]) -> Span | None:
    found = standing.estimate(key)
    return span_of(found)
