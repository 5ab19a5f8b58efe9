"""What each verb refuses: exit code 2, nothing on stdout, and one sentence that names what is wrong.

Files of translations and damaged run folders are in test_malformed.py, with the options of `score`, `export` and `run`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli.conftest import Cli
from gendermark.systems.ctranslate2 import BUNDLED

UNCERTAINTY = "uncertainty --to es --data core"
SPANISH = "--to es --data core"
SAID = "{tmp}/sources.txt"

# `{small}` has the run folders one, two and three; `{finished}/right` is another; `{tmp}` is an empty directory with
# the files sources.txt (two sentences), short.txt (one) and empty.txt, and files/ with two files for SimpleGEN.
REFUSED: list[tuple[str, tuple[str, ...]]] = [
    # compare
    ("compare", ("two run folders", "gendermark compare --help")),
    ("compare {small}/one --trend", ("two run folders",)),
    ("compare {small}/one {small}/two {small}/three {small}/one", ("{small}/one", "twice")),
    ("compare {small}/one {small}/two {small}/three --metric nothing", ("'nothing'", "p_s:negative")),
    ("compare {small}/one {small}/two --metric nothing", ("'nothing'", "p_s:negative")),
    # gate
    ("gate {small}/two --baseline {small}/one --tolerance nothing=1", ("'nothing'", "p_s:negative")),
    ("gate {small}/two --baseline {small}/one --tolerance 1 --tolerance 2", ("--tolerance", "twice")),
    ("gate {small}/two --baseline {small}/one --tolerance -1", ("--tolerance", "'-1'")),
    ("gate {small}/two --baseline {small}/one --tolerance p_s=x", ("tolerance of p_s", "'x'")),
    ("gate {small}/one --min p_s:negative=0 --fail-on-gap", ("--baseline DIR",)),
    ("gate {small}/one --min p_s:negative=0 --tolerance 1", ("--baseline DIR",)),
    # names of systems
    ("report {small}/one --name a --name b", ("--name", "2 times", "1 run")),
    ("report x={small}/one {small}/two --name a", ("NAME=DIR", "--name")),
    ("compare {small}/one {small}/two --name 'a\nb'", ("1 to 80 characters",)),
    ("report x={tmp}/nowhere", ("{tmp}/nowhere", "no such directory")),
    (f"run --system fake:right --benchmark simplegen {SPANISH} -o {{tmp}}/r --name 'a\nb'", ("1 to 80 characters",)),
    # report
    ("report {small}/one --figure-format svg", ("--figures DIR",)),
    ("report {small}/one --figures {tmp}/f --figure-format gif", ("'gif'", "svg")),
    ("report {small}/one --json --format html", ("--json", "--format html")),
    ("report {tmp} -o {tmp}/report.html", ("{tmp}", "no manifest.json")),
    # power
    ("power", ("--to es",)),
    ("power --to es --icc 1.5", ("--icc", "1.5")),
    ("power --to es --points 0", ("--points", "not 0")),
    ("power tgbi --to en --data core", ("no benchmark",)),
    # rejudge
    ("rejudge {finished}/right --alpha 2", ("simplegen takes no --alpha", "uncertainty")),
    ("rejudge {finished}/right --rules repo2020", ("rules of simplegen 'repo2020'", "paper")),
    ("rejudge {finished}/right -o {finished}/right", ("{finished}/right", "-o")),
    ("rejudge {finished}/right {finished}/right -o {tmp}/out", ("the same name",)),
    ("rejudge {tmp}", ("{tmp}", "manifest.json")),
    ("rejudge {tmp}/none", ("{tmp}/none", "no such directory")),
    # run: options
    (f"run --system demo:en-es?beam_size=1 --system-option beam_size=3 {SPANISH} -o {{tmp}}/o", ("twice", "?")),
    (f"run --system demo:en-es?beam_size=3&beam_size=1 {SPANISH} -o {{tmp}}/o", ("twice",)),
    (f"run --system fake:random?seed=1&seed=2 {SPANISH} -o {{tmp}}/o", ("twice",)),
    (f"run --system fake:right --benchmark simplegen --group pro {SPANISH} -o {{tmp}}/o", ("'pro'", "fofc")),
    *(
        (f"{verb} {given}", ("--sampling", "'seed'", "twice"))
        for verb in (
            f"run --system fake:coin --benchmark {UNCERTAINTY} -o {{tmp}}/o",
            f"score {UNCERTAINTY} --samples {SAID}",
        )
        for given in ("--sampling seed=1 --sampling seed=2", "--sampling epsilon=0.2,seed=1,seed=1")
    ),
    # run: a directory of files
    (f"run --system files:{{tmp}} {SPANISH} -o {{tmp}}/o", ("{tmp}", "simplegen.en-es.txt or winomt.en-es.txt")),
    (f"run --system files:{{tmp}}/files {SPANISH} -o {{tmp}}/o", ("which all fit",)),
    (
        f"run --system files:{{tmp}}/files --benchmark winomt {SPANISH} -o {{tmp}}/o",
        ("winomt.en-es.txt",),
    ),
    # translate
    (f"translate {SAID} --to es --system command:cat --samples 4", ("command:cat cannot sample",)),
    (f"translate {SAID} --to es --system command:cat --targets {SAID}", ("command:cat cannot score",)),
    (f"translate {SAID} --to es --system command:cat --samples 4 --targets {SAID}", ("--samples", "--targets")),
    (f"translate {SAID} --to es --system command:cat --sampling epsilon=0.2", ("--samples",)),
    (f"translate {SAID} --to es --system command:cat --samples 4 --sampling beam=2", ("'beam'",)),
    (f"translate {SAID} --to es --system fake:right", ("fake:right", "benchmark sentences only")),
    (f"translate {SAID} --to es --system command:cat --targets {{tmp}}/short.txt", ("1 translations", "2 sentences")),
    (f"translate {SAID} --to es --system demo:en-es --samples 2 --sampling epsilon", ("--sampling", "KEY=VALUE")),
    (
        f"translate {SAID} --to es --system demo:en-es --samples 2 --sampling seed=1 --sampling epsilon=0.1,seed=2",
        ("--sampling", "'seed'", "twice"),
    ),
    (f"translate {SAID} --to es --system command:cat --from English", ("write en, not English",)),
    *(
        (f"translate {SAID} --system command:cat --to {code}", (f"write es, not {code}",))
        for code in ("ES", "Spanish", "spanish")
    ),
    ("translate {tmp}/empty.txt --to es --system command:cat", ("{tmp}/empty.txt", "empty")),
    ("translate {tmp}/none.txt --to es --system command:cat", ("{tmp}/none.txt", "no such file")),
    (f"translate {SAID} --to de --system ctranslate2:{{tmp}}/model", ("translates en-es", "en-de")),
    # leaderboard
    ("leaderboard add --name A -o x", ("--run", "--translations")),
    ("leaderboard add --name A -o x --benchmark simplegen", ("--run", "--translations")),
    ("leaderboard add --name A -o x --translations f.txt", ("--run", "--benchmark")),
    (
        "leaderboard add --name A -o x --run {finished}/right --benchmark simplegen --translations f",
        ("--run", "--translations"),
    ),
    ("leaderboard add --name A -o x --date yesterday --run {finished}/right", ("2024", "'yesterday'")),
    ("leaderboard add --name ... -o x --run {finished}/right", ("needs a letter",)),
    ("leaderboard add --name 'a|b' -o x --run {finished}/right", ("name of a system", "|")),
    ("leaderboard add --name A -o x --benchmark uncertainty --to es --translations f.txt", ("samples", "--run")),
    ("leaderboard add --name A -o x --run {finished}/nowhere", ("{finished}/nowhere", "no such directory")),
    ("leaderboard verify {finished}/nowhere", ("{finished}/nowhere", "no such directory")),
    ("leaderboard {finished}", ("'-o'",)),
]


@pytest.mark.parametrize(("command", "words"), REFUSED, ids=[command for command, _ in REFUSED])
def test_refused_in_one_sentence(
    cli: Cli,
    small: Path,
    finished: Path,
    good_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    words: tuple[str, ...],
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
    places = {"small": small, "finished": finished, "tmp": tmp_path}
    cli(command.format(**places)).is_refusal(*(word.format(**places) for word in words))
    assert sorted(tmp_path.rglob("*")) == before, "what is refused leaves nothing behind"


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
    cli(f"run --system fake:right --benchmark terms {SPANISH} --shard 1/3 -o {part}")
    manifest = part / "manifest.json"
    manifest.write_text(manifest.read_text("utf-8").replace('"status": "part"', f'"status": "{status}"'), "utf-8")
    for given in (f"{part}", f"{finished}/right {part}"):
        cli(f"ui {given} --no-open").is_refusal(f"{part}", "(1/3)", "gendermark merge")
