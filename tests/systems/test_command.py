"""`command:`: programs as they are, well-behaved or not; none is left running, and no finished line is lost."""

from __future__ import annotations

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

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs are POSIX scripts")

KEPT = "(finished translations are kept; rerun to resume)"
MODES = ("batch", "stream")
Program = Callable[..., str]


def requests(n: int, to: str = "es") -> list[Request]:
    return [Request(f"Sentence {number}.", "en", to) for number in range(1, n + 1)]


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
def pids(tmp_path: Path) -> Callable[[], list[int]]:
    return lambda: [int(line) for line in lines_of(tmp_path / "pids")]


@pytest.fixture(autouse=True)
def _nothing_is_left(pids: Callable[[], list[int]]) -> Iterator[None]:
    before = threading.active_count()
    yield
    assert not any(map(is_alive, pids()))
    wait_until(lambda: threading.active_count() <= before, "its threads had ended")


def translated(system: Command, asked: list[Request]) -> list[str | None]:
    """All answers, checked to be the answers to these requests."""
    try:
        answers = [answer for portion in system.answer(asked) for answer in portion]
    finally:
        system.close()
    assert [answer.request_id for answer in answers] == [request.request_id for request in asked]
    return [answer.text for answer in answers]


def failed(system: Command, asked: list[Request], pids: Callable[[], list[int]]) -> tuple[list[str | None], str]:
    """What was answered before the failure, and the failure's words; no process may be left, without `close`."""
    portions: list[Sequence[Translation]] = []
    with pytest.raises(SystemFailure) as caught:
        portions.extend(system.answer(asked))
    assert not any(map(is_alive, pids()))
    message = str(caught.value)
    assert message.startswith(f"{system.spec} ")
    assert "\n" not in message
    return [answer.text for portion in portions for answer in portion], message.removeprefix(f"{system.spec} ")


# -- programs that work


@pytest.mark.parametrize("mode", MODES)
def test_one_line_for_each_sentence(program: Program, pids: Callable[[], list[int]], mode: str) -> None:
    system = Command(program('while read -r line; do echo "ES: $line"; done'), {"mode": mode})
    assert translated(system, requests(3)) == ["ES: Sentence 1.", "ES: Sentence 2.", "ES: Sentence 3."]
    assert len(pids()) == 1


def test_a_process_for_each_batch_or_for_all(program: Program, pids: Callable[[], list[int]]) -> None:
    for mode, n_processes in (("batch", 2), ("stream", 3)):
        system = Command(program("while read -r line; do echo x; done"), {"mode": mode})
        for batch in (requests(2), requests(3)):
            assert len([answer for portion in system.answer(batch) for answer in portion]) == len(batch)
        system.close()
        assert len(pids()) == n_processes  # in all: two for the batches, then one more


def test_a_stream_hands_over_each_line_at_once(program: Program) -> None:
    system = Command(program("while read -r line; do echo x; done"), {"mode": "stream"})
    assert [len(portion) for portion in system.answer(requests(3))] == [1, 1, 1]
    system.close()


def test_the_end_closes_every_pipe(program: Program) -> None:
    system = Command(program("while read -r line; do echo x; done"), {"mode": "stream"})
    next(answers := system.answer(requests(3)))
    process = system._process
    assert process is not None
    answers.close()
    child = process._child
    wait_until(
        lambda: all(pipe.closed for pipe in (child.stdin, child.stdout, child.stderr) if pipe), "all were closed"
    )


@pytest.mark.parametrize("mode", MODES)
def test_languages_are_filled_in(program: Program, mode: str) -> None:
    text = program('while read -r line; do echo "$1 $2 $line"; done', "--from={source}", "{source}-{target}")
    system = Command(text, {"mode": mode})
    # Both directions in one batch, mixed; answers come direction by direction.
    mixed = [request for pair in zip(requests(2, "es"), requests(2, "de"), strict=True) for request in pair]
    answers = {answer.request_id: answer.text for portion in system.answer(mixed) for answer in portion}
    system.close()
    assert [answers[request.request_id] for request in mixed] == [
        "--from=en en-es Sentence 1.",
        "--from=en en-de Sentence 1.",
        "--from=en en-es Sentence 2.",
        "--from=en en-de Sentence 2.",
    ]


@pytest.mark.parametrize("mode", MODES)
def test_windows_line_ends_and_odd_characters(program: Program, mode: str) -> None:
    body = (
        "for n, line in enumerate(sys.stdin.buffer):\n"
        "    sys.stdout.buffer.write(['uno\\r\\n', 'médica\\u2028\\x0c fin\\r\\n', '\\r\\n', ' x \\n'][n].encode())\n"
        "    sys.stdout.buffer.flush()\n"
    )
    system = Command(program(body, language="py"), {"mode": mode})
    assert translated(system, requests(4)) == ["uno", "médica\u2028\x0c fin", "", " x "]


def test_the_last_line_of_a_batch_may_lack_its_end(program: Program) -> None:
    system = Command(program('cat > /dev/null; printf "uno\\ndos"'), {})
    assert translated(system, requests(2)) == ["uno", "dos"]


@pytest.mark.parametrize("mode", MODES)
def test_a_flood_of_messages_does_not_block(program: Program, mode: str) -> None:
    body = (
        "sys.stderr.write('warning: something\\n' * 60_000)\n"
        "for line in sys.stdin:\n"
        "    sys.stderr.write('x' * 20_000)\n"
        "    print('x', flush=True)\n"
    )
    assert translated(Command(program(body, language="py"), {"mode": mode}), requests(3)) == ["x"] * 3


@pytest.mark.parametrize("mode", MODES)
def test_five_megabytes_do_not_block(program: Program, mode: str) -> None:
    asked = [Request(f"{number} " + "x" * 500_000, "en", "es") for number in range(10)]
    # Writes while it reads: the pipes fill in both directions.
    body = "for line in sys.stdin:\n    sys.stdout.write(line)\n    sys.stdout.flush()"
    system = Command(program(body, language="py"), {"mode": mode})
    assert translated(system, asked) == [request.source for request in asked]


@pytest.mark.parametrize("reading", ["", "exec < /dev/null"])
def test_a_program_that_does_not_read_its_input(program: Program, reading: str) -> None:
    asked = [Request(f"{number} " + "x" * 500_000, "en", "es") for number in range(4)]
    assert translated(Command(program(f"{reading}\nfor n in 1 2 3 4; do echo $n; done"), {}), asked) == list("1234")


def test_a_source_with_a_line_break_is_refused(program: Program, pids: Callable[[], list[int]]) -> None:
    system = Command(program("cat"), {})
    kept, message = failed(system, [*requests(1), Request("One.\nTwo.", "en", "es")], pids)
    assert kept == []
    assert message == "takes one sentence per line, but a source has a line break: 'One.\\nTwo.'"


# -- programs that fail


def test_a_crash_keeps_the_lines_before_it(program: Program, pids: Callable[[], list[int]]) -> None:
    text = program("read -r a; echo uno; read -r a; echo dos; echo out of memory >&2; exit 3")
    for mode in MODES:
        kept, message = failed(Command(text, {"mode": mode}), requests(4), pids)
        assert kept == ["uno", "dos"]
        assert message == (
            f"stopped with exit code 3 at sentence 3 of its batch, 'Sentence 3.'; it said: out of memory {KEPT}"
        )


@pytest.mark.parametrize("mode", MODES)
def test_half_a_line_is_not_kept(program: Program, pids: Callable[[], list[int]], mode: str) -> None:
    text = program('read -r a; echo uno; read -r a; printf "La doc"; kill -SEGV $$')
    kept, message = failed(Command(text, {"mode": mode}), requests(4), pids)
    assert kept == ["uno"]
    assert message == f"was ended by SIGSEGV at sentence 2 of its batch, 'Sentence 2.' {KEPT}"


def test_a_crash_after_the_last_line(program: Program, pids: Callable[[], list[int]]) -> None:
    kept, message = failed(Command(program("cat; exit 1"), {}), requests(3), pids)
    assert kept == ["Sentence 1.", "Sentence 2.", "Sentence 3."]
    assert message == f"stopped with exit code 1 {KEPT}"


def test_a_crash_after_too_many_lines_keeps_none(program: Program, pids: Callable[[], list[int]]) -> None:
    kept, message = failed(Command(program("cat; echo more; exit 1"), {}), requests(3), pids)
    assert kept == []
    assert message.startswith("gave 4 lines for 3 sentences")


@pytest.mark.parametrize(("body", "n"), [("head -n 2", 2), ("cat; echo more", 4), ("cat > /dev/null", 0)])
def test_another_number_of_lines(program: Program, pids: Callable[[], list[int]], body: str, n: int) -> None:
    kept, message = failed(Command(program(body), {}), requests(3), pids)
    assert kept == []
    assert message == (
        f"gave {n} lines for 3 sentences, the first of which is 'Sentence 1.'; one line per sentence is expected "
        "(this batch is discarded, earlier ones are kept)"
    )


def test_a_stream_that_ends_early(program: Program, pids: Callable[[], list[int]]) -> None:
    text = program('read -r a; echo "uno"; read -r a; printf "dos"')
    kept, message = failed(Command(text, {"mode": "stream"}), requests(3), pids)
    assert kept == ["uno"]  # whether `dos` was all of it cannot be known
    assert message == f"stopped with exit code 0 at sentence 2 of its batch, 'Sentence 2.' {KEPT}"
    kept, message = failed(Command(program("exit 0"), {"mode": "stream"}), requests(3), pids)
    assert kept == []
    assert message == f"stopped with exit code 0 at sentence 1 of its batch, 'Sentence 1.' {KEPT}"


def test_a_stream_that_says_too_much(program: Program, pids: Callable[[], list[int]]) -> None:
    """A translation with a line break would give every later sentence the translation of the one before it."""
    system = Command(program('while read -r line; do printf "uno\\ndos\\n"; done'), {"mode": "stream"})
    answers = system.answer(requests(3))
    assert [answer.text for answer in next(answers)] == ["uno"]
    process = system._process
    assert process is not None
    wait_until(lambda: process.has_output, "the second line had come")
    with pytest.raises(SystemFailure) as caught:
        next(answers)
    assert not any(map(is_alive, pids()))
    assert str(caught.value) == (
        f"{system.spec} had written more lines than it was given sentences at sentence 2 of its batch, "
        f"'Sentence 2.' {KEPT}"
    )


@pytest.mark.parametrize(
    ("mode", "problem"),
    [
        ("batch", "gave no further output for 1.5 seconds"),
        ("stream", "gave no answer within 1.5 seconds (does it flush its output after every line?)"),
    ],
)
def test_a_program_that_hangs(program: Program, pids: Callable[[], list[int]], mode: str, problem: str) -> None:
    text = program('read -r a; echo uno; printf "do"; echo thinking >&2; sleep 100')
    kept, message = failed(Command(text, {"mode": mode, "timeout_seconds": "1.5"}), requests(3), pids)
    assert kept == ["uno"]
    assert message == f"{problem} at sentence 2 of its batch, 'Sentence 2.'; it said: thinking {KEPT}"


@pytest.mark.parametrize("mode", MODES)
def test_a_program_that_closes_its_output_and_stays(program: Program, pids: Callable[[], list[int]], mode: str) -> None:
    text = program("read -r a; echo uno; exec >&-; sleep 100")
    kept, message = failed(Command(text, {"mode": mode, "timeout_seconds": "1.5"}), requests(3), pids)
    assert kept == ["uno"]
    assert message.startswith("closed its output but did not end within 1.5 seconds at sentence 2 of its batch")


def test_time_between_lines_counts_not_time_in_all(program: Program) -> None:
    text = program("while read -r a; do sleep 0.4; echo x; done")
    started = time.monotonic()
    assert translated(Command(text, {"timeout_seconds": "1.5"}), requests(5)) == ["x"] * 5
    assert time.monotonic() - started > 1.5


@pytest.mark.parametrize("mode", MODES)
def test_output_that_is_not_utf_8(program: Program, pids: Callable[[], list[int]], mode: str) -> None:
    text = program("while read -r a; do printf 'm\\351dica\\n'; done; sleep 100")
    kept, message = failed(Command(text, {"mode": mode}), requests(2), pids)
    assert kept == []
    assert message == r"wrote a line that is not UTF-8: b'm\xe9dica\n'; make it write UTF-8"


def test_only_the_last_words_are_repeated(program: Program, pids: Callable[[], list[int]]) -> None:
    text = program(f'for n in 1 2 3 4 5; do echo "line $n" >&2; done; echo {"y" * 999} >&2; exit 1')
    _, message = failed(Command(text, {}), requests(1), pids)
    assert f"; it said: line 4 / line 5 / {'y' * 200} {KEPT}" in message


def test_the_whole_family_is_ended(program: Program, pids: Callable[[], list[int]]) -> None:
    """A shell script ends before the program it called; that one must not be left behind."""
    text = program("sh -c 'echo $$ >> \"$PIDS\"; sleep 100' & read -r a; echo uno; sleep 100")
    system = Command(text, {"timeout_seconds": "1.5"})
    with pytest.raises(SystemFailure, match="gave no further output"):
        list(system.answer(requests(2)))
    assert len(pids()) == 2
    wait_until(lambda: not any(map(is_alive, pids())), "both had ended")


@pytest.mark.parametrize("mode", MODES)
def test_nobody_wants_the_rest(program: Program, pids: Callable[[], list[int]], mode: str) -> None:
    """The store may fail, or the user may press Ctrl-C, between two portions or while the program thinks."""
    system = Command(program("read -r a; echo uno; sleep 100"), {"mode": mode, "timeout_seconds": "1.5"})
    answers = system.answer(requests(2))
    next(answers)
    wait_until(lambda: bool(pids()), "it had started")
    answers.close()
    assert not any(map(is_alive, pids()))


@pytest.mark.parametrize("mode", MODES)
def test_ctrl_c_while_it_thinks(
    program: Program, pids: Callable[[], list[int]], mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        wait_until(lambda: bool(pids()), "it had started")
        raise KeyboardInterrupt

    monkeypatch.setattr(command._LineProcess, "read", interrupted)
    system = Command(program("sleep 100"), {"mode": mode})
    with pytest.raises(KeyboardInterrupt):
        list(system.answer(requests(2)))
    assert not any(map(is_alive, pids()))


def test_after_a_failure_it_can_be_asked_again(program: Program, pids: Callable[[], list[int]], tmp_path: Path) -> None:
    """As a notebook does."""
    text = program(f"if [ -e {tmp_path}/mended ]; then while read -r a; do echo x; done; fi; exit 0")
    for mode in MODES:
        (tmp_path / "mended").unlink(missing_ok=True)
        system = Command(text, {"mode": mode})
        failed(system, requests(2), pids)
        (tmp_path / "mended").touch()
        assert translated(system, requests(2)) == ["x", "x"]


# -- what is refused before any work


def test_programs_that_cannot_be_run(tmp_path: Path) -> None:
    plain = tmp_path / "plain.sh"
    plain.write_text("#!/bin/sh\ncat\n")
    for path in ("no-such-program-anywhere", "./no/such/program.sh", str(tmp_path), str(plain)):
        with pytest.raises(UserError) as caught:
            Command(f"{path} --fast", {})
        assert str(caught.value) == (
            f"command {path!r} is not a program that can be run from here; give its path or make it executable"
        )
    plain.chmod(0o755)
    Command(str(plain), {})


def test_a_program_that_is_not_one(tmp_path: Path, pids: Callable[[], list[int]]) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    _, message = failed(Command(str(script), {}), requests(1), pids)
    assert message == "cannot be started: No such file or directory"


@pytest.mark.parametrize("text", ["cat 'unclosed", 'cat "', "cat \\"])
def test_quotes_that_are_not_closed(text: str) -> None:
    with pytest.raises(UserError, match=r"^command .* cannot be split into arguments: No (closing quotation|escaped)"):
        Command(text, {})


@pytest.mark.parametrize(
    ("text", "sign"),
    [("cat | tr a b", "|"), ("cat > out", ">"), ("tr a b < in", "<"), ("cat && cat", "&&"), ("cat; cat", ";")],
)
def test_what_only_a_shell_understands(text: str, sign: str) -> None:
    with pytest.raises(UserError) as caught:
        Command(text, {})
    assert str(caught.value) == (
        f"command: runs one program without a shell, so {sign!r} would be an argument of it; write "
        f"command:sh -c '{text}' (or quote the {sign!r} if it is meant so)"
    )


@pytest.mark.parametrize(
    "text", ["tr '|' ' '", 'tr ">" x', "sh -c 'cat | cat; cat'", r"echo \;", "cat --prefix=>>spa<<"]
)
def test_signs_that_are_the_program_s_own(text: str) -> None:
    Command(text, {})


@pytest.mark.parametrize("name", ["srouce", "taget", "src", "tgt", "Source"])
def test_a_misspelt_language(name: str) -> None:
    with pytest.raises(UserError) as caught:
        Command(f"cat --from {{{name}}}", {})
    assert str(caught.value) == (
        f"command: puts languages for {{source}} and {{target}}, and knows no {{{name}}}; write one of them"
    )


def test_braces_that_are_the_program_s_own() -> None:
    Command("awk '{print}'", {})
    Command("cat {source} {target} {}", {})


def test_no_program_at_all() -> None:
    with pytest.raises(UserError, match=r"^command: needs a program, for example command:\./translate\.sh$"):
        Command("  ", {})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mod": "batch"}, "system family command has no option 'mod'; available: mode, batch_size, timeout_seconds"),
        ({"mode": "fast"}, "option mode of a command is batch or stream, not 'fast'"),
        ({"batch_size": "many"}, "option batch_size must be a whole number, at least 1, not 'many'"),
        ({"batch_size": "0"}, "option batch_size must be a whole number, at least 1, not '0'"),
        ({"batch_size": "0.7"}, "option batch_size must be a whole number, at least 1, not '0.7'"),
        ({"timeout_seconds": "soon"}, "option timeout_seconds must be a number above 0, not 'soon'"),
        ({"timeout_seconds": "0"}, "option timeout_seconds must be a number above 0, not '0'"),
        ({"timeout_seconds": "nan"}, "option timeout_seconds must be a number above 0, not 'nan'"),
    ],
)
def test_options_that_are_not(options: dict[str, str], words: str) -> None:
    with pytest.raises(UserError) as caught:
        Command("cat", options)
    assert str(caught.value) == words


def test_options_that_are(program: Program) -> None:
    text = program("while read -r a; do echo x; done")
    system = Command(text, {"batch_size": "7", "timeout_seconds": "1e30"})
    assert system.batch_size == 7
    assert translated(system, requests(1)) == ["x"]  # longer than any clock goes, yet no trouble


# -- which system it is


def test_an_edited_program_is_another_system(program: Program, tmp_path: Path) -> None:
    model = tmp_path / "model.bin"
    model.write_text("weights")

    def system_id(body: str = "cat", argument: str = str(model), options: dict[str, str] | None = None) -> str:
        return Command(program(body, argument), options or {}).system_id

    before = system_id()
    assert system_id() == before
    assert system_id(options={"mode": "stream", "batch_size": "3"}) == before  # how it is asked, not what it says
    assert system_id("cat -u") != before
    assert system_id(argument="--beam=1") != before
    model.write_text("other weights")
    assert system_id() != before
    model.write_text("weights")
    assert system_id() == before
    assert before.startswith(f"command:{program('cat', str(model))}#")


def test_a_script_after_its_interpreter_counts_too(program: Program) -> None:
    assert (
        Command(program("a = 1", language="py"), {}).system_id != Command(program("a = 2", language="py"), {}).system_id
    )


# -- keys


SECRET = "sk-c0mmand-7h2Qz91LmXv"


def test_a_key_is_no_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", SECRET)
    with pytest.raises(UserError) as caught:
        Command(f"cat --key={SECRET}", {})
    assert str(caught.value) == (
        "command: takes no key among its arguments, where others could read it; let the program read MY_API_KEY itself"
    )
    monkeypatch.setenv("MY_API_KEY", "cat")  # what is no key by itself is none
    Command("cat", {}).close()


@pytest.mark.parametrize("mode", ["batch", "stream"])
def test_a_key_that_a_program_says(
    program: Program, pids: Callable[[], list[int]], monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setenv("MY_TOKEN", SECRET)
    said = Command(program('echo "no entry with $MY_TOKEN" >&2; exit 3'), {"mode": mode})
    assert "it said: no entry with ***" in failed(said, requests(1), pids)[1]
    written = Command(program('read line; echo "401 $MY_TOKEN"'), {"mode": mode})
    assert failed(written, requests(1), pids)[1] == (
        "writes the key in MY_TOKEN as a translation, which is not kept; make it write translations only "
        "(finished translations are kept; rerun to resume)"
    )
