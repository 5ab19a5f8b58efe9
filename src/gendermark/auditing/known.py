"""The sentences of all registered benchmarks that are at hand, to know a file's sources again.

Item sets are loaded one after another, and only until one fits; official data is looked for in the cache and in a
mirror on this machine, and never fetched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark, Direction, ItemSet
from gendermark.data.download import LookedUp, nothing_fetched
from gendermark.errors import DataUnavailable, UserError
from gendermark.io.translations import loose_key
from gendermark.linguistics import profiles
from gendermark.selection import Selection, own_options

OFFICIAL, CORE = "official", "core"
_FEWEST_ROWS = 3
_ENOUGH = 0.5
"""The share of the rows, or of a set's sentences, by which sources are known again."""
_NEARLY_ALL = 0.9


@dataclass(frozen=True)
class Languages:
    """What sources and translations may be in; where no target is given, one of them stands for all."""

    sources: frozenset[str] = frozenset()
    targets: frozenset[str] = frozenset()


@dataclass(frozen=True)
class KnownSet:
    """The items of one selection, and what a file's sources are compared with."""

    benchmark: Benchmark
    item_set: ItemSet

    @property
    def selection(self) -> Selection:
        selection: Selection = self.item_set.selection
        return selection

    @cached_property
    def keys(self) -> Sequence[str]:
        """Of each item, what a system is shown of it."""
        return [loose_key(request.source) for request in self.benchmark.requests(self.item_set)]

    @cached_property
    def times(self) -> Mapping[str, int]:
        """How often each sentence is asked."""
        return Counter(self.keys)

    @cached_property
    def is_translated(self) -> bool:
        """Whether it asks for translations; rewriting stays within a language."""
        first = self.benchmark.requests(self.item_set)[:1]
        return all(one.source_language != one.target_language for one in first)


@dataclass(frozen=True)
class Match:
    """A column of a file, and the set whose sentences it holds."""

    column: int
    known: KnownSet
    n_rows: int
    n_all_rows: int
    n_covered: int

    @property
    def coverage(self) -> float:
        return self.n_covered / len(self.known.times)

    @property
    def is_perfect(self) -> bool:
        return self.n_rows == self.n_all_rows and self.n_covered == len(self.known.times)

    @property
    def has_nearly_all(self) -> bool:
        return self.n_rows >= _NEARLY_ALL * self.n_all_rows

    @property
    def is_enough(self) -> bool:
        share = max(self.n_rows / max(self.n_all_rows, 1), self.coverage)
        return self.n_rows >= min(_FEWEST_ROWS, len(self.known.times)) and share >= _ENOUGH

    @property
    def rank(self) -> tuple[float, ...]:
        """Most rows, then the set that these rows fill most of; then what is asked for most often."""
        return self.n_rows, self.coverage, not self.known.benchmark.only_when_named


class Known:
    """Everything that sources can be known by; each set is loaded once."""

    def __init__(self) -> None:
        self._sets: dict[Selection, KnownSet | None] = {}
        self._looked_up: LookedUp = {}
        self.lacking: set[str] = set()
        """Titles of benchmarks whose official data is not on this machine."""

    def get(self, selection: Selection) -> KnownSet | None:
        """The set of a completed selection; None if it is not at hand."""
        if selection not in self._sets:
            self._sets[selection] = self._load(selection)
        return self._sets[selection]

    def _load(self, selection: Selection) -> KnownSet | None:
        benchmark: Benchmark = registry.load("benchmark", selection.benchmark)
        try:
            with nothing_fetched(self._looked_up):
                found = KnownSet(benchmark, benchmark.load(selection))
            return found if found.is_translated and found.keys else None
        except DataUnavailable:
            self.lacking.add(benchmark.title)
        except UserError:  # an option that needs another
            pass
        return None

    def selections(self, languages: Languages, *, usual: bool) -> Iterator[Selection]:
        """What a file with texts of these languages may hold; `usual`: as `export` gives it, or else the rest."""
        # Those with sentences of their own for each language take longest; most often another fits before.
        for name, benchmark in sorted(registry.every("benchmark"), key=lambda one: one[1].sources_depend_on_target):
            if benchmark.draws:  # which takes many samples of each sentence, and has the sentences of another
                continue
            for data in (OFFICIAL, CORE):
                if data not in benchmark.choices_of("data"):
                    continue
                for source, target in _directions(benchmark, data, languages):
                    for place, options in enumerate(_options(benchmark, data)):
                        if usual == (place == 0):
                            asked = Selection(name, source, target, data=data, **options)
                            try:
                                yield benchmark.complete(asked)
                            except UserError:  # options that do not go together, or not with this language
                                continue

    def best(
        self, columns: Mapping[int, Sequence[str]], languages: Languages, *, only_usual: bool = False
    ) -> Match | None:
        """The column of sources and the set that fit best; None if none does. Columns are given as loose keys."""
        counted = {column: Counter(key for key in keys if key) for column, keys in columns.items()}
        best: Match | None = None
        for usual in (True,) if only_usual else (True, False):
            for selection in self.selections(languages, usual=usual):
                # Where nearly all rows are a benchmark's, only its revision, split or variant is still open.
                if best is not None and best.has_nearly_all and selection.benchmark != best.known.selection.benchmark:
                    continue
                for match in self._matches(counted, selection):
                    if match.is_perfect:
                        return match
                    # The first of equals: the usual options, official data before core, the column further to the left.
                    best = match if best is None or match.rank > best.rank else best
        return best if best is not None and best.is_enough else None

    def _matches(self, columns: Mapping[int, Counter[str]], selection: Selection) -> Iterator[Match]:
        known = self.get(selection)
        if known is None:
            return
        for column, keys in columns.items():
            if common := keys.keys() & known.times.keys():
                yield Match(column, known, sum(keys[key] for key in common), keys.total(), len(common))

    def narrowed(self, known: KnownSet, keys: frozenset[str]) -> KnownSet:
        """Only the groups of a set that a file has sentences of, where it has nearly all of theirs and no others."""
        wanted = keys & known.times.keys()
        if len(wanted) >= _NEARLY_ALL * len(known.times):
            return known
        there: list[str] = []
        left = set(wanted)
        for part in known.benchmark.choices_of("parts"):
            group = self.get(known.benchmark.complete(replace(known.selection, parts=(part,))))
            if group is not None and len(wanted & group.times.keys()) >= _NEARLY_ALL * len(group.times):
                there.append(part)
                left -= group.times.keys()
        if left or not there:
            return known
        return self.get(known.benchmark.complete(replace(known.selection, parts=tuple(there)))) or known

    def into(self, known: KnownSet, target: str) -> KnownSet | None:
        """The same sentences, translated into another language; None if the benchmark has not that direction."""
        selection = known.selection
        if target == selection.target_language:
            return known
        if (selection.source_language, target) not in known.benchmark.language_pairs(selection.data):
            return None
        return self.get(known.benchmark.complete(replace(selection, target_language=target)))


def targets_of(known: KnownSet) -> list[str]:
    """The languages that these sentences can be translated into."""
    selection = known.selection
    pairs = known.benchmark.language_pairs(selection.data)
    return [target for source, target in pairs if source == selection.source_language]


def _directions(benchmark: Benchmark, data: str, languages: Languages) -> list[Direction]:
    """Those that texts of these languages may be of; where the target makes no difference, one for each source."""
    sources, targets = languages.sources, languages.targets
    found: dict[object, Direction] = {}
    for source, target in benchmark.language_pairs(data):
        if sources and source not in sources and profiles.is_told_by_words(source):
            continue
        if benchmark.sources_depend_on_target and targets:
            if target in targets:
                found[source, target] = (source, target)
        elif source not in found or (target in targets and found[source][1] not in targets):
            found[source] = (source, target)
    return list(found.values())


def _options(benchmark: Benchmark, data: str) -> list[dict[str, Any]]:
    """Every choice of what changes the sentences; the usual one first."""
    choices = {
        name: [choice for choice in option.choices if not _takes_anything(choice)]
        for name, option in own_options(benchmark.settings).items()
        if "export" in option.verbs and option.choices
    }
    if data == OFFICIAL and (revisions := benchmark.choices_of("revision")):
        choices["revision"] = list(revisions)
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def _takes_anything(choice: str) -> bool:
    """`KIND:WORD` stands for anything behind the colon."""
    return ":" in choice
