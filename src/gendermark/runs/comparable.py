"""Whether two results can be compared at all: the one key, made of everything a number depends on but the system."""

from __future__ import annotations

from collections.abc import Sequence

from gendermark.errors import UserError
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
    return {**found, **{key: value for key, value in signed.items() if key.removesuffix(_SIGNED) not in _COVERED}}


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
        if not (name in options and options[name].may_differ):
            raise UserError(f"{what}, so their numbers cannot be compared")
        remarks.append(what)
    if [j.item_id for j in a.judgements] != [j.item_id for j in b.judgements]:
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
        facts = {key: (_asked(result), conditions(result)) for key, result in found.items()}
        for name in dict.fromkeys(name for _, measured in facts.values() for name in measured):
            if name.endswith(_SIGNED) and any(labels[key] for key in facts):
                continue  # the option that it belongs to has said it
            # (cell, what was asked, what was measured): of other directions data and tools may be others.
            all_of = {key: (key[0], asked.get(name), m.get(name, "")) for key, (asked, m) in facts.items()}
            cells, wishes = len({cell for cell, _, _ in all_of.values()}), {asked for _, asked, _ in all_of.values()}
            measured = {(cell, value) for cell, _, value in all_of.values()}
            if len(measured) == cells and len(wishes) == 1:
                continue
            is_enough = len({(cell, asked) for cell, asked, _ in all_of.values()}) == len(measured)
            for key, (_, asked, value) in all_of.items():
                shown = f"{name.replace('_', ' ')} {(asked if is_enough else value) or 'none'}"
                labels[key] = f"{labels[key]}, {shown}" if labels[key] else shown
    return labels


def described(result: Result, apart: str) -> str:
    """Data and rules in words, and what else sets a result apart: "core data, rules best, context joined"."""
    selection = result.selection
    said = (f"data {selection.data}", f"rules {selection.rules}")
    more = [part for part in apart.split(", ") if part and part not in said]
    return ", ".join([f"{selection.data} data", f"rules {selection.rules}", *more])
