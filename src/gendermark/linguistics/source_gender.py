"""Which gender an English sentence gives to the people that it names, read from the sentence alone.

What tells: a word before the noun ("the female doctor"), what somebody is said to be ("my aunt is a doctor", "the
doctor is a man"), and pronouns. A pronoun that can mean two people tells of neither, unless grammar leaves only one:
"himself" is the subject, "the cook invited the guard and paid for her" is about the guard, since nobody pays "for her"
and means herself. What only sense could decide ("because she was late") is not decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gendermark.linguistics.mentions import ADVERBS, NAMED_AS, Clause, Mention, Source
from gendermark.linguistics.people import AUXILIARIES, BE, INDEFINITE, PREPOSITIONS
from gendermark.records import Gender

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
