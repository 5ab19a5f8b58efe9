"""The options of semantic uncertainty: how samples are drawn, and what says how alike they are."""

from __future__ import annotations

from dataclasses import dataclass

from gendermark.selection import EVERYWHERE, JUDGING, Selection, drawing_options, option

SAMPLING = "epsilon=0.2"
"""How the paper draws."""


@dataclass(frozen=True)
class Settings(Selection):
    data: str = option("official", "core", "file:FILE", "mgente:FILE", default="official")
    revision: str = option("latest", "2019")
    cluster: str = option("entity", "contrast")
    parts: tuple[str, ...] = option("referenced", default=(), noun="group")
    variant: str = option("", "names", help="names", verbs=EVERYWHERE, may_differ=True)
    """A first name behind the noun."""
    aligner: str = option(help="fast-align (bundled), eflomal or simalign", verbs=JUDGING)
    detector: str = option(help="spacy:MODEL or stanza:LANGUAGE instead of our rules", verbs=JUDGING)
    n_samples: int = option(default=0, help="samples of each sentence (128 if not given)", verbs=("run",))
    sampling: str = option(
        help="how they are drawn, for example epsilon=0.2,seed=1; may be given several times",
        verbs=("score", "run"),
        is_repeatable=True,
    )
    similarity: str = option(help="characters (bundled), use, or e5:MODEL", verbs=JUDGING)
    alpha: str = option(help="power of the similarity; a number, or tuned", verbs=JUDGING)
    entailment: str = option(help="NLI model, name or directory, for semantic entropy", verbs=JUDGING)

    @property
    def sampling_options(self) -> tuple[tuple[str, str], ...]:
        return drawing_options(self.sampling, SAMPLING)


SETTINGS = {"uncertainty": Settings}
