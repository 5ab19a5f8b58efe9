"""Results that were measured otherwise never share a table or a figure, and it is said in what they differ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest

from gendermark.names import readable
from gendermark.reporting.figures import against_first, figures
from gendermark.reporting.page import render_page
from gendermark.reporting.rows import Explorer
from gendermark.reporting.tables import render
from gendermark.runs.compare import condition_labels
from gendermark.runs.folder import Run
from gendermark.selection import Selection
from made_runs import run_of

FIRST, SECOND = "fake:stereotyped?s=0.5", "fake:masculine"
CONTEXTUAL = Selection("mt-geneval-contextual", "en", "es", data="core")
SIMPLEGEN = Selection("simplegen", "en", "es", data="core")
WINOMT = Selection("winomt", "en", "es", data="core", parts=("pro", "anti"))
UNCERTAINTY = Selection("uncertainty", "en", "es", data="core", parts=("referenced",), n_samples=3)
OTHERWISE = {
    "context": (CONTEXTUAL, {"context": "joined"}, ("context none", "context joined")),
    "rules": (SIMPLEGEN, {"rules": "paper"}, ("gendermark's corrected rules", "published rules (paper)")),
    "cluster": (SIMPLEGEN, {"cluster": "template"}, ("cluster occupation", "cluster template")),
    "parts": (SIMPLEGEN, {"parts": ("fofc", "mofc")}, ("parts all", "parts fofc+mofc")),
    "variant": (WINOMT, {"variant": "adjectives"}, ("variant none", "variant adjectives")),
    "n_samples": (UNCERTAINTY, {"n_samples": 4}, ("n samples 3", "n samples 4")),
    "alpha": (UNCERTAINTY, {"alpha": "4"}, ("alpha", "alpha 4")),
    "another direction": (
        SIMPLEGEN,
        {"target_language": "pt", "cluster": "template"},
        ("cluster occupation", "cluster template"),
    ),
}


@cache
def _runs(name: str) -> Sequence[Run]:
    selection, changed, _ = OTHERWISE[name]
    return run_of(FIRST, selection), run_of(SECOND, replace(selection, **changed))


def _shares(text: str) -> bool:
    """Whether both systems have numbers there."""
    return readable(FIRST) in text and readable(SECOND) in text


@pytest.mark.parametrize("name", OTHERWISE)
def test_tables_of_a_paper(name: str) -> None:
    runs = {run.name: run.results for run in _runs(name)}
    labels = OTHERWISE[name][2]
    text = render(runs, "md")
    tables = [part for part in re.split(r"(?m)^(?=## )", text) if part.strip()]
    titles = [part.splitlines()[0] for part in tables]
    assert len(set(titles)) == len(titles) >= 4
    assert not any(_shares(part) for part in tables)
    assert all(sum(label in title for title in titles) == 2 for label in labels if label != "alpha"), titles
    latex = re.findall(r"\\begin\{table\*?\}.*?\\end\{table\*?\}", render(runs, "latex"), flags=re.DOTALL)
    assert len(latex) >= 2
    assert not any(_shares(part) for part in latex)
    captions = [re.findall(r"\\caption\{(.*)\}", part)[0].lower() for part in latex]
    for label in labels:
        assert any(label in caption for caption in captions), captions


@pytest.mark.parametrize("name", OTHERWISE)
def test_figures(name: str) -> None:
    found = figures({run.name: run.results for run in _runs(name)})
    assert found
    for figure in found:
        assert not _shares(figure.svg + figure.caption), figure.name
    assert "comparison" not in [figure.name for figure in found]
    for label in OTHERWISE[name][2]:
        assert any(label in figure.caption for figure in found)


@pytest.mark.parametrize("name", OTHERWISE)
def test_the_page(name: str) -> None:
    runs = _runs(name)
    labels = ("rules best", "rules paper") if name == "rules" else OTHERWISE[name][2]
    cells = Explorer(runs).cells
    assert [sum(result is not None for result in cell.results) for cell in cells] == [1, 1]
    for cell, label in zip(cells, labels, strict=True):
        assert label in cell.name
    text = render_page(runs)
    for table in re.findall(r"<table.*?</table>", text.split('id="rows"')[0], flags=re.DOTALL):
        assert len(set(re.findall(r"system=(\d)", table))) <= 1, "dashes are all that another system may have there"
    for label in labels:
        assert f"({label}" in text, "in the heading of its part"
    assert "(the first run)" not in text
    assert against_first(*(run.results for run in runs)).comparisons == ()


def test_directions_that_were_measured_alike_stay_together() -> None:
    both = [replace(SIMPLEGEN, target_language=to) for to in ("es", "pt")]
    best, paper = run_of(FIRST, *both), run_of(SECOND, *(replace(one, cluster="template") for one in both))
    labels = condition_labels([*best.results, *paper.results])
    assert list(labels.values()) == ["cluster occupation"] * 2 + ["cluster template"] * 2
    text = render({run.name: run.results for run in (best, paper)}, "md")
    (table,) = [
        part for part in re.split(r"(?m)^## ", text) if part.startswith("simplegen (core") and readable(FIRST) in part
    ]
    assert "English → Spanish" in table
    assert "English → Portuguese" in table
