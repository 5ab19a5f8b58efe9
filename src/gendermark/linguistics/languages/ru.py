"""Russian.

Most names of occupations are grammatically masculine and serve both sexes («врач», «менеджер»). Then only agreeing
words tell: «эта врач», «врач сказала», «врач, которая». Two facts shape this file.

- An attribute agrees in case too, and the oblique forms of «этот» are also free pronouns («после этого врач ушла»).
  So an attribute counts only before a noun form of its own case.
- Masculine is the default of attributes, whereas the predicate follows the sex («мой врач сказала» is about a woman).
  So a masculine attribute yields to a feminine predicate.

For both reasons `clues` finds the masculine attributes and all adjectives; `singular` lists the feminine determiners.

The verb counts only with a noun in the nominative, right behind it or behind a short complement («менеджер отдела
сказала»); past tense and short adjectives show gender, the present does not. Plurals show none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gendermark.linguistics.language import Agreement, Language


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_FEMININE = _set("""
эта эту этой этою та ту той тою моя мою моей моею твоя твою твоей твоею своя свою своей своею наша нашу нашей нашею
ваша вашу вашей вашею одна одну одной одною сама саму самой самою вся всю всей чья чью чьей две обе обеих обеим обеими
какая-то какую-то
""")
_MASCULINE = _set("""
этот тот мой твой свой наш ваш один сам весь чей какой-то другой такой какой любой иной второй молодой большой плохой
простой дорогой родной чужой пожилой худой злой больной городской основной рядовой крутой слепой глухой
""")
_TRANSPARENT = _set("его ее их очень весьма довольно наиболее самые самых лишь только же")

# Words that end like a masculine attribute and are none.
_NO_ATTRIBUTES = _set("""
его него ему нему им ним кого кому чего чему ничего никого никому много немного всего почему потому поэтому потом совсем
затем зачем которого которому которым котором который которая которую которой которою
""")
# The ending of an oblique attribute, and those of the nouns it can stand before.
_CASES = (
    (("ого", "его"), ("а", "я", "го")),
    (("ому", "ему"), ("у", "ю", "му")),
    (("ым", "им", "тем", "всем"), ("ом", "ем", "ым", "им")),
    (("ом", "ем"), ("е", "и", "ом", "ем")),
)
# Feminine nouns, by their suffixes: «уборщица», «портниха», «кассирша», «стюардесса», «ассистентка», «служащая».
_FEMININE_NOUN = re.compile(
    r"(?:иц|их|япух|ш|есс|рис|сестр|нян|шве|ин|(?<!кле)[бвджзйлмнпрстфчшь]к)(?:[аяыиеую]|[ое][йю])$|(?:ая|ую)(?:ся)?$"
)
_NOMINATIVES = _set("глава работяга ceo сео портье секьюрити портной часовой казначей лакей")
_OBLIQUE = ("ом", "ем", "ым", "им", "ой", "ей")

_ADJECTIVE = re.compile(r"\w{2,}(?:[ая]я|[оеыи]й|[ую]ю|[ыи][ехм]|[ое](?:го|му|м)|[ыи]ми)")
# «-ую» also ends verbs of the first person: «рекомендую», «чувствую».
_FEMININE_ACCUSATIVE = re.compile(r"\w+(?:н|ск|[шщ]|[^т]в)ую")

_PREPOSITIONS = _set("в во на у к ко с со о об обо от из за для по при про перед через под над без до")
_NO_SUBJECT = _set("как чем не ни он она я ты будто словно")
_BEFORE_CONJUNCTION = re.compile(r"так|того|тем|время|\w*(?:виде|слыша|замети|смотре|наблюда)(?:л[аи]?|ть)")
_ATTRIBUTE_ENDINGS = ("ой", "ей", "ого", "его", "ому", "ему", "ым", "им", "ых", "их", "ую", "ыми", "ими")
_BREAKS = _set("""
или либо когда пока если хотя что чтобы она они оно мы вы где куда откуда чья ибо раз кто как потому поскольку
""")
_BETWEEN = _set("""
не ни также тоже уже еще всегда никогда иногда сразу тут там здесь потом затем тогда сегодня вчера завтра вдруг
снова опять только лишь просто даже ведь же бы все сначала теперь сейчас мне тебе ему ей нам вам им меня тебя
его ее нас вас их себя себе это утром вечером днем ночью
""")
_PREDICATES: dict[str, Agreement] = {
    word: gender
    for gender, words in (
        ("m", "сам должен рад готов согласен уверен занят способен вынужден обязан болен прав намерен доволен знаком"),
        ("f", "сама должна рада готова согласна уверена занята способна вынуждена обязана больна права намерена"),
        ("m", "мог смог помог лег вез привез увез нес принес унес вырос исчез погиб привык достиг замерз спас напуган"),
        ("f", "довольна знакома напугана уволена нанята назначена избрана вежлива"),
        ("m", "уволен нанят назначен избран вежлив"),
    )
    for word in words.split()
}
_PAST = re.compile(r"(?P<f>[а-я]{2,}ла(?:сь)?|шла)$|(?P<m>[а-я]+[аеиоуыяю]л(?:ся)?)$")
# Nouns that look like past tenses: «менеджер отдела», «директор филиала», «директор школ».
_NOUN_STEMS = _set("""
отдел персонал филиал журнал зал канал материал портал терминал сериал вокзал капитал потенциал квартал
протокол футбол баскетбол волейбол металл сигнал скандал финал стол раздел дел тел сил школ генерал арсенал
""")
_SPEECH = re.compile(r"(?:сказа|ответи|спроси|добави|объясни|заяви|отмети|воскликну|поясни|сообщи|призна)л(а?)$")
_RELATIVES: dict[str, Agreement] = {
    **dict.fromkeys(_set("который которого которому которым котором"), "m"),
    **dict.fromkeys(_set("которая которую которой которою"), "f"),
}
_PARTICIPLE = re.compile(r"(?!настоящ|будущ|следующ|подходящ|бывш)\w+(?:[аяую]щ|вш)(?:(?P<f>ая)|(?P<m>ий))(?:ся)?$")


def _adjective(word: str, number: str) -> Agreement | None:  # noqa: ARG001
    """Lets a determiner be found beyond adjectives; what these tell depends on case, see `_attribute`."""
    return "mf" if _ADJECTIVE.fullmatch(word) and word not in _NO_ATTRIBUTES else None


def _nominative(noun: str) -> bool:
    """Whether this is the nominative of a noun that declines as a masculine."""
    return noun in _NOMINATIVES or (noun[-1] not in "аеиоуыэюя" and not noun.endswith(_OBLIQUE))


def _attribute(word: str, noun: str) -> Agreement | None:
    """The gender that a determiner or adjective shows before this form of the noun; None if it belongs elsewhere."""
    if word in _NO_ATTRIBUTES:
        return None
    feminine = _FEMININE_NOUN.search(noun) is not None
    if word in _MASCULINE or word.endswith(("ый", "ий")):
        return "m" if _nominative(noun) or feminine else None  # «этот медсестра» is a contradiction to report
    if feminine:
        return None
    if _nominative(noun):
        return "f" if word.endswith(("ая", "яя")) else None  # but «работая врачом» is a converb
    if noun.endswith(("а", "я")) and _FEMININE_ACCUSATIVE.fullmatch(word):
        return "f"
    return "m" if any(word.endswith(ends) and noun.endswith(nouns) for ends, nouns in _CASES) else None


def _attributes(words: Sequence[str], start: int, noun: str) -> list[tuple[str, Agreement]]:
    found: list[tuple[str, Agreement]] = []
    for word in reversed(words[max(start - 3, 0) : start]):
        if gender := _attribute(word, noun):
            found.append((word, gender))
        elif word not in _TRANSPARENT:
            break
    return found


def _finite(word: str) -> Agreement | None:
    """The gender that a past tense or short adjective shows."""
    if word in _PREDICATES:
        return _PREDICATES[word]
    match = _PAST.fullmatch(word)
    if match is None or word.removesuffix("а") in _NOUN_STEMS:
        return None
    return "f" if match["f"] else "m"


def _predicate(words: Sequence[str], start: int, end: int) -> list[tuple[str, Agreement]]:
    """The past tense or short adjective whose subject is the nominative noun phrase at words[start:end]."""
    before = words[start - 1] if start else ""
    earlier = words[start - 2] if start > 1 else ""
    conjunction = before == "как" and _BEFORE_CONJUNCTION.fullmatch(earlier)  # «так как врач», «видел, как врач»
    if (before in _NO_SUBJECT and not conjunction) or (earlier, before) == ("как", "и"):
        return []
    if earlier == "это" and before in ("был", "была"):
        return [(before, "f" if before == "была" else "m")]
    if end == len(words) and (match := _SPEECH.match(before)):
        return [(before, "f" if match[1] else "m")]
    rest = list(words[end : end + 7])
    position, complement = 0, 0
    while position < len(rest):
        word = rest[position]
        if gender := _finite(word):
            return [(word, gender)]
        if word in _BREAKS:
            break
        if word in _BETWEEN or (len(word) > 3 and word.endswith("о")):
            position += 1
        elif word in _PREPOSITIONS and complement == 0:
            long = len(rest) > position + 1 and rest[position + 1].endswith(_ATTRIBUTE_ENDINGS)
            position, complement = position + (3 if long else 2), 2  # «врач из (детской) клиники сказала»
        elif complement < 2 and re.search(r".{2,}(?:[аяыи]|[ое]в|ей|[ое]го|[ыи]х|сь|[бгдзклмнпрсфхцш])$", word):
            position, complement = position + 1, complement + 1  # «менеджер отдела кадров сказала», a name
        else:
            break
    return []


def _relative(words: Sequence[str], start: int, end: int, noun: str) -> list[tuple[str, Agreement]]:
    """«врач, которая», «с врачом, о которой»; not «мать врача, которая», where it may belong to the mother."""
    if not _nominative(noun) and noun.endswith(("а", "я")):
        before = start - 1
        while before >= 0 and (words[before] in _TRANSPARENT or words[before].endswith(("ого", "его", "ой", "ую"))):
            before -= 1
        if before >= 0 and words[before] not in _PREPOSITIONS and not _PAST.fullmatch(words[before]):
            return []
    position = end + 1 if end < len(words) and words[end] in _PREPOSITIONS else end
    if position >= len(words):
        return []
    word = words[position]
    if word in _RELATIVES:
        return [(word, _RELATIVES[word])]
    if _nominative(noun) and position == end and (match := _PARTICIPLE.fullmatch(word)):
        return [(word, "f" if match["f"] else "m")]
    return []


def _one_of(words: Sequence[str], start: int) -> list[tuple[str, Agreement]]:
    """«одна из врачей», «один из лучших врачей»."""
    before = start - 1
    while before > 0 and words[before].endswith(("их", "ых")):
        before -= 1
    if before > 0 and words[before] == "из":
        if words[before - 1] in ("одна", "одну", "одной"):
            return [(words[before - 1], "f")]
        if words[before - 1] in ("один", "одного", "одному", "одним", "одном"):
            return [(words[before - 1], "m")]
    return []


def _clues(words: Sequence[str], start: int, end: int, number: str) -> list[tuple[str, Agreement]]:
    if number == "plural":
        return _one_of(words, start)
    before = words[start - 1] if start else ""
    if words[end - 1].endswith(("им", "ым")) and before in ("с", "со", "за", "над", "под", "перед"):
        return [(before, "m")]  # «с управляющим»: instrumental singular; «управляющим» alone may be a dative plural
    # «водитель грузовика» has its head in front, «медицинская сестра» behind
    noun = words[end - 1] if re.search(r"(?:[ыио]й|ая|ую|ого|ому|[ыо]м)$", words[start]) else words[start]
    attributes = _attributes(words, start, noun)
    found: list[tuple[str, Agreement]] = []
    if not _FEMININE_NOUN.search(noun):
        found = _relative(words, start, end, noun)
        if _nominative(noun):
            found += _predicate(words, start - len(attributes), end)
    outranked = any(gender == "f" for _, gender in found)
    return found + [pair for pair in attributes if not (outranked and pair[1] == "m")]


def _normalise(word: str) -> str:
    """ё is optional in print; a stress mark is none of our business."""
    return word.replace("ё", "е").replace("\u0301", "")


LANGUAGE = Language(
    code="ru",
    name="Russian",
    singular={**dict.fromkeys(_FEMININE, "f"), "оба": "m", "два": "m"},
    plural={
        **dict.fromkeys(("обе", "обеих", "обеим", "обеими"), "f"),
        **dict.fromkeys(("обоих", "обоим", "обоими"), "m"),
    },
    transparent=_TRANSPARENT,
    adjective=_adjective,
    normalise=_normalise,
    clues=_clues,
)
