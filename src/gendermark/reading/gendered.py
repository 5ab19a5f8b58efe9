"""Words of a language that show a person's gender, and words that only seem to.

They are in `languages/CODE/gendered.tsv`, one row for each kind of word; the lexicon of occupations adds its forms.
`Language.role_forms` inflects nouns for people, by rules that hold for the listed nouns.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from gendermark.languages.folders import lines_of
from gendermark.languages.language import Language
from gendermark.reading.occupations import lexicon

_SHORTEST_HEAD = 6
"""Minimum letters of a compound's head; shorter matches are accidental ("-enkel", "-herr")."""
_OCCUPATIONS = {"masculine": "m", "feminine": "f"}
Phrase = tuple[str, ...]


class Told(NamedTuple):
    """The gender that a word shows of its person, and how."""

    gender: str
    kind: str
    """`pronoun`, `owner` (a possessive that shows whose), `noun` (of sex, kinship, rank), `role`, `norm` (a
    masculine role often used for women), `verb`."""
    is_plural: bool = False


class Entry(NamedTuple):
    """All information on one word."""

    told: Told | None
    is_fixed: bool
    is_silent: bool
    """Whether it shows nothing without an article."""
    is_common: bool


class GenderedWords:
    """One language's words. Phrases, hyphenated in the file, are tuples of words here."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._rows: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for line in lines_of(language.code, "gendered.tsv")[1:]:
            kind, masculine, feminine = [*line.split("\t"), "", ""][:3]
            self._rows[kind].append((masculine, feminine))
        words, patterns = self._words, self._patterns

        self.fixed = words("fixed") | words("sex")
        """Nouns of fixed gender ("persona", "Mitglied"), and adjectives of things ("femenino")."""
        self.habit = words("habit")
        """Nouns whose masculine form is often used for women: only a feminine article decides ("la piloto")."""
        self.common = words("common")
        """Common nouns: their article decides."""
        self._silent = self.fixed | self.habit | self.common
        self.told = self._told()
        self.articles = dict(self._by_gender("article"))
        self._common_ending = patterns("common-ending")[0]
        self._norm_ending = patterns("norm-ending")[0]
        """Nouns of a role whose masculine form is often used for women."""
        self.paired = patterns("paired")[0]
        """Nouns of `habit` or `common` with a feminine of their own («гражданка»), so that the masculine is
        informative."""
        self._heads = sorted(words("head"), key=len, reverse=True)
        """Short nouns as heads of compounds ("Edelfrau")."""
        self.titles = words("title")
        """Titles that English has too, and that are not names ("Lady")."""
        self.possessives = words("possessive")
        """Possessors of the next noun, which refers to another person."""
        self.its = words("its")
        """Possessives of a person that are often those of a thing ("sein")."""
        self._agents = patterns("agent-ending")
        self._no_agents = words("no-agent")
        """Words that end like agents ("manière", "mayor")."""
        self._past = patterns("past")
        """Endings of verb forms that agree with their subject."""
        self._no_past = words("no-past")
        self._enclitics = patterns("enclitic")
        """Verbs with an attached pronoun ("verla")."""
        self.clitics = dict(self._by_gender("clitic"))
        """Object pronouns that are written like articles."""
        self.finite = patterns("finite")[0]
        """Verb forms that no noun has; before them an article is a pronoun."""
        self.sexes = dict(self._by_gender("sex"))
        """Adjectives that name a sex ("femenino"), whatever their ending."""
        singular, plural = ({*self._by_gender(kind)} for kind in ("noun", "nouns"))
        self.homographs = {word for word, letter in singular if letter == "m" and (word, "f") in plural}
        """Masculine singulars that are also feminine plurals (Italian "cameriere")."""
        self._participles = patterns("participle")
        self.no_participles = words("no-participle")
        self.copulas = words("copula")
        self.perfect = words("perfect")
        """Forms of "have" before a participle."""
        self.adverbs = words("adverb")
        self.neuter = words("neuter")
        """Subjects that are no person: "questo", "cela"."""
        self.introducing = words("as")
        """Words before a predicate noun ("como", "als", "fue")."""
        self.posts = words("post")
        """Words before a noun that then denotes a post ("the office of"), in languages without a genitive for that."""
        self.phrases: dict[str, list[Phrase]] = defaultdict(list)
        """Set phrases about things ("vestido de novia"), by their first word."""
        for one, _ in self._rows.get("phrase", ()):
            for phrase in one.split():
                cut = tuple(language.cut(phrase.replace("-", " ")))
                self.phrases[cut[0]].append(cut)
        self._seen: dict[str, Entry] = {}

    def _words(self, kind: str) -> frozenset[str]:
        return frozenset(word for word, _ in self._by_gender(kind))

    def _by_gender(self, kind: str) -> Iterator[tuple[str, str]]:
        for columns in self._rows.get(kind, ()):
            for letter, column in zip("mf", columns, strict=True):
                yield from ((self._language.normalise(word), letter) for word in column.split())

    def _patterns(self, kind: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """Of masculine and of feminine words."""
        one, other = (re.compile(column or "(?!)") for column in self._rows.get(kind, [("", "")])[0])
        return one, other

    def _told(self) -> dict[str, Told]:
        told = {
            word: Told(letter, "role", is_plural)
            for word, letter, is_plural in (*self._occupations(), *self._roles())
            if word not in self._silent
        }
        told |= {word: Told("m", "norm") for word in self._words("norm") - self._silent}
        for kind in ("verb", "nouns", "noun", "owner", "pronouns", "pronoun", "oblique"):
            for word, letter in self._by_gender(kind):
                told[word] = Told(letter, "pronoun" if kind == "oblique" else kind.rstrip("s"), kind.endswith("s"))
        return told

    def _occupations(self) -> Iterator[tuple[str, str, bool]]:
        genders: dict[str, set[str]] = defaultdict(set)
        singular: set[str] = set()
        for entry in lexicon(self._language.code):
            for form in entry.forms:
                (first, *others) = self._language.cut(form) or [""]
                if not others and len(first) > 2:
                    genders[first].add(entry.gender)
                    if entry.number == "singular":
                        singular.add(first)
        for word, found in genders.items():
            if len(found) == 1 and (letter := _OCCUPATIONS.get(*found)):
                yield word, letter, word not in singular

    def _roles(self) -> Iterator[tuple[str, str, bool]]:
        for column, _ in self._rows.get("role", ()):
            for role in column.split():
                masculine, _, feminine = role.partition("/")
                if masculine != feminine:
                    for word, letter, is_plural in self._language.role_forms(masculine, feminine):
                        yield self._language.normalise(word), letter, is_plural

    def look_up(self, word: str) -> Entry:
        found = self._seen.get(word)
        if found is None:
            found = self._seen[word] = self._entry(word)
        return found

    def _entry(self, word: str) -> Entry:
        # The noun inside a word: on one side of a hyphen ("editora-chefe") or without clitics ("والملكة").
        heads = word.split("-")[:: -1 if self._language.head_is_last else 1] if "-" in word else []
        heads += [word[len(prefix) :] for prefix in self._language.prefixes if word.startswith(prefix)]
        if (
            self._language.has_compounds and word not in self.told
        ):  # "Fußballspieler", "Gründungsmitglied": the longest noun
            heads += [word[at:] for at in range(3, len(word) - _SHORTEST_HEAD + 1)]
            heads += [head for head in self._heads if word.endswith(head) and len(word) > len(head) + 2]
        told = self.told.get(word)
        if told is None:
            found = (self.told.get(head) for head in heads)
            told = next((one for one in found if one and one.kind in ("noun", "role", "norm")), None)
            # Arabic "and" and "so" are attached to a verb; no other clitics are.
            verb = self.told.get(word[1:]) if self._language.prefixes and word[:1] in ("و", "ف") else None
            told = told or (verb if verb and verb.kind == "verb" else None)
        if told is None and self._norm_ending.fullmatch(word):
            told = Told("m", "norm")
        named = {word, *([] if told else heads)}
        is_common = word in self.common or word in self.habit or self._common_ending.fullmatch(word) is not None
        return Entry(told, bool(named & self.fixed), bool(named & (self.habit | self.common)), is_common)

    def agent(self, word: str) -> str | None:
        return None if word in self._no_agents else _which(self._agents, word)

    def verb(self, word: str) -> str | None:
        return None if word in self._no_past else _which(self._past, word)

    def enclitic(self, word: str) -> str | None:
        return _which(self._enclitics, word)

    def participle(self, word: str) -> str | None:
        return None if word in self.no_participles else _which(self._participles, word)


def _which(forms: tuple[re.Pattern[str], re.Pattern[str]], word: str) -> str | None:
    return next((letter for letter, form in zip("mf", forms, strict=True) if form.fullmatch(word)), None)
