"""Semantic uncertainty: is a system uncertain exactly when the source is ambiguous? (Staliūnaitė, Cheng and Vlachos
2026)

Many translations of each WinoMT sentence are sampled. They should agree on gender if a pronoun specifies it, and not if
the pronoun is "they". Agreement is measured by the entropy of the samples: of strings, of the noun's gender, and of
meanings by similarity (S3E). Equations and what is reconstructed in them: `metrics/uncertainty.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from gendermark.selection import EVERYWHERE, JUDGING, Selection, option

COSINE = "cosine"
DISTANCES = (COSINE, "euclidean", "manhattan", "chebyshev", "minkowski")


@dataclass(frozen=True)
class Settings(Selection):
    data: str = option("official", "core", "file:FILE", "mgente:FILE", default="official")
    revision: str = option("latest", "2019")
    rules: str = option("best", "paper", default="best")
    cluster: str = option("entity", "contrast")
    parts: tuple[str, ...] = option("referenced", default=(), noun="group")
    variant: str = option("", "names", help="Use the sentences with names", verbs=EVERYWHERE, may_differ=True)
    """A first name behind the noun."""
    aligner: str = option(help="Word aligner: fast-align (bundled), eflomal or simalign", verbs=JUDGING)
    detector: str = option(
        help="Gender detector: spacy:MODEL or stanza:LANGUAGE (default: built-in rules)", verbs=JUDGING
    )
    n_samples: int = option(default=0, help="Samples of each sentence (128 if not given)", verbs=("run",))
    sampling: str = option(
        help="How samples are drawn, for example epsilon=0.2,seed=1; repeatable",
        verbs=("score", "run"),
        is_repeatable=True,
    )
    similarity: str = option(
        help="Similarity: characters, words, chrf or bleu (bundled), use, or e5:MODEL", verbs=JUDGING
    )
    distance: str = option(
        *DISTANCES, default=COSINE, help=f"How vectors are compared: {', '.join(DISTANCES)}", verbs=JUDGING
    )
    alpha: str = option(
        help="Power of the similarity: a number, tuned, or tuned:RUN_FOLDER",
        verbs=JUDGING,
        mend="judge one of them again with the other's alpha: gendermark rejudge RUN --alpha NUMBER -o NEW_FOLDER",
    )
    entailment: str = option(help="NLI model, name or directory, for semantic entropy", verbs=JUDGING)


SETTINGS = {"uncertainty": Settings}
