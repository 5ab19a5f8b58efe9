"""What a translation system is, and how `family:argument` names one."""

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
"""The option of a request that holds a sentence for the prompt, where a system `takes_hints`."""
KEPT = "(finished translations are kept; rerun to resume)"
GIVEN_TWICE = "option {} is given twice; give it once, after ? or with --system-option"


class Opened(NamedTuple):
    """How a system was opened."""

    spec: str
    options: tuple[tuple[str, str], ...]


class System(ABC):
    """Answers requests. A new family is one file with a subclass and one registry line.

    It is made of `argument` and `options`: the text after the colon, and `--system-option`.
    """

    spec: str
    """The name the user gave, for people to read."""
    system_id: str
    """The store's key for its answers: changes whenever the same request could be answered otherwise."""
    tasks: frozenset[Task] = frozenset({Task.TRANSLATE})
    decoding: str = ""
    """How it searches for a translation, for the signature: `beam5,int8`."""
    batch_size: int = 32
    n_samples_per_call: int = 16
    """Samples of one request asked for at once; a sampling request is always cut at multiples of this."""
    is_stored: bool = True
    """Whether answers go into the store. False where they cost nothing or belong to one item set only; such a system
    gets all requests in one call and answers in their order."""
    unsound: str = ""
    """What is wrong with the translations that it was prepared with, where somebody accepts it."""
    answers_by_line: bool = False
    """Whether answers are matched to sources by order alone, so that one extra line shifts all that follow."""
    asks_a_server: bool = False
    """Whether the work is done elsewhere. All requests are then sent from one process, so that the server's limit on
    concurrent requests holds with any number of workers, and its key stays in that process."""
    is_asked_again_freely: bool = False
    """Whether asking again costs only a moment of local computing. Quick answers are then written a few at a time."""
    is_for_items_only: bool = False
    """Whether it answers the sentences of benchmarks only, after `prepare`."""
    has_own_time: bool = True
    """Whether its running time means anything; False where its answers were made elsewhere."""
    computing: str = ""
    """What it computes with, for the signature of timings: `cpu, workers 2, threads of each 1`."""
    gives_n_best: bool = False
    """Whether it can list the most probable translations of its search (`n_best`)."""
    takes_hints: bool = False
    """Whether a request may have a sentence beside its text, as the option `HINT`."""
    opened_as: Opened | None = None
    """How to open the same system in another process."""

    def prepare(self, benchmark: Benchmark, item_set: ItemSet, requests: Sequence[Request]) -> None:  # noqa: ARG002
        """Called once per item set, before its requests are asked; these may be of several languages."""
        own = (item_set.selection.source_language, item_set.selection.target_language)
        for direction in by_direction(requests) or {own: []}:
            self.check(*direction, requests)

    def check(  # noqa: B027 (most systems need nothing)
        self, source_language: str, target_language: str, requests: Sequence[Request]
    ) -> None:
        """Refuse what can be refused before the first request is asked: another pair, no server, a bad key."""

    def shard_size(self, task: Task) -> int:  # noqa: ARG002
        """How many requests a worker is given at once."""
        return self.batch_size

    def briefing(self, requests: Sequence[Request]) -> Any:  # noqa: ARG002
        """What the same system in another process needs to know to answer these; can be pickled."""
        return None

    def brief(self, briefing: Any, requests: Sequence[Request]) -> None:  # noqa: ARG002
        """Take a briefing, in place of `prepare`."""
        for direction in by_direction(requests):
            self.check(*direction, requests)

    @abstractmethod
    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        """Yield answers in portions as they become available; each portion is stored at once.

        All samples that a request asks for come in the same portion.
        """

    def n_best(self, requests: Sequence[Request], n: int) -> Iterator[Sequence[Translation]]:
        """The n most probable translations of each request, or all if fewer; the sample is the rank."""
        raise NotImplementedError(f"{self.spec} does not list {n} translations of {len(requests)} sentences")

    def forecast(self, requests: Sequence[Request]) -> str:  # noqa: ARG002
        """What these requests may cost, in a few words; empty where that is not known, or nothing."""
        return ""

    def notes(self) -> Sequence[str]:
        """Lines to print after the work: tokens and money spent, reduced batch sizes."""
        return ()

    def close(self) -> None:  # noqa: B027 (most systems hold nothing)
        """Release processes and memory."""


def open_system(spec: str, options: Mapping[str, str] | None = None) -> System:
    """The system named by `family:argument`."""
    family, colon, argument = spec.partition(":")
    if not colon or not argument:
        families = ", ".join(f"{name}:..." for name in registry.names("system"))
        raise UserError(f"write a system as family:argument, not {spec!r}; available: {families}")
    system: System = registry.load("system", family)(argument, dict(options or {}))
    system.opened_as = Opened(spec, tuple(sorted((options or {}).items())))
    return system


def families_that_can(task: Task) -> list[str]:
    """The families with some system that can do a task, by their modules' `TASKS`; `TASK_NOTES` say how."""
    able = []
    for family in registry.names("system"):
        with contextlib.suppress(UserError):  # another package's family that does not load
            if task in registry.sibling("system", family, "TASKS", ()):
                note = registry.sibling("system", family, "TASK_NOTES", {}).get(task)
                able.append(f"{family}:... ({note})" if note else f"{family}:...")
    return able


def by_direction(requests: Sequence[Request]) -> dict[tuple[str, str], list[Request]]:
    """Requests by their two languages."""
    found: dict[tuple[str, str], list[Request]] = {}
    for request in requests:
        found.setdefault((request.source_language, request.target_language), []).append(request)
    return found


def split_options(argument: str, options: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The name or path in `NAME?KEY=VALUE`, and the options of both places.

    An existing directory of that very name is that directory.
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
    """A name with its options after `?`, however they were given."""
    shown = "&".join(f"{key}={options[key]}" for key in sorted(options) if key not in hidden)
    return f"{name}?{shown}" if shown else name


def refuse_unknown_options(family: str, options: Mapping[str, str], known: Sequence[str]) -> None:
    for key in options:
        if key not in known:
            raise UserError(f"system family {family} has no option {key!r}; available: {', '.join(known) or 'none'}")


def choice_option(options: Mapping[str, str], key: str, choices: Sequence[str]) -> str:
    """One of several values; the first if it is not given."""
    value = options.get(key, choices[0])
    if value not in choices:
        raise UserError(f"option {key} must be one of {', '.join(choices)}, not {value!r}")
    return value


def checked_number(name: str, text: str, fits: Callable[[float], bool], what: str) -> float:
    """The number in a text that somebody gave."""
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
    """Yes or no; no if it is not given."""
    return choice_option({key: options.get(key, "no").strip().lower()}, key, ("yes", "no")) == "yes"


def count_option(options: Mapping[str, str], key: str, default: int, least: int = 1) -> int:
    """A whole number, at least 1 (or another limit), from the options."""
    text = options.get(key, str(default)).strip()
    if not text.isdecimal() or int(text) < least:
        raise UserError(f"option {key} must be a whole number, at least {least}, not {text!r}")
    return int(text)
