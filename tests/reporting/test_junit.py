"""The verdict of a gate for machines: JUnit XML, GitHub's workflow commands and Markdown, whatever is in the names."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from gendermark.reporting.ci import junit, summary, workflow_commands
from gendermark.runs.gates import Check, Verdict

GOOD = Check("tiny.en-xx", "accuracy", "all", True, "80.0, at least 60 is asked", "at least 60")
BAD = Check("tiny.en-xx", "accuracy", "all", False, "80.0, at most 70 is asked", "at most 70")
SKIPPED = Check("tiny.en-xx", "women", "all", False, "– → <50.0>, not compared", "no worse", compared=False)
HOSTILE = (
    "<script>alert(1)</script>",
    "\"' onload='x'",
    "]]></failure></testcase>",
    "a & b &amp; &#0;",
    "\x00\x01\x08\x0b\x0c\x1f\x7f\x9b31m",
    "\x1b[31mred\x1b[0m",
    "\ufffe\uffff\ud800",
    "two\nlines\r\n::error::three",
    "100% of a:b,c",
    "a | b ` c * d _e_ [link](x) ![i](y)",
    "\u2028\u2029\x85",
    "\u202eright to left",
)


def hostile(text: str) -> Verdict:
    return Verdict((Check(text, text, text, False, text, text),))


# -- JUnit


def test_one_test_case_for_each_check() -> None:
    (suite,) = ElementTree.fromstring(junit(Verdict((GOOD, BAD)), "v2"))
    assert (suite.tag, suite.get("name")) == ("testsuite", "gendermark gate v2")
    assert [suite.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["2", "1", "0", "0"]
    good, bad = suite
    assert [case.tag for case in suite] == ["testcase", "testcase"]
    assert (good.get("classname"), good.get("name"), len(good)) == ("tiny.en-xx", "accuracy:all at least 60", 0)
    # Readers drop a second test case of the same name, so the names tell what was asked.
    assert bad.get("name") == "accuracy:all at most 70"
    (failure,) = bad
    assert (failure.tag, failure.get("message")) == ("failure", "80.0, at most 70 is asked")
    assert failure.text == "tiny.en-xx, accuracy:all: 80.0, at most 70 is asked"


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_valid_xml(text: str) -> None:
    written = junit(hostile(text), text)
    (case,) = ElementTree.fromstring(written.encode("utf-8"))[0]
    (failure,) = case
    assert list(failure) == []
    kept = "".join(c for c in text if re.match(r"[\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd]", c))
    assert case.get("classname") == " ".join(kept.split())
    assert failure.text is not None
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]", failure.text)


# -- GitHub


def test_what_was_not_compared_is_neither_passed_nor_failed() -> None:
    verdict = Verdict((GOOD, SKIPPED, BAD))
    (suite,) = ElementTree.fromstring(junit(verdict, "v2"))
    assert [suite.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["3", "1", "0", "1"]
    assert [[child.tag for child in case] for case in suite] == [[], ["skipped"], ["failure"]]
    assert suite[1][0].get("message") == SKIPPED.finding
    assert workflow_commands(verdict)[-1] == f"::notice title=gendermark%3A tiny.en-xx women%3Aall::{SKIPPED.finding}"
    rows = [line.split(" | ")[0] for line in summary(verdict, "v2").splitlines() if line.startswith("| ")]
    assert rows[2:] == ["| **FAIL**", "| not compared", "| pass"]


def test_if_nothing_was_compared_every_form_fails() -> None:
    verdict = Verdict.of([SKIPPED])
    (suite,) = ElementTree.fromstring(junit(verdict, "v2"))
    assert [suite.get(key) for key in ("tests", "failures", "skipped")] == ["2", "1", "1"]
    assert workflow_commands(verdict)[0].startswith("::error title=gendermark::gate failed: nothing could be compared")
    assert summary(verdict, "v2").startswith("### gendermark gate failed: nothing could be compared")


def test_workflow_commands_are_escaped() -> None:
    _, command = workflow_commands(Verdict((Check("a,b", "c:d", "e%", False, "5% more\r\n::set-env::x"),)))
    assert command == "::error title=gendermark%3A a%2Cb c%3Ad%3Ae%25::5%25 more%0D%0A::set-env::x"


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_one_command(text: str) -> None:
    _, command = workflow_commands(hostile(text))
    assert len(command.splitlines()) == 1
    assert re.fullmatch(r"::error title=[^:,]*::[^\x00-\x1f\x7f-\x9f]*", command)


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_one_row_of_the_summary(text: str) -> None:
    row = summary(hostile(text), text).rstrip("\n").split("\n")[-1]
    assert len(row.splitlines()) == 1
    assert len(re.findall(r"(?<!\\)\|", row)) == 6
    assert not re.search(r"(?<!\\)[<>`\[\]&]", row)
