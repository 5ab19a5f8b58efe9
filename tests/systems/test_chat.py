"""Asking chat models, and finding the translation in what they answer."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gendermark import registry
from gendermark.errors import UserError
from gendermark.systems import chat
from gendermark.systems.chat import ALTERNATIVES, EMPTY, NOT_FOUND, REFUSAL, UNFINISHED, Prompt, extract, open_prompt

DOCTOR, MEDICA = "The doctor finished her work.", "La médica terminó su trabajo."
QUOTED = "“Go,” the doctor said."
BOTH = "El médico terminó. / La médica terminó."

FOUND = [
    # (source, answer, translation)
    (DOCTOR, MEDICA, MEDICA),
    (DOCTOR, f"  {MEDICA}\r\n", MEDICA),
    (DOCTOR, f"\ufeff{MEDICA}\u200b", MEDICA),
    # between tags
    (DOCTOR, f"<translation>{MEDICA}</translation>", MEDICA),
    (DOCTOR, f"Sure! Here it is: <translation>\n“{MEDICA}”\n</translation>\n\nNote: “her” shows a woman.", MEDICA),
    (DOCTOR, f"<translation>{MEDICA}</translation>\n<translation>{MEDICA}</translation>", MEDICA),
    (DOCTOR, f"As <translation>...</translation>: <Translation>{MEDICA}</Translation>", MEDICA),
    (DOCTOR, f"<translation>{MEDICA}", MEDICA),
    (DOCTOR, f"{MEDICA}</translation>", MEDICA),
    (DOCTOR, "<translation>Lo siento, no puedo.</translation>", "Lo siento, no puedo."),
    (DOCTOR, "<translation>La médica\nterminó.</translation>", "La médica\nterminó."),
    # as JSON
    (DOCTOR, json.dumps({"translation": MEDICA}), MEDICA),
    (DOCTOR, f'Sure:\n```json\n{{\n  "translation": "{MEDICA}"\n}}\n```\nBye', MEDICA),
    (DOCTOR, json.dumps({"translation": MEDICA, "note": {"gender": "f"}}), MEDICA),
    # in a code fence, in quotes, behind a line that ends in a colon
    (DOCTOR, f"```\n{MEDICA}\n```", MEDICA),
    (DOCTOR, f"Here it is:\n~~~text\n{MEDICA}\n~~~\nLet me know!", MEDICA),
    *((DOCTOR, f"{one}{MEDICA}{other}", MEDICA) for one, other in ('""', "“”", "„“", "«»", "''", "``", "「」")),
    (DOCTOR, f"**{MEDICA}**", MEDICA),
    (DOCTOR, f"*“{MEDICA}”*", MEDICA),
    (DOCTOR, f"Here is the translation:\n\n{MEDICA}", MEDICA),
    (DOCTOR, f"**Traducción:**\n«{MEDICA}»", MEDICA),
    # thoughts and special tokens
    (DOCTOR, f"<think>\nIt is <translation>no</translation>\n</think>\n\n{MEDICA}", MEDICA),
    (DOCTOR, f"So it must be médica.\n</think>\n<translation>{MEDICA}</translation>", MEDICA),
    (DOCTOR, f"{MEDICA}<|im_end|>", MEDICA),
    # both genders in one text stay whole
    (DOCTOR, "El/la médico/a terminó.", "El/la médico/a terminó."),
    (DOCTOR, f"<translation>{BOTH}</translation>", BOTH),
    (DOCTOR, BOTH, BOTH),
    # what the source has as well stays
    (QUOTED, "«Vete», dijo la médica.", "«Vete», dijo la médica."),
    ('"Go."', '"Vete."', '"Vete."'),
    ("She said:\nGo.", "Ella dijo:\nVete.", "Ella dijo:\nVete."),
    ("I cannot help you, sorry.", "I cannot help you, sorry.", "I cannot help you, sorry."),
    ("She read 'Emma'.", '"Emma" leyó la médica en "Ana"', '"Emma" leyó la médica en "Ana"'),
    ("The CEO left her.", 'המנכ"ל עזבה את סמנכ"ל.', 'המנכ"ל עזבה את סמנכ"ל.'),
]
PROBLEMS = [
    ("", EMPTY),
    (" \n", EMPTY),
    ("```\n```", EMPTY),
    ("<translation>...</translation>", EMPTY),
    ("<think>Hm, the doctor is", UNFINISHED),
    ("I'm sorry, but I can't assist with that.", REFUSAL),
    ("I’m sorry, but I can’t translate this.", REFUSAL),
    ("I cannot help with that request.", REFUSAL),
    ("As an AI language model, I translate nothing.", REFUSAL),
    ("Sorry, I am unable to do so.\nPlease ask somebody else.", REFUSAL),
    ("<translation>El médico.</translation>\n<translation>La médica.</translation>", ALTERNATIVES),
    ("```\nEl médico.\n```\nor\n```\nLa médica.\n```", ALTERNATIVES),
    ("1. El médico.\n2. La médica.", NOT_FOUND),
    (f"{MEDICA}\n\nNote: the feminine form was chosen.", NOT_FOUND),
    (f"Here is the translation:\n{MEDICA}\nLet me know!", NOT_FOUND),
    (f"{DOCTOR}\n{MEDICA}", NOT_FOUND),
    (f'In Spanish, "{DOCTOR}" is "{MEDICA}"', NOT_FOUND),
    (f'{{"translation": "{MEDICA}', NOT_FOUND),
    ('{"translation": "\\ud800"}', NOT_FOUND),
    ('{"spanish": "La médica."}', NOT_FOUND),
    ("La <translation> médica", NOT_FOUND),
]


@pytest.mark.parametrize(("source", "answer", "text"), FOUND)
def test_the_translation_is_found(source: str, answer: str, text: str) -> None:
    assert extract(answer, source) == (text, "")


@pytest.mark.parametrize(("answer", "problem"), PROBLEMS)
def test_what_is_no_translation(answer: str, problem: str) -> None:
    assert extract(answer, DOCTOR) == (None, problem)


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_answer_gives_a_text_or_a_problem(answer: str, source: str) -> None:
    text, problem = extract(answer, source)
    assert (text is None) == bool(problem)
    assert text is None or any(map(str.isalnum, text))


@pytest.mark.parametrize(
    "piece", ["<translation>", '{"translation":', "~~~```", "<think>", "```", "“", "x\n", " ", "{"]
)
def test_an_answer_of_any_length_ends(piece: str) -> None:
    assert extract(piece * 100_000, DOCTOR)[0] is None


# -- prompts


def test_the_presets() -> None:
    """The source comes last, and nothing hints at gender."""
    ask = "Translate the following text from English into Spanish."
    texts = {name: open_prompt(name).text("The nurse slept.", "en", "es") for name in chat.PRESETS}
    assert texts == {
        "default": f"{ask} Answer with the translation alone, as <translation>...</translation>.\n\nThe nurse slept.",
        "plain": f"{ask} Answer with the translation alone.\n\nThe nurse slept.",
        "json": f'{ask} Answer with a JSON object, {{"translation": "..."}}.\n\nThe nurse slept.',
        "tower": f"{ask}\nEnglish: The nurse slept.\nSpanish:",
    }
    hints = r"gender|male|masculin|feminin|neutral|inclusiv|\b(s?he|her|his|him|they)\b|formal|bias|woman|\bman\b"
    assert not any(re.search(hints, text, re.IGNORECASE) for text in chat.PRESETS.values())


def test_a_system_message() -> None:
    prompt = open_prompt("default", "You translate from {source_language} into {target_language}.")
    first, second = prompt.messages("그 사람은 의사다.", "ko", "en")
    assert first == {"role": "system", "content": "You translate from Korean into English."}
    assert second["role"] == "user"
    assert prompt.text("a", "ko", "en").startswith("You translate from Korean into English.\n\nTranslate ")


@pytest.mark.parametrize("source", ["{source}", "{target_language} {source_language}", "{} {0} %s \\1 {x", "a\nb"])
def test_a_sentence_stays_as_it_is(source: str) -> None:
    assert Prompt("<{source}|{source}>").text(source, "en", "es") == f"<{source}|{source}>"


def test_names_of_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="'xx'"):
        open_prompt().messages("a", "en", "xx")
    assert Prompt("Ins Xische: {source}").text("a", "en", "xx") == "Ins Xische: a"
    monkeypatch.setitem(registry.BUILT_IN["language"], "xx", registry.BUILT_IN["language"]["es"])
    assert "into Spanish" in open_prompt().text("a", "en", "xx")


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_a_prompt_of_ones_own(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "prompt.txt"
    path.write_bytes(f"\ufeffTraduce: {{source}}{ending}".encode())
    assert open_prompt(str(path)) == Prompt("Traduce: {source}")


@pytest.mark.parametrize(("content", "token"), [(b"Into {target_language}.", "{source}"), (b"{source} \xff", "UTF-8")])
def test_prompts_that_are_refused(tmp_path: Path, content: bytes, token: str) -> None:
    path = tmp_path / "prompt.txt"
    for name, word in ((str(path), path.name), ("towr", "tower")):
        with pytest.raises(UserError, match=re.escape(word)):
            open_prompt(name)
    path.write_bytes(content)
    with pytest.raises(UserError, match=re.escape(token)):
        open_prompt(str(path))


def test_the_hash_changes_with_every_word() -> None:
    prompts = [open_prompt(name, system) for name in chat.PRESETS for system in ("", "Be brief.")]
    assert len({prompt.content_hash for prompt in prompts}) == len(prompts)
