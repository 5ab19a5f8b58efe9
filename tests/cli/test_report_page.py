"""`gendermark report` as a page, and its figures."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize("name", ["report.html", "report.HTM"])
def test_a_page_by_its_ending(cli: Any, small: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "new" / name
    outcome = cli("report", small / "one", small / "two", "-o", path)
    assert (outcome.exit_code, outcome.out, outcome.err) == (0, "", f"report written to {path}\n")
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    printed = cli("report", small / "one", small / "two", "--format", "html")
    assert printed.out == path.read_text(encoding="utf-8")


def test_figures_beside_any_report(cli: Any, small: Path, tmp_path: Path) -> None:
    figures = tmp_path / "figures"
    outcome = cli("report", small / "one", "--figures", figures, "--figure-format", "svg")
    assert outcome.exit_code == 0
    assert "\n## tgbi.ko-en" in outcome.out
    assert f"written to {figures}" in outcome.err
    assert list(figures.glob("*.svg"))
    assert not list(figures.glob("*.p[dn][fg]"))


def test_without_the_extra_figures_are_svg_and_it_is_said(
    cli: Any, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("vl_convert"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    figures = tmp_path / "figures"
    outcome = cli("report", small / "one", "--figures", figures)
    assert outcome.exit_code == 0
    assert "SVG only" in outcome.err
    assert "pip install 'gendermark[figures]'" in outcome.err
    assert {path.suffix for path in figures.iterdir()} == {".svg", ".md"}
    cli("report", small / "one", "--figures", figures, "--figure-format", "pdf").is_refusal("gendermark[figures]")


def test_refusals(cli: Any, small: Path, tmp_path: Path) -> None:
    cli("report", small / "one", "--figure-format", "svg").is_refusal("--figures DIR")
    cli("report", small / "one", "--figures", tmp_path / "f", "--figure-format", "gif").is_refusal("'gif'", "svg")
    cli("report", small / "one", "--json", "--format", "html").is_refusal("contradict")
    cli("report", tmp_path, "-o", tmp_path / "report.html").is_refusal("no manifest.json")
    cli("report", small / "one", "-o", tmp_path / "report.docx").is_refusal(".html", "--format")


def test_a_run_without_its_translations_is_refused(cli: Any, folders: Path, tmp_path: Path) -> None:
    path = folders / "one" / "tgbi.ko-en" / "translations.jsonl"
    path.unlink()
    cli("report", folders / "one", "-o", tmp_path / "report.html").is_refusal(str(path), "no such file")
    assert not (tmp_path / "report.html").exists()
