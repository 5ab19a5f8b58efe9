"""The explorer's rows and filters: what stands behind a number, for one system and for several."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark.records import Gender, Judgement, Verdict
from gendermark.reporting.rows import LONGEST_TEXT, OUTCOMES, Explorer, Filter, outcome_of, system_labels
from gendermark.runs.folder import Run, Text, read_run
from gendermark.selection import Selection

WINOMT = Selection("winomt", "en", "es", data="core", parts=("anti",))
TGBI = Selection("tgbi", "ko", "en", data="core", parts=("negative",))
SAMPLES = Selection("uncertainty", "en", "es", data="core", parts=("referenced",), n_samples=4)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run folders `right` and `masculine` of WinoMT and TGBI; `samples` of uncertainty."""
    base = tmp_path_factory.mktemp("runs")
    for name in ("right", "masculine"):
        gendermark.run(f"fake:{name}", [WINOMT, TGBI], directory=base / name)
    gendermark.run("fake:coin", [SAMPLES], directory=base / "samples")
    return base


@pytest.fixture(scope="module")
def runs(base: Path) -> Sequence[Run]:
    return [read_run(base / name) for name in ("right", "masculine")]


def _n(explorer: Explorer, **wanted: str) -> int:
    found = explorer.page(Filter(**wanted), 0, 0)["total"]
    assert isinstance(found, int)
    return found


# -- reading -----------------------------------------------------------------------------------------------------------


def test_of_many_samples_the_most_frequent_one_is_shown(base: Path) -> None:
    run = read_run(base / "samples")
    rows = [json.loads(line) for line in (base / "samples/uncertainty.en-es/samples.jsonl").read_text().splitlines()]
    for text, row in zip(run.texts["uncertainty.en-es"], rows, strict=True):
        counts = {sample: row["samples"].count(sample) for sample in row["samples"]}
        assert counts[text.translation or ""] == max(counts.values())


def test_labels_tell_runs_apart(runs: Sequence[Run]) -> None:
    one = runs[0]

    def labels(*names: str, system: str = "fake:right") -> list[str]:
        result = replace(one.results[0], system=system)
        return system_labels([replace(one, name=name, results=[result]) for name in names])

    assert labels("runs/a") == ["unbiased control"]
    assert labels("runs/a", "runs/b") == ["unbiased control (a)", "unbiased control (b)"]
    assert labels("x/run", "y/run") == ["unbiased control (x/run)", "unbiased control (y/run)"]
    assert labels("a", system="files:" + "long/" * 30 + "google") == ["google"]
    assert system_labels([replace(one, results=[])]) == ["unbiased control"], "from the manifest"


# -- outcomes ----------------------------------------------------------------------------------------------------------


def _judgement(
    verdict: Verdict, expected: Gender | None = None, observed: Gender | None = None, **facts: str
) -> Judgement:
    return Judgement("i", 0, "g", verdict, expected, observed, **facts)


@pytest.mark.parametrize(
    ("judgement", "outcome"),
    [
        (_judgement(Verdict.JUDGED, Gender.FEMININE, Gender.FEMININE), "right"),
        (_judgement(Verdict.JUDGED, Gender.FEMININE, Gender.MASCULINE), "wrong"),
        (_judgement(Verdict.JUDGED, Gender.NEUTRAL, Gender.MASCULINE), "wrong"),
        (_judgement(Verdict.UNJUDGEABLE, Gender.FEMININE), "undecided"),
        (_judgement(Verdict.UNJUDGEABLE, Gender.FEMININE, reason="mixed"), "mixed"),
        (_judgement(Verdict.UNJUDGEABLE, Gender.FEMININE, reason="both"), "mixed"),
        (_judgement(Verdict.UNJUDGEABLE, Gender.FEMININE, reason="absent"), "undecided"),
        (_judgement(Verdict.NOT_TRANSLATED, Gender.FEMININE), "failed"),
        (_judgement(Verdict.JUDGED, None, None, outcome="correct"), "right"),
        (_judgement(Verdict.JUDGED, None, None, outcome="wrong"), "wrong"),
    ],
)
def test_outcomes(judgement: Judgement, outcome: str) -> None:
    assert outcome_of(judgement, draws=False) == outcome
    assert outcome in OUTCOMES


# -- filters -----------------------------------------------------------------------------------------------------------


def test_filters_count_what_the_estimates_count(runs: Sequence[Run]) -> None:
    explorer = Explorer(runs)
    for place, run in enumerate(runs):
        for result in run.results:
            for estimate in result.estimates:
                (cell,) = [cell for cell in explorer.cells if cell.name == result.cell]
                if estimate.slice in cell.slices:
                    found = _n(explorer, cell=result.cell, slice=estimate.slice, system=str(place))
                    assert found == estimate.n_total, (result.cell, estimate.metric, estimate.slice)


def test_filters(runs: Sequence[Run]) -> None:
    explorer = Explorer(runs)
    n = {cell.name: len(cell) for cell in explorer.cells}
    assert set(n) == {"winomt.en-es", "tgbi.ko-en"}
    assert _n(explorer) == sum(n.values())
    assert _n(explorer, benchmark="winomt") == _n(explorer, language="es") == n["winomt.en-es"]
    # The first system is always right, the second always says "he".
    assert _n(explorer, outcome="wrong", system="0") == 0
    assert _n(explorer, outcome="wrong", system="1", cell="tgbi.ko-en") == n["tgbi.ko-en"]
    women = _n(explorer, expected="feminine", cell="winomt.en-es")
    assert women == n["winomt.en-es"] / 2
    assert _n(explorer, differ="yes", cell="winomt.en-es") == women
    assert _n(explorer, observed="feminine") == women
    assert _n(explorer, observed="feminine", outcome="wrong") == 0, "both of one answer"
    assert _n(explorer, observed="none") == 0
    assert _n(explorer, slice="no such slice") == _n(explorer, entity="nobody") == _n(explorer, cell="x") == 0
    assert 0 < _n(explorer, entity="nurse") < n["winomt.en-es"]
    assert _n(explorer, text="THE NURSE") == _n(explorer, text="the nurse") > 0


def test_pages_are_parts_of_the_whole(runs: Sequence[Run]) -> None:
    explorer = Explorer(runs)
    wanted = Filter(outcome="wrong")
    whole = explorer.page(wanted, 0, 10_000)
    assert len(whole["rows"]) == whole["total"]
    parts = [row for first in range(0, whole["total"], 37) for row in explorer.page(wanted, first, 37)["rows"]]
    assert parts == whole["rows"]
    assert whole["counts"][1][OUTCOMES.index("wrong")] == whole["total"]
    assert explorer.page(wanted, whole["total"], 10)["rows"] == []


def test_a_link_is_read_as_it_was_written() -> None:
    from urllib.parse import parse_qsl

    wanted = Filter(cell="winomt.en-es core/best & more", entity="a=b&c#d?é", outcome="wrong")
    query = wanted.link.removeprefix("#sentences?")
    assert Filter.of(dict(parse_qsl(query))) == wanted
    assert Filter.of({"from": "3", "nonsense": "x"}) == Filter()


# -- rows --------------------------------------------------------------------------------------------------------------


def test_a_row_has_everything_that_is_shown(runs: Sequence[Run]) -> None:
    (row,) = Explorer(runs).page(Filter(cell="winomt.en-es", expected="feminine"), 0, 1)["rows"]
    assert row["source"].startswith("The ")
    assert row["expected"] == "feminine"
    assert row["entity"] in row["source"]
    assert row["tags"]["stereotype"] == "anti"
    assert "contrast" not in row["tags"]
    first, second = row["answers"]
    assert (first["observed"], first["outcome"]) == ("feminine", "right")
    assert (second["observed"], second["outcome"]) == ("masculine", "wrong")
    assert first["evidence"][0] in first["text"].lower()
    json.dumps(row)


def test_a_system_without_a_sentence_has_no_answer(runs: Sequence[Run]) -> None:
    one, other = runs
    fewer = replace(other.results[0], judgements=other.results[0].judgements[:10])
    texts = {fewer.cell: other.texts[fewer.cell][:10]}
    explorer = Explorer([one, replace(other, results=[fewer], texts=texts)])
    assert len(explorer.cells) == 2
    rows = explorer.page(Filter(cell="winomt.en-es"), 0, 12)["rows"]
    assert [row["answers"][1] is None for row in rows] == [False] * 10 + [True] * 2
    assert _n(explorer, cell="winomt.en-es", system="1") == 10
    assert _n(explorer, cell="tgbi.ko-en", system="1") == 0


def _unpacked(explorer: Explorer) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(gzip.decompress(base64.b64decode(explorer.embedded()["rows"])))
    return rows


def test_a_page_carries_the_rows_that_a_server_sends(runs: Sequence[Run]) -> None:
    explorer = Explorer(runs)
    rows = _unpacked(explorer)
    sent = explorer.page(Filter(), 0, len(rows) + 1)["rows"]
    assert [{**row, "slices": None} for row in rows] == [
        {**row, "slices": None} for row in json.loads(json.dumps(sent))
    ]
    names = explorer.cells[0].slices
    own = [row for row in rows if row["cell"] == 0]
    for place, name in enumerate(names):
        assert sum(place in row["slices"] for row in own) == _n(explorer, cell=explorer.cells[0].name, slice=name)


def test_long_texts_are_cut_and_their_length_is_kept(runs: Sequence[Run]) -> None:
    run = runs[0]
    result = replace(run.results[0], judgements=run.results[0].judgements[:1])
    long = Run(run.name, run.manifest, [result], texts={result.cell: [Text("x", ("é" * 1_000_000,))]})
    explorer = Explorer([long])
    (row,) = explorer.page(Filter(), 0, 1)["rows"]
    assert row["answers"][0]["text"] == "é" * LONGEST_TEXT
    assert row["answers"][0]["length"] == 1_000_000
    assert _unpacked(explorer)[0]["answers"] == row["answers"]
