"""What every local engine promises, whichever library runs the model. Each is tried on a tiny model of its own."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gendermark.cli.app import main
from gendermark.errors import SystemFailure, UserError
from gendermark.records import Request, Task, Translation
from gendermark.runs.store import Store
from gendermark.runs.translate import translate
from gendermark.systems.engine import Engine, is_out_of_memory
from gendermark.systems.system import families_that_can, open_system
from systems import tiny_hf, tiny_models
from systems.asking import answers, requests, sampling, texts

SOURCES = tiny_hf.ENGLISH
SHORT, LONG = "The nurse lost his keys.", "The lawyer asked the baker for a letter. "
tasks = pytest.mark.parametrize("task", list(Task))


@dataclass(frozen=True)
class Kind:
    """One kind of model of a family."""

    family: str
    build: Callable[[Path], Path]
    precision: tuple[str, str]
    """An option that changes how it computes, and a value."""
    packages: tuple[str, ...]
    """The optional packages that it needs."""
    n_positions: int = 64
    """Of what is longer it says so; 0: it has no limit."""
    is_slow: bool = False


HF = {"family": "hf", "precision": ("dtype", "bfloat16"), "packages": ("torch", "transformers")}
CT2 = {"family": "ctranslate2", "precision": ("compute_type", "int8"), "packages": ()}
KINDS = {
    "ctranslate2-opus": Kind(build=tiny_models.opus, **CT2),
    "ctranslate2-nllb": Kind(build=partial(tiny_models.multilingual, languages=["eng_Latn", "spa_Latn"]), **CT2),
    "torch": Kind("torch", tiny_models.own, ("compute_type", "int8"), ("torch", "safetensors"), n_positions=512),
    "hf-marian": Kind(build=tiny_hf.marian, **HF),
    "hf-chat": Kind(build=tiny_hf.chat, n_positions=512, is_slow=True, **HF),
    "hf-nllb": Kind(build=tiny_hf.nllb, is_slow=True, **HF),
    "hf-m2m100": Kind(build=tiny_hf.m2m100, is_slow=True, **HF),
    "hf-mbart": Kind(build=tiny_hf.mbart, is_slow=True, **HF),
    "hf-t5": Kind(build=tiny_hf.t5, n_positions=0, is_slow=True, **HF),
}


class Tried:
    """A kind with a model that is built."""

    def __init__(self, kind: Kind, directory: Path) -> None:
        self.kind, self.directory = kind, directory
        self.spec = f"{kind.family}:{directory}"

    def open(self, directory: Path | None = None, **options: object) -> Engine:
        given = {"max_length": "10"} | {key: str(value) for key, value in options.items()}
        system = open_system(f"{self.kind.family}:{directory or self.directory}", given)
        assert isinstance(system, Engine)
        return system


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=[pytest.mark.slow] if kind.is_slow else []) for name, kind in KINDS.items()],
)
def tried(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tried]:
    kind = KINDS[request.param]
    for package in kind.packages:
        pytest.importorskip(package)
    torch: Any = pytest.importorskip("torch") if "torch" in kind.packages else None
    n_threads = torch.get_num_threads() if torch else 1
    if torch:
        torch.set_num_threads(1)
    yield Tried(kind, kind.build(tmp_path_factory.mktemp("models") / "opus-mt-en-es"))  # a name that says its pair
    if torch:
        torch.set_num_threads(n_threads)


def asked(task: Task, sources: Sequence[str] = SOURCES) -> list[Request]:
    if task is Task.SAMPLE:
        return sampling(sources, 6, epsilon=0.05)
    return requests(sources, task=task, target="La médica terminó." if task is Task.SCORE else None)


def are_alike(some: Sequence[Translation], others: Sequence[Translation]) -> bool:
    """The same texts and errors; probabilities up to rounding."""
    pairs = list(zip(some, others, strict=True))
    assert [(one.text, one.error, one.n_tokens) for one, _ in pairs] == [
        (o.text, o.error, o.n_tokens) for _, o in pairs
    ]
    for one, other in pairs:
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-3)
        assert one.token_log_probabilities == pytest.approx(other.token_log_probabilities, abs=1e-3)
    return True


def refused(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The one sentence that the command line ends with."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert (end.value.code, out) == (2, "")
    assert "Traceback" not in err
    assert len(err.splitlines()) == 1
    return err


# -- answers


@tasks
def test_order_and_batches_do_not_change_an_answer(tried: Tried, task: Task) -> None:
    whole = answers(tried.open(), asked(task))
    assert len({answer.text for answer in whole}) > (0 if task is Task.SCORE else 2)
    backwards = answers(tried.open(batch_size=4), asked(task)[::-1])
    n = asked(task)[0].n_samples
    assert are_alike(whole, [answer for end in range(len(backwards), 0, -n) for answer in backwards[end - n : end]])
    one_by_one = tried.open(batch_size=1)
    assert are_alike(whole, [answer for request in asked(task) for answer in answers(one_by_one, [request])])


def test_all_tasks_in_one_call(tried: Tried) -> None:
    mixed = [request for task in Task for request in asked(task, SOURCES[:2])]
    system = tried.open()
    assert are_alike(answers(system, mixed), [a for t in Task for a in answers(system, asked(t, SOURCES[:2]))])
    assert system.tasks == set(Task)
    assert all(f"{tried.kind.family}:..." in families_that_can(task) for task in Task)


def test_batches_are_handed_over_one_by_one_longest_first(tried: Tried) -> None:
    system = tried.open(batch_size=2, beam_size=1)
    length_of = {request.request_id: len(request.source) for request in requests(["It.", *SOURCES])}
    portions = list(system.answer(requests(["It.", *SOURCES])))
    assert [len(portion) for portion in portions] == [2, 2, 2, 1]
    assert length_of[portions[0][0].request_id] > length_of[portions[-1][0].request_id]
    left = system.answer(requests(SOURCES))
    next(left)
    left.close()  # as after Ctrl-C
    assert len(answers(system, requests(SOURCES[:1]))) == 1


def test_empty_sources_and_line_breaks(tried: Tried) -> None:
    system = tried.open(beam_size=1)
    assert texts(answers(system, [*requests(["", " \n"]), *sampling([""], 2)])) == [""] * 4
    (scored,) = answers(system, requests([""], task=Task.SCORE, target="Uno."))
    assert (scored.text, bool(scored.error)) == (None, True)
    if tried.kind.build is not tiny_hf.chat:  # whose prompt may have several lines
        broken, whole = answers(system, requests(["The doctor\nfinished\r\nher work.", SOURCES[0]]))
        assert broken.text == whole.text


@tasks
def test_a_source_that_is_too_long_fails_alone(tried: Tried, task: Task) -> None:
    n = tried.kind.n_positions
    if not n:
        pytest.skip("it has no limit of length")
    system = tried.open(beam_size=1)
    found = answers(system, asked(task, [SHORT, LONG * (n // 8), SOURCES[0]]))
    each = len(found) // 3
    assert all(answer.text is None and str(n) in (answer.error or "") for answer in found[each : 2 * each])
    assert are_alike(found[:each] + found[2 * each :], answers(system, asked(task, [SHORT, SOURCES[0]])))
    assert system.notes() == []


def test_a_translation_cut_at_the_limit_has_no_log_probability(tried: Tried) -> None:
    found = answers(tried.open(max_length=2, beam_size=1), requests(SOURCES))
    assert any(answer.log_probability is None for answer in found)
    assert all(answer.n_tokens is None or answer.n_tokens <= 2 for answer in found)


# -- scores and samples


def test_a_score_is_the_sum_over_its_tokens(tried: Tried) -> None:
    system = tried.open()
    found = answers(system, [Request(s, "en", "es", Task.SCORE, t) for s in SOURCES[:2] for t in tiny_hf.SPANISH[:3]])
    for answer, target in zip(found, tiny_hf.SPANISH[:3] * 2, strict=True):
        assert answer.text == target
        assert len(answer.token_log_probabilities or ()) == answer.n_tokens
        assert answer.log_probability == pytest.approx(sum(answer.token_log_probabilities or ()))
        assert all(one < 0 for one in answer.token_log_probabilities or ())
    assert len({answer.log_probability for answer in found}) == 6
    for nothing in ("", " \n", None):
        with pytest.raises(UserError, match=r"'One\.'"):
            answers(system, requests(["One."], task=Task.SCORE, target=nothing))


def test_samples_depend_on_seed_and_number_alone(tried: Tried) -> None:
    system = tried.open()
    drawn = texts(answers(system, sampling(SOURCES[:3], 12, epsilon=0.02, temperature=1.5)))
    assert len(set(drawn)) > 6
    assert texts(answers(tried.open(), sampling(SOURCES[:3], 12, epsilon=0.02, temperature=1.5))) == drawn
    assert texts(answers(system, sampling(SOURCES[:3], 12, epsilon=0.02, temperature=1.5, seed=1))) != drawn
    parts = [sampling(SOURCES[:1], n, first, epsilon=0.02, temperature=1.5) for first, n in ((0, 5), (5, 7))]
    assert [text for part in parts for text in texts(answers(system, part))] == drawn[:12]
    for options, token in (({"epsilon": 2}, "epsilon .*'2'"), ({"beam": 4}, "'beam'")):
        with pytest.raises(UserError, match=token):
            answers(system, sampling(SOURCES[:1], 2, **options))


def test_greedy_search_and_sampling_from_one_token_are_the_same(tried: Tried) -> None:
    """The samples' path adds up the log-probabilities token by token; the search has its own way."""
    system = tried.open(beam_size=1)
    greedy, drawn = answers(system, requests(SOURCES)), answers(system, sampling(SOURCES, 1, top_k=1))
    ended = [pair for pair in zip(greedy, drawn, strict=True) if pair[0].log_probability is not None]
    assert ended
    assert are_alike([one for one, _ in ended], [other for _, other in ended])


# -- memory, failures, output


def limited(system: Engine, monkeypatch: pytest.MonkeyPatch, room: int, message: str = "out of memory") -> list[int]:
    """Make an engine fail with more texts at once than it has room for; with room 0, with the longest source alone."""
    sizes: list[int] = []
    longest = max(len(system._job(request, system._frame(("en", "es"))).source) for request in requests(SOURCES))

    def limit(work: Callable[..., Any]) -> Callable[..., Any]:
        def limited_work(jobs: Sequence[Any], *rest: Any, **named: Any) -> Any:
            sizes.append(len(jobs))
            if len(jobs) > (room or 99) or (not room and any(len(job.source) == longest for job in jobs)):
                raise RuntimeError(message)
            return work(jobs, *rest, **named)

        return limited_work

    for name in ("_translate", "_score", "_continue"):
        monkeypatch.setattr(system, name, limit(getattr(system, name)))
    return sizes


@tasks
def test_batches_too_large_for_memory_are_halved(tried: Tried, task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    system = tried.open(batch_size=8, **({"workers": 1} if tried.kind.family == "ctranslate2" else {}))
    expected = answers(system, asked(task))
    sizes = limited(system, monkeypatch, 2)
    assert are_alike(answers(system, asked(task)), expected)
    assert sizes[:3] == [6, 3, 2]
    assert max(sizes[2:]) == 2
    (note,) = system.notes()
    assert note.endswith(" 2")


@tasks
def test_a_source_too_large_for_memory_fails_alone(tried: Tried, task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    system = tried.open(batch_size=4)
    expected = answers(system, asked(task))
    limited(system, monkeypatch, 0)
    found = answers(system, asked(task))
    failed = [place for place, answer in enumerate(found) if "memory" in (answer.error or "")]
    assert len(failed) == asked(task)[0].n_samples
    rest = [place for place in range(len(found)) if place not in failed]
    assert are_alike([found[place] for place in rest], [expected[place] for place in rest])
    assert len(system.notes()) == 2


def test_any_other_failure_is_one_sentence(tried: Tried, monkeypatch: pytest.MonkeyPatch) -> None:
    system = tried.open(batch_size=4)
    limited(system, monkeypatch, 1, "CUDA error: assert triggered\nmore lines")
    with pytest.raises(SystemFailure) as caught:
        answers(system, requests(SOURCES))
    assert str(caught.value).startswith(f"{system.spec} failed: CUDA error: assert triggered (")
    assert "\n" not in str(caught.value)


def test_nothing_is_printed(tried: Tried, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    system = tried.open()
    for task in Task:
        answers(system, asked(task, [LONG * 8, SOURCES[0]]))
    system.close()
    assert tuple(capfd.readouterr()) == ("", "")


# -- names and identity


def test_the_name_shows_what_changes_a_translation(tried: Tried) -> None:
    key, value = tried.kind.precision
    system = open_system(f"{tried.spec}?beam_size=1&batch_size=8", {key: value, "threads": "1", "max_length": "7"})
    assert system.spec == f"{tried.spec}?" + "&".join(sorted(["beam_size=1", f"{key}={value}", "max_length=7"]))
    assert system.decoding.startswith(f"greedy,{value}")
    assert tried.open(beam_size=3, length_penalty=0.5).decoding.startswith("beam3,")
    assert tried.open(length_penalty=0.5).decoding.endswith(",length_penalty0.5")


def test_identity(tried: Tried, tmp_path: Path) -> None:
    copy = tmp_path / "opus-mt-en-es"
    shutil.copytree(tried.directory, copy)
    own = tried.open().system_id
    assert own.startswith(f"{tried.kind.family}#")
    assert {tried.open(copy).system_id, tried.open(batch_size=3, threads=1).system_id} == {own}
    key, value = tried.kind.precision
    changes = [{"beam_size": 2}, {"length_penalty": 2}, {"max_length": 7}, {key: value}]
    ids = {own, *(tried.open(**change).system_id for change in changes)}
    names = ("vocab.json", "tokenizer.json", "shared_vocabulary.json")
    file = next(copy / name for name in names if (copy / name).exists())
    file.write_text(file.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    ids.add(tried.open(copy).system_id)
    assert len(ids) == 6


def test_answers_are_taken_from_the_store(tried: Tried, tmp_path: Path) -> None:
    """Whatever was answered before is not asked again, and what is added is as if nothing had been there."""
    for task in (Task.TRANSLATE, Task.SAMPLE):
        system = tried.open(beam_size=1)
        with Store(tmp_path / f"{task}.sqlite") as store:
            first = translate(system, asked(task, SOURCES[:2]), store, lambda *_: None)
            both = translate(tried.open(beam_size=1), asked(task), store, lambda *_: None)
            other = translate(tried.open(beam_size=2), asked(task), store, lambda *_: None)
        n_failed = sum(any(one.error for one in row) for row in first.translations)  # are asked again
        assert (first.n_asked, both.n_stored, both.n_asked, other.n_stored) == (2, 2 - n_failed, 4 + n_failed, 0)
        assert are_alike([one for row in both.translations for one in row], answers(system, asked(task)))


# -- refusals


def test_what_cannot_be_asked_ends_the_command_with_one_sentence(
    tried: Tried, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "sources.txt"
    sources.write_text("The nurse slept.\n", encoding="utf-8")
    command = ("translate", sources, "--store", tmp_path / "store.sqlite")
    options = ("beam=4", "beam_size=0", "batch_size=many", "max_length=0", "threads=none", "length_penalty=long")
    for option in options:
        said = refused(capsys, *command, "--to", "es", "--system", tried.spec, "--system-option", option)
        assert option.partition("=")[0] in said
    missing = f"{tried.kind.family}:{tmp_path}/no/such/model"
    assert f"{tmp_path}/no/such/model" in refused(capsys, *command, "--to", "es", "--system", missing)
    assert str(tmp_path) in refused(capsys, *command, "--to", "es", "--system", f"{tried.kind.family}:{tmp_path}")
    language = "xx" if tried.kind.build is tiny_hf.chat else "de"  # the prompt needs a name
    if tried.kind.build not in (tiny_hf.m2m100, tiny_hf.mbart, tiny_hf.t5):  # which have German
        assert language in refused(capsys, *command, "--to", language, "--system", tried.spec)
    if tried.kind.packages:
        monkeypatch.setitem(sys.modules, tried.kind.packages[0], None)
        assert "pip install" in refused(capsys, *command, "--to", "es", "--system", tried.spec)


@pytest.mark.parametrize(
    ("problem", "is_memory"),
    [
        (MemoryError(), True),
        (RuntimeError("CUDA failed with error out of memory"), True),
        (RuntimeError("std::bad_alloc"), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"), True),
        (RuntimeError("MPS backend out of memory"), True),
        (RuntimeError("No position encodings are defined for positions >= 64"), False),
    ],
)
def test_out_of_memory_is_known_by_the_messages_of_engines(problem: Exception, is_memory: bool) -> None:
    assert is_out_of_memory(problem) is is_memory
