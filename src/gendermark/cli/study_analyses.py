"""`gendermark study correlate`, `cues`, `quality`, `samples`, `determiners`, `sampling`: how unsure, and of what."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gendermark.cli import terminal
from gendermark.cli.options import Confidence, Executor, Resamples, Seed, Store, pairs, resampling
from gendermark.cli.terminal import AsJson, open_workers, print_json, print_table, say, show_progress
from gendermark.errors import UserError
from gendermark.lab import options

if TYPE_CHECKING:
    from gendermark.metrics.metric import Resampling
    from gendermark.records import Table
    from gendermark.runs.run import RunContext

Run = Annotated[Path, typer.Argument(metavar="DIR", help=options.RUN)]
Runs = Annotated[list[Path], typer.Argument(metavar="DIR...", help=options.RUNS)]
Into = Annotated[str, typer.Option("--to", help="Target language, if the run has several.")]
Measure = Annotated[str, typer.Option(help="Which entropy: s3e, gender, string, or semantic.")]
Plot = Annotated[Path | None, typer.Option(metavar="FILE.svg", help="Also draw dots with intervals into this file.")]
System = Annotated[str, typer.Option(help="The system as family:argument, for example demo:en-es")]
SystemOption = Annotated[
    list[str] | None, typer.Option("--system-option", metavar="KEY=VALUE", help="Option of the system.")
]


def register(app: typer.Typer) -> None:
    """Add the analyses to the app `study`."""
    for command in (correlate, cues, quality, samples, determiners, sampling):
        app.command(command.__name__)(command)


def correlate(
    runs: Runs,
    accuracy: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help=options.ACCURACY),
    ] = None,
    permutation: Annotated[str, typer.Option(help=options.PERMUTATION)] = "",
    ranks: Annotated[
        bool, typer.Option("--table18", help="Systems from best to worst by accuracy and surprisal, as Table 18.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Do systems that are rightly unsure also get gender right? Rank correlations over systems and languages."""
    from gendermark.lab.correlate import correlate as correlated

    found = correlated(runs, accuracy or [], permutation)
    if as_json:
        print_json(found.to_json())
    elif ranks:
        _show(found.rank_table())
    else:
        _show(found.table(), found.cell_table())
        _say_all(found.chance)
    _say_all(found.notes)


def cues(
    runs: Runs,
    to: Into = "",
    measure: Measure = "s3e",
    form: Annotated[
        str,
        typer.Option(
            help="within: compare the he, she and they versions of a sentence; plain: all sentences with each other; "
            "ratio, difference: the paper's, which shrink effects."
        ),
    ] = "within",
    cluster: Annotated[
        str,
        typer.Option(help="Sentences that may go together: entity (one occupation) or contrast (one he/she/they set)."),
    ] = "entity",
    factor: Annotated[
        list[str] | None,
        typer.Option(help="Only this factor in the model, for example ambiguity; may be repeated. Default: all."),
    ] = None,
    published: Annotated[
        bool, typer.Option("--table7", help="One row per run, one column per cue, as Table 7 of the paper.")
    ] = False,
    plot: Plot = None,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
) -> None:
    """Which cues in the sentence make a system sure or unsure? A linear model, corrected for many questions.

    Runs of one system with names (--variant names) and without go into one model.
    """
    from gendermark.lab import cues as study
    from gendermark.lab.cells import read_cells

    resampling(100, 0, confidence)  # says what is wrong with the confidence, if anything
    cells = [cell for run in runs for cell in read_cells(run, to)]
    question = study.Question(measure, form, cluster, factor or (), confidence)
    models = [study.model_cues(group, question) for group in study.by_system(cells)]
    if plot is not None:
        _write(plot, study.cue_plot(models))
    if as_json:
        print_json({"models": [model.to_json() for model in models]})
    elif published:
        _show(study.cue_table_as_published(models))
    else:
        _show(study.cue_table(models), study.factor_table(models))
    for model in models:
        _say_all([f"{model.system} {model.direction}: {note}" for note in model.notes])


def quality(
    runs: Annotated[list[Path] | None, typer.Argument(metavar="DIR...", help=options.RUNS)] = None,
    to: Into = "",
    measure: Measure = "s3e",
    metric: Annotated[
        str, typer.Option("--quality", help="chrf, or comet (the program that GENDERMARK_COMET names).")
    ] = "chrf",
    references: Annotated[str, typer.Option(help=options.REFERENCES)] = "mean",
    bins: Annotated[int, typer.Option(min=1, help="How many bins; 3 are terciles.")] = 3,
    separately: Annotated[
        bool, typer.Option("--separately", help="Bins of ambiguous and of unambiguous sentences each by themselves.")
    ] = False,
    plain: Annotated[tuple[Path, Path] | None, typer.Option(metavar="SOURCE REFERENCE", help=options.PLAIN)] = None,
    plain_bundled: Annotated[bool, typer.Option("--plain-bundled", help=options.PLAIN_BUNDLED)] = False,
    translations: Annotated[list[Path] | None, typer.Option(metavar="FILE", help=options.TRANSLATIONS)] = None,
    plot: Plot = None,
    resamples: Resamples = 1000,
    seed: Seed = 12345,
    confidence: Confidence = 0.95,
    executor: Executor = "",
    as_json: AsJson = False,
) -> None:
    """Is a system unsure where it translates well, or where it translates badly? Entropy by bin of quality.

    With --plain: how well do systems translate at all? Their runs say which systems; files of translations do too.
    """
    from gendermark.lab import quality as study
    from gendermark.lab.cells import read_cells
    from gendermark.runs.run import RunContext

    how = resampling(resamples, seed, confidence)
    if plain is not None or plain_bundled:
        if plain is not None and plain_bundled:
            raise UserError("--plain names a test set and --plain-bundled takes the bundled one; choose one of them")
        with open_workers(executor) as workers:
            context = RunContext(None, show_progress, say, executor=workers)
            _plain_quality(runs or [], to, plain, translations or [], how, context, as_json=as_json)
        return
    if translations:
        raise UserError("--translations are those of a plain test set; give it with --plain SOURCE REFERENCE")
    if not runs:
        raise UserError("give at least one run folder, or a test set with --plain")
    asked = study.Asked(measure, metric, bins, separately, references, how)
    found = [study.bin_by_quality(cell, asked) for run in runs for cell in read_cells(run, to)]
    if plot is not None:
        _write(plot, study.quality_plot(found))
    if as_json:
        print_json({"systems": [one.to_json() for one in found]})
    else:
        _show(study.quality_table(found))
    _say_all(study.quality_notes(found))


def _plain_quality(
    runs: Sequence[Path],
    to: str,
    files: tuple[Path, Path] | None,
    translations: Sequence[Path],
    how: Resampling,
    context: RunContext,
    *,
    as_json: bool,
) -> None:
    from gendermark.io.textfiles import read_lines
    from gendermark.lab import plain as study

    if not runs and not translations:
        raise UserError("say what translated the test set: run folders, or files with --translations")
    test_set = study.read_test_set(*files) if files else study.bundled_test_set()
    texts: dict[str, Sequence[str]] = {str(path): read_lines(path) for path in translations}
    texts |= study.translations_by_runs(runs, test_set, to, context)
    found = study.rate_systems(test_set, texts, how)
    if as_json:
        print_json(found.to_json())
    else:
        _show(found.table())
    _say_all(found.notes)


def samples(
    run: Run,
    to: Into = "",
    contrast: Annotated[str, typer.Option(metavar="ID", help="Contrast set, as in judgements.jsonl.")] = "",
    source: Annotated[str, typer.Option(metavar="TEXT", help="A sentence of the set, or enough of it.")] = "",
    as_json: AsJson = False,
) -> None:
    """One sentence with he, she and they: what was drawn, how often, in which gender, and how unsure that is."""
    from gendermark.lab.cells import read_cell
    from gendermark.lab.samples import look_at

    found = look_at(read_cell(run, to), contrast=contrast, source=source)
    if as_json:
        print_json(found.to_json())
    else:
        _show(found.table(), found.entropy_table())


def determiners(
    sources: Annotated[
        list[str], typer.Argument(metavar="SOURCE...", help="Sentences: one that tells the gender, one that does not.")
    ],
    system: System,
    to: Annotated[str, typer.Option("--to", help="Target language.")],
    targets: Annotated[
        tuple[str, str], typer.Option(metavar="MASCULINE FEMININE", help="Two translations that differ in gender.")
    ],
    from_: Annotated[str, typer.Option("--from", help="Source language.")] = "en",
    system_option: SystemOption = None,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """How probable are "el" and "la", where the source tells the gender and where it does not?"""
    from gendermark.lab.determiners import compare_targets
    from gendermark.runs.run import RunContext

    found = compare_targets(
        system,
        sources,
        targets,
        (from_, to),
        pairs(system_option or [], "--system-option", "beam_size=5"),
        RunContext(store, tell=say),
    )
    if as_json:
        print_json(found.to_json())
    else:
        _show(found.table())
    if found.parting is None:
        say(f"{system} tells nothing of single tokens: only whole translations are compared")


def sampling(
    system: System,
    to: Annotated[str, typer.Option("--to", help="Target language.")],
    epsilon: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Cut-off of the drawing; several with commas. Default: {','.join(map(str, options.EPSILONS))}"
        ),
    ] = None,
    alpha: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Power of the similarity, or tuned; several with commas. Default: {','.join(options.ALPHAS)}"
        ),
    ] = None,
    n_samples: Annotated[
        int | None, typer.Option("--n-samples", min=1, help="Samples of each sentence (128 if not given).")
    ] = None,
    group: Annotated[str, typer.Option(help="referenced (default where there are references), or all sentences.")] = "",
    data: Annotated[str, typer.Option("--data", help="core (bundled, works offline) or official.")] = "core",
    similarity: Annotated[str, typer.Option(help="characters (bundled), use, or e5:MODEL.")] = "",
    system_option: SystemOption = None,
    store: Store = None,
    executor: Executor = "",
    as_json: AsJson = False,
) -> None:
    """How far do the numbers depend on how samples are drawn (epsilon) and compared (alpha)?"""
    from gendermark.lab.sampling import Settings, vary_sampling
    from gendermark.runs.run import RunContext

    settings = Settings(
        system,
        to,
        [_number(text) for text in _listed(epsilon)] or options.EPSILONS,
        _listed(alpha) or options.ALPHAS,
        group,
        data,
        n_samples or 0,
        similarity,
        pairs(system_option or [], "--system-option", "beam_size=5"),
    )
    with open_workers(executor) as workers:
        found = vary_sampling(settings, RunContext(store, show_progress, say, executor=workers))
    if as_json:
        print_json(found.to_json())
    else:
        _show(found.table())
    _say_all(found.notes)


def _listed(texts: Sequence[str] | None) -> list[str]:
    return [part.strip() for text in texts or () for part in text.split(",") if part.strip()]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UserError(f"--epsilon is a probability below 1, or several with commas, not {text!r}") from None


def _show(table: Table, *others: Table) -> None:
    """All tables on a terminal; the first one, with all its digits, when piped. (`--json` has everything.)"""
    if terminal.is_terminal(sys.stdout):
        for one in map(_narrowed, (*others, table)):
            print_table(one.title, one.columns, [[_short(cell) for cell in row] for row in one.rows])
    else:
        print_table("", table.columns, table.rows)


def _narrowed(table: Table) -> Table:
    """Without the text that can be spared: what all rows share is said once, in the title; what only begins the next
    cell ("causality", "causality_subject_f") is not said."""
    from dataclasses import replace

    if len(table.rows) < 2:
        return table
    columns = [[row[place] for row in table.rows] for place in range(len(table.columns))]
    texts = [[str(cell or "") for cell in column] for column in columns]
    is_text = [not any(isinstance(cell, float | int) for cell in column) for column in columns]
    shared = [place for place, column in enumerate(texts) if is_text[place] and len(set(column)) == 1]
    begun = [
        place
        for place, (column, following) in enumerate(pairwise(texts))
        if all(cell and other.startswith(cell) for cell, other in zip(column, following, strict=True))
    ]
    kept = [place for place in range(len(columns)) if place not in {*shared, *begun}]
    said = ", ".join(f"{table.columns[place]} {texts[place][0]}" for place in shared if texts[place][0])
    return replace(
        table,
        title="; ".join(filter(None, (table.title, said))),
        columns=tuple(table.columns[place] for place in kept),
        rows=[tuple(row[place] for place in kept) for row in table.rows],
    )


def _short(cell: Any) -> Any:
    return f"{cell:.4g}" if isinstance(cell, float) else cell


def _write(path: Path, text: str) -> None:
    from gendermark.io.textfiles import write_text

    write_text(path, text)
    say(f"picture written to {path}")


def _say_all(notes: Sequence[str]) -> None:
    for note in notes:
        say(note)
