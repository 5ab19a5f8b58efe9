"""Portuguese, Brazilian and European.

Articles, contracted prepositions, demonstratives and possessives show gender in both numbers; "cada" and "qualquer" do
not. Adjectives cannot be told by their endings next to a noun, because verbs end alike ("o analista contrata"), so they
are listed; words that are often adverbs ("mesmo assim", "junto", "primeiro") and participles that govern a predicate
noun ("foi nomeada gerente") are not among them. Where the determiner leaves the gender open, or there is none, the
predicate of a subject that begins its clause tells it ("cada gerente foi avisada"): there, behind the copula, endings
are safe. "a" is read as the article; the preposition "a" before a bare noun ("de analista a gerente") is rare.
A noun that no lexicon has is read by its article, else by its ending ("-ora", "-ção"; "-ista" and "-nte" tell nothing).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gendermark.linguistics.language import Agreement, Language


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_MASCULINE = """
    o um do no ao pelo num dum pro este esse aquele deste desse daquele neste nesse naquele àquele meu teu seu nosso
    vosso algum nenhum outro doutro noutro mesmo próprio certo todo cujo segundo
"""
_FEMININE = """
    a uma da na à pela pra numa duma esta essa aquela desta dessa daquela nesta nessa naquela àquela minha tua sua nossa
    vossa alguma nenhuma outra doutra noutra mesma própria certa toda cuja segunda
"""
_OPEN = "cada qualquer"
_MASCULINES = """
    os uns dos nos aos pelos nuns duns pros estes esses aqueles destes desses daqueles nestes nesses naqueles àqueles
    meus teus seus nossos vossos alguns nenhuns outros doutros noutros mesmos próprios certos todos cujos tantos muitos
    poucos vários ambos dois quantos
"""
_FEMININES = """
    as umas das nas às pelas pras numas dumas estas essas aquelas destas dessas daquelas nestas nessas naquelas àquelas
    minhas tuas suas nossas vossas algumas nenhumas outras doutras noutras mesmas próprias certas todas cujas tantas
    muitas poucas várias ambas duas quantas
"""
_OPENS = "quaisquer"
_OPEN_DETERMINERS = _set(f"{_OPEN} {_OPENS}")
_TRANSPARENT = """
    muito mais menos tão tal tais bem mal melhor melhores pior piores grande grandes jovem jovens excelente excelentes
    simples pobre pobres atual atuais actual actuais anterior anteriores principal principais ex célebre célebres
    brilhante brilhantes competente competentes inteligente inteligentes amável amáveis feliz felizes incrível
    incríveis terrível elegante elegantes valente valentes forte fortes hábil hábeis fiel fiéis leal leais experiente
    experientes contente três quatro cinco seis sete oito nove dez
"""
_LISTED = """
    novo velho antigo pequeno último terceiro único futuro famoso querido estimado bonito lindo belo formoso atrativo
    feio alto gordo magro idoso rico esperto tolo sério honesto sincero generoso tranquilo calmo nervoso louco morto
    vivo satisfeito orgulhoso ambicioso talentoso curioso cuidadoso ciumento preguiçoso perigoso valioso engraçado
    atento rigoroso justo injusto maravilhoso magnífico fantástico ótimo péssimo honrado solteiro viúvo furioso
    simpático antipático cansado zangado irritado preocupado assustado ocupado qualificado capacitado certificado
    formado diplomado demitido despedido reformado aposentado casado divorciado educado dotado dedicado respeitado
    conhecido desconhecido reconhecido ferido armado divertido exausto médico clínico técnico jurídico público
    político financeiro administrativo executivo doméstico mecânico acadêmico académico gráfico literário
    penitenciário interno externo autônomo autónomo informático econômico económico científico esportivo desportivo
    educativo bancário imobiliário noturno nocturno estrangeiro italiano americano brasileiro mexicano argentino russo
    chinês francês inglês japonês português africano negro branco loiro moreno feminino masculino universitário
    trabalhador encantador empreendedor espanhol
"""
_COPULA = _set(
    """
    é está era estava foi esteve será estará seria estaria seja esteja fosse estivesse sido estado parece parecia ficou
    fica ficava continua continuava sente sentiu sentia
    """
)
_COPULAS = _set(
    """
    são estão eram estavam foram estiveram serão estarão seriam estariam sejam estejam fossem estivessem sido estado
    parecem pareciam ficaram ficam ficavam continuam continuavam sentem sentiram sentiam
    """
)
_BEFORE_COPULA = _set("não se já também sempre nunca ainda agora tem têm tinha tinham terá teria tenha")
_AFTER_COPULA = _set("muito mais menos tão bastante bem algo também já sempre ainda sendo sido estado se")
_CLAUSE_STARTS = _set("que porque mas quando se embora enquanto onde pois então hoje ontem")
# "o/a gerente", "as e os gerentes": two articles that contradict each other
_BOTH_ARTICLES = re.compile(
    r"\b(?:o (?:ou )?a|a ou o|um (?:ou )?uma|uma ou um|os (?:(?:e|ou) )?as|as (?:e|ou) os|do (?:ou )?da|ao (?:ou )?à)$"
)
_ARTICLES = _set("o a um uma os as do da ao à")
_BEFORE_SECOND_ARTICLE = _ARTICLES | _set("ou e")
_REACH = 12  # words behind the noun that are looked at
_PARTICIPLES = {"singular": re.compile(r"\w{2,}[aií]d([oa])"), "plural": re.compile(r"\w{2,}[aií]d([oa])s")}
# of adjectives only, but for rare short verbs
_SAFE_ENDINGS = {
    "singular": {"m": ("íssimo", "oso"), "f": ("íssima", "osa")},
    "plural": {"m": ("íssimos", "osos"), "f": ("íssimas", "osas")},
}
_SAFE_LENGTH = 7
# The ending of a noun that the lexicon lacks. Nouns for both sexes, verbs, adverbs and function words tell nothing.
_NO_NOUN = _set(
    """
    para como quando quanto contra ela elas eles nada algo logo embora senão todo toda todos todas muito muita pouco
    pouca tanto tanta agora nunca antes depois além enquanto então onde era eram cujo cuja ambos ambas isto isso
    aquilo mesmo mesma seja haja mas mais atrás lhes dela dele delas deles nela nele uma umas outra outro cada sobre
    não até
    """
)
_UNTOLD = re.compile(
    r"^.{1,3}$|-|(?:ist|eut|let|crat|pat|iatr|arc|cid|leg)as?$|mente$|[aei]ndo$|(?:ou|eu|iu|aram|eram|iram|avam?|avas)$|[^nhgf]ia[ms]?$"
)
_FEMININE_ENDING = re.compile(r"(?:a|ã|[çs]ão|dade|tude|agem|triz)$|(?:a|ã|[çs]õe|dade|tude|agen|trize)s$")
_MASCULINE_ENDING = re.compile(r"(?:o|or|ão|ês|eu)$|(?:o|ore|ão|õe|ãe|ese)s$")


def _table(masculine: str, feminine: str, both: str = "") -> dict[str, Agreement]:
    groups = ((masculine, "m"), (feminine, "f"), (both, "mf"))
    return {word: agreement for words, agreement in groups for word in words.split()}


def _inflected(adjective: str) -> tuple[str, str, str, str]:
    """Masculine and feminine singular, masculine and feminine plural."""
    if adjective.endswith("o"):
        stem = adjective[:-1]
        return adjective, stem + "a", stem + "os", stem + "as"
    stem = adjective.replace("ês", "es")
    return adjective, stem + "a", stem + "es", stem + "as"


_FORMS = [" ".join(forms) for forms in zip(*map(_inflected, _LISTED.split()), strict=True)]
_ADJECTIVES = {
    "singular": _table(_FORMS[0] + " bom mau homem senhor", _FORMS[1] + " boa má primeira mulher senhora"),
    "plural": _table(_FORMS[2] + " bons maus primeiros espanhóis", _FORMS[3] + " boas más primeiras"),
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
    code="pt",
    name="Portuguese",
    singular=_table(_MASCULINE, _FEMININE, _OPEN),
    plural=_table(_MASCULINES, _FEMININES, _OPENS),
    transparent=frozenset(_TRANSPARENT.split()),
    adjective=_adjective,
    adjectives_follow=True,
    clues=_clues,
    noun=_noun,
)
