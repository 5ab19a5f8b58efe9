"""A run in parts, for arrays of jobs: joined, they are the run."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from gendermark.errors import UserError
from gendermark.metrics.metric import Resampling
from gendermark.runs import folder
from gendermark.runs.parts import Part, merge, run_part
from gendermark.runs.run import NO_CONTEXT, RunConfig, run
from gendermark.selection import Selection

SIMPLEGEN = Selection("simplegen", "en", "es", "core")
WINOMT = Selection("winomt", "en", "de", "core")
SEVERAL = (SIMPLEGEN, WINOMT)


def _parts(config: RunConfig, directory: Path, n: int = 3) -> list[Path]:
    found = [directory / f"part{number}" for number in range(1, n + 1)]
    for number, path in enumerate(found, start=1):
        run_part(config, Part(number, n), path, NO_CONTEXT)
    return found


def _cells(directory: Path) -> dict[str, bytes]:
    return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in sorted(directory.glob("*/*"))}


@pytest.mark.parametrize(
    "system", [pytest.param("fake:right?p=0.7", marks=pytest.mark.slow), "fake:right?p=0.7&delay_ms=0.001"]
)
def test_parts_joined_are_the_whole(system: str, tmp_path: Path) -> None:
    config = RunConfig(system, SEVERAL)
    parts = _parts(config, tmp_path)
    merge([parts[2], parts[0], parts[1]], tmp_path / "joined", NO_CONTEXT)
    run(config, tmp_path / "whole")
    assert len(_cells(tmp_path / "whole")) == 6
    assert _cells(tmp_path / "joined") == _cells(tmp_path / "whole")
    joined, whole = (folder.read_manifest(tmp_path / name) for name in ("joined", "whole"))
    assert joined["config"] == whole["config"]


@pytest.mark.slow
def test_forced_choice_with_a_part_that_has_nothing_to_do_and_parts_that_were_changed(tmp_path: Path) -> None:
    """A model is given many sentences at once, so two parts of a small set are one too many."""
    selection = Selection("mt-geneval-counterfactual", "en", "es", "core")
    config = RunConfig("demo:en-es", (selection,), forced_choice=True)
    parts = _parts(config, tmp_path, n=2)
    sizes = [folder.read_manifest(part)["cells"][selection.cell]["n"] for part in parts]
    assert min(sizes) == 0
    (joined,) = merge(parts, tmp_path / "joined", NO_CONTEXT)
    (whole,) = run(config, tmp_path / "whole")
    assert [test.name for test in joined.tests if test.name == "forced-choice"] == ["forced-choice"]
    assert joined == whole
    assert _cells(tmp_path / "joined") == _cells(tmp_path / "whole")
    for name in ("part.jsonl", "part.choices.jsonl"):
        path = parts[0] / selection.cell / name
        before = path.read_bytes()
        first, rest = before.decode().split("\n", 1)
        row = json.loads(first)
        row["answers"][0][1] = "Una doctora."
        path.write_text(f"{json.dumps(row)}\n{rest}", encoding="utf-8")
        with pytest.raises(UserError, match=rf"{re.escape(str(path))}.*SHA-256.*run part 1/2 again"):
            merge(parts, tmp_path / "again", NO_CONTEXT)
        assert not (tmp_path / "again").exists()
        path.write_bytes(before)


def test_a_part_goes_on_where_it_stopped_and_needs_no_common_file(tmp_path: Path) -> None:
    config = RunConfig("fake:right?delay_ms=0.001", (SIMPLEGEN,))
    for _ in range(2):
        n, n_all = run_part(config, Part(1, 2), tmp_path / "part", NO_CONTEXT)
    assert 0 < n < n_all == 2720
    assert (tmp_path / "part" / "store.sqlite").exists()
    with pytest.raises(UserError, match=r"1/2.*gendermark merge"):
        folder.read_run(tmp_path / "part")
    with pytest.raises(UserError, match=r"holds part 1/2, not part 2/2"):
        run_part(config, Part(2, 2), tmp_path / "part", NO_CONTEXT)
    with pytest.raises(UserError, match=r"holds part 1/2, not a whole run"):
        run(config, tmp_path / "part")
    run(config, tmp_path / "whole")
    with pytest.raises(UserError, match=r"holds a whole run, not part 2/2"):
        run_part(config, Part(2, 2), tmp_path / "whole", NO_CONTEXT)


def test_what_cannot_be_joined(tmp_path: Path) -> None:
    config = RunConfig("fake:right", (SIMPLEGEN,))
    parts = _parts(config, tmp_path)
    with pytest.raises(UserError, match=r"^parts are missing: 2/3, 3/3; run them with --shard"):
        merge(parts[:1], tmp_path / "joined", NO_CONTEXT)
    (tmp_path / "again").symlink_to(parts[0], target_is_directory=True)
    with pytest.raises(UserError, match=r"part1 and .*again hold the same part, 1/3; give each once"):
        merge([*parts, tmp_path / "again"], tmp_path / "joined", NO_CONTEXT)
    run(config, tmp_path / "whole")
    with pytest.raises(UserError, match="is not a part of a run; give directories that `gendermark run --shard` wrote"):
        merge([tmp_path / "whole"], tmp_path / "joined", NO_CONTEXT)
    manifest = json.loads((parts[0] / "manifest.json").read_text())
    (parts[0] / "manifest.json").write_text(json.dumps(manifest | {"status": "running"}))
    with pytest.raises(UserError, match=r"the part in .*part1 is not finished; give the same"):
        merge(parts, tmp_path / "joined", NO_CONTEXT)
    assert not (tmp_path / "joined").exists()


@pytest.mark.parametrize(
    ("config", "part", "why"),
    [
        (RunConfig("fake:coin", (SIMPLEGEN,)), "2/3", "they differ in system"),
        (RunConfig("fake:right", (replace(SIMPLEGEN, rules="paper"),)), "2/3", "they differ in rules"),
        (RunConfig("fake:right", SEVERAL), "2/3", "they differ in benchmark"),
        (
            RunConfig("fake:right", (SIMPLEGEN,), resampling=Resampling(50, 1)),
            "2/3",
            "they differ in n_resamples, seed",
        ),
        (RunConfig("fake:copy", (SIMPLEGEN,)), "2/4", "they differ in system; one is part 2/4, the other 1/3"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_parts_of_different_runs(config: RunConfig, part: str, why: str, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    run_part(RunConfig("fake:right", (SIMPLEGEN,)), Part(1, 3), one, NO_CONTEXT)
    run_part(config, Part.of(part), two, NO_CONTEXT)
    with pytest.raises(UserError) as refusal:
        merge([one, two], tmp_path / "joined", NO_CONTEXT)
    assert f"({why})" in str(refusal.value)


def test_parts_of_different_models_or_choices(tmp_path: Path) -> None:
    parts = _parts(RunConfig("fake:right", (SIMPLEGEN,)), tmp_path)
    manifest = parts[1] / "manifest.json"
    row = json.loads(manifest.read_text())
    for change, why in (
        ({"cells": {SIMPLEGEN.cell: {**row["cells"][SIMPLEGEN.cell], "system_id": "other"}}}, "model"),
        ({"config": {**row["config"], "forced_choice": True}}, "forced_choice"),
        ({"config": {**row["config"], "system_options": {"p": "1"}}}, "system_options"),
    ):
        manifest.write_text(json.dumps(row | change))
        for order in (parts, parts[::-1]):
            with pytest.raises(UserError, match=rf"\(they differ in {why}\)"):
                merge(order, tmp_path / "joined", NO_CONTEXT)


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("config", "shard"), "x"),
        (("config", "selections"), [{}]),
        (("config", "resampling"), {"n": 1}),
        (("cells",), {}),
        (("cells", SIMPLEGEN.cell, "spec"), None),
        (("cells", SIMPLEGEN.cell, "data"), ["x"]),
    ],
)
def test_a_damaged_manifest_is_refused_in_a_sentence(where: tuple[str, ...], value: object, tmp_path: Path) -> None:
    parts = _parts(RunConfig("fake:right", (SIMPLEGEN,)), tmp_path, n=1)
    path = parts[0] / "manifest.json"
    manifest = json.loads(path.read_text())
    inner = manifest
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    path.write_text(json.dumps(manifest))
    with pytest.raises(UserError, match=r"part1/manifest\.json"):
        merge(parts, tmp_path / "joined", NO_CONTEXT)


def _own_data(path: Path, *people: str) -> None:
    rows = [f"The {people[n % len(people)]} said that she was there {n} times.,feminine,doctor" for n in range(160)]
    path.write_text("\n".join(["source,gender,entity", *rows, ""]), encoding="utf-8")


def test_data_that_were_changed_between_the_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path, selection = Path("small.csv"), Selection("winomt", "en", "es", "file:small.csv")
    config, parts = RunConfig("fake:copy", (selection,), accept_unsound=True), [Path("1"), Path("2"), Path("3")]

    def make(part: Path, *people: str) -> None:
        _own_data(path, *people)
        run_part(config, Part(int(part.name), 3), part, NO_CONTEXT)

    for part, people in zip(parts, (("doctor",), ("doctor", "old doctor"), ("doctor", "old doctor")), strict=True):
        make(part, *people)
    for now, of in (
        (("doctor", "old doctor"), r"changed since 1 was made;.* run part 1/3 again"),
        (("doctor",), r"changed since 2, 3 were made;.* run parts 2/3, 3/3 again"),
        (("tall doctor",), r"changed since 1, 2, 3 were made;.* run parts 1/3, 2/3, 3/3 again"),
    ):
        _own_data(path, *now)
        with pytest.raises(UserError, match=rf"^small\.csv has {of}"):
            merge(parts, Path("whole"), NO_CONTEXT)
    assert not Path("whole").exists()
    make(parts[0], "doctor", "old doctor")
    assert len(merge(parts, Path("whole"), NO_CONTEXT)) == 1


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0", "-1/3"])
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(UserError, match=r"--shard is K/N, from 1/N to N/N \(2/8 is the second of eight\), not"):
        Part.of(text)
