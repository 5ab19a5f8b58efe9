"""Finding the translation in what chat models answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gendermark import registry
from gendermark.linguistics import context
from gendermark.systems.extraction import ALTERNATIVES, EMPTY, REFUSAL, UNFINISHED, Extraction, extract
from gendermark.systems.wordings import WORDINGS


def test_every_language_of_the_benchmarks_has_its_wording() -> None:
    for code in (*registry.names("language"), "en", "ko", "ja", "tr", "fi", "hu", "fa", "nl"):
        assert code in WORDINGS


DOCTOR, MEDICO = "The doctor finished her work.", "La médica terminó su trabajo."

CHATTER = [
    # (target, source, answer, translation); most sources are DOCTOR
    ("es", DOCTOR, MEDICO, MEDICO),
    ("es", DOCTOR, f"  {MEDICO}\n", MEDICO),
    ("es", DOCTOR, f'"{MEDICO}"', MEDICO),
    ("es", DOCTOR, '"La médica terminó su trabajo".', MEDICO),
    ("es", DOCTOR, f"«{MEDICO}»", MEDICO),
    ("es", DOCTOR, f"“{MEDICO}”", MEDICO),
    ("es", DOCTOR, f"'{MEDICO}'", MEDICO),
    ("es", DOCTOR, f"`{MEDICO}`", MEDICO),
    ("es", DOCTOR, f"**{MEDICO}**", MEDICO),
    ("es", DOCTOR, f"*{MEDICO}*", MEDICO),
    ("es", DOCTOR, "La **médica** terminó su trabajo.", MEDICO),
    ("es", DOCTOR, f"- {MEDICO}", MEDICO),
    ("es", DOCTOR, f"1. {MEDICO}", MEDICO),
    ("es", DOCTOR, f"> {MEDICO}", MEDICO),
    ("es", DOCTOR, f"Translation: {MEDICO}", MEDICO),
    ("es", DOCTOR, f"**Translation:** {MEDICO}", MEDICO),
    ("es", DOCTOR, f"### Translation\n\nSpanish: {MEDICO}", MEDICO),
    ("es", DOCTOR, f"Spanish: {MEDICO}", MEDICO),
    ("es", DOCTOR, f"Spanish translation: {MEDICO}", MEDICO),
    ("es", DOCTOR, f"Translation (Spanish): {MEDICO}", MEDICO),
    ("es", DOCTOR, f"Español: {MEDICO}", MEDICO),
    ("es", DOCTOR, f"Traducción: «{MEDICO}»", MEDICO),
    ("es", DOCTOR, f"La traducción al español es: {MEDICO}", MEDICO),
    ("es", DOCTOR, f"Aquí tienes la traducción:\n\n{MEDICO}", MEDICO),
    ("es", DOCTOR, f"Here is the translation:\n\n{MEDICO}", MEDICO),
    ("es", DOCTOR, f"Here's the Spanish translation of the text: {MEDICO}", MEDICO),
    ("es", DOCTOR, f"Here is the translation\n\n{MEDICO}", MEDICO),
    ("es", DOCTOR, f"Sure! Here is the translation:\n\n“{MEDICO}”", MEDICO),
    ("es", DOCTOR, f"Sure, here's your translation: {MEDICO}", MEDICO),
    ("es", DOCTOR, f"Certainly!\n{MEDICO}", MEDICO),
    ("es", DOCTOR, f"Sure! {MEDICO}", MEDICO),
    ("es", DOCTOR, f"Here you go: {MEDICO}", MEDICO),
    ("es", DOCTOR, f'The translation of "{DOCTOR}" is: "{MEDICO}"', MEDICO),
    ("es", DOCTOR, f'In Spanish, this would be "{MEDICO}"', MEDICO),
    ("es", DOCTOR, f'"{DOCTOR}" translates to "{MEDICO}" in Spanish.', MEDICO),
    ("es", DOCTOR, f"English: {DOCTOR}\nSpanish: {MEDICO}", MEDICO),
    ("es", DOCTOR, f"{DOCTOR} -> {MEDICO}", MEDICO),
    ("es", DOCTOR, f"{DOCTOR}\n\n{MEDICO}", MEDICO),
    ("es", DOCTOR, f"**Source:** {DOCTOR}\n**Translation:** {MEDICO}", MEDICO),
    ("es", DOCTOR, f"```\n{MEDICO}\n```", MEDICO),
    ("es", DOCTOR, f"Here is it:\n```text\n{MEDICO}\n```\nLet me know!", MEDICO),
    ("es", DOCTOR, f"```{MEDICO}```", MEDICO),
    ("es", DOCTOR, f"<translation>{MEDICO}</translation>", MEDICO),
    ("es", DOCTOR, f"<think>\nThe doctor is a woman: médica.\n</think>\n\n{MEDICO}", MEDICO),
    ("es", DOCTOR, f"So it must be médica.\n</think>\n{MEDICO}", MEDICO),
    ("es", DOCTOR, f"<think></think>{MEDICO}", MEDICO),
    ("es", DOCTOR, f"{MEDICO}<|im_end|>", MEDICO),
    ("es", DOCTOR, f"{MEDICO}</s>", MEDICO),
    ("es", DOCTOR, f"\ufeff{MEDICO}\u200b", MEDICO),
    ("es", DOCTOR, f"{MEDICO}\n\nNote: I used the feminine form, as the pronoun is “her”.", MEDICO),
    ("es", DOCTOR, f"{MEDICO}\n(Note: “médica” is the feminine of “médico”.)", MEDICO),
    ("es", DOCTOR, f"{MEDICO} (Note: the feminine form was chosen.)", MEDICO),
    ("es", DOCTOR, f"{MEDICO}\n\nNota: «médica» es la forma femenina.", MEDICO),
    ("es", DOCTOR, f"{MEDICO}\n\nThe sentence says that a physician completed her tasks.", MEDICO),
    ("es", DOCTOR, f"{MEDICO}\n\nExplanation:\n- La médica: the doctor\n- terminó: finished", MEDICO),
    ("es", DOCTOR, f"{MEDICO}\n\nLet me know if you need anything else!", MEDICO),
    ("es", DOCTOR, f"{MEDICO}\nEnglish: The cook left.\nSpanish: El cocinero se fue.", MEDICO),
    ("es", DOCTOR, f"{MEDICO}\n\n{MEDICO}", MEDICO),
    ("es", DOCTOR, '"La médica leyó "Emma" en casa."', 'La médica leyó "Emma" en casa.'),
    ("es", DOCTOR, "«La médica leyó «Emma».»", "La médica leyó «Emma»."),
    ("es", DOCTOR, 'In Spanish, this would be "La médica dijo una cosa: basta."', "La médica dijo una cosa: basta."),
    ("es", "She waited ...", "She waited ... -> Ella esperó ...", "Ella esperó ..."),
    ("es", "The translator slept.", "The Spanish translation is: La traductora durmió.", "La traductora durmió."),
    ("es", DOCTOR, f"{DOCTOR} ({MEDICO})", MEDICO),
    ("es", DOCTOR, f"{MEDICO} ({DOCTOR})", MEDICO),
    ("es", DOCTOR, f"Sure, I can help you with that! Here is the translation:\n\n{MEDICO}", MEDICO),
    ("es", DOCTOR, f"Of course! I'd be happy to help. The translation is: {MEDICO}", MEDICO),
    ("es", DOCTOR, f"Let's look at it. “Her” shows a woman.\n\n**Final translation:** {MEDICO}", MEDICO),
    ("es", DOCTOR, f"{MEDICO}\n\nTranslation: {DOCTOR}", MEDICO),
    # Both forms in one text stay whole.
    ("es", DOCTOR, "El/la médico/a terminó su trabajo.", "El/la médico/a terminó su trabajo."),
    ("es", DOCTOR, "El médico terminó. / La médica terminó.", "El médico terminó. / La médica terminó."),
    (
        "es",
        DOCTOR,
        "El médico (masculine) / La médica (feminine) terminó.",
        "El médico (masculine) / La médica (feminine) terminó.",
    ),
    ("es", DOCTOR, "El médico o la médica terminó su trabajo.", "El médico o la médica terminó su trabajo."),
    ("de", DOCTOR, "Der*die Ärzt*in beendete die Arbeit.", "Der*die Ärzt*in beendete die Arbeit."),
    ("de", DOCTOR, "**Der*die Ärzt*in kam.**", "Der*die Ärzt*in kam."),
    ("de", DOCTOR, "Der/die Lehrer:in kam.", "Der/die Lehrer:in kam."),
    ("fr", DOCTOR, "Le(la) médecin a fini son travail.", "Le(la) médecin a fini son travail."),
    # Other languages and scripts.
    ("fr", DOCTOR, "Voici la traduction : « La médecin a fini son travail. »", "La médecin a fini son travail."),
    ("fr", DOCTOR, "Traduction :\nLa médecin a fini son travail.", "La médecin a fini son travail."),
    (
        "de",
        DOCTOR,
        "Hier ist die Übersetzung:\n\n„Die Ärztin beendete ihre Arbeit.“",
        "Die Ärztin beendete ihre Arbeit.",
    ),
    (
        "de",
        DOCTOR,
        "Die Ärztin beendete ihre Arbeit.\n\nHinweis: „ihre“ zeigt eine Frau an.",
        "Die Ärztin beendete ihre Arbeit.",
    ),
    ("it", DOCTOR, "Ecco la traduzione in italiano: La dottoressa ha finito.", "La dottoressa ha finito."),
    ("pt", DOCTOR, "Tradução para o português: A médica terminou.", "A médica terminou."),
    ("ru", DOCTOR, "Вот перевод: «Врач закончила свою работу».", "Врач закончила свою работу."),
    ("ru", DOCTOR, "Врач закончила работу.\n\nVrach zakonchila rabotu.", "Врач закончила работу."),
    ("uk", DOCTOR, "Переклад: Лікарка закінчила роботу.", "Лікарка закінчила роботу."),
    ("pl", DOCTOR, "Oto tłumaczenie:\nLekarka skończyła pracę.", "Lekarka skończyła pracę."),
    ("cs", DOCTOR, "Překlad: Lékařka dokončila práci.\n\nPoznámka: ženský rod.", "Lékařka dokončila práci."),
    ("el", DOCTOR, "Μετάφραση: Η γιατρός τελείωσε τη δουλειά της.", "Η γιατρός τελείωσε τη δουλειά της."),
    ("ar", DOCTOR, "الترجمة: أنهت الطبيبة عملها.", "أنهت الطبيبة عملها."),
    ("ar", DOCTOR, "إليك الترجمة إلى العربية:\n\n«أنهت الطبيبة عملها.»", "أنهت الطبيبة عملها."),
    ("he", DOCTOR, "הנה התרגום: הרופאה סיימה את עבודתה.", "הרופאה סיימה את עבודתה."),
    ("he", DOCTOR, '"הרופאה בצה"ל סיימה את עבודתה."', 'הרופאה בצה"ל סיימה את עבודתה.'),
    ("hi", DOCTOR, "अनुवाद: डॉक्टर ने अपना काम पूरा किया।", "डॉक्टर ने अपना काम पूरा किया।"),
    ("hi", DOCTOR, "डॉक्टर ने काम पूरा किया। (Doctor ne kaam poora kiya.)", "डॉक्टर ने काम पूरा किया।"),
    ("ko", DOCTOR, "번역: 의사는 일을 끝냈다.", "의사는 일을 끝냈다."),
    ("ja", DOCTOR, "翻訳：「医者は仕事を終えた。」", "医者は仕事を終えた。"),
    ("tr", DOCTOR, "İşte çeviri: Doktor işini bitirdi.", "Doktor işini bitirdi."),
    ("fi", DOCTOR, "Käännös: Lääkäri lopetti työnsä.", "Lääkäri lopetti työnsä."),
    ("hu", DOCTOR, "Fordítás: Az orvos befejezte a munkáját.", "Az orvos befejezte a munkáját."),
    ("fa", DOCTOR, "ترجمه: پزشک کارش را تمام کرد.", "پزشک کارش را تمام کرد."),
    ("nl", DOCTOR, "Hier is de vertaling: De arts maakte haar werk af.", "De arts maakte haar werk af."),
    ("en", "그 사람은 의사다.", "Translation: That person is a doctor.", "That person is a doctor."),
    ("en", "그 사람은 의사다.", "Sure! Here is the English translation:\n\nThey are a doctor.", "They are a doctor."),
    ("en", "그 사람은 의사다.", "That person is a doctor. (그 사람은 의사다.)", "That person is a doctor."),
    ("xx", DOCTOR, "Translation: el trabaja", "el trabaja"),
]

UNTOUCHED = [
    # (target, source, answer): what looks like chatter is the translation
    ("es", "The nurse said: she is ill.", "La enfermera dijo: está enferma."),
    ("es", "The translator said: she is ill.", "La traductora dijo: está enferma."),
    ("es", "Translation: a guide for beginners.", "Traducción: una guía para principiantes."),
    ("es", "Spanish: the language of poets.", "Español: la lengua de los poetas."),
    ("es", "The Spanish teacher gave one order: silence.", "La profesora de español dio una orden: silencio."),
    ("es", "The Spanish teacher was late.", "La profesora de español llegó tarde."),
    ("es", '"I am a nurse," she said.', "«Soy enfermera», dijo."),
    ("es", '"I am a nurse."', "«Soy enfermera.»"),
    ("es", '"Go," said the "boss".', '"Vete", dijo la "jefa"'),
    ("ru", "“Fine people,” said the duke, “greet me.", "«Люди, – сказал герцог, – поздравьте меня»."),
    ("es", "The boss said no.", '"No", dijo la "jefa"'),
    ("es", "Sorry, I cannot help you with that.", "Lo siento, no puedo ayudarte con eso."),
    ("es", "I'm sorry, but I can't translate this.", "Lo siento, pero no puedo traducir esto."),
    ("es", "Unfortunately, I am unable to come.", "Lamentablemente, no puedo ir."),
    ("de", "I am sorry, I cannot do that.", "Es tut mir leid, das kann ich nicht tun."),
    ("en", "죄송합니다만 도와드릴 수 없습니다.", "I'm sorry, but I can't help you."),
    ("en", "申し訳ありませんが、できません。", "I'm sorry, but I can't do that."),
    ("en", "Üzgünüm, sana yardım edemem.", "I'm sorry, I can't help you."),
    ("en", "Tabii ki o bir doktor.", "Of course, she is a doctor."),
    ("es", "OK, the nurse is here.", "OK. La enfermera está aquí."),
    ("es", "Sure! The nurse is here.", "Sure! La enfermera está aquí."),
    ("es", "The nurse (a man) slept.", "El enfermero (un hombre) durmió."),
    ("es", "The doctor came. She was tired. She slept.", "La doctora vino. Estaba cansada. Se durmió."),
    ("es", "The 1. FC won.", "El 1. FC ganó."),
    ("es", "- The nurse slept.", "- La enfermera durmió."),
    ("es", "Note: the nurse slept.", "Nota: la enfermera durmió."),
    ("es", "Use **bold** letters.", "Usa letras en **negrita**."),
    ("es", "Write <think> and ```code```.", "Escribe <think> y ```code```."),
    ("es", "Choose masculine: el. Choose feminine: la.", "Elige masculino: el. Elige femenino: la."),
    ("es", "The doctor apologised to the nurse because she could not come.", "El doctor se disculpó con la enfermera."),
    ("en", "그녀는 말했다: 가자.", "She said: let's go."),
    ("es", "First line.\nSecond line.", "Primera línea.\nSegunda línea."),
    ("es", "The nurse slept.", "The nurse slept."),  # a copy is the judge's business
    ("ru", "The CEO of IBM spoke.", "Глава IBM выступила (IBM)."),
    ("ru", "The nurse caught her breath, for it was late.", "Медсестра перевела дух: было поздно."),
    ("pl", "The doctor explained that it was late.", "Lekarka tłumaczyła: było późno."),
    ("es", "The time is 10:30.", "Son las 10:30."),
    ("es", "Help me, I cannot swim!", "¡Ayúdame, no puedo nadar!"),
]

PROBLEMS = [
    ("es", DOCTOR, "", EMPTY),
    ("es", DOCTOR, " \n", EMPTY),
    ("es", DOCTOR, "...", EMPTY),
    ("es", DOCTOR, '""', EMPTY),
    ("es", DOCTOR, "Translation:", EMPTY),
    ("es", DOCTOR, "Here is the translation:\n", EMPTY),
    ("es", DOCTOR, "<think>She is a doctor.</think>", EMPTY),
    ("es", DOCTOR, "<|im_end|>", EMPTY),
    ("es", DOCTOR, "<think>\nLet me see. “Doctor” may be", UNFINISHED),
    ("es", DOCTOR, "I'm sorry, but I can't assist with that.", REFUSAL),
    ("es", DOCTOR, "I’m sorry, but I cannot translate this text.", REFUSAL),
    ("es", DOCTOR, "I cannot provide a translation of this content.", REFUSAL),
    ("es", DOCTOR, "I am unable to help with this request.", REFUSAL),
    ("es", DOCTOR, "As an AI language model, I cannot take part in this.", REFUSAL),
    ("es", DOCTOR, "Unfortunately, I won't be able to do so: it goes against my guidelines.", REFUSAL),
    ("es", DOCTOR, "Please provide the text you would like me to translate.", REFUSAL),
    ("es", DOCTOR, "Sure! Please share the sentence to be translated.", REFUSAL),
    ("es", "The guard cannot see her.", "I'm sorry, but I can't assist with that request.", REFUSAL),
    ("es", "Sorry, I cannot come.", "I'm sorry, but as an AI language model I cannot translate that.", REFUSAL),
    ("es", DOCTOR, "Lo siento, pero no puedo ayudar con eso.", REFUSAL),
    ("es", DOCTOR, "No puedo traducir este texto.", REFUSAL),
    ("es", DOCTOR, "<think>Hmm.</think>Lo lamento, no puedo traducirlo.", REFUSAL),
    ("fr", DOCTOR, "Je suis désolé, mais je ne peux pas répondre à cette demande.", REFUSAL),
    ("de", DOCTOR, "Es tut mir leid, aber dabei kann ich nicht helfen.", REFUSAL),
    ("de", DOCTOR, "Ich kann diesen Text nicht übersetzen.", REFUSAL),
    ("it", DOCTOR, "Mi dispiace, ma non posso aiutarti.", REFUSAL),
    ("pt", DOCTOR, "Desculpe, mas não posso ajudar com isso.", REFUSAL),
    ("ru", DOCTOR, "Извините, но я не могу помочь с этим запросом.", REFUSAL),
    ("ru", DOCTOR, "К сожалению, я не могу перевести этот текст.", REFUSAL),
    ("uk", DOCTOR, "Вибачте, але я не можу з цим допомогти.", REFUSAL),
    ("pl", DOCTOR, "Przykro mi, ale nie mogę w tym pomóc.", REFUSAL),
    ("cs", DOCTOR, "Omlouvám se, ale s tím nemohu pomoci.", REFUSAL),
    ("el", DOCTOR, "Λυπάμαι, αλλά δεν μπορώ να βοηθήσω.", REFUSAL),
    ("ar", DOCTOR, "عذرًا، لا يمكنني المساعدة في ذلك.", REFUSAL),
    ("he", DOCTOR, "אני מצטער, אבל אני לא יכול לעזור בזה.", REFUSAL),
    ("hi", DOCTOR, "क्षमा करें, मैं इसमें मदद नहीं कर सकता।", REFUSAL),
    ("ko", DOCTOR, "죄송합니다만, 도와드릴 수 없습니다.", REFUSAL),
    ("ja", DOCTOR, "申し訳ありませんが、お手伝いできません。", REFUSAL),
    ("tr", DOCTOR, "Üzgünüm, bu konuda yardımcı olamam.", REFUSAL),
    ("fi", DOCTOR, "Valitettavasti en voi auttaa tässä.", REFUSAL),
    ("hu", DOCTOR, "Sajnálom, de ebben nem tudok segíteni.", REFUSAL),
    ("fa", DOCTOR, "متأسفم، نمی‌توانم در این مورد کمک کنم.", REFUSAL),
    ("nl", DOCTOR, "Het spijt me, maar daar kan ik niet mee helpen.", REFUSAL),
    ("en", "그 사람은 의사다.", "I'm sorry, but I can't help with that.", REFUSAL),
    ("es", DOCTOR, "1. El médico terminó su trabajo.\n2. La médica terminó su trabajo.", ALTERNATIVES),
    ("es", DOCTOR, "- El médico terminó su trabajo.\n- La médica terminó su trabajo.", ALTERNATIVES),
    ("es", DOCTOR, "El médico terminó su trabajo.\nLa médica terminó su trabajo.", ALTERNATIVES),
    ("es", DOCTOR, "El médico terminó su trabajo.\n\nor\n\nLa doctora acabó.", ALTERNATIVES),
    ("es", DOCTOR, "El médico terminó. (masculine)\nLa médica terminó. (feminine)", ALTERNATIVES),
    ("es", DOCTOR, "**Masculine:** El médico terminó.\n**Feminine:** La médica terminó.", ALTERNATIVES),
    ("es", DOCTOR, "(Masculine) El médico terminó. (Feminine) La médica terminó.", ALTERNATIVES),
    ("es", DOCTOR, "Masculino: El médico terminó. Femenino: La médica terminó.", ALTERNATIVES),
    (
        "es",
        DOCTOR,
        'El médico terminó su trabajo.\n\nNote: for a woman, say "La médica terminó su trabajo."',
        ALTERNATIVES,
    ),
    ("es", DOCTOR, "Here are two options:\n\nOption 1: El médico terminó.\nOption 2: La médica terminó.", ALTERNATIVES),
    ("es", DOCTOR, "```\nEl médico terminó.\n```\nor\n```\nLa médica terminó.\n```", ALTERNATIVES),
    ("de", DOCTOR, "Der Arzt beendete die Arbeit.\noder\nDie Ärztin beendete die Arbeit.", ALTERNATIVES),
    ("ru", DOCTOR, "1. Врач закончил свою работу.\n2. Врач закончила свою работу.", ALTERNATIVES),
    ("he", DOCTOR, "זכר: הרופא סיים את עבודתו.\nנקבה: הרופאה סיימה את עבודתה.", ALTERNATIVES),
    ("hi", DOCTOR, "डॉक्टर ने काम पूरा कर लिया था।\n\nया\n\nडॉक्टर काम पूरा कर चुकी थी।", ALTERNATIVES),
    ("en", "그 사람은 의사다.", "He is a doctor.\nShe is a doctor.", ALTERNATIVES),
]


@pytest.mark.parametrize(("code", "source", "answer", "translation"), CHATTER)
def test_chatter_is_taken_away(code: str, source: str, answer: str, translation: str) -> None:
    assert extract(answer, source, code) == Extraction(translation)


@pytest.mark.parametrize(("code", "source", "answer"), UNTOUCHED)
def test_a_translation_stays_whole(code: str, source: str, answer: str) -> None:
    assert extract(answer, source, code) == Extraction(answer)


@pytest.mark.parametrize(("code", "source", "answer", "problem"), PROBLEMS)
def test_what_is_no_translation(code: str, source: str, answer: str, problem: str) -> None:
    assert extract(answer, source, code) == Extraction(None, problem)


def test_a_sentence_shown_with_its_context() -> None:
    source = context.show("She is a doctor.", "The doctor slept.", "prompt")
    assert extract("Translation: La doctora durmió.", source, "es") == Extraction("La doctora durmió.")
    assert extract("La doctora durmió.\n\nIt was a good night.", source, "es") == Extraction("La doctora durmió.")


def test_a_sentence_that_was_broken_in_two() -> None:
    source = "The doctor came into the room. She was very tired that night."
    answer = "La doctora entró en la sala.\nEstaba muy cansada aquella noche."
    assert extract(answer, source, "es") == Extraction(answer.replace("\n", " "))
    assert extract(f"{answer}\n\nNote: past tense.", source, "es") == Extraction(answer.replace("\n", " "))


# -- for any words

WORDS = st.lists(
    st.text(st.characters(categories=["Ll", "Lo"], max_codepoint=0x2FFF), min_size=1, max_size=8),
    min_size=1,
    max_size=12,
)
WRAPPERS = [
    "{}",
    '"{}"',
    "“{}”",
    "«{}»",
    "**{}**",
    "Translation: {}",
    "Here is the translation:\n\n{}",
    "Sure! Here's the Spanish translation:\n\n**{}**",
    "```\n{}\n```",
    "<think>He or she?</think>\n\n{}",
    "{}<|im_end|>",
    "{}\n\nNote: this is how I would say it.",
    "Spanish: {}",
]


def _sentence(words: list[str]) -> str:
    return " ".join(words) + "."


@given(WORDS, st.sampled_from(WRAPPERS))
def test_any_words_are_found_in_any_wrapper(words: list[str], wrapper: str) -> None:
    sentence = _sentence(words)
    assert extract(wrapper.format(sentence), DOCTOR, "es") == Extraction(sentence)


@given(st.text(max_size=200), st.text(max_size=60), st.sampled_from(["es", "ar", "en", "xx"]))
def test_any_answer_gives_a_text_or_a_problem(answer: str, source: str, code: str) -> None:
    found = extract(answer, source, code)
    assert (found.text is None) == (found.problem is not None)
    if found.text is not None:
        assert found.text == found.text.strip()
        assert any(map(str.isalnum, found.text))


PIECES = st.sampled_from(
    [
        *WRAPPERS,
        "Spanish",
        ":",
        "\n",
        "El médico durmió.",
        "La médica durmió.",
        '"',
        "**",
        "Note",
        "/",
        "or",
        "1. ",
        "```",
        "(masculine)",
    ]
)


@given(st.lists(PIECES, max_size=8).map(" ".join))
def test_what_was_found_has_nothing_more_to_take_away(answer: str) -> None:
    found = extract(answer, DOCTOR, "es")
    if found.text is not None:
        assert extract(found.text, DOCTOR, "es") == found
