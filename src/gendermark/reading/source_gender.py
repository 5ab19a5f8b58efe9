"""Gender of each person mentioned in an English sentence, read from the sentence alone.

Rules over words and their places find everybody who is named (unlike `people.py`, which looks at a person who is
known): by a noun for people, a noun or title that tells a gender, a name, or a pronoun.

What tells: a word before the noun ("the female doctor"), what somebody is said to be ("my aunt is a doctor", "the
doctor is a man"), and pronouns. A pronoun that can mean two people tells of neither, unless grammar leaves only one:
"himself" is the subject, "the cook invited the guard and paid for her" is about the guard, since nobody pays "for her"
and means herself. What only sense could decide ("because she was late") is not decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from gendermark.reading.focus import (
    AUXILIARIES,
    BE,
    CONJUNCTIONS,
    DETERMINERS,
    INDEFINITE,
    POSSESSIVE,
    PREPOSITIONS,
    SUBJECT_PRONOUNS,
    Sentence,
    person_nouns,
)
from gendermark.reading.occupations import OccupationFinder, core_occupations
from gendermark.records import Gender

_M, _F = Gender.MASCULINE, Gender.FEMININE


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


PRONOUNS: Mapping[str, Gender] = {
    **dict.fromkeys(("he", "him", "his", "himself"), _M),
    **dict.fromkeys(("she", "her", "hers", "herself"), _F),
}
_ROLES = {
    **dict.fromkeys(("he", "she"), "subject"),
    "him": "object",
    **dict.fromkeys(("his", "hers"), "possessive"),
    **dict.fromkeys(("himself", "herself"), "reflexive"),
}
_SINGULAR = dict.fromkeys(
    _set(
        "man guy boy gentleman fellow lad chap bloke father dad brother son husband uncle grandfather grandpa nephew "
        "boyfriend king prince widower stepfather fiancé duke monk"
    ),
    _M,
) | dict.fromkeys(
    _set(
        "woman girl lady gal mother mom mum sister daughter wife aunt grandmother grandma niece girlfriend queen "
        "princess widow stepmother fiancée duchess nun actress waitress hostess heiress businesswoman policewoman"
    ),
    _F,
)
_IRREGULAR = {
    "man": "men",
    "woman": "women",
    "gentleman": "gentlemen",
    "lady": "ladies",
    "wife": "wives",
    "businesswoman": "businesswomen",
    "policewoman": "policewomen",
}
_ADJECTIVES = {"male": _M, "female": _F}
_SEX_NOUNS = {"males": _M, "females": _F}
_BEFORE_NOUN = _ADJECTIVES | {"man": _M, "men": _M, "woman": _F, "women": _F, "lady": _F, "ladies": _F}
"""Words that tell a gender right before a noun for people: "a woman doctor"."""
_TITLES = {"mr": _M, "mister": _M, "sir": _M, "mrs": _F, "ms": _F, "miss": _F, "madam": _F, "madame": _F}
_ALL_DETERMINERS = DETERMINERS | _set("these those all both two three four five many several most few")
ADVERBS = _set(
    "not never always also just often once even still then ever soon again almost already now only too very really "
    "simply immediately quickly finally later"
)
_SUBORDINATORS = _set(
    "because although though while when whenever if unless after before since until once that who which whose whom "
    "whether so why how"
)
_COORDINATORS = _set("and but or")
_QUESTION_WORDS = _set("where when why how what who whom which")
_STOPS = (PREPOSITIONS | CONJUNCTIONS | BE | AUXILIARIES) - {"that"}
"""No noun phrase reaches back across these."""
_OPENERS = _SUBORDINATORS | _COORDINATORS
_AFTER_OBJECT = (
    PREPOSITIONS | CONJUNCTIONS | BE | AUXILIARIES | _ALL_DETERMINERS | SUBJECT_PRONOUNS | ADVERBS | _SUBORDINATORS
) | _set("to yesterday back well up down out away home")
"""Words behind "her" that show that it is no possessive."""
NAMED_AS = _set("named elected appointed called made chosen as become becomes became be being been")
_NOT_NAMES = (
    _ALL_DETERMINERS
    | (SUBJECT_PRONOUNS | PREPOSITIONS | CONJUNCTIONS | BE | AUXILIARIES | ADVERBS | _OPENERS | _QUESTION_WORDS)
    | (_BEFORE_NOUN.keys() | _TITLES.keys())
    | _set("i i'm i've i'd i'll it's today yesterday tomorrow yes no please there here not")
)
"""Words that may have a capital."""
_CLITIC = ("'s", "'d", "'ll", "'ve", "'re")
_MARKS = (",", ";", ":", ".", "!", "?")


@dataclass(frozen=True, slots=True)
class Mention:
    """Somebody, at words[start:end]."""

    start: int
    end: int
    phrase: int
    """Where the noun phrase begins, with determiner, owner and adjectives."""
    kind: str
    """`person` (a noun that tells no gender), `gendered`, `name`, `pronoun`."""
    noun: str = ""
    """Of a person: the noun in the singular, as the lexicons have it."""
    number: str = "singular"
    gender: Gender | None = None
    """What its own words tell."""
    role: str = ""
    """Of a pronoun: subject, object, possessive, reflexive."""
    is_possessive: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """Words with one subject, as far as rules can tell."""

    start: int
    opener: str
    subject: Mention | None
    is_sure: bool
    """Whether it is known who the subject is, or that it is nobody named here."""


class Source:
    """An English sentence with its mentions, from left to right, and its clauses."""

    def __init__(self, text: str) -> None:
        self.sentence = Sentence.of(text)
        # "she's a doctor": the pronoun is the word, and a verb follows it.
        self.words = [_without_clitic(word) for word in self.sentence.words]
        self.mentions = self._find_mentions()
        self.clauses = self._find_clauses()

    def word(self, place: int) -> str:
        return self.words[place] if 0 <= place < len(self.words) else ""

    def ends_clause(self, place: int) -> bool:
        """Whether a mark stands behind a word; the full stop of "Mr." is none."""
        is_title = self.words[place] in _TITLES and self.sentence.tokens[place].endswith(".")
        return not is_title and self.sentence.tokens[place].rstrip("\"'”’)").endswith(_MARKS)

    def has_clitic_verb(self, place: int) -> bool:
        """Whether "is" or "has" is written together with the pronoun at this place."""
        return self.words[place] != self.sentence.words[place]

    def clause_of(self, place: int) -> Clause:
        """The last that begins there or before; what stands before the first one ("Who's that boy?") belongs to it."""
        return [clause for clause in self.clauses if clause.start <= place or clause is self.clauses[0]][-1]

    # -- mentions

    def _find_mentions(self) -> list[Mention]:
        found: list[Mention] = []
        place = 0
        while place < len(self.words):
            mention = self._mention_at(place)
            if mention is None:
                place += 1
            else:
                found.append(mention)
                place = mention.end
        return found

    def _mention_at(self, place: int) -> Mention | None:
        word = self.words[place]
        if word in PRONOUNS:
            return Mention(place, place + 1, place, "pronoun", gender=PRONOUNS[word], role=self._role(place))
        if word in _TITLES and self.word(place + 1) and self._is_capital(place + 1):
            end = place + 2
            while end < len(self.words) and self._is_capital(end) and not self.ends_clause(end - 1):
                end += 1
            return Mention(place, end, place, "gendered", gender=_TITLES[word])
        if (found := self._noun_at(place)) is not None:
            return found
        bare = POSSESSIVE.sub("", word)
        if bare in _gendered_nouns() and not self._person_at(place + 1):
            gender, number = _gendered_nouns()[bare]
            return self._placed(Mention(place, place + 1, place, "gendered", "", number, gender))
        return self._name_at(place)

    def _noun_at(self, place: int) -> Mention | None:
        """A noun for people that tells no gender itself; a word before it may."""
        if not (found := self._person_at(place)):
            return None
        noun, number, n_words = found
        last = place + n_words - 1
        is_whole = self.ends_clause(last) or POSSESSIVE.search(self.words[last])
        if not is_whole and self.word(last + 1) in _gendered_nouns():
            return None  # "a patient woman"
        gender = _BEFORE_NOUN.get(self.word(place - 1)) if place and not self.ends_clause(place - 1) else None
        mention = self._placed(Mention(place, last + 1, place, "person", noun, number, gender))
        # Without a determiner it is an adjective ("was patient with") or belongs to the next noun ("nurse uniforms").
        is_bare = mention.phrase == place and gender is None
        if is_bare and number == "singular" and noun not in INDEFINITE and self.word(place - 1) not in NAMED_AS:
            return None
        return mention

    def _person_at(self, place: int) -> tuple[str, str, int] | None:
        """The noun, its number, and how many words it has."""
        for number, nouns in (("singular", person_nouns()), ("plural", _plurals())):
            for noun in nouns.get(POSSESSIVE.sub("", self.word(place)), ()):
                words = self.words[place : place + len(noun)]
                if len(words) == len(noun) and (*words[:-1], POSSESSIVE.sub("", words[-1])) == noun:
                    singular = " ".join(noun) if number == "singular" else _singular()[noun]
                    if singular not in _SINGULAR:
                        return _spelled(singular), number, len(noun)
        return None

    def _placed(self, mention: Mention) -> Mention:
        """With its phrase, and whether it is an owner."""
        last = self.words[mention.end - 1]
        is_possessive = bool(POSSESSIVE.search(last)) or self.word(mention.end) in ("'s", "'")
        return replace(mention, phrase=self._phrase(mention.start), is_possessive=is_possessive)

    def _phrase(self, start: int) -> int:
        """Where the phrase of a noun begins: its determiner, at most five words before; else the noun itself."""
        for place in range(start - 1, max(start - 6, -1), -1):
            word = self.words[place]
            if self.ends_clause(place) or word in _STOPS:
                break
            if word.endswith("'s"):  # "the baker's new assistant"
                return self._phrase(place)
            if word in _ALL_DETERMINERS or (word == "that" and place == start - 1):
                while place and self.words[place - 1] in _ALL_DETERMINERS:  # "all the nurses"
                    place -= 1
                return place
        return start

    def _role(self, place: int) -> str:
        word = self.words[place]
        if word != "her":
            return _ROLES[word]
        after = self.word(place + 1)
        is_object = not after or self.ends_clause(place) or after.endswith("ly") or after in _AFTER_OBJECT
        return "object" if is_object else "possessive"

    def _is_capital(self, place: int) -> bool:
        return self.sentence.tokens[place].lstrip("\"'“‘(")[:1].isupper()

    def _name_at(self, place: int) -> Mention | None:
        word = self.words[place]
        if not self._is_capital(place) or word in _NOT_NAMES or self.word(place - 1) in ("in", "at"):
            return None
        # The first word of a sentence has a capital whatever it is: "Yesterday the nurse ...", "Today, ..."
        if place == 0 and (self.ends_clause(place) or self.word(1) in _ALL_DETERMINERS or self._person_at(1)):
            return None
        end = place + 1
        while end < len(self.words) and self._is_capital(end) and not self.ends_clause(end - 1):
            end += 1
        return self._placed(Mention(place, end, place, "name"))

    # -- clauses

    def _find_clauses(self) -> list[Clause]:
        found: list[Clause] = []
        for place, word in enumerate(self.words):
            opens = word in _OPENERS and not (place and self._is_in_phrase(place))
            if place == 0 or opens or self.ends_clause(place - 1):
                if found and found[-1].start == place - 1 and found[-1].opener:
                    found.pop()  # "and when she": one clause
                found.append(self._clause(place, found))
        return found

    def _is_in_phrase(self, place: int) -> bool:
        """Whether "that" begins a noun phrase, and "and" joins two: "that nurse", "the cook and the guard"."""
        word = self.words[place]
        if word == "that":
            return self._opens_phrase(place) and self.words[place - 1] in PREPOSITIONS
        return word in ("and", "or") and self._opens_phrase(place + 1) and not self._verb_follows(place + 1)

    def _opens_phrase(self, place: int) -> bool:
        return any(mention.phrase == place and mention.kind != "pronoun" for mention in self.mentions)

    def _verb_follows(self, place: int) -> bool:
        """Whether more than a mark or preposition follows the phrase that begins here: it is a subject, then."""
        mention = self._head_at(place)
        after = self.word(mention.end) if mention else ""
        return bool(after) and mention is not None and not self.ends_clause(mention.end - 1)

    def _head_at(self, place: int) -> Mention | None:
        """Whose phrase begins here: of "the president's wife" the wife."""
        heads = [mention for mention in self.mentions if mention.phrase == place and not mention.is_possessive]
        return heads[-1] if heads and heads[-1].start - place < _LONGEST_HEAD else None

    def _clause(self, start: int, before: Sequence[Clause]) -> Clause:
        place, opener = start, ""
        while self.word(place) in _OPENERS | ADVERBS and not (
            self.words[place] == "that" and place == start and (place == 0 or self._opens_phrase(place))
        ):
            opener = opener or (self.words[place] if self.words[place] not in ADVERBS else "")
            place += 1
        if opener in ("who", "which") and start and self.word(start) == opener:
            ending = [mention for mention in self.mentions if mention.end == start]
            return Clause(start, opener, ending[0] if ending else None, bool(ending))
        if start == 0:
            while self.word(place) in _QUESTION_WORDS | BE | AUXILIARIES:
                place += 1
        subject = self._head_at(place)
        if subject is not None and (subject.kind != "pronoun" or subject.role == "subject"):
            return Clause(start, opener, subject, True)
        if self.word(place) in _ALL_DETERMINERS | SUBJECT_PRONOUNS | {"i", "nobody"} | PRONOUNS.keys():
            return Clause(start, opener, None, True)  # a thing, or the speaker
        if opener in _COORDINATORS and before:
            subjects = {id(clause.subject): clause.subject for clause in before if clause.subject}
            is_sure = len(subjects) == 1 and all(clause.is_sure for clause in before)
            return Clause(start, opener, next(iter(subjects.values())) if is_sure else None, is_sure)
        if before and before[0].opener in _SUBORDINATORS and len(before) == 1:
            return Clause(start, opener, None, True)  # "If ..., tell him": an order
        return Clause(start, opener, None, False)


_LONGEST_HEAD = 8
"""Words from the beginning of a phrase to its noun."""


def _without_clitic(word: str) -> str:
    base = next((word.removesuffix(clitic) for clitic in _CLITIC if word.endswith(clitic)), word)
    return base if base in ("he", "she", "who", "i", "it", "they") else word


@cache
def _gendered_nouns() -> Mapping[str, tuple[Gender, str]]:
    plurals = {_IRREGULAR.get(noun, _plural(noun)): gender for noun, gender in _SINGULAR.items()}
    return (
        {noun: (gender, "singular") for noun, gender in _SINGULAR.items()}
        | {noun: (gender, "plural") for noun, gender in (plurals | _SEX_NOUNS).items()}
        | {noun: (gender, "singular") for noun, gender in _ADJECTIVES.items()}
    )


def _plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "sh", "ch", "x")) else f"{noun}s"


@cache
def _singular() -> Mapping[tuple[str, ...], str]:
    """The words of a plural -> the noun in the singular."""
    found = {
        tuple(_plural(" ".join(noun)).split()): " ".join(noun)
        for nouns in person_nouns().values()
        for noun in nouns
        if noun[-1] not in INDEFINITE | {"child", "person"}
    }
    found |= {("children",): "child", ("people",): "person"}
    return found | {tuple(plural.lower().split()): name.lower() for name, plural, _ in core_occupations()}


@cache
def _plurals() -> Mapping[str, Sequence[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    for noun in sorted(_singular(), key=len, reverse=True):
        found.setdefault(noun[0], []).append(noun)
    return found


def _spelled(noun: str) -> str:
    """As the lexicons write it."""
    return "CEO" if noun == "ceo" else noun


# -- who has which gender ----------------------------------------------------------------------------------------------

VERSION = 1
"""Changes whenever a sentence may be read otherwise, or a hint be given or taken out otherwise (`hints.py`).

It is part of the names that answers are stored under."""
_NOBODY = INDEFINITE - {"someone", "somebody"}
_COPULAS = BE | {"become", "becomes", "became", "remain", "remains", "remained"}
_BESIDE = frozenset({"with", "near", "beside", "behind", "around"})
"""Behind these a pronoun may mean the subject: "took the umbrella with her"."""
_COMPARING = frozenset({"as", "same", "such", "so"})


@dataclass(frozen=True, slots=True)
class PersonTold:
    """Somebody named by a noun that tells no gender, and what the sentence tells."""

    noun: str
    """In the singular, as the lexicons have it."""
    number: str
    start: int
    """The noun is at words[start:end], cut at single spaces."""
    end: int
    gender: Gender | None
    """None: the sentence does not tell, or could mean somebody else."""
    is_possessive: bool
    has_sex_word: bool
    """Whether a word right before the noun tells it ("female")."""


def read_source(text: str) -> list[PersonTold]:
    """Everybody whom a sentence names by such a noun, from left to right."""
    if not text.strip():
        return []
    return _Reading(Source(text)).told()


class _Reading:
    """Which mentions are the same person: each has the number of its person."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._mentions = source.mentions
        self._person = {mention: number for number, mention in enumerate(self._mentions)}
        self._unclear: set[Mention] = set()
        """Pronouns that can mean several, or nobody that we can name."""

    def told(self) -> list[PersonTold]:
        self._join_same_nouns()
        self._join_predicates()
        self._join_appositions()
        for mention in self._mentions:
            if mention.kind == "pronoun":
                self._resolve(mention)
        self._join_roles()
        return [
            PersonTold(
                mention.noun,
                mention.number,
                mention.start,
                mention.end,
                self._gender(mention),
                mention.is_possessive,
                mention.gender is not None,
            )
            for mention in self._mentions
            if mention.kind == "person" and mention.noun not in INDEFINITE
        ]

    # -- persons

    def _gender(self, mention: Mention) -> Gender | None:
        told = {one.gender for one in self._same(mention) if one.gender and one not in self._unclear}
        return told.pop() if len(told) == 1 else None

    def _same(self, mention: Mention) -> list[Mention]:
        return [one for one in self._mentions if self._person[one] == self._person[mention]]

    def _join(self, one: Mention, other: Mention) -> None:
        genders = {self._gender(one), self._gender(other)} - {None}
        if one.number != other.number or len(genders) > 1:
            return
        joined = self._person[other]
        for mention in self._same(one):
            self._person[mention] = joined

    def _join_same_nouns(self) -> None:
        for place, mention in enumerate(self._mentions):
            for other in self._mentions[:place]:
                if mention.kind == "person" and (mention.noun, mention.number) == (other.noun, other.number):
                    self._join(other, mention)

    # -- what somebody is said to be

    def _join_predicates(self) -> None:
        source = self._source
        for place, word in enumerate(source.words):
            is_verb = word in _COPULAS or source.has_clitic_verb(place)
            if not is_verb or source.ends_clause(place):
                continue
            pair = self._inverted(place) or (self._subject_before(place), self._predicate_at(place + 1))
            if pair[0] is not None and pair[1] is not None:
                self._join(pair[1], pair[0])

    def _inverted(self, place: int) -> tuple[Mention, Mention] | None:
        """Subject and predicate of a question: "Is she really a nurse?" """
        clause = self._source.clause_of(place)
        if clause.subject is None or clause.subject.phrase != place + 1 or clause.start != 0:
            return None
        predicate = self._predicate_at(clause.subject.end)
        return (clause.subject, predicate) if predicate else None

    def _subject_before(self, verb: int) -> Mention | None:
        source = self._source
        if source.has_clitic_verb(verb) and source.words[verb] not in _COPULAS:
            ending = [mention for mention in self._mentions if mention.end == verb + 1]
            if ending:
                return ending[0]
        place = verb
        while place and source.words[place - 1] in BE | AUXILIARIES | ADVERBS and not source.ends_clause(place - 1):
            place -= 1
        adjacent = [mention for mention in self._mentions if mention.end == place and not mention.is_possessive]
        if adjacent and not source.ends_clause(place - 1):
            # "The car of the nurse is": the phrase may belong to another noun.
            before = source.word(adjacent[0].phrase - 1)
            if before not in PREPOSITIONS and not (adjacent[0].kind == "pronoun" and adjacent[0].role != "subject"):
                return adjacent[0]
        clause = source.clause_of(verb)
        subject = clause.subject
        if subject is None or subject.end > verb:
            return None
        between = [m for m in self._mentions if subject.end <= m.start < verb and not _is_owner(m)]
        return None if between else subject

    def _predicate_at(self, place: int) -> Mention | None:
        """The noun phrase that follows a verb, with nothing but adverbs in between."""
        source = self._source
        while source.word(place) in ADVERBS | NAMED_AS or source.word(place).endswith("ly"):
            place += 1
        for mention in self._mentions:
            if mention.start < place or mention.is_possessive or mention.kind not in ("person", "gendered"):
                continue
            if mention.phrase == place:
                return mention
            between = source.words[place : mention.start]
            is_plain = mention.phrase == mention.start and mention.number == "plural" and len(between) <= 3
            is_broken = any(source.ends_clause(at) for at in range(place, mention.start))
            if is_plain and not is_broken and not any(_is_no_adjective(word) for word in between):
                return mention
            return None
        return None

    def _join_appositions(self) -> None:
        """ "My aunt, a judge, ..."; "The judge, a woman, ..." """
        source = self._source
        for first, second in zip(self._mentions, self._mentions[1:], strict=False):
            follows = first.end == second.phrase and source.ends_clause(first.end - 1)
            if follows and source.word(second.phrase) in ("a", "an") and {first.kind, second.kind} != {"person"}:
                self._join(second, first)

    def _join_roles(self) -> None:
        """ "She works as a nurse"; "As a nurse, she ..." """
        source = self._source
        for mention in self._mentions:
            at = mention.phrase - 1
            if mention.kind != "person" or source.word(at) != "as" or source.word(at - 1) in _COMPARING:
                continue
            if source.word(mention.phrase) not in ("a", "an") and mention.number == "singular":
                continue
            start = source.clause_of(at).start
            before = [one for one in self._mentions if start <= one.start < at and one not in self._unclear]
            if not before:
                after = source.clause_of(mention.end).subject if mention.end < len(source.words) else None
                before = [after] if after is not None and after.start >= mention.end else []
            if len({self._person[one] for one in before}) == 1:
                self._join(mention, before[0])

    # -- pronouns

    def _resolve(self, pronoun: Mention) -> None:
        clause = self._source.clause_of(pronoun.start)
        if pronoun.role == "reflexive":
            self._resolve_reflexive(pronoun, clause)
            return
        candidates = self._candidates(pronoun)
        if pronoun.role == "object" and self._source.word(pronoun.start - 1) not in _BESIDE:
            if not clause.is_sure or self._has_own_subject(pronoun, clause):
                self._unclear.add(pronoun)
                return
            if clause.subject is not None:
                candidates -= {self._person[clause.subject]}
        if len(candidates) == 1:
            (person,) = candidates
            self._join(pronoun, next(one for one in self._mentions if self._person[one] == person))
        elif candidates:
            self._unclear.add(pronoun)

    def _resolve_reflexive(self, pronoun: Mention, clause: Clause) -> None:
        subject = clause.subject
        between = [m for m in self._mentions if subject and subject.end <= m.start < pronoun.start and not _is_owner(m)]
        if subject is None or between:
            self._unclear.add(pronoun)
        else:
            self._join(pronoun, subject)

    def _candidates(self, pronoun: Mention) -> set[int]:
        """The people, by number, that stand before a pronoun and may be meant."""
        return {
            self._person[one]
            for one in self._mentions
            if one.start < pronoun.start
            and one not in self._unclear
            and one.number == "singular"
            and one.noun not in _NOBODY
            and self._gender(one) in (None, pronoun.gender)
        }

    def _has_own_subject(self, pronoun: Mention, clause: Clause) -> bool:
        """Whether somebody else does what is done to the pronoun: "asked the driver to help him"."""
        places: Sequence[int] = [
            mention.end
            for mention in self._mentions
            if mention != clause.subject and clause.start <= mention.start < pronoun.start
        ]
        return bool(places) and "to" in self._source.words[places[-1] : pronoun.start - 1]


def _is_owner(mention: Mention) -> bool:
    return mention.is_possessive or mention.role == "possessive"


def _is_no_adjective(word: str) -> bool:
    return word.endswith("ing") or word in PREPOSITIONS or word in BE | AUXILIARIES | {"to", "that", "who", "than"}


# -- does a translation keep it? ---------------------------------------------------------------------------------------


def readable(people: Iterable[PersonTold], finder: OccupationFinder) -> list[PersonTold]:
    """Those whose gender is told, and whom the lexicon of the target language has."""
    return [person for person in people if person.gender is not None and finder.knows(person.noun)]


def keeps_gender(text: str, people: Sequence[PersonTold], finder: OccupationFinder) -> bool:
    """Whether all of them have their gender in a translation; somebody who is not found has none."""
    return all(finder.find(text, person.noun).gender is person.gender for person in people)
