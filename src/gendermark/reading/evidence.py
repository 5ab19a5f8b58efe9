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
from dataclasses import replace

from gendermark.reading.attachment import attachment, follows_closely, is_relative, is_the_persons
from gendermark.reading.gendered import Told
from gendermark.reading.sentence import FAINT, LIKELY, SURE, Sentence, Shown, has_phrase, letter_of, shown_by


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
    words, phrases = sentence.words, sentence.lists.phrases
    return {
        place
        for start, word in enumerate(words)
        for phrase in phrases.get(word, ())
        if tuple(words[start : start + len(phrase)]) == phrase
        for place in range(start, start + len(phrase))
    }


_SPEAKING = frozenset({"pronoun", "noun", "owner"})
"""Kinds of words that tell by themselves, whatever words the references have."""


def _at(sentence: Sentence, at: int) -> list[Shown]:
    word, lists = sentence.words[at], sentence.lists
    if word in lists.one_of and (found := _one_of(sentence, at)):
        return found
    if word in lists.clitics and (found := _clitic(sentence, at)):
        return found
    entry = lists.look_up(word)
    if entry.is_fixed:
        return _sex(sentence, at)
    if word in lists.fields and not _is_called(sentence, at):
        return [replace(shown, weight=FAINT) for shown in _by_reference(sentence, at, entry.told)]
    told = _told(sentence, at, entry.told) if word in lists.homographs else entry.told
    if (
        told is not None
        and told.kind in ("noun", "role")
        and (not sentence.is_noun(at) or attachment(sentence).is_thing(sentence, at))
    ):
        told = None
    if told is not None and told.kind == "role" and attachment(sentence).has_an_owner(sentence, at):
        told = None
    if told is not None and told.gender == "m" and attachment(sentence).is_called_a_woman(sentence, at):
        return []
    if sentence.lists.nominal.fullmatch(word):
        return _nominalised(sentence, at)
    article = _article(sentence, at, told, entry.is_common) if told is not None or entry.is_common else None
    if article is not None:
        return article
    if entry.is_silent:
        return _by_counterpart(sentence, at)
    is_shared = word in sentence.shared
    is_own = (word,) in sentence.contrast.right or (word,) in sentence.contrast.wrong
    speaks = told is not None and told.kind in _SPEAKING and not is_own and (not is_shared or sentence.is_surplus(word))
    if told is not None and speaks and sentence.expected:
        if sentence.is_name(at):
            return []
        if found := by_list(sentence, at, told):
            return found
    by_reference = _by_reference(sentence, at, told)
    if by_reference or is_shared or not sentence.expected:
        return by_reference
    if told is not None:
        return [] if sentence.is_name(at) else by_list(sentence, at, told)
    for reader in (_agent, _relative, _predicate, _past, _enclitic):
        if found := reader(sentence, at):
            return found
    return []


def _told(sentence: Sentence, at: int, told: Told | None) -> Told | None:
    """What a word tells here: Italian "cameriere" is a waiter, and "le cameriere" are waitresses."""
    if told is None:
        return told
    before = sentence.words[max(at - 2, 0) : at]
    if any(sentence.language.singular.get(one) == "m" for one in before):
        return told
    if any(sentence.language.plural.get(one) == "f" for one in before):
        return Told("f", told.kind, is_plural=True)
    return told if sentence.speaks_of_one else None


def _sex(sentence: Sentence, at: int) -> list[Shown]:
    """ "Masculino" and "femenino" behind a noun for people: "mejor vocalista femenina", not "equipo femenino"."""
    gender = sentence.lists.sexes.get(sentence.words[at])
    if gender is None or not at or not sentence.expected or sentence.words[at - 1] in sentence.lists.fields:
        return []
    words, language = sentence.words, sentence.language
    noun = sentence.lists.look_up(words[at - 1])
    is_person = noun.is_common or noun.is_fixed or (noun.told is not None and noun.told.kind in ("role", "norm"))
    if not is_person or (sentence.speaks_of_one and words[at].endswith(("s", "i"))):
        return []
    before = words[at - 2] if at > 1 else ""
    # "The best vocalist", "as a vocalist"; not "the socialist group"
    opens = before in language.singular or before in language.plural or before in sentence.lists.introducing
    if before and not opens and language.adjective(before, "singular") is None:
        return []
    return shown_by(sentence, at, at + 1, gender, (LIKELY, LIKELY))


def _by_counterpart(sentence: Sentence, at: int) -> list[Shown]:
    """A noun for both, where the other reference has a form of its own: "juez" beside "jueza"."""
    unit = (sentence.words[at],)
    is_right = unit in sentence.contrast.right
    if unit[0] not in sentence.lists.paired or not (is_right or unit in sentence.contrast.wrong):
        return []
    return [Shown((at, at + 1), is_right, FAINT if is_somebody_else(sentence, at, None) else LIKELY)]


def _nominalised(sentence: Sentence, at: int) -> list[Shown]:
    """ "Der Vorsitzende", "die Vorsitzende"."""
    gender = attachment(sentence).gender_of_nominalised(sentence, at)
    pair, contrast = sentence.words[max(at - 1, 0) : at + 1], sentence.contrast
    is_shared = has_phrase(contrast.right_words, pair) and has_phrase(contrast.wrong_words, pair)
    if gender is None or not sentence.expected or is_shared or sentence.is_name(at):
        return []
    if has_phrase(contrast.wrong_words, pair) and gender != sentence.expected:
        return shown_by(sentence, at, at + 1, gender, (None, SURE))
    if sentence.words[at].endswith("en"):  # "der Vorsitzenden" may be several
        return shown_by(sentence, at, at + 1, gender, (LIKELY, LIKELY if at in sentence.near else None))
    return by_role(sentence, at, Told(gender, "role"))


def _is_called(sentence: Sentence, at: int) -> bool:
    """ "Una física", "como física", "se convirtió en física": she is called so."""
    earlier, before = ["", "", *sentence.words][at : at + 2]
    introducing = sentence.lists.introducing
    return (
        before in ("una", "uma", "un'") or before in introducing or (before in ("en", "em") and earlier in introducing)
    )


def _agent(sentence: Sentence, at: int) -> list[Shown]:
    """A noun in no list that ends as those of agents do, where the person is called something."""
    gender = sentence.lists.agent(sentence.words[at])
    if gender is None or at not in sentence.near or sentence.is_name(at) or not sentence.is_noun(at):
        return []
    if not is_introduced(sentence, at):
        is_free = gender == "f" and not is_somebody_else(sentence, at, Told(gender, "role"))
        return shown_by(sentence, at, at + 1, gender, (LIKELY if is_free else None, None))
    return shown_by(sentence, at, at + 1, gender, (SURE, LIKELY))


def _relative(sentence: Sentence, at: int) -> list[Shown]:
    """A relative pronoun or participle behind a name."""
    gender = sentence.lists.relative(sentence.words[at])
    if gender is None or at not in sentence.near or not attachment(sentence).refers_to_a_name(sentence, at):
        return []
    return shown_by(sentence, at, at + 1, gender, (LIKELY, SURE))


def _past(sentence: Sentence, at: int) -> list[Shown]:
    """A verb that agrees with its subject, where the references speak of the person or a name or pronoun precedes."""
    gender = sentence.lists.verb(sentence.words[at])
    if gender is None or attachment(sentence).is_inflected_name(sentence, at):
        return []
    if (is_finite := attachment(sentence).is_finite(sentence, at)) is not None:
        return by_verb(sentence, at, Told(gender, "verb")) if is_finite else []
    subject = subject_of(sentence, at)
    is_near = at in sentence.near
    if subject == "pronoun":
        return shown_by(sentence, at, at + 1, gender, (SURE, SURE if is_near else LIKELY))
    if (subject is None and not is_near) or attachment(sentence).has_a_things_subject(sentence, at):
        return []
    if is_near and attachment(sentence).is_name_before(sentence, at):
        return shown_by(sentence, at, at + 1, gender, (LIKELY, SURE))
    return shown_by(sentence, at, at + 1, gender, (LIKELY, LIKELY if is_near and subject else None))


def _clitic(sentence: Sentence, at: int) -> list[Shown]:
    """An object pronoun that is written like an article: "la nombraron", where the references speak of the person."""
    lists, words = sentence.lists, sentence.words
    gender = lists.clitics[words[at]]
    if at + 1 == len(words) or at not in sentence.near or not sentence.expected:
        return []
    pair = words[at], words[at + 1]
    if sentence.marks.pronouns.isdisjoint(_OBJECTS) or not lists.finite.fullmatch(pair[1]):
        return []
    contrast = sentence.contrast
    if pair in contrast.right or pair in contrast.wrong:
        return [Shown((at, at + 2), pair in contrast.right, LIKELY)]
    if has_phrase(contrast.right_words, pair) and has_phrase(contrast.wrong_words, pair):
        return []
    return shown_by(sentence, at, at + 1, gender, (LIKELY, None if sentence.marks.names_things else LIKELY))


_OBJECTS = frozenset({"he", "him", "she", "her"})
"""Whom a translation may make an object: "she was named" is "la nombraron"."""


def _enclitic(sentence: Sentence, at: int) -> list[Shown]:
    """An object pronoun at the end of a verb: "verla"."""
    gender = sentence.lists.enclitic(sentence.words[at])
    if gender is None or not sentence.marks.pronouns:
        return []
    return shown_by(sentence, at, at + 1, gender, (LIKELY, None))


_ONE = frozenset({"uno", "una", "un", "une", "um", "uma", "l'"})


def _one_of(sentence: Sentence, at: int) -> list[Shown]:
    """ "Uno de los", which points at the person."""
    word = sentence.words[at]
    if not sentence.expected or not sentence.speaks_of_one:
        return []
    for phrase, gender in sentence.lists.one_of.get(word, ()):
        end = at + len(phrase)
        if tuple(sentence.words[at:end]) == phrase:
            contrast = sentence.contrast
            if has_phrase(contrast.right_words, phrase) and has_phrase(contrast.wrong_words, phrase):
                return []
            is_others = not sentence.lists.fixed.isdisjoint(sentence.words[end : end + 2])
            if word in _ONE and (is_others or behind_preposition(sentence, at)):
                return []  # "in one of the cities", "one of the celebrities"
            is_near = not sentence.near.isdisjoint(range(at, end))
            says_so = has_phrase(contrast.wrong_words, phrase) or is_introduced(sentence, at)
            right = LIKELY if is_near or says_so else FAINT  # "una de las ciudades"
            return shown_by(sentence, at, end, gender, (right, SURE if is_near and says_so else None))
    return []


def _article(sentence: Sentence, at: int, told: Told | None, is_common: bool) -> list[Shown] | None:
    """A noun for both, by its article; None if the noun tells by itself."""
    lists, words = sentence.lists, sentence.words
    masculine = told is not None and told.kind in ("role", "norm") and told.gender == "m" and not told.is_plural
    masculine = masculine and not attachment(sentence).masculine_is_plural
    if not at or not (is_common or masculine):
        return None
    before = at - 1
    language = sentence.language
    if before and (words[before] in language.transparent or language.adjective(words[before], "singular") == "mf"):
        before -= 1
    gender = lists.articles.get(words[before])
    if gender is None or not sentence.expected:
        return None
    if gender == "m" and masculine:
        return None
    if words[before] == "a" and masculine:  # "promovido a diretor"
        return None
    pair = words[before], words[at]
    contrast = sentence.contrast
    if has_phrase(contrast.right_words, pair) and has_phrase(contrast.wrong_words, pair):
        return []
    is_near = at in sentence.near or before in sentence.near
    weight = SURE if is_near else LIKELY
    is_called_so = is_near and (pair in contrast.wrong or is_introduced(sentence, at))
    if gender == "m" and words[at] in lists.habit:  # "un médecin" shows a man, beside "elle" it is only what one says
        return shown_by(sentence, before, at + 1, gender, (LIKELY, LIKELY if is_called_so else None))
    found = shown_by(sentence, before, at + 1, gender, (weight, SURE if is_called_so else LIKELY))
    own = told is not None and told.kind == "role" and words[at] not in sentence.shared
    if own and words[at] not in lists.paired:  # "la director"; of "la médico" the article alone tells
        found += shown_by(sentence, at, at + 1, "m", (weight, weight))
    return found


def _by_reference(sentence: Sentence, at: int, told: Told | None) -> list[Shown]:
    """A word, or a short one with its neighbour, that only one of the references has."""
    contrast, words, lists = sentence.contrast, sentence.words, sentence.lists
    found = []
    alone, pair = (words[at],), tuple(words[at : at + 2])
    for units, is_right in ((contrast.right, True), (contrast.wrong, False)):
        if alone not in units and pair not in units:
            continue
        if sentence.is_name(at) and (told is None or (told.kind == "noun" and not is_right)):  # "Lord Lieutenant"
            continue
        if alone in units and not (told is None and attachment(sentence).tells_nothing(sentence, at)):
            weight = SURE
            if (told is None or told.kind in ("role", "norm", "verb")) and is_somebody_else(sentence, at, told):
                weight = FAINT
            elif told is not None and told.kind == "norm":
                weight = LIKELY if is_right else FAINT
            elif not is_right and attachment(sentence).is_a_things(sentence, at, told):
                weight = FAINT
            elif not is_right and (
                _is_doubtful(sentence, at, told) or attachment(sentence).has_a_things_subject(sentence, at)
            ):
                weight = LIKELY
            found.append(Shown((at, at + 1), is_right, weight))
        if pair not in units or pair == alone:
            continue
        noun = lists.look_up(words[at + 1])
        if words[at] in lists.possessives:
            if noun.is_common:  # "sua artista": the possessive agrees with the person
                found.append(Shown((at, at + 2), is_right, LIKELY))
        elif not noun.is_fixed and words[at + 1] not in lists.habit:
            weight = SURE if lists.participle(words[at]) else LIKELY  # "élu" is as short as an article
            weight = FAINT if is_somebody_else(sentence, at + 1, None) else weight
            is_verb = lists.verb(words[at]) and not attachment(sentence).has_a_things_subject(sentence, at)
            is_verb = is_verb or (told is not None and told.kind == "verb" and follows_closely(sentence, at))
            if weight and not is_right and (is_verb or is_relative(sentence, at)):
                weight = SURE
            found.append(Shown((at, at + 2), is_right, weight))
    return found


def _is_doubtful(sentence: Sentence, at: int, told: Told | None) -> bool:
    """Whether a word of the wrong reference may well be about something else.

    So it is where the translation also has the word that the right reference has in its place; and in languages whose
    verbs agree with things too, as far as their grammar says so.
    """
    counterpart, grammar = sentence.counterparts.get(sentence.words[at], ""), attachment(sentence)
    if grammar.verbs_agree_with_things and follows_closely(sentence, at):
        return False
    if counterpart in sentence.words and (told is None or told.kind == "verb"):
        return True
    return grammar.is_doubtful(sentence, at, told, counterpart)


# -- predicates --------------------------------------------------------------------------------------------------------


_THAT = frozenset({"que", "qu'", "che"})


def _predicate(sentence: Sentence, at: int) -> list[Shown]:
    """A participle or adjective that agrees with the person as its subject, or begins a clause about the person."""
    lists, words = sentence.lists, sentence.words
    gender = lists.participle(words[at])
    copula = copula_before(sentence, at)
    if gender is None and copula is not None:
        gender = sentence.language.adjective(words[at], "singular")
    if gender not in ("m", "f") or (gender == "m" and words[at + 1 : at + 2] and words[at + 1] in _THAT):
        return []  # "fue anunciado que" is about nobody
    if words[max(at - 2, 0) : at - 1] == ["l'"] and words[at - 1] in lists.auxiliaries:  # "l'a nommée"
        told = not sentence.marks.pronouns.isdisjoint(_OBJECTS)
        return shown_by(sentence, at, at + 1, gender, (LIKELY, LIKELY if at in sentence.near else None)) if told else []
    if copula is None:
        if at in sentence.near and sentence.begins_clause(at):
            return shown_by(sentence, at, at + 1, gender, (LIKELY, LIKELY))
        first = coordinated_copula(sentence, at)
        if first is not None and subject_of(sentence, first) is not None:
            return shown_by(sentence, at, at + 1, gender, (LIKELY, LIKELY))
        return []
    subject = subject_of(sentence, copula)
    if subject is None:
        return []
    is_near = at in sentence.near
    is_sure = subject == "pronoun" and not sentence.marks.names_things  # "il a été diffusé": it was
    wrong = SURE if is_sure else LIKELY if is_near else None
    return shown_by(sentence, at, at + 1, gender, (SURE if subject == "pronoun" or is_near else LIKELY, wrong))


# -- whose word a word is: the person's, somebody else's or a thing's, by the words around it --------------------------

_REACH = 4
"""Words between "as", "is" and the noun behind it."""


def is_somebody_else(sentence: Sentence, at: int, told: Told | None) -> bool:
    """By number or owner: "the players", "her director", where the source marks one person and the owner."""
    if not sentence.marks.genders:
        return False
    words, lists = sentence.words, sentence.lists
    if (at and words[at - 1] in lists.possessives) or attachment(sentence).is_of_a_post(sentence, at):
        return True
    if at and told is None and _is_of_a_thing(sentence, at):
        return True
    if at and told is not None and told.kind == "role" and _follows_a_thing(sentence, at, told.gender):
        return True
    looks_plural = len(words[at]) > 3 and words[at].endswith(sentence.language.plural_endings)
    is_plural = told.is_plural if told else looks_plural
    is_plural = is_plural or attachment(sentence).is_group(sentence, at) or attachment(sentence).is_dual(sentence, at)
    return is_plural and sentence.speaks_of_one


def _is_of_a_thing(sentence: Sentence, at: int) -> bool:
    """Whether an adjective belongs to a noun that tells nothing ("membro honorário"), a participle to a thing."""
    lists, before = sentence.lists, sentence.words[at - 1]
    if _fixed_before(sentence, at) or (before in lists.habit and _gender_of_form(sentence, at) == "m"):
        return True
    if _follows_a_thing(sentence, at, _gender_of_form(sentence, at)):
        return True
    if lists.verb(sentence.words[at]) and at not in sentence.near and subject_of(sentence, at) is None:
        return True
    copula = copula_before(sentence, at)
    return (
        copula is not None and lists.participle(sentence.words[at]) is not None and subject_of(sentence, copula) is None
    )


def _fixed_before(sentence: Sentence, at: int) -> bool:
    """Whether a noun of one gender stands before an adjective, or a little before a participle."""
    words, lists = sentence.words, sentence.lists
    reach = _REACH if lists.participle(words[at]) else 1
    for place in range(at - 1, max(at - 1 - reach, -1), -1):
        if words[place] in lists.fixed:
            return True
        if sentence.begins_clause(place + 1) or words[place] in lists.copulas or words[place] in lists.told:
            return False
    return False


def _follows_a_thing(sentence: Sentence, at: int, form: str | None) -> bool:
    """Whether an adjective stands behind a noun of its own gender that names no person ("el Parlamento británico")."""
    lists, words, language = sentence.lists, sentence.words, sentence.language
    if not language.adjectives_follow or not form:
        return False
    noun = lists.look_up(words[at - 1])
    known = (
        noun.told or noun.is_common or noun.is_silent or lists.participle(words[at - 1]) or lists.agent(words[at - 1])
    )
    if known or len(words[at - 1]) < _SHORT or words[at - 1] in lists.adverbs | lists.copulas | lists.introducing:
        return False
    if language.adjective(words[at - 1], "singular") is not None or sentence.begins_clause(at):
        return False
    return any(
        form in language.singular.get(words[place], "") and not sentence.begins_clause(place + 1)
        for place in range(max(at - 3, 0), at - 1)
    )


def _gender_of_form(sentence: Sentence, at: int) -> str | None:
    """The gender of a word that only one of the references has."""
    unit = (sentence.words[at],)
    if unit in sentence.contrast.right:
        return sentence.expected
    return {"m": "f", "f": "m"}.get(sentence.expected) if unit in sentence.contrast.wrong else None


def behind_preposition(sentence: Sentence, at: int) -> bool:
    return at > 0 and sentence.words[at - 1] in _PREPOSITIONS


def is_introduced(sentence: Sentence, at: int) -> bool:
    """Whether the noun is a predicate: "como jugador", "fue un jugador", "كلاعب"."""
    if attachment(sentence).is_introduced(sentence.words[at]):
        return True
    for place in range(at - 1, max(at - 1 - _REACH, -1), -1):
        if sentence.begins_clause(place + 1) or sentence.words[place] in _PREPOSITIONS:
            return False
        if sentence.words[place] in sentence.lists.introducing:
            return True
    return False


_AND = frozenset({"et", "y", "e", "ed"})


def coordinated_copula(sentence: Sentence, at: int) -> int | None:
    """The copula that a participle behind "and" shares: "era de Lyon y nacida en 1900"."""
    if not at or sentence.words[at - 1] not in _AND:
        return None
    for place in range(at - 1, -1, -1):
        if sentence.words[place] in sentence.lists.copulas:
            return place
        if sentence.begins_clause(place):
            return None
    return None


def copula_before(sentence: Sentence, at: int) -> int | None:
    lists, words = sentence.lists, sentence.words
    before = at - 1
    while before >= 0 and words[before] in lists.adverbs and words[before] not in lists.copulas:
        before -= 1
    return before if before >= 0 and words[before] in lists.copulas else None


def subject_of(sentence: Sentence, copula: int) -> str | None:
    """What stands before a copula: `pronoun`, `open` (nothing, a name, a relative) or None for a thing."""
    lists, words = sentence.lists, sentence.words
    at = copula
    passed = lists.adverbs | lists.auxiliaries | lists.copulas
    while at > 0 and not sentence.begins_clause(at) and words[at - 1] in passed:
        at -= 1
    if not _DATIVES.isdisjoint(words[at:copula]):  # "le fue concedida una medalla"
        return None
    if at == 0 or sentence.begins_clause(at):
        return "open"
    before = words[at - 1]
    if (told := lists.told.get(before)) and told.kind in ("pronoun", "noun", "role", "norm"):
        if told.kind != "pronoun":
            return "open"
        # "The body of her was buried": the pronoun belongs to the subject.
        return None if before in lists.obliques or behind_preposition(sentence, at - 1) else "pronoun"
    start, _ = sentence.spans[at - 1]
    if sentence.text[start].isupper() and _belongs_to_a_thing(sentence, at - 1):
        return None
    if sentence.text[start].isupper() or len(before) < _SHORT or before.isdigit():
        return "open"
    language = sentence.language
    determined = any(
        word in language.singular or word in language.plural or word in lists.possessives
        for word in words[max(at - 1 - _SUBJECT_REACH, 0) : at - 1]
    )
    return None if determined or not language.has_articles else "open"


def _belongs_to_a_thing(sentence: Sentence, at: int) -> bool:
    """Whether a name is whose a thing is: "la conducta de Fouché", not "la reina de Inglaterra"."""
    lists, words = sentence.lists, sentence.words
    while at > 1 and sentence.is_capital(at) and words[at - 1] not in _OF and sentence.is_capital(at - 1):
        at -= 1
    if at < 3 or words[at - 1] not in _OF or sentence.is_capital(at - 2):
        return False
    noun = lists.look_up(words[at - 2])
    is_person = noun.told or noun.is_common or noun.is_silent or noun.is_fixed or lists.agent(words[at - 2])
    is_determined = words[at - 3] in sentence.language.singular or words[at - 3] in lists.possessives
    return is_determined and not is_person and lists.participle(words[at - 2]) is None


_PREPOSITIONS = frozenset(
    {"de", "d'", "di", "da", "con", "com", "avec", "por", "par", "per"}
    | {"para", "pour", "dans", "à", "sur", "sobre", "su", "tra", "fra", "entre"}
    | {"contra", "contro", "contre", "sem", "sin", "sans", "senza", "em", "chez", "vers"}
    | {"hacia", "verso", "hasta", "até", "fino", "desde", "depuis", "dopo", "après"}
)
_DATIVES = frozenset({"gli", "le", "lui", "lhe"})
_OF = frozenset({"de", "d'", "di"})
_SHORT = 4
"""Letters of a relative pronoun or a conjunction before a verb without a subject."""
_SUBJECT_REACH = 3
"""Words before a noun among which its article stands."""


# -- what the words of our lists show: pronouns, possessives, nouns, roles and verbs -----------------------------------


def by_list(sentence: Sentence, at: int, told: Told) -> list[Shown]:
    """What a word of a list shows."""
    return _KINDS[told.kind](sentence, at, told)


def _pronoun(sentence: Sentence, at: int, told: Told) -> list[Shown]:
    marks = sentence.marks
    if told.is_plural and sentence.speaks_of_one:
        return [] if marks.names_several else shown_by(sentence, at, at + 1, told.gender, (FAINT, FAINT))
    weak = marks.names_things or not marks.pronouns or sentence.words[at] in _ALSO_THEY
    weak = weak or (sentence.words[at] == "il" and not _takes_her_place(sentence))
    weak = weak or attachment(sentence).pronouns_are_weak
    weak = weak or told.is_plural or behind_preposition(sentence, at)  # "they" may be all, "with her" a thing
    right = LIKELY if _is_impersonal(sentence, at) or (marks.names_several and not marks.pronouns) else SURE
    weak = weak and not is_the_persons(sentence, at, told)
    if attachment(sentence).is_a_things(sentence, at, told):
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
    if marks.names_several and told.gender == "f" and attachment(sentence).her_is_their:  # "ihre" is also "their"
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
    subject = attachment(sentence).subject(sentence, at)
    if subject is not None:
        if subject == "other" or not (subject or is_near):
            return []
        weight = SURE if subject else LIKELY
        return shown_by(sentence, at, at + 1, told.gender, (weight, weight if is_near else LIKELY))
    return shown_by(sentence, at, at + 1, told.gender, (LIKELY if is_near else FAINT, LIKELY if is_near else None))


_KINDS = {"pronoun": _pronoun, "owner": _owner, "noun": _noun, "role": by_role, "norm": _norm, "verb": by_verb}
