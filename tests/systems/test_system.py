"""How a system is named, and what is refused about names and options."""

from __future__ import annotations

import pytest

from gendermark.errors import UserError
from gendermark.plugin import count_option, flag_option, number_option, refuse_unknown_options
from gendermark.records import Task
from gendermark.systems.system import choice_option, families_that_can, open_system, split_options


@pytest.mark.parametrize("spec", ["", "fake", "fake:", "right"])
def test_a_system_is_family_and_argument(spec: str) -> None:
    with pytest.raises(UserError, match="family:argument") as caught:
        open_system(spec)
    assert {"command:...", "fake:...", "files:..."} <= set(str(caught.value).partition("available: ")[2].split(", "))


def test_an_unknown_family() -> None:
    with pytest.raises(UserError, match=r"'comand' .*'command'.*available: .*fake, .*files"):
        open_system("comand:cat")


def test_the_argument_may_hold_colons() -> None:
    assert open_system("files:C:/translations.txt").spec == "files:C:/translations.txt"


def test_options_after_the_name_and_beside_it() -> None:
    assert split_options("x?a=1&b=", {"c": "3"}) == ("x", {"a": "1", "b": "", "c": "3"})
    for query, beside in (("a=1&a=2", {}), ("a=1", {"a": "2"}), ("a=1", {"a": "1"})):
        with pytest.raises(UserError, match="option a is given twice"):
            split_options(f"x?{query}", beside)


def test_families_say_what_they_can_do() -> None:
    assert {"demo:...", "openai:... (with endpoint=completions)"} <= set(families_that_can(Task.SCORE))
    assert "openai:..." in families_that_can(Task.SAMPLE)


def test_options_of_every_kind() -> None:
    assert number_option({"x": " 2.5 "}, "x", 1) == 2.5
    assert number_option({}, "x", 1) == 1.0
    assert count_option({"x": " 12 "}, "x", 1) == 12
    assert count_option({}, "x", 64) == 64
    assert [flag_option({"x": text}, "x") for text in ("yes", " NO")] == [True, False]
    assert choice_option({}, "x", ("a", "b")) == "a"
    refuse_unknown_options("toy", {"a": "1"}, ("a", "b"))


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (lambda options: number_option(options, "x", 1), ("", "much", "0", "-1", "nan", "inf", "1e999")),
        (lambda options: count_option(options, "x", 1), ("", "many", "0", "-1", "0.7", "1e3")),
        (lambda options: flag_option(options, "x"), ("", "maybe")),
        (lambda options: choice_option(options, "x", ("a", "b")), ("", "c")),
    ],
)
def test_a_wrong_value_is_named(kind, texts: tuple[str, ...]) -> None:
    for text in texts:
        with pytest.raises(UserError, match=f"^option x .*not '{text}'$"):
            kind({"x": text})


@pytest.mark.parametrize("known", [("a", "b"), ()])
def test_an_unknown_option_is_named(known: tuple[str, ...]) -> None:
    with pytest.raises(UserError, match=f"toy .*'c'.*available: {', '.join(known) or 'none'}$"):
        refuse_unknown_options("toy", {"c": "2"}, known)
