"""Area 2: disks that are full, read-only or failing; folders that change under way; many runs at once."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from faults import server as serving
from faults.campaign import MAIN, Said, Scenario, Setting, Surprise, content_of, differences, expect
from faults.kills import rows_of
from faults.server import Translator
from made_runs import without_sums

JUMPING = f"""
import datetime as module, random, time
real, chance = time.time, random.Random(7)
def shift():
    return chance.choice((0, 3e7, -3e8, 2e9, -9e8))
class Jumping(module.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(real() + shift(), tz)
module.datetime = Jumping
time.time = lambda: real() + shift()
{MAIN}
"""
"""For a child: a clock that is years off, at every look by others."""


def _command(setting: Setting, server: Translator, place: Path, **options: str) -> list[str]:
    return serving.run_arguments("openai", server.url, setting.directory, place, concurrency="4", **options)


def _expected(setting: Setting, server: Translator) -> tuple[Path, dict[str, Any]]:
    """An undisturbed run."""
    place = setting.place()
    setting.run(_command(setting, server, place)).is_good()
    return place, content_of(place / "run")


def _finish(setting: Setting, command: list[str], place: Path, expected: dict[str, Any]) -> Said:
    """The same command when nothing is wrong any more; it ends as an undisturbed run does."""
    said = setting.run(command)
    said.is_good()
    if changed := differences(content_of(place / "run"), expected):
        setting.tally.trouble("lost", f"the run differs in {changed}")
    return said


def _check_books(setting: Setting, server: Translator, n_before: int, safe: set[Any], n_under_way: int) -> None:
    """After the fault nothing that was safe is asked for again."""
    texts = {row[3] for row in safe}
    again = [source for source in server.asked[n_before:] if server.translate(source) in texts]
    if again:
        setting.tally.trouble("paid_twice", f"asked again though safe: {again[:3]}", len(again))
    setting.tally.under_way += n_under_way


@contextmanager
def small_disk(place: Path) -> Iterator[Callable[[str], None] | None]:
    """A disk of its own at a place and a way to change it; None where we may not mount."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(place)]
    if (
        os.geteuid()
        or shutil.which("mount") is None
        or subprocess.run(mount, capture_output=True, check=False).returncode
    ):
        yield None
        return
    try:
        yield lambda options: subprocess.run(["mount", "-o", f"remount,{options}", str(place)], check=True) and None
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def full_disk(setting: Setting) -> None:
    with serving.translating(0.005) as server:
        _, expected = _expected(setting, server)
        for number in range(setting.times):
            place = setting.place()
            command = _command(setting, server, place)
            kilobytes = setting.chance.randint(8, 420)
            with small_disk(place) as change, setting.tally.trial(f"{kilobytes} kB"):
                if change:
                    change(f"size={kilobytes}k")
                    said = setting.run(command)
                else:  # no file may be longer than this, which is a full disk for one file at a time
                    limit = (kilobytes * 1024, resource.RLIM_INFINITY)
                    said = setting.run(
                        command, limits=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, limit)
                    )
                if said.code:
                    said.is_refusal()
                n_before, safe = len(server.book), _rows_elsewhere(setting, place)
                if change:
                    change("size=64m")
                _finish(setting, command, place, expected)
                _check_books(setting, server, n_before, safe, 0)
            setting.progress(number + 1, setting.times)


def _rows_elsewhere(setting: Setting, place: Path) -> set[Any]:
    """The rows of a store on a disk that has no room for a copy."""
    copy = setting.place()
    for path in place.glob("store.sqlite*"):
        if path.is_file():
            shutil.copy(path, copy / path.name)
    return rows_of(copy / "store.sqlite")


def read_only(setting: Setting) -> None:
    with serving.translating() as server:
        calm, expected = _expected(setting, server)
        for number in range(setting.times):
            place = setting.place()
            with small_disk(place) as change, setting.tally.trial("read-only"):
                if change is None and os.geteuid() == 0:
                    setting.tally.tried -= 1
                    setting.tally.notes.append("nothing is read-only for root, and no disk can be mounted here")
                    return
                if setting.chance.random() < 0.5:
                    for path in calm.glob("store.sqlite"):
                        shutil.copy(path, place)
                n_before, command = len(server.book), _command(setting, server, place)
                change("ro") if change else place.chmod(0o555)
                try:
                    setting.run(command).is_refusal()
                    expect(len(server.book) == n_before, "sentences are asked for that cannot be kept")
                finally:
                    change("rw") if change else place.chmod(0o755)
                _finish(setting, command, place, expected)
            setting.progress(number + 1, setting.times)


# -- stores that are damaged -------------------------------------------------------------------------------------------


def _truncate(content: bytearray, setting: Setting) -> None:
    del content[setting.chance.randrange(len(content)) :]


def _scribble(content: bytearray, setting: Setting) -> None:
    n = setting.chance.choice((1, 16, 512, 5000))
    start = setting.chance.randrange(len(content))
    content[start : start + n] = setting.chance.randbytes(n)


def _flip(content: bytearray, setting: Setting) -> None:
    for _ in range(setting.chance.randint(1, 3)):
        content[setting.chance.randrange(len(content))] ^= 1 << setting.chance.randrange(8)


def damaged_store(setting: Setting) -> None:
    """Refused in a sentence, or used with the very same result; never another translation unnoticed."""
    with serving.translating() as server:
        calm, expected = _expected(setting, server)
        for number in range(setting.times):
            damage = setting.chance.choice((_truncate, _scribble, _flip))
            place = setting.place()
            shutil.copy(calm / "store.sqlite", place)
            if setting.chance.random() < 0.5:  # as a kill leaves it, with answers in the log beside it
                _leave_log(setting, server, place)
            victim = setting.chance.choice([path for path in place.iterdir() if path.is_file() and path.stat().st_size])
            content = bytearray(victim.read_bytes())
            damage(content, setting)
            victim.write_bytes(content)
            with setting.tally.trial(f"{damage.__name__} of {victim.name}"):
                said = setting.run(_command(setting, server, place))
                if said.code:
                    said.is_refusal("the store of translations")
                elif changed := differences(content_of(place / "run"), expected):
                    setting.tally.trouble("lost", f"{damage.__name__} of {victim.name} changes {changed} unnoticed")
            shutil.rmtree(place)
            setting.progress(number + 1, setting.times)


def _leave_log(setting: Setting, server: Translator, place: Path) -> None:
    (place / "store.sqlite").unlink()
    seconds, server.seconds = server.seconds, 0.03
    child = setting.start(_command(setting, server, place))
    n = len(server.book)
    while len(server.book) < n + 30 and child.process.poll() is None:
        time.sleep(0.005)
    child.kill()
    server.seconds = seconds
    shutil.rmtree(place / "run", ignore_errors=True)


# -- folders -----------------------------------------------------------------------------------------------------------


def clock_jumps(setting: Setting) -> None:
    with serving.translating(0.002) as server:
        _, expected = _expected(setting, server)
        for number in range(setting.times):
            place = setting.place()
            with setting.tally.trial("clock"):
                setting.run(
                    _command(setting, server, place), JUMPING.replace("Random(7)", f"Random({number})")
                ).is_good()
                if changed := differences(content_of(place / "run"), expected):
                    setting.tally.trouble("lost", f"the run differs in {changed}")
                setting.run(["report", place / "run", "-o", place / "page.html"], JUMPING).is_good()
            setting.progress(number + 1, setting.times)


def deleted_under_way(setting: Setting) -> None:
    """A run that ends well leaves a folder that can be read, or says that it was deleted; nothing is paid twice."""
    with serving.translating(0.01) as server:
        calm = setting.place()
        both = [*_command(setting, server, calm), "--to", "yy"]
        setting.run(both).is_good()
        expected = content_of(calm / "run")
        for number in range(setting.times):
            place = setting.place()
            command = [*_command(setting, server, place), "--to", "yy"]
            n_before = len(server.book)
            with setting.tally.trial(f"deleted {number}"):
                child = setting.start(command)
                wanted = setting.chance.choice(("run", "run/tiny.en-xx", "run/tiny.en-xx/result.json"))
                deadline = time.monotonic() + 30
                while not (place / wanted).exists() and child.process.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.001)
                time.sleep(setting.chance.uniform(0, 0.1))
                shutil.rmtree(place / "run", ignore_errors=True)
                said = child.ended()
                if said.code:
                    said.is_refusal()
                elif setting.run(["report", place / "run", "-o", place / "page.html"]).code:
                    setting.tally.trouble("lost", "exit 0, but the folder that was deleted cannot be read")
                said = setting.run(command)
                said.is_good()
                if changed := differences(content_of(place / "run"), expected):
                    setting.tally.trouble("lost", f"the run differs in {changed}")
                here = server.asked[n_before:]
                if len(here) > 80 + 80:  # tiny has 80 sentences, into two languages
                    setting.tally.trouble("paid_twice", f"{len(here)} of 160 asked for", len(here) - 160)
            setting.progress(number + 1, setting.times)


_STRANGE = (None, True, -1, 10**400, "", "\x1b[31m", [], {}, [[]], "../..", "NaN", 1.5)


def edited_manifest(setting: Setting) -> None:
    """Whatever a hand changes in the JSON of a run folder: a sentence, or a result; never a fault of ours."""
    with serving.translating() as server:
        calm, _ = _expected(setting, server)
        for number in range(setting.times):
            place = Path(shutil.copytree(calm, setting.place() / "copy"))
            has_sums = setting.chance.random() < 0.3
            if not has_sums:  # as earlier versions wrote it: nothing stands before the readers
                without_sums(place / "run")
            path = place / "run" / setting.chance.choice(("manifest.json", "tiny.en-xx/result.json"))
            value = json.loads(path.read_text(encoding="utf-8"))
            where = _edit(value, setting)
            path.write_text(json.dumps(value), encoding="utf-8")
            verbs = (
                ["report", place / "run", "-o", place / "page.html"],
                ["gate", place / "run", "--min", "accuracy=10"],
                ["compare", place / "run", calm / "run"],
                ["rejudge", place / "run", "-o", place / "again"],
                _command(setting, server, place),
            )
            with setting.tally.trial(f"{path.name} {where}"):
                arguments = setting.chance.choice(verbs)
                said = setting.run(arguments)
                expect(said.code in (0, 1, 2), f"{arguments[0]} with {where}: exit {said.code} {said.err[-200:]!r}")
                if has_sums and arguments[0] == "gate" and path.name == "result.json":
                    said.is_refusal()
            setting.progress(number + 1, setting.times)


def _edit(value: Any, setting: Setting) -> str:
    """Change one thing somewhere inside; where it is."""
    places: list[tuple[Any, Any, str]] = []

    def walk(part: Any, name: str) -> None:
        keys = list(part) if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else []
        for key in keys:
            places.append((part, key, f"{name}.{key}"))
            walk(part[key], f"{name}.{key}")

    walk(value, "")
    part, key, name = setting.chance.choice(places)
    if setting.chance.random() < 0.2:
        del part[key]
        return f"{name} deleted"
    strange = setting.chance.choice(_STRANGE)
    part[key] = strange
    return f"{name} = {strange!r:.20}"


def older_folder(setting: Setting) -> None:
    """A folder as version 0.1 wrote it: read, compared and gone on with."""
    with serving.translating() as server:
        calm, expected = _expected(setting, server)
        for number in range(setting.times):
            place = Path(shutil.copytree(calm, setting.place() / "copy"))
            manifest = json.loads((place / "run" / "manifest.json").read_text())
            for row in manifest["cells"].values():
                row.pop("sha256")
            manifest["config"]["selections"][0] |= {"variant": "", "aligner": ""}
            (place / "run" / "manifest.json").write_text(json.dumps(manifest))
            path = place / "run" / "tiny.en-xx" / "result.json"
            result = json.loads(path.read_text())
            result.pop("lost_by_gender", None)
            for row in result["estimates"]:
                row.pop("unit")
            path.write_text(json.dumps(result))
            with setting.tally.trial("older"):
                setting.run(["compare", place / "run", calm / "run"]).is_good()
                setting.run(["report", place / "run", "-o", place / "page.html"]).is_good()
                n_before = len(server.book)
                command = _command(setting, server, place)
                _finish(setting, command, place, expected)
                if len(server.book) > n_before:
                    n = len(server.book) - n_before
                    setting.tally.trouble("paid_twice", f"{n} asked for again in an older folder", n)
            setting.progress(number + 1, setting.times)


# -- several at once ---------------------------------------------------------------------------------------------------


def eight_runs(setting: Setting) -> None:
    """Of one store: every sentence is asked for once, and all have the same result."""
    n_runs = 8
    with serving.translating(0.02) as server:
        _, expected = _expected(setting, server)
        for number in range(setting.times):
            place, n_before = setting.place(), len(server.book)
            folders = [place / f"run-{one}" for one in range(n_runs)]
            with setting.tally.trial(f"{n_runs} runs", n_runs):
                started = [setting.start([*_command(setting, server, place)[:-1], folder]) for folder in folders]
                for child, folder in zip(started, folders, strict=True):
                    child.ended().is_good()
                    if changed := differences(content_of(folder), expected):
                        setting.tally.trouble("lost", f"one of {n_runs} runs differs in {changed}")
                here = server.asked[n_before:]
                if n_again := len(here) - len(set(here)):
                    setting.tally.trouble("paid_twice", f"{n_runs} runs asked {n_again} sentences twice", n_again)
            setting.progress(number + 1, setting.times)


def two_on_one_folder(setting: Setting) -> None:
    with serving.translating(0.03) as server:
        _, expected = _expected(setting, server)
        for number in range(setting.times):
            place, n_before = setting.place(), len(server.book)
            command = _command(setting, server, place)
            with setting.tally.trial("two"):
                first, second = setting.start(command), setting.start(command)
                ends = [first.ended(), second.ended()]
                if not any(said.code == 0 for said in ends):
                    raise Surprise(f"neither finished: {[said.sentence for said in ends]}")
                for said in ends:
                    if said.code:
                        said.is_refusal("another process is writing to")
                if changed := differences(content_of(place / "run"), expected):
                    setting.tally.trouble("lost", f"the run differs in {changed}")
                here = server.asked[n_before:]
                if n_again := len(here) - len(set(here)):
                    setting.tally.trouble("paid_twice", f"{n_again} sentences asked for twice", n_again)
            setting.progress(number + 1, setting.times)


SCENARIOS = [
    Scenario("disk", "full disk", full_disk, 1, 15),
    Scenario("disk", "read-only store", read_only, 1, 6),
    Scenario("disk", "damaged store", damaged_store, 2, 40),
    Scenario("disk", "clock jumps", clock_jumps, 0, 3),
    Scenario("disk", "folder deleted under way", deleted_under_way, 1, 8),
    Scenario("disk", "folder edited by hand", edited_manifest, 0, 400, in_children=False),
    Scenario("disk", "folder of an older version", older_folder, 0, 2),
    Scenario("disk", "eight runs, one store", eight_runs, 0, 3),
    Scenario("disk", "two runs, one folder", two_on_one_folder, 0, 3),
]
