"""From text to the words that a model reads, and back.

SentencePiece files and `tokenizer.json` stand behind one interface (`Tokeniser`); what a kind of model wants around a
text, its end and marks of the languages, is a `Convention`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from gendermark.errors import BadFile, MissingExtra, UserError
from gendermark.linguistics import codes

Direction = tuple[str, str]
"""(source language, target language)."""

PAIR = ("source.spm", "target.spm")
SINGLE = ("sentencepiece.bpe.model", "spiece.model", "sentencepiece.model", "spm.model", "tokenizer.json")
"""What a tokeniser is called in the directories of models: the first of these that is there is used."""


class Tokeniser(Protocol):
    """Cuts a text into pieces and joins them again; knows nothing of ends and language marks."""

    def pieces(self, text: str) -> list[str]: ...

    def text(self, pieces: Sequence[str]) -> str: ...


@dataclass(frozen=True, slots=True)
class Tokenisers:
    """One for each side of a model, often the same, and the files they were read from."""

    source: Tokeniser
    target: Tokeniser
    files: tuple[Path, ...]


class SentencePiece:
    def __init__(self, path: Path) -> None:
        import sentencepiece

        try:
            self._model = sentencepiece.SentencePieceProcessor(model_proto=path.read_bytes())
        except OSError as problem:
            raise BadFile(path, f"cannot be read ({problem.strerror})") from None
        except RuntimeError:
            raise BadFile(path, "is not a complete SentencePiece model; copy it again") from None

    def pieces(self, text: str) -> list[str]:
        pieces: list[str] = self._model.encode(text, out_type=str)
        return pieces

    def text(self, pieces: Sequence[str]) -> str:
        # Pieces of the other side keep their mark of a word's beginning.
        return str(self._model.decode(list(pieces))).replace("▁", " ").strip()


class TokenizerJson:
    """The file that Hugging Face's fast tokenisers are kept in."""

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


def open_tokenisers(place: Path) -> Tokenisers:
    """The tokenisers in a directory, or the one in a file, which then serves both sides."""
    if place.is_file():
        return _both(place)
    pair = [place / name for name in PAIR]
    if all(path.is_file() for path in pair):
        return Tokenisers(SentencePiece(pair[0]), SentencePiece(pair[1]), tuple(pair))
    for name in SINGLE:
        if (place / name).is_file():
            return _both(place / name)
    raise UserError(
        f"{place} has no tokeniser, which is {' and '.join(PAIR)}, or one of {', '.join(SINGLE)}; copy it there from "
        "the model that was converted, or say where it is with the option tokenizer=PATH"
    )


def _both(path: Path) -> Tokenisers:
    tokeniser: Tokeniser = TokenizerJson(path) if path.suffix == ".json" else SentencePiece(path)
    return Tokenisers(tokeniser, tokeniser, (path,))


# -- what stands around a text ----------------------------------------------------------------------------------------

CONVENTIONS = ("opus", "nllb", "m2m100", "t5", "plain")
# Words of a vocabulary that are no part of any text.
_MARK = re.compile(
    r"</?s>|<unk>|<pad>|[a-z]{3}_[A-Z][a-z]{3}|__[a-z]{2,3}__|>>[^<>]+<<|<2[a-zA-Z_-]+>|<extra_id_\d+>|madeupword\d+"
)


class Frame(NamedTuple):
    """What stands around the texts of one direction."""

    instruction: str
    """Text before the text."""
    before_source: tuple[str, ...]
    before_target: tuple[str, ...]
    """The words that every translation begins with."""


@dataclass(frozen=True)
class Convention:
    """How a kind of model is given a text and told its languages.

    - `opus`: OPUS-MT and other Marian models; those of several target languages want `>>spa<<` before the text
    - `nllb`, `m2m100`: both languages are words, one before the source, one before the translation
    - `t5`: a text before the text: `<2es>` where the model has it, else `translate English to Spanish:`
    - `plain`: the pieces alone
    """

    name: str
    tokenisers: Tokenisers
    source_vocabulary: frozenset[str]
    target_vocabulary: frozenset[str]
    end: str
    """Written behind the source; empty where the engine does so itself, or nothing is wanted."""
    source_prefix: str | None = None
    target_prefix: str | None = None
    """The user's own words before source and translation (for `t5` text, else words of the vocabulary)."""

    def frame(self, direction: Direction) -> Frame:
        """What stands around texts of this direction; refuses languages that the model is known not to have."""
        source, target = direction
        begin = self._own_words(self.target_prefix, direction, self.target_vocabulary)
        if self.name == "t5":
            return Frame(self._instruction(direction), (), begin or ())
        before = self._own_words(self.source_prefix, direction, self.source_vocabulary)
        if self.name in ("nllb", "m2m100"):
            if before is None:
                before = (self._language_mark(source, self.source_vocabulary),)
            if begin is None:
                begin = (self._language_mark(target, self.target_vocabulary),)
        elif self.name == "opus" and before is None:
            before = self._opus_mark(target)
        return Frame("", before or (), begin or ())

    def source(self, text: str, frame: Frame) -> list[str]:
        """The words that the model reads for a text."""
        pieces = self.tokenisers.source.pieces(frame.instruction + one_line(text))
        return [*frame.before_source, *pieces, *([self.end] if self.end else [])]

    def target(self, text: str) -> list[str]:
        """The words of a given translation, without its beginning and end."""
        return self.tokenisers.target.pieces(one_line(text))

    def text(self, words: Sequence[str]) -> str:
        """The text of a translation's words; marks that the model wrote into it are left out."""
        return self.tokenisers.target.text([word for word in words if word not in self._never_text])

    @cached_property
    def is_multilingual(self) -> bool:
        return self.name in ("nllb", "m2m100", "t5") or bool(opus_marks(self.source_vocabulary))

    @cached_property
    def _never_text(self) -> frozenset[str]:
        return frozenset(word for word in self.target_vocabulary if _MARK.fullmatch(word))

    def _own_words(
        self, prefix: str | None, direction: Direction, vocabulary: frozenset[str]
    ) -> tuple[str, ...] | None:
        if prefix is None:
            return None
        words = tuple(filled(prefix, direction).split())
        for word in words:
            if word not in vocabulary:
                raise UserError(
                    f"this model has no word {word!r}, which the prefix {prefix!r} gives; words stand in its vocabulary"
                )
        return words

    def _language_mark(self, language: str, vocabulary: frozenset[str]) -> str:
        mark = f"__{language}__" if self.name == "m2m100" else codes.nllb(language)
        if mark not in vocabulary:
            raise UserError(f"this {self.name} model has no language {language!r} (no {mark!r} in its vocabulary)")
        return mark

    def _opus_mark(self, language: str) -> tuple[str, ...]:
        mark = opus_mark(language, self.source_vocabulary)
        if mark is not None:
            return (mark,)
        if marks := opus_marks(self.source_vocabulary):
            raise UserError(f"this OPUS-MT model does not translate into {language!r}; it has {_listed(marks)}")
        return ()

    def _instruction(self, direction: Direction) -> str:
        if self.source_prefix is not None:
            return filled(self.source_prefix, direction)
        target = direction[1]
        if f"<2{target}>" in self.source_vocabulary:
            return f"<2{target}> "
        if marks := sorted(word for word in self.source_vocabulary if re.fullmatch(r"<2[a-z]{2,3}>", word)):
            raise UserError(f"this model does not translate into {target!r}; it has {_listed(marks)}")
        for language in direction:
            if language not in codes.NAMES:
                raise UserError(
                    f"no name is known for language {language!r}, which this model is told by name; give the text that "
                    "it wants before the sentence with the option source_prefix=TEXT"
                )
        return "translate {} to {}: ".format(*(codes.NAMES[language] for language in direction))


def guess_convention(tokenisers: Tokenisers, vocabulary: Collection[str], start: str | None) -> str:
    """The kind of a model, told from its files and from the word that its translations start from."""
    if codes.nllb("en") in vocabulary:
        return "nllb"
    if "__en__" in vocabulary:
        return "m2m100"
    if tokenisers.files[0].name == PAIR[0]:
        return "opus"
    if "<extra_id_0>" in vocabulary or start == "<pad>":
        return "t5"
    return "plain"


def opus_mark(language: str, vocabulary: Collection[str]) -> str | None:
    """The word by which an OPUS-MT model of several target languages is told which one; None where it has none."""
    # OPUS-MT has changed its codes over the years, and has called Arabic and Persian both by variety and as a whole.
    for code in (codes.nllb(language).partition("_")[0], codes.three_letters(language), language):
        if f">>{code}<<" in vocabulary:
            return f">>{code}<<"
    return None


def opus_marks(vocabulary: Collection[str]) -> list[str]:
    """The marks of all target languages that an OPUS-MT model knows; none for a model of one."""
    return sorted(word for word in vocabulary if re.fullmatch(r">>[^<>]+<<", word))


def pair_in(name: str) -> Direction | None:
    """The one pair of languages that a model's name says it is for, `opus-mt-en-es`."""
    known = "|".join(codes.LANGUAGES)
    pairs = set(re.findall(rf"(?<![a-z])({known})-({known})(?![a-z])", name))
    return pairs.pop() if len(pairs) == 1 else None


def one_line(text: str) -> str:
    """A line break is no word of any translation model; the text stays one."""
    return re.sub(r"[\r\n]+", " ", text)


def filled(prefix: str, direction: Direction) -> str:
    return prefix.replace("{source}", direction[0]).replace("{target}", direction[1])


def _listed(words: Sequence[str], n_shown: int = 8) -> str:
    return ", ".join(words[:n_shown]) + (f" and {len(words) - n_shown} more" if len(words) > n_shown else "")
