"""The gender that a translation shows for each person of its source.

First, mentions of people are found in the translation: nouns with determiners and adjectives, pronouns, and predicates
without a noun as subject. Each source mention gets the best match: a translation in the lexicon, a similar word, a noun
for people, the same number, a similar position. The gender shown by these mentions (noun, determiner, adjective,
participle, verb, pronoun) is the answer. If none fits, or two fit equally well and differ, the answer is unclear.
docs/validity.md has the conventions, and accuracy for each language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache, cached_property, lru_cache
from itertools import chain
from typing import Literal, NamedTuple

from gendermark.languages.folders import language_of, rows_of
from gendermark.languages.language import unknown_noun
from gendermark.languages.speaking import reader_of
from gendermark.reading.gendered import GenderedWords
from gendermark.reading.nouns import is_person, plain, singular
from gendermark.reading.occupations import Occurrence, Readings, bundled_finder
from gendermark.reading.people import PLACEHOLDER, SourcePerson
from gendermark.reading.profiles import function_words
from gendermark.reading.tagger import tagger
from gendermark.reading.words import Place, Span, names_both, spans_of, word_spans
from gendermark.records import Gender

State = Literal["shown", "not_shown", "unclear"]
_LETTER: dict[str, str] = {Gender.MASCULINE: "m", Gender.FEMININE: "f"}
_NAMES = {"m": "masculine", "f": "feminine"}
_BREAKS = frozenset(',;:.!?()[]–—«»"“”„…')
NOUNS = ("NOUN", "PROPN")
_ADJECTIVES = ("ADJ", "VERB")
_ANY = frozenset({"singular", "plural"})
_REACH = 8
"""Maximum distance of a predicate from its subject, in words."""
_PERSON = 0.8
"""From this similarity on, a noun denotes people."""
_FAR = 0.5
"""Minimum score of such a noun: word order is free."""
_CLOSE = 0.15
"""Mentions whose scores differ by less fit equally well."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The gender that a translation shows of one person."""

    gender: str | None
    """"masculine", "feminine" or "mixed"; None unless shown."""
    state: State
    evidence: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Mention:
    """A person in the translation, or a candidate."""

    at: int
    """Position of its head."""
    kind: str
    """`noun`, `pronoun`, `owner` (a possessive that shows whose), `indefinite` ("algunas"), `predicate` after a
    copula, or `loose` for other words that agree with nothing near."""
    gender: str
    """"m", "f", or "" if not shown."""
    places: tuple[Place, ...]
    likeness: float
    """Certainty that it is a person: 1 for a listed noun, near 0 for a thing."""
    number: str = ""
    """"s", "p" or "" if unknown."""


def target_of(
    source: str, people: Sequence[SourcePerson], translation: str, language: str, least: float = 0.0
) -> list[Shown]:
    """The gender that a translation shows for each of these people, in order.

    Mentions with a score below `least` are left out.
    """
    reading = read_translation(translation, language)
    found, unclear = assign(source, people, reading)
    kept = [[one for one in found.get(number, ()) if one.likeness >= least] for number in range(len(people))]
    return [_shown(reading, mentions, number in unclear) for number, mentions in enumerate(kept)]


def keeps_gender(source: str, people: Sequence[SourcePerson], translation: str, language: str) -> bool | None:
    """Whether a translation shows the specified gender of everybody; None if it shows that of nobody.

    A noun that is not found does not keep its gender.
    """
    told = [
        (shown, person.gender.value)
        for person, shown in zip(people, target_of(source, people, translation, language), strict=True)
        if person.gender and (shown.gender or (person.nouns and shown.state == "unclear"))
    ]
    return all(shown.gender == gender for shown, gender in told) if told else None


def _shown(reading: Reading, mentions: Sequence[Mention], is_unclear: bool) -> Shown:
    """Nouns outrank pronouns, which may refer to somebody else; a noun and a pronoun that differ are both shown."""
    if not mentions:
        return Shown(None, "unclear" if is_unclear else "not_shown")
    told = [mention for mention in mentions if mention.gender]
    if any(mention.gender == "f" for mention in told):  # «представилась представителем» is about a woman
        told = [one for one in told if one.gender == "f" or not reading.serves_for_women(one)]
    nouns, pronouns = ([one for one in told if one.kind == kind] for kind in ("noun", "pronoun"))
    if nouns and reading.language.has_articles:
        pronouns = [one for one in pronouns if one.number != "p"]  # "they" may be things: "les armées ... elles"
    if nouns and pronouns and {one.gender for one in nouns} != {one.gender for one in pronouns}:
        # «она работает учителем»: if masculine nouns are used for women, there is no contradiction.
        told = nouns + pronouns if reading.language.bare_epicene is unknown_noun else pronouns
    else:
        told = nouns or pronouns or [one for one in told if one.kind != "owner"] or told
    if not told:
        return Shown(None, "not_shown", spans_of(reading.text, [place for one in mentions for place in one.places]))
    genders = {mention.gender for mention in told}
    evidence = spans_of(reading.text, [place for mention in told for place in mention.places])
    return Shown(_NAMES[genders.pop()] if len(genders) == 1 else "mixed", "shown", evidence)


# -- the translation ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def read_translation(text: str, code: str) -> Reading:
    return Reading(text, code)


_PLACEHOLDER = re.compile(rf"[\"'‘’‚“”„«»]?\s?(?:{PLACEHOLDER.pattern})(?:\s?[\"'‘’“”«»])?")
"""With its quotation marks: "Benutzer „%s“ gelöscht" reads as "Benutzer gelöscht"."""


@cache
def _lists(code: str) -> GenderedWords:
    return GenderedWords(language_of(code))


def _is_thing(readings: Readings | None) -> bool:
    """Whether the lexicon has a word only as what is confused with a person: "salon" for a hairdresser."""
    return bool(readings) and all(gender == "other" for gender, _ in readings or ())


def _one(genders: str | None) -> str:
    """The only gender of a word; "" for words of both or none."""
    return genders if genders in ("m", "f") else ""


class Label(NamedTuple):
    """Class, gender and number of a word, as in `tagger`; "a" for people and animals."""

    kind: str = ""
    gender: str = ""
    number: str = ""
    animate: str = ""


class Reading:
    """One translation: words, labels and mentions of people."""

    def __init__(self, written: str, code: str) -> None:
        self.written, self.code = written, code
        self.text = _PLACEHOLDER.sub(lambda match: " " * len(match[0]), written)
        """Without placeholders."""
        self.language = language_of(code)
        self.finder = bundled_finder(code)
        self.lists = _lists(code)
        self.words = self.language.cut(self.text)
        self.spans = word_spans(self.text)

    @cached_property
    def labels(self) -> list[Label]:
        model = tagger(self.code)
        if model is None:
            return [Label()] * len(self.words)
        written: list[str] = []
        places: list[int] = []
        end = 0
        for start, behind in self.spans:
            if mark := self.text[end:start].strip():
                written.append(mark[0])
            places.append(len(written))
            word = self.text[start:behind]
            # A sentence-initial capital is uninformative and misleads the tagger.
            is_first = not written or written[-1] in ".!?"
            written.append(word.lower() if is_first and not self.language.nouns_are_capitalised else word)
            end = behind
        found = model.labels(written)
        labels = [Label(*(part.strip("-") for part in found[place].split("."))) for place in places]
        is_verb = self.language.verb_ending.fullmatch
        return [Label("VERB") if is_verb(word) else label for word, label in zip(self.words, labels, strict=True)]

    @cached_property
    def starts(self) -> list[bool]:
        found, end = [], 0
        for start, behind in self.spans:
            found.append(end == 0 or not _BREAKS.isdisjoint(self.text[end:start]))
            end = behind
        return found

    def is_capital(self, at: int) -> bool:
        return self.text[self.spans[at][0]].isupper()

    @cached_property
    def mentions(self) -> list[Mention]:
        found = [mention for at in range(len(self.words)) if (mention := self._mention(at))]
        heads = {mention.at for mention in found}
        return found + [mention for at in range(len(self.words)) if (mention := self._predicate(at, heads))]

    def _mention(self, at: int) -> Mention | None:
        word, label = self.words[at], self.labels[at]
        entry = self.lists.look_up(word)
        told = entry.told
        if told is not None and told.kind in ("pronoun", "owner"):
            return Mention(at, told.kind, told.gender, ((at, at + 1),), 0.8, "p" if told.is_plural else "s")
        if clitic := self._clitic(at):
            return Mention(at, "pronoun", clitic, ((at, at + 1),), 0.5)
        if gender := self.language.standalone.get(word, ""):
            is_determiner = word in self.language.singular or word in self.language.plural
            # "chacune", "quelques-uns" are never determiners.
            if (self.language.has_articles and not is_determiner) or self._stands_alone(at):
                return Mention(at, "indefinite", gender, ((at, at + 1),), 0.6, label.number)
        is_listed = entry.is_common or entry.is_silent or entry.is_fixed
        known = self.finder.forms.get(word)
        is_listed = is_listed or (known is not None and not _is_thing(known))
        is_listed = is_listed or (told is not None and told.kind in ("noun", "role", "norm"))
        is_listed = is_listed or _is_in_list(self.code, word)
        is_agent = label.kind in _ADJECTIVES and self.language.agent_ending.fullmatch(word) is not None
        if (label.kind in NOUNS or is_listed or is_agent) and self._can_be_a_noun(at, is_listed or is_agent):
            return self.noun(at, is_listed)
        if not self._stands_alone(at):
            return None
        is_determined = at > 0 and self._is_determiner(at - 1)
        if label.kind in _ADJECTIVES and len(word) > 2 and (is_determined or self.language.is_nominal(word)):
            return self.noun(at, is_listed=False)
        is_pronoun = label.kind in ("PRON", "DET", "NUM") or len(word) > 3
        gender = self._agreement(at) if is_pronoun and not self.language.nouns_are_capitalised else ""
        if gender in ("m", "f") and len(word) > 1:
            return Mention(at, "indefinite", gender, ((at, at + 1),), 0.6, label.number)
        return None

    def _clitic(self, at: int) -> str:
        """An object pronoun before a verb or attached to it: "la conduce", "verla"."""
        word, lists = self.words[at], self.lists
        if word in lists.clitics and at + 1 < len(self.words) and lists.finite.fullmatch(self.words[at + 1]):
            return lists.clitics[word] if self.labels[at + 1].kind in ("VERB", "AUX") else ""
        return (lists.enclitic(word) or "") if self.labels[at].kind == "VERB" and self.language.has_articles else ""

    def _can_be_a_noun(self, at: int, is_listed: bool) -> bool:
        kind = self.labels[at].kind
        if self.language.nouns_are_capitalised:
            return self.is_capital(at) and (is_listed or kind not in ("ADP", "DET", "PRON", "ADV"))
        if self.words[at] in function_words(self.code) or self._agreement(at):
            return False
        is_second = kind == "NOUN" and at > 0 and self.labels[at - 1].kind == "ADJ"  # "titres nationaux australiens"
        if (kind == "ADJ" or is_second) and self.language.has_articles and self._follows_a_noun(at):
            return False  # "tratamento médico"
        told = self.lists.look_up(self.words[at]).told
        return kind in NOUNS or (is_listed and (told is not None or kind not in ("AUX", "ADV", "DET", "ADP")))

    def _follows_a_noun(self, at: int) -> bool:
        """Whether a noun stands before an adjective, or before the adjectives before it."""
        while at and not self.starts[at] and not self._is_determiner(at - 1):
            at -= 1
            if self.labels[at].kind != "ADJ":
                return self.labels[at].kind == "NOUN"
        return False

    def _is_determiner(self, at: int) -> bool:
        word = self.words[at]
        return word in self.language.singular or word in self.language.plural or self.labels[at].kind == "DET"

    def _agreement(self, at: int) -> str:
        return _one(self.language.agreement(self.words[at], _ANY))

    def _is_finite(self, at: int) -> bool:
        label, word = self.labels[at], self.words[at]
        is_verb = label.kind in ("VERB", "AUX") and not self.language.is_nominal(word)
        return is_verb and (not label.gender or self.lists.verb(word) is not None)

    def _stands_alone(self, at: int) -> bool:
        """Whether no adjacent noun can govern a word."""
        for behind in range(at + 1, min(at + 4, len(self.words))):
            if self.starts[behind] or self._is_finite(behind):
                break
            if self.labels[behind].kind == "DET" and not self.language.has_articles:
                break  # «у верующего свой опыт»: another phrase
            if self.labels[behind].kind in NOUNS:
                return False
            if self.labels[behind].kind not in (*_ADJECTIVES, "DET", "NUM", "ADV"):
                break
        before = at - 1
        while before > 0 and self.labels[before].kind == "ADV" and not self.starts[before]:
            before -= 1  # "un pueblo muy pequeño"
        if not at or any(self.starts[before + 1 : at + 1]) or self.words[before] in function_words(self.code):
            return True
        return self.labels[before].kind not in NOUNS

    def noun(self, at: int, is_listed: bool) -> Mention:
        language, word, label = self.language, self.words[at], self.labels[at]
        known = self.finder.forms.get(word)
        if known and not any(gender == "other" for gender, _ in known):
            finding = self.finder.read(self.words, Occurrence(at, at + 1, known))
        elif label.number:
            number = "plural" if label.number == "p" else "singular"
            finding = self.finder.read(self.words, Occurrence(at, at + 1, frozenset({("epicene", number)})))
            if finding.reason != "agreement" and not (at and len(self.words[at - 1]) == 1):  # "a adultos"
                finding = self.finder.read_unknown(self.words, at, at + 1)
        else:
            finding = self.finder.read_unknown(self.words, at, at + 1)
        agreeing = _LETTER.get(finding.gender, "") if finding.gender and finding.reason == "agreement" else ""
        form, is_sure = self._form(at, label.number)
        own: tuple[Place, ...] = ((at, at + 1),)
        gender, places = form, own
        if sex := self._sex(at):
            gender, places = sex
        elif self.lists.look_up(word).is_fixed or names_both(word):
            gender, places = "", own
        elif language.nouns_are_capitalised and (form == "f" or label.number == "p" or word.endswith("innen")):
            pass  # "den Lehrerinnen", "die Freunde": the article of the plural is that of others
        elif form == "m" and not agreeing and (beside := self._beside(at)) and beside[0] == "f":
            if any(self._is_determiner(place) for place, _ in beside[1]):  # "le ingegnere", not "nommée gouverneur"
                gender, places = beside
        elif agreeing and (not form or not is_sure or (form == "m" and agreeing == "f")):  # "os sauditas", "la piloto"
            gender, places = agreeing, finding.places
        elif not form:
            inflected = label.gender if label.kind in _ADJECTIVES and language.has_articles else ""  # "les sourdes"
            gender, places = self._beside(at) or self._behind(at) or (inflected, own)
        has_ending = language.person_ending.fullmatch(word) or language.agent_ending.fullmatch(word)
        is_person = self.lists.agent(word) or label.animate or has_ending
        likeness = 1.0 if is_listed else 0.8 if is_person else 0.4
        if not is_listed and (language.is_thing(word) or _is_thing(known) or (language.has_animacy and not is_person)):
            likeness = 0.1
        if not is_listed and label.kind == "PROPN" and not language.nouns_are_capitalised:
            likeness -= 0.2
        told = self.lists.look_up(word).told
        number = label.number or ("p" if told and told.is_plural else "")
        return Mention(at, "noun", gender, places, likeness, number)

    def as_plural(self, mention: Mention) -> Mention:
        """A German noun in the plural, whatever its article: "meine Freunde"."""
        form, _ = self._form(mention.at, "p")
        if self._sex(mention.at) or (not form and mention.number == "p"):
            return mention
        return replace(mention, gender=form, places=((mention.at, mention.at + 1),), number="p")

    def serves_for_women(self, mention: Mention) -> bool:
        """Whether a masculine noun is also used for women, in languages with such nouns."""
        is_common = self.lists.look_up(self.words[mention.at]).is_common
        return mention.kind == "noun" and is_common and self.language.bare_epicene is not unknown_noun

    def _form(self, at: int, number: str) -> tuple[str, bool]:
        """The gender shown by the form of a noun for people, and whether it is listed."""
        word, language = self.words[at], self.language
        entry = self.lists.look_up(word)
        if word in self.lists.homographs:
            return "", False
        if entry.told and entry.told.kind in ("noun", "role", "norm"):
            return entry.told.gender, True
        if entry.is_fixed or names_both(word):
            return "", False
        if self.lists.paired.fullmatch(word):
            return "m", True
        if genders := {gender for gender, _ in self.finder.forms.get(word, ())}:
            return (_LETTER.get(genders.pop(), ""), True) if len(genders) == 1 else ("", False)
        if entry.is_common or entry.is_silent:
            return "", False
        found = language.person_noun(word, number) if language.person_noun else language.noun(word)
        # A suffix certainly shows a woman; a final -a does not.
        is_suffix = found == "f" and (language.nouns_are_capitalised or not language.has_articles)
        return (found, is_suffix) if found in ("m", "f") else ("", False)

    def as_name(self, mention: Mention, name: str) -> Mention:
        """A mention that is a name: surrounding words show a gender, its letters do not."""
        at = mention.at
        if self.language.nouns_are_capitalised and self.words[at].endswith("s") and not name.endswith("s"):
            return replace(mention, gender="", places=((at, at + 1),))  # a genitive: "dem Enkel Noahs"
        before = at - 1
        while before > 0 and not self.starts[before + 1] and self.is_capital(before):
            before -= 1  # first names
        for place in (at - 1, before):
            if place >= 0 and not any(self.starts[place + 1 : at + 1]):
                told = self.lists.look_up(self.words[place]).told
                gender = told.gender if told and told.kind in ("noun", "role") else self._agreement(place)
                if gender and (told or self._is_determiner(place)) and self.language.has_articles:
                    return replace(mention, gender=gender, places=((place, at + 1),))
        gender, places = self._behind(at) or ("", ((at, at + 1),))
        return replace(mention, gender=gender, places=places)

    def _sex(self, at: int) -> tuple[str, tuple[Place, ...]] | None:
        """A word beside a noun that names the sex: "weibliche Abgeordnete", "mujer policía"."""
        for place in (at - 1, at - 2, at + 1):
            if 0 <= place < len(self.words) and not any(self.starts[min(place, at) + 1 : max(place, at) + 1]):
                word = self.words[place]
                is_next = abs(place - at) == 1
                gender = (self.language.sexes.get(word) or self.lists.sexes.get(word)) if is_next else None
                for stem, letter in self.language.sex_stems:
                    gender = letter if word.startswith(stem) else gender
                if gender in ("m", "f"):
                    return gender, ((min(place, at), max(place, at) + 1),)
        return None

    def _beside(self, at: int) -> tuple[str, tuple[Place, ...]] | None:
        """What determiners and adjectives beside a common noun show."""
        if self.language.nouns_are_capitalised:
            return None
        found: dict[int, str] = {}
        adjectives = _ADJECTIVES if self.language.has_articles else ("ADJ",)  # Russian verbs show gender too
        place = at - 1
        while place >= max(at - 4, 0) and not self.starts[place + 1]:
            label = self.labels[place]
            if label.kind not in (*adjectives, "DET", "NUM", "ADV") and not self._is_determiner(place):
                break
            is_determiner = self._is_determiner(place)
            if any(map(self._is_determiner, found)) and not is_determiner:
                break  # "importazione annullata dall'utente"
            found[place] = self._agreement(place) if is_determiner else self._inflected(place)
            if label.kind == "DET" and not self.language.has_articles:  # «мой коллега»
                found[place] = label.gender
            if self.labels[at].gender == "m" and self.language.ambiguous_adjective.fullmatch(self.words[place]):
                found[place] = ""
            place -= 1
        place = at + 1
        while place < min(at + 3, len(self.words)) and not self.starts[place]:
            label = self.labels[place]
            if label.kind not in (*_ADJECTIVES, "ADV") or not self.language.has_articles:
                break
            found[place] = self._inflected(place)
            place += 1
        genders = {gender for gender in found.values() if gender in ("m", "f")}
        if len(genders) != 1:
            return None
        return genders.pop(), tuple((place, place + 1) for place, one in sorted(found.items()) if one in ("m", "f"))

    def _behind(self, at: int) -> tuple[str, tuple[Place, ...]] | None:
        """What the predicate after a subject shows: "les contestataires ont été retirées", «Вуллс был принят»."""
        number = self.labels[at].number
        first = at
        while first and not self.starts[first] and self._is_determiner(first - 1):
            first -= 1
        if first and not self.starts[first] and (self.labels[first - 1].kind == "ADP" or self._agreement(first - 1)):
            return None  # "la condotta di Fouché fu improntata"
        copula = False
        for place in range(at + 1, min(at + 1 + _REACH, len(self.words))):
            label, word = self.labels[place], self.words[place]
            if self.starts[place] and not copula:
                return None
            is_modifier = label.kind == "ADJ" and not self.language.has_articles and not self._stands_alone(place)
            gender = "" if is_modifier else self._predicated(place)
            if gender and (copula or not self.language.has_articles) and label.number in ("", number or "s"):
                return gender, ((place, place + 1),)
            if word in self.lists.copulas:
                copula = True
            elif (copula and word not in self.lists.adverbs and label.kind != "ADV") or (
                label.kind == "VERB" and self.language.has_articles
            ):
                return None
        return None

    def _predicate(self, at: int, heads: set[int]) -> Mention | None:
        """An adjective, participle or past tense whose clause names no subject."""
        label = self.labels[at]
        gender = self._predicated(at)
        if not gender or at in heads or self.language.nouns_are_capitalised or self._is_active(at):
            return None
        kind = "predicate" if self._is_predicated(at, heads) else "loose"
        if not self._stands_alone(at) and (kind == "loose" or label.kind == "ADJ"):
            return None
        return Mention(at, kind, gender, ((at, at + 1),), 0.5, label.number)

    def _is_predicated(self, at: int, heads: set[int]) -> bool:
        """Whether a word is a verb, or follows a copula, in a clause without a nominal subject."""
        lists, place = self.lists, at - 1
        if not self.language.has_articles:
            place = at
        else:
            while place >= 0 and self.words[place] in lists.adverbs and self.words[place] not in lists.copulas:
                place -= 1
            if place < 0 or self.words[place] not in lists.copulas:
                return False
        while place > 0 and not self.starts[place]:
            place -= 1
            is_noun = place in heads and self.labels[place].kind == "NOUN" and not self._is_oblique(place)
            if is_noun or self.words[place] in lists.neuter:  # "questo è sottolineato"
                return False
        return True

    def _is_active(self, at: int) -> bool:
        """Whether a participle is that of a perfect with "have", which does not agree with its subject."""
        place = at - 1
        while place > 0 and self.words[place] in self.lists.adverbs:
            place -= 1
        return place >= 0 and self.words[place] in self.lists.perfect and self.labels[at].kind != "ADJ"

    def _is_oblique(self, at: int) -> bool:
        """Whether a preposition governs a noun, so that it is no subject: "nel giugno 2016 è diventata"."""
        place = at - 1
        while place > 0 and not self.starts[place] and self.labels[place].kind in ("DET", "ADJ", "NUM"):
            place -= 1
        return self.language.has_articles and place >= 0 and self.labels[place].kind == "ADP"

    def _predicated(self, at: int) -> str:
        """The gender of an adjective, participle or past tense; "" for other words."""
        label, word = self.labels[at], self.words[at]
        if label.kind not in ("ADJ", "VERB", "AUX"):
            return ""
        number = "plural" if label.number == "p" else "singular"
        return _one(self._inflected(at) or self.lists.participle(word) or self.language.adjective(word, number))

    def _inflected(self, at: int) -> str:
        """The gender of an adjective or participle; where its ending contradicts the tagger, that of the ending."""
        label, word = self.labels[at], self.words[at]
        if not label.gender or not self.language.has_articles or self.language.nouns_are_capitalised or len(word) < 4:
            return label.gender
        by_ending = "f" if word.endswith(("a", "as")) else "m" if word.endswith(("o", "os")) else label.gender
        if by_ending != label.gender and not self.lists.look_up(word).is_common:
            is_known = at > 0 and word not in self.lists.no_participles  # "Abilita utente" begins with a verb
            return by_ending if is_known else ""
        is_for_both = label.number == "s" and self.language.ambiguous_adjective.fullmatch(word)
        return "" if is_for_both else label.gender

    def spoken(self, kind: str) -> list[Mention]:
        readers = [reader_of(self.code, kind), reader_of(self.code, "speakers") if kind == "speaker" else None]
        found = []
        for cue in (cue for reader in readers if reader for cue in reader.cues(self.written)):
            start, end = cue.token.span
            places = [at for at, span in enumerate(self.spans) if span[0] < end and start < span[1]]
            if places and cue.gender in _LETTER and not names_both(self.words[places[0]]):
                place = places[0], places[-1] + 1
                found.append(Mention(places[0], "predicate", _LETTER[cue.gender], (place,), 1.0))
        return found


# -- who is who --------------------------------------------------------------------------------------------------------

_KINDS = {
    **dict.fromkeys(("he", "she", "him", "her", "himself", "herself"), "third"),
    **dict.fromkeys(("his", "hers"), "owner"),
    **dict.fromkeys(("they", "them", "themselves"), "they"),
}
_OF_HER = re.compile(
    r"her (?!(?:and|as|at|by|for|from|how|in|into|on|or|out|over|that|the|to|up|what|when|who|with|a|an)\b)\w", re.I
)


class _Asked(NamedTuple):
    """A mention of a person in the source."""

    person: int
    span: Span
    kind: str
    head: str
    noun: str
    plural: bool


def _asked(source: str, people: Sequence[SourcePerson]) -> Iterator[_Asked]:
    for number, person in enumerate(people):
        kind: str = person.kind
        if kind == "pronoun":
            kind = _kind(source, person.start, person.end).replace("they", "group") or "group"
        yield _Asked(number, (person.start, person.end), kind, person.head, person.noun, person.plural)
        words = [person.head] if kind in ("speaker", "addressee") else person.text.lower().split()[:-1]
        if kind in ("speaker", "addressee", "name") and (nouns := list(filter(is_person, words))):
            # "You are a visitor", "Empress Dowager Yan"
            yield _Asked(number, (person.start, person.end), "role", nouns[0], nouns[0], person.plural)
        for start, end in person.mentions:
            if (start, end) == (person.start, person.end):
                continue
            if kind := _kind(source, start, end):
                yield _Asked(number, (start, end), kind, "", "", person.plural)
            elif person.kind == "noun" and source[start:end].istitle():  # "the spokeswoman, Maria Lopez"
                name = source[start:end].lower().removesuffix("'s")
                yield _Asked(number, (start, end), "name", name.split()[-1], name, person.plural)
            elif is_person(head := singular(re.split(r"[\s-]", source[start:end].lower())[-1])):
                yield _Asked(number, (start, end), "role", head, head, person.plural)


def _kind(source: str, start: int, end: int) -> str:
    is_possessive = _OF_HER.match(source, start) is not None and end - start == len("her")
    return "owner" if is_possessive else _KINDS.get(source[start:end].lower(), "")


def assign(
    source: str, people: Sequence[SourcePerson], reading: Reading, *, with_roles: bool = True
) -> tuple[dict[int, list[Mention]], set[int]]:
    """The mentions of each person, and the people with uncertain mentions: the best pairs first, each mention once.

    `with_roles`: also by further nouns of a person, "the lawyer" in "Anna is the lawyer".

    A noun that is not found is uncertain too; pronouns are often omitted in translation.
    """
    asked = [one for one in _asked(source, people) if with_roles or one.kind != "role"]
    unclear = {one.person for one in asked if one.kind in ("noun", "name")}
    mentions = [*reading.mentions, *_mislabelled(asked, reading)]
    scores = [[_score(source, one, reading, mention) for mention in mentions] for one in asked]
    is_person = [mention.kind == "noun" and mention.likeness >= _PERSON for mention in mentions]
    order = sorted(
        (
            (score, row, column)
            for row, found in enumerate(scores)
            for column, score in enumerate(found)
            if score > (-_FAR if asked[row].kind == "noun" and is_person[column] else 0)
        ),
        key=lambda one: (-one[0], one[1], one[2]),
    )
    found: dict[int, list[Mention]] = {}
    done: set[int] = set()
    taken: set[int] = set()
    for score, row, column in order:
        if row in done or column in taken:
            continue
        done.add(row)
        rivals = (
            mentions[other].gender != mentions[column].gender
            for other, rival in enumerate(scores[row])
            if other != column and other not in taken and rival > score - _CLOSE
            if is_person[other] or not is_person[column]
        )
        if score < 1 and asked[row].kind != "name" and any(rivals):
            unclear.add(asked[row].person)
            continue
        taken.add(column)
        mention = mentions[column]
        if asked[row].kind == "name" and mention.likeness < 1:
            mention = reading.as_name(mention, asked[row].noun)
        elif mention.kind == "noun" and asked[row].plural and reading.language.nouns_are_capitalised:
            mention = reading.as_plural(mention)
        found.setdefault(asked[row].person, []).append(replace(mention, likeness=score))
    # The only noun of the source that was not found is the only one left in the translation, wherever it stands.
    rows = [row for row, one in enumerate(asked) if one.kind == "noun" and row not in done]
    left = [
        one for column, one in enumerate(mentions) if one.kind == "noun" and one.likeness >= 1 and column not in taken
    ]
    if len(rows) == len(left) == 1:
        found.setdefault(asked[rows[0]].person, []).append(left[0])
    for one in asked:
        if one.kind not in ("speaker", "addressee"):
            continue
        unclear.discard(one.person)
        # Adjectives elsewhere in the text are more often of things: "más antiguos que el tiempo seleccionado".
        found[one.person] = reading.spoken(one.kind) or [
            mention for mention in found.get(one.person, ()) if mention.kind == "noun"
        ]
    return found, unclear


def _mislabelled(asked: Sequence[_Asked], reading: Reading) -> Iterator[Mention]:
    """Translations of a person's noun that the tagger takes for no noun: "Utente eliminato"."""
    nouns = {mention.at for mention in reading.mentions if mention.kind == "noun"}
    for one in asked:
        if one.kind not in ("noun", "role"):
            continue
        found = [
            at
            for at, word in enumerate(reading.words)
            if at in nouns or word not in function_words(reading.code)
            if _is_translation(one, reading, word) >= 1
            # no adjective before its noun: «контактное лицо»
            if [label.kind for label in reading.labels[at : at + 2]] != ["ADJ", "NOUN"]
        ]
        if nouns.isdisjoint(found):
            nouns.update(found)
            yield from (reading.noun(at, is_listed=True) for at in found)


def _score(source: str, one: _Asked, reading: Reading, mention: Mention) -> float:
    start, end = reading.spans[mention.at]
    expected = sum(one.span) / 2 / max(len(source), 1)
    distance = abs(expected - (start + end) / 2 / max(len(reading.text), 1))
    score = mention.likeness - (1.5 if mention.kind in ("noun", "indefinite") else 0.7) * distance
    if mention.number and (mention.number == "p") != one.plural:
        score -= 0.3
    if one.kind in ("they", "group") and mention.kind == "pronoun" and mention.number != "p":
        return -1.0  # German "sie" shows nothing; French "il" may be nobody
    if one.kind == "third" and mention.kind == "loose":
        is_object = source[slice(*one.span)].lower() not in ("he", "she")
        if is_object or not (reading.starts[mention.at] or reading.labels[mention.at].kind == "VERB"):
            return -1.0  # "mostra affetto"
    if one.kind == "speaker" and one.plural and mention.number == "s":
        return -1.0
    if one.kind not in ("noun", "name", "role"):
        return score + _FITS[one.kind].get(mention.kind, -2.0)
    if mention.kind != "noun":
        return score - (0.6 if mention.kind == "indefinite" else 2)
    word = reading.words[mention.at]
    translation = _is_translation(one, reading, word)
    if one.kind != "name":
        is_capital = reading.language.has_animacy and reading.is_capital(mention.at) and not reading.starts[mention.at]
        label = reading.labels[mention.at]
        is_place = is_capital and label.kind == "PROPN" and not label.animate  # «Океании»
        # "religion" for a religionist
        if is_place or (translation < 0.9 and reading.language.is_thing(word)):
            translation = 0.0
    if (one.kind == "name" and not translation) or (one.kind == "role" and translation < 0.8):
        return -1.0
    if mention.likeness < 1 and _names_a_thing(source, one, word):
        score -= 0.8
    if mention.likeness < 0.8 and not translation and one.noun in _stems(reading.code):
        score -= 0.3
    return score + 2 * translation


_FITS = {
    "third": {"pronoun": 0.4, "predicate": 0.3, "owner": -0.2, "loose": -0.1},
    "owner": {"owner": 0.4},
    "they": {"pronoun": 0.2},
    "group": {"noun": -0.5, "pronoun": 0.3, "indefinite": 0.4, "predicate": 0.1, "loose": 0.0},
    "speaker": {"noun": -1.0, "indefinite": -0.3, "predicate": 0.4, "loose": 0.3},
    "addressee": {"noun": -1.0, "indefinite": -0.3, "predicate": 0.4, "loose": 0.3},
}
"""Score of a target mention for a source mention that is no noun."""


@cache
def _listed(code: str) -> dict[str, list[str]]:
    """The words that translate an English noun."""
    normalise = language_of(code).normalise
    return {row["english"]: [*map(normalise, row["words"].split())] for row in rows_of(code, "people.tsv")}


@cache
def _stems(code: str) -> dict[str, list[str]]:
    return {
        noun: [word[: -2 if len(word) > 6 else -1] if len(word) > 3 else word for word in words]
        for noun, words in _listed(code).items()
    }


@cache
def _uninflected(code: str) -> frozenset[str]:
    """The listed translations without a final vowel."""
    words = chain.from_iterable(_listed(code).values())
    return frozenset(re.sub("[aeoьяй]$", "", word) for word in words if len(word) > 4)


@lru_cache(maxsize=65_536)
def _is_in_list(code: str, word: str) -> bool:
    longest = 2 if language_of(code).has_articles else 3
    return any(word[: len(word) - n] in _uninflected(code) for n in range(longest + 1))


_LONGEST_ENDING = 6


def has_translation(noun: str, text: str, language: str) -> bool | None:
    """Whether a text contains a listed translation of an English noun; None if none is listed."""
    head = singular(noun.lower().split()[-1])
    if head not in _stems(language):
        return None
    reading = read_translation(text, language)
    return any(_is_translation(_Asked(0, (0, 0), "noun", head, head, False), reading, word) for word in reading.words)


def _is_translation(one: _Asked, reading: Reading, word: str) -> float:
    """Certainty that a word translates a person's noun: by our lists, or by spelling."""
    for noun in (one.noun, one.head):
        if word in reading.finder.words_of(noun):
            return 1.0
        for stem in _stems(reading.code).get(noun, ()):
            if word.startswith(stem) and len(word) - len(stem) <= (_LONGEST_ENDING if one.kind == "noun" else 4):
                return 1.0
            if reading.language.has_compounds and len(stem) > 3 and stem in word[3:]:
                return 0.9
    return _likeness(one.head, word)


@lru_cache(maxsize=65_536)
def _likeness(english: str, word: str) -> float:
    one, other = plain(english.lower()), plain(word).translate(_LATIN)
    if word[:1] in _CYRILLIC:
        for letters, sound in _SPELLINGS:
            one = one.replace(letters, sound)
    if min(len(one), len(other)) < 4 or not {one[0], other[0]} & {other[0], "c", "k", "q"}:
        return 0.0
    match = SequenceMatcher(None, one, other, autojunk=False)
    if match.real_quick_ratio() < 0.65 or match.quick_ratio() < 0.65:
        return 0.0
    ratio = match.ratio()
    return ratio if ratio > 0.65 else 0.0


_WORD = re.compile(r"[^\W\d_]{4,}")


def _names_a_thing(source: str, one: _Asked, word: str) -> bool:
    """Whether a noun is more similar to another source word than to the person's."""
    own = _likeness(one.head, word)
    others = _WORD.findall(f"{source[: one.span[0]]} {source[one.span[1] :]}")
    return any(_likeness(other.lower(), word) > own for other in others)


_CYRILLIC = "абвгдежзийклмнопрстуфхцчшщыэюя"
_SPELT = "oo=u ee=i ea=i ph=f th=t w=v y=i x=ks j=dzh ck=k"
"""English letters as names are transcribed: "Woolf" as «Вулф»."""
_SPELLINGS = [pair.split("=") for pair in _SPELT.split()]
_SOUNDS = "a b v g d e zh z i i k l m n o p r s t u f h ts ch sh sch i e yu ya"
_LATIN = str.maketrans({**dict(zip(_CYRILLIC, _SOUNDS.split(), strict=True)), "ь": "", "ъ": ""})
