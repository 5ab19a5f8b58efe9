"""Cluster texts by meaning with a model of natural language inference: equivalent texts entail each other.

Clusters are the connected components of mutual entailment. The literature instead compares each text with one member of
each existing cluster, which depends on the order of the samples since mutual entailment is not transitive. Connected
components do not depend on the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module

from gendermark.benchmarks.uncertainty.models import Answers, Question, encode, load_pretrained, pretrained_name
from gendermark.errors import UserError

DEFAULT_MODEL = "MoritzLaurer/mDeBERTa-v3-base-mnli-xnli"
_YES, _NO = b"1", b"0"
Pair = tuple[str, str]
Entails = Callable[[Sequence[Pair]], Sequence[bool]]
"""For each (premise, hypothesis): does the second follow from the first?"""


class Entailment:
    """A model of natural language inference with cached answers."""

    def __init__(self, model: str = DEFAULT_MODEL) -> None:
        needs = ("clustering by entailment", "hf", "--entailment DIRECTORY")
        self._tokenizer, self._model = load_pretrained("AutoModelForSequenceClassification", model, *needs)
        labels = self._model.config.id2label
        known = [int(number) for number, label in labels.items() if str(label).casefold() == "entailment"]
        if not known:
            raise UserError(
                f"the model {model!r} has no label 'entailment' (its labels: {', '.join(map(str, labels.values()))}); "
                "give a model of natural language inference"
            )
        self._label = known[0]
        self.name = f"nli:{pretrained_name(model)}"
        self._answers = Answers(self.name, self._ask)

    def __call__(self, pairs: Sequence[Pair]) -> list[bool]:
        found = self._answers(pairs)
        return [found[pair] == _YES for pair in pairs]

    def _ask(self, pairs: Sequence[Question]) -> Iterator[bytes]:
        premises, hypotheses = zip(*pairs, strict=True)
        with import_module("torch").inference_mode():
            logits = self._model(**encode(self._tokenizer, premises, hypotheses)).logits
        return (_YES if label == self._label else _NO for label in logits.argmax(dim=-1).tolist())


def entailment_clusters(groups: Sequence[Sequence[str]], entails: Entails) -> list[list[int]]:
    """For each group of texts, the cluster number of each, from 0 in the order of the texts.

    Questions of all groups are batched; the second direction is asked only if the first holds, and never for texts
    already in one cluster.
    """
    distinct = [list(dict.fromkeys(texts)) for texts in groups]
    clusters = [{text: number for number, text in enumerate(texts)} for texts in distinct]
    for distance in range(1, max(map(len, distinct), default=0)):
        neighbours = [list(zip(texts, texts[distance:], strict=False)) for texts in distinct]
        apart = [
            [(a, b) for a, b in pairs if cluster_of[a] != cluster_of[b]]
            for pairs, cluster_of in zip(neighbours, clusters, strict=True)
        ]
        linked = _linked((pair for pairs in apart for pair in pairs), entails)
        for pairs, cluster_of in zip(apart, clusters, strict=True):
            for a, b in pairs:
                if _ordered(a, b) in linked and cluster_of[a] != cluster_of[b]:
                    kept, gone = sorted((cluster_of[a], cluster_of[b]))
                    cluster_of |= {text: kept for text, number in cluster_of.items() if number == gone}
    numbers = [{number: place for place, number in enumerate(dict.fromkeys(found.values()))} for found in clusters]
    return [
        [number_of[cluster_of[text]] for text in texts]
        for texts, cluster_of, number_of in zip(groups, clusters, numbers, strict=True)
    ]


def clusters_with(
    wanted: Sequence[Sequence[str]],
    groups: Sequence[Sequence[str]],
    clusters: Sequence[Sequence[int]],
    entails: Entails,
) -> list[list[frozenset[int]]]:
    """For each wanted text, the clusters with a member that equals or is linked to it.

    It merges no clusters: a text linked to two belongs to both.
    """
    pairs = ((text, other) for texts, group in zip(wanted, groups, strict=True) for text in texts for other in group)
    linked = _linked((pair for pair in pairs if pair[0] != pair[1]), entails)
    return [
        [
            frozenset(
                number
                for other, number in zip(group, numbers, strict=True)
                if other == text or _ordered(text, other) in linked
            )
            for text in texts
        ]
        for texts, group, numbers in zip(wanted, groups, clusters, strict=True)
    ]


def _linked(pairs: Iterable[Pair], entails: Entails) -> set[Pair]:
    asked = list(dict.fromkeys(_ordered(a, b) for a, b in pairs))
    forward = [pair for pair, holds in zip(asked, entails(asked), strict=True) if holds]
    backward = entails([(b, a) for a, b in forward])
    return {pair for pair, holds in zip(forward, backward, strict=True) if holds}


def _ordered(a: str, b: str) -> Pair:
    return (a, b) if a < b else (b, a)
