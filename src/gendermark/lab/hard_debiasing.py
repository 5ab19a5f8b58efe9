"""Hard-debiasing of a translation model (Bolukbasi et al. 2016; as Iluz et al. 2024 use it).

The vectors by which the encoder reads professions lose what they have along a gender direction. The direction is found
in the same table, from words that are gendered by definition. Only professions of one token are touched, and only in
the encoder: the decoder, which shares its table with it in most models, gets a table of its own with the old numbers.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gendermark.errors import UserError
from gendermark.lab.export import save_whole
from gendermark.linguistics.occupations import core_occupations, lexicon
from gendermark.metrics.correlations import correlation
from gendermark.metrics.metric import Floats
from gendermark.systems.huggingface_opening import loaded, locate, open_config, open_tokeniser, quietly

# Feminine first. Those of the paper that are words and not names, and others that are as clear.
_PAIRS = (
    "she-he her-his herself-himself woman-man women-men female-male girl-boy gal-guy mother-father daughter-son "
    "sister-brother wife-husband aunt-uncle niece-nephew grandmother-grandfather granddaughter-grandson queen-king"
)
DEFINING_PAIRS = tuple((feminine, masculine) for feminine, _, masculine in (p.partition("-") for p in _PAIRS.split()))
FEWEST_PAIRS = 3
N_NEIGHBOURS = 5
_N_CHECKED = 20


@dataclass(frozen=True)
class Words:
    """The words that are one token of a model, with their rows in the table of vectors; and those that are not."""

    pairs: Mapping[tuple[str, str], tuple[int, int]]
    pairs_left_out: tuple[tuple[str, str], ...]
    professions: Mapping[str, int]
    professions_left_out: tuple[str, ...]


# -- the arithmetic ---------------------------------------------------------------------------------------------------


def gender_direction(vectors: Floats, pairs: Sequence[tuple[int, int]]) -> tuple[Floats, float]:
    """The direction of gender, towards the feminine; and how much of the differences within pairs lies along it.

    First principal component of the unit vectors of all pairs, each centred on the middle of its pair.
    """
    members = _unit(vectors[np.array(pairs)])
    centred = members - members.mean(axis=1, keepdims=True)
    _, sizes, components = np.linalg.svd(centred.reshape(-1, vectors.shape[1]), full_matrices=False)
    direction = components[0]
    feminine = float((members[:, 0] - members[:, 1]).sum(axis=0) @ direction)
    share = float(sizes[0] ** 2 / (sizes**2).sum()) if sizes[0] > 0 else 0.0
    return np.asarray(-direction if feminine < 0 else direction), share


def neutralised(vectors: Floats, direction: Floats) -> Floats:
    """Without what they have along the direction, and as long as before."""
    flat = vectors - np.outer(vectors @ direction, direction)
    return np.asarray(_unit(flat) * np.linalg.norm(vectors, axis=-1, keepdims=True))


def equalised(vectors: Floats, direction: Floats) -> Floats:
    """The two words of a pair, alike in everything but the direction, and equally far out on both sides of it."""
    units = _unit(vectors)
    along = np.outer(units @ direction, direction)
    middle = (units - along).mean(axis=0)
    apart = _unit(along - along.mean(axis=0))
    far = np.sqrt(max(0.0, 1.0 - float(middle @ middle)))
    return np.asarray((middle + far * apart) * np.linalg.norm(vectors, axis=-1, keepdims=True))


def cosines(vectors: Floats, direction: Floats) -> Floats:
    return np.asarray(_unit(vectors) @ direction)


def neighbour_correlation(vectors: Floats, values: Floats) -> float | None:
    """How well the mean value of a word's nearest neighbours tells its own: what is left where one direction is gone.

    Gonen and Goldberg 2019, with the share of women in a profession as its value.
    """
    if len(values) <= 2 * N_NEIGHBOURS:
        return None
    units = _unit(vectors)
    alike = units @ units.T
    np.fill_diagonal(alike, -np.inf)
    nearest = np.argsort(-alike, axis=1, kind="stable")[:, :N_NEIGHBOURS]
    return correlation(values[nearest].mean(axis=1), values)


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0))


# -- the model --------------------------------------------------------------------------------------------------------


def find_words(tokeniser: Any, professions: Sequence[str], what: str) -> Words:
    """Which defining pairs and professions a vocabulary has as single tokens; too few of either are refused."""
    rows = {pair: tuple(_row(tokeniser, word) for word in pair) for pair in DEFINING_PAIRS}
    pairs = {pair: (a, b) for pair, (a, b) in rows.items() if a is not None and b is not None}
    if len(pairs) < FEWEST_PAIRS:
        raise UserError(
            f"the vocabulary of {what} has {len(pairs)} of the pairs she-he, woman-man ... as single tokens, and at "
            f"least {FEWEST_PAIRS} are needed to find a gender direction; give a model that reads English whole words"
        )
    found = {profession: _row(tokeniser, profession) for profession in professions}
    single = {profession: row for profession, row in found.items() if row is not None}
    if not single:
        raise UserError(
            f"the vocabulary of {what} has none of {len(found)} professions (nurse, carpenter ...) as a single token, "
            "and only those can be debiased; give a model with a larger vocabulary"
        )
    return Words(
        pairs,
        tuple(pair for pair in DEFINING_PAIRS if pair not in pairs),
        single,
        tuple(profession for profession in found if profession not in single),
    )


def _row(tokeniser: Any, word: str) -> int | None:
    """The row of a word as it stands within a sentence, if it is one token there."""
    before, both = tokeniser.tokenize("the"), tokeniser.tokenize(f"the {word}")
    if both[:-1] != before:
        return None
    row = tokeniser.convert_tokens_to_ids(both[-1])
    return None if row is None or row == tokeniser.unk_token_id else int(row)


def professions_of(target_language: str) -> list[str]:
    """All people that WinoMT speaks of, in English and in the singular."""
    core = [occupation for occupation, _, _ in core_occupations()]
    return list(dict.fromkeys([*core, *(entry.occupation for entry in lexicon(target_language))]))


@dataclass(frozen=True)
class Debiased:
    """A debiased model in memory, and what was done to which words."""

    name: str
    model: Any
    tokeniser: Any
    report: dict[str, Any]

    def write(self, directory: Path) -> None:
        """In place of what is there; proved by reading it again."""
        with quietly():
            if directory.exists():
                shutil.rmtree(directory)
            save_whole(self.model, directory)
            self.tokeniser.save_pretrained(directory)
            _check_written(self.model, _read(directory), self.name)


def debias_model(model: Path, target_language: str, *, equalises: bool = False) -> Debiased:
    """A model whose encoder reads professions without gender; the files are only read."""
    name = str(model)
    with quietly():
        place = locate(name, name, None)
        config = open_config(name, place)
        if not config.is_encoder_decoder:
            raise UserError(
                f"{name} is a model without an encoder ({config.model_type}); only translation models with an encoder "
                "and a decoder can be debiased"
            )
        tokeniser = open_tokeniser(name, place)
        words = find_words(tokeniser, professions_of(target_language), name)
        opened = _untied(loaded(name, "weights", lambda: _read(model)), list(words.professions.values()), name)
        report = _change(opened.get_encoder().get_input_embeddings().weight, words, equalises)
    return Debiased(name, opened, tokeniser, report)


def _read(directory: Path) -> Any:
    import torch
    import transformers

    return transformers.AutoModelForSeq2SeqLM.from_pretrained(
        directory, torch_dtype=torch.float32, trust_remote_code=False
    )


def _change(weight: Any, words: Words, equalises: bool) -> dict[str, Any]:
    """Neutralise the rows of the professions in a table; no other row is written to."""
    import torch

    vectors: Floats = weight.detach().double().numpy()
    pairs, rows = list(words.pairs.values()), list(words.professions.values())
    direction, share = gender_direction(vectors, pairs)
    changes = {tuple(rows): neutralised(vectors[rows], direction)}
    if equalises:
        changes |= {pair: equalised(vectors[list(pair)], direction) for pair in pairs}
    with torch.no_grad():
        for places, changed in changes.items():
            weight[list(places)] = torch.tensor(changed, dtype=weight.dtype)
    tables = (vectors, weight.detach().double().numpy())
    before, after = (cosines(table[rows], direction) for table in tables)
    others = np.setdiff1d(np.arange(len(vectors)), rows)
    women = {occupation: percent for occupation, _, percent in core_occupations()}
    known = [place for place, word in enumerate(words.professions) if word in women]
    shares = np.array([women[word] for word in words.professions if word in women], dtype=np.float64)
    neighbours = [neighbour_correlation(table[rows][known], shares) for table in tables]
    return {
        "direction": {
            "pairs": ["-".join(pair) for pair in words.pairs],
            "pairs_left_out": ["-".join(pair) for pair in words.pairs_left_out],
            "share_of_variance": share,
        },
        "equalised": equalises,
        "professions": list(words.professions),
        "professions_left_out": list(words.professions_left_out),
        "mean_abs_cosine": {
            "before": float(np.abs(before).mean()),
            "after": float(np.abs(after).mean()),
            "other_words": float(np.abs(cosines(vectors[others], direction)).mean()),
        },
        "cosines_before": {word: round(float(x), 4) for word, x in zip(words.professions, before, strict=True)},
        "correlation_with_share_of_women": correlation(before[known], shares),
        "neighbour_correlation": {"before": neighbours[0], "after": neighbours[1]},
    }


def _untied(model: Any, rows: Sequence[int], what: str) -> Any:
    """The same model, with tables of vectors for encoder and decoder that do not depend on each other."""
    import torch

    config = copy.deepcopy(model.config)
    if hasattr(config, "share_encoder_decoder_embeddings"):
        # Marian has a setting for just this; its output stays tied to the decoder's table.
        config.share_encoder_decoder_embeddings = False
        config.decoder_vocab_size = config.decoder_vocab_size or config.vocab_size
    else:
        config.tie_word_embeddings = False
    with torch.random.fork_rng(devices=[]):  # weights begin as random numbers
        free = type(model)(config).eval()
    weights = free.state_dict()
    free.load_state_dict({name: weight for name, weight in model.state_dict().items() if name in weights})
    free.generation_config = copy.deepcopy(model.generation_config)
    # Some kinds of models also compute in another way when their tables are apart.
    words = torch.tensor([[*rows[:_N_CHECKED], model.config.eos_token_id]])
    with torch.inference_mode():
        ours, theirs = (one(input_ids=words, decoder_input_ids=words).logits for one in (free, model))
    if not torch.allclose(ours, theirs, atol=1e-4):
        raise UserError(
            f"{what} cannot be debiased: this version of transformers has no model of kind {model.config.model_type} "
            "whose encoder has a table of its own; Marian models (OPUS-MT) work"
        )
    return free


def _check_written(model: Any, read_again: Any, what: str) -> None:
    """In older versions of transformers some kinds of models tie their tables again as they are read."""
    import torch

    found = read_again.state_dict()
    for name, weight in model.state_dict().items():
        if name not in found or not torch.equal(weight, found[name]):
            raise UserError(
                f"{what} cannot be debiased: with this version of transformers {name} of a model of kind "
                f"{model.config.model_type} does not survive saving; Marian models (OPUS-MT) work"
            )
