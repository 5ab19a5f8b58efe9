"""`openai:URL#MODEL`: a language model behind an OpenAI-compatible interface, local or commercial.

Chat models are asked at `URL/chat/completions`; base models, with `endpoint=completions`, at `URL/completions`. An
answer without a translation (`chat.extract`) is an error of that one sentence: it counts as not translated, and the run
continues. With `batch=yes` the same requests go to `URL/batches`.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
import math
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from gendermark.data.official import cache_root
from gendermark.errors import SystemFailure, UserError
from gendermark.io.textfiles import write_text
from gendermark.records import Request, Task, Translation
from gendermark.systems import chat, http
from gendermark.systems.sampling import Decoding
from gendermark.systems.system import HINT, System, choice_option, count_option, flag_option, number_option

log = logging.getLogger(__name__)

T = TypeVar("T", int, float)
KEY = "OPENAI_API_KEY"
OPTIONS = (
    *("endpoint", "prompt", "system", "temperature", "max_tokens", "seed", "logprobs", "no_think", "extra"),
    *("key_variable", "price_input", "price_output"),
    *("batch", "poll_seconds"),
    *http.OPTIONS,
)
TASKS = frozenset({Task.TRANSLATE, Task.SAMPLE, Task.SCORE})
TASK_NOTES = {Task.SCORE: "with endpoint=completions"}
CUT_OFF = "cut off at max_tokens"
NO_LOGPROB = "no log-probability"
_PATHS = {"chat": "/chat/completions", "completions": "/completions"}
_OURS = re.compile("model|messages|prompt|n|stream|seed|temperature|top_p|top_k|max_tokens|logprobs|echo")
"""Request fields that `extra` cannot set: each has its own option, or is ours to decide."""
_SECRET = re.compile(r"api_?key|authorization|password|secret|credential|bearer|access_token", re.IGNORECASE)
_FILTERED = re.compile(r"content.?(?:filter|policy|management)|safety|moderation", re.IGNORECASE)
_TOO_LONG = re.compile(r"context.?length|maximum context|too long|too many tokens", re.IGNORECASE)
_ONE_AT_A_TIME = re.compile(r"\bn\b|(?:multiple|number of) (?:choices|completions)", re.IGNORECASE)
_MOST_NAMED = 12
_MOST_TOKENS = 10**9
"""Upper bound for token counts."""


class OpenAI(System):
    asks_a_server = True
    takes_hints = True

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        http.refuse_options("openai", options, OPTIONS, KEY)
        url, _, self._model = argument.partition("#")
        if not url or not self._model.strip():
            raise UserError("write openai:URL#MODEL, for example openai:http://127.0.0.1:8000/v1#my-model")
        variable = options.get("key_variable", KEY)
        secrets = http.read_secrets("openai", (variable,) if "key_variable" in options else (), (variable,))
        if http.are_in(secrets, self._model, *options.values()):
            raise UserError(f"openai: takes no key in its name or options, where others could read it; set {variable}")
        self._endpoint = choice_option(options, "endpoint", list(_PATHS))
        # A base model does not follow instructions; it continues the prompt.
        default = "default" if self._endpoint == "chat" else "tower"
        self._prompt = chat.open_prompt(options.get("prompt", default), options.get("system", ""))
        # None leaves the choice to the server, as some models refuse explicit values.
        self._temperature = _number_or_none(options, "temperature", float)
        self._max_tokens = None if options.get("max_tokens") == "none" else count_option(options, "max_tokens", 1024)
        self._seed = _number_or_none(options, "seed", int)
        self._sends_seed = "seed" in options and self._seed is not None
        self._wants_logprobs = choice_option(options, "logprobs", ("false", "true")) == "true"
        self._no_think = choice_option(options, "no_think", ("false", "true")) == "true"
        self._extra = _extra(options)
        names = ("price_input", "price_output")
        self._prices = [number_option(options, name, 1) if name in options else 0.0 for name in names]
        self.spec = f"openai:{url}#{self._model}"
        self._client = http.Client(
            self.spec,
            url,
            options={"timeout_seconds": "300", **options},  # reasoning models are slow
            secrets=secrets,
            optional_key=variable,
            headers={"Authorization": f"Bearer {secrets[variable]}"} if secrets else {},
            concurrency=8,
            classify=_kind,
        )
        # Every answer is stored separately, so a batch may be large enough to keep all connections busy.
        self.batch_size = 8 * self._client.concurrency
        self.tasks = TASKS if self._endpoint == "completions" else TASKS - {Task.SCORE}
        temperature = "none" if self._temperature is None else f"{self._temperature:g}"
        settings = {
            "model": self._model,
            "endpoint": self._endpoint,
            "prompt": self._prompt.content_hash,
            "temperature": temperature,
            "max_tokens": str(self._max_tokens),
            "seed": options.get("seed", ""),
            "logprobs": "true" if self._wants_logprobs else "",
            "no_think": "true" if self._no_think else "",
            "extra": json.dumps(self._extra, sort_keys=True) if self._extra else "",
            "extraction": str(chat.EXTRACTION_VERSION),
        }
        self.system_id = http.identity(self._client, settings)
        shown = temperature.replace("none", "default")
        self.decoding = f"temperature{shown},prompt{self._prompt.content_hash[:8]},extraction{chat.EXTRACTION_VERSION}"
        self._batches: Batches | None = None
        if flag_option(options, "batch"):  # answers and id are the same as without
            self.batch_size = _MOST_BATCHED
            self.tasks = TASKS - {Task.SCORE}
            poll_seconds = number_option(options, "poll_seconds", 30)
            self._batches = Batches(self._client, self.system_id, _PATHS[self._endpoint], poll_seconds)
        self._has_n = self._has_response_format = True
        self._is_checked = False
        self._prompt_tokens: dict[str, list[str]] = {}
        self._lock = threading.Lock()
        self._n_spent: Counter[str] = Counter()
        self._n_problems: Counter[str] = Counter()

    # -- before the work

    def check(self, source_language: str, target_language: str, requests: Sequence[Request]) -> None:
        self._prompt.text("", source_language, target_language)  # refuses languages without a name
        self._check_decoding(requests)
        if not self._is_checked:
            self._check_model()
            if self._endpoint == "completions":
                try:
                    can_score = bool(self._scored_tokens("Hello, world")[0])
                except http.Refusal:
                    can_score = False
                if not can_score:
                    self.tasks = self.tasks - {Task.SCORE}
            self._is_checked = True

    def _check_decoding(self, requests: Sequence[Request]) -> None:
        for options in {request.options for request in requests if request.task is Task.SAMPLE}:
            if _decoding(options).epsilon:
                raise UserError(
                    f"{self.spec} cannot sample with epsilon, which its interface does not have; use top_p, or a "
                    "system of family hf, ctranslate2 or demo"
                )

    def _check_model(self) -> None:
        """Check address, key and model before anything is paid for. Not every server lists its models."""
        offered: list[str] = []
        try:
            # Some lists always fail: do not retry for long.
            rows = self._client.get("/models", max_retries=1)
        except http.Refusal as problem:
            if problem.status == 401:
                raise
            return  # no such list, or not with this key
        except SystemFailure:
            pass  # the request below shows whether the server is there
        else:
            rows = rows.get("data") if isinstance(rows, dict) else rows
            offered = [str(row.get("id")) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
            if not offered or self._model in offered:
                return
        # Some servers have aliases, or accept any model: verify with a minimal request.
        limit = {"max_tokens": 1} if self._max_tokens else {}
        try:
            self._client.post(_PATHS[self._endpoint], json={**self._asked("Hello"), **limit, **self._extra})
        except http.Refusal as problem:
            if not offered or (problem.status != 404 and "model" not in problem.said.lower()):
                raise
            more = f" and {len(offered) - _MOST_NAMED} more" if len(offered) > _MOST_NAMED else ""
            names = ", ".join(sorted(offered)[:_MOST_NAMED])
            raise UserError(f"{self._client.url} has no model {self._model!r}; it offers: {names}{more}") from None

    # -- asking

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        self._check_decoding(requests)
        if self._batches is None:
            for _, answers in self._client.in_parallel(self._answer_one, [[request] for request in requests]):
                yield answers
            return
        asked = {f"{one.request_id}.{one.first_sample}.{one.n_samples}": one for one in requests}
        bodies = {
            name: {**self._prompt.body, **self._body(one, one.first_sample, one.n_samples)}
            for name, one in asked.items()
        }
        for portion in self._batches.answer(bodies):
            yield [answer for name, found in portion.items() for answer in self._read_batched(asked[name], found)]

    def _answer_one(self, requests: Sequence[Request]) -> list[Translation]:
        (request,) = requests
        try:
            if request.task is Task.SCORE:
                return [self._score(request)]
            return self._ask(request)
        except http.Refusal as problem:
            if (reason := _item_problem(problem)) is None:
                raise
            return [self._failed(request, sample, reason, problem.said) for sample in request.samples]

    def _read_batched(self, request: Request, found: Mapping[str, Any]) -> list[Translation]:
        """The rest of the batch is paid for: an invalid answer is an error of that sentence only."""
        payload, said = found.get("body"), "the answer is malformed"
        try:
            if found.get("status_code") == 200:
                self._count(payload)
                choices = self._in_order(payload, request.n_samples)
                answers = [self._read(request, *one) for one in zip(request.samples, choices, strict=False)]
                if len(answers) == request.n_samples:
                    return answers
        except SystemFailure:
            pass
        else:
            said = http.message_of(payload)
        return [self._failed(request, sample, "no answer in the batch", said) for sample in request.samples]

    def _ask(self, request: Request) -> list[Translation]:
        """All samples in one HTTP request if possible. Seeds are fixed: a killed run repeats the same request."""
        answers: list[Translation] = []
        while samples := request.samples[len(answers) :]:
            n = len(samples) if self._has_n else 1
            try:
                choices = self._choices(self._body(request, samples[0], n), n)
            except http.Refusal as problem:
                if n == 1 or problem.status not in (400, 422) or not _ONE_AT_A_TIME.search(problem.said):
                    raise
                choices = []
            if len(choices) < n:  # a server without `n`
                self._has_n, choices = False, choices[:1]
            answers += [self._read(request, *one) for one in zip(samples, choices, strict=False)]
        return answers

    def _body(self, request: Request, sample: int, n: int = 1) -> dict[str, Any]:
        fields = (request.source, request.source_language, request.target_language, dict(request.options).get(HINT, ""))
        if self._endpoint == "chat":
            body = self._asked(self._prompt.messages(*fields))
        else:
            body = self._asked(self._prompt.text(*fields))
            if "\n" not in request.source:
                body["stop"] = ["\n"]  # a base model would continue with its own sentences
        if self._wants_logprobs:
            body["logprobs"] = True if self._endpoint == "chat" else 1
        if self._no_think:
            body["chat_template_kwargs"] = {"enable_thinking": False}
        if request.task is Task.SAMPLE:
            decoding = _decoding(request.options)
            body["temperature"] = decoding.temperature
            drawing = {"top_p": decoding.top_p if decoding.top_p < 1 else None, "top_k": decoding.top_k or None}
            seed = None
            if self._seed is not None:
                digest = hashlib.sha256(f"{self._seed}/{request.request_id}/{sample}".encode()).digest()
                seed = int.from_bytes(digest[:4], "big") >> 1  # some servers accept 31 bits
            given = {**drawing, "seed": seed, "n": n if n > 1 else None}
        else:
            given = {"temperature": self._temperature, "seed": self._seed if self._sends_seed else None}
        given["max_tokens"] = self._max_tokens
        return {**body, **{name: value for name, value in given.items() if value is not None}, **self._extra}

    def _asked(self, prompt: str | list[dict[str, str]]) -> dict[str, Any]:
        if self._endpoint == "completions":
            return {"model": self._model, "prompt": prompt}
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        return {"model": self._model, "messages": messages}

    def _choices(self, body: dict[str, Any], n: int) -> list[dict[str, Any]]:
        form = self._prompt.body if self._has_response_format else {}
        try:
            payload = self._client.post(_PATHS[self._endpoint], json={**form, **body})
        except http.Refusal as problem:
            if not form or problem.status not in (400, 422) or chat.RESPONSE_FORMAT not in problem.said:
                raise
            self._has_response_format = False  # the prompt alone asks for JSON
            payload = self._client.post(_PATHS[self._endpoint], json=body)
        self._count(payload)
        return self._in_order(payload, n)

    def _in_order(self, payload: Any, n: int) -> list[dict[str, Any]]:
        choices = self._client.take(payload, "choices", kind=list)
        if not 1 <= len(choices) <= n:
            raise SystemFailure(
                f"{self.spec} gave {len(choices)} choices, {n} expected (they are discarded, earlier answers are kept)"
            )
        found = [self._client.take(choice, kind=dict) for choice in choices]
        return sorted(found, key=lambda choice: index if isinstance(index := choice.get("index"), int) else 0)

    # -- reading

    def _read(self, request: Request, sample: int, choice: dict[str, Any]) -> Translation:
        reason = choice.get("finish_reason")
        content, refusal = self._content(choice)
        if reason == "content_filter" or refusal:
            return self._failed(request, sample, chat.REFUSAL, refusal or "the content filter")
        if reason == "length" and "</translation>" not in content:  # text after the translation may be truncated
            return self._failed(request, sample, CUT_OFF, content)
        text, problem = chat.extract(content, request.source)
        if text is None:
            return self._failed(request, sample, problem, content)
        numbers = _log_probabilities(choice, content, text)
        log_probability, n_tokens = (sum(numbers), len(numbers)) if numbers else (None, None)
        return Translation(request.request_id, text, sample, None, log_probability, n_tokens)

    def _content(self, choice: dict[str, Any]) -> tuple[str, str]:
        """The answer, or the refusal in its place."""
        if self._endpoint == "completions":
            return self._client.take(choice, "text", kind=str), ""
        message = self._client.take(choice, "message", kind=dict)
        content, refusal = message.get("content"), message.get("refusal")
        if isinstance(content, list):  # in parts, some of which are thoughts
            content = "".join(str(piece.get("text", "")) for piece in content if isinstance(piece, dict))
        if content is not None and not isinstance(content, str):
            self._client.take(choice, "message", "content", kind=str)
        return content or "", refusal if isinstance(refusal, str) else ""

    def _failed(self, request: Request, sample: int, problem: str, said: str) -> Translation:
        with self._lock:
            self._n_problems[problem] += 1
        said = self._client.masked(said)
        return Translation(request.request_id, None, sample, f"{problem}: {said}" if said else problem)

    # -- scoring

    def _score(self, request: Request) -> Translation:
        """The log-probability of a translation after the prompt: that of its additional tokens."""
        prompt = self._prompt.text(request.source, request.source_language, request.target_language)
        target = request.target or ""
        if prompt not in self._prompt_tokens:
            self._prompt_tokens[prompt] = self._scored_tokens(prompt)[0]
        gap = "" if prompt[-1:].isspace() else " "
        # Including the line end, where translation stops: the start of a sentence is not the sentence.
        tokens, log_probabilities = self._scored_tokens(f"{prompt}{gap}{target}\n")
        # Not by characters: tokens may be shown without their spaces, and partial letters as a sign.
        n_shared = 0
        for one, other in zip(self._prompt_tokens[prompt], tokens, strict=False):
            if one != other:
                break
            n_shared += 1
        numbers = tuple(number for number in log_probabilities[n_shared:] if number is not None)
        if not numbers or len(numbers) < len(tokens) - n_shared:
            return self._failed(request, request.first_sample, NO_LOGPROB, "")
        return Translation(request.request_id, target, request.first_sample, None, sum(numbers), len(numbers), numbers)

    def _scored_tokens(self, text: str) -> tuple[list[str], list[float | None]]:
        """The tokens of a text with log-probabilities; the first has none, and some servers give none."""
        # Generate one token, as not all servers accept 0, and drop it.
        body = {**self._asked(text), "max_tokens": 1, "temperature": 0, "echo": True, "logprobs": 1}
        payload = self._client.post(_PATHS[self._endpoint], json=body)
        self._count(payload)
        found = self._client.take(payload, "choices", 0, kind=dict).get("logprobs")
        found = found if isinstance(found, dict) else {}
        tokens, numbers = found.get("tokens"), found.get("token_logprobs")
        if not isinstance(tokens, list) or not isinstance(numbers, list) or len(tokens) != len(numbers):
            return [], []
        n_given = len(tokens) - _usage(payload).get("completion_tokens", 1)
        given = [str(token) for token in tokens[:n_given]]
        if not _is_spelt(given, text):
            return [], []
        return given, [number if isinstance(number, int | float) else None for number in numbers[:n_given]]

    # -- after the work

    def _count(self, payload: Any) -> None:
        with self._lock:
            self._n_spent["requests"] += 1
            self._n_spent.update(_usage(payload))

    def _cost(self, n_input: int, n_output: int) -> str:
        """By the given prices; empty without them."""
        cost = (n_input * self._prices[0] + n_output * self._prices[1]) / 1_000_000
        return f"${cost:{',.2f' if cost >= 0.005 else '.2g'}}" if cost else ""

    def forecast(self, requests: Sequence[Request]) -> str:
        """Assumes four characters per token, plus the prompt."""
        n_input = sum(len(request.source) for request in requests) // 4
        n_output = sum(len(request.source) * request.n_samples for request in requests) // 4
        cost = self._cost(n_input, n_output)
        return f"estimated cost: at least {cost}" if cost else ""

    def notes(self) -> Sequence[str]:
        if not self._n_spent["requests"]:
            return ()
        n_input, n_output = self._n_spent["prompt_tokens"], self._n_spent["completion_tokens"]
        tokens = f"{n_input:,} input and {n_output:,} output tokens" if n_input else "an unknown number of tokens"
        cost = self._cost(n_input, n_output)
        money = f", which cost about {cost}" if cost else ""
        lines = [f"{self.spec} used {tokens} in {self._n_spent['requests']:,} answers{money}"]
        if self._n_problems:
            kinds = ", ".join(f"{n:,} {problem}" for problem, n in self._n_problems.most_common())
            lines.append(
                f"{self.spec} gave answers without a translation: {kinds} (`error` says why: in the run folder's "
                "translations.jsonl, or with `translate --json`)"
            )
        return lines

    def close(self) -> None:
        self._client.close()


def _decoding(options: Sequence[tuple[str, str]]) -> Decoding:
    return Decoding.of((key, value) for key, value in options if key != HINT)


def _kind(status: int, payload: Any) -> str:
    """An exhausted quota has the status of rate limiting, but retrying is pointless."""
    error = payload.get("error") if isinstance(payload, dict) else None
    code = str(error.get("code") or error.get("type") or "") if isinstance(error, dict) else ""
    return "quota" if status == 429 and code in ("insufficient_quota", "billing_hard_limit_reached") else ""


def _usage(payload: Any) -> dict[str, int]:
    usage = payload.get("usage") if isinstance(payload, dict) else None
    usage = usage if isinstance(usage, dict) else {}
    counts = {name: usage.get(name) for name in ("prompt_tokens", "completion_tokens")}
    return {name: n for name, n in counts.items() if isinstance(n, int) and 0 <= n <= _MOST_TOKENS}


def _item_problem(problem: http.Refusal) -> str | None:
    """The problem of this sentence; None if all others would be refused as well."""
    if isinstance(problem, http.TooLarge):
        return "too long"
    if problem.status not in (400, 403, 422):
        return None
    if _TOO_LONG.search(problem.said):
        return "too long"
    return chat.REFUSAL if _FILTERED.search(f"{problem.said} {json.dumps(problem.payload)}") else None


def _log_probabilities(choice: Mapping[str, Any], content: str, text: str) -> list[float]:
    """For the tokens of a translation in an answer; empty if any is missing or they cannot be separated."""
    found = choice.get("logprobs")
    found = found if isinstance(found, dict) else {}
    tokens, numbers = found.get("tokens"), found.get("token_logprobs")
    if isinstance(rows := found.get("content"), list):
        rows = [row if isinstance(row, dict) else {} for row in rows]
        tokens, numbers = [row.get("token") for row in rows], [row.get("logprob") for row in rows]
    if not isinstance(numbers, list) or not all(isinstance(n, int | float) and math.isfinite(n) for n in numbers):
        return []
    if text == content.strip():
        return [float(number) for number in numbers]
    tokens = [str(token) for token in tokens] if isinstance(tokens, list) else []
    joined = "".join(tokens)
    if len(tokens) != len(numbers) or joined.count(text) != 1:
        return []
    start = joined.index(text)
    ends = itertools.accumulate(map(len, tokens))
    inside = [end > start and end - len(token) < start + len(text) for token, end in zip(tokens, ends, strict=True)]
    return [float(number) for number in itertools.compress(numbers, inside)]


def _is_spelt(tokens: Sequence[str], text: str) -> bool:
    """Whether tokens end like a text, as far as letters can be compared."""
    joined = "".join(tokens)
    if "\ufffd" in joined or "bytes:" in joined:
        return bool(joined)
    wanted, found = ("".join(filter(str.isalnum, part)) for part in (text, joined))
    return found.endswith(wanted)


# -- options


def _number_or_none(options: Mapping[str, str], key: str, kind: type[T]) -> T | None:
    text = options.get(key, "0")
    if text == "none":
        return None
    try:
        number = kind(text)
    except ValueError:
        number = kind(-1)
    if not 0 <= number < float("inf"):
        what = "a whole number" if kind is int else "a number"
        raise UserError(f"option {key} must be {what}, at least 0, or none, not {text!r}")
    return number


def _extra(options: Mapping[str, str]) -> dict[str, Any]:
    text = options.get("extra", "{}")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        example = '{"reasoning_effort": "low"}'
        raise UserError(f"option extra must be a JSON object, for example {example}, not {text!r}")
    for key in re.findall(r'"([^"]+)"\s*:', text):
        if _SECRET.search(key):
            raise UserError(f"option extra takes no {key!r}, where others could read it; set {KEY} instead")
    for key in found:
        if _OURS.fullmatch(key):
            raise UserError(f"option extra cannot set {key!r}, which openai: sets itself; see its other options")
    return found


# -- batches -----------------------------------------------------------------------------------------------------------

_MOST_BATCHED = 5_000
"""Per batch; servers accept ten times as many, but a failure would cost more."""
_BATCH_KEY = "gendermark"
_BATCH_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_PAGES = 50
_PER_PAGE = 100

Bodies = Mapping[str, Mapping[str, Any]]
"""Request id -> request body."""
Answers = dict[str, dict[str, Any]]
"""Request id -> `{"status_code", "body"}`, from the server."""


class Batches:
    """The batches of one system (`/files`, `/batches`): answers within a day, usually at half the price.

    A batch is paid for when accepted, long before its answers arrive. Submissions are therefore journalled first, a
    batch carries its key as metadata, and after a kill it is found in the journal or in the server's list. It is never
    submitted again while its answers are available.
    """

    def __init__(self, client: http.Client, system_id: str, path: str, poll_seconds: float) -> None:
        self._client, self._path, self._poll_seconds = client, path, poll_seconds
        name = hashlib.sha256(system_id.encode()).hexdigest()[:24]
        self._directory = cache_root() / "batches" / name

    def answer(self, bodies: Bodies) -> Iterator[Answers]:
        """Answers of earlier submissions first, then of everything else as one batch.

        Answers count as delivered when the next ones are requested: the caller has then stored them.
        """
        missing = dict(bodies)
        for path in sorted(self._directory.glob("*.json")):
            entry = self._read(path)
            wanted = [one for one in entry["ids"] if one in missing and one not in entry["delivered"]]
            if wanted and self._find(path, entry):
                log.info("%s: batch %s was submitted earlier; waiting for it", self._client.spec, entry["batch_id"])
                yield from self._collect(path, entry, wanted)
                missing = {one: body for one, body in missing.items() if one not in wanted}
        if missing:
            path, entry = self._submit(missing)
            yield from self._collect(path, entry, list(missing))

    def _submit(self, bodies: Bodies) -> tuple[Path, dict[str, Any]]:
        lines = [
            json.dumps({"custom_id": name, "method": "POST", "url": f"/v1{self._path}", "body": body})
            for name, body in bodies.items()
        ]
        content = "\n".join(lines).encode()
        key = hashlib.sha256(content + str(time.time_ns()).encode()).hexdigest()[:32]
        file = self._client.post(
            "/files", files={"file": (f"{key}.jsonl", content, "application/jsonl")}, data={"purpose": "batch"}
        )
        file_id = self._client.take(file, "id", kind=str)
        path = self._directory / f"{time.time_ns()}-{key}.json"
        entry = {"key": key, "batch_id": "", "ids": list(bodies), "delivered": []}
        self._directory.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps(entry))
        try:
            # No retry: a batch whose acceptance was lost must not be submitted again.
            body = {"input_file_id": file_id, "endpoint": f"/v1{self._path}", "completion_window": "24h"}
            batch = self._client.post("/batches", json={**body, "metadata": {_BATCH_KEY: key}}, max_retries=0)
        except http.Refusal:
            path.unlink()  # the batch was rejected
            raise
        entry["batch_id"] = self._client.take(batch, "id", kind=str)
        write_text(path, json.dumps(entry))
        log.info("%s: batch %s of %s requests submitted", self._client.spec, entry["batch_id"], f"{len(bodies):,}")
        return path, entry

    def _find(self, path: Path, entry: dict[str, Any]) -> bool:
        """Whether a batch was accepted; asks the server if the journal does not show it."""
        if entry["batch_id"]:
            return True
        after: dict[str, str] = {}
        for _ in range(_PAGES):
            try:
                found = self._client.get("/batches", params={"limit": str(_PER_PAGE), **after})
            except http.Refusal as problem:
                raise SystemFailure(
                    f"{self._client.spec} may have accepted a batch just before an earlier run ended, and lists no "
                    f"batches; check there, then delete {path} to submit it again"
                ) from problem
            rows = self._client.take(found, "data", kind=list)
            for row in rows:
                if isinstance(row, dict) and (row.get("metadata") or {}).get(_BATCH_KEY) == entry["key"]:
                    entry["batch_id"] = self._client.take(row, "id", kind=str)
                    write_text(path, json.dumps(entry))
                    return True
            if not rows or not found.get("has_more"):
                break
            after = {"after": self._client.take(rows[-1], "id", kind=str)}
        path.unlink()
        return False

    def _collect(self, path: Path, entry: dict[str, Any], wanted: list[str]) -> Iterator[Answers]:
        batch = self._wait(path, entry["batch_id"])
        status = batch["status"]
        found: Answers = {}
        for kind in ("error_file_id", "output_file_id"):
            if file_id := batch.get(kind):
                for row in self._client.rows(f"/files/{file_id}/content"):
                    response = row.get("response") if isinstance(row, dict) else None
                    if response or (isinstance(row, dict) and row.get("error")):
                        said = response or {"status_code": 0, "body": {"error": row["error"]}}
                        found[str(row.get("custom_id"))] = said
        if answered := {name: found[name] for name in wanted if name in found}:
            yield answered
        entry["delivered"] += wanted
        if status != "completed" or set(entry["ids"]) <= set(entry["delivered"]):
            path.unlink(missing_ok=True)
        else:
            write_text(path, json.dumps(entry))
        if len(answered) < len(wanted):
            why = http.message_of(batch.get("errors")) or f"it is {status}"
            raise SystemFailure(
                f"{self._client.spec} left {len(wanted) - len(answered):,} of {len(wanted):,} requests of batch "
                f"{entry['batch_id']} unanswered ({self._client.masked(why)}); rerun to submit those again"
            )

    def _wait(self, path: Path, batch_id: str) -> dict[str, Any]:
        shown = ""
        while True:
            try:
                batch = self._client.take(self._client.get(f"/batches/{batch_id}"), kind=dict)
            except http.Refusal as problem:
                if problem.status == 404:
                    raise SystemFailure(
                        f"{self._client.spec} no longer has batch {batch_id}; delete {path} to submit it again"
                    ) from None
                raise
            status = self._client.take(batch, "status", kind=str)
            if status in _BATCH_ENDED:
                return batch
            counts = batch.get("request_counts") or {}
            news = f"batch {batch_id} is {self._client.masked(status)}, {counts.get('completed', 0)} answered"
            if news != shown:
                log.info("%s: %s", self._client.spec, news)
                shown = news
            time.sleep(self._poll_seconds)

    def _read(self, path: Path) -> dict[str, Any]:
        with suppress(OSError, ValueError):
            entry = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(entry, dict) and {"key", "batch_id", "ids", "delivered"} <= entry.keys():
                return entry
        raise SystemFailure(f"{path} is damaged; it names a batch that was paid for: restore it, or delete it")
