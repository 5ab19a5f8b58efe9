"""Hard-debiasing of a translation model, and its effect on bias, uncertainty and quality.

The method of Bolukbasi et al. (2016) as applied by Iluz et al. (2024). The encoder's embeddings of professions lose
their component along a gender direction, which is estimated in the same table from gendered word pairs. Only
single-token professions are changed, and only in the encoder: the decoder, which shares the table in most models, gets
its own unchanged copy.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gendermark import api
from gendermark.benchmarks.uncertainty.alphas import correlation
from gendermark.cli.options import AcceptUnsound, ResumedIn, StudiedData, option_group
from gendermark.cli.terminal import AsJson, say
from gendermark.errors import MissingExtra, UserError, first_line
from gendermark.io.pretrained import loaded, locate, open_config, open_tokeniser, quietly
from gendermark.io.textfiles import read_json, write_json
from gendermark.lab import studies
from gendermark.lab.export import forced, greedy, save_whole
from gendermark.lab.studies import SOURCE_LANGUAGE, PlainSet, Point, Row
from gendermark.metrics.metric import Floats
from gendermark.metrics.uncertainty import signed_difference
from gendermark.reading.occupations import core_occupations, lexicon
from gendermark.records import Unit, show_p
from gendermark.reporting.document import Table
from gendermark.runs.compare import Comparison
from gendermark.runs.run import NO_CONTEXT, RunContext
from gendermark.selection import Selection
from gendermark.systems.engine import content_hash
from gendermark.systems.tokenisers import PAIR, SINGLE, Direction

COMPARED = studies.compared_in("debias")
_IN_FINDINGS = {one.key: one.finding for one in COMPARED if one.finding}
_RECORD = "debias.json"
_OWN = ("hf", "ctranslate2", "before", "after")
_N_CHECKED = 20
_CLOSE_ENOUGH = 0.01
"""Tolerance for log-probability per token between the two forms of the model."""

# Feminine first. The paper's pairs that are words rather than names, and other unambiguous ones.
_PAIRS = (
    "she-he her-his herself-himself woman-man women-men female-male girl-boy gal-guy mother-father daughter-son "
    "sister-brother wife-husband aunt-uncle niece-nephew grandmother-grandfather granddaughter-grandson queen-king"
)
DEFINING_PAIRS = tuple((feminine, masculine) for feminine, _, masculine in (p.partition("-") for p in _PAIRS.split()))
FEWEST_PAIRS = 3
N_NEIGHBOURS = 5


@dataclass(frozen=True)
class Settings:
    model: Path
    target_language: str
    output: ResumedIn
    data: StudiedData = "core"
    group: str = ""
    n_samples: int = 32
    equalises: bool = False
    bleu: tuple[Path, Path] | None = None
    system_options: studies.SystemOptions = field(default_factory=dict)
    resampling: studies.Resampled = studies.DEFAULT_RESAMPLING
    accept_unsound: AcceptUnsound = False

    def to_json(self) -> dict[str, Any]:
        return {
            "model": str(self.model.resolve()),
            **{name: getattr(self, name) for name in ("target_language", "data", "group", "n_samples", "equalises")},
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


# -- the arithmetic ----------------------------------------------------------------------------------------------------


def gender_direction(vectors: Floats, pairs: Sequence[tuple[int, int]]) -> tuple[Floats, float]:
    """The gender direction, pointing to feminine, and the share of within-pair variance along it.

    First principal component of the unit vectors of all pairs, each centred on its pair's mean.
    """
    members = _unit(vectors[np.array(pairs)])
    centred = members - members.mean(axis=1, keepdims=True)
    _, sizes, components = np.linalg.svd(centred.reshape(-1, vectors.shape[1]), full_matrices=False)
    direction = components[0]
    feminine = float((members[:, 0] - members[:, 1]).sum(axis=0) @ direction)
    share = float(sizes[0] ** 2 / (sizes**2).sum()) if sizes[0] > 0 else 0.0
    return np.asarray(-direction if feminine < 0 else direction), share


def neutralised(vectors: Floats, direction: Floats) -> Floats:
    """Remove the component along the direction and restore the length."""
    flat = vectors - np.outer(vectors @ direction, direction)
    return np.asarray(_unit(flat) * np.linalg.norm(vectors, axis=-1, keepdims=True))


def equalised(vectors: Floats, direction: Floats) -> Floats:
    """Make the two words of a pair equal except along the direction, and symmetric on it."""
    units = _unit(vectors)
    along = np.outer(units @ direction, direction)
    middle = (units - along).mean(axis=0)
    apart = _unit(along - along.mean(axis=0))
    far = np.sqrt(max(0.0, 1.0 - float(middle @ middle)))
    return np.asarray((middle + far * apart) * np.linalg.norm(vectors, axis=-1, keepdims=True))


def cosines(vectors: Floats, direction: Floats) -> Floats:
    return np.asarray(_unit(vectors) @ direction)


def neighbour_correlation(vectors: Floats, values: Floats) -> float | None:
    """Correlation between a word's value and the mean value of its nearest neighbours: the bias that remains.

    Gonen and Goldberg 2019, with the share of women in a profession as value.
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


# -- the model ---------------------------------------------------------------------------------------------------------


class Words(NamedTuple):
    """The words that are single tokens, with their rows in the embedding table."""

    pairs: Mapping[tuple[str, str], tuple[int, int]]
    professions: Mapping[str, int]


def find_words(tokeniser: Any, professions: Sequence[str], what: str) -> Words:
    """The defining pairs and professions that are single tokens; refuses too few of either."""
    rows = {pair: tuple(_row(tokeniser, word) for word in pair) for pair in DEFINING_PAIRS}
    pairs = {pair: (a, b) for pair, (a, b) in rows.items() if a is not None and b is not None}
    if len(pairs) < FEWEST_PAIRS:
        raise UserError(
            f"the vocabulary of {what} has {len(pairs)} of the pairs she-he, woman-man ... as single tokens, and at "
            f"least {FEWEST_PAIRS} are needed to find a gender direction; give a model that reads English whole words"
        )
    single = {profession: row for profession in professions if (row := _row(tokeniser, profession)) is not None}
    if not single:
        raise UserError(
            f"the vocabulary of {what} has none of {len(professions)} professions (nurse, carpenter ...) as a single "
            "token, and only those can be debiased; give a model with a larger vocabulary"
        )
    return Words(pairs, single)


def _row(tokeniser: Any, word: str) -> int | None:
    before, both = tokeniser.tokenize("the"), tokeniser.tokenize(f"the {word}")
    if both[:-1] != before:
        return None
    row = tokeniser.convert_tokens_to_ids(both[-1])
    return None if row is None or row == tokeniser.unk_token_id else int(row)


def professions_of(target_language: str) -> list[str]:
    """All people in WinoMT, in English, singular."""
    core = [occupation for occupation, _, _ in core_occupations()]
    return list(dict.fromkeys([*core, *(entry.occupation for entry in lexicon(target_language))]))


@dataclass(frozen=True)
class Debiased:
    """A debiased model in memory, and which words were changed."""

    name: str
    model: Any
    tokeniser: Any
    report: dict[str, Any]

    def write(self, directory: Path) -> None:
        with quietly():
            if directory.exists():
                shutil.rmtree(directory)
            save_whole(self.model, directory)
            self.tokeniser.save_pretrained(directory)
            found = _read(directory).state_dict()
        # Older versions of transformers tie the tables of some architectures again on loading.
        for name, weight in self.model.state_dict().items():
            if name not in found or not weight.equal(found[name]):
                raise UserError(
                    f"{self.name} cannot be debiased: with this version of transformers {name} of a model of kind "
                    f"{self.model.config.model_type} does not survive saving; Marian models (OPUS-MT) work"
                )


def debias_model(model: Path, target_language: str, *, equalises: bool = False) -> Debiased:
    """A model whose encoder reads professions without gender; the original files are only read."""
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
        professions = professions_of(target_language)
        words = find_words(tokeniser, professions, name)
        opened = _untied(loaded(name, "weights", lambda: _read(model)), list(words.professions.values()), name)
        report = _change(opened.get_encoder().get_input_embeddings().weight, words, equalises)
        report["professions_left_out"] = [one for one in professions if one not in words.professions]
    return Debiased(name, opened, tokeniser, report)


def _read(directory: Path) -> Any:
    import torch
    import transformers

    return transformers.AutoModelForSeq2SeqLM.from_pretrained(
        directory, torch_dtype=torch.float32, trust_remote_code=False
    )


def _change(weight: Any, words: Words, equalises: bool) -> dict[str, Any]:
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
            "pairs_left_out": ["-".join(pair) for pair in DEFINING_PAIRS if pair not in words.pairs],
            "share_of_variance": share,
        },
        "equalised": equalises,
        "professions": list(words.professions),
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
    import torch

    config = copy.deepcopy(model.config)
    if hasattr(config, "share_encoder_decoder_embeddings"):
        # Marian has a setting for this; its output stays tied to the decoder's table.
        config.share_encoder_decoder_embeddings = False
        config.decoder_vocab_size = config.decoder_vocab_size or config.vocab_size
    else:
        config.tie_word_embeddings = False
    with torch.random.fork_rng(devices=[]):  # weights are initialised at random
        free = type(model)(config).eval()
    weights = free.state_dict()
    free.load_state_dict({name: weight for name, weight in model.state_dict().items() if name in weights})
    free.generation_config = copy.deepcopy(model.generation_config)
    # Some architectures compute differently with separate tables: verify.
    words = torch.tensor([[*rows[:_N_CHECKED], model.config.eos_token_id]])
    with torch.inference_mode():
        ours, theirs = (one(input_ids=words, decoder_input_ids=words).logits for one in (free, model))
    if not torch.allclose(ours, theirs, atol=1e-4):
        raise UserError(
            f"{what} cannot be debiased: this version of transformers has no model of kind {model.config.model_type} "
            "whose encoder has a table of its own; Marian models (OPUS-MT) work"
        )
    return free


def study_debiasing(settings: Settings, context: RunContext = NO_CONTEXT) -> dict[str, Any]:
    """Debias a model, compare before and after, and return the report (also `debias.json` in the directory).

    Leaves `hf` and `ctranslate2`, the debiased model, and the run folders `before` and `after`. Rerun the same call to
    resume.
    """
    if any(find_spec(package) is None for package in ("torch", "transformers")):
        raise MissingExtra("debiasing a model", "hf")
    output, how = settings.output, settings.resampling
    _check_places(settings.model, output)
    selections, test_set = settings.selections, _test_set(settings)  # refused before any work
    weights = sorted(path for path in settings.model.iterdir() if path.suffix in (".safetensors", ".bin"))
    asked = settings.to_json() | {"model_content": content_hash(weights, {})}
    debiased = debias_model(settings.model, settings.target_language, equalises=settings.equalises)
    with studies.claimed(output / _RECORD, asked, _OWN):
        debiased.write(output / "hf")
        made = {
            name: studies.run_point(
                Point(name, f"hf:{model}", settings.system_options),
                selections,
                output / name,
                how,
                studies.titled(context, name),
                test_set=test_set,
                accept_unsound=settings.accept_unsound,
            )
            for name, model in (("before", settings.model), ("after", output / "hf"))
        }
        found = studies.compared(made["before"], made["after"], [one.key for one in COMPARED], test_set, how, ("bleu",))
        comparisons: list[Row] = []
        for metric in ("mean_abs_cosine", "neighbour_correlation"):
            old, new = (debiased.report[metric][when] for when in ("before", "after"))
            change, n = signed_difference(new, old), len(debiased.report["professions"])
            row = Comparison("vectors", metric, "professions", old, new, "lower", n, change, unit=Unit.RATIO)
            comparisons.append(row.to_json())
        comparisons += found
        sources = [item.source for item in api.items(selections[0]).items[:_N_CHECKED]]
        problem = convert(output, (SOURCE_LANGUAGE, settings.target_language), sources)
        notes = [f"{output / 'ctranslate2'} is not written: {problem}"] if problem else []
        notes += studies.unsound_notes(made)
        if test_set is None:
            notes.append("BLEU is left out: there are no references; give --bleu SOURCE REFERENCE")
        report = {
            **asked,
            **debiased.report,
            "n_bleu": len(test_set.sources) if test_set else 0,
            "comparisons": comparisons,
            "findings": findings(comparisons),
            "signatures": studies.signatures(made),
            "notes": notes,
        }
        write_json(output / _RECORD, {"settings": asked, "report": report})
    return report


def convert(output: Path, direction: Direction, sources: Sequence[str]) -> str | None:
    """Write the debiased model for CTranslate2, or return why that failed."""
    import ctranslate2

    converted, spec = output / "ctranslate2", f"hf:{output / 'hf'}"
    shutil.rmtree(converted, ignore_errors=True)
    texts = greedy(spec, sources, direction)
    pairs = [(source, text) for source, text in zip(sources, texts, strict=True) if text.strip()]
    tokenisers = [name for name in (*PAIR, *SINGLE) if (output / "hf" / name).is_file()]
    try:
        with quietly():
            converter = ctranslate2.converters.TransformersConverter(str(output / "hf"), copy_files=tokenisers)
            converter.convert(str(converted))
        both = zip(forced(spec, pairs, direction), forced(f"ctranslate2:{converted}", pairs, direction), strict=True)
        farthest = max((abs(np.mean(theirs) - np.mean(ours)) for theirs, ours in both), default=0.0)
        if farthest <= _CLOSE_ENOUGH:
            return None
        problem = f"there it gives other probabilities, by up to {farthest:.2g} per token"
    except Exception as raised:  # noqa: BLE001 (the converter raises what it likes at models it does not know)
        problem = first_line(raised)
    shutil.rmtree(converted, ignore_errors=True)
    return problem


def findings(comparisons: Sequence[Row]) -> list[str]:
    """One sentence on WinoMT, one on uncertainty and quality."""
    found = []
    for is_winomt in (True, False):
        named = {key: name for key, name in _IN_FINDINGS.items() if (key[0] == "winomt") == is_winomt}
        parts = "; ".join(studies.changes_in_words(named, comparisons))
        found += [f"{parts[0].upper()}{parts[1:]}."] if parts else []
    return found


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
    if output.resolve() == model.resolve():
        raise UserError(f"{output} holds the model itself; choose another directory with -o")


def _test_set(settings: Settings) -> PlainSet | None:
    """Sources and references: the user's; the grammar's for a model trained on it; or none."""
    if settings.bleu is not None:
        return studies.read_test_set(*settings.bleu, option="--bleu")
    # `gendermark train` writes its report beside the model.
    path = settings.model.resolve().parent / "report.json"
    report = read_json(path) if path.is_file() else None
    recipe = report.get("recipe") if isinstance(report, dict) else None
    if settings.target_language != "es" or not isinstance(recipe, dict) or not {"size", "seed"} <= recipe.keys():
        return None
    return studies.bundled_test_set(int(recipe["size"]["n_held_out"]), int(recipe["seed"]))


def debias(
    settings: Settings = option_group(Settings), work: studies.Work = studies.WORK, as_json: AsJson = False
) -> None:
    """Remove gender from the embeddings of professions and compare the model before and after."""
    with work as context:
        report = study_debiasing(settings, context)
    rows = report["comparisons"]
    every = Table(tuple(rows[0]), [tuple(row.values()) for row in rows])
    direction, left_out = report["direction"], report["professions_left_out"]
    said = [
        f"gender direction from {len(direction['pairs'])} pairs ({', '.join(direction['pairs'])}); it holds "
        f"{direction['share_of_variance']:.0%} of what differs within them",
        f"{len(report['professions'])} professions changed"
        + (f", {len(left_out)} not, as they are not one token ({', '.join(left_out[:4])} ...)" if left_out else "")
        + f"; other words lie {report['mean_abs_cosine']['other_words']:.3f} along the direction",
        *report["findings"],
        *report["notes"],
    ]
    studies.show(report, [_table(rows)], said, as_json=as_json, piped=[every])
    say(f"debiased model and run folders: {settings.output}")


def _table(rows: Sequence[Row]) -> Table:
    cells = []
    for row in rows:
        unit = Unit(row["unit"])
        name = row["metric"] if row["slice"] == "all" else f"{row['metric']} {row['slice']}"
        values = [unit.show(row["first"]), unit.show(row["second"]), unit.show_change(row["difference"])]
        interval = "–" if row["low"] is None else f"[{unit.show(row['low'])}, {unit.show(row['high'])}]"
        cells.append((row["cell"], name, *values, interval, show_p(row["p_adjusted"])))
    heads = ("of", "metric", "before", "after", "change", "interval", "p")
    return Table(heads, cells, "Before and after debiasing")
