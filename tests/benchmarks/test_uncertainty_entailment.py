"""Clusters of texts that follow from each other, by a stand-in and by a tiny model that is loaded as a real one is."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendermark.benchmarks.uncertainty import models
from gendermark.benchmarks.uncertainty.entailment import Entailment, Pair, clusters_with, entailment_clusters
from gendermark.errors import MissingExtra, UserError

steady = settings(derandomize=True, max_examples=60, database=None)
WORDS = ["el", "la", "mecánico", "mecánica", "llamó", "colgó"]


class Known:
    """Answers from a set of pairs, and remembers what it was asked."""

    def __init__(self, *holding: Pair) -> None:
        self.holding = set(holding)
        self.asked: list[list[Pair]] = []

    def __call__(self, pairs: Sequence[Pair]) -> list[bool]:
        self.asked.append(list(pairs))
        return [pair in self.holding for pair in pairs]


def both_ways(*pairs: Pair) -> list[Pair]:
    return [*pairs, *((b, a) for a, b in pairs)]


# Clusters


def test_texts_that_follow_from_each_other_are_one_cluster() -> None:
    known = Known(*both_ways(("a", "c")), ("a", "b"))  # b follows from a, but a not from b
    assert entailment_clusters([["a", "b", "c"]], known) == [[0, 1, 0]]


def test_links_join_clusters_through_others() -> None:
    known = Known(*both_ways(("a", "b"), ("b", "c"), ("d", "e")))  # a and c are not linked themselves
    assert entailment_clusters([["a", "d", "c", "b", "e", "f"]], known) == [[0, 1, 0, 0, 1, 2]]


@given(st.sets(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), max_size=20), st.randoms())
@steady
def test_clusters_do_not_depend_on_the_order_of_the_texts(holding: set[Pair], chance: random.Random) -> None:
    texts = list("abcdefg")
    shuffled = chance.sample(texts, len(texts))

    def partition(order: list[str]) -> set[frozenset[str]]:
        (labels,) = entailment_clusters([order], Known(*holding))
        return {frozenset(t for t, label in zip(order, labels, strict=True) if label == own) for own in labels}

    assert partition(texts) == partition(shuffled)


def test_no_pair_is_asked_twice_and_none_of_one_cluster_and_back_only_where_it_holds() -> None:
    known = Known(*both_ways(("a", "b")))
    groups = [["a", "b", "c"], ["c", "b", "a", "b"], ["d"], []]
    assert entailment_clusters(groups, known) == [[0, 0, 1], [0, 1, 1, 1], [0], []]
    # In the first group a and c stand two apart, after b has been found to be a; in the second they are neighbours.
    assert [sorted(asked) for asked in known.asked] == [[("a", "b"), ("b", "c")], [("b", "a")], [("a", "c")], []]


def test_a_text_beside_the_clusters_belongs_to_all_it_is_linked_with_and_joins_none() -> None:
    known = Known(*both_ways(("a", "x"), ("c", "x"), ("a", "b")), ("d", "x"))
    groups, wanted = [["a", "b", "c", "d"], ["e"]], [["x", "c", "y"], []]
    clusters = entailment_clusters(groups, known)
    assert clusters == [[0, 0, 1, 2], [0]]
    assert clusters_with(wanted, groups, clusters, known) == [[{0, 1}, {1}, set()], []]


# The model


@pytest.fixture(scope="module")
def tiny_nli(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier with random weights, large enough to answer now this, now that."""
    directory = tmp_path_factory.mktemp("models") / "tiny-nli"
    save_classifier(directory, {0: "CONTRADICTION", 1: "neutral", 2: "Entailment"})
    return directory


def save_classifier(directory: Path, labels: dict[int, str], *, with_head: bool = True) -> None:
    torch = pytest.importorskip("torch", reason="needs the extra hf")
    transformers = pytest.importorskip("transformers", reason="needs the extra hf")
    tokenizers = pytest.importorskip("tokenizers")
    torch.manual_seed(1)
    vocabulary = {word: number for number, word in enumerate(["[PAD]", "[UNK]", "[SEP]", "[CLS]", *WORDS])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 3), ("[SEP]", 2)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", sep_token="[SEP]", cls_token="[CLS]", pad_token="[PAD]",
        model_max_length=60,
    ).save_pretrained(directory)  # fmt: skip
    config = transformers.BertConfig(
        vocab_size=20, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=64, id2label=labels, label2id={v: k for k, v in labels.items()}, initializer_range=1.0,
    )  # fmt: skip
    kind = transformers.BertForSequenceClassification if with_head else transformers.BertModel
    kind(config).save_pretrained(directory)


def all_pairs() -> list[Pair]:
    texts = ["el mecánico llamó", "la mecánica llamó", "la mecánica", "el mecánico colgó", "colgó la mecánica llamó"]
    return list(itertools.permutations(texts, 2))


def test_the_model_says_what_it_says_of_each_pair_alone(tiny_nli: Path) -> None:
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_nli)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(tiny_nli).eval()
    alone = []
    for premise, hypothesis in all_pairs():
        with torch.inference_mode():
            alone.append(int(model(**tokenizer(premise, hypothesis, return_tensors="pt")).logits.argmax()) == 2)
    assert len(set(alone)) == 2, "the tiny model should give both answers"
    entailment = Entailment(str(tiny_nli))
    assert entailment(all_pairs()) == alone
    assert entailment.name.startswith("nli:tiny-nli#")


def test_what_was_answered_is_not_asked_again(
    tiny_nli: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """By whoever opens the model next, also if the first was killed on the way."""
    pairs, asked = all_pairs(), list[int]()
    monkeypatch.setattr(models, "_AT_ONCE", 8)
    compute = Entailment._ask

    def ask(self: Entailment, batch: Sequence[Pair]) -> Any:
        if sum(asked) >= 16:
            raise KeyboardInterrupt
        asked.append(len(batch))
        return compute(self, batch)

    monkeypatch.setattr(Entailment, "_ask", ask)
    caplog.set_level("INFO", "gendermark")
    with pytest.raises(KeyboardInterrupt):
        Entailment(str(tiny_nli))(pairs)
    first, second = Entailment(str(tiny_nli)), Entailment(str(tiny_nli))
    asked.clear()
    expected = first(pairs)
    assert sum(asked) == len(pairs) - 16
    assert second(pairs) == expected
    assert sum(asked) == len(pairs) - 16
    assert not caplog.messages  # nothing is left to do


def test_a_device_that_is_not_there_is_told(tiny_nli: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDERMARK_DEVICE", "gpu")
    with pytest.raises(UserError, match=r"^GENDERMARK_DEVICE=gpu names nothing that torch can use here \(.*to cpu"):
        Entailment(str(tiny_nli))


# What goes wrong


def test_a_model_without_entailment_is_told(tmp_path: Path) -> None:
    save_classifier(tmp_path, {0: "positive", 1: "not_entailment"})
    with pytest.raises(UserError, match=r"has no label 'entailment' \(its labels: positive, not_entailment\); give a"):
        Entailment(str(tmp_path))


def test_a_model_without_a_trained_last_layer_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    save_classifier(tmp_path, {0: "entailment", 1: "neutral"}, with_head=False)
    capfd.readouterr()
    with pytest.raises(
        UserError, match=r"cannot use the model .* has no weights for classifier\.bias; give a model that"
    ):
        Entailment(str(tmp_path))
    assert capfd.readouterr() == ("", "")  # the sentence is all that is said


def test_a_missing_extra_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(models, "import_module", absent)
    with pytest.raises(MissingExtra, match=r"^clustering by entailment needs .* pip install 'gendermark\[hf\]'$"):
        Entailment()


def test_a_model_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(
        UserError,
        match=r"^clustering .* cannot load the model 'MoritzLaurer/.*give its directory with --entailment DIRECTORY$",
    ):
        Entailment()
