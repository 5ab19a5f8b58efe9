"""People in an English text: mentions, coreference, and the gender that words specify.

A mention is a noun for people, a name or a pronoun, found in the parse and in the word lists of `languages/en`.
Mentions are joined by grammar (apposition, "X is a Y", relative pronouns), by repeated names, and, for he, she and
they, by the best preceding person that fits in gender and number. Pronouns, kinship, titles and words such as "female"
specify gender; first names do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from gendermark.reading.nouns import human_verb, is_person, listed, plain, singular, stated_gender
from gendermark.reading.parser import Word, parse
from gendermark.records import Gender

Span = tuple[int, int]
Kind = Literal["noun", "name", "pronoun", "addressee", "speaker"]
_M, _F = Gender.MASCULINE, Gender.FEMININE


@dataclass(frozen=True, slots=True)
class SourcePerson:
    """A person, or a group of people, in an English text."""

    text: str
    """The main mention: a noun, else a name, else a pronoun."""
    start: int
    end: int
    mentions: tuple[Span, ...]
    """Characters of every mention, pronouns included, in order."""
    head: str
    """Head word of the main mention, singular and lower case: "officer"."""
    noun: str
    """The main mention, singular and lower case: "police officer"."""
    gender: Gender | None
    """Specified by words of the text; None if unspecified."""
    kind: Kind
    plural: bool
    is_certain: bool
    """Whether the gender is None or rests on more than a pronoun that could refer to somebody else."""
    nouns: tuple[Span, ...] = ()
    """Characters of the mentions that are common nouns, apart from those that state the gender ("my aunt")."""


def people_in(text: str) -> list[SourcePerson]:
    return people_in_all([text])[0]


_MOST_KEPT = 20_000
_seen: dict[tuple[str, str], list[SourcePerson]] = {}
"""Texts that were read before: what reads them one by one need not parse them one by one."""


def people_in_all(texts: Sequence[str], parser: str = "") -> list[list[SourcePerson]]:
    """Find the people in many texts, ten times as fast as one call per text. `parser` names a spaCy pipeline."""
    found = {text: _seen.get((text, parser)) for text in texts}
    new = [text for text, people in found.items() if people is None]
    parsed = parse([PLACEHOLDER.sub(_filled, text) for text in new], parser)
    found |= {text: _Reader(text, words).people() for text, words in zip(new, parsed, strict=True)}
    if len(_seen) > _MOST_KEPT:
        _seen.clear()
    _seen.update({(text, parser): people for text in new if (people := found[text]) is not None})
    return [list(found[text] or ()) for text in texts]


def called(people: Iterable[SourcePerson], noun: str, text: str) -> list[SourcePerson]:
    """Those whom a text calls by this noun, in the singular or plural: "doctor"."""

    def is_called(words: str) -> bool:
        *before, head = words.lower().split()
        return noun.lower() in (head, singular(head), " ".join([*before, head]), " ".join([*before, singular(head)]))

    return [person for person in people if any(is_called(text[start:end]) for start, end in person.nouns)]


def of_certain_gender(people: Iterable[SourcePerson]) -> list[SourcePerson]:
    """The same people, without a gender that rests on a pronoun that could refer to somebody else."""
    return [person if person.is_certain else replace(person, gender=None) for person in people]


# Placeholders, tags, entities and accelerator keys in program strings.
PLACEHOLDER = re.compile(
    r"(?P<gone></?\w[^<>]{0,80}>|&\w{2,6};|(?<!\w)[_&](?=[^\W\d_]))"
    r"|(?P<number>%(?:\d+\$)?[di])|(?:%(?:\d+\$)?[s@]|%\(\w{1,30}\)[sd]|%\d|\$?\{\{?[^{}]{0,40}\}?\})+"
)


def _filled(match: re.Match[str]) -> str:
    """A substitute of equal length for a placeholder during parsing: blanks, a number or an unknown name."""
    size = len(match[0])
    return " " * size if match["gone"] else "1" * size if match["number"] else "X" + "x" * (size - 1)


# -- words -------------------------------------------------------------------------------------------------------------

# person: its subject, object, possessive and reflexive forms
_FORMS = """
he: he | him | his | himself
she: she | her | hers | herself
they: they | them 'em | their theirs | themselves themself
i: i | me mine | my | myself
we: we | us ours | our | ourselves
you: you ya | yours | your | yourself yourselves
"""
_PRONOUNS = {
    form: (person, case)
    for person, _, forms in (line.partition(": ") for line in _FORMS.strip().splitlines())
    for case, same in zip(("subject", "object", "possessive", "reflexive"), forms.split("|"), strict=True)
    for form in same.split()
}
_WHO = frozenset(("who", "whom", "whose"))
_SUBJECTS = frozenset(("nsubj", "nsubj:pass", "nsubj:outer", "csubj"))
_ARGUMENTS = _SUBJECTS | {"obj", "iobj", "obl", "obl:agent", "conj", "nmod", "nmod:poss", "appos", "vocative"}
_MODIFIERS = frozenset(("compound", "nmod:desc", "amod", "flat"))
_FINITE = ("VBZ", "VBD", "VBP", "MD")
_CLAUSES = frozenset(("ROOT", "advcl", "advcl:relcl", "ccomp", "xcomp", "acl", "acl:relcl", "parataxis", "csubj"))


@dataclass(slots=True, eq=False)
class _Mention:
    """Words [first, last] that mention somebody; `word` is the head."""

    word: Word
    first: int
    last: int
    kind: Kind
    noun: str
    head: str
    gender: Gender | None = None
    plural: bool = False
    person: str = ""
    """For pronouns: he, she, they, i, we, you, who, or one for indefinite pronouns."""
    case: str = ""
    """For pronouns: subject, object, possessive or reflexive."""
    doubtful: bool = False
    """Ignored unless another mention joins it."""
    guessed: bool = False
    """A pronoun that fits several people."""


@dataclass(slots=True, eq=False)
class _Person:
    mentions: list[_Mention] = field(default_factory=list)

    @property
    def gender(self) -> Gender | None:
        found = {mention.gender for mention in self.mentions if mention.gender}
        return found.pop() if len(found) == 1 else None

    @property
    def plural(self) -> bool:
        named = [one for one in self.mentions if one.kind in ("noun", "name")]
        return any(one.plural for one in named or self.mentions[:1])

    @property
    def kinds(self) -> set[str]:
        return {mention.kind for mention in self.mentions}


class _Reader:
    """Reads one text: `mentions` in order, with their person in `of`."""

    def __init__(self, text: str, words: Sequence[Word]) -> None:
        self.text = text
        self.words = words
        self.at: dict[int, _Mention] = {}
        self.of: dict[_Mention, _Person] = {}
        self.mentions = self._find()
        for mention in self.mentions:
            self.of[mention] = _Person([mention])
            self.at |= dict.fromkeys(range(mention.first, mention.last + 1), mention)
        for mention in self.mentions:
            self._join_by_grammar(mention)
        self._join_names()
        self._add_predicates()
        self._join_pronouns()

    def people(self) -> list[SourcePerson]:
        return [self._result(person) for person in self._persons() if self._is_sound(person)]

    # -- finding mentions

    def _find(self) -> list[_Mention]:
        runs = dict(self._name_runs())
        found: list[_Mention] = []
        index = 0
        while index < len(self.words):
            follows_welcome = [self._lower(index - 2), self._lower(index - 1)] == ["welcome", "to"]
            if follows_welcome and self.words[index].text[0].isupper() and self._lower(index) not in listed("titles"):
                mention, index = None, runs.get(index, index) + 1
            elif index in runs:
                mention, index = self._named(self.words[index : runs[index] + 1]), runs[index] + 1
            else:
                mention, index = self._mention_at(self.words[index]), index + 1
            if mention is not None:
                found.append(mention)
                index = max(index, mention.last + 1)
        return found

    def _mention_at(self, word: Word) -> _Mention | None:
        lower, index = word.lower, word.index
        if lower == "'s" and self._lower(index - 1) == "let":
            return _Mention(word, index, index, "speaker", "us", "us", plural=True, person="we", case="object")
        if word.text == "HE" and not self.text.isupper() and word.relation not in _SUBJECTS:
            return None  # high explosive
        if lower in _PRONOUNS and not (lower == "mine" and word.tag.startswith("NN")):
            return self._pronoun(word)
        if lower in _WHO:
            return _Mention(word, index, index, "pronoun", "who", "who", person="who", doubtful=lower == "whose")
        if lower in listed("pronouns.indefinite"):
            return _Mention(word, index, index, "pronoun", lower, lower, person="one")
        if lower == "one" and self._lower(index - 1) in ("no", "any", "every", "some"):
            return _Mention(word, index - 1, index, "pronoun", "someone", "someone", person="one")
        begins = index == 0 or self.words[index - 1].text in (",", "!", ".", ":")
        if (lower == "welcome" and begins) or self._is_addressed(word):
            return _Mention(word, index, index, "addressee", lower, lower, person="you", case="subject")
        if noun := self._noun(word):
            return noun
        is_ethnic = word.text[0].isupper() and lower.endswith(_ETHNIC_ENDINGS)
        is_ethnic = is_ethnic and lower not in listed("names.newspapers")
        if (is_ethnic or lower in listed("adjectives")) and self._stands_alone(word):
            return _one_word(word, plural=lower in listed("adjectives.people"))
        return self._quantifier(word)

    def _lower(self, index: int) -> str:
        return self.words[index].lower if 0 <= index < len(self.words) else ""

    def _tag(self, index: int) -> str:
        return self.words[index].tag if index < len(self.words) else "."

    def _children(self, word: Word, *relations: str) -> list[Word]:
        return [
            self.words[child] for child in word.children if not relations or self.words[child].relation in relations
        ]

    def _is_addressed(self, word: Word) -> bool:
        """ "Be careful", "Become a member": an imperative whose translation can show a gender."""
        if word.lower not in ("be", "become", "get", "stay") or word.tag not in ("VB", "VBP") or len(self.words) < 3:
            return False
        return word.index == 0 or self.words[word.index - 1].sentence != word.sentence

    def _pronoun(self, word: Word) -> _Mention:
        person, case = _PRONOUNS[word.lower]
        after = self._tag(word.index + 1)
        if word.lower == "her" and (word.tag == "PRP$" or after.startswith(("NN", "JJ"))):
            case = "possessive"
        elif word.lower == "you" and word.relation not in _SUBJECTS:
            case = "object"
        mention = _Mention(word, word.index, word.index, "pronoun", word.lower, word.lower, person=person, case=case)
        if person in ("i", "we", "you"):
            mention.kind = "addressee" if person == "you" else "speaker"
        mention.gender = {"he": _M, "she": _F}.get(person)
        mention.plural = person in ("they", "we")
        mention.doubtful = case == "possessive" and person in ("they", "i", "we")
        return mention

    def _noun(self, word: Word) -> _Mention | None:
        lower, first, last = self._hyphenated(word) or (word.lower, word.index, word.index)
        head = singular(lower)
        is_noun = word.tag.startswith("NN") or (
            head in listed("people")
            and (head not in listed("wordnet.other") or (word.relation in _ARGUMENTS and self._stands_alone(word)))
        )
        is_noun = is_noun and not (head == "bachelor" and self._lower(word.index + 1) in ("of", "'s", "degree"))
        if not is_noun or not (is_person(head) or head == "people"):
            return None
        if self._modifies_thing(word) or self._is_said_of_thing(word, head):
            return None
        while first and self.words[first - 1].tag in ("NN", "NNS", "HYPH"):
            modifier = self.words[first - 1]
            if modifier.relation not in _MODIFIERS or not modifier.index < modifier.head <= last:
                break
            first -= 1
        before = [self.words[index].lower for index in range(first, word.index)]
        if head in ("male", "female") and not word.tag.startswith("NN"):
            return None
        if head in listed("nouns.ambiguous"):
            parts = {*before, *(child.lower for child in self._children(word, *_MODIFIERS))}
            if parts & listed("nouns.devices"):
                return None
        whole = "-".join([*before, head])
        if head in listed("possible") and whole not in listed("people") and not self._acts_as_person(word):
            return None
        near = self.words[max(0, word.index - 4) : word.index]
        modifiers = (_BEFORE.get(one.lower) for one in near if one.head == word.index)
        gender = (
            None
            if lower == "guys" and self._lower(first - 1) in ("you", "", "hi", "hey", "the")
            else stated_gender(head) or next(filter(None, modifiers), None)
        )
        if head == "fellow" and (
            word.text != "fellow" or self._lower(last + 1) == "of" or not self._children(word, "cop")
        ):
            gender = None  # "a fellow student"
        plural = head != lower or head == "people" or head in listed("groups.collective") or word.tag == "NNS"
        return _Mention(word, first, last, "noun", " ".join([*before, head]), head, gender, plural)

    def _hyphenated(self, word: Word) -> tuple[str, int, int] | None:
        """The hyphenated noun that contains a word, if listed: "brothers-in-law"."""
        first = last = word.index
        while self._lower(first - 1) == "-" and first >= 2 and self.words[first - 2].end + 1 == self.words[first].start:
            first -= 2
        end = len(self.words) - 2
        while self._lower(last + 1) == "-" and last < end and self.words[last].end + 1 == self.words[last + 2].start:
            last += 2
        if first == last:
            return None
        whole = self.text[self.words[first].start : self.words[last].end].lower()
        start, _, rest = whole.partition("-")
        for one in (whole, f"{singular(start)}-{rest}"):
            if is_person(singular(one)):
                return one, first, last
        return (word.lower, first, last) if last == word.index else None

    def _modifies_thing(self, word: Word) -> bool:
        """Whether a noun only modifies a noun that is no person: "student union"."""
        if word.relation not in _MODIFIERS or word.head <= word.index or word.tag == "NNS":
            return False
        head = self.words[word.head]
        is_device = word.lower in listed("nouns.devices") and head.lower in listed("nouns.ambiguous")  # "user agent"
        is_name = head.tag in ("NNP", "NNPS") and head.text[0].isupper() and not self.text.istitle()
        is_possible = singular(head.lower) in listed("possible") and not self._acts_as_person(head)  # "parent star"
        is_human = is_person(singular(head.lower)) and not is_possible
        if not head.tag.startswith("NN") or is_name or (is_human and not is_device):
            return False
        return not self._precedes_verb(word, head)

    def _is_said_of_thing(self, word: Word, head: str) -> bool:
        """ "The company is a supplier", "its predecessor, the Model A", "the Department of Justice", "the Guardian"."""
        if head in listed("nouns.in_order") and any(one.lower == "its" for one in self._children(word, "nmod:poss")):
            return True
        if head in listed("nouns.pieces") and not listed("nouns.chess").isdisjoint(one.lower for one in self.words):
            return True
        place, is_title = word.index, self.text.istitle()
        before, further = self._lower(place - 1), self.words[max(place - 2, 0)]
        if place and word.text.istitle() and not is_title:
            if before == "of" and further.text.istitle() and not is_person(singular(further.lower)):
                return further.index > 0
            if before == "the" and (head in listed("names.newspapers") or self._is_in_work(place - 1)):
                return True
        subjects = self._children(word, *_SUBJECTS) if self._children(word, "cop") else []
        if word.relation == "appos" and all(one.tag in _BEFORE_NOUN for one in self.words[word.head + 2 : place]):
            subjects.append(self.words[word.head])
        is_company = head in listed("nouns.companies")  # "Sony is the market leader"
        return any(
            self._is_only_thing(one)
            or (is_company and one.tag.startswith("NNP") and plain(one.text) not in listed("given"))
            for one in subjects
        )

    def _is_only_thing(self, subject: Word) -> bool:
        """Whether a subject is a thing, and the first thing or person of its sentence."""
        if subject.tag != "NN" or not subject.text.islower() or self._children(subject, "nmod", "acl:relcl"):
            return False
        before = [one for one in self.words[: subject.index] if one.sentence == subject.sentence]
        return self._hyphenated(subject) is None and not any(
            is_person(singular(one.lower)) for one in [*before, subject]
        )

    def _is_in_work(self, place: int) -> bool:
        """Whether a capitalised article in a sentence begins the title of a work: "her novel The Bishop"."""
        return place > 0 and self.words[place].text == "The" and self.words[place - 1].text[-1].isalpha()

    def _precedes_verb(self, word: Word, head: Word) -> bool:
        """Whether the noun modified by a noun must be a verb: "the librarian delivers a copy"."""
        if head.relation in ("advcl", "ccomp", "acl:relcl") or self._children(head, "mark", "aux"):
            return True
        first = word.index
        while first and self.words[first - 1].tag in ("JJ", "NN", "DT", "PRP$", "CD"):
            first -= 1
        if first == word.index:
            return False
        before, after = self._lower(first - 1), self._lower(word.index + 2)
        if head.index == word.index + 1 and (after in listed("verbs.before") or before in listed("verbs.causing")):
            return True
        if head.tag == "NNS" and before in ("if", "when") and after == ",":
            return True
        sentence = [one for one in self.words if one.sentence == word.sentence]
        has_verb = any(one.tag in _FINITE or (one.relation == "ROOT" and one.tag == "VB") for one in sentence)
        return not has_verb and sentence[-1].text in (".", "!", "?")

    def _acts_as_person(self, word: Word) -> bool:
        """Whether the text treats a noun as a person: "the star, who ...", "she is a model"."""
        if any(one.lower in _WHO for child in self._children(word) for one in self._children(child)):
            return True
        is_determined = bool(self._children(word, "det", "nmod:poss"))
        if word.relation in _SUBJECTS and human_verb(self.words[word.head].lower) and is_determined:
            return True
        if any(child.lower in listed("nationalities.people") for child in self._children(word, "amod")):
            return True
        return bool(self._children(word, "cop")) and any(
            one.lower in ("i", "you", "he", "she", "we", "who") or singular(one.lower) in listed("people")
            for one in self._children(word, *_SUBJECTS)
        )

    def _stands_alone(self, word: Word) -> bool:
        """Whether a determiner stands before a word, and no noun or adjective behind it: "the British"."""
        after = self._tag(word.index + 1)
        if after.startswith(("NN", "JJ", "HYPH", "CD")):
            return False
        return self._lower(word.index - 1) in listed("determiners.all") or any(
            child.lower in listed("determiners.all") or child.relation == "nmod:poss"
            for child in self._children(word, "det", "nummod", "nmod:poss")
        )

    def _quantifier(self, word: Word) -> _Mention | None:
        """ "Those who ...", "few agreed", "for all", as a word of its own."""
        if word.lower not in listed("pronouns.quantifiers"):
            return None
        after, tag = self._lower(word.index + 1), self._tag(word.index + 1)
        is_one = word.lower in ("one", "each", "another", "either", "neither")
        if after not in _WHO:
            is_of_things = self._has_things_before(word.index) or word.lower in ("these", "any", "half", "another")
            if is_of_things or after == "of":
                return None
            has_article = word.lower == "few" and self._lower(word.index - 1) == "a"
            before = self._lower(word.index - 1 - has_article)
            if tag.startswith(("VB", "MD")) or (tag == "RB" and word.relation in _SUBJECTS):
                alone = word.lower != "one" or before in ("the", "another", "each", "other")
                alone = alone and not (word.lower in ("all", "both", "each") and before in _PRONOUNS)
            elif word.lower == "both":
                alone = word.relation in _ARGUMENTS and tag in (".", ",", "TO", "IN", "WP")
            elif word.lower in ("those", "others", "ones"):
                alone = word.relation in _ARGUMENTS and (tag != "IN" or after in ("with", "from", "in"))
                alone = alone and (word.lower == "others" or tag != ".")
            else:
                alone = before in ("to", "for", "among", "by") and tag in (".", ",", "TO", "IN") and not is_one
            if not alone:
                return None
        return _one_word(word, plural=not is_one)

    # -- names

    def _name_runs(self) -> Iterator[tuple[int, int]]:
        """First and last words of runs of capitalised proper nouns."""
        index = 0
        while index < len(self.words):
            last = index
            if self._in_name(index):
                while self._in_name(last + 1) or (
                    self._lower(last + 1) in listed("names.particles")
                    and (
                        self._in_name(last + 2)
                        or (self._lower(last + 2) in listed("names.particles") and self._in_name(last + 3))
                    )
                ):
                    last += 1
                yield index, last
            index = last + 1

    def _in_name(self, index: int) -> bool:
        if index >= len(self.words):
            return False
        word = self.words[index]
        is_pronoun = word.lower in _PRONOUNS or word.lower in listed("pronouns.indefinite")
        if is_pronoun or not word.text[0].isupper() or word.text.rstrip("x") == "X":
            return False
        if word.tag in ("NNP", "NNPS") or plain(word.text) in listed("given"):
            return True
        before = self.words[index - 1].text if index > 0 else ""
        after_name = plain(before) in listed("given") or (before.istitle() and before.lower() in listed("titles"))
        return (
            (after_name and word.tag.startswith("NN"))
            or (plain(before) in listed("given") and word.tag != "IN")
            or (word.lower in listed("titles") and word.tag == "NN")
        )

    def _named(self, words: Sequence[Word]) -> _Mention | None:
        """The person of a run of capitalised words: a noun ("the Prime Minister"), or a name with its titles."""
        if len(words) == 1 and words[0].lower.endswith(_ETHNIC) and words[0].tag == "NNPS":
            if noun := self._noun(words[0]):
                return noun
            people = words[0].lower.removesuffix("s")  # "the Hawaiians", which no list has
            return None if self._modifies_thing(words[0]) else _one_word(words[0], people, plural=True)
        first = words[0].index
        if len(words) > 1 and (words[0].lower in listed("names.places") or words[-1].tag == "NNPS"):
            return None  # "Mount Baker", "General Motors"
        if any(self._is_in_work(place) for place in (first, first - 1)):
            return None
        nouns = [singular(word.lower) in listed("people") or word.lower in listed("titles") for word in words]
        starts_name = plain(words[0].text) in listed("given") or words[0].lower.rstrip(".") in listed("titles.short")
        if words[-1].lower in listed("names.organisations") or (
            words[0].text == words[0].text.upper() and len(words[0].text) > 2
        ):
            return None
        if nouns[-1] and not (len(words) > 1 and starts_name):
            if not any(nouns[:-1]) and len(words) > 1 and stated_gender(singular(words[-1].lower)):
                return None  # "Iron Man"
            title, is_thing = words[-1].lower, self._modifies_thing(words[-1])
            is_title = title in listed("titles") and not is_thing and not self._is_said_of_thing(words[-1], title)
            return self._noun(words[-1]) or (_one_word(words[-1], "", _title_gender(title)) if is_title else None)
        begin = 0
        for place, word in enumerate(words[:-1]):
            is_name = plain(word.text) in listed("given") or word.lower in listed("nationalities.people")
            if nouns[place] and not is_name:
                begin = place + 1
        name, titles = words[begin:], [word for word, noun in zip(words[:begin], nouns, strict=False) if noun]
        if not titles and not self._may_be_person(name):
            return None
        genders = [_title_gender(word.lower) for word in titles]
        inside = range(words[0].index, words[-1].index + 1)
        head = next((word for word in words if word.head not in inside or word.head == word.index), name[0])
        text = self.text[name[0].start : name[-1].end]
        first = titles[0].index if titles else name[0].index
        is_place = name[0].text in listed("wordnet.places") and (
            self._lower(name[0].index - 1) in listed("prepositions.places")
        )
        is_given = plain(name[0].text) in listed("given")
        doubtful = not titles and (not is_given or (len(name) == 1 and is_place))
        gender = next(filter(None, genders), None)
        return _Mention(head, first, name[-1].index, "name", text, name[-1].text, gender, doubtful=doubtful)

    def _may_be_person(self, name: Sequence[Word]) -> bool:
        """Whether a run of capitalised words may be a person's name."""
        if any(word.lower in listed("names.organisations") for word in name):
            return False
        if all(word.text.isupper() and len(word.text) > 1 for word in name) or name[0].lower in listed("names.dates"):
            return False
        last, before = name[-1], self.words[max(name[0].index - 1, 0)]
        if len(name) == 1 and last.text in listed("wordnet.places") and last.text not in listed("given"):
            # "Jackson studied law before he ..."
            has_pronoun = any(word.lower in ("he", "she", "his", "her") for word in self.words)
            return has_pronoun and last.relation in _SUBJECTS and bool(human_verb(self.words[last.head].lower))
        if before.lower in ("the", "a", "an", "this", "that"):
            return False
        is_thing = before.tag == "NN" and before.text.islower() and not is_person(singular(before.lower))
        if is_thing and last.head == before.index and last.relation in {"appos", *_MODIFIERS}:
            return False  # "the novel Emma"
        modifies_noun = last.relation in _MODIFIERS and last.head > last.index
        if self._tag(last.index + 1) in ("NN", "NNS") and modifies_noun:
            return singular(self._lower(last.index + 1)) in listed("people")
        return True

    # -- joining mentions

    def _join(self, one: _Mention | None, other: _Mention | None) -> None:
        if one is None or other is None or self.of[one] is self.of[other]:
            return
        left, right = self.of[one], self.of[other]
        if left.gender and right.gender and left.gender is not right.gender:
            return
        if {"speaker", "addressee"} <= left.kinds | right.kinds:
            return
        left.mentions = sorted([*left.mentions, *right.mentions], key=lambda mention: mention.first)
        for mention in right.mentions:
            self.of[mention] = left

    def _join_by_grammar(self, mention: _Mention) -> None:
        word = mention.word
        head = self.at.get(word.head)
        if mention.person == "who" and not self._children(word, "cop"):
            self._join(self._antecedent(mention), mention)
        if mention.kind not in ("noun", "name") and mention.person not in ("who", "one"):
            return
        if head is not None and head is not mention and self._renames(head, mention):
            self._join(head, mention)
        after = [self._lower(mention.last + 1), self._lower(mention.last + 2)]
        is_called = mention.first == 0 and (word.lower in listed("titles.calls") or after == [",", "welcome"])
        if word.relation == "vocative" or is_called:
            self._join(mention, next((one for one in self.mentions if one.person == "you"), None))
        self._join_apposition(mention)
        self._join_predicate(mention)

    def _renames(self, head: _Mention, mention: _Mention) -> bool:
        if mention.word.relation == "appos":
            different = head.kind != mention.kind or bool(self._children(mention.word, "det", "nmod:poss"))
            return head.plural == mention.plural and different
        return mention.word.relation in _MODIFIERS and (mention.kind == "noun" or not head.plural)

    def _join_apposition(self, mention: _Mention) -> None:
        """ "Her editor Maria Lopez", "her editor, Maria Lopez, ...", "Maria Lopez, her editor, ..."."""
        if mention.kind not in ("noun", "name") or mention.plural:
            return
        place = mention.last + 1
        while self._lower(place) in (",", "named", "called") and place < mention.last + 3:
            place += 1
        has_comma = place == mention.last + 2 and self._lower(place - 1) == ","
        is_described = has_comma and (self._lower(place) in ("a", "an") or mention.kind == "name")
        if is_described:
            while place < min(mention.last + 7, len(self.words) - 1) and self.words[place].tag in _BEFORE_NOUN:
                if place in self.at:
                    break
                place += 1
        other = self.at.get(place)
        if other is None or other.kind not in ("noun", "name") or other.plural or other.first != place:
            return
        if other.kind == mention.kind and (other.kind == "name" or not is_described):
            return
        if mention.kind == "name" and place < mention.last + 2 + has_comma:
            return
        if has_comma and other.word.relation != "appos" and not self._ends_apposition(other):
            return
        self._join(mention, other)

    def _ends_apposition(self, other: _Mention) -> bool:
        """Whether a comma ends an apposition, and no list continues after it."""
        for index in range(other.last + 1, min(other.last + 8, len(self.words))):
            word = self.words[index]
            if word.text in (",", ")", ";"):
                return self._lower(index + 1) not in ("and", "or") and other.word.relation != "conj"
            if word.tag in _FINITE or word.tag == "CC":
                return False
        return other.word.relation not in _SUBJECTS and other.word.relation != "conj"

    def _join_predicate(self, noun: _Mention) -> None:
        word = noun.word
        if self._children(word, "cop"):
            negated = any(child.lower in ("not", "n't", "never", "no") for child in self._children(word))
            if not negated and not self._children(word, "case"):  # "is among the best writers"
                self._join_equal(self._subject(word) or self._copula_subject(noun), noun)
            return
        if subject := self._copula_subject(noun):
            self._join_equal(subject, noun)
            return
        verb, case = self.words[word.head], [child.lower for child in self._children(word, "case")]
        if word.relation in ("xcomp", "obj", "obl", "ccomp") and verb.lower in listed("verbs.becoming"):
            self._join_equal(self._subject(verb), noun)
        elif word.relation in ("obl", "nmod", "advcl") and case == ["as"]:
            objects = self._children(verb, "obj") if verb.lower not in listed("verbs.replacing") else []
            above = verb if verb.tag.startswith("V") else self._clause(verb)
            other = self.at.get(objects[0].index) if objects else self.at.get(verb.index) or self._subject(above)
            self._join_equal(other, noun)
        elif word.relation in ("xcomp", "obj") and verb.lower in listed("verbs.naming"):
            others = [one for one in self._children(verb, "nsubj:pass", "obj") if one.index != word.index]
            self._join_equal(self.at.get(others[0].index) if others else None, noun)

    def _join_equal(self, subject: _Mention | None, noun: _Mention) -> None:
        if subject is None:
            return
        if self.of[subject].plural == noun.plural or subject.person in ("you", "who", "they"):
            self._join(subject, noun)
        for other in self.mentions:  # "Nurses and doctors are women"
            if noun.gender and noun.plural and other.word.relation == "conj" and other.word.head == subject.word.index:
                other.gender = other.gender or noun.gender

    def _copula_subject(self, noun: _Mention) -> _Mention | None:
        """The subject of "is" before a noun, by position: for relative clauses and phrases that mislead the parser."""
        be = noun.first - 1
        while be > 0 and self.words[be].tag in _BEFORE_NOUN:
            be -= 1
        if be <= 0 or self._lower(be) not in listed("verbs.be"):
            return None
        before = [one for one in self.mentions if one.last < be and one.word.sentence == noun.word.sentence]
        if before and before[-1].last == be - 1:
            return before[-1] if before[-1].word.relation in _SUBJECTS else None
        if not before or before[0].kind not in ("noun", "name") or before[0].first > before[0].word.index:
            return None
        subject = before[0]
        if subject.first > 4 or subject.plural != (self._lower(be) in ("are", "were")):
            return None
        between = self.words[subject.last + 1 : be]
        if any(word.text in (",", ";", ":", "'s") or word.tag == "CC" for word in between):
            return None
        n_verbs = sum(word.tag in _FINITE for word in between)
        is_relative = bool(between) and (between[0].lower in ("who", "that", "whom") or between[0].tag == "PRP")
        return subject if n_verbs <= is_relative else None

    def _subject(self, verb: Word) -> _Mention | None:
        """The person who is the subject of a verb; a joined or open clause inherits it."""
        for _ in range(4):
            subjects = self._children(verb, *_SUBJECTS)
            people = [one for one in subjects if one.index in self.at]
            if subjects:
                return self.at.get(min(people or subjects, key=lambda one: abs(one.index - verb.index)).index)
            if verb.relation not in ("conj", "xcomp", "advcl") or verb.head == verb.index:
                return None
            is_infinitive = self._lower(verb.index - 1) == "to"
            objects = self._children(self.words[verb.head], "obj", "iobj") if is_infinitive else []
            if objects and objects[0].index in self.at and objects[0].index < verb.index:
                return self.at[objects[0].index]  # "asked the driver to help"
            verb = self.words[verb.head]
            if verb.tag.startswith("N") and not self._children(verb, "cop"):
                verb = self._clause(verb)  # "joined the campaign and was a soldier", read as "campaign and soldier"
        return None

    def _antecedent(self, who: _Mention) -> _Mention | None:
        clause = who.word
        for _ in range(6):
            if clause.relation.startswith("acl"):
                found = self.at.get(clause.head) if clause.head < who.first else None
                if found is not None:
                    return found
            clause = self.words[clause.head]
        before = [one for one in self.mentions if who.first - 2 <= one.last < who.first]
        return before[-1] if before and who.word.lower != "whom" else None

    def _join_names(self) -> None:
        """Join names that repeat a part of an earlier one: "Marie Curie ... Curie"."""
        names = [one for one in self.mentions if one.kind == "name"]
        for place, later in enumerate(names):
            parts = set(later.noun.split())
            same = [one for one in names[:place] if parts <= set(one.noun.split()) or set(one.noun.split()) <= parts]
            self._join(same[0] if same else None, later)
        nouns = [one for one in self.mentions if one.kind == "noun"]
        for place, later in enumerate(nouns):  # "a user ... the user"
            children = [child.lower for child in self._children(later.word)]
            if children[:1] in (["the"], ["this"], ["that"]) and len(children) == 1 and later.first == later.last:
                same = [one for one in nouns[:place] if one.head == later.head and one.plural == later.plural]
                self._join(same[0] if len({self.of[one] for one in same}) == 1 else None, later)

    # -- pronouns

    def _add_predicates(self) -> None:
        """ "The nurses were all female"."""
        for word in self.words:
            if word.lower in ("male", "female") and self._children(word, "cop"):
                subject = self._subject(word)
                if subject is not None and subject.gender is None:
                    subject.gender = _BEFORE[word.lower]

    def _join_pronouns(self) -> None:
        for person in ("i", "we", "you"):
            group = [one for one in self.mentions if one.person == person]
            for one in group[1:]:
                self._join(group[0], one)
        for mention in self.mentions:
            if mention.person in ("he", "she", "they"):
                self._resolve(mention)

    def _resolve(self, pronoun: _Mention) -> None:
        for twin in self.mentions:  # "he or she", "his/her"
            left, right = sorted((twin.first, pronoun.first))
            is_pair = {twin.person, pronoun.person} == {"he", "she"} and right - left == 2
            if is_pair and self._lower(left + 1) in ("or", "/"):
                pronoun.gender = twin.gender = None
                if twin.first < pronoun.first:
                    self._join(twin, pronoun)
                    return
                break
        near = self._persons(pronoun.word.sentence)
        scores = [(score, person) for person in near if (score := self._score(pronoun, person)) is not None]
        if scores:
            fitting = sum(self._fits(pronoun, person, strict=False) for person in near)
            pronoun.guessed = fitting != 1
            self._join(max(scores, key=lambda pair: pair[0])[1].mentions[0], pronoun)
        elif pronoun.person == "they":
            is_human = pronoun.case == "subject" and human_verb(self._lower(pronoun.word.head))
            pronoun.doubtful = pronoun.doubtful or (not is_human and self._has_things_before(pronoun.first))

    def _persons(self, sentence: int | None = None) -> list[_Person]:
        near = (one for one in self.mentions if sentence is None or abs(one.word.sentence - sentence) <= _NEAR)
        return list(dict.fromkeys(self.of[mention] for mention in near))

    def _fits(self, pronoun: _Mention, person: _Person, *, strict: bool) -> bool:
        """Whether a preceding person fits a pronoun in gender, number and grammar (`strict`: all rules)."""
        if pronoun in person.mentions or person.kinds & {"speaker", "addressee"}:
            return False
        is_everybody = person.mentions[0].noun in listed("pronouns.universal")
        if pronoun.person == "they":
            if not person.plural and (person.gender or not self._may_be_they(person.mentions[0], pronoun)):
                return False
        elif person.plural or is_everybody or person.gender not in (None, pronoun.gender):
            return False
        before = [one for one in person.mentions if one.first < pronoun.first]
        if not before or pronoun.word.sentence - before[-1].word.sentence > _NEAR:
            return False
        return not any(self._cannot_be(pronoun, one, strict=strict) for one in before)

    def _score(self, pronoun: _Mention, person: _Person) -> float | None:
        """How well a person fits a pronoun; None if impossible."""
        before = [one for one in person.mentions if one.first < pronoun.first]
        if not before:
            return self._score_ahead(pronoun, person)
        if not self._fits(pronoun, person, strict=True):
            return None
        last = before[-1]
        if person.kinds == {"name"} and any(one.lower in ("at", "in") for one in self._children(last.word, "case")):
            return None  # "studied at Yale"
        distance = pronoun.word.sentence - last.word.sentence
        score = -1.5 * distance - 0.05 * (pronoun.first - last.last)
        if pronoun.gender is not None and person.gender is pronoun.gender:
            score += 6
        if any(one.word.relation in _SUBJECTS for one in before):
            score += 2
        if last.word.relation in _SUBJECTS and pronoun.case == "subject":
            score += 0.5
        if pronoun.case in ("possessive", "reflexive"):
            subject = self._subject(self._clause(pronoun.word))
            if subject is not None and self.of[subject] is person:
                score += 3
            owned = self.words[pronoun.word.head]
            if owned.relation == "conj" and owned.head in range(last.first, last.last + 1):
                score += 4  # "the minister and her advisers"
        if last.word.relation == "nmod:poss" and not last.person:
            score -= 1.5
        if any(one.kind == "name" for one in person.mentions):
            score += 0.5
        return score - 0.5 * (not person.plural and pronoun.person == "they") - 0.5 * (last.person == "one")

    def _may_be_they(self, noun: _Mention, pronoun: _Mention) -> bool:
        """ "Somebody", "a user", "the user ... when they": "they" can mean one of them."""
        if noun.person in ("one", "who") or any(
            child.lower in listed("determiners.generic") for child in self._children(noun.word)
        ):
            return True
        is_adverbial = self._clause(pronoun.word).relation == "advcl" or pronoun.case == "possessive"
        return noun.kind == "noun" and is_adverbial and not self._has_things_before(pronoun.first)

    def _score_ahead(self, pronoun: _Mention, person: _Person) -> float | None:
        """ "In her first book, Smith ...", "When he arrived, the doctor ..."."""
        first = person.mentions[0]
        if first.word.sentence != pronoun.word.sentence or first.person or first.word.relation not in _SUBJECTS:
            return None
        if pronoun.case not in ("possessive", "subject") or person.plural != (pronoun.person == "they"):
            return None
        verb, clause = self.words[first.word.head], self._clause(pronoun.word)
        is_adverbial = clause.relation == "advcl" and clause.head == verb.index
        fronted = clause is verb if pronoun.case == "possessive" else is_adverbial
        has_comma = any(self.words[index].text == "," for index in range(pronoun.last, first.first))
        return -5.0 if fronted and has_comma else None

    def _clause(self, word: Word) -> Word:
        while word.head != word.index:
            word = self.words[word.head]
            if word.relation in _CLAUSES or (word.relation == "conj" and word.tag.startswith("VB")):
                break
        return word

    def _cannot_be(self, pronoun: _Mention, other: _Mention, *, strict: bool) -> bool:
        """Whether grammar excludes coreference of two mentions: subject and object of one verb; the noun of a
        relative clause."""
        if pronoun.case in ("possessive", "reflexive") or other.case == "possessive":
            return False
        clause = self._clause(pronoun.word)
        if strict and clause.relation == "acl:relcl" and clause.head in range(other.first, other.last + 1):
            return human_verb(self._lower(other.word.head)) not in listed("verbs.telling")
        if any(child.lower in listed("prepositions.beside") for child in self._children(pronoun.word, "case")):
            return False  # "took the umbrella with her"
        verb = self.words[pronoun.word.head]
        if pronoun.case == "subject" or verb is pronoun.word:
            return False
        if verb.relation in ("xcomp", "advcl") and self._lower(verb.index - 1) == "to" and not strict:
            return False  # "asked the driver to help him"
        subject = self._subject(verb if verb.tag.startswith("V") else clause)
        return subject is other or (other.word.head == verb.index and other.word.relation in _OBJECTS)

    def _has_things_before(self, index: int) -> bool:
        """Whether a plural that is no person precedes a word."""
        return any(
            word.tag in ("NNS", "NNPS") and not is_person(singular(word.lower))
            for word in self.words[max(0, index - 100) : index]
        )

    # -- result

    def _is_sound(self, person: _Person) -> bool:
        if all(one.kind == "name" and self._is_a_thing(one) for one in person.mentions):
            return False
        if any(not one.doubtful for one in person.mentions):
            return True
        names = [one for one in person.mentions if one.kind == "name"]
        return bool(names) and (len(person.mentions) > 1 or self._acts(names[0]))

    def _is_a_thing(self, name: _Mention) -> bool:
        """Whether a name is the subject of "is" and a noun for a thing: "Madison is the capital"."""
        noun = self.words[name.word.head]
        is_predicate = name.word.relation in _SUBJECTS and noun.tag == "NN" and bool(self._children(noun, "cop"))
        return is_predicate and noun.index not in self.at and not is_person(singular(noun.lower))

    def _acts(self, name: _Mention) -> bool:
        """Whether a name does what people do, or has relatives."""
        relation, verb = name.word.relation, human_verb(self._lower(name.word.head))
        if relation in _SUBJECTS:
            return bool(verb)
        owned = self.at.get(name.word.head)
        return (
            (relation in ("obj", "iobj") and verb in listed("verbs.told"))
            or (relation == "obl:agent" and bool(verb))
            or (relation == "nmod:poss" and owned is not None and owned.gender is not None)
        )

    def _result(self, person: _Person) -> SourcePerson:
        order = {"noun": 0, "name": 1}
        main = min(
            person.mentions,
            key=lambda one: (order.get(one.kind, 2), one.person == "who", one.case == "possessive", one.first),
        )
        spans = tuple((self.words[one.first].start, self.words[one.last].end) for one in person.mentions)
        start, end = self.words[main.first].start, self.words[main.last].end
        kind = next((kind for kind in ("speaker", "addressee") if kind in person.kinds), main.kind)
        is_certain = person.gender is None or any(one.gender and not one.guessed for one in person.mentions)
        found = (main.head, main.noun, person.gender, kind, person.plural, is_certain)
        nouns = tuple(
            span
            for one, span in zip(person.mentions, spans, strict=True)
            if one.kind == "noun" and stated_gender(one.head) is None
        )
        return SourcePerson(self.text[start:end], start, end, spans, *found, nouns)


def _one_word(word: Word, noun: str = "", gender: Gender | None = None, *, plural: bool = False) -> _Mention:
    return _Mention(word, word.index, word.index, "noun", noun or word.lower, noun or word.lower, gender, plural)


def _title_gender(title: str) -> Gender | None:
    if title in listed("titles.masculine") or title in listed("titles.feminine"):
        return _M if title in listed("titles.masculine") else _F
    return stated_gender(singular(title))


_ETHNIC = ("ians", "ans", "ists", "ites", "ers", "ards", "is")
_OBJECTS = frozenset(("obj", "iobj"))
_ETHNIC_ENDINGS = ("ian", "ese", "ish", "can")
_BEFORE_NOUN = frozenset(("DT", "PRP$", "JJ", "JJS", "JJR", "RB", "VBN", "NN", "CD"))
_NEAR = 3
"""Sentences that a pronoun looks back."""
_BEFORE = {
    **dict.fromkeys(("male", "man", "boy", "men"), _M),
    **dict.fromkeys(("female", "woman", "women", "lady", "girl"), _F),
}
