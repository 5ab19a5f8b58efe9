"""Scenarios of the fault campaign that take too long for tests: verbs that are killed, folders that change, crashes."""

from __future__ import annotations

import hashlib
import http.client
import json
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from fault_areas import server as serving
from fault_areas.campaign import (
    MAIN,
    Child,
    Scenario,
    Setting,
    Surprise,
    content_of,
    differences,
    expect,
    has_key,
)
from fault_areas.disk import run_command, undisturbed
from fault_areas.web import N_ITEMS, Person, address_of, write_sheet
from made_runs import signed_again
from systems import servers

# -- annotate serve ----------------------------------------------------------------------------------------------------


def _serve(setting: Setting, sheet: Path) -> Child:
    return setting.start(["annotate", "serve", sheet, "-o", sheet.parent / "answers", "--no-open"])


def _annotate(person: Person, known: dict[int, str], until: Callable[[], bool]) -> None:
    """Answer what is not answered yet; `known` are the answers that we were told are safe."""
    who = person.ask("POST", "/join", {"name": "Ana"})[0]["who"]
    start = person.ask("GET", "/start")[0]
    keys = [choice["key"] for choice in start["choices"]]
    found = person.ask("GET", f"/answers?who={who}&seen=0")[0]["changes"]
    for item, key in known.items():
        expect(found.get(str(item), {}).get("answer") == key, f"the answer to {item} is gone")
    for item in range(len(start["items"])):
        if found.get(str(item), {}).get("answer"):
            known[item] = found[str(item)]["answer"]
            continue
        if until():
            return
        key = keys[item % len(keys)]
        sent = {"who": who, "item": item, "revision": 0, "seen": 0, "answer": key, "note": f"note {item}"}
        if person.ask("POST", "/answer", sent)[0]["is_saved"]:
            known[item] = key


def _sheet_of(sheet: Path) -> bytes:
    return (sheet.parent / "answers" / "ana.csv").read_bytes()


def kill_annotation(setting: Setting) -> None:
    calm = write_sheet(setting.place() / "sheet.csv")
    child = _serve(setting, calm)
    _annotate(Person(address_of(child)), {}, lambda: False)
    child.kill()
    expected, done = _sheet_of(calm), 0
    while done < setting.times:
        sheet, kills = write_sheet(setting.place() / "sheet.csv"), 0
        known: dict[int, str] = {}
        with setting.tally.trial(sheet.parent.name, 0):
            for _ in range(min(setting.chance.randint(1, 5), setting.times - done)):
                child = _serve(setting, sheet)
                kills += 1
                # Sometimes while it starts; mostly while it takes answers.
                seconds = setting.chance.choice((setting.chance.uniform(0.05, 0.7), 0))
                if seconds:
                    child.is_over_within(seconds)
                else:
                    n = setting.chance.randint(0, N_ITEMS // 3)
                    end = _killer(child, setting.chance.uniform(0.0, 0.05), known, n + len(known))
                    with suppress(OSError, http.client.HTTPException):
                        _annotate(Person(address_of(child)), known, end)
                child.kill()
        done += kills
        with setting.tally.trial(f"annotate serve, {sheet.parent.name}", kills):
            child = _serve(setting, sheet)
            n_safe = len(known)
            try:
                _annotate(Person(address_of(child)), known, lambda: False)
            except Surprise as problem:
                setting.tally.trouble("lost", f"{problem} ({n_safe} were safe)")
            finally:
                child.kill()
            if _sheet_of(sheet) != expected:
                setting.tally.trouble("lost", "the sheet is another one than that of an undisturbed server")
        setting.search(sheet.parent)
        setting.progress(done, setting.times)


def _killer(child: Child, seconds: float, known: dict[int, str], n: int) -> Callable[[], bool]:
    """Kills the child a little after so many answers are safe, from another thread: in the middle of one."""
    timer = threading.Timer(seconds, child.process.kill)

    def check() -> bool:
        if len(known) >= n and not timer.is_alive() and not timer.finished.is_set():
            timer.start()
        return child.process.poll() is not None

    return check


# -- data get ----------------------------------------------------------------------------------------------------------

_COMMIT = "0123456789abcdef0123456789abcdef01234567"
_FILES = {f"data/{name}.txt": (f"The {name} finished.\n" * 30_000).encode() for name in ("nurse", "cook", "farmer")}
_CARDS = """
import sys
from pathlib import Path
from gendermark.data import official
official.CARDS = Path(sys.argv.pop(1))
from gendermark.cli.app import main
main()
"""


def _write_card(directory: Path) -> Path:
    rows = ", ".join(
        f'{{ path = "{path}", size = {len(content)}, sha256 = "{hashlib.sha256(content).hexdigest()}" }}'
        for path, content in _FILES.items()
    )
    directory.mkdir()
    (directory / "toy.toml").write_text(
        f"""
        name = "toy"
        title = "Toy"
        repository = "owner/repo"
        licence = "MIT"
        licence_note = "A note."
        citation = "Nobody (2020). Toy."
        bibtex = "@misc{{toy}}"
        [[revisions]]
        id = "released"
        commit = "{_COMMIT}"
        files.data = [{rows}]
        """
    )
    return directory


def kill_downloads(setting: Setting) -> None:
    cards = _write_card(setting.directory / "cards")
    requests: list[tuple[str, int]] = []

    def send(_: servers.Server, handler: BaseHTTPRequestHandler, asked: servers.Asked) -> None:
        path = asked.path.removeprefix(f"/owner/repo/{_COMMIT}/")
        start = int(asked.headers.get("range", "bytes=0-").removeprefix("bytes=").removesuffix("-"))
        requests.append((path, start))
        content = _FILES[path][start:]
        handler.send_response(206 if start else 200)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(_FILES[path]) - 1}/{len(_FILES[path])}")
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        for at in range(0, len(content), 20_000):  # a slow line
            handler.wfile.write(content[at : at + 20_000])
            handler.wfile.flush()
            time.sleep(0.005)

    class Always:
        """The same step for every request."""

        def __bool__(self) -> bool:
            return True

        def popleft(self) -> servers.Step:
            return send

    with servers.serving(dict) as server:
        server.steps = Always()  # type: ignore[assignment]
        done = 0
        while done < setting.times:
            place, kills, complete = setting.place(), 0, set()
            variables = {"GENDERMARK_CACHE": str(place), "GENDERMARK_DATA_MIRROR": server.url}
            command: list[str | Path] = [cards, "data", "get", "toy"]
            base = place / "data" / "owner" / "repo" / _COMMIT
            n_before = len(requests)
            for _ in range(min(setting.chance.randint(1, 5), setting.times - done)):
                child = setting.start(command, _CARDS, variables)
                if child.is_over_within(setting.chance.uniform(0.2, 1.4)):
                    child.ended()
                    break
                child.kill()
                kills += 1
                again = [path for path, _ in requests[n_before:] if path in complete]
                if again:
                    setting.tally.trouble("paid_twice", f"whole files are fetched again: {again}", len(again))
                complete = {path for path in _FILES if (base / path).exists()}
                n_before = len(requests)
            if not kills:
                continue
            done += kills
            with setting.tally.trial(f"data get, {place.name}", kills):
                setting.run(command, _CARDS, variables=variables).is_good()
                for path, content in _FILES.items():
                    if (base / path).read_bytes() != content:
                        setting.tally.trouble("lost", f"{path} is not what was sent")
                left = [path.name for path in place.rglob("*.part")]
                expect(not left, f"parts are left: {left}")
            setting.progress(done, setting.times)
            shutil.rmtree(place)


# -- report and train --------------------------------------------------------------------------------------------------


def kill_reports(setting: Setting) -> None:
    run, output = setting.directory / "finished", setting.directory / "page.html"
    setting.run(
        ["run", "--system", "fake:right?p=0.8", "--to", "es", "--data", "core", "--benchmark", "simplegen", "-o", run]
    ).is_good()
    started = time.monotonic()
    setting.run(["report", run, "-o", output]).is_good()
    seconds, expected = time.monotonic() - started, output.read_bytes()
    done = 0
    while done < setting.times:
        is_there = setting.chance.random() < 0.5
        output.unlink()
        if is_there:
            output.write_bytes(b"an earlier page")
        child = setting.start(["report", run, "-o", output])
        if child.is_over_within(setting.chance.uniform(0.6 * seconds, 1.1 * seconds)):
            child.ended()
            continue
        child.kill()
        done += 1
        with setting.tally.trial(f"report {done}"):
            found = output.read_bytes() if output.exists() else None
            expect(found in (expected, b"an earlier page" if is_there else None), "half a page is left")
            setting.run(["report", run, "-o", output]).is_good()
            if output.read_bytes() != expected:
                setting.tally.trouble("lost", "the page is another one")
        setting.progress(done, setting.times)


def _model_of(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and path.parent != directory
    }
    report = json.loads((directory / "report.json").read_text())
    return {**found, "report": {key: value for key, value in report.items() if key != "seconds"}}


def kill_demo_training(setting: Setting) -> None:
    _kill_training(setting, ["demo-model", "--size", "tiny"])


def kill_model_training(setting: Setting) -> None:
    pairs = setting.directory / "pairs.tsv"
    lines = [f"The person {n} came on day {n % 31}.\tLa persona {n} vino el día {n % 31}." for n in range(400)]
    pairs.write_text("\n".join(lines) + "\n", encoding="utf-8")
    size = ["--architecture", "1,1", "--width", "16", "--heads", "2", "--n-pieces", "100", "--batch-tokens", "500"]
    often = ["--steps", "60", "--warm-up", "10", "--checkpoint-steps", "10", "--held-out", "10"]
    _kill_training(setting, ["model", "--to", "es", "--pairs", pairs, *size, *often])


def _kill_training(setting: Setting, what: Sequence[str | Path]) -> None:
    def command(directory: Path) -> list[str | Path]:
        return ["train", *what, "-o", directory]

    started = time.monotonic()
    calm = setting.place()
    setting.run(command(calm)).is_good()
    seconds, expected, done = time.monotonic() - started, _model_of(calm), 0
    while done < setting.times:
        place, kills = setting.place(), 0
        for _ in range(min(setting.chance.randint(1, 4), setting.times - done)):
            child = setting.start(command(place))
            if child.is_over_within(setting.chance.uniform(2, seconds)):
                child.ended()
                break
            child.kill()
            kills += 1
        done += kills
        with setting.tally.trial(f"train, {place.name}", kills):
            setting.run(command(place)).is_good()
            found = _model_of(place)
            changed = [name for name in {*found, *expected} if found.get(name) != expected.get(name)]
            if changed:
                setting.tally.trouble("lost", f"the model differs in {changed}")
        shutil.rmtree(place)
        setting.progress(done, setting.times)


# -- folders -----------------------------------------------------------------------------------------------------------


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


def clock_jumps(setting: Setting) -> None:
    with serving.translating(0.002) as server:
        _, expected = undisturbed(setting, server)
        for number in range(setting.times):
            place = setting.place()
            with setting.tally.trial("clock"):
                setting.run(
                    run_command(setting, server, place), JUMPING.replace("Random(7)", f"Random({number})")
                ).is_good()
                if changed := differences(content_of(place / "run"), expected):
                    setting.tally.trouble("lost", f"the run differs in {changed}")
                setting.run(["report", place / "run", "-o", place / "page.html"], JUMPING).is_good()
            setting.progress(number + 1, setting.times)


_STRANGE = (None, True, -1, 10**400, "", "\x1b[31m", [], {}, [[]], "../..", "NaN", 1.5)


def edited_manifest(setting: Setting) -> None:
    """Whatever a hand changes in the JSON of a run folder: a sentence, or a result; never a fault of ours."""
    with serving.translating() as server:
        calm, _ = undisturbed(setting, server)
        for number in range(setting.times):
            place = Path(shutil.copytree(calm, setting.place() / "copy"))
            path = place / "run" / setting.chance.choice(("manifest.json", "tiny.en-xx/result.json"))
            value = json.loads(path.read_text(encoding="utf-8"))
            where = _edit(value, setting)
            path.write_text(json.dumps(value), encoding="utf-8")
            is_signed = path.name == "result.json" and setting.chance.random() < 0.7
            if is_signed:  # so that nothing stands before the readers
                signed_again(place / "run")
            verbs = (
                ["report", place / "run", "-o", place / "page.html"],
                ["gate", place / "run", "--min", "accuracy=10"],
                ["compare", place / "run", calm / "run"],
                ["rejudge", place / "run", "-o", place / "again"],
                run_command(setting, server, place),
            )
            with setting.tally.trial(f"{path.name} {where}"):
                arguments = setting.chance.choice(verbs)
                said = setting.run(arguments)
                expect(said.code in (0, 1, 2), f"{arguments[0]} with {where}: exit {said.code} {said.err[-200:]!r}")
                if arguments[0] == "gate" and path.name == "result.json" and not is_signed:
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


def eight_runs(setting: Setting) -> None:
    """Of one store: every sentence is asked for once, and all have the same result."""
    n_runs = 8
    with serving.translating(0.02) as server:
        _, expected = undisturbed(setting, server)
        for number in range(setting.times):
            place, n_before = setting.place(), len(server.book)
            folders = [place / f"run-{one}" for one in range(n_runs)]
            with setting.tally.trial(f"{n_runs} runs", n_runs):
                started = [setting.start([*run_command(setting, server, place)[:-1], folder]) for folder in folders]
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
        _, expected = undisturbed(setting, server)
        for number in range(setting.times):
            place, n_before = setting.place(), len(server.book)
            command = run_command(setting, server, place)
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


# -- crashes -----------------------------------------------------------------------------------------------------------


_CRASHES = {
    "a bug in the client": "from gendermark.systems import openai\nopenai.OpenAI._body = lambda *_: {}['x']\n",
    "a bug that has the answer": "from gendermark.systems import chat\nchat.extract = lambda *a: 1 / 0\n",
    "no memory": "from gendermark.systems import openai\ndef f(*_): raise MemoryError\nopenai.OpenAI._body = f\n",
    "an abort": "import faulthandler, os\nfaulthandler.enable()\nfrom gendermark.systems import openai\n"
    "openai.OpenAI._body = lambda *_: os.abort()\n",
    "a segmentation fault": "import faulthandler\nfaulthandler.enable()\nfrom gendermark.systems import openai\n"
    "openai.OpenAI._body = lambda *_: faulthandler._sigsegv()\n",
}


def crashes(setting: Setting) -> None:
    """Whatever breaks, with GENDERMARK_DEBUG too: no key in what is printed."""
    with serving.translating() as server:
        for number, (name, code) in enumerate([*_CRASHES.items()][: setting.times]):
            for debug in ("", "1"):
                place = setting.place()
                command = serving.run_arguments("openai", server.url, setting.directory, place)
                child = setting.start(command, code + MAIN, {"GENDERMARK_DEBUG": debug})
                n_before = setting.tally.tracebacks
                troubles = len(setting.tally.troubles)
                said = child.ended()
                # These faults are made by us: that they are called so is right.
                setting.tally.tracebacks = n_before
                del setting.tally.troubles[troubles:]
                with setting.tally.trial(name):
                    expect(said.code != 0, "nothing broke")
                    if has_key((said.out + said.err).encode()):
                        setting.tally.trouble("secrets", f"{name} prints the key")
                    setting.search(place)
            setting.progress(number + 1, len(_CRASHES))


LONG = [
    Scenario("kills", "annotate serve", kill_annotation, 0, 42),
    Scenario("kills", "data get", kill_downloads, 0, 24),
    Scenario("kills", "report", kill_reports, 0, 9),
    Scenario("kills", "train demo-model", kill_demo_training, 0, 3),
    Scenario("kills", "train model", kill_model_training, 0, 3),
    Scenario("disk", "clock jumps", clock_jumps, 0, 3),
    Scenario("disk", "folder edited by hand", edited_manifest, 0, 400, in_children=False),
    Scenario("disk", "eight runs, one store", eight_runs, 0, 3),
    Scenario("disk", "two runs, one folder", two_on_one_folder, 0, 3),
    Scenario("secrets", "crashes", crashes, 0, 99),
]
