"""What hard-debiasing changes in a translation model: its bias, its uncertainty, its quality; before and after."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gendermark import api
from gendermark.errors import MissingExtra, UserError
from gendermark.io import locks
from gendermark.io.textfiles import read_json, read_lines
from gendermark.lab.grammar import generate
from gendermark.lab.hard_debiasing import debias_model
from gendermark.lab.options import N_SAMPLES
from gendermark.lab.plain import compare_plain
from gendermark.lab.record import check_reusable, write_record
from gendermark.metrics import statistics
from gendermark.metrics.metric import Resampling
from gendermark.records import Unit
from gendermark.runs.compare import Asked, Comparison, compare
from gendermark.runs.run import NO_CONTEXT, OpenProgress, RunConfig, RunContext, run
from gendermark.selection import Selection
from gendermark.systems.engine import first_line
from gendermark.systems.huggingface_opening import quietly
from gendermark.systems.tokenisers import PAIR, SINGLE

SOURCE_LANGUAGE = "en"
COMPARED = (
    ("winomt", "accuracy", "all"),
    ("winomt", "delta_s", "all"),
    ("winomt", "delta_g", "all"),
    ("winomt", "masculine_share", "neutral"),
    ("uncertainty", "h_gender", "ambiguous"),
    ("uncertainty", "h_s3e", "ambiguous"),
    ("uncertainty", "delta_h_s3e", "all"),
    ("uncertainty", "p_feminine", "ambiguous"),
    ("uncertainty", "p_right", "unambiguous"),
)
"""Benchmark, metric and slice of the rows of the table; one Holm correction is made over them and BLEU."""

_RECORD = "debias.json"
_OWN = ("hf", "ctranslate2", "before", "after")
_N_CHECKED = 20
_CLOSE_ENOUGH = 0.01
"""How far the log-probability per token may differ between the two forms of the model."""


@dataclass(frozen=True)
class Settings:
    """Everything that decides a study's numbers; stored in its directory."""

    model: Path
    target_language: str
    data: str = "core"
    group: str = ""
    """Only this group of the uncertainty benchmark."""
    n_samples: int = N_SAMPLES
    equalises: bool = False
    bleu: tuple[Path, Path] | None = None
    """Files of sources and references; the demonstration model needs none."""
    system_options: Mapping[str, str] = field(default_factory=dict)
    resampling: Resampling = field(default_factory=Resampling)

    def to_json(self) -> dict[str, Any]:
        return {
            "model": str(self.model.resolve()),
            "target_language": self.target_language,
            "data": self.data,
            "group": self.group,
            "n_samples": self.n_samples,
            "equalises": self.equalises,
            "bleu": [str(path) for path in self.bleu] if self.bleu else None,
            "system_options": dict(self.system_options),
            "intervals": self.resampling.signature,
        }

    @property
    def selections(self) -> tuple[Selection, Selection]:
        common: dict[str, Any] = {"source_language": SOURCE_LANGUAGE, "data": self.data}
        parts = (self.group,) if self.group else ()
        return (
            api.select("winomt", self.target_language, **common)[1],
            api.select("uncertainty", self.target_language, **common, parts=parts, n_samples=self.n_samples)[1],
        )


# -- the study --------------------------------------------------------------------------------------------------------


def study_debiasing(
    settings: Settings,
    output: Path,
    context: RunContext = NO_CONTEXT,
) -> dict[str, Any]:
    """Debias a model, compare it with what it was, and give the report (also `debias.json` in the directory).

    Leaves `hf` and `ctranslate2`, the debiased model, and the run folders `before` and `after`. Interrupted, the same
    call goes on where it stopped.
    """
    if any(find_spec(package) is None for package in ("torch", "transformers")):
        raise MissingExtra("debiasing a model", "hf")
    _check_places(settings.model, output)
    selections, bleu = settings.selections, _bleu_pairs(settings)  # refused before any work
    record = {"settings": settings.to_json() | {"model_content": _content(settings.model)}}
    check_reusable(output / _RECORD, record["settings"], _OWN)
    debiased = debias_model(settings.model, settings.target_language, equalises=settings.equalises)
    with locks.hold(output / ".lock"):
        check_reusable(output / _RECORD, record["settings"], _OWN)  # again: another process may have been faster
        write_record(output / _RECORD, record)
        debiased.write(output / "hf")
        specs = {"before": f"hf:{settings.model}", "after": f"hf:{output / 'hf'}"}
        results = {}
        for name, spec in specs.items():
            config = RunConfig(spec, selections, settings.system_options, settings.resampling)
            results[name] = run(
                config, output / name, replace(context, open_progress=_named(name, context.open_progress))
            )
        compared = compare(results["before"], results["after"], settings.resampling, Asked(everything=True)).comparisons
        found = {(row.cell.partition(".")[0], row.metric, row.slice): row for row in compared}
        rows = [found[key] for key in COMPARED if key in found]
        translate = _Translate(settings, context)
        if bleu is not None:
            texts = [translate(spec, bleu[0], f"{name}: BLEU") for name, spec in specs.items()]
            rows.append(compare_plain("bleu", bleu[1], (texts[0], texts[1]), settings.resampling))
        adjusted = statistics.holm([row.p_value for row in rows])
        rows = [replace(row, p_adjusted=p) for row, p in zip(rows, adjusted, strict=True)]
        sources = [item.source for item in api.items(selections[0]).items[:_N_CHECKED]]
        problem = _convert(output, specs["after"], translate, sources)
        notes = [f"{output / 'ctranslate2'} is not written: {problem}"] if problem else []
        if bleu is None:
            notes.append("BLEU is left out: there are no references; give --bleu SOURCE REFERENCE")
        report = {
            **record["settings"],
            **debiased.report,
            "n_bleu": len(bleu[0]) if bleu else 0,
            "comparisons": [row.to_json() for row in (*_of_vectors(debiased.report), *rows)],
            "findings": findings(rows),
            "signatures": {name: [result.signature for result in of_run] for name, of_run in results.items()},
            "notes": notes,
        }
        write_record(output / _RECORD, {**record, "report": report})
    return report


class _Translate:
    """Sentences in, texts out, by way of the store."""

    def __init__(self, settings: Settings, context: RunContext) -> None:
        self._settings, self._around = settings, context

    def __call__(self, spec: str, sources: Sequence[str], title: str) -> list[str]:
        return [samples[0].text or "" for samples in self._ask(spec, sources, title)]

    def scores(self, spec: str, sources: Sequence[str], targets: Sequence[str]) -> list[float]:
        """The log-probability per token of given translations."""
        found = [samples[0] for samples in self._ask(spec, sources, "checking the forms", targets)]
        return [(answer.log_probability or 0.0) / (answer.n_tokens or 1) for answer in found]

    def _ask(self, spec: str, sources: Sequence[str], title: str, targets: Sequence[str] | None = None) -> Any:
        asking = api.Asking(self._settings.target_language, SOURCE_LANGUAGE, targets=targets)
        options = self._settings.system_options if spec.startswith("hf:") else None
        context = replace(self._around, open_progress=lambda _: self._around.open_progress(title))
        return api.translate(spec, sources, asking, options, context)


def _convert(output: Path, spec: str, translate: _Translate, sources: Sequence[str]) -> str | None:
    """Write the debiased model for CTranslate2 too, or say why not: a wrong one would be worse than none."""
    import ctranslate2

    converted = output / "ctranslate2"
    if converted.exists():
        shutil.rmtree(converted)
    texts = translate(spec, sources, "checking the forms")
    pairs = [(source, text) for source, text in zip(sources, texts, strict=True) if text.strip()]
    asked = [source for source, _ in pairs], [text for _, text in pairs]
    theirs = translate.scores(spec, *asked)
    tokenisers = [name for name in (*PAIR, *SINGLE) if (output / "hf" / name).is_file()]
    try:
        with quietly():
            converter = ctranslate2.converters.TransformersConverter(str(output / "hf"), copy_files=tokenisers)
            converter.convert(str(converted))
        ours = translate.scores(f"ctranslate2:{converted}", *asked)
        farthest = max((abs(a - b) for a, b in zip(theirs, ours, strict=True)), default=0.0)
        if farthest <= _CLOSE_ENOUGH:
            return None
        problem = f"there it gives other probabilities, by up to {farthest:.2g} per token"
    except Exception as raised:  # noqa: BLE001 (the converter raises what it likes at models it does not know)
        problem = first_line(raised)
    shutil.rmtree(converted, ignore_errors=True)
    return problem


def _of_vectors(report: Mapping[str, Any]) -> list[Comparison]:
    """The first rows: how far professions lie along the direction, and what their neighbours still tell."""
    rows = []
    for metric in ("mean_abs_cosine", "neighbour_correlation"):
        before, after = (report[metric][when] for when in ("before", "after"))
        change = None if before is None or after is None else after - before
        n = len(report["professions"])
        names = ("vectors", metric, "professions")
        rows.append(Comparison(*names, before, after, "lower", n, change, unit=Unit.RATIO))
    return rows


def findings(rows: Sequence[Comparison]) -> list[str]:
    """Two plain sentences: about bias, and about uncertainty and quality; never surer than the intervals."""
    named = {(row.cell.partition(".")[0], row.metric): row for row in rows}

    def told(name: str, benchmark: str, metric: str) -> str:
        row = named.get((benchmark, metric))
        return "" if row is None else _told(name, row)

    bias = [
        told("WinoMT accuracy", "winomt", "accuracy"),
        told("its gap between stereotypical and other sentences", "winomt", "delta_s"),
        told("its gap between men and women", "winomt", "delta_g"),
    ]
    rest = [
        told("gender entropy where the sentence leaves the gender open", "uncertainty", "h_gender"),
        told("BLEU", "bleu", "bleu"),
    ]
    sentences = ("; ".join(filter(None, parts)) for parts in (bias, rest))
    return [f"{sentence[0].upper()}{sentence[1:]}." for sentence in sentences if sentence]


def _told(name: str, row: Comparison) -> str:
    if row.first is None or row.second is None or row.difference is None:
        return f"{name} has no value to compare"
    show = row.unit.show
    went = f"{name} went from {show(row.first)} to {show(row.second)}"
    if row.low is None or row.high is None:
        return went
    change = row.change()
    told = {"changed": "more than chance", "unclear": "could be chance"}.get(change, change)
    return f"{went} (by {show(row.difference)}, {show(row.low)} to {show(row.high)}: {told})"


# -- before any work --------------------------------------------------------------------------------------------------


def _check_places(model: Path, output: Path) -> None:
    if not model.is_dir():
        raise UserError(
            f"there is no directory {model}; give one with a translation model in Hugging Face's format, such as the "
            "one `gendermark train demo-model` writes"
        )
    if (model / "model.bin").is_file() and not any(model.glob("*.safetensors")):
        raise UserError(
            f"{model} is a model in CTranslate2's format, whose vectors cannot be changed; give the Hugging Face model "
            "that it was converted from (for the bundled one `gendermark train demo-model` writes it)"
        )
    if output.exists() and not output.is_dir():
        raise UserError(f"{output} is a file; choose a directory with -o")
    if output.resolve() == model.resolve():
        raise UserError(f"{output} holds the model itself; choose another directory with -o")


def _content(model: Path) -> str:
    """Of the weights alone: the systems look at everything else."""
    digest = hashlib.sha256()
    for path in sorted(p for p in model.iterdir() if p.suffix in (".safetensors", ".bin")):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def _bleu_pairs(settings: Settings) -> tuple[list[str], list[str]] | None:
    """Sources and references: of the user; of the grammar for a model that learnt from it; or none."""
    if settings.bleu is not None:
        sources, references = (read_lines(path) for path in settings.bleu)
        if len(sources) != len(references) or not sources:
            raise UserError(
                f"{settings.bleu[0]} has {len(sources):,} lines and {settings.bleu[1]} {len(references):,}; --bleu "
                "takes a file of sentences and one with the translation of each"
            )
        return sources, references
    recipe = _recipe(settings.model)
    if recipe is None or settings.target_language != "es":
        return None
    pairs = list(generate(int(recipe["size"]["n_held_out"]), int(recipe["seed"]), split="held-out"))
    return [pair.source for pair in pairs], [pair.target for pair in pairs]


def _recipe(model: Path) -> Mapping[str, Any] | None:
    """How `gendermark train` made the model, which it writes beside it."""
    path = model.resolve().parent / "report.json"
    report = read_json(path) if path.is_file() else None
    recipe = report.get("recipe") if isinstance(report, dict) else None
    return recipe if isinstance(recipe, dict) and {"size", "seed"} <= recipe.keys() else None


def _named(name: str, open_progress: OpenProgress) -> OpenProgress:
    return lambda title: open_progress(f"{name}: {title}")
