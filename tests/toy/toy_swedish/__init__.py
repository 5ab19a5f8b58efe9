"""A toy Swedish as another package would bring it: grammar, lexicon and function words in one folder."""

from __future__ import annotations

from gendermark.plugin import Language

LANGUAGE = Language(
    code="sv",
    name="Swedish",
    singular={"en": "mf", "den": "mf", "denne": "m", "denna": "f"},
    plural={"de": "mf", "dessa": "mf"},
    sexes={"kvinnliga": "f", "manliga": "m"},
    package=__name__,
)
