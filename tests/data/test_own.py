"""Sentences of the user's own, in one format for all benchmarks."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import gendermark
from gendermark import registry
from gendermark.errors import UserError

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
    # Where the source says nothing, a right system says nothing either.
    assert [j.expected for j in result.judgements] == [j.observed for j in result.judgements]
    assert len(result.judgements) == len(ROWS[name])


def test_variants_of_one_s_own_are_told_apart(tmp_path: Path) -> None:
    path = _write(tmp_path / "mine.csv", ROWS["gate-variants"])
    for text, gender in (("La enfermera está muy cansada.", "feminine"), ("El enfermero está cansado.", "masculine")):
        result = gendermark.score("gate-variants", [text], to="es", data=f"file:{path}")
        assert [judgement.observed for judgement in result.judgements] == [gender]
    both = ["La enfermera está cansada.", "El enfermero está cansado."]
    offered = gendermark.score("gate-alternatives", [both], to="es", data=f"file:{path}")
    assert offered.judgements[0].is_correct
    rewritten = gendermark.score("gate-rewriting", [both[1], both[0]], to="es", data=f"file:{path}")
    assert all(judgement.is_correct for judgement in rewritten.judgements)


def test_every_benchmark_that_reads_it_is_described() -> None:
    """And in docs/own-data.md."""
    text = (Path(__file__).parents[2] / "docs" / "own-data.md").read_text(encoding="utf-8")
    readers = {name for name, one in registry.every("benchmark") if "file:FILE" in one.choices_of("data")}
    assert readers == set(ROWS)
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


def test_own_sentences_of_winomt_have_no_subject_or_object(tmp_path: Path) -> None:
    """Only in published and bundled ones the first person is the subject; "On Monday the cook ..." is no object."""
    path = tmp_path / "mine.csv"
    path.write_text("source,gender,entity\nOn Monday the cook said that she was late.,f,cook\n", encoding="utf-8")
    result = gendermark.score("winomt", ["El lunes la cocinera dijo que llegaba tarde."], "es", data=f"file:{path}")
    assert not {"subject", "object"} & {estimate.slice for estimate in result.estimates}
    core = gendermark.items("winomt", "es", data="core")
    assert {item.tags["role"] for item in core.items} == {"subject", "object"}


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
        ("terms", {"source": "She came.", "terms": "una"}, "is not annotated rightly: a term is written"),
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
