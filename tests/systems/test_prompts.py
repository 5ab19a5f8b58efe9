"""Asking chat models."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gendermark import registry
from gendermark.errors import UserError
from gendermark.systems import prompts
from gendermark.systems.prompts import Prompt, open_prompt


def test_the_default_asks_for_the_translation_alone() -> None:
    assert open_prompt().messages("The nurse slept.", "en", "es") == [
        {
            "role": "user",
            "content": "Translate the following text from English into Spanish. Answer with the translation alone."
            "\n\nThe nurse slept.",
        }
    ]


def test_tower() -> None:
    assert open_prompt("tower").text("The nurse slept.", "en", "es") == (
        "Translate the following text from English into Spanish.\nEnglish: The nurse slept.\nSpanish:"
    )


def test_a_system_message() -> None:
    prompt = open_prompt("default", "You translate from {source_language} into {target_language}.")
    first, second = prompt.messages("그 사람은 의사다.", "ko", "en")
    assert first == {"role": "system", "content": "You translate from Korean into English."}
    assert second["role"] == "user"
    assert prompt.text("a", "ko", "en").startswith("You translate from Korean into English.\n\nTranslate ")


@pytest.mark.parametrize("preset", prompts.PRESETS)
def test_no_prompt_hints_at_gender(preset: str) -> None:
    hints = r"gender|male|masculin|feminin|neutral|inclusiv|\b(s?he|her|his|him|they)\b|formal|bias|woman|\bman\b"
    assert not re.search(hints, prompts.PRESETS[preset], re.IGNORECASE)


@pytest.mark.parametrize("source", ["{source}", "{target_language} {source_language}", "{} {0} %s \\1 {x", "a\nb"])
def test_a_sentence_stays_as_it_is(source: str) -> None:
    assert Prompt("<{source}|{source}>").text(source, "en", "es") == f"<{source}|{source}>"


def test_a_language_of_another_package_has_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.BUILT_IN["language"], "xx", "gendermark.linguistics.languages.es:LANGUAGE")
    assert prompts.language_name("xx") == "Spanish"


def test_a_language_without_a_name() -> None:
    with pytest.raises(UserError) as caught:
        open_prompt().messages("a", "en", "xx")
    assert str(caught.value) == (
        "no name is known for language 'xx', which the prompt needs; give a prompt of your own that names the "
        "languages itself, with prompt=FILE"
    )
    assert Prompt("Ins Xische: {source}").text("a", "en", "xx") == "Ins Xische: a"


@pytest.mark.parametrize(
    "content",
    [b"Traduce: {source}", b"Traduce: {source}\n", b"Traduce: {source}\r\n", b"\xef\xbb\xbfTraduce: {source}\n"],
)
def test_a_prompt_of_ones_own(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "prompt.txt"
    path.write_bytes(content)
    assert open_prompt(str(path)) == Prompt("Traduce: {source}")


def test_prompts_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text("Translate into {target_language}.")
    for name, words in (
        (
            str(path),
            f"{path}: has no {{source}}, which stands for the sentence to translate; write it where that belongs",
        ),
        (str(tmp_path / "absent.txt"), f"{tmp_path / 'absent.txt'}: there is no such file"),
        ("towr", "there is no prompt 'towr'; available: default, tower, or give a file"),
    ):
        with pytest.raises(UserError) as caught:
            open_prompt(name)
        assert str(caught.value) == words
    path.write_bytes(b"{source} \xff")
    with pytest.raises(UserError, match="is not UTF-8; save the file as UTF-8"):
        open_prompt(str(path))


def test_the_hash_changes_with_every_word() -> None:
    hashes = {
        open_prompt(*given).content_hash for given in ((), ("tower",), ("default", "Be brief."), ("tower", "Be brief."))
    }
    assert len(hashes) == 4
    assert open_prompt().content_hash == Prompt(prompts.PRESETS["default"]).content_hash
