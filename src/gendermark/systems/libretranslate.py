"""`libretranslate:URL`: a LibreTranslate server, one's own or a hosted one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gendermark.records import Task
from gendermark.systems import http, keys

TASKS = frozenset({Task.TRANSLATE})
OPTIONS = http.OPTIONS
KEY = "LIBRETRANSLATE_API_KEY"
_TOO_LONG = re.compile(r"exceeds? .*limit", re.IGNORECASE)


class LibreTranslate(http.Service):
    n_texts = 8
    n_characters = 5_000

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        keys.refuse_options("libretranslate", options, OPTIONS, KEY)
        secrets = keys.read_secrets("libretranslate", optional=(KEY,))
        # The interface has no header for the key; it is part of the body.
        self._key = {"api_key": secrets[KEY]} if secrets else {}
        spec = f"libretranslate:{argument}"
        self._connect(spec, argument, options, secrets=secrets, optional_key=KEY, classify=_kind)

    def _check_direction(self, source: str, target: str) -> None:
        take = self._client.take
        rows = take(self._client.get("/languages"), kind=list)
        codes = [take(row, "code", kind=str) for row in rows]
        offered: dict[str, list[str]] = {}
        for code, row in zip(codes, rows, strict=True):
            targets = row.get("targets", codes)  # older servers translate between all
            offered[code] = [take(to, kind=str) for to in take(targets, kind=list)]
        if target not in offered.get(source, ()):
            raise self._unknown_direction(source, target, offered, offered.get(source, ()))

    def _exchange(self, source: str, target: str, texts: Sequence[str]) -> Sequence[str]:
        body = {"q": list(texts), "source": source, "target": target, "format": "text", **self._key}
        found = self._client.take(self._client.post("/translate", json=body), "translatedText", kind=list)
        return [self._client.take(text, kind=str) for text in found]


def _kind(status: int, payload: Any) -> str:
    """Limits on characters and texts are answered like any other mistake in a request."""
    return "too large" if status == 400 and _TOO_LONG.search(http.message_of(payload)) else ""
