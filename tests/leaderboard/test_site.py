"""The pages: what they say, what they link to, and that nothing that was submitted can become markup."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

import gendermark
from gendermark.cli.app import main
from gendermark.errors import UserError
from gendermark.reporting.leaderboard import build
from gendermark.reporting.submission import OutputFacts, SystemFacts, of_run, write


@pytest.fixture(scope="module")
def site(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("site")
    build([made], output)
    return output


@pytest.fixture(scope="module")
def index(site: Path) -> str:
    return (site / "index.html").read_text(encoding="utf-8")


def test_the_index_opens_with_the_finding(index: str) -> None:
    assert "<h1>Women and men in translation: significant differences in 2 of 6 results</h1>" in index
    assert "Halfway, Spanish, " in index
    assert "<p>Right 1.0 is significantly better than every other system.</p>" in index


def test_every_number_of_a_table_has_its_interval(index: str) -> None:
    table = re.search(r"<h3>English → Spanish</h3>.*?</table>", index, re.S)
    assert table
    rows = re.findall(r"<tr>.*?</tr>", table[0], re.S)[1:]
    assert [re.search(r"<td>(.*?)</td>", row)[1] for row in rows] == ["1", "2", "3", "4"]  # type: ignore[index]
    assert all(row.count('class="interval"') >= 5 for row in rows)


def test_links_lead_to_pages_that_are_there_and_back(made: Path, site: Path, index: str) -> None:
    targets = set(re.findall(r'href="([^"#]+\.html)"', index))
    assert targets == {
        f"systems/{slug}.html" for slug in ("right-1-0-2025", "halfway-2024-25", "halfway-2019", "only-men")
    }
    for target in targets:
        page = (site / target).read_text(encoding="utf-8")
        assert '<a href="../index.html">All systems</a>' in page
        assert f"gendermark leaderboard verify {made}" in page  # a system is no command
    assert "Halfway (2019)" in (site / "systems" / "halfway-2019.html").read_text(encoding="utf-8")


def test_nothing_is_fetched_and_nothing_else_can_run(index: str) -> None:
    class Tags(HTMLParser):
        found: list[tuple[str, dict[str, str | None]]] = []  # noqa: RUF012

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.found.append((tag, dict(attrs)))

    parser = Tags()
    parser.feed(index)
    assert all((a.get("src") or "data:").startswith("data:") and "style" not in a for _, a in parser.found)
    (policy,) = [a["content"] for tag, a in parser.found if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")


def test_names_cannot_become_markup(tmp_path: Path) -> None:
    hostile = SystemFacts("x<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "</table>", "&lt;", "2020")
    gendermark.run("fake:right", ["terms"], "es", tmp_path / "run", data="core")
    for scored in of_run(tmp_path / "run", hostile):
        write(tmp_path / "results", hostile, OutputFacts("javascript:alert(3)", "<b>"), scored)
    build([tmp_path / "results"], tmp_path / "site")
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert 'href="javascript' not in page
    assert page.count("</table>") == page.count("<table")


def _cli(line: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(line.split())
    return int(ended.value.code or 0)


def test_run_folders_are_taken_as_they_are(made: Path, tmp_path: Path) -> None:
    """Those of `run` and of `score`, beside submissions; capitals of names are kept."""
    texts = tmp_path / "es.txt"
    sources = [item.source for item in gendermark.items("simplegen", "es", data="core").items]
    translated = dict(zip(sources, sources, strict=True))
    stored = made.parent / "runs" / "men" / "simplegen.en-es" / "translations.jsonl"
    for line in stored.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        translated[row["source"]] = row["translation"]
    texts.write_text("".join(f"{source} ||| {text}\n" for source, text in translated.items()), encoding="utf-8")
    score = "score simplegen --to es --data core --resamples 200"
    scored, site = tmp_path / "AWS", tmp_path / "site"
    assert _cli(f"{score} --translations {texts} -o {scored}") == 0
    assert _cli(f"score simplegen --to es --data core --rules paper --translations {texts} -o {scored}") == 2
    runs = f"{scored} Bing={made.parent / 'runs' / 'halfway'} {made / 'right-1-0-2025'}"
    assert _cli(f"leaderboard {runs} -o {site} --executor serial") == 0
    assert {path.name for path in (site / "systems").iterdir()} == {"aws.html", "bing.html", "right-1-0-2025.html"}
    index = (site / "index.html").read_text(encoding="utf-8")
    assert ">AWS<" in index
    assert ">Bing<" in index
    assert ">files<" not in index
    assert "Bing" in (site / "systems" / "bing.html").read_text(encoding="utf-8")
    assert _cli(f"leaderboard verify {scored}") == 0
    assert _cli(f"leaderboard {scored} AWS={made.parent / 'runs' / 'men'} -o {site}") == 2


def test_a_system_in_two_directories_is_refused(made: Path, results: Path, tmp_path: Path) -> None:
    shutil.rmtree(results / "halfway-2019" / "simplegen.en-es")
    shutil.copytree(made / "right-1-0-2025", tmp_path / "other" / "x")
    for name in ("simplegen.en-es", "tgbi.ko-en"):
        shutil.rmtree(tmp_path / "other" / "x" / name)
    shutil.rmtree(results / "right-1-0-2025" / "simplegen.en-he")
    with pytest.raises(UserError, match="two directories hold the system right-1-0-2025"):
        build([results, tmp_path / "other"], tmp_path / "site")
