"""Locate and open models of the transformers library, from the Hugging Face hub or a directory."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import logging
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from gendermark.errors import MissingExtra, UserError, first_line
from gendermark.io.textfiles import name_and_content, read_json

_MARIAN_FILES = ("source.spm", "target.spm", "vocab.json")
_TOKENISER_FILES = ("*.model", "*.spm", "vocab*", "merges.txt", "dict.txt", "*.tiktoken", "*.tokenizer", "tekken.json")

Loaded = TypeVar("Loaded")


class Place(NamedTuple):
    """A model on disk, or on the hub at one commit."""

    name: str
    """The directory, or the name on the hub."""
    content: str
    """Changes with every file that affects translations: the commit, or a hash of the directory."""
    commit: str | None = None

    @property
    def pinned(self) -> dict[str, Any]:
        """For every read: always the same commit, and never remote code."""
        return {"trust_remote_code": False, **({"revision": self.commit} if self.commit else {})}


def locate(spec: str, name: str, revision: str | None) -> Place:
    directory = Path(name).expanduser()
    if directory.is_dir():
        if revision is not None:
            raise UserError(f"{directory} is a directory, which has no revisions; leave out revision={revision}")
        _check_directory(directory)
        return Place(str(directory), _content_hash(directory))
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name) or name.startswith("."):
        raise UserError(
            f"there is no directory {name}, nor can it name a model on the Hugging Face hub, as "
            "Helsinki-NLP/opus-mt-en-es does"
        )
    commit = _commit(spec, name, revision)
    return Place(name, f"{name}@{commit}", commit)


def _check_directory(directory: Path) -> None:
    if (directory / "model.bin").is_file() and not any(directory.glob("*.safetensors")):
        raise UserError(f"{directory} is a model in CTranslate2's format; use ctranslate2:{directory}")
    if not (directory / "config.json").is_file():
        raise UserError(f"{directory} is not a Hugging Face model: it has no config.json; save it with save_pretrained")
    if not isinstance(read_json(directory / "config.json"), dict):
        raise UserError(f"{directory / 'config.json'} is not the configuration of a model")


def _content_hash(directory: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(directory.iterdir()):
        # Model cards and hidden files affect no translation.
        if path.is_file() and not path.name.startswith(".") and path.suffix != ".md":
            digest.update(name_and_content(path))
    return digest.hexdigest()


def _commit(spec: str, name: str, revision: str | None) -> str:
    """The commit of a name or revision on the hub; from the local cache without a network."""
    from huggingface_hub import constants, errors, hf_hub_download

    try:
        return Path(hf_hub_download(name, "config.json", revision=revision)).parent.name
    except errors.GatedRepoError:
        raise UserError(f"{spec} is gated: accept its terms on its page, then set HF_TOKEN to your token") from None
    except errors.RevisionNotFoundError:
        raise UserError(f"model {name} has no revision {revision!r}; give a branch, a tag or a whole commit") from None
    except (OSError, ValueError) as problem:  # covers all exceptions of the library
        if isinstance(problem, errors.EntryNotFoundError) and not isinstance(problem, errors.LocalEntryNotFoundError):
            raise UserError(f"{name} on the hub is not a model for transformers: it has no config.json") from None
        status = _status(problem)
        if isinstance(problem, errors.RepositoryNotFoundError) or status in (401, 403):
            raise UserError(
                f"the hub has no model {name}, or it is private; check the name, or set HF_TOKEN to a token for it"
            ) from None
        why = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else "the Hugging Face hub cannot be reached"
        if status is not None:
            why = f"the Hugging Face hub answers with status {status}"
        at = f" at revision {revision!r}" if revision else ""
        raise UserError(
            f"model {name!r}{at} is not in the local Hugging Face cache, and {why}; download it where that works, "
            "or give a directory"
        ) from None


def _status(problem: BaseException | None) -> int | None:
    while problem is not None:
        if (response := getattr(problem, "response", None)) is not None:
            return int(response.status_code)
        problem = problem.__cause__
    return None


def open_config(spec: str, place: Place) -> Any:
    import transformers
    from transformers.models.auto import modeling_auto

    config = loaded(spec, "configuration", lambda: transformers.AutoConfig.from_pretrained(place.name, **place.pinned))
    known = (
        modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING
        if config.is_encoder_decoder
        else modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING
    )
    heads = tuple(config.architectures or ())
    # Masked and classification models belong to families that can generate, but were not trained to.
    generates = not heads or re.search("CausalLM|LMHead|ConditionalGeneration|MTModel|Seq2SeqLM", " ".join(heads))
    if type(config) not in known or not generates:
        raise UserError(
            f"{spec} is a model of kind {', '.join(heads) or config.model_type}, which does not generate text; give a "
            "translation model or a chat model"
        )
    return config


def open_generation_config(place: Place, config: Any) -> Any:
    import transformers

    try:
        return transformers.GenerationConfig.from_pretrained(place.name, **place.pinned)
    except OSError:  # older models have them in their configuration
        return transformers.GenerationConfig.from_model_config(config)


def open_tokeniser(spec: str, place: Place) -> Any:
    import transformers

    if place.commit is None:
        _check_tokeniser(Path(place.name))
    return loaded(spec, "tokeniser", lambda: transformers.AutoTokenizer.from_pretrained(place.name, **place.pinned))


def _check_tokeniser(directory: Path) -> None:
    """Without these files the library fails unclearly, or uses an empty vocabulary."""
    if (directory / "tokenizer.json").is_file():
        return
    again = "copy it there, or save the tokeniser again with save_pretrained"
    if read_json(directory / "config.json").get("model_type") == "marian":
        for name in _MARIAN_FILES:
            if not (directory / name).is_file():
                raise UserError(f"{directory} has no {name}, which its tokeniser needs; {again}")
        return
    facts = read_json(directory / "tokenizer_config.json") if (directory / "tokenizer_config.json").is_file() else {}
    needs_none = isinstance(facts, dict) and "ByT5" in str(facts.get("tokenizer_class"))  # its tokens are bytes
    if not needs_none and not any(any(directory.glob(pattern)) for pattern in _TOKENISER_FILES):
        raise UserError(f"{directory} has no tokeniser (no tokenizer.json, and no vocabulary of another kind); {again}")


def loaded(spec: str, what: str, load: Callable[[], Loaded]) -> Loaded:
    """Load with the library, turning its errors into user errors."""
    try:
        return load()
    except Exception as problem:  # noqa: BLE001 (the library lets through whatever its file formats raise)
        if isinstance(problem, ImportError) or (what == "tokeniser" and not is_installed("google.protobuf")):
            raise MissingExtra(f"the {what} of {spec}", "hf") from None
        if "trust_remote_code" in str(problem):
            raise UserError(f"{spec} needs code of its own, which hf: never runs; give another model") from None
        again = "; if files are missing, copy them again" if what == "weights" else ""
        raise UserError(f"the {what} of {spec} cannot be loaded: {first_line(problem).rstrip('.')}{again}") from None


def is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # a parent package
        return False


def quantised(model: Any) -> Any:
    """A torch model with 8-bit linear layers (dynamic quantisation, CPU)."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch recommends another package
        return torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Silence the libraries, except download progress on a terminal."""
    hub = logging.getLogger("huggingface_hub")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers.utils import logging as library

        levels = hub.level, library.get_verbosity()
        hides_bars = not sys.stderr.isatty() and library.is_progress_bar_enabled()
        hub.setLevel(logging.ERROR)
        library.set_verbosity_error()
        if hides_bars:
            library.disable_progress_bar()
        try:
            yield
        finally:
            hub.setLevel(levels[0])
            library.set_verbosity(levels[1])
            if hides_bars:
                library.enable_progress_bar()
