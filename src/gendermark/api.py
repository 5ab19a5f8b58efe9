"""The functions a notebook calls; the command line calls the same ones."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from itertools import chain, zip_longest
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from gendermark import registry
from gendermark.benchmarks.benchmark import Answers, Benchmark, ItemSet
from gendermark.errors import UnknownName, UnmatchedSources, UserError
from gendermark.io import soundness
from gendermark.io.disk_list import mapped, stored
from gendermark.io.progress import on_one_line
from gendermark.io.tables import Samples
from gendermark.io.textfiles import write_text
from gendermark.io.translations import (
    REMEDIES,
    TranslationFile,
    check_genders,
    check_sound,
    is_of_pairs,
    open_translations,
    read_samples,
    split_system,
)
from gendermark.metrics.metric import Resampling
from gendermark.names import checked
from gendermark.reading.failures import MISSING
from gendermark.records import Request, Task, Translation
from gendermark.result import Result, ResultList
from gendermark.runs.executors import SERIAL, Executor, open_executor
from gendermark.runs.score import Origin, sentence_of
from gendermark.runs.score import score as judge_and_estimate
from gendermark.selection import Selection, options_of, own_options

if TYPE_CHECKING:  # runs alone need these: scoring a file must stay fast
    from gendermark.auditing.audit import Audit
    from gendermark.runs.compare import ComparisonReport
    from gendermark.runs.gates import Verdict as GateVerdict
    from gendermark.runs.quality_gap import QualityGap, Scorer
    from gendermark.runs.run import RunContext
    from gendermark.systems.function import Translate
    from gendermark.systems.system import System

log = logging.getLogger(__name__)

Translations = Path | str | TranslationFile | Sequence[str] | Sequence[Sequence[str]]
"""A file (see `gendermark score`), translations in export order, or the samples of each sentence."""
Results = Path | str | Result | Sequence[Result]
"""A run folder, a result, or several results of one system."""
_Given = TranslationFile | Sequence[str]
_THEMSELVES = "the translations"
_FEWEST_TO_BE_THE_SAME = 10


def select(benchmark: str | Selection, to: str = "", **options: Any) -> tuple[Benchmark, Selection]:
    """A benchmark and a completed selection of its items.

    Args:
        benchmark: name of a benchmark, or a `Selection`.
        to: target language, such as `es`.
        options: other fields of the selection: `data`, `rules`, `revision`, and options of the benchmark.
    """
    if isinstance(benchmark, Selection):
        if to or options:
            given = ", ".join((["to"] if to else []) + list(options))
            raise UserError(f"pass a Selection, or a name with options, not both: leave out {given}")
        selection = benchmark
    elif not isinstance(benchmark, str):
        example = registry.names("benchmark")[-1]
        raise UserError(f"a benchmark is given by its name, such as {example!r}, not {benchmark!r:.60}")
    else:
        registry.load("benchmark", benchmark)  # report an unknown name before anything else
        selection = Selection(benchmark, target_language=to, **options)
    found: Benchmark = registry.load("benchmark", selection.benchmark)
    return found, found.complete(selection)


def items(benchmark: str | Selection, to: str = "", **options: Any) -> ItemSet:
    """The items of a selection, in export order: `.items`, each with source, expected gender and tags.

    Args:
        benchmark: name of a benchmark, or a `Selection`.
        to: target language, such as `es`.
        options: other fields of the selection: `data`, `rules`, `revision`, and options of the benchmark.
    """
    found, selection = select(benchmark, to, **options)
    return found.load(selection)


@contextmanager
def _workers(executor: str) -> Iterator[Executor]:
    with open_executor(executor) as workers:
        yield workers
        for note in workers.notes():
            log.info(note)


# -- translations made elsewhere ---------------------------------------------------------------------------------------


def score(
    benchmark: str | Selection,
    translations: Translations | Mapping[str, Translations],
    to: str = "",
    resampling: Resampling | None = None,
    *,
    data: str = "official",
    rules: str = "",
    revision: str = "",
    source_language: str = "",
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 12345,
    interval: str = "jackknife",
    name: str = "",
    directory: Path | str | None = None,
    executor: str = "",
    accept_unsound: bool = False,
    **options: Any,
) -> Result:
    """Score translations made elsewhere.

    Args:
        benchmark: name of a benchmark, or a `Selection`.
        translations: a file (see `gendermark score`), or a list in the order of `gendermark export`. A mapping gives
            each part its own: `{"mofc": "mofc.txt"}`. Sampling benchmarks take a list for each sentence.
        to: target language, such as `es`.
        resampling: resamples, confidence, seed and interval as one record, instead of the four arguments.
        data: `official`, `core` (bundled, no network) or `file:FILE`.
        rules: scoring rules, such as `paper2019`; default `best`.
        revision: revision of the official data, such as `2019`.
        source_language: source language, if the benchmark has several.
        resamples: number of bootstrap resamples.
        confidence: confidence level of the intervals.
        seed: random seed.
        interval: `jackknife`, or `bootstrap` for percentiles of the cluster bootstrap.
        name: system name in tables and headings; default: the name of `directory`.
        directory: run folder to write the result to, beside others of the same system.
        executor: where large sets are judged: `serial`, `processes:4`, `dask`.
        accept_unsound: score translations that fail the sanity checks (copies, wrong language, shifted lines), with a
            warning in every output.
        options: other options of the benchmark, as on the command line: `split="dev"`.
    """
    if name:
        name = checked(name)
    elif directory is not None:
        name = Path(directory).resolve().name
    origin = Origin("files", resampling=resampling or Resampling(resamples, seed, confidence, interval), name=name)
    asked = _asked(benchmark, options, data=data, rules=rules, revision=revision, source_language=source_language)
    with _workers(executor) as workers:
        scored = score_texts(benchmark, translations, to, origin, workers, accept_unsound=accept_unsound, **asked)
    if directory is not None:
        scored.write(Path(directory), origin)
    return scored.result


def _checked(given: Any, kind: type) -> Any:
    """Files, or a list of texts; of lists of them (`kind` Sequence) where sentences have many samples."""
    if isinstance(given, Mapping):
        return {part: _checked(one, kind) for part, one in given.items()}
    if isinstance(given, str) and ("\n" in given or not Path(given).exists()):
        raise UserError(f"{given!r:.60}: no such file; give the path of one, or a list of texts, one for each sentence")
    if isinstance(given, str | Path | TranslationFile):
        return given
    if not isinstance(given, Iterable):
        raise UserError(f"translations are a file or a list of texts, not {given!r:.60}")
    texts = list(given)
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, kind):
            raise UserError(f"translation {number:,} is {text!r:.60}, not a string; give '' for a sentence without one")
    return texts


def _asked(benchmark: object, options: Mapping[str, Any], **common: str) -> dict[str, Any]:
    """The given options; a `Selection` brings its own data."""
    given = {name: value for name, value in common.items() if value}
    if isinstance(benchmark, Selection) and given.get("data") == "official":
        del given["data"]
    return {**given, **options}


@dataclass(frozen=True)
class Scored:
    """A result with its inputs, as a run folder keeps them."""

    item_set: ItemSet
    answers: Answers
    result: Result

    def write(self, directory: Path, origin: Origin) -> Path:
        """Write it into a run folder, beside other results of the same system; return its cell."""
        from gendermark.runs import folder

        config = {"system": origin.system, "system_options": {}, "resampling": asdict(origin.resampling)}
        return folder.add_cell(directory, config, self.item_set, self.answers, self.result, origin.name)


def score_texts(
    benchmark: str | Selection,
    translations: Translations | Mapping[str, Translations],
    to: str,
    origin: Origin,
    executor: Executor = SERIAL,
    *,
    accept_unsound: bool = False,
    **options: Any,
) -> Scored:
    """Score translations of the system `origin`; return the matched texts too."""
    found, selection = select(benchmark, to, **options)
    translations = _checked(translations, Sequence if found.draws else str)
    given = benchmark if isinstance(benchmark, Selection) else Selection(benchmark, target_language=to, **options)
    if found.draws:
        item_set, answers = _with_samples(found, selection, translations, given)
    else:
        accepted: list[str] | None = [] if accept_unsound else None
        item_set, texts = _with_texts(found, selection, translations, accepted, is_revision_given=bool(given.revision))
        answers = mapped(lambda text: [Translation("", text, error=MISSING if text is None else None)], texts)
        files = translations.values() if isinstance(translations, Mapping) else [translations]
        unsound = [why for file in files if isinstance(file, TranslationFile) for why in file.accepted]
        unsound += accepted or []
        if not unsound:
            with soundness.refused(_THEMSELVES, REMEDIES, accepted=accepted):
                check_genders(found, item_set, texts)
        origin = replace(origin, unsound="; ".join(dict.fromkeys([*unsound, *(accepted or [])])))
    result = judge_and_estimate(found, item_set, answers, origin, executor)
    return Scored(item_set, answers, replace(result, texts=mapped(sentence_of, item_set.items, answers)))


def _with_samples(
    benchmark: Benchmark, selection: Selection, samples: Any, given: Selection
) -> tuple[ItemSet, Sequence[Sequence[Translation]]]:
    """The items of a selection and the samples of each; `given` is the selection before completion."""
    item_set = benchmark.load(selection)
    if isinstance(samples, str | Path):
        path, system = split_system(str(samples))
        drawn, notes = read_samples(path, benchmark, item_set, system)
        for note in notes:
            log.warning("%s: %s", path, note)
    elif isinstance(samples, Mapping) or any(isinstance(texts, str) for texts in samples):
        raise UserError(
            f"{benchmark.name} scores many samples per sentence; pass a list of samples for each, or a file of them"
        )
    else:
        if len(samples) != len(item_set.items):
            raise UserError(f"samples of {len(samples):,} sentences were given for {len(item_set.items):,}")
        drawn = [Samples(tuple(texts)) for texts in samples]
    signed = replace(selection, **benchmark.drawn_elsewhere(given, max(len(one.texts) for one in drawn)))
    return replace(item_set, selection=signed), mapped(_answers, drawn)


def _answers(samples: Samples) -> list[Translation]:
    known = samples.log_probabilities or [None] * len(samples.texts)
    return [
        Translation("", text, number, log_probability=log_probability)
        for number, (text, log_probability) in enumerate(zip(samples.texts, known, strict=True))
    ]


def _with_texts(
    benchmark: Benchmark,
    selection: Selection,
    translations: Translations | Mapping[str, Translations],
    accepted: list[str] | None,
    *,
    is_revision_given: bool,
) -> tuple[ItemSet, Sequence[str | None]]:
    """The items of a selection and the translation of each.

    The sources show which revision was translated; it is used, with a message, unless the user chose another. Unsound
    translations are refused, or listed in `accepted`.
    """

    def opened(one: Any) -> _Given:  # a file may be a pipe, which can be read only once
        is_path = isinstance(one, str | Path)
        return open_translations(one, accept_unsound=accepted is not None) if is_path else one

    given: _Given | dict[str, _Given]
    if isinstance(translations, Mapping):
        if not translations:
            part = f"{benchmark.part_noun} of {benchmark.name}, for example {benchmark.choices_of('parts')[0]!r}"
            raise UserError(f"give translations as a mapping from a {part}, to its translations")
        selection = benchmark.complete(replace(selection, parts=tuple(translations)))
        given = {part: opened(one) for part, one in translations.items()}
    else:
        given = opened(translations)
    revisions = [selection.revision]
    if not is_revision_given and selection.data == "official":
        revisions = list(dict.fromkeys([*revisions, *benchmark.choices_of("revision")]))
        # Choose the revision by its sentences before building any items.
        known = given.sources if isinstance(given, TranslationFile) and not given.allow_missing else None
        if known and benchmark.sources:
            sources = {one: benchmark.sources(replace(selection, revision=one)) for one in revisions}
            revisions.sort(key=lambda one: len(known ^ sources[one]))
    problems = []
    for revision in revisions:
        try:
            matched = _matched(benchmark, replace(selection, revision=revision), given, accepted)
        except UnmatchedSources as problem:
            problems.append(problem)
        else:
            if revision != selection.revision:
                log.info("these are translations of %s revision %s; using that revision", benchmark.name, revision)
            return matched
    raise problems[0]


def _matched(
    benchmark: Benchmark,
    selection: Selection,
    translations: _Given | Mapping[str, _Given],
    accepted: list[str] | None,
) -> tuple[ItemSet, Sequence[str | None]]:
    if not isinstance(translations, Mapping):
        item_set = benchmark.load(selection)
        return item_set, _texts(translations, benchmark, item_set, accepted)
    by_part = {
        part: _texts(given, benchmark, benchmark.load(replace(selection, parts=(part,))), accepted)
        for part, given in translations.items()
    }
    if is_of_pairs(benchmark) and len(by_part) == 2:
        first, second = by_part.values()
        # Even a system that always chooses one gender sometimes translates "she" and "he" differently.
        if len(first) >= _FEWEST_TO_BE_THE_SAME and all(x == y for x, y in zip_longest(first, second)):
            raise UserError(f"{' and '.join(by_part)} were given the same translations; give each its own")
    return benchmark.load(selection), stored(chain.from_iterable(by_part.values()))


def _texts(given: _Given, benchmark: Benchmark, item_set: ItemSet, accepted: list[str] | None) -> Sequence[str | None]:
    notes: Sequence[str] = ()
    if isinstance(given, TranslationFile):
        where: Path | str = given.path
        texts, notes = given.texts(benchmark, item_set)
        if accepted is not None:
            accepted += given.accepted
    else:
        where, texts = _THEMSELVES, given
        if len(texts) != len(item_set.items):
            data = item_set.selection.data
            raise UserError(
                f"{len(texts):,} translations were given for {len(item_set.items):,} sentences ({data} data); give one "
                "for each of gendermark.items(...).items, in this order"
            )
        with soundness.refused(where, REMEDIES, accepted=accepted):
            notes = check_sound(benchmark, item_set, given)
    for note in notes:
        log.info("%s: %s", where, note)
    return texts


def audit(files: Path | str | Sequence[Path | str], directory: Path | str | None = None, *, parser: str = "") -> Audit:
    """Recognise and score the translations in files; see `gendermark audit`.

    Args:
        files: one or more spreadsheets, text files or catalogues.
        directory: where to write a run folder for each system.
        parser: an installed spaCy pipeline to parse texts outside the benchmarks, instead of the bundled parser.
    """
    from gendermark.auditing import audit as auditing  # keep `score` fast

    given = [files] if isinstance(files, str | Path) else files
    if not given or not all(isinstance(one, str | Path) for one in given):
        raise UserError("audit takes the paths of files of translations; report() shows results")
    return auditing.audit(given, Path(directory) if directory is not None else None, parser=parser)


# -- systems -----------------------------------------------------------------------------------------------------------


@overload
def run(
    system: str | Translate,
    benchmark: str | Selection,
    to: str = "",
    directory: Path | str | None = None,
    *,
    data: str = "official",
    rules: str = "",
    revision: str = "",
    source_language: str = "",
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 12345,
    interval: str = "jackknife",
    resampling: Resampling | None = None,
    system_options: Mapping[str, Any] | None = None,
    forced_choice: bool = False,
    name: str = "",
    executor: str = "",
    accept_unsound: bool = False,
    **options: Any,
) -> Result: ...
@overload
def run(
    system: str | Translate, benchmark: Sequence[str | Selection], to: str = "", *args: Any, **options: Any
) -> list[Result]: ...
def run(
    system: str | Translate,
    benchmark: str | Selection | Sequence[str | Selection],
    to: str = "",
    directory: Path | str | None = None,
    *,
    data: str = "official",
    rules: str = "",
    revision: str = "",
    source_language: str = "",
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 12345,
    interval: str = "jackknife",
    resampling: Resampling | None = None,
    system_options: Mapping[str, Any] | None = None,
    forced_choice: bool = False,
    name: str = "",
    executor: str = "",
    accept_unsound: bool = False,
    **options: Any,
) -> Result | list[Result]:
    """Translate one or more benchmarks with a system and score them.

    Args:
        system: `family:argument` as on the command line (`ctranslate2:models/en-es`), or a function from a list of
            sentences to a list of translations, called in batches and cached in `directory` only. Work of more than
            ten seconds shows its progress on stderr.
        benchmark: name of a benchmark or a `Selection`; a list of them gives a list of results.
        to: target language, such as `es`.
        directory: run folder that keeps everything; an interrupted run resumes there.
        data: `official`, `core` (bundled, no network) or `file:FILE`.
        rules: scoring rules, such as `paper2019`; default `best`.
        revision: revision of the official data, such as `2019`.
        source_language: source language, if the benchmark has several.
        resamples: number of bootstrap resamples.
        confidence: confidence level of the intervals.
        seed: random seed.
        interval: `jackknife`, or `bootstrap` for percentiles of the cluster bootstrap.
        resampling: the previous four as one record.
        system_options: options of the system family.
        forced_choice: also have the system score the correct against the contrastive translation.
        name: system name in tables and headings.
        executor: where the work is done: `serial`, `processes:4`, `dask`.
        accept_unsound: continue if translations fail the sanity checks, with a warning in every output.
        options: other options of the benchmark, as on the command line: `split="dev"`.

    Returns:
        The result of the benchmark, or a list of results for a list of benchmarks.
    """
    from gendermark.runs import run as running
    from gendermark.runs.run import RunConfig
    from gendermark.systems.function import Function
    from gendermark.systems.system import open_system

    if not callable(system) and not isinstance(system, str):
        raise UserError(f"a system is written as family:argument, or is a function that translates, not {system!r:.60}")
    several: Sequence[str | Selection] = [] if isinstance(benchmark, str | Selection) else benchmark
    asked = _asked(benchmark, options, data=data, rules=rules, revision=revision, source_language=source_language)
    chosen = [select(one) if isinstance(one, Selection) else select(one, to, **asked) for one in several]
    if isinstance(benchmark, str | Selection):
        chosen = [select(benchmark, to, **asked)]
    elif not chosen:
        raise UserError("give at least one benchmark")
    selections = tuple(selection for _, selection in chosen)
    how = resampling or Resampling(resamples, seed, confidence, interval)
    folder = Path(directory) if directory is not None else None
    with _workers(executor) as workers, ExitStack() as stack:
        context = running.RunContext(None, on_one_line, log.info, checked(name) if name else "", workers)
        given = {key: str(value) for key, value in (system_options or {}).items()}
        opened: System = Function(system, folder) if callable(system) else open_system(system, given)
        stack.enter_context(closing(opened))
        spec = opened.spec if callable(system) else system
        config = RunConfig(spec, selections, given, how, forced_choice, accept_unsound)
        results = running.carry_out(config, running.plan(config, opened), opened, folder, context)
    return results[0] if isinstance(benchmark, str | Selection) else results


@dataclass(frozen=True)
class Asking:
    """A request for arbitrary sentences: one translation of each, samples, or scores of given translations."""

    to: str
    source_language: str = "en"
    n_samples: int = 0
    sampling: Mapping[str, str] = field(default_factory=dict)
    targets: Sequence[str] | None = None

    def requests(self, sources: Sequence[str]) -> list[Request]:
        direction = (self.source_language, self.to)
        if self.targets is not None:
            if len(self.targets) != len(sources):
                raise UserError(
                    f"{len(self.targets):,} translations were given for {len(sources):,} sentences; give one for each"
                )
            return [Request(s, *direction, Task.SCORE, target) for s, target in zip(sources, self.targets, strict=True)]
        if self.n_samples:
            from gendermark.systems.sampling import Decoding

            how = tuple(sorted(self.sampling.items()))
            Decoding.of(how)  # refuses options that no system understands
            return [Request(s, *direction, Task.SAMPLE, options=how, n_samples=self.n_samples) for s in sources]
        return [Request(source, *direction) for source in sources]


def translate(
    system: str,
    sources: Sequence[str],
    asking: Asking,
    system_options: Mapping[str, str] | None = None,
    context: RunContext | None = None,
) -> list[tuple[Translation, ...]]:
    """Translate, sample or score arbitrary sentences with a system."""
    from gendermark.runs import run as running
    from gendermark.runs import translate as translating
    from gendermark.runs.store import Store
    from gendermark.systems.system import open_system

    context = context or running.NO_CONTEXT
    requests = asking.requests(sources)
    with closing(open_system(system, system_options)) as opened, ExitStack() as stack:
        if opened.is_for_items_only:
            raise UserError(f"{opened.spec} translates benchmark sentences only; use it with `gendermark run`")
        translating.check_tasks(opened, requests)
        opened.check(asking.source_language, asking.to, requests)
        store = stack.enter_context(Store(context.store or running.default_store()))
        with context.open_progress(f"{opened.spec} {asking.source_language}-{asking.to}") as progress:
            answers = translating.translate(opened, requests, store, progress, context.executor)
        for note in opened.notes():
            context.tell(note)
    return list(answers.translations)


# -- results -----------------------------------------------------------------------------------------------------------


def compare(first: Results, second: Results, *, all_metrics: bool = False) -> ComparisonReport:
    """Compare two systems on the same items: differences, intervals, Holm-corrected p-values.

    Args:
        first: a result, a list of results, or a run folder.
        second: the system to compare with it; differences are second minus first.
        all_metrics: every metric, not only the headline ones.
    """
    from gendermark.runs import compare as comparing

    return comparing.compare(load(first), load(second), asked=comparing.Asked(everything=all_metrics))


def gate(
    run: Results,
    baseline: Results | None = None,
    *,
    minimum: Mapping[str, float] | None = None,
    maximum: Mapping[str, float] | None = None,
    tolerance: float = 0.0,
    fixed_tolerance: float = 2.0,
    fail_on_gap: bool = False,
    alpha: float = 0.05,
    resamples: int = 10_000,
    seed: int = 12345,
) -> GateVerdict:
    """Check that a system is not worse than a baseline and meets thresholds; see `.passed`.

    Args:
        run: a result, a list of results, or a run folder.
        baseline: the run to compare with.
        minimum: minimum values by metric, such as `{"accuracy": 60}`.
        maximum: maximum values by metric.
        tolerance: loss allowed in a headline metric, in points.
        fixed_tolerance: loss of accuracy allowed for women, and for men, on the same sentences, in points.
        fail_on_gap: fail if a gap grew, even if neither women nor men lost accuracy.
        alpha: significance level.
        resamples: number of bootstrap resamples.
        seed: random seed.
    """
    from gendermark.runs import gates

    if baseline is None and not minimum and not maximum:
        raise UserError("nothing to check; give a baseline, minimum={METRIC: VALUE} or maximum={METRIC: VALUE}")
    if not 0 <= alpha <= 1:
        raise UserError(f"alpha must lie between 0 and 1 (usually 0.05), not {alpha:g}")
    least, most = ({key: str(value) for key, value in (given or {}).items()} for given in (minimum, maximum))
    strict = gates.Strictness(tolerance, fail_on_gap=fail_on_gap, fixed_tolerance=fixed_tolerance)
    before = None if baseline is None else load(baseline)
    return gates.Verdict.of(
        gates.checks_of(load(run), before, (least, most), Resampling(resamples, seed), alpha, strict)
    )


def quality_gap(
    result: Result, scorer: str | Scorer | Any = "chrf", *, resamples: int = 1000, confidence: float = 0.95
) -> QualityGap:
    """Translation quality for men and for women, and their difference, with intervals.

    Args:
        result: of a benchmark with references for men and women, such as MT-GenEval's pairs.
        scorer: `bleu`, `chrf`, `chrf++`, `ter`, any sacreBLEU metric, or a function from sources, translations and
            references to a score for each sentence. An untranslated sentence counts as an empty translation.
        resamples: number of bootstrap resamples.
        confidence: confidence level of the intervals.
    """
    from gendermark.runs import quality_gap as gaps

    return gaps.quality_gap(result, scorer, Resampling(resamples, confidence=confidence))


def report(
    runs: Results | Sequence[Path | str | Sequence[Result]], path: Path | str, *, metrics: Sequence[str] = ()
) -> None:
    """Write a page (`.html`) or tables (`.md`, `.tex`, `.csv`, `.json`).

    Args:
        runs: a result or run folder, or a list of them; the others are compared with the first.
        path: output file; its suffix decides the format.
        metrics: columns of Markdown and LaTeX tables, such as `accuracy:feminine`, instead of the papers' tables.
    """
    from gendermark.runs.folder import read_run, run_of

    if not isinstance(runs, Path | str | Sequence | Result) or not isinstance(path, str | Path):
        raise UserError("report takes the results as a list, then the file to write: report([a, b], 'page.html')")
    several = [runs] if isinstance(runs, Path | str | Result) else runs
    read = [read_run(one) if isinstance(one, Path | str) else run_of(load(one)) for one in several]
    if not read:
        raise UserError("report needs a result or a run folder")
    # Reporting is a layer above this module.
    tables = import_module("gendermark.reporting.tables")
    write_text(path, tables.render_report(read, tables.format_of(Path(path)), metrics=metrics))


def load(run: Results) -> ResultList:
    """Load the results of a run folder, with their sentences; results are returned unchanged.

    Args:
        run: a run folder, a result, or a list of results.

    Returns:
        A list that also accepts the name of a benchmark as index: `load("runs/mine")[BENCHMARK]`.
    """
    if isinstance(run, Result):
        return ResultList([run])
    if not isinstance(run, str | Path):
        if not isinstance(run, Sequence) or not all(isinstance(one, Result) for one in run):
            raise UserError(f"a run is its folder, a result or a list of results, not {run!r:.60}")
        return ResultList(run)  # type: ignore[arg-type]  # no text, as was seen above
    from gendermark.runs.folder import read_run

    read = read_run(run)
    return ResultList(
        replace(one, texts=mapped(attrgetter("source", "translation"), read.texts[one.cell])) for one in read.results
    )


def rejudge(run: Path | str, output: Path | str | None = None, *, rules: str = "", **options: Any) -> ResultList:
    """Judge and score the stored translations of a run folder again, without the system.

    Args:
        run: a run folder, as run(..., directory=FOLDER) or score(..., directory=FOLDER) writes it.
        output: run folder for the new results.
        rules: scoring rules; default: unchanged.
        options: other options of the judge, such as `aligner="eflomal"`.
    """
    from gendermark.runs.rejudge import rejudge as judge_again

    found = judge_again(run, {"rules": rules, **options}, Path(output) if output is not None else None)
    return ResultList(one.result for one in found)


# -- what can be asked for ---------------------------------------------------------------------------------------------


def export_items(benchmark: str, to: str = "", **options: Any) -> tuple[ItemSet, list[str]]:
    """The items to translate elsewhere, and the text of each: its sentence, with context if requested.

    The target language matters only if the sources depend on it.
    """
    found: Benchmark = registry.load("benchmark", benchmark)
    selection = Selection(benchmark, target_language=to, **options)
    if not to and not found.sources_depend_on_target:
        pairs = found.language_pairs(selection.data)
        source = selection.source_language or pairs[0][0]
        selection = replace(selection, target_language=next((t for s, t in pairs if s == source), ""))
    item_set = found.load(found.complete(selection))
    return item_set, [request.source for request in found.requests(item_set)]


@dataclass(frozen=True)
class Chosen:
    """The benchmarks of a run, and those left out, with reasons."""

    selections: tuple[Selection, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)


def applicable(benchmarks: Sequence[str], targets: Sequence[str], **options: Any) -> Chosen:
    """The named benchmarks for each target language; by default all that have the direction and the options.

    An option applies to the benchmarks that have it.
    """
    given = {name: value for name, value in options.items() if value}
    found: dict[Selection, None] = {}
    if benchmarks:
        # With several benchmarks, an option need not exist in each.
        own = {name: own_options(registry.load("benchmark", name).settings) for name in benchmarks}
        for to in targets:
            for name in benchmarks:
                foreign = set().union(*own.values()) - own[name].keys()
                found[select(name, to, **{key: value for key, value in given.items() if key not in foreign})[1]] = None
        return Chosen(tuple(found))
    _refuse_unknown_values(given)
    source = given.get("source_language", "")
    left_out: dict[str, str] = {}
    for to in targets:
        for name, benchmark in registry.every("benchmark"):
            pairs = benchmark.language_pairs(given.get("data", "official"))
            has_direction = any(target == to and source in ("", from_) for from_, target in pairs)
            # Sampling is slow and most systems cannot do it: only if named.
            if has_direction and not benchmark.draws and not benchmark.only_when_named:
                try:
                    found[select(name, to, **given)[1]] = None
                except UserError as problem:
                    left_out[name] = str(problem)
    if left_out and not found:
        reasons = list(dict.fromkeys(left_out.values()))
        raise UserError(reasons[0] if len(reasons) == 1 else f"no benchmark matches: {'; '.join(reasons)}")
    return Chosen(tuple(found), left_out)


def _refuse_unknown_values(given: Mapping[str, Any]) -> None:
    """A value unknown to every benchmark is an error, not a reason to leave all of them out."""
    every = [options_of(benchmark.settings) for _, benchmark in registry.every("benchmark")]
    for name, value in given.items():
        takers = [options[name] for options in every if name in options]
        for one in value if isinstance(value, tuple) else (value,):
            if takers and not any(taker.allows(one) for taker in takers if name != "parts" or taker.choices):
                known = {choice for taker in takers for choice in taker.choices if choice}
                raise UnknownName("group" if name == "parts" else name, one, known)
