"""A translation service, spoken to over HTTP: texts of one direction go out together, several requests at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence

from gendermark.errors import SystemFailure, UserError
from gendermark.records import Request, Translation
from gendermark.systems.http import Client, TooLarge
from gendermark.systems.system import System


class Service(System):
    """What all services share; a family adds how its own interface is spoken."""

    asks_a_server = True
    n_texts: int = 1
    """Most texts in one request."""
    n_characters: int = 30_000
    """Most characters in one request; a single text may be longer."""

    def _open(self, client: Client) -> None:
        self._client = client
        # Every answer is made safe by itself, so a batch may be as large as keeps all connections busy.
        self.batch_size = 4 * client.concurrency * self.n_texts
        self._checked: set[tuple[str, str]] = set()
        self._n_sentences = self._n_characters = 0

    @abstractmethod
    def _exchange(self, source: str, target: str, texts: Sequence[str]) -> Sequence[str]:
        """The translations of texts between two languages, by one HTTP request."""

    def _check_direction(self, source: str, target: str) -> None:
        """Ask the service, where it can be asked, whether it has these languages."""

    def check(self, source_language: str, target_language: str, requests: Sequence[Request]) -> None:  # noqa: ARG002
        direction = (source_language, target_language)
        if direction not in self._checked:
            self._check_direction(*direction)
            self._checked.add(direction)

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        for portion, answers in self._client.in_parallel(self._answer_portion, self._portions(requests)):
            self._n_sentences += len(portion)
            self._n_characters += sum(len(request.source) for request in portion)
            yield answers

    def forecast(self, requests: Sequence[Request]) -> str:
        return f"{sum(len(request.source) for request in requests):,} characters are to be sent"

    def notes(self) -> Sequence[str]:
        if not self._n_sentences:
            return ()
        return (f"{self.spec} was sent {self._n_characters:,} characters in {self._n_sentences:,} sentences",)

    def close(self) -> None:
        self._client.close()

    def _portions(self, requests: Sequence[Request]) -> Iterator[list[Request]]:
        directions: dict[tuple[str, str], list[Request]] = {}
        for request in requests:
            directions.setdefault((request.source_language, request.target_language), []).append(request)
        for group in directions.values():
            portion: list[Request] = []
            n_characters = 0
            for request in group:
                n_characters += len(request.source)
                if portion and (len(portion) == self.n_texts or n_characters > self.n_characters):
                    yield portion
                    portion, n_characters = [], len(request.source)
                portion.append(request)
            yield portion

    def _answer_portion(self, requests: Sequence[Request]) -> list[Translation]:
        first, sources = requests[0], [request.source for request in requests]
        try:
            texts = self._exchange(first.source_language, first.target_language, sources)
        except TooLarge as problem:
            if len(requests) > 1:
                raise
            # One sentence that is too long for a service must not keep all others from being judged.
            return [Translation(first.request_id, None, first.first_sample, f"too long: {problem.said or problem}")]
        if len(texts) != len(requests):
            # Which one is missing cannot be known, so none of this batch is kept.
            raise SystemFailure(
                f"{self.spec} gave {len(texts)} translations for {len(requests)} sentences, the first of which is "
                f"{first.source!r}; one per sentence is expected (this batch is discarded, earlier ones are kept)"
            )
        return [
            Translation(request.request_id, text, request.first_sample)
            for request, text in zip(requests, texts, strict=True)
        ]

    def _unknown_direction(self, source: str, target: str, sources: Iterable[str], targets: Iterable[str]) -> UserError:
        """What to say when `target` is not among the targets offered from `source`."""
        if source not in set(sources):
            return UserError(f"{self.spec} does not translate from {source}; it offers: {_listed(sources)}")
        return UserError(f"{self.spec} does not translate from {source} into {target}; it offers: {_listed(targets)}")


def _listed(codes: Iterable[str]) -> str:
    return ", ".join(sorted(codes)) or "nothing"
