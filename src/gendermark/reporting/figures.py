"""The figures of a report, for its page and as SVG, PDF and PNG files for a two-column paper.

Figures are made from estimates and judgements alone. Without data there is no figure.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.benchmarks.findings import dot_figure
from gendermark.errors import MissingExtra, UnknownName, UserError
from gendermark.io.textfiles import write_text
from gendermark.markup import visible
from gendermark.metrics.metric import key_from
from gendermark.metrics.verdicts import ALPHA
from gendermark.records import Unit
from gendermark.reporting import charts
from gendermark.reporting.charts import FEMALE, MALE, PUBLISHED, DotPanel, DotRow, Figure, Sheet, Span
from gendermark.reporting.document import letter_of
from gendermark.reporting.findings import rates_of
from gendermark.reporting.published import Published, how_comparable, published_values
from gendermark.reporting.tables import side_by_side
from gendermark.result import Result, run_labels
from gendermark.runs.compare import Comparison, ComparisonReport, compare, described, key_of

__all__ = ["FORMATS", "Figure", "figures", "write_figures"]

FORMATS = ("svg", "pdf", "png")
CAPTIONS = "captions.md"
PNG_DOTS_PER_INCH = 300
BY_PEOPLE = "judged by people"
Key = tuple[str, str]
"""Metric and slice."""


def figures(
    runs: Mapping[str, Sequence[Result]],
    comparisons: Mapping[str, ComparisonReport] | None = None,
    *,
    trend: bool = False,
) -> list[Figure]:
    """Draw all figures of one or several runs, given as name -> results.

    `comparisons` (name of a run -> its comparison with the first) are computed if not given. `trend`: the runs are
    versions of one system, in order.
    """
    labels = run_labels(runs)
    found: list[Figure] = []
    for sheet in _sheets(runs, list(labels.values())):
        own = registry.load("benchmark", sheet.benchmark).presentation.figures
        for draw in (women_and_men, *own, beside_published, *([_trends] if trend else [])):
            found.extend(draw(sheet))
    if len(runs) > 1:
        if comparisons is None:
            (_, first), *others = runs.items()
            comparisons = {name: against_first(first, second) for name, second in others}
        named = {labels[name]: report for name, report in comparisons.items() if name in labels}
        found.extend(_forest(named, list(labels.values())))
    # Systems may differ only in characters that file names cannot contain.
    n_of: Counter[str] = Counter()
    for place, one in enumerate(found):
        n_of[one.name] += 1
        if n_of[one.name] > 1:
            name = f"{one.name}-{n_of[one.name]}"
            # Ids in an SVG begin with the figure's name.
            svg = one.svg.replace(f'"{one.name}-', f'"{name}-').replace(f"(#{one.name}-", f"(#{name}-")
            found[place] = replace(one, name=name, svg=svg)
    return found


def plot(result: Result) -> Figure:
    found = figures({result.called: [result]})
    if not found:
        raise UserError(f"{result.cell} has no figure: nothing in it could be judged")
    return found[0]


def against_first(first: Sequence[Result], second: Sequence[Result]) -> ComparisonReport:
    """Compare as a report does: different conditions are compared separately."""
    report = compare(first, second, leave_out=True)
    keys = [{key_of(result) for result in side} for side in (first, second)]
    alike = {key[0] for key in keys[0] & keys[1]}
    return replace(report, comparisons=tuple(c for c in report.comparisons if c.cell in alike))


def _sheets(runs: Mapping[str, Sequence[Result]], labels: Sequence[str]) -> list[Sheet]:
    known = set(registry.names("benchmark"))
    grouped: dict[Key, dict[str, dict[str, Result]]] = {}
    for label, results in side_by_side(list(runs.values())):
        found = {name: result for name, result in zip(labels, results, strict=True) if result is not None}
        selection = next(iter(found.values())).selection
        if selection.benchmark in known:
            grouped.setdefault((selection.benchmark, label), {})[selection.cell] = found
    n_sheets = Counter(benchmark for benchmark, _ in grouped)
    sheets = []
    for (benchmark, label), cells in grouped.items():
        sheet = Sheet(benchmark, f".{label}" if n_sheets[benchmark] > 1 else "", cells, "")
        sheets.append(replace(sheet, conditions=described(sheet.any, label)))
    return sheets


# -- files -------------------------------------------------------------------------------------------------------------


def check_formats(formats: Sequence[str]) -> dict[str, Callable[[str], bytes]]:
    """The converters from SVG; refuse an unknown format, or one whose extra is missing."""
    for name in formats:
        if name not in FORMATS:
            raise UnknownName("figure format", name, FORMATS)
    return {name: _converter(name) for name in formats}


def write_figures(directory: Path | str, found: Sequence[Figure], formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write every figure in every format, with captions; formats are checked before anything is written."""
    directory = Path(directory)
    converters = check_formats(formats)
    written = []
    for one in found:
        for name, convert in converters.items():
            path = directory / f"{one.name}.{name}"
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(convert(one.svg))
            except OSError as problem:
                raise UserError(f"cannot write {path}: {problem.strerror or problem}") from None
            written.append(path)
    captions = [f"## {one.name}\n\n**{one.title}.** {_as_markdown(one.caption)}\n" for one in found]
    write_text(directory / CAPTIONS, "\n".join(["# Figures\n", *captions]))
    return [*written, directory / CAPTIONS]


def _as_markdown(text: str) -> str:
    """Escape a caption: system names are arbitrary."""
    return re.sub(r"([\\`*_<\[\]])", r"\\\1", " ".join(visible(text).split()))


def _converter(name: str) -> Callable[[str], bytes]:
    if name == "svg":
        return str.encode
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra(f"a figure as {name.upper()}", "figures") from None
    if name == "pdf":
        return lambda svg: bytes(vl_convert.svg_to_pdf(_in_points(svg)))
    return lambda svg: bytes(vl_convert.svg_to_png(_on_white(_in_points(svg)), ppi=PNG_DOTS_PER_INCH))


def _in_points(svg: str) -> str:
    """The converter treats a unit as a point, but an inch as 96 of them."""
    size = re.compile(r'width="[0-9.]+in" height="[0-9.]+in" (viewBox="0 0 ([0-9.]+) ([0-9.]+)")')
    return size.sub(r'width="\2" height="\3" \1', svg, count=1)


def _on_white(svg: str) -> str:
    head, end, body = svg.partition("</desc>")
    return f'{head}{end}<rect width="{charts.WIDTH:g}" height="100%" fill="#ffffff"/>{body}'


# -- women and men -----------------------------------------------------------------------------------------------------


def women_and_men(sheet: Sheet) -> Iterator[Figure]:
    """The opening picture: women and men of each system and language, and the gap between them."""
    rows: list[DotRow] = []
    source_tells = True
    several = len(sheet.labels) > 1
    for cell, found in sheet.cells.items():
        own = []
        for label, result in found.items():
            rates = rates_of(result)
            if rates is None:
                continue
            source_tells = rates.source_tells
            shown = charts.signed((rates.men.value or 0.0) - (rates.women.value or 0.0))
            sides = (charts.span_of(rates.women), FEMALE), (charts.span_of(rates.men), MALE)
            dots = [(one, look) for one, look in sides if one]
            name = label if several else charts.language(cell)
            own.append(DotRow(name, [dots], joined=True, after=shown if rates.is_biased else f"({shown})"))
        rows += [*([DotRow(charts.language(cell))] if several and own and len(sheet.cells) > 1 else []), *own]
    if not rows:
        return

    def draw(canvas: charts.Canvas) -> None:
        title = "keep their gender, %" if source_tells else "translated as women, as men, %"
        panel = DotPanel(title, (0, 100), better="higher" if source_tells else "")
        top = charts.legend(canvas, [("women", FEMALE), ("men", MALE)], 0) + 2
        charts.dots(canvas, [panel], rows, top, heads=("", "gap"))

    what = "keep their gender" if source_tells else "of unspecified gender are translated as such"
    yield charts.figure(
        sheet.name_of(sheet.benchmark, "women-men"),
        f"Women and men who {what}",
        f"Share of women and of men who {what}, in percent ({sheet.about()}); lines: {sheet.intervals}. Gap: men minus "
        "women, in points; in brackets where it is not significant.",
        sheet.benchmark,
        draw,
    )


# -- differences from the first system ---------------------------------------------------------------------------------

PANELS = {
    True: DotPanel("difference in points", zero=0.0, at_least=(-2.0, 2.0)),
    False: DotPanel("difference, scale 0 to 1 or nats", zero=0.0, at_least=(-0.02, 0.02)),
}
"""Percentages, and other units: they have no common scale."""


def _forest(reports: Mapping[str, ComparisonReport], labels: Sequence[str]) -> Iterator[Figure]:
    """A forest plot; `reports` has the label of each system compared with the first of all `labels`."""
    letters = {place: letter_of(place) for place, label in enumerate(labels) if label in reports}  # as on the page
    looks = {labels[place]: look for place, look in charts.looks_of(letters).items()}
    by_row: dict[tuple[bool, str], dict[Key, dict[str, Comparison]]] = defaultdict(lambda: defaultdict(dict))
    for label, report in reports.items():
        for one in report.comparisons:
            if one.difference is not None:
                by_row[one.unit.is_of_hundred, one.cell][one.metric, one.slice][label] = one
    if not by_row:
        return
    parts: dict[bool, list[DotRow]] = {is_percent: [] for is_percent in PANELS}
    for (is_percent, cell), metrics in by_row.items():
        benchmark: Benchmark = registry.load("benchmark", cell.partition(".")[0])
        parts[is_percent].append(DotRow(f"{benchmark.title}, {charts.language(cell)}"))
        for key, found in metrics.items():
            dots = [
                (Span(one.difference or 0.0, one.low, one.high), replace(looks[label], filled=one.is_significant))
                for label, one in found.items()
            ]
            better = {"higher": "better →", "lower": "← better"}.get(benchmark.describe(key[0]).better, "")
            parts[is_percent].append(DotRow(short_label(benchmark, *key), [dots], after=better))

    def draw(canvas: charts.Canvas) -> None:
        entries = [(f"{letters[place]} {labels[place]}", looks[labels[place]]) for place in letters]
        top = charts.legend(canvas, entries, 0)
        for is_percent, rows in parts.items():
            if rows:
                top = charts.dots(canvas, [PANELS[is_percent]], rows, top) + 6

    every = [one for metrics in by_row.values() for found in metrics.values() for one in found.values()]
    yield charts.figure(
        "comparison",
        "Differences from the baseline",
        f"Each mark is the value of a system minus that of {labels[0]} (A), paired on the same sentences; lines: 95% "
        f"CI. Filled: significant (p < {ALPHA:g} after Holm), {sum(one.is_significant for one in every)} of "
        f"{len(every)}. For gaps, closer to zero is better.",
        "",
        draw,
    )


def short_label(benchmark: Benchmark, metric: str, part: str) -> str:
    name = benchmark.describe(metric).short
    return name if part == "all" else f"{name}, {part}"


# -- versions ----------------------------------------------------------------------------------------------------------


def _trends(sheet: Sheet) -> Iterator[Figure]:
    """Headline metrics by version, a line per language."""
    benchmark: Benchmark = registry.load("benchmark", sheet.benchmark)
    labels, looks = sheet.labels, {cell: charts.look_of(number) for number, cell in enumerate(sheet.cells)}
    panels = []
    for metric, part in map(key_from, benchmark.measures.headline):
        series = []
        for cell, found in sheet.cells.items():
            spans = [charts.span(found[label], metric, part) if label in found else None for label in labels]
            series += [(looks[cell], spans)] if any(spans) else []
        about = benchmark.describe(metric)
        is_percent = about.unit.is_of_hundred
        unit = (", points" if about.better == "zero" else ", %") if is_percent else ""
        title = short_label(benchmark, metric, part) + unit
        panels += [charts.LinePanel(title, series, 10.0 if is_percent else 0.1, about.better)] if series else []
    if len(labels) < 2 or not panels:
        return

    def draw(canvas: charts.Canvas) -> None:
        names = [str(number) for number in range(1, len(labels) + 1)]
        top = charts.legend(canvas, [(charts.language(cell), look) for cell, look in looks.items()], 0)
        charts.lines(canvas, panels, names, top)

    versions = ", ".join(f"{number}: {label}" for number, label in enumerate(labels, start=1))
    yield charts.figure(
        sheet.name_of(sheet.benchmark, "trend"),
        "From version to version",
        f"{versions} ({sheet.conditions}); lines: {sheet.intervals} of each version by itself.",
        sheet.benchmark,
        draw,
    )


# -- published results -------------------------------------------------------------------------------------------------


def beside_published(sheet: Sheet) -> Iterator[Figure]:
    """The results of each direction beside published values of known systems."""
    benchmark: Benchmark = registry.load("benchmark", sheet.benchmark)
    for cell, found in sheet.cells.items():
        selection = next(iter(found.values())).selection
        keys = [key_from(name) for name in benchmark.presentation.beside_published]
        keys = [key for key in keys if any(charts.span(result, *key) for result in found.values())]
        printed = {key: values for key in keys if (values := published_values(selection, *key))}
        if not printed:
            continue
        rows = [
            DotRow(label, [[(value, MALE)] if (value := charts.span(result, *key)) else [] for key in printed])
            for label, result in found.items()
        ]
        values = [value for own in printed.values() for value in own]
        papers = "; ".join(dict.fromkeys(value.paper.short for value in values))
        tables = ", ".join(dict.fromkeys(value.where for value in values))
        notes = [
            f" {value.system}, {short_label(benchmark, value.metric, value.slice)}: {value.note}."
            for value in values
            if value.note
        ]
        by_people = any(value.remark == BY_PEOPLE for value in values)
        judged = " Judged by people, not by the automatic measure." if by_people else ""
        yield dot_figure(
            sheet,
            "published",
            "Published results, for context",
            f"Filled: measured here ({charts.direction(cell)}; {sheet.conditions}), lines: {sheet.intervals}. Hollow: "
            f"reported by {papers} ({tables}), {how_comparable(selection)}.{judged}{''.join(notes)}",
            _panels(benchmark, list(printed)),
            [*rows, *_published_rows(printed)],
            [("measured here", MALE), (f"published ({papers})", PUBLISHED)],
            cell=cell,
        )


def _published_rows(printed: Mapping[Key, list[Published]]) -> list[DotRow]:
    systems = dict.fromkeys((value.system, value.remark) for found in printed.values() for value in found)
    return [
        DotRow(
            f"{system} (by people)" if remark == BY_PEOPLE else system,
            [
                [(Span(value.value), PUBLISHED) for value in found if (value.system, value.remark) == (system, remark)]
                for found in printed.values()
            ],
        )
        for system, remark in systems
    ]


def _panels(benchmark: Benchmark, keys: Sequence[Key]) -> list[DotPanel]:
    panels = []
    for metric, part in keys:
        about = benchmark.describe(metric)
        has_zero = about.better == "zero" or about.unit in (Unit.NATS, Unit.RATIO)
        unit = ", %" if about.unit.is_of_hundred and len(keys) == 1 else ""
        bounds = None if has_zero else (0.0, 100.0 if about.unit.is_of_hundred else 1.0)
        title = short_label(benchmark, metric, part) + unit
        panels.append(DotPanel(title, bounds, 0.0 if has_zero else None, better=about.better))
    return panels
