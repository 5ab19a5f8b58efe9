"""The points of a study of speed: one system with several options, and other systems beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from gendermark import names, registry
from gendermark.errors import UserError
from gendermark.systems.engine import WITHOUT_EFFECT
from gendermark.systems.system import System, open_system, split_options

_CALLED = {"compute_type": "{}", "dtype": "{}", "beam_size": "beam {}", "use_vmap": "vocabulary map {}"}
_NAMED = re.compile(r"([^=:?/\\]+)=(.+)", re.DOTALL)


@dataclass(frozen=True)
class Point:
    """A system with its options, and what it is called."""

    name: str
    spec: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        """Of its run folder."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-") or "point"

    @property
    def pace(self) -> dict[str, str]:
        """The options that decide how fast it works, and nothing else."""
        _, given = split_options(self.spec.partition(":")[2], self.options)
        return {key: value for key, value in given.items() if key in WITHOUT_EFFECT}

    def open(self) -> System:
        return open_system(self.spec, self.options)


def read_vary(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """`compute_type=float32,int8` of the command line."""
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        key, _, listed = text.partition("=")
        values = tuple(dict.fromkeys(part.strip() for part in listed.split(",") if part.strip()))
        if not key.strip() or not values:
            raise UserError(f"--vary takes KEY=V1,V2, for example beam_size=5,1, not {text!r}")
        if key.strip() in found:
            raise UserError(f"--vary {key.strip()} is given twice; give all its values at once, with commas")
        found[key.strip()] = values
    return found


def read_against(texts: Sequence[str]) -> list[Point]:
    """`NAME=SPEC` or `SPEC` of the command line."""
    found = []
    for text in texts:
        named = _NAMED.fullmatch(text)
        name, spec = (names.checked(named[1]), named[2]) if named else (names.readable(text), text)
        found.append(Point(name, spec))
    return found


@dataclass(frozen=True)
class Grid:
    """What is compared, as it was asked for."""

    system: str
    vary: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Option -> its values; every combination is a point. If nothing is said, what the family has to offer."""
    against: Sequence[Point] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    """Of all points of the grid alike."""

    def points(self) -> list[Point]:
        """The points, checked to be several and to have names of their own."""
        if not self.system.partition(":")[2]:
            open_system(self.system)  # says how one is written
        vary = dict(self.vary) or ({} if self.against else self._offered())
        found = [*self._varied(vary), *self.against]
        if len(found) < 2:
            raise UserError(
                f"one point has nothing to be compared with: {found[0].name}; give --vary with several values, or "
                "another system with --against"
            )
        slugs = [point.slug for point in found]
        for point in found:
            if slugs.count(point.slug) > 1:
                raise UserError(f"two points are called {point.name}; name them apart with --against NAME=SPEC")
        return found

    def _offered(self) -> dict[str, Sequence[str]]:
        family, _, argument = self.system.partition(":")
        faster = registry.sibling("system", family, "FASTER", {})
        _, given = split_options(argument, self.options)
        found = {key: values for key, values in faster.items() if key not in given}
        if not found:
            raise UserError(
                f"nothing is known that would make {self.system} faster; say what to vary with --vary KEY=V1,V2, or "
                "give another system with --against"
            )
        return found

    def _varied(self, vary: Mapping[str, Sequence[str]]) -> list[Point]:
        if not vary:
            return [Point(names.readable(self.system), self.system, self.options)]
        return [
            Point(
                ", ".join(_CALLED.get(key, f"{key.replace('_', ' ')} {{}}").format(value) for key, value in chosen),
                self.system,
                {**self.options, **dict(chosen)},
            )
            for chosen in (tuple(zip(vary, values, strict=True)) for values in product(*vary.values()))
        ]


def place_of(baseline: str, points: Sequence[Point]) -> int:
    """Which of the points is the baseline: the first, or the one that is named."""
    called = [point.name for point in points]
    if baseline and baseline not in called:
        # Names of points have commas of their own.
        raise UserError(f"there is no point {baseline!r} for --baseline; there are {'; '.join(called)}")
    return called.index(baseline) if baseline else 0
