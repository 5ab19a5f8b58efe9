"""Models of the transformers library, for embeddings and entailment, with cached answers.

Large models take hours. Answers are stored in the cache directory batch by batch, so that an interrupted run resumes
and judging again is free. `GENDERMARK_DEVICE` (default `cpu`; `cuda`, `mps`) is a property of the machine, not of the
measurement, so it is in no signature.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from gendermark.data.official import CACHE, cache_root
from gendermark.errors import MissingExtra, UserError
from gendermark.io.pretrained import loaded, locate, quietly
from gendermark.io.progress import told_in_lines

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

    def load(part: str, auto: str, **options: Any) -> Any:
        read = getattr(transformers, auto).from_pretrained
        return loaded(name, part, lambda: read(place.name, **place.pinned, **options))

    try:
        with quietly():
            place = locate(name, name, None)
            tokenizer = load("tokeniser", "AutoTokenizer")
            model, loading = load("weights", kind, output_loading_info=True)
    except UserError as problem:
        reason = str(problem).rstrip(".")
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
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    label = directory.resolve().name if Path(name).is_dir() else name
    return f"{label}#{digest.hexdigest()[:12]}"


class Answers:
    """A model's cached answers: computed in batches of similar length, each question once."""

    def __init__(self, model: str, compute: Callable[[Sequence[Question]], Iterable[bytes]]) -> None:
        """`model`: its name with its hash, so that another model of that name has its own answers."""
        self._model, self._compute = model, compute
        self._path = cache_root() / "models.sqlite"
        with self._database() as database:
            # If killed, it loses at most the current batch; several runs may write.
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("CREATE TABLE IF NOT EXISTS answer (question BLOB PRIMARY KEY, answer BLOB NOT NULL)")

    def __call__(self, questions: Collection[Question]) -> dict[Question, bytes]:
        self.prepare(questions)
        return {question: answer for known in self._known(questions) for question, answer in known}

    def prepare(self, questions: Collection[Question]) -> None:
        """Ask what is not cached yet, and tell the progress."""
        known = {question for some in self._known(questions) for question, _ in some}
        # Texts of similar length need little padding.
        new = sorted({*questions} - known, key=lambda question: (sum(map(len, question)), question))
        tell = told_in_lines(f"{self._model} on {device()}: texts or pairs of them", log.info)
        for start in range(0, len(new), _AT_ONCE):
            tell(start, len(new))
            asked = new[start : start + _AT_ONCE]
            rows = list(zip(map(self._key, asked), self._compute(asked), strict=True))
            with self._database() as database:
                database.executemany("INSERT OR IGNORE INTO answer VALUES (?, ?)", rows)

    def _known(self, questions: Collection[Question]) -> Iterator[list[tuple[Question, bytes]]]:
        """The cached answers, in portions."""
        by_key = {self._key(question): question for question in questions}
        keys = list(by_key)
        with self._database() as database:
            for start in range(0, len(keys), _KEYS_PER_QUERY):
                asked = keys[start : start + _KEYS_PER_QUERY]
                places = ",".join("?" * len(asked))
                rows = database.execute(f"SELECT question, answer FROM answer WHERE question IN ({places})", asked)
                yield [(by_key[key], answer) for key, answer in rows]

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
