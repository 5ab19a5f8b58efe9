"""Wrapper systems: `rerank:SPEC` and `hinted:SPEC`.

Their options are mixed with those of SPEC: `rerank:demo:en-es?beam_size=2&n=8` uses `n` and passes `beam_size=2` to
`demo:`. Wrappers can be nested: `rerank:hinted:demo:en-es?style=context&n=8`.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import UserError
from gendermark.reading.hints import STYLES, give_hint, remove_hint
from gendermark.reading.people import SourcePerson, called, of_certain_gender, people_in, people_in_all
from gendermark.reading.reader import version
from gendermark.reading.target import keeps_gender
from gendermark.records import Gender, Request, Task, Translation
from gendermark.systems.system import (
    GIVEN_TWICE,
    HINT,
    System,
    by_direction,
    choice_option,
    count_option,
    families_that_can,
    open_system,
)

_INHERITED = (
    "decoding",
    "batch_size",
    "n_samples_per_call",
    "is_stored",
    "answers_by_line",
    "asks_a_server",
    "is_asked_again_freely",
)


class Wrapper(System):
    """Reads English sources and asks another system; passes on requests without people of specified gender."""

    TASKS = frozenset({Task.TRANSLATE})
    OPTIONS: tuple[str, ...]
    """Its own options."""
    SUMMARY: str
    """What was done, with counts of `_n_seen`."""
    family: str

    def __init__(self, argument: str, options: Mapping[str, str], inner: System | None = None) -> None:
        """Wrap the system named by `argument`, or an open `inner`, which the caller then closes."""
        spec, self._own, others = split_wrapped(self.family, argument, options, self.OPTIONS)
        self._reader = choice_option(self._own, "reader", ("source", "gold"))
        """Source of gender: the sentence or, as an upper bound, the benchmark."""
        self._closes = inner is None
        self._inner = inner or open_system(spec, others)
        if not self._inner.has_own_time:
            raise UserError(
                f"{self.family}: needs a system that translates; {self._inner.spec} only reads existing translations"
            )
        for name in _INHERITED:
            setattr(self, name, getattr(self._inner, name))
        self._gold: dict[str, tuple[str, Gender]] | None = None
        """By source: the entity and the expected gender, with `reader=gold`."""
        self._n_seen: Counter[str] = Counter()
        own = "&".join(f"{key}={self._own[key]}" for key in sorted(self._own))
        mark = "&" if "?" in self._inner.spec else "?"
        self.spec = f"{self.family}:{self._inner.spec}" + (mark + own if own else "")
        self._update_id()

    @abstractmethod
    def _identity(self) -> str:
        """Its own options, as far as they affect an answer."""

    def _check_target(self, language: str) -> None:
        """Refuse an unsupported target language."""

    def _inner_request(self, request: Request) -> Request:
        """The inner system's version of a request."""
        return request

    def _people(self, source: str) -> list[SourcePerson]:
        """Everybody in a sentence, with the genders to be kept."""
        people = people_in(source)
        if self._gold is None:
            return of_certain_gender(people)
        noun, gender = self._gold.get(source, ("", None))
        meant = called(people, noun, source)
        return [replace(person, gender=gender if person in meant else None) for person in people]

    def _update_id(self) -> None:
        """Again after preparing the inner system, whose id may depend on the items."""
        gold = ""
        if self._gold is not None:
            gold = hashlib.sha256(repr(sorted(self._gold.items())).encode()).hexdigest()[:16]
        self.system_id = f"{self.family}#{self._identity()}#{self._reader}{version()}{gold}#{self._inner.system_id}"

    def _inner_requests(self, requests: Sequence[Request]) -> list[Request]:
        people_in_all([request.source for request in requests])  # together: one by one takes ten times as long
        return [self._inner_request(request) for request in requests]

    def prepare(self, benchmark: Benchmark, item_set: ItemSet, requests: Sequence[Request]) -> None:
        if self._reader == "gold":
            self._gold = {
                request.source: (item.entity, item.expected)
                for item, request in zip(item_set.items, requests, strict=True)
                if item.entity and item.expected is not None and item.expected is not Gender.NEUTRAL
            }
        for direction in by_direction(requests):
            self._check_direction(*direction)
        self._inner.prepare(benchmark, item_set, self._inner_requests(requests))
        self._update_id()

    def check(self, source_language: str, target_language: str, requests: Sequence[Request]) -> None:
        self._check_direction(source_language, target_language)
        if self._reader == "gold" and self._gold is None:
            raise UserError(f"{self.spec} needs a benchmark, which knows the genders; leave out reader=gold")
        self._inner.check(source_language, target_language, self._inner_requests(requests))
        self._update_id()

    def _check_direction(self, source_language: str, target_language: str) -> None:
        if source_language != "en":
            raise UserError(
                f"{self.family}: reads English sources only, not {source_language!r}; use {self._inner.spec} itself"
            )
        self._check_target(target_language)

    def shard_size(self, task: Task) -> int:
        return self._inner.shard_size(task)

    def briefing(self, requests: Sequence[Request]) -> Any:
        inner = self._inner.briefing(self._inner_requests(requests))
        return None if inner is None and self._gold is None else (self._gold, inner)

    def brief(self, briefing: Any, requests: Sequence[Request]) -> None:
        self._gold, inner = briefing or (None, None)
        self._inner.brief(inner, self._inner_requests(requests))
        self._update_id()

    def forecast(self, requests: Sequence[Request]) -> str:
        return self._inner.forecast(self._inner_requests(requests))

    def notes(self) -> Sequence[str]:
        seen = self._n_seen
        did = self.SUMMARY.format_map(seen)
        return [*self._inner.notes(), *([f"{self.spec} read {seen['all']:,} sentences{did}"] if seen["all"] else [])]

    def close(self) -> None:
        if self._closes:
            self._inner.close()


def split_wrapped(
    family: str, argument: str, options: Mapping[str, str], own: Sequence[str]
) -> tuple[str, dict[str, str], dict[str, str]]:
    """The inner system's spec, the wrapper's options, and the inner ones in `options`."""
    head, mark, query = argument.rpartition("?")
    parts = [part.partition("=") for part in query.split("&")] if mark else []
    found = {key: value for key, _, value in parts if key in own}
    if found:
        rest = "&".join(key + equals + value for key, equals, value in parts if key not in own)
        argument = f"{head}?{rest}" if rest else head
    for key, value in options.items():
        if key in found:
            raise UserError(GIVEN_TWICE.format(key))
        if key in own:
            found[key] = value
    if ":" not in argument:
        raise UserError(f"write {family}:SYSTEM, for example {family}:demo:en-es, not {family}:{argument}")
    return argument, found, {key: value for key, value in options.items() if key not in own}


# -- rerank ------------------------------------------------------------------------------------------------------------


class Rerank(Wrapper):
    """`rerank:SPEC?n=8`: the most probable translation that keeps the genders of the source.

    SPEC translates as usual. If the source specifies somebody's gender and the translation does not keep it, SPEC gives
    n candidates: its n best if available, else n samples. The most probable candidate that shows and keeps all genders,
    as our reader of texts finds them, is used; without one, the first translation stays. Sources without specified
    gender are unchanged, and only failures cost time.
    """

    OPTIONS = ("n", "reader")
    SUMMARY = (
        ": {gendered:,} show somebody's gender; {wrong:,} first translations did not keep it, and "
        "{changed:,} were replaced"
    )
    family = "rerank"

    def __init__(self, argument: str, options: Mapping[str, str], inner: System | None = None) -> None:
        super().__init__(argument, options, inner)
        self._n = count_option(self._own, "n", 8)
        if not self._inner.gives_n_best and Task.SAMPLE not in self._inner.tasks:
            able = ", ".join(families_that_can(Task.SAMPLE))
            raise UserError(
                f"rerank: needs several candidates, and {self._inner.spec} gives one; systems that can: {able}"
            )

    def _identity(self) -> str:
        return self._own.get("n", "8")

    def _check_target(self, language: str) -> None:
        if language not in registry.names("language"):
            raise UserError(
                f"rerank: cannot read the gender of people in {language!r}; languages it can read: "
                f"{', '.join(registry.names('language'))}"
            )

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        asked = {request.request_id: request for request in requests}
        first: dict[str, Translation] = {}
        wrong: dict[str, Request] = {}
        people_in_all([request.source for request in requests])
        for portion in self._inner.answer(requests):
            for answer in portion:
                first[answer.request_id] = answer
                if self._is_wrong(asked[answer.request_id], answer):
                    wrong[answer.request_id] = asked[answer.request_id]
            if self.is_stored:  # store correct answers before asking for candidates
                yield [answer for answer in portion if answer.request_id not in wrong]
        better = self._better(wrong)
        self._n_seen["changed"] += len(better)
        left = [request for request in requests if request.request_id in wrong or not self.is_stored]
        yield [better.get(request.request_id, first[request.request_id]) for request in left]

    def _is_wrong(self, request: Request, answer: Translation) -> bool:
        """Whether an answer does not keep somebody's gender."""
        is_wrong = self._keeps(request, answer) is False
        is_gendered = any(person.gender for person in self._people(request.source))
        self._n_seen.update({"all": 1, "gendered": is_gendered, "wrong": is_wrong})
        return is_wrong

    def _keeps(self, request: Request, answer: Translation) -> bool | None:
        people = self._people(request.source)
        if answer.text is None or not any(person.gender for person in people):
            return None
        return keeps_gender(request.source, people, answer.text, request.target_language)

    def _better(self, wrong: Mapping[str, Request]) -> dict[str, Translation]:
        """By request, the best candidate that keeps all genders, if any."""
        if not wrong:
            return {}
        requests = list(wrong.values())
        if self._inner.gives_n_best:
            asked, portions = requests, self._inner.n_best(requests, self._n)
        else:
            asked = [replace(request, task=Task.SAMPLE, n_samples=self._n) for request in requests]
            portions = self._inner.answer(asked)
        candidates: dict[str, list[Translation]] = {request.request_id: [] for request in asked}
        for portion in portions:
            for answer in portion:
                candidates[answer.request_id].append(answer)
        found = {}
        for one, request in zip(asked, requests, strict=True):
            answers = by_probability(candidates[one.request_id])
            if best := next((answer for answer in answers if self._keeps(request, answer)), None):
                found[request.request_id] = replace(best, request_id=request.request_id, sample=0)
        return found


def by_probability(answers: Iterable[Translation]) -> list[Translation]:
    """Most probable first: by log-probability per token if known, else by frequency."""
    given = [answer for answer in answers if answer.text is not None]
    if all(answer.log_probability is not None for answer in given):
        return sorted(given, key=lambda one: (-(one.log_probability or 0.0) / max(one.n_tokens or 1, 1), one.sample))
    n_drawn = Counter(answer.text for answer in given)
    return sorted(given, key=lambda answer: (-n_drawn[answer.text], answer.sample))


# -- hinted ------------------------------------------------------------------------------------------------------------


class Hinted(Wrapper):
    """`hinted:SPEC?style=adjective`: another system (SPEC), with a gender hint added to each source that specifies a
    person's gender.

    Traces of the hint are removed from the translation if recognisable (`reading/hints.py`). A chat model gets the hint
    as a sentence of the prompt instead.
    """

    OPTIONS = ("style", "feminine", "masculine", "reader")
    SUMMARY = " and gave {hinted:,} a hint; traces were removed from {removed:,} translations and kept in {kept:,}"
    family = "hinted"

    def __init__(self, argument: str, options: Mapping[str, str], inner: System | None = None) -> None:
        super().__init__(argument, options, inner)
        # "prompt", the last one, is the default of systems that support it.
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
        self._hint = lru_cache(maxsize=65_536)(
            lambda source: give_hint(source, self._people(source), self._style, self._tags)
        )

    def _identity(self) -> str:
        return "/".join(f"{key}={self._own[key]}" for key in sorted(self._own) if key != "reader")

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
        originals: dict[str, list[Request]] = {}
        for request in requests:
            originals.setdefault(self._inner_request(request).request_id, []).append(request)
            self._n_seen["all"] += 1
            self._n_seen["hinted"] += self._hint(request.source) is not None
        n_given: Counter[tuple[str, int]] = Counter()
        for portion in portions:
            answers = []
            for answer in portion:
                # Two sources may become equal with their hints: assign answers in order.
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
        cleaned = remove_hint(answer.text, hint, request.target_language if is_readable else "")
        self._n_seen["removed"] += cleaned.was_there and cleaned.is_clean
        self._n_seen["kept"] += not cleaned.is_clean
        # The log-probability belongs to another text, or another source.
        return replace(answer, text=cleaned.text, log_probability=None, n_tokens=None)
