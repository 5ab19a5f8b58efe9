"""How languages speak about translating, refusing and genders: what a chat model may say around its translation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Wording:
    """How a language speaks about translating: regular expressions, matched in lower case."""

    names: str
    """Its own name, as it stands in a label."""
    translate: str
    """The stem of "translate" and its kin; in some languages it also means to explain, or to transfer."""
    translation: str
    """The noun."""
    sorry: str
    cannot: str
    """How a speaker says of themselves that they cannot or will not."""
    note: str
    """How a remark behind the translation begins."""
    alternative: str = "or"
    """"or", alone on a line between two translations."""
    masculine: str = "masculine"
    feminine: str = "feminine"


WORDINGS = {
    "ar": Wording(
        "(?:ال)?عربية",
        "ترجم",
        "ترجمة",
        "عذر[اًا]+|آسفة?|أعتذر|نعتذر|معذرة",
        "لا (?:أستطيع|يمكنني|أقدر)|لن أ|غير قادر",
        "ملاحظ|توضيح|شرح",
        "أو",
        "مذكر|المذكر",
        "مؤنث|المؤنث",
    ),
    "cs": Wording(
        "češtin|česk",
        "překl|přelož",
        r"překlad\b",
        "omlouvám se|promiňte|je mi líto|bohužel",
        "nemohu|nemůžu|nejsem schop|nedokážu",
        "poznámk|vysvětlen",
        "nebo",
        "mužsk",
        "žensk",
    ),
    "de": Wording(
        "deutsch",
        "übersetz",
        "übersetzung",
        "(?:es )?tut mir (?:sehr )?leid|entschuldig|leider|bedau",
        r"kann ich [^.!?]{0,60}(?:nicht|kein)|ich (?:kann|darf) [^.!?]{0,60}(?:nicht|kein)|nicht in der lage",
        "hinweis|anmerkung|erläuterung|erklärung|bemerkung",
        "oder",
        "männlich|maskulin",
        "weiblich|feminin",
    ),
    "el": Wording(
        "ελληνικ",
        "μετ[άα]φρ[άα]",
        "μετάφραση",
        "λυπάμαι|συγγνώμη|ζητώ συγγνώμη|δυστυχώς",
        "δεν (?:μπορώ|είμαι σε θέση|δύναμαι)|αδυνατώ",
        "σημείωση|επεξήγηση",
        "ή",
        "αρσενικ",
        "θηλυκ",
    ),
    "en": Wording(
        "english",
        "translat",
        "translation",
        "(?:i(?:'m| am) )?(?:so |very )?sorry|(?:my |i )?apolog|unfortunately|i regret|i(?:'m| am) afraid",
        r"\b(?:i|we) (?:really |simply |just )?(?:cannot|can't|can not|won't|will not|must decline|refuse|don't feel)"
        r"|\b(?:i|we)(?:'m| am|'re| are) (?:not able|unable|not comfortable|not allowed)|^unable to|, (?:but )?unable",
        r"note|n\.b\.|nb\b|explanation|translation note|literal|word-for-word|breakdown|pronunciation|transliteration"
        r"|romani[sz]ation|back-translation|i (?:have )?(?:used|chose|translated|kept|hope)|let me know|feel free"
        r"|please note|this translation|if you (?:need|want|would|have|prefer|'d)|remark|comment|context:",
        "or|alternatively",
        "masculine|male",
        "feminine|female",
    ),
    "es": Wording(
        "español|castellano|espanol",
        "traduc|tradúc",
        "traducción",
        "lo siento|lo lamento|lamento|perdón|disculp|mis disculpas|me temo|desafortunadamente|lamentablemente",
        "no (?:me es posible|puedo|podré|podemos|soy capaz|estoy en condiciones)",
        "notas?\\b|explicaci|aclaraci|observaci",
        "o|o bien",
        "masculin",
        "femenin",
    ),
    "fa": Wording(
        "فارسی",
        "ترجم",
        "ترجمه",
        "متأسف|متاسف|ببخشید|عذر|پوزش",
        "نمی[\u200c ]?(?:توان|شود)",
        "توجه|یادداشت|توضیح|نکته",
        "یا",
        "مذکر",
        "مؤنث|مونث",
    ),
    "fi": Wording(
        "suom",
        "käänn|kään[ts]",
        "käännös",
        "valitettavasti|pahoittel|anteeksi|olen pahoillani",
        "en (?:valitettavasti )?(?:voi|pysty|kykene)",
        "huom|selity|selitys",
        "tai",
        "maskuliini",
        "feminiini",
    ),
    "fr": Wording(
        "français|francais",
        "tradui|traduc",
        "traduction",
        "(?:je suis )?(?:vraiment )?(?:désolée?|navrée?)|pardon|excusez|mes excuses|malheureusement|je regrette",
        "(?:je )?ne (?:peux|puis|pourrai|suis pas en mesure|suis pas capable)|(?:il )?m'est impossible",
        "notes?\\b|remarque|explication|précision",
        "ou|ou bien",
        "masculin",
        "féminin",
    ),
    "he": Wording(
        "עברית",
        "תרג(?:ו)?ם",
        "תרגום",
        "(?:אני )?מצטער(?:ת)?|סליחה|מתנצל(?:ת)?|לצערי",
        "לא (?:יכול|אוכל|ניתן|מסוגל)|אינ(?:ני|י) יכול|אין באפשרותי",
        "הערה|הסבר|הערות",
        "או",
        "זכר",
        "נקבה",
    ),
    "hi": Wording(
        "हिन्दी|हिंदी",
        "अनुवाद",
        "अनुवाद",
        "क्षमा|माफ़|माफ|खेद|मुझे खेद",
        "नहीं (?:कर )?(?:सकत|पाऊ|पा )|असमर्थ",
        "नोट|टिप्पणी|ध्यान|व्याख्या|स्पष्टीकरण",
        "या",
        "पुल्लिंग|पुरुष",
        "स्त्रीलिंग|महिला",
    ),
    "hu": Wording(
        "magyar",
        "fordít",
        "fordítás",
        "sajnálom|elnézést|bocsánat|sajnos",
        "nem (?:tudok|tudom|áll módomban|vagyok képes)",
        "megjegyz|magyarázat",
        "vagy",
        "hímnem",
        "nőnem",
    ),
    "it": Wording(
        "italiano|italiana",
        "traduc|traduz|tradur|tradott",
        "traduzione",
        "mi dispiace|mi spiace|scusa|mi scuso|purtroppo|spiacente|sono spiacente",
        "non (?:posso|potrò|sono in grado|mi è possibile|riesco)",
        "nota\\b|note\\b|spiegazion|osservazion",
        "o|oppure",
        "maschil",
        "femminil",
    ),
    "ja": Wording(
        "日本語",
        "翻訳|和訳|訳",
        "翻訳|訳",
        "申し訳|すみません|すいません|ごめん|恐れ入り|残念",
        "できません|できない|出来ません|いたしかね|しかねます|お応え|お答えできません|お手伝いできません",
        "注|備考|補足|説明",
        "または|あるいは|もしくは",
        "男性",
        "女性",
    ),
    "ko": Wording(
        "한국어",
        "번역",
        "번역",
        "죄송|미안|유감|안타깝",
        "수 없|수가 없|못합니다|못해요|어렵습니다|불가능",
        "참고|설명|주의|주:",
        "또는|혹은",
        "남성",
        "여성",
    ),
    "nl": Wording(
        "nederlands",
        "vertal|vertaal|vertaling",
        "vertaling",
        "(?:het )?spijt me|sorry|excuses|helaas|mijn excuses",
        "kan ik [^.!?]{0,60}(?:niet|geen)|ik kan [^.!?]{0,60}(?:niet|geen)|niet in staat",
        "opmerking|toelichting|uitleg|let op",
        "of|ofwel",
        "mannelijk",
        "vrouwelijk",
    ),
    "pl": Wording(
        "polsk",
        "tłumacz|przetłumacz|przekład",
        "tłumaczenie|przekład",
        "przepraszam|przykro mi|niestety|wybacz",
        "nie (?:mogę|jestem w stanie|potrafię|będę)",
        "uwag|wyjaśnien|przypis|objaśnien",
        "lub|albo",
        "męsk|rodzaj męski",
        "żeńsk|rodzaj żeński",
    ),
    "pt": Wording(
        "português|portugues|portuguesa",
        "traduz|traduç|traduc",
        "tradução",
        "desculp|lamento|sinto muito|peço desculpa|infelizmente",
        "não (?:posso|poderei|consigo|sou capaz|me é possível|é possível)",
        "notas?\\b|observaç|explicaç",
        "ou|ou então",
        "masculin",
        "feminin",
    ),
    "ru": Wording(
        "русск|по-русски",
        "перев[оеё]",
        r"перевод\b",
        "извин|прост(?:ите|и)|прошу прощения|к сожалению|сожалею|приношу извинения",
        "не (?:могу|смогу|в состоянии|имею возможности|способ)",
        "примечан|пояснен|замечан",
        "или|либо",
        "мужск",
        "женск",
    ),
    "tr": Wording(
        "türkçe",
        "çevir|çeviri|tercüme",
        "çeviri",
        "üzgünüm|özür|maalesef|kusura bakma|affedersin",
        r"[ae]m[ae]m\b|[ae]m[ıi]yorum|mümkün değil",
        "not:|notlar|açıklama",
        "veya|ya da",
        "eril|erkek",
        "dişil|kadın",
    ),
    "uk": Wording(
        "українськ",
        "перекла",
        r"переклад\b",
        "вибач|перепрош|на жаль|шкодую|прошу вибачення",
        "не (?:можу|зможу|в змозі|маю змоги)",
        "приміт|пояснен|зауваж",
        "або|чи",
        "чоловіч",
        "жіноч",
    ),
    "zh": Wording(
        "中文|汉语|简体中文",
        "翻译|译文",
        "翻译|译文",
        "抱歉|对不起|很遗憾|不好意思",
        "无法|不能|不可以|没办法",
        "注|说明|备注",
        "或|或者",
        "男性",
        "女性",
    ),
}
ENGLISH = WORDINGS["en"]


@cache
def in_any(what: str) -> str:
    """An expression for this in every language."""
    return "|".join(f"(?:{getattr(wording, what)})" for wording in WORDINGS.values())
