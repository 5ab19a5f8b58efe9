"""`gendermark list`, `export` and `power`: which benchmarks there are, their sentences, and what they can detect."""

from __future__ import annotations

import json
import sys
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from gendermark.cli import terminal
from gendermark.cli.options import Data, From, Revision, To, benchmark_options
from gendermark.cli.terminal import AsJson, echo, grouped, print_json, print_table, print_text, say
from gendermark.errors import UnknownName, UserError
from gendermark.io.textfiles import write_text

if TYPE_CHECKING:
    from gendermark.benchmarks.benchmark import Benchmark
    from gendermark.records import Table

MOST_ROWS = 12
KINDS = ("benchmarks", "systems", "languages", "metrics", "tables")


def list_names(kind: str, as_json: AsJson = False) -> None:
    """List the benchmarks, systems, languages or metrics, or the commands that make the tables of papers.

    Args:
        kind (benchmarks|systems|languages|metrics|tables): What to list.
    """
    if kind not in KINDS:
        raise UnknownName("kind", kind, KINDS)
    table = listing(kind)
    shown = kind if terminal.is_terminal(sys.stdout) else ""
    if as_json:
        print_json({kind: [dict(zip(table.columns, row, strict=True)) for row in table.rows]})
    elif shown == "benchmarks":
        for name, measures, official, core, _ in table.rows:
            into = official if core == official else f"{official.replace('–', 'your data')}; core data: {core}"
            print_text(f"{name}: {measures.partition(': ')[2]}\n  {into if core != '–' else 'your data'}")
        say("mul: all source languages together. `gendermark score NAME --help` lists a benchmark's rules and options.")
    elif shown == "metrics":
        rows = [(name, (metric, good, _meaning(about))) for name, metric, _, good, about in table.rows]
        print_table(table.title, ("metric", "better", "meaning"), grouped(rows))
        say("--json adds the definition of each metric.")
    elif shown == "tables":
        print_table(table.title, table.columns[1:], grouped((paper, rest) for paper, *rest in table.rows))
    else:
        print_table(table.title, table.columns, table.rows)
        if shown == "systems":
            say("For example: --system hf:Helsinki-NLP/opus-mt-en-es; docs/systems has an example of each.")


def _meaning(about: str) -> str:
    """The label of a metric, or its definition if the label is one word."""
    label, _, definition = about.partition(". ")
    return label if " " in label else definition.partition(". ")[0].rstrip(".")


def listing(kind: str) -> Table:
    from gendermark import registry
    from gendermark.records import Table

    if kind == "benchmarks":
        rows: list[tuple[Any, ...]] = []
        benchmark: Benchmark
        for name, benchmark in registry.every("benchmark"):
            rules = ", ".join(benchmark.choices_of("rules"))
            measures = f"{benchmark.title}: {benchmark.question}"
            rows.append((name, measures, directions(benchmark, "official"), directions(benchmark, "core"), rules))
        return Table(kind, "Benchmarks", ("name", "measures", "official data", "core data", "rules"), rows)
    if kind == "systems":
        rows = []
        for name, family in registry.every("system"):
            # The first line of the system's docstring, or its module's, without the spec.
            own, module = family.__doc__ or "", sys.modules[family.__module__].__doc__ or ""
            text = (own if own.startswith("`") else module).strip().split("\n\n")[0]
            rows.append((f"{name}:…", " ".join(text.partition(": ")[2].split())))
        return Table(kind, "Systems", ("spec", "description"), rows)
    if kind == "tables":
        papers = tomllib.loads((files("gendermark") / "data" / "tables.toml").read_text(encoding="utf-8"))["papers"]
        rows = [(paper["name"], *table) for paper in papers for table in paper["tables"]]
        return Table(kind, "Tables and figures of papers", ("paper", "table", "shows", "command"), rows)
    if kind == "languages":
        from gendermark.reading.occupations import lexicon

        rows = []
        for code in registry.names("language"):
            n_occupations = len({entry.occupation for entry in lexicon(code)})
            n_forms = sum(len(entry.forms) for entry in lexicon(code))
            rows.append((code, registry.load("language", code).name, n_occupations, n_forms))
        columns = ("code", "language", "occupations in lexicon", "word forms in lexicon")
        return Table(kind, "Target languages with gender", columns, rows)
    rows = [
        (name, about.name, about.unit.scale, GOOD[about.better], f"{about.label}. {about.meaning}")
        for name, benchmark in registry.every("benchmark")
        for about in benchmark.measures.described
    ]
    return Table(kind, "Metrics", ("benchmark", "metric", "scale", "better", "meaning"), rows)


GOOD = {"higher": "higher", "lower": "lower", "zero": "0", "neither": "–"}
"""Which values are better."""


def directions(benchmark: Benchmark, data: str) -> str:
    """The directions of a benchmark; sources with the same targets are listed together."""
    targets: dict[str, list[str]] = {}
    for source, target in benchmark.language_pairs(data):
        targets.setdefault(target, []).append(source)
    alike: dict[str, list[str]] = {}
    for target, sources in targets.items():
        alike.setdefault(" ".join(sources), []).append(target)
    return ", ".join(f"{sources} → {' '.join(found)}" for sources, found in alike.items()) or "–"


def export(
    benchmark: str,
    to: To = "",
    from_: From = "",
    output: Path | None = None,
    data: Data = "official",
    revision: Revision = "",
    group: Annotated[tuple[str, ...], Option("--group", "--set")] = (),
    settings: dict[str, Any] = benchmark_options("export"),
    as_json: AsJson = False,
) -> None:
    """Write the source sentences of a benchmark, one per line in a fixed order.

    `gendermark export BENCHMARK --help` also lists the options of that benchmark.

    Args:
        benchmark: Benchmark; see `gendermark list benchmarks`.
        output (FILE): Output file; default: stdout.
        group (NAME): Only this group or set of the benchmark; repeatable.
    """
    from gendermark.api import export_items

    options = {"source_language": from_, "data": data, "revision": revision, **settings}
    found, sources = export_items(benchmark, to, **options, parts=group)
    if as_json:
        rows = [
            {"item_id": item.item_id, "index": item.index, "source": source, "tags": item.all_tags}
            for item, source in zip(found.items, sources, strict=True)
        ]
        text = json.dumps({"benchmark": benchmark, "data": found.origin, "items": rows}, ensure_ascii=False, indent=2)
    else:
        text = "\n".join(sources)
    if output is None:
        echo(text)
    else:
        write_text(output, f"{text}\n")
        say(f"{len(found.items):,} sentences written to {output}; score their translations with `gendermark score`")


def power(
    benchmarks: Annotated[tuple[str, ...], Argument(show_default=False)] = (),
    to: To = "",
    data: str = "",
    points: float = 5.0,
    right: float = 80.0,
    icc: Annotated[float | None, Option(show_default=False)] = None,
    alike: float = 0.0,
    like: tuple[Path, ...] = (),
    as_json: AsJson = False,
) -> None:
    """Compute the smallest difference between two systems that each benchmark can detect.

    Assumes a significance level of 0.05 (Holm-corrected over the headline metrics) and 80% power; translates nothing.

    Args:
        benchmarks ([BENCHMARK]...): Benchmark; default: all for the language.
        data (DATA): official or core; default: both.
        points: Difference to detect, in points.
        right: Assumed accuracy of both systems, in percent.
        icc: Assumed correlation of the differences within a group, such as an occupation, 0 to 1; default: 0.5, or 0.15
            with --alike.
        alike: Assumed correlation between the errors of the two systems, 0 (unrelated) to 1; high for versions of one
            system.
        like (RUN): Measure accuracy and within-group correlation in this run instead of assuming them; given twice,
            measure the paired differences of the two runs.
    """
    from gendermark import api
    from gendermark.runs.power import OF_UNRELATED, OF_VERSIONS, Expected, expected_from, questions

    if not to:
        raise UserError("give the target language, for example --to es")
    if icc is None:
        icc = OF_VERSIONS if alike > 0 else OF_UNRELATED
    for name, value, most in (("right", right, 100), ("icc", icc, 1), ("alike", alike, 1), ("points", points, 100)):
        if not 0 <= value <= most or (name == "points" and value == 0):
            raise UserError(f"--{name} must lie between 0 and {most:g}, not {value:g}")
    runs = [api.load(directory) for directory in like]
    if len(runs) > 2:
        raise UserError(f"--like takes one or two runs, not {len(runs)}")
    measured = {}
    for result in runs[0] if runs else ():
        others = [other for other in runs[1] if other.cell == result.cell] if len(runs) > 1 else [None]
        if others and (found := expected_from(result, others[0], alike)) is not None:
            measured[result.selection.benchmark] = found
    usual = Expected(right / 100, icc, alike)
    rows: list[dict[str, Any]] = []
    left_out = []
    for kind in (data,) if data else ("official", "core"):
        for selection in api.applicable(benchmarks, [to], data=kind).selections:
            benchmark, name = api.select(selection)[0], selection.benchmark
            try:
                items = benchmark.load(selection).items
            except UserError as problem:
                left_out.append(f"{name}, {kind} data: {problem}")
                continue
            expected = measured.get(name, usual)
            facts = {"right": 100 * expected.right, "icc": expected.correlation}
            rows += [
                {"benchmark": name, "data": kind, **question.to_json(points), **facts}
                for question in questions(benchmark, items, expected)
            ]
    if not rows:
        why = f": {left_out[0]}" if left_out else "; see `gendermark list benchmarks`"
        raise UserError(f"no benchmark compares women and men in translations into {to}{why}")
    rows.sort(key=lambda row: (row["benchmark"], row["data"]))
    if as_json:
        print_json({"rows": rows, "left_out": left_out})
    else:
        _print_power(rows, points)
        say(
            f"Assumes accuracy and correlations as in {'the two runs' if len(runs) > 1 else 'the run'} given."
            if measured
            else f"Assumes {right:g}% accuracy, within-group correlation of differences {icc:g}, "
            f"{f'correlation of the systems {alike:g}' if alike else 'uncorrelated systems'}; give two runs with "
            "--like to measure these."
        )
        say("Significance level: 0.05, Holm-corrected over the headline metrics.")
        say("Groups: sentences that share an occupation, or another word or pair that a benchmark varies.")
    for what in left_out if as_json else left_out[:1]:
        more = f" (and {len(left_out) - 1} more)" if len(left_out) > 1 and not as_json else ""
        say(f"Left out: {what}{more}")


_ASKED = {"accuracy": "accuracy, women and men", "gender gap": "change in gender gap"}
"""What to call questions that would be mistaken for a metric of one system, or over all sentences."""


def _print_power(rows: list[dict[str, Any]], points: float) -> None:
    able = dict.fromkeys(f"{row['benchmark']} ({row['data']} data)" for row in rows if row["detectable"] <= points)
    best = min(rows, key=lambda row: row["detectable"])
    smallest_for = _ASKED.get(best["question"], best["question"])
    say(
        f"A difference of {points:g} points between two systems can be detected with {', '.join(able)}."
        if able
        else f"No comparison below can reliably detect a {points:g}-point difference between two systems; the smallest "
        f"detectable is {best['detectable']:.1f} ({smallest_for}, {best['benchmark']}, {best['data']} data)."
    )
    needed = [row["groups_needed"] for row in rows]
    every = {
        "groups": [f"{row['groups']:,}" for row in rows],
        "sentences": [f"{row['sentences']:,}" for row in rows],
        "smallest detectable": [f"{row['detectable']:.1f}" for row in rows],
        f"power at {points:g}": [f"{row['power']:.0%}" for row in rows],
        f"groups needed for {points:g}": ["–" if n is None else f"{n:,}" for n in needed],
    }
    where = [(row["benchmark"], row["data"]) for row in rows]
    asked = [_ASKED.get(row["question"], row["question"]) for row in rows]
    if not terminal.is_terminal(sys.stdout):
        cells = [(*place, *row) for place, *row in zip(where, asked, *every.values(), strict=True)]
        print_table("", ("benchmark", "data", "question", *every), cells)
        return
    headings = [f"{benchmark}, {data} data" for benchmark, data in where]
    title = "Comparing two systems: smallest detectable difference (points)"
    if len(rows) <= MOST_ROWS:
        in_full = zip(headings, zip(asked, *every.values(), strict=True), strict=True)
        print_table(f"{title}, and power to detect {points:g} points", ("question", *every), grouped(in_full))
        return
    smallest = {heading: dict[str, str]() for heading in headings}
    for heading, question, least in zip(headings, asked, every["smallest detectable"], strict=True):
        smallest[heading][question] = least
    questions = list(dict.fromkeys(asked))
    table = [(heading, *(found.get(one, "–") for one in questions)) for heading, found in smallest.items()]
    print_table(title, ("benchmark", *questions), table)
    print_text("Name a benchmark for the power and the number of groups needed.")
