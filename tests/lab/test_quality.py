"""Entropy by bin of quality, on translations whose quality is known."""

from __future__ import annotations

import math
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import sacrebleu

from gendermark.benchmarks.uncertainty.benchmark import BENCHMARK
from gendermark.benchmarks.uncertainty.items import references
from gendermark.errors import UnknownName, UserError
from gendermark.lab.cells import Cell, read_cell
from gendermark.lab.quality import Asked, bin_by_quality, quality_notes, quality_plot, quality_table
from gendermark.metrics.metric import Resampling
from gendermark.records import Gender
from lab.toys import contrasts, selected, tagged, written
from outcomes import Outcome


def reference(item: Any, gender: Gender) -> str:
    pair = references("es")[item.contrast, str(item.expected)]
    return pair[gender is Gender.FEMININE]


def test_quality_is_the_expected_chrf_of_a_sample_against_the_right_reference(tmp_path: Path) -> None:
    def samples(item: Any) -> list[str]:
        return [reference(item, Gender.FEMININE)] * 3 + ["Una frase que no tiene nada que ver."]

    found = bin_by_quality(written(tmp_path / "run", samples), Asked(n_bins=1))
    best = bin_by_quality(found.cell, Asked(n_bins=1, references="best"))
    items = BENCHMARK.load(selected()).items
    wanted, flattered = [], []
    for item in items:
        right = [reference(item, gender) for gender in Gender if gender is not Gender.NEUTRAL]
        if item.expected is not Gender.NEUTRAL:
            right = [reference(item, item.expected)]
        scores = [[sacrebleu.sentence_chrf(text, [one]).score for one in right] for text in samples(item)]
        wanted.append(fmean(map(fmean, scores)))
        flattered.append(fmean(map(max, scores)))
    whole = found.bins[-1]
    assert (whole.name, whole.unambiguous.n, whole.ambiguous.n) == ("all", 48, 24)
    assert whole.lowest == pytest.approx(min(wanted))
    assert whole.highest == pytest.approx(max(wanted))
    assert found.bins[0].highest == whole.highest
    assert found.n_without == 0
    assert best.bins[-1].highest == pytest.approx(max(flattered)) != pytest.approx(max(wanted))
    assert "the mean of the scores against each" in quality_notes([found])[0]
    assert "the best of the scores against each" in quality_notes([best])[0]


def test_a_second_reference_raises_no_score_unless_it_is_asked_for(tmp_path: Path) -> None:
    """Samples that match one reference of every sentence: with the better of two, open ones look better translated."""
    cell = written(tmp_path / "run", lambda item: [reference(item, Gender.MASCULINE)] * 2)
    by_mean, by_best = (bin_by_quality(cell, Asked("string", references=how)).bins for how in ("mean", "best"))
    # "She" is translated wrongly, "they" half rightly, "he" rightly.
    assert [(part.unambiguous.n, part.ambiguous.n) for part in by_best] == [(24, 0), (24, 24), (0, 0), (48, 24)]
    assert by_mean[2].lowest == pytest.approx(100)
    assert (by_mean[2].unambiguous.n, by_mean[2].ambiguous.n) == (24, 0)


def test_references_of_ones_own_count_as_the_bundled_ones(tmp_path: Path) -> None:
    cell = written(tmp_path / "run", lambda item: [reference(item, Gender.FEMININE), "Nada."])
    pairs = {(j.contrast, j.expected): reference(j, Gender.MASCULINE) for j in cell.result.judgements}
    own = tagged(
        cell,
        "file:own.tsv",
        lambda j: {
            "reference_masculine": pairs[j.contrast, j.expected],
            "reference_feminine": reference(j, Gender.FEMININE),
        },
    )
    assert bin_by_quality(own).bins == bin_by_quality(cell).bins


def test_a_neutral_translation_is_right_where_the_gender_is_open(tmp_path: Path) -> None:
    cell = written(tmp_path / "run", lambda _: ["La persona durmió."] * 2)
    tags = {"reference_gendered": "El guardia durmió.", "reference_neutral": "La persona durmió."}
    asked = Asked("string", n_bins=2, references="best")
    found = bin_by_quality(tagged(cell, "mgente:file.tsv", lambda _: tags), asked)
    assert [(part.unambiguous.n, part.ambiguous.n) for part in found.bins] == [(48, 0), (0, 24), (48, 24)]
    assert found.bins[1].lowest == pytest.approx(100)
    assert found.bins[0].highest == pytest.approx(
        sacrebleu.sentence_chrf("La persona durmió.", ["El guardia durmió."]).score
    )


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
    asked = Asked("string", references="best", resampling=Resampling(200))
    found = bin_by_quality(written(tmp_path / "run", by_quality), asked)
    worst, middle, best, whole = found.bins
    assert [part.name for part in found.bins] == ["B1", "B2", "B3", "all"]
    assert [part.unambiguous.n + part.ambiguous.n for part in found.bins] == [24, 24, 24, 72]
    assert worst.highest < middle.lowest <= middle.highest < best.lowest == best.highest == pytest.approx(100)
    half = math.log(2)
    assert worst.unambiguous.value == pytest.approx(half)
    assert (worst.ambiguous.value, middle.unambiguous.value, best.unambiguous.value) == (0, 0, 0)
    assert best.ambiguous.value == pytest.approx(half)
    assert (worst.gap.value, best.gap.value) == (pytest.approx(half), pytest.approx(-half))
    assert whole.gap.value == pytest.approx(0)
    assert whole.gap.low < 0 < whole.gap.high
    assert worst.delta == pytest.approx(1)
    assert best.delta is None  # nothing to divide by
    # All eight sets of a bin agree: resampling cannot tell how sure that is.
    assert best.gap.low is None
    assert "quantiles of all sentences together;" in quality_notes([found])[1]


def test_bins_of_each_kind_by_itself(tmp_path: Path) -> None:
    """Where the open sentences are the better ones, common bins have few of them at the bottom."""

    def samples(item: Any) -> list[str]:
        return by_quality(item) if item.expected is Gender.NEUTRAL else ["No es verdad.", "Eso no es verdad."]

    cell = written(tmp_path / "run", samples)
    together, apart = (bin_by_quality(cell, Asked("string", separately=apart)) for apart in (False, True))
    assert together.bins[0].ambiguous.n < 8
    assert [(part.unambiguous.n, part.ambiguous.n) for part in apart.bins[:3]] == [(16, 8)] * 3
    assert "each by itself" in quality_notes([apart])[1]


def test_equal_qualities_are_never_parted(tmp_path: Path) -> None:
    cell = written(tmp_path / "run", lambda _: ["xx"] * 2)
    found = bin_by_quality(cell, Asked("string"))
    assert [part.unambiguous.n for part in found.bins] == [48, 0, 0, 48]
    empty = found.bins[1]
    assert (empty.lowest, empty.unambiguous.value, empty.gap.value, empty.delta) == (None, None, None, None)
    assert quality_plot([found]).count("<circle") == 2 * 2 + 2


def test_quality_by_comet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "comet.py"
    program.write_text(
        "import sys\n"
        "lines = open(sys.argv[sys.argv.index('-t') + 1], encoding='utf-8').read().splitlines()\n"
        "for number, line in enumerate(lines):\n"
        "    print(f'x\\tSegment {number}\\tscore: {0.9 if line == \"good\" else 0.5}')\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("GENDERMARK_COMET", f"{sys.executable} {program}")
    cell = written(tmp_path / "run", lambda _: ["good", "bad", "bad", "bad"])
    found = bin_by_quality(cell, Asked("string", "comet", n_bins=1))
    assert found.bins[0].lowest == found.bins[0].highest == pytest.approx(60)


def test_refusals_of_quality(study: Callable[..., Outcome], runs: Path, coin: Cell) -> None:
    outcome = study("quality", runs / "coin", "--quality", "bleu")
    assert outcome.exit_code == 2
    assert "unknown quality 'bleu'" in outcome.err
    official = replace(coin, result=replace(coin.result, selection=replace(coin.result.selection, data="official")))
    with pytest.raises(UserError, match=r"no sentence of .* has a reference and a translation"):
        bin_by_quality(official)
    with pytest.raises(UserError, match="at least one bin"):
        Asked(n_bins=0)
    with pytest.raises(UnknownName, match="unknown references 'worst'"):
        Asked(references="worst")
    with pytest.raises(UnknownName, match="unknown measure"):
        bin_by_quality(coin, Asked("heat"))


def test_several_runs_stand_below_each_other(study: Callable[..., Outcome], runs: Path, tmp_path: Path) -> None:
    both = (runs / "right", runs / "random")
    outcome = study("quality", *both, "--plot", tmp_path / "q.svg", "--separately")
    assert "picture written to" in outcome.err
    assert "each by itself, for each system by itself" in outcome.err
    names = ("fake:right?p=0.7", "fake:random")
    assert [(row["system"], row["bin"]) for row in outcome.rows] == [
        (name, part) for name in names for part in ("B1", "B2", "B3", "all")
    ]
    drawn = ElementTree.parse(tmp_path / "q.svg").getroot()
    texts = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert [text for text in texts if text in ("fake:right?p=0.7 en-es", "fake:random en-es")] == [
        f"{name} en-es" for name in names
    ]
    one = bin_by_quality(read_cell(runs / "right"), Asked(separately=True))
    assert quality_table([one]).rows[0][4] == float(outcome.rows[0]["to"])
    assert len(study("quality", *both, "--json").json["systems"]) == 2
