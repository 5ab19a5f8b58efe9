"""One translation against its source and its two references: what its source marks, what is shared, what corresponds.

The words of the source that mark a gender are pronouns, kinship words, titles, nouns of sex and agent nouns with a
second form ("waitress", "spokesman"). A masculine noun that serves for all ("actor", "host") marks a man only where the
data says so, so it is not listed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property, lru_cache

from gendermark.languages.language import Language
from gendermark.reading.contrast import Contrast
from gendermark.reading.gendered import GenderedWords
from gendermark.reading.words import Place, Span, word_spans
from gendermark.records import Gender

_SINGULAR = {
    Gender.MASCULINE: """
    he him his himself man boy gentleman guy lad male father dad daddy grandfather grandpa son grandson brother
    uncle nephew husband groom widower stepfather stepson stepbrother king emperor prince duke earl count
    viscount baron marquess tsar lord sir mr mister monk priest patriarch bachelor schoolboy boyfriend godfather
    godson archduke abbot friar pope emir sultan sheikh
    """,
    Gender.FEMININE: """
    she her hers herself woman girl lady gal female mother mom mommy mum grandmother grandma daughter
    granddaughter sister aunt auntie niece wife bride widow stepmother stepdaughter stepsister queen empress
    princess duchess countess viscountess baroness marchioness tsarina dame madam madame mrs ms miss mistress
    maid nun priestess abbess prioress goddess heiress hostess heroine actress waitress stewardess seamstress
    sorceress governess matriarch schoolgirl girlfriend godmother goddaughter archduchess landlady
    """,
}
_PLURAL = {
    Gender.MASCULINE: """
    men boys gentlemen guys lads males fathers dads daddies grandfathers sons grandsons brothers uncles nephews
    husbands grooms stepfathers stepsons stepbrothers kings emperors princes dukes earls counts viscounts barons
    lords monks priests
    """,
    Gender.FEMININE: """
    women girls ladies gals females mothers moms mommies mums grandmothers daughters granddaughters sisters
    aunts nieces wives brides widows stepmothers stepdaughters stepsisters queens empresses princesses duchesses
    countesses viscountesses baronesses maids nuns priestesses goddesses heiresses hostesses heroines actresses
    waitresses madams mistresses
    """,
}
_WORDS = {
    word: (gender, number)
    for number, table in (("singular", _SINGULAR), ("plural", _PLURAL))
    for gender, words in table.items()
    for word in words.split()
}
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_COMPOUND = re.compile(r"(?!hu|wo)[a-z]{3,}?(wo)?m([ae])n$")
_NO_MAN = frozenset({"german", "roman", "norman", "ottoman", "shaman", "talisman", "caiman", "women", "woman", "human"})
_THINGS = frozenset({"it", "its", "itself"})
_SEVERAL = frozenset({"they", "them", "their", "theirs", "themselves"})
_RELATIVES = frozenset(
    {"child", "children", "baby", "babies", "kid", "kids", "cousin", "cousins", "parent", "parents", "grandparent"}
    | {"grandparents", "sibling", "siblings", "spouse", "spouses", "consort", "couple", "partner", "god", "gods"}
    | {"police", "heir", "heirs", "grandchild", "grandchildren", "stepparent", "stepparents", "stepchild"}
    | {"stepchildren"}
)


@dataclass(frozen=True, slots=True)
class Marks:
    """Whose gender an English sentence marks."""

    singular: frozenset[Gender]
    plural: frozenset[Gender]
    pronouns: frozenset[str]
    names_things: bool
    """Whether "it" is spoken of, for which many languages use the pronouns of people."""
    names_several: bool
    """Whether "they" are."""
    names_relatives: bool
    """Whether people are named by words that many languages cannot write without a gender ("child", "grandparents")."""

    @property
    def genders(self) -> frozenset[Gender]:
        return self.singular | self.plural


@lru_cache(maxsize=8192)
def marks(text: str) -> Marks:
    words = _WORD.findall(text.lower().replace("’", "'"))
    found: dict[str, set[Gender]] = {"singular": set(), "plural": set()}
    for word in words:
        if told := _marked(word):
            found[told[1]].add(told[0])
    told_words = frozenset(words)
    return Marks(
        frozenset(found["singular"]),
        frozenset(found["plural"]),
        told_words & {"he", "him", "his", "himself", "she", "her", "hers", "herself"},
        bool(told_words & _THINGS),
        bool(told_words & _SEVERAL),
        bool(told_words & _RELATIVES),
    )


def _marked(word: str) -> tuple[Gender, str] | None:
    if told := _WORDS.get(word) or _WORDS.get(word.rpartition("-")[2]):
        return told
    match = _COMPOUND.match(word)
    if match is None or word in _NO_MAN:
        return None
    return (Gender.FEMININE if match[1] else Gender.MASCULINE), "singular" if match[2] == "a" else "plural"


_LETTERS = {Gender.MASCULINE: "m", Gender.FEMININE: "f"}
_BREAKS = frozenset(',;:.!?()[]–—«»"“”„،؛')
_RENDERING = 0.1
"""Below this share of words in common, only words of the references are believed; in real systems' it is above 0.2."""
_NEAR = 2
"""Words around a place where the references differ that are still of it."""


@dataclass(frozen=True)
class Sentence:
    """One translation, what it is a translation of, and the references it is held against."""

    text: str
    source: str
    marks: Marks
    expected: str
    """ "m", "f", or "" where it is not known: then only the words of the references tell."""
    contrast: Contrast
    language: Language
    lists: GenderedWords
    words: list[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", self.language.cut(self.text))

    @cached_property
    def spans(self) -> list[Span]:
        return word_spans(self.text)

    @cached_property
    def shared(self) -> frozenset[str]:
        return frozenset(self.contrast.right_words) & frozenset(self.contrast.wrong_words)

    @cached_property
    def near(self) -> frozenset[int]:
        """The places of the translation that correspond to those where the references differ.

        Words that the translation shares with a reference are anchors; what lies between two of them corresponds.
        """
        reference, differing = self.contrast.right_words, self.contrast.places
        found: set[int] = set()
        blocks = SequenceMatcher(None, reference, self.words, autojunk=False).get_opcodes()
        for _, first, last, start, end in blocks:
            if any(place in differing for place in range(first - _NEAR, last + _NEAR)):
                if last - first == end - start:
                    pairs = zip(range(first, last), range(start, end), strict=True)
                    close = {at for place, at in pairs if any(place + n in differing for n in range(-_NEAR, _NEAR + 1))}
                    found |= close
                else:
                    found.update(range(start, end))
        return frozenset(found)

    @cached_property
    def counterparts(self) -> dict[str, str]:
        """Of a word that differs in the wrong reference, the word that the right one has in its place."""
        right, wrong = self.contrast.right_words, self.contrast.wrong_words
        found: dict[str, str] = {}
        for kind, first, last, start, end in SequenceMatcher(None, right, wrong, autojunk=False).get_opcodes():
            if kind == "replace" and last - first == end - start:
                found |= zip(wrong[start:end], right[first:last], strict=True)
        return found

    @cached_property
    def names(self) -> frozenset[str]:
        """Words with a capital that the source has too: names, and titles left in English."""
        written = {word.strip("'’s,.;:()\"“”") for word in self.source.split()[1:] if word[:1].isupper()}
        return frozenset(word.lower() for word in written)

    def is_capital(self, at: int) -> bool:
        return self.text[self.spans[at][0]].isupper()

    def is_name(self, at: int) -> bool:
        word = self.words[at]
        return word in self.names and word not in self.lists.titles and self.is_capital(at)

    def is_noun(self, at: int) -> bool:
        """Whether a word is written as a noun, in German with a capital: "Junge" is one, "junge" is not."""
        return not self.language.nouns_are_capitalised or self.is_capital(at)

    def is_surplus(self, word: str) -> bool:
        """Whether the translation has a word more often than both references do."""
        contrast = self.contrast
        return self.words.count(word) > min(contrast.right_words.count(word), contrast.wrong_words.count(word))

    def begins_clause(self, at: int) -> bool:
        if at == 0:
            return True
        between = self.text[self.spans[at - 1][1] : self.spans[at][0]]
        return not _BREAKS.isdisjoint(between)

    @cached_property
    def is_rendering(self) -> bool:
        """Whether the text has enough of a reference's words to be read as a translation of this sentence at all."""
        words = set(self.words)
        return len(words & set(self.contrast.right_words)) >= _RENDERING * len(words)

    @property
    def speaks_of_one(self) -> bool:
        """Whether all people whose gender the source marks are named one by one."""
        return bool(self.marks.singular) and not self.marks.plural


def letter_of(gender: Gender | None) -> str:
    return _LETTERS.get(gender, "") if gender else ""


def has_phrase(words: Sequence[str], phrase: Sequence[str]) -> bool:
    return any(tuple(words[n : n + len(phrase)]) == tuple(phrase) for n in range(len(words) - len(phrase) + 1))


def gender_of_references(contrast: Contrast, lists: GenderedWords) -> str:
    """The gender of the right reference, by the words that only it has and those that only the other has."""
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


# -- evidence: words of a translation that show a gender, and how surely it is the person's ----------------------------

SURE, LIKELY, FAINT = 2, 1, 0


@dataclass(frozen=True, slots=True)
class Shown:
    """One piece of evidence: words[start:end] show a gender."""

    place: Place
    is_right: bool
    weight: int


def shown_by(
    sentence: Sentence, start: int, end: int, gender: str, weights: tuple[int | None, int | None]
) -> list[Shown]:
    """Evidence with the weight for the right or for the wrong gender; none where that is None."""
    is_right = gender == sentence.expected
    weight = weights[0] if is_right else weights[1]
    return [] if weight is None else [Shown((start, end), is_right, weight)]
