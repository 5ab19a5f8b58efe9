"""What is counted of the judgements of the uncertainty benchmark, its metrics, and the choice of alpha."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gendermark.benchmarks.benchmark import Measures
from gendermark.benchmarks.uncertainty.items import AMBIGUOUS, UNAMBIGUOUS, as_winomt, is_open
from gendermark.benchmarks.uncertainty.settings import Settings
from gendermark.benchmarks.winomt.measures import stratum as winomt_stratum
from gendermark.metrics.alpha import AlphaTuning, TuningItem, tune_alpha
from gendermark.metrics.describe import Better, Description
from gendermark.metrics.metric import Bounded, Combined, Floats, Metric, Resampled
from gendermark.metrics.rates import rate
from gendermark.records import Judgement, Table, Unit, Verdict

ALPHA = 16.0
MOST_ALPHA = 1024.0
_TIE = 1e-9
"""Entropies closer than this are equal."""
_N_GENDERS = 3
"""Masculine, feminine, neutral."""


# -- what is measured -------------------------------------------------------------------------------------------------

_KINDS = {
    "gender": "the noun's gender",
    "s3e": "the meaning, by degrees (S3E)",
    "string": "the whole text",
    "semantic": "the meaning, by entailment",
}


def _descriptions() -> dict[str, Description]:
    found: list[Description] = []

    def add(name: str, label: str, meaning: str, unit: Unit, better: Better = "neither", symbol: str = "") -> None:
        found.append(Description(name, label, meaning, unit, better, symbol))

    for kind, what in _KINDS.items():
        shown = kind.upper() if kind == "s3e" else kind
        less_sure = "less sure of the gender" if kind == "gender" else f"less sure of {what.partition(',')[0]}"
        add(
            f"awareness_{kind}",
            f"{less_sure} where {'it' if kind == 'gender' else 'the gender'} is open",
            "Pairs of an ambiguous and an unambiguous version of a sentence in which the system is less sure of "
            f"{what} of the first; ties count half.",
            Unit.PERCENT,
            "higher",
            "awareness" if kind == "gender" else "",
        )
        entropy, told = f"entropy of {what}", "where the gender is told minus where it is open"
        add(f"h_{kind}", entropy, f"Mean entropy of the samples, of {what}.", Unit.NATS, symbol=f"{shown} entropy")
        below = "below 0, the system is less sure where the gender is open"
        add(
            f"delta_h_{kind}",
            f"relative change in the {entropy} (ΔH)",
            f"h_{kind} {told}, divided by the former; {below}.",
            Unit.RATIO,
            "lower",
            f"ΔH ({shown})",
        )
        add(f"gap_h_{kind}", f"change in the {entropy}", f"h_{kind} {told}; {below}.", Unit.NATS, "lower")
        surprise = "surprise at the right against the wrong gender"
        minus = f"Surprisal, by {what}, of the right minus that of the wrong reference"
        add(
            f"delta_i_{kind}",
            f"{surprise} (ΔI)" if kind == "s3e" else f"{surprise}, by {what} (ΔI)",
            f"{minus}, divided by the former; below 0 is good.",
            Unit.RATIO,
            "lower",
            f"ΔI ({shown})",
        )
        add(f"gap_i_{kind}", f"{surprise}, by {what}, in nats", f"{minus}; below 0 is good.", Unit.NATS, "lower")
    where_told = {UNAMBIGUOUS: "right gender, of samples"}
    found.append(
        Description(
            "p_right",
            "right gender, of samples",
            "Samples with the right gender, of those that show one.",
            Unit.PROBABILITY,
            "higher",
            "P(right)",
            labels=where_told,
        )
    )
    add("p_feminine", "feminine", "Feminine among masculine and feminine samples.", Unit.PROBABILITY)
    add("p_neutral", "left open", "Samples that leave the gender open.", Unit.PROBABILITY)
    found.append(
        Description(
            "distance_from_even",
            "distance from an even choice where it is open",
            "How far p_feminine of a sentence is from one half, on average.",
            Unit.PROBABILITY,
            "lower",
            "distance from even",
            labels={AMBIGUOUS: "distance from an even choice, where the gender is open"},
        )
    )
    for kind in ("string", "gender"):
        entropy = f"entropy of {_KINDS[kind]}"
        meaning = f"h_{kind} with the correction of Miller and Madow for few samples."
        add(f"h_{kind}_corrected", f"{entropy}, corrected", meaning, Unit.NATS)
    add("h_gender_se", "standard error of a sentence's gender entropy", "By resampling its samples.", Unit.NATS)
    add("h_within", "entropy within a gender", "The part of h_string that is not of the gender.", Unit.NATS)
    add("n_distinct", "distinct translations", "Mean number of distinct samples of a sentence.", Unit.COUNT)
    add("decided", "samples that show a gender", "Samples whose gender could be read, of all.", Unit.PERCENT)
    add("nll", "surprise at its own samples", "Mean negative log-probability of a sample.", Unit.NATS)
    add("nll_per_token", "the same per token", "Mean negative log-probability of a token.", Unit.NATS)
    return {about.name: about for about in found}


DESCRIBED = _descriptions()


# -- alpha ------------------------------------------------------------------------------------------------------------


def parse_alpha(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value <= MOST_ALPHA else None


def chosen_alpha(judgements: Sequence[Judgement], wanted: str) -> float:
    """The power of S3E: as given, or the one whose entropy goes most with gender entropy on the development half."""
    return parse_alpha(wanted) or tuning_of(judgements).alpha or ALPHA


def tuning_of(judgements: Sequence[Judgement]) -> AlphaTuning:
    """What each alpha of these judgements does, and the best of them."""
    items = []
    for judgement in judgements:
        by_alpha = {
            float(name.partition("@")[2]): value
            for name, value in judgement.measures.items()
            if name.startswith("h_s3e@")
        }
        items.append(TuningItem(judgement.contrast, by_alpha, judgement.measures.get("h_gender")))
    return tune_alpha(items)


# -- counting ---------------------------------------------------------------------------------------------------------


def _slices(judgement: Judgement) -> Iterator[str]:
    yield "all"
    yield judgement.tags["source"]
    if not is_open(judgement.expected):
        yield str(judgement.expected)


def tally(group: Sequence[Judgement]) -> Counter[str]:
    counts: Counter[str] = Counter()
    contrasts: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in group:
        contrasts[judgement.contrast].append(judgement)
        for part in _slices(judgement):
            counts[f"{part}.total"] += 1
            for name, value in judgement.measures.items():
                counts[f"{part}.{name}.sum"] += value  # type: ignore[assignment]  # a Counter adds up floats as well
                counts[f"{part}.{name}.n"] += 1
    for members in contrasts.values():
        _compare_within(members, counts)
    return counts


def _compare_within(members: Sequence[Judgement], counts: Counter[str]) -> None:
    """Of the pairs of an ambiguous and an unambiguous version of one sentence: how often is the first less sure?"""
    names = {name for judgement in members for name in judgement.measures if name.startswith(("h_", "openness"))}
    for open_one in members:
        for told in members:
            if open_one.tags["source"] != AMBIGUOUS or told.tags["source"] != UNAMBIGUOUS:
                continue
            counts["pairs.total"] += 1
            for name in names:
                if name in open_one.measures and name in told.measures:
                    more = open_one.measures[name] - told.measures[name]
                    won = 0.5 if abs(more) <= _TIE else float(more > 0)
                    counts[f"pairs.{name}.won"] += won  # type: ignore[assignment]
                    counts[f"pairs.{name}.n"] += 1


# -- metrics ----------------------------------------------------------------------------------------------------------


def metrics(judgements: Sequence[Judgement], settings: Settings) -> list[Metric]:
    """The metrics that these judgements can give, the main ones first."""
    alpha = chosen_alpha(judgements, settings.alpha)
    known = {name for judgement in judgements for name in judgement.measures}
    most = _Most.of(judgements)
    entropies = [("gender", "h_gender"), ("s3e", f"h_s3e@{alpha:g}"), ("string", "h_string")]
    surprisals = [("s3e", f"i_s3e@{alpha:g}"), ("gender", "i_gender"), ("string", "i_string")]
    if "h_semantic" in known:
        entropies.append(("semantic", "h_semantic"))
        surprisals.append(("semantic", "i_semantic"))
    found = [_awareness("gender", "openness")]
    found += [_awareness(kind, key) for kind, key in entropies if kind != "gender"]
    for kind, key in entropies:
        sides = (f"{UNAMBIGUOUS}.{key}", f"{AMBIGUOUS}.{key}")
        counted = ("all.total", f"all.{key}.n")
        found += _differences(f"h_{kind}", sides, counted, most(key))
    found += [_mean("p_right", "p_right", UNAMBIGUOUS, most)]
    found += [_mean("p_feminine", "p_feminine", part, most) for part in (AMBIGUOUS, "masculine", "feminine")]
    found += [_mean("distance_from_even", "distance_from_even", AMBIGUOUS, most)]
    found += [_mean("p_neutral", "p_neutral", AMBIGUOUS, most)]
    for kind, key in surprisals:
        if f"{key}.correct" in known:
            sides = (f"{UNAMBIGUOUS}.{key}.correct", f"{UNAMBIGUOUS}.{key}.incorrect")
            found += _differences(f"i_{kind}", sides, (f"{sides[0]}.n", f"{sides[1]}.n"), most(key))
    for kind, key in entropies:
        found += [_mean(f"h_{kind}", key, part, most) for part in (UNAMBIGUOUS, AMBIGUOUS, "masculine", "feminine")]
    for name in ("h_string_corrected", "h_gender_corrected", "h_gender_se", "h_within"):
        found += [_mean(name, name, part, most) for part in (UNAMBIGUOUS, AMBIGUOUS)]
    found += [_mean(name, name, "all", most) for name in ("n_distinct", "decided")]
    if "nll" in known:
        found += [
            _mean(name, name, part, most) for name in ("nll", "nll_per_token") for part in (UNAMBIGUOUS, AMBIGUOUS)
        ]
    return found


@dataclass(frozen=True)
class _Most:
    """The largest value that a measure of one sentence can have; the smallest is 0."""

    n_samples: int
    judgements: Sequence[Judgement]

    @classmethod
    def of(cls, judgements: Sequence[Judgement]) -> _Most:
        return cls(int(max((j.measures.get("n_asked", 1) for j in judgements), default=1)), judgements)

    def __call__(self, key: str) -> float:
        n = max(self.n_samples, 1)
        known = {
            "p_right": 1.0,
            "p_feminine": 1.0,
            "p_neutral": 1.0,
            "distance_from_even": 0.5,
            "decided": 100.0,
            "n_distinct": float(n),
            # Miller and Madow add (classes - 1) / 2n, which is less than one half.
            "h_string_corrected": math.log(n) + 0.5,
            "h_gender_corrected": math.log(min(n, _N_GENDERS)) + 0.5,
            "i_string": math.log(n + 1),
            "i_gender": math.log(n + 1),
            "i_semantic": math.log(n + 1),
        }
        if key in known:
            return known[key]
        if key.startswith("h_gender"):
            return math.log(min(n, _N_GENDERS))
        if key.startswith("h_"):
            return math.log(n)
        # S3E's surprisal and -log p have no bound: the largest that was seen stands for it.
        names = (key, f"{key}.correct", f"{key}.incorrect")
        return max((j.measures[name] for j in self.judgements for name in names if name in j.measures), default=0.0)


def _awareness(kind: str, key: str) -> Metric:
    """Of 100 pairs of an ambiguous and an unambiguous version: in how many is the first less sure? Ties count half.

    Of the gender it is less sure if fewer of its samples agree on one: by differing, or by leaving it open.
    """
    about, n = DESCRIBED[f"awareness_{kind}"], f"pairs.{key}.n"
    return rate(about, "all", f"pairs.{key}.won", n, judged=n)


def _mean(name: str, key: str, part: str, most: Callable[[str], float]) -> Metric:
    highest = most(key)

    def value(total: Floats, n: Floats) -> Floats:
        return total / n

    needs = (f"{part}.{key}.sum", f"{part}.{key}.n")
    rule = Bounded(0.0, highest)
    return Metric(DESCRIBED[name], part, needs, value, f"{part}.total", f"{part}.{key}.n", rule)


def _differences(name: str, sides: tuple[str, str], counted: tuple[str, str], highest: float) -> list[Metric]:
    """Of two means: (first - second) / first, undefined where the first is 0; and first - second, which never is."""

    def ratio(*columns: Floats) -> Floats:
        first, second = columns[0] / columns[1], columns[2] / columns[3]
        return np.where(first > _TIE, 1 - second / first, np.nan)

    def gap(*columns: Floats) -> Floats:
        return columns[0] / columns[1] - columns[2] / columns[3]

    def at_rest(sums: Sequence[float], unseen: float) -> tuple[float, float]:
        """How far the means may lie if the groups unlike those seen have nothing, or the most."""
        kept = [(1 - unseen) * sums[place] / sums[place + 1] for place in (0, 2)]
        most = [mean + unseen * highest for mean in kept]
        return 1 - most[1] / kept[0], 1 - kept[1] / most[0]

    needs = tuple(f"{side}.{column}" for side in sides for column in ("sum", "n"))
    about = DESCRIBED[f"gap_{name}"]
    means = [
        Metric(
            about,
            "all",
            (f"{side}.sum", f"{side}.n"),
            lambda total, n: total / n,
            *counted,
            Bounded(0.0, highest),
            weigh=(f"{side}.n",),
        )
        for side in sides
    ]
    terms = Combined(((1.0, means[0]), (-1.0, means[1])))
    return [
        Metric(DESCRIBED[f"delta_{name}"], "all", needs, ratio, *counted, Resampled(at_rest)),
        Metric(about, "all", needs, gap, *counted, terms),
    ]


# -- tables and remarks ----------------------------------------------------------------------------------------------


def _alpha_table(judgements: Sequence[Judgement]) -> Table:
    tuning = tuning_of(judgements)
    rows = [
        (
            row.alpha,
            _shown(row.development),
            _shown(row.held_out),
            _shown(row.mean_entropy),
            "best" if row.alpha == tuning.alpha else "",
        )
        for row in tuning.curve
    ]
    columns = ("alpha", "correlation, development half", "correlation, other half", "mean S3E", "tuned")
    return Table("alpha", "What alpha does to S3E: its correlation with gender entropy", columns, rows)


def _entity_table(judgements: Sequence[Judgement]) -> Table:
    by_entity: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in judgements:
        by_entity[judgement.entity].append(judgement)
    rows = []
    for entity, members in sorted(by_entity.items()):
        open_ones = [j for j in members if j.tags["source"] == AMBIGUOUS]
        told = [j for j in members if j.tags["source"] == UNAMBIGUOUS]
        rows.append(
            (
                entity,
                len(members),
                _shown(_average(open_ones, "p_feminine")),
                _shown(_average(open_ones, "h_gender")),
                _shown(_average(told, "h_gender")),
                _shown(_average(told, "p_right")),
            )
        )
    columns = ("entity", "n", "P(feminine) if open", "gender entropy if open", "gender entropy if told", "P(right)")
    return Table("entities", "How sure of the gender of whom", columns, rows)


def _average(judgements: Iterable[Judgement], name: str) -> float | None:
    values = [judgement.measures[name] for judgement in judgements if name in judgement.measures]
    return math.fsum(values) / len(values) if values else None


def _shown(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _sure_ones(judgements: Sequence[Judgement], sampling: str) -> list[str]:
    """A remark if most sentences show no doubt where there should be one."""
    open_ones = [judgement for judgement in judgements if judgement.tags["source"] == AMBIGUOUS]
    n_single = sum(judgement.measures.get("n_distinct") == 1 for judgement in open_ones)
    if n_single <= 0.5 * len(open_ones):
        return []
    return [
        f"{n_single:,} of {len(open_ones):,} ambiguous sentences gave the same translation every time: the system is "
        f"sure of them, or the way of drawing ({sampling}) hides its doubt"
    ]


def _tuning_remarks(judgements: Sequence[Judgement]) -> list[str]:
    tuning = tuning_of(judgements)
    if tuning.alpha is None:
        return [
            "alpha could not be tuned, for S3E or gender entropy is unknown or the same in all sentences of the "
            f"development half: it is {ALPHA:g}"
        ]
    if tuning.edge:
        return [
            f"alpha was tuned to {tuning.alpha:g}, the {tuning.edge} that was tried: another beyond it may fit better"
        ]
    return []


def warnings(judgements: Sequence[Judgement], settings: Settings) -> list[str]:
    found = []
    if settings.n_samples == 1:
        found.append("there is one sample of each sentence, which shows no uncertainty; draw more")
    else:
        found += _sure_ones(judgements, settings.sampling)
    # mGeNTE names nobody whose gender could be read.
    with_person = [judgement for judgement in judgements if judgement.entity]
    n_lost = sum(judgement.verdict is not Verdict.JUDGED for judgement in with_person)
    if n_lost > 0.1 * len(with_person):
        found.append(f"in {n_lost:,} of {len(with_person):,} sentences no sample's gender could be read")
    return found + (_tuning_remarks(judgements) if settings.alpha == "tuned" else [])


MEASURES = Measures(
    described=tuple(DESCRIBED.values()),
    headline=("awareness_gender", "p_right:unambiguous", "distance_from_even:ambiguous", "delta_i_s3e"),
    tally=tally,
    metrics=metrics,
    stratum=lambda judgement, settings: winomt_stratum(judgement, as_winomt(settings)),
    tables=lambda judgements: [_alpha_table(judgements), _entity_table(judgements)],
    warnings=warnings,
    slices={AMBIGUOUS: "gender open", UNAMBIGUOUS: "gender told"},
)
