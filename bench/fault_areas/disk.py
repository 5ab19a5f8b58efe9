"""Area 2: disks that are full, read-only or failing; folders that change under way; many runs at once."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from fault_areas import server as serving
from fault_areas.campaign import Said, Scenario, Setting, content_of, differences, expect
from fault_areas.kills import rows_of
from fault_areas.server import Translator


def run_command(setting: Setting, server: Translator, place: Path, **options: str) -> list[str]:
    return serving.run_arguments("openai", server.url, setting.directory, place, concurrency="4", **options)


def undisturbed(setting: Setting, server: Translator) -> tuple[Path, dict[str, Any]]:
    """An undisturbed run."""
    place = setting.place()
    setting.run(run_command(setting, server, place)).is_good()
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
        _, expected = undisturbed(setting, server)
        for number in range(setting.times):
            place = setting.place()
            command = run_command(setting, server, place)
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
        calm, expected = undisturbed(setting, server)
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
                n_before, command = len(server.book), run_command(setting, server, place)
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
        calm, expected = undisturbed(setting, server)
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
                said = setting.run(run_command(setting, server, place))
                if said.code:
                    said.is_refusal("the translation cache")
                elif changed := differences(content_of(place / "run"), expected):
                    setting.tally.trouble("lost", f"{damage.__name__} of {victim.name} changes {changed} unnoticed")
            shutil.rmtree(place)
            setting.progress(number + 1, setting.times)


def _leave_log(setting: Setting, server: Translator, place: Path) -> None:
    (place / "store.sqlite").unlink()
    seconds, server.seconds = server.seconds, 0.03
    child = setting.start(run_command(setting, server, place))
    n = len(server.book)
    while len(server.book) < n + 30 and child.process.poll() is None:
        time.sleep(0.005)
    child.kill()
    server.seconds = seconds
    shutil.rmtree(place / "run", ignore_errors=True)


# -- folders -----------------------------------------------------------------------------------------------------------


def deleted_under_way(setting: Setting) -> None:
    """A run that ends well leaves a folder that can be read, or says that it was deleted; nothing is paid twice."""
    with serving.translating(0.01) as server:
        calm = setting.place()
        both = [*run_command(setting, server, calm), "--to", "yy"]
        setting.run(both).is_good()
        expected = content_of(calm / "run")
        for number in range(setting.times):
            place = setting.place()
            command = [*run_command(setting, server, place), "--to", "yy"]
            n_before = len(server.book)
            was_complete = False
            with setting.tally.trial(f"deleted {number}"):
                child = setting.start(command)
                wanted = setting.chance.choice(("run", "run/tiny.en-xx", "run/tiny.en-xx/result.json"))
                deadline = time.monotonic() + 30
                while not (place / wanted).exists() and child.process.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.001)
                time.sleep(setting.chance.uniform(0, 0.1))
                # A run that has written everything ends well, whatever is deleted later.
                with suppress(FileNotFoundError):
                    was_complete = '"finished"' in (place / "run" / "manifest.json").read_text(encoding="utf-8")
                shutil.rmtree(place / "run", ignore_errors=True)
                said = child.ended()
                if said.code:
                    said.is_refusal()
                elif not was_complete and setting.run(["report", place / "run", "-o", place / "page.html"]).code:
                    setting.tally.trouble("lost", "exit 0, but the folder that was deleted cannot be read")
                said = setting.run(command)
                said.is_good()
                if changed := differences(content_of(place / "run"), expected):
                    setting.tally.trouble("lost", f"the run differs in {changed}")
                here = server.asked[n_before:]
                if len(here) > 80 + 80:  # tiny has 80 sentences, into two languages
                    setting.tally.trouble("paid_twice", f"{len(here)} of 160 asked for", len(here) - 160)
            setting.progress(number + 1, setting.times)


SCENARIOS = [
    Scenario("disk", "full disk", full_disk, 1, 15),
    Scenario("disk", "read-only store", read_only, 1, 6),
    Scenario("disk", "damaged store", damaged_store, 2, 40),
    Scenario("disk", "folder deleted under way", deleted_under_way, 1, 8),
]
