"""`rerank:` and `hinted:`: reranking corrects what can be corrected, hints reach the system, nothing else changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from gendermark import api, registry
from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import UserError
from gendermark.names import readable
from gendermark.records import Gender, Request, Task, Translation
from gendermark.runs.translate import translate
from gendermark.systems.system import System, open_system
from gendermark.systems.wrappers import Hinted, Rerank, by_probability, split_wrapped

HERSELF = "The doctor hurt herself."
WAVED = "The doctor waved."


def judged(spec: str, name: str, n: int = 0) -> tuple[ItemSet, list[list[Translation]], list[bool]]:
    """What a system says of some of a bundled set, and which of it is right; or its n samples, right if any is."""
    benchmark: Benchmark = registry.load("benchmark", name)
    item_set = benchmark.load(api.select(name, "es", data="core")[1])
    item_set = replace(item_set, items=item_set.items[::7])
    requests = benchmark.requests(item_set)
    system = open_system(spec)
    if n:
        requests = [Request(r.source, "en", "es", Task.SAMPLE, n_samples=n) for r in requests]
    system.prepare(benchmark, item_set, requests)
    answers = [list(found) for found in translate(system, requests, None, lambda *_: None).translations]
    n_each = n or 1
    each = [[[found[k]] for found in answers] for k in range(n_each)]
    right = [[j.is_correct for j in benchmark.judge(item_set, one)] for one in each]
    return item_set, answers, [any(column) for column in zip(*right, strict=True)]


class Recorder(System):
    """Answers from a table, and remembers what it was asked."""

    spec = system_id = "recorder:x"
    tasks = frozenset({Task.TRANSLATE, Task.SAMPLE})

    def __init__(self, said: Sequence[str] = ("El doctor.",), takes_hints: bool = False) -> None:
        self.said, self.takes_hints = said, takes_hints
        self.asked: list[Request] = []

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        self.asked += requests
        for request in requests:  # one by one, as servers answer
            yield [Translation(request.request_id, self.said[n % len(self.said)], n) for n in request.samples]


def ask(system: System, *sources: str) -> list[str | None]:
    requests = [Request(source, "en", "es") for source in sources]
    return [answer.text for portion in system.answer(requests) for answer in portion]


# -- rerank


def test_reranking_mends_a_system_that_draws_both_genders_wherever_a_draw_is_right() -> None:
    _, _, first = judged("fake:random", "simplegen")
    _, _, possible = judged("fake:random", "simplegen", n=4)
    _, _, reached = judged("rerank:fake:random?n=4", "simplegen")
    assert reached == possible
    assert sum(first) / len(first) == pytest.approx(0.5, abs=0.1)
    assert sum(reached) / len(reached) == pytest.approx(1 - 0.5**4, abs=0.05)


def test_nothing_changes_where_the_source_does_not_tell() -> None:
    item_set, plain, _ = judged("fake:random", "winomt")
    _, reranked, _ = judged("rerank:fake:random", "winomt")
    assert reranked == plain  # the bundled sentences tell by sense only
    _, with_gold, right = judged("rerank:fake:random?reader=gold&n=12", "winomt")
    opened = [item.expected is Gender.NEUTRAL for item in item_set.items]
    assert [a for a, is_open in zip(with_gold, opened, strict=True) if is_open] == [
        a for a, is_open in zip(plain, opened, strict=True) if is_open
    ]
    told = [is_right for is_right, is_open in zip(right, opened, strict=True) if not is_open]
    assert sum(told) / len(told) > 0.97  # the fake says only the noun, which can fit the other person as well


def test_only_what_is_wrong_is_asked_again_and_the_notes_count_it() -> None:
    inner = Recorder(("El doctor.", "El médico.", "La doctora."))
    system = Rerank("recorder:x", {"n": "3"}, inner)
    requests = [Request(source, "en", "es") for source in (HERSELF, WAVED, "The doctor hurt himself.")]
    found = []
    for portion in system.answer(requests):
        found += [(requests.index(next(r for r in requests if r.request_id == a.request_id)), a.text) for a in portion]
        # What is right is handed over before candidates are asked for.
        assert len(found) == 3 or all(request.task is Task.TRANSLATE for request in inner.asked)
    assert found == [(1, "El doctor."), (2, "El doctor."), (0, "La doctora.")]
    assert [(r.source, r.n_samples) for r in inner.asked if r.task is Task.SAMPLE] == [(HERSELF, 3)]
    (note,) = system.notes()
    assert note.startswith("rerank:recorder:x?n=3 ")
    assert re.findall(r"\b\d+\b", note)[1:] == ["3", "2", "1", "1"]  # read, gendered, wrong, replaced


def test_the_first_answer_stays_if_no_candidate_fits() -> None:
    assert ask(Rerank("recorder:x", {}, Recorder(("El doctor.", "Un médico."))), HERSELF) == ["El doctor."]


def test_candidates_are_taken_by_probability_else_by_how_often_they_were_drawn() -> None:
    def said(text: str, sample: int, log_probability: float | None = None) -> Translation:
        return Translation("x", text, sample, log_probability=log_probability, n_tokens=1)

    assert [a.text for a in by_probability([said("a", 0, -3.0), said("b", 1, -1.0)])] == ["b", "a"]
    assert [a.text for a in by_probability([said("a", 0), said("b", 1), said("b", 2)])] == ["b", "b", "a"]
    assert by_probability([Translation("x", None, 0, "too long")]) == []


def test_the_best_of_a_search_are_listed() -> None:
    pytest.importorskip("ctranslate2", reason="the demonstration model is run by CTranslate2")
    system = open_system("demo:en-es")
    requests = [Request("The nurse said that he would call back tomorrow.", "en", "es"), Request(" ", "en", "es")]
    found = [answer for portion in system.n_best(requests, 4) for answer in portion]
    own = [answer for answer in found if answer.request_id == requests[0].request_id]
    assert [answer.sample for answer in own] == [0, 1, 2, 3]
    assert len({answer.text for answer in own}) == 4
    assert by_probability(own) == own
    assert [answer.text for answer in found if answer not in own] == [""]
    (reranked,) = ask(Rerank("demo:en-es", {}, system), requests[0].source)
    assert reranked == "El enfermero dijo que volvería a llamar mañana."
    assert ask(system, requests[0].source) == ["La enfermera dijo que volvería a llamar mañana."]


# -- hinted


def test_the_system_gets_the_hint_and_the_user_does_not() -> None:
    inner = Recorder(("La doctora femenina.",))
    system = Hinted("recorder:x", {"style": "adjective"}, inner)
    assert ask(system, HERSELF, WAVED) == ["La doctora.", "La doctora femenina."]
    assert [request.source for request in inner.asked] == ["The female doctor hurt herself.", WAVED]
    (note,) = system.notes()
    assert re.findall(r" (\d+)\b", note) == ["2", "1", "1", "0"]  # read, hinted, removed, kept


def test_two_sources_that_become_one_have_an_answer_each() -> None:
    system = Hinted("recorder:x", {}, Recorder(("La doctora.",)))
    requests = [Request(source, "en", "es") for source in (HERSELF, "The female doctor hurt herself.")]
    found = [answer.request_id for portion in system.answer(requests) for answer in portion]
    assert found == [request.request_id for request in requests]


def test_samples_have_hints_too_and_a_model_with_a_prompt_gets_them_beside_the_text() -> None:
    inner = Recorder(takes_hints=True)
    system = Hinted("recorder:x", {}, inner)
    request = Request(HERSELF, "en", "es", Task.SAMPLE, options=(("top_p", "0.5"),), n_samples=2)
    assert [answer.sample for portion in system.answer([request]) for answer in portion] == [0, 1]
    assert inner.asked[0].source == HERSELF
    assert inner.asked[0].options == (("hint", "Note: The doctor is a woman."), ("top_p", "0.5"))


# -- both


def test_options_go_to_whom_they_belong() -> None:
    def split(argument: str, options: dict[str, str] | None = None) -> Any:
        return split_wrapped("rerank", argument, options or {}, ("n", "reader"))

    assert split("demo:en-es?beam_size=2&n=8") == ("demo:en-es?beam_size=2", {"n": "8"}, {})
    assert split("demo:en-es?beam_size=2") == ("demo:en-es?beam_size=2", {}, {})
    assert split("openai:http://h/v1?x=1#m", {"n": "2", "seed": "1"}) == (
        "openai:http://h/v1?x=1#m",
        {"n": "2"},
        {"seed": "1"},
    )
    nested = open_system("rerank:hinted:fake:right?style=context&p=0.5&n=3", {"seed": "7"})
    assert nested.spec == "rerank:hinted:fake:right?p=0.5&seed=7&style=context&n=3"
    assert readable("rerank:hinted:demo:en-es?n=3") == "rerank hinted demo model (n=3)"


def test_what_is_stored_is_named_by_all_that_decides_it() -> None:
    around = ("", "rerank:", "hinted:")
    specs = [f"{family}fake:right{query}" for family in around for query in ("", "?p=0.5")]
    specs += ["rerank:fake:right?n=4", "rerank:fake:right?reader=gold", "hinted:fake:right?style=context"]
    names = [open_system(spec).system_id for spec in specs]
    assert len(set(names)) == len(names)


def test_a_worker_is_told_what_the_driver_knows() -> None:
    benchmark: Benchmark = registry.load("benchmark", "winomt")
    item_set = benchmark.load(api.select("winomt", "es", data="core")[1])
    requests = benchmark.requests(item_set)[:40]
    driver, worker = (open_system("rerank:fake:random?reader=gold") for _ in range(2))
    driver.prepare(benchmark, item_set, benchmark.requests(item_set))
    worker.brief(driver.briefing(requests), requests)
    assert list(worker.answer(requests)) == list(driver.answer(requests))


@pytest.mark.parametrize(
    ("spec", "token"),
    [
        ("rerank:en-es", "rerank:demo:en-es"),
        ("rerank:fake:right?n=0", "option n must"),
        ("rerank:fake:right?m=3", "'m'"),
        ("rerank:fake:right?reader=me", "reader must be one of source, gold, not 'me'"),
        ("rerank:nobody:x", "nobody"),
        ("rerank:command:cat", "demo:..."),  # systems that can
        ("hinted:files:x.txt", "files:x.txt"),
        ("hinted:fake:right?style=loud", "adjective, apposition, context, tag, not 'loud'"),
        ("hinted:fake:right?style=prompt", "'prompt'"),
        ("hinted:fake:right?style=tag&feminine=F", "style=tag"),
        ("hinted:fake:right?feminine=F&masculine=M", "style=tag"),
    ],
)
def test_a_wrong_spec_is_refused(spec: str, token: str) -> None:
    with pytest.raises(UserError, match=re.escape(token)):
        open_system(spec)


def test_languages_that_cannot_be_read_are_refused() -> None:
    system = Rerank("recorder:x", {}, Recorder())
    for direction, language in ((("en", "ja"), "ja"), (("de", "es"), "de")):
        with pytest.raises(UserError, match=f"'{language}'"):
            system.check(*direction, [])
    Hinted("recorder:x", {}, Recorder()).check("en", "ja", [])  # traces of the hint then stay


def test_gold_genders_need_a_benchmark() -> None:
    with pytest.raises(UserError, match="reader=gold"):
        Rerank("recorder:x", {"reader": "gold"}, Recorder()).check("en", "es", [])
