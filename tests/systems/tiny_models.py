"""CTranslate2 models with random weights and real tokenisers, built here in a blink and without torch.

Their translations mean nothing, but they are not degenerate: texts differ between sources, and most of them end.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from systems.tiny_hf import ENGLISH, SPANISH, train_sentencepiece

N_POSITIONS = 64
END, UNKNOWN = "</s>", "<unk>"


def opus(directory: Path, *, marks: Sequence[str] = (), adds_end: bool = False, seed: int = 0, **shape: Any) -> Path:
    """As OPUS-MT: two SentencePiece files and one vocabulary; with `marks`, one for several targets.

    `adds_end`: as converted from Marian's own format, where the engine writes the end of the source itself.
    """
    directory.mkdir(parents=True)
    pieces = [
        *train_sentencepiece(directory / "source.spm", ENGLISH, 90),
        *train_sentencepiece(directory / "target.spm", SPANISH, 90),
    ]
    words = list(dict.fromkeys([END, UNKNOWN, *pieces, *marks]))
    return _save(directory, words, seed=seed, add_source_eos=adds_end, **shape)


def multilingual(directory: Path, languages: Sequence[str], *, seed: int = 0) -> Path:
    """As NLLB or M2M-100: one SentencePiece file, and words for the languages."""
    directory.mkdir(parents=True)
    pieces = train_sentencepiece(directory / "sentencepiece.bpe.model", ENGLISH + SPANISH, 120)
    words = ["<s>", "<pad>", END, UNKNOWN, *pieces, *languages]
    return _save(directory, words, seed=seed)


def _save(
    directory: Path,
    words: Sequence[str],
    *,
    seed: int,
    width: int = 32,
    n_layers: int = 1,
    end_bias: float = 4.0,
    scale: float = 3.0,
    quantization: str = "float32",
    add_source_eos: bool = False,
) -> Path:
    from ctranslate2.specs import common_spec, transformer_spec

    random = np.random.default_rng(seed)
    spec = transformer_spec.TransformerSpec.from_config(
        (n_layers, n_layers), 2, pre_norm=False, activation=common_spec.Activation.SWISH
    )

    def fill(layer: Any, n_out: int, n_in: int) -> None:
        layer.weight = (random.standard_normal((n_out, n_in)) * scale / n_in**0.5).astype(np.float32)
        layer.bias = np.zeros(n_out, np.float32)

    def normalise(layer: Any) -> None:
        layer.gamma, layer.beta = np.ones(width, np.float32), np.zeros(width, np.float32)

    embeddings = (random.standard_normal((len(words), width)) * 0.4).astype(np.float32)
    spec.encoder.embeddings[0].weight = spec.decoder.embeddings.weight = embeddings
    positions = random.standard_normal((N_POSITIONS, width)).astype(np.float32)
    for side in (spec.encoder, spec.decoder):
        side.position_encodings.encodings = positions
        for layer in side.layer:
            fill(layer.self_attention.linear[0], 3 * width, width)
            fill(layer.self_attention.linear[1], width, width)
            normalise(layer.self_attention.layer_norm)
            if side is spec.decoder:
                fill(layer.attention.linear[0], width, width)
                fill(layer.attention.linear[1], 2 * width, width)
                fill(layer.attention.linear[2], width, width)
                normalise(layer.attention.layer_norm)
            fill(layer.ffn.linear_0, 2 * width, width)
            fill(layer.ffn.linear_1, width, 2 * width)
            normalise(layer.ffn.layer_norm)
    spec.decoder.start_from_zero_embedding = True
    spec.decoder.projection.weight = embeddings
    bias = np.zeros(len(words), np.float32)
    bias[list(words).index(END)] = end_bias
    spec.decoder.projection.bias = bias
    spec.register_source_vocabulary(list(words))
    spec.register_target_vocabulary(list(words))
    spec.config.decoder_start_token = END
    spec.config.add_source_eos = add_source_eos
    spec.validate()
    spec.optimize(quantization)
    spec.save(str(directory))
    return directory


def own(directory: Path, *, seed: int = 34) -> Path:
    """As `gendermark train model` makes them, for `torch:`."""
    import torch
    from safetensors.torch import save_file

    from gendermark.lab.torch_models import Architecture
    from gendermark.lab.transformer import Transformer

    directory.mkdir(parents=True)
    pieces = [
        *train_sentencepiece(directory / "source.spm", ENGLISH, 90),
        *train_sentencepiece(directory / "target.spm", SPANISH, 90),
    ]
    words = [*dict.fromkeys([END, UNKNOWN, *pieces]), "<pad>"]
    shape = Architecture(1, 1, width=16, n_heads=2, feed_forward=24)
    model = Transformer(shape, len(words))
    model.initialise()
    chance = np.random.default_rng(seed)  # as torch draws other numbers on other processors
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 2:
                weight.copy_(torch.from_numpy(chance.normal(0, 2 * weight.shape[1] ** -0.5, tuple(weight.shape))))
        model.vectors.weight[0] *= 2.0  # ends are likelier than any other word
        model.vectors.weight[-1] = 0  # padding
    save_file(model.state_dict(), directory / "model.safetensors")
    facts = {"source_language": "en", "target_language": "es", "architecture": asdict(shape)}
    (directory / "gendermark.json").write_text(json.dumps(facts), encoding="utf-8")
    (directory / "vocab.json").write_text(json.dumps({word: number for number, word in enumerate(words)}))
    return directory
