"""`libretranslate:URL`: a LibreTranslate server, one's own or a hosted one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gendermark.records import Task
from gendermark.systems import http, keys
from gendermark.systems.http import Service

TASKS = frozenset({Task.TRANSLATE})
OPTIONS = http.OPTIONS
KEY = "LIBRETRANSLATE_API_KEY"
_TOO_LONG = re.compile(r"exceeds? .*limit", re.IGNORECASE)


class LibreTranslate(Service):
    n_texts = 32
    n_characters = 5_000

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        keys.refuse_options("libretranslate", options, OPTIONS, KEY)
        self.spec = f"libretranslate:{argument}"
        secrets = keys.read_secrets("libretranslate", optional=(KEY,))
        # The interface has no header for the key; it is part of what is sent.
        self._key = {"api_key": secrets[KEY]} if secrets else {}
        self._open(
            http.Client(
                self.spec, argument, secrets=secrets, optional_key=KEY, options=options, classify=self._classify
            )
        )
        self.system_id = http.identity("libretranslate", self._client)

    def _classify(self, status: int, payload: Any) -> str:
        # Its limits on characters and texts are answered like any other mistake in a request.
        return "too large" if status == 400 and _TOO_LONG.search(http.message_of(payload)) else ""

    def _check_direction(self, source: str, target: str) -> None:
        offered: dict[str, list[str]] = {}
        languages = self._client.take(self._client.get("/languages"), kind=list)
        codes = [self._client.take(row, "code", kind=str) for row in languages]
        for code, row in zip(codes, languages, strict=True):
            targets = row.get("targets", codes)  # older servers translate between all
            offered[code] = [self._client.take(to, kind=str) for to in self._client.take(targets, kind=list)]
        if target not in offered.get(source, ()):
            raise self._unknown_direction(source, target, offered, offered.get(source, ()))

    def _exchange(self, source: str, target: str, texts: Sequence[str]) -> Sequence[str]:
        body = {"q": list(texts), "source": source, "target": target, "format": "text", **self._key}
        found = self._client.take(self._client.post("/translate", json=body), "translatedText", kind=list)
        return [self._client.take(text, kind=str) for text in found]
