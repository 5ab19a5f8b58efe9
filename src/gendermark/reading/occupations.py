"""Occupation nouns in the target languages, and the gender that a translation gives to the person.

The lexicon of a language is `languages/CODE/lexicon.tsv`: occupation (English), gender, number, forms. Gender is that
of the person the forms can denote:

- `masculine`, `feminine`: the form shows it ("profesor", "profesora");
- `epicene`: a common form, agreeing words show it ("el/la artista", «врач»);
- `masculine-only`, `feminine-only`: the grammatical gender is fixed and, like agreeing words, says nothing about the
person ("la guardia" for any guard); words that agree against it, or name the sex, do;
- `other`: a lookalike to be ignored ("la música", a phrase of another trade).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import chain, islice

from gendermark.data.bundled import core_lines
from gendermark.languages.folders import language_of, lines_of
from gendermark.languages.language import Clue, Clues, Language, WordCache
from gendermark.reading.words import Place, Span, names_both, spans_of, without_other_ending
from gendermark.records import Gender

_LETTERS = {"m": Gender.MASCULINE, "f": Gender.FEMININE}


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of a lexicon: the forms (case forms, spelling variants) of one noun in one number."""

    occupation: str
    gender: str
    number: str
    forms: tuple[str, ...]
    """The citation form first."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The gender that a translation shows of one occupation's holder."""

    gender: Gender | None
    reason: str
    """`form` or `agreement` when decided; else `absent`, `epicene` (no agreeing word) or `both`."""
    evidence: tuple[str, ...]
    """The deciding words as read: normalised, without duplicates, those of one mention joined."""
    places: tuple[Place, ...] = ()
    """Their positions among the words of the text."""

    def spans(self, text: str) -> tuple[Span, ...]:
        """Positions of the deciding words in the original text.

        In text order, without overlaps. Each piece of evidence has a span, from its first word to its last; a word that
        decided in two positions has two.
        """
        return spans_of(text, self.places)


@cache
def lexicon(code: str) -> tuple[Entry, ...]:
    rows = (line.split("\t") for line in lines_of(code, "lexicon.tsv")[1:])
    return tuple(
        Entry(occupation, gender, number, tuple(forms.split("|"))) for occupation, gender, number, forms in rows
    )


@cache
def core_occupations() -> tuple[tuple[str, str, int], ...]:
    """(occupation, English plural, percent of women among its holders) of the core sets."""
    rows = [line.split("\t") for line in core_lines("occupations.tsv")]
    return tuple((occupation, plural, int(percent)) for occupation, plural, percent in rows[1:])


Readings = frozenset[tuple[str, str]]
"""The genders and numbers that a form can have."""


class _Forms:
    """The forms of one occupation, prepared for search."""

    def __init__(self) -> None:
        self.words: dict[str, Readings] = {}
        """Single-word forms."""
        self.phrases: dict[str, dict[tuple[str, ...], Readings]] = {}
        """Forms of several words, by first word, longest first."""

    def add(self, words: tuple[str, ...], readings: Readings) -> None:
        first = words[0]
        if len(words) == 1:
            known = self.words.get(first)
            self.words[first] = readings if known is None else known | readings
        else:
            phrases = self.phrases.setdefault(first, {})
            phrases[words] = phrases.get(words, readings) | readings

    @cached_property
    def first_words(self) -> Set[str]:
        return self.words.keys() | self.phrases.keys()

    def starting_with(self, word: str) -> Iterator[tuple[tuple[str, ...], Readings]]:
        yield from self.phrases.get(word, {}).items()
        if word in self.words:
            yield (word,), self.words[word]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A form of an occupation at words[start:end], and the (gender, number) readings it can have."""

    start: int
    end: int
    readings: Readings

    @property
    def place(self) -> Place:
        return self.start, self.end

    @property
    def is_other(self) -> bool:
        return any(gender == "other" for gender, _ in self.readings)


_MOST_FOUND = 20_000


class OccupationFinder:
    """Finds forms of occupations in text, and the gender that they and their agreeing words express."""

    def __init__(self, entries: Iterable[Entry], language: Language) -> None:
        self.language = language
        # Order checks look at texts before they are judged, often the same ones.
        self._found = lru_cache(_MOST_FOUND)(self._find)
        self._prefixes = frozenset(language.prefixes)
        self._prefix_lengths = sorted({len(prefix) for prefix in language.prefixes}, reverse=True)
        self._stems = WordCache(self._stems_of)
        # Nearly all words around a noun are a few hundred determiners and adjectives.
        self._agreement = lru_cache(_MOST_FOUND)(language.agreement)
        self._adjective = lru_cache(_MOST_FOUND)(language.adjective)
        self._forms: dict[str, _Forms] = defaultdict(_Forms)
        # Phrases of any occupation by first word: a longer one of another trade hides a shorter one inside it
        # ("consejero delegado" is no counselor).
        self._phrases: dict[str, dict[int, set[tuple[str, ...]]]] = defaultdict(lambda: defaultdict(set))
        entries = list(entries)
        cut = iter(language.cut_all([form for entry in entries for form in entry.forms]))
        for entry in entries:
            forms, readings = self._forms[entry.occupation], frozenset({(entry.gender, entry.number)})
            for words in islice(cut, len(entry.forms)):
                forms.add(words, readings)
                if len(words) > 1:
                    self._phrases[words[0]][len(words)].add(words)
        # Nouns of fixed gender can denote anybody, even if the lexicon does not list them there ("una persona").
        self._fixed: dict[str, Readings] = {}
        for forms in self._forms.values():
            for first, phrases in forms.phrases.items():
                forms.phrases[first] = dict(sorted(phrases.items(), key=lambda form: -len(form[0])))
            for word, found in forms.words.items():
                if all(gender.endswith("-only") for gender, _ in found):
                    self._fixed[word] = found

    def knows(self, occupation: str) -> bool:
        return occupation in self._forms

    def words_of(self, occupation: str) -> Set[str]:
        return self._forms[occupation].first_words if occupation in self._forms else frozenset()

    @cached_property
    def forms(self) -> dict[str, Readings]:
        """Forms of one word, of any occupation."""
        found: dict[str, Readings] = {}
        for forms in self._forms.values():
            for word, readings in forms.words.items():
                found[word] = found.get(word, frozenset()) | readings
        return found

    def find(self, text: str, occupation: str) -> Finding:
        """The gender that a translation gives to the holder of this occupation, over all its mentions."""
        return self._found(text, occupation)

    def _find(self, text: str, occupation: str) -> Finding:
        words = self.language.cut(text)
        reached: dict[Gender, list[Place]] = {}
        undecided: list[Place] = []
        reason = "form"
        for occurrence in self.occurrences(words, occupation):
            occurrence = self._told_by_determiner(words, occurrence)
            by_form = {gender for gender, _ in occurrence.readings}
            agreeing = self._agreeing(words, occurrence)
            told = _agreed(agreeing)
            if by_form <= {"masculine"} or by_form <= {"feminine"}:
                gender = Gender(next(iter(by_form)))
                reached.setdefault(gender, []).append(occurrence.place)
                # "la ingeniero": noun and article contradict each other, which speaks for neither
                if told and told is not gender:
                    reached.setdefault(told, []).extend(clue.place for clue in agreeing)
            elif told and ("epicene" in by_form or by_form >= {"masculine", "feminine"}):
                reason = "agreement"
                reached.setdefault(told, []).extend([*(clue.place for clue in agreeing), occurrence.place])
            else:
                undecided.append(occurrence.place)
        if not reached:
            evidence = tuple(_shown(words, place) for place in undecided)
            return Finding(None, "epicene" if undecided else "absent", evidence, tuple(undecided))
        places = tuple(place for found in reached.values() for place in found)
        evidence = tuple(dict.fromkeys(_shown(words, place) for place in places))
        if len(reached) == 1:
            return Finding(next(iter(reached)), reason, evidence, places)
        return Finding(None, "both", evidence, places)

    def read(self, words: Sequence[str], occurrence: Occurrence) -> Finding:
        """The grammatical gender of one mention, as a reader understands it.

        Unlike `find`, this uses only what the mention shows: a feminine article makes a masculine form a woman ("la
        mecánico": nobody writes it by habit), and a common noun without agreeing words is neutral, unless the language
        reads it as masculine («врач»). So is a noun of fixed gender ("die Wache"), unless a word agrees against that
        gender or names the sex ("la víctima fue atacado", "weibliche Person").
        """
        if names_both(words[occurrence.end - 1]):
            return _by_mention(words, occurrence, Gender.NEUTRAL, "epicene")
        occurrence = self._told_by_determiner(words, occurrence)
        by_form = {gender for gender, _ in occurrence.readings}
        agreeing = self._agreeing(words, occurrence)
        if by_form in ({"masculine-only"}, {"feminine-only"}):
            return self._read_fixed(words, occurrence, agreeing)
        by_form = {gender.removesuffix("-only") for gender in by_form}
        told = _agreed(agreeing)
        if by_form == {"feminine"} or (by_form == {"masculine"} and told is not Gender.FEMININE):
            return _by_mention(words, occurrence, Gender(*by_form), "form")
        if told:
            return _by_mention(words, occurrence, told, "agreement", agreeing)
        default = self.language.bare_epicene(words[occurrence.end - 1])
        return _by_mention(words, occurrence, _LETTERS.get(default or "", Gender.NEUTRAL), "epicene")

    def _read_fixed(self, words: Sequence[str], occurrence: Occurrence, agreeing: Clues) -> Finding:
        """A noun of fixed gender: the sex named beside it, or shown by agreement against the noun."""
        start, end = occurrence.place
        gender, number = max(occurrence.readings)  # a form of both numbers is read as one person
        against = "f" if gender == "masculine-only" else "m"
        beside = [at for at in (start - 1, end) if 0 <= at < len(words)]
        named = [Clue(at, self.language.sexes[words[at]]) for at in beside if words[at] in self.language.sexes]
        by_sense = agreeing + self.language.by_sense(words, start, end, number)
        found = named or [clue for clue in by_sense if clue.agreement == against]
        if told := _agreed(found):
            return _by_mention(words, occurrence, told, "agreement", found)
        return _by_mention(words, occurrence, Gender.NEUTRAL, "epicene")

    def read_unknown(self, words: Sequence[str], start: int, end: int) -> Finding:
        """The gender of a mention absent from the lexicon: by agreeing words, then its ending."""
        if words[end - 1] in self._fixed:
            return self.read(words, Occurrence(start, end, self._fixed[words[end - 1]]))
        occurrence = Occurrence(start, end, frozenset({("epicene", "singular"), ("epicene", "plural")}))
        agreeing = self._agreeing(words, occurrence)
        if told := _agreed(agreeing):
            return _by_mention(words, occurrence, told, "agreement", agreeing)
        ending = "mf" if names_both(words[end - 1]) else self.language.noun(words[end - 1])
        gender = Gender.NEUTRAL if ending == "mf" else _LETTERS.get(ending or "")
        return _by_mention(words, occurrence, gender, "ending" if gender else "unknown")

    def occurrences(self, words: Sequence[str], occupation: str) -> list[Occurrence]:
        """Mentions of an occupation, from left to right; the longest of overlapping forms."""
        return [found for found in self._forms_in(words, occupation) if not found.is_other]

    def passed_over(self, words: Sequence[str], occupation: str) -> set[int]:
        """Positions of words that look like this occupation but are not."""
        others = (found for found in self._forms_in(words, occupation) if found.is_other)
        return {position for found in others for position in range(found.start, found.end)}

    def _forms_in(self, words: Sequence[str], occupation: str) -> list[Occurrence]:
        forms = self._forms.get(occupation)
        if forms is None:
            return []
        first_words, stems_of = forms.first_words, self._stems
        both = {}
        if not all(map(str.isalpha, words)):
            both = {word: alone for word in words if (alone := without_other_ending(word))}
        if both:
            starts = [start for start, word in enumerate(words) if both.get(word, word) in first_words]
        elif self._prefixes:
            starts = [start for start, word in enumerate(words) if not first_words.isdisjoint(stems_of[word])]
        else:
            starts = [start for start, word in enumerate(words) if word in first_words]
        found: list[Occurrence] = []
        free = 0
        for start in starts:
            if start < free:
                continue
            base = both.get(words[start])
            stems = (base,) if base else stems_of[words[start]]
            for form, readings in chain.from_iterable(map(forms.starting_with, stems)):
                end = start + len(form)
                if base:  # "chirurgien·ne"
                    readings = frozenset(("epicene", number) for _, number in readings)
                if tuple(words[start + 1 : end]) == form[1:]:
                    if self._is_hidden(words, start, end, forms):
                        break
                    found.append(Occurrence(start, end, readings))
                    free = end
                    break
        return found

    def _is_hidden(self, words: Sequence[str], start: int, end: int, own: _Forms) -> bool:
        """Whether words[start:end] begin a longer phrase of another occupation, and none of this one's own."""
        first = words[start]
        if first not in self._phrases:
            return False
        longer = [
            phrase
            for length, phrases in self._phrases[first].items()
            if length > end - start and (phrase := tuple(words[start : start + length])) in phrases
        ]
        return bool(longer) and not any(phrase in own.phrases.get(first, {}) for phrase in longer)

    def _stems_of(self, word: str) -> tuple[str, ...]:
        """Possible first words of a form: the word, and its remainder without clitics."""
        return (word, *(word[n:] for n in self._prefix_lengths if word[:n] in self._prefixes))

    def _told_by_determiner(self, words: Sequence[str], occurrence: Occurrence) -> Occurrence:
        """Drop the readings excluded by a preceding determiner: "le infermiere" is no masculine singular."""
        if len(occurrence.readings) == 1 or not occurrence.start:
            return occurrence
        word = words[occurrence.start - 1]
        tables = {"singular": self.language.singular, "plural": self.language.plural}
        if not any(word in tables[number] for _, number in occurrence.readings):
            return occurrence
        kept = frozenset(
            (gender, number)
            for gender, number in occurrence.readings
            if word in tables[number] and (gender[0] not in "mf" or gender[0] in tables[number][word])
        )
        return replace(occurrence, readings=kept) if kept else occurrence

    def _agreeing(self, words: Sequence[str], occurrence: Occurrence) -> Clues:
        """Determiners and adjectives around an occurrence, with the genders they agree with."""
        language, start, end = self.language, occurrence.start, occurrence.end
        numbers = frozenset(number for _, number in occurrence.readings)
        number = next(iter(numbers)) if len(numbers) == 1 else "singular"
        found: Clues = []
        for position in range(start - 1, max(start - 4, -1), -1):
            word = words[position]
            if (agreement := self._agreement(word, numbers)) is not None:
                found.append(Clue(position, agreement))
                break
            if (agreement := self._adjective(word, number)) is not None:
                found.append(Clue(position, agreement))
            elif word not in language.transparent:
                break
        if language.adjectives_follow and end < len(words):
            agreement = self._adjective(words[end], number)
            if agreement is not None and words[end] not in language.transparent:
                found.append(Clue(end, agreement))
        found.extend(language.clues(words, start, end, number))
        return found


def _shown(words: Sequence[str], place: Place) -> str:
    return " ".join(words[place[0] : place[1]])


def _by_mention(
    words: Sequence[str], mention: Occurrence, gender: Gender | None, reason: str, agreeing: Sequence[Clue] = ()
) -> Finding:
    """What one mention shows, alone or with its agreeing words."""
    places = [clue.place for clue in agreeing]
    evidence = (*dict.fromkeys(_shown(words, place) for place in places), _shown(words, mention.place))
    return Finding(gender, reason, evidence, (*places, mention.place))


def _agreed(agreeing: Iterable[Clue]) -> Gender | None:
    """The only gender that all agreeing words allow; None without any word, or if they contradict each other."""
    told = [{_LETTERS[letter] for letter in clue.agreement} for clue in agreeing]
    common = set.intersection(*told) if told else set()
    return common.pop() if len(common) == 1 else None


@cache
def bundled_finder(code: str) -> OccupationFinder:
    return OccupationFinder(lexicon(code), language_of(code))


@cache
def citation_forms(language: str) -> Mapping[tuple[str, str, str], str]:
    """(occupation, gender, number) -> the first citation form of the lexicon."""
    forms: dict[tuple[str, str, str], str] = {}
    for entry in lexicon(language):
        forms.setdefault((entry.occupation, entry.gender, entry.number), entry.forms[0])
    return forms
