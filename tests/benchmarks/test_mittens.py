"""MiTTenS: the released file as counted, fakes on their expectation by both rules, its canary nowhere."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import gendermark
from gendermark.benchmarks.mittens import SETS
from gendermark.benchmarks.mittens import items as passages
from gendermark.benchmarks.mittens.judge import GENDERS, scan
from gendermark.benchmarks.mittens.measures import simulated_minimum
from gendermark.records import Gender, Item, Judgement, Verdict
from slow import mostly_slow

FEW = gendermark.Resampling(100)
REPOSITORY = Path(__file__).resolve().parents[2]
FILE = "google-research-datasets/mittens/1635a8076672d022695213942bda98ce046892a4/mittens_dataset_v5.csv"
# Set -> rows into English, masculine and feminine; then out of English.
INTO = {
    "coref-coreference": (75, 105),
    "coref-synthetic": (105, 105),
    "gender-agreement-contextual-synthetic": (60, 60),
    "gender-specific-words-synthetic": (60, 60),
    "late-binding": (126, 126),
    "nouns-then-pronouns": (111, 111),
    "synthbio": (320, 320),
}
OUT = {
    "coref-coreference": (16, 21),
    "coref-synthetic": (7, 7),
    "gender-agreement-contextual-synthetic": (16, 15),
    "gender-agreement-news": (7, 5),
    "gender-agreement-wiki": (7, 9),
    "gender-specific-words-synthetic": (4, 4),
}


def _sets(items: tuple[Item, ...]) -> dict[str, tuple[int, int]]:
    counts = Counter((item.tags["eval_set"], str(item.expected)) for item in items)
    return {name: (counts[name, "masculine"], counts[name, "feminine"]) for name in SETS if counts[name, "feminine"]}


def _run(system: str, rules: str = "best", **options: str) -> gendermark.Result:
    (result,) = gendermark.run(system, ["mittens"], options.pop("to", "en"), resampling=FEW, rules=rules, **options)
    return result


def _value(result: gendermark.Result, metric: str, part: str = "all") -> float | None:
    found = result.find(metric, part)
    return found.value if found else None


# -- the released file -------------------------------------------------------------------------------------------------


def test_passages_as_released(mirror: Path) -> None:
    items = gendermark.items("mittens").items
    assert _sets(items) == INTO
    assert Counter(item.tags["language"] for item in items) == {
        **dict.fromkeys(["am", "ar", "cs", "de", "fr", "hi", "it", "ja", "pl", "pt", "ru", "te", "th", "zh"], 82),
        "es": 334,
        "id": 64,
        **dict.fromkeys(["bn", "fa", "tr"], 24),
        **dict.fromkeys(["as", "bho", "fi", "lg", "ln", "mai", "om"], 18),
    }
    assert Counter(item.tags["split"] for item in items) == {"test": 1394, "validation": 350}
    assert len({item.tags["reference"] for item in items}) == 353
    assert len({item.group_id for item in items}) == 353 - 246 + 45
    late = Counter(item.group_id for item in items if item.tags["eval_set"] == "late-binding")
    assert Counter(late.values()) == {6: 39, 3: 6}
    for language in passages.judged_languages("official"):
        out = gendermark.items("mittens", language).items
        assert _sets(out) == OUT
        assert len({item.group_id for item in out}) == 118
    levels = Counter(one.resource_level for one in passages._official("released")[0])
    assert levels == {"high": 2252, "mid": 488, "low": 784, "very low": 108}


def test_twins(mirror: Path) -> None:
    """27 English pairs that differ in gendered words and names; names that are transliterated cannot be set aside."""
    out = [one for one in passages._official("released")[0] if not one.is_into_english]
    for language in passages.OUT_OF_ENGLISH:
        own = [one for one in out if one.language == language]
        twins = passages.twins_of(own)
        sets = Counter(one.eval_set for one in own if one.passage_id in twins)
        assert sets == {"coref-coreference": 32, "coref-synthetic": 14, "gender-specific-words-synthetic": 8}
        assert all(twins[twin.passage_id].passage_id == one for one, twin in twins.items())
    for language, n in (("es", 54), ("de", 54), ("ru", 42), ("ar", 42)):
        items = gendermark.items("mittens", language).items
        assert sum(item.tags["twin"] != "" for item in items) == n


def test_the_canary_stands_nowhere(mirror: Path) -> None:
    with (mirror / FILE).open(encoding="utf-8", newline="") as stream:
        notice = next(csv.reader(io.StringIO(stream.read())))[-1]
    guid = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.I)
    own = guid.findall(notice)
    assert own
    parts = [REPOSITORY / name for name in ("src", "docs", "tests", "bench")]
    texts = [
        path for part in parts for path in part.rglob("*") if path.suffix in (".py", ".toml", ".tsv", ".md", ".txt")
    ]
    for path in texts:
        text = path.read_text(encoding="utf-8")
        assert not any(one in text for one in own), path
        assert not any(
            "canary" in text[max(m.start() - 200, 0) : m.end() + 200].lower() for m in guid.finditer(text)
        ), path
    exported = gendermark.items("mittens").items
    assert not any(guid.search(value) for item in exported for value in (item.source, *item.tags.values()))


# -- fakes -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["best", "paper"])
def test_fakes_on_the_released_passages(mirror: Path, rules: str) -> None:
    right = _run("fake:right", rules)
    assert _value(right, "accuracy") == _value(right, "macro_accuracy") == _value(right, "worst_cell") == 100
    assert _value(right, "gap") == 0
    for system, n, gap in (("fake:masculine", 857, 100), ("fake:feminine", 887, -100)):
        result = _run(system, rules)
        assert _value(result, "accuracy") == _value(result, "strict_accuracy") == pytest.approx(100 * n / 1744)
        assert _value(result, "gap") == gap
        assert _value(result, "worst_cell") == 0
    assert _value(_run("fake:right?p=0", rules), "accuracy") == 0
    tossed = _run("fake:random", rules).estimate("accuracy")
    assert tossed.low is not None
    assert tossed.high is not None
    assert tossed.low < 50 < tossed.high
    assert len({(e.metric, e.slice) for e in right.estimates}) == len(right.estimates)


@pytest.mark.slow
def test_silence_is_right_by_the_paper_and_nothing_by_ours(mirror: Path) -> None:
    silent, copied = _run("fake:silent", "paper"), _run("fake:copy", "paper")
    assert _value(silent, "accuracy") == 100
    assert _value(copied, "accuracy") == pytest.approx(100 * 1743 / 1744)
    assert "1,744 of 1,744 outputs have no gendered pronoun" in silent.warnings[0]
    for system in ("fake:silent", "fake:copy"):
        result = _run(system)
        assert _value(result, "accuracy") is None
        assert _value(result, "gap") is None
        assert (_value(result, "coverage"), _value(result, "strict_accuracy"), _value(result, "failed")) == (0, 0, 100)
        assert {judgement.verdict for judgement in result.judgements} == {Verdict.NOT_TRANSLATED}


def test_the_worst_of_many_small_cells(mirror: Path) -> None:
    """A system that is right 98 times of 100 everywhere shows a worst case of 75, most of the time."""
    items = gendermark.items("mittens").items
    cells = Counter((item.tags["language"], item.tags["eval_set"], item.expected) for item in items)
    assert Counter(cells.values()) == {4: 60, 5: 15, 7: 45, 9: 14, 12: 8, 20: 32, 126: 2}
    minima = simulated_minimum(list(cells.values()), 0.98, seed=1)
    assert tuple(np.percentile(minima, (5, 50, 95))) == (50, 75, 75)
    (test,) = _run("fake:right?p=0.98").tests
    assert test.p_value is not None
    assert test.p_value > 0.01
    assert test.details["n_cells"] == 176


@pytest.mark.parametrize(
    "language", mostly_slow(["ar", "cs", "de", "es", "fr", "hi", "it", "pl", "pt", "ru"], lambda code: code == "es")
)
def test_fakes_out_of_english_on_the_released_passages(mirror: Path, language: str) -> None:
    """References are what the judge compares with, so this shows its reach, not how well it judges."""
    right, masculine = (_run(system, to=language) for system in ("fake:right", "fake:masculine"))
    accuracy = right.estimate("accuracy")
    assert accuracy.value == 100
    assert accuracy.n_total == 118
    assert accuracy.n_judged >= 75
    assert [masculine["strict_accuracy", gender].value for gender in ("masculine", "feminine")] == [100, 0]
    assert "the reader finds no gender even in the reference" in right.warnings[0]


# -- judging -----------------------------------------------------------------------------------------------------------


def _judge(text: str, rules: str = "best", **options: str) -> Judgement:
    """Of a passage about a woman."""
    items = gendermark.items("mittens", "en", data="core", source_language="es", rules=rules, **options).items
    at = next(n for n, item in enumerate(items) if item.expected is Gender.FEMININE)
    texts = [item.tags["reference"] for item in items]
    texts[at] = text
    return gendermark.score(
        "mittens", texts, "en", FEW, data="core", source_language="es", rules=rules, **options
    ).judgements[at]


@pytest.mark.parametrize(
    ("text", "best", "paper"),
    [
        ("The mechanic lives next door; she’s never late.", "right", "right"),
        ("The mechanic lives next door. HE'S never late with his bills.", "wrong", "wrong"),
        ("The mechanic lives next door, and she closes his shop at nine.", "mixed", "wrong"),
        ("The mechanic and her brother “he” live next door, she says.", "right", "wrong"),
        ("The mechanic who is her husband's sister lives next door.", "right", "right"),
        ("The mechanic lives next door and they never close before nine.", "undecided", "right"),
        ("The mechanic lives next door and he or she never closes.", "undecided", "wrong"),
        ("The mechanic lives next door and never closes before nine.", "undecided", "right"),
        ("The mechanic.", "failed", "right"),
        ("", "failed", "right"),
    ],
)
def test_verdicts(text: str, best: str, paper: str) -> None:
    assert (_judge(text).outcome, _judge(text, "paper").outcome) == (best, paper)


def test_other_people_are_known_from_the_reference(tmp_path: Path) -> None:
    """All of `bench/labels/english-mittens.tsv`, whose agreement docs/validity.md reports."""
    lines = (REPOSITORY / "bench" / "labels" / "english-mittens.tsv").read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    own = tmp_path / "own.tsv"
    sources = [f"{number} …\t{gender}\t{reference}" for number, (_, gender, reference, *_) in enumerate(rows)]
    own.write_text("source\tgender\treference\n" + "\n".join(sources) + "\n", encoding="utf-8")
    texts = [row[3] for row in rows]
    judged = gendermark.score("mittens", texts, "en", FEW, data=f"file:{own}", source_language="es").judgements
    wrong = [(*row[2:], one.outcome) for row, one in zip(rows, judged, strict=True) if one.outcome != row[4]]
    assert wrong == []


def test_what_the_paper_does_not_say_can_be_chosen() -> None:
    both = "The mechanic lives next door, and she closes his shop when she is tired."
    assert _judge(both, "paper").outcome == "wrong"
    assert _judge(both, "paper", mixed="majority").outcome == "right"
    assert _judge("She closes his shop.", "paper", mixed="majority").outcome == "wrong"
    open_ = "The mechanic lives next door."
    outcomes = [_judge(open_, "paper", none=none).outcome for none in ("right", "wrong", "skip")]
    assert outcomes == ["right", "wrong", "undecided"]
    result = _run("fake:right", "paper", data="core", mixed="majority")
    assert "|split:all|mixed:majority|none:right|" in result.signature


def test_a_name_is_no_evidence() -> None:
    items = gendermark.items("mittens", "es", data="core").items
    item = next(one for one in items if one.tags["eval_set"] == "gender-agreement-wiki" and one.expected == "feminine")
    assert item.source.startswith("Clara Reyes")

    def judge(text: str) -> Judgement:
        texts = [text if one is item else one.tags["reference"] for one in items]
        return gendermark.score("mittens", texts, "es", data="core").judgements[item.index]

    wrong = judge("Clara Reyes (nacido en 1961) es un esgrimista retirado.")
    assert (wrong.outcome, wrong.observed) == ("wrong", Gender.MASCULINE)
    assert judge("Clara Reyes, de 1961, esgrime y tiene dos medallas.").outcome == "undecided"


# -- what is there, and what is not ------------------------------------------------------------------------------------


def test_our_own_passages_have_every_set_and_both_genders() -> None:
    into, out = (gendermark.items("mittens", to, data="core").items for to in ("en", "es"))
    assert len(into) == 158
    assert set(_sets(into)) == set(INTO)
    assert set(_sets(out)) == set(OUT)
    assert {*INTO, *OUT} == set(SETS)
    for items in (into, out):
        assert all(masculine == feminine for masculine, feminine in _sets(items).values())
        assert len({item.item_id for item in items}) == len(items)
        assert all("{" not in item.source and "|" not in item.source for item in items)
    for item in into:
        assert {GENDERS[word] for word, _ in scan(item.tags["reference"])} == {item.expected}
    # The same passage in several languages is one draw.
    assert len({item.group_id for item in into}) < len({item.source for item in into}) / 3


def test_each_passage_is_asked_in_its_own_language() -> None:
    requests = passages.requests(gendermark.items("mittens", data="core"))
    assert {request.source_language for request in requests} == {"de", "es", "fi", "fr", "id", "it", "pt", "tr"}
    assert {request.target_language for request in requests} == {"en"}
    assert gendermark.items("mittens", "de", data="core").selection.source_language == "en"


def test_passages_without_twins_are_read_too(mirror: Path) -> None:
    items = gendermark.items("mittens", "es", parts=("gender-agreement-news",)).items
    texts = {"gender-agreement-news": [item.tags["reference"] for item in items]}
    result = gendermark.score("mittens", texts, "es")
    assert not any(item.tags["twin"] for item in items)
    assert _value(result, "accuracy") == 100
    assert (_value(result, "coverage") or 0) > 50
