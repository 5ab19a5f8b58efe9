"""Translation models of random weights whose tokens are whole words."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gendermark.lab.debias import DEFINING_PAIRS
from gendermark.reading.occupations import core_occupations
from systems import tiny_hf

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")
SOURCES = ("The nurse called the mechanic because she had finished.", "The carpenter saw the lawyer and left.")
TARGETS = ("La enfermera llamó al mecánico porque había terminado.", "El carpintero vio a la abogada y se fue.")
WITHOUT_PROFESSION = "His mother and her father are happy."


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


def word_model(directory: Path, words: Sequence[str], *, is_tied: bool = True) -> Path:
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


def opened(directory: Path) -> Any:
    with tiny_hf.quiet():
        return transformers.AutoModelForSeq2SeqLM.from_pretrained(directory)


def tokeniser_of(directory: Path) -> Any:
    with tiny_hf.quiet():
        return transformers.AutoTokenizer.from_pretrained(directory)
