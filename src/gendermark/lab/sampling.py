"""How far the numbers of uncertainty depend on how samples are drawn (epsilon) and compared (alpha)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from typer import Option

from gendermark import api
from gendermark.benchmarks.uncertainty.benchmark import BENCHMARK
from gendermark.benchmarks.uncertainty.items import AMBIGUOUS, UNAMBIGUOUS, references
from gendermark.benchmarks.uncertainty.measures import chosen_alpha
from gendermark.cli.options import StudiedData, option_group
from gendermark.cli.terminal import AsJson
from gendermark.errors import UserError
from gendermark.lab.studies import WORK, SystemName, SystemOptions, Texts, Work, show
from gendermark.lab.uncertainty_results import settings_of
from gendermark.metrics.intervals import estimate
from gendermark.metrics.metric import Resampling
from gendermark.metrics.uncertainty import ALPHAS as KNOWN_ALPHAS
from gendermark.names import readable
from gendermark.records import Table
from gendermark.result import Result
from gendermark.runs import run as running
from gendermark.selection import Selection

EPSILONS = ("0.02", "0.05", "0.1", "0.2")
ALPHAS = ("4", "16", "64")
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
class Settings:
    """What is drawn from which system, and how."""

    system: SystemName
    target_language: Annotated[str, Option("--to", help="Target language.")]
    epsilon: Annotated[Texts, Option(help=f"Sampling cut-offs, comma-separated. Default: {','.join(EPSILONS)}")] = ()
    alpha: Annotated[
        Texts, Option(help=f"Powers of the similarity, or tuned, comma-separated. Default: {','.join(ALPHAS)}")
    ] = ()
    n_samples: Annotated[int | None, Option("--n-samples", min=1, help="Samples per sentence; default: 128.")] = None
    group: Annotated[str, Option(help="referenced (default where there are references), or all sentences.")] = ""
    data: StudiedData = "core"
    similarity: Annotated[str, Option(help="characters (bundled), use, or e5:MODEL.")] = ""
    system_options: SystemOptions = field(default_factory=dict)

    @property
    def epsilons(self) -> list[float]:
        found = []
        for text in _listed(self.epsilon) or EPSILONS:
            try:
                found.append(float(text))
            except ValueError:
                found.append(-1.0)
            if not 0 <= found[-1] < 1:
                raise UserError(f"--epsilon is a probability below 1, or several with commas, not {text!r}")
        return list(dict.fromkeys(found))

    @property
    def alphas(self) -> list[str]:
        known = [f"{alpha:g}" for alpha in KNOWN_ALPHAS]
        for alpha in (found := list(dict.fromkeys(_listed(self.alpha) or ALPHAS))):
            if alpha not in (*known, "tuned"):
                raise UserError(f"--alpha is {', '.join(known)} or tuned here, not {alpha!r}")
        return found

    def selection(self, epsilon: float) -> Selection:
        group = self.group or ("referenced" if self.data == "core" and references(self.target_language) else "all")
        return api.select(
            BENCHMARK.name,
            self.target_language,
            parts=() if group == "all" else (group,),
            data=self.data,
            n_samples=self.n_samples or 0,
            similarity=self.similarity,
            sampling=f"epsilon={epsilon:g}",
        )[1]


def _listed(texts: Sequence[str]) -> list[str]:
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def vary_sampling(settings: Settings, context: running.RunContext = running.NO_CONTEXT) -> dict[str, Any]:
    """Draw with every epsilon, and compute with every alpha."""
    found = []
    alphas = settings.alphas
    for epsilon in settings.epsilons:
        config = running.RunConfig(settings.system, (settings.selection(epsilon),), settings.system_options)
        (drawn,) = running.run(config, None, context)
        for alpha in alphas:
            result = _with_alpha(drawn, alpha, config.resampling)
            found.append(
                {
                    "epsilon": epsilon,
                    "alpha": chosen_alpha(drawn.judgements, alpha),
                    "is_tuned": alpha == "tuned",
                    "estimates": [result.estimate(*key).to_json() for key in _SHOWN],
                    "warnings": list(result.warnings),
                    "signature": result.signature,
                }
            )
    return {"system": drawn.system, "settings": found}


def _with_alpha(result: Result, alpha: str, resampling: Resampling) -> Result:
    """The same judgements, with another alpha for S3E."""
    selection, measures = replace(settings_of(result), alpha=alpha), BENCHMARK.measures
    counts = measures.count(result.judgements, selection)
    settled = BENCHMARK.settled(result.judgements, selection)
    signature = result.signature.replace(f",alpha-{settings_of(result).alpha}|", f",alpha-{settled.alpha}|")
    estimates = estimate(counts, measures.metrics(result.judgements, selection), resampling, signature)
    warnings = tuple(measures.warnings(result.judgements, selection))
    return replace(result, selection=selection, estimates=tuple(estimates), warnings=warnings, signature=signature)


# -- the command -------------------------------------------------------------------------------------------------------


def sampling(settings: Settings = option_group(Settings), work: Work = WORK, as_json: AsJson = False) -> None:
    """Measure how results depend on sampling (epsilon) and similarity (alpha)."""
    with work as context:
        report = vary_sampling(settings, context)
    rows = [
        (one["epsilon"], f"{one['alpha']:g}{' (tuned)' * one['is_tuned']}", *(e["value"] for e in one["estimates"]))
        for one in report["settings"]
    ]
    columns = ("epsilon", "alpha", *(name if part == "all" else f"{name}:{part}" for name, part in _SHOWN))
    title = f"{readable(report['system'])}: how far the numbers depend on the settings"
    notes = [f"epsilon {one['epsilon']:g}: {warning}" for one in report["settings"] for warning in one["warnings"]]
    show(report, [Table("sampling", title, columns, rows)], dict.fromkeys(notes), as_json=as_json)
