"""Index the sentences of all available benchmarks, to recognise the sources in a file.

Item sets are loaded one by one until one fits. Official data is looked up in the cache and in a local mirror, never
downloaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, product
from typing import Any

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark, Direction, ItemSet
from gendermark.data.official import LookedUp, nothing_fetched
from gendermark.errors import DataUnavailable, UserError
from gendermark.io.translations import loose_key, targets_of
from gendermark.reading import profiles
from gendermark.selection import Selection, own_options

OFFICIAL, CORE = "official", "core"
_FEWEST_ROWS = 3
_ENOUGH = 0.5
"""Share of the rows, or of a set's sentences, that recognises sources."""
_NEARLY_ALL = 0.9


@dataclass(frozen=True)
class IndexedSet:
    """The items of one selection, prepared for comparison with a file's sources."""

    benchmark: Benchmark
    item_set: ItemSet

    @property
    def selection(self) -> Selection:
        selection: Selection = self.item_set.selection
        return selection

    @property
    def targets(self) -> list[str]:
        return targets_of(self.benchmark, self.item_set)

    @cached_property
    def keys(self) -> Sequence[str]:
        return [loose_key(request.source) for request in self.benchmark.requests(self.item_set)]

    @cached_property
    def times(self) -> Mapping[str, int]:
        return Counter(self.keys)

    def fit(self, texts: Iterable[tuple[int, str]]) -> float | None:
        """Mean fit of texts to the items at these positions; None if the benchmark cannot measure it."""
        fits = [self.benchmark.fit(self.item_set.items[place], text, self.selection) for place, text in texts]
        known = [fit for fit in fits if fit is not None]
        return sum(known) / len(known) if known else None


class Index:
    """All item sets for recognition; each is loaded once."""

    def __init__(self) -> None:
        self._sets: dict[Selection, IndexedSet | None] = {}
        self._looked_up: LookedUp = {}
        self.lacks_data = False
        """Whether some official data is missing on this machine."""

    def get(self, selection: Selection) -> IndexedSet | None:
        """The set of a completed selection; None if unavailable."""
        if selection not in self._sets:
            self._sets[selection] = self._load(selection)
        return self._sets[selection]

    def _load(self, selection: Selection) -> IndexedSet | None:
        benchmark: Benchmark = registry.load("benchmark", selection.benchmark)
        try:
            with nothing_fetched(self._looked_up):
                found = IndexedSet(benchmark, benchmark.load(selection))
            # Rewriting stays within one language.
            first = benchmark.requests(found.item_set)[:1]
            is_translated = all(one.source_language != one.target_language for one in first)
            return found if is_translated and found.keys else None
        except DataUnavailable:
            self.lacks_data = True
        except UserError:  # an option that requires another
            pass
        return None

    def selections(self, sources: Collection[str], targets: Collection[str], *, usual: bool) -> Iterator[Selection]:
        """Candidate selections for a file in these languages; any languages if none are given.

        `usual`: only the selection that `export` writes by default, or else only the others.
        """
        # Sets with different sentences for each language take longest to load, and usually another fits first.
        for name, benchmark in sorted(registry.every("benchmark"), key=lambda one: one[1].sources_depend_on_target):
            if benchmark.draws:  # sampling benchmarks reuse the sentences of others
                continue
            for data in (OFFICIAL, CORE):
                if data not in benchmark.choices_of("data"):
                    continue
                options = _options(benchmark, data)
                for source, target in _directions(benchmark, data, sources, targets):
                    for chosen in options[:1] if usual else options[1:]:
                        asked = Selection(name, source, target, data=data, **chosen)
                        try:
                            yield benchmark.complete(asked)
                        except UserError:  # options that exclude each other, or this language
                            continue

    def best(
        self,
        columns: Mapping[int, Sequence[str]],
        sources: Collection[str],
        targets: Collection[str],
        *,
        only_usual: bool = False,
    ) -> tuple[int, IndexedSet] | None:
        """The best source column and set; None if nothing fits. Columns are given as loose keys."""
        counted = {column: Counter(key for key in keys if key) for column, keys in columns.items()}
        best: tuple[int, IndexedSet] | None = None
        most = (0, 0.0, False)
        has_nearly_all = False
        others = () if only_usual else self.selections(sources, targets, usual=False)
        for selection in chain(self.selections(sources, targets, usual=True), others):
            # If nearly all rows match a benchmark, only its revision, split or variant is still open.
            if best is not None and has_nearly_all and selection.benchmark != best[1].selection.benchmark:
                continue
            known = self.get(selection)
            if known is None:
                continue
            for column, keys in counted.items():
                common = keys.keys() & known.times.keys()
                n_rows, coverage = sum(keys[key] for key in common), len(common) / len(known.times)
                # Prefer most rows, then highest coverage of the set, then the more common benchmark; ties go to default
                # options, official data, and the leftmost column.
                rank = (n_rows, coverage, not known.benchmark.only_when_named)
                if n_rows and n_rows == keys.total() and coverage == 1:
                    return column, known
                if n_rows and rank > most:
                    best, most, has_nearly_all = (column, known), rank, n_rows >= _NEARLY_ALL * keys.total()
        if best is None:
            return None
        n_rows, coverage, _ = most
        is_enough = max(n_rows / counted[best[0]].total(), coverage) >= _ENOUGH
        return best if is_enough and n_rows >= min(_FEWEST_ROWS, len(best[1].times)) else None

    def groups(self, known: IndexedSet) -> Iterator[IndexedSet]:
        for part in known.benchmark.choices_of("parts"):
            group = self.get(known.benchmark.complete(replace(known.selection, parts=(part,))))
            if group is not None:
                yield group

    def narrowed(self, known: IndexedSet, keys: Collection[str]) -> IndexedSet:
        """Only the groups that a file has, if it has nearly all of their sentences and no others."""
        wanted = known.times.keys() & set(keys)
        if len(wanted) >= _NEARLY_ALL * len(known.times):
            return known
        there: list[str] = []
        left = set(wanted)
        for group in self.groups(known):
            if len(wanted & group.times.keys()) >= _NEARLY_ALL * len(group.times):
                there += group.selection.parts
                left -= group.times.keys()
        if left or not there:
            return known
        return self.get(known.benchmark.complete(replace(known.selection, parts=tuple(there)))) or known

    def into(self, known: IndexedSet, target: str) -> IndexedSet | None:
        """Return these sentences for another target language; None if the benchmark lacks that direction."""
        if target == known.selection.target_language:
            return known
        if target not in known.targets:
            return None
        return self.get(known.benchmark.complete(replace(known.selection, target_language=target)))


def _directions(benchmark: Benchmark, data: str, sources: Collection[str], targets: Collection[str]) -> list[Direction]:
    """Possible directions for these languages; one per source language if the target makes no difference."""
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
    """Every combination of options that changes the sentences; the default first."""
    choices = {
        # `KIND:WORD` stands for arbitrary text after the colon
        name: [choice for choice in option.choices if ":" not in choice]
        for name, option in own_options(benchmark.settings).items()
        if "export" in option.verbs and option.choices
    }
    if data == OFFICIAL and (revisions := benchmark.choices_of("revision")):
        choices["revision"] = list(revisions)
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]
