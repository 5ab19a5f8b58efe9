"""Check that translations are plausible: intact letters, the right language, each for its own sentence.

Broken translations are refused before anything is counted, since they do not look broken afterwards: shifted lines and
damaged letters give plausible numbers, some higher than the true ones.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice, product
from pathlib import Path
from statistics import fmean, median, stdev
from typing import TypeVar
from unicodedata import category

from gendermark.errors import BadFile, UserError
from gendermark.io import encodings
from gendermark.reading import profiles
from gendermark.reading.failures import failure, repeated
from gendermark.reading.words import cut
from gendermark.records import Item

T = TypeVar("T")
Fit = Callable[[Item, str], float | None]
"""Fit of a text to an item, from 0 to 1; None if unknown."""

LETTERS, LOST, LANGUAGE, ORDER, GENDERS = "letters", "lost letters", "language", "order", "genders"
UNTRANSLATED = "untranslated"
_UNSOUND_SHARE = 0.2
"""Share of texts in another language, copied or repeated for other sentences, above which all are refused."""
_FEWEST_TO_JUDGE = 20
_FEWEST_WITHOUT_ACCENTS = 50
"""Minimum number of different texts for the check of missing accents."""
_MOST_WITHOUT_ACCENTS = 0.04
"""Share of texts with such a word, if others have accents: at most 0.02 in released outputs."""
_FEWEST_ACCENTED, _MOST_PLAIN = 4, 400
"""Function words with accents of a language in which so many different words without any are damaged."""
_ASCII = frozenset(map(chr, range(128)))
_MOST_LEARNED = 800
"""Number of texts, evenly spaced, to learn word translations and missing accents from."""
_FEWEST_LEARNED = 100
_MOST_LETTERS = 2_000
"""Of a text, to learn from: memory grows with the pairs of words."""
_ASSOCIATED = 0.25
"""Dice coefficient from which two words count as translations of each other."""
_MOST_STRANGE = 0.06
"""Share of texts that translate no known word of their sentences: at most 0.05 in released outputs (0.004 of WinoMT),
and 0.08 with 10% of the lines shuffled."""
_LEAST_KNOWN = 0.2
"""Share of recurring words whose translation can be learnt: at least 0.62 in released outputs, at most 0.22 if
neighbours are swapped, and 0.17 if lines are shuffled."""
_FEWEST_WORDS = 0.5
"""Words per sentence; fewer in scripts without spaces."""
_LEAST_DAMAGED = 3
"""Number of texts with damaged letters; some systems have learnt one or two from their data."""
_DAMAGED_SHARE = 0.01
_TOGETHER = 1_000
"""Texts searched together for damaged letters."""
_MOST_READ = 200
"""Texts, evenly spaced, whose language is detected."""
_MOST_FITTED = 500
"""Texts, evenly spaced, that must fit their sentences well for the rest to be trusted."""
_FITTING = 0.8
"""A share of lexicon fit that only texts beside their own sentence reach."""
_SUSPICIOUS = 2.0
"""Missing fit of a stretch, in texts, that triggers a check of every text."""
_FEWEST_SHIFTED, _FEWEST_IN_SHORT, _SHORT = 6.0, 4.5, 200
"""Fit that a shift must gain to be refused, in texts, for long and for short files; chance gave at most 4 in released
outputs."""
_STEPS = (1, -1, 2, -2, 3, -3)
_FEWEST_MIXED = 24
_N_TRIED, _MOST_TRIED_WITH = 60, 20_000
"""Texts, evenly spaced, compared with this many sentences to see whether they belong to another one."""
_MISPLACED = 0.4
"""Below this fit with their own sentences, texts that fit others are in another order."""
_ELSEWHERE = 0.7
"""Share of texts that must then fit some sentence, and of sentences that some text must fit."""
_LENGTHS = 0.4
"""Lengths whose logarithms differ by this much do not fit."""
_SURE = 5.5
"""Standard errors by which a stretch must fit better elsewhere, if few texts fit or only lengths are known: chance
gives about 4 over that many stretches."""
_FEWEST_PAIRS = 10


class Unsound(UserError):
    """Translations that cannot be what they claim to be."""

    def __init__(self, kind: str, problem: str, place: int | None = None) -> None:
        super().__init__(problem)
        self.kind, self.place = kind, place


@contextmanager
def refused(
    where: Path | str,
    remedies: Mapping[str, str],
    line_of: Callable[[int], int | None] = lambda place: place + 1,
    accepted: list[str] | None = None,
) -> Iterator[None]:
    """Turn unsound translations into an error with origin, line, and remedy by kind of problem.

    With a list, accept them and add the problem to it.
    """
    try:
        yield
    except Unsound as problem:
        if accepted is not None:
            accepted.append(str(problem))
            return
        line = None if problem.place is None else line_of(problem.place)
        remedy = f"; {remedies[problem.kind]}" if problem.kind in remedies else ""
        raise BadFile(where, f"{problem}{remedy}", line=line) from None


def check(
    items: Sequence[Item], texts: Sequence[str], language: str, fit: Fit, other_languages: Collection[str] = ()
) -> list[str]:
    """Refuse unsound translations; return notes on the others.

    Items and texts are parallel, in their original order; `other_languages` are the further target languages of these
    items.
    """
    notes = check_texts(items, texts, language, other_languages)
    check_order(items, texts, fit)
    filled = [(item, text) for item, text in zip(items, texts, strict=True) if text.strip()]
    sample = filled[:: max(1, len(filled) // _MOST_FITTED)]
    fit_theirs = sum(fit(item, text) or 0.0 for item, text in sample) >= _MISPLACED * len(sample)
    check_words([item.source for item in items], texts, fit_theirs=fit_theirs)
    return notes


def _spread(values: Sequence[T], most: int) -> Sequence[T]:
    return values[:: max(1, -(-len(values) // most))]


def check_texts(
    items: Sequence[Item], texts: Sequence[str], language: str, other_languages: Collection[str] = ()
) -> list[str]:
    """Refuse texts that are damaged, in another language or no translations; return notes."""
    notes = check_letters(texts, language)
    pairs = zip(_spread(items, _MOST_READ), _spread(texts, _MOST_READ), strict=True)
    check_language([text for item, text in pairs if failure(item.source, text) is None], language, other_languages)
    check_translated(items, texts, language)
    check_accents(_spread(texts, _MOST_LEARNED), language)
    return notes


def check_samples(samples: Sequence[Sequence[str]], language: str, other_languages: Collection[str] = ()) -> list[str]:
    notes = check_letters(chain.from_iterable(samples), language)
    n = sum(map(len, samples))
    some, more = (
        list(islice(chain.from_iterable(samples), 0, None, max(1, -(-n // most))))
        for most in (_MOST_READ, _MOST_LEARNED)
    )
    check_language(some, language, other_languages)
    check_accents(more, language)
    return notes


def check_letters(texts: Iterable[str], language: str) -> list[str]:
    damaged, lost = [], []
    n_marked = n_filled = n_read = 0
    each = iter(texts)
    while some := list(islice(each, _TOGETHER)):
        together = "\n".join(some)
        if intruder := encodings.intruders(together, language):
            mixed = ((n, text, intruder.search(text)) for n, text in enumerate(some, n_read))
            lost += [(n, text[slice(*encodings.word_around(text, run))]) for n, text, run in mixed if run]
        if encodings.may_be_misread(together):
            damaged += [
                (n, found) for n, text in enumerate(some, n_read) if (found := encodings.misread(text, language))
            ]
        lost += [(n, word) for n, text in enumerate(some, n_read) if (word := encodings.lost(text))]
        if encodings.ESCAPE.search(together):
            lost += [(n, word) for n, text in enumerate(some, n_read) if (word := encodings.escaped(text))]
        n_marked += sum(not text.isascii() for text in some)
        n_filled += sum(bool(text.strip()) for text in some)
        n_read += len(some)
    if _are_many(len(damaged), n_marked):
        place, (wrong, right) = damaged[0]
        raise Unsound(
            LETTERS,
            f"has {wrong!r} for {right!r}, and the like in {len(damaged):,} of {n_filled:,} lines: UTF-8 was read as "
            "another encoding and saved again",
            place,
        )
    if _are_many(len(lost), n_filled):
        place, word = lost[0]
        raise Unsound(
            LOST,
            f"has {word!r}, and the like in {len(lost):,} of {n_filled:,} lines: letters were lost or replaced when it "
            "was saved, which cannot be repaired",
            place,
        )
    if not damaged and not lost:
        return []
    shown = damaged[0][1][0] if damaged else lost[0][1]
    return [f"{len(damaged) + len(lost):,} lines have damaged letters, such as {shown!r}"]


def check_accents(texts: Iterable[str], language: str) -> None:
    """Refuse texts whose words lost their accents, or the letters that have them.

    A few words if no accents are left, or many; or so many words without any accent.
    """
    damaged = profiles.without_accents(language)
    different = set(texts) if damaged else set[str]()
    if len(different) <= _FEWEST_WITHOUT_ACCENTS:
        return
    words_of = list(map(cut, different))
    n_words = len(set(chain.from_iterable(words_of)))
    is_accented = sum(not word.isascii() for word in profiles.function_words(language)) >= _FEWEST_ACCENTED
    letters = {one for one in set("".join(different)) - _ASCII if category(one)[0] in "LM"}
    if n_words >= _MOST_PLAIN and is_accented and not letters:
        raise Unsound(LOST, f"has no accent in {n_words:,} different words: letters were lost when it was saved")
    lost = [found for words in words_of if (found := damaged.intersection(words))]
    if len(lost) <= _MOST_WITHOUT_ACCENTS * len(different) and (
        len(lost) < _LEAST_DAMAGED or any(profiles.has_accents(text) for text in different)
    ):
        return
    words = Counter(chain.from_iterable(map(sorted, lost)))
    raise Unsound(
        LOST,
        f"has {words.most_common(1)[0][0]!r}, and the like in {len(lost):,} of {len(different):,} different lines: "
        "accents were lost when it was saved",
    )


def check_translated(items: Sequence[Item], texts: Sequence[str], language: str) -> None:
    """Refuse if too many texts are in another language, copies, or the same translation of different sentences."""
    some = [item.source for item in items[:: max(1, len(items) // 50)]]
    if profiles.likely(some) == language:  # rewriting: some texts stay unchanged
        return
    pairs = zip(_spread(items, _MOST_READ), _spread(texts, _MOST_READ), strict=True)
    read = [(item.source, text) for item, text in pairs if text.strip()]
    same = repeated(items, texts)

    def why(source: str, text: str) -> str:
        if text in same:
            return "the same text for different sentences"
        if failure(source, text) == "copied":
            return "copies of the source"
        return "in another language" if profiles.may_be_foreign(text, language) else ""

    found = Counter(filter(None, (why(source, text) for source, text in read)))
    if len(read) >= _FEWEST_TO_JUDGE and found.total() > _UNSOUND_SHARE * len(read):
        kinds = ", ".join(f"{n / len(read):.0%} {why}" for why, n in found.most_common())
        raise Unsound(UNTRANSLATED, f"too many lines are not translations ({kinds})")


def check_words(sources: Sequence[str], texts: Sequence[str], *, fit_theirs: bool = False) -> None:
    """Refuse texts some of which belong to other sentences.

    Word translations are learnt from the texts, so it works for any benchmark and language. They cannot be learnt if
    most texts are misplaced, unless they are known to fit. Otherwise a text is misplaced if it translates no known word
    of its sentence, and neighbours are swapped if more texts fit their neighbour's sentence better than their own.
    """
    step = max(1, -(-len(texts) // _MOST_LEARNED))
    places = [place for place in range(0, len(texts), step) if texts[place].strip()]
    pairs = [(set(cut(sources[place])), set(cut(texts[place][:_MOST_LETTERS]))) for place in places]
    of_sources, of_texts = (Counter(word for pair in pairs for word in pair[side]) for side in (0, 1))
    if len(pairs) < _FEWEST_LEARNED or of_texts.total() < _FEWEST_WORDS * of_sources.total():
        return
    most = 0.1 * len(pairs)
    kept = [
        ([word for word in source if 4 <= of_sources[word] <= most], [w for w in text if 3 <= of_texts[w] <= most])
        for source, text in pairs
    ]
    together = Counter(chain.from_iterable(product(source, text) for source, text in kept))
    means: dict[str, set[str]] = defaultdict(set)
    for (word, other), n in together.items():
        if n >= 3 and 2 * n >= _ASSOCIATED * (of_sources[word] + of_texts[other]):
            means[word].add(other)
    recurring = [[word in means for word in source] for source, _ in kept if len(source) > 1]
    n_recurring, n_known = sum(map(len, recurring)), sum(map(sum, recurring))
    differ = len(set(texts)) > 0.5 * len(texts)  # little can be learnt from a few forms
    if differ and not fit_theirs and len(recurring) >= _FEWEST_LEARNED and n_known < _LEAST_KNOWN * n_recurring:
        raise Unsound(ORDER, "most lines seem to be translations of other sentences")

    known = [
        (place, [means[word] for word in source if word in means], text)
        for place, (source, text) in zip(places, kept, strict=True)
    ]
    known = [one for one in known if len(one[1]) > 1]
    if len(known) < _FEWEST_LEARNED:
        return

    n_own = n_neighbours = 0
    for place, expected, text in known:
        own = _share_of(expected, text)
        near = [
            _share_of(others, text)
            for other in (place - 1, place + 1)
            if 0 <= other < len(sources)
            and len(others := [means[word] for word in set(cut(sources[other])) if word in means]) > 1
        ]
        n_own += bool(near) and own > max(near)
        n_neighbours += bool(near) and own < max(near)
    if n_neighbours > max(n_own, _MOST_STRANGE * len(known)):
        raise Unsound(ORDER, "more lines fit the previous or next sentence than their own")

    strange = [text for _, expected, text in known if not _share_of(expected, text)]
    if len(strange) <= _MOST_STRANGE * len(known):
        return
    # A text that fits no sentence at all is a weak translation.
    n_strange = sum(
        any(_share_of(expected, text) >= max(2 / len(expected), 0.6) for _, expected, _ in known) for text in strange
    )
    if n_strange > 0.5 * _MOST_STRANGE * len(known):
        raise Unsound(
            ORDER, f"about {n_strange / len(known):.0%} of the lines seem to be translations of other sentences"
        )


def _share_of(expected: Sequence[set[str]], text: Collection[str]) -> float:
    """Share of a sentence's words of which a text has a translation."""
    return sum(not one.isdisjoint(text) for one in expected) / len(expected)


def _are_many(n: int, n_all: int) -> bool:
    return n >= max(_LEAST_DAMAGED, _DAMAGED_SHARE * n_all) or (n > 0 and 2 * n > n_all)


def check_language(texts: Sequence[str], language: str, other_languages: Collection[str] = ()) -> None:
    found = profiles.mainly(texts, language)
    if found:
        name, asked = profiles.name_of(found), profiles.name_of(language)
        instead = f"; if they are meant to be {name}, use --to {found}" if found in other_languages else ""
        raise Unsound(LANGUAGE, f"is mainly in {name}, not in {asked}; give the translations into {asked}{instead}")


def check_genders(
    items: Sequence[Item], texts: Sequence[str | None], choices: Sequence[tuple[str, str] | None]
) -> None:
    """Refuse swapped translations of two genders; `choices` are a correct and a wrong translation of each item."""
    pairs: dict[str, list[int]] = defaultdict(list)
    for item, text, choice in zip(items, texts, choices, strict=True):
        if text and text.strip() and choice is not None:
            pairs[item.contrast or item.group_id].append(_leaning(text, *choice))
    both = [pair for pair in pairs.values() if len(pair) == 2]
    n_right, n_wrong = both.count([1, 1]), both.count([-1, -1])
    if n_wrong >= _FEWEST_PAIRS and n_wrong > 3 * n_right:
        raise Unsound(
            GENDERS,
            f"the translations of masculine and of feminine sentences seem to be exchanged (in {n_wrong:,} pairs both "
            "have the other's gender); give the masculine ones first",
        )


def _leaning(text: str, right: str, wrong: str) -> int:
    """1 for words specific to the right reference, -1 for those of the wrong one, 0 for neither or both."""
    said, ours, theirs = (set(cut(one)) for one in (text, right, wrong))
    return bool(said & ours - theirs) - bool(said & theirs - ours)


# -- order


def check_order(items: Sequence[Item], texts: Sequence[str], fit: Fit) -> None:
    """Refuse texts shifted to neighbouring sentences from some line on, and texts in another order.

    If fit is unknown, lengths are used.
    """
    filled = array("Q", (place for place, text in enumerate(texts) if text.strip()))
    if len(filled) < 2:
        return

    def known_fit(item: Item, text: str) -> float:
        return fit(item, text) or 0.0

    sample = filled[:: max(1, len(filled) // _MOST_FITTED)]
    if _fit_throughout([known_fit(items[place], texts[place]) for place in sample]):
        return
    own = array("d", map(known_fit, items, texts))
    n_fitting = sum(own[place] for place in filled)
    _refuse_shift(items, texts, known_fit, own, is_noisy=n_fitting < 0.5 * len(filled))
    is_misplaced = len(filled) >= _FEWEST_MIXED and n_fitting < _MISPLACED * len(filled)
    if is_misplaced and fit(items[0], texts[0]) is not None and _fit_elsewhere(items, texts, known_fit, filled):
        raise Unsound(ORDER, "the lines seem to be translations of these sentences in another order")
    if not any(own):
        usual = median(_log_ratio(item.source, text) for item, text in zip(items, texts, strict=True) if text.strip())

        def length_fit(item: Item, text: str) -> float:
            return max(0.0, 1 - abs(_log_ratio(item.source, text) - usual) / _LENGTHS)

        _refuse_shift(items, texts, length_fit, array("d", map(length_fit, items, texts)), is_noisy=True)


def _fit_throughout(sample: Sequence[float]) -> bool:
    """Whether a sample fits so well that no stretch can be misplaced."""
    lack = most = 0.0
    for one in sample:
        lack = max(0.0, lack + _FITTING - one)
        most = max(most, lack)
    return sum(sample) >= _FITTING * len(sample) and most < _SUSPICIOUS


def _refuse_shift(
    items: Sequence[Item],
    texts: Sequence[str],
    fit: Callable[[Item, str], float],
    own: Sequence[float],
    *,
    is_noisy: bool,
) -> None:
    """Refuse a stretch of texts that fit the sentences some steps away much better than their own."""

    def gain(place: int, step: int) -> float:
        other = place + step
        if not 0 <= other < len(texts) or not texts[place].strip() or not texts[other].strip():
            return 0.0
        return fit(items[place], texts[other]) - own[place]

    best, start, step = array("d"), 0, 0
    for one in _STEPS:
        gains = array("d", (gain(place, one) for place in range(len(texts))))
        first, end = _best_stretch(gains)
        if sum(gains[first:end]) > sum(best):
            best, start, step = gains[first:end], first, one
    least = _FEWEST_SHIFTED if len(texts) >= _SHORT else _FEWEST_IN_SHORT
    if sum(best) < least:
        return
    standard_error = max(stdev(best) if len(best) > 1 else 0.0, 0.1) / math.sqrt(len(best))
    if is_noisy and fmean(best) / standard_error < _SURE:
        return
    distance = ("", "two ", "three ")[abs(step) - 1]
    raise Unsound(
        ORDER,
        f"from here on lines seem to belong to the sentence {distance}{'before' if step > 0 else 'behind'} theirs: "
        f"{'one is' if abs(step) == 1 else 'some are'} missing or doubled",
        start,
    )


def _best_stretch(gains: Sequence[float]) -> tuple[int, int]:
    """Bounds of the stretch with the largest sum (Kadane's algorithm)."""
    best, bounds, total, start = 0.0, (0, 0), 0.0, 0
    for place, one in enumerate(gains):
        if total <= 0:
            total, start = 0.0, place
        total += one
        if total > best:
            best, bounds = total, (start, place + 1)
    return bounds


def _fit_elsewhere(
    items: Sequence[Item], texts: Sequence[str], fit: Callable[[Item, str], float], filled: Sequence[int]
) -> bool:
    """Whether most texts fit some sentence, and most sentences some text."""
    tried, others = (
        [(items[place], texts[place]) for place in filled[:: max(1, len(filled) // n)]]
        for n in (_N_TRIED, _MOST_TRIED_WITH)
    )
    n_texts = sum(any(fit(item, text) >= _MISPLACED for item, _ in others) for _, text in tried)
    n_items = sum(any(fit(item, text) >= _MISPLACED for _, text in others) for item, _ in tried)
    return min(n_texts, n_items) >= _ELSEWHERE * len(tried)


@lru_cache(maxsize=16_384)
def _log_ratio(source: str, text: str) -> float:
    return math.log((len(text) + 1) / (len(source) + 1))
