"""What the command line gives for stored translations must not change unless somebody means it to.

`make golden` writes the expected files anew. Commit a change to them on its own, with the reason. Numbers are rounded
to nine digits before they are hashed, and the version is left out.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from gendermark import registry
from gendermark.cli import app
from outcomes import Outcome

HERE = Path(__file__).parent
EXPECTED, STORED = HERE / "expected", HERE / "translations"
WRITES = bool(os.environ.get("GENDERMARK_WRITE_GOLDEN"))
FORMATS = ("json", "csv", "md", "latex")
QUICK = {"mixed.en-es", "mixed.en-he", "mixed.ko-en", "demo.en-es", "winomt.he.best", "tgbi.ko.paper"}
"""What every `make test` looks at; the others take a minute."""
RELEASED = "gabrielStanovsky/mt_gender/586292861cf2efdda2dec03c69c3408995a8b293/translations/google"
TGBI = "nolongerprejudice/tgbi/2b99850c7c0f67e107d2dd071b71d357545e935a/gebnlp-tgbi/corpus/total_google_"
GEST = "kinit-sk/gest/7dd908cae11720ee5d95e43a4ab94fb410c8b790/data/translations/google_translate"

Cli = Callable[..., Outcome]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    def call(*arguments: str) -> Outcome:
        capsys.readouterr()
        code = app._exit_code(list(arguments))
        out, err = capsys.readouterr()
        assert code == 0, err
        return Outcome(code, out, err)

    return call


# -- stored translations -----------------------------------------------------------------------------------------------


def _directions() -> list[str]:
    names = {(path.parent.name, path.name.split(".")[1]) for path in STORED.glob("*/*.gz")}
    return sorted(f"{system}.{direction}" for system, direction in names)


def _cases() -> list[Any]:
    return [pytest.param(name, marks=() if name in QUICK or WRITES else pytest.mark.slow) for name in _directions()]


@pytest.mark.parametrize("case", _cases())
def test_stored_translations(case: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system, direction = case.split(".")
    source, target = direction.split("-")
    monkeypatch.chdir(tmp_path)
    benchmarks = []
    for packed in sorted((STORED / system).glob(f"*.{direction}.*.gz")):
        file = Path(system) / packed.name.removesuffix(".gz")
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(gzip.decompress(packed.read_bytes()))
        benchmarks.append(file.name.split(".")[0])
    found: dict[str, Any] = {}
    direct = ("--from", source, "--to", target, "--data", "core")
    for benchmark in benchmarks:
        (file,) = Path(system).glob(f"{benchmark}.{direction}.*")
        given = "--samples" if file.suffix == ".jsonl" else "--translations"
        score = ("score", benchmark, *direct, given, str(file), "--name", "A system")
        scored = cli(*score, "--json", "--judgements", "judgements.jsonl", "--tables", "tables")
        judgements = Path("judgements.jsonl").read_text(encoding="utf-8")
        found[benchmark] = {
            "score": _hash(scored.out),
            "judgements": _hash(judgements),
            "tables": _hash("".join(p.name + p.read_text(encoding="utf-8") for p in sorted(Path("tables").glob("*")))),
            "estimates": _readable(scored.json["estimates"]),
            "first": [_judged(line) for line in judgements.splitlines()[:2]],
        }
        for path in Path("tables").glob("*"):
            path.unlink()
    named = [part for name in benchmarks for part in ("--benchmark", name)]
    draws = [name for name in benchmarks if registry.load("benchmark", name).draws]
    run = ["run", "--system", f"files:{system}", *direct, *named, "--executor", "serial", "-o", "folder"]
    cli(*run, *(["--n-samples", "4"] if draws else []))
    for path in sorted(Path("folder").rglob("*")):
        if path.is_file() and path.name != "manifest.json":
            found.setdefault("folder", {})[path.relative_to("folder").as_posix()] = _hash(
                path.read_text(encoding="utf-8")
            )
    found["report"] = {name: _hash(cli("report", "folder", "--format", name).out) for name in FORMATS}
    _compare(f"{case}.json", found, tmp_path)


# -- released translations ---------------------------------------------------------------------------------------------


def _released(mirror: Path) -> dict[str, list[str]]:
    google = {
        f"winomt.{language}.{rules}": [
            "winomt", "--to", language, "--rules", rules, "--revision", "2019",
            "--translations", str(mirror / RELEASED / f"en-{language}.txt"),
        ]
        for language in ("es", "de", "he", "ru")
        for rules in ("best", "paper2019")
    }  # fmt: skip
    sets = {"informal": "inf", "formal": "f", "impolite": "imp", "polite": "p", "negative": "neg", "positive": "pos"}
    files = [f"{name}={mirror}/{TGBI}{short}.txt" for name, short in {**sets, "occupation": "job"}.items()]
    there = [part for file in files for part in ("--set", file)]
    tgbi = {"tgbi.ko.paper": ["tgbi", "--from", "ko", "--to", "en", "--rules", "paper", *there]}
    gest = {
        f"gest.{language}.{rules}": [
            "gest", "--to", language, "--rules", rules, "--revision", "1.0",
            "--translations", str(mirror / GEST / language / "translations.csv"),
        ]
        for language in ("cs", "ru")
        for rules in ("best", "paper")
    }  # fmt: skip
    return {**google, **tgbi, **gest}


def test_released_translations(cli: Cli, mirror: Path, tmp_path: Path) -> None:
    found = {}
    for name, arguments in _released(mirror).items():
        if (
            not WRITES
            and not os.environ.get("GENDERMARK_SLOW_TESTS")
            and name not in ("winomt.he.best", "tgbi.ko.paper")
        ):
            continue
        file = tmp_path / "judgements.jsonl"
        scored = cli("score", *arguments, "--json", "--judgements", str(file)).json
        found[name] = {
            "judgements": _hash(file.read_text(encoding="utf-8")),
            "estimates": _hash(json.dumps(scored["estimates"])),
            "headline": _readable(scored["estimates"])[:6],
        }
    _compare("released.json", found, tmp_path, some=True)


# -- options -----------------------------------------------------------------------------------------------------------


def _options(command: Any, path: str) -> Iterator[tuple[str, list[str]]]:
    names = sorted(name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts))
    yield path, names
    for name, sub in getattr(command, "commands", {}).items():
        yield from _options(sub, f"{path} {name}")


def test_option_names(tmp_path: Path) -> None:
    found: dict[str, list[str]] = {}
    for verb in app.VERBS:
        group: Any = typer.main.get_command(app.application([verb]))
        found.update(_options(group.commands[verb], verb))
    _compare("options.json", found, tmp_path)


# -- comparing ---------------------------------------------------------------------------------------------------------


_NUMBER = re.compile(r"-?\d+\.\d{6,}(?:e-?\d+)?")


def _hash(text: str) -> str:
    from gendermark import __version__

    text = _NUMBER.sub(lambda found: f"{float(found[0]):.6g}", text)
    return hashlib.sha256(text.replace(f"gendermark:{__version__}", "gendermark").encode()).hexdigest()[:20]


def _readable(estimates: list[dict[str, Any]]) -> list[str]:
    rows = []
    for e in estimates[:12]:
        value, low, high = ("none" if x is None else f"{x:.4g}" for x in (e["value"], e["low"], e["high"]))
        rows.append(f"{e['metric']}:{e['slice']} {value} [{low}, {high}] {e['n_judged']}/{e['n_total']}")
    return rows


def _judged(line: str) -> str:
    row = json.loads(line)
    return f"{row['item_id']} {row['verdict']} expected {row['expected']} observed {row['observed']}"


def _compare(name: str, found: dict[str, Any], tmp_path: Path, *, some: bool = False) -> None:
    path = EXPECTED / name
    if WRITES:
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return
    expected = json.loads(path.read_text(encoding="utf-8"))
    if some:
        expected = {key: value for key, value in expected.items() if key in found}
    assert found == expected, f"golden output {name} changed; the outputs are in {tmp_path}"
