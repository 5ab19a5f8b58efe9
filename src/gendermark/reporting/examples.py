"""Sentences that show a finding: which ones to choose, and how their translations came out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from heapq import nsmallest

from gendermark.records import Gender, Judgement
from gendermark.reporting.document import Example, Finding, System, Translated
from gendermark.reporting.rows import Cell, outcome_of
from gendermark.runs.folder import Text

_LONGEST = 160
"""Characters of a sentence that is shown beside a finding."""
_MOST_TRIED = 5_000
"""Translations of each kind that are looked at, the first ones; no published set has more."""
_SHOWS = {"feminine": "as a woman", "masculine": "as a man", "neutral": "with no gender"}


def of_finding(cell: Cell, run: int, finding: Finding, used: set[str]) -> list[Example]:
    """Sentences of each kind that a finding speaks of, about the same person where possible; none is used twice."""
    if cell.results[run] is None or not finding.shows:
        return []
    kinds: list[list[Judgement]] = [[] for _ in finding.shows]
    lengths: dict[str, int] = {}
    for _, judgement, text in cell.rows_of(run):
        length = _length(text)
        if not judgement.spans or length > 2 * _LONGEST or judgement.item_id in used:
            continue
        for kind, is_shown in zip(kinds, finding.shows, strict=True):
            if len(kind) < _MOST_TRIED and is_shown(judgement):
                kind.append(judgement)
                lengths[judgement.item_id] = length
        if all(len(kind) >= _MOST_TRIED for kind in kinds):
            break
    if not kinds[0]:
        return []
    chosen = min(_together(kinds), key=lambda found: sum(lengths[j.item_id] for j in found))
    used.update(j.item_id for j in chosen)
    return [_example(cell, j.item_id, [run], []) for j in chosen]


def of_disagreement(cell: Cell, runs: Sequence[int], systems: Sequence[System]) -> list[Example]:
    """Two short sentences that some systems have right and others wrong: about women, if there are such."""
    present = [run for run in runs if cell.results[run] is not None]

    def each() -> Iterator[tuple[tuple[bool, int, int], str]]:
        for _, some, texts in cell.rows(present):
            judged = [j for j in some if j is not None and j.spans and j.observed is not None]
            if len(judged) < len(present):
                continue
            right = sum(j.is_correct for j in judged)
            length = max(map(_length, texts))
            if right not in (0, len(present)) and length <= 2 * _LONGEST:
                is_man = judged[0].expected is not Gender.FEMININE
                # The more even the division, the more it shows.
                yield (is_man, abs(2 * right - len(present)), length), judged[0].item_id

    return [_example(cell, item_id, present, systems) for _, item_id in nsmallest(2, each())]


def _together(kinds: Sequence[Sequence[Judgement]]) -> Iterator[tuple[Judgement, ...]]:
    """Sentences that differ in little: versions of one another; else about the same person; else any."""
    first, *others = kinds
    if not others or not others[0]:
        yield from ((j,) for j in first)
        return
    for shared in ("contrast", "entity"):
        partners = defaultdict(list)
        for j in others[0]:
            if getattr(j, shared):
                partners[getattr(j, shared)].append(j)
        found = [(j, partner) for j in first for partner in partners[getattr(j, shared)]]
        if found:
            yield from found
            return
    yield first[0], others[0][0]


def _length(text: Text | None) -> int:
    return len(text.source) + len(text.translation or "") if text is not None else 0


def _example(cell: Cell, item_id: str, runs: Sequence[int], systems: Sequence[System]) -> Example:
    """A sentence with what each of these runs made of it; `systems` is empty where there is only one."""
    number = cell.number_of(item_id) or 0
    cell.must_show.add(number)
    translations = []
    for run in runs:
        judgement, text = cell.judgement(run, number), cell.text(run, number)
        if judgement is None or text is None:
            continue
        outcome = outcome_of(judgement, draws=cell.benchmark.draws)
        system = systems[run] if systems else None
        shows = _shows(judgement, outcome)
        translations.append(Translated(text.translation or "", judgement.spans, outcome, shows, system))
    selection = cell.selection
    languages = selection.source_language, selection.target_language
    return Example(cell.item(number)[1].source, translations, *languages, context=cell.context(number))


def _shows(judgement: Judgement, outcome: str) -> str:
    read = _SHOWS.get(str(judgement.observed), "")
    if not read or outcome in ("mixed", "undecided", "failed"):
        return outcome
    return f"{outcome}: {read}" if judgement.expected in ("feminine", "masculine") else read
