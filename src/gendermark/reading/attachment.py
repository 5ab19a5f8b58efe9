"""Which words belong to a person, where only the grammar of a language tells.

German "sie" is she, they and a thing; Russian «его» is his and its; Arabic and Hindi verbs agree with things too. Such
a word of the other gender speaks against a translation only if nobody and nothing else can be meant. A language says
how it differs in `languages/CODE/attachment.py`.
"""

from __future__ import annotations

import re
from functools import cache

from gendermark.languages.folders import part_of
from gendermark.reading.gendered import Told
from gendermark.reading.sentence import Sentence, has_phrase, letter_of

_PRONOUNS = {
    "m": frozenset({"he", "him", "his", "himself"}),
    "f": frozenset({"she", "her", "hers", "herself"}),
}
_ENGLISH = re.compile(r"[a-z]+")
_ADDRESSED = frozenset({"you", "your", "yours", "yourself"})
_NEVER = re.compile("(?!)")
_QUOTES = '«"„“'


class Attachment:
    """What most languages have in common. Places are those of the words of a sentence."""

    pronouns_are_ambiguous = False
    """Whether pronouns and possessives of people are also those of things."""
    pronouns_are_weak = False
    """Whether most pronouns may be of things."""
    her_is_their = True
    """Whether a possessive of a woman may be one of several people."""
    verbs_agree_with_things = False
    masculine_is_plural = False
    """Whether many masculine nouns are the same in the plural: "die Spieler"."""
    relatives: frozenset[str] = frozenset()
    """Relative pronouns that agree with things too."""
    own = _NEVER
    """Possessives of the subject, which stand for "his" and "her" and show neither."""

    def is_group(self, sentence: Sentence, at: int) -> bool:  # noqa: ARG002
        """Whether a noun that is the same in the plural names several: "eine der besten Spieler"."""
        return False

    def is_thing(self, sentence: Sentence, at: int) -> bool:  # noqa: ARG002
        """Whether a word that can be a person is a thing."""
        return False

    def tells_nothing(self, sentence: Sentence, at: int) -> bool:
        """Whether a word in no list, that only one reference has, is a name or agrees with something else here."""
        # Of a sentence that leaves gender open, the ending of a name may be all there is.
        return sentence.is_name(at) or (bool(sentence.marks.genders) and self.is_inflected_name(sentence, at))

    def is_inflected_name(self, sentence: Sentence, at: int) -> bool:  # noqa: ARG002
        """Whether a word is a name, whose case ending depends on sex and shows none to a reader."""
        return False

    def is_name_before(self, sentence: Sentence, at: int) -> bool:  # noqa: ARG002
        """Whether a name or a noun for both stands right before a verb."""
        return False

    def refers_to_a_name(self, sentence: Sentence, at: int) -> bool:  # noqa: ARG002
        """Whether the clause before this word's ends in a name."""
        return False

    def has_a_things_subject(self, sentence: Sentence, at: int) -> bool:  # noqa: ARG002
        return False

    def gender_of_nominalised(self, sentence: Sentence, at: int) -> str | None:  # noqa: ARG002
        """The gender of an adjective that is a noun."""
        return None

    def is_of_a_post(self, sentence: Sentence, at: int) -> bool:  # noqa: ARG002
        """Whether a noun names a post, not its holder."""
        return False

    def is_a_things(self, sentence: Sentence, at: int, told: Told | None) -> bool:  # noqa: ARG002
        """Whether a word of the other gender is rather a thing's."""
        return False

    def is_doubtful(self, sentence: Sentence, at: int, told: Told | None, counterpart: str) -> bool:  # noqa: ARG002
        """Whether a word of the wrong reference may be a thing's; `counterpart` stands for it in the right one."""
        return False

    def has_an_owner(self, sentence: Sentence, at: int) -> bool:  # noqa: ARG002
        """Whether a noun of a role has a pronoun attached: it names somebody else, and shows whose."""
        return False

    def is_dual(self, sentence: Sentence, at: int) -> bool:  # noqa: ARG002
        return False

    def is_called_a_woman(self, sentence: Sentence, at: int) -> bool:  # noqa: ARG002
        """Whether "woman" stands before a masculine noun."""
        return False

    def is_introduced(self, word: str) -> bool:  # noqa: ARG002
        """Whether a noun has "as" attached."""
        return False

    def is_finite(self, sentence: Sentence, at: int) -> bool | None:  # noqa: ARG002
        """Whether a word that ends like a verb is one; None where its subject decides."""
        return None

    def subject(self, sentence: Sentence, at: int) -> str | None:  # noqa: ARG002
        """What a verb agrees with: `person`, `other`, "" if nothing tells; None where verbs are read by their place."""
        return None


@cache
def _attachment(code: str) -> Attachment:
    found: Attachment = part_of(code, "attachment", "ATTACHMENT") or Attachment()
    return found


def attachment(sentence: Sentence) -> Attachment:
    """How words are attached in the language of a sentence."""
    return _attachment(sentence.language.code)


def is_the_persons(sentence: Sentence, at: int, told: Told) -> bool:
    """Whether a pronoun or possessive of the other gender can only be the person's.

    So it is where it stands among the words of the wrong reference; and where nobody and nothing else is spoken of by a
    pronoun, and the translation has fewer pronouns of the right gender than the source.
    """
    marks = sentence.marks
    grammar = attachment(sentence)
    if not grammar.pronouns_are_ambiguous or told.gender == sentence.expected:
        return False
    if not _speaks_of_the_person_only(sentence):
        return False
    words = _ENGLISH.findall(sentence.source.lower())
    is_open = marks.names_things or marks.names_several or not _ADDRESSED.isdisjoint(words)
    if is_open or grammar.pronouns_are_weak:
        return follows_the_wrong_reference(sentence, range(at - 1, at + 2))
    if follows_closely(sentence, at):
        return True
    wanted = sum(word in _PRONOUNS[sentence.expected] for word in words)
    return at in sentence.near and _fulfilled(sentence) < wanted


def _speaks_of_the_person_only(sentence: Sentence) -> bool:
    return all(letter_of(gender) == sentence.expected for gender in sentence.marks.genders)


def _fulfilled(sentence: Sentence) -> int:
    """Words of a translation that stand for "he" or "his", and do not contradict."""
    lists, own = sentence.lists, attachment(sentence).own
    found = 0
    for word in sentence.words:
        told = lists.told.get(word)
        is_right = told is not None and told.kind in ("pronoun", "owner") and told.gender == sentence.expected
        found += is_right or own.fullmatch(word) is not None
    return found


def follows_the_wrong_reference(sentence: Sentence, places: range) -> bool:
    """Whether these words stand side by side in the wrong reference, and not in the right one."""
    if places.start < 0 or places.stop > len(sentence.words):
        return False
    phrase, contrast = sentence.words[places.start : places.stop], sentence.contrast
    return has_phrase(contrast.wrong_words, phrase) and not has_phrase(contrast.right_words, phrase)


def is_relative(sentence: Sentence, at: int) -> bool:
    """Whether a word of the wrong reference refers back to a name: "Lange, die", not "Frau, die"."""
    if not at or not sentence.begins_clause(at) or not follows_the_wrong_reference(sentence, range(at - 1, at + 2)):
        return False
    return sentence.lists.look_up(sentence.words[at - 1]).told is None


def follows_closely(sentence: Sentence, at: int) -> bool:
    """Whether a word stands beside a word of the wrong reference just as there, and not in a relative clause."""
    if not attachment(sentence).relatives.isdisjoint(sentence.words[max(at - 2, 0) : at]):
        return False
    return any(follows_the_wrong_reference(sentence, range(start, start + 2)) for start in (at - 1, at))


def begins_sentence(sentence: Sentence, at: int) -> bool:
    before = sentence.text[: sentence.spans[at][0]].rstrip(" \t" + _QUOTES)
    return not before or before[-1] in ".!?"
