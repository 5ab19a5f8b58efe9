"""The leaderboard as static pages: an index that says what was found, and the report of each system.

The pages stand alone, as the report does: nothing is fetched, and nothing but their own script can run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from gendermark.drawing.sheet import Figure
from gendermark.errors import UserError
from gendermark.io.textfiles import write_text
from gendermark.leaderboard import pictures, words
from gendermark.leaderboard.boards import Board, boards
from gendermark.leaderboard.submission import Submission, check_distinct, find, read
from gendermark.leaderboard.tables import board_table, few_table, systems_table
from gendermark.leaderboard.verification import on_paper
from gendermark.markup import Content, Markup, joined, tag
from gendermark.report.page import plain_page, render_page
from gendermark.runs.executors import SERIAL, Executor
from gendermark.runs.folder import read_run

INDEX = "index.html"
PAGES = "systems"
Tell = Callable[[str], None]


def build(
    directories: Sequence[Path], output: Path, executor: Executor = SERIAL, tell: Tell = lambda _: None
) -> list[Board]:
    """Write the pages of all submissions in some directories; gives the boards that they show."""
    submissions = [read(cell) for cell in find(directories)]
    check_distinct(submissions)
    for one in submissions:
        for fault in on_paper(one):
            raise UserError(f"{fault}; `gendermark leaderboard verify` says more")
    tell(f"{len(submissions):,} submissions; comparing systems")
    made = boards(submissions, executor)
    write_text(output / INDEX, render_index(made))
    pages = {one.directory: one.system.slug for one in submissions}
    slugs = list(pages.values())
    for slug in slugs:
        if slugs.count(slug) > 1:
            raise UserError(f"two directories hold the system {slug}; put its submissions into one")
    tell(f"writing the pages of {len(pages):,} systems")
    work = [(str(directory), output / PAGES / f"{slug}.html") for directory, slug in pages.items()]
    for _ in executor.each(_write_system, work):
        pass
    return made


def _write_system(where: tuple[str, Path]) -> None:
    """The report of one system, all its benchmarks and languages."""
    directory, path = where
    write_text(path, render_page([read_run(directory)], home=f"../{INDEX}"))


def render_index(found: Sequence[Board]) -> str:
    headline = words.headline(found)
    main = joined([_picture(found), *_benchmarks(found), _years(found), _systems(found), _reading(found)])
    header = _header(headline, found)
    return plain_page(headline.title, header, main, script=_own("board.js"), style=_own("board.css"))


@cache
def _own(name: str) -> str:
    return (files("gendermark.leaderboard") / "assets" / name).read_text(encoding="utf-8")


def _header(headline: words.Headline, found: Sequence[Board]) -> Markup:
    links = [("#picture", "The picture")]
    links += [(f"#{name}", title) for name, title in {b.benchmark.name: b.benchmark.title for b in found}.items()]
    links += [("#years", "Over the years")] if any(map(words.trends, found)) else []
    links += [("#systems", "Systems"), ("#reading", "How to read it")]
    contents = tag("ul", [tag("li", tag("a", text, href=href)) for href, text in links])
    sentences = [tag("p", sentence, class_="lead") for sentence in headline.sentences]
    return joined([tag("h1", headline.title), *sentences, tag("nav", contents, aria_label="Contents")])


def _picture(found: Sequence[Board]) -> Content:
    """Of the benchmark with most submissions: each language in which systems can be compared."""
    shown = [b for b in found if b.benchmark.name == found[0].benchmark.name]
    several = [b for b in shown if len(b.standings) > 1] or shown
    unclear = words.unclear_gaps(shown)
    drawn = [_drawn(pictures.standings(board, unclear), words.direction_of(board)) for board in several]
    caption = tag("p", pictures.standings(several[0]).caption, class_="note")
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
            parts += [tag("h3", words.direction_of(board)), tag("p", words.leaders(board) or None), board_table(board)]
        if number > 0 and several:
            unclear = words.unclear_gaps(own)
            drawn = [_drawn(pictures.standings(board, unclear), words.direction_of(board)) for board in several]
            parts.append(tag("div", drawn, class_="pictures"))
        if single:
            parts += [tag("h3", "Directions with one system"), few_table(single)]
        sections.append(tag("section", parts, id=name))
    return sections


def _years(found: Sequence[Board]) -> Content:
    told = [sentence for board in found for sentence in words.trends(board)]
    if not told:
        return None
    drawn = [_drawn(figure, figure.title) for figure in pictures.years(found)]
    about = "A change is clear if it is after Holm's correction over all pairs of the board."
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
