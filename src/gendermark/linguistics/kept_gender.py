"""Whether a translation gives people the gender that its English source tells.

Reranking chooses candidates by it, and self-training its text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gendermark.linguistics.occupations import OccupationFinder
from gendermark.linguistics.source_gender import PersonTold


def readable(people: Iterable[PersonTold], finder: OccupationFinder) -> list[PersonTold]:
    """Those whose gender is told, and whom the lexicon of the target language has."""
    return [person for person in people if person.gender is not None and finder.knows(person.noun)]


def keeps_gender(text: str, people: Sequence[PersonTold], finder: OccupationFinder) -> bool:
    """Whether all of them have their gender in a translation; somebody who is not found has none."""
    return all(finder.find(text, person.noun).gender is person.gender for person in people)
