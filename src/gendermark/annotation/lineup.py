"""The human evaluation of MT-GenEval (Currey et al. 2022, section 5.1): several systems and a hidden reference.

People see a segment, its context, and all its translations in an order of its own; one of them is the reference, and
nothing tells which. The key, kept away from them, tells whose translation each row is. What they answered
is counted in `lineup_agreement`.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from gendermark import registry
from gendermark.annotation.items import TranslatedText, read_cell
from gendermark.annotation.sheets import SPREADSHEETS, best_table, comparable, header_name, inert
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.errors import BadFile, UserError
from gendermark.io.textfiles import read_json, read_text, write_text
from gendermark.linguistics import context as contexts
from gendermark.linguistics.contrast import without_tags
from gendermark.records import Judgement
from gendermark.result import Result
from gendermark.runs import folder

REFERENCE = "reference"
"""The hidden one, where the name of a system stands otherwise."""
LINEUP_COLUMNS = ("Row", "Context", "Source", "Translation", "Correct gender? [Y/N]", "Comments")
ANSWER_COLUMN = LINEUP_COLUMNS[4]
MEAN = "mean"
UNKNOWN_GENDER, UNKNOWN_CLASS = "gender unknown", "profession class unknown"
"""Why an item is in none of the six sub-categories."""

_COLUMN_OF = {
    "row": "row",
    **dict.fromkeys(("translation", "sentence"), "translation"),
    **dict.fromkeys(("correct gender", "gender correct", "correct"), "answer"),
}
_ANSWER_OF = {
    **dict.fromkeys(("y", "yes", "1", "1.0", "true"), True),
    **dict.fromkeys(("n", "no", "0", "0.0", "false"), False),
}
_RESERVED = {REFERENCE, MEAN}
_NOT_A_KEY = "is not a key that `gendermark annotate export-systems` wrote"


@dataclass(frozen=True)
class LineupRun:
    """One system's run, with its translations as people see them, by item id."""

    directory: Path
    result: Result = field(repr=False)
    texts: Mapping[str, str] = field(repr=False)
    uncut: frozenset[str] = field(repr=False)
    """Items whose sentence could not be told from its context in the answer; the whole answer is shown."""

    @property
    def identity(self) -> tuple[str, str]:
        """The system, and what of the context it was shown."""
        return self.result.system, str(getattr(self.result.selection, "context", ""))


@dataclass(frozen=True, slots=True)
class LineupSystem:
    name: str
    """Its name in the rows and the report; with the context strategy where that alone tells two runs apart."""
    system: str
    context: str
    signature: str

    @property
    def identity(self) -> tuple[str, str]:
        return self.system, self.context


@dataclass(frozen=True, slots=True)
class LineupRow:
    """Whose translation of which item a row of the sheet is."""

    row: int
    item_id: str
    system: str
    digest: str
    """Of the translation: a sheet or run that has another one is of another key."""


@dataclass(frozen=True)
class Lineup:
    """The key: the sample, and what each row of the sheet is."""

    cell: str
    origin: str
    split: str
    seed: int
    per_category: int
    systems: tuple[LineupSystem, ...]
    sample: Mapping[str, str] = field(repr=False)
    """The sub-category of each item drawn."""
    available: Mapping[str, int]
    """How many items each sub-category has."""
    left_out: Mapping[str, int]
    """How many items are in no sub-category, and why."""
    rows: tuple[LineupRow, ...] = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(system.name for system in self.systems)

    @property
    def short(self) -> dict[str, int]:
        """Sub-categories that have fewer items than were asked for, and how many."""
        return {name: n for name, n in self.available.items() if n < self.per_category}


@dataclass(frozen=True, slots=True)
class ShownRow:
    """What people see of one row."""

    row: int
    context: str
    source: str
    translation: str


# -- export ----------------------------------------------------------------------------------------------------------


def read_runs(directories: Sequence[Path], cell: str = "") -> list[LineupRun]:
    """The contextual cells of several runs, of different systems on the same items."""
    if len(directories) < 2:
        raise UserError("give the run folders of at least two systems; for one: gendermark annotate export")
    runs = [_read_run(directory, cell) for directory in directories]
    first = runs[0]
    for place, run in enumerate(runs):
        if _items_of(run.result) != _items_of(first.result):
            raise UserError(
                f"{first.directory} and {run.directory} are not of the same items "
                f"({' '.join(_items_of(first.result))}; {' '.join(_items_of(run.result))}); "
                "run all systems on the same data"
            )
        for other in runs[:place]:
            if run.identity == other.identity:
                raise UserError(
                    f"{other.directory} and {run.directory} are both of {run.result.system} with context "
                    f"{run.identity[1]}; give each system once"
                )
    return runs


def _with_context() -> list[str]:
    """The benchmarks whose sentences need the one before."""
    return [name for name, benchmark in registry.every("benchmark") if benchmark.presentation.context_tag]


def _has_context(cell: str) -> bool:
    return cell.partition(".")[0] in _with_context()


def split_of(result: Result) -> str:
    return str(getattr(result.selection, "split", ""))


def _items_of(result: Result) -> tuple[str, str, str]:
    return result.cell, split_of(result), result.origin


def _read_run(directory: Path, cell: str) -> LineupRun:
    if not cell:
        cells = [name for name in folder.read_manifest(directory)["cells"] if _has_context(name)]
        if not cells:
            wanted = _with_context()[0]
            raise UserError(f"{directory} has no run of {wanted}; run it with: --benchmark {wanted}")
        if len(cells) > 1:
            raise UserError(f"{directory} has {len(cells)} cells; say which: --cell {' | '.join(cells)}")
        cell = cells[0]
    if not _has_context(cell):
        wanted = " or ".join(_with_context())
        raise UserError(f"{cell} has no context and no references to show; give a cell of {wanted}")
    result, translations = read_cell(directory, cell)
    found = {j.item_id: _own_part(j, translations[j.item_id], result) for j in result.judgements}
    texts = {i: _one_line(translations[i].text if text is None else text) for i, text in found.items()}
    uncut = frozenset(i for i, text in found.items() if text is None and texts[i])
    return LineupRun(directory, result, texts, uncut)


def _own_part(judgement: Judgement, translation: TranslatedText, result: Result) -> str | None:
    """The translation without that of its context, which the reference does not have either."""
    try:
        context = judgement.tags["context"]
    except KeyError:
        raise UserError(f"judgement {judgement.item_id} of {result.cell} has no context; run it again") from None
    return contexts.find(translation.text, context, translation.source, str(getattr(result.selection, "context", "")))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def draw_lineup(runs: Sequence[LineupRun], per_category: int, seed: int) -> tuple[Lineup, list[ShownRow]]:
    """A stratified sample: `per_category` items of each gender in each class of professions, or all there are.

    The sample and the order of its segments depend on the items and the seed, not on what the systems said.
    """
    result = runs[0].result
    benchmark: Benchmark = registry.load("benchmark", result.selection.benchmark)
    item_set = benchmark.load(result.selection)
    if item_set.origin != result.origin:
        raise UserError(
            f"{runs[0].directory} is of {result.origin}, but the data here are {item_set.origin}; run it again"
        )
    left_out: Counter[str] = Counter()
    strata = defaultdict(list)
    for item in item_set.items:
        if item.expected is None:
            left_out[UNKNOWN_GENDER] += 1
        elif item.tags["class"] == "unknown":
            left_out[UNKNOWN_CLASS] += 1
        else:
            strata[f"{item.expected}-in-{item.tags['class']}-profession"].append(item)
    generator = random.Random(seed)
    drawn = [
        (item, category)
        for category, members in sorted(strata.items())
        for item in generator.sample(members, min(per_category, len(members)))
    ]
    if not drawn:
        raise UserError(f"no item of {result.cell} has a known gender and profession class, so none can be drawn")
    drawn.sort(key=lambda pair: hashlib.sha256(f"{seed}/{pair[0].item_id}".encode()).digest())
    systems = _named(runs)
    rows: list[LineupRow] = []
    shown: list[ShownRow] = []
    for item, _ in drawn:
        texts = {system.name: run.texts[item.item_id] for system, run in zip(systems, runs, strict=True)}
        texts[REFERENCE] = _one_line(without_tags(item.tags["reference"]))
        order = list(texts)
        random.Random(f"{seed}/{item.item_id}").shuffle(order)
        for name in order:
            number = len(rows) + 1
            rows.append(LineupRow(number, item.item_id, name, digest_of(texts[name])))
            shown.append(ShownRow(number, _one_line(item.tags["context"]), _one_line(item.source), texts[name]))
    lineup = Lineup(
        cell=result.cell,
        origin=result.origin,
        split=split_of(result),
        seed=seed,
        per_category=per_category,
        systems=systems,
        sample={item.item_id: category for item, category in drawn},
        available={category: len(members) for category, members in sorted(strata.items())},
        left_out=dict(left_out),
        rows=tuple(rows),
    )
    return lineup, shown


def _named(runs: Sequence[LineupRun]) -> tuple[LineupSystem, ...]:
    names = [run.result.system for run in runs]
    unclear = len(set(names)) < len(names) or not _RESERVED.isdisjoint(names)
    return tuple(
        LineupSystem(f"{name} ({run.identity[1]})" if unclear else name, *run.identity, run.result.signature)
        for name, run in zip(names, runs, strict=True)
    )


def digest_of(text: str) -> str:
    return hashlib.sha256(comparable(text).encode()).hexdigest()[:16]


def write_lineup(path: Path, key: Path, lineup: Lineup, rows: Sequence[ShownRow]) -> None:
    """The sheet to be filled in, and its key; never over answers, nor over a key that answers may depend on."""
    if path.resolve() == key.resolve():
        raise UserError("the sheet and its key must be two files; choose another name with --key")
    if path.is_file() and _may_hold_answers(path):
        raise UserError(f"{path} may hold somebody's answers; choose another name with -o")
    key_text = json.dumps(asdict(lineup), ensure_ascii=False, indent=2) + "\n"
    if key.is_file() and read_text(key) != key_text:
        raise UserError(f"{key} may be the key of another sheet; choose another name with --key")
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(LINEUP_COLUMNS)
    writer.writerows((row.row, *map(inert, (row.context, row.source, row.translation)), "", "") for row in rows)
    write_text(key, key_text)
    write_text(path, "\ufeff" + buffer.getvalue())


def _may_hold_answers(path: Path | str) -> bool:
    try:
        return any(not row.is_blank for row in read_rows(path))
    except BadFile:
        return True


# -- read again ------------------------------------------------------------------------------------------------------


def read_key(path: Path | str) -> Lineup:
    value = read_json(path)
    try:
        lineup = Lineup(
            **{
                **value,
                "systems": tuple(LineupSystem(**system) for system in value["systems"]),
                "rows": tuple(LineupRow(**row) for row in value["rows"]),
            }
        )
        known = {*lineup.names, REFERENCE}
        numbers = Counter(row.row for row in lineup.rows)
        sound = (
            all(isinstance(text, str) for text in (lineup.cell, lineup.origin, lineup.split))
            and _has_context(lineup.cell)
            and all(isinstance(row.row, int) and isinstance(row.digest, str) for row in lineup.rows)
            and all(row.system in known and row.item_id in lineup.sample for row in lineup.rows)
            and len(known) > len(lineup.systems) > 1
            and len(numbers) == len({(row.item_id, row.system) for row in lineup.rows}) == len(lineup.rows) > 0
        )
    except (KeyError, TypeError, AttributeError):
        sound = False
    if not sound:
        raise BadFile(path, _NOT_A_KEY)
    return lineup


@dataclass(frozen=True, slots=True)
class FilledRow:
    """What a person wrote in one row; neither an answer nor a problem where the cell was left empty."""

    line: int
    row: int
    translation: str
    answer: bool | None = None
    problem: str = ""

    @property
    def is_blank(self) -> bool:
        return self.answer is None and not self.problem


def read_rows(path: Path | str) -> list[FilledRow]:
    if Path(path).suffix.lower() in SPREADSHEETS:
        raise BadFile(path, "is a spreadsheet; save it as CSV (UTF-8)")
    lines = iter(best_table(path, read_text(path)))
    header_line, header = next(lines, (1, []))
    if not header:
        raise BadFile(path, f"is empty; a sheet begins with the columns {', '.join(LINEUP_COLUMNS)}")
    columns: dict[str, int] = {}
    for place, cell in enumerate(header):
        column = _COLUMN_OF.get(header_name(cell))
        if column in columns:
            raise BadFile(path, f"has two columns {cell.strip()!r}; leave one", line=header_line)
        if column:
            columns[column] = place
    for column, name in (("row", "Row"), ("answer", ANSWER_COLUMN)):
        if column not in columns:
            raise BadFile(
                path, f"has no column {name!r}; a sheet begins with {', '.join(LINEUP_COLUMNS)}", line=header_line
            )
    rows = (_read_row(path, line, cells, columns, len(header)) for line, cells in lines)
    return [row for row in rows if row]


def _read_row(
    path: Path | str, line: int, cells: Sequence[str], columns: Mapping[str, int], width: int
) -> FilledRow | None:
    if len(cells) > width:
        # Its answer may have moved into another column.
        raise BadFile(
            path,
            f"has {len(cells)} cells under {width} columns; put sentences that contain the separator in quotes",
            line=line,
        )
    values = {name: cells[place].strip() if place < len(cells) else "" for name, place in columns.items()}
    number, given = values["row"], values["answer"]
    if not number:
        if not given:
            return None  # somebody's remark under the table
        raise BadFile(path, "has an answer but no number in the column 'Row'", line=line)
    if not re.fullmatch(r"[0-9]{1,15}(\.0+)?", number):
        raise BadFile(path, f"has the row number {number!r:.40}, which is not a whole number", line=line)
    answer = _ANSWER_OF.get(given.casefold().strip(" .!"))
    problem = f"{given!r:.40} is neither Y nor N; not counted" if given and answer is None else ""
    return FilledRow(line, int(number.partition(".")[0]), values.get("translation", ""), answer, problem)


def match_runs(lineup: Lineup, directories: Sequence[Path]) -> dict[str, LineupRun]:
    """The run of each system of the key, in the order of the key."""
    found: dict[str, LineupRun] = {}
    name_of = {system.identity: system.name for system in lineup.systems}
    for directory in directories:
        run = _read_run(directory, lineup.cell)
        if _items_of(run.result) != (lineup.cell, lineup.split, lineup.origin):
            raise UserError(
                f"{directory} is not of the items of the key ({' '.join(_items_of(run.result))}; "
                f"{lineup.cell} {lineup.split} {lineup.origin}); give the run folders that were exported"
            )
        name = name_of.get(run.identity)
        if name is None:
            raise UserError(
                f"{directory} is of {run.result.system} with context {run.identity[1]}, which is not in the key; "
                f"available: {', '.join(lineup.names)}"
            )
        if name in found:
            raise UserError(f"{found[name].directory} and {directory} are both of {name}; give each system once")
        for row in lineup.rows:
            if row.system == name and (row.item_id not in run.texts or digest_of(run.texts[row.item_id]) != row.digest):
                raise UserError(
                    f"the translation of {row.item_id} in {directory} is not the one that people were shown; "
                    "give the run folders that were exported"
                )
        found[name] = run
    absent = [name for name in lineup.names if name not in found]
    if absent:
        raise UserError(f"no run folder of {', '.join(absent)} is given; give those of all systems in the key")
    return {name: found[name] for name in lineup.names}
