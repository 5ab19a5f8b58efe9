"""`hinted:SPEC?style=adjective`: the system SPEC with a hint in each source that shows somebody's gender.

Traces of the hint are removed from the translation where they can be recognised (`reading/hints.py`). A chat model
gets the hint as a sentence of the prompt instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import UserError
from gendermark.reading.hints import STYLES, Hint, give_hint, remove_hint
from gendermark.reading.occupations import bundled_finder
from gendermark.records import Gender, Request, Task, Translation
from gendermark.systems.system import HINT, System, choice_option
from gendermark.systems.wrapper import Wrapper

TASKS = frozenset({Task.TRANSLATE})
OPTIONS = ("style", "feminine", "masculine", "reader")


class Hinted(Wrapper):
    family = "hinted"
    own_options = OPTIONS

    def __init__(self, argument: str, options: Mapping[str, str], inner: System | None = None) -> None:
        super().__init__(argument, options, inner)
        # "prompt", the last one, is the default of systems that take it, and of no other.
        styles = (STYLES[-1], *STYLES[:-1]) if self._inner.takes_hints else STYLES[:-1]
        self._style = choice_option(self._own, "style", styles)
        self._tags = {gender: self._own.get(gender.value, "") for gender in (Gender.FEMININE, Gender.MASCULINE)}
        n_tags = sum(map(bool, self._tags.values()))
        if n_tags != (2 if self._style == "tag" else 0):
            raise UserError(
                "style=tag of hinted: needs both tags, other styles none: style=tag&feminine=<F>&masculine=<M>"
            )
        self.tasks = self._inner.tasks - {Task.SCORE}
        self.gives_n_best = self._inner.gives_n_best
        self._n_seen: Counter[str] = Counter()
        self._hint = lru_cache(maxsize=65_536)(self._hint_for)

    def _identity(self) -> str:
        return "/".join(f"{key}={self._own[key]}" for key in sorted(self._own) if key != "reader")

    def _hint_for(self, source: str) -> Hint | None:
        return give_hint(source, self._people(source), self._style, self._tags)

    def _inner_request(self, request: Request) -> Request:
        hint = self._hint(request.source)
        if hint is None:
            return request
        if hint.style == "prompt":
            return replace(request, options=tuple(sorted((*request.options, (HINT, f"Note: {hint.beside}")))))
        return replace(request, source=hint.text)

    def prepare(self, benchmark: Benchmark, item_set: ItemSet, requests: Sequence[Request]) -> None:
        self._hint.cache_clear()  # the genders of `reader=gold` change with the items
        super().prepare(benchmark, item_set, requests)
        self._hint.cache_clear()  # reading is part of the work, and may be timed

    def brief(self, briefing: Any, requests: Sequence[Request]) -> None:
        self._hint.cache_clear()
        super().brief(briefing, requests)

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        yield from self._answers(requests, self._inner.answer(self._inner_requests(requests)))

    def n_best(self, requests: Sequence[Request], n: int) -> Iterator[Sequence[Translation]]:
        yield from self._answers(requests, self._inner.n_best(self._inner_requests(requests), n))

    def _answers(
        self, requests: Sequence[Request], portions: Iterator[Sequence[Translation]]
    ) -> Iterator[Sequence[Translation]]:
        """The inner system's answers as answers to the original requests."""
        originals: dict[str, list[Request]] = {}
        for request in requests:
            originals.setdefault(self._inner_request(request).request_id, []).append(request)
            self._n_seen["all"] += 1
            self._n_seen["hinted"] += self._hint(request.source) is not None
        n_given: Counter[tuple[str, int]] = Counter()
        for portion in portions:
            answers = []
            for answer in portion:
                # Two sources may become one with their hints: each has its own answer, in the order asked.
                candidates = originals[answer.request_id]
                key = (answer.request_id, answer.sample)
                answers.append(self._without_hint(answer, candidates[n_given[key] % len(candidates)]))
                n_given[key] += 1
            yield answers

    def _without_hint(self, answer: Translation, request: Request) -> Translation:
        hint = self._hint(request.source)
        answer = replace(answer, request_id=request.request_id)
        if hint is None or answer.text is None:
            return answer
        is_readable = request.target_language in registry.names("language")
        cleaned = remove_hint(answer.text, hint, bundled_finder(request.target_language) if is_readable else None)
        self._n_seen["removed"] += cleaned.was_there and cleaned.is_clean
        self._n_seen["kept"] += not cleaned.is_clean
        # The log-probability belongs to another text, or to another source.
        return replace(answer, text=cleaned.text, log_probability=None, n_tokens=None)

    def notes(self) -> Sequence[str]:
        seen = self._n_seen
        if not seen["all"]:
            return self._inner.notes()
        return [
            *self._inner.notes(),
            f"{self.spec} read {seen['all']:,} sentences and gave {seen['hinted']:,} a hint; traces were removed from "
            f"{seen['removed']:,} translations and kept in {seen['kept']:,}",
        ]
