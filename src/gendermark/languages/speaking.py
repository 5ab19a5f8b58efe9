"""The gender that a text gives its speaker: how it is read. The words stand in `languages/CODE/speaker.py`.

In Slavic languages a speaker's gender shows in the participle or the adjective that goes with the first person: "byla
jsem", «я устала», "byłam" (`Grammar`). In others it is in what the speaker is said to be ("estoy cansada", "je suis
allée", «είμαι κουρασμένη»): the adjective or participle behind a verb form of the first person, with only adverbs
in between; articles and prepositions end the search, for what follows them is a noun (`Being`). No parser is needed:
the words of the first person stand near. Each such word is a cue; how far cues are trusted is the judge's business.

`FITTED` in a language's module was fitted on the translations that GEST's authors released, and is kept as it is, since
the counts that it gives there are known. `SPEAKER` is what was improved later: a blind check of the verdicts
(docs/benchmarks/gest.md) found hardly any wrong one, but genders that were not seen, most of them masculine. What was
added follows the grammar of each language: conditional conjunctions that hold the first person ("abych", "żebym"),
short adjectives ("jist", "gotów", «молод»), future tenses ("będę spała"), adjectives as predicates, and those in the
instrumental («чувствую себя слабой»).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import product
from typing import NamedTuple

from gendermark.records import Gender, Span

Phrase = tuple[str, ...]

# Marks stay with their letter, as a text may not be composed; so do points and vowel signs of other scripts.
_MARKS = r"[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u200c\u200d]"
_LETTER = rf"(?:[^\W\d_]{_MARKS}*)"
_TOKEN = re.compile(rf"{_LETTER}+(?:['’ʼ`-]{_LETTER}+)*|\d+|\S")
_ENDS_CLAUSE = frozenset(',;:.!?()"„“”«»–—…¿¡·।،؛؟')
_LATIN = "a b v g d đ e ž z i j k l lj m n nj o p r s t ć u f h c č dž š".split()  # noqa: SIM905
_SERBIAN = dict(zip("абвгдђежзијклљмнњопрстћуфхцчџш", _LATIN, strict=True))
_TO_LATIN = str.maketrans(_SERBIAN)


class Token(NamedTuple):
    """A word in lower case, and where it stands in the text as written."""

    word: str
    span: Span


class Cue(NamedTuple):
    """A word that shows the speaker's gender."""

    gender: Gender
    token: Token


Clause = Sequence[Token]


def clauses_of(text: str, *, to_latin: bool = False) -> list[list[Token]]:
    """The words of a text between its punctuation marks."""
    found: list[list[Token]] = [[]]
    for match in _TOKEN.finditer(text):
        if match[0] in _ENDS_CLAUSE:
            if found[-1]:
                found.append([])
            continue
        word = unicodedata.normalize("NFC", match[0]).lower()
        found[-1].append(Token(word.translate(_TO_LATIN) if to_latin else word, match.span()))
    return found if found[-1] else found[:-1]


@dataclass(frozen=True)
class Endings:
    """A class of words, and how its masculine and its feminine forms end."""

    masculine: str
    feminine: str
    masculine_words: frozenset[str] = frozenset()
    feminine_words: frozenset[str] = frozenset()

    def gender_of(self, word: str) -> Gender | None:
        return _gender_of(self, word)


@lru_cache(maxsize=65_536)
def _gender_of(endings: Endings, word: str) -> Gender | None:
    # Feminine first: its endings are longer.
    if word in endings.feminine_words or (endings.feminine and re.search(rf"(?:{endings.feminine})$", word)):
        return Gender.FEMININE
    if word in endings.masculine_words or (endings.masculine and re.search(rf"(?:{endings.masculine})$", word)):
        return Gender.MASCULINE
    return None


NO_ENDINGS = Endings("", "")


@dataclass(frozen=True)
class Grammar:
    """What shows the speaker's gender in one language."""

    find: Callable[[Grammar, Sequence[Clause]], Iterator[Cue]]
    """How cues are looked for."""
    participle: Endings
    adjective: Endings
    markers: tuple[str, ...] = ()
    """Words of the first person, in the order in which they are asked."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Masculine and feminine word that say it alone, asked only where there is no other cue."""
    stop: frozenset[str] = field(default_factory=frozenset)
    """Words that only look like a form of a class."""
    to_latin: bool = False
    prepositions: frozenset[str] = field(default_factory=frozenset)
    """Behind one of these stands an object, not what the speaker is."""

    def read(self, endings: Endings, token: Token) -> Cue | None:
        if token.word in self.stop:
            return None
        gender = endings.gender_of(token.word)
        return Cue(gender, token) if gender else None

    def cues(self, text: str) -> list[Cue]:
        """What shows the speaker's gender, the most telling first."""
        clauses = clauses_of(text, to_latin=self.to_latin)
        return list(self.find(self, clauses)) or _of_pairs(self, clauses)


def _of_pairs(grammar: Grammar, clauses: Sequence[Clause]) -> list[Cue]:
    for masculine, feminine in grammar.pairs:
        for word, gender in ((feminine, Gender.FEMININE), (masculine, Gender.MASCULINE)):
            for clause in clauses:
                for token in clause:
                    if token.word == word:
                        return [Cue(gender, token)]
    return []


# -- around the auxiliary: Czech, Slovak, Slovenian, Croatian, Serbian -------------------------------------------------


def around_auxiliary(grammar: Grammar, clauses: Sequence[Clause]) -> Iterator[Cue]:
    """For each auxiliary the nearest participle of its clause, else the nearest adjective."""
    for marker in grammar.markers:
        for clause in clauses:
            for place, token in enumerate(clause):
                if token.word == marker:
                    cue = _nearest(grammar, grammar.participle, clause, place) or _nearest(
                        grammar, grammar.adjective, clause, place
                    )
                    if cue:
                        yield cue


def _nearest(grammar: Grammar, endings: Endings, clause: Clause, place: int) -> Cue | None:
    by_distance = sorted(range(len(clause)), key=lambda other: (abs(other - place), other))
    return next((cue for other in by_distance if (cue := grammar.read(endings, clause[other]))), None)


# -- behind the pronoun: Russian, Ukrainian, Belarusian ----------------------------------------------------------------


def behind_pronoun(grammar: Grammar, clauses: Sequence[Clause]) -> Iterator[Cue]:
    for clause in clauses:
        for place, token in enumerate(clause):
            if token.word in grammar.markers:
                behind = clause[place + 1 : place + 8]
                cue = (
                    first(grammar, grammar.participle, behind)
                    or first(grammar, grammar.adjective, behind[:3])
                    or first(grammar, grammar.participle, clause[:place][::-1])
                )
                if cue:
                    yield cue


def first(grammar: Grammar, endings: Endings, tokens: Sequence[Token]) -> Cue | None:
    return next((cue for token in tokens if (cue := grammar.read(endings, token))), None)


def beside(grammar: Grammar, clauses: Sequence[Clause], verb: str, reach: int) -> list[Cue]:
    """The adjective that goes with the first such verb of each clause."""
    found = []
    for clause in clauses:
        place = next((place for place, token in enumerate(clause) if token.word == verb), None)
        if place is not None:
            free = [not (at and clause[at - 1].word in grammar.prepositions) for at in range(len(clause))]
            behind = [clause[at] for at in range(place + 1, min(place + 1 + reach, len(clause))) if free[at]]
            before = [clause[at] for at in range(place - 1, max(place - 3, -1), -1) if free[at]]
            cue = first(grammar, grammar.adjective, behind) or first(grammar, grammar.adjective, before)
            found += [cue] if cue else []
    return found


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def pairs(text: str) -> tuple[tuple[str, str], ...]:
    """`rád/ráda sám/sama`"""
    return tuple((pair.partition("/")[0], pair.partition("/")[2]) for pair in text.split())


# -- what the speaker is said to be: Russian, Ukrainian ----------------------------------------------------------------


@dataclass(frozen=True)
class Predicates:
    """What the speaker is said to be, right behind the pronoun or a verb of being."""

    short: Endings
    """Words that are predicates only."""
    full: Endings
    """Words that may also go with a noun; with none behind them they are predicates."""
    instrumental: Endings
    particles: frozenset[str]
    """What may stand between pronoun and predicate; adverbs too."""
    adverb: str
    joining: frozenset[str]
    before_none: frozenset[str]
    """Prepositions and conjunctions: the word before one of them goes with no noun."""
    feeling: frozenset[str]
    """Verbs of the first person with the instrumental, alone or with `self_`."""
    self_: str
    being: frozenset[str]
    """Infinitives and others with the instrumental; whose it is is said by a controller in front of them."""
    controllers: frozenset[str]
    others: frozenset[str]
    """Somebody else whom such an infinitive may belong to."""
    glad: Endings
    """What a clause without pronoun can begin with."""
    infinitive: str = "^$"
    """It goes with a predicate too: "ready to leave"."""
    adjacent: Endings = NO_ENDINGS
    """Verb forms that look like nouns; right behind the pronoun they are verbs."""


def predicates_too(about: Predicates) -> Callable[[Grammar, Sequence[Clause]], Iterator[Cue]]:
    is_adverb, is_infinitive = re.compile(about.adverb), re.compile(about.infinitive)

    def behind(clause: Clause, place: int) -> int:
        while place < len(clause) and (clause[place].word in about.particles or is_adverb.search(clause[place].word)):
            place += 1
        return place

    def stands_alone(grammar: Grammar, endings: Endings, clause: Clause, place: int) -> bool:
        if place + 1 == len(clause):
            return True
        after = clause[place + 1].word
        if after in about.joining:  # "strong and quick", but not "a strong and quick leader"
            other = behind(clause, place + 2)
            if other < len(clause) and grammar.read(endings, clause[other]):
                return stands_alone(grammar, endings, clause, other)
        return after in about.joining or after in about.before_none or is_infinitive.search(after) is not None

    def predicate(grammar: Grammar, clause: Clause, start: int) -> Cue | None:
        place = behind(clause, start)
        if place == len(clause):
            return None
        cue = grammar.read(about.adjacent, clause[place]) or grammar.read(about.short, clause[place])
        if cue is None and stands_alone(grammar, about.full, clause, place):
            cue = grammar.read(about.full, clause[place])
        return cue

    def instrumental(grammar: Grammar, clause: Clause) -> Iterator[Cue]:
        is_ours = False
        for place, token in enumerate(clause):
            is_ours = (is_ours or token.word in about.controllers) and token.word not in about.others
            if token.word in about.feeling or (is_ours and token.word in about.being):
                start = behind(clause, place + 1)
                if start < len(clause) and clause[start].word == about.self_:
                    start = behind(clause, start + 1)
                if start < len(clause) and stands_alone(grammar, about.instrumental, clause, start):
                    cue = grammar.read(about.instrumental, clause[start])
                    if cue:
                        yield cue

    def find(grammar: Grammar, clauses: Sequence[Clause]) -> Iterator[Cue]:
        found = list(behind_pronoun(grammar, clauses))
        seen = {cue.token.span for cue in found}
        for clause in clauses:
            for place, token in enumerate(clause):
                if token.word in grammar.markers:
                    cue = predicate(grammar, clause, place + 1)
                    if cue and cue.token.span not in seen:
                        found.append(cue)
            found += instrumental(grammar, clause)
        yield from found or [cue for clause in clauses for cue in glad(grammar, clause)]

    def glad(grammar: Grammar, clause: Clause) -> list[Cue]:
        place = behind(clause, 0)
        cue = grammar.read(about.glad, clause[place]) if place < len(clause) else None
        return [cue] if cue else []

    return find


# -- what the speaker is said to be, behind a verb: Romance languages, Greek, Hebrew, Arabic ---------------------------

_POINTS = re.compile("[\u0591-\u05c7\u064b-\u0652\u0670\u0640]")


def _unpointed(text: str) -> list[list[Token]]:
    return [
        [Token(_POINTS.sub("", token.word).replace("’", "'"), token.span) for token in clause]
        for clause in clauses_of(text)
    ]


@dataclass(frozen=True)
class ByClause:
    """A language that reads each clause in a way of its own."""

    find: Callable[[Clause], Iterator[Cue]]

    def cues(self, text: str) -> list[Cue]:
        return [cue for clause in _unpointed(text) for cue in self.find(clause)]


@dataclass(frozen=True)
class Being:
    """What shows the speaker's gender in one language."""

    verbs: tuple[Phrase, ...]
    """Forms of the first person, longer ones first."""
    adjective: Endings
    between: frozenset[str]
    """Adverbs that may stand between verb and predicate, and words that join two predicates."""
    adverb: str = "^$"
    joining: frozenset[str] = field(default_factory=frozenset)
    stop: frozenset[str] = field(default_factory=frozenset)
    """Words that look like an adjective; where no ending is known anyway, nothing need be said."""
    nouns: frozenset[str] = field(default_factory=frozenset)
    """What an adjective before them belongs to: "soy buena persona"."""
    shared: tuple[Phrase, ...] = ()
    """Forms of the first person that are also of the third: they count where no subject can stand before them."""
    openers: frozenset[str] = field(default_factory=frozenset)
    """What may stand before those and is no subject."""
    unchanging: tuple[Phrase, frozenset[str]] = ((), frozenset())
    """Words that behind this verb have one form for all."""
    alone: tuple[tuple[Phrase, Gender], ...] = ()
    """Words that say it by themselves."""
    telling: int = -1
    """Which word of those shows the gender: the last of "yo mismo", the first of "seguro que"."""
    prefixes: str = ""
    """Letters that are written together with the next word."""

    @cached_property
    def firsts(self) -> frozenset[str]:
        """The words that a phrase can begin with: most words begin none."""
        alone = (phrase for phrase, _ in self.alone)
        return frozenset(phrase[0] for phrase in (*self.verbs, *self.shared, *alone))

    def read(self, token: Token) -> Cue | None:
        gender = None if token.word in self.stop else self.adjective.gender_of(token.word)
        return Cue(gender, token) if gender else None

    def cues(self, text: str) -> list[Cue]:
        return list(dict.fromkeys(cue for clause in _unpointed(text) for cue in _in_clause(self, clause)))


def _in_clause(about: Being, clause: Clause) -> Iterator[Cue]:
    for place, token in enumerate(clause):
        if not about.prefixes and token.word not in about.firsts:
            continue
        for phrase, gender in about.alone:
            if _stands(about, phrase, clause, place):
                yield Cue(gender, clause[place : place + len(phrase)][about.telling])
        verb = next((phrase for phrase in about.verbs if _stands(about, phrase, clause, place)), None)
        if verb is None and all(before.word in about.openers for before in clause[:place]):
            verb = next((phrase for phrase in about.shared if _stands(about, phrase, clause, place)), None)
        if verb is not None:
            yield from _behind(about, verb, clause[place + len(verb) :])


def _stands(about: Being, phrase: Phrase, clause: Clause, place: int) -> bool:
    found = tuple(token.word for token in clause[place : place + len(phrase)])
    if not about.prefixes or not found:
        return found == phrase
    return found[0].removesuffix(phrase[0]) in ("", *about.prefixes.split()) and found[0].endswith(phrase[0])


def _behind(about: Being, verb: Phrase, rest: Clause) -> Iterator[Cue]:
    """Predicates behind a verb, as long as they are joined; "strong and sure" has one that tells nothing."""
    place = 0
    while place < len(rest):
        token = rest[place]
        after = rest[place + 1].word if place + 1 < len(rest) else ""
        if token.word in about.between or re.search(about.adverb, token.word):
            place += 1
            continue
        cue = about.read(token)
        if cue and after not in about.nouns and not (verb == about.unchanging[0] and token.word in about.unchanging[1]):
            yield cue
        is_joined = after in about.joining
        if not is_joined and about.prefixes and place + 1 < len(rest):
            yield from _prefixed(about, rest[place + 1 :])
        if not is_joined:
            return
        place += 2


def _prefixed(about: Being, rest: Clause) -> Iterator[Cue]:
    """What is joined by a letter: "proud of my children and-glad"."""
    for token in rest:
        if token.word[:1] in ("ו", "و") and (cue := about.read(Token(token.word[1:], token.span))):
            yield cue


def phrases(text: str) -> tuple[Phrase, ...]:
    """`soy, me siento`: the longer ones first, so that "he sido" is not taken for "he"."""
    found = [tuple(one.split()) for one in text.split(",")]
    return tuple(sorted(found, key=len, reverse=True))


def alone_words(masculine: str, feminine: str) -> tuple[tuple[Phrase, Gender], ...]:
    return tuple(
        (phrase, gender)
        for text, gender in ((masculine, Gender.MASCULINE), (feminine, Gender.FEMININE))
        for phrase in phrases(text)
    )


def with_infinitives(modals: str, infinitives: str) -> str:
    return ",".join(f"{modal} {infinitive}" for modal, infinitive in product(modals.split(","), infinitives.split()))


def from_pairs(text: str) -> Endings:
    """From pairs of masculine and feminine forms."""
    known = pairs(text)
    return Endings("", "", frozenset(m for m, _ in known), frozenset(f for _, f in known))
