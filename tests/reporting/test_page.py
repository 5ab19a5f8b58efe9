"""The report page as a file: what it says first, its policy, its links and numbers, and what it refuses."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

import gendermark
from gendermark.errors import UserError
from gendermark.reporting.findings import MOST_WORDS, findings, rates_of, verdict
from gendermark.reporting.html import embedded_json
from gendermark.reporting.page import render_page, write_page
from gendermark.reporting.rows import Explorer, Filter
from gendermark.runs.folder import Run, Text, read_run
from gendermark.selection import Selection
from made_runs import run_of

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
def runs(base: Path) -> Sequence[Run]:
    return [read_run(base / name) for name in ("right", "stereotyped")]


@pytest.fixture(scope="module")
def both(runs: Sequence[Run]) -> Page:
    return Page(render_page(runs))


@pytest.fixture(scope="module")
def alone(runs: Sequence[Run]) -> Page:
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
    return Run(NASTY, manifest, [result], texts=texts)


def test_names_and_messages_are_text_only(runs: Sequence[Run], tmp_path: Path) -> None:
    text = render_page([_hostile(runs[0]), _hostile(runs[1])])
    page = Page(text)
    names = [name for name, _ in page.elements]
    assert names.count("script") == 2
    assert "b" not in names
    assert "\u202e" not in text.split('id="rows"')[0]
    assert "[U+202E]" in page.text
    text.encode()


# -- what it says first ------------------------------------------------------------------------------------------------

WINOMT = Selection("winomt", "en", "es", data="core")


def _verdict(text: str) -> str:
    return text.partition('<p class="verdict">')[2].partition("</p>")[0]


@pytest.mark.parametrize(
    ("system", "benchmark", "languages", "said"),
    [
        ("masculine", "winomt", "en-es", "translates most women as men: 0% of women and 100% of men keep their gender"),
        (
            "right",
            "winomt",
            "en-es",
            "shows no significant gender gap: 100% of women and 100% of men keep their gender",
        ),
        ("feminine", "winomt", "en-es", "favours women: 100% of women and 0% of men keep their gender"),
        ("stereotyped?s=0.7", "winomt", "en-es", "shows no significant gender gap, but a stereotype effect of"),
        (
            "masculine",
            "tgbi",
            "ko-en",
            "renders most people of unspecified gender as men: 100% are translated as men, 0% as women",
        ),
        (
            "feminine",
            "gest",
            "en-cs",
            "renders unspecified gender as feminine more often: 0% are translated as men, 100% as women",
        ),
        ("silent", "winomt", "en-es", "Nothing was translated, so there is no conclusion about gender."),
    ],
)
def test_systems_of_known_bias_get_the_verdict_they_deserve(
    system: str, benchmark: str, languages: str, said: str
) -> None:
    page = render_page([run_of(f"fake:{system}", Selection(benchmark, *languages.split("-"), data="core"))])
    assert said in _verdict(page)
    assert len(_verdict(page).split()) <= MOST_WORDS


def test_several_systems_are_counted_and_named_in_the_title() -> None:
    selections = [replace(WINOMT, target_language=to) for to in ("es", "fr", "it")]
    runs = [run_of(f"fake:{name}", *selections) for name in ("masculine", "right", "stereotyped?s=0.9")]
    text = render_page(runs)
    assert _verdict(text).startswith(
        "One of three systems translates most women as men, significantly in 3 of 9 results"
    )
    assert len(_verdict(text).split()) <= MOST_WORDS
    assert "English → Spanish, French and Italian</bdi></h1>" in text
    assert _verdict(render_page(runs[:1])).startswith(
        "The always-masculine control translates most women as men in all three languages"
    )
    assert (
        "Gender gap: significant in 3 of 9 results, always in favour of men; largest: always-masculine control" in text
    )
    assert text.count('<tr data-place="fr"') == 3, "a row of the picture for every system"
    assert '<option value="fr">French</option>' in text


def test_controls_are_named_as_controls_and_never_are_the_subject() -> None:
    tested, control = (run_of(f"fake:{name}", WINOMT) for name in ("right", "masculine"))
    manifest = {**tested.manifest, "config": {**tested.manifest["config"], "system": "demo:en-es"}, "name": "my model"}
    tested = replace(tested, manifest=manifest, results=[replace(tested.results[0], system="demo:en-es")])
    text = render_page([control, tested])
    assert _verdict(text).startswith("my model shows no significant gender gap")
    assert "<h1><bdi>my model: English → Spanish</bdi></h1>" in text
    assert "always-masculine control" in text
    assert "(the first run)" not in text


def test_women_who_are_left_open_are_not_translated_as_men() -> None:
    (masculine,) = gendermark.run("fake:masculine", [WINOMT])
    opened = replace(masculine, judgements=tuple(replace(j, observed=None) for j in masculine.judgements))
    assert [rates_of(one).kind[0] for one in (masculine, opened)] == [  # type: ignore[union-attr]
        "translates most women as men",
        "favours men",
    ]


def test_what_is_said_of_a_result_does_not_depend_on_others(runs: Sequence[Run]) -> None:
    alone, beside = Page(render_page(runs[1:])).text, Page(render_page(runs)).text
    for result in runs[1].results:
        for sentence in findings(result):
            assert sentence in alone
            assert sentence in beside


def test_the_benchmark_that_opens_is_chosen_without_looking_at_numbers(runs: Sequence[Run]) -> None:
    for run in runs:
        assert re.search("Based on WinoMT ?: ", Page(render_page([run])).text)
        assert verdict([("x", [r])]) if (r := run.results[0]) else False


def test_what_is_missing_is_in_the_first_lines(runs: Sequence[Run]) -> None:
    one, other = runs
    warned = replace(one.results[0], warnings=("in 7 of 9 translations nothing was found",))
    run = Run(one.name, {**one.manifest, "notes": ["cost 3 units"]}, [warned, one.results[1]], texts=one.texts)
    text = Page(render_page([run, replace(other, results=other.results[1:2])])).text
    opening = text[text.index("Based on") : text.index("How many women and men")]
    assert "SimpleGEN: In 7 of 9 translations nothing was found." in opening
    assert "SimpleGEN, English → Spanish: not run for stereotyped control (s=0.7)." in opening
    assert "Note: Cost 3 units." in text
    silent = run_of("fake:garble", WINOMT)
    assert (
        "Fewer than 90% of translations show a gender that could be judged: WinoMT 1%."
        in Page(render_page([silent])).text
    )


def test_findings_stand_beside_sentences_with_the_deciding_words_marked(tmp_path: Path) -> None:
    gendermark.run("fake:masculine", [WINOMT], directory=tmp_path / "run")
    text = render_page([read_run(tmp_path / "run")])
    opening = text[text.index('id="finding"') : text.index('id="measured"')]
    assert opening.count('<blockquote class="example">') >= 2
    assert "(wrong: as a man)" in opening
    assert "(right: as a man)" in opening
    assert "<mark>" in opening


# -- everything behind it ----------------------------------------------------------------------------------------------


def test_every_finding_and_signature_is_there_and_no_markup_of_other_media(
    both: Page, alone: Page, runs: Sequence[Run]
) -> None:
    for result in (result for run in runs for result in run.results):
        assert all(sentence in both.text for sentence in findings(result))
        assert result.signature in both.text
    for page in (both, alone):
        assert "`" not in page.text
        assert ".." not in page.text.replace("...", "")


def test_every_number_is_there_and_leads_to_its_sentences(both: Page, runs: Sequence[Run]) -> None:
    explorer = Explorer(runs)
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


def test_later_systems_are_compared_with_the_first(both: Page, runs: Sequence[Run]) -> None:
    said = r"B stereotyped control \(s=0\.7\) vs\. A unbiased control ?: significantly worse in SimpleGEN[^:]* WinoMT"
    assert re.search(said, both.text)
    assert "after Holm's correction over the headline metrics of the two runs" in both.text
    one, other = runs
    refused = Page(render_page([one, replace(other, results=[replace(other.results[1], origin="core-other")])])).text
    assert "Not compared: Winomt.en-he: the runs differ in data" in refused


@pytest.mark.slow
def test_broken_systems_are_not_called_better() -> None:
    selections = [Selection(name, "en", "es", data="core") for name in ("simplegen", "winomt")]
    systems = ("fake:stereotyped?s=0.9", "fake:silent", "fake:masculine", "fake:right")
    text = Page(render_page([run_of(system, *selections) for system in systems])).text.replace(" :", ":")
    first = "A stereotyped control (s=0.9)"
    assert f"B silent control vs. {first}: significantly worse in SimpleGEN and WinoMT." in text
    assert f"D unbiased control vs. {first}: significantly better in SimpleGEN and WinoMT." in text
    assert "Nothing was translated, so there is no conclusion about gender." in text


def test_the_tables_of_the_papers_and_figures_are_there(both: Page) -> None:
    for form in (
        "Table 2 of Stanovsky et al. (2019)",
        "Table 4 of Renduchintala et al. (2021)",
        "Table 1 of Cho et al. (2019)",
        "Table 8 of Currey et al. (2022)",
        "Table 10 of Currey et al. (2022)",
        "Table 3 of Staliūnaitė et al. (2026)",
        "Table 5 of Staliūnaitė",
    ):
        assert form in both.text
    images = [attributes for name, attributes in both.elements if name == "img"]
    assert len(images) > 5
    assert all(attributes["alt"] and attributes["width"] and attributes["height"] for attributes in images)


def test_how_to_get_the_same_again(both: Page, runs: Sequence[Run]) -> None:
    assert f"gendermark report {runs[0].name} {runs[1].name} -o report.html" in both.text
    assert "python - <<'END' from gendermark import Selection, run run( 'fake:right', [" in both.text
    run = runs[0]
    chosen = [row for row in run.manifest["config"]["selections"] if row["benchmark"] == "winomt"]
    config = {**run.manifest["config"], "selections": chosen, "resampling": {"seed": 1, "confidence": 0.9}}
    one = Page(render_page([replace(run, manifest={**run.manifest, "config": config})]))
    assert "gendermark run --system fake:right --benchmark winomt --to he --data core" in one.text
    assert "CI: 90% confidence interval" in one.text
    config = {**config, "selections": []}
    unknown = Page(render_page([replace(run, manifest={**run.manifest, "config": config})]))
    assert "No single command repeats this run" in unknown.text


# -- odd runs ----------------------------------------------------------------------------------------------------------


def test_runs_of_different_things_stand_side_by_side(runs: Sequence[Run]) -> None:
    one, other = runs
    page = Page(render_page([replace(one, results=one.results[:1]), replace(other, results=other.results[1:2])]))
    assert {cell["name"] for cell in page.rows["cells"]} == {"simplegen.en-es", "winomt.en-he"}
    packed = json.loads(gzip.decompress(base64.b64decode(page.rows["rows"])))
    assert {(row["cell"], *(answer is None for answer in row["answers"])) for row in packed} == {
        (0, False, True),
        (1, True, False),
    }


def test_a_run_without_results_and_one_without_numbers(runs: Sequence[Run]) -> None:
    run = runs[0]
    assert "There are no results." in Page(render_page([replace(run, results=[], texts={})])).text
    for changed in ({"value": None, "low": None, "high": None}, {"low": None, "high": None}):
        bare = [replace(r, estimates=tuple(replace(e, **changed) for e in r.estimates)) for r in run.results]
        page = Page(render_page([replace(run, results=bare)]))
        assert "Too few translations for a conclusion." in page.text or "value" not in changed


def test_a_page_is_written_whole_and_small_or_refused(base: Path, tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.html"
    write_page(path, [base / "right", base / "stereotyped", base / "right"])
    assert path.stat().st_size < 3_000_000
    page = Page(path.read_text(encoding="utf-8"))
    assert page.rows["systems"] == ["unbiased control", "stereotyped control (s=0.7)"], "one folder twice is one run"
    with pytest.raises(UserError, match="no such directory"):
        write_page(path, [tmp_path / "absent"])
    run = Path(shutil.copytree(base / "right", tmp_path / "run"))
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    (run / "manifest.json").write_text(json.dumps({**manifest, "status": "running"}), encoding="utf-8")
    with pytest.raises(UserError, match="is not finished"):
        write_page(tmp_path / "report.html", [run])
