"""`ctranslate2:`: says what the bare engine says; samples follow the exact law; every mistake is one sentence."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import BadFile, SystemFailure, UserError
from gendermark.records import Request, Task, Translation
from gendermark.runs.store import Store
from gendermark.runs.translate import Answers, translate
from gendermark.selection import Selection
from gendermark.systems import ctranslate2 as ctranslate2_models
from gendermark.systems.ctranslate2 import CTranslate2
from gendermark.systems.sampling import Decoding
from gendermark.systems.system import families_that_can, open_system
from runs import children
from runs.tiny import BENCHMARK
from systems import tiny_hf, tiny_models

ctranslate2 = pytest.importorskip("ctranslate2")
sentencepiece = pytest.importorskip("sentencepiece")

SOURCES = [
    *tiny_hf.ENGLISH,
    *(
        f"Worker {n:03} {what} {whose} {thing}."
        for n in range(6)
        for what, thing in (("lost", "keys"), ("finished", "work"))
        for whose in ("his", "her")
    ),
]
END = tiny_models.END


@pytest.fixture(scope="module")
def opus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.opus(tmp_path_factory.mktemp("models") / "opus")


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three letters, the space, the unknown word and the end: every translation of a few words can be listed."""
    return tiny_models.letters(tmp_path_factory.mktemp("models") / "letters", 3, end_bias=1.0, scale=2.0)


def opened(directory: Path, **options: object) -> CTranslate2:
    given = {"max_length": "20", "device": "cpu"} | {key: str(value) for key, value in options.items()}
    system = open_system(f"ctranslate2:{directory}", given)
    assert isinstance(system, CTranslate2)
    return system


def requests(sources: Sequence[str] = SOURCES, to: str = "es") -> list[Request]:
    return [Request(source, "en", to) for source in sources]


def samples(source: str, n: int, first: int = 0, **options: object) -> Request:
    pairs = tuple(sorted((key, str(value)) for key, value in options.items()))
    return Request(source, "en", "es", Task.SAMPLE, options=pairs, first_sample=first, n_samples=n)


def answers(system: CTranslate2, asked: Sequence[Request]) -> list[Translation]:
    """All answers, in the order of the requests and their samples."""
    found = {(answer.request_id, answer.sample): answer for portion in system.answer(asked) for answer in portion}
    return [found.pop((request.request_id, sample)) for request in asked for sample in request.samples]


def texts(found: Sequence[Translation]) -> list[str | None]:
    return [answer.text for answer in found]


def by_hand(directory: Path, sources: Sequence[list[str]], begin: Sequence[str] = (), **options: Any) -> list[str]:
    """What the engine itself says to these words, one by one."""
    engine = ctranslate2.Translator(str(directory), intra_threads=1)
    speller = sentencepiece.SentencePieceProcessor(
        str(next(path for path in map(directory.joinpath, ("target.spm", "sentencepiece.bpe.model")) if path.exists()))
    )
    said = []
    for source in sources:
        prefix = [list(begin)] if begin else None
        (result,) = engine.translate_batch(
            [source], prefix, max_decoding_length=20 + len(begin), min_decoding_length=0, **{"beam_size": 5} | options
        )
        words = [word for word in result.hypotheses[0][len(begin) :] if not re.match("<|__|>>|..._", word)]
        said.append(speller.decode(words).replace("▁", " ").strip())
    return said


def pieces(directory: Path, source: str, file: str = "source.spm") -> list[str]:
    return sentencepiece.SentencePieceProcessor(str(directory / file)).encode(source, out_type=str)


# -- translating


@pytest.mark.parametrize("options", [{}, {"beam_size": 1}, {"beam_size": 3, "length_penalty": 0.3}])
def test_says_what_the_bare_engine_says(opus: Path, options: dict[str, Any]) -> None:
    found = texts(answers(opened(opus, **options), requests()))
    assert found == by_hand(opus, [[*pieces(opus, source), END] for source in SOURCES], **options)
    assert len(set(found)) > 1  # how many differ, the processor's rounding decides


@pytest.mark.parametrize("length_penalty", [0, 0.6, 1, 2])
@pytest.mark.parametrize("beam_size", [1, 4])
def test_log_probability_is_the_whole_text_s(opus: Path, beam_size: int, length_penalty: float) -> None:
    system = opened(opus, beam_size=beam_size, length_penalty=length_penalty)
    found = answers(system, requests())
    assert sum(answer.log_probability is not None for answer in found) > len(found) / 2
    engine, speaking = x, system
    for source, answer in zip(SOURCES, found, strict=True):
        if answer.log_probability is None:
            assert answer.n_tokens is None
            continue
        # The words themselves, as a text can be cut into others.
        (said,) = engine.translate_batch(
            [[*pieces(opus, source), END]],
            beam_size=beam_size,
            length_penalty=length_penalty,
            max_decoding_length=20,
            min_decoding_length=0,
        )
        (score,) = engine.score_batch([[*pieces(opus, source), END]], said.hypotheses)
        assert speaking.text(said.hypotheses[0]) == answer.text
        assert answer.log_probability == pytest.approx(sum(score.log_probs), abs=1e-4)
        assert answer.n_tokens == len(score.log_probs)


def test_a_translation_cut_at_the_limit_has_no_log_probability(opus: Path) -> None:
    found = answers(opened(opus, max_length=2), requests())
    assert any(answer.log_probability is None and answer.text for answer in found)
    assert all(answer.n_tokens is None or answer.n_tokens <= 2 for answer in found)


@pytest.mark.parametrize("workers", [1, 3])
def test_each_engine_batch_is_handed_over_at_once_longest_first(opus: Path, workers: int) -> None:
    system = opened(opus, batch_size=4, workers=workers)
    portions = list(system.answer(requests()))
    assert [len(portion) for portion in portions] == [4] * 7 + [2]
    source_of = {request.request_id: request.source for request in requests()}
    lengths = [len(pieces(opus, source_of[answer.request_id])) for portion in portions for answer in portion]
    assert lengths == sorted(lengths, reverse=True)
    assert texts(answers(system, requests())) == texts(answers(opened(opus, batch_size=1), requests()))


def test_an_early_end_leaves_nothing_running(opus: Path) -> None:
    system = opened(opus, batch_size=1, workers=2)
    portions = system.answer(requests())
    next(portions)
    portions.close()
    assert texts(answers(system, requests()[:1])) == by_hand(opus, [[*pieces(opus, SOURCES[0]), END]])


def test_an_empty_source_has_an_empty_translation_without_asking(opus: Path) -> None:
    system = opened(opus)
    system._engine = None
    asked = [Request("", "en", "es"), Request(" \n", "en", "es"), samples("", 3)]
    assert texts(answers(system, asked)) == [""] * 5
    (scored,) = answers(system, [Request("", "en", "es", Task.SCORE, target="El.")])
    assert (scored.text, scored.error) == (None, "the source is empty")


def test_a_source_of_several_lines_is_one_text(opus: Path) -> None:
    found = texts(
        answers(opened(opus), requests(["The doctor\nfinished\r\nher work.", "The doctor finished her work."]))
    )
    assert found[0] == found[1] != ""


def test_two_directions_in_one_batch(tmp_path: Path) -> None:
    model = tiny_models.multilingual(tmp_path / "m2m", ["__en__", "__es__", "__de__"])
    system = opened(model)
    mixed = [request for pair in zip(requests(to="es"), requests(to="de"), strict=True) for request in pair]
    together = texts(answers(system, mixed))
    assert together[::2] == texts(answers(system, requests(to="es")))
    assert together[1::2] == texts(answers(system, requests(to="de")))
    assert together[::2] != together[1::2]


# -- what stands around a text


def test_marian_s_own_format_writes_the_end_itself(tmp_path: Path) -> None:
    plain = tiny_models.opus(tmp_path / "a")
    native = tiny_models.opus(tmp_path / "b", adds_end=True)
    assert texts(answers(opened(native), requests())) == texts(answers(opened(plain), requests()))


def test_an_opus_model_of_several_targets_is_told_which(tmp_path: Path) -> None:
    model = tiny_models.opus(tmp_path / "model", marks=[">>spa<<", ">>deu<<", ">>fr<<"])
    system = opened(model)
    for language, mark in (("es", ">>spa<<"), ("de", ">>deu<<"), ("fr", ">>fr<<")):
        expected = by_hand(model, [[mark, *pieces(model, source), END] for source in SOURCES])
        assert texts(answers(system, requests(to=language))) == expected
    with pytest.raises(UserError) as caught:
        answers(system, requests(to="it"))
    assert str(caught.value) == (
        f"{system.spec}: this OPUS-MT model does not translate into 'it'; it has >>deu<<, >>fr<<, >>spa<<"
    )


@pytest.mark.parametrize("marks", [("eng_Latn", "spa_Latn"), ("__en__", "__es__")])
def test_nllb_and_m2m100_have_a_word_for_each_language(tmp_path: Path, marks: tuple[str, str]) -> None:
    model = tiny_models.multilingual(tmp_path / "model", marks)
    cut = [[marks[0], *pieces(model, source, "sentencepiece.bpe.model"), END] for source in SOURCES]
    system = opened(model)
    found = answers(system, requests())
    assert texts(found) == by_hand(model, cut, [marks[1]])
    ended = [(r.source, a) for r, a in zip(requests(), found, strict=True) if a.log_probability is not None]
    assert ended
    engine = ctranslate2.Translator(str(model), intra_threads=1)
    for source, answer in ended:
        words = [marks[0], *pieces(model, source, "sentencepiece.bpe.model"), END]
        (said,) = engine.translate_batch(
            [words], [[marks[1]]], beam_size=5, max_decoding_length=21, min_decoding_length=0
        )
        (score,) = engine.score_batch([words], said.hypotheses)
        assert answer.log_probability == pytest.approx(sum(score.log_probs[1:]), abs=1e-4)  # not of the given word
        assert answer.n_tokens == len(score.log_probs) - 1
    with pytest.raises(UserError, match="has no language 'de'"):
        answers(system, requests(to="de"))


def test_own_prefixes_and_convention(tmp_path: Path) -> None:
    model = tiny_models.multilingual(tmp_path / "model", ["en_XX", "es_XX", "__en__", "__es__"])
    cut = [pieces(model, source, "sentencepiece.bpe.model") for source in SOURCES]
    own = opened(model, convention="plain", source_prefix="{source}_XX", target_prefix="{target}_XX")
    assert texts(answers(own, requests())) == by_hand(model, [["en_XX", *words] for words in cut], ["es_XX"])
    assert own.spec.endswith("model?convention=plain&max_length=20&source_prefix={source}_XX&target_prefix={target}_XX")
    with pytest.raises(UserError, match=r"this model has no word 'fr_XX', which the prefix '\{target\}_XX' gives"):
        answers(own, requests(to="fr"))


def test_t5_is_told_in_text(tmp_path: Path) -> None:
    model = tiny_models.opus(tmp_path / "model")
    for prefix in ("translate English to Spanish: ", "{source}>{target}: "):
        system = opened(model, convention="t5", **({} if prefix.startswith("translate") else {"source_prefix": prefix}))
        filled = prefix.replace("{source}", "en").replace("{target}", "es")
        expected = by_hand(model, [[*pieces(model, filled + source), END] for source in SOURCES[6:]])
        assert texts(answers(system, requests(SOURCES[6:]))) == expected
    with pytest.raises(UserError, match=r"no name is known for language 'qq', .* with the option source_prefix=TEXT"):
        answers(opened(model, convention="t5"), requests(to="qq"))


def test_the_tokeniser_may_be_elsewhere(opus: Path, tmp_path: Path) -> None:
    shutil.copytree(opus, tmp_path / "model")
    (tmp_path / "spm").mkdir()
    for name in ("source.spm", "target.spm"):
        (tmp_path / "model" / name).rename(tmp_path / "spm" / name)
    moved = opened(tmp_path / "model", tokenizer=tmp_path / "spm")
    assert texts(answers(moved, requests())) == texts(answers(opened(opus), requests()))
    one = opened(tmp_path / "model", tokenizer=tmp_path / "spm" / "target.spm", convention="plain")
    assert len(answers(one, requests())) == len(SOURCES)


# -- scoring


def test_score_is_of_every_word_and_the_end(opus: Path) -> None:
    system = opened(opus, batch_size=5)
    asked = [
        Request(source, "en", "es", Task.SCORE, target=target)
        for source, target in itertools.product(SOURCES[:6], tiny_hf.SPANISH)
    ]
    engine = ctranslate2.Translator(str(opus), intra_threads=1)
    for request, answer in zip(asked, answers(system, asked), strict=True):
        target = pieces(opus, request.target or "", "target.spm")
        (expected,) = engine.score_batch([[*pieces(opus, request.source), END]], [target])
        assert answer.text == request.target
        assert answer.n_tokens == len(target) + 1
        assert answer.token_log_probabilities == pytest.approx(expected.log_probs, abs=1e-4)
        assert answer.log_probability == pytest.approx(sum(expected.log_probs), abs=1e-4)


def test_an_empty_translation_is_not_scored(opus: Path) -> None:
    for target in ("", " \n", None):
        with pytest.raises(UserError) as caught:
            answers(opened(opus), [Request("One.", "en", "es", Task.SCORE, target=target)])
        assert str(caught.value).endswith("is asked to score an empty translation of 'One.'; give one that has words")


# -- samples


class Listing:
    """Every sentence of a small model and its exact probability, from the engine's scores alone."""

    def __init__(self, directory: Path, source: str, max_length: int) -> None:
        self._engine = ctranslate2.Translator(str(directory), intra_threads=1)
        self._words = json.loads((directory / "shared_vocabulary.json").read_text())
        self._source = [*pieces(directory, source), END]
        self._max_length = max_length
        self.text = opened(directory)._text

    def next_words(self, prefix: tuple[str, ...]) -> np.ndarray:
        targets = [[*prefix, word] for word in self._words if word != END]
        scores = self._engine.score_batch([self._source] * len(targets), targets)
        found = {target[-1]: score.log_probs[len(prefix)] for target, score in zip(targets, scores, strict=True)}
        if prefix:
            found[END] = self._engine.score_batch([self._source], [list(prefix)])[0].log_probs[-1]
        else:  # what the others leave
            found[END] = np.log1p(-sum(np.exp(list(found.values()))))
        return np.array([found[word] for word in self._words])

    def sentences(self, decoding: Decoding) -> list[tuple[str, int, float]]:
        """(text, how many words were drawn, probability) of each."""
        found = []
        waiting: list[tuple[tuple[str, ...], float]] = [((), 1.0)]
        while waiting:
            prefix, so_far = waiting.pop()
            for number, chance in zip(*decoding.choices(self.next_words(prefix)), strict=True):
                word = self._words[number]
                said = prefix if word == END else (*prefix, word)
                if word == END or len(said) == self._max_length:
                    found.append((self.text(said), len(prefix) + 1, so_far * chance))
                else:
                    waiting.append((said, so_far * chance))
        return found


@pytest.mark.parametrize("options", [{}, {"epsilon": 0.2}, {"top_k": 3, "temperature": 1.4}])
def test_samples_follow_the_exact_law(letters: Path, options: dict[str, float]) -> None:
    n = 3000
    decoding = Decoding.of([(key, str(value)) for key, value in options.items()])
    expected: Counter[str] = Counter()
    for text, _, chance in Listing(letters, "a b c", 3).sentences(decoding):
        expected[text] += chance
    assert sum(expected.values()) == pytest.approx(1, abs=1e-5)
    assert sum(chance > 0.02 for chance in expected.values()) > 4
    counts = Counter(texts(answers(opened(letters, max_length=3), [samples("a b c", n, **options)])))
    assert set(counts) <= set(expected)
    common = {text: chance for text, chance in expected.items() if chance * n >= 5}
    chi_square = sum((counts[text] - n * chance) ** 2 / (n * chance) for text, chance in common.items())
    assert chi_square < len(common) + 5 * (2 * len(common)) ** 0.5


def test_log_probability_of_a_sample_is_the_untruncated_model_s(letters: Path) -> None:
    listed: dict[tuple[str | None, int | None], list[float]] = {}
    for text, n_tokens, chance in Listing(letters, "a b", 3).sentences(Decoding()):
        listed.setdefault((text, n_tokens), []).append(np.log(chance))
    found = answers(opened(letters, max_length=3), [samples("a b", 60, epsilon=0.1, temperature=1.5)])
    assert len(set(texts(found))) > 3
    for answer in found:  # one text can be said in several ways
        exact = listed[answer.text, answer.n_tokens]
        assert min(abs(answer.log_probability - logarithm) for logarithm in exact) < 1e-4


def test_samples_of_a_model_with_given_first_words(tmp_path: Path) -> None:
    model = tiny_models.multilingual(tmp_path / "model", ["eng_Latn", "spa_Latn"])
    system = opened(model)
    drawn = answers(system, [samples(source, 3, top_k=1) for source in SOURCES])
    greedy = answers(opened(model, beam_size=1), requests())
    assert texts(drawn)[::3] == texts(greedy)
    for sample, best in zip(drawn[::3], greedy, strict=True):
        if best.log_probability is not None:
            assert sample.log_probability == pytest.approx(best.log_probability, abs=1e-4)
            assert sample.n_tokens == best.n_tokens


@pytest.mark.parametrize("workers", [1, 2])
def test_samples_depend_on_their_number_alone(opus: Path, workers: int) -> None:
    system = opened(opus, workers=workers, batch_size=3)
    together = answers(system, [samples(source, 24, epsilon=0.05) for source in SOURCES[:5]])
    alone = [answers(system, [samples(source, 24, epsilon=0.05)]) for source in SOURCES[:5]]
    assert texts(together) == [text for found in alone for text in texts(found)]
    parts = [samples(SOURCES[0], 10, epsilon=0.05), samples(SOURCES[0], 14, 10, epsilon=0.05)]
    assert [(answer.sample, answer.text) for answer in answers(system, parts)] == [
        (answer.sample, answer.text) for answer in alone[0]
    ]
    assert len(set(texts(alone[0]))) > 3


def test_a_continuation_that_stops_early_is_taken_up_again(opus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [samples(source, 12) for source in SOURCES[:4]]
    whole = answers(opened(opus), asked)
    assert any((answer.n_tokens or 0) > 8 for answer in whole)
    monkeypatch.setattr(CTranslate2, "_steps", lambda *_: 2)
    assert texts(answers(opened(opus), asked)) == texts(whole)


def test_distributions_of_a_large_vocabulary_do_not_fill_memory(opus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = opened(opus, workers=1)
    sizes: list[int] = []
    inner = system._follow
    monkeypatch.setattr(system, "_follow", lambda paths, **given: (sizes.append(len(paths)), inner(paths, **given))[1])
    answers(system, [samples(source, 4) for source in SOURCES[:8]])
    assert max(sizes) > 2
    sizes.clear()
    monkeypatch.setattr("gendermark.systems.ctranslate2._LOGIT_BYTES", 2 * 4 * len(system._words) * 20)
    answers(system, [samples(source, 4) for source in SOURCES[:8]])
    assert max(sizes) == 2


def test_distributions_are_fetched_from_another_device(opus: Path) -> None:
    """No graphics card is needed for this; an engine that says it is one must not be read directly."""
    system = opened(opus)
    expected = answers(system, [samples(SOURCES[0], 5)])
    system._engine = Troubled(system, 99)
    system._engine.device = "cuda"
    assert answers(system, [samples(SOURCES[0], 5)]) == expected


def test_a_wrong_sampling_option_is_one_sentence(opus: Path) -> None:
    with pytest.raises(UserError, match="sampling option epsilon must be a probability below 1, not '2'"):
        answers(opened(opus), [samples("One.", 3, epsilon=2)])


# -- against Hugging Face


@pytest.fixture(scope="module")
def marian(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any, Path]:
    """A model and tokeniser of Hugging Face, and the same weights converted."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from ctranslate2.converters import TransformersConverter

    torch.set_num_threads(1)
    directory = tmp_path_factory.mktemp("marian")
    hf = tiny_hf.marian(directory / "hf")
    with tiny_hf.quiet():
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(hf).eval()
        TransformersConverter(str(hf), copy_files=["source.spm", "target.spm"]).convert(str(directory / "ct2"))
        return model, transformers.AutoTokenizer.from_pretrained(hf), directory / "ct2"


def test_reads_and_scores_as_hugging_face_does(marian: tuple[Any, Any, Path]) -> None:
    import torch

    model, tokeniser, directory = marian
    system = opened(directory)
    for source, target in zip(tiny_hf.ENGLISH, tiny_hf.SPANISH, strict=True):
        row = tokeniser([source], text_target=[target], return_tensors="pt")
        frame = system._frame(("en", "es"))
        assert system._convention.source(source, frame) == tokeniser.convert_ids_to_tokens(row["input_ids"][0])
        with torch.no_grad():
            distribution = model(**row).logits[0][:, :-1].log_softmax(-1)  # padding is no word
        expected = [float(distribution[place, word]) for place, word in enumerate(row["labels"][0])]
        (answer,) = answers(system, [Request(source, "en", "es", Task.SCORE, target=target)])
        assert answer.token_log_probabilities == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("beam_size", [1, 4])
def test_says_what_hugging_face_says(marian: tuple[Any, Any, Path], beam_size: int) -> None:
    model, tokeniser, directory = marian
    found = texts(answers(opened(directory, beam_size=beam_size, max_length=23), requests(SOURCES[:20])))
    expected = []
    for source in SOURCES[:20]:
        with tiny_hf.quiet():
            row = model.generate(
                **tokeniser([source], return_tensors="pt"), num_beams=beam_size, do_sample=False, max_new_tokens=23
            )
        expected.append(tokeniser.decode(row[0], skip_special_tokens=True))
    assert sum(one == other for one, other in zip(found, expected, strict=True)) >= 19


def test_samples_have_the_law_of_hugging_face_s(marian: tuple[Any, Any, Path]) -> None:
    """Not draw by draw: two samples of 1,500 from one distribution, compared by their most frequent texts."""
    import torch

    model, tokeniser, directory = marian
    n, source = 1500, SOURCES[0]
    with torch.random.fork_rng(), tiny_hf.quiet():
        torch.manual_seed(1)
        rows = model.generate(
            **tokeniser([source], return_tensors="pt"),
            do_sample=True,
            num_beams=1,
            epsilon_cutoff=0.1,
            top_k=0,
            temperature=1.3,
            num_return_sequences=n,
            max_new_tokens=8,
            forced_eos_token_id=None,
        )
    theirs = Counter(tokeniser.batch_decode(rows, skip_special_tokens=True))
    drawn = answers(opened(directory, max_length=8), [samples(source, n, epsilon=0.1, temperature=1.3)])
    ours = Counter(texts(drawn))
    common = [text for text in {*ours, *theirs} if ours[text] + theirs[text] >= 12]
    assert len(common) > 5
    chi_square = sum((ours[text] - theirs[text]) ** 2 / (ours[text] + theirs[text]) for text in common)
    assert chi_square < len(common) + 5 * (2 * len(common)) ** 0.5
    assert sum(ours[text] for text in ours if text not in theirs) < 0.1 * n


# -- identity and names


def test_the_same_model_elsewhere_is_the_same_system(opus: Path, tmp_path: Path) -> None:
    shutil.copytree(opus, tmp_path / "moved")
    system = opened(opus)
    same = [
        opened(tmp_path / "moved"),
        opened(opus, batch_size=7, workers=1, threads=2, device="auto"),
        opened(opus, compute_type="float32"),
        opened(opus, convention="opus"),
    ]
    assert {other.system_id for other in same} == {system.system_id}
    assert system.system_id.startswith("ctranslate2#")


def test_whatever_changes_a_translation_is_another_system(opus: Path, tmp_path: Path) -> None:
    shutil.copytree(opus, tmp_path / "copy")
    found = [opened(opus)]
    for name in ("target.spm", "source.spm"):  # in turn, each beside all earlier changes
        path = tmp_path / "copy" / name
        tiny_hf.train_sentencepiece(path, [*tiny_hf.ENGLISH, *tiny_hf.SPANISH, name], 80)
        found.append(opened(tmp_path / "copy"))
    bin_file = tmp_path / "copy" / "model.bin"
    weights = bytearray(bin_file.read_bytes())
    weights[len(weights) // 2] ^= 1
    bin_file.write_bytes(weights)
    found.append(opened(tmp_path / "copy"))
    found += [
        opened(opus, **change)
        for change in (
            {"beam_size": 1},
            {"length_penalty": 0.5},
            {"max_length": 21},
            {"compute_type": "int8"},
            {"convention": "t5"},
            {"source_prefix": ""},
        )
    ]
    assert len({system.system_id for system in found}) == len(found)


def test_the_name_shows_what_changes_a_translation(opus: Path) -> None:
    system = open_system(f"ctranslate2:{opus}?beam_size=1&workers=1", {"compute_type": "int8", "batch_size": "8"})
    assert system.spec == f"ctranslate2:{opus}?beam_size=1&compute_type=int8"
    assert open_system(f"ctranslate2:{opus}").spec == f"ctranslate2:{opus}"
    assert CTranslate2(str(opus), {}, "demo:en-es").spec == "demo:en-es"


def test_a_directory_with_a_question_mark(opus: Path, tmp_path: Path) -> None:
    shutil.copytree(opus, tmp_path / "what?")
    assert open_system(f"ctranslate2:{tmp_path / 'what?'}").system_id == open_system(f"ctranslate2:{opus}").system_id


def test_decoding_says_how_it_searches_and_computes(opus: Path, tmp_path: Path, capfd: Any) -> None:
    assert opened(opus).decoding == "beam5,float32"
    assert opened(opus, beam_size=1, compute_type="int8").decoding == "greedy,int8_float32"
    assert opened(opus, length_penalty=0.6).decoding == "beam5,float32,length_penalty0.6"
    half = tiny_models.opus(tmp_path / "half", quantization="float16")
    assert opened(half).decoding == "beam5,float32"  # as CPUs do not compute in halves
    assert capfd.readouterr() == ("", "")


def test_it_can_do_all_three_tasks() -> None:
    assert all("ctranslate2:..." in families_that_can(task) for task in Task)


def test_workers_are_as_many_as_the_cores_we_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    for n_cores, n_workers in ((1, 1), (3, 3), (64, 4)):
        monkeypatch.setattr(ctranslate2_models, "_n_cores", lambda n=n_cores: n)
        assert ctranslate2_models._default_workers("cpu") == n_workers
        assert ctranslate2_models._default_workers("cuda") == 1


# -- another pair of languages


def towards(item_set: ItemSet, source: str, target: str) -> ItemSet:
    return replace(item_set, selection=replace(item_set.selection, source_language=source, target_language=target))


@pytest.mark.parametrize(
    ("name", "files", "how"),
    [
        ("opus-mt-en-de", {}, "its directory is named so"),
        ("en-de", {}, "its directory is named so"),
        ("opus-mt-tc-big-en-de-int8", {}, "its directory is named so"),
        ("model", {"README.md": "# x\n\n* source languages: en\n* target languages: de\n"}, "its README.md says so"),
        (
            "opus-mt-en-es",
            {"gendermark.json": '{"source_language": "en", "target_language": "de"}'},
            "its gendermark.json says so",
        ),
    ],
)
def test_a_model_for_another_pair_is_refused(
    opus: Path, tmp_path: Path, benchmark: Benchmark, item_set: ItemSet, name: str, files: dict[str, str], how: str
) -> None:
    shutil.copytree(opus, tmp_path / name)
    for file, text in files.items():
        (tmp_path / name / file).write_text(text)
    system = opened(tmp_path / name)
    system.prepare(benchmark, towards(item_set, "en", "de"), [])
    with pytest.raises(UserError) as caught:
        system.prepare(benchmark, towards(item_set, "en", "es"), [])
    assert str(caught.value) == (
        f"{system.spec} translates en-de ({how}), but en-es is asked for; give a model for that pair"
    )


@pytest.mark.parametrize("text", ["[]", "{}", '"en-es"', '{"source_language": "en"}', '{"target_language": 3}'])
def test_facts_that_say_no_pair(opus: Path, tmp_path: Path, text: str) -> None:
    shutil.copytree(opus, tmp_path / "model")
    facts = tmp_path / "model" / "gendermark.json"
    facts.write_text(text, encoding="utf-8")
    with pytest.raises(BadFile, match=rf"^{facts}: does not say which languages; write "):
        opened(tmp_path / "model")


@pytest.mark.parametrize("name", ["model", "en-es-or-en-de", "token-de", "madlad"])
def test_nothing_is_guessed_from_other_names(
    opus: Path, tmp_path: Path, benchmark: Benchmark, item_set: ItemSet, name: str
) -> None:
    shutil.copytree(opus, tmp_path / name)
    (tmp_path / name / "README.md").write_bytes(b"source languages: several \xff")
    for target in ("es", "de", "xx"):
        opened(tmp_path / name).prepare(benchmark, towards(item_set, "en", target), [])


def test_a_multilingual_model_called_after_one_pair(tmp_path: Path, benchmark: Benchmark, item_set: ItemSet) -> None:
    system = opened(tiny_models.multilingual(tmp_path / "nllb-en-es", ["eng_Latn", "spa_Latn", "deu_Latn"]))
    system.prepare(benchmark, towards(item_set, "en", "de"), [])
    with pytest.raises(UserError, match=r"this nllb model has no language 'fr' \(no 'fra_Latn' in its vocabulary\)"):
        system.prepare(benchmark, towards(item_set, "en", "fr"), [])


# -- what can be wrong

Damage = Callable[[Path], object]
CONVERT = "ct2-transformers-converter --model NAME --output_dir DIR --copy_files source.spm target.spm"


def _as_hugging_face(model: Path) -> None:
    (model / "model.bin").unlink()
    (model / "model.safetensors").write_bytes(b"")


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (shutil.rmtree, "there is no directory {}; ctranslate2: takes one with a converted model"),
        (lambda m: (m / "model.bin").unlink(), "{} is not a CTranslate2 model: it has no model.bin; convert a model"),
        (lambda m: (m / "model.bin").unlink(), CONVERT),
        (_as_hugging_face, "{} is a model in Hugging Face's format; use hf:{}, or convert it with: ct2-transformers"),
        (lambda m: (m / "config.json").unlink(), "{} has a model.bin but no config.json, which belongs to it"),
        (lambda m: (m / "config.json").write_text("[]"), "{}/config.json: is not the configuration of a model"),
        (
            lambda m: (m / "shared_vocabulary.json").unlink(),
            "{} has neither shared_vocabulary.json nor source_vocabulary.json; convert the model again",
        ),
        (lambda m: (m / "shared_vocabulary.json").write_text("{}"), "{}/shared_vocabulary.json: is not"),
        (
            lambda m: (m / "shared_vocabulary.json").write_text('["a"]'),
            "{}/shared_vocabulary.json: has no '</s>', which ends",
        ),
        (
            lambda m: (m / "target.spm").unlink(),
            "{} has no tokeniser, which is source.spm and target.spm, or one of sentencepiece.bpe.model, ",
        ),
        (
            lambda m: (m / "source.spm").write_bytes(b"no"),
            "{}/source.spm: is not a complete SentencePiece model",
        ),
        (
            lambda m: (m / "model.bin").write_bytes((m / "model.bin").read_bytes()[:-1000]),
            "{}/model.bin: cannot be loaded as a translation model (",
        ),
        (
            lambda m: (m / "model.bin").write_bytes(b""),
            "; if it is incomplete, copy it again or convert the model again",
        ),
    ],
)
def test_a_damaged_model_is_one_sentence(opus: Path, tmp_path: Path, damage: Damage, complaint: str) -> None:
    model = tmp_path / "model"
    shutil.copytree(opus, model)
    damage(model)
    with pytest.raises(UserError) as caught:
        open_system(f"ctranslate2:{model}")
    assert complaint.replace("{}", str(model)) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"beam": "4"}, "system family ctranslate2 has no option 'beam'; available: compute_type, device, beam_size"),
        ({"beam_size": "0"}, "option beam_size must be a whole number, at least 1, not '0'"),
        ({"length_penalty": "long"}, "option length_penalty must be a number"),
        (
            {"compute_type": "float8"},
            "compute_type=float8 is not one of CTranslate2's; available here: default, auto, ",
        ),
        (
            {"compute_type": "float16"},
            "compute_type=float16 does not work on this cpu; available here: default, auto, ",
        ),
        ({"device": "tpu"}, "option device of ctranslate2: is one of cpu, cuda, auto, not 'tpu'"),
        (
            {"device": "cuda"},
            "option device=cuda needs an NVIDIA graphics card, and there is none here; device=cpu works",
        ),
        (
            {"convention": "bert"},
            "option convention of ctranslate2: is one of opus, nllb, m2m100, t5, plain, not 'bert'",
        ),
        ({"tokenizer": "nowhere"}, "there is no tokeniser nowhere; option tokenizer names a file, or a directory"),
    ],
)
def test_a_wrong_option_is_one_sentence(
    opus: Path, options: dict[str, str], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 0)
    monkeypatch.setattr(ctranslate2, "get_supported_compute_types", lambda _: {"float32", "int8"})
    with pytest.raises(UserError) as caught:
        open_system(f"ctranslate2:{opus}", options)
    assert complaint in str(caught.value)


@pytest.mark.parametrize("module", ["ctranslate2", "sentencepiece"])
def test_a_missing_package_is_one_sentence(opus: Path, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UserError, match=r"needs a package .* install it with: pip install ctranslate2 sentencepiece"):
        open_system(f"ctranslate2:{opus}")


def test_no_memory_for_the_model_itself(opus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise RuntimeError("CUDA failed with error out of memory")

    monkeypatch.setattr(ctranslate2, "Translator", full)
    with pytest.raises(UserError, match=r"not enough memory to load .*; compute_type=int8 needs a quarter as much"):
        open_system(f"ctranslate2:{opus}")


# -- an engine in trouble


class Troubled:
    """An engine that has room for so many texts at once, or none at all for one."""

    def __init__(self, system: CTranslate2, room: int, never: str = "", words: str = "std::bad_alloc") -> None:
        self._inner, self._room, self._never, self._words = system._engine, room, never, words
        self.device = "cpu"
        self.sizes: list[int] = []

    def _check(self, sources: Sequence[Sequence[str]]) -> None:
        self.sizes.append(len(sources))
        if len(sources) > self._room or any(self._never in source for source in sources if self._never):
            raise RuntimeError(self._words)

    def translate_batch(self, sources: Sequence[Sequence[str]], **options: Any) -> Any:
        self._check(sources)
        return self._inner.translate_batch(sources, **options)

    def score_batch(self, sources: Sequence[Sequence[str]], targets: Any, **options: Any) -> Any:
        self._check(sources)
        return self._inner.score_batch(sources, targets, **options)


def _own_piece(directory: Path) -> str:
    """One that no other sentence has than that of the guard."""
    others = {piece for source in SOURCES if "guard" not in source for piece in pieces(directory, source)}
    guarded = next(source for source in SOURCES if "guard" in source)
    return next(piece for piece in pieces(directory, guarded) if piece not in others)


def tasks(sources: Sequence[str]) -> dict[Task, list[Request]]:
    return {
        Task.TRANSLATE: requests(sources),
        Task.SCORE: [Request(source, "en", "es", Task.SCORE, target="La médica.") for source in sources],
        Task.SAMPLE: [samples(source, 4, epsilon=0.1) for source in sources],
    }


@pytest.mark.parametrize("task", list(Task))
def test_out_of_memory_makes_batches_smaller(opus: Path, task: Task) -> None:
    system = opened(opus, batch_size=8, workers=1)
    expected = answers(system, tasks(SOURCES)[task])
    system._engine = engine = Troubled(system, 2)
    assert texts(answers(system, tasks(SOURCES)[task])) == texts(expected)
    assert engine.sizes[:4] == [8, 4, 2, 2]
    assert max(engine.sizes[3:]) == 2
    assert system.notes() == ["memory did not suffice for the batches asked for; they were cut to 2 sentences"]


@pytest.mark.parametrize("task", list(Task))
def test_a_sentence_too_large_for_memory_is_given_up_alone(opus: Path, task: Task) -> None:
    system = opened(opus, batch_size=8, workers=2)
    expected = answers(system, tasks(SOURCES)[task])
    system._engine = Troubled(system, 99, never=_own_piece(opus))
    asked = tasks(SOURCES)[task]
    sources = [request.source for request in asked for _ in request.samples]
    for source, answer, usual in zip(sources, answers(system, asked), expected, strict=True):
        if "guard" in source:
            assert (answer.text, answer.error) == (None, "not enough memory for this sentence, even alone")
        else:
            assert (answer.text, answer.error) == (usual.text, None)
    assert any("did not fit into memory even alone" in note for note in system.notes())


@pytest.mark.parametrize("task", list(Task))
def test_a_sentence_longer_than_the_model_s_limit_is_given_up_alone(opus: Path, task: Task) -> None:
    system = opened(opus, workers=1)
    asked = tasks([SOURCES[0], "The doctor lost his keys " * 20, SOURCES[1]])[task]
    *_, last = found = answers(system, asked)
    reason = "the sentence or its translation is longer than the 64 words that this model can take"
    assert [(answer.text is None, answer.error) for answer in found if answer.text is None] == [
        (True, reason) for _ in asked[1].samples
    ]
    assert last.error is None
    assert texts(found)[: len(asked[0].samples)] == texts(answers(system, asked[:1]))
    assert system.notes() == []


def test_any_other_trouble_ends_the_run_in_one_sentence(opus: Path) -> None:
    system = opened(opus, batch_size=4, workers=2)
    system._engine = Troubled(system, 99, never=_own_piece(opus), words="CUDA failed: unspecified\nlaunch failure")
    with pytest.raises(SystemFailure) as caught:
        answers(system, requests())
    assert str(caught.value) == (
        f"{system.spec} failed: CUDA failed: unspecified (finished translations are kept; rerun to resume)"
    )


# -- killed and taken up again

posix = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
LOGGED = """
import os, sys, time
from gendermark.systems.ctranslate2 import CTranslate2
n_requests, stop_at = 0, int(os.environ["STOP_AT"])
for name in ("_translate", "_drawn"):
    def logged(self, first, *rest, inner=getattr(CTranslate2, name), **named):
        global n_requests
        with open(os.environ["LOG"], "a") as file:
            for job in first if type(first) is list else [first]:
                n_requests += 1
                print(getattr(job, "request", job).source, file=file)
        if n_requests >= stop_at > 0:
            time.sleep(600)
        return inner(self, first, *rest, **named)
    setattr(CTranslate2, name, logged)
"""
"""Every request is logged when the engine gets it or, for samples, has drawn it; at one it stops, to be killed."""


def killed(arguments: list[str], variables: dict[str, str], code: str, n_requests: int) -> None:
    """Start it and kill it at a request that it has begun and not made safe."""
    log = Path(variables["LOG"])
    n_before = len(children.lines_of(log))
    process = children.start(arguments, variables | {"STOP_AT": str(n_requests)}, code=LOGGED + code)
    try:
        children.wait_until(lambda: len(children.lines_of(log)) >= n_before + n_requests, "it was at work")
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()


@posix
def test_a_killed_run_goes_on_where_it_stopped(opus: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    variables = children.environment(tmp_path / "site") | {"LOG": str(log), "STOP_AT": "0"}
    system = ["--system", f"ctranslate2:{opus}?batch_size=4&workers=1&max_length=20"]
    common = ["run", *system, "--to", "xx", "--data", "core", "--benchmark", "tiny", "--resamples", "100"]
    command = "from gendermark.cli.app import main; main()"

    def paths(name: str) -> list[str]:
        return ["--store", str(tmp_path / f"{name}.sqlite"), "-o", str(tmp_path / name)]

    for n_requests in (12, 40):
        killed([*common, *paths("run")], variables, command, n_requests)
    children.finish(children.start([*common, *paths("run")], variables, code=LOGGED + command))
    sources = [
        item.source for item in BENCHMARK.load(Selection("tiny", "en", "xx", "core", cluster="occupation")).items
    ]
    asked = Counter(children.lines_of(log))
    assert set(asked) == set(sources)
    # At each kill a batch was lost, and what was being written behind it; nothing more.
    assert len(sources) + 2 * 4 <= sum(asked.values()) <= len(sources) + 2 * 2 * 4
    log.unlink()
    children.finish(children.start([*common, *paths("undisturbed")], variables, code=LOGGED + command))
    assert sorted(children.lines_of(log)) == sorted(sources)
    found, expected = (
        {path.name: path.read_bytes() for path in (tmp_path / name / "tiny.en-xx").iterdir()}
        for name in ("run", "undisturbed")
    )
    assert found == expected


@posix
def test_killed_while_samples_are_drawn(opus: Path, tmp_path: Path) -> None:
    n_requests, log = 40, tmp_path / "log"
    variables = children.environment(tmp_path / "site") | {"LOG": str(log)}
    code = "from systems.test_ctranslate2 import draw_many; draw_many(*sys.argv[1:])"
    killed([str(opus), str(tmp_path / "store"), str(n_requests)], variables, code, 36)
    found = draw_many(opus, tmp_path / "store", n_requests)
    # Drawn in portions of 16; the one before the last may still have been on its way to the disk.
    assert found.n_stored in (16, 32)
    assert found.n_asked == n_requests - found.n_stored
    assert found.translations == draw_many(opus, tmp_path / "undisturbed", n_requests).translations
    assert all(len(drawn) == 128 for drawn in found.translations)
    assert draw_many(opus, tmp_path / "store", n_requests).n_asked == 0


def draw_many(model: Path | str, store: Path | str, n_requests: int | str) -> Answers:
    """128 samples of so many sentences, through a store."""
    asked = [samples(f"Worker {n:03} lost her keys.", 128, epsilon=0.2) for n in range(int(n_requests))]
    with Store(Path(store)) as opened_store:
        return translate(opened(Path(model), max_length=12), asked, opened_store, lambda *_: None)


# -- a vocabulary map


def mapped(tmp_path: Path, content: str) -> Path:
    directory = tiny_models.opus(tmp_path / "mapped")
    (directory / "vmap.txt").write_text(content, encoding="utf-8")
    return directory


def pieces_of(directory: Path) -> list[str]:
    listed: list[str] = json.loads((directory / "shared_vocabulary.json").read_text(encoding="utf-8"))
    return listed


def test_with_a_vocabulary_map_only_its_words_are_said(tmp_path: Path) -> None:
    directory = mapped(tmp_path, "\t\n")
    allowed = pieces_of(directory)[20:60]
    (directory / "vmap.txt").write_text("\t" + " ".join(allowed) + "\n", encoding="utf-8")
    whole, some = opened(directory), opened(directory, use_vmap="yes")
    texts = [answer.text for answer in answers(some, requests())]
    assert texts != [answer.text for answer in answers(whole, requests())]
    letters_allowed = set("".join(allowed))
    assert all(set((text or "").replace(" ", "▁")) <= letters_allowed | {"▁"} for text in texts)
    # A probability among fewer words is not that of the model.
    assert all(answer.log_probability is None for answer in answers(some, requests()))
    assert some.tasks == {Task.TRANSLATE}
    assert some.decoding.endswith(",vmap")
    assert "use_vmap=yes" in some.spec


def test_what_the_map_says_is_part_of_the_system(tmp_path: Path) -> None:
    directory = mapped(tmp_path, "\t\n")
    plain = opened(directory).system_id
    ids = set()
    for words in (pieces_of(directory)[20:60], pieces_of(directory)[20:61]):
        (directory / "vmap.txt").write_text("\t" + " ".join(words) + "\n", encoding="utf-8")
        ids.add(opened(directory, use_vmap="yes").system_id)
        assert opened(directory).system_id == opened(directory, use_vmap="no").system_id == plain
    assert len(ids) == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [("", "lists no word"), ("\tqqq www\n", "lists no word"), ("the\ta\nthe a\n", "line 2: has no tab")],
)
def test_a_vocabulary_map_that_the_engine_would_die_of_is_refused(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(BadFile, match=said):
        opened(mapped(tmp_path, content), use_vmap="yes")


def test_a_directory_with_an_empty_vocabulary_map_is_refused_in_any_case(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="lists no word"):
        opened(mapped(tmp_path, ""))


def test_without_a_vocabulary_map_there_is_nothing_to_use(opus: Path) -> None:
    with pytest.raises(UserError, match=r"there is no .*vmap\.txt; convert the model with --vocab_mapping FILE"):
        opened(opus, use_vmap="yes")
    with pytest.raises(UserError, match="option use_vmap is yes or no"):
        opened(opus, use_vmap="maybe")
