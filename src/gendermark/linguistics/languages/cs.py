"""Czech.

Nearly every occupation noun tells by its form (řidič, řidička). The exceptions decline like soft adjectives: "účetní",
"vedoucí", "recepční" are the nominative of both genders, every case of the feminine singular, and plural. So they are
decided by

- determiners and adjectives ("ta účetní", "nový účetní");
- the case a preposition asks for: after "s", "od", "k" ... the masculine would be "účetním", "účetního", "účetnímu",
  so "s účetní" is a woman, and "s účetním" (not the dative plural there) is a man. Likewise hard adjectives: "od
  strážné" is a woman, "se strážným" a man;
- the past tense ("účetní řekla") and the predicate adjective ("účetní je unavená") behind a noun that opens its clause,
  and the relative pronoun right behind the noun ("účetní, která").

Left out of the tables are the forms that also are other words: "tom", "toho", "tomu", "tím" (neuter pronoun: "o tom
řidička mluvila"), "má" (has), "tu" (here), "jednou" (once). "Moje", "naše", "ty" are nominative feminine but accusative
of both genders in the plural.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gendermark.linguistics.language import Agreement, Language


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


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

_TRANSPARENT = _words("""
    jeho jejich její velmi moc opravdu docela také taky hlavní místní další poslední první starší mladší lepší
    nejlepší vrchní osobní zdejší vlastní nynější zkušenější
""")

# Adjectives whose endings -á, -ou, -ém could otherwise be a verb's or a noun's (hledá, jdou, problém).
_STEM = re.compile(
    r"(?:nov|star|mlad|dobr|chytr|mil|hodn|mal|velk|vysok|skvěl|býval|dlouholet|znám|bohat|chud|přísn|smutn|šťastn|lín"
    r"|.+(?:[bcčdjklmprřsštvž]n|en|an|sk|ck|ov|liv))"
)

# Nouns with one nominative for both genders; their feminine singular has this form in all cases.
_COMMON = _words("účetní vedoucí recepční pokladní krejčí průvodčí vyučující prodávající obsluhující radní")
# "účetní", "pokladní" are adjectives too: z účetní firmy.
_THINGS = re.compile("firm|závěr|oddělen|kancelář|knih|systém|program|softwar|pult|přepáž|služb|rol|pozic|činnost|míst")
_GENITIVE_DATIVE = _words("""
    od do bez u z ze k ke kvůli díky vůči proti naproti podle vedle kromě kolem místo blízko uprostřed ohledně v ve
    při po
""")
_FEMININE_AFTER = _GENITIVE_DATIVE | _words("s nad pod před pro na o")
_MASCULINE_AFTER = _words("s se nad pod před za mezi v ve o na po při")
_COPULA_INSTRUMENTAL = _words("je není byl byla bude nebyl nebyla jsem jsi být stal stala stát stane tím")

_CLAUSE_OPENERS = _words("""
    a ale že protože když jestli pokud zatímco takže neboť proto aby než jakmile ačkoli ačkoliv přestože tak pak
    potom včera dnes nakonec
""")
_CLITICS = _words("se si mi mu jí ji ho by")
_FILLERS = _words("""
    se si mi mu jí ji ho mě nám vám jim je by už také taky pak potom včera dnes dneska právě ještě vždy vždycky
    nikdy hned opravdu velmi prý nakonec zase znovu rychle konečně často oddělení prodejny směny obchodu
""")
_COPULA = _words("je není byl byla nebyl nebyla bude nebude jsou nejsou byli byly nebyli nebyly")
_PAST = re.compile(r"(?!(?:.*tel|škol[ay]|síl[ay]|(?:po|roz)?díl|chvíli|cíl|úkoly?)$).+l([aiy]?)")
_PAST_GENDER = {"": "m", "a": "f", "i": "m", "y": "f"}
_PREDICATE_END = _CLAUSE_OPENERS | _words("z ze s se v ve na o do od k ke po při pro za dnes včera který která")
_RELATIVE = {"který": "m", "kterého": "m", "kterému": "m", "kteří": "m", "která": "f", "kterou": "f"}


def _adjective(word: str, number: str) -> Agreement | None:  # noqa: ARG001
    if word.startswith("kter"):  # "dům, který řidička koupila"
        return None
    if len(word) > 3 and word.endswith(("ý", "ého", "ému", "ího", "ímu")):
        return "m"
    for ending, agreement in (("á", "f"), ("ou", "f"), ("ém", "m"), ("ým", "mf"), ("é", "mf")):
        if word.endswith(ending) and _STEM.fullmatch(word.removesuffix(ending)):
            return agreement
    soft = word.endswith(("ím", "ích", "ími")) and word[: word.rindex("í") + 1] in _TRANSPARENT
    return "mf" if soft or word.endswith(("ých", "ými")) else None


def _clues(words: Sequence[str], start: int, end: int, number: str) -> list[tuple[str, Agreement]]:
    word = words[start]
    first = start  # of the noun phrase
    while first > 0 and (
        words[first - 1] in LANGUAGE.singular
        or words[first - 1] in LANGUAGE.plural
        or words[first - 1] in _TRANSPARENT
        or _adjective(words[first - 1], number) is not None
    ):
        first -= 1
    opens = _opens(words, first)
    after = words[end] if end < len(words) else ""
    found = _by_case(words, first, start, after, opens) if end == start + 1 else []
    if word in _COMMON and after in _RELATIVE:
        found.append((after, _RELATIVE[after]))
    # A consonant ends only the nominative singular of a masculine.
    if opens and (word in _COMMON or word == "ceo" or (number == "singular" and end == start + 1 and _bare(word))):
        found.extend(_predicate(words, end))
    return found


def _opens(words: Sequence[str], first: int) -> bool:
    """Whether the phrase that begins here is the first of its clause, but for clitics ("protože se účetní ...")."""
    while first > 0 and words[first - 1] in _CLITICS:
        first -= 1
    return first == 0 or words[first - 1] in _CLAUSE_OPENERS


def _bare(word: str) -> bool:
    return word[-1] not in "aáeéěiíoóuúůyý"


def _by_case(words: Sequence[str], first: int, start: int, after: str, opens: bool) -> list[tuple[str, Agreement]]:
    """What the case of an adjectival noun tells, seen from the preposition or verb before its phrase."""
    word, before = words[start], words[first - 1] if first > 0 else ""
    if word in _COMMON and not _THINGS.match(after):
        if before in _FEMININE_AFTER:
            return [(before, "f")]
        if before == "má" or (before == "tu" and first > 1 and words[first - 2] not in _COPULA):
            return [(before, "f")]
        # "Naše účetní", "Nové účetní" as a subject: both the singular and the plural are feminine.
        if opens and first < start and words[first].endswith(("je", "še", "é", "ty", "tyto")):
            return [(words[first], "f")]
    if word.endswith("né") and before in _GENITIVE_DATIVE:
        return [(before, "f")]
    if word.endswith("ým") or (word.endswith("m") and word[:-1] in _COMMON):
        if before == "se" and first > 1 and words[first - 2] in _COPULA_INSTRUMENTAL:  # stal se účetním
            return [(words[first - 2], "m")]
        # "se strážným" but "omluvil se účetním", the dative plural
        if before in _MASCULINE_AFTER | _COPULA_INSTRUMENTAL and not (before == "se" and word[0] not in "szšž"):
            return [(before, "m")]
    return []


def _predicate(words: Sequence[str], position: int) -> list[tuple[str, Agreement]]:
    """The past tense or the predicate adjective right behind a subject."""
    copula = False
    for place in range(position, min(position + 5, len(words))):
        word = words[place]
        if word in _COPULA:
            copula = True
        elif copula:
            following = words[place + 1] if place + 1 < len(words) else ""
            if following and following not in _PREDICATE_END:
                if word not in _FILLERS:
                    return []
            elif word.endswith(("ý", "en", "ěn", "án")):
                return [(word, "m")]
            elif word.endswith(("ena", "ěna", "ána", "eny", "ěny", "ány")) or (word.endswith(("á", "é")) and _adjective(word, "")):
                return [(word, "f")]
            elif word.endswith(("eni", "ěni", "áni", "ení", "ění", "aní")):
                return [(word, "m")]
        elif word not in _FILLERS:
            past = _PAST.fullmatch(word)
            return [(word, _PAST_GENDER[past.group(1)])] if past else []
    return []


LANGUAGE = Language(
    code="cs",
    name="Czech",
    singular=dict.fromkeys(_M.split(), "m") | dict.fromkeys(_F.split(), "f"),
    plural=dict.fromkeys(_MF_PLURAL.split(), "mf")
    | dict.fromkeys(_M_PLURAL.split(), "m")
    | dict.fromkeys(_F_PLURAL.split(), "f"),
    transparent=_TRANSPARENT,
    adjective=_adjective,
    clues=_clues,
)
