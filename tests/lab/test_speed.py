"""`study speed`: known systems land where they must, time is taken anew and kept, and what it refuses."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gendermark import registry
from gendermark.errors import UserError
from gendermark.lab.speed import tables, timing
from gendermark.lab.speed.drops import max_drop, price_of, relative_drop, trend
from gendermark.lab.speed.measured import Measured, Study
from gendermark.lab.speed.page import write_files
from gendermark.lab.speed.points import Grid, Point, read_against, read_vary
from gendermark.lab.speed.study import Settings, study_speed
from gendermark.lab.speed.timing import Diary, Rounds, Timing, machine, measure, median_of
from gendermark.lab.speed.words import findings
from gendermark.metrics.metric import Resampling
from gendermark.runs.compare import Comparison
from gendermark.runs.run import RunContext
from gendermark.systems import fakes
from gendermark.systems.fakes import Fake
from gendermark.systems.system import System
from outcomes import Outcome

QUICKLY = Resampling(200)
SLOW, FAST = "fake:right?p=0.9&delay_ms=1", "fake:right?p=0.6&delay_ms=0.2"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("speed")


@pytest.fixture
def own_sentences(tmp_path: Path) -> str:
    """A few sentences in all four groups, so that a real model is quick."""
    lines = ["source\tgender\tentity\tstereotype"]
    for job, person, gender in (
        ("nurse", "woman", "feminine"),
        ("nurse", "man", "masculine"),
        ("engineer", "woman", "feminine"),
        ("engineer", "man", "masculine"),
        ("plumber", "woman", "feminine"),
        ("secretary", "man", "masculine"),
    ):
        typical = "feminine" if job in ("nurse", "secretary") else "masculine"
        lines.append(f"The {job} is a kind {person}.\t{gender}\t{job}\t{typical}")
    path = tmp_path / "own.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"file:{path}"


class _Clock:
    """Time passes where a fake system waits, up to a tenth longer than it should, and nowhere else."""

    def __init__(self) -> None:
        self._now, self._chance = 0.0, random.Random(5)

    def sleep(self, seconds: float) -> None:
        self._now += seconds * (1 + self._chance.random() / 10)

    def perf_counter(self) -> float:
        return self._now

    process_time = perf_counter


@pytest.fixture(scope="module")
def known(places: Path) -> Study:
    """A system that is right 90 times of 100, and one that is five times as fast and right 60 times."""
    grid = Grid(SLOW, against=[Point("hasty", FAST), Point("biased", "fake:stereotyped?s=0.8&delay_ms=0.2")])
    settings = Settings(grid, "es", also=("winomt",), timing=Timing(7, 64), resampling=QUICKLY)
    clock = _Clock()
    with pytest.MonkeyPatch.context() as patch:
        for module in (timing, fakes):
            patch.setattr(module, "time", clock)
        found = study_speed(settings, places / "known", RunContext(places / "store.sqlite"))
    write_files(found, places / "known", "gendermark study speed ...")
    return found


def test_known_systems_land_where_they_must(known: Study) -> None:
    base, hasty, biased = known.points
    assert base.is_baseline
    fast = hasty.times_as_fast(0.95)
    assert fast.value == pytest.approx(5, rel=0.05)
    assert fast.low is not None
    assert 4.5 < fast.low < fast.value < 5.5
    for column in ("pro", "anti", "FOFC", "MOFC", "MOMC", "FOMC"):
        change = hasty.changes[column]
        assert change.change() == "worse"
        assert change.difference == pytest.approx(-30, abs=6)
        assert known.drop(hasty, column) == pytest.approx(100 / 3, abs=6)
    assert hasty.changes["Δ"].change() == "unclear"
    # Always right where it fits the stereotype, one time of five where it does not.
    assert biased.value("pro") == 100
    assert biased.value("anti") == pytest.approx(20, abs=3)
    assert biased.changes["Δ"].change() == "worse"
    assert any(column.startswith("WinoMT: ") for column in hasty.others)
    assert "worse" in {hasty.changes[column].change() for column in hasty.others}
    price, saved = hasty.price(0.95), hasty.saved(0.95)
    assert price.value is not None
    assert price.value == pytest.approx(30 / saved.value, rel=0.2)
    assert price.low is not None
    assert price.high is not None
    assert price.low < price.value < price.high
    assert base.price(0.95).value is None  # it saved no time


def test_what_is_found_in_words(known: Study) -> None:
    hasty, biased = findings(known)
    assert hasty.startswith("hasty is ")
    assert " times as fast (" in hasty
    assert "women in men's occupations 3" in hasty or "women in men's occupations 2" in hasty
    assert " points worse (" in hasty
    assert "stereotype's advantage" not in hasty  # no clear change
    assert "the stereotype's advantage (Δ)" in biased
    assert " points larger (" in biased


def test_all_files_are_there_and_agree(known: Study, places: Path) -> None:
    output = places / "known"
    record = json.loads((output / "speed.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    report = record["report"]
    assert [point["name"] for point in report["points"]] == [point.name for point in known.points]
    assert set(report["max_drops"]) == {"fastest", "worst", "range"}
    assert report["points"][1]["changes"]["MOFC"]["p_adjusted"] < 0.05
    assert report["points"][0]["arithmetic"]["paper"]["pro"] == pytest.approx(
        report["points"][0]["values"]["pro"]["value"]
    )
    assert report["machine"]["cores"] == os.cpu_count()
    assert all((output / "runs" / point.slug / "manifest.json").is_file() for point in known.points)
    page, markdown, latex = (
        (output / name).read_text(encoding="utf-8") for name in ("speed.html", "table.md", "table.tex")
    )
    for sentence in findings(known):
        assert sentence.replace("'", "&#x27;") in page
        assert sentence in markdown
    rows = [line for line in latex.splitlines() if line.endswith(r"\\")]
    assert len({line.count("&") for line in rows}) == 1
    assert len(rows) == 1 + len(known.points) + 3
    assert r"\Delta" in rows[0]
    for name in ("figure-1", "figure-a2"):
        drawn = (output / f"{name}.svg").read_text(encoding="utf-8")
        assert drawn.count("<path d=") >= 2  # the lines of the trends
        assert "hasty: time" in drawn
    assert "In the paper" in page


def test_time_is_taken_anew_and_goes_on(known: Study, places: Path) -> None:
    """More rounds are added to those that are there; the store, which has all translations, is not asked."""
    before = (places / "known" / "timings.jsonl").read_text(encoding="utf-8")
    grid = Grid(SLOW, against=[Point("hasty", FAST), Point("biased", "fake:stereotyped?s=0.8&delay_ms=0.2")])
    settings = Settings(grid, "es", also=("winomt",), timing=Timing(8, 64), resampling=QUICKLY)
    found = study_speed(settings, places / "known", RunContext(places / "store.sqlite"))
    after = (places / "known" / "timings.jsonl").read_text(encoding="utf-8")
    assert after.startswith(before)
    assert len(after.splitlines()) == 1 + 8
    assert all(seconds >= 1.0 for seconds in found.rounds.seconds(known.baseline.name))  # 1 ms for each of 1,000


KILLED = """
import sys
from pathlib import Path
from gendermark.lab.speed.points import Grid, Point
from gendermark.lab.speed.study import Settings, study_speed
from gendermark.lab.speed.timing import Timing
grid = Grid("fake:right?p=0.9&delay_ms=3", against=[Point("other", "fake:right?p=0.6&delay_ms=3")])
study_speed(Settings(grid, "es", data=sys.argv[2], timing=Timing(int(sys.argv[3]), 512)), Path(sys.argv[1]))
"""


def test_a_kill_loses_the_round_under_way_and_no_other(tmp_path: Path, own_sentences: str) -> None:
    diary = tmp_path / "study" / "timings.jsonl"
    program = [sys.executable, "-c", KILLED, str(tmp_path / "study"), own_sentences]
    with subprocess.Popen([*program, "100000"]) as running:
        until = time.monotonic() + 120
        while not (diary.exists() and len(diary.read_bytes().splitlines()) >= 4):
            assert running.poll() is None
            assert time.monotonic() < until
            time.sleep(0.02)
        running.send_signal(signal.SIGKILL)
    kept = diary.read_text(encoding="utf-8").splitlines()
    n = len(kept)
    diary.write_text("\n".join(kept) + '\n{"torn', encoding="utf-8")
    subprocess.run([*program, str(n + 1)], check=True)
    rows = diary.read_text(encoding="utf-8").splitlines()
    assert rows[: n - 1] == kept[: n - 1]
    assert [set(json.loads(row)) for row in rows[1:]] == [{"right (fake, p=0.9, delay_ms=3)", "other"}] * (n + 1)


# -- time -------------------------------------------------------------------------------------------------------------


def test_the_interval_of_a_median_holds_what_it_should() -> None:
    assert median_of([3.0, 1.0, 2.0]) == median_of([1.0, 2.0, 3.0])
    assert median_of([1.0] * 5).low is None, "five rounds reach 93.75 % only"
    six = median_of([float(n) for n in range(6)])
    assert (six.low, six.high) == (0.0, 5.0)
    nine = median_of([float(n) for n in range(9)])
    assert (nine.value, nine.low, nine.high) == (4.0, 1.0, 7.0)
    assert median_of([float(n) for n in range(9)], 0.99).low == 0.0


def test_rounds_of_another_machine_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "timings.jsonl"
    first = Diary(path, {"machine": "a", "points": 1})
    first.add({"x": {"wall": 1.0, "cpu": 1.0}})
    assert Diary(path, {"machine": "a", "points": 1}).rounds == [{"x": {"wall": 1.0, "cpu": 1.0}}]
    other = Diary(path, {"machine": "b", "points": 1})
    assert (other.rounds, other.forgot) == ([], ["machine"])


def test_every_point_has_its_turn_in_every_round(tmp_path: Path) -> None:
    asked: list[str] = []

    def opened(name: str) -> Callable[[], Any]:
        @contextmanager
        def ready() -> Iterator[System]:
            asked.append(name)
            yield _Counted("right", {})

        return ready

    found = measure(
        Diary(tmp_path / "t.jsonl", {}),
        {name: opened(name) for name in "abc"},
        [None] * 20,
        Timing(9, 20),  # type: ignore[list-item]
    )
    rounds = [asked[start : start + 3] for start in range(0, 27, 3)]
    assert all(sorted(one) == ["a", "b", "c"] for one in rounds)
    assert len({tuple(one) for one in rounds}) > 1, "not always in the same order"
    assert len(found.rounds) == 9


class _Counted(Fake):
    def answer(self, requests: Any) -> Iterator[Any]:
        yield requests


def test_the_machine_is_signed() -> None:
    assert {"processor", "cores", "python", "gendermark", "threads_of_libraries", "ctranslate2"} <= set(machine())


# -- arithmetic -------------------------------------------------------------------------------------------------------


def test_drops_of_nothing_are_none() -> None:
    assert relative_drop(0.0, 1.0) is None
    assert relative_drop(None, 1.0) is None
    assert relative_drop(50.0, 60.0) == -20
    assert max_drop("worst", [50.0, None], [2.0, 1.0]) is None
    assert trend([(0.0, 0.0), (1.0, 1.0)]) is None
    assert trend([(1.0, 0.0), (1.0, 1.0), (1.0, 2.0)]) is None
    assert trend([]) is None
    assert trend([(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]) == pytest.approx((2.0, 1.0))


def test_the_three_max_drops_differ() -> None:
    values, seconds = [40.0, 50.0, 30.0, 36.0], [4.0, 3.0, 2.0, 1.0]
    assert [max_drop(how, values, seconds) for how in ("fastest", "worst", "range")] == [10.0, 25.0, 40.0]


def _change(difference: float | None) -> Comparison:
    return Comparison("c", "m", "s", 50.0, 50.0, "higher", 10, difference)


def test_the_price_of_speed_is_undefined_where_no_time_was_gained() -> None:
    assert price_of(_change(-3.0), [0.0] * 7, 0.95).value is None
    assert price_of(_change(-3.0), [-1.0] * 7, 0.95).value is None
    mixed = price_of(_change(-3.0), [-0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 0.95)
    assert (mixed.value, mixed.reason) == (None, "no time was clearly saved")
    assert price_of(None, [1.0] * 7, 0.95).value is None
    assert price_of(_change(-3.0), [2.0] * 7, 0.95).value == 1.5
    few = price_of(_change(-3.0), [2.0] * 3, 0.95)
    assert (few.value, few.low, few.reason) == (1.5, None, "there are too few rounds for an interval")


def _study(ratios: list[float], changes: dict[str, Comparison]) -> Study:
    rounds = Rounds(
        ("slow", "fast"),
        tuple({"slow": {"wall": r, "cpu": r}, "fast": {"wall": 1.0, "cpu": 1.0}} for r in ratios),
        "wall",
    )
    one = Measured("slow", "slow", "x:y", {}, {}, (), {}, rounds, "slow")
    two = Measured("fast", "fast", "x:z", {}, changes, (), {}, rounds, "slow")
    return Study((one, two), 0, rounds, "en-es", {}, (), 0.95)


def test_only_what_is_clear_is_told_as_a_change() -> None:
    clear = Comparison("c", "correct", "mofc", 50.0, 46.9, "higher", 10, -3.1, -5.9, -0.4, 0.01, 0.04)
    unclear = Comparison("c", "correct", "mofc", 50.0, 46.9, "higher", 10, -3.1, -6.9, 0.4, 0.1, 0.2)
    same = Comparison("bleu", "bleu", "all", 30.0, 30.0, "higher", 10, 0.0, 0.0, 0.0, 1.0, 1.0)
    assert findings(_study([1.8] * 7, {"BLEU": same, "MOFC": clear})) == [
        "fast is 1.80 times as fast (1.80 to 1.80), BLEU unchanged, women in men's occupations 3.1 points worse "
        "(0.4 to 5.9)."
    ]
    assert findings(_study([0.9, 1.1, 1.0, 1.0, 1.2, 0.8, 1.0], {"BLEU": same, "MOFC": unclear})) == [
        "fast is not clearly faster or slower (0.80 to 1.20 times as fast), BLEU unchanged, no clear change for women "
        "in men's occupations (−6.9 to +0.4 points)."
    ]
    corrected = Comparison("c", "correct", "mofc", 50.0, 46.9, "higher", 10, -3.1, -5.9, -0.4, 0.03, 0.2)
    (told,) = findings(_study([2.0] * 7, {"MOFC": corrected}))
    assert "women in men's occupations 3.1 points worse (0.4 to 5.9), which could be chance." in told
    nobody = Comparison("c", "correct", "mofc", 0.0, 0.0, "higher", 10, 0.0, 0.0, 0.0, 1.0, 1.0)
    assert "women in men's occupations never right, as before." in findings(_study([2.0] * 7, {"MOFC": nobody}))[0]
    assert tables.changes(_study([2.0] * 7, {"BLEU": same})).rows[0][-1] == "unchanged"
    assert tables.changes(_study([2.0] * 7, {"MOFC": corrected})).rows[0][-1] == "unclear"
    tiny = Comparison("bleu", "bleu", "all", 30.0, 30.02, "higher", 10, 0.02, 0.01, 0.03, 0.001, 0.002)
    assert "BLEU changed by less than 0.1." in findings(_study([2.0] * 7, {"BLEU": tiny}))[0]
    assert "takes 2.0 times as long (2.0 to 2.0)" in findings(_study([0.5] * 7, {}))[0]
    assert "was 2.0 times as fast in 3 rounds, too few for an interval" in findings(_study([2.0] * 3, {}))[0]
    assert tables.prices(_study([0.5] * 7, {"MOFC": clear})).rows[1][-1] == "no time was clearly saved"


# -- points -----------------------------------------------------------------------------------------------------------


def test_a_grid_has_every_combination_and_names_it() -> None:
    points = Grid("demo:en-es", read_vary(["compute_type=float32,int8", "beam_size=5,1"]), options={"threads": "1"})
    found = points.points()
    assert [p.name for p in found] == ["float32, beam 5", "float32, beam 1", "int8, beam 5", "int8, beam 1"]
    assert found[3].options == {"threads": "1", "compute_type": "int8", "beam_size": "1"}
    assert [p.name for p in Grid("demo:en-es").points()] == [p.name for p in found], "what the family offers"
    assert [p.name for p in Grid("demo:en-es?beam_size=2").points()] == ["float32", "int8"], "what is said is fixed"
    against = read_against(["small=ctranslate2:models/a?beam_size=1", "ctranslate2:models/b?beam_size=1"])
    assert [(p.name, p.spec) for p in against] == [
        ("small", "ctranslate2:models/a?beam_size=1"),
        ("b (beam_size=1)", "ctranslate2:models/b?beam_size=1"),
    ]
    assert [p.name for p in Grid("demo:en-es", against=against).points()] == ["demo en-es", "small", "b (beam_size=1)"]


@pytest.mark.parametrize("family", ["demo", "ctranslate2", "hf", "torch"])
def test_every_engine_says_what_makes_it_fast(family: str) -> None:
    offered = registry.sibling("system", family, "FASTER", {})
    assert set(offered) <= set(registry.sibling("system", "ctranslate2" if family == "demo" else family, "OPTIONS", ()))
    assert all(len(values) > 1 for values in offered.values())


# -- the verb ---------------------------------------------------------------------------------------------------------


def test_the_bundled_model_from_nothing_to_page(
    study: Callable[..., Outcome], tmp_path: Path, own_sentences: str
) -> None:
    source, reference = tmp_path / "source", tmp_path / "reference"
    source.write_text("The nurse smiled.\nThe engineer lived alone.\n" * 4, encoding="utf-8")
    reference.write_text("La enfermera sonrió.\nEl ingeniero vivía solo.\n" * 4, encoding="utf-8")
    arguments = ["speed", "--system", "demo:en-es", "--to", "es", "--data", own_sentences, "--vary", "beam_size=4,1"]
    arguments += ["--test-set", source, reference, "--repeats", "6", "--timed", "4", "-o", tmp_path / "out"]  # type: ignore[list-item]
    piped = study(*arguments, "--baseline", "beam 1")
    assert piped.exit_code == 0, piped.err
    assert [row["point"] for row in piped.rows][:2] == ["beam 4", "beam 1"]
    assert all(row["BLEU"] for row in piped.rows)
    assert "beam 4 takes " in piped.err or "beam 4 is " in piped.err
    report = study(*arguments, "--baseline", "beam 1", "--json", "--clock", "cpu").json
    assert report["clock"] == "cpu"
    assert report["baseline"] == "beam 1"
    assert [len(point["rounds"]["wall"]) for point in report["points"]] == [6, 6]
    assert report["systems"]["beam 4"]["decoding"].startswith("beam4")
    assert "workers" in report["systems"]["beam 4"]["computing"]
    refused = study(*arguments)
    assert refused.exit_code == 2
    assert "holds another study (it differs in baseline)" in refused.err


class _Server(Fake):
    asks_a_server = True


def test_the_time_of_a_server_is_not_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_sentences: str
) -> None:
    monkeypatch.setitem(registry.BUILT_IN["system"], "served", f"{__name__}:_Server")
    grid = Grid("served:right", against=[Point("other", "fake:masculine"), Point("again", "fake:masculine")])
    settings = Settings(grid, "es", data=own_sentences, timing=Timing(1, 2), resampling=QUICKLY)
    notes = study_speed(settings, tmp_path / "out").notes
    assert any(note.startswith("right asks a server: its time is that of the network") for note in notes)
    assert any("again computes the same as other here" in note for note in notes)
    assert any("so time is taken on SimpleGEN's" in note for note in notes)


DEMO = ("--system", "demo:en-es", "--to", "es")


def test_options_that_change_the_time_alone_are_not_called_noise(tmp_path: Path, own_sentences: str) -> None:
    grid = Grid("demo:en-es", {"batch_size": ("1", "8")}, [Point("again", "demo:en-es?batch_size=1")])
    few = (tmp_path / "few.en", tmp_path / "few.es")
    for path, sentence in zip(few, ("The {} finished the work.", "El {} terminó el trabajo."), strict=True):
        path.write_text(
            "".join(sentence.format(name) + "\n" for name in ("plumber", "nurse", "guard")), encoding="utf-8"
        )
    settings = Settings(grid, "es", test_set=few, data=own_sentences, timing=Timing(1, 2), resampling=QUICKLY)
    found = study_speed(settings, tmp_path / "out")
    assert "batch size 8 and batch size 1 say the same by design: these options change the time alone" in found.notes
    assert "again computes the same as batch size 1 here; what differs in time is noise" in found.notes
    assert not any("batch size 8 computes" in note for note in found.notes)
    # Every number has its interval on the page and in the table.
    assert {row[1] for row in tables.intervals(found).rows} >= {"BLEU", "chrF", "pro", "MOFC"}
    assert "Every number with its interval" in tables.markdown(found)


FAKES = ("--system", "fake:right", "--to", "es", "--against", "fake:masculine")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*DEMO, "--vary", "beams=5,1"), "has no option 'beams'; available: compute_type"),
        ((*DEMO, "--vary", "compute_type=float32,int3"), "compute_type=int3 is not one of CTranslate2's; available"),
        ((*DEMO, "--vary", "compute_type=float32,bfloat16"), "compute_type=bfloat16 does not work on this cpu"),
        ((*DEMO, "--vary", "beam_size=1"), "one point has nothing to be compared with: beam 1; give --vary with"),
        ((*DEMO, "--vary", "beam_size"), "--vary takes KEY=V1,V2, for example beam_size=5,1, not 'beam_size'"),
        ((*DEMO, "--vary", "beam_size=5", "--vary", "beam_size=1"), "--vary beam_size is given twice"),
        ((*DEMO, "--clock", "sun"), "unknown clock 'sun'"),
        (
            (*DEMO, "--baseline", "int8"),
            "there is no point 'int8' for --baseline; there are float32, beam 5; float32",
        ),
        ((*DEMO, "--against", "demo:en-es"), "two points are called demo en-es; name them apart"),
        ((*DEMO, "--also", "winobias"), "unknown benchmark 'winobias'"),
        (("--system", "fake:right", "--to", "es"), "nothing is known that would make fake:right faster; say what"),
        (("--system", "demo", "--to", "es"), "write a system as family:argument, not 'demo'"),
        (("--system", "demo:en-es", "--to", "de", "--vary", "beam_size=5,1"), "translates en-es"),
        ((*FAKES, "--against", "files:there.txt"), "so it has no time of its own; give a system that translates"),
    ],
)
def test_what_is_refused(study: Callable[..., Outcome], tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    done = study("speed", *arguments, "-o", tmp_path / "out")
    assert done.exit_code == 2, done.err
    assert said in " ".join(done.err.split())
    assert "Traceback" not in done.err
    assert not (tmp_path / "out").exists()


def test_a_test_set_of_unequal_lines_is_refused(study: Callable[..., Outcome], tmp_path: Path) -> None:
    (tmp_path / "source").write_text("a\nb\n", encoding="utf-8")
    (tmp_path / "reference").write_text("a\n", encoding="utf-8")
    done = study("speed", *DEMO, "--test-set", tmp_path / "source", tmp_path / "reference", "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert "has 2 lines and" in done.err
    assert "--test-set takes a file of sentences and one with the translation of each" in " ".join(done.err.split())


def test_a_place_that_cannot_be_written_is_refused(study: Callable[..., Outcome], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    is_file = study("speed", *FAKES, "-o", tmp_path / "file")
    assert "is a file; choose a directory with -o" in is_file.err
    below = study("speed", *FAKES, "-o", tmp_path / "file" / "below")
    assert (is_file.exit_code, below.exit_code) == (2, 2)
    assert "Not a directory" in below.err
    (tmp_path / "other" / "runs").mkdir(parents=True)
    with pytest.raises(UserError, match="is there already and not of this study"):
        study_speed(Settings(Grid("fake:right", against=[Point("b", "fake:coin")]), "es"), tmp_path / "other")


def test_without_a_test_set_time_is_taken_on_the_benchmark(tmp_path: Path, own_sentences: str) -> None:
    grid = Grid("fake:right", against=[Point("other", "fake:masculine")])
    settings = Settings(grid, "de", data=own_sentences, timing=Timing(1, 2), resampling=QUICKLY)
    found = study_speed(settings, tmp_path / "out")
    assert "BLEU" not in found.columns
    assert found.facts["timed_on"] == "SimpleGEN"


@pytest.mark.usefixtures("_one_thread")
def test_a_hugging_face_directory_is_compared_alike(tmp_path: Path, marian: Path, own_sentences: str) -> None:
    timing = Timing(1, 2)
    settings = Settings(Grid(f"hf:{marian}"), "es", data=own_sentences, timing=timing, resampling=QUICKLY)
    found = study_speed(settings, tmp_path / "out")
    assert [point.name for point in found.points] == [
        "float32, beam 5",
        "float32, beam 1",
        "int8, beam 5",
        "int8, beam 1",
    ]
    assert "BLEU" in found.columns
    decodings = [one["decoding"] for one in found.facts["systems"].values()]
    assert decodings == ["beam5,float32", "greedy,float32", "beam5,int8", "greedy,int8"]


def test_workers_translate_and_have_ended_before_anything_is_timed(
    tmp_path: Path, own_sentences: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gendermark.lab.speed import study as studying
    from gendermark.runs.executors import Executor, open_executor

    happened: list[str] = []

    @contextmanager
    def open_workers() -> Iterator[Executor]:
        with open_executor("processes:2") as workers:
            happened.append("opened")
            yield workers
        happened.append("ended")

    def timed(*given: Any) -> Rounds:
        happened.append("timed")
        return measure(*given)

    monkeypatch.setattr(studying, "measure", timed)
    found = []
    for place, workers in (("here", None), ("workers", open_workers)):
        settings = Settings(
            Grid(SLOW, (), read_against([FAST]), {}), "es", data=own_sentences, timing=Timing(1, 4), resampling=QUICKLY
        )
        context = RunContext(tmp_path / f"{place}.sqlite")
        found.append(study_speed(settings, tmp_path / place, context, workers))
    assert happened == ["timed", "opened", "ended", "timed"]
    judgements = [
        [path.read_bytes() for path in sorted((tmp_path / place / "runs").glob("*/*/judgements.jsonl"))]
        for place in ("here", "workers")
    ]
    assert judgements[0] == judgements[1]
    assert len(judgements[0]) == len(found[0].points) == 2
