"""The user's own texts: English texts and translations that belong to no benchmark."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gendermark import registry
from gendermark.auditing.index import IndexedSet
from gendermark.auditing.recognise import Found, Recognised
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.errors import BadFile
from gendermark.io.pairs import read_pairs
from gendermark.io.tables import Row, some
from gendermark.io.textfiles import harmless_cell, write_text
from gendermark.reading.codes import NAMES
from gendermark.result import Result
from gendermark.selection import Selection

_FEWEST_KNOWN, _LEAST_FIT = 10, 0.15
"""Number of texts with names, numbers, placeholders or nouns for people, and the share of these that must recur in
their translations. Those of real programs into six languages keep 0.49 to 0.66 of them; shifted, at most 0.03."""
_COLUMNS = ("file", "line", "source", "person", "source gender", "translation", "shown gender", "state", "evidence")


def own_texts(path: Path, parser: str = "") -> Found:
    """The translations of a file's own texts, one part for each system or language column."""
    every: Iterable[tuple[str, Benchmark]] = registry.every("benchmark")
    benchmark = next((benchmark for _, benchmark in every if benchmark.reads_any_text), None)
    known = registry.names("language")
    columns = [(pairs, column) for pairs in read_pairs(path) for column in pairs.columns]
    if benchmark is None or not columns:
        raise BadFile(
            path, "has English texts but no translations; add a column named after its language (es, German ...)"
        )
    found, passed_over = [], []
    for pairs, column in columns:
        if column.language not in known:
            language = NAMES.get(column.language, "an unrecognised language")
            passed_over.append(f'column "{column.name}" is in {language}; languages that can be read: {some(known)}')
            continue
        options: dict[str, Any] = {"data": f"file:{path}", **({"parser": parser} if parser else {})}
        selection = Selection(benchmark.name, target_language=column.language, **options)
        item_set = benchmark.load(benchmark.complete(selection))
        with_people = {item.source for item in item_set.items}
        rows: dict[str, Row[str]] = {}  # the first translation of each text that mentions a person
        for source, text, line in zip(pairs.sources, column.texts, pairs.lines, strict=True):
            if source in with_people and text:
                rows.setdefault(source, Row(source, text, line))
        # Translations beside the wrong texts share hardly any names or numbers with them.
        first = {item.source: item for item in item_set.items}
        fits = [benchmark.fit(first[source], row.content, item_set.selection) for source, row in rows.items()]
        told = [fit for fit in fits if fit is not None]
        if len(told) >= _FEWEST_KNOWN and sum(told) < _LEAST_FIT * len(told):
            problem = "has translations that do not belong to the texts beside them; put each beside its source"
            raise BadFile(path, f'column "{column.name}" {problem}')
        remark = f"{len(item_set.items):,} people in {len(with_people):,} of {len(set(pairs.sources)):,} texts"
        found.append(
            Recognised(
                path,
                pairs.sheet,
                IndexedSet(benchmark, item_set),
                list(rows.values()),
                f'"{pairs.source_column}"',
                f'"{column.name}"',
                missing=[source for source in with_people if source not in rows],
                remarks=[remark],
            )
        )
    if not found:
        raise BadFile(path, "; ".join(passed_over))
    return found, passed_over


def write_people(path: Path, results: Iterable[tuple[str, Result]]) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    rows = []
    for name, result in results:
        for judgement, (source, translation) in zip(result.judgements, result.texts, strict=True):
            is_suspect = (
                judgement.expected is not None and judgement.outcome in ("", "mixed") and not judgement.is_correct
            )
            shown = "mixed" if judgement.outcome == "mixed" else judgement.observed or ""
            cells = (
                name,
                judgement.tags.get("line", ""),
                source,
                judgement.entity,
                judgement.expected or "not given",
                translation or "",
                shown,
                "shown" if shown else judgement.reason.replace("-", " "),
                " | ".join(judgement.evidence),
            )
            rows.append((not is_suspect, [harmless_cell(str(cell)) for cell in cells]))
    writer.writerows(cells for _, cells in sorted(rows, key=lambda row: row[0]))
    write_text(path, "\ufeff" + out.getvalue())
