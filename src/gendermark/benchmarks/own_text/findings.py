"""Findings about people in the user's own texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gendermark.benchmarks.findings import Presentation, TwoRates
from gendermark.benchmarks.own_text.judge import OPEN
from gendermark.languages.folders import rows_of
from gendermark.metrics.verdicts import State
from gendermark.reading.codes import NAMES
from gendermark.records import Gender, Judgement
from gendermark.reporting.document import Finding, Shown, listed
from gendermark.reporting.phrases import TOO_FEW, became, difference, find, sentence, women_and_men
from gendermark.result import Result

_MOST_WORDS = 4


def findings(result: Result) -> list[Finding]:
    kept = women_and_men(result, "kept:feminine", "kept:masculine", "kept_gap", "keep their gender")
    return [*_suspected(result), *kept, *_defaults(result), *_words(result), _reliability(result)]


def _given(result: Result) -> list[Judgement]:
    return [judgement for judgement in result.judgements if judgement.expected is not None]


def _kinds_of_errors(given: Sequence[Judgement]) -> list[tuple[int, str]]:
    women, men = (
        sum(judgement.expected is gender and judgement.observed is gender.opposite for judgement in given)
        for gender in (Gender.FEMININE, Gender.MASCULINE)
    )
    mixed = sum(judgement.outcome == "mixed" for judgement in given)
    kinds = (
        (women, "woman translated as a man", "women translated as men"),
        (men, "man translated as a woman", "men translated as women"),
        (mixed, "with words of both genders", "with words of both genders"),
    )
    return [(n, one if n == 1 else several) for n, one, several in kinds if n]


def _errors(result: Result) -> str:
    given = _given(result)
    kinds = _kinds_of_errors(given)
    n = sum(n for n, _ in kinds)
    errors = f"{n:,} suspected gender error{'s' if n > 1 else ''}"
    which = kinds[0][1].removeprefix("with ") if len(kinds) == 1 else ", ".join(f"{n:,} {kind}" for n, kind in kinds)
    people = f"the {len(given):,} people" if len(given) > 1 else "1 person"
    return f"{errors} ({which}) among {people} whose gender the source specifies" if kinds else ""


def _suspected(result: Result) -> list[Finding]:
    """What becomes of every person whose gender the source specifies; the numbers add up."""
    given = _given(result)
    if not given:
        return [Finding("The texts specify nobody's gender.")]
    by_gender = Counter(judgement.expected for judgement in given)
    who = [
        f"{by_gender[gender]:,} {one if by_gender[gender] == 1 else several}"
        for gender, one, several in ((Gender.FEMININE, "woman", "women"), (Gender.MASCULINE, "man", "men"))
        if by_gender[gender]
    ]
    people = f"{len(given):,} people" if len(given) > 1 else "1 person"
    kinds = _kinds_of_errors(given)
    kept = sum(judgement.is_correct for judgement in given)
    not_shown = sum(judgement.reason == "not-shown" for judgement in given)
    rest = len(given) - kept - not_shown - sum(n for n, _ in kinds)
    parts = [(kept, "with the correct gender"), *kinds]
    left_out = [(not_shown, "with no gender shown"), (rest, "not translated or unclear")]
    in_rates, others = (listed([f"{n:,} {kind}" for n, kind in some if n]) for some in (parts, left_out))
    said = "; left out of the rates: ".join(filter(None, (in_rates or "none readable", others)))
    text = f"{people} whose gender the source specifies ({listed(who)}): {said}."
    errors = (became(Gender.FEMININE, Gender.MASCULINE), became(Gender.MASCULINE, Gender.FEMININE), _is_mixed)
    shows = [one for one in errors if any(map(one, given))]
    return [Finding(text, shows=shows)]


def _is_mixed(judgement: Judgement) -> bool:
    return judgement.outcome == "mixed"


def _defaults(result: Result) -> list[Finding]:
    open_ = [judgement for judgement in result.judgements if judgement.expected is None]
    read = [j for j in open_ if j.observed or j.outcome == "mixed" or j.reason == "not-shown"]
    counts = Counter(str(judgement.observed or "neither") for judgement in read)
    if not read:
        return []
    gap = find(result, "imbalance")
    if gap is None or gap.state == State.TOO_FEW:
        text = f"{counts['masculine']} of {len(read)} people of unspecified gender are translated as men"
        rest = f"{counts['feminine']} as women, {counts['neither']} as neither"
        return [Finding(f"{text}, {rest}: {TOO_FEW}.", shows=(_shown_as(Gender.MASCULINE),))]
    template = (
        f"{{shown_masculine:{OPEN}|of people of unspecified gender}} are translated as men, "
        f"{{shown_feminine:{OPEN}}} as women; {{not_shown:{OPEN}}} show no gender."
    )
    favours = ("masculine is the default", "feminine is the default")
    return [
        *sentence(result, template),
        *difference(result, "imbalance", "Masculine minus feminine", *favours),
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
    most = counts.most_common(_MOST_WORDS)
    if not most:
        return []
    if most[0][1] == 1:  # no order among words that occur once
        return [Finding(f"Masculine defaults: {listed([_quoted(words) for words, _ in most])}.")]
    return [Finding(f"Most frequent masculine defaults: {', '.join(f'{_quoted(words)} ({n})' for words, n in most)}.")]


def _quoted(words: str) -> str:
    return f'"{words}"'


def _reliability(result: Result) -> Finding:
    code = result.selection.target_language
    name = NAMES.get(code, code)
    row = next(iter(rows_of(code, "reliability.tsv")), None)
    if row is None:
        return Finding(f"The reliability of gender detection in {name} has not been measured; review its findings.")
    measured = f"determined for {row['decided']}%, right for {row['right']}% of these"
    where = f"Reliability of gender detection in {name}, measured on other texts ({row['texts']})"
    return Finding(f"{where}: {measured}; details in gendermark's docs/validity.md.")


PRESENTATION = Presentation(
    findings=findings,
    two_rates=TwoRates("kept:masculine", "kept:feminine", gap="kept_gap:all"),
    open_rates=TwoRates(
        f"shown_masculine:{OPEN}",
        f"shown_feminine:{OPEN}",
        gap="imbalance:all",
        source_tells=False,
        among="all people who could be read, including those with no gender shown",
    ),
    leading="imbalance",
    also_shown=("kept:masculine", "kept:feminine", "kept_gap:all", f"not_shown:{OPEN}"),
    hidden_tags=frozenset({"start", "end"}),
    may_leave_open=True,
    suspected=_errors,
)
