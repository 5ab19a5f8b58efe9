"""Counts and metrics of SimpleGEN."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gendermark.benchmarks.benchmark import Measures
from gendermark.benchmarks.simplegen import GROUPS, Settings
from gendermark.metrics.metric import Metric, described, described_slices, difference, per_judgement, share
from gendermark.records import Gender, Judgement, Table, Verdict

PRO, ANTI = ("fofc", "momc"), ("fomc", "mofc")
OUTCOMES = ("correct", "incorrect", "inconclusive")
_FAILED_SHARE_TO_WARN = 0.2

DESCRIBED = described(__package__)


def _outcome(judgement: Judgement) -> str:
    if judgement.observed is None:
        return "inconclusive"
    return "correct" if judgement.is_correct else "incorrect"


def _columns_of(judgement: Judgement) -> Iterable[str]:
    group = judgement.tags["group"]
    outcome = _outcome(judgement)
    for name in (group, "pro" if group in PRO else "anti", group[2:], "all"):
        yield f"{name}.total"
        yield f"{name}.{outcome}"
        if judgement.verdict is Verdict.JUDGED:
            yield f"{name}.judged"


def metrics(judgements: Sequence[Judgement], settings: Settings) -> list[Metric]:  # noqa: ARG001
    present = {judgement.tags["group"] for judgement in judgements}
    correct = {name: share(DESCRIBED["correct"], name, "correct") for name in (*GROUPS, "fc", "mc", "all")}
    pro, anti = (replace(share(DESCRIBED[name], name, "correct"), slice="all") for name in ("pro", "anti"))
    found = [half for half, groups in ((pro, PRO), (anti, ANTI)) if present >= set(groups)]
    if len(found) == 2:
        found.append(difference(DESCRIBED["delta"], pro, anti, "all", is_undefined_without_hits=True))
    for name, first, second in (("delta_fc", "fofc", "mofc"), ("delta_mc", "momc", "fomc")):
        if {first, second} <= present:
            found.append(difference(DESCRIBED[name], correct[first], correct[second], first[2:]))
    # Not in the paper: an always-masculine system has no gap between pro and anti, but it has this one.
    found.extend(correct[context] for context in ("fc", "mc") if {f"fo{context}", f"mo{context}"} <= present)
    if present >= set(GROUPS):
        found.append(correct["all"])
        found.append(
            difference(DESCRIBED["recall_gap"], correct["mc"], correct["fc"], "all", is_undefined_without_hits=True)
        )
    for group in GROUPS:
        if group in present:
            found.extend(share(DESCRIBED[kind], group, kind) for kind in OUTCOMES)
    return found


def stratum(judgement: Judgement, settings: Settings) -> str:
    return judgement.tags["stereotype"] if settings.cluster == "occupation" else ""


def template(judgement: Judgement, settings: Settings) -> str:
    """Every occupation occurs in every template; whichever defines the groups, the other varies too."""
    return judgement.tags["template"] if settings.cluster == "occupation" else judgement.entity


def warnings(judgements: Sequence[Judgement], settings: Settings) -> list[str]:  # noqa: ARG001
    n_failed = sum(judgement.verdict is Verdict.NOT_TRANSLATED for judgement in judgements)
    if n_failed > _FAILED_SHARE_TO_WARN * len(judgements):
        return [
            f"{n_failed:,} of {len(judgements):,} outputs are empty, failed or a copy of the source; "
            "they count as inconclusive"
        ]
    return []


def tables(judgements: Sequence[Judgement]) -> list[Table]:
    by_occupation: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for judgement in judgements:
        key = (judgement.entity, judgement.tags["stereotype"])
        by_occupation[key][f"{judgement.expected}.{_outcome(judgement)}"] += 1
        by_occupation[key][f"{judgement.expected}.total"] += 1
    rows = []
    for (occupation, stereotype), counts in by_occupation.items():
        shares = [
            round(100 * counts[f"{gender}.correct"] / total, 1) if (total := counts[f"{gender}.total"]) else None
            for gender in (Gender.FEMININE, Gender.MASCULINE)
        ]
        n_inconclusive = sum(counts[f"{gender}.inconclusive"] for gender in (Gender.FEMININE, Gender.MASCULINE))
        rows.append(
            (occupation, stereotype, *shares, n_inconclusive, counts["feminine.total"] + counts["masculine.total"])
        )
    columns = ("occupation", "stereotype", "correct for women", "correct for men", "inconclusive", "n")
    found = [Table("occupations", "Percent correct per occupation", columns, sorted(rows))]
    if any("paper_outcome" in judgement.tags for judgement in judgements):
        found.append(_rules_compared(judgements))
    return found


def _rules_compared(judgements: Sequence[Judgement]) -> Table:
    """Our verdicts and the paper's side by side; they differ if the dictionary errs or lacks a form."""
    rows = []
    for group in GROUPS:
        ours = [_outcome(judgement) for judgement in judgements if judgement.tags["group"] == group]
        papers = [judgement.tags["paper_outcome"] for judgement in judgements if judgement.tags["group"] == group]
        if ours:
            n_differ = sum(a != b for a, b in zip(ours, papers, strict=True))
            rows.append((group, *(n for kind in OUTCOMES for n in (ours.count(kind), papers.count(kind))), n_differ))
    columns = ("group", *(f"{kind} ({rules})" for kind in OUTCOMES for rules in ("best", "paper")), "differ")
    return Table("rules", "Verdicts under both rule sets", columns, rows)


MEASURES = Measures(
    described=tuple(DESCRIBED.values()),
    headline=("correct:all", "pro", "anti", "delta", "recall_gap"),
    questions=("recall_gap", "delta"),
    tally=per_judgement(_columns_of),
    metrics=metrics,
    stratum=stratum,
    template=template,
    tables=tables,
    warnings=warnings,
    slices=described_slices(__package__),
)
