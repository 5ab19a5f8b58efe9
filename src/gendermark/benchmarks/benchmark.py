"""A benchmark is a record of functions, one for each step of the pipeline, in a folder of its own.

__init__.py   options, with choices and help
items.py      data -> items
judge.py      translations -> judgements, by our rules and the paper's; and the record that names all steps
measures.py   judgements -> counts and metrics
metrics.toml  names and meanings of metrics; slices.toml: names of slices
findings.py   findings in words, figures
tables.toml   the tables of its paper; published.toml: the values printed in them
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from gendermark import registry
from gendermark.errors import UnknownName, UserError
from gendermark.io.disk_list import mapped
from gendermark.metrics.metric import Counts, Description, Metric, Tally, count, per_judgement, slice_label, unknown
from gendermark.metrics.within import count_within
from gendermark.reading.codes import NAMES
from gendermark.reading.failures import failure
from gendermark.records import Gender, Item, Judgement, Request, Table, Task, Test, Translation, Verdict
from gendermark.selection import SAMPLING, Selection, drawing_options, options_of

if TYPE_CHECKING:
    from gendermark.benchmarks.findings import Presentation

S = TypeVar("S", bound=Selection)
"""Settings of one benchmark."""
Direction = tuple[str, str]
"""Source and target language."""
Answers = Sequence[Sequence[Translation]]
"""For each item its translation, or all its samples."""


@dataclass(frozen=True)
class ItemSet:
    """The items of a selection, in export order, and their origin."""

    selection: Any
    """Completed settings of the benchmark."""
    items: Sequence[Item]
    """Large sets are on disk (`io/disk_list.py`): iterate, do not copy."""
    origin: str
    """Data set, revision and content hash, for the signature."""
    n_whole: int = 0
    """Number of items in the selection, if only some were translated."""


Judge = Callable[[ItemSet, Answers], list[Judgement]]


# -- what most benchmarks do -------------------------------------------------------------------------------------------


def plain_requests(item_set: ItemSet) -> Sequence[Request]:
    source, target = item_set.selection.source_language, item_set.selection.target_language
    return mapped(lambda item: Request(item.source, source, target), item_set.items)


def sampled_requests(item_set: ItemSet) -> Sequence[Request]:
    """Several samples of each sentence, for settings that specify number and method."""
    settings = item_set.selection
    direction = (settings.source_language, settings.target_language)
    options, n = drawing_options(settings.sampling), settings.n_samples
    return mapped(
        lambda item: Request(item.source, *direction, Task.SAMPLE, options=options, n_samples=n), item_set.items
    )


def with_drawing(settings: S, n_samples: int) -> S:
    """Fill in number and method of samples; refuse impossible ones."""
    given: Any = settings
    given = replace(given, n_samples=given.n_samples or n_samples, sampling=given.sampling or SAMPLING)
    if given.n_samples < 1:
        raise UserError(f"--n-samples is at least 1, not {given.n_samples}")
    drawing_options(given.sampling)  # refuses unreadable options
    return cast(S, given)


def each(judge_one: Callable[[Item, Sequence[Translation], Any], Judgement]) -> Judge:
    """A judge from a function of one item, its answers and the settings."""

    def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
        pairs = zip(item_set.items, answers, strict=True)
        return [judge_one(item, samples, item_set.selection) for item, samples in pairs]

    return judge


def judge_each(
    item_set: ItemSet,
    answers: Answers,
    judge_one: Callable[[Item, str], Judgement],
    of_failed: Callable[[Item, str | None], Mapping[str, Any]] = lambda item, text: {},  # noqa: ARG005
) -> list[Judgement]:
    """Judge each translation by itself. Errors, empty texts and copied sources are not translated.

    `of_failed`: further fields of the judgement of such a text.
    """
    judgements = []
    for item, samples in zip(item_set.items, answers, strict=True):
        text = samples[0].text
        reason = failure(item.source, text)
        if text is None or reason:
            judgements.append(Judgement.of(item, Verdict.NOT_TRANSLATED, reason=reason or "", **of_failed(item, text)))
        else:
            judgements.append(judge_one(item, text))
    return judgements


def tagged_stereotype(item: Item) -> Gender | None:
    return Gender(item.tags["stereotype"]) if item.tags.get("stereotype") else None


def words_in_common(wanted: Iterable[str], said: Iterable[str]) -> float:
    """Share of the longer words of a reference that a text contains: a measure of fit."""
    own = {word for word in wanted if len(word) > 3}
    return len(own & set(said)) / len(own) if own else 0.0


def outcome_table(judgements: Sequence[Judgement], title: str = "Outcomes and their reasons") -> Table:
    counts = Counter((judgement.outcome, judgement.reason) for judgement in judgements)
    return Table("outcomes", title, ("outcome", "reason", "n"), [(*key, n) for key, n in counts.most_common()])


def nothing(*_: Any) -> Any:
    return []


@dataclass(frozen=True)
class Measures(Generic[S]):
    """Judgements -> numbers. Metrics see judgements only, never the data."""

    described: Sequence[Description]
    """Every metric that `metrics` can return."""
    headline: tuple[str, ...]
    """Metrics compared and gated by default: `metric`, or `metric:slice`."""
    tally: Tally
    """Counts a group of judgements."""
    metrics: Callable[[Sequence[Judgement], S], list[Metric]]
    """The metrics available for these judgements."""
    stratum: Callable[[Judgement, S], str] = lambda judgement, settings: ""  # noqa: ARG005
    """The stratum of a judgement's group, if the design fixes the number of groups of each kind."""
    template: Callable[[Judgement, S], str] | None = None
    """The template of a sentence, if templates are crossed with groups: both then vary in intervals. The tally of a
    group must be the sum over its templates."""
    tests: Callable[[Sequence[Judgement], int], list[Test]] = nothing
    """Statistical tests beyond the estimates; the number is a seed."""
    tables: Callable[[Sequence[Judgement]], list[Table]] = nothing
    """Tables beyond the estimates: per word, per template ..."""
    warnings: Callable[[Sequence[Judgement], S], list[str]] = nothing
    """Warnings for readers of the numbers, one sentence each."""
    slices_of: Callable[[Judgement], Iterable[str]] | None = None
    """The slices of a judgement, if faster to compute than by tallying it alone."""
    slices: Mapping[str, str] = field(default_factory=dict)
    """Names of slices, beyond the common ones."""

    questions: tuple[str, ...] = ()
    """What verdicts are about: metrics with a known value for an unbiased system, or tests."""
    certainty: frozenset[str] = frozenset()
    """Groups included by necessity, not as a sample of others ("someone")."""

    def count(
        self,
        judgements: Sequence[Judgement],
        settings: S,
        needed: Iterable[Metric] | None = None,
        *,
        within: bool = False,
    ) -> Counts:
        """Judgements by group; with `needed`, only the columns of these metrics, which is faster.

        `within`: also the variation of sentences within groups, for intervals on these groups.
        """
        template = self.template
        columns = None if needed is None else {column for m in needed for column in (*m.needs, *m.weight)}

        def tally(group: Sequence[Judgement]) -> Mapping[str, float]:
            found = self.tally(group)
            return found if columns is None else {name: n for name, n in found.items() if name in columns}

        counts = count(
            judgements,
            tally,
            lambda judgement: self.stratum(judgement, settings),
            (lambda judgement: template(judgement, settings)) if template is not None else None,
        )
        certainty = self.certainty & set(counts.group_ids)
        if not within and not certainty:
            return counts
        single = judgements if within else (j for j in judgements if j.group_id in certainty)
        return replace(counts, within=count_within(single, tally, certainty), certainty=certainty)


@dataclass(frozen=True)
class BenchmarkOf(Generic[S]):
    """One published protocol."""

    name: str
    title: str
    """Display name."""
    question: str
    """Its question, in one sentence."""
    settings: type[S]
    rules_version: int
    """Increased whenever rules `best` can give another verdict; part of the signature."""
    language_pairs: Callable[[str], list[Direction]]
    """Data -> possible directions; the first is the default."""
    load: Callable[[S], ItemSet]
    """The items of completed settings, in export order."""
    judge: Judge
    """One judgement per item; answers are in item order."""
    measures: Measures[S]
    render: Callable[[Item, Gender, S], str]
    """A text in the target language that plainly expresses this gender: the output of control systems."""
    findings: str | Presentation
    """Findings, tables and figures: `module:name`, loaded when a report needs it; or the presentation itself."""
    card: str = ""
    """Card of the official data set, whose paper is cited."""
    paper: str = ""
    """A further paper to cite, if the protocol's differs from the data's."""
    default_own: Callable[[S], S] = lambda settings: settings
    """Interdependent defaults, filled in before the others."""
    complete_own: Callable[[S], S] = lambda settings: settings
    """Further defaults and checks, after those of the options' choices."""
    requests: Callable[[ItemSet], Sequence[Request]] = plain_requests
    """Requests to a system, one per item."""
    signature: Callable[[S], Mapping[str, str]] = lambda settings: {}  # noqa: ARG005
    """Further parts of the signature: aligner, gender detector ..."""
    settled: Callable[[Sequence[Judgement], S], S] = lambda judgements, settings: settings  # noqa: ARG005
    """The settings to sign, including what the judgements decided (a tuned alpha)."""
    as_compared: Callable[[Mapping[str, str]], Mapping[str, str]] = lambda conditions: conditions
    """Conditions by which runs are compared, with options resolved to their values."""
    stereotype: Callable[[Item], Gender | None] = tagged_stereotype
    """The gender that a stereotyped system would choose for an item."""
    fit: Callable[[Item, str, S], float | None] = lambda item, text, settings: None  # noqa: ARG005
    """Fit of a text to an item, 0 to 1, ignoring gender; None if unknown.

    Lines that fit their neighbours better show that a file is shifted.
    """
    choices: Callable[[ItemSet], Sequence[tuple[str, str] | None]] | None = None
    """A correct and a contrastive translation for each item, or None, for a forced choice."""
    sources: Callable[[S], Set[str]] | None = None
    """Its sentences, without building items: identifies the revision of a file."""
    file_names: Callable[[S], Sequence[str]] = nothing
    """Names of released output files, for a directory of files."""
    files_have_more: bool = False
    """Whether released outputs contain further sentences, which are ignored."""
    corpus_statistics: Callable[[S], Table] | None = None
    """A table about the data itself, if the paper has one."""
    drawn_elsewhere: Callable[[S, int], Mapping[str, Any]] = lambda settings, n_samples: {}  # noqa: ARG005
    """The settings that describe this number of samples drawn elsewhere."""
    judges_together: bool = False
    """Whether the judge needs all sentences at once, so that a large set must not be split into portions. (Word
    alignment can learn from a portion.)"""
    draws: bool = False
    """Whether it judges many samples of each sentence; run only when named."""
    offers_genders: bool = False
    """Whether the samples of a sentence whose gender is open are right together: some feminine, some masculine."""
    only_when_named: bool = False
    """Whether it is left out of runs that name no benchmark, because it does not ask for translations of sentences."""
    reads_any_text: bool = False
    """Whether it reads arbitrary text: `audit` uses it for what it does not recognise."""
    sources_depend_on_target: bool = False
    """Whether each target language has different sentences."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, str]]:
        """Workers receive the name: they have the functions, some of which cannot be pickled."""
        return registry.load, ("benchmark", self.name)

    @cached_property
    def presentation(self) -> Presentation:
        if not isinstance(self.findings, str):
            return self.findings
        module, _, attribute = self.findings.partition(":")
        found: Presentation = getattr(import_module(module), attribute)
        return found

    def with_metric(
        self, package: str, columns: Callable[[Judgement], Iterable[str]], metric: Metric
    ) -> BenchmarkOf[S]:
        """This benchmark with one more metric, counted beside its own."""
        own = self.measures
        if metric.name in {about.name for about in own.described}:
            raise UserError(f"{package} adds a metric {metric.name!r} to {self.name}, which has one of that name")
        added = per_judgement(columns)
        measures = replace(
            own,
            described=(*own.described, metric.about),
            tally=lambda group: {**own.tally(group), **added(group)},
            metrics=lambda judgements, settings: [*own.metrics(judgements, settings), metric],
        )
        return replace(self, measures=measures)

    @cached_property
    def _described(self) -> Mapping[str, Description]:
        return {about.name: about for about in self.measures.described}

    def describe(self, metric: str) -> Description:
        return self._described.get(metric) or unknown(metric)

    def label(self, metric: str, part: str = "all") -> str:
        return self.describe(metric).label_on(part, self.measures.slices)

    def slice_label(self, part: str) -> str:
        return slice_label(part, self.measures.slices)

    def is_headline(self, metric: Metric) -> bool:
        return metric.name in self.measures.headline or f"{metric.name}:{metric.slice}" in self.measures.headline

    @property
    def part_noun(self) -> str:
        return options_of(self.settings)["parts"].noun

    def choices_of(self, option: str) -> tuple[str, ...]:
        """The choices of an option; empty if it does not exist or takes any value."""
        found = options_of(self.settings).get(option)
        return found.choices if found else ()

    def complete(self, settings: S) -> S:
        """Fill in defaults and refuse unsupported settings, before any work starts."""
        settings = self.default_own(settings)
        options = options_of(self.settings)
        kind = settings.data.partition(":")[0]
        options["data"].check(settings.data, self.name)
        if settings.data != "official" and settings.revision:
            raise UserError(f"{kind} data has no --revision; leave it out")
        settings = self._with_direction(settings)
        filled: dict[str, Any] = {}
        for name, option in options.items():
            if name in ("data", "parts") or (name == "revision" and settings.data != "official"):
                continue
            value = getattr(settings, name)
            if option.choices:
                filled[name] = value = value or option.choices[0]
                option.check(value, self.name)
        for part in settings.parts:
            if part not in options["parts"].choices:
                raise UnknownName(f"{self.part_noun} of {self.name}", part, options["parts"].choices)
        if len(set(settings.parts)) < len(settings.parts):
            raise UserError(f"a {self.part_noun} of {self.name} is given twice; give each once")
        return self.complete_own(replace(settings, **filled))

    def _with_direction(self, settings: S) -> S:
        pairs = self.language_pairs(settings.data)
        source = settings.source_language or pairs[0][0]
        targets = [to for from_, to in pairs if from_ == source]
        if not targets:
            where = f"{self.name} ({settings.data} data) has no"
            raise UnknownName("source language", source, {from_ for from_, _ in pairs}, where)
        target = settings.target_language or (targets[0] if len(targets) == 1 else "")
        if not target:
            raise UserError(f"give the target language of {self.name}: --to {' | '.join(targets)}")
        if target not in targets:
            where = f"{self.name} ({settings.data} data, from {NAMES.get(source, source)})"
            raise UnknownName("target language", target, targets, f"{where} has no")
        return replace(settings, source_language=source, target_language=target)


Benchmark = BenchmarkOf[Any]
