"""The study of debiasing: its report, the verb, and what it refuses."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gendermark import api
from gendermark.benchmarks.winomt import items as winomt
from gendermark.cli import study as verb
from gendermark.errors import UserError
from gendermark.io import locks
from gendermark.lab import debias, grammar
from gendermark.lab.debias import Settings, findings, study_debiasing
from gendermark.lab.hard_debiasing import debias_model
from gendermark.lab.plain import compare_plain
from gendermark.metrics.metric import Resampling
from gendermark.records import Unit
from gendermark.runs.compare import Comparison
from gendermark.runs.run import RunContext
from lab.word_models import SOURCES, TARGETS, WITHOUT_PROFESSION, word_model
from systems import tiny_hf

pytestmark = pytest.mark.usefixtures("_one_thread")

REFERENCED = api.select("uncertainty", "es", data="core", parts=("referenced",))[1]
FAST = ["--group", "referenced", "--samples", "3", "--system-option", "beam_size=1", "--system-option", "max_length=5"]
QUICKLY = Resampling(n_resamples=100)


def test_both_forms_say_the_same_and_another_thing_than_before(marian: Path, tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2")
    debias_model(marian, "es").write(tmp_path / "hf")
    settings = Settings(marian, "es")
    translate = debias._Translate(settings, RunContext(store=tmp_path / "store.sqlite"))
    assert debias._convert(tmp_path, f"hf:{tmp_path / 'hf'}", translate, SOURCES) is None
    sources, targets = [*SOURCES, WITHOUT_PROFESSION], [*TARGETS, TARGETS[0]]
    before, hf, converted = (
        translate.scores(spec, sources, targets)
        for spec in (f"hf:{marian}", f"hf:{tmp_path / 'hf'}", f"ctranslate2:{tmp_path / 'ctranslate2'}")
    )
    assert converted == pytest.approx(hf, abs=1e-4)
    assert hf[2] == pytest.approx(before[2], abs=1e-6)
    assert min(abs(a - b) for a, b in zip(hf[:2], before[:2], strict=True)) > 1e-3


# -- the study --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def finished(marian: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with `study`, a finished one of the verb, and the store and files it used."""
    base = tmp_path_factory.mktemp("finished")
    (base / "en").write_text("".join(f"{line}\n" for line in SOURCES), encoding="utf-8")
    (base / "es").write_text("".join(f"{line}\n" for line in TARGETS), encoding="utf-8")
    found = _call(marian, base, base / "study", "--json")
    assert found.exit_code == 0, found.output
    (base / "printed").write_text(found.stdout, encoding="utf-8")
    return base


def _call(model: Path, base: Path, output: Path, *more: str) -> Any:
    """The verb, with no more sentences of WinoMT than the uncertainty benchmark has references for."""
    referenced = {item.source for item in api.items(REFERENCED).items}
    rows, origin = winomt._core_rows()
    files = ["--bleu", str(base / "en"), str(base / "es"), "--store", str(base / "store.sqlite")]
    arguments = ["debias", str(model), "-o", str(output), "--to", "es", "--resamples", "100", *FAST, *files, *more]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(winomt, "_core_rows", lambda: ([row for row in rows if row.sentence in referenced], origin))
        return CliRunner().invoke(verb.app, arguments)


def test_the_report(finished: Path, marian: Path) -> None:
    report = json.loads((finished / "printed").read_text(encoding="utf-8"))
    record = json.loads((finished / "study" / "debias.json").read_text(encoding="utf-8"))
    assert record["report"] == report
    assert report["model"] == str(marian)
    assert report["n_bleu"] == 2
    rows = [(row["cell"].partition(".")[0], row["metric"], row["slice"]) for row in report["comparisons"]]
    of_vectors = [("vectors", name, "professions") for name in ("mean_abs_cosine", "neighbour_correlation")]
    assert rows == [*of_vectors, *debias.COMPARED, ("bleu", "bleu", "all")]
    assert report["comparisons"][0]["first"] == report["mean_abs_cosine"]["before"]
    assert report["comparisons"][0]["second"] < 1e-6
    assert len(report["findings"]) == 2
    assert report["notes"] == []
    assert (finished / "study" / "ctranslate2" / "model.bin").is_file()
    # The runs are ordinary ones, which other verbs can read; the table's numbers are theirs.
    compared = api.compare(finished / "study" / "before", finished / "study" / "after", all_metrics=True)
    theirs = {(row.cell, row.metric, row.slice): (row.first, row.second) for row in compared.comparisons}
    for row in report["comparisons"][2:-1]:
        assert theirs[row["cell"], row["metric"], row["slice"]] == (row["first"], row["second"])


def test_p_values_are_corrected_over_the_rows_of_the_table(finished: Path) -> None:
    rows = json.loads((finished / "printed").read_text(encoding="utf-8"))["comparisons"]
    known = sorted((row["p_value"], row["p_adjusted"]) for row in rows if row["p_value"] is not None)
    assert len(known) >= 3
    assert known[0][1] == pytest.approx(min(1.0, known[0][0] * len(known)))


def test_the_same_command_goes_on_and_asks_nothing_twice(finished: Path, marian: Path) -> None:
    output = finished / "study"
    weights = (output / "hf" / "model.safetensors").read_bytes()
    found = _call(marian, finished, output)
    assert found.exit_code == 0, found.output
    assert (output / "hf" / "model.safetensors").read_bytes() == weights
    for name in ("before", "after"):
        manifest = json.loads((output / name / "manifest.json").read_text(encoding="utf-8"))
        assert manifest["status"] == "finished"
        assert {cell["n_asked"] for cell in manifest["cells"].values()} == {0}
    # Piped: one table, with numbers in full; on stderr what was done, and two sentences.
    lines = [line.split("\t") for line in found.stdout.splitlines()]
    assert lines[0][:5] == ["cell", "metric", "slice", "first", "second"]
    report = json.loads((finished / "printed").read_text(encoding="utf-8"))
    assert len(lines) == 1 + len(report["comparisons"])
    assert float(lines[1][3]) == report["mean_abs_cosine"]["before"]
    said = found.stderr.splitlines()
    assert any(line.startswith("gender direction from 16 pairs (she-he, her-his,") for line in said)
    assert any(line.startswith("39 professions changed, ") for line in said)
    assert set(report["findings"]) <= set(said)


def test_a_terminal_gets_a_drawn_table(finished: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setattr(verb.terminal, "is_terminal", lambda _: True)
    verb._print(json.loads((finished / "printed").read_text(encoding="utf-8")))
    drawn = capsys.readouterr().out
    assert "Before and after debiasing" in drawn
    assert "h_gender ambiguous" in drawn
    assert "0.000" in next(line for line in drawn.splitlines() if "mean_abs_cosine" in line)


def test_another_study_in_the_same_directory(finished: Path, marian: Path) -> None:
    before = (finished / "study" / "debias.json").read_bytes()
    found = _call(marian, finished, finished / "study", "--equalise")
    assert isinstance(found.exception, UserError)
    assert str(found.exception) == (
        f"{finished / 'study'} holds another study (it differs in equalises); choose another directory with -o"
    )
    assert (finished / "study" / "debias.json").read_bytes() == before


def test_bleu_is_that_of_sacrebleu_and_paired() -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    references = [f"La persona número {n} perdió las llaves de la casa." for n in range(30)]
    worse = [text.replace("las llaves", "el libro") if n % 2 else text for n, text in enumerate(references)]
    row = compare_plain("bleu", references, (references, worse), QUICKLY)
    assert row.first == pytest.approx(100)
    assert row.second == pytest.approx(sacrebleu.corpus_bleu(worse, [references]).score)
    assert row.low is not None
    assert row.high is not None
    assert row.difference == pytest.approx((row.second or 0) - 100)
    assert row.low < row.difference < row.high < 0
    assert row.p_value is not None
    assert row.p_value < 0.01
    same = compare_plain("bleu", references, (worse, worse), QUICKLY)
    assert (same.difference, same.low, same.high, same.p_value) == (0, 0, 0, 1)


def test_a_model_of_the_grammar_is_measured_on_its_held_out_sentences(marian: Path, tmp_path: Path) -> None:
    shutil.copytree(marian, tmp_path / "hf")
    settings = Settings(tmp_path / "hf", "es")
    assert debias._bleu_pairs(settings) is None
    report = {"recipe": {"size": {"n_held_out": 7}, "seed": 4}}
    (tmp_path / "report.json").write_text(json.dumps(report), encoding="utf-8")
    pairs = list(grammar.generate(7, 4, split="held-out"))
    assert debias._bleu_pairs(settings) == ([pair.source for pair in pairs], [pair.target for pair in pairs])
    assert debias._bleu_pairs(replace(settings, target_language="fr")) is None
    (tmp_path / "report.json").write_text('{"recipe": "soup"}', encoding="utf-8")
    assert debias._bleu_pairs(settings) is None


def _row(metric: str, values: tuple[float, float], interval: tuple[float, float], p: float, better: str) -> Comparison:
    cell = "bleu" if metric == "bleu" else "uncertainty.en-es" if metric[0] == "h" else "winomt.en-es"
    part = "ambiguous" if metric[0] == "h" else "all"
    unit = Unit.NATS if metric[0] == "h" else Unit.PERCENT
    return Comparison(cell, metric, part, *values, better, 40, values[1] - values[0], *interval, p, p, p, unit=unit)


def test_two_sentences_no_surer_than_the_numbers() -> None:
    rows = [
        _row("accuracy", (50, 50.5), (-1, 2), 0.6, "higher"),
        _row("delta_s", (40, 30), (-14, -6), 0.001, "zero"),
        _row("delta_g", (10, 15), (2, 8), 0.001, "zero"),
        _row("h_gender", (0.2, 0.3), (0.05, 0.15), 0.001, "neither"),
        _row("bleu", (70, 69.9), (-0.3, 0.1), 0.4, "higher"),
    ]
    assert findings(rows) == [
        "WinoMT accuracy went from 50.0 to 50.5 (by 0.5, -1.0 to 2.0: could be chance); its gap between "
        "stereotypical and other sentences went from 40.0 to 30.0 (by -10.0, -14.0 to -6.0: better); its gap between "
        "men and women went from 10.0 to 15.0 (by 5.0, 2.0 to 8.0: worse).",
        "Gender entropy where the sentence leaves the gender open went from 0.200 to 0.300 (by 0.100, 0.050 to 0.150: "
        "more than chance); BLEU went from 70.0 to 69.9 (by -0.1, -0.3 to 0.1: could be chance).",
    ]
    # A gap that turns to the other side may be of another size and yet within chance.
    turned = _row("delta_g", (0.4, -1.9), (-6, 1.5), 0.01, "zero")
    assert turned.change() == "unclear"
    assert findings([turned]) == [
        "Its gap between men and women went from 0.4 to -1.9 (by -2.3, -6.0 to 1.5: could be chance)."
    ]
    empty = replace(rows[1], first=None, difference=None)
    assert findings([empty]) == ["Its gap between stereotypical and other sentences has no value to compare."]


def test_a_model_that_cannot_be_converted_is_said(marian: Path, tmp_path: Path, monkeypatch: Any) -> None:
    ctranslate2 = pytest.importorskip("ctranslate2")
    shutil.copytree(marian, tmp_path / "hf")
    translate = debias._Translate(Settings(marian, "es"), RunContext(store=tmp_path / "s"))
    spec = f"hf:{tmp_path / 'hf'}"
    other = debias_model(marian, "es")

    def convert_another(self: Any, directory: str) -> None:
        other.write(tmp_path / "other")
        original(converter(str(tmp_path / "other"), copy_files=["source.spm", "target.spm"]), directory)

    converter = ctranslate2.converters.TransformersConverter
    original = converter.convert
    monkeypatch.setattr(converter, "convert", convert_another)
    problem = debias._convert(tmp_path, spec, translate, SOURCES)
    assert problem is not None
    assert problem.startswith("there it gives other probabilities, by up to ")
    assert not (tmp_path / "ctranslate2").exists()

    def refuse(self: Any, directory: str) -> None:
        raise ValueError("No conversion is registered for SoupConfig\nmore")

    monkeypatch.setattr(converter, "convert", refuse)
    assert debias._convert(tmp_path, spec, translate, SOURCES) == "No conversion is registered for SoupConfig"


# -- refusals ---------------------------------------------------------------------------------------------------------


def _refused(settings: Settings, output: Path) -> str:
    with pytest.raises(UserError) as caught:
        study_debiasing(settings, output)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_no_such_directory(tmp_path: Path) -> None:
    said = _refused(Settings(tmp_path / "nothing", "es"), tmp_path / "out")
    assert said == (
        f"there is no directory {tmp_path / 'nothing'}; give one with a translation model in Hugging Face's format, "
        "such as the one `gendermark train demo-model` writes"
    )
    assert not (tmp_path / "out").exists()


def test_a_directory_that_is_no_model(tmp_path: Path) -> None:
    assert "it has no config.json" in _refused(Settings(tmp_path, "es"), tmp_path / "out")


def test_a_model_of_ctranslate2(tmp_path: Path) -> None:
    (tmp_path / "model.bin").touch()
    said = _refused(Settings(tmp_path, "es"), tmp_path / "out")
    assert said.startswith(f"{tmp_path} is a model in CTranslate2's format, whose vectors cannot be changed; give the")


def test_a_model_without_an_encoder(tmp_path: Path) -> None:
    model = tiny_hf.chat(tmp_path / "model")
    assert _refused(Settings(model, "es"), tmp_path / "out") == (
        f"{model} is a model without an encoder (llama); only translation models with an encoder and a decoder can be "
        "debiased"
    )
    assert not (tmp_path / "out").exists()


def test_too_few_pairs(tmp_path: Path) -> None:
    model = word_model(tmp_path / "model", ["nurse", "clerk", "she", "he", "her", "his", "woman"])
    assert _refused(Settings(model, "es"), tmp_path / "out") == (
        f"the vocabulary of {model} has 2 of the pairs she-he, woman-man ... as single tokens, and at least 3 are "
        "needed to find a gender direction; give a model that reads English whole words"
    )
    assert not (tmp_path / "out").exists()


def test_no_profession(tmp_path: Path) -> None:
    model = word_model(tmp_path / "model", ["woman", "man", "mother", "father", "girl", "boy"])
    said = _refused(Settings(model, "es"), tmp_path / "out")
    assert said.startswith(f"the vocabulary of {model} has none of 1")
    assert said.endswith(
        "professions (nurse, carpenter ...) as a single token, and only those can be debiased; give a model with a "
        "larger vocabulary"
    )


@pytest.mark.parametrize("absent", ["torch", "transformers"])
def test_a_missing_extra(absent: str, marian: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debias, "find_spec", lambda name: None if name == absent else object())
    said = _refused(Settings(marian, "es"), tmp_path / "out")
    assert said == "debiasing a model needs an optional package; install it with: pip install 'gendermark[hf]'"


def test_a_directory_that_holds_something_else(marian: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert _refused(Settings(marian, "es"), tmp_path / "file").endswith("file is a file; choose a directory with -o")
    assert _refused(Settings(marian, "es"), marian) == (
        f"{marian} holds the model itself; choose another directory with -o"
    )
    # As `train demo-model` leaves it: what is in there must never be written over.
    precious = Path(shutil.copytree(marian, tmp_path / "trained" / "hf"))
    before = (precious / "model.safetensors").read_bytes()
    assert _refused(Settings(precious, "es"), tmp_path / "trained") == (
        f"{precious} is there already and not of this study; choose another with -o"
    )
    assert (precious / "model.safetensors").read_bytes() == before
    (tmp_path / "debias.json").write_text("[]", encoding="utf-8")
    assert _refused(Settings(marian, "es"), tmp_path).endswith(
        "debias.json: is not the record of a study; choose another directory with -o"
    )


def test_two_studies_at_once(marian: Path, tmp_path: Path) -> None:
    with locks.hold(tmp_path / ".lock"):
        assert _refused(Settings(marian, "es"), tmp_path).startswith("another process holds ")


def test_files_for_bleu_that_do_not_belong_together(marian: Path, tmp_path: Path) -> None:
    (tmp_path / "en").write_text("One.\nTwo.\n", encoding="utf-8")
    (tmp_path / "es").write_text("Uno.\n", encoding="utf-8")
    said = _refused(Settings(marian, "es", bleu=(tmp_path / "en", tmp_path / "es")), tmp_path / "out")
    assert said == (
        f"{tmp_path / 'en'} has 2 lines and {tmp_path / 'es'} 1; --bleu takes a file of sentences and one with the "
        "translation of each"
    )


def test_a_language_that_no_benchmark_has(marian: Path, tmp_path: Path) -> None:
    assert "tlh" in _refused(Settings(marian, "tlh"), tmp_path / "out")
    assert not (tmp_path / "out").exists()
