"""The reference pages of the documentation, in Markdown, generated from the code whenever the site is built."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from types import FunctionType
from typing import Any

import typer

import gendermark
from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.cli import benchmarks as catalogue
from gendermark.cli.app import VERBS, application
from gendermark.data.official import Card, card_names, load_card
from gendermark.records import Task
from gendermark.selection import EVERYWHERE, JUDGING, Option, options_of
from gendermark.systems.services import Service

_PLAIN = str.maketrans({character: f"\\{character}" for character in "|<*["})
_NOTE = "*Generated from the code.*"


def pages(others: Collection[str]) -> dict[str, str]:
    """Return name -> Markdown; `others` are the pages that these may link to."""
    written = {
        "benchmarks": _page("Benchmarks", "Summary: `gendermark list benchmarks`.", _benchmarks(others)),
        "metrics": _page(
            "Metrics",
            "`compare` and `gate` use the headline metrics, in bold. Also: `gendermark list metrics`.",
            _metrics(),
        ),
        "systems": _page(
            "Systems",
            "Give options with `--system-option KEY=VALUE`; each family has a page that explains them.",
            _systems(others),
        ),
        "options": _page(
            "Options of benchmarks",
            "Each benchmark has its own options and rejects others. The first choice is the default.",
            _options(),
        ),
        "languages": _page(
            "Languages",
            "Target languages with a grammar and lexicon. Some benchmarks support others too.",
            [_listed("languages")],
        ),
        "commands": _page(
            "Command line",
            "Data goes to stdout, messages and progress to stderr. `--help` after any command shows the same.",
            _commands(),
        ),
        "python": _page(
            "Python",
            "The functions and records of `import gendermark`; user errors are `gendermark.UserError`.",
            _python(),
        ),
        "citations": _page("Papers to cite", "If you publish a number, cite the paper of its benchmark.", _citations()),
    }
    return {f"reference/{name}.md": text for name, text in written.items()}


# -- benchmarks --------------------------------------------------------------------------------------------------------


def _benchmarks(others: Collection[str]) -> Iterator[str]:
    benchmark: Benchmark
    for name, benchmark in registry.every("benchmark"):
        data = benchmark.choices_of("data")
        facts: list[tuple[str, str]] = [
            (f"{kind} data", catalogue.directions(benchmark, kind)) for kind in ("official", "core") if kind in data
        ]
        facts += [
            ("`--data`", ", ".join(f"`{choice}`" for choice in data)),
            ("`--rules`", ", ".join(f"`{choice}`" for choice in benchmark.choices_of("rules"))),
            ("headline metrics", ", ".join(f"`{metric}`" for metric in benchmark.measures.headline)),
        ]
        if benchmark.draws or benchmark.only_when_named:
            facts.append(("runs", "only if named with `--benchmark`"))
        if benchmark.card:
            facts += _of_card(load_card(benchmark.card))
        if benchmark.paper:
            facts.append(("paper", _plain(benchmark.paper)))
        folder = benchmark.settings.__module__.split(".")[-2].replace("_", "-")
        more = [f"[Details](../benchmarks/{folder}.md)"] if f"benchmarks/{folder}.md" in others else []
        yield _section(f"`{name}`: {benchmark.title}", benchmark.question, _facts(facts), *more)


def _facts(facts: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"- **{name}:** {text}" for name, text in facts)


def _of_card(card: Card) -> list[tuple[str, str]]:
    revisions = ", ".join(f"`{revision.revision_id}` ({revision.commit[:8]})" for revision in card.revisions)
    return [
        ("source of the official data", f"[{card.repository}]({card.homepage}), revisions {revisions}"),
        ("licence of the official data", _plain(f"{card.licence}. {card.licence_note}")),
        ("citation", _plain(card.citation)),
    ]


def _metrics() -> Iterator[str]:
    for name, benchmark in registry.every("benchmark"):
        headline = {metric.partition(":")[0] for metric in benchmark.measures.headline}
        rows = [
            (
                f"**`{about.name}`**" if about.name in headline else f"`{about.name}`",
                _plain(about.label),
                about.unit.scale,
                catalogue.GOOD[about.better],
                _plain(about.meaning),
            )
            for about in benchmark.measures.described
        ]
        yield _section(f"`{name}`", _table(("metric", "label", "scale", "best", "meaning"), rows))


def _options() -> Iterator[str]:
    taken = {verb: {flag for one in _parsed(verb).params for flag in one.opts} for verb in (*EVERYWHERE, *JUDGING)}
    for name, benchmark in registry.every("benchmark"):
        rows = []
        for option in options_of(benchmark.settings).values():
            flag = "--group" if option.name == "parts" else option.flag
            verbs = [
                verb for verb, flags in taken.items() if flag in flags and (verb in option.verbs or not option.verbs)
            ]
            if option.choices not in ((), ("",)) or option.help:
                rows.append((f"`{flag}`", _can_be(option), _plain(option.help) or "–", ", ".join(verbs)))
        yield _section(f"`{name}`", _table(("option", "values", "meaning", "commands"), rows))


def _can_be(option: Option) -> str:
    anything = "a number" if option.is_number else "anything"
    return ", ".join(f"`{choice}`" for choice in option.choices if choice) or anything


def _citations() -> Iterator[str]:
    for card in map(load_card, card_names()):
        yield _section(card.title, _plain(card.citation), f"```bibtex\n{card.bibtex.strip()}\n```")
    for _, benchmark in registry.every("benchmark"):
        if benchmark.paper:
            yield _section(benchmark.title, _plain(benchmark.paper))


# -- systems -----------------------------------------------------------------------------------------------------------


def _systems(others: Collection[str]) -> Iterator[str]:
    said = dict(catalogue.listing("systems").rows)
    rows = []
    for name, family in registry.every("system"):
        tasks = registry.sibling("system", name, "TASKS", frozenset())
        options = registry.sibling("system", name, "OPTIONS", ())
        module = family.__module__.rpartition(".")[2].replace("_", "-")
        is_service = isinstance(family, type) and issubclass(family, Service)
        likely = (f"systems/{module}.md", "systems/services.md" if is_service else "", "systems/README.md")
        page = next(page for page in likely if page in others)
        can = ", ".join(task.value for task in Task if task in tasks)
        about = _plain(said[f"{name}:…"])
        rows.append((f"[`{name}:`](../{page})", about, can, " ".join(f"`{option}`" for option in options) or "–"))
    yield _table(("family", "description", "tasks", "options"), rows)


# -- command line ------------------------------------------------------------------------------------------------------


def _commands() -> Iterator[str]:
    for name in VERBS:
        yield from _command(f"gendermark {name}", _parsed(name))


def _parsed(verb: str) -> Any:
    """The parser of a command."""
    whole: Any = typer.main.get_command(application([verb]))
    return whole.commands[verb]


def _command(path: str, command: Any) -> Iterator[str]:
    """A command and its subcommands."""
    rows = [_parameter(parameter) for parameter in command.params if not getattr(parameter, "hidden", False)]
    about = " ".join((command.help or "").split())
    shown = [_table(("", "meaning", "default"), rows)] if rows else []
    yield _section(f"`{path}`", _plain(about), *shown)
    for name, below in getattr(command, "commands", {}).items():
        yield from _command(f"{path} {name}", below)


def _parameter(parameter: Any) -> tuple[str, str, str]:
    is_option = parameter.param_type_name == "option"
    names = [*parameter.opts, *parameter.secondary_opts] if is_option else [parameter.metavar or parameter.name]
    default = parameter.default
    has_default = isinstance(default, int | float | str) and not isinstance(default, bool) and default != ""
    shown = "required" if parameter.required else f"`{default}`" if has_default else "–"
    return ", ".join(f"`{name}`" for name in names), _plain(getattr(parameter, "help", "") or "–"), shown


# -- Python ------------------------------------------------------------------------------------------------------------

_RECORDS = ("Result", "Estimate", "Judgement", "Person")


def _python() -> Iterator[str]:
    public = {name: getattr(gendermark, name) for name in gendermark.__all__}
    for name, found in public.items():
        if inspect.isfunction(found):
            yield _section(f"`{name}`", *_described(found))
    for name in _RECORDS:
        methods = [
            f"### `{name}.{method}`\n\n" + "\n\n".join(_described(one))
            for method, one in vars(public[name]).items()
            if not method.startswith("_") and isinstance(one, FunctionType | property)
        ]
        fields = [(f"`{one.name}`", _plain(str(one.type))) for one in dataclasses.fields(public[name])]
        yield _section(f"`{name}`", _paragraph(public[name]), _table(("field", "type"), fields), *methods)


def _described(function: Any) -> list[str]:
    """Signature, what it does, and its arguments, from the docstring."""
    called = function.fget if isinstance(function, property) else function
    text = inspect.getdoc(called) or ""
    _, _, listed = text.partition("\nArgs:\n")
    listed, _, returned = listed.partition("\nReturns:\n")
    rows = re.findall(r"^    (\w+): (.*(?:\n        .*)*)", listed, re.MULTILINE)
    signature = "" if isinstance(function, property) else str(inspect.signature(called))
    signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", signature)
    found = [f"```python\n{called.__name__}{signature}\n```", _paragraph(called)]
    if rows:
        found.append(_table(("argument", "meaning"), [(f"`{name}`", _cell(about)) for name, about in rows]))
    return [*found, *([f"Returns: {_cell(returned)}"] if returned else [])]


def _paragraph(documented: Any) -> str:
    return _cell(re.split(r"\n(?:Args|Returns):\n", inspect.getdoc(documented) or "")[0])


def _cell(text: str) -> str:
    """Text on one line; code in it stays code."""
    parts = " ".join(text.split()).split("`")
    return "`".join(part if place % 2 else part.translate(_PLAIN) for place, part in enumerate(parts))


# -- Markdown ----------------------------------------------------------------------------------------------------------


def _page(title: str, about: str, sections: Iterable[str]) -> str:
    return "\n\n".join([f"# {title}", about, _NOTE, *sections]) + "\n"


def _section(title: str, *paragraphs: str) -> str:
    return "\n\n".join([f"## {title}", *paragraphs])


def _listed(kind: str) -> str:
    table = catalogue.listing(kind)
    return _table(table.columns, [tuple(_plain(str(cell)) for cell in row) for row in table.rows])


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _plain(text: str) -> str:
    """Escape Markdown, and put the text on one line."""
    return " ".join(text.split()).translate(_PLAIN)
