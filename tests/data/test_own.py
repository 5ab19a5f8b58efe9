"""Sentences of the user's own, in one format for all benchmarks; and mGeNTE, in the format of its authors."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import gendermark
from gendermark import registry
from gendermark.errors import BadFile, UserError

NURSE = {
    "source": "The nurse is tired.",
    "entity": "nurse",
    "reference_feminine": "La enfermera está cansada.",
    "reference_masculine": "El enfermero está cansado.",
}
ROWS = {
    "winomt": [
        {"source": "The plumber said that she was late.", "gender": "f", "entity": "plumber", "stereotype": "anti"},
        {"source": "The plumber said that he was late.", "gender": "Male", "entity": "plumber", "stereotype": "pro"},
        {"source": "The nurse said that they were late.", "gender": "neutral", "entity": "nurse"},
    ],
    "simplegen": [
        {"source": "My mother is a carpenter.", "gender": "feminine", "entity": "carpenter"},
        {"source": "My father is a nurse.", "gender": "masculine", "entity": "nurse"},
        {"source": "My father is a carpenter.", "gender": "masculine", "entity": "carpenter", "number": "singular"},
        {"source": "My mother is a nurse.", "gender": "feminine", "entity": "nurse"},
    ],
    "tgbi": [
        {"source": "O bir doktor.", "entity": "doktor", "set": "occupation", "gloss": "a doctor"},
        {"source": "O çok iyi.", "entity": "iyi", "set": "positive", "gloss": "very good"},
    ],
    "mt-geneval-counterfactual": [
        {"source": "He is a singer.", "gender": "m", "pair": "1", "reference": "Él es un cantante conocido."},
        {"source": "She is a singer.", "gender": "f", "pair": "1", "reference": "Ella es una cantante conocida."},
    ],
    "mt-geneval-contextual": [
        {
            "context": "She was tired.",
            "source": "The doctor went home.",
            "reference": "La doctora se fue a casa.",
            "contrastive": "El doctor se fue a casa.",
            "gender": "feminine",
        }
    ],
    "gest": [
        {"source": "I decided alone.", "stereotype": "leaders"},
        {"source": "I cried all night.", "stereotype": "emotional"},
    ],
    **{name: [NURSE] for name in ("gate-variants", "gate-alternatives", "gate-rewriting")},
    "mittens": [
        {"source": "Ella es doctora.", "gender": "f", "reference": "She is a doctor.", "language": "es"},
        {"source": "Er ist Arzt.", "gender": "m", "reference": "He is a doctor.", "language": "de"},
    ],
    "terms": [
        {"source": "My doctor was tired.", "gender": "f", "terms": "mi doctora|mi doctor;cansada|cansado"},
        {"source": "His friend came.", "gender": "m", "terms": "amigo amiga"},
    ],
    "uncertainty": [
        {"source": "The plumber said that she was late.", "gender": "f", "entity": "plumber"},
        {"source": "The plumber said that they were late.", "gender": "n", "entity": "plumber"},
    ],
}


def _write(path: Path, rows: list[dict[str, str]]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path
    columns = list(dict.fromkeys(name for row in rows for name in row))
    between = "\t" if path.suffix == ".tsv" else ","
    lines = [columns, *([row.get(name, "") for name in columns] for row in rows)]
    path.write_text("".join(between.join(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl"])
@pytest.mark.parametrize("name", sorted(ROWS))
def test_every_benchmark_reads_it_and_a_right_system_is_right(name: str, ending: str, tmp_path: Path) -> None:
    path = _write(tmp_path / f"mine{ending}", ROWS[name])
    benchmark = registry.load("benchmark", name)
    source, target = {"tgbi": ("tr", "en"), "mittens": ("mul", "en")}.get(name, ("en", "es"))
    options = {"n_samples": 2} if benchmark.draws else {}
    selection = gendermark.Selection(name, source, target, data=f"file:{path}", **options)
    (result,) = gendermark.run("fake:right", [selection])
    assert result.origin.startswith("file-")
    if name.startswith("gate-"):
        assert {j.entity for j in result.judgements} == {"nurse"}
        return
    if name == "gest":  # where the source says nothing, either gender is right
        assert all(j.expected is None and j.observed for j in result.judgements)
    else:
        assert [j.expected for j in result.judgements] == [j.observed for j in result.judgements]
    assert len(result.judgements) == len(ROWS[name])


def test_every_benchmark_that_reads_it_is_described() -> None:
    """And in docs/own-data.md."""
    text = (Path(__file__).parents[2] / "docs" / "own-data.md").read_text(encoding="utf-8")
    readers = {name for name, one in registry.every("benchmark") if "file:FILE" in one.choices_of("data")}
    assert {name for name in readers if not registry.load("benchmark", name).reads_any_text} == set(ROWS)
    assert all(f"`{name}`" in text.partition("| needs |")[2] for name in readers)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "has no sentence; give a header and a row for each (source, gender, entity)"),
        ("source,gender\nShe is here.,f\n", "line 2: has no column entity; it has source, gender"),
        ("source,gender,entity\nThe cook is here.,f\n", "line 2: has 2 cells, but the header has 3"),
        ("source,gender,entity\nThe cook is here.,x,cook\n", "line 2: has the gender 'x'; available: masculine"),
        ("source,gender,entity\nThe cook is here.,,cook\n", "line 2: has no gender"),
        ("source,gender,entity\nThe cook is here.,f,baker\n", "line 2: has no 'baker' in its sentence"),
        (
            "source,gender,entity,stereotype\nThe cook is here.,f,cook,yes\n",
            "line 2: has the stereotype 'yes'; available: pro, anti, none",
        ),
        ('{"source": 1}', "line 1: has 1 where a text is expected"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / ("mine.jsonl" if content.startswith("{") else "mine.csv")
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=re.escape(said)):
        gendermark.items("winomt", "es", data=f"file:{path}")


@pytest.mark.parametrize(
    ("name", "row", "said"),
    [
        (
            "simplegen",
            {"source": "She is a wizard.", "gender": "f", "entity": "wizard"},
            "has the occupation 'wizard', which our",
        ),
        ("tgbi", {"source": "O iyi.", "entity": "iyi", "set": "nice"}, "has the set 'nice'; available: informal"),
        ("gest", {"source": "I am here.", "stereotype": "tall"}, "has the stereotype 'tall'; available: emotional"),
        ("mittens", {"source": "Ella.", "gender": "f", "reference": "She."}, "has no language; add a column"),
        ("terms", {"source": "She came.", "terms": "una"}, "is annotated incorrectly: a term is written"),
        (
            "mt-geneval-counterfactual",
            {"source": "He is here.", "gender": "m", "pair": "1", "reference": "Él está."},
            "has no sentence of the other gender for the pair '1'",
        ),
    ],
)
def test_refusals_of_single_benchmarks(name: str, row: dict[str, str], said: str, tmp_path: Path) -> None:
    path = _write(tmp_path / "mine.csv", [row])
    to, source = {"tgbi": ("en", "tr"), "mittens": ("en", "mul")}.get(name, ("es", "en"))
    with pytest.raises(UserError, match=re.escape(said)):
        gendermark.items(name, to, data=f"file:{path}", source_language=source)


def test_published_dictionaries_are_for_published_sentences(tmp_path: Path) -> None:
    path = _write(tmp_path / "mine.csv", ROWS["simplegen"])
    with pytest.raises(UserError, match="use --rules best for your own"):
        gendermark.items("simplegen", "es", data=f"file:{path}", rules="paper")


# -- mGeNTE ------------------------------------------------------------------------------------------------------------

HEADER = ("ID", "Europarl_ID", "SET", "SRC", "REF-G", "REF-N", "COMMON", "GENDER")
MGENTE = (
    ("1", "a1", "Set-G", "The baker left.", "La <fornaia> e il figlio.", "Chi fa il pane.", "yes", "F"),
    ("2", "a2", "Set-G", "Mr Field, the speaker, left.", "L'oratore, Field.", "Chi ha parlato, Field.", "no", "M"),
    ("3", "a3", "Set-N", 'They said "no".', "I cittadini hanno detto no.", "La cittadinanza ha detto no.", "", ""),
)
Rows = tuple[tuple[str, ...], ...]


def _tsv(rows: Rows = MGENTE, header: tuple[str, ...] = HEADER) -> str:
    return "".join("\t".join(row) + "\n" for row in (header, *rows))


def _changed(number: int, column: str, value: str) -> Rows:
    """The rows with one cell changed."""
    cell = HEADER.index(column)
    row = MGENTE[number]
    return (*MGENTE[:number], (*row[:cell], value, *row[cell + 1 :]), *MGENTE[number + 1 :])


def _mgente(path: Path, content: str) -> list[gendermark.Item]:
    path.write_text(content, encoding="utf-8")
    return list(gendermark.items("uncertainty", "it", data=f"mgente:{path}").items)


def test_rows_of_mgente_are_items(tmp_path: Path) -> None:
    items = _mgente(tmp_path / "a.tsv", _tsv())
    assert [(item.item_id, item.index) for item in items] == [("mgente-1", 0), ("mgente-2", 1), ("mgente-3", 2)]
    assert [item.expected for item in items] == ["feminine", "masculine", "neutral"]
    assert [item.tags["source"] for item in items] == ["unambiguous", "unambiguous", "ambiguous"]
    assert [item.tags["set"] for item in items] == ["Set-G", "Set-G", "Set-N"]
    assert items[0].source == "The baker left."
    assert items[0].tags["reference_gendered"] == "La fornaia e il figlio."
    assert items[0].tags["gendered_terms"] == "fornaia"
    assert items[0].tags["reference_neutral"] == "Chi fa il pane."
    assert len({item.group_id for item in items}) == 3


def test_formats_of_mgente_say_the_same(tmp_path: Path) -> None:
    expected = _mgente(tmp_path / "a.tsv", _tsv())
    quoted = (",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in (HEADER, *MGENTE))
    assert _mgente(tmp_path / "a.csv", "\ufeff" + "\r\n".join(quoted)) == expected
    objects = [dict(zip(HEADER, row, strict=True)) for row in MGENTE]
    rows = [{**row, "ID": int(row["ID"]), "GENDER": row["GENDER"] or None} for row in objects]
    assert _mgente(tmp_path / "a.jsonl", "\n\n".join(map(json.dumps, rows))) == expected
    # Spreadsheets quote a cell of a TSV that has quotation marks, and double those.
    assert _mgente(tmp_path / "a.tsv", _tsv(_changed(2, "SRC", '"They said ""no""."'))) == expected
    assert _mgente(tmp_path / "a.tsv", _tsv(_changed(2, "SRC", '"We go."')))[2].source == '"We go."'
    # Names and values in any case.
    header = ("id", "europarl_id", "Set", " src ", "ref_g", "Ref N", "common", "gender")
    lower = tuple((*row[:2], row[2].lower().replace("-", "_"), *row[3:7], row[7].lower()) for row in MGENTE)
    assert _mgente(tmp_path / "a.tsv", _tsv(lower, header)) == expected
    words = tuple((*row[:2], row[2][-1], *row[3:7], {"F": "Female", "M": "male"}.get(row[7], "-")) for row in MGENTE)
    assert _mgente(tmp_path / "a.tsv", _tsv(words)) == expected


def test_several_neutral_references(tmp_path: Path) -> None:
    header = ("ID", "SET", "SRC", "REF-G", "REF-N1", "REF-N2", "REF-N3", "GENDER")
    (item,) = _mgente(tmp_path / "a.tsv", _tsv((("1", "Set-N", "s", "g", "one", "two", "", ""),), header))
    neutral = {name: text for name, text in item.tags.items() if name.startswith("reference_neutral")}
    assert neutral == {"reference_neutral": "one", "reference_neutral_2": "two"}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.tsv", _tsv(_changed(1, "SET", "Set-X")), "line 3: .*'Set-X'; available: Set-G, Set-N"),
        ("a.tsv", _tsv(_changed(1, "GENDER", "")), "line 3: .*gender ''; available: masculine, feminine"),
        ("a.tsv", _tsv(_changed(0, "GENDER", "x")), "line 2: .*gender 'x'; available: masculine, feminine"),
        ("a.tsv", _tsv(_changed(2, "SRC", " ")), "line 4: .*without a source"),
        ("a.tsv", _tsv(_changed(2, "ID", "")), "line 4: .*without an id"),
        ("a.tsv", _tsv(_changed(2, "REF-G", "")), "line 4: .*without a gendered"),
        ("a.tsv", _tsv(_changed(2, "REF-N", "")), "line 4: .*without a neutral"),
        ("a.tsv", _tsv(_changed(2, "ID", "1")), "line 4: .*'1' of line 2"),
        ("a.tsv", _tsv((MGENTE[0], MGENTE[1][:5])), "line 3: .*5 cells.* 8"),
        ("a.tsv", _tsv(()), "has no rows"),
        ("a.tsv", "", "has no rows"),
        ("a.jsonl", "", "has no rows"),
        ("a.tsv", "SRC\tREF\na\tb\n", "'ID'.*available: SRC, REF"),
        ("a.csv", "ID,SET,SRC,REF-G,GENDER\n1,a,b,c,d\n", "'REF-N'.*available: ID, SET"),
        ("a.tsv", "ID\tSET\tSRC\tSRC\n", "line 1: .*two columns 'SRC'"),
        ("a.jsonl", '{"ref g": "a", "REF-G": "b"}\n', "line 1: .*two columns for 'REF-G'"),
        ("a.jsonl", "{}\n", "line 1: .*'ID'.*available: none"),
        ("a.jsonl", "[1]\n", "line 1: is not a JSON object"),
        ("a.jsonl", '{"SRC": ["s"]}\n', "line 1: .*'SRC'"),
        ("a.csv", 'ID,SET,SRC,REF-G,REF-N,GENDER\n1,Set-G,"s,\nt",g,n,F\n2,Set-X,s,g,n,F\n', "line 4: .*'Set-X'"),
        ("a.csv", 'ID,SET,SRC,REF-G,REF-N,GENDER\n1,Set-N,"s,g,n,\n', "line 2: is not CSV"),
    ],
)
def test_refusals_of_mgente(tmp_path: Path, name: str, content: str, words: str) -> None:
    with pytest.raises(BadFile, match=words) as caught:
        _mgente(tmp_path / name, content)
    assert str(caught.value).startswith(str(tmp_path / name))
