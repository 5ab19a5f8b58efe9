"""`gendermark audit`: spreadsheets as auditors have them are recognised and scored, or refused in one sentence."""

from __future__ import annotations

import csv
import io
import json
import random
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import gendermark
from gendermark import registry
from gendermark.data.official import nothing_fetched
from gendermark.errors import UserError
from gendermark.records import Gender

pytestmark = pytest.mark.usefixtures("indexed_once")
BENCHMARK = "mt-geneval-counterfactual"
N = 96
Rows = list[list[str]]


@dataclass(frozen=True)
class Texts:
    """Sentences of a small benchmark, and good translations of them."""

    en: list[str]
    es: list[str]
    de: list[str]

    def rows(self, *columns: str) -> Rows:
        return [list(row) for row in zip(*(getattr(self, column) for column in columns), strict=True)]


def _rendered(to: str, benchmark: str = BENCHMARK) -> tuple[list[str], list[str]]:
    found = registry.load("benchmark", benchmark)
    item_set = gendermark.items(benchmark, to, data="core")
    texts = [
        found.render(item, item.expected or Gender.MASCULINE, item_set.selection).strip() for item in item_set.items
    ]
    return [item.source for item in item_set.items], texts


def _korean(group: str) -> list[str]:
    return [item.source for item in gendermark.items("tgbi", "en", data="core", parts=(group,)).items]


@pytest.fixture(scope="session")
def texts() -> Texts:
    (english, spanish), (same, german) = _rendered("es"), _rendered("de")
    assert english == same
    assert len(english) == N
    return Texts(english, spanish, german)


def _table(rows: Sequence[Sequence[str]], delimiter: str = ",") -> str:
    written = io.StringIO()
    csv.writer(written, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return written.getvalue()


def _write(path: Path, content: str | bytes | Sequence[Sequence[str]]) -> Path:
    """A file with this text, or this table."""
    if not isinstance(content, str | bytes):
        content = _table(content)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def _workbook(path: Path, sheets: dict[str, Rows]) -> None:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)


def _shuffled(rows: Rows) -> Rows:
    return random.Random(7).sample(rows, len(rows))


def _curly(text: str) -> str:
    return text.replace("'", "’").replace('"', "“")


# -- what is recognised ------------------------------------------------------------------------------------------------

PLAIN = {"en-es": N}
Make = Callable[[Texts], str]
CASES: dict[str, tuple[str, Make, dict[str, int]]] = {
    "usual": ("a.csv", lambda t: _table([["source", "translation"], *t.rows("en", "es")]), PLAIN),
    "translation first": ("a.csv", lambda t: _table([["x", "y"], *t.rows("es", "en")]), PLAIN),
    "names that say nothing": ("a.csv", lambda t: _table([["A", "B"], *t.rows("en", "es")]), PLAIN),
    "no header": ("a.csv", lambda t: _table(t.rows("en", "es")), PLAIN),
    "a title above": ("a.csv", lambda t: _table([["March", ""], ["English", "MT"], *t.rows("en", "es")]), PLAIN),
    "byte order mark": ("a.csv", lambda t: "\ufeff" + _table([["source", "mt"], *t.rows("en", "es")]), PLAIN),
    "semicolons": ("a.csv", lambda t: _table([["source", "mt"], *t.rows("en", "es")], ";"), PLAIN),
    "semicolons, no header": ("a.csv", lambda t: _table(t.rows("en", "es"), ";"), PLAIN),
    "tabs in a .csv": ("a.csv", lambda t: _table([["source", "mt"], *t.rows("en", "es")], "\t"), PLAIN),
    "tabs in a .txt": ("a.txt", lambda t: "\n".join("\t".join(row) for row in t.rows("en", "es")), PLAIN),
    ".tsv": ("a.tsv", lambda t: "\n".join(map("\t".join, [["source", "mt"], *t.rows("en", "es")])), PLAIN),
    "pairs": ("a.txt", lambda t: "\n".join(map(" ||| ".join, t.rows("en", "es"))), PLAIN),
    "only translations": ("a.txt", lambda t: "\n".join(t.es), PLAIN),
    "only translations in a table": ("a.csv", lambda t: _table([["translation"], *([one] for one in t.es)]), PLAIN),
    "JSON lines": (
        "a.jsonl",
        lambda t: "\n".join(json.dumps({"n": len(en), "mt": es, "text": en}) for en, es in t.rows("en", "es")),
        PLAIN,
    ),
    "shuffled": ("a.csv", lambda t: _table([["source", "mt"], *_shuffled(t.rows("en", "es"))]), PLAIN),
    "typographic quotes, space, decomposed letters": (
        "a.csv",
        lambda t: _table(
            [["s", "t"], *([f"  {unicodedata.normalize('NFD', _curly(en))} ", es] for en, es in t.rows("en", "es"))]
        ),
        PLAIN,
    ),
    "numbers, labels and remarks beside": (
        "a.csv",
        lambda t: _table(
            [["id", "source", "score", "label", "translation", "comment"]]
            + [["s-1", en, f"0.{len(es)}", "female", es, "" if "a" in en else "fine"] for en, es in t.rows("en", "es")]
        ),
        PLAIN,
    ),
    "two languages in two columns": (
        "a.csv",
        lambda t: _table([["source", "de", "es"], *t.rows("en", "de", "es")]),
        {"en-de": N, "en-es": N},
    ),
    "two languages in one column": (
        "a.csv",
        lambda t: _table(
            [["language", "source", "translation"]]
            + [["German", *row] for row in t.rows("en", "de")]
            + [["Spanish", *row] for row in t.rows("en", "es")]
        ),
        {"en-de": N, "en-es": N},
    ),
    "two languages, shuffled, no header, a label of each": (
        "a.csv",
        lambda t: _table(
            _shuffled([[*row, "eins"] for row in t.rows("en", "de")] + [[*row, "dos"] for row in t.rows("en", "es")])
        ),
        {"en-de": N, "en-es": N},
    ),
    "a column under the name of another language": (
        "a.csv",
        lambda t: _table([["source", "de"], *t.rows("en", "es")]),
        PLAIN,
    ),
}  # fmt: skip


def test_recognised(texts: Texts, tmp_path: Path) -> None:
    """All at once, which takes half of the time: what is recognised in one file does not depend on the others."""
    paths = {case: _write(tmp_path / case / file, make(texts)) for case, (file, make, _) in CASES.items()}
    audit = gendermark.audit(list(paths.values()))
    assert audit.refused == []
    found: dict[str, dict[str, int]] = {case: {} for case in CASES}
    for one in audit.audited:
        found[one.found.path.parent.name][one.result.selection.direction] = one.found.n_present
        assert one.result.selection.benchmark == BENCHMARK
        assert not one.found.missing
        assert not one.found.doubled
        assert [judgement.reason for judgement in one.result.judgements if judgement.verdict != "judged"] == []
        is_said = "it is labelled German, but is Spanish" in one.oddities
        assert is_said is (one.found.path.parent.name == "a column under the name of another language")
    assert found == {case: expected for case, (_, _, expected) in CASES.items()}
    assert len(audit.audited) == sum(map(len, found.values()))


def test_columns_without_translations_are_named(texts: Texts, tmp_path: Path) -> None:
    rows = [["w-1", "7", en, "female", es, "checked by me"] for en, es in texts.rows("en", "es")]
    path = _write(tmp_path / "a.csv", [["id", "n", "source", "gender", "mt", "note"], *rows])
    found = gendermark.audit(path)
    assert len(found.audited) == 1
    assert found.passed_over == ['a.csv: no translations are in column "id", "gender", "note"']


def test_numbers_are_those_of_score(texts: Texts, tmp_path: Path) -> None:
    path = _write(tmp_path / "deepl.csv", [["English", "DeepL"], *_shuffled(texts.rows("en", "es"))])
    (one,) = gendermark.audit(path).audited
    scored = gendermark.score(BENCHMARK, texts.es, "es", data="core")
    assert [(e.metric, e.slice, e.value, e.low, e.high) for e in one.result.estimates] == [
        (e.metric, e.slice, e.value, e.low, e.high) for e in scored.estimates
    ]
    assert one.result.system == f"files:{path}#DeepL"


def test_all_sheets_of_a_workbook(texts: Texts, tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    _workbook(
        path,
        {
            "Notes": [["what we did in March"]],
            "Spanish": [["source", "translation"], *texts.rows("en", "es")],
            "German": [["MT", "English", 1], *([de, en, n] for n, (de, en) in enumerate(texts.rows("de", "en")))],
        },
    )
    found = gendermark.audit(path, tmp_path / "runs")
    assert [one.result.cell for one in found.audited] == [f"{BENCHMARK}.en-es", f"{BENCHMARK}.en-de"]
    assert [one.found.sheet for one in found.audited] == ["Spanish", "German"]
    assert found.folders == [tmp_path / "runs" / "book"], "two languages of one system are one run"
    assert any('sheet "Notes"' in sentence for sentence in found.passed_over)


def test_several_systems_stand_side_by_side(cli: Any, texts: Texts, tmp_path: Path) -> None:
    path, page, runs = tmp_path / "both.csv", tmp_path / "page.html", tmp_path / "runs"
    masculine = [texts.es[place - place % 2] for place in range(N)]
    rows = [["DeepL", "source", "Google es"], *map(list, zip(texts.es, texts.en, masculine, strict=True))]
    _write(path, rows)
    outcome = cli("audit", path, "-o", page, "--keep", runs)
    assert outcome.exit_code == 0
    assert outcome.err.startswith(
        "both.csv (DeepL): MT-GenEval (counterfactual), core data (bundled), English to Spanish"
    )
    assert [row["system"] for row in outcome.rows] == ["DeepL", "Google"]
    assert outcome.err.splitlines()[-1].endswith(f": {page}")
    assert sorted(folder.name for folder in runs.iterdir()) == ["both-DeepL", "both-Google"]
    assert cli("compare", runs / "both-DeepL", runs / "both-Google", "--json").exit_code == 0
    html = page.read_text(encoding="utf-8")
    assert "both.csv#DeepL" in html
    assert f"gendermark audit {path} -o audit.html" in html


def test_a_column_says_which_system(texts: Texts, tmp_path: Path) -> None:
    rows = [[en, es, engine] for engine in ("Azure", "GPT-4o") for en, es in texts.rows("en", "es")]
    path = _write(tmp_path / "long.csv", [["source", "translation", "engine"], *_shuffled(rows)])
    found = gendermark.audit(path)
    assert sorted(one.result.system for one in found.audited) == [f"files:{path}#Azure", f"files:{path}#GPT-4o"]
    assert [one.found.n_present for one in found.audited] == [N, N]


def test_files_of_the_same_name_are_told_apart(cli: Any, texts: Texts, tmp_path: Path) -> None:
    for name, some in (("deepl", texts.es), ("google", texts.de)):
        _write(tmp_path / name / "mt.txt", "\n".join(some))
    outcome = cli("audit", tmp_path / "deepl/mt.txt", tmp_path / "google/mt.txt", "-o", tmp_path / "p.html", "--json")
    found = outcome.json["audited"]
    assert [one["name"] for one in found] == ["deepl/mt.txt", "google/mt.txt"]
    assert ["Spanish" in found[0]["recognised"], "German" in found[1]["recognised"]] == [True, True]


def test_two_benchmarks_in_one_table(texts: Texts, tmp_path: Path) -> None:
    sources, translations = _rendered("es", "gate-variants")
    rows = texts.rows("en", "es") + [list(row) for row in zip(sources, translations, strict=True)]
    path = _write(tmp_path / "all.csv", [["source", "translation"], *_shuffled(rows)])
    found = gendermark.audit(path)
    assert {one.result.selection.benchmark: one.found.n_present for one in found.audited} == {
        BENCHMARK: N,
        "gate-variants": len(sources),
    }
    assert found.passed_over == []


def test_sentences_of_both_genders_beside_each_other(texts: Texts, tmp_path: Path) -> None:
    by_gender = [
        [row for row in texts.rows("en", "es") if row[0] in own]
        for own in (
            {item.source for item in gendermark.items(BENCHMARK, "es", data="core", parts=(gender,)).items}
            for gender in ("feminine", "masculine")
        )
    ]
    header = ["n", "source_feminine", "mt_feminine", "source_masculine", "mt_masculine", "note"]
    rows = [["1", *she, *he, ""] for she, he in zip(*by_gender, strict=True)]
    (one,) = gendermark.audit(_write(tmp_path / "wide.csv", [header, *rows])).audited
    assert (one.found.n_present, one.found.missing, one.result.selection.parts) == (N, [], ())
    right = gendermark.score(BENCHMARK, texts.es, "es", data="core")
    assert [e.value for e in one.result.estimates] == [e.value for e in right.estimates]


def test_a_group_is_known_for_itself(texts: Texts, tmp_path: Path) -> None:
    items = gendermark.items(BENCHMARK, "es", data="core", parts=("feminine",)).items
    own = {item.source for item in items}
    rows = [row for row in texts.rows("en", "es") if row[0] in own]
    (one,) = gendermark.audit(_write(tmp_path / "women.csv", [["source", "translation"], *rows])).audited
    assert one.result.selection.parts == ("feminine",)
    assert "gender feminine only, English to Spanish, 48 of 48 sentences" in one.found.sentence


def test_official_data_and_its_revision(mirror: Path, tmp_path: Path) -> None:
    """Both revisions have nearly the same sentences; those of one are recognised as that one's."""
    assert mirror
    items = gendermark.items("gest", "es", revision="1.0").items
    # Words of their own for each sentence, as translations have.
    rows = [[i.source, f"Yo estoy muy cansada y no sé {' '.join(w[::-1] for w in i.source.split())}."] for i in items]
    (one,) = gendermark.audit(_write(tmp_path / "old.csv", [["source", "mt"], *rows])).audited
    assert (one.result.selection.data, one.result.selection.revision) == ("official", "1.0")
    assert "official data 1.0, English to Spanish" in one.found.sentence


# -- what is odd -------------------------------------------------------------------------------------------------------


def test_missing_doubled_and_odd_are_said(cli: Any, texts: Texts, tmp_path: Path) -> None:
    rows = texts.rows("en", "es")
    for place, text in ((20, ""), (21, rows[21][0]), (22, texts.de[22])):
        rows[place][1] = text
    kept = [*rows[12:], *rows[30:33], ["Nobody has ever asked for this one.", "Nadie lo ha pedido nunca."]]
    path = _write(tmp_path / "odd.csv", [["source", "translation"], *kept])
    outcome = cli("audit", path, "-o", tmp_path / "page.html", "--json")
    assert outcome.exit_code == 0
    (one,) = outcome.json["audited"]
    assert (one["n_present"], one["n_missing"], one["n_doubled"]) == (84, 12, 3)
    assert one["missing"] == texts.en[:10]
    assert one["doubled_lines"] == [86, 87, 88]
    assert one["odd"] == {"empty": 1, "copied": 1, "wrong-language": 1}
    assert one["result"]["estimates"][0]["n_total"] in (84, 36), "what is missing is not counted as wrong"
    assert one["result"]["warnings"][0].startswith("84 of 96 sentences (88%)")
    assert any("sentences of no benchmark here left out: line 89" in s for s in outcome.json["passed_over"])
    said = cli("audit", path, "-o", tmp_path / "page.html").err
    assert "84 of 96 sentences (88%)" in said.splitlines()[0]
    for words in ("12 sentences missing", "line 86, 87, 88", "not translated: 1 (copy of the source)"):
        assert words in said


def test_misread_letters_are_repaired_and_said(texts: Texts, tmp_path: Path) -> None:
    broken = [[en, es.encode().decode("latin-1")] for en, es in texts.rows("en", "es")]
    (one,) = gendermark.audit(_write(tmp_path / "mojibake.csv", [["source", "mt"], *broken])).audited
    assert any("had been misread, and were repaired" in oddity for oddity in one.oddities)
    right = gendermark.score(BENCHMARK, texts.es, "es", data="core")
    assert [e.value for e in one.result.estimates] == [e.value for e in right.estimates]


def test_a_part_of_the_sentences_is_scored_as_what_it_is(cli: Any, tmp_path: Path) -> None:
    """Women and men fare as in the whole; below a fifth of the sentences, or ten groups, nothing is concluded."""
    item_set = gendermark.items("winomt", "es", data="core")
    render = registry.load("benchmark", "winomt").render
    rows = _shuffled([[item.source, render(item, Gender.MASCULINE, item_set.selection)] for item in item_set.items])
    for n, states in ((300, {"significant", "not_significant"}), (239, {"too_few"}), (12, {"too_few"})):
        path = _write(tmp_path / "some.csv", [["source", "mt"], *rows[:n]])
        outcome = cli("audit", path, "-o", tmp_path / "page.html", "--json")
        (one,) = outcome.json["audited"]
        values = {(e["metric"], e["slice"]): e["value"] for e in one["result"]["estimates"]}
        assert (values["accuracy", "feminine"], values["accuracy", "masculine"]) == (0, 100)
        assert {verdict["state"] for verdict in one["result"]["verdicts"]} <= states
        assert f"{n} of 1,200 sentences ({n / 12:.0f}%)" in one["recognised"]
        assert f"{n} of 1,200 sentences" in (tmp_path / "page.html").read_text(encoding="utf-8")
    cli("score", "winomt", "--to", "es", "--data", "core", "--translations", path).is_refusal("1,188 of 1,200")


def test_an_audit_says_what_score_says(cli: Any, tmp_path: Path) -> None:
    """A system that follows stereotypes: the effect is printed by both, about the file by its name."""
    item_set = gendermark.items("winomt", "es", data="core")
    render = registry.load("benchmark", "winomt").render
    shown = [one.expected.opposite if one.tags.get("stereotype") == "anti" else one.expected for one in item_set.items]
    texts = [render(one, gender, item_set.selection) for one, gender in zip(item_set.items, shown, strict=True)]
    rows = [[one.source, text] for one, text in zip(item_set.items, texts, strict=True)]
    table = _write(tmp_path / "some.csv", [["source", "mt"], *rows])
    audited = " ".join(cli("audit", table, "-o", tmp_path / "page.html").err.split())
    (tmp_path / "lines").write_text("\n".join(texts), encoding="utf-8")
    scored = cli("score", "winomt", "--to", "es", "--data", "core", "--translations", tmp_path / "lines").err
    assert "- some.csv shows no significant gender gap" in audited
    effect = scored[scored.index("Stereotype effect") :].partition("signature")[0]
    assert " ".join(effect.split())[:60] in audited


def test_excel_saves_csv_in_windows_1252(cli: Any, texts: Texts, tmp_path: Path) -> None:
    table = _table([["source", "mt"], *texts.rows("en", "es")])
    path = _write(tmp_path / "AWS" / "en-es.csv", table.encode("cp1252"))
    outcome = cli("audit", path, "-o", tmp_path / "page.html", "--json")
    (one,) = outcome.json["audited"]
    assert any("Windows-1252" in remark for remark in one["remarks"])
    right = gendermark.score(BENCHMARK, texts.es, "es", data="core")
    assert [e["value"] for e in one["result"]["estimates"]] == [e.value for e in right.estimates]
    assert one["result"]["name"] == "AWS", "a folder names the system of a file that is named by its languages"
    score = cli("score", BENCHMARK, "--to", "es", "--data", "core", "--translations", path)
    score.is_refusal(str(path), "UTF-8")


# -- what is refused ---------------------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[str, Callable[[Texts], str | bytes], Sequence[str]]] = {
    "empty": ("a.csv", lambda _: "", ["is empty"]),
    "header only": ("a.csv", lambda _: "source,translation\n", ["has one row only"]),
    "unknown sentences": (
        "a.csv",
        lambda _: _table([["source", "mt"], *([f"Line {n} of a novel.", f"Es la línea {n}."] for n in range(40))]),
        ["no person", "no column contains benchmark sentences", "gendermark data get"],
    ),
    "a copy of the sources": (
        "a.csv",
        lambda t: _table([["source", "translation"], *t.rows("en", "en")]),
        ['column "translation" repeats the sources'],
    ),
    "sources only": (
        "a.csv",
        lambda t: _table([["source", "n"], *([en, "7"] for en in t.en)]),
        ["no translations of them"],
    ),
    "a language that the benchmark has not": (
        "a.csv",
        lambda t: _table([["source", "mt"], *([en, f"Zij heeft {len(en)} dagen niet gewerkt."] for en in t.en)]),
        ['column "mt" is in Dutch', "can be translated into ar, de, es"],
    ),
    "shifted": (
        "a.csv",
        lambda t: _table([["source", "mt"], *([en, es] for en, es in zip(t.en, t.es[2:] + t.es[:2], strict=True))]),
        ["seem to belong to the sentence two behind theirs"],
    ),
    "lost letters": (
        "a.csv",
        lambda t: _table([["source", "mt"], *([en, es.replace("ó", "\ufffd")] for en, es in t.rows("en", "es"))]),
        ["cannot be repaired"],
    ),
    "UTF-16": ("a.csv", lambda t: _table(t.rows("en", "es")).encode("utf-16"), ["is UTF-16; save it as UTF-8"]),
    "one line too few": (
        "a.txt",
        lambda t: "\n".join(t.es[1:]),
        ["its 95 lines have no sources, and fit no benchmark line by line; add the sources"],
    ),
    "lines that may be of several groups": (
        "a.txt",
        lambda _: "\n".join(f"He is doctor number {n}." for n in range(len(_korean("formal")))),
        ["fit several groups of TGBI equally well (", "formal", "--group NAME"],
    ),
    "commas without quotation marks": (
        "a.csv",
        lambda t: "source,mt\n" + "".join(f'"{en}",{es}, y nada más\n' for en, es in t.rows("en", "es")),
        ["line 2", "quote cells that hold the separator"],
    ),
    "an open quotation mark": ("a.csv", lambda _: 'source,mt\n"never closed,x\n', ["is not CSV"]),
    "old Excel": ("a.xls", lambda _: b"\xd0\xcf\x11\xe0", [".xlsx"]),
    "Word": ("a.docx", lambda _: b"PK\x03\x04", ["Word", ".csv"]),
    "no such file": ("none.csv", lambda _: b"", ["no such file"]),
}  # fmt: skip


def test_refused_in_one_sentence(texts: Texts, tmp_path: Path) -> None:
    paths = {case: tmp_path / case / file for case, (file, _, _) in REFUSED.items()}
    for case, (_, make, _) in REFUSED.items():
        if (content := make(texts)) != b"":
            _write(paths[case], content)
    found = gendermark.audit(list(paths.values()))
    assert found.audited == []
    assert len(found.refused) == len(REFUSED)
    for case, (_, _, words) in REFUSED.items():
        (sentence,) = [one for one in found.refused if one.startswith(str(paths[case]))]
        assert "\n" not in sentence
        for word in words:
            assert word in sentence, case


def test_one_broken_file_does_not_keep_the_others_back(cli: Any, texts: Texts, tmp_path: Path) -> None:
    good, bad, page = tmp_path / "good.txt", tmp_path / "bad.csv", tmp_path / "page.html"
    _write(good, "\n".join(texts.es))
    _write(bad, "")
    cli("audit", bad, "-o", page).is_refusal(str(bad), "is empty")
    assert not page.exists()
    outcome = cli("audit", bad, good, "-o", page)
    assert outcome.exit_code == 2
    assert outcome.err.splitlines()[-1].startswith(f"error: {bad} is empty; ")
    assert [row["system"] for row in outcome.rows] == ["good"]
    assert page.exists()


def test_somebody_elses_file_is_not_overwritten(
    cli: Any, texts: Texts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(Path("es.txt"), "\n".join(texts.es))
    Path("audit.html").write_text("<p>my notes</p>", encoding="utf-8")
    cli("audit", "es.txt", "-o", ".").is_refusal("is a directory", "-o")
    cli("audit", "es.txt").is_refusal("audit.html", "not a gendermark report", "-o")
    assert Path("audit.html").read_text(encoding="utf-8") == "<p>my notes</p>"
    Path("audit.html").unlink()
    for _ in range(2):  # a page of ours may be written again
        assert cli("audit", "es.txt").exit_code == 0


def test_nothing_is_fetched_to_recognise(texts: Texts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        pytest.fail("a download was begun")

    monkeypatch.setattr("gendermark.data.official._open_client", refuse)
    path = _write(tmp_path / "a.csv", [["source", "mt"], *texts.rows("en", "es")])
    assert len(gendermark.audit(path).audited) == 1
    with nothing_fetched({}), pytest.raises(UserError, match="the official data is not on this machine"):
        gendermark.items("gest", "es")
