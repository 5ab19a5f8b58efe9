"""Counts and metrics of WinoMT."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from dataclasses import replace
from functools import cache

from gendermark.benchmarks.benchmark import Measures
from gendermark.benchmarks.winomt import PUBLISHED, Settings
from gendermark.io.disk_list import cached
from gendermark.metrics import genders
from gendermark.metrics.metric import Metric, described, described_slices
from gendermark.records import Gender, Judgement, Table, Verdict

_SLICES = (
    *("mf", "masculine", "feminine", "neutral", "pro", "anti", "subject", "object", "winobias", "winogender"),
    "occupations",
)
DESCRIBED = described(__package__)

SOMEONE = "someone"
"""In the data by necessity, as the person without an occupation: 180 of the 3,888 official sentences. Translations such
as "alguien" are wrong for men and women alike."""


def _slices_of(judgement: Judgement) -> tuple[str, ...]:
    tags = judgement.tags
    is_occupation = judgement.entity != SOMEONE
    return _slices(judgement.expected, tags["stereotype"], tags["role"], tags["corpus"], is_occupation)


@cache
def _slices(expected: Gender | None, stereotype: str, role: str, corpus: str, is_occupation: bool) -> tuple[str, ...]:
    found = ["all"]
    if expected is not None:
        found.append(expected.value)
        if expected is not Gender.NEUTRAL:
            found.append("mf")
    if stereotype != "none":
        found += [stereotype, "stereotyped"]
    if role:
        found.append(role)
    if corpus in ("winobias", "winogender"):
        found.append(corpus)
    if is_occupation:
        found.append("occupations")
    return tuple(found)


@cached
def _present(judgements: Sequence[Judgement]) -> Set[str]:
    return set().union(*set(map(_slices_of, judgements)))


def metrics(judgements: Sequence[Judgement], settings: Settings) -> list[Metric]:
    rounded = settings.rules in PUBLISHED
    present = _present(judgements)
    found = [genders.accuracy("all"), genders.delta_g("all", rounded=rounded)]
    if {"pro", "anti"} <= present:
        found += [genders.delta_s(), genders.delta_s_f1()]
    found += [
        genders.f1(Gender.MASCULINE, "all", rounded=rounded),
        genders.f1(Gender.FEMININE, "all", rounded=rounded),
        genders.macro_f1("all"),
        genders.decided_accuracy("all"),
        genders.coverage("all"),
        genders.pair_accuracy(),
    ]
    if {"masculine", "feminine"} <= present:
        found.append(genders.recall_gap())
    if not any(judgement.entity == SOMEONE for judgement in judgements):
        present = present - {"occupations"}
    for name in _SLICES:
        if name in present:
            found += [genders.accuracy(name), genders.coverage(name)]
    if "neutral" in present:
        found += [genders.masculine_share("neutral"), genders.distance_from_even("neutral")]
    return [replace(metric, about=DESCRIBED[metric.name]) for metric in found]


def stratum(judgement: Judgement, settings: Settings) -> str:
    # The numbers of women's and men's occupations are the authors' choice.
    return judgement.tags.get("occupation_stereotype", "") if settings.cluster == "entity" else ""


def template(judgement: Judgement, settings: Settings) -> str:
    return judgement.tags.get("template", "") if settings.cluster == "entity" else ""


def warnings(judgements: Sequence[Judgement], settings: Settings) -> list[str]:
    found = []
    n_lost = sum(judgement.verdict is not Verdict.JUDGED for judgement in judgements)
    if n_lost > 0.1 * len(judgements):
        found.append(f"in {n_lost:,} of {len(judgements):,} translations the entity was not found; they count as wrong")
    return found + cluster_warnings(settings.cluster)


def cluster_warnings(cluster: str) -> list[str]:
    if cluster == "entity":
        return []
    return [
        "--cluster contrast takes sentences about the same occupation for independent, which they are not: the "
        "intervals are far too narrow; leave it out to resample occupations"
    ]


def tables(judgements: Sequence[Judgement]) -> list[Table]:
    return [_confusion(judgements), _per_entity(judgements)]


def _seen(judgement: Judgement) -> str:
    return judgement.observed.value if judgement.observed else "unknown"


def _confusion(judgements: Sequence[Judgement]) -> Table:
    counts = Counter((str(judgement.expected), _seen(judgement)) for judgement in judgements)
    columns = (*(gender.value for gender in genders.GENDERS), "unknown")
    rows = [(gender.value, *(counts[gender.value, seen] for seen in columns)) for gender in genders.GENDERS]
    return Table("confusion", "Expected (rows) and observed (columns)", ("expected", *columns), rows)


def _per_entity(judgements: Sequence[Judgement]) -> Table:
    by_entity: dict[str, Counter[str]] = defaultdict(Counter)
    for judgement in judgements:
        by_entity[judgement.entity][_seen(judgement)] += 1
        by_entity[judgement.entity]["right"] += judgement.is_correct
    rows = []
    for entity, counts in sorted(by_entity.items()):
        seen = [counts[name] for name in ("masculine", "feminine", "neutral", "unknown")]
        named = [name for name in ("masculine", "feminine", "neutral") if counts[name]]
        pattern = f"always {named[0]}" if len(named) == 1 else "mixed" if named else "never found"
        rows.append((entity, sum(seen), *seen, counts["right"], pattern))
    columns = ("entity", "n", "masculine", "feminine", "neutral", "unknown", "right", "pattern")
    return Table("entities", "Gender per entity", columns, rows)


MEASURES = Measures(
    described=tuple(DESCRIBED.values()),
    headline=("accuracy:all", "recall_gap", "delta_s"),
    questions=("recall_gap", "delta_s"),
    tally=genders.gender_tally(_slices_of, lambda judgement: judgement.contrast),
    metrics=metrics,
    stratum=stratum,
    template=template,
    certainty=frozenset({SOMEONE}),
    slices_of=_slices_of,
    tables=tables,
    warnings=warnings,
    slices=described_slices(__package__),
)
