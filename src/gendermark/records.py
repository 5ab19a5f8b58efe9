"""The records that travel down the street, all frozen: Item, Request, Translation, Judgement, Estimate.

Standard library only. Every stage reads one kind of record and writes the next; none is ever changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any


class Gender(StrEnum):
    """The gender a source implies, or a translation expresses. `NEUTRAL` means deliberately left open."""

    MASCULINE = "masculine"
    FEMININE = "feminine"
    NEUTRAL = "neutral"

    @property
    def opposite(self) -> Gender:
        """The other one of masculine and feminine; neutral is its own opposite."""
        return {Gender.MASCULINE: Gender.FEMININE, Gender.FEMININE: Gender.MASCULINE}.get(self, self)


class Verdict(StrEnum):
    """What could be said about one translation."""

    JUDGED = "judged"
    UNJUDGEABLE = "unjudgeable"
    NOT_TRANSLATED = "not-translated"


class Task(StrEnum):
    """What a request asks of a system."""

    TRANSLATE = "translate"
    SAMPLE = "sample"
    SCORE = "score"


@dataclass(frozen=True, slots=True)
class Item:
    """One source sentence of a benchmark and what a good translation of it would express."""

    item_id: str
    index: int
    """0-based row in export order (official data: in the order of the official file)."""
    group_id: str
    """The cluster it is resampled with: its template, lexeme or counterfactual pair."""
    source: str
    expected: Gender | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """What to ask of a system. Its id depends on content alone, so that equal requests are asked once.

    A sampling request covers samples `first_sample` to `first_sample + n_samples - 1`. Those two numbers are not
    part of the id: more samples of the same request extend what is already there.
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
        return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()[:32]

    @property
    def samples(self) -> range:
        return range(self.first_sample, self.first_sample + self.n_samples)


@dataclass(frozen=True, slots=True)
class Translation:
    """A system's answer to one request (one sample of it), or the error it gave instead."""

    request_id: str
    text: str | None
    sample: int = 0
    error: str | None = None
    log_probability: float | None = None
    """The model's own, of the whole text with its end."""
    n_tokens: int | None = None
    """How many tokens that log-probability adds up over, the end included."""
    token_log_probabilities: tuple[float, ...] | None = None
    """One by one; given for texts that were scored only."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one translation says about gender. Copies expected gender, tags and group from its item."""

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
    """Numbers of this one translation that metrics add up (the statistics of BLEU)."""

    @property
    def is_correct(self) -> bool:
        return self.verdict is Verdict.JUDGED and self.observed is not None and self.observed == self.expected

    def to_json(self) -> dict[str, Any]:
        return {
            "item_id": self.item_id,
            "index": self.index,
            "group_id": self.group_id,
            "expected": self.expected,
            "observed": self.observed,
            "verdict": self.verdict,
            "evidence": list(self.evidence),
            "tags": dict(self.tags),
            **({"measures": dict(self.measures)} if self.measures else {}),
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Judgement:
        return cls(
            item_id=row["item_id"],
            index=row["index"],
            group_id=row["group_id"],
            verdict=Verdict(row["verdict"]),
            expected=Gender(row["expected"]) if row["expected"] else None,
            observed=Gender(row["observed"]) if row["observed"] else None,
            tags=dict(row["tags"]),
            evidence=tuple(row["evidence"]),
            measures=dict(row.get("measures", {})),
        )


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval and its coverage. No data gives `None`, never 0 and never NaN."""

    metric: str
    slice: str
    value: float | None
    low: float | None
    high: float | None
    n_groups: int
    n_judged: int
    n_total: int
    signature: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "metric": self.metric,
            "slice": self.slice,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "n_groups": self.n_groups,
            "n_judged": self.n_judged,
            "n_total": self.n_total,
        }


@dataclass(frozen=True, slots=True)
class Test:
    """The outcome of one statistical test, in the words of the question it answers."""

    __test__ = False  # not a pytest class

    name: str
    question: str
    statistic: float | None
    p_value: float | None
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "question": self.question,
            "statistic": self.statistic,
            "p_value": self.p_value,
            "details": dict(self.details),
        }


@dataclass(frozen=True, slots=True)
class Table:
    """A named table of plain values: per-lexeme results, leanings, comparisons."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "columns": list(self.columns),
            "rows": [list(r) for r in self.rows],
        }
