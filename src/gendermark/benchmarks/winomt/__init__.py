"""WinoMT: does the translated noun keep the gender that the sentence implies? (Stanovsky, Smith and Zettlemoyer 2019,
ACL)

English sentences about two people; a pronoun specifies the gender of one of them, the entity. The entity's noun is
found in the translation by lexicon and word alignment, and its grammatical gender is compared.

Rules `paper2019` and `repo2020` are the released code; rules `best` are ours.
"""

from __future__ import annotations

from dataclasses import dataclass

from gendermark.selection import EVERYWHERE, JUDGING, Selection, option

PUBLISHED = ("paper2019", "repo2020")


@dataclass(frozen=True)
class Settings(Selection):
    data: str = option("official", "core", "file:FILE", default="official")
    revision: str = option("latest", "2019")
    rules: str = option("best", *PUBLISHED, default="best")
    cluster: str = option("entity", "contrast")
    parts: tuple[str, ...] = option("pro", "anti", default=(), noun="group")
    variant: str = option(
        "",
        "adjectives",
        help="Use the sentences with stereotypical adjectives",
        verbs=EVERYWHERE,
        may_differ=True,
    )
    """Adjectives before the entity (section 3.3). Items keep their ids, so that runs with and without can be compared.
    """
    aligner: str = option(help="Word aligner: fast-align (bundled), eflomal or simalign", verbs=JUDGING)
    detector: str = option(
        help="Gender detector: spacy:MODEL or stanza:LANGUAGE (default: built-in rules)", verbs=JUDGING
    )


SETTINGS = {"winomt": Settings}
