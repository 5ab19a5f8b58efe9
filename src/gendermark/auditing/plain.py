"""Translations without their sources: known by their number, their language, and how well they fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gendermark.auditing.cells import Cell, Place, data_of
from gendermark.auditing.known import Known, KnownSet, Languages
from gendermark.auditing.recognise import Found, fit_of, spread
from gendermark.linguistics import profiles
from gendermark.systems.file_formats import Contents, Grid

_LEAST_FIT = 0.3
_SURE_FIT = 0.6
"""Texts of other sentences do not fit so well."""
_ALIKE = 0.02
_MOST_FITTED = 300


@dataclass(frozen=True)
class _Candidate:
    known: KnownSet
    fit: float | None


def recognise_plain(path: Path, grid: Grid, known: Known) -> Found | None:
    """One column, one translation in each row, in the order of a benchmark; None if no benchmark fits."""
    if any(len(cells) > 1 for _, cells in grid.rows):
        return None
    lines = [cells[0] if cells else "" for _, cells in grid.rows]
    language = profiles.likely(spread(lines))
    if not language:
        return None
    # A table begins with the name of its column, but only perhaps.
    for texts in (lines, lines[1:]) if path.suffix.lower() != ".txt" else (lines,):
        best = _best(known, texts, language)
        if best is not None:
            chosen, remarks = best
            place = Place(path, grid.name)
            return Found([Cell(place, chosen, Contents(lines=texts), len(texts), remarks=remarks)])
    return None


def _best(known: Known, texts: Sequence[str], language: str) -> tuple[KnownSet, list[str]] | None:
    candidates: list[_Candidate] = []
    for usual in (True, False):
        candidates += [_Candidate(one, _fit(one, texts)) for one in _of_length(known, len(texts), language, usual)]
        fitting = [one for one in candidates if (one.fit or 0.0) >= (_SURE_FIT if usual else _LEAST_FIT)]
        if fitting:
            break
    if not fitting:
        # Nothing is known against a benchmark that cannot tell, if it is the only one of this length.
        fitting = [one for one in candidates if one.fit is None]
        if len({one.known.selection.benchmark for one in fitting}) != 1:
            return None
    best = max(fitting, key=lambda one: one.fit or 0.0)
    others = [_other(one.known, best.known) for one in fitting if one is not best and _is_as_good(one, best)]
    named = " and ".join(dict.fromkeys(filter(None, others)))
    remarks = [f"{named} would fit as well; a file with sources would tell"] if named else []
    return best.known, remarks


def _of_length(known: Known, n: int, language: str, usual: bool) -> Iterator[KnownSet]:
    """Sets of so many sentences; where there is none, groups of a set that are."""
    everything = []
    for selection in known.selections(Languages(targets=frozenset({language})), usual=usual):
        found = known.get(selection)
        into = known.into(found, language) if found is not None else None
        if into is not None:
            everything.append(into)
    whole = [one for one in everything if len(one.keys) == n]
    yield from whole
    if not whole and usual:
        for one in everything:
            for part in one.benchmark.choices_of("parts"):
                group = known.get(one.benchmark.complete(replace(one.selection, parts=(part,))))
                if group is not None and len(group.keys) == n:
                    yield group


def _fit(known: KnownSet, texts: Sequence[str]) -> float | None:
    step = max(1, -(-len(texts) // _MOST_FITTED))
    return fit_of(known, [(place, text) for place, text in enumerate(texts) if place % step == 0 and text.strip()])


def _is_as_good(one: _Candidate, best: _Candidate) -> bool:
    return (one.fit or 0.0) >= (best.fit or 0.0) - _ALIKE


def _other(one: KnownSet, best: KnownSet) -> str:
    """In what another set differs."""
    return f"{one.benchmark.title}, {data_of(one.selection)}" if one.selection != best.selection else ""
