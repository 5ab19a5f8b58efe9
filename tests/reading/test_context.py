"""A sentence is found again behind its context, or not at all."""

from __future__ import annotations

import pytest

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
    [
        ("Llegó tarde. @@ La doctora estaba cansada.", "La doctora estaba cansada."),
        ("Llegó tarde.@@La doctora.", "La doctora."),
        ("Llegó @@ tarde. @@ La doctora.", "La doctora."),  # the last one
        ("Llegó tarde. La doctora estaba cansada.", None),  # lost
        ("Llegó tarde. @ La doctora.", None),  # damaged
        ("@@ La doctora.", None),  # the context is lost: which part is this?
        ("Llegó tarde. @@", None),  # the sentence is lost
        ("", None),
    ],
)
def test_separator(answer: str, found: str | None) -> None:
    assert find(answer, CONTEXT, SENTENCE, "separator:@@") == found


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("Llegó tarde a su casa anoche. La doctora estaba cansada.", "La doctora estaba cansada."),
        ("Llegó tarde a su casa anoche.La doctora estaba cansada.", "La doctora estaba cansada."),  # lost space
        ("¿Llegó tarde a su casa anoche? ¡La doctora!", "¡La doctora!"),
        ("«Llegó tarde a su casa anoche.» La doctora estaba cansada.", "La doctora estaba cansada."),
        ("Elle est rentrée tard ce soir-là… L'infirmière était fatiguée.", "L'infirmière était fatiguée."),
        ("वह शाम को देर से घर आयी। डॉक्टर थक गयी थी।", "डॉक्टर थक गयी थी।"),  # danda
        ("वह शाम को देर से घर आयी।डॉक्टर थक गयी थी।", "डॉक्टर थक गयी थी।"),
        ("उसने शाम को पढ़ी एक किताब. डॉक्टर थक गयी थी.", "डॉक्टर थक गयी थी."),  # a full stop behind a consonant
        ("هل عادت إلى البيت متأخرة؟ كانت الطبيبة متعبة.", "كانت الطبيبة متعبة."),
        ("عادت إلى البيت في المساء متأخرةً جدًا. كانت الطبيبة متعبة.", "كانت الطبيبة متعبة."),  # behind a vowel point
        ("Llegó tarde con Mr. Smith anoche. La doctora de St. John.", "La doctora de St. John."),
        ("Er kam z. B. am 5. Mai spät heim. Die Ärztin war müde.", "Die Ärztin war müde."),
        ("Llegó a las 3.5 horas de la noche. La doctora estaba cansada.", "La doctora estaba cansada."),
        ("Llegó tarde a su casa en 1998. 3 doctoras la esperaban.", "3 doctoras la esperaban."),
        ("Der U.S. Senator kam spät nach Hause. Die Ärztin war müde.", "Die Ärztin war müde."),
        ("La doctora estaba cansada.", None),  # one sentence: the context is missing
        ("Llegó tarde y la doctora estaba cansada", None),
        # Two sentences run into one: a comma where the boundary should be, and nowhere else.
        ("Llegó tarde a su casa aquella noche, la doctora estaba cansada.", "la doctora estaba cansada."),
        ("عادت إلى البيت في المساء متأخرة، كانت الطبيبة متعبة.", "كانت الطبيبة متعبة."),
        ("Llegó, y la doctora que estaba en su casa estaba muy cansada.", None),
        ("Llegó. Y la doctora, que había llegado tarde a su casa, estaba muy cansada", None),  # too far off
        ("Mr. Smith 3.5", None),
        ("", None),
        ("...", None),
        ("«La doctora estaba cansada...»", None),  # marks at the end are no boundary before the last of them
    ],
)
def test_joined(answer: str, found: str | None) -> None:
    assert find(answer, CONTEXT, SENTENCE, "joined") == found


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
