"""The sentences behind a change: right in one run and not in the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gendermark.records import Gender, Judgement, Verdict, pieces
from gendermark.runs.folder import Run, Text

_PEOPLE = {Gender.FEMININE: "a woman", Gender.MASCULINE: "a man", Gender.NEUTRAL: "open"}


@dataclass(frozen=True)
class Answer:
    """What one run made of a sentence."""

    text: str
    judgement: Judgement

    @property
    def marked(self) -> str:
        """The text with the deciding words in brackets."""
        cut = pieces(self.text, self.judgement.spans or self._places())
        return "".join(f"[{piece}]" if is_marked else piece for piece, is_marked in cut) or "(nothing)"

    def _places(self) -> list[tuple[int, int]]:
        """Of the evidence of a judge that gives no places."""
        words = [re.escape(word) for word in self.judgement.evidence if word.strip()]
        return [one.span() for one in re.finditer(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", self.text)] if words else []

    @property
    def came_out(self) -> str:
        """In a word or two: what was read in it."""
        if self.judgement.verdict is Verdict.NOT_TRANSLATED:
            return "not translated"
        if self.judgement.observed is None:
            return "no gender found"
        return _PEOPLE[self.judgement.observed]

    def to_json(self) -> dict[str, Any]:
        return {
            "translation": self.text,
            "observed": self.judgement.observed,
            "verdict": self.judgement.verdict,
            "evidence": list(self.judgement.evidence),
            "spans": [list(span) for span in self.judgement.spans],
        }


@dataclass(frozen=True, eq=False)
class ChangedSentence:
    """A sentence that one of two runs gets right."""

    cell: str
    source: str
    before: Answer
    now: Answer

    @property
    def lines(self) -> tuple[str, str, str]:
        """For people: the source with what it says, and both translations with the deciding words in brackets."""
        expected = self.now.judgement.expected
        about = f" ({_PEOPLE[expected]})" if expected else ""
        return (
            f"{' '.join(self.source.split())}{about}",
            f"before: {self.before.marked} ({self.before.came_out})",
            f"now: {self.now.marked} ({self.now.came_out})",
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "cell": self.cell,
            "item_id": self.now.judgement.item_id,
            "source": self.source,
            "expected": self.now.judgement.expected,
            "before": self.before.to_json(),
            "now": self.now.to_json(),
        }


def changed_sentences(before: Run, now: Run) -> tuple[tuple[ChangedSentence, ...], tuple[ChangedSentence, ...]]:
    """Those that were right and no longer are, and those that are right now; of all cells that both runs have."""
    cells = {result.cell: result for result in before.results}
    wrong: list[ChangedSentence] = []
    right: list[ChangedSentence] = []
    for result in now.results:
        earlier = cells.get(result.cell)
        if earlier is None:
            continue
        known = _by_id(earlier.judgements, before.texts[result.cell])
        for judgement, text in zip(result.judgements, now.texts[result.cell], strict=True):
            old = known.get(judgement.item_id)
            if old is None or old.judgement.is_correct == judgement.is_correct:
                continue
            found = ChangedSentence(result.cell, text.source, old, Answer(text.translation or "", judgement))
            (right if judgement.is_correct else wrong).append(found)
    return tuple(wrong), tuple(right)


def _by_id(judgements: Sequence[Judgement], texts: Sequence[Text]) -> dict[str, Answer]:
    both = zip(judgements, texts, strict=True)
    return {judgement.item_id: Answer(text.translation or "", judgement) for judgement, text in both}
