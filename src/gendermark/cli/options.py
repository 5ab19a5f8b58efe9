"""Options that several verbs share, and how they make a selection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gendermark.errors import UserError

if TYPE_CHECKING:
    from gendermark.metrics.metric import Resampling


def language(given: Any) -> Any:
    """Languages are named by their codes; one that is given by its name, or in capitals, is told the code."""
    for text in [given] if isinstance(given, str) else given or ():
        if len(text) == 2 and text.islower():
            continue
        from gendermark.linguistics.codes import NAMES

        codes = {name.lower(): code for code, name in NAMES.items()} | {code: code for code in NAMES}
        if code := codes.get(text.lower()):
            raise UserError(f"languages are given by their codes: write {code}, not {text}")
    return given


To = Annotated[str, typer.Option("--to", callback=language, help="Target language, for example es.")]
From = Annotated[str, typer.Option("--from", callback=language, help="Source language, if the benchmark has several.")]
Data = Annotated[
    str,
    typer.Option("--data", help="official (fetched), core (bundled, offline); uncertainty: file:FILE, mgente:FILE."),
]
Revision = Annotated[str, typer.Option("--revision", help="Revision of the official data.")]
Rules = Annotated[str, typer.Option("--rules", help="best, or the published rules: paper.")]
Cluster = Annotated[str, typer.Option("--cluster", help="What intervals resample: occupation, template, lexeme ...")]
Variant = Annotated[str, typer.Option("--variant", help="WinoMT: adjectives. Uncertainty: names.")]
Aligner = Annotated[str, typer.Option("--aligner", help="WinoMT: fast-align (bundled), eflomal or simalign.")]
Detector = Annotated[
    str, typer.Option("--detector", help="WinoMT: spacy:MODEL or stanza:LANGUAGE instead of our rules.")
]
Split = Annotated[str, typer.Option("--split", help="MT-GenEval: test or dev.")]
Context = Annotated[
    str, typer.Option("--context", help="MT-GenEval contextual: none, joined, separator:TEXT or prompt.")
]
NSamples = Annotated[
    int | None, typer.Option("--n-samples", min=1, help="Uncertainty: samples of each sentence (128 if not given).")
]
Sampling = Annotated[
    list[str] | None,
    typer.Option(
        "--sampling",
        metavar="KEY=VALUE",
        help="Uncertainty: how they are drawn, for example epsilon=0.2,seed=1; may be given several times.",
    ),
]
Similarity = Annotated[str, typer.Option("--similarity", help="Uncertainty: characters (bundled), use, or e5:MODEL.")]
Alpha = Annotated[str, typer.Option("--alpha", help="Uncertainty: power of the similarity; a number, or tuned.")]
Entailment = Annotated[
    str, typer.Option("--entailment", help="Uncertainty: NLI model, name or directory, for semantic entropy.")
]
Resamples = Annotated[
    int, typer.Option("--resamples", min=100, max=1_000_000, help="Bootstrap resamples for the intervals.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the resampling.")]
Confidence = Annotated[float, typer.Option("--confidence", help="Confidence of the intervals, between 0.5 and 1.")]


def resampling(n_resamples: int, seed: int, confidence: float) -> Resampling:
    from gendermark.metrics.metric import Resampling

    if not 0.5 <= confidence < 1:
        raise UserError(f"--confidence is a share between 0.5 and 1 (0.95 is usual), not {confidence:g}")
    return Resampling(n_resamples, seed, confidence)


def sampling_pairs(texts: Sequence[str] | None) -> dict[str, str]:
    """How to draw, given by commas (`epsilon=0.2,seed=1`), by several options, or both."""
    parts = [part.strip() for text in texts or () for part in text.split(",")]
    return pairs(parts, "--sampling", "epsilon=0.2,seed=1", "KEY=VALUE,KEY=VALUE")


def joined_sampling(texts: Sequence[str] | None) -> str:
    """The same in the one form that is stored with a run."""
    return ",".join(f"{key}={value}" for key, value in sampling_pairs(texts).items())


def pairs(texts: Sequence[str], option: str, example: str, form: str = "KEY=VALUE") -> dict[str, str]:
    """`KEY=VALUE` options as a dictionary."""
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key or not value:
            raise UserError(f"{option} is written {form}, for example {example}, not {text!r}")
        if key in found:
            raise UserError(f"{option} gives {key!r} twice; give it once")
        found[key] = value
    return found
