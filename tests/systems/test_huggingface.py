"""`hf:` on tiny models of every kind: against plain transformers, and against CTranslate2."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gendermark.errors import UserError
from gendermark.records import Request, Task, Translation
from gendermark.systems.huggingface import HuggingFace
from gendermark.systems.system import open_system
from runs import children
from systems import tiny_hf as tiny
from systems.asking import answers, requests, sampling, texts, translated

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")

pytestmark = pytest.mark.usefixtures("_one_thread")
MULTILINGUAL = {"m2m100": ("en", "es"), "nllb": ("eng_Latn", "spa_Latn"), "mbart": ("en_XX", "es_XX")}
"""How their tokenisers name the languages."""
MAX_LENGTH = 10


def kinds(*quick: str, chat: bool = False) -> Any:
    """Quick ones always, the others in continuous integration."""
    every = ["marian", "m2m100", "nllb", "mbart", "t5", *(["chat"] if chat else [])]
    return pytest.mark.parametrize(
        "kind", [kind if kind in quick else pytest.param(kind, marks=pytest.mark.slow) for kind in every]
    )


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


def opened(directory: Path, **options: object) -> HuggingFace:
    given = {"max_length": str(MAX_LENGTH), **{key: str(value) for key, value in options.items()}}
    system = open_system(f"hf:{directory}", given)
    assert isinstance(system, HuggingFace)
    return system


def source_of(system: HuggingFace, request: Request) -> list[int]:
    return system._job(request, system._frame(("en", "es"))).source


def many(n: int) -> list[str]:
    """Different sentences of different lengths."""
    chance = random.Random(n)
    words = [word for sentence in tiny.ENGLISH for word in sentence.split()]
    return [" ".join(chance.sample(words, chance.randint(2, 12))) for _ in range(n)]


def plain(directory: Path) -> tuple[Any, Any]:
    """Tokeniser and model as a user would load them."""
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

    with tiny.quiet():
        is_chat = "LlamaForCausalLM" in (directory / "config.json").read_text()
        model = (AutoModelForCausalLM if is_chat else AutoModelForSeq2SeqLM).from_pretrained(directory)
        return AutoTokenizer.from_pretrained(directory), model.eval()


def generated(directory: Path, text: str, **options: Any) -> list[int]:
    tokeniser, model = plain(directory)
    inputs = tokeniser(text, return_tensors="pt")
    with tiny.quiet():
        found: list[int] = model.generate(**inputs, max_new_tokens=MAX_LENGTH, **options)[0].tolist()
    return found


# -- translating


@kinds("marian")
def test_translations_are_those_of_plain_transformers(models: Any, kind: str) -> None:
    tokeniser, model = plain(models(kind))
    begin = {}
    if kind in MULTILINGUAL:
        tokeniser.src_lang, target = MULTILINGUAL[kind]
        token = f"__{target}__" if kind == "m2m100" else target
        begin = {"forced_bos_token_id": tokeniser.convert_tokens_to_ids(token)}
    for beam_size in (1, 3):
        expected = []
        for text in tiny.ENGLISH[:4]:
            inputs = tokeniser("translate English to Spanish: " * (kind == "t5") + text, return_tensors="pt")
            inputs.pop("token_type_ids", None)
            with tiny.quiet():
                said = model.generate(**inputs, num_beams=beam_size, max_new_tokens=MAX_LENGTH + len(begin), **begin)
            expected.append(tokeniser.decode(said[0], skip_special_tokens=True).strip())
        assert translated(opened(models(kind), beam_size=beam_size), tiny.ENGLISH[:4]) == expected
        assert len(set(expected)) > 2


def test_the_model_s_own_settings_are_the_defaults(models: Any) -> None:
    assert open_system(f"hf:{models('marian')}").decoding == "beam4,float32"
    assert open_system(f"hf:{models('nllb')}").decoding == "beam5,float32"
    assert open_system(f"hf:{models('chat')}").decoding == "greedy,float32"


@kinds("marian", chat=True)
def test_eight_bits(models: Any, kind: str) -> None:
    """Rounded weights: roughly the same scores, and another system."""
    whole, rounded = opened(models(kind), dtype="float32"), opened(models(kind), dtype="int8")
    assert rounded.decoding == whole.decoding.replace("float32", "int8")
    assert rounded.system_id != whole.system_id
    assert len(translated(rounded, tiny.ENGLISH)) == len(tiny.ENGLISH)
    scored = requests(tiny.ENGLISH[:1], task=Task.SCORE, target=tiny.SPANISH[0])
    (one,), (other,) = answers(whole, scored), answers(rounded, scored)
    assert one.log_probability != other.log_probability
    assert other.log_probability == pytest.approx(one.log_probability, rel=0.3)  # random weights


def test_languages_prefixes_and_beginnings(models: Any) -> None:
    """A token of several targets; MADLAD's; the user's own text; the first token that a model's settings force."""
    (source,) = one = [tiny.ENGLISH[3]]
    several = models("marian", languages=("spa", "fra"))
    expected = plain(several)[0].decode(generated(several, f">>spa<< {source}"), skip_special_tokens=True)
    assert translated(opened(several), one) == [expected]
    madlad = models("t5", languages=("es", "fr"))
    assert translated(opened(madlad), one) == translated(opened(madlad, source_prefix="<2{target}> "), one)
    assert translated(opened(madlad, source_prefix="English: "), one) != translated(opened(madlad), one)
    forced = models("marian", forced_bos_token_id=7)
    tokens = generated(forced, source, num_beams=1)
    assert tokens[1] == 7
    system = opened(forced, beam_size=1, max_length=MAX_LENGTH - 1)
    assert translated(system, one) == [plain(forced)[0].decode(tokens[2:], skip_special_tokens=True).strip()]
    assert texts(answers(system, sampling(one, 1, top_k=1))) == translated(system, one)


# -- language models


def test_a_chat_model_is_asked_through_its_template(models: Any) -> None:
    tokeniser, model = plain(models("chat"))
    expected = []
    for text in tiny.ENGLISH:
        prompt = (
            "<|user|>Translate the following text from English into Spanish. Answer with the translation alone.\n\n"
            f"{text}<|end|><|assistant|>"
        )
        inputs = tokeniser(prompt, return_tensors="pt", add_special_tokens=False)["input_ids"]
        with tiny.quiet():
            said = model.generate(
                input_ids=inputs, attention_mask=torch.ones_like(inputs), do_sample=False, max_new_tokens=MAX_LENGTH
            )[0, inputs.shape[1] :].tolist()
        ended = said[-1] in (0, 2, 6)
        expected.append(tokeniser.decode(said, skip_special_tokens=True).strip() if ended else None)
    found = answers(opened(models("chat")), requests(tiny.ENGLISH))
    assert texts(found) == expected
    assert sum(text is not None for text in expected) >= 3
    assert all("max_length" in (one.error or "") for one in found if one.text is None)


def parroted(monkeypatch: pytest.MonkeyPatch, directory: Path, said: str) -> Translation:
    """What becomes of a language model's answer."""
    system = opened(directory, max_length=60)
    tokens = [*system._tokeniser(said, add_special_tokens=False)["input_ids"], system._end]
    monkeypatch.setattr(system, "_generate", lambda sources, _begin: [tokens] * len(sources))
    (found,) = answers(system, requests(["The doctor finished her work."]))
    return found


def test_what_a_chat_model_adds_to_a_translation_is_left_out(models: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = parroted(monkeypatch, models("chat"), "Here is the translation:\n\nLa médica terminó su trabajo.")
    assert (found.text, found.error, found.log_probability) == ("La médica terminó su trabajo.", None, None)
    found = parroted(monkeypatch, models("chat"), "La médica terminó su trabajo.")
    assert found.text == "La médica terminó su trabajo."
    assert found.log_probability is not None
    found = parroted(monkeypatch, models("chat"), "I'm sorry, but I cannot translate this sentence.")
    assert (found.text, bool(found.error)) == (None, True)


def test_prompts(models: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(system: HuggingFace) -> str:
        return str(system._tokeniser.decode(source_of(system, requests(["The doctor."])[0])))

    base = opened(models("chat", template=None))  # no chat model
    assert asked(base) == "Translate the following text from English into Spanish.\nEnglish: The doctor.\nSpanish:"
    assert parroted(monkeypatch, models("chat", template=None), "La médica.\nEnglish: The nurse.").text == "La médica."
    (tmp_path / "prompt.txt").write_text("{source} ->")
    own = opened(models("chat"), prompt=tmp_path / "prompt.txt", system="Translate.")
    assert asked(own) == "<|system|>Translate.<|end|><|user|>The doctor. -><|end|><|assistant|>"
    assert own.system_id != opened(models("chat")).system_id
    tower = shutil.copytree(models("chat"), tmp_path / "Tower-tiny")
    assert opened(tower).system_id == opened(models("chat"), prompt="tower").system_id
    template = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system message') }}{% endif %}"
    with pytest.raises(UserError, match=r"chat template .*no system message"):
        translated(opened(models("chat", template=template), system="You translate."), tiny.ENGLISH)


# -- scores


@kinds("marian")
def test_scores_are_those_of_the_model_s_own_loss(models: Any, kind: str) -> None:
    found = answers(opened(models(kind)), requests(tiny.ENGLISH[:2], task=Task.SCORE, target=tiny.SPANISH[0]))
    tokeniser, model = plain(models(kind))
    if kind in MULTILINGUAL:
        tokeniser.src_lang, tokeniser.tgt_lang = MULTILINGUAL[kind]
    labels = tokeniser(text_target=tiny.SPANISH[0], return_tensors="pt")["input_ids"]
    for text, answer in zip(tiny.ENGLISH[:2], found, strict=True):
        inputs = tokeniser("translate English to Spanish: " * (kind == "t5") + text, return_tensors="pt")
        inputs.pop("token_type_ids", None)
        if kind == "mbart":  # whose own shift puts the last token first, and not the start of its settings
            starts = torch.tensor([[model.config.decoder_start_token_id]])
            inputs["decoder_input_ids"] = torch.cat([starts, labels[:, :-1]], dim=1)
        with torch.no_grad():
            logits = model(**inputs, labels=labels).logits[0]
        if kind == "marian":  # padding is no token of a text
            logits[:, tokeniser.pad_token_id] = float("-inf")
        expected = logits.log_softmax(-1)[range(labels.shape[1]), labels[0]].tolist()
        expected = expected[1:] if kind in MULTILINGUAL else expected  # the language is given
        assert answer.token_log_probabilities == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("template", [tiny.CHAT_TEMPLATE, None])
def test_a_language_model_s_score_is_that_of_the_answer_after_the_prompt(models: Any, template: str | None) -> None:
    system = opened(models("chat", template=template))
    (request,) = requests(tiny.ENGLISH[:1], task=Task.SCORE, target="La médica")
    (found,) = answers(system, [request])
    tokeniser, model = plain(models("chat", template=template))
    prompt = source_of(system, request)
    target = tokeniser("La médica" if template else " La médica", add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        rows = model(torch.tensor([[*prompt, *target]])).logits[0, len(prompt) - 1 :].log_softmax(-1)
    expected = [rows[place, token].item() for place, token in enumerate(target)]
    ends = {2, 6} if template else {2, 6, *tokeniser("\n")["input_ids"]}
    assert set(system._ends) >= ends
    expected.append(rows[-1, system._ends].logsumexp(-1).item())  # any of the tokens that end an answer
    assert found.token_log_probabilities == pytest.approx(expected, abs=1e-4)


# -- the same weights in CTranslate2


@pytest.mark.parametrize("kind", ["marian", *(pytest.param(k, marks=pytest.mark.slow) for k in ("m2m100", "nllb"))])
def test_agreement_with_ctranslate2(models: Any, kind: str, tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2")
    from ctranslate2.converters import TransformersConverter

    directory = models(kind)
    with tiny.quiet():
        TransformersConverter(str(directory)).convert(str(tmp_path / "ct2"))
    for name in ("source.spm", "target.spm", "sentencepiece.bpe.model", "tokenizer.json"):
        if (directory / name).is_file():
            shutil.copy(directory / name, tmp_path / "ct2")
    for beam_size in (1, 4):
        ours = opened(directory, beam_size=beam_size)
        theirs = open_system(f"ctranslate2:{tmp_path / 'ct2'}?beam_size={beam_size}&max_length={MAX_LENGTH}&workers=1")
        pairs = list(zip(*(answers(system, requests(many(40))) for system in (ours, theirs)), strict=True))
        # What does not end within the limit, transformers makes end there.
        ended = [(mine, its) for mine, its in pairs if mine.log_probability is not None]
        same = [(mine, its) for mine, its in ended if mine.text == its.text]
        assert len(same) >= max(4, len(ended) * (0.95 if beam_size == 1 else 0.8))  # beams end by different rules
        for mine, its in same:
            assert mine.log_probability == pytest.approx(its.log_probability, abs=1e-3)
    scored = [Request(text, "en", "es", Task.SCORE, target) for text in many(4) for target in tiny.SPANISH]
    for mine, its in zip(answers(ours, scored), answers(theirs, scored), strict=True):
        # Random weights make rounding errors larger, and tokens as improbable as these show them most.
        assert mine.token_log_probabilities == pytest.approx(its.token_log_probabilities, abs=1e-3, rel=5e-4)
    drawn = sampling(many(2), 20, epsilon=0.1)
    assert texts(answers(ours, drawn)) == texts(answers(theirs, drawn))  # the same chances, the same tokens
    with pytest.raises(UserError, match=f"ctranslate2:{tmp_path / 'ct2'}"):
        opened(tmp_path / "ct2")


# -- refusals


@pytest.mark.parametrize(
    ("kind", "options", "token"),
    [
        ("marian", {"trust_remote_code": "true"}, "trust_remote_code"),
        ("marian", {"device": "tpu"}, "'tpu'"),
        ("marian", {"device": "cuda"}, "device=cuda"),
        ("marian", {"dtype": "int4"}, "'int4'"),
        ("marian", {"prompt": "tower"}, "leave out prompt"),
        ("marian", {"revision": "main"}, "revision=main"),
        ("marian", {"device": "cuda", "dtype": "int8"}, "dtype=int8"),
        ("chat", {"source_prefix": "x"}, "source_prefix"),
    ],
)
def test_wrong_options(models: Any, kind: str, options: Any, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: "dtype" in options)
    with pytest.raises(UserError, match=re.escape(token)):
        opened(models(kind), **options)


@pytest.mark.parametrize(
    ("kind", "options", "to", "token"),
    [
        ("marian", {}, "de", "en-es .* en-de"),
        ("marian", {"languages": ("spa", "fra")}, "de", "'de'.* >>fra<<, >>spa<<"),
        ("m2m100", {}, "xx", "'xx'.*'__xx__'"),
        ("nllb", {}, "de", "'de'.*'deu_Latn'"),
        ("mbart", {}, "el", "'el'"),
        ("t5", {"pairs": ("en_to_de", "en_to_fr")}, "es", "translation_en_to_de, translation_en_to_fr .*en-es"),
        ("t5", {"languages": ("es", "fr")}, "de", "'de'.* <2es>"),
        ("chat", {}, "xx", "'xx'"),
    ],
)
def test_other_languages_are_refused_before_any_work(models: Any, kind: str, options: Any, to: str, token: str) -> None:
    with pytest.raises(UserError, match=token) as caught:
        opened(models(kind, **options)).check("en", to, [])
    assert "\n" not in str(caught.value)


OWN_CODE = {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Config", "AutoModelForCausalLM": "mine.Model"}}


@pytest.mark.parametrize(
    ("config", "token"),
    [
        ("[]", "config.json"),
        ('{"model_type": "bert", "architectures": ["BertForMaskedLM"]}', "BertForMaskedLM"),
        (json.dumps(OWN_CODE), "code of its own"),
        ('{"model_type": "unheard-of"}', "unheard-of"),
        ('{"model_type": "t5", "architectures": ["T5ForConditionalGeneration"]}', "no tokeniser"),
    ],
)
def test_a_directory_that_is_no_model(tmp_path: Path, config: str, token: str) -> None:
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(UserError, match=token):
        opened(tmp_path)


def _change_settings(directory: Path) -> None:
    for name in ("config.json", "generation_config.json"):
        settings = json.loads((directory / name).read_text())
        (directory / name).write_text(json.dumps({**settings, "eos_token_id": None}))


def _cut_weights(directory: Path) -> None:
    weights = (directory / "model.safetensors").read_bytes()
    (directory / "model.safetensors").write_bytes(weights[: len(weights) // 2])


def _drop_weights(directory: Path) -> None:
    from safetensors.torch import load_file, save_file

    kept = {name: row for name, row in load_file(directory / "model.safetensors").items() if "layers.1.fc1" not in name}
    save_file(kept, directory / "model.safetensors", metadata={"format": "pt"})


@pytest.mark.parametrize(
    ("damage", "token"),
    [
        *((lambda d, name=name: (d / name).unlink(), name) for name in ("source.spm", "target.spm", "vocab.json")),
        (lambda d: (d / "vocab.json").write_text("[]"), "tokeniser"),
        (_change_settings, "end-of-sequence"),
        (_cut_weights, "weights"),
        (_drop_weights, "lacks 4 .*layers.1.fc1"),
    ],
)
def test_a_damaged_model_is_refused(models: Any, tmp_path: Path, damage: Callable[[Path], object], token: str) -> None:
    directory = shutil.copytree(models("marian"), tmp_path / "damaged")
    damage(directory)
    with pytest.raises(UserError, match=token):
        translated(opened(directory), tiny.ENGLISH)


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
        for refused, status, code in (("gated", 403, "GatedRepo"), ("private", 401, ""), ("ill", 500, "")):
            if name == f"/own/{refused}":
                return status, {"X-Error-Code": code, "X-Error-Message": seen}, seen.encode()
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


@pytest.fixture
def hub(models: Any) -> Iterator[tuple[str, set[str | None]]]:
    """Its address, and the tokens that it has seen."""
    handler = type("OneHub", (Hub,), {"model": models("marian"), "tokens": set()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", handler.tokens
    server.shutdown()
    server.server_close()


def test_models_that_the_hub_does_not_give(hub: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    with socket.create_server(("127.0.0.1", 0)) as server:
        nowhere = f"http://127.0.0.1:{server.getsockname()[1]}"
    monkeypatch.setattr(time, "sleep", lambda _: None)  # between the library's repetitions
    download = huggingface_hub.hf_hub_download
    for name, is_offline, url, token in (
        ("own/tiny-en-es?revision=dev", False, hub[0], "'dev'"),
        ("own/gated", False, hub[0], "gated.* HF_TOKEN"),
        ("own/private", False, hub[0], "own/private.* HF_TOKEN"),
        ("own/nothing", False, hub[0], "own/nothing"),
        ("own/data", False, hub[0], "own/data.* config.json"),
        ("own/ill", False, hub[0], "own/ill.* 500"),
        ("own/other", True, hub[0], "own/other.* HF_HUB_OFFLINE"),
        ("own/far", False, nowhere, "own/far.* cannot be reached"),
    ):
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", is_offline)
        asking = partial(download, endpoint=url, cache_dir=tmp_path, token=SECRET)
        monkeypatch.setattr(huggingface_hub, "hf_hub_download", asking)
        with pytest.raises(UserError, match=token) as caught:
            open_system(f"hf:{name}")
        assert SECRET not in str(caught.value)
    assert f"Bearer {SECRET}" in hub[1]


OPEN_AND_TRANSLATE = """
import json, sys
from huggingface_hub import constants
from gendermark.records import Request
from gendermark.systems.system import open_system
from gendermark.systems.tokenisers import Frame
for spec in sys.argv[1:]:
    if spec == "offline":
        constants.HF_HUB_OFFLINE = True  # as the variable of that name does at the start
        continue
    system = open_system(spec)
    said = [one.text for part in system.answer([Request("The doctor.", "en", "es")]) for one in part]
    print(json.dumps([system.spec, system.system_id, said]))
"""


@pytest.mark.slow
def test_models_of_the_hub(models: Any, hub: Any, tmp_path: Path) -> None:
    variables = {
        **{key: value for key, value in os.environ.items() if not key.startswith(("HF_", "HUGGING"))},
        "HF_ENDPOINT": hub[0],
        "HF_HOME": str(tmp_path / "cache"),
        "HF_TOKEN": SECRET,
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "PYTHONPATH": str(children.SOURCES),
        "OMP_NUM_THREADS": "1",
    }
    specs = ["hf:own/tiny-en-es", f"hf:own/tiny-en-es?revision={COMMIT}", "offline", "hf:own/tiny-en-es"]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", OPEN_AND_TRANSLATE, *specs],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    first, pinned, cached = [json.loads(line) for line in done.stdout.splitlines()]
    assert first[0] == "hf:own/tiny-en-es"
    assert first[2] == translated(open_system(f"hf:{models('marian')}"), ["The doctor."])
    assert pinned[1:] == first[1:]  # the same commit, under whatever name
    assert cached == first  # without a network, what was downloaded is used
