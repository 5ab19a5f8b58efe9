"""What is counted of people in the user's own texts, and the metrics made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gendermark.benchmarks.benchmark import Measures
from gendermark.benchmarks.own_text import Settings
from gendermark.metrics.metric import Metric, described, difference, per_judgement, share
from gendermark.records import Gender, Judgement, Table, Verdict

GIVEN, OPEN = "given", "unspecified"
"""People whose gender the source gives, and the others."""
_MOST_WORDS = 30

DESCRIBED = described(__package__)


def _columns(judgement: Judgement) -> Iterable[str]:
    parts = [GIVEN, str(judgement.expected)] if judgement.expected else [OPEN, judgement.tags["kind"]]
    kinds = ["total"]
    if judgement.verdict is Verdict.JUDGED:
        kinds += ["judged", "read", "shown", str(judgement.observed)]
        if judgement.is_correct:
            kinds.append("kept")
    elif judgement.outcome == "mixed":
        kinds += ["judged", "read", "shown"]
    elif judgement.reason == "not-shown":
        kinds += ["judged", "read", "not_shown"]
    return (f"{part}.{kind}" for part in ("all", *parts) for kind in kinds)


def metrics(judgements: Sequence[Judgement], settings: Settings) -> list[Metric]:  # noqa: ARG001
    found = [share(DESCRIBED["coverage"], "all", "read")]
    men, women = (share(DESCRIBED["kept"], part, "kept", of="shown") for part in ("masculine", "feminine"))
    present = {judgement.expected for judgement in judgements}
    if present - {None}:
        found.append(replace(share(DESCRIBED["kept"], GIVEN, "kept", of="shown"), slice="all"))
    found += [metric for metric, gender in ((men, Gender.MASCULINE), (women, Gender.FEMININE)) if gender in present]
    if {Gender.MASCULINE, Gender.FEMININE} <= present:
        found.append(difference(DESCRIBED["kept_gap"], men, women, GIVEN))
    if None in present:
        men, women = (share(DESCRIBED[f"shown_{kind}"], OPEN, kind, of="read") for kind in ("masculine", "feminine"))
        found.append(difference(DESCRIBED["imbalance"], men, women, OPEN))
        kinds = sorted({judgement.tags["kind"] for judgement in judgements if judgement.expected is None})
        for part in (OPEN, *(kinds if len(kinds) > 1 else ())):
            shares = (("shown_masculine", "masculine"), ("shown_feminine", "feminine"), ("not_shown", "not_shown"))
            found += [share(DESCRIBED[name], part, kind, of="read") for name, kind in shares]
    return found


def tables(judgements: Sequence[Judgement]) -> list[Table]:
    """The words that show a gender which the source does not give: where a translation defaults."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for judgement in judgements:
        if judgement.expected is None and judgement.observed is not None:
            words = " ".join(dict.fromkeys(word.casefold() for word in judgement.evidence))
            counts[judgement.entity.casefold(), words, str(judgement.observed)] += 1
    rows = [(*key, n) for key, n in counts.most_common(_MOST_WORDS)]
    columns = ("source", "translation", "gender", "n")
    return [
        Table(
            "defaults", "Words that show a gender the source does not specify (first names specify none)", columns, rows
        )
    ]


SLICES = {OPEN: "unspecified gender", "person": "third person", "addressee": "addressees", "speaker": "speakers"}

MEASURES = Measures(
    described=tuple(DESCRIBED.values()),
    headline=("kept:all", "kept_gap", "imbalance", "coverage:all"),
    questions=("kept_gap", "imbalance"),
    tally=per_judgement(_columns),
    metrics=metrics,
    tables=tables,
    slices=SLICES,
)
