"""Whether translations can be what they are said to be: whole letters, the right language, each with its own sentence.

What is broken is refused before anything is counted, since it does not look broken afterwards: shifted lines and
misread letters give numbers like any other, some of them higher than the right ones.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, islice
from pathlib import Path
from statistics import median, stdev

from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import BadFile
from gendermark.io import encodings
from gendermark.io.disk_list import mapped
from gendermark.linguistics import profiles
from gendermark.linguistics.failures import failure
from gendermark.linguistics.words import cut
from gendermark.records import Gender, Item
from gendermark.selection import Selection

ANSWERS = "answers"
"""What a program gave, which must be mended then; all else is given by people."""
_REPAIR = "save it as UTF-8, or have it repaired with --fix-encoding (of a run: --system-option fix_encoding=yes)"
_LEAST_DAMAGED = 3
"""Lines with damaged letters; some systems have learnt one or two from their data."""
_DAMAGED_SHARE = 0.01
_TOGETHER = 1_000
"""Lines that are looked through at once for letters that may be damaged."""
_MOST_READ = 200
"""Lines, evenly spread, whose language is looked at."""
_MOST_FITTED = 500
"""Lines, evenly spread, that must fit their sentences well before the others are believed to do so too."""
_FITTING = 0.8
"""A share of fit that only lines beside their own sentence have, by a lexicon."""
_SUSPICIOUS = 2.0
"""Lines' worth of fit that some stretch lacks, before every line is looked at."""
_FEWEST_SHIFTED = 6.0
"""How many lines' worth of fit a shift must gain before it is refused; in released outputs chance gave 4 at most."""
_FEWEST_IN_SHORT = 4.5
_SHORT = 200
_STEPS = (1, -1, 2, -2, 3, -3)
_FEWEST_MIXED = 24
_N_TRIED = 60
_MOST_TRIED_WITH = 20_000
"""Lines, evenly spread, that each of these is tried with."""
_MISPLACED = 0.4
"""Below this fit with their own sentences, texts that fit others are in another order."""
_ELSEWHERE = 0.7
"""The share of texts that must fit some sentence, and of sentences that some text must fit, then."""
_LENGTHS = 0.4
"""Two lengths fit no more if their logarithms are so far apart."""
_SURE = 5.5
"""Standard errors by which a stretch must fit better elsewhere, where few texts fit, or only lengths are known: of that
many stretches, chance gives some 4."""
_FEWEST_PAIRS = 10


@dataclass(frozen=True, slots=True)
class Line:
    """A translation beside the item that it is said to be of, in the order in which somebody wrote them down."""

    item: Item
    text: str
    number: int | None = None


@dataclass(frozen=True)
class Given:
    """Translations as they were given: what they are of, and in which order they stood."""

    where: Path | str
    benchmark: Benchmark
    selection: Selection
    lines: Sequence[Line]
    noun: str = "lines"

    def check(self, notes: list[str]) -> None:
        """Refuse what is broken; note what is worth knowing."""
        texts = mapped(lambda line: (line.text, line.number), self.lines)
        repair = "make the program read and write UTF-8" if self.noun == ANSWERS else _REPAIR
        check_letters(self.where, self.selection.target_language, texts, notes, repair)
        self._check_language()
        self._check_order()

    def _check_language(self) -> None:
        step = max(1, -(-len(self.lines) // _MOST_READ))
        texts = [line.text for line in self.lines[::step] if failure(line.item.source, line.text) is None]
        check_language(self.where, self.benchmark, self.selection, texts)

    # -- order

    def _check_order(self) -> None:
        """Refuse lines that, from some line on, belong to a sentence near their own; and lines in another order."""
        fits = _Fits(self.benchmark, self.selection, self.lines)
        if fits.are_sound:
            return
        self._refuse_shift(fits)
        if fits.stand_elsewhere:
            raise BadFile(
                self.where,
                f"the {self.noun} seem to hold translations of these sentences, but in another order; {self._remedy}",
            )
        if not any(fits.own):
            self._refuse_shift(fits.by_length())

    @property
    def _remedy(self) -> str:
        if self.noun == "rows":
            return "set each translation beside its own source"
        if self.noun == ANSWERS:
            return "make the program write one line for each that it reads, in the same order"
        return "give them in the order of `gendermark export`, or as `source ||| translation` lines"

    def _refuse_shift(self, fits: _Fits) -> None:
        found, step = max(((_best_stretch(fits, step), step) for step in _STEPS), key=lambda one: one[0].gain)
        least = _FEWEST_SHIFTED if len(self.lines) >= _SHORT else _FEWEST_IN_SHORT
        if found.gain >= least and (not fits.are_noisy or found.sureness >= _SURE):
            distance = ("", "two ", "three ")[abs(step) - 1]
            word = "before" if step > 0 else "behind"
            raise BadFile(
                self.where,
                f"from here on {self.noun} seem to belong to the sentence {distance}{word} theirs: "
                f"{'one is' if abs(step) == 1 else 'some are'} missing or doubled; {self._remedy}",
                line=self.lines[found.start].number or found.start + 1,
            )


def check_letters(
    where: Path | str, language: str, texts: Iterable[tuple[str, int | None]], notes: list[str], repair: str = _REPAIR
) -> None:
    """Refuse texts whose letters were misread or lost when somebody saved them."""
    damaged, lost = [], []
    n_marked = n_filled = 0
    each = iter(texts)
    while some := list(islice(each, _TOGETHER)):
        if encodings.may_be_misread("\n".join(text for text, _ in some), language):
            damaged += [(number, found) for text, number in some if (found := encodings.misread(text, language))]
        lost += [(number, word) for text, number in some if (word := encodings.lost(text))]
        n_marked += sum(not text.isascii() for text, _ in some)
        n_filled += sum(bool(text.strip()) for text, _ in some)
    if _are_many(len(damaged), n_marked):
        number, (wrong, right) = damaged[0]
        raise BadFile(
            where,
            f"has {wrong!r} for {right!r}, and the like in {len(damaged):,} of {n_filled:,} lines: UTF-8 was read as "
            f"another encoding and saved again; {repair}",
            line=number,
        )
    if _are_many(len(lost), n_filled):
        number, word = lost[0]
        raise BadFile(
            where,
            f"has {word!r}, and the like in {len(lost):,} of {n_filled:,} lines: letters were lost when it was saved, "
            "which cannot be repaired; save the translations again, as UTF-8",
            line=number,
        )
    if damaged or lost:
        shown = damaged[0][1][0] if damaged else lost[0][1]
        notes.append(f"{where}: {len(damaged) + len(lost):,} lines have damaged letters, such as {shown!r}")


def _are_many(n: int, n_all: int) -> bool:
    return n >= max(_LEAST_DAMAGED, _DAMAGED_SHARE * n_all) or (n > 0 and 2 * n > n_all)


def check_language(where: Path | str, benchmark: Benchmark, selection: Selection, texts: Sequence[str]) -> None:
    """Refuse texts that are mainly in another language than the one asked for."""
    target = selection.target_language
    found = profiles.mainly(texts, target)
    if not found:
        return
    name = profiles.name_of(found)
    can_be_scored = (selection.source_language, found) in benchmark.language_pairs(selection.data)
    instead = f"; if they are meant to be {name}, say --to {found}" if can_be_scored else ""
    raise BadFile(
        where,
        f"is mainly in {name}, not in {profiles.name_of(target)}; give the translations into "
        f"{profiles.name_of(target)}{instead}",
    )


def check_samples(
    where: Path | str, benchmark: Benchmark, selection: Selection, samples: Sequence[Sequence[str]], notes: list[str]
) -> None:
    """The same for several translations of each sentence, which name their sentences themselves."""
    check_letters(where, selection.target_language, ((text, None) for some in samples for text in some), notes)
    step = max(1, -(-sum(map(len, samples)) // _MOST_READ))
    check_language(where, benchmark, selection, list(islice(chain.from_iterable(samples), 0, None, step)))


def is_of_pairs(benchmark: Benchmark) -> bool:
    """Whether its parts are the two genders of the same sentences."""
    return benchmark.choices_of("parts") == (Gender.MASCULINE, Gender.FEMININE)


def check_genders(where: Path | str, benchmark: Benchmark, item_set: ItemSet, texts: Sequence[str | None]) -> None:
    """Of a benchmark of pairs: refuse the two genders' translations exchanged."""
    if benchmark.choices is None or not is_of_pairs(benchmark):
        return
    pairs: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for item, text, choice in zip(item_set.items, texts, benchmark.choices(item_set), strict=True):
        if text and text.strip() and choice is not None:
            pairs[item.contrast or item.group_id].append((text, _leaning(text, *choice)))
    both = [pair for pair in pairs.values() if len(pair) == 2]
    if len(both) < _FEWEST_PAIRS:
        return
    n_right, n_wrong = (sum(one[1] == other[1] == side for one, other in both) for side in (1, -1))
    if n_wrong >= _FEWEST_PAIRS and n_wrong > 3 * n_right:
        raise BadFile(
            where,
            f"the translations of masculine and of feminine sentences seem to be exchanged (in {n_wrong:,} pairs both "
            "have the other's gender); give the masculine ones first",
        )


def _leaning(text: str, right: str, wrong: str) -> int:
    """1 for words that only the right reference has, -1 for those of the wrong one, 0 for neither or both."""
    said, ours, theirs = (set(cut(one)) for one in (text, right, wrong))
    return bool(said & ours - theirs) - bool(said & theirs - ours)


# -- how well texts fit sentences


class _Fits:
    """How well each text fits its own sentence and others, by what the benchmark knows, or else by their lengths."""

    def __init__(self, benchmark: Benchmark, selection: Selection, lines: Sequence[Line]) -> None:
        self._lines = lines
        self._fit: Callable[[Item, str], float | None] = lambda item, text: benchmark.fit(item, text, selection)
        self._filled = array("Q", (place for place, line in enumerate(lines) if line.text.strip()))
        few = self._filled[:: max(1, len(self._filled) // _MOST_FITTED)]
        self._sample = [self._fit(lines[place].item, lines[place].text) or 0.0 for place in few]
        self.are_by_length = False

    def by_length(self) -> _Fits:
        """The same by the lengths of texts and sentences, which every benchmark has."""
        found = copy(self)
        found._fit, found.are_by_length = self._fit_of_lengths, True
        found.__dict__.pop("own", None)
        return found

    @property
    def _can_tell(self) -> bool:
        """Whether the benchmark says anything of how texts fit."""
        return self._fit(self._lines[0].item, self._lines[0].text) is not None

    @property
    def are_sound(self) -> bool:
        """Whether a sample of lines fits so well throughout that no stretch of them can be another's."""
        if len(self._filled) < 2:
            return True
        if sum(self._sample) < _FITTING * len(self._sample):
            return False
        lack = 0.0
        for fit in self._sample:
            lack = max(0.0, lack + _FITTING - fit)
            if lack >= _SUSPICIOUS:
                return False
        return True

    @property
    def are_noisy(self) -> bool:
        """Whether the texts fit so seldom that chance alone finds stretches which fit others better."""
        return self.are_by_length or sum(self.own[place] for place in self._filled) < 0.5 * len(self._filled)

    @cached_property
    def own(self) -> Sequence[float]:
        return array("d", (self._fit(line.item, line.text) or 0.0 for line in self._lines))

    def gain(self, place: int, step: int) -> float:
        """By how much the text a step further fits better than its own; nothing is known of empty ones."""
        other = place + step
        if not 0 <= other < len(self._lines) or not self._lines[place].text.strip():
            return 0.0
        text = self._lines[other].text
        return (self._fit(self._lines[place].item, text) or 0.0) - self.own[place] if text.strip() else 0.0

    @property
    def stand_elsewhere(self) -> bool:
        """Whether most texts fit some sentence and most sentences some text, but seldom their own."""
        filled = self._filled
        if len(filled) < _FEWEST_MIXED or not self._can_tell:
            return False
        if sum(self.own[place] for place in filled) >= _MISPLACED * len(filled):
            return False
        tried = [self._lines[place] for place in filled[:: max(1, len(filled) // _N_TRIED)]]
        others = [self._lines[place] for place in filled[:: max(1, len(filled) // _MOST_TRIED_WITH)]]
        texts = sum(any(self._fits(line.item, one.text) for line in others) for one in tried)
        items = sum(any(self._fits(one.item, line.text) for line in others) for one in tried)
        return min(texts, items) >= _ELSEWHERE * len(tried)

    def _fits(self, item: Item, text: str) -> bool:
        return (self._fit(item, text) or 0.0) >= _MISPLACED

    @cached_property
    def _usual_ratio(self) -> float:
        return median(_ratio(line.item.source, line.text) for line in self._lines if line.text.strip())

    def _fit_of_lengths(self, item: Item, text: str) -> float:
        return max(0.0, 1 - abs(_ratio(item.source, text) - self._usual_ratio) / _LENGTHS)


@lru_cache(maxsize=16_384)
def _ratio(source: str, text: str) -> float:
    return math.log((len(text) + 1) / (len(source) + 1))


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Lines that belong to each other, and what each gains by being moved."""

    start: int
    gains: Sequence[float]

    @property
    def gain(self) -> float:
        return sum(self.gains)

    @property
    def sureness(self) -> float:
        """The mean gain, in standard errors."""
        n = len(self.gains)
        spread = stdev(self.gains) if n > 1 else 0.0
        return self.gain / n / (max(spread, 0.1) / math.sqrt(n)) if n else 0.0


def _best_stretch(fits: _Fits, step: int) -> _Stretch:
    """The stretch of lines that gains most by being moved so far (Kadane's maximum sum)."""
    gains = array("d", (fits.gain(place, step) for place in range(len(fits.own))))
    best, bounds, gain, start = 0.0, (0, 0), 0.0, 0
    for place, one in enumerate(gains):
        if gain <= 0:
            gain, start = 0.0, place
        gain += one
        if gain > best:
            best, bounds = gain, (start, place + 1)
    return _Stretch(bounds[0], gains[slice(*bounds)])
