"""`run --shard` and `merge` on the command line: what they print, say and refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import Cli

RUN = ("run", "--system", "fake:right", "--benchmark", "simplegen", "--to", "es", "--data", "core")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_part_is_told_as_one_json_object(cli: Cli) -> None:
    found = [cli(*RUN, "--shard", f"{n}/2", "-o", f"parts/{n}", "--json").json for n in (1, 2)]
    assert [(one["run"], one["part"]) for one in found] == [("parts/1", "1/2"), ("parts/2", "2/2")]
    assert sum(one["n_sentences"] for one in found) == 2720
    assert {one["n_sentences_of_all_parts"] for one in found} == {2720}
    assert cli("merge", "parts/1", "parts/2", "-o", "whole", "--json").json["run"] == "whole"


@pytest.mark.parametrize("status", ["part", "running"])
def test_a_part_by_itself_is_not_shown(cli: Cli, status: str, finished: Path) -> None:
    """Finished or not: there is nothing to see in it before all are joined."""
    cli(*RUN, "--shard", "1/3", "-o", "parts/1")
    manifest = Path("parts/1/manifest.json")
    manifest.write_text(manifest.read_text("utf-8").replace('"status": "part"', f'"status": "{status}"'), "utf-8")
    for given in (["parts/1"], [finished / "right", "parts/1"]):
        cli("ui", *given, "--no-open").is_refusal(
            "parts/1 holds one part of a run (1/3); join all parts with `gendermark merge DIR... -o NEW_DIR`"
        )


@pytest.mark.parametrize(
    ("part", "what"),
    [
        ("1/100000", "32 of 2,720 sentences"),
        ("99999/100000", "none of the 2,720 sentences fell to it (they are dealt out in whole batches)"),
    ],
)
def test_a_part_says_how_many_sentences_it_has(cli: Cli, part: str, what: str) -> None:
    outcome = cli(*RUN, "--shard", part, "-o", "one")
    assert (outcome.exit_code, outcome.out) == (0, "")
    assert f"part {part} is done, {what}: one" in outcome.err.splitlines()
