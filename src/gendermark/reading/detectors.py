"""Optional gender detectors: tagging models (spaCy, stanza) instead of our own reader, only on request.

Our own reader uses nothing optional: the same text gets the same verdict on every machine.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Protocol

from gendermark.errors import MissingExtra, UnknownName, UserError
from gendermark.records import Gender

MODELS = ("spacy", "stanza")
BUNDLED = "bundled"
_FEATURES = {"Masc": Gender.MASCULINE, "Fem": Gender.FEMININE, "Neut": Gender.NEUTRAL, "Com": Gender.NEUTRAL}


class Detector(Protocol):
    """A tagging model: the grammatical gender of one word of a text."""

    def gender(self, text: str, word: str) -> Gender | None: ...


def detector_name(code: str, spec: str) -> str:
    """The gender detector for the signature: a model with the version of its package."""
    if spec in ("", BUNDLED):
        return f"gendermark-{code}"
    family = spec.partition(":")[0]
    try:
        return f"{spec}+{family}-{version(family)}"
    except PackageNotFoundError:
        raise MissingExtra(f"the detector {family}", family) from None


def open_detector(spec: str) -> Detector | None:
    """The model named `spacy:MODEL` or `stanza:LANGUAGE`; None for our own reader."""
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
            # Download nothing silently.
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
