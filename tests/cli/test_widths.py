"""Every table that people read, on narrow terminals: all its numbers are there, and no line is too long."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from gendermark.cli import terminal
from gendermark.records import Unit, show_p

QUICK = ("--resamples", "500")


def _of_results(printed: Any) -> Iterator[str]:
    for result in printed.get("results", [printed]):
        for e in result["estimates"]:
            yield from (Unit(e["unit"]).show(e[key]) for key in ("value", "low", "high"))
            yield from (f"{e[key]:,}" for key in ("n_judged", "n_total", "n_groups"))
            yield show_p(e["p_value"]) if e["p_value"] is not None else ""


def _of_comparisons(printed: Any) -> Iterator[str]:
    for c in printed["comparisons"]:
        unit = Unit(c["unit"])
        yield from (unit.show(c[key]) for key in ("first", "second", "low", "high"))
        yield from (unit.show_change(c["difference"]), show_p(c["p_adjusted"]), c["change"])


def _of_matrix(printed: Any) -> Iterator[str]:
    for m in printed["matrix"]:
        yield from (Unit.SHARE.show(run[key]) for run in m["values"] for key in ("value", "low", "high"))
        yield from (Unit.SHARE.show_change(d["difference"]) for d in m["differences"])


def _of_checks(printed: Any) -> Iterator[str]:
    for check in printed["checks"]:
        yield from (check["cell"], check["metric"], check["slice"], *check["finding"].split())


def _of_power(printed: Any) -> Iterator[str]:
    for row in printed["rows"]:
        yield from (row["benchmark"], f"{row['groups']:,}", f"{row['sentences']:,}", f"{row['detectable']:.1f}")
        yield f"{row['power']:.0%}"


def _of_data(printed: Any) -> Iterator[str]:
    for one in printed["data"]:
        yield from (one["name"], one["revision"], *(f"{g['n_cached']}/{g['n_files']}" for g in one["groups"].values()))


def _of_list(printed: Any) -> Iterator[str]:
    for row in next(iter(printed.values())):
        yield from (word for cell in row.values() for word in str(cell).split())


COMMANDS: dict[str, tuple[tuple[str, ...], Callable[[Any], Iterator[str]]]] = {
    "run": (
        (
            "run",
            "--system",
            "fake:right?p=0.5",
            "--benchmark",
            "tgbi",
            "--from",
            "ko",
            "--to",
            "en",
            "--data",
            "core",
            "-o",
            "{tmp}/r",
        ),
        _of_results,
    ),
    "score": (
        ("score", "simplegen", "--to", "es", "--data", "core", "--translations", "{good}", "--resamples", "100"),
        _of_results,
    ),
    "compare": (("compare", "{small}/one", "{small}/two", "--all", *QUICK), _of_comparisons),
    "many": (("compare", "{small}/one", "{small}/two", "{tmp}/three", "--metric", "p_s:negative", *QUICK), _of_matrix),
    "gate": (("gate", "{small}/two", "--baseline", "{small}/one", *QUICK), _of_checks),
    "power": (("power", "terms", "simplegen", "--to", "es", "--data", "core"), _of_power),
    "data": (("data", "list"), _of_data),
    "benchmarks": (("list", "benchmarks"), _of_list),
    "systems": (("list", "systems"), _of_list),
    "metrics": (("list", "metrics"), _of_list),
    "languages": (("list", "languages"), _of_list),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_number_is_lost_and_no_line_is_too_long(
    cli: Any, name: str, small: Path, good_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, numbers_of = COMMANDS[name]
    shutil.copytree(small / "one", tmp_path / "three")
    words = tuple(word.format(tmp=tmp_path, small=small, good=good_file) for word in words)
    printed = cli(*words, "--json")
    numbers = set(filter(None, numbers_of(printed.json)))
    assert len(numbers) > 3
    monkeypatch.setattr(terminal, "is_terminal", lambda stream: stream is sys.stdout)
    for width in (40, 60, 80):
        monkeypatch.setenv("COLUMNS", str(width))
        text = cli(*words).out
        assert max(map(cell_len, text.splitlines())) <= width
        # What is longer than a line goes on in the next.
        joined = "".join(text.split())
        lost = {number for number in numbers if "".join(number.split()) not in joined}
        assert not lost, width
        assert text.count("…") == 0 or "…" in printed.out, "nothing is cut"


@pytest.mark.parametrize("name", ["run", "compare", "gate", "power"])
def test_piped_every_digit_is_there(
    cli: Any, name: str, small: Path, good_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    words = tuple(word.format(tmp=tmp_path, small=small, good=good_file) for word in COMMANDS[name][0])
    printed, piped = cli(*words, "--json").json, cli(*words).out
    found = {cell for line in piped.splitlines() for cell in line.split("\t")}
    if name in ("run", "compare"):
        rows = printed["results"][0]["estimates"] if name == "run" else printed["comparisons"]
        for key in ("value", "low", "high") if name == "run" else ("first", "second", "low", "high", "p_adjusted"):
            assert {repr(row[key]) for row in rows if row[key] is not None} <= found
    elif name == "gate":
        assert {check["finding"] for check in printed["checks"]} <= found
    else:
        assert {f"{row['sentences']:,}" for row in printed["rows"]} <= found


def test_what_fits_is_a_table_and_what_does_not_a_list(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda _: True)
    columns, rows = ("metric", "value", "interval"), [("right gender", 61.2, "[55.0, 67.3]"), ("성별", 5, None)]
    for width, shown in (
        (
            40,
            "Numbers\n"
            "metric        value      interval\n"
            "─────────────────────────────────\n"
            "right gender   61.2  [55.0, 67.3]\n"
            "성별              5\n\n",
        ),
        (
            30,
            "Numbers\nmetric: right gender\n  value: 61.2\n  interval: [55.0, 67.3]\nmetric: 성별\n  value: 5\n\n",
        ),
    ):
        monkeypatch.setenv("COLUMNS", str(width))
        terminal.print_table("Numbers", columns, rows)
        assert capsys.readouterr().out == shown
