"""The report page as a file: its parts, its policy, its links and numbers, and what it refuses."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

import gendermark
from gendermark.errors import UserError
from gendermark.reporting.findings import concluded, finding_about, findings, in_brief, main_topic
from gendermark.reporting.page import embedded_json, names_for_people, render_page, write_page
from gendermark.reporting.rows import Explorer, Filter
from gendermark.result import Result
from gendermark.runs.folder import Run, Text, read_run
from gendermark.selection import Selection
from made_runs import MadeRun, made, run_of

NASTY = "</script><script>alert(1)</script>\u202e\x00\ud800\"'&<b>"
SELECTIONS = (
    Selection("simplegen", "en", "es", data="core"),
    Selection("winomt", "en", "he", data="core"),
    Selection("mt-geneval-counterfactual", "en", "es", data="core"),
    Selection("mt-geneval-contextual", "en", "es", data="core"),
    Selection("tgbi", "ko", "en", data="core", parts=("negative",)),
    Selection("uncertainty", "en", "es", data="core", parts=("referenced",), n_samples=4),
)


class Page(HTMLParser):
    """A page taken apart: elements with their attributes, the text of each element by its id, scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.texts: list[str] = []
        self._within = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._within = tag if tag in self.raw else ""
        if self._within:
            self.raw[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self._within = ""

    def handle_data(self, data: str) -> None:
        if self._within:
            self.raw[self._within][-1] += data
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def attributes(self, name: str) -> list[str]:
        return [value or "" for _, attributes in self.elements for key, value in attributes.items() if key == name]

    @property
    def rows(self) -> Any:
        return json.loads(self.raw["script"][0])

    @property
    def links(self) -> list[Filter]:
        """Where the numbers lead."""
        found = [href for href in self.attributes("href") if href.startswith("#sentences?")]
        return [Filter.of(dict(parse_qsl(href.removeprefix("#sentences?")))) for href in found]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run folders of everything: `right` and `stereotyped`."""
    base = tmp_path_factory.mktemp("runs")
    for name, system in (("right", "fake:right"), ("stereotyped", "fake:stereotyped?s=0.7")):
        gendermark.run(system, SELECTIONS, directory=base / name)
    return base


@pytest.fixture(scope="module")
def runs(base: Path) -> Sequence[MadeRun]:
    return [made(read_run(base / name)) for name in ("right", "stereotyped")]


@pytest.fixture(scope="module")
def both(runs: Sequence[MadeRun]) -> Page:
    return Page(render_page(runs))


@pytest.fixture(scope="module")
def alone(runs: Sequence[MadeRun]) -> Page:
    return Page(render_page(runs[:1]))


# -- safety ------------------------------------------------------------------------------------------------------------


def test_the_policy_allows_the_pages_own_script_and_style_only(both: Page) -> None:
    policy = next(
        attributes["content"] or ""
        for name, attributes in both.elements
        if name == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["img-src"] == "data:"
    assert set(rules) == {"default-src", "script-src", "style-src", "img-src", "base-uri", "form-action"}
    (style,) = both.raw["style"]
    _, script = both.raw["script"]
    for kind, text in (("script-src", script), ("style-src", style)):
        assert rules[kind] == f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_nothing_in_the_page_is_fetched_or_styled_or_run_from_an_attribute(both: Page) -> None:
    for name, attributes in both.elements:
        assert not [key for key in attributes if key.startswith("on") or key in ("style", "srcset", "action")], name
    assert all(src.startswith("data:image/svg+xml,") for src in both.attributes("src"))
    assert all(href.startswith(("#", "data:,")) for href in both.attributes("href"))
    assert [name for name, _ in both.elements].count("script") == 2


def test_ids_are_unique_and_links_lead_somewhere(both: Page) -> None:
    ids = both.attributes("id")
    assert len(ids) == len(set(ids))
    targets = {href[1:] for href in both.attributes("href") if href.startswith("#") and "?" not in href}
    assert targets <= set(ids)


def test_no_text_can_end_the_element_that_holds_the_rows() -> None:
    hostile = {"x": ["</script>", "<!--", NASTY, "\u2028", "]]>"], "<": "\udfff"}
    text = embedded_json(hostile)
    assert "<" not in text
    text.encode()
    assert json.loads(text) == hostile


def _hostile(run: Run) -> Run:
    """The same run with names and messages that mean harm."""
    result = replace(run.results[1], system=NASTY, warnings=(NASTY,), signature=NASTY)
    result = replace(result, tables=tuple(replace(t, title=NASTY, columns=(NASTY,) * 9) for t in result.tables))
    manifest = {"config": {"system": NASTY, "selections": [{}]}, "notes": [NASTY], "written": NASTY * 3}
    texts = {result.cell: [Text(NASTY, (NASTY,), NASTY) for _ in result.judgements]}
    return MadeRun(NASTY, manifest, [result], texts)


def test_names_and_messages_are_text_only(runs: Sequence[MadeRun], tmp_path: Path) -> None:
    text = render_page([_hostile(runs[0]), _hostile(runs[1])])
    page = Page(text)
    names = [name for name, _ in page.elements]
    assert names.count("script") == 2
    assert "b" not in names
    assert "\u202e" not in text.split('id="rows"')[0]
    assert "[U+202E]" in page.text
    text.encode()


# -- what it says ------------------------------------------------------------------------------------------------------


def test_it_opens_with_the_findings_of_every_benchmark(alone: Page, runs: Sequence[MadeRun]) -> None:
    for result in runs[0].results:
        for sentence in findings(result):
            assert " ".join(sentence.split()) in alone.text
    finding = alone.text.index("The finding")
    assert finding < alone.text.index(findings(runs[0].results[0])[0]) < alone.text.index("The sentences behind")


def _opening(runs: Sequence[MadeRun]) -> str:
    text = Page(render_page(runs)).text
    return text[
        text.index("The finding", text.index("How to reproduce")) : text.index("confidence interval over groups")
    ]


def test_many_directions_of_one_system_are_told_in_brief_and_whole_below(
    runs: Sequence[MadeRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gendermark.reporting.opening._MOST_FINDINGS", 5)
    text, opening = Page(render_page(runs[1:])).text, _opening(runs[1:])
    assert "Details below." in text
    left_out = 0
    for result in runs[1].results:
        for finding in in_brief(result):
            assert finding.text in opening
        for sentence in findings(result):
            assert sentence in text
            left_out += sentence not in opening
    assert left_out > 3


def _by_cell(runs: Sequence[MadeRun]) -> list[list[Result]]:
    """The results of each cell as a page tells them, with their verdicts."""
    every = [concluded(result) for run in runs for result in run.results]
    n = len(runs[0].results)
    return [[every[run * n + cell] for run in range(len(runs))] for cell in range(n)]


def test_several_systems_are_told_by_the_same_measure_in_each_row(both: Page, runs: Sequence[MadeRun]) -> None:
    opening = _opening(runs)
    for results in _by_cell(runs):
        about = main_topic(results)
        for place, result in enumerate(results):
            assert f"{'AB'[place]} {finding_about(result, about)}" in opening
            assert all(sentence in both.text for sentence in findings(result))


@pytest.mark.slow
def test_more_than_four_systems_are_listed_with_one_line_each(runs: Sequence[MadeRun]) -> None:
    many = [replace(run, name=f"{run.name}{number}") for number in range(3) for run in runs]
    opening = _opening(many)
    for results in _by_cell(many):
        told = finding_about(results[3], main_topic(results))
        assert opening.count(f"stereotyped (fake, s=0.7; stereotyped1) : {told}") == 1
    assert opening.count("Right gender: worse than A by ") == 2 * 3, "of two benchmarks, for each that is worse"


def test_a_system_without_a_benchmark_is_said_not_to_have_run_it(runs: Sequence[MadeRun]) -> None:
    one, other = runs
    assert "B not run." in _opening([one, replace(other, results=other.results[1:])])


def test_directions_are_named_where_there_are_several_and_counted_where_there_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    selections = [Selection("winomt", "en", to, data="core") for to in ("es", "he")]
    runs = [run_of(system, *selections) for system in ("fake:right", "fake:masculine")]
    assert "worse in Spanish, Hebrew." in _opening(runs)
    monkeypatch.setattr("gendermark.reporting.opening._MOST_PLACES", 1)
    assert ": worse in 2 of 2 comparisons." in _opening(runs)


@pytest.mark.slow
def test_broken_systems_are_not_called_better() -> None:
    selections = [Selection(name, "en", "es", data="core") for name in ("simplegen", "winomt")]
    runs = [
        run_of(system, *selections)
        for system in ("fake:stereotyped?s=0.9", "fake:silent", "fake:masculine", "fake:right")
    ]
    text, opening = Page(render_page(runs)).text, _opening(runs)
    first, said = "A stereotyped (fake, s=0.9)", opening.replace(" ,", ",")
    assert f"B silent (fake) against {first}, by right gender: worse in SimpleGEN, WinoMT." in said
    assert f"D right (fake) against {first}, by right gender: better in SimpleGEN, WinoMT." in said
    assert "Nothing was translated, so nothing can be said about gender." in opening
    assert opening.count("better than A") == 2, "the one that is right, in both benchmarks"
    assert "Smaller gap, but lower accuracy than A ; significant: stereotype's advantage" in text
    assert "Could not be compared with A" in text


def test_every_number_is_there_and_leads_to_its_sentences(both: Page, runs: Sequence[MadeRun]) -> None:
    explorer = Explorer.of(runs)
    names = {cell.name for cell in explorer.cells}
    assert len(both.links) > 300
    assert {link.cell for link in both.links if not link.differ} == names
    for link in {link for link in both.links if not link.differ}:
        cell = next(cell for cell in explorer.cells if cell.name == link.cell)
        assert link.slice in ("", *cell.slices)
        assert link.system in ("", "0", "1")
        assert any(map(len, explorer.matches(link))), f"{link} leads to nothing"
    for run in runs:
        for result in run.results:
            n = sum(estimate.value is not None for estimate in result.estimates)
            assert sum(link.cell == result.cell for link in both.links) >= n


def test_better_and_worse_are_said_of_the_second_system(both: Page, runs: Sequence[MadeRun]) -> None:
    assert re.search(
        r"B stereotyped \(fake, s=0\.7\) against A right \(fake\) ?: worse in SimpleGEN, WinoMT", both.text
    )
    assert re.search(r"Right gender: worse than A by [\d.]+ points \([\d.]+ to [\d.]+\), significant\.", both.text)
    assert "Worse than A ; significant: right gender," in both.text
    assert "No significant difference from A" in both.text
    assert "after Holm's correction over the headline metrics of the two runs" in both.text


def test_the_tables_of_the_papers_are_there(both: Page) -> None:
    for form in (
        "Table 2 of Stanovsky et al. (2019)",
        "Table 4 of Renduchintala et al. (2021)",
        "Table 1 of Cho et al. (2019)",
        "Table 8 of Currey et al. (2022)",
        "Table 10 of Currey et al. (2022)",
        "Table 3 of Staliūnaitė et al. (2026)",
        "Table 4 of Staliūnaitė et al. (2026)",
        "their Table 5",
    ):
        assert form in both.text


def test_what_a_figure_shows_is_folded_as_a_table(both: Page) -> None:
    names = [(name, attributes.get("class")) for name, attributes in both.elements]
    at = [place for place, found in enumerate(names) if found == ("div", "matrices")]
    assert at
    assert all(names[place - 2][0] == "details" and names[place - 1][0] == "summary" for place in at)
    assert "Numbers below that are underlined lead to the sentences behind them." in both.text


def test_the_values_of_a_comparison_lead_to_their_sentences(runs: Sequence[MadeRun]) -> None:
    text = render_page(runs)
    start = text.index("Compared with the first system")
    table = text[start : text.index("</table>", start)]
    rows = table.count("<tr>") - 1
    assert table.count('href="#sentences?') == 2 * rows > 0
    assert table.count("system=0") == table.count("system=1") == rows


def test_figures_are_images_that_need_nothing(both: Page) -> None:
    images = [attributes for name, attributes in both.elements if name == "img"]
    assert len(images) > 5
    assert all(attributes["alt"] and attributes["width"] and attributes["height"] for attributes in images)


def test_warnings_and_notes_are_shown(runs: Sequence[MadeRun]) -> None:
    run = runs[0]
    result = replace(run.results[0], warnings=("in 7 of 9 translations nothing was found",))
    noted = MadeRun(run.name, {**run.manifest, "notes": ["cost 3 units"]}, [result], run.texts)
    text = Page(render_page([noted])).text
    assert "In 7 of 9 translations nothing was found." in text
    assert "The system says: Cost 3 units." in text


def test_how_to_get_the_same_again(both: Page, runs: Sequence[MadeRun]) -> None:
    for run in runs:
        for result in run.results:
            assert result.signature in both.text
    assert f"gendermark report {runs[0].name} {runs[1].name} -o report.html" in both.text
    assert "python - <<'END' from gendermark import Selection, run run( 'fake:right', [" in both.text
    run = runs[0]
    chosen = [row for row in run.manifest["config"]["selections"] if row["benchmark"] == "winomt"]
    config = {**run.manifest["config"], "selections": chosen}
    one = Page(render_page([replace(run, manifest={**run.manifest, "config": config})]))
    assert "gendermark run --system fake:right --benchmark winomt --to he --data core -o" in one.text
    config = {**config, "selections": []}
    unknown = Page(render_page([replace(run, manifest={**run.manifest, "config": config})]))
    assert "No command makes this run again" in unknown.text


def test_the_confidence_of_the_intervals_is_named(runs: Sequence[MadeRun]) -> None:
    run = runs[0]
    config = {**run.manifest["config"], "resampling": {"n_resamples": 1000, "seed": 1, "confidence": 0.9}}
    page = Page(render_page([replace(run, manifest={**run.manifest, "config": config})]))
    assert "CI: 90 % confidence interval" in page.text


# -- odd runs ----------------------------------------------------------------------------------------------------------


def test_runs_that_cannot_be_compared_are_shown_and_it_is_said(runs: Sequence[MadeRun]) -> None:
    one, other = runs
    changed = replace(other.results[1], origin="core-other")
    text = Page(render_page([one, replace(other, results=[changed])])).text
    assert "Not compared: winomt.en-he: the runs differ in data" in text


def test_runs_of_different_things_stand_side_by_side(runs: Sequence[MadeRun]) -> None:
    one, other = runs
    page = Page(render_page([replace(one, results=one.results[:1]), replace(other, results=other.results[1:2])]))
    assert {cell["name"] for cell in page.rows["cells"]} == {"simplegen.en-es", "winomt.en-he"}
    assert [answers is None for answers in page.rows["cells"][0]["answers"]] == [False, True]


def test_a_run_without_results_and_one_without_numbers(runs: Sequence[MadeRun]) -> None:
    run = runs[0]
    assert "These runs hold no result." in Page(render_page([replace(run, results=[], texts={})])).text
    bare = [
        replace(result, estimates=tuple(replace(e, value=None, low=None, high=None) for e in result.estimates))
        for result in run.results
    ]
    assert "Too little was translated to say anything." in Page(render_page([replace(run, results=bare)])).text
    no_intervals = [
        replace(result, estimates=tuple(replace(e, low=None, high=None) for e in result.estimates))
        for result in run.results
    ]
    render_page([replace(run, results=no_intervals)])


@cache
def _of(system: str) -> str:
    selection = Selection("simplegen", "en", "es", data="core", parts=("fofc", "mofc", "momc", "fomc"))
    return Page(render_page([run_of(system, selection)])).text


@pytest.mark.parametrize(
    ("system", "words"),
    [
        ("fake:right", "100% of women (CI 91–100) are translated as women"),
        ("fake:masculine", "0% of women (CI 0–9) are translated as women"),
        ("fake:silent", "Nothing was translated, so nothing can be said about gender."),
    ],
)
def test_the_finding_is_right_for_systems_whose_behaviour_is_known(system: str, words: str) -> None:
    assert words in _of(system)


def test_a_page_is_written_whole_and_small(base: Path, tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.html"
    write_page(path, [base / "right", base / "stereotyped", base / "right"])
    assert path.stat().st_size < 3_000_000
    page = Page(path.read_text(encoding="utf-8"))
    assert page.rows["systems"] == ["right (fake)", "stereotyped (fake, s=0.7)"], "one folder twice is one run"
    with pytest.raises(UserError, match="no such directory"):
        write_page(path, [tmp_path / "absent"])


def test_an_unfinished_run_is_refused(base: Path, tmp_path: Path) -> None:
    import shutil

    run = Path(shutil.copytree(base / "right", tmp_path / "run"))
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    (run / "manifest.json").write_text(json.dumps({**manifest, "status": "running"}), encoding="utf-8")
    with pytest.raises(UserError, match="is not finished"):
        write_page(tmp_path / "report.html", [run])


def test_names_for_the_script_have_one_order() -> None:
    explorer = Explorer.of([])
    assert list(names_for_people(explorer, {"winomt", "tgbi", "gest"})["benchmarks"]) == ["gest", "tgbi", "winomt"]
