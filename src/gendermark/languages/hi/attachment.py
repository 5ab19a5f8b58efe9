"""Which Hindi words belong to a person."""

from __future__ import annotations

from gendermark.reading.attachment import Attachment
from gendermark.reading.gendered import Told
from gendermark.reading.sentence import Sentence

_JOINING = frozenset(
    {"और", "लेकिन", "बल्कि", "कि", "जब", "तब", "जहां", "वहां", "तो", "पर", "किंतु", "परंतु", "क्योंकि", "तथा", "एवं", "या"}
    | {"जिस", "जिसे", "जिन्हें", "जिसमें", "जिसके", "जिसकी", "जिसका", "जिनके", "जिनकी", "जिनका", "जो", "हालांकि", "मगर"}
)
_ERGATIVE = frozenset({"ने", "उसने", "उन्होंने", "इसने", "इन्होंने", "जिसने", "जिन्होंने", "मैंने", "किसने"})
_NOMINATIVE = frozenset({"वह", "वे", "वो"})
_DATIVE = frozenset({"उसे", "उन्हें", "उसको", "उनको", "इन्हें", "इसे", "को"})
_WOMAN = frozenset({"महिला", "स्त्री", "फीमेल"})
_AUXILIARIES = frozenset({"है", "हैं", "था", "थे", "थी", "थीं", "हो", "हुए", "हुई", "हुआ", "रहे", "रही", "रहा", "नहीं"})


class Hindi(Attachment):
    verbs_agree_with_things = True

    def is_a_things(self, sentence: Sentence, at: int, told: Told | None) -> bool:
        """A verb that agrees with an object or a thing."""
        return (told is None or told.kind == "verb") and self.subject(sentence, at) == "other"

    def is_doubtful(self, sentence: Sentence, at: int, told: Told | None, counterpart: str) -> bool:  # noqa: ARG002
        """A verb agrees with the object, or with nothing, behind ने and को."""
        return told is None or told.kind == "verb"

    def subject(self, sentence: Sentence, at: int) -> str:
        """What a verb agrees with, `person` («वह»), `other` (an object behind «ने», a thing of hers) or ""."""
        words, lists = sentence.words, sentence.lists
        start = at
        while start > 0 and not sentence.begins_clause(start) and words[start - 1] not in _JOINING:
            start -= 1
        clause = words[start:at]
        if not _ERGATIVE.isdisjoint(clause):
            return "other"
        if any(word in _NOMINATIVE and clause[place - 1 : place] != ["यह"] for place, word in enumerate(clause)):
            return "person"
        if not _DATIVE.isdisjoint(clause):
            return "other"
        for place in range(start, at - 1):
            if words[place] in lists.possessives:
                told = lists.look_up(words[place + 1]).told
                return "" if told is not None and told.kind == "noun" else "other"
        return ""

    def is_called_a_woman(self, sentence: Sentence, at: int) -> bool:
        """«महिला नायक»: a masculine noun for a woman."""
        return at > 0 and sentence.words[at - 1] in _WOMAN

    def is_finite(self, sentence: Sentence, at: int) -> bool:
        """Whether a word that ends like a verb is one: a participle has an auxiliary behind it, a future has not."""
        word, behind = sentence.words[at], sentence.words[at + 1 : at + 2]
        return not word.endswith(("ता", "ते", "ती", "तीं")) or (bool(behind) and behind[0] in _AUXILIARIES)


ATTACHMENT = Hindi()
