"""Terms that show gender, annotated in two forms: how many a translation has in either, and how many in the right one.

Bentivogli et al. (2020, ACL, MuST-SHE) as revised by Gaido et al. (2020, COLING): a translation that words a sentence
otherwise is not wrong about gender, it only says nothing; so *coverage* (found in either form) stands beside
*accuracy* (right, of those found).

**The format of annotated terms**, for every data set that has them: the terms of a sentence are separated by `;`, and
each has its right and its wrong form, separated by `|`:

    la doctora|el doctor;cansada|cansado

Where no form has more than one word a space will do, as in MuST-SHE's own files: `una un;amica amico`.

A judge counts the terms of a translation (`count_terms`) as measures of its judgement; a tally adds them up
(`add_terms`); `term_coverage` and `term_accuracy` are the metrics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import NamedTuple

from gendermark.errors import UserError
from gendermark.metrics.metric import Metric, described, rate
from gendermark.reading.words import Place, cut

_DESCRIBED = described(__package__)
_COUNTS = ("terms", "terms_found", "terms_right")

Form = tuple[str, ...]
"""The words of one form of a term, as `words.cut` writes them."""


class Term(NamedTuple):
    """One term of a reference in the right gender, and the same in the wrong one."""

    right: Form
    wrong: Form


class Found(NamedTuple):
    """One term in one translation: in which form, and where among its words; neither where it is not there."""

    term: Term
    is_right: bool | None = None
    place: Place | None = None


def read_terms(text: str) -> list[Term]:
    """The terms of a sentence, in the format above. Terms whose forms are the same show nothing and are left out."""
    terms = []
    for piece in filter(None, map(str.strip, text.split(";"))):
        forms = piece.split("|") if "|" in piece else piece.split()
        if len(forms) != 2 or not all(map(cut, forms)):
            raise UserError(
                f"a term is written `right form|wrong form`, for example la doctora|el doctor, not {piece!r}"
            )
        terms.append(Term(*(tuple(cut(form)) for form in forms)))
    return [term for term in terms if term.right != term.wrong]


def count_terms(words: Sequence[str], terms: Iterable[Term]) -> dict[str, float]:
    """How many terms a translation has, cut into words."""
    return counts_of(find_terms(words, terms))


def counts_of(found: Sequence[Found]) -> dict[str, float]:
    """For `Judgement.measures`."""
    kinds = [one.is_right for one in found]
    counts = len(kinds), len(kinds) - kinds.count(None), kinds.count(True)
    return dict(zip(_COUNTS, map(float, counts), strict=True))


def find_terms(words: Sequence[str], terms: Iterable[Term]) -> list[Found]:
    """The terms of a translation, cut into words; each of its words serves one term only.

    The right form is looked for first, as published: who writes both forms has the right one.
    """
    left = list(words)
    found = []
    for term in terms:
        places = ((is_right, _take(left, form)) for is_right, form in ((True, term.right), (False, term.wrong)))
        found.append(next((Found(term, is_right, place) for is_right, place in places if place), Found(term)))
    return found


def _take(words: list[str], form: Form) -> Place | None:
    """Take the first place where these words stand together out of a text, if there is one."""
    length = len(form)
    for start in range(len(words) - length + 1):
        if words[start] == form[0] and tuple(words[start : start + length]) == form:
            words[start : start + length] = [""] * length  # what stood on both sides does not stand together now
            return start, start + length
    return None


def add_terms(columns: MutableMapping[str, float], part: str, measures: Mapping[str, float]) -> None:
    """Add the terms of one judgement to the columns of a slice."""
    for name in _COUNTS:
        columns[f"{part}.{name}"] = columns.get(f"{part}.{name}", 0.0) + measures.get(name, 0.0)


def term_coverage(part: str = "all") -> Metric:
    found = f"{part}.terms_found"
    return rate(_DESCRIBED["term_coverage"], part, found, f"{part}.terms", judged=found)


def term_accuracy(part: str = "all") -> Metric:
    found = f"{part}.terms_found"
    return rate(_DESCRIBED["term_accuracy"], part, f"{part}.terms_right", found, judged=found)
