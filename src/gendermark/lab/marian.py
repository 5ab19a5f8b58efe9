"""Marian models of Transformers: made anew, or of the weights of our own transformer.

Two things make a model mean the same in Transformers and in CTranslate2, which has no padding in its vocabulary and
starts every translation from a zero vector: the vector of the padding is zero, and padding is never a possible answer.
"""

from __future__ import annotations

from typing import Any

from gendermark.lab.architectures import N_POSITIONS, Architecture
from gendermark.lab.corpus import Pieces

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
