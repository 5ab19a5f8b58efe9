"""What the metrics of uncertainty are called, count in and mean."""

from __future__ import annotations

from dataclasses import replace

from gendermark.benchmarks.uncertainty.items import AMBIGUOUS, UNAMBIGUOUS
from gendermark.metrics.describe import Better, Description
from gendermark.records import Unit

PAIRED = {UNAMBIGUOUS: "paired-unambiguous", AMBIGUOUS: "paired-ambiguous"}
"""The slices of contrast sets that have both kinds of sentence."""
SLICES = {
    AMBIGUOUS: "gender open",
    UNAMBIGUOUS: "gender told",
    PAIRED[UNAMBIGUOUS]: "gender told, mean of contrast sets",
    PAIRED[AMBIGUOUS]: "gender open, mean of contrast sets",
}
_KINDS = {
    "gender": "the noun's gender",
    "s3e": "the meaning, by degrees (S3E)",
    "string": "the whole text",
    "semantic": "the meaning, by entailment",
}


def _descriptions() -> dict[str, Description]:
    found: list[Description] = []

    def add(name: str, label: str, meaning: str, unit: Unit, better: Better = "neither", symbol: str = "") -> None:
        found.append(Description(name, label, meaning, unit, better, symbol))

    for kind, what in _KINDS.items():
        shown = kind.upper() if kind == "s3e" else kind
        less_sure = "less sure of the gender" if kind == "gender" else f"less sure of {what.partition(',')[0]}"
        add(
            f"awareness_{kind}",
            f"{less_sure} where {'it' if kind == 'gender' else 'the gender'} is open",
            "Pairs of an ambiguous and an unambiguous version of a sentence in which the system is less sure of "
            f"{what} of the first; ties count half.",
            Unit.PERCENT,
            "higher",
            "awareness" if kind == "gender" else "",
        )
        found[-1] = replace(found[-1], even=50.0)
        entropy, told = f"entropy of {what}", "where the gender is told minus where it is open"
        add(f"h_{kind}", entropy, f"Mean entropy of the samples, of {what}.", Unit.NATS, symbol=f"{shown} entropy")
        below = "below 0, the system is less sure where the gender is open"
        for pooled, where, over in (
            ("", "", "within contrast sets that have both, each weighing the same"),
            ("_pooled", ", all sentences", "over all sentences, whether they have other versions or not"),
        ):
            add(
                f"delta_h{pooled}_{kind}",
                f"relative change in the {entropy}{where} (ΔH)",
                f"h_{kind} {told}, {over}, divided by the former; {below}.",
                Unit.RATIO,
                "lower",
                f"ΔH ({shown}{where})",
            )
            change = f"change in the {entropy}{where}"
            add(f"gap_h{pooled}_{kind}", change, f"h_{kind} {told}, {over}; {below}.", Unit.NATS, "lower")
        surprise = "surprise at the right against the wrong gender"
        minus = f"Surprisal, by {what}, of the right minus that of the wrong reference"
        add(
            f"delta_i_{kind}",
            f"{surprise} (ΔI)" if kind == "s3e" else f"{surprise}, by {what} (ΔI)",
            f"{minus}, divided by the former; below 0 is good.",
            Unit.RATIO,
            "lower",
            f"ΔI ({shown})",
        )
        add(f"gap_i_{kind}", f"{surprise}, by {what}, in nats", f"{minus}; below 0 is good.", Unit.NATS, "lower")
        for side in ("right", "wrong"):
            surprisal = f"surprise at the {side} reference, by {what}"
            add(f"i_{side}_{kind}", surprisal, f"Mean surprisal of the {side} reference, by {what}.", Unit.NATS)
        error = f"standard error of a sentence's {entropy}"
        add(
            f"h_{kind}_se",
            error,
            f"How far h_{kind} of a sentence would move with new samples, on average.",
            Unit.NATS,
        )
    where_told = {UNAMBIGUOUS: "right gender, of samples"}
    found.append(
        Description(
            "p_right",
            "right gender, of samples",
            "Samples with the right gender, of those that show one.",
            Unit.PROBABILITY,
            "higher",
            "P(right)",
            labels=where_told,
        )
    )
    found.append(
        Description(
            "p_feminine", "feminine", "Feminine among masculine and feminine samples.", Unit.PROBABILITY, even=0.5
        )
    )
    add("p_neutral", "left open", "Samples that leave the gender open.", Unit.PROBABILITY)
    found.append(
        Description(
            "distance_from_even",
            "distance from an even choice where it is open",
            "How far p_feminine of a sentence is from one half, on average.",
            Unit.PROBABILITY,
            "lower",
            "distance from even",
            labels={AMBIGUOUS: "distance from an even choice, where the gender is open"},
        )
    )
    for kind in ("string", "gender"):
        entropy = f"entropy of {_KINDS[kind]}"
        meaning = f"h_{kind} with the correction of Miller and Madow for few samples."
        add(f"h_{kind}_corrected", f"{entropy}, corrected", meaning, Unit.NATS)
    add("h_within", "entropy within a gender", "The part of h_string that is not of the gender.", Unit.NATS)
    add("n_distinct", "distinct translations", "Mean number of distinct samples of a sentence.", Unit.COUNT)
    add("decided", "samples that show a gender", "Samples whose gender could be read, of all.", Unit.PERCENT)
    add(
        "chrf",
        "quality of the samples (chrF)",
        "Mean chrF of a sentence's samples against its right reference; the better of both where the gender is open.",
        Unit.SCORE,
        "higher",
        "chrF",
    )
    add("nll", "surprise at its own samples", "Mean negative log-probability of a sample.", Unit.NATS)
    add("nll_per_token", "the same per token", "Mean negative log-probability of a token.", Unit.NATS)
    return {about.name: about for about in found}


DESCRIBED = _descriptions()
