"""`deepl:free`, `deepl:pro` or `deepl:URL`: the DeepL API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gendermark.errors import UserError
from gendermark.records import Task
from gendermark.systems import http, keys
from gendermark.systems.http import Service

TASKS = frozenset({Task.TRANSLATE})
OPTIONS = ("formality", "target_code", *http.OPTIONS)
KEY = "DEEPL_API_KEY"
_HOSTS = {"free": "https://api-free.deepl.com", "pro": "https://api.deepl.com"}
_FORMALITIES = ("default", "more", "less", "prefer_more", "prefer_less")
# DeepL wants to be told which English and which Portuguese. Other services mean the Brazilian one by "pt".
_TARGETS = {"en": "EN-US", "pt": "PT-BR"}


class DeepL(Service):
    n_texts = 50

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        keys.refuse_options("deepl", options, OPTIONS, KEY)
        if argument not in _HOSTS and "://" not in argument:
            raise UserError("write deepl:free, deepl:pro or deepl:URL, without the key")
        self._formality = options.get("formality", "")
        if self._formality not in ("", *_FORMALITIES):
            raise UserError(f"option formality is one of {', '.join(_FORMALITIES)}, not {self._formality!r}")
        self._target_code = options.get("target_code", "").upper()
        secrets = keys.read_secrets("deepl", required=(KEY,))
        is_free = secrets[KEY].endswith(":fx")
        if argument in _HOSTS and is_free != (argument == "free"):
            plan, other = ("the free plan", "free") if is_free else ("a paid plan", "pro")
            raise UserError(
                f"the key in {KEY} is one of {plan}, which deepl:{argument} does not take; use deepl:{other}"
            )
        self.spec = f"deepl:{argument}"
        headers = {"Authorization": f"DeepL-Auth-Key {secrets[KEY]}"}
        self._open(
            http.Client(self.spec, _HOSTS.get(argument, argument), secrets=secrets, headers=headers, options=options)
        )
        self.system_id = http.identity("deepl", self._client, formality=self._formality, target_code=self._target_code)

    def _target(self, code: str) -> str:
        if self._target_code:
            if self._target_code.partition("-")[0] != code.upper():
                raise UserError(
                    f"option target_code is {self._target_code}, which is no form of {code}; run {code} without it"
                )
            return self._target_code
        return _TARGETS.get(code, code.upper())

    def _check_direction(self, source: str, target: str) -> None:
        sources, targets = self._languages("source"), self._languages("target")
        if source.upper() not in sources or self._target(target) not in targets:
            raise self._unknown_direction(source.upper(), self._target(target), sources, targets)
        if self._formality in ("more", "less") and not targets[self._target(target)]:
            raise UserError(
                f"{self.spec} has no formality for {self._target(target)}; leave it out, or use "
                f"formality=prefer_{self._formality}"
            )

    def _languages(self, kind: str) -> dict[str, bool]:
        """Codes, and whether a language has formality."""
        rows = self._client.take(self._client.get("/v2/languages", params={"type": kind}), kind=list)
        return {
            self._client.take(row, "language", kind=str).upper(): bool(row.get("supports_formality")) for row in rows
        }

    def _exchange(self, source: str, target: str, texts: Sequence[str]) -> Sequence[str]:
        body = {"text": list(texts), "source_lang": source.upper(), "target_lang": self._target(target)}
        if self._formality:
            body["formality"] = self._formality
        rows = self._client.take(self._client.post("/v2/translate", json=body), "translations", kind=list)
        return [self._client.take(row, "text", kind=str) for row in rows]
