"""What people read on a terminal: drawn tables, progress, findings, and next commands that work as they are printed."""

from __future__ import annotations

import csv
import json
import logging
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from cli.conftest import Cli
from gendermark.cli import app, terminal
from gendermark.io import progress as progress_lines
from gendermark.records import Unit, show_p

NEGATIVE = "run --benchmark tgbi --from ko --to en --data core --group negative"


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stdout is a terminal, stderr is not."""
    monkeypatch.setattr(terminal, "is_terminal", lambda stream: stream is sys.stdout)


# -- tables ------------------------------------------------------------------------------------------------------------


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
        yield from (unit.show_change(c["difference"]), show_p(c["p_adjusted"]))


def _of_matrix(printed: Any) -> Iterator[str]:
    for m in printed["matrix"]:
        yield from (Unit.SHARE.show(run["value"]) for run in m["values"])
        yield from (Unit.SHARE.show_change(d["difference"]) for d in m["differences"])


def _of_checks(printed: Any) -> Iterator[str]:
    for check in printed["checks"]:
        yield from (check["cell"].partition(".")[2], check["metric"], *check["finding"].replace(",", " ").split())


def _of_power(printed: Any) -> Iterator[str]:
    for row in printed["rows"]:
        yield from (row["benchmark"], f"{row['groups']:,}", f"{row['sentences']:,}", f"{row['detectable']:.1f}")
        yield f"{row['power']:.0%}"


def _of_data(printed: Any) -> Iterator[str]:
    for one in printed["data"]:
        yield from (one["name"], one["revision"], *(f"{g['n_cached']}/{g['n_files']}" for g in one["groups"].values()))


def _of_list(printed: Any) -> Iterator[str]:
    """Of benchmarks, rules and the title are in their help; of metrics, definitions in the JSON."""
    for row in next(iter(printed.values())):
        left_out = {"measures", "rules", "scale", "meaning", "benchmark"} if {"rules", "scale"} & set(row) else set()
        cells = [str(cell) for key, cell in row.items() if key not in left_out and cell != "–"]
        yield from (word for cell in cells for word in cell.split())


THREE = "compare {small}/one {small}/two {small}/three --metric p_s:negative --resamples 500"
COMMANDS: dict[str, Callable[[Any], Iterator[str]]] = {
    f"{NEGATIVE} --system fake:right?p=0.5 -o {{tmp}}/r --all": _of_results,
    "score simplegen --to es --data core --translations {good} --resamples 100 --all": _of_results,
    "compare {small}/one {small}/two --all --resamples 500": _of_comparisons,
    THREE: _of_matrix,
    "gate {small}/two --baseline {small}/one --resamples 500 --all": _of_checks,
    "power terms simplegen --to es --data core": _of_power,
    "data list": _of_data,
    "list benchmarks": _of_list,
    "list systems": _of_list,
    "list metrics": _of_list,
    "list languages": _of_list,
}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_number_is_lost_and_no_line_is_too_long(
    cli: Cli, command: str, small: Path, good_file: Path, tmp_path: Path, screen: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = command.format(tmp=tmp_path, small=small, good=good_file)
    printed = cli(f"{line} --json")
    numbers = set(filter(None, COMMANDS[command](printed.json)))
    assert numbers
    for width in (40, 80):
        monkeypatch.setenv("COLUMNS", str(width))
        text = cli(line).out
        assert "\t" not in text
        assert max(map(cell_len, text.splitlines())) <= width
        # What is longer than a line goes on in the next.
        joined = "".join(text.split()).replace("−", "-")
        lost = {number for number in numbers if "".join(number.split()) not in joined}
        assert not lost, width
        assert text.count("…") == 0 or "…" in printed.out, "nothing is cut"


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (
            40,
            "Numbers\n"
            "metric        value      interval\n"
            "─────────────────────────────────\n"
            "right gender   61.2  [55.0, 67.3]\n"
            "성별              5\n\n",
        ),
        (30, "Numbers\nmetric: right gender\n  value: 61.2\n  interval: [55.0, 67.3]\nmetric: 성별\n  value: 5\n\n"),
        (0, "metric\tvalue\tinterval\nright gender\t61.2\t[55.0, 67.3]\n성별\t5\t\n"),
    ],
    ids=["a table", "a list where it does not fit", "tabs when piped"],
)
def test_a_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int, shown: str) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda _: width > 0)
    monkeypatch.setenv("COLUMNS", str(width))
    rows = [("right gender", 61.2, "[55.0, 67.3]"), ("성별", 5, None)]
    terminal.print_table("Numbers", ("metric", "value", "interval"), rows)
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize("width", [80, pytest.param(120, marks=pytest.mark.slow)])
def test_every_verb_ends_within_one_screen(
    cli: Cli, finished: Path, small: Path, tmp_path: Path, screen: None, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    everywhere = "run --system fake:masculine --data core --to es --to de --to fr --to it --to pt --resamples 100"
    for line in (
        f"{everywhere} --benchmark terms --benchmark mittens --benchmark mt-geneval-contextual -o {tmp_path}/run",
        f"rejudge {finished}/right {finished}/masculine",
        f"compare {finished}/right {finished}/masculine",
        f"compare {small}/one {small}/two {small}/three",
        f"gate {finished}/masculine --baseline {finished}/right",
    ):
        outcome = cli(line)
        lines = (outcome.out + outcome.err).splitlines()
        assert len(lines) <= 40, line
        assert "─" in outcome.out, "a drawn table, not a list"
        assert len((cli(f"{line} --all").out).splitlines()) >= len(outcome.out.splitlines())
    assert (
        "12 of 15 rows"
        in cli(
            f"{everywhere} --benchmark terms --benchmark mittens --benchmark mt-geneval-contextual -o {tmp_path}/run"
        ).out
    )


# -- text that a terminal would obey -----------------------------------------------------------------------------------


def test_what_a_terminal_would_obey_is_not_printed_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names of systems come with run folders of others. A program gets them as they are."""
    hostile, joined = "a\x1b]0;title\x07\x9b2Jb\u202ec\r\x85d", "می\u200cروم"
    markup = ("[red]title[/red]", "[b]a[/b]", "[link=x]y[/link]", "[/nothing]")
    for is_terminal in (True, False):
        monkeypatch.setattr(terminal, "is_terminal", lambda _, answer=is_terminal: answer)
        terminal.print_table(f"{hostile}{markup[0]}", (hostile, markup[1]), [(hostile, joined), markup[2:]])
        terminal.print_text(hostile)
        terminal.print_json({hostile: hostile})
        shown = capsys.readouterr().out
        obeyed = [sign for sign in "\x1b\x07\x9b\u202e\r\x85" if sign in shown]
        assert obeyed == [] if is_terminal else "\u202e" in obeyed
        assert joined in shown
        assert all(text in shown for text in markup[0 if is_terminal else 1 :])


def test_piped_cells_stay_in_their_place(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.print_table("", ("a", "b"), [("x\ty", "u\nv"), (None, "\x1b[31mred\x1b[0m")])
    assert capsys.readouterr().out == "a\tb\nx y\tu v\n\tred\n"


def test_neither_messages_nor_logs_give_commands(
    cli: Cli, small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither to GitHub, which obeys lines that begin with two colons, nor to a terminal."""
    said = cli("report", small / "one", "-o", tmp_path / "a\n::error::boo \x1b[2J.html").err
    assert "a ::error::boo \ufffd[2J.html" in said
    assert not [line for line in said.splitlines() if line.startswith("::")]
    app._Messages().emit(logging.makeLogRecord({"msg": "answers of %s", "args": ("openai:x#\x1b[2J\u202e",)}))
    assert capsys.readouterr().err == "answers of openai:x#\ufffd[2J\ufffd\n"


# -- progress ----------------------------------------------------------------------------------------------------------


def test_progress_in_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = iter([0.0, 5.0, 15.0, 16.0, 30.0, 31.0])
    monkeypatch.setattr(progress_lines.time, "monotonic", lambda: next(now))
    with terminal.show_progress("simplegen en-es") as progress:
        for done in (0, 50, 60, 80, 100):
            progress(done, 100)
    assert capsys.readouterr().err.splitlines() == [
        "simplegen en-es: 50 of 100, about 15 s left",
        "simplegen en-es: 80 of 100, about 8 s left",
    ]


def test_progress_bar_for_people(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda _: True)
    with terminal.show_progress("simplegen en-es") as progress:
        progress(1, 2)
        progress(2, 2)
    assert capsys.readouterr().out == ""
    assert terminal.progress_in_words(0, None, None) == ""
    assert terminal.progress_in_words(0, 1200, None) == "0 of 1,200"
    assert terminal.progress_in_words(128.0, 1200.0, 65.4) == "128 of 1,200, 0:01:05 left"


# -- how verbs end -----------------------------------------------------------------------------------------------------


def _next(text: str) -> list[list[str]]:
    """The commands that are suggested, as a shell would read them."""
    lines = text.partition("Next:\n")[2].splitlines()
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("  gendermark ")]


def test_a_run_ends_with_findings_and_commands_that_work(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    again = f"{NEGATIVE} --system fake:masculine -o 'runs/new one'"
    outcome = cli(f"{again} --name Mine")
    assert 1 <= len(re.findall(r"(?m)^- .*", outcome.err)) <= 2
    assert [row["system"] for row in outcome.rows] == ["Mine"]
    report, ui = _next(outcome.err)
    assert report == ["report", "runs/new one", "-o", "report.html"]
    assert ui == ["ui", "runs/new one"]
    assert cli(*report).exit_code == 0
    assert Path("report.html").is_file()


def test_a_comparison_begins_with_a_summary(
    cli: Cli, small: Path, screen: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    command = f"compare AWS={small}/one New={small}/two --resamples 500"
    brief = cli(command)
    assert brief.out.startswith("New (B) compared with AWS (A)")
    assert all(len(line) <= 80 for line in brief.out.splitlines())
    (in_full,) = _next(brief.err)
    assert in_full == ["compare", f"AWS={small / 'one'}", f"New={small / 'two'}", "--all"]
    assert "p: 1.0000" in cli(*in_full, "--resamples", "500").out
    many = cli(f"{command} --trend")
    assert many.out.startswith("1 runs (B) compared with AWS (A)")
    assert " in AWS, " in many.err


def test_a_sheet_ends_with_commands_that_work(
    cli: Cli, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = cli("annotate", "export", small / "one", "-o", "my sheet.csv", "--n", "8")
    serve, agree = _next(outcome.err)
    served: list[Any] = []
    monkeypatch.setattr("gendermark.cli.annotate.serve_site", lambda site, *_, **__: served.append(site))
    assert cli(*serve, "--no-open").exit_code == 0
    assert served
    with Path("my sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    filled = Path("my sheet-answers")
    filled.mkdir(exist_ok=True)
    with (filled / "anna.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "Find entity? [Y/N]": "Y", "Gender? [M/F/N]": "M"} for row in rows)
    assert agree[-1] == "my sheet-answers/*.csv"
    assert cli(*agree[:-1], *filled.glob("*.csv")).exit_code == 0


@pytest.mark.parametrize("is_refused", [True, False])
def test_who_is_not_translated_is_told_in_every_form(
    cli: Cli, finished: Path, tmp_path: Path, is_refused: bool
) -> None:
    """Half of the women are refused, or nobody."""
    cell = finished / "right" / "simplegen.en-es"
    rows = [json.loads(line) for line in (cell / "translations.jsonl").read_text(encoding="utf-8").splitlines()]
    women = [json.loads(line)["expected"] == "feminine" for line in (cell / "judgements.jsonl").open(encoding="utf-8")]
    lines = [
        "" if is_woman and number % 2 and is_refused else row["translation"]
        for number, (row, is_woman) in enumerate(zip(rows, women, strict=True))
    ]
    (tmp_path / "t.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    n_lost = lines.count("")
    score = f"score simplegen --to es --data core --translations {tmp_path}/t.txt"
    found = cli(f"{score} --json").json["lost_by_gender"]
    assert set(found) == {"women", "men", "men_minus_women", "is_clear"}
    assert found["women"]["value"] == pytest.approx(100 * n_lost / sum(women))
    assert found["men"]["value"] == 0
    assert found["men_minus_women"]["value"] == pytest.approx(-found["women"]["value"])
    assert found["is_clear"] is is_refused
    assert cli(score).err.count("were not translated (") == is_refused, "said once"


def test_where_nobody_is_known_to_be_a_woman_nothing_is_said_of_it(cli: Cli, small: Path) -> None:
    (results,) = cli(f"report {small}/one --json").json["runs"].values()
    assert results[0]["lost_by_gender"] is None


def test_piping_does_not_change_which_runs_are_compared(cli: Any, small: Path) -> None:
    runs = [small / name for name in ("one", "two", "three")]
    piped, everything = (cli("compare", *runs, *words) for words in ((), ("--all",)))
    pairs = [{tuple(line.split("\t")[3:5]) for line in one.out.splitlines()[1:]} for one in (piped, everything)]
    assert len(pairs[0]) == 2
    assert len({first for first, _ in pairs[0]}) == 1
    assert len(pairs[1]) == 3
