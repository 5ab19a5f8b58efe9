"""The gender that a translation gives its speaker: the Slavic languages by `slavic.py`, eight others here.

The others are Spanish, French, Italian, Portuguese, Hebrew, Arabic, Hindi and Greek, which are not among the paper's
languages. Where their first person shows gender it is in what the speaker is said to be
("estoy cansada", "je suis allée", «είμαι κουρασμένη»), and in Hindi in the verb. So a cue is the adjective or
participle behind a verb form of the first person, with nothing but adverbs in between; articles and prepositions end
the search, for what follows them is a noun. Checked on sentences of our own only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

from gendermark.benchmarks.gest.slavic import (
    MENDED,
    PUBLISHED_LANGUAGES,
    SUFFIX,
    Clause,
    Cue,
    Endings,
    Token,
    clauses_of,
    pairs,
    slavic_cues,
    words,
)
from gendermark.records import Gender

Phrase = tuple[str, ...]


@dataclass(frozen=True)
class Predicates:
    """What shows the speaker's gender in one language."""

    verbs: tuple[Phrase, ...]
    """Forms of the first person, longer ones first."""
    adjective: Endings
    between: frozenset[str]
    """Adverbs that may stand between verb and predicate, and words that join two predicates."""
    adverb: str = "^$"
    joining: frozenset[str] = field(default_factory=frozenset)
    stop: frozenset[str] = field(default_factory=frozenset)
    """Words that look like an adjective; where no ending is known anyway, nothing need be said."""
    nouns: frozenset[str] = field(default_factory=frozenset)
    """What an adjective before them belongs to: "soy buena persona"."""
    shared: tuple[Phrase, ...] = ()
    """Forms of the first person that are also of the third: they count where no subject can stand before them."""
    openers: frozenset[str] = field(default_factory=frozenset)
    """What may stand before those and is no subject."""
    unchanging: tuple[Phrase, frozenset[str]] = ((), frozenset())
    """Words that behind this verb have one form for all."""
    alone: tuple[tuple[Phrase, Gender], ...] = ()
    """Words that say it by themselves."""
    prefixes: str = ""
    """Letters that are written together with the next word."""

    @cached_property
    def firsts(self) -> frozenset[str]:
        """The words that a phrase can begin with: most words begin none."""
        alone = (phrase for phrase, _ in self.alone)
        return frozenset(phrase[0] for phrase in (*self.verbs, *self.shared, *alone))

    def read(self, token: Token) -> Cue | None:
        gender = None if token.word in self.stop else self.adjective.gender_of(token.word)
        return Cue(gender, token) if gender else None


_POINTS = re.compile("[\u0591-\u05c7\u064b-\u0652\u0670\u0640]")


def cues_of(text: str, language: str, *, mended: bool = True) -> list[Cue]:
    """Find the words that show the speaker's gender; `mended=False`: as fitted on the released translations."""
    if language in PUBLISHED_LANGUAGES:
        return slavic_cues(text, (MENDED if mended else SUFFIX)[language])
    clauses = [
        [Token(_POINTS.sub("", token.word).replace("’", "'"), token.span) for token in clause]
        for clause in clauses_of(text)
    ]
    if language == "hi":
        return [cue for clause in clauses for cue in _hindi(clause)]
    about = PREDICATES[language]
    return list(dict.fromkeys(cue for clause in clauses for cue in _in_clause(about, clause)))


def _in_clause(about: Predicates, clause: Clause) -> Iterator[Cue]:
    for place, token in enumerate(clause):
        if not about.prefixes and token.word not in about.firsts:
            continue
        for phrase, gender in about.alone:
            if _stands(about, phrase, clause, place):
                yield Cue(gender, clause[place + len(phrase) - 1])
        verb = next((phrase for phrase in about.verbs if _stands(about, phrase, clause, place)), None)
        if verb is None and all(before.word in about.openers for before in clause[:place]):
            verb = next((phrase for phrase in about.shared if _stands(about, phrase, clause, place)), None)
        if verb is not None:
            yield from _behind(about, verb, clause[place + len(verb) :])


def _stands(about: Predicates, phrase: Phrase, clause: Clause, place: int) -> bool:
    found = tuple(token.word for token in clause[place : place + len(phrase)])
    if not about.prefixes or not found:
        return found == phrase
    return found[0].removesuffix(phrase[0]) in ("", *about.prefixes.split()) and found[0].endswith(phrase[0])


def _behind(about: Predicates, verb: Phrase, rest: Clause) -> Iterator[Cue]:
    """Predicates behind a verb, as long as they are joined; "strong and sure" has one that tells nothing."""
    place = 0
    while place < len(rest):
        token = rest[place]
        after = rest[place + 1].word if place + 1 < len(rest) else ""
        if token.word in about.between or re.search(about.adverb, token.word):
            place += 1
            continue
        cue = about.read(token)
        if cue and after not in about.nouns and not (verb == about.unchanging[0] and token.word in about.unchanging[1]):
            yield cue
        is_joined = after in about.joining
        if not is_joined and about.prefixes and place + 1 < len(rest):
            yield from _prefixed(about, rest[place + 1 :])
        if not is_joined:
            return
        place += 2


def _prefixed(about: Predicates, rest: Clause) -> Iterator[Cue]:
    """What is joined by a letter: "proud of my children and-glad"."""
    for token in rest:
        if token.word[:1] in ("ו", "و") and (cue := about.read(Token(token.word[1:], token.span))):
            yield cue


def _phrases(text: str) -> tuple[Phrase, ...]:
    """`soy, me siento`: the longer ones first, so that "he sido" is not taken for "he"."""
    found = [tuple(one.split()) for one in text.split(",")]
    return tuple(sorted(found, key=len, reverse=True))


def _alone(masculine: str, feminine: str) -> tuple[tuple[Phrase, Gender], ...]:
    return tuple(
        (phrase, gender)
        for text, gender in ((masculine, Gender.MASCULINE), (feminine, Gender.FEMININE))
        for phrase in _phrases(text)
    )


def _infinitives(modals: str, infinitives: str) -> str:
    return ",".join(f"{modal} {infinitive}" for modal, infinitive in product(modals.split(","), infinitives.split()))


def _lexicon(text: str) -> Endings:
    """From pairs of masculine and feminine forms."""
    known = pairs(text)
    return Endings("", "", frozenset(m for m, _ in known), frozenset(f for _, f in known))


# -- Romance languages -------------------------------------------------------------------------------------------------

_SPANISH = Predicates(
    verbs=_phrases(
        "soy,estoy,fui,estuve,seré,estaré,he sido,he estado,me siento,me sentí,me he sentido,me quedo,me quedé,me puse,"
        "me pongo,me volví,me vuelvo,yo era,yo estaba,yo sería,yo estaría,"
        + _infinitives("quiero,puedo,debo,voy a,prefiero,intento,quisiera,necesito", "ser estar sentirme quedarme")
    ),
    shared=_phrases("era,estaba,sería,estaría,me sentía,me quedaba"),
    openers=words(
        "cuando no si porque siempre nunca también aunque que y pero ayer hoy antes ya entonces como mientras"
    ),
    adjective=Endings("...o|...(?:ador|edor|idor)", "...a|...(?:adora|edora|idora)", words("guapo"), words("guapa")),
    between=words(
        "muy tan más menos bastante demasiado siempre nunca un poco algo no ya también casi todo toda realmente"
    ),
    adverb="mente$",
    joining=words("y e o ni pero"),
    stop=words("estaba ahora contigo conmigo como cuando fuera cerca para hasta desde contra sobre mamá acuerdo dentro")
    | words("optimista pesimista realista egoísta deportista perfeccionista feminista"),
    nouns=words("persona gente madre padre amiga amigo hija hijo"),
    alone=_alone("yo mismo,yo solo,por mí mismo", "yo misma,yo sola,por mí misma"),
)

_FRENCH = Predicates(
    verbs=_phrases(
        "je suis,je ne suis,j'étais,je n'étais,je serai,je serais,je me sens,je me sentais,je me suis,je ne me suis,"
        "je deviens,je reste,j'ai été,j'ai toujours été,je n'ai jamais été,"
        + _infinitives(
            "je veux,je peux,je dois,je préfère,j'aime,je vais,j'essaie d',je voudrais", "être devenir rester"
        )
    ),
    adjective=Endings(
        r"..é|..i|..u|..it|..is|ant|ent|eux|oux|if|el|ien|.on|er|eur|al|ain|..in|ort|and|ond|ourd|..ert|et|êt",
        r"..ée|..ie|..ue|..ite|..ise|ante|ente|euse|ouse|ive|elle|ienne|.onne|ère|rice|ale|aine|..ine|orte|ande|onde"
        r"|ourde|..erte|ette|ète|ête",
        words("seul sûr beau fou gentil dur pur las gras gros bas fier mûr doux content"),
        words("seule sûre belle folle gentille dure pure lasse grasse grosse basse fière mûre douce contente"),
    ),
    between=words(
        "pas plus très si trop assez bien toujours jamais encore tellement un peu moins aussi vraiment déjà tout"
    )
    | words("toute presque"),
    adverb="ment$",
    joining=words("et ou ni mais"),
    stop=words(
        "aussi ici ainsi qui quoi peu tu du au rien en mon ton son on non chez hier avant devant pendant comment"
    )
    | words("honnête bête souvent maintenant hier lui eux"),
    nouns=words("personne femme homme mère père amie ami fille garçon"),
    unchanging=(
        ("je", "me", "suis"),
        words("dit demandé rendu permis promis acheté fait donné parlé imaginé offert posé plu nui succédé"),
    ),
)

_ITALIAN = Predicates(
    verbs=_phrases(
        "sono,ero,fui,sarò,sarei,mi sento,"
        "mi sentivo,mi sono,resto,rimango,divento,"
        + _infinitives("voglio,posso,devo,preferisco,vorrei,cerco di", "essere restare diventare sentirmi")
    ),
    adjective=Endings("...o", "...a"),
    between=words(
        "molto così troppo più meno abbastanza sempre mai non un po' po poco ancora già anche davvero tanto piuttosto"
    )
    | words("quasi tutto tutta"),
    adverb="mente$",
    joining=words("e ed o né ma"),
    stop=words(
        "come sopra contro dentro dietro dopo verso d'accordo senza prima ora allora quando adesso qui ottimista"
    )
    | words("pessimista realista egoista perfezionista femminista"),
    nouns=words("persona gente madre padre amica amico figlia figlio"),
    alone=_alone("io stesso,da solo,io solo", "io stessa,da sola,io sola"),
)

_PORTUGUESE = Predicates(
    verbs=_phrases(
        "sou,estou,fui,estive,serei,estarei,fiquei,fico,tenho sido,tenho estado,me sinto,sinto-me,me senti,senti-me,"
        "me tornei,tornei-me,eu era,eu estava,eu seria,eu estaria,eu ficava,"
        + _infinitives("quero,posso,devo,vou,prefiro,tento,gostaria de,preciso", "ser estar ficar")
    ),
    shared=_phrases("era,estava,seria,estaria,ficava"),
    openers=words("quando não se porque sempre nunca também embora que e mas ontem hoje antes já então como enquanto"),
    adjective=Endings("...o|...(?:ador|edor|idor)", "...a|...(?:adora|edora|idora)"),
    between=words("muito tão mais menos bastante demasiado sempre nunca um pouco não já também quase todo toda"),
    adverb="mente$",
    joining=words("e ou nem mas"),
    stop=words(
        "estava agora contigo comigo como fora para acordo dentro contra sobre otimista pessimista realista egoísta"
    )
    | words("feminista perfeccionista ontem"),
    nouns=words("pessoa gente mãe pai amiga amigo filha filho"),
    alone=_alone("obrigado,eu mesmo,eu próprio,eu sozinho", "obrigada,eu mesma,eu própria,eu sozinha"),
)

# -- Greek -------------------------------------------------------------------------------------------------------------

_GREEK = Predicates(
    verbs=_phrases(
        "είμαι,ήμουν,ήμουνα,νιώθω,νοιώθω,ένιωθα,ένιωσα,αισθάνομαι,αισθανόμουν,αισθάνθηκα,έγινα,γίνομαι,γίνω,έμεινα,μένω,"
        "παραμένω,έχω γίνει,έχω υπάρξει"
    ),
    adjective=Endings("..(?:ος|ός|άρης)", "..(?:η|ή|α|ιά)"),
    between=words("πολύ τόσο πιο πάντα ποτέ λίγο αρκετά πάρα δεν δε ακόμα ακόμη πια ήδη όλο σχεδόν"),
    joining=words("και κι ή ούτε αλλά"),
    stop=words(
        "εναντίον καλά εδώ μέσα κοντά μακριά μπροστά τώρα μετά σήμερα αύριο δίπλα γύρω σίγουρα απλά πραγματικά ίδια"
    ),
    nouns=words("μητέρα μάνα γυναίκα άνθρωπος φίλη φίλος"),
    alone=_alone("μόνος μου", "μόνη μου"),
)

# -- Hebrew and Arabic: unpointed, so by words -------------------------------------------------------------------------

_HEBREW = Predicates(
    verbs=_phrases("אני,הייתי,אהיה,נשארתי,נעשיתי,להיות"),
    adjective=_lexicon(
        "עייף/עייפה יכול/יכולה צריך/צריכה אוהב/אוהבת חושב/חושבת מרגיש/מרגישה יודע/יודעת בטוח/בטוחה מוכן/מוכנה "
        "שמח/שמחה חזק/חזקה מאושר/מאושרת מפחד/מפחדת מדבר/מדברת הולך/הולכת עובד/עובדת אוכל/אוכלת לומד/לומדת כותב/כותבת "
        "קורא/קוראת שומע/שומעת מבין/מבינה מאמין/מאמינה מתכוון/מתכוונת מנסה/מנסה זוכר/זוכרת שוכח/שוכחת חולם/חולמת "
        "עצוב/עצובה כועס/כועסת חולה/חולה רעב/רעבה צמא/צמאה עצמאי/עצמאית חכם/חכמה טוב/טובה יפה/יפה גדול/גדולה קטן/קטנה "
        "צעיר/צעירה זקן/זקנה בודד/בודדה לבדי/לבדי מסודר/מסודרת עדין/עדינה רגיש/רגישה חלש/חלשה אמיץ/אמיצה נחוש/נחושה "
        "מקצועי/מקצועית הגיוני/הגיונית עשיר/עשירה אחראי/אחראית מסוגל/מסוגלת חייב/חייבת נהנה/נהנית מתרגש/מתרגשת "
        "מתגעגע/מתגעגעת דואג/דואגת עוזר/עוזרת מטפל/מטפלת מבשל/מבשלת מנקה/מנקה לובש/לובשת מתאמן/מתאמנת מרוויח/מרוויחה "
        "מוביל/מובילה מנהל/מנהלת מחליט/מחליטה משחק/משחקת צוחק/צוחקת נמשך/נמשכת מרים/מרימה נשבר/נשברת מתבייש/מתביישת "
        "נבוך/נבוכה מודאג/מודאגת גבר/גברת נרגש/נרגשת שקט/שקטה בריא/בריאה מוכשר/מוכשרת נשאר/נשארת"
    ),
    between=words("לא מאוד תמיד כל כך גם רק עדיין ממש די כבר קצת אף פעם הכי ביותר הייתי אהיה באמת לפעמים בדרך כלל"),
    joining=words("או אבל"),
    # Where both genders are written alike, nothing is told; a noun is none of the speaker's agreement.
    stop=words("מנסה חולה יפה לבדי מנקה גבר גברת"),
    prefixes="ו ש כש וש שכש",
)
_ARABIC = Predicates(
    verbs=_phrases("أنا,كنت,لست,أكون,سأكون,أصبحت,صرت,أنني,إنني,لأنني,لكنني,زلت,أبدو,أني,إني,لأني,لكني,بقيت"),
    adjective=Endings(
        r"^م\w{3,}",
        r"^م\w{2,}ة",
        *(
            frozenset(
                f"{stem}{ending}"
                for stem in words(
                    "سعيد حزين قوي ضعيف واثق قادر خائف غاضب فخور وحيد صغير كبير مريض جائع جميل ذكي غني فقير "
                    "شجاع هادئ صادق "
                    "نشيط لطيف حساس حريص ناجح قلق خجول عنيد عصبي أنيق رقيق طيب صبور طموح عاطفي عقلاني جاهز راض عاجز حر "
                    "نادم شاكر ممتن جاد كسول نحيف سمين طويل قصير أناني كريم بارع عاقل"
                )
                for ending in endings
            )
            for endings in (("", "ا"), ("ة",))
        ),
    ),
    between=words("لست جدا دائما غير لا أبدا حقا كنت أكون ما زلت أيضا فقط قليلا أكثر"),
    stop=words(
        "مجرد مديرا مدير مديرة معلم معلمة مدرس مدرسة مهندس مهندسة ممرض ممرضة محام محامية ممثل ممثلة موظف موظفة مغنية"
    )
    | words("مترجم مترجمة مدرب مدربة مصمم مصممة مبرمج مبرمجة مدينة مرات معهم معها معكم منهم منها مثلك مثلهم"),
    prefixes="و ف ول فأ",
)

PREDICATES = {
    "ar": _ARABIC,
    "el": _GREEK,
    "es": _SPANISH,
    "fr": _FRENCH,
    "he": _HEBREW,
    "it": _ITALIAN,
    "pt": _PORTUGUESE,
}
LANGUAGES = (*PUBLISHED_LANGUAGES, "ar", "el", "es", "fr", "he", "hi", "it", "pt")

# -- Hindi -------------------------------------------------------------------------------------------------------------

_AM = words("हूँ हूं")
_WAS = Endings("", "", words("था"), words("थी"))
_VERB = Endings(
    "ता|रहा|गया|हुआ|चुका|सका|पाया|आया|बैठा|उठा|सोया|रोया|बना|मिला|लगा",
    "ती|रही|गई|गयी|हुई|चुकी|सकी|पाई|आई|बैठी|उठी|सोई|रोई|बनी|मिली|लगी",
)
_FUTURE = Endings("(?:ूँ|ूं|ऊँ|ऊं)गा", "(?:ूँ|ूं|ऊँ|ऊं)गी")
_ADJECTIVE = Endings("ा", "ी")


def _hindi(clause: Clause) -> Iterator[Cue]:
    """The verb agrees with मैं; with मैंने it agrees with its object, and says nothing."""
    place = next((at for at, token in enumerate(clause) if token.word == "मैं"), None)
    if place is None:
        return
    for at, token in enumerate(clause[place + 1 :], start=place + 1):
        after = clause[at + 1].word if at + 1 < len(clause) else ""
        if token.word in ("मैंने", "कि", "जो"):
            return
        gender = _FUTURE.gender_of(token.word) or _WAS.gender_of(token.word) or _VERB.gender_of(token.word)
        if gender is None and (after in _AM or after in ("हुआ", "हुई")):
            gender = _ADJECTIVE.gender_of(token.word)
        if gender:
            yield Cue(gender, token)
