"""A Python function as a system: a list of sentences in, a list of translations out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence

from gendermark.errors import SystemFailure, UserError
from gendermark.io.tables import shortened
from gendermark.records import Request, Translation
from gendermark.systems.system import KEPT, System

Translate = Callable[[list[str]], Sequence[str]]


class Function(System):
    """Asked in batches; its answers are stored, so that an interrupted run resumes."""

    answers_by_line = True

    def __init__(self, function: Translate) -> None:
        name = getattr(function, "__name__", type(function).__name__)
        self._function = function
        self.spec = f"python:{name}"
        self.system_id = f"{self.spec}-{_code_hash(function)}"

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        sources = [request.source for request in requests]
        try:
            found = list(self._function(sources))
        except Exception as problem:
            raise SystemFailure(f"{self.spec} failed: {type(problem).__name__}: {problem} {KEPT}") from problem
        if len(found) != len(sources):
            raise UserError(f"{self.spec} gave {len(found):,} translations of {len(sources):,} sentences, not one each")
        for text in found:
            if not isinstance(text, str):
                raise UserError(f"{self.spec} gave {shortened(text)} as a translation, which must be a text")
        yield [Translation(request.request_id, text) for request, text in zip(requests, found, strict=True)]


def _code_hash(function: Translate) -> str:
    """Of the function's own code: an edited function does not get the answers of the one before it.

    What it calls is not seen; `name=` keeps two versions of a model apart.
    """
    code = getattr(function, "__code__", None)
    seen = repr((code.co_code, code.co_consts, code.co_names)) if code else f"{type(function).__qualname__}"
    return hashlib.sha256(seen.encode()).hexdigest()[:12]
