"""The report as one HTML page that stands alone: findings in words, numbers, tables, figures, and every sentence.

Nothing is fetched, and nothing but the page's own script can run: its policy names that script by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from gendermark import __version__
from gendermark.io.textfiles import write_text
from gendermark.linguistics.codes import NAMES, RIGHT_TO_LEFT
from gendermark.markup import Content, Markup, joined, tag
from gendermark.report.cells import Filter
from gendermark.report.explorer import Explorer
from gendermark.report.reproduce import commands
from gendermark.report.sections import Sections
from gendermark.report.view import code_of, direction_of, sentence, title_of
from gendermark.result import Result
from gendermark.runs.folder import Run, read_run
from gendermark.runs.gates import Verdict


def write_page(path: Path, directories: Sequence[Path | str]) -> None:
    """The report of some run folders, the first of which the others are compared with."""
    write_text(path, render_page([read_run(directory) for directory in dict.fromkeys(map(str, directories))]))


def render_page(runs: Sequence[Run], *, trend: bool = False, gate: Verdict | None = None, home: str = "") -> str:
    """The whole page; `trend` says that the runs are versions of one system, in their order.

    With `gate`, what a gate found comes first; `home` is the page that leads here, if there is one.
    """
    explorer = Explorer(runs)
    page = _Page(runs, explorer, trend=trend, gate=gate)
    script, style = asset("page.js"), asset("page.css")
    parts = {
        "policy": policy(script, style),
        "version": joined(__version__),
        "title": joined(page.title),
        "style": style,
        "header": tag("h1", tag("bdi", page.title)),
        "contents": page.contents(home),
        "report": joined([page.finding(), page.measured(), page.sections()]),
        "reproduce": page.reproduction(),
        "footer": tag("p", f"Written by gendermark {__version__}. The page asks nothing of any other computer."),
        # After the report, which says what must be among them.
        "rows": embedded_json({**_rows(explorer, runs), "words": names_for_people(explorer, page.benchmarks)}),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: str(parts[found[1]]), asset("page.html"))


def plain_page(title: str, header: Markup, main: Markup, *, script: str = "", style: str = "") -> str:
    """A page that stands alone, without sentences to look through; `style` comes after that of all pages."""
    style = asset("page.css") + style
    parts = {
        "policy": policy(script, style),
        "version": joined(__version__),
        "title": joined(title),
        "style": style,
        "header": header,
        "main": main,
        "footer": tag("p", f"Written by gendermark {__version__}. The page asks nothing of any other computer."),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: str(parts[found[1]]), asset("plain.html"))


def _rows(explorer: Explorer, runs: Sequence[Run]) -> dict[str, Any]:
    """What the page carries; where these are not all sentences, with what its script says about it."""
    rows = explorer.embedded()
    n, n_all = (sum(cell.get(key, cell["n"]) for cell in rows["cells"]) for key in ("n", "n_all"))
    if n == n_all:
        return rows
    command = f"gendermark ui {shlex.join(run.name for run in runs)}"
    return {**rows, "sample": {"n": n, "all": n_all, "command": command}}


def policy(script: str, style: str, *, connect: bool = False) -> str:
    """The Content-Security-Policy of a page with this script and this style sheet in it."""
    rules = [
        "default-src 'none'",
        f"script-src {_hash(script)}",
        f"style-src {_hash(style)}",
        "img-src data:",
        *(["connect-src 'self'"] if connect else []),
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join(rules)


def embedded_json(value: Any) -> str:
    """JSON that can stand in a script element: no text in it can end the element or begin a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    # Half a surrogate pair is no text and could not be written; its escape can.
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def asset(name: str) -> str:
    return (files("gendermark.report") / "assets" / name).read_text(encoding="utf-8")


def names_for_people(explorer: Explorer, benchmarks: Iterable[str]) -> dict[str, Any]:
    """For the script."""
    return {
        "languages": NAMES,
        "right_to_left": sorted(RIGHT_TO_LEFT),
        "slices": explorer.slice_labels(),
        "benchmarks": {name: title_of(name) for name in sorted(benchmarks)},
    }


def contents(links: Sequence[tuple[str, str]], places: Mapping[str, str] | None = None) -> Markup:
    """What stays in sight: where to go, and which language to see where there are several."""
    listed = tag("ul", [tag("li", tag("a", text, href=href)) for href, text in links])
    choice: Content = None
    if places and len(places) > 1:
        options = [tag("option", "all", value=""), [tag("option", name, value=code) for code, name in places.items()]]
        # Without its script the page shows all.
        choice = tag("label", "Language ", tag("select", options, id="place"), class_="field", hidden=True)
    return tag("nav", listed, choice, aria_label="Contents")


class _Page(Sections):
    """The parts of a page, from top to bottom."""

    def contents(self, home: str = "") -> Markup:
        links = [(home, "All systems")] if home else []
        links += [("#finding", "The finding"), ("#measured", "What was measured")]
        links += [(f"#{name}", title_of(name)) for name in self.benchmarks]
        links += [("#sentences", "The sentences")]
        links += [(Filter(differ="yes").link, "Where systems disagree")] if self.several else []
        links += [("#reproduce", "How to reproduce")]
        return contents(links, self._places())

    def _places(self) -> dict[str, str]:
        """The languages a reader can choose among."""
        codes = sorted({code_of(numbers) for numbers in self.numbers}, key=lambda code: NAMES.get(code, code))
        return {code: NAMES.get(code, code) for code in codes}

    def measured(self) -> Markup:
        """Behind the finding, which is what a page is opened for."""
        facts: list[Markup] = []

        def fact(name: str, *lines: Content) -> None:
            facts.append(tag("dt", name))
            facts.append(tag("dd", [tag("span", line) for line in lines]))

        fact("systems" if self.several else "system", *map(self._whole_system, self.paper.runs))
        for benchmark in self.benchmarks:
            cells = self.of_benchmark(benchmark)
            places = [direction_of(numbers) for numbers in cells]
            n = sum(len(numbers.cell) for numbers in cells)
            fact(title_of(benchmark), f"{', '.join(dict.fromkeys(places))}; {n:,} sentences")
        fact("data", *self._data())
        fact("run", *dict.fromkeys(_when(run) for run in self.runs))
        fact("with", *dict.fromkeys(_versions(run) for run in self.runs))
        return tag("section", tag("h2", "What was measured"), tag("dl", facts, class_="facts"), id="measured")

    def _data(self) -> list[str]:
        """Which data by which rules; said once where all benchmarks have the same."""
        found = {(r.selection.benchmark, _data(r)): None for run in self.runs for r in run.results}
        kinds = dict.fromkeys(kind for _, kind in found)
        return list(kinds) if len(kinds) == 1 else [f"{title_of(name)}: {kind}" for name, kind in found]

    def _whole_system(self, run: int) -> Content:
        """A run's label and, where that is short for it, its system as it was given."""
        whole, label = self.runs[run].system, self.explorer.systems[run]
        return [self.paper.system(run), [" ", tag("small", tag("bdi", whole))] if whole not in label else None]

    def reproduction(self) -> Markup:
        parts: list[Content] = [tag("h2", "How to reproduce")]
        for number, run in enumerate(self.runs):
            if self.several:
                parts.append(tag("h3", self.paper.system(number)))
            lines = commands(run.manifest, run.name)
            if lines:
                parts.append(tag("pre", tag("code", "\n".join(lines))))
            else:
                parts.append(tag("p", f"No command makes this run again; what it did stands in {run.name}."))
            parts += [tag("p", f"The system says: {sentence(note)}") for note in run.manifest.get("notes", [])]
            signed = [tag("p", tag("code", result.signature), class_="signature") for result in run.results]
            summary = tag("summary", "Signatures: everything a number depends on")
            parts.append(tag("details", summary, signed, class_="signatures"))
        files = [str(run.manifest["config"].get("audited", "")) for run in self.runs]
        named = [f"{name}={run.name}" if (name := run.manifest.get("name")) else run.name for run in self.runs]
        # An audit leaves its run folders only if it was asked to.
        verb, words = ("audit", list(dict.fromkeys(files))) if all(files) else ("report", named)
        parts.append(tag("p", "This page:"))
        parts.append(tag("pre", tag("code", f"gendermark {verb} {shlex.join(words)} -o {verb}.html")))
        return tag("section", parts, id="reproduce")


def _data(result: Result) -> str:
    selection = result.selection
    kind, _, path = selection.data.partition(":")
    bundled = f"{kind} (bundled with gendermark)"
    source = "the authors' own" if kind == "official" else f"your own file {path}" if path else bundled
    revision = f", revision {selection.revision}" if selection.revision else ""
    return f"{source}{revision}; rules {selection.rules}"


def _when(run: Run) -> str:
    written = str(run.manifest.get("written", ""))
    return written[:16].replace("T", " ") + " UTC" if len(written) >= 16 else "date unknown"


def _versions(run: Run) -> str:
    versions = run.manifest.get("versions", {})
    parts = [f"gendermark {run.manifest.get('gendermark', '?')}"]
    if isinstance(versions, Mapping):
        parts += [f"{name} {version}" for name, version in versions.items() if name != "platform"]
        parts += [f"on {versions['platform']}"] if "platform" in versions else []
    return ", ".join(parts)
