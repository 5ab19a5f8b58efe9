"""The trained model as files: one folder for Transformers, one for CTranslate2, and proof that they are the same model.

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
from gendermark.lab.corpus import Pieces
from gendermark.lab.demo_model import log_probabilities
from gendermark.lab.grammar import Pair
from gendermark.systems.engine import padded
from gendermark.systems.tokenisers import Direction

_Row = TypeVar("_Row")

_LONGEST_TRANSLATION = 128
_BATCH = 50


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


def bleu(translations: Sequence[str], references: Sequence[str]) -> float:
    metrics: Any = import_module("sacrebleu.metrics")
    return float(metrics.BLEU().corpus_score(list(translations), [list(references)]).score)
