"""What a comparison of trained models found, in words and in the form of MT-GenEval's Tables 10 and 11."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gendermark.lab.paired import BLEU, Key, by_key, change_cell, told, value_cell
from gendermark.records import Unit
from gendermark.report.published import all_published
from gendermark.report.writing import latex_line, latex_table, markdown_line

Report = Mapping[str, Any]
_CONTEXTUAL, _COUNTERFACTUAL, _WINOMT = "mt-geneval-contextual", "mt-geneval-counterfactual", "winomt"
PAPER: Mapping[str, Key] = {
    "contextual": (_CONTEXTUAL, "accuracy", "all"),
    "counterfactual": (_COUNTERFACTUAL, "accuracy", "all"),
    "BLEU, women": (_COUNTERFACTUAL, "bleu_feminine", "all"),
    "BLEU, men": (_COUNTERFACTUAL, "bleu_masculine", "all"),
}
"""The columns of Table 10, then those of Table 11."""
OURS: Mapping[str, Key] = {
    "contextual, women": (_CONTEXTUAL, "accuracy", "feminine"),
    "contextual, men": (_CONTEXTUAL, "accuracy", "masculine"),
    "WinoMT": (_WINOMT, "accuracy", "all"),
    "WinoMT, women": (_WINOMT, "accuracy", "feminine"),
    "WinoMT, men": (_WINOMT, "accuracy", "masculine"),
    "plain BLEU": BLEU,
}
LONG_COLUMNS = ("model", "cell", "metric", "slice", "first", "second", "difference", "low", "high", "p_adjusted")
_TOLD: Mapping[str, Key] = {
    "contextual accuracy": PAPER["contextual"],
    "counterfactual accuracy": PAPER["counterfactual"],
    "women right on WinoMT": OURS["WinoMT, women"],
    "men right on WinoMT": OURS["WinoMT, men"],
    "BLEU": BLEU,
}


def findings(report: Report) -> list[str]:
    """A sentence for each model but the first."""
    found = []
    for model in report["models"]:
        rows = by_key(model["comparisons"])
        changes = [told(name, rows[key]) for name, key in _TOLD.items() if key in rows]
        found.append(f"{model['name']} against {report['baseline']}: {'; '.join(changes)}.")
    return found


def paper_rows(report: Report) -> list[tuple[str, ...]]:
    """Values alone, as the paper has them."""
    first = by_key(report["models"][0]["comparisons"])
    rows = [(report["baseline"], *(value_cell(first.get(key), "first") for key in PAPER.values()))]
    for model in report["models"]:
        found = by_key(model["comparisons"])
        rows.append((model["name"], *(value_cell(found.get(key), "second") for key in PAPER.values())))
    return rows


def changed_rows(report: Report, columns: Mapping[str, Key]) -> list[tuple[str, ...]]:
    """The first model's values, then those of the others with their changes and intervals."""
    first = by_key(report["models"][0]["comparisons"])
    rows = [(report["baseline"], *(value_cell(first.get(key), "first") for key in columns.values()))]
    for model in report["models"]:
        found = by_key(model["comparisons"])
        rows.append((model["name"], *(change_cell(found.get(key)) for key in columns.values())))
    return rows


def long_rows(report: Report) -> list[tuple[Any, ...]]:
    """Every comparison with all its digits."""
    return [
        (model["name"], *(row[column] for column in LONG_COLUMNS[1:]))
        for model in report["models"]
        for row in model["comparisons"]
    ]


def published_rows() -> list[tuple[str, ...]]:
    """Tables 10 and 11 as the paper prints them: a row for each model and direction."""
    printed: dict[tuple[str, str], dict[Key, float]] = {}
    for value in all_published():
        if value.benchmark in (_CONTEXTUAL, _COUNTERFACTUAL) and value.where in ("Table 10", "Table 11"):
            found = printed.setdefault((value.system, value.direction), {})
            found[value.benchmark, value.metric, value.slice] = value.value
    return [
        (system, direction, *(Unit.PERCENT.show(found.get(key)) for key in PAPER.values()))
        for (system, direction), found in printed.items()
    ]


def markdown(report: Report) -> str:
    """The tables, and what was found."""
    to, data = report["settings"]["target_language"], report["settings"]["data"]
    shown = {name: one["context"] for name, one in report["settings"]["models"].items()}
    lines = [f"# Models into {to} ({data})", "", *(f"- {sentence}" for sentence in report["findings"]), ""]
    lines += _table("In the form of Tables 10 and 11", ("model", *PAPER), paper_rows(report))
    lines += _table("The same, with changes", ("model", *PAPER), changed_rows(report, PAPER))
    lines += _table("Further numbers", ("model", *OURS), changed_rows(report, OURS))
    lines += [
        "What each model is shown before a contextual sentence: "
        + ", ".join(f"{name}: {context}" for name, context in shown.items())
        + ".",
        "",
    ]
    heads = ("system", "direction", *PAPER)
    lines += _table("Tables 10 and 11 of Currey et al. (2022), by their rules", heads, published_rows())
    return "\n".join(lines)


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    rule = markdown_line(["---", *["---:"] * (len(columns) - 1)])
    return [f"## {title}", "", markdown_line(columns), rule, *map(markdown_line, rows), ""]


def latex(report: Report) -> str:
    to, data = report["settings"]["target_language"], report["settings"]["data"]
    caption = (
        f"Accuracy on MT-GenEval and BLEU of its counterfactual sentences, into {to} ({data} data, rules "
        f"{report['settings']['rules']})."
    )
    head = [latex_line(["", *PAPER])]
    lines = [latex_line(row) for row in paper_rows(report)]
    return latex_table("table", "l" + "r" * len(PAPER), head, lines, caption, "tab:training") + "\n"
