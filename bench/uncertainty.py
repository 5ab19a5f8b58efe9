"""Speed of the uncertainty measures: Shannon, gender and S3E entropy of 3,888 sentences with 128 samples each.

    PYTHONPATH=src python bench/uncertainty.py
    PYTHONPATH=src python bench/uncertainty.py memory official   # or core: a whole set with 128 samples, scored
    PYTHONPATH=src python bench/uncertainty.py models            # the models of rules paper, with random weights

Prints how many times faster they are than comparing all samples with all, on a slice of the sentences (at least 10 is
asked, with the same results to 1e-9), and the seconds for all of them. "All with all" is timed twice over: as anyone
would write it first, with dictionaries of letter sequences (each pair once), and with our own vectors but every sample
for itself, which shows what working on distinct texts alone is worth.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # must be set before numpy is imported

import math
import random
import resource
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from gendermark.benchmarks.uncertainty.similarity import LONGEST, open_similarity
from gendermark.metrics.uncertainty import Samples, cluster_entropy, s3e_entropies, shannon_entropy

N_ITEMS, N_SAMPLES, N_SLICE, N_DICTIONARIES = 3_888, 128, 100, 5
ALPHA = 8.0
SUBJECTS = ("El mecánico", "La mecánica", "El conductor", "La conductora", "El enfermero", "La enfermera")
VERBS = ("llamó a", "telefoneó a", "habló con", "contactó con", "se puso en contacto con")
OBJECTS = ("el cliente", "la clienta", "alguien", "una persona")
CLAUSES = ("para informarle de que", "para decirle que", "para avisar de que", "a fin de comunicar que")
ENDINGS = (
    "había terminado la reparación",
    "había acabado el arreglo",
    "la reparación estaba completa",
    "ya estaba hecho",
)

Entropies = tuple[float | None, float | None, float | None]


def sampled(rng: random.Random) -> list[str]:
    """128 translations of which 10 to 40 differ, a few of them frequent."""
    n_distinct = rng.randint(10, 40)
    texts: set[str] = set()
    while len(texts) < n_distinct:
        texts.add(" ".join(rng.choice(part) for part in (SUBJECTS, VERBS, OBJECTS, CLAUSES, ENDINGS)) + ".")
    ordered = sorted(texts)
    rng.shuffle(ordered)
    weights = [1 / rank for rank in range(1, n_distinct + 1)]
    drawn = ordered + rng.choices(ordered, weights, k=N_SAMPLES - n_distinct)
    rng.shuffle(drawn)
    return drawn


def gender(text: str) -> str:
    return text[:2]


def ours(items: Sequence[Sequence[str]]) -> list[Entropies]:
    counted = [Samples.of(drawn) for drawn in items]
    matrices = open_similarity("characters").matrices(samples.texts for samples in counted)
    return [
        (
            shannon_entropy(samples),
            cluster_entropy(samples, [gender(text) for text in samples.texts]),
            *s3e_entropies(samples, matrix, [ALPHA]),
        )
        for samples, matrix in zip(counted, matrices, strict=True)
    ]


def every_sample(items: Sequence[Sequence[str]]) -> list[Entropies]:
    """All samples with all, by our vectors."""
    return [_all_with_all(drawn, open_similarity("characters").matrix(drawn)) for drawn in items]


def dictionaries(items: Sequence[Sequence[str]]) -> list[Entropies]:
    """All samples with all, by dictionaries of letter sequences."""
    results = []
    for drawn in items:
        vectors = [_vector(text) for text in drawn]
        cosines = np.zeros((len(drawn), len(drawn)))
        for row, a in enumerate(vectors):
            for column in range(row + 1):
                cosines[row, column] = cosines[column, row] = _cosine(a, vectors[column])
        results.append(_all_with_all(drawn, cosines))
    return results


def _all_with_all(drawn: Sequence[str], similarities: np.ndarray) -> Entropies:
    def mean_surprisal(alike: np.ndarray) -> float:
        return float(-np.log(alike.mean(axis=1)).mean())

    texts, genders = np.array(drawn), np.array([gender(text) for text in drawn])
    return (
        mean_surprisal(texts[:, None] == texts[None, :]),
        mean_surprisal(genders[:, None] == genders[None, :]),
        mean_surprisal(np.clip(similarities, 0, 1) ** ALPHA),
    )


def _vector(text: str) -> dict[str, float]:
    vector: dict[str, float] = {}
    padded = f" {text} "
    for n in range(1, LONGEST + 1):
        counts = Counter(padded[start : start + n] for start in range(len(padded) - n + 1))
        length = math.sqrt(sum(count**2 for count in counts.values()) * LONGEST)
        vector |= {letters: count / length for letters, count in counts.items()}
    return vector


def _cosine(a: dict[str, float], b: dict[str, float]) -> float:
    return sum(weight * b[letters] for letters, weight in a.items() if letters in b)


def timed(function: Callable[[Sequence[Sequence[str]]], list[Entropies]], items: Sequence[Sequence[str]]) -> float:
    started = time.perf_counter()
    function(items)
    return time.perf_counter() - started


def memory(data: str) -> None:
    """CPU seconds and the most memory that judging a whole set takes, which must stay below 1 GB."""
    from gendermark import api
    from gendermark.benchmarks.uncertainty.judge import judge
    from gendermark.records import Translation

    rng = random.Random(1)
    item_set = api.items(api.select("uncertainty", "es", data=data)[1])
    answers = [[Translation("", text) for text in sampled(rng)] for _ in item_set.items]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    judge(item_set, answers)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"uncertainty, {data}: {len(answers):,} sentences x {N_SAMPLES} samples judged in "
        f"{time.process_time() - started:.0f} CPU s; {most / 1e6:.2f} GB at most, at most 1 "
        f"({before / 1e6:.2f} of them for the samples themselves)"
    )


# Of rules paper: shape of multilingual E5 and mDeBERTa, random weights, few words (to look up one takes no time).
ENCODERS = {
    "E5 base": ("XLMRobertaModel", 768, 12, 256),
    "E5 large": ("XLMRobertaModel", 1024, 24, 128),
    "mDeBERTa NLI": ("DebertaV2ForSequenceClassification", 768, 12, 128),
}
MOST_LETTERS_OF_A_TOKEN = 5  # about 1.4 tokens per Spanish word, as the models' own vocabularies make


def save_random(directory: Path, architecture: str, width: int, n_layers: int) -> None:
    import tokenizers
    import transformers

    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "sep_token": "[SEP]"}
    words = tokenizers.models.WordLevel({token: n for n, token in enumerate(special.values())}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(words)
    pieces = tokenizers.Regex(rf"\w{{1,{MOST_LETTERS_OF_A_TOKEN}}}|[^\w\s]")
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Split(pieces, "removed", invert=True)
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[SEP] $A [SEP]", pair="[SEP] $A [SEP] $B [SEP]", special_tokens=[("[SEP]", 2)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=512, model_input_names=["input_ids", "attention_mask"], **special
    ).save_pretrained(directory)
    shape = {
        "hidden_size": width,
        "num_hidden_layers": n_layers,
        "num_attention_heads": width // 64,
        "intermediate_size": 4 * width,
    }
    options = {"vocab_size": 1000, "max_position_embeddings": 514, "pad_token_id": 0, **shape}
    if architecture == "XLMRobertaModel":
        config = transformers.XLMRobertaConfig(type_vocab_size=1, **options)
    else:  # as microsoft/mdeberta-v3-base
        labels = {0: "entailment", 1: "neutral", 2: "contradiction"}
        config = transformers.DebertaV2Config(
            type_vocab_size=0,
            relative_attention=True,
            position_buckets=256,
            norm_rel_ebd="layer_norm",
            share_att_key=True,
            pos_att_type=["p2c", "c2p"],
            position_biased_input=False,
            id2label=labels,
            label2id={name: n for n, name in labels.items()},
            **options,
        )
    getattr(transformers, architecture)(config).save_pretrained(directory)


def models() -> None:
    """CPU time of one core, for a part and from it for all 3,888 sentences; and the time to look the answers up."""
    import torch

    from gendermark.benchmarks.uncertainty.entailment import Entailment

    torch.set_num_threads(1)
    rng = random.Random(1)
    items = [list(dict.fromkeys(sampled(rng))) for _ in range(N_ITEMS)]
    n_all = {"texts": sum(map(len, items)), "pairs": sum(math.comb(len(texts), 2) for texts in items)}
    with TemporaryDirectory() as name:
        os.environ["GENDERMARK_CACHE"] = name
        for model, (architecture, width, n_layers, n) in ENCODERS.items():
            directory = Path(name) / model.replace(" ", "-")
            save_random(directory, architecture, width, n_layers)
            if architecture == "XLMRobertaModel":
                unit, asked = "texts", list(dict.fromkeys(text for texts in items for text in texts))[:n]
                ask = partial(open_similarity(f"e5:{directory}").matrix, asked)
            else:
                unit = "pairs"
                asked = [pair for texts in items[:: len(items) // 16] for pair in combinations(texts, 2)][:n]
                ask = partial(Entailment(str(directory)), asked)
            seconds = []
            for _ in range(2):
                started = time.process_time()
                ask()
                seconds.append(time.process_time() - started)
            hours = seconds[0] / n * n_all[unit] / 3600
            print(
                f"{model}: {1000 * seconds[0] / n:.0f} CPU s for 1,000 {unit}, so {hours:.1f} core hours for the "
                f"{n_all[unit]:,} {unit} of {N_ITEMS:,} sentences (from {n} of them); "
                f"{1000 * seconds[1] / n:.2f} s for 1,000 that are known"
            )
            shutil.rmtree(directory)


def main() -> None:
    if sys.argv[1:2] == ["models"]:
        models()
        return
    if sys.argv[1:2] == ["memory"]:
        memory(sys.argv[2])
        return
    rng = random.Random(1)
    items = [sampled(rng) for _ in range(N_ITEMS)]
    part, small = items[:N_SLICE], items[:N_DICTIONARIES]
    expected, found = np.array(every_sample(part)), np.array(ours(part))
    worst = max(np.abs(expected - found).max(), np.abs(np.array(dictionaries(small)) - found[: len(small)]).max())
    if not worst < 1e-9:
        raise SystemExit(f"the ways of computing disagree by {worst:g}: the ratio would mean nothing")
    # In turn, so that a busy machine slows all; the median of three.
    rounds = [
        (timed(ours, part), timed(every_sample, part), timed(dictionaries, small) * len(part) / len(small))
        for _ in range(3)
    ]
    own, vectors, plain = np.median(rounds, axis=0)
    seconds = timed(ours, items)
    print(
        f"uncertainty: {plain / own:.0f} times faster than all samples with all, at least 10 "
        f"({own:.2f} s against {plain:.1f} s for {N_SLICE} sentences, scaled from {len(small)}; "
        f"{vectors / own:.1f} times faster than with the same vectors; results equal to {worst:.0e}); "
        f"{seconds:.1f} s for {N_ITEMS:,} sentences x {N_SAMPLES} samples, at most 180; "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB at most"
    )


if __name__ == "__main__":
    main()
