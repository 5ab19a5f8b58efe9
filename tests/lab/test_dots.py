"""Dots with intervals."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from gendermark.lab.dots import Dot, dot_plot


def test_dots_stand_where_their_values_are() -> None:
    drawn = dot_plot(
        "A & B", [("one", [Dot(0.5, 0.25, 1.0), None]), ("two", [Dot(-1.0, -1.0, -1.0), None])], ["s", "t"]
    )
    root = ElementTree.fromstring(drawn)
    space = "{http://www.w3.org/2000/svg}"
    assert root.find(f"{space}title").text == "A & B"
    dots = [float(c.get("cx")) for c in root.findall(f"{space}circle")][:2]
    ticks = {t.text: float(t.get("x")) for t in root.findall(f"{space}text") if t.get("text-anchor") == "middle"}
    assert dots == [pytest.approx(ticks["0.5"], abs=0.1), pytest.approx(ticks["-1"], abs=0.1)]


def test_a_picture_of_nothing_but_zeros() -> None:
    root = ElementTree.fromstring(dot_plot("Zero", [("one", [Dot(0.0, 0.0, 0.0)])], ["s"]))
    assert len(root.findall("{http://www.w3.org/2000/svg}circle")) == 2
