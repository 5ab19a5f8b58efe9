"""People in English texts: our labelled sentences, and what `read_people` promises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

import gendermark
from cases import read_cases
from gendermark.errors import UserError
from gendermark.reading.people import people_in, people_in_all

_LABELS = {"m": "masculine", "f": "feminine", "-": None}
Labelled = list[tuple[str, list[tuple[int, str | None]]]]


def _labelled(name: str) -> Labelled:
    """Texts with the place of each person's main word and its gender."""
    rows: Labelled = []
    lines = (Path(__file__).parent / "source" / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    for line in lines:
        if line.startswith("#"):
            continue
        text, _, people = line.partition("\t")
        pairs = [person.strip().rpartition("=") for person in people.split(";") if person.strip()]
        places = [re.search(rf"(?<!\w){re.escape(words.split('+')[0])}(?!\w)", text) for words, _, _ in pairs]
        rows.append(
            (text, [(place.start(), _LABELS[pair[2]]) for place, pair in zip(places, pairs, strict=True) if place])
        )
    return rows


@pytest.mark.parametrize(
    ("name", "found", "right", "extra"), [("natural", 0.97, 0.95, 0.07), ("product", 0.96, 0.98, 0.04)]
)
def test_labelled_sentences(name: str, found: float, right: float, extra: float) -> None:
    rows = _labelled(name)
    read = people_in_all([text for text, _ in rows])
    matches = [
        (gender, next((one for one in people if any(start <= place < end for start, end in one.mentions)), None))
        for (_, expected), people in zip(rows, read, strict=True)
        for place, gender in expected
    ]
    hits = [(gender, person) for gender, person in matches if person is not None]
    n_read = sum(map(len, read))
    assert len(hits) >= found * len(matches)
    assert sum(gender == person.gender for gender, person in hits) >= right * len(hits)
    assert n_read - len({id(person) for _, person in hits}) <= extra * n_read


@pytest.mark.parametrize(("text", "expected"), read_cases("reading/joined_mentions.tsv"))
def test_mentions_are_joined_and_first_names_give_no_gender(text: str, expected: str) -> None:
    people = gendermark.read_people(text)
    shown = [f"{'+'.join(text[start:end] for start, end in one.mentions)}={one.source_gender}" for one in people]
    assert "; ".join(shown) == expected


def test_kinds_and_certainty() -> None:
    addressee, owner = people_in("You asked the owner.")
    assert (addressee.kind, owner.kind, owner.noun, owner.plural) == ("addressee", "noun", "owner", False)
    assert people_in("I did it.")[0].kind == "speaker"
    first, _ = people_in("The clerk thanked the cook because she had waited.")
    assert not first.is_certain


def test_people_are_given_by_their_main_mention() -> None:
    (person,) = gendermark.read_people("She is a police officer.")
    assert (person.text, person.start, person.end) == ("police officer", 9, 23)
    assert (person.target_gender, person.target_state, person.evidence) == (None, None, ())
    with pytest.raises(gendermark.UserError, match="to='es'"):
        gendermark.read_people("She left.", "Ella se fue.")


def test_another_parser_is_used_when_it_is_named(tmp_path: Path) -> None:
    """A pipeline with the relations of spaCy's English models, in which copulas and prepositions are heads."""
    relations = {"She": (1, "nsubj"), "is": (1, "ROOT"), "a": (3, "det"), "pilot": (1, "attr"), "from": (3, "prep")}
    relations |= {"Peru": (4, "pobj"), ".": (1, "punct")}
    tags = dict(zip(relations, ("PRP", "VBZ", "DT", "NN", "IN", "NNP", "."), strict=True))

    @Language.component("fixed_parser")
    def parse(doc: Doc) -> Doc:
        heads, labels = zip(*(relations[word.text] for word in doc), strict=True)
        return Doc(
            doc.vocab,
            words=[word.text for word in doc],
            tags=[tags[word.text] for word in doc],
            heads=list(heads),
            deps=list(labels),
        )

    nlp = spacy.blank("en")
    nlp.add_pipe("fixed_parser", name="parser")
    nlp.to_disk(tmp_path)
    (person,) = gendermark.read_people("She is a pilot from Peru.", parser=str(tmp_path))
    assert (person.text, person.source_gender) == ("pilot", "feminine")
    with pytest.raises(UserError, match="no_such_pipeline"):
        gendermark.read_people("She is a pilot.", parser="no_such_pipeline")
