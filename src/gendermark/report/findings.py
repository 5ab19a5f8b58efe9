"""What the estimates say, in plain sentences that are never surer than their intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gendermark.records import Estimate
from gendermark.result import Result

WIDE = 40.0
"""An interval of so many points says little, whatever is in its middle."""
HARDLY_ANY = 0.1
"""Nats of gender entropy; an even choice between two has 0.69."""
FEW_JUDGED = 90.0
"""Below so many judged of a hundred, the reader is told."""


def findings(result: Result) -> list[str]:
    """The sentences for one benchmark and direction of one system."""
    say = _SENTENCES.get(result.selection.benchmark)
    sentences = say(result) if say else []
    return sentences or ["Too little was translated to say anything."]


def _simplegen(result: Result) -> list[str]:
    women, men = _find(result, "correct", "fc"), _find(result, "correct", "mc")
    if women is None or men is None:
        return []
    return [
        f"Of 100 women {_share(women)} are translated as women, of 100 men {_share(men)} as men.{_doubt(women, men)}",
        *_gap(
            _find(result, "delta"),
            "Whoever fits the stereotype of the occupation gets the right gender more often, by {}.",
            "Whoever fits the stereotype of the occupation gets the right gender less often, by {}.",
            "Whether people who fit the stereotype get the right gender more often cannot be told from chance ({}).",
        ),
        *_unjudged([e for e in (women, men) if e]),
    ]


def _winomt(result: Result) -> list[str]:
    told = _find(result, "accuracy", "mf") or _find(result, "accuracy")
    if told is None:
        return []
    coverage = _find(result, "coverage")
    sentences = [
        f"Where the sentence tells the gender of the person meant, {_share(told)} of 100 translations keep "
        f"it.{_doubt(told)}",
        *_gap(
            _find(result, "delta_s"),
            "It is kept more often where it fits the stereotype of the occupation, by {}.",
            "It is kept less often where it fits the stereotype of the occupation, by {}.",
            "Whether a gender that fits the stereotype is kept more often cannot be told from chance ({}).",
        ),
        *_gap(
            _find(result, "delta_g"),
            "Men are given the right gender more reliably than women, by {} of F1.",
            "Women are given the right gender more reliably than men, by {} of F1.",
            "Whether men or women are given it more reliably cannot be told from chance ({}).",
        ),
    ]
    open_gender = _find(result, "masculine_share", "neutral")
    if open_gender is not None and open_gender.low is not None and open_gender.high is not None:
        what = f"{_share(open_gender)} of 100 translations that choose one choose the masculine"
        verdict = (
            ", more than half"
            if open_gender.low > 50
            else ", fewer than half"
            if open_gender.high < 50
            else ", which cannot be told from half"
        )
        sentences.append(f"Where the sentence leaves the gender open, {what}{verdict}.")
    return sentences + (_few(coverage.value) if coverage and coverage.value is not None else [])


def _counterfactual(result: Result) -> list[str]:
    pairs, coverage = _find(result, "accuracy"), _find(result, "coverage", "members")
    quality = _find(result, "delta_qual")
    unclear = "Whether masculine or feminine sentences are translated better cannot be told from chance ({} of BLEU)."
    if quality and quality.low == quality.high == 0:
        unclear = "Masculine and feminine sentences are translated equally well, as far as BLEU can tell."
    if pairs is None:
        return []
    return [
        f"Of 100 pairs of sentences that differ in gender only, {_share(pairs)} are right in both.{_doubt(pairs)}",
        *_gap(
            quality,
            "The masculine sentences are translated better, by {} of BLEU.",
            "The feminine sentences are translated better, by {} of BLEU.",
            unclear,
        ),
        *(_few(coverage.value) if coverage and coverage.value is not None else []),
    ]


def _contextual(result: Result) -> list[str]:
    decided, coverage = _find(result, "decided_accuracy"), _find(result, "coverage")
    if decided is None or decided.low is None or decided.high is None:
        return []
    compared = (
        ", more than guessing would give"
        if decided.low > 50
        else ", fewer than guessing would give"
        if decided.high < 50
        else ", which cannot be told from guessing"
    )
    return [
        f"Where only the sentence before tells the gender, {_share(decided)} of 100 translations that show a gender "
        f"show the right one{compared}.{_doubt(decided)}",
        *(_few(coverage.value) if coverage and coverage.value is not None else []),
    ]


def _tgbi(result: Result) -> list[str]:
    index, imbalance = _find(result, "tgbi"), _find(result, "imbalance")
    if index is None or index.value is None:
        return []
    sentences = [
        f"On a scale from 0 (one gender only) to 1 (neutral or balanced) pronouns that leave gender open score "
        f"{index.value:.2f}{_between(index, '.2f')}."
    ]
    if imbalance is not None and imbalance.low is not None and imbalance.high is not None:
        who = (
            "men more often than women"
            if imbalance.low > 0
            else "women more often than men"
            if imbalance.high < 0
            else "men and women about equally often, as far as can be told"
        )
        sentences.append(f"They become {who}.")
    return sentences


def _uncertainty(result: Result) -> list[str]:
    right, aware = _find(result, "p_right", "unambiguous"), _find(result, "awareness_gender")
    feminine, hesitation = _find(result, "p_feminine", "ambiguous"), _find(result, "h_gender", "ambiguous")
    if right is None or aware is None or aware.low is None or aware.high is None:
        return []
    sentences = [
        f"Where the sentence tells the gender, {_share(_percent(right))} of 100 sampled translations have it."
        f"{_doubt(_percent(right))}"
    ]
    neutral = _find(result, "p_neutral", "ambiguous")
    if neutral is not None and neutral.low is not None and neutral.low > 0.5:
        return [
            *sentences,
            f"Where the sentence leaves the gender open, {_share(_percent(neutral))} of 100 leave it open too.",
        ]
    pairs = f"in {_share(aware)} of 100 pairs of sentences that differ in this alone"
    if aware.low > 50:
        sentences.append(f"It is less sure of the gender where the sentence leaves it open, {pairs}, as it should be.")
    elif aware.high < 50:
        sentences.append(f"It is less sure of the gender where the sentence leaves it open only {pairs}: surer there.")
    else:
        sentences.append(f"That it is less sure where the gender is open cannot be told from chance ({pairs}).")
    if feminine is not None and hesitation is not None and hesitation.value is not None:
        leaning = f"Where the gender is open, {_share(_percent(feminine))} of 100 sampled translations are feminine"
        if hesitation.value < HARDLY_ANY:
            sentences.append(
                f"{leaning}, and of one sentence nearly all have the same: that is certainty, not fairness."
            )
        else:
            sentences.append(f"{leaning}.")
    return sentences


_SENTENCES: dict[str, Callable[[Result], list[str]]] = {
    "mt-geneval-contextual": _contextual,
    "mt-geneval-counterfactual": _counterfactual,
    "simplegen": _simplegen,
    "tgbi": _tgbi,
    "uncertainty": _uncertainty,
    "winomt": _winomt,
}


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
    shown = [f"{x:{form}}" if form else _rounded(x) for x in (estimate.low, estimate.high)]
    return f" ({shown[0]} to {shown[1]})"


def _rounded(value: float | None) -> str:
    """Whole numbers, but never "100 of 100" for what is a little less."""
    if value is None:
        return "?"
    whole = round(value)
    return f"{value:.1f}" if whole in (0, 100) and abs(value - whole) >= 0.05 else str(whole)


def _gap(gap: Estimate | None, above: str, below: str, unclear: str) -> list[str]:
    if gap is None or gap.value is None or gap.low is None or gap.high is None:
        return []
    if gap.low > 0:
        return [above.format(f"{gap.value:.1f} points ({gap.low:.1f} to {gap.high:.1f})")]
    if gap.high < 0:
        return [below.format(f"{-gap.value:.1f} points ({-gap.high:.1f} to {-gap.low:.1f})")]
    return [unclear.format(f"{gap.low:.1f} to {gap.high:.1f} points")]


def _doubt(*estimates: Estimate) -> str:
    wide = any(e.low is not None and e.high is not None and e.high - e.low > WIDE for e in estimates)
    return " This is too little data to be sure of much." if wide else ""


def _unjudged(estimates: Sequence[Estimate]) -> list[str]:
    n_total = sum(e.n_total for e in estimates)
    return _few(100 * sum(e.n_judged for e in estimates) / n_total) if n_total else []


def _few(judged: float) -> list[str]:
    if judged >= FEW_JUDGED:
        return []
    return [f"Only {_rounded(judged)} of 100 translations could be judged; the others show no gender that can be read."]
