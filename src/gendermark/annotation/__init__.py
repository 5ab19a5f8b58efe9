"""Human validation: sheets of translations for people to judge, and how far they agree with each other and the judge.

There are two kinds of question: which gender one translation shows (`JudgedRun`), and whether each of several systems
and a hidden reference has the right one (`Lineup`).
"""
