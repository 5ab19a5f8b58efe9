"""`fake:NAME`: controls with known behaviour, to test every metric and to compare real systems with.

They output a benchmark's plainest rendering of a gender, so their scores are known in advance:

- `masculine`, `feminine`: always that gender
- `right`: always the expected gender; masculine or feminine with equal probability if either may be chosen (GATE,
GEST), for each sample if both are to be offered; `right?p=0.8`: with probability p, else the opposite one (for neutral
sources, else masculine or feminine with equal probability)
- `stereotyped?s=0.7`: with probability s the stereotype's gender, else the expected one
- `coin`: the expected gender, and if unspecified masculine or feminine with equal probability; `random`: the latter
always
- `silent`: nothing; `copy`: the source; `garble`: the right words with letters doubled and shuffled

`delay_ms=5` makes any of them as slow as a real one, and its answers worth storing: to test resuming and workers.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import UnknownName
from gendermark.records import Gender, Item, Request, Task, Translation
from gendermark.systems import system
from gendermark.systems.system import System

TASKS = frozenset({Task.TRANSLATE, Task.SAMPLE, Task.SCORE})
_GENDERS = (Gender.MASCULINE, Gender.FEMININE)
_PARAMETERS = {"right": ("p", 1.0), "stereotyped": ("s", 0.5)}


class Fake(System):
    """Deterministic: an answer depends on seed, request and sample number alone."""

    is_stored = False
    is_for_items_only = True
    tasks = TASKS
    is_asked_again_freely = True

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        name, options = system.split_options(argument, options)
        behaviours: dict[str, Callable[[Item, random.Random], str]] = {
            "masculine": lambda item, _: self._render(item, Gender.MASCULINE),
            "feminine": lambda item, _: self._render(item, Gender.FEMININE),
            "right": self._right,
            "stereotyped": self._stereotyped,
            "coin": lambda item, chance: self._render(
                item, chance.choice(_GENDERS) if item.expected in (None, Gender.NEUTRAL) else item.expected
            ),
            "random": lambda item, chance: self._render(item, chance.choice(_GENDERS)),
            "silent": lambda *_: "",
            "copy": lambda item, _: item.source,
            "garble": self._garbled,
        }
        if name not in behaviours:
            raise UnknownName("fake system", name, behaviours)
        parameter, default = _PARAMETERS.get(name, ("", 1.0))
        system.refuse_unknown_options(f"fake:{name}", options, [key for key in (parameter, "seed", "delay_ms") if key])
        self._probability = system.checked_number(
            f"option {parameter} of fake:{name}",
            options.get(parameter, str(default)),
            lambda number: 0 <= number <= 1,
            "a probability between 0 and 1",
        )
        self._seed = options.get("seed", "0")
        self._delay_seconds = system.number_option(options, "delay_ms", 0, above=-1) / 1000
        self.is_stored = self._delay_seconds > 0
        self._behave = behaviours[name]
        self.spec = self.system_id = system.with_options(f"fake:{name}", options)

    def prepare(self, benchmark: Benchmark, item_set: ItemSet, requests: Sequence[Request]) -> None:
        self._benchmark, self._selection = benchmark, item_set.selection
        self._item_of = {request.source: item for request, item in zip(requests, item_set.items, strict=True)}
        # Answers depend on the item, which differs between sets.
        content = f"{item_set.origin}/{item_set.selection.to_json()}"
        self.system_id = f"{self.spec}#{hashlib.sha256(content.encode()).hexdigest()[:16]}"

    def briefing(self, requests: Sequence[Request]) -> Any:
        items = {request.source: self._item_of[request.source] for request in requests}
        return self._benchmark.name, self._selection, items

    def brief(self, briefing: Any, requests: Sequence[Request]) -> None:  # noqa: ARG002
        name, self._selection, self._item_of = briefing
        self._benchmark = registry.load("benchmark", name)

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        time.sleep(self._delay_seconds * sum(request.n_samples for request in requests))
        yield [self._answer(request, sample) for request in requests for sample in request.samples]

    def _answer(self, request: Request, sample: int) -> Translation:
        # Independent of the task, so that it scores its own translation as likely.
        key = f"{self._seed}/{request.source}/{request.target_language}/{sample}"
        chance = random.Random(hashlib.sha256(key.encode()).digest())
        said = self._behave(self._item_of[request.source], chance)
        if request.task is Task.SCORE:
            likely = bool(said) and request.target is not None and request.target in said
            return Translation(request.request_id, request.target, sample, None, -1.0 if likely else -9.0)
        return Translation(request.request_id, said, sample)

    def _render(self, item: Item, gender: Gender) -> str:
        return self._benchmark.render(item, gender, self._selection)

    def _right(self, item: Item, chance: random.Random) -> str:
        is_coin = self._benchmark.offers_genders and item.expected is Gender.NEUTRAL
        expected = chance.choice(_GENDERS) if is_coin or item.expected is None else item.expected
        if chance.random() < self._probability:
            return self._render(item, expected)
        return self._render(item, chance.choice(_GENDERS) if expected is Gender.NEUTRAL else expected.opposite)

    def _stereotyped(self, item: Item, chance: random.Random) -> str:
        stereotype = self._benchmark.stereotype(item)
        follows = stereotype is not None and chance.random() < self._probability
        return self._render(item, stereotype if follows and stereotype else item.expected or Gender.NEUTRAL)

    def _garbled(self, item: Item, chance: random.Random) -> str:
        # Letters are doubled before shuffling: a short word would often remain a word.
        words = self._render(item, item.expected or Gender.NEUTRAL).split()
        return " ".join("".join(chance.sample(word * 2, 2 * len(word))) for word in words)
