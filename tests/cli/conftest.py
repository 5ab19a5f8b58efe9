"""The command line in this process, and what it is most often given: good translations, folders of finished runs."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

import gendermark
from gendermark.cli.app import _exit_code


@dataclass(frozen=True)
class Outcome:
    exit_code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What was printed, as strict JSON: a NaN in it is an error."""
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))

    @property
    def rows(self) -> list[dict[str, str]]:
        """What was printed, as a tab-separated table with a header."""
        rows = list(csv.DictReader(io.StringIO(self.out), delimiter="\t", quoting=csv.QUOTE_NONE))
        assert all(None not in row and None not in row.values() for row in rows), "a row is longer or shorter"
        return rows

    def is_refusal(self, *words: str) -> None:
        """Exit code 2, nothing on stdout, and exactly one sentence, with these words in it."""
        assert "Traceback" not in self.err
        assert self.exit_code == 2, self
        assert self.out == ""
        assert self.err.startswith("error: ")
        assert self.err.endswith("\n")
        assert len(self.err.splitlines()) == 1, self.err
        for word in words:
            assert word in self.err, f"{word!r} is missing in {self.err!r}"


Cli = Callable[..., Outcome]


_get_command = cache(typer.main.get_command)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    # Building the parser of all commands takes longer than most commands that are refused.
    monkeypatch.setattr(typer.main, "get_command", _get_command)

    def call(*arguments: str | Path) -> Outcome:
        capsys.readouterr()
        code = _exit_code([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Outcome(code, out, err)

    return call


@pytest.fixture(scope="session")
def sources() -> list[str]:
    """SimpleGEN's core sentences in export order."""
    return [item.source for item in gendermark.items("simplegen", "es", data="core").items]


@pytest.fixture(scope="session")
def spanish(sources: Sequence[str]) -> list[str]:
    """Translations of them: lines that differ, with letters outside ASCII; the doctor is always a man."""
    return [f"El médico número {number} está aquí." for number, _ in enumerate(sources)]


@pytest.fixture(scope="session")
def good_file(spanish: Sequence[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("good") / "good.txt"
    path.write_text("".join(f"{line}\n" for line in spanish), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run folders `right` and `masculine` (SimpleGEN into Spanish), `tgbi` (Korean). Not to be written to."""
    base = tmp_path_factory.mktemp("finished")
    for name in ("right", "masculine"):
        gendermark.run(f"fake:{name}", ["simplegen"], "es", base / name, data="core")
    gendermark.run("fake:stereotyped?s=0.5", ["tgbi"], "en", base / "tgbi", data="core")
    return base


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run folders `one` and `two` of one set of TGBI, quickly read. Not to be written to."""
    base = tmp_path_factory.mktemp("small")
    selection = gendermark.Selection("tgbi", "ko", "en", data="core", parts=("negative",))
    for name, spec in (("one", "fake:right?p=0.5"), ("two", "fake:masculine")):
        gendermark.run(spec, [selection], directory=base / name)
    return base


@pytest.fixture
def folders(small: Path, tmp_path: Path) -> Path:
    """The small ones, to be damaged at will."""
    return Path(shutil.copytree(small, tmp_path / "folders"))
