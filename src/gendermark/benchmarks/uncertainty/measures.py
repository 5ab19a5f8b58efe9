"""Counts and metrics of the uncertainty benchmark."""

from __future__ import annotations

import math
import tomllib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from gendermark.benchmarks.benchmark import Measures
from gendermark.benchmarks.uncertainty import Settings
from gendermark.benchmarks.uncertainty.alphas import alpha_remarks, alpha_table
from gendermark.benchmarks.uncertainty.alphas import chosen_alpha as chosen_alpha
from gendermark.benchmarks.uncertainty.items import AMBIGUOUS, UNAMBIGUOUS, as_winomt, is_open
from gendermark.benchmarks.winomt.measures import cluster_warnings
from gendermark.benchmarks.winomt.measures import stratum as winomt_stratum
from gendermark.benchmarks.winomt.measures import template as winomt_template
from gendermark.io.disk_list import cached, grouped
from gendermark.metrics import metric as counting
from gendermark.metrics.metric import Bounded, Combined, Floats, Metric, Resampled
from gendermark.records import Judgement, Table, Verdict

PAIRED = {UNAMBIGUOUS: "paired-unambiguous", AMBIGUOUS: "paired-ambiguous"}
"""Slices of contrast sets with both kinds of sentence."""


def _descriptions() -> dict[str, counting.Description]:
    """The descriptions in `metrics.toml`, where shared ones are written once for all kinds of entropy."""
    rows = tomllib.loads((files(__package__) / "metrics.toml").read_text(encoding="utf-8"))
    kinds, of_each = rows.pop("kinds"), rows.pop("of_each_kind")
    found = {}
    for kind, facts in kinds.items():
        for name, row in of_each.items():
            found[name.format(kind=kind)] = {
                key: value.format(kind=kind, **facts) if isinstance(value, str) else value for key, value in row.items()
            }
    return {name: counting.description(name, row) for name, row in {**found, **rows}.items()}


DESCRIBED = _descriptions()
_TIE = 1e-9
"""Entropies closer than this are equal."""
_N_GENDERS = 3
_LOST_SHARE = 0.1
"""Share of sentences with unreadable gender that triggers a warning."""
_STEREOTYPES = ("pro", "anti")


def _slices(judgement: Judgement) -> Iterator[str]:
    yield "all"
    yield judgement.tags["source"]
    if not is_open(judgement.expected):
        yield str(judgement.expected)
    if judgement.tags.get("stereotype") in _STEREOTYPES:
        yield judgement.tags["stereotype"]


def tally(group: Sequence[Judgement]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for judgement in group:
        for part in _slices(judgement):
            counts[f"{part}.total"] += 1
            for name, value in judgement.measures.items():
                _add(counts, f"{part}.{name}", value)
    for _, members in grouped(group, lambda judgement: judgement.contrast):
        _compare_within(members, counts)
        _average_within(members, counts)
    return counts


def _add(counts: Counter[str], name: str, value: float) -> None:
    counts[f"{name}.sum"] += value  # type: ignore[assignment]
    counts[f"{name}.n"] += 1


@cache
def _is_entropy(name: str) -> bool:
    return name.startswith("h_") and "_se" not in name.replace("_semantic", "")


def has_both(members: Iterable[Judgement]) -> bool:
    return {judgement.tags["source"] for judgement in members} >= {AMBIGUOUS, UNAMBIGUOUS}


def _average_within(members: Sequence[Judgement], counts: Counter[str]) -> None:
    """Mean entropies of both kinds of sentence in one contrast set, which counts once whatever its size."""
    if not has_both(members):
        return
    counts["paired.total"] += len(members)
    for source, part in PAIRED.items():
        counts[f"{part}.total"] += sum(judgement.tags["source"] == source for judgement in members)
    for name in {name for judgement in members for name in judgement.measures if _is_entropy(name)}:
        sides = {
            part: [j.measures[name] for j in members if j.tags["source"] == source and name in j.measures]
            for source, part in PAIRED.items()
        }
        if not all(sides.values()):
            continue
        counts[f"paired.{name}.n"] += sum(map(len, sides.values()))
        for part, values in sides.items():
            _add(counts, f"{part}.{name}", math.fsum(values) / len(values))
            counts[f"{part}.{name}.sentences"] += len(values)


def _compare_within(members: Sequence[Judgement], counts: Counter[str]) -> None:
    """Pairs of an ambiguous and an unambiguous version: how often is the first less certain?"""
    told_ones = [judgement.measures for judgement in members if judgement.tags["source"] == UNAMBIGUOUS]
    for open_one in members if told_ones else ():
        if open_one.tags["source"] != AMBIGUOUS:
            continue
        own = [(name, value) for name, value in open_one.measures.items() if name == "openness" or _is_entropy(name)]
        for told in told_ones:
            counts["pairs.total"] += 1
            for name, value in own:
                if name in told:
                    more = value - told[name]
                    _add(counts, f"pairs.{name}", 0.5 if abs(more) <= _TIE else float(more > 0))


def metrics(judgements: Sequence[Judgement], settings: Settings) -> list[Metric]:
    alpha = chosen_alpha(judgements, settings.alpha)
    most = _most(judgements)
    known = most.largest
    entropies = [("gender", "h_gender"), ("s3e", f"h_s3e@{alpha:g}"), ("string", "h_string")]
    surprisals = [("s3e", f"i_s3e@{alpha:g}"), ("gender", "i_gender"), ("string", "i_string")]
    if "h_semantic" in known:
        entropies.append(("semantic", "h_semantic"))
        surprisals.append(("semantic", "i_semantic"))
    found = [_awareness("gender", "openness")]
    found += [_awareness(kind, key) for kind, key in entropies if kind != "gender"]
    for kind, key in entropies:
        paired = (f"{PAIRED[UNAMBIGUOUS]}.{key}", f"{PAIRED[AMBIGUOUS]}.{key}")
        found += _differences(f"h_{kind}", paired, ("paired.total", f"paired.{key}.n"), most(key))
    for kind, key in entropies:
        sides = (f"{UNAMBIGUOUS}.{key}", f"{AMBIGUOUS}.{key}")
        found += _differences(f"h_pooled_{kind}", sides, ("all.total", f"all.{key}.n"), most(key))
    parts = [part for part in _STEREOTYPES if part in most.stereotypes]
    found += [_mean("p_right", "p_right", part, most) for part in (UNAMBIGUOUS, *parts)]
    found += [_mean("p_feminine", "p_feminine", part, most) for part in (AMBIGUOUS, "masculine", "feminine")]
    found += [_mean(name, name, AMBIGUOUS, most) for name in ("distance_from_even", "p_neutral")]
    for kind, key in surprisals:
        if f"{key}.correct" in known:
            sides = (f"{UNAMBIGUOUS}.{key}.correct", f"{UNAMBIGUOUS}.{key}.incorrect")
            found += _differences(f"i_{kind}", sides, (f"{sides[0]}.n", f"{sides[1]}.n"), most(key))
            for name, side in (("right", "correct"), ("wrong", "incorrect")):
                n = f"all.{key}.{side}.n"
                found.append(_mean(f"i_{name}_{kind}", f"{key}.{side}", "all", most, (n, n)))
    for kind, key in entropies:
        by_kind = (UNAMBIGUOUS, AMBIGUOUS, "masculine", "feminine", *parts)
        found += [_mean(f"h_{kind}", key, part, most) for part in by_kind]
        for part in PAIRED.values():
            found.append(_mean(f"h_{kind}", key, part, most, (f"{part}.total", f"{part}.{key}.sentences")))
    errors = [(f"h_{kind}_se", key.replace(f"h_{kind}", f"h_{kind}_se")) for kind, key in entropies]
    for name, key in (*((name, name) for name in ("h_string_corrected", "h_gender_corrected", "h_within")), *errors):
        found += [_mean(name, key, part, most) for part in (UNAMBIGUOUS, AMBIGUOUS)]
    if "chrf" in known:
        found += [_mean("chrf", "chrf", part, most) for part in ("all", *parts, UNAMBIGUOUS, AMBIGUOUS)]
    found += [_mean(name, name, "all", most) for name in ("n_distinct", "decided")]
    if "nll" in known:
        found += [
            _mean(name, name, part, most) for name in ("nll", "nll_per_token") for part in (UNAMBIGUOUS, AMBIGUOUS)
        ]
    return found


@dataclass(frozen=True)
class _Most:
    """The maximum of a measure of one sentence; the minimum is 0."""

    n_samples: int
    largest: Mapping[str, float]
    stereotypes: Set[str]

    def __call__(self, key: str) -> float:
        n = max(self.n_samples, 1)
        known = {
            **dict.fromkeys(("p_right", "p_feminine", "p_neutral"), 1.0),
            "distance_from_even": 0.5,
            "decided": 100.0,
            "chrf": 100.0,
            "n_distinct": float(n),
            # Miller and Madow add (classes - 1) / 2n, which is less than one half.
            "h_string_corrected": math.log(n) + 0.5,
            "h_gender_corrected": math.log(min(n, _N_GENDERS)) + 0.5,
            **dict.fromkeys(("i_string", "i_gender", "i_semantic"), math.log(n + 1)),
        }
        key = key.removesuffix(".correct").removesuffix(".incorrect")
        if key in known:
            return known[key]
        if key.startswith("h_gender"):
            return math.log(min(n, _N_GENDERS))
        if key.startswith("h_"):
            return math.log(n)
        # S3E's surprisal and -log p are unbounded: use the observed maximum.
        names = (key, f"{key}.correct", f"{key}.incorrect")
        return max((self.largest[name] for name in names if name in self.largest), default=0.0)


@cached
def _most(judgements: Sequence[Judgement]) -> _Most:
    largest: dict[str, float] = {}
    stereotypes = set()
    for judgement in judgements:
        stereotypes.add(judgement.tags.get("stereotype", ""))
        for name, value in judgement.measures.items():
            largest[name] = max(value, largest.get(name, -math.inf))
    return _Most(int(largest.get("n_asked", 1)), largest, stereotypes)


def _awareness(kind: str, key: str) -> Metric:
    """Percentage of pairs whose ambiguous version is less certain than the unambiguous one. Ties count half.

    Less certain about gender means that fewer samples agree on one: by differing, or by leaving it unspecified.
    """
    about, n = DESCRIBED[f"awareness_{kind}"], f"pairs.{key}.n"
    return counting.rate(about, "all", f"pairs.{key}.sum", n, judged=n)


def _mean(
    name: str, key: str, part: str, most: Callable[[str], float], counted: tuple[str, str] | None = None
) -> Metric:
    """`counted`: the columns of all items and of those with a value, if not the slice's own."""
    needs, rule = (f"{part}.{key}.sum", f"{part}.{key}.n"), Bounded(0.0, most(key))
    return Metric(DESCRIBED[name], part, needs, _mean_of, *(counted or (f"{part}.total", needs[1])), rule)


def _mean_of(total: Floats, n: Floats) -> Floats:
    return total / n


def _differences(name: str, sides: tuple[str, str], counted: tuple[str, str], highest: float) -> list[Metric]:
    """(first - second) / first of two means, undefined if the first is 0; and first - second, which is always
    defined."""

    def ratio(*columns: Floats) -> Floats:
        first, second = columns[0] / columns[1], columns[2] / columns[3]
        return np.where(first > _TIE, 1 - second / first, np.nan)

    def gap(*columns: Floats) -> Floats:
        return columns[0] / columns[1] - columns[2] / columns[3]

    def at_rest(sums: Sequence[float], unseen: float) -> tuple[float, float]:
        """Range of the means if unseen groups have the minimum, or the maximum."""
        kept = [(1 - unseen) * sums[place] / sums[place + 1] for place in (0, 2)]
        most = [mean + unseen * highest for mean in kept]
        return 1 - most[1] / kept[0], 1 - kept[1] / most[0]

    about = DESCRIBED[f"gap_{name}"]
    rule = Bounded(0.0, highest)
    columns = [(f"{side}.sum", f"{side}.n") for side in sides]
    needs = (*columns[0], *columns[1])
    first, second = (Metric(about, "all", own, _mean_of, *counted, rule, weigh=own[1:]) for own in columns)
    return [
        Metric(DESCRIBED[f"delta_{name}"], "all", needs, ratio, *counted, Resampled(at_rest)),
        Metric(about, "all", needs, gap, *counted, Combined(((1.0, first), (-1.0, second)))),
    ]


# -- tables and remarks ----------------------------------------------------------------------------------------------


def _entity_table(judgements: Sequence[Judgement]) -> Table:
    n_of: Counter[str] = Counter()
    values: dict[tuple[str, str, str], array[float]] = defaultdict(lambda: array("d"))
    wanted = ((AMBIGUOUS, "p_feminine"), (AMBIGUOUS, "h_gender"), (UNAMBIGUOUS, "h_gender"), (UNAMBIGUOUS, "p_right"))
    for judgement in judgements:
        n_of[judgement.entity] += 1
        for source, name in wanted:
            if judgement.tags["source"] == source and name in judgement.measures:
                values[judgement.entity, source, name].append(judgement.measures[name])
    rows = [
        (
            entity,
            n,
            *(round(math.fsum(own) / len(own), 4) if (own := values[entity, *kind]) else None for kind in wanted),
        )
        for entity, n in sorted(n_of.items())
    ]
    columns = ("entity", "n", "P(feminine) if open", "gender entropy if open", "gender entropy if told", "P(right)")
    return Table("entities", "Certainty about the gender of each person", columns, rows)


def warnings(judgements: Sequence[Judgement], settings: Settings) -> list[str]:
    n_open = n_single = n_to_read = n_unread = 0
    versions: dict[str, int] = {}
    """Of each contrast set: its size, times 4, and a bit for each kind of version. (There may be many sets.)"""
    for judgement in judgements:
        is_open = judgement.tags["source"] == AMBIGUOUS
        if is_open:
            n_open += 1
            n_single += judgement.measures.get("n_distinct") == 1
        # Among mGeNTE's sentences of unspecified gender, none can be read.
        if judgement.entity or not is_open:
            n_to_read += 1
            n_unread += judgement.verdict is not Verdict.JUDGED
        versions[judgement.contrast] = (versions.get(judgement.contrast, 0) | (1 if is_open else 2)) + 4
    found = []
    if settings.n_samples == 1:
        found.append("there is one sample of each sentence, which shows no uncertainty; draw more")
    elif n_single > 0.5 * n_open:
        found.append(
            f"{n_single:,} of {n_open:,} ambiguous sentences gave the same translation in every sample: the system is "
            f"certain of them, or the sampling method ({settings.sampling}) hides its uncertainty"
        )
    if n_unread > _LOST_SHARE * n_to_read:
        found.append(f"in {n_unread:,} of {n_to_read:,} sentences no sample's gender could be read")
    n_all = sum(known >> 2 for known in versions.values())
    paired = [known >> 2 for known in versions.values() if known & 3 == 3]
    if sum(paired) < n_all:
        which = (
            f"of the {len(paired):,} contrast sets that have both kinds; the pooled ones are of all sentences, and "
            "compare different ones"
            if paired
            else "empty, and the pooled ones compare different sentences"
        )
        found.append(
            f"{n_all - sum(paired):,} of {n_all:,} sentences have no counterpart (gender stated or open): "
            f"`delta_h` and `gap_h` are {which}"
        )
    return [*found, *alpha_remarks(judgements, settings.alpha), *cluster_warnings(settings.cluster)]


MEASURES = Measures(
    described=tuple(DESCRIBED.values()),
    headline=("awareness_gender", "p_right:unambiguous", "distance_from_even:ambiguous", "gap_i_s3e"),
    questions=("awareness_gender", "p_feminine:ambiguous"),
    tally=tally,
    metrics=metrics,
    stratum=lambda judgement, settings: winomt_stratum(judgement, as_winomt(settings)),
    template=lambda judgement, settings: winomt_template(judgement, as_winomt(settings)),
    tables=lambda judgements: [alpha_table(judgements), _entity_table(judgements)],
    warnings=warnings,
    slices_of=_slices,
    slices=counting.described_slices(__package__),
)
