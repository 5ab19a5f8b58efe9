"""Human validation: sheets of translations for people to judge, and how far they agree with each other and the judge.

There are two kinds of question: which gender one translation shows (`JudgedRun`), and whether each of several systems
and a hidden reference has the right one (`Lineup`).
"""

from gendermark.annotation.agreement import AgreementReport, JudgedRun
from gendermark.annotation.lineup import Key, Lineup, draw_lineup, read_runs, write_lineup
from gendermark.annotation.sheets import GENDERS, LINEUP, read_blank, read_sheet, write_sheet

__all__ = [
    "GENDERS",
    "LINEUP",
    "AgreementReport",
    "JudgedRun",
    "Key",
    "Lineup",
    "draw_lineup",
    "read_blank",
    "read_runs",
    "read_sheet",
    "write_lineup",
    "write_sheet",
]
