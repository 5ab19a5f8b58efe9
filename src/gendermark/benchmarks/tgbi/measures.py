"""What is counted of TGBI's judgements, the metrics made of it, and the paper's tests of bias."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from gendermark.benchmarks.benchmark import Measures
from gendermark.benchmarks.tgbi import SETS, Settings
from gendermark.benchmarks.tgbi.items import KINDS, sets_of, styles_of
from gendermark.metrics import statistics
from gendermark.metrics.describe import Description
from gendermark.metrics.metric import Floats, Metric, per_judgement
from gendermark.metrics.neutrality import P_S, TGBI, p_s, tgbi
from gendermark.metrics.rates import difference, share
from gendermark.records import Gender, Judgement, Table, Test, Unit, Verdict

N_PERMUTATIONS = 2000
_FAILED_SHARE_TO_WARN = 0.02


def _share_of(name: str, label: str, meaning: str, behind: dict[str, str]) -> Description:
    return Description(name, label, f"Share of a set: {meaning}.", Unit.SHARE, behind=behind)


_SHARES = {
    "feminine": _share_of("p_w", "as a woman", "translated as a woman", {"observed": "feminine"}),
    "masculine": _share_of("p_m", "as a man", "translated as a man", {"observed": "masculine"}),
    "neutral": _share_of("p_n", "left open", "the gender is left open", {"observed": "neutral"}),
    "mixed": _share_of("p_mixed", "both at once", "both genders at once", {"outcome": "mixed"}),
    "failed": _share_of("p_failed", "not translated", "no translation, or of no person", {"observed": "none"}),
}
IMBALANCE = Description(
    "imbalance",
    "men minus women",
    "p_m minus p_w over all sentences, the linear score of section 4.2; 0 is balanced.",
    Unit.SHARE,
    "zero",
)


def metrics(judgements: Sequence[Judgement], settings: Settings) -> list[Metric]:
    present = {name for judgement in judgements for name in judgement.tags["sets"].split()}
    # Korean and Japanese have all seven; a language without politeness has fewer, and its index is over those.
    own = [name for name in SETS if name in present]
    is_own = settings.data not in ("official", "core")
    women, men = (share(_SHARES[kind], "all", kind) for kind in ("feminine", "masculine"))
    found = [
        tgbi(own if is_own else sets_of(styles_of(settings.source_language))),
        difference(IMBALANCE, men, women, "all"),
        women,
        men,
    ]
    kinds = [kind for kind in _SHARES if settings.rules != "paper" or kind not in ("mixed", "failed")]
    for name in own:
        found += [p_s(name), *(share(_SHARES[kind], name, kind) for kind in kinds)]
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
    """Which gender a lexeme is translated with: one only, both, or (mostly) left open."""
    gendered = counts["feminine"] + counts["masculine"]
    if 2 * gendered < total:
        return "open"
    return next((kind for kind in ("feminine", "masculine") if counts[kind] == gendered), "both")


def _by_lexeme(judgements: Sequence[Judgement]) -> tuple[Floats, list[str], list[str]]:
    """(feminine, masculine, neutral) counts of each lexeme, and its class."""
    rows: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    kinds: dict[str, str] = {}
    order = (Gender.FEMININE, Gender.MASCULINE, Gender.NEUTRAL)
    for judgement in judgements:
        kinds[judgement.group_id] = judgement.tags["kind"]
        row = rows[judgement.group_id]
        if judgement.observed is not None:
            row[order.index(judgement.observed)] += 1
    groups = sorted(rows)
    return np.array([rows[g] for g in groups], dtype=np.float64).reshape(-1, 3), [kinds[g] for g in groups], groups


def tests(judgements: Sequence[Judgement], seed: int) -> list[Test]:
    outcomes, kinds, _ = _by_lexeme(judgements)
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
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    texts: dict[str, tuple[str, str]] = {}
    for judgement in judgements:
        texts.setdefault(judgement.group_id, (judgement.entity, judgement.tags["kind"]))
        rows[judgement.group_id][_outcome(judgement)] += 1
    kinds = ("feminine", "masculine", "neutral", "mixed", "failed")
    per_lexeme = [
        (*texts[group], total := counts.total(), *(counts[kind] for kind in kinds), _leaning(counts, total))
        for group, counts in sorted(rows.items())
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
            ("lexeme", "kind", "n", *kinds, "leaning"),
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
    described=(TGBI, IMBALANCE, P_S, *_SHARES.values()),
    headline=("tgbi", "p_s"),
    questions=("imbalance", "independence"),
    tally=per_judgement(_columns_of),
    metrics=metrics,
    stratum=stratum,
    tests=tests,
    tables=tables,
    warnings=warnings,
)
