"""Alpha, the power of the similarity in S3E: given, tuned on these judgements, or tuned in another run.

As text: `16`; `tuned`; `tuned:RUN_FOLDER`, which is resolved to `tuned=8@RUN`, so that stored and signed values do not
depend on that folder.
"""

from __future__ import annotations

import hashlib
import math
import re
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gendermark.benchmarks.uncertainty import Settings
from gendermark.errors import BadFile, UserError
from gendermark.io.disk_list import cached
from gendermark.io.textfiles import read_json
from gendermark.metrics.metric import Floats
from gendermark.metrics.uncertainty import ALPHAS
from gendermark.records import Judgement, Table

_TIE = 1e-12
"""Correlations closer than this are equal."""


def correlation(first: Floats, second: Floats) -> float | None:
    """Pearson's; `None` with fewer than two pairs, or if one side is constant."""
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    x, y = first - first.mean(), second - second.mean()
    return min(1.0, max(-1.0, float(x @ y) / (float(np.linalg.norm(x)) * float(np.linalg.norm(y)))))


class AlphaRow(NamedTuple):
    """For one alpha: correlation of S3E with gender entropy on each half, and mean S3E of all items."""

    alpha: float
    development: float | None
    held_out: float | None
    mean_entropy: float


class AlphaTuning(NamedTuple):
    """All alphas, and the one with the highest correlation on the development half."""

    curve: Sequence[AlphaRow]
    best: AlphaRow | None
    """The smallest of equally good ones; `None` if no correlation is defined."""
    edge: str
    """`smallest` or `largest` if the best alpha is at that end of the range: a better one may lie beyond."""

    @property
    def alpha(self) -> float | None:
        return self.best.alpha if self.best else None


def _tuned(curve: Sequence[AlphaRow]) -> AlphaTuning:
    best, highest = None, -math.inf
    for row in curve:
        if row.development is not None and row.development > highest + _TIE:
            best, highest = row, row.development
    for edge, rows in (("smallest", curve), ("largest", curve[::-1])):
        # If the next alpha is as good, there is no slope beyond the range.
        if len(rows) > 1 and rows[0] is best and highest > (rows[1].development or 0.0) + _TIE:
            return AlphaTuning(curve, best, edge)
    return AlphaTuning(curve, best, "")


def in_development_half(contrast_set: str) -> bool:
    """Half of the contrast sets, by a hash of their names: independent of machine and system."""
    return hashlib.sha256(contrast_set.encode()).digest()[0] % 2 == 0


@cached
def tuning_of(judgements: Sequence[Judgement]) -> AlphaTuning:
    """Find the alpha whose S3E correlates best with the entropy of gender labels (Appendix B of the paper).

    It is fitted to the labels that it is later compared with, so it is chosen on one half of the contrast sets; the
    correlation on the other half is unbiased. Sentences without samples or gender entropy are left out. Larger alphas
    are tried only while the largest so far is the best.
    """
    half, genders = array("b"), array("d")
    columns: dict[str, array[float]] = defaultdict(lambda: array("d"))  # there may be many sentences
    for judgement in judgements:
        entropies = {name: h for name, h in judgement.measures.items() if name.startswith("h_s3e@")}
        if entropies and "h_gender" in judgement.measures:
            half.append(in_development_half(judgement.contrast))
            genders.append(judgement.measures["h_gender"])
            for name, entropy in entropies.items():
                columns[name].append(entropy)
    development, labels = np.array(half, dtype=bool), np.array(genders, dtype=np.float64)
    rows = []
    for alpha, own in sorted((float(name.partition("@")[2]), column) for name, column in columns.items()):
        if len(own) == len(labels):
            values = np.array(own, dtype=np.float64)
            fit, other = (correlation(values[side], labels[side]) for side in (development, ~development))
            rows.append(AlphaRow(alpha, fit, other, float(values.mean())))
    largest = ALPHAS[-1]
    while True:
        tuning = _tuned([row for row in rows if row.alpha <= largest])
        if tuning.edge != "largest" or len(tuning.curve) == len(rows):
            return tuning
        largest *= 2


ALPHA = 16.0
MOST_ALPHA = 524288.0
"""Largest alpha accepted or tried; a cosine of 0.9999 to this power is 0."""
WIDE_ALPHAS = (*ALPHAS, *takewhile(lambda alpha: alpha <= MOST_ALPHA, (ALPHAS[-1] * 2**n for n in range(1, 64))))
"""Alphas to compute for tuning: doubled until the best is not the last."""
_FROM_RUN = "tuned:"
_TAKEN = re.compile(r"tuned=(?P<alpha>[^@]+)@(?P<run>.+)")
_SIGNED = re.compile(r"(?P<similarity>.*),alpha-(?P<tuned>tuned=)?(?P<alpha>[^@]*)(?:@(?P<run>.*))?")
_UNSIGNABLE = re.compile(r"[^\w.-]+")
_TOO_ALIKE, _TOO_NEAR = 0.99, 0.02
"""Correlation of S3E with string entropy, and mean relative difference, at which they are practically equal."""


def parse_alpha(text: str) -> float | None:
    """The number, if known before judging."""
    taken = _TAKEN.fullmatch(text)
    try:
        value = float(taken["alpha"] if taken else text)
    except ValueError:
        return None
    return value if 0 < value <= MOST_ALPHA else None


def completed_alpha(settings: Settings, similarity: str) -> str:
    """Return alpha as it is stored; `similarity` is the name of the similarity measure."""
    text = settings.alpha or f"{ALPHA:g}"
    if text.startswith(_FROM_RUN):
        return _from_run(text.removeprefix(_FROM_RUN), settings.cell, similarity)
    if text != "tuned" and parse_alpha(text) is None:
        raise UserError(
            f"--alpha is a number above 0, at most {MOST_ALPHA:.0f}, or tuned, or tuned:RUN_FOLDER, not {text!r}"
        )
    return text


def chosen_alpha(judgements: Sequence[Judgement], wanted: str) -> float:
    return parse_alpha(wanted) or tuning_of(judgements).alpha or ALPHA


def settled_alpha(judgements: Sequence[Judgement], wanted: str) -> str:
    if wanted != "tuned":
        return wanted
    best = tuning_of(judgements).alpha
    return f"{ALPHA:g}" if best is None else f"tuned={best:g}"


def as_compared(conditions: Mapping[str, str]) -> Mapping[str, str]:
    """Conditions of a result with signed similarity, alpha and entailment: equal values compare equal, however alpha
    was found and wherever the model is stored."""
    found = dict(conditions)
    signed = found.pop("similarity as signed", found.get("similarity", ""))
    parts = _SIGNED.fullmatch(signed)
    found["similarity"] = parts["similarity"] if parts else signed
    if parts:
        found["alpha"] = parts["alpha"]
    if entailment := found.pop("entailment as signed", ""):
        found["entailment"] = entailment
    return found


def _from_run(run: str, cell: str, similarity: str) -> str:
    """The alpha tuned in another run, from its signature: of this direction, or of its only one."""
    folder = Path(run)
    if not folder.is_dir():
        raise UserError(f"--alpha tuned:{run}: there is no such run folder; give one that `gendermark run -o` wrote")
    benchmark = cell.partition(".")[0]
    paths = sorted(folder.glob(f"{benchmark}.*/result.json"))
    own = [path for path in paths if path.parent.name == cell] or paths
    if len(own) != 1:
        there = ", ".join(path.parent.name for path in paths) or "none"
        raise UserError(f"--alpha tuned:{run}: it has no result of {cell} to take alpha from; available: {there}")
    row = read_json(own[0])
    signature = row.get("signature") if isinstance(row, dict) else None
    if not isinstance(signature, str):
        raise BadFile(own[0], "has no signature; give a folder that `gendermark run -o` wrote")
    signed = dict(part.partition(":")[::2] for part in signature.split("|"))
    found = _SIGNED.fullmatch(signed.get("similarity", ""))
    if found is None or not (found["tuned"] and parse_alpha(found["alpha"])):
        used = f"; it had --alpha {found['alpha']}, which can be given as such" if found else ""
        raise UserError(f"--alpha tuned:{run}: alpha was not tuned in that run{used}")
    if found["similarity"] != similarity:
        raise UserError(
            f"--alpha tuned:{run}: alpha was tuned for the similarity {found['similarity']}, and does not suit "
            f"{similarity}; give the same --similarity, or tune anew"
        )
    where = own[0].parent.name
    name = folder.resolve().name + ("" if where == cell else f".{where.partition('.')[2]}")
    return f"tuned={found['alpha']}@{found['run'] or _UNSIGNABLE.sub('-', name)}"


def alpha_table(judgements: Sequence[Judgement]) -> Table:
    tuning = tuning_of(judgements)
    rows = [
        (
            row.alpha,
            *(None if value is None else round(value, 4) for value in row[1:]),
            "best" if row is tuning.best else "",
        )
        for row in tuning.curve
    ]
    columns = ("alpha", "correlation, development half", "correlation, other half", "mean S3E", "tuned")
    return Table("alpha", "Effect of alpha on S3E: correlation with gender entropy", columns, rows)


def alpha_remarks(judgements: Sequence[Judgement], wanted: str) -> list[str]:
    if wanted == "tuned":
        tuning = tuning_of(judgements)
        if tuning.alpha is None:
            return [
                "alpha could not be tuned, for S3E or gender entropy is unknown or the same in all sentences of the "
                f"development half: it is {ALPHA:g}"
            ]
        beyond = (
            f"alpha was tuned to {tuning.alpha:g}, the {tuning.edge} that was tried: another beyond it may fit better"
        )
        return [*([beyond] if tuning.edge else []), *_nearly_strings(judgements, tuning.alpha)]
    alpha = parse_alpha(wanted)
    return _nearly_strings(judgements, alpha) if alpha and _TAKEN.fullmatch(wanted) else []


def _nearly_strings(judgements: Sequence[Judgement], alpha: float) -> list[str]:
    names = (f"h_s3e@{alpha:g}", "h_string")
    found = array("d")
    for j in judgements:
        if all(name in j.measures for name in names) and j.measures[names[1]] > 0:
            found.extend(j.measures[name] for name in names)
    values = np.array(found, dtype=np.float64).reshape(-1, 2)
    if not len(values):
        return []
    together = correlation(values[:, 0], values[:, 1]) or 0.0
    apart = float(np.mean(1 - values[:, 0] / values[:, 1]))
    if together <= _TOO_ALIKE and apart >= _TOO_NEAR:
        return []
    return [
        f"with alpha {alpha:g} S3E is almost the entropy of the strings (correlation {together:.3f}, {apart:.1%} below "
        "it on average): it says little about meaning that `h_string` does not"
    ]
