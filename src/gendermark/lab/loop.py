"""The training loop of all models, with checkpoints.

Batches and dropout are functions of seed and step, so that checkpoints need no generator state, and a killed training
reaches bit-identical weights after resuming.
"""

from __future__ import annotations

import io
import os
import pickle
import platform
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from gendermark import __version__
from gendermark.errors import BadFile, MissingExtra, UserError
from gendermark.io import locks
from gendermark.io.textfiles import write_parts
from gendermark.runs.translate import Progress
from gendermark.systems.engine import is_out_of_memory

PACKAGES = ("torch", "transformers", "sentencepiece", "ctranslate2")
LOSSES_REPORTED = 50
SECONDS_PER_CHECKPOINT = 120.0
"""Maximum work lost to a kill, in seconds."""


class Schedule(Protocol):
    @property
    def n_steps(self) -> int: ...
    @property
    def tokens_per_batch(self) -> int: ...
    @property
    def learning_rate(self) -> float: ...
    @property
    def n_warm_up_steps(self) -> int: ...
    @property
    def n_steps_per_checkpoint(self) -> int: ...


@dataclass(frozen=True)
class Course:
    """One model in training, and its gradient step."""

    model: Any
    weights: Sequence[Any]
    batches: Iterator[list[int]]
    gradients: Callable[[int, Sequence[int]], tuple[float, Sequence[Any]]]
    """(step, positions of the pairs) -> mean loss per target piece, gradient of each weight."""
    after_step: Callable[[], None] = lambda: None
    held_out_loss: Callable[[], float] | None = None
    """Computed at every checkpoint by steps."""
    patience: int = 0
    """Stop after this many held-out losses without improvement; 0: never."""
    until_loss: float = 0.0
    """Stop at the first held-out loss not above this."""

    def is_over(self, progressed: Progressed) -> bool:
        losses = [loss for _, loss in progressed.held_out]
        if not losses:
            return False
        n_without_better = len(losses) - 1 - losses.index(min(losses))
        return bool(self.patience and n_without_better >= self.patience) or losses[-1] <= self.until_loss


@dataclass
class Progressed:
    losses: list[float] = field(default_factory=list)
    """Mean loss per target piece, of every step."""
    held_out: list[tuple[int, float]] = field(default_factory=list)
    """(steps done, loss)."""
    best: dict[str, Any] | None = None
    """The weights with the lowest held-out loss."""
    seconds: float = 0.0
    """Time spent on steps, over all runs."""
    cpu_seconds: float = 0.0


@dataclass(frozen=True)
class Checkpoint:
    """An atomically written file that belongs to one recipe."""

    path: Path
    recipe: Mapping[str, Any]

    def write(self, model: Any, optimizer: Any, progressed: Progressed) -> None:
        """Write atomically: a training killed here, or a full disk, leaves the previous checkpoint."""
        import torch

        state = {"recipe": dict(self.recipe), "model": model.state_dict(), "optimizer": optimizer.state_dict()}
        content = io.BytesIO()  # torch's own writer has no error for a full disk
        torch.save({**state, **vars(progressed)}, content)
        try:
            write_parts(self.path, [content.getvalue()])
        except UserError as problem:
            kept = "; the checkpoint before is kept" if self.path.exists() else ""
            raise UserError(f"{problem}{kept}; fix that and rerun the same command") from None

    def read(self) -> dict[str, Any] | None:
        """The state left by a training of this recipe, if any.

        Settings missing from this recipe (the text may not be read yet) are not compared.
        """
        import torch

        if not self.path.exists():
            return None
        state: Any = None
        try:
            with zipfile.ZipFile(self.path) as parts:
                is_whole = parts.testzip() is None  # torch does not verify the checksums that it writes
            if is_whole:
                state = torch.load(self.path, map_location="cpu", weights_only=True)
        except (OSError, RuntimeError, ValueError, zipfile.BadZipFile, pickle.UnpicklingError):
            pass
        if not isinstance(state, dict) or not isinstance(state.get("recipe"), dict):
            raise BadFile(self.path, "is not a whole checkpoint of a training; delete it to start afresh")
        before = {name: state["recipe"].get(name) for name in self.recipe}
        if before != self.recipe:
            raise UserError(
                f"{self.path} is a checkpoint of a training with other settings ({_differing(before, self.recipe)}); "
                "give the same ones, or another directory with -o"
            )
        return state


def train(course: Course, schedule: Schedule, checkpoint: Checkpoint, optimizer: Any, progress: Progress) -> Progressed:
    """Train until the schedule or the held-out loss ends it; resumes from a checkpoint of the same recipe."""
    progressed = Progressed()
    if (state := checkpoint.read()) is not None:
        course.model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        progressed = Progressed(**{name: state[name] for name in vars(progressed) if name in state})
    written = time.monotonic()
    started, cpu_started = written - progressed.seconds, time.process_time() - progressed.cpu_seconds
    course.model.train()
    progress(len(progressed.losses), schedule.n_steps)
    if not course.is_over(progressed):
        for batch in islice(course.batches, len(progressed.losses), schedule.n_steps):
            _step(course, schedule, optimizer, progressed, batch)
            n_done = len(progressed.losses)
            is_due = n_done % schedule.n_steps_per_checkpoint == 0 or n_done == schedule.n_steps
            if is_due and course.held_out_loss is not None:
                course.model.eval()
                loss = course.held_out_loss()
                course.model.train()
                if all(loss < other for _, other in progressed.held_out):
                    progressed.best = {name: weight.clone() for name, weight in course.model.state_dict().items()}
                progressed.held_out.append((n_done, loss))
            if is_due or time.monotonic() - written > SECONDS_PER_CHECKPOINT:
                written = time.monotonic()
                progressed.seconds, progressed.cpu_seconds = written - started, time.process_time() - cpu_started
                checkpoint.write(course.model, optimizer, progressed)
            progress(n_done, schedule.n_steps)
            if is_due and course.is_over(progressed):
                break
    if progressed.best is not None:
        course.model.load_state_dict(progressed.best)
    course.model.eval()
    return progressed


def _step(course: Course, schedule: Schedule, optimizer: Any, progressed: Progressed, batch: Sequence[int]) -> None:
    import torch

    step = len(progressed.losses)
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(schedule, step)
    try:
        loss, gradients = course.gradients(step, batch)
    except (RuntimeError, MemoryError) as problem:
        if not is_out_of_memory(problem):
            raise
        raise UserError(
            f"not enough memory for a batch of {schedule.tokens_per_batch:,} tokens at step {step + 1}; the last "
            "checkpoint is kept: free memory and rerun the same command, or start in another directory with smaller "
            "batches or a smaller model"
        ) from None
    for weight, gradient in zip(course.weights, gradients, strict=True):
        weight.grad = gradient
    torch.nn.utils.clip_grad_norm_(course.weights, 1.0)
    optimizer.step()
    course.after_step()
    progressed.losses.append(loss)


def learning_rate(schedule: Schedule, step: int) -> float:
    """Warm-up, then inverse square root, and linear to zero in the last fifth.

    The linear end replaces an average over checkpoints.
    """
    rising = min(1.0, (step + 1) / schedule.n_warm_up_steps)
    falling = (schedule.n_warm_up_steps / max(step + 1, schedule.n_warm_up_steps)) ** 0.5
    n_last = max(1, schedule.n_steps // 5)
    ending = min(1.0, (schedule.n_steps - step) / n_last)
    return float(schedule.learning_rate * rising * falling * ending)


@contextmanager
def claimed(directory: Path, seed: int) -> Iterator[None]:
    """Train in this directory, alone and reproducibly."""
    import torch

    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it CUDA refuses deterministic algorithms
    n_threads, was_deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    deterministic: Any = torch.utils.deterministic
    did_fill = deterministic.fill_uninitialized_memory
    torch.set_num_threads(1)  # more threads sum in another order
    torch.use_deterministic_algorithms(True)
    # Saves a twentieth of the time for memory that is written before it is read.
    deterministic.fill_uninitialized_memory = False
    try:
        with locks.claimed(directory), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            yield
    finally:
        deterministic.fill_uninitialized_memory = did_fill
        torch.use_deterministic_algorithms(was_deterministic)
        torch.set_num_threads(n_threads)


def _differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    flat_before, flat_now = _flat(before), _flat(now)
    names = [name for name in {**flat_before, **flat_now} if flat_before.get(name) != flat_now.get(name)]
    shown = [f"{name} was {flat_before.get(name)}" for name in names[:3]]
    return ", ".join([*shown, *(["others differ too"] if len(names) > 3 else [])])


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    own = {name: value for name, value in settings.items() if not isinstance(value, Mapping)}
    return own | {name: one for value in settings.values() if isinstance(value, Mapping) for name, one in value.items()}


def require_packages(what: str) -> None:
    if any(find_spec(package) is None for package in PACKAGES):
        raise MissingExtra(what, "train")


def stretches(losses: list[float]) -> list[float]:
    n = max(1, len(losses) // LOSSES_REPORTED)
    parts = (losses[first : first + n] for first in range(0, len(losses), n))
    return [round(sum(stretch) / len(stretch), 4) for stretch in parts]


def versions() -> dict[str, str]:
    packages = {package: version(package) for package in (*PACKAGES, "sacrebleu")}
    return {"python": platform.python_version(), "gendermark": __version__, **packages}
