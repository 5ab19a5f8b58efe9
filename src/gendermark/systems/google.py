"""`google:v2`: Google's Cloud Translation, the basic edition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gendermark.errors import UserError
from gendermark.reading.codes import LANGUAGES
from gendermark.records import Task
from gendermark.systems import http, keys

TASKS = frozenset({Task.TRANSLATE})
OPTIONS = ("model", "url", *http.OPTIONS)
KEY = "GOOGLE_API_KEY"
_HOST = "https://translation.googleapis.com"
_PATH = "/language/translate/v2"


class Google(http.Service):
    n_texts = 128

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        keys.refuse_options("google", options, OPTIONS, KEY)
        if argument != "v2":
            raise UserError("write google:v2, without key or project")
        secrets = keys.read_secrets("google", required=(KEY,))
        self._model = {"model": options["model"]} if options.get("model") else {}
        headers = {"X-goog-api-key": secrets[KEY]}
        url = options.get("url", _HOST)
        self._connect("google:v2", url, options, secrets=secrets, headers=headers, classify=_kind)

    def _check_direction(self, source: str, target: str) -> None:
        answer = self._client.get(f"{_PATH}/languages", params=self._model)
        rows = self._client.take(answer, "data", "languages", kind=list)
        offered = {self._client.take(row, "language", kind=str) for row in rows}
        for code in (source, target):
            # Some are listed under an older name, and taken under both.
            if not offered & ({code, LANGUAGES[code].older_code} if code in LANGUAGES else {code}):
                raise self._unknown_direction(source, target, offered, offered)

    def _exchange(self, source: str, target: str, texts: Sequence[str]) -> Sequence[str]:
        # As text: as HTML, which is the default, an apostrophe would come back as &#39;.
        body = {"q": list(texts), "source": source, "target": target, "format": "text", **self._model}
        rows = self._client.take(self._client.post(_PATH, json=body), "data", "translations", kind=list)
        return [self._client.take(row, "translatedText", kind=str) for row in rows]


def _kind(status: int, payload: Any) -> str:
    """Google answers several things with 400 and 403; the reason tells them apart."""
    reasons = {value for name, value in http.fields(payload) if name == "reason"}
    if status == 403 and reasons & {"rateLimitExceeded", "userRateLimitExceeded"}:
        return "passing"
    if status == 400 and reasons & {"keyInvalid", "API_KEY_INVALID"}:
        return "key"
    if status == 400 and ("too long" in http.message_of(payload).lower() or "uploadTooLarge" in reasons):
        return "too large"
    return ""
