"""The studies on small models that are trained here: docs/tables/speed.md and docs/tables/training.md.

    pip install 'gendermark[train]'
    python docs/tables/small_models.py train -o DIR [NAME ...]   # resumes; one process uses one core
    python docs/tables/small_models.py study -o DIR              # translates, times, compares; resumes
    python docs/tables/small_models.py seeds -o DIR [SEED ...]   # trainings matched on held-out loss, three by default
    python docs/tables/small_models.py seeds --text-alone --to de -o DIR 1   # without our grammar
    python docs/tables/small_models.py methods -o DIR [SEED ...] # MT-GenEval's comparison, from ssd of each seed in DIR
    python docs/tables/small_models.py tables -o DIR             # DIR/tables.md: our relative drops beside the paper's

Reads Tatoeba and official data (fetched if need be; `GENDERMARK_DATA_MIRROR` works). Training takes about four hours of
one core.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from gendermark.lab.speed_report import between_trainings, published_sections, relative_drop
from gendermark.lab.studies import by_key
from gendermark.lab.training_comparison import COLUMNS

SHAPES = {
    "base": ("6,6", "self"),
    "aan": ("6,6", "average"),
    "sd": ("10,2", "self"),
    "ssd": ("6,2", "self"),
    "sd-aan": ("10,2", "average"),
    "ssd-aan": ("6,2", "average"),
}
CALLED = {
    "base": "(6,6)",
    "aan": "AAN",
    "sd": "SD(10,2)",
    "ssd": "SSD(6,2)",
    "sd-aan": "SD, AAN",
    "ssd-aan": "SSD, AAN",
}
OPTIONS = [(kind, beam) for beam in (5, 1) for kind in ("float32", "int8")]
BATCHES = ("--batch-tokens", "2000", "--dropout", "0")
TEXT = ("--pairs", "tatoeba-en-es", "--mix", "grammar=0.3", *BATCHES)
SCRATCH = ("--n-pieces", "4000", "--steps", "3000", "--warm-up", "500", "--checkpoint-steps", "500")
FURTHER = ("--steps", "400", "--warm-up", "50", "--learning-rate", "7e-4", "--checkpoint-steps", "200")
CONTEXT = ("--documents", "grammar=30000", "--context", "separator:« »")
MONOLINGUAL = ("grammar=60000", "tatoeba-en-de", "tatoeba-en-fr")
ADDED: Mapping[str, tuple[bool, bool]] = {
    "mg-base": (False, False),
    "mg-ctx": (True, False),
    "mg-gfst": (False, True),
    "mg-gfst-ctx": (True, True),
}
"""Of MT-GenEval's comparison: whether context is learnt, and what self-training keeps."""
TESTED = ("simplegen", "winomt", "mt-geneval-counterfactual", "mt-geneval-contextual")
OURS = {
    "greedy search": "float32, beam 1",
    "average attention": "AAN, float32, beam 5",
    "shallow decoder (10, 2)": "SD(10,2), float32, beam 5",
    "smaller shallow decoder (6, 2)": "SSD(6,2), float32, beam 5",
    "8-bit weights": "int8, beam 5",
    "greedy, average attention": "AAN, float32, beam 1",
    "greedy, average attention, shallow decoder": "SD(10,2) AAN, float32, beam 1",
    "greedy, average attention, smaller shallow decoder": "SSD(6,2) AAN, float32, beam 1",
    "the whole stack with 8-bit weights": "SSD(6,2) AAN, int8, beam 1",
}
"""The paper's systems, and our points."""
DROPPING = ("time", "BLEU", "pro", "anti", "FOFC", "MOFC", "MOMC", "FOMC")


def gendermark(*arguments: str) -> None:
    code = "from gendermark.cli.app import main; main()"
    if status := subprocess.run([sys.executable, "-c", code, *arguments], check=False).returncode:
        raise SystemExit(status)


def sources_of_benchmarks(place: Path, benchmarks: Sequence[str] = TESTED) -> Path:
    """All sentences that are tested on later, none of which may be learnt."""
    whole = place / f"tests.{len(benchmarks)}.txt"
    if not whole.exists():
        texts = []
        for name in benchmarks:
            for data in ("official", "core"):
                path = place / f"{name}.{data}.txt"
                gendermark("export", name, "--to", "es", "--data", data, "-o", str(path))
                texts.append(path.read_text(encoding="utf-8"))
        whole.write_text("".join(texts), encoding="utf-8")
    return whole


def train(place: Path, names: Sequence[str]) -> None:
    kept_apart = ("--test", str(sources_of_benchmarks(place)), "--drop-test-pairs")
    for name in names or [*SHAPES, *ADDED]:
        directory = ("-o", str(place / "models" / name))
        if name in SHAPES:
            depths, attention = SHAPES[name]
            shape = ("--architecture", depths, "--attention", attention)
            gendermark("train", "model", "--to", "es", *TEXT, *SCRATCH, *shape, *kept_apart, *directory)
            continue
        train_further(name, place / "models" / "ssd", *directory, "--architecture", "6,2", *kept_apart)


def train_further(name: str, base: Path, *options: str) -> None:
    """Train a model of MT-GenEval's comparison from a base."""
    has_context, is_filtered = ADDED[name]
    added = [*CONTEXT] if has_context else []
    if is_filtered:
        added += ["--self-train", f"ctranslate2:{base / 'ctranslate2'}?beam_size=1"]
        added += [part for text in MONOLINGUAL for part in ("--monolingual", text)]
    gendermark("train", "model", "--to", "es", *TEXT, *FURTHER, "--init-from", str(base), *added, *options)


MATCHED = {"base": "3,3", "ssd": "3,1"}
SEEDS = ("1", "2", "3")
UNTIL: Mapping[str, tuple[Mapping[str, str], str, Sequence[int]]] = {
    "1.8": ({"base": "6000", "ssd": "6000"}, "50", (1,)),
    "1.475": ({"base": "2100", "ssd": "3000"}, "100", (5, 1)),
    "base": ({"base": "1800", "ssd": "3600"}, "100", (5, 1)),  # base takes all its steps, ssd stops at its loss
}
"""By held-out loss: steps that the learning rate decays over, steps between validations, and beams."""
CONTRASTS = {
    "greedy search, base": ("base, beam 1", "base, beam 5"),
    "greedy search, ssd": ("ssd, beam 1", "ssd, beam 5"),
    "shallow decoder, beam 5": ("ssd, beam 5", "base, beam 5"),
    "shallow decoder, beam 1": ("ssd, beam 1", "base, beam 1"),
    "both": ("ssd, beam 1", "base, beam 5"),
    "shallow decoder instead of greedy search": ("ssd, beam 5", "base, beam 1"),
}
MATCHING = ("--n-pieces", "2000", "--warm-up", "200", "--held-out", "1000", "--width", "96", "--learning-rate", "2e-3")


def seeds(place: Path, given: Sequence[str], loss: str, language: str, *, is_text_alone: bool) -> None:
    """Train each shape with each seed until the same held-out loss, and compare over trainings."""
    numbers, (steps, every, beams) = given or SEEDS, UNTIL[loss]
    text = f"tatoeba-en-{language}"
    trained_on = ("--to", language, *(("--pairs", text, *BATCHES) if is_text_alone else TEXT))
    kept_apart = ("--test", str(sources_of_benchmarks(place, ("simplegen", "winomt"))), "--drop-test-pairs")
    for seed, (name, depths) in product(numbers, MATCHED.items()):
        until = ("--steps", steps[name], "--checkpoint-steps", every)
        if loss != "base":
            until += ("--until-loss", loss)
        elif name != "base":
            until += ("--until-loss", str(lowest_loss(place / f"base-{seed}")))
        shape = ("--architecture", depths, "--seed", seed, "-o", str(place / f"{name}-{seed}"))
        gendermark("train", "model", *trained_on, *MATCHING, *until, *shape, *kept_apart)
    tested = held_out(place / f"base-{numbers[0]}", 500, text)
    output, points = place / f"speed-{'-'.join(numbers)}", []
    for name, beam in product(MATCHED, beams):
        specs = [f"torch:{place / f'{name}-{seed}'}?beam_size={beam}&threads=1" for seed in numbers]
        points += ["--seed-of" if specs[1:] else "--against", f"{name}, beam {beam}={','.join(specs)}"]
    if not numbers[1:]:  # one training of each: intervals over sentences
        varied = f"beam_size={','.join(map(str, beams))}"
        points = ["--system", f"torch:{place / 'base'}-{numbers[0]}", "--vary", varied, *points[2 * len(beams) :]]
        points += ["--system-option", "threads=1"]
    gendermark(
        *("study", "speed", *points, "--to", language, "--data", "official", "--test-set", *tested),
        *("--timed", "64", "--repeats", "6", "--clock", "cpu", "-o", str(output)),
    )
    if numbers[1:] and beams[1:]:
        (place / "seeds.md").write_text(relative_changes(output / "speed.json"), encoding="utf-8")


def relative_changes(record: Path) -> str:
    """Changes in percent over trainings, with Student's (greedy search) or Welch's interval; of ratios, too.

    The ratio anti/pro falls where anti falls faster than pro, MOFC/BLEU where BLEU hides a loss.
    """
    trained = json.loads(record.read_text(encoding="utf-8"))["report"]["trainings"]
    logs = {
        model: {
            column: [math.log(value) for value in found["values"]]
            for column, found in columns.items()
            if column in DROPPING
        }
        for model, columns in trained.items()
    }
    for columns in logs.values():
        for ratio in ("anti/pro", "MOFC/BLEU"):
            parts = zip(*(columns[name] for name in ratio.split("/")), strict=True)
            columns[ratio] = [first - second for first, second in parts]
    lines = [f"| change in % | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    for name, (model, base) in CONTRASTS.items():
        cells = []
        for column, values in logs[model].items():
            other = logs[base][column]
            is_paired = model.partition(",")[0] == base.partition(",")[0]  # the same trainings, searched otherwise
            own = [a - b for a, b in zip(values, other, strict=True)] if is_paired else values
            change = between_trainings(own, () if is_paired else other)
            moved, low, high = (100 * math.expm1(end or 0) for end in change)
            cells.append(f"{moved:+.1f} ({low:.1f} to {high:.1f})")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def methods(place: Path, given: Sequence[str]) -> None:
    """Train each method from the ssd of each seed, and compare over trainings by both rules."""
    numbers = given or SEEDS
    kept_apart = ("--test", str(sources_of_benchmarks(place)), "--drop-test-pairs")
    shape = ("--architecture", MATCHED["ssd"], "--width", "96", "--held-out", "1000")
    for seed, name in product(numbers, ADDED):
        directory = ("--seed", seed, "-o", str(place / f"{name}-{seed}"))
        train_further(name, place / f"ssd-{seed}", *shape, *directory, *kept_apart)
    tested = held_out(place / f"ssd-{numbers[0]}", 500)
    lines = []
    for rules in ("paper", "best"):
        models: dict[str, list[Any]] = {}
        for seed in numbers:
            output = place / f"training-{rules}-{seed}"
            specs = [f"{name[3:].upper()}=torch:{place / f'{name}-{seed}'}?beam_size=1" for name in ADDED]
            systems = [part for spec in specs for part in ("--system", spec)]
            options = ("--to", "es", "--rules", rules, "--plain", *tested, "--accept-unsound", "-o", str(output))
            gendermark("study", "training", *systems, *options)
            for model in json.loads((output / "training.json").read_text(encoding="utf-8"))["models"]:
                models.setdefault(model["name"], []).append(by_key(model["comparisons"]))
        lines += ["", f"Rules {rules}", "", f"| | {' | '.join(COLUMNS)} |", f"|---|{'---:|' * len(COLUMNS)}"]
        base = next(iter(models.values()))
        lines.append(f"| BASE | {' | '.join(over_seeds(base, key, 'first') for key in COLUMNS.values())} |")
        for name, found in models.items():
            lines.append(f"| {name} | {' | '.join(over_seeds(found, key, 'second') for key in COLUMNS.values())} |")
    (place / "methods.md").write_text("\n".join([*lines, ""]), encoding="utf-8")


def over_seeds(found: Sequence[Mapping[Any, Any]], key: Any, side: str) -> str:
    """Mean over trainings, and the change from the same seed's BASE with Student's interval."""
    rows = [one[key] for one in found if key in one and None not in (one[key]["first"], one[key]["second"])]
    if not rows:
        return "–"
    mean = _shown(sum(row[side] for row in rows) / len(rows))
    if side == "first":
        return mean
    change = between_trainings([row["second"] - row["first"] for row in rows])
    ends = "" if change.low is None else f"; {_shown(change.low)} to {_shown(change.high)}"
    return f"{mean} ({change.value:+.1f}{ends})"


def lowest_loss(model: Path) -> float:
    report = json.loads((model / "report.json").read_text(encoding="utf-8"))
    return min(loss for _, loss in report["held_out_losses"])


def held_out(model: Path, n: int, text: str = "tatoeba-en-es") -> list[str]:
    """Files of the first sentences of a text that a model was not trained on, in both languages."""
    tested = []
    for language in text.split("-")[1:]:
        lines = (model / f"test.{text}.{language}").read_text(encoding="utf-8").splitlines()
        path = model.parent / f"test.{language}"
        path.write_text("\n".join(lines[:n]) + "\n", encoding="utf-8")
        tested.append(str(path))
    return tested


def study(place: Path) -> None:
    models = place / "models"
    points = {
        f"{called}, {kind}, beam {beam}": f"torch:{models / name}?compute_type={kind}&beam_size={beam}&threads=1"
        for name, called in CALLED.items()
        for kind, beam in OPTIONS
    }
    grid = ["--vary", "compute_type=float32,int8", "--vary", "beam_size=5,1", "--system-option", "threads=1"]
    timing = ("--timed", "64", "--clock", "cpu")
    tested = held_out(models / "base", 1000)
    for data, repeats in (("official", "6"), ("core", "1")):
        # All 24 points on the paper's sentences; on ours, those that the paper's tables have.
        chosen = {name: spec for name, spec in points.items() if data == "official" or name in OURS.values()}
        against = [part for name, spec in chosen.items() for part in ("--against", f"{name}={spec}")]
        gendermark(
            *("study", "speed", "--system", f"torch:{models / 'base'}", "--to", "es", "--data", data, *grid, *against),
            *("--test-set", *tested, *timing, "--repeats", repeats, "-o", str(place / f"speed-{data}")),
        )
    trained = [part for name in ADDED for part in ("--system", f"{name[3:].upper()}=torch:{models / name}?beam_size=1")]
    for data, rules in product(("official", "core"), ("paper", "best")):
        gendermark(
            *("study", "training", *trained, "--to", "es", "--data", data, "--rules", rules, "--plain", *tested),
            *("-o", str(place / f"training-{data}-{rules}")),
        )


def tables(place: Path) -> None:
    """Relative drops in percent: ours, and in brackets those that follow from the paper's Table 4."""
    lines = []
    for data in ("official", "core"):
        report = json.loads((place / f"speed-{data}" / "speed.json").read_text(encoding="utf-8"))["report"]
        points = {point["name"]: point for point in report["points"]}
        for section in published_sections():
            if section.direction != "en-es":
                continue
            lines += [
                "",
                f"{section.where}, {data}",
                "",
                f"| | {' | '.join(DROPPING)} |",
                f"|---|{'---:|' * len(DROPPING)}",
            ]
            (_, base), *rows = section.rows.items()
            for name, printed in rows:
                dropped = points[OURS[name]]["relative_drops"]
                cells = [f"{_shown(dropped[c])} ({_shown(relative_drop(base[c], printed[c]))})" for c in DROPPING]
                lines.append(f"| {name} | {' | '.join(cells)} |")
    (place / "tables.md").write_text("\n".join([*lines, ""]), encoding="utf-8")


def _shown(value: Any) -> str:
    return "–" if value is None else f"{value:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "study", "seeds", "methods", "tables"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--loss", choices=UNTIL, default="1.475", help="held-out loss of seeds, or base's")
    parser.add_argument("--to", default="es", help="target language of seeds")
    parser.add_argument("--text-alone", action="store_true", help="train seeds without our grammar")
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_intermixed_args()  # names may follow -o DIR
    given.output.mkdir(parents=True, exist_ok=True)
    if given.what == "train":
        train(given.output, given.names)
    elif given.what == "study":
        study(given.output)
    elif given.what == "seeds":
        seeds(given.output, given.names, given.loss, given.to, is_text_alone=given.text_alone)
    elif given.what == "methods":
        methods(given.output, given.names)
    else:
        tables(given.output)


if __name__ == "__main__":
    main()
