"""`gendermark score`: score translations made elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gendermark.cli.options import (
    Aligner,
    Alpha,
    Cluster,
    Confidence,
    Context,
    Data,
    Detector,
    Entailment,
    From,
    Resamples,
    Revision,
    Rules,
    Sampling,
    Seed,
    Similarity,
    Split,
    To,
    Variant,
    joined_sampling,
    pairs,
    resampling,
)
from gendermark.cli.terminal import AsJson, print_json
from gendermark.errors import UserError


def score(
    benchmark: Annotated[str, typer.Argument(help="Benchmark, see `gendermark list benchmarks`.")],
    to: To = "",
    from_: From = "",
    translations: Annotated[
        list[Path] | None,
        typer.Option(
            help="One translation per line in `export` order, `source ||| translation` lines, or a .tsv, .csv, .jsonl "
            "or MT-Lens .json with sources; UTF-8. "
            "mt-geneval-counterfactual: may be given twice, masculine then feminine."
        ),
    ] = None,
    samples: Annotated[
        Path | None,
        typer.Option(help='Uncertainty: JSON lines {"id" or "source", "samples": [...], "logprobs": [...]}.'),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=FILE", help="TGBI: translations of one set; give several."),
    ] = None,
    group: Annotated[
        str, typer.Option(help="The file holds this group only (SimpleGEN: fofc ...; WinoMT: pro, anti).")
    ] = "",
    data: Data = "official",
    revision: Revision = "",
    rules: Rules = "best",
    cluster: Cluster = "",
    variant: Variant = "",
    aligner: Aligner = "",
    detector: Detector = "",
    split: Split = "",
    context: Context = "",
    sampling: Sampling = None,
    similarity: Similarity = "",
    alpha: Alpha = "",
    entailment: Entailment = "",
    resamples: Resamples = 1000,
    seed: Seed = 12345,
    confidence: Confidence = 0.95,
    judgements: Annotated[
        Path | None, typer.Option(help="Also write every judgement, one JSON object per line.")
    ] = None,
    tables: Annotated[
        Path | None, typer.Option(help="Also write the detailed tables as CSV files into this directory.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Score a file of translations made elsewhere."""
    from gendermark import api
    from gendermark.cli.results import print_results
    from gendermark.report.writing import write_tables
    from gendermark.textfiles import write_jsonl

    sets = pairs(set_ or [], "--set", "informal=informal.en.txt")
    if bool(translations) + bool(sets) + bool(samples) != 1:
        raise UserError(
            "give either --translations FILE or --set NAME=FILE ... (uncertainty: --samples FILE.jsonl), one of the two"
        )
    if group and sets:
        raise UserError("--group goes with --translations, not with --set")
    options: dict[str, Any] = {
        "source_language": from_,
        "data": data,
        "revision": revision,
        "rules": rules,
        "cluster": cluster,
        "variant": variant,
        "aligner": aligner,
        "detector": detector,
        "split": split,
        "context": context,
        "sampling": joined_sampling(sampling),
        "similarity": similarity,
        "alpha": alpha,
        "entailment": entailment,
    }
    how = resampling(resamples, seed, confidence)
    if samples:
        parts = (group,) if group else ()
        result = api.score_samples(benchmark, samples, to, how, parts=parts, **options)
    else:
        given: Path | dict[str, Path] = {name: Path(file) for name, file in sets.items()}
        if translations:
            given = _by_part(benchmark, translations, group)
        result = api.score(benchmark, given, to, how, **options)
    if judgements is not None:
        write_jsonl(judgements, (judgement.to_json() for judgement in result.judgements))
    if tables is not None:
        write_tables(tables, result)
    if as_json:
        print_json(result.to_json())
    else:
        print_results([result])


def _by_part(benchmark: str, files: list[Path], group: str) -> Path | dict[str, Path]:
    """One file for all, one for a group, or the two genders of MT-GenEval in two files."""
    if len(files) == 2 and benchmark == "mt-geneval-counterfactual" and not group:
        return dict(zip(("masculine", "feminine"), files, strict=True))
    if len(files) > 1:
        raise UserError(
            "--translations is given once; twice, masculine then feminine, for mt-geneval-counterfactual only"
        )
    return {group: files[0]} if group else files[0]
