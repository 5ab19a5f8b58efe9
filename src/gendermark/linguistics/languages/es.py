"""Spanish.

Articles and most determiners show gender in both numbers; "mi", "tu", "su", "cada" and "cualquier" do not. Adjectives
cannot be told by their endings next to a noun, because verbs end alike ("la analista contrata", "su asistente olvida"),
so they are listed; words that are often adverbs or verbs ("solo", "rápido", "baja") and participles that govern a
predicate noun ("fue nombrada gerente") are not among them. Where the determiner leaves the gender open, the predicate
of a subject that begins its clause tells it ("su asistente está cansada", "su asistente fue despedida"): there, behind
the copula, endings are safe. A noun inside a larger subject ("la tía de su asistente está ...") is passed over.
A noun that no lexicon has is read by its article, else by its ending ("-ora", "-ción"; "-ista", "-nte" tell nothing).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gendermark.linguistics.language import Agreement, Language


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_MASCULINE = "el del al un este ese aquel éste ése aquél nuestro vuestro algún ningún todo otro mismo cierto dicho cuyo"
_FEMININE = "la una esta esa aquella ésta ésa aquélla nuestra vuestra alguna ninguna toda otra misma cierta dicha cuya"
_OPEN = "mi tu su cada cualquier qué"
_MASCULINES = """
    los unos estos esos aquellos éstos ésos aquéllos nuestros vuestros algunos todos otros mismos ciertos dichos cuyos
    muchos pocos tantos cuántos varios ambos demasiados numerosos
"""
_FEMININES = """
    las unas estas esas aquellas éstas ésas aquéllas nuestras vuestras algunas todas otras mismas ciertas dichas cuyas
    muchas pocas tantas cuántas varias ambas demasiadas numerosas
"""
_OPENS = "mis tus sus qué"
_OPEN_DETERMINERS = _set(f"{_OPEN} {_OPENS}")
_TRANSPARENT = """
    muy más menos tan tal tales bien mal mejor mejores peor peores gran grandes joven jóvenes excelente excelentes
    simple simples pobre pobres actual actuales anterior anteriores principal principales ex célebre célebres
    brillante brillantes competente competentes inteligente inteligentes amable amables feliz felices increíble
    increíbles terrible terribles elegante elegantes valiente valientes fuerte fuertes amigable amigables hábil
    hábiles fiel fieles leal leales dos tres cuatro cinco seis siete ocho nueve diez
"""
_LISTED = """
    nuevo malo viejo antiguo pequeño propio último segundo tercero único futuro famoso querido estimado simpático
    antipático guapo bonito hermoso lindo bello apuesto atractivo precioso feo alto gordo delgado flaco anciano rico
    listo tonto serio honesto sincero generoso tranquilo nervioso loco enfermo muerto vivo sano contento orgulloso
    exitoso ambicioso talentoso curioso cuidadoso celoso perezoso peligroso valioso gracioso atento estricto justo
    injusto experto maravilloso magnífico estupendo fantástico pésimo honrado soltero viudo presunto supuesto
    satisfecho furioso cansado enfadado enojado preocupado asustado ocupado experimentado calificado cualificado
    capacitado certificado titulado diplomado despedido retirado jubilado casado divorciado embarazado educado dotado
    dedicado respetado conocido desconocido reconocido herido armado divertido aburrido agotado médico clínico técnico
    jurídico público político financiero administrativo ejecutivo doméstico mecánico académico gráfico literario
    penitenciario interno externo autónomo informático económico científico deportivo educativo bancario inmobiliario
    nocturno extranjero italiano americano mexicano colombiano argentino chileno peruano cubano venezolano brasileño
    ruso chino europeo africano negro blanco rubio moreno femenino masculino universitario trabajador encantador
    emprendedor español francés inglés alemán portugués japonés
"""
_COPULA = _set(
    """
    es está era estaba fue estuvo será estará sería estaría sea esté fuera estuviera sido estado parece parecía quedó
    sigue seguía siente sintió sentía puso resultó
    """
)
_COPULAS = _set(
    """
    son están eran estaban fueron estuvieron serán estarán serían estarían sean estén fueran estuvieran sido estado
    parecen parecían quedaron siguen seguían sienten sintieron sentían pusieron resultaron
    """
)
_BEFORE_COPULA = _set("no se ya también siempre nunca todavía aún ahora ha han había habían habrá haya hayan hubiera")
_AFTER_COPULA = _set("muy más menos tan bastante demasiado algo también ya siempre todavía siendo sido estado")
_CLAUSE_STARTS = _set("que porque pero cuando si aunque mientras donde pues entonces hoy ayer")
# "el/la analista", "las y los analistas": two articles that contradict each other
_BOTH_ARTICLES = re.compile(r"\b(?:el (?:o )?la|la o el|un (?:o )?una|una o un|los (?:[oy] )?las|las [oy] los)$")
_ARTICLES = _set("el la un una los las")
_BEFORE_SECOND_ARTICLE = _ARTICLES | _set("o y")
_REACH = 12  # words behind the noun that are looked at
_PARTICIPLES = {"singular": re.compile(r"\w{2,}[aií]d([oa])"), "plural": re.compile(r"\w{2,}[aií]d([oa])s")}
# of adjectives only, but for rare short verbs
_SAFE_ENDINGS = {
    "singular": {"m": ("ísimo", "oso"), "f": ("ísima", "osa")},
    "plural": {"m": ("ísimos", "osos"), "f": ("ísimas", "osas")},
}
_SAFE_LENGTH = 7
# The ending of a noun that the lexicon lacks. Nouns for both sexes, verbs, adverbs and function words tell nothing.
_NO_NOUN = _set(
    """
    para como pero cuando cuanto hasta contra hacia ella ellas ellos nada algo luego aunque sino solo sólo todo toda
    todos todas mucho mucha poco poca tanto tanta ahora nunca antes después además mientras entonces donde cómo cuándo
    cuánto era eran cuyo cuya ambos ambas esto eso aquello mismo misma haya hizo dijo quiso pudo puso tuvo vino hubo
    trajo supo sea les los las nos más atrás detrás tras una unas unos otra otro cada
    """
)
_UNTOLD = re.compile(
    r"^.{1,3}$|(?:ist|eut|let|crat|pat|iatr|arc|cid|leg)as?$|mente$|[aei]rl[ao]s?$|[aei]ndo$|(?:ó|ar[oa]n|er[oa]n|aban?|abas)$|[^ñgf]ían?$"
)
_FEMININE_ENDING = re.compile(r"(?:a|[cs]ión|[dt]ad|tud|umbre|triz)$|(?:a|[cs]ione|[dt]ade|tude|umbre|trice)s$")
_MASCULINE_ENDING = re.compile(r"(?:o|or|ón|ín|án|és)$|(?:o|ore|one|ine|ane|ese)s$")


def _table(masculine: str, feminine: str, both: str = "") -> dict[str, Agreement]:
    groups = ((masculine, "m"), (feminine, "f"), (both, "mf"))
    return {word: agreement for words, agreement in groups for word in words.split()}


def _inflected(adjective: str) -> tuple[str, str, str, str]:
    """Masculine and feminine singular, masculine and feminine plural."""
    if adjective.endswith("o"):
        stem = adjective[:-1]
        return adjective, stem + "a", stem + "os", stem + "as"
    stem = adjective.replace("és", "es").replace("án", "an")
    return adjective, stem + "a", stem + "es", stem + "as"


_FORMS = [" ".join(forms) for forms in zip(*map(_inflected, _LISTED.split()), strict=True)]
_ADJECTIVES = {
    "singular": _table(_FORMS[0] + " buen primer tercer hombre varón señor", _FORMS[1] + " buena primera mujer señora"),
    "plural": _table(_FORMS[2] + " buenos primeros", _FORMS[3] + " buenas primeras"),
}


def _adjective(word: str, number: str) -> Agreement | None:
    if (agreement := _ADJECTIVES[number].get(word)) is not None:
        return agreement
    if len(word) >= _SAFE_LENGTH:
        for gender, endings in _SAFE_ENDINGS[number].items():
            if word.endswith(endings):
                return gender
    return None


def _predicate(rest: list[str], number: str) -> list[tuple[str, Agreement]]:
    """The adjective or participle behind a copula, given the words behind the subject."""
    while rest and rest[0] in _BEFORE_COPULA:
        rest = rest[1:]
    if not rest or rest[0] not in (_COPULAS if number == "plural" else _COPULA):
        return []
    rest = rest[1:]
    while rest and rest[0] in _AFTER_COPULA:
        rest = rest[1:]
    if rest and (agreement := _adjective(rest[0], number)):
        return [(rest[0], agreement)]
    match = _PARTICIPLES[number].fullmatch(rest[0]) if rest else None
    return [(match[0], {"o": "m", "a": "f"}[match[1]])] if match else []


def _clues(words: Sequence[str], start: int, end: int, number: str) -> list[tuple[str, Agreement]]:
    two_articles = start > 1 and words[start - 1] in _ARTICLES and words[start - 2] in _BEFORE_SECOND_ARTICLE
    if two_articles and (both := _BOTH_ARTICLES.search(" ".join(words[max(start - 3, 0) : start]))):
        return [(both[0], "m"), (both[0], "f")]
    first = start - 1
    while first > 0 and words[first] in LANGUAGE.transparent:
        first -= 1
    if first >= 0 and words[first] not in _OPEN_DETERMINERS:
        return []
    starts_clause = first <= 0 or words[first - 1] in _CLAUSE_STARTS
    return _predicate(list(words[end : end + _REACH]), number) if starts_clause else []


def _noun(word: str) -> Agreement | None:
    if word in _NO_NOUN or _UNTOLD.search(word):
        return None
    return "f" if _FEMININE_ENDING.search(word) else "m" if _MASCULINE_ENDING.search(word) else None


LANGUAGE = Language(
    code="es",
    name="Spanish",
    singular=_table(_MASCULINE, _FEMININE, _OPEN),
    plural=_table(_MASCULINES, _FEMININES, _OPENS),
    transparent=frozenset(_TRANSPARENT.split()),
    adjective=_adjective,
    adjectives_follow=True,
    clues=_clues,
    noun=_noun,
)
