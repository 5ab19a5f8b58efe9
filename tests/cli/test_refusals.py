"""What each command refuses: exit code 2, nothing on stdout, and one sentence that names what is wrong.

Files of translations and damaged run folders are in test_malformed.py.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cases import read_cases
from cli.conftest import Cli
from gendermark.systems.ctranslate2 import BUNDLED

REFUSED = [(command, words) for command, *words in read_cases("cli/refusals.tsv")]


@pytest.mark.parametrize(("command", "words"), REFUSED, ids=[command or "nothing" for command, _ in REFUSED])
def test_refused_in_one_sentence(
    cli: Cli,
    small: Path,
    finished: Path,
    good_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    words: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sources.txt").write_text("The nurse slept.\nThe pilot sang.\n", encoding="utf-8")
    (tmp_path / "short.txt").write_text("La\n", encoding="utf-8")
    (tmp_path / "empty.txt").touch()
    if "{tmp}/files" in command:
        (tmp_path / "files").mkdir()
        for name in ("simplegen.en-es.txt", "simplegen.en-es.tsv"):
            shutil.copy(good_file, tmp_path / "files" / name)
    if "{tmp}/model" in command:
        shutil.copytree(BUNDLED / "en-es", tmp_path / "model")
        facts = '{"source_language": "en", "target_language": "es"}'
        (tmp_path / "model" / "gendermark.json").write_text(facts, encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    places = {"small": small, "finished": finished, "good": good_file, "tmp": tmp_path}
    cli(command.format(**places)).is_refusal(*(word.format(**places) for word in words))
    assert sorted(tmp_path.rglob("*")) == before, "what is refused leaves nothing behind"


def test_demo_does_not_write_into_a_file(cli: Cli, good_file: Path) -> None:
    outcome = cli(f"demo -o {good_file}")  # it says before what it is about to do
    assert outcome.exit_code == 2
    assert str(good_file) in outcome.err.splitlines()[-1]


def test_no_input_is_overwritten(cli: Cli, tmp_path: Path) -> None:
    sources, targets = tmp_path / "sources.txt", tmp_path / "targets.txt"
    sources.write_text("The nurse slept.\n", encoding="utf-8")
    targets.write_text("La\n", encoding="utf-8")
    (tmp_path / "link.txt").symlink_to(sources)
    for output in (sources, tmp_path / "link.txt", tmp_path / "x" / ".." / "sources.txt"):
        outcome = cli(f"translate {sources} --system 'command:tr a-z A-Z' --to es -o {output}")
        outcome.is_refusal(f"-o {output}", "overwrite")
    cli(f"translate {sources} --system demo:en-es --to es --targets {targets} -o {targets}").is_refusal("--targets")
    assert sources.read_text(encoding="utf-8") == "The nurse slept.\n"


@pytest.mark.parametrize("status", ["part", "running"])
def test_a_part_by_itself_is_not_shown(cli: Cli, status: str, finished: Path, tmp_path: Path) -> None:
    """Finished or not: there is nothing to see in it before all are joined."""
    part = tmp_path / "part"
    cli(f"run --system fake:right --benchmark terms --to es --data core --shard 1/3 -o {part}")
    manifest = part / "manifest.json"
    manifest.write_text(manifest.read_text("utf-8").replace('"status": "part"', f'"status": "{status}"'), "utf-8")
    for given in (f"{part}", f"{finished}/right {part}"):
        cli(f"ui {given} --no-open").is_refusal(f"{part}", "(1/3)", "gendermark merge")
