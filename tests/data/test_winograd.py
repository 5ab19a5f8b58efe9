"""WinoBias and Winogender files as WinoMT rows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gendermark.data.winograd import WinoRow, from_winobias, from_winogender, to_winomt_lines
from gendermark.errors import BadFile

PRONOUNS = {"male": "his", "female": "her", "neutral": "their"}


@pytest.mark.parametrize(
    ("line", "row"),
    [
        (
            "1 [The welder] greeted the florist while [she] opened the shop.",
            WinoRow("female", 1, "The welder greeted the florist while she opened the shop.", "welder"),
        ),
        (
            "27 The welder greeted [the florist] and gave [him] back [his] umbrella.",
            WinoRow("male", 4, "The welder greeted the florist and gave him back his umbrella.", "florist"),
        ),
        (
            "3 A painter saw [the window cleaner], who hurt [themselves].",
            WinoRow("neutral", 4, "A painter saw the window cleaner, who hurt themselves.", "window cleaner"),
        ),
        # No number, no article, two spaces in a row, spaces inside brackets, capitals.
        (
            "Yesterday [Someone]  painted [ HER ] door.",
            WinoRow("female", 1, "Yesterday Someone painted HER door.", "Someone"),
        ),
        ("4\t[An archivist] lost [hers].", WinoRow("female", 1, "An archivist lost hers.", "archivist")),
    ],
)
def test_winobias(line: str, row: WinoRow) -> None:
    assert from_winobias([line], "f") == [row]


@pytest.mark.parametrize(
    ("gender", "pronouns"),
    [
        ("male", "he him his himself He"),
        ("female", "she her hers herself Her"),
        ("neutral", "they them their theirs themselves themself"),
    ],
)
def test_pronouns(gender: str, pronouns: str) -> None:
    rows = from_winobias([f"1 [The diver] swam, said [{pronoun}]." for pronoun in pronouns.split()], "f")
    assert {row.gender for row in rows} == {gender}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1 The diver swam.", "has 0 of the two brackets that a WinoBias line needs: [the entity], then [its pronoun]"),
        ("1 [The diver] swam.", "has 1 of the two brackets that a WinoBias line needs"),
        ("1 [The diver] swam with [her fins.", "has a bracket that is not closed or not opened"),
        ("1 The diver] swam with [her] fins.", "has a bracket that is not closed or not opened"),
        ("1 [She] saw [the diver].", "has the pronoun [She] in its first bracket, where the entity belongs"),
        ("1 [The diver] saw [it].", "has [it] where a pronoun is expected (he, her, themselves ...)"),
        ("1 [The diver] said [he] lost [her] fins.", "has pronouns of several genders: he, her"),
        ("1 [the] saw [her].", "has no entity in its first bracket, [the]"),
        ("1 [] saw [her].", "has no entity in its first bracket, []"),
    ],
)
def test_bad_winobias_lines(line: str, problem: str) -> None:
    with pytest.raises(BadFile) as caught:
        from_winobias(["2 [The diver] dried [his] hair.", "", line], "bias.txt")
    assert str(caught.value).startswith(f"bias.txt, line 3: {problem}")


@pytest.mark.parametrize(
    ("line", "row"),
    [
        (
            "welder.guest.0.female.txt\tThe welder asked the guest whether she could help.",
            WinoRow("female", 1, "The welder asked the guest whether she could help.", "welder"),
        ),
        (
            "welder.guest.1.neutral.txt\tThe welder asked the guest's dog, or rather the guest.",
            WinoRow("neutral", 4, "The welder asked the guest's dog, or rather the guest.", "guest"),
        ),
        (
            "welder.someone.1.male.txt\tThe welder showed someone the  way he came.",
            WinoRow("male", 3, "The welder showed someone the way he came.", "someone"),
        ),
        ("welder.someone.1.male\tSomeone met the welder.", WinoRow("male", 0, "Someone met the welder.", "someone")),
        ("cook.cookie.0.male.txt\tThe cookie of the cook.", WinoRow("male", 4, "The cookie of the cook.", "cook")),
    ],
)
def test_winogender(line: str, row: WinoRow) -> None:
    assert from_winogender(["sentid\tsentence", line, ""], "f") == [row]
    assert from_winogender([line], "f") == [row]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("The welder waved.", "has 1 fields, not the two of Winogender: id, tab, sentence"),
        ("a.b.0.male.txt\tx\ty", "has 3 fields, not the two of Winogender: id, tab, sentence"),
        ("welder.0.male.txt\tThe welder waved.", "has the id 'welder.0.male.txt', not one like baker.guest.1.male.txt"),
        ("welder..0.male.txt\tThe welder waved.", "has the id 'welder..0.male.txt', not one like"),
        ("welder.guest.2.male.txt\tThe welder.", "points to '2'; 0 is the occupation, 1 the participant"),
        ("welder.guest.0.man.txt\tThe welder.", "has the gender 'man', not male, female or neutral"),
        ("welder.guest.1.male.txt\tThe welder.", "does not have 'guest', which its id names, in its sentence"),
        ("sentid\tsentence", "has the id 'sentid', not one like"),
    ],
)
def test_bad_winogender_lines(line: str, problem: str) -> None:
    with pytest.raises(BadFile) as caught:
        from_winogender(["welder.guest.0.male.txt\tThe welder waved.", line], "gender.tsv")
    assert str(caught.value).startswith(f"gender.tsv, line 2: {problem}")


def test_winomt_lines() -> None:
    assert to_winomt_lines([WinoRow("male", 1, "The diver swam.", "diver")]) == ["male\t1\tThe diver swam.\tdiver"]
    assert to_winomt_lines([]) == []


WORDS = st.lists(st.sampled_from(["quickly", "saw,", "the", "pier", "a"]), max_size=5)


@given(
    before=WORDS,
    after=WORDS,
    article=st.sampled_from(["the ", "a ", "An ", ""]),
    gender=st.sampled_from(list(PRONOUNS)),
)
def test_the_index_points_at_the_noun(before: list[str], after: list[str], article: str, gender: str) -> None:
    line = " ".join(["7", *before, f"[{article}fruit seller]", *after, f"[{PRONOUNS[gender]}]", "boat."])
    (row,) = from_winobias([line], "f")
    assert row.sentence.split(" ")[row.index : row.index + 2] == ["fruit", "seller"]
    assert (row.gender, row.entity) == (gender, "fruit seller")
    assert "[" not in row.sentence


def test_official_rows_survive_the_brackets(mirror: Path) -> None:
    """Rows of WinoMT, marked as WinoBias marks them, come back as they are."""
    (path,) = mirror.glob("gabrielStanovsky/mt_gender/586292861*/data/aggregates/en.txt")
    lines, wanted = [], []
    for text in path.read_text(encoding="utf-8").splitlines():
        _, index, sentence, entity = text.split("\t")
        words = sentence.split(" ")
        place, n_words = int(index), len(entity.split(" "))
        start = place - 1 if place and words[place - 1].lower() in ("the", "a", "an") else place
        phrase = " ".join(words[start : place + n_words])
        head, tail = " ".join(words[:start]), " ".join(words[place + n_words :])
        pronoun = re.search(r"\b(he|him|his|himself|she|hers?|herself|they|them|their|themselves)\b", tail)
        if not pronoun or "  " in sentence or not phrase[-1].isalpha() or not phrase.endswith(entity):
            continue
        marked = f"{tail[: pronoun.start()]}[{pronoun[0]}]{tail[pronoun.end() :]}"
        lines.append(f"{len(lines) + 1} {head} [{phrase}] {marked}".replace("  ", " "))
        wanted.append(text)
    assert len(wanted) > 3500
    assert to_winomt_lines(from_winobias(lines, "f")) == wanted
