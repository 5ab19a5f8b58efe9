"""The items of a benchmark, languages and judging options. Each benchmark adds its own options.

A benchmark's package subclasses `Selection`; a field made by `option` has choices and help. The command line, refusals
and comparability checks are all derived from these fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from gendermark import registry
from gendermark.errors import UnknownName, UserError

Verbs = tuple[str, ...]
EVERYWHERE: Verbs = ("export", "score", "run")
JUDGING: Verbs = ("score", "run", "rejudge")
"""Verbs of an option that does not change the requested sentences."""


@dataclass(frozen=True)
class Option:
    """One option of a benchmark, declared by its field."""

    name: str
    choices: tuple[str, ...] = ()
    """Possible values, the default first; `KIND:WORD` allows any text after the colon; empty: anything."""
    help: str = ""
    verbs: Verbs = ()
    """The verbs of the command line that accept it."""
    may_differ: bool = False
    """Whether runs that differ in it are comparable, with a remark: it may be the subject of study."""
    mend: str = ""
    """How to make runs that differ in it comparable."""
    noun: str = ""
    """Its name in sentences, if different."""
    is_number: bool = False
    is_repeatable: bool = False
    """Whether it may be repeated, equivalent to a comma-separated list."""

    @property
    def flag(self) -> str:
        return f"--{self.name.replace('_', '-')}"

    def allows(self, value: str) -> bool:
        if not self.choices or value in self.choices:
            return True
        kind, _, argument = str(value).partition(":")
        return bool(argument) and any(choice.startswith(f"{kind}:") for choice in self.choices)

    def check(self, value: str, benchmark: str) -> None:
        if not self.allows(value):
            raise UnknownName(f"{self.noun or self.name} of {benchmark}", value, [c for c in self.choices if c])


def option(*choices: str, default: Any = "", **facts: Any) -> Any:
    """A field of a benchmark's settings; `facts` are the other fields of `Option`."""
    facts["is_number"] = isinstance(default, int)
    return field(default=default, metadata={"option": {"choices": choices, **facts}})


SAMPLING = "epsilon=0.2"
"""How samples are drawn, unless `--sampling` says otherwise."""


def drawing_options(sampling: str) -> tuple[tuple[str, str], ...]:
    """`epsilon=0.2,seed=1` as the options of a request."""
    pairs = [part.strip().partition("=") for part in sampling.split(",")]
    if not all(key and value for key, _, value in pairs):
        raise UserError(f"--sampling takes KEY=VALUE,KEY=VALUE, for example {SAMPLING}, not {sampling!r}")
    return tuple(sorted((key, value) for key, _, value in pairs))


class _OfItsBenchmark(type):
    """`Selection("winomt", ...)` creates the settings of winomt, with its options and no others.

    `cluster` is always filled in: the strata of intervals depend on it.
    """

    def __call__(cls, benchmark: str = "", *args: Any, **given: Any) -> Any:
        made: Any = registry.settings(benchmark, cls) if cls is Selection else cls
        known = {one.name for one in fields(made)}
        own = {key: value for key, value in given.items() if key in known}
        if parts := own.get("parts"):
            own["parts"] = (parts,) if isinstance(parts, str) else tuple(parts)
        for key in given.keys() - own.keys():
            if not given[key]:  # empty values are not options
                continue
            if takers := [other for other, options in all_options().items() if key in options]:
                several = " and ".join(([", ".join(takers[:-1])] if takers[1:] else []) + takers[-1:])
                flag = Option(key).flag
                raise UserError(f"{benchmark} takes no {flag}, which belongs to {several}; leave it out")
            raise UnknownName(f"option of {benchmark}", key, list(options_of(made)))
        found = type.__call__(made, benchmark, *args, **own)
        clusters = [choice for choice in options_of(made)["cluster"].choices if choice]
        if clusters and not found.cluster:
            object.__setattr__(found, "cluster", clusters[0])
        elif clusters and found.cluster not in clusters:
            raise UnknownName(f"cluster of {benchmark}", str(found.cluster), clusters)
        return found


@dataclass(frozen=True)
class Selection(metaclass=_OfItsBenchmark):
    """Options of all benchmarks, stored with every run."""

    benchmark: str
    source_language: str = ""
    target_language: str = ""
    data: str = option("official", "core", default="official")
    revision: str = option("released")
    rules: str = option("best", default="best")
    cluster: str = option("")
    parts: tuple[str, ...] = option(default=(), noun="group")
    """Only these parts, each in the order of its own file."""

    @property
    def rules_in_words(self) -> str:
        return "gendermark's corrected rules" if self.rules == "best" else f"published rules ({self.rules})"

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "parts": list(self.parts)}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Selection:
        """From a run folder; TypeError for a value of the wrong type."""
        made: Selection = Selection(**{**row, "parts": tuple(row["parts"])})
        for one in fields(made):
            value = getattr(made, one.name)
            # Check types by the options' defaults; other packages' benchmarks may have further options.
            kind = str if one.name == "benchmark" else type(one.default)
            if kind in (str, int) and not isinstance(value, kind):
                raise TypeError(f"{one.name} cannot be {value!r:.40}")
        return made

    @property
    def direction(self) -> str:
        return f"{self.source_language}-{self.target_language}"

    @property
    def cell(self) -> str:
        return f"{self.benchmark}.{self.direction}"


def options_of(settings: type[Selection]) -> dict[str, Option]:
    declared = {one.name: one.metadata.get("option") for one in fields(settings)}
    return {name: Option(name, **facts) for name, facts in declared.items() if facts is not None}


def own_options(settings: type[Selection]) -> dict[str, Option]:
    common = {one.name for one in fields(Selection)}
    return {name: found for name, found in options_of(settings).items() if name not in common}


def all_options() -> dict[str, dict[str, Option]]:
    """Benchmark -> its own options; none for a plug-in that fails to load."""
    found = {}
    for benchmark in registry.names("benchmark"):
        with suppress(UserError):  # reported when it is used
            found[benchmark] = own_options(registry.settings(benchmark, Selection))
    return found
