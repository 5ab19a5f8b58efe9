"""What a run will do: settings completed, items loaded, requests built once, and all refused that can be refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import UserError
from gendermark.metrics.metric import Resampling
from gendermark.records import Request
from gendermark.runs.choice import Pairs, choice_requests, pairs_of
from gendermark.runs.store import Store
from gendermark.runs.translate import check_tasks
from gendermark.selection import Selection
from gendermark.systems.system import System


@dataclass(frozen=True)
class RunConfig:
    """Everything that decides a run's numbers; stored in its manifest."""

    system: str
    selections: tuple[Selection, ...]
    system_options: Mapping[str, str] = field(default_factory=dict)
    resampling: Resampling = field(default_factory=Resampling)
    forced_choice: bool = False
    """Also ask the system to score the right against the contrastive translation, where a benchmark has both."""
    audited: str = ""
    """The file that `audit` found these translations in, if it did."""

    def to_json(self) -> dict[str, Any]:
        return {
            "system": self.system,
            "system_options": dict(self.system_options),
            "selections": [selection.to_json() for selection in self.selections],
            "resampling": asdict(self.resampling),
            **({"forced_choice": True} if self.forced_choice else {}),
            **({"audited": self.audited} if self.audited else {}),
        }


@dataclass(frozen=True)
class Step:
    """One benchmark and direction: its items, and what the system will be asked."""

    benchmark: Benchmark
    item_set: ItemSet
    requests: Sequence[Request]
    pairs: Pairs = ()
    """The translations between which a system is to choose, if it is."""

    @cached_property
    def choices(self) -> Sequence[Request]:
        """What it is asked for that."""
        return choice_requests(self.requests, self.pairs) if self.pairs else []

    @property
    def title(self) -> str:
        return f"{self.benchmark.name} {self.item_set.selection.direction}"

    def unanswered(self, system: System, store: Store | None) -> list[Request]:
        """What the system has not been asked before."""
        if store is None:
            return list(self.requests)
        answered = store.get(system.system_id, self.requests)
        return [r for r in self.requests if not all((r.request_id, sample) in answered for sample in r.samples)]

    def forecast(self, system: System, open_: Sequence[Request]) -> str:
        """What will be asked, what is already there, and what it may cost where that is known."""
        n = len(self.requests)
        n_there = n - len(open_)
        what = f"{n:,} sentences" if n_there == 0 else f"{n_there:,} of {n:,} sentences are already translated"
        n_samples = self.requests[0].n_samples if self.requests else 1
        drawn = f", {n_samples:,} samples of each" if n_samples > 1 else ""
        cost = system.forecast(open_) if open_ else ""
        return f"{self.title}: {what}{drawn}{f'; {cost}' if cost else ''}"


@dataclass(frozen=True)
class Plan:
    """A run that can begin."""

    config: RunConfig
    steps: tuple[Step, ...]


def plan(config: RunConfig, system: System) -> Plan:
    """Refuse everything that can be refused before the first sentence is paid for."""
    steps = []
    for selection in config.selections:
        benchmark: Benchmark = registry.load("benchmark", selection.benchmark)
        item_set = benchmark.load(benchmark.complete(selection))
        pairs = pairs_of(benchmark, item_set) if config.forced_choice else ()
        step = Step(benchmark, item_set, benchmark.requests(item_set), pairs)
        check_tasks(system, [*step.requests, *step.choices])
        benchmark.signature(item_set.selection)  # says if an extra is missing that the judge needs
        steps.append(step)
    return Plan(config, tuple(steps))


def check_cells(plan: Plan) -> None:
    """A run folder has one place for each benchmark and direction."""
    for title, n in Counter(step.title for step in plan.steps).items():
        if n > 1:
            raise UserError(f"{title} is asked for {n} times in one run folder; give each its own directory")
