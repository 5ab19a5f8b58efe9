"""Area 5: hostile words in translations and names. What is exported runs nothing and breaks nothing."""

from __future__ import annotations

import codecs
import csv
import io
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from fault_areas import server as serving
from fault_areas.campaign import LONGEST_SECONDS, MAIN, Scenario, Setting, expect

FORMULAS = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    " =1",
    "＝1",
    "＋1",
    "－1",
    "＠A",
    "\x00=1",
    "\u200b=1",
    "\x1d=1",
)
COMMANDS = (
    "::error::obeyed", "\n::set-env name=PATH::obeyed", "\r\n::add-mask::obeyed", "##[error]obeyed",
    "%0A::error::obeyed",
)  # fmt: skip
MARKUP = (
    "![obeyed](http://evil.example/x.png)", "[obeyed](javascript:alert(1))", "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>", "</script><script>alert(1)</script>", "|---|", "`a`", "]]>", "<!--", "&lt;", "[x]: http://evil.example",
    "![obeyed][x]", "<https://evil.example/x>", "{{report}}",
)  # fmt: skip
LATEX = (
    "\\input{/etc/passwd}",
    "\\write18{obeyed}",
    "$\\obeyed$",
    "100% obeyed",
    "a & b",
    "{",
    "}",
    "^^5cinput",
    "\\\\[1em]",
    "~#_",
)
ESCAPES = ("\x1b]0;obeyed\x07", "\x1b[2J", "\x9b31m", "\u202eobeyed", "\x90q\x9c", "\x08\x08", "\x1bc")
HOSTILE = (*FORMULAS, *COMMANDS, *MARKUP, *LATEX, *ESCAPES)
_FORMULA = re.compile(r"^[=+\-@＝＋－＠]")
_NUMBER = re.compile(r"^[+-]?[\d.,]+$")
_TEX = re.compile(r"\\[a-zA-Z]+|\\.")
_TEX_OF_OURS = {
    *(f"\\{sign}" for sign in "&%$#_{}\\"), "\\textbackslash", "\\textasciitilde", "\\textasciicircum", "\\textless",
    "\\textgreater", "\\textbar", "\\char", "\\ldots", "\\rightarrow", "\\Delta", "\\begin", "\\end", "\\centering",
    "\\footnotesize", "\\setlength", "\\tabcolsep", "\\toprule", "\\midrule", "\\bottomrule", "\\caption", "\\label",
    "\\usepackage", "\\multicolumn", "\\cmidrule", "\\tiny", "\\textbf",
}  # fmt: skip
_OBEYED = (b"\x1b]0;", b"\x1b[2J", b"\x1bc", b"\x07", b"\xc2\x9b", b"\xc2\x90", "\u202e".encode(), b"\x08")


def _hostile_runs(setting: Setting) -> tuple[Path, Path]:
    """Two runs of a server whose translations are hostile, each with its own; one with a hostile model name."""
    place = setting.place()
    with serving.translating() as server:
        for number, shift in enumerate((0, 7)):
            server.translate = lambda source, shift=shift: _made(source, shift)
            command = serving.run_arguments("openai", server.url, setting.directory, place)
            command[command.index("--system") + 1] = f"openai:{server.url}/v1#{_NAMES[number]}"
            setting.run([*command[:-1], place / f"run-{number}"]).is_good()
    return place / "run-0", place / "run-1"


_NAMES = (
    "=cmd|' /C calc'!A0 | <img src=x> \x1b]0;obeyed\x07",
    "![obeyed](http://evil.example) \\input{x} ::error::obeyed \u202e",
)


def _pick(source: str, shift: int) -> str:
    return HOSTILE[(sum(source.encode()) + shift) % len(HOSTILE)]


def _made(source: str, shift: int) -> str:
    who = "ella" if sum(source.encode()) % 3 == shift % 3 else "el"
    return f"{_pick(source, shift)} {who} {codecs.encode(source, 'rot13')} {_pick(source, shift + 3)}"


def files(setting: Setting) -> None:
    """Every form that a run can be written in."""
    for number in range(setting.times):
        one, other = _hostile_runs(setting)
        place = one.parent
        with setting.tally.trial("csv", len(HOSTILE)):
            setting.run(["report", one, other, "-o", place / "page.csv"]).is_good()
            setting.run(["annotate", "export", one, "-o", place / "sheet.csv", "--n", "80", "--with-source"]).is_good()
            for path in (place / "page.csv", place / "sheet.csv"):
                _check_csv(path.read_text(encoding="utf-8-sig"))
        with setting.tally.trial("latex", len(HOSTILE)):
            setting.run(["report", one, other, "-o", place / "page.tex"]).is_good()
            _check_latex((place / "page.tex").read_text(encoding="utf-8"))
        with setting.tally.trial("markdown", len(HOSTILE)):
            setting.run(["report", one, other, "-o", place / "page.md"]).is_good()
            _check_markdown((place / "page.md").read_text(encoding="utf-8"))
        with setting.tally.trial("html", len(HOSTILE)):
            setting.run(["report", one, other, "-o", place / "page.html"]).is_good()
            page = (place / "page.html").read_text(encoding="utf-8")
            expect("<img src=x" not in page and "<script>alert" not in page, "markup in the page")
            expect(page.count("<script") == page.count("</script"), "a script is not closed")
        with setting.tally.trial("gate", len(HOSTILE)):
            command = ["gate", one, "--baseline", other, "--junit", place / "junit.xml", "--summary", place / "gate.md"]
            said = setting.run([*command, "--github"])
            expect(said.code in (0, 1), f"exit {said.code}: {said.err[-200:]!r}")
            suite = ElementTree.parse(place / "junit.xml").getroot()
            expect(int(suite.get("tests", "0")) == len(suite.findall(".//testcase")), "test cases are missing")
            _check_markdown((place / "gate.md").read_text(encoding="utf-8"))
            _check_commands(said.err)
            _check_commands(said.out)
        setting.progress(number + 1, setting.times)


def _check_csv(text: str) -> None:
    for row in csv.reader(io.StringIO(text, newline="")):
        for cell in row:
            shown = "".join(x for x in cell if x.isprintable()).lstrip()
            expect(not _FORMULA.match(shown) or _NUMBER.match(shown), f"a spreadsheet runs {cell!r:.60}")


def _check_latex(text: str) -> None:
    for line in text.splitlines():
        code = re.split(r"(?<!\\)%", line)[0]
        strange = set(_TEX.findall(code)) - _TEX_OF_OURS
        expect(not strange, f"LaTeX runs {strange}: {line[:100]}")
        bare = re.sub(r"\\.", "", code)
        expect(bare.count("{") == bare.count("}"), f"braces do not close: {line[:100]}")
    expect(not any(ord(x) < 32 and x != "\n" for x in text), "control characters")


def _check_markdown(text: str) -> None:
    plain = re.sub(r"\\.", "", text)  # what is escaped is text
    plain = "\n".join(re.sub(r"`[^`]*`", "", line) for line in plain.split("\n"))
    expect("](" not in plain and "![" not in plain and "][" not in plain, "a link or an image in Markdown")
    allowed = (
        plain.replace("<details><summary>", "").replace("</summary>", "").replace("</details>", "").replace("<br>", "")
    )
    expect("<" not in allowed, f"HTML in Markdown: {allowed[allowed.index('<') :][:80]!r}" if "<" in allowed else "")


def _check_commands(text: str) -> None:
    """Only lines of ours are commands of GitHub's."""
    for line in text.splitlines():
        begins = line.lstrip()
        if begins.startswith("::"):
            expect(re.match(r"::(error|notice|warning) title=gendermark", begins), f"GitHub obeys {line[:80]!r}")


# -- terminals ---------------------------------------------------------------------------------------------------------


def terminals(setting: Setting) -> None:
    """What is shown on a terminal is shown, not obeyed."""
    one, other = _hostile_runs(setting)
    place = one.parent
    setting.run(["annotate", "export", one, "-o", place / "sheet.csv", "--n", "40"]).is_good()
    _fill(place / "sheet.csv")
    text = place / f"hostile {ESCAPES[0]}.txt"
    text.write_text("el\n", encoding="utf-8")
    store = one.parent / "store.sqlite"
    _damage(store)
    commands: list[Sequence[str | Path]] = [
        ["compare", one, other, "--all"],
        ["gate", one, "--baseline", other],
        ["gate", one, "--baseline", other, "--json"],
        ["annotate", "agree", place / "sheet.csv", one],
        ["report", one, "--format", "md"],
        ["report", one, "--format", "csv"],
        ["report", one, "--format", "json"],
        ["rejudge", one, "-o", place / f"again {ESCAPES[0]}"],
        ["score", text, "--benchmark", "tiny", "--to", "xx", "--data", "core"],
        ["run", "--system", f"command:/bin/false {ESCAPES[2]}", "--to", "xx", "--benchmark", "tiny", "-o", place / "x"],
        ["report", place / f"none {ESCAPES[0]}"],
        ["audit", text],
    ]
    with serving.translating() as server:
        command = serving.run_arguments("openai", server.url, setting.directory, place)
        command[command.index("--system") + 1] = f"openai:{server.url}/v1#{_NAMES[0]}"
        commands.append([*command[:-1], place / "run-again"])
        for number, arguments in enumerate(commands[: setting.times]):
            with setting.tally.trial(f"{arguments[0]} on a terminal"):
                shown = _on_terminal(setting, arguments)
                obeyed = [sign for sign in _OBEYED if sign in shown]
                expect(not obeyed, f"{' '.join(map(str, arguments))[:60]!r} is obeyed: {_around(shown, obeyed)}")
            setting.progress(number + 1, len(commands))


def _around(shown: bytes, obeyed: Sequence[bytes]) -> str:
    at = shown.find(obeyed[0]) if obeyed else 0
    return repr(shown[max(0, at - 60) : at + 40])


def _fill(sheet: Path) -> None:
    rows = list(csv.reader(io.StringIO(sheet.read_text(encoding="utf-8-sig"), newline="")))
    for row in rows[1:]:
        row[3], row[4] = "Y", "M"
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows(rows)
    sheet.write_text(buffer.getvalue(), encoding="utf-8")


def _damage(store: Path) -> None:
    """One answer changes: its checksum does not fit, and the run says which system's it was."""
    import sqlite3

    with sqlite3.connect(store) as connection:
        connection.execute(
            "UPDATE translation SET text = text || '!' WHERE request_id = (SELECT min(request_id) FROM translation)"
        )
    connection.close()


def _on_terminal(setting: Setting, arguments: Sequence[str | Path]) -> bytes:
    """All that a command writes to a terminal."""
    ours, theirs = pty.openpty()
    variables = {**setting.variables, "TERM": "xterm", "COLUMNS": "120"}
    command = [sys.executable, "-c", MAIN, *map(str, arguments)]
    child = subprocess.Popen(command, env=variables, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown, deadline = b"", time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < deadline:
        if select.select([ours], [], [], 0.05)[0]:
            try:
                piece = os.read(ours, 65_536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
        elif child.poll() is not None:
            break
    child.kill()
    child.wait()
    os.close(ours)
    if b"Traceback" in shown or b"bug in gendermark" in shown:
        setting.tally.trouble("tracebacks", f"{arguments[0]}: {shown[-300:]!r}")
    return shown


SCENARIOS = [
    Scenario("exports", "files of every form", files, 1, 2),
    Scenario("exports", "terminals", terminals, 2, 99),
]
