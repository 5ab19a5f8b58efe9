"""The gender that a text gives its speaker: how it is read. The words stand in `languages/CODE/speaker.toml`.

In Slavic languages a speaker's gender shows in the participle or the adjective that goes with the first person: "byla
jsem", «я устала», "byłam" (`Grammar`). In others it is in what the speaker is said to be ("estoy cansada", "je suis
allée", «είμαι κουρασμένη»): the adjective or participle behind a verb form of the first person, with only adverbs
in between; articles and prepositions end the search, for what follows them is a noun (`Being`). No parser is needed:
the words of the first person stand near. Each such word is a cue; how far cues are trusted is the judge's business.

`fitted` was fitted on the translations that GEST's authors released, and is kept as it is, since the counts that it
gives there are known. `speaker` is what was improved later: a blind check of the verdicts (docs/benchmarks/gest.md)
found hardly any wrong one, but genders that were not seen. `addressee` reads the second person.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from itertools import pairwise, product
from typing import Any, NamedTuple

from gendermark.languages.tables import record, toml_of
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
_NOTHING = re.compile("^$")


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

    masculine: str = ""
    feminine: str = ""
    masculine_words: frozenset[str] = frozenset()
    feminine_words: frozenset[str] = frozenset()

    @classmethod
    def from_table(cls, table: Mapping[str, str]) -> Endings:
        """From patterns and words; `pairs` has masculine and feminine words that belong together."""
        if "pairs" not in table:
            return record(cls, table)
        known = _pairs(table["pairs"])
        words = frozenset(m for m, _ in known), frozenset(f for _, f in known)
        return cls(table.get("masculine", ""), table.get("feminine", ""), *words)

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


NO_ENDINGS = Endings()
_THIRD = frozenset({"je", "su", "jest", "smo", "si", "ste"})


@dataclass(frozen=True)
class Grammar:
    """What shows the speaker's gender in one language."""

    way: AroundAuxiliary | BehindPronoun | Copula | InVerb | Predicates
    """How the cues are looked for."""
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
        clauses = clauses_of(text, to_latin=self.to_latin)
        return list(self.way.find(self, clauses)) or _of_pairs(self, clauses)


def _of_pairs(grammar: Grammar, clauses: Sequence[Clause]) -> list[Cue]:
    for masculine, feminine in grammar.pairs:
        for word, gender in ((feminine, Gender.FEMININE), (masculine, Gender.MASCULINE)):
            if found := [Cue(gender, token) for clause in clauses for token in clause if token.word == word]:
                return found[:1]
    return []


# -- around the auxiliary: Czech, Slovak, Slovenian, Croatian, Serbian -------------------------------------------------


class AroundAuxiliary:
    """For each auxiliary the nearest participle of its clause, else the nearest adjective."""

    def find(self, grammar: Grammar, clauses: Sequence[Clause]) -> Iterator[Cue]:
        for marker, clause in product(grammar.markers, clauses):
            for place in (at for at, token in enumerate(clause) if token.word == marker):
                cue = _nearest(grammar, grammar.participle, clause, place)
                if cue := cue or _nearest(grammar, grammar.adjective, clause, place):
                    yield cue


def _nearest(grammar: Grammar, endings: Endings, clause: Clause, place: int) -> Cue | None:
    by_distance = sorted(range(len(clause)), key=lambda other: (abs(other - place), other))
    return next((cue for other in by_distance if (cue := grammar.read(endings, clause[other]))), None)


# -- participles and adjectives with the copula: Czech, Slovak, Slovenian, Croatian, Serbian ---------------------------


@dataclass(frozen=True)
class Predicative:
    """Words around an adjective as predicate."""

    particles: frozenset[str] = frozenset()
    """Clitics and adverbs that may stand before the predicate."""
    adverb: re.Pattern[str] = _NOTHING
    joining: frozenset[str] = frozenset()
    before_none: frozenset[str] = frozenset()
    """Conjunctions: an adjective before one of them goes with no noun."""
    feeling: frozenset[str] = frozenset()
    """Verbs of the first person with an adjective as predicate: "cítím se silná"."""
    instrumental: Endings = NO_ENDINGS
    """Adjectives behind those verbs."""
    short: Endings = NO_ENDINGS
    """Forms of adjectives that are predicates only."""
    me: frozenset[str] = frozenset()
    """"Me" and "myself", as objects."""
    others: frozenset[str] = frozenset()
    """Subjects and verbs of the third person, whose infinitive or shared auxiliary is not the speaker's."""
    first_person: re.Pattern[str] = _NOTHING

    def _passes(self, word: str) -> bool:
        return word in self.particles or self.adverb.search(word) is not None

    def _beyond(self, clause: Clause, place: int) -> int:
        while place < len(clause) and self._passes(clause[place].word):
            place += 1
        return place


@dataclass(frozen=True)
class Copula(Predicative):
    """Words of a language whose first person has an auxiliary, which is its copula too.

    `first_person` has the words before an infinitive by which it belongs to the speaker: "I want to be".
    """

    auxiliaries: frozenset[str] = frozenset()
    """Those of the first person; a participle of the same clause belongs to the speaker."""
    subordinators: frozenset[str] = frozenset()
    """Words that begin a clause without a comma."""
    prepositions: frozenset[str] = frozenset()
    no_noun: re.Pattern[str] = _NOTHING
    """Infinitives and oblique cases, by their endings: an adjective before one of them goes with no noun either."""
    infinitives: frozenset[str] = frozenset()
    any_person: frozenset[str] = frozenset()
    """Auxiliaries shared by all persons: the first one counts, and only where nothing else tells."""
    pronouns: frozenset[str] = frozenset()
    """The pronoun "I", which may replace the auxiliary."""
    comparing: frozenset[str] = frozenset()
    """Words before a pronoun that is no subject: "more than I"."""
    object_pronouns: frozenset[str] = frozenset()
    """Pronouns behind the auxiliary that elsewhere are verbs of another clause."""
    left: Endings = NO_ENDINGS
    """What agrees with the object "me": "he left me alone"."""
    taken: Endings = NO_ENDINGS
    """What "me" is taken for, behind one of the words `taken_for`: "they consider me (as) weak"."""
    taken_for: frozenset[str] = frozenset()
    making: frozenset[str] = frozenset()
    """Verbs with "me" and an adjective: "it makes me happy"."""
    alone: str = ""
    """A form of the auxiliary that also means "alone" (masculine), at the end of a clause with another verb."""

    def _begins(self, clause: Clause, at: int) -> bool:
        if clause[at].word in self.object_pronouns:  # "nisam im je dao", but "kuća je bila"
            return not any(token.word in self.auxiliaries for token in clause[max(0, at - 2) : at])
        return clause[at].word in self.subordinators

    def _segments(self, clauses: Sequence[Clause]) -> Iterator[Clause]:
        for clause in clauses:
            starts = [at for at in range(len(clause)) if at == 0 or self._begins(clause, at)]
            yield from (clause[a:b] for a, b in zip(starts, [*starts[1:], len(clause)], strict=True))

    def _stands_alone(self, grammar: Grammar, endings: Endings, clause: Clause, place: int) -> bool:
        if place + 1 == len(clause) or self.short.gender_of(clause[place].word):
            return True
        after = clause[place + 1].word
        if after in self.joining:  # "strong and quick", but not "a strong and quick leader"
            other = self._beyond(clause, place + 2)
            is_joined = other < len(clause) and grammar.read(endings, clause[other])
            return not is_joined or self._stands_alone(grammar, endings, clause, other)
        cues = grammar.read(endings, clause[place]), grammar.read(endings, clause[place + 1])
        if cues[1] and cues[0] and cues[0].gender is cues[1].gender:
            return self._stands_alone(grammar, endings, clause, place + 1)
        if after in self.before_none or after in self.prepositions or after in self.particles:
            return True
        if after in self.auxiliaries or self.adverb.search(after):
            return True
        return endings is not self.instrumental and self.no_noun.search(after) is not None

    def _behind(self, grammar: Grammar, clause: Clause, place: int, endings: Endings) -> Cue | None:
        unknown, other = 0, place + 1
        while other < len(clause) and unknown < 2:
            cue = grammar.read(endings, clause[other])
            if cue and self._stands_alone(grammar, endings, clause, other):
                return cue
            if cue and endings is self.instrumental:  # with its noun: "an excellent host"
                return None
            word = clause[other].word
            unknown += not (self._passes(word) or word in self.prepositions | self.joining)
            other += 2 if word in self.prepositions and word not in self.particles else 1
        return None

    def _before(self, grammar: Grammar, clause: Clause, place: int, endings: Endings) -> Cue | None:
        other = place - 1
        while other > 0 and clause[other].word in self.particles and not grammar.read(endings, clause[other]):
            other -= 1
        is_object = other > 0 and clause[other - 1].word in self.prepositions
        return grammar.read(endings, clause[other]) if other >= 0 and not is_object else None

    def _is_ours(self, clause: Clause, place: int, earlier: Sequence[Clause] = ()) -> bool:
        before = [token.word for token in clause[:place]]
        near = before + [token.word for other in earlier for token in other]
        is_first = any(word in self.auxiliaries or self.first_person.search(word) for word in near)
        return is_first and not any(word in self.others or (earlier and word in _THIRD) for word in before)

    def _of_me(self, grammar: Grammar, clause: Clause, place: int) -> Cue | None:
        for at in range(place + 1, len(clause) - 1):
            is_last = at + 2 == len(clause) or clause[at + 2].word in self.before_none
            if clause[at].word in self.taken_for and is_last and (cue := grammar.read(self.taken, clause[at + 1])):
                return cue
        made = next((at for at, token in enumerate(clause) if token.word in self.making), len(clause))
        left = _first(grammar, self.left, clause[place + 1 : place + 4])
        return left or self._behind(grammar, clause, made, self.instrumental)

    def _joined(self, grammar: Grammar, clause: Clause, auxiliary: int) -> Iterator[Cue]:
        """Further participles of the same auxiliary: "pridružila sam se klubu i vježbala"."""
        for at in range(auxiliary + 1, len(clause) - 1):
            if clause[at].word in self.joining:
                rest = [*clause[at + 1 :], None]
                for token, after in pairwise(rest):
                    cue = grammar.read(grammar.participle, token) if token else None
                    if cue and not (after and after.word in _THIRD):
                        yield cue
                    if cue or token is None or token.word == "to" or not self._passes(token.word):
                        break  # "a to bola" has another subject

    def _of_auxiliary(self, grammar: Grammar, clause: Clause, place: int) -> Cue | None:
        cue = (
            _nearest(grammar, grammar.participle, clause, place)
            or self._behind(grammar, clause, place, grammar.adjective)
            or self._before(grammar, clause, place, grammar.adjective)
        )
        is_alone = clause[place].word == self.alone and place == len(clause) - 1
        return Cue(Gender.MASCULINE, clause[place]) if not cue and is_alone and self._is_ours(clause, place) else cue

    def find(self, grammar: Grammar, clauses: Sequence[Clause]) -> Iterator[Cue]:
        found, weak = [], []
        segments = list(self._segments(clauses))
        for number, clause in enumerate(segments):
            for place, token in enumerate(clause):
                is_pronoun = token.word in self.pronouns and not (place and clause[place - 1].word in self.comparing)
                if token.word in self.auxiliaries or is_pronoun:
                    found.append(self._of_auxiliary(grammar, clause, place))
                    found += self._joined(grammar, clause, place) if found[-1] else ()
                elif token.word in self.feeling or (
                    token.word in self.infinitives and self._is_ours(clause, place, segments[:number])
                ):
                    cue = self._behind(grammar, clause, place, grammar.adjective)
                    found.append(cue or self._behind(grammar, clause, place, self.instrumental))
                elif token.word in self.me:
                    found.append(self._of_me(grammar, clause, place))
                elif token.word in self.any_person and not any(other.word in self.others for other in clause):
                    weak.append(_nearest(grammar, grammar.participle, clause, place))
        yield from [cue for cue in found if cue] or [cue for cue in weak if cue][:1]


# -- in the verb: Polish -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class InVerb:
    """A language whose past tense shows person and gender in one word."""

    being: str
    """The copula of the first person, with adjectives; `infinitive` where it has none."""
    infinitive: str
    conditionals: frozenset[str]
    """Conjunctions with the ending of the first person, whose clause has a participle without one."""
    past: Endings
    """That participle."""
    feeling: str
    """Another verb with an adjective, where nothing else tells."""
    auxiliaries: frozenset[str] = frozenset()
    """More words with such a participle: the future, further conjunctions."""
    future: str = ""
    """The copula that is asked last."""
    linking: frozenset[str] = frozenset()
    """More verbs with an adjective."""
    reach: int = 3
    """How far from its verb an adjective may stand; a word of the form `noun` ends the search."""
    noun: re.Pattern[str] = _NOTHING
    infinitives: frozenset[str] = frozenset()
    """Words with an adjective in the instrumental, the speaker's beside a word of the first person."""
    instrumental: Endings = NO_ENDINGS
    first_person: re.Pattern[str] = _NOTHING
    others: frozenset[str] = frozenset()
    taken: Endings = NO_ENDINGS
    """What the speaker is taken for, behind a word `taken_for` beside a verb `taking`: "uważam się za zdolną"."""
    taken_for: frozenset[str] = frozenset()
    taking: frozenset[str] = frozenset()

    def find(self, grammar: Grammar, clauses: Sequence[Clause]) -> Iterator[Cue]:
        found = [cue for clause in clauses for token in clause if (cue := grammar.read(grammar.participle, token))]
        for verb in (self.being, *self.linking):
            found += _beside(grammar, clauses, verb, self.reach, self.noun)
        found = found or list(self._oblique(grammar, clauses))
        found = found or _beside(grammar, clauses, self.infinitive, 3)
        found += self._with(grammar, clauses, self.conditionals)
        found = found or _beside(grammar, clauses, self.feeling, 4)
        found += self._with(grammar, clauses, self.auxiliaries)
        yield from found or _beside(grammar, clauses, self.future, 3)

    def _oblique(self, grammar: Grammar, clauses: Sequence[Clause]) -> Iterator[Cue]:
        words = {token.word for clause in clauses for token in clause}
        if any(word in self.others for word in words) or not any(self.first_person.search(word) for word in words):
            return
        for clause in clauses:
            is_taken = any(token.word in self.taking for token in clause)
            for place, token in enumerate(clause):
                endings = self.instrumental if token.word in self.infinitives else self.taken
                reach = 4 if endings is self.instrumental else 2 if is_taken and token.word in self.taken_for else 0
                for at in range(place + 1, min(place + 1 + reach, len(clause))):
                    is_last = at + 1 == len(clause) or clause[at + 1].word in grammar.prepositions
                    cue = grammar.read(endings, clause[at])
                    if is_last and cue:
                        yield cue
                    if clause[at].word in grammar.prepositions or (self.noun.search(clause[at].word) and not cue):
                        break

    def _with(self, grammar: Grammar, clauses: Sequence[Clause], words: frozenset[str]) -> list[Cue]:
        near = [clause for clause in clauses if any(token.word in words for token in clause)]
        return [cue for clause in near for token in clause if (cue := grammar.read(self.past, token))]


# -- behind the pronoun: Russian, Ukrainian, Belarusian ----------------------------------------------------------------


class BehindPronoun:
    """For each pronoun the participle or adjective behind it, else the participle before it."""

    def find(self, grammar: Grammar, clauses: Sequence[Clause]) -> Iterator[Cue]:
        for clause in clauses:
            for place, token in enumerate(clause):
                if token.word in grammar.markers:
                    behind = clause[place + 1 : place + 8]
                    cue = (
                        _first(grammar, grammar.participle, behind)
                        or _first(grammar, grammar.adjective, behind[:3])
                        or _first(grammar, grammar.participle, clause[:place][::-1])
                    )
                    if cue:
                        yield cue


def _first(grammar: Grammar, endings: Endings, tokens: Sequence[Token]) -> Cue | None:
    return next((cue for token in tokens if (cue := grammar.read(endings, token))), None)


def _beside(
    grammar: Grammar, clauses: Sequence[Clause], verb: str, reach: int, noun: re.Pattern[str] = _NOTHING
) -> list[Cue]:
    """The adjective that goes with each such verb."""
    found = []
    for clause in clauses:
        for place in (at for at, token in enumerate(clause) if token.word == verb):
            free = [not (at and clause[at - 1].word in grammar.prepositions) for at in range(len(clause))]
            near = range(place + 1, min(place + 1 + reach, len(clause)))
            noun_at = next((at for at in near if noun.search(clause[at].word)), len(clause))
            behind = [clause[at] for at in near if at < noun_at and free[at]]
            before = [clause[at] for at in range(place - 1, max(place - 3, -1), -1) if free[at]]
            cue = _first(grammar, grammar.adjective, behind) or _first(grammar, grammar.adjective, before)
            found += [cue] if cue else []
    return found


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    """`rád/ráda sám/sama`"""
    return tuple((pair.partition("/")[0], pair.partition("/")[2]) for pair in text.split())


# -- what the speaker is said to be: Russian, Ukrainian ----------------------------------------------------------------


@dataclass(frozen=True)
class Predicates(Predicative):
    """What the speaker is said to be, right behind the pronoun or a verb of being."""

    full: Endings = NO_ENDINGS
    """Words that may also go with a noun; with none behind them they are predicates."""
    being: frozenset[str] = frozenset()
    """Infinitives and others with the instrumental; whose it is is said by a controller in front of them."""
    controllers: frozenset[str] = frozenset()
    glad: Endings = NO_ENDINGS
    """What a clause without pronoun can begin with."""
    infinitive: re.Pattern[str] = _NOTHING
    """It goes with a predicate too: "ready to leave"."""
    adjacent: Endings = NO_ENDINGS
    """Verb forms that look like nouns; right behind the pronoun they are verbs."""
    oblique: re.Pattern[str] = _NOTHING
    """Endings of cases that no noun with a nominative adjective has."""
    of_nouns: re.Pattern[str] = _NOTHING
    """Endings of adjectives whose noun may look like a participle."""
    openers: frozenset[str] = frozenset()
    """What a clause that shares the speaker as its subject begins with: "I think that slept well"."""
    alone: Endings = NO_ENDINGS
    """Instrumentals that mean "alone" or "first" at the end of a clause, datives beside `to_me`."""
    to_me: frozenset[str] = frozenset()
    subjects: frozenset[str] = frozenset()
    """Where one of these is a subject, a verb without a pronoun is not the speaker's."""
    appearing: frozenset[str] = frozenset()
    """Verbs whose subject stands behind them: "a bus arrived"."""

    def _stands_alone(self, grammar: Grammar, endings: Endings, clause: Clause, place: int) -> bool:
        if place + 1 == len(clause):
            return True
        after = clause[place + 1].word
        if after in self.joining:  # "strong and quick", but not "a strong and quick leader"
            other = self._beyond(clause, place + 2)
            if other < len(clause) and grammar.read(endings, clause[other]):
                return self._stands_alone(grammar, endings, clause, other)
        if after in self.joining or after in self.before_none or after in grammar.prepositions:
            return True
        if self.infinitive.search(after):
            return True
        return endings is not self.instrumental and self.oblique.search(after) is not None

    def _predicate(self, grammar: Grammar, clause: Clause, start: int) -> Cue | None:
        place = self._beyond(clause, start)
        if place == len(clause):
            return None
        place = next(iter(self._beyond_phrase(grammar, clause, place, feels=True)), place)
        return grammar.read(self.adjacent, clause[place]) or self._nominative(grammar, clause, place)

    def _nominative(self, grammar: Grammar, clause: Clause, place: int) -> Cue | None:
        cue = grammar.read(self.short, clause[place])
        if cue is None and self._stands_alone(grammar, self.full, clause, place):
            cue = grammar.read(self.full, clause[place])
        return cue

    def _instrumental(self, grammar: Grammar, clause: Clause, is_ours: bool) -> Iterator[Cue]:
        for place, token in enumerate(clause):
            is_ours = (is_ours or token.word in self.controllers) and token.word not in self.others
            start = self._beyond(clause, place + 1)
            of_me = start < len(clause) and clause[start].word in self.me
            if token.word in self.feeling or ((is_ours or of_me) and token.word in self.being):
                start = self._beyond(clause, start + 1) if of_me else start
                cue = None
                for begin in self._beyond_phrase(grammar, clause, start, token.word in self.feeling):
                    if self._stands_alone(grammar, self.instrumental, clause, begin):
                        cue = cue or grammar.read(self.instrumental, clause[begin])
                    cue = cue or (self._nominative(grammar, clause, begin) if is_ours and not of_me else None)
                if cue:
                    yield cue

    def _beyond_phrase(self, grammar: Grammar, clause: Clause, start: int, feels: bool) -> list[int]:
        if feels and start < len(clause) and clause[start].word in grammar.prepositions:
            beyond = [self._beyond(clause, start + 2), self._beyond(clause, start + 3)]
            return [at for at in beyond if at + 1 == len(clause)]
        return [start] if start < len(clause) else []

    def find(self, grammar: Grammar, clauses: Sequence[Clause]) -> Iterator[Cue]:
        before = {b.span: a.word for clause in clauses for a, b in pairwise(clause)}
        found = [
            cue
            for cue in BehindPronoun().find(grammar, clauses)
            if not self.of_nouns.search(before.get(cue.token.span, "-"))
        ]
        seen = {cue.token.span for cue in found}
        is_ours = False
        for clause in clauses:
            for place, token in enumerate(clause):
                if token.word in grammar.markers:
                    cue = self._predicate(grammar, clause, place + 1)
                    if cue and cue.token.span not in seen:
                        found.append(cue)
            found += self._instrumental(grammar, clause, is_ours)
            is_ours = is_ours or any(token.word in self.controllers for token in clause)
        found = found or [cue for clause in clauses for cue in self._glad(grammar, clause)]
        found = found or self._of_shared_subject(grammar, clauses) or self._of_alone(grammar, clauses)
        yield from found or self._of_dropped_subject(grammar, clauses)

    def _of_shared_subject(self, grammar: Grammar, clauses: Sequence[Clause]) -> list[Cue]:
        for first_clause, clause in pairwise(clauses):
            if any(token.word in grammar.markers for token in first_clause):
                n_openers = next((at for at, token in enumerate(clause) if token.word not in self.openers), 0)
                place = self._beyond(clause, n_openers)
                kinds = (grammar.participle, self.short, *([self.full] if n_openers else []))
                for endings in kinds if place < len(clause) else ():
                    cue = grammar.read(endings, clause[place])
                    last = place if endings is self.full else self._beyond(clause, place + 1) - 1
                    if cue and self._stands_alone(grammar, endings, clause, last):
                        return [cue]
        return []

    def _of_alone(self, grammar: Grammar, clauses: Sequence[Clause]) -> list[Cue]:
        found = []
        for clause in clauses:
            is_dative = any(token.word in self.to_me for token in clause)
            for before, token in pairwise(clause):
                gender = self.alone.gender_of(token.word)
                behind = clause[clause.index(token) + 1 :]
                is_alone = not behind or (is_dative and self.infinitive.search(behind[0].word))
                if gender and is_alone and before.word not in grammar.prepositions:
                    found.append(Cue(gender, token))
        return found

    def _of_dropped_subject(self, grammar: Grammar, clauses: Sequence[Clause]) -> list[Cue]:
        """The first verb of a clause that only adverbs and phrases stand before: "went yesterday"."""
        if any(token.word in self.subjects for clause in clauses for token in clause):
            return []
        marked = (at for at, clause in enumerate(clauses) if any(token.word in grammar.markers for token in clause))
        start, end = next(((at + 1, len(clauses)) for at in marked), (0, 1))
        if end == 1 and clauses and self.first_person.search(clauses[0][0].word):  # "I regret that ..."
            end = 2
        for clause in clauses[start:end]:
            if any(token.word in self.me or token.word in self.to_me for token in clause):
                continue
            n_since_preposition = 4
            for token in clause:
                if cue := grammar.read(grammar.participle, token):
                    if token.word in self.appearing:
                        break
                    return [cue]
                n_since_preposition = 0 if token.word in grammar.prepositions else n_since_preposition + 1
                is_adverb = token.word in self.particles | self.openers or self.adverb.search(token.word)
                if n_since_preposition > 3 and not is_adverb:
                    break
        return []

    def _glad(self, grammar: Grammar, clause: Clause) -> list[Cue]:
        place = self._beyond(clause, 0)
        cue = grammar.read(self.glad, clause[place]) if place < len(clause) else None
        return [cue] if cue else []


# -- what the speaker is said to be, behind a verb: Romance languages, Greek, Hebrew, Arabic ---------------------------

_POINTS = re.compile("[\u0591-\u05c7\u064b-\u0652\u0670\u0640]")


def _unpointed(text: str) -> list[list[Token]]:
    return [
        [Token(_POINTS.sub("", token.word).replace("’", "'"), token.span) for token in clause]
        for clause in clauses_of(text)
    ]


@dataclass(frozen=True)
class AgreeingVerb:
    """A language whose verb agrees with the pronoun before it: Hindi."""

    pronoun: str
    ends: frozenset[str]
    """Words behind which the verb is somebody else's, or agrees with its object."""
    verb: Endings
    adjective: Endings
    copulas: frozenset[str]
    """Words behind an adjective that is a predicate."""

    def cues(self, text: str) -> list[Cue]:
        return [cue for clause in _unpointed(text) for cue in self._find(clause)]

    def _find(self, clause: Clause) -> Iterator[Cue]:
        place = next((at for at, token in enumerate(clause) if token.word == self.pronoun), None)
        if place is None:
            return
        for at, token in enumerate(clause[place + 1 :], start=place + 1):
            if token.word in self.ends:
                return
            gender = self.verb.gender_of(token.word)
            if gender is None and at + 1 < len(clause) and clause[at + 1].word in self.copulas:
                gender = self.adjective.gender_of(token.word)
            if gender:
                yield Cue(gender, token)


@dataclass(frozen=True)
class Being:
    """What shows the speaker's gender in one language."""

    verbs: tuple[Phrase, ...]
    """Forms of the first person, longer ones first."""
    adjective: Endings
    between: frozenset[str]
    """Adverbs that may stand between verb and predicate, and words that join two predicates."""
    adverb: re.Pattern[str] = _NOTHING
    joining: frozenset[str] = field(default_factory=frozenset)
    stop: frozenset[str] = field(default_factory=frozenset)
    """Words that look like an adjective; where no ending is known anyway, nothing need be said."""
    nouns: frozenset[str] = field(default_factory=frozenset)
    """What an adjective before them belongs to: "soy buena persona"."""
    shared: tuple[Phrase, ...] = ()
    """Forms of the first person that are also of the third: they count where no subject can stand before them."""
    openers: frozenset[str] = field(default_factory=frozenset)
    """What may stand before those and is no subject."""
    unchanging: frozenset[str] = frozenset()
    """Words that have one form for all behind the verb `before_unchanging`."""
    before_unchanging: tuple[str, ...] = ()
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
        if token.word in about.between or about.adverb.search(token.word):
            place += 1
            continue
        cue = about.read(token)
        if (
            cue
            and after not in about.nouns
            and not (verb == about.before_unchanging and token.word in about.unchanging)
        ):
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


def _phrases(text: str) -> tuple[Phrase, ...]:
    """`soy, me siento`: the longer ones first, so that "he sido" is not taken for "he"."""
    found = [tuple(one.split()) for one in text.split(",")]
    return tuple(sorted(found, key=len, reverse=True))


# -- the readers of a language -----------------------------------------------------------------------------------------

Reader = Grammar | Being | AgreeingVerb
_BELOW = {"speaker": "fitted", "addressee": "speaker", "speakers": "speaker"}
"""Which reader another one differs from, where a language has it."""


@cache
def reader_of(code: str, part: str) -> Reader | None:
    """The reader `speaker`, `speakers` ("we"), `addressee` or `fitted` of a language; None if it has none."""
    tables = toml_of(code, "speaker.toml")
    given = tables.get(part, {})
    like = reader_of(tables["like"], part) if "like" in tables else None
    if not given and not like:
        return None
    if like is None and _BELOW.get(part) in tables:
        like = reader_of(code, _BELOW[part])
    kind = type(like) if like else Being if "verbs" in given else AgreeingVerb if "verb" in given else Grammar
    found: Reader = record(kind, _prepared(given, like), like)
    return found


def _prepared(given: Mapping[str, Any], like: Reader | None) -> dict[str, Any]:
    """The fields of a reader that are more than words and patterns."""
    prepared = dict(given)
    for name, kind in _WAYS.items():
        if name in given:
            below = like.way if isinstance(like, Grammar) and isinstance(like.way, kind) else None
            prepared["way"] = record(kind, given[name], below)
    if "way" in given:
        prepared["way"] = {"around-auxiliary": AroundAuxiliary, "behind-pronoun": BehindPronoun}[given["way"]]()
    if "pairs" in given:
        prepared["pairs"] = _pairs(given["pairs"])
    if "verbs" in given:
        modals, infinitives = given.get("modals", "").split(","), given.get("infinitives", "").split()
        verbs = [given["verbs"], *(f"{modal} {infinitive}" for modal, infinitive in product(modals, infinitives))]
        prepared["verbs"] = _phrases(",".join(verbs))
    if "shared" in given:
        prepared["shared"] = _phrases(given["shared"])
    if "alone" in given and isinstance(given["alone"], dict):
        genders = [(given["alone"][gender.value], gender) for gender in (Gender.MASCULINE, Gender.FEMININE)]
        prepared["alone"] = tuple((phrase, gender) for text, gender in genders for phrase in _phrases(text))
    return prepared


_WAYS: dict[str, type[Copula | Predicates | InVerb]] = {"copula": Copula, "predicates": Predicates, "in_verb": InVerb}
