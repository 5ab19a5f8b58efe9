"""`openai:`: models behind an interface like OpenAI's, from well-behaved to impossible; none is asked twice."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import SystemFailure, UserError
from gendermark.metrics.metric import Resampling
from gendermark.records import Request, Task, Translation
from gendermark.runs import run as running
from gendermark.runs.run import RunConfig
from gendermark.runs.store import Store
from gendermark.runs.translate import check_tasks, translate
from gendermark.selection import Selection
from gendermark.systems import openai
from gendermark.systems.hinted import Hinted
from gendermark.systems.openai import OpenAI
from gendermark.systems.system import open_system
from runs import children
from runs.tiny import BENCHMARK
from systems import servers
from systems.servers import Asked, Server

SECRET = "sk-open-0123456789/sesame+"
CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"


def said(asked: Asked) -> str:
    """The prompt of a request."""
    return asked.json["messages"][-1]["content"] if "messages" in asked.json else asked.json["prompt"]


def choice(text: str | None, index: int = 0, finish: str = "stop", **more: Any) -> dict[str, Any]:
    return {"index": index, "finish_reason": finish, "message": {"role": "assistant", "content": text}, **more}


def answers(*choices: dict[str, Any]) -> dict[str, Any]:
    return {"choices": list(choices), "usage": {"prompt_tokens": 20, "completion_tokens": 5 * len(choices)}}


def model(asked: Asked) -> Any:
    """Shouts what it is asked; of samples, it says by which seed they were drawn."""
    if asked.path == "/v1/models":
        return {"data": [{"id": "tiny"}, {"id": "other"}]}
    body = asked.json
    source = said(asked).splitlines()[-1]
    texts = [source.upper() + (f" {body['seed']}-{k}" if "seed" in body else "") for k in range(body.get("n", 1))]
    if asked.path == COMPLETIONS:
        return _completion(body)
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


def requests(n: int, to: str = "es") -> list[Request]:
    return [Request(f"Sentence {number}.", "en", to) for number in range(1, n + 1)]


def sampling(n_samples: int = 3, first: int = 0, **options: str) -> Request:
    pairs = tuple(sorted(options.items()))
    return Request("One.", "en", "es", Task.SAMPLE, options=pairs, first_sample=first, n_samples=n_samples)


def answered(system: OpenAI, asked: list[Request]) -> list[Translation]:
    """All answers, in the order of the requests."""
    try:
        found = {(a.request_id, a.sample): a for portion in system.answer(asked) for a in portion}
    finally:
        system.close()
    return [found[request.request_id, sample] for request in asked for sample in request.samples]


def one(server: Server, **options: str) -> Translation:
    return answered(opened(server, **options), requests(1))[0]


def failure(system: OpenAI, asked: list[Request]) -> str:
    with pytest.raises(UserError) as caught:
        answered(system, asked)
    message = str(caught.value)
    assert "\n" not in message
    return message


# -- what goes out


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_a_hint_is_a_paragraph_before_the_prompt(server: Server, endpoint: str) -> None:
    """As `hinted:` gives it, and only for the sentence that it is about; samples are drawn with it too."""
    system = Hinted(f"openai:{server.url}/v1#tiny", {}, opened(server, endpoint=endpoint))
    hurt, waved = Request("The nurse hurt himself.", "en", "es"), Request("The nurse waved.", "en", "es")
    for asked in (hurt, waved, replace(hurt, task=Task.SAMPLE, n_samples=2)):
        list(system.answer([asked]))
    prompts = [said(asked) for asked in server.asked]
    assert prompts[0] == f"Note: The nurse is a man.\n\n{prompts[1].replace(waved.source, hurt.source)}"
    assert prompts[2] == prompts[0]


def test_a_chat_model_is_asked(server: Server) -> None:
    system = opened(server)
    assert [a.text for a in answered(system, requests(2))] == ["SENTENCE 1.", "SENTENCE 2."]
    first = server.asked[0]
    assert (first.method, first.path) == ("POST", CHAT)
    assert "authorization" not in first.headers
    assert {key: value for key, value in first.json.items() if key != "messages"} == {
        "model": "tiny",
        "temperature": 0,
        "max_tokens": 1024,
    }
    assert first.json["messages"] == [
        {
            "role": "user",
            "content": "Translate the following text from English into Spanish. Answer with the translation alone."
            f"\n\n{first.json['messages'][0]['content'].splitlines()[-1]}",
        }
    ]
    assert system.tasks == {Task.TRANSLATE, Task.SAMPLE}


def test_a_base_model_is_asked(server: Server) -> None:
    assert one(server, endpoint="completions").text == "EL"
    assert server.asked[0].path == COMPLETIONS
    assert server.asked[0].json == {
        "model": "tiny",
        "prompt": "Translate the following text from English into Spanish.\nEnglish: Sentence 1.\nSpanish:",
        "temperature": 0,
        "max_tokens": 1024,
        "stop": ["\n"],
    }


def test_every_option_goes_out(server: Server, tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text("Ins Spanische: {source}\n")
    one(
        server,
        prompt=str(tmp_path / "prompt.txt"),
        system="You are terse.",
        temperature="0.5",
        max_tokens="7",
        seed="3",
        logprobs="true",
        no_think="true",
        extra='{"reasoning_effort": "low"}',
    )
    assert server.asked[0].json == {
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "You are terse."},
            {"role": "user", "content": "Ins Spanische: Sentence 1."},
        ],
        "temperature": 0.5,
        "max_tokens": 7,
        "seed": 3,
        "logprobs": True,
        "chat_template_kwargs": {"enable_thinking": False},
        "reasoning_effort": "low",
    }


def test_what_a_server_is_not_to_be_told(server: Server) -> None:
    one(server, temperature="none", max_tokens="none", seed="none", extra='{"max_completion_tokens": 9}')
    assert set(server.asked[0].json) == {"model", "messages", "max_completion_tokens"}


def test_a_source_with_a_line_break_stays_one_text(server: Server) -> None:
    (answer,) = answered(opened(server, prompt="tower", endpoint="completions"), [Request("a\nb", "en", "es")])
    assert "English: a\nb\n" in server.asked[0].json["prompt"]
    assert "stop" not in server.asked[0].json
    assert answer.text == "EL"


def test_no_more_requests_at_once_than_allowed(server: Server) -> None:
    server.script(*[servers.stall] * 4)
    system = opened(server, concurrency="4")
    found: list[Translation] = []
    work = threading.Thread(target=lambda: found.extend(answered(system, requests(20))))
    work.start()
    children.wait_until(lambda: len(server.asked) == 4, "four were under way")
    server.go_on.set()
    work.join()
    assert len(found) == 20
    assert server.most_at_once == 4
    assert system.batch_size == 32


# -- what comes back


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ('"La médica."', "La médica."),
        ("<think>Hm.</think>Translation: La médica.", "La médica."),
        ([{"type": "thinking", "thinking": []}, {"type": "text", "text": "La médica."}], "La médica."),
    ],
)
def test_chatter(server: Server, content: Any, text: str) -> None:
    server.script(servers.sends(answers(choice(content))))
    assert one(server).text == text


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (choice("I'm sorry, but I can't assist with that."), "refusal: I'm sorry, but I can't assist with that."),
        (choice("", finish="content_filter"), "refusal: the content filter"),
        (choice(None, message={"content": None, "refusal": "No."}), "refusal: No."),
        (choice("La médica te", finish="length"), "cut off at max_tokens: La médica te"),
        (choice(None, finish="length"), "cut off at max_tokens"),
        (choice(None), "empty answer"),
        (choice(""), "empty answer"),
        (choice("1. El médico.\n2. La médica."), "several alternatives: 1. El médico. 2. La médica."),
        (choice("<think>Hm"), "unfinished thinking: <think>Hm"),
    ],
)
def test_what_is_no_translation_is_an_error_of_one_sentence(server: Server, answer: dict[str, Any], error: str) -> None:
    server.script(servers.sends(answers(answer)))
    system = opened(server, concurrency="1")
    first, second = answered(system, requests(2))
    assert (first.text, first.error) == (None, error)
    assert (second.text, second.error) == ("SENTENCE 2.", None)
    assert system.notes()[1] == (
        f"{system.spec} gave answers without a translation: 1 {error.partition(':')[0]} "
        "(`error` says why: in the run folder's translations.jsonl, or with `translate --json`)"
    )


@pytest.mark.parametrize(
    ("status", "message", "error"),
    [
        (
            400,
            "filtered due to our content management policy",
            "refusal: filtered due to our content management policy",
        ),
        (400, "This model's maximum context length is 10", "too long: This model's maximum context length is 10"),
        (413, "large", "too long: large"),
    ],
)
def test_a_sentence_that_the_server_refuses(server: Server, status: int, message: str, error: str) -> None:
    server.script(servers.status(status, {"error": {"message": message}}))
    first, second = answered(opened(server, concurrency="1"), requests(2))
    assert (first.text, first.error, second.text) == (None, error, "SENTENCE 2.")


def test_log_probabilities_of_whole_answers_only(server: Server) -> None:
    rows = {"content": [{"token": "La", "logprob": -0.25}, {"token": " médica", "logprob": -1.5}]}
    server.script(
        servers.sends(answers(choice("La médica", logprobs=rows))),
        servers.sends(answers(choice('"La médica"', logprobs=rows))),
        servers.sends(answers(choice("La médica", logprobs={"content": []}))),
        servers.sends(answers(choice("La médica", logprobs=None))),
    )
    found = answered(opened(server, logprobs="true", concurrency="1"), requests(4))
    assert [a.text for a in found] == ["La médica"] * 4
    assert [(a.log_probability, a.n_tokens) for a in found] == [(-1.75, 2), (None, None), (None, None), (None, None)]


# -- a server that misbehaves


@pytest.mark.parametrize(
    "step",
    [
        servers.status(429, {"error": {"message": "slow down"}}, Retry_After="3"),
        servers.status(500),
        servers.status(503),
        servers.cut,
        servers.hang_up,
        servers.says(b"<html>"),
    ],
)
def test_passing_trouble(server: Server, step: servers.Step) -> None:
    server.script(step)
    assert one(server).text == "SENTENCE 1."
    assert len(server.asked) == 2


def test_a_slow_answer(server: Server) -> None:
    server.script(servers.stall)
    assert one(server, timeout_seconds="1.5").text == "SENTENCE 1."
    server.script(servers.stall, servers.stall)
    message = failure(opened(server, timeout_seconds="1.5", max_retries="1"), requests(1))
    assert message.startswith(f"openai:{server.url}/v1#tiny gave no complete answer within 1.5 seconds")
    assert "raise timeout_seconds or lower concurrency" in message


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (answers(), "gave 0 choices where 1 was asked for (they are discarded, earlier answers are kept)"),
        (
            answers(choice("a"), choice("b")),
            "gave 2 choices where 1 was asked for (they are discarded, earlier answers are kept)",
        ),
        ({"choices": "none"}, "gave an answer without a usable choices: "),
        ({"error": "overloaded"}, "gave an answer without a usable choices: "),
        ([], "gave an answer without a usable choices: "),
        (answers({"text": "a"}), "gave an answer without a usable message: "),
        (answers(choice(7)), "gave an answer without a usable message.content: "),  # type: ignore[arg-type]
    ],
)
def test_an_answer_that_is_none(server: Server, payload: Any, words: str) -> None:
    server.script(servers.sends(payload))
    assert failure(opened(server), requests(1)).startswith(f"openai:{server.url}/v1#tiny {words}")


def test_a_used_up_quota_is_not_asked_again(server: Server) -> None:
    server.script(servers.status(429, {"error": {"message": "You exceeded it.", "code": "insufficient_quota"}}))
    message = failure(opened(server), requests(1))
    assert "HTTP 429" in message
    assert "the quota is used up" in message
    assert len(server.asked) == 1


def test_an_option_that_the_server_refuses_ends_the_run(server: Server) -> None:
    server.script(servers.status(400, {"error": {"message": "Unknown parameter: 'no_such'"}}))
    assert "Unknown parameter: 'no_such'" in failure(opened(server, extra='{"no_such": 1}'), requests(1))


# -- sampling


def test_samples_come_from_one_request(server: Server) -> None:
    request = sampling(3, temperature="0.7", top_p="0.9", top_k="40", seed="5")
    found = answered(opened(server), [request])
    (body,) = [asked.json for asked in server.asked]
    assert (body["n"], body["temperature"], body["top_p"], body["top_k"]) == (3, 0.7, 0.9, 40)
    assert 0 <= body["seed"] < 2**31
    assert [a.text for a in found] == [f"ONE. {body['seed']}-{k}" for k in range(3)]
    assert [a.sample for a in found] == [0, 1, 2]


def test_a_sampling_request_without_options_draws_from_the_model_itself(server: Server) -> None:
    answered(opened(server), [sampling(2)])
    assert server.asked[0].json["temperature"] == 1
    assert not {"top_p", "top_k"} & set(server.asked[0].json)


def _ignores_n(asked: Asked) -> Any:
    if asked.path == "/v1/models":
        return model(asked)
    return answers(choice(f"ONE. {asked.json['seed']}"))


def test_a_server_that_ignores_n_is_asked_for_each_sample(server: Server) -> None:
    server.good = _ignores_n
    found = answered(opened(server), [sampling(4), replace(sampling(3), source="Two.")])
    seeds = [asked.json["seed"] for asked in server.asked]
    assert len(set(seeds)) == len(seeds) == 7
    assert Counter(a.text for a in found) == Counter(f"ONE. {seed}" for seed in seeds)
    # A killed run asks for the rest with the same seeds.
    later = answered(opened(server), [sampling(1, first=2)])
    assert later[0].text == found[2].text
    assert later[0].sample == 2


@pytest.mark.parametrize("message", ["n must be 1", "Only one completion: 'n' is not supported", "multiple choices"])
def test_a_server_that_refuses_n(server: Server, message: str) -> None:
    server.script(servers.status(400, {"error": {"message": message}}))
    found = answered(opened(server), [sampling(3)])
    assert len({a.text for a in found}) == 3
    assert [asked.json.get("n", 1) for asked in server.asked] == [3, 1, 1, 1]


def test_fewer_choices_than_asked_for(server: Server) -> None:
    server.script(servers.sends(answers(choice("A"), choice("B", 1))))
    found = answered(opened(server), [sampling(3)])
    assert found[0].text == "A"
    assert len(server.asked) == 3  # which two of the three these are cannot be known, so only the first is taken


def test_more_choices_than_asked_for(server: Server) -> None:
    server.script(servers.sends(answers(*[choice("A", k) for k in range(4)])))
    assert "gave 4 choices where 3 were asked for" in failure(opened(server), [sampling(3)])


def test_choices_in_disorder(server: Server) -> None:
    server.script(servers.sends(answers(choice("B", 1), choice("C", 2), choice("A", 0))))
    assert [a.text for a in answered(opened(server), [sampling(3)])] == ["A", "B", "C"]


def test_one_refused_sample_leaves_the_others(server: Server) -> None:
    server.script(servers.sends(answers(choice("A", 0), choice("I cannot assist with that.", 1), choice("C", 2))))
    assert [a.text for a in answered(opened(server), [sampling(3)])] == ["A", None, "C"]


def test_a_sentence_that_is_filtered_is_so_for_each_sample(server: Server) -> None:
    step = servers.status(400, {"error": {"message": "no", "code": "content_filter"}})
    server.script(step, step, step)
    found = answered(opened(server), [sampling(2)])
    assert [(a.text, a.error) for a in found] == [(None, "refusal: no")] * 2


def test_epsilon_is_refused_before_the_work(server: Server, benchmark: Benchmark, item_set: ItemSet) -> None:
    system = opened(server)
    words = (
        f"{system.spec} cannot sample with epsilon, which its interface does not have; use top_p, or a system of "
        "family hf, ctranslate2 or demo"
    )
    assert failure(system, [*requests(3), sampling(2, epsilon="0.02")]) == words
    assert "there is no sampling option 'beam'" in failure(opened(server), [sampling(2, beam="4")])
    drawing = replace(benchmark, requests=lambda _: [sampling(2, epsilon="0.02")])
    with pytest.raises(UserError, match="cannot sample with epsilon"):
        prepare(opened(server), drawing, item_set)
    assert server.asked == []


# -- scoring


def test_a_translation_is_scored_by_the_tokens_it_adds(server: Server, benchmark: Benchmark, item_set: ItemSet) -> None:
    system = opened(server, endpoint="completions")
    prepare(system, benchmark, item_set)
    assert Task.SCORE in system.tasks
    targets = ("La médica", "El enfermero")
    asked = [Request("The doctor.", "en", "es", Task.SCORE, target=target) for target in targets]
    found = answered(system, asked)
    assert [a.text for a in found] == list(targets)
    # Each word with its space, the last with the end of its line.
    assert [a.token_log_probabilities for a in found] == [(-3.0, -8.0), (-3.0, -11.0)]
    assert [(a.log_probability, a.n_tokens) for a in found] == [(-11.0, 2), (-14.0, 2)]
    bodies = [a.json for a in server.of(COMPLETIONS)]
    assert all(body["echo"] and body["max_tokens"] == 1 for body in bodies)


@pytest.mark.parametrize("kind", ["ignores", "refuses", "other tokens"])
def test_a_server_that_cannot_score(server: Server, benchmark: Benchmark, item_set: ItemSet, kind: str) -> None:
    def good(asked: Asked) -> Any:
        if asked.path == "/v1/models":
            return model(asked)
        if kind == "other tokens":
            tokens = {"tokens": ["I", " generated"], "token_logprobs": [-1.0, -1.0]}
            return {"choices": [{"text": "", "logprobs": tokens}], "usage": {"completion_tokens": 1}}
        return {"choices": [{"text": " EL", "finish_reason": "stop", "logprobs": None}]}

    server.good = good
    if kind == "refuses":
        server.script(servers.good, servers.status(400, {"error": {"message": "echo is not supported"}}))
    system = opened(server, endpoint="completions")
    prepare(system, benchmark, item_set)
    request = Request("The doctor.", "en", "es", Task.SCORE, target="La médica")
    with pytest.raises(UserError, match="cannot score"):
        check_tasks(system, [request])
    check_tasks(system, requests(1))
    assert kind == "refuses" or answered(system, [request])[0].error is not None
    system.close()


# -- before the work


def prepare(system: OpenAI, benchmark: Benchmark, item_set: ItemSet, to: str = "es") -> None:
    towards = replace(item_set, selection=replace(item_set.selection, target_language=to))
    system.prepare(benchmark, towards, benchmark.requests(towards))


def _prepared(server: Server, benchmark: Benchmark, item_set: ItemSet, name: str = "tiny", to: str = "es") -> None:
    with closing(OpenAI(f"{server.url}/v1#{name}", {})) as system:
        prepare(system, benchmark, item_set, to)
        prepare(system, benchmark, item_set, "de")


def test_a_model_that_is_there(server: Server, benchmark: Benchmark, item_set: ItemSet) -> None:
    _prepared(server, benchmark, item_set)
    assert [asked.path for asked in server.asked] == ["/v1/models"]  # once, and nothing is paid for


def test_a_model_that_is_not(server: Server, benchmark: Benchmark, item_set: ItemSet) -> None:
    server.script(servers.good, servers.status(404, {"error": {"message": "The model `x` does not exist"}}))
    with pytest.raises(UserError) as caught:
        _prepared(server, benchmark, item_set, "x")
    assert str(caught.value) == f"{server.url}/v1 has no model 'x'; it offers: other, tiny"
    many = {"data": [{"id": f"model-{k:02}"} for k in range(30)]}
    server.script(servers.sends(many), servers.status(400, {"message": "bad model"}))
    with pytest.raises(UserError, match=r"it offers: model-00, .*, model-11 and 18 more$"):
        _prepared(server, benchmark, item_set, "x")


def test_a_model_by_another_name(server: Server, benchmark: Benchmark, item_set: ItemSet) -> None:
    _prepared(server, benchmark, item_set, "tiny-latest")
    assert [asked.path for asked in server.asked] == ["/v1/models", CHAT]
    assert server.asked[1].json["max_tokens"] == 1


@pytest.mark.parametrize(
    "step",
    [servers.status(404), servers.status(403), servers.status(405), servers.sends({"data": []}), servers.sends(7)],
)
def test_a_server_without_a_list_of_models(
    server: Server, benchmark: Benchmark, item_set: ItemSet, step: servers.Step
) -> None:
    server.script(step)
    _prepared(server, benchmark, item_set, "anything")
    assert len(server.asked) == 1


def test_a_list_of_models_that_always_fails(server: Server, benchmark: Benchmark, item_set: ItemSet) -> None:
    server.script(servers.status(500), servers.status(500))
    _prepared(server, benchmark, item_set)
    assert [asked.path for asked in server.asked] == ["/v1/models", "/v1/models", CHAT]
    server.script(servers.status(500), servers.status(500), servers.status(404, {"error": "no model"}))
    with pytest.raises(SystemFailure, match="no model"):
        _prepared(server, benchmark, item_set)


def test_nobody_is_there(benchmark: Benchmark, item_set: ItemSet) -> None:
    with servers.serving(model) as gone:
        pass
    with pytest.raises(SystemFailure) as caught:
        _prepared(gone, benchmark, item_set)
    assert str(caught.value).startswith(f"openai:{gone.url}/v1#tiny cannot be reached at {gone.url}/v1 (")


def test_a_language_without_a_name(server: Server, benchmark: Benchmark, item_set: ItemSet) -> None:
    with pytest.raises(UserError, match="no name is known for language 'xx'"):
        _prepared(server, benchmark, item_set, to="xx")
    assert server.asked == []


# -- keys


def test_a_key_goes_into_the_header(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    one(server)
    assert server.asked[-1].headers["authorization"] == f"Bearer {SECRET}"
    monkeypatch.setenv("MY_KEY", "mine-0123456789")
    one(server, key_variable="MY_KEY")
    assert server.asked[-1].headers["authorization"] == "Bearer mine-0123456789"


def test_a_bad_key_that_the_server_repeats(
    server: Server, monkeypatch: pytest.MonkeyPatch, benchmark: Benchmark, item_set: ItemSet
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    echo = servers.echoes(401, lambda asked: {"error": {"message": f"Incorrect: {asked.headers['authorization']}"}})
    server.script(echo, echo)
    with pytest.raises(SystemFailure) as caught:
        _prepared(server, benchmark, item_set)
    for message in (str(caught.value), failure(opened(server), requests(1))):
        assert SECRET not in message
        assert "HTTP 401" in message
        assert "check the key in OPENAI_API_KEY" in message


def test_a_server_that_wants_a_key(server: Server) -> None:
    server.script(servers.status(401))
    assert "it wants a key: set OPENAI_API_KEY" in failure(opened(server), requests(1))


@pytest.mark.parametrize("n", [10**400, -5, 10**12, "many", None])
def test_a_count_of_tokens_that_is_none(server: Server, n: Any) -> None:
    usage = {"prompt_tokens": n, "completion_tokens": n}
    server.script(servers.sends({**answers(choice("LA MÉDICA VOLVIÓ.")), "usage": usage}))
    system = opened(server, price_input="1", price_output="1")
    answered(system, requests(1))
    assert "used tokens that it does not count in 1 answers" in system.notes()[0]
    system.close()


def test_an_answer_that_holds_the_key(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    server.script(servers.sends(answers(choice(f"I cannot assist with {SECRET}."))))
    assert "repeats the key in OPENAI_API_KEY in its answer" in failure(opened(server), requests(1))


@pytest.mark.parametrize(
    ("argument", "options", "words"),
    [
        (
            "http://gpu.example:8000/v1#m",
            {},
            "openai: would send the key in OPENAI_API_KEY to gpu.example in the clear; use https://, or unset "
            "OPENAI_API_KEY",
        ),
        (
            f"https://x.example/v1#{SECRET}",
            {},
            "openai: takes no key in its name or options, where others could read it; OPENAI_API_KEY is enough",
        ),
        (
            "https://x.example/v1#m",
            {"system": f"I am {SECRET}"},
            "openai: takes no key in its name or options, where others could read it; OPENAI_API_KEY is enough",
        ),
        (
            "https://a:b@x.example/v1#m",
            {},
            "openai: takes no user name or password in the URL, where others could read it; set OPENAI_API_KEY instead",
        ),
        (
            "https://x.example/v1#m",
            {"api_key": "x"},
            "openai: takes no api_key as an option, where others could read it; set OPENAI_API_KEY instead",
        ),
        (
            "https://x.example/v1#m",
            {"extra": '{"a": {"api_key": "x"}}'},
            "option extra takes no 'api_key', which others could read in the run folder; set OPENAI_API_KEY instead",
        ),
        (
            "https://x.example/v1#m",
            {"key_variable": "NO_SUCH"},
            "openai: needs a key, and takes it from the environment: set NO_SUCH",
        ),
    ],
)
def test_keys_in_the_wrong_place(
    monkeypatch: pytest.MonkeyPatch, argument: str, options: dict[str, str], words: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with pytest.raises(UserError) as caught:
        OpenAI(argument, options)
    assert str(caught.value) == words


def test_a_short_key_of_a_local_server_is_part_of_many_words(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "tin")
    assert one(server).text == "SENTENCE 1."


# -- options


@pytest.mark.parametrize(
    ("argument", "options", "words"),
    [
        (
            "http://127.0.0.1:1/v1",
            {},
            "write openai:URL#MODEL, for example openai:http://127.0.0.1:8000/v1#my-model",
        ),
        ("#m", {}, "write openai:URL#MODEL, for example openai:http://127.0.0.1:8000/v1#my-model"),
        ("gpt#m", {}, "openai: needs a URL with http:// or https://, for example http://127.0.0.1:5000"),
        (
            "http://127.0.0.1:1/v1#m",
            {"endpoint": "responses"},
            "option endpoint is chat or completions, not 'responses'",
        ),
        (
            "http://127.0.0.1:1/v1#m",
            {"temperature": "hot"},
            "option temperature must be a number, at least 0, or none, not 'hot'",
        ),
        (
            "http://127.0.0.1:1/v1#m",
            {"temperature": "nan"},
            "option temperature must be a number, at least 0, or none, not 'nan'",
        ),
        (
            "http://127.0.0.1:1/v1#m",
            {"max_tokens": "0"},
            "option max_tokens must be a whole number, at least 1, not '0'",
        ),
        ("http://127.0.0.1:1/v1#m", {"seed": "-1"}, "option seed must be a whole number, or none, not '-1'"),
        ("http://127.0.0.1:1/v1#m", {"logprobs": "5"}, "option logprobs is true or false, not '5'"),
        ("http://127.0.0.1:1/v1#m", {"no_think": "yes"}, "option no_think is true or false, not 'yes'"),
        (
            "http://127.0.0.1:1/v1#m",
            {"extra": "[1]"},
            """option extra must be a JSON object, for example {"reasoning_effort": "low"}, not '[1]'""",
        ),
        (
            "http://127.0.0.1:1/v1#m",
            {"extra": "{"},
            """option extra must be a JSON object, for example {"reasoning_effort": "low"}, not '{'""",
        ),
        (
            "http://127.0.0.1:1/v1#m",
            {"extra": '{"n": 4}'},
            "option extra cannot set 'n', which openai: sets itself; see its other options",
        ),
        ("http://127.0.0.1:1/v1#m", {"price_input": "free"}, "option price_input must be a number above 0, not 'free'"),
        (
            "http://127.0.0.1:1/v1#m",
            {"prompt": "towr"},
            "there is no prompt 'towr'; available: default, tower, or give a file",
        ),
        (
            "http://127.0.0.1:1/v1#m",
            {"top_p": "1"},
            f"system family openai has no option 'top_p'; available: {', '.join(openai.OPTIONS)}",
        ),
    ],
)
def test_options_that_are_not(argument: str, options: dict[str, str], words: str) -> None:
    with pytest.raises(UserError) as caught:
        OpenAI(argument, options)
    assert str(caught.value) == words


def test_another_way_of_asking_is_another_system(tmp_path: Path) -> None:
    def system_id(argument: str = "http://127.0.0.1:1/v1#m", **options: str) -> str:
        return OpenAI(argument, options).system_id

    before = system_id()
    assert system_id("http://127.0.0.1:1/v1/#m") == before
    # how it is asked, not what it says
    assert system_id(concurrency="2", timeout_seconds="9", max_retries="0", price_input="3") == before
    others = [
        system_id("http://127.0.0.1:1/v2#m"),
        system_id("http://127.0.0.1:1/v1#n"),
        system_id(prompt="tower"),
        system_id(system="Be brief."),
        system_id(endpoint="completions"),
        system_id(temperature="1"),
        system_id(temperature="none"),
        system_id(max_tokens="9"),
        system_id(seed="1"),
        system_id(logprobs="true"),
        system_id(no_think="true"),
        system_id(extra='{"reasoning_effort": "low"}'),
    ]
    assert len({before, *others}) == len(others) + 1
    path = tmp_path / "prompt.txt"
    path.write_text("{source}")
    first = system_id(prompt=str(path))
    path.write_text("Bitte: {source}")
    assert system_id(prompt=str(path)) != first


def test_tokens_and_money(server: Server) -> None:
    system = opened(server, price_input="2.5", price_output="10")
    assert system.notes() == ()
    answered(system, requests(1))
    assert system.notes() == [f"{system.spec} used 20 input and 5 output tokens in 1 answers, which cost about 0.0001"]
    system = opened(server, price_input="2500", price_output="100000")
    answered(system, requests(3))
    assert system.notes()[0].endswith(" used 60 input and 15 output tokens in 3 answers, which cost about 1.65")
    server.good = lambda _: {"choices": [choice("a")]}
    system = opened(server, price_input="1")
    answered(system, requests(1))
    assert system.notes() == [f"{system.spec} used tokens that it does not count in 1 answers"]


# -- killed in the middle

posix = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
SELECTION = Selection("tiny", "en", "xx", "core", cluster="occupation")
ITEM_SET = BENCHMARK.load(SELECTION)
N = len(ITEM_SET.items)


def _gendered(asked: Asked) -> Any:
    if asked.path == "/v1/models":
        return model(asked)
    source = said(asked)
    return answers(choice(f"{'ella' if ' her ' in source else 'el'} trabaja: {source.upper()}"))


@pytest.fixture
def prompt(tmp_path: Path) -> str:
    """The tiny benchmark's languages have no names."""
    path = tmp_path / "prompt.txt"
    path.write_text("{source}")
    return str(path)


@posix
def test_a_killed_run_goes_on_and_repeats_nothing(server: Server, tmp_path: Path, prompt: str) -> None:
    server.good = _gendered
    server.script(*[servers.good] * 20, *[servers.stall] * 4)  # as many as may be under way never come back
    spec, options = f"openai:{server.url}/v1#tiny", {"prompt": prompt, "concurrency": "4"}
    arguments = ["run", "--system", spec, "--to", "xx", "--data", "core", "--benchmark", "tiny", "--resamples", "100"]
    arguments += [f"--system-option={key}={value}" for key, value in options.items()]
    arguments += ["--store", str(tmp_path / "store"), "-o", str(tmp_path / "run")]
    process = children.start(arguments, children.environment(tmp_path / "site"))
    children.wait_until(lambda: len(server.asked) == 24, "no more could be asked")
    n_answered = sum(a.path == CHAT for a in server.asked[:20])
    children.wait_until(lambda: children.n_stored(tmp_path / "store") == n_answered, "what was answered was safe")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    server.go_on.set()
    asked = BENCHMARK.requests(ITEM_SET)
    with Store(tmp_path / "store") as store:
        kept = store.get(open_system(spec, options).system_id, asked)
    n_before = len(server.of(CHAT))
    assert len(kept) == n_answered

    config = RunConfig(spec, (SELECTION,), options, Resampling(n_resamples=100))
    running.run(config, tmp_path / "run", running.RunContext(tmp_path / "store"))
    later = [said(a) for a in server.of(CHAT)[n_before:]]
    safe = {request.source for request in asked if (request.request_id, 0) in kept}
    assert Counter(later) == Counter({request.source for request in asked} - safe)
    running.run(config, tmp_path / "undisturbed", running.RunContext(tmp_path / "other-store"))
    for name in ("translations.jsonl", "judgements.jsonl", "result.json"):
        found, expected = (tmp_path / run / "tiny.en-xx" / name for run in ("run", "undisturbed"))
        assert found.read_bytes() == expected.read_bytes()


SAMPLER = """
import sys
from gendermark.runs.store import Store
from gendermark.runs.translate import translate
from systems.test_openai import sampler
url, store, prompt = sys.argv[1:]
with Store(store) as opened:
    translate(*sampler(url, prompt), opened, lambda *_: None)
"""


def sampler(url: str, prompt: str) -> tuple[OpenAI, list[Request]]:
    asked = [
        replace(request, task=Task.SAMPLE, options=(("temperature", "1"),), n_samples=18)
        for request in BENCHMARK.requests(ITEM_SET)[:4]
    ]
    return OpenAI(f"{url}/v1#tiny", {"prompt": prompt, "concurrency": "2"}), asked


@posix
@pytest.mark.parametrize("good", [model, _ignores_n])
def test_killed_sampling_goes_on_and_repeats_nothing(server: Server, tmp_path: Path, prompt: str, good: Any) -> None:
    server.good = good
    # One by one, samples are safe when all 16 of a portion are there; two are under way at once.
    n_answered = 3 if good is model else 2 * 16
    server.script(*[servers.good] * n_answered, *[servers.stall] * 2)
    environment = children.environment(tmp_path / "site")
    process = children.start([server.url, str(tmp_path / "store"), prompt], environment, code=SAMPLER)
    children.wait_until(lambda: len(server.asked) == n_answered + 2, "no more could be asked")
    n_safe = sum(a.json.get("n", 1) for a in server.asked[:n_answered]) if good is model else 1
    children.wait_until(lambda: children.n_stored(tmp_path / "store") >= n_safe, "what was answered was safe")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    server.go_on.set()
    system, asked = sampler(server.url, prompt)
    with Store(tmp_path / "store") as store:
        kept = store.get(system.system_id, asked)
        assert n_safe <= len(kept) < 72
        n_before = len(server.asked)
        resumed = translate(system, asked, store, lambda *_: None).translations
    # Sample by sample: what was kept is not asked again.
    n_asked = sum(a.json.get("n", 1) if good is model else 1 for a in server.asked[n_before:])
    assert n_asked == 72 - len(kept)
    with Store(tmp_path / "other-store") as store:
        whole = translate(system, asked, store, lambda *_: None).translations
    system.close()
    assert resumed == whole
    assert len({a.text for samples in whole for a in samples}) == 72


# -- secrets


@posix
def test_no_byte_of_the_key_is_left_anywhere(server: Server, tmp_path: Path, prompt: str) -> None:
    refusal = servers.echoes(200, lambda a: answers(choice(f"I cannot assist with {a.headers['authorization']}")))
    bad_key = servers.echoes(401, lambda a: {"error": {"message": f"Bad: {a.headers['authorization']}"}})
    server.good = _gendered
    server.script(servers.good, refusal)
    environment = {**children.environment(tmp_path / "site"), "OPENAI_API_KEY": SECRET}
    arguments = [
        "run",
        "--system",
        f"openai:{server.url}/v1#tiny",
        "--to",
        "xx",
        "--data",
        "core",
        "--benchmark",
        "tiny",
    ]
    arguments += [f"--system-option=prompt={prompt}", "--resamples", "100", "--store", str(tmp_path / "kept" / "store")]
    said_by_us, codes = "", []
    for script in ([bad_key], [], []):
        process = children.start([*arguments, "-o", str(tmp_path / "kept" / "run")], environment)
        said_by_us += "".join(process.communicate(timeout=children.PATIENCE_SECONDS))
        codes.append(process.returncode)
        server.script(*script)
    assert codes == [2, 2, 0]
    assert "repeats the key in OPENAI_API_KEY in its answer, of which nothing is kept" in said_by_us
    assert "check the key in OPENAI_API_KEY" in said_by_us
    assert server.of(CHAT)[0].headers["authorization"] == f"Bearer {SECRET}"
    files = [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]
    assert len(files) > 4
    for form in (SECRET, json.dumps(SECRET)[1:-1], SECRET.removeprefix("sk-open-")):
        assert form not in said_by_us
        assert not any(form.encode() in path.read_bytes() for path in files)


# -- a server that nobody here wrote


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`transformers serve` with a tiny chat model of random weights; what names it behind `openai:`."""
    for module in ("torch", "transformers", "tokenizers", "accelerate", "fastapi", "uvicorn", "openai"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"transformers serve needs {module}")
    from systems import tiny_hf

    directory = tmp_path_factory.mktemp("serve")
    tiny_hf.chat(directory / "model")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    # Offline, and with a cache of its own: there is no list of models in it, as on a fresh machine.
    variables = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(directory / "cache"), "OMP_NUM_THREADS": "1"}
    code = "from transformers.cli.transformers import main; main()"
    place = ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    with (directory / "log").open("wb") as log:
        command = [sys.executable, "-c", code, "serve", str(directory / "model"), *place]
        process = subprocess.Popen(command, env=variables, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 300  # torch takes its time on a busy machine
        while not _answers(port):
            assert process.poll() is None, (directory / "log").read_text()
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/v1#{directory / 'model'}"
    finally:
        process.kill()
        process.wait()


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def test_transformers_serve(serve: str, benchmark: Benchmark, item_set: ItemSet) -> None:
    system = open_system(f"openai:{serve}", {"max_tokens": "40", "concurrency": "2"})
    assert isinstance(system, OpenAI)
    prepare(system, benchmark, item_set)
    asked = benchmark.requests(item_set)
    first = answered(system, [replace(request, target_language="es") for request in asked])
    assert any(a.text for a in first)
    assert all((a.text is None) == (a.error is not None) for a in first)
    assert re.fullmatch(r".* used [\d,]+ input and [\d,]+ output tokens in 8 answers", system.notes()[0])
    again = open_system(f"openai:{serve}", {"max_tokens": "40"})
    assert isinstance(again, OpenAI)
    assert answered(again, [replace(request, target_language="es") for request in asked]) == first


def test_transformers_serve_samples_by_seed(serve: str) -> None:
    drawn = [
        answered(OpenAI(serve, {"max_tokens": "40", "concurrency": "1"}), [sampling(6, first)]) for first in (0, 0, 6)
    ]
    assert drawn[0] == drawn[1]
    assert len({a.text for a in (*drawn[0], *drawn[2])}) > 6


def test_transformers_serve_has_its_limits(serve: str, benchmark: Benchmark, item_set: ItemSet) -> None:
    (answer,) = answered(OpenAI(serve, {"max_tokens": "1"}), requests(1))
    assert answer.error is not None
    assert answer.error.startswith("cut off at max_tokens")
    message = failure(OpenAI(serve, {"extra": '{"no_such": 1}'}), requests(1))
    assert "HTTP 422" in message
    assert "no_such" in message
    base = OpenAI(serve, {"endpoint": "completions", "max_tokens": "40"})
    prepare(base, benchmark, item_set)
    assert base.tasks == {Task.TRANSLATE, Task.SAMPLE}  # it gives no log-probabilities
    assert len(answered(base, requests(2))) == 2
    with closing(OpenAI(f"{serve}-other", {})) as other, pytest.raises(SystemFailure, match="Server is pinned to"):
        prepare(other, benchmark, item_set)
