"""English words for people: the lists of `languages/en`, singulars, and the gender that a noun states."""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache

from gendermark.languages.folders import lines_of, text_of
from gendermark.records import Gender


@cache
def listed(name: str) -> frozenset[str]:
    return _lists()[name]


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    lists: dict[str, set[str]] = {}
    for section, entries in tomllib.loads(text_of("en", "people.toml")).items():
        for name, words in entries.items():
            lists[f"{section}.{name}"] = set(words.split())
    for line in lines_of("en", "wordnet.txt"):
        if line.startswith("["):
            derived = lists.setdefault(f"wordnet.{line.strip('[]')}", set())
        else:
            derived.update(line.split())
    for name in ("people", "masculine", "feminine", "possible", "other"):
        lists[f"wordnet.{name}"] = {word.lower() for word in lists[f"wordnet.{name}"]}
    masculine, feminine = (
        (lists[f"wordnet.{name}"] - lists["gender.open"]) | lists[f"gender.{name}"]
        for name in ("masculine", "feminine")
    )
    people = lists["nouns.people"] | lists["wordnet.people"] | lists["wordnet.masculine"] | lists["wordnet.feminine"]
    people |= lists["nationalities.people"] | masculine | feminine
    things = lists["nouns.things"] | lists["nouns.possible"]
    titles = lists["titles.masculine"] | lists["titles.feminine"] | lists["titles.open"]
    lists |= {
        "masculine": masculine - {"guys"},
        "feminine": feminine,
        "people": people - things,
        "possible": (lists["wordnet.possible"] | lists["nouns.possible"]) - (people - things) - lists["nouns.things"],
        "titles": titles,
        "given": {plain(name) for name in lists["wordnet.given"] | lists["names.given"]},
        "adjectives": lists["adjectives.people"] | lists["nationalities.people"],
    }
    return {name: frozenset(words) for name, words in lists.items()}


@lru_cache(maxsize=50_000)
def plain(word: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter))


_ENDINGS = "women=woman men=man children=child people=person ies=y ves=f ves=fe ses=s xes=x ches=ch shes=sh oes=o s="
_PLURALS = [ending.split("=") for ending in _ENDINGS.split()]
_DERIVED = ("person", "ologist", "ographer", "cist", "iatrist", "arian", "ician", "worker", "maker", "keeper")
"""Endings of further nouns for people."""


@lru_cache(maxsize=50_000)
def singular(word: str) -> str:
    if word == "people" or is_person(word):
        return word
    tries = (word.removesuffix(plural) + one for plural, one in _PLURALS if word.endswith(plural))
    return next((one for one in tries if is_person(one)), word)


@lru_cache(maxsize=50_000)
def is_person(noun: str) -> bool:
    if noun in listed("nouns.things"):
        return False
    if any(noun in listed(name) for name in ("people", "possible", "groups.collective")):
        return True
    return (len(noun) > 7 and noun.endswith(_DERIVED)) or _is_of_man(noun)


@lru_cache(maxsize=50_000)
def _is_of_man(noun: str) -> bool:
    """Whether a noun contains man or woman: "signalman"."""
    return len(noun) > 6 and noun.endswith(("man", "woman")) and noun not in listed("gender.open")


@lru_cache(maxsize=50_000)
def stated_gender(noun: str) -> Gender | None:
    if noun in listed("masculine") or noun in listed("feminine"):
        return Gender.MASCULINE if noun in listed("masculine") else Gender.FEMININE
    if _is_of_man(noun):
        return Gender.FEMININE if noun.endswith("woman") else Gender.MASCULINE
    return Gender.FEMININE if noun.endswith("ess") and noun[:-3] in listed("people") else None


@lru_cache(maxsize=50_000)
def human_verb(form: str) -> str:
    """The base form of a verb whose subjects are people; empty for other verbs."""
    if form in _irregular_verbs():
        return _irregular_verbs()[form]
    tries = [form]
    for ending in ("s", "es", "d", "ed", "ing"):
        stem = form.removesuffix(ending)
        if stem != form and len(stem) > 2:
            tries += [stem, f"{stem}e", stem[:-1], f"{stem[:-1]}y"]
    return next((one for one in tries if one in listed("verbs.human")), "")


@cache
def _irregular_verbs() -> Mapping[str, str]:
    return dict(pair.split("=") for pair in listed("verbs.irregular"))
