"""Real processes, and the ends of their pipes: closed, full, in another encoding, interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import typer

import gendermark
from cli.conftest import Cli
from runs.children import PATIENCE_SECONDS, wait_until

SOURCE = str(Path(gendermark.__file__).parents[1])
GENDERMARK = [sys.executable, "-c", "from gendermark.cli.app import main; main()"]
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
needs_posix = pytest.mark.skipif(os.name != "posix", reason="pipes and signals of POSIX")


def _environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": SOURCE, **more}


def _spawn(*arguments: str | Path, environment: Mapping[str, str] | None = None, **options: Any) -> Any:
    command = [*GENDERMARK, *map(str, arguments)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL} | options
    return subprocess.run(command, env=environment or _environment(), timeout=PATIENCE_SECONDS, check=False, **streams)


def _shell(command: str, **variables: str | Path) -> Any:
    """A line of bash; `$G` is the program."""
    script = f'G() {{ "{sys.executable}" -c "from gendermark.cli.app import main; main()" "$@"; }}; {command}'
    environment = _environment(**{name: str(value) for name, value in variables.items()})
    command = ["bash", "-c", script]
    return subprocess.run(command, env=environment, timeout=PATIENCE_SECONDS, check=False, capture_output=True)


# -- pipes -----------------------------------------------------------------------------------------------------------


@needs_posix
@pytest.mark.parametrize("command", ["G export tgbi --data core --json | head -1", "G --help | true"])
def test_a_reader_that_leaves_is_no_error(command: str) -> None:
    done = _shell(f"set -o pipefail; {command}; echo $?")
    assert done.stderr == b""
    assert done.stdout.splitlines()[-1] == b"0"


@needs_posix
def test_a_failed_gate_fails_though_nobody_reads(small: Path) -> None:
    command = 'G gate "$RUN" --min p_s:negative=1.1 2>/dev/null | true; echo ${PIPESTATUS[0]}'
    done = _shell(command, RUN=small / "one")
    assert done.stdout == b"1\n"


@needs_posix
def test_translations_from_a_pipe(cli: Cli, small: Path, tmp_path: Path) -> None:
    score = "score tgbi --from ko --to en --data core --group negative --json --translations"
    lines = (small / "one" / "tgbi.ko-en" / "translations.jsonl").read_text(encoding="utf-8").splitlines()
    file = tmp_path / "lines.txt"
    file.write_text("".join(f"{json.loads(line)['translation']}\n" for line in lines), encoding="utf-8")
    done = _shell(f'G {score} <(sleep 0.1; cat "$FILE")', FILE=file)
    assert (done.returncode, done.stdout.decode()) == (0, cli(f"{score} {file}").out)


@needs_posix
def test_standard_output_as_a_file(tmp_path: Path, sources: list[str]) -> None:
    """`-o /dev/stdout` writes to it: the device stays what it is, wherever it leads."""
    device = Path("/dev/stdout")
    before = device.is_symlink() and device.readlink()
    export = "G export simplegen --data core -o /dev/stdout"
    piped = _shell(f'{export} | cat; {export} > "$FILE"', FILE=tmp_path / "out.txt")
    assert piped.stdout == (tmp_path / "out.txt").read_bytes() == "".join(f"{s}\n" for s in sources).encode()
    assert (device.is_symlink() and device.readlink()) == before


@needs_posix
@pytest.mark.parametrize(
    ("command", "code", "n_lines"),
    [
        ('G compare "$RUN" "$RUN" --resamples 100 >&-', 0, 0),
        ('G report "$RUN/absent" >&- 2>&-', 2, 0),
    ],
)
def test_closed_streams(command: str, code: int, n_lines: int, small: Path) -> None:
    done = _shell(command, RUN=small / "one")
    assert (done.returncode, done.stderr.count(b"\n")) == (code, n_lines)


# -- full disks ------------------------------------------------------------------------------------------------------


@needs_full
@pytest.mark.parametrize("command", ["export simplegen --data core", "list metrics --json"])
def test_standard_output_on_a_full_disk(command: str) -> None:
    with FULL.open("wb") as full:
        done = _spawn(*command.split(), stdout=full)
    assert done.returncode == 2
    assert done.stderr.decode() == "error: the output cannot be written: No space left on device\n"


@needs_full
@pytest.mark.parametrize(
    "command",
    [
        "export simplegen --data core -o /dev/full",
        "export simplegen --data core --json -o /dev/full",
        "report {small}/one --format md -o /dev/full",
        "score simplegen --data core --to es --translations {good} --judgements /dev/full",
    ],
)
def test_file_on_a_full_disk(cli: Cli, small: Path, good_file: Path, command: str) -> None:
    cli(command.format(small=small, good=good_file)).is_refusal("/dev/full", "No space left on device")


# -- encodings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "locale",
    [
        {"PYTHONIOENCODING": "latin-1"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_output_is_utf8_in_every_locale(cli: Cli, locale: dict[str, str]) -> None:
    command = "export tgbi --data core --set formal"
    done = _spawn(*command.split(), environment=_environment(**locale))
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode("utf-8") == cli(command).out


@needs_posix
def test_file_names_that_are_not_utf8(tmp_path: Path) -> None:
    done = _spawn("report", tmp_path / os.fsdecode(b"caf\xe9.txt"))
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: ")
    assert done.stderr.count(b"\n") == 1


def test_a_report_is_the_same_in_every_process(cli: Cli, small: Path) -> None:
    command = f"report {small}/one {small}/two --format html"
    done = _spawn(*command.split(), environment=_environment(PYTHONHASHSEED="1"))
    assert done.returncode == 0
    assert done.stdout.decode() == cli(command).out


# -- interruptions and accidents -------------------------------------------------------------------------------------


@needs_posix
def test_interrupt(tmp_path: Path) -> None:
    """Ctrl-C in the middle of a run: one sentence, 130, and the same command goes on."""
    started = tmp_path / "started"
    script = tmp_path / "slow.sh"
    script.write_text(f"#!/bin/sh\ntouch '{started}'\nsleep 30\n", encoding="utf-8")
    script.chmod(0o755)
    chosen = ("--benchmark", "simplegen", "--data", "core", "--to", "es", "-o", str(tmp_path / "run"))
    arguments = ("run", "--system", f"command:{script}", *chosen)
    environment = _environment(GENDERMARK_CACHE=str(tmp_path / "cache"))
    child = subprocess.Popen([*GENDERMARK, *arguments], env=environment, stderr=subprocess.PIPE)
    wait_until(started.exists, "the program was at work")
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=PATIENCE_SECONDS)
    assert child.returncode == 130
    assert err.decode().splitlines()[-1].startswith("interrupted; ")


@pytest.mark.parametrize(
    ("problem", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted\n"),  # nothing was translated, so nothing is said of translations
        (typer.Abort(), 130, "interrupted\n"),
        (MemoryError(), 2, "error: out of memory\n"),
        (OSError(28, "No space left on device"), 2, "error: the output cannot be written: No space left on device\n"),
        (OSError(28, "No space left on device", "a\nb"), 2, "error: a b: No space left on device\n"),
        (PermissionError(13, "Permission denied", "/x"), 2, "error: /x: Permission denied\n"),
        (gendermark.UserError("two\nlines,  one\tsentence"), 2, "error: two lines, one sentence\n"),
    ],
)
def test_accidents(cli: Cli, monkeypatch: pytest.MonkeyPatch, problem: BaseException, code: int, said: str) -> None:
    def fail(*_: object) -> None:
        raise problem

    monkeypatch.setattr("gendermark.cli.benchmarks.listing", fail)
    outcome = cli("list", "metrics")
    assert (outcome.exit_code, outcome.out) == (code, "")
    assert outcome.err.startswith(said)
    assert len(outcome.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("verb", "kept"), [("data list", "files"), ("translate", "translations"), ("train model", "checkpoint")]
)
def test_an_interruption_says_what_is_kept(cli: Cli, monkeypatch: pytest.MonkeyPatch, verb: str, kept: str) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gendermark.cli.app._invoke", interrupt)
    outcome = cli(verb)
    assert (outcome.exit_code, outcome.out) == (130, "")
    assert kept in outcome.err


def test_a_mistake_of_ours_is_not_hidden(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("gendermark.cli.benchmarks.listing", fail)
    with pytest.raises(ZeroDivisionError):
        cli("list", "metrics")
