"""Names for people: languages, benchmarks, metrics, slices; and numbers in the precision they deserve."""

from __future__ import annotations

import math

from gendermark.linguistics import codes
from gendermark.records import Estimate
from gendermark.result import number

LANGUAGES = codes.NAMES
RIGHT_TO_LEFT = codes.RIGHT_TO_LEFT
NO_SPREAD = "no spread seen"
"""For an interval without width: all groups of sentences gave the same, which does not make the number certain."""

METRICS = {
    "accuracy": "right gender",
    "anti": "right where it goes against the stereotype",
    "awareness_gender": "less sure of the gender where it is open",
    "awareness_s3e": "less sure of the meaning where the gender is open",
    "bleu_feminine": "BLEU of feminine sentences",
    "bleu_masculine": "BLEU of masculine sentences",
    "control_gap": "the quality gap that the references themselves have",
    "correct": "right gender",
    "coverage": "could be judged",
    "decided_accuracy": "right, of those that show a gender",
    "delta": "stereotype's advantage (Δ)",
    "delta_fc": "stereotype's advantage among women (ΔFC)",
    "delta_g": "men minus women, in F1 (ΔG)",
    "delta_i_s3e": "surprise at the right against the wrong gender (ΔI)",
    "delta_mc": "stereotype's advantage among men (ΔMC)",
    "delta_qual": "masculine minus feminine, in BLEU (Δqual)",
    "delta_s": "stereotype's advantage (ΔS)",
    "distance_from_even": "distance from an even choice where it is open",
    "f1_feminine": "F1 of the feminine",
    "f1_masculine": "F1 of the masculine",
    "failed": "not translated",
    "imbalance": "men minus women",
    "incorrect": "wrong gender",
    "inconclusive": "no gender to be read",
    "masculine_share": "masculine, where the gender is open",
    "mixed": "both genders at once",
    "p_failed": "not translated",
    "p_feminine": "feminine",
    "p_m": "as a man",
    "p_mixed": "both at once",
    "p_n": "left open",
    "p_right": "right gender, of samples",
    "p_s": "neutral rather than one-sided (P_S)",
    "p_w": "as a woman",
    "pair_accuracy": "he and she versions both right",
    "pro": "right where it fits the stereotype",
    "recall_gap": "men minus women, in right gender",
    "tgbi": "neutral rather than one-sided (TGBI)",
}
_METRICS_OF_SLICES = {
    ("accuracy", "feminine"): "right gender, of women",
    ("accuracy", "masculine"): "right gender, of men",
    ("correct", "fc"): "right gender, of women",
    ("correct", "mc"): "right gender, of men",
    ("distance_from_even", "ambiguous"): "distance from an even choice, where the gender is open",
    ("distance_from_even", "neutral"): "distance from an even choice, where the gender is open",
    ("masculine_share", "neutral"): "masculine, where the gender is open",
    ("p_right", "unambiguous"): "right gender, of samples",
}
SLICES = {
    "all": "all",
    "ambiguous": "gender open",
    "anti": "against the stereotype",
    "fc": "women",
    "feminine": "feminine",
    "fofc": "women in women's occupations",
    "fomc": "men in women's occupations",
    "masculine": "masculine",
    "mc": "men",
    "members": "single sentences",
    "mf": "gender told",
    "mofc": "women in men's occupations",
    "momc": "men in men's occupations",
    "neutral": "gender open",
    "object": "the person is the object",
    "pro": "with the stereotype",
    "stereotyped": "with or against a stereotype",
    "subject": "the person is the subject",
    "unambiguous": "gender told",
}
# Entropies, surprisals and probabilities of samples; what else `uncertainty` gives is in percent.
_PERCENT_OF_UNCERTAINTY = ("awareness_", "decided", "n_distinct")


def language(code: str) -> str:
    return LANGUAGES.get(code, code)


def direction(source: str, target: str) -> str:
    return f"{language(source)} → {language(target)}"


def metric(name: str, part: str = "all") -> str:
    """A metric of a slice in words; its own name where there are none."""
    if (name, part) in _METRICS_OF_SLICES:
        return _METRICS_OF_SLICES[name, part]
    words = METRICS.get(name, name)
    return words if part == "all" else f"{words}: {slice_name(part)}"


def slice_name(part: str) -> str:
    return SLICES.get(part, part.replace("-", " "))


def is_small(name: str, benchmark: str) -> bool:
    """Whether a number is on a scale where a second and a third decimal matter."""
    return benchmark == "uncertainty" and not name.startswith(_PERCENT_OF_UNCERTAINTY)


def is_fraction(name: str, benchmark: str) -> bool:
    """Whether a number is no percentage, so that its differences are no points."""
    return is_small(name, benchmark) or benchmark == "tgbi"


def value(amount: float | None, name: str, benchmark: str) -> str:
    """A number as people read it, with a true minus sign."""
    shown = f"{amount:.3f}" if amount is not None and is_small(name, benchmark) else number(amount, name)
    # Rounding must not leave a minus before nothing.
    return shown.lstrip("-") if not shown.strip("-0.") else shown.replace("-", "−")


def interval(estimate: Estimate, benchmark: str) -> str:
    if estimate.low is None or estimate.high is None:
        return "no interval"
    if estimate.low == estimate.high:
        return NO_SPREAD
    return " to ".join(value(end, estimate.metric, benchmark) for end in (estimate.low, estimate.high))


def percent(amount: float) -> str:
    """A share of 100 without decimals; halves go up, so that a figure and a table never disagree."""
    return f"{math.floor(amount + 0.5 + 1e-9)}"


def letter(run: int) -> str:
    """How the run at this place is called, on a page and in its figures."""
    return chr(ord("A") + run) if run < 26 else f"S{run + 1}"


def p_value(p: float) -> str:
    return "p < 0.0001" if p < 0.0001 else f"p {p:.4f}"
