"""BLEU and chrF as sums over segments, so that their gaps can be resampled like any other metric.

Segment statistics are sacreBLEU's; the score of their sums is computed here for many resamples at once, and equals
sacreBLEU's (tested).
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from gendermark.errors import UserError
from gendermark.io.textfiles import write_lines
from gendermark.metrics.metric import PERCENT, Better, Combined, Description, Floats, Metric
from gendermark.records import Unit

_COMET_SEGMENT = re.compile(r"Segment \d+\s+score: (-?[\d.]+)")
BLEU_COLUMNS = ("sys_len", "ref_len", *(f"correct{n}" for n in range(1, 5)), *(f"total{n}" for n in range(1, 5)))
CHRF_ORDERS = 6
CHRF_COLUMNS = tuple(f"{kind}{n}" for n in range(1, CHRF_ORDERS + 1) for kind in ("hyp", "ref", "match"))


@cache
def _scorer(name: str) -> Any:
    return getattr(import_module("sacrebleu.metrics"), name)()


def signature() -> str:
    sacrebleu = import_module("sacrebleu")
    return f"sacrebleu-{sacrebleu.__version__},bleu-13a-exp,chrf-6-2"


def bleu_statistics(hypotheses: Sequence[str], references: Sequence[str]) -> list[dict[str, float]]:
    rows = _scorer("BLEU")._extract_corpus_statistics(hypotheses, [references])
    return [dict(zip(BLEU_COLUMNS, map(float, row), strict=True)) for row in rows]


def chrf_statistics(hypotheses: Sequence[str], references: Sequence[str]) -> list[dict[str, float]]:
    rows = _scorer("CHRF")._extract_corpus_statistics(hypotheses, [references])
    return [dict(zip(CHRF_COLUMNS, map(float, row), strict=True)) for row in rows]


def edit_statistics(hypotheses: Sequence[str], references: Sequence[str]) -> list[dict[str, float]]:
    """Per segment: word edits from hypothesis to reference, and reference words."""
    pairs = [(one.split(), other.split()) for one, other in zip(hypotheses, references, strict=True)]
    return [{"edits": float(_n_edits(said, wanted)), "words": float(len(wanted))} for said, wanted in pairs]


def _n_edits(one: Sequence[str], other: Sequence[str]) -> int:
    """Word-level Levenshtein distance, row by row."""
    ids = {word: number for number, word in enumerate(dict.fromkeys([*one, *other]))}
    target = np.array([ids[word] for word in other], dtype=np.int64)
    ramp = np.arange(len(other) + 1)
    row = ramp.copy()
    for place, word in enumerate(one, start=1):
        best = np.minimum(row[1:] + 1, row[:-1] + (target != ids[word]))
        # Insertions run along the row: minimum over cells to the left plus the distance.
        row = np.minimum.accumulate(np.concatenate([[place], best]) - ramp) + ramp
    return int(row[-1])


def mean_value(total: Floats, count: Floats) -> Floats:
    """Mean of segment scores, in hundredths; word edits per hundred words."""
    return 100.0 * total / count


def bleu_value(*columns: Floats) -> Floats:
    """Corpus BLEU from summed statistics, with sacreBLEU's exponential smoothing; NaN without any reference words."""
    sys_len, ref_len = columns[:2]
    log_sum = np.zeros_like(sys_len, dtype=np.float64)
    smooth = np.ones_like(log_sum)
    with np.errstate(divide="ignore", invalid="ignore"):
        for correct, total in zip(columns[2:6], columns[6:10], strict=True):
            unmatched = (correct == 0) & (total > 0)
            smooth = np.where(unmatched, smooth * 2, smooth)
            precision = np.where(unmatched, 100.0 / (smooth * total), 100.0 * correct / total)
            log_sum = log_sum + np.log(np.where(total > 0, precision, np.nan))
        penalty = np.where(sys_len < ref_len, np.exp(1 - ref_len / sys_len), 1.0)
        score = penalty * np.exp(log_sum / 4)
    # Without any matched word sacreBLEU returns 0, despite smoothing.
    score = np.where(columns[2] == 0, 0.0, score)
    return np.where(ref_len > 0, np.where(sys_len > 0, np.nan_to_num(score), 0.0), np.nan)


def chrf_value(*columns: Floats) -> Floats:
    beta_squared = 4.0
    precision_sum = recall_sum = order_count = np.zeros_like(columns[0], dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        for n in range(CHRF_ORDERS):
            hyp, ref, match = columns[3 * n : 3 * n + 3]
            defined = (hyp > 0) & (ref > 0)
            precision_sum = precision_sum + np.where(defined, match / hyp, 0.0)
            recall_sum = recall_sum + np.where(defined, match / ref, 0.0)
            order_count = order_count + defined
        precision, recall = precision_sum / order_count, recall_sum / order_count
        score = 100 * (1 + beta_squared) * precision * recall / (beta_squared * precision + recall)
    return np.where(columns[1] > 0, np.nan_to_num(score), np.nan)


def chrf_values(hypotheses: Sequence[str], references: Sequence[str]) -> Floats:
    rows = chrf_statistics(hypotheses, references)
    return chrf_value(*(np.array([row[column] for row in rows]) for column in CHRF_COLUMNS))


_SCORES: dict[str, tuple[str, tuple[str, ...], Callable[..., Floats]]] = {
    "bleu": ("BLEU", BLEU_COLUMNS, bleu_value),
    "chrf": ("chrF", CHRF_COLUMNS, chrf_value),
    "control": ("BLEU", BLEU_COLUMNS, bleu_value),
    "effort": ("Word edits per 100 words", ("edits", "words"), mean_value),
    "comet": ("COMET", ("sum", "count"), mean_value),
}
"""Name, segment columns, and value from their sums."""


def score_of(score: str, part: str) -> Description:
    better: Better = "lower" if score == "effort" else "higher"
    name, *_ = _SCORES[score]
    meaning = f"{name} of the translations of {part} sentences, against their references."
    return Description(f"{score}_{part}", f"{name} of {part} sentences", meaning, Unit.SCORE, better)


def quality(score: str, part: str) -> Metric:
    _, columns, value = _SCORES[score]
    needs = tuple(f"{part}.{score}.{column}" for column in columns)
    counted = (f"{part}.every", f"{part}.translated")
    # The second column of each is the reference length, by which sentences are weighted.
    return Metric(score_of(score, part), "all", needs, value, *counted, PERCENT, weigh=needs[1:2])


def quality_gap(about: Description, score: str, first: str, second: str) -> Metric:
    parts = quality(score, first), quality(score, second)
    n = len(parts[0].needs)

    def value(*columns: Floats) -> Floats:
        gap = parts[0].value(*columns[:n]) - parts[1].value(*columns[n:])
        if score in ("effort", "comet"):
            return gap
        # The first column counts the system's output: without any there is no gap.
        return np.where((columns[0] > 0) & (columns[n] > 0), gap, np.nan)

    rule = Combined(((1.0, parts[0]), (-1.0, parts[1])))
    return Metric(about, "all", (*parts[0].needs, *parts[1].needs), value, "all.every", "all.translated", rule)


def comet_program() -> str | None:
    """The user's `comet-score`, named by GENDERMARK_COMET; its pins conflict with everything, so it is installed
    separately."""
    return os.environ.get("GENDERMARK_COMET") or None


def comet_statistics(
    sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[str]
) -> list[dict[str, float]]:
    """Per segment: its score, and one. Runs the program named by GENDERMARK_COMET."""
    program = comet_program() or "comet-score"
    with tempfile.TemporaryDirectory() as name:
        paths = []
        for side, lines in (("source", sources), ("hypothesis", hypotheses), ("reference", references)):
            paths.append(Path(name) / side)
            write_lines(paths[-1], lines)
        arguments = [*shlex.split(program), "-s", str(paths[0]), "-t", str(paths[1]), "-r", str(paths[2]), "--quiet"]
        try:
            done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        except OSError as problem:
            raise UserError(
                f"GENDERMARK_COMET names {program!r}, which cannot be started: {problem.strerror}"
            ) from None
    scores = [float(found) for found in _COMET_SEGMENT.findall(done.stdout)]
    if done.returncode != 0 or len(scores) != len(hypotheses):
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise UserError(
            f"{program} gave {len(scores)} scores for {len(hypotheses)} segments (exit code {done.returncode}); "
            f"it said: {said}"
        )
    return [{"sum": score, "count": 1.0} for score in scores]
