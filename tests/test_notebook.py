"""What a notebook does: the tasks of docs/python.md, and the tutorial."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

import gendermark
from test_docs import DOCS

TASKS = ("Score", "Run", "Compare", "Plot", "LaTeX", "Judgements", "Results", "Gate", "Report", "Your", "Score", "Read")


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names of a notebook that has just been opened, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GENDERMARK_CACHE", str(tmp_path / "cache"))
    return {}


def test_the_twelve_tasks_of_the_documentation(notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pandas")
    text, _, rest = (DOCS / "python.md").read_text(encoding="utf-8").partition("## A result")
    start, *blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert tuple(re.findall(r"^\*\*(\w+)", text, re.MULTILINE)) == TASKS
    assert len(blocks) == len(TASKS)
    assert all(len([line for line in block.splitlines() if line.strip()]) <= 3 for block in blocks)
    Path("mine.csv").write_text(
        "source,gender,entity\n"
        '"The plumber said that she would be late.",feminine,plumber\n'
        '"The plumber said that he would be late.",masculine,plumber\n',
        encoding="utf-8",
    )
    exec(start, notebook)
    notebook["known"] = dict(notebook["demo"].texts)
    for block in [*blocks, *re.findall(r"```python\n(.*?)```", rest, re.DOTALL)]:
        exec(block, notebook)
    demo, control = notebook["demo"], notebook["control"]
    assert [one.value for one in notebook["mine"].estimates] == [one.value for one in demo.estimates]
    assert [one.value for one in notebook["function"].estimates] == [one.value for one in demo.estimates]
    assert Path("women-men.svg").read_text(encoding="utf-8").startswith("<svg")
    assert set(notebook["wrong"].expected) == {"feminine"}
    assert r"\textbf{" in Path("both.tex").read_text(encoding="utf-8")
    assert "entity" in notebook["occupations"].columns
    assert not notebook["verdict"].passed, "the control gets all men right"
    assert control.called in Path("page.html").read_text(encoding="utf-8")
    assert len(notebook["own"].judgements) == 2
    assert notebook["published"].selection.rules == "paper2019"
    assert notebook["person"].target_gender == "masculine"
    assert "recall_gap" in capsys.readouterr().out


@pytest.mark.slow
def test_the_tutorial_runs_from_top_to_bottom(notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """Each cell as a notebook runs it: the value of its last line is shown."""
    pytest.importorskip("pandas")
    cells = json.loads((DOCS / "tutorial.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 8
    shown = []
    for cell in code:
        *lines, last = ast.parse(cell).body
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(lines, []), "<cell>", "exec"), notebook)
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), notebook)
            shown.append(value)
            drawn = [name for name in ("_repr_html_", "_repr_svg_") if hasattr(value, name)]
            assert all(getattr(value, name)() for name in drawn)
        else:
            exec(cell, notebook)
    assert any(isinstance(value, gendermark.Result) for value in shown)
    assert any(isinstance(value, gendermark.Estimate) for value in shown)


def test_results_of_a_run_have_names(tmp_path: Path) -> None:
    gendermark.run("fake:right", ["terms", "gest"], to="es", data="core", directory=tmp_path / "run")
    results = gendermark.load(tmp_path / "run")
    assert results["terms"] is results[0]
    assert results["gest.en-es"] is results[1]
    with pytest.raises(KeyError, match=r"winomt.*terms\.en-es"):
        results["winomt"]


def test_the_quality_gap_with_any_scorer() -> None:
    import sacrebleu.metrics

    result = gendermark.run("fake:coin", "mt-geneval-counterfactual", to="es", data="core")
    bleu = gendermark.quality_gap(result, "bleu", resamples=100)
    assert bleu.gap.value == pytest.approx(result["delta_qual"].value)
    assert bleu.masculine.value == pytest.approx(result["bleu_masculine"].value)
    assert bleu.gap.low <= bleu.gap.value <= bleu.gap.high
    items = gendermark.items("mt-geneval-counterfactual", to="es", data="core").items
    parts: dict[str, list[tuple[str, str]]] = {"feminine": [], "masculine": []}
    for item, (_, text) in zip(items, result.texts, strict=True):
        parts[str(item.expected)].append((text or "", re.sub(r"</?[FM]>", "", item.tags["reference"])))
    ter = sacrebleu.metrics.TER(case_sensitive=True)
    found = gendermark.quality_gap(result, ter, resamples=100)
    texts, references = zip(*parts["feminine"], strict=True)
    assert found.feminine.value == pytest.approx(ter.corpus_score(texts, [references]).score)
    assert "case:mixed" in found.gap.signature

    def length(_: list[str], translations: list[str], references: list[str]) -> list[float]:
        return [len(text) / len(reference) for text, reference in zip(translations, references, strict=True)]

    own = gendermark.quality_gap(result, length, resamples=100)
    shares = [len(text) / len(reference) for text, reference in parts["masculine"]]
    assert own.masculine.value == pytest.approx(sum(shares) / len(shares))
    assert own.gap.metric == "delta_length"
    for scorer, words in (
        ("blue", "did you mean 'bleu'"),
        (lambda *_: [1.0], "1 scores for"),
        (lambda texts, *_: ["x" for _ in texts], "not a number"),
        (lambda texts, *_: [float("nan") for _ in texts], "not finite"),
        (7, "not 7"),
    ):
        with pytest.raises(gendermark.UserError, match=words):
            gendermark.quality_gap(result, scorer)
    with pytest.raises(gendermark.UserError, match="lacks references"):
        gendermark.quality_gap(gendermark.run("fake:right", "winomt", to="es", data="core"))
