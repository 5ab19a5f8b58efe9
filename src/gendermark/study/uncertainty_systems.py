"""Questions of the uncertainty paper that are put to a system itself: two given translations; how samples are drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from gendermark import api
from gendermark.benchmarks.uncertainty.benchmark import BENCHMARK
from gendermark.benchmarks.uncertainty.items import AMBIGUOUS, UNAMBIGUOUS, references
from gendermark.benchmarks.uncertainty.measures import chosen_alpha
from gendermark.errors import SystemFailure, UserError
from gendermark.metrics.metric import Resampling, count, estimate
from gendermark.metrics.uncertainty import ALPHAS
from gendermark.records import Table, Translation
from gendermark.result import Result
from gendermark.runs import run as running
from gendermark.study.uncertainty import value_of

EPSILONS = (0.02, 0.05, 0.1, 0.2)


# -- two given translations --------------------------------------------------------------------------------------------

_SAME_TOKEN = 1e-3
"""Log-probabilities of the same token after the same words differ by less than this, however they were batched."""


@dataclass(frozen=True)
class Preference:
    """What a system thinks of two targets for one source; the first of each pair is the masculine one."""

    source: str
    log_probabilities: tuple[float, float]
    n_tokens: tuple[int | None, int | None]
    at_parting: tuple[float, float] | None
    """The probability of the first token where the targets part, after the words they share."""

    @property
    def feminine_share(self) -> float:
        """P(second target) if there were only these two."""
        masculine, feminine = self.log_probabilities
        return 1 / (1 + math.exp(min(masculine - feminine, 700.0)))

    @property
    def feminine_share_at_parting(self) -> float | None:
        if self.at_parting is None or not sum(self.at_parting):
            return None
        return self.at_parting[1] / sum(self.at_parting)


@dataclass(frozen=True)
class Preferences:
    """Two sources against the same two targets."""

    system: str
    targets: tuple[str, str]
    words: tuple[str, str]
    """The first words in which the targets differ."""
    parting: int | None
    """The place of the first token in which they differ, from 0; `None` where the system tells nothing of tokens."""
    preferences: tuple[Preference, ...]

    def table(self) -> Table:
        columns = ("source", "masculine", "feminine", "p_masculine", "p_feminine", "feminine_share_at_parting")
        rows = [
            (
                found.source,
                *self.words,
                *(found.at_parting or (None, None)),
                found.feminine_share_at_parting,
                *found.log_probabilities,
                found.log_probabilities[0] - found.log_probabilities[1],
                found.feminine_share,
            )
            for found in self.preferences
        ]
        whole = ("log_p_masculine", "log_p_feminine", "difference", "feminine_share")
        return Table("determiners", f"{self.system}: {' / '.join(self.targets)}", (*columns, *whole), rows)

    def to_json(self) -> dict[str, Any]:
        return {
            "system": self.system,
            "targets": list(self.targets),
            "words": list(self.words),
            "parting": self.parting,
            "sources": [
                {
                    **asdict(found),
                    "feminine_share": found.feminine_share,
                    "feminine_share_at_parting": found.feminine_share_at_parting,
                }
                for found in self.preferences
            ],
        }


def compare_targets(
    system: str, sources: Sequence[str], targets: tuple[str, str], to: str, source_language: str = "en", **options: Any
) -> Preferences:
    """How probable a masculine and a feminine translation of each source are, and the tokens where they part."""
    words = _first_difference(*targets)
    asked = [(source, target) for source in sources for target in targets]
    answers = api.translate(
        system,
        [source for source, _ in asked],
        to,
        source_language,
        targets=[target for _, target in asked],
        **options,
    )
    scored = [found for (found,) in answers]
    for found in scored:
        if found.log_probability is None:
            raise SystemFailure(
                f"{system} gave no log-probability for {found.text!r}"
                + (f": {found.error}" if found.error else "; ask one that can score translations")
            )
    pairs = list(zip(scored[::2], scored[1::2], strict=True))
    parting = _parting(pairs)
    return Preferences(
        system,
        targets,
        words,
        parting,
        tuple(_preference(source, *pair, parting) for source, pair in zip(sources, pairs, strict=True)),
    )


def _first_difference(masculine: str, feminine: str) -> tuple[str, str]:
    for one, other in zip(masculine.split(), feminine.split(), strict=False):
        if one != other:
            return one, other
    raise UserError(
        f"the two targets must differ in a word that both have, but they are {masculine!r} and {feminine!r}"
    )


def _parting(pairs: Sequence[tuple[Translation, Translation]]) -> int | None:
    """The first token in which the targets differ.

    Systems tell no tokens, only their probabilities. After the same words these are the same, so the first ones that
    differ are the place; for either source, since two tokens may be equally probable after one of them.
    """
    places = []
    for one, other in pairs:
        both = zip(one.token_log_probabilities or (), other.token_log_probabilities or (), strict=False)
        places += [place for place, (a, b) in enumerate(both) if abs(a - b) > _SAME_TOKEN][:1]
    return min(places, default=None)


def _preference(source: str, masculine: Translation, feminine: Translation, parting: int | None) -> Preference:
    at_parting = None
    if parting is not None and masculine.token_log_probabilities and feminine.token_log_probabilities:
        at_parting = (
            math.exp(masculine.token_log_probabilities[parting]),
            math.exp(feminine.token_log_probabilities[parting]),
        )
    return Preference(
        source,
        (masculine.log_probability or 0.0, feminine.log_probability or 0.0),
        (masculine.n_tokens, feminine.n_tokens),
        at_parting,
    )


# -- how samples are drawn ---------------------------------------------------------------------------------------------

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
