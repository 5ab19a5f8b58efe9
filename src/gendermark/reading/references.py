"""The gender that a translation shows of the people whose gender its source specifies, given two references that differ
in it.

`target` finds mentions of people and assigns them. The references add: a word specific to one of them is about the
person, a word common to both is not, and words near their differences probably are.

Evidence is weighted. `SURE`: a word of the person, by the reader or a reference. `LIKELY`: possibly someone else's.
`FAINT`: by number or neighbours more likely someone else's; counts only if there is nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from gendermark.languages.language import unknown_noun
from gendermark.reading.contrast import Contrast, Unit
from gendermark.reading.gendered import Entry, GenderedWords
from gendermark.reading.nouns import is_person
from gendermark.reading.people import SourcePerson
from gendermark.reading.target import NOUNS, Mention, Reading, assign, read_translation
from gendermark.reading.words import Place
from gendermark.records import Gender

_WORD = re.compile(r"[^\W\d_]+")
SURE, LIKELY, FAINT = 2, 1, 0
_LETTERS = {Gender.MASCULINE: "m", Gender.FEMININE: "f"}
_PRONOUNS = frozenset({"he", "him", "his", "himself", "she", "her", "hers", "herself"})
_THINGS = frozenset({"it", "its", "itself"})
_SEVERAL = frozenset({"they", "them", "their", "theirs", "themselves"})
_RENDERING = 0.15
"""With fewer words in common, only reference words are trusted; real systems have above 0.2."""
_WORDS = r"(?: (?!(?:of|from|by|for|with|to|that|who|which)\b)[\w-]+)"
_NOUN_PHRASE = rf"(?:{_WORDS}{{1,3}},){{0,3}}{_WORDS}{{0,3}}(?:,? (?:and|or)(?: an?)?{_WORDS}{{0,2}})? $"
_PREDICATE = re.compile(
    r"(?:\b|['’])(?:as|m|am|is|was|were|be|been|being|becom\w+|became|remained|elected|named|appointed|"
    rf"(?:role|position|post|persona|title|part|rank) of)(?: an?| the)?{_NOUN_PHRASE}",
    re.I,
)
"""What precedes a predicate noun in the source."""
_REPEATED = re.compile(r"\b(the|this)(?: [\w-]+){0,3} $", re.I)
"""What precedes a noun that may be that of a person mentioned before."""
_NEAR = 2
"""Words this close to a difference between the references belong to it."""
_REACH = 4
"""Maximum number of words between "as" or "is" and its noun."""
_POSTS = 6
"""Maximum number of words between "the post of" and the last of several posts."""
_SURE_FIT = 1.5
"""From this score on, the reader has found the person's noun."""
_PERSON = 0.8
"""From this similarity on, a noun denotes people."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Words[start:end] show a gender, correct or wrong."""

    place: Place
    is_right: bool
    weight: int


def letter_of(gender: Gender | None) -> str:
    return _LETTERS.get(gender, "") if gender else ""


def decide(found: Iterable[Evidence]) -> tuple[str, list[Evidence]]:
    found = list(found)
    told = [one for one in found if one.weight > FAINT] or found
    right, wrong = ([one for one in told if one.is_right is side] for side in (True, False))
    # Likely evidence does not contradict sure evidence.
    if any(one.weight == SURE for one in right):
        wrong = [one for one in wrong if one.weight == SURE]
    elif any(one.weight == SURE for one in wrong):
        right = []
    outcome = "mixed" if right and wrong else "correct" if right else "wrong" if wrong else "undecided"
    return outcome, sorted([*right, *wrong], key=lambda one: one.place)


def gender_of_references(contrast: Contrast, lists: GenderedWords) -> str:
    """Gender of the correct reference, by the words specific to either."""
    balance = 0
    for units, sign in ((contrast.right, 1), (contrast.wrong, -1)):
        for unit in units:
            told = _gender_of_unit(unit, lists)
            balance += sign * (told == "f") - sign * (told == "m")
    return "f" if balance > 0 else "m" if balance < 0 else ""


def _gender_of_unit(unit: Sequence[str], lists: GenderedWords) -> str | None:
    for word in unit:
        if word in lists.told:
            return lists.told[word].gender
    if len(unit) > 1:
        return lists.articles.get(unit[0])
    return lists.participle(unit[0]) or ("m" if unit[0] in lists.habit else None)


def _has_phrase(words: Sequence[str], phrase: Sequence[str]) -> bool:
    return any(tuple(words[n : n + len(phrase)]) == tuple(phrase) for n in range(len(words) - len(phrase) + 1))


@dataclass
class Weighing:
    """One translation against its references."""

    reading: Reading
    source: str
    people: Sequence[SourcePerson]
    expected: str
    """"m", "f", or "" if unknown: then only words of the references count."""
    contrast: Contrast
    reference: str

    def __post_init__(self) -> None:
        self.words, self.lists = self.reading.words, self.reading.lists
        self.units = self.contrast.right | self.contrast.wrong
        genders = [letter_of(person.gender) for person in self.people]
        self.marked = {n for n, gender in enumerate(genders) if gender and gender == self.expected}
        self.against = {n for n, gender in enumerate(genders) if gender and n not in self.marked}
        self.is_open = not any(genders)
        if not self.marked:
            is_spoken = any(one.kind == "speaker" for one in self.people)
            self.marked = {
                n
                for n, one in enumerate(self.people)
                if not one.gender
                # A text in the first person is about its speaker: "I'm your neighbor".
                and (self._may_be_speaker(one) if is_spoken else one.kind in ("noun", "name"))
            }
        self.is_one = not any(self.people[n].plural for n in self.marked)
        self.marked |= self._marked_by_reference()
        found, _ = assign(self.source, self.people, self.reading, with_roles=False)
        self.owners = {mention.at: n for n, mentions in found.items() for mention in mentions}
        own = [mention for mentions in found.values() for mention in mentions]
        own += [mention for mention in self.reading.mentions if mention.at not in self.owners]
        self.mentions = sorted(own, key=lambda mention: mention.at)
        self.heads = {mention.at: mention for mention in own if mention.kind in ("noun", "pronoun")}
        said = frozenset(_WORD.findall(self.source.lower()))
        self.has_pronouns, self.names_things, self.names_several = (
            not said.isdisjoint(words) for words in (_PRONOUNS, _THINGS, _SEVERAL)
        )
        written = _WORD.findall(self.source.partition(" ")[2])
        self.names = frozenset(word.lower() for word in written if word[0].isupper())

    def _marked_by_reference(self) -> set[int]:
        """People whose gender the source leaves open and only the references show, if they can be the marked person:
        "she trained as a detective", "the detective", a name, but not "a player" or "her colleagues"."""
        people = {n for n, one in enumerate(self.people) if not one.gender and self._may_be_marked(one)}
        reading = read_translation(self.reference, self.reading.code) if people and self.expected else None
        if reading is None or len(reading.words) != len(self.contrast.right_words):
            return set()
        found, _ = assign(self.source, self.people, reading, with_roles=False)
        places = {n: {at for one in found.get(n, ()) for place in one.places for at in range(*place)} for n in people}
        return {n for n in people if not self.contrast.places.isdisjoint(places[n])}

    def _may_be_speaker(self, person: SourcePerson) -> bool:
        return person.kind == "speaker" or _PREDICATE.search(self.source[: person.start]) is not None

    def _may_be_marked(self, person: SourcePerson) -> bool:
        before = self.source[: person.start]
        if person.kind != "noun" or _PREDICATE.search(before):
            return person.kind in ("noun", "name")
        repeated = _REPEATED.search(before)
        return repeated is not None and (not person.plural or repeated[1] != "the")

    @cached_property
    def near(self) -> frozenset[int]:
        """Positions that correspond to the differences between the references.

        Words shared with a reference are anchors; what lies between two anchors corresponds.
        """
        reference, differing = self.contrast.right_words, self.contrast.places
        found: set[int] = set()
        blocks = SequenceMatcher(None, reference, self.words, autojunk=False).get_opcodes()
        for _, first, last, start, end in blocks:
            if not any(place in differing for place in range(first - _NEAR, last + _NEAR)):
                continue
            if last - first != end - start:
                found.update(range(start, end))
                continue
            for place, at in zip(range(first, last), range(start, end), strict=True):
                if any(place + n in differing for n in range(-_NEAR, _NEAR + 1)):
                    found.add(at)
        return frozenset(found)

    def evidence(self, only_references: bool = False) -> list[Evidence]:
        """All evidence; or only reference words that are not pronouns."""
        covered = set[int]()
        skipped = {
            place
            for start, word in enumerate(self.words)
            for phrase in self.lists.phrases.get(word, ())
            if tuple(self.words[start : start + len(phrase)]) == phrase
            for place in range(start, start + len(phrase))
        }
        found: list[Evidence] = []
        common = set(self.words) & set(self.contrast.right_words)
        is_rendering = len(common) >= _RENDERING * len(set(self.words))
        if self.expected and is_rendering and not only_references:
            for mention in self.mentions:
                if mention.at not in skipped:
                    found += self._of_mention(mention, covered)
            if not any(label.kind for label in self.reading.labels):
                found += self._verbs(covered | skipped)
        for at, word in enumerate(self.words):
            told = self.lists.look_up(word).told
            if only_references and told is not None and told.kind in ("pronoun", "owner"):
                continue
            for units, is_right in ((self.contrast.right, True), (self.contrast.wrong, False)):
                end = next((end for end in (at + 1, at + 2) if tuple(self.words[at:end]) in units), at)
                is_read = not (covered | skipped).isdisjoint(range(at, end))
                if end == at or is_read or (only_references and end > at + 1):
                    continue
                weight = self._weight_of_unit(at, end, is_right)
                if weight is not None:
                    found.append(Evidence((at, end), is_right, weight))
        return found

    def _of_mention(self, mention: Mention, covered: set[int]) -> Iterator[Evidence]:
        """Evidence of a mention; marks its words as `covered`, including reference words in them."""
        if not mention.gender:
            is_of_another = self.owners.get(mention.at, -1) not in {-1, *self.marked}
            if is_of_another and (self.words[mention.at],) not in self.units:
                covered.add(mention.at)
            return
        covered.update(at for place in mention.places for at in range(*place))
        covered.add(mention.at)
        in_right, in_wrong = (self._has_unit(mention, units) for units in (self.contrast.right, self.contrast.wrong))
        is_right = mention.gender == self.expected
        if not (in_right or in_wrong) and self._is_inflected(
            mention, self.contrast.right if is_right else self.contrast.wrong
        ):
            in_right, in_wrong = is_right, not is_right
        if in_right != in_wrong and in_right != is_right:
            if not self.is_open and mention.places == ((mention.at, mention.at + 1),):
                return  # the lists contradict the references: "Princes Street"
            is_right = in_right if self.is_open else is_right  # references are more reliable than an ending
        weight = self._weight(mention, is_right, in_right if is_right else in_wrong)
        if weight is not None:
            yield Evidence((min(mention.places)[0], max(mention.places)[1]), is_right, weight)

    def _verbs(self, covered: set[int]) -> Iterator[Evidence]:
        """Verbs that show gender, for languages without a tagger, if the references specify the person."""
        for at, word in enumerate(self.words):
            told = self.lists.look_up(word).told
            gender = told.gender if told and told.kind == "verb" else self.lists.verb(word)
            is_read = at in covered or (word,) in self.units or self._is_shared(at, at + 1)
            if gender and at in self.near and not is_read and (subject := self._subject(at)) != "other":
                yield Evidence((at, at + 1), gender == self.expected, SURE if subject == "person" else LIKELY)

    def _is_verb(self, at: int, entry: Entry) -> bool:
        return entry.told.kind == "verb" if entry.told else self.lists.verb(self.words[at]) is not None

    def _subject(self, at: int) -> str:
        start = at
        while start and not self.reading.starts[start]:
            start -= 1
        return self.reading.language.verb_subject(self.words, start, at)

    # -- how surely a word is the person's -----------------------------------------------------------------------------

    def _weight(self, mention: Mention, is_right: bool, is_unit: bool) -> int | None:
        at, who = mention.at, self.owners.get(mention.at)
        if who in self.against:
            return None
        if not is_right and self._is_of_a_fixed_noun(at):
            return None
        if not is_unit and all(self._is_shared(*place) for place in mention.places):
            return None
        is_one = not self.people[who].plural if who is not None and who in self.marked else self.is_one
        has_no_number = mention.kind in ("pronoun", "owner")
        is_group = is_one and (mention.number == "p" or (not has_no_number and self._is_plural(at)))
        if mention.kind == "pronoun":
            return self._weight_of_pronoun(mention, is_right, is_unit, is_group)
        if mention.kind == "owner":
            return self._weight_of_owner(mention, is_right, is_unit)
        if mention.kind == "noun":
            return self._weight_of_noun(mention, is_right, is_unit, is_group)
        if is_unit:
            return FAINT if is_group else self._weight_of_unit(at, at + 1, is_right)
        if is_group or who not in {None, *self.marked}:
            return None
        is_near, is_own = at in self.near, who in self.marked
        if mention.kind == "predicate":
            if not is_right and self._is_impersonal(at):
                return None
            return SURE if is_own and is_near else LIKELY if is_near or is_own else FAINT if is_right else None
        return LIKELY if is_own or (is_near and (is_right or self.reading.starts[at])) else None

    def _has_unit(self, mention: Mention, units: frozenset[Unit]) -> bool:
        words = self.words
        start, end = min(mention.places)[0], max(mention.places)[1]
        last = mention.at + 1 if start <= mention.at else end
        first = start if self.reading.language.has_articles else max(start - 1, 0)  # "के लेखक"
        pairs = (tuple(words[at : at + 2]) in units for at in range(first, last))
        return any((words[at],) in units for at in range(start, end)) or any(pairs)

    def _is_inflected(self, mention: Mention, units: frozenset[Unit]) -> bool:
        """Whether a noun is only in this reference, in another case: «императрица» for «императрицу»."""
        ending, at = self.reading.language.case_ending, mention.at
        stem = ending.sub("", self.words[at])
        if (
            mention.kind != "noun"
            or self.reading.labels[at].kind != "NOUN"
            or len(stem) < 4
            or self._is_shared(at, at + 1)
        ):
            return False
        return any(ending.sub("", word) == stem for word, *more in units if not more)

    def _weight_of_pronoun(self, mention: Mention, is_right: bool, is_unit: bool, is_group: bool) -> int | None:
        is_own, is_near = self.owners.get(mention.at) in self.marked, mention.at in self.near
        if is_group:
            return FAINT if is_unit or is_own else None
        if is_right:
            return SURE if is_own or is_unit else LIKELY if is_near or mention.likeness >= _PERSON else None
        if self.names_things or self.against or (mention.number == "p" and not is_unit):
            return LIKELY if is_unit or (is_own and is_near) else None
        has_tagger = bool(self.reading.labels[mention.at].kind)
        return SURE if is_unit or is_own else LIKELY if is_near and has_tagger else None

    def _weight_of_owner(self, mention: Mention, is_right: bool, is_unit: bool) -> int | None:
        if not self.has_pronouns and not (self.is_open and is_unit):
            return None
        if not is_unit and self.owners.get(mention.at) not in self.marked:
            return FAINT if is_right else None
        is_doubtful = self.names_things or self.names_several or self.words[mention.at] in self.lists.its
        return (LIKELY if is_doubtful else SURE) if is_right else FAINT if is_doubtful else LIKELY

    def _weight_of_noun(self, mention: Mention, is_right: bool, is_unit: bool, is_group: bool) -> int | None:
        at, word = mention.at, self.words[mention.at]
        entry = self.lists.look_up(word)
        who = self.owners.get(at)
        is_own, is_near = who in self.marked, at in self.near
        kind, is_form = entry.told.kind if entry.told else "", any(start <= at < end for start, end in mention.places)
        if self._is_name(at) and (not kind or not is_person(word)) and mention.places == ((at, at + 1),):
            return None
        if not is_right and word in self.lists.habit:  # "un médecin": beside "elle" it is conventional
            return LIKELY if is_unit else None
        articles = [self.reading.language.singular.get(one) for one in self.words[max(at - 2, 0) : at]]
        if kind == "norm" and not (is_own and not is_right and "m" in articles):
            return LIKELY if is_right and is_own else FAINT if is_unit or is_own else None
        reach = _POSTS if self.reading.language.prefixes else 1  # "and" is attached
        if not is_right and not self.lists.posts.isdisjoint(self.words[max(at - reach, 0) : at]):  # «منصب رئيس»
            return None  # a post, not its holder
        language = self.reading.language
        serves_for_women = is_form and language.bare_epicene is not unknown_noun and not language.has_articles
        if not is_right and mention.gender == "m" and serves_for_women and kind != "noun":  # «она работает учителем»
            return FAINT if is_unit or is_own else None
        if not is_own and not kind and not entry.is_common and at and self.words[at - 1] in self.lists.possessives:
            return None  # "sua surpresa", beside "surpreso" of a reference
        if self._names_a_thing(mention):
            return None
        if is_own:
            states_sex = kind == "noun" and entry.told is not None and entry.told.gender == mention.gender
            is_sure = mention.likeness >= _SURE_FIT or is_unit or states_sex or (kind and self._is_introduced(at))
            return FAINT if is_group else SURE if is_sure else LIKELY
        if is_unit:
            return FAINT if is_group else SURE if who is None else LIKELY
        if who is not None or not is_near or is_group or mention.likeness < 1 or not (kind or entry.is_common):
            return None
        return SURE if kind and self._is_introduced(at) else LIKELY

    def _names_a_thing(self, mention: Mention) -> bool:
        """Whether a noun only looks like a person's: "o Lady Stewart Trust", "banca examinadora"."""
        at, inside = mention.at, range(min(mention.places)[0], mention.at)
        if any(
            (told := self.lists.look_up(self.words[n]).told) and told.kind == "noun" and told.gender != mention.gender
            for n in inside
        ):
            return True
        is_attribute = at > 0 and not self.reading.starts[at] and self.reading.language.adjectives_follow
        return is_attribute and not inside and self._is_thing(at - 1)

    def _weight_of_unit(self, at: int, end: int, is_right: bool) -> int | None:
        last, label = self.lists.look_up(self.words[end - 1]), self.reading.labels[at]
        is_pair = end - at == 2
        if self._is_name(at) or last.is_fixed or label.kind == "ADV" or (not is_right and self._is_of_a_fixed_noun(at)):
            return None
        if label.kind == "ADJ" and self.reading.language.nouns_are_capitalised:  # "der einzige Mann"
            noun = next((self.heads[n] for n in (end, end + 1) if n in self.heads), None)
            if noun is not None and noun.gender:
                return None
        if is_pair and self.words[at] in self.lists.possessives and not last.is_common:
            return None
        if not label.kind and self.words[at] in self.lists.possessives:  # "अपनी दादी", but not "अपनी शैली"
            behind = self.lists.look_up(self.words[end]).told if end < len(self.words) else None
            phrase = self.words[max(at - 1, 0) : at + 2]
            references = (self.contrast.right_words, self.contrast.wrong_words)
            return FAINT if behind or any(_has_phrase(words, phrase) for words in references) else None
        if not label.kind and self._is_verb(at, last) and self._subject(at) == "other":
            return FAINT
        if (not is_pair and (last.is_silent or last.is_common)) or (last.told and last.told.kind == "norm"):
            return LIKELY if is_right else FAINT
        if self._is_of_a_thing(at, end) or (self.is_one and self._is_plural(end - 1)):
            return FAINT
        if is_pair:
            standalone = self.reading.language.standalone
            if at > 0 and self.words[at - 1] in self.lists.copulas and self.words[at] in standalone:
                return SURE  # "fue uno de los soldados"
            return SURE if not label.kind and self._is_verb(at, self.lists.look_up(self.words[at])) else LIKELY
        return SURE if is_right or self._is_surely_own(at, last) else LIKELY

    # -- the words around ----------------------------------------------------------------------------------------------

    def _is_shared(self, start: int, end: int) -> bool:
        """Whether both references have these words; a single word as often as the translation."""
        phrase, contrast = self.words[start:end], self.contrast
        if len(phrase) == 1:
            least = min(contrast.right_words.count(phrase[0]), contrast.wrong_words.count(phrase[0]))
            return least > 0 and self.words.count(phrase[0]) <= least
        return _has_phrase(contrast.right_words, phrase) and _has_phrase(contrast.wrong_words, phrase)

    def _is_name(self, at: int) -> bool:
        word = self.words[at]
        return word in self.names and word not in self.lists.titles and self.reading.is_capital(at)

    def _is_plural(self, at: int) -> bool:
        word, label = self.words[at], self.reading.labels[at]
        if told := self.lists.look_up(word).told:
            return told.is_plural
        if label.number or label.kind in ("PRON", "DET"):
            return label.number == "p" and label.kind not in ("PRON", "DET")
        return len(word) > 3 and word.endswith(self.reading.language.plural_endings)

    def _is_introduced(self, at: int) -> bool:
        """Whether a noun is a predicate: "como jugador", "fue un jugador"."""
        for place in range(at - 1, max(at - 1 - _REACH, -1), -1):
            if self.reading.starts[place + 1]:
                return False
            if self.words[place] in self.lists.introducing:
                return True
            if self.reading.labels[place].kind == "ADP":
                return False
        return False

    def _is_of_a_fixed_noun(self, at: int) -> bool:
        """Whether a word agrees with a preceding noun of fixed gender: "membro fundador"."""
        if not at or self.reading.starts[at] or not self.reading.language.adjectives_follow:
            return False
        before = self.words[at - 1]
        return before in self.lists.habit or self.lists.look_up(before).is_fixed

    def _is_impersonal(self, at: int) -> bool:
        """Whether a pronoun of the expected gender precedes a predicate of the other: "le è stato chiesto"."""
        place = at - 1
        while place > 0 and (self.words[place] in self.lists.copulas or self.words[place] in self.lists.adverbs):
            place -= 1
        word = self.words[place] if place >= 0 else ""
        told = self.lists.look_up(word).told
        gender = told.gender if told and told.kind == "pronoun" else self.lists.clitics.get(word)
        return gender == self.expected

    def _is_of_a_thing(self, at: int, end: int) -> bool:
        """Whether a determiner or adjective belongs to a noun that denotes no person."""
        reading, labels = self.reading, self.reading.labels
        kind = labels[at].kind
        if kind not in ("ADJ", "DET", "NUM"):
            return False
        behind = end - 1 if labels[end - 1].kind in NOUNS else end
        while behind < min(end + 2, len(labels)) and labels[behind].kind == "ADJ" and not reading.starts[behind]:
            behind += 1
        places = [behind, at - 1] if kind == "ADJ" and reading.language.adjectives_follow else [behind]
        return any(
            0 <= place < len(labels)
            and not any(reading.starts[min(place, at) + 1 : max(place, at) + 1])
            and (self._is_thing(place) or self.owners.get(place, -1) not in {-1, *self.marked})
            for place in places
        )

    def _is_thing(self, at: int) -> bool:
        noun = self.heads.get(at)
        if noun is None or noun.kind != "noun" or self.reading.labels[at].kind != "NOUN":
            return False
        is_own = self.owners.get(at) in self.marked or (self.words[at],) in self.units
        return noun.likeness < _PERSON and not is_own

    def _is_surely_own(self, at: int, entry: Entry) -> bool:
        """Whether a word of the wrong reference refers to the person: adjacent to a word of theirs, or their
        predicate."""
        kind = self.reading.labels[at].kind
        if not kind:  # verbs, adjectives and clitics may refer to things
            return entry.told is not None and entry.told.kind != "verb"
        if kind not in ("ADJ", "VERB", "AUX"):
            return True
        place = at - 1
        while place >= 0 and not self.reading.starts[place + 1]:
            mention = self.heads.get(place)
            if mention and (mention.kind == "pronoun" or self.reading.labels[place].kind in NOUNS):
                return self.owners.get(place) in self.marked or (self.words[place],) in self.units
            if place and self.reading.is_capital(place):
                return False
            place -= 1
        return kind != "ADJ" and at in self.near and not self.reading.starts[at]
