"""`google:v2`: Google's Cloud Translation, the basic edition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gendermark.errors import UserError
from gendermark.linguistics.codes import LANGUAGES
from gendermark.records import Task
from gendermark.systems import http, keys
from gendermark.systems.http import Service

TASKS = frozenset({Task.TRANSLATE})
OPTIONS = ("model", "url", *http.OPTIONS)
KEY = "GOOGLE_API_KEY"
_HOST = "https://translation.googleapis.com"
_PATH = "/language/translate/v2"


class Google(Service):
    n_texts = 128

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        keys.refuse_options("google", options, OPTIONS, KEY)
        if argument != "v2":
            raise UserError("write google:v2, without key or project")
        secrets = keys.read_secrets("google", required=(KEY,))
        self.spec = f"google:{argument}"
        self._model = options.get("model", "")
        self._open(
            http.Client(
                self.spec,
                options.get("url", _HOST),
                secrets=secrets,
                headers={"X-goog-api-key": secrets[KEY]},
                options=options,
                classify=_classify,
            )
        )
        self.system_id = http.identity("google", self._client, model=self._model)

    def _check_direction(self, source: str, target: str) -> None:
        params = {"model": self._model} if self._model else None
        answer = self._client.get(f"{_PATH}/languages", params=params)
        rows = self._client.take(answer, "data", "languages", kind=list)
        offered = {self._client.take(row, "language", kind=str) for row in rows}
        for code in (source, target):
            # Some it lists under an older name, and takes under both.
            if not offered & ({code, LANGUAGES[code].older_code} if code in LANGUAGES else {code}):
                raise self._unknown_direction(source, target, offered, offered)

    def _exchange(self, source: str, target: str, texts: Sequence[str]) -> Sequence[str]:
        # As text: as HTML, which is the default, an apostrophe would come back as &#39;.
        body = {"q": list(texts), "source": source, "target": target, "format": "text"}
        if self._model:
            body["model"] = self._model
        rows = self._client.take(self._client.post(_PATH, json=body), "data", "translations", kind=list)
        return [self._client.take(row, "translatedText", kind=str) for row in rows]


def _classify(status: int, payload: Any) -> str:
    """Google answers several things with 400 and 403; the reason tells them apart."""
    reasons = http.found_under(payload, "reason")
    if status == 403 and reasons & {"rateLimitExceeded", "userRateLimitExceeded"}:
        return "passing"
    if status == 400 and reasons & {"keyInvalid", "API_KEY_INVALID"}:
        return "key"
    if status == 400 and ("too long" in http.message_of(payload).lower() or "uploadTooLarge" in reasons):
        return "too large"
    return ""
