"""Occupation nouns in the target languages, and the gender a translation gives to the person they name.

The lexicon of a language is `data/core/lexicon/CODE.tsv`: occupation (English), gender, number, forms.
Gender is that of the person the forms can name:

- `masculine`, `feminine`: the form tells ("profesor", "profesora");
- `epicene`: the form serves both, and agreeing words tell ("el/la artista", «врач»);
- `masculine-only`, `feminine-only`: the noun's grammatical gender is fixed and says nothing about the person, nor do
  words that agree with it ("la guardia" for any guard).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from gendermark import registry
from gendermark.linguistics.language import Language
from gendermark.records import Gender
from gendermark.textfiles import split_lines

GENDERS = ("masculine", "feminine", "epicene", "masculine-only", "feminine-only")
NUMBERS = ("singular", "plural")
_LETTERS = {"m": Gender.MASCULINE, "f": Gender.FEMININE}


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a lexicon: the forms (case forms, spelling variants) of one noun in one number."""

    occupation: str
    gender: str
    number: str
    forms: tuple[str, ...]
    """The citation form first."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a translation says about one occupation's holder."""

    gender: Gender | None
    reason: str
    """`form` or `agreement` when decided; else `absent`, `epicene` (no agreeing word) or `both`."""
    evidence: tuple[str, ...]


@cache
def lexicon(code: str) -> tuple[Entry, ...]:
    """The bundled occupation lexicon of a language."""
    text = (files("gendermark.data") / "core" / "lexicon" / f"{code}.tsv").read_text(encoding="utf-8")
    return tuple(parse_lexicon(split_lines(text)))


def parse_lexicon(lines: Iterable[str]) -> Iterable[Entry]:
    """Entries from tab-separated lines; `#` starts a comment line."""
    for line in lines:
        if line and not line.startswith("#"):
            occupation, gender, number, forms = line.split("\t")
            if occupation != "occupation":
                yield Entry(occupation, gender, number, tuple(forms.split("|")))


class OccupationFinder:
    """Finds the forms of occupations in text, and the gender they and their agreeing words express."""

    def __init__(self, entries: Iterable[Entry], language: Language) -> None:
        self._language = language
        # occupation -> form as words -> the (gender, number) pairs it can be; longest forms first
        table: dict[str, dict[tuple[str, ...], set[tuple[str, str]]]] = defaultdict(lambda: defaultdict(set))
        for entry in entries:
            for form in entry.forms:
                table[entry.occupation][tuple(language.cut(form))].add((entry.gender, entry.number))
        self._forms: dict[str, list[tuple[tuple[str, ...], frozenset[tuple[str, str]]]]] = {
            occupation: [
                (form, frozenset(readings)) for form, readings in sorted(forms.items(), key=lambda f: -len(f[0]))
            ]
            for occupation, forms in table.items()
        }

    @property
    def occupations(self) -> Sequence[str]:
        return list(self._forms)

    def find(self, text: str, occupation: str) -> Finding:
        """The gender that a translation gives to the holder of this occupation."""
        words = self._language.cut(text)
        reached: dict[Gender, list[str]] = {}
        undecided: list[str] = []
        reason = "form"
        for start, end, readings in self._occurrences(words, occupation):
            shown = " ".join(words[start:end])
            by_form = {gender for gender, _ in readings}
            agreeing = self._agreeing(words, start, end, frozenset(number for _, number in readings))
            told = _intersection(agreement for _, agreement in agreeing)
            if by_form <= {"masculine"} or by_form <= {"feminine"}:
                gender = Gender(next(iter(by_form)))
                reached.setdefault(gender, []).append(shown)
                # "la ingeniero": noun and article contradict each other, which speaks for neither
                if told is not None and gender not in told and len(told) == 1:
                    reached.setdefault(next(iter(told)), []).extend(word for word, _ in agreeing)
            elif "epicene" in by_form or by_form >= {"masculine", "feminine"}:
                if told is not None and len(told) == 1:
                    reason = "agreement"
                    reached.setdefault(next(iter(told)), []).extend([*(word for word, _ in agreeing), shown])
                else:
                    undecided.append(shown)
            else:  # a noun of fixed gender
                undecided.append(shown)
        evidence = tuple(word for shown in reached.values() for word in shown)
        if len(reached) == 1:
            return Finding(next(iter(reached)), reason, evidence)
        if reached:
            return Finding(None, "both", evidence)
        return Finding(None, "epicene" if undecided else "absent", tuple(undecided))

    def _occurrences(
        self, words: Sequence[str], occupation: str
    ) -> Iterable[tuple[int, int, frozenset[tuple[str, str]]]]:
        taken = [False] * len(words)
        for form, readings in self._forms.get(occupation, ()):
            for start in range(len(words) - len(form) + 1):
                end = start + len(form)
                if not any(taken[start:end]) and self._matches(words[start:end], form):
                    taken[start:end] = [True] * len(form)
                    yield start, end, readings

    def _matches(self, words: Sequence[str], form: Sequence[str]) -> bool:
        if tuple(words[1:]) != tuple(form[1:]):
            return False
        first = words[0]
        return first == form[0] or any(first == prefix + form[0] for prefix in self._language.prefixes)

    def _agreeing(self, words: Sequence[str], start: int, end: int, numbers: frozenset[str]) -> list[tuple[str, str]]:
        """Determiners and adjectives around words[start:end], each with the genders it agrees with."""
        language = self._language
        number = next(iter(numbers)) if len(numbers) == 1 else "singular"
        found: list[tuple[str, str]] = []
        for position in range(start - 1, max(start - 4, -1), -1):
            word = words[position]
            if (agreement := language.agreement(word, numbers)) is not None:
                found.append((word, agreement))
                break
            if (agreement := language.adjective(word, number)) is not None:
                found.append((word, agreement))
            elif word not in language.transparent:
                break
        if language.adjectives_follow and end < len(words):
            agreement = language.adjective(words[end], number)
            if agreement is not None and words[end] not in language.transparent:
                found.append((words[end], agreement))
        found.extend(language.clues(words, start, end, number))
        return found


def _intersection(agreements: Iterable[str]) -> set[Gender] | None:
    """The genders that all agreeing words allow: None without any word, empty when they contradict each other."""
    told: set[Gender] | None = None
    for agreement in agreements:
        genders = {_LETTERS[letter] for letter in agreement}
        told = genders if told is None else told & genders
    return told


@cache
def bundled_finder(code: str) -> OccupationFinder:
    """The finder over a language's bundled lexicon."""
    return OccupationFinder(lexicon(code), registry.load("language", code))


def citation_forms(entries: Iterable[Entry]) -> Mapping[tuple[str, str, str], str]:
    """(occupation, gender, number) -> the first citation form of the lexicon."""
    forms: dict[tuple[str, str, str], str] = {}
    for entry in entries:
        forms.setdefault((entry.occupation, entry.gender, entry.number), entry.forms[0])
    return forms
