"""Dutch: enough to read MT-GenEval's sentences; not registered, as it has no lexicon."""

from __future__ import annotations

from gendermark.languages.language import Language

LANGUAGE = Language(
    code="nl",
    name="Dutch",
    singular=dict.fromkeys(("de", "het", "een", "deze", "die", "dit", "dat"), "mf"),
    has_compounds=True,
    head_is_last=True,
)
