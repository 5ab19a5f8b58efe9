"""Human validation: a sheet of translations for people to read, and how far they agree with each other and the judge.

The columns are those of Stanovsky, Smith and Zettlemoyer (2019), so that their sheets can be read too. What the judge
said is nowhere in a sheet, nor in the order of its rows.
"""

from __future__ import annotations

import csv
import hashlib
import io
import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from gendermark import statistics
from gendermark.errors import BadFile, UnknownName, UserError
from gendermark.metrics.metric import Resampling
from gendermark.records import Estimate, Gender, Judgement, Verdict
from gendermark.result import Result
from gendermark.runs import folder
from gendermark.textfiles import read_jsonl, read_text, write_text

COLUMNS = ("Index", "Entity", "Sentence", "Find entity? [Y/N]", "Gender? [M/F/N]", "Comments")
SOURCE_COLUMN = "Source"
NOT_FOUND = "not found"
"""What a person answers with N under "Find entity?", and a judge by giving no gender."""

_ENTITY_TAGS = ("entity", "occupation", "lexeme")
_LABELS = tuple(Gender)
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
_DELIMITERS = (",", ";", "\t")
_SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")
_HEADERS = {
    "index": ("index", "idx", "row"),
    "entity": ("entity",),
    "sentence": ("sentence", "translation"),
    "found": ("find entity", "found entity", "entity found", "find the entity"),
    "gender": ("gender",),
}
_COLUMN_OF = {name: column for column, names in _HEADERS.items() for name in names}
_GENDER_OF = {
    **dict.fromkeys(("m", "male", "masc", "masculine"), Gender.MASCULINE),
    **dict.fromkeys(("f", "female", "fem", "feminine"), Gender.FEMININE),
    **dict.fromkeys(("n", "neutral", "neut", "neuter"), Gender.NEUTRAL),
}
_FOUND_OF = {"y": True, "yes": True, "n": False, "no": False}
# What spreadsheet programs put in place of what was there.
_AS_TYPED = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "\u00a0": " ", "…": "..."})


@dataclass(frozen=True, slots=True)
class TranslatedText:
    """One line of a cell's translations."""

    source: str
    text: str


@dataclass(frozen=True, slots=True)
class SampleRow:
    """What one row of a sheet shows."""

    index: int
    entity: str
    sentence: str
    source: str


@dataclass(frozen=True, slots=True)
class SheetRow:
    """What a person wrote in one row. Neither `found` nor `gender` is set where the cells were left empty."""

    line: int
    index: int | None
    entity: str
    sentence: str
    found: bool | None = None
    gender: Gender | None = None
    problem: str = ""
    """Why the answer is not one: two at once, or not understood."""

    @property
    def is_blank(self) -> bool:
        return self.gender is None and self.found is not False and not self.problem


@dataclass(frozen=True, slots=True)
class Sheet:
    """A person's sheet, as it was filled in."""

    path: str
    rows: tuple[SheetRow, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """A row that could not be used, and why."""

    line: int
    problem: str


@dataclass(frozen=True, slots=True)
class SheetSummary:
    """What a sheet contributed."""

    name: str
    path: str
    n_rows: int
    n_answers: int
    """Rows with one gender."""
    n_blank: int
    n_not_found: int
    """Rows where the person did not find the entity; they have no gender, whatever the other cell says."""
    n_not_found_by_judge: int
    """Those of them that the judge gave no gender either."""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A translation that a person and the judge read differently."""

    index: int
    entity: str
    translation: str
    person: str
    answer: str
    automatic: str
    evidence: tuple[str, ...]
    """The words that decided the judge."""


@dataclass(frozen=True)
class AgreementReport:
    """How far people agree with each other, and with the judge.

    Slices: `a ~ b` two people; `people` all of them; `judge ~ a` the judge and one person; `judge ~ people` the judge
    and the majority; `judge ~ people, weighted` the same, weighted to the mix of the whole run.
    """

    cell: str
    system: str
    signature: str
    resampling: str
    sheets: tuple[SheetSummary, ...]
    estimates: tuple[Estimate, ...]
    disagreements: tuple[Disagreement, ...] = field(repr=False)
    warnings: tuple[str, ...] = ()

    def estimate(self, metric: str, slice: str) -> Estimate:  # noqa: A002 (the word of `Result.estimate`)
        """The estimate of one metric for one slice."""
        for found in self.estimates:
            if (found.metric, found.slice) == (metric, slice):
                return found
        known = ", ".join(f"{e.metric}:{e.slice}" for e in self.estimates)
        raise KeyError(f"no estimate {metric}:{slice}; there is: {known}")

    def to_json(self) -> dict[str, Any]:
        return {
            "cell": self.cell,
            "system": self.system,
            "sheets": [asdict(sheet) for sheet in self.sheets],
            "estimates": [estimate.to_json() for estimate in self.estimates],
            "disagreements": [asdict(one) for one in self.disagreements],
            "warnings": list(self.warnings),
            "resampling": self.resampling,
            "signature": self.signature,
        }


def read_cell(directory: Path, cell: str = "") -> tuple[Result, dict[str, TranslatedText]]:
    """A cell of a finished run, and its translations by item id; the name may be left out where there is one cell."""
    results = {result.cell: result for result in folder.read_results(directory)}
    if not cell:
        if len(results) != 1:
            raise UserError(f"{directory} has {len(results)} cells; say which: --cell {' | '.join(results)}")
        cell = next(iter(results))
    if cell not in results:
        raise UnknownName(f"cell of {directory}", cell, results)
    path = directory / cell / "translations.jsonl"
    texts: dict[str, TranslatedText] = {}
    for line, row in read_jsonl(path):
        item_id, source, text = row.get("item_id"), row.get("source"), row.get("translation")
        if not isinstance(item_id, str) or not isinstance(source, str) or not isinstance(text, str | None):
            raise BadFile(path, "is not a translation of a run (item_id, source, translation); run it again", line=line)
        texts[item_id] = TranslatedText(source, text or "")
    for judgement in results[cell].judgements:
        if judgement.item_id not in texts:
            raise BadFile(path, f"does not have the translation of {judgement.item_id}; run it again")
    return results[cell], texts


# -- the sample ------------------------------------------------------------------------------------------------------


def entity_of(judgement: Judgement) -> str:
    """What a person is to look for: entity, occupation or lexeme, whichever the benchmark has."""
    return next((judgement.tags[tag] for tag in _ENTITY_TAGS if judgement.tags.get(tag)), "")


def draw_sample(result: Result, translations: Mapping[str, TranslatedText], n: int, seed: int) -> list[SampleRow]:
    """Up to `n` translations, as many of each expected and observed gender (or none) as there are, in random order.

    Empty translations are left out: there is nothing to read.
    """
    strata: dict[tuple[str, str], list[Judgement]] = defaultdict(list)
    seen = set()
    for judgement in result.judgements:
        # Where parts have rows of their own, an index can stand twice; a row must be recognised when it comes back.
        shown = (judgement.index, entity_of(judgement), translations[judgement.item_id].text)
        if shown[-1].strip() and shown not in seen:
            seen.add(shown)
            strata[_stratum(judgement)].append(judgement)
    generator = random.Random(seed)
    chosen: list[Judgement] = []
    by_size = sorted(strata.items(), key=lambda pair: (len(pair[1]), pair[0]))
    for place, (_, members) in enumerate(by_size):
        # Small strata first: what they cannot give is left for the larger ones.
        share = (n - len(chosen)) // (len(by_size) - place)
        chosen += generator.sample(members, min(share, len(members)))
    # The order depends on seed and ids alone, so it cannot tell what the judge said.
    chosen.sort(key=lambda judgement: hashlib.sha256(f"{seed}/{judgement.item_id}".encode()).digest())
    texts = ((judgement, translations[judgement.item_id]) for judgement in chosen)
    return [SampleRow(judgement.index, entity_of(judgement), text.text, text.source) for judgement, text in texts]


def write_sheet(path: Path | str, rows: Iterable[SampleRow], *, with_source: bool = False) -> None:
    """A sheet to be filled in: CSV with a byte order mark, which spreadsheet programs need to see that it is UTF-8."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow((*COLUMNS, SOURCE_COLUMN) if with_source else COLUMNS)
    for row in rows:
        cells = (row.index, _inert(row.entity), _inert(row.sentence), "", "", "")
        writer.writerow((*cells, _inert(row.source)) if with_source else cells)
    write_text(path, "\ufeff" + buffer.getvalue())


def has_answers(path: Path | str) -> bool:
    """Whether a file is a sheet that somebody has written answers into."""
    try:
        return bool(read_sheet(path).rows)
    except UserError:
        return False


def _stratum(judgement: Judgement) -> tuple[str, str]:
    return str(judgement.expected), str(_observed(judgement))


def _observed(judgement: Judgement) -> Gender | None:
    return judgement.observed if judgement.verdict is Verdict.JUDGED else None


def _inert(cell: str) -> str:
    """With an apostrophe before what a spreadsheet program would run as a formula."""
    return f"'{cell}" if cell.lstrip().startswith(_FORMULA_STARTS) else cell


# -- reading sheets --------------------------------------------------------------------------------------------------


def read_sheet(path: Path | str) -> Sheet:
    """A filled sheet: ours or a published one; comma, semicolon or tab; with or without index and empty columns."""
    if Path(path).suffix.lower() in _SPREADSHEETS:
        raise BadFile(path, "is a spreadsheet; save it as CSV (UTF-8)")
    text = read_text(path)
    lines = iter(_best_table(path, text))
    header_line, header = next(lines, (1, []))
    columns = _columns(path, header_line, header)
    rows = [_read_row(path, line, cells, columns, len(header)) for line, cells in lines]
    if all(row.is_blank for row in rows):
        raise UserError(f"no answers in {path} yet; write M, F or N into its column {COLUMNS[4]!r}")
    return Sheet(str(path), tuple(rows))


def _best_table(path: Path | str, text: str) -> list[tuple[int, list[str]]]:
    """The lines that hold anything, cut at whichever separator makes most sense of the header."""
    told = re.match(r"sep=(.)\r?\n", text)  # a line that Excel writes and reads
    if told:
        return [(line + 1, cells) for line, cells in _table(path, text[told.end() :], told[1])]

    def n_known(delimiter: str) -> int:
        header = next((line for line in text.splitlines() if line.strip(f"{delimiter} ")), "")
        return sum(_header_name(cell) in _COLUMN_OF for cell in header.split(delimiter))

    return list(_table(path, text, max(_DELIMITERS, key=n_known)))


def _table(path: Path | str, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            while cells and not cells[-1].strip():
                cells.pop()
            if cells:
                yield line, cells
            line = reader.line_num + 1  # where the next record begins
    except csv.Error as problem:
        raise BadFile(path, f"is not CSV ({problem}); save it again from a spreadsheet program", line=line) from None


def _header_name(cell: str) -> str:
    """`Gender? [M/F/N]`, `gender?` and `GENDER` are one name."""
    return " ".join(re.sub(r'\[.*?\]|\(.*?\)|[?:"\ufeff]', " ", cell).split()).casefold()


def _columns(path: Path | str, line: int, header: Sequence[str]) -> dict[str, int]:
    if not header:
        raise BadFile(path, f"is empty; a sheet begins with the columns {', '.join(COLUMNS)}")
    columns: dict[str, int] = {}
    for place, cell in enumerate(header):
        column = _COLUMN_OF.get(_header_name(cell))
        if column in columns:
            raise BadFile(path, f"has two columns {cell.strip()!r}; leave one", line=line)
        if column:
            columns[column] = place
    if "gender" not in columns:
        raise BadFile(path, f"has no column {COLUMNS[4]!r}; a sheet begins with {', '.join(COLUMNS)}", line=line)
    if not columns.keys() & {"index", "sentence"}:
        raise BadFile(path, "has neither a column 'Index' nor 'Sentence' to tell which item a row is", line=line)
    return columns


def _read_row(path: Path | str, line: int, cells: Sequence[str], columns: Mapping[str, int], width: int) -> SheetRow:
    if len(cells) > width:
        # Its answers may have moved into other columns.
        raise BadFile(
            path,
            f"has {len(cells)} cells under {width} columns; put sentences that contain the separator in quotes",
            line=line,
        )
    values = {name: cells[place].strip() if place < len(cells) else "" for name, place in columns.items()}
    index = values.get("index", "")
    if index and not re.fullmatch(r"[0-9]{1,15}(\.0+)?", index):
        raise BadFile(path, f"has the index {index!r:.40}, which is not a whole number", line=line)
    if not index and not values.get("sentence"):
        if not values["gender"] and not values.get("found"):
            return SheetRow(line, None, "", "")  # somebody's remark under the table
        raise BadFile(path, "has an answer but neither index nor sentence to tell which item it is", line=line)
    found, gender, problem = _read_answer(values.get("found", ""), values["gender"])
    number = int(index.partition(".")[0]) if index else None
    return SheetRow(line, number, values.get("entity", ""), values.get("sentence", ""), found, gender, problem)


def _read_answer(found: str, gender: str) -> tuple[bool | None, Gender | None, str]:
    """Whether the entity was found, its gender, and what is wrong with the answer."""
    if found and found.casefold() not in _FOUND_OF:
        return None, None, f"{found!r:.40} under {COLUMNS[3]!r} is neither Y nor N; not counted"
    is_found = _FOUND_OF.get(found.casefold())
    if is_found is False or not gender:
        return is_found, None, ""
    given = gender.casefold().strip(" .")
    if given in _GENDER_OF:
        return is_found, _GENDER_OF[given], ""
    named = [_GENDER_OF.get(part) for part in re.split(r"[^\w]+|\bor\b|\band\b", given) if part]
    if len(named) > 1 and all(named):
        return is_found, None, f"{gender!r:.40} is more than one answer; not counted"
    return is_found, None, f"{gender!r:.40} is not M, F or N; not counted"


# -- whose row is it -------------------------------------------------------------------------------------------------


class _Items:
    """Finds the judgement that a row of a sheet is about."""

    def __init__(self, result: Result, translations: Mapping[str, TranslatedText]) -> None:
        self._cell = result.cell
        self._text_of = {item_id: _comparable(text.text) for item_id, text in translations.items()}
        self._by_index: dict[int, list[Judgement]] = defaultdict(list)
        self._by_text: dict[str, list[Judgement]] = defaultdict(list)
        for judgement in result.judgements:
            self._by_index[judgement.index].append(judgement)
            self._by_text[self._text_of[judgement.item_id]].append(judgement)

    def find(self, row: SheetRow, taken: Iterable[str]) -> Judgement | str:
        """The judgement, or why there is none. `taken` are the items of the rows before."""
        sentence = _comparable(row.sentence)
        by_sentence = self._by_text.get(sentence, []) if sentence else []
        found = by_sentence
        if row.index is None and not found:
            return f"its sentence is not a translation of {self._cell} in this run; not counted"
        if row.index is not None:
            found = self._by_index.get(row.index, [])
            if not found:
                return f"index {row.index} is not in {self._cell} of this run; not counted"
            if sentence:
                # Where the two contradict each other, the sentence is what the person has read.
                found = [j for j in found if self._text_of[j.item_id] == sentence] or by_sentence
                if not found:
                    return f"its sentence is not the translation of index {row.index} in this run; not counted"
        if row.entity:
            wanted = _bare(row.entity)
            found = [judgement for judgement in found if _bare(entity_of(judgement)) == wanted] or found
        if len({_observed(judgement) for judgement in found}) > 1:
            return f"several items of {self._cell} fit, which the judge read differently; not counted"
        # Several sources can have one translation: each row of such a sentence is another of them.
        free = [judgement for judgement in found if judgement.item_id not in taken]
        return free[0] if free and row.index != found[0].index else found[0]


def _comparable(text: str) -> str:
    """A sentence without what a spreadsheet program, or our guard against formulas, does to it."""
    plain = " ".join(unicodedata.normalize("NFC", text).translate(_AS_TYPED).split())
    inner = plain.removeprefix("'").lstrip()
    return inner if inner.startswith(_FORMULA_STARTS) else plain


def _bare(entity: str) -> str:
    """Without its article: sheets of 2019 may write "The developer"."""
    return re.sub(r"^(the|an|a) ", "", _comparable(entity).casefold())


@dataclass(frozen=True)
class _Person:
    """One person's answers by item id: a gender, or `None` where the entity was not found."""

    summary: SheetSummary
    answers: Mapping[str, Gender | None]

    @property
    def name(self) -> str:
        return self.summary.name

    @property
    def genders(self) -> dict[str, Gender]:
        return {item_id: gender for item_id, gender in self.answers.items() if gender is not None}


def _match(sheet: Sheet, name: str, items: _Items) -> _Person:
    answers: dict[str, Gender | None] = {}
    line_of: dict[str, int] = {}
    taken: dict[str, Judgement] = {}
    problems: list[Problem] = []
    for row in sheet.rows:
        found = items.find(row, taken)
        if isinstance(found, Judgement):
            taken[found.item_id] = found
        if row.is_blank:
            continue
        if row.problem or isinstance(found, str):
            problems.append(Problem(row.line, row.problem or str(found)))
            continue
        if found.item_id in answers:
            problems.append(
                Problem(row.line, f"answers the item of line {line_of[found.item_id]} again; this one counts")
            )
        answers[found.item_id], line_of[found.item_id] = row.gender, row.line
    if not answers:
        first = problems[0]
        raise BadFile(sheet.path, f"{first.problem}, and no other row could be used either", line=first.line)
    not_found = [taken[item_id] for item_id, gender in answers.items() if gender is None]
    summary = SheetSummary(
        name=name,
        path=sheet.path,
        n_rows=len(sheet.rows),
        n_answers=len(answers) - len(not_found),
        n_blank=sum(row.is_blank for row in sheet.rows),
        n_not_found=len(not_found),
        n_not_found_by_judge=sum(_observed(judgement) is None for judgement in not_found),
        problems=tuple(problems),
    )
    return _Person(summary, answers)


# -- agreement -------------------------------------------------------------------------------------------------------


def agreement(
    result: Result,
    translations: Mapping[str, TranslatedText],
    sheets: Sequence[Sheet],
    resampling: Resampling | None = None,
) -> AgreementReport:
    """People against each other and against the judge.

    Agreement is among items that both sides gave a gender; how many more only one side did stands beside it. The
    people's answer, where there are several, is the majority's; a tie has none.
    """
    if not sheets:
        raise UserError("no sheets were given")
    resampling = resampling or Resampling()
    items = _Items(result, translations)
    people = [_match(sheet, name, items) for sheet, name in zip(sheets, _names(sheets), strict=True)]
    judge = {judgement.item_id: _observed(judgement) for judgement in result.judgements}
    majority, n_ties = _majority(people)

    estimates: list[Estimate] = []
    if len(people) > 1:
        for one, other in combinations(people, 2):
            either = sorted(one.genders.keys() | other.genders.keys())
            raters = [[person.genders.get(item_id) for item_id in either] for person in (one, other)]
            estimates += _of_two(f"{one.name} ~ {other.name}", raters, resampling)
        anyone = sorted({item_id for person in people for item_id in person.genders})
        ratings = [[person.genders.get(item_id) for item_id in anyone] for person in people]
        estimates.append(_alpha("people", ratings, resampling))
    references = {f"judge ~ {person.name}": person.genders for person in people} if len(people) > 1 else {}
    for slice_name, reference in {**references, "judge ~ people": majority}.items():
        answered = sorted(reference)
        raters = [[judge[item_id] for item_id in answered], [reference[item_id] for item_id in answered]]
        estimates += [*_of_two(slice_name, raters, resampling), _alpha(slice_name, raters, resampling)]
    compared = [_Compared(answer, judge[item_id]) for item_id, answer in sorted(majority.items())]
    estimates += _per_class("judge ~ people", compared, resampling.confidence)
    weighted = _weighted(result.judgements, majority)
    slice_name = "judge ~ people, weighted"
    estimates.append(_share("agreement", slice_name, weighted, resampling.confidence))
    estimates += _per_class(slice_name, weighted, resampling.confidence)

    return AgreementReport(
        cell=result.cell,
        system=result.system,
        signature=result.signature,
        resampling=f"item-bootstrap-{resampling.n_resamples},seed-{resampling.seed},"
        f"confidence-{resampling.confidence:g}",
        sheets=tuple(person.summary for person in people),
        estimates=tuple(replace(estimate, signature=result.signature) for estimate in estimates),
        disagreements=tuple(_disagreements(result, translations, people)),
        warnings=tuple(_warnings(sheets, people, n_ties)),
    )


def _names(sheets: Sequence[Sheet]) -> list[str]:
    """Short names of the people: file names, or whole paths where those are not enough."""
    places = [Path(sheet.path).resolve() for sheet in sheets]
    for sheet, place in zip(sheets, places, strict=True):
        if places.count(place) > 1:
            raise UserError(f"{sheet.path} is given twice; give each person's sheet once")
    stems = [Path(sheet.path).stem for sheet in sheets]
    # `people` is the name of all of them.
    unclear = len(set(stems)) < len(stems) or "people" in stems
    return [sheet.path for sheet in sheets] if unclear else stems


def _majority(people: Sequence[_Person]) -> tuple[dict[str, Gender], int]:
    """The answer of most people who gave a gender, and for how many items two answers are equally frequent."""
    votes: dict[str, Counter[Gender]] = defaultdict(Counter)
    for person in people:
        for item_id, gender in person.genders.items():
            votes[item_id][gender] += 1
    majority = {}
    for item_id, counts in votes.items():
        (gender, most), *others = counts.most_common()
        if not others or others[0][1] < most:
            majority[item_id] = gender
    return majority, len(votes) - len(majority)


def _warnings(sheets: Sequence[Sheet], people: Sequence[_Person], n_ties: int) -> Iterator[str]:
    for (one, name), (other, other_name) in combinations(
        zip(sheets, [person.name for person in people], strict=True), 2
    ):
        if [_content(row) for row in one.rows] == [_content(row) for row in other.rows]:
            yield f"{name} and {other_name} have the same rows and answers; if one is a copy, leave it out"
    if n_ties:
        yield f"people are equally divided, so that there is no majority, in this number of items: {n_ties:,}"


def _content(row: SheetRow) -> tuple[object, ...]:
    return row.index, _comparable(row.sentence), row.found, row.gender, row.problem


def _disagreements(
    result: Result, translations: Mapping[str, TranslatedText], people: Sequence[_Person]
) -> Iterator[Disagreement]:
    for judgement in result.judgements:
        automatic = _observed(judgement)
        for person in people:
            if judgement.item_id in person.answers and person.answers[judgement.item_id] != automatic:
                yield Disagreement(
                    judgement.index,
                    entity_of(judgement),
                    translations[judgement.item_id].text,
                    person.name,
                    person.answers[judgement.item_id] or NOT_FOUND,
                    automatic or NOT_FOUND,
                    judgement.evidence,
                )


Ratings = Sequence[Sequence[Gender | None]]
"""One row per rater, one column per item; `None` where a rater gave no gender."""


def _of_two(slice_name: str, raters: Ratings, resampling: Resampling) -> list[Estimate]:
    """Percent agreement and Cohen's kappa of two raters."""
    both = [(a, b) for a, b in zip(*raters, strict=True) if a is not None and b is not None]
    n, n_agreed = len(both), sum(a == b for a, b in both)
    n_total = len(raters[0])
    share = statistics.wilson(n_agreed, n, resampling.confidence)
    percent = (100 * share[0], 100 * share[1]) if share else None
    kappa = statistics.cohen_kappa([a for a, _ in both], [b for _, b in both])
    interval = None
    if kappa is not None and n_agreed == n:
        by_chance = sum((count / n) ** 2 for count in Counter(a for a, _ in both).values())
        interval = _all_agree(n, 1 - by_chance, resampling.confidence)
    elif kappa is not None:
        cells = np.zeros((n, len(_LABELS), len(_LABELS)))
        for number, (a, b) in enumerate(both):
            cells[number, _LABELS.index(a), _LABELS.index(b)] = 1
        interval = _spread(_kappas(cells, resampling), resampling.confidence)
    return [
        _estimate("agreement", slice_name, 100 * n_agreed / n if n else None, percent, n, n_total),
        _estimate("kappa", slice_name, kappa, interval, n, n_total),
    ]


def _estimate(
    metric: str, slice_name: str, value: float | None, interval: tuple[float, float] | None, n: int, n_total: int
) -> Estimate:
    low, high = interval or (None, None)
    return Estimate(metric, slice_name, value, low, high, n_groups=n, n_judged=n, n_total=n_total)


def _kappas(cells: statistics.Floats, resampling: Resampling) -> statistics.Floats:
    """Kappa of each resample of the items; NaN where it is undefined."""
    sums = statistics.resampled_sums(cells.reshape(len(cells), -1), resampling.n_resamples, resampling.seed)
    tables = sums.reshape(-1, *cells.shape[1:])
    n = len(cells)
    agreed = np.trace(tables, axis1=1, axis2=2)
    by_chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1)
    possible = n * n - by_chance
    kappas: statistics.Floats = np.full(len(tables), np.nan)
    np.divide(n * agreed - by_chance, possible, out=kappas, where=possible > 0)
    return kappas


def _alpha(slice_name: str, ratings: Ratings, resampling: Resampling) -> Estimate:
    """Krippendorff's alpha of any number of raters. An item with fewer than two answers has nothing to compare."""
    alpha = statistics.krippendorff_alpha(ratings)
    units = []
    for unit in zip(*ratings, strict=True):
        labels = [sum(answer is label for answer in unit) for label in _LABELS]
        n = sum(labels)
        if n > 1:
            units.append([*labels, (n * n - sum(count * count for count in labels)) / (n - 1)])
    interval = None
    if alpha is not None:
        table = np.array(units)
        sums = table.sum(axis=0)
        if sums[-1] == 0:
            n_answers = sums[:-1].sum()
            by_chance = (n_answers**2 - (sums[:-1] ** 2).sum()) / (n_answers * (n_answers - 1))
            interval = _all_agree(len(units), float(by_chance), resampling.confidence)
        else:
            resampled = statistics.resampled_sums(table, resampling.n_resamples, resampling.seed)
            interval = _spread(_alphas(resampled), resampling.confidence)
    return _estimate("alpha", slice_name, alpha, interval, len(units), len(ratings[0]))


def _alphas(sums: statistics.Floats) -> statistics.Floats:
    """Alpha of each resample, from its labels and its disagreement; NaN where it is undefined."""
    labels, disagreement = sums[:, :-1], sums[:, -1]
    n = labels.sum(axis=1)
    by_chance = n**2 - (labels**2).sum(axis=1)
    ratios: statistics.Floats = np.full(len(sums), np.nan)
    np.divide((n - 1) * disagreement, by_chance, out=ratios, where=by_chance > 0)
    return 1 - ratios


def _spread(replicates: statistics.Floats, confidence: float) -> tuple[float, float] | None:
    """The bootstrap interval; `None` without any width.

    Kappa is 0 in every resample where one rater has one answer to everything: the data cannot tell, which is not the
    same as being sure of 0.
    """
    interval = statistics.percentile_interval(replicates, confidence)
    return interval if interval and interval[0] < interval[1] else None


def _all_agree(n: int, expected_disagreement: float, confidence: float) -> tuple[float, float] | None:
    """Limits of kappa or alpha where all agree on everything.

    Every resample agrees too and would give no width, so the lower limit is what the Wilson limit of agreement gives.
    """
    share = statistics.wilson(n, n, confidence)
    return (1 - (1 - share[0]) / expected_disagreement, 1.0) if share else None


@dataclass(frozen=True, slots=True)
class _Compared:
    """The people's answer and the judge's to one item, and for how many items of the run it stands."""

    person: Gender
    judge: Gender | None
    weight: float = 1.0

    @property
    def agrees(self) -> bool:
        return self.person is self.judge


def _weighted(judgements: Sequence[Judgement], majority: Mapping[str, Gender]) -> list[_Compared]:
    """Each answer with the weight of its stratum: a sheet has as many of each kind, a run has not."""
    in_run = Counter(map(_stratum, judgements))
    answered = [judgement for judgement in judgements if judgement.item_id in majority]
    in_sheets = Counter(map(_stratum, answered))
    return [
        _Compared(majority[j.item_id], _observed(j), in_run[_stratum(j)] / in_sheets[_stratum(j)]) for j in answered
    ]


def _per_class(slice_name: str, compared: Sequence[_Compared], confidence: float) -> Iterator[Estimate]:
    """Precision and recall of the judge for each gender. Items it gave no gender are in neither; they are counted."""
    for gender in _LABELS:
        given = [c for c in compared if c.judge is gender]
        yield _share(f"precision_{gender}", slice_name, given, confidence)
        wanted = [c for c in compared if c.person is gender]
        yield _share(f"recall_{gender}", slice_name, wanted, confidence)


def _share(metric: str, slice_name: str, compared: Sequence[_Compared], confidence: float) -> Estimate:
    """The weighted share of items on which people and judge agree, of those that the judge gave a gender.

    Wilson's interval with Kish's effective sample size, (sum w)^2 / sum w^2, which is n where all weights are equal.
    """
    judged = [c for c in compared if c.judge is not None]
    if not judged:
        return _estimate(metric, slice_name, None, None, 0, len(compared))
    total = sum(c.weight for c in judged)
    n_effective = total**2 / sum(c.weight**2 for c in judged)
    share = min(1.0, sum(c.weight for c in judged if c.agrees) / total)
    low, high = statistics.wilson(share * n_effective, n_effective, confidence) or (0.0, 1.0)
    return _estimate(metric, slice_name, 100 * share, (100 * low, 100 * high), len(judged), len(compared))
