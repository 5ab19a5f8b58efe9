"""The quality of systems on sentences in which gender is no matter."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import sacrebleu

from gendermark import api
from gendermark.lab.plain import bundled_test_set
from outcomes import Outcome

SOURCES = ["The sky is blue today.", "We ate bread with cheese.", "It rained all night long."]
REFERENCES = ["El cielo está azul hoy.", "Comimos pan con queso.", "Llovió durante toda la noche."]
TEXTS = ["El cielo es azul hoy.", "Comimos pan con queso.", ""]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    paths = tuple(tmp_path / name for name in ("source.en", "reference.es", "out.es"))
    for path, lines in zip(paths, (SOURCES, REFERENCES, TEXTS), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return paths


def test_given_translations_are_rated_as_sacrebleu_rates_them(
    study: Callable[..., Outcome], files: tuple[Path, Path, Path]
) -> None:
    source, reference, out = files
    arguments = ("quality", "--plain", source, reference, "--translations", out, "--translations", reference)
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


def test_comet_where_the_user_has_it(
    study: Callable[..., Outcome], files: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "comet.py"
    program.write_text(
        "for number, score in enumerate((0.9, 0.8, 0.1)):\n    print(f'x\\tSegment {number}\\tscore: {score}')\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("GENDERMARK_COMET", f"{sys.executable} {program}")
    (row,) = study("quality", "--plain", *files[:2], "--translations", files[2]).rows
    assert float(row["comet"]) == pytest.approx(60)


def test_systems_of_runs_translate_the_test_set(
    study: Callable[..., Outcome], files: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    selection = api.select("uncertainty", "es", data="core", parts=("referenced",), n_samples=2)[1]
    api.run("demo:en-es", [selection], directory=tmp_path / "run", system_options={"beam_size": "1"})
    test_set = bundled_test_set()
    assert len(set(test_set.sources)) > 900
    for path, lines in zip(files, (test_set.sources[:20], test_set.references[:20]), strict=False):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (row,) = study("quality", tmp_path / "run", "--plain", *files[:2]).rows
    assert row["system"].startswith("demo:en-es")
    assert float(row["bleu"]) > 70  # it has not seen them, but knows their grammar
    monkeypatch.setenv("GENDERMARK_CACHE", str(tmp_path / "empty"))  # so that they have something to do
    workers = ("--executor", "processes:2")
    assert study("quality", tmp_path / "run", "--plain", *files[:2], *workers).rows == [row]
    twice = study("quality", tmp_path / "run", tmp_path / "run", "--plain", *files[:2])
    assert "is in several of these runs; give it once" in twice.err


def test_refusals_of_plain_test_sets(
    study: Callable[..., Outcome], files: tuple[Path, Path, Path], runs: Path, tmp_path: Path
) -> None:
    source, reference, out = files
    short = tmp_path / "short"
    short.write_text("one line\n", encoding="utf-8")
    for arguments, words in (
        ((), "give at least one run folder, or a test set with --plain"),
        (("--plain", source, reference), "say what translated the test set"),
        (("--plain", source, short, "--translations", out), "has 3 lines and"),
        (("--plain", source, reference, "--translations", short), "has 1 lines for 3 sentences; give one for each"),
        (("--plain", source, reference, "--plain-bundled"), "choose one of them"),
        ((runs / "coin", "--translations", out), "give it with --plain SOURCE REFERENCE"),
        ((runs / "coin", "--plain", source, reference), "answers the sentences of benchmarks only"),
        (("--plain", source, tmp_path / "nothing", "--translations", out), "nothing"),
    ):
        outcome = study("quality", *arguments)
        assert (outcome.exit_code, outcome.out) == (2, ""), arguments
        assert words in outcome.err
        assert len(outcome.err.splitlines()) == 1
