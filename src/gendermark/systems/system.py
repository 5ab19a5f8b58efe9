"""What a translation system is, and how `family:argument` names one."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import UserError
from gendermark.records import Request, Task, Translation

HINT = "hint"
"""The option of a request that has a sentence for the prompt, where a system `takes_hints`."""
KEPT = "(finished translations are kept; run again to go on)"


class Opened(NamedTuple):
    """How a system was opened."""

    spec: str
    options: tuple[tuple[str, str], ...]


class System(ABC):
    """Anything that answers requests. A new family is one file with a subclass and one registry line.

    It is made of `argument` and `options`: what stands behind the colon, and what was said beside it.
    """

    spec: str
    """The name the user gave, for people to read."""
    system_id: str
    """What the store files its answers under: changes whenever the same request could be answered otherwise."""
    tasks: frozenset[Task] = frozenset({Task.TRANSLATE})
    decoding: str = ""
    """How it searches for a translation, for the signature: `beam5,int8`."""
    batch_size: int = 32
    n_samples_per_call: int = 16
    """Samples of one request asked for at once; a sampling request is always cut at multiples of this."""
    is_stored: bool = True
    """Whether answers go into the store. False where they cost nothing or belong to one item set only; such a system
    gets all requests in one call and answers in their order."""
    answers_by_line: bool = False
    """Whether only the order of its answers says whose they are, so that one too many shifts all others."""
    asks_a_server: bool = False
    """Whether the work is done elsewhere. Then all requests are sent from one process, so that the server's limit of
    requests at once is kept however many workers there are, and its key stays where it is."""
    is_asked_again_freely: bool = False
    """Whether it computes here, so that to ask again costs a moment and no money. What it answers quickly is then
    written while it is at work on the next portion."""
    is_for_items_only: bool = False
    """Whether it answers the sentences of benchmarks only, after `prepare`, and no others."""
    has_own_time: bool = True
    """Whether how long it takes says anything of it; False where its answers were made elsewhere."""
    computing: str = ""
    """What it computes with, for the signature of timings: `cpu, workers 2, threads of each 1`."""
    gives_n_best: bool = False
    """Whether it can list the most probable translations that its search finds (`n_best`)."""
    takes_hints: bool = False
    """Whether a request may have a sentence beside its text, as the option `HINT`."""
    opened_as: Opened | None = None
    """How to open another one like it, on another machine."""

    def prepare(self, benchmark: Benchmark, item_set: ItemSet, requests: Sequence[Request]) -> None:  # noqa: ARG002
        """Told once per item set, before its requests come; these may be of several languages."""
        selection = item_set.selection
        own = [(selection.source_language, selection.target_language)]
        for direction in dict.fromkeys([(r.source_language, r.target_language) for r in requests] or own):
            self.check(*direction, requests)

    def check(  # noqa: B027 (most systems need nothing)
        self, source_language: str, target_language: str, requests: Sequence[Request]
    ) -> None:
        """Refuse what can be refused before the first request is asked: another pair, no server, a bad key."""

    def shard_size(self, task: Task) -> int:  # noqa: ARG002
        """How many requests a worker is given at once."""
        return self.batch_size

    def briefing(self, requests: Sequence[Request]) -> Any:  # noqa: ARG002
        """What another one like it, on another machine, must be told before it can answer these; can be pickled."""
        return None

    def brief(self, briefing: Any, requests: Sequence[Request]) -> None:  # noqa: ARG002
        """Take a briefing, in place of `prepare`."""
        for direction in dict.fromkeys((r.source_language, r.target_language) for r in requests):
            self.check(*direction, requests)

    @abstractmethod
    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        """Answers, handed over in as many portions as they become available in; each portion is made safe at once.

        All samples that a request asks for come in the same portion.
        """

    def n_best(self, requests: Sequence[Request], n: int) -> Iterator[Sequence[Translation]]:
        """The n most probable translations of each request, fewer where there are fewer; the sample is the rank."""
        raise NotImplementedError(f"{self.spec} gives one translation of {len(requests)} sentences, not {n}")

    def forecast(self, requests: Sequence[Request]) -> str:  # noqa: ARG002
        """What these requests may cost, in a few words; empty where that is not known, or nothing."""
        return ""

    def notes(self) -> Sequence[str]:
        """What is worth a line after the work: tokens and money spent, batches that had to be made smaller."""
        return ()

    def close(self) -> None:  # noqa: B027 (most systems hold nothing)
        """Give back processes and memory."""


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
    """The families of which some system can do a task; each says so in its module's `TASKS`, how in `TASK_NOTES`."""
    able = []
    for family in registry.names("system"):
        with contextlib.suppress(UserError):  # another package's family that does not load
            if task in registry.sibling("system", family, "TASKS", ()):
                note = registry.sibling("system", family, "TASK_NOTES", {}).get(task)
                able.append(f"{family}:... ({note})" if note else f"{family}:...")
    return able


def split_options(argument: str, options: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The name or path in `NAME?KEY=VALUE`, and all options, from both places where they can be given.

    A directory that really has such a name is that directory.
    """
    name, _, query = argument.partition("?")
    merged = dict(options)
    if Path(argument).is_dir():
        return argument, merged
    for key, value in parse_qsl(query, keep_blank_values=True):
        if key in merged:
            raise UserError(f"option {key} is given twice; give it once, after ? or with --system-option")
        merged[key] = value
    return name, merged


def with_options(name: str, options: Mapping[str, str], hidden: Sequence[str] = ()) -> str:
    """A name with its options, however they were given: what a system says depends on them."""
    shown = "&".join(f"{key}={options[key]}" for key in sorted(options) if key not in hidden)
    return f"{name}?{shown}" if shown else name


def refuse_unknown_options(family: str, options: Mapping[str, str], known: Sequence[str]) -> None:
    for key in options:
        if key not in known:
            raise UserError(f"system family {family} has no option {key!r}; available: {', '.join(known) or 'none'}")


def number_option(options: Mapping[str, str], key: str, default: float, *, above: float = 0.0) -> float:
    """A number from the options, or one sentence about why not."""
    text = options.get(key, str(default))
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not above < number < float("inf"):
        raise UserError(f"option {key} must be a number above {above:g}, not {text!r}")
    return number


def flag_option(options: Mapping[str, str], key: str) -> bool:
    """Yes or no from the options; no if it is not given."""
    text = options.get(key, "no").strip().lower()
    if text not in ("yes", "no"):
        raise UserError(f"option {key} is yes or no, not {text!r}")
    return text == "yes"


def count_option(options: Mapping[str, str], key: str, default: int) -> int:
    """A whole number, at least 1, from the options."""
    text = options.get(key, str(default)).strip()
    if not text.isdecimal() or int(text) < 1:
        raise UserError(f"option {key} must be a whole number, at least 1, not {text!r}")
    return int(text)
