"""Systems around another system: what they share.

`rerank:SPEC` and `hinted:SPEC` read the source, and ask the system SPEC. Their options stand behind the `?` among those
of SPEC itself, or beside it: `rerank:demo:en-es?beam_size=2&n=8` takes `n`, and leaves `beam_size=2` to `demo:`. So
they can stand around each other: `rerank:hinted:demo:en-es?style=context&n=8`.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import UserError
from gendermark.linguistics.source_gender import VERSION, PersonTold, read_source
from gendermark.records import Gender, Item, Request, Task, Translation
from gendermark.systems.system import System, open_system

READERS = ("source", "gold")
"""Who says which gender the source tells: our reader; or, as an upper bound, the benchmark itself."""
_SIDES = (Gender.MASCULINE, Gender.FEMININE)
_Known = Mapping[str, tuple[str, Gender]]
"""Source -> the person meant and the gender, as a benchmark knows them."""


class Wrapper(System):
    """A system around another one. It reads English sources, and changes nothing where they tell nobody's gender."""

    family: str
    own_options: tuple[str, ...]

    def __init__(self, argument: str, options: Mapping[str, str], inner: System | None = None) -> None:
        """`inner`, if it is given, is the system meant, opened already; it is left open."""
        spec, own, others = split_wrapped(self.family, argument, options, self.own_options)
        self._own = own
        self._reader = own.get("reader", "source")
        if self._reader not in READERS:
            raise UserError(f"option reader of {self.family}: is source or gold, not {self._reader!r}")
        self._closes = inner is None
        self._inner = inner or open_system(spec, others)
        if not self._inner.has_own_time:
            raise UserError(
                f"{self.family}: needs a system that translates, and {self._inner.spec} only has translations that "
                "were made before"
            )
        self._known: _Known | None = None
        self.tasks = frozenset({Task.TRANSLATE})
        self.decoding = self._inner.decoding
        self.batch_size = self._inner.batch_size
        self.n_samples_per_call = self._inner.n_samples_per_call
        self.is_stored = self._inner.is_stored
        self.answers_by_line = self._inner.answers_by_line
        self.asks_a_server = self._inner.asks_a_server
        self.is_asked_again_freely = self._inner.is_asked_again_freely
        self.spec = _with_own(f"{self.family}:{self._inner.spec}", own)
        self._name()

    # -- what a family says

    @abstractmethod
    def _identity(self) -> str:
        """Its own options, as far as they decide an answer."""

    @abstractmethod
    def _check_target(self, language: str) -> None:
        """Refuse a target language that it cannot work with."""

    def _asked(self, request: Request) -> Request:
        """What the inner system is asked for a request."""
        return request

    # -- what follows from it

    def _told(self, source: str) -> list[PersonTold]:
        """Everybody in a source whose gender is told."""
        people = read_source(source)
        if self._known is None:
            return [person for person in people if person.gender is not None]
        noun, gender = self._known.get(source, ("", Gender.NEUTRAL))
        return [replace(person, gender=gender) for person in people if person.noun == noun]

    def _name(self) -> None:
        """The name of the store, which some inner systems change with the items."""
        known = ""
        if self._known is not None:
            known = hashlib.sha256(repr(sorted(self._known.items())).encode()).hexdigest()[:16]
        self.system_id = f"{self.family}#{self._identity()}#{self._reader}{VERSION}{known}#{self._inner.system_id}"

    def prepare(self, benchmark: Benchmark, item_set: ItemSet, requests: Sequence[Request]) -> None:
        if self._reader == "gold":
            self._known = _known(item_set.items, requests)
        for direction in dict.fromkeys((r.source_language, r.target_language) for r in requests):
            self._check_direction(*direction)
        self._inner.prepare(benchmark, item_set, [self._asked(request) for request in requests])
        self._name()

    def check(self, source_language: str, target_language: str, requests: Sequence[Request]) -> None:
        self._check_direction(source_language, target_language)
        if self._reader == "gold" and self._known is None:
            raise UserError(
                f"{self.spec} takes the gender from a benchmark, and these sentences are of none; leave out reader=gold"
            )
        self._inner.check(source_language, target_language, [self._asked(request) for request in requests])
        self._name()

    def _check_direction(self, source_language: str, target_language: str) -> None:
        if source_language != "en":
            raise UserError(
                f"{self.family}: reads the genders of English sources, not of {source_language!r}; ask "
                f"{self._inner.spec} itself"
            )
        self._check_target(target_language)

    def shard_size(self, task: Task) -> int:
        return self._inner.shard_size(task)

    def briefing(self, requests: Sequence[Request]) -> Any:
        inner = self._inner.briefing([self._asked(request) for request in requests])
        return None if inner is None and self._known is None else (self._known, inner)

    def brief(self, briefing: Any, requests: Sequence[Request]) -> None:
        self._known, inner = briefing or (None, None)
        self._inner.brief(inner, [self._asked(request) for request in requests])
        self._name()

    def forecast(self, requests: Sequence[Request]) -> str:
        return self._inner.forecast([self._asked(request) for request in requests])

    def close(self) -> None:
        if self._closes:
            self._inner.close()


def split_wrapped(
    family: str, argument: str, options: Mapping[str, str], own: Sequence[str]
) -> tuple[str, dict[str, str], dict[str, str]]:
    """The inner system with its query, the options of the outer one, and those given beside it for the inner one."""
    head, mark, query = argument.rpartition("?")
    parts = [part.partition("=") for part in query.split("&")] if mark else []
    found = {key: value for key, _, value in parts if key in own}
    if found:
        rest = "&".join(key + equals + value for key, equals, value in parts if key not in own)
        argument = f"{head}?{rest}" if rest else head
    for key in found:
        if key in options:
            raise UserError(f"option {key} is given twice; give it once, after ? or with --system-option")
    if ":" not in argument:
        raise UserError(
            f"write {family}:SYSTEM with the system that is meant, for example {family}:demo:en-es, not "
            f"{family}:{argument}"
        )
    taken = {key: value for key, value in options.items() if key in own}
    return argument, found | taken, {key: value for key, value in options.items() if key not in own}


def _with_own(spec: str, own: Mapping[str, str]) -> str:
    shown = "&".join(f"{key}={own[key]}" for key in sorted(own))
    return f"{spec}{'&' if '?' in spec else '?'}{shown}" if shown else spec


def _known(items: Sequence[Item], requests: Sequence[Request]) -> _Known:
    return {
        request.source: (item.entity, item.expected)
        for item, request in zip(items, requests, strict=True)
        if item.entity and item.expected in _SIDES and item.expected is not None
    }


def each(portions: Iterator[Sequence[Translation]]) -> Iterator[Translation]:
    for portion in portions:
        yield from portion
