"""What a study of mitigation found, in words and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gendermark.records import Unit

Report = Mapping[str, Any]
_NAMES = {
    ("simplegen", "correct", "fc"): "women right on SimpleGEN",
    ("simplegen", "correct", "mc"): "men right on SimpleGEN",
    ("winomt", "accuracy", "feminine"): "women right on WinoMT",
    ("winomt", "accuracy", "masculine"): "men right on WinoMT",
    ("bleu", "bleu", "all"): "BLEU",
    ("chrf", "chrf", "all"): "chrF",
}
"""The columns of the table, in their order."""
COLUMNS = ("mitigation", *_NAMES.values(), "open changed", "ms", "times as long")
LONG_COLUMNS = ("mitigation", "cell", "metric", "slice", "first", "second", "difference", "low", "high", "p_adjusted")


def _rows(mitigation: Mapping[str, Any]) -> dict[tuple[str, str, str], Mapping[str, Any]]:
    return {(row["cell"].partition(".")[0], row["metric"], row["slice"]): row for row in mitigation["comparisons"]}


def findings(report: Report) -> list[str]:
    """A sentence or two for each mitigation; never surer than the intervals."""
    return [_finding(mitigation) for mitigation in report["mitigations"]] + [
        _of_reader(one) for one in report["reader"]
    ]


def _finding(mitigation: Mapping[str, Any]) -> str:
    rows = _rows(mitigation)
    told = [_told(name, rows[key]) for key, name in _NAMES.items() if key in rows]
    if mitigation["times_as_long"] is not None:
        told.append(f"it takes {mitigation['times_as_long']:.2f} times as long")
    said = "the oracle (an upper bound: told the genders)" if mitigation["is_upper_bound"] else mitigation["name"]
    n, n_changed = mitigation["open"]["n"], mitigation["open"]["n_changed"]
    if n:
        told.append(
            f"where the gender is open, {n_changed:,} of {n:,} translations changed"
            + (", which should not be" if n_changed else "")
        )
    return f"{said}: {'; '.join(told)}."


def _told(name: str, row: Mapping[str, Any]) -> str:
    unit = Unit(row["unit"])
    if row["difference"] is None:
        return f"{name}: no value to compare"
    if row["difference"] == 0:
        return f"{name} {unit.show(row['first'])}, unchanged"
    interval = "" if row["low"] is None else f", {unit.show(row['low'])} to {unit.show(row['high'])}"
    word = {"unclear": "could be chance", "changed": "more than chance"}.get(row["change"], row["change"])
    return (
        f"{name} {unit.show(row['first'])} to {unit.show(row['second'])} "
        f"({unit.show_change(row['difference'])}{interval}: {word})"
    )


def _of_reader(score: Mapping[str, Any]) -> str:
    name = {"simplegen": "SimpleGEN", "winomt": "WinoMT"}.get(score["benchmark"], score["benchmark"])
    n, n_decided = score["n_told"], score["n_decided"]
    said = f"The reader of sources decides {n_decided:,} of {n:,} sentences of {name} that tell the person's gender"
    return f"{said}, {score['n_right']:,} of them rightly." if n_decided else f"{said}."


def table(report: Report) -> list[tuple[str, ...]]:
    """A row for the plain system and each mitigation, as people read it."""
    first = report["mitigations"][0]
    plain = [_value(_rows(first).get(key), "first") for key in _NAMES]
    rows = [("plain", *plain, "", _number(report["milliseconds"], 2), "1")]
    for mitigation in report["mitigations"]:
        found = _rows(mitigation)
        cells = [_changed(found.get(key)) for key in _NAMES]
        name = "oracle (upper bound)" if mitigation["is_upper_bound"] else mitigation["name"]
        opened = f"{mitigation['open']['n_changed']:,} of {mitigation['open']['n']:,}"
        times = (_number(mitigation["milliseconds"], 2), _number(mitigation["times_as_long"], 2))
        rows.append((name, *cells, opened, *times))
    return rows


def long_rows(report: Report) -> list[tuple[Any, ...]]:
    """Every comparison with all its digits, and the times."""
    return [
        (mitigation["name"], *(row[column] for column in LONG_COLUMNS[1:]))
        for mitigation in report["mitigations"]
        for row in (*mitigation["comparisons"], *_times(report, mitigation))
    ]


def _times(report: Report, mitigation: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    if mitigation["milliseconds"] is None:
        return ()
    row = dict.fromkeys(LONG_COLUMNS)
    first, second = report["milliseconds"], mitigation["milliseconds"]
    return ({**row, "cell": "time", "metric": "milliseconds", "slice": "simplegen", "first": first, "second": second},)


def _value(row: Mapping[str, Any] | None, side: str) -> str:
    return "–" if row is None else Unit(row["unit"]).show(row[side])


def _changed(row: Mapping[str, Any] | None) -> str:
    if row is None or row["difference"] is None:
        return "–"
    unit = Unit(row["unit"])
    change = f"{unit.show(row['second'])} ({unit.show_change(row['difference'])}"
    return f"{change})" if row["low"] is None else f"{change}; {unit.show(row['low'])} to {unit.show(row['high'])})"


def _number(value: float | None, decimals: int) -> str:
    return "–" if value is None else f"{value:.{decimals}f}"


def markdown(report: Report) -> str:
    """The table, and what was found."""
    rows = [COLUMNS, ("---",) * len(COLUMNS), *table(report)]
    lines = [f"# Mitigation of {report['system']} into {report['target_language']} ({report['data']})", ""]
    lines += [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    lines += ["", *(f"- {sentence}" for sentence in (*report["findings"], *report["notes"]))]
    return "\n".join(lines) + "\n"
