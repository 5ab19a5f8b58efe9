"""What systems are called: a readable name for every spec, and no two runs by the same."""

from __future__ import annotations

import pytest

from gendermark.errors import UserError
from gendermark.names import LONGEST, checked, readable, told_apart


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("ctranslate2:/models/opus-en-es", "opus-en-es"),
        ("ctranslate2:/models/opus?beam_size=1", "opus (beam_size=1)"),
        ("hf:Helsinki-NLP/opus-mt-en-es", "opus-mt-en-es"),
        ("files:bing.txt", "bing"),
        ("files:outputs/2019/", "2019"),
        ("files:C:\\outputs\\bing.tsv", "bing"),
        ("files:results.jsonl#google", "google"),
        ("files", "translations"),
        ("openai:http://localhost:8000/v1#meta/llama-3", "llama-3"),
        ("openai:gpt-4o@host", "gpt-4o"),
        ("command:./translate.sh --fast", "translate"),
        ("command:python3 -u tools/mine.py en es", "mine"),
        ("command:sh -c 'unclosed", "'unclosed"),
        ("fake:biased", "biased control"),
        ("fake:right?p=0.9&seed=2", "unbiased control (p=0.9, seed=2)"),
        ("demo:en-es", "demo model"),
        ("deepl:free", "DeepL"),
        ("azure:https://name.example/translator", "Azure Translator"),
        ("another:thing", "thing"),
        ("hf:.", "hf:."),
        ("made by hand", "made by hand"),
        ("hf:" + "long-" * 20 + "name", "…" + ("long-" * 20 + "name")[-40:]),
    ],
)
def test_a_spec_is_made_readable(spec: str, name: str) -> None:
    assert readable(spec) == name


def test_runs_of_the_same_name_are_told_apart_by_their_folders() -> None:
    assert told_apart(["Bing", "Bing", "Google"], ["runs/a", "runs/b", "c"]) == ["Bing (a)", "Bing (b)", "Google"]
    assert told_apart(["Bing", "Bing"], ["x/run", "y/run"]) == ["Bing (x/run)", "Bing (y/run)"]
    assert told_apart(["Bing", "Bing"], ["x", "x"]) == ["Bing (1)", "Bing (2)"]
    assert told_apart(["unbiased control"] * 2, ["a", "b"]) == ["unbiased control (a)", "unbiased control (b)"]


@pytest.mark.parametrize("name", ["", "  ", "two\nlines", "x" * (LONGEST + 1), "\x1b[31mred"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(UserError, match=r"a name is one line of 1 to 80 characters"):
        checked(name)
    assert checked(" Bing 2019 ") == "Bing 2019"
