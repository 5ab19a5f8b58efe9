"""Do the intervals hold what they promise? Coverage, width, false alarms and power, by simulation through real code.

Every item of a benchmark is judged once as if it had been translated with each gender. A simulated system then gets
each item right with a probability that depends on the item's group (so that groups differ, as strongly as the
intra-group correlation says), and perhaps on its template; its judgements are picked from those two, counted and
estimated as those of any system are. Since the probabilities are known, so is the truth.

    python bench/calibration.py            # all tables, about an hour on two cores
    python bench/calibration.py --runs 200 # roughly
    python bench/calibration.py coverage --design simplegen-7
"""

from __future__ import annotations

import argparse
import math
import os
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one process for each core

import numpy as np

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.metrics import statistics
from gendermark.metrics.intervals import estimate
from gendermark.metrics.metric import Metric, Resampling, evaluate
from gendermark.records import Estimate, Gender, Judgement, Translation
from gendermark.result import Result
from gendermark.runs.compare import compare
from gendermark.runs.gates import against_baseline
from gendermark.selection import Selection

RATES = (0.5, 0.8, 0.9, 0.95, 0.98)
CORRELATIONS = (0.0, 0.3, 0.6)
QUICKLY = Resampling(n_resamples=500)
Generator = np.random.Generator


@dataclass(frozen=True)
class Design:
    """A benchmark's sentences, or those of its first groups."""

    name: str
    benchmark: str
    data: str
    n_groups: int = 0
    """So many of the groups, evenly from all strata; 0 for all of them."""
    target: str = "es"


DESIGNS = (
    Design("winomt core", "winomt", "core"),
    Design("winomt official", "winomt", "official"),
    Design("winomt 10 groups", "winomt", "core", 10),
    Design("simplegen core", "simplegen", "core"),
    Design("simplegen official", "simplegen", "official"),
    Design("simplegen 7 groups", "simplegen", "core", 7),
    Design("counterfactual core", "mt-geneval-counterfactual", "core"),
    Design("contextual core", "mt-geneval-contextual", "core"),
    Design("mittens core", "mittens", "core"),
    Design("tgbi core", "tgbi", "core", target="en"),
    Design("gest core", "gest", "core", target="cs"),
    Design("gate core", "gate-variants", "core"),
)


class Sentences:
    """The items of a design, each judged as masculine and as feminine."""

    def __init__(self, design: Design) -> None:
        self.benchmark: Benchmark = registry.load("benchmark", design.benchmark)
        chosen = Selection(design.benchmark, data=design.data, target_language=design.target)
        item_set = self.benchmark.load(self.benchmark.complete(chosen))
        self.selection = item_set.selection
        judged: list[Sequence[Judgement]] = []
        for gender in (Gender.MASCULINE, Gender.FEMININE):
            texts = [self.benchmark.render(item, gender, self.selection) for item in item_set.items]
            judged.append(self.benchmark.judge(item_set, [[Translation("", text)] for text in texts]))
        pairs = [(m, f) for m, f in zip(*judged, strict=True) if self._can_be_right(m, f)]
        if design.n_groups:
            kept = self._some_groups([m for m, _ in pairs], design.n_groups)
            pairs = [(m, f) for m, f in pairs if m.group_id in kept]
        # The right judgement first, then the wrong one; where the gender is open, masculine first.
        self.judged = [(f, m) if m.expected is Gender.FEMININE else (m, f) for m, f in pairs]
        first = [one for one, _ in self.judged]
        self.groups, self.group_of = _numbered([j.group_id for j in first])
        self.templates, self.template_of = _numbered([j.tags.get("template", "") for j in first])
        self.is_woman = np.array([j.expected is Gender.FEMININE for j in first])
        self.is_open = np.array([j.expected not in (Gender.MASCULINE, Gender.FEMININE) for j in first])

    def _can_be_right(self, masculine: Judgement, feminine: Judgement) -> bool:
        if masculine.expected not in (Gender.MASCULINE, Gender.FEMININE):
            return True
        return masculine.is_correct != feminine.is_correct

    def _some_groups(self, judgements: Sequence[Judgement], n: int) -> set[str]:
        by_stratum: dict[str, list[str]] = defaultdict(list)
        for judgement in judgements:
            names = by_stratum[self.benchmark.measures.stratum(judgement, self.selection)]
            if judgement.group_id not in names:
                names.append(judgement.group_id)
        shares = list(by_stratum.values())
        return {shares[k % len(shares)][k // len(shares)] for k in range(n)}

    def pick(self, is_right: np.ndarray) -> list[Judgement]:
        return [pair[0 if right else 1] for pair, right in zip(self.judged, is_right, strict=True)]

    def headline(self, judgements: Sequence[Judgement]) -> list[Metric]:
        every = self.benchmark.measures.metrics(judgements, self.selection)
        return [metric for metric in every if self.benchmark.is_headline(metric)]

    def estimates(self, judgements: Sequence[Judgement], names: Callable[[Metric], bool]) -> list[Estimate]:
        every = self.benchmark.measures.metrics(judgements, self.selection)
        metrics = [m for m in every if names(m)]
        return estimate(self.benchmark.measures.count(judgements, self.selection), metrics, QUICKLY)

    def result(self, judgements: Sequence[Judgement], name: str) -> Result:
        return Result(self.selection, "simulated", name, (), judgements)


@cache
def sentences(design: Design) -> Sentences:
    return Sentences(design)


def _numbered(names: Sequence[str]) -> tuple[int, np.ndarray]:
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return len(places), np.array([places[name] for name in names])


@dataclass(frozen=True)
class Truth:
    """How a simulated system behaves."""

    men: float
    women: float
    correlation: float = 0.0
    """Of the items of one group and gender."""
    of_templates: float = 0.0
    """Standard deviation, in probits, of what templates do to women and men; the same is then done by groups."""

    def base(self, of: Sentences) -> np.ndarray:
        """The chance that each item is right; or masculine, where none tells a gender."""
        where_open = self.men if of.is_open.all() else 0.5
        return np.where(of.is_open, where_open, np.where(of.is_woman, self.women, self.men))

    def as_release(self, of: Sentences, levels: np.ndarray) -> np.ndarray:
        """A version of a system: its groups have the levels that those of the other version have."""
        base = self.base(of)
        spread = math.sqrt(self.correlation / (1 - self.correlation))
        cells = 3 * of.group_of + np.where(of.is_open, 2, of.is_woman)
        return _normal(_probit(base) * math.sqrt(1 + spread**2) + spread * levels[cells])

    def chances(self, of: Sentences, rng: Generator) -> np.ndarray:
        base = self.base(of)
        if self.of_templates:
            signs = np.where(of.is_woman, -1.0, 1.0)
            noise = rng.normal(0, self.of_templates, of.groups)[of.group_of]
            noise = noise + rng.normal(0, self.of_templates, of.templates)[of.template_of]
            return _normal(_probit(base) * math.sqrt(1 + 2 * self.of_templates**2) + signs * noise)
        if not self.correlation:
            return base
        size = 1 / self.correlation - 1
        cells = 3 * of.group_of + np.where(of.is_open, 2, of.is_woman)
        own = np.zeros(3 * of.groups)
        own[cells] = base
        drawn = rng.beta(np.maximum(own, 1e-9) * size, np.maximum(1 - own, 1e-9) * size)
        return drawn[cells]


def _probit(p: np.ndarray) -> np.ndarray:
    return np.vectorize(statistics.normal_quantile)(p)


def _normal(x: np.ndarray) -> np.ndarray:
    return np.vectorize(lambda z: 0.5 * math.erfc(-z / math.sqrt(2)))(x)


def _seed(*of: Design | Truth) -> int:
    return zlib.crc32(repr(of).encode())


def draw(of: Sentences, truth: Truth, rng: Generator) -> list[Judgement]:
    return of.pick(rng.random(len(of.judged)) < truth.chances(of, rng))


_OF_NOBODY = frozenset({"recall_gap", "gap", "delta", "delta_s", "delta_qual"})
"""Metrics that are 0 for a system that treats all alike."""


@cache
def true_values(design: Design, men: float, women: float) -> dict[tuple[str, str], float]:
    """Of every headline metric in the population: the mean over many systems whose sentences are independent."""
    of, rng = sentences(design), np.random.default_rng(7)
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for _ in range(300):
        judgements = draw(of, Truth(men, women), rng)
        metrics = of.headline(judgements)
        counts = of.benchmark.measures.count(judgements, of.selection, metrics)
        for metric in metrics:
            values[metric.key].append(float(evaluate(metric, counts, counts.totals)[0]))
    found = {key: float(np.nanmean(seen)) for key, seen in values.items()}
    is_fair = men == women
    return {key: 0.0 if is_fair and key[0] in _OF_NOBODY else value for key, value in found.items()}


# -- coverage ----------------------------------------------------------------------------------------------------------


def coverage(job: tuple[Design, Truth, int]) -> list[str]:
    design, truth, n_runs = job
    of, rng = sentences(design), np.random.default_rng(_seed(design, truth))
    exact = true_values(design, truth.men, truth.women)
    seen: dict[tuple[str, str], list[tuple[float, float, float]]] = defaultdict(list)
    for _ in range(n_runs):
        judgements = draw(of, truth, rng)
        for e in of.estimates(judgements, of.benchmark.is_headline):
            if e.value is not None and e.low is not None and e.high is not None:
                seen[e.metric, e.slice].append((e.value, e.low, e.high))
    rows = []
    for key, found in seen.items():
        value, low, high = np.array(found).T
        true = exact.get(key, float("nan"))
        if math.isnan(true):
            continue
        covers = (low <= true + 1e-9) & (true - 1e-9 <= high)
        known = 2 * statistics.student_quantile(0.975, max(of.groups - 2, 1)) * value.std()
        width = float(np.median(high - low)) / known if known > 0 else float("nan")
        flattered = 0.0 if key[0] in _OF_NOBODY else float((low > true).mean())
        where = (design.name, of.groups, f"{truth.men:g}/{truth.women:g}", f"{truth.correlation:g}", truth.of_templates)
        told = (f"{true:.1f}", f"{100 * covers.mean():.1f}", f"{width:.2f}", f"{100 * flattered:.1f}")
        rows.append("\t".join(map(str, (*where, ":".join(key), *told))))
    return rows


# -- false alarms and power --------------------------------------------------------------------------------------------


def alarms(job: tuple[Design, Truth, Truth, int, bool, int]) -> list[str]:
    """How often `compare` finds a difference and a gate fails: of two systems, or of two versions of one.

    With a number of groups at the end, the second is the first with all women of so many groups lost.
    """
    design, first, second, n_runs, is_release, n_lost = job
    of, rng = sentences(design), np.random.default_rng(_seed(design, first, second))
    below: dict[str, list[bool]] = defaultdict(list)
    failed: dict[str, list[bool]] = {"gate": [], "general": [], "fixed": []}
    claims: list[bool] = []
    for _ in range(n_runs):
        levels = rng.normal(size=3 * of.groups)
        sides = []
        for truth, name in ((first, "a"), (second, "b")):
            chances = truth.as_release(of, levels) if is_release else truth.chances(of, rng)
            sides.append(of.result(of.pick(rng.random(len(of.judged)) < chances), name))
        if n_lost:
            kept = lose_women(sides[0].judgements, n_lost)
            sides[1] = of.result(kept, "b")
        report = compare([sides[0]], [sides[1]], QUICKLY)
        for c in report.comparisons:
            if c.p_value is not None:
                below[f"{c.metric}:{c.slice}"].append(c.p_value < 0.05)
        checks = against_baseline([sides[1]], [sides[0]], QUICKLY, 0.05)
        for kind, found in failed.items():
            found.append(any(check.has_failed for check in checks if kind in ("gate", check.kind)))
        claims.append(any(c.is_significant for c in report.comparisons))
    shown = ", ".join(f"{name} {100 * np.mean(found):.1f}" for name, found in below.items())
    told = f"{first.men:g}/{first.women:g} -> {second.men:g}/{second.women:g}"
    told = f"women of {n_lost} groups lost" if n_lost else told
    who = "versions" if is_release else "systems"
    where = (design.name, of.groups, who, told, f"{first.correlation:g}")
    return ["\t".join(map(str, (*where, *(f"{100 * np.mean(x):.1f}" for x in (*failed.values(), claims)), shown)))]


def lose_women(before: Sequence[Judgement], n_groups: int) -> list[Judgement]:
    """The judgements of before, but with all women of the first groups wrong."""
    groups = sorted({j.group_id for j in before})[:n_groups]
    return [
        replace(j, observed=Gender.MASCULINE) if j.group_id in groups and j.expected is Gender.FEMININE else j
        for j in before
    ]


# -- all of it ---------------------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="*", choices=("coverage", "alarms", "power", []), default=[])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--design", default="", help="only designs whose name has this in it")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    what = given.what or ["coverage", "alarms", "power"]
    designs = [design for design in DESIGNS if given.design in design.name]
    with ProcessPoolExecutor(given.workers) as pool:
        if "coverage" in what:
            print("design\tgroups\tmen/women\tcorrelation\ttemplates\tmetric\ttruth\tcovered %\twidth\tflattered %")
            jobs = [(design, Truth(p, p, icc), given.runs) for design, p, icc in product(designs, RATES, CORRELATIONS)]
            jobs += [(design, Truth(0.95, 0.6, 0.3), given.runs) for design in designs]
            jobs += [(d, Truth(0.8, 0.8, 0.0, 0.5), given.runs) for d in designs if sentences(d).templates > 1]
            _print(pool.map(coverage, jobs))
        heads = "design\tgroups\tof\tchange\tcorrelation\tgate fails %\tgeneral %\tfixed %\tclaims %\tp < 0.05 %"
        if "alarms" in what:
            print(heads)
            same = [Truth(p, p, icc) for p, icc in product((0.5, 0.8, 0.95), CORRELATIONS)]
            pairs = [(truth, truth) for truth in same]
            _print(
                pool.map(
                    alarms,
                    [
                        (d, *pair, given.runs, is_release, 0)
                        for d, pair, is_release in product(designs, pairs, (True, False))
                    ],
                )
            )
        if "power" in what:
            print(heads)
            changes = [
                (Truth(0.85, 0.85, icc), Truth(men, women, icc))
                for icc in (0.0, 0.3, 0.6)
                for men, women in ((0.95, 0.75), (0.85, 0.8), (0.85, 0.75))
            ]
            jobs = product(designs, changes, (True, False))
            lost = [(d, Truth(0.999, 0.999), Truth(0.999, 0.999), 20, True, 6) for d in designs]
            jobs = [(d, *change, given.runs, is_release, 0) for d, change, is_release in jobs]
            _print(pool.map(alarms, [*jobs, *lost]))


def _print(tables: Iterable[list[str]]) -> None:
    for rows in tables:
        print("\n".join(rows), flush=True)


if __name__ == "__main__":
    main()
