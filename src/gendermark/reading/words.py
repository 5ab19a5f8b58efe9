"""Tokenise text, in the same way for every script."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice

# A word: letters, combining marks and digits, joined by inner hyphens. `\w` omits the vowel signs of Devanagari and the
# points of Arabic and Hebrew, hence the marks; U+05F3/U+05F4 are Hebrew's geresh and gershayim, U+200C is Persian's and
# Hindi's joiner. A short ending for the other gender stays with its word ("cajero/a", "employé(e)s", "Lehrer:in",
# "el/la", "טבחים.ות"): such a word denotes both, and must not be read as its first half.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u05f3\u05f4\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u200c\u200d"
_LETTERS = rf"[\w{_MARKS}]"
_OTHER_ENDING = (
    rf"[/·•*:]-?{_LETTERS}{{1,5}}(?!{_LETTERS})|\(-?{_LETTERS}{{1,3}}\){_LETTERS}{{0,2}}"
    r"|\.[\u05d0-\u05ea]{1,3}(?![\u05d0-\u05ea])"
)
_WORD = re.compile(rf"{_LETTERS}+(?:[-\u2010\u2011]{_LETTERS}+)*(?:['\u2019\u02bc]|{_OTHER_ENDING})?", re.UNICODE)
_BOTH = re.compile(rf"(?:{_OTHER_ENDING})$")
_DOTTED_ENDING = re.compile(r"\.[\u05d0-\u05ea]")
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-"})
_HAS_APOSTROPHE = re.compile("[\u2019\u02bc\u2010\u2011]")
_WRITTEN = re.compile(r"\S+")
_OPENED_QUOTE = re.compile(r"(?:^|[\s(])'")


Place = tuple[int, int]
"""Consecutive words of a text: `words[start:end]` of `cut`."""
Span = tuple[int, int]
"""A range of characters: `text[start:end]`."""


def cut(text: str) -> list[str]:
    """The words of a text, in NFC and lower case.

    An elided word keeps its apostrophe and is separate, as in French and Italian: "l'infermière" gives "l'" and
    "infermière", and so does tokenised "l' infermière". Other punctuation is dropped.
    """
    return list(_cut(text))


def cut_all(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """The words of many short texts without line breaks; several times as fast as one by one."""
    lines = _normalised("\n".join(texts)).split("\n") if texts else []
    return [(line,) if line.isalpha() else _words_of(line) for line in lines]


def names_both(word: str) -> bool:
    """Whether a word also has the ending of the other gender: "expert·e", "Lehrer:in"."""
    return _BOTH.search(word) is not None


def without_other_ending(word: str) -> str:
    """Such a word without that ending; empty for other words."""
    return _BOTH.sub("", word) if names_both(word) else ""


def word_spans(text: str) -> list[Span]:
    """The original position of each word from `cut`, whatever normalisation changed.

    Spans are in order and do not overlap. Computed on demand, as most words decide nothing.
    """
    return list(_each_span(text))


def _each_span(text: str) -> Iterator[Span]:
    normalised = _normalised(text)
    if len(normalised) == len(text) and unicodedata.is_normalized("NFC", text):
        return _scan(normalised)
    at = _origins(text)
    return ((at[start], at[end]) for start, end in _scan(normalised))


def spans_of(text: str, places: Iterable[Place]) -> tuple[Span, ...]:
    """Original positions of these words, from the first to the last word of each place.

    In text order, without duplicates; overlapping places become one span.
    """
    wanted = sorted(set(places))
    if not wanted:
        return ()
    spans = list(
        islice(_each_span(text), max(behind for _, behind in wanted))
    )  # skip the words after the last wanted one
    found: list[Span] = []
    for first, behind in wanted:
        start, end = spans[first][0], spans[behind - 1][1]
        if found and start < found[-1][1]:
            start, end = found[-1][0], max(end, found.pop()[1])
        found.append((start, end))
    return tuple(found)


def split_spans(text: str) -> list[Span]:
    """Positions of the words of `text.split()`, which published rules count."""
    return [match.span() for match in _WRITTEN.finditer(text)]


def lowered_spans(text: str, spans: Iterable[Span]) -> tuple[Span, ...]:
    """Positions in the original text of ranges found in `text.lower()`: lower-casing can lengthen a text."""
    at = [place for place, letter in enumerate(text) for _ in letter.lower()]
    return tuple((at[start], at[end - 1] + 1) for start, end in spans)


# A text is read several times (line order, failures, alignment, gender).
@lru_cache(maxsize=16_384)
def _cut(text: str) -> tuple[str, ...]:
    return _words_of(_normalised(text))


def _words_of(text: str) -> tuple[str, ...]:
    plain = _plain_words(text)
    if plain is not None:
        return tuple(plain)
    if "'" not in text:  # only apostrophes depend on their neighbours
        return tuple(_WORD.findall(text))
    return tuple(text[start:end] for start, end in _scan(text))


def _plain_words(text: str) -> list[str] | None:
    """The words of a text of letters, spaces, commas and full stops only; None for others.

    Most texts qualify, and this is several times as fast as the equivalent pattern.
    """
    words = text.replace(",", " ").replace(".", " ").split()
    return words if all(map(str.isalpha, words)) and not _DOTTED_ENDING.search(text) else None


def _normalised(text: str) -> str:
    text = unicodedata.normalize("NFC", text)
    # Most texts have none of these, and `translate` inspects every letter.
    return (text.translate(_APOSTROPHES) if _HAS_APOSTROPHE.search(text) else text).lower()


def _scan(text: str) -> Iterator[Span]:
    plain = _plain_words(text)
    if plain is not None:
        end = 0
        for word in plain:
            start = text.index(word, end)
            end = start + len(word)
            yield start, end
        return
    if "'" not in text:
        yield from [match.span() for match in _WORD.finditer(text)]
        return
    quoted = _OPENED_QUOTE.search(text) is not None
    for match in _WORD.finditer(text):
        start, end = match.span()
        if text[end - 1] == "'":
            behind = text[end : end + 2]
            # A closing quotation mark is no elision; a detached one is distinguished by the missing opening one.
            elided = behind[:1].isalpha() or (not quoted and behind[:1] == " " and behind[1:].isalpha())
            end = end if elided else end - 1
        yield start, end


def _origins(text: str) -> list[int]:
    """For each boundary between letters of the normalised text, its position in the original.

    The text is split into pieces that normalise independently: a letter with its marks, syllables of Korean letters.
    Inside a piece a boundary is as far right as possible, so that marks stay with their letter.
    """
    found = [0]
    begin = 0
    for end in range(1, len(text) + 1):
        piece = text[begin:end]
        if end < len(text) and not _stands_apart(piece, text[end]):
            continue
        lengths = [len(_normalised(piece[:length])) for length in range(len(piece) + 1)]
        found += [begin + bisect_right(lengths, place) - 1 for place in range(1, lengths[-1] + 1)]
        begin = end
    return found


def _stands_apart(piece: str, letter: str) -> bool:
    """Whether this piece of text and the next letter normalise independently."""
    if unicodedata.combining(unicodedata.normalize("NFD", letter)[0]):
        return False
    alone, both = (unicodedata.normalize("NFC", part) for part in (letter, piece + letter))
    return both == unicodedata.normalize("NFC", piece) + alone
