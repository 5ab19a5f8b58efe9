"""Models from outside: used when asked for, missed in one sentence where they are not; our own rules need none."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import gendermark
from gendermark.errors import UserError
from gendermark.reading import detectors
from gendermark.records import Gender

# Nouns that the lexicon has and nouns that only their endings, or a dictionary, could tell.
_SENTENCES = {
    "ru": ("Столяр поговорил со строителем.", "Эта столяр сказала.", "Касса закрыта.", "Дядя помог подмастерью."),
    "uk": ("Тесляр поговорив із будівельником.", "Ця теслярка сказала.", "Каса зачинена.", "Суддя допоміг учневі."),
    "pl": ("Stolarz rozmawiał z budowniczym.", "Ta stolarka powiedziała.", "Kasa jest zamknięta.", "Sędzia pomógł."),
}
_JUDGE = """
import sys
for name in sys.argv[2:]:
    sys.modules[name] = None
import gendermark
from gendermark.reading.entities import read_entity
from gendermark.reading.occupations import bundled_finder

code, *texts = sys.argv[1].split("|")
finder = bundled_finder(code)
for text in texts:
    words = finder.language.cut(text)
    for place in range(len(words)):
        print(read_entity(finder, words, "no such entity", lambda: [place], 0.5))
n = len(gendermark.items("winomt", code, data="core").items)
for detector in ("", "bundled"):
    result = gendermark.score("winomt", (texts * n)[:n], code, data="core", detector=detector)
    print(result.signature, [(judged.observed, judged.evidence) for judged in result.judgements])
"""


@pytest.mark.slow
@pytest.mark.parametrize("code", _SENTENCES)
def test_our_own_rules_do_not_depend_on_what_is_installed(code: str) -> None:
    with_extras, without = (
        subprocess.run(
            [sys.executable, "-c", _JUDGE, "|".join((code, *_SENTENCES[code])), *hidden],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            check=True,
        ).stdout
        for hidden in ((), ("pymorphy3", "pymorphy2_dicts_uk", "morfeusz2", "spacy", "stanza"))
    )
    assert with_extras == without
    assert with_extras.count(f"|detector:gendermark-{code}|") == 2


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
    monkeypatch.setattr(detectors, "version", lambda name: {"stanza": "1.10.1"}[name])
    result = _score("stanza:es", "La carpintera llegó.")
    found = [j for j in result.judgements if j.entity == "carpenter"]
    assert {j.observed for j in found} == {Gender.FEMININE}
    assert "|detector:stanza:es+stanza-1.10.1|" in result.signature
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
    assert {j.observed for j in result.judgements if j.entity == "carpenter"} == {Gender.FEMININE}
    assert f"+spacy-{spacy.__version__}|" in result.signature
    with pytest.raises(UserError, match="spaCy has no model 'no_such_model'; fetch it with: python -m spacy download"):
        _score("spacy:no_such_model", "La carpintera llegó.")


@pytest.mark.parametrize(("family", "extra"), [("spacy:es_core_news_sm", "spacy"), ("stanza:es", "stanza")])
def test_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch, family: str, extra: str) -> None:
    monkeypatch.setitem(sys.modules, extra, None)
    with pytest.raises(UserError, match=rf"install it with: pip install 'gendermark\[{extra}\]'"):
        _score(family, "La carpintera llegó.")
