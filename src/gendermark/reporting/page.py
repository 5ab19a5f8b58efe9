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
from gendermark.markup import Content, Markup, joined, minus, tag
from gendermark.reading.codes import NAMES, RIGHT_TO_LEFT
from gendermark.records import Estimate, Table
from gendermark.reporting.charts import percent
from gendermark.reporting.numbers import (
    CellNumbers,
    axis,
    body_row,
    confusion,
    drawn,
    find,
    format_p,
    format_value,
    head_row,
    highlighted,
    scale_of,
    table,
)
from gendermark.reporting.opening import (
    Opening,
    change_class,
    code_of,
    direction_of,
    marker,
    question_of,
    sentence,
    title_of,
)
from gendermark.reporting.reproduce import commands
from gendermark.reporting.rows import Explorer, Filter
from gendermark.result import Result
from gendermark.runs.compare import ALPHA
from gendermark.runs.folder import Run, read_run
from gendermark.runs.gates import Verdict

_FOOTER = tag("p", f"Written by gendermark {__version__}. The page asks nothing of any other computer.")


def write_page(path: Path, directories: Sequence[Path | str]) -> None:
    """The report of some run folders, the first of which the others are compared with."""
    write_text(path, render_page([read_run(directory) for directory in dict.fromkeys(map(str, directories))]))


def render_page(runs: Sequence[Run], *, trend: bool = False, gate: Verdict | None = None, home: str = "") -> str:
    """The whole page; `trend` says that the runs are versions of one system, in their order.

    With `gate`, what a gate found comes first; `home` is the page that leads here, if there is one.
    """
    explorer = Explorer.of(runs)
    page = _Page(runs, explorer, trend=trend, gate=gate)
    parts = {
        "header": tag("h1", tag("bdi", page.title)),
        "contents": page.contents(home),
        "report": joined([page.finding(), page.measured(), page.sections()]),
        "reproduce": page.reproduction(),
        "footer": _FOOTER,
        # After the report, which says what must be among them.
        "rows": embedded_json({**_rows(explorer, runs), "words": names_for_people(explorer, page.benchmarks)}),
    }
    return fill("page.html", page.title, asset("page.js"), asset("page.css"), parts)


def plain_page(title: str, header: Markup, main: Markup, *, script: str = "", style: str = "") -> str:
    """A page that stands alone, without sentences to look through; `style` comes after that of all pages."""
    return fill(
        "plain.html", title, script, asset("page.css") + style, {"header": header, "main": main, "footer": _FOOTER}
    )


def fill(template: str, title: str, script: str, style: str, parts: Mapping[str, str], *, connect: bool = False) -> str:
    """A page from one of our templates, with the policy that lets this script and this style sheet run."""
    content = {
        **parts,
        "policy": policy(script, style, connect=connect),
        "version": joined(__version__),
        "title": joined(title),
        "style": style,
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: str(content[found[1]]), asset(template))


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
    return (files("gendermark.reporting") / "assets" / name).read_text(encoding="utf-8")


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


_MOST_ROWS = 100
"""Of one detailed table; its first and last ones, if there are more."""
# The word of a table's first column -> its cells name whom the sentences are about.
_ENTITY_COLUMNS = frozenset({"entity", "occupation", "lexeme", "pair"})


class Sections(Opening):
    def sections(self) -> list[Markup]:
        return [self._benchmark(name) for name in self.benchmarks]

    def _benchmark(self, name: str) -> Markup:
        cells = self.of_benchmark(name)
        parts: list[Content] = [tag("h2", question_of(name))]
        if len(cells) > 1:
            parts += [self.paper.tables(cells), self.figures_of(name)]
            parts += [self._cell(numbers) for numbers in cells]
        else:
            parts += [self._cell(cells[0], alone=True, before=self.paper.tables(cells))]
        return tag("section", parts, id=name)

    def _cell(self, numbers: CellNumbers, *, alone: bool = False, before: Content = None) -> Markup:
        cell = numbers.cell
        present = numbers.results()
        parts: list[Content] = [tag("h3", direction_of(numbers))]
        parts.append(self._told([numbers], briefly=False) if self.is_brief else None)
        for run, result in present:
            who: Content = [self.paper.system(run), ": "] if self.several else None
            parts += [tag("p", who, f"{sentence(text)}", class_="warning") for text in result.warnings]
        parts += [self._headline(numbers), before]
        if alone:
            parts.append(self.figures_of(numbers.benchmark))
        parts.append(self.figures_of(present[0][1].cell))
        matrices = [confusion(self.paper, numbers, run) for run, _ in present]
        if any(matrices):
            # The figure shows the same; here each count leads to its sentences.
            summary = tag("summary", "The gender expected and the gender read, with the sentences behind each count")
            parts.append(tag("details", summary, tag("div", [one for one in matrices if one], class_="matrices")))
        parts += [highlighted(self.paper, numbers, run) for run, _ in present]
        parts.append(self._tests(present))
        parts.append(self._comparison_table(numbers))
        parts += self._details(numbers, present)
        parts.append(self._estimates(numbers))
        return tag("section", parts, id=cell.name if " " not in cell.name else None, data_place=code_of(numbers))

    def _headline(self, numbers: CellNumbers) -> Markup:
        """Headline metrics, drawn with their intervals, all on one scale where they can share one."""
        benchmark = numbers.cell.benchmark
        present = numbers.results()
        first = present[0][1]
        metrics = benchmark.measures.metrics(first.judgements, first.selection)
        wanted = [m.key for m in metrics if benchmark.is_headline(m)]
        named = [tuple(name.split(":")) for name in benchmark.presentation.also_shown]
        wanted += [key for m in metrics if (key := (m.name, m.slice)) in named and key not in wanted]
        gaps = {(m.name, m.slice) for m in metrics if m.better == "zero"}
        bodies: list[Markup] = []
        last: tuple[float, float] | None = None
        # Shares first, then gaps: what is on one scale stands together.
        for key in sorted(wanted, key=lambda key: key in gaps):
            found = [(run, e) for run, result in present if (e := find(result, *key)) is not None]
            shared = benchmark.presentation.shares_one_scale
            kin = [k for k in wanted if (k in gaps) == (key in gaps)] if shared else [key]
            together = [e for _, result in present for k in kin if (e := find(result, *k)) is not None]
            scale = scale_of(together, is_gap=key in gaps)
            if not found or scale is None:
                continue
            if scale != last:
                bodies.append(
                    tag(
                        "tbody",
                        tag("tr", tag("th"), self._letter_cell(), tag("td", axis(scale), class_="drawn"), tag("td")),
                    )
                )
                last = scale
            bodies.append(tag("tbody", self._headline_rows(numbers, key, found, scale)))
        inner = tag("table", bodies, class_="headline")
        return tag("div", inner, class_="scroll", tabindex=0, role="group", aria_label="Headline numbers")

    def _letter_cell(self, run: int | None = None) -> Content:
        if not self.several:
            return None
        return tag("td", marker(run) if run is not None else None, class_="letter")

    def _headline_rows(
        self,
        numbers: CellNumbers,
        key: tuple[str, str],
        found: Sequence[tuple[int, Estimate]],
        scale: tuple[float, float],
    ) -> list[Markup]:
        rows = []
        for place, (run, estimate) in enumerate(found):
            head: Content = None
            if place == 0:
                n = estimate.n_total
                judged = f"{estimate.n_judged:,} of {n:,} judged" if not self.several else f"n = {n:,}"
                name = [numbers.cell.benchmark.label(*key), tag("span", judged, class_="interval")]
                head = tag("th", name, scope="row", rowspan=len(found) if len(found) > 1 else None, class_="text")
            drawing = tag("td", drawn(estimate, scale, run), class_="drawn")
            amount = tag("td", numbers.value(run, *key), self._coverage(estimate), class_="amount")
            rows.append(tag("tr", head, self._letter_cell(run), drawing, amount))
        return rows

    def _coverage(self, estimate: Estimate) -> Content:
        """How much could be judged, where that is not all and is not said beside it."""
        if not self.several or estimate.n_judged >= estimate.n_total:
            return None
        share = 100 * estimate.n_judged / estimate.n_total
        return tag("span", f"{percent(min(share, 99))} % judged", class_="interval judged")

    def _tests(self, present: Sequence[tuple[int, Result]]) -> list[Markup]:
        """Each question once, with the answer for every system."""
        questions = dict.fromkeys(test.question for _, result in present for test in result.tests)
        paragraphs = []
        for question in questions:
            answers: list[Content] = []
            for run, result in present:
                p_values = [test.p_value for test in result.tests if test.question == question]
                if p_values:
                    who: Content = [marker(run), " "] if self.several else None
                    answers.append([" " if not answers else "; ", who, _answer(p_values[0])])
            paragraphs.append(tag("p", question, answers, "."))
        return paragraphs

    def _comparison_table(self, numbers: CellNumbers) -> Content:
        first = numbers.cell.results[0]
        found = [d for run in self.paper.runs[1:] for d in self.differences.of(first.cell, run)] if first else []
        if not found:
            return None
        rows = []
        for difference in found:
            c = difference.comparison
            shown = format_value(c.difference, c.unit)
            linked = [
                numbers.linked(run, c.metric, c.slice, x) for run, x in ((0, c.first), (difference.run, c.second))
            ]
            ends = [format_value(x, c.unit) for x in (c.low, c.high)]
            p = "–" if c.p_adjusted is None else format_p(c.p_adjusted)
            rows.append(
                body_row(
                    [self.paper.system(difference.run), " ", difference.label],
                    *linked,
                    [shown, tag("span", " to ".join(ends), class_="interval")],
                    p,
                    tag("span", difference.change, class_=change_class(difference.change)),
                )
            )
        heads = head_row("", ["first, ", self.paper.system(0)], "this one", "difference", "p (Holm)", "this one is")
        return tag("details", tag("summary", "Compared with the first system"), table("", [heads], rows))

    def _details(self, numbers: CellNumbers, present: Sequence[tuple[int, Result]]) -> list[Markup]:
        """The detailed tables, those of all systems together."""
        by_name: dict[str, list[tuple[int, Table]]] = {}
        for run, result in present:
            for found in result.tables:
                if found.name != "confusion" and found.rows:
                    by_name.setdefault(found.name, []).append((run, found))
        return [
            tag("details", tag("summary", tables[0][1].title), [self._detail(numbers, run, one) for run, one in tables])
            for tables in by_name.values()
        ]

    def _detail(self, numbers: CellNumbers, run: int, found: Table) -> Markup:
        rows = list(found.rows)
        half = _MOST_ROWS // 2
        note = ""
        if len(rows) > _MOST_ROWS:
            rows, note = [*rows[:half], *rows[-half:]], f" The first and last {half} of {len(found.rows):,} rows."
        links = found.columns[0] in _ENTITY_COLUMNS
        body = [
            body_row(self._entity(numbers, run, row[0]) if links else _cell_text(row[0]), *map(_cell_text, row[1:]))
            for row in rows
        ]
        caption: Content = [self.paper.system(run) if self.several else None, note]
        return table(caption, [head_row(*found.columns)], body)

    def _entity(self, numbers: CellNumbers, run: int, name: object) -> Markup:
        system = str(run) if self.several else ""
        wanted = Filter(cell=numbers.cell.name, entity=str(name), system=system)
        return tag("a", tag("bdi", str(name)), href=wanted.link)

    def _estimates(self, numbers: CellNumbers) -> Markup:
        """Every number there is, side by side."""
        results, benchmark = numbers.cell.results, numbers.cell.benchmark
        keys = dict.fromkeys((e.metric, e.slice) for result in results if result is not None for e in result.estimates)
        rows = []
        for metric, part in keys:
            values = []
            for run, result in enumerate(results):
                estimate = find(result, metric, part) if result is not None else None
                judged = f"{estimate.n_judged:,} of {estimate.n_total:,}" if estimate else "–"
                values += [numbers.value(run, metric, part), judged]
            rows.append(
                tag(
                    "tr",
                    tag(
                        "th",
                        benchmark.label(metric),
                        tag("span", metric, class_="interval"),
                        scope="row",
                        class_="text",
                    ),
                    tag("td", benchmark.slice_label(part), class_="text"),
                    [tag("td", value) for value in values],
                )
            )
        names: list[Content] = ["metric", "slice"]
        for run in self.paper.runs:
            names += [self.paper.system(run) if self.several else "value", "judged"]
        summary = tag("summary", f"All {len(keys)} numbers")
        return tag("details", summary, table("", [head_row(*names)], rows))


def _answer(p: float | None) -> str:
    if p is None:
        return "too little data to say"
    return f"{'significant' if p < ALPHA else 'not significant'} ({format_p(p)})"


def _cell_text(value: object) -> Content:
    if value is None:
        return "–"
    if isinstance(value, float):
        return minus(f"{value:g}")
    return f"{value:,}" if isinstance(value, int) else tag("bdi", str(value))


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
