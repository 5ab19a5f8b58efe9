"""What systems that wrap another system share: `rerank:SPEC` and `hinted:SPEC`.

Their options stand among those of SPEC: `rerank:demo:en-es?beam_size=2&n=8` takes `n` and leaves `beam_size=2` to
`demo:`. Wrappers can be nested: `rerank:hinted:demo:en-es?style=context&n=8`.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import UserError
from gendermark.reading.source_gender import VERSION, PersonTold, read_source
from gendermark.records import Gender, Request, Task
from gendermark.systems.system import GIVEN_TWICE, System, choice_option, open_system

READERS = ("source", "gold")
"""Where the gender of a person comes from: the source sentence or, as an upper bound, the benchmark."""
_INHERITED = (
    "decoding",
    "batch_size",
    "n_samples_per_call",
    "is_stored",
    "answers_by_line",
    "asks_a_server",
    "is_asked_again_freely",
)


class Wrapper(System):
    """Reads English sources and asks another system; passes on what concerns nobody of a marked gender."""

    family: str
    own_options: tuple[str, ...]

    def __init__(self, argument: str, options: Mapping[str, str], inner: System | None = None) -> None:
        """Wrap the system named by `argument`, or `inner` if it is open already; the caller then closes it."""
        spec, self._own, others = split_wrapped(self.family, argument, options, self.own_options)
        self._reader = choice_option(self._own, "reader", READERS)
        self._closes = inner is None
        self._inner = inner or open_system(spec, others)
        if not self._inner.has_own_time:
            raise UserError(
                f"{self.family}: needs a system that translates; {self._inner.spec} only reads existing translations"
            )
        for name in _INHERITED:
            setattr(self, name, getattr(self._inner, name))
        self._gold: dict[str, tuple[str, Gender]] | None = None
        """By source: the person meant and the expected gender, with `reader=gold`."""
        own = "&".join(f"{key}={self._own[key]}" for key in sorted(self._own))
        mark = "&" if "?" in self._inner.spec else "?"
        self.spec = f"{self.family}:{self._inner.spec}" + (mark + own if own else "")
        self._update_id()

    @abstractmethod
    def _identity(self) -> str:
        """Its own options, as far as they affect an answer."""

    def _check_target(self, language: str) -> None:
        """Refuse a target language that it cannot work with."""

    def _inner_request(self, request: Request) -> Request:
        """What the inner system is asked for a request."""
        return request

    def _people(self, source: str) -> list[PersonTold]:
        """Everybody in a source whose gender is known."""
        people = read_source(source)
        if self._gold is None:
            return [person for person in people if person.gender is not None]
        noun, gender = self._gold.get(source, ("", Gender.NEUTRAL))
        return [replace(person, gender=gender) for person in people if person.noun == noun]

    def _update_id(self) -> None:
        """Again after the inner system was prepared: the id of some depends on the items."""
        gold = ""
        if self._gold is not None:
            gold = hashlib.sha256(repr(sorted(self._gold.items())).encode()).hexdigest()[:16]
        self.system_id = f"{self.family}#{self._identity()}#{self._reader}{VERSION}{gold}#{self._inner.system_id}"

    def _inner_requests(self, requests: Sequence[Request]) -> list[Request]:
        return [self._inner_request(request) for request in requests]

    def prepare(self, benchmark: Benchmark, item_set: ItemSet, requests: Sequence[Request]) -> None:
        if self._reader == "gold":
            self._gold = {
                request.source: (item.entity, item.expected)
                for item, request in zip(item_set.items, requests, strict=True)
                if item.entity and item.expected is not None and item.expected is not Gender.NEUTRAL
            }
        for direction in dict.fromkeys((r.source_language, r.target_language) for r in requests):
            self._check_direction(*direction)
        self._inner.prepare(benchmark, item_set, self._inner_requests(requests))
        self._update_id()

    def check(self, source_language: str, target_language: str, requests: Sequence[Request]) -> None:
        self._check_direction(source_language, target_language)
        if self._reader == "gold" and self._gold is None:
            raise UserError(f"{self.spec} needs a benchmark, which knows the genders; leave out reader=gold")
        self._inner.check(source_language, target_language, self._inner_requests(requests))
        self._update_id()

    def _check_direction(self, source_language: str, target_language: str) -> None:
        if source_language != "en":
            raise UserError(
                f"{self.family}: reads English sources only, not {source_language!r}; use {self._inner.spec} itself"
            )
        self._check_target(target_language)

    def shard_size(self, task: Task) -> int:
        return self._inner.shard_size(task)

    def briefing(self, requests: Sequence[Request]) -> Any:
        inner = self._inner.briefing(self._inner_requests(requests))
        return None if inner is None and self._gold is None else (self._gold, inner)

    def brief(self, briefing: Any, requests: Sequence[Request]) -> None:
        self._gold, inner = briefing or (None, None)
        self._inner.brief(inner, self._inner_requests(requests))
        self._update_id()

    def forecast(self, requests: Sequence[Request]) -> str:
        return self._inner.forecast(self._inner_requests(requests))

    def close(self) -> None:
        if self._closes:
            self._inner.close()


def split_wrapped(
    family: str, argument: str, options: Mapping[str, str], own: Sequence[str]
) -> tuple[str, dict[str, str], dict[str, str]]:
    """The spec of the inner system, the options of the wrapper, and those in `options` for the inner system."""
    head, mark, query = argument.rpartition("?")
    parts = [part.partition("=") for part in query.split("&")] if mark else []
    found = {key: value for key, _, value in parts if key in own}
    if found:
        rest = "&".join(key + equals + value for key, equals, value in parts if key not in own)
        argument = f"{head}?{rest}" if rest else head
    for key, value in options.items():
        if key in found:
            raise UserError(GIVEN_TWICE.format(key))
        if key in own:
            found[key] = value
    if ":" not in argument:
        raise UserError(f"write {family}:SYSTEM, for example {family}:demo:en-es, not {family}:{argument}")
    return argument, found, {key: value for key, value in options.items() if key not in own}
