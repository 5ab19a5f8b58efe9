"""What is counted of people in the user's own texts, and the metrics made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gendermark.benchmarks.benchmark import Measures
from gendermark.benchmarks.own_text import Settings
from gendermark.metrics.describe import Description
from gendermark.metrics.metric import Bounded, Floats, Metric, per_judgement
from gendermark.metrics.rates import difference, share
from gendermark.records import Gender, Judgement, Table, Verdict

GIVEN, OPEN = "given", "unspecified"
"""People whose gender the source gives, and the others."""
_MOST_WORDS = 30

KEPT = Description(
    "kept",
    "gender kept",
    "Of the people whose gender the source gives and the translation shows, those shown with that gender only.",
    better="higher",
    labels={"feminine": "gender kept, of women", "masculine": "gender kept, of men"},
)
KEPT_GAP = Description(
    "kept_gap",
    "gender gap",
    "Men minus women in gender kept; 0 is unbiased.",
    better="zero",
)
MASCULINE = Description(
    "shown_masculine",
    "shown as men",
    "Of the people of unspecified gender that could be read, those that the translation shows as men.",
    behind={"observed": "masculine"},
)
FEMININE = Description(
    "shown_feminine",
    "shown as women",
    "Of the people of unspecified gender that could be read, those that the translation shows as women.",
    behind={"observed": "feminine"},
)
NOT_SHOWN = Description(
    "not_shown",
    "no gender shown",
    "Of the people of unspecified gender that could be read, those whose gender the translation does not show.",
    behind={"outcome": "undecided"},
)
IMBALANCE = Description(
    "imbalance",
    "men minus women, unspecified",
    "Among people of unspecified gender who are shown with one: share shown as men minus share shown as women.",
    better="zero",
)
COVERAGE = Description(
    "coverage",
    "could be read",
    "People for whom the reader is sure what the translation shows, including that it shows nothing; of all.",
    better="higher",
)


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


def _imbalance() -> Metric:
    def value(masculine: Floats, feminine: Floats) -> Floats:
        return 100 * (masculine - feminine) / (masculine + feminine)

    needs = (f"{OPEN}.masculine", f"{OPEN}.feminine")
    rule = Bounded(-100.0, 100.0)
    return Metric(IMBALANCE, "all", needs, value, f"{OPEN}.total", f"{OPEN}.judged", rule, weigh=needs)


def metrics(judgements: Sequence[Judgement], settings: Settings) -> list[Metric]:  # noqa: ARG001
    found = [share(COVERAGE, "all", "read")]
    men, women = (share(KEPT, part, "kept", of="shown") for part in ("masculine", "feminine"))
    present = {judgement.expected for judgement in judgements}
    if present - {None}:
        found.append(replace(share(KEPT, GIVEN, "kept", of="shown"), slice="all"))
    found += [metric for metric, gender in ((men, Gender.MASCULINE), (women, Gender.FEMININE)) if gender in present]
    if {Gender.MASCULINE, Gender.FEMININE} <= present:
        found.append(difference(KEPT_GAP, men, women, GIVEN))
    if None in present:
        found.append(_imbalance())
        kinds = sorted({judgement.tags["kind"] for judgement in judgements if judgement.expected is None})
        for part in (OPEN, *(kinds if len(kinds) > 1 else ())):
            shares = ((MASCULINE, "masculine"), (FEMININE, "feminine"), (NOT_SHOWN, "not_shown"))
            found += [share(about, part, kind, of="read") for about, kind in shares]
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
    return [Table("defaults", "Words that show a gender which the source leaves open", columns, rows)]


SLICES = {OPEN: "unspecified gender", "person": "third person", "addressee": "addressees", "speaker": "speakers"}

MEASURES = Measures(
    described=(KEPT, KEPT_GAP, MASCULINE, FEMININE, NOT_SHOWN, IMBALANCE, COVERAGE),
    headline=("kept:all", "kept_gap", "imbalance", "coverage:all"),
    questions=("kept_gap", "imbalance"),
    tally=per_judgement(_columns),
    metrics=metrics,
    tables=tables,
    slices=SLICES,
)
