"""How well the gender in a translation is read (`reading/target.py`), against annotated translations.

    python bench/reading_target.py MIRROR [CODE ...] [--half dev|blind] [--crossed] [--errors N]
    python bench/reading_target.py MIRROR --labels FILE
    python bench/reading_target.py MIRROR CODE --time

GATE (Garg et al. 2024, `apple/ml-gendered-translation`): for each person with a marked alternative, the masculine and
the feminine variant of the translation are read; with `--crossed`, variants in which everybody else has the other
gender. `decided` is the share with an answer, `right` that of right answers among them. Rows with odd numbers were used
for development, those with even numbers are blind.

`--labels`: real translations with labels of careful readers (columns language, label, source, translation; labels
right, wrong, mixed, open). People are found by `reading/people.py`, without references; `right` is whether both say
"right" or both do not.

`--time`: CPU seconds for source and translation of 10,000 sentences, from those of one language.
"""

from __future__ import annotations

import argparse
import csv
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from gendermark.reading.people import people_in_all
from gendermark.reading.reader import read_all
from gendermark.reading.target import target_of

CODES = ("de", "es", "fr", "it", "pt", "ru")
GENDERS = ("masculine", "feminine")
KINDS = {
    "speaker": "i me my mine myself we us our ours ourselves i'm i've",
    "addressee": "you your yours yourself yourselves",
    "pronoun": """
    they them those some few one all both somebody someone anyone everyone any none each many others most enough he she
    everybody anybody nobody several half who whoever ones
    """,
}
KIND_OF = {word: kind for kind, words in KINDS.items() for word in words.split()} | {"any one": "pronoun"}
PLURALS = "we us they them those some few all both many people children most several enough others ones"
PLURAL = frozenset(PLURALS.split())
BRACKETS = re.compile(r"\[\[(.*?)\]\]")


@dataclass(frozen=True)
class Headword:
    """A person as GATE annotates it."""

    text: str
    start: int
    end: int
    mentions: tuple[tuple[int, int], ...] = ()

    @property
    def noun(self) -> str:
        return _singular(self.text.lower().replace("’", "'").removesuffix("'s").rstrip("'"))

    @property
    def head(self) -> str:
        return (self.noun.split() or [""])[-1]

    @property
    def kind(self) -> str:
        return KIND_OF.get(self.text.lower(), "noun")

    @property
    def plural(self) -> bool:
        word = self.text.lower().rstrip("'’")
        return word in PLURAL or (self.kind == "noun" and _singular(word) != word)


def _singular(word: str) -> str:
    for ending, instead in (("children", "child"), ("people", "person"), ("men", "man"), ("ies", "y")):
        if word.endswith(ending):
            return word.removesuffix(ending) + instead
    if word.endswith(("ses", "ches")) and not word.endswith("rses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us")) else word


class Row(NamedTuple):
    source: str
    people: list[Headword]
    pieces: list[str]
    """The translation; every second piece is "masculine/feminine"."""
    marked: dict[int, set[int]]
    """Of each person with alternatives, which ones."""


def rows(data: Path, code: str, half: str) -> Iterator[Row]:
    (path,) = (data / "apple" / "ml-gendered-translation").glob(f"*/data/test/raw/gate.en-{code}.tsv")
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["invalid"] != "No" or (int(row["id"]) % 2 == 1) != (half == "dev"):
                continue
            source, heads = _spans(row["source with headwords"])
            _, words = _spans(row["source with entity referring words"])
            groups = re.findall(r"\[([\d,]+)\]", row["entity referring words grouped"])
            people = [Headword(source[start:end], start, end) for start, end in heads]
            for number, group in enumerate(groups[: len(people)]):
                mentions = tuple(words[int(one)] for one in group.split(",") if int(one) < len(words))
                people[number] = replace(people[number], mentions=mentions)
            marked: dict[int, set[int]] = {}
            for link in row["gender alignments"].split(","):
                if "-" in link:
                    person, structure = map(int, link.split("-"))
                    if person < len(people):
                        marked.setdefault(person, set()).add(structure)
            if marked:
                yield Row(source, people, BRACKETS.split(row["translation with gender structures"]), marked)


def _spans(text: str) -> tuple[str, list[tuple[int, int]]]:
    plain, spans = "", []
    for number, piece in enumerate(BRACKETS.split(text)):
        spans += [(len(plain), len(plain) + len(piece))] * (number % 2)
        plain += piece
    return plain, spans


def variant(pieces: Sequence[str], side: int, own: set[int] | None = None) -> str:
    """A translation of one gender; with `own`, of the other one but for these structures."""
    text = ""
    for number, piece in enumerate(pieces):
        is_own = own is None or number // 2 in own
        text += piece.split("/")[side if is_own else 1 - side] if number % 2 else piece
    return text


def rate(data: Path, code: str, half: str, n_errors: int, crossed: bool) -> str:
    count: Counter[str] = Counter()
    wrong: list[str] = []
    for source, people, pieces, marked in rows(data, code, half):
        if crossed and len(marked) < 2:
            continue
        for side, gender in enumerate(GENDERS):
            for number in marked:
                text = variant(pieces, side, marked[number] if crossed else None)
                shown = target_of(source, people, text, code)[number]
                count["all"] += 1
                count["decided"] += shown.state == "shown"
                count["right"] += shown.gender == gender
                if shown.gender != gender:
                    evidence = " | ".join(text[slice(*span)] for span in shown.evidence)
                    answer = f"  {shown.gender or shown.state} not {gender}: {people[number].text} [{evidence}]"
                    wrong.append(f"{answer}\n    {source}\n    {text}")
    for line in wrong[:: max(len(wrong) // max(n_errors, 1), 1)][:n_errors]:
        print(line)
    return f"{code} {half}: {_rates(count)}"


def _rates(count: Counter[str]) -> str:
    decided, right = count["decided"] / count["all"], count["right"] / max(count["decided"], 1)
    return f"{count['all']}, decided {decided:.1%}, right {right:.1%}"


def rate_labels(path: Path) -> None:
    with path.open(encoding="utf-8") as file:
        labelled = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    counts: dict[str, Counter[str]] = {}
    for row, people in zip(labelled, people_in_all([row["source"] for row in labelled]), strict=True):
        shown = target_of(row["source"], people, row["translation"], row["language"])
        kept = [
            one.gender == person.gender.value
            for person, one in zip(people, shown, strict=True)
            if person.gender and one.state == "shown"
        ]
        for key in (row["language"], f"{row['language']} {row['gender']}", "all"):
            count = counts.setdefault(key, Counter())
            count["all"] += 1
            count["decided"] += bool(kept)
            count["right"] += bool(kept) and all(kept) == (row["label"] == "right")
    for key in sorted(counts):
        print(f"{key}: {_rates(counts[key])}")


def rate_speed(data: Path, code: str) -> str:
    pairs = {row.source: variant(row.pieces, 0) for half in ("dev", "blind") for row in rows(data, code, half)}
    read_all(["She is a doctor."], ["Ella es doctora."], code)  # loads parser and lists
    start = time.process_time()
    read_all(list(pairs), list(pairs.values()), code)
    seconds = time.process_time() - start
    return f"{code}: {len(pairs):,} pairs in {seconds:.1f} s of CPU time, 10,000 in {1e4 * seconds / len(pairs):.0f} s"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("mirror", type=Path)
    parser.add_argument("codes", nargs="*", default=CODES)
    parser.add_argument("--half", choices=("dev", "blind"), default="dev")
    parser.add_argument("--crossed", action="store_true")
    parser.add_argument("--errors", type=int, default=0)
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--time", action="store_true")
    options = parser.parse_args()
    if options.labels:
        rate_labels(options.labels)
        return
    for code in options.codes:
        if options.time:
            print(rate_speed(options.mirror, code), flush=True)
            continue
        print(rate(options.mirror, code, options.half, options.errors, options.crossed), flush=True)


if __name__ == "__main__":
    main()
