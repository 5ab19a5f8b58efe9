"""The translations of one sentence with he, she and they (Table 5 of the uncertainty paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from gendermark.benchmarks.benchmark import ItemSet
from gendermark.benchmarks.uncertainty.items import as_winomt
from gendermark.benchmarks.winomt.benchmark import BENCHMARK as WINOMT
from gendermark.cli.terminal import AsJson
from gendermark.errors import UserError
from gendermark.lab.studies import show
from gendermark.lab.uncertainty_results import (
    Cell,
    Drawn,
    Into,
    drawn_sentences,
    entropy_names,
    read_cell,
    settings_of,
)
from gendermark.records import Gender, Table, Translation


@dataclass(frozen=True)
class Said:
    """One distinct translation."""

    text: str
    count: int
    share: float
    gender: Gender | None


@dataclass(frozen=True)
class Version:
    """A sentence with one pronoun: what was said, and how unsure that is."""

    source: str
    gender: Gender | None
    entropies: Mapping[str, float | None]
    p_feminine: float | None
    translations: tuple[Said, ...]


@dataclass(frozen=True)
class Versions:
    """All versions of one sentence."""

    cell: Cell
    contrast: str
    versions: tuple[Version, ...]

    def table(self) -> Table:
        rows = [
            (str(version.gender or "open"), said.count, said.share, str(said.gender or "undecided"), said.text)
            for version in self.versions
            for said in version.translations
        ]
        title = f"{self.cell.result.called} {self.cell.direction}, contrast set {self.contrast}"
        return Table("samples", title, ("pronoun", "count", "share", "gender", "translation"), rows)

    def entropy_table(self) -> Table:
        names = ("s3e", "gender", "string")
        rows = [
            (
                str(version.gender or "open"),
                version.source,
                *(version.entropies[name] for name in names),
                version.p_feminine,
                len(version.translations),
            )
            for version in self.versions
        ]
        columns = ("pronoun", "source", *(f"h_{name}" for name in names), "p_feminine", "n_distinct")
        return Table("entropies", "How unsure", columns, rows)

    def to_json(self) -> dict[str, Any]:
        return {**self.cell.where, "contrast": self.contrast, "versions": [asdict(found) for found in self.versions]}


_ORDER = (Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL, None)


def look_at(cell: Cell, *, contrast: str = "", source: str = "") -> Versions:
    """What was drawn for a sentence with he, she and they: by the id of its contrast set, or by (part of) its text."""
    if bool(contrast) == bool(source):
        raise UserError("say which sentence: either --contrast ID or --source TEXT")
    drawn = drawn_sentences(cell)
    wanted = _contrast_of(cell, drawn, contrast, source)
    readings = iter(_genders(cell, drawn))
    genders = {found.item.item_id: [next(readings) for _ in found.samples.texts] for found in drawn}
    members = [found for found in drawn if found.item.contrast == wanted]
    members.sort(key=lambda found: _ORDER.index(found.item.expected))
    return Versions(cell, wanted, tuple(_version(cell, found, genders[found.item.item_id]) for found in members))


def _contrast_of(cell: Cell, drawn: Sequence[Drawn], contrast: str, source: str) -> str:
    if contrast:
        if all(found.item.contrast != contrast for found in drawn):
            raise UserError(
                f"{cell.run} has no contrast set {contrast!r}; take a tag `contrast` of its judgements.jsonl, or give "
                "a sentence with --source"
            )
        return contrast
    asked = source.strip().lower()
    same = [found for found in drawn if found.item.source.lower() == asked]
    matching = same or [found for found in drawn if asked in found.item.source.lower()]
    contrasts = list(dict.fromkeys(found.item.contrast for found in matching))
    if not contrasts:
        raise UserError(f"no sentence of {cell.run} has {source!r} in it; see its samples.jsonl")
    if len(contrasts) > 1:
        raise UserError(
            f"{len(contrasts)} sentences of {cell.run} have {source!r} in them, such as {matching[0].item.source!r}; "
            f"give a whole sentence, or --contrast {contrasts[0]}"
        )
    return contrasts[0]


def _genders(cell: Cell, drawn: Sequence[Drawn]) -> list[Gender | None]:
    """The gender of every distinct translation, read as the run read it: words are aligned over all sentences."""
    items = tuple(found.item for found in drawn for _ in found.samples.texts)
    texts = [[Translation("", text)] for found in drawn for text in found.samples.texts]
    if not all(item.entity for item in items):  # mGeNTE names nobody whose gender could be read
        return [None] * len(items)
    item_set = ItemSet(as_winomt(settings_of(cell.result)), items, "")
    return [judgement.observed for judgement in WINOMT.judge(item_set, texts)]


def _version(cell: Cell, found: Drawn, genders: Sequence[Gender | None]) -> Version:
    samples, measures = found.samples, found.judgement.measures
    said = [
        Said(text, int(count), float(count) / samples.n, gender)
        for text, count, gender in zip(samples.texts, samples.counts, genders, strict=True)
    ]
    return Version(
        found.item.source,
        found.item.expected,
        {measure: measures.get(name) for measure, name in entropy_names(cell.result).items()},
        measures.get("p_feminine"),
        tuple(sorted(said, key=lambda one: (-one.count, one.text))),
    )


# -- the command -------------------------------------------------------------------------------------------------------


def samples(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="Run folder with uncertainty results.")],
    to: Into = "",
    contrast: Annotated[str, typer.Option(metavar="ID", help="Contrast set, as in judgements.jsonl.")] = "",
    source: Annotated[str, typer.Option(metavar="TEXT", help="A sentence of the set, or enough of it.")] = "",
    as_json: AsJson = False,
) -> None:
    """One sentence with he, she and they: what was drawn, how often, in which gender, and how unsure that is."""
    found = look_at(read_cell(run, to), contrast=contrast, source=source)
    show(found.to_json(), [found.table(), found.entropy_table()], as_json=as_json)
