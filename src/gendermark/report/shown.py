"""Telling sentences: beside a finding, one or two translations of the kind it speaks of, the deciding words marked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from heapq import nsmallest

from gendermark.benchmarks.findings import Finding
from gendermark.linguistics.codes import RIGHT_TO_LEFT
from gendermark.markup import Content, Markup, tag
from gendermark.records import Gender, Judgement, Span, pieces
from gendermark.report.cells import Cell, outcome_of
from gendermark.runs.folder import Text

_LONGEST = 160
"""Characters of a sentence that is shown beside a finding."""
_MOST_TRIED = 5_000
"""Translations of each kind that are looked at, the first ones; no published set has more."""
_WORDS = {"feminine": "as a woman", "masculine": "as a man", "neutral": "with no gender"}


def sentences(cell: Cell, run: int, finding: Finding, used: set[str]) -> list[str]:
    """The items to show: of each kind one, about the same person where that can be, none that was shown before."""
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
    return [j.item_id for j in chosen]


def disagreements(cell: Cell) -> list[str]:
    """Two short sentences that some systems have right and others wrong: about women, if there are such.

    The more even the division, the better it tells.
    """
    runs = [run for run, result in enumerate(cell.results) if result is not None]

    def each() -> Iterator[tuple[tuple[bool, int, int], str]]:
        for _, some, texts in cell.rows(runs):
            judged = [j for j in some if j is not None and j.spans and j.observed is not None]
            if len(judged) < len(runs):
                continue
            right = sum(j.is_correct for j in judged)
            length = max(map(_length, texts))
            if right not in (0, len(runs)) and length <= 2 * _LONGEST:
                is_man = judged[0].expected is not Gender.FEMININE
                yield (is_man, abs(2 * right - len(runs)), length), judged[0].item_id

    return [item_id for _, item_id in nsmallest(2, each())]


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


def shown(cell: Cell, item_id: str, runs: Sequence[int], name_of: Sequence[Content]) -> Markup:
    """A sentence with what each of these systems made of it; `name_of` is empty where there is only one."""
    number = cell.number_of(item_id) or 0
    cell.must_show.add(number)
    _, source = cell.item(number)
    context = cell.context(number)
    selection = cell.selection
    parts: list[Content] = [tag("p", context, class_="context", **_language(selection.source_language))]
    parts = parts if context else []
    parts.append(tag("p", source.source, class_="source", **_language(selection.source_language)))
    for run in runs:
        judgement, text = cell.judgement(run, number), cell.text(run, number)
        if judgement is None or text is None:
            continue
        who: Content = [name_of[run], " "] if name_of else None
        marked = tag("span", _marked(text.translation or "", judgement.spans), **_language(selection.target_language))
        outcome = outcome_of(judgement, draws=cell.benchmark.draws)
        parts.append(tag("p", who, marked, " ", tag("span", _came_out(judgement, outcome), class_=f"result {outcome}")))
    return tag("blockquote", parts, class_="telling")


def _came_out(judgement: Judgement, outcome: str) -> str:
    read = _WORDS.get(str(judgement.observed), "")
    if not read or outcome in ("mixed", "undecided", "failed"):
        return f"({outcome})"
    return f"({outcome}: {read})" if judgement.expected in ("feminine", "masculine") else f"({read})"


def _language(code: str) -> dict[str, str | None]:
    return {"lang": code, "dir": "rtl" if code in RIGHT_TO_LEFT else "ltr"}


def _marked(text: str, spans: Sequence[Span]) -> list[Content]:
    return [tag("mark", piece) if is_marked else piece for piece, is_marked in pieces(text, spans)]
