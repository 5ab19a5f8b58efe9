"""Models that were trained in different ways, side by side, as MT-GenEval's authors compared theirs (section 5.3).

Each model is run on both parts of MT-GenEval, on WinoMT and on a plain test set; the first is what the others are
compared with. A model that learnt from two sentences at a time is shown the context as it was taught.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gendermark import api
from gendermark.errors import UserError
from gendermark.io.textfiles import write_text
from gendermark.lab import training_comparison_words as words
from gendermark.lab.paired import NO_REFERENCES, Key, compared, compared_plainly, plain_set, plain_texts
from gendermark.lab.record import check_reusable, write_record
from gendermark.lab.speed.points import Point
from gendermark.lab.torch_models import trained_context
from gendermark.linguistics import context as contexts
from gendermark.metrics.metric import Resampling
from gendermark.result import Result
from gendermark.runs.run import NO_CONTEXT, RunConfig, RunContext, run
from gendermark.selection import Selection

CONTEXTUAL, COUNTERFACTUAL, WINOMT = "mt-geneval-contextual", "mt-geneval-counterfactual", "winomt"
COMPARED: tuple[Key, ...] = (
    (CONTEXTUAL, "accuracy", "all"),
    (CONTEXTUAL, "accuracy", "feminine"),
    (CONTEXTUAL, "accuracy", "masculine"),
    (COUNTERFACTUAL, "accuracy", "all"),
    (COUNTERFACTUAL, "accuracy", "feminine"),
    (COUNTERFACTUAL, "accuracy", "masculine"),
    (COUNTERFACTUAL, "bleu_feminine", "all"),
    (COUNTERFACTUAL, "bleu_masculine", "all"),
    (COUNTERFACTUAL, "delta_qual", "all"),
    (WINOMT, "accuracy", "all"),
    (WINOMT, "accuracy", "feminine"),
    (WINOMT, "accuracy", "masculine"),
    (WINOMT, "recall_gap", "all"),
)
"""For each model one Holm correction is made over them and BLEU and chrF of the plain set."""
RECORD, TABLE, LATEX = "training.json", "table.md", "table.tex"


@dataclass(frozen=True)
class Settings:
    """Everything that decides a study's numbers."""

    models: Sequence[Point]
    target_language: str
    contexts: Mapping[str, str] = field(default_factory=dict)
    """Name of a model -> what it is shown of the context; as it was taught, if nothing is said."""
    data: str = "core"
    rules: str = "best"
    plain: tuple[Path, Path] | None = None
    resampling: Resampling = field(default_factory=Resampling)

    def __post_init__(self) -> None:
        if len(self.models) < 2:
            raise UserError("one model has nothing to be compared with; give --system NAME=SPEC at least twice")
        slugs = [model.slug for model in self.models]
        for model in self.models:
            if slugs.count(model.slug) > 1:
                raise UserError(f"two models are called {model.name}; name them apart with --system NAME=SPEC")
        for name in self.contexts:
            if name not in (model.name for model in self.models):
                raise UserError(
                    f"--context is for {name!r}, and no model has this name; there are "
                    f"{', '.join(model.name for model in self.models)}"
                )

    def context(self, model: Point) -> str:
        return self.contexts.get(model.name) or trained_context(model.spec) or "none"

    def selections(self, model: Point) -> tuple[Selection, ...]:
        """What a model is asked; WinoMT has no rules of this name, and always has ours."""
        options: dict[str, Any] = {"data": self.data, "rules": self.rules}
        chosen = (
            api.select(CONTEXTUAL, self.target_language, context=self.context(model), **options),
            api.select(COUNTERFACTUAL, self.target_language, **options),
            api.select(WINOMT, self.target_language, data=self.data),
        )
        return tuple(selection for _, selection in chosen)

    def to_json(self) -> dict[str, Any]:
        return {
            "models": {model.name: {"system": model.spec, "context": self.context(model)} for model in self.models},
            "target_language": self.target_language,
            "data": self.data,
            "rules": self.rules,
            "plain": [str(path) for path in self.plain] if self.plain else None,
        }


def _all_translate(models: Sequence[Point]) -> bool:
    """Whether all of them take any sentence; fakes and files know those of a benchmark only."""
    found = []
    for model in models:
        with closing(model.open()) as system:
            found.append(system.is_stored)
    return all(found)


def study_training(settings: Settings, output: Path, context: RunContext = NO_CONTEXT) -> dict[str, Any]:
    """Run and compare; leaves a run folder for each model, the record and the tables.

    Interrupted, the same call goes on where it stopped.
    """
    selections = {model.name: settings.selections(model) for model in settings.models}
    for model in settings.models:
        contexts.show("A.", "B.", settings.context(model))  # a separator without text is refused before any work
    test_set = plain_set(settings.plain, settings.target_language) if _all_translate(settings.models) else None
    check_reusable(output / RECORD, settings.to_json(), [model.slug for model in settings.models])
    write_record(output / RECORD, {"settings": settings.to_json()})
    results: dict[str, Sequence[Result]] = {}
    texts = {}
    for model in settings.models:
        config = RunConfig(model.spec, selections[model.name], dict(model.options), settings.resampling)
        results[model.name] = run(config, output / model.slug, context)
        if test_set is not None:
            texts[model.name] = plain_texts(config, test_set, settings.target_language, context)
    first, *others = (model.name for model in settings.models)
    report: dict[str, Any] = {
        "settings": settings.to_json(),
        "baseline": first,
        "plain_set": test_set.name if test_set else None,
        "n_plain": len(test_set.sources) if test_set else 0,
        "models": [],
        "notes": [] if test_set else [NO_REFERENCES],
        "signatures": {name: [result.signature for result in found] for name, found in results.items()},
    }
    for name in others:
        plain = compared_plainly(test_set, (texts[first], texts[name]), settings.resampling) if test_set else []
        rows = compared((results[first], results[name]), COMPARED, plain, settings.resampling)
        report["models"].append({"name": name, "comparisons": [row.to_json() for row in rows]})
    report["findings"] = words.findings(report)
    write_record(output / RECORD, report)
    write_text(output / TABLE, words.markdown(report))
    write_text(output / LATEX, words.latex(report))
    return report
