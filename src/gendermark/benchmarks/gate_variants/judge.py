"""GATE: which variant one translation chooses, whether several offer all of them, and whether a rewriter is exact."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import product
from typing import Any

from gendermark.benchmarks.benchmark import Answers, ItemSet
from gendermark.benchmarks.gate_variants import RewritingSettings, Settings, Shared, published
from gendermark.benchmarks.gate_variants.items import HIDDEN, names_of
from gendermark.benchmarks.gate_variants.reading import (
    CLOSED,
    FEMININE,
    MASCULINE,
    MIXED,
    UNREAD,
    Reading,
    blanked,
    n_people,
    normalised,
    padded,
    people_of,
    read,
    terms_of,
    variants_of,
)
from gendermark.linguistics.failures import failure
from gendermark.metrics.terms import as_measures, count_terms
from gendermark.records import Gender, Item, Judgement, Translation, Verdict

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
    score = published.outcome(said, reference)
    unchanged = said.strip() == given.strip()
    tags = _tags(item, score=score, counts=_counts(item, settings))
    has_terms = not is_paper and item.tags["changes"] == "yes"
    terms = terms_of(item, item.expected) if item.expected and has_terms else []
    facts: dict[str, Any] = {"measures": as_measures(count_terms(padded(said).split(), terms)), "tags": tags}
    if score == published.EMPTY:
        return Judgement.of(item, Verdict.NOT_TRANSLATED, outcome="failed", reason="empty", **facts)
    if score == published.MATCH:
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
    own = {word for word in padded(reference).split() if len(word) > 3}
    return len(own & set(padded(text).split())) / len(own) if own else 0.0
