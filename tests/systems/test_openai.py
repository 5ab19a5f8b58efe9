"""`openai:`: what a model is asked, what its answers become, samples and scores. (`test_services` has the trouble.)"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cases import read_cases
from gendermark.errors import UserError
from gendermark.plugin import Request, Task, Translation
from gendermark.runs.translate import check_tasks
from gendermark.systems import openai
from gendermark.systems.openai import OpenAI
from gendermark.systems.system import open_system
from systems import asking, servers
from systems.servers import Asked, Server

SECRET = "sk-open-0123456789/sesame+"
CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"
NOWHERE = "http://127.0.0.1:1/v1#m"


def said(asked: Asked) -> str:
    """The prompt of a request."""
    return asked.json["messages"][-1]["content"] if "messages" in asked.json else asked.json["prompt"]


def choice(text: Any, index: int = 0, finish: str = "stop", **more: Any) -> dict[str, Any]:
    return {"index": index, "finish_reason": finish, "message": {"role": "assistant", "content": text}, **more}


def answers(*choices: dict[str, Any]) -> dict[str, Any]:
    return {"choices": list(choices), "usage": {"prompt_tokens": 20, "completion_tokens": 5 * len(choices)}}


def model(asked: Asked) -> Any:
    """Shouts what it is asked; a sample shows the seed that it was drawn with."""
    if asked.path == "/v1/models":
        return {"data": [{"id": "tiny"}, {"id": "other"}]}
    body = asked.json
    if asked.path == COMPLETIONS:
        return _completion(body)
    source = said(asked).splitlines()[-1]
    texts = [source.upper() + (f" {body['seed']}-{k}" if "seed" in body else "") for k in range(body.get("n", 1))]
    return answers(*(choice(text, index) for index, text in enumerate(texts)))


def _completion(body: dict[str, Any]) -> dict[str, Any]:
    """A base model that finds every word as improbable as it is long."""
    if not body.get("echo"):
        return {"choices": [{"index": 0, "finish_reason": "stop", "text": " EL"}], "usage": {"completion_tokens": 1}}
    tokens = [f" {word}" for word in body["prompt"].split(" ")]
    numbers = [None, *(-float(len(token)) for token in tokens[1:]), -99.0]
    logprobs = {"tokens": [*tokens, " generated"], "token_logprobs": numbers}
    usage = {"prompt_tokens": len(tokens), "completion_tokens": 1}
    return {"choices": [{"index": 0, "finish_reason": "length", "text": "", "logprobs": logprobs}], "usage": usage}


def ignores_n(asked: Asked) -> Any:
    return model(asked) if asked.path == "/v1/models" else answers(choice(f"ONE. {asked.json['seed']}"))


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return servers.without_waiting(monkeypatch)


@pytest.fixture
def server() -> Iterator[Server]:
    with servers.serving(model) as running_server:
        yield running_server


def opened(server: Server, **options: str) -> OpenAI:
    return OpenAI(f"{server.url}/v1#tiny", options)


def requests(n: int) -> list[Request]:
    return asking.requests(f"Sentence {number}." for number in range(1, n + 1))


def answered(system: OpenAI, asked: list[Request]) -> list[Translation]:
    with closing(system):
        return asking.answers(system, asked)


def one(server: Server, **options: str) -> Translation:
    return answered(opened(server, **options), requests(1))[0]


def failure(system: OpenAI, asked: list[Request]) -> str:
    with pytest.raises(UserError) as caught:
        answered(system, asked)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# -- what goes out

ASK = "Translate the following text from English into Spanish."
TAGS = f"{ASK} Answer with the translation alone, as <translation>...</translation>.\n\nSentence 1."
USER, TERSE = {"role": "user", "content": TAGS}, {"role": "system", "content": "You are terse."}
USUAL = {"model": "tiny", "temperature": 0, "max_tokens": 1024}
NONE = {"temperature": "none", "max_tokens": "none", "seed": "none"}
WIRE = [
    # (options, path, body)
    ({}, CHAT, {**USUAL, "messages": [USER]}),
    ({"endpoint": "completions"}, COMPLETIONS,
     {**USUAL, "prompt": f"{ASK}\nEnglish: Sentence 1.\nSpanish:", "stop": ["\n"]}),
    ({"temperature": "0.5", "max_tokens": "7", "seed": "3", "system": "You are terse.", "extra": '{"low": 1}'}, CHAT,
     {"model": "tiny", "messages": [TERSE, USER], "temperature": 0.5, "max_tokens": 7, "seed": 3, "low": 1}),
    ({"logprobs": "true", "no_think": "true"}, CHAT,
     {**USUAL, "messages": [USER], "logprobs": True, "chat_template_kwargs": {"enable_thinking": False}}),
    ({**NONE, "extra": '{"max_completion_tokens": 9}'}, CHAT,
     {"model": "tiny", "messages": [USER], "max_completion_tokens": 9}),
]  # fmt: skip


@pytest.mark.parametrize(("options", "path", "body"), WIRE)
def test_on_the_wire(server: Server, options: dict[str, str], path: str, body: dict[str, Any]) -> None:
    assert one(server, **options).error is None
    (asked,) = server.asked
    assert (asked.method, asked.path, asked.json) == ("POST", path, body)
    assert "authorization" not in asked.headers


def test_a_key_goes_into_the_header(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("MY_KEY", "mine-0123456789")
    one(server)
    one(server, key_variable="MY_KEY")
    keys = [asked.headers["authorization"] for asked in server.asked]
    assert keys == [f"Bearer {SECRET}", "Bearer mine-0123456789"]


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_a_hint_is_a_paragraph_before_the_prompt(server: Server, endpoint: str) -> None:
    """As `hinted:` gives it, and only for the sentence that it is about; samples are drawn with it too."""
    hurt, waved = asking.requests(["The nurse hurt himself.", "The nurse waved."])
    with closing(open_system(f"hinted:openai:{server.url}/v1#tiny", {"endpoint": endpoint})) as system:
        for asked in (hurt, waved, replace(hurt, task=Task.SAMPLE, n_samples=2)):
            list(system.answer([asked]))
    prompts = [said(asked) for asked in server.asked]
    assert prompts[0] == f"Note: The nurse is a man.\n\n{prompts[1].replace(waved.source, hurt.source)}"
    assert prompts[2] == prompts[0]


def test_json_where_the_server_has_it(server: Server) -> None:
    server.good = lambda _: answers(choice('{"translation": "LA MÉDICA"}'))
    assert one(server, prompt="json").text == "LA MÉDICA"
    assert server.asked[0].json["response_format"]["type"] == "json_schema"
    server.script(servers.status(400, {"error": {"message": "response_format is not supported"}}))
    found = answered(opened(server, prompt="json", concurrency="1"), requests(2))
    assert asking.texts(found) == ["LA MÉDICA"] * 2
    assert ["response_format" in asked.json for asked in server.asked[1:]] == [True, False, False]


# -- what comes back


ANSWERS = [
    # (answer, the translation, or None and how the error begins)
    (choice("<think>Hm.</think>\n<translation>La médica.</translation> Note: she."), "La médica.", ""),
    (choice([{"type": "thinking", "thinking": []}, {"type": "text", "text": "La médica."}]), "La médica.", ""),
    (choice("<translation>La médica.</translation> It is said th", finish="length"), "La médica.", ""),
    (choice("I'm sorry, but I can't assist with that."), None, "refusal: I'm sorry"),
    (choice("", finish="content_filter"), None, "refusal: the content filter"),
    (choice(None, message={"content": None, "refusal": "No."}), None, "refusal: No."),
    (choice("La médica te", finish="length"), None, "cut off at max_tokens: La médica te"),
    (choice(None, finish="length"), None, "cut off at max_tokens"),
    (choice(None), None, "empty answer"),
    (choice("1. El médico.\n2. La médica."), None, "no translation found: 1. El médico. 2. La médica."),
    (choice("<think>Hm"), None, "unfinished thinking: <think>Hm"),
]


@pytest.mark.parametrize(("answer", "text", "error"), ANSWERS)
def test_what_is_no_translation_is_an_error_of_one_sentence(
    server: Server, answer: dict[str, Any], text: str | None, error: str
) -> None:
    server.script(servers.sends(answers(answer)))
    system = opened(server, concurrency="1")
    first, second = answered(system, requests(2))
    assert first.text == text
    assert (first.error or "").startswith(error)
    assert (second.text, second.error) == ("SENTENCE 2.", None)
    assert text or f"1 {error.partition(':')[0]}" in system.notes()[1]


def test_an_answer_of_another_shape(server: Server) -> None:
    shapes: list[Any] = [answers(), answers(choice("a"), choice("b")), answers({"text": "a"}), answers(choice(7))]
    for payload in (*shapes, {"choices": "x"}):
        server.script(servers.sends(payload))
        assert failure(opened(server), requests(1)).startswith(f"openai:{server.url}/v1#tiny ")


def test_log_probabilities_are_those_of_the_translation(server: Server) -> None:
    def sent(content: str, *tokens: tuple[Any, Any]) -> servers.Step:
        rows = [{"token": token, "logprob": number} for token, number in tokens]
        return servers.sends(answers(choice(content, logprobs={"content": rows} if tokens else None)))

    words = (("La", -0.25), (" médica", -1.5))
    tagged = "<translation>La médica</translation>"
    server.script(
        sent("La médica", *words),
        sent(tagged, ("<translation>", -9.0), *words, ("</translation>", -9.0)),
        sent(tagged, ("<translation", -9.0), (">La", -1.0), (" médica</", -2.0), ("translation>", -9.0)),
        sent(tagged, ("<translation>", -9.0), ("La \ufffd\ufffdica</translation>", -1.0)),
        sent("La médica", ("La", -0.25), (" médica", None)),
        sent("La médica"),
    )
    found = answered(opened(server, logprobs="true", concurrency="1"), requests(6))
    assert asking.texts(found) == ["La médica"] * 6
    none = (None, None)
    assert [(a.log_probability, a.n_tokens) for a in found] == [(-1.75, 2), (-1.75, 2), (-3.0, 2), none, none, none]


def test_tokens_and_money(server: Server) -> None:
    system = opened(server, price_input="2500", price_output="100000")
    assert system.notes() == ()
    assert "0.1" in system.forecast(asking.requests(["four"]))
    answered(system, requests(3))
    assert "60 input and 15 output tokens" in system.notes()[0]
    assert system.notes()[0].endswith("1.65")
    for n in (10**400, -5, 10**12, "many", None):  # a count that is none
        usage = {"prompt_tokens": n, "completion_tokens": n}
        server.script(servers.sends({**answers(choice("LA MÉDICA.")), "usage": usage}))
        system = opened(server, price_input="1", price_output="1")
        answered(system, requests(1))
        assert "unknown" in system.notes()[0]


# -- sampling


def test_samples_come_from_one_request(server: Server) -> None:
    found = answered(opened(server), asking.sampling(["One."], 3, temperature=0.7, top_p=0.9, top_k=40, seed=5))
    (body,) = [asked.json for asked in server.asked]
    assert (body["n"], body["temperature"], body["top_p"], body["top_k"]) == (3, 0.7, 0.9, 40)
    assert 0 <= body["seed"] < 2**31
    assert [(a.text, a.sample) for a in found] == [(f"ONE. {body['seed']}-{k}", k) for k in range(3)]
    answered(opened(server), asking.sampling(["One."], 2))
    assert server.asked[1].json["temperature"] == 1
    assert not {"top_p", "top_k"} & set(server.asked[1].json)
    for name in ("epsilon", "beam"):
        with closing(opened(server)) as system, pytest.raises(UserError, match=name):
            system.check("en", "es", asking.sampling(["One."], 2, **{name: "0.02"}))


def test_a_server_that_ignores_n_is_asked_for_each_sample(server: Server) -> None:
    server.good = ignores_n
    found = answered(opened(server), [*asking.sampling(["One."], 4), *asking.sampling(["Two."], 3)])
    seeds = [asked.json["seed"] for asked in server.asked]
    assert len(set(seeds)) == len(seeds) == 7
    assert Counter(a.text for a in found) == Counter(f"ONE. {seed}" for seed in seeds)
    # A killed run asks for the rest with the same seeds.
    (later,) = answered(opened(server), asking.sampling(["One."], 1, first=2))
    assert later == found[2]


def test_a_server_that_refuses_n(server: Server) -> None:
    for message in ("n must be 1", "Only one completion: 'n' is not supported", "multiple choices"):
        server.asked.clear()
        server.script(servers.status(400, {"error": {"message": message}}))
        found = answered(opened(server), asking.sampling(["One."], 3))
        assert len({a.text for a in found}) == 3
        assert [asked.json.get("n", 1) for asked in server.asked] == [3, 1, 1, 1]


def test_choices_in_disorder(server: Server) -> None:
    for choices, texts in (
        ([choice("B", 1), choice("C", 2), choice("A", 0)], ["A", "B", "C"]),
        ([choice("A", 0), choice("I cannot assist with that.", 1), choice("C", 2)], ["A", None, "C"]),
        # Which two of the three these are cannot be known, so only the first is taken.
        ([choice("A"), choice("B", 1)], ["A", "ONE.", "ONE."]),
    ):
        server.script(servers.sends(answers(*choices)))
        found = asking.texts(answered(opened(server), asking.sampling(["One."], 3)))
        assert [text and text.split()[0] for text in found] == texts
    server.script(servers.sends(answers(*[choice("A", k) for k in range(4)])))
    assert "4 choices" in failure(opened(server), asking.sampling(["One."], 3))


# -- scoring


def scoring(*targets: str) -> list[Request]:
    return [Request("The doctor.", "en", "es", Task.SCORE, target=target) for target in targets]


def test_a_translation_is_scored_by_the_tokens_it_adds(server: Server) -> None:
    assert Task.SCORE not in opened(server).tasks
    system = opened(server, endpoint="completions")
    system.check("en", "es", [])
    assert Task.SCORE in system.tasks
    found = answered(system, scoring("La médica", "El enfermero"))
    assert asking.texts(found) == ["La médica", "El enfermero"]
    # Each word with its space, the last with the end of its line.
    assert [a.token_log_probabilities for a in found] == [(-3.0, -8.0), (-3.0, -11.0)]
    assert [(a.log_probability, a.n_tokens) for a in found] == [(-11.0, 2), (-14.0, 2)]
    assert all(asked.json["echo"] and asked.json["max_tokens"] == 1 for asked in server.of(COMPLETIONS))


@pytest.mark.parametrize("kind", ["ignores", "refuses", "other tokens"])
def test_a_server_that_cannot_score(server: Server, kind: str) -> None:
    tokens = {"tokens": ["I", " generated"], "token_logprobs": [-1.0, -1.0]} if kind == "other tokens" else None
    answer = {"choices": [{"text": " EL", "finish_reason": "stop", "logprobs": tokens}]}
    server.good = lambda asked: model(asked) if asked.path == "/v1/models" else answer
    if kind == "refuses":
        server.script(servers.good, servers.status(400, {"error": {"message": "echo is not supported"}}))
    system = opened(server, endpoint="completions")
    system.check("en", "es", [])
    with pytest.raises(UserError, match="cannot score"):
        check_tasks(system, scoring("La médica"))
    assert kind == "refuses" or asking.answers(system, scoring("La médica"))[0].error == openai.NO_LOGPROB
    system.close()


# -- before the work


def check(server: Server, name: str = "tiny", to: str = "es") -> None:
    with closing(OpenAI(f"{server.url}/v1#{name}", {})) as system:
        system.check("en", to, [])
        system.check("en", "de", [])


MISSING = servers.status(404, {"error": {"message": "The model `x` does not exist"}})
MANY = servers.sends({"data": [{"id": f"model-{k:02}"} for k in range(30)]})
FAILING = servers.status(500)


@pytest.mark.parametrize(
    ("name", "steps", "paths"),
    [
        ("tiny", [], ["/v1/models"]),  # once, and nothing is paid for
        ("tiny-latest", [], ["/v1/models", CHAT]),  # a model by another name
        *(("any", [servers.status(code)], ["/v1/models"]) for code in (403, 404, 405)),  # no list of models
        *(("any", [servers.sends(payload)], ["/v1/models"]) for payload in ({"data": []}, 7)),
        ("tiny", [FAILING, FAILING], ["/v1/models", "/v1/models", CHAT]),
    ],
)
def test_a_model_that_is_there(server: Server, name: str, steps: list[servers.Step], paths: list[str]) -> None:
    server.script(*steps)
    check(server, name)
    assert [asked.path for asked in server.asked] == paths
    assert all(asked.json["max_tokens"] == 1 for asked in server.of(CHAT))


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([servers.good, MISSING], r"no model 'x'; it offers: other, tiny$"),
        ([MANY, servers.status(400, {"message": "bad model"})], r"model-00, .*, model-11 and 18 more$"),
        ([FAILING, FAILING, MISSING], "does not exist"),
        ([servers.status(401)], "OPENAI_API_KEY"),
    ],
)
def test_a_model_that_is_not(server: Server, steps: list[servers.Step], words: str) -> None:
    server.script(*steps)
    with pytest.raises(UserError, match=words):
        check(server, "x")


# -- options


@pytest.mark.parametrize(
    ("token", "argument", "options"),
    read_cases("systems/openai_refused.tsv"),
)
def test_options_that_are_refused(token: str, argument: str, options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with pytest.raises(UserError) as caught:
        OpenAI(argument, json.loads(options))
    assert token in str(caught.value)
    assert SECRET not in str(caught.value)


def test_another_way_of_asking_is_another_system(tmp_path: Path) -> None:
    def identity(argument: str = NOWHERE, **options: str) -> tuple[str, str]:
        with closing(OpenAI(argument, options)) as system:
            return system.system_id, system.decoding

    path = tmp_path / "prompt.txt"
    path.write_text("{source}")
    before = identity()
    assert before[1].endswith(",extraction2")
    assert identity("http://127.0.0.1:1/v1/#m") == before
    changes = [{"prompt": name} for name in ("tower", "plain", "json", str(path))]
    changes += [{"system": "Be brief."}, {"endpoint": "completions"}, {"temperature": "1"}, {"temperature": "none"}]
    changes += [{"max_tokens": "9"}, {"seed": "1"}, {"logprobs": "true"}, {"no_think": "true"}, {"extra": '{"a": 1}'}]
    others = [identity(f"{NOWHERE}n"), identity("http://127.0.0.1:1/v2#m"), *(identity(**change) for change in changes)]
    path.write_text("Bitte: {source}")
    others.append(identity(prompt=str(path)))
    ids = {system_id for system_id, _ in (before, *others)}
    assert len(ids) == len(others) + 1


# -- going on
