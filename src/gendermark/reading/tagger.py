"""Word classes, genders and numbers of a translation, by a small averaged perceptron for each language.

A label is a Universal Dependencies word class with the gender (m, f, n) and number (s, p) that the word shows:
`NOUN.f.s` (`NOUN.f.s.a` for people and animals, in Russian), `ADJ.m.p`, `VERB.f.s` for participles and past tenses,
`ADP`. Models are in `languages/CODE/tagger.json.gz`, trained by `bench/taggers.py` on the development and test parts of
UD treebanks; `languages/TAGGERS.md` has their data, accuracy and licences.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from gendermark.languages.folders import bytes_of

Weights = Mapping[str, Mapping[str, float]]


def shape(word: str) -> str:
    if word[:1].isupper():
        return "X"
    return "d" if word[:1].isdigit() else "x" if word[:1].isalpha() else word[:1]


def features(words: Sequence[str], at: int, before: str, earlier: str) -> Iterator[str]:
    word = words[at]
    low = word.lower()
    last = words[at - 1].lower() if at else "^"
    following = words[at + 1].lower() if at + 1 < len(words) else "$"
    yield "b"
    yield f"w{low}"
    for n in (1, 2, 3, 4):
        yield f"{n}{low[-n:]}"
    yield f"s{shape(word)}{at == 0}"
    yield f"t{before}"
    yield f"u{before} {earlier}"
    yield f"l{last}"
    yield f"f{following}"
    yield f"x{following[-3:]}"
    yield f"y{last[-3:]}"
    yield f"v{before} {low[-2:]}"
    yield f"z{last} {low[-2:]}"


class Tagger:
    """Labels words from left to right by the sum of feature weights."""

    def __init__(self, weights: Weights, known: Mapping[str, str]) -> None:
        self._weights = weights
        self._known = known
        """Words with only one label."""

    def labels(self, words: Sequence[str]) -> list[str]:
        found: list[str] = []
        before = earlier = "^"
        for at, word in enumerate(words):
            label = self._known.get(word.lower()) or self._predict(words, at, before, earlier)
            found.append(label)
            before, earlier = label, before
        return found

    def _predict(self, words: Sequence[str], at: int, before: str, earlier: str) -> str:
        scores: dict[str, float] = {}
        for feature in features(words, at, before, earlier):
            for label, weight in self._weights.get(feature, {}).items():
                scores[label] = scores.get(label, 0.0) + weight
        return max(scores, key=lambda label: (scores[label], label))


@cache
def tagger(code: str) -> Tagger | None:
    packed = bytes_of(code, "tagger.json.gz")
    if not packed:
        return None
    model = json.loads(gzip.decompress(packed))
    return Tagger(model["weights"], model["known"])
