"""Hard-debiasing: the arithmetic on vectors that are known, and models whose other words stay as they were."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gendermark.errors import UserError
from gendermark.lab import hard_debiasing
from gendermark.lab.export import save_whole
from gendermark.lab.hard_debiasing import (
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
from lab.word_models import ALL_WORDS, CORE, opened, tokeniser_of, torch, transformers, word_model
from systems import tiny_hf

pytestmark = pytest.mark.usefixtures("_one_thread")


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
    tokeniser = tokeniser_of(marian)
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
    model = marian if is_tied else word_model(tmp_path / "model", ALL_WORDS, is_tied=False)
    files = {path.name: path.read_bytes() for path in model.iterdir()}
    debiased = debias_model(model, "es")
    debiased.write(tmp_path / "hf")
    assert {path.name: path.read_bytes() for path in model.iterdir()} == files

    before, after = opened(model), opened(tmp_path / "hf")
    assert type(after) is type(before)
    assert after.config.share_encoder_decoder_embeddings is False
    words = find_words(tokeniser_of(model), professions_of("es"), "it")
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
    model = opened(marian)
    for part in (model.get_encoder(), model.get_decoder()):
        part.embed_positions.weight.data.copy_(part.embed_positions.weight.data.half().float())
    shutil.copytree(marian, tmp_path / "rounded")
    save_whole(model, tmp_path / "rounded")
    debias_model(tmp_path / "rounded", "es").write(tmp_path / "hf")
    found, plain = (opened(path).get_decoder().embed_positions.weight for path in (tmp_path / "hf", marian))
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
    words = find_words(tokeniser_of(marian), professions_of("es"), "it")
    one, other = (model.get_encoder().embed_tokens.weight.detach() for model in (plain, equal))
    differing = (one != other).any(dim=1).nonzero().flatten().tolist()
    assert sorted(differing) == sorted({row for pair in words.pairs.values() for row in pair})


@pytest.mark.parametrize("kind", ["m2m100", "nllb", "mbart", "t5"])
def test_other_kinds_of_models(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = getattr(tiny_hf, kind)(tmp_path / "model")
    words = Words({(str(n), "m"): (n, n + 1) for n in range(20, 28, 2)}, (), {"nurse": 30, "clerk": 31}, ())
    monkeypatch.setattr(hard_debiasing, "find_words", lambda *_: words)
    debias_model(model, "es").write(tmp_path / "hf")
    before, after = opened(model), opened(tmp_path / "hf")
    differing = after.get_encoder().embed_tokens.weight != before.get_encoder().embed_tokens.weight
    assert differing.any(dim=1).nonzero().flatten().tolist() == [30, 31]
    ids = torch.tensor([[5, 6, 7, before.config.eos_token_id]])
    with torch.inference_mode():
        old, new = (one(input_ids=ids, decoder_input_ids=ids).logits for one in (before, after))
    assert torch.equal(old, new)  # none of these words was changed


def test_a_library_that_ties_the_tables_again(marian: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    debiased = debias_model(marian, "es")
    tied = opened(marian)
    monkeypatch.setattr(hard_debiasing, "_read", lambda _: tied)
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
