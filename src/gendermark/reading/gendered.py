"""The words of a language that show the gender of a person, and those that seem to and do not.

They stand in `languages/CODE/gendered.tsv`, one row for each kind of word; the lexicon of occupations adds its forms.
Nouns of people are inflected by `Language.role_forms`, by rules that hold for the nouns that are listed.
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
"""Letters of a noun at the end of a compound; shorter ones are there by chance ("-enkel", "-herr")."""
_NEVER = re.compile("(?!)")
_OCCUPATIONS = {"masculine": "m", "feminine": "f"}
Phrase = tuple[str, ...]


class Told(NamedTuple):
    """What a word tells about the person it is about."""

    gender: str
    kind: str
    """`pronoun`, `owner` (a possessive that shows whose), `noun` (of sex, kinship, rank), `role`, `norm` (a masculine
    role that many use of women too), `verb`."""
    is_plural: bool = False


class Entry(NamedTuple):
    """All that is known of one word."""

    told: Told | None
    is_fixed: bool
    is_silent: bool
    """Whether it tells nothing without an article."""
    is_common: bool


@dataclass(frozen=True, slots=True)
class GenderedWords:
    """One language's words. What is written as a phrase in the file, joined by hyphens, is a tuple of words here."""

    told: Mapping[str, Told]
    articles: Mapping[str, str]
    fixed: frozenset[str]
    """Nouns that have one gender whoever they name ("persona", "Mitglied"), and adjectives of things ("femenino")."""
    habit: frozenset[str]
    """Nouns whose masculine form many use of women: only a feminine article tells ("la piloto")."""
    common: frozenset[str]
    """Nouns for both: their article tells."""
    common_ending: re.Pattern[str]
    norm_ending: re.Pattern[str]
    """Nouns of a role whose masculine form many use of women too."""
    paired: re.Pattern[str]
    """Nouns of `habit` or `common` that have a feminine of their own («гражданка»), so that the masculine is shown."""
    heads: tuple[str, ...]
    """Short nouns that end a compound ("Edelfrau")."""
    titles: frozenset[str]
    """Titles that English has too, and that are no names ("Lady")."""
    possessives: frozenset[str]
    """Whose the next noun is: it names another person."""
    participles: tuple[re.Pattern[str], re.Pattern[str]]
    agents: tuple[re.Pattern[str], re.Pattern[str]]
    no_agents: frozenset[str]
    """Words that end like agents ("manière", "mayor")."""
    past: tuple[re.Pattern[str], re.Pattern[str]]
    """Verb forms that agree with their subject, by their endings."""
    no_past: frozenset[str]
    enclitics: tuple[re.Pattern[str], re.Pattern[str]]
    """Verbs with a pronoun attached ("verla")."""
    clitics: Mapping[str, str]
    """Object pronouns that are written like articles."""
    finite: re.Pattern[str]
    """Forms of verbs that no noun has; before them an article is a pronoun."""
    sexes: Mapping[str, str]
    """Adjectives that name a sex ("femenino"), whatever their ending."""
    homographs: frozenset[str]
    """Words for one man that are also written for several women (Italian "cameriere")."""
    no_participles: frozenset[str]
    copulas: frozenset[str]
    adverbs: frozenset[str]
    introducing: frozenset[str]
    """Words before a predicate noun ("como", "als", "fue")."""
    posts: frozenset[str]
    """Words before a noun that then names a post ("the office of"), where those are written without a genitive."""
    phrases: Mapping[str, Sequence[Phrase]]
    """Set phrases that are about a thing ("vestido de novia"), by their first word."""
    prefixes: tuple[str, ...]
    """Clitics that are written together with a noun."""
    head_is_last: bool
    """Whether the last part of a compound is its noun ("Vizepräsident"), as in German."""
    has_compounds: bool
    """Whether nouns are written together."""
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
            # Arabic "and" and "so" are written together with a verb, and no other clitics are.
            verb = self.told.get(word[1:]) if self.prefixes and word[:1] in ("و", "ف") else None
            told = told or (verb if verb and verb.kind == "verb" else None)
        if told is None and self.norm_ending.fullmatch(word):
            told = Told("m", "norm")
        named = {word, *([] if told else heads)}
        is_common = word in self.common or word in self.habit or self.common_ending.fullmatch(word) is not None
        return Entry(told, bool(named & self.fixed), bool(named & (self.habit | self.common)), is_common)

    def agent(self, word: str) -> str | None:
        """The gender that the ending of an agent noun shows, None for another word."""
        return None if word in self.no_agents else _which(self.agents, word)

    def verb(self, word: str) -> str | None:
        return None if word in self.no_past else _which(self.past, word)

    def enclitic(self, word: str) -> str | None:
        return _which(self.enclitics, word)

    def participle(self, word: str) -> str | None:
        """The gender that a participle form shows, None for another word."""
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
    """The words of one language, as its `cut` writes them."""
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
    """The forms of one word in the lexicon that are of one gender."""
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
