"""What the words of our lists show, kind by kind: pronouns, possessives, nouns, roles and verbs."""

from __future__ import annotations

from gendermark.linguistics.gendered import Told
from gendermark.linguistics.grammar import is_a_things, is_the_persons, subject_in_hindi
from gendermark.linguistics.held import Sentence, letter_of
from gendermark.linguistics.shown import FAINT, LIKELY, SURE, Shown, shown_by
from gendermark.linguistics.whose import behind_preposition, is_introduced, is_somebody_else


def by_list(sentence: Sentence, at: int, told: Told) -> list[Shown]:
    """What a word of a list shows."""
    return _KINDS[told.kind](sentence, at, told)


def _pronoun(sentence: Sentence, at: int, told: Told) -> list[Shown]:
    marks = sentence.marks
    if told.is_plural and sentence.speaks_of_one:
        return [] if marks.names_several else shown_by(sentence, at, at + 1, told.gender, (FAINT, FAINT))
    weak = marks.names_things or not marks.pronouns or sentence.words[at] in _ALSO_THEY
    weak = weak or (sentence.words[at] == "il" and not _takes_her_place(sentence))
    weak = weak or sentence.language.code == "ar"
    weak = weak or told.is_plural or behind_preposition(sentence, at)  # "they" may be all, "with her" a thing
    right = LIKELY if _is_impersonal(sentence, at) or (marks.names_several and not marks.pronouns) else SURE
    weak = weak and not is_the_persons(sentence, at, told)
    if is_a_things(sentence, at, told):
        return shown_by(sentence, at, at + 1, told.gender, (right, FAINT))
    return shown_by(sentence, at, at + 1, told.gender, (right, LIKELY if weak else SURE))


_ALSO_THEY = frozenset({"sie", "ze", "zij", "им"})


def _takes_her_place(sentence: Sentence) -> bool:
    """Whether French "il" is where the right reference has "elle": both together are no more than there."""
    words, right = sentence.words, sentence.contrast.right_words
    return "il" not in right and words.count("il") + words.count("elle") <= right.count("elle")


def _is_impersonal(sentence: Sentence, at: int) -> bool:
    """ "Il y a", "il est possible"; German "sie" where several are spoken of."""
    word = sentence.words[at]
    return word == "il" or (word in _ALSO_THEY and sentence.marks.names_several)


def _owner(sentence: Sentence, at: int, told: Told) -> list[Shown]:
    marks = sentence.marks
    if not marks.pronouns:
        return []
    if is_the_persons(sentence, at, told):
        return shown_by(sentence, at, at + 1, told.gender, (None, SURE))
    against = FAINT if at in sentence.near else None
    if marks.names_several and told.gender == "f" and sentence.language.code != "ru":  # "ihre" is also "their"
        return shown_by(sentence, at, at + 1, told.gender, (FAINT, against))
    doubtful = marks.names_things or marks.names_several or sentence.words[at] in ("sein", "ihr", "zijn")
    return shown_by(sentence, at, at + 1, told.gender, (LIKELY if doubtful else SURE, against if doubtful else LIKELY))


def _noun(sentence: Sentence, at: int, told: Told) -> list[Shown]:
    marks = sentence.marks
    if told.is_plural and sentence.speaks_of_one:
        return shown_by(sentence, at, at + 1, told.gender, (FAINT, None))
    is_kin = marks.names_relatives and sentence.words[at] in sentence.lists.kin  # "his child" is "su hijo"
    sure = SURE if marks.genders and not is_kin else LIKELY
    opposite = any(letter_of(gender) not in ("", sentence.expected) for gender in marks.genders)
    # "The chamber of businessmen", "her child": others
    doubtful = marks.names_relatives or at not in sentence.near or (told.is_plural and not marks.plural)
    against = LIKELY if doubtful else sure
    return shown_by(sentence, at, at + 1, told.gender, (sure, None if opposite else against))


def by_role(sentence: Sentence, at: int, told: Told) -> list[Shown]:
    if is_somebody_else(sentence, at, told):
        return []
    is_near = at in sentence.near
    wrong = None
    if is_near:
        wrong = SURE if is_introduced(sentence, at) else LIKELY
    return shown_by(sentence, at, at + 1, told.gender, (SURE if is_near else LIKELY, wrong))


def _norm(sentence: Sentence, at: int, told: Told) -> list[Shown]:
    # A word that only ends like such a noun counts where a reference has it.
    if sentence.words[at] not in sentence.lists.told or is_somebody_else(sentence, at, told):
        return []
    return shown_by(sentence, at, at + 1, told.gender, (LIKELY, FAINT))


def by_verb(sentence: Sentence, at: int, told: Told) -> list[Shown]:
    is_near = at in sentence.near
    if sentence.language.code == "hi":
        subject = subject_in_hindi(sentence, at)
        if subject == "other" or not (subject or is_near):
            return []
        weight = SURE if subject else LIKELY
        return shown_by(sentence, at, at + 1, told.gender, (weight, weight if is_near else LIKELY))
    return shown_by(sentence, at, at + 1, told.gender, (LIKELY if is_near else FAINT, LIKELY if is_near else None))


_KINDS = {"pronoun": _pronoun, "owner": _owner, "noun": _noun, "role": by_role, "norm": _norm, "verb": by_verb}
