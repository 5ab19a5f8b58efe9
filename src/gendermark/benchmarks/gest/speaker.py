"""The gender that a translation gives its speaker, in every language there are rules for."""

from __future__ import annotations

from gendermark.benchmarks.gest import others, suffix
from gendermark.benchmarks.gest.slavic import MENDED
from gendermark.benchmarks.gest.suffix import SUFFIX, Cue

PUBLISHED_LANGUAGES = tuple(SUFFIX)
"""Those of the paper."""
LANGUAGES = (*PUBLISHED_LANGUAGES, *others.LANGUAGES)


def cues_of(text: str, language: str, *, mended: bool = True) -> list[Cue]:
    """The words that show it; none where it is left open. `mended`: not only as fitted on the released translations."""
    if language in others.LANGUAGES:
        return others.cues_of(text, language)
    return suffix.cues_of(text, (MENDED if mended else SUFFIX)[language])
