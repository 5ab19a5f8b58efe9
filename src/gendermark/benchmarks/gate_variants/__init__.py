"""GATE: which gender do people of unspecified gender get? (Rarrick, Naik, Mathur, Poudel and Chowdhary 2023, AIES)

English sentences with one to three people of unspecified gender, and a translation into Spanish, French or Italian for
each combination of genders; into German, Portuguese and Russian as annotated by Garg et al. (2024), with sentences that
specify every gender.

`gate-variants` is about systems that give one translation, `gate-alternatives` about those that give several,
`gate-rewriting`, the paper's, about rewriters.

Rules `paper` require an exact match with a reference, as in the released script. Rules `best` exclude what cannot be
rewritten, and read the gender of translations that differ from the references.
"""

from __future__ import annotations

from dataclasses import dataclass

from gendermark.selection import EVERYWHERE, JUDGING, Selection, option

VARIANTS, ALTERNATIVES, REWRITING = "gate-variants", "gate-alternatives", "gate-rewriting"
GROUPS = ("one", "two", "three")
"""Number of people of unspecified gender in a sentence."""
NOBODY = "none"
"""Sentences without any, which have one translation."""
DIRECTIONS = ("f2m", "m2f")
FEMININE, MASCULINE, MIXED, UNREAD, CLOSED = "fmx?-"
"""Reading of one person; `CLOSED`: no variant differs in that person's gender."""
MATCH, MISMATCH, EMPTY = "match", "mismatch", "empty"
N_SAMPLES = 16


@dataclass(frozen=True)
class Shared(Selection):
    """Settings shared by all three."""

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
    parts: tuple[str, ...] = option(*GROUPS, default=(), noun="group")
    reading: str = option("all", "keywords", "exact", help="How gender is read: all, keywords or exact", verbs=JUDGING)


@dataclass(frozen=True)
class AlternativesSettings(Settings):
    n_samples: int = option(default=0, help=f"Translations of each sentence ({N_SAMPLES} if not given)", verbs=("run",))
    sampling: str = option(
        help="How samples are drawn, for example epsilon=0.2,seed=1", verbs=("score", "run"), is_repeatable=True
    )


@dataclass(frozen=True)
class RewritingSettings(Shared):
    parts: tuple[str, ...] = option(*DIRECTIONS, default=(), noun="direction")
    min_words: int = option(default=0, help="Only sources of at least this many words", verbs=JUDGING)
    max_words: int = option(default=0, help="Only sources of at most this many words", verbs=JUDGING)
    full_set_recall: str = option(
        "no", "yes", help="Whether sentences left out by their length count as not rewritten: no or yes", verbs=JUDGING
    )


SETTINGS = {VARIANTS: Settings, ALTERNATIVES: AlternativesSettings, REWRITING: RewritingSettings}
