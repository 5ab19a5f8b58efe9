"""The verdict of a gate as JUnit XML, which most continuous integration reads and shows."""

from __future__ import annotations

import html
import re

from gendermark.runs.gates import Check, Verdict

# What XML 1.0 cannot hold in any form, escaped or not; a reader would refuse the whole file.
_NOT_XML = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010ffff]")


def junit(verdict: Verdict, run: str) -> str:
    """One test suite for the run, one test case for each check."""
    # No time was measured, but some readers want one; none are errors.
    n_skipped = len(verdict.not_compared)
    facts = (
        f'tests="{len(verdict.checks)}" failures="{len(verdict.failures)}" errors="0" skipped="{n_skipped}" time="0"'
    )
    name = _attribute(f"gendermark gate {run}")
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="gendermark gate" {facts}>',
        f'  <testsuite name="{name}" {facts}>',
        *(_case(check) for check in verdict.checks),
        *_output(verdict),
        "  </testsuite>",
        "</testsuites>",
        "",
    ]
    return "\n".join(lines)


def _case(check: Check) -> str:
    start = f'    <testcase classname="{_attribute(check.cell)}" name="{_attribute(check.name)}" time="0"'
    if check.passed:
        return f"{start}/>"
    if not check.compared:
        return f'{start}>\n      <skipped message="{_attribute(check.finding)}"/>\n    </testcase>'
    text = _text(f"{check.cell}, {check.metric}:{check.slice}: {check.finding}")
    failure = f'<failure message="{_attribute(check.finding)}" type="gate">{text}</failure>'
    return f"{start}>\n      {failure}\n    </testcase>"


def _output(verdict: Verdict) -> list[str]:
    """The sentences that changed their verdict, as what the tests printed."""
    lines = []
    for what, found in (("newly wrong", verdict.newly_wrong), ("newly right", verdict.newly_right)):
        lines += [f"{what}: {len(found):,}", *("\n  ".join(one.lines) for one in found)] if found else []
    return [f"    <system-out>{_text(chr(10).join(lines))}</system-out>"] if lines else []


def _text(text: str) -> str:
    return html.escape(_NOT_XML.sub("", text))


def _attribute(text: str) -> str:
    """On one line: readers turn line breaks in attributes into spaces anyway."""
    return " ".join(_text(text).split())
