"""Ukrainian.

Feminine nouns of occupation are productive («лікарка», «директорка»), so for most occupations the noun itself tells.
For the rest («механік», «шериф», «голова») agreeing words do: «ця механік», «шериф сказала», «голова, яка».

- An attribute agrees in case too, and the oblique forms of «цей» and «той» are also free pronouns and adverbs («після
  цього шериф пішла», «тому шериф пішла»). So an attribute counts only before a noun form of its own case.
- Masculine is the default of attributes, whereas the predicate follows the sex («мій шериф сказала» is about a woman).
  So a masculine attribute yields to a feminine predicate.
- For both reasons `clues` finds the masculine attributes and all adjectives; `singular` lists feminine determiners.
- «та» is "that" (feminine) and far more often "and": it counts only as the first word.

The verb counts only with a noun in the nominative, right behind it or behind a short complement («голова правління
сказала»); the past tense and predicative adjectives show gender, the present does not. Plurals show none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gendermark.linguistics.language import Agreement, Language


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_FEMININE = _set("""
ця цю цієї цеї цій цією ту тієї тої тій тією тою моя мою моєї моїй моєю твоя твою твоєї твоїй твоєю своя свою своєї
своїй своєю наша нашу нашої нашій нашою ваша вашу вашої вашій вашою їхня їхню їхньої їхньою одна одну однієї одної
одній однією одною сама саму самої самій самою вся всю всієї всій всією уся усю усієї усій усією кожна кожну кожної
кожній кожною інша іншу іншої іншій іншою така таку такої такій такою жодна жодну жодної жодній жодною якась якусь
якоїсь якійсь якоюсь деяка певна чия чию чиєї
""")
_MASCULINE = _set("цей той мій твій свій наш ваш їхній один сам весь увесь кожен жоден якийсь чий")
_TRANSPARENT = _set("його її їх дуже вельми досить найбільш лише тільки же ж")

# Words that end like a masculine attribute and are none.
_NO_ATTRIBUTES = _set("""
його нього йому ньому їм ним кого кому чого чому нічого нікого нікому багатьом усього всього всім усім потім зовсім
якого якому яким який яка яку якої якій якою
""")
# The ending of an oblique attribute, and those of the nouns it can stand before.
_CASES = (
    (("ого",), ("а", "я", "ого")),
    (("ому", "єму"), ("у", "ю", "і", "ї", "ому")),
    (("им", "ім", "їм"), ("ом", "ем", "єм", "ею", "им", "ім")),
)
# Feminine nouns, by their suffixes: «кравчиня», «секретарша», «стюардеса», «лікарка» with its dative «лікарці».
_FEMININE_NOUN = re.compile(
    r"(?:(?:иц|ин|ш|их|ес|рис|сестр|нян|(?<!кле)[бвгджзйлмнпрстфчшь]к)(?:[аяиіїуюое]|[оеє]ю)|[бвгджзйлмнпрстфчшь]ці)$"
)
_NOMINATIVES = _set("голова глава тесля ceo сео портьє водій аграрій")
_OBLIQUE = ("ом", "ем", "єм", "им", "ім", "їм", "ій")
# Nominative feminine adjectives end in -а like nouns, so only frequent ones and plain adjective suffixes count.
_FEMININE_ADJECTIVE = re.compile(
    r"(?:нов|молод|стар|добр|перш|друг|трет|старш|молодш|колишн|майбутн|сам|хорош|чудов|гарн|відом|"
    r"\w+(?:ськ|цьк|льн|чн|йн|ован|чен))[ая]"
)
_ADJECTIVE = re.compile(r"\w{2,}(?:[иі][йхм]|ої|ою|ого|ому|ими)")

_PREPOSITIONS = _set("в у на до з із зі по про від за для при перед через під над без о об біля між")
_NO_SUBJECT = _set("як ніж не ні він вона я ти мов наче немов")
_BEFORE_CONJUNCTION = re.compile(r"того|тим|час|\w*(?:бачи|поміча|поміти|диви|спостеріга|чу)(?:в|ла|ли|ти)(?:ся|сь)?")
_ATTRIBUTE_ENDINGS = ("ій", "ої", "ого", "ому", "им", "ім", "их", "іх", "ою", "ими")
_BREAKS = _set("або чи коли поки якщо хоча що щоб він вона вони воно ми ви де куди бо адже хто як та тому оскільки")
_BETWEEN = _set("""
не ні також теж вже уже ще завжди ніколи іноді інколи одразу відразу тут там потім тоді сьогодні вчора завтра
раптом знову лише тільки просто навіть же ж б би все спочатку тепер зараз мені тобі йому їй нам вам їм мене тебе
його її нас вас їх себе собі це вранці ввечері вдень вночі
""")
_PREDICATES: dict[str, Agreement] = {
    word: gender
    for gender, words in (
        ("m", "сам повинен готовий згоден зайнятий впевнений здатний змушений хворий задоволений винен радий певен"),
        ("f", "сама повинна готова згодна зайнята впевнена здатна змушена хвора задоволена винна рада певна"),
        ("m", "міг зміг допоміг приніс ніс привіз віз виріс ліг біг побіг прибіг звик зник помер вмер встиг утік втік"),
        ("m", "хотів захотів умів вмів зумів розумів зрозумів сидів летів терпів велів володів вів привів провів"),
        ("m", "довів відповів розповів зустрів сів хворів захворів пожалів посмів зберіг досяг підстриг завів повів"),
    )
    for word in words.split()
}
_PAST = re.compile(r"(?P<f>[а-яіїєґ]{2,}ла(?:ся|сь)?)|(?P<m>[а-яіїєґ]+[аяиуюоє]в(?:ся|сь)?)")
# Nouns that look like past tenses: «учитель мов», «директор школа».
_NOUN_STEMS = _set("справ прав мов основ умов голов держав страв школ сил джерел сел зал")
_SPEECH = re.compile(r"(?:сказа|відпові|запита|спита|дода|поясни|заяви|зазначи|вигукну|повідоми|визна)(?:в|(ла))$")
_RELATIVES: dict[str, Agreement] = {
    **dict.fromkeys(_set("який якого якому яким якім котрий котрого котрому котрим"), "m"),
    **dict.fromkeys(_set("яка яку якої якій якою котра котру котрої котрій котрою"), "f"),
}


def _adjective(word: str, number: str) -> Agreement | None:  # noqa: ARG001
    """Lets a determiner be found beyond adjectives; what these tell depends on case, see `_attribute`."""
    walkable = _FEMININE_ADJECTIVE.fullmatch(word) or _ADJECTIVE.fullmatch(word)
    return "mf" if walkable and word not in _NO_ATTRIBUTES else None


def _nominative(noun: str) -> bool:
    """Whether this is the nominative of a noun that declines as a masculine, or of one of common gender."""
    return noun in _NOMINATIVES or (noun[-1] not in "аеєиіїоуюя" and not noun.endswith(_OBLIQUE))


def _attribute(word: str, noun: str) -> Agreement | None:
    """The gender that a determiner or adjective shows before this form of the noun; None if it belongs elsewhere."""
    if word in _NO_ATTRIBUTES:
        return None
    feminine = _FEMININE_NOUN.search(noun) is not None
    if word in _MASCULINE or word.endswith("ий"):
        return "m" if _nominative(noun) or feminine else None  # «цей медсестра» is a contradiction to report
    if feminine:
        return None
    if _nominative(noun):
        if word.endswith("ній") and word not in _FEMININE:
            return "m"  # «останній шериф»: the feminine would be «остання»
        return "f" if _FEMININE_ADJECTIVE.fullmatch(word) else None
    if word.endswith("ої") and noun.endswith(("а", "я")):
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
    """The gender that a past tense or predicative adjective shows."""
    if word in _PREDICATES:
        return _PREDICATES[word]
    match = _PAST.fullmatch(word)
    if match is None or word.removesuffix("а") in _NOUN_STEMS:
        return None
    return "f" if match["f"] else "m"


def _predicate(words: Sequence[str], start: int, end: int) -> list[tuple[str, Agreement]]:
    """The past tense or predicative adjective whose subject is the nominative noun phrase at words[start:end]."""
    before = words[start - 1] if start else ""
    earlier = words[start - 2] if start > 1 else ""
    conjunction = before == "як" and _BEFORE_CONJUNCTION.fullmatch(earlier)  # «бачив, як шериф»
    if (before in _NO_SUBJECT and not conjunction) or (earlier, before) == ("як", "і"):
        return []
    if earlier == "це" and before in ("був", "була"):
        return [(before, "f" if before == "була" else "m")]
    if end == len(words) and (match := _SPEECH.match(before)):
        return [(before, "f" if match[1] else "m")]
    rest = words[end : end + 7]
    position, complement = 0, 0
    while position < len(rest):
        word = rest[position]
        if gender := _finite(word):
            return [(word, gender)]
        if word in _BREAKS:
            break
        if word in _BETWEEN or word.endswith("'") or (len(word) > 3 and word.endswith("о")):
            position += 1  # «з'ясувала» is cut in two
        elif word in _PREPOSITIONS and complement == 0:
            long = len(rest) > position + 1 and rest[position + 1].endswith(_ATTRIBUTE_ENDINGS)
            position, complement = position + (3 if long else 2), 2  # «шериф із (сусіднього) округу сказала»
        elif complement < 2 and re.search(r".{2,}(?:[аяиіїую]|[ії]в|ої|ого|[иі]х|сь|[бгдзклмнпрсфхцш])$", word):
            position, complement = position + 1, complement + 1  # «голова правління банку сказала», a name
        else:
            break
    return []


def _relative(words: Sequence[str], start: int, end: int, noun: str) -> list[tuple[str, Agreement]]:
    """«шериф, яка», «із шерифом, про яку»; not «мати шерифа, яка», where it may belong to the mother."""
    if not _nominative(noun) and noun.endswith(("а", "я", "и")):
        before = start - 1
        while before >= 0 and (words[before] in _TRANSPARENT or words[before].endswith(("ого", "ої"))):
            before -= 1
        if before >= 0 and words[before] not in _PREPOSITIONS and not _PAST.fullmatch(words[before]):
            return []
    position = end + 1 if end < len(words) and words[end] in _PREPOSITIONS else end
    if position < len(words) and words[position] in _RELATIVES:
        return [(words[position], _RELATIVES[words[position]])]
    return []


def _one_of(words: Sequence[str], start: int) -> list[tuple[str, Agreement]]:
    """«одна з шерифів», «один із найкращих шерифів»."""
    before = start - 1
    while before > 0 and words[before].endswith("их"):
        before -= 1
    if before > 0 and words[before] in ("з", "із", "зі"):
        if words[before - 1] in ("одна", "одну", "однієї", "одній", "однією"):
            return [(words[before - 1], "f")]
        if words[before - 1] in ("один", "одного", "одному", "одним"):
            return [(words[before - 1], "m")]
    return []


def _clues(words: Sequence[str], start: int, end: int, number: str) -> list[tuple[str, Agreement]]:
    if number == "plural":
        return _one_of(words, start)
    before = words[start - 1] if start else ""
    if words[end - 1].endswith("им") and before in ("з", "із", "зі", "за", "над", "під", "перед"):
        return [(before, "m")]  # «з черговим»: instrumental singular; «черговим» alone may be a dative plural
    # «водій вантажівки» has its head in front, «медичний брат» behind
    noun = words[end - 1] if re.search(r"(?:ий|ій|на|ня|ну|ого|ому|им|ої)$", words[start]) else words[start]
    attributes = _attributes(words, start, noun)
    found: list[tuple[str, Agreement]] = []
    if not _FEMININE_NOUN.search(noun):
        found = _relative(words, start, end, noun)
        if _nominative(noun):
            found += _predicate(words, start - len(attributes), end)
            if words[:start] == ["та"]:
                found.append(("та", "f"))
    outranked = any(gender == "f" for _, gender in found)
    return found + [pair for pair in attributes if not (outranked and pair[1] == "m")]


def _normalise(word: str) -> str:
    """A stress mark is none of our business."""
    return word.replace("\u0301", "")


LANGUAGE = Language(
    code="uk",
    name="Ukrainian",
    singular=dict.fromkeys(_FEMININE, "f"),
    plural={**dict.fromkeys(("дві", "обидві"), "f"), **dict.fromkeys(("два", "обидва"), "m")},
    transparent=_TRANSPARENT,
    adjective=_adjective,
    normalise=_normalise,
    clues=_clues,
)
