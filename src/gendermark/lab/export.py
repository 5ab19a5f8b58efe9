"""Export trained models for Transformers and CTranslate2, and verify that both agree.

Two conditions make them agree, since CTranslate2 has no padding token and starts every translation from a zero vector:
the padding vector is zero, and padding is never an answer.

Weights are rounded to 16 bits before both are written, so that CTranslate2 stores them in half the space without loss.
This includes the position table, which Transformers omits when saving and recomputes in 32 bits unless present.
"""

from __future__ import annotations

import json
import math
import shutil
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from gendermark.io.pretrained import quietly
from gendermark.io.textfiles import write_text
from gendermark.lab.corpus import Ids, Pieces
from gendermark.lab.grammar import Pair
from gendermark.lab.torch_models import N_POSITIONS, Architecture
from gendermark.records import Request, Task, Translation
from gendermark.systems.engine import padded
from gendermark.systems.system import open_system
from gendermark.systems.tokenisers import Direction

_DIRECTION, _LONGEST = ("en", "es"), 128
"""Of the demo model."""
_NEVER = -1e4
"""A logit of zero probability in 32 bits that fits into 16."""
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
    """A tensor: the log-probability of each piece of each target, 0 for padding."""
    import torch

    source, target = torch.tensor(padded(sources, pad)), torch.tensor(padded(targets, pad))
    before = torch.cat([torch.full_like(target[:, :1], pad), target[:, :-1]], dim=1)
    logits = model(input_ids=source, attention_mask=source != pad, decoder_input_ids=before, use_cache=False).logits
    found = -torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none")
    return found.view_as(target).masked_fill(target == pad, 0)


# -- files -------------------------------------------------------------------------------------------------------------


def write_model(model: Any, pieces: Pieces, directory: Path, direction: Direction = _DIRECTION) -> None:
    import ctranslate2
    from transformers import MarianTokenizer

    hf, converted = directory / "hf", directory / "ctranslate2"
    for old in (hf, converted):
        if old.exists():
            shutil.rmtree(old)
    hf.mkdir(parents=True)
    round_to_16_bits(model.parameters())
    pieces.write(hf)
    with quietly():
        save_whole(model, hf)
        files = [str(hf / name) for name in ("source.spm", "target.spm", "vocab.json")]
        tokenizer: Any = MarianTokenizer(*files, source_lang=direction[0], target_lang=direction[1])
        tokenizer.save_pretrained(hf)
        converter = ctranslate2.converters.TransformersConverter(str(hf), copy_files=["source.spm", "target.spm"])
        converter.convert(str(converted), quantization="float16")
    languages = {"source_language": direction[0], "target_language": direction[1]}
    write_text(converted / "gendermark.json", json.dumps(languages) + "\n")


def save_whole(model: Any, directory: Path) -> None:
    """Like `save_pretrained`, with Marian's position table.

    Recomputed in 32 bits it would differ from ours, which is rounded to 16.
    """
    left_out = model._keys_to_ignore_on_save
    model._keys_to_ignore_on_save = None
    try:
        model.save_pretrained(directory)
    finally:
        model._keys_to_ignore_on_save = left_out


def round_to_16_bits(weights: Any) -> None:
    import torch

    with torch.no_grad():
        for weight in weights:
            weight.copy_(weight.half().float())


def n_bytes(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def greedy(spec: str, sources: Sequence[str], direction: Direction, max_length: int = 256) -> list[str]:
    requests = [Request(source, *direction) for source in sources]
    return [found.text or "" for found in _asked(spec, requests, max_length)]


def forced(spec: str, pairs: Sequence[tuple[str, str]], direction: Direction) -> list[Sequence[float]]:
    """The log-probability of each token of given translations."""
    requests = [Request(source, *direction, Task.SCORE, target) for source, target in pairs]
    return [found.token_log_probabilities or () for found in _asked(spec, requests, _LONGEST)]


def _asked(spec: str, requests: Sequence[Request], max_length: int) -> list[Translation]:
    precision = "dtype" if spec.startswith("hf:") else "compute_type"
    options = {"beam_size": "1", "max_length": str(max_length), precision: "float32"}
    with closing(open_system(spec, options)) as system:
        answers = {answer.request_id: answer for portion in system.answer(requests) for answer in portion}
    return [answers[request.request_id] for request in requests]


def evaluate(directory: Path, pairs: Sequence[Pair]) -> dict[str, Any]:
    """BLEU of greedy translations and perplexity, over all pairs and by construction."""
    spec = f"ctranslate2:{directory / 'ctranslate2'}"
    translations = greedy(spec, [pair.source for pair in pairs], _DIRECTION, _LONGEST)
    scores = forced(spec, [(pair.source, pair.target) for pair in pairs], _DIRECTION)

    def quality(chosen: Sequence[int]) -> dict[str, Any]:
        tokens = [score for i in chosen for score in scores[i]]
        return {
            "n": len(chosen),
            "bleu": round(bleu([translations[i] for i in chosen], [pairs[i].target for i in chosen]), 2),
            "perplexity": round(math.exp(-sum(tokens) / len(tokens)), 4),
            "identical": round(sum(translations[i] == pairs[i].target for i in chosen) / len(chosen), 4),
        }

    of_construction: dict[str, list[int]] = defaultdict(list)
    for i, pair in enumerate(pairs):
        of_construction[pair.construction].append(i)
    by_construction = {name: quality(chosen) for name, chosen in sorted(of_construction.items())}
    return {**quality(range(len(pairs))), "by_construction": by_construction}


def compare_forms(directory: Path, pairs: Sequence[Pair]) -> dict[str, Any]:
    """Agreement of the two forms, in 32 bits: greedy translations, and log-probabilities of the references."""
    specs = [f"{form}:{directory / form}" for form in ("ctranslate2", "hf")]
    texts = [greedy(spec, [pair.source for pair in pairs], _DIRECTION, _LONGEST) for spec in specs]
    scores = [forced(spec, [(pair.source, pair.target) for pair in pairs], _DIRECTION) for spec in specs]
    n_same = sum(ours == theirs for ours, theirs in zip(*texts, strict=True))
    of_tokens, of_sentences = [], []
    for ours, theirs in zip(*scores, strict=True):
        of_tokens += [abs(a - b) for a, b in zip(ours, theirs, strict=True)]
        of_sentences.append(abs(sum(ours) - sum(theirs)))
    return {
        "n": len(pairs),
        "identical_greedy": round(n_same / len(pairs), 4),
        "largest_difference_of_log_probability": {
            "of_a_token": float(f"{max(of_tokens):.3g}"),
            "of_a_sentence": float(f"{max(of_sentences):.3g}"),
        },
    }


def bleu(translations: Sequence[str], references: Sequence[str]) -> float:
    import sacrebleu

    return float(sacrebleu.corpus_bleu(list(translations), [list(references)]).score)
