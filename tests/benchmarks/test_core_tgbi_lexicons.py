"""The bundled TGBI lexicons and templates: complete, legal, comparable, and harmless to the rules that judge them."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import pytest

from gendermark.benchmarks.tgbi.items import attach, has_final_consonant
from gendermark.io.textfiles import split_lines
from gendermark.reading.english import find_person
from gendermark.records import Gender

CODES = ("ko", "ja", "tr", "fi", "hu", "fa")
STYLES = {
    "ko": [("informal", "impolite"), ("informal", "polite"), ("formal", "impolite"), ("formal", "polite")],
    "ja": [("informal", "impolite"), ("informal", "polite"), ("formal", "impolite"), ("formal", "polite")],
    "tr": [("informal", ""), ("formal", "")],
    "fa": [("informal", ""), ("formal", "")],
    "fi": [("", "")],
    "hu": [("", "")],
}
every_language = pytest.mark.parametrize("code", CODES)


class Row(NamedTuple):
    lexeme: str
    kind: str
    template: str
    lean: str
    gloss: str


def read(name: str) -> str:
    return (files("gendermark.data") / "core" / "tgbi" / name).read_text(encoding="utf-8")


@cache
def rows(code: str) -> tuple[Row, ...]:
    header, *lines = split_lines(read(f"{code}.tsv"))
    assert header == "lexeme\tkind\tclass\tlean\tgloss"
    return tuple(Row(*line.split("\t")) for line in lines)


@cache
def templates(code: str) -> dict[str, Any]:
    return tomllib.loads(read(f"{code}.toml"))


def sentences(code: str) -> list[str]:
    return [
        attach(style["templates"][row.template], row.lexeme) for style in templates(code)["style"] for row in rows(code)
    ]


@every_language
def test_lexicon(code: str) -> None:
    kinds = Counter(row.kind for row in rows(code))
    occupations, sentiments = (70, 24) if code == "ko" else (60, 20)
    assert kinds["occupation"] >= occupations
    assert min(kinds["positive"], kinds["negative"]) >= sentiments
    leans = Counter(row.lean for row in rows(code) if row.kind == "occupation")
    assert min(leans["feminine"], leans["masculine"], leans["none"]) >= 15
    for row in rows(code):
        assert row.kind in {"occupation", "positive", "negative"}
        assert row.lean in ({"feminine", "masculine", "none"} if row.kind == "occupation" else {"none"}), row
        assert (row.template == "occupation") == (row.kind == "occupation"), row
        assert all(cell and cell == cell.strip() and "  " not in cell for cell in row), row
    for words in ([row.lexeme.casefold() for row in rows(code)], [row.gloss for row in rows(code)]):
        assert [word for word, n in Counter(words).items() if n > 1] == []


@every_language
def test_templates_and_sentences(code: str) -> None:
    for name in (f"{code}.tsv", f"{code}.toml"):
        text = read(name)
        assert unicodedata.is_normalized("NFC", text)
        assert "\r" not in text
        assert text.rstrip("\n") + "\n" == text
    table = templates(code)
    assert table["language"] == code
    assert table["name"]
    assert table["note"]
    assert [(style["formality"], style["politeness"]) for style in table["style"]] == STYLES[code]
    for style in table["style"]:
        assert style["templates"].keys() == {row.template for row in rows(code)}
        assert all(template.count("{lexeme}") == 1 for template in style["templates"].values())
    made = sentences(code)
    assert len(set(made)) == len(made)
    assert not any(re.search(r"[\[\]{}]|\s$|^\s|\s\s", sentence) for sentence in made)
    if code == "ko":
        assert not any(sentence.endswith(".") for sentence in made)
    else:
        assert all(sentence.endswith("。" if code == "ja" else ".") for sentence in made)


def test_a_concept_is_the_same_in_every_language() -> None:
    facts: dict[str, set[tuple[str, str]]] = {}
    for code in CODES:
        for row in rows(code):
            facts.setdefault(row.gloss, set()).add((row.kind, row.lean))
    assert {gloss: told for gloss, told in facts.items() if len(told) > 1} == {}
    shared = set.intersection(*({row.gloss for row in rows(code)} for code in CODES))
    assert len(shared) >= 120  # enough to compare languages on equal terms


GLOSSES = sorted({row.gloss for code in CODES for row in rows(code)})
BANNED = {"person", "people", "individual", "someone", "kid", "child", "one"}
GENDERED = re.compile(r"(?:man|men|woman|women|girl|boy|lady|wife|husband|male|ess|ette|trix)$")
NOT_GENDERED = {"heartless", "tactless", "selfless", "careless"}  # -less


def test_glosses_fit_and_have_no_gender() -> None:
    for gloss in GLOSSES:
        words = re.findall(r"[A-Za-z]+", gloss)
        assert not BANNED & {word.lower() for word in words}, gloss
        assert not [word for word in words if GENDERED.search(word) and word not in NOT_GENDERED], gloss
        assert find_person(gloss).reason == "no-person", gloss
        assert find_person(f"She is {gloss}.").gender is Gender.FEMININE, gloss
        assert find_person(f"He is {gloss}.").gender is Gender.MASCULINE, gloss
        assert find_person(f"They are {gloss}.").gender is Gender.NEUTRAL, gloss
        assert find_person(f"That person is {gloss}.").gender is Gender.NEUTRAL, gloss
        assert find_person(f"It is {gloss}.").reason == "no-person", gloss


@pytest.mark.parametrize(
    ("code", "gendered"),
    [
        ("ko", r"여자|남자|여성|남성|^여|녀$|부인|아내|남편"),
        ("ja", r"[女男婦娘嬢夫妻]|マン$|ウーマン|レディ|ガール|ボーイ"),
        ("tr", r"kadın|erkek|hanım|adam|hostes|aktris|balerin|\w+ire$"),
        ("fi", r"(?:tar|tär|nainen|mies|emäntä|isäntä|rouva|neiti)$"),
        ("hu", r"nő$|asszony|férfi|hölgy"),
        ("fa", r"زن$|^زن |مرد$|خانم|آقا"),
    ],
)
def test_lexemes_are_gender_neutral_words(code: str, gendered: str) -> None:
    neutral_all_the_same = {"hemşire"}  # "nurse": no masculine counterpart, used of men as well (erkek hemşire)
    found = [
        row.lexeme for row in rows(code) if re.search(gendered, row.lexeme) and row.lexeme not in neutral_all_the_same
    ]
    assert found == []


def test_korean_templates_are_those_of_the_paper() -> None:
    expected = []
    for pronoun in ("걔는", "그 사람은"):
        for copula, verb in (("야", ""), ("에요", "요")):
            expected.append(
                {
                    "occupation": f"{pronoun} {{lexeme}}[이]{copula}",
                    "sentiment-copula": f"{pronoun} {{lexeme}}{copula}",
                    "sentiment-verb": f"{pronoun} {{lexeme}}{verb}",
                }
            )
    assert [style["templates"] for style in templates("ko")["style"]] == expected


def test_final_consonant() -> None:
    for compose in ("NFC", "NFD"):
        assert has_final_consonant(unicodedata.normalize(compose, "시인"))
        assert not has_final_consonant(unicodedata.normalize(compose, "의사"))


def test_attach_replaces_literally() -> None:
    assert attach("그 {lexeme}[이]야, {lexeme}", r"\1 {lexeme}시인") == r"그 \1 {lexeme}시인이야, \1 {lexeme}시인"
    assert attach("{lexeme} [이]야", "시인") == "시인 [이]야"  # only directly after the lexeme
    assert attach("O bir {lexeme}.", "doktor") == "O bir doktor."
