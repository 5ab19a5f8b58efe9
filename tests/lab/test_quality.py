"""Entropy by bin of quality, and the quality of systems on sentences in which gender is no matter."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import pytest
import sacrebleu

from gendermark import api
from gendermark.benchmarks.uncertainty.items import references
from gendermark.benchmarks.uncertainty.judge import BENCHMARK
from gendermark.errors import UserError
from gendermark.lab.quality import Asked, bin_by_quality
from gendermark.lab.studies import bundled_test_set
from gendermark.lab.uncertainty_results import Cell
from gendermark.metrics.metric import Resampling
from gendermark.records import Gender
from lab.conftest import Command
from lab.toys import contrasts, selected, written


def reference(item: Any, gender: Gender) -> str:
    pair = references("es")[item.contrast, str(item.expected)]
    return pair[gender is Gender.FEMININE]


def bins(cell: Cell, *asked: Any, **more: Any) -> list[Any]:
    """The bins with names as attributes."""
    found = bin_by_quality(cell, Asked(*asked, **more))["bins"]
    return json.loads(json.dumps(found), object_hook=lambda row: SimpleNamespace(**row))


def sizes(found: list[Any]) -> list[tuple[int, int]]:
    return [(one.unambiguous.n, one.ambiguous.n) for one in found]


def test_quality_is_the_expected_chrf_of_a_sample_against_the_right_reference(tmp_path: Path) -> None:
    def samples(item: Any) -> list[str]:
        return [reference(item, Gender.FEMININE)] * 3 + ["Una frase que no tiene nada que ver."]

    cell = written(tmp_path / "run", samples)
    found, best = (bins(cell, n_bins=1, references=how) for how in ("mean", "best"))
    items = BENCHMARK.load(selected()).items
    wanted, flattered = [], []
    for item in items:
        right = [reference(item, gender) for gender in Gender if gender is not Gender.NEUTRAL]
        if item.expected is not Gender.NEUTRAL:
            right = [reference(item, item.expected)]
        scores = [[sacrebleu.sentence_chrf(text, [one]).score for one in right] for text in samples(item)]
        wanted.append(fmean(map(fmean, scores)))
        flattered.append(fmean(map(max, scores)))
    whole = found[-1]
    assert (whole.name, whole.unambiguous.n, whole.ambiguous.n) == ("all", 48, 24)
    assert (whole.lowest, whole.highest) == (pytest.approx(min(wanted)), pytest.approx(max(wanted)))
    assert found[0].highest == whole.highest
    assert best[-1].highest == pytest.approx(max(flattered)) != pytest.approx(max(wanted))


def test_a_second_reference_raises_no_score_unless_it_is_asked_for(tmp_path: Path) -> None:
    """Samples that match one reference of every sentence: with the better of two, open ones look better translated."""
    cell = written(tmp_path / "run", lambda item: [reference(item, Gender.MASCULINE)] * 2)
    by_mean, by_best = (bins(cell, "string", references=how) for how in ("mean", "best"))
    # "She" is translated wrongly, "they" half rightly, "he" rightly.
    assert sizes(by_best) == [(24, 0), (24, 24), (0, 0), (48, 24)]
    assert by_mean[2].lowest == pytest.approx(100)
    assert sizes(by_mean)[2] == (24, 0)


def by_quality(item: Any) -> list[str]:
    """A third of the sets: unsure where it is open, word by word; a third: sure; a third: unsure where it is told."""
    third = contrasts().index(item.contrast)
    both = [reference(item, Gender.MASCULINE), reference(item, Gender.FEMININE)]
    right = reference(item, item.expected if item.expected is not Gender.NEUTRAL else Gender.MASCULINE)
    if third < 8:
        return both * 2 if item.expected is Gender.NEUTRAL else [right] * 4
    if third < 16:
        return [" ".join(right.split()[:-3])] * 4
    return [right.split()[1]] * 4 if item.expected is Gender.NEUTRAL else [right.split()[0], right.split()[1]] * 2


def test_bins_of_quality(tmp_path: Path) -> None:
    cell = written(tmp_path / "run", by_quality)
    found = bins(cell, "string", references="best", resampling=Resampling(200))
    worst, middle, best, whole = found
    assert [part.name for part in found] == ["B1", "B2", "B3", "all"]
    assert [sum(both) for both in sizes(found)] == [24, 24, 24, 72]
    assert worst.highest < middle.lowest <= middle.highest < best.lowest == best.highest == pytest.approx(100)
    half = math.log(2)
    assert worst.unambiguous.value == pytest.approx(half)
    assert (worst.ambiguous.value, middle.unambiguous.value, best.unambiguous.value) == (0, 0, 0)
    assert best.ambiguous.value == pytest.approx(half)
    assert (worst.gap.value, best.gap.value) == (pytest.approx(half), pytest.approx(-half))
    assert whole.gap.value == pytest.approx(0)
    assert whole.gap.low < 0 < whole.gap.high
    assert worst.delta_h == pytest.approx(1)
    assert best.delta_h is None  # nothing to divide by
    # All eight sets of a bin agree: resampling cannot tell how sure that is.
    assert best.gap.low is None


@pytest.fixture
def comet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "comet.py"
    program.write_text(
        "import sys\n"
        "lines = open(sys.argv[sys.argv.index('-t') + 1], encoding='utf-8').read().splitlines()\n"
        "for number, line in enumerate(lines):\n"
        "    print(f'x\\tSegment {number}\\tscore: {0.9 if line == \"good\" else 0.5}')\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("GENDERMARK_COMET", f"{sys.executable} {program}")


@pytest.mark.usefixtures("comet")
def test_quality_by_comet(tmp_path: Path, study: Command) -> None:
    cell = written(tmp_path / "run", lambda _: ["good", "bad", "bad", "bad"])
    found = bins(cell, "string", "comet", n_bins=1)
    assert found[0].lowest == found[0].highest == pytest.approx(60)
    (row,) = study("uncertainty", "quality", tmp_path / "run", "--quality", "comet", "--table13").rows
    assert list(row) == ["language", "system", "all", "pro", "anti", "unambiguous", "ambiguous"]
    assert float(row["all"]) == float(row["ambiguous"]) == pytest.approx(60)
    (tmp_path / "out").write_text("good\nbad\n", encoding="utf-8")
    files = (tmp_path / "out", tmp_path / "out")
    (row,) = study("uncertainty", "quality", "--plain", *files, "--translations", tmp_path / "out").rows
    assert float(row["comet"]) == pytest.approx(70)


def test_several_runs_stand_below_each_other(study: Command, runs: Path, tmp_path: Path) -> None:
    both = (runs / "right", runs / "random")
    outcome = study("uncertainty", "quality", *both, "--plot", tmp_path / "q.svg", "--separately")
    assert "each by itself, for each system by itself" in outcome.err
    assert "the mean over both references" in outcome.err
    names = ("fake:right?p=0.7", "fake:random")
    assert [(row["system"], row["bin"]) for row in outcome.rows] == [
        (name, part) for name in names for part in ("B1", "B2", "B3", "all")
    ]
    drawn = (tmp_path / "q.svg").read_text(encoding="utf-8")
    assert all(f"{name} en-es" in drawn for name in names)
    systems = study("uncertainty", "quality", *both, "--separately", "--json").json["systems"]
    assert systems[0]["bins"][0]["highest"] == float(outcome.rows[0]["to"])


# -- plain test sets ---------------------------------------------------------------------------------------------------

SOURCES = ["The sky is blue today.", "We ate bread with cheese.", "It rained all night long."]
REFERENCES = ["El cielo está azul hoy.", "Comimos pan con queso.", "Llovió durante toda la noche."]
TEXTS = ["El cielo es azul hoy.", "Comimos pan con queso.", ""]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    paths = tuple(tmp_path / name for name in ("source.en", "reference.es", "out.es"))
    for path, lines in zip(paths, (SOURCES, REFERENCES, TEXTS), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return paths


def test_given_translations_are_rated_as_sacrebleu_rates_them(study: Command, files: tuple[Path, Path, Path]) -> None:
    source, reference, out = files
    arguments = (
        "uncertainty",
        "quality",
        "--plain",
        source,
        reference,
        "--translations",
        out,
        "--translations",
        reference,
    )
    outcome = study(*arguments)
    ours, perfect = outcome.rows
    assert ours["system"] == str(out)
    assert float(ours["bleu"]) == pytest.approx(sacrebleu.corpus_bleu(TEXTS, [REFERENCES]).score)
    assert float(ours["chrf"]) == pytest.approx(sacrebleu.corpus_chrf(TEXTS, [REFERENCES]).score)
    assert float(ours["chrf_low"]) <= float(ours["chrf"]) <= float(ours["chrf_high"])
    assert float(perfect["bleu"]) == pytest.approx(100)
    assert "3 sentences, one reference each" in outcome.err
    assert f"{out}: 1 sentences have no translation" in outcome.err
    as_json = study(*arguments, "--json").json
    assert (as_json["n"], set(as_json["systems"][0]["scores"])) == (3, {"bleu", "chrf"})


def test_systems_of_runs_translate_the_test_set(study: Command, files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    selection = api.select("uncertainty", "es", data="core", parts=("referenced",), n_samples=2)[1]
    api.run("demo:en-es", [selection], directory=tmp_path / "run", system_options={"beam_size": "1"})
    test_set = bundled_test_set()
    assert len(set(test_set.sources)) > 900
    for path, lines in zip(files, (test_set.sources[:20], test_set.references[:20]), strict=False):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (row,) = study("uncertainty", "quality", tmp_path / "run", "--plain", *files[:2]).rows
    assert row["system"].startswith("demo:en-es")
    assert float(row["bleu"]) > 70  # it has not seen them, but knows their grammar
    twice = study("uncertainty", "quality", tmp_path / "run", tmp_path / "run", "--plain", *files[:2])
    assert "is in several of these runs; give it once" in twice.err


def test_refusals_of_quality(
    study: Command, files: tuple[Path, Path, Path], runs: Path, tmp_path: Path, coin: Cell
) -> None:
    source, reference, out = files
    short = tmp_path / "short"
    short.write_text("one line\n", encoding="utf-8")
    for arguments, words in (
        ((runs / "coin", "--quality", "bleu"), "'bleu'"),
        ((runs / "coin", "--references", "worst"), "'worst'"),
        ((runs / "coin", "--measure", "heat"), "'heat'"),
        ((runs / "coin", "--bins", "0"), "0"),
        ((), "give at least one run folder, or a test set with --plain"),
        (("--plain", source, reference), "--translations"),
        (("--plain", source, short, "--translations", out), "has 3 lines and"),
        (("--plain", source, reference, "--translations", short), "has 1 lines for 3 sentences"),
        (("--plain", source, reference, "--plain-bundled"), "--plain-bundled"),
        ((runs / "coin", "--translations", out), "--plain SOURCE REFERENCE"),
        ((runs / "coin", "--plain", source, reference), "benchmark sentences only"),
        (("--plain", source, tmp_path / "nothing", "--translations", out), "nothing"),
    ):
        study("uncertainty", "quality", *arguments).is_refusal(words)
    official = replace(coin.result, selection=replace(coin.result.selection, data="official"))
    with pytest.raises(UserError, match="has a reference and a translation"):
        bin_by_quality(coin._replace(result=official), Asked())
