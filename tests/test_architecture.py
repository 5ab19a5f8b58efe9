"""Imports point one way, nothing slow is loaded before it is needed, and only a benchmark's folder knows its name."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import gendermark
from gendermark import registry
from gendermark.languages import folders

PACKAGE = Path(gendermark.__file__).parent
# Each may import what stands before it. (The layout in docs/design.md, in the order of its imports.) A module with a
# place of its own stands higher than the rest of its folder: files are opened by `reading`, and checking
# translations uses it; findings of benchmarks draw charts; readers know what a language is, and languages come behind
# them.
ORDER = (
    "errors",
    "records",
    "names",
    "registry",
    "io",
    "markup",
    "selection",
    "calls",
    "data",
    "reading.words",
    "languages.language",
    "languages.folders",
    "languages.tables",
    "languages.speaking",
    "reading",
    "languages",
    "io.encodings",
    "io.pairs",
    "io.soundness",
    "metrics",
    "result",
    "reporting.document",
    "reporting.charts",
    "reporting.phrases",
    "benchmarks",
    "io.translations",
    "systems",
    "plugin",
    "runs",
    "auditing",
    "api",
    "annotation",
    "reporting",
    "adapters",
    "cli",
    "lab",
)
HEAVY = ("numpy", "pandas", "httpx", "rich", "scipy", "torch", "spacy", "sqlite3")


def _part_of(module: str) -> str:
    """The entry of ORDER that a module belongs to."""
    _, *names = module.split(".")
    return next((part for part in (".".join(names[:2]), *names[:1]) if part in ORDER), "__init__")


@cache
def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "gendermark":
            if node.module in ("gendermark", "gendermark.reporting"):
                found |= {f"{node.module}.{alias.name}" for alias in node.names if alias.name != "__version__"}
            else:
                found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("gendermark.")}
    return found


def test_every_part_has_its_place_in_the_order() -> None:
    parts = {path.stem if path.is_file() else path.name for path in PACKAGE.iterdir()} - {
        "__init__",
        "__pycache__",
        "py",
    }
    assert {part for part in parts if not part.endswith(".typed")} - {"py.typed"} == {
        part.partition(".")[0] for part in ORDER
    }


def test_imports_point_one_way() -> None:
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        part = _part_of(".".join(("gendermark", *path.relative_to(PACKAGE).with_suffix("").parts)))
        if part == "__init__":
            continue
        wrong += [
            f"{path.relative_to(PACKAGE)} imports {imported}"
            for imported in _imports(path)
            if ORDER.index(_part_of(imported)) > ORDER.index(part)
        ]
    assert wrong == []


def test_nothing_imports_the_lab() -> None:
    """The command line and the registry name its modules by strings, and load them when they are asked for."""
    outside = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] != "lab"]
    assert [path for path in outside for name in _imports(path) if name.startswith("gendermark.lab")] == []
    assert not [name for name in _modules_after("import gendermark.api") if name.startswith("gendermark.lab")]


def test_only_a_benchmarks_folder_knows_its_name() -> None:
    names = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, registry.BUILT_IN['benchmark']))})(?![\w-])")
    parts = ("reporting", "cli", "runs", "auditing")
    places = [PACKAGE / "api.py", *(path for part in parts for path in (PACKAGE / part).rglob("*.*"))]
    found = [
        f"{path.relative_to(PACKAGE)}:{number}: {line.strip()[:80]}"
        for path in places
        if path.suffix in (".py", ".js", ".html", ".toml")
        and path.name != "commands.toml"  # studies are of one benchmark
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if names.search(line)
    ]
    assert found == []


def test_only_a_languages_folder_knows_its_code() -> None:
    """Shared code asks what a language has, not which one it is."""
    codes = "|".join({*folders.codes()} - {"en", "be", "he"})  # the language of sources; English words
    branch = re.compile(rf"""(?:[=!]= |language(?:s?|\.code) in [({{\[]+)["'](?:{codes})["']""")
    exceptions = {
        "reading/published.py",  # the published heuristics of WinoMT, which are of single languages
        "lab/studies.py",  # the bundled demo model translates into Spanish
        "lab/speed.py",
        "lab/debias.py",
        "benchmarks/gate_variants/items.py",  # the official French data have no splits
    }
    outside = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] != "languages"]
    found = {str(path.relative_to(PACKAGE)) for path in outside if branch.search(path.read_text(encoding="utf-8"))}
    assert found <= exceptions


def _modules_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = _modules_after("import gendermark")
    assert not loaded & {*HEAVY, "typer"}
    assert "gendermark.api" not in loaded


def test_help_loads_nothing_heavy() -> None:
    code = "from gendermark.cli.app import main\ntry: main(['--help'])\nexcept SystemExit: pass"
    # Typer draws its help with rich; everything else waits until it is needed.
    assert not _modules_after(code) & (set(HEAVY) - {"rich"})


def test_options_load_no_judge_and_scoring_no_findings() -> None:
    every = "from gendermark import registry\nfor name in registry.names('benchmark'): registry."
    of_options = _modules_after(f"{every}settings(name, None)")
    assert not {name for name in of_options if name.endswith((".judge", ".measures", ".items"))} | of_options & {*HEAVY}
    of_scoring = _modules_after(f"import gendermark.runs.score\n{every}load('benchmark', name)")
    assert "gendermark.benchmarks.winomt.judge" in of_scoring
    assert not {name for name in of_scoring if "findings" in name or "reporting" in name}


SCORE = """
from gendermark.cli.app import main
try: main(["score", "winomt", "--data", "core", "--to", "es", "--translations", {file!r}, *{options}])
except SystemExit: pass
"""


def test_scoring_walks_forward(tmp_path: Path) -> None:
    """What comes after estimates (findings, drawings, reports) is not loaded for numbers alone; nor are benchmarks
    that nobody asked for, with or without a closing hint."""
    file = tmp_path / "translations.txt"
    file.write_text("La doctora habló.\n" * 1200, encoding="utf-8")
    later = ("reporting", "auditing", "annotation", "lab", "systems")
    loaded = _modules_after(SCORE.format(file=str(file), options=["--json"]))
    assert "gendermark.metrics.intervals" in loaded
    assert not [name for name in loaded if name.startswith(tuple(f"gendermark.{part}." for part in later))]
    assert not [name for name in loaded if name.endswith(".findings")]
    assert not loaded & {"httpx", "rich", "jinja2", "multiprocessing", "sqlite3"}
    loaded = _modules_after(SCORE.format(file=str(file), options=[]))
    assert {name for name in loaded if name.startswith("gendermark.benchmarks.") and name.endswith(".measures")} == {
        "gendermark.benchmarks.winomt.measures"
    }


def test_public_names_exist_and_are_listed() -> None:
    for name in gendermark.__all__:
        assert getattr(gendermark, name) is not None
    assert set(dir(gendermark)) == set(gendermark.__all__)
    assert callable(gendermark.run)
    import_module("gendermark.runs.run")  # the package must not take the place of the function
    assert callable(gendermark.run)
