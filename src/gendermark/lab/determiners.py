"""What a system thinks of two given translations that differ in gender (Figure 1 of the uncertainty paper)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from gendermark import api
from gendermark.cli.options import Store
from gendermark.cli.terminal import AsJson, say
from gendermark.errors import SystemFailure, UserError
from gendermark.lab.studies import SystemName, SystemOptions, show
from gendermark.names import readable
from gendermark.records import Table, Translation
from gendermark.runs.run import NO_CONTEXT, RunContext

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
        return Table("determiners", f"{readable(self.system)}: {' / '.join(self.targets)}", (*columns, *whole), rows)

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
    system: str,
    sources: Sequence[str],
    targets: tuple[str, str],
    direction: tuple[str, str],
    system_options: Mapping[str, str] | None = None,
    context: RunContext = NO_CONTEXT,
) -> Preferences:
    """How probable a masculine and a feminine translation of each source are, and the tokens where they part."""
    words = _first_difference(*targets)
    source_language, to = direction
    asked = [(source, target) for source in sources for target in targets]
    asking = api.Asking(to, source_language, targets=[target for _, target in asked])
    answers = api.translate(system, [source for source, _ in asked], asking, system_options, context)
    scored = [found for (found,) in answers]
    for found, (_, target) in zip(scored, asked, strict=True):
        if found.log_probability is None:
            raise SystemFailure(
                f"{system} gave no log-probability for {target!r}"
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
        tokens = masculine.token_log_probabilities[parting], feminine.token_log_probabilities[parting]
        at_parting = math.exp(tokens[0]), math.exp(tokens[1])
    return Preference(
        source,
        (masculine.log_probability or 0.0, feminine.log_probability or 0.0),
        (masculine.n_tokens, feminine.n_tokens),
        at_parting,
    )


# -- the command -------------------------------------------------------------------------------------------------------


def determiners(
    sources: Annotated[
        tuple[str, ...],
        typer.Argument(metavar="SOURCE...", help="Sentences: one that tells the gender, one that does not."),
    ],
    system: SystemName,
    to: Annotated[str, typer.Option("--to", help="Target language.")],
    targets: Annotated[
        tuple[str, str], typer.Option(metavar="MASCULINE FEMININE", help="Two translations that differ in gender.")
    ],
    system_options: SystemOptions,
    from_: Annotated[str, typer.Option("--from", help="Source language.")] = "en",
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """How probable are "el" and "la", where the source tells the gender and where it does not?"""
    context = RunContext(store, tell=say)
    found = compare_targets(system, sources, targets, (from_, to), system_options, context)
    notes = [] if found.parting is not None else [f"{system} scores whole translations only, not single tokens"]
    show(found.to_json(), [found.table()], notes, as_json=as_json)
