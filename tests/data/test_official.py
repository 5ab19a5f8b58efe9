"""What a loader gets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gendermark.data import card, official_files
from gendermark.errors import UnknownName, UserError


@pytest.fixture(autouse=True)
def _toy_set(toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cards").mkdir()
    (tmp_path / "cards" / "toy.toml").write_text(toy.text, encoding="utf-8")
    monkeypatch.setattr(card, "CARDS", tmp_path / "cards")
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", str(toy.fill(tmp_path / "mirror")))


def test_the_files_of_a_group(toy: Any) -> None:
    found = official_files("toy", "released")
    assert found.path("b.txt").read_bytes() == b"one line\n"
    assert set(found.paths) == {"data/a.txt", "b.txt"}
    assert (found.name, found.revision_id, found.revision) == ("toy", "released", toy.revision.commit)
    assert found.content_hash == toy.revision.content_hash("data")
    assert not toy.place("out/c.txt").exists()
    outputs = official_files("toy", "released", "outputs")
    assert set(outputs.paths) == {"out/c.txt"}
    assert outputs.content_hash == toy.revision.content_hash("outputs")


def test_licence_and_citation_are_said_around_a_download_only(toy: Any) -> None:
    said: list[str] = []
    official_files("toy", "released", say=said.append)
    assert said == [toy.card.notice] * 2
    assert "Toy (https://github.com/owner/repo), licence: MIT. A note.\nPlease cite: Nobody (2020). Toy." in said
    said.clear()
    official_files("toy", "released", say=said.append)
    assert said == []


def test_damage_is_mended_at_the_next_use(toy: Any) -> None:
    official_files("toy", "released").path("b.txt").write_bytes(b"damaged!\n")
    assert official_files("toy", "released").path("b.txt").read_bytes() == b"one line\n"


def test_wrong_names(toy: Any) -> None:
    with pytest.raises(UserError, match=r"^'out/c.txt' is not among the files asked for of toy released$"):
        official_files("toy", "released").path("out/c.txt")
    for arguments in (("joy", "released"), ("toy", "2019"), ("toy", "released", "logs")):
        with pytest.raises(UnknownName):
            official_files(*arguments)
