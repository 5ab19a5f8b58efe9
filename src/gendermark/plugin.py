"""The names that an extension imports: plug-ins of every kind from another package use nothing else.

These names stay, and keep their meaning, within a major version. Declare an entry point in the group
`gendermark.system`, `gendermark.benchmark`, `gendermark.metric` or `gendermark.language`; CONTRIBUTING.md has an
example of each. A plug-in that fails to load is logged and skipped.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gendermark.benchmarks.benchmark import Answers, BenchmarkOf, ItemSet, Measures
from gendermark.errors import SystemFailure, UserError
from gendermark.languages.language import Clue, Language
from gendermark.metrics.describe import Description
from gendermark.metrics.metric import AddedMetric, Metric, per_judgement
from gendermark.metrics.rates import difference, rate
from gendermark.records import Gender, Item, Judgement, Request, Task, Translation, Unit, Verdict
from gendermark.result import Result
from gendermark.selection import EVERYWHERE, Selection, option
from gendermark.systems.system import System, count_option, flag_option, number_option, refuse_unknown_options

if TYPE_CHECKING:
    from gendermark.benchmarks.findings import Cell, Form, Presentation, rows_by_direction, runs_of
    from gendermark.reporting.charts import (
        MALE,
        Canvas,
        DotPanel,
        DotRow,
        Figure,
        Sheet,
        dots,
        figure,
        language,
        span,
    )
    from gendermark.reporting.document import Finding
    from gendermark.reporting.phrases import share

_PRESENTATION = {
    "gendermark.benchmarks.findings": ("Cell", "Form", "Presentation", "rows_by_direction", "runs_of"),
    "gendermark.reporting.document": ("Finding",),
    "gendermark.reporting.phrases": ("share",),
    "gendermark.reporting.charts": (
        "MALE",
        "Canvas",
        "DotPanel",
        "DotRow",
        "Figure",
        "Sheet",
        "dots",
        "figure",
        "language",
        "span",
    ),
}
"""What findings and figures are made with: imported only when asked for, since scoring needs none of it."""


def __getattr__(name: str) -> Any:
    for module, names in _PRESENTATION.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'gendermark.plugin' has no attribute {name!r}")


__all__ = [
    "EVERYWHERE",
    "MALE",
    "AddedMetric",
    "Answers",
    "BenchmarkOf",
    "Canvas",
    "Cell",
    "Clue",
    "Description",
    "DotPanel",
    "DotRow",
    "Figure",
    "Finding",
    "Form",
    "Gender",
    "Item",
    "ItemSet",
    "Judgement",
    "Language",
    "Measures",
    "Metric",
    "Presentation",
    "Request",
    "Result",
    "Selection",
    "Sheet",
    "System",
    "SystemFailure",
    "Task",
    "Translation",
    "Unit",
    "UserError",
    "Verdict",
    "count_option",
    "difference",
    "dots",
    "figure",
    "flag_option",
    "language",
    "number_option",
    "option",
    "per_judgement",
    "rate",
    "refuse_unknown_options",
    "rows_by_direction",
    "runs_of",
    "share",
    "span",
]
