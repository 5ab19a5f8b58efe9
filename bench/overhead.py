"""What do store, claims and progress add to the time of a system? Prints one line with the ratio; at most 1.05.

    PYTHONPATH=src python bench/overhead.py

The system sleeps 1 ms per sentence. The same batches go through `translate` with a fresh store on disk, and straight
to the system; both are timed in turn in the same run, so that a busy machine slows both, and medians are compared.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from gendermark.records import Request, Translation
from gendermark.runs.store import Store
from gendermark.runs.translate import translate
from gendermark.systems.system import System

N_REQUESTS, N_REPEATS = 3_000, 5
SECONDS_PER_SENTENCE = 0.001
LIMIT = 1.05


class Sleeper(System):
    spec = system_id = "bench:sleeper"
    batch_size = 32
    is_asked_again_freely = True  # as models that compute here

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        time.sleep(SECONDS_PER_SENTENCE * len(requests))
        yield [Translation(request.request_id, request.source.upper()) for request in requests]


def new_requests(repeat: int) -> list[Request]:
    """Made anew for each timing: a request computes its id once, and both ways must pay for it."""
    return [Request(f"Sentence {number} of {repeat}.", "en", "es") for number in range(N_REQUESTS)]


def seconds_directly(requests: Sequence[Request]) -> float:
    system = Sleeper()
    start = time.perf_counter()
    for first in range(0, len(requests), system.batch_size):
        for _ in system.answer(requests[first : first + system.batch_size]):
            pass
    return time.perf_counter() - start


def seconds_through_translate(requests: Sequence[Request]) -> float:
    with tempfile.TemporaryDirectory() as directory:
        start = time.perf_counter()
        with Store(Path(directory) / "store.sqlite") as store:
            answers = translate(Sleeper(), requests, store, lambda *_: None)
        elapsed = time.perf_counter() - start
    if answers.n_asked != len(requests):
        raise SystemExit(f"{answers.n_asked} requests were asked instead of {len(requests)}: the ratio means nothing")
    return elapsed


def main() -> None:
    ours, direct = [], []
    for repeat in range(N_REPEATS):
        ours.append(seconds_through_translate(new_requests(repeat)))
        direct.append(seconds_directly(new_requests(repeat)))
    ratio = median(ours) / median(direct)
    print(
        f"overhead: {ratio:.3f} of the time of the system alone, at most {LIMIT} ({median(ours):.2f} s against "
        f"{median(direct):.2f} s; {N_REQUESTS:,} requests of 1 ms in batches of 32, median of {N_REPEATS})"
    )


if __name__ == "__main__":
    main()
