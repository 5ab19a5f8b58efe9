"""The result of scoring: estimates first, with all details."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from itertools import repeat
from typing import TYPE_CHECKING, Any

from gendermark.errors import UnknownKey
from gendermark.metrics.verdicts import BiasVerdict
from gendermark.names import readable, told_apart
from gendermark.records import Estimate, Judgement, Table, Test, frame, level_of
from gendermark.selection import Selection

if TYPE_CHECKING:
    import pandas


def find_estimate(estimates: Sequence[Estimate], metric: str, part: str) -> Estimate:
    """The estimate of one metric on one slice, or an error that lists the available ones."""
    for found in estimates:
        if (found.metric, found.slice) == (metric, part):
            return found
    known = [f"{e.metric}:{e.slice}" for e in estimates]
    close = get_close_matches(f"{metric}:{part}", known, n=1)
    guess = f" (did you mean {close[0]}?)" if close else ""
    raise UnknownKey(f"no estimate {metric}:{part}{guess}; available: {', '.join(known)}")


SourceAndTranslation = tuple[str, str | None]
ACCEPTED, UNSOUND = "Unsound translations were accepted: ", "The translations look unsound: "
"""Start of a result's warning, by whether its run accepted unsound translations or did not check them."""
_MOST_SHOWN = 12
"""Rows of the table in a notebook."""


@dataclass(frozen=True)
class Result:
    """One benchmark, direction and system: estimates, with the judgements, tests and tables behind them."""

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
    """The given name of the system; no number depends on it."""
    verdicts: tuple[BiasVerdict, ...] = ()
    """Whether each of the benchmark's questions shows a bias, corrected for each other only."""
    lost_by_gender: Mapping[str, Any] | None = field(default=None, repr=False)
    """Numbers of untranslated sentences about women and men; None if unknown."""
    texts: Sequence[SourceAndTranslation] = field(default=(), repr=False, compare=False)
    """Source and translation of each judgement; empty if unavailable."""

    @property
    def cell(self) -> str:
        return self.selection.cell

    @property
    def unsound(self) -> list[str]:
        """Warnings about unsound translations."""
        return [one for one in self.warnings if one.startswith((ACCEPTED, UNSOUND))]

    def estimate(self, metric: str, slice: str = "all") -> Estimate:  # noqa: A002 (the contract's word)
        return find_estimate(self.estimates, metric, slice)

    def __getitem__(self, key: str | tuple[str, str]) -> Estimate:
        """`result["accuracy"]`; for a slice, `result["accuracy", "feminine"]` or `result["accuracy:feminine"]`."""
        metric, _, part = (":".join(map(str, key)) if isinstance(key, tuple) else str(key)).partition(":")
        return self.estimate(metric, part or "all")

    __iter__ = None  # not iterable, despite `[...]`

    def find(self, metric: str, part: str = "all") -> Estimate | None:
        """The estimate, or None without a value."""
        return next((e for e in self.estimates if (e.metric, e.slice) == (metric, part) and e.value is not None), None)

    @property
    def called(self) -> str:
        """The name of its system, for headings."""
        return self.name or readable(self.system)

    @cached_property
    def signed(self) -> Mapping[str, str]:
        """The signature as a mapping."""
        pairs = (part.partition(":") for part in self.signature.split("|"))
        return {key: value for key, colon, value in pairs if colon}

    def table(self, name: str) -> Table:
        """A detailed table, such as `entities` of WinoMT; it has `to_pandas()`."""
        for found in self.tables:
            if found.name == name:
                return found
        raise UnknownKey(f"no table {name!r}; available: {', '.join(table.name for table in self.tables) or 'none'}")

    def to_json(self) -> dict[str, Any]:
        """The object of `--json`. Other programs rely on its keys: add, never rename."""
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

    # Reporting is loaded by name: it is a layer above this module.

    @property
    def findings(self) -> list[str]:
        """The findings as sentences, the most general first."""
        found: list[str] = import_module("gendermark.reporting.findings").findings(self)
        return found

    def plot(self) -> Any:
        """Women and men as dots with intervals: SVG in a notebook, `.save(path)` elsewhere.

        If the benchmark does not compare women and men, its headline metrics.
        """
        return import_module("gendermark.reporting.figures").plot(self)

    def to_latex(self, *metrics: str) -> str:
        """The table of the benchmark's paper, filled with this result (booktabs).

        Args:
            metrics: columns of a table of these metrics instead: `to_latex("accuracy", "accuracy:feminine")`.
        """
        text: str = import_module("gendermark.reporting.tables").render({self.called: [self]}, "latex", metrics)
        return text

    def to_pandas(self) -> pandas.DataFrame:
        """The estimates as a data frame, one row each; frames of several results can be concatenated."""
        selection = self.selection
        about = {
            "system": self.called,
            "benchmark": selection.benchmark,
            "source_language": selection.source_language,
            "target_language": selection.target_language,
        }
        return frame([{**about, **estimate.to_json()} for estimate in self.estimates])

    def judgement_rows(self) -> Iterator[dict[str, Any]]:
        """Lines of `--judgements`, with source and translation."""
        facts = {"system": self.called, "target_language": self.selection.target_language}
        texts: Iterable[SourceAndTranslation | tuple[None, None]] = self.texts or repeat((None, None))
        for judgement, (source, translation) in zip(self.judgements, texts, strict=bool(self.texts)):
            yield {**judgement.to_json(), "source": source, "translation": translation, **facts}

    def judgements_to_pandas(self) -> pandas.DataFrame:
        """The judgements as a data frame, with source and translation; every tag is a column."""
        return frame(
            [{**row.pop("tags"), **row, "evidence": " ".join(row["evidence"])} for row in self.judgement_rows()]
        )

    def __repr__(self) -> str:
        title = f"{self.cell} of {self.called}: {self.selection.data} data, {self.selection.rules_in_words}"
        columns = ("metric", "slice", "value", level_of(self.signature), "judged", "verdict")
        lines = [repr(Table("", title, columns, list(map(self._row, self._shown))))]
        if len(self._shown) < len(self.estimates):
            lines.append(
                f"  {len(self._shown)} of {len(self.estimates)} estimates; .to_pandas() has all, .findings says more"
            )
        return "\n".join([*lines, *(f"  {warning}" for warning in self.warnings), f"  {self.signature}"])

    @property
    def _shown(self) -> list[Estimate]:
        """Estimates for notebooks: over all items, women and men."""
        return [e for e in self.estimates if e.slice in ("all", "feminine", "masculine")][:_MOST_SHOWN]

    def _row(self, e: Estimate) -> tuple[str, ...]:
        states = {(one.metric, one.slice): one.state.replace("_", " ") for one in self.verdicts}
        judged = f"{e.n_judged:,} of {e.n_total:,}"
        return e.metric, e.slice, e.shown, e.interval, judged, states.get((e.metric, e.slice), "")

    def _repr_html_(self) -> str:
        """A small table for notebooks; `to_pandas` has all estimates."""
        rows = [(f"{metric} ({part})", *cells) for metric, part, *cells in map(self._row, self._shown)]
        columns = ("metric", "value", level_of(self.signature), "judged", "verdict")
        return Table("", f"{self.cell}: {self.called}", columns, rows)._repr_html_()


class ResultList(list[Result]):
    """The results of one run, by index or name: `results["winomt"]`, `results["winomt.en-es"]`."""

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        found = [one for one in self if key in (one.selection.benchmark, one.cell)]
        if len(found) != 1:
            known = ", ".join(one.cell for one in self)
            raise UnknownKey(f"{'several results are' if found else 'no result is'} called {key!r}; available: {known}")
        return found[0]


def run_labels(runs: Mapping[str, Sequence[Result]]) -> dict[str, str]:
    """Folder -> display name of its run: its system, with the folder if ambiguous."""
    names = [results[0].called if results else folder for folder, results in runs.items()]
    return dict(zip(runs, told_apart(names, list(runs)), strict=True))


def check_result(result: Result) -> Result:
    """Validate a result; TypeError for a value that only a damaged run folder or faulty plug-in has.

    Called where results enter. Judgements are validated as they are read (`check_judgement`).
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
    """Validate a judgement; TypeError for one that only a damaged run folder or faulty plug-in has."""
    j = judgement
    facts = (j.item_id, j.group_id, j.entity, j.contrast, j.reason, j.outcome)
    are_numbers = all(map(_is_number, j.measures.values()))
    if not are_numbers or not _all_texts(*facts, *j.evidence, *j.tags.values()) or not isinstance(j.index, int):
        raise TypeError(f"judgement {j.item_id!r:.60} has a value of the wrong kind")
    return judgement


def _all_texts(*values: object) -> bool:
    return all(isinstance(value, str) for value in values)


def _is_p_value(value: object) -> bool:
    return value is None or (_is_number(value) and 0 <= value <= 1)  # type: ignore[operator]  # it is a number


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) < 1e300  # false for NaN and infinity
