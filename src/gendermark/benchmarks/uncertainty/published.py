"""Rules `paper`: how the paper draws and compares, as far as its text says, as one name.

128 samples with epsilon 0.2 (section 3), similarity by multilingual E5, meanings by an mDeBERTa that was trained for
inference (section 3), alpha tuned (Appendix B). The text does not say which size of E5 it was, so the largest stands
here, nor whether alpha was tuned once for all systems: tune it in one run and hand it on.
"""

from __future__ import annotations

from dataclasses import replace

from gendermark.benchmarks.uncertainty import SAMPLING, Settings
from gendermark.errors import UserError
from gendermark.linguistics.entailment import DEFAULT_MODEL
from gendermark.linguistics.similarity import DEFAULT_E5

PAPER = "paper"
N_SAMPLES = 128
_EPSILON = 0.2
_FREE = frozenset({"epsilon", "seed", "top_k", "top_p"})
"""Of how samples are drawn: the paper also names a top-k or top-p, but its value is lost in the text we have."""
ELSEWHERE = "unknown=elsewhere"
"""How samples were drawn that somebody else has drawn."""


def by_the_paper(settings: Settings) -> Settings:
    """The paper's settings where nothing was given; what contradicts them is refused."""
    _check(settings)
    return replace(
        settings,
        n_samples=settings.n_samples or N_SAMPLES,
        sampling=settings.sampling or SAMPLING,
        similarity=settings.similarity or f"e5:{DEFAULT_E5}",
        alpha=settings.alpha or "tuned",
        entailment=settings.entailment or DEFAULT_MODEL,
    )


def check_number(n_samples: int) -> None:
    """Also of samples that were drawn elsewhere."""
    if n_samples not in (0, N_SAMPLES):
        _refuse("--n-samples", str(N_SAMPLES), str(n_samples))


def _check(settings: Settings) -> None:
    check_number(settings.n_samples)
    drawn = dict(settings.sampling_options) if settings.sampling not in ("", ELSEWHERE) else {"epsilon": "0.2"}
    if drawn.keys() - _FREE or _number(drawn.get("epsilon", "")) != _EPSILON:
        _refuse("--sampling", f"{SAMPLING}, and a seed if you like", settings.sampling)
    if settings.similarity and settings.similarity.partition(":")[0] != "e5":
        _refuse("--similarity", "e5:MODEL", settings.similarity)
    if settings.distance not in ("", "cosine"):
        _refuse("--distance", "cosine", settings.distance)
    if settings.alpha and not settings.alpha.startswith("tuned"):
        _refuse("--alpha", "tuned or tuned:RUN_FOLDER", settings.alpha)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _refuse(flag: str, theirs: str, given: str) -> None:
    raise UserError(f"rules paper take {flag} {theirs}, not {given}; give that, or take --rules best")
