"""GATE: which variant one translation chooses, whether several offer all of them, and whether a rewriter is exact.

The gender of each person is read by a variant's very words, its key words, the places where the variants differ, and
our lexicons; the most reliable decides first. The words that annotators marked in a variant (`kw_f`, `kw_m`) decide
if only one gender's occur. A translation that words the sentence otherwise has none of them; there, other words in
which the variants differ are looked for, and, of the occupations in our lexicons, any form at all.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import product
from typing import Any

from gendermark.benchmarks.benchmark import Answers, ItemSet, words_in_common
from gendermark.benchmarks.gate_variants import RewritingSettings, Settings, Shared
from gendermark.benchmarks.gate_variants.items import HIDDEN, names_of, nouns_of, occupations
from gendermark.languages.folders import language_of
from gendermark.languages.language import Language
from gendermark.metrics.terms import Term, as_measures, count_terms
from gendermark.reading.contrast import Unit, contrast, places_of, units_of
from gendermark.reading.failures import failure
from gendermark.reading.occupations import bundled_finder
from gendermark.reading.words import spans_of, split_spans
from gendermark.records import Gender, Item, Judgement, Span, Translation, Verdict

FEMININE, MASCULINE, MIXED, UNREAD, CLOSED = "fmx?-"
"""How one person is read: `CLOSED` where no variant differs in that person's gender."""
GENDER = {FEMININE: Gender.FEMININE, MASCULINE: Gender.MASCULINE}
_HEAD = re.compile(r"\[(.*?)\]")
_PLAIN = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u00a0": " ", "\u202f": " ", "\u2009": " "})


class _Blanks(dict[int, str]):
    """Punctuation and symbols -> a space; everything else -> itself."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        self[code] = " " if unicodedata.category(letter)[0] in "PSZ" else letter
        return self[code]


_BLANKS = _Blanks()


@dataclass(frozen=True, slots=True)
class Person:
    """What tells the gender of one person in a translation."""

    terms: tuple[tuple[str, str], ...]
    """Key words of both genders, feminine first, as `padded` writes them."""
    pairs: tuple[tuple[str, str], ...]
    """The variants that differ in this gender only."""
    occupation: str
    """Of our lexicons, if it is one."""

    @property
    def is_open(self) -> bool:
        return any(one != other for one, other in self.pairs)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a translation says of the people, one letter each; and by what it was read."""

    letters: str
    how: str = ""
    evidence: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()

    @property
    def gender(self) -> Gender | None:
        """Of all people alike; None where they differ or not all could be read."""
        found = set(self.letters) - {CLOSED}
        return GENDER.get(next(iter(found))) if len(found) == 1 else None


def normalised(text: str) -> str:
    """Without differences of writing that no reader sees."""
    return unicodedata.normalize("NFC", text).translate(_PLAIN).strip()


def blanked(text: str) -> str:
    """Lower case, with blanks for punctuation; nearly always as long as the text."""
    return unicodedata.normalize("NFC", text).lower().translate(_BLANKS)


@lru_cache(maxsize=8192)
def padded(text: str) -> str:
    """The words of a text, each between two spaces."""
    return f" {' '.join(blanked(text).split())} "


def key_terms(kw_f: str, kw_m: str) -> list[list[tuple[str, str]]]:
    """For each entry its key words of both genders, where they differ: heads if these do, else whole phrases."""
    entries = []
    for feminine, masculine in zip(kw_f.split(";"), kw_m.split(";"), strict=False):
        found = []
        for one, other in zip(feminine.split("="), masculine.split("="), strict=False):
            heads = [_HEAD.search(form) for form in (one, other)]
            forms = [head[1] for head in heads if head]
            pair = (padded(forms[0]), padded(forms[1])) if len(set(forms)) == 2 else (padded(one), padded(other))
            if pair[0] != pair[1]:
                found.append(pair)
        entries.append(found)
    return entries


def terms_of(item: Item, wanted: Gender) -> list[Term]:
    """The key words of all people, in the wanted gender and in the other."""
    pairs = [pair for entry in key_terms(item.tags["kw_f"], item.tags["kw_m"]) for pair in entry]
    side = 0 if wanted is Gender.FEMININE else 1
    return [Term(tuple(pair[side].split()), tuple(pair[1 - side].split())) for pair in pairs]


def variants_of(item: Item) -> tuple[str, ...]:
    """In the order of `names_of`."""
    return tuple(item.tags[name] for name in names_of(n_people(item)))


def n_people(item: Item) -> int:
    return len(item.tags["stereotypes"])


def people_of(item: Item) -> tuple[Person, ...]:
    tags = item.tags
    return _people(tags["kw_s"], tags["kw_f"], tags["kw_m"], variants_of(item))


@lru_cache(maxsize=4096)
def _people(kw_s: str, kw_f: str, kw_m: str, variants: tuple[str, ...]) -> tuple[Person, ...]:
    n = len(variants).bit_length() - 1
    entries = key_terms(kw_f, kw_m)
    if n == 1:
        entries = [[pair for entry in entries for pair in entry]]
    elif len(entries) != n:
        entries = [[] for _ in range(n)]  # whose key words are whose is not known
    nouns = nouns_of(kw_s, n)
    people = []
    for place, terms in enumerate(entries):
        occupation = occupations().get(nouns[place], ("", ""))[0]
        people.append(Person(tuple(terms), tuple(_pairs(variants, place, n)), occupation))
    return tuple(people)


def _pairs(variants: Sequence[str], place: int, n: int) -> Iterator[tuple[str, str]]:
    """The variants that differ in the gender of one person only."""
    by_name = dict(zip(names_of(n), variants, strict=True))
    for name, text in by_name.items():
        if name[place] == "f":
            yield text, by_name[f"{name[:place]}m{name[place + 1 :]}"]


@lru_cache(maxsize=4096)
def _units(pairs: tuple[tuple[str, str], ...], code: str) -> tuple[frozenset[Unit], frozenset[Unit]]:
    """Words that only the variants have in which this person is a woman; and in which he is a man.

    Made only for sentences in which no key word is found."""
    language = language_of(code)
    contrasts = [contrast(one, other, language) for one, other in pairs]
    known = [{unit for pair in pairs for unit in units_of(language.cut(pair[side]))} for side in (0, 1)]
    feminine = {unit for found in contrasts for unit in found.right if _tells(unit, language)} - known[1]
    masculine = {unit for found in contrasts for unit in found.wrong if _tells(unit, language)} - known[0]
    return frozenset(feminine), frozenset(masculine)


def _tells(unit: Unit, language: Language) -> bool:
    """Two function words, "de la", stand anywhere; the key words have them with their noun."""
    return any(len(word) > 3 and word not in language.singular and word not in language.plural for word in unit)


# -- reading one translation -------------------------------------------------------------------------------------------


def read(item: Item, text: str, code: str, by: str) -> Reading:
    """The gender of each person; `by` is all, keywords or exact."""
    people = people_of(item)
    if by != "keywords" and (letters := _matched(item, text, people)):
        evidence = [term[side == "m"] for one, side in zip(people, letters, strict=True) for term in one.terms]
        found = [term for term in evidence if term in padded(text)]
        return Reading(letters, "variant", _shown(found), _places(text, found))
    if by == "exact":
        return Reading("".join(UNREAD if one.is_open else CLOSED for one in people))
    readings = [_read_one(one, text, code, by) if one.is_open else Reading(CLOSED) for one in people]
    return Reading(
        "".join(found.letters for found in readings),
        " ".join(dict.fromkeys(found.how for found in readings if found.how)),
        tuple(word for found in readings for word in found.evidence),
        tuple(sorted({span for found in readings for span in found.spans})),
    )


def _matched(item: Item, text: str, people: Sequence[Person]) -> str:
    """The letters of the variant that a text is; by the paper's rules to the last sign, by ours in its words."""
    is_paper = item.tags["rules"] == "paper"
    said = text.strip() if is_paper else padded(text)
    names = [
        name
        for name in names_of(len(people))
        if said == (item.tags[name].strip() if is_paper else padded(item.tags[name]))
    ]
    if not names:
        return ""
    letters = []
    for one, own in zip(people, zip(*names, strict=True), strict=True):
        # Variants may differ in capitals or commas only, which say nothing.
        letters.append(CLOSED if not one.is_open else own[0] if len(set(own)) == 1 else UNREAD)
    return "".join(letters)


def _read_one(person: Person, text: str, code: str, by: str) -> Reading:
    """The first way that finds anything decides."""
    words = padded(text)
    found = [[term[side] for term in person.terms if term[side] in words] for side in (0, 1)]
    if found[0] or found[1]:
        both = [*found[0], *found[1]]
        return Reading(_letter(*found), "key words", _shown(both), _places(text, both))
    if by == "keywords":
        return Reading(UNREAD)
    cut = language_of(code).cut(text)
    units = set(units_of(cut))
    feminine, masculine = (sorted(known & units) for known in _units(person.pairs, code))
    if feminine or masculine:
        both_units = [*feminine, *masculine]
        evidence = tuple(" ".join(unit) for unit in both_units)
        return Reading(
            _letter(feminine, masculine), "differing words", evidence, spans_of(text, places_of(both_units, cut))
        )
    if person.occupation:
        seen = bundled_finder(code).find(text, person.occupation)
        letter = {Gender.FEMININE: FEMININE, Gender.MASCULINE: MASCULINE}.get(seen.gender or Gender.NEUTRAL, UNREAD)
        letter = MIXED if seen.reason == "both" else letter
        if letter != UNREAD:
            return Reading(letter, "lexicon", seen.evidence, seen.spans(text))
    return Reading(UNREAD)


def _letter(feminine: Sequence[object], masculine: Sequence[object]) -> str:
    return MIXED if feminine and masculine else FEMININE if feminine else MASCULINE


def _shown(found: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term.strip() for term in found))


def _places(text: str, found: Sequence[str]) -> tuple[Span, ...]:
    """Where padded terms stand in a text; nothing for the rare text whose letters change in number."""
    blank = blanked(text)
    if not found or len(blank) != len(text):
        return ()
    spans, words = split_spans(blank), blank.split()
    places = set()
    for term in map(str.split, dict.fromkeys(found)):
        for start in range(len(words) - len(term) + 1):
            if words[start : start + len(term)] == term:
                places.add((spans[start][0], spans[start + len(term) - 1][1]))
    return tuple(sorted(places))


TOO_MANY_CHANGES = 2.0
"""How many times as many words as in the references two alternatives may differ in. A first guess, not yet tuned."""
_N_SHOWN = 5
"""Distinct translations that stand in the evidence."""


def _tags(item: Item, **more: str) -> dict[str, str]:
    hidden = {*HIDDEN, *names_of(n_people(item))} if "stereotypes" in item.tags else {*HIDDEN}
    return {**{key: value for key, value in item.tags.items() if key not in hidden}, **more}


# -- one translation ---------------------------------------------------------------------------------------------------


def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    settings: Settings = item_set.selection
    return [_judge_one(item, samples[0].text, settings) for item, samples in zip(item_set.items, answers, strict=True)]


def _judge_one(item: Item, text: str | None, settings: Settings) -> Judgement:
    people = people_of(item)
    nobody = "".join(UNREAD if one.is_open else CLOSED for one in people)
    terms = [] if settings.rules == "paper" else terms_of(item, Gender.FEMININE)
    reason = _failure(item, text, settings)
    if reason or text is None:
        measures = as_measures(count_terms([], terms))
        facts: dict[str, Any] = {"reason": reason, "outcome": "failed", "measures": measures}
        return Judgement.of(item, Verdict.NOT_TRANSLATED, tags=_tags(item, variant=nobody), **facts)
    reading = read(item, text, settings.target_language, settings.reading)
    letters = set(reading.letters) - {CLOSED}
    reached = letters & {FEMININE, MASCULINE}
    if not letters:
        outcome, reason, verdict = "undecided", "nothing to choose", Verdict.UNJUDGEABLE
    elif MIXED in letters:
        outcome, reason, verdict = "mixed", "mixed", Verdict.UNJUDGEABLE
    elif reached:
        outcome, verdict = "open", Verdict.JUDGED
        reason = "people of both genders" if len(reached) == 2 else reading.how
    else:
        outcome, reason, verdict = "undecided", "undecided", Verdict.UNJUDGEABLE
    return Judgement.of(
        item,
        verdict,
        reading.gender if verdict is Verdict.JUDGED else None,
        tags=_tags(item, variant=reading.letters, **({"read by": reading.how} if reading.how else {})),
        evidence=reading.evidence,
        spans=reading.spans,
        reason=reason,
        outcome=outcome,
        measures=as_measures(count_terms(padded(text).split(), terms)),
    )


def _failure(item: Item, text: str | None, settings: Settings) -> str:
    """The paper's rules know an empty output only."""
    if settings.rules == "paper":
        return "" if text is not None and text.strip() else "empty"
    return failure(item.source, text) or ""


# -- several translations ----------------------------------------------------------------------------------------------


def judge_alternatives(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    settings: Settings = item_set.selection
    return [_judge_all(item, samples, settings) for item, samples in zip(item_set.items, answers, strict=True)]


def _judge_all(item: Item, samples: Sequence[Translation], settings: Settings) -> Judgement:
    said = [one.text for one in samples if one.text is not None and not _failure(item, one.text, settings)]
    outputs = list(dict.fromkeys(text.strip() if settings.rules == "paper" else normalised(text) for text in said))
    readings = [read(item, text, settings.target_language, settings.reading) for text in outputs]
    variants = [text if settings.rules == "paper" else normalised(text) for text in dict.fromkeys(variants_of(item))]
    distinct = set(variants)
    is_open = len(distinct) > 1
    n_found = len({reading.letters for reading in readings if not set(reading.letters) & {MIXED, UNREAD}})
    measures = {
        "attempted": float(len(outputs) > 1),
        "exact": float(distinct <= set(outputs)),
        "combinations": float(len(distinct)),
        "found": float(min(n_found, len(distinct))),
    }
    facts: dict[str, Any] = {
        "measures": measures,
        "evidence": tuple(f"{text} ({_word(one)})" for text, one in zip(outputs, readings, strict=True))[:_N_SHOWN],
    }
    if not outputs:
        return _alternatives(item, Verdict.NOT_TRANSLATED, None, "failed", "empty", facts)
    genders = {reading.gender for reading in readings}
    both = {Gender.FEMININE, Gender.MASCULINE} <= genders
    if not is_open:
        return _alternatives(item, Verdict.UNJUDGEABLE, None, "undecided", "nothing to choose", facts)
    if any(MIXED in reading.letters for reading in readings):
        return _alternatives(item, Verdict.UNJUDGEABLE, None, "mixed", "mixed", facts)
    if n_people(item) > 1:
        if n_found >= len(distinct):
            return _alternatives(item, Verdict.JUDGED, Gender.NEUTRAL, "correct", "all", facts)
        kind = ("undecided", Verdict.UNJUDGEABLE) if not n_found else ("wrong", Verdict.JUDGED)
        return _alternatives(item, kind[1], None, kind[0], "some" if n_found else "undecided", facts)
    if both:
        kept = _differ_in_gender_only(outputs, readings, variants)
        observed = Gender.NEUTRAL if kept else None
        why = "both" if kept else "more than the gender changes"
        return _alternatives(item, Verdict.JUDGED, observed, "correct" if kept else "wrong", why, facts)
    only = next((gender for gender in genders if gender), None)
    if only is None:
        return _alternatives(item, Verdict.UNJUDGEABLE, None, "undecided", "undecided", facts)
    return _alternatives(item, Verdict.JUDGED, only, "wrong", f"{only} only", facts)


def _alternatives(
    item: Item, verdict: Verdict, observed: Gender | None, outcome: str, reason: str, facts: dict[str, Any]
) -> Judgement:
    return Judgement.of(item, verdict, observed, tags=_tags(item), outcome=outcome, reason=reason, **facts)


def _word(reading: Reading) -> str:
    if gender := reading.gender:
        return gender.value
    if MIXED in reading.letters:
        return "mixed"
    return "undecided" if UNREAD in reading.letters else reading.letters


def _differ_in_gender_only(outputs: Sequence[str], readings: Sequence[Reading], variants: Sequence[str]) -> bool:
    """Whether some feminine and some masculine output differ in hardly more words than the references do."""
    most = TOO_MANY_CHANGES * n_changed(variants[0], variants[-1])
    sides = [
        [text for text, reading in zip(outputs, readings, strict=True) if reading.gender is gender]
        for gender in (Gender.FEMININE, Gender.MASCULINE)
    ]
    return any(n_changed(one, other) <= most for one, other in product(*sides))


def n_changed(one: str, other: str) -> int:
    """How many words two texts differ in: of each stretch that is not the same, those of its longer side."""
    opcodes = SequenceMatcher(None, blanked(one).split(), blanked(other).split(), autojunk=False).get_opcodes()
    return sum(max(a2 - a1, b2 - b1) for kind, a1, a2, b1, b2 in opcodes if kind != "equal")


# -- a rewriter --------------------------------------------------------------------------------------------------------

MATCH, MISMATCH, EMPTY = "match", "mismatch", "empty"


def outcome(prediction: str, reference: str) -> str:
    """Compare as GATE's released script (`GateEval.py`) does: case, punctuation and apostrophes count."""
    said = prediction.strip()
    if not said:
        return EMPTY
    return MATCH if said == reference.strip() else MISMATCH


def judge_rewriting(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    settings: RewritingSettings = item_set.selection
    return [
        _judge_rewritten(item, samples[0].text or "", settings)
        for item, samples in zip(item_set.items, answers, strict=True)
    ]


def _judge_rewritten(item: Item, text: str, settings: RewritingSettings) -> Judgement:
    is_paper = settings.rules == "paper"
    said, given = (text, item.source) if is_paper else (normalised(text), normalised(item.source))
    reference = item.tags["paper_reference"] if is_paper else normalised(item.tags["reference"])
    score = outcome(said, reference)
    unchanged = said.strip() == given.strip()
    tags = _tags(item, score=score, counts=_counts(item, settings))
    has_terms = not is_paper and item.tags["changes"] == "yes"
    terms = terms_of(item, item.expected) if item.expected and has_terms else []
    facts: dict[str, Any] = {"measures": as_measures(count_terms(padded(said).split(), terms)), "tags": tags}
    if score == EMPTY:
        return Judgement.of(item, Verdict.NOT_TRANSLATED, outcome="failed", reason="empty", **facts)
    if score == MATCH:
        reason = "" if item.tags["changes"] == "yes" else "nothing to rewrite"
        return Judgement.of(item, Verdict.JUDGED, item.expected, outcome="correct", reason=reason, **facts)
    observed = item.expected.opposite if unchanged and item.expected else None
    reason = "unchanged" if unchanged else "not the reference"
    return Judgement.of(item, Verdict.JUDGED, observed, outcome="wrong", reason=reason, **facts)


def _counts(item: Item, settings: RewritingSettings) -> str:
    """Whether a sentence counts: `yes`; `no`, by its length or since nothing is to be rewritten; `empty`, as if it had
    not been rewritten."""
    n = int(item.tags["words"])
    if n < settings.min_words or (settings.max_words and n > settings.max_words):
        return "empty" if settings.full_set_recall == "yes" else "no"
    return "yes" if settings.rules == "paper" or item.tags["changes"] == "yes" else "same"


# -- what fakes say, and how files are checked -------------------------------------------------------------------------


def render(item: Item, gender: Gender, settings: Settings) -> str:  # noqa: ARG001
    """The variant in which all are of this gender; where it is to be left open, the words that all variants share."""
    n = n_people(item)
    feminine, masculine = item.tags["f" * n], item.tags["m" * n]
    if gender is Gender.NEUTRAL:
        shared = SequenceMatcher(None, feminine.split(), masculine.split(), autojunk=False).get_matching_blocks()
        words = [feminine.split()[block.a : block.a + block.size] for block in shared]
        return " … ".join(" ".join(block) for block in words if block) or "…"
    return feminine if gender is Gender.FEMININE else masculine


def render_rewriting(item: Item, gender: Gender, settings: RewritingSettings) -> str:
    if gender in (item.expected, Gender.NEUTRAL):
        return item.tags["paper_reference" if settings.rules == "paper" else "reference"]
    return item.source


def fit(item: Item, text: str, settings: Shared) -> float | None:  # noqa: ARG001
    reference = item.tags["reference"] if "reference" in item.tags else item.tags["m" * n_people(item)]
    return words_in_common(padded(reference).split(), padded(text).split())
