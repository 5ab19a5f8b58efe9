"""What the statistics must hold, by simulation through the real code: one line for each limit, with what was found.

    python bench/must_hold.py [claims page coverage type-1 gate power] [--runs 500]
    GENDERMARK_DATA_MIRROR=... python bench/must_hold.py real

`real` needs the released outputs of WinoMT. docs/statistics.md has the numbers of `--runs 500`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import intervals
import numpy as np
from calibration import CORRELATIONS, DESIGNS, QUICKLY, Design, Generator, Sentences, Truth, draw, lose_women, sentences

import gendermark
from gendermark import registry
from gendermark.metrics.intervals import estimate
from gendermark.metrics.statistics import benjamini_hochberg
from gendermark.metrics.verdicts import State, verdicts
from gendermark.records import Item
from gendermark.reporting.findings import findings, verdict
from gendermark.result import Result
from gendermark.runs.compare import compare
from gendermark.runs.gates import against_baseline
from gendermark.runs.power import expected_from, questions

ON_THE_PAGE = ("winomt core", "simplegen core", "counterfactual core", "contextual core")
RELEASED = (
    "gabrielStanovsky/mt_gender/586292861cf2efdda2dec03c69c3408995a8b293/translations",
    "sbonifacio/mt_gender_pt/a12ad7ab9bcdb2c6a72ee8f946caafcc67c27bf2/wino_mt/translations",
)
Row = tuple[str, float, str]
"""What was measured, in percent or points; and its limit."""


def design(name: str) -> Design:
    return next(one for one in DESIGNS if one.name == name)


def judged(of: Sentences, truth: Truth, rng: Generator, *, every: bool = False) -> Result:
    """A whole result of a simulated system, with both intervals and its verdicts."""
    judgements, measures = draw(of, truth, rng), of.benchmark.measures
    metrics = measures.metrics(judgements, of.selection)
    asked = {name.partition(":")[0] for name in measures.questions}
    metrics = [metric for metric in metrics if every or metric.name in asked]
    counts = measures.count(judgements, of.selection, within=True)
    estimates = estimate(counts, metrics, QUICKLY)
    found = verdicts(measures.questions, counts, metrics, estimates, [])
    return replace(of.result(judgements, "simulated"), estimates=tuple(estimates), verdicts=found)


def _says_nothing(sentence: str) -> bool:
    """Of the first sentence of a page: that no gap is significant, and nothing beyond it."""
    shows_no_gap = sentence.startswith("None of the") or "shows no significant" in sentence
    return shows_no_gap and ";" not in sentence and ", but" not in sentence


def claims_anything(result: Result) -> bool:
    return any(verdict.state is State.SIGNIFICANT for verdict in result.verdicts)


def claims(n: int) -> Iterator[Row]:
    """Results of systems that treat women and men alike."""
    for name in ON_THE_PAGE:
        cells = []
        for p, icc in ((0.8, 0.0), (0.8, 0.6), (0.95, 0.3)):
            rng = np.random.default_rng(1)
            cells.append(100 * np.mean([claims_anything(judged(sentences(design(name)), Truth(p, p, icc), rng))
                                        for _ in range(n)]))  # fmt: skip
        yield (
            f"single results that claim a bias, {name} (worst of {len(cells)}: {max(cells):.1f})",
            np.mean(cells),
            "<= 5",
        )


def page(n: int) -> Iterator[Row]:
    """Three unbiased systems on four benchmarks, and one system on four benchmarks in three languages."""
    rng, gaps, opens = np.random.default_rng(2), [], []
    for _ in range(n):
        results = [judged(sentences(design(name)), Truth(0.85, 0.85, 0.3), rng, every=True) for name in ON_THE_PAGE * 3]
        raw = [e.p_value for result in results for e in result.estimates if e.metric == "recall_gap"]
        gaps.append(any(p is not None and p < 0.05 for p in benjamini_hochberg(raw)))
        systems = [(name, results[4 * k : 4 * k + 4]) for k, name in enumerate("ABC")]
        languages = [
            replace(one, selection=replace(one.selection, target_language=to))
            for k, to in enumerate(("es", "fr", "it"))
            for one in results[4 * k : 4 * k + 4]
        ]
        opens += [not _says_nothing(verdict(page)) for page in (systems, [("A", languages)])]
    yield "pages of 12 unbiased results whose counts of gaps claim one", 100 * np.mean(gaps), "<= 5"
    yield "pages of 12 unbiased results whose first sentence claims a bias", 100 * np.mean(opens), "<= 5"


def coverage(n: int) -> Iterator[Row]:
    """Of rates (bench/intervals.py has the table by design), and of gaps in WinoMT, against the truth of each."""
    rng = np.random.default_rng(3)
    for which, method in (("other groups", intervals.ours), ("these groups", intervals.fixed)):
        wide, every = [], []
        for sizes, p, icc in product(intervals.DESIGNS.values(), intervals.RATES, CORRELATIONS):
            if icc and max(sizes) == 1:
                continue
            # Six times as many runs: the lowest of many settings is lower than any by chance.
            share = intervals.covered(method, np.array(sizes), p, icc, 6 * n, rng)
            every.append(100 * share)
            wide += [100 * share] if len(sizes) >= 20 and p <= 0.9 else []
        yield (
            f"coverage of rates, {which}, lowest of {len(every)} settings (mean {np.mean(every):.1f})",
            min(every),
            ">= 93",
        )
        yield f"coverage of rates .5-.9, {which}, 20 groups or more, highest", max(wide), "<= 98"
    of = sentences(design("winomt core"))
    other, these = [], []
    for p, icc in product((0.5, 0.8, 0.9), CORRELATIONS):
        hits = np.zeros(2)
        for _ in range(n):
            truth = Truth(p, p, icc)
            chances = truth.chances(of, rng)
            result = counted(of, of.pick(rng.random(len(of.judged)) < chances))
            gap = next(e for e in result if e.metric == "recall_gap")
            own = 100 * (chances[~of.is_woman & ~of.is_open].mean() - chances[of.is_woman].mean())
            hits += [gap.low <= 0 <= gap.high, gap.fixed_low <= own <= gap.fixed_high]
        other.append(100 * hits[0] / n)
        these.append(100 * hits[1] / n)
    for which, seen in (("other groups", other), ("these groups", these)):
        yield (
            f"coverage of the gap, WinoMT core, {which}, lowest of {len(seen)} (highest {max(seen):.1f})",
            min(seen),
            ">= 93",
        )


def counted(of: Sentences, judgements: Sequence) -> list:
    metrics = [m for m in of.benchmark.measures.metrics(judgements, of.selection) if m.name == "recall_gap"]
    return estimate(of.benchmark.measures.count(judgements, of.selection, metrics, within=True), metrics, QUICKLY)


def pair(of: Sentences, first: Truth, second: Truth, rng: Generator, *, versions: bool) -> tuple[Result, Result]:
    levels = rng.normal(size=3 * of.groups)
    sides = []
    for truth in (first, second):
        chances = truth.as_release(of, levels) if versions else truth.chances(of, rng)
        sides.append(of.result(of.pick(rng.random(len(of.judged)) < chances), "simulated"))
    return sides[0], sides[1]


WHO = {True: "versions", False: "unrelated systems"}


def type_1(n: int) -> Iterator[Row]:
    """Differences that `compare` finds between systems with the same rates; and gaps of systems without one."""
    for versions in (True, False):
        worst = {}
        for name, p, icc in product(("winomt core", "counterfactual core"), (0.8, 0.95), CORRELATIONS):
            of, rng = sentences(design(name)), np.random.default_rng(4)
            found = []
            for _ in range(n):
                before, now = pair(of, Truth(p, p, icc), Truth(p, p, icc), rng, versions=versions)
                report = compare([before], [now], QUICKLY)
                found.append([c.p_value is not None and c.p_value < 0.05 for c in report.comparisons])
            for metric, share in zip(report.comparisons, 100 * np.mean(found, axis=0), strict=True):
                worst[name, p, icc, metric.metric] = share
        told = f"mean {np.mean(list(worst.values())):.1f} of {len(worst)} settings and metrics"
        yield f"type I error of `compare`, {WHO[versions]}, highest ({told})", max(worst.values()), "<= 6"


def gate(n: int) -> Iterator[Row]:
    """How often a gate fails."""
    of = sentences(design("winomt core"))

    def fails(first: Truth, second: Truth, *, versions: bool, lost: int = 0) -> float:
        rng, found = np.random.default_rng(5), []
        for _ in range(n):
            before, now = pair(of, first, second, rng, versions=versions)
            if lost:
                now = of.result(lose_women(before.judgements, lost), "simulated")
            found.append(any(check.has_failed for check in against_baseline([now], [before], QUICKLY, 0.05)))
        return 100 * np.mean(found)

    for versions, least in ((True, 90), (False, 85)):
        cells = [fails(Truth(0.85, 0.85, icc), Truth(0.95, 0.75, icc), versions=versions) for icc in CORRELATIONS]
        told = ", ".join(f"{cell:.0f}" for cell in cells)
        yield f"gate fails: women -10 and men +10, {WHO[versions]}, lowest of {told}", min(cells), f">= {least}"
    yield "gate fails: all women of six occupations lost", fails(Truth(0.999, 0.999), Truth(0.999, 0.999),
                                                               versions=True, lost=6), "100"  # fmt: skip
    same = [fails(Truth(p, p, icc), Truth(p, p, icc), versions=True) for p, icc in product((0.8, 0.95), (0.0, 0.6))]
    yield f"gate fails without a change, highest of {len(same)} (mean {np.mean(same):.1f})", max(same), "<= 5"


def power(n: int) -> Iterator[Row]:
    """The power that two earlier runs predict for a later pair of the same kind, and how often a gap is then found."""
    for name, versions in product(("winomt core", "winomt official"), (True, False)):
        of, rng, off = sentences(design(name)), np.random.default_rng(6), []
        items = [Item(j.item_id, 0, j.group_id, "", j.expected) for j, _ in of.judged]
        drop = 15 if not versions else 5 if name.endswith("official") else 10
        for icc in (0.3, 0.6):
            before, after = Truth(0.85, 0.85, icc), Truth(0.85, 0.85 - drop / 100, icc)
            predicted, found = [], []
            for _ in range(n // 2):
                expected = expected_from(*pair(of, before, before, rng, versions=versions))
                asked = {q.name: q for q in questions(of.benchmark, items, expected)}["men minus women"]
                predicted.append(asked.power(drop))
                report = compare(*([one] for one in pair(of, before, after, rng, versions=versions)), QUICKLY)
                found.append(next(c for c in report.comparisons if c.metric == "recall_gap").p_adjusted < 0.05)
            off.append((100 * np.mean(predicted), 100 * np.mean(found)))
        told = ", ".join(f"{p:.0f}/{f:.0f}" for p, f in off)
        worst = max(abs(p - f) for p, f in off)
        yield f"`power` predicted/found, {name}, {WHO[versions]} ({told}), largest difference", worst, "<= 10"


def real(_: int) -> Iterator[Row]:
    """Released outputs of WinoMT: what is said of gaps above 10 points."""
    mirror = Path(os.environ["GENDERMARK_DATA_MIRROR"])
    known = set(registry.names("language"))
    n_results, large, clear, wrong = 0, 0, 0, []
    for file in sorted(file for place in RELEASED for file in (mirror / place).glob("*/en-*.txt")):
        if file.stem.removeprefix("en-") not in known:
            continue
        result = gendermark.score("winomt", file, file.stem.removeprefix("en-"), data="official")
        n_results += 1
        gap = result["recall_gap"]
        answer = next(v for v in result.verdicts if v.metric == "recall_gap")
        if gap.value is None or abs(gap.value) <= 10:
            continue
        large += 1
        said = " ".join(findings(result))
        if answer.p_adjusted is not None and answer.p_adjusted < 0.05:
            clear += 1
            told = next((text for text in findings(result) if "gap" in text), "")
            if answer.state is not State.SIGNIFICANT or "not significant" in told or not told:
                wrong.append(f"{file.parent.name} {file.stem}: {said}")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    told = f"{n_results} results, {large} gaps above 10 points, {clear} with adjusted p < .05"
    yield f"real systems: {told}; of these called anything but significant", len(wrong), "0"


PARTS: dict[str, Callable[[int], Iterator[Row]]] = {
    "claims": claims, "page": page, "coverage": coverage, "type-1": type_1, "gate": gate, "power": power, "real": real,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--runs", type=int, default=500)
    given = parser.parse_args()
    print("| what | found | limit |\n|---|---:|---:|")
    for name in given.what or [name for name in PARTS if name != "real"]:
        for what, found, limit in PARTS[name](given.runs):
            print(f"| {what} | {found:.1f} | {limit} |", flush=True)


if __name__ == "__main__":
    main()
