"""A sentence is found again behind its context, or not at all."""

from __future__ import annotations

import pytest

from cases import read_cases
from gendermark.errors import UserError
from gendermark.reading.context import STRATEGIES, find, offset, show

CONTEXT = "She came home late in the evening."
SENTENCE = "The doctor was tired."


@pytest.mark.parametrize(
    ("strategy", "shown"),
    [
        ("none", SENTENCE),
        ("joined", f"{CONTEXT} {SENTENCE}"),
        ("separator:@@", f"{CONTEXT} @@ {SENTENCE}"),
        ("separator:a:b", f"{CONTEXT} a:b {SENTENCE}"),
        ("prompt", f"Context (do not translate): {CONTEXT} Translate this sentence only: {SENTENCE}"),
    ],
)
def test_show(strategy: str, shown: str) -> None:
    assert show(CONTEXT, SENTENCE, strategy) == shown


@pytest.mark.parametrize("strategy", [*(name for name in STRATEGIES if name != "separator"), "separator:@@"])
def test_empty_context(strategy: str) -> None:
    assert show("", SENTENCE, strategy) == SENTENCE
    assert find("La doctora. Estaba cansada.", "", SENTENCE, strategy) == "La doctora. Estaba cansada."


@pytest.mark.parametrize("strategy", ["separator", "separator:", "separator:  "])
def test_separator_needs_a_text(strategy: str) -> None:
    with pytest.raises(UserError, match="separator:TEXT"):
        show(CONTEXT, SENTENCE, strategy)
    with pytest.raises(UserError, match="separator:TEXT"):
        find("uno @@ dos", CONTEXT, SENTENCE, strategy)


@pytest.mark.parametrize("strategy", ["none", "prompt"])
def test_whole_answer(strategy: str) -> None:
    assert find("Llegó tarde. La doctora.", CONTEXT, SENTENCE, strategy) == "Llegó tarde. La doctora."


@pytest.mark.parametrize(
    ("answer", "found"),
    read_cases("reading/separator.tsv"),
)
def test_separator(answer: str, found: str) -> None:
    assert (find(answer, CONTEXT, SENTENCE, "separator:@@") or "-") == found


@pytest.mark.parametrize(
    ("answer", "found"),
    read_cases("reading/joined.tsv"),
)
def test_joined(answer: str, found: str) -> None:
    assert (find(answer, CONTEXT, SENTENCE, "joined") or "-") == found


def test_joined_takes_the_boundary_where_the_source_has_it() -> None:
    """A context of two sentences, or a sentence that was translated as two."""
    three = "Llegó a casa. Era muy tarde aquella noche. La doctora dormía."
    assert find(three, "She came home. It was very late that night.", SENTENCE, "joined") == "La doctora dormía."
    last_two = "Era muy tarde aquella noche. La doctora dormía."
    assert find(three, "She came home.", "It was very late that night and the doctor slept.", "joined") == last_two


@pytest.mark.parametrize(
    ("strategy", "answer"),
    [
        ("none", " La doctora estaba cansada. "),
        ("joined", "Ella llegó tarde por la noche.  La doctora estaba cansada. \n"),
        ("separator:@@", "Llegó @@ tarde.@@ La doctora @@ estaba cansada.  "),
    ],
)
def test_where_the_sentence_was_found(strategy: str, answer: str) -> None:
    found = find(answer, CONTEXT, SENTENCE, strategy)
    assert found is not None
    start = offset(found, answer)
    assert answer[start : start + len(found)] == found
