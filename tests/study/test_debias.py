"""Hard-debiasing: the arithmetic on vectors that are known, models whose other words stay as they were, the verb."""

from __future__ import annotations

import io
import json
import shutil
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from gendermark import api, locks
from gendermark.benchmarks import winomt
from gendermark.cli import study as verb
from gendermark.errors import UserError
from gendermark.linguistics.occupations import core_occupations
from gendermark.metrics.metric import Resampling
from gendermark.models import grammar
from gendermark.models.saving import save_whole
from gendermark.runs.compare import Comparison
from gendermark.study import debias
from gendermark.study.debias import (
    DEFINING_PAIRS,
    Settings,
    Words,
    compare_bleu,
    cosines,
    debias_model,
    equalised,
    find_words,
    findings,
    gender_direction,
    neighbour_correlation,
    neutralised,
    professions_of,
    shown,
    study_debiasing,
)
from systems import tiny_hf

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")

SOURCES = ("The nurse called the mechanic because she had finished.", "The carpenter saw the lawyer and left.")
TARGETS = ("La enfermera llamó al mecánico porque había terminado.", "El carpintero vio a la abogada y se fue.")
WITHOUT_PROFESSION = "His mother and her father are happy."
REFERENCED = api.select("uncertainty", "es", data="core", parts=("referenced",))[1]
FAST = ["--group", "referenced", "--samples", "3", "--system-option", "beam_size=1", "--system-option", "max_length=5"]
QUICKLY = Resampling(n_resamples=100)


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # models as small as these only lose by more
    yield
    torch.set_num_threads(before)


def _word_pieces(sentences: Sequence[str]) -> bytes:
    """A SentencePiece model whose pieces are whole words."""
    import sentencepiece

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences),
        model_writer=written,
        model_type="word",
        vocab_size=2000,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
    )
    return written.getvalue()


def _marian(directory: Path, words: Sequence[str], *, is_tied: bool = True) -> Path:
    """As OPUS-MT, with random weights; its tokens are whole words, and it knows no others than these."""
    import sentencepiece

    directory.mkdir(parents=True)
    model = _word_pieces(["the", *words])
    for name in ("source.spm", "target.spm"):
        (directory / name).write_bytes(model)
    pieces = sentencepiece.SentencePieceProcessor(model_proto=model)
    known = [pieces.id_to_piece(number) for number in range(3, pieces.get_piece_size())]
    vocabulary = {piece: number for number, piece in enumerate(["</s>", "<unk>", *known, "<pad>"])}
    (directory / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    pad = vocabulary["<pad>"]
    config = transformers.MarianConfig(
        vocab_size=len(vocabulary),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=64,
        init_std=0.4,
        pad_token_id=pad,
        decoder_start_token_id=pad,
        eos_token_id=0,
        forced_eos_token_id=None,
        tie_word_embeddings=is_tied,
    )
    with tiny_hf.quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        made = transformers.MarianMTModel(config)
        made.model.shared.weight.data[pad] = 0
        if not is_tied:
            for part in (made.model.encoder, made.model.decoder):
                part.embed_tokens.weight.data.copy_(made.model.shared.weight.data)
        made.final_logits_bias[0, pad] = -1e4
        made.save_pretrained(directory)
        files = [str(directory / name) for name in ("source.spm", "target.spm", "vocab.json")]
        transformers.MarianTokenizer(*files, source_lang="en", target_lang="es").save_pretrained(directory)
    return directory


CORE = [name for name, _, _ in core_occupations() if " " not in name]
ALL_WORDS = (*(word for pair in DEFINING_PAIRS[:-1] for word in pair), *CORE, *" ".join((*SOURCES, *TARGETS)).split())


@pytest.fixture(scope="module")
def marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It knows all defining pairs but the last, and all occupations but the one of two words. Not to be written to."""
    return _marian(tmp_path_factory.mktemp("debias") / "marian", ALL_WORDS)


def _opened(directory: Path) -> Any:
    with tiny_hf.quiet():
        return transformers.AutoModelForSeq2SeqLM.from_pretrained(directory)


def _tokeniser(directory: Path) -> Any:
    with tiny_hf.quiet():
        return transformers.AutoTokenizer.from_pretrained(directory)


# -- the arithmetic ---------------------------------------------------------------------------------------------------


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


def test_the_length_of_vectors_does_not_move_the_direction() -> None:
    vectors, _, pairs = _planted()
    longer = vectors * np.linspace(0.1, 9, len(vectors))[:, None]
    assert gender_direction(longer, pairs)[0] == pytest.approx(gender_direction(vectors, pairs)[0])


def test_without_a_common_direction_the_first_component_holds_little() -> None:
    chance = np.random.default_rng(1)
    _, share = gender_direction(chance.normal(size=(40, 200)), [(n, n + 1) for n in range(0, 40, 2)])
    assert share < 0.15


def test_neutralised_vectors_have_nothing_along_the_direction_and_their_old_length() -> None:
    vectors, direction, _ = _planted()
    found = neutralised(vectors, direction)
    assert np.abs(cosines(found, direction)).max() < 1e-15
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.linalg.norm(vectors, axis=1))
    flat = np.delete(vectors, 3, axis=1)
    assert found[:, 3] == pytest.approx(0)
    # All else keeps its proportions.
    assert np.delete(found, 3, axis=1) / flat == pytest.approx(np.tile((np.delete(found, 3, axis=1) / flat)[:, :1], 11))


def test_what_lies_wholly_along_the_direction_becomes_nothing() -> None:
    assert neutralised(np.array([[0.0, 2.0]]), np.array([0.0, 1.0])).tolist() == [[0.0, 0.0]]


def test_equalised_words_are_equally_far_from_every_neutral_word() -> None:
    vectors, direction, _ = _planted(noise=0.5)
    pair = equalised(vectors[:2] * [[1.0], [3.0]], direction)
    lengths = np.linalg.norm(vectors[:2] * [[1.0], [3.0]], axis=1)
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
    assert np.abs(cosines(found, direction)).max() < 1e-12
    assert (neighbour_correlation(found, shares) or 0) > 0.9
    assert abs(neighbour_correlation(chance.normal(size=(40, 30)), shares) or 0) < 0.5
    assert neighbour_correlation(vectors[:10], shares[:10]) is None  # too few to speak of neighbours


# -- words ------------------------------------------------------------------------------------------------------------


def test_words_of_one_token(marian: Path) -> None:
    tokeniser = _tokeniser(marian)
    words = find_words(tokeniser, professions_of("es"), "it")
    assert tuple(words.pairs) == DEFINING_PAIRS[:-1]
    assert words.pairs_left_out == DEFINING_PAIRS[-1:]
    assert list(words.professions) == CORE
    assert {"construction worker", "doctor", "truck driver"} <= set(words.professions_left_out)
    assert words.professions["nurse"] == tokeniser.get_vocab()["▁nurse"]
    assert words.pairs["woman", "man"] == tuple(tokeniser.get_vocab()[f"▁{word}"] for word in ("woman", "man"))


def test_every_profession_is_a_noun_of_winomt() -> None:
    found = professions_of("es")
    assert len(found) == len(set(found)) > 100
    assert {"nurse", "CEO", "doctor"} <= set(found)
    assert not set(found) & {word for pair in DEFINING_PAIRS for word in pair}


# -- models -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_tied", [True, False])
def test_only_professions_and_only_in_the_encoder(is_tied: bool, marian: Path, tmp_path: Path) -> None:
    model = marian if is_tied else _marian(tmp_path / "model", ALL_WORDS, is_tied=False)
    files = {path.name: path.read_bytes() for path in model.iterdir()}
    debiased = debias_model(model, "es")
    debiased.write(tmp_path / "hf")
    assert {path.name: path.read_bytes() for path in model.iterdir()} == files

    before, after = _opened(model), _opened(tmp_path / "hf")
    assert type(after) is type(before)
    assert after.config.share_encoder_decoder_embeddings is False
    words = find_words(_tokeniser(model), professions_of("es"), "it")
    rows = list(words.professions.values())
    old, new = (one.get_encoder().embed_tokens.weight.detach() for one in (before, after))
    others = [row for row in range(len(old)) if row not in rows]
    assert torch.equal(new[others], old[others])
    assert not (new[rows] == old[rows]).all(dim=1).any()
    direction, _ = gender_direction(old.double().numpy(), list(words.pairs.values()))
    assert np.abs(cosines(new[rows].double().numpy(), direction)).max() < 1e-6
    assert new[rows].norm(dim=1).numpy() == pytest.approx(old[rows].norm(dim=1).numpy(), rel=1e-6)

    originals = before.state_dict()
    changed = {name for name, weight in after.state_dict().items() if not torch.equal(weight, originals[name])}
    assert changed == {"model.encoder.embed_tokens.weight"}
    assert after.generation_config.to_dict() == before.generation_config.to_dict()


def test_positions_that_are_rounded_stay_so(marian: Path, tmp_path: Path) -> None:
    """The demonstration model has such a table; Transformers would compute another."""
    model = _opened(marian)
    for part in (model.get_encoder(), model.get_decoder()):
        part.embed_positions.weight.data.copy_(part.embed_positions.weight.data.half().float())
    shutil.copytree(marian, tmp_path / "rounded")
    save_whole(model, tmp_path / "rounded")
    debias_model(tmp_path / "rounded", "es").write(tmp_path / "hf")
    found, plain = (_opened(path).get_decoder().embed_positions.weight for path in (tmp_path / "hf", marian))
    assert torch.equal(found, plain.half().float())
    assert not torch.equal(found, plain)


def test_what_is_said_of_the_words(marian: Path) -> None:
    report = debias_model(marian, "es").report
    assert report["direction"]["pairs"][:2] == ["she-he", "her-his"]
    assert report["direction"]["pairs_left_out"] == ["queen-king"]
    assert 0 < report["direction"]["share_of_variance"] < 1
    cosine = report["mean_abs_cosine"]
    assert cosine["after"] < 1e-7 < 0.01 < cosine["before"]
    assert cosine["before"] == pytest.approx(np.mean(np.abs(list(report["cosines_before"].values()))), abs=1e-4)
    assert len(report["professions"]) == 39
    assert -1 <= report["correlation_with_share_of_women"] <= 1


def test_equalising_changes_the_defining_words_too_and_no_others(marian: Path) -> None:
    plain, equal = (debias_model(marian, "es", equalises=equalises).model for equalises in (False, True))
    words = find_words(_tokeniser(marian), professions_of("es"), "it")
    one, other = (model.get_encoder().embed_tokens.weight.detach() for model in (plain, equal))
    differing = (one != other).any(dim=1).nonzero().flatten().tolist()
    assert sorted(differing) == sorted({row for pair in words.pairs.values() for row in pair})


@pytest.mark.parametrize("kind", ["m2m100", "nllb", "mbart", "t5"])
def test_other_kinds_of_models(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = getattr(tiny_hf, kind)(tmp_path / "model")
    words = Words({(str(n), "m"): (n, n + 1) for n in range(20, 28, 2)}, (), {"nurse": 30, "clerk": 31}, ())
    monkeypatch.setattr(debias, "find_words", lambda *_: words)
    debias_model(model, "es").write(tmp_path / "hf")
    before, after = _opened(model), _opened(tmp_path / "hf")
    differing = after.get_encoder().embed_tokens.weight != before.get_encoder().embed_tokens.weight
    assert differing.any(dim=1).nonzero().flatten().tolist() == [30, 31]
    ids = torch.tensor([[5, 6, 7, before.config.eos_token_id]])
    with torch.inference_mode():
        old, new = (one(input_ids=ids, decoder_input_ids=ids).logits for one in (before, after))
    assert torch.equal(old, new)  # none of these words was changed


def test_both_forms_say_the_same_and_another_thing_than_before(marian: Path, tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2")
    debias_model(marian, "es").write(tmp_path / "hf")
    settings = Settings(marian, "es")
    translate = debias._Translate(settings, tmp_path / "store.sqlite", debias.no_progress, lambda _: None)
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
    row = compare_bleu(references, references, worse, QUICKLY)
    assert row.first == pytest.approx(100)
    assert row.second == pytest.approx(sacrebleu.corpus_bleu(worse, [references]).score)
    assert row.low is not None
    assert row.high is not None
    assert row.difference == pytest.approx((row.second or 0) - 100)
    assert row.low < row.difference < row.high < 0
    assert row.p_value is not None
    assert row.p_value < 0.01
    same = compare_bleu(references, worse, worse, QUICKLY)
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
    return Comparison(cell, metric, part, *values, values[1] - values[0], *interval, p, p, None, 40, better)


def test_two_sentences_no_surer_than_the_numbers() -> None:
    rows = [
        _row("accuracy", (50, 50.5), (-1, 2), 0.6, "higher"),
        _row("delta_s", (40, 30), (-14, -6), 0.001, "zero"),
        _row("delta_g", (10, 15), (2, 8), 0.001, "zero"),
        _row("h_gender", (0.2, 0.3), (0.05, 0.15), 0.001, "neither"),
        _row("bleu", (70, 69.9), (-0.3, 0.1), 0.4, "higher"),
    ]
    assert findings(rows) == [
        "WinoMT accuracy went from 50.0 to 50.5 (by 0.5, -1.0 to 2.0: cannot be told from chance); its gap between "
        "stereotypical and other sentences went from 40.0 to 30.0 (by -10.0, -14.0 to -6.0: better); its gap between "
        "men and women went from 10.0 to 15.0 (by 5.0, 2.0 to 8.0: worse).",
        "Gender entropy where the sentence leaves the gender open went from 0.200 to 0.300 (by 0.100, 0.050 to 0.150: "
        "more than chance); BLEU went from 70.0 to 69.9 (by -0.1, -0.3 to 0.1: cannot be told from chance).",
    ]
    # A gap that turns to the other side may be of another size and yet within chance.
    turned = _row("delta_g", (0.4, -1.9), (-6, 1.5), 0.01, "zero")
    assert turned.change() == "worse"
    assert findings([turned]) == [
        "Its gap between men and women went from 0.4 to -1.9 (by -2.3, -6.0 to 1.5: cannot be told from chance)."
    ]
    empty = replace(rows[1], first=None, difference=None)
    assert findings([empty]) == ["Its gap between stereotypical and other sentences has no value to compare."]
    assert shown(None, "accuracy") == "–"
    assert shown(-0.04, "bleu") == "0.0"


def test_a_model_that_cannot_be_converted_is_said(marian: Path, tmp_path: Path, monkeypatch: Any) -> None:
    ctranslate2 = pytest.importorskip("ctranslate2")
    shutil.copytree(marian, tmp_path / "hf")
    translate = debias._Translate(Settings(marian, "es"), tmp_path / "s", debias.no_progress, lambda _: None)
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
    model = _marian(tmp_path / "model", ["nurse", "clerk", "she", "he", "her", "his", "woman"])
    assert _refused(Settings(model, "es"), tmp_path / "out") == (
        f"the vocabulary of {model} has 2 of the pairs she-he, woman-man ... as single tokens, and at least 3 are "
        "needed to find a gender direction; give a model that reads English whole words"
    )
    assert not (tmp_path / "out").exists()


def test_no_profession(tmp_path: Path) -> None:
    model = _marian(tmp_path / "model", ["woman", "man", "mother", "father", "girl", "boy"])
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


def test_a_library_that_ties_the_tables_again(marian: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    debiased = debias_model(marian, "es")
    tied = _opened(marian)
    monkeypatch.setattr(debias, "_read", lambda _: tied)
    with pytest.raises(UserError) as caught:
        debiased.write(tmp_path / "hf")
    assert str(caught.value) == (
        f"{marian} cannot be debiased: with this version of transformers model.encoder.embed_tokens.weight of a model "
        "of kind marian does not survive saving; Marian models (OPUS-MT) work"
    )


def test_a_kind_that_computes_otherwise_when_untied(marian: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n_built = 0
    original = transformers.MarianMTModel.forward

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal n_built
        found = original(self, *args, **kwargs)
        n_built += 1
        found.logits = found.logits * n_built
        return found

    monkeypatch.setattr(transformers.MarianMTModel, "forward", forward)
    with pytest.raises(UserError, match=r"has no model of kind marian whose encoder has a table of its own; Marian"):
        debias_model(marian, "es")


def test_the_libraries_stay_quiet(marian: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        debias_model(marian, "es").write(tmp_path / "hf")
    assert capfd.readouterr() == ("", "")
