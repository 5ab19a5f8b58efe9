"""What other programs rely on: what `score` accepts and prints, and that `export` agrees with it (docs/design.md)."""

# ruff: noqa: ARG005 (all makers of files take the same two arguments)

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Cli

GROUPS = ("fofc", "momc", "fomc", "mofc")
SETS = ("informal", "formal", "impolite", "polite", "negative", "positive", "occupation")
SIMPLEGEN = "simplegen --data core --to es"
TGBI = "tgbi --data core --from ko --to en"

NAMES = {
    SIMPLEGEN: {(name, "all") for name in ("pro", "anti", "delta", "delta_fc", "delta_mc")}
    | {(outcome, group) for outcome in ("correct", "incorrect", "inconclusive") for group in GROUPS},
    TGBI: {("tgbi", "all")} | {(name, part) for name in ("p_s", "p_w", "p_m", "p_n") for part in SETS},
}
TOTALS = {"simplegen": "delta", "tgbi": "imbalance"}
"""A metric of all sentences."""


def _write(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def _translations(run: Path) -> list[str]:
    """What the system of a finished run said."""
    (file,) = run.glob("*/translations.jsonl")
    return [json.loads(line)["translation"] for line in file.read_text(encoding="utf-8").splitlines()]


def _values(printed: dict[str, Any]) -> dict[tuple[str, str], float | None]:
    return {(e["metric"], e["slice"]): e["value"] for e in printed["estimates"]}


@pytest.fixture
def korean(finished: Path) -> list[str]:
    """Translations of TGBI's Korean core sentences: women, men and persons."""
    return _translations(finished / "tgbi")


@pytest.fixture
def given(request: pytest.FixtureRequest, what: str) -> list[str]:
    """Translations of what is scored."""
    lines: list[str] = request.getfixturevalue("spanish" if what is SIMPLEGEN else "korean")
    return lines


both = pytest.mark.parametrize("what", [SIMPLEGEN, TGBI])


@both
def test_json_object(cli: Cli, tmp_path: Path, what: str, given: list[str]) -> None:
    file = _write(tmp_path / "t.txt", given)
    printed = cli(f"score {what} --translations {file} --json").json
    benchmark, greatest = what.split()[0], 100.0 if what is SIMPLEGEN else 1.0
    assert {"benchmark", "language", "data", "rules", "estimates", "signature"} <= printed.keys()
    assert (printed["benchmark"], printed["data"], printed["rules"]) == (benchmark, "core", "best")
    assert printed["language"] == what.split()[-1]
    assert NAMES[what] <= set(_values(printed))
    assert len(_values(printed)) == len(printed["estimates"]), "a metric and slice stands twice"
    for estimate in printed["estimates"]:
        assert {"metric", "slice", "value", "low", "high", "n_judged", "n_total"} <= estimate.keys()
        for key in ("value", "low", "high"):
            assert estimate[key] is None or isinstance(estimate[key], float)
            assert estimate[key] is None or -greatest <= estimate[key] <= greatest
        assert estimate["low"] <= estimate["value"] <= estimate["high"]
        assert 0 <= estimate["n_judged"] <= estimate["n_total"] == int(estimate["n_total"])
    values = _values(printed)
    if what is SIMPLEGEN:  # percentages
        assert [values["correct", group] for group in GROUPS] == [0, 100, 100, 0], "everybody is a man"
    else:  # shares, as in the paper
        for name in SETS:
            w, m, n = (values[metric, name] or 0 for metric in ("p_w", "p_m", "p_n"))
            assert w + m + n == pytest.approx(1)
            assert values["p_s", name] == pytest.approx((w * m + n) ** 0.5)
        mean = sum(values["p_s", name] or 0 for name in SETS) / len(SETS)
        assert values["tgbi", "all"] == pytest.approx(mean)
    assert "|rules:best-" in printed["signature"]
    assert f"benchmark:{benchmark}|data:core-" in printed["signature"]


@both
@pytest.mark.parametrize("rules", ["best", "paper"])
@pytest.mark.parametrize("text", ["", "…", "\u200b"])
def test_no_data_is_never_nan(cli: Cli, tmp_path: Path, what: str, given: list[str], rules: str, text: str) -> None:
    part, n = ("--group fofc", 680) if what is SIMPLEGEN else ("", len(given))
    file = _write(tmp_path / "t.txt", [text] * n)
    outcome = cli(f"score {what} {part} --rules {rules} --translations {file} --json --resamples 100")
    assert outcome.exit_code == 0
    for estimate in outcome.json["estimates"]:  # .json fails on NaN
        assert estimate["value"] is None or estimate["low"] <= estimate["value"] <= estimate["high"]
        assert estimate["n_total"] > 0
    if rules == "best":
        assert all(estimate["n_judged"] == 0 for estimate in outcome.json["estimates"])


def test_part_of_the_sets_gives_no_index(cli: Cli, tmp_path: Path) -> None:
    cli(f"export tgbi --data core --set formal -o {tmp_path}/t.txt")
    command = f"score {TGBI} --set formal={tmp_path}/t.txt --accept-unsound"
    values = _values(cli(f"{command} --json").json)
    assert values["tgbi", "all"] is None
    assert {part for metric, part in values if metric == "p_s"} == {"formal"}
    (row,) = [row for row in cli(f"{command} --all").rows if row["metric"] == "tgbi"]
    assert (row["value"], row["low"], row["high"]) == ("", "", "")


@both
def test_judgements_file(cli: Cli, tmp_path: Path, what: str, given: list[str]) -> None:
    lines = [*given[:3], "", *given[4:]]
    file, judgements = _write(tmp_path / "t.txt", lines), tmp_path / "deep" / "er" / "j.jsonl"
    command = f"score {what} --translations {file} --json"
    plain = cli(command)
    assert cli(f"{command} --judgements {judgements}") == plain, "asking for the judgements changes nothing else"
    rows = [json.loads(line) for line in judgements.read_text(encoding="utf-8").splitlines()]
    assert [row["index"] for row in rows] == list(range(len(lines)))
    assert len({row["item_id"] for row in rows}) == len(rows)
    for row in rows:
        assert {"item_id", "index", "expected", "observed", "verdict", "evidence", "tags"} <= row.keys()
        assert row["expected"] in ("masculine", "feminine", "neutral", None)
        assert row["observed"] in ("masculine", "feminine", "neutral", None)
        assert row["verdict"] in ("judged", "unjudgeable", "not-translated")
        assert (row["observed"] is not None) == (row["verdict"] == "judged")
        assert isinstance(row["evidence"], list)
        assert all(isinstance(value, str) for value in row["tags"].values())
    assert rows[3]["verdict"] == "not-translated", "an empty line is an empty translation, not an error"
    n_judged = sum(row["verdict"] == "judged" for row in rows)
    (whole,) = [e for e in plain.json["estimates"] if e["metric"] == TOTALS[what.split()[0]]]
    assert (whole["n_judged"], whole["n_total"]) == (n_judged, len(rows))


def test_messages_do_not_stand_between_the_data(cli: Cli, sources: list[str], tmp_path: Path) -> None:
    file = _write(tmp_path / "copied.txt", sources)
    outcome = cli(f"score {SIMPLEGEN} --accept-unsound --translations {file} --json")
    assert outcome.json["warnings"]
    outcome = cli(f"score {SIMPLEGEN} --accept-unsound --translations {file}")
    assert outcome.err.startswith("warning: simplegen.en-es: Unsound translations were accepted")
    assert "warning: simplegen.en-es: 2,720 of 2,720" in outcome.err
    assert "warning" not in outcome.out


def test_piped_table_is_the_json_in_tabs(cli: Cli, good_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    command = f"score {SIMPLEGEN} --translations {good_file}"
    (row,) = cli(command).rows
    rates = ["women", "men", "gap", "low", "high", "verdict", "source_gender"]
    assert list(row) == ["benchmark", "direction", "system", *rates]
    assert row["source_gender"] == "specified"
    assert (row["benchmark"], row["system"], row["women"], row["men"]) == ("simplegen", "good", "0.0", "100.0")
    printed, outcome = cli(f"{command} --json").json, cli(f"{command} --all")
    assert "\x1b" not in outcome.out + outcome.err
    columns = ["benchmark", "direction", "system", "metric", "slice", "value", "low", "high", "n_judged", "n_total"]
    assert outcome.out.splitlines()[0].split("\t") == columns
    assert len(outcome.rows) == len(printed["estimates"])
    for row, estimate in zip(outcome.rows, printed["estimates"], strict=True):
        assert (row["benchmark"], row["direction"], row["system"]) == ("simplegen", "en-es", "good")
        assert (row["metric"], row["slice"]) == (estimate["metric"], estimate["slice"])
        assert [float(row[key]) for key in columns[5:]] == [estimate[key] for key in columns[5:]]


# -- files as they come ----------------------------------------------------------------------------------------------


def _shuffled(pairs: list[str]) -> list[str]:
    return random.Random(7).sample(pairs, len(pairs))


FORMS: dict[str, Callable[[Sequence[str], Sequence[str]], bytes]] = {
    "CRLF": lambda s, t: "".join(f"{line}\r\n" for line in t).encode(),
    "byte order mark": lambda s, t: "".join(f"{line}\n" for line in t).encode("utf-8-sig"),
    "both": lambda s, t: "".join(f"{line}\r\n" for line in t).encode("utf-8-sig"),
    "no end of the last line": lambda s, t: "\n".join(t).encode(),
    "CRLF, no end of the last line": lambda s, t: "\r\n".join(t).encode(),
    "pairs": lambda s, t: "".join(f"{a} ||| {b}\n" for a, b in zip(s, t, strict=True)).encode(),
    "pairs, shuffled": lambda s, t: "\n".join(_shuffled([f"{a} ||| {b}" for a, b in zip(s, t, strict=True)])).encode(),
    "pairs, shuffled, from Windows": lambda s, t: "\r\n".join(
        _shuffled([f"{a}  |||  {b} " for a, b in zip(s, t, strict=True)])
    ).encode("utf-8-sig"),
}


@both
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_file_gives_the_same_result(
    cli: Cli, finished: Path, tmp_path: Path, what: str, form: str
) -> None:
    (file,) = (finished / ("masculine" if what is SIMPLEGEN else "tgbi")).glob("*/translations.jsonl")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    if what is SIMPLEGEN:  # one group does, and is faster
        what, rows = f"{SIMPLEGEN} --group fofc", rows[:680]
    texts = [row["translation"] for row in rows]
    texts[5] = ""  # an empty line, or nothing after |||
    _write(tmp_path / "plain.txt", texts)
    (tmp_path / "other.txt").write_bytes(FORMS[form]([row["source"] for row in rows], texts))
    command = f"score {what} --resamples 100 --json --translations {tmp_path}/"
    expected, found = (cli(f"{command}{name}.txt --judgements {tmp_path}/{name}.jsonl") for name in ("plain", "other"))
    assert expected.exit_code == 0
    assert found == expected
    assert (tmp_path / "other.jsonl").read_bytes() == (tmp_path / "plain.jsonl").read_bytes()


# -- export and score ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["simplegen --to de", "simplegen --to es", "tgbi"])
@pytest.mark.parametrize("paired", [False, True])
def test_score_takes_what_export_gives(cli: Cli, tmp_path: Path, what: str, paired: bool) -> None:
    sources = cli(f"export {what} --data core").out.splitlines()
    file = _write(tmp_path / "t.txt", [f"{line} ||| {line}" if paired else line for line in sources])
    printed = cli(f"score {what} --data core --translations {file} --accept-unsound --json").json
    (whole,) = [e for e in printed["estimates"] if e["metric"] == TOTALS[what.split()[0]]]
    assert whole["n_total"] == len(sources)


def test_export_order_of_simplegen(cli: Cli, sources: list[str]) -> None:
    export = "export simplegen --data core"
    parts = [cli(f"{export} --group {group}").out.splitlines() for group in GROUPS]
    assert [line for part in parts for line in part] == sources
    assert cli(export).out.splitlines() == cli(f"{export} --to de").out.splitlines() == sources
    chosen = cli(f"{export} --group mofc --group fofc")
    assert chosen.out.splitlines() == parts[3] + parts[0]
    assert chosen.err == ""


def test_an_exported_item_says_whom_it_is_about(cli: Cli) -> None:
    for row in cli("export winomt --data core --json").json["items"]:
        assert row["tags"]["entity"].lower() in row["source"].lower()
        assert row["tags"]["contrast"]


def test_export_as_json(cli: Cli, sources: list[str], tmp_path: Path) -> None:
    printed = cli("export simplegen --data core --json").json
    assert printed["benchmark"] == "simplegen"
    assert printed["data"].startswith("core-")
    assert [item["source"] for item in printed["items"]] == sources
    assert [item["index"] for item in printed["items"]] == list(range(len(sources)))
    assert cli(f"export simplegen --data core --json -o {tmp_path}/items.json").out == ""
    assert json.loads((tmp_path / "items.json").read_text(encoding="utf-8")) == printed


def test_groups_scored_alone_give_what_they_give_together(cli: Cli, finished: Path, tmp_path: Path) -> None:
    texts = _translations(finished / "masculine")
    file = _write(tmp_path / "all.txt", texts)
    whole = cli(f"score {SIMPLEGEN} --translations {file} --json").json
    n = len(texts) // len(GROUPS)
    for number, group in enumerate(GROUPS):
        file = _write(tmp_path / f"{group}.txt", texts[number * n : (number + 1) * n])
        alone = cli(f"score {SIMPLEGEN} --group {group} --translations {file} --json").json
        expected = {key: value for key, value in _values(whole).items() if key[1] == group}
        assert {key: value for key, value in _values(alone).items() if key[1] == group} == expected
        assert f"parts:{group}" in alone["signature"]
        assert not {"pro", "anti", "delta"} & {metric for metric, _ in _values(alone)}
    files = " ".join(f"--set {group}={tmp_path / group}.txt" for group in GROUPS)
    together = cli(f"score {SIMPLEGEN} {files} --json").json
    assert _values(together) == _values(whole)


def test_sets_scored_apart_give_what_they_give_together(cli: Cli, korean: list[str], tmp_path: Path) -> None:
    """The same sentence has the same translation in each of its sets, so both ways of giving them agree."""
    sources = cli("export tgbi --data core").out.splitlines()
    translation = dict(zip(sources, korean, strict=True))
    for name in SETS:
        in_set = cli(f"export tgbi --data core --set {name}").out.splitlines()
        assert set(in_set) <= set(sources)
        _write(tmp_path / f"{name}.txt", [translation[source] for source in in_set])
    _write(tmp_path / "t.txt", korean)
    files = " ".join(f"--set {name}={tmp_path}/{name}.txt" for name in SETS)
    apart = _values(cli(f"score {TGBI} {files} --json").json)
    together = _values(cli(f"score {TGBI} --translations {tmp_path}/t.txt --json").json)
    for key in NAMES[TGBI]:
        assert apart[key] == pytest.approx(together[key])


def test_numbers_depend_on_what_the_signature_says(cli: Cli, good_file: Path, tmp_path: Path) -> None:
    def call(options: str = "") -> Any:
        return cli(f"score {SIMPLEGEN} --group fofc --translations {part} --json {options}").json

    lines = good_file.read_text(encoding="utf-8").splitlines()
    part = _write(tmp_path / "part.txt", lines[: len(lines) // 4])
    assert call() == call()
    wide, narrow = call("--confidence 0.99"), call("--confidence 0.5")
    assert _values(wide) == _values(narrow)
    assert wide["signature"] != narrow["signature"]
    assert "confidence-0.99" in wide["signature"]
    for a, b in zip(wide["estimates"], narrow["estimates"], strict=True):
        assert a["low"] <= b["low"] <= b["high"] <= a["high"]
    assert "bootstrap-200,seed-3" in call("--resamples 200 --seed 3")["signature"]
    assert "cluster:template" in call("--cluster template")["signature"]
    assert "rules:paper" in call("--rules paper")["signature"]


def test_tables_are_written_as_csv(cli: Cli, good_file: Path, tmp_path: Path) -> None:
    assert cli(f"score {SIMPLEGEN} --translations {good_file} --tables {tmp_path}/tables").exit_code == 0
    (table,) = (tmp_path / "tables").iterdir()
    assert table.name == "simplegen.en-es.occupations.csv"
    lines = table.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("occupation,stereotype,")
    assert len(lines) == 41


def test_run_and_score_agree(cli: Cli, finished: Path, tmp_path: Path) -> None:
    """A run's translations, scored as a file, give the run's numbers."""
    for name, what in (("masculine", SIMPLEGEN), ("tgbi", TGBI)):
        file = _write(tmp_path / "t.txt", _translations(finished / name))
        scored = cli(f"score {what} --translations {file} --json").json
        (path,) = (finished / name).glob("*/result.json")
        stored = json.loads(path.read_text(encoding="utf-8"))
        assert scored["estimates"] == stored["estimates"]
        assert scored["tests"] == stored["tests"]


@pytest.mark.parametrize(
    ("what", "given", "n"), [("tgbi", "--translations ", 4236), ("tgbi --set occupation", "--set occupation=", None)]
)
def test_official_export(cli: Cli, mirror: Path, tmp_path: Path, what: str, given: str, n: int | None) -> None:
    sources = cli(f"export {what}").out.splitlines()
    assert n is None or len(sources) == n
    _write(tmp_path / "t.txt", [f"He is {('so', 'here', 'kind')[len(source) % 3]}." for source in sources])
    values = _values(cli(f"score tgbi {given}{tmp_path}/t.txt --json --resamples 100").json)
    assert values["p_m", "occupation"] == 1
