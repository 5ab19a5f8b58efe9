"""Which Arabic words belong to a person."""

from __future__ import annotations

from gendermark.reading.attachment import Attachment, begins_sentence
from gendermark.reading.gendered import Told
from gendermark.reading.sentence import Sentence

_POST_REACH = 8
"""Words between "the post of" and the last of the posts that follow."""
_SEPARATE = frozenset({"هو", "هي", "وهو", "وهي"})


class Arabic(Attachment):
    pronouns_are_ambiguous = True
    pronouns_are_weak = True
    verbs_agree_with_things = True
    relatives = frozenset({"الذي", "التي", "والذي", "والتي"})

    def is_of_a_post(self, sentence: Sentence, at: int) -> bool:
        """Whether a noun names a post, not its holder («منصب رئيس البلدية ومدير المدينة»), or agrees with «عضو»."""
        words, lists = sentence.words, sentence.lists
        if not at:
            return False
        if words[at - 1] in lists.posts or words[at - 1] in lists.habit:
            return True
        if not words[at].startswith("و"):
            return False
        for place in range(at - 1, max(at - 1 - _POST_REACH, -1), -1):
            if words[place] in lists.posts:
                return True
            if sentence.begins_clause(place):
                return False
        return False

    def is_a_things(self, sentence: Sentence, at: int, told: Told | None) -> bool:  # noqa: ARG002
        """A relative, or "it is" inside a sentence."""
        word = sentence.words[at]
        return word in self.relatives or (word in _SEPARATE and not begins_sentence(sentence, at))

    def is_doubtful(self, sentence: Sentence, at: int, told: Told | None, counterpart: str) -> bool:
        """Verbs, relatives and attached pronouns agree with things too; nouns and adjectives are people's."""
        word = sentence.words[at]
        if told is not None and told.kind in ("noun", "role"):
            return False
        return (
            counterpart not in (word + "ة", word.removesuffix("ا") + "ة", word.removesuffix("ة")) or counterpart == word
        )

    def has_an_owner(self, sentence: Sentence, at: int) -> bool:
        """Whether a noun of a role has a pronoun attached («مديرها»): it names somebody else, and shows whose."""
        return sentence.words[at].endswith(("ه", "ها", "هم"))

    def is_dual(self, sentence: Sentence, at: int) -> bool:
        """Whether an Arabic verb is of two people («عاشا»), of whom the right reference has two women («عاشتا»)."""
        word = sentence.words[at]
        return word.endswith("ا") and word[:-1] + "تا" in sentence.contrast.right_words

    def is_introduced(self, word: str) -> bool:
        """«كلاعب»."""
        return word.startswith("ك")


ATTACHMENT = Arabic()
