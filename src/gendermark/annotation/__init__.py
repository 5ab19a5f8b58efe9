"""Human validation: sheets of translations for people to judge, and their agreement with each other and with the judge.

Two kinds of question: which gender one translation shows (`JudgedRun`), and whether each of several systems and a
hidden reference is right (`Lineup`).
"""
