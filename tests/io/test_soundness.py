"""Damaged copies of sound translations are refused, whichever way they come in; sound ones are not."""

from __future__ import annotations

import random
import time
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from html.entities import codepoint2name
from pathlib import Path
from urllib.parse import quote

import pytest

import gendermark
from gendermark.cli.app import _exit_code
from gendermark.errors import UserError
from gendermark.io import encodings, soundness
from gendermark.records import Item

_NOUNS = {
    "doctor": "médico", "nurse": "enfermera", "driver": "conductor", "baker": "panadero", "lawyer": "abogado",
    "farmer": "agricultor", "teacher": "profesora", "cook": "cocinero", "tailor": "sastre", "guard": "guardián",
}  # fmt: skip
_ACTS = {
    "bought a house": "compró una casa", "lost the key": "perdió la llave", "sold the car": "vendió el coche",
    "found a dog": "encontró un perro", "wrote a letter": "escribió una carta", "broke the window": "rompió la ventana",
    "opened the door": "abrió la puerta", "read the book": "leyó el libro", "painted the wall": "pintó la pared",
    "fixed the roof": "arregló el tejado", "left the town": "dejó el pueblo", "drank the milk": "bebió la leche",
}  # fmt: skip
PAIRS = [
    (f"The {noun} {act} on day {day}.", f"Después de {day} días también {said} {word}.")
    for day in range(1, 4)
    for act, said in _ACTS.items()
    for noun, word in _NOUNS.items()
]
random.Random(1).shuffle(PAIRS)
SOURCES, TEXTS = [source for source, _ in PAIRS], [text for _, text in PAIRS]
ITEMS = [Item(item_id=str(n), index=n, group_id=str(n), source=source) for n, source in enumerate(SOURCES)]
READABLE = ("cp1252", "cp1250", "cp1251", "cp1255", "cp1258", "iso8859_2", "cp437", "mac_roman")
UNREADABLE = ("koi8_r", "gb18030", "shift_jis")
"""Code pages whose damage can be repaired, and others."""


def _misread(page: str) -> Callable[[list[str]], list[str]]:
    return lambda texts: [text.encode().decode(page, "replace") for text in texts]


def _shuffled(share: float) -> Callable[[list[str]], list[str]]:
    def change(texts: list[str]) -> list[str]:
        chance = random.Random(3)
        places = chance.sample(range(len(texts)), int(share * len(texts)))
        others = dict(zip(places, chance.sample(places, len(places)), strict=True))
        return [texts[others.get(place, place)] for place in range(len(texts))]

    return change


def _neighbours_exchanged(texts: list[str]) -> list[str]:
    return [texts[place ^ 1] for place in range(len(texts))]


def _plain(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))


def _instead(replace: Callable[[str], str]) -> Callable[[list[str]], list[str]]:
    """Other letters than those of ASCII in another way."""
    return lambda texts: ["".join(one if one.isascii() else replace(one) for one in text) for text in texts]


def _half(change: Callable[[list[str]], list[str]]) -> Callable[[list[str]], list[str]]:
    return lambda texts: [changed if n % 2 else texts[n] for n, changed in enumerate(change(texts))]


_ESCAPES: dict[str, Callable[[str], str]] = {
    "as entities": lambda letter: f"&{codepoint2name[ord(letter)]};",
    "as numbers": lambda letter: f"&#x{ord(letter):x};",
    "as in JSON": lambda letter: f"\\u{ord(letter):04x}",
    "as in addresses": quote,
    "as in mails": lambda letter: quote(letter).replace("%", "="),
    "as bytes": lambda letter: str(letter.encode())[2:-1],
}


DAMAGE: dict[str, Callable[[list[str]], list[str]]] = {
    **{f"read as {page}": _misread(page) for page in (*READABLE, *UNREADABLE)},
    **{f"{share:.0%} shuffled": _shuffled(share) for share in (0.2, 0.3, 0.5)},
    "all shuffled": _shuffled(1),
    "neighbours exchanged": _neighbours_exchanged,
    "without accents": lambda texts: list(map(_plain, texts)),
    "without most accents": lambda texts: [*map(_plain, texts[:-1]), texts[-1]],
    **{f"letters {name}": _half(_instead(change)) for name, change in _ESCAPES.items()},
    "control characters": lambda texts: [text.replace("s", "s\x9d") for text in texts],
    "one sentence": lambda texts: [texts[0]] * len(texts),
    "copied in part": lambda texts: [SOURCES[n] if n % 3 == 0 else text for n, text in enumerate(texts)],
    "Portuguese in part": lambda texts: [
        "Ela não sabia que o médico também foi à casa com você." if n % 3 == 0 else text for n, text in enumerate(texts)
    ],
    "in part Portuguese that could be Spanish": lambda texts: [
        f"Uma médica {n} canta." if n % 3 == 0 else text for n, text in enumerate(texts)
    ],
}


def check(texts: list[str]) -> None:
    soundness.check_texts(ITEMS, texts, "es")
    soundness.check_words(SOURCES, texts)


def test_sound_translations_are_accepted() -> None:
    check(TEXTS)


def test_long_answers_take_bounded_time() -> None:
    """A server may send megabytes; the time must not grow with their square."""
    started = time.process_time()
    check([f"?{'a' * 200_000} {text} {'casa ' * 20_000}" if n < 3 else text for n, text in enumerate(TEXTS)])
    assert time.process_time() - started < 30


def test_texts_whose_words_have_no_accents_are_accepted() -> None:
    texts = [f"La cantante {noun} la puerta {n}." for n, noun in enumerate(["abre", "cierra", "pinta"] * 40)]
    soundness.check_texts(ITEMS[:120], texts, "es")


def test_sentences_of_one_group_may_have_one_translation() -> None:
    texts = [TEXTS[n % 4] for n in range(len(ITEMS))]
    soundness.check_texts([replace(item, group_id=str(n % 4)) for n, item in enumerate(ITEMS)], texts, "es")
    with pytest.raises(soundness.Unsound):
        soundness.check_texts(ITEMS, texts, "es")


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_translations_are_refused(name: str) -> None:
    with pytest.raises(soundness.Unsound):
        check(DAMAGE[name](TEXTS))


@pytest.mark.parametrize("left", ["", "_", "*"])
def test_so_many_words_without_any_accent_are_refused(left: str) -> None:
    """Letters that vanish take the endings with them: WinoMT's accuracy in Spanish rose by half a point."""
    texts = [f"{text} Calle{n} b{n}." for n, text in enumerate(TEXTS)]
    check([unicodedata.normalize("NFD", text) for text in texts])
    with pytest.raises(soundness.Unsound, match=r"no accent in \d+ different words"):
        check(_instead(lambda _: left)(texts))


@pytest.mark.parametrize("page", READABLE)
def test_misread_letters_are_repaired_for_the_whole_file(page: str) -> None:
    """Several code pages explain a word, each with other letters: the file shows which it was."""
    sound = [text for text in TEXTS if "\ufffd" not in text.encode().decode(page, "replace")]
    damaged = [text.encode().decode(page) for text in sound]
    usual = encodings.usual_page(damaged, "es")
    assert [encodings.repaired(text, "es", usual) for text in damaged] == sound
    assert [encodings.repaired(text, "es", usual) for text in sound] == sound


def test_answers_of_a_system_are_checked_as_files_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def system(sources: list[str]) -> list[str]:
        return ["El médico le dijo que no."] * len(sources)

    why = "same text for different sentences"
    with pytest.raises(UserError, match=why):
        gendermark.run(system, "winomt", to="es", data="core")
    gendermark.run(system, "winomt", to="es", data="core", directory=tmp_path / "run", accept_unsound=True)
    run = str(tmp_path / "run")
    for command in (["report", run, "--format", "md"], ["compare", run, run], ["gate", run, "--min", "accuracy=0"]):
        _exit_code(command)
        assert why in capsys.readouterr().err
    for format_ in ("md", "csv", "latex", "json"):
        _exit_code(["report", run, "--format", format_])
        assert "|unsound:accepted" in capsys.readouterr().out.replace("\\_", "_")
