"""What a translation shows about the people whose gender its source marks, weighed word by word.

Two things are known: the English sentence, and two references that differ in that gender alone. From them follows whose
word a word is. What both references have in the same form does not change with the person: it is about somebody or
something else. What stands where the references differ is about the person, whatever word the translation chose.

Each piece of evidence has a weight. `SURE`: a pronoun, a noun of sex or kinship, a word that only one of the references
has. `LIKELY`: a word that shows a gender, but that may be somebody else's. `FAINT`: a word of the references that by
its number or its owner belongs to others ("her director", "the players"), which counts if nothing else is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from gendermark.linguistics.gendered import Told
from gendermark.linguistics.grammar import (
    copula_before,
    follows_closely,
    gender_of_nominalised,
    has_a_things_subject,
    has_an_owner,
    is_a_things,
    is_called_a_woman,
    is_dual,
    is_finite_in_hindi,
    is_group,
    is_inflected_name,
    is_name_before,
    is_of_a_post,
    is_relative,
    is_the_persons,
    is_thing,
    refers_to_a_name,
    subject_in_hindi,
    subject_of,
    tells_nothing,
)
from gendermark.linguistics.held import Sentence, has_phrase, letter_of
from gendermark.linguistics.words import Place

SURE, LIKELY, FAINT = 2, 1, 0
_REACH = 4
"""Words between "as", "is" and the noun behind it."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One piece of evidence: words[start:end] show a gender."""

    place: Place
    is_right: bool
    weight: int


def gather(sentence: Sentence) -> list[Shown]:
    """All evidence of a translation, in the order of its words."""
    if not sentence.is_rendering:
        sentence = replace(sentence, expected="")
    found: list[Shown] = []
    skipped = _set_phrases(sentence)
    for at in range(len(sentence.words)):
        if at not in skipped:
            found += _at(sentence, at)
    return found


def decide(found: Iterable[Shown]) -> tuple[str, list[Shown]]:
    """The outcome, and the evidence that decided."""
    found = list(found)
    told = [shown for shown in found if shown.weight > FAINT] or found
    right, wrong = ([shown for shown in told if shown.is_right is side] for side in (True, False))
    strongest = max((shown.weight for shown in right), default=FAINT)
    # What is only likely does not speak against what is sure.
    if right and strongest == SURE:
        wrong = [shown for shown in wrong if shown.weight == SURE]
    outcome = "mixed" if right and wrong else "correct" if right else "wrong" if wrong else "undecided"
    return outcome, sorted([*right, *wrong], key=lambda shown: shown.place)


def is_a_name_of_the_person(sentence: Sentence, shown: Shown) -> bool:
    """Whether evidence is one word, and no pronoun: such a word of a reference is hardly the context's."""
    start, end = shown.place
    told = sentence.lists.look_up(sentence.words[start]).told
    return end - start == 1 and (told is None or told.kind not in ("pronoun", "owner"))


# -- one word ----------------------------------------------------------------------------------------------------------


def _set_phrases(sentence: Sentence) -> set[int]:
    words = sentence.words
    return {
        place
        for phrase in sentence.lists.phrases
        if phrase[0] in words
        for start in range(len(words) - len(phrase) + 1)
        if tuple(words[start : start + len(phrase)]) == phrase
        for place in range(start, start + len(phrase))
    }


_SPEAKING = frozenset({"pronoun", "noun", "owner"})
"""Kinds of words that tell by themselves, whatever words the references have."""


def _at(sentence: Sentence, at: int) -> list[Shown]:
    word = sentence.words[at]
    if found := _one_of(sentence, at):
        return found
    entry = sentence.lists.look_up(word)
    if entry.is_fixed or (word in sentence.lists.fields and not _is_called(sentence, at)):
        return []
    told = entry.told
    if told is not None and told.kind in ("noun", "role") and (not sentence.is_noun(at) or is_thing(sentence, at)):
        told = None
    if told is not None and told.kind == "role" and has_an_owner(sentence, at):
        told = None
    if told is not None and told.gender == "m" and is_called_a_woman(sentence, at):
        return []
    if sentence.lists.nominal.fullmatch(word):
        return _nominalised(sentence, at)
    article = _article(sentence, at, told, entry.is_common) if told is not None or entry.is_common else None
    if article is not None:
        return article
    if entry.is_silent:
        return []
    is_shared = word in sentence.shared
    is_own = (word,) in sentence.contrast.right or (word,) in sentence.contrast.wrong
    speaks = told is not None and told.kind in _SPEAKING and not is_own and (not is_shared or sentence.is_surplus(word))
    if told is not None and speaks and sentence.expected:
        if sentence.is_name(at):
            return []
        if found := _by_list(sentence, at, told):
            return found
    by_reference = _by_reference(sentence, at, told)
    if by_reference or is_shared or not sentence.expected:
        return by_reference
    if told is not None:
        return [] if sentence.is_name(at) else _by_list(sentence, at, told)
    for reader in (_agent, _relative, _predicate, _past, _clitic):
        if found := reader(sentence, at):
            return found
    return []


def _nominalised(sentence: Sentence, at: int) -> list[Shown]:
    """ "Der Vorsitzende", "die Vorsitzende"."""
    gender = gender_of_nominalised(sentence, at)
    pair, contrast = sentence.words[max(at - 1, 0) : at + 1], sentence.contrast
    is_shared = has_phrase(contrast.right_words, pair) and has_phrase(contrast.wrong_words, pair)
    if gender is None or not sentence.expected or is_shared or sentence.is_name(at):
        return []
    if has_phrase(contrast.wrong_words, pair) and gender != sentence.expected:
        return _shown(sentence, at, at + 1, gender, (None, SURE))
    if sentence.words[at].endswith("en"):  # "der Vorsitzenden" may be several
        return _shown(sentence, at, at + 1, gender, (LIKELY, LIKELY if at in sentence.near else None))
    return _role(sentence, at, Told(gender, "role"))


def _is_called(sentence: Sentence, at: int) -> bool:
    """ "Una física", "como física": she is called so."""
    before = sentence.words[at - 1] if at else ""
    return before in ("una", "uma", "un'") or before in sentence.lists.introducing


def _agent(sentence: Sentence, at: int) -> list[Shown]:
    """A noun in no list that ends as those of agents do, where the person is called something."""
    gender = sentence.lists.agent(sentence.words[at])
    if gender is None or at not in sentence.near or sentence.is_name(at) or not sentence.is_noun(at):
        return []
    if not _is_introduced(sentence, at):
        return _shown(sentence, at, at + 1, gender, (LIKELY if gender == "f" else None, None))
    return _shown(sentence, at, at + 1, gender, (SURE, LIKELY))


def _relative(sentence: Sentence, at: int) -> list[Shown]:
    """A relative pronoun or participle behind a name."""
    gender = sentence.lists.relative(sentence.words[at])
    if gender is None or at not in sentence.near or not refers_to_a_name(sentence, at):
        return []
    return _shown(sentence, at, at + 1, gender, (LIKELY, SURE))


def _past(sentence: Sentence, at: int) -> list[Shown]:
    """A verb that agrees with its subject, where the references speak of the person or a name or pronoun precedes."""
    gender = sentence.lists.verb(sentence.words[at])
    if gender is None or is_inflected_name(sentence, at):
        return []
    if sentence.language.code == "hi":
        return _verb(sentence, at, Told(gender, "verb")) if is_finite_in_hindi(sentence, at) else []
    subject = subject_of(sentence, at)
    is_near = at in sentence.near
    if subject == "pronoun":
        return _shown(sentence, at, at + 1, gender, (SURE, SURE if is_near else LIKELY))
    if (subject is None and not is_near) or has_a_things_subject(sentence, at):
        return []
    if is_near and is_name_before(sentence, at):
        return _shown(sentence, at, at + 1, gender, (LIKELY, SURE))
    return _shown(sentence, at, at + 1, gender, (LIKELY, LIKELY if is_near and subject else None))


def _clitic(sentence: Sentence, at: int) -> list[Shown]:
    """An object pronoun: "verla", or "la" where the references have one."""
    lists, words = sentence.lists, sentence.words
    if not sentence.marks.pronouns:
        return []
    if gender := lists.enclitic(words[at]):
        return _shown(sentence, at, at + 1, gender, (LIKELY, None))
    return []


def _shown(
    sentence: Sentence, start: int, end: int, gender: str, weights: tuple[int | None, int | None]
) -> list[Shown]:
    """Evidence with the weight for the right or for the wrong gender; none where that is None."""
    is_right = gender == sentence.expected
    weight = weights[0] if is_right else weights[1]
    return [] if weight is None else [Shown((start, end), is_right, weight)]


def _one_of(sentence: Sentence, at: int) -> list[Shown]:
    """ "Uno de los", which points at the person."""
    word = sentence.words[at]
    for phrase, gender in sentence.lists.one_of.items():
        if phrase[0] != word or not sentence.expected or not sentence.speaks_of_one:
            continue
        end = at + len(phrase)
        if tuple(sentence.words[at:end]) == phrase:
            contrast = sentence.contrast
            if has_phrase(contrast.right_words, phrase) and has_phrase(contrast.wrong_words, phrase):
                return []
            is_near = not sentence.near.isdisjoint(range(at, end))
            says_so = has_phrase(contrast.wrong_words, phrase) or _is_introduced(sentence, at)
            return _shown(sentence, at, end, gender, (LIKELY, SURE if is_near and says_so else None))
    return []


def _article(sentence: Sentence, at: int, told: Told | None, is_common: bool) -> list[Shown] | None:
    """A noun for both, by its article; None if the noun tells by itself."""
    lists, words = sentence.lists, sentence.words
    masculine = told is not None and told.kind in ("role", "norm") and told.gender == "m" and not told.is_plural
    masculine = masculine and sentence.language.code != "de"  # "die Spieler" are several
    if not at or not (is_common or masculine):
        return None
    before = at - 1
    language = sentence.language
    if before and (words[before] in language.transparent or language.adjective(words[before], "singular") == "mf"):
        before -= 1
    gender = lists.articles.get(words[before])
    if gender is None or not sentence.expected:
        return None
    if gender == "m" and (masculine or words[at] in lists.habit):
        return None
    if words[before] == "a" and masculine:  # "promovido a diretor"
        return None
    pair = words[before], words[at]
    contrast = sentence.contrast
    if has_phrase(contrast.right_words, pair) and has_phrase(contrast.wrong_words, pair):
        return []
    is_near = at in sentence.near or before in sentence.near
    weight = SURE if is_near else LIKELY
    is_called_so = is_near and (pair in contrast.wrong or _is_introduced(sentence, at))
    found = _shown(sentence, before, at + 1, gender, (weight, SURE if is_called_so else LIKELY))
    if (
        told is not None and told.kind == "role" and words[at] not in sentence.shared
    ):  # "la director"; of "la médico" the article alone tells
        found += _shown(sentence, at, at + 1, "m", (weight, weight))
    return found


def _by_reference(sentence: Sentence, at: int, told: Told | None) -> list[Shown]:
    """A word, or a short one with its neighbour, that only one of the references has."""
    contrast, words, lists = sentence.contrast, sentence.words, sentence.lists
    found = []
    for units, is_right in ((contrast.right, True), (contrast.wrong, False)):
        if (words[at],) in units and not (told is None and tells_nothing(sentence, at)):
            weight = SURE
            if (told is None or told.kind in ("role", "norm", "verb")) and _is_somebody_else(sentence, at, told):
                weight = FAINT
            elif told is not None and told.kind == "norm":
                weight = LIKELY if is_right else FAINT
            elif not is_right and is_a_things(sentence, at, told):
                weight = FAINT
            elif not is_right and (_is_doubtful(sentence, at, told) or has_a_things_subject(sentence, at)):
                weight = LIKELY
            found.append(Shown((at, at + 1), is_right, weight))
        if at + 1 == len(words) or (words[at], words[at + 1]) not in units:
            continue
        noun = lists.look_up(words[at + 1])
        if words[at] in lists.possessives:
            if noun.is_common:  # "sua artista": the possessive agrees with the person
                found.append(Shown((at, at + 2), is_right, LIKELY))
        elif not noun.is_fixed and words[at + 1] not in lists.habit:
            weight = FAINT if _is_somebody_else(sentence, at + 1, None) else LIKELY
            is_verb = lists.verb(words[at]) and not has_a_things_subject(sentence, at)
            is_verb = is_verb or (told is not None and told.kind == "verb" and follows_closely(sentence, at))
            if weight and not is_right and (is_verb or is_relative(sentence, at)):
                weight = SURE
            found.append(Shown((at, at + 2), is_right, weight))
    return found


def _is_doubtful(sentence: Sentence, at: int, told: Told | None) -> bool:
    """Whether a word of the wrong reference may well be about something else.

    So it is where the translation also has the word that the right reference has in its place; and in Arabic, whose
    verbs, relatives and attached pronouns agree with things too, unless it is a noun or an adjective; so in Hindi.
    """
    word = sentence.words[at]
    counterpart = sentence.counterparts.get(word, "")
    if sentence.language.code in _OFTEN_A_THINGS and follows_closely(sentence, at):
        return False
    if counterpart in sentence.words and (told is None or told.kind == "verb"):
        return True
    if sentence.language.code == "hi":  # a verb agrees with the object, or with nothing, behind ने and को
        return told is None or told.kind == "verb"
    if sentence.language.code != "ar" or (told is not None and told.kind in ("noun", "role")):
        return False
    return counterpart not in (word + "ة", word.removesuffix("ا") + "ة", word.removesuffix("ة")) or counterpart == word


_OFTEN_A_THINGS = frozenset({"ar", "hi"})


def _is_somebody_else(sentence: Sentence, at: int, told: Told | None) -> bool:
    """By number or owner: "the players", "her director", where the source marks one person and the owner."""
    if not sentence.marks.genders:
        return False
    words, lists = sentence.words, sentence.lists
    if (at and words[at - 1] in lists.possessives) or is_of_a_post(sentence, at):
        return True
    if at and told is None and _is_of_a_thing(sentence, at):
        return True
    is_plural = told.is_plural if told else _looks_plural(sentence.language.code, words[at])
    is_plural = is_plural or is_group(sentence, at) or is_dual(sentence, at)
    return is_plural and sentence.speaks_of_one


def _is_of_a_thing(sentence: Sentence, at: int) -> bool:
    """Whether an adjective belongs to a noun that tells nothing ("membro honorário"), a participle to a thing."""
    lists, before = sentence.lists, sentence.words[at - 1]
    if lists.look_up(before).is_fixed or (before in lists.habit and _gender_of_form(sentence, at) == "m"):
        return True
    if lists.verb(sentence.words[at]) and at not in sentence.near and subject_of(sentence, at) is None:
        return True
    copula = copula_before(sentence, at)
    return (
        copula is not None and lists.participle(sentence.words[at]) is not None and subject_of(sentence, copula) is None
    )


def _gender_of_form(sentence: Sentence, at: int) -> str | None:
    """The gender of a word that only one of the references has."""
    unit = (sentence.words[at],)
    if unit in sentence.contrast.right:
        return sentence.expected
    return {"m": "f", "f": "m"}.get(sentence.expected) if unit in sentence.contrast.wrong else None


_PLURALS = {
    "es": ("os", "as", "es"),
    "pt": ("os", "as", "es"),
    "fr": ("es", "és", "rs", "ns", "ts", "ds", "fs", "aux"),
    "it": ("i",),
    "de": ("innen",),
    "ar": ("ين", "ون", "ات", "وا"),
}


def _looks_plural(code: str, word: str) -> bool:
    return len(word) > 3 and word.endswith(_PLURALS.get(code, ("\n",)))


def _by_list(sentence: Sentence, at: int, told: Told) -> list[Shown]:
    return _KINDS[told.kind](sentence, at, told)


def _pronoun(sentence: Sentence, at: int, told: Told) -> list[Shown]:
    marks = sentence.marks
    if told.is_plural and sentence.speaks_of_one:
        return _shown(sentence, at, at + 1, told.gender, (FAINT, FAINT))
    weak = marks.names_things or not marks.pronouns or sentence.words[at] in _ALSO_THEY | {"il"}
    weak = weak or sentence.language.code == "ar"
    right = LIKELY if _is_impersonal(sentence, at) or (marks.names_several and not marks.pronouns) else SURE
    weak = weak and not is_the_persons(sentence, at, told)
    if is_a_things(sentence, at, told):
        return _shown(sentence, at, at + 1, told.gender, (right, FAINT))
    return _shown(sentence, at, at + 1, told.gender, (right, LIKELY if weak else SURE))


_ALSO_THEY = frozenset({"sie", "ze", "zij", "им"})


def _is_impersonal(sentence: Sentence, at: int) -> bool:
    """ "Il y a", "il est possible"; German "sie" where several are spoken of."""
    word = sentence.words[at]
    return word == "il" or (word in _ALSO_THEY and sentence.marks.names_several)


def _owner(sentence: Sentence, at: int, told: Told) -> list[Shown]:
    marks = sentence.marks
    if not marks.pronouns:
        return []
    if is_the_persons(sentence, at, told):
        return _shown(sentence, at, at + 1, told.gender, (None, SURE))
    against = FAINT if at in sentence.near else None
    if marks.names_several and told.gender == "f" and sentence.language.code != "ru":  # "ihre" is also "their"
        return _shown(sentence, at, at + 1, told.gender, (FAINT, against))
    doubtful = marks.names_things or marks.names_several or sentence.words[at] in ("sein", "ihr", "zijn")
    return _shown(sentence, at, at + 1, told.gender, (LIKELY if doubtful else SURE, against if doubtful else LIKELY))


def _noun(sentence: Sentence, at: int, told: Told) -> list[Shown]:
    if told.is_plural and sentence.speaks_of_one:
        return _shown(sentence, at, at + 1, told.gender, (FAINT, None))
    sure = SURE if sentence.marks.genders else LIKELY
    opposite = any(letter_of(gender) not in ("", sentence.expected) for gender in sentence.marks.genders)
    # "The chamber of businessmen", "her child": others
    doubtful = told.is_plural or sentence.marks.names_relatives or at not in sentence.near
    against = LIKELY if doubtful else sure
    return _shown(sentence, at, at + 1, told.gender, (sure, None if opposite else against))


def _role(sentence: Sentence, at: int, told: Told) -> list[Shown]:
    if _is_somebody_else(sentence, at, told):
        return []
    is_near = at in sentence.near
    wrong = None
    if is_near:
        wrong = SURE if _is_introduced(sentence, at) else LIKELY
    return _shown(sentence, at, at + 1, told.gender, (SURE if is_near else LIKELY, wrong))


def _norm(sentence: Sentence, at: int, told: Told) -> list[Shown]:
    # A word that only ends like such a noun counts where a reference has it.
    if sentence.words[at] not in sentence.lists.told or _is_somebody_else(sentence, at, told):
        return []
    return _shown(sentence, at, at + 1, told.gender, (LIKELY, FAINT))


def _is_introduced(sentence: Sentence, at: int) -> bool:
    """Whether the noun is a predicate: "como jugador", "fue un jugador", "كلاعب"."""
    if sentence.language.code == "ar" and sentence.words[at].startswith("ك"):
        return True
    for place in range(at - 1, max(at - 1 - _REACH, -1), -1):
        if sentence.begins_clause(place + 1):
            return False
        if sentence.words[place] in sentence.lists.introducing:
            return True
    return False


def _verb(sentence: Sentence, at: int, told: Told) -> list[Shown]:
    is_near = at in sentence.near
    if sentence.language.code == "hi":
        subject = subject_in_hindi(sentence, at)
        if subject == "other" or not (subject or is_near):
            return []
        weight = SURE if subject else LIKELY
        return _shown(sentence, at, at + 1, told.gender, (weight, weight if is_near else LIKELY))
    return _shown(sentence, at, at + 1, told.gender, (LIKELY if is_near else FAINT, LIKELY if is_near else None))


_KINDS = {"pronoun": _pronoun, "owner": _owner, "noun": _noun, "role": _role, "norm": _norm, "verb": _verb}


# -- predicates --------------------------------------------------------------------------------------------------------


def _predicate(sentence: Sentence, at: int) -> list[Shown]:
    """A participle or adjective that agrees with the person as its subject, or begins a clause about the person."""
    lists, words = sentence.lists, sentence.words
    gender = lists.participle(words[at])
    copula = copula_before(sentence, at)
    if gender is None and copula is not None:
        gender = sentence.language.adjective(words[at], "singular")
    if gender not in ("m", "f"):
        return []
    if copula is None:
        if at in sentence.near and sentence.begins_clause(at):
            return _shown(sentence, at, at + 1, gender, (LIKELY, LIKELY))
        return []
    subject = subject_of(sentence, copula)
    if subject is None:
        return []
    is_near = at in sentence.near
    wrong = SURE if subject == "pronoun" else LIKELY if is_near else None
    return _shown(sentence, at, at + 1, gender, (SURE if subject == "pronoun" or is_near else LIKELY, wrong))
