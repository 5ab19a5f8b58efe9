"""Area 1: kill -9 at a random moment, the same command again, until it finishes.

What is promised of a run: what was safe is there in the end and was not asked for again; what was asked for again was
under way at a kill, by the count of the server; the folder is that of a run which nobody disturbed.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from fault_areas import server as serving
from fault_areas.campaign import KEY, MAIN, Child, Scenario, Setting, content_of, differences, expect
from fault_areas.server import Translator
from runs import children

Row = tuple[str, str, int, str]
"""System, request, sample, text."""


@dataclass(frozen=True)
class KilledRun:
    """A way to run that is killed and given again. One more is one more entry of `RUNS`."""

    name: str
    arguments: Callable[[Setting, Path, str], list[str]]
    """(setting, place, address of the server): a command that writes `run` and `store.sqlite` into the place."""
    serve: Callable[[], AbstractContextManager[Translator | None]]
    victims: Callable[[Child], None] = Child.kill
    """Kills: the process itself, or another that works for it (then the command need not end)."""
    short: int = 0
    long: int = 0
    code: str = MAIN


@contextmanager
def no_server() -> Iterator[None]:
    yield None


def _sampling(setting: Setting, place: Path, url: str) -> list[str]:
    own = setting.directory / "own.tsv"
    if not own.exists():
        # Gender, position of the noun, sentence, noun.
        rows = [
            f"{gender}\t1\tThe {noun} {what} because {pronoun} was {how}.\t{noun}\n"
            for noun in ("doctor", "nurse", "teacher", "farmer", "cook", "lawyer")
            for what, how in (("went home", "tired"), ("called the manager", "late"), ("read the letter", "curious"))
            for gender, pronoun in (("female", "she"), ("male", "he"))
        ]
        own.write_text("".join(rows))
    store, run = str(place / "store.sqlite"), str(place / "run")
    arguments = ["run", "--system", "demo:en-es", "--to", "es", "--data", f"file:{own}", "--benchmark", "uncertainty"]
    return [*arguments, "--n-samples", "4", "--resamples", "100", "--store", store, "-o", run]


def _with_workers(executor: str) -> Callable[[Setting, Path, str], list[str]]:
    def arguments(setting: Setting, place: Path, url: str) -> list[str]:
        store, run = str(place / "store.sqlite"), str(place / "run")
        system = "fake:right?p=0.8&delay_ms=1.5"
        asked = ["run", "--system", system, "--to", "es", "--data", "core", "--benchmark", "simplegen"]
        return [*asked, "--resamples", "100", "--store", store, "-o", run, "--executor", executor]

    return arguments


def _worker_then_driver(child: Child) -> None:
    """A worker is killed, its shard is handed to another, and then the driver is."""
    for worker in children.workers_of(child.process.pid)[:1]:
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
        time.sleep(0.3)
    child.kill()


RUNS = [
    KilledRun(
        "run, openai",
        lambda setting, place, url: serving.run_arguments("openai", url, setting.directory, place, concurrency="4"),
        lambda: serving.translating(0.04),
        short=2,
        long=70,
    ),
    KilledRun(
        "run, libretranslate",
        lambda setting, place, url: serving.run_arguments(
            "libretranslate", url, setting.directory, place, concurrency="1"
        ),
        lambda: serving.translating(0.3),
        long=20,
    ),
    KilledRun("run, CTranslate2 sampling", _sampling, no_server, long=32),
    KilledRun("run, processes: driver", _with_workers("processes:2"), no_server, long=10),
    KilledRun(
        "run, processes: worker and driver", _with_workers("processes:2"), no_server, _worker_then_driver, long=10
    ),
    KilledRun("run, dask: worker and driver", _with_workers("dask:2"), no_server, _worker_then_driver, long=10),
]


@dataclass
class _Story:
    """What happened in one place until its run finished."""

    n_kills: int = 0
    under_way: int = 0
    safe: list[tuple[int, set[Row]]] = field(default_factory=list)
    """After each kill: how many sentences had been asked for, and what was in the store."""


def kill_runs(kind: KilledRun, setting: Setting) -> None:
    tally = setting.tally
    with kind.serve() as server:
        url = server.url if server else ""
        calm = setting.place()
        seconds = _undisturbed(setting, kind, calm, url)
        expected, n_rows = content_of(calm / "run"), len(rows_of(calm / "store.sqlite"))
        least = min(_undisturbed(setting, kind, calm, url), seconds)  # with nothing left to ask for
        n_kills = 0
        while n_kills < setting.times:
            place, story = setting.place(), _Story()
            n_before = len(server.book) if server else 0
            wanted = min(setting.chance.randint(1, 4), setting.times - n_kills)
            for _ in range(4 * wanted):
                left = 1 - len(rows_of(place / "store.sqlite")) / n_rows
                child = setting.start(kind.arguments(setting, place, url), kind.code)
                if child.is_over_within(setting.chance.uniform(0.02, least + left * (seconds - least))):
                    child.ended()
                    break
                kind.victims(child)
                story.n_kills += 1
                if server:
                    story.under_way += server.under_way()
                    _settle(server)
                story.safe.append((len(server.book) if server else 0, rows_of(place / "store.sqlite")))
                if story.n_kills == wanted:
                    break
            if not story.n_kills:
                continue
            n_kills += story.n_kills
            with tally.trial(f"{kind.name}, {place.name}", story.n_kills):
                setting.run(kind.arguments(setting, place, url), kind.code).is_good()
                _compare(setting, place, expected, story)
                if server:
                    _reckon(setting, server, n_before, story)
            setting.search(place)
            shutil.rmtree(place)
            setting.progress(n_kills, setting.times)


def _undisturbed(setting: Setting, kind: KilledRun, place: Path, url: str) -> float:
    started = time.monotonic()
    said = setting.run(kind.arguments(setting, place, url), kind.code)
    if said.code:
        raise AssertionError(f"the campaign itself does not work: {said}")
    return time.monotonic() - started


def _settle(server: Translator) -> None:
    """Requests of a dead process are served to their end; then the books are still."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and any(not paid.sent for paid in list(server.book)):
        time.sleep(0.01)


def rows_of(store: Path) -> set[Row]:
    """What is safe in a store, read from a copy: to open it would mend what a killed process left."""
    copy = store.with_name("copy")
    copy.mkdir()
    try:
        for path in store.parent.glob(f"{store.name}*"):
            if path.is_file():
                shutil.copy(path, copy / path.name)
        if not (copy / store.name).exists():
            return set()
        with closing(sqlite3.connect(copy / store.name)) as connection:
            try:
                return set(connection.execute("SELECT system_id, request_id, sample, text FROM translation"))
            except sqlite3.OperationalError:  # killed before there was a table
                return set()
    finally:
        shutil.rmtree(copy)


def _compare(setting: Setting, place: Path, expected: dict[str, object], story: _Story) -> None:
    if changed := differences(content_of(place / "run"), expected):
        setting.tally.trouble("lost", f"the finished run differs in {changed}")
    final = rows_of(place / "store.sqlite")
    for _, safe in story.safe:
        if gone := safe - final:
            setting.tally.trouble("lost", f"{len(gone)} safe answers are gone", len(gone))
    left = [path.name for path in (place / "run").rglob(".*") if path.name != ".lock"]
    if left:
        setting.tally.notes.append(f"left behind: {', '.join(left)}")


def _reckon(setting: Setting, server: Translator, n_before: int, story: _Story) -> None:
    tally, asked = setting.tally, server.asked
    for n_asked, safe in story.safe:
        texts = {row[3] for row in safe}
        again = [source for source in asked[n_asked:] if server.translate(source) in texts]
        if again:
            tally.trouble("paid_twice", f"asked again though safe: {again[:3]}", len(again))
    here = asked[n_before:]
    n_again = len(here) - len(set(here))
    tally.asked_again += n_again
    tally.under_way += story.under_way
    if n_again > story.under_way:
        excess = n_again - story.under_way
        tally.trouble("paid_twice", f"{n_again} asked again, {story.under_way} were under way", excess)
    expect(set(server.keys) <= {"", KEY}, "the server was sent another key")


SCENARIOS = [
    Scenario("kills", kind.name, lambda setting, kind=kind: kill_runs(kind, setting), kind.short, kind.long)  # type: ignore[misc]
    for kind in RUNS
]
