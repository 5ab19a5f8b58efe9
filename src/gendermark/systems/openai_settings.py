"""The options of `openai:`, checked: how a model is asked, and what of that decides its answers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gendermark.errors import UserError
from gendermark.systems import http
from gendermark.systems.extraction import EXTRACTION_VERSION
from gendermark.systems.prompts import Prompt, open_prompt
from gendermark.systems.system import count_option, number_option

KEY = "OPENAI_API_KEY"
OPTIONS = (
    "endpoint",
    "prompt",
    "system",
    "temperature",
    "max_tokens",
    "seed",
    "logprobs",
    "no_think",
    "extra",
    "key_variable",
    "price_input",
    "price_output",
    *http.OPTIONS,
)
_EXAMPLE = '{"reasoning_effort": "low"}'
_PATHS = {"chat": "/chat/completions", "completions": "/completions"}
_OURS = re.compile("model|messages|prompt|n|stream|seed|temperature|top_p|top_k|max_tokens|logprobs|echo")
"""What of a request's body cannot be given as `extra`: each has an option of its own, or is ours to decide."""
_SECRET = re.compile(r"api_?key|authorization|password|secret|credential|bearer|access_token", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Settings:
    endpoint: str
    prompt: Prompt
    temperature: float | None
    """None: the server's own; so are the next two."""
    max_tokens: int | None
    seed: int | None
    given_seed: str
    """As the user wrote it; empty: they did not, and translations are asked for without one."""
    wants_logprobs: bool
    no_think: bool
    extra: Mapping[str, Any]
    prices: tuple[float, float]
    """Of a million tokens of input and of output."""

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Settings:
        endpoint = options.get("endpoint", "chat")
        if endpoint not in _PATHS:
            raise UserError(f"option endpoint is chat or completions, not {endpoint!r}")
        # A base model has not learnt to follow instructions; it goes on writing where the prompt ends.
        default = "default" if endpoint == "chat" else "tower"
        return cls(
            endpoint,
            open_prompt(options.get("prompt", default), options.get("system", "")),
            _number_or_none(options, "temperature", 0.0),
            None if options.get("max_tokens") == "none" else count_option(options, "max_tokens", 1024),
            _seed(options),
            options.get("seed", ""),
            _switch(options, "logprobs"),
            _switch(options, "no_think"),
            _extra(options),
            (_price(options, "price_input"), _price(options, "price_output")),
        )

    @property
    def path(self) -> str:
        """Of the address, behind the server's."""
        return _PATHS[self.endpoint]

    @property
    def identity(self) -> dict[str, str]:
        """All that decides what is answered; sampling's own options are part of its requests."""
        return {
            "endpoint": self.endpoint,
            "prompt": self.prompt.content_hash,
            "temperature": "none" if self.temperature is None else f"{self.temperature:g}",
            "max_tokens": str(self.max_tokens),
            "seed": self.given_seed,
            "logprobs": "true" if self.wants_logprobs else "",
            "no_think": "true" if self.no_think else "",
            "extra": json.dumps(self.extra, sort_keys=True) if self.extra else "",
            "extraction": str(EXTRACTION_VERSION),
        }

    @property
    def decoding(self) -> str:
        shown = "default" if self.temperature is None else f"{self.temperature:g}"
        return f"temperature{shown},prompt{self.prompt.content_hash[:8]}"

    def cost(self, n_input: int, n_output: int) -> float:
        return (n_input * self.prices[0] + n_output * self.prices[1]) / 1_000_000


def _price(options: Mapping[str, str], name: str) -> float:
    return number_option(options, name, 1) if name in options else 0.0


def _number_or_none(options: Mapping[str, str], key: str, default: float) -> float | None:
    """A number, at least 0; `none` leaves it to the server, as some models refuse to be told."""
    text = options.get(key, str(default))
    if text == "none":
        return None
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise UserError(f"option {key} must be a number, at least 0, or none, not {text!r}")
    return number


def _seed(options: Mapping[str, str]) -> int | None:
    text = options.get("seed", "0")
    if text == "none":
        return None
    if not text.isdecimal():
        raise UserError(f"option seed must be a whole number, or none, not {text!r}")
    return int(text)


def _switch(options: Mapping[str, str], key: str) -> bool:
    text = options.get(key, "false")
    if text not in ("true", "false"):
        raise UserError(f"option {key} is true or false, not {text!r}")
    return text == "true"


def _extra(options: Mapping[str, str]) -> dict[str, Any]:
    """More of the request's body, as JSON."""
    text = options.get("extra", "{}")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UserError(f"option extra must be a JSON object, for example {_EXAMPLE}, not {text!r}")
    for key in re.findall(r'"([^"]+)"\s*:', text):
        if _SECRET.search(key):
            raise UserError(
                f"option extra takes no {key!r}, which others could read in the run folder; set {KEY} instead"
            )
    for key in found:
        if _OURS.fullmatch(key):
            raise UserError(f"option extra cannot set {key!r}, which openai: sets itself; see its other options")
    return found
