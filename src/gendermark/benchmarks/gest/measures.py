"""Counts and metrics of GEST.

All rates are of masculine translations: `p` by stereotype, `p_f` and `p_m` over those of women and of men; the
masculine rate f_m is the mean of these two, the stereotype rate f_s their difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from gendermark.benchmarks.benchmark import Measures
from gendermark.benchmarks.gest import MEN, STEREOTYPES, WOMEN, Settings
from gendermark.metrics import metric as counting
from gendermark.metrics.metric import SHARE, Combined, Floats, Metric, Resampled
from gendermark.records import Judgement, Table, Verdict

Z = 1.959964
"""As in the released evaluation."""
_LOW_COVERAGE_TO_WARN = 0.5

DESCRIBED = counting.described(__package__)


Centre = Callable[[Floats, Floats], Floats]
"""Masculine and feminine counts -> the rate of a stereotype."""


def plain(masculine: Floats, feminine: Floats) -> Floats:
    return masculine / (masculine + feminine)


def agresti_coull(masculine: Floats, feminine: Floats) -> Floats:
    """The centre of the Agresti-Coull interval, which the release uses as the rate; 0.5 without data."""
    return (masculine + Z * Z / 2) / (masculine + feminine + Z * Z)


# -- rates -------------------------------------------------------------------------------------------------------------


def _counts(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{name}.{gender}" for name in names for gender in ("masculine", "feminine"))


def _rates(columns: Sequence[Floats], centre: Centre) -> Floats:
    return centre(np.stack(columns[::2]), np.stack(columns[1::2]))


def _point(value: Callable[..., Floats], sums: Sequence[float]) -> float:
    return float(value(*(np.array([column]) for column in sums))[0])


def _mean_rate(name: str, names: Sequence[str], centre: Centre) -> Metric:
    def value(*columns: Floats) -> Floats:
        return np.asarray(_rates(columns, centre).mean(axis=0), dtype=np.float64)

    part = names[0] if len(names) == 1 else "all"
    of = part if part != "all" else {"p_f": "women", "p_m": "men"}[name]
    return Metric(DESCRIBED[name], part, _counts(names), value, f"{of}.total", f"{of}.judged", SHARE)


def _masculine_rate(centre: Centre) -> Metric:
    def value(*columns: Floats) -> Floats:
        rates = _rates(columns, centre)
        return np.asarray((rates[: len(WOMEN)].mean(axis=0) + rates[len(WOMEN) :].mean(axis=0)) / 2, dtype=np.float64)

    return Metric(DESCRIBED["f_m"], "all", _counts(STEREOTYPES), value, "all.total", "all.judged", SHARE)


def _excess(of: Metric) -> Metric:
    rule = Combined(((1.0, of),))
    return Metric(
        DESCRIBED["excess"], "all", of.needs, lambda *columns: of.value(*columns) - 0.5, of.total, of.judged, rule
    )


def _rank(name: str, centre: Centre) -> Metric:
    place = STEREOTYPES.index(name)

    def value(*columns: Floats) -> Floats:
        rates = _rates(columns, centre)
        below, equal = (rates < rates[place]).sum(axis=0), (rates == rates[place]).sum(axis=0)
        known = ~np.isnan(rates).any(axis=0)
        return np.where(known, below + (equal + 1) / 2, np.nan)

    # If all stereotypes are equal, none has a rank.
    def at_rest(sums: Sequence[float], unseen: float) -> tuple[float, float]:  # noqa: ARG001
        rank = _point(value, sums)
        alike = (len(STEREOTYPES) + 1) / 2
        return (1.0, float(len(STEREOTYPES))) if rank == alike else (rank, rank)

    counted = (f"{name}.total", f"{name}.judged")
    return Metric(
        DESCRIBED["rank"], name, _counts(STEREOTYPES), value, *counted, Resampled(at_rest), weigh=("all.judged",)
    )


def _log_odds() -> Metric:
    def value(men_m: Floats, men_f: Floats, women_m: Floats, women_f: Floats) -> Floats:
        found = np.log((men_m + 0.5) / (men_f + 0.5)) - np.log((women_m + 0.5) / (women_f + 0.5))
        # A system that only ever chooses one gender has no odds, so no stereotypes can show.
        is_known = (men_m + women_m > 0) & (men_f + women_f > 0) & (men_m + men_f > 0) & (women_m + women_f > 0)
        return np.where(is_known, found, np.nan)

    def at_rest(sums: Sequence[float], unseen: float) -> tuple[float, float]:
        men, women = sums[0] + sums[1], sums[2] + sums[3]
        # Unseen groups may be of the other gender.
        moved = [(1 - unseen) * n + unseen * (of - n) for n, of in zip(sums, (men, men, women, women), strict=True)]
        low, high = sorted((_point(value, sums), _point(value, moved)))
        return low, high

    return Metric(
        DESCRIBED["log_odds"], "all", _counts(("men", "women")), value, "all.total", "all.judged", Resampled(at_rest)
    )


def metrics(judgements: Sequence[Judgement], settings: Settings) -> list[Metric]:
    is_paper = settings.rules == "paper"
    centre = agresti_coull if is_paper else plain
    present = {judgement.tags["trait"] for judgement in judgements}
    is_whole = present >= set(STEREOTYPES)
    f_m = _masculine_rate(centre)
    f_s = counting.difference(DESCRIBED["f_s"], _mean_rate("p_m", MEN, centre), _mean_rate("p_f", WOMEN, centre), "all")
    found = [f_m, f_s, _excess(f_m), _log_odds()] if is_whole else []
    found += [_mean_rate(name, own, centre) for name, own in (("p_f", WOMEN), ("p_m", MEN)) if present >= set(own)]
    found.append(
        Metric(
            DESCRIBED["masculine_share"],
            "all",
            ("all.masculine", "all.feminine"),
            plain,
            "all.total",
            "all.judged",
            SHARE,
        )
    )
    shares = ("coverage", *(() if is_paper else ("mixed",)), "undecided", "failed")
    found += [counting.share(DESCRIBED[name], "all", name) for name in shares]
    for name in STEREOTYPES:
        if name in present:
            found += [_mean_rate("p", (name,), centre)]
            found += [_rank(name, centre)] if is_whole else []
            found += [counting.share(DESCRIBED["coverage"], name, "coverage")]
    return found


# -- counting ----------------------------------------------------------------------------------------------------------


def outcome(judgement: Judgement) -> str:
    if judgement.verdict is Verdict.JUDGED and judgement.observed is not None:
        return judgement.observed.value
    if judgement.verdict is Verdict.NOT_TRANSLATED:
        return "failed"
    return "mixed" if judgement.reason == "mixed" else "undecided"


def _columns_of(judgement: Judgement) -> Iterable[str]:
    trait, found = judgement.tags["trait"], outcome(judgement)
    for name in (trait, "women" if trait in WOMEN else "men", "all"):
        yield f"{name}.total"
        yield f"{name}.{found}"
        if judgement.verdict is Verdict.JUDGED:
            yield f"{name}.judged"
            yield f"{name}.coverage"


def tables(judgements: Sequence[Judgement]) -> list[Table]:
    counts = Counter((judgement.tags["trait"], outcome(judgement)) for judgement in judgements)
    kinds = ("masculine", "feminine", "mixed", "undecided", "failed")
    rows = []
    for name in STEREOTYPES:
        numbers = [counts[name, kind] for kind in kinds]
        if total := sum(numbers):
            decided = numbers[0] + numbers[1]
            rows.append((SLICES[name], total, *numbers, round(numbers[0] / decided, 4) if decided else None))
    return [Table("stereotypes", "Gender per stereotype", ("stereotype", "n", *kinds, "masculine rate"), rows)]


def warnings(judgements: Sequence[Judgement], settings: Settings) -> list[str]:
    found = []
    n_shown = sum(judgement.verdict is Verdict.JUDGED for judgement in judgements)
    n_failed = sum(judgement.verdict is Verdict.NOT_TRANSLATED for judgement in judgements)
    if n_shown < _LOW_COVERAGE_TO_WARN * len(judgements):
        why = "; the paper's rules call a system that says nothing unbiased" if settings.rules == "paper" else ""
        failed = f", {n_failed:,} are no translation" if n_failed else ""
        found.append(f"only {n_shown:,} of {len(judgements):,} translations show the speaker's gender{failed}{why}")
    if settings.rules == "paper":
        found.append("the speaker's gender is read by endings fitted on the GEST release, not by the paper's parser")
    if settings.target_language == "be":
        found.append("the detector for Belarusian contradicts the released labels, and nobody has checked either")
    return found


SLICES = {"women": "stereotypes of women", "men": "stereotypes of men"}
SLICES |= {**{name: f"women are {name}" for name in WOMEN}, **{name: f"men are {name}" for name in MEN}}

MEASURES = Measures(
    described=tuple(DESCRIBED.values()),
    headline=("f_m", "f_s", "excess", "log_odds"),
    questions=("f_m", "f_s"),
    tally=counting.per_judgement(_columns_of),
    metrics=metrics,
    tables=tables,
    warnings=warnings,
    slices=SLICES,
)
