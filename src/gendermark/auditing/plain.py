"""Translations without their sources: known by their number, their language, and how well they fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gendermark.auditing.cells import Cell, Place, data_of
from gendermark.auditing.known import Known, KnownSet, Languages
from gendermark.auditing.recognise import Found, fit_of, spread
from gendermark.errors import BadFile
from gendermark.io.tables import Contents, Grid
from gendermark.linguistics import profiles

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
            chosen, others = best
            if any(one.selection.parts != chosen.selection.parts for one in others):
                raise BadFile(path, _undecided(chosen, others, len(texts)))
            named = "; ".join(dict.fromkeys(f"{one.benchmark.title}, {data_of(one.selection)}" for one in others))
            remarks = [f"this fits as well, which sources would decide: {named}"] if named else []
            place = Place(path, grid.name)
            return Found([Cell(place, chosen, Contents(lines=texts), len(texts), remarks=remarks)])
    return None


def _best(known: Known, texts: Sequence[str], language: str) -> tuple[KnownSet, list[KnownSet]] | None:
    """The set that fits best, and others that fit as well."""
    candidates = _candidates(known, texts, language, usual=True)
    sure = [one for one in candidates if (one.fit or 0.0) >= _SURE_FIT]
    # Another revision or variant of what fits may fit better; if nothing fits, anything may.
    only = max(sure, key=lambda one: one.fit or 0.0).known.selection.benchmark if sure else ""
    candidates += _candidates(known, texts, language, usual=False, only=only)
    fitting = [one for one in candidates if (one.fit or 0.0) >= _LEAST_FIT]
    if not fitting:
        # Nothing is known against a benchmark that cannot tell, if it is the only one of this length.
        fitting = [one for one in candidates if one.fit is None]
        if len({one.known.selection.benchmark for one in fitting}) != 1:
            return None
    most = max(one.fit or 0.0 for one in fitting)
    best, *others = [one.known for one in fitting if (one.fit or 0.0) >= most - _ALIKE]
    return best, others


def _undecided(best: KnownSet, others: Sequence[KnownSet], n: int) -> str:
    """Groups of a benchmark are other sentences, so none of them is guessed."""
    benchmark = best.benchmark
    named = ", ".join(part for one in (best, *others) for part in one.selection.parts)
    return (
        f"its {n:,} lines have no sources, and fit several groups of {benchmark.title} alike ({named}); add the "
        f"sources, or name one: gendermark score {benchmark.name} --group NAME --translations FILE"
    )


def _candidates(known: Known, texts: Sequence[str], language: str, *, usual: bool, only: str = "") -> list[_Candidate]:
    found = _of_length(known, len(texts), language, usual=usual, only=only)
    return [_Candidate(one, _fit(one, texts)) for one in found]


def _of_length(known: Known, n: int, language: str, *, usual: bool, only: str) -> Iterator[KnownSet]:
    """Sets of so many sentences; where there is none, groups of a set that are."""
    everything = []
    for selection in known.selections(Languages(targets=frozenset({language})), usual=usual):
        found = known.get(selection) if only in ("", selection.benchmark) else None
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
