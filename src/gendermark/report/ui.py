"""The page of `gendermark ui`: how far each run is, what was found so far, and the explorer of sentences."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from gendermark import __version__
from gendermark.benchmarks.findings import direction
from gendermark.errors import UserError
from gendermark.markup import joined, tag
from gendermark.report.findings import corrected, findings
from gendermark.report.opening import title_of
from gendermark.report.page import contents, embedded_json, names_for_people, policy
from gendermark.report.paging import FolderState, RunFolders, Snapshot
from gendermark.report.rows import Filter
from gendermark.report.server import File, Site

MOST_ROWS = 500
"""That one request can ask for."""
SECONDS_BETWEEN_LOOKS = 1.0


class Follower(threading.Thread):
    """Looks at the folders again and again, so that no request has to wait for it."""

    def __init__(self, folders: RunFolders) -> None:
        super().__init__(daemon=True)
        self._folders = folders
        self._end = threading.Event()
        self.problem = ""
        """Why the last look failed: a folder that was taken away, for example."""

    def run(self) -> None:
        while not self._end.wait(SECONDS_BETWEEN_LOOKS):
            try:
                self._folders.refresh()
                self.problem = ""
            except UserError as problem:
                self.problem = str(problem)

    def end(self) -> None:
        self._end.set()
        self.join(timeout=1)  # it may be in the middle of a large file; nothing is lost with it


def ui_site(folders: RunFolders, follower: Follower) -> Site:
    """Everything the page asks for."""
    script, style = f"{_asset('page.js')}\n{_asset('ui.js')}", _asset("page.css")

    def page() -> File:
        text = _render(folders.now, script, style)
        # Half a surrogate pair is no text, but a damaged file name may have one.
        return File("text/html", text.encode("utf-8", "replace"))

    def rows(query: Mapping[str, str]) -> Any:
        return folders.now.explorer.page(Filter.of(query), _number(query, "from"), min(_number(query, "n"), MOST_ROWS))

    return Site(
        files={"": page},
        reads={
            "rows": rows,
            "state": lambda _: _state(folders.now),
            "status": lambda _: _status(folders.now, follower.problem),
        },
        policy=f"{policy(script, style, connect=True)}; frame-ancestors 'none'",
    )


def _asset(name: str) -> str:
    return (files("gendermark.report") / "assets" / name).read_text(encoding="utf-8")


def _number(query: Mapping[str, str], name: str) -> int:
    value = query.get(name, "")
    if not (value.isascii() and value.isdecimal() and len(value) < 16):
        raise UserError(f"{name} is a whole number, not {value!r:.20}")
    return int(value)


def _render(now: Snapshot, script: str, style: str) -> str:
    title = "Runs of gendermark"
    data = {**_state(now), "words": _words(now)}
    links = [("#runs", "The runs"), ("#sentences", "The sentences"), ("#finding", "What was found")]
    parts = {
        "policy": policy(script, style, connect=True),
        "version": joined(__version__),
        "title": title,
        "style": style,
        "header": tag("h1", title),
        "contents": contents(links),
        "report": tag("section", tag("h2", "The runs"), tag("div", id="run-list", aria_live="polite"), id="runs"),
        "reproduce": tag("section", tag("h2", "What was found"), tag("div", id="findings"), id="finding"),
        "footer": tag("p", f"Served by gendermark {__version__} from the run folders, as they are now."),
        "rows": embedded_json(data),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: str(parts[found[1]]), _asset("page.html"))


def _state(now: Snapshot) -> dict[str, Any]:
    """What the explorer offers, and whether there will be more."""
    explorer = now.explorer
    return {**explorer.facets(), "entities": explorer.entities(), "version": now.version, "live": now.is_live}


def _words(now: Snapshot) -> dict[str, Any]:
    """Names for people, for the script: also of what has not been written yet."""
    return names_for_people(now.explorer, {cell.partition(".")[0] for state in now.states for cell in _cells(state)})


def _cells(state: FolderState) -> tuple[str, ...]:
    return (*state.wanted, *state.done)


def _place(cell: str) -> str:
    """A cell in words: benchmark and direction."""
    benchmark, _, languages = cell.partition(".")
    return f"{title_of(benchmark)}, {direction(*languages.split('-', 1))}"


def _status(now: Snapshot, problem: str) -> dict[str, Any]:
    """How far the runs are, and what was found so far; in words."""
    systems = now.explorer.systems
    every = [result for cell in now.explorer.cells for result in cell.results if result]
    told = {id(result): other for result, other in zip(every, corrected(every), strict=True)}
    return {
        "version": now.version,
        "live": now.is_live,
        "problems": [*now.problems, *([problem] if problem else [])],
        "runs": [
            {
                "system": system,
                "directory": str(state.directory),
                "state": state.state,
                "done": len(state.done),
                "wanted": max(len(state.wanted), len(state.done)),
                "now": _place(state.now) if state.now else "",
                "written": _when(state),
            }
            for system, state in zip(systems, now.states, strict=True)
        ],
        "findings": [
            {
                "place": _place(next(result.cell for result in cell.results if result)),
                "link": Filter(cell=cell.name).link,
                "told": [
                    {
                        "run": run,
                        "sentences": findings(told[id(result)]),
                        "warnings": list(result.warnings),
                    }
                    for run, result in enumerate(cell.results)
                    if result
                ],
            }
            for cell in now.explorer.cells
        ],
    }


def _when(state: FolderState) -> str:
    return str(state.manifest.get("written", ""))[:16].replace("T", " ")
