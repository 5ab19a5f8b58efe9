"""Counts and metrics of TGBI, and the paper's tests of bias."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from gendermark.benchmarks.benchmark import Measures
from gendermark.benchmarks.tgbi import SETS, Settings
from gendermark.benchmarks.tgbi.items import KINDS, sets_of
from gendermark.metrics import metric as counting
from gendermark.metrics import statistics
from gendermark.metrics.metric import Floats, Metric, Resampled
from gendermark.records import Judgement, Table, Test, Verdict

DESCRIBED = counting.described(__package__)


def neutrality_index(p_w: Floats, p_m: Floats, p_n: Floats) -> Floats:
    """P_S = sqrt(p_w p_m + p_n), equation 2: 1 if all are neutral, 0 if all have one gender.

    Shares sum to less than one if translations failed. The index grows with each share, so failures can only lower it.
    """
    return np.sqrt(p_w * p_m + p_n)


def set_columns(name: str) -> tuple[str, str, str, str]:
    """Columns that count feminine, masculine, neutral and all sentences of one set."""
    return f"{name}.feminine", f"{name}.masculine", f"{name}.neutral", f"{name}.total"


def p_s(name: str) -> Metric:
    def value(w: Floats, m: Floats, n: Floats, total: Floats) -> Floats:
        return neutrality_index(w / total, m / total, n / total)

    rule = Resampled(_one_kind_only, turns=True)
    return Metric(DESCRIBED["p_s"], name, set_columns(name), value, f"{name}.total", f"{name}.judged", rule)


def tgbi(names: Sequence[str]) -> Metric:
    """The unweighted mean of P_S over sentence sets; undefined unless every set has sentences."""

    def value(*columns: Floats) -> Floats:
        w, m, n, total = (np.stack(columns[kind::4]) for kind in range(4))
        return np.asarray(neutrality_index(w / total, m / total, n / total).mean(axis=0), dtype=np.float64)

    def at_rest(sums: Sequence[float], unseen: float) -> tuple[float, float]:
        bounds = [_one_kind_only(sums[i : i + 4], unseen) for i in range(0, len(sums), 4)]
        return float(np.mean([low for low, _ in bounds])), float(np.mean([high for _, high in bounds]))

    needs = tuple(column for name in names for column in set_columns(name))
    return Metric(DESCRIBED["tgbi"], "all", needs, value, "all.total", "all.judged", Resampled(at_rest, turns=True))


def _one_kind_only(sums: Sequence[float], unseen: float) -> tuple[float, float]:
    """Range of P_S if all groups are equal and this share is unseen."""
    w, m, n, total = sums
    p_w, p_m, p_n = w / total, m / total, n / total
    point = float(np.sqrt(p_w * p_m + p_n))
    kept = 1.0 - unseen
    low = float(np.sqrt(kept * kept * p_w * p_m + kept * p_n))
    high = float(np.sqrt(kept * kept * p_w * p_m + kept * p_n + unseen))
    return min(low, point), max(high, point)


N_PERMUTATIONS = 2000
_FAILED_SHARE_TO_WARN = 0.02


_SHARES = {"feminine": "p_w", "masculine": "p_m", "neutral": "p_n", "mixed": "p_mixed", "failed": "p_failed"}
"""Outcome -> metric."""


def metrics(judgements: Sequence[Judgement], settings: Settings) -> list[Metric]:
    present = {name for judgement in judgements for name in judgement.tags["sets"].split()}
    # Korean and Japanese have all seven sets; a language without politeness has fewer, and its index is over those.
    own = [name for name in SETS if name in present]
    is_own = settings.data not in ("official", "core")
    women, men = (counting.share(DESCRIBED[_SHARES[kind]], "all", kind) for kind in ("feminine", "masculine"))
    found = [
        tgbi(own if is_own else sets_of(settings.source_language)),
        counting.difference(DESCRIBED["imbalance"], men, women, "all"),
        women,
        men,
    ]
    kinds = [kind for kind in _SHARES if settings.rules != "paper" or kind not in ("mixed", "failed")]
    for name in own:
        found += [p_s(name), *(counting.share(DESCRIBED[_SHARES[kind]], name, kind) for kind in kinds)]
    return found


def stratum(judgement: Judgement, settings: Settings) -> str:  # noqa: ARG001
    return judgement.tags["kind"]


def _outcome(judgement: Judgement) -> str:
    if judgement.observed is not None:
        return judgement.observed.value
    return "mixed" if judgement.reason == "mixed" else "failed"


def _columns_of(judgement: Judgement) -> Iterable[str]:
    outcome = _outcome(judgement)
    for name in (*judgement.tags["sets"].split(), "all"):
        yield f"{name}.total"
        yield f"{name}.{outcome}"
        if judgement.verdict is Verdict.JUDGED:
            yield f"{name}.judged"


def _leaning(counts: Counter[str], total: int) -> str:
    """The gender a lexeme is translated with: one only, both, or (mostly) unspecified."""
    gendered = counts["feminine"] + counts["masculine"]
    if 2 * gendered < total:
        return "open"
    return next((kind for kind in ("feminine", "masculine") if counts[kind] == gendered), "both")


def by_lexeme(judgements: Sequence[Judgement]) -> list[tuple[str, str, str, Counter[str]]]:
    """Each lexeme, by id: text, class, English gloss, and number of each outcome."""
    found: dict[str, tuple[str, str, str, Counter[str]]] = {}
    for judgement in judgements:
        tags = judgement.tags
        known = found.setdefault(
            judgement.group_id, (judgement.entity, tags.get("kind", ""), tags.get("gloss", ""), Counter())
        )
        known[-1][_outcome(judgement)] += 1
    return [lexeme for _, lexeme in sorted(found.items())]


def tests(judgements: Sequence[Judgement], seed: int) -> list[Test]:
    lexemes = by_lexeme(judgements)
    rows = [[counts[gender] for gender in ("feminine", "masculine", "neutral")] for *_, counts in lexemes]
    outcomes, kinds = np.array(rows, dtype=np.float64).reshape(-1, 3), [kind for _, kind, _, _ in lexemes]
    independence = statistics.independence_test(outcomes, kinds, N_PERMUTATIONS, seed)
    totals = outcomes.sum(axis=1)
    usable = totals > 0
    differences = (outcomes[usable, 1] - outcomes[usable, 0]) / totals[usable]
    p_value = statistics.sign_flip_test(differences, N_PERMUTATIONS, seed, "greater") if len(differences) else None
    return [
        Test(
            "independence",
            "Does the gender chosen depend on the class of the lexeme (occupation, positive, negative)? (SBias)",
            independence.chi_square,
            independence.p_value,
            {"cramers_v": independence.cramers_v, "method": "chi-square, classes permuted among lexemes"},
        ),
        Test(
            "male-default",
            "Are masculine translations more frequent than feminine ones? (VBias; as Prates et al. 2018)",
            float(differences.mean()) if len(differences) else None,
            p_value,
            {"statistic": "mean over lexemes of p_m - p_w", "method": "sign flips by lexeme"},
        ),
    ]


def tables(judgements: Sequence[Judgement]) -> list[Table]:
    outcomes = ("feminine", "masculine", "neutral", "mixed", "failed")
    per_lexeme = [
        (text, kind, total := counts.total(), *(counts[name] for name in outcomes), _leaning(counts, total))
        for text, kind, _, counts in by_lexeme(judgements)
    ]
    leanings = Counter((row[1], row[-1]) for row in per_lexeme)
    labels = ("feminine", "masculine", "both", "open")
    by_kind = [
        (kind, *(leanings[kind, label] for label in labels))
        for kind in dict.fromkeys([*KINDS, *(row[1] for row in per_lexeme)])
        if any(leanings[kind, label] for label in labels)
    ]
    return [
        Table(
            "lexemes",
            "Gender per lexeme",
            ("lexeme", "kind", "n", *outcomes, "leaning"),
            sorted(per_lexeme, key=lambda row: (-(row[3] - row[4]) / row[2], row[0])),
        ),
        Table("leanings", "Which way lexemes lean", ("kind", *labels), by_kind),
    ]


def warnings(judgements: Sequence[Judgement], settings: Settings) -> list[str]:
    if settings.rules == "paper":
        n_failed = sum(judgement.tags.get("failed") == "yes" for judgement in judgements)
        if n_failed > _FAILED_SHARE_TO_WARN * len(judgements):
            return [
                f"{n_failed:,} of {len(judgements):,} outputs are empty, copied or speak of no person; the "
                "paper's rules count them as neutral, which raises P_S: use --rules best"
            ]
    return []


MEASURES = Measures(
    described=tuple(DESCRIBED.values()),
    headline=("tgbi", "p_s"),
    questions=("imbalance", "independence"),
    tally=counting.per_judgement(_columns_of),
    metrics=metrics,
    stratum=stratum,
    tests=tests,
    tables=tables,
    warnings=warnings,
)
