"""Three small studies of uncertainty: `samples`, `determiners` and `sampling`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from gendermark import api
from gendermark.benchmarks.benchmark import ItemSet
from gendermark.benchmarks.uncertainty.items import AMBIGUOUS, UNAMBIGUOUS, as_winomt, references
from gendermark.benchmarks.uncertainty.judge import BENCHMARK
from gendermark.benchmarks.uncertainty.measures import chosen_alpha
from gendermark.benchmarks.winomt.judge import BENCHMARK as WINOMT
from gendermark.cli.options import Store, StudiedData, option_group
from gendermark.cli.terminal import AsJson, say
from gendermark.errors import SystemFailure, UserError
from gendermark.lab import uncertainty_results as results
from gendermark.lab.sentence_cues import annotate, design_columns
from gendermark.lab.studies import WORK, SystemName, SystemOptions, Texts, Work, show
from gendermark.lab.uncertainty_results import Cell, Drawn, Into, settings_of
from gendermark.metrics.intervals import estimate
from gendermark.metrics.metric import Resampling
from gendermark.metrics.uncertainty import ALPHAS as KNOWN_ALPHAS
from gendermark.names import readable
from gendermark.records import Gender, Item, Translation
from gendermark.reporting.document import Table
from gendermark.result import Result
from gendermark.runs.run import NO_CONTEXT, RunConfig, RunContext
from gendermark.runs.run import run as run_benchmarks
from gendermark.selection import Selection

# -- samples: the translations of one sentence with he, she and they (Tables 5 and 6) ----------------------------------


_ORDER = (Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL, None)


def look_at(cell: Cell, *, contrast: str = "", source: str = "") -> dict[str, Any]:
    """The samples for a sentence with he, she and they: by the id of its contrast set, or by (part of) its text."""
    if bool(contrast) == bool(source):
        raise UserError("choose a sentence with --contrast ID or --source TEXT, not both")
    drawn = results.drawn_sentences(cell)
    wanted = _contrast_of(cell, drawn, contrast, source)
    readings = iter(_genders(cell, drawn))
    read = [(found, [next(readings) for _ in found.samples.texts]) for found in drawn]
    members = [(found, genders) for found, genders in read if found.item.contrast == wanted]
    members.sort(key=lambda member: _ORDER.index(member[0].item.expected))
    return {**cell.where, "contrast": wanted, "versions": [_version(cell, *member) for member in members]}


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
    """The gender of every distinct translation, read as in the run: words are aligned over all sentences."""
    items = tuple(found.item for found in drawn for _ in found.samples.texts)
    texts = [[Translation("", text)] for found in drawn for text in found.samples.texts]
    if not all(item.entity for item in items):  # mGeNTE names nobody whose gender could be read
        return [None] * len(items)
    item_set = ItemSet(as_winomt(results.settings_of(cell.result)), items, "")
    return [judgement.observed for judgement in WINOMT.judge(item_set, texts)]


def _version(cell: Cell, found: Drawn, genders: Sequence[Gender | None]) -> dict[str, Any]:
    samples, measures = found.samples, found.judgement.measures
    said = [
        {"text": text, "count": int(count), "share": float(count) / samples.n, "gender": gender}
        for text, count, gender in zip(samples.texts, samples.counts, genders, strict=True)
    ]
    return {
        "source": found.item.source,
        "gender": found.item.expected,
        "cues": _cues(cell, found.item),
        "entropies": {measure: measures.get(name) for measure, name in results.entropy_names(cell.result).items()},
        "p_feminine": measures.get("p_feminine"),
        "translations": sorted(said, key=lambda one: (-one["count"], one["text"])),
    }


def _cues(cell: Cell, item: Item) -> list[str]:
    """The columns of Table 7 that hold in a sentence, as in Table 6; mGeNTE's sentences have none."""
    if not item.entity:
        return []
    (found,) = annotate([item], settings_of(cell.result).target_language)
    return [column for column, holds in design_columns(found).items() if holds]


_SAID = ("pronoun", "count", "share", "gender", "translation")
_UNSURE = ("h_s3e", "h_gender", "h_string", "p_feminine", "n_distinct")


def _tables(report: Mapping[str, Any], system: str) -> list[Table]:
    """Translations; the entropies of each version; and both in one, for a pipe."""
    translations, entropies, both = [], [], []
    for version in report["versions"]:
        pronoun = str(version["gender"] or "open")
        values = [version["entropies"][name.removeprefix("h_")] for name in _UNSURE[:3]]
        unsure = (*values, version["p_feminine"], len(version["translations"]))
        entropies.append((pronoun, version["source"], *unsure, ", ".join(version["cues"])))
        for said in version["translations"]:
            row = (pronoun, said["count"], said["share"], str(said["gender"] or "undecided"), said["text"])
            translations.append(row)
            both.append((*row, *unsure))
    title = f"{system} {report['direction']}, contrast set {report['contrast']}"
    return [
        Table(_SAID, translations, title),
        Table(("pronoun", "source", *_UNSURE, "cues"), entropies, "Entropies in nats"),
        Table((*_SAID, *_UNSURE), both),
    ]


def samples(
    run: Path,
    to: Into = "",
    contrast: str = "",
    source: str = "",
    as_json: AsJson = False,
) -> None:
    """Show sampled translations of one sentence with he, she and they: counts, genders and entropy."""
    cell = results.read_cell(run, to)
    report = look_at(cell, contrast=contrast, source=source)
    *shown, both = _tables(report, cell.result.called)
    show(report, shown, as_json=as_json, piped=[both])


# -- determiners: two given translations that differ in gender (Figure 1) ----------------------------------------------


_SAME_TOKEN = 1e-3
"""Log-probabilities of the same token in the same context differ by less than this, whatever the batching."""


def compare_targets(
    system: str,
    sources: Sequence[str],
    targets: tuple[str, str],
    direction: tuple[str, str],
    system_options: Mapping[str, str] | None = None,
    context: RunContext = NO_CONTEXT,
) -> dict[str, Any]:
    """Probabilities of a masculine and a feminine translation of each source, and where they diverge.

    `parting` is the position of the first differing token, `at_parting` the probabilities of both tokens there; `None`
    if the system gives no token probabilities.
    """
    words = next((pair for pair in zip(*map(str.split, targets), strict=False) if pair[0] != pair[1]), None)
    if words is None:
        raise UserError(f"the two targets must differ in a word that both have, but they are {' and '.join(targets)!r}")
    asked = [(source, target) for source in sources for target in targets]
    asking = api.Asking(direction[1], direction[0], targets=[target for _, target in asked])
    answers = api.translate(system, [source for source, _ in asked], asking, system_options, context)
    scored = [found for (found,) in answers]
    for found, (_, target) in zip(scored, asked, strict=True):
        if found.log_probability is None:
            raise SystemFailure(
                f"{system} gave no log-probability for {target!r}"
                + (f": {found.error}" if found.error else "; ask one that can score translations")
            )
    pairs = list(zip(scored[::2], scored[1::2], strict=True))
    # Systems give only probabilities, which are equal after equal prefixes, so the first difference is the position;
    # of all sources, since two tokens may be equally probable given one of them.
    places = []
    for pair in pairs:
        both = zip(*(found.token_log_probabilities or () for found in pair), strict=False)
        places += [place for place, (a, b) in enumerate(both) if abs(a - b) > _SAME_TOKEN][:1]
    parting = min(places, default=None)
    return {
        "system": system,
        "targets": list(targets),
        "words": list(words),
        "parting": parting,
        "sources": [_preference(source, pair, parting) for source, pair in zip(sources, pairs, strict=True)],
    }


def _preference(source: str, pair: tuple[Translation, Translation], parting: int | None) -> dict[str, Any]:
    """For one source; the first of each pair is masculine."""
    masculine, feminine = (found.log_probability or 0.0 for found in pair)
    at_parting = None
    if parting is not None and all(found.token_log_probabilities for found in pair):
        at_parting = [math.exp((found.token_log_probabilities or ())[parting]) for found in pair]
    return {
        "source": source,
        "log_probabilities": [masculine, feminine],
        "n_tokens": [found.n_tokens for found in pair],
        "at_parting": at_parting,
        # P(second target) if these were the only two.
        "feminine_share": 1 / (1 + math.exp(min(masculine - feminine, 700.0))),
        "feminine_share_at_parting": at_parting[1] / sum(at_parting) if at_parting and sum(at_parting) else None,
    }


def determiners(
    sources: tuple[str, ...],
    system: SystemName,
    to: Annotated[str, Option("--to", help="Target language.")],
    targets: tuple[str, str],
    system_options: SystemOptions,
    from_: str = "en",
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Compare the probabilities of "el" and "la" where the source gives the gender and where it does not."""
    report = compare_targets(system, sources, targets, (from_, to), system_options, RunContext(store, tell=say))
    rows = []
    for found in report["sources"]:
        masculine, feminine = found["log_probabilities"]
        parting = (*(found["at_parting"] or (None, None)), found["feminine_share_at_parting"])
        both = (masculine, feminine, masculine - feminine, found["feminine_share"])
        rows.append((found["source"], *report["words"], *parting, *both))
    columns = ("source", "masculine", "feminine", "p_masculine", "p_feminine", "feminine_share_at_parting")
    whole = ("log_p_masculine", "log_p_feminine", "difference", "feminine_share")
    table = Table((*columns, *whole), rows, f"{readable(system)}: {' / '.join(targets)}")
    notes = [] if report["parting"] is not None else [f"{system} scores whole translations only, not single tokens"]
    show(report, [table], notes, as_json=as_json)


# -- sampling: how numbers depend on drawing (epsilon) and similarity (alpha) ------------------------------------------


EPSILONS = ("0.02", "0.05", "0.1", "0.2")
ALPHAS = ("4", "16", "64")
_SHOWN = (
    ("n_distinct", "all"),
    ("h_gender", UNAMBIGUOUS),
    ("h_gender", AMBIGUOUS),
    ("h_s3e", UNAMBIGUOUS),
    ("h_s3e", AMBIGUOUS),
    ("delta_h_s3e", "all"),
    ("awareness_gender", "all"),
    ("awareness_s3e", "all"),
)


@dataclass(frozen=True)
class Settings:
    system: SystemName
    target_language: str
    epsilon: Annotated[Texts, Option(help=f"Sampling cut-offs, comma-separated. Default: {','.join(EPSILONS)}")] = ()
    alpha: Annotated[
        Texts, Option(help=f"Powers of the similarity, or tuned, comma-separated. Default: {','.join(ALPHAS)}")
    ] = ()
    n_samples: int | None = None
    group: str = ""
    data: StudiedData = "core"
    similarity: str = ""
    system_options: SystemOptions = field(default_factory=dict)

    @property
    def epsilons(self) -> list[float]:
        found = []
        for text in _listed(self.epsilon) or EPSILONS:
            try:
                found.append(float(text))
            except ValueError:
                found.append(-1.0)
            if not 0 <= found[-1] < 1:
                raise UserError(f"--epsilon is a probability below 1, or several with commas, not {text!r}")
        return list(dict.fromkeys(found))

    @property
    def alphas(self) -> list[str]:
        known = [f"{alpha:g}" for alpha in KNOWN_ALPHAS]
        for alpha in (found := list(dict.fromkeys(_listed(self.alpha) or ALPHAS))):
            if alpha not in (*known, "tuned"):
                raise UserError(f"--alpha is {', '.join(known)} or tuned here, not {alpha!r}")
        return found

    def selection(self, epsilon: float) -> Selection:
        group = self.group or ("referenced" if self.data == "core" and references(self.target_language) else "all")
        return api.select(
            BENCHMARK.name,
            self.target_language,
            parts=() if group == "all" else (group,),
            data=self.data,
            n_samples=self.n_samples or 0,
            similarity=self.similarity,
            sampling=f"epsilon={epsilon:g}",
        )[1]


def _listed(texts: Sequence[str]) -> list[str]:
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def vary_sampling(settings: Settings, context: RunContext = NO_CONTEXT) -> dict[str, Any]:
    """Sample with every epsilon, and compute with every alpha."""
    found = []
    alphas = settings.alphas
    for epsilon in settings.epsilons:
        config = RunConfig(settings.system, (settings.selection(epsilon),), settings.system_options)
        (drawn,) = run_benchmarks(config, None, context)
        for alpha in alphas:
            result = _with_alpha(drawn, alpha, config.resampling)
            found.append(
                {
                    "epsilon": epsilon,
                    "alpha": chosen_alpha(drawn.judgements, alpha),
                    "is_tuned": alpha == "tuned",
                    "estimates": [result.estimate(*key).to_json() for key in _SHOWN],
                    "warnings": list(result.warnings),
                    "signature": result.signature,
                }
            )
    return {"system": drawn.system, "settings": found}


def _with_alpha(result: Result, alpha: str, resampling: Resampling) -> Result:
    selection, measures = replace(settings_of(result), alpha=alpha), BENCHMARK.measures
    counts = measures.count(result.judgements, selection)
    settled = BENCHMARK.settled(result.judgements, selection)
    signature = result.signature.replace(f",alpha-{settings_of(result).alpha}|", f",alpha-{settled.alpha}|")
    estimates = estimate(counts, measures.metrics(result.judgements, selection), resampling, signature)
    warnings = tuple(measures.warnings(result.judgements, selection))
    return replace(result, selection=selection, estimates=tuple(estimates), warnings=warnings, signature=signature)


def sampling(settings: Settings = option_group(Settings), work: Work = WORK, as_json: AsJson = False) -> None:
    """Measure how results depend on sampling (epsilon) and similarity (alpha)."""
    with work as context:
        report = vary_sampling(settings, context)
    rows = [
        (one["epsilon"], f"{one['alpha']:g}{' (tuned)' * one['is_tuned']}", *(e["value"] for e in one["estimates"]))
        for one in report["settings"]
    ]
    columns = ("epsilon", "alpha", *(name if part == "all" else f"{name}:{part}" for name, part in _SHOWN))
    title = f"{readable(report['system'])}: how far the numbers depend on the settings"
    notes = [f"epsilon {one['epsilon']:g}: {warning}" for one in report["settings"] for warning in one["warnings"]]
    show(report, [Table(columns, rows, title)], dict.fromkeys(notes), as_json=as_json)
