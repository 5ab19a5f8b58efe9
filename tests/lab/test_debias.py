"""Hard-debiasing: the arithmetic on known vectors, models whose other words stay as they were, and the study."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu

from gendermark import api
from gendermark.benchmarks.winomt import items as winomt
from gendermark.io import locks
from gendermark.lab import debias
from gendermark.lab.debias import (
    DEFINING_PAIRS,
    Words,
    cosines,
    debias_model,
    equalised,
    find_words,
    gender_direction,
    neighbour_correlation,
    neutralised,
    professions_of,
)
from gendermark.lab.studies import Made, PlainSet, compare_quality
from gendermark.metrics.metric import Resampling
from lab.conftest import Command
from lab.word_models import (
    ALL_WORDS,
    CORE,
    SOURCES,
    TARGETS,
    WITHOUT_PROFESSION,
    opened,
    tokeniser_of,
    torch,
    word_model,
)
from outcomes import Outcome
from systems import tiny_hf

pytestmark = pytest.mark.usefixtures("_one_thread")


# -- the arithmetic ----------------------------------------------------------------------------------------------------


def _planted(n_pairs: int = 8, noise: float = 0.02) -> tuple[np.ndarray, np.ndarray, list[tuple[int, int]]]:
    """Vectors in which the words of each pair differ along one known direction, and a little anyhow."""
    chance = np.random.default_rng(5)
    direction = np.zeros(12)
    direction[3] = 1.0
    vectors = chance.normal(size=(2 * n_pairs + 10, 12))
    vectors[1 : 2 * n_pairs : 2] = vectors[: 2 * n_pairs : 2] + noise * chance.normal(size=(n_pairs, 12))
    vectors[: 2 * n_pairs, 3] = np.tile([0.8, -0.8], n_pairs)
    return vectors, direction, [(n, n + 1) for n in range(0, 2 * n_pairs, 2)]


def test_the_direction_is_found_and_points_to_the_feminine() -> None:
    vectors, direction, pairs = _planted()
    found, share = gender_direction(vectors, pairs)
    assert np.linalg.norm(found) == pytest.approx(1)
    assert found @ direction > 0.99
    assert 0.95 < share < 1
    turned, _ = gender_direction(vectors, [(masculine, feminine) for feminine, masculine in pairs])
    assert turned == pytest.approx(-found)
    longer = vectors * np.linspace(0.1, 9, len(vectors))[:, None]  # the length of vectors does not move it
    assert gender_direction(longer, pairs)[0] == pytest.approx(found)
    # Without a common direction the first component holds little.
    noise = np.random.default_rng(1).normal(size=(40, 200))
    assert gender_direction(noise, [(n, n + 1) for n in range(0, 40, 2)])[1] < 0.15


def test_neutralised_vectors_have_nothing_along_the_direction_and_their_old_length() -> None:
    vectors, direction, _ = _planted()
    found = neutralised(vectors, direction)
    assert np.abs(cosines(found, direction)).max() < 1e-15
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.linalg.norm(vectors, axis=1))
    ratios = np.delete(found, 3, axis=1) / np.delete(vectors, 3, axis=1)
    assert ratios == pytest.approx(np.tile(ratios[:, :1], 11))  # all else keeps its proportions
    assert neutralised(np.array([[0.0, 2.0]]), np.array([0.0, 1.0])).tolist() == [[0.0, 0.0]]


def test_equalised_words_are_equally_far_from_every_neutral_word() -> None:
    vectors, direction, _ = _planted(noise=0.5)
    both = vectors[:2] * [[1.0], [3.0]]
    pair, lengths = equalised(both, direction), np.linalg.norm(both, axis=1)
    assert np.linalg.norm(pair, axis=1) == pytest.approx(lengths)
    units = pair / lengths[:, None]
    neutral = neutralised(vectors[-10:], direction)
    assert neutral @ units[0] == pytest.approx(neutral @ units[1])
    assert units[0] @ direction == pytest.approx(-(units[1] @ direction))
    assert units[0] @ direction > 0.1


def test_neighbours_tell_what_the_direction_no_longer_does() -> None:
    chance = np.random.default_rng(2)
    shares = np.linspace(1, 99, 40)
    direction, elsewhere = np.eye(30)[:2]
    vectors = 0.1 * chance.normal(size=(40, 30)) + np.outer(shares - 50, direction + elsewhere) / 25
    found = neutralised(vectors, direction)
    assert (neighbour_correlation(found, shares) or 0) > 0.9
    assert abs(neighbour_correlation(chance.normal(size=(40, 30)), shares) or 0) < 0.5
    assert neighbour_correlation(vectors[:10], shares[:10]) is None  # too few to speak of neighbours


# -- models ------------------------------------------------------------------------------------------------------------


def test_words_of_one_token(marian: Path) -> None:
    tokeniser = tokeniser_of(marian)
    professions = professions_of("es")
    words = find_words(tokeniser, professions, "it")
    assert tuple(words.pairs) == DEFINING_PAIRS[:-1]
    assert list(words.professions) == CORE
    assert {"construction worker", "doctor", "truck driver"} <= set(professions) - set(words.professions)
    assert words.professions["nurse"] == tokeniser.get_vocab()["▁nurse"]
    assert words.pairs["woman", "man"] == tuple(tokeniser.get_vocab()[f"▁{word}"] for word in ("woman", "man"))
    assert len(professions) == len(set(professions)) > 100
    assert not set(professions) & {word for pair in DEFINING_PAIRS for word in pair}


@pytest.mark.parametrize("is_tied", [True, False])
def test_only_professions_and_only_in_the_encoder(
    is_tied: bool, marian: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model = marian if is_tied else word_model(tmp_path / "model", ALL_WORDS, is_tied=False)
    files = {path.name: path.read_bytes() for path in model.iterdir()}
    capfd.readouterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        debiased = debias_model(model, "es")
        debiased.write(tmp_path / "hf")
    assert capfd.readouterr() == ("", "")  # the libraries stay quiet
    assert {path.name: path.read_bytes() for path in model.iterdir()} == files

    before, after = opened(model), opened(tmp_path / "hf")
    assert after.config.share_encoder_decoder_embeddings is False
    words = find_words(tokeniser_of(model), professions_of("es"), "it")
    rows = list(words.professions.values())
    old, new = (one.get_encoder().embed_tokens.weight.detach() for one in (before, after))
    others = [row for row in range(len(old)) if row not in rows]
    assert torch.equal(new[others], old[others])
    direction, _ = gender_direction(old.double().numpy(), list(words.pairs.values()))
    assert np.abs(cosines(new[rows].double().numpy(), direction)).max() < 1e-6
    assert new[rows].norm(dim=1).numpy() == pytest.approx(old[rows].norm(dim=1).numpy(), rel=1e-6)
    originals = before.state_dict()
    changed = {name for name, weight in after.state_dict().items() if not torch.equal(weight, originals[name])}
    assert changed == {"model.encoder.embed_tokens.weight"}
    assert after.generation_config.to_dict() == before.generation_config.to_dict()

    report = debiased.report
    assert report["direction"]["pairs"][:2] == ["she-he", "her-his"]
    assert report["direction"]["pairs_left_out"] == ["queen-king"]
    cosine = report["mean_abs_cosine"]
    assert cosine["after"] < 1e-7 < 0.01 < cosine["before"]
    assert cosine["before"] == pytest.approx(np.mean(np.abs(list(report["cosines_before"].values()))), abs=1e-4)
    assert len(report["professions"]) == 39
    assert {"construction worker", "doctor", "truck driver"} <= set(report["professions_left_out"])
    assert -1 <= report["correlation_with_share_of_women"] <= 1
    if is_tied:  # with equalising, the defining words too and no others
        equal = debias_model(model, "es", equalises=True).model.get_encoder().embed_tokens.weight.detach()
        differing = (new != equal).any(dim=1).nonzero().flatten().tolist()
        assert sorted(differing) == sorted({row for pair in words.pairs.values() for row in pair})


@pytest.mark.parametrize(
    "kind", ["m2m100", *(pytest.param(k, marks=pytest.mark.slow) for k in ("nllb", "mbart", "t5"))]
)
def test_other_kinds_of_models(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = getattr(tiny_hf, kind)(tmp_path / "model")
    words = Words({(str(n), "m"): (n, n + 1) for n in range(20, 28, 2)}, {"nurse": 30, "clerk": 31})
    monkeypatch.setattr(debias, "find_words", lambda *_: words)
    debias_model(model, "es").write(tmp_path / "hf")
    before, after = opened(model), opened(tmp_path / "hf")
    differing = after.get_encoder().embed_tokens.weight != before.get_encoder().embed_tokens.weight
    assert differing.any(dim=1).nonzero().flatten().tolist() == [30, 31]
    ids = torch.tensor([[5, 6, 7, before.config.eos_token_id]])
    with torch.inference_mode():
        old, new = (one(input_ids=ids, decoder_input_ids=ids).logits for one in (before, after))
    assert torch.equal(old, new)  # none of these words was changed


def test_both_forms_say_the_same_and_what_cannot_be_converted_is_said(
    marian: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ctranslate2 = pytest.importorskip("ctranslate2")
    debias_model(marian, "es").write(tmp_path / "hf")
    assert debias.convert(tmp_path, ("en", "es"), SOURCES) is None
    sources, targets = [*SOURCES, WITHOUT_PROFESSION], [*TARGETS, TARGETS[0]]
    before, hf, converted = (
        [found.log_probability for (found,) in api.translate(spec, sources, api.Asking("es", targets=targets))]
        for spec in (f"hf:{marian}", f"hf:{tmp_path / 'hf'}", f"ctranslate2:{tmp_path / 'ctranslate2'}")
    )
    assert converted == pytest.approx(hf, abs=1e-3)
    assert hf[2] == pytest.approx(before[2], abs=1e-5)
    assert min(abs(a - b) for a, b in zip(hf[:2], before[:2], strict=True)) > 1e-2

    converter = ctranslate2.converters.TransformersConverter
    original = converter.convert

    def convert_another(self: Any, directory: str) -> None:
        original(converter(str(marian), copy_files=["source.spm", "target.spm"]), directory)

    def refuse(self: Any, directory: str) -> None:
        raise ValueError("No conversion is registered for SoupConfig\nmore")

    for broken, words in ((convert_another, "other probabilities"), (refuse, "No conversion is registered")):
        monkeypatch.setattr(converter, "convert", broken)
        problem = debias.convert(tmp_path, ("en", "es"), SOURCES)
        assert problem is not None
        assert words in problem
        assert not (tmp_path / "ctranslate2").exists()


# -- the study ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def debiasing(marian: Path, study: Command, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command, with no more sentences of WinoMT than the uncertainty benchmark has references for."""
    referenced = {item.source for item in api.items("uncertainty", "es", data="core", parts=("referenced",)).items}
    rows, origin = winomt._core_rows()
    kept = [row for row in rows if row.sentence in referenced]
    monkeypatch.setattr(winomt, "_core_rows", lambda: (kept, origin))

    def call(base: Path, *more: str) -> Outcome:
        for name, lines in (("en", SOURCES), ("es", TARGETS)):
            (base / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return study(
            *("debias", marian, "-o", base / "study", "--to", "es", "--resamples", "100", "--store", base / "store"),
            *("--group", "referenced", "--samples", "3", "--bleu", base / "en", base / "es"),
            *("--system-option", "beam_size=1", "--system-option", "max_length=5", *more),
        )

    return call


def test_the_report_and_the_same_command_again(debiasing: Any, marian: Path, tmp_path: Path) -> None:
    # Its weights are random, and so are its words.
    refused = debiasing(tmp_path)
    assert (refused.exit_code, "--accept-unsound" in refused.err) == (2, True)
    report = debiasing(tmp_path, "--json", "--accept-unsound").json
    output = tmp_path / "study"
    assert json.loads((output / "debias.json").read_text(encoding="utf-8"))["report"] == report
    assert (report["model"], report["n_bleu"]) == (str(marian), 2)
    assert all("Unsound translations were accepted" in note for note in report["notes"])
    rows = report["comparisons"]
    keys = [(row["cell"].partition(".")[0], row["metric"], row["slice"]) for row in rows]
    of_vectors = [("vectors", name, "professions") for name in ("mean_abs_cosine", "neighbour_correlation")]
    assert keys == [*of_vectors, *(one.key for one in debias.COMPARED)]
    assert rows[0]["first"] == report["mean_abs_cosine"]["before"]
    assert rows[0]["second"] < 1e-6
    assert len(report["findings"]) == 2
    assert (output / "ctranslate2" / "model.bin").is_file()
    # The runs are ordinary ones, which other verbs can read; the table's numbers are theirs.
    compared = api.compare(output / "before", output / "after", all_metrics=True)
    theirs = {(row.cell, row.metric, row.slice): (row.first, row.second) for row in compared.comparisons}
    for row in rows[2:-1]:
        assert theirs[row["cell"], row["metric"], row["slice"]] == (row["first"], row["second"])
    known = sorted((row["p_value"], row["p_adjusted"]) for row in rows if row["p_value"] is not None)
    assert len(known) >= 3
    assert known[0][1] == pytest.approx(min(1.0, known[0][0] * len(known)))

    weights = (output / "hf" / "model.safetensors").read_bytes()
    again = debiasing(tmp_path, "--accept-unsound")
    assert (output / "hf" / "model.safetensors").read_bytes() == weights
    for name in ("before", "after"):
        manifest = json.loads((output / name / "manifest.json").read_text(encoding="utf-8"))
        assert {cell["n_asked"] for cell in manifest["cells"].values()} == {0}  # nothing is asked twice
    assert len(again.rows) == len(rows)
    assert float(again.rows[0]["first"]) == report["mean_abs_cosine"]["before"]
    said = again.err.splitlines()
    assert set(report["findings"]) <= set(said)
    before = (output / "debias.json").read_bytes()
    debiasing(tmp_path, "--equalise").is_refusal("equalises", "choose another directory with -o")
    assert (output / "debias.json").read_bytes() == before


def test_bleu_is_that_of_sacrebleu_and_paired() -> None:
    references = [f"La persona número {n} perdió las llaves de la casa." for n in range(30)]
    worse = [text.replace("las llaves", "el libro") if n % 2 else text for n, text in enumerate(references)]
    plain, good, bad = PlainSet("", references, references), Made([], references), Made([], worse)
    (row,) = compare_quality(good, bad, plain, Resampling(100), ("bleu",))
    assert row.first == pytest.approx(100)
    assert row.second == pytest.approx(sacrebleu.corpus_bleu(worse, [references]).score)
    assert row.difference == pytest.approx((row.second or 0) - 100)
    assert (row.low or 0) < row.difference < (row.high or 0) < 0
    assert (row.p_value or 1) < 0.01
    (same,) = compare_quality(bad, bad, plain, Resampling(100), ("bleu",))
    assert (same.difference, same.low, same.high, same.p_value) == (0, 0, 0, 1)


# -- refusals ----------------------------------------------------------------------------------------------------------

FEW_PAIRS = ["nurse", "clerk", "she", "he", "her", "his", "woman"]
NO_PROFESSION = ["woman", "man", "mother", "father", "girl", "boy"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path, "there is no directory"),
        (lambda path: path.mkdir(), "config.json"),
        (lambda path: (path.mkdir(), (path / "model.bin").touch()), "CTranslate2's format"),
        (tiny_hf.chat, "without an encoder (llama)"),
        (lambda path: word_model(path, FEW_PAIRS), "has 2 of the pairs she-he, woman-man"),
        (lambda path: word_model(path, NO_PROFESSION), "as a single token"),
    ],
)
def test_models_that_are_refused(make: Any, words: str, tmp_path: Path, study: Command) -> None:
    make(tmp_path / "model")
    study("debias", tmp_path / "model", "--to", "es", "-o", tmp_path / "out").is_refusal(words)
    assert not (tmp_path / "out").exists()


def test_places_and_files_that_are_refused(marian: Path, tmp_path: Path, study: Command) -> None:
    def refused(output: Path, *words: str, model: Path = marian, more: tuple[Any, ...] = ("--to", "es")) -> None:
        study("debias", model, "-o", output, *more).is_refusal(*words)

    (tmp_path / "file").touch()
    refused(tmp_path / "file", "is a file")
    refused(marian, "holds the model itself")
    # As `train demo-model` leaves it: what is in there must never be written over.
    precious = Path(shutil.copytree(marian, tmp_path / "trained" / "hf"))
    before = (precious / "model.safetensors").read_bytes()
    refused(tmp_path / "trained", str(precious), model=precious)
    assert (precious / "model.safetensors").read_bytes() == before
    (tmp_path / "debias.json").write_text("[]", encoding="utf-8")
    refused(tmp_path, "debias.json")
    (tmp_path / "debias.json").unlink()
    with locks.hold(tmp_path / ".lock"):
        refused(tmp_path, "another process is writing to")
    (tmp_path / "en").write_text("One.\nTwo.\n", encoding="utf-8")
    (tmp_path / "es").write_text("Uno.\n", encoding="utf-8")
    refused(tmp_path / "out", "has 2 lines", more=("--to", "es", "--bleu", tmp_path / "en", tmp_path / "es"))
    refused(tmp_path / "out", "tlh", more=("--to", "tlh"))
    assert not (tmp_path / "out").exists()
