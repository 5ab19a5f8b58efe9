"""What is said about the people in texts of the user's own."""

from __future__ import annotations

from collections import Counter

from gendermark.benchmarks.findings import Presentation, TwoRates
from gendermark.benchmarks.own_text.measures import OPEN
from gendermark.records import Gender, Judgement
from gendermark.reporting.document import Finding, Shown, listed
from gendermark.reporting.phrases import became, difference, sentence, women_and_men
from gendermark.result import Result

_FEW = 30
"""Below so many people counts say more than percentages."""
_MOST_WORDS = 4


def findings(result: Result) -> list[Finding]:
    kept = women_and_men(result, "kept:feminine", "kept:masculine", "kept_gap", "keep their gender")
    return [*kept, *_suspected(result), *_defaults(result), *_words(result)]


def _suspected(result: Result) -> list[Finding]:
    """Every person whose gender the source gives and the translation changes; the rows themselves are on the page."""
    given = [judgement for judgement in result.judgements if judgement.expected is not None]
    if not given:
        return [Finding("The texts give nobody's gender.")]
    women, men = (
        sum(judgement.expected is gender and judgement.observed is gender.opposite for judgement in given)
        for gender in (Gender.FEMININE, Gender.MASCULINE)
    )
    mixed = sum(judgement.outcome == "mixed" for judgement in given)
    kinds = {
        "women translated as men": women,
        "men translated as women": men,
        "people with words of both genders": mixed,
    }
    people = f"{len(given):,} people whose gender the source gives"
    if not sum(kinds.values()):
        return [Finding(f"No suspected errors among {people}.")]
    told = listed([f"{n:,} {kind}" for kind, n in kinds.items() if n])
    shows = (became(Gender.FEMININE, Gender.MASCULINE), became(Gender.MASCULINE, Gender.FEMININE))
    return [Finding(f"Suspected errors: {sum(kinds.values()):,} of {people} ({told}).", shows=shows)]


def _defaults(result: Result) -> list[Finding]:
    open_ = [judgement for judgement in result.judgements if judgement.expected is None]
    read = [j for j in open_ if j.observed or j.outcome == "mixed" or j.reason == "not-shown"]
    counts = Counter(str(judgement.observed or "neither") for judgement in read)
    if not read:
        return []
    if len(read) < _FEW:
        text = f"{counts['masculine']} of {len(read)} people of unspecified gender are shown as men"
        rest = f"{counts['feminine']} as women, {counts['neither']} as neither"
        return [Finding(f"{text}, {rest}: too few to compare.", shows=(_shown_as(Gender.MASCULINE),))]
    template = (
        f"{{shown_masculine:{OPEN}|of people of unspecified gender}} are shown as men, "
        f"{{shown_feminine:{OPEN}}} as women; {{not_shown:{OPEN}}} show no gender."
    )
    favours = ("masculine is the default", "feminine is the default")
    return [
        *sentence(result, template),
        *difference(result, "imbalance", "Men minus women among those shown", *favours),
    ]


def _shown_as(gender: Gender) -> Shown:
    def is_it(judgement: Judgement) -> bool:
        return judgement.expected is None and judgement.observed is gender

    return is_it


def _words(result: Result) -> list[Finding]:
    counts = Counter(
        " ".join(judgement.evidence).casefold()
        for judgement in result.judgements
        if judgement.expected is None and judgement.observed is Gender.MASCULINE and judgement.evidence
    )
    words = [f'"{words}" ({n})' for words, n in counts.most_common(_MOST_WORDS)]
    return [Finding(f"Most frequent masculine defaults: {', '.join(words)}.")] if words else []


PRESENTATION = Presentation(
    findings=findings,
    # Most people in texts of products are of unspecified gender; a finding counts those whose gender is given.
    two_rates=TwoRates(f"shown_masculine:{OPEN}", f"shown_feminine:{OPEN}", gap="imbalance:all", source_tells=False),
    leading="imbalance",
    also_shown=("kept:masculine", "kept:feminine", "kept_gap:all", f"not_shown:{OPEN}"),
    hidden_tags=frozenset({"start", "end"}),
    may_leave_open=True,
)
