"""`apertium:URL`: Apertium's rule-based translators behind APY, their web service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gendermark.reading.codes import three_letters
from gendermark.records import Task
from gendermark.systems import http, keys

TASKS = frozenset({Task.TRANSLATE})
OPTIONS = http.OPTIONS


class Apertium(http.Service):
    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        keys.refuse_options("apertium", options, OPTIONS)
        self._connect(f"apertium:{argument}", argument, options)

    def _check_direction(self, source: str, target: str) -> None:
        take = self._client.take
        rows = take(self._client.get("/listPairs"), "responseData", kind=list)
        offered = [(take(row, "sourceLanguage", kind=str), take(row, "targetLanguage", kind=str)) for row in rows]
        source, target = three_letters(source), three_letters(target)
        if (source, target) not in offered:
            from_here = {to for from_, to in offered if from_ == source}
            raise self._unknown_direction(source, target, {from_ for from_, _ in offered}, from_here)

    def _exchange(self, source: str, target: str, texts: Sequence[str]) -> Sequence[str]:
        # Plain text, not HTML, which is the default; and no asterisks before the words that it does not know.
        (text,) = texts
        pair = f"{three_letters(source)}|{three_letters(target)}"
        form = {"langpair": pair, "q": text, "format": "txt", "markUnknown": "no"}
        answer = self._client.post("/translate", data=form)
        return [self._client.take(answer, "responseData", "translatedText", kind=str)]
