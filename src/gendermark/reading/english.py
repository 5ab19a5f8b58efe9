"""The gender that an English translation gives to the person it speaks of.

The source is always one short sentence, "PRONOUN is X", so a good translation speaks of one person. What names that
person, in order of strength: a subject pronoun ("he", "she"); a gendered noun as subject ("the man"); "they"; what can
only refer back to the subject (reflexives, predicate nouns); other pronouns ("her job"); a neutral noun ("that kid").

Two principles decide the rest. A neutral word never contradicts a gendered one: "They say he is kind" and "He is a
kind person" are masculine. And a text that names nobody ("It's a nurse", "A kind person.") is not neutral but
`no-person`: a failed translation must not count as a fair one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from gendermark.reading.words import Span
from gendermark.records import Gender

_M, _F = Gender.MASCULINE, Gender.FEMININE


@dataclass(frozen=True, slots=True)
class PersonFinding:
    """Whom a translation speaks of."""

    gender: Gender | None
    reason: str
    """`pronoun` or `noun` when decided; else `mixed` or `no-person`."""
    evidence: tuple[str, ...]
    """The words as found."""
    spans: tuple[Span, ...] = ()
    """Where each of them stands in the text."""


# --- words ---------------------------------------------------------------------------------------------------------


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SUBJECTS = {"he": _M, "hes": _M, "she": _F, "shes": _F}  # "hes" and "shes" are no words: an apostrophe was forgotten
_OBLIQUES = {"him": _M, "his": _M, "her": _F, "hers": _F}
_REFLEXIVES = {"himself": _M, "herself": _F}
_THEY = frozenset({"they", "theyre"})
_THEM = frozenset({"them", "their", "theirs", "themself", "themselves"})
_INCLUSIVE = "he or she"  # stands for every inclusive form

# Nouns of sex, kinship and address, in the singular: a plural ("women's wear") does not name the person. Agent nouns
# (salesman, actress) are missing on purpose: MT picks them as the word for a job, whatever the pronoun.
_NOUNS = dict.fromkeys(
    _set(
        "man guy boy gentleman dude lad chap bloke male father dad daddy brother son husband uncle grandfather grandpa "
        "nephew boyfriend schoolboy"
    ),
    _M,
) | dict.fromkeys(
    _set(
        "woman girl lady gal lass female mother mom mum mommy sister daughter wife aunt grandmother grandma niece "
        "girlfriend schoolgirl"
    ),
    _F,
)
_SUBJECT_ONLY = {"fellow": _M}  # "She is a research fellow": as predicate it is a title
_TITLES = {"mr": _M, "mister": _M, "sir": _M, "mrs": _F, "ms": _F, "miss": _F, "madam": _F, "madame": _F, "ma'am": _F}
_GENDERS = _SUBJECTS | _OBLIQUES | _REFLEXIVES | _NOUNS | _SUBJECT_ONLY | _TITLES
_NAMES = _NOUNS.keys() | _SUBJECT_ONLY.keys() | _TITLES.keys()

# Words for a person of any gender. 걔 is "that kid" by origin and "that friend" in use.
_INDEFINITE = frozenset({"someone", "somebody"})
_ATTRIBUTIVE = frozenset({"individual", "human", "kid", "child", "friend"})  # also "the child psychologist"
_NEUTRAL = _INDEFINITE | _ATTRIBUTIVE | {"person", "one"}

_KINDS = (
    dict.fromkeys(_SUBJECTS, "subject")
    | dict.fromkeys(_OBLIQUES, "oblique")
    | dict.fromkeys(_REFLEXIVES, "reflexive")
    | dict.fromkeys(_NAMES, "noun")
    | dict.fromkeys({*_THEY, _INCLUSIVE}, "they")
    | dict.fromkeys(_THEM, "them")
    | dict.fromkeys(_NEUTRAL, "neutral")
)

_PRONOUN_KINDS = frozenset({"subject", "oblique", "reflexive", "they", "them"})

# First halves of agent nouns in two words: "a delivery man" is no more a man than a salesman is.
_AGENT_HALVES = _set(
    "ball bell bus business cable cabin call camera cleaning con delivery dinner door errand fire flower garbage ice "
    "insurance lunch mail maintenance milk news newspaper office paper police post repair sales security service stage "
    "stunt tea trash weather"
)

_DEFINITE = _set("the that this my your our his her its their")
_DETERMINERS = _DEFINITE | {"a", "an", "some", "another", "any", "each", "every"}
_COPULAS = _set(
    "is was are were am be been being isn wasn aren weren ain 's 're 'm become becomes became remain remains remained"
)
_AUXILIARIES = _set(
    "has had have hasn hadn haven does did do doesn didn don will would won wouldn can could cannot couldn may might "
    "must should shall 'll 'd 've"
)
_NEGATIONS = frozenset({"not", "never", "no", "'t"})
_ADVERBS = _set(
    "also actually always basically indeed just never not no now often only probably quite rather really simply still "
    "such too truly 't"
)
_SPEAKERS = frozenset({"i", "you", "we"})
_POINTERS = frozenset({"it", "this", "that"})
_PRONOUNS = _SPEAKERS | _SUBJECTS.keys() | _THEY | {"it", "who", "there", "here", "him", "them", "us", "me", _INCLUSIVE}
_BEFORE_CLITIC = _PRONOUNS | _POINTERS
_PUNCTUATION = frozenset(".,;:!?/()")
_LINKS = _set(
    "about after as at because before behind but by for from if in into like near of off on or over than to under "
    "when where which while with without oh hey yes well wow whose what"
)
# No phrase reaches back across these, and a noun before one of them is the head of its phrase, not an attribute.
_BREAKS = _PUNCTUATION | _LINKS | _PRONOUNS | _COPULAS | _AUXILIARIES | _NEGATIONS
_AFTER_HEAD = _BREAKS | _ADVERBS | _DETERMINERS | {"and", "being"}
_VERBS = _set("acts became becomes cares gets got keeps lacks lies likes looks lost loves seems talks works")
_AFTER_SUBJECT = _COPULAS | _AUXILIARIES
_CLAUSE_OPENERS = _PUNCTUATION | {"and", "but", "so", "because", "yes", "oh", "well", "if", "when"}

# --- cutting -------------------------------------------------------------------------------------------------------

_APOSTROPHES = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc\u2032\uff07`\u00b4", "'"))
_HE, _SHE = "(?:himself|him|his|he)", "(?:herself|hers|her|she)"
_OR = r"(?:'s)?\s{0,2}(?:/|\(?(?:and/)?or\b|\()\s{0,2}"
# One pass, and nothing to backtrack into: spaces are bounded, words are runs of one class.
_TOKEN = re.compile(
    rf"(?P<inclusive>(?<!\w)(?:s/he|\(s\)he|{_HE}{_OR}{_SHE}|{_SHE}{_OR}{_HE})\b\)?)"
    r"|ma'am\b|\w+(?:-\w+)*|'(?:s|re|m|ve|ll|d|t)\b|[.,;:!?/()]",
    re.IGNORECASE,
)
_MARGIN = 2  # full stops around the text, so that its first and last words have neighbours too


def _cut(text: str) -> tuple[list[str], list[Span]]:
    """The words in lower case, clitics cut off ("he", "'s"), and where they stand in the text."""
    words, spans = ["."] * _MARGIN, [(0, 0)] * _MARGIN
    for match in _TOKEN.finditer(text.translate(_APOSTROPHES)):
        words.append(_INCLUSIVE if match.lastgroup else match.group().lower())
        spans.append(match.span())
    return words + ["."] * _MARGIN, spans


# --- phrases -------------------------------------------------------------------------------------------------------


class _Phrase(NamedTuple):
    """What a noun does in its sentence."""

    role: str
    """`subject`, `predicate`, `object` (anything else with a determiner) or "" (names nobody)."""
    start: int
    determiner: str
    owner: str
    """The word before the copula, if the phrase is a predicate: "it" in "it's a girl"."""


def _phrase(words: Sequence[str], noun: int) -> _Phrase:
    """The noun phrase that ends in words[noun], told from the few words around it."""
    start, determiner = noun, ""
    for position in range(noun - 1, max(noun - 6, 0), -1):
        if words[position] in _DETERMINERS:
            start, determiner = position, words[position]
            break
        if words[position] in _BREAKS:
            break
        start = position
    before = start - 1
    while words[before] in _ADVERBS and words[before] not in _NEGATIONS:
        before -= 1
    link, owner, after = words[before], words[before - 1], words[noun + 1]
    is_head = after in _AFTER_HEAD
    # A possessive 's looks like the verb, but stands behind a noun and takes no article: "her mother's little girl".
    is_copula = link in _COPULAS and (link != "'s" or determiner != "" or owner in _BEFORE_CLITIC)

    role = ""
    if link in _NEGATIONS or link in _SPEAKERS:
        pass  # "not a man"; "are you a man"
    elif is_copula:
        if is_head and after != "'s" and owner not in _SPEAKERS:  # not "a girl group", "a man's tailor", "I'm a man"
            role = "predicate"
    elif after == "'s" and determiner in {"a", "an"}:
        pass  # "A man's job."
    elif (determiner or after in _AFTER_SUBJECT) and link in _CLAUSE_OPENERS:  # "That lady ..."; "Kid is lazy"
        role = "subject"
    elif determiner and is_head:  # "I think that man is kind"; "I hate that man"
        role = "subject" if after in _AFTER_SUBJECT else "object"
    return _Phrase(role, start, determiner, owner)


def _gendered_role(words: Sequence[str], noun: int) -> str:
    """The role of a gendered noun, "" if it says nothing about the person."""
    word = words[noun]
    if word in _TITLES:  # "Mr. Kim is ..."; but "Thank you, sir." and "Madam, you are ..." call the listener
        name = words[noun + 2] if words[noun + 1] == "." else words[noun + 1]
        return "subject" if words[noun - 1] in _PUNCTUATION and name not in _PUNCTUATION else ""
    if words[noun - 1] in _AGENT_HALVES or (word == "son" and words[noun + 1 : noun + 3] == ["of", "a"]):
        return ""
    role = _phrase(words, noun).role
    return role if role == "subject" or word not in _SUBJECT_ONLY else ""


def _neutral_phrase(words: Sequence[str], noun: int) -> _Phrase | None:
    """The phrase of a neutral noun if it names the person: as subject, or pointed at ("that's a kind person")."""
    word, after = words[noun], words[noun + 1]
    if word in _ATTRIBUTIVE and after not in _AFTER_HEAD and after not in _VERBS:
        return None  # "the human resources manager"
    phrase = _phrase(words, noun)
    if phrase.role == "predicate":
        names = phrase.owner in _POINTERS and word != "one"
    elif word == "one":  # "that one"; but "number one"
        names = phrase.role == "subject" and words[noun - 1] in {"that", "this", "the"}
    elif word in _INDEFINITE:
        names = phrase.role == "subject" or words[noun - 1] in _CLAUSE_OPENERS
    else:  # without a definite determiner only a verb shows the subject: "A kind person." is a fragment
        has_verb = after in _AFTER_SUBJECT or after in _VERBS or after == "being"
        names = phrase.role != "" and (phrase.determiner in _DEFINITE or (phrase.role == "subject" and has_verb))
    return phrase if names else None


def _refers_back(words: Sequence[str], pronoun: int, starts: Set[int]) -> bool:
    """Whether his or her can mean the person that a neutral noun names: "That person lost her temper".

    starts: where the phrases of such nouns begin.

    Not as an object ("is kind to her": grammar would ask for a reflexive), nor where it introduces someone else
    ("that person is her boss", "her friend is kind").
    """
    is_possessive = words[pronoun] in {"his", "her"} and words[pronoun + 1] not in _AFTER_HEAD
    return is_possessive and words[pronoun - 1] not in _COPULAS and pronoun not in starts


# --- pronouns ------------------------------------------------------------------------------------------------------


class Pronoun(NamedTuple):
    """A personal pronoun of the third person, wherever it stands; neutral: they, and "he or she"."""

    gender: Gender
    span: Span


def pronouns(text: str) -> list[Pronoun]:
    """All of them in order, for a passage that speaks of one person: there every pronoun is that person's."""
    words, spans = _cut(text)
    return [
        Pronoun(_GENDERS.get(word, Gender.NEUTRAL), span)
        for word, span in zip(words[_MARGIN:-_MARGIN], spans[_MARGIN:], strict=True)
        if _KINDS.get(word) in _PRONOUN_KINDS
    ]


# --- decision ------------------------------------------------------------------------------------------------------


def find_person(text: str) -> PersonFinding:
    """The gender of the person that an English translation of "PRONOUN is X" speaks of."""
    words, spans = _cut(text)
    found: dict[str, list[int]] = defaultdict(list)
    for place, word in enumerate(words):
        if word in _KINDS:
            found[_KINDS[word]].append(place)
    nouns: dict[str, list[int]] = defaultdict(list)
    for place in found["noun"]:
        nouns[_gendered_role(words, place)].append(place)

    def finding(gender: Gender | None, reason: str, places: Iterable[int]) -> PersonFinding:
        told = tuple(spans[place] for place in sorted(places))
        return PersonFinding(gender, reason, tuple(text[start:end] for start, end in told), told)

    def decided(places: Sequence[int]) -> PersonFinding:
        genders = {_GENDERS[words[place]] for place in places}
        if len(genders) > 1:
            return finding(None, "mixed", places)
        reason = "noun" if all(words[place] in _NAMES for place in places) else "pronoun"
        return finding(genders.pop(), reason, places)

    # Grammar ties these to the subject, so they can contradict it: "She is full of himself", "He was a woman".
    bound = found["reflexive"] + nouns["predicate"]
    if subjects := found["subject"] or nouns["subject"]:
        return decided(subjects + bound)
    if found["they"]:  # a subject like he and she: whoever else is mentioned is someone else ("They are her boss")
        return decided(bound) if bound else finding(Gender.NEUTRAL, "pronoun", found["they"])
    named = {place: phrase for place in found["neutral"] if (phrase := _neutral_phrase(words, place))}
    obliques = found["oblique"]
    if named:
        starts = {phrase.start for phrase in named.values()}
        obliques = [place for place in obliques if _refers_back(words, place, starts)]
    if bound or obliques:
        return decided(bound + obliques)
    if named:
        is_pronoun = all(words[place] in _INDEFINITE for place in named)
        return finding(Gender.NEUTRAL, "pronoun" if is_pronoun else "noun", named)
    if nouns["object"]:  # "I hate that woman"
        return decided(nouns["object"])
    if found["them"]:
        return finding(Gender.NEUTRAL, "pronoun", found["them"])
    return finding(None, "no-person", ())
