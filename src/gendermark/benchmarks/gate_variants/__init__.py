"""GATE: what becomes of people whose gender is left open? (Rarrick, Naik, Mathur, Poudel and Chowdhary 2023, AIES)

English sentences with one to three people whose gender is open, and their translations into Spanish, French and
Italian, one for each way to close it; into German, Portuguese and Russian as Garg et al. (2024) annotated them, with
sentences that leave nothing open. Three questions, three benchmarks:

`gate-variants`: which variant does a system choose that gives one translation?
`gate-alternatives`: does a system that gives several offer all of them?
`gate-rewriting`: does a rewriter make a masculine translation feminine, and the reverse, exactly? This is the paper's.

Rules `paper` compare with the references to the last sign, as the released script does. Rules `best` leave out what
cannot be rewritten, and read the gender of translations that are worded otherwise than the references.
"""

from __future__ import annotations

from dataclasses import dataclass

from gendermark.selection import EVERYWHERE, JUDGING, Selection, drawing_options, option

VARIANTS, ALTERNATIVES, REWRITING = "gate-variants", "gate-alternatives", "gate-rewriting"
GROUPS = ("one", "two", "three")
"""How many people of open gender a sentence has."""
NOBODY = "none"
"""The group of sentences without any, which have one translation."""
DIRECTIONS = ("f2m", "m2f")
FEMININE, MASCULINE, MIXED, UNREAD, CLOSED = "fmx?-"
"""How one person is read: `CLOSED` where no variant differs in that person's gender."""
MATCH, MISMATCH, EMPTY = "match", "mismatch", "empty"
SAMPLING = "epsilon=0.2"
N_SAMPLES = 16


@dataclass(frozen=True)
class Shared(Selection):
    """What the three share."""

    data: str = option("official", "core", "file:FILE", default="official")
    rules: str = option("best", "paper", default="best")
    cluster: str = option("sentence", "noun")
    split: str = option(
        "all",
        "dev",
        "test",
        "half1",
        "half2",
        help="Part of the sentences: all, dev, test, half1 or half2",
        verbs=EVERYWHERE,
    )


@dataclass(frozen=True)
class Settings(Shared):
    """Of `gate-variants`: one translation of each sentence."""

    parts: tuple[str, ...] = option(*GROUPS, default=(), noun="group")
    reading: str = option(
        "all", "keywords", "exact", help="What tells the gender: all, keywords or exact", verbs=JUDGING
    )


@dataclass(frozen=True)
class AlternativesSettings(Settings):
    """Of `gate-alternatives`: several translations of each sentence."""

    n_samples: int = option(default=0, help=f"Translations of each sentence ({N_SAMPLES} if not given)", verbs=("run",))
    sampling: str = option(
        help="How they are drawn, for example epsilon=0.2,seed=1", verbs=("score", "run"), is_repeatable=True
    )

    @property
    def sampling_options(self) -> tuple[tuple[str, str], ...]:
        return drawing_options(self.sampling, SAMPLING)


@dataclass(frozen=True)
class RewritingSettings(Shared):
    """Of `gate-rewriting`: a translation of one gender is to be made one of the other."""

    parts: tuple[str, ...] = option(*DIRECTIONS, default=(), noun="direction")
    min_words: int = option(default=0, help="Only sources of at least this many words", verbs=JUDGING)
    max_words: int = option(default=0, help="Only sources of at most this many words", verbs=JUDGING)
    full_set_recall: str = option(
        "no", "yes", help="Whether sentences left out by their length count as not rewritten: no or yes", verbs=JUDGING
    )


SETTINGS = {VARIANTS: Settings, ALTERNATIVES: AlternativesSettings, REWRITING: RewritingSettings}
