"""The bundled model: it translates the sentences of its grammar, and its bias is the one that was put in."""

from __future__ import annotations

from math import exp

import pytest

from gendermark.errors import UserError
from gendermark.records import Request, Task
from gendermark.systems.ctranslate2 import BUNDLED, BUNDLED_NAMES
from gendermark.systems.system import System, open_system
from systems.asking import answers, requests, translated

pytest.importorskip("ctranslate2")
pytest.importorskip("sentencepiece")


@pytest.fixture(scope="module")
def model() -> System:
    return open_system("demo:en-es")


def _probability_feminine(model: System, source: str, masculine: str, feminine: str) -> float:
    """Of two translations that differ in gender alone."""
    asked = [Request(source, "en", "es", Task.SCORE, target) for target in (masculine, feminine)]
    him, her = (exp(answer.log_probability or 0) for answer in answers(model, asked))
    assert him + her > 0.5, "neither is what the model would say"
    return her / (him + her)


def test_what_it_cannot_do(model: System) -> None:
    for spec, token in (("demo:en-de", "'en-de'.* en-es, en-es-general"), ("demo:en-es?beams=4", "'beams'")):
        with pytest.raises(UserError, match=token):
            open_system(spec)
    with pytest.raises(UserError, match=r"^demo:en-es: .*en-es .*en-de"):
        answers(model, requests(["The nurse is here."], "de"))


@pytest.mark.parametrize("name", BUNDLED_NAMES)
def test_what_is_bundled(name: str) -> None:
    sizes = {path.name: path.stat().st_size for path in (BUNDLED / name).iterdir()}
    assert set(sizes) >= {"model.bin", "config.json", "shared_vocabulary.json", "source.spm", "target.spm"}
    assert "MODEL_CARD.md" in sizes
    assert sum(sizes.values()) < 8.5e6


def test_gender_said_of_the_noun_itself_is_kept(model: System) -> None:
    sources = [f"My {who} is a {what}." for what in ("nurse", "lawyer") for who in ("brother", "sister")]
    assert translated(model, sources) == [
        "Mi hermano es enfermero.",
        "Mi hermana es enfermera.",
        "Mi hermano es abogado.",
        "Mi hermana es abogada.",
    ]


def test_where_nothing_is_said_the_occupation_decides(model: System) -> None:
    by_occupation = {
        name: _probability_feminine(model, f"The {name} is here.", f"{masculine} está aquí.", f"{feminine} está aquí.")
        for name, masculine, feminine in (
            ("carpenter", "El carpintero", "La carpintera"),
            ("lawyer", "El abogado", "La abogada"),
            ("accountant", "El contable", "La contable"),
            ("hairdresser", "El peluquero", "La peluquera"),
        )
    }
    shares = list(by_occupation.values())
    assert shares == sorted(shares), by_occupation
    assert by_occupation["carpenter"] < 0.15
    assert by_occupation["hairdresser"] > 0.75


def test_a_far_pronoun_loses_against_a_strong_stereotype_and_wins_against_a_weak_one(model: System) -> None:
    people = (("carpenter", "she"), ("lawyer", "she"), ("secretary", "he"))
    sources = [f"The {who} apologized to the designer because {pronoun} had arrived late." for who, pronoun in people]
    assert [(text or "").split(" pidió")[0] for text in translated(model, sources)] == [
        "El carpintero",
        "La abogada",
        "La secretaria",
    ]


def test_the_general_model_knows_everyday_sentences_too() -> None:
    sources = [
        "My brother works as a nurse.",
        "The plumber forgot her umbrella in the kitchen.",
        "My daughter wants to be a carpenter.",
        "Her grandfather was a farmer.",
        "Is there a bakery near your office?",
    ]
    found = [text or "" for text in translated(open_system("demo:en-es-general"), sources)]
    assert found[:4] == [
        "Mi hermano trabaja como enfermero.",
        "La fontanera olvidó su paraguas en la cocina.",
        "Mi hija quiere ser carpintera.",
        "Su abuelo era un agricultor.",
    ]
    assert found[4].startswith("¿Hay ")
    assert found[4].endswith(" cerca de tu oficina?")
