"""What systems are called: a readable name for every spec, and no two runs by the same."""

from __future__ import annotations

import pytest

from cases import read_cases
from gendermark.errors import UserError
from gendermark.names import LONGEST, checked, readable, told_apart


@pytest.mark.parametrize(
    ("spec", "name"),
    read_cases("readable_names.tsv"),
)
def test_a_spec_is_made_readable(spec: str, name: str) -> None:
    assert readable(spec) == name


def test_runs_of_the_same_name_are_told_apart_by_their_folders() -> None:
    assert told_apart(["Bing", "Bing", "Google"], ["runs/a", "runs/b", "c"]) == ["Bing (a)", "Bing (b)", "Google"]
    assert told_apart(["Bing", "Bing"], ["x/run", "y/run"]) == ["Bing (x/run)", "Bing (y/run)"]
    assert told_apart(["Bing", "Bing"], ["x", "x"]) == ["Bing (1)", "Bing (2)"]
    assert told_apart(["unbiased control"] * 2, ["a", "b"]) == ["unbiased control (a)", "unbiased control (b)"]


@pytest.mark.parametrize("name", ["", "  ", "two\nlines", "x" * (LONGEST + 1), "\x1b[31mred"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(UserError, match=r"a name is one line of 1 to 80 characters"):
        checked(name)
    assert checked(" Bing 2019 ") == "Bing 2019"
