"""Counts and metrics of GATE."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gendermark.benchmarks import gate_variants as gate
from gendermark.benchmarks.benchmark import Measures, outcome_table
from gendermark.metrics import quality
from gendermark.metrics.metric import (
    PERCENT,
    Bounded,
    Description,
    Floats,
    Metric,
    described,
    described_slices,
    difference,
    rate,
    share,
)
from gendermark.metrics.terms import add_terms, term_accuracy, term_coverage
from gendermark.records import Judgement, Table, Verdict

DESCRIBED, SLICES = described(__package__), described_slices(__package__)


def _named(names: str) -> list[Description]:
    return [DESCRIBED[name] for name in names.split()]


def f_half(match: Floats, mismatch: Floats, total: Floats) -> Floats:
    """1.25 P R / (0.25 P + R) in counts: 0 if nothing is correct, undefined if nothing was tried."""
    tried = match + mismatch
    return np.where(tried > 0, 100 * (1.25 * match / (0.25 * total + tried)), np.nan)


def exactness(part: str, *, is_paper: bool) -> list[Metric]:
    """P, R and F0.5 of columns `match`, `mismatch`, `tried` and `total`, and the share tried.

    The released script reports 0 if there is nothing to count.
    """
    tried, total, match = (f"{part}.{name}" for name in ("tried", "total", "match"))
    needs = (match, f"{part}.mismatch", total)
    found = [
        rate(DESCRIBED["precision"], part, match, tried, judged=tried),
        rate(DESCRIBED["recall"], part, match, total, judged=tried),
        Metric(DESCRIBED["f_half"], part, needs, f_half, total, tried, PERCENT, weigh=needs[2:]),
    ]
    if is_paper:
        found = [replace(one, value=lambda *sums, own=one.value: np.nan_to_num(own(*sums))) for one in found]
    return [*found, rate(DESCRIBED["attempt_rate"], part, tried, total, judged=tried)]


def _labels_of(judgement: Judgement) -> list[str]:
    return [label.lower() for label in judgement.tags["labels"].split()]


def _by_label(
    judgements: Sequence[Judgement], row_of: Callable[[Sequence[Judgement]], tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    by_label: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in judgements:
        for label in _labels_of(judgement):
            by_label[label].append(judgement)
    ordered = sorted(by_label.items(), key=lambda found: (-len(found[1]), found[0]))
    return [(label.upper(), SLICES.get(label, label), *row_of(found)) for label, found in ordered]


def _tables(judgements: Sequence[Judgement], rows: list[tuple[Any, ...]], title: str, columns: str) -> list[Table]:
    heads = ("label", "in words", *columns.split(", "))
    return [Table("labels", title, heads, rows), outcome_table(judgements, "Outcomes and evidence")]


def _percent(n: float, total: float) -> float | None:
    return round(100 * n / total, 1) if total else None


# -- one translation ---------------------------------------------------------------------------------------------------

_REST = ("mixed", "undecided", "failed")
"""Other outcomes for a person; metrics and columns share these names."""
_OUTCOME = {gate.FEMININE: "feminine", gate.MASCULINE: "masculine", gate.MIXED: "mixed"}


def _slices(judgement: Judgement, stereotype: str) -> Iterable[str]:
    tags = judgement.tags
    yield "all"
    yield tags["people"]
    if stereotype != "-":
        yield "mens-work" if stereotype == "m" else "womens-work"
    # Labels apply to sentences; only with one person is it clear whose they are.
    if tags["people"] == "one":
        labels = _labels_of(judgement)
        yield from labels
        if "indf" not in labels:
            yield "not-indf"


def tally_variants(group: Sequence[Judgement]) -> Mapping[str, float]:
    counts: dict[str, float] = defaultdict(float)
    for judgement in group:
        letters = judgement.tags["variant"]
        failed = judgement.verdict is Verdict.NOT_TRANSLATED
        for letter, stereotype in zip(letters, judgement.tags["stereotypes"], strict=True):
            if letter == gate.CLOSED:
                continue
            outcome = "failed" if failed else _OUTCOME.get(letter, "undecided")
            for part in _slices(judgement, stereotype):
                counts[f"{part}.total"] += 1
                counts[f"{part}.{outcome}"] += 1
                counts[f"{part}.judged"] += outcome in ("feminine", "masculine")
        own = letters.replace(gate.CLOSED, "")
        if len(own) > 1:
            counts["several.total"] += 1
            if set(own) <= {gate.FEMININE, gate.MASCULINE}:
                counts["several.judged"] += 1
                counts["several.alike"] += len(set(own)) == 1
                counts["several.men"] += set(own) == {gate.MASCULINE}
                counts["several.women"] += set(own) == {gate.FEMININE}
        add_terms(counts, "all", judgement.measures)
    return counts


def _imbalance(masculine: Floats, feminine: Floats) -> Floats:
    return 100 * (masculine - feminine) / (masculine + feminine)


def _rate_of(gender: str, part: str) -> Metric:
    return share(DESCRIBED[f"{gender}_rate"], part, gender, of="judged")


def variant_metrics(judgements: Sequence[Judgement], settings: gate.Settings) -> list[Metric]:
    groups = [group for group in gate.GROUPS if any(judgement.tags["people"] == group for judgement in judgements)]
    sides, rule = ("all.masculine", "all.feminine"), Bounded(-100.0, 100.0)
    found = [Metric(DESCRIBED["imbalance"], "all", sides, _imbalance, "all.total", "all.judged", rule, weigh=sides)]
    for part in ("all", *(groups if len(groups) > 1 or groups[0] == "one" else ())):
        found += [_rate_of("masculine", part), _rate_of("feminine", part)]
        found.append(share(DESCRIBED["coverage"], part, "judged"))
        if settings.rules != "paper":
            found += [share(DESCRIBED[kind], part, kind) for kind in _REST]
    if settings.rules != "paper":
        found.append(term_coverage())
    stereotypes = {letter for judgement in judgements for letter in judgement.tags["stereotypes"]}
    if {"m", "f"} <= stereotypes:
        men, women = (_rate_of("masculine", part) for part in ("mens-work", "womens-work"))
        found += [men, women, difference(DESCRIBED["stereotype_gap"], men, women, "all")]
    present = {label for j in judgements if j.tags["people"] == "one" for label in _labels_of(j)}
    if {"prof", "fam"} <= present:
        work, family = (_rate_of("masculine", part) for part in ("prof", "fam"))
        found.append(difference(DESCRIBED["work_family_gap"], work, family, "one"))
    for part in (*sorted(present), *(["not-indf"] if "indf" in present else [])):
        found += [_rate_of("masculine", part), share(DESCRIBED["coverage"], part, "judged")]
    if any(group in groups for group in gate.GROUPS[1:]):
        kinds = (("consistency", "alike"), ("all_men", "men"), ("all_women", "women"))
        found += [share(DESCRIBED[name], "several", kind, of="judged") for name, kind in kinds]
    return found


def variant_tables(judgements: Sequence[Judgement]) -> list[Table]:
    def row(found: Sequence[Judgement]) -> tuple[Any, ...]:
        counts = tally_variants(found)
        n, judged, men = counts["all.total"], counts["all.judged"], counts["all.masculine"]
        outcomes = (int(counts[f"all.{kind}"]) for kind in ("masculine", "feminine", "mixed", "undecided"))
        return int(n), *outcomes, _percent(men, judged), _percent(judged, n)

    chosen = Counter(j.tags["variant"] for j in judgements if j.tags["people"] != "one")
    variants = sorted(chosen.items(), key=lambda found: (len(found[0]), -found[1], found[0]))
    columns = "people, men, women, mixed, undecided, % men, % read"
    found = _tables(judgements, _by_label(judgements, row), "People by label", columns)
    if variants:
        title = "Variants chosen where there are several people (? not read, x both at once, - nothing to choose)"
        found.append(Table("variants", title, ("variant", "n"), variants))
    return found


VARIANTS = Measures(
    described=_named(
        "imbalance masculine_rate feminine_rate coverage mixed undecided failed stereotype_gap "
        "work_family_gap consistency all_men all_women term_coverage"
    ),
    headline=("imbalance:all", "coverage:all"),
    questions=("imbalance", "stereotype_gap"),
    tally=tally_variants,
    metrics=variant_metrics,
    tables=variant_tables,
    slices=SLICES,
)


# -- several translations ----------------------------------------------------------------------------------------------


def tally_alternatives(group: Sequence[Judgement]) -> Mapping[str, float]:
    counts: dict[str, float] = defaultdict(float)
    for judgement in group:
        own = judgement.measures
        is_open = own["combinations"] > 1
        counts["all.every"] += 1
        counts["all.translated"] += judgement.verdict is not Verdict.NOT_TRANSLATED
        counts["all.open"] += is_open
        counts["all.offered"] += own["attempted"]
        counts["all.offered_rightly"] += own["attempted"] * is_open
        for key, value in own.items():
            if "." in key:
                counts[key] += value
        if not is_open:
            continue
        part = "one" if judgement.tags["people"] == "one" else "several"
        right = own["exact"] > 0 if judgement.tags["rules"] == "paper" else judgement.outcome == "correct"
        tried = own["attempted"] > 0
        counts[f"{part}.total"] += 1
        counts[f"{part}.tried"] += tried
        counts[f"{part}.match"] += tried and right
        counts[f"{part}.mismatch"] += tried and not right
        counts[f"{part}.exact"] += own["exact"]
        counts[f"{part}.both"] += judgement.reason in ("both", "more than the gender changes")
        counts[f"{part}.men"] += judgement.reason == "masculine only"
        counts[f"{part}.women"] += judgement.reason == "feminine only"
        counts[f"{part}.{judgement.outcome}"] += 1
        counts[f"{part}.judged"] += judgement.verdict is Verdict.JUDGED
        counts[f"{part}.found"] += own["found"] / own["combinations"]
        counts[f"{part}.all_found"] += own["found"] >= own["combinations"]
    return counts


def alternative_metrics(judgements: Sequence[Judgement], settings: gate.AlternativesSettings) -> list[Metric]:
    present = {judgement.tags["people"] for judgement in judgements}
    is_paper = settings.rules == "paper"
    found: list[Metric] = []
    if "one" in present:
        found = [*exactness("one", is_paper=is_paper), share(DESCRIBED["exact_rate"], "one", "exact")]
        kinds = {"both_rate": "both", "only_men": "men", "only_women": "women", **{kind: kind for kind in _REST}}
        found += [] if is_paper else [share(DESCRIBED[name], "one", kind) for name, kind in kinds.items()]
    if present & set(gate.GROUPS[1:]):
        several = {"combination_recall": "found", "all_found": "all_found", "attempt_rate": "tried"}
        found += [share(DESCRIBED[name], "several", kind) for name, kind in several.items()]
    if gate.NOBODY in present and not is_paper:
        judged, said, wanted = "all.translated", "structures.said", "structures.wanted"
        found += [
            rate(DESCRIBED["offer_precision"], "all", "all.offered_rightly", "all.offered", judged=judged),
            rate(DESCRIBED["offer_recall"], "all", "all.offered_rightly", "all.open", judged=judged),
            rate(DESCRIBED["structure_precision"], "all", "structures.right", said, judged=said),
            rate(DESCRIBED["structure_recall"], "all", "structures.right", wanted, judged=wanted),
            quality.quality_gap(DESCRIBED["delta_bleu"], "bleu", "masculine", "feminine"),
        ]
    return found


def alternative_tables(judgements: Sequence[Judgement]) -> list[Table]:
    def row(found: Sequence[Judgement]) -> tuple[Any, ...]:
        counts = tally_alternatives(found)
        n, tried, right = (counts[f"one.{kind}"] for kind in ("total", "tried", "match"))
        return int(n), int(tried), int(right), _percent(right, tried), _percent(right, n)

    one = [judgement for judgement in judgements if judgement.tags["people"] == "one"]
    title, columns = "Sentences about one person, by label", "sentences, tried, right, % P, % R"
    return _tables(judgements, _by_label(one, row), title, columns)


ALTERNATIVES = Measures(
    described=_named(
        "precision recall f_half attempt_rate exact_rate both_rate only_men only_women mixed undecided failed "
        "combination_recall all_found offer_precision offer_recall structure_precision structure_recall "
        "delta_bleu"
    ),
    headline=("recall:one", "precision:one", "f_half:one", "combination_recall:several"),
    tally=tally_alternatives,
    metrics=alternative_metrics,
    tables=alternative_tables,
    slices=SLICES,
)


# -- a rewriter --------------------------------------------------------------------------------------------------------


def tally_rewriting(group: Sequence[Judgement]) -> Mapping[str, float]:
    counts: dict[str, float] = defaultdict(float)
    for judgement in group:
        tags = judgement.tags
        score = gate.EMPTY if tags["counts"] == "empty" else tags["score"]
        for part in (tags["direction"], "all"):
            if tags["counts"] in ("yes", "empty"):
                counts[f"{part}.total"] += 1
                counts[f"{part}.{score}"] += 1
                counts[f"{part}.tried"] += score != gate.EMPTY
                counts[f"{part}.unchanged"] += judgement.reason == "unchanged" and score == gate.MISMATCH
                add_terms(counts, part, judgement.measures)
            elif tags["counts"] == "same":
                counts[f"{part}.same"] += 1
                counts[f"{part}.alone"] += tags["score"] == gate.MATCH
    return counts


def rewriting_metrics(judgements: Sequence[Judgement], settings: gate.RewritingSettings) -> list[Metric]:
    present = [part for part in gate.DIRECTIONS if any(j.tags["direction"] == part for j in judgements)]
    is_paper = settings.rules == "paper"
    found: list[Metric] = []
    for part in (*present, "all"):
        found += exactness(part, is_paper=is_paper)
        if not is_paper:
            found += [
                rate(DESCRIBED["unchanged"], part, f"{part}.unchanged", f"{part}.total", judged=f"{part}.tried"),
                rate(DESCRIBED["no_op_rate"], part, f"{part}.alone", f"{part}.same", judged=f"{part}.same"),
                term_coverage(part),
                term_accuracy(part),
            ]
    return found


def rewriting_tables(judgements: Sequence[Judgement]) -> list[Table]:
    rows: list[tuple[Any, ...]] = []
    for direction in gate.DIRECTIONS:
        own = [judgement for judgement in judgements if judgement.tags["direction"] == direction]

        def row(found: Sequence[Judgement], part: str = direction) -> tuple[Any, ...]:
            counts = tally_rewriting(found)
            match, mismatch, empty = (counts[f"{part}.{kind}"] for kind in ("match", "mismatch", "empty"))
            total = match + mismatch + empty
            half = f_half(*(np.array([x]) for x in (match, mismatch, total)))[0] if total else np.nan
            shares = (_percent(match, match + mismatch), _percent(match, total))
            return part, int(match), int(mismatch), int(empty), *shares, None if np.isnan(half) else round(half, 1)

        rows += _by_label(own, row)
    title = "By label; a sentence counts once for each of its labels"
    return _tables(judgements, rows, title, "direction, match, mismatch, empty, % P, % R, % F0.5")


def rewriting_warnings(judgements: Sequence[Judgement], settings: gate.RewritingSettings) -> list[str]:
    n_same = sum(judgement.tags["changes"] == "no" for judgement in judgements)
    if settings.rules == "paper" and n_same:
        return [
            f"{n_same:,} of {len(judgements):,} sentences are the same in both genders, and right if nothing is done; "
            "rules best count them apart"
        ]
    return []


REWRITING = Measures(
    described=_named("precision recall f_half attempt_rate unchanged no_op_rate term_coverage term_accuracy"),
    headline=("f_half", "precision", "recall"),
    tally=tally_rewriting,
    metrics=rewriting_metrics,
    tables=rewriting_tables,
    warnings=rewriting_warnings,
    slices=SLICES,
)
