"""`azure:global` or `azure:URL`: Azure AI Translator, version 3.0."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from gendermark.errors import UserError
from gendermark.records import Task
from gendermark.systems import http, keys

TASKS = frozenset({Task.TRANSLATE})
OPTIONS = ("category", *http.OPTIONS)
KEY = "AZURE_TRANSLATOR_KEY"
REGION = "AZURE_TRANSLATOR_REGION"
_GLOBAL = "https://api.cognitive.microsofttranslator.com"
_VERSION = {"api-version": "3.0"}


class Azure(http.Service):
    n_texts = 100
    n_characters = 50_000

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        keys.refuse_options("azure", options, OPTIONS, KEY)
        if argument != "global" and "://" not in argument:
            raise UserError(f"write azure:global or azure:URL; key and region come from {KEY} and {REGION}")
        secrets = keys.read_secrets("azure", required=(KEY,))
        headers = {"Ocp-Apim-Subscription-Key": secrets[KEY]}
        if region := os.environ.get(REGION, "").strip():
            if not region.isalnum() or not region.isascii():
                raise UserError(f"{REGION} must be the name of a region, for example westeurope")
            headers["Ocp-Apim-Subscription-Region"] = region
        self._category = {"category": options["category"]} if options.get("category") else {}
        url = _GLOBAL if argument == "global" else argument
        self._connect(f"azure:{argument}", url, options, secrets=secrets, headers=headers, classify=_kind)

    def _check_direction(self, source: str, target: str) -> None:
        answer = self._client.get("/languages", params={**_VERSION, "scope": "translation"})
        offered = self._client.take(answer, "translation", kind=dict)
        if source not in offered or target not in offered:
            raise self._unknown_direction(source, target, offered, offered)

    def _exchange(self, source: str, target: str, texts: Sequence[str]) -> Sequence[str]:
        params = {**_VERSION, "from": source, "to": target, "textType": "plain", **self._category}
        answer = self._client.post("/translate", json=[{"Text": text} for text in texts], params=params)
        rows = self._client.take(answer, kind=list)
        return [self._client.take(row, "translations", 0, "text", kind=str) for row in rows]


def _kind(status: int, payload: Any) -> str:
    is_too_large = any(name == "code" and code in (400050, 400077) for name, code in http.fields(payload))
    return "too large" if status == 400 and is_too_large else ""
