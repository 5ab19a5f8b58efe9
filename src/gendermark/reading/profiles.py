"""Which language a text is in, by its script and its small words: enough to see that it is not the one asked for.

A word is evidence for one language against another if only one of the two has it among its small words (or, in
Cyrillic, only one has its letters). One line is said to be foreign only on strong evidence, since names and loans cross
borders; a whole file has evidence enough to be sure.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from gendermark.reading.codes import LANGUAGES, NAMES
from gendermark.reading.words import cut

OTHER_SCRIPT = "another script"
_LEAST_EVIDENCE = 3
"""Words that speak for another language, and none for the right one, before a single line is called foreign."""
_STRONG_EVIDENCE = 6
"""So many outweigh one word that speaks for the right language: a loan, a name."""
_LEAST_LETTERS = 8
"""Of another script, before a single line is called foreign: one name may be all there is."""
_MINOR_SHARE = 0.1
"""Below this share of its letters in the script of its language, a line is in another one."""
_PER_LINE = 0.4
"""Words that speak for another language, for each line of a file, before the file is called foreign."""
_OUTWEIGHS = 2.0
"""How many times as many they must be as those that speak for the right one."""

# Articles, pronouns, prepositions, conjunctions and auxiliary verbs, written down for this purpose. A word that two
# languages share decides nothing between them; it must stand in both even so, or it would speak against one of them.
_SMALL_WORDS = {
    "en": """
        the a an and or but if because that which who whom whose what this these those there here is are was were be
        been being am do does did has have had will would can could should may might must not no of in on at to from
        by for with about into over after before between against during without under than then when while where why
        how i you he she it we they me him her us them my your his its our their mine yours hers ours theirs himself
        herself so as very all any some more most other only own same too also just he' she' it' i' you' we' they'
        that' there' who' what' s t d m re ve ll don' didn' doesn' isn' wasn' can' couldn' won' wouldn' hasn' hadn'
        haven' aren' weren'
    """,
    "es": """
        el la los las un una unos unas y e o u pero porque que quien quienes cual como cuando donde si no ni de del
        en con por para sin sobre entre hasta desde hacia contra a al es son era eran fue fueron ser sido está están
        estaba estaban estar soy eres somos ha han había habían he hay muy más menos ya también su sus mi mis tu tus
        nuestro nuestra se le les lo me te nos yo él ella ellos ellas usted este esta estos estas ese esa eso aquel
        aquella todo toda todos todas otro otra qué quién mientras después antes mismo misma tiene tenía hizo podía
        fui estoy tengo así aunque pues debido esto cada algo nada puede hace
    """,
    "pt": """
        o a os as um uma uns umas e ou mas porque que quem qual como quando onde se não nem de do da dos das em no
        na nos nas com por pelo pela pelos pelas para sem sobre entre até desde contra ao à aos às é são era eram
        foi foram ser sido está estão estava estavam estar sou somos estou tem têm tinha tinham ter há havia muito
        mais menos já também seu sua seus suas meu minha nosso nossa lhe lhes lo me te eu ele ela eles elas você
        vocês este esta estes estas esse essa isso isto aquele aquela todo toda todos todas outro outra num numa
        dele dela deles delas nele nela enquanto depois antes mesmo mesma tenho fez fui pois então assim embora cada
        algo nada pode faz aquilo
    """,
    "it": """
        il lo la i gli le un uno una un' l' e ed o ma perché che chi quale come quando dove se non né di del dello
        della dei degli delle dell' d' in nel nello nella nei negli nelle nell' con per da dal dallo dalla dai dagli
        dalle dall' su sul sulla sui sulle sull' tra fra a al allo alla ai agli alle all' ad è sono era erano fu
        furono essere stato stata stati state ho hai ha abbiamo hanno aveva avevano avere c' molto più meno già
        anche suo sua suoi sue mio mia nostro nostra si me te ci mi ti io lui lei loro egli ella noi voi questo
        questa questi queste quel quello quella quei quegli quelle quell' quest' poiché mentre dopo prima stesso
        stessa poteva così quindi ogni qualcosa niente può fa cosa tutto tutta tutti tutte altro altra sia ne
    """,
    "fr": """
        le la les l' un une des du de d' et ou mais parce que qu' qui quoi quand où si ne n' pas ni en dans avec par
        pour sans sur sous entre chez vers contre à au aux est sont était étaient été être suis es sommes ai as a
        avons ont avait avaient eu avoir y très plus moins déjà aussi son sa ses leur leurs mon ma mes ton ta notre
        nos votre se s' lui elle elles il ils je j' tu nous vous on me m' te t' ce cet cette ces c' cela ça celui
        celle ceux tout toute tous toutes autre car donc lorsque lorsqu' pendant après avant même fait peut comme
        puisqu' puisque rien jamais fut
    """,
    "de": """
        der die das den dem des ein eine einen einem einer eines und oder aber weil dass daß wenn ob als wie wo wer
        was nicht kein keine keinen von vom zu zum zur in im an am auf aus bei beim mit nach vor über unter für
        gegen ohne um durch während seit ist sind war waren sein bin bist wird werden wurde wurden worden hat haben
        hatte hatten habe kann konnte können muss musste soll sollte will wollte sehr mehr auch nur noch schon seine
        seinen seinem seiner ihr ihre ihren ihrem ihrer mein meine meinen unser er sie es wir ich du mich mir dich
        dir ihn ihm uns euch sich dieser diese dieses diesen diesem jener jede alle andere da dann damit man so
    """,
    "nl": """
        de het een en of maar omdat dat die wie wat welke als dan wanneer waar niet geen van in op aan uit bij met
        naar voor over onder tegen zonder om door tijdens sinds te tot is zijn was waren ben bent wordt worden werd
        werden geworden heeft hebben had hadden heb kan kon kunnen moet moest zal zou wil wilde zeer heel meer ook
        nog al hij zij ze wij we ik jij je u mij me jou hem haar ons hun hen zich mijn jouw onze dit deze er hier
        daar toen terwijl na zelf erg want zodat ervan
    """,
    "pl": """
        i w we z ze na do od po za o u przez dla przy pod nad przed bez między oraz lub albo ale bo ponieważ gdyż że
        żeby aby czy jeśli jak jako gdy kiedy gdzie kto co który która które którzy którego której nie ani tak jest
        są był była było byli były być będzie jestem jesteś jesteśmy ma mam mają miał miała mieć może mógł mogła
        został została się siebie sobie go mu jej ją jego im ich nim nią on ona ono oni one ja ty my wy mnie mi mną
        mój moja moje swój swoją swoje ten ta to te tego tej tym tych tamten tamta już jeszcze też także bardzo więc
        dlatego tylko wszystko wszystkie coś nic zawsze nigdy
    """,
    "cs": """
        a i v ve z ze na do od po za o u s se k ke pro při pod nad před bez mezi nebo ale protože že aby zda jestli
        jak jako když kdy kde kdo co který která které kteří kterého ne ani tak je jsou byl byla bylo byli byly být
        bude jsem jsi jsme jste má mám mají měl měla mít může mohl mohla si sebe sobě ho mu jí ji jeho jim jejich
        nich ní něj on ona ono oni já ty my vy mě mi mně mnou můj moje své svou svého ten ta to ti tu tom toho té
        tím těch této tento tato už ještě také velmi proto jen všechno všechny něco nic vždy nikdy jejím její než
        neboť
    """,
    "sk": """
        a aj v vo z zo na do od po za o u s so sa k ku pre pri pod nad pred bez medzi alebo ale pretože lebo že aby
        či ak ako keď kedy kde kto čo ktorý ktorá ktoré ktorí ktorého nie ani tak je sú bol bola bolo boli byť bude
        som si sme ste má mám majú mal mala mať môže mohol mohla seba sebe ho mu jej ju jeho im ich nich on ona ono
        oni ja ty my vy ma mi mne mnou môj moja moje svoj svoju svojho ten tá to tí tú tom toho tej tým tých táto
        tento už ešte tiež veľmi preto len všetko všetky niečo nič vždy nikdy než
    """,
    "sl": """
        in v na do od po za o s z k h pri pod nad pred brez med ali pa ampak ker da če kot ko kdaj kje kdo kaj ki
        katera kateri katero ne niti tako je so bil bila bilo bili bile biti bo bom bi sem si smo ste ima imam imajo
        imel imela imeti lahko mogel mogla se sebe sebi ga mu jo jim jih njega nje njej njegov njen njihov on ona
        ono oni jaz ti mi vi me mene mano moj moja moje svoj svojo svojega ta to tega tej tem teh tisti tista že še
        tudi zelo zato samo vse nekaj nič vedno nikoli nisem ni kar njo njim
    """,
    "hr": """
        i u na do od po za o s sa iz k pri pod nad pred bez među između ili ali jer da ako kao kad kada gdje tko što
        koji koja koje kojeg kojoj ne niti tako je su bio bila bilo bili bile biti će bih bi sam si smo ste ima imam
        imaju imao imala imati može mogao mogla se sebe sebi ga mu joj ju ih im njega nje njoj njegov njezin njen
        njihov on ona ono oni ja ti mi vi me mene mnom moj moja moje svoj svoju svog ovaj ova ovo taj ta to tog toj
        tom već još također vrlo jako zato samo sve nešto ništa uvijek nikad nikada nisam nije kako nego tijekom
    """,
    "ru": """
        и а но или в во на с со из к ко у о об от до за по под над перед при без для между через про что чтобы если
        как когда где кто который которая которое которые которого которой не ни так есть был была было были быть
        будет бы же ли он она оно они я ты мы вы его её ему ей им их меня мне мной тебя него неё нее нему ней них
        нас нам вас себя себе мой моя моё мои свой свою своё свои своего этот эта это эти этого этой тот та то те
        того той уже ещё еще тоже также очень поэтому потому только всё все что-то ничего всегда никогда может мог
        могла нет чем после ее
    """,
    "uk": """
        і й та а але або чи в у на з із зі до к о об від за по під над перед при без для між через про що щоб якщо
        як коли де хто який яка яке які якого якої не ні так є був була було були бути буде би б же він вона воно
        вони я ти ми ви його її йому їй їм їх мене мені мною тебе нього неї ньому ній них нас нам вас себе собі мій
        моя моє мої свій свою своє свої свого цей ця це ці цього цієї той те ті того тієї вже ще теж також дуже тому
        тільки лише все щось нічого завжди ніколи може міг могла немає ніж після бо оскільки
    """,
    "be": """
        і й а але або ці ў у на з са да к аб ад за па пад над перад пры без для між праз пра што каб калі як дзе хто
        які якая якое якія якога якой не ні так ёсць быў была было былі быць будзе б жа ён яна яно яны я ты мы вы
        яго яе яму ёй ім іх мяне мне мной цябе нас нам вас сябе сабе мой мая маё мае свой сваю сваё свае свайго гэты
        гэтая гэта гэтыя гэтага гэтай той тая тое тыя таго ўжо яшчэ таксама вельмі таму толькі усё ўсё усе нешта
        нічога заўсёды ніколі можа мог магла няма чым пасля бо
    """,
    "sr": """
        и у на до од по за о с са из к при под над пред без међу између или али јер да ако као кад када где ко што
        шта који која које којег којој не ни тако је су био била било били биле бити ће бих би сам си смо сте има
        имам имају имао имала може могао могла се себе себи га му јој их им њега ње њој његов њен њихов он она оно
        они ја ти ми ви ме мене мном мој моја моје свој своју свог овај ова ово тај та то тог тој том већ још такође
        веома врло зато само све нешто ништа увек никад никада нисам није како него
    """,
}
# Letters that some of the languages in Cyrillic have and others have not.
_LETTERS = {"ru": "щиъыэё", "uk": "щиіїєґ", "be": "іўыэё", "sr": "ијљњћђџ"}
_SCRIPTS = {"sr": ("Cyrl", "Latn")}
"""Languages that are written in more than one."""
_WRITTEN_AS = {"HIRAGANA": "Jpan", "KATAKANA": "Jpan", "CJK": "Hans", "HANGUL": "Hang", "CYRILLIC": "Cyrl"}
_NAMED = {
    **_WRITTEN_AS,
    "LATIN": "Latn",
    "GREEK": "Grek",
    "ARABIC": "Arab",
    "HEBREW": "Hebr",
    "DEVANAGARI": "Deva",
    "BENGALI": "Beng",
    "ETHIOPIC": "Ethi",
    "GEORGIAN": "Geor",
    "TELUGU": "Telu",
    "THAI": "Thai",
}
_PLAINLY = {
    "Latn": re.compile("[A-Za-z]{4}"),
    "Cyrl": re.compile("[\u0400-\u052f]{4}"),
    "Grek": re.compile("[\u0370-\u03ff]{4}"),
    "Hebr": re.compile("[\u05d0-\u05ea]{4}"),
    "Arab": re.compile("[\u0620-\u06d3]{4}"),
    "Deva": re.compile("[\u0900-\u097f]{4}"),
}
"""A word of a script, more or less. Most lines have one of the right script, and are passed over quickly."""
_ASCII_LETTER = re.compile(r"[A-Za-z]")
_ASCII = re.compile(r"[\x00-\x7f]+")
_ALONE = {
    "Grek": "el",
    "Arab": "ar",
    "Hebr": "he",
    "Deva": "hi",
    "Jpan": "ja",
    "Hans": "zh",
    "Hang": "ko",
    "Thai": "th",
}
"""The language that a script most likely means, where no small words tell."""


@cache
def _index() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for code, words in _SMALL_WORDS.items():
        for word in words.split():
            found.setdefault(word, set()).add(code)
            if code == "hr":  # Serbian in Latin letters has nearly the same ones
                found[word].add("sr")
    return {word: frozenset(codes) for word, codes in found.items()}


@cache
def script_of(letter: str) -> str:
    """The script of a letter, as ISO 15924 calls it; empty for what is no letter, or of a script unknown here."""
    if not letter.isalpha():
        return ""
    return _NAMED.get(unicodedata.name(letter, "").split(" ")[0].partition("-")[0], "")


def scripts_of(language: str) -> tuple[str, ...]:
    """The scripts that a language is written in; nothing where that is not known."""
    if language in _SCRIPTS:
        return _SCRIPTS[language]
    return (LANGUAGES[language].script,) if language in LANGUAGES else ()


def _scripts(text: str) -> Counter[str]:
    """How many letters a text has of each script. (Most texts are mostly ASCII, or hardly.)"""
    found = Counter(script_of(letter) for letter in _ASCII.sub("", text))
    del found[""]
    if n_ascii := len(_ASCII_LETTER.findall(text)):
        found["Latn"] += n_ascii
    return found


def _is_in(scripts: Counter[str], wanted: Sequence[str]) -> bool:
    """Whether some of the letters are of a script that is wanted; Japanese is written with Chinese ones too."""
    right = {*wanted, "Hans"} if "Jpan" in wanted else {*wanted}
    return sum(n for script, n in scripts.items() if script in right) >= _MINOR_SHARE * scripts.total()


@dataclass(frozen=True, slots=True)
class Evidence:
    """Words of some text that speak for another language, and for the right one against it."""

    language: str
    n_against: int
    n_for: int


@cache
def _others(target: str) -> frozenset[str]:
    """The small words of other languages that the target has not."""
    return frozenset(word for word, codes in _index().items() if target not in codes)


@cache
def _foreign_letter(target: str) -> re.Pattern[str]:
    """A letter that some other language has and the target has not, where letters tell; else nothing matches."""
    letters = {letter for some in _LETTERS.values() for letter in some} - set(_LETTERS.get(target, ()))
    return re.compile(f"[{''.join(sorted(letters))}]" if target in _LETTERS else "(?!)")


def _by_letters(word: str, target: str) -> tuple[frozenset[str], frozenset[str]]:
    """The languages that the letters of a word speak for against the target, and those they speak against."""
    letters = set(word)
    have = {code for code, some in _LETTERS.items() if not letters.isdisjoint(some)}
    own = set(_LETTERS[target])
    others = have - {target}
    stronger = {code for code in others if not letters.isdisjoint(set(_LETTERS[code]) - own)}
    weaker = {code for code in _LETTERS if not letters.isdisjoint(own - set(_LETTERS[code]))}
    return frozenset(stronger - weaker), frozenset(weaker - stronger)


def _weigh(words: Iterable[str], target: str) -> list[Evidence]:
    """For each language that some words speak for, against the target."""
    index = _index()
    against: Counter[str] = Counter()
    right: Counter[str] = Counter()
    shared: Counter[frozenset[str]] = Counter()
    for word, n in Counter(words).items():
        codes = index.get(word)
        if codes is None:
            if target not in _LETTERS or len(word) < 2:
                continue
            spoken_for, spoken_against = _by_letters(word, target)
            right.update(dict.fromkeys(spoken_against, n))
        elif target in codes:
            shared[codes] += n
            continue
        else:
            spoken_for = codes
        against.update(dict.fromkeys(spoken_for, n))
    return [
        Evidence(code, n, right[code] + sum(m for codes, m in shared.items() if code not in codes))
        for code, n in against.items()
    ]


def foreign(text: str, target: str) -> str:
    """The language that one line is in, if that is surely not the target; `OTHER_SCRIPT` if its name is not known."""
    wanted = scripts_of(target)
    if wanted and not _is_plainly_in(text, wanted[0]):
        scripts = _scripts(text)
        if scripts.total() >= _LEAST_LETTERS and not _is_in(scripts, wanted):
            return _named(cut(text), scripts.most_common(1)[0][0])
    if target not in _SMALL_WORDS:
        return ""
    words = cut(text)
    if len(_others(target).intersection(words)) < 2 and not _foreign_letter(target).search(text.lower()):
        return ""
    found = _weigh(words, target)
    if not found:
        return ""
    most = max(found, key=lambda one: (one.n_against - one.n_for, one.language))
    is_foreign = most.n_against >= (_STRONG_EVIDENCE if most.n_for == 1 else _LEAST_EVIDENCE) and most.n_for <= 1
    return most.language if is_foreign else ""


def _is_plainly_in(text: str, script: str) -> bool:
    return script in _PLAINLY and _PLAINLY[script].search(text) is not None


def _named(words: Sequence[str], script: str) -> str:
    """The most likely language of words in a script."""
    index = _index()
    candidates = [code for code in _SMALL_WORDS if script == scripts_of(code)[0]]
    foreign_letters = {code: _foreign_letter(code) for code in candidates if code in _LETTERS}
    scores = dict.fromkeys(candidates, 0)
    for word, n in Counter(words).items():
        for code in scores.keys() & index.get(word, frozenset()):
            scores[code] += n
        for code, letters in foreign_letters.items():
            if letters.search(word):
                scores[code] -= n
    best = max(candidates, key=lambda code: scores[code], default="")
    return best if best and scores[best] > 0 else _ALONE.get(script, OTHER_SCRIPT)


def mainly(texts: Sequence[str], target: str) -> str:
    """The language that most of these texts are in, if that is surely not the target; as `foreign` names it."""
    wanted = scripts_of(target)
    if not wanted:
        return ""
    read = [text for text in texts if any(map(str.isalpha, text))]
    doubtful = [_scripts(text) for text in read if not _is_plainly_in(text, wanted[0])]
    others = [found for found in doubtful if not _is_in(found, wanted)]
    words = [word for text in read for word in cut(text)]
    if len(others) > 0.5 * len(read):
        total = sum(others, Counter[str]())
        return _named(words, total.most_common(1)[0][0])
    if target not in _SMALL_WORDS:
        return ""
    outweighing = [
        one
        for one in _weigh(words, target)
        if one.n_against >= max(_LEAST_EVIDENCE, _PER_LINE * len(read)) and one.n_against > _OUTWEIGHS * one.n_for
    ]
    return max(outweighing, key=lambda one: (one.n_against - one.n_for, one.language)).language if outweighing else ""


def likely(texts: Sequence[str]) -> str:
    """The language that most of these texts are in, as far as scripts and small words tell; empty if they do not."""
    scripts = sum(map(_scripts, texts), Counter[str]())
    if not scripts:
        return ""
    found = _named([word for text in texts for word in cut(text)], scripts.most_common(1)[0][0])
    return "" if found == OTHER_SCRIPT else found


def is_told_by_words(language: str) -> bool:
    """Whether texts of a language are known by its small words, and so are not taken for another's."""
    return language in _SMALL_WORDS


def name_of(language: str) -> str:
    return NAMES.get(language, language)
