"""How fast is `ctranslate2:`? Prints three lines of ratios, of sentences or samples per second; more is better.

    PYTHONPATH=src python bench/engines.py [--model DIR] [--hf DIR] [--clock cpu]

(1) `translate` with a store against the bare engine on the same words in the same batches; at least 0.95.
(2) The same against the loop that a user of Hugging Face would write, same weights and beam; at least 3.
(3) 128 samples per sentence, epsilon 0.2: ours against CTranslate2's own sampling (which has no epsilon, and so draws
    from the whole distribution) and against Hugging Face's, which has.

One thread each. All are timed in turn in the same run, so that a busy machine slows all, and medians are compared; on a
very busy one `--clock cpu` counts the time on a core alone, without that of waiting for one.
`--hf` names the model that DIR was converted from (`gendermark train demo-model` leaves both); without it (2) and half
of (3) are left out.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # must be set before any engine is imported

import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import gendermark
from gendermark.records import Request, Task
from gendermark.runs.store import Store
from gendermark.runs.translate import translate
from gendermark.systems.ctranslate2 import BUNDLED, CTranslate2
from gendermark.systems.engine import by_length

MODEL = BUNDLED / "en-es"
N_REPEATS, N_TRANSLATED, N_BESIDE_HF, N_SAMPLED, N_SAMPLES = 5, 512, 128, 4, 128
BATCH_SIZE, MAX_LENGTH, EPSILON = 32, 64, 0.2
LEAST_OF_ENGINE, LEAST_OF_HF = 0.95, 3.0


def sentences(n: int) -> list[str]:
    """Of the core sets, as many as asked for; different ones."""
    found: dict[str, None] = {}
    for benchmark in ("winomt", "simplegen"):
        found |= dict.fromkeys(item.source for item in gendermark.items(benchmark, "es", data="core").items)
    return list(found)[:n]


CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def medians(clock: Callable[[], float], *functions: Callable[[], object]) -> list[float]:
    seconds: list[list[float]] = [[] for _ in functions]
    for function in functions:
        function()  # the first time costs more
    for _ in range(N_REPEATS):
        for function, found in zip(functions, seconds, strict=True):
            started = clock()
            function()
            found.append(clock() - started)
    return [median(found) for found in seconds]


def through_translate(system: CTranslate2, requests: Sequence[Request], directory: str) -> None:
    with Store(Path(directory) / f"{uuid.uuid4()}.sqlite") as store:
        # Made anew: a request computes its id once, and that is a part of the work.
        answers = translate(system, [Request(**_fields(request)) for request in requests], store, lambda *_: None)
    if answers.n_asked != len(requests):
        raise SystemExit(f"{answers.n_asked} requests were asked instead of {len(requests)}: the ratio means nothing")


def _fields(request: Request) -> dict[str, Any]:
    names = ("source", "source_language", "target_language", "task", "options", "n_samples")
    return {name: getattr(request, name) for name in names}


def bare_engine(engine: Any, words: Sequence[list[str]]) -> None:
    for batch in by_length([len(source) for source in words], BATCH_SIZE):
        engine.translate_batch([words[place] for place in batch], beam_size=5, max_decoding_length=MAX_LENGTH)


def own_sampling(engine: Any, words: Sequence[list[str]]) -> None:
    for source in words:
        engine.translate_batch(
            [source], beam_size=1, sampling_topk=0, num_hypotheses=N_SAMPLES, max_decoding_length=MAX_LENGTH
        )


class HuggingFace:
    """The loop that anyone would write."""

    def __init__(self, directory: Path) -> None:
        import torch
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, logging

        torch.set_num_threads(1)
        logging.set_verbosity_error()
        self._tokenizer = AutoTokenizer.from_pretrained(directory)
        self._model = AutoModelForSeq2SeqLM.from_pretrained(directory).eval()

    def translate(self, sources: Sequence[str]) -> None:
        for start in range(0, len(sources), BATCH_SIZE):
            self._generate(sources[start : start + BATCH_SIZE], num_beams=5, do_sample=False)

    def sample(self, sources: Sequence[str]) -> None:
        for source in sources:
            options = {"epsilon_cutoff": EPSILON, "top_k": 0, "num_return_sequences": N_SAMPLES}
            self._generate([source], do_sample=True, num_beams=1, **options)

    def _generate(self, sources: Sequence[str], **options: Any) -> list[str]:
        rows = self._tokenizer(list(sources), return_tensors="pt", padding=True)
        said = self._model.generate(**rows, max_new_tokens=MAX_LENGTH, **options)
        texts: list[str] = self._tokenizer.batch_decode(said, skip_special_tokens=True)
        return texts


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=Path, default=MODEL)
    parser.add_argument("--hf", type=Path)
    parser.add_argument("--clock", choices=sorted(CLOCKS), default="wall")
    arguments = parser.parse_args()
    if not arguments.model.is_dir():
        raise SystemExit(f"engines: there is no model at {arguments.model}; give one with --model DIR")
    with tempfile.TemporaryDirectory() as directory:
        compare(arguments, directory)


def compare(arguments: argparse.Namespace, directory: str) -> None:
    options = {"threads": "1", "workers": "1", "device": "cpu", "max_length": str(MAX_LENGTH)}
    system = CTranslate2(str(arguments.model), {**options, "batch_size": str(BATCH_SIZE)})
    sources = sentences(N_TRANSLATED)
    requests = [Request(source, "en", "es") for source in sources]
    drawn = [
        Request(source, "en", "es", Task.SAMPLE, options=(("epsilon", str(EPSILON)),), n_samples=N_SAMPLES)
        for source in sources[:: len(sources) // N_SAMPLED][:N_SAMPLED]
    ]
    frame = system._convention.frame(("en", "es"))
    words = [system._convention.source(source, frame) for source in sources]
    drawn_words = [system._convention.source(request.source, frame) for request in drawn]
    clock = CLOCKS[arguments.clock]
    engine, hf = system._engine, HuggingFace(arguments.hf) if arguments.hf else None

    ours, bare = medians(
        clock, lambda: through_translate(system, requests, directory), lambda: bare_engine(engine, words)
    )
    print(
        f"engines: with store {bare / ours:.3f} of the bare engine's speed, at least {LEAST_OF_ENGINE} "
        f"({len(sources) / ours:,.0f} against {len(sources) / bare:,.0f} sentences/s, beam 5, "
        f"batches of {BATCH_SIZE}, {engine.compute_type})"
    )
    if hf is None:
        print("engines: not beside Hugging Face, as there is no --hf DIR")
    else:
        few = requests[:: max(1, len(requests) // N_BESIDE_HF)]
        texts = [request.source for request in few]
        ours, theirs = medians(clock, lambda: through_translate(system, few, directory), lambda: hf.translate(texts))
        print(
            f"engines: {theirs / ours:.1f} times the speed of the plain Hugging Face loop, at least {LEAST_OF_HF:g} "
            f"({len(few) / ours:,.0f} against {len(few) / theirs:,.0f} sentences/s)"
        )
    sampling = [lambda: through_translate(system, drawn, directory), lambda: own_sampling(engine, drawn_words)]
    if hf is not None:
        sampling.append(lambda: hf.sample([request.source for request in drawn]))
    ours, own, *theirs_too = medians(clock, *sampling)
    beside = "".join(f", {seconds / ours:.1f} times Hugging Face's" for seconds in theirs_too)
    print(
        f"engines: {N_SAMPLES} samples at {own / ours:.1f} times the speed of CTranslate2's own sampling{beside} "
        f"({len(drawn) * N_SAMPLES / ours:,.0f} samples/s, epsilon {EPSILON:g})"
    )


if __name__ == "__main__":
    main()
