"""Speed of the quality gap: BLEU per gender and delta_qual with 1,000 paired resamples over 300 pairs.

Prints one ratio: our time against sacreBLEU's own paired bootstrap of the same size on the same sentences (at most 3
is asked), and the seconds of a whole `score` of that many sentences.
"""

from __future__ import annotations

import contextlib
import io
import logging
import random
import statistics
import time

from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest

import gendermark
from gendermark.benchmarks.mt_geneval.measures import DESCRIBED
from gendermark.metrics.metric import Resampling, count, estimate
from gendermark.metrics.quality import bleu_statistics, quality, quality_gap
from gendermark.records import Gender, Judgement, Verdict

N_PAIRS = 300
REPEATS = 5


def main() -> None:
    logging.disable(logging.INFO)
    rng = random.Random(1)
    words = [f"palabra{number}" for number in range(400)]
    references = [" ".join(rng.choices(words, k=24)) for _ in range(2 * N_PAIRS)]
    hypotheses = [" ".join(w if rng.random() < 0.7 else rng.choice(words) for w in r.split()) for r in references]
    ours, theirs = [], []
    for _ in range(REPEATS):
        started = time.perf_counter()
        ours_once(hypotheses, references)
        ours.append(time.perf_counter() - started)
        started = time.perf_counter()
        theirs_once(hypotheses, references)
        theirs.append(time.perf_counter() - started)
    ratio = statistics.median(ours) / statistics.median(theirs)
    items = gendermark.items("mt-geneval-counterfactual", "es", data="core").items
    texts = [item.tags["reference"].replace("<M>", "").replace("</M>", "") for item in items]
    started = time.perf_counter()
    gendermark.score("mt-geneval-counterfactual", texts, "es", data="core")
    per_set = (time.perf_counter() - started) * 2 * N_PAIRS / len(items)
    print(
        f"quality: {ratio:.2f} of the time of sacreBLEU's paired bootstrap, at most 3 "
        f"({statistics.median(ours):.2f} s against {statistics.median(theirs):.2f} s); "
        f"a whole score takes about {per_set:.2f} s for {2 * N_PAIRS} sentences"
    )


def ours_once(hypotheses: list[str], references: list[str]) -> None:
    judgements = []
    for number, row in enumerate(bleu_statistics(hypotheses, references)):
        gender = Gender.MASCULINE if number < N_PAIRS else Gender.FEMININE
        measures = {f"bleu.{key}": value for key, value in row.items()}
        pair = f"pair-{number % N_PAIRS}"
        judgements.append(Judgement(str(number), number, pair, Verdict.JUDGED, gender, gender, measures=measures))

    def tally(group: list[Judgement]) -> dict[str, float]:
        return {f"{j.expected}.{key}": value for j in group for key, value in j.measures.items()}

    metrics = [quality_gap(DESCRIBED["delta_qual"], "bleu", "masculine", "feminine"), quality("bleu", "masculine")]
    estimate(count(judgements, tally, lambda _: ""), metrics, Resampling(1000))  # type: ignore[arg-type]


def theirs_once(hypotheses: list[str], references: list[str]) -> None:
    systems = [("masculine", hypotheses[:N_PAIRS]), ("feminine", hypotheses[N_PAIRS:])]
    with contextlib.redirect_stderr(io.StringIO()):
        test = PairedTest(systems, {"BLEU": BLEU(references=[references[:N_PAIRS]])}, None, "bs", 1000)
        test()


if __name__ == "__main__":
    main()
