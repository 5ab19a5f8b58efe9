"""`rerank:SPEC?n=8`: the most probable translation that gives people the gender that the source tells.

The system SPEC is asked as always. Where the source tells somebody's gender and the answer does not give it to them, it
is asked for n candidates: the best that its search finds, where its engine lists them, else n samples. The most
probable one in which all these people have their gender, by our lexicons, is taken; if there is none, the answer
stays. So nothing changes where the source tells nothing, and only failures cost time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from gendermark import registry
from gendermark.errors import UserError
from gendermark.linguistics.kept_gender import keeps_gender, readable
from gendermark.linguistics.occupations import bundled_finder, lexicons_hash
from gendermark.linguistics.source_gender import PersonTold
from gendermark.records import Request, Task, Translation
from gendermark.systems.wrapper import Wrapper, each
from gendermark.systems.system import System, count_option, families_that_can

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
        plain: dict[str, Translation] = {}
        wrong: dict[str, tuple[Request, list[PersonTold]]] = {}
        for portion in self._inner.answer(requests):
            for answer in portion:
                plain[answer.request_id] = answer
                if people := self._not_given(asked[answer.request_id], answer):
                    wrong[answer.request_id] = (asked[answer.request_id], people)
            if self.is_stored:  # what is right is made safe before candidates are asked for
                yield [answer for answer in portion if answer.request_id not in wrong]
        better = self._better(wrong)
        self._n_seen["changed"] += len(better)
        left = [request for request in requests if request.request_id in wrong or not self.is_stored]
        yield [better.get(request.request_id, plain[request.request_id]) for request in left]

    def _not_given(self, request: Request, answer: Translation) -> list[PersonTold]:
        """The people whose gender the source tells, if an answer does not give it to all of them."""
        finder = bundled_finder(request.target_language)
        people = readable(self._told(request.source), finder)
        is_wrong = bool(people) and answer.text is not None and not keeps_gender(answer.text, people, finder)
        self._n_seen.update({"all": 1, "told": bool(people), "wrong": is_wrong})
        return people if is_wrong else []

    def _better(self, wrong: Mapping[str, tuple[Request, Sequence[PersonTold]]]) -> dict[str, Translation]:
        """For each request that another candidate is better for, that candidate."""
        candidates: dict[str, list[Translation]] = {name: [] for name in wrong}
        for name, answer in self._candidates([request for request, _ in wrong.values()]):
            candidates[name].append(answer)
        found = {}
        for name, (request, people) in wrong.items():
            finder = bundled_finder(request.target_language)
            for answer in in_order(candidates[name]):
                if keeps_gender(answer.text or "", people, finder):
                    found[name] = replace(answer, request_id=name, sample=0)
                    break
        return found

    def _candidates(self, requests: Sequence[Request]) -> Iterator[tuple[str, Translation]]:
        if not requests:
            return
        if self._inner.gives_n_best:
            yield from ((answer.request_id, answer) for answer in each(self._inner.n_best(requests, self._n)))
            return
        samples = {
            asked.request_id: request.request_id
            for request in requests
            for asked in (replace(request, task=Task.SAMPLE),)
        }
        drawn = [replace(request, task=Task.SAMPLE, n_samples=self._n) for request in requests]
        for answer in each(self._inner.answer(drawn)):
            yield samples[answer.request_id], answer

    def notes(self) -> Sequence[str]:
        seen = self._n_seen
        if not seen["all"]:
            return self._inner.notes()
        return [
            *self._inner.notes(),
            f"{self.spec} read {seen['all']:,} sentences: {seen['told']:,} tell somebody's gender; in "
            f"{seen['wrong']:,} the first candidate did not give it, and in {seen['changed']:,} another was taken",
        ]


def in_order(answers: Iterable[Translation]) -> list[Translation]:
    """The most probable first: by the system's own word, else by how often it was drawn, else as they came."""
    given = [answer for answer in answers if answer.text is not None]
    if all(answer.log_probability is not None for answer in given):
        return sorted(given, key=lambda answer: (-_per_token(answer), answer.sample))
    n_drawn = Counter(answer.text for answer in given)
    return sorted(given, key=lambda answer: (-n_drawn[answer.text], answer.sample))


def _per_token(answer: Translation) -> float:
    """As searches do: of two translations the longer one is not the worse for it."""
    return (answer.log_probability or 0.0) / max(answer.n_tokens or 1, 1)
