"""How far the numbers of uncertainty depend on how samples are drawn (epsilon) and compared (alpha)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gendermark import api
from gendermark.benchmarks.uncertainty import BENCHMARK
from gendermark.benchmarks.uncertainty_items import AMBIGUOUS, UNAMBIGUOUS, references
from gendermark.benchmarks.uncertainty_metrics import chosen_alpha
from gendermark.errors import UserError
from gendermark.metrics.metric import Resampling, count, estimate
from gendermark.metrics.uncertainty import ALPHAS
from gendermark.records import Table
from gendermark.result import Result
from gendermark.runs import run as running
from gendermark.study.cells import value_of

EPSILONS = (0.02, 0.05, 0.1, 0.2)
_SHOWN = (
    ("n_distinct", "all"),
    ("h_gender", UNAMBIGUOUS),
    ("h_gender", AMBIGUOUS),
    ("h_s3e", UNAMBIGUOUS),
    ("h_s3e", AMBIGUOUS),
    ("delta_h_s3e", "all"),
    ("awareness_gender", "all"),
    ("awareness_s3e", "all"),
)


@dataclass(frozen=True)
class Setting:
    """One way of drawing and one alpha, and what it gives."""

    epsilon: float
    alpha: float
    is_tuned: bool
    result: Result


@dataclass(frozen=True)
class Sensitivity:
    """The same sentences, drawn and compared in several ways."""

    system: str
    settings: tuple[Setting, ...]

    def table(self) -> Table:
        columns = ("epsilon", "alpha", *(name if part == "all" else f"{name}:{part}" for name, part in _SHOWN))
        rows = [
            (
                found.epsilon,
                f"{found.alpha:g} (tuned)" if found.is_tuned else f"{found.alpha:g}",
                *(value_of(found.result, *key) for key in _SHOWN),
            )
            for found in self.settings
        ]
        return Table("sampling", f"{self.system}: how far the numbers depend on the settings", columns, rows)

    @property
    def notes(self) -> list[str]:
        said = (f"epsilon {one.epsilon:g}: {warning}" for one in self.settings for warning in one.result.warnings)
        return list(dict.fromkeys(said))

    def to_json(self) -> dict[str, Any]:
        return {
            "system": self.system,
            "settings": [
                {
                    "epsilon": found.epsilon,
                    "alpha": found.alpha,
                    "is_tuned": found.is_tuned,
                    "estimates": [found.result.estimate(*key).to_json() for key in _SHOWN],
                    "warnings": list(found.result.warnings),
                    "signature": found.result.signature,
                }
                for found in self.settings
            ],
        }


def vary_sampling(
    system: str,
    to: str,
    epsilons: Sequence[float] = EPSILONS,
    alphas: Sequence[str] = ("4", "16", "64"),
    *,
    group: str = "",
    data: str = "core",
    n_samples: int = 0,
    similarity: str = "",
    system_options: Mapping[str, str] | None = None,
    store_path: Path | None = None,
    open_progress: running.OpenProgress = running.no_progress,
    tell: Callable[[str], None] = lambda note: None,  # noqa: ARG005
) -> Sensitivity:
    """Draw with every epsilon, and compute with every alpha; `group` is `referenced`, `all`, or whichever there is."""
    _check_settings(epsilons, alphas)
    if not group:
        group = "referenced" if data == "core" and references(to) else "all"
    settings = []
    for epsilon in dict.fromkeys(epsilons):
        options = {"data": data, "n_samples": n_samples, "similarity": similarity}
        parts = () if group == "all" else (group,)
        _, selection = api.select("uncertainty", to, parts=parts, sampling=f"epsilon={epsilon:g}", **options)
        config = running.RunConfig(system, (selection,), system_options or {})
        (drawn,) = running.run(config, None, store_path, open_progress, tell)
        for alpha in dict.fromkeys(alphas):
            chosen = chosen_alpha(drawn.judgements, alpha)
            settings.append(Setting(epsilon, chosen, alpha == "tuned", _with_alpha(drawn, alpha, config.resampling)))
    return Sensitivity(settings[0].result.system, tuple(settings))


def _with_alpha(result: Result, alpha: str, resampling: Resampling) -> Result:
    """The same judgements, with another alpha for S3E."""
    selection = replace(result.selection, alpha=alpha)
    counts = count(result.judgements, BENCHMARK.tally(selection), lambda j: BENCHMARK.stratum(j, selection))
    settled = BENCHMARK.settled(result.judgements, selection)
    signature = result.signature.replace(f",alpha-{result.selection.alpha}|", f",alpha-{settled.alpha}|")
    estimates = estimate(counts, BENCHMARK.metrics(result.judgements, selection), resampling, signature)
    warnings = tuple(BENCHMARK.warnings(result.judgements, selection))
    return replace(result, selection=selection, estimates=tuple(estimates), warnings=warnings, signature=signature)


def _check_settings(epsilons: Sequence[float], alphas: Sequence[str]) -> None:
    if not epsilons or not alphas:
        raise UserError("give at least one --epsilon and one --alpha")
    for epsilon in epsilons:
        if not 0 <= epsilon < 1:
            raise UserError(f"--epsilon is a probability below 1, not {epsilon:g}")
    known = [f"{alpha:g}" for alpha in ALPHAS]
    for alpha in alphas:
        if alpha not in (*known, "tuned"):
            raise UserError(f"--alpha is {', '.join(known)} or tuned here, not {alpha!r}")
