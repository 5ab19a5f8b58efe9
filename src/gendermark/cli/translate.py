"""`gendermark translate`: ask a system for translations, samples or scores of any sentences."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gendermark.cli.options import Executor, Store, language, pairs, sampling_pairs
from gendermark.cli.terminal import is_terminal, open_workers, say, show_progress
from gendermark.errors import BadFile, UserError

if TYPE_CHECKING:
    from gendermark.records import Translation


def translate(
    file: Annotated[str, typer.Argument(help="File with one sentence per line; - reads standard input.")],
    system: Annotated[str, typer.Option(help="The system as family:argument, for example demo:en-es")],
    to: Annotated[str, typer.Option("--to", callback=language, help="Target language.")],
    from_: Annotated[str, typer.Option("--from", callback=language, help="Source language.")] = "en",
    samples: Annotated[int, typer.Option(min=0, help="Draw so many samples of each instead of the best one.")] = 0,
    sampling: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="How to draw: temperature, top_k, top_p, epsilon, seed; several with commas, or given several times.",
        ),
    ] = None,
    targets: Annotated[
        Path | None, typer.Option(help="Translations, line by line; the system says how probable it finds each.")
    ] = None,
    system_option: Annotated[
        list[str] | None, typer.Option("--system-option", metavar="KEY=VALUE", help="Option of the system.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write; stdout if not given.")] = None,
    store: Store = None,
    executor: Executor = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object per line; samples and scores always are.")
    ] = False,
) -> None:
    """Translate any sentences, draw samples of them, or score given translations; what is finished is kept."""
    from gendermark import api
    from gendermark.io.textfiles import disarmed, write_text
    from gendermark.runs.run import Surroundings

    if samples and targets:
        raise UserError("--samples draws translations and --targets scores given ones; choose one of them")
    if sampling and not samples:
        raise UserError("--sampling says how to draw samples; say how many with --samples")
    for what, path in (("the sentences", Path(file)), ("--targets", targets)):
        if output is not None and path is not None and _is_same(output, path):
            raise UserError(f"-o {output} would overwrite {what}; choose another file")
    sources = _lines(file)
    asking = api.Asking(to, from_, samples, sampling_pairs(sampling), _lines(str(targets)) if targets else None)
    options = pairs(system_option or [], "--system-option", "beam_size=5")
    with open_workers(executor) as workers:
        around = Surroundings(store, show_progress, say, executor=workers)
        answers = api.translate(system, sources, asking, options, around)
    if samples:
        rows = [
            _sampled(number, source, found) for number, (source, found) in enumerate(zip(sources, answers, strict=True))
        ]
        text = _jsonl(rows)
    elif targets:
        text = _jsonl([_scored(source, found[0]) for source, found in zip(sources, answers, strict=True)])
    elif as_json:
        text = _jsonl([_translated(source, found[0]) for source, found in zip(sources, answers, strict=True)])
    else:
        # One line each: a break inside a translation would shift all lines behind it.
        text = "".join(f"{' '.join((found[0].text or '').split())}\n" for found in answers)
    if output is None:
        sys.stdout.write(disarmed(text) if is_terminal(sys.stdout) else text)
    else:
        write_text(output, text)
        say(f"{len(answers):,} lines written to {output}")
    asked = [answer for found in answers for answer in found]
    if failed := [answer for answer in asked if answer.text is None]:
        done = "scored" if targets else "translated"
        if len(failed) == len(asked):
            raise UserError(f"none of {len(sources):,} sentences could be {done}; the first because: {failed[0].error}")
        shown = "null" if targets or samples or as_json else "an empty line"
        say(f"{len(failed):,} could not be {done} ({shown}); the first because: {failed[0].error}")


def _is_same(output: Path, path: Path) -> bool:
    try:
        return output.samefile(path)
    except OSError:  # one of them is not there
        return output.resolve() == path.resolve()


def _lines(file: str) -> list[str]:
    from gendermark.io.textfiles import read_lines, split_lines

    if file != "-":
        lines = read_lines(file)
    else:
        try:
            lines = split_lines(sys.stdin.buffer.read().decode("utf-8-sig"))
        except UnicodeDecodeError as problem:
            raise BadFile("standard input", f"{problem.object[problem.start]:#04x} is not UTF-8") from None
    if not lines:
        raise BadFile("standard input" if file == "-" else file, "is empty; give one sentence per line")
    return lines


def _translated(source: str, answer: Translation) -> dict[str, Any]:
    return {
        "source": source,
        "translation": answer.text,
        **({"error": answer.error} if answer.error else {}),
        **({"log_probability": answer.log_probability} if answer.log_probability is not None else {}),
    }


def _sampled(number: int, source: str, answers: Sequence[Translation]) -> dict[str, Any]:
    row: dict[str, Any] = {"id": str(number), "source": source, "samples": [answer.text for answer in answers]}
    if all(answer.log_probability is not None for answer in answers):
        row["logprobs"] = [answer.log_probability for answer in answers]
    return row


def _scored(source: str, answer: Translation) -> dict[str, Any]:
    return {
        "source": source,
        "target": answer.text,
        "log_probability": answer.log_probability,
        "n_tokens": answer.n_tokens,
        "token_log_probabilities": answer.token_log_probabilities,
        **({"error": answer.error} if answer.error else {}),
    }


def _jsonl(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
