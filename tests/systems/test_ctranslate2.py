"""`ctranslate2:`: says what the bare engine says; samples follow the exact law; what is no model is refused."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gendermark.errors import UserError
from gendermark.records import Request, Task
from gendermark.systems.ctranslate2 import CTranslate2
from gendermark.systems.system import open_system
from systems import tiny_hf, tiny_models
from systems.asking import answers, requests, texts, translated

ctranslate2 = pytest.importorskip("ctranslate2")
sentencepiece = pytest.importorskip("sentencepiece")

SOURCES = [
    *tiny_hf.ENGLISH,
    *(f"Worker {n:03} {what} {whose}." for n in range(5) for what in ("lost", "saw") for whose in ("his", "her")),
]
END = tiny_models.END


@pytest.fixture(scope="module")
def opus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.opus(tmp_path_factory.mktemp("models") / "opus")


@pytest.fixture
def copied(opus: Path, tmp_path: Path) -> Path:
    return shutil.copytree(opus, tmp_path / "model")


def opened(directory: Path, **options: object) -> CTranslate2:
    given = {"max_length": "20", "device": "cpu"} | {key: str(value) for key, value in options.items()}
    system = open_system(f"ctranslate2:{directory}", given)
    assert isinstance(system, CTranslate2)
    return system


def pieces(directory: Path, source: str, file: str = "source.spm") -> list[str]:
    return sentencepiece.SentencePieceProcessor(str(directory / file)).encode(source, out_type=str)


def by_hand(
    directory: Path, sources: Sequence[list[str]], begin: Sequence[str] = (), **options: Any
) -> list[tuple[str, float, int]]:
    """What the engine itself says to these tokens, one by one: text, log-probability, number of tokens."""
    engine = ctranslate2.Translator(str(directory), intra_threads=1)
    files = [directory / name for name in ("target.spm", "sentencepiece.bpe.model")]
    speller = sentencepiece.SentencePieceProcessor(str(next(path for path in files if path.exists())))
    found = []
    for source in sources:
        (result,) = engine.translate_batch(
            [source],
            [list(begin)] if begin else None,
            max_decoding_length=20 + len(begin),
            min_decoding_length=0,
            **{"beam_size": 5} | options,
        )
        (score,) = engine.score_batch([source], result.hypotheses)
        tokens = [token for token in result.hypotheses[0][len(begin) :] if not re.match("<|__|>>|..._", token)]
        text = speller.decode(tokens).replace("▁", " ").strip()
        found.append((text, sum(score.log_probs[len(begin) :]), len(score.log_probs) - len(begin)))
    return found


def agree(system: CTranslate2, expected: Sequence[tuple[str, float, int]], to: str = "es") -> bool:
    """Texts of all; log-probabilities of those that ended."""
    found = answers(system, requests(SOURCES, to))
    assert texts(found) == [text for text, _, _ in expected]
    known = [pair for pair in zip(found, expected, strict=True) if pair[0].log_probability is not None]
    assert len(known) > len(found) / 4
    for answer, (_, log_probability, n_tokens) in known:
        assert (answer.log_probability, answer.n_tokens) == (pytest.approx(log_probability, abs=1e-4), n_tokens)
    return True


# -- against the bare engine


@pytest.mark.parametrize(
    "options", [{}, {"beam_size": 1}, {"beam_size": 4, "length_penalty": 0}, {"beam_size": 3, "length_penalty": 2}]
)
def test_says_what_the_bare_engine_says(opus: Path, options: dict[str, Any]) -> None:
    expected = by_hand(opus, [[*pieces(opus, source), END] for source in SOURCES], **options)
    assert agree(opened(opus, **options), expected)


def test_scores_are_the_engine_s(opus: Path) -> None:
    pairs = list(itertools.product(SOURCES[:3], tiny_hf.SPANISH))
    found = answers(opened(opus), [Request(source, "en", "es", Task.SCORE, target) for source, target in pairs])
    engine = ctranslate2.Translator(str(opus), intra_threads=1)
    for (source, target), answer in zip(pairs, found, strict=True):
        (expected,) = engine.score_batch([[*pieces(opus, source), END]], [pieces(opus, target, "target.spm")])
        assert answer.token_log_probabilities == pytest.approx(expected.log_probs, abs=1e-4)


def test_marian_s_own_format_writes_the_end_itself(opus: Path, tmp_path: Path) -> None:
    native = tiny_models.opus(tmp_path / "native", adds_end=True)
    assert translated(opened(native), SOURCES) == translated(opened(opus), SOURCES)


def test_an_opus_model_of_several_targets_is_given_the_language(tmp_path: Path) -> None:
    model = tiny_models.opus(tmp_path / "model", marks=[">>spa<<", ">>fr<<"])
    system = opened(model)
    for language, token in (("es", ">>spa<<"), ("fr", ">>fr<<")):
        assert agree(system, by_hand(model, [[token, *pieces(model, source), END] for source in SOURCES]), language)
    with pytest.raises(UserError, match=f"^{re.escape(system.spec)}: .*'it'.* >>fr<<, >>spa<<"):
        translated(system, SOURCES, "it")


@pytest.mark.parametrize("tokens", [("eng_Latn", "spa_Latn", "deu_Latn"), ("__en__", "__es__", "__de__")])
def test_nllb_and_m2m100_have_a_token_for_each_language(tmp_path: Path, tokens: tuple[str, ...]) -> None:
    model = tiny_models.multilingual(tmp_path / "nllb-en-es", tokens)  # named after one of its pairs
    cut = [[tokens[0], *pieces(model, source, "sentencepiece.bpe.model"), END] for source in SOURCES]
    system = opened(model)
    assert agree(system, by_hand(model, cut, [tokens[1]]))
    mixed = [request for pair in zip(requests(SOURCES), requests(SOURCES, "de"), strict=True) for request in pair]
    assert texts(answers(system, mixed))[1::2] == translated(system, SOURCES, "de") != translated(system, SOURCES)
    with pytest.raises(UserError, match="'fr'"):
        translated(system, SOURCES, "fr")


def test_own_prefixes_and_conventions(opus: Path, tmp_path: Path) -> None:
    model = tiny_models.multilingual(tmp_path / "model", ["en_XX", "es_XX", "__en__", "__es__"])
    cut = [["en_XX", *pieces(model, source, "sentencepiece.bpe.model")] for source in SOURCES]
    own = opened(model, convention="plain", source_prefix="{source}_XX", target_prefix="{target}_XX")
    assert agree(own, by_hand(model, cut, ["es_XX"]))
    with pytest.raises(UserError, match="'fr_XX'"):
        translated(own, SOURCES, "fr")
    short = SOURCES[6:]
    for filled, prefix in (
        ("translate English to Spanish: ", {}),
        ("en>es: ", {"source_prefix": "{source}>{target}: "}),
    ):
        expected = by_hand(opus, [[*pieces(opus, filled + source), END] for source in short])
        assert translated(opened(opus, convention="t5", **prefix), short) == [text for text, _, _ in expected]
    with pytest.raises(UserError, match=r"'qq'.* source_prefix"):
        translated(opened(opus, convention="t5"), SOURCES, "qq")


def test_the_tokeniser_may_be_elsewhere(opus: Path, copied: Path, tmp_path: Path) -> None:
    (tmp_path / "spm").mkdir()
    for name in ("source.spm", "target.spm"):
        (copied / name).rename(tmp_path / "spm" / name)
    assert translated(opened(copied, tokenizer=tmp_path / "spm"), SOURCES) == translated(opened(opus), SOURCES)
    one = opened(copied, tokenizer=tmp_path / "spm" / "target.spm", convention="plain")
    assert len(translated(one, SOURCES)) == len(SOURCES)


# -- samples


# -- options


def test_precision(opus: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert opened(opus).decoding == "beam5,float32"
    assert opened(opus, beam_size=1, compute_type="int8").decoding == "greedy,int8_float32"
    half = tiny_models.opus(tmp_path / "half", quantization="float16")
    assert opened(half).decoding == "beam5,float32"  # as processors do not compute in halves
    assert tuple(capfd.readouterr()) == ("", "")
    assert opened(opus, compute_type="float32", device="auto", convention="opus").system_id == opened(opus).system_id
    assert opened(opus, source_prefix="").system_id != opened(opus).system_id


@pytest.mark.parametrize(
    ("key", "value", "token"),
    [
        ("compute_type", "float8", "float32, int8, not 'float8'"),
        ("compute_type", "float16", "float32, int8, not 'float16'"),  # of this processor
        ("device", "tpu", "'tpu'"),
        ("device", "cuda", "device=cuda"),
        ("convention", "bert", "'bert'"),
        ("tokenizer", "nowhere", "nowhere"),
        ("use_vmap", "maybe", "'maybe'"),
        ("use_vmap", "yes", "vmap.txt"),
    ],
)
def test_a_wrong_option_is_refused(
    opus: Path, key: str, value: str, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 0)
    monkeypatch.setattr(ctranslate2, "get_supported_compute_types", lambda _: {"float32", "int8"})
    with pytest.raises(UserError, match=re.escape(token)):
        open_system(f"ctranslate2:{opus}", {key: value})


# -- one pair of languages

SAYS = '{"source_language": "en", "target_language": "de"}'


@pytest.mark.parametrize(
    ("name", "file", "text", "how"),
    [
        ("opus-mt-en-de", "", "", "name"),
        ("opus-mt-tc-big-en-de-int8", "", "", "name"),
        ("model", "README.md", "# x\n\n* source languages: en\n* target languages: de\n", "README.md"),
        ("opus-mt-en-es", "gendermark.json", SAYS, "gendermark.json"),
    ],
)
def test_a_model_for_another_pair_is_refused(
    opus: Path, tmp_path: Path, name: str, file: str, text: str, how: str
) -> None:
    shutil.copytree(opus, tmp_path / name)
    if file:
        (tmp_path / name / file).write_text(text)
    system = opened(tmp_path / name)
    system.check("en", "de", [])
    with pytest.raises(UserError, match=f"en-de .*{how}.* en-es"):
        system.check("en", "es", [])


# -- what is no model


def _as_hugging_face(model: Path) -> None:
    (model / "model.bin").unlink()
    (model / "model.safetensors").write_bytes(b"")


@pytest.mark.parametrize(
    ("damage", "tokens"),
    [
        (lambda m: (m / "model.bin").unlink(), ["{}", "model.bin", "ct2-transformers-converter --model NAME"]),
        (_as_hugging_face, ["hf:{}", "ct2-transformers-converter --model {} --output_dir {}-ct2"]),
        (lambda m: (m / "config.json").unlink(), ["{}", "config.json"]),
        (lambda m: (m / "config.json").write_text("[]"), ["{}/config.json"]),
        (lambda m: (m / "shared_vocabulary.json").unlink(), ["{}", "shared_vocabulary.json"]),
        (lambda m: (m / "shared_vocabulary.json").write_text("{}"), ["{}/shared_vocabulary.json"]),
        (lambda m: (m / "shared_vocabulary.json").write_text('["a"]'), ["{}/shared_vocabulary.json", "'</s>'"]),
        (lambda m: (m / "target.spm").unlink(), ["{}", "source.spm and target.spm", "tokenizer=PATH"]),
        (lambda m: (m / "source.spm").write_bytes(b"no"), ["{}/source.spm"]),
        (lambda m: (m / "model.bin").write_bytes((m / "model.bin").read_bytes()[:-1000]), ["{}/model.bin"]),
        (lambda m: (m / "model.bin").write_bytes(b""), ["{}/model.bin"]),
        (lambda m: (m / "vmap.txt").write_text(""), ["{}/vmap.txt"]),  # the engine dies of it, used or not
        *(
            (lambda m, text=text: (m / "gendermark.json").write_text(text), ["{}/gendermark.json", "source_language"])
            for text in ("[]", "{}", '"en-es"', '{"source_language": "en"}', '{"target_language": 3}')
        ),
    ],
)
def test_a_damaged_model_is_refused(copied: Path, damage: Callable[[Path], object], tokens: list[str]) -> None:
    damage(copied)
    with pytest.raises(UserError) as caught:
        open_system(f"ctranslate2:{copied}")
    for token in tokens:
        assert token.replace("{}", str(copied)) in str(caught.value)
    assert "\n" not in str(caught.value)


# -- a vocabulary map


def test_with_a_vocabulary_map_only_its_tokens_are_used(copied: Path) -> None:
    tokens = json.loads((copied / "shared_vocabulary.json").read_text(encoding="utf-8"))
    plain, ids = opened(copied), set()
    for allowed in (tokens[20:60], tokens[20:61]):
        (copied / "vmap.txt").write_text("\t" + " ".join(allowed) + "\n", encoding="utf-8")
        some = opened(copied, use_vmap="yes")
        found = answers(some, requests(SOURCES))
        assert texts(found) != translated(plain, SOURCES)
        assert set("".join(text or "" for text in texts(found))) - {" "} <= set("".join(allowed))
        # A probability among fewer tokens is not that of the model.
        assert all(answer.log_probability is None for answer in found)
        assert (some.tasks, some.decoding[-5:]) == ({Task.TRANSLATE}, ",vmap")
        ids.add(some.system_id)
        assert opened(copied, use_vmap="no").system_id == plain.system_id
    assert len(ids | {plain.system_id}) == 3


@pytest.mark.parametrize(("content", "token"), [("\tqqq www\n", "vmap.txt"), ("the\ta\nthe a\n", "line 2")])
def test_a_vocabulary_map_that_the_engine_would_die_of_is_refused(copied: Path, content: str, token: str) -> None:
    (copied / "vmap.txt").write_text(content)
    with pytest.raises(UserError, match=token):
        opened(copied, use_vmap="yes")
