"""The leaderboard as static pages: one board for each benchmark, direction and set of conditions.

All pairs of systems on a board are compared on the same sentences, with Holm's correction over all these comparisons. A
rank is a range: from one place behind the systems that are significantly better to one place before those that are
significantly worse. Pages stand alone and make no network requests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import NamedTuple

from gendermark.benchmarks.benchmark import Benchmark
from gendermark.errors import UserError
from gendermark.io.textfiles import write_text
from gendermark.metrics import statistics
from gendermark.metrics.intervals import Pairing
from gendermark.metrics.metric import Description, key_from
from gendermark.metrics.verdicts import ALPHA
from gendermark.reading.codes import NAMES
from gendermark.records import Estimate
from gendermark.reporting import charts, html, submission
from gendermark.reporting import document as doc
from gendermark.reporting.charts import FEMALE, MALE, Canvas, DotPanel, DotRow, Figure, span_of
from gendermark.reporting.findings import benchmark_of, leading_key
from gendermark.reporting.page import render_page
from gendermark.reporting.phrases import ALL_SENTENCES, rounded
from gendermark.reporting.submission import UNRECORDED, Submission, SystemFacts
from gendermark.runs import compare, folder
from gendermark.runs.executors import SERIAL, Executor
from gendermark.runs.folder import read_run

Pair = tuple[int, int]


@dataclass(frozen=True)
class Board:
    """Systems measured alike, best first."""

    label: str
    """What distinguishes it from other boards of its benchmark and direction."""
    standings: tuple[Submission, ...]
    pairs: Mapping[Pair, compare.Comparison]
    """By positions in the standings, the earlier first; p-values corrected over all pairs."""

    @property
    def any(self) -> Submission:
        return self.standings[0]

    @property
    def benchmark(self) -> Benchmark:
        return benchmark_of(self.any.result)

    @property
    def metric(self) -> tuple[str, str]:
        return leading_key(self.benchmark)

    @property
    def about(self) -> Description:
        return self.benchmark.describe(self.metric[0])


def boards(submissions: Sequence[Submission], executor: Executor = SERIAL) -> list[Board]:
    """Ordered by benchmark (most submissions first), then by language."""
    labels = compare.condition_labels([one.result for one in submissions])
    groups: dict[tuple[str, ...], list[Submission]] = {}
    for one in submissions:
        groups.setdefault(compare.key_of(one.result), []).append(one)
    ordered = {key: _in_order(found) for key, found in groups.items()}
    compared = executor.in_order(compare_all, [[one.cell for one in found] for found in ordered.values()])
    made = [
        Board(labels[key], _ranked(found, pairs), pairs)
        for (key, found), pairs in zip(ordered.items(), compared, strict=True)
    ]
    n_of = Counter(one.result.selection.benchmark for one in submissions)
    return sorted(
        made,
        key=lambda b: (-n_of[b.benchmark.name], b.benchmark.name, -len(b.standings), b.any.result.cell, b.label),
    )


def compare_all(cells: Sequence[Path]) -> dict[Pair, compare.Comparison]:
    """Compare all pairs of results measured alike, by the metric that orders their board."""
    if len(cells) < 2:
        return {}
    results = [folder.read_cell(cell) for cell in cells]
    for other in results[1:]:
        compare.check_comparable(results[0], other)
    benchmark = benchmark_of(results[0])
    wanted = leading_key(benchmark)
    counted = []
    for result in results:
        metric = next(
            (m for m in benchmark.measures.metrics(result.judgements, result.selection) if m.key == wanted), None
        )
        if metric is None:
            return {}
        counted.append((metric, benchmark.measures.count(result.judgements, result.selection, [metric])))
    found = {
        (i, j): compare.compare_metric(
            results[i].cell,
            counted[i][0],
            Pairing(counted[i][1], counted[j][1], compare.RESAMPLING),
            compare.RESAMPLING,
        )
        for i, j in combinations(range(len(results)), 2)
    }
    adjusted = statistics.holm([c.p_value for c in found.values()])
    return {pair: replace(c, p_adjusted=p, spread=None) for (pair, c), p in zip(found.items(), adjusted, strict=True)}


def _in_order(found: Sequence[Submission]) -> list[Submission]:
    benchmark = benchmark_of(found[0].result)
    metric = leading_key(benchmark)
    better = benchmark.describe(metric[0]).better

    def place(one: Submission) -> tuple[bool, float, str]:
        estimate = one.estimate(metric)
        value = (estimate.value or 0.0) if estimate is not None else 0.0
        badness = {"higher": -value, "lower": value, "zero": abs(value)}.get(better, 0.0)
        return estimate is None, badness, one.system.full_label

    return sorted(found, key=place)


def _ranked(found: Sequence[Submission], pairs: Mapping[Pair, compare.Comparison]) -> tuple[Submission, ...]:
    """Order by metric; submissions without a value come last and have no rank."""
    n_better, n_worse = [0] * len(found), [0] * len(found)
    metric = leading_key(benchmark_of(found[0].result))
    n = sum(one.estimate(metric) is not None for one in found)
    for pair, comparison in pairs.items():
        if comparison.change() in ("better", "worse"):
            better, worse = pair[::-1] if comparison.change() == "better" else pair
            n_better[worse] += 1
            n_worse[better] += 1
    return tuple(
        replace(one, ranks=(1 + n_better[at], n - n_worse[at])) if one.estimate(metric) is not None else one
        for at, one in enumerate(found)
    )


# -- in words ----------------------------------------------------------------------------------------------------------


def language_of(board: Board) -> str:
    target = board.any.result.selection.target_language
    return NAMES.get(target, target)


def direction_of(board: Board) -> str:
    shown = charts.direction(board.any.result.cell)
    return f"{shown} ({board.label})" if board.label else shown


def labels(systems: Sequence[SystemFacts]) -> dict[SystemFacts, str]:
    """Short system labels; with dates if one system occurs twice."""
    n_of = Counter(system.label for system in dict.fromkeys(systems))
    return {one: one.label if n_of[one.label] == 1 else f"{one.label} {one.shown_date}" for one in systems}


class _Case(NamedTuple):
    """Women and men for one system in one language."""

    name: str
    women: float
    men: float
    gap: Estimate


def headline(found: Sequence[Board]) -> tuple[str, list[str]]:
    """The main finding, on the benchmark with most submissions: a title, and supporting sentences."""
    first = [board for board in found if board.benchmark.name == found[0].benchmark.name]
    benchmark, systems = first[0].benchmark, {one.system: None for board in first for one in board.standings}
    sides, cases = benchmark.presentation.sides, list[_Case]()
    for board in first if sides else ():
        for one in board.standings:
            women, men, gap = (one.estimate(key_from(name)) for name in (sides.women, sides.men, sides.gap))  # type: ignore[union-attr]
            if women is not None and men is not None and gap is not None:
                name = f"{one.system.full_label}, {language_of(board)}"
                cases.append(_Case(name, women.value or 0.0, men.value or 0.0, gap))
    if not sides or not cases:
        title = f"{benchmark.title}: {_counted(len(systems), 'system')} compared"
        return title, [f"{direction_of(board)}: {text}" for board in first if (text := leaders(board))]
    # Significant among all these results.
    p_values = statistics.benjamini_hochberg([case.gap.p_value for case in cases])
    gaps = [case.gap.value or 0.0 for case, p in zip(cases, p_values, strict=True) if p is not None and p < ALPHA]
    n_men, n_women = sum(gap > 0 for gap in gaps), sum(gap < 0 for gap in gaps)
    of_men, of_women, neither = (f"{n:,}" if n else "none" for n in (n_men, n_women, len(cases) - n_men - n_women))
    if max(n_men, n_women) * 2 <= len(cases) or n_men == n_women:
        n = n_men + n_women
        title = f"Women and men in translation: significant differences in {n:,} of {len(cases):,} results"
        by_side = (
            f" Men {sides.what} significantly more often than women in {of_men} of them, women more often than men in "
            f"{of_women}; not significant in {neither}."
        )
    else:
        fewer, more = ("women", "men") if n_men > n_women else ("men", "women")
        most, reverse = (of_men, of_women) if n_men > n_women else (of_women, of_men)
        title = (
            f"Translation systems keep {fewer}'s gender less often than {more}'s: significantly in {most} of "
            f"{len(cases):,} results, the reverse in {reverse}"
        )
        by_side = ""
    n_languages = len({language_of(board) for board in first})
    low, high = (f(cases, key=lambda case: case.women) for f in (min, max))
    least, most = (rounded(f(case.men for case in cases)) for f in (min, max))
    return title, [
        f"{benchmark.title}: {_counted(len(systems), 'system')}, {_counted(n_languages, 'language')}, {len(cases):,} "
        f"results.{by_side} {_recorded(list(systems))}",
        f"Between {rounded(low.women)}% ({low.name}) and {rounded(high.women)}% ({high.name}) of women {sides.what}; "
        f"of men, between {least}% and {most}%. Significant: p < 0.05 after Benjamini-Hochberg over these results.",
    ]


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _recorded(systems: Sequence[SystemFacts]) -> str:
    dates = sorted({system.shown_date for system in systems if system.date != UNRECORDED})
    n = sum(system.version != UNRECORDED for system in systems)
    said = f"Outputs of {doc.listed(dates)}. " if dates else ""
    return f"{said}Version recorded for {n or 'none'} of {_counted(len(systems), 'system')}."


def leaders(board: Board) -> str:
    if len(board.standings) < 2 or not board.pairs or board.about.better == "neither":
        return ""
    names = labels([standing.system for standing in board.standings])
    ranked = [standing for standing in board.standings if standing.ranks]
    first = [names[standing.system] for standing in ranked if standing.ranks and standing.ranks[0] == 1]
    if len(first) == len(ranked):
        return "No system is significantly better than any other."
    if len(first) == 1:
        return f"{first[0]} is significantly better than every other system."
    return f"No system is significantly better than {doc.listed(first, 'or')}."


def trends(board: Board) -> list[str]:
    """Describe how a system measured at several dates has changed from each to the next."""
    found = []
    by_name: dict[str, list[int]] = {}
    for place, standing in enumerate(board.standings):
        if standing.system.date != UNRECORDED:
            by_name.setdefault(standing.system.name, []).append(place)
    for name, places in by_name.items():
        for earlier, later in pairwise(sorted(places, key=lambda place: board.standings[place].system.date)):
            comparison = board.pairs.get((min(earlier, later), max(earlier, later)))
            before, after = board.standings[earlier], board.standings[later]
            if comparison is None or before.system.date == after.system.date:
                continue
            change = comparison.change()
            if later < earlier:
                change = {"better": "worse", "worse": "better"}.get(change, change)
            verdict = compare.IN_WORDS.get(change, comparison.in_words())
            estimates = [(one.estimate(board.metric), one.system.shown_date) for one in (before, after)]
            numbers = [f"{e.shown} in {date}" for e, date in estimates if e is not None and e.value is not None]
            if len(numbers) == 2:
                found.append(f"{name}, {language_of(board)}, {board.about.label}: {', '.join(numbers)}: {verdict}.")
    return found


INDEX = "index.html"
PAGES = "systems"
Key = tuple[str, str]
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
    """Write the pages of all run folders and submissions in some directories; return the boards.

    `names` are system names of plain run folders, in the order of the directories.
    """
    submissions = [submission.read(cell, name) for cell, name in submission.find(directories, names).items()]
    submission.check_distinct(submissions)
    for one in submissions:
        for fault in submission.on_paper(one):
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
    directory, name, path = where
    write_text(path, render_page([read_run(directory, name)], home=f"../{INDEX}"))


def render_index(found: Sequence[Board]) -> str:
    title, sentences = headline(found)
    by_benchmark: dict[str, list[Board]] = {}
    for board in found:
        by_benchmark.setdefault(board.benchmark.name, []).append(board)
    first, *others = by_benchmark.values()
    sections = [
        doc.Section("Overview", [*(doc.Paragraph(one, "lead") for one in sentences), *_pictures(first)], id="overview"),
        _section(first, with_pictures=False),
        *(_section(own, with_pictures=True) for own in others),
        *_dates(found),
        doc.Section("Systems", [_systems(found)], id="systems"),
        _reading(found),
    ]
    script, style = html.asset("board.js"), html.asset("board.css")
    return html.render("plain.html", title, script=script, style=style, sections=sections)


# -- sections ----------------------------------------------------------------------------------------------------------


def _pictures(found: Sequence[Board]) -> list[doc.Block]:
    several = [board for board in found if len(board.standings) > 1] or found
    drawn = [standings_figure(board) for board in several]
    shown = [replace(one, caption="") for one in drawn]
    return [doc.Paragraph(drawn[0].caption, "note"), doc.Section("", shown, kind="pictures")]


def _section(found: Sequence[Board], *, with_pictures: bool) -> doc.Section:
    benchmark = found[0].benchmark
    blocks: list[doc.Block] = [doc.Paragraph(benchmark.question)]
    several = [board for board in found if len(board.standings) > 1]
    for board in several:
        said = [doc.Paragraph(text)] if (text := leaders(board)) else []
        blocks.append(doc.Section(direction_of(board), [*said, board_table(board)], level=3))
    if several and with_pictures:
        blocks += _pictures(found)
    if single := [board for board in found if len(board.standings) == 1]:
        blocks.append(doc.Section("Directions with one system", [board_table(*single)], level=3))
    return doc.Section(benchmark.title, blocks, id=benchmark.name)


def _dates(found: Sequence[Board]) -> list[doc.Section]:
    said = [sentence for board in found for sentence in trends(board)]
    return [doc.Section("Changes over time", [doc.Bullets(said)], id="dates")] if said else []


def _reading(found: Sequence[Board]) -> doc.Section:
    data = dict.fromkeys(
        f"{b.benchmark.title}: data {b.any.result.origin}, rules "
        f"{b.any.result.signed.get('rules', b.any.result.selection.rules)}"
        for b in found
    )
    return doc.Section("How to read it", [doc.Bullets(HOW_TO_READ), doc.Bullets(list(data))], id="reading")


# -- tables ------------------------------------------------------------------------------------------------------------


def board_table(*found: Board) -> doc.Table:
    board, is_single = found[0], len(found[0].standings) == 1
    keys, is_ranked = _columns(board), _is_ranked(board)
    has_dates = any(standing.system.date != UNRECORDED for one in found for standing in one.standings)
    rows: list[list[doc.Text]] = []
    for one in found:
        names = labels([standing.system for standing in one.standings])
        for standing in one.standings:
            first = standing.estimate(keys[0]) if keys else None
            rows.append(
                [
                    *([direction_of(one)] if is_single else []),
                    _link(standing, names[standing.system]),
                    *([standing.rank] if is_ranked else []),
                    *([standing.system.shown_date] if has_dates else []),
                    *(doc.Number(standing.estimate(key)) for key in keys),
                    f"{100 * first.n_judged / first.n_total:.1f}" if first is not None and first.n_total else "–",
                ]
            )
    heads = ["direction"] * is_single + ["system"] + ["rank"] * is_ranked + ["date"] * has_dates
    columns = [*heads, *(board.benchmark.label(*key).removesuffix(ALL_SENTENCES) for key in keys), "judged, %"]
    caption = "" if is_single else f"Ordered by {board.about.label}: {board.about.meaning}"
    return doc.Table(columns, rows, caption, n_text=2 if is_single else 1)


def _systems(found: Sequence[Board]) -> doc.Table:
    by_system: dict[str, list[Submission]] = {}
    for board in found:
        for standing in board.standings:
            by_system.setdefault(standing.system.full_label, []).append(standing)
    rows: list[list[doc.Text]] = []
    for name in sorted(by_system, key=str.lower):
        own = by_system[name]
        system = own[0].system
        sources: list[doc.Inline] = []
        for source in dict.fromkeys(one.outputs.source for one in own):
            sources += ["; " if sources else None, _source(source)]
        notes = "; ".join(dict.fromkeys(one.outputs.note for one in own if one.outputs.note))
        licences = ", ".join(dict.fromkeys(one.outputs.licence for one in own))
        sources.append(doc.Small(notes) if notes else None)
        facts: list[doc.Text] = [system.version, system.vendor, system.kind, system.shown_date, len(own)]
        rows.append([_link(own[0], system.name), *facts, sources, licences])
    columns = ("system", "version", "vendor", "kind", "date", "results", "outputs from", "licence")
    return doc.Table(columns, rows, n_text=len(columns))


def _source(source: str) -> str | doc.Link:
    if not source.startswith("https://"):
        return source
    return doc.Link("/".join(source.removeprefix("https://").split("/")[1:3]) or source, source)


def _link(one: Submission, name: str) -> doc.Link:
    return doc.Link(name, f"{PAGES}/{one.system.slug}.html")


def _columns(board: Board) -> list[Key]:
    sides = board.benchmark.presentation.sides
    names = [*board.benchmark.measures.headline, *((sides.women, sides.men, sides.gap) if sides else ())]
    wanted = {key_from(name) for name in names}
    keys = [key for key in submission.shown_keys(board.any.result) if key in wanted]
    return [key for key in keys if any(standing.estimate(key) for standing in board.standings)]


def _is_ranked(board: Board) -> bool:
    return bool(board.pairs) and board.about.better != "neither"


# -- figures -----------------------------------------------------------------------------------------------------------


def standings_figure(board: Board) -> Figure:
    """One row per system, best first; gaps not significant by their own verdict are in brackets."""
    names = labels([standing.system for standing in board.standings])
    sides, about, is_ranked = board.benchmark.presentation.sides, board.about, _is_ranked(board)
    looks = [(MALE, board.metric)]
    if sides:
        looks = [(FEMALE, key_from(sides.women)), (MALE, key_from(sides.men))]
    rows = []
    for standing in board.standings:
        gap = standing.estimate(key_from(sides.gap)) if sides else None
        after = charts.signed(gap.value) if gap is not None and gap.value is not None else ""
        significant = {(v.metric, v.slice) for v in standing.result.verdicts if v.state == "significant"}
        after = f"({after})" if gap is not None and after and (gap.metric, gap.slice) not in significant else after
        dots = [(found, look) for look, key in looks if (found := span_of(standing.estimate(key)))]
        rank = standing.rank if is_ranked else ""
        rows.append(DotRow(names[standing.system], [dots], joined=True, before=rank, after=after))
    panel = DotPanel("%" if sides else about.label, (0.0, 100.0) if sides else None, better=about.better)

    def draw(canvas: Canvas) -> None:
        top = charts.legend(canvas, [("women", FEMALE), ("men", MALE)] if sides else [], 0.0) + 2
        charts.dots(canvas, [panel], rows, top, heads=("rank" if is_ranked else "", "gap" if sides else ""))

    shown = f"Women and men who {sides.what}, in percent, with 95% CI. " if sides else ""
    brackets = " Gap: men minus women, in brackets where it is not significant." if sides else ""
    ordered = f"Ordered by {about.label}. Rank: range of ranks, given the paired comparisons."
    name = f"board.{board.any.result.cell}.{board.label}"
    return charts.figure(name, direction_of(board), f"{shown}{ordered}{brackets}", board.any.result.cell, draw)
