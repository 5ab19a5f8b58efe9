"""What a system thinks of two given translations that differ in gender (Figure 1 of the uncertainty paper)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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


def compare_targets(
    system: str,
    sources: Sequence[str],
    targets: tuple[str, str],
    direction: tuple[str, str],
    system_options: Mapping[str, str] | None = None,
    context: RunContext = NO_CONTEXT,
) -> dict[str, Any]:
    """How probable a masculine and a feminine translation of each source are, and the tokens where they part.

    `parting` is the place of the first token in which the targets differ, `at_parting` the probabilities of both tokens
    there; `None` where the system gives none of single tokens.
    """
    words = next((pair for pair in zip(*map(str.split, targets), strict=False) if pair[0] != pair[1]), None)
    if words is None:
        raise UserError(f"the two targets must differ in a word that both have, but they are {' and '.join(targets)!r}")
    asked = [(source, target) for source in sources for target in targets]
    asking = api.Asking(direction[1], direction[0], targets=[target for _, target in asked])
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
    return {
        "system": system,
        "targets": list(targets),
        "words": list(words),
        "parting": parting,
        "sources": [_preference(source, pair, parting) for source, pair in zip(sources, pairs, strict=True)],
    }


def _parting(pairs: Sequence[tuple[Translation, Translation]]) -> int | None:
    """The first token in which the targets differ.

    Systems give no tokens, only their probabilities. After the same words these are the same, so the first ones that
    differ are the place; for either source, since two tokens may be equally probable after one of them.
    """
    places = []
    for one, other in pairs:
        both = zip(one.token_log_probabilities or (), other.token_log_probabilities or (), strict=False)
        places += [place for place, (a, b) in enumerate(both) if abs(a - b) > _SAME_TOKEN][:1]
    return min(places, default=None)


def _preference(source: str, pair: tuple[Translation, Translation], parting: int | None) -> dict[str, Any]:
    """Of one source; the first of each pair is the masculine one."""
    masculine, feminine = (found.log_probability or 0.0 for found in pair)
    at_parting = None
    if parting is not None and all(found.token_log_probabilities for found in pair):
        at_parting = [math.exp((found.token_log_probabilities or ())[parting]) for found in pair]
    return {
        "source": source,
        "log_probabilities": [masculine, feminine],
        "n_tokens": [found.n_tokens for found in pair],
        "at_parting": at_parting,
        # P(second target) if there were only these two.
        "feminine_share": 1 / (1 + math.exp(min(masculine - feminine, 700.0))),
        "feminine_share_at_parting": at_parting[1] / sum(at_parting) if at_parting and sum(at_parting) else None,
    }


def _table(report: Mapping[str, Any]) -> Table:
    columns = ("source", "masculine", "feminine", "p_masculine", "p_feminine", "feminine_share_at_parting")
    whole = ("log_p_masculine", "log_p_feminine", "difference", "feminine_share")
    rows = []
    for found in report["sources"]:
        masculine, feminine = found["log_probabilities"]
        parting = (*(found["at_parting"] or (None, None)), found["feminine_share_at_parting"])
        both = (masculine, feminine, masculine - feminine, found["feminine_share"])
        rows.append((found["source"], *report["words"], *parting, *both))
    title = f"{readable(report['system'])}: {' / '.join(report['targets'])}"
    return Table("determiners", title, (*columns, *whole), rows)


# -- the command -------------------------------------------------------------------------------------------------------


def determiners(
    sources: Annotated[
        tuple[str, ...],
        typer.Argument(metavar="SOURCE...", help="Sentences: one that gives the gender, one that does not."),
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
    """Compare the probabilities of "el" and "la" where the source gives the gender and where it does not."""
    report = compare_targets(system, sources, targets, (from_, to), system_options, RunContext(store, tell=say))
    notes = [] if report["parting"] is not None else [f"{system} scores whole translations only, not single tokens"]
    show(report, [_table(report)], notes, as_json=as_json)
