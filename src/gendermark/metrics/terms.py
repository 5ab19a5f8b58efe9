"""Annotated gendered terms in two forms: how many a translation contains, and how many of these in the correct form.

Bentivogli et al. (2020, ACL, MuST-SHE) as revised by Gaido et al. (2020, COLING): a translation worded differently is
not wrong about gender, so *coverage* (found in either form) is reported beside *accuracy* (correct, of those found).

**Format of annotated terms**, for all data sets: terms are separated by `;`, and each has its correct and its wrong
form, separated by `|`:

    la doctora|el doctor;cansada|cansado

If no form has more than one word, a space is enough, as in MuST-SHE's files: `una un;amica amico`.

A judge counts the terms of a translation (`count_terms`) as measures of its judgement; a tally sums them (`add_terms`);
`term_coverage` and `term_accuracy` are the metrics.
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
"""The words of one form of a term, as from `words.cut`."""


class Term(NamedTuple):
    """A term of a reference in the correct gender, and in the wrong one."""

    right: Form
    wrong: Form


class Found(NamedTuple):
    """A term in a translation: which form, and its position; neither if absent."""

    term: Term
    is_right: bool | None = None
    place: Place | None = None


def read_terms(text: str) -> list[Term]:
    """The terms of a sentence, in the format above, without terms whose forms are equal."""
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
    return counts_of(find_terms(words, terms))


def counts_of(found: Sequence[Found]) -> dict[str, float]:
    kinds = [one.is_right for one in found]
    counts = len(kinds), len(kinds) - kinds.count(None), kinds.count(True)
    return dict(zip(_COUNTS, map(float, counts), strict=True))


def find_terms(words: Sequence[str], terms: Iterable[Term]) -> list[Found]:
    """The terms in a tokenised translation; each word serves one term only.

    The correct form is searched first, as published: a translation with both forms is correct.
    """
    left = list(words)
    found = []
    for term in terms:
        places = ((is_right, _take(left, form)) for is_right, form in ((True, term.right), (False, term.wrong)))
        found.append(next((Found(term, is_right, place) for is_right, place in places if place), Found(term)))
    return found


def _take(words: list[str], form: Form) -> Place | None:
    """Remove the first occurrence of these words from a text, if any, and return its position."""
    length = len(form)
    for start in range(len(words) - length + 1):
        if words[start] == form[0] and tuple(words[start : start + length]) == form:
            words[start : start + length] = [""] * length  # words on either side do not become adjacent
            return start, start + length
    return None


def add_terms(columns: MutableMapping[str, float], part: str, measures: Mapping[str, float]) -> None:
    for name in _COUNTS:
        columns[f"{part}.{name}"] = columns.get(f"{part}.{name}", 0.0) + measures.get(name, 0.0)


def term_coverage(part: str = "all") -> Metric:
    found = f"{part}.terms_found"
    return rate(_DESCRIBED["term_coverage"], part, found, f"{part}.terms", judged=found)


def term_accuracy(part: str = "all") -> Metric:
    found = f"{part}.terms_found"
    return rate(_DESCRIBED["term_accuracy"], part, f"{part}.terms_right", found, judged=found)
