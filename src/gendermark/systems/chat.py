"""Prompts for chat models, and extraction of the translation from their answers.

The default prompt asks for the translation between tags, so that surrounding text does no harm. Prompts do not mention
gender: a hint ("use inclusive language", "she is a doctor") would measure how well a model follows hints, and an
example translation would have a gender itself. `hinted:` asks with hints.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gendermark import registry
from gendermark.errors import BadFile, UserError
from gendermark.io.textfiles import read_text
from gendermark.reading.codes import NAMES

# -- asking


def language_name(code: str) -> str:
    if code in NAMES:
        return NAMES[code]
    if code in registry.names("language"):
        return str(registry.load("language", code).name)
    raise UserError(
        f"no name is known for language {code!r}, which the prompt needs; give a prompt of your own that names the "
        "languages itself, with prompt=FILE"
    )


@dataclass(frozen=True, slots=True)
class Prompt:
    """A template with {source_language}, {target_language} and {source}, and a system message."""

    template: str
    system: str = ""
    body: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the request, for servers that support answer formats."""

    def text(self, source: str, source_language: str, target_language: str, hint: str = "") -> str:
        """The prompt as one text for a base model; the system message comes first."""
        messages = self.messages(source, source_language, target_language, hint)
        return "\n\n".join(message["content"] for message in messages)

    def messages(self, source: str, source_language: str, target_language: str, hint: str = "") -> list[dict[str, str]]:
        """The prompt for a chat model, with a system message only if one is given: not all models accept one.

        A hint, given by `hinted:` only, is a paragraph before the user's message.
        """
        codes = {"source_language": source_language, "target_language": target_language}

        def value(field: re.Match[str]) -> str:
            return language_name(codes[field[1]]) if field[1] in codes else source

        roles = (("system", self.system, ""), ("user", self.template, f"{hint}\n\n" if hint else ""))
        # One pass, so that braces in a sentence are kept; look up only the names that are used.
        return [
            {"role": role, "content": before + _FIELD.sub(value, template)}
            for role, template, before in roles
            if template
        ]

    @property
    def content_hash(self) -> str:
        """Part of a system's id: another prompt makes another system."""
        parts = [self.template, self.system, *([self.body] if self.body else [])]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


_TRANSLATE = "Translate the following text from {source_language} into {target_language}."
PRESETS = {
    "default": f"{_TRANSLATE} Answer with the translation alone, as <translation>...</translation>.\n\n{{source}}",
    "plain": f"{_TRANSLATE} Answer with the translation alone.\n\n{{source}}",
    "json": f'{_TRANSLATE} Answer with a JSON object, {{"translation": "..."}}.\n\n{{source}}',
    # The training prompt of the Tower family. It also suits base models, which only continue text.
    "tower": f"{_TRANSLATE}\n{{source_language}}: {{source}}\n{{target_language}}:",
}
RESPONSE_FORMAT = "response_format"
_SCHEMA = {
    "type": "object",
    "properties": {"translation": {"type": "string"}},
    "required": ["translation"],
    "additionalProperties": False,
}
_FORM = {"type": "json_schema", "json_schema": {"name": "translation", "strict": True, "schema": _SCHEMA}}
_FIELD = re.compile(r"\{(source_language|target_language|source)\}")


def open_prompt(name_or_file: str = "default", system: str = "") -> Prompt:
    """A preset by name, or the user's template from a file."""
    if name_or_file in PRESETS:
        return Prompt(PRESETS[name_or_file], system, {RESPONSE_FORMAT: _FORM} if name_or_file == "json" else {})
    path = Path(name_or_file)
    if not path.exists() and not re.search(r"[./\\]", name_or_file):
        raise UserError(f"there is no prompt {name_or_file!r}; available: {', '.join(PRESETS)}, or give a file")
    # Ignore an editor's final line end.
    template = read_text(path).replace("\r\n", "\n").removesuffix("\n")
    if "{source}" not in template:
        raise BadFile(path, "has no {source}, the placeholder of the sentence to translate; add it")
    return Prompt(template, system)


# -- reading the answer

EMPTY = "empty answer"
REFUSAL = "refusal"
ALTERNATIVES = "several alternatives"
UNFINISHED = "unfinished thinking"
NOT_FOUND = "no translation found"
EXTRACTION_VERSION = 2
"""Increased whenever `extract` can give another text; part of a system's id and the signature."""

_THINKING = "think|thinking|thought|reasoning|reflection|analysis"
_THOUGHT = re.compile(rf".*</(?:{_THINKING})>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(rf"\s*<(?:{_THINKING})>", re.IGNORECASE)
_SPECIAL_TOKEN = re.compile(r"<\|[\w-]{1,40}\|>|</?s>|<(?:end|start)_of_turn>|\[/?INST\]")
# No nested tags: an answer of opening tags only would otherwise take quadratic time.
_TAGGED = re.compile(r"<translation>((?:[^<]++|<(?!/?translation>))*+)</translation>", re.IGNORECASE)
_OUTER_TAGS = re.compile(r"^<translation>|</translation>$", re.IGNORECASE)
_UNREAD_MARKS = re.compile(r"</?translation>|^\{", re.IGNORECASE)
_JSON = re.compile(r'\{\s*"translation"\s*:')
_MOST_OBJECTS = 20
_FENCED = re.compile(r"(```|~~~)(?:[\w-]*[ \t]*\n)?(.*?)\1", re.DOTALL)
_REFUSAL = re.compile(
    r"(?:i'?m (?:very |so )?sorry|sorry|i apologi[sz]e|unfortunately|i)\b.{0,40}?"
    r"\b(?:can'?t|can ?not|won'?t|unable|not able)\b|as an ai\b",
    re.IGNORECASE,
)
_PAIRS = (*zip("\"'`“„«»‘‚「『‹", "\"'`”“»«’‘」』›", strict=True), ("**", "**"), ("*", "*"), ("_", "_"))
_QUOTES = {opening for opening, _ in _PAIRS} - {"**", "*", "_"}
# At word boundaries: inside a word, as in Hebrew abbreviations, the sign is no quotation mark.
_QUOTED = re.compile(r'(?<!\w)(?:"[^"]+"|“[^“”]+”|«[^«»]+»|„[^„“]+“)(?!\w)')
_BLANK = " \t\n\ufeff\u200b\u2060"


def extract(answer: str, source: str) -> tuple[str | None, str]:
    """The translation in a chat model's answer; or None, and the problem.

    It is the text between tags, in JSON or in a code fence; failing these, the whole answer, without a first line that
    ends in a colon, if it then has no more lines than the source. Answers with both genders are never shortened to the
    first:
    "el/la" and "X / Y" stay whole, and two marked translations are a problem.
    """
    text = _SPECIAL_TOKEN.sub("", answer.replace("\r\n", "\n"))
    # The opening tag is often part of the prompt, and missing here.
    if thought := _THOUGHT.match(text):
        text = text[thought.end() :]
    if _OPEN_THOUGHT.match(text):
        return None, UNFINISHED
    marked = _marked(text)
    if len(marked) > 1:
        return None, ALTERNATIVES
    if marked:
        return _unwrapped(marked[0], source), ""
    text = _OUTER_TAGS.sub("", _unwrapped(text, source))
    n_breaks = source.strip().count("\n")
    first, _, rest = text.partition("\n")
    if text.count("\n") > n_breaks and first.rstrip(" *_").endswith((":", "：")):
        text = rest
    text = _unwrapped(text, source)
    if not any(map(str.isalnum, text)):
        return None, EMPTY
    if _refuses(text) and not _refuses(source):
        return None, REFUSAL
    # More lines than the source, or quotations where it has none, indicate commentary.
    is_talk = text.count("\n") > n_breaks or (_QUOTED.search(text) and not _QUOTES & set(source))
    if is_talk or _UNREAD_MARKS.search(text):
        return None, NOT_FOUND
    return text, ""


def _marked(text: str) -> list[str]:
    """The distinct texts marked as translation, by the first kind of markup found."""
    for found in (_TAGGED.findall(text), _in_json(text), (block for _, block in _FENCED.findall(text))):
        texts = dict.fromkeys(one.strip(_BLANK) for one in found)
        # An answer may repeat the prompt's own "...".
        if words := [one for one in texts if any(map(str.isalnum, one))]:
            return words
    return []


def _in_json(text: str) -> Iterator[str]:
    for start in itertools.islice(_JSON.finditer(text), _MOST_OBJECTS):
        try:
            found = json.JSONDecoder().raw_decode(text, start.start())[0]["translation"]
            if isinstance(found, str):
                found.encode()  # JSON can escape a lone surrogate, which is not text
                yield found
        except (ValueError, RecursionError):
            continue


def _unwrapped(text: str, source: str) -> str:
    """Without surrounding quotation marks or emphasis, unless the source begins with a quotation mark."""
    text = text.strip(_BLANK)
    for opening, closing in _PAIRS if source.strip()[:1] not in _QUOTES else ():
        inner = text[len(opening) : -len(closing)]
        if text == opening + inner + closing and inner and opening not in inner and closing not in inner:
            return _unwrapped(inner, source)
    return text


def _refuses(text: str) -> bool:
    """Whether a text begins like an English refusal; models omit the tags when they refuse."""
    return _REFUSAL.match(text.strip(_BLANK).replace("’", "'")) is not None
