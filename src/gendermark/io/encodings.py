"""Detect and repair damaged letters: decoded with the wrong encoding, or lost.

"señor" becomes "seÃ±or" if UTF-8 is read as Windows-1252. That can be detected and reversed; "se?or" cannot.

ftfy 6.3 is no substitute: it does not know the language, so it has to be careful. Of 24,457 lines of WinoMT in nine
languages, each read as one of 13 code pages, it repaired 57%, this module all; neither changed a sound line.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from functools import cache, partial
from itertools import pairwise

from gendermark.reading.profiles import function_words, script_of, scripts_of
from gendermark.reading.words import cut

_RUN = re.compile(r"[^\x00-\x7f]+")
_MOST_ROUNDS = 3
"""Maximum number of successive misreadings."""
# Latin-1 and Windows-1252 are treated as one. Any of these may have been used, whatever the language.
_CODE_PAGES = (
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258"),
    *("iso8859_2", "cp437", "cp850", "mac_roman"),
)
_PUNCTUATION = frozenset("–—‐‑‒―‘’‚‛“”„‟†‡•…‰′″‹›€™\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u00a0\u202f\ufeff")
_CLOSING = frozenset("»”’…–—")
# Inside a word; or at its end if the sentence continues.
_LOST_INSIDE = re.compile(r"(?<=[^\W\d_])\?+(?=[^\W\d_]| [^\W\d_])")
_LOST_WORD = re.compile(r"(?<!\S)\?{2,}(?=[\s,.;:!]|$)")
ESCAPE = re.compile(
    r"[&\\%=\x80-\x84\x86-\x9f](?:(?<=&)(?:#\d+|#x[\da-f]+|[a-z]+);|(?<=\\)u[\da-f]{4}|(?<=[\x80-\x9f])|"
    r"(?:(?<=\\)x|(?<=[%=]))[c-f][\da-f](?:\\x|[%=])[89ab][\da-f])",
    re.IGNORECASE,
)
"""A letter as an HTML entity, its number or its bytes; or a control character, which only a wrong code page gives."""
_FRAMES = range(0x2500, 0x25A0)
"""Box drawings, in place of letters in the code pages of DOS and Unix."""
_WORD = re.compile(r"\S+")
_ADDRESS = re.compile(r"://|www\.|[?&]\w+=")
"""Within one word: in a pattern of the whole word, a megabyte of letters would take hours."""


@cache
def _bytes_of(code_page: str) -> dict[str, int]:
    """Letter -> its byte in a code page; an undefined byte maps to itself, as in Latin-1."""
    high = range(0x80, 0x100)
    found = {chr(byte): byte for byte in high} if code_page == "cp1252" else {}
    return found | {bytes([byte]).decode(code_page, errors="ignore") or chr(byte): byte for byte in high}


@cache
def _ends(code_page: str) -> tuple[frozenset[str], frozenset[str]]:
    """The letters that a leading byte of UTF-8 is read as, and those of a continuation byte."""
    letters = _bytes_of(code_page)
    bounds = ((0xC2, 0xF5), (0x80, 0xC0))
    first, following = (frozenset(c for c, b in letters.items() if low <= b < high) for low, high in bounds)
    return first, following


@cache
def _candidates(code_page: str) -> re.Pattern[str]:
    first, following = ("".join(map(re.escape, letters)) for letters in _ends(code_page))
    return re.compile(f"[{first}][{following}]")


def may_be_misread(text: str) -> bool:
    """A quick test for many lines at once."""
    pairs = {pair for run in set(_RUN.findall(text)) for pair in pairwise(run)}
    ends = map(_ends, _CODE_PAGES)
    return any(one in first and other in following for first, following in ends for one, other in pairs)


def misread(text: str, language: str) -> tuple[str, str] | None:
    """A damaged word and its repair; None if nothing is damaged."""
    if text.isascii():
        return None
    for page in _CODE_PAGES:
        if _candidates(page).search(text):
            for run in _RUN.finditer(text):
                if _reread(text, run, page, language) is not None:
                    start, end = word_around(text, run)
                    return text[start:end], repaired(text[start:end], language)
    return None


def usual_page(texts: Iterable[str], language: str) -> str:
    """The code page that explains most of the damage: several can read a single word, each differently."""
    damaged = [text for text in texts if may_be_misread(text)]

    def explained(page: str) -> tuple[int, int]:
        runs = [(text, run) for text in damaged for run in _RUN.finditer(text)]
        n_read = sum(_reread(text, run, page, language) is not None for text, run in runs)
        better = (_RUN.sub(partial(_reread_or_left, text, page, language), text) for text in damaged)
        return n_read, sum(len(function_words(language).intersection(cut(text))) for text in better)

    return max(_CODE_PAGES, key=explained)


def repaired(text: str, language: str, usual: str = "") -> str:
    """The text with misread letters repaired; `usual` is the code page to try first."""
    for _ in range(_MOST_ROUNDS):
        for page in (usual, *_CODE_PAGES) if usual else _CODE_PAGES:
            if text.isascii() or not _candidates(page).search(text):
                continue
            better = _RUN.sub(partial(_reread_or_left, text, page, language), text)
            if better != text:
                break
        else:
            return text
        text = better
    return text


def _reread_or_left(text: str, code_page: str, language: str, run: re.Match[str]) -> str:
    return _reread(text, run, code_page, language) or run[0]


def _reread(text: str, run: re.Match[str], code_page: str, language: str) -> str | None:
    """The run decoded as UTF-8, if that makes sense in this language."""
    letters = _bytes_of(code_page)
    try:
        read = bytes(letters[letter] for letter in run[0]).decode("utf-8")
    except (KeyError, UnicodeDecodeError):
        return None
    # «IRMÃ»: capitals before a closing quotation mark are correct.
    if len(run[0]) == 2 and run[0][0].isupper() and run[0][1] in _CLOSING and text[max(run.start() - 1, 0)].isupper():
        return None
    if all(_is_expected(letter, language) for letter in read):
        return read
    # Misread twice: it makes sense when reversed once more.
    again = ((run[0], _reread(read, run, page, language)) for page in _CODE_PAGES for run in _RUN.finditer(read))
    return read if any(better not in (None, before) for before, better in again) else None


@cache
def _is_expected(letter: str, language: str) -> bool:
    """Whether a letter or mark belongs to the scripts of a language, is accented Latin, or usual punctuation."""
    scripts = scripts_of(language)
    if "\u00a1" <= letter <= "\u017f" or "\u0300" <= letter <= "\u036f" or letter in _PUNCTUATION:
        return True
    script = script_of(letter)
    if script == "Latn":  # of the other Latin letters only Romanian and Vietnamese ones are common
        return "\u0218" <= letter <= "\u021b" or "\u1e00" <= letter <= "\u1eff"
    if script:
        return script in scripts or not scripts
    block = ord(letter) & ~0x7F  # marks and signs are in the block of their script
    return any(script_of(chr(near)) in scripts for near in range(block, block + 0x80))


def intruders(text: str, language: str) -> re.Pattern[str] | None:
    """A letter followed by one of another script, or by a box drawing, of those in a text: "discutiц" or "discuti│".

    Any code page leaves such words, also those that are not repaired.
    """
    strange = [
        letter
        for letter in set(text)
        if letter > "\u024f" and (letter.isalpha() or ord(letter) in _FRAMES) and not _is_expected(letter, language)
    ]
    # A word of the other script alone is no damage: an untranslated one.
    other = f"[{''.join(map(re.escape, strange))}]"
    return re.compile(rf"(?!{other})[^\W\d_]{other}") if strange else None


def word_around(text: str, run: re.Match[str]) -> tuple[int, int]:
    start, end = run.span()
    while start > 0 and not text[start - 1].isspace() and run.start() - start < 20:
        start -= 1
    while end < len(text) and not text[end].isspace() and end - run.end() < 20:
        end += 1
    return start, end


def escaped(text: str) -> str:
    """A word with an escaped letter, or with a control character; empty if there is none."""
    for word in _WORD.findall(text):
        found = ESCAPE.findall(word)
        # "&nbsp;" and "&#39;" are no letters, and addresses have their own rules.
        if any(not one.startswith("&") or html.unescape(one).isalpha() for one in found) and not _ADDRESS.search(word):
            return str(word)
    return ""


def lost(text: str) -> str:
    """A word with a question mark or U+FFFD instead of letters; empty if there is none."""
    if "?" not in text and "\ufffd" not in text:
        return ""
    if "\ufffd" in text:
        return next(word for word in text.split() if "\ufffd" in word)
    text = _WORD.sub(lambda word: "" if _ADDRESS.search(word[0]) else word[0], text)
    for found in _LOST_INSIDE.finditer(text):
        # "¿Qué?Ella": a new sentence, with or without its space.
        behind = text[found.end() :]
        if not behind.lstrip()[0].isupper() and not (behind[0] == " " and "¿" in text):
            start, end = word_around(text, found)
            return text[start:end]
    words = _LOST_WORD.findall(text)
    return words[0] if len(words) > 1 else ""
