"""Training data of the demo model: generated pairs, tokenised and batched.

Everything depends on the recipe alone, so that an interrupted training finds the same batches again.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

END, UNKNOWN, PAD = "</s>", "<unk>", "<pad>"

_PAIRS_FOR_PIECES = 60_000
"""Enough to cover every word of the grammar; more only takes longer."""

_BATCHES_SORTED_TOGETHER = 100

Ids = list[int]


class Pair(Protocol):
    @property
    def source(self) -> str: ...
    @property
    def target(self) -> str: ...


class Pieces:
    """One SentencePiece model for both languages, with piece numbers in the order of Marian models.

    The end of sentence is number 0; padding is last, and removed by CTranslate2.
    """

    def __init__(self, model: bytes) -> None:
        from sentencepiece import SentencePieceProcessor

        self.model = model
        self._processor: Any = SentencePieceProcessor(model_proto=model)
        pieces = [self._processor.id_to_piece(number) for number in range(self._processor.get_piece_size())]
        ordinary = [piece for piece in pieces if piece not in (END, UNKNOWN)]
        self.numbers: dict[str, int] = {piece: n for n, piece in enumerate([END, UNKNOWN, *ordinary, PAD])}

    @property
    def end(self) -> int:
        return self.numbers[END]

    @property
    def pad(self) -> int:
        return self.numbers[PAD]

    def cut(self, text: str) -> list[str]:
        return [*self._processor.encode(text, out_type=str), END]

    def encode(self, text: str) -> Ids:
        return [self.numbers.get(piece, self.numbers[UNKNOWN]) for piece in self.cut(text)]

    def write(self, directory: Path) -> None:
        """Write the files that accompany a Marian model's weights."""
        for name in ("source.spm", "target.spm"):
            (directory / name).write_bytes(self.model)
        (directory / "vocab.json").write_text(json.dumps(self.numbers, ensure_ascii=False, indent=0), encoding="utf-8")


def train_pieces(pairs: Sequence[Pair], n_pieces: int) -> Pieces:
    import sentencepiece

    model = io.BytesIO()
    sentences = (text for pair in pairs[:_PAIRS_FOR_PIECES] for text in (pair.source, pair.target))
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=sentences,
        model_writer=model,
        model_type="unigram",
        vocab_size=n_pieces,
        hard_vocab_limit=False,  # a small sample may have fewer
        character_coverage=1.0,
        normalization_rule_name="identity",  # the usual Unicode table is larger than the rest of the model
        split_digits=True,  # unseen years are then spelled, not guessed
        unk_id=0,
        eos_id=1,
        bos_id=-1,
        pad_id=-1,
        num_threads=1,  # more threads sum in another order
        minloglevel=2,
    )
    return Pieces(model.getvalue())


@dataclass(frozen=True)
class Corpus:
    sources: Sequence[Ids]
    targets: Sequence[Ids]

    def batches(self, seed: int, tokens_per_batch: int) -> Iterator[list[int]]:
        """Endless batches of pair positions, every pair once per round.

        Pairs of similar length are batched together, so there is little padding.
        """
        n_round = 0
        while True:
            chance = random.Random(f"{seed}/{n_round}")
            order = list(range(len(self.sources)))
            chance.shuffle(order)
            n_together = _BATCHES_SORTED_TOGETHER * max(1, tokens_per_batch // 30)
            for first in range(0, len(order), n_together):
                together = sorted(order[first : first + n_together], key=self._lengths)
                batches = list(self._fill(together, tokens_per_batch))
                chance.shuffle(batches)
                yield from batches
            n_round += 1

    def _lengths(self, position: int) -> tuple[int, int]:
        return len(self.targets[position]), len(self.sources[position])

    def _fill(self, positions: Sequence[int], tokens_per_batch: int) -> Iterator[list[int]]:
        batch: list[int] = []
        longest_source = longest_target = 0
        for position in positions:
            source = max(longest_source, len(self.sources[position]))
            target = max(longest_target, len(self.targets[position]))
            if batch and (len(batch) + 1) * (source + target) > tokens_per_batch:
                yield batch
                batch, source, target = [], len(self.sources[position]), len(self.targets[position])
            batch.append(position)
            longest_source, longest_target = source, target
        if batch:
            yield batch


def encode_pairs(pairs: Sequence[Pair], pieces: Pieces) -> Corpus:
    return Corpus([pieces.encode(pair.source) for pair in pairs], [pieces.encode(pair.target) for pair in pairs])
