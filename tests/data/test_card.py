"""The cards: filled in, true to the mirror, and refused when they are wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark.data import Card, card_names, load_card
from gendermark.data.card import DataFile, parse_card
from gendermark.errors import UnknownName, UserError

MIRROR = Path(os.environ.get("GENDERMARK_DATA_MIRROR") or Path(__file__).parents[3] / "shared" / "data")
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_the_official_data_sets() -> None:
    benchmarks = {"gate-variants", "gest", "mittens", "mt-geneval", "simplegen", "tgbi", "winomt"}
    assert benchmarks | {"tatoeba-en-de", "tatoeba-en-es", "tatoeba-en-fr"} == {*card_names()}
    assert [revision.revision_id for revision in load_card("winomt").revisions] == ["2019", "latest"]
    assert load_card("winomt").revision("2019").commit.startswith("57d8b48f")
    assert load_card("winomt").revision("latest").commit.startswith("58629286")


@pytest.mark.parametrize("name", card_names())
def test_every_card_is_filled_in(name: str) -> None:
    card = load_card(name)
    assert card.name == name
    assert card.licence in {"Apache-2.0", "MIT", "CC-BY-2.0-FR", "CC-BY-4.0", "CC-BY-SA-3.0", "none given"}
    assert card.licence_note.endswith(".")
    assert card.homepage == f"https://github.com/{card.repository}"
    assert card.homepage in card.notice
    (year,) = re.findall(r"\((20\d\d)\)", card.citation)
    (title,) = re.findall(r"\n  title += \{(.+)\},\n", card.bibtex)
    assert f"year      = {{{year}}}" in card.bibtex
    assert title.replace("{", "").replace("}", "") in card.citation
    assert card.bibtex.count("{") == card.bibtex.count("}")
    assert "author " in card.bibtex
    assert "doi " in card.bibtex or "url " in card.bibtex
    for revision in card.revisions:
        assert "data" in revision.groups
        assert set(revision.groups) <= {"data", "outputs"}
        assert len({file.sha256 for file in revision.files}) == len(revision.files)


@pytest.mark.parametrize("name", card_names())
def test_every_card_lists_the_mirror(name: str) -> None:
    if not MIRROR.is_dir():
        pytest.skip(f"no mirror of the official data at {MIRROR}; set GENDERMARK_DATA_MIRROR to a directory")
    card = load_card(name)
    for revision in card.revisions:
        base = MIRROR / card.repository / revision.commit
        there = {path.relative_to(base).as_posix(): path.stat().st_size for path in base.rglob("*") if path.is_file()}
        listed = {file.path: file.size for file in revision.files}
        assert listed.items() <= there.items()


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(
        UnknownName, match=r"^unknown official data set 'winomd' \(did you mean 'winomt'\?\); available"
    ):
        load_card("winomd")
    with pytest.raises(UnknownName, match=r"^unknown official data set '../card'; available: "):
        load_card("../card")
    with pytest.raises(UnknownName, match=r"^unknown revision of winomt '2018' .*available: 2019, latest"):
        load_card("winomt").revision("2018")
    with pytest.raises(UnknownName, match=r"^unknown group of files of revision 2019 'outputs'; available: data"):
        load_card("winomt").revision("2019").select("outputs")


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "..",
        "../up",
        "a/../../up",
        "./a",
        "a//b",
        "a/",
        "a\\b",
        "..\\up",
        "C:a",
        "C:/a",
        "a:stream",
        "~/a",
        ".hidden",
        "a.",
        "a ",
        "a\0b",
        "a\nb",
        "a.txt.part",
        "é",
        "file:///etc/passwd",
        "%2e%2e/up",
    ],
)
def test_hostile_paths_are_refused(path: str) -> None:
    with pytest.raises(UserError) as caught:
        DataFile(path, 1, "0" * 64)
    assert str(caught.value) == f"{path!r} is not a plain relative path"


def change(toy: Any, old: str, new: str) -> str:
    assert old in toy.text
    return str(toy.text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("b.txt", "../b.txt", "'../b.txt' is not a plain relative path"),
        ("size = 9,", "size = 0,", "b.txt has 0 as its size in bytes"),
        ("size = 9,", "size = -9,", "b.txt has -9 as its size in bytes"),
        ("size = 9,", "size = 9.0,", "b.txt has 9.0 as its size in bytes"),
        ("size = 9,", "size = true,", "b.txt has True as its size in bytes"),
        ('sha256 = "', 'sha256 = "0', "data/a.txt has '0"),
        ("b.txt", "data/A.txt", "revision released lists data/a.txt twice"),
        (COMMIT, "main", "'main' is not a whole commit hash"),
        ('"owner/repo"', '"owner/../repo"', "'owner/../repo' is not OWNER/REPO"),
        ('"owner/repo"', '"../repo"', "'../repo' is not OWNER/REPO"),
        ('"owner/repo"', '"repo"', "'repo' is not OWNER/REPO"),
        ('licence = "MIT"', 'licence = " "', "licence is empty"),
        ('licence = "MIT"', "licence = 3", "licence is empty"),
        ('licence = "MIT"', "", "'licence'"),
        ('licence = "MIT"', 'licence = "MIT"\ncolour = "red"', "'colour'"),
        ('id = "released"', "", "'id' is missing"),
        ('name = "toy"', 'name = "toys"', "it is called 'toys' inside"),
        ("[[revisions]]", "[[revision]]", "'revisions' is missing"),
        ("[[revisions]]", "[revisions]", ""),
        ("files.data = [", "files.data = [3, ", ""),
        ("path =", "path = 3, paths =", ""),
        ("[[revisions]]", "[[revisions", ""),
    ],
)
def test_a_bad_card_is_refused_in_one_sentence(toy: Any, old: str, new: str, problem: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_card(change(toy, old, new), "toy")
    assert str(caught.value).startswith("the card of 'toy' is not valid: ")
    assert problem in str(caught.value)


def test_revisions_need_files_and_names_of_their_own(toy: Any) -> None:
    revision = toy.revision
    with pytest.raises(UserError, match=r"^revision released lists no files$"):
        type(revision)("released", COMMIT, ())
    values = {key: getattr(toy.card, key) for key in ("name", "title", "repository", "licence", "licence_note")}
    for revisions in ((), (revision, revision)):
        with pytest.raises(UserError, match=r"^there is no revision, or one of them twice$"):
            Card(**values, citation="c", bibtex="b", revisions=revisions)


def test_the_content_hash_sees_content_alone(toy: Any) -> None:
    before = toy.revision.content_hash()
    assert re.fullmatch(r"[0-9a-f]{12}", before)
    assert toy.revision.content_hash("outputs") != before
    renamed = parse_card(change(toy, "b.txt", "z.txt"), "toy")
    assert renamed.revisions[0].content_hash() == before
    other = parse_card(change(toy, toy.file("b.txt").sha256, "0" * 64), "toy")
    assert other.revisions[0].content_hash() != before


def test_nothing_heavy_is_imported() -> None:
    code = "import sys, gendermark.data, gendermark.cli.data; sys.exit(bool({'httpx', 'numpy'} & set(sys.modules)))"
    environment = {**os.environ, "PYTHONPATH": str(Path(gendermark.__file__).parents[1])}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0
