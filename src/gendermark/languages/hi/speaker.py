"""The first person in Hindi: the verb agrees with it."""

from __future__ import annotations

from collections.abc import Iterator

from gendermark.languages.speaking import ByClause, Clause, Cue, Endings, words

_AM = words("हूँ हूं")
_WAS = Endings("", "", words("था"), words("थी"))
_VERB = Endings(
    "ता|रहा|गया|हुआ|चुका|सका|पाया|आया|बैठा|उठा|सोया|रोया|बना|मिला|लगा",
    "ती|रही|गई|गयी|हुई|चुकी|सकी|पाई|आई|बैठी|उठी|सोई|रोई|बनी|मिली|लगी",
)
_FUTURE = Endings("(?:ूँ|ूं|ऊँ|ऊं)गा", "(?:ूँ|ूं|ऊँ|ऊं)गी")
_ADJECTIVE = Endings("ा", "ी")


def _find(clause: Clause) -> Iterator[Cue]:
    """The verb agrees with मैं; with मैंने it agrees with its object, and says nothing."""
    place = next((at for at, token in enumerate(clause) if token.word == "मैं"), None)
    if place is None:
        return
    for at, token in enumerate(clause[place + 1 :], start=place + 1):
        after = clause[at + 1].word if at + 1 < len(clause) else ""
        if token.word in ("मैंने", "कि", "जो"):
            return
        gender = _FUTURE.gender_of(token.word) or _WAS.gender_of(token.word) or _VERB.gender_of(token.word)
        if gender is None and (after in _AM or after in ("हुआ", "हुई")):
            gender = _ADJECTIVE.gender_of(token.word)
        if gender:
            yield Cue(gender, token)


SPEAKER = ByClause(_find)
EXAMPLES = ("मैं गया।", "मैं गई।", "मैं यहाँ हूँ।")
"""Masculine, feminine, and without gender."""
