"""What a benchmark is: items, a judge for their translations, and metrics of the judgements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from gendermark.errors import UnknownName, UserError
from gendermark.metrics.metric import Metric, Tally
from gendermark.records import Gender, Item, Judgement, Request, Table, Test, Translation


@dataclass(frozen=True)
class Selection:
    """Which items of a benchmark, between which languages, judged by which rules. Stored with every run."""

    benchmark: str
    source_language: str = ""
    target_language: str = ""
    data: str = "official"
    revision: str = ""
    rules: str = "best"
    cluster: str = ""
    parts: tuple[str, ...] = ()
    """Only these parts (SimpleGEN's groups, TGBI's sets), each in the order of its own file."""
    aligner: str = ""
    """Word aligner, for benchmarks that need one; empty for the default."""
    detector: str = ""
    """What reads the gender of a noun: empty for our own rules, or a model (`spacy:MODEL`, `stanza:LANGUAGE`)."""
    split: str = ""
    """MT-GenEval: `test` or `dev`."""
    context: str = ""
    """MT-GenEval: what of the context a system is shown."""
    variant: str = ""
    """A changed form of the sentences (WinoMT's adjectives); items keep their ids, so variants can be compared."""
    n_samples: int = 0
    """Uncertainty: how many translations of each sentence are drawn."""
    sampling: str = ""
    """Uncertainty: how they are drawn, `epsilon=0.2,seed=1`."""
    similarity: str = ""
    """Uncertainty: what says how alike two translations are (`characters`, `use`, `e5:MODEL`)."""
    alpha: str = ""
    """Uncertainty: the power it is raised to; a number, or `tuned`."""
    entailment: str = ""
    """Uncertainty: a model of natural language inference, for semantic entropy."""

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "parts": list(self.parts)}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Selection:
        return cls(**{**row, "parts": tuple(row["parts"])})


@dataclass(frozen=True)
class ItemSet:
    """The items of a selection, in export order, and where they came from."""

    selection: Selection
    items: tuple[Item, ...]
    origin: str
    """Data set, revision and content hash, for the signature."""


class Benchmark(ABC):
    """One published protocol. A new one is one file with a subclass, and one line in the registry."""

    name: str
    title: str
    rules: tuple[str, ...]
    """The names of the rule sets, ours (`best`) first."""
    rules_version: int
    """Raised whenever `best` can give another verdict; part of the signature."""
    revisions: tuple[str, ...] = ("released",)
    """Of the official data, the default first."""
    part_noun: str
    """What a part is called here: "group", "set"."""
    parts: tuple[str, ...]
    variants: tuple[str, ...] = ("",)
    aligns: bool = False
    draws: bool = False
    """Whether it judges many samples of each sentence instead of one translation."""
    sources_depend_on_target: bool = False
    """Whether each target language has sentences of its own."""
    splits: tuple[str, ...] = ("",)
    """The splits of the official data, the default first."""
    contexts: tuple[str, ...] = ("",)
    """The names of context strategies, the default first."""
    own_data: tuple[str, ...] = ()
    """Kinds of files of the user's own that it reads: `--data KIND:FILE`."""
    clusters: tuple[str, ...]
    """What intervals can be clustered by, the default first."""
    headline: tuple[str, ...]
    """The metrics that are compared and gated unless others are asked for: `metric`, or `metric:slice`."""

    @abstractmethod
    def language_pairs(self, data: str) -> list[tuple[str, str]]:
        """(source, target) for each direction that this data can be used for; the first is the default."""

    @abstractmethod
    def load(self, selection: Selection) -> ItemSet:
        """The items of a completed selection, in export order."""

    @abstractmethod
    def judge(self, item_set: ItemSet, translations: Sequence[Translation]) -> list[Judgement]:
        """One judgement per item from its translation; `translations` stand in the order of the items."""

    def judge_samples(self, item_set: ItemSet, answers: Sequence[Sequence[Translation]]) -> list[Judgement]:
        """The same from all samples of each item; of one translation only, unless a benchmark draws."""
        return self.judge(item_set, [samples[0] for samples in answers])

    @abstractmethod
    def tally(self, selection: Selection) -> Tally:
        """How a group of judgements is counted."""

    @abstractmethod
    def metrics(self, judgements: Sequence[Judgement], selection: Selection) -> list[Metric]:
        """The metrics that these judgements can give."""

    @abstractmethod
    def render(self, item: Item, gender: Gender, selection: Selection) -> str:
        """A text in the target language that expresses this gender as plainly as can be; what fake systems say."""

    def stratum(self, judgement: Judgement, selection: Selection) -> str:  # noqa: ARG002
        """The stratum of a judgement's group, where the design fixes how many groups of a kind there are."""
        return ""

    def stereotype(self, item: Item) -> Gender | None:
        """The gender that a stereotyped system would choose for this item."""
        return Gender(item.tags["stereotype"]) if item.tags.get("stereotype") else None

    def fit(self, item: Item, text: str, selection: Selection) -> float | None:  # noqa: ARG002
        """How well a text fits an item, 0 to 1, gender apart; None where this benchmark cannot tell.

        Lines that fit their neighbours better than themselves show that a file is shifted.
        """
        return None

    def tests(self, judgements: Sequence[Judgement], seed: int) -> list[Test]:  # noqa: ARG002
        """Statistical tests beyond the estimates."""
        return []

    def tables(self, judgements: Sequence[Judgement]) -> list[Table]:  # noqa: ARG002
        """Views beyond the estimates: per word, per template ..."""
        return []

    def warnings(self, judgements: Sequence[Judgement], selection: Selection) -> list[str]:  # noqa: ARG002
        """What a reader of the numbers must know, one sentence each."""
        return []

    def choices(self, item_set: ItemSet) -> Sequence[tuple[str, str] | None]:  # noqa: ARG002
        """For each item a right and a contrastive translation, for a forced choice between them; or None."""
        raise UserError(f"{self.name} has no pairs of translations to choose from; leave out --forced-choice")

    def is_headline(self, metric: Metric) -> bool:
        return metric.name in self.headline or f"{metric.name}:{metric.slice}" in self.headline

    def signature(self, selection: Selection) -> Mapping[str, str]:  # noqa: ARG002
        """What else the numbers depend on: aligner, gender detector ..."""
        return {}

    def settled(self, judgements: Sequence[Judgement], selection: Selection) -> Selection:  # noqa: ARG002
        """The selection as it is signed, with what the judgements decided (a tuned alpha)."""
        return selection

    def requests(self, item_set: ItemSet) -> list[Request]:
        """What to ask of a system, one request per item."""
        selection = item_set.selection
        return [Request(item.source, selection.source_language, selection.target_language) for item in item_set.items]

    def complete(self, selection: Selection) -> Selection:
        """Fill in defaults and refuse what this benchmark does not have, before any work starts."""
        kind, _, path = selection.data.partition(":")
        if selection.data not in ("official", "core") and not (kind in self.own_data and path):
            own = tuple(f"{name}:FILE" for name in self.own_data)
            raise UnknownName("data", selection.data, ("official", "core", *own))
        revision = selection.revision
        if selection.data == "official":
            revision = revision or self.revisions[0]
            if revision not in self.revisions:
                raise UnknownName(f"revision of {self.name}", revision, self.revisions)
        elif revision:
            raise UserError(f"{kind} data has no --revision; leave it out")
        pairs = self.language_pairs(selection.data)
        source = selection.source_language or pairs[0][0]
        targets = [to for from_, to in pairs if from_ == source]
        if not targets:
            raise UnknownName(
                f"source language of {self.name} ({selection.data} data)", source, {from_ for from_, _ in pairs}
            )
        target = selection.target_language or (targets[0] if len(targets) == 1 else "")
        if not target:
            raise UserError(f"say which language {self.name} was translated into: --to {' | '.join(targets)}")
        if target not in targets:
            raise UnknownName(f"target language of {self.name} from {source} ({selection.data} data)", target, targets)
        if selection.rules not in self.rules:
            raise UnknownName(f"rules of {self.name}", selection.rules, self.rules)
        cluster = selection.cluster or self.clusters[0]
        if cluster not in self.clusters:
            raise UnknownName(f"cluster of {self.name}", cluster, self.clusters)
        split, context = selection.split or self.splits[0], selection.context or self.contexts[0]
        if split not in self.splits:
            raise UnknownName(f"split of {self.name}", split, [name for name in self.splits if name])
        kind, _, argument = context.partition(":")
        if kind not in self.contexts or (argument and kind != "separator"):
            raise UnknownName(f"context strategy of {self.name}", context, [name for name in self.contexts if name])
        selection = replace(selection, split=split, context=context)
        if selection.aligner and not self.aligns:
            raise UserError(f"{self.name} needs no word alignment; leave out --aligner")
        if selection.detector and not self.aligns:
            what = "English pronouns" if self.name == "tgbi" else "occupation nouns"
            raise UserError(f"{self.name} reads {what} by its own rules; leave out --detector")
        for field in ("n_samples", "sampling", "similarity", "alpha", "entailment"):
            if getattr(selection, field) and not self.draws:
                option = f"--{field.replace('_', '-')}"
                raise UserError(f"{self.name} judges one translation of each sentence; leave out {option}")
        if selection.variant not in self.variants:
            raise UnknownName(f"variant of {self.name}", selection.variant, [name for name in self.variants if name])
        for part in selection.parts:
            if part not in self.parts:
                raise UnknownName(f"{self.part_noun} of {self.name}", part, self.parts)
        if len(set(selection.parts)) < len(selection.parts):
            raise UserError(f"a {self.part_noun} of {self.name} is given twice; give each once")
        return replace(selection, source_language=source, target_language=target, revision=revision, cluster=cluster)


def tag_values(judgements: Iterable[Judgement], key: str) -> set[str]:
    return {judgement.tags[key] for judgement in judgements if key in judgement.tags}
