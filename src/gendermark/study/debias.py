"""Hard-debiasing of a translation model, and what it changes (Bolukbasi et al. 2016; as Iluz et al. 2024 use it).

The vectors by which the encoder reads professions lose what they have along a gender direction. The direction is found
in the same table, from words that are gendered by definition. Only professions of one token are touched, and only in
the encoder: the decoder, which shares its table with it in most models, gets a table of its own with the old numbers.
"""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gendermark import api, locks, statistics
from gendermark.benchmarks.benchmark import Selection
from gendermark.errors import BadFile, MissingExtra, UserError
from gendermark.linguistics.occupations import core_occupations, lexicon
from gendermark.metrics import quality
from gendermark.metrics.metric import Resampling
from gendermark.metrics.regression import correlation
from gendermark.runs.compare import Comparison, compare
from gendermark.runs.run import OpenProgress, RunConfig, no_progress, run
from gendermark.runs.translate import Progress
from gendermark.study.saving import save_whole
from gendermark.systems.engine import first_line
from gendermark.systems.huggingface_opening import loaded, locate, open_config, open_tokeniser, quietly
from gendermark.systems.tokenisers import PAIR, SINGLE
from gendermark.textfiles import read_json, read_lines, write_text

Floats = NDArray[np.float64]

# Feminine first. Those of the paper that are words and not names, and others that are as clear.
DEFINING_PAIRS = (
    ("she", "he"),
    ("her", "his"),
    ("herself", "himself"),
    ("woman", "man"),
    ("women", "men"),
    ("female", "male"),
    ("girl", "boy"),
    ("gal", "guy"),
    ("mother", "father"),
    ("daughter", "son"),
    ("sister", "brother"),
    ("wife", "husband"),
    ("aunt", "uncle"),
    ("niece", "nephew"),
    ("grandmother", "grandfather"),
    ("granddaughter", "grandson"),
    ("queen", "king"),
)
FEWEST_PAIRS = 3
N_NEIGHBOURS = 5
N_SAMPLES = 32
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


@dataclass(frozen=True)
class Words:
    """The words that are one token of a model, with their rows in the table of vectors; and those that are not."""

    pairs: Mapping[tuple[str, str], tuple[int, int]]
    pairs_left_out: tuple[tuple[str, str], ...]
    professions: Mapping[str, int]
    professions_left_out: tuple[str, ...]


# -- the arithmetic ---------------------------------------------------------------------------------------------------


def gender_direction(vectors: Floats, pairs: Sequence[tuple[int, int]]) -> tuple[Floats, float]:
    """The direction of gender, towards the feminine; and how much of the differences within pairs lies along it.

    First principal component of the unit vectors of all pairs, each centred on the middle of its pair.
    """
    members = _unit(vectors[np.array(pairs)])
    centred = members - members.mean(axis=1, keepdims=True)
    _, sizes, components = np.linalg.svd(centred.reshape(-1, vectors.shape[1]), full_matrices=False)
    direction = components[0]
    feminine = float((members[:, 0] - members[:, 1]).sum(axis=0) @ direction)
    share = float(sizes[0] ** 2 / (sizes**2).sum()) if sizes[0] > 0 else 0.0
    return np.asarray(-direction if feminine < 0 else direction), share


def neutralised(vectors: Floats, direction: Floats) -> Floats:
    """Without what they have along the direction, and as long as before."""
    flat = vectors - np.outer(vectors @ direction, direction)
    return np.asarray(_unit(flat) * np.linalg.norm(vectors, axis=-1, keepdims=True))


def equalised(vectors: Floats, direction: Floats) -> Floats:
    """The two words of a pair, alike in everything but the direction, and equally far out on both sides of it."""
    units = _unit(vectors)
    along = np.outer(units @ direction, direction)
    middle = (units - along).mean(axis=0)
    apart = _unit(along - along.mean(axis=0))
    far = np.sqrt(max(0.0, 1.0 - float(middle @ middle)))
    return np.asarray((middle + far * apart) * np.linalg.norm(vectors, axis=-1, keepdims=True))


def cosines(vectors: Floats, direction: Floats) -> Floats:
    return np.asarray(_unit(vectors) @ direction)


def neighbour_correlation(vectors: Floats, values: Floats) -> float | None:
    """How well the mean value of a word's nearest neighbours tells its own: what is left where one direction is gone.

    Gonen and Goldberg 2019, with the share of women in a profession as its value.
    """
    if len(values) <= 2 * N_NEIGHBOURS:
        return None
    units = _unit(vectors)
    alike = units @ units.T
    np.fill_diagonal(alike, -np.inf)
    nearest = np.argsort(-alike, axis=1, kind="stable")[:, :N_NEIGHBOURS]
    return correlation(values[nearest].mean(axis=1), values)


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0))


# -- the model --------------------------------------------------------------------------------------------------------


def find_words(tokeniser: Any, professions: Sequence[str], what: str) -> Words:
    """Which defining pairs and professions a vocabulary has as single tokens; too few of either are refused."""
    rows = {pair: tuple(_row(tokeniser, word) for word in pair) for pair in DEFINING_PAIRS}
    pairs = {pair: (a, b) for pair, (a, b) in rows.items() if a is not None and b is not None}
    if len(pairs) < FEWEST_PAIRS:
        raise UserError(
            f"the vocabulary of {what} has {len(pairs)} of the pairs she-he, woman-man ... as single tokens, and at "
            f"least {FEWEST_PAIRS} are needed to find a gender direction; give a model that reads English whole words"
        )
    found = {profession: _row(tokeniser, profession) for profession in professions}
    single = {profession: row for profession, row in found.items() if row is not None}
    if not single:
        raise UserError(
            f"the vocabulary of {what} has none of {len(found)} professions (nurse, carpenter ...) as a single token, "
            "and only those can be debiased; give a model with a larger vocabulary"
        )
    return Words(
        pairs,
        tuple(pair for pair in DEFINING_PAIRS if pair not in pairs),
        single,
        tuple(profession for profession in found if profession not in single),
    )


def _row(tokeniser: Any, word: str) -> int | None:
    """The row of a word as it stands within a sentence, if it is one token there."""
    before, both = tokeniser.tokenize("the"), tokeniser.tokenize(f"the {word}")
    if both[:-1] != before:
        return None
    row = tokeniser.convert_tokens_to_ids(both[-1])
    return None if row is None or row == tokeniser.unk_token_id else int(row)


def professions_of(target_language: str) -> list[str]:
    """All people that WinoMT speaks of, in English and in the singular."""
    core = [occupation for occupation, _, _ in core_occupations()]
    return list(dict.fromkeys([*core, *(entry.occupation for entry in lexicon(target_language))]))


@dataclass(frozen=True)
class Debiased:
    """A debiased model in memory, and what was done to which words."""

    name: str
    model: Any
    tokeniser: Any
    report: dict[str, Any]

    def write(self, directory: Path) -> None:
        """In place of what is there; proved by reading it again."""
        with quietly():
            if directory.exists():
                shutil.rmtree(directory)
            save_whole(self.model, directory)
            self.tokeniser.save_pretrained(directory)
            _check_written(self.model, _read(directory), self.name)


def debias_model(model: Path, target_language: str, *, equalises: bool = False) -> Debiased:
    """A model whose encoder reads professions without gender; the files are only read."""
    name = str(model)
    with quietly():
        place = locate(name, name, None)
        config = open_config(name, place)
        if not config.is_encoder_decoder:
            raise UserError(
                f"{name} is a model without an encoder ({config.model_type}); only translation models with an encoder "
                "and a decoder can be debiased"
            )
        tokeniser = open_tokeniser(name, place)
        words = find_words(tokeniser, professions_of(target_language), name)
        opened = _untied(loaded(name, "weights", lambda: _read(model)), list(words.professions.values()), name)
        report = _change(opened.get_encoder().get_input_embeddings().weight, words, equalises)
    return Debiased(name, opened, tokeniser, report)


def _read(directory: Path) -> Any:
    import torch
    import transformers

    return transformers.AutoModelForSeq2SeqLM.from_pretrained(
        directory, torch_dtype=torch.float32, trust_remote_code=False
    )


def _change(weight: Any, words: Words, equalises: bool) -> dict[str, Any]:
    """Neutralise the rows of the professions in a table; no other row is written to."""
    import torch

    vectors: Floats = weight.detach().double().numpy()
    pairs, rows = list(words.pairs.values()), list(words.professions.values())
    direction, share = gender_direction(vectors, pairs)
    changes = {tuple(rows): neutralised(vectors[rows], direction)}
    if equalises:
        changes |= {pair: equalised(vectors[list(pair)], direction) for pair in pairs}
    with torch.no_grad():
        for places, changed in changes.items():
            weight[list(places)] = torch.tensor(changed, dtype=weight.dtype)
    tables = (vectors, weight.detach().double().numpy())
    before, after = (cosines(table[rows], direction) for table in tables)
    others = np.setdiff1d(np.arange(len(vectors)), rows)
    women = {occupation: percent for occupation, _, percent in core_occupations()}
    known = [place for place, word in enumerate(words.professions) if word in women]
    shares = np.array([women[word] for word in words.professions if word in women], dtype=np.float64)
    neighbours = [neighbour_correlation(table[rows][known], shares) for table in tables]
    return {
        "direction": {
            "pairs": ["-".join(pair) for pair in words.pairs],
            "pairs_left_out": ["-".join(pair) for pair in words.pairs_left_out],
            "share_of_variance": share,
        },
        "equalised": equalises,
        "professions": list(words.professions),
        "professions_left_out": list(words.professions_left_out),
        "mean_abs_cosine": {
            "before": float(np.abs(before).mean()),
            "after": float(np.abs(after).mean()),
            "other_words": float(np.abs(cosines(vectors[others], direction)).mean()),
        },
        "cosines_before": {word: round(float(x), 4) for word, x in zip(words.professions, before, strict=True)},
        "correlation_with_share_of_women": correlation(before[known], shares),
        "neighbour_correlation": {"before": neighbours[0], "after": neighbours[1]},
    }


def _untied(model: Any, rows: Sequence[int], what: str) -> Any:
    """The same model, with tables of vectors for encoder and decoder that do not depend on each other."""
    import torch

    config = copy.deepcopy(model.config)
    if hasattr(config, "share_encoder_decoder_embeddings"):
        # Marian has a setting for just this; its output stays tied to the decoder's table.
        config.share_encoder_decoder_embeddings = False
        config.decoder_vocab_size = config.decoder_vocab_size or config.vocab_size
    else:
        config.tie_word_embeddings = False
    with torch.random.fork_rng(devices=[]):  # weights begin as random numbers
        free = type(model)(config).eval()
    weights = free.state_dict()
    free.load_state_dict({name: weight for name, weight in model.state_dict().items() if name in weights})
    free.generation_config = copy.deepcopy(model.generation_config)
    # Some kinds of models also compute in another way when their tables are apart.
    words = torch.tensor([[*rows[:_N_CHECKED], model.config.eos_token_id]])
    with torch.inference_mode():
        ours, theirs = (one(input_ids=words, decoder_input_ids=words).logits for one in (free, model))
    if not torch.allclose(ours, theirs, atol=1e-4):
        raise UserError(
            f"{what} cannot be debiased: this version of transformers has no model of kind {model.config.model_type} "
            "whose encoder has a table of its own; Marian models (OPUS-MT) work"
        )
    return free


def _check_written(model: Any, read_again: Any, what: str) -> None:
    """In older versions of transformers some kinds of models tie their tables again as they are read."""
    import torch

    found = read_again.state_dict()
    for name, weight in model.state_dict().items():
        if name not in found or not torch.equal(weight, found[name]):
            raise UserError(
                f"{what} cannot be debiased: with this version of transformers {name} of a model of kind "
                f"{model.config.model_type} does not survive saving; Marian models (OPUS-MT) work"
            )


# -- the study --------------------------------------------------------------------------------------------------------


def study_debiasing(
    settings: Settings,
    output: Path,
    store_path: Path | None = None,
    open_progress: OpenProgress = no_progress,
    tell: Callable[[str], None] = lambda note: None,  # noqa: ARG005
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
    _check_reusable(output, record["settings"])
    debiased = debias_model(settings.model, settings.target_language, equalises=settings.equalises)
    with locks.hold(output / ".lock"):
        _check_reusable(output, record["settings"])  # again: another process may have been faster
        _write_record(output, record)
        debiased.write(output / "hf")
        specs = {"before": f"hf:{settings.model}", "after": f"hf:{output / 'hf'}"}
        results = {}
        for name, spec in specs.items():
            config = RunConfig(spec, selections, settings.system_options, settings.resampling)
            results[name] = run(config, output / name, store_path, _named(name, open_progress), tell)
        compared = compare(results["before"], results["after"], settings.resampling, all_metrics=True).comparisons
        chosen = [_find(compared, *row) for row in COMPARED]
        rows = [row for row in chosen if row is not None]
        translate = _Translate(settings, store_path, open_progress, tell)
        if bleu is not None:
            texts = [translate(spec, bleu[0], f"{name}: BLEU") for name, spec in specs.items()]
            rows.append(compare_bleu(bleu[1], texts[0], texts[1], settings.resampling))
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
            "signatures": {name: [result.signature for result in found] for name, found in results.items()},
            "notes": notes,
        }
        _write_record(output, {**record, "report": report})
    return report


class _Translate:
    """Sentences in, texts out, by way of the store."""

    def __init__(
        self, settings: Settings, store_path: Path | None, open_progress: OpenProgress, tell: Callable[[str], None]
    ) -> None:
        self._settings, self._store_path, self._open_progress, self._tell = settings, store_path, open_progress, tell

    def __call__(self, spec: str, sources: Sequence[str], title: str) -> list[str]:
        return [samples[0].text or "" for samples in self._ask(spec, sources, title)]

    def scores(self, spec: str, sources: Sequence[str], targets: Sequence[str]) -> list[float]:
        """The log-probability per token of given translations."""
        found = [samples[0] for samples in self._ask(spec, sources, "checking the forms", targets)]
        return [(answer.log_probability or 0.0) / (answer.n_tokens or 1) for answer in found]

    def _ask(self, spec: str, sources: Sequence[str], title: str, targets: Sequence[str] | None = None) -> Any:
        return api.translate(
            spec,
            sources,
            self._settings.target_language,
            SOURCE_LANGUAGE,
            targets=targets,
            system_options=self._settings.system_options if spec.startswith("hf:") else None,
            store_path=self._store_path,
            open_progress=lambda _: self._open_progress(title),
            tell=self._tell,
        )


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


def compare_bleu(
    references: Sequence[str], before: Sequence[str], after: Sequence[str], resampling: Resampling
) -> Comparison:
    """BLEU of both, paired on sentences."""
    counts = [
        np.array([list(row.values()) for row in quality.bleu_statistics(texts, references)])
        for texts in (before, after)
    ]
    values = [float(quality.bleu_value(*rows.sum(axis=0, keepdims=True).T)[0]) for rows in counts]
    drawn, swapped = (
        [quality.bleu_value(*sums.T) for sums in sample(counts[0], counts[1], n, resampling.seed)]
        for sample, n in (
            (statistics.paired_resampled_sums, resampling.n_resamples),
            (statistics.exchanged_sums, max(resampling.n_resamples, 1000)),
        )
    )
    difference = values[1] - values[0]
    replicates = drawn[1] - drawn[0]
    interval = statistics.percentile_interval(replicates, resampling.confidence)
    return Comparison(
        cell="bleu",
        metric="bleu",
        slice="all",
        first=values[0],
        second=values[1],
        difference=difference,
        low=interval[0] if interval else None,
        high=interval[1] if interval else None,
        p_value=statistics.permutation_p_value(difference, swapped[1] - swapped[0], "two-sided"),
        p_adjusted=None,
        detectable=statistics.minimum_detectable_difference(float(replicates.std(ddof=1)), resampling.confidence),
        n_groups=len(references),
        better="higher",
    )


def _of_vectors(report: Mapping[str, Any]) -> list[Comparison]:
    """The first rows: how far professions lie along the direction, and what their neighbours still tell."""
    rows = []
    for metric in ("mean_abs_cosine", "neighbour_correlation"):
        before, after = (report[metric][when] for when in ("before", "after"))
        values = (before, after, None if before is None or after is None else after - before)
        unknown = (None,) * 5
        rows.append(
            Comparison("vectors", metric, "professions", *values, *unknown, len(report["professions"]), "lower")
        )
    return rows


def _find(comparisons: Sequence[Comparison], benchmark: str, metric: str, part: str) -> Comparison | None:
    for row in comparisons:
        if (row.cell.partition(".")[0], row.metric, row.slice) == (benchmark, metric, part):
            return row
    return None


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
    went = f"{name} went from {shown(row.first, row.metric)} to {shown(row.second, row.metric)}"
    if row.low is None or row.high is None:
        return went
    change = row.change()
    if row.better == "neither" and row.p_adjusted is not None and row.p_adjusted < 0.05:
        change = "more than chance"
    # The interval is of the difference, the p-value of a gap that of its size: a claim needs both.
    if change == "unclear" or row.low <= 0 <= row.high:
        change = "cannot be told from chance"
    span = f"{shown(row.low, row.metric)} to {shown(row.high, row.metric)}"
    return f"{went} (by {shown(row.difference, row.metric)}, {span}: {change})"


def shown(value: float | None, metric: str) -> str:
    """A number as people read it: percentages and BLEU with one decimal, everything smaller with three."""
    if value is None:
        return "–"
    n_decimals = 3 if metric.startswith(("h_", "delta_h", "p_", "mean_", "neighbour_")) else 1
    return f"{round(value, n_decimals) + 0.0:.{n_decimals}f}"  # never -0.0


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


def _check_reusable(output: Path, settings: Mapping[str, Any]) -> None:
    """A directory may be written again by the same study only, and never one that holds another model."""
    path = output / _RECORD
    if not path.exists():
        for name in ("hf", "ctranslate2", "before", "after"):
            if (output / name).exists():
                raise UserError(f"{output / name} is there already and not of this study; choose another with -o")
        return
    record = read_json(path)
    earlier = record.get("settings") if isinstance(record, dict) else None
    if not isinstance(earlier, dict):
        raise BadFile(path, "is not the record of a study; choose another directory with -o")
    if changed := [key for key in settings if settings[key] != earlier.get(key)]:
        raise UserError(
            f"{output} holds another study (it differs in {', '.join(changed)}); choose another directory with -o"
        )


def _write_record(output: Path, record: Mapping[str, Any]) -> None:
    write_text(output / _RECORD, json.dumps(record, ensure_ascii=False, indent=2) + "\n")


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
    from gendermark.study import grammar

    pairs = list(grammar.generate(int(recipe["size"]["n_held_out"]), int(recipe["seed"]), split="held-out"))
    return [pair.source for pair in pairs], [pair.target for pair in pairs]


def _recipe(model: Path) -> Mapping[str, Any] | None:
    """How `gendermark train` made the model, which it writes beside it."""
    path = model.resolve().parent / "report.json"
    report = read_json(path) if path.is_file() else None
    recipe = report.get("recipe") if isinstance(report, dict) else None
    return recipe if isinstance(recipe, dict) and {"size", "seed"} <= recipe.keys() else None


def _named(name: str, open_progress: OpenProgress) -> OpenProgress:
    def opened(title: str) -> AbstractContextManager[Progress]:
        return open_progress(f"{name}: {title}")

    return opened
