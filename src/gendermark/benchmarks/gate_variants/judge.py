"""GATE: which variant a translation chooses, whether several offer all, and whether a rewriter is exact.

Each person's gender is read from an exact variant, from key words, from the differences between the variants, and by
the general reader, in this order of reliability. Annotated words (`kw_f`, `kw_m`) decide if only one gender's occur. A
translation worded differently has none; then other words that distinguish the variants are tried, then the general
reader.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import product
from typing import Any

from gendermark.benchmarks import gate_variants as gate
from gendermark.benchmarks.benchmark import BenchmarkOf, each, sampled_requests, with_drawing, words_in_common
from gendermark.benchmarks.gate_variants import items, measures
from gendermark.benchmarks.gate_variants.items import HEAD, HIDDEN, names_of, nouns_of
from gendermark.errors import UserError
from gendermark.languages.folders import language_of
from gendermark.languages.language import Language
from gendermark.metrics import quality
from gendermark.metrics.terms import Term, count_terms
from gendermark.reading.contrast import Unit, contrast, places_of, units_of
from gendermark.reading.failures import failure
from gendermark.reading.people import people_in
from gendermark.reading.reader import version
from gendermark.reading.target import target_of
from gendermark.reading.words import spans_of, split_spans
from gendermark.records import Gender, Item, Judgement, Span, Translation, Verdict

GENDER = {gate.FEMININE: Gender.FEMININE, gate.MASCULINE: Gender.MASCULINE}
_LETTERS = {"feminine": gate.FEMININE, "masculine": gate.MASCULINE, "mixed": gate.MIXED}
_SURE = 0.8
"""Minimum fit of words to a person; lower means other words have replaced an omitted person."""
_PLAIN = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u00a0": " ", "\u202f": " ", "\u2009": " "})


@dataclass(frozen=True, slots=True)
class Person:
    """One person of a sentence, with the words that identify the gender in a translation."""

    terms: tuple[tuple[str, str], ...]
    """Key words of both genders, feminine first, as `padded` writes them."""
    pairs: tuple[tuple[str, str], ...]
    """Pairs of variants that differ only in this gender."""
    noun: str
    """English head noun; "" if unknown."""

    @property
    def is_open(self) -> bool:
        return any(one != other for one, other in self.pairs)


@dataclass(frozen=True, slots=True)
class Reading:
    """The gender read for each person, one letter each, and by which method."""

    letters: str
    how: str = ""
    evidence: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()

    @property
    def gender(self) -> Gender | None:
        found = set(self.letters) - {gate.CLOSED}
        return GENDER.get(next(iter(found))) if len(found) == 1 else None

    @property
    def label(self) -> str:
        named = "mixed" if gate.MIXED in self.letters else "undecided" if gate.UNREAD in self.letters else self.letters
        return self.gender.value if self.gender else named


def normalised(text: str) -> str:
    return unicodedata.normalize("NFC", text).translate(_PLAIN).strip()


def blanked(text: str) -> str:
    """Lower case, with blanks for punctuation; nearly always as long as the text."""
    low = unicodedata.normalize("NFC", text).lower()
    return "".join(" " if unicodedata.category(letter)[0] in "PSZ" else letter for letter in low)


@lru_cache(maxsize=8192)
def padded(text: str) -> str:
    """The words of a text, each between two spaces."""
    return f" {' '.join(blanked(text).split())} "


def key_terms(kw_f: str, kw_m: str) -> list[list[tuple[str, str]]]:
    """For each entry, its distinguishing key words of both genders: heads if they differ, else whole phrases."""
    entries = []
    for feminine, masculine in zip(kw_f.split(";"), kw_m.split(";"), strict=False):
        found = []
        for one, other in zip(feminine.split("="), masculine.split("="), strict=False):
            heads = [HEAD.search(form) for form in (one, other)]
            forms = [head[1] for head in heads if head]
            pair = (padded(forms[0]), padded(forms[1])) if len(set(forms)) == 2 else (padded(one), padded(other))
            if pair[0] != pair[1]:
                found.append(pair)
        entries.append(found)
    return entries


def terms_of(item: Item, wanted: Gender) -> list[Term]:
    pairs = [pair for entry in key_terms(item.tags["kw_f"], item.tags["kw_m"]) for pair in entry]
    side = 0 if wanted is Gender.FEMININE else 1
    return [Term(tuple(pair[side].split()), tuple(pair[1 - side].split())) for pair in pairs]


def variants_of(item: Item) -> tuple[str, ...]:
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
        entries = [[] for _ in range(n)]  # key words cannot be assigned to people
    by_name = dict(zip(names_of(n), variants, strict=True))
    people = []
    for place, (terms, noun) in enumerate(zip(entries, nouns_of(kw_s, n), strict=True)):
        feminine = [name for name in by_name if name[place] == "f"]
        pairs = [(by_name[name], by_name[f"{name[:place]}m{name[place + 1 :]}"]) for name in feminine]
        people.append(Person(tuple(terms), tuple(pairs), noun))
    return tuple(people)


@lru_cache(maxsize=4096)
def _units(pairs: tuple[tuple[str, str], ...], code: str) -> tuple[frozenset[Unit], frozenset[Unit]]:
    """Words specific to the variants in which this person is a woman, and a man.

    Used only for sentences without key words.
    """
    language = language_of(code)
    contrasts = [contrast(one, other, language) for one, other in pairs]
    known = [{unit for pair in pairs for unit in units_of(language.cut(pair[side]))} for side in (0, 1)]
    feminine = {unit for found in contrasts for unit in found.right if _tells(unit, language)} - known[1]
    masculine = {unit for found in contrasts for unit in found.wrong if _tells(unit, language)} - known[0]
    return frozenset(feminine), frozenset(masculine)


def _tells(unit: Unit, language: Language) -> bool:
    """Two function words, "de la", occur anywhere; key words include their noun."""
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
        return _unread(people)
    readings = [_read_one(one, item.source, text, code, by) if one.is_open else Reading(gate.CLOSED) for one in people]
    return Reading(
        "".join(found.letters for found in readings),
        " ".join(dict.fromkeys(found.how for found in readings if found.how)),
        tuple(word for found in readings for word in found.evidence),
        tuple(sorted({span for found in readings for span in found.spans})),
    )


def _unread(people: Sequence[Person]) -> Reading:
    return Reading("".join(gate.UNREAD if one.is_open else gate.CLOSED for one in people))


def _matched(item: Item, text: str, people: Sequence[Person]) -> str:
    """The letters of the matching variant: exact under the paper's rules, by words under ours."""
    is_paper = item.tags["rules"] == "paper"
    written = str.strip if is_paper else padded
    names = [name for name in names_of(len(people)) if written(text) == written(item.tags[name])]
    if not names:
        return ""
    letters = []
    for one, own in zip(people, zip(*names, strict=True), strict=True):
        # Variants may differ only in capitals or commas.
        letters.append(gate.CLOSED if not one.is_open else own[0] if len(set(own)) == 1 else gate.UNREAD)
    return "".join(letters)


def _read_one(person: Person, source: str, text: str, code: str, by: str) -> Reading:
    """The first method that finds anything decides."""
    words = padded(text)
    found = [[term[side] for term in person.terms if term[side] in words] for side in (0, 1)]
    if found[0] or found[1]:
        both = [*found[0], *found[1]]
        return Reading(_letter(*found), "key words", _shown(both), _places(text, both))
    if by == "keywords":
        return Reading(gate.UNREAD)
    cut = language_of(code).cut(text)
    units = set(units_of(cut))
    feminine, masculine = (sorted(known & units) for known in _units(person.pairs, code))
    if shown := [*feminine, *masculine]:
        evidence, spans = tuple(map(" ".join, shown)), spans_of(text, places_of(shown, cut))
        return Reading(_letter(feminine, masculine), "differing words", evidence, spans)
    named = _named(source)
    for one, target in zip(named, target_of(source, named, text, code, _SURE), strict=True):
        if target.gender and one.kind == "noun" and person.noun in (one.text.lower(), one.noun, one.head):
            evidence = tuple(text[start:end] for start, end in target.evidence)
            return Reading(_LETTERS[target.gender], "reader", evidence, target.evidence)
    return Reading(gate.UNREAD)


_named = lru_cache(maxsize=4096)(people_in)


def _letter(feminine: Sequence[object], masculine: Sequence[object]) -> str:
    return gate.MIXED if feminine and masculine else gate.FEMININE if feminine else gate.MASCULINE


def _shown(found: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term.strip() for term in found))


def _places(text: str, found: Sequence[str]) -> tuple[Span, ...]:
    blank = blanked(text)
    if not found or len(blank) != len(text):
        return ()
    spans, words, terms = split_spans(blank), blank.split(), {tuple(term.split()) for term in found}
    places = {
        (at, at + len(term))
        for term in terms
        for at in range(len(words) - len(term) + 1)
        if tuple(words[at : at + len(term)]) == term
    }
    return tuple(sorted((spans[first][0], spans[behind - 1][1]) for first, behind in places))


TOO_MANY_CHANGES = 2.0
"""Maximum difference between two alternatives, relative to the references, in words. A first guess, not tuned."""
_N_SHOWN = 5
"""Distinct translations kept in the evidence."""


def _tags(item: Item, **more: str) -> dict[str, str]:
    hidden = {*HIDDEN, *names_of(n_people(item))} if "stereotypes" in item.tags else {*HIDDEN}
    return {**{key: value for key, value in item.tags.items() if key not in hidden}, **more}


# -- one translation ---------------------------------------------------------------------------------------------------


def _judge_one(item: Item, samples: Sequence[Translation], settings: gate.Settings) -> Judgement:
    text = samples[0].text or ""
    terms = [] if settings.rules == "paper" else terms_of(item, Gender.FEMININE)
    failed = _failure(item, samples[0].text, settings)
    reading = _unread(people_of(item)) if failed else read(item, text, settings.target_language, settings.reading)
    read_as = set(reading.letters) - {gate.CLOSED}
    reached = read_as & {gate.FEMININE, gate.MASCULINE}
    verdict, observed = Verdict.UNJUDGEABLE, None
    if failed:
        verdict, outcome, reason = Verdict.NOT_TRANSLATED, "failed", failed
    elif not read_as:
        outcome, reason = "undecided", "nothing to choose"
    elif gate.MIXED in read_as:
        outcome = reason = "mixed"
    elif reached:
        outcome, verdict, observed = "open", Verdict.JUDGED, reading.gender
        reason = "people of both genders" if len(reached) == 2 else reading.how
    else:
        outcome = reason = "undecided"
    return Judgement.of(
        item,
        verdict,
        observed,
        tags=_tags(item, variant=reading.letters, **({"read by": reading.how} if reading.how else {})),
        evidence=reading.evidence,
        spans=reading.spans,
        reason=reason,
        outcome=outcome,
        measures=count_terms([] if failed else padded(text).split(), terms),
    )


def _failure(item: Item, text: str | None, settings: gate.Settings) -> str:
    """Under the paper's rules, only an empty output fails."""
    if settings.rules == "paper":
        return "" if text is not None and text.strip() else "empty"
    return failure(item.source, text) or ""


# -- several translations ----------------------------------------------------------------------------------------------


def _judge_all(item: Item, samples: Sequence[Translation], settings: gate.Settings) -> Judgement:
    said = [one.text for one in samples if one.text is not None and not _failure(item, one.text, settings)]
    outputs = list(dict.fromkeys(text.strip() if settings.rules == "paper" else normalised(text) for text in said))
    readings = [read(item, text, settings.target_language, settings.reading) for text in outputs]
    variants = [text if settings.rules == "paper" else normalised(text) for text in dict.fromkeys(variants_of(item))]
    distinct = set(variants)
    is_open = len(distinct) > 1
    n_found = len({reading.letters for reading in readings if not set(reading.letters) & {gate.MIXED, gate.UNREAD}})
    measures = {
        "attempted": float(len(outputs) > 1),
        "exact": float(distinct <= set(outputs)),
        "combinations": float(len(distinct)),
        "found": float(min(n_found, len(distinct))),
    }
    if item.tags["annotated"] == "yes" and outputs and is_open:
        measures |= _as_garg(outputs, readings, variants)
    evidence = tuple(f"{text} ({one.label})" for text, one in zip(outputs, readings, strict=True))[:_N_SHOWN]
    genders = {reading.gender for reading in readings}
    verdict, observed = Verdict.JUDGED, None
    if not outputs:
        verdict, outcome, reason = Verdict.NOT_TRANSLATED, "failed", "empty"
    elif not is_open:
        verdict, outcome, reason = Verdict.UNJUDGEABLE, "undecided", "nothing to choose"
    elif any(gate.MIXED in reading.letters for reading in readings):
        verdict, outcome, reason = Verdict.UNJUDGEABLE, "mixed", "mixed"
    elif n_people(item) > 1 and n_found:
        is_all = n_found >= len(distinct)
        outcome, reason, observed = ("correct", "all", Gender.NEUTRAL) if is_all else ("wrong", "some", None)
    elif {Gender.FEMININE, Gender.MASCULINE} <= genders and n_people(item) == 1:
        is_kept = _differ_in_gender_only(outputs, readings, variants)
        reason = "both" if is_kept else "more than the gender changes"
        outcome, observed = ("correct", Gender.NEUTRAL) if is_kept else ("wrong", None)
    elif (only := next(filter(None, genders), None)) and n_people(item) == 1:
        outcome, reason, observed = "wrong", f"{only} only", only
    else:
        verdict, outcome, reason = Verdict.UNJUDGEABLE, "undecided", "undecided"
    facts: dict[str, Any] = {"outcome": outcome, "reason": reason, "evidence": evidence}
    return Judgement.of(item, verdict, observed, tags=_tags(item), measures=measures, **facts)


def _as_garg(outputs: Sequence[str], readings: Sequence[Reading], variants: Sequence[str]) -> dict[str, float]:
    """Structures and BLEU of Garg et al. (2024), of the first output of each gender, or of the first of all."""
    found: dict[str, float] = {}
    sides: dict[Gender, str] = {}
    for text, reading in zip(outputs, readings, strict=True):
        if reading.gender:
            sides.setdefault(reading.gender, text)
    if len(sides) == 2:
        both = ((sides[Gender.FEMININE], sides[Gender.MASCULINE]), (variants[0], variants[-1]))
        said, wanted = (Counter((" ".join(a), " ".join(b)) for a, b in _changes(*pair)) for pair in both)
        counts = {"said": said, "wanted": wanted, "right": said & wanted}
        found |= {f"structures.{name}": float(count.total()) for name, count in counts.items()}
    for gender, reference in ((Gender.FEMININE, variants[0]), (Gender.MASCULINE, variants[-1])):
        (row,) = quality.bleu_statistics([sides.get(gender, outputs[0])], [reference])
        found |= {f"{gender}.bleu.{column}": value for column, value in row.items()}
    return found


def _changes(one: str, other: str) -> list[tuple[list[str], list[str]]]:
    a, b = blanked(one).split(), blanked(other).split()
    opcodes = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    return [(a[a1:a2], b[b1:b2]) for kind, a1, a2, b1, b2 in opcodes if kind != "equal"]


def _differ_in_gender_only(outputs: Sequence[str], readings: Sequence[Reading], variants: Sequence[str]) -> bool:
    """Whether a feminine and a masculine output differ in hardly more words than the references."""
    most = TOO_MANY_CHANGES * n_changed(variants[0], variants[-1])
    genders = [reading.gender for reading in readings]
    women, men = (
        [text for text, shown in zip(outputs, genders, strict=True) if shown is gender] for gender in GENDER.values()
    )
    return any(n_changed(one, other) <= most for one, other in product(women, men))


def n_changed(one: str, other: str) -> int:
    """Number of differing words: for each differing stretch, the longer side."""
    return sum(max(len(a), len(b)) for a, b in _changes(one, other))


# -- a rewriter --------------------------------------------------------------------------------------------------------


def _judge_rewritten(item: Item, samples: Sequence[Translation], settings: gate.RewritingSettings) -> Judgement:
    text = samples[0].text or ""
    is_paper = settings.rules == "paper"
    said, given = (text, item.source) if is_paper else (normalised(text), normalised(item.source))
    reference = item.tags["paper_reference"] if is_paper else normalised(item.tags["reference"])
    # As GATE's released script (`GateEval.py`) compares: case, punctuation and apostrophes count.
    score = gate.EMPTY if not said.strip() else gate.MATCH if said.strip() == reference.strip() else gate.MISMATCH
    unchanged = said.strip() == given.strip()
    tags = _tags(item, score=score, counts=_counts(item, settings))
    has_terms = not is_paper and item.tags["changes"] == "yes"
    terms = terms_of(item, item.expected) if item.expected and has_terms else []
    facts: dict[str, Any] = {"measures": count_terms(padded(said).split(), terms), "tags": tags}
    if score == gate.EMPTY:
        return Judgement.of(item, Verdict.NOT_TRANSLATED, outcome="failed", reason="empty", **facts)
    if score == gate.MATCH:
        reason = "" if item.tags["changes"] == "yes" else "nothing to rewrite"
        return Judgement.of(item, Verdict.JUDGED, item.expected, outcome="correct", reason=reason, **facts)
    observed = item.expected.opposite if unchanged and item.expected else None
    reason = "unchanged" if unchanged else "not the reference"
    return Judgement.of(item, Verdict.JUDGED, observed, outcome="wrong", reason=reason, **facts)


def _counts(item: Item, settings: gate.RewritingSettings) -> str:
    """Whether a sentence counts: `yes`; `no`, by length or because nothing needs rewriting; `empty`, as not
    rewritten."""
    n = int(item.tags["words"])
    if n < settings.min_words or (settings.max_words and n > settings.max_words):
        return "empty" if settings.full_set_recall == "yes" else "no"
    return "yes" if settings.rules == "paper" or item.tags["changes"] == "yes" else "same"


# -- what fakes say, and how files are checked -------------------------------------------------------------------------


def render(item: Item, gender: Gender, settings: gate.Settings) -> str:  # noqa: ARG001
    """The variant with this gender for all people; for unspecified gender, the words common to all variants."""
    n = n_people(item)
    feminine, masculine = item.tags["f" * n], item.tags["m" * n]
    if gender is Gender.NEUTRAL:
        shared = SequenceMatcher(None, feminine.split(), masculine.split(), autojunk=False).get_matching_blocks()
        words = [feminine.split()[block.a : block.a + block.size] for block in shared]
        return " … ".join(" ".join(block) for block in words if block) or "…"
    return feminine if gender is Gender.FEMININE else masculine


def render_rewriting(item: Item, gender: Gender, settings: gate.RewritingSettings) -> str:
    if gender in (item.expected, Gender.NEUTRAL):
        return item.tags["paper_reference" if settings.rules == "paper" else "reference"]
    return item.source


def fit(item: Item, text: str, settings: gate.Shared) -> float | None:  # noqa: ARG001
    reference = item.tags["reference"] if "reference" in item.tags else item.tags["m" * n_people(item)]
    return words_in_common(padded(reference).split(), padded(text).split())


def complete_rewriting(settings: gate.RewritingSettings) -> gate.RewritingSettings:
    if settings.max_words and settings.min_words > settings.max_words:
        raise UserError(f"--min-words {settings.min_words} is more than --max-words {settings.max_words}")
    return items.with_split(settings)


def _signature(settings: gate.Settings) -> Mapping[str, str]:
    reader = {"reader": version()} if settings.reading == "all" else {}
    return {"split": settings.split, "reading": settings.reading, **reader}


def _rewriting_signature(settings: gate.RewritingSettings) -> Mapping[str, str]:
    if not settings.min_words and not settings.max_words:
        return {"split": settings.split}
    full = ",full-set-recall" if settings.full_set_recall == "yes" else ""
    return {"split": settings.split, "words": f"{settings.min_words or 1}-{settings.max_words or 'all'}{full}"}


_SHARED: dict[str, Any] = {
    "card": "gate-variants",
    "rules_version": 5,
    "language_pairs": lambda data: [
        ("en", code) for code in (*items.LANGUAGES, *(() if data == "core" else items.ANNOTATED))
    ],
    "fit": fit,
    "sources_depend_on_target": True,
}
BENCHMARK = BenchmarkOf(
    name=gate.VARIANTS,
    title="GATE (one translation)",
    question="Which gender are people given when the source does not specify it?",
    settings=gate.Settings,
    default_own=items.with_defaults,
    complete_own=items.with_split,
    load=items.load,
    judge=each(_judge_one),
    measures=measures.VARIANTS,
    render=render,
    findings="gendermark.benchmarks.gate_variants.findings:VARIANTS",
    signature=_signature,
    **_SHARED,
)
OFFERED = BenchmarkOf(
    name=gate.ALTERNATIVES,
    title="GATE (alternatives)",
    question="Are both genders offered when the source does not specify gender?",
    settings=gate.AlternativesSettings,
    default_own=items.with_defaults,
    complete_own=lambda settings: with_drawing(items.with_split(settings), gate.N_SAMPLES),
    load=items.load,
    requests=sampled_requests,
    judge=each(_judge_all),
    measures=measures.ALTERNATIVES,
    render=render,
    findings="gendermark.benchmarks.gate_variants.findings:ALTERNATIVES",
    signature=lambda settings: {**_signature(settings), "samples": f"{settings.n_samples},{settings.sampling}"},
    drawn_elsewhere=lambda settings, n: {"n_samples": n, "sampling": settings.sampling or "unknown=elsewhere"},
    draws=True,
    offers_genders=True,
    only_when_named=True,
    **_SHARED,
)
REWRITER = BenchmarkOf(
    name=gate.REWRITING,
    title="GATE (rewriting)",
    question="Is a translation put into the other gender exactly?",
    settings=gate.RewritingSettings,
    complete_own=complete_rewriting,
    load=items.load_rewriting,
    requests=items.rewriting_requests,
    judge=each(_judge_rewritten),
    measures=measures.REWRITING,
    render=render_rewriting,
    findings="gendermark.benchmarks.gate_variants.findings:REWRITING",
    signature=_rewriting_signature,
    only_when_named=True,
    **_SHARED,
)
