"""How far does a run scale? A model of its cost from constants that are measured here; and a real run against it.

    python bench/scale.py                                     # the model, for 10^7 translations x 128 samples
    python bench/scale.py --check 1000000 --delay-ms 0.5      # also real runs with 1, 2 and 4 workers (takes long)

The model: the driver alone speaks with the store. It looks up all requests before workers begin and reads all answers
after they end; between the two it claims, hands out and writes, while workers answer side by side. So the time of
translating is

    start + before and after + max(answers x seconds each / workers, driver's work between + shards x seconds per shard)

Before, between and after cost something for each request, and something for each of its samples.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import gendermark
from gendermark import registry
from gendermark.records import Request, Task
from gendermark.runs.executors import Executor, open_executor
from gendermark.runs.store import Store
from gendermark.runs.translate import translate
from gendermark.systems.system import System, open_system

N_REQUESTS, N_SAMPLES = 24_000, 16
N_NOTHING = 2_000
N_ALONE = 4_000

T = TypeVar("T")
R = TypeVar("R")


class Watched(Executor):
    """Another executor, and when its work began and ended."""

    def __init__(self, other: Executor) -> None:
        self._other = other
        self.seconds = self.processor = 0.0

    def each(self, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[tuple[T, R]]:
        seconds, processor = time.perf_counter(), time.process_time()
        yield from self._other.each(work, tasks)
        self.seconds += time.perf_counter() - seconds
        self.processor += time.process_time() - processor


@dataclass(frozen=True)
class Cost:
    """Of a request, and of each of its samples."""

    per_request: float
    per_sample: float

    @classmethod
    def of(cls, with_one: float, with_many: float, n_samples: int) -> Cost:
        """From what a request costs with one sample, and with many."""
        per_sample = max(0.0, (with_many - with_one) / (n_samples - 1))
        return cls(max(0.0, with_one - per_sample), per_sample)

    def __call__(self, n_requests: float, n_samples: float) -> float:
        return n_requests * (self.per_request + n_samples * self.per_sample)

    def __str__(self) -> str:
        return f"{self.per_request * 1e6:.0f} µs a request and {self.per_sample * 1e6:.0f} µs a sample"


@dataclass(frozen=True)
class Constants:
    around: Cost
    """Before workers begin and after they end."""
    between: Cost
    seconds_per_shard: float
    start_seconds: float
    bytes_per_answer: float

    @classmethod
    def measured(cls, n_workers: int) -> Constants:
        started = time.perf_counter()
        with open_executor(f"dask:{n_workers}") as cluster:
            list(cluster.each(_nothing, range(n_workers)))
            ready = time.perf_counter()
            list(cluster.each(_nothing, range(N_NOTHING)))
            done = time.perf_counter()
            one, _ = _driver_seconds(cluster, N_REQUESTS, 1)
            many, n_bytes = _driver_seconds(cluster, N_REQUESTS // N_SAMPLES, N_SAMPLES)
        around, between = (Cost.of(one[place], many[place], N_SAMPLES) for place in (0, 1))
        return cls(around, between, (done - ready) / N_NOTHING, ready - started, n_bytes)


def _nothing(number: int) -> int:
    return number


def _driver_seconds(cluster: Executor, n: int, n_samples: int) -> tuple[tuple[float, float], float]:
    """What the driver takes for a request, around the work of workers that take no time, and beside it; and the bytes
    of the store for an answer. Beside it, processor time counts: the driver waits for workers there."""
    system, requests = _fake(n, 1e-6, n_samples)
    watched = Watched(cluster)
    with tempfile.TemporaryDirectory() as directory:
        started = time.perf_counter()
        with Store(Path(directory) / "store.sqlite") as store:
            translate(system, requests, store, lambda *_: None, watched)
        seconds = time.perf_counter() - started - watched.seconds
        size = sum(file.stat().st_size for file in Path(directory).glob("store.sqlite*") if file.is_file())
    return (seconds / n, watched.processor / n), size / (n * n_samples)


def _fake(n: int, delay_ms: float, n_samples: int = 1) -> tuple[System, list[Request]]:
    """A fake system that knows so many sentences, and what is asked of it."""
    item_set = gendermark.items("winomt", "es", data="core")
    sentences = [f"The engineer said that she would be there on day {number}." for number in range(n)]
    task = Task.SAMPLE if n_samples > 1 else Task.TRANSLATE
    requests = [Request(sentence, "en", "es", task, n_samples=n_samples) for sentence in sentences]
    system = open_system(f"fake:right?p=0.8&delay_ms={delay_ms:g}")
    items = [replace(item_set.items[0], source=sentence) for sentence in sentences]
    system.prepare(registry.load("benchmark", "winomt"), replace(item_set, items=items), requests)
    return system, requests


@dataclass(frozen=True)
class Work:
    n_requests: float
    n_samples: int
    seconds_each: float
    """Of one worker, for one sample."""
    n_shards: float


@dataclass(frozen=True)
class Forecast:
    seconds: float
    driver_share: float
    """Of the time in which workers are at work."""

    @classmethod
    def of(cls, c: Constants, work: Work, workers: int) -> Forecast:
        driver = c.between(work.n_requests, work.n_samples) + work.n_shards * c.seconds_per_shard
        answering = max(work.n_requests * work.n_samples * work.seconds_each / workers, driver)
        around = c.around(work.n_requests, work.n_samples)
        return cls(c.start_seconds + around + answering, driver / answering)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=float, default=1e7, help="requests")
    parser.add_argument("--samples", type=int, default=128)
    parser.add_argument("--seconds-per-answer", type=float, default=0.005, help="of one worker")
    parser.add_argument("--shard", type=int, default=16, help="requests in a shard")
    parser.add_argument("--check", type=int, default=0, help="also run so many fake translations for real")
    parser.add_argument("--delay-ms", type=float, default=1.0)
    given = parser.parse_args()
    found = Constants.measured(2)
    print(
        f"measured (dask): driver {found.between} beside the workers, {found.around} around them; "
        f"{found.bytes_per_answer:.0f} bytes of the store a sample; {found.seconds_per_shard * 1e3:.1f} ms a shard; "
        f"start {found.start_seconds:.1f} s"
    )
    work = Work(given.n, given.samples, given.seconds_per_answer, given.n / given.shard)
    n_answers = work.n_requests * work.n_samples
    driver = found.between(work.n_requests, work.n_samples) + work.n_shards * found.seconds_per_shard
    print(
        f"{given.n:,.0f} translations x {given.samples} samples at {given.seconds_per_answer * 1e3:g} ms each: store "
        f"{n_answers * found.bytes_per_answer / 1e9:,.0f} GB, driver {driver / 3600:,.1f} h of work; more than "
        f"{n_answers * work.seconds_each / driver:,.0f} workers would wait for it"
    )
    for workers in (1, 8, 64):
        told = Forecast.of(found, work, workers)
        print(f"  {workers:>3} workers: {told.seconds / 3600:>8,.1f} h, driver busy {told.driver_share:.0%}")
    if given.check:
        check(found, given.check, given.delay_ms)


def shards_of(n: int, seconds_each: float) -> float:
    """About how many shards a run cuts: of whole batches of 32, about a second each, never a 64th of all or more."""
    batches = n / 32
    return batches / max(1, min(1 / (32 * seconds_each), batches / 64))


def check(found: Constants, n: int, delay_ms: float) -> None:
    """Real runs of one fake translation of each sentence, without scoring: from the start of the workers to the end."""
    system, requests = _fake(n, delay_ms)
    seconds_each = _seconds_alone(system, requests[:N_ALONE])
    print(f"  the fake system alone: {seconds_each * 1e3:.3f} ms a translation", flush=True)
    for workers in (1, 2, 4):
        told = Forecast.of(found, Work(n, 1, seconds_each, shards_of(n, seconds_each)), workers)
        with tempfile.TemporaryDirectory() as directory, Store(Path(directory) / "store.sqlite") as store:
            started, processor = time.perf_counter(), time.process_time()
            with open_executor(f"dask:{workers}") as cluster:
                answers = translate(system, requests, store, lambda *_: None, cluster)
            seconds, processor = time.perf_counter() - started, time.process_time() - processor
        assert answers.n_asked == n
        print(
            f"  {n:,} fake translations, {workers} workers: {seconds:,.0f} s, forecast {told.seconds:,.0f} s "
            f"({seconds / told.seconds:.2f} of it); driver {processor:,.0f} s of processor",
            flush=True,
        )


def _seconds_alone(system: System, requests: Sequence[Request]) -> float:
    """What the system takes for each, asked batch by batch and by nobody else: sleeping overshoots a little."""
    started = time.perf_counter()
    for start in range(0, len(requests), system.batch_size):
        for _ in system.answer(requests[start : start + system.batch_size]):
            pass
    return (time.perf_counter() - started) / len(requests)


if __name__ == "__main__":
    main()
