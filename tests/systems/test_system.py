"""How a system is named, and what is said about names and options that do not exist."""

from __future__ import annotations

import pytest

from gendermark.errors import UserError
from gendermark.records import Task
from gendermark.systems.system import (
    count_option,
    families_that_can,
    number_option,
    open_system,
    refuse_unknown_options,
    split_options,
)


@pytest.mark.parametrize("spec", ["", "fake", "fake:", "right"])
def test_a_system_is_family_and_argument(spec: str) -> None:
    with pytest.raises(UserError) as caught:
        open_system(spec)
    message = str(caught.value)
    assert message.startswith(f"write a system as family:argument, not {spec!r}; available: ")
    assert {"command:...", "fake:...", "files:..."} <= set(message.partition("available: ")[2].split(", "))


def test_an_unknown_family() -> None:
    with pytest.raises(
        UserError, match=r"^unknown system 'comand' \(did you mean 'command'\?\); available: .*fake, .*files"
    ):
        open_system("comand:cat")


def test_the_argument_may_hold_colons() -> None:
    assert open_system("files:C:/translations.txt").spec == "files:C:/translations.txt"


def test_options_behind_the_name_and_beside_it() -> None:
    assert split_options("x?a=1&b=", {"c": "3"}) == ("x", {"a": "1", "b": "", "c": "3"})
    for query, beside in (("a=1&a=2", {}), ("a=1", {"a": "2"}), ("a=1", {"a": "1"})):
        with pytest.raises(
            UserError, match=r"^option a is given twice; give it once, after \? or with --system-option$"
        ):
            split_options(f"x?{query}", beside)


def test_who_can_score_and_how() -> None:
    able = families_that_can(Task.SCORE)
    assert "openai:... (with endpoint=completions)" in able
    assert "demo:..." in able
    assert "openai:..." in families_that_can(Task.SAMPLE)


def test_unknown_options() -> None:
    refuse_unknown_options("toy", {"a": "1"}, ("a", "b"))
    with pytest.raises(UserError, match=r"^system family toy has no option 'c'; available: a, b$"):
        refuse_unknown_options("toy", {"a": "1", "c": "2"}, ("a", "b"))
    with pytest.raises(UserError, match=r"^system family toy has no option 'c'; available: none$"):
        refuse_unknown_options("toy", {"c": "2"}, ())


def test_numbers() -> None:
    assert number_option({"x": " 2.5 "}, "x", 1) == 2.5
    assert number_option({}, "x", 1) == 1.0
    for text in ("", "much", "0", "-1", "nan", "inf", "1e999"):
        with pytest.raises(UserError, match=f"^option x must be a number above 0, not {text!r}$"):
            number_option({"x": text}, "x", 1)


def test_counts() -> None:
    assert count_option({"x": " 12 "}, "x", 1) == 12
    assert count_option({}, "x", 64) == 64
    for text in ("", "many", "0", "-1", "0.7", "1e3"):
        with pytest.raises(UserError, match=f"^option x must be a whole number, at least 1, not {text!r}$"):
            count_option({"x": text}, "x", 1)
