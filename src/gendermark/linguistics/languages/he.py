"""Hebrew.

Most occupation nouns tell their gender (רופא / רופאה), but those of verbs in final he do not in unpointed spelling: מורה is
moré or morá, so are מנקה, אופה; abbreviations (עו"ד) and ראש serve both as well. For these the words that agree are
looked for, all of which may stand behind the noun: demonstratives (המורה הזאת), adjectives, the copula and the verb.

A verb or copula is trusted only when the noun is the subject: at the start of its clause, or behind a definite noun, which
cannot govern it, and without a preposition. Past verbs may also stand right before a definite subject (אמרה המורה), since
a definite object would have את. A predicate noun agrees with the pronoun or form of "be" right before it (היא מורה).
Verbs and adjectives are closed lists of masculine forms, from which the feminine is made, so that both are found alike.

Articles, conjunctions and prepositions are written together with the noun. Nothing that agrees stands before it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product

from gendermark.linguistics.language import Agreement, Language

_POINTS = re.compile("[\u0591-\u05bd\u05bf-\u05c5\u05c7]")
_OPEN = str.maketrans("ךםןףץ", "כמנפצ")


def normalise(word: str) -> str:
    """Without points; maqaf as hyphen; gershayim used as quotation marks are dropped, those of acronyms (עו״ד) stay."""
    return _POINTS.sub("", word).replace("\u05be", "-").strip("-\u05f3\u05f4")


_EPICENE = ("מורה", "מנקה", "אופה", "מלווה", "ממונה", "מנחה", "עוד", "רוח", "דר", "דוקטור", "ראש", "בייביסיטר")

_PAST = """
אמר שאל ענה דיבר סיפר הסביר הציע ביקש רצה עשה ראה קנה נתן לקח הלך בא יצא נכנס חזר הגיע עזב נשאר ישב עמד קם נפל רץ נסע גר
עבד למד לימד קרא כתב שלח קיבל פתח סגר שבר הביא הניח מצא איבד שכח זכר ידע הבין חשב האמין הרגיש אהב כעס צעק צחק בכה חייך
ניסה הצליח נכשל התחיל סיים המשיך הפסיק החליט הסכים סירב הבטיח עזר טיפל בדק תיקן בנה ניקה בישל אפה הכין שתה אכל ישן
התעורר התקשר הודיע הזהיר האשים התנצל הודה הזמין פגש הכיר חיכה הקשיב שמע הסתכל הביט הפך זכה ניצח הפסיד שילם מכר הרוויח הרים
הוריד נשא הזיז נפצע פצע פגע נפגע נחבל חתך הכאיב הציג לבש נהג איחר מיהר נח עצר היה נבחר מונה התפטר התווכח התלונן ליווה הוסיף
טען הכריז חתם תכנן ערך הרגיע שר ניגן שיחק צייר צילם טס הופיע נעלם פרש התחתן נולד מת זרק תפס החזיק שמר ייעץ המליץ יכול
"""
_PARTICIPLE_T = """
אומר שואל מדבר מספר מבקש נותן לוקח הולך יוצא נכנס חוזר עוזב יושב עומד נוסע לומד מלמד קורא כותב שולח מקבל פותח סוגר מוצא
מאבד שוכח זוכר יודע חושב אוהב כועס צועק צוחק מחייך עוזר מטפל בודק מתקן מבשל אוכל מתקשר פוגש שומע מסתכל מאחר ממהר עובד
נוהג לובש משלם מוכר נשאר מקצועי סבלני ראשי אישי פרטי מקומי אמריקאי ישראלי צרפתי אנגלי מוסמך מתנדב מחליף נודע
"""
_PARTICIPLE_H = """
מסביר מציע מגיע מביא מבין מאמין מרגיש מצליח מתחיל ממשיך מחליט מסכים מבטיח מכין מודיע מזמין מכיר מקשיב מרוויח מרים בא גר קם
רץ יכול צריך טוב חדש ותיק צעיר מבוגר זקן גבוה נמוך עייף שמח עצוב מאושר בריא חכם נחמד אדיב ראשון אחרון יחיד גדול קטן מצוין
מוכשר חרוץ עסוק בטוח מוכן בכיר אהוב מפורסם ידוע מעולם אחר נוסף קבוע זמני ישר נהדר נפלא מקסים מסור עצבני מודאג מופתע
"""
_FUTURE = "יהיה יאמר יגיד יגיע יבוא יחזור יתקשר יאחר יוכל ירצה יצטרך יעזור יעבוד ידבר ילך ישאל יקבל יעשה יכתוב"


def _feminine(masculine: str, ending: str) -> str:
    return masculine.translate(_OPEN) + ending


def _past(masculine: str) -> str:
    return masculine[:-1] + "תה" if masculine.endswith("ה") else _feminine(masculine, "ה")


def _table(*pairs: tuple[str, str]) -> Mapping[str, Agreement]:
    table: dict[str, Agreement] = {}
    for masculine, feminine in pairs:
        table[masculine] = "m"
        table[feminine] = "f"
    return table


_PAST_VERBS = _table(*((word, _past(word)) for word in _PAST.split()), ("היה", "הייתה"), ("היה", "היתה"))
_ADJECTIVES = _table(
    *((word, _feminine(word, "ת")) for word in _PARTICIPLE_T.split()),
    *((word, _feminine(word, "ה")) for word in _PARTICIPLE_H.split()),
)
_FUTURE_VERBS = _table(*((word, "ת" + word[1:]) for word in _FUTURE.split()))
_COPULA = _table(("הוא", "היא"), ("אינו", "אינה"), ("איננו", "איננה"))
_VERBS = {**_ADJECTIVES, **_FUTURE_VERBS, **_PAST_VERBS, **_COPULA}
_DEMONSTRATIVES = _table(("הזה", "הזאת"), ("ההוא", "ההיא"), ("הלז", "הזו"), ("זה", "זו"), ("זה", "זאת"), ("אחד", "אחת"))
_BEFORE = {**_COPULA, **_table(("היה", "הייתה"), ("היה", "היתה"), ("יהיה", "תהיה"), ("שהוא", "שהיא"), ("שהיה", "שהייתה"))}
_REFLEXIVE = _table(*((prefix + "עצמו", prefix + "עצמה") for prefix in ("", "ב", "ל", "מ", "ע")))

_POSSESSIVES = frozenset("שלי שלך שלו שלה שלנו שלכם שלכן שלהם שלהן".split())
_ADVERBS = frozenset("לא גם כבר עדיין תמיד מאוד ביותר באמת אף רק פעם שוב כאן שם עצמו אכן בעצם ממש כנראה".split())
_PREPOSITIONS = frozenset("של עם ליד על מול אצל בין".split())
_OPENERS = frozenset("כי אבל אם כאשר אך אז ואז לכן איפה היכן מתי למה מדוע האם אתמול היום מחר ולכן וגם כל איזו איזה".split())


def _prefix(words: Sequence[str], start: int, end: int) -> str | None:
    """What is written before an epicene noun; None if the noun is not one of these."""
    noun = re.sub("[\u05f3\u05f4]", "", "".join(words[start:end]))
    endings = [epicene for epicene in _EPICENE if noun.endswith(epicene)]
    return noun.removesuffix(max(endings, key=len)) if endings else None


def _adjective(word: str) -> Agreement | None:
    return _DEMONSTRATIVES.get(word) or _ADJECTIVES.get(word) or _ADJECTIVES.get(word.removeprefix("ה"))


def _is_subject(words: Sequence[str], start: int, prefix: str) -> bool:
    if prefix.removeprefix("ו").removeprefix("כש").removeprefix("ש") not in ("", "ה"):
        return False
    before = words[start - 1] if start else ""
    return not before or before in _OPENERS or before.startswith("ה") or prefix.startswith(("ש", "כש"))


def _predicate(words: Sequence[str], position: int, noun_is_head: bool) -> list[tuple[str, Agreement]]:
    """The verb or copula of a subject whose own words end before `position`, also behind one phrase or clause."""
    if position >= len(words):
        return []
    word = words[position]
    if word in _VERBS:
        return [(word, _VERBS[word])]
    if word.startswith("ש") or word == "אשר":  # a relative clause: only the copula behind it is certain
        return [(later, _COPULA[later]) for later in words[position + 1 : position + 5] if later in _COPULA][:1]
    if word in _PREPOSITIONS or word[0] in "בלמ" or (noun_is_head and word.startswith("ה")):
        rest = [later for later in words[position + 1 : position + 4] if later in _VERBS]
        return [(later, _VERBS[later]) for later in rest][:1]
    return []


def clues(words: Sequence[str], start: int, end: int, number: str) -> list[tuple[str, Agreement]]:
    behind = end + 1 if end < len(words) and words[end] in _POSSESSIVES else end
    prefix = _prefix(words, start, end)
    if prefix is None:  # a noun that tells: only a demonstrative can contradict it (not in "driver of this truck")
        if end - start == 1 and behind < len(words) and words[behind] in ("הזה", "הזאת", "הזו", "ההוא", "ההיא"):
            return [(words[behind], _DEMONSTRATIVES[words[behind]])] if number == "singular" else []
        return []
    found: list[tuple[str, Agreement]] = []
    while behind < len(words):
        agreement = _adjective(words[behind])
        if agreement and (words[behind] not in _VERBS or words[behind].startswith("ה") or prefix in ("", "כ", "ל", "ב")):
            found.append((words[behind], agreement))
        elif words[behind] not in _ADVERBS | _POSSESSIVES:
            break
        behind += 1
    before = start - 1
    while before > 0 and words[before] in _ADVERBS:
        before -= 1
    if before >= 0 and prefix in ("", "ה"):
        word = words[before]
        if word in _BEFORE:
            found.append((word, _BEFORE[word]))
        elif prefix and before == start - 1 and word in _PAST_VERBS:
            found.append((word, _PAST_VERBS[word]))
        elif before == 0 and word in ("זו", "זאת", "איזו", "אותה", "אותו"):
            found.append((word, "m" if word == "אותו" else "f"))
    if _is_subject(words, start, prefix):
        predicate = _predicate(words, behind, words[start].endswith("ראש"))
        reflexive = [(word, _REFLEXIVE[word]) for word in words[behind : behind + 4] if word in _REFLEXIVE]
        found.extend(predicate or reflexive[:1])
    return found


# The article is swallowed by ב, כ, ל in speech and spelling, but systems do write "לה"; "כ-" and the like before foreign words.
_CONJUNCTIONS = ("", "ו", "ש", "וש", "כש", "וכש", "לכש", "מש")
_PREFIXES = {a + b for a, b in product(_CONJUNCTIONS, ("", "ה", "ב", "כ", "ל", "מ", "מה", "לה", "בה", "כה"))} - {""}

LANGUAGE = Language(
    code="he",
    name="Hebrew",
    prefixes=tuple(sorted(_PREFIXES | {prefix + "-" for prefix in _PREFIXES}, key=lambda prefix: (-len(prefix), prefix))),
    normalise=normalise,
    clues=clues,
)
