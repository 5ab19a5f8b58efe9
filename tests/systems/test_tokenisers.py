"""Tokenisers of both kinds, and what kinds of models want around a text."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gendermark.errors import BadFile, MissingExtra, UserError
from gendermark.systems.tokenisers import (
    PAIR,
    SINGLE,
    Convention,
    Frame,
    Tokenisers,
    guess_convention,
    open_tokenisers,
    opus_mark,
    opus_marks,
)
from systems import tiny_hf

pytest.importorskip("sentencepiece")
TEXT = "The lawyer asked the baker."


class Letters:
    """Every letter is a piece."""

    def pieces(self, text: str) -> list[str]:
        return list(text)

    def text(self, pieces: list[str]) -> str:
        return "".join(pieces)


def convention(name: str, *words: str, end: str = "</s>", **prefixes: str) -> Convention:
    vocabulary = frozenset({"</s>", "<unk>", *words})
    letters = Tokenisers(Letters(), Letters(), (Path("letters"),))
    return Convention(name, letters, vocabulary, vocabulary, end, **prefixes)


# -- files


def test_each_side_has_its_own_file(tmp_path: Path) -> None:
    tiny_hf.train_sentencepiece(tmp_path / "source.spm", tiny_hf.ENGLISH, 90)
    tiny_hf.train_sentencepiece(tmp_path / "target.spm", tiny_hf.SPANISH, 90)
    found = open_tokenisers(tmp_path)
    assert [path.name for path in found.files] == list(PAIR)
    assert "".join(found.source.pieces(TEXT)).replace("▁", " ").strip() == TEXT
    assert found.source.text(found.source.pieces(TEXT)) == TEXT
    assert found.target.pieces("llaves") != found.source.pieces("llaves")


def test_pieces_of_the_other_side_are_read_too(tmp_path: Path) -> None:
    tiny_hf.train_sentencepiece(tmp_path / "spm.model", tiny_hf.SPANISH, 90)
    assert open_tokenisers(tmp_path).target.text(["▁La", "▁Workshop", "s"]) == "La Workshops"


@pytest.mark.parametrize("name", SINGLE[:-1])
def test_one_file_serves_both_sides(tmp_path: Path, name: str) -> None:
    tiny_hf.train_sentencepiece(tmp_path / name, tiny_hf.ENGLISH, 90)
    found = open_tokenisers(tmp_path)
    assert found.files == (tmp_path / name,)
    assert found.source is found.target
    assert open_tokenisers(tmp_path / name).files == (tmp_path / name,)


def test_tokenizer_json(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    for decoder in (None, tokenizers.decoders.Metaspace()):
        words = tokenizers.Tokenizer(tokenizers.models.Unigram())
        words.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
        if decoder is not None:
            words.decoder = decoder
        trainer = tokenizers.trainers.UnigramTrainer(vocab_size=90, show_progress=False, unk_token="<unk>")
        words.train_from_iterator(tiny_hf.ENGLISH, trainer)
        words.save(str(tmp_path / "tokenizer.json"))
        found = open_tokenisers(tmp_path)
        assert "".join(found.source.pieces(TEXT)).replace("▁", " ").strip() == TEXT
        assert found.target.text(found.target.pieces(TEXT)) == TEXT
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(BadFile, match=r"tokenizer\.json: is not a readable tokenizer\.json \("):
        open_tokenisers(tmp_path)


def test_tokenizer_json_needs_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(MissingExtra, match=r"tokenizer\.json needs an optional package; .*gendermark\[hf\]"):
        open_tokenisers(tmp_path)


def test_no_tokeniser_and_a_bad_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"has no tokeniser, .* or say where it is with the option tokenizer=PATH"):
        open_tokenisers(tmp_path)
    (tmp_path / "spiece.model").write_bytes(b"\x0a\xff")
    with pytest.raises(BadFile, match=r"spiece\.model: is not a complete SentencePiece model; copy it again"):
        open_tokenisers(tmp_path)


# -- what stands around a text


@pytest.mark.parametrize(
    ("language", "words", "mark"),
    [
        ("es", [">>spa<<", ">>es<<"], ">>spa<<"),
        ("es", [">>es<<", ">>fr<<"], ">>es<<"),
        ("ar", [">>ara<<"], ">>ara<<"),
        ("ar", [">>arb<<", ">>ara<<"], ">>arb<<"),
        ("fa", [">>fas<<"], ">>fas<<"),
        ("xx", [">>xx<<"], ">>xx<<"),
        ("es", [">>", "<<", ">>fra<<"], None),
    ],
)
def test_marks_of_opus_mt(language: str, words: list[str], mark: str | None) -> None:
    assert opus_mark(language, words) == mark
    assert opus_marks(words) == sorted(word for word in words if len(word) > 2)


@pytest.mark.parametrize(
    ("name", "words", "prefixes", "expected"),
    [
        ("opus", [], {}, Frame("", (), ())),
        ("opus", [">>spa<<"], {}, Frame("", (">>spa<<",), ())),
        ("opus", [">>spa<<", ">>eng<<"], {"source_prefix": ">>eng<<"}, Frame("", (">>eng<<",), ())),
        ("opus", [">>spa<<"], {"source_prefix": ""}, Frame("", (), ())),
        ("nllb", ["eng_Latn", "spa_Latn"], {}, Frame("", ("eng_Latn",), ("spa_Latn",))),
        ("m2m100", ["__en__", "__es__"], {}, Frame("", ("__en__",), ("__es__",))),
        ("m2m100", ["__en__", "__es__"], {"target_prefix": ""}, Frame("", ("__en__",), ())),
        ("t5", ["<2es>"], {}, Frame("<2es> ", (), ())),
        ("t5", [], {}, Frame("translate English to Spanish: ", (), ())),
        ("t5", [], {"source_prefix": "{source} {target}: "}, Frame("en es: ", (), ())),
        ("plain", ["__en__"], {}, Frame("", (), ())),
        (
            "plain",
            ["a", "b_es"],
            {"source_prefix": "a a", "target_prefix": "b_{target}"},
            Frame("", ("a", "a"), ("b_es",)),
        ),
    ],
)
def test_frames(name: str, words: list[str], prefixes: dict[str, str], expected: Frame) -> None:
    assert convention(name, *words, **prefixes).frame(("en", "es")) == expected


@pytest.mark.parametrize(
    ("name", "words", "complaint"),
    [
        ("nllb", ["eng_Latn"], "this nllb model has no language 'es' (no 'spa_Latn' in its vocabulary)"),
        ("m2m100", ["__es__"], "this m2m100 model has no language 'en' (no '__en__' in its vocabulary)"),
        ("t5", ["<2de>", "<2fr>"], "this model does not translate into 'es'; it has <2de>, <2fr>"),
        (
            "opus",
            [f">>l{n}<<" for n in range(10)],
            "this OPUS-MT model does not translate into 'es'; it has >>l0<<, >>l1<<, >>l2<<, >>l3<<, >>l4<<, >>l5<<, "
            ">>l6<<, >>l7<< and 2 more",
        ),
    ],
)
def test_languages_that_a_model_does_not_have(name: str, words: list[str], complaint: str) -> None:
    with pytest.raises(UserError) as caught:
        convention(name, *words).frame(("en", "es"))
    assert str(caught.value) == complaint


def test_a_text_is_framed_and_found_again() -> None:
    nllb = convention("nllb", "eng_Latn", "spa_Latn", "<s>", "madeupword1")
    assert nllb.source("a\r\nb", nllb.frame(("en", "es"))) == ["eng_Latn", "a", " ", "b", "</s>"]
    assert nllb.target("a\n") == ["a", " "]
    assert nllb.text(["spa_Latn", "a", "<unk>", "b", "madeupword1", "</s>"]) == "ab"
    by_engine = convention("opus", end="")
    assert by_engine.source("ab", by_engine.frame(("en", "es"))) == ["a", "b"]
    t5 = convention("t5", source_prefix="x:")
    assert t5.source("ab", t5.frame(("en", "es"))) == ["x", ":", "a", "b", "</s>"]


@pytest.mark.parametrize(
    ("file", "words", "start", "name"),
    [
        ("source.spm", [], "</s>", "opus"),
        ("sentencepiece.bpe.model", ["eng_Latn"], "</s>", "nllb"),
        ("sentencepiece.bpe.model", ["__en__"], "</s>", "m2m100"),
        ("spiece.model", ["<extra_id_0>"], None, "t5"),
        ("tokenizer.json", [], "<pad>", "t5"),
        ("sentencepiece.model", [], "<s>", "plain"),
    ],
)
def test_the_kind_of_a_model_is_told_from_its_files(file: str, words: list[str], start: str | None, name: str) -> None:
    tokenisers = Tokenisers(Letters(), Letters(), (Path(file),))
    assert guess_convention(tokenisers, words, start) == name
