"""How well the gender in a translation is read (`reading/target.py`), against annotated translations.

    python bench/reading_target.py DATA [--half dev|blind] [CODE ...] [--errors N]

GATE (Garg et al. 2024, `apple/ml-gendered-translation`): for each person with a marked alternative, the masculine and the
feminine variant of the translation are read; `--crossed`, variants in which everybody else has the other gender. `decided` is the share with an answer, `right` that of right answers among
them. Rows with odd numbers were used for development, those with even numbers are blind.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gendermark.reading.target import target_of

CODES = ("de", "es", "fr", "it", "pt", "ru")
SPEAKER = frozenset(["i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves", "i'm", "i've"])
ADDRESSEE = frozenset(["you", "your", "yours", "yourself", "yourselves"])
PRONOUNS = frozenset(
    ["they", "them", "those", "some", "few", "one", "all", "both", "somebody", "someone", "anyone", "everyone", "any", "none", "each", "many", "others", "most", "enough", "he", "she", "everybody", "anybody", "nobody", "several", "half", "who", "whoever", "ones"]
)

PLURAL = frozenset(
    ["we", "us", "they", "them", "those", "some", "few", "all", "both", "many", "people", "children", "most", "several", "enough", "others", "ones"]
)


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
        return self.noun.split()[-1] if self.noun.split() else self.noun

    @property
    def kind(self) -> str:
        word = self.text.lower()
        if word in SPEAKER:
            return "speaker"
        return "addressee" if word in ADDRESSEE else "pronoun" if word.replace("any one", "anyone") in PRONOUNS else "noun"

    @property
    def plural(self) -> bool:
        word = self.text.lower().rstrip("'’")
        if word in PLURAL:
            return True
        return self.kind == "noun" and _singular(word) != word


def _singular(word: str) -> str:
    for ending, instead in (("children", "child"), ("people", "person"), ("men", "man"), ("ies", "y")):
        if word.endswith(ending):
            return word.removesuffix(ending) + instead
    if word.endswith("ses") or word.endswith("ches"):
        return word[:-2] if not word.endswith("rses") else word[:-1]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us")) else word


def rows(data: Path, code: str, half: str) -> Iterator[tuple[str, list[Headword], list[str], dict[int, set[int]]]]:
    (path,) = (data / "apple" / "ml-gendered-translation").glob(f"*/data/test/raw/gate.en-{code}.tsv")
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["invalid"] != "No" or (half != "all" and (int(row["id"]) % 2 == 1) != (half == "dev")):
                continue
            source, people = "", []
            for number, piece in enumerate(re.split(r"\[\[(.*?)\]\]", row["source with headwords"])):
                if number % 2:
                    people.append(Headword(piece, len(source), len(source) + len(piece)))
                source += piece
            spans, at = [], 0
            for number, piece in enumerate(re.split(r"\[\[(.*?)\]\]", row["source with entity referring words"])):
                spans += [(at, at + len(piece))] * (number % 2)
                at += len(piece)
            groups = re.findall(r"\[([\d,]+)\]", row["entity referring words grouped"])
            for number, group in enumerate(groups[: len(people)]):
                mentions = tuple(spans[int(one)] for one in group.split(",") if int(one) < len(spans))
                people[number] = replace(people[number], mentions=mentions)
            pieces = re.split(r"\[\[(.*?)\]\]", row["translation with gender structures"])
            marked: dict[int, set[int]] = {}
            for link in row["gender alignments"].split(","):
                if "-" in link:
                    person, structure = map(int, link.split("-"))
                    if person < len(people):
                        marked.setdefault(person, set()).add(structure)
            if marked:
                yield source, people, pieces, marked


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
        for side, gender in enumerate(("masculine", "feminine")):
            for number in marked:
                text = variant(pieces, side, marked[number] if crossed else None)
                shown = target_of(source, people, text, code)[number]
                kind = people[number].kind
                count["all"] += 1
                count[f"all {kind}"] += 1
                evidence = " | ".join(text[slice(*span)] for span in shown.evidence)
                if shown.state == "shown":
                    count["decided"] += 1
                    count[f"decided {kind}"] += 1
                    count["right"] += shown.gender == gender
                    count[f"right {kind}"] += shown.gender == gender
                if shown.gender != gender:
                    wrong.append(f"  {shown.gender or shown.state} not {gender}: {people[number].text} [{evidence}]\n    {source}\n    {text}")
    step = max(len(wrong) // n_errors, 1) if n_errors else 1
    for line in wrong[::step][:n_errors]:
        print(line)
    kinds = "; ".join(
        f"{kind} {count[f'all {kind}']}: {count[f'decided {kind}'] / max(count[f'all {kind}'], 1):.1%} {count[f'right {kind}'] / max(count[f'decided {kind}'], 1):.1%}"
        for kind in ("noun", "pronoun", "speaker", "addressee")
    )
    decided, right = count["decided"] / count["all"], count["right"] / max(count["decided"], 1)
    return f"{code} {half}: {count['all']} people, decided {decided:.1%}, right {right:.1%}  ({kinds})"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("codes", nargs="*", default=CODES)
    parser.add_argument("--half", default="dev")
    parser.add_argument("--errors", type=int, default=0)
    parser.add_argument("--crossed", action="store_true")
    options = parser.parse_args()
    for code in options.codes:
        print(rate(options.data, code, options.half, options.errors, options.crossed), flush=True)


if __name__ == "__main__":
    main()
