"""A Python function as a system: a list of sentences in, a list of translations out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType

from gendermark.errors import SystemFailure, UserError
from gendermark.records import Request, Translation
from gendermark.systems.system import KEPT, System

Translate = Callable[[list[str]], Sequence[str]]


class Function(System):
    """Called in batches. Answers are stored for a run folder only, where an interrupted run resumes.

    A function depends on more than its code (a model in a closure, a global, an attribute), so answers are not reused
    in other runs.
    """

    answers_by_line = True

    def __init__(self, function: Translate, directory: Path | None = None) -> None:
        name = getattr(function, "__name__", type(function).__name__)
        self._function = function
        self.spec = self.system_id = f"python:{name}"
        self.is_stored = directory is not None
        self._kept = KEPT if directory else "(give a directory to keep finished translations)"
        if directory is not None:
            place = f"{directory.resolve()}\n{_content(getattr(function, '__code__', None))}"
            self.system_id = f"{self.spec}-{hashlib.sha256(place.encode()).hexdigest()[:12]}"

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        for start in range(0, len(requests), self.batch_size):
            batch = requests[start : start + self.batch_size]
            try:
                answer = self._function([request.source for request in batch])
                found = None if isinstance(answer, str) else list(answer)
            except Exception as problem:
                sentence = f"{self.spec} failed: {type(problem).__name__}: {problem} {self._kept}"
                raise SystemFailure(sentence) from problem
            if found is None:
                raise UserError(f"{self.spec} gave one text, not a list of translations, one for each sentence")
            if len(found) != len(batch):
                raise UserError(
                    f"{self.spec} gave {len(found):,} translations of {len(batch):,} sentences, not one each"
                )
            for text in found:
                if not isinstance(text, str):
                    raise UserError(f"{self.spec} gave {text!r:.60} as a translation, which must be a text")
            yield [Translation(request.request_id, text) for request, text in zip(batch, found, strict=True)]


def _content(code: object) -> str:
    """Hash of a function's code, so that an edited one does not reuse answers."""
    if not isinstance(code, CodeType):
        return ""
    constants = [_content(one) or repr(one) for one in code.co_consts]
    return repr((code.co_code, constants, code.co_names))
