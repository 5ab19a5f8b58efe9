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
from gendermark.languages.tables import by_gender, word_set

_M = """
    ten tento tenhle tamten onen můj mého mému mém mým tvůj tvého tvému tvém tvým svůj svého svému svém svým náš
    našeho našemu našem naším váš vašeho vašemu vašem vaším jejího jejímu jejím jeden jednoho jednomu jednom jedním
    tohoto tomuto tomto tímto tohohle tomuhle tomhle tímhle onoho pan pana panu panem pane žádném každém nějakém
    některém jiném
"""
_F = """
    ta tato tahle tamta moje mojí mé mou moji tvoje tvá tvé tvou tvoji tvojí svoje svá své svou svoji svojí naše
    naší naši vaše vaší vaši jedna jednu jedné tuto tuhle té této téhle tamté tou touto touhle každá každé každou
    nějaká nějaké nějakou žádná žádné žádnou některá některé některou jistá jisté jistou jiná jinou taková takovou
    paní slečna slečny slečně slečnu slečnou
"""
_M_PLURAL = "ti tito tihle tamti moji tvoji svoji naši vaši mí tví sví všichni někteří mnozí jiní dva oba pánové páni"
_F_PLURAL = "dvě obě paní"
_MF_PLURAL = """
    ty tyto tyhle tamty moje mé tvoje tvé svoje své naše vaše všechny některé mnohé jiné žádné nějaké těch těm těmi
    těchto těmto těmito mých mým mými tvých tvým tvými svých svým svými našich našim našimi vašich vašim vašimi
    jejich jejích jejím jejími všech všem všemi některých některým některými dvou dvěma obou oběma tři tří třem
    čtyři čtyř čtyřem
"""

_TRANSPARENT = word_set("""
    jeho jejich její velmi moc opravdu docela také taky hlavní místní další poslední první starší mladší lepší
    nejlepší vrchní osobní zdejší vlastní nynější zkušenější
""")

# Adjectives whose endings -á, -ou, -ém could otherwise be a verb's, a noun's or an adverb's (hledá, ženou, problém).
_STEM = re.compile(
    r"nov|star|mlad|dobr|chytr|mil|hodn|mal|velk|vysok|skvěl|býval|dlouholet|znám|bohat|chud|přísn|smutn|šťastn|lín|jin"
    r"|nemocn|schopn|.+(?:(?<!zí)sk|ck|ičn|ečn|ovn|avn|ivn|áln|iln|liv)"
)
_PARTICIPLE = re.compile(r"(?!dovolená).+(?:(?<!nam)en|ěn|an)á")
_NOT_ADJECTIVES = word_set("úterý systému problému rovnou láskou")
_SOFT = re.compile(".+(?:áln|ivn|ičn|ečn|ebn|ostn|árn|votn)í(?:m|ch|mi)?")

# Nouns with one nominative for both genders; their feminine singular has this form in all cases.
_COMMON = word_set("""
    účetní vedoucí recepční pokladní krejčí průvodčí vyučující prodávající obsluhující radní kupující nakupující nákupčí
    přihlížející kolemjdoucí okolostojící výčepní protestující demonstrující cestující spolucestující dospívající
    praktikující zkoušející vyšetřující přednášející strojvedoucí výpravčí domácí místní studující pěší plánující
    stěhující uklízející
""")
_NEUTER = re.compile("(?:dít[ěk]|děck|mimink|dět).*|.+um")
# "účetní", "pokladní" are adjectives too: z účetní firmy.
_THINGS = tuple(word_set("firm závěr oddělen kancelář knih systém program software pult přepáž služb rol činnost"))
_GENITIVE_DATIVE = word_set("""
    od do bez u z ze k ke kvůli díky vůči proti naproti podle vedle kromě kolem místo blízko uprostřed ohledně v ve
    při po
""")
_MASCULINE_OBLIQUE = ("ovi", "kem", "rem", "řem", "lem", "tem", "nem", "čem", "cem", "ého", "ému", "ího", "ímu", "ům")
_FEMININE_AFTER = _GENITIVE_DATIVE | word_set("s nad pod před pro na o")
_PREPOSITIONS = _FEMININE_AFTER | word_set("ze se za mezi")
_MASCULINE_AFTER = word_set("s se nad pod před za mezi v ve o na po při")
_COPULA_INSTRUMENTAL = word_set("je není byl byla bude nebyl nebyla jsem jsi být stal stala stát stane tím")

_CLAUSE_OPENERS = word_set("""
    ale že protože když jestli pokud zatímco takže neboť proto aby než jakmile ačkoli ačkoliv přestože tak pak
    potom včera dnes nakonec zda zdali až jelikož kdyby dokud poněvadž jenže avšak nicméně poté co kdy kde kam proč jak
""")
_SUBORDINATORS = word_set("když pokud zatímco jakmile ačkoli ačkoliv přestože až jelikož kdyby dokud poté co")
_NO_OBJECT_AFTER = word_set("a i než jako nebo ani")
_SOMEBODY = word_set("někdo kdosi nikdo")
_SEXES = by_gender(
    "muž muže muži mužem mužského mužský mužská mužské mužskou",
    "žena ženy ženě ženu ženou ženského ženský ženská ženské ženskou",
)
_CLITICS = word_set("se si mi mu jí ji ho by")
_FILLERS = word_set("""
    se si mi mu jí ji ho mě nám vám jim je by někomu někoho už také taky pak potom včera dnes dneska právě ještě vždy
    vždycky nikdy hned opravdu velmi všechno nic prý nakonec zase znovu rychle konečně často
""")
_COPULA = word_set("je není byl byla nebyl nebyla bude nebude jsou nejsou byli byly nebyli nebyly")
_PAST = re.compile(r"(?!.*(?:tel|[ií]dla|[^pr]adla)$).+l([aiy]?)")
_PAST_GENDER = {"": "m", "a": "f", "i": "m", "y": "f"}
# Nouns and adverbs that look like the past tense ("vedoucí školy"), as do those in -dla ("řidič vozidla").
_NOT_PAST = word_set("""
    zcela docela zpravidla dokola mála dál půl bohužel podél jestli ačkoli nikoli chvíli roli škola školy škol síla
    síly kola těla čísla světla díla skla tepla čela hesla křesla kouzla kapela kapely kontrola kontroly kostela
    manžela generála novely hala haly díly modely góly detaily cíl úkol úkoly podíl rozdíl díl pavla karla michala
    daniela fotbal volejbal basketbal nával příval pochval model potenciál materiál personál kanál signál festival
    manuál kapitál tunel hotel panel titul úhel omyl styl profil mobil automobil stůl prádla pádla odmala
""")
_PREDICATE_END = _CLAUSE_OPENERS | word_set("a i z ze s se v ve na o do od k ke po při pro za dnes včera který která")
_PREDICATIVE_M = re.compile(".+ý|.{3,}[eěá]ni?|.{3,}[eěa]ní")
_PREDICATIVE_F = re.compile(".{3,}[eěá]n[ay]")
_PASSIVE = re.compile(".{3,}(?:[eěá]n|[aí]t|nut)(a?)")
_ADVERBS = word_set("""
    večer včera doma dnes tam tady zítra nakonec potom pak hned už teprve nejdřív tak pozdě ještě proč jak kam kde
    co
""")
# Verbs without an object, whose subject may follow: "do kanceláře přišel účetní".
_INTRANSITIVE = re.compile("(?:při|ode|vy|ve)š(?:el|la)|(?:při|od)jela?|vstoupila?|seděla?|stála?|pracovala?|čekala?")
_RELATIVE = {"který": "m", "kterého": "m", "kterému": "m", "kteří": "m", "která": "f", "kterou": "f"}


def _adjective(word: str, number: str) -> Agreement | None:  # noqa: ARG001
    if word.startswith("kter") or word in _NOT_ADJECTIVES:  # "dům, který řidička koupila"
        return None
    if len(word) > 3 and word.endswith(("ý", "ého", "ému", "ího", "ímu")):
        return "m"
    for ending, agreement in (("á", "f"), ("ou", "f"), ("ém", "m"), ("ým", "mf"), ("é", "mf")):
        if word.endswith(ending) and _STEM.fullmatch(word.removesuffix(ending)):
            return agreement
    if _PARTICIPLE.fullmatch(word):
        return "f"
    soft = word.endswith(("ím", "ích", "ími")) and word[: word.rindex("í") + 1] in _TRANSPARENT
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
    if opens and word.endswith("né") and (end == start + 1 or words[end - 1] in _COMMON):
        found.append(Clue(start, "f"))
    if opens and (word in _COMMON or word == "ceo"):
        found.extend(_predicate(words, end, far=True))
    elif opens and number == "singular" and (_masculine_nominative(word) or _bare(words[end - 1]) or word in _SOMEBODY):
        found.extend(_predicate(words, end, far=False))
    elif word.endswith(_MASCULINE_OBLIQUE) or (
        first < start and words[start - 1].endswith("á") and not _masculine_nominative(word) and word not in _COMMON
    ):
        found.append(Clue(start, "m"))  # so that "poslaná řidičovi" says nothing of the driver
    elif word in _COMMON and after in _RELATIVE:
        found.append(Clue(end, _RELATIVE[after]))
    elif word in _COMMON and first > 0 and _INTRANSITIVE.fullmatch(words[first - 1]) and after in _PREDICATE_END | {""}:
        found.append(Clue(first - 1, "f" if words[first - 1].endswith("a") else "m"))
    return found


def _by_sense(words: Sequence[str], start: int, end: int, number: str) -> Clues:
    """The verb of a feminine subject for anybody: "oběť řekl"."""
    return _predicate(words, end, far=False) if number == "singular" and _opens(words, _phrase(words, start)) else []


def _phrase(words: Sequence[str], noun: int) -> int:
    """Where the phrase of a noun begins: its determiners and adjectives stand before it."""
    tables = (LANGUAGE.singular, LANGUAGE.plural, _TRANSPARENT)
    while noun > 0 and (any(words[noun - 1] in table for table in tables) or _adjective(words[noun - 1], "")):
        noun -= 1
    return noun


def _opens(words: Sequence[str], first: int) -> bool:
    """Whether the phrase that begins here is the first of its clause, but for clitics ("protože se účetní ...")."""
    while first > 0 and words[first - 1] in _CLITICS:
        first -= 1
    return first == 0 or words[first - 1] in _CLAUSE_OPENERS


def _after_subordinate(words: Sequence[str], first: int, end: int) -> bool:
    """Whether the phrase opens the main clause behind a subordinate one: "když farmář přišel, účetní odešla"."""
    while end < len(words) and words[end] in _CLITICS:
        end += 1
    if end >= len(words) or _past(words[end]) not in ("", "a") or first == 0 or _past(words[first - 1]) is None:
        return False
    return any(word in _SUBORDINATORS for word in words[max(first - 6, 0) : first - 1])


def _bare(word: str) -> bool:
    return word[-1] not in "aáeéěiíoóuúůyý"


def _masculine_nominative(word: str) -> bool:
    return _bare(word) or word.endswith(("ce", "ista"))


def _past(word: str) -> str | None:
    match = _PAST.fullmatch(word) if word not in _NOT_PAST else None
    return match.group(1) if match else None


def _by_case(words: Sequence[str], first: int, start: int, after: str, opens: bool) -> Clues:
    """What the case of an adjectival noun tells, seen from its modifiers and from what governs its phrase."""
    word, before = words[start], words[first - 1] if first > 0 else ""
    if word in _COMMON and not after.startswith(_THINGS):
        if any(each in LANGUAGE.plural and each not in LANGUAGE.singular for each in words[first:start]):
            return [Clue(first, "f")] if opens and words[first] in ("ty", "tyto", "tyhle") else []
        if before in _FEMININE_AFTER or before == "má" or (not opens and _object(words, first)):
            return [Clue(first - 1, "f")]
        if before == "a" and first > 2 and words[first - 3] in _FEMININE_AFTER:  # s manažerem a účetní
            return [Clue(first - 3, "f")]
        if before in _COPULA and (passive := _PASSIVE.fullmatch(after)):  # "vývojář nebyl účetní rozpoznán"
            agent = first > 1 and words[first - 2] not in _ADVERBS and _opens(words, _phrase(words, first - 2))
            return [Clue(start + 1, "f" if agent or passive.group(1) else "m")]
        if before == "tu" and first > 1 and words[first - 2] not in _COPULA:
            return [Clue(first - 1, "f")]
        # "naše účetní", "nové účetní": feminine but in the accusative plural
        return [Clue(at, "f") for at in range(first, start) if words[at].endswith(("je", "še", "é"))]
    if word.endswith("né") and before in _GENITIVE_DATIVE:
        return [Clue(first - 1, "f")]
    if word.endswith("ým") or (word.endswith("m") and word[:-1] in _COMMON):
        if before == "se" and first > 1 and words[first - 2] in _COPULA_INSTRUMENTAL:  # stal se účetním
            return [Clue(first - 2, "m")]
        # "se strážným" but "omluvil se účetním", the dative plural
        if before in _MASCULINE_AFTER | _COPULA_INSTRUMENTAL and not (before == "se" and word[0] not in "szšž"):
            return [Clue(first - 1, "m")]
    return []


def _object(words: Sequence[str], first: int) -> bool:
    """Whether the phrase is an object: of a first or second person ("zaplatil jsem", "zeptejte se"), or behind a
    subject and its verb ("farmář navštívil", "farmářka se zeptala", "farmář dal knihu"). A masculine singular would not
    end in -í there.
    """
    place = first - 1
    while place > 0 and words[place] in _CLITICS:
        place -= 1
    verb = words[place] if place >= 0 else ""
    if verb in ("jsem", "jsme"):  # zaplatil jsem
        return place > 0 and _past(words[place - 1]) is not None and words[place - 1] not in _COPULA_INSTRUMENTAL
    if verb.endswith(("áte", "íte", "ete", "ěte", "ejte")) and verb not in ("budete", "nebudete"):
        return True
    if place > 1 and _PASSIVE.fullmatch(verb) and words[place - 1] in _COPULA:  # dárek byl předán
        return _opens(words, _phrase(words, place - 2)) and words[place - 2] not in _ADVERBS
    while place > 0 and _past(words[place]) is None:
        if words[place] in _CLAUSE_OPENERS | _NO_OBJECT_AFTER or words[place] in _COPULA:
            return False
        place -= 1
    verb = words[place] if place >= 0 else ""
    past = _past(verb)
    place -= 1
    while place > 0 and words[place] in _CLITICS:
        place -= 1
    if past is None or place < 0 or verb in _COPULA | _COPULA_INSTRUMENTAL:
        return False
    subject = words[place]
    if subject in _COMMON | _SOMEBODY:
        return _opens(words, _phrase(words, place))
    agrees = (past == "" and _masculine_nominative(subject)) or (
        past == "a" and (subject[-1] in "aeěá" or _bare(subject))
    )
    return agrees and subject not in _ADVERBS and _opens(words, _phrase(words, place))


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
        if word in _COPULA:
            copula = True
        elif copula:
            if word in _FILLERS:
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
        elif word in _FILLERS:
            continue
        elif inside:
            inside -= 1
        elif genitive and word not in _CLAUSE_OPENERS | {"a", "i", "to", "jako"}:
            genitive -= 1
        else:
            return []
    return []


_FEMININE_NOUN = re.compile(
    r".+(?:[^aáeéěiíoóuúůyý\W]k(?:a|y|u|ou)|[lřčžštfm]ce|[oeéý]rce|yn[ěií]|[^h]nic[eií]|[ln]ice|[^ií]st?ost|á|é|[^t]ou|ess[aeuy])"
    r"|(?:žen|dcer|sest[rř]|mat[kc]|dív[kc]|osob|hlav|chův|švadlen).{1,3}|stráž[eií]?|oběť"
)
_MASCULINE_NOUN = re.compile(
    r".+(?:[^aáeéěiíoóuúůyý]|ist(?:a|y|u|ou)|ov[ié]|[ýyi]|ého|ému|ího|ímu|[řčlcjš]e|[^aáeéěiíoóuúůyý][au]|[iíáa]k[au])"
)


def _noun(word: str) -> Agreement | None:
    """By the ending, in any case: "-ka", "-yně", "-ice", "-á" are feminine, a consonant and "-ista" masculine."""
    if _NEUTER.fullmatch(word) or word in _COMMON:
        return None
    if word.endswith(("istou", "isty", "istu", "ělce", "nalce")):
        return "m"
    if _FEMININE_NOUN.fullmatch(word):
        return "f"
    return "m" if _MASCULINE_NOUN.fullmatch(word) else None


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
    singular=by_gender(_M, _F),
    plural=dict.fromkeys(_MF_PLURAL.split(), "mf") | by_gender(_M_PLURAL, _F_PLURAL),
    transparent=_TRANSPARENT,
    adjective=_adjective,
    clues=_clues,
    noun=_noun,
    bare_epicene=_bare_epicene,
    sexes=_SEXES,
    by_sense=_by_sense,
    has_articles=False,
)
