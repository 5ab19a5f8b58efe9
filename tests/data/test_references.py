"""The reference translations in both genders: complete, in pairs, and read by our own detector as they are meant."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from importlib.resources import files

import pytest

import gendermark
from gendermark.benchmarks.winomt.judge import BENCHMARK
from gendermark.records import Translation

LANGUAGES = ("de", "el", "es", "fr", "it", "ru", "uk")
GENDERS = ("masculine", "feminine", "neutral")
LEAST_AGREEMENT = 0.95
# Pronouns that cannot be taken for an article or a noun; he and she.
PRONOUNS = {
    "de": (r"er|ihm|seine|seinen", r"sie|ihr|ihre|ihren"),
    "el": (r"αυτός|εκείνος", r"αυτή|εκείνη"),
    "es": (r"él", r"ella"),
    "fr": (r"il|lui", r"elle"),
    "it": (r"lui|gli(?= girava)", r"lei|le(?= girava)"),
    "ru": (r"он|ему|него", r"она|ей|неё"),
    "uk": (r"він|йому|нього", r"вона|їй|неї"),
}


def _rows(name: str) -> list[dict[str, str]]:
    text = (files("gendermark.data") / "core" / "uncertainty" / name).read_text(encoding="utf-8")
    header, *lines = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return [dict(zip(header, line, strict=True)) for line in lines]


def _references(language: str) -> list[dict[str, str]]:
    return _rows(f"references.{language}.tsv")


CHOSEN = _rows("references.tsv")


def test_every_chosen_sentence_is_a_core_item() -> None:
    source_of = {
        (item.contrast, str(item.expected)): (item.entity, item.source)
        for item in gendermark.items("winomt", "es", data="core").items
    }
    for row in CHOSEN:
        for gender in GENDERS:
            assert source_of[row["contrast"], gender] == (row["entity"], row[gender])


@pytest.mark.parametrize("language", LANGUAGES)
def test_complete(language: str) -> None:
    rows = _references(language)
    assert [(row["contrast"], row["gender"]) for row in rows] == [
        (chosen["contrast"], gender) for chosen in CHOSEN for gender in GENDERS
    ]
    for row in rows:
        assert row["masculine"] != row["feminine"]
        for text in (row["masculine"], row["feminine"]):
            assert text == " ".join(text.split())
            assert text.endswith(".")
            assert text == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_pronoun_is_true_to_the_english(language: str) -> None:
    he, she = (re.compile(rf"\b(?:{words})\b", re.I) for words in PRONOUNS[language])
    seen = set()
    for row in _references(language):
        for text in (row["masculine"], row["feminine"]):
            found = {name for name, pattern in (("masculine", he), ("feminine", she)) if pattern.search(text)}
            assert found <= {row["gender"]}, text
            seen |= found
    assert seen == {"masculine", "feminine"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_detector_reads_them_as_meant(language: str) -> None:
    rows = _references(language)
    core = gendermark.items("winomt", language, data="core")
    item_of = {(item.contrast, str(item.expected)): item for item in core.items}
    item_set = replace(core, items=tuple(item_of[row["contrast"], row["gender"]] for row in rows))
    misread = []
    for variant in ("masculine", "feminine"):
        texts = [row[variant] for row in rows]
        translations = [[Translation(item.item_id, text)] for item, text in zip(item_set.items, texts, strict=True)]
        judgements = BENCHMARK.judge(item_set, translations)
        misread += [text for text, found in zip(texts, judgements, strict=True) if str(found.observed) != variant]
    assert len(misread) <= (1 - LEAST_AGREEMENT) * 2 * len(rows), misread
