"""The first person in Belarusian."""

from __future__ import annotations

from gendermark.languages.speaking import Endings, Grammar, behind_pronoun, pairs, words

FITTED = Grammar(
    behind_pronoun,
    Endings(".ў|.ўся", "..ла|..лася", words("мог змог дапамог перамог лёг спёк нёс прынёс вырас знік звык дасяг уцёк")),
    Endings(
        "",
        "",
        words("гатовы упэўнены ўпэўнены рады здольны моцны шчаслівы павінен вінаваты"),
        words("гатовая упэўненая ўпэўненая рада здольная моцная шчаслівая павінна вінаватая адважная"),
    ),
    ("я",),
    pairs("сам/сама"),
    words("сіла школа цела людзяў сяброў бацькоў"),
)
SPEAKER = FITTED
EXAMPLES = ("Я быў там.", "Я была там.", "Я тут.")
"""Masculine, feminine, and without gender."""
