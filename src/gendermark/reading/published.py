"""The gender heuristics published with WinoMT, unchanged (Stanovsky, Smith and Zettlemoyer 2019).

Each takes the words aligned to the entity (without punctuation) and returns a gender, or None if unknown. `paper2019`
is the code of the paper, `repo2020` its successor; they differ for empty alignments.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from gendermark.errors import MissingExtra
from gendermark.languages.folders import language_of
from gendermark.reading.words import Span, split_spans
from gendermark.records import Gender

LANGUAGES = ("ar", "de", "es", "fr", "he", "it", "ru", "uk")
_M, _F, _N = Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL

_GERMAN_DETERMINERS = {
    word: gender
    for words, gender in (
        ("der ein dem einen des er seiner ihn seinen ihm ihren seinem ihrem sein", _M),
        ("die eine einer sie seine ihrer", _F),
        ("ihr ihre das jemanden", _N),
    )
    for word in words.split()
}
_TOKEN = re.compile(r"\w+(?:-\w+)*|[^\w\s]")
PUNCTUATION = '.,;:!?"'


def published_gender(
    language: str, rules: str, words: Sequence[str], positions: Sequence[int], sentence: str, entity: str
) -> Gender | None:
    if language in ("he", "ar"):
        if not words and rules != "paper2019":
            return None
        # Without words, the paper's code gives women in Hebrew and men in Arabic.
        if language == "he":
            return _F if not words or any(word.endswith(("ת", "ה")) for word in words if word != "את") else _M
        return _F if any("ة" in word or "\ufe94" in word for word in words) else _M
    if language == "de":
        return _german(words, positions, sentence, entity)
    if language in ("ru", "uk"):
        return _majority([_slavic_token(word, language) for word in words])
    return _romance(words, language, rules)


def spans_of(text: str, positions: Iterable[int]) -> tuple[Span, ...]:
    """Positions of these words in the text, without punctuation; in text order, each once."""
    written = split_spans(text)
    found = []
    for start, end in (written[position] for position in sorted(set(positions))):
        word = text[start:end].lstrip(PUNCTUATION)
        start = end - len(word)
        found.append((start, start + len(word.rstrip(PUNCTUATION))))
    return tuple(span for span in found if span[0] < span[1])


def _german(words: Sequence[str], positions: Sequence[int], sentence: str, entity: str) -> Gender:
    if "nurse" in entity:
        return _F
    if not words:
        return _M
    if any(word.endswith("in") for word in words):
        return _F
    # The nearest determiner; its position is in tokens, the entity's in words, as in the released code.
    found = [
        (abs(place - min(positions)), place, _GERMAN_DETERMINERS[token])
        for place, token in enumerate(_TOKEN.findall(sentence.lower()))
        if token in _GERMAN_DETERMINERS
    ]
    return min(found)[2] if found else _M


def _romance(words: Sequence[str], language: str, rules: str) -> Gender | None:
    """Most common gender among the aligned words. The paper used spaCy 2 models that are no longer available; this
    uses the project's own tables, so the printed figures are only approximated."""
    if (language == "fr" and "au" in words) or (language == "it" and any(word.startswith("dell'") for word in words)):
        return _M
    told = [gender for word in words if (gender := _romance_token(word.lower(), language))]
    if told:
        return _majority(told)
    return _N if rules == "paper2019" or words else None


@cache
def _romance_token(word: str, language: str) -> Gender | None:
    grammar = language_of(language)
    shown = (grammar.singular.get(word), grammar.plural.get(word), grammar.noun(word))
    letter = next((one for one in shown if one in ("m", "f")), None)
    return {"m": _M, "f": _F}.get(letter or "")


def _majority(genders: Sequence[Gender | None]) -> Gender | None:
    return Counter(genders).most_common(1)[0][0] if genders else None


@cache
def _slavic_token(word: str, language: str) -> Gender:
    """Any feminine parse makes a word feminine; else the most common gender of its parses; none is neutral."""
    genders = [str(parse.tag.gender) for parse in _analyser(language).parse(word)]
    if "femn" in genders:
        return _F
    return _M if genders and Counter(genders).most_common(1)[0][0] == "masc" else _N


@cache
def _analyser(language: str) -> Any:
    try:
        pymorphy = import_module("pymorphy3")
        if language != "uk" or not _has_dictionary_of_2016():
            return pymorphy.MorphAnalyzer(lang=language)
        # The old dictionary in the new analyser: its suffix table has another record format and no readable
        # probabilities; the set of parses needs neither.
        suffixes = import_module("pymorphy3.dawg").PredictionSuffixesDAWG
        current, suffixes.DATA_FORMAT = suffixes.DATA_FORMAT, ">HHH"
        try:
            path = import_module("pymorphy2_dicts_uk").get_path()
            return pymorphy.MorphAnalyzer(path=path, lang="uk", probability_estimator_cls=None)
        finally:
            suffixes.DATA_FORMAT = current
    except (ImportError, ValueError):
        raise MissingExtra(f"the published rules for {language}", "ru-uk") from None


def _has_dictionary_of_2016() -> bool:
    """The Ukrainian dictionary that the paper used; a later one moves its figures by several points."""
    return find_spec("pymorphy2_dicts_uk") is not None


def detector_name(language: str) -> str:
    if language in ("ru", "uk"):
        family = "pymorphy2" if language == "uk" and _has_dictionary_of_2016() else "pymorphy3"
        try:
            return f"{family}-dicts-{language}-{version(f'{family}-dicts-{language}')}"
        except PackageNotFoundError:
            raise MissingExtra(f"the published rules for {language}", "ru-uk") from None
    return "gendermark-tables" if language in ("es", "fr", "it") else "published"
