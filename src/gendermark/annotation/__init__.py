"""Human validation: a sheet of translations for people to read, and how far they agree with each other and the judge.

`sheets` has the files, `items` what of a run stands in them, `comparison` the report.
"""

from gendermark.annotation.comparison import NOT_FOUND, AgreementReport, Disagreement, agreement
from gendermark.annotation.items import Problem, SheetSummary, TranslatedText, draw_sample, entity_of, read_cell
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
    "NOT_FOUND",
    "SOURCE_COLUMN",
    "AgreementReport",
    "Disagreement",
    "Problem",
    "SampleRow",
    "Sheet",
    "SheetRow",
    "SheetSummary",
    "TranslatedText",
    "agreement",
    "draw_sample",
    "entity_of",
    "has_answers",
    "read_cell",
    "read_sheet",
    "write_sheet",
]
