"""The translations of one sentence with he, she and they (Table 5 of the uncertainty paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from gendermark.benchmarks.benchmark import ItemSet
from gendermark.benchmarks.uncertainty.items import as_winomt
from gendermark.benchmarks.winomt.benchmark import BENCHMARK as WINOMT
from gendermark.cli.terminal import AsJson
from gendermark.errors import UserError
from gendermark.lab import uncertainty_results as results
from gendermark.lab.studies import show
from gendermark.lab.uncertainty_results import Cell, Drawn, Into
from gendermark.records import Gender, Table, Translation

_ORDER = (Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL, None)


def look_at(cell: Cell, *, contrast: str = "", source: str = "") -> dict[str, Any]:
    """What was drawn for a sentence with he, she and they: by the id of its contrast set, or by (part of) its text."""
    if bool(contrast) == bool(source):
        raise UserError("say which sentence: either --contrast ID or --source TEXT")
    drawn = results.drawn_sentences(cell)
    wanted = _contrast_of(cell, drawn, contrast, source)
    readings = iter(_genders(cell, drawn))
    genders = {found.item.item_id: [next(readings) for _ in found.samples.texts] for found in drawn}
    members = [found for found in drawn if found.item.contrast == wanted]
    members.sort(key=lambda found: _ORDER.index(found.item.expected))
    versions = [_version(cell, found, genders[found.item.item_id]) for found in members]
    return {**cell.where, "contrast": wanted, "versions": versions}


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
    item_set = ItemSet(as_winomt(results.settings_of(cell.result)), items, "")
    return [judgement.observed for judgement in WINOMT.judge(item_set, texts)]


def _version(cell: Cell, found: Drawn, genders: Sequence[Gender | None]) -> dict[str, Any]:
    """The sentence with one pronoun: what was said, and how unsure that is."""
    samples, measures = found.samples, found.judgement.measures
    said = [
        {"text": text, "count": int(count), "share": float(count) / samples.n, "gender": gender}
        for text, count, gender in zip(samples.texts, samples.counts, genders, strict=True)
    ]
    return {
        "source": found.item.source,
        "gender": found.item.expected,
        "entropies": {measure: measures.get(name) for measure, name in results.entropy_names(cell.result).items()},
        "p_feminine": measures.get("p_feminine"),
        "translations": sorted(said, key=lambda one: (-one["count"], one["text"])),
    }


def _tables(report: Mapping[str, Any], system: str) -> list[Table]:
    translations, entropies = [], []
    names = ("s3e", "gender", "string")
    for version in report["versions"]:
        pronoun = str(version["gender"] or "open")
        translations += [
            (pronoun, said["count"], said["share"], str(said["gender"] or "undecided"), said["text"])
            for said in version["translations"]
        ]
        numbers = (*(version["entropies"][name] for name in names), version["p_feminine"])
        entropies.append((pronoun, version["source"], *numbers, len(version["translations"])))
    title = f"{system} {report['direction']}, contrast set {report['contrast']}"
    columns = ("pronoun", "source", *(f"h_{name}" for name in names), "p_feminine", "n_distinct")
    return [
        Table("samples", title, ("pronoun", "count", "share", "gender", "translation"), translations),
        Table("entropies", "How unsure", columns, entropies),
    ]


# -- the command -------------------------------------------------------------------------------------------------------


def samples(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="Run folder with uncertainty results.")],
    to: Into = "",
    contrast: Annotated[str, typer.Option(metavar="ID", help="Contrast set id, from judgements.jsonl.")] = "",
    source: Annotated[str, typer.Option(metavar="TEXT", help="A sentence of the contrast set, or part of it.")] = "",
    as_json: AsJson = False,
) -> None:
    """Show the samples of one sentence with he, she and they: counts, genders and entropy."""
    cell = results.read_cell(run, to)
    report = look_at(cell, contrast=contrast, source=source)
    show(report, _tables(report, cell.result.called), as_json=as_json)
