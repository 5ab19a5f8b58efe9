"""French.

The plural articles and "l'", "leur", "notre", "votre", "chaque" leave the gender open. "mon", "ton" and "son" serve the
feminine only before a vowel ("son assistante"), so before a consonant they tell. "tous/toutes les" and "une des" tell
through the article. Adjectives are listed, because endings deceive ("malade", "analyse", "content"); participles in -é
are safe right behind the noun ("des analystes expérimentées"), not before it ("Marie est née comptable"). Where the
determiner leaves the gender open, the predicate of a subject that begins its clause tells it ("l'analyste est
contente", "l'analyste a été embauchée"), and so does that of "qui" right behind the noun. With "s'est", a masculine
participle before an object is no agreement ("elle s'est cassé le bras") and is passed over, unless the verb takes none
("s'est approché de la table"). A subject's predicate may also stand behind "et" ("l'analyste a crié et est partie"):
French leaves no subject out, so nobody else can be meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gendermark.linguistics.language import Agreement, Language

_MASCULINE = "le un du au ce cet quel tout aucun nul certain tel"
_FEMININE = "la une cette ma ta sa quelle toute aucune nulle certaine telle"
_OPEN = "l' l mon ton son leur notre votre chaque quelque"
_MASCULINES = "tous quels certains tels différents"
_FEMININES = "toutes quelles certaines telles différentes"
_OPENS = "les des aux ces mes tes ses leurs nos vos plusieurs quelques divers"
_BEFORE_PLURAL = {"tous": "m", "toutes": "f", "un": "m", "une": "f", "chacun": "m", "chacune": "f", "aucun": "m"} | {
    "aucune": "f", "certains": "m", "certaines": "f", "quelques-uns": "m", "quelques-unes": "f",
}  # fmt: skip
_TRANSPARENT = """
    très plus moins si aussi trop bien jeune jeunes pauvre pauvres simple simples même mêmes autre autres célèbre
    célèbres brave braves honnête honnêtes habile habiles riche riches superbe superbes formidable formidables
    incroyable incroyables ex propre propres deux trois quatre cinq six sept huit neuf dix
"""
_REGULAR = """
    mauvais petit grand ancien premier second dernier meilleur futur seul vrai excellent cher heureux malheureux
    content fier sûr prêt absent présent intelligent compétent patient impatient prudent charmant important brillant
    puissant ignorant méchant élégant exigeant indépendant sérieux nerveux furieux curieux paresseux généreux courageux
    dangereux ambitieux amoureux soigneux anxieux merveilleux consciencieux talentueux actif attentif naïf sportif
    administratif exécutif professionnel personnel officiel cruel général principal médical social commercial municipal
    légal local national international royal financier hospitalier étranger français anglais italien américain espagnol
    allemand canadien européen africain lent laid noir blond brun adjoint connu inconnu reconnu bon
"""
_IRREGULAR = """
    nouveau/nouvelle nouvel/nouvelle vieux/vieille vieil/vieille beau/belle bel/belle gros/grosse gentil/gentille
    fou/folle jaloux/jalouse doux/douce faux/fausse roux/rousse sot/sotte discret/discrète inquiet/inquiète
    blanc/blanche public/publique grec/grecque turc/turque
"""
_BEHIND_ETRE = """
    parti sorti venu revenu devenu mort assis promu élu vu perdu attendu entendu convaincu surpris pris compris appris
    mis admis séduit conduit satisfait offert ouvert puni choisi trahi averti ému déçu reçu vêtu tenu battu vaincu
    rendu plaint endormi évanoui descendu intervenu parvenu survenu apparu disparu repris remis soumis permis contraint
    craint rejoint atteint éteint interrompu confondu défendu détendu étendu suspendu pendu retenu soutenu maintenu
    obtenu prévenu souvenu aperçu ravi réuni fini guéri sali saisi subi séduit instruit inscrit décrit
    interdit mécontent reconnaissant fort confiant poli impoli grossier têtu déprimant ennuyeux doué bienvenu offensant
    insatisfait distrait tombé
"""
# Verbs with "se" that take no object: their participle agrees though "de" or "que" follows.
_WITHOUT_OBJECT = """
    approché éloigné rapproché moqué plaint occupé excusé inquiété chargé souvenu méfié aperçu rendu servi débarrassé
    étonné vanté lassé détourné assuré douté réjoui amouraché enfui emparé
"""
_COPULA = "est était fut sera serait soit fût été semble semblait paraît paraissait reste"
_COPULAS = "sont étaient furent seront seraient soient fussent été semblent semblaient paraissent restent"
_BEFORE_COPULA = "ne n' n se s' s y a avait aura aurait ait ont avaient auront auraient aient"
_AFTER_COPULA = """
    pas plus jamais très trop si aussi bien toujours déjà souvent encore vraiment assez plutôt tellement également
    moins été
"""
_CLAUSE_STARTS = "que qu' qu mais car lorsque lorsqu' quand si où donc comme puisque puisqu' tandis hier hui alors"
_PREPOSITIONS = "de d' du des à au aux en dans sur avec chez"
_RELATIVES = {"qui", "que", "qu'", "dont", "lequel", "laquelle", "quoi"}
_SUBORDINATORS = "qui que qu' dont où quand lorsque lorsqu' car si comme puisque puisqu' tandis pour"
_AN_OBJECT_FOLLOWS = "le la l' les un une des du de que qu' si son sa ses leur leurs"
# "le/la comptable", "une ou un comptable": two articles that contradict each other
_BOTH_ARTICLES = re.compile(r"\b(?:le (?:ou )?la|la (?:ou )?le|un (?:ou )?une|une ou un)$")
_PARTICIPLES = {"singular": re.compile(r"\w+é(e?)"), "plural": re.compile(r"\w+é(e?)s")}
_NO_PARTICIPLE = re.compile(r"\w+ités?|malgré|excepté|passé|côtés?|été|santé")
# Behind "être" the endings of other participles are safe: "s'est entretenu", "est partie".
_OTHER_PARTICIPLES = re.compile(r"\w+[^\Waeogqu][ui](e?)s?")
_NO_OTHER_PARTICIPLE = "ici ainsi aussi parmi lui celui ami amis amie amies midi quasi"
_BOTH_DETERMINERS = frozenset(["le", "la", "un", "une", "ou"])
_REACH = 12  # words behind the noun that are looked at
_VOWELS = frozenset("aeiouyhàâéèêëîïôöùûœæ")


def _table(masculine: str, feminine: str, both: str = "") -> dict[str, Agreement]:
    groups = ((masculine, "m"), (feminine, "f"), (both, "mf"))
    return {word: agreement for words, agreement in groups for word in words.split()}


def _feminine(adjective: str) -> str:
    for ending, replacement in {"x": "se", "f": "ve", "er": "ère", "el": "elle", "en": "enne", "on": "onne"}.items():
        if adjective.endswith(ending):
            return adjective.removesuffix(ending) + replacement
    return adjective + "e"


def _plural(adjective: str) -> str:
    if adjective.endswith("al"):
        return adjective[:-2] + "aux"
    return adjective + ("" if adjective[-1] in "sx" else "x" if adjective.endswith("eau") else "s")


_OPEN_SINGULAR, _OPEN_PLURAL = frozenset(_OPEN.split()), frozenset(_OPENS.split())
_BEFORE, _AFTER = frozenset(_BEFORE_COPULA.split()), frozenset(_AFTER_COPULA.split())
_BE = {"singular": frozenset(_COPULA.split()), "plural": frozenset(_COPULAS.split())}
_ANY_BE = _BE["singular"] | _BE["plural"]
_STARTS = frozenset([*_CLAUSE_STARTS.split(), *_BEFORE_PLURAL])
_PHRASE_STARTS = frozenset(_PREPOSITIONS.split())
_SUBORDINATE = frozenset(_SUBORDINATORS.split())
_OBJECT, _INTRANSITIVE = frozenset(_AN_OBJECT_FOLLOWS.split()), frozenset(_WITHOUT_OBJECT.split())
_OBLIQUE = frozenset(["de", "du", "des", "d'", "que", "qu'"])
_NOT_PARTICIPLES = frozenset(_NO_OTHER_PARTICIPLE.split())
_PAIRS = [(word, _feminine(word)) for word in _REGULAR.split()]
_PAIRS += [(masculine, feminine) for masculine, _, feminine in (pair.partition("/") for pair in _IRREGULAR.split())]
_ADJECTIVES: dict[str, dict[str, Agreement]] = {
    "singular": {form: gender for pair in _PAIRS for form, gender in zip(pair, "mf", strict=True)},
    "plural": {_plural(form): gender for pair in _PAIRS for form, gender in zip(pair, "mf", strict=True)},
}
_BEHIND = {form + end: gender for form in _BEHIND_ETRE.split() for end, gender in (("", "m"), ("e", "f"), ("es", "f"))}
_BEHIND |= {_plural(form): "m" for form in _BEHIND_ETRE.split()}


def _adjective(word: str, number: str) -> Agreement | None:
    return _ADJECTIVES[number].get(word)


def _participle(word: str, number: str) -> Agreement | None:
    match = _PARTICIPLES[number].fullmatch(word)
    return None if match is None or _NO_PARTICIPLE.fullmatch(word) else "f" if match[1] else "m"


def _behind_etre(word: str) -> Agreement | None:
    if word in _BEHIND or word in _NOT_PARTICIPLES:
        return _BEHIND.get(word)
    match = _OTHER_PARTICIPLES.fullmatch(word)
    return None if match is None else "f" if match[1] else "m"


def _predicate(rest: list[str], number: str) -> list[tuple[str, Agreement]]:
    """The adjective or participle behind "être", given the words behind the subject."""
    reflexive = False
    while rest and rest[0] in _BEFORE:
        reflexive |= rest[0] in ("se", "s'", "s")
        rest = rest[1:]
    if not rest or rest[0] not in _BE[number]:
        return []
    rest = rest[1:]
    while rest and rest[0] in _AFTER:
        rest = rest[1:]
    if not rest:
        return []
    agreement = _adjective(rest[0], number) or _participle(rest[0], number) or _behind_etre(rest[0])
    has_object = len(rest) > 1 and rest[1] in _OBJECT and not (rest[0] in _INTRANSITIVE and rest[1] in _OBLIQUE)
    if agreement == "m" and reflexive and has_object:
        return []
    return [(rest[0], agreement)] if agreement else []


def _second_predicate(rest: Sequence[str], number: str) -> list[tuple[str, Agreement]]:
    """The predicate behind "et" that the subject shares with its first verb: "(l'analyste) a crié et est partie"."""
    for position, word in enumerate(rest):
        if word in _SUBORDINATE:
            return []
        if word in ("et", "mais", "puis") and (found := _predicate(list(rest[position + 1 :]), number)):
            return found
    return []


def _behind_phrase(rest: list[str]) -> list[str]:
    """Without a short phrase that belongs to the noun: "(l'analyste) de la banque est contente"."""
    if rest[0] in _PHRASE_STARTS:
        for length in range(2, min(5, len(rest))):
            if rest[length] in _ANY_BE and not set(rest[:length]) & _RELATIVES:
                return rest[length:]
    return rest


def _clues(words: Sequence[str], start: int, end: int, number: str) -> list[tuple[str, Agreement]]:
    first = start - 1
    while first > 0 and words[first] in LANGUAGE.transparent:
        first -= 1
    determiner = words[first] if first >= 0 else ""
    earlier = words[first - 1] if first > 0 else ""
    before = words[max(start - 3, 0) : start]
    if len(before) > 1 and before[-2] in _BOTH_DETERMINERS and (both := _BOTH_ARTICLES.search(" ".join(before))):
        return [(both[0], "m"), (both[0], "f")]
    found = []
    if determiner in ("mon", "ton", "son") and words[first + 1][0] not in _VOWELS:
        found.append((determiner, "m"))
    if determiner in _OPEN_PLURAL and earlier in _BEFORE_PLURAL:
        found.append((earlier, _BEFORE_PLURAL[earlier]))
    number = "plural" if determiner in _OPEN_PLURAL else number
    if (determiner in _OPEN_SINGULAR and first == 0) or first < 0:
        found.extend(_second_predicate(words[end:], number))
    rest = list(words[end : end + _REACH])
    if (determiner and determiner not in _OPEN_SINGULAR and determiner not in _OPEN_PLURAL) or not rest:
        return found
    if agreement := _participle(rest[0], number):
        found.append((rest[0], agreement))
    elif rest[0] == "qui" and earlier not in ("de", "d'"):
        found.extend(_predicate(rest[1:], number))
    elif not earlier or earlier in _STARTS:
        found.extend(_predicate(_behind_phrase(rest), number))
    return found


_FEMININE_ENDINGS = (
    "euse", "trice", "ière", "ienne", "esse", "ante", "ente", "ée", "eure", "onne", "ère", "aine", "tion", "sion"
)  # fmt: skip
_MASCULINE_ENDINGS = ("eur", "ier", "ien", "ant", "ent", "and", "ard", "ois", "ais", "ain", "oir", "eau", "ger", "on")


def _noun(word: str) -> Agreement | None:
    if word.endswith(_FEMININE_ENDINGS):
        return "f"
    return "m" if word.endswith(_MASCULINE_ENDINGS) and word != "enfant" else None


LANGUAGE = Language(
    code="fr",
    name="French",
    singular=_table(_MASCULINE, _FEMININE, _OPEN),
    plural=_table(_MASCULINES, _FEMININES, _OPENS),
    transparent=frozenset(_TRANSPARENT.split()),
    adjective=_adjective,
    adjectives_follow=True,
    clues=_clues,
    noun=_noun,
)
