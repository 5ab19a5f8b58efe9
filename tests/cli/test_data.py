"""`gendermark data list | get | verify | convert | statistics`."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gendermark.data import card_names, load_card, official
from outcomes import Outcome

MIRROR = Path(os.environ.get("GENDERMARK_DATA_MIRROR") or Path(__file__).parents[3] / "shared" / "data")
COMMITS = {"old": "a" * 40, "new": "b" * 40}
CONTENT = {"a.txt": b"ein Arzt\n", "dir/b.txt": b"une femme m\xc3\xa9decin\n"}
Run = Callable[..., Outcome]


@pytest.fixture
def run(cli: Any) -> Run:
    return lambda *arguments: cli("data", *arguments)


@pytest.fixture(autouse=True)
def _isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDERMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", str(tmp_path / "mirror"))


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two toy data sets, `one` with two revisions; gives the directory of the cached files."""
    for name, ids in {"one": ("old", "new"), "two": ("new",)}.items():
        text = f'name = "{name}"\ntitle = "Toy {name}"\nrepository = "owner/{name}"\n'
        text += 'licence = "MIT"\nlicence_note = "A note."\ncitation = "Nobody (2020). Toy."\nbibtex = "@misc{toy}"\n'
        for revision_id in ids:
            text += f'[[revisions]]\nid = "{revision_id}"\ncommit = "{COMMITS[revision_id]}"\n'
            for group, path in {"data": "a.txt", "outputs": "dir/b.txt"}.items():
                place = tmp_path / "mirror" / "owner" / name / COMMITS[revision_id] / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(CONTENT[path])
                digest = hashlib.sha256(CONTENT[path]).hexdigest()
                text += f'files.{group} = [{{ path = "{path}", size = {len(CONTENT[path])}, sha256 = "{digest}" }}]\n'
        (tmp_path / "cards").mkdir(exist_ok=True)
        (tmp_path / "cards" / f"{name}.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(official, "CARDS", tmp_path / "cards")
    return tmp_path / "cache" / "data" / "owner"


def test_list_in_columns(run: Run, toys: Path, tmp_path: Path) -> None:
    run("get", "one", "--revision", "old", "--all")
    outcome = run("list")
    assert outcome.exit_code == 0
    assert [line.split("\t") for line in outcome.out.splitlines()] == [
        ["name", "revision", "title", "licence", "size", "cached"],
        ["one", "old", "Toy one", "MIT", "0.0 MB data + 0.0 MB outputs", "1/1 data, 1/1 outputs"],
        ["one", "new", "Toy one", "MIT", "0.0 MB data + 0.0 MB outputs", "0/1 data, 0/1 outputs"],
        ["two", "new", "Toy two", "MIT", "0.0 MB data + 0.0 MB outputs", "0/1 data, 0/1 outputs"],
    ]
    assert outcome.err.splitlines()[-1] == f"cache: {tmp_path / 'cache'}"


def test_list_as_json(run: Run, toys: Path, tmp_path: Path) -> None:
    run("get", "two")
    listed = run("list", "--json").json
    assert listed["cache"] == str(tmp_path / "cache")
    assert [row["name"] + row["revision"] for row in listed["data"]] == ["oneold", "onenew", "twonew"]
    assert listed["data"][2] == {
        "name": "two",
        "revision": "new",
        "commit": "b" * 40,
        "title": "Toy two",
        "licence": "MIT",
        "licence_note": "A note.",
        "citation": "Nobody (2020). Toy.",
        "bibtex": "@misc{toy}",
        "homepage": "https://github.com/owner/two",
        "groups": {
            "data": {"n_files": 1, "n_cached": 1, "n_bytes": 9},
            "outputs": {"n_files": 1, "n_cached": 0, "n_bytes": 19},
        },
    }


def test_get_fetches_the_data_of_every_revision(run: Run, toys: Path) -> None:
    outcome = run("get", "one")
    assert outcome.exit_code == 0
    assert outcome.out.splitlines() == [f"one\t{name}\t{toys / 'one' / COMMITS[name]}" for name in ("old", "new")]
    for commit in COMMITS.values():
        assert (toys / "one" / commit / "a.txt").read_bytes() == CONTENT["a.txt"]
        assert not (toys / "one" / commit / "dir").exists()


def test_get_says_licence_and_citation_once(run: Run, toys: Path) -> None:
    notice = "Toy two (https://github.com/owner/two), licence: MIT. A note.\nPlease cite: Nobody (2020). Toy.\n"
    for n in (1, 0):
        assert run("get", "two").err == f"{notice}@misc{{toy}}\ntwo new: downloading {n} of 1 files, 0.0 MB\n"


def test_get_all_of_one_revision_as_json(run: Run, toys: Path) -> None:
    outcome = run("get", "two", "one", "two", "--revision", "new", "--all", "--json")
    assert [(row["name"], row["revision"], row["n_fetched"]) for row in outcome.json["data"]] == [
        ("two", "new", 2),
        ("one", "new", 2),
    ]
    for row in outcome.json["data"]:
        assert row["files"] == ["a.txt", "dir/b.txt"]
        assert (Path(row["directory"]) / "dir" / "b.txt").read_bytes() == CONTENT["dir/b.txt"]
        assert row["licence"] == "MIT"


def test_get_refuses_wrong_names_before_it_fetches(run: Run, toys: Path) -> None:
    outcome = run("get", "two", "oen")
    assert outcome.err == "error: unknown official data set 'oen' (did you mean 'one'?); available: one, two\n"
    outcome = run("get", "one", "two", "--revision", "old")
    assert outcome.exit_code == 2
    assert outcome.err == "error: unknown revision of two 'old'; available: new\n"
    assert not toys.exists()
    assert [run("get").exit_code, run("verify", "won").exit_code] == [2, 2]


def test_verify_what_is_good(run: Run, toys: Path) -> None:
    assert (run("verify").exit_code, "gendermark data get NAME" in run("verify").err) == (0, True), "nothing is cached"
    run("get", "one", "--revision", "old")
    for arguments in (["verify"], ["verify", "one"]):
        outcome = run(*arguments)
        assert (outcome.exit_code, outcome.out, outcome.err) == (0, "", "1 files verified\n")
    found = run("verify", "--json").json
    assert (found["problems"], found["mend"]) == ([], None)


def test_verify_names_what_is_absent_when_asked_for_it(run: Run, toys: Path) -> None:
    outcome = run("verify", "one")
    assert outcome.exit_code == 2
    assert outcome.out == "missing\tone\told\ta.txt\nmissing\tone\tnew\ta.txt\n"
    assert outcome.err == (
        "error: one old a.txt is missing; one new a.txt is missing; fix it with: gendermark data get one\n"
    )


def test_verify_names_what_is_damaged_and_the_command_mends_it(run: Run, toys: Path) -> None:
    run("get", "one", "two", "--all")
    (toys / "one" / COMMITS["old"] / "dir" / "b.txt").write_bytes(b"une femme docteur")
    outcome = run("verify")
    assert outcome.exit_code == 2
    assert outcome.out == "damaged\tone\told\tdir/b.txt\n"
    command = "gendermark data get one --revision old --all"
    assert outcome.err == f"error: one old dir/b.txt is damaged; fix it with: {command}\n"
    as_json = run("verify", "--json")
    assert as_json.exit_code == 2
    assert as_json.json["n_good"] == 5
    assert as_json.json["mend"] == command
    assert as_json.json["problems"] == [
        {"name": "one", "revision": "old", "group": "outputs", "path": "dir/b.txt", "state": "damaged"}
    ]
    assert run(*command.split()[2:]).exit_code == 0
    assert run("verify").exit_code == 0


def test_the_official_data(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    if not MIRROR.is_dir():
        pytest.skip(f"no mirror of the official data at {MIRROR}; set GENDERMARK_DATA_MIRROR to a directory")
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", str(MIRROR))
    assert run("get", *card_names(), "--all").exit_code == 0
    outcome = run("verify", *card_names())
    n_files = sum(len(revision.files) for name in card_names() for revision in load_card(name).revisions)
    assert (outcome.exit_code, outcome.err) == (0, f"{n_files:,} files verified\n")
    for row in run("list", "--json").json["data"]:
        assert all(group["n_cached"] == group["n_files"] for group in row["groups"].values())


# -- convert -----------------------------------------------------------------------------------------------------------

CONVERTED = {
    "winobias": {
        "1 [The welder] greeted the florist while [she] opened the shop.": (
            "female\t1\tThe welder greeted the florist while she opened the shop.\twelder"
        ),
        "27 The welder greeted [the florist] and gave [him] back [his] umbrella.": (
            "male\t4\tThe welder greeted the florist and gave him back his umbrella.\tflorist"
        ),
        "3 A painter saw [the window cleaner], who hurt [themselves].": (
            "neutral\t4\tA painter saw the window cleaner, who hurt themselves.\twindow cleaner"
        ),
        # No number, no article, two spaces in a row, spaces inside brackets, capitals.
        "Yesterday [Someone]  painted [ HER ] door.": "female\t1\tYesterday Someone painted HER door.\tSomeone",
        "4\t[An archivist] lost [hers].": "female\t1\tAn archivist lost hers.\tarchivist",
        **{
            f"1 [The diver] swam, said [{pronoun}].": f"{gender}\t1\tThe diver swam, said {pronoun}.\tdiver"
            for gender, pronouns in (
                ("male", "he him his himself He"),
                ("female", "she her hers herself Her"),
                ("neutral", "they them their theirs themselves themself"),
            )
            for pronoun in pronouns.split()
        },
    },
    "winogender": {
        "welder.guest.0.female.txt\tThe welder asked the guest whether she could help.": (
            "female\t1\tThe welder asked the guest whether she could help.\twelder"
        ),
        "welder.guest.1.neutral.txt\tThe welder asked the guest's dog, or rather the guest.": (
            "neutral\t4\tThe welder asked the guest's dog, or rather the guest.\tguest"
        ),
        "welder.someone.1.male.txt\tThe welder showed someone the  way he came.": (
            "male\t3\tThe welder showed someone the way he came.\tsomeone"
        ),
        "welder.someone.1.male\tSomeone met the welder.": "male\t0\tSomeone met the welder.\tsomeone",
        "cook.cookie.0.male.txt\tThe cookie of the cook.": "male\t4\tThe cookie of the cook.\tcook",
    },
}


@pytest.mark.parametrize("kind", CONVERTED)
def test_convert(run: Run, tmp_path: Path, kind: str) -> None:
    lines = CONVERTED[kind]
    file, output = tmp_path / "given.txt", tmp_path / "winomt.txt"
    for header in ("", "sentid\tsentence\n") if kind == "winogender" else ("",):
        file.write_text(header + "".join(f"{line}\n\n" for line in lines), encoding="utf-8")
        assert run("convert", kind, file).out.splitlines() == list(lines.values())
    assert run("convert", kind, file, "-o", output).out == ""
    assert output.read_text(encoding="utf-8").splitlines() == list(lines.values())


@pytest.mark.parametrize(
    ("kind", "line", "words"),
    [
        ("winobias", "1 The diver swam.", ["0 of the two brackets"]),
        ("winobias", "1 [The diver] swam.", ["1 of the two brackets"]),
        ("winobias", "1 [The diver] swam with [her fins.", ["bracket", "not closed"]),
        ("winobias", "1 The diver] swam with [her] fins.", ["bracket", "not closed"]),
        ("winobias", "1 [She] saw [the diver].", ["[She]", "first bracket"]),
        ("winobias", "1 [The diver] saw [it].", ["[it]", "pronoun"]),
        ("winobias", "1 [The diver] said [he] lost [her] fins.", ["several genders: he, her"]),
        ("winobias", "1 [the] saw [her].", ["no entity", "[the]"]),
        ("winobias", "1 [] saw [her].", ["no entity", "[]"]),
        ("winogender", "The welder waved.", ["1 fields"]),
        ("winogender", "a.b.0.male.txt\tx\ty", ["3 fields"]),
        ("winogender", "welder.0.male.txt\tThe welder waved.", ["'welder.0.male.txt'", "baker.guest.1.male.txt"]),
        ("winogender", "welder..0.male.txt\tThe welder waved.", ["'welder..0.male.txt'"]),
        ("winogender", "welder.guest.2.male.txt\tThe welder.", ["'2'"]),
        ("winogender", "welder.guest.0.man.txt\tThe welder.", ["'man'"]),
        ("winogender", "welder.guest.1.male.txt\tThe welder.", ["'guest'"]),
        ("winogender", "sentid\tsentence", ["'sentid'"]),
    ],
)
def test_convert_refuses(run: Run, tmp_path: Path, kind: str, line: str, words: list[str]) -> None:
    file = tmp_path / "given.txt"
    file.write_text(f"{next(iter(CONVERTED[kind]))}\n\n{line}\n", encoding="utf-8")
    run("convert", kind, file).is_refusal(f"{file}, line 3:", *words)


def test_convert_refuses_other_files(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "given.txt"
    file.write_text("\n", encoding="utf-8")
    run("convert", "winobias", file).is_refusal(str(file), "no sentences")
    run("convert", "winograd", file).is_refusal("'winograd'", "winobias", "winogender")


def test_official_rows_survive_the_brackets(run: Run, mirror: Path, tmp_path: Path) -> None:
    """Rows of WinoMT, marked as WinoBias marks them, come back as they are."""
    (path,) = mirror.glob("gabrielStanovsky/mt_gender/586292861*/data/aggregates/en.txt")
    lines, wanted = [], []
    for text in path.read_text(encoding="utf-8").splitlines():
        _, index, sentence, entity = text.split("\t")
        words = sentence.split(" ")
        place, n_words = int(index), len(entity.split(" "))
        start = place - 1 if place and words[place - 1].lower() in ("the", "a", "an") else place
        phrase = " ".join(words[start : place + n_words])
        head, tail = " ".join(words[:start]), " ".join(words[place + n_words :])
        pronoun = re.search(r"\b(he|him|his|himself|she|hers?|herself|they|them|their|themselves)\b", tail)
        if not pronoun or "  " in sentence or not phrase[-1].isalpha() or not phrase.endswith(entity):
            continue
        marked = f"{tail[: pronoun.start()]}[{pronoun[0]}]{tail[pronoun.end() :]}"
        lines.append(f"{len(lines) + 1} {head} [{phrase}] {marked}".replace("  ", " "))
        wanted.append(text)
    assert len(wanted) > 3500
    (tmp_path / "given.txt").write_text("\n".join(lines), encoding="utf-8")
    assert run("convert", "winobias", tmp_path / "given.txt").out.splitlines() == wanted


# -- statistics --------------------------------------------------------------------------------------------------------


def test_core_statistics(run: Run) -> None:
    source, target = run("statistics", "--data", "core", "--split", "test", "--to", "es", "--json").json["statistics"]
    assert (source["side"], target["side"], source["pairs"]) == ("source", "target", 48)
    # Spanish marks gender on more words than English does.
    assert target["distinct gendered phrases"] > 3 * source["distinct gendered phrases"]


def test_official_statistics_are_near_table_12(run: Run, mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", str(mirror))
    rows = run("statistics", "--to", "de", "--to", "ru", "--json").json["statistics"]
    printed = [(6604, 328), (8053, 1091), (6619, 348), (10121, 2253)]
    for row, (words, phrases) in zip(rows, printed, strict=True):
        assert row["pairs"] == 1200
        assert row["distinct words"] == pytest.approx(words, rel=0.03)
        assert row["distinct gendered phrases"] == pytest.approx(phrases, rel=0.05)
