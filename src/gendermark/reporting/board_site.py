"""The leaderboard as static pages: an index with findings, figures and sortable tables, and a report for each system.

The pages stand alone, as the report does: nothing is fetched, and nothing but their own script can run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from gendermark.errors import UserError
from gendermark.io.textfiles import write_text
from gendermark.reporting import charts, document, html
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
    not_significant,
    trends,
)
from gendermark.reporting.charts import FEMALE, MALE, Canvas, DotPanel, DotRow, Figure, LinePanel, Look, Span, span_of
from gendermark.reporting.document import Block, Bullets, Inline, Link, Number, Paragraph, Section, Small, Table, Text
from gendermark.reporting.page import render_page
from gendermark.reporting.submission import Submission, check_distinct, find, key_from, on_paper, read, shown_keys
from gendermark.runs.executors import SERIAL, Executor
from gendermark.runs.folder import read_run

INDEX = "index.html"
PAGES = "systems"
Key = tuple[str, str]
_LEAST_POINTS = 20.0
"""Between the ends of a scale of dates, so that tiny changes do not look large."""
HOW_TO_READ = (
    "Each value is above its 95% confidence interval, computed over groups of sentences, such as those about one "
    "occupation.",
    "A rank is a range: 2–5 of 14 means that one system is significantly better and nine are significantly worse. "
    "Systems are compared in pairs on the same sentences; significant: p < 0.05 after Holm's correction over all pairs "
    "of the board.",
    "The gender gap is the value for men minus the value for women, in points. A small gap means little where accuracy "
    "is low.",
    "Unrecorded: not documented. Without a version (and, for a language model, the prompt) a result describes these "
    "outputs, not what the system says today.",
    "To check every number against the outputs, run gendermark leaderboard verify.",
)


def build(
    directories: Sequence[Path],
    output: Path,
    executor: Executor = SERIAL,
    tell: Callable[[str], None] = lambda _: None,
    names: Sequence[str] = (),
) -> list[Board]:
    """Write the pages of all run folders and submissions in some directories; give the boards that they show.

    `names` are of the systems of plain run folders, in the order of the directories.
    """
    submissions = [read(cell, name) for cell, name in find(directories, names).items()]
    check_distinct(submissions)
    for one in submissions:
        for fault in on_paper(one):
            raise UserError(f"{fault}; `gendermark leaderboard verify` lists all faults")
    by_directory = {one.directory: one for one in submissions}
    slugs = [one.system.slug for one in by_directory.values()]
    for slug in slugs:
        if slugs.count(slug) > 1:
            raise UserError(f"two directories hold the system {slug}; give them other names, as NAME=DIR")
    tell(f"comparing systems ({len(submissions):,} results)")
    made = boards(submissions, executor)
    write_text(output / INDEX, render_index(made))
    tell(f"writing the pages of {len(slugs):,} systems")
    work = [
        (directory, "" if one.row else one.system.name, output / PAGES / f"{one.system.slug}.html")
        for directory, one in by_directory.items()
    ]
    for _ in executor.each(_write_system, work):
        pass
    return made


def _write_system(where: tuple[Path, str, Path]) -> None:
    """The report of one system, all its benchmarks and languages."""
    directory, name, path = where
    write_text(path, render_page([read_run(directory, name)], home=f"../{INDEX}"))


def render_index(found: Sequence[Board]) -> str:
    title, sentences = headline(found)
    by_benchmark: dict[str, list[Board]] = {}
    for board in found:
        by_benchmark.setdefault(board.benchmark.name, []).append(board)
    first, *others = by_benchmark.values()
    sections = [
        Section("Overview", [*(Paragraph(one, "lead") for one in sentences), *_pictures(first)], id="overview"),
        _benchmark(first, with_pictures=False),
        *(_benchmark(own, with_pictures=True) for own in others),
        *_dates(found),
        Section("Systems", [_systems(found)], id="systems"),
        _reading(found),
    ]
    script, style = html.asset("board.js"), html.asset("board.css")
    return html.render("plain.html", title, script=script, style=style, sections=sections)


# -- sections ----------------------------------------------------------------------------------------------------------


def _pictures(found: Sequence[Board]) -> list[Block]:
    """A figure for each direction in which systems can be compared, side by side."""
    several = [board for board in found if len(board.standings) > 1] or found
    unclear = not_significant(found)
    drawn = [standings_figure(board, unclear) for board in several]
    shown = [document.Figure(one.title, "", one.svg) for one in drawn]
    return [Paragraph(drawn[0].caption, "note"), Section("", shown, kind="pictures")]


def _benchmark(found: Sequence[Board], *, with_pictures: bool) -> Section:
    benchmark = found[0].benchmark
    blocks: list[Block] = [Paragraph(benchmark.question)]
    several = [board for board in found if len(board.standings) > 1]
    for board in several:
        said = [Paragraph(text)] if (text := leaders(board)) else []
        blocks.append(Section(direction_of(board), [*said, board_table(board)], level=3))
    if several and with_pictures:
        blocks += _pictures(found)
    if single := [board for board in found if len(board.standings) == 1]:
        blocks.append(Section("Directions with one system", [_single_table(single)], level=3))
    return Section(benchmark.title, blocks, id=benchmark.name)


def _dates(found: Sequence[Board]) -> list[Section]:
    said = [sentence for board in found for sentence in trends(board)]
    if not said:
        return []
    about = "Significant: p < 0.05 after Holm's correction over all pairs of the board."
    drawn = [document.Figure(one.title, one.caption, one.svg) for one in date_figures(found)]
    blocks: list[Block] = [Bullets(said), Paragraph(about, "note"), Section("", drawn, kind="pictures")]
    return [Section("Changes over time", blocks, id="dates")]


def _reading(found: Sequence[Board]) -> Section:
    data = dict.fromkeys(
        f"{b.benchmark.title}: data {b.any.result.origin}, rules "
        f"{b.any.result.signed.get('rules', b.any.result.selection.rules)}"
        for b in found
    )
    return Section("How to read it", [Bullets(HOW_TO_READ), Bullets(list(data))], id="reading")


# -- tables ------------------------------------------------------------------------------------------------------------


def board_table(board: Board) -> Table:
    """The systems of one board, the best first."""
    keys, is_ranked = _columns(board), _is_ranked(board)
    names = labels([standing.submission.system for standing in board.standings])
    rows = [
        [
            _link(standing.submission, names[standing.submission.system]),
            *([standing.rank] if is_ranked else []),
            standing.submission.system.shown_date,
            *_numbers(standing, keys),
        ]
        for standing in board.standings
    ]
    columns = ["system", *(["rank"] if is_ranked else []), "date", *_titles(board, keys)]
    return Table(columns, rows, f"Ordered by {board.about.label}: {board.about.meaning}")


def _single_table(found: Sequence[Board]) -> Table:
    """Boards of one system each."""
    keys = _columns(found[0])
    rows = []
    for board in found:
        (standing,) = board.standings
        system = standing.submission.system
        name = _link(standing.submission, system.label)
        rows.append([direction_of(board), name, system.shown_date, *_numbers(standing, keys)])
    return Table(["direction", "system", "date", *_titles(found[0], keys)], rows, n_text=2)


def _systems(found: Sequence[Board]) -> Table:
    """Each system with what is known of it, and where its outputs came from."""
    by_system: dict[str, list[Submission]] = {}
    for board in found:
        for standing in board.standings:
            by_system.setdefault(standing.submission.system.full_label, []).append(standing.submission)
    rows: list[list[Text]] = []
    for name in sorted(by_system, key=str.lower):
        own = by_system[name]
        system = own[0].system
        sources: list[Inline] = []
        for source in dict.fromkeys(one.outputs.source for one in own):
            sources += ["; " if sources else None, _source(source)]
        notes = "; ".join(dict.fromkeys(one.outputs.note for one in own if one.outputs.note))
        licences = ", ".join(dict.fromkeys(one.outputs.licence for one in own))
        sources.append(Small(notes) if notes else None)
        facts: list[Text] = [system.version, system.vendor, system.kind, system.shown_date, len(own)]
        rows.append([_link(own[0], system.name), *facts, sources, licences])
    columns = ("system", "version", "vendor", "kind", "date", "results", "outputs from", "licence")
    return Table(columns, rows, n_text=len(columns))


def _source(source: str) -> str | Link:
    if not source.startswith("https://"):
        return source
    return Link("/".join(source.removeprefix("https://").split("/")[1:3]) or source, source)


def _link(submission: Submission, name: str) -> Link:
    return Link(name, f"{PAGES}/{submission.system.slug}.html")


def _columns(board: Board) -> list[Key]:
    """The metric that orders the board, women, men and their gap, and the other headline metrics."""
    sides = board.benchmark.presentation.sides
    names = [*board.benchmark.measures.headline, *((sides.women, sides.men, sides.gap) if sides else ())]
    wanted = {key_from(name) for name in names}
    keys = [key for key in shown_keys(board.any.result) if key in wanted]
    return [key for key in keys if any(standing.estimate(key) for standing in board.standings)]


def _titles(board: Board, keys: Sequence[Key]) -> list[str]:
    return [*(board.benchmark.label(*key) for key in keys), "judged, %"]


def _numbers(standing: Standing, keys: Sequence[Key]) -> list[Text]:
    first = standing.estimate(keys[0]) if keys else None
    share = f"{100 * first.n_judged / first.n_total:.1f}" if first is not None and first.n_total else "–"
    return [*(Number(standing.estimate(key)) for key in keys), share]


def _is_ranked(board: Board) -> bool:
    return bool(board.pairs) and board.about.better != "neither"


# -- figures -----------------------------------------------------------------------------------------------------------


def standings_figure(board: Board, unclear: Collection[Path] = ()) -> Figure:
    """One row per system, the best first; gaps of those that are `unclear` are in brackets."""
    names = labels([standing.submission.system for standing in board.standings])
    sides, about, is_ranked = board.benchmark.presentation.sides, board.about, _is_ranked(board)
    rows = []
    for standing in board.standings:
        gap = standing.estimate(key_from(sides.gap)) if sides else None
        after = charts.signed(gap.value) if gap is not None and gap.value is not None else ""
        after = f"({after})" if after and standing.submission.cell in unclear else after
        dots = [(found, look) for look, key in _looks(board) if (found := span_of(standing.estimate(key)))]
        rank = standing.rank if is_ranked else ""
        rows.append(DotRow(names[standing.submission.system], [dots], joined=True, before=rank, after=after))
    panel = DotPanel("%" if sides else about.label, (0.0, 100.0) if sides else None, better=about.better)

    def draw(canvas: Canvas) -> None:
        top = charts.legend(canvas, [("women", FEMALE), ("men", MALE)] if sides else [], 0.0) + 2
        charts.dots(canvas, [panel], rows, top, heads=("rank" if is_ranked else "", "gap" if sides else ""))

    shown = f"Women and men who {sides.what}, in percent, with 95% CI. " if sides else ""
    brackets = " Gap: men minus women, in brackets where it is not significant." if sides else ""
    ordered = f"Ordered by {about.label}. Rank: the ranks that a system may have, given the comparisons on its board."
    name = f"board.{board.any.result.cell}.{board.label}"
    return charts.figure(name, direction_of(board), f"{shown}{ordered}{brackets}", board.any.result.cell, draw)


def _looks(board: Board) -> list[tuple[Look, Key]]:
    """The metrics that a figure draws: women and men, or the one that orders the board."""
    sides = board.benchmark.presentation.sides
    return [(FEMALE, key_from(sides.women)), (MALE, key_from(sides.men))] if sides else [(MALE, board.metric)]


def date_figures(found: Sequence[Board]) -> list[Figure]:
    """Systems that were measured at several dates: a figure for each, a panel for each language."""
    panels: dict[tuple[str, str, tuple[str, ...], str], list[LinePanel]] = {}
    for board in found:
        sides = board.benchmark.presentation.sides
        for places in dated(board):
            own = [board.standings[place] for place in places]
            series = [(look, [_span(standing, key) for standing in own]) for look, key in _looks(board)]
            if any(span for _, spans in series for span in spans):
                dates = tuple(standing.submission.system.shown_date for standing in own)
                what = f"women and men who {sides.what}, in percent" if sides else board.about.label
                key = (own[0].submission.system.name, board.benchmark.title, dates, what)
                panel = LinePanel(f"into {language_of(board)}", series, _LEAST_POINTS, board.about.better)
                panels.setdefault(key, []).append(panel)
    drawn = []
    for (name, benchmark, dates, what), own_panels in panels.items():

        def draw(canvas: Canvas, panels: Sequence[LinePanel] = own_panels, names: Sequence[str] = dates) -> None:
            entries = [("women", FEMALE), ("men", MALE)] if len(panels[0].series) > 1 else []
            charts.lines(canvas, panels, names, charts.legend(canvas, entries, 0.0))

        title = f"{name} over time, {benchmark}"
        drawn.append(charts.figure(f"dates.{name}.{benchmark}", title, f"{what}; 95% CI.", "", draw))
    return drawn


def _span(standing: Standing, key: Key) -> Span | None:
    return span_of(standing.estimate(key))
