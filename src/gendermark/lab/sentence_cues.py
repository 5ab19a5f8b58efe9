"""Gender cues in an English sentence, rightly used by a system or not, for the linear model.

For sentences like WinoMT's: two people, and a pronoun that refers to one of them, the focus. Found by rules over words
and the position of the focus, without a parser.

The columns follow Table 7 of Staliūnaitė, Cheng and Vlachos (2026, Appendix A), whose header is flattened in our copy:
eighteen labels for twenty columns. We read one column without a label as Names, because the paper mentions "the Names
column", and says that coefficients are higher under F than under M: so read, that holds in all twelve rows for Recency,
Subject, and Implicit causality, and in 23 of 24 cases for Pronoun. F and M are the gender of the pronoun, but of the
occupation for Stereotype. S and O say whether the focus is the subject of the main clause; for Implicit causality,
whether the verb points to the subject or the object.

Subject differs from Pronoun S because subjects of two clauses are assumed to corefer: the pronoun must be a subject
too. Recency holds if the focus is the last person named before the pronoun, as in the paper's example, where "someone"
intervenes and the cue is absent. "They" gives no gender to these four: an ambiguous sentence has Stereotype, Default M
and Ambiguity only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from gendermark.benchmarks.uncertainty.items import names
from gendermark.data.bundled import core_rows
from gendermark.lab.studies import lists
from gendermark.languages.folders import rows_of
from gendermark.reading.focus import EDGES, INDEFINITE, POSSESSIVE, is_at, person_nouns, words_of
from gendermark.reading.occupations import core_occupations
from gendermark.records import Gender, Item

FACTORS: Mapping[str, Sequence[str]] = lists("cues")
"""The columns of each cue, in the order of the paper's table."""
COLUMNS = tuple(column for columns in FACTORS.values() for column in columns)
_M, _F, _N = Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL
_WORDS = {name: frozenset(words.split()) for name, words in lists("words").items()}
_PRONOUNS: Mapping[str, Gender] = {word: gender for gender in Gender for word in _WORDS[gender]}
SUBJECT_PRONOUNS, BE, HAVE = _WORDS["subject_pronouns"], _WORDS["be"], _WORDS["have"]
AUXILIARIES = HAVE | _WORDS["other_auxiliaries"]
DETERMINERS, PREPOSITIONS, CONJUNCTIONS = _WORDS["determiners"], _WORDS["prepositions"], _WORDS["conjunctions"]


class CausalVerb(NamedTuple):
    """A verb with implicit causality."""

    verb: str
    """With its preposition or other fixed words: "make fun of"."""
    bias: str
    """`NP1`: it points to its subject; `NP2`: to its object."""

    @property
    def rest(self) -> tuple[str, ...]:
        return tuple(self.verb.split()[1:])


def annotate(items: Iterable[Item], language: str) -> list[Mapping[str, str]]:
    """The cues (of `read_cues`) in items of WinoMT: those whose tags have `entity` and `position`.

    `language` is the target language, which determines names and masculine-by-default nouns.
    """
    found = []
    for item in items:
        stereotype = item.tags.get("occupation_stereotype") or ""
        half = item.tags.get("stereotype")
        if not stereotype and item.expected in (_M, _F) and half in ("pro", "anti"):
            stereotype = item.expected if half == "pro" else item.expected.opposite
        known = Gender(stereotype) if stereotype else None
        place = int(item.tags["position"])
        found.append(read_cues(item.source, place, item.entity, language, gender=item.expected, stereotype=known))
    return found


def read_cues(
    text: str,
    focus_index: int,
    entity: str = "",
    language: str = "",
    *,
    gender: Gender | None = None,
    stereotype: Gender | None = None,
) -> Mapping[str, str]:
    """The cues in one sentence, all as text; empty where there is none.

    `focus_index` is the position of the focus noun's first word between single spaces. `gender`, if known, selects the
    pronoun among several; `stereotype` overrides `occupations.tsv` and `stereotypes.tsv`.
    """
    sentence = Sentence(tuple(text.split(" ")), words_of(text))
    focus = focus_of(sentence, focus_index, entity)
    people = people_in(sentence, focus)
    # The first pronoun after the focus, or else the first at all; of the known gender, if any.
    places = [place for place, word in enumerate(sentence.words) if word in _PRONOUNS]
    fitting = [place for place in places if gender is None or _PRONOUNS[sentence.words[place]] is gender]
    behind = [place for place in fitting if place >= focus.end]
    pronoun = next(iter(behind or fitting or places), None)
    word = sentence.words[pronoun] if pronoun is not None else ""
    found = _PRONOUNS.get(word, _N)
    subject = subject_of(sentence, people)
    other = _other(people, focus, pronoun)
    before = [person for person in people if pronoun is not None and person.end <= pronoun]
    verb, points_to = _causality(sentence, people, subject, pronoun)
    return {
        "pronoun": word,
        "pronoun_role": "subject" if word in SUBJECT_PRONOUNS else "other" if word else "",  # object or possessive
        "gender": found.value,  # of the pronoun
        "ambiguity": "ambiguous" if found is _N else "unambiguous",
        "role": "subject" if focus == subject else "object",  # of the main clause; object: any other place
        "stereotype": stereotype.value if stereotype else _stereotypes().get(focus.noun, ""),
        "other": other.noun if other else "",
        "other_stereotype": _stereotypes().get(other.noun, "") if other else "",
        "recent": "" if not before else "focus" if before[-1].noun == focus.noun else "other",
        "causal_verb": verb,
        "causality": points_to,  # subject or object
        "name": _name_behind(sentence, focus, language),
        "default_masculine": "yes" if focus.noun in _default_masculine(language) else "",
    }


def design_columns(cues: Mapping[str, str]) -> dict[str, float]:
    """The twenty columns (`COLUMNS`) of the linear model for one sentence, each 0 or 1."""
    role, letter = cues["role"], {"feminine": "f", "masculine": "m"}
    gender, stereotype = letter.get(cues["gender"]), letter.get(cues["stereotype"])
    present = {"names": bool(cues["name"]), "ambiguity": cues["ambiguity"] == "ambiguous"}
    if gender:
        present[f"pronoun_{role}_{gender}"] = True
        present[f"recency_{gender}"] = cues["recent"] == "focus"
        present[f"subject_{gender}"] = role == "subject" and cues["pronoun_role"] == "subject"
        if cues["causality"]:
            present[f"causality_{cues['causality']}_{gender}"] = True
    if stereotype:
        present[f"stereotype_{role}_{stereotype}"] = True
    if cues["default_masculine"]:
        present[f"default_masculine_{role}"] = True
    return {column: float(present.get(column, False)) for column in COLUMNS}


# -- what is known of people -------------------------------------------------------------------------------------------


@cache
def _stereotypes() -> Mapping[str, str]:
    """The stereotype of each occupation with known statistics: the core sets' forty, and Winogender's."""
    others = {row["occupation"]: row["stereotype"] for row in core_rows("uncertainty/stereotypes.tsv")}
    return others | {name.lower(): (_F if percent > 50 else _M).value for name, _, percent in core_occupations()}


@cache
def _default_masculine(language: str) -> frozenset[str]:
    """Nouns that are often masculine for women too, as listed in the language's folder."""
    rows = rows_of(language, "default_masculine.tsv")
    return frozenset(row["entity"].lower() for row in rows if row["class"] == "default")


def _other(people: Sequence[Person], focus: Person, pronoun: int | None) -> Person | None:
    others = [person for person in people if person != focus and person.noun != focus.noun]
    before = [person for person in others if pronoun is None or person.end <= pronoun]
    return min(before or others, key=lambda person: person.is_possessive, default=None)


def _name_behind(sentence: Sentence, focus: Person, language: str) -> str:
    if focus.end >= len(sentence.tokens) or focus.is_possessive:
        return ""
    shown = POSSESSIVE.sub("", sentence.tokens[focus.end].strip(EDGES))
    return shown if any(shown in known for (code, _), known in names().items() if code == language) else ""


# -- implicit causality ------------------------------------------------------------------------------------------------


def _causality(
    sentence: Sentence, people: Sequence[Person], subject: Person | None, pronoun: int | None
) -> tuple[str, str]:
    """The implicit-causality verb between two people, and what it points to, if a causal clause contains the
    pronoun."""
    if subject is None or pronoun is None:
        return "", ""
    found = _verb_behind(sentence, subject)
    if found is None:
        return "", ""
    verb, is_passive, end = found
    target = next((person for person in people if person.phrase == end and not person.is_possessive), None)
    if target is None or not _has_cause(sentence, people, target.end, pronoun):
        return "", ""
    # The passive swaps the roles: "The guard was praised by the cook" praises its subject.
    return verb.verb, "subject" if (verb.bias == "NP1") != is_passive else "object"


def _verb_behind(sentence: Sentence, subject: Person) -> tuple[CausalVerb, bool, int] | None:
    """The main verb if it has implicit causality; whether it is passive; the position after it."""
    place = subject.end
    if place < len(sentence.tokens) and sentence.tokens[place].istitle():
        place += 1  # a name
    before = ""
    while sentence.word(place) in BE | AUXILIARIES | _WORDS["adverbs"] or sentence.word(place).endswith("ly"):
        if sentence.words[place] in BE | AUXILIARIES:
            before = sentence.words[place]
        place += 1
    form = "any" if not before else "be" if before in BE else "have" if before in HAVE else "modal"
    if form == "modal" and before in ("would", "wouldn't") and sentence.word(place) == "like":
        return None  # a wish
    verbs = _forms().get((sentence.word(place), form), ())
    fitting = [verb for verb in verbs if sentence.words[place + 1 : place + 1 + len(verb.rest)] == verb.rest]
    if not fitting:
        return None
    verb = max(fitting, key=lambda one: len(one.rest))  # "worry about" before "worry"
    end = place + 1 + len(verb.rest)
    is_passive = form == "be" and not sentence.words[place].endswith("ing")
    if is_passive:
        return (verb, True, end + 1) if sentence.word(end) == "by" else None
    return verb, False, end


def _has_cause(sentence: Sentence, people: Sequence[Person], begin: int, pronoun: int) -> bool:
    """Whether the pronoun is in a causal clause after words[begin], with nobody named in between."""
    for place in range(pronoun - 1, begin - 1, -1):
        word = sentence.words[place]
        if any(person.end == place + 1 for person in people):
            return False
        if word == "because":
            return sentence.word(place + 1) != "of"
        # The second half of a comparison is not causal: "as soon as", "the same as".
        compares = not {"as", "such", "same", "so"}.isdisjoint(sentence.words[max(place - 3, 0) : place])
        if word in _WORDS["sometimes_causal"] and place == pronoun - 1 and not compares:
            ends = (end for end in range(pronoun, len(sentence.tokens)) if sentence.ends_clause(end))
            rest = sentence.words[pronoun + 1 : next(ends, len(sentence.tokens)) + 1]
            has_verb = word != "for" and any(other in BE | AUXILIARIES for other in rest)
            if has_verb or sentence.words[pronoun] in SUBJECT_PRONOUNS:
                return True
    return False


@cache
def _forms() -> Mapping[tuple[str, str], Sequence[CausalVerb]]:
    """(form, preceding word class) -> possible verbs; the class is be, have, a modal verb, or other."""
    after = {
        "any": ("base", "third", "past"),
        "modal": ("base",),
        "have": ("participle",),
        "be": ("participle", "ing"),
    }
    found: dict[tuple[str, str], list[CausalVerb]] = defaultdict(list)
    for row in core_rows("uncertainty/implicit_causality.tsv"):
        for before, kinds in after.items():
            for form in {form for kind in kinds for form in row[kind].split("/")}:
                found[form, before].append(CausalVerb(row["verb"], row["bias"]))
    return found


# -- who is named, and who of them is the subject of the main clause --------------------------------------------------

_LONGEST_PHRASE = 5
"""Maximum words before the noun: "the tired old baker's new" assistant."""
_CLAUSE_END = tuple(",;:.!?")


@dataclass(frozen=True, slots=True)
class Person:
    """A noun that denotes a person, at words[start:end]."""

    phrase: int
    """Where its phrase begins, with determiner, possessor and adjectives."""
    start: int
    end: int
    noun: str
    is_possessive: bool
    """"The baker's oven": the oven is the head of the phrase."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence split at single spaces, as WinoMT counts positions; `words` are lower case without punctuation."""

    tokens: tuple[str, ...]
    words: tuple[str, ...]

    def word(self, place: int) -> str:
        return self.words[place] if 0 <= place < len(self.words) else ""

    def ends_clause(self, place: int) -> bool:
        return self.tokens[place].endswith(_CLAUSE_END)


def focus_of(sentence: Sentence, place: int, entity: str) -> Person:
    """The focus; with an entity given, the nearest one (one WinoMT position is off by a double space)."""
    text = " ".join(sentence.tokens)
    if not 0 <= place < len(sentence.words):
        raise ValueError(f"there is no word {place} in {text!r}")
    if not entity:
        return _noun_at(sentence, place) or _person(sentence, place, place + 1)
    noun = tuple(entity.lower().split())
    found = [at for at in range(len(sentence.words)) if is_at(sentence.words, at, noun)]
    if not found:
        raise ValueError(f"there is no {entity!r} in {text!r}")
    at = min(found, key=lambda one: abs(one - place))
    return _person(sentence, at, at + len(noun))


def people_in(sentence: Sentence, focus: Person) -> list[Person]:
    found: list[Person] = []
    for place in range(len(sentence.words)):
        if found and place < found[-1].end:
            continue
        person = focus if place == focus.start else _noun_at(sentence, place)
        # Without a determiner it is an adjective ("was patient with") or modifies the next noun ("nurse uniforms").
        if person and (person == focus or person.noun in INDEFINITE or person.phrase < person.start):
            found.append(person)
    return found


def _noun_at(sentence: Sentence, place: int) -> Person | None:
    nouns = _nouns().get(POSSESSIVE.sub("", sentence.words[place]), ())
    noun = next((noun for noun in nouns if is_at(sentence.words, place, noun)), None)
    return _person(sentence, place, place + len(noun)) if noun else None


def _person(sentence: Sentence, start: int, end: int) -> Person:
    last = POSSESSIVE.sub("", sentence.words[end - 1])
    noun = " ".join((*sentence.words[start : end - 1], last))
    is_possessive = last != sentence.words[end - 1] or sentence.word(end) in ("'s", "'")
    n_before = 0 if noun in INDEFINITE else min(start, _LONGEST_PHRASE)
    for place in range(start - 1, start - 1 - n_before, -1):
        word = sentence.words[place]
        if word in DETERMINERS or (word == "that" and place == start - 1):
            return Person(place, start, end, noun, is_possessive)
        if sentence.ends_clause(place) or word in PREPOSITIONS | CONJUNCTIONS | BE | AUXILIARIES:
            break
    return Person(start, start, end, noun, is_possessive)


@cache
def _nouns() -> Mapping[str, Sequence[tuple[str, ...]]]:
    """First word -> the nouns, as words, that begin with it, longest first."""
    found: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for noun in sorted((tuple(noun.split()) for noun in person_nouns()), key=len, reverse=True):
        found[noun[0]].append(noun)
    return found


def subject_of(sentence: Sentence, people: Sequence[Person]) -> Person | None:
    """The subject of the main clause, which begins after "When ...," or "During lunch," if somebody is named there."""
    begin = 0
    if sentence.words[0] not in DETERMINERS and not (people and people[0].start == 0):
        comma = next((place for place, token in enumerate(sentence.tokens) if token.endswith(",")), -1)
        if any(_opens_clause(sentence, comma + 1, person) for person in people):
            begin = comma + 1
    first = next((person for person in people if person.phrase >= begin and not person.is_possessive), None)
    return first if first is not None and _opens_clause(sentence, begin, first) else None


def _opens_clause(sentence: Sentence, begin: int, person: Person) -> bool:
    """Whether the phrase is the first noun phrase of the clause without a preposition."""
    if person.phrase < begin:
        return False
    before = sentence.words[begin : person.phrase]
    if len(before) > 1 and before[-1] in PREPOSITIONS:
        return False  # "The car of the mechanic"; but "After the guard ..." opens a clause
    introduced = ("", *before)
    return not any(
        word in DETERMINERS | SUBJECT_PRONOUNS and introduced[place] not in PREPOSITIONS | CONJUNCTIONS
        for place, word in enumerate(before)
    )
