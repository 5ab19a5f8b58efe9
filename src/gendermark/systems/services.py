"""Translation services. Texts of one direction are sent together, with several requests at once.

A service implements its own interface; `http.Client` sends the requests.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from gendermark.errors import SystemFailure, UserError
from gendermark.reading.codes import LANGUAGES, three_letters
from gendermark.records import Request, Task, Translation
from gendermark.systems import http
from gendermark.systems.system import System, by_direction, choice_option

if TYPE_CHECKING:
    import httpx


class Service(System):
    """Shared by all services. The first line of a service's docstring is its description."""

    TASKS = frozenset({Task.TRANSLATE})
    OPTIONS: tuple[str, ...] = http.OPTIONS
    family: str
    required: tuple[str, ...] = ()
    """Required environment variables."""
    optional: tuple[str, ...] = ()
    asks_a_server = True
    concurrency = 4
    n_texts: int = 1
    """Maximum texts per request."""
    n_characters: int = 30_000
    """Maximum characters per request; a single text may be longer."""

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        http.refuse_options(self.family, options, self.OPTIONS, " and ".join(self.required or self.optional))
        self.spec, self._argument = f"{self.family}:{argument}", argument
        url, changing = self._address(argument, options)
        secrets = http.read_secrets(self.family, self.required, self.optional)
        self._client = http.Client(
            self.spec,
            url,
            options=options,
            secrets=secrets,
            optional_key=self.optional[0] if self.optional else "",
            concurrency=self.concurrency,
            classify=self._kind,
            **self._authorise(secrets),
        )
        self.system_id = http.identity(self._client, changing)
        # Every answer is stored separately, so a batch may be large enough to keep all connections busy.
        self.batch_size = 4 * self._client.concurrency * self.n_texts
        self._offered: Mapping[str, Collection[str]] | None = None
        self._n_sentences = self._n_characters = 0

    # -- what a service defines

    def _address(self, argument: str, options: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        """The URL, and the options that affect answers, for the id. Refuses a wrong argument."""
        return argument, options

    def _authorise(self, secrets: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002
        """Return how requests carry the key: `headers` or `auth` of the client."""
        return {}

    def _codes(self, source: str, target: str) -> tuple[str, str]:
        """The service's own codes of two languages."""
        return source, target

    @abstractmethod
    def _languages(self) -> Mapping[str, Collection[str]]:
        """The target languages that the service offers for each source language, in its own codes."""

    @abstractmethod
    def _exchange(self, source: str, target: str, texts: Sequence[str]) -> Sequence[str]:
        """The translations of texts between two languages, in the service's codes, by one HTTP request."""

    @staticmethod
    def _kind(status: int, payload: Any) -> str:  # noqa: ARG004
        return ""

    # -- the same for all

    def check(self, source_language: str, target_language: str, requests: Sequence[Request]) -> None:  # noqa: ARG002
        source, target = self._codes(source_language, target_language)
        if self._offered is None:
            self._offered = self._languages()
        if target not in self._offered.get(source, ()):
            is_known = source in self._offered
            offered = ", ".join(sorted(self._offered[source] if is_known else self._offered)) or "nothing"
            into = f" into {target}" if is_known else ""
            raise UserError(f"{self.spec} does not translate from {source}{into}; it offers: {offered}")

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        for portion, answers in self._client.in_parallel(self._answer_portion, self._portions(requests)):
            self._n_sentences += len(portion)
            self._n_characters += sum(len(request.source) for request in portion)
            yield answers

    def forecast(self, requests: Sequence[Request]) -> str:
        return f"{sum(len(request.source) for request in requests):,} characters to send"

    def notes(self) -> Sequence[str]:
        if not self._n_sentences:
            return ()
        return (f"{self.spec} was sent {self._n_characters:,} characters in {self._n_sentences:,} sentences",)

    def close(self) -> None:
        self._client.close()

    def _portions(self, requests: Sequence[Request]) -> Iterator[list[Request]]:
        for group in by_direction(requests).values():
            portion: list[Request] = []
            n_characters = 0
            for request in group:
                n_characters += len(request.source)
                if portion and (len(portion) == self.n_texts or n_characters > self.n_characters):
                    yield portion
                    portion, n_characters = [], len(request.source)
                portion.append(request)
            yield portion

    def _answer_portion(self, requests: Sequence[Request]) -> list[Translation]:
        first, sources = requests[0], [request.source for request in requests]
        try:
            texts = self._exchange(*self._codes(first.source_language, first.target_language), sources)
        except http.TooLarge as problem:
            if len(requests) > 1:
                raise
            # One sentence too long for a service must not stop the others.
            return [Translation(first.request_id, None, first.first_sample, f"too long: {problem.said or problem}")]
        if len(texts) != len(requests):
            # It is unknown which one is missing, so none of this batch is kept.
            raise SystemFailure(
                f"{self.spec} gave {len(texts)} translations for {len(requests)} sentences, the first of which is "
                f"{first.source!r}; one per sentence is expected (this batch is discarded, earlier ones are kept)"
            )
        return [Translation(one.request_id, text, one.first_sample) for one, text in zip(requests, texts, strict=True)]

    def _texts(self, rows: Any, *path: str | int) -> list[str]:
        return [self._client.take(row, *path, kind=str) for row in self._client.take(rows, kind=list)]


class Apertium(Service):
    """`apertium:URL`: Apertium's rule-based translators behind APY, their web service."""

    family = "apertium"

    def _codes(self, source: str, target: str) -> tuple[str, str]:
        return three_letters(source), three_letters(target)

    def _languages(self) -> Mapping[str, Collection[str]]:
        rows = self._client.take(self._client.get("/listPairs"), "responseData", kind=list)
        offered: dict[str, list[str]] = {}
        for source, target in zip(
            self._texts(rows, "sourceLanguage"), self._texts(rows, "targetLanguage"), strict=True
        ):
            offered.setdefault(source, []).append(target)
        return offered

    def _exchange(self, source: str, target: str, texts: Sequence[str]) -> Sequence[str]:
        # Plain text, not HTML, the default; and no asterisks before unknown words.
        (text,) = texts
        form = {"langpair": f"{source}|{target}", "q": text, "format": "txt", "markUnknown": "no"}
        answer = self._client.post("/translate", data=form)
        return [self._client.take(answer, "responseData", "translatedText", kind=str)]


class Azure(Service):
    """`azure:global` or `azure:URL`: Azure AI Translator, version 3.0."""

    OPTIONS = ("category", *http.OPTIONS)
    family = "azure"
    KEY = "AZURE_TRANSLATOR_KEY"
    required = (KEY,)
    REGION = "AZURE_TRANSLATOR_REGION"
    n_texts = 100
    n_characters = 50_000

    def _address(self, argument: str, options: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        if argument != "global" and "://" not in argument:
            raise UserError(f"write azure:global or azure:URL; key and region come from {self.KEY} and {self.REGION}")
        category = {"category": options["category"]} if options.get("category") else {}
        self._version = {"api-version": "3.0"}
        self._params = {**self._version, "textType": "plain", **category}
        return "https://api.cognitive.microsofttranslator.com" if argument == "global" else argument, options

    def _authorise(self, secrets: Mapping[str, str]) -> dict[str, Any]:
        headers = {"Ocp-Apim-Subscription-Key": secrets[self.KEY]}
        if region := os.environ.get(self.REGION, "").strip():
            if not region.isalnum() or not region.isascii():
                raise UserError(f"{self.REGION} must be the name of a region, for example westeurope")
            headers["Ocp-Apim-Subscription-Region"] = region
        return {"headers": headers}

    def _languages(self) -> Mapping[str, Collection[str]]:
        answer = self._client.get("/languages", params={**self._version, "scope": "translation"})
        offered = self._client.take(answer, "translation", kind=dict)
        return dict.fromkeys(offered, offered)

    def _exchange(self, source: str, target: str, texts: Sequence[str]) -> Sequence[str]:
        params = {**self._params, "from": source, "to": target}
        answer = self._client.post("/translate", json=[{"Text": text} for text in texts], params=params)
        return self._texts(answer, "translations", 0, "text")

    @staticmethod
    def _kind(status: int, payload: Any) -> str:
        is_too_large = any(name == "code" and code in (400050, 400077) for name, code in http.fields(payload))
        return "too large" if status == 400 and is_too_large else ""


class DeepL(Service):
    """`deepl:free`, `deepl:pro` or `deepl:URL`: the DeepL API."""

    OPTIONS = ("formality", "target_code", *http.OPTIONS)
    family = "deepl"
    KEY = "DEEPL_API_KEY"
    required = (KEY,)
    n_texts = 50
    _hosts: Mapping[str, str] = {"free": "https://api-free.deepl.com", "pro": "https://api.deepl.com"}
    _formalities = ("default", "more", "less", "prefer_more", "prefer_less")
    # DeepL requires regional variants. "pt" means Brazilian in other services.
    _targets: Mapping[str, str] = {"en": "EN-US", "pt": "PT-BR"}

    def _address(self, argument: str, options: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        if argument not in self._hosts and "://" not in argument:
            raise UserError("write deepl:free, deepl:pro or deepl:URL, without the key")
        self._formality = choice_option(options, "formality", self._formalities) if "formality" in options else ""
        self._target_code = options.get("target_code", "").upper()
        return self._hosts.get(argument, argument), {**options, "target_code": self._target_code}

    def _authorise(self, secrets: Mapping[str, str]) -> dict[str, Any]:
        own_plan = "free" if secrets[self.KEY].endswith(":fx") else "pro"
        if self._argument in self._hosts and self._argument != own_plan:
            raise UserError(f"the key in {self.KEY} is for deepl:{own_plan}, not for {self.spec}")
        return {"headers": {"Authorization": f"DeepL-Auth-Key {secrets[self.KEY]}"}}

    def _codes(self, source: str, target: str) -> tuple[str, str]:
        if not self._target_code:
            return source.upper(), self._targets.get(target, target.upper())
        if self._target_code.partition("-")[0] != target.upper():
            raise UserError(
                f"option target_code is {self._target_code}, not a form of {target}; run {target} without it"
            )
        return source.upper(), self._target_code

    def check(self, source_language: str, target_language: str, requests: Sequence[Request]) -> None:
        super().check(source_language, target_language, requests)
        _, code = self._codes(source_language, target_language)
        if self._formality in ("more", "less") and code not in self._formal:
            raise UserError(
                f"{self.spec} has no formality for {code}; leave it out, or use formality=prefer_{self._formality}"
            )

    def _languages(self) -> Mapping[str, Collection[str]]:
        rows = {kind: self._client.get("/v2/languages", params={"type": kind}) for kind in ("source", "target")}
        sources, targets = ([code.upper() for code in self._texts(found, "language")] for found in rows.values())
        self._formal = {
            code for code, row in zip(targets, rows["target"], strict=True) if row.get("supports_formality")
        }
        return dict.fromkeys(sources, targets)

    def _exchange(self, source: str, target: str, texts: Sequence[str]) -> Sequence[str]:
        body = {"text": list(texts), "source_lang": source, "target_lang": target}
        if self._formality:
            body["formality"] = self._formality
        rows = self._client.take(self._client.post("/v2/translate", json=body), "translations", kind=list)
        return self._texts(rows, "text")


class Google(Service):
    """`google:v2`: Google's Cloud Translation, the basic edition."""

    OPTIONS = ("model", "url", *http.OPTIONS)
    family = "google"
    KEY = "GOOGLE_API_KEY"
    required = (KEY,)
    n_texts = 128
    _path = "/language/translate/v2"

    def _address(self, argument: str, options: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        if argument != "v2":
            raise UserError("write google:v2, without key or project")
        self._model = {"model": options["model"]} if options.get("model") else {}
        return options.get("url", "https://translation.googleapis.com"), options

    def _authorise(self, secrets: Mapping[str, str]) -> dict[str, Any]:
        return {"headers": {"X-goog-api-key": secrets[self.KEY]}}

    def _languages(self) -> Mapping[str, Collection[str]]:
        answer = self._client.get(f"{self._path}/languages", params=self._model)
        offered = set(self._texts(self._client.take(answer, "data", "languages", kind=list), "language"))
        # Some are listed under an older code, and accepted under both.
        offered.update([code for code, facts in LANGUAGES.items() if facts.older_code in offered])
        return dict.fromkeys(offered, offered)

    def _exchange(self, source: str, target: str, texts: Sequence[str]) -> Sequence[str]:
        # As text: with HTML, the default, an apostrophe is returned as &#39;.
        body = {"q": list(texts), "source": source, "target": target, "format": "text", **self._model}
        rows = self._client.take(self._client.post(self._path, json=body), "data", "translations", kind=list)
        return self._texts(rows, "translatedText")

    @staticmethod
    def _kind(status: int, payload: Any) -> str:
        reasons = {value for name, value in http.fields(payload) if name == "reason"}
        if status == 403 and reasons & {"rateLimitExceeded", "userRateLimitExceeded"}:
            return "passing"
        if status == 400 and reasons & {"keyInvalid", "API_KEY_INVALID"}:
            return "key"
        if status == 400 and ("too long" in http.message_of(payload).lower() or "uploadTooLarge" in reasons):
            return "too large"
        return ""


class LibreTranslate(Service):
    """`libretranslate:URL`: a LibreTranslate server, your own or a hosted one."""

    family = "libretranslate"
    KEY = "LIBRETRANSLATE_API_KEY"
    optional = (KEY,)
    n_texts = 8
    n_characters = 5_000

    def _authorise(self, secrets: Mapping[str, str]) -> dict[str, Any]:
        # The interface has no header for the key; it is in the body.
        self._key = {"api_key": secrets[self.KEY]} if secrets else {}
        return {}

    def _languages(self) -> Mapping[str, Collection[str]]:
        rows = self._client.get("/languages")
        codes = self._texts(rows, "code")
        return {code: self._texts(row.get("targets", codes)) for code, row in zip(codes, rows, strict=True)}

    def _exchange(self, source: str, target: str, texts: Sequence[str]) -> Sequence[str]:
        body = {"q": list(texts), "source": source, "target": target, "format": "text", **self._key}
        return self._texts(self._client.take(self._client.post("/translate", json=body), "translatedText", kind=list))

    @staticmethod
    def _kind(status: int, payload: Any) -> str:
        is_limit = re.search(r"exceeds? .*limit", http.message_of(payload), re.IGNORECASE)
        return "too large" if status == 400 and is_limit else ""


# -- Amazon ------------------------------------------------------------------------------------------------------------


class Aws(Service):
    """`aws:REGION`: Amazon Translate."""

    OPTIONS = ("formality", "url", *http.OPTIONS)
    family = "aws"
    KEY, SECRET, TOKEN = "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"
    required, optional = (KEY, SECRET), (TOKEN,)
    concurrency = 8
    _passing = re.compile("Throttling|TooManyRequests|RequestLimitExceeded|ServiceUnavailable")
    _bad_key = re.compile(
        "UnrecognizedClient|Invalid(Signature|ClientToken)|MissingAuth|Expired|Incomplete|AccessDenied"
    )

    def _address(self, argument: str, options: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        if not re.fullmatch(r"[a-z]{2,}(-[a-z]+)+-\d", argument):
            raise UserError(
                f"write aws:REGION, for example aws:eu-west-1; keys come from {' and '.join(self.required)}"
            )
        formality = choice_option(options, "formality", ("formal", "informal")) if "formality" in options else ""
        self._settings = {"Settings": {"Formality": formality.upper()}} if formality else {}
        return options.get("url", f"https://translate.{argument}.amazonaws.com"), {**options, "region": argument}

    def _authorise(self, secrets: Mapping[str, str]) -> dict[str, Any]:
        def sign(request: httpx.Request) -> httpx.Request:
            # Every attempt needs a new signature, valid for a few minutes.
            request.headers["X-Amz-Date"] = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
            if self.TOKEN in secrets:
                request.headers["X-Amz-Security-Token"] = secrets[self.TOKEN]
            names = ("content-type", "host", "x-amz-date", "x-amz-security-token", "x-amz-target")
            headers = {name: request.headers[name] for name in names if name in request.headers}
            signer = (secrets[self.KEY], secrets[self.SECRET], self._argument)
            signed = authorization(request.method, str(request.url), headers, request.content, signer)
            request.headers["Authorization"] = signed
            return request

        return {"auth": sign}

    def check(self, source_language: str, target_language: str, requests: Sequence[Request]) -> None:
        try:
            super().check(source_language, target_language, requests)
        except http.Refusal as problem:
            if self._error(problem.payload) != "AccessDeniedException":  # a key may be restricted to translating
                raise

    def _languages(self) -> Mapping[str, Collection[str]]:
        answer = self._call("ListLanguages", {"MaxResults": 500})
        offered = self._texts(self._client.take(answer, "Languages", kind=list), "LanguageCode")
        return dict.fromkeys(offered, offered)

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

    @classmethod
    def _kind(cls, status: int, payload: Any) -> str:  # noqa: ARG003
        error = cls._error(payload)
        if cls._passing.match(error):
            return "passing"
        if cls._bad_key.match(error):
            return "key"
        return "too large" if error == "TextSizeLimitExceededException" else ""

    @staticmethod
    def _error(payload: Any) -> str:
        kind = payload.get("__type") if isinstance(payload, dict) else None
        return kind.rpartition("#")[2] if isinstance(kind, str) else ""


def authorization(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    signer: tuple[str, str, str],
    service: str = "translate",
) -> str:
    """The header `Authorization` of a request by AWS Signature Version 4, over all given headers.

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
