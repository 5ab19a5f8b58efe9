"""Every command in the documentation runs.

Each page is followed from top to bottom in an empty folder. Bundled systems and controls stand in for systems that
must be downloaded or paid for, and runs and files that a page takes for granted are made first.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from itertools import pairwise, takewhile
from pathlib import Path

import pytest

from gendermark.cli.app import _exit_code
from test_docs import _CONSOLE, REPOSITORY, WRITTEN

NOT_RUN = {
    "ui": "a server",
    "annotate serve": "a server",
    "annotate agree": "needs people; tests/annotation",
    "annotate export": "needs a run of one benchmark; tests/annotation",
    "data convert": "files of other projects; tests/data",
    "demo": "make demo",
    "train": "minutes to hours; tests/lab",
    "study debias": "trains; tests/lab",
    "study training": "trained models; tests/lab",
    "study speed": "times; tests/lab",
    "study mitigate": "minutes; tests/lab",
    "audit": "tests/cli",
    "leaderboard": "tests/leaderboard",
    "score gate-": "alternatives of a system; tests/benchmarks",
    "score gest --to cs --revision": "a released file; tests/benchmarks",
    "score tgbi": "seven files; tests/benchmarks",
    "score uncertainty": "samples; tests/benchmarks",
    "run --system files:": "files of a vendor; tests/cli",
}
_SYSTEM = re.compile(r"^((?:[\w-]+=)?)(?!demo:|fake:|rerank:demo:|files:)\S.*$")


def _pages() -> list[Path]:
    return [path for path in WRITTEN if "$ gendermark " in path.read_text(encoding="utf-8")]


def _lines(page: Path) -> list[str]:
    blocks = _CONSOLE.findall(page.read_text(encoding="utf-8"))
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    found = (re.match(r"\$ (?:[A-Z_]+=\S* )*gendermark (.*)", line) for line in lines)
    return [match[1] for match in found if match]


def _runs(words: list[str]) -> bool:
    line = " ".join(words)
    return not any(line == start or line.startswith(start) for start in NOT_RUN) and "similarity" not in line


def _value(words: list[str], flag: str) -> str:
    return words[words.index(flag) + 1] if flag in words else ""


def _with_bundled_systems(words: list[str]) -> list[str]:
    """Official sentences are too many for the bundled model; a control answers them at once."""
    languages = {word for flag, word in pairwise(words) if flag == "--to"}
    stand_in = "demo:en-es" if languages == {"es"} and "core" in words else "fake:masculine"
    made = list(words)
    while "--system-option" in made:
        at = made.index("--system-option")
        del made[at : at + 2]
    for at, flag in enumerate(words[:-1]):
        if flag == "--system" and at + 1 < len(made):
            made[made.index(words[at + 1])] = _SYSTEM.sub(rf"\1{stand_in}", words[at + 1])
    return [word.replace("$SLURM_ARRAY_TASK_ID", "1").replace("1/8", "1/1") for word in made]


def _translations_of(folder: Path) -> list[str]:
    (file,) = folder.glob("*/translations.jsonl")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [f"{row['source']} ||| {row['translation']}\n" for row in rows]


def _make_inputs(words: list[str], base: Path, written: set[str]) -> None:
    """Make the run folders and files that a command reads and the page has not made."""
    outputs = {_value(words, flag) for flag in ("-o", "--plot", "--judgements")}
    for word in words:
        folder = Path(word.rpartition("=")[2])
        if folder.parts[:1] in (("runs",), ("winomt",)) and word not in outputs and "*" not in word:
            if not folder.exists():
                shutil.copytree(base, folder)
        elif word == "runs/*" and not Path("runs").is_dir():
            shutil.copytree(base, Path("runs/one"))
            shutil.copytree(base, Path("runs/two"))
    if words[0] == "score" and _value(words, "--translations") not in written:
        keep = words[2 : words.index("--translations")]
        made = Path(f"made-{len(list(Path().iterdir()))}")
        assert _exit_code(["run", "--system", "fake:right", "--benchmark", words[1], *keep, "-o", str(made)]) == 0
        files = [word for flag, word in pairwise(words) if flag == "--translations"]
        lines = _translations_of(made)
        for number, file in enumerate(files):
            part = lines[number * len(lines) // len(files) : (number + 1) * len(lines) // len(files)]
            table = ["source\ttranslation\n", *(line.replace(" ||| ", "\t") for line in part)]
            Path(file).write_text("".join(table if file.endswith(".tsv") else part), encoding="utf-8")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base") / "run"
    assert _exit_code(["run", "--system", "demo:en-es", "--to", "es", "--data", "core", "-o", str(folder)]) == 0
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("page", _pages(), ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_the_commands_of_a_page_run(
    page: Path,
    base: Path,
    mirror: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("sources.txt", "nurse.txt"):
        Path(name).write_text("The nurse said that he would call back tomorrow.\n", encoding="utf-8")
    Path("translations.txt").write_text("El enfermero dijo que llamaría mañana.\n", encoding="utf-8")
    Path("mine.csv").write_text(_table(page), encoding="utf-8")
    written: set[str] = set()
    for line in _lines(page):
        words = shlex.split(line.replace("$SYSTEM", "SYSTEM"), comments=True)
        words = _with_bundled_systems(list(takewhile(lambda word: word not in ("|", ">", "&&"), words)))
        if not _runs(words):
            continue
        _make_inputs(words, base, written)
        if words[0] == "score":  # what a control makes of context is no translation
            words.append("--accept-unsound")
        expanded = [str(path) for word in words for path in (sorted(Path().glob(word)) if "*" in word else [word])]
        written.add(_value(words, "-o"))
        # A gate may fail: that is an answer.
        assert _exit_code(expanded) in ((0, 1) if words[0] == "gate" else (0,)), f"{line}: {capsys.readouterr().err}"


def _table(page: Path) -> str:
    """The user's own sentences, as the page shows them."""
    shown = re.search(r"^\$ cat mine.csv\n(.*?)^\$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return shown[1] if shown else ""
