"""Compare models trained in different ways, as MT-GenEval's authors did (section 5.3).

Each model is run on both parts of MT-GenEval, on WinoMT and on a plain test set, and compared with the first. A model
trained on two sentences at a time is shown context as in training. The tables follow MT-GenEval's Tables 10 and 11.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from gendermark import api
from gendermark.cli.options import AcceptUnsound, ResumedIn, Rules, StudiedData, To, option_group, pairs
from gendermark.cli.terminal import AsJson, say
from gendermark.errors import UserError
from gendermark.io.textfiles import write_json, write_text
from gendermark.lab import studies
from gendermark.lab.studies import Key, Point, Row
from gendermark.lab.torch_models import trained_facts
from gendermark.reading import context as contexts
from gendermark.records import Unit
from gendermark.reporting import latex as latex_
from gendermark.reporting import text as markdown_
from gendermark.reporting.document import Bullets, Paragraph, Section, Table
from gendermark.reporting.published import all_published
from gendermark.runs.run import NO_CONTEXT, RunContext
from gendermark.selection import Selection

RECORD = "training.json"
CONTEXTUAL, COUNTERFACTUAL, WINOMT = "mt-geneval-contextual", "mt-geneval-counterfactual", "winomt"
COMPARED = studies.compared_in("training")
COLUMNS = {one.column: one.key for one in COMPARED if one.column}
PAPER = {name: COLUMNS[name] for name in ("contextual", "counterfactual", "BLEU, women", "BLEU, men")}
"""The columns of Table 10, then those of Table 11."""
OURS = {name: key for name, key in COLUMNS.items() if name not in PAPER}
_IN_FINDINGS = {one.key: one.finding for one in COMPARED if one.finding}


@dataclass(frozen=True)
class Settings:
    systems: studies.Texts
    target_language: To
    output: ResumedIn
    context: studies.Texts = ()
    data: StudiedData = "core"
    rules: Rules = "best"
    plain: studies.PlainFiles = None
    resampling: studies.Resampled = studies.DEFAULT_RESAMPLING
    accept_unsound: AcceptUnsound = False

    def models(self) -> dict[str, tuple[Point, str]]:
        models = studies.named_points(self.systems)
        if len(models) < 2:
            raise UserError("give at least two models to compare: --system NAME=SPEC, repeated")
        studies.refuse_equal_names(models, "--system NAME=SPEC")
        shown = pairs(self.context, "--context", "ctx=separator:<sep>")
        known = [model.name for model in models]
        for name in shown:
            if name not in known:
                raise UserError(f"--context names {name!r}, which is none of the models: {', '.join(known)}")
        return {
            model.name: (model, shown.get(model.name) or str(trained_facts(model.spec).get("context") or "none"))
            for model in models
        }

    def selections(self, context: str) -> tuple[Selection, ...]:
        """The benchmarks of a model; WinoMT has no rules of this name, and always uses ours."""
        options: dict[str, Any] = {"data": self.data, "rules": self.rules}
        chosen = (
            api.select(CONTEXTUAL, self.target_language, context=context, **options),
            api.select(COUNTERFACTUAL, self.target_language, **options),
            api.select(WINOMT, self.target_language, data=self.data),
        )
        return tuple(selection for _, selection in chosen)


def study_training(settings: Settings, run_context: RunContext = NO_CONTEXT) -> dict[str, Any]:
    """Run and compare; leaves a run folder for each model, the record `training.json` and the tables.

    Rerun the same call to resume.
    """
    output, models, how = settings.output, settings.models(), settings.resampling
    selections = {name: settings.selections(context) for name, (_, context) in models.items()}
    for _, context in models.values():
        contexts.show("A.", "B.", context)  # refuse a separator without text before any work
    points = [model for model, _ in models.values()]
    translates = []  # controls and files know benchmark sentences only
    for point in points:
        with closing(point.open()) as system:
            translates.append(system.is_stored)
    test_set = studies.plain_set(settings.plain, settings.target_language) if all(translates) else None
    asked = {
        "models": {name: {"system": model.spec, "context": context} for name, (model, context) in models.items()},
        "target_language": settings.target_language,
        "data": settings.data,
        "rules": settings.rules,
        "plain": [str(path) for path in settings.plain] if settings.plain else None,
    }
    with studies.claimed(output / RECORD, asked, [model.slug for model in points]):
        made = {
            model.name: studies.run_point(
                model,
                selections[model.name],
                output / model.slug,
                how,
                run_context,
                test_set=test_set,
                accept_unsound=settings.accept_unsound,
            )
            for model in points
        }
        first, *others = models
        notes = [*([] if test_set else [studies.NO_REFERENCES]), *studies.unsound_notes(made)]
        notes += [
            f"{model.name} was self-trained on translations accepted by the reader, whose lexicons WinoMT's judge uses"
            + (
                "; read its MT-GenEval rows, which are judged by references alone"
                if settings.rules == "paper"
                else "; it also judges MT-GenEval by rules best, while --rules paper uses references alone"
            )
            for model in points
            if trained_facts(model.spec).get("self_training")
        ]
        report: dict[str, Any] = {
            "settings": asked,
            "baseline": first,
            "plain_set": test_set.name if test_set else None,
            "n_plain": len(test_set.sources) if test_set else 0,
            "models": [],
            "notes": notes,
            "signatures": studies.signatures(made),
        }
        for name in others:
            rows = studies.compared(made[first], made[name], [one.key for one in COMPARED], test_set, how)
            report["models"].append({"name": name, "comparisons": rows})
        report["findings"] = findings(report)
        write_json(output / RECORD, report)
        write_text(output / "table.md", markdown(report))
        write_text(output / "table.tex", latex_.render([_paper_table(report)]))
    return report


# -- words and tables --------------------------------------------------------------------------------------------------


def findings(report: Row) -> list[str]:
    return [
        f"{model['name']} against {report['baseline']}: "
        f"{'; '.join(studies.changes_in_words(_IN_FINDINGS, model['comparisons']))}."
        for model in report["models"]
    ]


def paper_rows(report: Row) -> list[tuple[str, ...]]:
    sides = [(report["baseline"], report["models"][0], "first")]
    sides += [(model["name"], model, "second") for model in report["models"]]
    return [
        (name, *studies.value_cells(studies.by_key(model["comparisons"]), PAPER.values(), side))
        for name, model, side in sides
    ]


def _paper_table(report: Row) -> Table:
    asked = report["settings"]
    caption = (
        f"Accuracy on MT-GenEval and BLEU of its counterfactual sentences, into {asked['target_language']} "
        f"({asked['data']} data, rules {asked['rules']})."
    )
    return Table(("model", *PAPER), paper_rows(report), caption, name="training")


def _changed(report: Row, columns: Mapping[str, Key]) -> Table:
    rows = studies.changed_rows(report["baseline"], report["models"], list(columns.values()))
    return Table(("model", *columns), rows)


def markdown(report: Row) -> str:
    to, data = report["settings"]["target_language"], report["settings"]["data"]
    shown = ", ".join(f"{name}: {one['context']}" for name, one in report["settings"]["models"].items())
    published: dict[tuple[str, str], dict[Key, float]] = defaultdict(dict)
    for value in all_published():
        if value.benchmark in (CONTEXTUAL, COUNTERFACTUAL) and value.where in ("Table 10", "Table 11"):
            published[value.system, value.direction][value.benchmark, value.metric, value.slice] = value.value
    rows = [
        (*system, *(Unit.PERCENT.show(found.get(key)) for key in PAPER.values())) for system, found in published.items()
    ]
    printed = Table(("system", "direction", *PAPER), rows, n_text=2)
    return markdown_.markdown(
        [
            Section(f"Models into {to} ({data})", [Bullets([*report["findings"], *report["notes"]])], level=1),
            Section("In the form of Tables 10 and 11", [_paper_table(report)]),
            Section("The same, with changes", [_changed(report, PAPER)]),
            Section("Further numbers", [_changed(report, OURS)]),
            Paragraph(f"What each model is shown before a contextual sentence: {shown}."),
            Section("Tables 10 and 11 of Currey et al. (2022), by their rules", [printed]),
        ]
    )


def training(
    settings: Settings = option_group(Settings), work: studies.Work = studies.WORK, as_json: AsJson = False
) -> None:
    """Compare models trained in different ways: MT-GenEval (Tables 10 and 11), WinoMT and BLEU."""
    with work as run_context:
        report = study_training(settings, run_context)
    every = Table(("model", *studies.LONG_COLUMNS), studies.long_rows(report["models"]))
    shown = replace(_changed(report, PAPER), caption=f"Models into {settings.target_language}, as in Tables 10 and 11")
    said = (*report["findings"], *report["notes"])
    studies.show(report, [shown], said, as_json=as_json, piped=[every])
    say(f"run folders and tables: {settings.output}")
