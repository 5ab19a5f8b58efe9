"""Train the taggers of `languages/CODE/tagger.json.gz` on UD treebanks, and print how good they are.

    python bench/taggers.py DATA [CODE ...]

DATA is a data mirror that has UniversalDependencies/. The figures are of a fifth of the sentences that a first model
was not trained on; the model that is written is trained on all of a treebank's development and test parts.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from gendermark.reading.tagger import Tagger, features

TREEBANKS = {"de": "German-GSD", "es": "Spanish-GSD", "fr": "French-GSD", "it": "Italian-PUD", "pt": "Portuguese-GSD"}
TREEBANKS["ru"] = "Russian-GSD"
GENDERED = ("NOUN", "ADJ", "DET", "PRON", "VERB", "AUX", "NUM")
ROUNDS, LEAST, SMALLEST = 6, 2, 0.15
FOLDERS = Path(__file__).parents[1] / "src" / "gendermark" / "languages"
Sentence = list[tuple[str, str]]


def read(data: Path, treebank: str) -> Iterator[Sentence]:
    for path in sorted((data / "UniversalDependencies" / f"UD_{treebank}").glob("*/*.conllu.gz")):
        for block in gzip.decompress(path.read_bytes()).decode().split("\n\n"):
            rows = [line.split("\t") for line in block.split("\n") if line and line[0] != "#"]
            if rows:
                yield list(_words(rows))


def _words(rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Words as they are written: a contraction is one, with the label of its verb or noun, else of its preposition."""
    inside = 0
    for number, row in enumerate(rows):
        if "." in row[0]:
            continue
        if "-" in row[0]:
            first, last = map(int, row[0].split("-"))
            parts = [part for part in rows[number + 1 :] if part[0].isdigit() and first <= int(part[0]) <= last]
            main = next((part for part in parts if part[3] in ("VERB", "AUX", "NOUN")), parts[0])
            inside = last
            yield row[1], _label(main) if main[3] != "ADP" else "ADP"
        elif int(row[0]) > inside:
            yield row[1], _label(row)


def _label(row: Sequence[str]) -> str:
    facts = dict(fact.split("=", 1) for fact in row[5].split("|") if "=" in fact)
    label = row[3]
    if label in GENDERED:
        gender = {"Masc": "m", "Fem": "f", "Neut": "n"}.get(facts.get("Gender", ""), "-")
        label += f".{gender}.{ {'Sing': 's', 'Plur': 'p'}.get(facts.get('Number', ''), '-') }"
        if label.startswith("NOUN") and facts.get("Animacy") == "Anim":
            label += ".a"
    return label


def train(sentences: Sequence[Sentence], seed: int = 1) -> Tagger:
    by_word: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        for word, label in sentence:
            by_word[word.lower()][label] += 1
    known = {word: next(iter(found)) for word, found in by_word.items() if len(found) == 1 and found.total() >= 8}
    weights: dict[str, dict[str, float]] = defaultdict(dict)
    totals: dict[tuple[str, str], float] = defaultdict(float)
    stamps: dict[tuple[str, str], int] = defaultdict(int)
    step = 0
    order = list(sentences)
    for _ in range(ROUNDS):
        random.Random(seed).shuffle(order)
        for sentence in order:
            words = [word for word, _ in sentence]
            before = earlier = "^"
            for at, (word, truth) in enumerate(sentence):
                label = known.get(word.lower())
                if label is None:
                    found = list(features(words, at, before, earlier))
                    scores: dict[str, float] = {}
                    for feature in found:
                        for one, weight in weights[feature].items():
                            scores[one] = scores.get(one, 0.0) + weight
                    label = max(scores, key=lambda one: (scores[one], one)) if scores else ""
                    step += 1
                    if label != truth:
                        for feature in found:
                            for one, change in ((truth, 1.0), (label, -1.0)):
                                if one:
                                    key = feature, one
                                    old = weights[feature].get(one, 0.0)
                                    totals[key] += (step - stamps[key]) * old
                                    stamps[key] = step
                                    weights[feature][one] = old + change
                before, earlier = label, before
    averaged: dict[str, dict[str, float]] = {}
    for feature, found_weights in weights.items():
        kept = {}
        for one, weight in found_weights.items():
            key = feature, one
            mean = (totals[key] + (step - stamps[key]) * weight) / step
            if abs(mean) >= SMALLEST:
                kept[one] = round(mean, 1)
        if kept:
            averaged[feature] = kept
    return Tagger(averaged, known)


def rate(tagger: Tagger, sentences: Sequence[Sentence]) -> tuple[int, int, int]:
    n = right = classes = 0
    for sentence in sentences:
        for (_, truth), label in zip(sentence, tagger.labels([word for word, _ in sentence]), strict=True):
            n += 1
            right += truth == label
            classes += truth.partition(".")[0] == label.partition(".")[0]
    return n, classes, right


def main(data: str, *codes: str) -> None:
    for code in codes or TREEBANKS:
        sentences = list(read(Path(data), TREEBANKS[code]))
        parts = [sentences[start::5] for start in range(5)]
        n, classes, right = rate(train([one for part in parts[1:] for one in part]), parts[0])
        tagger = train(sentences)
        model = {"weights": tagger._weights, "known": tagger._known}
        packed = gzip.compress(json.dumps(model, ensure_ascii=False, separators=(",", ":")).encode(), 9, mtime=0)
        (FOLDERS / code / "tagger.json.gz").write_bytes(packed)
        size = sum(map(len, sentences))
        rates = f"classes {classes / n:.1%}, labels {right / n:.1%}"
        print(f"{code} {TREEBANKS[code]}: {size} words, {rates}, {len(packed)} bytes", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
