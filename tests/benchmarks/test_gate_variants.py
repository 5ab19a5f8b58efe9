"""GATE: the released script's numbers under the paper's rules, key words on the references, fakes and refusals."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark.benchmarks.benchmark import ItemSet
from gendermark.benchmarks.gate_variants.items import nouns_of
from gendermark.benchmarks.gate_variants.judge import key_terms, n_changed, read
from gendermark.errors import UserError
from gendermark.metrics.metric import Resampling
from gendermark.records import Gender, Item, Verdict
from gendermark.result import Result
from slow import mostly_slow

VARIANTS, ALTERNATIVES, REWRITING = "gate-variants", "gate-alternatives", "gate-rewriting"
LANGUAGES = ("es", "fr", "it")
FEW = Resampling(100)


def _run(system: str, benchmark: str, to: str = "es", **options: Any) -> Result:
    (result,) = gendermark.run(system, [benchmark], to, resampling=FEW, data="core", **options)
    return result


def _value(result: Result, metric: str, part: str = "all") -> float | None:
    """None where there is nothing to count; every metric that is asked for must be there."""
    (value,) = [found.value for found in result.estimates if (found.metric, found.slice) == (metric, part)]
    return value


def _three(result: Result, part: str) -> tuple[float | None, ...]:
    return tuple(_value(result, metric, part) for metric in ("precision", "recall", "f_half"))


def _as_printed(result: Result, part: str) -> list[str]:
    """As the released script prints its three numbers."""
    return [f"{(value or 0) / 100:.2f}" for value in _three(result, part)]


def _rewritten(to: str, direction: str, say: Callable[[int, Item], str], **options: Any) -> Result:
    items = gendermark.items(REWRITING, to, parts=(direction,), **options).items
    texts = {direction: [say(number, item) for number, item in enumerate(items)]}
    return gendermark.score(REWRITING, texts, to, FEW, **options)


# -- the release -------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("mirror")
@pytest.mark.slow
@pytest.mark.parametrize("to", LANGUAGES)
def test_rewriters_as_the_released_script_scores_them(to: str) -> None:
    n_same = {"es": 1, "fr": 166, "it": 5}[to]
    for direction in ("f2m", "m2f"):
        own = _rewritten(to, direction, lambda _, item: item.tags["paper_reference"], rules="paper")
        assert _as_printed(own, direction) == ["1.00", "1.00", "1.00"]
        other = _rewritten(to, direction, lambda _, item: item.source, rules="paper")
        recall = other.find("recall", direction)
        assert recall is not None
        assert recall.value == pytest.approx(100 * n_same / recall.n_total)
        best = _rewritten(to, direction, lambda _, item: item.source)
        assert (_value(best, "recall", direction), _value(best, "no_op_rate", direction)) == (0, 100)
    if to == "fr":
        assert _as_printed(other, "m2f") == ["0.11", "0.11", "0.11"]


@pytest.mark.usefixtures("mirror")
@pytest.mark.slow
def test_constructed_files_as_the_released_script_scores_them() -> None:
    def every_second(item: Item, number: int, else_: str) -> str:
        return item.tags["paper_reference"] if number % 2 == 0 else else_

    blank = _rewritten("es", "f2m", lambda n, item: every_second(item, n, ""), rules="paper")
    assert _as_printed(blank, "f2m") == ["1.00", "0.50", "0.83"]
    assert sum(judgement.tags["score"] == "match" for judgement in blank.judgements) == 751
    wrong = _rewritten("es", "f2m", lambda n, item: every_second(item, n, "nada de esto"), rules="paper")
    assert _as_printed(wrong, "f2m") == ["0.50", "0.50", "0.50"]
    silent = _rewritten("es", "f2m", lambda *_: "", rules="paper")
    assert _three(silent, "f2m") == (0, 0, 0)
    assert _three(_rewritten("es", "f2m", lambda *_: ""), "f2m") == (None, 0, None)

    short = _rewritten("es", "f2m", lambda n, item: every_second(item, n, ""), rules="paper", max_words=9)
    assert _as_printed(short, "f2m") == ["1.00", "0.48", "0.82"]
    assert short.find("recall", "f2m").n_total == 477  # type: ignore[union-attr]
    full = _rewritten(
        "es", "f2m", lambda n, item: every_second(item, n, ""), rules="paper", max_words=9, full_set_recall="yes"
    )
    assert _as_printed(full, "f2m") == ["1.00", "0.15", "0.47"]
    # The script takes a leading quotation mark for CSV: one reference can then be matched by nobody.
    raw = _rewritten("es", "f2m", lambda _, item: item.tags["reference"], rules="paper")
    assert sum(judgement.tags["score"] == "match" for judgement in raw.judgements) == 1500
    assert _three(_rewritten("es", "f2m", lambda _, item: item.tags["reference"]), "f2m") == (100, 100, 100)


@pytest.mark.slow
@pytest.mark.usefixtures("mirror")
@pytest.mark.parametrize(
    ("to", "n_by_people", "n_closed"),
    mostly_slow(
        [("de", (1592, 373, 23), 487), ("pt", (1753, 469, 24), 228), ("ru", (1385, 308, 11), 775)],
        lambda case: case[0] == "de",
    ),
)
def test_german_portuguese_and_russian(to: str, n_by_people: tuple[int, ...], n_closed: int) -> None:
    """Garg et al.: alternatives, structures and BLEU; of sentences that leave nothing open, none is to be offered."""
    items = gendermark.items(ALTERNATIVES, to).items
    counts = Counter(item.tags["people"] for item in items)
    assert tuple(counts[group] for group in ("one", "two", "three", "none")) == (*n_by_people, n_closed)
    pairs = [
        (item.tags["f" * len(item.tags["stereotypes"])], item.tags["m" * len(item.tags["stereotypes"])])
        for item in items
    ]

    def values(say: Callable[[tuple[str, str]], list[str]]) -> list[float | None]:
        result = gendermark.score(ALTERNATIVES, [say(pair) for pair in pairs], to, FEW)
        names = ("offer_precision", "offer_recall", "structure_precision", "structure_recall")
        return [_value(result, name) for name in names]

    right = values(lambda pair: list(dict.fromkeys(pair)))
    assert [value or 0 for value in right] == pytest.approx([100] * 4, abs=0.3)
    always = values(lambda pair: [*pair, f"{pair[0]} !"])
    assert always[0] == pytest.approx(100 * sum(n_by_people) / len(items), abs=0.3)
    assert values(lambda pair: [pair[1]]) == [None, 0, None, None]
    assert len(gendermark.items(VARIANTS, to).items) == sum(n_by_people)
    assert len(gendermark.items(REWRITING, to).items) == 2 * n_by_people[0]


@pytest.mark.usefixtures("mirror")
@pytest.mark.parametrize(
    ("to", "n", "n_feminine", "n_masculine", "n_both", "n_rows"),
    mostly_slow(
        [
            ("es", 1500, 1498, 1496, 1494, 1501),
            ("fr", 1384, 1379, 1380, 1375, 1550),
            ("it", 1122, 1114, 1115, 1111, 1127),
        ],
        lambda case: case[0] == "it",
    ),
)
def test_the_references_by_their_key_words(
    to: str, n: int, n_feminine: int, n_masculine: int, n_both: int, n_rows: int
) -> None:
    options: dict[str, Any] = {"parts": ("one",), "reading": "keywords"}
    items = gendermark.items(VARIANTS, to, **options).items
    assert len(items) == n_rows
    for gender, n_read, men in (("f", n_feminine, 0), ("m", n_masculine, 100)):
        result = gendermark.score(VARIANTS, [item.tags[gender] for item in items], to, FEW, **options)
        coverage = result.find("coverage")
        assert coverage is not None
        assert (coverage.n_judged, coverage.n_total, _value(result, "masculine_rate")) == (n_read, n, men)
    both = gendermark.score(ALTERNATIVES, [[item.tags["f"], item.tags["m"]] for item in items], to, FEW, **options)
    assert _value(both, "attempt_rate", "one") == 100
    assert _value(both, "exact_rate", "one") == 100
    expected = pytest.approx(100 * n_both / n)
    assert _three(both, "one")[:2] == (expected, expected)
    twice = gendermark.score(ALTERNATIVES, [[item.tags["m"]] * 2 for item in items], to, FEW, **options)
    assert (_value(twice, "attempt_rate", "one"), *_three(twice, "one")) == (0, None, 0, None)
    # Copies of the source have words in common with the key words; they are no translation.
    copied = Counter(read(item, item.source, to, "keywords").letters for item in items)
    known = {"es": {"m": 45}, "fr": {"m": 56, "f": 6}, "it": {"f": 5}}[to]
    assert {letter: copied[letter] for letter in "fm" if copied[letter]} == known
    copies = gendermark.score(VARIANTS, [item.source for item in items], to, FEW, accept_unsound=True, **options)
    assert _value(copies, "coverage") == 0


@pytest.mark.usefixtures("mirror")
@pytest.mark.slow
def test_all_ways_of_reading_miss_nothing_that_differs() -> None:
    """A variant's own words decide first. Four Italian rows differ in signs only, which say nothing."""
    for to, n_read, n in (("es", 1500, 1500), ("fr", 1384, 1384), ("it", 1118, 1122)):
        items = gendermark.items(VARIANTS, to, parts=("one",)).items
        result = gendermark.score(VARIANTS, [item.tags["m"] for item in items], to, FEW, parts=("one",))
        coverage = result.find("coverage")
        assert coverage is not None
        assert (coverage.n_judged, coverage.n_total, _value(result, "masculine_rate")) == (n_read, n, 100)


# -- fakes (more in test_all_benchmarks.py) ----------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["best", "paper"])
def test_stereotypes_and_copies(rules: str) -> None:
    # Of those that have a stereotype; who stands beside them gets the same gender, whatever his own is.
    stereotyped = _run("fake:stereotyped?s=1", VARIANTS, rules=rules, parts=("one",))
    assert _value(stereotyped, "stereotype_gap") == 100
    same = _run("fake:copy", REWRITING, "fr", rules=rules)
    n_same = sum(judgement.tags["changes"] == "no" for judgement in same.judgements)
    assert n_same == 4
    assert _value(same, "recall") == pytest.approx(100 * n_same / len(same.judgements) if rules == "paper" else 0)


# -- reading -----------------------------------------------------------------------------------------------------------


def _item(item_set: ItemSet, source: str) -> Item:
    return next(item for item in item_set.items if item.source.startswith(source))


@pytest.mark.parametrize(
    ("source", "text", "letters", "how", "marked"),
    [
        ("The doctor spoke", "El doctor habló con la enfermera.", "mf", "variant", ["doctor", "enfermera"]),
        ("The nurse came", "Antes de medianoche regresó la enfermera.", "f", "key words", ["enfermera"]),
        (
            "The lawyer asked",
            "El letrado y la abogada, un abogado, pidió tiempo.",
            "x",
            "key words",
            ["abogada", "abogado"],
        ),
        ("The mechanic could", "La persona que arregla coches no lo halló.", "?", "", []),
        ("The hairdresser", "Hoy la estilista está agotada.", "f", "reader", []),
        ("The teachers asked", "Las profesoras pidieron grupos reducidos.", "f", "reader", ["Las profesoras"]),
        ("The cook rents", "La cocinera vive en el centro de la ciudad.", "f?", "key words", ["cocinera"]),
        ("Our guest", "Nuestra visita es hoy alguien famoso.", "m", "differing words", ["famoso"]),
        ("We are glad", "Nos alegra que conozcas a la directora nueva.", "?f", "key words", ["directora"]),
    ],
)
def test_what_tells_the_gender(source: str, text: str, letters: str, how: str, marked: Sequence[str]) -> None:
    item_set = gendermark.items(VARIANTS, "es", data="core")
    reading = read(_item(item_set, source), text, "es", "all")
    assert (reading.letters, reading.how) == (letters, how)
    if how != "reader":
        assert [text[start:end] for start, end in reading.spans] == list(marked)


def test_people_who_differ_and_people_who_are_alike() -> None:
    item_set = gendermark.items(VARIANTS, "es", data="core", parts=("two",))
    texts = [item.tags["fm"] for item in item_set.items]
    result = gendermark.score(VARIANTS, texts, "es", FEW, data="core", parts=("two",))
    assert (_value(result, "consistency", "several"), _value(result, "masculine_rate")) == (0, 50)
    assert all(j.observed is None and j.verdict is Verdict.JUDGED for j in result.judgements)
    assert {j.tags["variant"] for j in result.judgements} == {"fm"}


def test_alternatives_that_change_more_than_the_gender() -> None:
    item_set = gendermark.items(ALTERNATIVES, "es", data="core", parts=("one",))
    first = item_set.items[0]
    outputs = [[item.tags["f"], item.tags["m"]] for item in item_set.items]
    outputs[0] = ["La enfermera volvió antes de medianoche.", "Llegó ya muy de noche a casa el pobre enfermero."]
    result = gendermark.score(ALTERNATIVES, outputs, "es", FEW, data="core", parts=("one",))
    judged = result.judgements[0]
    assert (judged.outcome, judged.reason, judged.observed) == ("wrong", "more than the gender changes", None)
    assert (_value(result, "both_rate", "one"), result.judgements[1].observed) == (100, Gender.NEUTRAL)
    assert n_changed(first.tags["f"], first.tags["m"]) == 2
    assert _value(result, "precision", "one") == pytest.approx(100 * 73 / 74)


def test_key_words_as_they_are_written() -> None:
    assert key_terms("la [jefa]=a la [jefa];(ella)", "el [jefe]=al [jefe];(ella)") == [[(" jefa ", " jefe ")] * 2, []]
    assert key_terms("la [artista]", "el [artista]") == [[(" la artista ", " el artista ")]]
    assert nouns_of("white miniature [dog];(you)=happy", 2) == ["dog", "you"]
    assert nouns_of("one;two;three", 2) == ["one", ""]


def test_the_core_set_uses_every_slice() -> None:
    items = gendermark.items(VARIANTS, "es", data="core").items
    assert len(items) >= 100
    found = {label for item in items for label in item.tags["labels"].split()}
    semantic, roles = {"PROF", "NAT", "REL", "FAM", "NHUM", "OTH"}, {"SUBJ", "SCMP", "DOBJ", "IOBJ", "OPRP", "VOC"}
    assert found >= semantic | roles | {"POSC", "OCMP", "QUES", "FRAG", "IMPR", "PLUR", "INDF", "APRD", "DROP", "IPRO"}
    assert {item.tags["people"] for item in items} == {"one", "two", "three"}
    for to in LANGUAGES:
        one = gendermark.items(VARIANTS, to, data="core").items
        assert not any(
            sign in value for item in one for key, value in item.tags.items() if key in "fm" for sign in "{}[]|"
        )


# -- at the command line -----------------------------------------------------------------------------------------------


def test_files_of_alternatives_and_of_both_directions(tmp_path: Path) -> None:
    items = gendermark.items(ALTERNATIVES, "es", data="core").items
    rows = [
        {"id": item.item_id, "samples": [item.tags[name] for name in item.tags if set(name) <= set("fm")]}
        for item in items
    ]
    path = tmp_path / "alternatives.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    result = gendermark.score(ALTERNATIVES, path, "es", FEW, data="core")
    assert _three(result, "one") == (100, 100, 100)
    assert _value(result, "combination_recall", "several") == _value(result, "all_found", "several") == 100

    files = {}
    for direction in ("f2m", "m2f"):
        own = gendermark.items(REWRITING, "es", data="core", parts=(direction,)).items
        files[direction] = tmp_path / f"{direction}.txt"
        files[direction].write_text("".join(f"{item.tags['reference']}\n" for item in own), encoding="utf-8")
    assert _three(gendermark.score(REWRITING, files, "es", FEW, data="core"), "all") == (100, 100, 100)
    files["f2m"].write_text("una sola\n", encoding="utf-8")
    with pytest.raises(UserError, match="has 1 lines, expected one for each of 74 sentences"):
        gendermark.score(REWRITING, files, "es", FEW, data="core")


# -- what it says ------------------------------------------------------------------------------------------------------
