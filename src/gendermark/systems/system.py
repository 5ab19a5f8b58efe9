"""Translation systems, named by `family:argument`."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import UserError
from gendermark.records import Request, Task, Translation

HINT = "hint"
"""Request option with a sentence for the prompt, for systems that `takes_hints`."""
KEPT = "(finished translations are kept; rerun to resume)"
GIVEN_TWICE = "option {} is given twice; give it once, after ? or with --system-option"


class Opened(NamedTuple):
    """A system as it was opened."""

    spec: str
    options: tuple[tuple[str, str], ...]


class System(ABC):
    """Answers requests. A new family is one file with a subclass, and one registry line.

    Created from `argument` and `options`: the text after the colon, and `--system-option`.
    """

    spec: str
    """The name given by the user."""
    system_id: str
    """The store's key for its answers: changes whenever the same request could get another answer."""
    tasks: frozenset[Task] = frozenset({Task.TRANSLATE})
    decoding: str = ""
    """Decoding settings for the signature: `beam5,int8`."""
    batch_size: int = 32
    n_samples_per_call: int = 16
    """Samples of one request per call; sampling requests are always split at multiples of this."""
    is_stored: bool = True
    """Whether answers are stored. False if they cost nothing or belong to one item set only; such a system gets all
    requests in one call and answers in order."""
    unsound: str = ""
    """Accepted problem of the prepared translations."""
    answers_by_line: bool = False
    """Whether answers are matched to sources by order alone, so that one extra line shifts all following ones."""
    asks_a_server: bool = False
    """Whether the work is done elsewhere. All requests are then sent from one process, which keeps the server's
    concurrency limit with any number of workers, and its key private."""
    is_asked_again_freely: bool = False
    """Whether repeating a request costs only a moment of local computing. Quick answers are then written together."""
    is_for_items_only: bool = False
    """Whether it answers benchmark sentences only, after `prepare`."""
    has_own_time: bool = True
    """Whether its running time is meaningful; False if its answers were made elsewhere."""
    computing: str = ""
    """Hardware settings for the signature of timings: `cpu, workers 2, threads of each 1`."""
    gives_n_best: bool = False
    """Whether it can list its n best translations (`n_best`)."""
    takes_hints: bool = False
    """Whether a request may have a sentence for the prompt, as the option `HINT`."""
    opened_as: Opened | None = None
    """How to open the same system in another process."""

    def prepare(self, benchmark: Benchmark, item_set: ItemSet, requests: Sequence[Request]) -> None:  # noqa: ARG002
        """Called once per item set before its requests, which may be of several languages."""
        own = (item_set.selection.source_language, item_set.selection.target_language)
        for direction in by_direction(requests) or {own: []}:
            self.check(*direction, requests)

    def check(  # noqa: B027 (most systems need nothing)
        self, source_language: str, target_language: str, requests: Sequence[Request]
    ) -> None:
        """Refuse early: an unsupported pair, no server, a bad key."""

    def shard_size(self, task: Task) -> int:  # noqa: ARG002
        """Number of requests per worker task."""
        return self.batch_size

    def briefing(self, requests: Sequence[Request]) -> Any:  # noqa: ARG002
        """Picklable data that the same system in another process needs to answer these."""
        return None

    def brief(self, briefing: Any, requests: Sequence[Request]) -> None:  # noqa: ARG002
        """Receive a briefing, instead of `prepare`."""
        for direction in by_direction(requests):
            self.check(*direction, requests)

    @abstractmethod
    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        """Yield answers in portions as they become available; each portion is stored at once.

        All samples of a request come in the same portion.
        """

    def n_best(self, requests: Sequence[Request], n: int) -> Iterator[Sequence[Translation]]:
        """The n most probable translations of each request, or fewer; the sample number is the rank."""
        raise NotImplementedError(f"{self.spec} does not list {n} translations of {len(requests)} sentences")

    def forecast(self, requests: Sequence[Request]) -> str:  # noqa: ARG002
        """The cost of these requests, in a few words; empty if unknown or free."""
        return ""

    def notes(self) -> Sequence[str]:
        """Lines to print after the work: tokens and money spent, reduced batch sizes."""
        return ()

    def close(self) -> None:  # noqa: B027 (most systems hold nothing)
        """Release processes and memory."""


def open_system(spec: str, options: Mapping[str, str] | None = None) -> System:
    family, colon, argument = spec.partition(":")
    if not colon or not argument:
        families = ", ".join(f"{name}:..." for name in registry.names("system"))
        raise UserError(f"write a system as family:argument, not {spec!r}; available: {families}")
    system: System = registry.load("system", family)(argument, dict(options or {}))
    system.opened_as = Opened(spec, tuple(sorted((options or {}).items())))
    return system


def families_that_can(task: Task) -> list[str]:
    """Families with a system that supports a task, by their modules' `TASKS`; `TASK_NOTES` say how."""
    able = []
    for family in registry.names("system"):
        with contextlib.suppress(UserError):  # a plug-in that does not load
            if task in registry.sibling("system", family, "TASKS", ()):
                note = registry.sibling("system", family, "TASK_NOTES", {}).get(task)
                able.append(f"{family}:... ({note})" if note else f"{family}:...")
    return able


def by_direction(requests: Sequence[Request]) -> dict[tuple[str, str], list[Request]]:
    found: dict[tuple[str, str], list[Request]] = {}
    for request in requests:
        found.setdefault((request.source_language, request.target_language), []).append(request)
    return found


def split_options(argument: str, options: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The name or path in `NAME?KEY=VALUE`, and the options of both.

    An existing directory with that exact name is meant literally.
    """
    name, _, query = argument.partition("?")
    merged = dict(options)
    if Path(argument).is_dir():
        return argument, merged
    for key, value in parse_qsl(query, keep_blank_values=True):
        if key in merged:
            raise UserError(GIVEN_TWICE.format(key))
        merged[key] = value
    return name, merged


def with_options(name: str, options: Mapping[str, str], hidden: Sequence[str] = ()) -> str:
    """A name with its options after `?`, wherever they were given."""
    shown = "&".join(f"{key}={options[key]}" for key in sorted(options) if key not in hidden)
    return f"{name}?{shown}" if shown else name


def refuse_unknown_options(family: str, options: Mapping[str, str], known: Sequence[str]) -> None:
    for key in options:
        if key not in known:
            raise UserError(f"system family {family} has no option {key!r}; available: {', '.join(known) or 'none'}")


def choice_option(options: Mapping[str, str], key: str, choices: Sequence[str]) -> str:
    """One of several values; default: the first."""
    value = options.get(key, choices[0])
    if value not in choices:
        raise UserError(f"option {key} must be one of {', '.join(choices)}, not {value!r}")
    return value


def checked_number(name: str, text: str, fits: Callable[[float], bool], what: str) -> float:
    """The number in a user's text."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not abs(number) < float("inf") or not fits(number):
        raise UserError(f"{name} must be {what}, not {text!r}")
    return number


def number_option(options: Mapping[str, str], key: str, default: float, *, above: float = 0.0) -> float:
    """A number greater than `above`."""
    text = options.get(key, str(default))
    return checked_number(f"option {key}", text, lambda number: number > above, f"a number above {above:g}")


def flag_option(options: Mapping[str, str], key: str) -> bool:
    """Yes or no; default: no."""
    return choice_option({key: options.get(key, "no").strip().lower()}, key, ("yes", "no")) == "yes"


def count_option(options: Mapping[str, str], key: str, default: int, least: int = 1) -> int:
    """An integer, at least 1 (or another limit)."""
    text = options.get(key, str(default)).strip()
    if not text.isdecimal() or int(text) < least:
        raise UserError(f"option {key} must be a whole number, at least {least}, not {text!r}")
    return int(text)
