"""Area 6: the key. Every process of the campaign has it in its environment; here others try to bring it out.

(All other scenarios look for it too, in whatever is said and written.)
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fault_areas import server as serving
from fault_areas.campaign import IMPATIENT, KEY, KEY_VARIABLES, Scenario, Setting, expect, has_key
from fault_areas.server import answer_to
from systems import servers
from systems.servers import Asked, Step

_FORMS: dict[str, Callable[[str], str]] = {
    "as it is": lambda key: key,
    "as a header": lambda key: f"Authorization: Bearer {key}",
    "in JSON": lambda key: json.dumps({"k": key}),
    "URL-encoded": lambda key: quote(key, safe=""),
    "behind an escape": lambda key: f"\x1b[31m{key}",
    "far behind": lambda key: "x" * 190 + key,
}


def _echoing(code: int, form: Callable[[str], str], where: str) -> Step:
    def show(asked: Asked) -> Any:
        words = form(asked.headers.get("authorization", "").removeprefix("Bearer "))
        if where == "answer":
            return answer_to(asked, [words])
        return {"error": {"message": words}} if where == "error" else {"data": [{"id": words}]}

    return servers.echoes(code, show)


def echoes(setting: Setting) -> None:
    """A server says the key in an answer, an error or a list of models, as it is or URL-encoded."""
    places = [("answer", 200), ("models", 200), ("error", 400), ("error", 401), ("error", 503)]
    cases = [(name, *place) for name in _FORMS for place in places]
    chosen = cases if setting.times >= len(cases) else setting.chance.sample(cases, setting.times)
    with serving.translating() as server:
        for number, (name, where, code) in enumerate(chosen):
            place = setting.place()
            how = {"max_retries": "1", "concurrency": "2"}
            command = serving.run_arguments("openai", server.url, setting.directory, place, **how)
            n_good = 0 if where == "models" else 2
            server.script(*[servers.good] * n_good, *[_echoing(code, _FORMS[name], where)] * 3)
            with setting.tally.trial(f"{name} in {where} {code}"):
                said = setting.run(command, IMPATIENT)
                expect(said.code in (0, 2), f"exit {said.code}")
                server.server.steps.clear()
                setting.run(command, IMPATIENT)
                setting.search(place)
            setting.progress(number + 1, len(chosen))


_PROGRAM = """
import codecs, os, sys, time
key = os.environ["OPENAI_API_KEY"]
for line in sys.stdin:
    if "--say" in sys.argv:
        sys.stderr.write(f"cannot log in with {key}\\n")
        sys.exit(3)
    time.sleep(0.004)
    print("ella" if " her " in line else "el", codecs.encode(line.strip(), "rot13"), flush=True)
"""


def programs(setting: Setting) -> None:
    """`command:` systems: no key in the process list, none in what a program says, none in its arguments."""
    script = setting.directory / "translate.py"
    script.write_text(_PROGRAM)

    def command(place: Path, *more: str) -> list[str]:
        system = f"command:{shlex.join([sys.executable, '-S', str(script), *more])}"
        arguments = ["run", "--system", system, "--to", "xx", "--data", "core", "--benchmark", "tiny"]
        return [*arguments, "--store", str(place / "store.sqlite"), "-o", str(place / "run")]

    for number in range(setting.times):
        place = setting.place()
        with setting.tally.trial("the process list"):
            child = setting.start(command(place))
            n_looks = 0
            while child.process.poll() is None:
                n_looks += 1
                if any(has_key(line) for line in _process_list()):
                    setting.tally.trouble("secrets", "the key is in the process list")
                time.sleep(0.05)
            child.ended().is_good()
            expect(n_looks > 1, "nobody looked")
        with setting.tally.trial("what a program says"):
            other = setting.place()
            setting.run(command(other, "--say")).is_refusal("stopped with exit code 3")
            setting.search(other)
        with setting.tally.trial("a key among the arguments"):
            other = setting.place()
            said = setting.run(command(other, "--key", KEY))
            said.is_refusal(KEY_VARIABLES[0])
            setting.search(other)
        setting.search(place)
        setting.progress(number + 1, setting.times)


def _process_list() -> list[bytes]:
    """Command lines of all processes, where there is a /proc."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes())
        except OSError:
            continue
    return found


SCENARIOS = [
    Scenario("secrets", "a server that says the key", echoes, 4, 999, in_children=False),
    Scenario("secrets", "command: systems", programs, 1, 3),
]
