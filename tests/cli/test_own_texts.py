"""`audit` of texts that belong to no benchmark: who is mentioned, and what becomes of their gender."""

from __future__ import annotations

import base64
import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("indexed_once")
PAIRS = (
    ("The waitress lost her keys.", "La camarera perdió sus llaves."),
    ("My mother is a doctor.", "Mi madre es médica."),
    ("The nurse said she was tired.", "El enfermero dijo que estaba cansado."),
    ("Only the owner can invite members.", "Solo el propietario puede invitar a miembros."),
    ("The user was deleted.", "El usuario fue eliminado."),
    ("You are not connected.", "No estás conectado."),
    ("Open the file.", "Abra el archivo."),
)


def _csv(rows: Any = PAIRS, header: str = "en,es") -> str:
    return "\n".join([header, *(f'"{source}","{text}"' for source, text in rows)])


NAMED = [(f"The user met {name} {n}.", f"El usuario vio a {name} {n}.") for n, name in enumerate("ABCDEFGHIJKL", 100)]
SHIFTED = [(NAMED[n][0], NAMED[(n + 3) % len(NAMED)][1]) for n in range(len(NAMED))]
JOBS = {
    "user": "usuario", "editor": "editora", "player": "jugador", "owner": "propietaria", "author": "autor",
    "nurse": "enfermera", "doctor": "médico", "teacher": "profesora", "customer": "cliente", "visitor": "visitante",
    "translator": "traductora", "judge": "juez",
}  # fmt: skip
OTHER_JOBS = [
    (f"The {job} left.", f"Se fue: {other}.") for job, other in zip(JOBS, reversed(JOBS.values()), strict=True)
]
PO = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Language: es\\n"

""" + "\n".join(f'#: src/a.c:{n}\nmsgid "{source}"\nmsgstr "{text}"\n' for n, (source, text) in enumerate(PAIRS))
XLIFF = (
    '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" target-language="es"><body>'
    + "".join(
        f'<trans-unit id="{n}"><source>{source}</source><target><g id="1">{text}</g></target></trans-unit>'
        for n, (source, text) in enumerate(PAIRS)
    )
    + "</body></file></xliff>"
)
FILES = {
    "texts.csv": _csv(),
    "named.csv": _csv(header="source,translation"),
    "tabs.tsv": "\n".join(["id\tEnglish\tSpanish", *(f"{n}\t{s}\t{t}" for n, (s, t) in enumerate(PAIRS))]),
    "lines.txt": "\n".join(f"{source} ||| {text}" for source, text in PAIRS),
    "messages.po": PO,
    "messages.xlf": XLIFF,
}


def _audited(cli: Any, tmp_path: Path, name: str, content: str) -> dict[str, Any]:
    (tmp_path / name).write_text(content, encoding="utf-8")
    outcome = cli("audit", tmp_path / name, "-o", tmp_path / "page.html", "--json")
    assert outcome.exit_code == 0, outcome.err
    (one,) = json.loads(outcome.out)["audited"]
    return one


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_people(cli: Any, tmp_path: Path, name: str) -> None:
    one = _audited(cli, tmp_path, name, FILES[name])
    result = one["result"]
    assert (result["benchmark"], result["language"]) == ("own-text", "es")
    values = {(e["metric"], e["slice"]): e for e in result["estimates"]}
    assert values["kept", "feminine"]["n_total"] == 3
    assert values["kept", "feminine"]["value"] == pytest.approx(100 * 2 / 3)
    assert {verdict["state"] for verdict in result["verdicts"]} == {"too_few"}


def test_the_people_are_a_table_for_reviewers_with_suspected_errors_first(cli: Any, tmp_path: Path) -> None:
    _audited(cli, tmp_path, "texts.csv", FILES["texts.csv"])
    with (tmp_path / "page.people.csv").open(encoding="utf-8-sig", newline="") as file:
        first, *others = csv.DictReader(file)
    assert (first["person"], first["source gender"], first["shown gender"]) == ("nurse", "feminine", "masculine")
    shown = {row["person"]: row["shown gender"] for row in others}
    assert shown["owner"] == shown["user"] == shown["You"] == "masculine"
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    packed = json.loads(page.partition('id="rows">')[2].partition("</script>")[0])["rows"]
    assert "El enfermero" in gzip.decompress(base64.b64decode(packed)).decode()


def test_numbers_of_people_agree_wherever_they_stand(cli: Any, tmp_path: Path) -> None:
    """Of three women one keeps her gender, one gets words of both, one shows none and is in no rate."""
    mixed = ("She is the administrator of this group.", "Ella es el administrador de este grupo.")
    not_shown = ("Her keys were lost.", "Se perdieron sus llaves.")
    kept = ("The king greeted his daughter.", "El rey saludó a su hija.")
    one = _audited(cli, tmp_path, "texts.csv", _csv([mixed, not_shown, kept]))
    women = [e for e in one["result"]["estimates"] if (e["metric"], e["slice"]) == ("kept", "feminine")]
    n = {(e["metric"], e["slice"]): (e["n_judged"], e["n_total"]) for e in one["result"]["estimates"]}
    assert n["kept", "feminine"] == (2, 2)
    assert n["kept", "masculine"] == (1, 1)
    assert n["kept", "all"] == n["kept_gap", "all"] == (3, 3)
    assert women[0]["value"] == 50.0
    assert all(n_judged <= n_total for n_judged, n_total in n.values())
    outcome = cli("audit", tmp_path / "texts.csv", "-o", tmp_path / "page.html")
    said = " ".join((outcome.out + outcome.err).split())
    assert "4 people whose gender the source specifies (3 women and 1 man)" in said
    assert "2 with the correct gender and 1 with words of both genders; left out of the rates: 1 with no" in said
    assert "1 of 2 women and 1 of 1 man" in said
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "1 suspected gender error (words of both genders) among the 4 people" in page
    assert "administrador" in page.split('id="measured"')[0], "the suspected error stands beside its finding"
    assert 'class="gap"' not in page, "no bar where it is too few to tell"
    assert '<td class="amount"><span class="interval">too few to tell' in page


def test_a_table_in_the_encoding_of_excel_is_read(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "excel.csv").write_bytes(_csv().replace(",", ";").encode("cp1252"))
    outcome = cli("audit", tmp_path / "excel.csv", "-o", tmp_path / "page.html")
    assert outcome.exit_code == 0
    assert "Windows-1252" in outcome.out + outcome.err


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("shifted.csv", _csv(SHIFTED), "behind theirs"),
        ("jobs.csv", _csv(OTHER_JOBS), "do not belong"),
        ("nobody.csv", _csv([("Open the file.", "Abra el archivo."), ("Print it.", "Imprímalo.")]), "no person"),
        ("english.csv", "en\nThe user left.\nThe owner came.\n", "no sources"),
        ("polish.xlf", XLIFF[:200], "XLIFF"),
        ("large.xlf", XLIFF + " " * 10_000_000, "more than 10 MB"),
        ("large.po", PO + "#\n" * 5_000_000, "more than 10 MB"),
        ("long.po", PO + '"a"\n' * 3_000, "2,000 lines"),
        ("wide.csv", "source," * 20_000 + "\n", "16,384 columns"),
        (
            "dutch.csv",
            _csv([("The user left.", "Dat is niet het boek van een man")] * 3, "source,translation"),
            "Dutch",
        ),
    ],
)
def test_what_cannot_be_read_is_named(cli: Any, tmp_path: Path, name: str, content: str, word: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    outcome = cli("audit", tmp_path / name, "-o", tmp_path / "page.html")
    assert outcome.exit_code == 2
    assert word in outcome.err
    assert name in outcome.err


def test_a_target_language_is_not_asked_for(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text(_csv(), encoding="utf-8")
    outcome = cli("audit", tmp_path / "texts.csv", "--to", "es")
    assert outcome.exit_code == 2
    assert "the language code (es)" in outcome.err
