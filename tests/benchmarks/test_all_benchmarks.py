"""What every benchmark promises: systems of known behaviour land on their expectation, and bad options are refused."""

from __future__ import annotations

import json
import re
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

LANGUAGES = registry.names("language")
SOURCES = ("ko", "fa", "fi", "hu", "ja", "tr")
GATE = ("es", "fr", "it")
PAIRS, CONTEXTS = "mt-geneval-counterfactual", "mt-geneval-contextual"

# -- fakes on their expectation ----------------------------------------------------------------------------------------


FAKES = read_cases("benchmarks/fakes.tsv")


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
    for name, rules, system, expected in FAKES:
        if name == benchmark and rules in ("*", options.get("rules")):
            _check(_run(f"fake:{system}", benchmark, **options), expected, system)


def _run(system: str, benchmark: str, to: str = "en", **options: Any) -> gendermark.Result:
    few = gendermark.Resampling(100)
    (result,) = gendermark.run(system, [benchmark], to, resampling=few, data="core", **options)
    return result


def _check(result: gendermark.Result, expected: str, system: str) -> None:
    for one in expected.split(" "):
        name, _, wanted = one.partition("=")
        found = result.estimate(*name.split(":"))
        if wanted == "none":
            assert found.value is None, (system, name, found.value)
        else:
            low, _, high = wanted.partition("..")
            assert found.value is not None, (system, name)
            assert float(low) - 1e-9 <= found.value <= float(high or low) + 1e-9, (system, name, found.value)
        if found.value is not None and found.low is not None and found.high is not None:
            assert found.low - 1e-9 <= found.value <= found.high + 1e-9, (system, name)


@cache
def _default(benchmark: str) -> tuple[str, str]:
    pairs: list[tuple[str, str]] = registry.load("benchmark", benchmark).language_pairs("core")
    return next(pair for pair in pairs if pair[1] in ("es", "en"))


@pytest.mark.parametrize("benchmark", sorted({name for name, *_ in FAKES}))
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
