"""Bias cues: sentences labelled by hand, the columns of the linear model, names, and the lists behind them."""

from __future__ import annotations

import re
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from cases import read_cases
from gendermark.benchmarks.uncertainty.items import with_name
from gendermark.benchmarks.winomt.judge import BENCHMARK as WINOMT
from gendermark.errors import UserError
from gendermark.io.textfiles import split_lines
from gendermark.lab.sentence_cues import COLUMNS, FACTORS, annotate, design_columns, read_cues
from gendermark.languages.folders import rows_of
from gendermark.reading.occupations import core_occupations, lexicon
from gendermark.records import Gender, Item
from gendermark.selection import Selection

M, F, N = Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL

_LETTERS = {"m": "masculine", "f": "feminine", "n": "neutral", "-": "neutral"}
_PLACES = {"S": "subject", "O": "object"}


def _labelled() -> list[tuple[str, list[str], str, str]]:
    text = (Path(__file__).parent / "cues.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in split_lines(text.strip("\n")) if not line.startswith("#")]
    return [(sentence, labels.split(), other, causality) for sentence, labels, other, causality in rows]


def _marked(sentence: str) -> tuple[str, int, str]:
    """The sentence, the place of its focus, the focus."""
    before, rest = sentence.split("[")
    entity, after = rest.split("]")
    return before + entity + after, before.count(" "), entity


def _read(sentence: str, language: str = "ru") -> dict[str, str]:
    text, place, entity = _marked(sentence)
    return dict(read_cues(text, place, entity, language))


def test_there_are_many_labelled_sentences_of_all_kinds() -> None:
    rows = _labelled()
    assert len({sentence for sentence, *_ in rows}) == len(rows) >= 60
    counts = Counter(label for _, labels, _, _ in rows for label in labels)
    assert all(counts[label] >= 5 for label in "mfnSOsxo")
    assert {causality[-1:] for *_, causality in rows} == {"S", "O", ""}


@pytest.mark.parametrize(("sentence", "labels", "other", "causality"), _labelled())
def test_labelled_sentence(sentence: str, labels: list[str], other: str, causality: str) -> None:
    gender, pronoun, role, recent = labels
    verb, _, target = causality.rpartition(" ")
    found = _read(sentence)
    assert {
        key: found[key] for key in ("gender", "pronoun_role", "role", "recent", "other", "causal_verb", "causality")
    } == {
        "gender": _LETTERS[gender],
        "pronoun_role": {"s": "subject", "x": "other", "-": ""}[pronoun],
        "role": _PLACES[role],
        "recent": {"f": "focus", "o": "other", "-": ""}[recent],
        "other": other,
        "causal_verb": verb,
        "causality": _PLACES.get(target, ""),
    }
    assert found["ambiguity"] == ("ambiguous" if gender in "n-" else "unambiguous")


def test_the_place_alone_is_enough() -> None:
    for sentence, *_ in _labelled():
        text, place, entity = _marked(sentence)
        assert read_cues(text, place, "", "ru") == read_cues(text, place, entity, "ru"), sentence


def test_a_known_gender_chooses_among_several_pronouns() -> None:
    text = "The clerk offered them to the driver because he might like her shoes."
    assert read_cues(text, 1)["pronoun"] == "them"
    assert read_cues(text, 1, gender=M)["pronoun"] == "he"
    assert read_cues(text, 1, gender=F)["pronoun"] == "her"
    assert read_cues("The clerk saw him.", 1, gender=F)["gender"] == "masculine"


def test_stereotypes() -> None:
    found = _read("The [nurse] called the carpenter because he was ill.")
    assert (found["stereotype"], found["other_stereotype"]) == ("feminine", "masculine")
    found = _read("The [bystander] called someone because he was ill.")
    assert (found["stereotype"], found["other_stereotype"]) == ("", "")
    assert _read("The [CEO] called.")["stereotype"] == "masculine"
    found = _read("The [paralegal] called the plumber because they were ill.")
    assert (found["stereotype"], found["other_stereotype"]) == ("feminine", "masculine")
    assert _read("The [painter] called.")["stereotype"] == ""  # of houses or of pictures
    assert read_cues("The nurse called.", 1, stereotype=M)["stereotype"] == "masculine"


def test_default_masculine_is_russian_only() -> None:
    for sentence, expected in (("The [doctor] left.", "yes"), ("The [teacher] left.", ""), ("The [child] left.", "")):
        assert _read(sentence, "ru")["default_masculine"] == expected
        assert _read(sentence, "es")["default_masculine"] == ""


def test_a_wrong_place_or_entity_is_refused() -> None:
    with pytest.raises(ValueError, match="no word 9"):
        read_cues("The nurse left.", 9)
    with pytest.raises(ValueError, match="no 'baker'"):
        read_cues("The nurse left.", 1, "baker")
    # WinoMT has one sentence with two spaces in a row, where the place is between them.
    assert read_cues("The cook asked the  nurse about her day.", 4, "nurse")["recent"] == "focus"


# -- columns of the linear model


def test_columns_are_twenty_and_documented() -> None:
    assert len(COLUMNS) == len(set(COLUMNS)) == 20
    assert [column for columns in FACTORS.values() for column in columns] == list(COLUMNS)
    assert COLUMNS[:3] == ("names", "recency_f", "recency_m")
    assert COLUMNS[-3:] == ("default_masculine_subject", "default_masculine_object", "ambiguity")


@pytest.mark.parametrize(
    ("sentence", "present"),
    read_cases("lab/cue_columns.tsv"),
)
def test_design_columns(sentence: str, present: str) -> None:
    columns = design_columns(_read(sentence))
    assert tuple(columns) == COLUMNS
    assert {column for column, value in columns.items() if value} == set(present.split())
    assert set(columns.values()) <= {0.0, 1.0}


def test_the_papers_example() -> None:
    """Table 6: pronoun, stereotype, subject, recency and implicit causality of three sentences."""
    sentence = "The [mechanic] called to inform someone that {} had completed the repair."
    for pronoun, letter in (("he", "m"), ("she", "f")):
        columns = design_columns(_read(sentence.format(pronoun), "es"))
        assert {name for name, value in columns.items() if value} == {
            "stereotype_subject_m",
            f"subject_{letter}",
            f"pronoun_subject_{letter}",
        }
    columns = design_columns(_read(sentence.format("they"), "es"))
    assert {name for name, value in columns.items() if value} == {"stereotype_subject_m", "ambiguity"}


def test_items_say_what_they_know() -> None:
    tags = {"entity": "welder", "position": "1", "stereotype": "anti"}
    item = Item("x", 0, "g", "The welder called the nurse because she was ill.", F, tags)
    (found,) = annotate([item], "fr")
    assert found["stereotype"] == "masculine"
    (found,) = annotate([Item("x", 0, "g", item.source, F, {**tags, "occupation_stereotype": "feminine"})], "fr")
    assert found["stereotype"] == "feminine"
    (found,) = annotate([Item("x", 0, "g", item.source, F, {**tags, "stereotype": "none"})], "fr")
    assert found["stereotype"] == ""


# -- names


def test_name_stands_behind_the_noun_and_agrees() -> None:
    sentence = "The mechanic called to inform someone that she had completed the repair."
    found = with_name(sentence, 1, F, "fr", "mechanic")
    assert re.fullmatch(r"The mechanic (Anne|Camille|Élise|Sophie|Claire) called to inform .*", found)
    assert read_cues(found, 1, "mechanic", "fr")["name"] == found.split()[2]
    assert read_cues(sentence, 1, "mechanic", "fr")["name"] == ""
    assert found == with_name(sentence, 1, F, "fr", "mechanic")
    others = [sentence.replace("repair", f"repair of {number}") for number in range(40)]
    assert len({with_name(other, 1, F, "fr", "mechanic").split()[2] for other in others}) == 5
    masculine = with_name(sentence, 1, M, "fr", "mechanic").split()[2]
    assert masculine in ("Victor", "Julien", "Antoine", "Lucas", "Mathieu")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The guard saw the [construction worker], because she sang.", "the construction worker NAME, because"),
        ("The guard saw the [nurse].", "the nurse NAME."),
        ("The guard liked the [nurse]'s hat.", "the nurse NAME's hat."),
        ("The guard liked the [nurse] 's hat.", "the nurse NAME 's hat."),
        ("The [CEO] called the nurse.", "The CEO NAME called the nurse."),
    ],
)
def test_names_keep_marks_in_place(sentence: str, expected: str) -> None:
    text, place, entity = _marked(sentence)
    named = with_name(text, place, F, "es", entity)
    pattern = re.escape(expected).replace("NAME", "(Carla|Lucía|María|Sofía|Ana)")
    assert re.search(pattern, named)
    assert re.sub(" (Carla|Lucía|María|Sofía|Ana)", "", named) == text


def test_who_gets_no_name() -> None:
    sentence = "The nurse told someone that they could wait."
    for gender in (N, None):
        assert with_name(sentence, 1, gender, "es", "nurse") == sentence
    assert with_name(sentence, 3, F, "es", "someone") == sentence


def test_language_without_names() -> None:
    with pytest.raises(UserError, match=r"^there are no names for 'hi'; available: de, el, es, fr, it, ru, uk$"):
        with_name("The nurse left.", 1, F, "hi", "nurse")


def test_a_name_changes_no_other_cue() -> None:
    for sentence, *_ in _labelled():
        text, place, entity = _marked(sentence)
        found = read_cues(text, place, entity, "fr")
        gender = Gender(found["gender"])
        named = read_cues(with_name(text, place, gender, "fr", entity), place, entity, "fr")
        assert {**named, "name": ""} == found
        assert bool(named["name"]) == (gender is not N and entity != "Someone")


# -- the lists


def _rows(name: str) -> list[dict[str, str]]:
    text = (files("gendermark.data") / "core" / "uncertainty" / name).read_text(encoding="utf-8")
    header, *rows = [line.split("\t") for line in split_lines(text) if not line.startswith("#")]
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_verbs_are_many_with_bias_and_known_citation() -> None:
    verbs = _rows("implicit_causality.tsv")
    assert len({verb["verb"] for verb in verbs}) == len(verbs) >= 220
    bias_of = {
        "stimulus-experiencer": "NP1",
        "experiencer-stimulus": "NP2",
        "judgement": "NP2",
        "agent-evocator": "NP2",
        "agent-patient": "NP1",
    }
    assert {verb["kind"] for verb in verbs} == bias_of.keys()
    assert all(verb["bias"] == bias_of[verb["kind"]] for verb in verbs)
    text = (files("gendermark.data") / "core" / "uncertainty" / "implicit_causality.tsv").read_text(encoding="utf-8")
    explained = set(re.findall(r"^# ([A-Z]+\d\d) ", text, re.M))
    assert {key for verb in verbs for key in verb["citation"].split()} == explained


@pytest.mark.parametrize(
    ("verb", "forms"),
    read_cases("lab/inflection.tsv"),
)
def test_inflection(verb: str, forms: str) -> None:
    (found,) = (row for row in _rows("implicit_causality.tsv") if row["verb"] == verb)
    assert [found[kind] for kind in ("base", "third", "past", "participle", "ing")] == forms.split()


def test_stereotypes_are_of_other_occupations_that_the_lexicons_know() -> None:
    rows = _rows("stereotypes.tsv")
    names = [row["occupation"] for row in rows]
    assert names == sorted(set(names))
    assert {row["stereotype"] for row in rows} == {"masculine", "feminine"}
    assert all(row["category"] for row in rows)
    assert not {name for name, _, _ in core_occupations()} & set(names)
    assert set(names) <= {entry.occupation for entry in lexicon("es")}


def test_names_are_five_of_each_gender() -> None:
    rows = _rows("names.tsv")
    counts = Counter((row["language"], row["gender"]) for row in rows)
    languages = {"es", "fr", "uk", "ru", "de", "it", "el"}
    assert counts == {(language, gender): 5 for language in languages for gender in ("feminine", "masculine")}
    sources = {(row["language"], row["source"]) for row in rows}
    assert sources == {(language, "paper" if language in ("es", "fr", "uk", "ru") else "own") for language in languages}
    for language in languages:
        names = [row["name"] for row in rows if row["language"] == language]
        assert len(set(names)) == len(names)
    assert [row["name"] for row in rows if row["language"] == "uk"][:5] == [
        "Anna",
        "Olena",
        "Sofiia",
        "Natalka",
        "Oksana",
    ]


def test_default_masculine_agrees_with_the_lexicon() -> None:
    rows = rows_of("ru", "default_masculine.tsv")
    entities = [row["entity"] for row in rows]
    assert len(set(entities)) == len(entities)
    assert set(entities) == {entry.occupation for entry in lexicon("ru")}
    assert {name for name, _, _ in core_occupations()} <= set(entities)
    # In official usage these are as «врач» is, though the lexicon reads their feminines as established.
    by_usage = {"bartender", "firefighter", "hygienist", "programmer", "scientist", "specialist"}
    for row in rows:
        genders = {
            entry.gender
            for entry in lexicon("ru")
            if entry.occupation == row["entity"] and entry.number == "singular" and row["noun"] in entry.forms
        }
        allowed = {
            "default": {"masculine"} if row["entity"] in by_usage else {"epicene"},
            "paired": {"masculine"},
            "feminine": {"feminine"},
            "fixed": {"masculine-only"} if row["entity"] == "child" else genders & {"feminine-only", "epicene"},
        }
        assert genders == allowed[row["class"]], row
        assert row["source"] == ("Komova2024" if row["noun"] == "врач" else "own")


# -- WinoMT


def _items(data: str) -> tuple[Item, ...]:
    return WINOMT.load(WINOMT.complete(Selection("winomt", "en", "ru", data=data))).items


def test_core_items() -> None:
    items = _items("core")
    found = annotate(items, "ru")
    assert [cue["gender"] for cue in found] == [str(item.expected) for item in items]
    assert [cue["role"] for cue in found] == [item.tags["role"] for item in items]
    assert all(cue["stereotype"] == item.tags["occupation_stereotype"] for cue, item in zip(found, items, strict=True))
    assert all({cue["stereotype"], cue["other_stereotype"]} == {"masculine", "feminine"} for cue in found)
    # Every core sentence names both people before its pronoun.
    assert all((cue["recent"] == "focus") == (cue["role"] == "object") for cue in found)
    verbs = Counter((cue["causal_verb"], cue["causality"]) for cue in found)
    with_cause = {("apologize to", "subject"), ("call", "subject"), ("thank", "object"), ("congratulate", "object")}
    assert set(verbs) == {*with_cause, ("", "")}
    assert {verbs[key] for key in with_cause} == {len(items) // 10}


def test_official_items(mirror: Path) -> None:
    items = _items("official")
    found = annotate(items, "ru")
    assert len(items) == 3888
    assert [cue["gender"] for cue in found] == [str(item.expected) for item in items]
    assert all(cue["other"] for cue in found)
    # WinoMT's tag goes by the place; it is wrong where something stands before the subject ("Last Saturday, the ...").
    differing = [item for item, cue in zip(items, found, strict=True) if cue["role"] != item.tags["role"]]
    assert len(differing) == 10
    assert all(not item.source.startswith(("The ", "Someone ")) for item in differing)
    recent = Counter((cue["role"], cue["recent"]) for cue in found)
    assert recent["object", "focus"] + recent["subject", "other"] > 0.99 * len(items)
    # 7.3 %. The paper finds "about 10%", with a list of 300 verbs; ours is shorter, and its verb must link both people.
    assert sum(bool(cue["causality"]) for cue in found) == 282
    # Of 240 "they" 120 are no occupation ("someone", customers, patients), and 24 have one without a clear majority.
    they = [cue["stereotype"] for cue in found if cue["gender"] == "neutral"]
    assert Counter(they) == {"": 144, "masculine": 50, "feminine": 46}


def test_winogender_comes_as_triples(mirror: Path) -> None:
    items = _items("official")
    winogender = [item for item in items if item.tags["corpus"] == "winogender"]
    assert len(winogender) == 720
    triples = [winogender[start : start + 3] for start in range(0, 720, 3)]
    same = ("role", "other", "recent", "causal_verb", "causality", "pronoun_role", "stereotype", "default_masculine")
    for triple in triples:
        assert [item.expected for item in triple] == [M, F, N]
        assert [item.index - triple[0].index for item in triple] == [0, 1, 2]
        assert len({item.contrast for item in triple}) == 1
        assert len({tuple(cue[key] for key in same) for cue in annotate(triple, "ru")}) == 1
    assert len({triple[0].contrast for triple in triples}) == 240
