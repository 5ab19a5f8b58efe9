"""What a study of mitigation found, in words and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gendermark.lab.paired import BLEU, CHRF, by_key, change_cell, told, value_cell

Report = Mapping[str, Any]
_NAMES = {
    ("simplegen", "correct", "fc"): "women right on SimpleGEN",
    ("simplegen", "correct", "mc"): "men right on SimpleGEN",
    ("winomt", "accuracy", "feminine"): "women right on WinoMT",
    ("winomt", "accuracy", "masculine"): "men right on WinoMT",
    BLEU: "BLEU",
    CHRF: "chrF",
}
"""The columns of the table, in their order."""
COLUMNS = ("mitigation", *_NAMES.values(), "open changed", "ms", "times as long")
LONG_COLUMNS = ("mitigation", "cell", "metric", "slice", "first", "second", "difference", "low", "high", "p_adjusted")


def findings(report: Report) -> list[str]:
    """A sentence or two for each mitigation; never surer than the intervals."""
    return [_finding(mitigation) for mitigation in report["mitigations"]] + [
        _of_reader(one) for one in report["reader"]
    ]


def _finding(mitigation: Mapping[str, Any]) -> str:
    rows = by_key(mitigation["comparisons"])
    changes = [told(name, rows[key]) for key, name in _NAMES.items() if key in rows]
    if mitigation["times_as_long"] is not None:
        changes.append(f"it takes {mitigation['times_as_long']:.2f} times as long")
    said = "the oracle (an upper bound: told the genders)" if mitigation["is_upper_bound"] else mitigation["name"]
    n, n_changed = mitigation["open"]["n"], mitigation["open"]["n_changed"]
    if n:
        changes.append(
            f"where the gender is open, {n_changed:,} of {n:,} translations changed"
            + (", which should not be" if n_changed else "")
        )
    return f"{said}: {'; '.join(changes)}."


def _of_reader(score: Mapping[str, Any]) -> str:
    name = {"simplegen": "SimpleGEN", "winomt": "WinoMT"}.get(score["benchmark"], score["benchmark"])
    n, n_decided = score["n_told"], score["n_decided"]
    said = f"The reader of sources decides {n_decided:,} of {n:,} sentences of {name} that tell the person's gender"
    return f"{said}, {score['n_right']:,} of them rightly." if n_decided else f"{said}."


def table(report: Report) -> list[tuple[str, ...]]:
    """A row for the plain system and each mitigation, as people read it."""
    first = report["mitigations"][0]
    plain = [value_cell(by_key(first["comparisons"]).get(key), "first") for key in _NAMES]
    rows = [("plain", *plain, "", _number(report["milliseconds"], 2), "1")]
    for mitigation in report["mitigations"]:
        found = by_key(mitigation["comparisons"])
        cells = [change_cell(found.get(key)) for key in _NAMES]
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


def _number(value: float | None, decimals: int) -> str:
    return "–" if value is None else f"{value:.{decimals}f}"


def markdown(report: Report) -> str:
    """The table, and what was found."""
    rows = [COLUMNS, ("---",) * len(COLUMNS), *table(report)]
    lines = [f"# Mitigation of {report['system']} into {report['target_language']} ({report['data']})", ""]
    lines += [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    lines += ["", *(f"- {sentence}" for sentence in (*report["findings"], *report["notes"]))]
    return "\n".join(lines) + "\n"
