"""About the data itself: Table 12 of the paper."""

from __future__ import annotations

import re
from typing import Any

from gendermark.benchmarks.mt_geneval import Settings
from gendermark.benchmarks.mt_geneval.items import core_pairs, core_rows, official_pairs
from gendermark.data.official import official_files
from gendermark.errors import UserError
from gendermark.io.textfiles import read_lines
from gendermark.linguistics.contrast import without_tags
from gendermark.records import Table


def corpus_statistics(settings: Settings) -> Table:
    """Table 12: distinct words and distinct gendered phrases of the counterfactual set, on both sides.

    Words are lower-cased runs of letters and digits. The paper does not say how it cut them; its figures are 0.5 to 2.5
    percent higher for words, and within 5 percent for phrases.
    """
    if settings.data not in ("official", "core"):
        raise UserError("the paper's statistics are of official or core data; leave out --data")
    read = core_pairs if settings.data == "core" else official_pairs
    _, references, _ = read(settings)
    rows: list[tuple[Any, ...]] = []
    for side, texts in (
        ("source", _annotated_sources(settings)),
        ("target", [t for ts in references.values() for t in ts]),
    ):
        words = {word for text in texts for word in re.findall(r"\w+", without_tags(text).lower())}
        phrases = {phrase.lower() for text in texts for _, phrase in re.findall(r"<([FM])>(.*?)</\1>", text)}
        rows.append((settings.target_language, settings.split, side, len(texts) // 2, len(words), len(phrases)))
    columns = ("language", "split", "side", "pairs", "distinct words", "distinct gendered phrases")
    return Table("statistics", "Counterfactual set (Table 12)", columns, rows)


def _annotated_sources(settings: Settings) -> list[str]:
    if settings.data == "core":
        rows, _ = core_rows("counterfactual.en.tsv")
        return [row[gender] for gender in ("masculine", "feminine") for row in rows]
    source = official_files("mt-geneval", settings.revision)
    split, code = settings.split, settings.target_language
    folder = f"data/sentences/{split}/annotated"
    names = [f"{folder}/geneval-sentences-{gender}-{split}.en_{code}.en" for gender in ("masculine", "feminine")]
    return [line for name in names for line in read_lines(source.path(name))]
