"""The documentation: links lead somewhere, reference pages have all there is, nothing is loaded from elsewhere."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from inspect import isfunction, signature
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import typer

import gendermark
from built_site import REPOSITORY, build_site
from gendermark import registry
from gendermark.cli.app import VERBS, _exit_code, application
from gendermark.cli.benchmarks import listing
from gendermark.data.official import card_names, load_card
from gendermark.selection import own_options

DOCS = REPOSITORY / "docs"
WRITTEN = [*sorted(DOCS.rglob("*.md")), *(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md"))]
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w]|\.\d)")


@cache
def _prose(path: Path) -> str:
    return _FENCED.sub("", path.read_text(encoding="utf-8"))


@cache
def _anchors(path: Path) -> frozenset[str]:
    headings = re.findall(r"^#+ (.+)$", _prose(path), re.MULTILINE)
    return frozenset(re.sub(r"[^\w\s-]", "", heading).strip().lower().replace(" ", "-") for heading in headings)


def _links(path: Path) -> Iterator[tuple[Path, str]]:
    """The files that a page links to, and the heading in each."""
    for target in _LINK.findall(_prose(path)):
        if "://" not in target:
            file, _, anchor = target.partition("#")
            yield (path.parent / file).resolve() if file else path, anchor


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_every_link_leads_somewhere(path: Path) -> None:
    for target, anchor in _links(path):
        assert target.is_file(), f"{path} links to {target}"
        assert target.is_relative_to(REPOSITORY)
        assert not anchor or anchor in _anchors(target), f"{target} has no heading #{anchor}"


@pytest.mark.parametrize("name", ["findings.md", "limitations.md"])
def test_what_is_repeated_is_what_was_measured(name: str) -> None:
    """Numbers that stand on these pages stand on a page that their section or their item links to."""
    n_numbers = 0
    parts = re.split(r"^(?:## |- )", _prose(DOCS / name), flags=re.MULTILINE)[1:]
    for part in parts:
        linked = [
            DOCS / target.partition("#")[0]
            for target in _LINK.findall(part)
            if target.partition("#")[0].endswith(".md")
        ]
        numbers = set(_NUMBER.findall(_LINK.sub("]", part))) - {"100"}
        there = {number for path in linked for number in _NUMBER.findall(path.read_text(encoding="utf-8"))}
        assert numbers <= there, f"{part.splitlines()[0]}: {numbers - there}"
        n_numbers += len(numbers)
    assert n_numbers, "the pattern finds nothing"


def test_every_path_exists() -> None:
    """Files and folders of this repository that pages name; where one says that a name is in a file, it is there."""
    source = REPOSITORY / "src" / "gendermark"
    roots = (source, REPOSITORY, source / "systems", source / "data", source / "benchmarks" / "winomt")
    ours = re.compile(r"`((?:src|tests|bench|docs)/[\w./-]+|[\w./-]+/[\w-]+\.(?:py|tsv|toml))`")
    paths = {path for page in WRITTEN for path in ours.findall(page.read_text(encoding="utf-8"))}
    design = (DOCS / "design.md").read_text(encoding="utf-8")
    paths |= set(re.findall(r"`([\w./-]+(?:/|\.py|\.yml|\.toml))`", design))
    assert len(paths) > 60
    real = {path for path in paths if not re.search("CODE|NAME", path)}
    assert [path for path in sorted(real) if not any((root / path).exists() for root in roots)] == []
    for name, path in re.findall(r"`(\w+)` in `([\w/]+\.py)`", design):
        assert re.search(rf"\b{name}\b", (source / path).read_text(encoding="utf-8")), f"{name} in {path}"


def _commands() -> list[str]:
    """Every command line of ours in a block for a console, without its comment and what follows in the shell."""
    blocks = [block for path in WRITTEN for block in _CONSOLE.findall(path.read_text(encoding="utf-8"))]
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    found = (re.match(r"\$ (?:[A-Z_]+=\S* )*gendermark (.*)", line) for line in lines)
    return list(dict.fromkeys(match[1] for match in found if match))


def test_every_documented_command_is_one() -> None:
    """Its verb and all its options exist; nothing is done. So do those that make the tables of papers."""
    commands = _commands()
    assert len(commands) > 50
    tables = listing("tables").rows
    both = ("Staliūnaitė et al. (2026)", "Renduchintala et al. (2021)")
    assert [sum(paper == one for paper, *_ in tables) for one in both] == [22, 11], "all that they print"
    made = [line.removeprefix("gendermark ") for *_, command in tables for line in command.split(" && ") if line]
    assert len(made) > 40
    for line in commands + made:
        words = list(takewhile(lambda word: word not in ("|", ">", "&&", ";", "||"), shlex.split(line, comments=True)))
        command: Any = typer.main.get_command(application(words))
        while hasattr(command, "commands"):
            if words[0] == "--help" or (words[0] not in command.commands and "build" in command.commands):
                break
            assert words[0] in command.commands, line
            command, words = command.commands[words[0]], words[1:]
        known = {flag for one in command.params for flag in (*one.opts, *one.secondary_opts)} | {"--help"}
        given = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        if not hasattr(command, "commands"):
            assert given <= known, f"{line}: {given - known}"


def _run_all(lines: Iterable[str], system: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Run command lines of ours one after the other, and give back all that they print."""
    for line in lines:
        words = shlex.split(line.replace("$SYSTEM", system), comments=True)
        assert _exit_code(words[1:]) == 0, f"{line}: {capsys.readouterr().err}"
    return "".join(capsys.readouterr())


@pytest.mark.slow
def test_the_example_of_the_readme_prints_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    example = text.partition("## Example\n")[2]
    lines = re.findall(r"^\$ (gendermark .*)", _CONSOLE.findall(example)[0], re.MULTILINE)
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    printed = re.sub(r"\x1b\[[\d;]*[A-Za-z]", "", _run_all(lines, "", capsys))
    (shown,) = re.findall(r"^```text\n(.*?)^```", example, re.MULTILINE | re.DOTALL)
    assert [line for line in shown.splitlines() if line not in printed] == []
    for path in (REPOSITORY / "README.md", DOCS / "quick-start.md", DOCS / "reading.md"):
        for block in _PYTHON.findall(path.read_text(encoding="utf-8")):
            exec(block, {})  # with the translations that the commands have made


@pytest.mark.slow
def test_the_quick_start_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of it that needs neither a network nor a browser, with the bundled model as the system."""
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "quick-start.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\$ (gendermark .*)", "\n".join(_CONSOLE.findall(text)), re.MULTILINE)
    offline = [line for line in lines if " ui " not in line and "official" not in line]
    assert len(lines) - len(offline) == 2
    _run_all(offline, "demo:en-es", capsys)
    assert Path("report.html").stat().st_size > 100_000
    for block in _PYTHON.findall((DOCS / "report.md").read_text(encoding="utf-8")):
        exec(block.replace("runs/baseline", "runs/int8"), {})
    assert list(Path("figures").glob("*.svg"))


def test_examples_in_python_import_what_exists() -> None:
    blocks = [block for path in WRITTEN for block in _PYTHON.findall(path.read_text(encoding="utf-8"))]
    imports = [line for block in blocks for line in block.splitlines() if re.match(r"(from|import) ", line)]
    assert len(imports) > 10
    exec("\n".join(line for line in imports), {})


# -- reference ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    spec = spec_from_file_location("reference", DOCS / "site" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    reference = module_from_spec(spec)
    spec.loader.exec_module(reference)
    return reference.pages({str(path.relative_to(DOCS).as_posix()) for path in WRITTEN if path.is_relative_to(DOCS)})


def test_reference_pages_have_all_that_is_registered(pages: dict[str, str]) -> None:
    for name, benchmark in registry.every("benchmark"):
        about = _section(pages["reference/benchmarks.md"], name)
        assert benchmark.question in about
        assert benchmark.card or benchmark.paper, "nothing to cite"
        assert not benchmark.card or load_card(benchmark.card).citation in about
        metrics = _section(pages["reference/metrics.md"], name)
        for metric in benchmark.measures.described:
            assert f"`{metric.name}`" in metrics
            assert metric.label in metrics
        options = _section(pages["reference/options.md"], name)
        assert all(f"`{option.flag}`" in options for option in own_options(benchmark.settings).values())
    assert all(f"`{name}:`" in pages["reference/systems.md"] for name in registry.names("system"))
    assert all(f"| {code} |" in pages["reference/languages.md"] for code in registry.names("language"))
    assert all(load_card(name).bibtex.strip() in pages["reference/citations.md"] for name in card_names())


def test_the_command_line_is_there_with_all_its_options(pages: dict[str, str]) -> None:
    commands = pages["reference/commands.md"]
    assert all(f"## `gendermark {verb}`" in commands for verb in VERBS)
    assert "## `gendermark annotate serve`" in commands
    gate = commands.partition("## `gendermark gate`")[2].partition("\n## ")[0]
    assert "| `--alpha` | Significance level of the comparison with the baseline. | `0.05` |" in gate
    assert "| `[NAME=]DIR` | Run folder of the system under test. | required |" in gate


def test_every_option_that_pages_name_exists(pages: dict[str, str]) -> None:
    flag = re.compile(r"(?<![\w-])--[a-z][\w-]*")
    known = set(flag.findall(pages["reference/commands.md"] + pages["reference/options.md"]))
    of_other_programs = {"--help", "--model", "--output_dir", "--copy_files", "--local-dir"}  # converters, downloads
    of_other_programs |= {"--tasks", "--metadata", "--include_path"}  # lm-evaluation-harness
    of_scripts = {
        "--short",
        "--n-kills",
        "--verify",
        "--only",
        "--only-pages",
        "--runs",
        "--base",
        "--loss",
        "--text-alone",
        "--time",
        "--unchecked",
    }  # in bench/, docs/
    written = {option for path in WRITTEN for option in flag.findall(path.read_text(encoding="utf-8"))}
    assert written - known - of_other_programs - of_scripts == set()


def test_every_public_function_is_in_the_reference(pages: dict[str, str]) -> None:
    """With all its arguments; those without a word about them are few."""
    page = pages["reference/python.md"]
    for name, found in ((name, getattr(gendermark, name)) for name in gendermark.__all__):
        if isfunction(found):
            section = _section(page, name)
            undescribed = [one for one in signature(found).parameters if f"| `{one}` |" not in section]
            assert undescribed == [], name
    assert "`Result.to_pandas`" in page


def _section(page: str, benchmark: str) -> str:
    found = page.partition(f"\n## `{benchmark}`")[2].partition("\n## ")[0]
    assert found, f"no section {benchmark}"
    return found


# -- the site ----------------------------------------------------------------------------------------------------------


def _loaded(text: str) -> list[str]:
    """What a page loads by itself; what it links to is not loaded."""
    links = [tag for tag in re.findall(r"<link\b[^>]*>", text) if not re.search(r"rel=\"?(canonical|next|prev)", tag)]
    tags = [*links, *re.findall(r"<(?:script|img|source|video|audio|iframe|object|embed)\b[^>]*>", text)]
    attribute = re.compile(r"\b(?:src|srcset|data|poster|href)=[\"']?([^\s\"'>]+)")
    return [address for tag in tags for address in attribute.findall(tag)]


@pytest.mark.slow
def test_the_site_is_whole_and_loads_nothing_from_elsewhere(tmp_path: Path, pages: dict[str, str]) -> None:
    site = build_site(tmp_path / "site")
    n_loaded = 0
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        loaded = _loaded(text)
        assert [address for address in loaded if re.match(r"(\w+:)?//", address)] == [], path
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", text), path
        n_loaded += len(loaded)
        if path.name != "404.html":  # it is served from anywhere, so its addresses begin at the root
            assert all((path.parent / address).exists() for address in loaded if address[:5] != "data:"), path
    assert n_loaded > 100
    for path in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", path.read_text(encoding="utf-8")), path
    searched = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    places = {entry["location"].partition("#")[0] for entry in searched["docs"]}
    assert {name.replace(".md", ".html") for name in pages} <= places
    assert {"index.html", "contributing.html", "changelog.html"} <= places
    assert not list(site.rglob("*.py"))
