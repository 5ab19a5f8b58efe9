"""Models of every kind that `hf:` knows, with random weights and real tokenisers, built here in a blink.

Their translations mean nothing, but they are not degenerate: texts differ between sources, and most of them end.
"""

from __future__ import annotations

import contextlib
import io
import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ENGLISH = (
    "The doctor finished her work.",
    "The nurse lost his keys and went home.",
    "Worker 012 finished his work.",
    "Worker 345 lost her keys.",
    "The lawyer asked the baker for an old letter because she needed it.",
    "My friend is a guard, 6789 people know him.",
)
SPANISH = (
    "La médica terminó su trabajo.",
    "El enfermero perdió las llaves y se fue a casa.",
    "El trabajador 012 terminó su trabajo.",
    "La trabajadora 345 perdió las llaves.",
    "La abogada pidió al panadero una carta antigua porque la necesitaba.",
    "Mi amigo es guardia, 6789 personas lo conocen.",
)
SMALL = {
    **dict.fromkeys(("encoder_layers", "decoder_layers", "encoder_attention_heads", "decoder_attention_heads"), 2),
    "d_model": 32,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
    "scale_embedding": False,
    "tie_word_embeddings": False,
}
"""The shape of models with an encoder and a decoder."""
CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Libraries have much to say about models as small as these."""
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(verbosity)
        logging.enable_progress_bar()


def train_sentencepiece(path: Path, sentences: Iterable[str], n_pieces: int) -> list[str]:
    """A SentencePiece model file; its pieces without the control symbols."""
    import sentencepiece

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences),
        model_writer=written,
        vocab_size=n_pieces,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
    )
    path.write_bytes(written.getvalue())
    model = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    return [model.id_to_piece(number) for number in range(model.get_piece_size()) if not model.is_control(number)][1:]


def _trained_bpe(special: Sequence[str]) -> Any:
    """Pieces of words, starts marked as SentencePiece does; the library's other trainer varies from run to run."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    words = Tokenizer(models.BPE(unk_token="<unk>"))
    words.pre_tokenizer, words.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=140, special_tokens=list(special), show_progress=False)
    words.train_from_iterator((*ENGLISH, *SPANISH, "translate English to Spanish:"), trainer)
    return words


def marian(
    directory: Path,
    *,
    languages: Sequence[str] = (),
    pair: tuple[str, str] = ("en", "es"),
    seed: int = 24,
    **generation: Any,
) -> Path:
    """As OPUS-MT: two SentencePiece files and one vocabulary; with `languages`, one for several targets."""
    from transformers import MarianConfig, MarianMTModel, MarianTokenizer

    directory.mkdir(parents=True, exist_ok=True)
    pieces = [
        *train_sentencepiece(directory / "source.spm", ENGLISH, 90),
        *train_sentencepiece(directory / "target.spm", SPANISH, 90),
        *(f">>{language}<<" for language in languages),
    ]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(["</s>", "<unk>", *pieces, "<pad>"]))}
    (directory / "vocab.json").write_text(json.dumps(vocabulary))
    with quiet():
        files = [str(directory / name) for name in ("source.spm", "target.spm", "vocab.json")]
        tokeniser = MarianTokenizer(*files, source_lang=pair[0], target_lang=pair[1])
        pad = vocabulary["<pad>"]
        config = MarianConfig(
            vocab_size=len(vocabulary),
            **SMALL,
            activation_function="swish",
            static_position_embeddings=True,
            pad_token_id=pad,
            eos_token_id=0,
            decoder_start_token_id=pad,
            forced_eos_token_id=0,
        )
        model = _random(MarianMTModel, config, seed, embeddings=1.0, layers=0.2, outputs=0.05, end=2.0)
        # Decoding starts from the padding token, which other engines take to be a row of zeros.
        for embeddings in (model.model.shared, model.model.encoder.embed_tokens, model.model.decoder.embed_tokens):
            embeddings.weight.data[pad] = 0
        own = {"num_beams": 4, "max_length": 24, "bad_words_ids": [[pad]], **generation}
        return _saved(directory, model, tokeniser, own)


def m2m100(directory: Path, *, seed: int = 6) -> Path:
    from transformers import M2M100Config, M2M100ForConditionalGeneration, M2M100Tokenizer

    directory.mkdir(parents=True, exist_ok=True)
    pieces = train_sentencepiece(directory / "sentencepiece.bpe.model", ENGLISH + SPANISH, 120)
    vocabulary = {piece: number for number, piece in enumerate(["<s>", "<pad>", "</s>", "<unk>", *pieces])}
    (directory / "vocab.json").write_text(json.dumps(vocabulary))
    with quiet():
        files = (str(directory / "vocab.json"), str(directory / "sentencepiece.bpe.model"))
        marks = list(M2M100Tokenizer(*files).lang_token_to_id)
        tokeniser = M2M100Tokenizer(*files, additional_special_tokens=marks, num_madeup_words=0)
        config = M2M100Config(**_m2m100_shape(len(vocabulary) + len(marks)))
        model = _random(M2M100ForConditionalGeneration, config, seed, embeddings=0.6, layers=0.8, outputs=2.0, end=3.0)
        return _saved(directory, model, tokeniser, {"num_beams": 3, "max_length": 24})


def nllb(directory: Path, *, languages: Sequence[str] = ("eng_Latn", "spa_Latn", "fra_Latn"), seed: int = 12) -> Path:
    from transformers import M2M100Config, M2M100ForConditionalGeneration, NllbTokenizer

    directory.mkdir(parents=True, exist_ok=True)
    trained = json.loads(_trained_bpe(["<s>", "<pad>", "</s>", "<unk>"]).to_str())["model"]
    with quiet():
        tokeniser = NllbTokenizer(
            vocab=trained["vocab"],
            merges=[tuple(merge) for merge in trained["merges"]],
            extra_special_tokens=list(languages),
        )
        config = M2M100Config(**_m2m100_shape(len(tokeniser)))
        model = _random(M2M100ForConditionalGeneration, config, seed, embeddings=0.6, layers=0.8, outputs=0.4, end=3.0)
        return _saved(directory, model, tokeniser, {"max_length": 24})


def mbart(directory: Path, *, seed: int = 1) -> Path:
    from transformers import MBart50Tokenizer, MBartConfig, MBartForConditionalGeneration

    directory.mkdir(parents=True, exist_ok=True)
    pieces = train_sentencepiece(directory / "unused", ENGLISH + SPANISH, 120)
    (directory / "unused").unlink()
    with quiet():
        tokeniser = MBart50Tokenizer(
            vocab=[(piece, -5.0) for piece in ("<s>", "<pad>", "</s>", "<unk>", *pieces)], src_lang="en_XX"
        )
        config = MBartConfig(**_m2m100_shape(len(tokeniser)))
        model = _random(MBartForConditionalGeneration, config, seed, embeddings=0.6, layers=0.8, outputs=0.4, end=3.0)
        return _saved(directory, model, tokeniser, {"max_length": 24})


def t5(directory: Path, *, pairs: Sequence[str] = (), languages: Sequence[str] = (), seed: int = 5) -> Path:
    """With `pairs` (en_to_de ...) as the first T5, whose configuration lists them; with `languages` as MADLAD-400."""
    from tokenizers import processors
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    directory.mkdir(parents=True, exist_ok=True)
    words = _trained_bpe(["<pad>", "</s>", "<unk>", *(f"<2{language}>" for language in languages)])
    words.post_processor = processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 1)])
    with quiet():
        tokeniser = PreTrainedTokenizerFast(
            tokenizer_object=words, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=64
        )
        config = T5Config(
            vocab_size=len(tokeniser),
            d_model=32,
            d_kv=16,
            d_ff=48,
            num_layers=2,
            num_heads=2,
            pad_token_id=0,
            eos_token_id=1,
            decoder_start_token_id=0,
            tie_word_embeddings=False,
            task_specific_params={f"translation_{pair}": {"prefix": f"translate {pair}: "} for pair in pairs} or None,
        )
        model = _random(T5ForConditionalGeneration, config, seed, embeddings=0.6, layers=0.8, outputs=2.0, end=3.0)
        return _saved(directory, model, tokeniser, {"max_length": 24})


def chat(directory: Path, *, template: str | None = CHAT_TEMPLATE, seed: int = 5) -> Path:
    """A decoder alone, as Llama; without a template it is no chat model but a plain one."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    directory.mkdir(parents=True, exist_ok=True)
    special = ["<pad>", "<s>", "</s>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>"]
    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    words.train_from_iterator(ENGLISH + SPANISH, trainer)
    with quiet():
        tokeniser = PreTrainedTokenizerFast(
            tokenizer_object=words, pad_token="<pad>", bos_token="<s>", eos_token="</s>", chat_template=template
        )
        config = LlamaConfig(
            vocab_size=len(tokeniser),
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=512,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
        )
        model = _random(LlamaForCausalLM, config, seed, embeddings=0.4, layers=0.7, outputs=0.7, end=3.0)
        _say_letters_alone(model, words)
        own = {"eos_token_id": [2, 6], "do_sample": True, "temperature": 0.6, "top_p": 0.9}
        return _saved(directory, model, tokeniser, own)


def _say_letters_alone(model: Any, words: Any) -> None:
    """Bytes that are no text, and special words but the ends, get no chance: what is said can be read."""
    import torch

    head = torch.nn.Linear(model.config.hidden_size, model.config.vocab_size, bias=False)
    head.weight.data = model.lm_head.weight.data.clone()
    for word, number in words.get_vocab().items():
        readable = all((letter.isascii() and letter.isalpha()) or letter == "Ġ" for letter in word)
        if not readable and word not in ("</s>", "<|end|>"):
            head.weight.data[number] = 0
    model.lm_head = head


def _m2m100_shape(n_words: int) -> dict[str, Any]:
    tokens = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
    return {"vocab_size": n_words, **SMALL, **tokens, "encoder_layerdrop": 0.0, "decoder_layerdrop": 0.0}


def _random(
    model_class: Any, config: Any, seed: int, *, embeddings: float, layers: float, outputs: float, end: float = 1.0
) -> Any:
    """Weights of given deviations, found by trying: what is said depends on the source, varies, and mostly ends.

    numpy draws the same ones on every processor; torch does not.
    """
    import torch

    chance = np.random.Generator(np.random.PCG64(seed))
    model = model_class(config)
    outer = [module.weight for module in (model.get_input_embeddings(), model.get_output_embeddings())]
    for name, weight in model.named_parameters():
        if weight.dim() != 2 or not weight.requires_grad:
            continue
        if any(weight is one for one in outer):
            deviation = embeddings
        elif name.endswith(("out_proj.weight", "fc2.weight", "o.weight", "wo.weight", "down_proj.weight")):
            deviation = outputs
        else:
            deviation = 0.02 if "position" in name else layers
        weight.data = torch.from_numpy(chance.normal(0, deviation, tuple(weight.shape))).to(weight.dtype)
    outer[-1].data[config.eos_token_id] *= end
    return model.eval()


def _saved(directory: Path, model: Any, tokeniser: Any, generation: dict[str, Any]) -> Path:
    from transformers import GenerationConfig

    model.generation_config = GenerationConfig(
        **{
            key: value
            for key, value in model.config.to_dict().items()
            if key in ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id", "forced_eos_token_id")
        }
        | generation
    )
    model.save_pretrained(directory)
    tokeniser.save_pretrained(directory)
    return directory
