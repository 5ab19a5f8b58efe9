"""`hf:` on tiny models of every kind: against plain transformers, against exact probabilities, against CTranslate2."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gendermark.benchmarks.benchmark import ItemSet
from gendermark.errors import SystemFailure, UserError
from gendermark.records import Request, Task, Translation
from gendermark.runs.store import Store
from gendermark.runs.translate import translate
from gendermark.selection import Selection
from gendermark.systems import engine, huggingface, huggingface_opening
from gendermark.systems.sampling import Decoding
from gendermark.systems.system import System, open_system
from runs import children
from systems import tiny_hf as tiny

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")

KINDS = ("marian", "m2m100", "nllb", "mbart", "t5", "chat")
CODES = {"m2m100": ("en", "es"), "nllb": ("eng_Latn", "spa_Latn"), "mbart": ("en_XX", "es_XX")}
MAX_LENGTH = 10


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Builds a model of a kind once."""
    root, built = tmp_path_factory.mktemp("models"), {}

    def build(kind: str, **options: Any) -> Path:
        key = (kind, repr(options))
        if key not in built:
            built[key] = getattr(tiny, kind)(root / f"m{len(built)}", **options)
        return built[key]

    return build


def opened(directory: Path, **options: object) -> System:
    return open_system(f"hf:{directory}", {"max_length": str(MAX_LENGTH), **{k: str(v) for k, v in options.items()}})


def asked(texts: Any = tiny.ENGLISH, task: Task = Task.TRANSLATE, **fields: Any) -> list[Request]:
    return [Request(text, "en", "es", task, **fields) for text in texts]


def answers(system: System, requests: list[Request]) -> list[Translation]:
    """In the order of the requests."""
    found = {(one.request_id, one.sample): one for portion in system.answer(requests) for one in portion}
    return [found[request.request_id, sample] for request in requests for sample in request.samples]


def texts(found: list[Translation]) -> list[str | None]:
    return [one.text for one in found]


def many(n: int) -> list[str]:
    """Different sentences of different lengths."""
    chance = random.Random(n)
    words = [word for sentence in tiny.ENGLISH for word in sentence.split()]
    return [" ".join(chance.sample(words, chance.randint(2, 12))) for _ in range(n)]


def plain(directory: Path) -> tuple[Any, Any]:
    """Tokeniser and model as a user would load them."""
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

    with tiny.quiet():
        tokeniser = AutoTokenizer.from_pretrained(directory)
        is_chat = "LlamaForCausalLM" in (directory / "config.json").read_text()
        return tokeniser, (AutoModelForCausalLM if is_chat else AutoModelForSeq2SeqLM).from_pretrained(directory).eval()


# -- translating


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "chat"])
@pytest.mark.parametrize("beam_size", [1, 3])
def test_translations_are_those_of_plain_transformers(models: Any, kind: str, beam_size: int) -> None:
    directory = models(kind)
    tokeniser, model = plain(directory)
    expected, begin = [], {}
    if kind in CODES:
        tokeniser.src_lang = CODES[kind][0]
        mark = f"__{CODES[kind][1]}__" if kind == "m2m100" else CODES[kind][1]
        begin = {"forced_bos_token_id": tokeniser.convert_tokens_to_ids(mark)}
    for text in tiny.ENGLISH[:4]:
        inputs = tokeniser("translate English to Spanish: " * (kind == "t5") + text, return_tensors="pt")
        inputs.pop("token_type_ids", None)
        with tiny.quiet():
            said = model.generate(**inputs, num_beams=beam_size, max_new_tokens=MAX_LENGTH + len(begin), **begin)
        expected.append(tokeniser.decode(said[0], skip_special_tokens=True).strip())
    assert texts(answers(opened(directory, beam_size=beam_size), asked(tiny.ENGLISH[:4]))) == expected
    assert len(set(expected)) > 2


def test_a_chat_model_is_asked_through_its_template(models: Any) -> None:
    directory = models("chat")
    tokeniser, model = plain(directory)
    expected = []
    for text in tiny.ENGLISH:
        prompt = (
            "<|user|>Translate the following text from English into Spanish. Answer with the translation alone.\n\n"
            f"{text}<|end|><|assistant|>"
        )
        inputs = tokeniser(prompt, return_tensors="pt", add_special_tokens=False)
        with tiny.quiet():
            said = model.generate(
                input_ids=inputs["input_ids"],
                attention_mask=inputs["attention_mask"],
                do_sample=False,
                max_new_tokens=MAX_LENGTH,
            )
        said = said[0, inputs["input_ids"].shape[1] :].tolist()
        ended = said[-1] in (0, 2, 6)
        expected.append(tokeniser.decode(said, skip_special_tokens=True).strip() if ended else None)
    found = answers(opened(directory), asked())
    assert texts(found) == expected
    assert sum(text is not None for text in expected) >= 3
    assert {one.error for one in found if one.text is None} <= {"the answer was cut off at max_length"}


@pytest.mark.parametrize("kind", KINDS)
def test_batches_change_nothing(models: Any, kind: str) -> None:
    requests = asked(many(6))
    systems = [opened(models(kind), batch_size=size, beam_size=2) for size in (1, 4)]
    alone, together = (answers(system, requests) for system in systems)
    assert texts(alone) == texts(together)
    assert [one.log_probability for one in alone] == pytest.approx([one.log_probability for one in together], abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_the_log_probability_of_a_translation_is_that_of_its_words(models: Any, kind: str) -> None:
    system = opened(models(kind), beam_size=1)
    requests = asked(many(12))
    pairs = zip(answers(system, requests), requests, strict=True)
    found = [pair for pair in pairs if pair[0].log_probability is not None]
    assert found
    # The samples' walk adds up the same numbers word by word; with one word to choose from it is greedy.
    draws = answers(system, asked([request.source for _, request in found], Task.SAMPLE, options=(("top_k", "1"),)))
    for (answer, _), drawn in zip(found, draws, strict=True):
        assert drawn.text == answer.text
        assert drawn.n_tokens == answer.n_tokens
        assert drawn.log_probability == pytest.approx(answer.log_probability, abs=1e-3)


def test_a_text_cut_off_at_the_limit_has_no_log_probability(models: Any) -> None:
    (found,) = answers(opened(models("t5"), max_length=2, beam_size=1), asked(tiny.ENGLISH[:1]))
    assert found.text
    assert found.log_probability is None


def test_the_model_s_own_settings_are_the_defaults(models: Any) -> None:
    assert open_system(f"hf:{models('marian')}").decoding == "beam4,float32"
    assert open_system(f"hf:{models('nllb')}").decoding == "beam5,float32"
    assert open_system(f"hf:{models('chat')}").decoding == "greedy,float32"
    given = {"beam_size": "2", "dtype": "bfloat16", "length_penalty": "0.5"}
    system = open_system(f"hf:{models('marian')}?max_length=5", given)
    assert system.decoding == "beam2,bfloat16,length_penalty0.5"
    assert system.spec == f"hf:{models('marian')}?beam_size=2&dtype=bfloat16&length_penalty=0.5&max_length=5"
    assert all(answers(system, asked()))


@pytest.mark.parametrize("name", ["marian", "m2m100", "nllb", "mbart", "t5", "chat"])
def test_eight_bits(models: Any, name: str) -> None:
    """Translations and scores, of weights that are rounded: roughly those of the whole ones, and filed apart."""
    whole, rounded = opened(models(name), dtype="float32"), opened(models(name), dtype="int8")
    assert rounded.decoding == whole.decoding.replace("float32", "int8")
    assert rounded.system_id != whole.system_id
    assert len(answers(rounded, asked())) == len(asked())
    scored = [Request(tiny.ENGLISH[0], "en", "es", Task.SCORE, tiny.SPANISH[0])]
    (one,), (other,) = answers(whole, scored), answers(rounded, scored)
    assert one.log_probability != other.log_probability
    assert other.log_probability == pytest.approx(one.log_probability, rel=0.3)  # random weights


def test_several_directions_in_one_call(models: Any) -> None:
    system = opened(models("nllb"))
    both = [Request(tiny.ENGLISH[0], "en", target) for target in ("es", "fr")]
    spanish, french = answers(system, both)
    assert [spanish] == answers(system, both[:1])
    assert [french] == answers(system, both[1:])
    assert spanish.text != french.text


def test_a_beginning_of_the_model_s_own_is_given_and_not_said(models: Any) -> None:
    directory = models("marian", forced_bos_token_id=7)
    system = opened(directory, beam_size=1)
    tokeniser, model = plain(directory)
    with tiny.quiet():
        said = model.generate(
            **tokeniser(tiny.ENGLISH[0], return_tensors="pt"), num_beams=1, max_new_tokens=MAX_LENGTH + 1
        )[0].tolist()
    assert said[1] == 7
    (found,) = answers(system, asked(tiny.ENGLISH[:1]))
    assert found.text == tokeniser.decode(said[2:], skip_special_tokens=True).strip()
    (drawn,) = answers(system, asked(tiny.ENGLISH[:1], Task.SAMPLE, options=(("top_k", "1"),)))
    assert drawn.text == found.text


def test_a_model_of_several_targets_is_told_which(models: Any) -> None:
    directory = models("marian", languages=("spa", "fra"))
    tokeniser, model = plain(directory)
    with tiny.quiet():
        said = model.generate(**tokeniser(f">>spa<< {tiny.ENGLISH[3]}", return_tensors="pt"), max_new_tokens=MAX_LENGTH)
    expected = tokeniser.decode(said[0], skip_special_tokens=True)
    assert texts(answers(opened(directory), asked([tiny.ENGLISH[3]]))) == [expected]


def test_madlad_s_marks_and_the_user_s_own_prefix(models: Any) -> None:
    marked, unmarked = opened(models("t5", languages=("es", "fr"))), opened(models("t5"))
    (own,) = answers(
        opened(models("t5", languages=("es", "fr")), source_prefix="<2{target}> "), asked([tiny.ENGLISH[0]])
    )
    assert [own] == answers(marked, asked([tiny.ENGLISH[0]]))
    (other,) = answers(opened(models("t5"), source_prefix="English: "), asked([tiny.ENGLISH[0]]))
    assert [other] != answers(unmarked, asked([tiny.ENGLISH[0]]))


def test_empty_and_overlong_sources_cost_nobody_else(models: Any) -> None:
    system = opened(models("marian"))
    found = answers(system, asked(["", tiny.ENGLISH[0], "word " * 70, "  "]))
    assert [found[0].text, found[3].text] == ["", ""]
    assert found[1].text
    assert found[2].text is None
    assert found[2].error == "the sentence or its translation is longer than the 64 words that this model can take"
    drawn = answers(system, asked(["", "word " * 70], Task.SAMPLE, n_samples=2))
    assert [(one.text, one.error is None) for one in drawn] == [("", True)] * 2 + [(None, False)] * 2


def test_line_breaks_are_spaces(models: Any) -> None:
    broken, whole = answers(opened(models("marian")), asked(["The doctor\nfinished.", "The doctor finished."]))
    assert broken.text == whole.text


# -- chat models


def parroted(monkeypatch: pytest.MonkeyPatch, directory: Path, said: str) -> Translation:
    """What becomes of a chat model's answer."""
    system = opened(directory)
    words = system._tokeniser(said, add_special_tokens=False)["input_ids"]
    monkeypatch.setattr(system._model, "generate", lambda sources, _begin: [(words, True)] * len(sources))
    (found,) = answers(system, asked(["The doctor finished her work."]))
    return found


def test_what_a_chat_model_says_around_a_translation_is_left_out(models: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = parroted(monkeypatch, models("chat"), "Here is the translation:\n\nLa médica terminó su trabajo.")
    assert (found.text, found.error) == ("La médica terminó su trabajo.", None)
    assert found.log_probability is None  # of more than the text
    found = parroted(monkeypatch, models("chat"), "La médica terminó su trabajo.")
    assert found.text == "La médica terminó su trabajo."
    assert found.log_probability is not None


def test_a_refusal_is_an_error_of_its_item(models: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = parroted(monkeypatch, models("chat"), "I'm sorry, but I cannot translate this sentence.")
    assert (found.text, found.error) == (None, "refusal")


def test_a_model_without_a_template_gets_the_plain_prompt_and_ends_with_the_line(
    models: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = models("chat", template=None)
    system = opened(directory)
    words = system._source(asked(["The doctor."])[0])
    assert system._tokeniser.decode(words) == (
        "Translate the following text from English into Spanish.\nEnglish: The doctor.\nSpanish:"
    )
    (new_line,) = system._tokeniser("\n")["input_ids"]
    assert set(system._ends) >= {2, 6, new_line}
    assert parroted(monkeypatch, directory, "La médica.\nEnglish: The nurse.").text == "La médica."


def test_the_user_s_own_prompt(models: Any, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("{source} ->")
    system = opened(models("chat"), prompt=prompt, system="Translate.")
    words = system._source(asked(["The doctor."])[0])
    assert system._tokeniser.decode(words) == "<|system|>Translate.<|end|><|user|>The doctor. -><|end|><|assistant|>"
    assert system.system_id != opened(models("chat")).system_id
    tower = models("chat").parent / "Tower-tiny"
    shutil.copytree(models("chat"), tower)
    assert opened(tower).system_id == opened(models("chat"), prompt="tower").system_id


def test_a_template_that_refuses(models: Any) -> None:
    template = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system message') }}{% endif %}"
    system = opened(models("chat", template=template), system="You translate.")
    with pytest.raises(UserError, match=r"^the chat template of hf:.* refuses the prompt: no system message$"):
        answers(system, asked())


# -- scoring


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "chat"])
def test_scores_are_those_of_the_model_s_own_loss(models: Any, kind: str) -> None:
    directory = models(kind)
    found = answers(opened(directory), asked(tiny.ENGLISH[:2], Task.SCORE, target=tiny.SPANISH[0]))
    tokeniser, model = plain(directory)
    for text, answer in zip(tiny.ENGLISH[:2], found, strict=True):
        if kind in CODES:
            tokeniser.src_lang, tokeniser.tgt_lang = CODES[kind]
        inputs = tokeniser("translate English to Spanish: " * (kind == "t5") + text, return_tensors="pt")
        labels = tokeniser(text_target=tiny.SPANISH[0], return_tensors="pt")["input_ids"]
        inputs.pop("token_type_ids", None)
        if kind == "mbart":  # whose own shift puts the last word first, and not the start of its settings
            starts = torch.tensor([[model.config.decoder_start_token_id]])
            inputs["decoder_input_ids"] = torch.cat([starts, labels[:, :-1]], dim=1)
        with torch.no_grad():
            logits = model(**inputs, labels=labels).logits[0]
        if kind == "marian":  # padding is no word
            logits[:, tokeniser.pad_token_id] = float("-inf")
        expected = logits.log_softmax(-1)[range(labels.shape[1]), labels[0]].tolist()
        expected = expected[1:] if kind in CODES else expected  # the mark of the language is given, not said
        assert answer.token_log_probabilities == pytest.approx(expected, abs=1e-4)
        assert answer.log_probability == pytest.approx(sum(expected), abs=1e-3)
        assert answer.n_tokens == len(expected)
        assert answer.text == tiny.SPANISH[0]


@pytest.mark.parametrize("template", [tiny.CHAT_TEMPLATE, None])
def test_a_language_model_s_score_is_that_of_the_answer_behind_the_prompt(models: Any, template: str | None) -> None:
    directory = models("chat", template=template)
    system = opened(directory)
    (request,) = asked(tiny.ENGLISH[:1], Task.SCORE, target="La médica")
    (found,) = answers(system, [request])
    tokeniser, model = plain(directory)
    prompt = system._source(request)
    target = tokeniser("La médica" if template else " La médica", add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        rows = model(torch.tensor([[*prompt, *target]])).logits[0, len(prompt) - 1 :].log_softmax(-1)
    expected = [rows[place, word].item() for place, word in enumerate(target)]
    expected.append(rows[-1, sorted(set(system._ends))].logsumexp(-1).item())  # any of the words that end an answer
    assert found.token_log_probabilities == pytest.approx(expected, abs=1e-4)


def test_scores_of_many_at_once_are_those_of_each(models: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = [Request(text, "en", "es", Task.SCORE, target) for text in many(5) for target in tiny.SPANISH[:2]]
    whole = answers(opened(models("marian")), requests)
    monkeypatch.setattr(huggingface, "LOGIT_BYTES", 4 * 112 * 60)  # room for two or three texts
    parts = answers(opened(models("marian")), requests)
    assert [one.log_probability for one in parts] == pytest.approx([one.log_probability for one in whole], abs=1e-3)


def test_nothing_cannot_be_scored(models: Any) -> None:
    with pytest.raises(
        UserError, match=r"^hf:.* is asked how likely an empty translation of 'One\.' is; give one with"
    ):
        answers(opened(models("marian")), asked(["One."], Task.SCORE, target=" "))
    (found,) = answers(opened(models("marian")), asked([""], Task.SCORE, target="Uno."))
    assert (found.text, found.error) == (None, "the source is empty")


# -- samples


def exact(directory: Path, source: str, decoding: Decoding, max_length: int) -> dict[str, float]:
    """Every text that a Marian model can say under a decoding, and its probability, by plain forward passes."""
    tokeniser, model = plain(directory)
    inputs = tokeniser(source, return_tensors="pt")
    found: Counter[str] = Counter()
    waiting: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    while waiting:
        rows = torch.tensor([[model.config.decoder_start_token_id, *prefix] for prefix, _ in waiting])
        ids = inputs["input_ids"].expand(len(rows), -1)
        with torch.no_grad():
            logits = model(input_ids=ids, decoder_input_ids=rows).logits[:, -1].double()
        logits[:, tokeniser.pad_token_id] = float("-inf")
        longer = []
        for (prefix, so_far), row in zip(waiting, logits.log_softmax(-1).numpy(), strict=True):
            words, chances = decoding.choices(row)
            for word, chance in zip(words.tolist(), chances.tolist(), strict=True):
                if word == 0 or len(prefix) + 1 == max_length:
                    said = prefix if word == 0 else (*prefix, word)
                    found[tokeniser.decode(list(said), skip_special_tokens=True).strip()] += so_far * chance
                else:
                    longer.append(((*prefix, word), so_far * chance))
        waiting = longer
    return dict(found)


def chi_square_is_small(counts: Counter[Any], expected: dict[str, float]) -> bool:
    n = sum(counts.values())
    common = {text: chance for text, chance in expected.items() if chance * n >= 5}
    total = sum((counts[text] - n * chance) ** 2 / (n * chance) for text, chance in common.items())
    return total < len(common) + 5 * (2 * len(common)) ** 0.5


def test_samples_follow_the_law_and_so_do_those_of_transformers(models: Any) -> None:
    directory, source, n, longest = models("marian"), tiny.ENGLISH[3], 1500, 5
    decoding = {"epsilon": "0.08", "temperature": "1.6"}
    expected = exact(directory, source, Decoding.of(decoding.items()), longest)
    assert len(expected) > 8
    assert sum(expected.values()) == pytest.approx(1)
    options = tuple(sorted(decoding.items()))
    ours = answers(opened(directory, max_length=longest), asked([source], Task.SAMPLE, options=options, n_samples=n))
    counts = Counter(texts(ours))
    assert set(counts) <= set(expected)  # words below epsilon are never drawn
    assert chi_square_is_small(counts, expected)
    tokeniser, model = plain(directory)
    with tiny.quiet(), torch.random.fork_rng():
        torch.manual_seed(0)
        theirs = model.generate(
            **tokeniser(source, return_tensors="pt"),
            do_sample=True,
            num_beams=1,
            top_k=0,
            temperature=1.6,
            epsilon_cutoff=0.08,
            max_new_tokens=longest,
            forced_eos_token_id=None,
            num_return_sequences=n,
        )
    counts = Counter(text.strip() for text in tokeniser.batch_decode(theirs, skip_special_tokens=True))
    assert set(counts) <= set(expected)
    assert chi_square_is_small(counts, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_paths_are_those_of_plain_forward_passes(models: Any, kind: str) -> None:
    """Whatever the prefixes and sources beside it, a path has the distributions of its own words alone."""
    system = opened(models(kind), max_length=20)
    sources = [system._source(request) for request in asked()]
    begin = system._frame(("en", "es"))
    chance = random.Random(1)
    prefixes = [tuple(chance.sample(range(8, 60), length)) for length in (0, 3, 1, 3, 5, 0)]
    found = system._model.follow(sources, begin, prefixes, 4)
    _, model = plain(models(kind))
    for source, prefix, path in zip(sources, prefixes, found, strict=True):
        assert 1 <= len(path.words) <= 4
        assert len(path.words) == 4 or path.words[-1] in set(system._ends)
        said = [*prefix, *path.words[:-1]]
        with torch.no_grad():
            if kind == "chat":
                rows = model(torch.tensor([[*source, *said]])).logits[0]
            else:
                start = [model.config.decoder_start_token_id, *begin]
                rows = model(
                    input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([[*start, *said]])
                ).logits[0]
        rows[:, system._model._never_said] = float("-inf")
        if kind == "chat":  # two words end an answer; one stands for both
            rows[:, 2] = rows[:, [2, 6]].logsumexp(-1)
            rows[:, 6] = float("-inf")
        expected = rows[-len(path.words) :].numpy()
        assert path.logits == pytest.approx(expected, abs=2e-4)
        assert path.words == expected.argmax(1).tolist()


def test_no_path_goes_beyond_the_limit_of_length(models: Any) -> None:
    system = opened(models("marian"), max_length=999)
    assert system._max_length == 62  # of 64 positions
    source = system._source(asked()[0])
    paths = system._model.follow([source] * 2, [], [(5,) * 60, (5,) * 61], 30)
    assert [len(path.words) for path in paths] in ([1, 1], [2, 1])


def test_samples_do_not_depend_on_batches_or_memory(models: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = asked(tiny.ENGLISH[:3], Task.SAMPLE, options=(("epsilon", "0.1"),), n_samples=24)
    whole = answers(opened(models("marian")), requests)
    one_by_one = answers(opened(models("marian"), batch_size=1), requests)
    monkeypatch.setattr(huggingface, "LOGIT_BYTES", 4 * 112)  # room for one step at a time
    monkeypatch.setattr(engine, "REQUESTS_PER_DRAWING", 2)
    stepwise = answers(opened(models("marian")), requests)
    assert texts(whole) == texts(one_by_one) == texts(stepwise)
    assert len(set(texts(whole))) > 6
    assert [one.log_probability for one in stepwise] == pytest.approx([one.log_probability for one in whole], abs=1e-3)


def test_a_wrong_sampling_option_is_said_before_anything_is_drawn(models: Any) -> None:
    with pytest.raises(UserError, match=r"^there is no sampling option 'beam'"):
        answers(opened(models("marian")), asked(task=Task.SAMPLE, options=(("beam", "2"),)))


# -- the same weights in CTranslate2


@pytest.mark.parametrize("kind", ["marian", "m2m100", "nllb"])
def test_agreement_with_ctranslate2(models: Any, kind: str, tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2")
    from ctranslate2.converters import TransformersConverter

    directory = models(kind)
    with tiny.quiet():
        TransformersConverter(str(directory)).convert(str(tmp_path / "ct2"))
    for name in ("source.spm", "target.spm", "sentencepiece.bpe.model", "tokenizer.json"):
        if (directory / name).is_file():
            shutil.copy(directory / name, tmp_path / "ct2")
    ours = opened(directory, beam_size=1)
    theirs = open_system(
        f"ctranslate2:{tmp_path / 'ct2'}", {"beam_size": "1", "max_length": str(MAX_LENGTH), "workers": "1"}
    )
    requests = asked(many(100))
    pairs = list(zip(answers(ours, requests), answers(theirs, requests), strict=True))
    assert sum(mine.text == its.text for mine, its in pairs) >= 99
    both = [(mine, its) for mine, its in pairs if mine.log_probability is not None and mine.text == its.text]
    assert len(both) > 20
    for mine, its in both:
        assert mine.log_probability == pytest.approx(its.log_probability, abs=1e-3)
    scored = [Request(text, "en", "es", Task.SCORE, target) for text in many(8) for target in tiny.SPANISH]
    for mine, its in zip(answers(ours, scored), answers(theirs, scored), strict=True):
        # Random weights make rounding errors larger, and words as improbable as these show them most.
        assert mine.token_log_probabilities == pytest.approx(its.token_log_probabilities, abs=1e-3, rel=5e-4)
    drawn = asked(many(2), Task.SAMPLE, options=(("epsilon", "0.1"),), n_samples=20)
    assert texts(answers(ours, drawn)) == texts(answers(theirs, drawn))  # the same chances, the same words
    with pytest.raises(UserError, match=r"is a model in CTranslate2's format; use ctranslate2:.*ct2$"):
        opened(tmp_path / "ct2")


# -- memory, threads, output


class Scarce:
    """Memory for so many sentences at once."""

    def __init__(self, work: Callable[..., Any], n: int, message: str = "CUDA out of memory. Tried ...") -> None:
        self.work, self.n, self.message, self.sizes = work, n, message, []

    def __call__(self, sources: Any, *rest: Any) -> Any:
        self.sizes.append(len(sources))
        if len(sources) > self.n:
            raise RuntimeError(self.message)
        return self.work(sources, *rest)


@pytest.mark.parametrize("message", ["CUDA out of memory. Tried ...", "DefaultCPUAllocator: can't allocate memory"])
def test_batches_too_large_for_memory_are_halved(models: Any, monkeypatch: pytest.MonkeyPatch, message: str) -> None:
    requests = asked(many(12))
    expected = texts(answers(opened(models("marian"), beam_size=1), requests))
    system = opened(models("marian"), batch_size=8, beam_size=1)
    scarce = Scarce(system._model.generate, 2, message)
    monkeypatch.setattr(system._model, "generate", scarce)
    assert texts(answers(system, requests)) == expected
    assert scarce.sizes == [8, 4, 2, 2, 2, 2, 2, 2]
    assert system.notes() == ["memory did not suffice for the batches asked for; they were cut to 2 sentences"]


def test_drawing_goes_on_with_smaller_batches_too(models: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = asked(tiny.ENGLISH[:3], Task.SAMPLE, options=(("epsilon", "0.1"),), n_samples=16)
    expected = answers(opened(models("marian")), requests)
    system = opened(models("marian"))
    monkeypatch.setattr(system._model, "follow", Scarce(system._model.follow, 2))
    assert texts(answers(system, requests)) == texts(expected)
    assert len(system.notes()) == 1


@pytest.mark.parametrize("task", [Task.TRANSLATE, Task.SAMPLE])
def test_what_does_not_fit_even_alone_has_no_answer(models: Any, monkeypatch: pytest.MonkeyPatch, task: Task) -> None:
    system = opened(models("marian"))
    longest = max(len(system._source(request)) for request in asked())
    method = "generate" if task is Task.TRANSLATE else "follow"
    work = getattr(system._model, method)

    def scarce(sources: Any, *rest: Any) -> Any:
        if any(len(source) == longest for source in sources):
            raise torch.OutOfMemoryError("CUDA out of memory")
        return work(sources, *rest)

    monkeypatch.setattr(system._model, method, scarce)
    found = answers(system, asked(task=task, n_samples=3 if task is Task.SAMPLE else 1))
    failed = [one for one in found if one.error is not None]
    assert {one.error for one in failed} == {"not enough memory for this sentence, even alone"}
    assert len(failed) == (3 if task is Task.SAMPLE else 1)
    assert system.notes()[-1].startswith("1 sentence did not fit into memory even alone")


def test_any_other_trouble_is_one_sentence(models: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    system = opened(models("marian"))

    def broken(*_: Any) -> Any:
        raise RuntimeError("CUDA error: device-side assert triggered\nmore lines")

    monkeypatch.setattr(system._model, "generate", broken)
    with pytest.raises(SystemFailure) as caught:
        answers(system, asked())
    assert str(caught.value) == (
        f"{system.spec} failed: CUDA error: device-side assert triggered (finished translations are kept; run again to "
        "go on)"
    )


def test_threads_are_given_back(models: Any) -> None:
    before = torch.get_num_threads()
    system = opened(models("marian"), threads=2)
    answers(system, asked(tiny.ENGLISH[:1]))
    assert torch.get_num_threads() == 2
    system.close()
    assert torch.get_num_threads() == before


def test_nothing_is_written_to_the_terminal_and_the_libraries_speak_again(
    models: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    from transformers.utils import logging

    logging.set_verbosity_warning()
    capfd.readouterr()
    for kind in ("marian", "chat"):
        system = opened(models(kind))
        answers(system, asked(["word " * 60, tiny.ENGLISH[0]]))
        answers(system, asked(tiny.ENGLISH[:1], Task.SCORE, target=tiny.SPANISH[0]))
    assert tuple(capfd.readouterr()) == ("", "")
    assert logging.get_verbosity() == logging.WARNING
    assert logging.is_progress_bar_enabled()


# -- names and options


def test_identity(models: Any, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(models("marian"), copy)
    one = opened(copy)
    assert one.system_id == opened(models("marian")).system_id  # wherever it is
    assert one.system_id == opened(copy, batch_size=3, threads=1).system_id
    others = [opened(copy, beam_size=2), opened(copy, length_penalty=2), opened(copy, max_length=7)]
    others += [opened(copy, dtype="bfloat16"), opened(copy, source_prefix="x ")]
    assert len({one.system_id, *(other.system_id for other in others)}) == 6
    (copy / "README.md").write_text("About this model.")
    assert opened(copy).system_id == one.system_id
    with (copy / "vocab.json").open("a") as file:
        file.write("\n")
    assert opened(copy).system_id != one.system_id


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"trust_remote_code": "true"}, "hf: never runs code that comes with a model; leave out trust_remote_code"),
        ({"beams": "4"}, "system family hf has no option 'beams'; available: device, dtype, beam_size, "),
        ({"beam_size": "0"}, "option beam_size must be a whole number, at least 1, not '0'"),
        ({"threads": "none"}, "option threads must be a whole number, at least 1, not 'none'"),
        ({"length_penalty": "x"}, "option length_penalty must be a number above 0, not 'x'"),
        ({"device": "tpu"}, "option device of hf: is one of auto, cpu, cuda, mps, not 'tpu'"),
        ({"dtype": "int4"}, "option dtype of hf: is one of auto, float32, bfloat16, float16, int8, not 'int4'"),
        ({"prompt": "tower"}, "is a translation model, which is given no prompt; leave out prompt"),
        ({"revision": "main"}, "is a directory, which has no revisions; leave out revision=main"),
    ],
)
def test_wrong_options(models: Any, options: dict[str, str], complaint: str) -> None:
    with pytest.raises(UserError) as caught:
        opened(models("marian"), **options)
    assert complaint in str(caught.value)


def test_more_wrong_options(models: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="is a language model, which is asked by a prompt; give prompt, not source_pre"):
        opened(models("chat"), source_prefix="x")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(
        UserError, match=r"device=cuda does not work here, as torch finds no such device; available: cpu$"
    ):
        opened(models("marian"), device="cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(UserError, match="dtype=int8 of hf: works on a processor only, not on cuda; give device=cpu"):
        opened(models("marian"), device="cuda", dtype="int8")


def test_a_missing_package(models: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UserError) as caught:
        opened(models("marian"))
    assert str(caught.value).endswith("needs an optional package; install it with: pip install 'gendermark[hf]'")


@pytest.mark.parametrize(
    ("kind", "options", "direction", "complaint"),
    [
        ("marian", {}, ("en", "de"), "this model translates en-es, but en-de is asked for; give a model for that pair"),
        (
            "marian",
            {"languages": ("spa", "fra")},
            ("en", "de"),
            "does not translate into 'de'; it has >>fra<<, >>spa<<",
        ),
        ("m2m100", {}, ("en", "xx"), "this m2m100 model has no language 'xx' (no '__xx__' in its vocabulary)"),
        ("nllb", {}, ("en", "de"), "this nllb model has no language 'de' (no 'deu_Latn' in its vocabulary)"),
        ("mbart", {}, ("en", "el"), "this mBART model has no language 'el'"),
        (
            "t5",
            {"pairs": ("en_to_de", "en_to_fr")},
            ("en", "es"),
            "trained for translation_en_to_de, translation_en_to_fr",
        ),
        ("t5", {"languages": ("es",)}, ("en", "fr"), "this model does not translate into 'fr'; it has <2es>"),
        ("chat", {}, ("en", "xx"), "no name is known for language 'xx', which the prompt needs"),
    ],
)
def test_a_model_for_other_languages_is_refused_before_work(
    models: Any, benchmark: Any, kind: str, options: Any, direction: tuple[str, str], complaint: str
) -> None:
    item_set = ItemSet(Selection("tiny", *direction, "core"), (), "tiny")
    with pytest.raises(UserError) as caught:
        opened(models(kind, **options)).prepare(benchmark, item_set, [])
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_model_that_cannot_end(models: Any, tmp_path: Path) -> None:
    shutil.copytree(models("marian"), tmp_path / "endless")
    for name in ("config.json", "generation_config.json"):
        settings = json.loads((tmp_path / "endless" / name).read_text())
        (tmp_path / "endless" / name).write_text(json.dumps({**settings, "eos_token_id": None}))
    with pytest.raises(UserError, match=r" has no word that ends a text, so it cannot be asked for translations$"):
        opened(tmp_path / "endless")


def test_the_pair_in_a_name(models: Any, benchmark: Any, tmp_path: Path) -> None:
    directory = tmp_path / "opus-mt-en-fr"
    shutil.copytree(models("marian", pair=("unknown", "unknown")), directory)
    system = opened(directory)
    system.prepare(benchmark, ItemSet(Selection("tiny", "en", "fr", "core"), (), "tiny"), [])
    with pytest.raises(UserError, match="this model translates en-fr, but en-es is asked for"):
        system.prepare(benchmark, ItemSet(Selection("tiny", "en", "es", "core"), (), "tiny"), [])


def test_directories_that_are_no_model(models: Any, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is not a Hugging Face model: it has no config\.json; save_pretrained of a"):
        opened(tmp_path)
    with pytest.raises(UserError, match=r"^there is no directory \./nowhere, and it is not the name of a model on the"):
        open_system("hf:./nowhere")
    with pytest.raises(UserError, match=r"^there is no directory /no/such/model, and it is not the name"):
        open_system("hf:/no/such/model")
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(UserError, match=r"config\.json is not the configuration of a model$"):
        opened(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "bert", "architectures": ["BertForMaskedLM"]}')
    with pytest.raises(UserError, match="is a model of kind BertForMaskedLM, which does not write texts; give a trans"):
        opened(tmp_path)
    own = {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Config", "AutoModelForCausalLM": "mine.Model"}}
    (tmp_path / "config.json").write_text(json.dumps(own))
    with pytest.raises(UserError, match="comes with code of its own, which hf: never runs; give a model that trans"):
        opened(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "unheard-of"}')
    with pytest.raises(UserError, match=r"^the configuration of hf:.* cannot be loaded: .*unheard-of"):
        opened(tmp_path)


def test_models_that_are_not_all_there(models: Any, tmp_path: Path) -> None:
    def damaged(name: str) -> Path:
        shutil.copytree(models("marian"), tmp_path / name)
        return tmp_path / name

    for file in ("source.spm", "target.spm", "vocab.json"):
        directory = damaged(f"without-{file}")
        (directory / file).unlink()
        with pytest.raises(
            UserError, match=rf"^{directory} has no {file}, which its tokeniser needs; copy it there, or"
        ):
            opened(directory)
    directory = damaged("garbled-vocabulary")
    (directory / "vocab.json").write_text("[]", encoding="utf-8")
    with pytest.raises(UserError, match=r"^the tokeniser of hf:.* cannot be loaded: "):
        opened(directory)
    directory = damaged("cut")
    weights = (directory / "model.safetensors").read_bytes()
    (directory / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    with pytest.raises(UserError, match=r"^the weights of hf:.* cannot be loaded: .*; if files are missing, copy"):
        answers(opened(directory), asked())
    from safetensors.torch import load_file, save_file

    directory = damaged("lacking")
    kept = {name: row for name, row in load_file(directory / "model.safetensors").items() if "layers.1.fc1" not in name}
    save_file(kept, directory / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UserError, match=r"lacks 4 of the weights that its configuration asks for \(model\.decoder"):
        answers(opened(directory), asked())


def test_a_directory_without_a_tokeniser(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "t5"}', encoding="utf-8")
    with pytest.raises(UserError, match=rf"^{tmp_path} has no tokeniser \(no tokenizer\.json, and no vocab"):
        huggingface_opening._check_tokeniser(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "ByT5Tokenizer"}', encoding="utf-8")
    huggingface_opening._check_tokeniser(tmp_path)  # its words are bytes
    (tmp_path / "tokenizer_config.json").write_text("{}", encoding="utf-8")
    (tmp_path / "spiece.model").touch()
    huggingface_opening._check_tokeniser(tmp_path)


@pytest.mark.parametrize(
    ("problem", "packages", "words"),
    [
        (
            ValueError("`tiktoken` is required to read"),
            ("no_such.package",),
            "needs an optional package; install it with",
        ),
        (ImportError("no module"), ("no_such.package",), "needs an optional package; install it with"),
        (TypeError("expected str"), ("no_such.package",), "cannot be loaded: expected str"),
        (ValueError("`tiktoken` is required to read"), (), "cannot be loaded: `tiktoken` is required to read"),
    ],
)
def test_a_package_is_missed_only_where_the_library_says_so(
    problem: Exception, packages: tuple[str, ...], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load() -> None:
        raise problem

    monkeypatch.setattr(huggingface_opening, "_TOKENISER_PACKAGES", packages)
    with pytest.raises(UserError, match=f"^the tokeniser of hf:x {words}"):
        huggingface_opening.loaded("hf:x", "tokeniser", load)


# -- the hub


COMMIT = "0123456789" * 4
SECRET = "hf_this_must_not_be_seen"


class Hub(BaseHTTPRequestHandler):
    """A hub with one model, as far as the library asks; refusals repeat the token, which must not get further."""

    protocol_version = "HTTP/1.1"
    model: Path
    tokens: set[str | None]

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        self.tokens.add(self.headers.get("Authorization"))
        name, _, rest = self.path.partition("?")[0].partition("/resolve/")
        revision, _, file = rest.partition("/")
        status, headers, body = self._answer(name, revision, file)
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815 (named so by the library)

    def _answer(self, name: str, revision: str, file: str) -> tuple[int, dict[str, str], bytes]:
        seen = f"token {self.headers.get('Authorization')}"
        if name == "/own/gated":
            return 403, {"X-Error-Code": "GatedRepo", "X-Error-Message": seen}, seen.encode()
        if name == "/own/private":
            return 401, {"X-Error-Message": seen}, seen.encode()
        if name == "/own/ill":
            return 500, {"X-Error-Message": seen}, seen.encode()
        if name.startswith("/api/models/own/tiny-en-es/tree/"):  # of directories, which it does not have
            return 404, {"X-Error-Code": "EntryNotFound"}, b""
        if name not in ("/own/tiny-en-es", "/own/data"):
            return 404, {"X-Error-Code": "RepoNotFound"}, b""
        if revision not in ("main", COMMIT):
            return 404, {"X-Error-Code": "RevisionNotFound"}, b""
        if name == "/own/data" or not (self.model / file).is_file():
            return 404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT}, b""
        body = (self.model / file).read_bytes()
        return 200, {"X-Repo-Commit": COMMIT, "ETag": f'"{hash(file)}-{len(body)}"'}, body


OPEN_AND_TRANSLATE = """
import json, sys, time
time.sleep = lambda seconds: None  # between the library's repetitions
from huggingface_hub import constants
from gendermark.errors import UserError
from gendermark.records import Request
from gendermark.systems.system import open_system
for spec in sys.argv[1:]:
    if spec == "offline":
        constants.HF_HUB_OFFLINE = True  # as the variable of that name does at the start
        continue
    try:
        system = open_system(spec)
        said = [one.text for part in system.answer([Request("The doctor.", "en", "es")]) for one in part]
        print(json.dumps([system.spec, system.system_id, said]))
    except UserError as problem:
        print(json.dumps(str(problem)))
"""


def test_models_of_the_hub(models: Any, tmp_path: Path) -> None:
    hub = type("OneHub", (Hub,), {"model": models("marian"), "tokens": set()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    variables = {
        **{key: value for key, value in os.environ.items() if not key.startswith(("HF_", "HUGGING"))},
        "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
        "HF_HOME": str(tmp_path / "cache"),
        "HF_TOKEN": SECRET,
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "PYTHONPATH": str(children.SOURCES),
        "OMP_NUM_THREADS": "1",
    }
    names = ["own/tiny-en-es", f"own/tiny-en-es?revision={COMMIT}", "own/tiny-en-es?revision=dev", "own/gated"]
    names += ["own/private", "own/nothing", "own/data", "own/ill"]
    specs = [*(f"hf:{name}" for name in names), "offline", "hf:own/tiny-en-es", "hf:own/other"]
    try:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", OPEN_AND_TRANSLATE, *specs],
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        server.shutdown()
        server.server_close()
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Bearer {SECRET}" in hub.tokens
    assert SECRET not in done.stdout
    first, pinned, *problems, cached, absent = [json.loads(line) for line in done.stdout.splitlines()]
    expected = texts(answers(open_system(f"hf:{models('marian')}"), asked(["The doctor."])))
    assert [first[0], first[2]] == ["hf:own/tiny-en-es", expected]
    assert pinned[1:] == first[1:]  # the same commit, under whatever name
    unseen = "or shows it only to some: check the name, or set HF_TOKEN to a token that may read it"
    what = "download it where that works, or give a directory"
    assert problems == [
        "model own/tiny-en-es has no revision 'dev'; give a branch, a tag or a whole commit",
        "hf:own/gated is open only to people who have accepted its terms: accept them on its page, then set "
        "HF_TOKEN to a token of that account",
        f"the hub has no model own/private, {unseen}",
        f"the hub has no model own/nothing, {unseen}",
        "own/data on the hub is not a model for transformers: it has no config.json",
        f"own/ill is not in the local cache, and the hub answers with status 500; {what}",
    ]
    assert cached == first  # without a network, what was downloaded is used
    assert absent == f"own/other is not in the local cache, and HF_HUB_OFFLINE is set; {what}"


def test_a_hub_that_is_out_of_reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    nowhere = partial(huggingface_hub.hf_hub_download, endpoint=f"http://127.0.0.1:{port}", cache_dir=tmp_path)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", nowhere)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(time, "sleep", lambda _: None)  # between the library's repetitions
    with pytest.raises(UserError, match=r"^own/far is not in the local cache, and the hub cannot be reached; download"):
        open_system("hf:own/far")


# -- killed and resumed


WORK = """
import sys, threading, time, torch
from pathlib import Path
from gendermark.runs.store import Store
from gendermark.runs.translate import translate
from systems.test_huggingface import opened, work_of
torch.set_num_threads(1)
def stop_when_some_is_safe(done, total):
    if done:
        time.sleep(600)
def work(task):
    with Store(Path(sys.argv[2]) / f"{task}.sqlite") as store:
        translate(opened(Path(sys.argv[1]), batch_size=4, beam_size=1), work_of(task), store, stop_when_some_is_safe)
threads = [threading.Thread(target=work, args=(task,)) for task in ("translate", "sample")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
"""Ends only when it is killed."""


def _no_progress(_done: int, _total: int) -> None: ...


def work_of(task: str) -> list[Request]:
    if task == "translate":
        return asked(many(40))
    return asked(many(20), Task.SAMPLE, options=(("epsilon", "0.3"),), n_samples=128)


class Counted:
    """A system, and how many answers it was asked for."""

    def __init__(self, system: System) -> None:
        self.system, self.n_asked, self._answer = system, 0, system.answer
        system.answer = self.answer  # type: ignore[method-assign]

    def answer(self, requests: Any) -> Any:
        self.n_asked += sum(request.n_samples for request in requests)
        return self._answer(requests)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
def test_killed_and_resumed(models: Any, tmp_path: Path) -> None:
    directory = models("marian")
    requests = {task: work_of(task) for task in ("translate", "sample")}
    system = opened(directory, batch_size=4, beam_size=1)

    def n_safe(task: str) -> int:
        path = tmp_path / f"{task}.sqlite"
        if not path.exists():
            return 0
        with Store(path) as store:
            return len(store.get(system.system_id, requests[task]))

    variables = {**children.environment(tmp_path / "site"), "OMP_NUM_THREADS": "1"}
    process = children.start([str(directory), str(tmp_path)], variables, code=WORK)
    deadline = time.monotonic() + 4 * children.PATIENCE_SECONDS  # to import torch takes long on a busy machine
    while not all(map(n_safe, requests)):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    for task, asked_for in requests.items():
        n_before, n_total = n_safe(task), sum(request.n_samples for request in asked_for)
        assert 0 < n_before < n_total  # or there was nothing left to resume
        counted = Counted(opened(directory, batch_size=4, beam_size=1))
        with Store(tmp_path / f"{task}.sqlite") as store:
            resumed = translate(counted.system, asked_for, store, _no_progress).translations
        assert counted.n_asked == n_total - n_before  # nothing that was safe was asked again
        with Store(tmp_path / f"{task}-undisturbed.sqlite") as store:
            whole = translate(system, asked_for, store, _no_progress).translations
        for one, other in zip(resumed, whole, strict=True):
            assert texts(list(one)) == texts(list(other))
            totals = [[answer.log_probability or 0.0 for answer in answered] for answered in (one, other)]
            assert totals[0] == pytest.approx(totals[1], abs=1e-4)
