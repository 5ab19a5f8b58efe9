"""The command line: functions behind verbs, and errors as one sentence with an exit code."""

from __future__ import annotations

import gc
import io
import logging
import os
import sys
import tomllib
from importlib.resources import files
from typing import Any

import typer
from typer import Option

from gendermark.cli.options import add_commands, panels_of
from gendermark.cli.terminal import say
from gendermark.errors import UserError
from gendermark.io.textfiles import printable

COMMANDS: dict[str, Any] = tomllib.loads((files("gendermark.cli") / "commands.toml").read_text(encoding="utf-8"))
"""Groups of commands by name: help, and commands by panel. A new command is one file and one line there."""
VERBS = [name for panel in panels_of(COMMANDS["gendermark"]).values() for name in panel]

_KEPT = "interrupted; finished translations are kept; rerun the same command to resume"
_INTERRUPTED = {
    **dict.fromkeys(("demo", "run", "translate", "study"), _KEPT),
    "data": "interrupted; downloaded files are kept; rerun the same command to resume",
    "train": "interrupted; rerun the same command to resume from the last checkpoint",
}
"""The message on Ctrl-C, by verb. All others write complete files at the end, or nothing."""


def application(arguments: list[str]) -> typer.Typer:
    """Build the command line: the requested verb in full, of the others only what `--help` shows.

    Reading the options of all verbs would dominate the start-up time.
    """
    about = COMMANDS["gendermark"]["help"]
    app = typer.Typer(name="gendermark", add_completion=False, pretty_exceptions_enable=False, help=about)
    app.callback(invoke_without_command=True)(_top)
    words = [word for word in arguments if not word.startswith("-")]
    return add_commands(app, COMMANDS, "gendermark", words, in_full=False)


def _top(context: typer.Context, version: bool = Option(False, "--version", help="Print the version.")) -> None:
    if version:
        from gendermark import __version__

        typer.echo(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        raise UserError("choose a command, such as `gendermark demo`, `score` or `run`; `gendermark --help` lists them")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; every user error ends in one sentence and exit code 2."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=[_Messages()])
    logging.getLogger("gendermark").setLevel(logging.INFO)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # `score` reads UTF-8, so `export` writes it, whatever the locale.
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
    # There are many small records and few cycles: the default threshold costs a tenth of the time.
    gc.set_threshold(1_000_000, 10, 10)
    # Matrices are small: starting threads would take longer than the arithmetic.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        code = _exit_code(sys.argv[1:] if arguments is None else arguments)
    except Exception as fault:  # a bug must not look like a failed gate
        if os.environ.get("GENDERMARK_DEBUG"):
            raise
        _say_error(f"this is a bug in gendermark, not your mistake: {fault!r}; GENDERMARK_DEBUG=1 shows where")
        code = 3
    sys.exit(code)


class _Messages(logging.Handler):
    """Log messages are printed like any other."""

    def emit(self, record: logging.LogRecord) -> None:
        say(self.format(record))


def _exit_code(arguments: list[str]) -> int:
    code = 0
    try:
        code = _invoke(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except UserError as problem:
        _say_error(str(problem))
        return problem.exit_code
    except BrokenPipeError:
        # The reader of our output has quit (`| head`); keep Python silent about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except SystemExit:  # rich, which draws the help, has already handled it
        pass
    except (KeyboardInterrupt, typer.Abort):
        say(_INTERRUPTED.get(next(iter(arguments), ""), "interrupted"))
        return 130
    except (OSError, MemoryError) as problem:
        # A full disk or vanished directory that no caller handled.
        where = getattr(problem, "filename", None) or "the output cannot be written"
        _say_error("out of memory" if isinstance(problem, MemoryError) else f"{where}: {problem.strerror or problem}")
        return 2
    except Exception as problem:
        # Typer has several names for usage errors, its own and click's; all have this method.
        if not hasattr(problem, "format_message"):
            raise
        context = getattr(problem, "ctx", None)
        command = context.command_path if context else "gendermark"
        _say_error(f"{problem.format_message().strip().rstrip('.')} (see `{command} --help`)")
        return 2
    return code


def _invoke(arguments: list[str]) -> int:
    if arguments[:1] == ["leaderboard"] and not {*arguments[1:2]} <= {*COMMANDS["leaderboard"]["Commands"], "--help"}:
        arguments = ["leaderboard", "build", *arguments[1:]]
    # click's `main` would exit with 1, the code of a failed gate, on a closed pipe, and handles Ctrl-C itself.
    command = typer.main.get_command(application(arguments))
    try:
        with command.make_context("gendermark", arguments) as context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    return 0


def _say_error(problem: str) -> None:
    """Print on one line, whatever a file name or another program's message contains."""
    say(f"error: {printable(problem)}")
