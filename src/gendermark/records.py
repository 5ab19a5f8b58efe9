"""The records of the pipeline, all frozen: Item, Request, Translation, Judgement, Estimate.

Every stage reads one kind of record and writes the next.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gendermark.errors import MissingExtra

if TYPE_CHECKING:
    import pandas

_as_json = json.JSONEncoder(ensure_ascii=False).encode
"""Like `json.dumps`, which creates an encoder per call."""


class Gender(StrEnum):
    """The gender that a source implies or a translation expresses. `NEUTRAL` means deliberately unspecified."""

    MASCULINE = "masculine"
    FEMININE = "feminine"
    NEUTRAL = "neutral"

    @property
    def opposite(self) -> Gender:
        """Swap masculine and feminine; neutral is unchanged."""
        return {Gender.MASCULINE: Gender.FEMININE, Gender.FEMININE: Gender.MASCULINE}.get(self, self)


class Verdict(StrEnum):
    """Outcome of judging one translation."""

    JUDGED = "judged"
    UNJUDGEABLE = "unjudgeable"
    NOT_TRANSLATED = "not-translated"


class Unit(StrEnum):
    """The unit of a number, which determines its format everywhere."""

    PERCENT = "percent"
    SCORE = "score"
    """A quality score of 0 to 100, such as BLEU."""
    SHARE = "share"
    """0 to 1, in the four decimals of TGBI's tables."""
    PROBABILITY = "probability"
    """0 to 1, of samples."""
    NATS = "nats"
    RATIO = "ratio"
    COUNT = "count"

    @property
    def decimals(self) -> int:
        return {Unit.SHARE: 4, Unit.PROBABILITY: 3, Unit.NATS: 3, Unit.RATIO: 3}.get(self, 1)

    @property
    def scale(self) -> str:
        """Unit in tables of metrics."""
        return {Unit.PERCENT: "%", Unit.SCORE: "0-100", Unit.SHARE: "0-1", Unit.PROBABILITY: "0-1"}.get(
            self, self.value
        )

    @property
    def of_differences(self) -> str:
        """Unit of a difference: "3.1 points", "0.2 nats"."""
        return {Unit.PERCENT: " points", Unit.SCORE: " points", Unit.NATS: " nats"}.get(self, "")

    @property
    def is_of_hundred(self) -> bool:
        return self in (Unit.PERCENT, Unit.SCORE)

    def show(self, value: float | None) -> str:
        """Format a value; the only place where a number becomes text. Never -0."""
        if value is None:
            return "–"
        text = f"{value:.{self.decimals}f}"
        return text.lstrip("-") if not text.strip("-0.") else text

    def show_change(self, value: float | None) -> str:
        """Format a difference, with its sign."""
        text = self.show(value)
        return f"+{text}" if value and value > 0 and text.strip("0.") else text


def show_p(p_value: float | None) -> str:
    """Format a p-value."""
    if p_value is None:
        return "–"
    return "<0.0001" if p_value < 0.0001 else f"{p_value:.4f}"


class Task(StrEnum):
    """The task of a request: translate, sample or score."""

    TRANSLATE = "translate"
    SAMPLE = "sample"
    SCORE = "score"


@dataclass(frozen=True, slots=True)
class Item:
    """A source sentence of a benchmark, and what a good translation would express."""

    item_id: str
    index: int
    """0-based row in export order (official data: in the order of the official file)."""
    group_id: str
    """The cluster for resampling: its template, lexeme or counterfactual pair."""
    source: str
    expected: Gender | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    """Further facts, read only by its benchmark."""
    entity: str = ""
    """The noun whose gender is read, if the benchmark names one."""
    contrast: str = ""
    """Key shared by the versions of a sentence in different genders, and by no other sentence."""

    @property
    def all_tags(self) -> dict[str, str]:
        """Tags including the facts above, as other programs expect them."""
        facts = {"entity": self.entity, "contrast": self.contrast}
        return {**self.tags, **{name: value for name, value in facts.items() if value}}


@dataclass(frozen=True)
class Request:
    """A request to a system. The id depends on content alone, so that equal requests are sent once.

    A sampling request covers samples `first_sample` to `first_sample + n_samples - 1`. Those two numbers are not part
    of the id: further samples of the same request extend the stored ones.
    """

    source: str
    source_language: str
    target_language: str
    task: Task = Task.TRANSLATE
    target: str | None = None
    """The translation to score, for `Task.SCORE`."""
    options: tuple[tuple[str, str], ...] = ()
    """Decoding options (temperature, seed ...) as sorted key-value pairs; part of the id."""
    first_sample: int = 0
    n_samples: int = 1

    @cached_property
    def request_id(self) -> str:
        content = [self.source, self.source_language, self.target_language, self.task, self.target, self.options]
        return hashlib.sha256(_as_json(content).encode()).hexdigest()[:32]

    @property
    def samples(self) -> range:
        return range(self.first_sample, self.first_sample + self.n_samples)


@dataclass(frozen=True, slots=True)
class Translation:
    """A system's answer to one request (one sample of it), or its error."""

    request_id: str
    text: str | None
    sample: int = 0
    error: str | None = None
    log_probability: float | None = None
    """The model's own, of the whole text including its end."""
    n_tokens: int | None = None
    """Number of tokens in that log-probability, including the end."""
    token_log_probabilities: tuple[float, ...] | None = None
    """For scored texts only."""


Span = tuple[int, int]
"""A range of characters."""


def pieces(text: str, spans: Iterable[Span]) -> Iterator[tuple[str, bool]]:
    """Split a text at these spans: each piece, and whether it is one of them. Overlapping and invalid spans are
    ignored."""
    end = 0
    for start, stop in sorted(spans):
        if end <= start < stop <= len(text):
            yield text[end:start], False
            yield text[start:stop], True
            end = stop
    yield text[end:], False


@dataclass(frozen=True, slots=True)
class Judgement:
    """The gender found in one translation, with the facts about its item."""

    item_id: str
    index: int
    group_id: str
    verdict: Verdict
    expected: Gender | None
    observed: Gender | None
    tags: Mapping[str, str] = field(default_factory=dict)
    evidence: tuple[str, ...] = ()
    """The words that decided it."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """Numbers of this translation that metrics sum (such as BLEU statistics)."""
    entity: str = ""
    contrast: str = ""
    reason: str = ""
    """Why there is no verdict, or how it was reached, in a word."""
    outcome: str = ""
    """The outcome if `expected` and `observed` do not determine it: `mixed`, `undecided` ..."""
    spans: tuple[Span, ...] = ()
    """Position of the evidence in the translation; empty if unknown."""

    @classmethod
    def of(
        cls,
        item: Item,
        verdict: Verdict,
        observed: Gender | None = None,
        *,
        tags: Mapping[str, str] | None = None,
        evidence: tuple[str, ...] = (),
        measures: Mapping[str, float] | None = None,
        reason: str = "",
        outcome: str = "",
        spans: tuple[Span, ...] = (),
    ) -> Judgement:
        """The judgement of a translation of this item, with its tags unless others are given."""
        return cls(
            item.item_id,
            item.index,
            item.group_id,
            verdict,
            item.expected,
            observed,
            item.tags if tags is None else tags,
            evidence,
            {} if measures is None else measures,
            item.entity,
            item.contrast,
            reason,
            outcome,
            spans,
        )

    @property
    def is_correct(self) -> bool:
        return self.verdict is Verdict.JUDGED and self.observed is not None and self.observed == self.expected

    def to_json(self) -> dict[str, Any]:
        """A line of `--judgements`, with facts among the tags as other programs expect."""
        facts = {name: value for name in _FACTS if (value := getattr(self, name))}
        return {
            "item_id": self.item_id,
            "index": self.index,
            "group_id": self.group_id,
            "expected": self.expected,
            "observed": self.observed,
            "verdict": self.verdict,
            "evidence": list(self.evidence),
            "tags": {**self.tags, **facts},
            **({"spans": [list(span) for span in self.spans]} if self.spans else {}),
            **({"measures": dict(self.measures)} if self.measures else {}),
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Judgement:
        tags = dict(row["tags"])
        facts = {name: tags.pop(name, "") for name in _FACTS}
        return cls(
            item_id=row["item_id"],
            index=row["index"],
            group_id=row["group_id"],
            verdict=Verdict(row["verdict"]),
            expected=Gender(row["expected"]) if row["expected"] else None,
            observed=Gender(row["observed"]) if row["observed"] else None,
            tags=tags,
            evidence=tuple(row["evidence"]),
            measures=dict(row.get("measures", {})),
            spans=tuple((start, end) for start, end in row.get("spans", ())),
            **facts,
        )


_FACTS = ("entity", "contrast", "reason", "outcome")


def level_of(signature: str) -> str:
    """`95% CI`, by the confidence in a signature."""
    signed = re.search(r"confidence-(0?\.\d+)", signature)
    return f"{100 * float(signed[1]) if signed else 95:g}% CI"


@dataclass(frozen=True, slots=True, repr=False)
class Estimate:
    """A number with its interval and coverage. No data gives `None`, never 0 or NaN."""

    metric: str
    slice: str
    value: float | None
    low: float | None
    high: float | None
    n_groups: int
    n_judged: int
    n_total: int
    unit: Unit = Unit.PERCENT
    signature: str = ""
    p_value: float | None = None
    """Of the hypothesis of no bias, for numbers with a known unbiased value."""
    fixed_low: float | None = None
    """For other sentences about the same groups; `low` and `high` are for other groups."""
    fixed_high: float | None = None
    state: str = ""
    """The conclusion, if it is a question of its benchmark: see `metrics/verdicts.py`."""

    @property
    def interval(self) -> str:
        if self.low is None or self.high is None:
            return "–"
        return f"[{self.unit.show(self.low)}, {self.unit.show(self.high)}]"

    @property
    def shown(self) -> str:
        return self.unit.show(self.value)

    def __float__(self) -> float:
        if self.value is None:
            raise ValueError(
                f"{self.metric}:{self.slice} has no value: {self.n_judged:,} of {self.n_total:,} were judged"
            )
        return float(self.value)

    def __format__(self, form: str) -> str:
        """`f"{estimate:.1f}"` formats the value; without a form, the line to quote."""
        return format(float(self), form) if form else str(self)

    def __repr__(self) -> str:
        """One quotable line, as sacreBLEU prints a score: value, interval, coverage, signature."""
        name = self.metric if self.slice == "all" else f"{self.metric}:{self.slice}"
        if self.value is None:
            return f"{name} = – (0 of {self.n_total:,} judged) {self.signature}".rstrip()
        judged = f"{self.n_judged:,} of {self.n_total:,} judged, {self.n_groups:,} groups"
        interval = f"{level_of(self.signature)} {self.interval}"
        return f"{name} = {self.shown} ({interval}, {judged}) {self.signature}".rstrip()

    def to_json(self) -> dict[str, Any]:
        numbers = ("value", "low", "high", "fixed_low", "fixed_high", "n_groups", "n_judged", "n_total")
        return {name: getattr(self, name) for name in ("metric", "slice", *numbers, "unit", "p_value")}


@dataclass(frozen=True, slots=True)
class Test:
    """The outcome of one statistical test, worded as an answer to its question."""

    __test__ = False  # not a pytest class

    name: str
    question: str
    statistic: float | None
    p_value: float | None
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {**{name: getattr(self, name) for name in self.__dataclass_fields__}, "details": dict(self.details)}


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """A named table of plain values."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]

    def to_json(self) -> dict[str, Any]:
        cells = {"columns": list(self.columns), "rows": [list(row) for row in self.rows]}
        return {"name": self.name, "title": self.title, **cells}

    def to_pandas(self) -> pandas.DataFrame:
        return frame(dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def __repr__(self) -> str:
        cells = [self.columns, *([_short(cell) for cell in row] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ("  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in cells)
        return "\n".join([f"<{self.title}>", *lines])

    def _repr_html_(self) -> str:
        """HTML for notebooks."""

        def row(cells: Sequence[Any], tag: str) -> str:
            sides = ("left", *["right"] * len(cells))
            shown = zip(sides, cells, strict=False)
            marked = (f'<{tag} style="text-align:{side}">{html.escape(_short(one))}</{tag}>' for side, one in shown)
            return f"<tr>{''.join(marked)}</tr>"

        body = "".join(row(cells, "td") for cells in self.rows)
        return f"<table><caption>{html.escape(self.title)}</caption>{row(self.columns, 'th')}{body}</table>"


def _short(cell: Any) -> str:
    return "–" if cell is None else f"{cell:.1f}" if isinstance(cell, float) else str(cell)


def frame(rows: Iterable[Mapping[str, Any]]) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError:
        raise MissingExtra("to_pandas()", "pandas") from None
    return pandas.DataFrame(list(rows))
