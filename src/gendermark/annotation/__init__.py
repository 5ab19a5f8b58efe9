"""Human validation: a sheet of translations for people to read, and how far they agree with each other and the judge.

`sheets` has the files, `items` what of a run stands in them, `comparison` the report. `lineup` is another protocol:
several systems and a hidden reference in one sheet, as in MT-GenEval; `lineup_agreement` is its report.
"""

from gendermark.annotation.comparison import NOT_FOUND, AgreementReport, Disagreement, agreement
from gendermark.annotation.items import Problem, SheetSummary, TranslatedText, draw_sample, read_cell
from gendermark.annotation.lineup import (
    LINEUP_COLUMNS,
    REFERENCE,
    Lineup,
    LineupRow,
    LineupRun,
    LineupSystem,
    ShownRow,
    draw_lineup,
    match_runs,
    read_key,
    read_runs,
    write_lineup,
)
from gendermark.annotation.lineup_agreement import (
    Evaluator,
    LineupAnswers,
    LineupReport,
    evaluate_lineup,
    read_answers,
)
from gendermark.annotation.sheets import (
    COLUMNS,
    SOURCE_COLUMN,
    SampleRow,
    Sheet,
    SheetRow,
    has_answers,
    read_sheet,
    write_sheet,
)

__all__ = [
    "COLUMNS",
    "LINEUP_COLUMNS",
    "NOT_FOUND",
    "REFERENCE",
    "SOURCE_COLUMN",
    "AgreementReport",
    "Disagreement",
    "Evaluator",
    "Lineup",
    "LineupAnswers",
    "LineupReport",
    "LineupRow",
    "LineupRun",
    "LineupSystem",
    "Problem",
    "SampleRow",
    "Sheet",
    "SheetRow",
    "SheetSummary",
    "ShownRow",
    "TranslatedText",
    "agreement",
    "draw_lineup",
    "draw_sample",
    "evaluate_lineup",
    "has_answers",
    "match_runs",
    "read_answers",
    "read_cell",
    "read_key",
    "read_runs",
    "read_sheet",
    "write_lineup",
    "write_sheet",
]
