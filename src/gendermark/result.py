"""What scoring gives back: estimates first, everything behind them at hand."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from itertools import repeat
from typing import TYPE_CHECKING, Any

from gendermark.errors import MissingExtra
from gendermark.metrics.verdicts import BiasVerdict
from gendermark.names import readable, told_apart
from gendermark.records import Estimate, Judgement, Table, Test
from gendermark.selection import Selection

if TYPE_CHECKING:
    import pandas


def find_estimate(estimates: Sequence[Estimate], metric: str, part: str) -> Estimate:
    """The estimate of one metric on one slice, or an error that says which there are."""
    for found in estimates:
        if (found.metric, found.slice) == (metric, part):
            return found
    known = ", ".join(f"{e.metric}:{e.slice}" for e in estimates)
    raise KeyError(f"no estimate {metric}:{part}; available: {known}")


SourceAndTranslation = tuple[str, str | None]
_MOST_SHOWN = 12
"""Rows of the table in a notebook."""


@dataclass(frozen=True)
class Result:
    """One benchmark, one direction, one system: its estimates, and the judgements, tests and tables behind them."""

    selection: Selection
    origin: str
    system: str
    estimates: tuple[Estimate, ...]
    judgements: Sequence[Judgement] = field(repr=False)
    tests: tuple[Test, ...] = ()
    tables: tuple[Table, ...] = field(default=(), repr=False)
    warnings: tuple[str, ...] = ()
    signature: str = ""
    name: str = field(default="", compare=False)
    """What the system is called, if somebody said so; no number depends on it."""
    verdicts: tuple[BiasVerdict, ...] = ()
    """Which of the benchmark's questions show a bias; corrected for each other, and for no other result."""
    lost_by_gender: Mapping[str, Any] | None = field(default=None, repr=False)
    """How many sentences about women and about men were not translated; None where that is not known."""
    texts: Sequence[SourceAndTranslation] = field(default=(), repr=False, compare=False)
    """Source and translation of each judgement; empty where they are not at hand."""

    @property
    def cell(self) -> str:
        return self.selection.cell

    def estimate(self, metric: str, slice: str = "all") -> Estimate:  # noqa: A002 (the contract's word)
        """The estimate of one metric on one slice."""
        return find_estimate(self.estimates, metric, slice)

    def __getitem__(self, key: str | tuple[str, str]) -> Estimate:
        """`result["accuracy"]`, or of one slice: `result["accuracy", "feminine"]`."""
        return self.estimate(*((key,) if isinstance(key, str) else key))

    def find(self, metric: str, part: str = "all") -> Estimate | None:
        """The same, if it has a value."""
        return next((e for e in self.estimates if (e.metric, e.slice) == (metric, part) and e.value is not None), None)

    @property
    def called(self) -> str:
        """The name of its system, for headings."""
        return self.name or readable(self.system)

    @cached_property
    def signed(self) -> Mapping[str, str]:
        """The signature by its keys."""
        pairs = (part.partition(":") for part in self.signature.split("|"))
        return {key: value for key, colon, value in pairs if colon}

    def table(self, name: str) -> Table:
        """One of the detailed tables."""
        for found in self.tables:
            if found.name == name:
                return found
        raise KeyError(f"no table {name!r}; available: {', '.join(table.name for table in self.tables) or 'none'}")

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints. Other programs rely on its keys: add, never rename."""
        return {
            "benchmark": self.selection.benchmark,
            "language": self.selection.target_language,
            "source_language": self.selection.source_language,
            "data": self.selection.data,
            "rules": self.selection.rules,
            "system": self.system,
            "name": self.called,
            "estimates": [estimate.to_json() for estimate in self.estimates],
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "tests": [test.to_json() for test in self.tests],
            "warnings": list(self.warnings),
            "signature": self.signature,
            "lost_by_gender": self.lost_by_gender,
        }

    # What presents a result is loaded by name: this module stands below all of it.

    @property
    def findings(self) -> list[str]:
        """What the result shows, in a few sentences; the most general first."""
        found: list[str] = import_module("gendermark.reporting.findings").findings(self)
        return found

    def plot(self) -> Any:
        """Women and men as dots with their intervals: an SVG picture in a notebook, `.save(path)` elsewhere.

        Where a benchmark does not count women and men apart, its headline metrics.
        """
        return import_module("gendermark.reporting.figures").plot(self)

    def to_latex(self) -> str:
        """The table of the benchmark's paper, filled with this result (booktabs)."""
        text: str = import_module("gendermark.reporting.tables").render({self.called: [self]}, "latex")
        return text

    def to_pandas(self) -> pandas.DataFrame:
        """The estimates as a data frame, one row each; frames of several results stack."""
        selection = self.selection
        about = {
            "system": self.called,
            "benchmark": selection.benchmark,
            "source_language": selection.source_language,
            "target_language": selection.target_language,
        }
        return _frame([{**about, **estimate.to_json()} for estimate in self.estimates])

    def judgement_rows(self) -> Iterator[dict[str, Any]]:
        """A line of `--judgements` for each judgement, with its sentence."""
        facts = {"system": self.called, "target_language": self.selection.target_language}
        texts: Iterable[SourceAndTranslation | tuple[None, None]] = self.texts or repeat((None, None))
        for judgement, (source, translation) in zip(self.judgements, texts, strict=bool(self.texts)):
            yield {**judgement.to_json(), "source": source, "translation": translation, **facts}

    def judgements_to_pandas(self) -> pandas.DataFrame:
        """The judgements as a data frame, with source and translation; every tag is a column."""
        return _frame(
            [{**row.pop("tags"), **row, "evidence": " ".join(row["evidence"])} for row in self.judgement_rows()]
        )

    def __repr__(self) -> str:
        lines = [f"<{self.cell} of {self.called}: {self.selection.data} data, rules {self.selection.rules}>"]
        lines += [
            f"  {e.metric:<14} {e.slice:<12} {e.shown} {e.interval}  {e.n_judged:,} of {e.n_total:,} judged"
            for e in self.estimates
        ]
        return "\n".join([*lines, f"  {self.signature}"])

    def _repr_html_(self) -> str:
        """A small table for notebooks: the numbers over all items, of women and of men; `to_pandas` has the rest."""

        def row(cells: Sequence[str], tag: str) -> str:
            first, *others = (html.escape(cell) for cell in cells)
            aligned = "".join(f'<{tag} style="text-align:right">{cell}</{tag}>' for cell in others)
            return f'<tr><{tag} style="text-align:left">{first}</{tag}>{aligned}</tr>'

        shown = [e for e in self.estimates if e.slice in ("all", "feminine", "masculine")][:_MOST_SHOWN]
        body = "".join(
            row((f"{e.metric} ({e.slice})", e.shown, e.interval, f"{e.n_judged:,} of {e.n_total:,}"), "td")
            for e in shown
        )
        caption = f"{html.escape(self.cell)}: {html.escape(self.called)}"
        head = row(("metric", "value", "interval", "judged"), "th")
        return f"<table><caption>{caption}</caption>{head}{body}</table>"


def run_labels(runs: Mapping[str, Sequence[Result]]) -> dict[str, str]:
    """Folder -> how its run is called: by its system; with the folder where two would be called the same."""
    names = [results[0].called if results else folder for folder, results in runs.items()]
    return dict(zip(runs, told_apart(names, list(runs)), strict=True))


def check_result(result: Result) -> Result:
    """The same result; TypeError for a value that only a damaged run folder or a faulty plug-in has.

    Called where results enter, not whenever one is made. No number of ours is ever NaN. Judgements are checked one by
    one as they are read (`check_judgement`).
    """
    selection = result.selection
    if not _all_texts(selection.benchmark, *selection.parts):
        raise TypeError(f"the names of a benchmark and its parts are texts, not {selection.benchmark!r:.60} ...")
    if not _all_texts(result.origin, result.system, result.signature, *result.warnings):
        raise TypeError(f"origin, system, signature and warnings are texts, not all of {result.origin!r:.60} ...")
    for e in result.estimates:
        numbers = [x for x in (e.value, e.low, e.high) if x is not None] + [e.n_groups, e.n_judged, e.n_total]
        if not _all_texts(e.metric, e.slice) or not all(map(_is_number, numbers)) or not _is_p_value(e.p_value):
            raise TypeError(f"an estimate has a value of the wrong kind: {e.metric!r}, {e.slice!r}, {numbers!r:.60}")
    for test in result.tests:
        is_text = _all_texts(test.name, test.question) and isinstance(test.details, Mapping)
        if not is_text or not _is_p_value(test.p_value) or not _is_number(test.statistic or 0):
            raise TypeError(f"the test {test.name!r:.60} has a value of the wrong kind")
    for table in result.tables:
        if not _all_texts(table.name, table.title, *table.columns) or not all((table.columns, *table.rows)):
            raise TypeError(f"the table {table.name!r:.60} is not one of texts under named columns")
    return result


def check_judgement(judgement: Judgement) -> Judgement:
    """The same judgement; TypeError for one that only a damaged run folder or a faulty plug-in has."""
    j = judgement
    facts = (j.item_id, j.group_id, j.entity, j.contrast, j.reason, j.outcome)
    if not _all_texts(*facts, *j.evidence, *j.tags.values()) or not isinstance(j.index, int):
        raise TypeError(f"judgement {j.item_id!r:.60} has a value of the wrong kind")
    return judgement


def _all_texts(*values: object) -> bool:
    return all(isinstance(value, str) for value in values)


def _is_p_value(value: object) -> bool:
    return value is None or (_is_number(value) and 0 <= value <= 1)  # type: ignore[operator]  # it is a number


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) < 1e300  # false of NaN and infinity


def _frame(rows: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError:
        raise MissingExtra("to_pandas()", "pandas") from None
    return pandas.DataFrame(list(rows))
