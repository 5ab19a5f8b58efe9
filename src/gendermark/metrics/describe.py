"""What a metric is called, counts in and means: said once, and read by every list, table, page, figure and sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from gendermark.records import Unit

Better = Literal["higher", "lower", "zero", "neither"]
"""Which way is good; `zero` for a gap."""

SLICES: Mapping[str, str] = {
    "all": "all",
    "anti": "against the stereotype",
    "feminine": "feminine",
    "masculine": "masculine",
    "mf": "gender told",
    "neutral": "gender unspecified",
    "pro": "with the stereotype",
    "stereotyped": "with or against a stereotype",
}
"""What the slices are called that several benchmarks have."""


@dataclass(frozen=True)
class Description:
    """Everything about a metric but how it is counted."""

    name: str
    label: str
    """In a few words, for people."""
    meaning: str
    """In one sentence."""
    unit: Unit = Unit.PERCENT
    better: Better = "neither"
    symbol: str = ""
    """As the paper writes it, or a figure with little room."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Slice -> its label there, where "label: slice" would not do."""
    even: float | None = None
    """Of a share: the value that prefers nobody."""
    behind: Mapping[str, str] = field(default_factory=dict)
    """Of a share of one outcome: what the sentences with that outcome have in common, as a filter of the report."""

    @property
    def unbiased(self) -> float | None:
        """The value that shows no bias, where there is one."""
        return 0.0 if self.better == "zero" else self.even

    @property
    def short(self) -> str:
        return self.symbol or self.name.replace("_", " ")

    def label_on(self, part: str, slices: Mapping[str, str]) -> str:
        """In words, of a slice; `slices` has the names of these."""
        if part in self.labels:
            return self.labels[part]
        return self.label if part == "all" else f"{self.label}: {slice_label(part, slices)}"

    def called(self, name: str, label: str, meaning: str) -> Description:
        """The same kind of number under another name."""
        return replace(self, name=name, label=label, meaning=meaning, labels={})


def slice_label(part: str, slices: Mapping[str, str]) -> str:
    return slices.get(part, SLICES.get(part, part.replace("-", " ")))


def unknown(name: str) -> Description:
    """For a metric that a run of another version has and this one does not know."""
    return Description(name, name, "")
