"""Tokenisers of both kinds, and how kinds of models are given their languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from gendermark.errors import BadFile, UserError
from gendermark.systems.tokenisers import Frame, frame, open_tokenisers
from systems import tiny_hf

pytest.importorskip("sentencepiece")
TEXT = "The lawyer asked the baker."


# -- files


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
    with pytest.raises(BadFile, match=r"tokenizer\.json"):
        open_tokenisers(tmp_path)


def test_no_tokeniser_and_a_bad_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="tokenizer=PATH"):
        open_tokenisers(tmp_path)
    (tmp_path / "spiece.model").write_bytes(b"\x0a\xff")
    with pytest.raises(BadFile, match=r"spiece\.model"):
        open_tokenisers(tmp_path)


# -- languages


@pytest.mark.parametrize(
    ("name", "tokens", "to", "prefixes", "expected"),
    [
        ("opus", [], "es", {}, Frame()),
        ("opus", [">>spa<<", ">>es<<"], "es", {}, Frame("", (">>spa<<",))),
        ("opus", [">>es<<", ">>fr<<"], "es", {}, Frame("", (">>es<<",))),
        ("opus", [">>arb<<", ">>ara<<"], "ar", {}, Frame("", (">>arb<<",))),
        ("opus", [">>ara<<"], "ar", {}, Frame("", (">>ara<<",))),
        ("opus", [">>fas<<"], "fa", {}, Frame("", (">>fas<<",))),
        ("opus", [">>xx<<"], "xx", {}, Frame("", (">>xx<<",))),
        ("opus", [">>", "<<"], "es", {}, Frame()),
        ("opus", [">>spa<<", ">>eng<<"], "es", {"source_prefix": ">>eng<<"}, Frame("", (">>eng<<",))),
        ("opus", [">>spa<<"], "es", {"source_prefix": ""}, Frame()),
        ("nllb", ["eng_Latn", "spa_Latn"], "es", {}, Frame("", ("eng_Latn",), ("spa_Latn",))),
        ("m2m100", ["__en__", "__es__"], "es", {}, Frame("", ("__en__",), ("__es__",))),
        ("m2m100", ["__en__", "__es__"], "es", {"target_prefix": ""}, Frame("", ("__en__",))),
        ("t5", ["<2es>"], "es", {}, Frame("<2es> ")),
        ("t5", [], "es", {}, Frame("translate English to Spanish: ")),
        ("t5", [], "es", {"source_prefix": "{source} {target}: "}, Frame("en es: ")),
        ("plain", ["__en__"], "es", {}, Frame()),
        (
            "plain",
            ["a", "b_es"],
            "es",
            {"source_prefix": "a a", "target_prefix": "b_{target}"},
            Frame("", ("a", "a"), ("b_es",)),
        ),
    ],
)
def test_frames(name: str, tokens: list[str], to: str, prefixes: dict[str, str], expected: Frame) -> None:
    assert frame(name, ("en", to), tokens, tokens, **prefixes) == expected
