"""The fakes land on their known expectations."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from gendermark.benchmarks.benchmark import ItemSet
from gendermark.errors import UserError
from gendermark.metrics.metric import Resampling
from gendermark.records import Estimate, Gender, Item, Task, Translation
from gendermark.runs.score import Origin, score
from gendermark.runs.translate import translate
from gendermark.selection import Selection
from gendermark.systems.fakes import Fake
from gendermark.systems.system import open_system
from runs.tiny import tiny

MANY = tiny(n_occupations=300)
MANY_ITEMS = MANY.load(Selection("tiny", "en", "xx", "core", cluster="occupation"))
N = len(MANY_ITEMS.items)


def said(spec: str, item_set: ItemSet = MANY_ITEMS, options: dict[str, str] | None = None) -> list[Translation]:
    system = open_system(spec, options)
    system.prepare(MANY, item_set, MANY.requests(item_set))
    answers = translate(system, MANY.requests(item_set), None, lambda *_: None)
    return [samples[0] for samples in answers.translations]


def measured(spec: str, metric: str = "accuracy", part: str = "all") -> Estimate:
    origin = Origin(spec, resampling=Resampling(n_resamples=100))
    result = score(MANY, MANY_ITEMS, [[one] for one in said(spec)], origin)
    return result.estimate(metric, part)


def is_near(percent: float, expected: float, n: int = N) -> bool:
    """Within four standard errors of a share; exactly, where it is certain."""
    share = expected / 100
    return abs(percent - expected) <= 400 * math.sqrt(share * (1 - share) / n)


# -- what they are known for


@pytest.mark.parametrize(
    ("spec", "metric", "part", "percent"),
    [
        ("right", "accuracy", "all", 100),
        ("right", "gap", "all", 0),
        *((f"right?p={p}", "accuracy", part, 100 * p) for p in (0, 0.2, 0.8, 1) for part in ("all", "pro", "anti")),
        *((f"stereotyped?s={s}", "accuracy", "pro", 100) for s in (0, 0.3, 0.7, 1)),
        *((f"stereotyped?s={s}", "accuracy", "anti", 100 - 100 * s) for s in (0, 0.3, 0.7, 1)),
        *((f"stereotyped?s={s}", "gap", "all", 100 * s) for s in (0, 0.3, 0.7, 1)),
        ("stereotyped", "accuracy", "anti", 50),  # by default
        ("masculine", "women", "all", 0),
        ("feminine", "women", "all", 100),
    ],
)
def test_known_rates(spec: str, metric: str, part: str, percent: float) -> None:
    estimate, n = measured(f"fake:{spec}", metric, part), N if part == "all" and metric != "gap" else N // 2
    assert estimate.value is not None
    assert is_near(estimate.value, percent, n)
    assert estimate.n_judged == (n if metric != "gap" else N)  # wrong, not missing


@pytest.mark.parametrize("name", ["masculine", "feminine"])
def test_always_one_gender(name: str) -> None:
    assert measured(f"fake:{name}").value == 50
    assert measured(f"fake:{name}", "gap").value == 0  # stereotypes of both genders are as many


@pytest.mark.parametrize("name", ["silent", "copy", "garble"])
def test_nothing_to_judge(name: str) -> None:
    accuracy, women = measured(f"fake:{name}"), measured(f"fake:{name}", "women")
    assert (accuracy.value, accuracy.n_judged, accuracy.n_total) == (0, 0, N)
    assert (women.value, women.low, women.high) == (None, None, None)


def open_items(n: int) -> ItemSet:
    """Sources that leave gender open, in two ways of saying so, without a stereotype."""
    tags = {"side": "pro"}
    items = [Item(f"i{k}", k, "g", f"S{k}.", (None, Gender.NEUTRAL)[k % 2], tags) for k in range(n)]
    return replace(MANY_ITEMS, items=tuple(items))


def test_sources_that_leave_gender_open() -> None:
    items = open_items(1_000)
    assert {answer.text for answer in said("fake:stereotyped?s=1", items)} == {"nadie trabaja"}
    right = [answer.text for answer in said("fake:right", items)]
    assert set(right[1::2]) == {"nadie trabaja"}
    assert is_near(100 * right[::2].count("ella trabaja") / 500, 50, 500), "either is right"
    wrong = [answer.text for answer in said("fake:right?p=0", items)]
    assert set(wrong) == {"el trabaja", "ella trabaja"}
    assert is_near(100 * wrong.count("ella trabaja") / 1_000, 50, 1_000)


# -- what they are not: random


def test_the_same_every_time_but_not_with_another_seed() -> None:
    spec = "fake:right?p=0.5"
    assert said(spec) == said(spec)
    assert said(spec) == said("fake:right", options={"p": "0.5"})
    assert Fake("right?p=0.8", {"seed": "3"}).spec == "fake:right?p=0.8&seed=3"
    assert said(spec) != said(f"{spec}&seed=1")
    # What is said about a sentence does not depend on the others.
    half = replace(MANY_ITEMS, items=MANY_ITEMS.items[::2])
    assert said(spec, half) == said(spec)[::2]


def test_samples_differ_and_have_their_numbers() -> None:
    system = Fake("right?p=0.5", {})
    system.prepare(MANY, MANY_ITEMS, MANY.requests(MANY_ITEMS))
    request = replace(MANY.requests(MANY_ITEMS)[0], task=Task.SAMPLE, n_samples=64)
    (samples,) = translate(system, [request], None, lambda *_: None).translations
    assert [answer.sample for answer in samples] == list(range(64))
    assert {answer.text for answer in samples} == {"el trabaja", "ella trabaja"}
    later = replace(request, first_sample=60, n_samples=4)
    assert list(translate(system, [later], None, lambda *_: None).translations) == [samples[60:]]


@pytest.mark.parametrize(
    ("argument", "options", "token"),
    [
        ("masculin", {}, "'masculin' .*'masculine'"),
        ("right?s=1", {}, "fake:right .*'s'; .*p, seed, delay_ms"),
        ("stereotyped", {"p": "1"}, "fake:stereotyped .*'p'; .*s, seed, delay_ms"),
        ("masculine?p=1", {}, "fake:masculine .*'p'; .*seed, delay_ms"),
        *((f"right?p={value}", {}, f"option p of fake:right .*'{value}'") for value in ("1.01", "-0.1", "often", "")),
        ("stereotyped", {"s": "nan"}, "option s of fake:stereotyped .*'nan'"),
    ],
)
def test_a_wrong_name_or_option_is_refused(argument: str, options: dict[str, str], token: str) -> None:
    with pytest.raises(UserError, match=token):
        Fake(argument, options)
