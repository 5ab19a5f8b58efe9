"""Rules `paper`, and alpha: tuned without a cap, handed from run to run, and compared by its value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark import api
from gendermark.benchmarks.uncertainty import alphas
from gendermark.benchmarks.uncertainty.judge import BENCHMARK
from gendermark.benchmarks.uncertainty.similarity import open_similarity
from gendermark.errors import UserError
from gendermark.records import Judgement
from gendermark.runs.compare import compare, condition_labels
from gendermark.runs.rejudge import rejudge

FEW: dict[str, Any] = {"data": "core", "parts": ("referenced",), "n_samples": 8}


# -- rules paper -------------------------------------------------------------------------------------------------------


EMBEDDED = replace(open_similarity("characters"), name="e5:toy#000000000000")
"""Letters under the name of a model: none can be fetched here."""


class Entails:
    name = "nli:toy#000000000000"

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        return [one == other for one, other in pairs]

    def forecast(self, portions: object) -> None:
        pass


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Stand-ins for both models; which ones were asked for."""
    asked: list[tuple[str, ...]] = []
    judge = "gendermark.benchmarks.uncertainty.judge"
    monkeypatch.setattr(f"{judge}.similarity_of", lambda *spec: asked.append(spec) or EMBEDDED)
    monkeypatch.setattr(f"{judge}.entailment_of", lambda *spec: asked.append(spec) or Entails())
    return asked


def test_rules_paper_are_the_papers_settings(models: list[tuple[str, ...]]) -> None:
    chosen = api.select("uncertainty", "es", data="core", rules="paper", parts=("referenced",))[1]
    assert (chosen.n_samples, chosen.sampling, chosen.alpha) == (128, "epsilon=0.2", "tuned")
    assert ("e5:intfloat/multilingual-e5-large", "cosine") in models
    assert ("MoritzLaurer/mDeBERTa-v3-base-mnli-xnli",) in models
    (result,) = api.run("fake:random", [chosen])
    parts = result.signed
    assert parts["rules"] == "paper"
    assert parts["similarity"].startswith("e5:toy#000000000000,alpha-tuned=")
    assert parts["entailment"] == "nli:toy#000000000000"
    assert result.find("delta_h_semantic") is not None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_samples": 64}, "--n-samples 128, not 64"),
        ({"sampling": "epsilon=0.1"}, "--sampling epsilon=0.2, and a seed if you like, not epsilon=0.1"),
        ({"sampling": "epsilon=0.2,temperature=2"}, "--sampling epsilon=0.2, and a seed"),
        ({"sampling": "seed=3"}, "--sampling epsilon=0.2, and a seed"),
        ({"sampling": "epsilon=small"}, "--sampling epsilon=0.2, and a seed"),
        ({"similarity": "characters"}, "--similarity e5:MODEL, not characters"),
        ({"distance": "euclidean"}, "--distance cosine, not euclidean"),
        ({"alpha": "16"}, "--alpha tuned or tuned:RUN_FOLDER, not 16"),
    ],
)
def test_what_contradicts_rules_paper_is_refused(options: Mapping[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=rf"^rules paper need {words}.*; use that, or --rules best$"):
        api.select("uncertainty", "es", data="core", rules="paper", **options)


@pytest.mark.usefixtures("models")
def test_samples_drawn_elsewhere_must_be_as_many_as_the_papers() -> None:
    options = {"data": "core", "rules": "paper", "parts": ("referenced",)}
    with pytest.raises(UserError, match=r"^rules paper need --n-samples 128, not 2"):
        api.score("uncertainty", [["La enfermera.", "El enfermero."]] * 72, "es", **options)
    result = api.score("uncertainty", [["La enfermera.", "El enfermero."] * 64] * 72, "es", **options)
    assert "|samples:128,unknown=elsewhere|" in result.signature


# -- alpha, tuned ------------------------------------------------------------------------------------------------------


def judged(curves: Mapping[float, Sequence[float]], genders: Sequence[float]) -> list[Judgement]:
    """Judgements of a run with these entropies, one of each sentence, for every alpha."""
    (result,) = api.run("fake:coin", ["uncertainty"], "es", **{**FEW, "n_samples": 2})
    found = []
    for number, (judgement, gender) in enumerate(zip(result.judgements, genders, strict=False)):
        own = {f"h_s3e@{alpha:g}": values[number] for alpha, values in curves.items()}
        found.append(replace(judgement, measures={"h_gender": gender, "h_string": float(number), **own}))
    return found


def test_alphas_are_doubled_while_the_largest_is_the_best() -> None:
    genders = [float(number) for number in range(60)]
    worse, bad = [n + 9 * (n % 5) for n in genders], [n + 90 * (n % 5) for n in genders]
    curves = {512.0: bad, 1024.0: worse, 2048.0: genders, 4096.0: worse, 8192.0: bad}
    tuning = alphas.tuning_of(judged(curves, genders))
    assert tuning.alpha == 2048
    assert [row.alpha for row in tuning.curve] == [512, 1024, 2048, 4096]  # none beyond the first that is worse
    assert tuning.edge == ""
    assert alphas.tuning_of(judged({512.0: worse, 1024.0: genders, 2048.0: bad}, genders)).alpha == 1024


def test_s3e_that_is_almost_string_entropy_is_said() -> None:
    strings = [float(number) for number in range(60)]
    near = judged({1024.0: [n * 0.99 + n % 7 / 1000 for n in strings], 2.0: strings[::-1]}, strings)
    selection = replace(api.select("uncertainty", "es", **FEW)[1], alpha="tuned")
    said = "with alpha 1024 S3E is almost the entropy of the strings"
    assert any(one.startswith(said) for one in BENCHMARK.measures.warnings(near, selection))
    taken = replace(selection, alpha="tuned=1024@other")
    assert any(one.startswith(said) for one in BENCHMARK.measures.warnings(near, taken))
    # An alpha that was chosen and not tuned is the user's own affair; and one that is unlike strings is fine.
    assert not any(said in one for one in BENCHMARK.measures.warnings(near, replace(selection, alpha="1024")))
    apart = judged({1024.0: [n * (0.3 + 0.1 * (n % 4)) for n in strings]}, strings)
    assert not any(said in one for one in BENCHMARK.measures.warnings(apart, selection))


# -- alpha, handed on --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, gendermark.Result, str]:
    """A run that was tuned: its folder, its result and its alpha."""
    folder = tmp_path_factory.mktemp("runs") / "first run"
    (result,) = api.run("fake:random", ["uncertainty"], "es", directory=folder, alpha="tuned", **FEW)
    return folder, result, alphas.as_compared({"similarity": result.signed["similarity"]})["alpha"]


def test_the_alpha_of_one_run_serves_another(tuned: tuple[Path, gendermark.Result, str]) -> None:
    folder, first, alpha = tuned
    (other,) = api.run("fake:stereotyped?s=0.5", ["uncertainty"], "es", alpha=f"tuned:{folder}", **FEW)
    assert other.signed["similarity"] == f"characters-1-4,alpha-tuned={alpha}@first-run"
    (given,) = api.run("fake:stereotyped?s=0.5", ["uncertainty"], "es", alpha=alpha, **FEW)
    assert other.estimate("h_s3e", "ambiguous").value == given.estimate("h_s3e", "ambiguous").value
    # The folder is read once: what is stored says all, and completing it again changes nothing.
    assert api.select(other.selection)[1] == other.selection
    # However it was found, the same alpha is the same measure.
    for result in (other, given):
        assert compare([first], [result]).comparisons


def test_an_alpha_is_handed_on_by_rejudging_and_from_another_direction(
    tuned: tuple[Path, gendermark.Result, str], tmp_path: Path
) -> None:
    folder, _, alpha = tuned
    api.run("fake:coin", ["uncertainty"], "fr", directory=tmp_path / "fr", **FEW)
    (again,) = rejudge(tmp_path / "fr", {"alpha": f"tuned:{folder}"}, tmp_path / "second")
    assert again.result.signed["similarity"] == f"characters-1-4,alpha-tuned={alpha}@first-run.en-es"
    # What was handed on twice keeps the name of the run that tuned it.
    third = api.select("uncertainty", "fr", alpha=f"tuned:{tmp_path / 'second'}", **FEW)[1]
    assert third.alpha == f"tuned={alpha}@first-run.en-es"


def test_runs_of_different_alphas_are_not_compared(tuned: tuple[Path, gendermark.Result, str]) -> None:
    _, first, alpha = tuned
    (other,) = api.run("fake:coin", ["uncertainty"], "es", alpha="3", **FEW)
    said = (
        rf"differ in alpha \({alpha} and 3\), so their numbers cannot be compared; judge .* rejudge RUN --alpha NUMBER"
    )
    with pytest.raises(UserError, match=said):
        compare([first], [other])
    # A report that shows both tells them apart by these numbers.
    assert set(condition_labels([first, other]).values()) == {f"alpha {alpha}", "alpha 3"}


def test_an_alpha_that_cannot_be_taken(tuned: tuple[Path, gendermark.Result, str], tmp_path: Path) -> None:
    folder, _, _ = tuned
    api.run("fake:coin", ["uncertainty"], "fr", directory=tmp_path / "given", **FEW)
    (tmp_path / "empty").mkdir()
    damaged = tmp_path / "damaged" / "uncertainty.en-es"
    damaged.mkdir(parents=True)
    (damaged / "result.json").write_text("[]", encoding="utf-8")
    for path, similarity_, words in (
        (tmp_path / "none", "", "there is no such run folder; give one that `gendermark run -o` wrote$"),
        (tmp_path / "given", "", "alpha was not tuned in that run; it had --alpha 16, which can be given as such$"),
        (tmp_path / "empty", "", "it has no result of uncertainty.en-es to take alpha from; available: none$"),
        (tmp_path / "damaged", "", "has no signature; give a folder"),
        (folder, "words", "alpha was tuned for the similarity characters-1-4, and does not suit words; give the same"),
    ):
        with pytest.raises(UserError, match=words):
            api.select("uncertainty", "es", alpha=f"tuned:{path}", similarity=similarity_, **FEW)
