"""Options that several verbs share, and how they make a selection."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

import typer

from gendermark.errors import UserError
from gendermark.names import checked

if TYPE_CHECKING:
    from gendermark.metrics.metric import Resampling
    from gendermark.selection import Option


def language(given: Any) -> Any:
    """Languages are named by their codes; one that is given by its name, or in capitals, is told the code."""
    for text in [given] if isinstance(given, str) else given or ():
        if len(text) == 2 and text.islower():
            continue
        from gendermark.linguistics.codes import NAMES

        codes = {name.lower(): code for code, name in NAMES.items()} | {code: code for code in NAMES}
        if (code := codes.get(text.lower(), text)) != text:
            raise UserError(f"languages are given by their codes: write {code}, not {text}")
    return given


To = Annotated[str, typer.Option("--to", callback=language, help="Target language, for example es.")]
From = Annotated[str, typer.Option("--from", callback=language, help="Source language, if the benchmark has several.")]
Data = Annotated[
    str,
    typer.Option("--data", help="official (fetched), core (bundled, offline); some benchmarks: file:FILE and others."),
]
Revision = Annotated[str, typer.Option("--revision", help="Revision of the official data.")]
Rules = Annotated[str, typer.Option("--rules", help="best, or the published rules: paper.")]
Cluster = Annotated[
    str, typer.Option("--cluster", help="What intervals are clustered by: occupation, template, lexeme ...")
]
Resamples = Annotated[
    int, typer.Option("--resamples", min=100, max=1_000_000, help="Bootstrap resamples, for numbers that need them.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the resampling.")]
Confidence = Annotated[float, typer.Option("--confidence", help="Confidence of the intervals, between 0.5 and 1.")]


Executor = Annotated[
    str,
    typer.Option(
        "--executor",
        metavar="WHERE",
        help="Where the work is done: serial, processes[:N], dask[:N] or dask:ADDRESS; the results are the same.",
    ),
]
ResumedIn = Annotated[Path, typer.Option("-o", "--output", help="Directory; give the same one again to continue.")]
StudiedData = Annotated[str, typer.Option("--data", help="core (bundled) or official (fetched from its authors).")]
Store = Annotated[
    Path | None, typer.Option("--store", help="File that keeps finished translations; in the cache if not given.")
]
Name = Annotated[
    str, typer.Option("--name", metavar="NAME", help='What the system is called in tables and headings: "Bing 2019".')
]
Names = Annotated[
    list[str] | None,
    typer.Option("--name", metavar="NAME", help="Name of a system, in the order of the folders; repeatable."),
]


class Folder(NamedTuple):
    """A run folder that was given, and what its system is to be called; empty if the run says so itself."""

    path: Path
    name: str = ""


def folders(given: Sequence[str], names: Sequence[str] | None = None) -> list[Folder]:
    """Run folders, each as DIR or NAME=DIR; or their names by themselves, in the same order."""
    found = [_folder(text) for text in given]
    if not names:
        return found
    if len(names) > len(found):
        raise UserError(f"--name was given {len(names)} times, for fewer run folders ({len(found)})")
    if any(one.name for one in found):
        raise UserError("give names either as NAME=DIR or with --name, not both")
    return [Folder(one.path, checked(name)) for one, name in zip(found, names, strict=False)] + found[len(names) :]


def _folder(text: str) -> Folder:
    name, equals, path = text.partition("=")
    if not equals or not path or Path(text).exists() or not name.strip():
        return Folder(Path(text))
    return Folder(Path(path), checked(name))


def resampling(n_resamples: int, seed: int, confidence: float) -> Resampling:
    from gendermark.metrics.metric import Resampling

    if not 0.5 <= confidence < 1:
        raise UserError(f"--confidence is a share between 0.5 and 1 (0.95 is usual), not {confidence:g}")
    return Resampling(n_resamples, seed, confidence)


# -- options of the benchmarks -----------------------------------------------------------------------------------------


def takes_settings(verb: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Say that a verb takes the options that benchmarks have of their own, as their settings declare them.

    Those that are given reach the function as a dictionary, `settings`. The settings are not read before the verb is
    asked for: `gendermark --help` looks at all verbs.
    """

    def mark(function: Callable[..., None]) -> Callable[..., None]:
        function.takes_settings = verb  # type: ignore[attr-defined]
        return function

    return mark


def with_settings(function: Callable[..., Any]) -> Callable[..., Any]:
    """A verb as Typer is to see it: with the options of the benchmarks, if it takes them."""
    if not hasattr(function, "takes_settings"):
        return function
    declared = _declared(function.takes_settings)

    @wraps(function)
    def verb(*arguments: Any, **given: Any) -> None:
        own = {name: given.pop(name) for name in declared if name in given}
        function(*arguments, settings={name: _plain(value) for name, value in own.items() if value}, **given)

    hints = get_type_hints(function, include_extras=True)
    usual = inspect.signature(function).parameters.values()
    kept = [one.replace(annotation=hints[one.name]) for one in usual if one.name != "settings"]
    added = [_parameter(name, found) for name, found in declared.items()]
    # Typer reads these two.
    verb.__signature__ = inspect.Signature([*kept, *added])  # type: ignore[attr-defined]
    verb.__annotations__ = {one.name: one.annotation for one in (*kept, *added)}
    return verb


def _declared(verb: str) -> dict[str, list[tuple[str, Option]]]:
    """Name of an option -> the benchmarks that have it, and how each declares it."""
    from gendermark.selection import all_options

    found: dict[str, list[tuple[str, Option]]] = {}
    for benchmark, options in all_options().items():
        for name, option in options.items():
            if verb in option.verbs:
                found.setdefault(name, []).append((benchmark, option))
    return found


def _parameter(name: str, found: Sequence[tuple[str, Option]]) -> inspect.Parameter:
    by_help: dict[str, list[str]] = {}
    for benchmark, option in found:
        by_help.setdefault(option.help, []).append(benchmark)
    said = ". ".join(f"{text} ({', '.join(benchmarks)})" for text, benchmarks in by_help.items())
    option = found[0][1]
    kind: Any = str
    facts: dict[str, Any] = {"help": f"{said}.", "show_default": False}
    if option.is_number:
        kind, facts["min"] = int | None, 1
    elif option.is_repeatable:
        kind, facts["metavar"] = list[str] | None, "KEY=VALUE"
    default = "" if kind is str else None
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, typer.Option(option.flag, **facts)],
    )


def _plain(value: Any) -> Any:
    """An option that was given several times is the same as one with commas."""
    return joined_sampling(value) if isinstance(value, list) else value


def joined_sampling(texts: Sequence[str] | None) -> str:
    return ",".join(f"{key}={value}" for key, value in sampling_pairs(texts).items())


def sampling_pairs(texts: Sequence[str] | None) -> dict[str, str]:
    """How to draw, given by commas (`epsilon=0.2,seed=1`), by several options, or both."""
    parts = [part.strip() for text in texts or () for part in text.split(",")]
    return pairs(parts, "--sampling", "epsilon=0.2,seed=1", "KEY=VALUE,KEY=VALUE")


def pairs(texts: Sequence[str], option: str, example: str, form: str = "KEY=VALUE") -> dict[str, str]:
    """`KEY=VALUE` options as a dictionary."""
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key or not value:
            raise UserError(f"{option} is written {form}, for example {example}, not {text!r}")
        if key in found:
            raise UserError(f"{option} gives {key!r} twice; give it once")
        found[key] = value
    return found
