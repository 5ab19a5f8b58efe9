"""The service families: what each says on the wire, and that all meet trouble in the same way."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gendermark import registry
from gendermark.benchmarks.benchmark import ItemSet
from gendermark.cli.app import _exit_code
from gendermark.errors import SystemFailure, UserError
from gendermark.metrics.metric import Resampling
from gendermark.records import Request, Task, Translation
from gendermark.result import Result
from gendermark.runs.run import RunConfig, RunContext, run
from gendermark.selection import Selection
from gendermark.systems import aws, http
from gendermark.systems.system import System, open_system
from runs import children, tiny
from systems import servers
from systems.servers import Asked, Server

KEY = "Zq9-a1b2c3d4/e5f6+g7h8"
"""A key as no text has it by chance."""
TOKEN = "Zq9-session-token-0123456789"


@dataclass(frozen=True)
class Family:
    """How to open a system of a family at a server of ours, and how that server speaks."""

    name: str
    argument: str
    """With {url} in it."""
    path: str
    """Where it asks for translations."""
    texts: Callable[[Asked], list[str]]
    """What a request asks to translate."""
    answer: Callable[[list[str]], Any]
    """The answer with these translations."""
    variables: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    """With {url} in them."""
    languages: Callable[[Asked], Any] | None = None
    """What is answered to everything else."""

    def open(self, url: str, **options: str) -> System:
        own = {name: value.format(url=url) for name, value in self.options.items()}
        return open_system(f"{self.name}:{self.argument.format(url=url)}", {**own, **options})

    def good(self, asked: Asked) -> Any:
        if not is_question(self, asked):
            assert self.languages is not None
            return self.languages(asked)
        return self.answer([translation(text) for text in self.texts(asked)])


def is_question(family: Family, asked: Asked) -> bool:
    """Whether a request asks for translations, and not for languages."""
    return asked.path == family.path and not asked.headers.get("x-amz-target", "").endswith("ListLanguages")


def translation(text: str) -> str:
    """Right in the eyes of the tiny benchmark."""
    return f"{'ella' if ' her ' in text else 'el'} {text.upper()}"


CODES = ("en", "es", "pt", "xx")
FAMILIES = {
    family.name: family
    for family in (
        Family(
            "apertium",
            "{url}",
            "/translate",
            lambda asked: [asked.form["q"]],
            lambda texts: {"responseData": {"translatedText": texts[0]}, "responseDetails": None},
            languages=lambda _: {
                "responseData": [{"sourceLanguage": "eng", "targetLanguage": target} for target in ("spa", "por", "xx")]
            },
        ),
        Family(
            "aws",
            "eu-west-1",
            "/",
            lambda asked: [asked.json["Text"]],
            lambda texts: {"TranslatedText": texts[0], "SourceLanguageCode": "en", "TargetLanguageCode": "es"},
            {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": KEY, "AWS_SESSION_TOKEN": TOKEN},
            {"url": "{url}"},
            lambda _: {"Languages": [{"LanguageCode": code, "LanguageName": code} for code in CODES]},
        ),
        Family(
            "azure",
            "{url}",
            "/translate",
            lambda asked: [row["Text"] for row in asked.json],
            lambda texts: [{"translations": [{"text": text, "to": "es"}]} for text in texts],
            {"AZURE_TRANSLATOR_KEY": KEY, "AZURE_TRANSLATOR_REGION": "westeurope"},
            languages=lambda _: {"translation": {code: {"name": code} for code in CODES}},
        ),
        Family(
            "deepl",
            "{url}",
            "/v2/translate",
            lambda asked: asked.json["text"],
            lambda texts: {"translations": [{"detected_source_language": "EN", "text": text} for text in texts]},
            {"DEEPL_API_KEY": KEY},
            languages=lambda asked: [
                {"language": code, "name": code, "supports_formality": code == "ES"}
                for code in (
                    ("EN", "PT") if asked.query["type"] == "source" else ("ES", "EN-US", "PT-BR", "PT-PT", "XX")
                )
            ],
        ),
        Family(
            "google",
            "v2",
            "/language/translate/v2",
            lambda asked: asked.json["q"],
            lambda texts: {"data": {"translations": [{"translatedText": text} for text in texts]}},
            {"GOOGLE_API_KEY": KEY},
            {"url": "{url}"},
            lambda _: {"data": {"languages": [{"language": code} for code in (*CODES, "iw")]}},
        ),
        Family(
            "libretranslate",
            "{url}",
            "/translate",
            lambda asked: asked.json["q"],
            lambda texts: {"translatedText": texts},
            {"LIBRETRANSLATE_API_KEY": KEY},
            languages=lambda _: [
                {"code": "en", "name": "English", "targets": ["es", "pt", "xx"]},
                {"code": "es", "name": "Spanish", "targets": ["en"]},
            ],
        ),
    )
}
N_TEXTS = {"apertium": 1, "aws": 1, "azure": 100, "deepl": 50, "google": 128, "libretranslate": 32}
"""In one request, at most."""
VARIABLES = {name for family in FAMILIES.values() for name in family.variables}
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))
in_batches = pytest.mark.parametrize(
    "family", [family for family in FAMILIES.values() if N_TEXTS[family.name] > 1], ids=lambda family: family.name
)
with_a_key = pytest.mark.parametrize(
    "family", [family for family in FAMILIES.values() if family.variables], ids=lambda family: family.name
)


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    return servers.without_waiting(monkeypatch)


@pytest.fixture(autouse=True)
def _variables(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Each family has its own keys and no others."""
    family = request.node.callspec.params.get("family") if hasattr(request.node, "callspec") else None
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in (family.variables if isinstance(family, Family) else {}).items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def server(family: Family) -> Iterator[Server]:
    with servers.serving(family.good) as running:
        yield running


def requests(n: int, to: str = "es") -> list[Request]:
    return [Request(f"Sentence {number}.", "en", to) for number in range(1, n + 1)]


def answers(system: System, asked: Sequence[Request]) -> list[Translation]:
    try:
        return [answer for portion in system.answer(asked) for answer in portion]
    finally:
        system.close()


def failure(system: System, asked: Sequence[Request] | None = None) -> str:
    with pytest.raises(UserError) as caught:
        answers(system, asked or requests(1))
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert "Zq9" not in sentence
    return sentence


def prepared(system: System, to: str = "es", from_: str = "en") -> None:
    try:
        system.prepare(tiny.BENCHMARK, ItemSet(Selection("tiny", from_, to), (), "tiny"), [])
    finally:
        system.close()


# -- what all have in common


@every_family
def test_a_family_says_what_it_can_do(family: Family) -> None:
    assert registry.sibling("system", family.name, "TASKS", None) == {Task.TRANSLATE}
    system = family.open("http://127.0.0.1:9")
    assert system.tasks == {Task.TRANSLATE}
    assert system.is_stored
    system.close()


@every_family
def test_every_sentence_gets_its_translation(family: Family, server: Server) -> None:
    sources = [
        f"Sentence {number}: the nurse's “test” & <b>7 < 8</b>\nfor her € 5."
        for number in range(300 if N_TEXTS[family.name] > 1 else 20)
    ]
    asked = [Request(source, "en", "es") for source in sources]
    system = family.open(server.url)
    found = {answer.request_id: answer.text for answer in answers(system, asked)}
    assert found == {request.request_id: translation(request.source) for request in asked}
    # Each source went out once, as it is.
    sent = [text for request in server.asked for text in family.texts(request)]
    assert Counter(sent) == Counter(sources)
    assert max(len(family.texts(request)) for request in server.asked) <= N_TEXTS[family.name]
    assert system.notes() == (
        f"{system.spec} was sent {sum(map(len, sources)):,} characters in {len(sources)} sentences",
    )


@every_family
def test_two_directions_are_not_mixed(family: Family, server: Server) -> None:
    asked = [*requests(3), *requests(3, to="pt")]
    found = answers(family.open(server.url), asked)
    assert Counter(answer.request_id for answer in found) == Counter(request.request_id for request in asked)
    assert len(server.asked) == (6 if N_TEXTS[family.name] == 1 else 2)


@every_family
def test_trouble_that_passes(family: Family, server: Server, waits: list[float]) -> None:
    server.script(
        servers.status(429, Retry_After="11"),
        servers.status(500),
        servers.cut,
        servers.hang_up,
        servers.says(b'{"half": '),
    )
    assert [answer.text for answer in answers(family.open(server.url), requests(1))] == ["el SENTENCE 1."]
    assert waits[0] == pytest.approx(11, abs=5)
    assert len(server.asked) == 6


@every_family
def test_a_server_that_is_too_slow(family: Family, server: Server) -> None:
    server.script(servers.stall)
    sentence = failure(family.open(server.url, timeout_seconds="0.2", max_retries="0"))
    assert "gave no complete answer within 0.2 seconds; raise timeout_seconds" in sentence


@every_family
def test_answers_of_another_shape(family: Family, server: Server) -> None:
    for payload in ({}, [], [[]], None, 7, "text", {"error": None}):
        server.script(servers.sends(payload))
        sentence = failure(family.open(server.url))
        assert re.search(r"gave an answer without a usable|gave 0 translations for 1 sentences", sentence), payload
        assert "earlier ones are kept)" in sentence


@in_batches
def test_a_wrong_number_of_translations(family: Family, server: Server) -> None:
    server.script(servers.sends(family.answer(["X"] * 4)))
    assert failure(family.open(server.url), requests(3)).endswith(
        "gave 4 translations for 3 sentences, the first of which is 'Sentence 1.'; one per sentence is expected "
        "(this batch is discarded, earlier ones are kept)"
    )


@in_batches
def test_a_batch_that_is_too_large(family: Family, server: Server) -> None:
    server.script(servers.status(413))
    found = answers(family.open(server.url, concurrency="1"), requests(4))
    assert [answer.text for answer in found] == [f"el SENTENCE {number}." for number in range(1, 5)]
    assert [len(family.texts(request)) for request in server.asked] == [4, 2, 2]


@with_a_key
@pytest.mark.parametrize("code", [401, 403])
def test_a_bad_key_is_named_and_not_shown(family: Family, server: Server, code: int) -> None:
    server.script(servers.echoes(code, lambda asked: {"message": f"{told(asked)} is not valid"}))
    sentence = failure(family.open(server.url))
    assert f"; check the key in {next(iter(family.variables))} " in sentence
    assert "***" in sentence
    assert len(server.asked) == 1


@with_a_key
def test_a_quota_that_is_used_up(family: Family, server: Server) -> None:
    server.script(servers.status(403, {"message": "Quota exceeded for this month"}))
    assert "it said: Quota exceeded for this month; the quota is used up" in failure(family.open(server.url))
    assert len(server.asked) == 1


@every_family
def test_a_redirect_is_not_followed(family: Family, server: Server) -> None:
    with servers.serving(family.good) as elsewhere:
        server.script(servers.status(308, Location=elsewhere.url))
        assert f"redirects are not followed: give {elsewhere.url} itself" in failure(family.open(server.url))
        assert elsewhere.asked == []


@every_family
def test_a_wrong_address(family: Family, server: Server) -> None:
    server.script(servers.says(b"<html>Not here</html>", 404))
    assert f"answered HTTP 404 (Not Found); check the URL {server.url} " in failure(family.open(server.url))


@with_a_key
def test_no_key_at_all(family: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in family.variables:
        monkeypatch.delenv(name)
    if family.name == "libretranslate":  # one's own server needs none
        family.open("http://127.0.0.1:9").close()
        return
    with pytest.raises(UserError) as caught:
        family.open("http://127.0.0.1:9")
    assert str(caught.value) == (
        f"{family.name}: needs a key, and takes it from the environment: set {next(iter(family.variables))}"
    )


@every_family
def test_a_key_as_an_option(family: Family) -> None:
    with pytest.raises(UserError) as caught:
        family.open("http://127.0.0.1:9", api_key=KEY)
    assert str(caught.value).startswith(f"{family.name}: takes no api_key as an option, where others could read it; ")
    assert KEY not in str(caught.value)


@every_family
def test_an_unknown_option(family: Family) -> None:
    with pytest.raises(
        UserError, match=rf"^system family {family.name} has no option 'colour'; available: .*concurrency"
    ):
        family.open("http://127.0.0.1:9", colour="blue")


@with_a_key
@pytest.mark.parametrize("url", ["https://me:Zq9@example.org", "https://example.org?key=Zq9", "http://example.org"])
def test_addresses_that_would_give_the_key_away(family: Family, url: str) -> None:
    with pytest.raises(UserError) as caught:
        family.open(url)
    assert re.search("where others could read it|in the clear", str(caught.value))
    assert "Zq9" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("deepl:Zq9-key:fx", "write deepl:free, deepl:pro or deepl:URL, without the key"),
        ("google:Zq9-key", "write google:v2, without key or project"),
        (
            "azure:Zq9-key",
            "write azure:global or azure:URL; key and region come from AZURE_TRANSLATOR_KEY and "
            "AZURE_TRANSLATOR_REGION",
        ),
        (
            "aws:Zq9-key",
            "write aws:REGION, for example aws:eu-west-1; keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        ),
    ],
)
def test_a_key_in_place_of_the_argument_is_not_repeated(spec: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        open_system(spec)
    assert str(caught.value) == words


# -- directions


@every_family
def test_a_direction_that_there_is(family: Family, server: Server) -> None:
    prepared(family.open(server.url), "es")
    prepared(family.open(server.url), "pt")


@every_family
def test_a_direction_that_there_is_not(family: Family, server: Server) -> None:
    names = {"apertium": ("eng", "fra"), "deepl": ("EN", "FR")}
    source, target = names.get(family.name, ("en", "fr"))
    with pytest.raises(UserError) as caught:
        prepared(family.open(server.url), "fr")
    said = str(caught.value)
    assert f" does not translate from {source} into {target}; it offers: " in said
    assert said.count("xx") + said.count("XX") == 1
    with pytest.raises(UserError, match=r" does not translate from (tur|TR|tr); it offers: .*(en|EN)"):
        prepared(family.open(server.url), "es", "tr")


@every_family
def test_languages_are_asked_for_once(family: Family, server: Server) -> None:
    system = family.open(server.url)
    for _ in range(3):
        system.prepare(tiny.BENCHMARK, ItemSet(Selection("tiny", "en", "es"), (), "tiny"), [])
    assert len(server.asked) == (2 if family.name == "deepl" else 1)
    system.close()


@every_family
def test_nobody_at_that_address_is_found_out_before_any_work(family: Family, waits: list[float]) -> None:
    with servers.serving(family.good) as gone:
        pass
    with pytest.raises(SystemFailure, match=rf"^{family.name}:.* cannot be reached at {gone.url} \(.*refused"):
        prepared(family.open(gone.url))
    assert waits == []


# -- what each says on the wire


def only(server: Server) -> Asked:
    (asked,) = server.asked
    return asked


def one(name: str) -> Any:
    return pytest.mark.parametrize("family", [FAMILIES[name]], ids=[name])


@one("libretranslate")
def test_libretranslate_on_the_wire(family: Family, server: Server) -> None:
    answers(family.open(f"{server.url}/"), requests(2))
    asked = only(server)
    assert (asked.method, asked.path) == ("POST", "/translate")
    assert asked.json == {
        "q": ["Sentence 1.", "Sentence 2."],
        "source": "en",
        "target": "es",
        "format": "text",
        "api_key": KEY,
    }


@one("libretranslate")
def test_libretranslate_without_a_key(family: Family, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIBRETRANSLATE_API_KEY")
    answers(family.open(server.url), requests(1))
    assert "api_key" not in only(server).json
    server.script(servers.status(403, {"error": "Please contact the server operator to get an API key"}))
    assert failure(family.open(server.url)).endswith(
        "it said: Please contact the server operator to get an API key; it wants a key: set LIBRETRANSLATE_API_KEY "
        + http.KEPT
    )


@one("libretranslate")
def test_the_limits_of_libretranslate(family: Family, server: Server) -> None:
    server.script(servers.status(400, {"error": "Invalid request: request (64) exceeds text limit (40)"}))
    found = answers(family.open(server.url, concurrency="1"), requests(4))
    assert [answer.text for answer in found] == [f"el SENTENCE {number}." for number in range(1, 5)]
    server.script(servers.status(400, {"error": "Invalid request: request (64) exceeds text limit (40)"}))
    (found_one,) = answers(family.open(server.url), requests(1))
    assert found_one.error == "too long: Invalid request: request (64) exceeds text limit (40)"
    server.script(servers.status(400, {"error": "qq is not supported"}))
    assert "it said: qq is not supported; check languages and options" in failure(family.open(server.url))


@one("libretranslate")
def test_an_old_libretranslate_translates_between_all(family: Family, server: Server) -> None:
    server.script(servers.sends([{"code": "en"}, {"code": "fr"}]))
    prepared(family.open(server.url), "fr")


@one("libretranslate")
@pytest.mark.parametrize("targets", [None, 7, "fr", [1, "de", None]])
def test_targets_of_another_kind(family: Family, server: Server, targets: Any) -> None:
    server.script(servers.sends([{"code": "en", "targets": targets}]))
    with pytest.raises(SystemFailure, match="gave an answer without a usable answer: "):
        prepared(family.open(server.url), "fr")


@one("apertium")
def test_apertium_on_the_wire(family: Family, server: Server) -> None:
    answers(family.open(server.url), [Request("She said: «a & b»", "en", "es")])
    asked = only(server)
    assert (asked.method, asked.path) == ("POST", "/translate")
    assert asked.form == {"langpair": "eng|spa", "q": "She said: «a & b»", "format": "txt", "markUnknown": "no"}


@one("apertium")
def test_apertium_several_at_once(family: Family, server: Server) -> None:
    answers(family.open(server.url, concurrency="2"), requests(20))
    assert server.most_at_once <= 2
    assert len(server.asked) == 20


@one("deepl")
def test_deepl_on_the_wire(family: Family, server: Server) -> None:
    answers(family.open(server.url), requests(2))
    asked = only(server)
    assert (asked.method, asked.path) == ("POST", "/v2/translate")
    assert asked.headers["authorization"] == f"DeepL-Auth-Key {KEY}"
    assert asked.json == {"text": ["Sentence 1.", "Sentence 2."], "source_lang": "EN", "target_lang": "ES"}


@one("deepl")
@pytest.mark.parametrize(
    ("to", "options", "code"),
    [
        ("en", {}, "EN-US"),
        ("pt", {}, "PT-BR"),
        ("pt", {"target_code": "pt-PT"}, "PT-PT"),
        ("en", {"target_code": "EN-GB"}, "EN-GB"),
        ("de", {}, "DE"),
    ],
)
def test_deepl_wants_to_know_which_english(
    family: Family, server: Server, to: str, options: dict[str, str], code: str
) -> None:
    answers(family.open(server.url, **options), [Request("x", "tr", to)])
    assert only(server).json == {"text": ["x"], "source_lang": "TR", "target_lang": code}


@one("deepl")
def test_formality_of_deepl(family: Family, server: Server) -> None:
    answers(family.open(server.url, formality="less"), requests(1))
    assert only(server).json["formality"] == "less"
    prepared(family.open(server.url, formality="more"), "es")
    with pytest.raises(UserError) as caught:
        prepared(family.open(server.url, formality="more"), "pt")
    assert str(caught.value) == (
        f"deepl:{server.url} has no formality for PT-BR; leave it out, or use formality=prefer_more"
    )
    prepared(family.open(server.url, formality="prefer_more"), "pt")
    with pytest.raises(UserError, match=r"^option formality is one of default, more, less, .*, not 'rude'$"):
        family.open(server.url, formality="rude")
    with pytest.raises(UserError, match=r"^option target_code is PT-PT, which is no form of es; run es without it$"):
        prepared(family.open(server.url, target_code="pt-PT"), "es")


@one("deepl")
def test_the_plans_of_deepl(family: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    pro = open_system("deepl:pro")
    assert pro.system_id == "deepl:https://api.deepl.com"
    pro.close()
    with pytest.raises(UserError) as caught:
        open_system("deepl:free")
    assert str(caught.value) == (
        "the key in DEEPL_API_KEY is one of a paid plan, which deepl:free does not take; use deepl:pro"
    )
    monkeypatch.setenv("DEEPL_API_KEY", f"{KEY}:fx")
    free = open_system("deepl:free")
    assert free.system_id == "deepl:https://api-free.deepl.com"
    free.close()
    with pytest.raises(UserError, match=r"is one of the free plan, which deepl:pro does not take; use deepl:free$"):
        open_system("deepl:pro")


@one("deepl")
def test_the_quota_of_deepl(family: Family, server: Server) -> None:
    server.script(servers.status(456, {"message": "Quota for this billing period has been exceeded."}))
    assert "the quota is used up: raise it, or wait until it is renewed" in failure(family.open(server.url))


@one("google")
def test_google_on_the_wire(family: Family, server: Server) -> None:
    answers(family.open(server.url, model="nmt"), requests(2))
    asked = only(server)
    assert (asked.method, asked.path, asked.query) == ("POST", "/language/translate/v2", {})
    assert asked.headers["x-goog-api-key"] == KEY
    assert asked.json == {
        "q": ["Sentence 1.", "Sentence 2."],
        "source": "en",
        "target": "es",
        "format": "text",
        "model": "nmt",
    }


@one("google")
def test_google_knows_hebrew_by_another_name(family: Family, server: Server) -> None:
    prepared(family.open(server.url), "he")


def google_error(code: int, message: str, reason: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "errors": [{"message": message, "reason": reason}]}}


@one("google")
def test_what_google_means_by_403_and_400(family: Family, server: Server, waits: list[float]) -> None:
    server.script(servers.status(403, google_error(403, "User Rate Limit Exceeded", "userRateLimitExceeded")))
    assert answers(family.open(server.url), requests(1))[0].text == "el SENTENCE 1."
    assert len(waits) == 1
    server.script(servers.status(403, google_error(403, "Daily Limit Exceeded", "dailyLimitExceeded")))
    assert "the quota is used up" in failure(family.open(server.url))
    invalid = {"error": {"message": "API key not valid.", "details": [{"reason": "API_KEY_INVALID"}]}}
    server.script(servers.status(400, invalid))
    assert "it said: API key not valid.; check the key in GOOGLE_API_KEY" in failure(family.open(server.url))
    server.script(servers.status(400, google_error(400, "Text too long", "invalid")))
    assert len(answers(family.open(server.url), requests(2))) == 2


@one("azure")
def test_azure_on_the_wire(family: Family, server: Server) -> None:
    answers(family.open(server.url, category="mine"), requests(2))
    asked = only(server)
    assert (asked.method, asked.path) == ("POST", "/translate")
    assert asked.query == {"api-version": "3.0", "from": "en", "to": "es", "textType": "plain", "category": "mine"}
    assert asked.headers["ocp-apim-subscription-key"] == KEY
    assert asked.headers["ocp-apim-subscription-region"] == "westeurope"
    assert asked.json == [{"Text": "Sentence 1."}, {"Text": "Sentence 2."}]


@one("azure")
def test_azure_may_be_too_large_too(family: Family, server: Server) -> None:
    server.script(servers.status(400, {"error": {"code": 400077, "message": "The maximum request size is exceeded"}}))
    assert len(answers(family.open(server.url), requests(2))) == 2


@one("azure")
def test_the_region_of_azure(family: Family, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_TRANSLATOR_REGION")
    answers(family.open(server.url), requests(1))
    assert "ocp-apim-subscription-region" not in only(server).headers
    everywhere = open_system("azure:global")
    assert everywhere.system_id == "azure:https://api.cognitive.microsofttranslator.com"
    everywhere.close()
    monkeypatch.setenv("AZURE_TRANSLATOR_REGION", "west europe\r\n")
    with pytest.raises(
        UserError, match=r"^AZURE_TRANSLATOR_REGION must be the name of a region, for example westeurope"
    ):
        family.open(server.url)


@one("aws")
def test_aws_on_the_wire(family: Family, server: Server) -> None:
    answers(family.open(server.url, formality="formal"), requests(1))
    asked = only(server)
    assert (asked.method, asked.path) == ("POST", "/")
    assert asked.json == {
        "Text": "Sentence 1.",
        "SourceLanguageCode": "en",
        "TargetLanguageCode": "es",
        "Settings": {"Formality": "FORMAL"},
    }
    assert asked.headers["x-amz-target"] == "AWSShineFrontendService_20170701.TranslateText"
    assert asked.headers["content-type"] == "application/x-amz-json-1.1"
    assert asked.headers["x-amz-security-token"] == TOKEN
    names = ("content-type", "host", "x-amz-date", "x-amz-security-token", "x-amz-target")
    signed = {name: asked.headers[name] for name in names}
    assert asked.headers["authorization"] == aws.authorization(
        "POST", f"{server.url}/", signed, asked.body, aws.Signer("AKIDEXAMPLE", KEY, "eu-west-1")
    )


@one("aws")
def test_aws_signs_every_attempt(family: Family, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    signed: list[str] = []
    real = aws.authorization
    monkeypatch.setattr(aws, "authorization", lambda *arguments: signed.append(real(*arguments)) or signed[-1])
    server.script(servers.status(500), servers.hang_up)
    answers(family.open(server.url), requests(1))
    assert len(signed) == 3


@one("aws")
def test_what_aws_means_by_400(family: Family, server: Server, waits: list[float]) -> None:
    def error(kind: str) -> servers.Step:
        return servers.status(400, {"__type": f"com.amazonaws.translate#{kind}", "Message": "words"})

    server.script(error("ThrottlingException"))
    assert answers(family.open(server.url), requests(1))[0].text == "el SENTENCE 1."
    assert len(waits) == 1
    server.script(error("UnrecognizedClientException"))
    assert "it said: words; check the key in AWS_ACCESS_KEY_ID" in failure(family.open(server.url))
    server.script(error("TextSizeLimitExceededException"))
    assert answers(family.open(server.url), requests(1))[0].error == "too long: words"
    server.script(error("UnsupportedLanguagePairException"))
    assert "it said: words; check languages and options" in failure(family.open(server.url))


@one("aws")
def test_a_key_that_may_only_translate(family: Family, server: Server) -> None:
    server.script(servers.status(400, {"__type": "AccessDeniedException", "Message": "not ListLanguages"}))
    prepared(family.open(server.url), "fr")
    server.script(servers.status(400, {"__type": "ExpiredTokenException", "Message": "old"}))
    with pytest.raises(SystemFailure, match="it said: old; check the key in AWS_ACCESS_KEY_ID"):
        prepared(family.open(server.url), "fr")


@one("aws")
def test_formality_of_aws(family: Family) -> None:
    with pytest.raises(UserError, match=r"^option formality is one of formal, informal, not 'rude'$"):
        family.open("http://127.0.0.1:9", formality="rude")


# Published by Amazon: the example in "Create a signed request", and two of its Signature Version 4 test suite.
@pytest.mark.parametrize(
    ("method", "url", "headers", "service", "signature"),
    [
        (
            "GET",
            "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
            {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8", "Host": "iam.amazonaws.com"},
            "iam",
            "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
        ),
        (
            "GET",
            "https://example.amazonaws.com/",
            {"Host": "example.amazonaws.com"},
            "service",
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
        ),
        (
            "POST",
            "https://example.amazonaws.com/",
            {"Host": "example.amazonaws.com"},
            "service",
            "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
        ),
    ],
)
def test_signatures_are_those_that_amazon_publishes(
    method: str, url: str, headers: dict[str, str], service: str, signature: str
) -> None:
    secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
    dated = {**headers, "X-Amz-Date": "20150830T123600Z"}
    found = aws.authorization(method, url, dated, b"", aws.Signer("AKIDEXAMPLE", secret, "us-east-1", service))
    names = ";".join(sorted(name.lower() for name in dated))
    assert found == (
        f"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/{service}/aws4_request, "
        f"SignedHeaders={names}, Signature={signature}"
    )


# -- which system it is


@every_family
def test_a_system_is_its_address_and_what_changes_its_answers(family: Family) -> None:
    def system_id(url: str = "http://127.0.0.1:9", **options: str) -> str:
        system = family.open(url, **options)
        system.close()
        return system.system_id

    before = system_id()
    assert before.startswith(f"{family.name}:http://127.0.0.1:9")
    asking = {"timeout_seconds": "7", "max_retries": "1", "concurrency": "2", "requests_per_second": "3"}
    assert system_id(**asking) == before  # how it is asked, not what it says
    assert system_id("http://127.0.0.1:9/") == before
    assert system_id("http://127.0.0.1:10") != before
    changing = {
        "aws": {"formality": "formal"},
        "azure": {"category": "mine"},
        "deepl": {"formality": "less"},
        "google": {"model": "nmt"},
    }
    if options := changing.get(family.name):
        assert system_id(**options) not in ("", before)


# -- whole runs


@pytest.fixture
def _tiny_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.BUILT_IN["benchmark"], "tiny", "runs.tiny:BENCHMARK")


SELECTION = Selection("tiny", "en", "xx", "core", cluster="occupation")
SOURCES = [item.source for item in tiny.BENCHMARK.load(SELECTION).items]


def config(family: Family, server: Server, **options: str) -> RunConfig:
    own = {name: value.format(url=server.url) for name, value in family.options.items()}
    spec = f"{family.name}:{family.argument.format(url=server.url)}"
    return RunConfig(spec, (SELECTION,), {**own, **options}, Resampling(n_resamples=100))


def translated(family: Family, server: Server) -> list[str]:
    """Every sentence that the server was asked to translate."""
    return [text for asked in server.asked if is_question(family, asked) for text in family.texts(asked)]


@every_family
@pytest.mark.usefixtures("_tiny_is_registered")
def test_a_server_that_dies_in_the_middle(
    family: Family, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = family.open(server.url)
    system.close()
    monkeypatch.setattr(type(system), "n_texts", min(10, N_TEXTS[family.name]))  # so that all have several portions
    n_good = 30 // type(system).n_texts
    n_asked = 0

    def dying(running: Server, handler: Any, asked: Asked) -> None:
        nonlocal n_asked
        n_asked += is_question(family, asked)
        (servers.good if n_asked <= n_good else servers.hang_up)(running, handler, asked)

    server.script(*[dying] * 200)
    context = RunContext(tmp_path / "store")
    arguments = (config(family, server, concurrency="1", max_retries="1"), tmp_path / "run", context)
    with pytest.raises(
        SystemFailure, match=r"broke off the connection .* \(attempt 2, the last\) .*finished translations are kept"
    ):
        run(*arguments)
    finished = translated(family, server)[:30]
    server.steps.clear()
    server.asked.clear()
    (result,) = run(*arguments)
    assert Counter(translated(family, server)) + Counter(finished) == Counter(SOURCES)  # each exactly once
    assert accuracy(result) == 100
    server.asked.clear()
    run(*arguments)
    assert translated(family, server) == []


def accuracy(result: Result) -> float | None:
    return next(found.value for found in result.estimates if (found.metric, found.slice) == ("accuracy", "all"))


@with_a_key
@pytest.mark.usefixtures("_tiny_is_registered")
def test_no_byte_of_a_key_is_left_behind(
    family: Family,
    server: Server,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Not in the folder, the store, the log or on the terminal, of a run that first fails by a server's echo."""
    caplog.set_level("DEBUG")
    started = config(family, server)
    arguments = ["run", "--system", started.system, "--to", "xx", "--data", "core", "--benchmark", "tiny"]
    arguments += [f"--system-option={name}={value}" for name, value in started.system_options.items()]
    arguments += ["--resamples", "100", "--store", str(tmp_path / "store.sqlite"), "-o", str(tmp_path / "run")]

    def tell(running: Server, handler: Any, asked: Asked) -> None:
        if not is_question(family, asked):
            return servers.good(running, handler, asked)
        return servers.status(401, {"message": told(asked)})(running, handler, asked)

    server.script(*[tell] * 12)
    assert _exit_code(arguments) == 2
    errors = capsys.readouterr().err
    assert "***" in errors
    server.steps.clear()
    assert _exit_code(arguments) == 0
    said = errors + "".join(capsys.readouterr()) + caplog.text
    written = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert any(path.suffix == ".jsonl" and b"WORKER" in content for path, content in written.items())
    assert any(path.name.startswith("store.sqlite") and b"WORKER" in content for path, content in written.items())
    for secret in {*family.variables.values()} - {"westeurope"}:
        assert secret not in said
        assert [path for path, content in written.items() if secret.encode() in content] == []


def told(asked: Asked) -> str:
    """What a request has of its secrets, as a careless server would repeat it."""
    shown = [value for value in asked.headers.values() if "Zq9" in value or "AKID" in value]
    return " ".join([*shown, *re.findall('Zq9[^"]*', asked.body.decode())])


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
@one("libretranslate")
@pytest.mark.usefixtures("_tiny_is_registered")
def test_killed_in_the_middle(family: Family, server: Server, tmp_path: Path) -> None:
    variables = {**children.environment(tmp_path / "site"), **family.variables}
    arguments = ["run", "--system", f"libretranslate:{server.url}", "--system-option=concurrency=1"]
    arguments += ["--to", "xx", "--data", "core", "--benchmark", "tiny", "--resamples", "100"]
    arguments += ["--store", str(tmp_path / "store.sqlite"), "-o", str(tmp_path / "run")]
    # Its languages and one portion are answered; the next never is.
    server.script(servers.good, servers.good, servers.stall)
    process = children.start(arguments, variables)
    children.wait_until(lambda: len(server.asked) == 3, "it was at work")
    children.wait_until(lambda: children.n_stored(tmp_path / "store.sqlite") > 0, "the first portion was safe")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    first, lost = (family.texts(asked) for asked in server.asked[1:])
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["status"] == "running"
    server.go_on.set()
    server.asked.clear()
    context = RunContext(tmp_path / "store.sqlite")
    (result,) = run(config(family, server, concurrency="1"), tmp_path / "run", context)
    assert Counter(translated(family, server)) + Counter(first) == Counter(SOURCES)
    assert set(lost) <= set(translated(family, server))
    assert accuracy(result) == 100
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["status"] == "finished"
