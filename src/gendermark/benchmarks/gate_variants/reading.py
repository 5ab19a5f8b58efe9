"""The gender that a translation gives to each person: by a variant's very words, its key words, the places where the
variants differ, and our lexicons; what is surer decides first.

The words that annotators marked in a variant (`kw_f`, `kw_m`) decide if only one gender's occur. A translation that
words the sentence otherwise has none of them; there, other words in which the variants differ are looked for, and, of
the occupations in our lexicons, any form at all.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from gendermark import registry
from gendermark.benchmarks.gate_variants.items import names_of, nouns_of, occupations
from gendermark.linguistics.contrast import Unit, contrast, places_of, units_of
from gendermark.linguistics.language import Language
from gendermark.linguistics.occupations import bundled_finder
from gendermark.linguistics.words import spans_of, split_spans
from gendermark.metrics.terms import Term
from gendermark.records import Gender, Item, Span

FEMININE, MASCULINE, MIXED, UNREAD, CLOSED = "fmx?-"
"""How one person is read: `CLOSED` where no variant differs in that person's gender."""
GENDER = {FEMININE: Gender.FEMININE, MASCULINE: Gender.MASCULINE}
_HEAD = re.compile(r"\[(.*?)\]")
_PLAIN = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u00a0": " ", "\u202f": " ", "\u2009": " "})


class _Blanks(dict[int, str]):
    """Punctuation and symbols -> a space; everything else -> itself."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        self[code] = " " if unicodedata.category(letter)[0] in "PSZ" else letter
        return self[code]


_BLANKS = _Blanks()


@dataclass(frozen=True, slots=True)
class Person:
    """What tells the gender of one person in a translation."""

    terms: tuple[tuple[str, str], ...]
    """Key words of both genders, feminine first, as `padded` writes them."""
    pairs: tuple[tuple[str, str], ...]
    """The variants that differ in this gender only."""
    occupation: str
    """Of our lexicons, if it is one."""

    @property
    def is_open(self) -> bool:
        return any(one != other for one, other in self.pairs)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a translation says of the people, one letter each; and by what it was read."""

    letters: str
    how: str = ""
    evidence: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()

    @property
    def gender(self) -> Gender | None:
        """Of all people alike; None where they differ or not all could be read."""
        found = set(self.letters) - {CLOSED}
        return GENDER.get(next(iter(found))) if len(found) == 1 else None


def normalised(text: str) -> str:
    """Without differences of writing that no reader sees."""
    return unicodedata.normalize("NFC", text).translate(_PLAIN).strip()


def blanked(text: str) -> str:
    """Lower case, with blanks for punctuation; nearly always as long as the text."""
    return unicodedata.normalize("NFC", text).lower().translate(_BLANKS)


@lru_cache(maxsize=8192)
def padded(text: str) -> str:
    """The words of a text, each between two spaces."""
    return f" {' '.join(blanked(text).split())} "


@cache
def language_of(code: str) -> Language:
    found: Language = registry.load("language", code)
    return found


def key_terms(kw_f: str, kw_m: str) -> list[list[tuple[str, str]]]:
    """For each entry its key words of both genders, where they differ: heads if these do, else whole phrases."""
    entries = []
    for feminine, masculine in zip(kw_f.split(";"), kw_m.split(";"), strict=False):
        found = []
        for one, other in zip(feminine.split("="), masculine.split("="), strict=False):
            heads = [_HEAD.search(form) for form in (one, other)]
            forms = [head[1] for head in heads if head]
            pair = (padded(forms[0]), padded(forms[1])) if len(set(forms)) == 2 else (padded(one), padded(other))
            if pair[0] != pair[1]:
                found.append(pair)
        entries.append(found)
    return entries


def terms_of(item: Item, wanted: Gender) -> list[Term]:
    """The key words of all people, in the wanted gender and in the other."""
    pairs = [pair for entry in key_terms(item.tags["kw_f"], item.tags["kw_m"]) for pair in entry]
    side = 0 if wanted is Gender.FEMININE else 1
    return [Term(tuple(pair[side].split()), tuple(pair[1 - side].split())) for pair in pairs]


def variants_of(item: Item) -> tuple[str, ...]:
    """In the order of `names_of`."""
    return tuple(item.tags[name] for name in names_of(n_people(item)))


def n_people(item: Item) -> int:
    return len(item.tags["stereotypes"])


def people_of(item: Item) -> tuple[Person, ...]:
    tags = item.tags
    return _people(tags["kw_s"], tags["kw_f"], tags["kw_m"], variants_of(item))


@lru_cache(maxsize=4096)
def _people(kw_s: str, kw_f: str, kw_m: str, variants: tuple[str, ...]) -> tuple[Person, ...]:
    n = len(variants).bit_length() - 1
    entries = key_terms(kw_f, kw_m)
    if n == 1:
        entries = [[pair for entry in entries for pair in entry]]
    elif len(entries) != n:
        entries = [[] for _ in range(n)]  # whose key words are whose is not known
    nouns = nouns_of(kw_s, n)
    people = []
    for place, terms in enumerate(entries):
        occupation = occupations().get(nouns[place], ("", ""))[0]
        people.append(Person(tuple(terms), tuple(_pairs(variants, place, n)), occupation))
    return tuple(people)


def _pairs(variants: Sequence[str], place: int, n: int) -> Iterator[tuple[str, str]]:
    """The variants that differ in the gender of one person only."""
    by_name = dict(zip(names_of(n), variants, strict=True))
    for name, text in by_name.items():
        if name[place] == "f":
            yield text, by_name[f"{name[:place]}m{name[place + 1 :]}"]


@lru_cache(maxsize=4096)
def _units(pairs: tuple[tuple[str, str], ...], code: str) -> tuple[frozenset[Unit], frozenset[Unit]]:
    """Words that only the variants have in which this person is a woman; and in which he is a man.

    Made only for sentences in which no key word is found."""
    language = language_of(code)
    contrasts = [contrast(one, other, language) for one, other in pairs]
    known = [{unit for pair in pairs for unit in units_of(language.cut(pair[side]))} for side in (0, 1)]
    feminine = {unit for found in contrasts for unit in found.right if _tells(unit, language)} - known[1]
    masculine = {unit for found in contrasts for unit in found.wrong if _tells(unit, language)} - known[0]
    return frozenset(feminine), frozenset(masculine)


def _tells(unit: Unit, language: Language) -> bool:
    """Two function words, "de la", stand anywhere; the key words have them with their noun."""
    return any(len(word) > 3 and word not in language.singular and word not in language.plural for word in unit)


# -- one translation ---------------------------------------------------------------------------------------------------


def read(item: Item, text: str, code: str, by: str) -> Reading:
    """The gender of each person; `by` is all, keywords or exact."""
    people = people_of(item)
    if by != "keywords" and (letters := _matched(item, text, people)):
        evidence = [term[side == "m"] for one, side in zip(people, letters, strict=True) for term in one.terms]
        found = [term for term in evidence if term in padded(text)]
        return Reading(letters, "variant", _shown(found), _places(text, found))
    if by == "exact":
        return Reading("".join(UNREAD if one.is_open else CLOSED for one in people))
    readings = [_read_one(one, text, code, by) if one.is_open else Reading(CLOSED) for one in people]
    return Reading(
        "".join(found.letters for found in readings),
        " ".join(dict.fromkeys(found.how for found in readings if found.how)),
        tuple(word for found in readings for word in found.evidence),
        tuple(sorted({span for found in readings for span in found.spans})),
    )


def _matched(item: Item, text: str, people: Sequence[Person]) -> str:
    """The letters of the variant that a text is; by the paper's rules to the last sign, by ours in its words."""
    is_paper = item.tags["rules"] == "paper"
    said = text.strip() if is_paper else padded(text)
    names = [
        name
        for name in names_of(len(people))
        if said == (item.tags[name].strip() if is_paper else padded(item.tags[name]))
    ]
    if not names:
        return ""
    letters = []
    for one, own in zip(people, zip(*names, strict=True), strict=True):
        # Variants may differ in capitals or commas only, which say nothing.
        letters.append(CLOSED if not one.is_open else own[0] if len(set(own)) == 1 else UNREAD)
    return "".join(letters)


def _read_one(person: Person, text: str, code: str, by: str) -> Reading:
    """The first way that finds anything decides."""
    words = padded(text)
    found = [[term[side] for term in person.terms if term[side] in words] for side in (0, 1)]
    if found[0] or found[1]:
        both = [*found[0], *found[1]]
        return Reading(_letter(*found), "key words", _shown(both), _places(text, both))
    if by == "keywords":
        return Reading(UNREAD)
    cut = language_of(code).cut(text)
    units = set(units_of(cut))
    feminine, masculine = (sorted(known & units) for known in _units(person.pairs, code))
    if feminine or masculine:
        both_units = [*feminine, *masculine]
        evidence = tuple(" ".join(unit) for unit in both_units)
        return Reading(
            _letter(feminine, masculine), "differing words", evidence, spans_of(text, places_of(both_units, cut))
        )
    if person.occupation:
        seen = bundled_finder(code).find(text, person.occupation)
        letter = {Gender.FEMININE: FEMININE, Gender.MASCULINE: MASCULINE}.get(seen.gender or Gender.NEUTRAL, UNREAD)
        letter = MIXED if seen.reason == "both" else letter
        if letter != UNREAD:
            return Reading(letter, "lexicon", seen.evidence, seen.spans(text))
    return Reading(UNREAD)


def _letter(feminine: Sequence[object], masculine: Sequence[object]) -> str:
    return MIXED if feminine and masculine else FEMININE if feminine else MASCULINE


def _shown(found: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term.strip() for term in found))


def _places(text: str, found: Sequence[str]) -> tuple[Span, ...]:
    """Where padded terms stand in a text; nothing for the rare text whose letters change in number."""
    blank = blanked(text)
    if not found or len(blank) != len(text):
        return ()
    spans, words = split_spans(blank), blank.split()
    places = set()
    for term in map(str.split, dict.fromkeys(found)):
        for start in range(len(words) - len(term) + 1):
            if words[start : start + len(term)] == term:
                places.add((spans[start][0], spans[start + len(term) - 1][1]))
    return tuple(sorted(places))
