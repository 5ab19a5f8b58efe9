"""Which words of an English sentence mark the gender of people, and of how many.

Pronouns, kinship words, titles and nouns of sex; agent nouns with a second form ("waitress", "spokesman"). A masculine
noun that serves for all ("actor", "host", "master") marks a man only where the data says so, so it is not listed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

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
