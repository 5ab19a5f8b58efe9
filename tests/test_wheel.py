"""The wheel, installed alone in an empty environment: everything is in it, and it gives the numbers of the checkout.

No index is needed: the dependencies come from the running environment, by a path that stands after the wheel's own.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from email.parser import HeaderParser
from pathlib import Path

import pytest

import gendermark
from gendermark.cli.app import _exit_code

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "src" / "gendermark"
SCRIPTS = "Scripts" if os.name == "nt" else "bin"


def _run(command: list[str | Path], **options: object) -> subprocess.CompletedProcess[str]:
    # A build or an import must not find the checkout by an environment variable.
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        [str(part) for part in command],
        env={**environment, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "NO_COLOR": "1", "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
        **options,  # type: ignore[call-overload]
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for module in ("build", "hatchling", "pip"):
        pytest.importorskip(module)
    base = tmp_path_factory.mktemp("wheel")
    source = base / "source"
    shutil.copytree(REPOSITORY / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, source)
    _run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", base / "dist", source], cwd=base)
    (found,) = (base / "dist").iterdir()
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel in it."""
    place = tmp_path_factory.mktemp("environment") / "venv"
    _run([sys.executable, "-m", "venv", "--without-pip", place])
    python = place / SCRIPTS / "python"
    _run([sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps", wheel])
    site_packages = Path(_run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).stdout.strip())
    assert site_packages.is_relative_to(place)
    # A path in a .pth file comes after the environment's own, and the .pth files found there (of an editable
    # installation, for example) are not read.
    paths = dict.fromkeys(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))
    (site_packages / "zz-dependencies.pth").write_text("\n".join(paths), encoding="utf-8")
    return place


@pytest.fixture
def new(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The installed program, run in an empty directory; gives what it prints."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: _run([installed / SCRIPTS / "gendermark", *arguments], cwd=tmp_path).stdout


@pytest.fixture
def checkout(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The same command in this process."""

    def call(*arguments: str | Path) -> str:
        capsys.readouterr()
        assert _exit_code([str(argument) for argument in arguments]) == 0
        return capsys.readouterr().out

    return call


def test_every_file_is_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if not name.endswith("/")}
    info = f"gendermark-{gendermark.__version__}.dist-info"
    in_source = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in packed if not name.startswith(f"{info}/")} == in_source
    for ending in (
        "py.typed",
        "languages/es/lexicon.tsv",
        "core/tgbi/ko.toml",
        "cards/tgbi.toml",
        "simplegen/templates.txt",
        "adapters/lm_eval/winomt.yaml",
    ):
        assert any(name.endswith(ending) for name in packed), ending
    assert f"{info}/licenses/LICENSE" in packed
    assert wheel.stat().st_size < 25_000_000


def test_metadata(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = HeaderParser().parsestr(archive.read(name).decode())
        entry_points = archive.read(name.replace("METADATA", "entry_points.txt")).decode()
    assert (metadata["Name"], metadata["Version"]) == ("gendermark", gendermark.__version__)
    assert "gendermark = gendermark.cli.app:main" in entry_points
    assert metadata["Requires-Python"] == ">=3.11"
    declared = (re.match(r"[A-Za-z0-9._-]+", text) for text in metadata.get_all("Requires-Dist", []))
    required = {name[0].lower().replace("-", "_") for name in declared if name}
    assert _third_party_imports() <= required, "the checkout's environment hides a dependency that is not declared"


def _third_party_imports() -> set[str]:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    packages = {"vl_convert": "vl_convert_python"}  # where the package has another name than the module
    return {packages.get(name, name).lower() for name in found - sys.stdlib_module_names - {"gendermark"}}


@pytest.mark.slow
def test_the_package_is_the_installed_one(installed: Path, tmp_path: Path) -> None:
    code = (
        "import gendermark, gendermark.api, importlib.metadata, json;"
        "print(json.dumps([gendermark.__file__, gendermark.api.__file__, importlib.metadata.version('gendermark')]))"
    )
    package, api, version = json.loads(_run([installed / SCRIPTS / "python", "-c", code], cwd=tmp_path).stdout)
    assert Path(package).is_relative_to(installed)
    assert Path(api).is_relative_to(installed)
    assert not Path(package).is_relative_to(REPOSITORY)
    assert version == gendermark.__version__


@pytest.mark.slow
def test_the_commands_give_what_they_give_in_the_checkout(
    new: Callable[..., str], checkout: Callable[..., str], tmp_path: Path
) -> None:
    assert new("--version") == f"{gendermark.__version__}\n"
    item_set = gendermark.items("simplegen", "de", data="core")
    lines = ["Die Ärztin." if number % 2 else "Der Arzt." for number, _ in enumerate(item_set.items)]
    (tmp_path / "t.txt").write_text("\n".join(lines), encoding="utf-8")
    for command in (
        "list languages",
        "export simplegen --data core --to de",
        "score simplegen --data core --to de --translations t.txt --json",
    ):
        assert new(*command.split()) == checkout(*command.split())
    run = ("run", "--system", "fake:right", "--data", "core", "--to", "es", "-o")
    assert new(*run, "out") == checkout(*run, "out-checkout")
    assert new("report", "out") == checkout("report", "out-checkout")


@pytest.mark.slow
def test_the_bundled_model(new: Callable[..., str], tmp_path: Path) -> None:
    benchmark = "mt-geneval-counterfactual"
    assert new("run", "--system", "demo:en-es", "--benchmark", benchmark, "--data", "core", "--to", "es", "-o", "demo")
    assert new("report", "demo", "-o", "report.html") == ""
    assert "<!doctype html>" in (tmp_path / "report.html").read_text(encoding="utf-8")[:20].lower()
    ours = gendermark.run("demo:en-es", [benchmark], "es", data="core")[0]
    (theirs,) = gendermark.load(tmp_path / "demo")
    assert theirs.estimates == ours.estimates
    assert theirs.judgements == ours.judgements
