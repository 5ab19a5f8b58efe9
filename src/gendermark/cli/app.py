"""The command line: one file per verb, and the one place where errors become sentences."""

from __future__ import annotations

import logging
import os
import sys

import typer

from gendermark.cli import compare, data, demo, export, gate, report, run, score
from gendermark.cli import list as listing
from gendermark.cli.terminal import say
from gendermark.errors import UserError

app = typer.Typer(
    name="gendermark",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Measure gender bias in machine translation, with honest error bars.",
)


@app.callback(invoke_without_command=True)
def _top(version: bool = typer.Option(False, "--version", help="Print the version.")) -> None:
    if version:
        from gendermark import __version__

        typer.echo(__version__)
        raise typer.Exit


app.command("demo")(demo.demo)
app.command("list")(listing.list_names)
app.add_typer(data.app, name="data")
app.command("export")(export.export)
app.command("score")(score.score)
app.command("run")(run.run)
app.command("compare")(compare.compare)
app.command("gate")(gate.gate)
app.command("report")(report.report)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; every mistake a user can make ends in one sentence and exit code 2."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    logging.getLogger("gendermark").setLevel(logging.INFO)
    sys.exit(_exit_code(sys.argv[1:] if arguments is None else arguments))


def _exit_code(arguments: list[str]) -> int:
    try:
        code = typer.main.get_command(app).main(arguments, prog_name="gendermark", standalone_mode=False)
        sys.stdout.flush()
    except UserError as problem:
        say(f"error: {' '.join(str(problem).split())}")
        return problem.exit_code
    except BrokenPipeError:
        # Whoever read our output has left (`| head`); Python must not complain about it at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, typer.Abort):
        say("interrupted; finished translations are kept, the same command goes on where it stopped")
        return 130
    except (OSError, MemoryError) as problem:
        # A full disk or a vanished directory where nobody looked for one.
        name = getattr(problem, "filename", None)
        say(f"error: {f'{name}: ' if name else ''}{getattr(problem, 'strerror', None) or problem or 'out of memory'}")
        return 2
    except Exception as problem:
        # Typer has had its own and click's usage errors under several names; all can say what is wrong.
        if not hasattr(problem, "format_message"):
            raise
        context = getattr(problem, "ctx", None)
        command = context.command_path if context else "gendermark"
        message = problem.format_message().strip().rstrip(".")
        if message:  # none: help was shown because nothing was asked for
            say(f"error: {message} (see `{command} --help`)")
        return 2
    return code if isinstance(code, int) else 0
