"""The user's own sentences: `--data file:FILE`, `--data mgente:FILE`, and the formats of `data convert`.

`file:` is one format for all benchmarks, a table with a header (`.csv`, `.tsv`, `.xlsx`) or JSON lines (`.jsonl`). Each
benchmark names the columns it needs and ignores others; see docs/own-data.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gendermark.errors import BadFile, UserError
from gendermark.io.disk_list import stored
from gendermark.io.tables import Record, read_records
from gendermark.io.textfiles import content_hash, each_line, printable
from gendermark.records import Gender, Item

_GENDERS = {
    **dict.fromkeys(("masculine", "male", "m"), Gender.MASCULINE),
    **dict.fromkeys(("feminine", "female", "f"), Gender.FEMININE),
    **dict.fromkeys(("neutral", "n"), Gender.NEUTRAL),
}


@dataclass(frozen=True)
class OwnRow:
    path: str
    line: int
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells.get(column, "")

    def problem(self, what: str) -> BadFile:
        return BadFile(self.path, what, line=self.line)

    def gender(self, allowed: Sequence[Gender] = tuple(Gender)) -> Gender:
        found = _GENDERS.get(self["gender"].casefold())
        if found is None or found not in allowed:
            known = ", ".join(gender.value for gender in allowed)
            raise self.problem(f"has the gender {self['gender']!r}; available: {known}")
        return found

    def one_of(self, column: str, known: Sequence[str], default: str) -> str:
        value = self[column].casefold() or default
        if value not in known:
            raise self.problem(f"has the {column} {self[column]!r}; available: {', '.join(known)}")
        return value


def file_of(data: str) -> str:
    kind, _, path = data.partition(":")
    return path if kind == "file" else ""


def fingerprint(data: str) -> str:
    """Name the content of own data for `ItemSet.origin`; empty for other data. The file need not be readable."""
    kind, colon, path = data.partition(":")
    return f"{kind}-{content_hash(path)[:8]}" if colon else ""


def check_unchanged(data: str, origin: str, where: str) -> None:
    """Refuse own data that are not a run's before reading them: a folder from others could name any file."""
    if fingerprint(data) not in origin:
        raise UserError(f"{where}: {data} is not the data of this run ({printable(origin)}); run it again")


def read_own(path: str, needed: Sequence[str], without_header: Sequence[str] = ()) -> tuple[Sequence[OwnRow], str]:
    """The rows, and a name of the content.

    `without_header`: the columns of tab-separated lines that begin without a header; the last ones may be missing.
    """
    rows = stored(_own_rows(path, needed, without_header))
    if not rows:
        raise BadFile(path, f"has no sentence; give a header and a row for each ({', '.join(needed)})")
    return rows, fingerprint(f"file:{path}")


def _own_rows(path: str, needed: Sequence[str], without_header: Sequence[str]) -> Iterator[OwnRow]:
    for line, record in _lines(path, without_header) if without_header else read_records(path):
        cells = {}
        for name, value in record.items():
            if not isinstance(value, str | None):
                raise BadFile(path, f"has {value!r} where a text is expected", line=line)
            cells[name.strip().casefold()] = " ".join((value or "").split())
        row = OwnRow(path, line, cells)
        if missing := [column for column in needed if column not in cells]:
            raise row.problem(f"has no column {' or '.join(missing)}; it has {', '.join(cells) or 'none'}")
        for column in needed:
            if not row[column]:
                raise row.problem(f"has no {column}")
        yield row


def _lines(path: str, columns: Sequence[str]) -> Iterator[Record]:
    is_table = Path(path).suffix.lower() in (".csv", ".jsonl", ".xlsx")
    first = [] if is_table else [name.strip().casefold() for name in next(each_line(path), "").split("\t")]
    if is_table or not {*columns}.isdisjoint(first):
        yield from read_records(path)
        return
    for number, line in enumerate(each_line(path), start=1):
        if line.strip():
            yield number, dict(zip(columns, line.split("\t"), strict=False))


# -- mGeNTE (Savoldi et al. 2025): English sentences with a gendered and a neutral translation. The corpus is gated, so
# nothing of it is here: its users accept its terms and download the file of a language. Half of the sentences tell the
# gender of the people in them (Set-G), half do not (Set-N).

_COLUMNS = ("ID", "SET", "SRC", "REF-G", "REF-N", "GENDER")
"""Case, and the difference between -, _ and space, are ignored; some files have several neutral references, REF-N1,
REF-N2 ..."""
_NEUTRAL = re.compile(r"ref-n-?\d*")
_ANNOTATED = re.compile(r"<([^<>]+)>")
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')


def read_mgente(path: Path | str) -> list[Item]:
    """The rows of an mGeNTE file as items.

    The expected gender is that of the people in Set-G, and neutral in Set-N. Tags: `set` (Set-G, Set-N), `source`
    (unambiguous, ambiguous), `reference_gendered`, `reference_neutral` (further ones: `reference_neutral_2` ...); and
    `gendered_terms`, if words of the gendered reference are annotated in angle brackets. Every row is its own group.
    """
    items: list[Item] = []
    line_of: dict[str, int] = {}
    for line, record in read_records(path):
        row = _mgente_row(str(path), line, record)
        if (other := line_of.setdefault(row["id"], line)) != line:
            raise row.problem(f"has the id {row['id']!r} of line {other}; each row needs its own")
        items.append(_mgente_item(row, len(items)))
    if not items:
        raise BadFile(path, "has no rows; expected a header and a row for each sentence, or a JSON object for each")
    return items


def _mgente_row(path: str, line: int, record: Mapping[str, object]) -> OwnRow:
    """Cells by the column names of mGeNTE in lower case; others are dropped."""
    is_tsv = Path(path).suffix.lower() not in (".csv", ".jsonl", ".json")
    cells: dict[str, str] = {}
    row = OwnRow(path, line, cells)
    for name, value in record.items():
        key = _key(name)
        if key.upper() not in _COLUMNS and not _NEUTRAL.fullmatch(key):
            continue
        if key in cells:
            raise row.problem(f"has two columns for {name!r}; give each its own name")
        if isinstance(value, bool) or not isinstance(value, str | int | None):
            raise row.problem(f"has no text under {name!r}")
        text = "" if value is None else str(value).strip()
        # Some programs put quotation marks around cells with quotation marks, doubling those inside.
        quoted = _QUOTED.fullmatch(text) if is_tsv else None
        cells[key] = quoted[1].replace('""', '"') if quoted and '""' in quoted[1] else text
    for column in _COLUMNS:
        if not any(key.rstrip("-0123456789") == column.lower() for key in cells):
            raise row.problem(f"has no column {column!r}, as mGeNTE has; available: {', '.join(record) or 'none'}")
    return row


def _mgente_item(row: OwnRow, index: int) -> Item:
    neutral = [text for name, text in row.cells.items() if _NEUTRAL.fullmatch(name) and text]
    known = {"an id": row["id"], "a source": row["src"], "a gendered reference": row["ref-g"]}
    for what, text in {**known, "a neutral reference": "".join(neutral)}.items():
        if not text:
            raise row.problem(f"has a row without {what}")
    letter = _key(row["set"]).removeprefix("set").strip("-")
    if letter not in ("g", "n"):
        raise row.problem(f"is of the set {row['set']!r}; available: Set-G, Set-N")
    is_open = letter == "n"
    gender = Gender.NEUTRAL if is_open else row.gender((Gender.MASCULINE, Gender.FEMININE))
    tags = {
        "set": f"Set-{letter.upper()}",
        "source": "ambiguous" if is_open else "unambiguous",
        "reference_gendered": _ANNOTATED.sub(r"\1", row["ref-g"]),
        **({"gendered_terms": " ".join(terms)} if (terms := _ANNOTATED.findall(row["ref-g"])) else {}),
        "reference_neutral": neutral[0],
        **{f"reference_neutral_{number}": text for number, text in enumerate(neutral[1:], start=2)},
    }
    item_id = f"mgente-{row['id']}"
    return Item(item_id, index, row["id"], row["src"], gender, tags, contrast=item_id)


def _key(name: str) -> str:
    return re.sub(r"[\s_-]+", "-", name.strip().lower())


# -- Winograd-style files, as their authors publish them, converted to lines of WinoMT. WinoBias (Zhao et al. 2018)
# marks the person and the pronouns with brackets; Winogender (Rudinger et al. 2018) says in the id of a sentence who is
# meant. WinoMT has gender, 0-based index of the entity's first noun word, sentence and entity without its article.

_GENDER_OF_PRONOUN = {
    **dict.fromkeys(("he", "him", "his", "himself"), "male"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "female"),
    **dict.fromkeys(("they", "them", "their", "theirs", "themselves", "themself"), "neutral"),
}
_ARTICLES = ("the", "a", "an")
_NUMBER = re.compile(r"\d+[.)]?\s+")
_BRACKET = re.compile(r"\[([^\[\]]*)\]")


def convert_winobias(line: str, path: Path, number: int) -> str:
    """Convert `12 [The baker] thanked the guard because [he] was kind.` (WinoBias) to a WinoMT line.

    The first bracket is the entity, the others are pronouns of one gender.
    """
    # One WinoBias sentence has a double space, which would shift the index.
    text = " ".join(line.split())
    text = text[found.end() :] if (found := _NUMBER.match(text)) else text
    brackets = [" ".join(content.split()) for content in _BRACKET.findall(text)]
    if text.count("[") != len(brackets) or text.count("]") != len(brackets):
        raise BadFile(path, "has a bracket that is not closed or not opened", line=number)
    if len(brackets) < 2:
        raise BadFile(
            path,
            f"has {len(brackets)} of the two brackets that a WinoBias line needs: [the entity], then [its pronoun]",
            line=number,
        )
    entity, *pronouns = brackets
    if entity.lower() in _GENDER_OF_PRONOUN:
        raise BadFile(path, f"has the pronoun [{entity}] in its first bracket, where the entity belongs", line=number)
    for pronoun in pronouns:
        if pronoun.lower() not in _GENDER_OF_PRONOUN:
            raise BadFile(path, f"has [{pronoun}] where a pronoun is expected (he, her, themselves ...)", line=number)
    genders = {_GENDER_OF_PRONOUN[pronoun.lower()] for pronoun in pronouns}
    if len(genders) > 1:
        raise BadFile(path, f"has pronouns of several genders: {', '.join(pronouns)}", line=number)
    words = entity.split(" ")
    has_article = words[0].lower() in _ARTICLES
    noun = " ".join(words[has_article:])
    if not noun:
        raise BadFile(path, f"has no entity in its first bracket, [{entity}]", line=number)
    sentence = " ".join(_BRACKET.sub(r"\1", text).split())
    # Spaces just inside the bracket, "[ the baker]", are already removed; those before it are single.
    index = text[: text.index("[")].count(" ") + has_article
    return f"{genders.pop()}\t{index}\t{sentence}\t{noun}"


def convert_winogender(line: str, path: Path, number: int) -> str:
    """Convert `baker.guest.1.male.txt<TAB>The baker told the guest that he can wait.` (Winogender) to a WinoMT line.

    The id holds occupation, participant (`someone` in half of the sentences), referent (0 the occupation, 1 the
    participant) and gender.
    """
    fields = line.split("\t")
    if len(fields) != 2:
        raise BadFile(path, f"has {len(fields)} fields, not the two of Winogender: id, tab, sentence", line=number)
    parts = fields[0].strip().removesuffix(".txt").split(".")
    if len(parts) != 4 or not all(parts):
        raise BadFile(path, f"has the id {fields[0].strip()!r}, not one like baker.guest.1.male.txt", line=number)
    occupation, participant, pointer, gender = parts
    if pointer not in ("0", "1"):
        raise BadFile(path, f"points to {pointer!r}; 0 is the occupation, 1 the participant", line=number)
    if gender not in _GENDER_OF_PRONOUN.values():
        raise BadFile(path, f"has the gender {gender!r}, not male, female or neutral", line=number)
    entity = participant if pointer == "1" else occupation
    sentence = " ".join(fields[1].split())
    found = re.search(rf"(?<!\w){re.escape(entity)}(?!\w)", sentence, re.IGNORECASE)
    if found is None:
        raise BadFile(path, f"does not have {entity!r}, which its id names, in its sentence", line=number)
    return f"{gender}\t{sentence[: found.start()].count(' ')}\t{sentence}\t{entity}"
