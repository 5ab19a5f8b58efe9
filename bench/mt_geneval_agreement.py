"""How far do readers and the judge of MT-GenEval agree? Right or not, of at least 150 of Google's translations each.

    GENDERMARK_DATA_MIRROR=... python bench/mt_geneval_agreement.py

`labels/` has one label per sentence, by a reader who did not know the rules (docs/benchmarks/mt-geneval.md says how it
is done). The translations are those of deep-spin/gender-bias-qe-metrics, which the mirror must have.
"""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path

from gendermark import registry
from gendermark.metrics import statistics
from gendermark.records import Translation
from gendermark.selection import Selection

LANGUAGES = ("pt", "ar", "hi")
RELEASED = (
    "deep-spin/gender-bias-qe-metrics/ba9a5e328ea9773787d656e7df042114f53c2d5a/data/mtgeneval/"
    "google_translated_counterfactual/mt_geneval_sentences_en_{}.csv"
)
NAME = "mt-geneval-counterfactual"


def agreement(to: str, rules: str, mirror: Path) -> tuple[int, int]:
    """How often the two say the same, and of how many."""
    labels = Path(__file__).with_name("labels") / f"mt-geneval-google-{to}.tsv"
    with labels.open(encoding="utf-8") as file:
        told = {row["row"]: row["label"] for row in csv.DictReader(file, delimiter="\t")}
    with (mirror / RELEASED.format(to)).open(encoding="utf-8") as file:
        released = list(csv.DictReader(file))
    benchmark = registry.load("benchmark", NAME)
    item_set = benchmark.load(benchmark.complete(Selection(NAME, target_language=to, rules=rules)))
    places = {pair: place for place, pair in enumerate(dict.fromkeys(item.group_id for item in item_set.items))}
    texts = [released[places[item.group_id]][f"translate_{item.expected}"] for item in item_set.items]
    judgements = benchmark.judge(item_set, [[Translation("", text)] for text in texts])
    same = [(j.outcome == "correct") == (told[j.item_id] == "right") for j in judgements if j.item_id in told]
    return sum(same), len(same)


def main() -> None:
    mirror = Path(os.environ.get("GENDERMARK_DATA_MIRROR", ""))
    if not (mirror / RELEASED.format("pt")).is_file():
        sys.exit("set GENDERMARK_DATA_MIRROR to a mirror that has the released translations")
    for to in LANGUAGES:
        told = []
        for rules in ("best", "paper"):
            n_same, n = agreement(to, rules, mirror)
            low, high = statistics.wilson(n_same, n) or (0.0, 1.0)
            told.append(f"{rules} {100 * n_same / n:.1f} [{100 * low:.1f}, {100 * high:.1f}]")
        print(f"{to}: {', '.join(told)}")


if __name__ == "__main__":
    main()
