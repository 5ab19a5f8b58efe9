"""The people mentioned in texts of the user's own: one item for each."""

from __future__ import annotations

from gendermark.benchmarks.benchmark import ItemSet
from gendermark.benchmarks.own_text import Settings
from gendermark.data.own import file_of
from gendermark.errors import BadFile
from gendermark.io.pairs import read_pairs
from gendermark.io.textfiles import content_hash
from gendermark.metrics.verdicts import LEAST_GROUPS
from gendermark.reading.people import people_in_all
from gendermark.records import Item


def load(settings: Settings) -> ItemSet:
    path = file_of(settings.data)
    tables = read_pairs(path)
    # A text that stands in a file twice is asked about once.
    rows = {
        source: (line, group)
        for pairs in tables
        for line, source, group in zip(pairs.lines, pairs.sources, pairs.groups, strict=True)
    }
    # Texts of one file vary together; with a few files only, nothing could be said of how files vary.
    by_file = len({group for _, group in rows.values()}) >= LEAST_GROUPS
    items: list[Item] = []
    everybody = people_in_all(list(rows), settings.parser)
    for number, ((source, (line, group)), people) in enumerate(zip(rows.items(), everybody, strict=True)):
        for person in people:
            index = len(items)
            tags = {
                "kind": person.kind if person.kind in ("addressee", "speaker") else "person",
                "start": str(person.start),
                "end": str(person.end),
                **({"line": str(line)} if line is not None else {}),
            }
            group_id = group if by_file else f"text-{number:05}"
            items.append(Item(f"person-{index:05}", index, group_id, source, person.gender, tags, entity=person.text))
    if not items:
        raise BadFile(path, f"mentions no person in its {len(rows):,} English texts; there is nothing to report")
    return ItemSet(settings, tuple(items), f"file-{content_hash(path)[:8]}")
