"""Does a submission follow from its outputs? They are judged and scored again, and everything it says is compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gendermark.errors import UserError
from gendermark.leaderboard.submission import FILE, RESAMPLING, Submission, hash_of, read, row_of
from gendermark.result import Result
from gendermark.runs import folder
from gendermark.runs.rejudge import score_again
from gendermark.runs.score import Origin

_CLOSE = 1e-6
"""Other builds of numpy may round the last digits otherwise."""
_MAY_DIFFER = frozenset({"gendermark"})
_MOST_NUMBERS = 3
_GIVEN = "the outputs give"


def faults(cell: Path) -> list[str]:
    """What is wrong with a submission, one sentence each; none if it follows from its outputs."""
    found: list[str] = []
    try:
        submission = read(cell)
        found += on_paper(submission)
        told = folder.read_cell(cell)
        texts = folder.read_texts(cell, told)
        origin = Origin(submission.system.full_label, told.signed.get("decoding", ""), RESAMPLING)
        _, _, made = score_again(told, texts, told.selection, origin, str(cell))
    except UserError as problem:
        return [*found, str(problem)]
    older = _other_rules(cell, told, made)
    return [*found, *older] if older else [*found, *_against(cell, submission, told, made)]


def on_paper(submission: Submission) -> list[str]:
    """What can be seen without judging anything."""
    cell, result = submission.cell, submission.result
    found = []
    texts = folder.texts_path(cell, result)
    if (seen := hash_of(texts)) != submission.sha256:
        found.append(
            f"{texts}: these are not the outputs that were submitted (SHA-256 {seen[:12]}… instead of "
            f"{str(submission.sha256)[:12]}…)"
        )
    said = f"{folder.RESULT} says"
    found += _signatures(cell / FILE, submission.row["signature"], result.signature, said)
    shown = _by_key(row_of(result)["estimates"])
    return found + list(_numbers(cell / FILE, _by_key(submission.row["estimates"]), shown, said))


def _other_rules(cell: Path, told: Result, made: Result) -> list[str]:
    """A result of older rules is not wrong, but cannot be checked by these."""
    was, now = told.signed.get("rules", ""), made.signed.get("rules", "")
    if was == now or was.partition("-")[0] != now.partition("-")[0]:
        return []
    return [f"{cell}: it was scored by rules {was}, and this version has {now}; add it again to have it verified"]


def _against(cell: Path, submission: Submission, told: Result, made: Result) -> Iterator[str]:
    """Everything that is said in the folder, against what the outputs give."""
    yield from _signatures(cell / folder.RESULT, told.signature, made.signature, _GIVEN)
    yield from _numbers(cell / folder.RESULT, _estimates(told), _estimates(made), _GIVEN)
    for what in ("tests", "tables", "warnings"):
        if not _same(_plain(getattr(told, what)), _plain(getattr(made, what))):
            yield f"{cell / folder.RESULT}: its {what} do not follow from the outputs"
    if not _same(_plain(told.judgements), _plain(made.judgements)):
        by_item = {row["item_id"]: row for row in _plain(made.judgements)}
        n = sum(not _same(row, by_item.get(row["item_id"])) for row in _plain(told.judgements))
        yield f"{cell / folder.JUDGEMENTS}: {n:,} of {len(told.judgements):,} judgements do not follow from the outputs"
    row = row_of(made)
    for what in row.keys() - {"gendermark", "signature", "estimates"}:
        if submission.row.get(what) != row[what]:
            yield f"{cell / FILE}: its {what} do not follow from the outputs ({submission.row.get(what)!r:.80})"


def _signatures(path: Path, told: str, made: str, who: str) -> Iterator[str]:
    one, other = (dict(part.partition(":")[::2] for part in text.split("|")) for text in (told, made))
    for key in dict.fromkeys([*one, *other]):
        if key not in _MAY_DIFFER and one.get(key) != other.get(key):
            yield f"{path}: its signature has {key}:{one.get(key, '')}, {who} {key}:{other.get(key, '')}"


def _estimates(result: Result) -> dict[str, Mapping[str, Any]]:
    return _by_key([estimate.to_json() for estimate in result.estimates])


def _by_key(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {f"{row.get('metric')}:{row.get('slice')}": row for row in rows}


def _numbers(path: Path, told: Mapping[str, Any], made: Mapping[str, Any], who: str) -> Iterator[str]:
    wrong = [key for key in dict.fromkeys([*made, *told]) if not _same(told.get(key), made.get(key))]
    for key in wrong[:_MOST_NUMBERS]:
        one, other = told.get(key, {}), made.get(key, {})
        fields = [name for name in {**one, **other} if not _same(one.get(name), other.get(name))]
        name = "value" if "value" in fields else fields[0]
        yield f"{path}: {key} has {name} {_shown(one, name)}, and {who} {_shown(other, name)}"
    if len(wrong) > _MOST_NUMBERS:
        yield f"{path}: {len(wrong) - _MOST_NUMBERS:,} more numbers are others than {who}"


def _shown(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return f"{value:.4f}" if isinstance(value, float) else "none" if value is None else str(value)


def _plain(records: Sequence[Any]) -> list[Any]:
    return [record if isinstance(record, str) else record.to_json() for record in records]


def _same(one: Any, other: Any) -> bool:
    """Equal, numbers within rounding; a list is what JSON makes of a tuple."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= _CLOSE * max(1.0, abs(one), abs(other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
