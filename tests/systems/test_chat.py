"""Asking chat models, and finding the translation in what they answer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import read_cases
from gendermark import registry
from gendermark.errors import UserError
from gendermark.systems import chat
from gendermark.systems.chat import Prompt, extract, open_prompt

DOCTOR, MEDICA = "The doctor finished her work.", "La médica terminó su trabajo."
QUOTED = "“Go,” the doctor said."
BOTH = "El médico terminó. / La médica terminó."

FOUND = [
    *read_cases("systems/translations_found.tsv"),
    *([DOCTOR, answer, MEDICA] for answer in (f"  {MEDICA}\r\n", f"\ufeff{MEDICA}\u200b")),
]


@pytest.mark.parametrize(("source", "answer", "text"), FOUND)
def test_the_translation_is_found(source: str, answer: str, text: str) -> None:
    assert extract(answer, source) == (text, "")


@pytest.mark.parametrize(("problem", "answer"), read_cases("systems/no_translation.tsv"))
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
