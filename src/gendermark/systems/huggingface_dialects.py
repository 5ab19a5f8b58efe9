"""How models of `hf:` are given a source, and how their words become a text."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gendermark.errors import UserError
from gendermark.linguistics.codes import LANGUAGES
from gendermark.records import Request
from gendermark.systems.chat import EXTRACTION_VERSION, extract, open_prompt
from gendermark.systems.engine import Said, first_line
from gendermark.systems.huggingface_opening import Place, Words, listed
from gendermark.systems.tokenisers import Convention, Direction, Tokenisers, filled, one_line, pair_in

_NEW_LINES = ("\n", "Ċ", "<0x0A>")
"""How tokenisers write a line break at the start of a word."""
_CODE_OF = {name: code for code, facts in LANGUAGES.items() for name in (code, facts.nllb.partition("_")[0])}
_NO_TOKENISER: Any = None


class Dialect(ABC):
    """How a model is given a source, and how its words become a text."""

    settings: Mapping[str, Any]
    """What of it can change a translation, beyond the model itself."""
    further_ends: frozenset[int] = frozenset()
    """Words that end a translation, beyond the model's own."""

    @abstractmethod
    def begin(self, direction: Direction) -> Words:
        """The words that every translation begins with; refuses languages that the model is known not to have."""

    @abstractmethod
    def source(self, request: Request) -> Words: ...

    @abstractmethod
    def target(self, request: Request) -> Words:
        """The words of the translation to score, without its beginning and end."""

    @abstractmethod
    def text(self, request: Request, words: Sequence[int], ended: bool) -> Said:
        """What its words say."""


@dataclass(frozen=True, slots=True)
class _Frame:
    instruction: str
    """Text before the text."""
    source_language: str | None
    target_language: str | None
    """The names by which the tokeniser knows them, where it must be told."""
    begin: Words


class Translator(Dialect):
    """For models with an encoder and a decoder: languages are words, or an instruction before the text, or fixed."""

    def __init__(self, spec: str, place: Place, config: Any, tokeniser: Any, options: Mapping[str, str]) -> None:
        for key in ("prompt", "system"):
            if key in options:
                raise UserError(f"{spec} is a translation model, which is given no prompt; leave out {key}")
        self._spec, self._place, self._config, self._tokeniser = spec, place, config, tokeniser
        self._source_prefix = options.get("source_prefix")
        self.settings = {"source_prefix": self._source_prefix}
        self._vocabulary: frozenset[str] = frozenset(tokeniser.get_vocab()).union(
            getattr(tokeniser, "lang_token_to_id", ())
        )
        self._frames: dict[Direction, _Frame] = {}

    def begin(self, direction: Direction) -> Words:
        return self._frame(direction).begin

    def source(self, request: Request) -> Words:
        frame = self._speak(request)
        words: Words = self._tokeniser(frame.instruction + one_line(request.source))["input_ids"]
        return words

    def target(self, request: Request) -> Words:
        self._speak(request)
        text = one_line(request.target or "")
        words: Words = self._tokeniser(text_target=text, add_special_tokens=False)["input_ids"]
        return words

    def text(self, request: Request, words: Sequence[int], ended: bool) -> Said:  # noqa: ARG002
        return Said(self._tokeniser.decode(list(words), skip_special_tokens=True).strip())

    def _speak(self, request: Request) -> _Frame:
        frame = self._frame((request.source_language, request.target_language))
        if frame.source_language is not None:
            self._tokeniser.src_lang, self._tokeniser.tgt_lang = frame.source_language, frame.target_language
        return frame

    def _frame(self, direction: Direction) -> _Frame:
        if direction not in self._frames:
            try:
                self._frames[direction] = self._new_frame(direction)
            except UserError as problem:
                raise UserError(f"{self._spec}: {problem}") from None
        return self._frames[direction]

    def _new_frame(self, direction: Direction) -> _Frame:
        kind = self._kind()
        if kind == "mbart":
            return self._with_marks(*(self._mbart_mark(language) for language in direction))
        if kind == "plain" or self._source_prefix is not None:
            if kind in ("plain", "opus"):
                self._check_pair(direction)
            return _Frame(filled(self._source_prefix or "", direction), None, None, [])
        if kind == "t5":
            self._check_tasks(direction)
        # Its tokenisers are not asked for anything here.
        convention = Convention(
            kind, Tokenisers(_NO_TOKENISER, _NO_TOKENISER, ()), self._vocabulary, self._vocabulary, ""
        )
        frame = convention.frame(direction)
        if kind in ("nllb", "m2m100"):
            return self._with_marks(frame.before_source[0], frame.before_target[0])
        if kind == "opus" and not frame.before_source:
            self._check_pair(direction)
        return _Frame(frame.instruction or "".join(f"{mark} " for mark in frame.before_source), None, None, [])

    def _kind(self) -> str:
        if self._config.model_type == "marian":
            return "opus"
        for mark, kind in ((LANGUAGES["en"].nllb, "nllb"), ("__en__", "m2m100"), ("en_XX", "mbart")):
            if mark in self._vocabulary:
                return kind
        return "t5" if "t5" in self._config.model_type else "plain"

    def _with_marks(self, source: str, target: str) -> _Frame:
        begin = [self._tokeniser.convert_tokens_to_ids(target)]
        # M2M100's tokeniser wants the codes alone.
        return _Frame("", source.strip("_"), target.strip("_"), begin)

    def _mbart_mark(self, language: str) -> str:
        marks = [word for word in self._vocabulary if re.fullmatch(f"{re.escape(language)}_[A-Z]{{2}}", word)]
        if marks:
            return min(marks)
        raise UserError(f"this mBART model has no language {language!r}")

    def _check_pair(self, direction: Direction) -> None:
        """For a model of one pair, as far as its tokeniser or its name says which."""
        own = tuple(_CODE_OF.get(str(getattr(self._tokeniser, f"{side}_lang", None))) for side in ("source", "target"))
        if None in own:
            name = Path(self._place.name).resolve().name if self._place.commit is None else self._place.name
            own = pair_in(name) or direction
        if own != direction:
            raise UserError(
                f"this model translates {'-'.join(map(str, own))}, but {'-'.join(direction)} is asked for; give a "
                "model for that pair"
            )

    def _check_tasks(self, direction: Direction) -> None:
        """The first T5 models list what they were trained for."""
        tasks = [task for task in getattr(self._config, "task_specific_params", None) or () if "translation" in task]
        if tasks and f"translation_{direction[0]}_to_{direction[1]}" not in tasks:
            raise UserError(
                f"this model was trained for {', '.join(tasks)} and not for {'-'.join(direction)}; if it was trained "
                "further, give the text that it wants before the sentence with the option source_prefix=TEXT"
            )


class Prompted(Dialect):
    """For language models: the source stands in a prompt, and the translation in the answer."""

    def __init__(self, spec: str, place: Place, tokeniser: Any, options: Mapping[str, str]) -> None:
        if "source_prefix" in options:
            raise UserError(f"{spec} is a language model, which is asked by a prompt; give prompt, not source_prefix")
        self._spec, self._tokeniser = spec, tokeniser
        self._chats = bool(getattr(tokeniser, "chat_template", None))
        is_tower = "tower" in Path(place.name).name.lower()
        # Without tags: given translations are scored, and log-probabilities kept, as they follow the prompt.
        default = "tower" if is_tower or not self._chats else "plain"
        self._prompt = open_prompt(options.get("prompt", default), options.get("system", ""))
        self.settings = {"prompt": self._prompt.content_hash, "extraction": EXTRACTION_VERSION}
        self.further_ends = frozenset(listed(tokeniser.eos_token_id))
        if not self._chats:
            # A model that was never taught to stop goes on with the next example.
            words = tokeniser.convert_ids_to_tokens(range(len(tokeniser)))
            self.further_ends |= {number for number, word in enumerate(words) if word and word.startswith(_NEW_LINES)}

    def begin(self, direction: Direction) -> Words:
        self._prompt.messages("", *direction)  # refuses languages without a name
        return []

    def source(self, request: Request) -> Words:
        return self._words(self._asked(request))

    def target(self, request: Request) -> Words:
        # Together with the prompt, as they would follow each other; and apart where the two cannot be told apart then.
        target, before = request.target or "", self.source(request)
        words = self._words(f"{self._asked(request)}{'' if self._chats else ' '}{target}")
        if words[: len(before)] == before:
            return words[len(before) :]
        apart: Words = self._tokeniser(target, add_special_tokens=False)["input_ids"]
        return apart

    def text(self, request: Request, words: Sequence[int], ended: bool) -> Said:
        answer = self._tokeniser.decode(list(words), skip_special_tokens=True).strip()
        if not self._chats:
            answer = answer.partition("\n")[0].strip()
        if not ended:
            return Said(None, "the answer was cut off at max_length", False)
        text, problem = extract(answer, request.source)
        return Said(text, problem or None, text == answer)

    def _asked(self, request: Request) -> str:
        fields = (request.source, request.source_language, request.target_language)
        if not self._chats:
            return self._prompt.text(*fields)
        try:
            # Templates that know no such setting do not look at it; thoughts are no translation.
            text: str = self._tokeniser.apply_chat_template(
                self._prompt.messages(*fields), tokenize=False, add_generation_prompt=True, enable_thinking=False
            )
        except UserError:
            raise
        except Exception as problem:  # noqa: BLE001 (a template is a program, and may refuse a system message)
            raise UserError(f"the chat template of {self._spec} refuses the prompt: {first_line(problem)}") from None
        return text

    def _words(self, text: str) -> Words:
        # A chat template writes the start itself.
        words: Words = self._tokeniser(text, add_special_tokens=not self._chats)["input_ids"]
        return words[:-1] if not self._chats and words[-1:] == [self._tokeniser.eos_token_id] else words
