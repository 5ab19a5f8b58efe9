"""Trained models as Marian models: a folder for Transformers, one for CTranslate2, and proof that they are the same.

Two things make a model mean the same in Transformers and in CTranslate2, which has no padding in its vocabulary and
starts every translation from a zero vector: the vector of the padding is zero, and padding is never a possible answer.

Weights are rounded to 16 bits before both are written. So CTranslate2 keeps them in half the space with nothing lost,
and the two folders hold the same numbers. That includes the table of positions, which Transformers leaves out when it
writes a model and computes afresh, in 32 bits, unless it finds one.
"""

from __future__ import annotations

import json
import math
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from gendermark.io.textfiles import write_text
from gendermark.lab.corpus import Ids, Pieces
from gendermark.lab.grammar import Pair
from gendermark.lab.torch_models import N_POSITIONS, Architecture
from gendermark.systems.engine import padded
from gendermark.systems.tokenisers import Direction

_Row = TypeVar("_Row")

_LONGEST_TRANSLATION = 128
_BATCH = 50
_NEVER = -1e4
"""A logit that leaves no probability at all in 32 bits, and that 16 bits can hold."""
_ATTENTION = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "out": "out_proj"}
_FEED_FORWARD = {"feed_forward.first": "fc1", "feed_forward.second": "fc2", "feed_forward_norm": "final_layer_norm"}
_ENCODER = {
    **{f"attention.{ours}": f"self_attn.{theirs}" for ours, theirs in _ATTENTION.items()},
    "attention_norm": "self_attn_layer_norm",
    **_FEED_FORWARD,
}
_DECODER = {
    **{f"past.attention.{ours}": f"self_attn.{theirs}" for ours, theirs in _ATTENTION.items()},
    **{f"source.{ours}": f"encoder_attn.{theirs}" for ours, theirs in _ATTENTION.items()},
    "past_norm": "self_attn_layer_norm",
    "source_norm": "encoder_attn_layer_norm",
    **_FEED_FORWARD,
}


# -- Marian models -----------------------------------------------------------------------------------------------------


def marian_model(shape: Architecture, pieces: Pieces) -> Any:
    """A Marian model with one table of vectors for source, target and answer, and random weights."""
    import torch
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(
        vocab_size=len(pieces.numbers),
        d_model=shape.width,
        encoder_layers=shape.n_encoder_layers,
        decoder_layers=shape.n_decoder_layers,
        encoder_ffn_dim=shape.feed_forward,
        decoder_ffn_dim=shape.feed_forward,
        encoder_attention_heads=shape.n_heads,
        decoder_attention_heads=shape.n_heads,
        activation_function="relu",
        scale_embedding=True,
        init_std=shape.width**-0.5,
        dropout=0.0,
        max_position_embeddings=N_POSITIONS,
        pad_token_id=pieces.pad,
        decoder_start_token_id=pieces.pad,
        eos_token_id=pieces.end,
        forced_eos_token_id=None,
    )
    model: Any = MarianMTModel(config)
    with torch.no_grad():
        model.final_logits_bias[0, pieces.pad] = _NEVER
        model.get_input_embeddings().weight[pieces.pad] = 0
    model.generation_config.max_length = 256
    model.generation_config.num_beams = 1
    return model


def as_marian(model: Any, pieces: Pieces) -> Any:
    """Our transformer, with self-attention, as a Marian model."""
    import torch

    weights = {
        "model.shared.weight": model.vectors.weight,
        "model.encoder.embed_positions.weight": model.positions,
        "model.decoder.embed_positions.weight": model.positions,
    }
    for side, names in (("encoder", _ENCODER), ("decoder", _DECODER)):
        for number, layer in enumerate(getattr(model, side)):
            for name, weight in layer.named_parameters():
                part, _, kind = name.rpartition(".")
                weights[f"model.{side}.layers.{number}.{names[part]}.{kind}"] = weight
    marian = marian_model(model.shape, pieces)
    own = dict(marian.named_parameters())
    with torch.no_grad():
        for name in own.keys() - {"lm_head.weight"}:
            own[name].copy_(weights.pop(name))
    assert not weights, f"Marian has no {', '.join(weights)}"
    return marian.eval()


def log_probabilities(model: Any, sources: list[Ids], targets: list[Ids], pad: int) -> Any:
    """A tensor: the log-probability of each piece of each target, 0 where there is only padding."""
    import torch

    source, target = torch.tensor(padded(sources, pad)), torch.tensor(padded(targets, pad))
    before = torch.cat([torch.full_like(target[:, :1], pad), target[:, :-1]], dim=1)
    logits = model(input_ids=source, attention_mask=source != pad, decoder_input_ids=before, use_cache=False).logits
    found = -torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none")
    return found.view_as(target).masked_fill(target == pad, 0)


# -- files -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Exported:
    """Both forms in memory, read from the files that were written."""

    hf: Any
    ctranslate2: Any
    pieces: Pieces


def write_model(model: Any, pieces: Pieces, directory: Path, direction: Direction = ("en", "es")) -> Exported:
    """Write `hf` and `ctranslate2` in a directory, and read both again."""
    import ctranslate2
    from transformers import AutoModelForSeq2SeqLM

    hf, converted = directory / "hf", directory / "ctranslate2"
    for old in (hf, converted):
        if old.exists():
            shutil.rmtree(old)
    hf.mkdir(parents=True)
    round_to_16_bits(model.parameters())
    with _quiet():
        save_whole(model, hf)
        _write_tokenizer(pieces, hf, direction)
        converter = ctranslate2.converters.TransformersConverter(str(hf), copy_files=["source.spm", "target.spm"])
        converter.convert(str(converted), quantization="float16")
        languages = dict(zip(("source_language", "target_language"), direction, strict=True))
        write_text(converted / "gendermark.json", json.dumps(languages) + "\n")
        read_again = AutoModelForSeq2SeqLM.from_pretrained(hf).eval()
    return Exported(read_again, open_translator(converted), pieces)


def save_whole(model: Any, directory: Path) -> None:
    """As `save_pretrained`, with what Transformers leaves out since it can be computed: Marian's table of positions.

    Computed afresh it has 32 bits, where ours are rounded to 16; the model would not quite be the same.
    """
    left_out = model._keys_to_ignore_on_save
    model._keys_to_ignore_on_save = None
    try:
        model.save_pretrained(directory)
    finally:
        model._keys_to_ignore_on_save = left_out


def open_translator(directory: Path) -> Any:
    """CTranslate2 with one thread and full precision."""
    import ctranslate2

    return ctranslate2.Translator(str(directory), compute_type="float32", inter_threads=1, intra_threads=1)


def evaluate(exported: Exported, pairs: Sequence[Pair]) -> dict[str, Any]:
    """BLEU of greedy translations and perplexity, over all pairs and over the pairs of each construction."""
    sources = [exported.pieces.cut(pair.source) for pair in pairs]
    targets = [exported.pieces.cut(pair.target) for pair in pairs]
    translations = [exported.pieces.join(pieces) for pieces in _greedy_ctranslate2(exported, sources)]
    scores = [sum(row) for row in _forced_ctranslate2(exported, sources, targets)]

    def quality(chosen: Sequence[int]) -> dict[str, Any]:
        n_pieces = sum(len(targets[i]) for i in chosen)
        return {
            "n": len(chosen),
            "bleu": round(bleu([translations[i] for i in chosen], [pairs[i].target for i in chosen]), 2),
            "perplexity": round(math.exp(-sum(scores[i] for i in chosen) / n_pieces), 4),
            "identical": round(sum(translations[i] == pairs[i].target for i in chosen) / len(chosen), 4),
        }

    constructions = sorted({pair.construction for pair in pairs})
    return {
        **quality(range(len(pairs))),
        "by_construction": {
            name: quality([i for i, pair in enumerate(pairs) if pair.construction == name]) for name in constructions
        },
    }


def compare_forms(exported: Exported, pairs: Sequence[Pair]) -> dict[str, Any]:
    """How far the two forms agree, in 32 bits: greedy translations, and log-probabilities of the references."""
    sources, targets = [p.source for p in pairs], [p.target for p in pairs]
    cut_sources, cut_targets = ([exported.pieces.cut(text) for text in texts] for texts in (sources, targets))
    translated = _greedy_ctranslate2(exported, cut_sources)
    scored = _forced_ctranslate2(exported, cut_sources, cut_targets)
    greedy = _greedy_hf(exported.hf, exported.pieces, sources)
    forced = _forced_hf(exported.hf, exported.pieces, sources, targets)
    same = sum(ours == theirs for ours, theirs in zip(translated, greedy, strict=True))
    of_tokens, of_sentences = [], []
    for ours, theirs in zip(scored, forced, strict=True):
        of_tokens += [abs(a - b) for a, b in zip(ours, theirs, strict=True)]
        of_sentences.append(abs(sum(ours) - sum(theirs)))
    return {
        "n": len(pairs),
        "identical_greedy": round(same / len(pairs), 4),
        "largest_difference_of_log_probability": {
            "of_a_token": float(f"{max(of_tokens):.3g}"),
            "of_a_sentence": float(f"{max(of_sentences):.3g}"),
        },
    }


def round_to_16_bits(weights: Any) -> None:
    import torch

    with torch.no_grad():
        for weight in weights:
            weight.copy_(weight.half().float())


def _write_tokenizer(pieces: Pieces, directory: Path, direction: Direction) -> None:
    from transformers import MarianTokenizer

    pieces.write(directory)
    tokenizer: Any = MarianTokenizer(
        source_spm=str(directory / "source.spm"),
        target_spm=str(directory / "target.spm"),
        vocab=str(directory / "vocab.json"),
        source_lang=direction[0],
        target_lang=direction[1],
    )
    tokenizer.save_pretrained(directory)


@contextmanager
def _quiet() -> Iterator[None]:
    """No bars for files of a few megabytes, and no recommendation of a package that would change nothing here."""
    logging: Any = import_module("transformers.utils.logging")
    had_bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Recommended: pip install sacremoses")
            yield
    finally:
        if had_bars:
            logging.enable_progress_bar()


def _greedy_ctranslate2(exported: Exported, sources: Sequence[list[str]]) -> list[list[str]]:
    found = exported.ctranslate2.translate_batch(
        sources, beam_size=1, max_batch_size=_BATCH, max_decoding_length=_LONGEST_TRANSLATION
    )
    return [result.hypotheses[0] for result in found]


def _forced_ctranslate2(
    exported: Exported, sources: Sequence[list[str]], targets: Sequence[list[str]]
) -> list[list[float]]:
    # CTranslate2 adds the end of the target itself.
    found = exported.ctranslate2.score_batch(sources, [target[:-1] for target in targets], max_batch_size=_BATCH)
    return [list(result.log_probs) for result in found]


def _greedy_hf(model: Any, pieces: Pieces, sources: Sequence[str]) -> list[list[str]]:
    import torch

    strings = list(pieces.numbers)
    found: list[list[str]] = []
    for batch in _portions([pieces.encode(source) for source in sources]):
        rows = torch.tensor(padded(batch, pieces.pad))
        output = model.generate(
            input_ids=rows,
            attention_mask=(rows != pieces.pad).long(),
            max_new_tokens=_LONGEST_TRANSLATION,
            max_length=None,
        )
        for row in output.tolist():
            end = row.index(pieces.end) if pieces.end in row else len(row)
            found.append([strings[number] for number in row[1:end]])
    return found


def _forced_hf(model: Any, pieces: Pieces, sources: Sequence[str], targets: Sequence[str]) -> list[list[float]]:
    import torch

    found: list[list[float]] = []
    with torch.no_grad():
        for batch in _portions(list(zip(sources, targets, strict=True))):
            encoded_sources, encoded_targets = (
                [pieces.encode(text) for text in side] for side in zip(*batch, strict=True)
            )
            rows = log_probabilities(model, encoded_sources, encoded_targets, pieces.pad).tolist()
            found += [row[: len(target)] for row, target in zip(rows, encoded_targets, strict=True)]
    return found


def _portions(rows: list[_Row]) -> Iterator[list[_Row]]:
    for first in range(0, len(rows), _BATCH):
        yield rows[first : first + _BATCH]


def n_bytes(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def bleu(translations: Sequence[str], references: Sequence[str]) -> float:
    metrics: Any = import_module("sacrebleu.metrics")
    return float(metrics.BLEU().corpus_score(list(translations), [list(references)]).score)
