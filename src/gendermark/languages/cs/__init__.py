"""Czech.

Nearly every occupation noun tells by its form (řidič, řidička). The exceptions decline like soft adjectives: "účetní",
"vedoucí", "recepční" are the nominative of both genders, every case of the feminine singular, and plural. So they are
decided by

- determiners and adjectives ("ta účetní", "nový účetní");
- the case a preposition asks for: after "s", "od", "k" ... the masculine would be "účetním", "účetního", "účetnímu",
  so "s účetní" is a woman, and "s účetním" (not the dative plural there) is a man. Likewise hard adjectives: "od
  strážné" is a woman, "se strážným" a man. An object ("farmář navštívil účetní") is a woman for the same reason;
- the past tense ("účetní řekla") and the predicate adjective ("účetní je unavená") behind a noun that opens its clause,
  and the relative pronoun right behind the noun ("účetní, která").

Left out of the tables are the forms that also are other words: "tom", "toho", "tomu", "tím" (neuter pronoun: "o tom
řidička mluvila"), "má" (has), "tu" (here), "jednou" (once). "Moje", "naše", "ty" are nominative feminine but accusative
of both genders in the plural.

A masculine noun in the nominative is looked at too, since a translation may say "lékař řekla". Neuters ("dítě") tell
nothing, and no attribute of theirs does. Without any sign "účetní" stays open.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gendermark.languages.language import Agreement, Clue, Clues, Language
from gendermark.languages.tables import gender_by_ending, toml_of, word_set, words_of

_W, _TABLES = words_of("cs")

# Adjectives whose endings -á, -ou, -ém could otherwise be a verb's, a noun's or an adverb's (hledá, ženou, problém).
_STEM = re.compile(
    r"nov|star|mlad|dobr|chytr|mil|hodn|mal|velk|vysok|skvěl|býval|dlouholet|znám|bohat|chud|přísn|smutn|šťastn|lín|jin"
    r"|nemocn|schopn|.+(?:(?<!zí)sk|ck|ičn|ečn|ovn|avn|ivn|áln|iln|liv)"
)
_PARTICIPLE = re.compile(r"(?!dovolená).+(?:(?<!nam)en|ěn|an)á")
_SOFT = re.compile(".+(?:áln|ivn|ičn|ečn|ebn|ostn|árn|votn)í(?:m|ch|mi)?")

_NEUTER = re.compile("(?:dít[ěk]|děck|mimink|dět).*|.+um")
# "účetní", "pokladní" are adjectives too: z účetní firmy.
_THINGS = tuple(word_set("firm závěr oddělen kancelář knih systém program software pult přepáž služb rol činnost"))
_MASCULINE_OBLIQUE = ("ovi", "kem", "rem", "řem", "lem", "tem", "nem", "čem", "cem", "ého", "ému", "ího", "ímu", "ům")
_FEMININE_AFTER = _W["genitive_dative"] | word_set("s nad pod před pro na o")
_PREPOSITIONS = _FEMININE_AFTER | word_set("ze se za mezi")

_PAST = re.compile(r"(?!.*(?:tel|[ií]dla|[^pr]adla)$).+l([aiy]?)")
_PAST_GENDER = {"": "m", "a": "f", "i": "m", "y": "f"}
_PREDICATE_END = _W["clause_openers"] | word_set(
    "a i z ze s se v ve na o do od k ke po při pro za dnes včera který která"
)
_PREDICATIVE_M = re.compile(".+ý|.{3,}[eěá]ni?|.{3,}[eěa]ní")
_PREDICATIVE_F = re.compile(".{3,}[eěá]n[ay]")
_PASSIVE = re.compile(".{3,}(?:[eěá]n|[aí]t|nut)(a?)")
# Verbs without an object, whose subject may follow: "do kanceláře přišel účetní".
_INTRANSITIVE = re.compile("(?:při|ode|vy|ve)š(?:el|la)|(?:při|od)jela?|vstoupila?|seděla?|stála?|pracovala?|čekala?")
_RELATIVE = {"který": "m", "kterého": "m", "kterému": "m", "kteří": "m", "která": "f", "kterou": "f"}


def _adjective(word: str, number: str) -> Agreement | None:  # noqa: ARG001
    if word.startswith("kter") or word in _W["not_adjectives"]:  # "dům, který řidička koupila"
        return None
    if len(word) > 3 and word.endswith(("ý", "ého", "ému", "ího", "ímu")):
        return "m"
    for ending, agreement in (("á", "f"), ("ou", "f"), ("ém", "m"), ("ým", "mf"), ("é", "mf")):
        if word.endswith(ending) and _STEM.fullmatch(word.removesuffix(ending)):
            return agreement
    if _PARTICIPLE.fullmatch(word):
        return "f"
    soft = word.endswith(("ím", "ích", "ími")) and word[: word.rindex("í") + 1] in _W["transparent"]
    return "mf" if soft or word.endswith(("ých", "ými")) or _SOFT.fullmatch(word) else None


def _clues(words: Sequence[str], start: int, end: int, number: str) -> Clues:
    word = words[start]
    if _NEUTER.fullmatch(word):
        return [Clue(start, "")]  # "malého dítěte" is neuter: no attribute tells
    first = _phrase(words, start)
    opens = _opens(words, first) or _after_subordinate(words, first, end)
    after = words[end] if end < len(words) else ""
    found = _by_case(words, first, start, after, opens) if end == start + 1 else []
    # "nadřízené řekly", "samostatné účetní řekly": only a fronted object would be masculine
    if opens and word.endswith("né") and (end == start + 1 or words[end - 1] in _W["common"]):
        found.append(Clue(start, "f"))
    if opens and (word in _W["common"] or word == "ceo"):
        found.extend(_predicate(words, end, far=True))
    elif (
        opens
        and number == "singular"
        and (_masculine_nominative(word) or _bare(words[end - 1]) or word in _W["somebody"])
    ):
        found.extend(_predicate(words, end, far=False))
    elif word.endswith(_MASCULINE_OBLIQUE) or (
        first < start
        and words[start - 1].endswith("á")
        and not _masculine_nominative(word)
        and word not in _W["common"]
    ):
        found.append(Clue(start, "m"))  # so that "poslaná řidičovi" says nothing of the driver
    elif word in _W["common"] and after in _RELATIVE:
        found.append(Clue(end, _RELATIVE[after]))
    elif (
        word in _W["common"]
        and first > 0
        and _INTRANSITIVE.fullmatch(words[first - 1])
        and after in _PREDICATE_END | {""}
    ):
        found.append(Clue(first - 1, "f" if words[first - 1].endswith("a") else "m"))
    return found


def _by_sense(words: Sequence[str], start: int, end: int, number: str) -> Clues:
    """The verb of a feminine subject for anybody: "oběť řekl"."""
    return _predicate(words, end, far=False) if number == "singular" and _opens(words, _phrase(words, start)) else []


def _phrase(words: Sequence[str], noun: int) -> int:
    """Where the phrase of a noun begins: its determiners and adjectives stand before it."""
    tables = (LANGUAGE.singular, LANGUAGE.plural, _W["transparent"])
    while noun > 0 and (any(words[noun - 1] in table for table in tables) or _adjective(words[noun - 1], "")):
        noun -= 1
    return noun


def _opens(words: Sequence[str], first: int) -> bool:
    """Whether the phrase that begins here is the first of its clause, but for clitics ("protože se účetní ...")."""
    while first > 0 and words[first - 1] in _W["clitics"]:
        first -= 1
    return first == 0 or words[first - 1] in _W["clause_openers"]


def _after_subordinate(words: Sequence[str], first: int, end: int) -> bool:
    """Whether the phrase opens the main clause behind a subordinate one: "když farmář přišel, účetní odešla"."""
    while end < len(words) and words[end] in _W["clitics"]:
        end += 1
    if end >= len(words) or _past(words[end]) not in ("", "a") or first == 0 or _past(words[first - 1]) is None:
        return False
    return any(word in _W["subordinators"] for word in words[max(first - 6, 0) : first - 1])


def _bare(word: str) -> bool:
    return word[-1] not in "aáeéěiíoóuúůyý"


def _masculine_nominative(word: str) -> bool:
    return _bare(word) or word.endswith(("ce", "ista"))


def _past(word: str) -> str | None:
    match = _PAST.fullmatch(word) if word not in _W["not_past"] else None
    return match.group(1) if match else None


def _by_case(words: Sequence[str], first: int, start: int, after: str, opens: bool) -> Clues:
    """What the case of an adjectival noun tells, seen from its modifiers and from what governs its phrase."""
    word, before = words[start], words[first - 1] if first > 0 else ""
    if word in _W["common"] and not after.startswith(_THINGS):
        if any(each in LANGUAGE.plural and each not in LANGUAGE.singular for each in words[first:start]):
            return [Clue(first, "f")] if opens and words[first] in ("ty", "tyto", "tyhle") else []
        if before in _FEMININE_AFTER or before == "má" or (not opens and _object(words, first)):
            return [Clue(first - 1, "f")]
        if before == "a" and first > 2 and words[first - 3] in _FEMININE_AFTER:  # s manažerem a účetní
            return [Clue(first - 3, "f")]
        if before in _W["copula"] and (passive := _PASSIVE.fullmatch(after)):  # "vývojář nebyl účetní rozpoznán"
            agent = first > 1 and words[first - 2] not in _W["adverbs"] and _opens(words, _phrase(words, first - 2))
            return [Clue(start + 1, "f" if agent or passive.group(1) else "m")]
        if before == "tu" and first > 1 and words[first - 2] not in _W["copula"]:
            return [Clue(first - 1, "f")]
        # "naše účetní", "nové účetní": feminine but in the accusative plural
        return [Clue(at, "f") for at in range(first, start) if words[at].endswith(("je", "še", "é"))]
    if word.endswith("né") and before in _W["genitive_dative"]:
        return [Clue(first - 1, "f")]
    if word.endswith("ým") or (word.endswith("m") and word[:-1] in _W["common"]):
        if before == "se" and first > 1 and words[first - 2] in _W["copula_instrumental"]:  # stal se účetním
            return [Clue(first - 2, "m")]
        # "se strážným" but "omluvil se účetním", the dative plural
        if before in _W["masculine_after"] | _W["copula_instrumental"] and not (
            before == "se" and word[0] not in "szšž"
        ):
            return [Clue(first - 1, "m")]
    return []


def _object(words: Sequence[str], first: int) -> bool:
    """Whether the phrase is an object: of a first or second person ("zaplatil jsem", "zeptejte se"), or behind a
    subject and its verb ("farmář navštívil", "farmářka se zeptala", "farmář dal knihu"). A masculine singular would not
    end in -í there.
    """
    place = first - 1
    while place > 0 and words[place] in _W["clitics"]:
        place -= 1
    verb = words[place] if place >= 0 else ""
    if verb in ("jsem", "jsme"):  # zaplatil jsem
        return place > 0 and _past(words[place - 1]) is not None and words[place - 1] not in _W["copula_instrumental"]
    if verb.endswith(("áte", "íte", "ete", "ěte", "ejte")) and verb not in ("budete", "nebudete"):
        return True
    if place > 1 and _PASSIVE.fullmatch(verb) and words[place - 1] in _W["copula"]:  # dárek byl předán
        return _opens(words, _phrase(words, place - 2)) and words[place - 2] not in _W["adverbs"]
    while place > 0 and _past(words[place]) is None:
        if words[place] in _W["clause_openers"] | _W["no_object_after"] or words[place] in _W["copula"]:
            return False
        place -= 1
    verb = words[place] if place >= 0 else ""
    past = _past(verb)
    place -= 1
    while place > 0 and words[place] in _W["clitics"]:
        place -= 1
    if past is None or place < 0 or verb in _W["copula"] | _W["copula_instrumental"]:
        return False
    subject = words[place]
    if subject in _W["common"] | _W["somebody"]:
        return _opens(words, _phrase(words, place))
    agrees = (past == "" and _masculine_nominative(subject)) or (
        past == "a" and (subject[-1] in "aeěá" or _bare(subject))
    )
    return agrees and subject not in _W["adverbs"] and _opens(words, _phrase(words, place))


def _predicate(words: Sequence[str], position: int, far: bool) -> Clues:
    """The past tense, the predicate adjective or the relative pronoun behind a subject.

    A prepositional phrase may stand between, and if `far` a genitive ("vedoucí nové prodejny v Brně řekla").
    """
    room = genitive = 2 if far else 0
    copula, inside = False, 0
    for place in range(position, min(position + 6, len(words))):
        word = words[place]
        past = _past(word)
        if word.startswith("kter"):
            return [Clue(place, _RELATIVE[word])] if word in _RELATIVE and genitive == room else []
        if word in _W["copula"]:
            copula = True
        elif copula:
            if word in _W["fillers"]:
                continue
            if passive := _PASSIVE.fullmatch(word):
                return [Clue(place, "f" if passive.group(1) else "m")]
            if place + 1 < len(words) and words[place + 1] not in _PREDICATE_END:
                return []
            if _PREDICATIVE_F.fullmatch(word) or (word.endswith(("á", "é")) and _adjective(word, "")):
                return [Clue(place, "f")]
            return [Clue(place, "m")] if _PREDICATIVE_M.fullmatch(word) else []
        elif word == "se" and place + 1 < len(words) and _past(words[place + 1]) is not None:  # reflexive
            continue
        elif word in _PREPOSITIONS and inside == 0:
            inside = 2
        elif past is not None and inside < 2 and (far or past in ("", "a")):
            return [Clue(place, _PAST_GENDER[past])]
        elif word in _W["fillers"]:
            continue
        elif inside:
            inside -= 1
        elif genitive and word not in _W["clause_openers"] | {"a", "i", "to", "jako"}:
            genitive -= 1
        else:
            return []
    return []


_noun_by_ending = gender_by_ending(toml_of("cs", "words.toml")["endings"])


def _bare_epicene(word: str) -> Agreement | None:
    """Of forms for both genders: "strážné" is no masculine singular, "strážným" no feminine one; "účetní" is both."""
    if _NEUTER.fullmatch(word):
        return None
    if word.endswith(("é", "ou")):
        return "f"
    return "m" if word == "ceo" or (_bare(word) and not word.endswith(("ých", "ích", "kým", "kom"))) else None


LANGUAGE = Language(
    code="cs",
    name="Czech",
    singular=_TABLES["singular"],
    plural=_TABLES["plural"],
    transparent=_W["transparent"],
    adjective=_adjective,
    clues=_clues,
    noun=lambda word: None if _NEUTER.fullmatch(word) or word in _W["common"] else _noun_by_ending(word),
    bare_epicene=_bare_epicene,
    sexes=_TABLES["sexes"],
    by_sense=_by_sense,
    has_articles=False,
)
