"""How a chat model is asked for a translation.

The prompt says nothing about gender. A hint ("use inclusive language", "she is a doctor") would measure how well a
model follows hints, and an example translation would have a gender of its own. Who wants that asks for it: `hinted:`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gendermark import registry
from gendermark.errors import BadFile, UserError
from gendermark.io.textfiles import read_text
from gendermark.linguistics.codes import NAMES


def language_name(code: str) -> str:
    """A language's English name, from here or from whoever registered the language."""
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
    """A template in which {source_language}, {target_language} and {source} are filled in, and a system message."""

    template: str
    system: str = ""

    def text(self, source: str, source_language: str, target_language: str, hint: str = "") -> str:
        """The prompt as one text, as a base model gets it; the system message stands first."""
        messages = self.messages(source, source_language, target_language, hint)
        return "\n\n".join(message["content"] for message in messages)

    def messages(self, source: str, source_language: str, target_language: str, hint: str = "") -> list[dict[str, str]]:
        """The prompt as a chat model gets it. No system message unless one is given: not all models take one.

        A hint, which `hinted:` alone gives, is a paragraph of its own before the user's.
        """
        roles = (("system", self.system, ""), ("user", self.template, f"{hint}\n\n" if hint else ""))
        return [
            {"role": role, "content": before + _filled(template, source, source_language, target_language)}
            for role, template, before in roles
            if template
        ]

    @property
    def content_hash(self) -> str:
        """For a system's id: the same model asked otherwise is another system."""
        return hashlib.sha256(json.dumps([self.template, self.system]).encode()).hexdigest()[:16]


PRESETS = {
    "default": (
        "Translate the following text from {source_language} into {target_language}. "
        "Answer with the translation alone.\n\n{source}"
    ),
    # As models of the Tower family were trained. It serves base models too: all that is left to say is the translation.
    "tower": (
        "Translate the following text from {source_language} into {target_language}.\n"
        "{source_language}: {source}\n{target_language}:"
    ),
}
_FIELD = re.compile(r"\{(source_language|target_language|source)\}")


def open_prompt(name_or_file: str = "default", system: str = "") -> Prompt:
    """A preset by its name, or the user's own template from a file."""
    if name_or_file in PRESETS:
        return Prompt(PRESETS[name_or_file], system)
    path = Path(name_or_file)
    if not path.exists() and not re.search(r"[./\\]", name_or_file):
        raise UserError(f"there is no prompt {name_or_file!r}; available: {', '.join(PRESETS)}, or give a file")
    # An editor's line end behind the last line is not meant.
    template = read_text(path).replace("\r\n", "\n").removesuffix("\n")
    if "{source}" not in template:
        raise BadFile(path, "has no {source}, which stands for the sentence to translate; write it where that belongs")
    return Prompt(template, system)


def _filled(template: str, source: str, source_language: str, target_language: str) -> str:
    # In one pass, so that braces in a sentence stay what they are; names are looked up only where they are used.
    values: Mapping[str, Callable[[], str]] = {
        "source": lambda: source,
        "source_language": lambda: language_name(source_language),
        "target_language": lambda: language_name(target_language),
    }
    return _FIELD.sub(lambda field: values[field[1]](), template)
