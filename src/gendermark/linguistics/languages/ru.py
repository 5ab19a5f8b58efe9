"""Russian.

Most names of occupations are grammatically masculine and serve both sexes («врач», «менеджер»). Then only agreeing
words tell: «эта врач», «врач сказала», «врач, которая». Two facts shape this file.

- An attribute agrees in case too, and the oblique forms of «этот» are also free pronouns («после этого врач ушла»).
  So a masculine attribute counts only before a noun form of its own case.
- Masculine is the default of attributes, whereas the predicate follows the sex («мой врач сказала» is about a woman).
  So a masculine attribute yields to a feminine predicate. That is why masculine attributes are found by `clues`,
  and `singular` lists the feminine ones.

The verb counts only with a noun in the nominative, right behind it or behind a short complement («менеджер отдела
сказала»); past tense and short adjectives show gender, the present does not. Plurals show none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gendermark.linguistics.language import Agreement, Language

_FEMININE = """
эта эту этой этою та ту той тою моя мою моей моею твоя твою твоей твоею своя свою своей своею наша нашу нашей нашею
ваша вашу вашей вашею одна одну одной одною сама саму самой самою вся всю всей чья чью чьей две обе обеих обеим обеими
""".split()
_MASCULINE = frozenset("этот тот мой твой свой наш ваш один сам весь чей".split())
_TRANSPARENT = frozenset("его ее их очень весьма довольно наиболее самые самых лишь только".split())

# Words that end like a masculine attribute and are none.
_NO_ATTRIBUTES = frozenset(
    """его него ему нему им ним кого кому чего чему ничего никого никому много немного всего почему потому поэтому
    потом совсем затем зачем которого которому которым котором который такового итого""".split()
)
# The ending of an oblique attribute, and those of the nouns it can stand before.
_CASES = (
    (("ого", "его"), ("а", "я", "го")),
    (("ому", "ему"), ("у", "ю", "му")),
    (("ым", "им", "тем", "всем"), ("ом", "ем", "ым", "им")),
    (("ом", "ем"), ("е", "и", "ом", "ем")),
)
# Feminine nouns, by their suffixes: «уборщица», «портниха», «кассирша», «стюардесса», «ассистентка», «служащая».
_FEMININE_NOUN = re.compile(
    r"(?:иц|их|япух|ш|есс|рис|сестр|нян|шве|ин|(?<!кле)[бвджзйлмнпрстфчшь]к)(?:а|я|ы|и|е|у|ю|о[йю]|е[йю])$|(?:ая|ую)(?:ся)?$"
)
_NOMINATIVES = frozenset("глава работяга ceo сео портье секьюрити портной часовой казначей лакей".split())
_OBLIQUE = ("ом", "ем", "ым", "им", "ой", "ей")

_PREPOSITIONS = frozenset("в во на у к ко с со о об обо от из за для по при про перед через под над без до".split())
_NO_SUBJECT = frozenset("как чем не ни он она я ты будто словно".split())
_BEFORE_CONJUNCTION = re.compile(r"так|того|тем|время|\w*(?:виде|слыша|замети|смотре|наблюда)(?:л[аи]?|ть)")
_ATTRIBUTE_ENDINGS = ("ой", "ей", "ого", "его", "ому", "ему", "ым", "им", "ых", "их", "ую", "ыми", "ими")
_BREAKS = frozenset("или либо когда пока если хотя что чтобы она они оно мы вы где куда откуда чья ибо раз".split())
_BETWEEN = frozenset(
    """не ни также тоже уже еще всегда никогда иногда сразу тут там здесь потом затем тогда сегодня вчера завтра вдруг
    снова опять только лишь просто даже ведь же бы все сначала теперь сейчас мне тебе ему ей нам вам им меня тебя
    его ее нас вас их себя себе это утром вечером днем ночью""".split()
)
_PREDICATES: dict[str, Agreement] = {
    word: gender
    for gender, words in (
        ("m", "сам должен рад готов согласен уверен занят способен вынужден обязан болен прав намерен доволен знаком"),
        (
            "f",
            "сама должна рада готова согласна уверена занята способна вынуждена обязана больна права намерена довольна",
        ),
        ("m", "мог смог помог лег вез привез увез нес принес унес вырос исчез погиб привык достиг замерз спас напуган"),
        ("f", "знакома напугана уволена нанята назначена избрана вежлива"),
        ("m", "уволен нанят назначен избран вежлив"),
    )
    for word in words.split()
}
_PAST = re.compile(r"(?P<f>[а-я]{2,}ла(?:сь)?|шла)$|(?P<m>[а-я]+[аеиоуыяю]л(?:ся)?)$")
# Nouns that look like past tenses: «менеджер отдела», «директор филиала», «директор школ».
_NOUN_STEMS = frozenset(
    """отдел персонал филиал журнал зал канал материал портал терминал сериал вокзал капитал потенциал квартал
    протокол футбол баскетбол волейбол металл сигнал скандал финал стол раздел дел тел сил школ генерал арсенал""".split()
)
_SPEECH = re.compile(r"(?:сказа|ответи|спроси|добави|объясни|заяви|отмети|воскликну|поясни|сообщи|призна)л(а?)$")
_RELATIVES: dict[str, Agreement] = {
    **dict.fromkeys("который которого которому которым котором".split(), "m"),
    **dict.fromkeys("которая которую которой которою".split(), "f"),
}
_PARTICIPLE = re.compile(r"(?!настоящ|будущ|следующ|подходящ|бывш)\w+(?:[аяую]щ|вш)(?:(?P<f>ая)|(?P<m>ий))(?:ся)?$")


def _adjective(word: str, number: str) -> Agreement | None:
    if word in _NO_ATTRIBUTES:
        return None
    # «-ую» also ends verbs of the first person: «рекомендую», «чувствую».
    if number == "singular" and re.search(r"..(?:[ая]я|(?:н|ск|[шщ]|[^т]в)ую)$", word):
        return "f"
    return "mf" if re.search(r"..(?:[оеы]й|[ыи][ех])$", word) and not word.endswith("ый") else None


def _nominative(noun: str) -> bool:
    """Whether this is the nominative of a noun that declines as a masculine."""
    if noun in _NOMINATIVES:
        return True
    return noun[-1] not in "аеиоуыэюя" and not noun.endswith(_OBLIQUE)


def _is_masculine_attribute(word: str, noun: str) -> bool:
    if word in _NO_ATTRIBUTES:
        return False
    feminine = _FEMININE_NOUN.search(noun) is not None
    if word in _MASCULINE or word.endswith(("ый", "ий")):
        return _nominative(noun) or feminine  # «этот медсестра» is a contradiction to report
    if word.endswith("ой") and word not in _FEMININE:
        return _nominative(noun)  # «молодой врач»: the feminine would be «молодая»
    return not feminine and any(word.endswith(ends) and noun.endswith(nouns) for ends, nouns in _CASES)


def _masculine_attributes(words: Sequence[str], start: int, noun: str) -> list[tuple[str, Agreement]]:
    found: list[tuple[str, Agreement]] = []
    for word in reversed(words[max(start - 3, 0) : start]):
        if _is_masculine_attribute(word, noun):
            found.append((word, "m"))
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
    """The past tense or short adjective whose subject is the nominative at words[start:end]."""
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
        elif complement < 2 and re.search(r".{2,}(?:[аяыи]|[ое]в|ей|[ое]го|[ыи]х|сь)$", word):
            position, complement = position + 1, complement + 1  # «начальник отдела кадров сказала»
        else:
            break
    return []


def _relative(words: Sequence[str], start: int, end: int, noun: str) -> list[tuple[str, Agreement]]:
    """«врач, которая», «с врачом, о которой»; not «мать врача, которая», where it may belong to the mother."""
    if not _nominative(noun) and noun.endswith(("а", "я")):
        before = start - 1
        while before >= 0 and (words[before] in _TRANSPARENT or words[before].endswith(("ого", "его", "ой", "ую"))):
            before -= 1
        if before < 0 or not (words[before] in _PREPOSITIONS or _PAST.fullmatch(words[before])):
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
    found: list[tuple[str, Agreement]] = []
    if not _FEMININE_NOUN.search(noun):
        found = _relative(words, start, end, noun)
        if _nominative(noun):
            found += _predicate(words, start, end)
    if any(gender == "f" for _, gender in found):
        return found
    return found + _masculine_attributes(words, start, noun)


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
