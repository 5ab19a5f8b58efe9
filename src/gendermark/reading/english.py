"""The gender of the person in an English translation of "PRONOUN is X".

A good translation mentions one person. Words that refer to that person, in order of strength: a subject pronoun ("he",
"she"); a gendered noun as subject ("the man"); "they"; what can only refer back to the subject (reflexives, predicate
nouns); other pronouns ("her job"); a neutral noun ("that kid").

Two principles decide the rest. A neutral word never contradicts a gendered one: "They say he is kind" and "He is a kind
person" are masculine. And a text that mentions nobody ("It's a nurse", "A kind person.") is not neutral but
`no-person`: a failed translation must not count as a fair one.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from gendermark.languages.tables import toml_of, word_set
from gendermark.reading.focus import person_nouns
from gendermark.reading.nouns import is_person, singular, stated_gender
from gendermark.reading.words import Span
from gendermark.records import Gender

_M, _F = Gender.MASCULINE, Gender.FEMININE


@dataclass(frozen=True, slots=True)
class PersonFinding:
    """The person of a translation."""

    gender: Gender | None
    reason: str
    """`pronoun` or `noun` when decided; else `mixed` or `no-person`."""
    evidence: tuple[str, ...]
    """The words as found."""
    spans: tuple[Span, ...] = ()
    """Their positions in the text."""


# --- words ---------------------------------------------------------------------------------------------------------


_TEXT = toml_of("en", "subject.toml")
_W = {name: word_set(text) for name, text in _TEXT["sets"].items()}


_SUBJECTS, _OBLIQUES, _REFLEXIVES, _NOUNS, _AGENTS, _TITLES = (
    {word: gender for gender in (_M, _F) for word in _TEXT[name][gender].split()}
    for name in ("subjects", "obliques", "reflexives", "nouns", "agents", "titles")
)
_THEY = frozenset({"they", "theyre"})
_THEM = frozenset({"them", "their", "theirs", "themself", "themselves"})
_INCLUSIVE = "he or she"  # all inclusive forms are replaced by this

_SUBJECT_ONLY = {"fellow": _M}  # "She is a research fellow": a title as predicate
_NEUTRAL = _W["indefinite"] | _W["attributive"] | {"person", "one"}

_GENDERS = _SUBJECTS | _OBLIQUES | _REFLEXIVES | _NOUNS | _AGENTS | _SUBJECT_ONLY | _TITLES
_KINDS = (
    dict.fromkeys((*_NOUNS, *_AGENTS, *_SUBJECT_ONLY, *_TITLES), "noun")
    | dict.fromkeys(_SUBJECTS, "subject")
    | dict.fromkeys(_OBLIQUES, "oblique")
    | dict.fromkeys(_REFLEXIVES, "reflexive")
    | dict.fromkeys({*_THEY, _INCLUSIVE}, "they")
    | dict.fromkeys(_THEM, "them")
    | dict.fromkeys(_NEUTRAL, "neutral")
)


@lru_cache(maxsize=65_536)
def _gender_of(word: str) -> Gender | None:
    return _GENDERS.get(word) or stated_gender(word) or (_gender_of(singular(word)) if _is_plural(word) else None)


def _is_plural(word: str) -> bool:
    return singular(word) != word and word not in _KINDS


@lru_cache(maxsize=65_536)
def _kind_of(word: str) -> str:
    """The group of words that a word belongs to; empty for words that name no person."""
    if word in _KINDS or _gender_of(word) is None:
        return _KINDS.get(word, "")
    return "plural" if _is_plural(word) else "noun"


_PRONOUN_KINDS = frozenset({"subject", "oblique", "reflexive", "they", "them"})

_DETERMINERS = _W["definite"] | _W["indefinite_articles"]
_PRONOUNS = _W["speakers"] | _SUBJECTS.keys() | _THEY | _W["other_pronouns"] | {_INCLUSIVE}
_BEFORE_CLITIC = _PRONOUNS | _W["pointers"]
_PUNCTUATION = frozenset(".,;:!?/()")
_AFTER_SUBJECT = _W["copulas"] | _W["auxiliaries"]
# Phrases do not cross these, and a noun before one of them heads its phrase.
_BREAKS = _PUNCTUATION | _W["links"] | _PRONOUNS | _AFTER_SUBJECT | _W["negations"]
_AFTER_HEAD = _BREAKS | _W["adverbs"] | _DETERMINERS | {"and", "being"}
_CLAUSE_OPENERS = _PUNCTUATION | _W["clause_openers"]

# --- cutting -------------------------------------------------------------------------------------------------------

_APOSTROPHES = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc\u2032\uff07`\u00b4", "'"))
_HE, _SHE = "(?:himself|him|his|he)", "(?:herself|hers|her|she)"
_OR = r"(?:'s)?\s{0,2}(?:/|\(?(?:and/)?or\b|\()\s{0,2}"
# One pass without backtracking: spaces are bounded, words are runs of one class.
_TOKEN = re.compile(
    rf"(?P<inclusive>(?<!\w)(?:s/he|\(s\)he|{_HE}{_OR}{_SHE}|{_SHE}{_OR}{_HE})\b\)?)"
    r"|ma'am\b|\w+(?:-\w+)*|'(?:s|re|m|ve|ll|d|t)\b|[.,;:!?/()]",
    re.IGNORECASE,
)
_AFFIX = re.compile(
    r"^(?:ex|half|great|co)-|^step(?=(?:brother|sister|father|mother|son|daughter|child)s?$)|-(?:in-law|to-be)$"
)  # "my ex-husband"
_MARGIN = 2  # full stops around the text, so that its first and last words have neighbours


_QUOTES = frozenset("'\"“”„«»")
_BEFORE_NAME = _TITLES.keys() | _W["abbreviations"] | _W["offices"]
_NO_NAMES = _BREAKS | _W["adverbs"] | _DETERMINERS | _W["no_names"]
_SINGULAR = (_SUBJECTS.keys() | _OBLIQUES.keys() | _REFLEXIVES.keys()) - {"his", "her"}  # “her” friend: stressed
_A_NAME = "—"


def _cut(text: str) -> tuple[list[str], list[Span]]:
    """Lower-case words, clitics split off ("he", "'s"), and their positions."""
    text = text.translate(_APOSTROPHES)
    words, spans = ["."] * _MARGIN, [(0, 0)] * _MARGIN
    for match in _TOKEN.finditer(text):
        word = _INCLUSIVE if match.lastgroup else _AFFIX.sub("", match.group().lower())
        if _TITLE_OF_KIN.match(text, match.start()) and words[-1] not in _DETERMINERS:
            gender = stated_gender(word)
            word = "mrs" if gender is _F else "mr" if gender is _M else word  # "Sister Maria", "King Charles"
        is_name = word in _SINGULAR and (_is_quoted(text, match.span()) or _is_surname(text, match.span(), words))
        words.append(_A_NAME if is_name else word)
        spans.append(match.span())
    return words + ["."] * _MARGIN, spans


_TITLE_OF_KIN = re.compile(r"[A-Z][a-z]+ (?!(?:Of|In|And|Is|Was) )[A-Z][a-z]+\b")
_TITLE = re.compile(r"[\w' -]{0,40}\b[A-Z][a-z][\w' -]{0,40}(?<![\s'])['\"”“«»](?=.*\w)(?!\w)")


def _is_quoted(text: str, span: Span) -> bool:
    """Whether a word is in quotation marks, alone or at the start of a title: "He Cooks"."""
    start, end = span
    if start == 0 or end == len(text) or text[start - 1] not in _QUOTES:
        return False
    return text[end] in _QUOTES or (text[start].isupper() and _TITLE.match(text, end) is not None)


def _is_surname(text: str, span: Span, before: Sequence[str]) -> bool:
    """Whether "He" is the name: after a title or another word, or before a given name."""
    if text[slice(*span)] != "He":
        return False
    if before[-1] in _BEFORE_NAME or (before[-1] == "." and before[-2] in _W["abbreviations"]):
        return True
    following = re.match(r"\s([A-Z][a-z]+)(?:\s[a-z]|[,.'])", text[span[1] :])
    if following:
        return following[1].lower() not in _AFTER_SUBJECT | _W["adverbs"] | _W["verbs"]
    given = re.search(r"([A-Z][a-z]+) $", text[: span[0]])
    return given is not None and before[-1] not in _NO_NAMES and not text.istitle()


# --- phrases -------------------------------------------------------------------------------------------------------


class _Phrase(NamedTuple):
    """The function of a noun in its sentence."""

    role: str
    """`subject`, `predicate`, `object` (anything else with a determiner) or "" (refers to nobody)."""
    start: int
    determiner: str
    owner: str
    """The word before the copula, if the phrase is a predicate: "it" in "it's a girl"."""


def _phrase(words: Sequence[str], noun: int) -> _Phrase:
    """The noun phrase ending in words[noun], from the few words around it."""
    start, determiner = noun, ""
    for position in range(noun - 1, max(noun - 6, 0), -1):
        if words[position] in _DETERMINERS:
            start, determiner = position, words[position]
            break
        if words[position] in _BREAKS:
            break
        start = position
    before = start - 1
    while words[before] in _W["adverbs"] and words[before] not in _W["negations"]:
        before -= 1
    link, owner, after = words[before], words[before - 1], words[noun + 1]
    is_head = after in _AFTER_HEAD
    # A possessive 's follows a noun and takes no article: "her mother's little girl".
    is_copula = link in _W["copulas"] and (link != "'s" or determiner != "" or owner in _BEFORE_CLITIC)

    verb = before - (link == "'t")
    role = ""
    if determiner in _W["definite"] and words[verb] in _AFTER_SUBJECT and words[verb - 1] in _PUNCTUATION:
        role = "subject"  # "Isn't that woman a judge?"
    elif link in _W["negations"] or link in _W["speakers"]:
        pass  # "not a man"; "are you a man"
    elif is_copula:
        # Not "a girl group", "a man's tailor", "I'm a man".
        if is_head and after != "'s" and owner not in _W["speakers"]:
            role = "predicate"
    elif after == "'s" and determiner in {"a", "an"}:
        pass  # "A man's job."
    elif link == "of" and _is_verb(after):
        pass  # "The boss of that girl is strict"
    elif (
        link == "as"
        and words[before - 1] in _PUNCTUATION
        and after in _PUNCTUATION
        and words[noun + 2] not in _W["speakers"]
    ):
        role = "predicate"  # "As a mother, that person is strict"
    elif (determiner and link in _CLAUSE_OPENERS) or (after in _AFTER_SUBJECT and link in {"'s", *_CLAUSE_OPENERS}):
        role = "subject"  # "That lady ..."; "Kid is lazy"; "the girl's father is a cook"
    elif determiner and (is_head or after in _W["times"]):  # "I think that man is kind"; "I hate that man"
        role = "subject" if after in _AFTER_SUBJECT else "object"
    return _Phrase(role, start, determiner, owner)


def _is_verb(word: str) -> bool:
    return word in _AFTER_SUBJECT or word in _W["verbs"] or (word.endswith(("s", "ed")) and word not in _BREAKS)


def _is_owner(words: Sequence[str], noun: int) -> bool:
    """Whether someone else follows after 's: "that boy's teacher is kind", "Mr. Kim's boss"; not "that boy's kind"."""
    head = noun
    while head < noun + 3 and (
        words[head + 1] not in _AFTER_HEAD or (words[head] in _TITLES and words[head + 1] == ".")
    ):
        head += 1
    return words[head + 1] == "'s" and not _AFTER_SUBJECT.isdisjoint(words[head + 3 : head + 5])


def _one_of(words: Sequence[str], plural: int) -> str:
    """The role of "one of the girls", "" for other plurals."""
    start = _phrase(words, plural).start
    if words[start - 2 : start] != ["one", "of"]:
        return ""
    return "subject" if words[start - 3] in _CLAUSE_OPENERS else "object"


def _gendered_role(words: Sequence[str], noun: int) -> str:
    word = words[noun]
    if _is_owner(words, noun):
        return ""
    if word in _TITLES or (word in {"lady", "lord"} and words[noun - 1] in _PUNCTUATION):
        # "Mr. Kim is ..."; but "Thank you, sir." and "Madam, you are ..." call the listener.
        name = words[noun + 2] if words[noun + 1] == "." else words[noun + 1]
        if name in _PUNCTUATION | {"and"} or words[noun - 2] in _W["speakers"]:
            return ""
        return "subject" if words[noun - 1] in _PUNCTUATION else "predicate" if words[noun - 1] in _W["copulas"] else ""
    if word == "son" and words[noun + 1 : noun + 3] == ["of", "a"]:
        return ""
    role, _, determiner, _ = _phrase(words, noun)
    if not determiner and words[noun + 1] == "of":  # "She was voted man of the year"
        return ""
    return role if role == "subject" or word not in _SUBJECT_ONLY else ""


def _neutral_phrase(words: Sequence[str], noun: int) -> _Phrase | None:
    """The phrase of a neutral noun if it refers to the person: as subject, or with a demonstrative ("that's a kind
    person")."""
    word, after = words[noun], words[noun + 1]
    if after == "of" and words[noun + 2] in _W["absolute"]:  # "a friend of hers is ..."
        after = words[noun + 3]
    if word in _W["attributive"] and after not in _AFTER_HEAD and after not in _W["verbs"]:
        return None  # "the human resources manager"
    phrase = _phrase(words, noun)
    if phrase.role == "predicate":
        names = phrase.owner in _W["pointers"] and word != "one"
    elif word == "one":  # "that one"; but "number one"
        names = phrase.role == "subject" and words[noun - 1] in {"that", "this", "the"}
    elif word in _W["indefinite"]:
        names = phrase.role == "subject" or words[noun - 1] in _CLAUSE_OPENERS
    else:  # without a definite determiner only a verb shows the subject: "A kind person." is a fragment
        has_verb = after in _AFTER_SUBJECT or after in _W["verbs"] or after == "being"
        names = phrase.role != "" and (phrase.determiner in _W["definite"] or (phrase.role == "subject" and has_verb))
    return phrase if names else None


def _refers_back(words: Sequence[str], pronoun: int, starts: Set[int]) -> bool:
    """Whether his or her can refer to the person of a neutral noun: "That person lost her temper".

    starts: where the phrases of such nouns begin. Not as an object ("is kind to her": grammar would require a
    reflexive), nor as possessive of someone else ("that person is her boss", "her friend is kind").
    """
    is_possessive = words[pronoun] in {"his", "her"} and words[pronoun + 1] not in _AFTER_HEAD
    return is_possessive and words[pronoun - 1] not in _W["copulas"] and pronoun not in starts


def _owns_subject(words: Sequence[str], pronoun: int) -> bool:
    """Whether his or her belongs to a subject who is someone else: "Her boss is a man", "One of her friends"."""
    before = words[pronoun - 3] if words[pronoun - 2 : pronoun] == ["one", "of"] else words[pronoun - 1]
    return before in _CLAUSE_OPENERS and words[pronoun + 1] not in _AFTER_HEAD


@cache
def _last_words() -> frozenset[str]:
    return _W["attributive"] | {noun.split()[-1] for noun in person_nouns()}


def _owned_person(words: Sequence[str], pronoun: int) -> int | None:
    """The position of a subject with his or her that is a person: "Her old boss is kind"."""
    if _owns_subject(words, pronoun):
        for place in range(pronoun + 1, min(pronoun + 4, len(words) - 1)):
            if {words[place], words[place].removesuffix("s")} & _last_words() and _is_verb(words[place + 1]):
                return place
    return None


def _of_main_clause(words: Sequence[str], subjects: Sequence[int]) -> list[int]:
    """Without subjects of subordinate clauses: "she" in "He told her that she is a nurse", "He thinks she is a nurse".

    Those of main clauses stay: "He is kind, she is not", "He is kind and she is not".
    """
    first = subjects[0] if subjects else 0
    ends = next((place for place in range(first, len(words)) if words[place] in _PUNCTUATION), len(words))
    return [
        place
        for place in subjects
        if place > ends
        or words[place - 1] in {"and", "but", "nor"}
        or _gender_of(words[place]) is _gender_of(words[first])
    ]


def _is_of_other_subject(words: Sequence[str], noun: int, subjects: Sequence[int], own: Set[int]) -> bool:
    """Whether a predicate or reflexive has another subject than those at `own`: "He was glad when she was a girl", "He
    says my brother is a fool"."""
    before = bisect(subjects, noun)
    if before > 0 and subjects[before - 1] not in own:
        return True
    owner = _phrase(words, noun).owner
    return bool(own) and owner not in _BREAKS | _W["adverbs"] | _DETERMINERS and is_person(owner)


def _is_named(words: Sequence[str], pronoun: int) -> bool:
    """Whether him or her gets a predicate: "They believe her to be kind", "They call him a saint"."""
    after = words[pronoun + 1 : pronoun + 3]
    if words[pronoun - 1] in _W["appointing"] and is_person(after[0]) and after[1] in _PUNCTUATION:
        return True
    if after == ["to", "be"] or (after[0] == "as" and after[1] in _DETERMINERS):
        return True
    return words[pronoun - 1] in _W["naming"] and (words[pronoun] == "him" or after[0] in _DETERMINERS | {"as"})


# --- pronouns ------------------------------------------------------------------------------------------------------


class Pronoun(NamedTuple):
    """A third-person pronoun; neutral: they, and "he or she"."""

    gender: Gender
    span: Span


def pronouns(text: str) -> list[Pronoun]:
    """All of them in order, for a passage about one person, to whom every pronoun refers."""
    words, spans = _cut(text)
    return [
        Pronoun(_GENDERS.get(word, Gender.NEUTRAL), span)
        for word, span in zip(words[_MARGIN:-_MARGIN], spans[_MARGIN:], strict=True)
        if _kind_of(word) in _PRONOUN_KINDS
    ]


# --- decision ------------------------------------------------------------------------------------------------------


def find_person(text: str) -> PersonFinding:
    """The gender of the person that an English translation of "PRONOUN is X" speaks of."""
    words, spans = _cut(text)
    found: dict[str, list[int]] = defaultdict(list)
    for place, word in enumerate(words):
        if kind := _kind_of(word):
            is_subject = word in _OBLIQUES and _is_named(words, place)
            found["subject" if is_subject else kind].append(place)
    nouns: dict[str, list[int]] = defaultdict(list)
    agents: dict[str, list[int]] = defaultdict(list)
    for place in found["noun"]:
        word = words[place]
        is_agent = word not in _NOUNS.keys() | _TITLES.keys() | _SUBJECT_ONLY.keys()
        is_agent = is_agent or words[place - 1] in _W["agent_halves"]
        role = _gendered_role(words, place)
        if is_agent and role == "subject" and _PUNCTUATION.issuperset(words[place + 1 :]):
            continue  # "A salesman.": a fragment
        (agents if is_agent else nouns)[role].append(place)
    for place in found["plural"]:
        nouns[_one_of(words, place)].append(place)

    def finding(gender: Gender | None, reason: str, places: Iterable[int]) -> PersonFinding:
        told = tuple(spans[place] for place in sorted(places))
        return PersonFinding(gender, reason, tuple(text[start:end] for start, end in told), told)

    def decided(places: Sequence[int]) -> PersonFinding:
        genders = {gender for place in places if (gender := _gender_of(words[place]))}
        if len(genders) > 1:
            return finding(None, "mixed", places)
        reason = "noun" if all(_kind_of(words[place]) in ("noun", "plural") for place in places) else "pronoun"
        return finding(genders.pop(), reason, places)

    # Grammar ties these to the subject, so they can contradict it: "She is full of himself", "He was a woman".
    own = set(_of_main_clause(words, found["subject"]))
    bound = [
        place
        for place in found["reflexive"] + nouns["predicate"]
        if not _is_of_other_subject(words, place, found["subject"], own)
    ]
    bound += [  # "It's her."
        at
        for at in found["oblique"]
        if words[at] in {"him", "her"} and words[at - 1] in _W["copulas"] and words[at + 1] in _PUNCTUATION
    ]
    if subjects := sorted(own) or nouns["subject"]:
        return decided(subjects + bound)
    if found["they"]:  # a subject like he and she: anyone else mentioned is someone else ("They are her boss")
        return decided(bound) if bound else finding(Gender.NEUTRAL, "pronoun", found["they"])
    if not bound and (told := agents["subject"] or agents["predicate"]):
        return decided(told)
    named = {place: phrase for place in found["neutral"] if (phrase := _neutral_phrase(words, place))}
    obliques = [place for place in found["oblique"] if not (bound and _owns_subject(words, place))]
    if named:
        starts = {phrase.start for phrase in named.values()}
        obliques = [place for place in obliques if _refers_back(words, place, starts)]
    if bound or obliques:
        owned = [noun for one in obliques if (noun := _owned_person(words, one)) is not None]
        if not bound and len(owned) == len(obliques):
            return finding(Gender.NEUTRAL, "noun", owned)
        return decided(sorted({*bound, *obliques}))
    if named:
        is_pronoun = all(words[place] in _W["indefinite"] for place in named)
        return finding(Gender.NEUTRAL, "pronoun" if is_pronoun else "noun", named)
    if told := nouns["object"] or agents["object"]:  # "I hate that woman"
        return decided(told)
    if found["them"]:
        return finding(Gender.NEUTRAL, "pronoun", found["them"])
    return finding(None, "no-person", ())
