"""How far does a run scale? A model of its cost from constants that are measured here; and a real run against it.

    python bench/scale.py                                   # the model, for 10^7 translations x 128 samples
    python bench/scale.py --check 1000000 --delay-ms 1      # also real runs with 1, 2 and 4 workers (takes long)

The model: workers answer side by side, the driver alone claims, writes and reads. So the time of translating is

    start + max(answers x seconds each / workers, answers x driver seconds each + shards x seconds per shard)

and more workers are of no use beyond seconds each / driver seconds each.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import gendermark
from gendermark import registry
from gendermark.executors.executor import Executor, open_executor
from gendermark.records import Request, Task, Translation
from gendermark.runs.store import Store
from gendermark.runs.translate import translate
from gendermark.runs.working import Answered
from gendermark.systems.system import Opened, System, open_system

N_REQUESTS, N_SAMPLES = 4_000, 16
N_NOTHING = 2_000
N_ALONE = 4_000
TEXT = "La médica dijo que llegaría tarde, porque el tren número {} se había parado."


class Instant(System):
    """Answers at once, so that only the driver's own time is left."""

    spec = system_id = "bench:instant"
    opened_as = Opened("bench:instant", ())
    tasks = frozenset({Task.SAMPLE})
    n_samples_per_call = 128

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        yield answers_to(requests)


def answers_to(requests: Sequence[Request]) -> list[Translation]:
    return [Translation(r.request_id, TEXT.format(n), n, None, -7.5, 21) for r in requests for n in r.samples]


class Here(Executor):
    """Stands for workers that take no time: what they would answer is made beforehand."""

    def __init__(self) -> None:
        self.seconds_of_workers = 0.0

    def each(self, work, tasks):  # type: ignore[no-untyped-def]  # noqa: ARG002
        for task in tasks:
            started = time.perf_counter()
            answered = Answered([answers_to(task.requests)], "here", ())
            self.seconds_of_workers += time.perf_counter() - started
            yield task, answered


@dataclass(frozen=True)
class Constants:
    driver_seconds_per_answer: float
    seconds_per_shard: float
    start_seconds: float
    bytes_per_answer: float

    @classmethod
    def measured(cls, n_workers: int) -> Constants:
        requests = [Request(f"Sentence {n}.", "en", "es", Task.SAMPLE, n_samples=N_SAMPLES) for n in range(N_REQUESTS)]
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "store.sqlite"
            workers = Here()
            started = time.perf_counter()
            with Store(path) as store:
                translate(Instant(), requests, store, lambda *_: None, workers)
            seconds = time.perf_counter() - started - workers.seconds_of_workers
            size = sum(file.stat().st_size for file in Path(directory).glob("store.sqlite*") if file.is_file())
        n_answers = N_REQUESTS * N_SAMPLES
        started = time.perf_counter()
        with open_executor(f"dask:{n_workers}") as cluster:
            list(cluster.each(_nothing, range(n_workers)))
            ready = time.perf_counter()
            list(cluster.each(_nothing, range(N_NOTHING)))
            done = time.perf_counter()
        return cls(seconds / n_answers, (done - ready) / N_NOTHING, ready - started, size / n_answers)


def _nothing(number: int) -> int:
    return number


@dataclass(frozen=True)
class Forecast:
    seconds: float
    driver_share: float

    @classmethod
    def of(cls, c: Constants, n_answers: float, seconds_each: float, n_shards: float, workers: int) -> Forecast:
        driver = n_answers * c.driver_seconds_per_answer + n_shards * c.seconds_per_shard
        work = n_answers * seconds_each / workers
        total = max(work, driver)
        return cls(c.start_seconds + total, driver / total)


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
        f"measured: driver {found.driver_seconds_per_answer * 1e6:.0f} µs and {found.bytes_per_answer:.0f} bytes per "
        f"answer, {found.seconds_per_shard * 1e3:.1f} ms per shard (dask), start {found.start_seconds:.1f} s"
    )
    n_answers, n_shards = given.n * given.samples, given.n / given.shard
    driver = found.driver_seconds_per_answer + found.seconds_per_shard / (given.shard * given.samples)
    print(
        f"{given.n:,.0f} translations x {given.samples} samples at {given.seconds_per_answer * 1e3:g} ms each: store "
        f"{n_answers * found.bytes_per_answer / 1e9:,.0f} GB, driver {n_answers * driver / 3600:,.1f} h of work; more "
        f"than {given.seconds_per_answer / driver:,.0f} workers would wait for it"
    )
    for workers in (1, 8, 64):
        told = Forecast.of(found, n_answers, given.seconds_per_answer, n_shards, workers)
        print(f"  {workers:>3} workers: {told.seconds / 3600:>8,.1f} h, driver busy {told.driver_share:.0%}")
    if given.check:
        check(found, given.check, given.delay_ms / 1e3)


def shards_of(n: int, seconds_each: float) -> float:
    """About how many shards a run cuts: of whole batches of 32, about a second each, never a 64th of all or more."""
    batches = n / 32
    return batches / max(1, min(1 / (32 * seconds_each), batches / 64))


def check(found: Constants, n: int, seconds_each: float) -> None:
    """Real runs of one fake translation of each sentence, without scoring: from the start of the workers to the end."""
    benchmark = registry.load("benchmark", "winomt")
    item_set = gendermark.items("winomt", "es", data="core")
    sentences = [f"The engineer said that she would be there on day {number}." for number in range(n)]
    requests = [Request(sentence, "en", "es") for sentence in sentences]
    system = open_system(f"fake:right?p=0.8&delay_ms={seconds_each * 1e3:g}")
    items = [replace(item_set.items[0], source=sentence) for sentence in sentences]
    system.prepare(benchmark, replace(item_set, items=items), requests)
    seconds_alone = _seconds_alone(system, requests[:N_ALONE])
    print(f"  the fake system alone: {seconds_alone * 1e3:.3f} ms a translation", flush=True)
    for workers in (1, 2, 4):
        told = Forecast.of(found, n, seconds_alone, shards_of(n, seconds_alone), workers)
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
