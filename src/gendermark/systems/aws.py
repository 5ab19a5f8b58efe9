"""`aws:REGION`: Amazon Translate."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from gendermark.errors import UserError
from gendermark.records import Task
from gendermark.systems import http, keys
from gendermark.systems.system import choice_option

if TYPE_CHECKING:
    import httpx

TASKS = frozenset({Task.TRANSLATE})
OPTIONS = ("formality", "url", *http.OPTIONS)
KEY, SECRET, TOKEN = "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"
_PASSING = re.compile("Throttling|TooManyRequests|RequestLimitExceeded|ServiceUnavailable")
_BAD_KEY = re.compile("UnrecognizedClient|Invalid(Signature|ClientToken)|MissingAuth|Expired|Incomplete|AccessDenied")


class Aws(http.Service):
    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        keys.refuse_options("aws", options, OPTIONS, f"{KEY} and {SECRET}")
        if not re.fullmatch(r"[a-z]{2,}(-[a-z]+)+-\d", argument):
            raise UserError(f"write aws:REGION, for example aws:eu-west-1; keys come from {KEY} and {SECRET}")
        formality = choice_option(options, "formality", ("formal", "informal")) if "formality" in options else ""
        secrets = keys.read_secrets("aws", required=(KEY, SECRET), optional=(TOKEN,))
        self._settings = {"Settings": {"Formality": formality.upper()}} if formality else {}
        url = options.get("url", f"https://translate.{argument}.amazonaws.com")
        how = {"secrets": secrets, "concurrency": 8, "auth": _signer(secrets, argument), "classify": _kind}
        self._connect(f"aws:{argument}", url, {**options, "region": argument}, **how)

    def _check_direction(self, source: str, target: str) -> None:
        try:
            answer = self._call("ListLanguages", {"MaxResults": 500})
        except http.Refusal as problem:
            if _error(problem.payload) == "AccessDeniedException":
                return  # a key may be allowed to translate and nothing else
            raise
        rows = self._client.take(answer, "Languages", kind=list)
        offered = {self._client.take(row, "LanguageCode", kind=str) for row in rows}
        if not {source, target} <= offered:
            raise self._unknown_direction(source, target, offered, offered)

    def _exchange(self, source: str, target: str, texts: Sequence[str]) -> Sequence[str]:
        (text,) = texts
        body = {"Text": text, "SourceLanguageCode": source, "TargetLanguageCode": target, **self._settings}
        return [self._client.take(self._call("TranslateText", body), "TranslatedText", kind=str)]

    def _call(self, operation: str, body: Mapping[str, Any]) -> Any:
        headers = {
            "Content-Type": "application/x-amz-json-1.1",
            "X-Amz-Target": f"AWSShineFrontendService_20170701.{operation}",
        }
        return self._client.post("/", content=json.dumps(body).encode(), headers=headers)


def _kind(_: int, payload: Any) -> str:
    """Amazon answers most things with 400; the type of the error tells them apart."""
    error = _error(payload)
    if _PASSING.match(error):
        return "passing"
    if _BAD_KEY.match(error):
        return "key"
    return "too large" if error == "TextSizeLimitExceededException" else ""


def _error(payload: Any) -> str:
    kind = payload.get("__type") if isinstance(payload, dict) else None
    return kind.rpartition("#")[2] if isinstance(kind, str) else ""


def _signer(secrets: Mapping[str, str], region: str) -> Callable[[httpx.Request], httpx.Request]:
    """Signs each attempt anew: a signature is good for a few minutes only."""

    def sign(request: httpx.Request) -> httpx.Request:
        request.headers["X-Amz-Date"] = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        if TOKEN in secrets:
            request.headers["X-Amz-Security-Token"] = secrets[TOKEN]
        names = ("content-type", "host", "x-amz-date", "x-amz-security-token", "x-amz-target")
        headers = {name: request.headers[name] for name in names if name in request.headers}
        request.headers["Authorization"] = authorization(
            request.method, str(request.url), headers, request.content, (secrets[KEY], secrets[SECRET], region)
        )
        return request

    return sign


def authorization(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    signer: tuple[str, str, str],
    service: str = "translate",
) -> str:
    """The header `Authorization` of a request by AWS Signature Version 4, of all the headers given.

    The signer is a key, its secret and a region.
    """
    key, secret, region = signer
    parts = urlsplit(url)
    signed = sorted((name.lower(), " ".join(value.split())) for name, value in headers.items())
    names = ";".join(name for name, _ in signed)
    canonical = "\n".join(
        [
            method,
            quote(parts.path or "/", safe="/~"),
            "",  # our requests have no query
            *(f"{name}:{value}" for name, value in signed),
            "",
            names,
            hashlib.sha256(body).hexdigest(),
        ]
    )
    moment = dict(signed)["x-amz-date"]
    scope = f"{moment[:8]}/{region}/{service}/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    signing_key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        signing_key = hmac.digest(signing_key, part.encode(), "sha256")
    signature = hmac.digest(signing_key, text.encode(), "sha256").hex()
    return f"AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders={names}, Signature={signature}"
