"""The same number reads the same on the terminal, on the page, in Markdown and in LaTeX."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest

from gendermark import registry
from gendermark.cli import terminal
from gendermark.cli.results import print_results
from gendermark.reporting.page import render_page
from gendermark.reporting.tables import render
from gendermark.runs.folder import Run
from gendermark.selection import Selection
from made_runs import run_of

SELECTIONS = {
    "winomt": Selection("winomt", "en", "es", data="core"),
    "uncertainty": Selection("uncertainty", "en", "es", data="core", parts=("referenced",), n_samples=3),
    "tgbi": Selection("tgbi", "ko", "en", data="core", parts=("negative",)),
}


def _with_value(run: Run, metric: str, part: str, value: float, low: float, high: float) -> Run:
    (result,) = run.results
    estimates = tuple(
        replace(e, value=value, low=low, high=high, fixed_low=None, fixed_high=None)
        if (e.metric, e.slice) == (metric, part)
        else e
        for e in result.estimates
    )
    return replace(run, results=[replace(result, estimates=estimates)])


@pytest.mark.parametrize(
    ("benchmark", "metric", "part", "ends", "shown"),
    [
        # The same metric has points in WinoMT and a scale of 0 to 1 in uncertainty.
        ("winomt", "distance_from_even", "neutral", (0.4, 0.2, 1.3), ("0.4", "0.2", "1.3")),
        ("uncertainty", "distance_from_even", "ambiguous", (0.4, 0.25, 0.45), ("0.400", "0.250", "0.450")),
        ("tgbi", "p_s", "negative", (0.4, 0.25, 0.5), ("0.4000", "0.2500", "0.5000")),
    ],
)
def test_one_number_everywhere(
    benchmark: str,
    metric: str,
    part: str,
    ends: tuple[float, float, float],
    shown: tuple[str, str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = _with_value(run_of("fake:coin", SELECTIONS[benchmark]), metric, part, *ends)
    (result,) = run.results
    value, low, high = shown
    assert result.estimate(metric, part).shown == value
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr(terminal, "is_terminal", lambda _: True)
    print_results(run.results, everything=True)
    assert re.search(rf"(?m)^\W*{part}\b.*[ │]{re.escape(value)}[ │]", capsys.readouterr().out)
    markdown, latex = (render({"run": run.results}, *how) for how in (("md",), ("latex", [f"{metric}:{part}"])))
    assert f"| {metric} | {part} | {value} [{low}, {high}]" in markdown
    assert re.search(rf"& {re.escape(value)}(\$.*\$)? ", latex)
    assert f"[{low}, {high}]" in latex
    page = re.sub(r"<[^>]*>", " ", html.unescape(render_page([run]).split('id="rows"')[0]))
    label = registry.load("benchmark", benchmark).label(metric, part)
    assert re.search(rf"{re.escape(label)}\s+{metric}:{part}\s.{{1,60}}\s{re.escape(value)}\s+{low}–{high}\s", page)
