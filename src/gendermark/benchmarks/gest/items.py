"""GEST's sentences: the official ones of either revision, or our own."""

from __future__ import annotations

from gendermark.benchmarks.benchmark import ItemSet
from gendermark.benchmarks.gest import STEREOTYPES, WOMEN, Settings
from gendermark.data.bundled import core_origin, core_rows, core_text
from gendermark.data.official import official_files
from gendermark.data.own import file_of, read_own
from gendermark.io.tables import read_csv
from gendermark.records import Gender, Item

_OFFICIAL_FILES = {"1.0": "data/gest.csv", "1.1": "data/gest_1.1.csv"}


def load(settings: Settings) -> ItemSet:
    rows: list[tuple[str, str]]
    if path := file_of(settings.data):
        found, origin = read_own(path, ("source", "stereotype"))
        rows = [(row.one_of("stereotype", STEREOTYPES, ""), row["source"]) for row in found]
    elif settings.data == "core":
        rows = [(row["stereotype"], row["sentence"]) for row in core_rows("gest/sentences.tsv")]
        origin = core_origin(core_text("gest/sentences.tsv"))
    else:
        revision = settings.revision
        source = official_files("gest", revision)
        cells = read_csv(source.path(_OFFICIAL_FILES[revision]))
        next(cells)  # the header: sentence, stereotype
        rows = [(STEREOTYPES[int(number) - 1], sentence) for _, (sentence, number) in cells]
        origin = f"official-{revision}-{source.revision[:8]}-{source.content_hash[:8]}"
    # Ten official sentences occur twice, eight of them under two stereotypes: they are resampled together.
    first: dict[str, int] = {}
    items = []
    for number, (trait, sentence) in enumerate(rows):
        gender = Gender.FEMININE if trait in WOMEN else Gender.MASCULINE
        tags = {"trait": trait, "stereotype": gender.value}
        group = f"sentence-{first.setdefault(sentence, number):04}"
        # No gender is expected: neither is wrong.
        items.append(Item(f"gest-{number:04}", number, group, sentence, None, tags))
    if settings.parts:
        items = [item for part in settings.parts for item in items if item.tags["trait"] == part]
    return ItemSet(settings, tuple(items), origin)
