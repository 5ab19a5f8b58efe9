"""Whether two results can be compared at all: the one key, made of everything a number depends on but the system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gendermark.errors import UserError
from gendermark.result import Result
from gendermark.selection import own_options

# Of a signature: whose numbers they are and how their intervals were made, not what was measured.
_NOT_MEASURED = frozenset({"gendermark", "benchmark", "direction", "system", "decoding", "intervals"})
_COVERED = _NOT_MEASURED | {"data", "rules", "cluster", "parts"}
_SIGNED = " as signed"


def conditions(result: Result) -> dict[str, str]:
    """What was measured and how, by name: data, rules, every option of the benchmark, what else is signed."""
    selection = result.selection
    found = {
        "data": result.origin,
        # With their version, which a run of last year may not share; it stands in the signature only.
        "rules": result.signed.get("rules", selection.rules),
        "cluster": selection.cluster,
        "parts": "+".join(selection.parts) or "all",
        **{name: str(getattr(selection, name)) for name in own_options(type(selection))},
    }
    # What an option was settled to (a tuned alpha, a version of a model) stands in the signature only.
    signed = {f"{key}{_SIGNED if key in found else ''}": value for key, value in result.signed.items()}
    return {**found, **{key: value for key, value in signed.items() if key.removesuffix(_SIGNED) not in _COVERED}}


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
        if not (name in options and options[name].may_differ):
            raise UserError(f"{what}, so their numbers cannot be compared")
        remarks.append(what)
    if [j.item_id for j in a.judgements] != [j.item_id for j in b.judgements]:
        raise UserError(
            f"{a.cell}: the runs do not hold the same items, so they cannot be paired; run both on the same data"
        )
    return remarks


def told_apart(results: Sequence[Result]) -> dict[tuple[str, ...], str]:
    """Key -> what sets it apart from the other keys of its cell ("context joined"); empty where nothing does."""
    by_cell: dict[str, dict[tuple[str, ...], Mapping[str, str]]] = {}
    for result in results:
        by_cell.setdefault(result.cell, {})[key_of(result)] = conditions(result)
    labels = {}
    for found in by_cell.values():
        names = dict.fromkeys(name for one in found.values() for name in one)
        varying = [name for name in names if len({one.get(name, "") for one in found.values()}) > 1]
        varying = [name for name in varying if not name.endswith(_SIGNED)] or varying
        for key, one in found.items():
            labels[key] = ", ".join(f"{name.replace('_', ' ')} {one.get(name) or 'none'}" for name in varying)
    return labels
