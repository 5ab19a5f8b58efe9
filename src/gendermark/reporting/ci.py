"""The verdict of a gate for CI: JUnit XML, and annotations and a summary for GitHub Actions."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from gendermark.runs.gates import Verdict

# Characters that XML 1.0 cannot contain, escaped or not; a reader would refuse the whole file.
_NOT_XML = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010ffff]")


def junit(verdict: Verdict, run: str) -> str:
    """One test suite per run, one test case per check; sentences with changed verdicts are its output."""
    # Some readers require a time; there are no errors.
    facts = {
        "tests": str(len(verdict.checks)),
        "failures": str(len(verdict.failures)),
        "errors": "0",
        "skipped": str(len(verdict.not_compared)),
        "time": "0",
    }
    suites = Element("testsuites", {"name": "gendermark gate", **facts})
    suite = SubElement(suites, "testsuite", {"name": _attribute(f"gendermark gate {run}"), **facts})
    for check in verdict.checks:
        names = {"classname": _attribute(check.cell), "name": _attribute(check.name), "time": "0"}
        case, finding = SubElement(suite, "testcase", names), _attribute(check.finding)
        if check.passed:
            continue
        if check.compared:
            failure = SubElement(case, "failure", {"message": finding, "type": "gate"})
            failure.text = _NOT_XML.sub("", f"{check.cell}, {check.metric}:{check.slice}: {check.finding}")
        else:
            SubElement(case, "skipped", {"message": finding})
    lines = []
    for what, found in (("newly wrong", verdict.newly_wrong), ("newly right", verdict.newly_right)):
        lines += [f"{what}: {len(found):,}", *("\n  ".join(one.lines) for one in found)] if found else []
    if lines:
        SubElement(suite, "system-out").text = _NOT_XML.sub("", "\n".join(lines))
    indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(suites, encoding="unicode")}\n'


def _attribute(text: str) -> str:
    """On one line: readers turn line breaks in attributes into spaces anyway."""
    return " ".join(_NOT_XML.sub("", text).split())


# A line break would start a new command; escape codes would colour the log.
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
    """The verdict as heading, and a table: failed checks, checks not compared, then the others."""
    checks = [*verdict.failures, *verdict.not_compared, *(check for check in verdict.checks if check.passed)]
    rows: list[tuple[str, ...]] = [("outcome", "cell", "metric", "slice", "finding"), ("---",) * 5]
    for check in checks:
        outcome = f"**{check.outcome}**" if check.has_failed else check.outcome
        rows.append((outcome, *map(_markdown, (check.cell, check.metric, check.slice, check.finding))))
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    return f"### gendermark {verdict.sentence}\n\nRun: {_markdown(run)}\n\n{table}\n\n{_sentences(verdict)}"


def _sentences(verdict: Verdict) -> str:
    """Sentences with a changed verdict, folded."""
    parts = []
    for what, found in (("Newly wrong", verdict.newly_wrong), ("Newly right", verdict.newly_right)):
        if found:
            lines = ["<br>".join(map(_markdown, one.lines)) for one in found[:_MOST_SENTENCES]]
            rest = [f"and {len(found) - _MOST_SENTENCES:,} more"] if len(found) > _MOST_SENTENCES else []
            listed = "\n".join(f"- {line}" for line in [*lines, *rest])
            parts.append(f"<details><summary>{what}: {len(found):,}</summary>\n\n{listed}\n\n</details>\n\n")
    return "".join(parts)


def _command(kind: str, title: str, message: str) -> str:
    return f"::{kind} title={_escaped(title).replace(':', '%3A').replace(',', '%2C')}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return _CONTROL.sub("", text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _markdown(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split()).translate(_MARKDOWN)
