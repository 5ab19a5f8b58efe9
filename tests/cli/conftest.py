"""The command line in this process, and what it is most often given: good translations, folders of finished runs."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest

import gendermark
from gendermark import registry
from gendermark.auditing import audit
from gendermark.auditing.index import Index
from gendermark.cli.app import _exit_code
from gendermark.records import Gender
from outcomes import Outcome

Cli = Callable[..., Outcome]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Call it with the words of a command, or with a whole line as one would type it."""

    def call(*arguments: str | Path) -> Outcome:
        capsys.readouterr()
        words = [str(argument) for argument in arguments]
        code = _exit_code(shlex.split(words[0]) if len(words) == 1 else words)
        out, err = capsys.readouterr()
        return Outcome(code, out, err)

    return call


@pytest.fixture(scope="session")
def sources() -> list[str]:
    """SimpleGEN's core sentences in export order."""
    return [item.source for item in gendermark.items("simplegen", "es", data="core").items]


@pytest.fixture(scope="session")
def spanish() -> list[str]:
    """Translations of them: lines that differ, with letters outside ASCII; everybody is a man."""
    item_set = gendermark.items("simplegen", "es", data="core")
    render = registry.load("benchmark", "simplegen").render
    men = [render(item, Gender.MASCULINE, item_set.selection) for item in item_set.items]
    return [f"Qué {text[:-1]} número {number}." for number, text in enumerate(men)]


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
    """Run folders `one`, `two` and `three` of one set of TGBI, quickly read and without sums. Not to be written to."""
    base = tmp_path_factory.mktemp("small")
    selection = gendermark.Selection("tgbi", "ko", "en", data="core", parts=("negative",))
    for name, spec in (("one", "fake:right?p=0.5"), ("two", "fake:masculine"), ("three", "fake:right")):
        gendermark.run(spec, [selection], directory=base / name)
    return base


@pytest.fixture
def folders(small: Path, tmp_path: Path) -> Path:
    """The small ones, to be damaged at will."""
    return Path(shutil.copytree(small, tmp_path / "folders"))


@cache
def _index_of(mirror: str) -> Index:
    return Index()


@pytest.fixture
def indexed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sets to recognise are the same in all tests, and take as long to load as the rest of an audit."""

    def index() -> Index:
        return _index_of(os.environ.get("GENDERMARK_DATA_MIRROR", ""))

    index.cache_clear = lambda: None  # type: ignore[attr-defined]
    monkeypatch.setattr(audit, "_index", index)
