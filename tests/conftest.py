"""What every test can rely on: a cache of its own, no mirror, and the official data where it is at hand."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import settings

# The tests share the cores among processes; threads of each on top only wait for each other. Before numpy is loaded,
# and for the programs that tests start.
assert "numpy" not in sys.modules
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
# Some sandboxes announce the matrix units of a processor (AMX) and do not allow them: a process that uses them dies.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
# As the command line does.
gc.set_threshold(100_000, 10, 10)
# A busy machine is no reason to fail: how long anything takes is measured in bench/.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

REPOSITORY = Path(__file__).resolve().parents[1]
# Read before the fixture below takes the variable away.
_MIRROR = Path(os.environ.get("GENDERMARK_DATA_MIRROR") or REPOSITORY.parent / "shared" / "data")


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background, where programs do not notice Ctrl-C, and hand that on to those they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What installs the package anew takes too long for every `make test`."""
    if not os.environ.get("GENDERMARK_SLOW_TESTS"):
        slow = pytest.mark.skip(reason="slow; set GENDERMARK_SLOW_TESTS=1, as .ci/run does")
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(slow)


def pytest_collection_finish() -> None:
    """What is loaded now stays: the collector need not look at it again and again (statsmodels calls it every time)."""
    gc.freeze()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):  # they would make a gate write more
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("GENDERMARK_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.delenv("GENDERMARK_DATA_MIRROR", raising=False)
    # Terminals differ; tests see what a pipe sees.
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")


_PARSED: dict[tuple[str, str], object] = {}


@pytest.fixture(autouse=True)
def _parsed_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each sentence is parsed once by a process: hundreds of tests judge the same ones. Not in tests of the reader."""
    if "reading" in request.path.parts:
        return
    from gendermark.reading import people

    parse = people.parse

    def remembered(texts: Sequence[str], name: str = "") -> list[object]:
        new = [text for text in dict.fromkeys(texts) if (text, name) not in _PARSED]
        _PARSED.update(zip(((text, name) for text in new), parse(new, name), strict=True))
        return [_PARSED[text, name] for text in texts]

    monkeypatch.setattr(people, "parse", remembered)


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The mirror of the official data, in use for this test; skips where there is none."""
    if not (_MIRROR / "nolongerprejudice").is_dir():
        pytest.skip(f"no mirror of the official data at {_MIRROR}; set GENDERMARK_DATA_MIRROR to one")
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", str(_MIRROR))
    return _MIRROR


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run whose judge can be checked by the first word. Not to be written to."""
    import gendermark

    directory = tmp_path_factory.mktemp("annotated") / "run"
    selection = gendermark.Selection("tgbi", "ko", "en", data="core", parts=("negative",))
    gendermark.run("fake:right?p=0.5", [selection], directory=directory)
    return directory


@pytest.fixture(scope="module")
def _one_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)  # models as small as those of tests only lose by more
    yield
    torch.set_num_threads(before)
