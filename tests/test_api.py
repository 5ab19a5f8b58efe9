"""The functions a notebook calls, and the result they give."""

from __future__ import annotations

import html
import inspect
import json
import pickle
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark import Estimate, Result, Selection, UserError, registry
from gendermark.cli.app import _exit_code
from gendermark.records import Judgement, Verdict
from gendermark.result import check_judgement, check_result

REFERENCED: Any = {"to": "es", "data": "core", "parts": ("referenced",)}


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Translations of SimpleGEN's core sentences into Spanish, some of them wrong."""
    item_set = gendermark.items("simplegen", "es", data="core")
    return [("El médico.", "La doctora.", "Una doctora.")[number % 3] for number, _ in enumerate(item_set.items)]


@pytest.fixture(scope="module")
def result(texts: Sequence[str]) -> Result:
    return gendermark.score("simplegen", texts, to="es", data="core")


def _printed(capsys: pytest.CaptureFixture[str], line: str) -> Any:
    """What the command line prints for the same."""
    capsys.readouterr()
    assert _exit_code([*line.split(), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


# -- the first hour in a notebook --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Result]:
    """The demo task: a fair and a biased system on one benchmark."""
    fair = gendermark.run("fake:right", "winomt", to="es", data="core")
    return fair, gendermark.run("fake:masculine", "winomt", to="es", data="core", name="Old")


def test_one_benchmark_gives_a_result_and_a_list_gives_a_list(two: tuple[Result, Result]) -> None:
    assert two[0]["accuracy", "feminine"].value == 100
    assert two[1]["recall_gap"].value == 100
    assert two[1]["recall_gap"].state == ""
    with pytest.raises(KeyError, match=r"accuracy:female.*accuracy:feminine"):
        two[0]["accuracy", "female"]
    assert isinstance(gendermark.run("fake:right", ["winomt"], to="es", data="core"), list)


def test_an_estimate_prints_a_line_to_quote(two: tuple[Result, Result]) -> None:
    text = str(two[1]["accuracy"])
    assert text.startswith("accuracy = ")
    assert "(95% CI [" in text
    assert text.endswith(two[1].signature)


def test_a_function_is_a_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDERMARK_CACHE", str(tmp_path / "cache"))
    control = gendermark.run("fake:masculine", "simplegen", to="es", data="core")
    known = dict(control.texts)
    asked: list[int] = []

    def mine(sentences: list[str]) -> list[str]:
        asked.append(len(sentences))
        return [known[sentence] or "" for sentence in sentences]

    result = gendermark.run(mine, "simplegen", to="es", data="core", directory=tmp_path / "run")
    assert result.system == "python:mine"
    assert "system:python:mine" in result.signature
    assert sum(asked) == 2720
    assert max(asked) < 100  # in batches
    again = gendermark.run(mine, "simplegen", to="es", data="core", directory=tmp_path / "run")
    assert sum(asked) == 2720  # kept for that folder
    assert again.estimates == result.estimates
    assert [one.value for one in result.estimates] == [one.value for one in control.estimates]
    (loaded,) = gendermark.load(tmp_path / "run")
    assert list(loaded.texts) == list(result.texts)


def test_a_function_with_another_model_gets_no_answers_of_the_first(tmp_path: Path) -> None:
    men, women = (
        dict(gendermark.run(f"fake:{name}", "simplegen", to="es", data="core").texts)
        for name in ("masculine", "feminine")
    )

    def wrapped(model: dict[str, str | None]) -> Any:
        return lambda sentences: [model[sentence] for sentence in sentences]

    first, second = (
        gendermark.run(wrapped(model), "simplegen", to="es", data="core", name="Mine") for model in (men, women)
    )
    assert dict(first.texts) == men
    assert dict(second.texts) == women


def test_long_work_shows_its_progress(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    gendermark.run("fake:right", "terms", to="es", data="core")
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("gendermark.io.progress.SECONDS_BETWEEN_LINES", 0)
    known, asked = dict(gendermark.run("fake:right", "simplegen", to="es", data="core").texts), []

    def mine(sentences: list[str]) -> list[str]:
        asked.append(len(sentences))
        return [known[sentence] or "" for sentence in sentences]

    gendermark.run(mine, "simplegen", to="es", data="core")
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"(\rsimplegen en-es: .* of 2,720, about [\d,]+ s left *)+\n", err)
    assert sum(asked) == 2720
    assert max(asked) < 100  # in batches, also without a directory


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda sentences: sentences[1:], "python:<lambda> gave"),
        (lambda sentences: [7 for _ in sentences], "gave 7"),
        (lambda _: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_function_that_fails_is_named(
    function: Any, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENDERMARK_CACHE", str(tmp_path))
    with pytest.raises(UserError, match=words):
        gendermark.run(function, "simplegen", to="es", data="core")


def test_results_are_compared_gated_and_reported(two: tuple[Result, Result], tmp_path: Path) -> None:
    fair, biased = two
    compared = {(c.metric, c.slice): c for c in gendermark.compare(fair, biased).comparisons}
    assert compared["recall_gap", "all"].difference == 100
    shown = gendermark.compare(fair, biased)
    assert re.match(r"<Old compared with unbiased control>\n.*\n  winomt.en-es +accuracy +all +100\.0 ", repr(shown))
    assert ">recall_gap</td>" in shown._repr_html_()
    assert list(shown.to_pandas().metric) == [one.metric for one in shown.comparisons]
    assert repr(gendermark.gate(biased, fair)).startswith("<gate failed (")
    assert not gendermark.gate(biased, fair).passed
    assert gendermark.gate(fair, fair).passed
    assert not gendermark.gate(biased, minimum={"accuracy": 90}).passed
    with pytest.raises(UserError, match="baseline"):
        gendermark.gate(fair)
    for ending in ("html", "md", "tex", "csv", "json"):
        gendermark.report([fair, biased], tmp_path / f"both.{ending}")
        assert "Old" in (tmp_path / f"both.{ending}").read_text(encoding="utf-8")
    with pytest.raises(UserError, match="docx"):
        gendermark.report(fair, tmp_path / "both.docx")


def test_a_result_says_and_shows_what_it_found(two: tuple[Result, Result]) -> None:
    biased = two[1]
    assert any("women" in sentence for sentence in biased.findings)
    assert "toprule" in biased.to_latex()
    assert biased.plot()._repr_svg_().startswith("<svg")
    assert len(biased._repr_html_()) < 3000


# -- the functions ---------------------------------------------------------------------------------------------------


def test_select_completes(tmp_path: Path) -> None:
    benchmark, selection = gendermark.select("simplegen", "es", data="core")
    assert benchmark.name == "simplegen"
    assert selection == Selection("simplegen", "en", "es", "core", "", "best", "occupation", ())
    assert gendermark.select(selection) == (benchmark, selection)
    assert gendermark.select("tgbi")[1] == Selection("tgbi", "ko", "en", "official", "released", "best", "lexeme", ())
    assert Selection.from_json(_as_json(selection.to_json())) == selection


def test_a_selection_is_not_silently_contradicted() -> None:
    selection = Selection("simplegen", "en", "es", "core")
    with pytest.raises(UserError, match="leave out to"):
        gendermark.items(selection, "de")
    with pytest.raises(UserError, match="leave out data, rules"):
        gendermark.select(selection, data="official", rules="paper")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gendermark.items("chess"), "unknown benchmark 'chess'"),
        (lambda: gendermark.items("simplegen", data="core"), "to=ar | "),
        (lambda: gendermark.score("simplegen", [], "es", data="core"), "0 translations were given for 2,720 sentences"),
        (lambda: gendermark.score("simplegen", "absent.txt", "es", data="core"), "no such file"),
        (lambda: gendermark.score("simplegen", {}, "es", data="core"), "give translations.*group of simplegen.*'fofc'"),
        (lambda: gendermark.score("simplegen", {"fofo": []}, "es", data="core"), "unknown group of simplegen 'fofo'"),
        (lambda: gendermark.score("simplegen", {"fofc": ["a"]}, "es", data="core"), "1 translations.*680 sentences"),
        (lambda: gendermark.score("uncertainty", ["El médico."] * 72, **REFERENCED), "a list of samples for each"),
        (lambda: gendermark.score("uncertainty", {"referenced": [["El"]] * 72}, **REFERENCED), "a list of samples"),
        (lambda: gendermark.score("uncertainty", [["El médico."]], **REFERENCED), "samples of 1 sentences.*72"),
        (lambda: gendermark.run("fake", ["simplegen"], "es", data="core"), "family:argument"),
        (
            lambda: gendermark.score(["a"], "simplegen", "es", data="core"),
            "a text or a Selection .*'a'",
        ),  # type: ignore[arg-type]
        (lambda: gendermark.score("simplegen", [None, "a"], "es", data="core"), "translation 1 is None"),  # type: ignore[list-item]
        (lambda: gendermark.score("simplegen", 7, "es", data="core"), "a list of texts, not 7"),  # type: ignore[arg-type]
        (lambda: gendermark.score("simplegen", [["a"]], "es", data="core"), r"translation 1 is \['a'\], not a string"),
        (lambda: gendermark.run("fake:right", "terms", "es", resample=9), "argument of run .*did you mean 'resamples'"),
        (lambda: gendermark.items("terms", "es", dat="core"), "option of terms 'dat'.*did you mean 'data'"),
        (lambda: gendermark.run("".join, "winomt", "es", data="core"), "gave one text, not a list"),
        (lambda: gendermark.run(7, "simplegen", "es", data="core"), "family:argument.*function.*not 7"),  # type: ignore[call-overload]
        (lambda: gendermark.load("absent"), "no such directory"),
        (lambda: gendermark.score("simplegen", "El médico", "es", data="core"), "no such file.*list of texts"),
        (lambda: gendermark.run("fake:right", "WinoMT", "es"), "did you mean 'winomt'"),
        (lambda: gendermark.run("fake:right", "winomt", "es", data="core", confidence=95), "confidence.*95"),
        (lambda: gendermark.run("fake:right", "winomt", "es", data="core", interval="boot"), "interval.*bootstrap"),
        (lambda: gendermark.run("fake:right", "winomt", "es", data="core", resamples=-1), "resamples.*-1"),
        (lambda: gendermark.run("fake:right", ["terms", 3], "es", data="core"), "by its name"),  # type: ignore[list-item]
        (lambda: gendermark.run("fake:right", [], "es"), "at least one benchmark"),
        (lambda: gendermark.run("fake:right", Selection("terms"), "es"), "leave out to"),
        (lambda: gendermark.run("fake:right", "terms", "es", data=5), "data must be a text .*core.*, not 5"),
        (lambda: gendermark.run("fake:right", "terms", "es", confidence="0.9"), "confidence must be a number"),
        (lambda: gendermark.run("fake:right", "terms", "es", resampling=5), "resampling must be a Resampling"),
        (lambda: gendermark.run("fake:right", "terms", "es", name="a" * 99, data="core"), "1 to 80 characters"),
        (lambda: gendermark.run(list, "winomt", "es", data="core"), "kept.*; accept_unsound=True scores"),
        (lambda: gendermark.compare("a"), "missing.*'second'; it takes first, second"),  # type: ignore[call-arg]
        (lambda: gendermark.gate([], [], minimum=5), "minimum must be a mapping"),  # type: ignore[arg-type]
        (lambda: gendermark.audit([7]), "audit takes the paths of files"),  # type: ignore[list-item]
        (lambda: gendermark.rejudge([]), "run must be a Path or a text .a run folder"),  # type: ignore[arg-type]
        (lambda: gendermark.report(7, "x.md"), "as a list"),  # type: ignore[arg-type]
        (lambda: gendermark.report([], "x.md"), "a result or a run folder"),
        (lambda: gendermark.report([], "x.md", metrics="acc"), "metrics must be a list"),
        (lambda: gendermark.load([5]), "not .5"),  # type: ignore[list-item]
        (lambda: gendermark.compare([], []), "nothing in common"),
        (lambda: gendermark.read_people(5), "source must be a text"),  # type: ignore[arg-type]
    ],
)
def test_mistakes_are_sentences(call: Any, words: str) -> None:
    with pytest.raises(UserError, match=words) as caught:
        call()
    assert len(caught.traceback) == 3, "here, the lambda, and where it was raised again"
    assert caught.value._render_traceback_() == [f"{type(caught.value).__name__}: {caught.value}"]


def test_public_functions_are_found_again() -> None:
    """By workers, and by `help`."""
    for name in ("run", "score", "read_people"):
        function = getattr(gendermark, name)
        assert pickle.loads(pickle.dumps(function)) is function
        assert all(f" {one}: " in (function.__doc__ or "") for one in inspect.signature(function).parameters)


def test_items_are_in_export_order(capsys: pytest.CaptureFixture[str]) -> None:
    item_set = gendermark.items("tgbi", data="core", parts=("polite",))
    printed = _printed(capsys, "export tgbi --data core --set polite")
    assert [row["source"] for row in printed["items"]] == [item.source for item in item_set.items]
    assert item_set.origin.startswith("core-")


def test_score_from_file_and_from_texts(
    texts: list[str], result: Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.txt"
    path.write_text("\n".join(texts), encoding="utf-8")
    for given in (path, str(path), tuple(texts)):
        found = gendermark.score("simplegen", given, "es", data="core")
        assert found == result
    printed = _printed(capsys, f"score simplegen --to es --data core --translations {path}")
    assert printed == _as_json(result.to_json())


def test_score_with_options_as_the_command_line(
    texts: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.txt"
    path.write_text("\n".join(texts[:680]), encoding="utf-8")
    how: Any = {"resamples": 200, "seed": 7, "confidence": 0.9}
    found = gendermark.score(
        "simplegen", {"fofc": texts[:680]}, "es", data="core", rules="paper", cluster="template", **how
    )
    options = "--rules paper --cluster template --resamples 200 --seed 7 --confidence 0.9 --group fofc"
    printed = _printed(capsys, f"score simplegen --to es --data core --translations {path} {options}")
    assert printed == _as_json(found.to_json())


def test_parts_may_mix_files_and_texts(tmp_path: Path) -> None:
    item_sets = {name: gendermark.items("tgbi", data="core", parts=(name,)).items for name in ("formal", "informal")}
    path = tmp_path / "formal.txt"
    texts = {
        name: [f"{who} is {('so', 'here', 'kind')[number % 3]}." for number, _ in enumerate(item_sets[name])]
        for name, who in (("formal", "She"), ("informal", "He"))
    }
    path.write_text("\n".join(texts["formal"]) + "\n", encoding="utf-8")
    given = {"formal": path, "informal": texts["informal"]}
    found = gendermark.score("tgbi", given, resamples=100, data="core")
    assert [found.estimate("p_w", name).value for name in given] == [1, 0]
    assert found.selection.parts == ("formal", "informal")
    turned = gendermark.score("tgbi", dict(reversed(given.items())), resamples=100, data="core")
    assert [turned.estimate("p_w", name).value for name in given] == [1, 0]


def test_samples_are_scored_as_lists(tmp_path: Path) -> None:
    item_set = gendermark.items("uncertainty", "es", data="core", parts=("referenced",))
    samples = [["El médico.", "La doctora.", "La doctora."] for _ in item_set.items]
    options: Any = {"resamples": 100, **REFERENCED}
    result = gendermark.score("uncertainty", samples, **options)
    assert len(result.judgements) == len(samples) == 72
    assert result.estimate("n_distinct").value == 2
    assert "|samples:3,unknown=elsewhere|" in result.signature
    rows = [{"id": item.item_id, "samples": texts} for item, texts in zip(item_set.items, samples, strict=True)]
    path = tmp_path / "samples.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert gendermark.score("uncertainty", path, **options) == result
    said = gendermark.score("uncertainty", samples, **options, sampling="epsilon=0.1")
    assert "|samples:3,epsilon=0.1|" in said.signature


def test_run_load_and_compare_as_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("right", "masculine"):
        results = gendermark.run(f"fake:{name}", ["terms"], "es", tmp_path / name, data="core")
        command = f"run --system fake:{name} --benchmark terms --to es --data core -o {tmp_path}/{name}-cli"
        assert _printed(capsys, command)["results"] == [_as_json(one.to_json()) for one in results]
        for folder in (tmp_path / name, str(tmp_path / f"{name}-cli")):
            (loaded,) = gendermark.load(folder)
            assert loaded == results[0]
    report = gendermark.compare(tmp_path / "right", str(tmp_path / "masculine"))
    assert _printed(capsys, f"compare {tmp_path}/right {tmp_path}/masculine") == _as_json(report.to_json())
    in_memory = gendermark.compare(gendermark.load(tmp_path / "right"), gendermark.load(tmp_path / "masculine"))
    assert in_memory == report


def test_run_takes_names_and_selections() -> None:
    part = Selection("tgbi", "ko", "en", "core", parts=("negative",))
    results = gendermark.run("fake:right", ["gate-variants", part], "es", data="core", rules="paper")
    assert [one.cell for one in results] == ["gate-variants.en-es", "tgbi.ko-en"]
    assert [one.selection.rules for one in results] == ["paper", "best"]


def test_run_options_reach_the_system_and_the_result(tmp_path: Path) -> None:
    how = {"resamples": 100, "seed": 7, "confidence": 0.9}
    options: Any = {"to": "es", **how, "forced_choice": True, "data": "core", "name": "Mine"}
    for p, chosen in (("1", 100), ("0", 0)):
        (result,) = gendermark.run(
            "fake:right", ["mt-geneval-contextual"], directory=tmp_path / p, system_options={"p": p}, **options
        )
        assert "bootstrap-100,seed-7,confidence-0.9" in result.signature
        assert [(test.name, test.statistic) for test in result.tests] == [("forced-choice", chosen)]
        assert result.called == gendermark.load(tmp_path / p)[0].called == "Mine"
        assert result.system.startswith("fake:right")


# -- the result ------------------------------------------------------------------------------------------------------


def test_estimate(result: Result) -> None:
    assert result.estimate("pro").metric == "pro"
    assert result.estimate("correct", "fofc").slice == "fofc"
    assert result.estimate(metric="correct", slice="mofc").n_total == 680
    assert result["correct:mofc"] is result["correct", "mofc"]
    assert f"{result['pro']:.3f}" == f"{float(result['pro']):.3f}"
    with pytest.raises(ValueError, match="no value"):
        float(Estimate("tgbi", "all", None, None, None, 0, 0, 9))
    with pytest.raises(KeyError) as missing:
        result.estimate("accuracy")
    assert missing.value.args[0].startswith(
        "no estimate accuracy:all (did you mean correct:all?); available: pro:all, "
    )


def test_table(result: Result) -> None:
    assert result.table("occupations").columns[0] == "occupation"
    with pytest.raises(KeyError, match=r"no table 'lexemes'; available: occupations"):
        result.table("lexemes")
    with pytest.raises(KeyError, match="available: none"):
        replace(result, tables=()).table("occupations")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "61.2", [], 10**400])
def test_result_takes_numbers_only(result: Result, value: Any) -> None:
    with pytest.raises(TypeError, match="wrong kind"):
        check_result(replace(result, estimates=(replace(result.estimates[0], value=value),)))
    with pytest.raises(TypeError, match="wrong kind"):
        check_result(replace(result, estimates=(replace(result.estimates[0], high=value),)))


def test_judgements_take_texts_only() -> None:
    for wrong in (
        Judgement([], 0, "g", Verdict.JUDGED, None, None),  # type: ignore[arg-type]
        Judgement("i", 0, 1, Verdict.JUDGED, None, None),  # type: ignore[arg-type]
        Judgement("i", 0, "g", Verdict.JUDGED, None, None, {"group": None}),  # type: ignore[dict-item]
    ):
        with pytest.raises(TypeError, match="wrong kind"):
            check_judgement(wrong)


def test_repr(result: Result) -> None:
    first, heads, *lines, last = repr(result).splitlines()
    assert first == "<simplegen.en-es of translations: core data, gendermark's corrected rules>"
    assert heads.split() == ["metric", "slice", "value", "95%", "CI", "judged", "verdict"]
    assert lines[0].split()[:2] == ["pro", "all"]
    assert "of 1,360" in lines[0]
    assert any(line.split()[0] == "delta" and "significant" in line for line in lines)
    assert f"of {len(result.estimates)} estimates" in lines[-1]
    assert last.strip() == result.signature
    empty = replace(result, estimates=(Estimate("tgbi", "all", None, None, None, 0, 0, 9),))
    assert re.search("– +– +0 of 9", repr(empty))


def test_html(result: Result) -> None:
    """A small table; a name from somebody else's run folder is shown as text."""
    evil = "<script>alert('x')</script>\"&amp;"
    hostile = replace(
        result,
        system=evil,
        selection=replace(result.selection, benchmark=evil),
        estimates=(Estimate(evil, "all", 1.0, 0.0, 2.0, 1, 1, 1),),
    )
    pro, shown = result.estimate("pro"), html.escape(evil)
    first = ["pro (all)", f"{pro.value:.1f}", f"[{pro.low:.1f}, {pro.high:.1f}]", f"{pro.n_judged:,} of 1,360"]
    for one, caption, cells in (
        (result, "simplegen.en-es: translations", first),
        (hostile, f"{shown}.en-es: {shown}", [f"{shown} (all)"]),
    ):
        text = one._repr_html_()
        assert set(re.findall(r"<(\w+)", text)) == {"table", "caption", "tr", "th", "td"}
        assert re.findall(r"<caption[^>]*>(.*?)</caption>", text) == [caption]
        header, *rows = (re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in text.split("<tr")[1:])
        assert header == ["metric", "value", "95% CI", "judged", "verdict"]
        assert len(rows) <= 12
        assert rows[0][: len(cells)] == cells


def test_pandas(result: Result) -> None:
    pandas = pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert [*frame.columns][:6] == ["system", "benchmark", "source_language", "target_language", "metric", "slice"]
    assert list(frame.value) == [estimate.value for estimate in result.estimates]
    judgements = result.judgements_to_pandas()
    assert len(judgements) == 2720
    assert {
        "item_id",
        "index",
        "verdict",
        "expected",
        "observed",
        "evidence",
        "group",
        "occupation",
        "source",
        "translation",
    } <= {*judgements.columns}
    right = judgements[judgements.group == "fofc"]
    share = 100 * (right.observed == right.expected).mean()
    assert share == pytest.approx(result.estimate("correct", "fofc").value)
    assert set(judgements.evidence.map(type)) == {str}


@pytest.mark.parametrize("method", ["to_pandas", "judgements_to_pandas"])
def test_without_pandas_the_install_line_is_said(result: Result, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UserError, match=r"pip install 'gendermark\[pandas\]'"):
        getattr(result, method)()


@pytest.mark.parametrize(
    ("value", "benchmark", "metric", "text"),
    [
        (None, "simplegen", "pro", "–"),
        (0.0, "simplegen", "pro", "0.0"),
        (99.96, "simplegen", "pro", "100.0"),
        (-3.25, "simplegen", "delta", "-3.2"),
        (-0.04, "simplegen", "delta", "0.0"),
        (0.12345, "tgbi", "p_s", "0.1235"),
        (1.0, "tgbi", "tgbi", "1.0000"),
        (0.5, "tgbi", "imbalance", "0.5000"),
        (0.5, "uncertainty", "h_gender", "0.500"),
        (0.5, "uncertainty", "p_feminine", "0.500"),
        (1.25, "winomt", "delta_g", "1.2"),
    ],
)
def test_numbers_as_people_read_them(value: float | None, benchmark: str, metric: str, text: str) -> None:
    unit = registry.load("benchmark", benchmark).describe(metric).unit
    assert Estimate(metric, "all", value, None, None, 0, 0, 0, unit).shown == text
