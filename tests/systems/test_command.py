"""`command:`: programs as they are, well-behaved or not; none is left running, and no finished line is lost."""

from __future__ import annotations

import re
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from gendermark.errors import SystemFailure, UserError
from gendermark.records import Request, Translation
from gendermark.systems import command
from gendermark.systems.command import Command
from runs.children import is_alive, lines_of, wait_until
from systems.asking import answers, requests, translated

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs are POSIX scripts")

SENTENCES = [f"Sentence {number}." for number in range(1, 6)]
COPY = "while read -r line; do echo x; done"
Program = Callable[..., str]
Pids = Callable[[], list[int]]
both_modes = pytest.mark.parametrize("mode", ["batch", "stream"])


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Make a program of a few lines of shell or Python; each notes its process id before anything else."""
    monkeypatch.setenv("PIDS", str(tmp_path / "pids"))

    def make(body: str, *arguments: str, language: str = "sh") -> str:
        script = tmp_path / f"program.{language}"
        if language == "sh":
            script.write_text(f'#!/bin/sh\necho $$ >> "$PIDS"\n{body}\n')
            script.chmod(0o755)
            return shlex.join([str(script), *arguments])
        note = "import os, sys, time\nwith open(os.environ['PIDS'], 'a') as file: print(os.getpid(), file=file)\n"
        script.write_text(f"{note}{body}\n")
        return shlex.join([sys.executable, "-S", str(script), *arguments])

    return make


@pytest.fixture
def pids(tmp_path: Path) -> Pids:
    return lambda: [int(line) for line in lines_of(tmp_path / "pids")]


@pytest.fixture(autouse=True)
def _nothing_is_left(pids: Pids) -> Iterator[None]:
    before = threading.active_count()
    yield
    assert not any(map(is_alive, pids()))
    wait_until(lambda: threading.active_count() <= before, "its threads had ended")


def asked(system: Command, sources: Sequence[str]) -> list[str | None]:
    try:
        return translated(system, sources)
    finally:
        system.close()


def failed(system: Command, sources: Sequence[str], pids: Pids) -> tuple[list[str | None], str]:
    """What was answered before the failure, and the failure's message; no process may be left, without `close`."""
    portions: list[Sequence[Translation]] = []
    with pytest.raises(SystemFailure) as caught:
        portions.extend(system.answer(requests(sources)))
    assert not any(map(is_alive, pids()))
    message = str(caught.value)
    assert message.startswith(f"{system.spec} ")
    assert "\n" not in message
    return [answer.text for portion in portions for answer in portion], message.removeprefix(f"{system.spec} ")


# -- programs that work


@both_modes
def test_one_line_for_each_sentence(program: Program, pids: Pids, mode: str) -> None:
    system = Command(program('while read -r line; do echo "ES: $line"; done'), {"mode": mode})
    assert asked(system, SENTENCES[:3]) == ["ES: Sentence 1.", "ES: Sentence 2.", "ES: Sentence 3."]
    assert len(pids()) == 1


def test_a_process_for_each_batch_or_for_all(program: Program, pids: Pids) -> None:
    for mode, n_processes in (("batch", 2), ("stream", 3)):
        system = Command(program(COPY), {"mode": mode})
        portions = [portion for n in (2, 3) for portion in system.answer(requests(SENTENCES[:n]))]
        system.close()
        assert len(pids()) == n_processes  # in all: two for the batches, then one more
        assert [len(portion) for portion in portions] == ([2, 3] if mode == "batch" else [1] * 5)


@both_modes
def test_languages_are_filled_in(program: Program, mode: str) -> None:
    text = program('while read -r line; do echo "$1 $2 $line"; done', "--from={source}", "{source}-{target}")
    system = Command(text, {"mode": mode})
    mixed = [Request(source, "en", to) for source in ("A.", "B.") for to in ("es", "de")]
    found = [answer.text for answer in answers(system, mixed)]
    system.close()
    assert found == [f"--from=en en-{to} {source}" for source in ("A.", "B.") for to in ("es", "de")]


@both_modes
def test_windows_line_ends_and_odd_characters(program: Program, mode: str) -> None:
    body = (
        "for n, line in enumerate(sys.stdin.buffer):\n"
        "    sys.stdout.buffer.write(['uno\\r\\n', 'médica\\u2028\\x0c fin\\r\\n', '\\r\\n', ' x \\n'][n].encode())\n"
        "    sys.stdout.buffer.flush()\n"
    )
    system = Command(program(body, language="py"), {"mode": mode})
    assert asked(system, SENTENCES[:4]) == ["uno", "médica\u2028\x0c fin", "", " x "]


@both_modes
def test_full_pipes_do_not_block(program: Program, mode: str) -> None:
    sources = [f"{number} " + "x" * 500_000 for number in range(4)]
    # Writes messages before it reads, and translations while it reads: all three pipes fill.
    body = (
        "sys.stderr.write('warning: something\\n' * 60_000)\n"
        "for line in sys.stdin:\n    sys.stdout.write(line)\n    sys.stdout.flush()"
    )
    assert asked(Command(program(body, language="py"), {"mode": mode}), sources) == sources


@pytest.mark.parametrize("reading", ["", "exec < /dev/null"])
def test_a_program_that_does_not_read_its_input(program: Program, reading: str) -> None:
    sources = [f"{number} " + "x" * 500_000 for number in range(4)]
    assert asked(Command(program(f"{reading}\nprintf '1\\n2\\n3\\n4'"), {}), sources) == list("1234")


def test_the_timeout_is_per_line(program: Program) -> None:
    text = program("while read -r a; do sleep 0.25; echo x; done")
    started = time.monotonic()
    assert asked(Command(text, {"timeout_seconds": "1"}), SENTENCES) == ["x"] * 5
    assert time.monotonic() - started > 1


# -- programs that fail: what is kept, and what the message names


CRASH = "read -r a; echo uno; read -r a; echo dos; echo out of memory >&2; exit 3"
HALF = 'read -r a; echo uno; read -r a; printf "La doc"; kill -SEGV $$'
ENDS_EARLY = 'read -r a; echo "uno"; read -r a; printf "dos"'  # whether `dos` was all of it cannot be known
CHILD = "sh -c 'echo $$ >> \"$PIDS\"; sleep 100' &"
HANGS = f'{CHILD} read -r a; echo uno; printf "do"; echo thinking >&2; sleep 100'
STAYS = "read -r a; echo uno; exec >&-; sleep 100"
LATIN = "while read -r a; do printf 'm\\351dica\\n'; done; sleep 100"
TALKS = f'for n in 1 2 3 4 5; do echo "line $n" >&2; done; echo {"y" * 999} >&2; exit 1'


@pytest.mark.parametrize(
    ("body", "mode", "kept", "tokens"),
    [
        (CRASH, "both", ["uno", "dos"], ["exit code 3", "sentence 3", "'Sentence 3.'", "out of memory"]),
        (HALF, "both", ["uno"], ["SIGSEGV", "'Sentence 2.'"]),
        (HANGS, "both", ["uno"], ["0.5 seconds", "'Sentence 2.'", "thinking"]),
        (STAYS, "both", ["uno"], ["closed its output", "0.5 seconds", "'Sentence 2.'"]),
        (LATIN, "both", [], ["not UTF-8", r"b'm\xe9dica\n'"]),
        (TALKS, "batch", [], [f": line 4 / line 5 / {'y' * 200} ("]),
        ("cat; exit 1", "batch", SENTENCES, ["exit code 1"]),  # after the last line
        ("cat; echo more; exit 1", "batch", [], ["6 lines for 5"]),
        ("head -n 2", "batch", [], ["2 lines for 5", "'Sentence 1.'"]),
        ("cat; echo more", "batch", [], ["6 lines for 5"]),
        ("cat > /dev/null", "batch", [], ["0 lines for 5"]),
        (ENDS_EARLY, "stream", ["uno"], ["exit code 0", "'Sentence 2.'"]),
        ("exit 0", "stream", [], ["exit code 0", "'Sentence 1.'"]),
    ],
)
def test_a_program_that_fails(
    program: Program, pids: Pids, body: str, mode: str, kept: list[str], tokens: list[str]
) -> None:
    for one in ("batch", "stream") if mode == "both" else (mode,):
        system = Command(program(body), {"mode": one, "timeout_seconds": "0.5" if "sleep" in body else "60"})
        found, message = failed(system, SENTENCES, pids)
        assert found == kept
        assert all(token in message for token in tokens), message


def test_a_source_with_a_line_break_is_refused(program: Program, pids: Pids) -> None:
    kept, message = failed(Command(program("cat"), {}), ["One.", "One.\nTwo."], pids)
    assert kept == []
    assert r"'One.\nTwo.'" in message


def test_a_stream_that_says_too_much(program: Program, pids: Pids) -> None:
    """A translation with a line break would give every later sentence the translation of the one before it."""
    system = Command(program('while read -r line; do printf "uno\\ndos\\n"; done'), {"mode": "stream"})
    portions = system.answer(requests(SENTENCES[:3]))
    assert [answer.text for answer in next(portions)] == ["uno"]
    process = system._process
    assert process is not None
    wait_until(lambda: process.has_output, "the second line had come")
    with pytest.raises(SystemFailure, match=r"more lines .*'Sentence 2\.'"):
        next(portions)
    assert not any(map(is_alive, pids()))


@both_modes
def test_ctrl_c_ends_the_program(program: Program, pids: Pids, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        wait_until(lambda: bool(pids()), "it had started")
        raise KeyboardInterrupt

    monkeypatch.setattr(command._LineProcess, "read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(Command(program("sleep 100"), {"mode": mode}).answer(requests(SENTENCES[:2])))
    assert not any(map(is_alive, pids()))


# -- what is refused before any work


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("no-such-program-anywhere --fast", "'no-such-program-anywhere'"),
        ("./no/such/program.sh", "'./no/such/program.sh'"),
        ("/tmp", "'/tmp'"),
        ("/etc/passwd", "'/etc/passwd'"),  # not executable
        ("  ", "command:./translate.sh"),
        ("cat 'unclosed", "closing quotation"),
        ('cat "', "closing quotation"),
        ("cat \\", "escaped"),
        ("cat | tr a b", "sh -c 'cat | tr a b'"),
        ("cat > out", "'>'"),
        ("tr a b < in", "'<'"),
        ("cat && cat", "'&&'"),
        ("cat; cat", "';'"),
        *((f"cat --from {{{name}}}", f"{{{name}}}") for name in ("srouce", "taget", "src", "tgt", "Source")),
    ],
)
def test_a_command_that_cannot_be_run_is_refused(text: str, token: str) -> None:
    with pytest.raises(UserError, match=re.escape(token)):
        Command(text, {})


@pytest.mark.parametrize(
    "text",
    [
        "tr '|' ' '",
        'tr ">" x',
        "sh -c 'cat | cat; cat'",
        r"echo \;",
        "cat --prefix=>>spa<<",
        "awk '{print}'",
        "cat {source} {target} {}",
    ],
)
def test_signs_and_braces_of_the_program_itself(text: str) -> None:
    Command(text, {})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mode", "fast"),
        *(("batch_size", value) for value in ("many", "0", "0.7")),
        *(("timeout_seconds", value) for value in ("soon", "0", "nan")),
    ],
)
def test_a_wrong_option_is_refused(key: str, value: str) -> None:
    with pytest.raises(UserError, match=f"option {key} .*{value!r}"):
        Command("cat", {key: value})


# -- identity and keys


def test_an_edited_program_is_another_system(program: Program, tmp_path: Path) -> None:
    model = tmp_path / "model.bin"
    model.write_text("weights")

    def system_id(body: str = "cat", argument: str = str(model), language: str = "sh", **options: str) -> str:
        return Command(program(body, argument, language=language), options).system_id

    before = system_id()
    assert before.startswith(f"command:{program('cat', str(model))}#")
    assert system_id() == before
    assert system_id(mode="stream", batch_size="3") == before  # how it is asked, not what it says
    assert system_id("cat -u") != before
    assert system_id(argument="--beam=1") != before
    assert system_id("a = 1", language="py") != system_id("a = 2", language="py")  # behind its interpreter
    model.write_text("other weights")
    assert system_id() != before


SECRET = "sk-c0mmand-7h2Qz91LmXv"


def test_a_key_is_no_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", SECRET)
    with pytest.raises(UserError, match="MY_API_KEY") as caught:
        Command(f"cat --key={SECRET}", {})
    assert SECRET not in str(caught.value)
    monkeypatch.setenv("MY_API_KEY", "cat")  # too short for a key
    Command("cat", {}).close()


@both_modes
def test_a_key_that_a_program_writes(program: Program, pids: Pids, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    monkeypatch.setenv("MY_TOKEN", SECRET)
    message = failed(Command(program('echo "no entry with $MY_TOKEN" >&2; exit 3'), {"mode": mode}), SENTENCES, pids)[1]
    assert "no entry with ***" in message
    kept, message = failed(Command(program('read line; echo "401 $MY_TOKEN"'), {"mode": mode}), SENTENCES, pids)
    assert (kept, "MY_TOKEN" in message, SECRET in message) == ([], True, False)
