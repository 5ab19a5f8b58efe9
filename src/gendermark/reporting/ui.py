"""The page of `gendermark ui`: progress of each run, findings so far, and the explorer of sentences.

Run folders are followed while they grow; the page gets only the rows it shows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from gendermark.errors import BadFile, UserError
from gendermark.io import locks
from gendermark.reporting import html
from gendermark.reporting.charts import direction
from gendermark.reporting.document import listed
from gendermark.reporting.findings import findings
from gendermark.reporting.page import MOST_NAMED, names_for_people, title_of
from gendermark.reporting.rows import Explorer, Filter, system_labels
from gendermark.reporting.server import File, Site
from gendermark.result import Result
from gendermark.runs import folder
from gendermark.runs.folder import Run, Text
from gendermark.selection import Selection

FINISHED, RUNNING, STOPPED = "finished", "running", "stopped"


MOST_ROWS = 500
"""Per request."""


class FolderState(NamedTuple):
    """The progress of a run."""

    directory: Path
    state: str
    """`finished`, `running`, or `stopped` before the end."""
    done: tuple[str, ...]
    """Finished cells, in run order."""
    wanted: tuple[str, ...]
    """All cells of the run."""
    manifest: Mapping[str, Any]


def look_at(directory: Path) -> FolderState:
    manifest = folder.read_manifest(directory)
    try:
        wanted = tuple(Selection.from_json(row).cell for row in manifest["config"]["selections"])
    except (KeyError, TypeError, ValueError, UserError):
        raise BadFile(directory / folder.MANIFEST, "is not a manifest that this version can read") from None
    if manifest["status"] == FINISHED:
        return FolderState(directory, FINISHED, tuple(manifest["cells"]), wanted, manifest)
    state = RUNNING if locks.is_held(directory / ".lock") else STOPPED
    # The result is the last file written for a cell.
    done = tuple(cell for cell in wanted if (directory / cell / folder.RESULT).is_file())
    return FolderState(directory, state, done, wanted, manifest)


@dataclass(frozen=True)
class Snapshot:
    """All folders at one moment."""

    version: int
    """Changes with the rows."""
    states: tuple[FolderState, ...]
    explorer: Explorer = field(repr=False)
    problems: tuple[str, ...] = ()
    """Problems reading unfinished runs."""

    @property
    def is_live(self) -> bool:
        return any(state.state != FINISHED for state in self.states)


class RunFolders:
    """Run folders, followed while they grow. `now` is the last state; `refresh` updates it."""

    def __init__(
        self,
        directories: Sequence[Path],
        names: Sequence[str] = (),
        tell: Callable[[str], None] = lambda note: None,  # noqa: ARG005
    ) -> None:
        """`names` of their systems, in the same order, or empty; `tell` receives progress."""
        self._directories, self._tell = directories, tell
        self._names = names or [""] * len(directories)
        self._read_cells: dict[Path, tuple[object, Result, Sequence[Text]]] = {}
        """With the stamp of their files when read."""
        self._seen: object = None
        self._busy = threading.Lock()
        self.now = Snapshot(0, (), Explorer([]))
        self._read()

    def refresh(self) -> str:
        """Read what is new, unless another thread is doing so; return the reason of a failure."""
        if self._busy.acquire(blocking=False):
            try:
                self._read()
            except UserError as problem:  # such as a moved folder
                return str(problem)
            finally:
                self._busy.release()
        return ""

    def _read(self) -> None:
        states = tuple(look_at(directory) for directory in self._directories)
        problems: list[str] = []
        runs, stamps = [], []
        for state, name in zip(states, self._names, strict=True):
            found = list(self._cells_of(state, problems))
            stamps.append((name, [stamp for stamp, _, _ in found]))
            manifest = {**state.manifest, "name": name} if name else state.manifest
            texts = {result.cell: texts for _, result, texts in found}
            runs.append(Run(str(state.directory), manifest, [result for _, result, _ in found], texts))
        seen = (system_labels(runs), stamps)
        version, explorer = self.now.version, self.now.explorer
        if seen != self._seen:
            version, explorer, self._seen = version + 1, Explorer(runs, self._tell), seen
        now = Snapshot(version, states, explorer, tuple(problems))
        self.now = now if now != self.now else self.now

    def _cells_of(self, state: FolderState, problems: list[str]) -> Iterator[tuple[object, Result, Sequence[Text]]]:
        for name in state.done:
            cell = state.directory / name
            try:
                paths = sorted(cell.iterdir())
                stamp = [(path, path.stat().st_mtime_ns, path.stat().st_size) for path in paths]
                if cell not in self._read_cells or self._read_cells[cell][0] != stamp:
                    result = folder.read_cell(cell)
                    self._read_cells[cell] = stamp, result, folder.read_texts(cell, result)
                yield self._read_cells[cell]
            except (OSError, BadFile) as problem:  # an unfinished run may be replacing it
                if state.state == FINISHED and isinstance(problem, BadFile):
                    raise
                problems.append(str(problem))


# -- the page ----------------------------------------------------------------------------------------------------------


def ui_site(folders: RunFolders) -> Site:
    """Everything that the page requests. Its status request, every second, refreshes the folders."""
    script = f"{html.asset('page.js')}\n{html.asset('ui.js')}"

    def page() -> File:
        # A damaged file name may contain a lone surrogate.
        return File("text/html", _render(folders.now, script).encode("utf-8", "replace"))

    def rows(query: Mapping[str, str]) -> Any:
        return folders.now.explorer.page(Filter.of(query), _number(query, "from"), min(_number(query, "n"), MOST_ROWS))

    def status(_: Mapping[str, str]) -> Any:
        problem = folders.refresh()
        return _status(folders.now, problem)

    return Site(
        files={"": page},
        reads={"rows": rows, "state": lambda _: _state(folders.now), "status": status},
        policy=f"{html.policy(script, html.asset('page.css'), connect=True)}; frame-ancestors 'none'",
    )


def _number(query: Mapping[str, str], name: str) -> int:
    value = query.get(name, "")
    if not (value.isascii() and value.isdecimal() and len(value) < 16):
        raise UserError(f"{name} is a whole number, not {value!r:.20}")
    return int(value)


def _render(now: Snapshot, script: str) -> str:
    # Include names of benchmarks not yet written.
    benchmarks = {cell.partition(".")[0] for state in now.states for cell in (*state.wanted, *state.done)}
    data = {**_state(now), "words": names_for_people(now.explorer, benchmarks)}
    links = [("#runs", "The runs"), ("#sentences", "The sentences"), ("#finding", "Findings")]
    rows = html.embedded_json(data)
    names = now.explorer.systems
    title = f"Runs of {listed(names) if len(names) <= MOST_NAMED else f'{len(names)} systems'}"
    return html.render("ui.html", title, script=script, connect=True, contents=links, rows=rows)


def _state(now: Snapshot) -> dict[str, Any]:
    explorer = now.explorer
    return {**explorer.facets(), "entities": explorer.entities(), "version": now.version, "live": now.is_live}


def _place(cell: str) -> str:
    return f"{title_of(cell.partition('.')[0])}, {direction(cell)}"


def _status(now: Snapshot, problem: str) -> dict[str, Any]:
    runs = []
    for system, state in zip(now.explorer.systems, now.states, strict=True):
        left = [cell for cell in state.wanted if cell not in state.done] if state.state == RUNNING else []
        runs.append(
            {
                "system": system,
                "directory": str(state.directory),
                "state": state.state,
                "done": len(state.done),
                "wanted": max(len(state.wanted), len(state.done)),
                "now": _place(left[0]) if left else "",
                "written": str(state.manifest.get("written", ""))[:16].replace("T", " "),
            }
        )
    return {
        "version": now.version,
        "live": now.is_live,
        "problems": [*now.problems, *([problem] if problem else [])],
        "runs": runs,
        "findings": [
            {
                "place": _place(next(result.cell for result in cell.results if result)),
                "link": Filter(cell=cell.name).link,
                "systems": [
                    {"run": run, "sentences": findings(result), "warnings": list(result.warnings)}
                    for run, result in enumerate(cell.results)
                    if result
                ],
            }
            for cell in now.explorer.cells
        ],
    }
