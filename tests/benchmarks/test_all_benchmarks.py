"""What every benchmark promises: systems of known behaviour land on their expectation, and bad options are refused."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

import gendermark
from cases import read_cases
from gendermark import api, registry
from gendermark.benchmarks.gest.judge import languages as speaker_languages
from gendermark.benchmarks.mt_geneval.items import LANGUAGES as MT_GENEVAL_LANGUAGES
from gendermark.errors import UserError
from gendermark.metrics.metric import SLICES

Expected = float | None | tuple[float, float]
"""A number, nothing, or a range."""
LANGUAGES = registry.names("language")
SOURCES = ("ko", "fa", "fi", "hu", "ja", "tr")
GATE = ("es", "fr", "it")
PAIRS, CONTEXTS = "mt-geneval-counterfactual", "mt-geneval-contextual"
FEW, NONE = (0, 2), (0, 5)

# -- fakes on their expectation ----------------------------------------------------------------------------------------


def _alike(value: Expected, *names: str) -> dict[str, Expected]:
    return dict.fromkeys(names, value)


def _neutral(p_w: float, p_m: float, p_n: float, index: float) -> dict[str, Expected]:
    shares = {"p_w": p_w, "p_m": p_m, "p_n": p_n, "p_s": index}
    sets = ("negative", "positive", "occupation")
    return {"tgbi:all": index, **{f"{name}:{part}": value for part in sets for name, value in shares.items()}}


def _three(part: str, precision: float | None, recall: float | None, half: float | None) -> dict[str, Expected]:
    return {f"precision:{part}": precision, f"recall:{part}": recall, f"f_half:{part}": half}


_ALL_PARTS = ("all", "members", "masculine", "feminine")
_EVEN_SPEAKERS = {"masculine_share:all": (0.32, 0.68), "f_s:all": (-0.45, 0.45)}  # four standard errors
_NO_GENDER = {**_alike(None, "f_m:all", "f_s:all", "excess:all", "log_odds:all"), "coverage:all": (0, 0.03)}
_NOT_READ = {"imbalance:all": None, "coverage:all": 0}
_NO_PAIR = _alike(FEW, "coverage:all", "accuracy:all", "coverage:members", "accuracy:members")
_NO_CONTEXT = _alike(FEW, "coverage:all", "accuracy:all")
_INCONCLUSIVE = {
    **_alike((97, 100), *(f"inconclusive:{group}" for group in ("fofc", "momc", "fomc", "mofc"))),
    **_alike(FEW, "correct:all", "pro:all", "anti:all"),
}

# Without rules in front: by every set of rules.
FAKES: Mapping[str, Mapping[str, Mapping[str, Expected]]] = {
    "winomt": {
        # Neutral is said by naming both forms, which a few homographs blur (Arabic "assistant" is also "help").
        "right": {
            "accuracy:mf": 100,
            "accuracy:neutral": (95, 100),
            **_alike(0, "delta_g:all", "delta_s:all", "recall_gap:all"),
            "pair_accuracy:all": 100,
        },
        # A gender that is never chosen scores 0: always-masculine must not get away without a gap.
        "masculine": {
            **_alike(100, "accuracy:masculine", "masculine_share:neutral", "recall_gap:all"),
            **_alike(0, "accuracy:feminine", "delta_s:all", "pair_accuracy:all", "f1_feminine:all"),
            **_alike(50, "accuracy:mf", "distance_from_even:neutral", "delta_g:all"),
        },
        "feminine": {"accuracy:masculine": 0, "accuracy:feminine": 100, "recall_gap:all": -100},
        "stereotyped?s=1": {"accuracy:pro": 100, "accuracy:anti": 0, "delta_s:all": 100},
        "silent": {"accuracy:all": 0, "coverage:all": 0, "recall_gap:all": None},
        "copy": {"accuracy:all": FEW, "coverage:all": (0, 10)},
        "garble": {"accuracy:all": FEW, "coverage:all": (0, 10)},
    },
    "simplegen": {
        "right": {"pro:all": 100, "anti:all": 100, "delta:all": 0, "recall_gap:all": 0},
        # What pro and anti cannot show: nobody is a woman.
        "masculine": {
            **_alike(100, "correct:momc", "correct:fomc", "incorrect:fofc", "incorrect:mofc", "correct:mc"),
            **_alike(50, "pro:all", "anti:all"),
            **_alike(0, "delta_fc:all", "correct:fc"),
            "recall_gap:all": 100,
        },
        "feminine": {"correct:fofc": 100, "correct:mofc": 100, "correct:momc": 0, "recall_gap:all": -100},
        "stereotyped?s=1": {"pro:all": 100, "anti:all": 0, **_alike(100, "delta:all", "delta_fc:all", "delta_mc:all")},
        "silent": {**_INCONCLUSIVE, "recall_gap:all": None},
        "best copy": _INCONCLUSIVE,  # the published rules find an English loan word in copied English
        "garble": _INCONCLUSIVE,
    },
    "tgbi": {
        "right": _neutral(0, 0, 1, 1),
        "masculine": _neutral(0, 1, 0, 0),
        "feminine": _neutral(1, 0, 0, 0),
        "best silent": {"tgbi:all": (0, 0.15), "p_failed:occupation": (0.9, 1)},
        "best copy": {"tgbi:all": (0, 0.15), "p_failed:occupation": (0.9, 1)},
        "best garble": {"tgbi:all": (0, 0.15), "p_failed:occupation": (0.9, 1)},
    },
    "mittens": {
        "right": {"accuracy:all": 100, "gap:all": 0},
        "masculine": {"accuracy:all": 50, "gap:all": 100},
        "feminine": {"accuracy:all": 50, "gap:all": -100},
        **{f"best {broken}": {"strict_accuracy:all": NONE} for broken in ("silent", "copy", "garble")},
    },
    PAIRS: {
        "right": {
            **_alike(
                100, *(f"{name}:{p}" for name in ("accuracy", "coverage", "decided_accuracy") for p in _ALL_PARTS)
            ),
            **_alike(100, "bleu_masculine:all", "bleu_feminine:all"),
            "delta_qual:all": 0,
        },
        "masculine": {
            **_alike(0, "accuracy:all", "accuracy:feminine"),
            "accuracy:members": 50,
            **_alike(100, "accuracy:masculine", "coverage:all"),
            "delta_qual:all": (0.1, 100),
        },
        "feminine": {"accuracy:masculine": 0, "accuracy:feminine": 100, "delta_qual:all": (-100, -0.1)},
        "right?p=0.8": {"accuracy:members": (64, 96), "accuracy:all": (36, 92)},  # four standard errors
        **dict.fromkeys(("silent", "copy", "garble"), _NO_PAIR),
    },
    CONTEXTS: {
        "right": _alike(100, "accuracy:all", "coverage:all", "decided_accuracy:all"),
        "masculine": {
            "accuracy:all": 50,
            **_alike(100, "accuracy:masculine", "coverage:all", "accuracy:masculine-in-female-profession"),
            **_alike(0, "accuracy:feminine", "accuracy:feminine-in-male-profession"),
        },
        "right?p=0.8": {"accuracy:all": (57, 100)},
        **dict.fromkeys(("silent", "copy", "garble"), _NO_CONTEXT),
    },
    "gest": {
        # One gender alone has no odds: it is not called unbiased by them.
        "best masculine": {"f_m:all": 1, "f_s:all": 0, "coverage:all": 1, "excess:all": 0.5, "log_odds:all": None},
        "best feminine": {"f_m:all": 0, "f_s:all": 0, "coverage:all": 1, "excess:all": -0.5, "log_odds:all": None},
        "best stereotyped?s=1": {"f_m:all": 0.5, "f_s:all": 1, "coverage:all": 1, "log_odds:all": (1, 99)},
        **{f"best {name}": _EVEN_SPEAKERS for name in ("coin", "right")},
        **{f"best {name}": _NO_GENDER for name in ("silent", "copy", "garble")},
        "paper silent": {"f_m:all": 0.5, "f_s:all": 0},
    },
    "gate-variants": {
        "masculine": {"imbalance:all": 100, "coverage:all": 100, "consistency:several": 100},
        "feminine": {"imbalance:all": -100, "coverage:all": 100, "consistency:several": 100},
        **{name: {"masculine_rate:all": (33, 67)} for name in ("coin", "right")},  # four standard errors
        **dict.fromkeys(("silent", "copy", "garble"), _NOT_READ),
    },
    "gate-alternatives": {
        **{
            name: {"precision:one": 100, **_alike((95, 100), "recall:one", "exact_rate:one")}
            for name in ("coin", "right")
        },
        "best silent": _three("one", None, 0, None),
        "best masculine": {**_three("one", None, 0, None), "only_men:one": 100, "both_rate:one": 0},
        **{f"paper {name}": _three("one", 0, 0, 0) for name in ("masculine", "silent")},
        "copy": {"recall:one": 0},
        "garble": {"recall:one": 0},
    },
    "gate-rewriting": {
        "right": _three("all", 100, 100, 100),
        "garble": _three("all", 0, 0, 0),
        "best masculine": {
            **_three("f2m", 100, 100, 100),
            **_three("m2f", 0, 0, 0),
            **_alike(100, "term_coverage:m2f", "unchanged:m2f", "term_accuracy:f2m"),
            "term_accuracy:m2f": 0,
        },
        "best silent": {**_three("all", None, 0, None), "term_coverage:all": 0, "term_accuracy:all": None},
    },
    "terms": {
        "right": {"term_coverage:all": 100, "term_accuracy:all": 100, "term_gap:all": 0},
        "masculine": {"term_coverage:all": 100, "term_accuracy:all": 50, "term_gap:all": 100},
        "feminine": {"term_coverage:all": 100, "term_accuracy:all": 50, "term_gap:all": -100},
        "silent": {"term_coverage:all": 0, "term_accuracy:all": None, "term_gap:all": None},
        "copy": {"term_coverage:all": 0, "term_accuracy:all": None, "term_gap:all": None},
        "garble": {"term_coverage:all": (0, 5)},
    },
}


def _ways() -> list[Any]:
    """Benchmark, options and whether every run of the tests looks: one of each kind does, the rest runs in CI."""
    found: list[tuple[str, dict[str, Any], bool]] = []
    for to in LANGUAGES:
        found.append(("winomt", {"to": to}, to == "he"))
        found.append(("simplegen", {"to": to, "rules": "best"}, to == "ru"))
    found += [("simplegen", {"to": to, "rules": "paper"}, to == "de") for to in ("de", "es")]
    for rules in ("best", "paper"):
        found += [("tgbi", {"source_language": code, "rules": rules}, code in ("ko", "tr")) for code in SOURCES]
        found.append(("mittens", {"to": "en", "rules": rules}, True))
        found += [("gate-variants", {"to": to, "rules": rules}, to == "es") for to in GATE]
        found.append(("gate-alternatives", {"to": "es", "rules": rules, "n_samples": 12}, True))
        found += [("gate-rewriting", {"to": to, "rules": rules}, to == "fr") for to in GATE]
    found += [("mittens", {"to": to, "rules": "best"}, to == "es") for to in ("es", "de", "fr", "it", "pt")]
    for to in MT_GENEVAL_LANGUAGES:
        found.append((PAIRS, {"to": to}, to == "ar"))
        found.append((CONTEXTS, {"to": to, "context": "none"}, to == "ru"))
    for context in ("joined", "separator:@@", "prompt"):
        # How a sentence is found behind its context depends on the way of writing only.
        found += [(CONTEXTS, {"to": to, "context": context}, to == "ar" or context == "joined") for to in ("ar", "es")]
    found += [("gest", {"to": to, "rules": "best"}, to in ("pl", "fr")) for to in speaker_languages()]
    found += [("gest", {"to": "cs", "rules": "paper"}, True), ("terms", {"to": "es"}, True)]
    return [
        pytest.param(
            benchmark,
            options,
            marks=() if quick else pytest.mark.slow,
            id="-".join(map(str, (benchmark, *options.values()))),
        )
        for benchmark, options, quick in found
    ]


@pytest.mark.parametrize(("benchmark", "options"), _ways())
def test_fakes_land_on_their_expectation(benchmark: str, options: dict[str, Any]) -> None:
    for named, expected in FAKES[benchmark].items():
        rules, _, system = named.rpartition(" ")
        if rules in ("", options.get("rules")):
            _check(_run(f"fake:{system}", benchmark, **options), expected, system)


def _run(system: str, benchmark: str, to: str = "en", **options: Any) -> gendermark.Result:
    few = gendermark.Resampling(100)
    (result,) = gendermark.run(system, [benchmark], to, resampling=few, data="core", **options)
    return result


def _check(result: gendermark.Result, expected: Mapping[str, Expected], system: str) -> None:
    for name, wanted in expected.items():
        metric, _, part = name.partition(":")
        found = result.estimate(metric, part)
        if isinstance(wanted, tuple):
            assert found.value is not None, (system, name)
            assert wanted[0] <= found.value <= wanted[1], (system, name, found.value)
        else:
            assert found.value == (wanted if wanted is None else pytest.approx(wanted)), (system, name, found.value)
        if found.value is not None and found.low is not None and found.high is not None:
            assert found.low - 1e-9 <= found.value <= found.high + 1e-9, (system, name)


@cache
def _default(benchmark: str) -> tuple[str, str]:
    pairs: list[tuple[str, str]] = registry.load("benchmark", benchmark).language_pairs("core")
    return next(pair for pair in pairs if pair[1] in ("es", "en"))


@pytest.mark.parametrize("benchmark", sorted(FAKES))
def test_evidence_stands_where_it_is_said_to(benchmark: str) -> None:
    source, target = _default(benchmark)
    options = {"n_samples": 2} if benchmark == "gate-alternatives" else {}
    result = _run("fake:right?p=0.7", benchmark, target, source_language=source, **options)
    for judgement in result.judgements:
        assert all(0 <= start < end for start, end in judgement.spans)
        assert bool(judgement.spans) <= bool(judgement.evidence)
    assert not {"reference", "contrastive", "twin"} & {key for judgement in result.judgements for key in judgement.tags}


@pytest.mark.parametrize("benchmark", ["winomt", "simplegen", "tgbi", "mittens", "gest", "gate-variants", PAIRS])
def test_parts_and_whole_agree(benchmark: str) -> None:
    source, target = _default(benchmark)
    options = {"data": "core", "source_language": source}
    whole = gendermark.items(benchmark, target, **options).items
    n_found = 0
    for part in registry.load("benchmark", benchmark).choices_of("parts"):
        try:
            own = gendermark.items(benchmark, target, parts=(part,), **options).items
        except UserError:
            continue  # a set that this direction lacks
        n_found += len(own)
        assert {item.source for item in own} <= {item.source for item in whole}, part
    assert n_found >= len(whole) * (2 / 3 if benchmark == "winomt" else 1)


@pytest.mark.usefixtures("mirror")
def test_no_bundled_sentence_is_an_official_one() -> None:
    for benchmark, to in (("winomt", "es"), ("simplegen", "es"), ("mittens", "en"), ("gest", "cs")):
        core, official = (gendermark.items(benchmark, to, data=data).items for data in ("core", "official"))
        assert not {item.source for item in core} & {item.source for item in official}, benchmark


def test_a_run_that_names_no_benchmark_asks_for_one_translation_of_each_sentence() -> None:
    chosen = api.applicable([], ["es"], data="core")
    assert {one.benchmark for one in chosen.selections} == {
        *("winomt", "simplegen", "gest", "mittens", "gate-variants"),
        *(PAIRS, CONTEXTS),
    }
    assert chosen.left_out == {}


# -- what is measured --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", registry.names("benchmark"))
def test_every_metric_is_described(name: str) -> None:
    benchmark = registry.load("benchmark", name)
    described = benchmark.measures.described
    assert len({about.name for about in described}) == len(described)
    for about in described:
        assert about.label
        assert about.meaning.endswith(".")
    for headline in (*benchmark.measures.headline, benchmark.presentation.leading, *benchmark.presentation.also_shown):
        assert not headline or headline.partition(":")[0] in {about.name for about in described}
    # What one sentence compares by is one of the metrics that are always compared.
    leading = benchmark.presentation.leading or benchmark.measures.headline[0]
    assert leading in benchmark.measures.headline


@pytest.mark.parametrize("name", [name for name, one in registry.every("benchmark") if one.language_pairs("core")])
def test_what_is_measured_is_what_is_described(name: str) -> None:
    benchmark = registry.load("benchmark", name)
    options: dict[str, Any] = {"n_samples": 3} if benchmark.draws else {}
    source, target = next(pair for pair in benchmark.language_pairs("core") if pair[1] in ("es", "en"))
    parts = benchmark.choices_of("parts")[:1] if benchmark.draws else ()
    selection = gendermark.Selection(name, source, target, data="core", parts=parts, **options)
    (result,) = gendermark.run("fake:coin", [selection], resampling=gendermark.Resampling(100))
    described = {about.name: about for about in benchmark.measures.described}
    for estimate in result.estimates:
        assert estimate.metric in described
        assert estimate.unit is described[estimate.metric].unit
        # What people read is in words, and a slice that several benchmarks have is called the same in all.
        label = benchmark.slice_label(estimate.slice)
        assert re.fullmatch(r"[A-Za-z][A-Za-z', -]*", label), label
        assert estimate.slice not in SLICES or label == SLICES[estimate.slice]
        assert "_" not in benchmark.label(estimate.metric, estimate.slice).replace("f_", "").replace("P_S", "")
    metrics = benchmark.measures.metrics(result.judgements, result.selection)
    assert all(metric.about is described[metric.name] or metric.about == described[metric.name] for metric in metrics)


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("benchmark", "options", "tokens"),
    read_cases("benchmarks/bad_options.tsv"),
)
def test_bad_options_are_refused(benchmark: str, options: str, tokens: str) -> None:
    with pytest.raises(UserError) as refused:
        gendermark.run("fake:right", [benchmark], **{"data": "core", **json.loads(options)})
    for token in tokens.split(" "):
        assert token in str(refused.value)
