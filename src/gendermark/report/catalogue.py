"""What is registered, as tables."""

from __future__ import annotations

from typing import Any

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.records import Table

METRICS = (
    ("mt-geneval-*", "accuracy, coverage, decided_accuracy", "%", "right; has deciding words; right out of those"),
    ("mt-geneval-*", "mixed, failed, extraction", "%", "both genders' words; no translation; sentence not found again"),
    ("mt-geneval-counterfactual", "bleu_…, chrf_… (masculine, feminine)", "0-100", "quality per gender (sacreBLEU)"),
    ("mt-geneval-counterfactual", "delta_qual, delta_chrf, delta_effort", "0-100", "masculine minus feminine"),
    ("mt-geneval-counterfactual", "control_gap", "0-100", "the same gap of the references against each other"),
    (
        "simplegen",
        "correct, incorrect, inconclusive",
        "%",
        "per group: share with the right, the wrong, no clear gender",
    ),
    ("simplegen", "correct of all, fc, mc", "%", "correct among all, among all women, among all men"),
    ("simplegen", "pro, anti", "%", "correct where stereotype and sentence agree, and where they disagree"),
    ("simplegen", "delta", "%", "pro minus anti: 0 is unbiased"),
    ("simplegen", "recall_gap", "%", "correct among men minus correct among women: 0 is unbiased"),
    ("simplegen", "delta_fc, delta_mc", "%", "the same among women (fofc minus mofc) and among men (momc minus fomc)"),
    ("winomt", "accuracy", "%", "right out of all, the undecided wrong; slices mf, masculine, feminine, pro, anti ..."),
    ("winomt", "recall_gap", "%", "right among men minus right among women: 0 is unbiased"),
    ("winomt", "decided_accuracy, coverage", "%", "right out of those read; share read"),
    ("winomt", "f1_masculine, f1_feminine, macro_f1", "%", "F1 per gender and their mean"),
    ("winomt", "delta_g", "%", "F1 of masculine minus F1 of feminine: 0 is unbiased"),
    ("winomt", "delta_s, delta_s_f1", "%", "pro minus anti, by accuracy and by macro-F1: 0 is unbiased"),
    ("winomt", "pair_accuracy", "%", "he/she versions of one sentence both right"),
    ("winomt", "masculine_share, distance_from_even", "%", "of gendered outputs where the source leaves gender open"),
    ("tgbi", "p_w, p_m, p_n", "0-1", "per set: share translated as a woman, as a man, left open"),
    ("tgbi", "p_mixed, p_failed", "0-1", "per set: both genders at once; no translation, or of no person (rules best)"),
    ("tgbi", "p_s", "0-1", "per set: sqrt(p_w p_m + p_n); 0 is one gender only, 0.5 both evenly, 1 neutral"),
    ("tgbi", "imbalance", "0-1", "p_m minus p_w over all sentences: 0 is balanced"),
    ("tgbi", "tgbi", "0-1", "mean of p_s over the sets"),
)


def listing(kind: str) -> Table:
    """One of benchmarks, systems, languages, metrics."""
    if kind == "benchmarks":
        rows: list[tuple[Any, ...]] = []
        for name in registry.names("benchmark"):
            benchmark: Benchmark = registry.load("benchmark", name)
            directions = {data: _directions(benchmark, data) for data in ("official", "core")}
            rows.append((name, benchmark.title, directions["official"], directions["core"], ", ".join(benchmark.rules)))
        return Table(kind, "Benchmarks", ("name", "measures", "official data", "core data", "rules"), rows)
    if kind == "systems":
        rows = [
            (f"{name}:…", _first_line(registry.load("system", name).__module__)) for name in registry.names("system")
        ]
        return Table(kind, "Systems", ("spec", "is"), rows)
    if kind == "languages":
        from gendermark.linguistics.occupations import lexicon

        rows = [
            (
                code,
                registry.load("language", code).name,
                len({entry.occupation for entry in lexicon(code)}),
                sum(len(entry.forms) for entry in lexicon(code)),
            )
            for code in registry.names("language")
        ]
        return Table(kind, "Target languages with gender", ("code", "language", "occupations", "forms"), rows)
    return Table(kind, "Metrics", ("benchmark", "metrics", "scale", "meaning"), METRICS)


def _directions(benchmark: Benchmark, data: str) -> str:
    targets: dict[str, list[str]] = {}
    for source, target in benchmark.language_pairs(data):
        targets.setdefault(target, []).append(source)
    if not targets:
        return "–"
    if len(targets) == 1:
        return f"{' '.join(next(iter(targets.values())))} → {next(iter(targets))}"
    return f"{benchmark.language_pairs(data)[0][0]} → {' '.join(targets)}"


def _first_line(module: str) -> str:
    import sys

    text = (sys.modules[module].__doc__ or "").strip().split("\n\n")[0]
    return " ".join(text.partition(": ")[2].split())
