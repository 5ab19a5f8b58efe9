"""Words of a language that show a person's gender, and words that only seem to.

They are in `languages/CODE/gendered.tsv`, one row for each kind of word; the lexicon of occupations adds its forms.
`Language.role_forms` inflects nouns for people, by rules that hold for the listed nouns.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from gendermark.languages.folders import lines_of
from gendermark.languages.language import Language
from gendermark.reading.occupations import lexicon

_SHORTEST_HEAD = 6
"""Minimum letters of a compound's head; shorter matches are accidental ("-enkel", "-herr")."""
_NEVER = re.compile("(?!)")
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


@dataclass(frozen=True, slots=True)
class GenderedWords:
    """One language's words. Phrases, hyphenated in the file, are tuples of words here."""

    told: Mapping[str, Told]
    articles: Mapping[str, str]
    fixed: frozenset[str]
    """Nouns of fixed gender ("persona", "Mitglied"), and adjectives of things ("femenino")."""
    habit: frozenset[str]
    """Nouns whose masculine form is often used for women: only a feminine article decides ("la piloto")."""
    common: frozenset[str]
    """Common nouns: their article decides."""
    common_ending: re.Pattern[str]
    norm_ending: re.Pattern[str]
    """Nouns of a role whose masculine form is often used for women."""
    paired: re.Pattern[str]
    """Nouns of `habit` or `common` with a feminine of their own («гражданка»), so that the masculine is informative."""
    heads: tuple[str, ...]
    """Short nouns as heads of compounds ("Edelfrau")."""
    titles: frozenset[str]
    """Titles that English has too, and that are not names ("Lady")."""
    possessives: frozenset[str]
    """Possessors of the next noun, which refers to another person."""
    its: frozenset[str]
    """Possessives of a person that are often those of a thing ("sein")."""
    participles: tuple[re.Pattern[str], re.Pattern[str]]
    agents: tuple[re.Pattern[str], re.Pattern[str]]
    no_agents: frozenset[str]
    """Words that end like agents ("manière", "mayor")."""
    past: tuple[re.Pattern[str], re.Pattern[str]]
    """Endings of verb forms that agree with their subject."""
    no_past: frozenset[str]
    enclitics: tuple[re.Pattern[str], re.Pattern[str]]
    """Verbs with an attached pronoun ("verla")."""
    clitics: Mapping[str, str]
    """Object pronouns that are written like articles."""
    finite: re.Pattern[str]
    """Verb forms that no noun has; before them an article is a pronoun."""
    sexes: Mapping[str, str]
    """Adjectives that name a sex ("femenino"), whatever their ending."""
    homographs: frozenset[str]
    """Masculine singulars that are also feminine plurals (Italian "cameriere")."""
    no_participles: frozenset[str]
    copulas: frozenset[str]
    perfect: frozenset[str]
    """Forms of "have" before a participle."""
    adverbs: frozenset[str]
    introducing: frozenset[str]
    """Words before a predicate noun ("como", "als", "fue")."""
    posts: frozenset[str]
    """Words before a noun that then denotes a post ("the office of"), in languages without a genitive for that."""
    phrases: Mapping[str, Sequence[Phrase]]
    """Set phrases about things ("vestido de novia"), by their first word."""
    prefixes: tuple[str, ...]
    """Clitics attached to a noun."""
    head_is_last: bool
    """Whether the last part of a compound is its head ("Vizepräsident"), as in German."""
    has_compounds: bool
    """Whether compounds are written as one word."""
    _seen: dict[str, Entry] = field(default_factory=dict)
    _participles: dict[str, str | None] = field(default_factory=dict)

    def look_up(self, word: str) -> Entry:
        if word not in self._seen:
            self._seen[word] = self._entry(word)
        return self._seen[word]

    def _entry(self, word: str) -> Entry:
        # The noun inside a word: on one side of a hyphen ("editora-chefe") or without clitics ("والملكة").
        heads = word.split("-")[:: -1 if self.head_is_last else 1] if "-" in word else []
        heads += [word[len(prefix) :] for prefix in self.prefixes if word.startswith(prefix)]
        if self.has_compounds and word not in self.told:  # "Fußballspieler", "Gründungsmitglied": the longest noun
            heads += [word[at:] for at in range(3, len(word) - _SHORTEST_HEAD + 1)]
            heads += [head for head in self.heads if word.endswith(head) and len(word) > len(head) + 2]
        told = self.told.get(word)
        if told is None:
            found = (self.told.get(head) for head in heads)
            told = next((one for one in found if one and one.kind in ("noun", "role", "norm")), None)
            # Arabic "and" and "so" are attached to a verb; no other clitics are.
            verb = self.told.get(word[1:]) if self.prefixes and word[:1] in ("و", "ف") else None
            told = told or (verb if verb and verb.kind == "verb" else None)
        if told is None and self.norm_ending.fullmatch(word):
            told = Told("m", "norm")
        named = {word, *([] if told else heads)}
        is_common = word in self.common or word in self.habit or self.common_ending.fullmatch(word) is not None
        return Entry(told, bool(named & self.fixed), bool(named & (self.habit | self.common)), is_common)

    def agent(self, word: str) -> str | None:
        return None if word in self.no_agents else _which(self.agents, word)

    def verb(self, word: str) -> str | None:
        return None if word in self.no_past else _which(self.past, word)

    def enclitic(self, word: str) -> str | None:
        return _which(self.enclitics, word)

    def participle(self, word: str) -> str | None:
        if word not in self._participles:
            self._participles[word] = None if word in self.no_participles else _which(self.participles, word)
        return self._participles[word]


def _which(forms: tuple[re.Pattern[str], re.Pattern[str]], word: str) -> str | None:
    return next((letter for letter, form in zip("mf", forms, strict=True) if form.fullmatch(word)), None)


Rows = Mapping[str, list[tuple[str, str]]]


def _rows(code: str) -> Rows:
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for line in lines_of(code, "gendered.tsv")[1:]:
        kind, masculine, feminine = [*line.split("\t"), "", ""][:3]
        found[kind].append((masculine, feminine))
    return found


def gendered_words(language: Language) -> GenderedWords:
    rows = _rows(language.code)

    def words(kind: str) -> frozenset[str]:
        return frozenset(_cut(" ".join(f"{one} {other}" for one, other in rows.get(kind, ())), language))

    def by_gender(kind: str) -> Iterable[tuple[str, str]]:
        for columns in rows.get(kind, ()):
            for letter, column in zip("mf", columns, strict=True):
                yield from ((word, letter) for word in _cut(column, language))

    def patterns(kind: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
        given = rows.get(kind, [("", "")])[0]
        one, other = (re.compile(column) if column else _NEVER for column in given)
        return one, other

    fixed, habit, common = words("fixed") | words("sex"), words("habit"), words("common")
    silent = fixed | habit | common
    told: dict[str, Told] = {}
    for word, letter, is_plural in (*_occupations(language), *_roles(language, rows)):
        if word not in silent:
            told[word] = Told(letter, "role", is_plural)
    told |= {word: Told("m", "norm") for word in words("norm") - silent}
    for kind in ("verb", "nouns", "noun", "owner", "pronouns", "pronoun", "oblique"):
        for word, letter in by_gender(kind):
            told[word] = Told(letter, "pronoun" if kind == "oblique" else kind.rstrip("s"), kind.endswith("s"))
    return GenderedWords(
        told=told,
        articles=dict(by_gender("article")),
        fixed=fixed,
        habit=habit,
        common=common,
        common_ending=patterns("common-ending")[0],
        norm_ending=patterns("norm-ending")[0],
        paired=patterns("paired")[0],
        heads=tuple(sorted(words("head"), key=len, reverse=True)),
        titles=words("title"),
        possessives=words("possessive"),
        its=words("its"),
        participles=patterns("participle"),
        agents=patterns("agent-ending"),
        no_agents=words("no-agent"),
        past=patterns("past"),
        no_past=words("no-past"),
        enclitics=patterns("enclitic"),
        clitics=dict(by_gender("clitic")),
        finite=patterns("finite")[0],
        sexes=dict(by_gender("sex")),
        homographs=frozenset(word for word, letter in by_gender("noun") if letter == "m")
        & frozenset(word for word, letter in by_gender("nouns") if letter == "f"),
        no_participles=words("no-participle"),
        copulas=words("copula"),
        perfect=words("perfect"),
        adverbs=words("adverb"),
        introducing=words("as"),
        posts=words("post"),
        phrases=_by_first_word(
            (phrase, phrase) for one, _ in rows.get("phrase", ()) for phrase in _phrases(one, language)
        ),
        prefixes=language.prefixes,
        head_is_last=language.head_is_last,
        has_compounds=language.has_compounds,
    )


def _phrases(column: str, language: Language) -> Iterable[Phrase]:
    return (tuple(language.cut(phrase.replace("-", " "))) for phrase in column.split())


_Value = TypeVar("_Value")


def _by_first_word(pairs: Iterable[tuple[Phrase, _Value]]) -> dict[str, list[_Value]]:
    found: dict[str, list[_Value]] = defaultdict(list)
    for phrase, value in pairs:
        found[phrase[0]].append(value)
    return dict(found)


def _cut(column: str, language: Language) -> Iterable[str]:
    return (language.normalise(word) for word in column.split())


def _occupations(language: Language) -> Iterable[tuple[str, str, bool]]:
    genders: dict[str, set[str]] = defaultdict(set)
    singular: set[str] = set()
    for entry in lexicon(language.code):
        for form in entry.forms:
            (first, *others) = language.cut(form) or [""]
            if not others and len(first) > 2:
                genders[first].add(entry.gender)
                if entry.number == "singular":
                    singular.add(first)
    for word, found in genders.items():
        if len(found) == 1 and (letter := _OCCUPATIONS.get(*found)):
            yield word, letter, word not in singular


def _roles(language: Language, rows: Rows) -> Iterable[tuple[str, str, bool]]:
    for column, _ in rows.get("role", ()):
        for role in column.split():
            masculine, _, feminine = role.partition("/")
            if masculine != feminine:
                for word, letter, is_plural in language.role_forms(masculine, feminine):
                    yield language.normalise(word), letter, is_plural
