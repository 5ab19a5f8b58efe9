"""The functions a notebook calls; the command line calls the same ones."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark, ItemSet, Selection
from gendermark.errors import UnknownName, UnmatchedSources, UserError
from gendermark.metrics.metric import Resampling
from gendermark.records import Request, Task, Translation
from gendermark.result import Result
from gendermark.runs import compare as comparing
from gendermark.runs import folder
from gendermark.runs import run as running
from gendermark.runs import score as scoring
from gendermark.runs import translate as translating
from gendermark.runs.store import Store
from gendermark.systems.file_formats import Samples
from gendermark.systems.sampling import Decoding
from gendermark.systems.system import open_system
from gendermark.systems.translation_files import TranslationFile, open_translations, read_samples

log = logging.getLogger(__name__)

Translations = Path | str | Sequence[str]
"""A file (see `gendermark score`), or the translations themselves in export order."""
_Given = TranslationFile | Sequence[str]


def select(benchmark: str | Selection, to: str = "", **options: Any) -> tuple[Benchmark, Selection]:
    """A benchmark and a completed selection of its items; `options` are the other fields of `Selection`."""
    if isinstance(benchmark, Selection):
        if to or options:
            given = ", ".join((["to"] if to else []) + list(options))
            raise UserError(f"a Selection says everything itself; leave out {given}, or name the benchmark only")
        selection = benchmark
    else:
        selection = Selection(benchmark, target_language=to, **options)
    found: Benchmark = registry.load("benchmark", selection.benchmark)
    return found, found.complete(selection)


def items(benchmark: str | Selection, to: str = "", **options: Any) -> ItemSet:
    """The items of a selection, in export order."""
    found, selection = select(benchmark, to, **options)
    return found.load(selection)


def score(
    benchmark: str | Selection,
    translations: Translations | Mapping[str, Translations],
    to: str = "",
    resampling: Resampling | None = None,
    **options: Any,
) -> Result:
    """Score translations made elsewhere.

    A mapping gives each part its own translations: `{"mofc": "mofc.txt"}`, `{"informal": [...], "formal": [...]}`.
    """
    found, selection = select(benchmark, to, **options)
    if found.draws:
        raise UserError(f"{found.name} judges many samples of each sentence; give --samples FILE.jsonl")
    if isinstance(translations, Mapping):
        if not translations:
            raise UserError(
                f"no translations were given; name a {found.part_noun} of {found.name}, for example "
                f"{found.parts[0]!r}, and its translations"
            )
        selection = found.complete(replace(selection, parts=tuple(translations)))
    asked_for = benchmark.revision if isinstance(benchmark, Selection) else options.get("revision")
    given = _opened(translations)
    try:
        item_set, texts = _matched(found, selection, given)
    except UnmatchedSources:
        item_set, texts = _matched_in_another_revision(found, selection, given, asked_for)
    answers = [
        [Translation(request.request_id, text)] for request, text in zip(found.requests(item_set), texts, strict=True)
    ]
    return scoring.score(found, item_set, answers, "files", resampling or Resampling())


def score_samples(
    benchmark: str | Selection,
    samples: Path | str | Sequence[Sequence[str]],
    to: str = "",
    resampling: Resampling | None = None,
    **options: Any,
) -> Result:
    """Score samples drawn elsewhere: a file of JSON lines (see `gendermark score`), or a list for each item."""
    found, selection = select(benchmark, to, **options)
    if not found.draws:
        raise UserError(f"{found.name} judges one translation of each sentence; give --translations, not --samples")
    item_set = found.load(selection)
    if isinstance(samples, str | Path):
        # Samples of all sentences serve for a part of them, too.
        others = found.load(replace(selection, parts=())).items if selection.parts else ()
        drawn = read_samples(samples, item_set.items, others)
    else:
        if len(samples) != len(item_set.items):
            raise UserError(f"samples of {len(samples):,} sentences were given for {len(item_set.items):,}")
        drawn = [Samples(tuple(texts)) for texts in samples]
    n_samples = max(len(one.texts) for one in drawn)
    selection = replace(selection, n_samples=n_samples, sampling=options.get("sampling") or "unknown=elsewhere")
    answers = [_answers(request, one) for request, one in zip(found.requests(item_set), drawn, strict=True)]
    return scoring.score(found, replace(item_set, selection=selection), answers, "files", resampling or Resampling())


def _answers(request: Request, samples: Samples) -> list[Translation]:
    known = samples.log_probabilities or [None] * len(samples.texts)
    return [
        Translation(request.request_id, text, number, log_probability=log_probability)
        for number, (text, log_probability) in enumerate(zip(samples.texts, known, strict=True))
    ]


def _opened(translations: Translations | Mapping[str, Translations]) -> _Given | dict[str, _Given]:
    """The same with files that are read once only, as they may be pipes."""

    def opened(one: Translations) -> _Given:
        return open_translations(one) if isinstance(one, str | Path) else one

    if isinstance(translations, Mapping):
        return {part: opened(one) for part, one in translations.items()}
    return opened(translations)


def _matched(
    benchmark: Benchmark, selection: Selection, translations: _Given | Mapping[str, _Given]
) -> tuple[ItemSet, list[str]]:
    """The items of a selection and the translation of each."""
    if not isinstance(translations, Mapping):
        item_set = benchmark.load(selection)
        return item_set, list(_texts(translations, benchmark, item_set))
    texts: list[str] = []
    for part, given in translations.items():
        texts.extend(_texts(given, benchmark, benchmark.load(replace(selection, parts=(part,)))))
    return benchmark.load(selection), texts


def _matched_in_another_revision(
    benchmark: Benchmark,
    selection: Selection,
    translations: _Given | Mapping[str, _Given],
    asked_for: str | None,
) -> tuple[ItemSet, list[str]]:
    """Sources tell which revision was translated; that one is taken, and said, unless the user named one."""
    others = () if asked_for or selection.data != "official" else benchmark.revisions
    for revision in others:
        if revision != selection.revision:
            try:
                matched = _matched(benchmark, replace(selection, revision=revision), translations)
            except UnmatchedSources:
                continue
            log.info("these translations are of %s revision %s, which is used here", benchmark.name, revision)
            return matched
    return _matched(benchmark, selection, translations)  # which raises again what was wrong


def _texts(given: _Given, benchmark: Benchmark, item_set: ItemSet) -> Sequence[str]:
    if isinstance(given, TranslationFile):
        return given.texts(benchmark, item_set)
    if len(given) != len(item_set.items):
        raise UserError(f"{len(given):,} translations were given for {len(item_set.items):,} sentences")
    return given


def run(
    system: str,
    benchmarks: Sequence[str | Selection],
    to: str = "",
    directory: Path | str | None = None,
    system_options: Mapping[str, str] | None = None,
    resampling: Resampling | None = None,
    *,
    forced_choice: bool = False,
    **options: Any,
) -> list[Result]:
    """Translate with a system and score. With a directory, everything is left there and a killed run goes on."""
    selections = tuple(
        select(benchmark)[1] if isinstance(benchmark, Selection) else select(benchmark, to, **options)[1]
        for benchmark in benchmarks
    )
    config = running.RunConfig(system, selections, system_options or {}, resampling or Resampling(), forced_choice)
    return running.run(config, Path(directory) if directory is not None else None)


def translate(
    system: str,
    sources: Sequence[str],
    to: str,
    source_language: str = "en",
    *,
    n_samples: int = 0,
    sampling: Mapping[str, str] | None = None,
    targets: Sequence[str] | None = None,
    system_options: Mapping[str, str] | None = None,
    store_path: Path | str | None = None,
    open_progress: running.OpenProgress = running.no_progress,
    tell: Callable[[str], None] = log.info,
) -> list[tuple[Translation, ...]]:
    """What a system makes of any sentences: one translation of each; `n_samples`; or the score of given `targets`."""
    if targets is not None and len(targets) != len(sources):
        raise UserError(f"{len(targets):,} translations were given for {len(sources):,} sentences; give one for each")
    direction = (source_language, to)
    if targets is not None:
        requests = [Request(s, *direction, Task.SCORE, target) for s, target in zip(sources, targets, strict=True)]
    elif n_samples:
        how = tuple(sorted((sampling or {}).items()))
        Decoding.of(how)  # refuses what no system understands
        requests = [Request(s, *direction, Task.SAMPLE, options=how, n_samples=n_samples) for s in sources]
    else:
        requests = [Request(source, *direction) for source in sources]
    with closing(open_system(system, system_options)) as opened, ExitStack() as stack:
        if not opened.is_stored:
            raise UserError(f"{opened.spec} answers the sentences of benchmarks only; try it with `gendermark run`")
        translating.check_tasks(opened, requests)
        opened.check(source_language, to, requests)
        store = stack.enter_context(Store(Path(store_path) if store_path else running.default_store()))
        with open_progress(f"{opened.spec} {source_language}-{to}") as progress:
            answers = translating.translate(opened, requests, store, progress)
        for note in opened.notes():
            tell(note)
    return list(answers.translations)


def compare(
    first: Path | str | Sequence[Result], second: Path | str | Sequence[Result], *, all_metrics: bool = False
) -> comparing.ComparisonReport:
    """Two runs (folders or results) on the same items: differences, intervals, corrected p-values."""
    return comparing.compare(load(first), load(second), Resampling(), all_metrics=all_metrics)


def load(run_or_results: Path | str | Sequence[Result]) -> Sequence[Result]:
    """The results in a run folder."""
    if isinstance(run_or_results, str | Path):
        return folder.read_results(Path(run_or_results))
    return run_or_results


def shown_sources(item_set: ItemSet) -> list[str]:
    """What a system is shown for each item: its sentence, with context where that was asked for."""
    benchmark: Benchmark = registry.load("benchmark", item_set.selection.benchmark)
    return [request.source for request in benchmark.requests(item_set)]


def export_items(benchmark: str, to: str = "", **options: Any) -> ItemSet:
    """The items to translate elsewhere; the target language matters only where the sources depend on it."""
    found: Benchmark = registry.load("benchmark", benchmark)
    selection = Selection(benchmark, target_language=to, **options)
    if not to and not found.sources_depend_on_target:
        pairs = found.language_pairs(selection.data)
        source = selection.source_language or pairs[0][0]
        selection = replace(selection, target_language=next((t for s, t in pairs if s == source), ""))
    return found.load(found.complete(selection))


DRAWING = ("n_samples", "sampling", "similarity", "alpha", "entailment")


def applicable(benchmarks: Sequence[str], targets: Sequence[str], **options: Any) -> tuple[Selection, ...]:
    """The named benchmarks into each target language; all that have the direction if none is named."""
    if benchmarks:
        draws = {name for name in benchmarks if registry.load("benchmark", name).draws}
        # How to draw is meant for those that draw, if there are any among the others.
        alone = {key: value for key, value in options.items() if not draws or key not in DRAWING}
        return tuple(
            dict.fromkeys(
                select(name, to, **(options if name in draws else alone))[1] for to in targets for name in benchmarks
            )
        )
    known: list[Benchmark] = [registry.load("benchmark", name) for name in registry.names("benchmark")]
    for what, values in (("rules", [b.rules for b in known]), ("cluster", [b.clusters for b in known])):
        names = {name for found in values for name in found}
        if options.get(what) and options[what] not in names:
            raise UnknownName(what, options[what], names)
    # Drawing many samples takes long and most systems cannot: only when asked for by name.
    found = [
        select(b.name, to, **options)[1] for to in targets for b in known if not b.draws and _applies(b, to, options)
    ]
    return tuple(dict.fromkeys(found))


def _applies(benchmark: Benchmark, to: str, options: Mapping[str, Any]) -> bool:
    """Whether a benchmark has this direction, and everything else that was asked for."""
    pairs = benchmark.language_pairs(options.get("data", "official"))
    source = options.get("source_language", "")
    asked = {
        "rules": benchmark.rules,
        "cluster": benchmark.clusters,
        "variant": benchmark.variants,
        "split": benchmark.splits,
    }
    has_all = all(not options.get(key) or options[key] in known for key, known in asked.items())
    has_context = not options.get("context") or options["context"].partition(":")[0] in benchmark.contexts
    can_align = benchmark.aligns or not (options.get("aligner") or options.get("detector"))
    has_direction = any(target == to and source in ("", from_) for from_, target in pairs)
    return has_all and has_context and can_align and has_direction
