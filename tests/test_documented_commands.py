"""Every command in the documentation runs.

Each page is followed from top to bottom in an empty folder. Bundled systems and controls stand in for systems that
must be downloaded or paid for, and runs and files that a page takes for granted are made first.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
from collections.abc import Sequence
from itertools import cycle, pairwise, takewhile
from pathlib import Path
from typing import Any

import pytest

from gendermark.cli.app import _exit_code
from test_docs import _CONSOLE, REPOSITORY, WRITTEN

NOT_RUN = {
    "ui": "serves until Ctrl-C; tests/browser",
    "annotate serve": "serves until Ctrl-C; tests/browser",
    "demo": "a minute, and `make demo` runs it",
    "train": "minutes to hours; tests/lab train smaller models",
    "study debias": "trains; tests/lab",
    "study training": "needs the trained models; tests/lab",
    "study speed": "times for minutes; tests/lab",
    "study mitigate": "minutes; tests/lab",
    "score tgbi --rules paper": "the released outputs, seven files; tests/benchmarks",
}
"""Commands that are not run, by how they begin, with the reason. Nor are those that need downloaded models (E5)."""
_SYSTEM = re.compile(r"^((?:[\w-]+=)?)(?!demo:|fake:|rerank:demo:|files:)\S.*$")


def _pages() -> list[Path]:
    """The quick start is left to tests/test_docs.py, which runs all of it in one place."""
    pages = [path for path in WRITTEN if "$ gendermark " in path.read_text(encoding="utf-8")]
    return [path for path in pages if path.name != "quick-start.md"]


def _lines(page: Path) -> list[str]:
    blocks = _CONSOLE.findall(page.read_text(encoding="utf-8"))
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    found = (re.match(r"\$ (?:[A-Z_]+=\S* )*gendermark (.*)", line) for line in lines)
    return [match[1] for match in found if match]


def _runs(words: list[str]) -> bool:
    line = " ".join(words)
    needs_models = "uncertainty --to es --rules paper" in line
    return not needs_models and not any(line == start or line.startswith(start) for start in NOT_RUN)


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


def _run(*options: str, system: str = "fake:right") -> Path:
    """Run a control in a new folder."""
    made = Path(f"made-{len(list(Path().iterdir()))}")
    assert _exit_code(["run", "--system", system, *options, "-o", str(made)]) == 0
    return made


def _rows(folder: Path, name: str) -> list[dict[str, Any]]:
    (file,) = folder.glob(f"*/{name}.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _write(path: Path, rows: Sequence[dict[str, Any]], *, with_sources: bool = True) -> None:
    """Sources and translations in the format that the name of a file asks for."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pairs = [(row["source"], row.get("translation", "")) for row in rows]
    with path.open("w", encoding="utf-8", newline="") as file:
        if path.suffix == ".jsonl":
            file.writelines(f"{json.dumps({key: row[key] for key in ('source', 'samples')})}\n" for row in rows)
        elif path.suffix in (".csv", ".tsv"):
            writer = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writerows([("source", "translation"), *pairs])
        else:
            file.writelines(f"{source} ||| {text}\n" if with_sources else f"{text}\n" for source, text in pairs)


def _fill(sheet: Path, answers: Sequence[Path]) -> None:
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    kinds = {"[Y/N]": "Y", "[M/F/N]": "M"}
    filled = [{key: kinds.get(key.rpartition(" ")[2], text) for key, text in row.items()} for row in rows]
    for path in answers:
        path.parent.mkdir(exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(filled)


def _make_inputs(words: list[str], base: Path, written: set[str]) -> None:
    """Make the run folders and files that a command reads and the page has not made."""
    outputs = {_value(words, flag) for flag in ("-o", "--plot", "--judgements")}
    folders = [word for word in words if Path(word.rpartition("=")[2]).parts[:1] in (("runs",), ("winomt",))]
    for system, word in zip(cycle(("fake:right", "fake:masculine", "fake:feminine")), folders, strict=False):
        folder = Path(word.rpartition("=")[2])
        if word in outputs or folder.exists() or (word == "runs/*" and Path("runs").is_dir()):
            continue
        if word == "runs/*":
            shutil.copytree(base, Path("runs/one"))
            shutil.copytree(base, Path("runs/two"))
        elif words[0] == "annotate":  # a sheet is of one benchmark
            benchmark = "mt-geneval-contextual" if "--key" in words else "winomt"
            shutil.copytree(_run("--benchmark", benchmark, "--to", "es", "--data", "core", system=system), folder)
        else:
            shutil.copytree(base, folder)
    if words[:2] == ["annotate", "export"]:
        Path("sheet.csv").unlink(missing_ok=True)
    elif words[:2] == ["annotate", "agree"]:
        _fill(Path("sheet.csv"), [Path("sheet-answers/ana.csv"), Path("sheet-answers/eva.csv")])
    elif words[0] == "audit":
        _write(Path(words[1]), _rows(_run("--benchmark", "winomt", "--to", "es", "--data", "core"), "translations"))
    elif words[:2] == ["data", "convert"]:
        line = {
            "winobias": "1 [The baker] greeted the clerk because [she] was early.\n",
            "winogender": "baker.clerk.0.female.txt\tThe baker greeted the clerk because she was early.\n",
        }[words[2]]
        Path(words[3]).write_text(line, encoding="utf-8")
    _make_translations(words, written)


def _make_translations(words: list[str], written: set[str]) -> None:
    files = [word for flag, word in pairwise(words) if flag in ("--translations", "--samples")]
    sets = [word.split("=") for flag, word in pairwise(words) if flag == "--set"]
    flags = ("--to", "--from", "--data", "--revision", "--split", "--context")
    keep = [word for flag in flags if flag in words for word in (flag, _value(words, flag))]
    benchmark = words[1] if words[0] == "score" else _value(words, "--benchmark")
    if sets and words[0] == "score":
        for name, file in sets:
            _write(Path(file), _rows(_run("--benchmark", benchmark, *keep, "--group", name), "translations"))
    elif files and files[0] not in written and words[0] in ("score", "leaderboard"):
        samples = ["--n-samples", "2"] if "--samples" in words else []
        made = _run("--benchmark", benchmark, *keep, *samples, system="fake:coin" if samples else "fake:right")
        rows = _rows(made, "samples" if samples else "translations")
        for number, file in enumerate(files):
            _write(Path(file), rows[number * len(rows) // len(files) : (number + 1) * len(rows) // len(files)])
    elif words[0] == "run" and _value(words, "--system").startswith("files:"):
        place = _value(words, "--system").removeprefix("files:").replace("#", "/")
        benchmark = benchmark or "winomt"
        for target in [word for flag, word in pairwise(words) if flag == "--to"]:
            others = [word for flag in flags[2:] if flag in words for word in (flag, _value(words, flag))]
            made = _run("--benchmark", benchmark, "--to", target, *others)
            _write(Path(place, f"{benchmark}.en-{target}.txt"), _rows(made, "translations"))


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
        words = shlex.split(re.sub(r"\s#.*", "", line.replace("$SYSTEM", "SYSTEM")))
        if not _runs(words):
            continue
        words = _with_bundled_systems(list(takewhile(lambda word: word not in ("|", ">", "&&"), words)))
        _make_inputs(words, base, written)
        if words[0] == "score" and "--samples" not in words:  # what a control makes of context is no translation
            words.append("--accept-unsound")
        expanded = [str(path) for word in words for path in (sorted(Path().glob(word)) if "*" in word else [word])]
        written.add(_value(words, "-o"))
        # A gate may fail: that is an answer.
        assert _exit_code(expanded) in ((0, 1) if words[0] == "gate" else (0,)), f"{line}: {capsys.readouterr().err}"


def _table(page: Path) -> str:
    """The user's own sentences, as the page shows them."""
    shown = re.search(r"^\$ cat mine.csv\n(.*?)^\$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return shown[1] if shown else ""
