"""How well people in English texts are found: GATE's annotations (from a mirror) and our own labelled sentences.

Run: GENDERMARK_DATA_MIRROR=... python bench/reading.py [--half 0|1] [--show N]
A person counts as found if a mention of ours covers the annotated head word, each of ours for one of theirs; as right
if the gender (masculine, feminine or none) is the same; ours that cover no annotated word are invented.
"""

import argparse
import csv
import hashlib
import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from gendermark.reading.people import SourcePerson, people_in_all

GATE = "apple/ml-gendered-translation/2c9cf5880467479e46feb79e3782fc44159a6cc3/data/test/raw/gate.en-de.tsv"
OWN = Path(__file__).parents[1] / "tests" / "reading" / "source"
LABELS = {"Male": "masculine", "Female": "feminine", "Amb": None, "m": "masculine", "f": "feminine", "-": None}
Span = tuple[int, int]
Expected = tuple[Span, list[Span], str | None]
"""The head word, all words, and the gender of a person."""


def gate(mirror: Path, half: int | None) -> Iterator[tuple[str, list[Expected]]]:
    """Annotated sentences of GATE; a half is that of the hash of the id."""
    with (mirror / GATE).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if half is not None and hashlib.sha256(row["id"].encode()).digest()[0] % 2 != half:
                continue
            text, spans = unmarked(row["source with entity referring words"])
            groups = re.findall(r"\[([\d,]+)\]", row["entity referring words grouped"])
            heads, labels = (row[key].split(",") for key in ("headword in each group", "gender labels of headwords"))
            people = [
                (spans[int(head)], [spans[int(word)] for word in group.split(",")], LABELS[label])
                for group, head, label in zip(groups, heads, labels, strict=False)
                if head.isdigit() and label in LABELS
            ]
            yield text, people


def unmarked(marked: str) -> tuple[str, list[Span]]:
    """Take the double brackets out of a text, and say where they were."""
    text, spans = "", []
    for place, part in enumerate(re.split(r"\[\[(.*?)\]\]", marked)):
        if place % 2:
            spans.append((len(text), len(text) + len(part)))
        text += part
    return text, spans


def labelled(path: Path) -> Iterator[tuple[str, list[Expected]]]:
    """Our own sentences: text, then for each person its words and gender, "owner=-; members=-"."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            text, _, people = line.partition("\t")
            expected = []
            for person in filter(None, (part.strip() for part in people.split(";"))):
                words, _, label = person.rpartition("=")
                spans = [place(text, word) for word in words.split("+")]
                expected.append((spans[0], spans, LABELS[label]))
            yield text, expected


def place(text: str, word: str) -> Span:
    """Where a word stands in a text; "she#2" is the second "she"."""
    word, _, number = word.strip().partition("#")
    found = list(re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text))
    if not found:
        raise SystemExit(f"no {word!r} in {text!r}")
    return found[int(number or 1) - 1].span()


def overlaps(span: Span, others: list[Span] | tuple[Span, ...]) -> bool:
    """Whether a span has a character in common with others."""
    return any(start < span[1] and span[0] < end for start, end in others)


def compare(text: str, expected: list[Expected], people: list[SourcePerson], counts: Counter[str]) -> list[str]:
    """Count what was found, right and invented; describe each error."""
    errors, left = [], list(people)
    for head, _, gender in sorted(
        expected, key=lambda one: not any(overlaps(one[0], [(p.start, p.end)]) for p in people)
    ):
        fitting = [person for person in left if overlaps(head, person.mentions)]
        match = max(fitting, key=lambda person: overlaps(head, [(person.start, person.end)]), default=None)
        word = text[slice(*head)]
        counts["expected"] += 1
        if match is None:
            errors.append(f"missed {word!r}")
            continue
        left.remove(match)
        counts["found"] += 1
        given = match.gender.value if match.gender else None
        counts["right"] += given == gender
        if given != gender:
            errors.append(f"{word!r} is {gender}, read {given}")
    every = [span for _, spans, _ in expected for span in spans]
    for person in left:
        kind = "split" if any(overlaps(span, every) for span in person.mentions) else "invented"
        counts[kind] += 1
        errors.append(f"{kind} {person.text!r}")
    counts["read"] += len(people)
    return errors


def main() -> None:
    """Print a line for each kind of text."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--half", type=int, choices=(0, 1))
    options.add_argument("--show", type=int, default=0, help="print this many errors of each kind of text")
    options.add_argument("--only", default="")
    given = options.parse_args()
    kinds = {path.stem: list(labelled(path)) for path in sorted(OWN.glob("*.tsv"))}
    if mirror := os.environ.get("GENDERMARK_DATA_MIRROR"):
        kinds["gate"] = list(gate(Path(mirror), given.half))
    print(f"{'texts':<12}{'n':>6}{'people':>8}{'found %':>9}{'right %':>9}{'invented %':>12}{'split %':>9}{'s':>7}")
    for kind, rows in kinds.items():
        if given.only not in kind:
            continue
        started, counts, shown = time.process_time(), Counter[str](), 0
        for (text, expected), people in zip(rows, people_in_all([text for text, _ in rows]), strict=True):
            errors = compare(text, expected, people, counts)
            if errors and shown < given.show:
                shown += 1
                print(f"  {text}\n      {'; '.join(errors)}")
        seconds = time.process_time() - started
        shares = (
            counts["found"] / counts["expected"], counts["right"] / counts["found"],
            counts["invented"] / counts["read"], counts["split"] / counts["read"],
        )  # fmt: skip
        cells = "".join(f"{100 * share:>{width}.1f}" for share, width in zip(shares, (9, 9, 12, 9), strict=True))
        print(f"{kind:<12}{len(rows):>6}{counts['expected']:>8}{cells}{seconds:>7.1f}")


if __name__ == "__main__":
    main()
