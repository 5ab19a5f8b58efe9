"""`gendermark data`: list, download and verify the official data sets."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from gendermark.cli import terminal
from gendermark.cli.options import Data, Revision, Targets
from gendermark.cli.terminal import All, AsJson, echo, print_json, print_table, say, show_progress
from gendermark.errors import BadFile, UnknownName, UserError
from gendermark.io.textfiles import read_lines, write_lines

if TYPE_CHECKING:
    from gendermark.data.official import Card, DataFile
    from gendermark.data.official import Revision as CardRevision


def list_(as_json: AsJson = False) -> None:
    """List the official data sets: licence, revisions, size, and what is in the cache."""
    from gendermark.data import card_names, load_card, official

    rows, records = [], []
    for card in map(load_card, card_names()):
        for revision in card.revisions:
            groups = {}
            for group in revision.groups:
                files = revision.select(group)
                n_cached = len(files) - len(official.not_good(card, revision, files))
                groups[group] = {"n_files": len(files), "n_cached": n_cached, "n_bytes": _n_bytes(files)}
            records.append({**_facts(card, revision), "groups": groups})
            sizes = " + ".join(f"{_megabytes(facts['n_bytes'])} {group}" for group, facts in groups.items())
            cached = ", ".join(f"{facts['n_cached']}/{facts['n_files']} {group}" for group, facts in groups.items())
            rows.append((card.name, revision.revision_id, card.title, card.licence, sizes, cached))
    if as_json:
        print_json({"cache": str(official.cache_root()), "data": records})
    elif terminal.is_terminal(sys.stdout):
        brief = [(*row[:2], row[3], re.sub(" data| outputs", "", row[4]), row[5]) for row in rows]
        print_table("Official data", ("name", "revision", "licence", "size", "cached"), brief)
    else:
        print_table("Official data", ("name", "revision", "title", "licence", "size", "cached"), rows)
    say("Size: data + system outputs released with them (`gendermark data get NAME --all`).")
    say(f"cache: {official.cache_root()}")


def get(names: tuple[str, ...], revision: str = "", everything: All = False, as_json: AsJson = False) -> None:
    """Download official data sets into the cache and verify them.

    Args:
        names (NAME): Data set; see `gendermark data list`.
        revision (NAME): Only this revision; default: all.
        everything: Also download the released system outputs.
    """
    from gendermark.data import load_card, official

    cards = [load_card(name) for name in dict.fromkeys(names)]  # refuse a wrong name before downloading anything
    chosen = [(card, [card.revision(revision)] if revision else card.revisions) for card in cards]
    records = []
    for card, revisions in chosen:
        say(f"{card.notice}\n{card.bibtex.strip()}")
        for one in revisions:
            files = one.select(None if everything else "data")
            wanted = official.not_good(card, one, files)
            label = f"{card.name} {one.revision_id}"
            say(f"{label}: downloading {len(wanted)} of {len(files)} files, {_megabytes(_n_bytes(wanted))}")
            with show_progress(label) as progress:
                found = official.fetch(card, one, files, progress=progress, say=say)
            place = {"directory": str(official.directory(card, one)), "files": list(found)}
            records.append({**_facts(card, one), **place, "n_fetched": len(wanted)})
    if as_json:
        print_json({"data": records})
    else:
        echo("\n".join(f"{record['name']}\t{record['revision']}\t{record['directory']}" for record in records))


def verify(names: Annotated[tuple[str, ...], Argument()] = (), as_json: AsJson = False) -> None:
    """Check cached files against their SHA-256.

    Args:
        names (NAME): Data set; default: everything in the cache.
    """
    from gendermark.data import card_names, load_card, official
    from gendermark.data.official import State

    n_good, problems = 0, []
    for card in [load_card(name) for name in dict.fromkeys(names or card_names())]:
        groups = [(revision, group) for revision in card.revisions for group in revision.groups]
        found = {key: {f: official.state(card, key[0], f) for f in key[0].select(key[1])} for key in groups}
        begun = {key: states for key, states in found.items() if set(states.values()) != {State.MISSING}}
        if names and not begun:  # requested by name, so report its absence
            begun = {key: states for key, states in found.items() if key[1] == "data"}
        for (revision, group), states in begun.items():
            where = {"name": card.name, "revision": revision.revision_id, "group": group}
            bad = {file.path: str(state) for file, state in states.items() if state is not State.GOOD}
            problems += [{**where, "path": path, "state": state} for path, state in bad.items()]
            n_good += len(states) - len(bad)
    mend = None
    if problems:
        wanted = list(dict.fromkeys(p["name"] for p in problems))
        revisions = {p["revision"] for p in problems}
        revision_option = f" --revision {revisions.pop()}" if len(wanted) == len(revisions) == 1 else ""
        everything = " --all" if any(p["group"] != "data" for p in problems) else ""
        mend = f"gendermark data get {' '.join(wanted)}{revision_option}{everything}"
    if as_json:
        print_json({"cache": str(official.cache_root()), "n_good": n_good, "problems": problems, "mend": mend})
    else:
        for problem in problems:
            echo("\t".join(problem[key] for key in ("state", "name", "revision", "path")))
    if problems:
        first = "; ".join(f"{p['name']} {p['revision']} {p['path']} is {p['state']}" for p in problems[:3])
        more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
        raise UserError(f"{first}{more}; fix it with: {mend}")
    say(f"{n_good:,} files verified" if n_good else "the cache is empty; download with: gendermark data get NAME")


def _facts(card: Card, revision: CardRevision) -> dict[str, Any]:
    texts = {key: getattr(card, key) for key in ("title", "licence", "licence_note", "citation", "bibtex", "homepage")}
    return {"name": card.name, "revision": revision.revision_id, "commit": revision.commit, **texts}


def _n_bytes(files: Iterable[DataFile]) -> int:
    return sum(file.size for file in files)


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB"


def convert(kind: str, file: Path, output: Path | None = None) -> None:
    """Convert a WinoBias or Winogender file to WinoMT rows: gender, entity index, sentence, entity.

    Args:
        kind (winobias|winogender): Format of the file.
        file (FILE): File as published by its authors.
        output (FILE): Output file; default: stdout.
    """
    from gendermark.data.own import convert_winobias, convert_winogender

    kinds = {"winobias": convert_winobias, "winogender": convert_winogender}
    if kind not in kinds:
        raise UnknownName("kind of file", kind, kinds)
    numbered = list(enumerate(read_lines(file), start=1))
    if kind == "winogender" and numbered and numbered[0][1].split("\t")[0].strip() == "sentid":
        del numbered[0]  # header
    lines = [kinds[kind](line, file, number) for number, line in numbered if line.strip()]
    if not lines:
        raise BadFile(file, "has no sentences")
    if output is None:
        echo("\n".join(lines))
    else:
        write_lines(output, lines)
        say(f"{len(lines):,} sentences written to {output}")


def statistics(
    to: Targets = (), split: str = "dev", data: Data = "official", revision: Revision = "", as_json: AsJson = False
) -> None:
    """Count distinct words and gendered phrases, as the papers of the data sets do.

    Args:
        split (test|dev): test or dev.
    """
    from gendermark import api, registry

    rows: list[tuple[Any, ...]] = []
    for name, benchmark in registry.every("benchmark"):
        if benchmark.corpus_statistics is None:
            continue
        for code in to or [target for _, target in benchmark.language_pairs(data)]:
            _, selection = api.select(name, code, data=data, revision=revision, split=split)
            table = benchmark.corpus_statistics(selection)
            rows += table.rows
    if as_json:
        print_json({"statistics": [dict(zip(table.columns, row, strict=True)) for row in rows]})
    else:
        print_table(table.title, table.columns, rows)
