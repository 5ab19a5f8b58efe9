"""`study speed`: known systems land where they must, time is taken anew and kept, and what it refuses."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gendermark.errors import UserError
from gendermark.lab import timing
from gendermark.lab.speed import Settings, points_of, study_speed, trainings_of
from gendermark.lab.speed_report import Study, findings, max_drop, price_of, relative_drop, trend, write_files
from gendermark.lab.studies import named_points, working
from gendermark.lab.timing import Diary, machine, median_of
from gendermark.metrics.metric import Resampling
from gendermark.runs.compare import Comparison
from gendermark.systems import fakes
from lab.conftest import Command

HASTY = "hasty=fake:right?p=0.6&delay_ms=0.2"
BIASED = "biased=fake:stereotyped?s=0.8&delay_ms=0.2"


def _settings(output: Path, system: str, *against: str, **given: Any) -> Settings:
    return Settings("es", output, system, against=against, resampling=Resampling(200), **given)


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


@pytest.fixture
def few(tmp_path: Path) -> tuple[Path, Path]:
    """A small test set."""
    files = (tmp_path / "few.en", tmp_path / "few.es")
    for path, sentence in zip(files, ("The {} finished the work.", "El {} terminó el trabajo."), strict=True):
        names = ("plumber", "nurse", "guard", "engineer")
        path.write_text("".join(sentence.format(name) + "\n" for name in names), encoding="utf-8")
    return files


class _Clock:
    """Time passes where a fake system waits, up to a tenth longer than it should, and nowhere else."""

    def __init__(self) -> None:
        self._now, self._chance = 0.0, random.Random(5)

    def sleep(self, seconds: float) -> None:
        self._now += seconds * (1 + self._chance.random() / 10)

    def perf_counter(self) -> float:
        return self._now

    process_time = perf_counter


@contextmanager
def _virtual_time() -> Iterator[None]:
    clock = _Clock()
    with pytest.MonkeyPatch.context() as patch:
        for module in (timing, fakes):
            patch.setattr(module, "time", clock)
        yield


@pytest.fixture(scope="module")
def known(places: Path) -> tuple[Settings, Study]:
    """A system that is right 90 times of 100, and one that is five times as fast and right 60 times."""
    settings = _settings(
        places / "known", "fake:right?p=0.9&delay_ms=1", HASTY, BIASED, also=("winomt",), repeats=7, n_timed=64
    )
    with _virtual_time():
        found = study_speed(settings, working(places / "store.sqlite"))
    write_files(found, places / "known", "gendermark study speed ...")
    return settings, found


def test_known_systems_land_where_they_must(known: tuple[Settings, Study]) -> None:
    found = known[1]
    base, hasty, biased = found.points
    assert base is found.baseline
    fast = found.times_as_fast(hasty)
    assert fast.value == pytest.approx(5, rel=0.05)
    assert 4.5 < (fast.low or 0) < fast.value < 5.5
    for column in ("pro", "anti", "FOFC", "MOFC", "MOMC", "FOMC"):
        change = hasty.changes[column]
        assert change.change() == "worse"
        assert change.difference == pytest.approx(-30, abs=6)
        assert found.drop(hasty, column) == pytest.approx(100 / 3, abs=6)
    assert hasty.changes["Δ"].change() == "unclear"
    # Always right where it fits the stereotype, one time of five where it does not.
    assert (biased.value("pro"), biased.value("anti")) == (100, pytest.approx(20, abs=3))
    assert biased.changes["Δ"].change() == "worse"
    assert any(column.startswith("WinoMT: ") for column in hasty.others)
    assert "worse" in {hasty.changes[column].change() for column in hasty.others}
    price = found.price(hasty)
    assert price.value == pytest.approx(30 / found.saved(hasty).value, rel=0.2)
    assert (price.low or 0) < (price.value or 0) < (price.high or 0)
    assert found.price(base).value is None  # it saved no time
    of_hasty, of_biased = findings(found)
    assert of_hasty.startswith("hasty is ")
    assert all(
        words in of_hasty for words in (" times as fast (CI ", "women in men's occupations ", ": significantly worse)")
    )
    assert "(Δ)" not in of_hasty  # not significant
    assert "(Δ)" in of_biased


def test_all_files_are_there_and_agree(known: tuple[Settings, Study], places: Path) -> None:
    output, found = places / "known", known[1]
    record = json.loads((output / "speed.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    report = record["report"]
    assert [point["name"] for point in report["points"]] == [point.name for point in found.points]
    assert set(report["max_drops"]) == {"fastest", "worst", "range"}
    assert report["points"][1]["changes"]["MOFC"]["p_adjusted"] < 0.05
    assert report["machine"]["cores"] == os.cpu_count()
    assert all((output / "runs" / point.slug / "manifest.json").is_file() for point in found.points)
    page, table, latex = ((output / name).read_text("utf-8") for name in ("speed.html", "table.md", "table.tex"))
    for sentence in findings(found):
        assert sentence.replace("'", "&#39;") in page
        assert sentence in table
    rows = [line for line in latex.splitlines() if line.endswith(r"\\")]
    assert len({line.count("&") for line in rows}) == 1
    assert len(rows) == 1 + len(found.points) + 3
    assert r"\Delta" in rows[0]
    for name in ("figure-1", "figure-a2"):
        drawn = (output / f"{name}.svg").read_text(encoding="utf-8")
        assert drawn.count("<path d=") >= 2  # the lines of the trends
        assert "hasty: time" in drawn
    assert "In the paper" in page


def test_time_is_taken_anew_and_goes_on(known: tuple[Settings, Study], places: Path) -> None:
    """More rounds are added to those that are there; the store, which has all translations, is not asked."""
    settings, found = known
    before = (places / "known" / "timings.jsonl").read_text(encoding="utf-8")
    with _virtual_time():
        again = study_speed(replace(settings, repeats=8), working(places / "store.sqlite"))
    after = (places / "known" / "timings.jsonl").read_text(encoding="utf-8")
    assert after.startswith(before)
    assert len(after.splitlines()) == 1 + 8
    assert all(seconds >= 1.0 for seconds in again.rounds.seconds(found.baseline.name))  # 1 ms for each of 1,000


# -- time --------------------------------------------------------------------------------------------------------------


def test_the_interval_of_a_median_holds_what_it_should() -> None:
    assert median_of([3.0, 1.0, 2.0]) == median_of([1.0, 2.0, 3.0])
    assert median_of([1.0] * 5).low is None, "five rounds reach 93.75 % only"
    assert median_of([float(n) for n in range(6)])[1:3] == (0.0, 5.0)
    assert median_of([float(n) for n in range(9)])[:3] == (4.0, 1.0, 7.0)
    assert median_of([float(n) for n in range(9)], 0.99).low == 0.0


def test_rounds_of_another_machine_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "timings.jsonl"
    first = Diary(path, {"machine": "a", "points": 1})
    first.add({"x": {"wall": 1.0, "cpu": 1.0}})
    assert Diary(path, {"machine": "a", "points": 1}).rounds == first.rounds
    other = Diary(path, {"machine": "b", "points": 1})
    assert (other.rounds, other.forgot) == ([], ["machine"])
    assert {"processor", "cores", "python", "gendermark", "threads_of_libraries", "ctranslate2"} <= set(machine())


# -- arithmetic and words ----------------------------------------------------------------------------------------------


def _change(*numbers: float | None, first: float = 50.0, second: float = 46.9, metric: str = "correct") -> Comparison:
    return Comparison("c", metric, "s", first, second, "higher", 10, *numbers)


def test_drops_trends_and_prices_of_nothing_are_none() -> None:
    assert (relative_drop(0.0, 1.0), relative_drop(None, 1.0), relative_drop(50.0, 60.0)) == (None, None, -20)
    assert max_drop("worst", [50.0, None], [2.0, 1.0]) is None
    values, seconds = [40.0, 50.0, 30.0, 36.0], [4.0, 3.0, 2.0, 1.0]
    assert [max_drop(how, values, seconds) for how in ("fastest", "worst", "range")] == [10.0, 25.0, 40.0]
    for points in ([], [(0.0, 0.0), (1.0, 1.0)], [(1.0, 0.0), (1.0, 1.0), (1.0, 2.0)]):
        assert trend(points) is None
    assert trend([(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]) == pytest.approx((2.0, 1.0))
    for saved in ([0.0] * 7, [-1.0] * 7, [-0.5, *[1.0] * 6]):
        price = price_of(_change(-3.0), saved, 0.95)
        assert (price.value, price.reason) == (None, "no time was clearly saved")
    assert price_of(None, [1.0] * 7, 0.95).value is None
    assert price_of(_change(-3.0), [2.0] * 7, 0.95).value == 1.5
    few = price_of(_change(-3.0), [2.0] * 3, 0.95)
    assert (few.value, few.low, few.reason) == (1.5, None, "there are too few rounds for an interval")


# -- points ------------------------------------------------------------------------------------------------------------


def test_a_grid_has_every_combination_and_names_it(tmp_path: Path) -> None:
    varied = Settings(
        "es", tmp_path, "demo:en-es", ("compute_type=float32,int8", "beam_size=5,1"), system_options={"threads": "1"}
    )
    found = points_of(varied)
    assert [p.name for p in found] == ["float32, beam 5", "float32, beam 1", "int8, beam 5", "int8, beam 1"]
    assert found[3].options == {"threads": "1", "compute_type": "int8", "beam_size": "1"}

    def names(system: str, *against: str) -> list[str]:
        return [point.name for point in points_of(_settings(tmp_path, system, *against))]

    assert names("demo:en-es") == [p.name for p in found], "what the family offers"
    assert names("demo:en-es?beam_size=2") == ["float32", "int8"], "what is said is fixed"
    against = ("small=ctranslate2:models/a?beam_size=1", "ctranslate2:models/b?beam_size=1")
    assert [p.spec for p in named_points(against)] == ["ctranslate2:models/a?beam_size=1", against[1]]
    assert names("demo:en-es", *against) == ["demo model", "small", "b (beam_size=1)"]


def test_trainings_are_averaged_with_the_interval_between_them(
    tmp_path: Path, cli: Command, own_sentences: str
) -> None:
    of = {"right": (1.0, 0.9, 0.95), "worse": (0.6, 0.5, 0.55)}
    given = [f"--seed-of={name}={','.join(f'fake:right?p={p}&seed={p}' for p in ps)}" for name, ps in of.items()]
    options = (
        "--to",
        "es",
        *["--repeats", "1", "--timed", "8", "--resamples", "100", "--json"],
        "-o",
        str(tmp_path / "study"),
    )
    found = json.loads(cli("study", "speed", *given, *options).out)["trainings"]
    own, base = found["worse"]["anti"], found["right"]["anti"]
    assert len(own["values"]) == 3
    assert own["mean"]["value"] == pytest.approx(sum(own["values"]) / 3)
    assert own["mean"]["low"] < min(own["values"]), "Student's interval of three is wider than their range"
    assert own["difference"]["value"] == pytest.approx(own["mean"]["value"] - base["mean"]["value"])
    assert own["difference"]["high"] < 0
    # The same trainings with another option are compared training by training: here they do not differ.
    same = [
        f"--seed-of={name}=fake:right{o},fake:masculine{o},fake:random{o}"
        for name, o in (("a", ""), ("b", "?delay_ms=1"))
    ]
    few = (*options[:-1], str(tmp_path / "same"), "--data", own_sentences)
    found = json.loads(cli("study", "speed", *same, *few).out)["trainings"]
    assert found["b"]["anti"]["difference"] == {"value": 0, "low": None, "high": None}
    assert found["b"]["anti"]["mean"]["low"] < found["b"]["anti"]["mean"]["high"]
    refused = cli("study", "speed", "--to", "es", "--seed-of", "a=fake:right", "-o", str(tmp_path / "other"))
    assert refused.exit_code == 2
    assert "a=fake:right" in refused.err
    for seed in (10, 9):
        (tmp_path / f"deep-{seed}").mkdir()
    (points,) = trainings_of(Settings("es", tmp_path, seed_of=(f"deep=torch:{tmp_path}/deep-*",))).values()
    assert [point.spec for point in points] == [f"torch:{tmp_path}/deep-{seed}" for seed in (9, 10)]
    with pytest.raises(UserError, match="matches 0"):
        trainings_of(Settings("es", tmp_path, seed_of=(f"deep=torch:{tmp_path}/flat-*",)))


# -- the command -------------------------------------------------------------------------------------------------------

DEMO = ("--system", "demo:en-es", "--to", "es")
FAKES = ("--system", "fake:right", "--to", "es", "--against", "fake:masculine")


def test_the_bundled_model_from_nothing_to_page(
    study: Command, tmp_path: Path, own_sentences: str, few: tuple[Path, Path]
) -> None:
    arguments = ("speed", *DEMO, "--data", own_sentences, "--vary", "beam_size=4,1", "--test-set", *few)
    arguments += ("--repeats", "6", "--timed", "4", "-o", tmp_path / "out")
    piped = study(*arguments, "--baseline", "beam 1")
    assert piped.exit_code == 0, piped.err
    assert [row["point"] for row in piped.rows][:2] == ["beam 4", "beam 1"]
    assert all(row["BLEU"] for row in piped.rows)
    assert "beam 4 takes " in piped.err or "beam 4 is " in piped.err
    report = study(*arguments, "--baseline", "beam 1", "--json", "--clock", "cpu").json
    assert (report["clock"], report["baseline"]) == ("cpu", "beam 1")
    assert [len(point["rounds"]["wall"]) for point in report["points"]] == [6, 6]
    assert report["systems"]["beam 4"]["decoding"].startswith("beam4")
    assert "workers" in report["systems"]["beam 4"]["computing"]
    study(*arguments).is_refusal("it differs in baseline")


def test_files_and_places_that_are_refused(study: Command, tmp_path: Path, few: tuple[Path, Path]) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "other" / "runs").mkdir(parents=True)
    unequal = ("--test-set", few[0], tmp_path / "file")
    for arguments, output, said in (
        ((*DEMO, *unequal), "out", "--test-set takes a file"),
        (FAKES, "file", "is a file"),
        (FAKES, "file/below", "Not a directory"),
        (FAKES, "other", "does not belong to this study"),
    ):
        study("speed", *arguments, "-o", tmp_path / output).is_refusal(said)


@pytest.mark.slow
@pytest.mark.usefixtures("_one_thread")
def test_a_hugging_face_directory_is_compared_alike(tmp_path: Path, marian: Path, own_sentences: str) -> None:
    found = study_speed(
        _settings(tmp_path / "out", f"hf:{marian}", data=own_sentences, repeats=1, n_timed=2, accept_unsound=True)
    )
    names = ["float32, beam 5", "float32, beam 1", "int8, beam 5", "int8, beam 1"]
    assert [point.name for point in found.points] == names
    assert "BLEU" in found.columns
    decodings = [one["decoding"] for one in found.facts["systems"].values()]
    assert decodings == ["beam5,float32", "greedy,float32", "beam5,int8", "greedy,int8"]
