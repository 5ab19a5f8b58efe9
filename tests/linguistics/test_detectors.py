"""Dictionaries and models from outside: used where they are, missed in one sentence where they are not."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import gendermark
from gendermark.errors import UserError
from gendermark.linguistics import detectors
from gendermark.records import Gender


@pytest.mark.skipif(find_spec("pymorphy3") is None, reason="needs the extra ru-uk")
@pytest.mark.parametrize(
    ("word", "gender"), [("столяром", "m"), ("учительницу", "f"), ("кассу", None), ("быстро", None)]
)
def test_pymorphy_knows_nouns(word: str, gender: str | None) -> None:
    assert detectors.dictionary_gender("ru", word) == gender


@pytest.mark.skipif(find_spec("morfeusz2") is None, reason="needs the extra pl")
@pytest.mark.parametrize(("word", "gender"), [("stolarzem", "m"), ("nauczycielkę", "f"), ("bardzo", None)])
def test_morfeusz_knows_nouns(word: str, gender: str | None) -> None:
    assert detectors.dictionary_gender("pl", word) == gender


def test_without_a_dictionary_the_language_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detectors, "find_spec", lambda _: None)
    assert detectors.dictionary_gender("ru", "столяром") is None
    assert detectors.detector_name("ru", "") == "gendermark-ru"
    assert detectors.dictionary_gender("es", "mesa") is None


def _score(detector: str, text: str) -> gendermark.Result:
    n = len(gendermark.items("winomt", "es", data="core").items)
    return gendermark.score("winomt", [text] * n, "es", data="core", detector=detector)


class _FakeStanza:
    """As much of stanza as is used: every word in -a is feminine."""

    def __init__(self, language: str, **options: Any) -> None:
        if language == "xx":
            raise ValueError("no such language")
        assert options["download_method"] is None

    def __call__(self, text: str) -> Any:
        words = [
            SimpleNamespace(text=word, feats="Gender=Fem|Number=Sing" if word.endswith("a") else "Gender=Masc")
            for word in text.rstrip(".").split()
        ]
        return SimpleNamespace(sentences=[SimpleNamespace(words=words)])


def test_stanza_reads_in_our_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stanza", SimpleNamespace(Pipeline=_FakeStanza))
    result = _score("stanza:es", "La carpintera llegó.")
    found = [j for j in result.judgements if j.tags["entity"] == "carpenter"]
    assert {j.observed for j in found} == {Gender.FEMININE}
    assert "detector:stanza:es" in result.signature
    with pytest.raises(UserError, match=r"stanza has no model for 'xx' .*; fetch it with: python -c"):
        _score("stanza:xx", "La carpintera llegó.")


@pytest.mark.skipif(find_spec("spacy") is None, reason="needs the extra spacy")
def test_spacy_reads_in_our_place(tmp_path: Path) -> None:
    import spacy

    pipeline = spacy.blank("es")
    ruler = pipeline.add_pipe("attribute_ruler")
    ruler.add(patterns=[[{"LOWER": "carpintera"}]], attrs={"MORPH": "Gender=Fem"})  # type: ignore[attr-defined]
    pipeline.to_disk(tmp_path / "model")
    result = _score(f"spacy:{tmp_path / 'model'}", "La carpintera llegó.")
    assert {j.observed for j in result.judgements if j.tags["entity"] == "carpenter"} == {Gender.FEMININE}
    with pytest.raises(UserError, match="spaCy has no model 'no_such_model'; fetch it with: python -m spacy download"):
        _score("spacy:no_such_model", "La carpintera llegó.")


@pytest.mark.parametrize(("family", "extra"), [("spacy:es_core_news_sm", "spacy"), ("stanza:es", "stanza")])
def test_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch, family: str, extra: str) -> None:
    monkeypatch.setitem(sys.modules, extra, None)
    with pytest.raises(UserError, match=rf"install it with: pip install 'gendermark\[{extra}\]'"):
        _score(family, "La carpintera llegó.")


@pytest.mark.parametrize("detector", ["magic", "spacy", "spacy:"])
def test_unknown_detector(detector: str) -> None:
    with pytest.raises(UserError, match=r"unknown detector .*there is: bundled, spacy:MODEL, stanza:LANGUAGE"):
        _score(detector, "x")


def test_other_benchmarks_need_none() -> None:
    with pytest.raises(UserError, match="tgbi reads English pronouns by its own rules; leave out --detector"):
        gendermark.items("tgbi", data="core", detector="spacy:x")
