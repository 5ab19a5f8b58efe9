"""Tokenisation, and the language markers of each kind of model (`frame`)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gendermark.errors import BadFile, MissingExtra, UserError
from gendermark.reading import codes

Direction = tuple[str, str]
"""(source language, target language)."""

PAIR = ("source.spm", "target.spm")
SINGLE = ("sentencepiece.bpe.model", "spiece.model", "sentencepiece.model", "spm.model", "tokenizer.json")
"""File names of tokenisers in model directories, in search order."""


class SentencePiece:
    """Splits text into pieces and joins them; does not handle end and language tokens."""

    def __init__(self, path: Path) -> None:
        import sentencepiece

        try:
            self._model = sentencepiece.SentencePieceProcessor(model_proto=path.read_bytes())
        except OSError as problem:
            raise BadFile(path, f"cannot be read ({problem.strerror})") from None
        except RuntimeError:
            raise BadFile(path, "is not a SentencePiece model, or not all of it; copy it again") from None

    def pieces(self, text: str) -> list[str]:
        pieces: list[str] = self._model.encode(text, out_type=str)
        return pieces

    def text(self, pieces: Sequence[str]) -> str:
        # Pieces of the other side keep their word-initial mark.
        return str(self._model.decode(list(pieces))).replace("▁", " ").strip()


class TokenizerJson:
    """The file format of Hugging Face's fast tokenisers."""

    def __init__(self, path: Path) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtra(f"reading {path}", "hf") from None
        try:
            self._model: Any = Tokenizer.from_file(str(path))
        except Exception as problem:  # noqa: BLE001 (the library raises nothing more exact)
            raise BadFile(path, f"is not a readable tokenizer.json ({problem})") from None

    def pieces(self, text: str) -> list[str]:
        pieces: list[str] = self._model.encode(text, add_special_tokens=False).tokens
        return pieces

    def text(self, pieces: Sequence[str]) -> str:
        if self._model.decoder is None:
            return "".join(pieces).replace("▁", " ").strip()
        return str(self._model.decoder.decode(list(pieces))).strip()


class Tokenisers(NamedTuple):
    """One for each side of a model, often the same, and their files."""

    source: SentencePiece | TokenizerJson
    target: SentencePiece | TokenizerJson
    files: tuple[Path, ...]


def open_tokenisers(place: Path) -> Tokenisers:
    """The tokenisers in a directory, or the one in a file for both sides."""
    pair = [place / name for name in PAIR]
    if all(path.is_file() for path in pair):
        return Tokenisers(SentencePiece(pair[0]), SentencePiece(pair[1]), tuple(pair))
    for path in (place, *(place / name for name in SINGLE)):
        if path.is_file():
            tokeniser = TokenizerJson(path) if path.suffix == ".json" else SentencePiece(path)
            return Tokenisers(tokeniser, tokeniser, (path,))
    raise UserError(
        f"{place} has no tokeniser ({' and '.join(PAIR)}, or one of {', '.join(SINGLE)}); copy it there from the "
        "original model, or give its path with the option tokenizer=PATH"
    )


# -- how a model is given its languages --------------------------------------------------------------------------------

CONVENTIONS = ("opus", "nllb", "m2m100", "t5", "plain")
"""How kinds of models receive a text and its languages.

- `opus`: OPUS-MT and other Marian models; those with several target languages need `>>spa<<` before the text
- `nllb`, `m2m100`: both languages are tokens, one before the source, one before the translation
- `t5`: a text prefix: `<2es>` if the model has it, else `translate English to Spanish:`
- `plain`: the pieces alone
"""
NEVER_TEXT = re.compile(
    r"</?s>|<unk>|<pad>|[a-z]{3}_[A-Z][a-z]{3}|__[a-z]{2,3}__|>>[^<>]+<<|<2[a-zA-Z_-]+>|<extra_id_\d+>|madeupword\d+"
)
"""Vocabulary tokens that are not text."""


class Frame(NamedTuple):
    """Tokens that surround the texts of one direction."""

    instruction: str = ""
    """Text before the source."""
    before_source: tuple[str, ...] = ()
    before_target: tuple[str, ...] = ()
    """The forced first tokens of every translation."""


def frame(
    convention: str,
    direction: Direction,
    source_vocabulary: Collection[str],
    target_vocabulary: Collection[str],
    source_prefix: str | None = None,
    target_prefix: str | None = None,
) -> Frame:
    """The frame of a direction; refuses unsupported languages.

    Prefixes are user-defined: for `t5` the source's is text, else both are tokens of the vocabularies.
    """
    source, target = direction
    begin = _tokens(target_prefix, direction, target_vocabulary)
    if convention == "t5":
        return Frame(_instruction(direction, source_vocabulary, source_prefix), (), begin or ())
    before = _tokens(source_prefix, direction, source_vocabulary)
    if convention in ("nllb", "m2m100"):
        if before is None:
            before = (_language_token(convention, source, source_vocabulary),)
        if begin is None:
            begin = (_language_token(convention, target, target_vocabulary),)
    elif convention == "opus" and before is None:
        before = _opus_token(target, source_vocabulary)
    return Frame("", before or (), begin or ())


def _tokens(prefix: str | None, direction: Direction, vocabulary: Collection[str]) -> tuple[str, ...] | None:
    if prefix is None:
        return None
    tokens = tuple(filled(prefix, direction).split())
    for token in tokens:
        if token not in vocabulary:
            raise UserError(f"this model has no token {token!r}, which the prefix {prefix!r} gives")
    return tokens


def _language_token(convention: str, language: str, vocabulary: Collection[str]) -> str:
    token = f"__{language}__" if convention == "m2m100" else codes.nllb(language)
    if token not in vocabulary:
        raise UserError(f"this {convention} model has no language {language!r} (no {token!r} in its vocabulary)")
    return token


def _opus_token(language: str, vocabulary: Collection[str]) -> tuple[str, ...]:
    # OPUS-MT has changed its codes over the years, and names Arabic and Persian by variety or as a whole.
    for code in (codes.nllb(language).partition("_")[0], codes.three_letters(language), language):
        if f">>{code}<<" in vocabulary:
            return (f">>{code}<<",)
    if tokens := opus_tokens(vocabulary):
        raise UserError(f"this OPUS-MT model does not translate into {language!r}; it has {_listed(tokens)}")
    return ()


def _instruction(direction: Direction, vocabulary: Collection[str], prefix: str | None) -> str:
    if prefix is not None:
        return filled(prefix, direction)
    target = direction[1]
    if f"<2{target}>" in vocabulary:
        return f"<2{target}> "
    if tokens := sorted(token for token in vocabulary if re.fullmatch(r"<2[a-z]{2,3}>", token)):
        raise UserError(f"this model does not translate into {target!r}; it has {_listed(tokens)}")
    for language in direction:
        if language not in codes.NAMES:
            raise UserError(
                f"no name is known for language {language!r}; give the text that this model wants before the sentence "
                "with the option source_prefix=TEXT"
            )
    return "translate {} to {}: ".format(*(codes.NAMES[language] for language in direction))


def guess_convention(tokenisers: Tokenisers, vocabulary: Collection[str], start: str | None) -> str:
    """The kind of a model, from its files and the start token of its translations."""
    if codes.nllb("en") in vocabulary:
        return "nllb"
    if "__en__" in vocabulary:
        return "m2m100"
    if tokenisers.files[0].name == PAIR[0]:
        return "opus"
    if "<extra_id_0>" in vocabulary or start == "<pad>":
        return "t5"
    return "plain"


def opus_tokens(vocabulary: Collection[str]) -> list[str]:
    return sorted(token for token in vocabulary if re.fullmatch(r">>[^<>]+<<", token))


def pair_in(name: str) -> Direction | None:
    """The language pair in a model's name, such as `opus-mt-en-es`."""
    known = "|".join(codes.LANGUAGES)
    pairs = set(re.findall(rf"(?<![a-z])({known})-({known})(?![a-z])", name))
    return pairs.pop() if len(pairs) == 1 else None


def one_line(text: str) -> str:
    """Replace line breaks, which no translation model supports, by spaces."""
    return re.sub(r"[\r\n]+", " ", text)


def filled(prefix: str, direction: Direction) -> str:
    return prefix.replace("{source}", direction[0]).replace("{target}", direction[1])


def _listed(words: Sequence[str], n_shown: int = 8) -> str:
    return ", ".join(words[:n_shown]) + (f" and {len(words) - n_shown} more" if len(words) > n_shown else "")
