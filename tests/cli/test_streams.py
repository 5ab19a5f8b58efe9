"""Real processes, and the ends of their pipes: closed, full, in another encoding, interrupted."""

from __future__ import annotations

import logging
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
from gendermark.cli import app, terminal
from gendermark.io import progress as progress_lines
from runs.children import PATIENCE_SECONDS, wait_until

SOURCE = str(Path(gendermark.__file__).parents[1])
GENDERMARK = [sys.executable, "-c", "from gendermark.cli.app import main; main()"]
EXPORT = ("export", "simplegen", "--data", "core", "--to", "es")
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


def test_a_real_process(tmp_path: Path, sources: list[str]) -> None:
    done = _spawn(*EXPORT)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == "".join(f"{line}\n" for line in sources)
    done = _spawn("score", "simplegen", "--data", "core", "--to", "es", "--translations", tmp_path / "absent.txt")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == f"error: {tmp_path / 'absent.txt'}: there is no such file\n"


def test_installed_entry_point_is_this_function() -> None:
    assert app.main.__module__ == "gendermark.cli.app"
    with pytest.raises(SystemExit) as ended:
        app.main(["--version"])
    assert ended.value.code == 0


def test_licence_is_shown_before_official_data_is_missed(tmp_path: Path) -> None:
    """The notice of the data set comes first; the error is one line, and the last."""
    environment = _environment(GENDERMARK_DATA_MIRROR=str(tmp_path), GENDERMARK_CACHE=str(tmp_path / "cache"))
    done = _spawn("export", "tgbi", environment=environment)
    assert (done.returncode, done.stdout) == (2, b"")
    *notice, error = done.stderr.decode().splitlines()
    assert "licence" in " ".join(notice)
    assert "cite" in " ".join(notice)
    assert [line for line in done.stderr.decode().splitlines() if line.startswith("error: ")] == [error]


# -- pipes -----------------------------------------------------------------------------------------------------------


@needs_posix
@pytest.mark.parametrize(
    "command", ["G export tgbi --data core --json | head -1", "G list metrics | true", "G --help | true"]
)
def test_a_reader_that_leaves_is_no_error(command: str) -> None:
    done = _shell(f"set -o pipefail; {command}; echo $?")
    assert done.stderr == b""
    assert done.stdout.splitlines()[-1] == b"0"


@needs_posix
def test_a_failed_gate_fails_though_nobody_reads(finished: Path) -> None:
    done = _shell('G gate "$RUN" --min anti=101 2>/dev/null | true; echo ${PIPESTATUS[0]}', RUN=finished / "right")
    assert done.stdout == b"1\n"


@needs_posix
def test_translations_from_a_pipe(good_file: Path) -> None:
    command = "G score simplegen --data core --to es --json --translations"
    direct = _shell(f'{command} "$FILE"', FILE=good_file)
    assert direct.returncode == 0
    done = _shell(f'{command} <(sleep 0.7; cat "$FILE")', FILE=good_file)
    assert (done.returncode, done.stdout) == (0, direct.stdout)


@needs_posix
def test_standard_output_as_a_file(tmp_path: Path, sources: list[str]) -> None:
    """`-o /dev/stdout` writes to it: the device stays what it is, wherever it leads."""
    device = Path("/dev/stdout")
    before = device.is_symlink() and device.readlink()
    piped = _shell("G export simplegen --data core -o /dev/stdout | cat")
    _shell('G export simplegen --data core -o /dev/stdout > "$FILE"', FILE=tmp_path / "out.txt")
    assert piped.stdout == (tmp_path / "out.txt").read_bytes() == "".join(f"{s}\n" for s in sources).encode()
    assert (device.is_symlink() and device.readlink()) == before


@needs_posix
@pytest.mark.parametrize(
    ("command", "code", "n_lines"),
    [
        ("G export simplegen --data core >&-", 0, 0),
        ('G compare "$RUN" "$RUN" --resamples 100 >&-', 0, 1),
        ('G compare "$RUN" "$RUN" --resamples 100 2>&-', 0, 0),
        ('G report "$RUN/absent" >&-', 2, 1),
        ('G report "$RUN/absent" >&- 2>&-', 2, 0),
    ],
)
def test_closed_streams(command: str, code: int, n_lines: int, small: Path) -> None:
    done = _shell(command, RUN=small / "one")
    assert (done.returncode, done.stderr.count(b"\n")) == (code, n_lines)


# -- full disks ------------------------------------------------------------------------------------------------------


@needs_full
@pytest.mark.parametrize(
    "arguments",
    [
        EXPORT,
        ("list", "metrics", "--json"),
        ("report", "{run}"),
    ],
)
def test_standard_output_on_a_full_disk(small: Path, arguments: tuple[str, ...]) -> None:
    with FULL.open("wb") as full:
        done = _spawn(*(argument.format(run=small / "one") for argument in arguments), stdout=full)
    assert done.returncode == 2
    assert done.stderr.decode() == "error: the output cannot be written: No space left on device\n"


@needs_full
@pytest.mark.parametrize(
    "arguments",
    [
        (*EXPORT, "-o", "/dev/full"),
        (*EXPORT, "--json", "-o", "/dev/full"),
        ("report", "{right}", "--format", "md", "-o", "/dev/full"),
        ("score", "simplegen", "--data", "core", "--to", "es", "--translations", "{good}", "--judgements", "/dev/full"),
    ],
)
def test_file_on_a_full_disk(cli: Any, finished: Path, good_file: Path, arguments: tuple[str, ...]) -> None:
    outcome = cli(*(a.format(right=finished / "right", good=good_file) for a in arguments))
    outcome.is_refusal("cannot write /dev/full: No space left on device")


# -- encodings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "locale",
    [
        {"PYTHONIOENCODING": "latin-1"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_output_is_utf8_in_every_locale(cli: Any, locale: dict[str, str]) -> None:
    done = _spawn("export", "tgbi", "--data", "core", "--set", "formal", environment=_environment(**locale))
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode("utf-8") == cli("export", "tgbi", "--data", "core", "--set", "formal").out


@needs_posix
def test_file_names_that_are_not_utf8(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    done = _spawn(*EXPORT, "-o", tmp_path / name / "below")
    assert done.returncode == 0
    done = _spawn("report", tmp_path / name)
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: ")
    assert done.stderr.count(b"\n") == 1


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
    assert err.decode() == (
        "simplegen en-es: 2,720 sentences\n"
        "interrupted; finished translations are kept; run the same command again to continue\n"
    )


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
def test_accidents(cli: Any, monkeypatch: pytest.MonkeyPatch, problem: BaseException, code: int, said: str) -> None:
    def fail(*_: object) -> None:
        raise problem

    monkeypatch.setattr("gendermark.report.catalogue.listing", fail)
    outcome = cli("list", "metrics")
    assert (outcome.exit_code, outcome.out) == (code, "")
    assert outcome.err.startswith(said)
    assert len(outcome.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        (("data", "list"), "interrupted; what was fetched is kept; run the same command again to continue\n"),
        (("translate",), "interrupted; finished translations are kept; run the same command again to continue\n"),
        (("train", "model"), "interrupted; run the same command again to continue from the last checkpoint\n"),
    ],
)
def test_an_interruption_says_what_is_kept(
    cli: Any, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...], said: str
) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gendermark.cli.app._invoke", interrupt)
    outcome = cli(*verb)
    assert (outcome.exit_code, outcome.out, outcome.err) == (130, "", said)


def test_a_mistake_of_ours_is_not_hidden(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("gendermark.report.catalogue.listing", fail)
    with pytest.raises(ZeroDivisionError):
        cli("list", "metrics")


# -- progress --------------------------------------------------------------------------------------------------------


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


def test_what_stands_beside_the_bar() -> None:
    assert terminal.progress_in_words(0, None, None) == ""
    assert terminal.progress_in_words(0, 1200, None) == "0 of 1,200"
    assert terminal.progress_in_words(128.0, 1200.0, 65.4) == "128 of 1,200, 0:01:05 left"


def test_a_file_name_gives_no_commands(cli: Any, small: Path, tmp_path: Path) -> None:
    """Neither to GitHub, which obeys lines that begin with two colons, nor to a terminal."""
    page = tmp_path / "a\n::error::boo \x1b[2J.html"
    said = cli("report", small / "one", "-o", page).err
    assert "a ::error::boo \ufffd[2J.html" in said
    assert not [line for line in said.splitlines() if line.startswith("::")]


def test_what_a_terminal_would_obey_is_not_printed_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names of systems come with run folders of others. A program gets them as they are."""
    hostile, joined = "a\x1b]0;title\x07\x9b2Jb\u202ec\r\x85d", "می\u200cروم"
    for is_terminal in (True, False):
        monkeypatch.setattr(terminal, "is_terminal", lambda _, answer=is_terminal: answer)
        terminal.print_table(hostile, (hostile, "x"), [(hostile, joined)])
        terminal.print_text(hostile)
        terminal.print_json({hostile: hostile})
        shown = capsys.readouterr().out
        obeyed = [sign for sign in "\x1b\x07\x9b\u202e\r\x85" if sign in shown]
        assert obeyed == [] if is_terminal else "\u202e" in obeyed
        assert joined in shown


def test_what_is_logged_gives_no_commands(capsys: pytest.CaptureFixture[str]) -> None:
    handler = app._log_handler()
    handler.emit(logging.makeLogRecord({"msg": "damaged answers of %s", "args": ("openai:x#\x1b[2J\u202e",)}))
    assert capsys.readouterr().err == "damaged answers of openai:x#\ufffd[2J\ufffd\n"


def test_a_report_is_the_same_in_every_process(small: Path, tmp_path: Path) -> None:
    pages = []
    for seed in ("1", "2"):
        page = tmp_path / f"{seed}.html"
        environment = _environment(PYTHONHASHSEED=seed)
        assert _spawn("report", small / "one", small / "two", "-o", page, environment=environment).returncode == 0
        pages.append(page.read_bytes())
    assert pages[0] == pages[1]
