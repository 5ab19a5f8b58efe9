"""Whether two results can be compared at all: the one key, made of everything a number depends on but the system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.errors import UnknownName, UserError
from gendermark.result import Result
from gendermark.selection import own_options

# Of a signature: whose numbers they are and how their intervals were made, not what was measured.
_NOT_MEASURED = frozenset({"gendermark", "benchmark", "direction", "system", "decoding", "intervals"})
_COVERED = _NOT_MEASURED | {"data", "rules", "cluster", "parts"}
_SIGNED = " as signed"


def conditions(result: Result) -> dict[str, str]:
    """What was measured and how, by name: data, rules, every option of the benchmark, what else is signed."""
    found = {
        **_asked(result),
        "data": result.origin,
        # With their version, which a run of last year may not share; it stands in the signature only.
        "rules": result.signed.get("rules", result.selection.rules),
    }
    # What an option was settled to (a tuned alpha, a version of a model) stands in the signature only.
    signed = {f"{key}{_SIGNED if key in found else ''}": value for key, value in result.signed.items()}
    found |= {key: value for key, value in signed.items() if key.removesuffix(_SIGNED) not in _COVERED}
    with suppress(UnknownName):  # a benchmark of another version is shown, and compares by what it signed
        benchmark: Benchmark = registry.load("benchmark", result.selection.benchmark)
        return dict(benchmark.as_compared(found))
    return found


def _asked(result: Result) -> dict[str, str]:
    """Those of the conditions that were chosen: they may be the same in every direction."""
    selection = result.selection
    return {
        "data": f"{selection.data} {selection.revision}".strip(),
        "rules": selection.rules,
        "cluster": selection.cluster,
        "parts": "+".join(selection.parts) or "all",
        **{name: str(getattr(selection, name)) for name in own_options(type(selection))},
    }


def key_of(result: Result) -> tuple[str, ...]:
    """Results with the same key may stand in one table."""
    return (result.cell, *(f"{name}={value}" for name, value in conditions(result).items()))


def _differing(a: Result, b: Result) -> dict[str, tuple[str, str]]:
    first, second = conditions(a), conditions(b)
    names = dict.fromkeys([*first, *second])
    return {
        name: (first.get(name, "none"), second.get(name, "none"))
        for name in names
        if first.get(name, "") != second.get(name, "")
    }


def check_comparable(a: Result, b: Result) -> list[str]:
    """Refuse two results that measure different things; remarks where what differs may be what is under study."""
    options = own_options(type(a.selection))
    remarks = []
    for name, (mine, theirs) in _differing(a, b).items():
        what = f"{a.cell}: the runs differ in {name} ({mine or 'none'} and {theirs or 'none'})"
        option = options.get(name.removesuffix(_SIGNED))
        if option is None or not option.may_differ:
            mend = f"; {option.mend}" if option and option.mend else ""
            raise UserError(f"{what}, so their numbers cannot be compared{mend}")
        if not name.endswith(_SIGNED):
            remarks.append(what)
    if len(a.judgements) != len(b.judgements) or any(
        x.item_id != y.item_id for x, y in zip(a.judgements, b.judgements, strict=True)
    ):
        raise UserError(
            f"{a.cell}: the runs do not hold the same items, so they cannot be paired; run both on the same data"
        )
    return remarks


def told_apart(results: Sequence[Result]) -> dict[tuple[str, ...], str]:
    """Key -> what sets it apart from others of its benchmark ("context joined"); empty where nothing does.

    Directions that were measured alike have the same label: they may stand in one table, and no others.
    """
    by_benchmark: dict[str, dict[tuple[str, ...], Result]] = {}
    labels: dict[tuple[str, ...], str] = {}
    for result in results:
        by_benchmark.setdefault(result.selection.benchmark, {})[key_of(result)] = result
        labels[key_of(result)] = ""  # in the order of the results
    for found in by_benchmark.values():
        labels |= _labels(found)
    return labels


def _labels(found: Mapping[tuple[str, ...], Result]) -> dict[tuple[str, ...], str]:
    """Of the results of one benchmark; as short as they can be while no two of a cell have the same."""
    measured = {key: conditions(result) for key, result in found.items()}
    # An option counts by what it came to, where its benchmark says so.
    asked = {
        key: {**_asked(result), **{name: measured[key].get(name, "") for name in own_options(type(result.selection))}}
        for key, result in found.items()
    }
    facts: dict[str, dict[tuple[str, ...], str]] = {}
    for name in dict.fromkeys(name for one in measured.values() for name in one):
        wishes = {key: asked[key].get(name, "") for key in found}
        values = {key: measured[key].get(name, "") for key in found}
        # Of another direction, data and tools are others even where the same was asked for.
        differing = {(key[0], value) for key, value in values.items()}
        if len(differing) > len({key[0] for key in found}) or len(set(wishes.values())) > 1:
            is_enough = len({(key[0], value) for key, value in wishes.items()}) == len(differing)
            facts[name] = wishes if is_enough else values
    chosen = [name for name in facts if not name.endswith(_SIGNED)]
    for names in (chosen, list(facts)):
        labels = {
            key: ", ".join(f"{name.replace('_', ' ')} {facts[name][key] or 'none'}" for name in names) for key in found
        }
        if len({(key[0], label) for key, label in labels.items()}) == len(found):
            break
    return labels


def described(result: Result, apart: str) -> str:
    """Data and rules in words, and what else sets a result apart: "core data, rules best, context joined"."""
    selection = result.selection
    said = (f"data {selection.data}", f"rules {selection.rules}")
    more = [part for part in apart.split(", ") if part and part not in said]
    return ", ".join([f"{selection.data} data", f"rules {selection.rules}", *more])
