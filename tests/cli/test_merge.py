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
    assert cli("merge", "parts/1", "parts/2", "-o", "whole", "--json").json["run"] == "whole"
