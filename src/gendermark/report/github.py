"""The verdict of a gate for GitHub Actions: annotations of the run, and a summary of the step in Markdown."""

from __future__ import annotations

import re

from gendermark.runs.gates import Check, Verdict

# A line break that got through would begin a new command; escape codes would colour the log.
_CONTROL = re.compile(r"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_MARKDOWN = str.maketrans({character: f"\\{character}" for character in r"\|`*_~<>[]&#!"})


def workflow_commands(verdict: Verdict) -> list[str]:
    """The verdict first, because GitHub shows only ten of a kind; then each check that failed or was not compared."""
    kinds = (("error", verdict.failures), ("notice", verdict.not_compared))
    return [
        _command("notice" if verdict.passed else "error", "gendermark", verdict.sentence),
        *(
            _command(kind, f"gendermark: {check.cell} {check.metric}:{check.slice}", check.finding)
            for kind, checks in kinds
            for check in checks
        ),
    ]


def summary(verdict: Verdict, run: str) -> str:
    """A heading that tells the verdict, and a table with the failed checks first, then those not compared."""
    checks = [*verdict.failures, *verdict.not_compared, *(check for check in verdict.checks if check.passed)]
    rows = [("outcome", "cell", "metric", "slice", "finding"), ("---",) * 5, *(_row(check) for check in checks)]
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    return f"### gendermark {verdict.sentence}\n\nRun: {_markdown(run)}\n\n{table}\n\n"


def _row(check: Check) -> tuple[str, ...]:
    cells = (check.cell, check.metric, check.slice, check.finding)
    return (f"**{check.outcome}**" if check.has_failed else check.outcome, *map(_markdown, cells))


def _command(kind: str, title: str, message: str) -> str:
    return f"::{kind} title={_escaped(title).replace(':', '%3A').replace(',', '%2C')}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return _CONTROL.sub("", text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _markdown(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split()).translate(_MARKDOWN)
