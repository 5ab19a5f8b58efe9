"""Models of the transformers library, for embeddings and entailment, with cached answers.

Large models take hours. Answers are stored in the cache directory batch by batch, so that an interrupted run resumes
and judging again is free. `GENDERMARK_DEVICE` (default `cpu`; `cuda`, `mps`) is a property of the machine, not of the
measurement, so it is in no signature.
"""

from __future__ import annotations

import hashlib
import logging
import math
import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from gendermark.data.official import CACHE, cache_root
from gendermark.errors import MissingExtra, UserError

DEVICE = "GENDERMARK_DEVICE"
Question = tuple[str, ...]
"""The texts that a model sees together: one for an embedding, two for entailment."""
_AT_ONCE = 64
_KEYS_PER_QUERY = 500
log = logging.getLogger(__name__)


def load_pretrained(kind: str, name: str, what: str, extra: str, flag: str) -> tuple[Any, Any]:
    """Tokenizer and model of a name or directory.

    For errors: `what` needs it, `extra` installs its library, `flag` sets its directory.
    """
    try:
        transformers = import_module("transformers")
        import_module("torch")
    except ImportError:
        raise MissingExtra(what, extra) from None
    if name.startswith((".", "/")) and not Path(name).is_dir():
        raise UserError(f"{what}: there is no directory {name!r}; give the directory of its model")

    def load(**options: Any) -> tuple[Any, Any, Any]:
        with _quietly(transformers.utils.logging):
            tokenizer = transformers.AutoTokenizer.from_pretrained(name, **options)
            return tokenizer, *getattr(transformers, kind).from_pretrained(name, output_loading_info=True, **options)

    try:
        try:
            tokenizer, model, loading = load(local_files_only=True)
        except Exception:
            if Path(name).is_dir():
                raise
            _check_connection()
            tokenizer, model, loading = load()
    except Exception as problem:  # noqa: BLE001 (a missing or broken model raises whatever its files lead to)
        reason = str(problem).strip().split("\n")[0][:200].rstrip(".")
        raise UserError(
            f"{what} cannot load the model {name!r} ({reason}); download it, and give its directory with {flag}"
        ) from None
    # Missing weights would be random. Embeddings do not use the pooling layer.
    missing = sorted(key for key in loading["missing_keys"] if kind != "AutoModel" or "pooler" not in key)
    if missing:
        raise UserError(
            f"{what} cannot use the model {name!r}, which has no weights for {missing[0]}; "
            "give a model that was trained for this"
        )
    if tokenizer.pad_token is None:
        raise UserError(f"{what} cannot use the model {name!r}, which has no padding token; give an encoder model")
    try:
        return tokenizer, model.float().eval().to(device())  # full precision: the compared values are close to 1
    except (AssertionError, RuntimeError, NotImplementedError) as problem:  # torch has no error class for this
        raise UserError(
            f"{DEVICE}={device()} names nothing that torch can use here ({str(problem).splitlines()[0]}); "
            "set it to cpu, or to a device of this machine"
        ) from None


def device() -> str:
    return os.environ.get(DEVICE) or "cpu"


def _check_connection() -> None:
    """Fail at once: the library retries for a minute."""
    endpoint = import_module("huggingface_hub.constants").ENDPOINT
    httpx = import_module("httpx")
    try:
        httpx.head(endpoint, timeout=10)
    except httpx.TransportError as problem:
        raise ConnectionError(f"it is not in the local cache, and there is no connection to {endpoint}") from problem


@contextmanager
def _quietly(logging: Any) -> Iterator[None]:
    verbosity, had_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    if not sys.stderr.isatty():
        logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if had_bars:
            logging.enable_progress_bar()


def pretrained_name(name: str) -> str:
    """Name of a model or its directory with a short hash of its files, for signatures."""
    directory = Path(name)
    if not directory.is_dir():
        try:
            found = import_module("transformers.utils").cached_file(name, "config.json", local_files_only=True)
        except OSError:
            found = None
        if not found:
            return name
        directory = Path(found).parent
    weights = sorted(directory.glob("*.safetensors")) or sorted(directory.glob("*.bin"))
    digest = hashlib.sha256()
    # Hash only what is read: a copy with another README is the same model.
    for path in (directory / "config.json", directory / "tokenizer.json", *weights):
        if path.is_file():
            facts = path.stat()
            digest.update(_content_hash(path.resolve(), facts.st_size, facts.st_mtime_ns))
    label = directory.resolve().name if Path(name).is_dir() else name
    return f"{label}#{digest.hexdigest()[:12]}"


@cache
def _content_hash(path: Path, size: int, modified: int) -> bytes:  # noqa: ARG001 (size and time: when to look again)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


class Answers:
    """A model's cached answers: computed in batches of similar length, each question once."""

    def __init__(self, model: str, compute: Callable[[Sequence[Question]], Iterable[bytes]]) -> None:
        """`model`: its name with its hash, so that another model of that name has its own answers."""
        self._model, self._compute = model, compute
        self._path = cache_root() / "models.sqlite"
        self._n_new, self._n_letters, self._first = 0, 0, list[Question]()
        with self._database() as database:
            # If killed, it loses at most the current batch; several runs may write.
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("CREATE TABLE IF NOT EXISTS answer (question BLOB PRIMARY KEY, answer BLOB NOT NULL)")

    def __call__(self, questions: Collection[Question]) -> dict[Question, bytes]:
        found, new = self._look_up(questions)
        # Texts of similar length need little padding.
        new.sort(key=lambda question: (sum(map(len, question)), question))
        for start in range(0, len(new), _AT_ONCE):
            found |= self._ask(new[start : start + _AT_ONCE])
        return found

    def expect(self, questions: Collection[Question]) -> dict[Question, bytes]:
        """The cached answers; the others count for the estimate of `tell`."""
        found, new = self._look_up(questions)
        self._n_new += len(new)
        self._n_letters += sum(len(text) for question in new for text in question)
        self._first += new[: _AT_ONCE - len(self._first)]
        return found

    def tell(self, what: str) -> None:
        n_letters = sum(len(text) for question in self._first for text in question)
        if self._n_new > _AT_ONCE:
            started = time.perf_counter()
            self._ask(self._first)
            hours = (time.perf_counter() - started) * self._n_letters / n_letters / 3600
            lasting = f"{hours:.1f} hours" if hours >= 1 else f"{math.ceil(60 * hours)} min"
            log.info(
                "%s: %s %s, about %s on %s (%s names another device); answers are kept in %s, so a run that is killed "
                "goes on from there",
                *(self._model, f"{self._n_new:,}", what, lasting, device(), DEVICE, self._path),
            )
        self._n_new, self._n_letters, self._first = 0, 0, []

    def _ask(self, questions: Sequence[Question]) -> dict[Question, bytes]:
        answers = dict(zip(questions, self._compute(questions), strict=True))
        with self._database() as database:
            rows = [(self._key(question), answer) for question, answer in answers.items()]
            database.executemany("INSERT OR IGNORE INTO answer VALUES (?, ?)", rows)
        return answers

    def _look_up(self, questions: Collection[Question]) -> tuple[dict[Question, bytes], list[Question]]:
        """The cached answers, and the other questions."""
        by_key = {self._key(question): question for question in questions}
        keys, found = list(by_key), dict[Question, bytes]()
        with self._database() as database:
            for start in range(0, len(keys), _KEYS_PER_QUERY):
                asked = keys[start : start + _KEYS_PER_QUERY]
                places = ",".join("?" * len(asked))
                rows = database.execute(f"SELECT question, answer FROM answer WHERE question IN ({places})", asked)
                found |= {by_key[key]: answer for key, answer in rows}
        return found, [question for question in dict.fromkeys(questions) if question not in found]

    def _key(self, question: Question) -> bytes:
        asked = "\0".join((self._model, *question))
        return hashlib.blake2b(asked.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    @contextmanager
    def _database(self) -> Iterator[Any]:
        sqlite3 = import_module("sqlite3")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self._path, timeout=60)
            try:
                with connection:
                    yield connection
            finally:
                connection.close()
        except (sqlite3.Error, OSError) as problem:
            raise UserError(
                f"the cache of model answers {self._path} cannot be used ({problem}); free space, delete the file, or "
                f"set {CACHE} to another directory"
            ) from None


def encode(tokenizer: Any, *texts: Sequence[str]) -> Any:
    limit = min(int(tokenizer.model_max_length), 512)
    encoded = tokenizer(*map(list, texts), padding=True, truncation=True, max_length=limit, return_tensors="pt")
    return encoded.to(device())
