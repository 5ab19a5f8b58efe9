"""The lexicons hold what they promise, and the finder reads sentences as a careful linguist does."""

from __future__ import annotations

import csv
import unicodedata
from pathlib import Path

import pytest

from cases import read_cases
from gendermark import registry
from gendermark.languages.language import Language
from gendermark.reading.occupations import (
    Entry,
    OccupationFinder,
    bundled_finder,
    citation_forms,
    core_occupations,
    lexicon,
)
from gendermark.records import Gender

EXAMPLES = Path(__file__).parent / "examples"
LANGUAGES = registry.names("language")
GENDERS = ("masculine", "feminine", "epicene", "masculine-only", "feminine-only", "other")
NUMBERS = ("singular", "plural")
# The released SimpleGEN sources name these too; they have no labour statistic in the core list.
MORE_OCCUPATIONS = ("nanny", "director", "engineer", "truck driver", "plumber", "president", "groundskeeper")


def _examples(code: str) -> list[dict[str, str]]:
    with (EXAMPLES / f"{code}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize("code", LANGUAGES)
def test_labelled_sentences(code: str) -> None:
    """Sentences written and labelled by reading, before the code was run on them."""
    examples = _examples(code)
    assert len(examples) >= 60
    finder = bundled_finder(code)
    wrong = []
    for row in examples:
        found = finder.find(row["sentence"], row["occupation"])
        if (found.gender.value if found.gender else "none") != row["gender"]:
            wrong.append(f"{row['sentence']} [{row['occupation']}] is {row['gender']}, found {found}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("code", LANGUAGES)
def test_labels_are_balanced_enough_to_mean_something(code: str) -> None:
    labels = [row["gender"] for row in _examples(code)]
    for gender in ("masculine", "feminine"):
        assert labels.count(gender) >= len(labels) / 5
    assert labels.count("none") >= 5


@pytest.mark.parametrize("code", LANGUAGES)
def test_lexicon_is_complete(code: str) -> None:
    """At least thirty occupations are asked for; there are 47, each with both genders in both numbers."""
    rows = {(entry.occupation, entry.gender, entry.number) for entry in lexicon(code)}
    wanted = [occupation for occupation, _, _ in core_occupations()] + list(MORE_OCCUPATIONS)
    missing = [
        (occupation, gender, number)
        for occupation in wanted
        for gender in ("masculine", "feminine")
        for number in NUMBERS
        if (occupation, gender, number) not in rows
    ]
    assert not missing
    # The other entities of WinoMT need not have both: nobody is a masculine "someone".
    assert {entry.occupation for entry in lexicon(code)} >= set(wanted)


@pytest.mark.parametrize("code", LANGUAGES)
def test_lexicon_is_clean(code: str) -> None:
    for entry in lexicon(code):
        assert entry.gender in GENDERS
        assert entry.number in NUMBERS
        assert entry.forms
        assert len(set(entry.forms)) == len(entry.forms), entry
        for form in entry.forms:
            assert form
            assert form == form.strip()
            assert form == unicodedata.normalize("NFC", form), form
            assert registry.load("language", code).cut(form), form


@pytest.mark.parametrize("code", LANGUAGES)
def test_citation_forms_tell_their_gender(code: str) -> None:
    """What fake systems say must be read back as what they meant."""
    finder = bundled_finder(code)
    wrong = []
    for (occupation, gender, _), form in citation_forms(code).items():
        if gender in ("masculine", "feminine"):
            found = finder.find(f"{form[:1].upper()}{form[1:]}.", occupation).gender
            if found != Gender(gender):
                wrong.append((occupation, gender, form, found))
    assert not wrong


@pytest.mark.parametrize("code", LANGUAGES)
def test_no_form_is_both_genders_by_mistake(code: str) -> None:
    """A form may be in both only where cases coincide (der Angestellten); no citation form may."""
    by_gender: dict[tuple[str, str, str], set[str]] = {}
    for entry in lexicon(code):
        by_gender.setdefault((entry.occupation, entry.number, entry.gender), set()).add(entry.forms[0].lower())
    for (occupation, number, gender), forms in by_gender.items():
        if gender == "masculine":
            assert not forms & by_gender.get((occupation, number, "feminine"), set()), (occupation, number)


TOY = Language(
    "xx",
    "Toy",
    singular={"lo": "m", "la": "f", "l'": "mf"},
    plural={"li": "m", "le": "f"},
    transparent=frozenset({"muy"}),
    adjective=lambda word, _: {"o": "m", "a": "f"}.get(word[-1]) if word.startswith("bon") else None,
    adjectives_follow=True,
    prefixes=("ha",),
)
FINDER = OccupationFinder(
    [
        Entry("cook", "masculine", "singular", ("koko",)),
        Entry("cook", "feminine", "singular", ("koka",)),
        Entry("cook", "epicene", "singular", ("kokist",)),
        Entry("cook", "feminine-only", "singular", ("garda",)),
        Entry("cook", "masculine", "singular", ("homo de koko",)),
    ],
    TOY,
)


@pytest.mark.parametrize(
    ("text", "gender", "reason", "evidence"),
    read_cases("reading/finder.tsv"),
)
def test_finder(text: str, gender: str, reason: str, evidence: str) -> None:
    found = FINDER.find(text, "cook")
    assert (found.gender or "-", found.reason, "|".join(found.evidence)) == (gender, reason, evidence)


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("La que dorme, la kokist, la.", ["la", "kokist"]),
        ("lo homo de  koko", ["homo de  koko"]),
        ("koka, koko, koka", ["koka", "koko", "koka"]),
        ("E\u0301 LA KOKIST", ["LA", "KOKIST"]),
        ("La garda", ["garda"]),
        ("Nada", []),
    ],
)
def test_spans_are_of_the_words_that_decided(text: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in FINDER.find(text, "cook").spans(text)] == marked


@pytest.mark.parametrize("word", ["kantor·a", "kantor(a)", "kantor/a", "kantor:in"])
def test_an_unknown_word_with_both_endings_is_neutral(word: str) -> None:
    assert FINDER.read_unknown([word], 0, 1).gender is Gender.NEUTRAL
    assert FINDER.read_unknown(["kantor"], 0, 1).gender is None


def test_an_equal_word_elsewhere_is_not_meant() -> None:
    text = "Dijo a la contable que la grúa llegó."
    finding = bundled_finder("es").find(text, "accountant")
    assert finding.evidence == ("la", "contable")
    assert finding.spans(text) == ((7, 9), (10, 18))


@pytest.mark.parametrize("code", LANGUAGES)
def test_spans_hold_the_evidence(code: str) -> None:
    """However a sentence is encoded, what is marked in it are the words of the evidence, and all of them."""
    finder = bundled_finder(code)
    for row in _examples(code):
        for text in (row["sentence"], unicodedata.normalize("NFD", row["sentence"])):
            words = finder.language.cut(text)
            findings = [finder.find(text, row["occupation"])]
            findings += [finder.read(words, found) for found in finder.occurrences(words, row["occupation"])]
            findings += [finder.read_unknown(words, place, place + 1) for place in range(len(words))]
            for finding in findings:
                shown = {" ".join(words[start:end]) for start, end in finding.places}
                assert shown == set(finding.evidence)
                spans = finding.spans(text)
                assert list(spans) == sorted(spans)
                marked = [word for start, end in spans for word in finder.language.cut(text[start:end])]
                told = sorted({place for start, end in finding.places for place in range(start, end)})
                assert [word.rstrip("'") for word in marked] == [words[place].rstrip("'") for place in told]
