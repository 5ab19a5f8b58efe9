"""Cutting text into words, the same way for every script."""

from __future__ import annotations

import re
import unicodedata

# A word: letters, combining marks and digits, joined by inner hyphens. `\w` leaves out the vowel signs of
# Devanagari and the points of Arabic and Hebrew, hence the marks; U+05F3/U+05F4 are Hebrew's geresh and gershayim,
# U+200C is Persian's and Hindi's joiner.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u05f3\u05f4\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u200c\u200d"
_WORD = re.compile(rf"[\w{_MARKS}]+(?:[-\u2010\u2011][\w{_MARKS}]+)*['\u2019\u02bc]?", re.UNICODE)
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-"})


def cut(text: str) -> list[str]:
    """The words of a text, in NFC and lower case.

    An elided word keeps its apostrophe and stands alone, as in French and Italian: "l'infermière" gives
    "l'" and "infermière". Punctuation is dropped.
    """
    text = unicodedata.normalize("NFC", text).translate(_APOSTROPHES).lower()
    words = []
    for match in _WORD.finditer(text):
        word = match.group()
        # A closing quotation mark is not an elision: only an apostrophe with a letter right behind it stays.
        if word.endswith("'") and not text[match.end() : match.end() + 1].isalpha():
            word = word[:-1]
        words.append(word)
    return words
