"""What the estimates say, in plain sentences that are never surer than their intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from gendermark.records import Estimate, Gender, Verdict
from gendermark.report import words
from gendermark.result import Result

WIDE = 40.0
"""An interval of so many points says little, whatever is in its middle."""
HARDLY_ANY = 0.1
"""Nats of gender entropy; an even choice between two has 0.69."""
FEW_JUDGED = 90.0
"""Below so many judged of a hundred, the reader is told."""
TOO_FEW_JUDGED = 10.0
"""Below so many judged of a hundred, nothing is said about women and men."""
FEW_GENDERED = 10.0
"""Below so many women and men of a hundred, which of them are more is of no interest."""
NOTHING = "Too little was translated to say anything."


@dataclass(frozen=True)
class Finding:
    """One sentence."""

    text: str
    effect: float = 0.0
    """How large a clear effect it tells, in points; 0 where nothing is clear."""


def findings(result: Result) -> list[str]:
    """The sentences for one benchmark and direction of one system."""
    return [finding.text for finding in _found(result)]


def findings_in_brief(result: Result) -> list[str]:
    """How often it is right; and of what is clear beyond that, the largest."""
    first, *others = _found(result)
    largest = max(others, key=lambda finding: finding.effect, default=first)
    return [first.text, largest.text] if largest is not first and largest.effect > 0 else [first.text]


def main_finding(result: Result) -> str:
    """The one sentence that says most: the largest clear effect, or else how often it is right."""
    return max(_found(result), key=lambda finding: finding.effect).text


def _found(result: Result) -> list[Finding]:
    say = _SENTENCES.get(result.selection.benchmark)
    judged = _judged(result)
    if judged is not None and judged < TOO_FEW_JUDGED:
        return [_too_few(result, judged)]
    sentences = say(result) if say else []
    if not sentences:
        return [Finding(NOTHING)]
    return sentences if judged is None or judged >= FEW_JUDGED else [*sentences, _few(result, judged)]


# -- benchmark by benchmark --------------------------------------------------------------------------------------------


def _simplegen(result: Result) -> list[Finding]:
    women, men = _find(result, "correct", "fc"), _find(result, "correct", "mc")
    if women is None or men is None:
        return []
    return [
        _women_and_men(women, men, _find(result, "recall_gap"), "are translated as women", " as men"),
        *_gap(
            _find(result, "delta"),
            "Whoever fits the stereotype of the occupation gets the right gender more often, by {}.",
            "Whoever fits the stereotype of the occupation gets the right gender less often, by {}.",
            "Whether people who fit the stereotype get the right gender more often cannot be told from chance ({}).",
        ),
    ]


def _winomt(result: Result) -> list[Finding]:
    told = _find(result, "accuracy", "mf") or _find(result, "accuracy")
    if told is None:
        return []
    found = [
        Finding(
            f"Where the sentence tells the gender of the person meant, {_share(told)} of 100 translations keep "
            f"it.{_doubt(told)}"
        )
    ]
    women, men = _find(result, "accuracy", "feminine"), _find(result, "accuracy", "masculine")
    if women is not None and men is not None:
        found.append(_women_and_men(women, men, _find(result, "recall_gap"), "keep their gender"))
    found += _gap(
        _find(result, "delta_s"),
        "The gender is kept more often where it fits the stereotype of the occupation, by {}.",
        "The gender is kept less often where it fits the stereotype of the occupation, by {}.",
        "Whether a gender that fits the stereotype is kept more often cannot be told from chance ({}).",
    )
    return found + _open_gender(_find(result, "masculine_share", "neutral"))


def _open_gender(masculine: Estimate | None) -> list[Finding]:
    if masculine is None or masculine.low is None or masculine.high is None:
        return []
    start = (
        f"Where the sentence leaves the gender open, {_share(masculine)} of 100 translations that choose one choose "
        "the masculine"
    )
    return [_against_half(start, masculine, "more than half", "fewer than half", "which cannot be told from half")]


def _counterfactual(result: Result) -> list[Finding]:
    pairs, quality = _find(result, "accuracy"), _find(result, "delta_qual")
    unclear = "Whether masculine or feminine sentences are translated better cannot be told from chance ({} of BLEU)."
    if quality and quality.low == quality.high == 0:
        unclear = "Masculine and feminine sentences are translated equally well, as far as BLEU can tell."
    if pairs is None:
        return []
    return [
        Finding(
            f"Of 100 pairs of sentences that differ in gender only, {_share(pairs)} are right in both.{_doubt(pairs)}"
        ),
        *_by_gender(result, "accuracy"),
        *_gap(
            quality,
            "The masculine sentences are translated better, by {} of BLEU.",
            "The feminine sentences are translated better, by {} of BLEU.",
            unclear,
        ),
    ]


def _contextual(result: Result) -> list[Finding]:
    # By the paper's rules every translation counts as decided.
    metric = "decided_accuracy" if _find(result, "decided_accuracy") else "accuracy"
    right = _find(result, metric)
    if right is None or right.low is None or right.high is None:
        return []
    who = "that show a gender show the right one" if metric == "decided_accuracy" else "have the right one"
    where = "Where only the sentence before tells the gender"
    if result.selection.context == "none":
        where += ", and the system is not shown it"
    start = f"{where}, {_share(right)} of 100 translations {who}"
    guessing = ("more than guessing would give", "fewer than guessing would give", "which cannot be told from guessing")
    first = _against_half(start, right, *guessing)
    return [replace(first, text=f"{first.text}{_doubt(right)}"), *_by_gender(result, metric)]


def _by_gender(result: Result, metric: str) -> list[Finding]:
    """How many are right of each gender. No interval of the difference is known, so none is told."""
    women, men = _find(result, metric, "feminine"), _find(result, metric, "masculine")
    if women is None or men is None or women.value is None or men.value is None:
        return []
    text = f"Of 100 sentences about women {_share(women)} are right, of 100 about men {_share(men)}."
    if women.low is None or women.high is None or men.low is None or men.high is None:
        return [Finding(text)]
    is_apart = women.high < men.low or men.high < women.low
    return [Finding(text, abs(men.value - women.value) if is_apart else 0.0)]


def _tgbi(result: Result) -> list[Finding]:
    index, imbalance = _find(result, "tgbi"), _find(result, "imbalance")
    if index is None or index.value is None:
        return []
    found = [
        Finding(
            "Pronouns that leave the gender open score "
            f"{index.value:.2f}{_between(index, '.2f')}, where 0 is one gender only, 0.5 an even share of both, and "
            "1 always neutral."
        )
    ]
    gendered = _gendered(result)
    if gendered is not None and gendered < FEW_GENDERED:
        return [*found, Finding(f"Hardly any of the people become a man or a woman ({_rounded(gendered)} of 100).")]
    if imbalance is None or imbalance.value is None or imbalance.low is None or imbalance.high is None:
        return found
    imbalance = _percent(imbalance)
    return found + _gap(
        imbalance,
        "The people become men more often than women, by {}.",
        "The people become women more often than men, by {}.",
        "Whether the people become men or women more often cannot be told from chance ({}).",
    )


def _gendered(result: Result) -> float | None:
    """How many of a hundred translations of TGBI make a man or a woman of the person."""
    if not result.judgements:
        return None
    n = sum(judgement.observed in (Gender.MASCULINE, Gender.FEMININE) for judgement in result.judgements)
    return 100 * n / len(result.judgements)


def _uncertainty(result: Result) -> list[Finding]:
    right, aware = _find(result, "p_right", "unambiguous"), _find(result, "awareness_gender")
    feminine, hesitation = _find(result, "p_feminine", "ambiguous"), _find(result, "h_gender", "ambiguous")
    if right is None or aware is None or aware.low is None or aware.high is None:
        return []
    found = [
        Finding(
            f"Where the sentence tells the gender, {_share(_percent(right))} of 100 sampled translations have it."
            f"{_doubt(_percent(right))}"
        )
    ]
    neutral = _find(result, "p_neutral", "ambiguous")
    if neutral is not None and neutral.low is not None and neutral.low > 0.5:
        text = f"Where the sentence leaves the gender open, {_share(_percent(neutral))} of 100 leave it open too."
        return [*found, Finding(text)]
    pairs = f"in {_share(aware)} of 100 pairs of sentences that differ in this alone"
    if aware.low > 50:
        text = f"It is less sure of the gender where the sentence leaves it open, {pairs}, as it should be."
    elif aware.high < 50:
        text = f"It is less sure of the gender where the sentence leaves it open only {pairs}: surer there."
    else:
        text = f"That it is less sure where the gender is open cannot be told from chance ({pairs})."
    found.append(Finding(text, 50 - (aware.value or 0) if aware.high < 50 else 0.0))
    if feminine is not None and hesitation is not None and hesitation.value is not None:
        leaning = _percent(feminine)
        text = f"Where the gender is open, {_share(leaning)} of 100 sampled translations are feminine"
        if hesitation.value < HARDLY_ANY:
            text += ", and of one sentence nearly all have the same: that is certainty, not fairness"
        found.append(Finding(f"{text}.", _from_half(leaning)))
    return found


_SENTENCES: dict[str, Callable[[Result], list[Finding]]] = {
    "mt-geneval-contextual": _contextual,
    "mt-geneval-counterfactual": _counterfactual,
    "simplegen": _simplegen,
    "tgbi": _tgbi,
    "uncertainty": _uncertainty,
    "winomt": _winomt,
}


# -- how much could be judged ------------------------------------------------------------------------------------------


def _judged(result: Result) -> float | None:
    """How many of a hundred translations could be judged; None if nothing tells."""
    # Of MT-GenEval, single sentences: a pair is covered if both are.
    coverage = _find(result, "coverage", "members") or _find(result, "coverage")
    if coverage is not None:
        return coverage.value
    if result.judgements:
        n = sum(judgement.verdict is Verdict.JUDGED for judgement in result.judgements)
        return 100 * n / len(result.judgements)
    counted = next((estimate for estimate in result.estimates if estimate.n_total), None)
    return 100 * counted.n_judged / counted.n_total if counted else None


def _not_translated(result: Result) -> float:
    lost = sum(judgement.verdict is Verdict.NOT_TRANSLATED for judgement in result.judgements)
    return 100 * lost / max(len(result.judgements), 1)


def _few(result: Result, judged: float) -> Finding:
    return Finding(f"Only {_rounded(judged)} of 100 translations could be judged; {_others(result, judged)}.")


def _too_few(result: Result, judged: float) -> Finding:
    if _not_translated(result) == 100:
        return Finding("Nothing was translated, so nothing can be said about gender.")
    return Finding(
        f"Only {_rounded(judged)} of 100 translations could be judged, too few to say how women and men are treated; "
        f"{_others(result, judged)}."
    )


def _others(result: Result, judged: float) -> str:
    lost = _not_translated(result)
    if lost == 0:
        return "the others show no gender that can be read"
    if judged + lost > 99.95:
        return "the others were not translated"
    return f"{_rounded(lost)} of 100 sentences were not translated, and the others show no gender that can be read"


# -- sentences ---------------------------------------------------------------------------------------------------------


def _women_and_men(women: Estimate, men: Estimate, gap: Estimate | None, do: str, end: str = "") -> Finding:
    text = f"Of 100 women {_share(women)} {do}, of 100 men {_share(men)}{end}"
    compared = _gap(
        gap,
        ": men more often, by {}.",
        ": women more often, by {}.",
        "; no difference is seen ({})."
        if gap is not None and gap.value == 0
        else "; the difference cannot be told from chance ({}).",
    )
    tail, effect = (compared[0].text, compared[0].effect) if compared else (".", 0.0)
    return Finding(f"{text}{tail}{_doubt(women, men)}", effect)


def _gap(gap: Estimate | None, above: str, below: str, unclear: str) -> list[Finding]:
    if gap is None or gap.value is None or gap.low is None or gap.high is None:
        return []
    if gap.low > 0:
        return [Finding(above.format(f"{gap.value:.1f} points{_between(gap, '.1f')}"), gap.value)]
    if gap.high < 0:
        turned = replace(gap, value=-gap.value, low=-gap.high, high=-gap.low)
        return [Finding(below.format(f"{turned.value:.1f} points{_between(turned, '.1f')}"), -gap.value)]
    return [Finding(unclear.format(f"{_signed(gap.low)} to {_signed(gap.high)} points"))]


def _against_half(start: str, share: Estimate, more: str, fewer: str, unclear: str) -> Finding:
    if share.low is not None and share.low > 50:
        compared = more
    elif share.high is not None and share.high < 50:
        compared = fewer
    else:
        compared = unclear
    return Finding(f"{start}, {compared}.", _from_half(share))


def _from_half(share: Estimate) -> float:
    """How far a share is from half, if that is clear."""
    if share.value is None or share.low is None or share.high is None or share.low <= 50 <= share.high:
        return 0.0
    return abs(share.value - 50)


def _doubt(*estimates: Estimate) -> str:
    wide = any(e.low is not None and e.high is not None and e.high - e.low > WIDE for e in estimates)
    return " This is too little data to be sure of much." if wide else ""


# -- numbers -----------------------------------------------------------------------------------------------------------


def _find(result: Result, metric: str, part: str = "all") -> Estimate | None:
    """An estimate that has a value."""
    return next((e for e in result.estimates if (e.metric, e.slice) == (metric, part) and e.value is not None), None)


def _percent(estimate: Estimate) -> Estimate:
    """A probability as a percentage."""
    value, low, high = (None if x is None else 100 * x for x in (estimate.value, estimate.low, estimate.high))
    return replace(estimate, value=value, low=low, high=high)


def _share(estimate: Estimate) -> str:
    return f"{_rounded(estimate.value)}{_between(estimate, '')}"


def _between(estimate: Estimate, form: str) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    if estimate.low == estimate.high:
        return f" ({words.NO_SPREAD})"
    shown = [f"{x:{form}}" if form else _rounded(x) for x in (estimate.low, estimate.high)]
    return f" ({shown[0]} to {shown[1]})"


def _rounded(value: float | None) -> str:
    """Whole numbers, but never "100 of 100" for a little less, nor "50" for what is said to be less than half."""
    if value is None:
        return "?"
    whole = words.percent(value)
    return f"{value:.1f}" if whole in ("0", "50", "100") and abs(value - int(whole)) >= 0.05 else whole


def _signed(value: float) -> str:
    """With a true minus sign, and none before nothing."""
    return f"{round(value, 1) + 0.0:.1f}".replace("-", "−")
