"""What languages are called."""

from __future__ import annotations

import re

from gendermark import registry
from gendermark.reading.codes import LANGUAGES, NAMES, RIGHT_TO_LEFT, nllb, three_letters


def test_every_language_of_the_benchmarks_is_there() -> None:
    assert {"en", "ko", "ja", "tr", "fi", "hu", "fa", "nl", *registry.names("language")} <= set(LANGUAGES)
    for code in registry.names("language"):
        assert NAMES[code] == registry.load("language", code).name


def test_every_row_is_whole() -> None:
    for code, facts in LANGUAGES.items():
        assert code == facts.code
        assert re.fullmatch(r"[a-z]{2}", code) or code == facts.three_letters
        assert facts.name.istitle()
        assert re.fullmatch(r"[a-z]{3}_[A-Z][a-z]{3}", facts.nllb)
        assert re.fullmatch(r"[a-z]{3}", facts.three_letters)
    for field in ("code", "name", "nllb", "three_letters"):
        assert len({getattr(facts, field) for facts in LANGUAGES.values()}) == len(LANGUAGES)


def test_scripts() -> None:
    assert LANGUAGES["uk"].script == "Cyrl"
    assert {"ar", "fa", "he", "ur", "yi"} == RIGHT_TO_LEFT


def test_what_is_not_in_the_table_is_its_own_code() -> None:
    assert (nllb("fa"), three_letters("fa")) == ("pes_Arab", "fas")
    assert nllb("quy_Latn") == "quy_Latn"
    assert three_letters("quy") == "quy"
