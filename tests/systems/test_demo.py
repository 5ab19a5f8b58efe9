"""The bundled model: it translates the sentences of its grammar, and its bias is the one that was put in."""

from __future__ import annotations

import pytest

from gendermark.errors import UserError
from gendermark.records import Request, Task
from gendermark.systems.demo import MODELS, NAMES, open_system
from gendermark.systems.system import System

pytest.importorskip("ctranslate2", reason="the demonstration model is run by CTranslate2")
pytest.importorskip("sentencepiece", reason="the demonstration model is run by CTranslate2")


@pytest.fixture(scope="module")
def model() -> System:
    return open_system("en-es", {})


def _translations(model: System, *sources: str) -> list[str]:
    requests = [Request(source, "en", "es") for source in sources]
    found = {answer.request_id: answer.text for portion in model.answer(requests) for answer in portion}
    return [found[request.request_id] or "" for request in requests]


def _probability_feminine(model: System, source: str, masculine: str, feminine: str) -> float:
    """Of two translations that differ in gender alone."""
    from math import exp

    requests = [Request(source, "en", "es", Task.SCORE, target) for target in (masculine, feminine)]
    found = {answer.request_id: answer.log_probability for portion in model.answer(requests) for answer in portion}
    him, her = (exp(found[request.request_id] or 0) for request in requests)
    assert him + her > 0.5, "neither is what the model would say"
    return her / (him + her)


def test_its_name(model: System) -> None:
    assert model.spec == "demo:en-es"
    assert open_system("en-es?beam_size=1", {}).spec == "demo:en-es?beam_size=1"
    assert open_system("en-es", {"beam_size": "1"}).spec == "demo:en-es?beam_size=1"
    assert {Task.TRANSLATE, Task.SAMPLE, Task.SCORE} <= model.tasks


def test_another_pair() -> None:
    with pytest.raises(UserError, match=r"^unknown demonstration model 'en-de' .*available: en-es, en-es-general$"):
        open_system("en-de", {})


def test_another_direction_than_its_own(model: System) -> None:
    with pytest.raises(UserError, match=r"^demo:en-es translates en-es .*but en-de is asked for"):
        list(model.answer([Request("The nurse is here.", "en", "de")]))


def test_an_unknown_option() -> None:
    with pytest.raises(UserError, match=r"has no option 'beams'"):
        open_system("en-es?beams=4", {})


@pytest.mark.parametrize("name", NAMES)
def test_what_is_bundled(name: str) -> None:
    files = {path.name: path.stat().st_size for path in (MODELS / name).iterdir()}
    assert {"model.bin", "config.json", "shared_vocabulary.json", "source.spm", "target.spm", "MODEL_CARD.md"} <= set(
        files
    )
    assert sum(files.values()) < 8.5e6


def test_gender_said_of_the_noun_itself_is_kept(model: System) -> None:
    found = _translations(
        model, "My brother is a nurse.", "My sister is a nurse.", "My brother is a lawyer.", "My sister is a lawyer."
    )
    assert found == [
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
    told = "The {} apologized to the designer because {} had arrived late."
    found = _translations(
        model, told.format("carpenter", "she"), told.format("lawyer", "she"), told.format("secretary", "he")
    )
    assert [text.split(" pidió")[0] for text in found] == ["El carpintero", "La abogada", "La secretaria"]


def test_the_general_model_knows_everyday_sentences_too() -> None:
    found = _translations(
        open_system("en-es-general", {}),
        "My brother works as a nurse.",
        "The plumber forgot her umbrella in the kitchen.",
        "My daughter wants to be a carpenter.",
        "Her grandfather was a farmer.",
        "Is there a bakery near your office?",
    )
    assert found[:4] == [
        "Mi hermano trabaja como enfermero.",
        "La fontanera olvidó su paraguas en la cocina.",
        "Mi hija quiere ser carpintera.",
        "Su abuelo era un agricultor.",
    ]
    assert found[4].startswith("¿Hay ")
    assert found[4].endswith(" cerca de tu oficina?")
