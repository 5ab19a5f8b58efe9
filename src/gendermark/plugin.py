"""The names that an extension imports: plug-ins of other packages need nothing else.

They are stable within a major version. Declare an entry point in the group `gendermark.system`, `gendermark.benchmark`,
`gendermark.metric` or `gendermark.language`; CONTRIBUTING.md has an example of each. Plug-ins that fail to load are
logged and skipped.
"""

from __future__ import annotations

from gendermark.benchmarks.benchmark import Answers, BenchmarkOf, ItemSet, Measures
from gendermark.benchmarks.findings import Cell, Form, Presentation, rows_by_direction, runs_of
from gendermark.errors import SystemFailure, UserError
from gendermark.languages.language import Clue, Language
from gendermark.metrics.metric import AddedMetric, Description, Metric, difference, per_judgement, rate
from gendermark.records import Gender, Item, Judgement, Request, Task, Translation, Unit, Verdict
from gendermark.reporting.charts import MALE, Canvas, DotPanel, DotRow, Figure, Sheet, dots, figure, language, span
from gendermark.reporting.document import Finding
from gendermark.reporting.phrases import share
from gendermark.result import Result
from gendermark.selection import EVERYWHERE, Selection, option
from gendermark.systems.system import System, count_option, flag_option, number_option, refuse_unknown_options

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
