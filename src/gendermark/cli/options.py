"""Turn functions into verbs; options shared by verbs; groups of options behind one parameter.

A verb is an ordinary function, its parameters are the options, and positional parameters without a default are
arguments. The docstring's `Args:` has their help, `name (METAVAR): Help.`, or `settings.toml` of the verb's package, by
module. A parameter with an `option_group` as default takes the options of the group: `how: Resampling =
option_group(resampling)` gives a verb `--resamples` and the like, and passes it a `Resampling`. A group is a function
or a dataclass of settings whose parameters Typer can read. Such a dataclass may itself hold groups,
`Annotated[Resampling, option_group(resampling)]`, and repeatable options, `tuple[str, ...]`.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cache, partial, wraps
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar, get_args, get_origin

import typer
from typer import Option
from typer.models import ArgumentInfo, OptionInfo

from gendermark.errors import UserError
from gendermark.names import checked

if TYPE_CHECKING:
    from gendermark import selection
    from gendermark.metrics.metric import Resampling

Built = TypeVar("Built")


def language(given: Any) -> Any:
    """Refuse a language name, or a code in capitals, and give the correct code."""
    for text in [given] if isinstance(given, str) else given or ():
        if len(text) == 2 and text.islower():
            continue
        from gendermark.reading.codes import NAMES

        codes = {name.lower(): code for code, name in NAMES.items()} | {code: code for code in NAMES}
        if (code := codes.get(text.lower(), text)) != text:
            raise UserError(f"use the language code: write {code}, not {text}")
    return given


_SHARED = tomllib.loads((files("gendermark.cli") / "options.toml").read_text(encoding="utf-8"))


def _shared(name: str, **more: Any) -> Any:
    row = {**_SHARED[name], **more}
    return Option(*row.pop("flags"), **row)


To = Annotated[str, _shared("to", callback=language)]
Targets = Annotated[tuple[str, ...], _shared("targets", callback=language)]
From = Annotated[str, _shared("from", callback=language)]
Data = Annotated[str, _shared("data")]
StudiedData = Annotated[str, _shared("studied_data")]
Revision = Annotated[str, _shared("revision")]
Rules = Annotated[str, _shared("rules")]
Cluster = Annotated[str, _shared("cluster")]
Resamples = Annotated[int, _shared("resamples")]
Interval = Annotated[str, _shared("interval")]
Seed = Annotated[int, _shared("seed")]
Confidence = Annotated[float, _shared("confidence")]
Log = Annotated[str, _shared("log")]
AcceptUnsound = Annotated[bool, _shared("accept_unsound")]
Executor = Annotated[str, _shared("executor")]
ResumedIn = Annotated[Path, _shared("resumed_in")]
Store = Annotated[Path | None, _shared("store")]
Sets = Annotated[tuple[str, ...], _shared("sets")]
Name = Annotated[str, _shared("name", callback=lambda name: checked(name) if name else "")]
Names = Annotated[tuple[str, ...], _shared("names")]
AtLeastNone = Annotated[int, Option(min=0)]
AtLeastOne = Annotated[int, Option(min=1)]


# -- groups of options -------------------------------------------------------------------------------------------------


class _Group(NamedTuple):
    load: Callable[[Sequence[str]], Callable[..., Any]]
    """Loads the function that builds the value from the options, given the words of the command line."""
    defaults: Mapping[str, Any]


def option_group(build: Callable[..., Built], **defaults: Any) -> Built:
    """The default (or annotation) of a verb's parameter that is built from several options.

    The options are the parameters of `build`. `defaults` replace its own.
    """
    group: Any = _Group(lambda _: build, defaults)
    return group  # type: ignore[no-any-return]


def expanded(verb: Callable[..., Any], words: Sequence[str] = ()) -> Callable[..., Any]:
    """A verb as Typer reads it: with the options of its groups and with help; `words` are from the command line."""
    groups: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    repeatable: list[str] = []
    parameters: list[inspect.Parameter] = []
    about, explained = _explained(verb)
    for one in _parameters(verb):
        group = next((each for each in (one.default, *_notes(one)) if isinstance(each, _Group)), None)
        if group is not None:
            build = expanded(group.load(words), words)
            own = [each.replace(default=group.defaults.get(each.name, each.default)) for each in _parameters(build)]
            groups[one.name] = build, [each.name for each in own]
            parameters += own
            continue
        facts = explained.get(one.name, {})
        if one.name == "rules" and (rules := _rules_of(words)):
            facts = {**facts, "help": rules}
        parameter, is_repeatable = _for_typer(one, facts)
        if is_repeatable:
            repeatable.append(one.name)
        parameters.append(parameter)

    @wraps(verb)
    def whole(**given: Any) -> Any:
        made = {name: build(**{key: given.pop(key) for key in keys}) for name, (build, keys) in groups.items()}
        made |= {name: tuple(given.pop(name) or ()) for name in repeatable}
        return verb(**given, **made)

    # Typer reads these.
    whole.__doc__ = about
    whole.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    whole.__annotations__ = {one.name: one.annotation for one in parameters}
    return whole


def _rules_of(words: Sequence[str]) -> str:
    """Help on the rules of the benchmark named on the command line; empty if none is."""
    from gendermark import registry

    name = next((word for word in words if word in registry.names("benchmark")), "")
    if not name:
        return ""
    choices: Sequence[str] = registry.load("benchmark", name).choices_of("rules")
    published = ", ".join(one for one in choices if one != "best")
    return (
        f"Scoring rules: best (gendermark's corrected rules){f', or as published: {published}' if published else ''}."
    )


_EXPLAINED = re.compile(r"^    (\w+)(?: \(([^)]*)\))?: (.+(?:\n {8}.+)*)", re.MULTILINE)


Facts = Mapping[str, Any]
"""Of an option: help, metavar, flags if not its name, min and max."""


def _explained(verb: Callable[..., Any]) -> tuple[str, dict[str, Facts]]:
    """The help of a verb, and the facts of each parameter."""
    about, _, parameters = (inspect.getdoc(verb) or "").partition("\n\nArgs:\n")
    texts = _EXPLAINED.findall(parameters)
    found = {name: {"metavar": metavar, "help": " ".join(text.split())} for name, metavar, text in texts}
    package, _, module = verb.__module__.rpartition(".")
    return about, {**_settings_in(package).get(module, {}), **found}


@cache
def _settings_in(package: str) -> Mapping[str, dict[str, Facts]]:
    """By module and parameter."""
    path = files(package) / "settings.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _for_typer(one: inspect.Parameter, facts: Facts) -> tuple[inspect.Parameter, bool]:
    """A parameter with the facts of its option, and whether it may be repeated (`tuple[X, ...]`).

    With help and without flags, it is an argument if it is positional without a default.
    """
    kind, *notes = get_args(one.annotation) if _notes(one) else (one.annotation,)
    is_required = one.default is inspect.Parameter.empty
    is_positional = is_required and one.kind is not inspect.Parameter.KEYWORD_ONLY
    is_argument = is_positional and "help" in facts and "flags" not in facts
    note = copy(notes[0]) if notes else typer.Argument() if is_argument else Option()
    if facts:
        for fact in ("help", "min", "max"):
            setattr(note, fact, facts.get(fact, getattr(note, fact)))
        note.metavar = facts.get("metavar") or note.metavar
        if isinstance(note, OptionInfo) and note.default is ... and not note.param_decls:
            name = one.name.rstrip("_")
            usual = ["-o", "--output"] if name == "output" else [f"--{name.replace('_', '-')}"]
            note.param_decls = tuple(facts.get("flags", usual))
    members = {kind, *get_args(kind)}
    if not note.metavar and isinstance(note, ArgumentInfo):
        note.metavar = one.name.upper()
    elif not note.metavar and bool not in members:
        note.metavar = "PATH" if Path in members else "N" if members & {int, float} else "TEXT"
    default, is_repeatable = one.default, get_origin(kind) is tuple and ... in members
    if is_repeatable:  # Typer reads lists
        kind = list[get_args(kind)[0]]  # type: ignore[misc]
        if not is_required:
            kind, default = kind | None, None
    annotated: Any = Annotated
    read: dict[str, Any] = {"annotation": annotated[kind, note], "default": default}
    return one.replace(kind=inspect.Parameter.KEYWORD_ONLY, **read), is_repeatable


Groups = Mapping[str, Mapping[str, Any]]
"""The content of `commands.toml`."""


def panels_of(group: Mapping[str, Any]) -> dict[str, Mapping[str, str]]:
    """Panel of the help -> name of a command -> its function, or the group below."""
    return {panel: places for panel, places in group.items() if panel != "help"}


def add_commands(
    app: typer.Typer, groups: Groups, group: str, words: Sequence[str], *, in_full: bool = True
) -> typer.Typer:
    """Add the command of a group that `words` begin with, and what help shows of the others.

    If `words` match none, add all `in_full`, or as help shows them. A module is loaded when its command, or its help,
    is requested.
    """
    panels = panels_of(groups[group])
    wanted = words[0] if words else ""
    is_known = any(wanted in places for places in panels.values())
    for panel, places in panels.items():
        for name, place in places.items():
            needed = name == wanted or (in_full and not is_known)
            if place in groups and needed:
                below = add_commands(typer.Typer(help=groups[place]["help"]), groups, place, words[1:])
                app.add_typer(below, name=name, rich_help_panel=panel)
            elif needed:
                app.command(name, rich_help_panel=panel)(expanded(_loaded(place), words))
            else:
                about = "" if is_known else groups[place]["help"] if place in groups else _explained(_loaded(place))[0]
                app.command(name, help=about, rich_help_panel=panel)(_not_asked_for)
    return app


def _loaded(path: str) -> Callable[..., Any]:
    module, _, attribute = path.partition(":")
    found: Callable[..., Any] = getattr(import_module(f"gendermark.{module}"), attribute)
    return found


def _not_asked_for() -> None:
    """Placeholder for a command whose help alone is needed."""


def _notes(parameter: inspect.Parameter) -> tuple[Any, ...]:
    return getattr(parameter.annotation, "__metadata__", ())


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Parameters with types; types of groups stay text, as they may name what only type checkers import."""
    names = vars(import_module(inspect.unwrap(function).__module__))
    return [
        one.replace(annotation=eval(one.annotation, names))
        if isinstance(one.annotation, str) and not isinstance(one.default, _Group)
        else one
        for one in inspect.signature(function).parameters.values()
    ]


def resampling(
    resamples: Resamples = 1000, seed: Seed = 12345, confidence: Confidence = 0.95, interval: Interval = "jackknife"
) -> Resampling:
    from gendermark.metrics.metric import Resampling

    return Resampling(resamples, seed, confidence, interval)


def selected(
    from_: From = "", data: Data = "official", revision: Revision = "", rules: Rules = "best", cluster: Cluster = ""
) -> dict[str, Any]:
    return {"source_language": from_, "data": data, "revision": revision, "rules": rules, "cluster": cluster}


def system_options(system_option: tuple[str, ...] = ()) -> dict[str, str]:
    """Read the options of a system.

    Args:
        system_option (KEY=VALUE): System option, for example beam_size=5; repeatable.
    """
    return pairs(system_option, "--system-option", "beam_size=5")


def pairs(texts: Sequence[str], option: str, example: str, form: str = "KEY=VALUE") -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key or not value:
            raise UserError(f"{option} takes {form}, for example {example}, not {text!r}")
        if key in found:
            raise UserError(f"{option} sets {key!r} twice; set it once")
        found[key] = value
    return found


def sampling_pairs(texts: Sequence[str]) -> dict[str, str]:
    parts = [part.strip() for text in texts for part in text.split(",")]
    return pairs(parts, "--sampling", "epsilon=0.2,seed=1", "KEY=VALUE,KEY=VALUE")


# -- options of the benchmarks -----------------------------------------------------------------------------------------


def benchmark_options(verb: str) -> dict[str, Any]:
    """The default of a verb's parameter for benchmarks' own options, as far as they are given."""
    group: Any = _Group(partial(_settings, verb), {})
    return group  # type: ignore[no-any-return]


def _settings(verb: str, words: Sequence[str]) -> Callable[..., dict[str, Any]]:
    """A function that takes the options of all benchmarks; `--help` shows those of the benchmarks in `words`."""
    from gendermark.selection import all_options

    declared: dict[str, list[tuple[str, selection.Option]]] = {}
    for benchmark, options in all_options().items():
        for name, option in options.items():
            if verb in option.verbs:
                declared.setdefault(name, []).append((benchmark, option))

    def given(**values: Any) -> dict[str, Any]:
        # Join a repeated option with commas.
        return {
            name: ",".join(f"{key}={one}" for key, one in sampling_pairs(value).items())
            if isinstance(value, list)
            else value
            for name, value in values.items()
            if value
        }

    given.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [_parameter(name, found, words) for name, found in declared.items()]
    )
    return given


_LONGEST_CHOICES = 30


def _parameter(name: str, found: Sequence[tuple[str, selection.Option]], words: Sequence[str]) -> inspect.Parameter:
    shown = [(benchmark, option) for benchmark, option in found if benchmark in words]
    benchmark, option = (shown or found)[0]
    facts: dict[str, Any] = {"help": f"{option.help}.", "show_default": False, "hidden": not shown}
    facts["rich_help_panel"] = f"Options of {benchmark}"
    kind: Any = str
    choices = "|".join(filter(None, option.choices))
    if option.choices and len(choices) <= _LONGEST_CHOICES:
        facts["metavar"] = choices
    if option.is_number:
        kind, facts["min"] = int | None, 1
    elif option.is_repeatable:
        kind, facts["metavar"] = list[str] | None, "KEY=VALUE"
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default="" if kind is str else None,
        annotation=Annotated[kind, Option(option.flag, **facts)],
    )


# -- run folders -------------------------------------------------------------------------------------------------------


class Folder(NamedTuple):
    """A run folder, and the system name given with it; empty for the stored name."""

    path: Path
    name: str = ""


def folders(given: Sequence[str], names: Sequence[str] = ()) -> list[Folder]:
    """Read run folders given as DIR or NAME=DIR, or named by --name in the same order."""
    found = []
    for text in given:
        name, equals, path = text.partition("=")
        is_named = equals and path and name.strip() and not Path(text).exists()
        found.append(Folder(Path(path), checked(name)) if is_named else Folder(Path(text)))
    if not names:
        return found
    if len(names) > len(found):
        raise UserError(f"--name was given {len(names)} times for {len(found)} run folders")
    if any(one.name for one in found):
        raise UserError("give names either as NAME=DIR or with --name, not both")
    return [Folder(one.path, checked(name)) for one, name in zip(found, names, strict=False)] + found[len(names) :]
