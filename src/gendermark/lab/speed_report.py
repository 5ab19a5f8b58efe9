"""A study of speed as numbers, sentences, tables, figures and one page.

Arithmetic, tables and figures follow SimpleGEN's paper (Table 4, Figures 1 and A2).
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gendermark.benchmarks.simplegen.findings import COLUMNS, PRESENTATION
from gendermark.benchmarks.simplegen.measures import MEASURES
from gendermark.io.textfiles import write_text
from gendermark.lab.studies import Span, change_in_words, is_unchanged, statistics_package
from gendermark.lab.timing import CLOCKS, N_WARM_UP, Rounds, median_of
from gendermark.markup import minus
from gendermark.metrics.intervals import interval_at
from gendermark.records import Unit, show_p
from gendermark.reporting import charts, html
from gendermark.reporting import latex as latex_
from gendermark.reporting import text as markdown_
from gendermark.reporting.charts import Canvas, Figure, Line, Look, Point, figure
from gendermark.reporting.document import Block, Bullets, Code, Drawing, Paragraph, Section, Table
from gendermark.reporting.published import all_published
from gendermark.runs.compare import Comparison

QUALITY = ("BLEU", "chrF")
GROUPS = ("FOFC", "MOFC", "MOMC", "FOMC")
GAPS = ("Δ", "ΔFC", "ΔMC")
"""Columns that are differences: the paper gives no relative drop, since 0 is their best value."""
DROPPING = ("BLEU", *(column for column in COLUMNS if column not in GAPS))
HURT = "MOFC"
"""The group for the price of speed: women in men's occupations, which the paper found hit most."""
LABELS = {group: MEASURES.slices[group.lower()] for group in GROUPS} | {"Δ": "stereotype effect (Δ)"}
MAX_DROPS: Mapping[str, str] = {
    "fastest": "from the baseline to the fastest point (as the paper's caption has it)",
    "worst": "from the baseline to the lowest value",
    "range": "from the highest value to the lowest (what most of the paper's numbers are)",
}
PAGE = "speed.html"
TIME = "s/1,000"


# -- arithmetic --------------------------------------------------------------------------------------------------------


def relative_drop(base: float | None, value: float | None) -> float | None:
    """Percent of the baseline; negative if the value rose; None if undefined."""
    return None if base is None or value is None or base == 0 else 100 * (base - value) / base


def max_drop(how: str, values: Sequence[float | None], seconds: Sequence[float], base: int = 0) -> float | None:
    """One of `MAX_DROPS`, over the rows of a table; `base` is the row of the baseline."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    if how == "fastest":
        return relative_drop(values[base], values[int(np.argmin(seconds))])
    return relative_drop(max(known) if how == "range" else values[base], min(known))


def trend(points: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    across, up = np.array(points, dtype=np.float64).reshape(-1, 2).T
    if len(across) < 3 or np.ptp(across) < 1e-9:
        return None
    slope, height = np.polyfit(across, up, 1)
    return float(slope), float(height)


def between_trainings(values: Sequence[float], base: Sequence[float] = (), confidence: float = 0.95) -> Span:
    """Mean over independent trainings with Student's interval; with a `base`, the difference with Welch's."""
    value = float(np.mean(values) - (np.mean(base) if base else 0.0))
    sides = [values, base] if base else [values]
    if min(map(len, sides)) < 2 or max(map(np.ptp, sides)) < 1e-9:  # no spread
        return Span(value)
    stats = statistics_package("scipy.stats", "study speed --seed-of")
    test = stats.ttest_ind(values, base, equal_var=False) if base else stats.ttest_1samp(values, 0.0)
    ends = test.confidence_interval(confidence)
    return Span(value, float(ends.low), float(ends.high))


class Price(NamedTuple):
    """Points lost per second saved on a thousand sentences; negative for gains."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    """Why there is no value, or no interval."""


def price_of(change: Comparison | None, saved: Sequence[float], confidence: float) -> Price:
    """The price of a change per second saved; `saved` has one number per round.

    The interval covers all ratios of the two intervals, each at half the error, so it is conservative.
    """
    each = (1 + confidence) / 2
    time = median_of(saved, each)
    if time.value <= 0 or (time.low is not None and time.low <= 0):
        return Price(None, reason="no time was clearly saved")
    if change is None or change.difference is None:
        return Price(None, reason="there is nothing to compare")
    ends = interval_at(change.spread, each) if change.spread is not None else None
    value = -change.difference / time.value
    if ends is None or time.low is None or time.high is None:
        return Price(value, reason="there are too few rounds for an interval" if time.low is None else "")
    ratios = [-end / seconds for end in ends for seconds in (time.low, time.high)]
    return Price(value, min(ratios), max(ratios))


# -- the numbers of a study --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """The values of one point, and their changes."""

    name: str
    slug: str
    spec: str
    values: Mapping[str, Span]
    """By column: quality, those of Table 4, and headline metrics of other benchmarks."""
    changes: Mapping[str, Comparison]
    """The changes from the baseline, which has none."""
    others: tuple[str, ...]

    def value(self, column: str) -> float | None:
        return self.values[column].value if column in self.values else None


@dataclass(frozen=True)
class Study:
    points: tuple[Measured, ...]
    base: int
    rounds: Rounds
    direction: str
    facts: Mapping[str, Any]
    notes: tuple[str, ...]
    confidence: float
    trainings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Points that are trainings of one model with different seeds, by model; the first model is the baseline."""

    @property
    def baseline(self) -> Measured:
        return self.points[self.base]

    @property
    def columns(self) -> list[str]:
        return [c for c in (*QUALITY, *COLUMNS) if any(point.value(c) is not None for point in self.points)]

    def seconds(self, point: Measured) -> Span:
        return median_of(self.rounds.seconds(point.name), self.confidence)

    def times_as_fast(self, point: Measured) -> Span:
        return median_of(self.rounds.ratios(point.name, self.baseline.name), self.confidence)

    def saved(self, point: Measured) -> Span:
        return median_of(self.rounds.saved(point.name, self.baseline.name), self.confidence)

    def price(self, point: Measured) -> Price:
        return price_of(point.changes.get(HURT), self.rounds.saved(point.name, self.baseline.name), self.confidence)

    def drop(self, point: Measured, column: str) -> float | None:
        if column == "time":
            return relative_drop(self.seconds(self.baseline).value, self.seconds(point).value)
        return relative_drop(self.baseline.value(column), point.value(column))

    def max_drops(self, how: str) -> dict[str, float | None]:
        values: dict[str, Sequence[float | None]] = {"time": self._seconds}
        values |= {column: [p.value(column) for p in self.points] for column in self.columns if column not in GAPS}
        return {column: max_drop(how, found, self._seconds, self.base) for column, found in values.items()}

    @cached_property
    def _seconds(self) -> list[float]:
        return [self.seconds(point).value for point in self.points]

    def scatter(self, column: str) -> list[tuple[Measured, float, float]]:
        found = ((point, self.drop(point, "time"), self.drop(point, column)) for point in self.points)
        return [(point, x, y) for point, x, y in found if x is not None and y is not None]

    def trend(self, column: str) -> tuple[float, float] | None:
        return trend([(x, y) for _, x, y in self.scatter(column)])

    def of_trainings(self, name: str, column: str) -> list[float]:
        points = [point for point in self.points if point.name in self.trainings[name]]
        if column == "time":
            return [self.seconds(point).value for point in points]
        return [value for point in points if (value := point.value(column)) is not None]

    def trained(self, name: str, column: str) -> tuple[Span, Span] | None:
        """Mean over trainings, and its difference from the baseline model, with intervals between trainings.

        Points that are the same trainings with other options are compared training by training.
        """
        first = next(iter(self.trainings))
        own, base = self.of_trainings(name, column), self.of_trainings(first, column)
        if not own or not base:
            return None
        weights, theirs = (
            [point.spec.partition("?")[0] for point in self.points if point.name in self.trainings[model]]
            for model in (name, first)
        )
        change = between_trainings(own, base, self.confidence)
        if name != first and weights == theirs and len(set(weights)) == len(own) == len(base):
            change = between_trainings([a - b for a, b in zip(own, base, strict=True)], confidence=self.confidence)
        return between_trainings(own, confidence=self.confidence), change


# -- the paper's own ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Published:
    """A part of the paper's Table 4: one direction, optimisations one by one (4a) or stacked (4b); baseline first."""

    where: str
    direction: str
    rows: Mapping[str, Mapping[str, float]]
    """System -> column -> value as printed; `time` is in seconds."""
    max_drop: Mapping[str, float]
    """The last row, as printed."""
    misprints: Mapping[str, float]
    """In the last row: printed values that follow from no rule -> the values from the column's range."""

    def drops(self) -> Table:
        base = next(iter(self.rows.values()))
        columns = [column for column in base if column not in GAPS]
        rows = [
            (system, *(minus(f"{relative_drop(base[column], values[column]) or 0.0:.1f}") for column in columns))
            for system, values in list(self.rows.items())[1:]
        ]
        if self.max_drop:
            rows.append(("max rel. % drop, as printed", *(f"{self.max_drop[column]:.1f}" for column in columns)))
        title = f"Relative drops in percent as {self.where} of Renduchintala et al. (2021) has them, {self.direction}"
        return Table(("system", *columns), rows, title)


@cache
def published_sections() -> tuple[Published, ...]:
    content = tomllib.loads((files(PRESENTATION.published) / "published.toml").read_text(encoding="utf-8"))
    printed = {
        (value.direction, value.system, value.metric, value.slice): value.value
        for value in all_published()
        if value.benchmark == content["tables"][0]["benchmark"]
    }
    found = []
    for table in content["speed"]:
        of = table["direction"]
        rows = {
            system: {"time": seconds, "BLEU": bleu}
            | {label: printed[of, system, *key] for label, key in COLUMNS.items()}
            for system, seconds, bleu in table["rows"]
        }
        found.append(Published(table["where"], of, rows, table["max_drop"], table["notes"]))
    return tuple(found)


def findings(study: Study) -> list[str]:
    if study.trainings:
        return [_trained_finding(study, name) for name in list(study.trainings)[1:]]
    return [_finding(study, point) for point in study.points if point is not study.baseline]


def _trained_finding(study: Study, name: str) -> str:
    parts = []
    for column in ("time", "BLEU", "Δ", HURT):
        if (found := study.trained(name, column)) is None:
            continue
        own, change = found
        between, is_clear = "no interval", False
        if change.low is not None and change.high is not None:
            between, is_clear = minus(f"CI {change.low:.1f} to {change.high:.1f}"), change.low > 0 or change.high < 0
        parts.append(
            f"{LABELS.get(column, column)} {_one(own.value)} ({minus(f'{change.value:+.1f}')}, {between}; "
            f"{'significant' if is_clear else 'not significant'})"
        )
    n, base = len(study.trainings[name]), next(iter(study.trainings))
    return f"{name}, mean of {n} trainings against {base}: {'; '.join(parts)}."


def _finding(study: Study, point: Measured) -> str:
    """`int8 is 1.8 times as fast (CI 1.6–2.0); BLEU 31.2, unchanged; ...`"""
    changes = point.changes
    # Of other benchmarks, only significant changes of gaps.
    gaps = [column for column in point.others if column in changes and changes[column].better == "zero"]
    others = [*(group for group in GROUPS if group != HURT), "Δ", *gaps]
    named = [QUALITY[0], HURT, *(one for one in others if one in changes and changes[one].is_significant)]
    parts = [change_in_words(LABELS.get(one, one), changes[one]) for one in named if one in changes]
    return f"{point.name} {'; '.join([_of_speed(point, study), *parts])}."


def _of_speed(point: Measured, study: Study) -> str:
    found = study.times_as_fast(point)
    if found.low is None or found.high is None:
        n = len(study.rounds.rounds)
        return f"was {found.value:.1f} times as fast in {n} round{'s' if n > 1 else ''}, too few for an interval"
    if found.low > 1:
        return f"is {_times(found.value)} times as fast (CI {_times(found.low)}–{_times(found.high)})"
    if found.high < 1:
        value, low, high = (_times(1 / one) for one in (found.value, found.high, found.low))
        return f"takes {value} times as long (CI {low}–{high})"
    return f"is not significantly faster or slower (CI {_times(found.low)}–{_times(found.high)} times as fast)"


def _times(value: float) -> str:
    return f"{value:.2f}" if value < 2 else f"{value:.1f}"


def _one(value: float | None) -> str:
    return minus(Unit.PERCENT.show(value))


def _ends(low: float | None, high: float | None, decimals: int = 2) -> str:
    return "–" if low is None or high is None else minus(f"[{low:.{decimals}f}, {high:.{decimals}f}]")


def study_json(study: Study) -> dict[str, Any]:
    return {
        **study.facts,
        "direction": study.direction,
        "n_rounds": len(study.rounds.rounds),
        "points": [_point_json(study, point) for point in study.points],
        "max_drops": {how: {"means": means, **study.max_drops(how)} for how, means in MAX_DROPS.items()},
        "trends": {column: found for column in DROPPING if (found := study.trend(column)) is not None},
        "trainings": {
            name: {
                column: {
                    "values": study.of_trainings(name, column),
                    "mean": spans[0]._asdict(),
                    "difference": spans[1]._asdict(),
                }
                for column in ("time", *study.columns)
                if (spans := study.trained(name, column)) is not None
            }
            for name in study.trainings
        },
        "findings": findings(study),
        "notes": list(study.notes),
    }


def _point_json(study: Study, point: Measured) -> dict[str, Any]:
    own = {
        "name": point.name,
        "system": point.spec,
        "run": f"runs/{point.slug}",
        "is_baseline": point is study.baseline,
        "seconds_per_1000": study.seconds(point)._asdict(),
        "rounds": {clock: study.rounds.seconds(point.name, clock) for clock in CLOCKS},
        "values": {column: span._asdict() for column, span in point.values.items()},
    }
    if point is study.baseline:
        return own
    return {
        **own,
        "times_as_fast": study.times_as_fast(point)._asdict(),
        "seconds_saved_per_1000": study.saved(point)._asdict(),
        "relative_drops": {column: study.drop(point, column) for column in ("time", *DROPPING, "chrF")},
        "points_lost_per_second_saved": {"group": HURT, **study.price(point)._asdict()},
        "changes": {column: change.to_json() for column, change in point.changes.items()},
    }


# -- tables ------------------------------------------------------------------------------------------------------------


def table4(study: Study) -> Table:
    columns = study.columns
    rows: list[tuple[str, ...]] = [
        (point.name, f"{study.seconds(point).value:.2f}", *(_one(point.value(column)) for column in columns))
        for point in study.points
    ]
    for how in MAX_DROPS:
        found = study.max_drops(how)
        drops = ("" if column in GAPS else _one(found[column]) for column in ("time", *columns))
        rows.append((f"max rel. % drop, {how}", *drops))
    return Table(("point", TIME, *columns), rows, f"Speed and gender, {study.direction}", name="speed")


def over_trainings(study: Study) -> Table:
    columns = ("time", *study.columns)
    rows: list[tuple[str, ...]] = []
    for name, points in study.trainings.items():
        found = [study.trained(name, column) for column in columns]
        rows.append((f"{name}, {len(points)} trainings", *(_one(one[0].value) if one else "–" for one in found)))
        rows.append(("interval", *(_ends(one[0].low, one[0].high, 1) if one else "–" for one in found)))
        if rows[2:]:
            change = [_ends(one[1].low, one[1].high, 1) if one else "–" for one in found]
            rows.append((f"minus {next(iter(study.trainings))}", *change))
    return Table(("model", TIME, *study.columns), rows, f"Mean over trainings, {study.direction}")


def changes(study: Study) -> Table:
    """Every value of every other point, its change with interval, and the corrected p-value."""
    rows = []
    for point in study.points:
        for column, change in point.changes.items():
            drop = "" if column in (*GAPS, *point.others) else "–"
            if drop and (relative := study.drop(point, column)) is not None:
                drop = minus(f"{relative:.1f} %")
            values = (change.unit.show(change.first), change.unit.show(change.second))
            moved = (minus(change.unit.show_change(change.difference)), minus(change.interval))
            state = "unchanged" if is_unchanged(change) else change.change()
            rows.append((point.name, column, *values, *moved, show_p(change.p_adjusted), drop, state))
    heads = ("point", "number", study.baseline.name, "then", "change", "interval", "p", "rel. drop", "is")
    return Table(heads, rows, f"Against {study.baseline.name}")


def prices(study: Study) -> Table:
    rows = []
    for point in study.points:
        seconds, fast, price = study.seconds(point), study.times_as_fast(point), study.price(point)
        row = [point.name, f"{seconds.value:.2f}", _ends(seconds.low, seconds.high), "", "", ""]
        if point is not study.baseline:
            # Adding zero turns -0 into 0.
            value, low, high = (
                None if one is None else minus(f"{round(one, 2) + 0.0:.2f}")
                for one in (price.value, price.low, price.high)
            )
            lost = (value if low is None else f"{value} ({low} to {high})") or price.reason
            row[3:] = f"{fast.value:.2f}", _ends(fast.low, fast.high), lost
        rows.append(row)
    heads = ("point", TIME, "interval", "times as fast", "interval", "points lost per second")
    return Table(heads, rows, "Time, and what speed cost women in men's occupations")


# -- figures -----------------------------------------------------------------------------------------------------------

_LOOKS = {
    "BLEU": Look("circle", charts.COLOURS[0]),
    "pro": Look("square", charts.COLOURS[2]),
    "anti": Look("triangle", charts.COLOURS[1]),
    "FOFC": Look("square", charts.COLOURS[3]),
    "MOFC": Look("triangle", charts.COLOURS[1]),
    "MOMC": Look("diamond", charts.COLOURS[2]),
    "FOMC": Look("down", charts.COLOURS[6]),
}
_ENTRIES = {**LABELS, "pro": "pro: fits the stereotype", "anti": "anti: goes against it"}


def _figure(study: Study, number: str, title: str, columns: Sequence[str]) -> Figure | None:
    points: list[Point] = []
    drawn: list[Line] = []
    entries = []
    for column in columns:
        look, found = _LOOKS[column], study.scatter(column)
        for point, x, y in found:
            label = f"{point.name}: time {minus(f'{x:.1f}')}%, {column} {minus(f'{y:.1f}')}%"
            points.append(Point(x, y, look, label))
        if found:
            entries.append((_ENTRIES.get(column, column), look))
        if found and (trend := study.trend(column)):
            slope, height = trend
            ends = [(edge(x for _, x, _ in found)) for edge in (min, max)]
            first, last = ((x, height + slope * x) for x in ends)
            drawn.append(Line(first, last, colour=look.colour))
    if not points:
        return None

    def draw(canvas: Canvas) -> None:
        axes = ("drop in time, % of the baseline", "drop in percent of the baseline")
        charts.scatter(canvas, points, drawn, axes, charts.legend(canvas, entries, 0))

    lines = "Lines: least squares. " if drawn else ""
    caption = (
        f"Each mark is one of {len(study.points)} points ({study.direction}); {study.baseline.name} is at 0. Right is "
        f"faster, up is worse. {lines}In the form of Figure {number} of Renduchintala et al. (2021)."
    )
    return figure(f"figure-{number.lower()}", title, caption, "", draw)


# -- the page ----------------------------------------------------------------------------------------------------------


def write_files(study: Study, output: Path, command: str = "") -> None:
    wanted = (
        ("1", "What speed costs: quality, and the right gender", ("BLEU", "pro", "anti")),
        ("A2", "What speed costs, by who is meant and whose job it is", ("BLEU", *GROUPS)),
    )
    drawn = [one for one in (_figure(study, *figure) for figure in wanted) if one is not None]
    title = f"Speed and gender: {charts.direction(study.direction)}"
    write_text(output / PAGE, html.render("plain.html", title, sections=_sections(study, drawn, command)))
    write_text(output / "table.md", markdown_.markdown([Section(title, [], level=1), *_sections(study)]))
    write_text(output / "table.tex", latex_.render([replace(_explained_table4(study), notes=findings(study))]))
    for one in drawn:
        write_text(output / f"{one.name}.svg", one.svg)


def _sections(study: Study, drawn: Sequence[Figure] = (), command: str = "") -> list[Section]:
    about = (
        f"Each is compared with {study.baseline.name}. CI: {100 * study.confidence:g}% confidence interval. Tests are "
        "corrected for multiple tests (Holm)."
    )
    notes = [f"{note[:1].upper()}{note[1:]}." for note in study.notes]
    sections: dict[str, Sequence[Block]] = {
        "The finding": [Bullets(findings(study)), *(Paragraph(text, "note") for text in (about, *notes))],
        "The numbers": _number_blocks(study),
        "The pictures": [Section("", drawn, kind="pictures")] if drawn else [],
        "What changed": [
            Paragraph(
                "p is corrected by Holm's method over the numbers of each pair of points, as in compare.", "note"
            ),
            changes(study),
        ],
        "In the paper": _published_blocks(study),
        "How it was measured": _measured_blocks(study, command),
    }
    return [Section(name, parts, id=name.split()[-1]) for name, parts in sections.items() if parts]


def _explained_table4(study: Study) -> Table:
    caption = (
        f"{study.direction}: in the form of Table 4 of Renduchintala et al. (2021): seconds for 1,000 sentences "
        f"(median of {len(study.rounds.rounds)} rounds, {study.rounds.clock} clock), quality, and percent right. FO, "
        "MO: occupations of women, of men; FC, MC: the sentence says that the person is a woman, a man."
    )
    return replace(table4(study), caption=caption)


def _number_blocks(study: Study) -> list[Block]:
    lost = (
        "Points lost per second: by how many points women in men's occupations fared worse for each second saved on "
        "1,000 sentences; below 0, they fared better. There is no number where no time was clearly saved."
    )
    points = study.points
    of_others = [(column, *(_one(point.value(column)) for point in points)) for column in study.baseline.others]
    spans = [(point.name, column, span) for point in points for column, span in point.values.items()]
    rows = [(name, column, _one(span.value), _ends(span.low, span.high, 1)) for name, column, span in spans]
    every = Table(("point", "number", "value", "interval"), rows, n_text=2)
    return [
        *([over_trainings(study)] if study.trainings else []),
        _explained_table4(study),
        Bullets([f"max drop, {how}: {means}" for how, means in MAX_DROPS.items()]),
        prices(study),
        *([Table(("number", *(point.name for point in points)), of_others, "Other benchmarks")] if of_others else []),
        Paragraph(lost, "note"),
        Section("Every number with its interval", [every], level=3, folded=True),
    ]


def _published_blocks(study: Study) -> list[Block]:
    found: list[Block] = []
    for section in published_sections():
        if section.direction == study.direction:
            found.append(section.drops())
            wrong = [f"{name} {section.max_drop[name]:.1f} ({value:.1f})" for name, value in section.misprints.items()]
            if wrong:
                what = "Printed drops that do not follow from the rows (in brackets: what they give)"
                found.append(Paragraph(f"{what}: {', '.join(wrong)}.", "note"))
    about = (
        "What the authors found, to compare with the drops above: other models, other data, another machine. Time and "
        "BLEU were measured on the test sets of WMT."
    )
    return [Paragraph(about, "note"), *found] if found else []


def _measured_blocks(study: Study, command: str) -> list[Block]:
    facts, rounds = study.facts, study.rounds
    rows = {
        "time": f"{CLOCKS[rounds.clock]}; {len(rounds.rounds)} rounds of all points in turn, each after {N_WARM_UP} "
        "sentences that do not count",
        "timed on": f"{facts['n_timed']:,} sentences of {facts['timed_on']}",
        "test set": str(facts["test_set"] or "none"),
        "data": f"{facts['data']}; rules {facts['rules']}",
        "machine": ", ".join(f"{key} {value}" for key, value in facts["machine"].items()),
    }
    for name, one in facts["systems"].items():
        spec = " ".join([one["spec"], *(f"{key}={value}" for key, value in one["options"].items())])
        rows[name] = "; ".join(filter(None, (spec, one["decoding"], one["computing"], one["system_id"])))
    runs = shlex.join(f"{point.name}=runs/{point.slug}" for point in study.points)
    lines = {"This page:": command, "All sentences, side by side:": f"gendermark report {runs} -o report.html"}
    again = [block for what, line in lines.items() if line for block in (Paragraph(what), Code(line))]
    return [Drawing("facts", [(name, [text]) for name, text in rows.items()]), *again]
