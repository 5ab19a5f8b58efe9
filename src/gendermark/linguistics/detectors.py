"""Gender from outside: morphological dictionaries for nouns no lexicon has, and tagging models in place of our reading.

Dictionaries (pymorphy3 for ru and uk, morfeusz2 for pl) are asked where they are installed; the signature says so, and
without them the endings of the language decide. Models (spaCy, stanza) are used only when asked for by name.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Protocol

from gendermark.errors import MissingExtra, UnknownName, UserError
from gendermark.linguistics.language import Agreement
from gendermark.records import Gender

DICTIONARIES = {"ru": "pymorphy3", "uk": "pymorphy3", "pl": "morfeusz2"}
MODELS = ("spacy", "stanza")
BUNDLED = "bundled"
_FEATURES = {"Masc": Gender.MASCULINE, "Fem": Gender.FEMININE, "Neut": Gender.NEUTRAL, "Com": Gender.NEUTRAL}


class Detector(Protocol):
    """A tagging model: the grammatical gender it sees in one word of a text."""

    def gender(self, text: str, word: str) -> Gender | None: ...


def dictionary_gender(code: str, word: str) -> Agreement | None:
    """The gender of a noun by the dictionary of its language, if that is installed and knows it as a noun."""
    name = DICTIONARIES.get(code)
    if name is None or find_spec(name) is None:
        return None
    return _by_pymorphy(code, word) if name == "pymorphy3" else _by_morfeusz(word)


def detector_name(code: str, spec: str) -> str:
    """What reads gender here, for the signature."""
    if spec not in ("", BUNDLED):
        return spec
    name = DICTIONARIES.get(code)
    has_dictionary = spec != BUNDLED and name is not None and find_spec(name) is not None
    return f"gendermark-{code}" + (f"+{name}-{version(name)}" if has_dictionary and name else "")


@cache
def _by_pymorphy(code: str, word: str) -> Agreement | None:
    try:
        parses = _pymorphy(code).parse(word)
    except ValueError:  # its dictionary for this language is not installed
        return None
    # A person is animate: the cash desk that stands for its cashier has a gender too, but tells nothing.
    tags = [parse.tag for parse in parses if parse.is_known]
    nouns = [tag.gender for tag in tags if tag.POS == "NOUN" and tag.animacy == "anim"]
    return {"masc": "m", "femn": "f"}.get(str(nouns[0])) if nouns else None


@cache
def _pymorphy(code: str) -> Any:
    return import_module("pymorphy3").MorphAnalyzer(lang=code)


@cache
def _by_morfeusz(word: str) -> Agreement | None:
    for _, _, (_, _, tag, _, _) in _morfeusz().analyse(word):
        parts = tag.split(":")
        if parts[0] == "subst" and len(parts) > 3:
            genders = set(parts[3].split("."))
            return "f" if genders == {"f"} else "m" if genders & {"m1", "m2", "m3"} else None
    return None


@cache
def _morfeusz() -> Any:
    return import_module("morfeusz2").Morfeusz()


def open_detector(spec: str) -> Detector | None:
    """The model named `spacy:MODEL` or `stanza:LANGUAGE`; None for our own reading."""
    family, _, argument = spec.partition(":")
    if family in ("", BUNDLED):
        return None
    if family not in MODELS or not argument:
        raise UnknownName("detector", spec, (BUNDLED, "spacy:MODEL", "stanza:LANGUAGE"))
    return _Spacy(argument) if family == "spacy" else _Stanza(argument)


class _Spacy:
    def __init__(self, model: str) -> None:
        try:
            spacy = import_module("spacy")
        except ImportError:
            raise MissingExtra("the detector spacy", "spacy") from None
        try:
            self._pipeline = spacy.load(model)
        except OSError:
            raise UserError(
                f"spaCy has no model {model!r}; fetch it with: python -m spacy download {model}, or give a directory"
            ) from None

    def gender(self, text: str, word: str) -> Gender | None:
        for token in self._pipeline(text):
            if token.lower_ == word:
                near = [token, *(child for child in token.children if child.dep_ == "det")]
                return next((g for t in near for g in map(_FEATURES.get, t.morph.get("Gender")) if g), None)
        return None


class _Stanza:
    def __init__(self, language: str) -> None:
        try:
            stanza = import_module("stanza")
        except ImportError:
            raise MissingExtra("the detector stanza", "stanza") from None
        try:
            # Nothing is fetched behind the user's back.
            options = {"processors": "tokenize,mwt,pos", "download_method": None, "verbose": False}
            self._pipeline = stanza.Pipeline(language, **options)
        except Exception as problem:  # noqa: BLE001 (stanza raises its own and others for a missing model)
            raise UserError(
                f"stanza has no model for {language!r} ({problem}); fetch it with: "
                f"python -c \"import stanza; stanza.download('{language}')\""
            ) from None

    def gender(self, text: str, word: str) -> Gender | None:
        for sentence in self._pipeline(text).sentences:
            for token in sentence.words:
                if token.text.lower() == word:
                    features = dict(pair.split("=", 1) for pair in (token.feats or "").split("|") if "=" in pair)
                    return _FEATURES.get(features.get("Gender", ""))
        return None
