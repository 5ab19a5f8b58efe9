"""Reports: the same numbers in four formats, whatever a system calls itself."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gendermark.errors import UserError
from gendermark.records import Estimate, Table, Unit
from gendermark.reporting.latex import text as latex_escaped
from gendermark.reporting.tables import render, write_tables
from gendermark.result import Result
from gendermark.selection import Selection
from made_runs import run_of

FORMATS = ("md", "latex", "csv", "json")
METRICS = ("pro", "delta")
SELECTION = Selection("winomt", "en", "es", "core")
NASTY = r"""a_b%c&d#e$f{g}h~i^j\k|l<script>m*n"o"""


def _result(system: str = "fake:right", *, estimates: Sequence[Estimate] | None = None, rules: str = "best") -> Result:
    given_estimates = (
        Estimate("pro", "all", 61.25, 50.0, 70.0, 40, 100, 120, fixed_low=60.0, fixed_high=62.5),
        Estimate("delta", "all", -3.5, None, None, 40, 100, 120),
        Estimate("p_s", "formal", None, None, None, 0, 0, 120),
    )
    chosen = given_estimates if estimates is None else tuple(estimates)
    selection = Selection("simplegen", "en", "es", "core", rules=rules, cluster="occupation")
    return Result(selection, "core-1234", system, chosen, [], signature=f"benchmark:simplegen|system:{system}")


def _whole(tables: Sequence[list[list[str]]]) -> list[list[str]]:
    """The rows of the tables that have every number, after those of the papers."""
    at = next((at for at, rows in enumerate(tables) if rows[0][0] == "metric"), len(tables))
    assert all(rows[0][0] == "metric" for rows in tables[at:])
    return [row for rows in tables[at:] for row in rows]


def _markdown_rows(text: str) -> list[list[str]]:
    return _whole(_markdown_tables(text))


def _markdown_tables(text: str) -> list[list[list[str]]]:
    """The cells of all tables, as a Markdown reader shows them; fails on raw HTML."""
    tables: list[list[list[str]]] = []
    in_table = False
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        children = token.children or []
        assert not [one.type for one in (token, *children) if one.type.startswith("html")]
        in_table = token.type != "table_close" and (in_table or token.type == "table_open")
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type == "inline" and in_table:
            tables[-1][-1].append("".join(child.content for child in children))
    return tables


def _latex_rows(text: str) -> list[list[str]]:
    return [row for rows in _latex_tables(text) for row in rows]


def _latex_tables(text: str) -> list[list[list[str]]]:
    """The cells of all tables, read as LaTeX does: comments off, escapes undone; fails on what would not compile."""
    text = re.sub(r"(?m)(?<!\\)%.*$", "", text)
    text = re.sub(r"\$\^\{[*\\a-z]+\}\$", "", re.sub(r"\\textbf\{([^{}]*)\}", r"\1", text))
    depth = 0
    for token in re.findall(r"\\(?:[A-Za-z]+|.|\n)|[{}]", text):
        depth += {"{": 1, "}": -1}.get(token, 0)
        assert depth >= 0
    assert depth == 0
    begun = re.findall(r"\\begin\{([\w*]+)\}", text)
    assert sorted(begun) == sorted(re.findall(r"\\end\{([\w*]+)\}", text))
    labels = re.findall(r"\\label\{tab:([\w.-]+)\}", text)
    assert len(set(labels)) == len(labels) == begun.count("tabular")
    tables: list[list[list[str]]] = []
    for columns, tabular in re.findall(r"\\begin\{tabular\}\{(l*r*)\}\n(.*?)\\end\{tabular\}", text, flags=re.DOTALL):
        tables.append([])
        body = re.sub(r"\\(?:toprule|midrule|bottomrule|(?:\\?cmidrule\(lr\)\{[\d-]+\})+)\n", "", tabular)
        for line in body.splitlines():
            assert line.endswith(r" \\")
            assert not line.startswith(("[", "*")), "an option of the line before"
            line = re.sub(
                r"\\multicolumn\{(\d)\}\{c\}\{(.*?)\}(?= [&\\])", lambda m: m[2] + " &" * (int(m[1]) - 1), line
            )
            line = re.sub(r"\{\\tiny (\[[^]]*\])\}", r"\1", line)
            cells = re.split(r"(?<!\\)&", line.removesuffix(r" \\").removeprefix("{}"))
            assert len(cells) == len(columns)
            for cell in cells:
                plain = _ESCAPED.sub("", cell)
                assert not set(plain) & set('&%$#_{}~^\\<>|"−'), cell
            tables[-1].append([_unescaped(cell.strip()) for cell in cells])
    return tables


_ESCAPED = re.compile(r"\\([&%$#_{}])|\\((?:text[a-z]+|char34|ldots))\{\}|\$(-|\\rightarrow|\\Delta)\$")


def _unescaped(cell: str) -> str:
    words = {
        "textbackslash": "\\",
        "textasciitilde": "~",
        "textasciicircum": "^",
        "textless": "<",
        "textgreater": ">",
        "textbar": "|",
        "char34": '"',
        "ldots": "…",
        "-": "−",
        r"\rightarrow": "→",
        r"\Delta": "Δ",
    }
    return _ESCAPED.sub(lambda m: m[1] or words[m[2] or m[3]], cell)


def test_latex() -> None:
    text = render({"run": [_result()]}, "latex", METRICS)
    assert text.startswith("% needs \\usepackage{booktabs}\n")
    assert "\n% unbiased control: benchmark:simplegen|system:fake:right\n\\begin{table}\n" in text
    assert "\\label{tab:simplegen-metrics}" in text
    assert r"\caption{SimpleGEN. Core data, gendermark's corrected rules; in brackets: 95\% CI." in text
    assert r"\begin{tabular}{lrr}" in text
    assert _latex_rows(text) == [
        ["", "pro", "Δ"],
        ["unbiased control", "61.2", "−3.5"],
        ["", "[50.0, 70.0]", ""],
        ["", "[60.0, 62.5]", ""],
    ]
    with pytest.raises(UserError, match=r"unknown metric 'acuracy'.*pro:all"):
        render({"run": [_result()]}, "latex", ["acuracy"])


def test_latex_marks_the_best_and_what_is_significant() -> None:
    runs = {name: run_of(f"fake:{name}", SELECTION).results for name in ("right", "masculine")}
    text = render(runs, "latex", ["accuracy", "recall_gap", "coverage"])
    assert r"unbiased control & \textbf{100.0} & \textbf{0.0} & 100.0 \\" in text, "nothing is best where all are alike"
    assert re.search(r"always-masculine control & [\d.]+\$\^\{\\dagger\}\$ & 100.0\$\^\{\*\\dagger\}\$ & 100.0 ", text)
    (caption,) = re.findall(r"\\caption\{(.*)\}", text)
    for sign in ("Bold: best", "*: bias significant", r"$^{\dagger}$: differs significantly from unbiased control"):
        assert sign in caption
    alone = render({"right": runs["right"]}, "latex", ["accuracy"])
    assert "textbf" not in alone
    assert "Bold" not in alone


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("runs", [{}, {"run": []}, {"run": [_result(estimates=[])]}, {"a": [_result()], "b": []}])
def test_nothing_to_show_is_no_accident(format_: str, runs: Mapping[str, Sequence[Result]]) -> None:
    text = render(runs, format_)
    if format_ == "latex":
        _latex_rows(text)
    elif format_ == "json":
        assert list(json.loads(text)["runs"]) == list(runs)


def test_special_characters() -> None:
    runs = {"run": [_result(NASTY)], "other": [_result("fake:right")]}
    assert [row[0] for row in _latex_rows(render(runs, "latex", ["pro"]))[1::3]] == [NASTY, "unbiased control"]
    assert _markdown_rows(render(runs, "md"))[0] == ["metric", "slice", NASTY, "unbiased control"]
    assert next(csv.DictReader(io.StringIO(render(runs, "csv"))))["system"] == NASTY
    assert json.loads(render(runs, "json"))["runs"]["run"][0]["system"] == NASTY
    assert latex_escaped(r"\{}") == r"\textbackslash{}\{\}"


@settings(max_examples=80, derandomize=True)
@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20), st.text(max_size=5, alphabet="\\|`*<>&_\n\t %{}")
)
def test_any_name_keeps_the_tables_whole(name: str, more: str) -> None:
    runs = {"run": [_result(name + more)], "other": [_result("x")]}
    assert {len(row) for row in _latex_rows(render(runs, "latex", METRICS))} == {3}
    assert {len(row) for row in _markdown_rows(render(runs, "md"))} == {4}
    assert {len(row) for row in csv.reader(io.StringIO(render(runs, "csv"), newline=""))} == {18}
    json.loads(render(runs, "json"))


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1", "＋1", "－1", "＠A"]
)
def test_formulas_are_not_handed_to_spreadsheets(text: str, tmp_path: Path) -> None:
    (row, *_) = csv.DictReader(io.StringIO(render({"run": [_result(text)]}, "csv"), newline=""))
    assert row["system"] == f"'{text.strip()}"
    table = Table("words", "Words", ("word", "share", "n"), [(text, -0.5, 3), (None, None, 0)])
    write_tables(tmp_path, replace(_result(), tables=(table,)))
    (path,) = tmp_path.iterdir()
    assert path.name == "simplegen.en-es.words.csv"
    with path.open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["word", "share", "n"], [f"'{text.strip()}", "-0.5", "3"], ["", "", "0"]]


@pytest.mark.parametrize("format_", ["md", "latex"])
def test_an_interval_without_width_is_not_shown_as_certainty(format_: str) -> None:
    text = render({"run": [_result(estimates=[Estimate("pro", "all", 50.0, 50.0, 50.0, 1, 1, 1)])]}, format_)
    # In LaTeX, narrow columns have no room for it.
    assert text.count("[no spread seen]") == (2 if format_ == "md" else 0)
    assert "[50.0" not in text


@pytest.mark.parametrize("format_", ["md", "latex"])
def test_a_number_is_written_as_its_unit_says(format_: str) -> None:
    estimates = [Estimate("pro", unit, 0.123456, 0.1, 0.2, 1, 1, 1, unit) for unit in Unit]
    runs = {"run": [_result(estimates=estimates)]}
    if format_ == "md":
        found = {row[1]: row[2] for row in _markdown_rows(render(runs, "md"))[1:]}
    else:
        columns = zip(*_latex_rows(render(runs, "latex", [f"pro:{unit}" for unit in Unit])), strict=True)
        found = {head.removeprefix("pro, "): f"{value} {ends}" for head, value, ends in columns if head}
    assert found == {
        "percent": "0.1 [0.1, 0.2]",
        "score": "0.1 [0.1, 0.2]",
        "share": "0.1235 [0.1000, 0.2000]",
        "probability": "0.123 [0.100, 0.200]",
        "nats": "0.123 [0.100, 0.200]",
        "ratio": "0.123 [0.100, 0.200]",
        "count": "0.1 [0.1, 0.2]",
    }


# -- the tables of the papers ------------------------------------------------------------------------------------------


def test_the_form_of_the_paper_comes_before_the_whole_table() -> None:
    estimates = [
        Estimate("pro", "all", 61.25, 50.0, 70.0, 40, 100, 120),
        Estimate("delta", "all", -33.3, -40.0, -0.04, 40, 100, 120),
        Estimate("correct", "fofc", -0.01, None, None, 40, 100, 120),
    ]
    runs = {"a": [_result("x", estimates=estimates)], "b": [_result("y", estimates=estimates[:1])]}
    heads = ["", "pro", "anti", "Δ", "FOFC", "MOFC", "ΔFC", "MOMC", "FOMC", "ΔMC"]
    text = render(runs, "md")
    assert _markdown_tables(text)[0] == [
        heads,
        ["x", "61.2 [50.0, 70.0]", "–", "−33.3 [−40.0, 0.0]", "0.0", *"–––––"],
        ["y", "61.2 [50.0, 70.0]", *"––––––––"],
    ]
    assert "Table 4 of Renduchintala et al. (2021)" in text
    assert "Core data, gendermark's corrected rules; in brackets: 95% CI" in text
    latex = render(runs, "latex")
    assert _latex_tables(latex)[0] == [
        heads,
        ["x", "61.2", "--", "−33.3", "0.0", *["--"] * 5],
        ["", "[50.0, 70.0]", "", "[−40.0, 0.0]", *[""] * 6],
        ["y", "61.2", *["--"] * 8],
        ["", "[50.0, 70.0]", *[""] * 8],
    ]
    assert "& $-$33.3 &" in latex
    assert "\\label{tab:simplegen-4}" in latex
    assert latex.count("\\begin{table*}") == 1, "ten columns go across both of the paper; nothing else was asked for"


def test_systems_stand_side_by_side_and_go_on_in_another_table() -> None:
    selection = Selection("winomt", "en", "es", "core", rules="best")
    runs = {}
    for number in range(4):
        estimates = [Estimate("accuracy", "all", 10.0 * number, None, None, 1, 1, 1)]
        result = replace(_result(f"s{number}", estimates=estimates), selection=selection)
        runs[str(number)] = [result, replace(result, selection=replace(selection, target_language="he"))]
    first, second = _latex_tables(render(runs, "latex"))[:2]
    assert first[:2] == [["", "s0", "", "", "s1", "", "", "s2", "", ""], ["", *["Acc", "ΔG", "ΔS"] * 3]]
    assert first[2] == ["English → Spanish", "0.0", "--", "--", "10.0", "--", "--", "20.0", "--", "--"]
    assert second[:2] == [["", "s3", "", ""], ["", "Acc", "ΔG", "ΔS"]]
    assert second[2:] == [[f"English → {name}", "30.0", "--", "--"] for name in ("Spanish", "Hebrew")]
    (table, *_) = _markdown_tables(render(runs, "md"))
    assert table[0][-3:] == ["s3: Acc", "s3: ΔG", "s3: ΔS"]


@pytest.mark.parametrize("name", ["![x](https://e.example/p.png)", "[x](https://e.example)", "![x][1]", "![x]\\(a)"])
def test_a_name_makes_no_image_and_no_link(name: str) -> None:
    result = replace(_result(name), origin=name)
    result = replace(result, estimates=(replace(result.estimates[0], slice=name), *result.estimates))
    text = render({name: [result], f"{name} 2": [result]}, "md") + "\n\n[1]: https://e.example/q.png\n"
    tokens = [one for token in MarkdownIt("commonmark").enable("table").parse(text) for one in token.children or []]
    assert not [token.type for token in tokens if token.type in ("image", "link_open")]
