"""Korean particles that depend on the sound before them."""

from __future__ import annotations

import re
import unicodedata

_FIRST_SYLLABLE, _LAST_SYLLABLE, _FINALS = 0xAC00, 0xD7A3, 28  # 28 finals per vowel, the first of them none
_DIGITS_WITH_FINAL = frozenset("013678")  # 영 일 삼 육 칠 팔; also 십, 백, 천, 만 for the 0 of 10, 100 ...
_LETTERS_WITH_FINAL = frozenset("LMNR")  # as letters: 엘 엠 엔 알; all others end in a vowel (에이, 비, 씨 ...)
# As words, Latin spellings follow their sound: "team" 팀, "phone" 폰, "Google" 구글, "bot" 봇; but "manager" 매니저.
_WORD_WITH_FINAL = re.compile(r"(?:[lmn]e?|ng|ck|(?<![aeiou])[aeiou][pkt])\Z")
_SLOT = re.compile(r"\{lexeme\}(\[이\])?")


def has_final_consonant(text: str) -> bool:
    """Whether the text, read aloud in Korean, ends in a consonant. Closing punctuation is passed over."""
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFC", text))
    if not words:
        return False
    word: str = words[-1]
    last = word[-1]
    if _FIRST_SYLLABLE <= ord(last) <= _LAST_SYLLABLE:
        return (ord(last) - _FIRST_SYLLABLE) % _FINALS != 0
    if last.isdecimal():
        return str(int(last)) in _DIGITS_WITH_FINAL
    letters = re.findall(r"[A-Za-z]+\Z", word)
    if not letters:
        return False  # kana, Chinese characters ...: their Korean reading is not known here
    if letters[0].isupper():
        return last in _LETTERS_WITH_FINAL
    return _WORD_WITH_FINAL.search(letters[0].lower()) is not None


def attach(template: str, lexeme: str) -> str:
    """The template with the lexeme in place of `{lexeme}`; `[이]` right after it stays only behind a consonant."""
    linking = "이" if has_final_consonant(lexeme) else ""
    return _SLOT.sub(lambda slot: lexeme + (linking if slot[1] else ""), template)
