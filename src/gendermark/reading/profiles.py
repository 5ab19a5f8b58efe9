"""Detect the language of a text by script and function words, to recognise a wrong target language.

A word is evidence for one language against another if only one has it among its function words (or, in Cyrillic, only
one has its letters). A single line is called foreign only on strong evidence, since names and loans cross borders; a
whole file has enough evidence.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from gendermark.languages.folders import codes, lines_of
from gendermark.reading.codes import LANGUAGES, NAMES
from gendermark.reading.words import cut, cut_all

OTHER_SCRIPT = "another script"
_LEAST_EVIDENCE = 3
"""Words of another language, without any for the right one, that make a single line foreign."""
_STRONG_EVIDENCE = 6
"""This many outweigh one word of the right language, such as a loan or name."""
_LEAST_LETTERS = 8
"""Letters of another script that make a single line foreign; fewer may be a name."""
_MINOR_SHARE = 0.1
"""A line with a smaller share of letters in its language's script is in another one."""
_PER_LINE = 0.4
"""Words of another language per line that make a file foreign."""
_OUTWEIGHS = 2.0
"""How often they must outnumber those of the right language."""

_NAMES_OF_SCRIPTS = """
HIRAGANA Jpan, KATAKANA Jpan, CJK Hans, HANGUL Hang, CYRILLIC Cyrl, LATIN Latn, GREEK Grek, ARABIC Arab, HEBREW Hebr,
DEVANAGARI Deva, BENGALI Beng, ETHIOPIC Ethi, GEORGIAN Geor, TELUGU Telu, THAI Thai
"""
_SCRIPTS = dict(map(str.split, _NAMES_OF_SCRIPTS.split(",")))
"""By the first word of the Unicode names of their letters."""
_LETTERS = (
    "Latn A-Za-z, Cyrl \u0400-\u052f, Grek \u0370-\u03ff, Hebr \u05d0-\u05ea, Arab \u0620-\u06d3, Deva \u0900-\u097f"
)
_PLAINLY = {script: re.compile(f"[{letters}]{{4}}") for script, letters in map(str.split, _LETTERS.split(","))}
"""A word of a script, roughly; a quick test that settles most lines."""
_ASCII_LETTER = re.compile(r"[A-Za-z]")
_ASCII = re.compile(r"[\x00-\x7f]+")
_ACCENTS = re.compile("[\u0300-\u036f]")
"""Of Latin and Cyrillic letters that are taken apart (NFD)."""
_LIKELY = "Grek el, Arab ar, Hebr he, Deva hi, Jpan ja, Hans zh, Hang ko, Thai th"
_ALONE = dict(map(str.split, _LIKELY.split(",")))
"""The most likely language of a script without function words."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Facts by which texts of one language are recognised.

    A word shared by two languages does not decide between them, but must be listed in both, or it would count against
    one.
    """

    words: frozenset[str]
    letters: str = ""
    """Letters that only some languages of its script have."""
    scripts: tuple[str, ...] = ()
    """For languages with several scripts."""
    also: str = ""
    """The language whose function words it shares."""


@cache
def _profiles() -> Mapping[str, Profile]:
    """The languages with a file of function words; English first, which wins a tie."""
    found = {}
    for code in sorted(codes(), key=lambda code: (code != "en", code)):
        if lines := lines_of(code, "function_words.txt"):
            facts = dict(line.split(": ", 1) for line in lines if ": " in line)
            words = frozenset(word for line in lines if ": " not in line for word in line.split())
            scripts = tuple(facts.get("scripts", "").split())
            found[code] = Profile(words, facts.get("letters", ""), scripts, facts.get("also", ""))
    return found


@cache
def _index() -> dict[str, frozenset[str]]:
    profiles = _profiles()
    found: dict[str, set[str]] = {}
    for code, profile in profiles.items():
        for word in profile.words | (profiles[profile.also].words if profile.also else frozenset()):
            found.setdefault(word, set()).add(code)
    return {word: frozenset(codes) for word, codes in found.items()}


@cache
def _letters() -> Mapping[str, set[str]]:
    return {code: set(profile.letters) for code, profile in _profiles().items() if profile.letters}


@cache
def script_of(letter: str) -> str:
    if not letter.isalpha():
        return ""
    return _SCRIPTS.get(unicodedata.name(letter, "").split(" ")[0].partition("-")[0], "")


def scripts_of(language: str) -> tuple[str, ...]:
    if (profile := _profiles().get(language)) and profile.scripts:
        return profile.scripts
    return (LANGUAGES[language].script,) if language in LANGUAGES else ()


def _scripts(text: str) -> Counter[str]:
    """Letters by script. (Most texts are either mostly ASCII or hardly.)"""
    found = Counter(script_of(letter) for letter in _ASCII.sub("", text))
    del found[""]
    if n_ascii := len(_ASCII_LETTER.findall(text)):
        found["Latn"] += n_ascii
    return found


def _is_in(scripts: Counter[str], wanted: Sequence[str]) -> bool:
    """Whether enough letters are in a wanted script; Japanese also uses Chinese ones."""
    right = {*wanted, "Hans"} if "Jpan" in wanted else {*wanted}
    return sum(n for script, n in scripts.items() if script in right) >= _MINOR_SHARE * scripts.total()


class Evidence(NamedTuple):
    """Words of a text that indicate another language, and the right one against it."""

    language: str
    n_against: int
    n_for: int

    @property
    def rank(self) -> tuple[int, str]:
        return self.n_against - self.n_for, self.language


@cache
def _others(target: str) -> frozenset[str]:
    """Function words of other languages that the target lacks."""
    return frozenset(word for word, codes in _index().items() if target not in codes)


@cache
def _foreign_letter(target: str) -> re.Pattern[str]:
    """A letter that another language has and the target lacks, if letters are informative; else matches nothing."""
    letters = set[str]().union(*_letters().values()) - _letters().get(target, set())
    return re.compile(f"[{''.join(sorted(letters))}]" if target in _letters() else "(?!)")


def _by_letters(word: str, target: str) -> tuple[set[str], set[str]]:
    """The languages that the letters of a word indicate against the target, and those they exclude."""
    letters, own = set(word), _letters()[target]
    stronger = {code for code, some in _letters().items() if letters & (some - own)}
    weaker = {code for code, some in _letters().items() if letters & (own - some)}
    return stronger - weaker, weaker - stronger


def _weigh(words: Iterable[str], target: str) -> list[Evidence]:
    """Evidence for each language indicated by some words, against the target."""
    against: Counter[str] = Counter()
    right: Counter[str] = Counter()
    shared: Counter[frozenset[str]] = Counter()
    for word, n in Counter(words).items():
        codes = _index().get(word)
        if codes is None and target in _letters() and len(word) > 1:
            spoken_for, spoken_against = _by_letters(word, target)
            against.update(dict.fromkeys(spoken_for, n))
            right.update(dict.fromkeys(spoken_against, n))
        elif codes and target in codes:
            shared[codes] += n
        elif codes:
            against.update(dict.fromkeys(codes, n))
    return [
        Evidence(code, n, right[code] + sum(m for codes, m in shared.items() if code not in codes))
        for code, n in against.items()
    ]


def foreign(text: str, target: str) -> str:
    """The language of one line, if certainly not the target; `OTHER_SCRIPT` if unknown."""
    wanted = scripts_of(target)
    if wanted and not _is_plainly_in(text, wanted[0]):
        scripts = _scripts(text)
        if scripts.total() >= _LEAST_LETTERS and not _is_in(scripts, wanted):
            return _named(cut(text), scripts.most_common(1)[0][0])
    if target not in _profiles():
        return ""
    words = cut(text)
    if len(_others(target).intersection(words)) < 2 and not _foreign_letter(target).search(text.lower()):
        return ""
    most = max(_weigh(words, target), key=lambda one: one.rank, default=Evidence("", 0, 0))
    is_foreign = most.n_against >= (_STRONG_EVIDENCE if most.n_for == 1 else _LEAST_EVIDENCE) and most.n_for <= 1
    return most.language if is_foreign else ""


def may_be_foreign(text: str, target: str) -> bool:
    """Whether more words indicate another language: not enough for a single line, but enough to count lines."""
    if foreign(text, target):
        return True
    return target in _profiles() and any(one.n_against > one.n_for for one in _weigh(cut(text), target))


def _is_plainly_in(text: str, script: str) -> bool:
    return script in _PLAINLY and _PLAINLY[script].search(text) is not None


def _named(words: Sequence[str], script: str) -> str:
    candidates = [code for code in _profiles() if script == scripts_of(code)[0]]
    scores = dict.fromkeys(candidates, 0)
    for word, n in Counter(words).items():
        codes = _index().get(word, frozenset())
        for code in candidates:
            scores[code] += n * ((code in codes) - (_foreign_letter(code).search(word) is not None))
    best = max(candidates, key=lambda code: scores[code], default="")
    return best if best and scores[best] > 0 else _ALONE.get(script, OTHER_SCRIPT)


def mainly(texts: Sequence[str], target: str) -> str:
    """The language of most of these texts, if certainly not the target; as in `foreign`."""
    wanted = scripts_of(target)
    if not wanted:
        return ""
    read = [text for text in texts if any(map(str.isalpha, text))]
    doubtful = [_scripts(text) for text in read if not _is_plainly_in(text, wanted[0])]
    others = [found for found in doubtful if not _is_in(found, wanted)]
    words = [word for text in read for word in cut(text)]
    if len(others) > 0.5 * len(read):
        total = sum(others, Counter[str]())
        return _named(words, total.most_common(1)[0][0])
    if target not in _profiles():
        return ""
    outweighing = [
        one
        for one in _weigh(words, target)
        if one.n_against >= max(_LEAST_EVIDENCE, _PER_LINE * len(read)) and one.n_against > _OUTWEIGHS * one.n_for
    ]
    return max(outweighing, key=lambda one: one.rank).language if outweighing else ""


def likely(texts: Sequence[str]) -> str:
    """The language of most of these texts, by scripts and function words; empty if unknown."""
    scripts = sum(map(_scripts, texts), Counter[str]())
    if not scripts:
        return ""
    found = _named([word for text in texts for word in cut(text)], scripts.most_common(1)[0][0])
    return "" if found == OTHER_SCRIPT else found


def function_words(language: str) -> frozenset[str]:
    profile = _profiles().get(language)
    return profile.words if profile else frozenset()


def is_told_by_words(language: str) -> bool:
    """Whether texts of a language are recognised by function words."""
    return language in _profiles()


@cache
def without_accents(language: str) -> frozenset[str]:
    """Words of a language in Latin or Cyrillic letters without their required accents."""
    profile = _profiles().get(language)
    if profile is None or not {"Latn", "Cyrl"}.issuperset(scripts_of(language)):
        return frozenset()
    forms = [line.split("\t")[3] for line in lines_of(language, "lexicon.tsv")]
    # Dots that are rarely written are not missed.
    words = {word.replace("ё", "е") for word in profile.words.union(*cut_all(forms))}
    apart = unicodedata.normalize("NFD", "\n".join(words))
    plain = _ACCENTS.sub("", apart).split("\n")
    return frozenset(bare for bare, word in zip(plain, apart.split("\n"), strict=True) if bare != word) - words


def has_accents(text: str) -> bool:
    return not text.isascii() and _ACCENTS.search(unicodedata.normalize("NFD", text)) is not None


def name_of(language: str) -> str:
    return NAMES.get(language, language)
