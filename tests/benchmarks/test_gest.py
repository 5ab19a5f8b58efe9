"""GEST: counts on the released translations, the published arithmetic, fakes, and what people read in translations."""

from __future__ import annotations

import csv
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gendermark
from gendermark.benchmarks.gest import STEREOTYPES
from gendermark.benchmarks.gest.judge import PUBLISHED_LANGUAGES, cues_of, languages
from gendermark.benchmarks.gest.measures import outcome
from gendermark.errors import UserError
from slow import mostly_slow

FEW = gendermark.Resampling(100)
HERE = Path(__file__).parent / "gest"
RELEASE = "kinit-sk/gest/7dd908cae11720ee5d95e43a4ab94fb410c8b790/data"
FOLDERS = {"amazon": "amazon_translate", "deepl": "deepl", "google": "google_translate", "nllb": "nllb_3b"}


def _cells() -> list[list[str]]:
    """Counts and rates on the translations that the authors released."""
    return [line.split("\t") for line in (HERE / "released.tsv").read_text(encoding="utf-8").splitlines()[1:]]


def _released(mirror: Path, system: str, language: str) -> Path:
    path = mirror / RELEASE / "translations" / FOLDERS[system] / language / "translations.csv"
    if not path.exists():
        pytest.skip(f"{path} is not at hand")
    return path


def _shown(result: gendermark.Result, metric: str, part: str = "all") -> str:
    value = result.estimate(metric, part).value
    return "none" if value is None else f"{value:.4f}"


# -- the release -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", mostly_slow(_cells(), lambda cell: cell[:2] == ["nllb", "pl"]))
def test_released_translations(mirror: Path, cell: list[str]) -> None:
    system, language, first, *rates, agree, f_m, f_s = cell
    path = _released(mirror, system, language)
    for rules, counts, expected in (("paper", first, rates), ("best", agree, [f_m, f_s])):
        result = gendermark.score("gest", path, language, FEW, revision="1.0", rules=rules, detector="suffix")
        found = Counter(outcome(judgement) for judgement in result.judgements)
        kinds = ("masculine", "feminine", "mixed")[: counts.count("/") + 1]
        assert "/".join(str(found[kind]) for kind in kinds) == counts
        assert [_shown(result, "f_m"), _shown(result, "f_s")] == expected
        assert result.estimate("f_m").n_groups == 3555
        assert result.estimate("coverage").n_judged == found["masculine"] + found["feminine"]


def test_the_sentences(mirror: Path) -> None:
    old, new = (gendermark.items("gest", "cs", revision=revision).items for revision in ("1.0", "1.1"))
    assert (len(old), len({item.source for item in old}), len({item.group_id for item in old})) == (3565, 3555, 3555)
    assert (len(new), len({item.source for item in new})) == (3565, 3554)
    assert sum(a.source != b.source for a, b in zip(old, new, strict=True)) == 244
    sizes = [254, 215, 256, 207, 200, 197, 243, 251, 229, 215, 231, 222, 222, 194, 208, 221]
    counts = Counter(item.tags["trait"] for item in old)
    assert [counts[name] for name in STEREOTYPES] == sizes
    assert [old[row].group_id for row in (2494, 785)] == [old[0].group_id, old[52].group_id]
    assert {old[row].tags["trait"] for row in (0, 52)} <= set(STEREOTYPES)
    part = gendermark.items("gest", "cs", parts=("leaders",)).items
    assert [item.item_id for item in part] == [item.item_id for item in new if item.tags["trait"] == "leaders"]


def test_files_of_the_release(mirror: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Older wordings are ignored, twins both filled; the revision is found, or said."""
    path = _released(mirror, "google", "cs")
    caplog.set_level("INFO")
    result = gendermark.score("gest", path, "cs", FEW, rules="paper")
    assert result.selection.revision == "1.0"
    assert "gest revision 1.0" in caplog.text
    assert "229 of 3,784 rows are of other sentences and were ignored" in caplog.text
    with pytest.raises(UserError, match=r"has no translation of 243 of 3,565 sentences.* 8.*'I felt "):
        gendermark.score("gest", path, "cs", revision="1.1")
    with pytest.raises(UserError, match=r"has translations of gest revision 1\.0; add revision=1\.0"):
        gendermark.run(f"files:{path}", ["gest"], "cs")


# -- the arithmetic ----------------------------------------------------------------------------------------------------


@settings(derandomize=True, max_examples=10)
@given(st.lists(st.sampled_from("mf"), min_size=128, max_size=128))
def test_a_high_masculine_rate_caps_the_stereotype_rate(genders: list[str]) -> None:
    texts = ["Byl jsem tam." if gender == "m" else "Byla jsem tam." for gender in genders]
    result = gendermark.score("gest", texts, "cs", gendermark.Resampling(n_resamples=10), data="core")
    f_m, f_s = result.estimate("f_m").value, result.estimate("f_s").value
    assert f_m is not None
    assert f_s is not None
    assert f_s <= 2 * min(f_m, 1 - f_m) + 1e-12
    ranks = [result.estimate("rank", name).value or 0 for name in STEREOTYPES]
    assert sum(ranks) == pytest.approx(16 * 17 / 2)


# -- fakes -------------------------------------------------------------------------------------------------------------


def _run(system: str, language: str = "cs", **options: str) -> gendermark.Result:
    (result,) = gendermark.run(f"fake:{system}", ["gest"], language, resampling=FEW, **{"data": "core", **options})
    return result


@pytest.mark.slow
def test_fakes_as_published(mirror: Path) -> None:
    for system, f_m, f_s in (
        ("masculine", 0.99147, -0.00006),
        ("feminine", 0.00853, 0.00006),
        ("stereotyped?s=1", 0.49997, 0.98294),
        ("silent", 0.5, 0),
        ("copy", 0.5, 0),
    ):
        result = _run(system, data="official", revision="1.0", rules="paper")
        assert [result.estimate(name).value for name in ("f_m", "f_s")] == pytest.approx([f_m, f_s], abs=6e-6)
    assert "the paper's rules call a system that says nothing unbiased" in _run("silent", rules="paper").warnings[0]


def test_agreement_of_all_does_not_claim_certainty() -> None:
    result = _run("masculine")
    for metric, part in (("f_m", "all"), ("masculine_share", "all"), ("p", "weak"), ("p_m", "all")):
        estimate = result.estimate(metric, part)
        assert estimate.low is not None
        assert estimate.low < 1 == estimate.value == estimate.high
    stereotype, rank = result.estimate("f_s"), result.estimate("rank", "weak")
    assert stereotype.low is not None
    assert stereotype.low < 0 == stereotype.value
    assert (rank.value, rank.low, rank.high) == (8.5, 1, 16)


# -- reading -----------------------------------------------------------------------------------------------------------


def _seen(text: str, language: str, *, mended: bool = True) -> str:
    genders = {cue.gender.value for cue in cues_of(text, language, fitted=not mended)}
    return "none" if not genders else genders.pop() if len(genders) == 1 else "both"


def test_sentences_of_our_own() -> None:
    rows = list(csv.reader((HERE / "speaker.tsv").read_text(encoding="utf-8").split("\n")[2:], delimiter="\t"))
    read = [(language, speaker, sentence) for language, speaker, sentence in filter(None, rows)]
    assert [row for row in read if _seen(row[2], row[0]) != row[1]] == []
    assert {row[0] for row in read} >= set(languages()) - set(PUBLISHED_LANGUAGES)
    # However a text is composed, the evidence stands where it is said to.
    for language, _, sentence in read:
        decomposed = unicodedata.normalize("NFD", sentence)
        for cue, other in zip(cues_of(sentence, language), cues_of(decomposed, language), strict=True):
            assert (
                unicodedata.normalize("NFC", decomposed[slice(*other.token.span)]) == sentence[slice(*cue.token.span)]
            )


def test_translations_that_were_read_blind(mirror: Path) -> None:
    """Figures of docs/benchmarks/gest.md: the labels were written without a verdict in sight."""
    labels = list(csv.DictReader((HERE / "blind.tsv").read_text(encoding="utf-8").split("\n"), delimiter="\t"))
    items = gendermark.items("gest", "cs", revision="1.0").items
    texts: dict[tuple[str, str], dict[str, str]] = {}
    agreed, missed = Counter[str](), Counter[tuple[str, str]]()
    for row in labels:
        language, system, number = row["language"], row["system"], int(row["row"])
        if (system, language) not in texts:
            path = mirror / RELEASE / "translations" / system / language / "translations.csv"
            with path.open(encoding="utf-8", newline="") as file:
                texts[system, language] = {r["from"]: r["to"] for r in csv.DictReader(file)}
        text = texts[system, language][items[number].source]
        agreed[row["draw"]] += _seen(text, language, mended=False) == row["speaker"]
        missed[row["draw"], language] += _seen(text, language) != row["speaker"]
    assert agreed == {"first": 370, "second": 191, "third": 341, "fourth": 96, "fifth": 253, "sixth": 189} | {
        "seventh": 293,
        "eighth": 212,
    }, "suffix"
    left = {"first": "ru", "second": "ru", "third": "hr", "fourth": "sl", "fifth": "sk sr", "eighth": "hr sl sr"}
    assert +missed == {(draw, code): 1 for draw, codes in left.items() for code in codes.split()}, "no longer blind"


@pytest.mark.parametrize(
    ("language", "text", "verdict", "observed", "reason", "evidence"),
    [
        ("cs", "Já jsem ten dopis napsala.", "judged", "feminine", "", ("napsala",)),
        ("cs", "Byla jsem tam, ale přišel jsem pozdě.", "unjudgeable", None, "mixed", ("Byla", "přišel")),
        ("cs", "Mluvím tiše.", "unjudgeable", None, "unmarked", ()),
        ("cs", "", "not-translated", None, "empty", ()),
        ("sr", "Читала сам књигу.", "judged", "feminine", "", ("Читала",)),
        ("sr", "Čitao sam knjigu.", "judged", "masculine", "", ("Čitao",)),
        ("sk", "Vždy som bola opatrná.", "judged", "feminine", "", ("bola",)),
        ("fr", "Hier, je suis restée à la maison.", "judged", "feminine", "", ("restée",)),
    ],
)
def test_verdicts(
    language: str, text: str, verdict: str, observed: str | None, reason: str, evidence: tuple[str, ...]
) -> None:
    judgement = gendermark.score("gest", {"weak": [text, *"…" * 7]}, language, FEW, data="core").judgements[0]
    assert (judgement.verdict, judgement.observed, judgement.reason) == (verdict, observed, reason)
    assert judgement.evidence == evidence == tuple(text[slice(*span)] for span in judgement.spans)


# -- views and refusals ------------------------------------------------------------------------------------------------


def test_core_has_every_stereotype_eight_times() -> None:
    items = gendermark.items("gest", "uk", data="core").items
    assert set(Counter(item.tags["trait"] for item in items).values()) == {8}
    assert len(items) == 128 == len({item.source for item in items})
    assert all(item.source.startswith("I ") for item in items)


def test_a_part_has_its_own_numbers_only() -> None:
    result = gendermark.score("gest", {"leaders": ["Byl jsem tam."] * 8}, "cs", data="core")
    assert {(e.metric, e.slice) for e in result.estimates if e.metric in ("p", "f_m", "rank")} == {("p", "leaders")}
    assert result.find("f_s") is None
    assert result.estimate("masculine_share").value == 1
