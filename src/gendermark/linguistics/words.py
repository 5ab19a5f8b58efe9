"""Cutting text into words, the same way for every script."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# A word: letters, combining marks and digits, joined by inner hyphens. `\w` leaves out the vowel signs of
# Devanagari and the points of Arabic and Hebrew, hence the marks; U+05F3/U+05F4 are Hebrew's geresh and gershayim,
# U+200C is Persian's and Hindi's joiner. A short ending for the other gender stays with its word ("cajero/a",
# "employé(e)s", "Lehrer:in", "el/la", "טבחים.ות"): such a word names both, and must not be taken for its first half.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u05f3\u05f4\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u200c\u200d"
_LETTERS = rf"[\w{_MARKS}]"
_OTHER_ENDING = (
    rf"[/·•*:]-?{_LETTERS}{{1,5}}(?!{_LETTERS})|\(-?{_LETTERS}{{1,3}}\){_LETTERS}{{0,2}}"
    r"|\.[\u05d0-\u05ea]{1,3}(?![\u05d0-\u05ea])"
)
_WORD = re.compile(rf"{_LETTERS}+(?:[-\u2010\u2011]{_LETTERS}+)*(?:['\u2019\u02bc]|{_OTHER_ENDING})?", re.UNICODE)
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-"})
_OPENED_QUOTE = re.compile(r"(?:^|[\s(])'")


def cut(text: str) -> list[str]:
    """The words of a text, in NFC and lower case.

    An elided word keeps its apostrophe and stands alone, as in French and Italian: "l'infermière" gives
    "l'" and "infermière", and so does tokenised "l' infermière". Other punctuation is dropped.
    """
    return list(_cut(text))


# A text is looked at several times on its way (order of lines, failures, alignment, reading).
@lru_cache(maxsize=16_384)
def _cut(text: str) -> tuple[str, ...]:
    text = unicodedata.normalize("NFC", text).translate(_APOSTROPHES).lower()
    quoted = _OPENED_QUOTE.search(text) is not None
    words = []
    for match in _WORD.finditer(text):
        word = match.group()
        if word[-1] == "'":
            behind = text[match.end() : match.end() + 2]
            # A closing quotation mark is no elision; one written apart is told from it by the lack of an opening one.
            elided = behind[:1].isalpha() or (not quoted and behind[:1] == " " and behind[1:].isalpha())
            word = word if elided else word[:-1]
        words.append(word)
    return tuple(words)
