"""One contract for all services: what each sends, and that all meet trouble in the same way."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gendermark.cli.app import _exit_code
from gendermark.errors import SystemFailure, UserError
from gendermark.records import Request, Translation
from gendermark.systems.services import authorization
from gendermark.systems.system import System, open_system
from runs import tiny
from systems import asking, servers
from systems.servers import Asked, Server

KEY = "Zq9-a1b2c3d4/e5f6+g7h8"
"""A key as no text has it by chance."""
TOKEN = "Zq9-session-token-0123456789"
NOWHERE = "http://127.0.0.1:9"


@dataclass(frozen=True)
class Family:
    """How to open a system of a family at a server of ours, and how that server answers."""

    name: str
    argument: str  # with {url} in it
    path: str  # of requests for translations
    texts: Callable[[Asked], list[str]]  # that a request asks to translate
    answer: Callable[[list[str]], Any]  # with these translations
    languages: Any  # the answer to everything else
    variables: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)  # with {url} in them
    n_texts: int = 1  # in one request, at most
    needs_key: bool = True
    changing: dict[str, str] = field(default_factory=dict)  # an option that changes answers

    def spec(self, url: str) -> str:
        return f"{self.name}:{self.argument.format(url=url)}"

    def own(self, url: str, **options: str) -> dict[str, str]:
        return {**{name: value.format(url=url) for name, value in self.options.items()}, **options}

    def open(self, url: str, **options: str) -> System:
        return open_system(self.spec(url), self.own(url, **options))

    def is_question(self, asked: Asked) -> bool:
        """Whether a request asks for translations, and not for languages or models."""
        return asked.path == self.path and not asked.headers.get("x-amz-target", "").endswith("ListLanguages")

    def good(self, asked: Asked) -> Any:
        if not self.is_question(asked):
            return self.languages(asked) if callable(self.languages) else self.languages
        return self.answer([translation(text) for text in self.texts(asked)])


def translation(text: str) -> str:
    """Right by the rules of the tiny benchmark."""
    return f"{'ella' if ' her ' in text else 'el'} {text.upper()}"


def chat_answer(texts: list[str]) -> Any:
    message = {"role": "assistant", "content": f"<translation>{texts[0]}</translation>"}
    usage = {"prompt_tokens": 20, "completion_tokens": 5}
    return {"choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": usage}


CODES = ("en", "es", "pt", "xx")
PROMPT = Path(__file__).with_name("prompt.txt")
"""The tiny benchmark's languages have no names, which the prompts of our own have."""
ALL = (
    Family(
        "apertium", "{url}", "/translate", lambda asked: [asked.form["q"]],
        lambda texts: {"responseData": {"translatedText": texts[0]}, "responseDetails": None},
        {"responseData": [{"sourceLanguage": "eng", "targetLanguage": to} for to in ("spa", "por", "xx")]},
        needs_key=False,
    ),
    Family(
        "aws", "eu-west-1", "/", lambda asked: [asked.json["Text"]],
        lambda texts: {"TranslatedText": texts[0], "SourceLanguageCode": "en", "TargetLanguageCode": "es"},
        {"Languages": [{"LanguageCode": code, "LanguageName": code} for code in CODES]},
        {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": KEY, "AWS_SESSION_TOKEN": TOKEN},
        {"url": "{url}"}, changing={"formality": "formal"},
    ),
    Family(
        "azure", "{url}", "/translate", lambda asked: [row["Text"] for row in asked.json],
        lambda texts: [{"translations": [{"text": text, "to": "es"}]} for text in texts],
        {"translation": {code: {"name": code} for code in CODES}},
        {"AZURE_TRANSLATOR_KEY": KEY, "AZURE_TRANSLATOR_REGION": "westeurope"},
        n_texts=100, changing={"category": "mine"},
    ),
    Family(
        "deepl", "{url}", "/v2/translate", lambda asked: asked.json["text"],
        lambda texts: {"translations": [{"detected_source_language": "EN", "text": text} for text in texts]},
        lambda asked: [
            {"language": code, "supports_formality": code == "ES"}
            for code in (("EN", "PT") if asked.query["type"] == "source" else ("ES", "EN-US", "PT-BR", "PT-PT", "XX"))
        ],
        {"DEEPL_API_KEY": KEY}, n_texts=50, changing={"formality": "less"},
    ),
    Family(
        "google", "v2", "/language/translate/v2", lambda asked: asked.json["q"],
        lambda texts: {"data": {"translations": [{"translatedText": text} for text in texts]}},
        {"data": {"languages": [{"language": code} for code in (*CODES, "iw")]}},
        {"GOOGLE_API_KEY": KEY}, {"url": "{url}"}, n_texts=128, changing={"model": "nmt"},
    ),
    Family(
        "libretranslate", "{url}", "/translate", lambda asked: asked.json["q"],
        lambda texts: {"translatedText": texts},
        [{"code": "en", "targets": ["es", "pt", "xx"]}, {"code": "es", "targets": ["en"]}],
        {"LIBRETRANSLATE_API_KEY": KEY}, n_texts=8, needs_key=False,
    ),
    Family(
        "openai", "{url}/v1#tiny", "/v1/chat/completions", lambda asked: [asked.json["messages"][-1]["content"]],
        chat_answer, {"data": [{"id": "tiny"}]},
        {"OPENAI_API_KEY": KEY}, {"prompt": str(PROMPT)}, needs_key=False, changing={"temperature": "1"},
    ),
)  # fmt: skip
FAMILIES = {family.name: family for family in ALL}


def of(*names: str, if_: Callable[[Family], object] = lambda _: True) -> Any:
    chosen = [family for family in ALL if (not names or family.name in names) and if_(family)]
    return pytest.mark.parametrize("family", chosen, ids=[family.name for family in chosen])


every_family = of()
in_batches = of(if_=lambda family: family.n_texts > 1)
with_a_key = of(if_=lambda family: family.variables)
by_language = of(if_=lambda family: family.name != "openai")


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    return servers.without_waiting(monkeypatch)


@pytest.fixture(autouse=True)
def _variables(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Each family has its own keys and no others."""
    family = request.node.callspec.params.get("family") if hasattr(request.node, "callspec") else None
    for name in {name for one in ALL for name in one.variables}:
        monkeypatch.delenv(name, raising=False)
    for name, value in (family.variables if isinstance(family, Family) else {}).items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def server(family: Family) -> Iterator[Server]:
    with servers.serving(family.good) as running:
        yield running


def answers(system: System, asked: Sequence[Request]) -> list[Translation]:
    with closing(system):
        return asking.answers(system, asked)


def failure(system: System, asked: Sequence[Request] | None = None) -> str:
    with pytest.raises(UserError) as caught:
        answers(system, asked or requests(1))
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert "Zq9" not in sentence
    return sentence


def requests(n: int, to: str = "es") -> list[Request]:
    return asking.requests([f"Sentence {number}." for number in range(1, n + 1)], to)


def check(system: System, to: str = "es", from_: str = "en") -> None:
    with closing(system):
        system.check(from_, to, [])


# -- what all have in common


@every_family
def test_every_sentence_gets_its_translation(family: Family, server: Server) -> None:
    n = 2 * family.n_texts + 10
    sources = [f"Sentence {k}: the nurse's “test” & <b>7 < 8</b>\nfor her € 5." for k in range(n)]
    asked = [*asking.requests(sources), *asking.requests(sources[:3], "pt")]
    system = family.open(server.url, concurrency="2")
    assert asking.texts(answers(system, asked)) == [translation(request.source) for request in asked]
    # Each source went out once for each language, as it is.
    sent = [family.texts(request) for request in server.asked]
    assert Counter(text for texts in sent for text in texts) == Counter([*sources, *sources[:3]])
    assert max(map(len, sent)) == family.n_texts
    assert server.most_at_once <= 2
    (note,) = system.notes()
    assert f"{len(asked)} " in note
    assert system.forecast(asked) or family.name == "openai"


@every_family
def test_trouble_that_passes(family: Family, server: Server, waits: list[float]) -> None:
    pause = servers.status(429, Retry_After="11")
    server.script(pause, servers.status(503), servers.cut, servers.hang_up, servers.says(b'{"half": '))
    assert asking.texts(answers(family.open(server.url), requests(1))) == ["el SENTENCE 1."]
    assert waits[0] == pytest.approx(11, abs=5)
    assert len(server.asked) == 6


@every_family
def test_answers_of_another_shape(family: Family, server: Server) -> None:
    for payload in ({}, [], [[]], 7, "text", {"error": None}):
        server.script(servers.sends(payload))
        assert family.spec(server.url) in failure(family.open(server.url)), payload


@in_batches
def test_a_wrong_number_of_translations(family: Family, server: Server) -> None:
    server.script(servers.sends(family.answer(["X"] * 4)))
    assert re.search(r"4 translations for 3 sentences.*'Sentence 1\.'", failure(family.open(server.url), requests(3)))


@in_batches
def test_one_sentence_that_is_too_long_does_not_stop_the_others(family: Family, server: Server) -> None:
    def by_length(running: Server, handler: Any, asked: Asked) -> None:
        is_long = any(len(text) > 100 for text in family.texts(asked))
        step = servers.status(413, {"message": "at most 100 characters"}) if is_long else servers.good
        step(running, handler, asked)

    server.script(*[by_length] * 9)
    asked = [*requests(3), *asking.requests(["word " * 50])]
    *good, long = answers(family.open(server.url, concurrency="1"), asked)
    assert asking.texts(good) == [f"el SENTENCE {number}." for number in range(1, 4)]
    assert (long.text, long.error) == (None, "too long: at most 100 characters")
    assert [len(family.texts(request)) for request in server.asked] == [4, 2, 2, 1, 1]


REFUSALS = [
    # (family, status, answer, what follows: asked again, an error of that sentence, or the words of the failure)
    ("*", 404, None, "check the URL"),
    ("*", 308, None, "redirects are not followed"),
    ("*", 400, {"message": "no such language"}, "no such language"),
    ("*", 413, {"message": "words"}, "too long: words"),
    ("*", 403, {"message": "Quota exceeded for this month"}, "quota"),
    ("deepl", 456, {"message": "Quota for this billing period has been exceeded."}, "quota"),
    ("libretranslate", 400, {"error": "Invalid request: request (64) exceeds text limit (40)"}, "too long: Invalid"),
    ("azure", 400, {"error": {"code": 400077, "message": "The maximum request size is exceeded"}}, "too long: The"),
    ("google", 403, {"error": {"message": "x", "errors": [{"reason": "userRateLimitExceeded"}]}}, "asked again"),
    ("google", 403, {"error": {"message": "Daily Limit Exceeded", "errors": [{"reason": "daily"}]}}, "quota"),
    ("google", 400, {"error": {"message": "no", "details": [{"reason": "API_KEY_INVALID"}]}}, "GOOGLE_API_KEY"),
    ("google", 400, {"error": {"message": "Text too long"}}, "too long: Text"),
    ("aws", 400, {"__type": "com.amazonaws.translate#ThrottlingException"}, "asked again"),
    ("aws", 400, {"__type": "UnrecognizedClientException", "Message": "words"}, "AWS_ACCESS_KEY_ID"),
    ("aws", 400, {"__type": "TextSizeLimitExceededException", "Message": "words"}, "too long: words"),
    ("aws", 400, {"__type": "UnsupportedLanguagePairException", "Message": "words"}, "words"),
    ("openai", 429, {"error": {"message": "x", "code": "insufficient_quota"}}, "quota"),
    ("openai", 400, {"error": {"message": "filtered due to our content policy"}}, "refusal: filtered"),
    ("openai", 400, {"error": {"message": "maximum context length is 10"}}, "too long: maximum"),
]


@pytest.mark.parametrize(
    ("family", "status", "payload", "words"),
    [
        pytest.param(family, *rest, id=f"{family.name} {rest[0]} {rest[2]}")
        for name, *rest in REFUSALS
        for family in ([FAMILIES[name]] if name in FAMILIES else ALL)
    ],
)
def test_what_a_refusal_means(family: Family, server: Server, status: int, payload: Any, words: str) -> None:
    server.script(servers.status(status, payload, Location=f"{NOWHERE}/x"))
    system = family.open(server.url)
    if words == "asked again":
        assert asking.texts(answers(system, requests(1))) == ["el SENTENCE 1."]
    elif re.match("too long|refusal", words):
        assert (answers(system, requests(1))[0].error or "").startswith(words)
    else:
        assert words in failure(system)
    assert len(server.asked) == (2 if words == "asked again" else 1)


@every_family
def test_nobody_at_that_address_is_found_out_before_any_work(family: Family, waits: list[float]) -> None:
    with servers.serving(family.good) as gone:
        pass
    with pytest.raises(SystemFailure, match=f"^{family.name}:.* cannot be reached at {gone.url}"):
        check(family.open(gone.url))
    assert waits == []


@every_family
def test_a_system_is_its_address_and_what_changes_its_answers(family: Family) -> None:
    def system_id(url: str = NOWHERE, **options: str) -> str:
        with closing(family.open(url, **options)) as system:
            return system.system_id

    before = system_id()
    assert before.startswith(f"{family.name}:{NOWHERE}")
    assert KEY not in before
    how = {"timeout_seconds": "7", "max_retries": "1", "concurrency": "2", "requests_per_second": "3"}
    assert system_id(**how) == system_id(f"{NOWHERE}/" if family.name != "openai" else NOWHERE) == before
    assert system_id("http://127.0.0.1:10") != before
    assert not family.changing or system_id(**family.changing) != before


# -- keys, options and addresses


def translate(capsys: pytest.CaptureFixture[str], family: Family, url: str, tmp_path: Path) -> tuple[int, str]:
    """`gendermark translate` of a sentence: its exit code, and all that it prints."""
    (tmp_path / "sources.txt").write_text("Sentence 1.\n")
    arguments = ["translate", str(tmp_path / "sources.txt"), "--system", family.spec(url), "--to", "es"]
    arguments += [f"--system-option={name}={value}" for name, value in family.own(url).items()]
    code = _exit_code(arguments)
    return code, "".join(capsys.readouterr())


@with_a_key
@pytest.mark.parametrize("status", [401, 403])
def test_a_bad_key_is_named_and_not_shown(
    family: Family, server: Server, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.script(*[servers.echoes(status, lambda asked: {"message": f"{echoed(asked)} is not valid"})] * 3)
    code, printed = translate(capsys, family, server.url, tmp_path)
    assert code == 2
    if status == 401 or family.name not in ("aws", "openai"):  # a key may be allowed to translate and nothing else
        assert next(iter(family.variables)) in printed
    assert "Zq9" not in printed


@of(if_=lambda family: family.needs_key)
def test_no_key_at_all(
    family: Family, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in family.variables:
        monkeypatch.delenv(name)
    code, printed = translate(capsys, family, NOWHERE, tmp_path)
    assert code == 2
    assert f"set {next(iter(family.variables))}" in printed


@of("libretranslate", "openai")
def test_a_key_that_only_some_servers_want(family: Family, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    (variable,) = family.variables
    monkeypatch.delenv(variable)
    assert asking.texts(answers(family.open(server.url), requests(1))) == ["el SENTENCE 1."]
    server.script(servers.status(401, {"error": "no key"}))
    assert f"set {variable}" in failure(family.open(server.url))


@every_family
def test_options_that_are_refused(family: Family) -> None:
    refused = {"api_key": KEY, "colour": "blue", "concurrency": "0", "timeout_seconds": "0", "max_retries": "-1"}
    for name, value in {**refused, "requests_per_second": "x"}.items():
        with pytest.raises(UserError, match=name) as caught:
            family.open(NOWHERE, **{name: value})
        assert KEY not in str(caught.value)


ADDRESSES = {
    "https://me:Zq9@example.org": "where others could read it",
    "https://example.org?key=Zq9": "where others could read it",
    f"https://example.org/{KEY}": "where others could read it",
    "http://example.org": "in the clear",
    "https://ser\nver": "URL",
    "https://[::1": "URL",
    "ftp://example.org": "http",
    "https://example.org/?q=Zq9": "without ?",
}


@with_a_key
def test_addresses_that_are_refused(family: Family) -> None:
    for url, words in ADDRESSES.items():
        with pytest.raises(UserError, match=re.escape(words)) as caught:
            family.open(url)
        assert "Zq9" not in str(caught.value)


def test_an_argument_that_is_refused_is_not_repeated() -> None:
    for spec, token in {
        "deepl:Zq9-key:fx": "deepl:free",
        "google:Zq9-key": "google:v2",
        "azure:Zq9-key": "azure:global",
        "aws:Zq9-key": "aws:REGION",
        "openai:http://127.0.0.1:9/v1": "openai:URL#MODEL",
        "libretranslate:127.0.0.1:5000": "http://",
        "apertium:http://": "http://",
    }.items():
        with pytest.raises(UserError, match=re.escape(token)) as caught:
            open_system(spec)
        assert "Zq9" not in str(caught.value)


# -- directions


@by_language
def test_languages_are_asked_for_once(family: Family, server: Server) -> None:
    with closing(family.open(server.url)) as system:
        for to in ("es", "pt", "es"):
            system.check("en", to, [])
        assert len(server.asked) == (2 if family.name == "deepl" else 1)
        if family.name == "google":  # which knows it by an older name, iw
            system.check("en", "he", [])
        with pytest.raises(UserError, match=r"from (en|eng|EN) into (fr|fra|FR); it offers: .*(es|spa|ES)"):
            system.check("en", "fr", [])
        with pytest.raises(UserError, match=r"from (tr|tur|TR); it offers: .*(en|EN)"):
            system.check("tr", "es", [])


@of("libretranslate")
def test_lists_of_languages(family: Family, server: Server) -> None:
    server.script(servers.sends([{"code": "en"}, {"code": "fr"}]))  # older servers translate between all
    check(family.open(server.url), "fr")
    for targets in ([1, None], 7, "fr"):
        server.script(servers.sends([{"code": "en", "targets": targets}]))
        with pytest.raises(SystemFailure):
            check(family.open(server.url), "fr")


@of("aws")
def test_a_key_of_aws_may_be_allowed_to_translate_only(family: Family, server: Server) -> None:
    server.script(servers.status(400, {"__type": "AccessDeniedException", "Message": "not ListLanguages"}))
    check(family.open(server.url), "fr")
    server.script(servers.status(400, {"__type": "ExpiredTokenException", "Message": "old"}))
    with pytest.raises(SystemFailure, match=r"old.*AWS_ACCESS_KEY_ID"):
        check(family.open(server.url), "fr")


@of("deepl")
def test_formality_and_forms_of_deepl(family: Family, server: Server) -> None:
    check(family.open(server.url, formality="more"), "es")
    check(family.open(server.url, formality="prefer_more"), "pt")
    for to, options, token in (
        ("pt", {"formality": "more"}, "PT-BR.*prefer_more"),
        ("es", {"target_code": "pt-PT"}, "PT-PT"),
        ("es", {"formality": "rude"}, "rude"),
    ):
        with pytest.raises(UserError, match=token):
            check(family.open(server.url, **options), to)


@of("deepl")
def test_the_plans_of_deepl(family: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, plan, other, host in (
        (KEY, "pro", "free", "https://api.deepl.com"),
        (f"{KEY}:fx", "free", "pro", "https://api-free.deepl.com"),
    ):
        monkeypatch.setenv("DEEPL_API_KEY", key)
        with closing(open_system(f"deepl:{plan}")) as system:
            assert system.system_id == f"deepl:{host}"
        with pytest.raises(UserError, match=f"DEEPL_API_KEY.*deepl:{plan}"):
            open_system(f"deepl:{other}")


@of("azure")
def test_the_region_of_azure(family: Family, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(open_system("azure:global")) as everywhere:
        assert everywhere.system_id == "azure:https://api.cognitive.microsofttranslator.com"
    monkeypatch.delenv("AZURE_TRANSLATOR_REGION")
    answers(family.open(server.url), requests(1))
    assert "ocp-apim-subscription-region" not in server.asked[0].headers
    monkeypatch.setenv("AZURE_TRANSLATOR_REGION", "west europe\r\n")
    with pytest.raises(UserError, match="AZURE_TRANSLATOR_REGION"):
        family.open(server.url)


# -- what each sends

ONE_AND_TWO = ["Sentence 1.", "Sentence 2."]
TEXT = {"q": ONE_AND_TWO, "source": "en", "target": "es", "format": "text"}
AZURE = {"ocp-apim-subscription-key": KEY, "ocp-apim-subscription-region": "westeurope"}


def deepl(target: str, **more: str) -> dict[str, Any]:
    return {"text": ONE_AND_TWO, "source_lang": "EN", "target_lang": target, **more}


WIRE = [
    # (family, options, target, headers, body)
    ("libretranslate", {}, "es", {}, {**TEXT, "api_key": KEY}),
    ("deepl", {}, "es", {"authorization": f"DeepL-Auth-Key {KEY}"}, deepl("ES")),
    ("deepl", {}, "en", {}, deepl("EN-US")),
    ("deepl", {}, "pt", {}, deepl("PT-BR")),
    ("deepl", {"target_code": "pt-PT"}, "pt", {}, deepl("PT-PT")),
    ("deepl", {"formality": "less"}, "de", {}, deepl("DE", formality="less")),
    ("google", {"model": "nmt"}, "es", {"x-goog-api-key": KEY}, {**TEXT, "model": "nmt"}),
    ("azure", {"category": "mine"}, "es", AZURE, [{"Text": text} for text in ONE_AND_TWO]),
]


@pytest.mark.parametrize(
    ("family", "options", "to", "headers", "body"),
    [pytest.param(FAMILIES[name], *rest, id=f"{name} {rest[:2]}") for name, *rest in WIRE],
)
def test_on_the_wire(
    family: Family, server: Server, options: dict[str, str], to: str, headers: dict[str, str], body: Any
) -> None:
    answers(family.open(server.url, **options), requests(2, to))
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", family.path)
    assert {**asked.headers, **headers} == asked.headers
    assert asked.json == body
    query = {"api-version": "3.0", "from": "en", "to": "es", "textType": "plain", "category": "mine"}
    assert asked.query == (query if family.name == "azure" else {})


@of("apertium")
def test_apertium_on_the_wire(family: Family, server: Server) -> None:
    answers(family.open(server.url), asking.requests(["She said: «a & b»"]))
    form = {"langpair": "eng|spa", "q": "She said: «a & b»", "format": "txt", "markUnknown": "no"}
    assert server.asked[0].form == form


@of("aws")
def test_aws_on_the_wire(family: Family, server: Server) -> None:
    server.script(servers.status(500))
    answers(family.open(server.url, formality="formal"), requests(1))
    for asked in server.asked:  # every attempt is signed
        languages = {"SourceLanguageCode": "en", "TargetLanguageCode": "es"}
        assert asked.json == {"Text": "Sentence 1.", **languages, "Settings": {"Formality": "FORMAL"}}
        names = ("content-type", "host", "x-amz-date", "x-amz-security-token", "x-amz-target")
        signed = {name: asked.headers[name] for name in names}
        target = "AWSShineFrontendService_20170701.TranslateText"
        assert [*signed.values()][3:] == [TOKEN, target]
        assert signed["content-type"] == "application/x-amz-json-1.1"
        assert asked.headers["authorization"] == authorization(
            "POST", f"{server.url}/", signed, asked.body, ("AKIDEXAMPLE", KEY, "eu-west-1")
        )


def test_signatures_are_those_that_amazon_publishes() -> None:
    """In the Signature Version 4 test suite."""
    signer = ("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "us-east-1")
    headers = {"Host": "example.amazonaws.com", "X-Amz-Date": "20150830T123600Z"}
    for method, signature in (
        ("GET", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("POST", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    ):
        found = authorization(method, "https://example.amazonaws.com/", headers, b"", signer, "service")
        scope = "AKIDEXAMPLE/20150830/us-east-1/service/aws4_request"
        assert found == (f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host;x-amz-date, Signature={signature}")


# -- whole runs

SOURCES = [item.source for item in tiny.BENCHMARK.load(tiny.Settings("tiny", "en", "xx", "core")).items]


def run_arguments(family: Family, server: Server, tmp_path: Path, **options: str) -> list[str]:
    arguments = [
        "run",
        "--system",
        family.spec(server.url),
        "--to",
        "xx",
        "--data",
        "core",
        "--benchmark",
        "tiny",
        "--accept-unsound",  # the servers answer with their sources
    ]
    arguments += [f"--system-option={name}={value}" for name, value in family.own(server.url, **options).items()]
    return [*arguments, "--resamples", "100", "--store", str(tmp_path / "store"), "-o", str(tmp_path / "run")]


def translated(family: Family, server: Server) -> list[str]:
    """Every sentence that the server was asked to translate."""
    return [text for asked in server.asked if family.is_question(asked) for text in family.texts(asked)]


def accuracy(tmp_path: Path) -> float:
    result = json.loads((tmp_path / "run" / "tiny.en-xx" / "result.json").read_text())
    rows = result["estimates"]
    return next(row["value"] for row in rows if (row["metric"], row["slice"]) == ("accuracy", "all"))


@every_family
def test_a_run_goes_on_where_it_stopped_and_leaves_no_key_behind(
    family: Family,
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The server dies after some answers, then repeats the key in an error, then works."""
    caplog.set_level("DEBUG")
    with closing(family.open(server.url)) as system:
        monkeypatch.setattr(type(system), "n_texts", min(10, family.n_texts), raising=False)
    n_good = 30 // min(10, family.n_texts)
    n_kept = n_good * min(10, family.n_texts)
    n_asked = 0

    def dying(running: Server, handler: Any, asked: Asked) -> None:
        nonlocal n_asked
        n_asked += family.is_question(asked)
        (servers.good if n_asked <= n_good else servers.hang_up)(running, handler, asked)

    def telling(running: Server, handler: Any, asked: Asked) -> None:
        is_question = family.is_question(asked)
        (servers.status(401, {"message": echoed(asked)}) if is_question else servers.good)(running, handler, asked)

    arguments = run_arguments(family, server, tmp_path, concurrency="1", max_retries="1")
    server.script(*[dying] * 100)
    assert _exit_code(arguments) == 2
    finished = translated(family, server)[:n_kept]
    server.steps.clear()
    server.script(*[telling] * 5)
    assert _exit_code(arguments) == 2
    server.steps.clear()
    server.asked.clear()
    assert _exit_code(arguments) == 0
    assert Counter(translated(family, server)) + Counter(finished) == Counter(SOURCES)  # each exactly once
    assert accuracy(tmp_path) == 100
    printed = "".join(capsys.readouterr()) + caplog.text
    written = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert sum(b"WORKER" in content for content in written.values()) >= 2  # the run folder and the store
    for secret in {*family.variables.values()} - {"westeurope"}:
        assert secret not in printed
        assert [path for path, content in written.items() if secret.encode() in content] == []


def echoed(asked: Asked) -> str:
    """What a request has of its secrets, as a careless server would repeat it."""
    shown = [value for value in asked.headers.values() if "Zq9" in value or "AKID" in value]
    return " ".join([*shown, *re.findall('Zq9[^"]*', asked.body.decode())])
