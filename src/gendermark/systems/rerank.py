"""`rerank:SPEC?n=8`: the most probable translation that keeps the genders of the source.

The system SPEC translates as usual. Where the source shows somebody's gender and the translation does not keep it, SPEC
is asked for n candidates: the best of its search where its engine lists them, else n samples. The most probable
candidate that keeps all genders, by our lexicons, is taken; if there is none, the first translation stays. So nothing
changes where the source shows no gender, and only failures cost time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from gendermark import registry
from gendermark.errors import UserError
from gendermark.reading.occupations import bundled_finder, lexicons_hash
from gendermark.reading.source_gender import PersonTold, keeps_gender, readable
from gendermark.records import Request, Task, Translation
from gendermark.systems.system import System, count_option, families_that_can
from gendermark.systems.wrapper import Wrapper

TASKS = frozenset({Task.TRANSLATE})
OPTIONS = ("n", "reader")


class Rerank(Wrapper):
    family = "rerank"
    own_options = OPTIONS

    def __init__(self, argument: str, options: Mapping[str, str], inner: System | None = None) -> None:
        super().__init__(argument, options, inner)
        self._n = count_option(self._own, "n", 8)
        if not self._inner.gives_n_best and Task.SAMPLE not in self._inner.tasks:
            able = ", ".join(families_that_can(Task.SAMPLE))
            raise UserError(
                f"rerank: needs several candidates, and {self._inner.spec} gives one; systems that can: {able}"
            )
        self._n_seen: Counter[str] = Counter()

    def _identity(self) -> str:
        return f"{self._own.get('n', '8')}/{lexicons_hash()}"

    def _check_target(self, language: str) -> None:
        if language not in registry.names("language"):
            raise UserError(
                f"rerank: cannot read the gender of people in {language!r}; languages it can read: "
                f"{', '.join(registry.names('language'))}"
            )

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        asked = {request.request_id: request for request in requests}
        first: dict[str, Translation] = {}
        wrong: dict[str, tuple[Request, list[PersonTold]]] = {}
        for portion in self._inner.answer(requests):
            for answer in portion:
                first[answer.request_id] = answer
                if people := self._people_lost(asked[answer.request_id], answer):
                    wrong[answer.request_id] = (asked[answer.request_id], people)
            if self.is_stored:  # what is right is saved before candidates are asked for
                yield [answer for answer in portion if answer.request_id not in wrong]
        better = self._better(wrong)
        self._n_seen["changed"] += len(better)
        left = [request for request in requests if request.request_id in wrong or not self.is_stored]
        yield [better.get(request.request_id, first[request.request_id]) for request in left]

    def _people_lost(self, request: Request, answer: Translation) -> list[PersonTold]:
        """The people of a known gender, if an answer does not keep the gender of all of them."""
        finder = bundled_finder(request.target_language)
        people = readable(self._people(request.source), finder)
        is_wrong = bool(people) and answer.text is not None and not keeps_gender(answer.text, people, finder)
        self._n_seen.update({"all": 1, "gendered": bool(people), "wrong": is_wrong})
        return people if is_wrong else []

    def _better(self, wrong: Mapping[str, tuple[Request, Sequence[PersonTold]]]) -> dict[str, Translation]:
        """By request, the best candidate that keeps all genders, where there is one."""
        candidates: dict[str, list[Translation]] = {request_id: [] for request_id in wrong}
        for request_id, answer in self._candidates([request for request, _ in wrong.values()]):
            candidates[request_id].append(answer)
        found = {}
        for request_id, (request, people) in wrong.items():
            finder = bundled_finder(request.target_language)
            for answer in by_probability(candidates[request_id]):
                if keeps_gender(answer.text or "", people, finder):
                    found[request_id] = replace(answer, request_id=request_id, sample=0)
                    break
        return found

    def _candidates(self, requests: Sequence[Request]) -> Iterator[tuple[str, Translation]]:
        """(id of the request, candidate)."""
        if not requests:
            return
        if self._inner.gives_n_best:
            portions = self._inner.n_best(requests, self._n)
            original = {request.request_id: request.request_id for request in requests}
        else:
            sampling = [replace(request, task=Task.SAMPLE, n_samples=self._n) for request in requests]
            portions = self._inner.answer(sampling)
            original = {one.request_id: two.request_id for one, two in zip(sampling, requests, strict=True)}
        for portion in portions:
            for answer in portion:
                yield original[answer.request_id], answer

    def notes(self) -> Sequence[str]:
        seen = self._n_seen
        if not seen["all"]:
            return self._inner.notes()
        return [
            *self._inner.notes(),
            f"{self.spec} read {seen['all']:,} sentences: {seen['gendered']:,} show somebody's gender; "
            f"{seen['wrong']:,} first translations did not keep it, and {seen['changed']:,} were replaced",
        ]


def by_probability(answers: Iterable[Translation]) -> list[Translation]:
    """The most probable first: by log-probability per token if given, else by how often a text was drawn."""
    given = [answer for answer in answers if answer.text is not None]
    if all(answer.log_probability is not None for answer in given):
        return sorted(given, key=lambda answer: (-_per_token(answer), answer.sample))
    n_drawn = Counter(answer.text for answer in given)
    return sorted(given, key=lambda answer: (-n_drawn[answer.text], answer.sample))


def _per_token(answer: Translation) -> float:
    return (answer.log_probability or 0.0) / max(answer.n_tokens or 1, 1)
