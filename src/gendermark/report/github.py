"""The verdict of a gate for GitHub Actions: annotations of the run, and a summary of the step in Markdown."""

from __future__ import annotations

import re

from gendermark.runs.gates import Check, Verdict

# A line break that got through would begin a new command; escape codes would colour the log.
_CONTROL = re.compile(r"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_MOST_SENTENCES = 50
"""Of each kind: GitHub refuses a summary of more than a megabyte."""
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
    return f"### gendermark {verdict.sentence}\n\nRun: {_markdown(run)}\n\n{table}\n\n{_sentences(verdict)}"


def _sentences(verdict: Verdict) -> str:
    """Those that changed their verdict, folded."""
    parts = []
    for what, found in (("Newly wrong", verdict.newly_wrong), ("Newly right", verdict.newly_right)):
        if found:
            lines = ["<br>".join(map(_markdown, one.lines)) for one in found[:_MOST_SENTENCES]]
            rest = [f"and {len(found) - _MOST_SENTENCES:,} more"] if len(found) > _MOST_SENTENCES else []
            listed = "\n".join(f"- {line}" for line in [*lines, *rest])
            parts.append(f"<details><summary>{what}: {len(found):,}</summary>\n\n{listed}\n\n</details>\n\n")
    return "".join(parts)


def _row(check: Check) -> tuple[str, ...]:
    cells = (check.cell, check.metric, check.slice, check.finding)
    return (f"**{check.outcome}**" if check.has_failed else check.outcome, *map(_markdown, cells))


def _command(kind: str, title: str, message: str) -> str:
    return f"::{kind} title={_escaped(title).replace(':', '%3A').replace(',', '%2C')}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return _CONTROL.sub("", text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _markdown(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split()).translate(_MARKDOWN)
