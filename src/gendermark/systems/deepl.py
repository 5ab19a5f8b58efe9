"""`deepl:free`, `deepl:pro` or `deepl:URL`: the DeepL API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gendermark.errors import UserError
from gendermark.records import Task
from gendermark.systems import http, keys
from gendermark.systems.system import choice_option

TASKS = frozenset({Task.TRANSLATE})
OPTIONS = ("formality", "target_code", *http.OPTIONS)
KEY = "DEEPL_API_KEY"
_HOSTS = {"free": "https://api-free.deepl.com", "pro": "https://api.deepl.com"}
_FORMALITIES = ("default", "more", "less", "prefer_more", "prefer_less")
# DeepL asks which English and which Portuguese. Other services mean the Brazilian one by "pt".
_TARGETS = {"en": "EN-US", "pt": "PT-BR"}


class DeepL(http.Service):
    n_texts = 50

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        keys.refuse_options("deepl", options, OPTIONS, KEY)
        if argument not in _HOSTS and "://" not in argument:
            raise UserError("write deepl:free, deepl:pro or deepl:URL, without the key")
        self._formality = choice_option(options, "formality", _FORMALITIES) if "formality" in options else ""
        self._target_code = options.get("target_code", "").upper()
        secrets = keys.read_secrets("deepl", required=(KEY,))
        own_plan = "free" if secrets[KEY].endswith(":fx") else "pro"
        if argument in _HOSTS and argument != own_plan:
            raise UserError(f"the key in {KEY} is for deepl:{own_plan}, not for deepl:{argument}")
        headers = {"Authorization": f"DeepL-Auth-Key {secrets[KEY]}"}
        named = {**options, "target_code": self._target_code}
        self._connect(f"deepl:{argument}", _HOSTS.get(argument, argument), named, secrets=secrets, headers=headers)

    def _target(self, code: str) -> str:
        if not self._target_code:
            return _TARGETS.get(code, code.upper())
        if self._target_code.partition("-")[0] != code.upper():
            raise UserError(f"option target_code is {self._target_code}, not a form of {code}; run {code} without it")
        return self._target_code

    def _check_direction(self, source: str, target: str) -> None:
        sources, targets = self._languages("source"), self._languages("target")
        code = self._target(target)
        if source.upper() not in sources or code not in targets:
            raise self._unknown_direction(source.upper(), code, sources, targets)
        if self._formality in ("more", "less") and not targets[code]:
            raise UserError(
                f"{self.spec} has no formality for {code}; leave it out, or use formality=prefer_{self._formality}"
            )

    def _languages(self, kind: str) -> dict[str, bool]:
        """Codes, and whether a language has formality."""
        take = self._client.take
        rows = take(self._client.get("/v2/languages", params={"type": kind}), kind=list)
        return {take(row, "language", kind=str).upper(): bool(row.get("supports_formality")) for row in rows}

    def _exchange(self, source: str, target: str, texts: Sequence[str]) -> Sequence[str]:
        body = {"text": list(texts), "source_lang": source.upper(), "target_lang": self._target(target)}
        if self._formality:
            body["formality"] = self._formality
        rows = self._client.take(self._client.post("/v2/translate", json=body), "translations", kind=list)
        return [self._client.take(row, "text", kind=str) for row in rows]
