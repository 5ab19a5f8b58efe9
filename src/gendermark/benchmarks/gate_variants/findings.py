"""What the three benchmarks of GATE say about a system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gendermark.benchmarks.findings import (
    Cell,
    Finding,
    Form,
    Presentation,
    TwoRates,
    against_half,
    doubt,
    gap,
    rows_by_run,
    share,
)
from gendermark.benchmarks.gate_variants import ALTERNATIVES as ALTERNATIVES_NAME
from gendermark.benchmarks.gate_variants import (
    DIRECTIONS,
)
from gendermark.benchmarks.gate_variants import (
    REWRITING as REWRITING_NAME,
)
from gendermark.benchmarks.gate_variants import (
    VARIANTS as VARIANTS_NAME,
)
from gendermark.benchmarks.gate_variants.figures import directions, offers, people
from gendermark.result import Result

_HIDDEN = frozenset({"rules", "stereotypes", "stereotype", "changes", "counts"})
_PUBLISHED = "gendermark.benchmarks.gate_variants"
_FEW_READ = 10.0
"""Below so many people of a hundred whose gender could be read, which gender they have is of no interest."""


# -- one translation ---------------------------------------------------------------------------------------------------


def variant_findings(result: Result) -> list[Finding]:
    men, read = result.find("masculine_rate"), result.find("coverage")
    if read is None or read.value is None:
        return []
    known = f"The gender of {share(read)} of 100 people whose gender the sentence leaves open could be read"
    if men is None or read.value < _FEW_READ:
        return [Finding(f"{known}: too few to say which one they get.")]
    start = f"Of 100 people whose gender the sentence leaves open and the translation shows, {share(men)} become men"
    first = against_half(start, men, "more than half", "fewer than half", "not clearly different from half")
    found = [replace(first, text=f"{first.text}{doubt(men)}"), Finding(f"{known}.")]
    found += gap(
        result.find("stereotype_gap"),
        "In occupations that mostly men have, people become men more often than in women's occupations, by {}.",
        "In occupations that mostly men have, people become men less often than in women's occupations, by {}.",
        "People become men about as often in men's occupations as in women's; the difference could be chance ({}).",
    )
    found += gap(
        result.find("work_family_gap"),
        "People named by their occupation become men more often than members of a family, by {}.",
        "People named by their occupation become men less often than members of a family, by {}.",
        "People become men about as often at work as in the family; the difference could be chance ({}).",
    )
    alike = result.find("consistency", "several")
    if alike is not None and alike.value is not None:
        found.append(
            Finding(f"Where a sentence has several such people, all get the same gender in {share(alike)} of 100.")
        )
    return found


def variant_forms(cells: Sequence[Cell]) -> list[Form]:
    columns = {
        "men": ("masculine_rate", "all"),
        "read": ("coverage", "all"),
        "both at once": ("mixed", "all"),
        "occupations": ("masculine_rate", "prof"),
        "family": ("masculine_rate", "fam"),
        "all alike": ("consistency", "several"),
    }
    caption = (
        "One translation of each sentence of GATE (Rarrick et al., 2023): percent of people who become men, of those "
        "whose gender could be read; how many could be read; and sentences whose people all get one gender. The paper "
        "has no such table."
    )
    return [Form(f"{VARIANTS_NAME}-people", caption, list(columns), rows_by_run(cells, list(columns.values())))]


VARIANTS = Presentation(
    findings=variant_findings,
    may_leave_open=True,
    forms=variant_forms,
    figures=(people,),
    two_rates=TwoRates("masculine_rate:all", "feminine_rate:all", gap="imbalance:all", source_tells=False),
    also_shown=("masculine_rate:all", "stereotype_gap:all", "work_family_gap:all", "consistency:several"),
    published=_PUBLISHED,
    hidden_tags=_HIDDEN,
    shares_one_scale=False,
)


# -- several translations ----------------------------------------------------------------------------------------------


def alternative_findings(result: Result) -> list[Finding]:
    tried, right, both = (result.find(metric, "one") for metric in ("attempt_rate", "recall", "both_rate"))
    several = result.find("combination_recall", "several")
    found = []
    if tried is not None and right is not None and tried.value is not None:
        text = f"Of 100 sentences about one person whose gender is open, {share(tried)} have more than one translation"
        if both is not None and both.value is not None:
            text += f", {share(both)} a feminine and a masculine one"
        text += f"; for {share(right)} both are offered as they should be."
        found.append(Finding(f"{text}{doubt(right)}"))
    men, women = result.find("only_men", "one"), result.find("only_women", "one")
    if men is not None and women is not None and men.value is not None and (men.value or women.value):
        found.append(
            Finding(
                f"Of 100 such sentences {share(men)} show the person as a man only, {share(women)} as a woman only."
            )
        )
    if several is not None and several.value is not None:
        text = (
            f"Where there are several such people, {share(several)} of 100 combinations of their genders are offered."
        )
        found.append(Finding(text))
    return found


def alternative_forms(cells: Sequence[Cell]) -> list[Form]:
    columns = {
        "tried": ("attempt_rate", "one"),
        "P": ("precision", "one"),
        "R": ("recall", "one"),
        "F0.5": ("f_half", "one"),
        "combinations": ("combination_recall", "several"),
    }
    caption = (
        "In the form of the end-to-end evaluation of Rarrick et al. (2023), which people judged: sentences with more "
        "than one translation; precision, recall and F0.5 of both genders being offered; and, of several people, "
        "how many combinations of genders are."
    )
    return [Form(f"{ALTERNATIVES_NAME}-end-to-end", caption, list(columns), rows_by_run(cells, list(columns.values())))]


ALTERNATIVES = Presentation(
    findings=alternative_findings,
    forms=alternative_forms,
    figures=(offers,),
    beside_published=("precision:one", "recall:one", "f_half:one"),
    published=_PUBLISHED,
    hidden_tags=_HIDDEN,
)


# -- a rewriter --------------------------------------------------------------------------------------------------------

_INTO = {"f2m": "feminine translations made masculine", "m2f": "masculine translations made feminine"}


def rewriting_findings(result: Result) -> list[Finding]:
    found = []
    for direction in DIRECTIONS:
        tried, right, exact = (result.find(metric, direction) for metric in ("attempt_rate", "recall", "precision"))
        if tried is None or right is None or right.value is None:
            continue
        text = f"Of 100 {_INTO[direction]}, {share(right)} are exactly the reference"
        if exact is not None and exact.value is not None and tried.value is not None and tried.value < 100:
            text += f"; of 100 that it rewrote at all ({share(tried)} of 100), {share(exact)} are"
        found.append(Finding(f"{text}.{doubt(right)}"))
    return found


def rewriting_forms(cells: Sequence[Cell]) -> list[Form]:
    shown = {"P": "precision", "R": "recall", "F0.5": "f_half"}
    columns = {f"{name} {direction}": (metric, direction) for direction in DIRECTIONS for name, metric in shown.items()}
    caption = (
        "In the form of the table of rewriters of Rarrick et al. (2023): precision, recall and F0.5, in percent, from "
        "feminine to masculine (f2m) and from masculine to feminine (m2f)."
    )
    return [Form(f"{REWRITING_NAME}-rewriters", caption, list(columns), rows_by_run(cells, list(columns.values())))]


REWRITING = Presentation(
    findings=rewriting_findings,
    forms=rewriting_forms,
    figures=(directions,),
    leading="f_half",
    beside_published=tuple(f"f_half:{direction}" for direction in DIRECTIONS),
    published=_PUBLISHED,
    hidden_tags=_HIDDEN,
)
